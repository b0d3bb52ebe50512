//! DCTCP flows through one marking queue, compared with a second, naive simulation of the same
//! network.
//!
//! The naive one is written from RFC 8257, with a plain heap of events and a list as the queue, and
//! shares no code with the simulator. Windows and delivered bytes must agree to the byte, at every
//! sample of every flow.

use crate::common::*;
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A byte takes 0.8 ns, so a full packet takes 1.2 us and an ack of 52 B 41.6 ns.
const PACKET: u64 = 1_200_000;
const ACK: u64 = 41_600;

#[derive(Clone, Copy, Debug)]
struct Setup {
    flows: usize,
    threshold: usize,
    delay: u64,
    initial_window: u64,
    alpha0: f64,
    g: f64,
}

/// Events, in the order in which they are handled at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The line to the receiver is free.
    Free,
    /// A packet, given by its first byte, arrives at the switch.
    AtSwitch { flow: usize, seq: u64 },
    /// A packet arrives at the receiver.
    AtReceiver { flow: usize, seq: u64, marked: bool },
    /// An ack arrives at its sender.
    AtSender { flow: usize, next: u64, echo: bool },
}

#[derive(Clone, Debug)]
struct Flow {
    una: u64,
    nxt: u64,
    cwnd: u64,
    ssthresh: u64,
    /// Growth of less than a byte that the window has not had yet, in units of 1/cwnd.
    owed: u64,
    alpha: f64,
    acked: u64,
    marked: u64,
    window_end: u64,
    cut_end: u64,
    line_free: u64,
    received: u64,
}

impl Flow {
    fn on_ack(&mut self, next: u64, echo: bool, g: f64) {
        let acked = next - self.una;
        self.una = next;
        self.acked += acked;
        self.marked += if echo { acked } else { 0 };
        if self.una >= self.window_end {
            if self.window_end > 0 {
                let share = self.marked as f64 / self.acked as f64;
                self.alpha = (1.0 - g) * self.alpha + g * share;
            }
            (self.acked, self.marked, self.window_end) = (0, 0, self.nxt);
        }
        if self.una <= self.cut_end {
            return;
        }
        if echo {
            self.cut_end = self.nxt;
            self.cwnd = ((self.cwnd as f64 * (1.0 - self.alpha / 2.0)) as u64).max(2 * MSS);
            (self.ssthresh, self.owed) = (self.cwnd, 0);
            return;
        }
        let doubling = acked.min(self.ssthresh.saturating_sub(self.cwnd));
        self.cwnd += doubling;
        // A segment for every window.
        self.owed += (acked - doubling) * MSS;
        let growth = self.owed / self.cwnd;
        self.owed %= self.cwnd;
        self.cwnd += growth;
    }
}

/// The window and the delivered bytes of every flow, at every multiple of `interval` until `end`.
fn naive(setup: Setup, interval: u64, end: u64) -> Vec<Vec<(u64, u64)>> {
    let flow = Flow {
        una: 0,
        nxt: 0,
        cwnd: setup.initial_window * MSS,
        ssthresh: u64::MAX,
        owed: 0,
        alpha: setup.alpha0,
        acked: 0,
        marked: 0,
        window_end: 0,
        cut_end: 0,
        line_free: 0,
        received: 0,
    };
    let mut flows = vec![flow; setup.flows];
    let mut events = BinaryHeap::new();
    let mut queue: VecDeque<(usize, u64, bool)> = VecDeque::new();
    let (mut line_free, mut ack_line_free) = (0, 0);
    let mut samples = Vec::new();
    let send = |flows: &mut [Flow], events: &mut BinaryHeap<_>, flow: usize, now: u64| {
        let state = &mut flows[flow];
        while state.nxt - state.una + MSS <= state.cwnd {
            state.line_free = state.line_free.max(now) + PACKET;
            let at_switch = Event::AtSwitch { flow, seq: state.nxt };
            events.push(Reverse((state.line_free + setup.delay, at_switch)));
            state.nxt += MSS;
        }
    };
    (0..setup.flows).for_each(|flow| send(&mut flows, &mut events, flow, 0));
    while let Some(Reverse((now, event))) = events.pop() {
        while now > samples.len() as u64 * interval {
            samples.push(flows.iter().map(|flow| (flow.cwnd, flow.received)).collect());
        }
        if now > end {
            break;
        }
        match event {
            Event::AtSwitch { flow, seq } => {
                // It finds this many packets; the one that is being sent does not count.
                let marked = queue.len() > setup.threshold;
                queue.push_back((flow, seq, marked));
                if line_free > now {
                    continue;
                }
            }
            Event::Free => {}
            Event::AtReceiver { flow, seq, marked } => {
                assert_eq!(seq, flows[flow].received, "nothing is lost or overtaken");
                flows[flow].received += MSS;
                ack_line_free = now.max(ack_line_free) + ACK;
                let at_sender = Event::AtSender { flow, next: flows[flow].received, echo: marked };
                events.push(Reverse((ack_line_free + setup.delay + ACK + setup.delay, at_sender)));
                continue;
            }
            Event::AtSender { flow, next, echo } => {
                flows[flow].on_ack(next, echo, setup.g);
                send(&mut flows, &mut events, flow, now);
                continue;
            }
        }
        // The line is free: the first packet that waits is sent.
        if let Some((flow, seq, marked)) = queue.pop_front() {
            line_free = now + PACKET;
            events.push(Reverse((line_free, Event::Free)));
            let at_receiver = Event::AtReceiver { flow, seq, marked };
            events.push(Reverse((line_free + setup.delay, at_receiver)));
        }
    }
    samples
}

fn real(setup: Setup, interval: u64, end: u64) -> Vec<Vec<(u64, u64)>> {
    let flows: Vec<String> = (0..setup.flows).map(|flow| flow.to_string()).collect();
    let run = run(&format!(
        r#"
        duration = "{end}ps"
        stop = "{end}ps"
        record = {{ windows = [{}], window_interval = "{interval}ps" }}
        [topology]
        kind = "star"
        hosts = {}
        host_rate = "10Gbps"
        link_delay = "{}ps"
        [switch]
        aqm = {{ kind = "ecn", threshold = "{}pkt" }}
        [transport]
        host_backlog = "unlimited"
        kind = "dctcp"
        initial_window = "{}pkt"
        g = {:?}
        alpha0 = {:?}
        [[traffic]]
        name = "long"
        kind = "persistent"
        receiver = {}
        "#,
        flows.join(", "),
        setup.flows + 1,
        setup.delay,
        setup.threshold,
        setup.initial_window,
        setup.g,
        setup.alpha0,
        setup.flows,
    ));
    assert_eq!((run.all_drops(), run.counters.timeouts), (0, 0));
    let table = &run.record.windows;
    let mut samples: Vec<Vec<(u64, u64)>> = Vec::new();
    for row in 0..table.len() {
        let place = (table.time_ps[row] / interval) as usize;
        samples.resize(samples.len().max(place + 1), Vec::new());
        assert_eq!(table.flow_id[row] as usize, samples[place].len());
        samples[place].push((table.cwnd_bytes[row], table.delivered_bytes[row]));
    }
    samples
}

fn compare(setup: Setup, end_us: u64) {
    let interval = 7_300_000;
    let end = end_us * 1_000_000;
    let (naive, real) = (naive(setup, interval, end), real(setup, interval, end));
    let both = naive.len().min(real.len());
    assert!(both as u64 + 1 >= end / interval, "{both} samples");
    for sample in 0..both {
        assert_eq!(real[sample], naive[sample], "sample {sample} of {setup:?}");
    }
}

#[test]
fn four_flows_over_a_long_time() {
    // Long enough for hundreds of cuts. These four flows do not come to share the line equally: the
    // flow that pushes the queue above K always learns of it later than the others.
    let setup = Setup {
        flows: 4,
        threshold: 70,
        delay: 10_000_000,
        initial_window: 10,
        alpha0: 1.0,
        g: 0.0625,
    };
    compare(setup, 50_000);
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn windows_and_bytes_agree(
        flows in 2usize..9,
        threshold in 0usize..90,
        delay in prop_oneof![0u64..1_000_000, 0u64..40_000_000],
        initial_window in 1u64..40,
        alpha0 in prop::sample::select(vec![0.0, 0.5, 1.0]),
        g in prop::sample::select(vec![0.0625, 0.25, 1.0]),
    ) {
        compare(Setup { flows, threshold, delay, initial_window, alpha0, g }, 3_000);
    }
}

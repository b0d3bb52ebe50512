//! CBM beside a second, naive implementation of its rule, packet by packet, and worked out by hand.
//!
//! The naive one keeps its queues as lists, sums them up for every question, computes in integers,
//! and shares no code with the switch. Both see the same arrivals and departures. They must agree
//! on which packets are dropped on their way out, in which order, and on what is sent.

use crate::common::{Real, Settings, cases};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_switch::DropReason;
use spillway_switch::packet::{NO_PRIORITY, Packet, flags};
use std::collections::VecDeque;

/// A numerator and a denominator.
type Ratio = (u64, u64);

#[derive(Clone, Debug)]
struct Setup {
    alpha: Vec<Ratio>,
    alpha_first_rtt: Ratio,
    congested_at: Ratio,
    of_port: bool,
    exempt_acks: bool,
    spare_last: bool,
    is_served: bool,
    capacity: u64,
    ports: usize,
    queues_per_port: usize,
    scheduling: &'static str,
    release_at_end: bool,
}

impl Setup {
    const FULL_PACKET: u64 = 1500;
    /// The ports' rates in Gbps, in turn.
    const RATES: [u64; 2] = [10, 40];

    fn gbps(&self, port: usize) -> u64 {
        Setup::RATES[port % 2]
    }

    fn settings(&self) -> Settings {
        let number = |&(numerator, denominator): &Ratio| {
            format!("{:?}", numerator as f64 / denominator as f64)
        };
        let alpha: Vec<String> = self.alpha.iter().map(number).collect();
        let text = format!(
            "alpha = [{}]\nalpha_first_rtt = {}\ncongested_at = {}\nbuffer_of = \"{}\"\n\
             exempt_acks = {}\nspare_last = {}\ndelay = \"{}\"",
            alpha.join(", "),
            number(&self.alpha_first_rtt),
            number(&self.congested_at),
            if self.of_port { "port" } else { "shared" },
            self.exempt_acks,
            self.spare_last,
            if self.is_served { "served" } else { "whole" },
        );
        Settings {
            capacity: self.capacity,
            ports: self.ports,
            rates: Setup::RATES.to_vec(),
            queues_per_port: self.queues_per_port,
            queue_classes: (0, self.queues_per_port - 1),
            release_at_end: self.release_at_end,
            sharing: ("cbm", text),
            scheduling: (self.scheduling, String::new()),
            ..Settings::default()
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: usize,
    size: u64,
    first_rtt: bool,
    since: u64,
    /// How many packets had been sent by then.
    sent: usize,
}

#[derive(Debug)]
struct Naive {
    setup: Setup,
    queues: Vec<VecDeque<Waiting>>,
    /// For every port, the queue and bytes of the packet in transmission, if its bytes are still
    /// held.
    sending: Vec<Option<(usize, u64)>>,
    is_congested: Vec<bool>,
    /// All packets sent: the queue, and for how long.
    sent: Vec<(usize, u64)>,
}

impl Naive {
    fn new(setup: Setup) -> Naive {
        let queues = setup.ports * setup.queues_per_port;
        Naive {
            queues: vec![VecDeque::new(); queues],
            sending: vec![None; setup.ports],
            is_congested: vec![false; queues],
            sent: Vec::new(),
            setup,
        }
    }

    fn port(&self, queue: usize) -> usize {
        queue / self.setup.queues_per_port
    }

    fn queue_class(&self, queue: usize) -> usize {
        queue % self.setup.queues_per_port
    }

    fn bytes(&self, queue: usize) -> u64 {
        let waiting: u64 = self.queues[queue].iter().map(|packet| packet.size).sum();
        let sending = self.sending[self.port(queue)].filter(|(of, _)| *of == queue);
        waiting + sending.map_or(0, |(_, size)| size)
    }

    fn total(&self) -> u64 {
        (0..self.queues.len()).map(|queue| self.bytes(queue)).sum()
    }

    /// B - Q.
    fn free(&self, queue: usize) -> u64 {
        if !self.setup.of_port {
            return self.setup.capacity - self.total();
        }
        let port = self.port(queue);
        let all: u64 = (0..self.setup.ports).map(|port| self.setup.gbps(port)).sum();
        let part = self.setup.capacity * self.setup.gbps(port) / all;
        let of_port = (0..self.queues.len()).filter(|&queue| self.port(queue) == port);
        part.saturating_sub(of_port.map(|queue| self.bytes(queue)).sum())
    }

    fn congested(&self, queue_class: usize) -> u64 {
        let of_queue_class =
            (0..self.queues.len()).filter(|&queue| self.queue_class(queue) == queue_class);
        (of_queue_class.filter(|&queue| self.is_congested[queue]).count() as u64).max(1)
    }

    fn alpha(&self, queue_class: usize) -> Ratio {
        self.setup.alpha[queue_class.min(self.setup.alpha.len() - 1)]
    }

    /// q >= share * alpha (B - Q) / n_p.
    fn look_at(&mut self, queue: usize) {
        let queue_class = self.queue_class(queue);
        let (share, alpha) = (self.setup.congested_at, self.alpha(queue_class));
        let reached = self.bytes(queue) * self.congested(queue_class) * share.1 * alpha.1
            >= share.0 * alpha.0 * self.free(queue);
        self.is_congested[queue] = !self.queues[queue].is_empty() && reached;
    }

    /// Whether the packet may be sent at `now`, having left its queue.
    fn may_be_sent(&self, queue: usize, packet: Waiting, now: u64) -> bool {
        let Setup { exempt_acks, spare_last, queues_per_port, .. } = self.setup;
        let queue_class = self.queue_class(queue);
        if exempt_acks && queues_per_port > 1 && queue_class == 0 {
            return true;
        }
        if spare_last && self.bytes(queue) <= Setup::FULL_PACKET {
            return true;
        }
        let alpha =
            if packet.first_rtt { self.setup.alpha_first_rtt } else { self.alpha(queue_class) };
        let ps_per_byte = 8_000 / self.setup.gbps(self.port(queue));
        let of_others = self.sent[packet.sent..]
            .iter()
            .filter(|(of, _)| *of != queue && self.port(*of) == self.port(queue));
        let of_others: u64 = of_others.map(|(_, lasts)| lasts).sum();
        // A packet may leave while the one before it is being sent.
        let wait =
            (now - packet.since).saturating_sub(if self.setup.is_served { of_others } else { 0 });
        // The wait is at most alpha (B - Q) / (n_p b).
        wait * self.congested(queue_class) * alpha.1 <= alpha.0 * self.free(queue) * ps_per_byte
    }

    /// A packet, which must be the first in its queue, leaves it. Returns its queue, and whether it
    /// may be sent.
    fn leave(&mut self, number: usize, now: u64) -> (usize, bool) {
        let is_first =
            |queue: &VecDeque<Waiting>| queue.front().map(|packet| packet.number) == Some(number);
        let queue = self.queues.iter().position(is_first).expect("the first of a queue");
        let packet = self.queues[queue].pop_front().unwrap();
        let port = self.port(queue);
        self.sending[port] = self.setup.release_at_end.then_some((queue, packet.size));
        self.look_at(queue);
        let may = self.may_be_sent(queue, packet, now);
        if may {
            self.sent.push((queue, packet.size * 8_000 / self.setup.gbps(port)));
        }
        (queue, may)
    }

    /// The packet is lost instead of being sent.
    fn give_back(&mut self, queue: usize) {
        let port = self.port(queue);
        self.sending[port] = None;
        if self.queues[queue].is_empty() {
            self.look_at(queue);
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Arrive { port: usize, queue_class: usize, size: u64, first_rtt: bool, passes: bool },
    Depart { port: usize },
    Purge { port: usize },
}

/// The number of packets that were sent, dropped on their way out, and refused.
fn compare(setup: &Setup, steps: &[(u64, Step)]) -> Result<[usize; 3], TestCaseError> {
    let mut real = Real::new(&setup.settings());
    let mut naive = Naive::new(setup.clone());
    let mut counts = [0; 3];
    let mut clock = 0;
    for (number, (gap, step)) in steps.iter().enumerate() {
        clock += gap;
        let now = Time::from_ps(clock);
        match *step {
            Step::Arrive { port, queue_class, size, first_rtt, passes } => {
                let port = port % setup.ports;
                let queue_class = queue_class % setup.queues_per_port;
                let queue = port * setup.queues_per_port + queue_class;
                let packet = Packet {
                    size: size as u32,
                    flags: if first_rtt { flags::FIRST_RTT } else { 0 },
                    priority: if setup.queues_per_port == 1 {
                        NO_PRIORITY
                    } else {
                        queue_class as u8
                    },
                    ..Packet::default()
                };
                let id = real.insert(number, packet);
                let is_idle =
                    !real.switch.has_backlog(port as u32) && naive.sending[port].is_none();
                let fits = naive.total() + size <= setup.capacity;
                if fits {
                    naive.queues[queue].push_back(Waiting {
                        number,
                        size,
                        first_rtt,
                        since: clock,
                        sent: naive.sent.len(),
                    });
                    naive.look_at(queue);
                } else {
                    counts[2] += 1;
                }
                if passes && is_idle {
                    let packets = &mut real.packets;
                    let sent = real.switch.pass(now, port as u32, id, &packet, packets);
                    prop_assert_eq!(sent.is_some(), fits, "nothing has waited at an idle port");
                    if let Some(id) = sent {
                        real.packets.remove(id);
                        let (_, may) = naive.leave(number, clock);
                        prop_assert!(may);
                    }
                } else {
                    real.switch.enqueue(now, port as u32, id, &packet, &mut real.packets);
                }
                let refused = vec![(number, DropReason::BufferFull)];
                prop_assert_eq!(real.take_lost(), if fits { Vec::new() } else { refused });
            }
            Step::Depart { port } => {
                let port = port % setup.ports;
                if setup.release_at_end {
                    naive.sending[port] = None;
                    real.switch.on_sent(now, port as u32);
                }
                let sent = real.switch.dequeue(now, port as u32, &mut real.packets);
                for lost in real.switch.lost() {
                    prop_assert_eq!(lost.reason, DropReason::OverDelay);
                    let (queue, may) = naive.leave(real.number(lost.packet), clock);
                    prop_assert!(!may, "step {}: {:?} had not waited too long", number, lost);
                    naive.give_back(queue);
                    counts[1] += 1;
                }
                real.take_lost();
                match sent {
                    Some(id) => {
                        let (_, may) = naive.leave(real.number(id), clock);
                        prop_assert!(may, "step {}: had waited too long", number);
                        real.packets.remove(id);
                        counts[0] += 1;
                    }
                    None => {
                        let queues = (0..naive.queues.len()).filter(|&q| naive.port(q) == port);
                        prop_assert!(queues.into_iter().all(|q| naive.queues[q].is_empty()));
                    }
                }
            }
            Step::Purge { port } => {
                let port = port % setup.ports;
                if setup.release_at_end {
                    naive.sending[port] = None;
                    real.switch.on_sent(now, port as u32);
                }
                real.switch.purge(now, port as u32, DropReason::LinkDown, &mut real.packets);
                real.take_lost();
                for queue_class in 0..setup.queues_per_port {
                    let queue = port * setup.queues_per_port + queue_class;
                    let had_any = !naive.queues[queue].is_empty();
                    naive.queues[queue].clear();
                    if had_any {
                        naive.look_at(queue);
                    }
                }
            }
        }
        let buffer = real.switch.buffer();
        for queue in 0..naive.queues.len() {
            prop_assert_eq!(u64::from(buffer.bytes(queue as u32)), naive.bytes(queue));
        }
        prop_assert!(real.switch.is_consistent(&real.packets));
    }
    Ok(counts)
}

fn setup() -> impl Strategy<Value = Setup> {
    let ratio = || select(vec![(1u64, 16u64), (1, 4), (1, 2), (1, 1), (5, 2), (8, 1)]);
    let policy = (vec(ratio(), 1..4), ratio(), select(vec![(9u64, 10u64), (1, 2), (1, 1)]));
    let flag = any::<bool>;
    let options = (flag(), flag(), flag(), prop::bool::weighted(0.3), flag());
    let queues = select(vec![(2usize, 1usize), (5, 1), (16, 1), (2, 2), (3, 3), (2, 8)]);
    let scheduling = select(vec!["fifo", "strict", "rr", "dwrr"]);
    (policy, options, 2_000u64..12_000, queues, scheduling).prop_map(
        |(policy, options, capacity, (ports, queues_per_port), scheduling)| Setup {
            alpha: policy.0,
            alpha_first_rtt: policy.1,
            congested_at: policy.2,
            of_port: options.0,
            exempt_acks: options.1,
            spare_last: options.2,
            is_served: options.4,
            capacity,
            ports,
            queues_per_port,
            scheduling: if queues_per_port == 1 { "fifo" } else { scheduling },
            release_at_end: options.3,
        },
    )
}

/// Times are similar to the time in which a port sends its part of the buffer.
fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let size = prop_oneof![3 => select(vec![100u64, 200, 500, 1500]), 1 => 40u64..1500];
    let arrive = (0usize..16, 0usize..8, size, any::<bool>(), any::<bool>());
    let step = prop_oneof![
        100 => arrive.prop_map(|(port, queue_class, size, first_rtt, passes)| {
            Step::Arrive { port, queue_class, size, first_rtt, passes }
        }),
        70 => (0usize..16).prop_map(|port| Step::Depart { port }),
        1 => (0usize..16).prop_map(|port| Step::Purge { port }),
    ];
    vec((select(vec![0u64, 10_000, 80_000, 400_000]), step), 1..200)
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn it_drops_like_its_formula(setup in setup(), steps in steps()) {
        compare(&setup, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_send_drop_and_refuse() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    let mut totals = [0; 3];
    for _ in 0..300 {
        let setup = setup().new_tree(&mut runner).unwrap().current();
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let counts = compare(&setup, &steps).unwrap();
        (0..3).for_each(|i| totals[i] += counts[i]);
    }
    assert!(totals.iter().all(|&total| total > 500), "sent, dropped, refused: {totals:?}");
}

fn by_hand(sharing: &str, scheduling: (&'static str, &str), queues_per_port: usize) -> Real {
    Real::new(&Settings {
        capacity: 10_000,
        queues_per_port,
        queue_classes: (0, queues_per_port - 1),
        sharing: ("cbm", sharing.to_owned()),
        scheduling: (scheduling.0, scheduling.1.to_owned()),
        ..Settings::default()
    })
}

/// Packets of 1000 bytes join the queue of this queue class at the given time.
fn join(real: &mut Real, us: f64, queue_class: u8, numbers: std::ops::Range<usize>) {
    for number in numbers {
        let packet = Packet { size: 1000, priority: queue_class, ..Packet::default() };
        let id = real.insert(number, packet);
        let now = Time::from_secs_f64(us * 1e-6);
        real.switch.enqueue(now, 0, id, &packet, &mut real.packets);
    }
}

/// The packet that the port sends, and those lost before it, in order.
fn send(real: &mut Real, us: f64) -> (Option<usize>, Vec<usize>) {
    let now = Time::from_secs_f64(us * 1e-6);
    let sent = real.switch.dequeue(now, 0, &mut real.packets);
    let lost = real.switch.lost().iter().map(|lost| real.number(lost.packet)).collect();
    real.take_lost();
    (sent.map(|id| real.number(id)), lost)
}

#[test]
fn every_drop_lengthens_the_limit() {
    // 9,000 of 10,000 bytes have waited since time 0. At 1 us the first packet leaves:
    // Theta = 0.5 * 2,000 * 800 ps = 0.8 us, and it is lost. For the second one, Theta is 1.2 us.
    let mut real = by_hand("", ("fifo", ""), 1);
    join(&mut real, 0.0, 0, 0..9);
    assert_eq!(send(&mut real, 1.0), (Some(1), vec![0]));
    // At 2.4 us: 0.5 * (4,000, 5,000, 6,000) * 800 ps = 1.6, 2.0 and 2.4 us. An equal wait is not
    // too long.
    assert_eq!(send(&mut real, 2.4), (Some(4), vec![2, 3]));
    // The limit is at most 4 us, so that none of the packets left at 5 us is sent.
    assert_eq!(send(&mut real, 5.0), (None, vec![5, 6, 7, 8]));
    assert!(!real.switch.has_backlog(0));
}

#[test]
fn the_scheduler_chooses_again_when_a_queue_has_lost_all() {
    // Queue class 1 has waited for 5 us, too long for all of its packets; the packet of queue class
    // 2 has just arrived.
    let mut real = by_hand("", ("strict", ""), 3);
    join(&mut real, 0.0, 1, 0..2);
    join(&mut real, 5.0, 2, 2..3);
    assert_eq!(send(&mut real, 5.0), (Some(2), vec![0, 1]));
}

#[test]
fn what_is_dropped_is_not_charged_to_its_queue_class() {
    // With quanta of one packet, both queue classes send in turn, queue class 1 first. Its first
    // packet is lost, which is not a transmission. So it sends the next packet before the other
    // queue class has its turn.
    let mut real = by_hand("exempt_acks = false", ("dwrr", "quantum = \"1000B\""), 2);
    join(&mut real, 0.0, 1, 0..1);
    join(&mut real, 9.0, 1, 1..3);
    join(&mut real, 9.0, 0, 3..5);
    assert_eq!(send(&mut real, 9.0), (Some(1), vec![0]));
    let rest: Vec<_> = (0..3).map(|_| send(&mut real, 9.0).0.unwrap()).collect();
    assert_eq!(rest, [3, 2, 4]);
}

#[test]
fn queue_classes_share_the_line_by_weight_whatever_they_lose() {
    // While the line sends a packet, one packet arrives for queue class 1, and every second time
    // one for queue class 0. A third of all packets is too much, waits too long and is lost. What
    // is sent is shared according to the weights.
    let mut real =
        by_hand("exempt_acks = false", ("dwrr", "quantum = \"1000B\"\nweights = [1, 3]"), 2);
    let (mut sent, mut lost) = ([0, 0], [0, 0]);
    for step in 0..1200 {
        let us = 0.8 * step as f64;
        join(&mut real, us, 1, 2 * step..2 * step + 1);
        if step % 2 == 0 {
            join(&mut real, us, 0, 2 * step + 1..2 * step + 2);
        }
        let (number, dropped) = send(&mut real, us);
        sent[1 - number.expect("the port never idles") % 2] += 1;
        dropped.iter().for_each(|number| lost[1 - number % 2] += 1);
    }
    println!("{sent:?} {lost:?}");
    assert_eq!(sent, [300, 900]);
    assert!(lost[0] > 250 && lost[1] > 250, "{lost:?}");
}

//! A real switch beside a rule that is implemented a second time: both see the same arrivals,
//! departures, link failures and ends of intervals.

use super::{Real, Settings};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_settings::quantity::Amount;
use spillway_switch::packet::{NO_PRIORITY, Packet, flags};
use spillway_switch::{Decision, DropReason};
use std::collections::VecDeque;

/// A naive implementation of a rule. It decides for itself and compares the switch's decisions.
pub trait Naive {
    /// The switch has made this decision about an arrival, which is not in its queue yet.
    fn check(&mut self, arrival: &Given, decision: &Decision, queues: &Queues) -> Checked;

    /// The queues whose last packets are lost for the arrival that was checked last, in order.
    fn victims(&mut self) -> Vec<usize> {
        Vec::new()
    }

    /// The size of the largest arrival that would be admitted now.
    fn room(&self, arrival: &Given, queues: &Queues) -> u64;

    /// A packet is about to leave the queue in which it waits, to be sent.
    fn leaves(&mut self, now: u64, queue: usize, size: u64, queues: &Queues);

    /// A port's link has failed: all packets that waited there are lost, so many bytes in each queue.
    fn is_cut(&mut self, _now: u64, _port: usize, _bytes: &[u64], _queues: &Queues) {}

    /// An interval is over. Returns false if rounding may decide what was measured; the case then
    /// ends here.
    fn interval_ends(&mut self, _now: u64, _queues: &Queues) -> bool {
        true
    }
}

/// Whether the switch's decision is right.
pub type Checked = Result<(), TestCaseError>;

/// Whether the rule is asked about an arrival: not if its queue is at a `queue_limit` in bytes.
pub fn is_asked(settings: &Settings, arrival: &Given, queues: &Queues) -> bool {
    match settings.queue_limit {
        Amount::Bytes(limit) => queues.bytes(arrival.queue) + arrival.size <= limit,
        _ => true,
    }
}

/// Why an arrival is lost, if it is. A packet for a queue at `queue_limit` is lost before the rule
/// is asked.
pub fn fate(is_asked: bool, is_within: bool, fits: bool) -> Option<DropReason> {
    match (is_asked, is_within, fits) {
        (false, ..) => Some(DropReason::QueueLimit),
        (true, false, _) => Some(DropReason::OverThreshold),
        (true, true, false) => Some(DropReason::BufferFull),
        (true, true, true) => None,
    }
}

/// An arrival.
#[derive(Clone, Copy, Debug)]
pub struct Given {
    pub now: u64,
    pub flow: u32,
    pub queue: usize,
    pub queue_class: usize,
    pub size: u64,
    pub first_rtt: bool,
}

/// The waiting packets, as lists of their numbers and sizes. Sums are computed each time.
#[derive(Clone, Debug)]
pub struct Queues {
    lists: Vec<VecDeque<(usize, u64)>>,
    /// With `release_at_end`: for every port, the queue and size of the packet in transmission.
    sending: Vec<Option<(usize, u64)>>,
    pub capacity: u64,
    pub ports: usize,
    pub per_port: usize,
}

impl Queues {
    fn new(settings: &Settings) -> Queues {
        Queues {
            lists: vec![VecDeque::new(); settings.ports * settings.queues_per_port],
            sending: vec![None; settings.ports],
            capacity: settings.capacity,
            ports: settings.ports,
            per_port: settings.queues_per_port,
        }
    }

    /// All queues.
    pub fn all(&self) -> std::ops::Range<usize> {
        0..self.lists.len()
    }

    /// The queues of a port.
    pub fn of_port(&self, port: usize) -> std::ops::Range<usize> {
        port * self.per_port..(port + 1) * self.per_port
    }

    /// The number of packets that wait in a queue.
    pub fn packets(&self, queue: usize) -> usize {
        self.lists[queue].len()
    }

    /// Takes out the last packet of a queue. Returns its number.
    pub fn lose_last(&mut self, queue: usize) -> Option<usize> {
        self.lists[queue].pop_back().map(|(number, _)| number)
    }

    /// The bytes of a queue, including those in transmission if they are held.
    pub fn bytes(&self, queue: usize) -> u64 {
        let waiting: u64 = self.lists[queue].iter().map(|(_, size)| size).sum();
        let sending = self.sending[queue / self.per_port];
        waiting + sending.filter(|(of, _)| *of == queue).map_or(0, |(_, size)| size)
    }

    /// The bytes of a port's queues.
    pub fn port_bytes(&self, port: usize) -> u64 {
        self.of_port(port).map(|queue| self.bytes(queue)).sum()
    }

    /// The number of packets that wait at a port.
    pub fn port_packets(&self, port: usize) -> usize {
        self.of_port(port).map(|queue| self.packets(queue)).sum()
    }

    /// The bytes of all queues.
    pub fn total(&self) -> u64 {
        self.all().map(|queue| self.bytes(queue)).sum()
    }
}

/// One event, some picoseconds after the one before.
#[derive(Clone, Debug)]
pub struct Step {
    after: u64,
    port: usize,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    /// If the port is idle and the packet `passes`, it is sent at once.
    Arrive { size: Size, kind: Kind, first_rtt: bool, passes: bool, flow: u32 },
    /// The port sends a packet, if it has one.
    Depart,
    /// The port's link fails.
    Purge,
}

#[derive(Clone, Copy, Debug)]
enum Size {
    Bytes(u64),
    /// The largest size that would be admitted, and this many bytes more.
    Room(u64),
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Ack,
    Data,
    Priority(u8),
}

/// Arrivals outnumber departures, so that buffers fill. In half of the cases, times and most sizes
/// are round, so that lengths often equal limits. Port 0 and flow 0 are the busiest.
pub fn steps(number: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Step>> {
    any::<bool>().prop_flat_map(move |is_round| vec(step(is_round), number.clone()))
}

fn step(is_round: bool) -> impl Strategy<Value = Step> {
    let size = prop_oneof![
        12 => select(vec![100u64, 200, 500, 1500]).prop_map(Size::Bytes),
        if is_round { 0 } else { 4 } => (40u64..1500).prop_map(Size::Bytes),
        1 => (0u64..2).prop_map(Size::Room),
    ];
    let kind = prop_oneof![
        1 => Just(Kind::Ack),
        3 => Just(Kind::Data),
        2 => (0u8..6).prop_map(Kind::Priority),
    ];
    let flow = prop_oneof![1 => Just(0u32), 3 => 0u32..40];
    let arrive = (size, kind, prop::bool::weighted(0.25), any::<bool>(), flow);
    let what = prop_oneof![
        120 => arrive.prop_map(|(size, kind, first_rtt, passes, flow)| {
            What::Arrive { size, kind, first_rtt, passes, flow }
        }),
        80 => Just(What::Depart),
        1 => Just(What::Purge),
    ];
    let after = prop_oneof![20 => Just(0u64), 60 => 0u64..800_000, 1 => 0u64..30_000_000];
    let after = after.prop_map(move |ps| if is_round { ps - ps % 100_000 } else { ps });
    let port = prop_oneof![1 => Just(0usize), 3 => 0usize..16];
    (after, port, what).prop_map(|(after, port, what)| Step { after, port, what })
}

/// The sizes of packets.
const SMALLEST: u64 = 40;
const LARGEST: u64 = 1500;

/// Runs both. If `bypass`, packets that find their port idle pass the queue, and the rule does not
/// see them leave. Returns the final state of the switch.
pub fn run<N: Naive>(
    settings: &Settings,
    bypass: bool,
    rule: &mut N,
    steps: &[Step],
) -> Result<Real, TestCaseError> {
    let mut beside = Beside::new(settings, bypass);
    for (number, step) in steps.iter().enumerate() {
        let now = beside.now + step.after;
        if !beside.wait_until(now, rule) {
            break;
        }
        let port = step.port % settings.ports;
        match step.what {
            What::Arrive { size, kind, first_rtt, passes, flow } => {
                let queue = settings.queues_per_port * port + queue_class_of(settings, kind);
                let queue_class = queue % settings.queues_per_port;
                let mut given = Given { now, flow, queue, queue_class, size: 0, first_rtt };
                given.size = match size {
                    Size::Bytes(size) => size,
                    Size::Room(more) => {
                        (rule.room(&given, &beside.queues) + more).clamp(SMALLEST, LARGEST)
                    }
                };
                beside.arrive(number, given, packet(settings, &given, kind), passes, rule)?;
            }
            What::Depart => beside.depart(port, rule)?,
            What::Purge => beside.purge(port, rule)?,
        }
        let Beside { real, queues, .. } = &beside;
        let buffer = real.switch.buffer();
        let lengths: Vec<u64> =
            queues.all().map(|queue| buffer.bytes(queue as u32).into()).collect();
        let expected: Vec<u64> = queues.all().map(|queue| queues.bytes(queue)).collect();
        prop_assert_eq!(lengths, expected, "step {}: {:?}", number, step);
        prop_assert!(real.switch.is_consistent(&real.packets));
    }
    Ok(beside.real)
}

fn queue_class_of(settings: &Settings, kind: Kind) -> usize {
    match kind {
        Kind::Ack => settings.queue_classes.0,
        Kind::Data => settings.queue_classes.1,
        Kind::Priority(priority) => usize::from(priority).min(settings.queues_per_port - 1),
    }
}

fn packet(settings: &Settings, given: &Given, kind: Kind) -> Packet {
    let first = if given.first_rtt { flags::FIRST_RTT } else { 0 };
    let (control, priority) = match kind {
        Kind::Ack => (flags::CONTROL, NO_PRIORITY),
        Kind::Data => (0, NO_PRIORITY),
        Kind::Priority(priority) => (0, priority),
    };
    let size = (given.size + settings.uncounted) as u32;
    Packet { size, flags: first | control, priority, ..Packet::default() }
}

struct Beside {
    real: Real,
    queues: Queues,
    release_at_end: bool,
    bypass: bool,
    now: u64,
    /// When the next interval ends, and the length of intervals.
    timer: Option<(u64, u64)>,
}

impl Beside {
    fn new(settings: &Settings, bypass: bool) -> Beside {
        let mut real = Real::new(settings);
        real.switch.trace_decisions();
        let period = real.switch.periods()[0].map(Time::ps);
        Beside {
            queues: Queues::new(settings),
            release_at_end: settings.release_at_end,
            bypass,
            now: 0,
            timer: period.map(|period| (period, period)),
            real,
        }
    }

    /// Ends the intervals that are over by now, before anything else happens at this instant.
    fn wait_until<N: Naive>(&mut self, now: u64, rule: &mut N) -> bool {
        while let Some((next, period)) = self.timer.filter(|(next, _)| *next <= now) {
            self.real.switch.on_timer(Time::from_ps(next), 0);
            if !rule.interval_ends(next, &self.queues) {
                return false;
            }
            self.timer = Some((next + period, period));
        }
        self.now = now;
        true
    }

    fn arrive<N: Naive>(
        &mut self,
        number: usize,
        given: Given,
        packet: Packet,
        passes: bool,
        rule: &mut N,
    ) -> Checked {
        let (now, port) = (Time::from_ps(self.now), given.queue / self.queues.per_port);
        let id = self.real.insert_of(given.flow, number, packet);
        let Real { switch, packets } = &mut self.real;
        let is_idle = !switch.has_backlog(port as u32) && self.queues.sending[port].is_none();
        let passes = passes && is_idle;
        let sent = if passes {
            switch.pass(now, port as u32, id, &packet, packets)
        } else {
            switch.enqueue(now, port as u32, id, &packet, packets);
            None
        };
        let decisions = switch.take_decisions();
        prop_assert_eq!(decisions.len(), 1);
        let decision = decisions[0];
        prop_assert_eq!(decision.queue as usize, given.queue);
        rule.check(&given, &decision, &self.queues)?;
        let mut lost: Vec<(usize, DropReason)> =
            decision.dropped.iter().map(|&reason| (number, reason)).collect();
        for queue in rule.victims() {
            let number = self.queues.lose_last(queue).expect("a queue that holds a packet");
            lost.push((number, DropReason::PushedOut));
        }
        lost.sort_unstable();
        prop_assert_eq!(self.real.take_lost(), lost);
        if decision.dropped.is_some() {
            return Ok(());
        }
        prop_assert_eq!(sent.is_some(), passes);
        if !(passes && self.bypass) {
            self.queues.lists[given.queue].push_back((number, given.size));
        }
        if let Some(id) = sent {
            self.real.packets.remove(id);
            if !self.bypass {
                self.leave(given.queue, rule);
            }
        }
        Ok(())
    }

    /// The first packet of a queue begins to be sent.
    fn leave<N: Naive>(&mut self, queue: usize, rule: &mut N) {
        let (_, size) = self.queues.lists[queue][0];
        rule.leaves(self.now, queue, size, &self.queues);
        self.queues.lists[queue].pop_front();
        let port = queue / self.queues.per_port;
        self.queues.sending[port] = self.release_at_end.then_some((queue, size));
    }

    fn depart<N: Naive>(&mut self, port: usize, rule: &mut N) -> Checked {
        let now = self.end_transmission(port);
        let sent = self.real.switch.dequeue(now, port as u32, &mut self.real.packets);
        let Some(id) = sent else {
            prop_assert!(self.queues.of_port(port).all(|queue| self.queues.packets(queue) == 0));
            return Ok(());
        };
        let number = self.real.number(id);
        self.real.packets.remove(id);
        let is_first = |queue: &usize| {
            self.queues.lists[*queue].front().is_some_and(|first| first.0 == number)
        };
        let queue = self.queues.of_port(port).find(is_first);
        prop_assert!(queue.is_some(), "packet {} is not the first of a queue", number);
        self.leave(queue.unwrap(), rule);
        Ok(())
    }

    fn purge<N: Naive>(&mut self, port: usize, rule: &mut N) -> Checked {
        let now = self.end_transmission(port);
        let Real { switch, packets } = &mut self.real;
        switch.purge(now, port as u32, DropReason::LinkDown, packets);
        let lists = &mut self.queues.lists[self.queues.per_port * port..][..self.queues.per_port];
        let bytes_of = |list: &VecDeque<(usize, u64)>| list.iter().map(|(_, size)| size).sum();
        let bytes: Vec<u64> = lists.iter().map(bytes_of).collect();
        let lost: Vec<_> = lists.iter_mut().flat_map(std::mem::take).collect();
        let mut lost: Vec<_> = lost.iter().map(|&(n, _)| (n, DropReason::LinkDown)).collect();
        lost.sort_unstable();
        prop_assert_eq!(self.real.take_lost(), lost);
        rule.is_cut(self.now, port, &bytes, &self.queues);
        Ok(())
    }

    /// A port's transmission ends.
    fn end_transmission(&mut self, port: usize) -> Time {
        let now = Time::from_ps(self.now);
        if self.release_at_end {
            self.queues.sending[port] = None;
            self.real.switch.on_sent(now, port as u32);
        }
        now
    }
}

//! Occamy beside a second, naive implementation, packet by packet.
//!
//! The naive one counts every tick, one after the other, and looks at all queues at each. It is
//! written from the rule, in integers, and shares no code with the switch, which works out the next
//! tick that matters. Both must agree on every limit, on which packets are admitted or refused, and
//! on which ones are expelled, and when.

use crate::common::drawing::Tally;
use crate::common::{Ratio, Real, Settings, decimal};
use spillway_engine::{Stream, Time};
use spillway_switch::DropReason;
use spillway_switch::packet::Packet;
use std::collections::VecDeque;

/// What a preset gives: bandwidth, cell, refill, bucket (0 for a full packet of 1500 bytes), tokens
/// needed.
const PRESETS: [(&str, Ratio, u64, i64, i64, i64); 3] = [
    ("paper", (1, 1), 1, 1, 0, 1),
    ("ns-3", (16, 15), 200, 8, 8, 1),
    ("dpdk", (11, 10), 200, 1, 200, 0),
];

/// The keys of a scenario.
#[derive(Clone, Debug)]
struct Keys {
    preset: &'static str,
    alpha: Vec<Ratio>,
    is_longest: bool,
    exempts: Option<bool>,
    bandwidth: Option<Ratio>,
    cell: Option<u64>,
    refill: Option<i64>,
    bucket: Option<i64>,
}

impl Keys {
    fn draw(random: &mut Stream) -> Keys {
        let mut one = |of: &[u64]| of[random.below(of.len() as u64) as usize];
        let alphas = [(8, 1), (8, 1), (1, 1), (1, 2), (1, 4), (3, 1)];
        let count = 1 + one(&[0, 1]);
        let alpha = (0..count).map(|_| alphas[one(&[0, 1, 2, 3, 4, 5]) as usize]).collect();
        let preset = ["paper", "ns-3", "dpdk"][one(&[0, 1, 2]) as usize];
        let bandwidths = [(1, 1), (2, 1), (1, 4), (5, 4), (4, 1)];
        Keys {
            preset,
            alpha,
            is_longest: one(&[0, 1]) == 1,
            exempts: [None, Some(false), Some(true)][one(&[0, 1, 2]) as usize],
            // The tick of the software switch is no whole number of picoseconds.
            bandwidth: (preset == "dpdk" || one(&[0, 1]) == 1)
                .then(|| bandwidths[one(&[0, 1, 2, 3, 4]) as usize]),
            cell: [None, Some(64), Some(200), Some(512)][one(&[0, 1, 2, 3]) as usize],
            refill: [None, Some(1), Some(8), Some(20)][one(&[0, 1, 2, 3]) as usize],
            bucket: [None, None, Some(1), Some(50)][one(&[0, 1, 2, 3]) as usize],
        }
    }

    fn text(&self) -> String {
        let alpha: Vec<String> = self.alpha.iter().map(decimal).collect();
        let victim = if self.is_longest { "longest" } else { "round-robin" };
        let (preset, alpha) = (self.preset, alpha.join(", "));
        let mut lines =
            vec![format!("preset = \"{preset}\"\nalpha = [{alpha}]\nvictim = \"{victim}\"")];
        lines.extend(self.exempts.map(|exempts| format!("exempt_empty = {exempts}")));
        lines.extend(self.bandwidth.map(|rate| format!("bandwidth = {}", decimal(&rate))));
        lines.extend(self.cell.map(|bytes| format!("cell = \"{bytes}B\"")));
        lines.extend(self.refill.map(|tokens| format!("refill = {tokens}")));
        lines.extend(self.bucket.map(|tokens| format!("bucket = {tokens}")));
        lines.join("\n")
    }
}

/// A packet: its number and its size.
type Numbered = (usize, u64);

struct Occamy {
    keys: Keys,
    switch: Settings,
    queues: Vec<VecDeque<Numbered>>,
    /// With `release_at_end`: for every port, the queue and size of the packet in transmission.
    sending: Vec<Option<(usize, u64)>>,
    bandwidth: Ratio,
    cell: u64,
    refill: i64,
    bucket: i64,
    needed: i64,
    tokens: i64,
    start: Option<u64>,
    /// The number of the next tick.
    tick: u64,
    last: usize,
    /// When, and which.
    expelled: Vec<(u64, usize)>,
    counts: Tally,
}

impl Occamy {
    fn new(keys: &Keys, switch: &Settings) -> Occamy {
        let &(_, bandwidth, cell, refill, bucket, needed) =
            PRESETS.iter().find(|preset| preset.0 == keys.preset).unwrap();
        let cell = keys.cell.unwrap_or(cell);
        let full = 1500_u64.div_ceil(cell) as i64;
        let bucket = keys.bucket.unwrap_or(if bucket == 0 { full } else { bucket });
        let begins_later = keys.preset == "ns-3";
        Occamy {
            queues: vec![VecDeque::new(); switch.ports * switch.queues_per_port],
            sending: vec![None; switch.ports],
            bandwidth: keys.bandwidth.unwrap_or(bandwidth),
            cell,
            refill: keys.refill.unwrap_or(refill),
            bucket,
            needed,
            tokens: if begins_later { 0 } else { bucket },
            start: if begins_later { None } else { Some(0) },
            tick: 0,
            last: 0,
            expelled: Vec::new(),
            counts: Tally::default(),
            keys: keys.clone(),
            switch: switch.clone(),
        }
    }

    fn bytes(&self, queue: usize) -> u64 {
        let waiting: u64 = self.queues[queue].iter().map(|packet| packet.1).sum();
        let sending = self.sending[queue / self.switch.queues_per_port];
        waiting + sending.filter(|of| of.0 == queue).map_or(0, |of| of.1)
    }

    fn total(&self) -> u64 {
        (0..self.queues.len()).map(|queue| self.bytes(queue)).sum()
    }

    /// T of a queue.
    fn limit(&self, queue: usize) -> u64 {
        let queue_class = queue % self.switch.queues_per_port;
        let (over, under) = self.keys.alpha[queue_class.min(self.keys.alpha.len() - 1)];
        (self.switch.capacity - self.total()) * over / under
    }

    /// Refill times cell, over bandwidth times the ports' rates: bits over bits per picosecond.
    fn time_of(&self, tick: u64) -> Option<u64> {
        let rates = self.switch.rates.iter().cycle().take(self.switch.ports);
        let bits = u128::from(tick) * self.refill as u128 * u128::from(self.cell) * 8;
        // 1 Gbps is a bit in 1000 ps.
        let gbps = u128::from(rates.sum::<u64>() * self.bandwidth.0);
        let ps = (bits * 1000 * u128::from(self.bandwidth.1)).div_ceil(gbps);
        Some(self.start? + ps as u64)
    }

    fn charge(&mut self, size: u64) {
        self.tokens -= size.div_ceil(self.cell) as i64;
    }

    /// All ticks before this time.
    fn wait_until(&mut self, now: u64) {
        // Between ticks nothing changes but what they expel.
        let mut victim = self.victim();
        while let Some(time) = self.time_of(self.tick).filter(|time| *time < now) {
            self.tick += 1;
            self.tokens = self.bucket.min(self.tokens + self.refill);
            self.counts.count("in debt", self.tokens < 0 && victim.is_some());
            let Some(queue) = victim.filter(|_| self.tokens >= self.needed) else { continue };
            let (number, size) = self.queues[queue].pop_front().unwrap();
            self.charge(size);
            self.counts.count("expelled", true);
            self.counts.count("another queue", self.last != queue);
            self.counts.count("overdrawn", self.tokens < 0);
            self.counts.count("the last packet", self.queues[queue].is_empty());
            self.last = queue;
            self.expelled.push((time, number));
            victim = self.victim();
        }
    }

    /// The queue that loses a packet.
    fn victim(&mut self) -> Option<usize> {
        let number = self.queues.len();
        if self.keys.is_longest {
            let most = (0..number).map(|queue| self.bytes(queue)).max()?;
            let longest: Vec<usize> =
                (0..number).filter(|queue| self.bytes(*queue) == most).collect();
            let is_last = self.keys.preset == "ns-3";
            let chosen = if is_last { *longest.last()? } else { longest[0] };
            let is_over = self.is_over(chosen);
            self.counts.count("several longest", is_over && longest.len() > 1);
            return is_over.then_some(chosen);
        }
        (1..=number).map(|step| (self.last + step) % number).find(|queue| self.is_over(*queue))
    }

    fn is_over(&self, queue: usize) -> bool {
        !self.queues[queue].is_empty() && self.bytes(queue) > self.limit(queue)
    }

    /// Why an arrival is lost, if it is.
    fn fate(&mut self, now: u64, queue: usize, size: u64) -> Option<DropReason> {
        if self.start.is_none() {
            self.start = Some(now);
        }
        let exempts = self.keys.exempts.unwrap_or(self.keys.preset == "ns-3");
        let is_within = self.bytes(queue) + size <= self.limit(queue);
        let is_exempt = exempts && self.queues[queue].is_empty();
        let fits = self.total() + size <= self.switch.capacity;
        self.counts.count("exempt", is_exempt && !is_within && fits);
        match (is_within || is_exempt, fits) {
            (false, _) => Some(DropReason::OverThreshold),
            (true, false) => Some(DropReason::BufferFull),
            (true, true) => None,
        }
    }
}

/// The real switch, and when its next expulsion is.
struct Driven {
    real: Real,
    next: Option<Time>,
    expelled: Vec<(u64, usize)>,
    expulsions: usize,
}

impl Driven {
    fn wait_until(&mut self, now: u64) {
        while let Some(time) = self.next.filter(|time| time.ps() < now) {
            self.real.switch.expel(time, &mut self.real.packets);
            for (number, reason) in self.real.take_lost() {
                assert_eq!(reason, DropReason::Expelled);
                self.expelled.push((time.ps(), number));
            }
            self.next = self.real.switch.next_expulsion(time);
            self.expulsions += 1;
        }
    }
}

/// Runs both beside each other.
fn compare(seed: u64, counts: &mut Tally) {
    let mut random = Stream::new(seed, "occamy", 0);
    let keys = Keys::draw(&mut random);
    let mut one = |of: &[u64]| of[random.below(of.len() as u64) as usize];
    let (ports, queues_per_port) = ((1 + one(&[0, 1, 3, 7])) as usize, one(&[1, 1, 2, 4]) as usize);
    let switch = Settings {
        capacity: one(&[6_000, 15_000, 40_000]),
        ports,
        queues_per_port,
        // Ticks are a whole number of picoseconds only at these rates, with a power of two of ports.
        rates: vec![one(&[10, 10, 40])],
        queue_classes: (0, queues_per_port - 1),
        uncounted: one(&[0, 0, 24]),
        release_at_end: one(&[0, 0, 0, 1]) == 1,
        scheduling: (if one(&[0, 1]) == 0 { "rr" } else { "dwrr" }, String::new()),
        sharing: ("occamy", keys.text()),
        ..Settings::default()
    };
    let mut naive = Occamy::new(&keys, &switch);
    let mut driven =
        Driven { real: Real::new(&switch), next: None, expelled: Vec::new(), expulsions: 0 };
    driven.real.switch.trace_decisions();
    let is_round = one(&[0, 1]) == 1;
    let mut now = 0;
    for number in 0..400 {
        let case = || format!("seed {seed}, packet {number}: {keys:?} {switch:?}");
        // Often at once, and sometimes after the bucket has filled.
        let more = [0, 0, one(&[1_000, 70_001, 150_000, 400_000]), one(&[5, 20_000, 600_000])];
        let more = more[one(&[0, 1, 2, 3]) as usize];
        now += if is_round { more / 10_000 * 10_000 } else { more };
        naive.wait_until(now);
        driven.wait_until(now);
        assert_eq!(driven.expelled, naive.expelled, "{}", case());
        // Port 0 is the busiest.
        let port = one(&[0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7]) as usize % ports;
        if one(&[0, 1, 2]) > 0 {
            arrive(
                number,
                now,
                port,
                (one(&[64, 200, 375, 1500, 1500]), one(&[0, 1, 2, 3])),
                &mut naive,
                &mut driven,
            );
        } else {
            depart(now, port, &mut naive, &mut driven);
        }
        let buffer = driven.real.switch.buffer();
        let lengths: Vec<u64> =
            (0..naive.queues.len()).map(|queue| buffer.bytes(queue as u32).into()).collect();
        let expected: Vec<u64> = (0..naive.queues.len()).map(|queue| naive.bytes(queue)).collect();
        assert_eq!(lengths, expected, "{}", case());
        assert!(driven.real.switch.is_consistent(&driven.real.packets), "{}", case());
    }
    *naive.counts.0.entry("looked in vain").or_default() +=
        driven.expulsions - driven.expelled.len();
    counts.add(naive.counts);
}

/// A packet of a size and a priority arrives.
fn arrive(
    number: usize,
    now: u64,
    port: usize,
    (size, priority): (u64, u64),
    naive: &mut Occamy,
    driven: &mut Driven,
) {
    let queue_class = (priority as usize).min(naive.switch.queues_per_port - 1);
    let queue = port * naive.switch.queues_per_port + queue_class;
    let limit = naive.limit(queue);
    let fate = naive.fate(now, queue, size);
    let is_idle = naive.sending[port].is_none()
        && (0..naive.switch.queues_per_port)
            .all(|class| naive.queues[port * naive.switch.queues_per_port + class].is_empty());
    // Every second port that could send at once does.
    let passes = is_idle && number.is_multiple_of(2);
    let wire = (size + naive.switch.uncounted) as u32;
    let packet = Packet { size: wire, priority: priority as u8, ..Packet::default() };
    let id = driven.real.insert(number, packet);
    let Real { switch, packets } = &mut driven.real;
    let (at, port_number) = (Time::from_ps(now), port as u32);
    let sent = if passes {
        switch.pass(at, port_number, id, &packet, packets)
    } else {
        switch.enqueue(at, port_number, id, &packet, packets);
        None
    };
    let decisions = switch.take_decisions();
    assert_eq!(decisions[0].threshold, Some(limit));
    assert_eq!(decisions[0].dropped, fate, "packet {number} at {now}: {:?}", naive.keys);
    let lost: Vec<_> = fate.iter().map(|reason| (number, *reason)).collect();
    assert_eq!(driven.real.take_lost(), lost);
    naive.counts.count("taken", fate.is_none());
    naive.counts.count("over", fate == Some(DropReason::OverThreshold));
    naive.counts.count("full", fate == Some(DropReason::BufferFull));
    if fate.is_none() {
        if let Some(id) = sent {
            driven.real.packets.remove(id);
            naive.charge(size);
            naive.sending[port] = naive.switch.release_at_end.then_some((queue, size));
        } else {
            assert!(!passes);
            naive.queues[queue].push_back((number, size));
        }
    }
    if driven.next.is_none() {
        driven.next = driven.real.switch.next_expulsion(at);
    } else {
        assert_eq!(driven.real.switch.next_expulsion(at), None, "it is known");
    }
}

/// A port can send.
fn depart(now: u64, port: usize, naive: &mut Occamy, driven: &mut Driven) {
    let Real { switch, packets } = &mut driven.real;
    naive.sending[port] = None;
    let sent = switch.send_next(Time::from_ps(now), port as u32, packets).map(|(id, _)| id);
    let queues = port * naive.switch.queues_per_port..(port + 1) * naive.switch.queues_per_port;
    let Some(id) = sent else {
        assert!(queues.into_iter().all(|queue| naive.queues[queue].is_empty()));
        return;
    };
    let number = driven.real.number(id);
    driven.real.packets.remove(id);
    let mut of_port = queues.into_iter();
    let is_first = |queue: &usize| naive.queues[*queue].front().is_some_and(|p| p.0 == number);
    let queue = of_port.find(is_first).expect("the first of a queue");
    let (_, size) = naive.queues[queue].pop_front().unwrap();
    naive.charge(size);
    naive.sending[port] = naive.switch.release_at_end.then_some((queue, size));
}

#[test]
fn decides_and_expels_as_a_naive_implementation() {
    let mut counts = Tally::default();
    (0..150).for_each(|seed| compare(seed, &mut counts));
    for (what, least) in [
        ("taken", 10_000),
        ("over", 2_000),
        ("full", 1_000),
        ("exempt", 100),
        ("expelled", 2_000),
        ("another queue", 1_000),
        ("the last packet", 300),
        ("several longest", 100),
        ("overdrawn", 500),
        ("in debt", 10_000),
        ("looked in vain", 500),
    ] {
        assert!(counts.of(what) >= least, "{what}: {counts:?}");
    }
}

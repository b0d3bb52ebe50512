//! The naive implementation: every tick, one after the other, and all queues at each.

use crate::common::drawing::Tally;
use crate::common::{Ratio, Settings, decimal};
use spillway_engine::Stream;
use spillway_switch::DropReason;
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
pub struct Keys {
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
    pub fn draw(random: &mut Stream) -> Keys {
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

    pub fn text(&self) -> String {
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

pub struct Occamy {
    pub keys: Keys,
    pub switch: Settings,
    pub queues: Vec<VecDeque<Numbered>>,
    /// With `release_at_end`: for every port, the queue and size of the packet in transmission.
    pub sending: Vec<Option<(usize, u64)>>,
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
    pub expelled: Vec<(u64, usize)>,
    pub counts: Tally,
}

impl Occamy {
    pub fn new(keys: &Keys, switch: &Settings) -> Occamy {
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

    pub fn bytes(&self, queue: usize) -> u64 {
        let waiting: u64 = self.queues[queue].iter().map(|packet| packet.1).sum();
        let sending = self.sending[queue / self.switch.queues_per_port];
        waiting + sending.filter(|of| of.0 == queue).map_or(0, |of| of.1)
    }

    fn total(&self) -> u64 {
        (0..self.queues.len()).map(|queue| self.bytes(queue)).sum()
    }

    /// T of a queue.
    pub fn limit(&self, queue: usize) -> u64 {
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

    pub fn charge(&mut self, size: u64) {
        self.tokens -= size.div_ceil(self.cell) as i64;
    }

    /// All ticks before this time.
    pub fn wait_until(&mut self, now: u64) {
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
    pub fn fate(&mut self, now: u64, queue: usize, size: u64) -> Option<DropReason> {
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

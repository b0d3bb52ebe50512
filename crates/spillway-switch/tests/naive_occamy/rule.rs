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
    ("dpdk", (27, 25), 200, 27, 200, 0),
];

/// A microsecond in picoseconds.
const US: u64 = 1_000_000;

/// The keys of a scenario.
#[derive(Clone, Debug)]
pub struct Keys {
    preset: &'static str,
    alpha: Vec<Ratio>,
    is_longest: bool,
    exempts: Option<bool>,
    /// In picoseconds.
    threshold_every: Option<u64>,
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
        let cell = [None, None, Some(64), Some(200), Some(512)][one(&[0, 1, 2, 3, 4]) as usize];
        let refill = [None, None, Some(1), Some(8), Some(20)][one(&[0, 1, 2, 3, 4]) as usize];
        // With other cells the tick of the software switch is no whole number of picoseconds.
        let is_given = preset == "dpdk" && (cell, refill) != (None, None) || one(&[0, 1]) == 1;
        let every = [None, None, Some(0), Some(US / 2), Some(US * 7 / 10), Some(3 * US)];
        Keys {
            preset,
            alpha,
            is_longest: one(&[0, 1]) == 1,
            exempts: [None, Some(false), Some(true)][one(&[0, 1, 2]) as usize],
            threshold_every: every[one(&[0, 1, 2, 3, 4, 5]) as usize],
            bandwidth: is_given.then(|| bandwidths[one(&[0, 1, 2, 3, 4]) as usize]),
            cell,
            refill,
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
        let every = self.threshold_every;
        lines.extend(every.map(|ps| format!("threshold_every = \"{}ns\"", ps / 1000)));
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
    /// In picoseconds; 0 for with every packet.
    threshold_every: u64,
    /// How often thresholds have been worked out, and what was free then.
    updates: u64,
    was_free: u64,
    last: usize,
    /// When something happened last.
    now: u64,
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
        let of_preset = if keys.preset == "dpdk" { US } else { 0 };
        Occamy {
            queues: vec![VecDeque::new(); switch.ports * switch.queues_per_port],
            sending: vec![None; switch.ports],
            bandwidth: keys.bandwidth.unwrap_or(bandwidth),
            cell,
            refill: keys.refill.unwrap_or(refill),
            bucket,
            needed,
            tokens: if keys.preset == "paper" { bucket } else { 0 },
            start: if keys.preset == "ns-3" { None } else { Some(0) },
            // The software switch has no tick at 0.
            tick: u64::from(keys.preset == "dpdk"),
            threshold_every: keys.threshold_every.unwrap_or(of_preset),
            updates: 0,
            was_free: switch.capacity,
            last: 0,
            now: 0,
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
        self.free() * over / under
    }

    /// The bytes that count as free.
    fn free(&self) -> u64 {
        let free = self.switch.capacity - self.total();
        if self.threshold_every > 0 { self.was_free } else { free }
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

    /// All that happens by itself before this time, since something happened last: ticks, and
    /// thresholds that are worked out.
    pub fn wait_until(&mut self, now: u64) {
        if now == self.now {
            return;
        }
        let runs_free = self.keys.preset == "dpdk";
        if runs_free && self.time_of(self.tick) > Some(self.now) {
            self.settle(self.now, "at once");
        }
        // Between ticks nothing changes but what they expel.
        let mut victim = if runs_free { None } else { self.victim() };
        loop {
            let tick = self.time_of(self.tick).unwrap_or(u64::MAX);
            let every = Some(self.threshold_every).filter(|every| *every > 0);
            let update = every.map_or(u64::MAX, |every| every * (self.updates + 1));
            let next = tick.min(update);
            if next >= now {
                break;
            }
            if next == tick {
                self.tick += 1;
                self.tokens = self.bucket.min(self.tokens + self.refill);
                if runs_free {
                    self.settle(tick, "at a tick");
                } else {
                    self.counts.count("in debt", self.tokens < 0 && victim.is_some());
                    if let Some(queue) = victim.filter(|_| self.tokens >= self.needed) {
                        self.expel(tick, queue);
                        victim = self.victim();
                    }
                }
            } else {
                self.updates += 1;
                self.was_free = self.switch.capacity - self.total();
                if runs_free {
                    self.settle(update, "after an update");
                } else {
                    victim = self.victim();
                }
            }
        }
        self.now = now;
    }

    /// Expels what can be expelled at this time, as the loop of the software switch does.
    fn settle(&mut self, now: u64, why: &'static str) {
        let before = self.expelled.len();
        while self.tokens >= self.needed {
            let Some(queue) = self.victim_of_pass() else { break };
            self.expel(now, queue);
            self.counts.count(why, true);
        }
        let expelled = self.expelled.len() - before;
        self.counts.count("several at one instant", expelled > 1);
        let is_over = (0..self.queues.len()).any(|queue| self.is_over(queue));
        self.counts.count("in debt", self.tokens < 0 && is_over);
    }

    /// The queue that loses a packet in a pass over all queues, of the software switch.
    fn victim_of_pass(&mut self) -> Option<usize> {
        let number = self.queues.len();
        if self.keys.is_longest {
            let over: Vec<usize> = (0..number).filter(|queue| self.is_over(*queue)).collect();
            let most = over.iter().map(|queue| self.bytes(*queue)).max()?;
            let longest: Vec<_> = over.iter().filter(|queue| self.bytes(**queue) == most).collect();
            self.counts.count("several longest", longest.len() > 1);
            let is_longer = |queue| self.bytes(queue) > most;
            self.counts.count("a longer one is not over", (0..number).any(is_longer));
            return Some(*longest[0]);
        }
        self.counts.count("the first is spared", self.is_over(0));
        let mut rest = self.last + 1..number;
        let found = rest.find(|queue| self.is_over(*queue));
        if found.is_some() {
            return found;
        }
        self.counts.count("turns begin again", self.last > 0);
        self.last = 0;
        (1..number).find(|queue| self.is_over(*queue))
    }

    /// A queue's first packet goes.
    fn expel(&mut self, now: u64, queue: usize) {
        let (number, size) = self.queues[queue].pop_front().unwrap();
        self.charge(size);
        self.counts.count("expelled", true);
        self.counts.count("another queue", self.last != queue);
        self.counts.count("overdrawn", self.tokens < 0);
        self.counts.count("the last packet", self.queues[queue].is_empty());
        self.last = queue;
        self.expelled.push((now, number));
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

    /// Whether only the longest queue may lose a packet.
    pub fn looks_at_one(&self) -> bool {
        self.keys.is_longest && self.keys.preset != "dpdk"
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
        let has_room = is_exempt || self.threshold_every == 0 || size <= self.was_free;
        self.counts.count("exempt", is_exempt && !is_within && fits);
        self.counts.count("fits by now", is_within && !has_room && fits);
        self.counts.count("no longer fits", is_within && has_room && !fits);
        match (is_within || is_exempt, fits && has_room) {
            (false, _) => Some(DropReason::OverThreshold),
            (true, false) => Some(DropReason::BufferFull),
            (true, true) => None,
        }
    }
}

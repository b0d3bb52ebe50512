//! Occamy: Dynamic Thresholds with a large alpha admit packets, and spare memory bandwidth expels
//! the first packets of queues that are over their threshold. So a queue may take nearly the whole
//! buffer, and still makes room soon after another one needs it.
//!
//! # Reference
//! D. Shan, Y. Li, J. Ma, Z. Zhang, Z. Liang, X. Wen, H. Li, W. Jiang, N. Li, F. Ren, "Occamy: A
//! Preemptive Buffer Management for On-chip Shared-memory Switches", EuroSys 2025.
//! <https://arxiv.org/abs/2501.13570>
//!
//! # Rule
//! T = alpha (B - Q). Admit iff q + s <= T, q being the length of the arrival's queue and s its
//! size. B: `buffer.capacity()`, Q: `buffer.occupancy()`.
//!
//! Expel the packet at the head of a queue with q > T, if a token is left. `victim` says which
//! queue: the next one in turn after the queue that lost a packet last, or the longest one. A
//! packet in transmission has left its queue and is safe.
//!
//! Tokens are the memory's bandwidth that transmissions leave over. The memory reads `bandwidth`
//! times as fast as all ports together send. A token reads a cell of `cell` bytes. `refill` tokens
//! come at once, in a tick, at most `bucket` are kept, and there is at most one expulsion for each
//! tick, just after its tokens have come. A packet of s bytes costs ceil(s / `cell`) tokens, when
//! its transmission begins or when it is expelled. Transmissions never wait for tokens, so the
//! bucket may be overdrawn. Then nothing is expelled until the debt is paid off. A tick lasts
//! `refill` `cell` / (`bandwidth` R), where R is the sum of the ports' nominal rates.
//!
//! # Presets
//! `preset` sets the defaults of other keys, and three rules that have no key:
//!
//! | | `"paper"` | `"ns-3"` | `"dpdk"` |
//! | --- | --- | --- | --- |
//! | `bandwidth` | 1 | 16/15 | 1.1 |
//! | `cell` | 1 byte | 200 bytes | 200 bytes |
//! | `refill` | 1 | 8 | 1 |
//! | `bucket` | a full packet | 8 | 200 |
//! | `exempt_empty` | false | true | false |
//! | tokens needed | 1 | 1 | 0 |
//! | of equally long queues | the first | the last | the first |
//! | ticks | from the beginning of the run, the bucket full | from the first arrival, the bucket empty | as `"paper"` |
//!
//! `"ns-3"` is the authors' simulation (ants-xjtu/Occamy-Simulation, d762179). Eight ports of 10
//! Gbps get 8 tokens every 150 ns. `"dpdk"` is their software switch (ants-xjtu/Occamy, 1bf6d5e):
//! 55 million tokens a second are 1.1 times what eight ports of 10 Gbps send.
//!
//! # Departures from the paper
//! The rule is taken from these programs, and from the paper's abstract. That the head of a queue
//! above its threshold is expelled, that a token bucket stands for spare bandwidth, and that
//! transmissions drain it, all programs agree on. Where they differ, `"paper"` has the plain rule:
//! bytes rather than cells, so that the debt stays below a packet for each port, and a memory that
//! reads exactly as much as the ports can send.
//!
//! The ns-3 program has one bucket for all buffers of a switch, and expels only from the buffer of
//! the first eight ports; a switch here has one buffer. The software switch looks at queues as
//! fast as a processor can, with thresholds that another processor works out from time to time. It
//! adds tokens every half microsecond, and never visits the first queue. Its preset has none of
//! this.
//!
//! # Scope and limitations
//! A packet that was marked may be expelled later. Lossless packets are not expelled, and their
//! transmission costs no tokens. Acks are not exempt. Packets that find
//! their port idle are queued, too, and an event wakes every port that waits, so runs take longer
//! than under `dt`.
//!
//! # In composition
//! Thresholds are those of queues, and lists of alpha are read as under [DT](dt.md). Under strict
//! priority a starved queue that is over its threshold loses its heads, which makes room for better
//! ones; but while all ports send, no tokens are left for that, unless the memory reads faster
//! (`bandwidth`). An AQM that decides when packets leave never sees those that are expelled. What
//! follows them shows the loss, so recoveries that count are better off than under [LQD](lqd.md),
//! which takes tails: in `five`, with one queue for data and losses counted, 2.4% of flows have a
//! timeout, and 5.4% there (studies/spillway_studies/five/paper.md).
//!
//! # Validation
//! Makes the same decisions, and expels the same packets at the same moments, as a second, naive
//! implementation that counts every tick (`tests/naive_occamy.rs`). With `preset = "ns-3"` all
//! 401,218 packets of 159 runs, of which 42,971 are expelled, have the fate that the authors'
//! simulation gives them, at its nanosecond. So have those of 21 of 27 further runs, in which
//! the program handles some ticks before packets that leave at the same time
//! (studies/spillway_studies/references/validation.md). The other presets were not compared with a
//! program.
//!
//! # Cost
//! A multiplication and a division for every packet. A scan of all queues for an arrival at a
//! nearly full buffer, and for an expulsion. An event for each expulsion.

use super::{Sharing, of_queue_class};
use crate::buffer::{Buffer, QueueId};
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, Watch};
use crate::sharing::dynamic_thresholds::DynamicThresholds;
use spillway_engine::{Rate, Time};
use spillway_settings::{Range, Section, SettingsError};

/// Thresholds, victims, and the memory's bandwidth.
#[derive(Clone, Debug)]
pub struct OccamyParams {
    /// The bytes that a queue may hold for every free byte, above 0, by queue class. The last one
    /// holds for all further ones.
    alpha: Vec<f64>,
    victim: Victims,
    /// Whether a packet for an empty queue is admitted whatever the threshold.
    exempt_empty: bool,
    /// How fast the memory reads, in multiples of what all ports send, above 0.
    bandwidth: f64,
    /// The bytes that a token reads, above 0.
    cell: u64,
    /// The tokens that come in a tick, above 0.
    refill: u64,
    /// The most tokens that are kept, above 0.
    bucket: u64,
    /// The tokens without which nothing is expelled.
    needed: i64,
    /// Whether ticks begin with the first arrival, and the bucket is empty then.
    begins_with_arrival: bool,
}

/// Which queue over its threshold loses a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victims {
    /// The next one after the queue that lost a packet last.
    InTurn,
    /// The longest; of several, the first.
    FirstLongest,
    /// The longest; of several, the last.
    LastLongest,
}

/// Dynamic Thresholds whose queues are cut back while the memory has bandwidth to spare.
#[derive(Clone, Debug)]
pub struct Occamy {
    /// By queue, alpha by queue class.
    alpha: ByQueue<Vec<f64>>,
    /// The least of all alpha.
    least_alpha: f64,
    victim: Victims,
    exempt_empty: bool,
    bucket: Bucket,
    /// The queue that lost a packet last.
    last: QueueId,
}

impl Policy for Occamy {
    const ID: &'static str = "occamy";
    const SUMMARY: &'static str =
        "Occamy: DT, and spare memory bandwidth expels the heads of queues over their threshold";
    const CITATION: &'static str = "Shan et al.: Occamy, EuroSys 2025, arXiv:2501.13570";
    const COST: Option<Cost> = Some(Cost {
        // Whether the queue is over its threshold.
        queue: State { bits: 1, ..State::NONE },
        // Tokens, and the queue that lost a packet last.
        switch: State { counters: 1, more: "1 queue's number", ..State::NONE },
        arrival: DynamicThresholds::TEST,
        // The tokens that it costs.
        departure: Operations { additions: 1, ..Operations::NONE },
        // The next queue over T.
        at_times: &[
            ("each tick", Operations { additions: 1, comparisons: 2, ..Operations::NONE }),
            (
                "each packet expelled",
                Operations { scalings: 1, searches: 1, additions: 1, ..Operations::NONE },
            ),
        ],
        needs: "a queue that can lose its first packet, memory bandwidth to spare",
        ..Cost::NONE
    });

    const CHANGES: &'static [&'static str] = &["alpha"];
    const CHANGES_BY_PORT: bool = true;

    type Params = OccamyParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<OccamyParams, SettingsError> {
        let presets = [("paper", Preset::Paper), ("ns-3", Preset::Ns3), ("dpdk", Preset::Dpdk)];
        let preset =
            section.choice("preset", &presets, "whose values other keys have by default")?;
        let meaning = "bytes a queue may hold for every free byte; by queue class where a list is \
                       given, the last holding for all further ones";
        let alpha = environment.by_queue_class(section, "alpha", 8.0, Range::Positive, meaning)?;
        let longest = match preset {
            Preset::Ns3 => Victims::LastLongest,
            Preset::Paper | Preset::Dpdk => Victims::FirstLongest,
        };
        let meaning = "which queue over its threshold loses a packet";
        let victims = [("round-robin", Victims::InTurn), ("longest", longest)];
        let victim = section.choice("victim", &victims, meaning)?;
        let of_preset = preset.defaults();
        let meaning = "whether a packet for an empty queue is admitted whatever the threshold";
        let exempt_empty = section.flag("exempt_empty", preset == Preset::Ns3, meaning)?;
        let meaning = "how fast the memory reads, in multiples of what all ports together send";
        let bandwidth = section.number("bandwidth", of_preset.bandwidth, BANDWIDTHS, meaning)?;
        let meaning = "what a token reads: a packet costs as many tokens as it has cells, the last \
                       of which may be in part";
        let cell = section.positive_size("cell", of_preset.cell, meaning)?;
        let meaning = "tokens that come at once, in a tick; each tick may expel a packet";
        let refill = section.integer("refill", of_preset.refill, 1..=MOST_TOKENS, meaning)?;
        let full_packet = u64::from(environment.full_packet).div_ceil(cell);
        let meaning = "the most tokens that are kept; by default those of a full packet, or the \
                       preset's";
        let default = of_preset.bucket.unwrap_or(full_packet);
        let bucket = section.integer("bucket", default, 1..=MOST_TOKENS, meaning)?;
        Ok(OccamyParams {
            alpha,
            victim,
            exempt_empty,
            bandwidth,
            cell,
            refill,
            bucket,
            needed: i64::from(preset != Preset::Dpdk),
            begins_with_arrival: preset == Preset::Ns3,
        })
    }

    fn new(params: &OccamyParams, environment: &Environment) -> Self {
        let alpha = ByQueue::all(params.alpha.clone());
        Occamy {
            least_alpha: least(&alpha),
            alpha,
            victim: params.victim,
            exempt_empty: params.exempt_empty,
            bucket: Bucket::new(params, &environment.port_rates),
            last: 0,
        }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.alpha.adopt(fresh.alpha, adoption.port, adoption.buffer);
        self.least_alpha = least(&self.alpha);
    }
}

/// The most tokens that come at once or are kept.
const MOST_TOKENS: u64 = 1_000_000_000;

/// A memory that is slower than a millionth of its ports, or faster than a million times as fast,
/// is a mistake.
const BANDWIDTHS: Range = Range::Within(1e-6, 1e6);

/// The least alpha of all queues.
fn least(alpha: &ByQueue<Vec<f64>>) -> f64 {
    alpha.each().flatten().copied().fold(f64::INFINITY, f64::min)
}

/// Whose values keys have by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Preset {
    Paper,
    Ns3,
    Dpdk,
}

/// The defaults of keys. `bucket` is a full packet where there is none.
struct Defaults {
    bandwidth: f64,
    cell: &'static str,
    refill: u64,
    bucket: Option<u64>,
}

impl Preset {
    fn defaults(self) -> Defaults {
        match self {
            Preset::Paper => Defaults { bandwidth: 1.0, cell: "1B", refill: 1, bucket: None },
            // 1600 bytes in the time in which the ports send 1500.
            Preset::Ns3 => {
                Defaults { bandwidth: 16.0 / 15.0, cell: "200B", refill: 8, bucket: Some(8) }
            }
            // 55 million cells a second for eight ports of 10 Gbps.
            Preset::Dpdk => Defaults { bandwidth: 1.1, cell: "200B", refill: 1, bucket: Some(200) },
        }
    }
}

/// Tokens. Ticks are counted when somebody asks, so that a tick costs nothing.
#[derive(Clone, Debug)]
struct Bucket {
    cell: u64,
    refill: i64,
    most: i64,
    needed: i64,
    /// The length of a tick in parts of a picosecond: 2^20 of them are one.
    tick: u128,
    /// When the first tick is; `None` if nothing has arrived yet.
    start: Option<Time>,
    tokens: i64,
    /// The ticks whose tokens have been added.
    ticks: u64,
}

/// The parts of a picosecond in which ticks are measured, as a logarithm.
const PARTS_LOG2: u32 = 20;

impl Bucket {
    fn new(params: &OccamyParams, rates: &[Rate]) -> Bucket {
        let bits_per_second: u64 = rates.iter().map(|rate| rate.bits_per_second()).sum();
        // refill cell / (bandwidth R), rounded once.
        let bits = params.refill as f64 * params.cell as f64 * 8.0;
        let seconds = bits / (params.bandwidth * bits_per_second as f64);
        let parts = (seconds * 1e12 * f64::from(1 << PARTS_LOG2)).round();
        let (most, begins_with_arrival) = (params.bucket as i64, params.begins_with_arrival);
        Bucket {
            cell: params.cell,
            refill: params.refill as i64,
            most,
            needed: params.needed,
            tick: (parts as u128).max(1),
            start: (!begins_with_arrival).then_some(Time::ZERO),
            tokens: if begins_with_arrival { 0 } else { most },
            ticks: 0,
        }
    }

    /// How many ticks there have been up to this time, which counts.
    fn ticks_by(&self, now: Time) -> u64 {
        let since = self.start.filter(|start| *start <= now).map(|start| now.since(start).ps());
        let number = |ps| (u128::from(ps) << PARTS_LOG2) / self.tick + 1;
        since.map_or(0, |ps| u64::try_from(number(ps)).unwrap_or(u64::MAX))
    }

    /// When the tick with this number is, from 0; `None` if it never is.
    fn time_of(&self, tick: u64) -> Option<Time> {
        let ps = u128::from(tick).checked_mul(self.tick)?.div_ceil(1 << PARTS_LOG2);
        let since = Time::from_ps(u64::try_from(ps).ok()?);
        Some(self.start?.saturating_add(since)).filter(|time| *time < Time::MAX)
    }

    /// Adds the tokens of the ticks up to a number.
    fn add(&mut self, ticks: u64) {
        if ticks > self.ticks {
            let new = i64::try_from(ticks - self.ticks).unwrap_or(i64::MAX);
            let tokens = self.tokens.saturating_add(self.refill.saturating_mul(new));
            (self.tokens, self.ticks) = (tokens.min(self.most), ticks);
        }
    }

    /// Adds the tokens of all ticks before this time. Whatever happens at a tick happens before it.
    fn add_before(&mut self, now: Time) {
        if let Some(before) = now.ps().checked_sub(1) {
            self.add(self.ticks_by(Time::from_ps(before)));
        }
    }

    /// Takes the tokens that a packet costs.
    fn charge(&mut self, size: u32) {
        self.tokens -= u64::from(size).div_ceil(self.cell) as i64;
    }

    /// The first tick that has not been counted and leaves enough tokens for an expulsion, if
    /// nothing is charged before.
    fn next(&self) -> Option<Time> {
        let lacks = (self.needed - self.tokens).max(0);
        let more = (lacks as u64).div_ceil(self.refill as u64).saturating_sub(1);
        self.time_of(self.ticks.saturating_add(more))
    }
}

impl Occamy {
    /// T = alpha (B - Q), rounded down to a byte.
    #[inline]
    fn limit(&self, queue: QueueId, queue_class: u8, buffer: &Buffer) -> u64 {
        (of_queue_class(self.alpha.of(queue), queue_class) * buffer.free() as f64) as u64
    }

    /// Whether a queue is over its threshold, and has a packet to lose.
    fn is_over(&self, queue: QueueId, buffer: &Buffer) -> bool {
        let length = buffer.length(queue);
        let limit = self.limit(queue, buffer.queue_class_of(queue), buffer);
        length.packets > 0 && u64::from(length.bytes) > limit
    }

    /// The queue that would lose a packet now.
    fn candidate(&self, buffer: &Buffer) -> Option<QueueId> {
        // No queue is longer than all together.
        if buffer.occupancy() <= (self.least_alpha * buffer.free() as f64) as u64 {
            return None;
        }
        let queues = 0..buffer.queues().len() as QueueId;
        match self.victim {
            Victims::InTurn => {
                let from = self.last + 1;
                let mut in_turn = (from..queues.end).chain(0..from);
                in_turn.find(|&queue| self.is_over(queue, buffer))
            }
            Victims::FirstLongest => {
                let longest = queues.rev().max_by_key(|&queue| buffer.bytes(queue));
                longest.filter(|&queue| self.is_over(queue, buffer))
            }
            Victims::LastLongest => {
                let longest = queues.max_by_key(|&queue| buffer.bytes(queue));
                longest.filter(|&queue| self.is_over(queue, buffer))
            }
        }
    }
}

impl Watch for Occamy {
    fn watches_queues(&self) -> bool {
        true
    }

    fn on_dequeue(&mut self, now: Time, _queue: QueueId, size: u32, _buffer: &Buffer) {
        self.bucket.add_before(now);
        self.bucket.charge(size);
    }
}

impl Sharing for Occamy {
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        self.bucket.start.get_or_insert(arrival.now);
        if self.exempt_empty && buffer.packets(arrival.queue) == 0 {
            return Admission::Admit;
        }
        let length = u64::from(buffer.bytes(arrival.queue)) + u64::from(arrival.size);
        let limit = self.limit(arrival.queue, arrival.queue_class, buffer);
        Admission::if_within(length <= limit)
    }

    fn expels(&self) -> bool {
        true
    }

    fn next_expulsion(&mut self, now: Time, buffer: &Buffer) -> Option<Time> {
        self.candidate(buffer)?;
        self.bucket.add_before(now);
        self.bucket.next()
    }

    fn expel(&mut self, now: Time, buffer: &Buffer) -> Option<QueueId> {
        self.bucket.add(self.bucket.ticks_by(now));
        if self.bucket.tokens < self.bucket.needed {
            return None;
        }
        let queue = self.candidate(buffer)?;
        self.last = queue;
        Some(queue)
    }

    fn on_expelled(&mut self, size: u32) {
        self.bucket.charge(size);
    }

    fn threshold(&self, arrival: &Arrival, buffer: &Buffer) -> Option<u64> {
        Some(self.limit(arrival.queue, arrival.queue_class, buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{OVER, arrival, filled};
    use super::*;

    /// Ports of 10 Gbps.
    fn with(text: &str, ports: usize) -> Occamy {
        let mut section = Section::new("sharing", text.parse().unwrap());
        let occamy = Occamy::read(&mut section, &Environment::example(ports)).unwrap();
        section.finish().unwrap();
        occamy
    }

    fn at(now: Time) -> Arrival {
        Arrival { now, ..arrival(0, 1500) }
    }

    fn expelled(occamy: &mut Occamy, now: Time, buffer: &Buffer) -> Option<QueueId> {
        let queue = occamy.expel(now, buffer);
        if queue.is_some() {
            occamy.on_expelled(1500);
        }
        queue
    }

    #[test]
    fn a_queue_that_is_alone_takes_nearly_all_and_gives_way_to_another() {
        // alpha = 9, B = 1,000,000: alone, q = 9 B / 10 = 900,000 = T.
        let mut occamy = with("alpha = 9", 2);
        let alone = filled(&[899_000, 0]);
        assert_eq!(occamy.threshold(&arrival(0, 1000), &alone), Some(909_000));
        assert_eq!(occamy.admit(&arrival(0, 10_000), &alone), Admission::Admit);
        assert_eq!(occamy.admit(&arrival(0, 10_001), &alone), OVER);
        let settled = filled(&[900_000, 0]);
        assert_eq!(occamy.candidate(&settled), None, "it is at its threshold, not over");
        // Another packet of 1500 bytes: T = 9 * 98,500 = 886,500.
        let other = filled(&[900_000, 1_500]);
        assert_eq!(occamy.candidate(&other), Some(0));
        assert_eq!(occamy.next_expulsion(Time::from_us(1), &other), Some(Time::from_us(1)));
        assert_eq!(expelled(&mut occamy, Time::from_us(1), &other), Some(0));
    }

    #[test]
    fn transmissions_and_expulsions_are_paid_with_the_bandwidth_of_the_memory() {
        // Four ports send a byte in 200 ps, and so does the memory. The bucket of 1500 bytes is
        // full. At 1 us three packets begin to be sent: 3000 bytes are owed. The byte that comes at
        // 1 us is the first of 3001 without which nothing is expelled; the last one comes 3000 * 200
        // ps later.
        let (mut occamy, buffer) = (with("", 4), filled(&[990_000, 0, 0, 0]));
        (1..4).for_each(|queue| occamy.on_dequeue(Time::from_us(1), queue, 1500, &buffer));
        assert_eq!(occamy.bucket.tokens, -3000);
        assert_eq!(occamy.next_expulsion(Time::from_us(1), &buffer), Some(Time::from_ns(1_600)));
        assert_eq!(expelled(&mut occamy, Time::from_ns(1_599), &buffer), None);
        assert_eq!(expelled(&mut occamy, Time::from_ns(1_600), &buffer), Some(0));
        // 1 - 1500: the next one 1500 bytes later.
        assert_eq!(
            occamy.next_expulsion(Time::from_ns(1_600), &buffer),
            Some(Time::from_ns(1_900))
        );
        // A memory that is twice as fast pays 3001 bytes in 300 ns.
        let mut fast = with("bandwidth = 2", 4);
        (1..4).for_each(|queue| fast.on_dequeue(Time::from_us(1), queue, 1500, &buffer));
        assert_eq!(fast.next_expulsion(Time::from_us(1), &buffer), Some(Time::from_ns(1_300)));
    }

    #[test]
    fn the_simulation_of_the_authors_gets_eight_tokens_every_150_ns() {
        let (mut occamy, buffer) = (with("preset = \"ns-3\"", 8), filled(&[990_000; 1]));
        assert_eq!(occamy.bucket.tick, 150_000 << PARTS_LOG2);
        assert_eq!(occamy.bucket.next(), None, "nothing has arrived");
        // Ticks begin at 1000 ns. A packet of 1500 bytes costs 8 tokens, one of 201 two.
        assert_eq!(occamy.admit(&at(Time::from_ns(1_000)), &filled(&[0])), Admission::Admit);
        occamy.on_dequeue(Time::from_ns(1_000), 0, 1500, &buffer);
        occamy.on_dequeue(Time::from_ns(1_000), 0, 201, &buffer);
        assert_eq!(occamy.bucket.tokens, -10);
        // -2 at 1000 ns, 6 at 1150 ns.
        assert_eq!(
            occamy.next_expulsion(Time::from_ns(1_000), &buffer),
            Some(Time::from_ns(1_150))
        );
        assert_eq!(expelled(&mut occamy, Time::from_ns(1_150), &buffer), Some(0));
        // -2, then 6 at 1300 ns: one packet for each tick.
        assert_eq!(
            occamy.next_expulsion(Time::from_ns(1_150), &buffer),
            Some(Time::from_ns(1_300))
        );
        // After a long time there are eight.
        occamy.bucket.add_before(Time::from_ms(1));
        assert_eq!(occamy.bucket.tokens, 8);
        // A packet that begins at a tick is charged before it.
        occamy.on_dequeue(Time::from_ps(1_000_000 + 150_000 * 7000), 0, 9000, &buffer);
        assert_eq!((occamy.bucket.ticks, occamy.bucket.tokens), (7_000, 8 - 45));
    }

    #[test]
    fn queues_over_their_threshold_lose_packets_in_turn_or_the_longest_does() {
        // 55,000 bytes are free, T = 55,000 (alpha = 1): queues 1, 2 and 4 are over.
        let lengths = [5_000, 300_000, 320_000, 0, 320_000];
        let buffer = filled(&lengths);
        let victims = |text: &str, preset: &str| {
            let mut occamy = with(&format!("alpha = 1\nbandwidth = 1000\n{text}\n{preset}"), 5);
            occamy.bucket.start = Some(Time::ZERO);
            [1, 2, 3, 4].map(|us| expelled(&mut occamy, Time::from_us(us), &buffer).unwrap())
        };
        let in_turn = "victim = \"round-robin\"";
        assert_eq!(victims(in_turn, ""), [1, 2, 4, 1]);
        assert_eq!(victims("victim = \"longest\"", ""), [2; 4]);
        assert_eq!(victims("victim = \"longest\"", "preset = \"ns-3\""), [4; 4]);
        assert_eq!(victims("victim = \"longest\"", "preset = \"dpdk\""), [2; 4]);
    }

    #[test]
    fn the_queue_that_lost_a_packet_last_comes_last() {
        let mut occamy = with("alpha = 1\nbandwidth = 1000", 3);
        let alone = filled(&[0, 700_000, 0]);
        let both = filled(&[400_000, 400_000, 0]);
        assert_eq!(expelled(&mut occamy, Time::from_us(1), &alone), Some(1));
        assert_eq!(expelled(&mut occamy, Time::from_us(2), &alone), Some(1));
        assert_eq!(expelled(&mut occamy, Time::from_us(3), &both), Some(0));
        assert_eq!(expelled(&mut occamy, Time::from_us(4), &both), Some(1));
        assert_eq!(expelled(&mut occamy, Time::from_us(5), &filled(&[1_000, 0, 0])), None);
    }

    #[test]
    fn the_longest_queue_is_safe_if_its_own_threshold_is_higher() {
        // 100,000 free. Queue 0, of queue class 0, may hold 800,000, queue 1 25,000.
        let environment = Environment { queues_per_port: 2, ..Environment::example(1) };
        let mut buffer = Buffer::new(1_000_000, environment.port_rates.clone(), 2);
        buffer.add(0, 600_000);
        buffer.add(1, 300_000);
        let candidate = |victim: &str| {
            let text = format!("alpha = [8, 0.25]\nvictim = \"{victim}\"");
            let mut section = Section::new("sharing", text.parse().unwrap());
            Occamy::read(&mut section, &environment).unwrap().candidate(&buffer)
        };
        assert_eq!((candidate("longest"), candidate("round-robin")), (None, Some(1)));
    }

    #[test]
    fn a_packet_in_transmission_is_safe() {
        // Its bytes are held until it has been sent, but there is nothing to expel.
        let (mut occamy, mut buffer) = (with("alpha = 0.5", 1), filled(&[900_000]));
        assert_eq!(occamy.next_expulsion(Time::ZERO, &buffer), Some(Time::ZERO));
        buffer.subtract_packet(0);
        assert_eq!(occamy.next_expulsion(Time::ZERO, &buffer), None);
    }

    #[test]
    fn an_empty_queue_may_be_exempt() {
        // 1,000 bytes are free, and alpha = 0.5 lets a queue hold 500.
        let mut buffer = filled(&[999_000, 0]);
        buffer.subtract_packet(1);
        let of = |text: &str| with(&format!("alpha = 0.5\n{text}"), 2);
        assert_eq!(of("").admit(&arrival(1, 501), &buffer), OVER);
        assert_eq!(of("exempt_empty = true").admit(&arrival(1, 501), &buffer), Admission::Admit);
        assert_eq!(of("preset = \"ns-3\"").admit(&arrival(0, 501), &buffer), OVER);
        assert_eq!(of("preset = \"ns-3\"").admit(&arrival(1, 501), &buffer), Admission::Admit);
    }

    #[test]
    fn the_software_switch_expels_without_a_token() {
        let (mut occamy, buffer) = (with("preset = \"dpdk\"", 8), filled(&[990_000]));
        // 200 tokens, and 200 * 200 bytes are sent. 55 million cells come in a second.
        occamy.on_dequeue(Time::ZERO, 0, 40_000, &buffer);
        assert_eq!((occamy.bucket.tokens, occamy.bucket.ticks), (0, 0));
        assert_eq!(occamy.next_expulsion(Time::ZERO, &buffer), Some(Time::ZERO));
        occamy.on_dequeue(Time::ZERO, 0, 400, &buffer);
        // The token that comes at once, and the next one.
        let second = Time::from_ps(1_000_000_000_000 / 55_000_000 + 1);
        assert_eq!(occamy.next_expulsion(Time::ZERO, &buffer), Some(second));
        assert_eq!(expelled(&mut occamy, second, &buffer), Some(0));
        assert_eq!(occamy.bucket.tokens, -8);
    }

    #[test]
    fn the_slowest_and_the_fastest_memory_do_no_harm() {
        let buffer = filled(&[990_000]);
        let mut slow = with("bandwidth = 1e-6\ncell = \"1000000GB\"\nbucket = 1", 1);
        slow.on_dequeue(Time::from_us(1), 0, 1500, &buffer);
        assert_eq!(slow.next_expulsion(Time::from_us(1), &buffer), None, "not in 200 days");
        let mut fast = with("bandwidth = 1e6", 8);
        let late = Time::from_ms(1_000_000);
        fast.on_dequeue(late, 0, 1500, &buffer);
        assert_eq!(fast.next_expulsion(late, &buffer), Some(late));
        assert_eq!(expelled(&mut fast, late, &buffer), Some(0));
    }
}

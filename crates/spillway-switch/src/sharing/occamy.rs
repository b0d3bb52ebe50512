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

mod bucket;
mod preset;
#[cfg(test)]
mod tests;

use self::bucket::Bucket;
use self::preset::Preset;
use super::{Sharing, of_queue_class};
use crate::buffer::{Buffer, QueueId};
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, Watch};
use crate::sharing::dynamic_thresholds::DynamicThresholds;
use spillway_engine::Time;
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

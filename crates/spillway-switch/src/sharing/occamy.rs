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
//! size. B: `buffer.capacity()`, Q: `buffer.occupancy()`. With `threshold_every` above 0, T and B -
//! Q are worked out at its multiples, and hold until the next one, also for what is expelled. Then
//! an arrival with s > B - Q is refused, too.
//!
//! Expel the packet at the head of a queue with q > T, if a token is left. `victim` says which
//! queue: the next one in turn after the queue that lost a packet last, or the longest one. A
//! packet in transmission has left its queue and is safe.
//!
//! Tokens are the memory's bandwidth that transmissions leave over. The memory reads `bandwidth`
//! times as fast as all ports together send. A token reads a cell of `cell` bytes. `refill` tokens
//! come at once, in a tick, and at most `bucket` are kept. There is at most one expulsion for each
//! tick, just after its tokens have come, unless the preset says otherwise. A packet of s bytes
//! costs ceil(s / `cell`) tokens, when its transmission begins or when it is expelled.
//! Transmissions never wait for tokens, so the bucket may be overdrawn. Then nothing is expelled
//! until the debt is paid off. A tick lasts `refill` `cell` / (`bandwidth` R), where R is the sum
//! of the ports' nominal rates.
//!
//! # Presets
//! `preset` sets the defaults of other keys, and five rules that have no key:
//!
//! | | `"paper"` | `"ns-3"` | `"dpdk"` |
//! | --- | --- | --- | --- |
//! | `exempt_empty` | false | true | false |
//! | `threshold_every` | 0 | 0 | 1 us \[ours\] |
//! | `bandwidth` | 1 | 16/15 | 1.08 |
//! | `cell` | 1 byte | 200 bytes | 200 bytes |
//! | `refill` | 1 | 8 | 27 |
//! | `bucket` | a full packet | 8 | 200 |
//! | tokens needed | 1 | 1 | 0 |
//! | ticks | from the beginning of the run, the bucket full | from the first arrival, the bucket empty | from a tick after the beginning, the bucket empty |
//! | expels | one packet at a tick | as `"paper"` | whenever there are enough tokens, also several packets at once |
//! | `"round-robin"` | all queues | all queues | all but the switch's first; when none is found, turns begin again at the second |
//! | `"longest"` | the longest queue of all, if it is over T; of equals the first | the same, of equals the last | the longest of those over T; of equals the first |
//!
//! `"ns-3"` is the authors' simulation (ants-xjtu/Occamy-Simulation, d762179). Eight ports of 10
//! Gbps get 8 tokens every 150 ns. `"dpdk"` is their software switch (ants-xjtu/Occamy, 1bf6d5e).
//! It adds 55 million tokens a second in steps of half a microsecond, of which 27 are whole: 1.08
//! times what eight ports of 10 Gbps send. Its first queue has acks.
//!
//! With `spillway compare five --set traffic.websearch.load=0.8 --seeds 1..3 --metrics
//! fct_slowdown.all.mean,fct_slowdown.all.with_timeout --vary 'switch.sharing={kind="occamy"},
//! {kind="occamy",preset="ns-3"},{kind="occamy",preset="dpdk"}'` the mean slowdown is 3.15, 3.16
//! and 3.16, and 0.26%, 0.23% and 0.27% of flows have a timeout. With one queue for data, ECN at 65 packets and `recovery.kind = "sack"`, 2.1%,
//! 3.1% and 2.5% have one. Seeds differ by more.
//!
//! # Departures from the paper
//! The rule is taken from these programs, and from the paper's abstract. That the head of a queue
//! above its threshold is expelled, that a token bucket stands for spare bandwidth, and that
//! transmissions drain it, all programs agree on. Where they differ, `"paper"` has the plain rule:
//! bytes rather than cells, so that the debt stays below a packet for each port, and a memory that
//! reads exactly as much as the ports can send.
//!
//! The ns-3 program has one bucket for all buffers of a switch, and expels only from the buffer of
//! the first eight ports; a switch here has one buffer.
//!
//! In the software switch one processor works out thresholds, and another one looks at queues, both
//! as fast as they can. The preset takes a microsecond for the former, and no time for the latter;
//! a step is exactly half a microsecond. What old free space admits although there is no room, is
//! lost here. With strict priorities the program's `"longest"` compares all queues with the
//! threshold of the worst class; here each has its own. Its alpha is then 8 for the two best
//! queues of a port and 1 for others, which `alpha = [8, 8, 1]` says. Its ports send 9.5 Gbps, so
//! its memory is 1.14 times as fast as they are. The queue that it never visits has acks; if data
//! wait in a switch's first queue, none of them are expelled.
//!
//! # Scope and limitations
//! A packet that was marked may be expelled later. Lossless packets are not expelled, and their
//! transmission costs no tokens. Acks are not exempt. With `victim = "longest"` and presets other
//! than `"dpdk"`, a queue over T that becomes the longest because another one sends, which was
//! within its own T, loses packets from the next arrival on. Packets that find their port idle are
//! queued, too, and an event wakes every port that waits, so runs take longer than under `dt`.
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
//! implementation that counts every tick (`tests/naive_occamy.rs`). `"paper"` and `"dpdk"` were
//! compared with that one only: no runs of the software switch exist. With `preset = "ns-3"` all
//! 401,218 packets of 159 runs, of which 42,971 are expelled, have the fate that the authors'
//! simulation gives them, at its nanosecond. So have those of 21 of 27 further runs, in which the
//! program handles some ticks before packets that leave at the same time
//! (studies/spillway_studies/references/validation.md).
//!
//! # Cost
//! A multiplication and a division for every packet. A scan of all queues for an arrival at a
//! nearly full buffer, and for an expulsion. An event for each expulsion, and for each time at
//! which thresholds are worked out.

mod bucket;
mod preset;
#[cfg(test)]
mod tests;

use self::bucket::Bucket;
use self::preset::{Preset, Rules, Victims};
use super::{Sharing, of_queue_class};
use crate::buffer::{Buffer, QueueId};
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, DropReason, Watch};
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
    /// How often thresholds and free space are worked out; 0 for with every packet.
    threshold_every: Time,
    /// How fast the memory reads, in multiples of what all ports send, above 0.
    bandwidth: f64,
    /// The bytes that a token reads, above 0.
    cell: u64,
    /// The tokens that come in a tick, above 0.
    refill: u64,
    /// The most tokens that are kept, above 0.
    bucket: u64,
    rules: Rules,
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
    threshold_every: Time,
    /// The bytes that were free when thresholds were worked out last; `None` if this is done with
    /// every packet, or has not been done.
    was_free: Option<u64>,
    bucket: Bucket,
    is_free_running: bool,
    /// The queue that lost a packet last, and when. With [`Victims::InPasses`] the queue is 0 when
    /// turns have begun again.
    last: QueueId,
    expelled_at: Time,
}

impl Policy for Occamy {
    const ID: &'static str = "occamy";
    const SUMMARY: &'static str =
        "Occamy: DT, and spare memory bandwidth expels the heads of queues over their threshold";
    const CITATION: &'static str = "Shan et al.: Occamy, EuroSys 2025, arXiv:2501.13570";
    const RESULTS: u32 = 2;
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
        let (of_preset, rules) = (preset.defaults(), preset.rules());
        let meaning = "which queue over its threshold loses a packet";
        let victims = [("round-robin", rules.victims[0]), ("longest", rules.victims[1])];
        let victim = section.choice("victim", &victims, meaning)?;
        let meaning = "whether a packet for an empty queue is admitted whatever the threshold";
        let exempt_empty = section.flag("exempt_empty", of_preset.exempt_empty, meaning)?;
        let meaning = "how often thresholds and the free space are worked out, whose last values \
                       then hold; 0us for with every packet";
        let threshold_every =
            section.time("threshold_every", of_preset.threshold_every, meaning)?;
        let meaning = "how fast the memory reads, in multiples of what all ports together send";
        let bandwidth = section.number("bandwidth", of_preset.bandwidth, BANDWIDTHS, meaning)?;
        let meaning = "what a token reads: a packet costs as many tokens as it has cells, the last \
                       of which may be in part";
        let cell = section.positive_size("cell", of_preset.cell, meaning)?;
        let meaning = "tokens that come at once, in a tick";
        let refill = section.integer("refill", of_preset.refill, 1..=MOST_TOKENS, meaning)?;
        let full_packet = u64::from(environment.full_packet).div_ceil(cell);
        let meaning = "the most tokens that are kept; by default those of a full packet, or the \
                       preset's";
        let default = of_preset.bucket.unwrap_or(full_packet);
        let bucket = section.integer("bucket", default, 1..=MOST_TOKENS, meaning)?;
        let is_of = |other: Preset| {
            let values = other.defaults();
            other != preset && (values.bandwidth, values.refill) == (bandwidth, refill)
        };
        if let Some((other, _)) = presets.iter().find(|&&(_, other)| is_of(other)) {
            section.warn(
                "preset",
                format!(
                    "keys are given with the values of {other:?}, so of the preset only what has no \
                     key holds; a table with kind and preset alone has its values, too"
                ),
            );
        }
        Ok(OccamyParams {
            alpha,
            victim,
            exempt_empty,
            threshold_every,
            bandwidth,
            cell,
            refill,
            bucket,
            rules,
        })
    }

    fn new(params: &OccamyParams, environment: &Environment) -> Self {
        let alpha = ByQueue::all(params.alpha.clone());
        Occamy {
            least_alpha: least(&alpha),
            alpha,
            victim: params.victim,
            exempt_empty: params.exempt_empty,
            threshold_every: params.threshold_every,
            was_free: None,
            bucket: Bucket::new(params, &environment.port_rates),
            is_free_running: params.rules.is_free_running,
            last: 0,
            expelled_at: Time::ZERO,
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
    /// B - Q, when thresholds were worked out last.
    #[inline]
    fn free(&self, buffer: &Buffer) -> u64 {
        self.was_free.unwrap_or(buffer.free())
    }

    /// T = alpha (B - Q), rounded down to a byte.
    #[inline]
    fn limit(&self, queue: QueueId, queue_class: u8, free: u64) -> u64 {
        (of_queue_class(self.alpha.of(queue), queue_class) * free as f64) as u64
    }

    /// Whether a queue is over its threshold, and has a packet to lose.
    fn is_over(&self, queue: QueueId, free: u64, buffer: &Buffer) -> bool {
        let length = buffer.length(queue);
        let limit = self.limit(queue, buffer.queue_class_of(queue), free);
        length.packets > 0 && u64::from(length.bytes) > limit
    }

    /// The queue that would lose a packet now.
    #[inline]
    fn candidate(&self, buffer: &Buffer) -> Option<QueueId> {
        let free = self.free(buffer);
        // No queue is longer than all together.
        if buffer.occupancy() <= (self.least_alpha * free as f64) as u64 {
            return None;
        }
        self.choose(free, buffer)
    }

    /// The queue that loses a packet while so much is free.
    fn choose(&self, free: u64, buffer: &Buffer) -> Option<QueueId> {
        let queues = 0..buffer.queues().len() as QueueId;
        match self.victim {
            Victims::InTurn | Victims::InPasses => {
                let first = QueueId::from(self.victim == Victims::InPasses);
                let from = self.last + 1;
                let mut in_turn = (from..queues.end).chain(first..from);
                in_turn.find(|&queue| self.is_over(queue, free, buffer))
            }
            Victims::FirstLongest => {
                let longest = queues.rev().max_by_key(|&queue| buffer.bytes(queue));
                longest.filter(|&queue| self.is_over(queue, free, buffer))
            }
            Victims::LastLongest => {
                let longest = queues.max_by_key(|&queue| buffer.bytes(queue));
                longest.filter(|&queue| self.is_over(queue, free, buffer))
            }
            Victims::LongestOver => {
                let over = queues.rev().filter(|&queue| self.is_over(queue, free, buffer));
                over.max_by_key(|&queue| buffer.bytes(queue))
            }
        }
    }

    /// Brings tokens up to date before what happens now.
    ///
    /// A switch that looks at its queues all the time has found none over its threshold just before
    /// now if there were tokens enough: it would have expelled something. So turns begin again.
    fn catch_up(&mut self, now: Time) {
        self.bucket.add_before(now);
        self.begins_turns_if(now > self.expelled_at && self.bucket.has_enough());
    }

    fn begins_turns_if(&mut self, has_found_none: bool) {
        if self.victim == Victims::InPasses && has_found_none {
            self.last = 0;
        }
    }
}

impl Watch for Occamy {
    fn watches_queues(&self) -> bool {
        true
    }

    fn on_dequeue(&mut self, now: Time, _queue: QueueId, size: u32, _buffer: &Buffer) {
        self.catch_up(now);
        self.bucket.charge(size);
    }

    fn period(&self) -> Option<Time> {
        Some(self.threshold_every).filter(|every| *every > Time::ZERO)
    }

    fn on_timer(&mut self, now: Time, buffer: &Buffer) {
        // A tick of this moment is over.
        self.bucket.add(self.bucket.ticks_by(now));
        self.was_free = Some(buffer.free());
    }
}

impl Sharing for Occamy {
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        self.bucket.start.get_or_insert(arrival.now);
        if self.threshold_every > Time::ZERO {
            self.was_free.get_or_insert(buffer.free());
        }
        if self.exempt_empty && buffer.packets(arrival.queue) == 0 {
            return Admission::Admit;
        }
        let length = u64::from(buffer.bytes(arrival.queue)) + u64::from(arrival.size);
        let limit = self.limit(arrival.queue, arrival.queue_class, self.free(buffer));
        if length > limit {
            return Admission::Drop(DropReason::OverThreshold);
        }
        match self.was_free {
            Some(free) if free < u64::from(arrival.size) => Admission::Drop(DropReason::BufferFull),
            _ => Admission::Admit,
        }
    }

    fn expels(&self) -> bool {
        true
    }

    fn next_expulsion(&mut self, now: Time, buffer: &Buffer) -> Option<Time> {
        if self.candidate(buffer).is_none() {
            if self.is_free_running {
                self.bucket.add_before(now);
                self.begins_turns_if(self.bucket.has_enough());
            }
            return None;
        }
        self.catch_up(now);
        if self.is_free_running && self.bucket.has_enough() {
            Some(now)
        } else {
            self.bucket.next()
        }
    }

    fn expel(&mut self, now: Time, buffer: &Buffer) -> Option<QueueId> {
        self.bucket.add(self.bucket.ticks_by(now));
        if !self.bucket.has_enough() {
            return None;
        }
        let queue = self.candidate(buffer)?;
        (self.last, self.expelled_at) = (queue, now);
        Some(queue)
    }

    fn on_expelled(&mut self, size: u32) {
        self.bucket.charge(size);
    }

    fn threshold(&self, arrival: &Arrival, buffer: &Buffer) -> Option<u64> {
        Some(self.limit(arrival.queue, arrival.queue_class, self.free(buffer)))
    }
}

//! FAB, the Flow-Aware Buffer: the first bytes of a flow may fill far more of the free buffer than
//! the rest, so that short flows and bursts pass where long flows have to wait.
//!
//! # Reference
//! M. Apostolaki, L. Vanbever, M. Ghobadi, "FAB: Toward Flow-aware Buffer Sharing on Programmable
//! Switches", Workshop on Buffer Sizing (BS) 2019. <https://doi.org/10.1145/3375235.3375237>
//!
//! # Rule
//! T = a (B - Q),    a = alpha_short if f < `short_bytes`, else alpha_p
//!
//! Admit iff q + s <= T, as Dynamic Thresholds do. f: the bytes of the arrival's flow that have
//! arrived for this queue, including s; the count starts again from 0 if the flow has been silent
//! for longer than `idle_timeout`. Packets count whether or not they are admitted. p: the queue
//! class; q: the queue's length, s: `arrival.size`, B: `buffer.capacity()`, Q:
//! `buffer.occupancy()`.
//!
//! # What is left open
//! - The rule and its numbers (1024, 15 packets of 1400 bytes, 5 ms) are those of the FAB with
//!   which the authors of ABM compare their scheme (inet-tub/ns3-datacenter,
//!   `GenQueueDisc::FlowAwareBuffer`); three of them are also authors of this paper. The paper's
//!   own rule and numbers have not been verified.
//! - With `alpha_short` = 1024 the first bytes are limited by next to nothing but the buffer's
//!   size. ABM's packets of a first round trip have 64.
//! - The program counts by port, and takes all packets without a number as one flow. Here counts
//!   are by queue: the acks of a flow pass another port than its data, and a handshake may be in
//!   another queue class.
//!
//! # Scope and limitations
//! Sizes are as the buffer counts them. The policy does not see what the AQM or `queue_limit`
//! refuses. A flow that takes several paths is counted on each. Where connections stay open
//! (`transport.connections`), the flows of a connection count as one, as they do at a switch that
//! tells flows by addresses and ports. In the slotted model packets belong
//! to no flow: all packets for one port are one flow, and a packet is a byte.
//!
//! # In composition
//! Flows are counted by queue. A tagger of several levels moves a flow from queue to queue, and in
//! each of them its first bytes have `alpha_short`; a run warns of this. Lists of alpha are read as
//! under [DT](dt.md).
//!
//! # Validation
//! Has the same limits, to the byte, and makes the same decisions as a second, naive implementation
//! on thousands of random cases (`tests/naive_fab.rs`). That one has no table but searches all
//! arrivals. With `short_bytes` = 0 or equal alphas runs are those of Dynamic Thresholds, with
//! large alphas those of Complete Sharing, to the bit (`tests/null.rs` of spillway-net). The
//! percentiles of a published run of the program are matched within 4%
//! (studies/spillway_studies/references/validation.md).
//!
//! # Cost
//! A look-up in a balanced tree for every packet; 24 bytes and the tree's overhead for every flow
//! and queue. There are at most twice as many entries as were active when the silent ones were last
//! removed, or 16. The policy sees every packet, even at an idle port of an empty buffer: the
//! switch takes the slower path that it takes when decisions are recorded.

use super::{DynamicThresholds, Sharing, of_queue_class};
use crate::buffer::{Buffer, QueueId};
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, Watch};
use spillway_engine::Time;
use spillway_settings::{Range, Section, SettingsError};
use std::collections::BTreeMap;

/// How thresholds are set, and for which packets.
#[derive(Clone, Debug)]
pub struct FabParams {
    /// The bytes that a queue may hold for every free byte, above 0, by queue class. The last one
    /// holds for all further ones.
    alpha: Vec<f64>,
    /// The bytes that a queue may hold for every free byte, for the first bytes of a flow.
    alpha_short: f64,
    /// A flow of fewer bytes than this, including the arriving packet, has `alpha_short`.
    short_bytes: u64,
    /// A flow that has been silent for longer than this is a new one.
    idle_timeout: Time,
}

/// Dynamic Thresholds that favour the first bytes of a flow.
#[derive(Clone, Debug)]
pub struct Fab {
    params: ByQueue<FabParams>,
    flows: BTreeMap<(QueueId, u32), Flow>,
    /// When the table has this many entries, it is searched for silent flows.
    prune_at: usize,
    /// The flow of the next arrival, or of the last one.
    flow: u32,
    /// The bytes of the arrival's flow, including the arrival; `None` before it is decided about.
    bytes: Option<u64>,
}

/// What has arrived of a flow for a queue.
#[derive(Clone, Copy, Debug)]
struct Flow {
    bytes: u64,
    last_seen: Time,
}

impl Flow {
    const NEW: Flow = Flow { bytes: 0, last_seen: Time::ZERO };

    fn is_silent(&self, now: Time, idle_timeout: Time) -> bool {
        now.since(self.last_seen) > idle_timeout
    }

    /// The flow after an arrival.
    fn and(self, arrival: &Arrival, idle_timeout: Time) -> Flow {
        let before = if self.is_silent(arrival.now, idle_timeout) { 0 } else { self.bytes };
        Flow { bytes: before + u64::from(arrival.size), last_seen: arrival.now }
    }
}

impl Policy for Fab {
    const ID: &'static str = "fab";
    const SUMMARY: &'static str =
        "FAB: Dynamic Thresholds with a larger alpha for the first bytes of a flow";
    const CITATION: &'static str =
        "Apostolaki, Vanbever, Ghobadi: FAB, BS 2019, doi:10.1145/3375235.3375237";
    const COST: Option<Cost> = Some(Cost {
        others: &[("flow and queue", State { counters: 1, times: 1, ..State::NONE })],
        // Its flow, whether the flow was silent, and the flow's bytes.
        arrival: DynamicThresholds::TEST.and(Operations {
            look_ups: 1,
            additions: 2,
            comparisons: 2,
            ..Operations::NONE
        }),
        needs: "a packet's flow; how many flows there is room for, the paper's table not being \
                known",
        ..Cost::NONE
    });

    const CHANGES: &'static [&'static str] = &["alpha", "alpha_short", "short_bytes"];
    const CHANGES_BY_PORT: bool = true;

    type Params = FabParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<FabParams, SettingsError> {
        let meaning = "bytes a queue may hold for every free byte; by queue class where a list is \
                       given, the last holding for all further ones";
        let alpha = environment.by_queue_class(section, "alpha", 0.5, Range::Positive, meaning)?;
        let meaning = "alpha for the first bytes of a flow";
        let alpha_short = section.number("alpha_short", 1024.0, Range::Positive, meaning)?;
        let meaning = "a flow of fewer bytes, including the arriving packet, has alpha_short";
        let short_bytes = section.size("short_bytes", "21000B", meaning)?;
        let meaning = "a flow that has been silent for longer is a new one";
        let idle_timeout = section.time("idle_timeout", "5ms", meaning)?;
        Ok(FabParams { alpha, alpha_short, short_bytes, idle_timeout })
    }

    fn new(params: &FabParams, _environment: &Environment) -> Self {
        Fab {
            params: ByQueue::all(params.clone()),
            flows: BTreeMap::new(),
            prune_at: Fab::SMALLEST_TABLE,
            flow: 0,
            bytes: None,
        }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.params.adopt(fresh.params, adoption.port, adoption.buffer);
    }
}

impl Fab {
    const SMALLEST_TABLE: usize = 16;

    /// Counts an arrival, and returns the bytes of its flow.
    fn count(&mut self, arrival: &Arrival) -> u64 {
        let flow = self.flows.entry((arrival.queue, self.flow)).or_insert(Flow::NEW);
        *flow = flow.and(arrival, self.params.common().idle_timeout);
        let bytes = flow.bytes;
        if self.flows.len() >= self.prune_at {
            self.prune(arrival.now);
        }
        bytes
    }

    /// Removes flows that will be new when their next packet arrives, whenever that is.
    fn prune(&mut self, now: Time) {
        let idle_timeout = self.params.common().idle_timeout;
        self.flows.retain(|_, flow| !flow.is_silent(now, idle_timeout));
        self.prune_at = (2 * self.flows.len()).max(Fab::SMALLEST_TABLE);
    }

    /// T = a (B - Q) for a packet whose flow has `bytes` bytes including it, rounded down to a
    /// byte.
    fn limit(&self, bytes: u64, arrival: &Arrival, buffer: &Buffer) -> u64 {
        let params = self.params.of(arrival.queue);
        let alpha = if bytes < params.short_bytes {
            params.alpha_short
        } else {
            of_queue_class(&params.alpha, arrival.queue_class)
        };
        (alpha * buffer.free() as f64) as u64
    }
}

impl Watch for Fab {}

impl Sharing for Fab {
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        let bytes = self.count(arrival);
        self.bytes = Some(bytes);
        let length = u64::from(buffer.bytes(arrival.queue)) + u64::from(arrival.size);
        Admission::if_within(length <= self.limit(bytes, arrival, buffer))
    }

    fn knows_packets(&self) -> bool {
        true
    }

    fn introduce(&mut self, _flow: u32, _seq: u64, connection: u32) {
        self.flow = connection;
        self.bytes = None;
    }

    /// After the decision, the limit that applied. For an arrival that was refused before this
    /// policy was asked, the limit that would have applied.
    fn threshold(&self, arrival: &Arrival, buffer: &Buffer) -> Option<u64> {
        let bytes = self.bytes.unwrap_or_else(|| {
            let flow = self.flows.get(&(arrival.queue, self.flow)).copied().unwrap_or(Flow::NEW);
            flow.and(arrival, self.params.common().idle_timeout).bytes
        });
        Some(self.limit(bytes, arrival, buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{OVER, arrival, filled};
    use super::*;

    fn with(text: &str) -> Fab {
        let mut section = Section::new("sharing", text.parse().unwrap());
        Fab::read(&mut section, &Environment::example(3)).unwrap()
    }

    const MS: u64 = 1_000_000_000;

    /// A packet of a flow arrives for queue 0, where 300,000 of 1,000,000 bytes wait: 700,000 are
    /// free. `now` is in picoseconds.
    fn one(fab: &mut Fab, flow: u32, now: u64, size: u32) -> Admission {
        fab.introduce(0, 0, flow);
        fab.admit(&Arrival { now: Time::from_ps(now), ..arrival(0, size) }, &filled(&[300_000, 0]))
    }

    #[test]
    fn a_short_flow_passes_where_a_long_one_is_refused() {
        // T = 0.25 * 700,000 = 175,000 for long flows, 1024 * 700,000 for short ones.
        let mut fab = with("alpha = 0.25");
        // 14 packets of 1400 bytes are 19,600; the 15th makes 21,000, which is not below 21,000.
        for _ in 0..14 {
            assert_eq!(one(&mut fab, 7, 0, 1400), Admission::Admit);
        }
        assert_eq!(fab.threshold(&arrival(0, 1400), &filled(&[300_000, 0])), Some(716_800_000));
        assert_eq!(one(&mut fab, 7, 0, 1400), OVER);
        assert_eq!(fab.threshold(&arrival(0, 1400), &filled(&[300_000, 0])), Some(175_000));
        // Other flows, and the acks of this one, which go to another queue, still count as short.
        assert_eq!(one(&mut fab, 8, 0, 20_999), Admission::Admit);
        assert_eq!(one(&mut fab, 9, 0, 21_000), OVER);
        fab.introduce(0, 0, 7);
        let buffer = filled(&[300_000, 300_000]);
        assert_eq!(fab.admit(&arrival(1, 1400), &buffer), Admission::Admit);
        assert_eq!(fab.flows.len(), 4);
    }

    #[test]
    fn the_test_is_that_of_dynamic_thresholds() {
        // Long: T = 0.5 * (1,000,000 - 400,000) = 300,000. Short: 2 * 600,000 = 1,200,000 in queue
        // class 0 as in queue class 1, whose long flows have 0.125 * 600,000 = 75,000.
        let mut fab = with("alpha = [0.5, 0.125]\nalpha_short = 2\nshort_bytes = \"1000B\"");
        let buffer = filled(&[299_000, 74_000, 27_000]);
        let mut admit = |flow, queue, queue_class, size| {
            fab.introduce(0, 0, flow);
            fab.admit(&Arrival { queue_class, ..arrival(queue, size) }, &buffer)
        };
        assert_eq!(admit(1, 0, 0, 1000), Admission::Admit);
        assert_eq!(admit(2, 0, 0, 1001), OVER);
        assert_eq!(admit(3, 1, 1, 1000), Admission::Admit);
        assert_eq!(admit(4, 1, 1, 1001), OVER);
        assert_eq!(admit(5, 1, 1, 999), Admission::Admit);
        // With the next byte the flow is long; the test is then 74,000 + 1 <= 75,000.
        assert_eq!(admit(5, 1, 1, 1), Admission::Admit);
        // T = 2 * 1,000 = 2,000 for short ones.
        let full = filled(&[900_000, 99_000, 0]);
        fab.introduce(0, 0, 6);
        assert_eq!(fab.admit(&arrival(2, 999), &full), Admission::Admit);
        fab.introduce(0, 0, 7);
        assert_eq!(fab.admit(&arrival(1, 999), &full), OVER);
    }

    #[test]
    fn a_flow_that_was_silent_for_longer_than_the_timeout_is_new() {
        let mut fab = with("");
        // T = 350,000 for long flows: 60,000 are over it.
        assert_eq!(one(&mut fab, 1, MS, 60_000), OVER);
        // After exactly 5 ms the flow is the same one; a picosecond later it is new.
        assert_eq!(one(&mut fab, 1, 6 * MS, 60_000), OVER);
        assert_eq!(fab.bytes, Some(120_000));
        assert_eq!(one(&mut fab, 1, 11 * MS + 1, 20_999), Admission::Admit);
        assert_eq!(fab.bytes, Some(20_999));
        // A flow is silent since its last packet, not since its first.
        assert_eq!(one(&mut fab, 1, 16 * MS + 1, 1), Admission::Admit);
        assert_eq!(fab.bytes, Some(21_000));
    }

    #[test]
    fn what_is_dropped_counts_too() {
        // T = 1 * 700,000 for short flows: 300,000 + 400,001 are over it.
        let mut fab = with("alpha_short = 1.0\nshort_bytes = \"500KB\"\nalpha = 1e-3");
        assert_eq!(one(&mut fab, 1, 0, 400_001), OVER);
        assert_eq!(one(&mut fab, 1, 1, 99_998), Admission::Admit);
        assert_eq!(fab.bytes, Some(499_999));
        assert_eq!(one(&mut fab, 1, 2, 1), OVER);
        // A packet refused before this policy was asked does not count. Its limit is stated all the
        // same.
        fab.introduce(0, 0, 2);
        let buffer = filled(&[300_000, 0]);
        assert_eq!(fab.threshold(&arrival(0, 499_999), &buffer), Some(700_000));
        assert_eq!(fab.threshold(&arrival(0, 500_000), &buffer), Some(700));
        assert_eq!(fab.flows.len(), 1);
    }

    #[test]
    fn only_flows_that_will_be_new_are_removed() {
        let mut fab = with("");
        one(&mut fab, 1, MS, 1000);
        one(&mut fab, 2, MS + 1, 1000);
        fab.prune(Time::from_ps(6 * MS + 1));
        assert_eq!(fab.flows.keys().collect::<Vec<_>>(), [&(0, 2)]);
    }

    #[test]
    fn the_table_follows_the_active_flows_and_nobody_notices() {
        // Every 100 us, a new flow and the 10 flows before it have a packet of 7,000 bytes each.
        // After every 60 flows there is a pause of 6 ms, in which all are silent.
        let (mut pruned, mut kept) = (with("alpha = 0.1"), with("alpha = 0.1"));
        let (mut most, mut refused, mut returned) = (0, 0, 0);
        for step in 0..2_000u64 {
            let now = step * MS / 10 + step / 60 * 6 * MS;
            for back in 0..11 {
                let flow = step.saturating_sub(back) as u32;
                kept.prune_at = usize::MAX;
                let admission = one(&mut pruned, flow, now, 7_000);
                assert_eq!(admission, one(&mut kept, flow, now, 7_000), "{step} {back}");
                assert_eq!(pruned.bytes, kept.bytes);
                refused += usize::from(admission == OVER);
                returned += usize::from(back > 0 && pruned.bytes == Some(7_000));
            }
            most = most.max(pruned.flows.len());
        }
        // At most 70 flows are active, and the table has twice as many entries before it is pruned.
        assert_eq!(kept.flows.len(), 2_000);
        assert!(most <= 140, "{most}");
        assert!(refused > 10_000 && returned > 300, "{refused} {returned}");
    }
}

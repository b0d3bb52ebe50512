//! Dynamic Thresholds: a queue may grow only in proportion to the buffer that is still free.
//!
//! # Reference
//! A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds for shared-memory packet
//! switches", IEEE/ACM Transactions on Networking 6(2):130-140, 1998.
//! <https://doi.org/10.1109/90.664262>
//!
//! # Rule
//! T = alpha * (B - Q) (section II). B: `buffer.capacity()`, Q: `buffer.occupancy()`.
//! Admit iff q + s <= T, q being the length of the arrival's queue and s its size.
//!
//! # Departures from the paper
//! The paper refuses a packet if its queue is at or over T; by default the arriving packet is
//! counted too, as in the shared-buffer models built on ns-3 (`count_arrival = false` is the
//! paper's rule). alpha may differ by queue class, and for packets of a flow's first round trip,
//! as in the configurations of Credence and ABM.
//!
//! # Scope and limitations
//! A queue over its threshold keeps its packets: nothing is ever pushed out.
//!
//! # In composition
//! Thresholds are those of queues, so a port whose flows are spread over several queues, by a
//! tagger or by their priorities, may hold several times as much. `alpha = [64, 0.5]` is meant for
//! acks in queue 0, and data elsewhere. Where data share the queue of acks, as the best level of a
//! tagger with `acks = "with-first"` does, or queue 0 while acks wait elsewhere, these data have 64
//! too; a run warns of this.
//! docs/scenario/switch.md says how lists are written there.
//!
//! # Validation
//! n greedy queues settle at alpha B / (1 + alpha n) within a packet (`tests/analytic.rs` of
//! spillway-net). Makes the same decisions as a second, naive implementation on thousands of random
//! arrivals (`tests/naive_sharing.rs`).
//!
//! # Cost
//! A multiplication for every packet; no state.

use super::{Sharing, of_queue_class, room_below};
use crate::buffer::Buffer;
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{Cost, Operations};
use crate::policy::{Admission, Arrival, Watch};
use spillway_settings::{Range, Section, SettingsError};

/// How the threshold is set.
#[derive(Clone, Debug)]
pub struct DynamicThresholdsParams {
    /// The bytes that a queue may hold for every free byte, above 0, by queue class. The last one
    /// holds for all further ones.
    alpha: Vec<f64>,
    /// The value of alpha for packets of a flow's first round trip, if it differs.
    alpha_first_rtt: Option<f64>,
    /// Whether the arriving packet counts towards its queue.
    count_arrival: bool,
}

/// A threshold proportional to the free buffer.
#[derive(Clone, Debug)]
pub struct DynamicThresholds {
    params: ByQueue<DynamicThresholdsParams>,
}

impl Policy for DynamicThresholds {
    const ID: &'static str = "dt";
    const SUMMARY: &'static str =
        "Dynamic Thresholds: a queue may hold alpha times the free buffer";
    const CITATION: &'static str =
        "Choudhury, Hahne: IEEE/ACM Trans. Networking 6(2), 1998, doi:10.1109/90.664262";
    const COST: Option<Cost> = Some(Cost { arrival: DynamicThresholds::TEST, ..Cost::NONE });

    const CHANGES: &'static [&'static str] = &["alpha", "alpha_first_rtt"];
    const CHANGES_BY_PORT: bool = true;

    type Params = DynamicThresholdsParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<DynamicThresholdsParams, SettingsError> {
        let meaning = "bytes a queue may hold for every free byte; by queue class where a list is \
                       given, the last holding for all further ones";
        let alpha = environment.by_queue_class(section, "alpha", 0.5, Range::Positive, meaning)?;
        let meaning = "alpha for packets of a flow's first round trip";
        let alpha_first_rtt = section.optional("alpha_first_rtt", |s| {
            s.number("alpha_first_rtt", 1.0, Range::Positive, meaning)
        })?;
        let count_arrival = section.flag(
            "count_arrival",
            true,
            "whether the arriving packet counts towards its queue in the test",
        )?;
        Ok(DynamicThresholdsParams { alpha, alpha_first_rtt, count_arrival })
    }

    fn new(params: &DynamicThresholdsParams, _environment: &Environment) -> Self {
        DynamicThresholds { params: ByQueue::all(params.clone()) }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.params.adopt(fresh.params, adoption.port, adoption.buffer);
    }
}

impl DynamicThresholds {
    /// alpha (B - Q), q + s, and their comparison.
    pub(super) const TEST: Operations =
        Operations { scalings: 1, additions: 1, comparisons: 1, ..Operations::NONE };

    #[inline(always)]
    fn alpha(&self, arrival: &Arrival) -> f64 {
        let params = self.params.of(arrival.queue);
        match params.alpha_first_rtt {
            Some(alpha) if arrival.first_rtt => alpha,
            _ => of_queue_class(&params.alpha, arrival.queue_class),
        }
    }

    /// T = alpha * (B - Q), rounded down to a byte.
    #[inline(always)]
    fn limit(&self, arrival: &Arrival, buffer: &Buffer) -> u64 {
        (self.alpha(arrival) * buffer.free() as f64) as u64
    }
}

impl Watch for DynamicThresholds {}

impl Sharing for DynamicThresholds {
    #[inline(always)]
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        let length = u64::from(buffer.bytes(arrival.queue));
        let limit = self.limit(arrival, buffer);
        let within = if self.params.of(arrival.queue).count_arrival {
            length + u64::from(arrival.size) <= limit
        } else {
            length < limit
        };
        Admission::if_within(within)
    }

    fn open_below(&self, capacity: u64) -> u64 {
        // Below this occupancy even the least alpha gives a threshold of a largest packet, after
        // rounding down.
        let alphas = |params: &DynamicThresholdsParams| {
            params.alpha.iter().chain(&params.alpha_first_rtt).copied().fold(1.0, f64::min)
        };
        room_below(capacity, self.params.each().map(alphas).fold(1.0, f64::min), 1)
    }

    fn threshold(&self, arrival: &Arrival, buffer: &Buffer) -> Option<u64> {
        Some(self.limit(arrival, buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{OVER, arrival, filled};
    use super::*;

    fn with(text: &str) -> DynamicThresholds {
        let mut section = Section::new("sharing", text.parse().unwrap());
        DynamicThresholds::read(&mut section, &Environment::example(3)).unwrap()
    }

    #[test]
    fn three_congested_queues_settle_at_a_quarter_of_the_buffer() {
        // alpha = 1, n = 3, B = 1,000,000: q = alpha B / (1 + alpha n) = 250,000 each;
        // Q = 750,000 and T = 250,000. With one queue a packet short, Q = 749,000 and T = 251,000.
        let mut dt = with("alpha = 1.0");
        let settled = filled(&[250_000; 3]);
        assert_eq!(dt.threshold(&arrival(0, 1000), &settled), Some(250_000));
        assert_eq!(dt.admit(&arrival(0, 1000), &settled), OVER);
        let short = filled(&[249_000, 250_000, 250_000]);
        assert_eq!(dt.admit(&arrival(0, 1000), &short), Admission::Admit);
        assert_eq!(dt.admit(&arrival(0, 2000), &short), Admission::Admit);
        assert_eq!(dt.admit(&arrival(0, 2001), &short), OVER);
    }

    #[test]
    fn the_paper_does_not_count_the_arrival() {
        // T = 0.5 * (1,000,000 - 333,333) = 333,333; q = 333,332 is below it and 333,333 is not.
        let mut dt = with("count_arrival = false");
        assert_eq!(dt.admit(&arrival(0, 1500), &filled(&[333_332, 0, 0])), Admission::Admit);
        assert_eq!(dt.admit(&arrival(0, 1500), &filled(&[333_334, 0, 0])), OVER);
    }

    #[test]
    fn alpha_goes_by_queue_class_and_by_first_round_trip() {
        let mut dt = with("alpha = [64, 0.5]\nalpha_first_rtt = 8");
        // 400,000 bytes are free: queue class 0 may hold 25.6 MB, queue classes 1 and 2 200,000,
        // first packets 3.2 MB.
        let buffer = filled(&[200_000, 200_000, 200_000]);
        let in_queue_class = |queue_class| Arrival { queue_class, ..arrival(0, 1500) };
        assert_eq!(dt.admit(&in_queue_class(0), &buffer), Admission::Admit);
        assert_eq!(dt.admit(&in_queue_class(1), &buffer), OVER);
        assert_eq!(dt.admit(&in_queue_class(2), &buffer), OVER);
        let first = Arrival { first_rtt: true, ..in_queue_class(1) };
        assert_eq!(dt.admit(&first, &buffer), Admission::Admit);
    }
}

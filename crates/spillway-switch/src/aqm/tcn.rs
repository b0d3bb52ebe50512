//! TCN: a packet is marked by the time that it has waited, whatever the scheduler.
//!
//! # Reference
//! W. Bai, K. Chen, L. Chen, C. Kim, H. Wu, "Enabling ECN over generic packet scheduling", ACM
//! CoNEXT 2016. <https://doi.org/10.1145/2999572.2999575>
//!
//! # Rule
//! Mark iff sojourn > T when the packet leaves its queue. sojourn: the time since it joined the
//! queue; T: `threshold`, the time that the line takes for the queue that ECN would allow, K / C.
//!
//! # Departures from the paper
//! None known.
//!
//! # Scope and limitations
//! A mark tells of the queue that the packet found, a sojourn after it found it. Packets that are
//! not ECN-capable pass.
//!
//! # In composition
//! Made for any scheduler: the smaller a queue's share of the line, the shorter it is when it is
//! marked. But the wait includes the time in which others are sent, or a pause frame stops the
//! queue. So under strict priority packets of worse levels are marked for those of better ones,
//! even if few wait. What is refused, pushed out or expelled is not judged.
//!
//! # Validation
//! The same marks as a second, naive implementation (`tests/naive_sojourn.rs`).
//!
//! # Cost
//! A comparison for every packet, and the time of its arrival; no state.

use super::{Aqm, bytes_behind};
use crate::buffer::Buffer;
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::policy::{Departure, Verdict, Watch};
use spillway_engine::Time;
use spillway_settings::{Section, SettingsError};

/// The longest time that a packet waits without being marked.
#[derive(Clone, Debug)]
pub struct TcnParams {
    threshold: Time,
}

/// Marking by the time waited.
#[derive(Clone, Debug)]
pub struct Tcn {
    thresholds: ByQueue<Time>,
}

impl Policy for Tcn {
    const ID: &'static str = "tcn";
    const SUMMARY: &'static str = "TCN: mark what has waited for longer than a threshold";
    const CITATION: &'static str = "Bai et al.: Enabling ECN over Generic Packet Scheduling, CoNEXT 2016, \
         doi:10.1145/2999572.2999575";

    const CHANGES: &'static [&'static str] = &["threshold"];
    const CHANGES_BY_PORT: bool = true;

    type Params = TcnParams;

    fn params(
        section: &mut Section,
        _environment: &Environment,
    ) -> Result<TcnParams, SettingsError> {
        // 65 packets of 1500 bytes take 78 us at 10 Gbps.
        let meaning = "the longest wait without a mark (T); 65 packets at 10 Gbps by default";
        Ok(TcnParams { threshold: section.time("threshold", "78us", meaning)? })
    }

    fn new(params: &TcnParams, _environment: &Environment) -> Self {
        Tcn { thresholds: ByQueue::all(params.threshold) }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.thresholds.adopt(fresh.thresholds, adoption.port, adoption.buffer);
    }
}

impl Watch for Tcn {
    fn watches_departures(&self) -> bool {
        true
    }

    fn drops_departures(&self) -> bool {
        false
    }

    #[inline]
    fn on_departure(&mut self, departure: &Departure, _buffer: &Buffer) -> Verdict {
        let threshold = *self.thresholds.of(departure.queue);
        if departure.sojourn() > threshold { Verdict::Mark } else { Verdict::Pass }
    }
}

impl Aqm for Tcn {
    fn passes_idle_ports(&self) -> bool {
        true
    }

    fn marks_from(&self, environment: &Environment) -> Option<(&'static str, u64)> {
        let marked = Time::from_ps(self.thresholds.common().ps().saturating_add(1));
        Some(("threshold", bytes_behind(marked, environment)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::leaving;
    use crate::sharing::tests::filled;

    #[test]
    fn what_has_waited_longer_is_marked() {
        let mut section = Section::new("aqm", "threshold = \"80us\"".parse().unwrap());
        let mut tcn = Tcn::read(&mut section, &Environment::example(1)).unwrap();
        // It arrives at 10 us; at 90 us it has waited for 80.
        let arrived = Time::from_us(10);
        let mut at = |now| tcn.on_departure(&leaving(arrived, now), &filled(&[1500]));
        assert_eq!(at(Time::from_us(90)), Verdict::Pass);
        assert_eq!(at(Time::from_us(90) + Time::from_ps(1)), Verdict::Mark);
        assert_eq!(at(arrived), Verdict::Pass);
    }
}

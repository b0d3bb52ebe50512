//! ECN#: marks by the time waited, at once where it is long, now and then where it stays long.
//!
//! # Reference
//! J. Zhang, W. Bai, K. Chen, "Enabling ECN for datacenter networks with RTT variations", ACM
//! CoNEXT 2019. <https://doi.org/10.1145/3359989.3365426>
//! The rules follow the authors' published simulation.
//!
//! # Rule
//! When a packet leaves, it is marked if one of two rules says so:
//! - instantaneous: sojourn > T_ins (`instant`);
//! - persistent: sojourn >= target without a break for more than `interval`. The packet that first
//!   shows it is marked, then one at the earliest interval / sqrt(n) after the n-th mark, as long
//!   as it lasts.
//!
//! # Departures from the paper
//! None known. The state of the persistent rule moves on under the instantaneous rule's marks too.
//!
//! # Scope and limitations
//! It never drops: packets that are not ECN-capable pass.
//!
//! # In composition
//! What holds for [TCN](tcn.md) holds here. A queue that waits for better ones is above target
//! without a break, so when it is served the persistent rule marks as well.
//!
//! # Validation
//! The same marks as a second, naive implementation (`tests/naive_sojourn.rs`).
//!
//! # Cost
//! Two comparisons for every packet, and the time of its arrival; 24 bytes for every queue. A
//! square root for every persistent mark, which switches take from a table.

use super::{Aqm, bytes_behind};
use crate::buffer::Buffer;
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::policy::{Arrival, Departure, Verdict, Watch};
use spillway_engine::Time;
use spillway_settings::{Section, SettingsError};

/// The thresholds of both rules.
#[derive(Clone, Debug)]
pub struct EcnSharpParams {
    instant: Time,
    target: Time,
    /// Above 0.
    interval: Time,
}

/// What the persistent rule knows of a queue.
#[derive(Clone, Copy, Debug, Default)]
struct Persistence {
    /// When the wait will have been long for an interval; `None` while it is short.
    due: Option<Time>,
    /// Marks since the queue is taken to be persistent; 0 if it is not.
    marks: u32,
    /// From when on the next packet is marked.
    next: Time,
}

/// ECN#.
#[derive(Clone, Debug)]
pub struct EcnSharp {
    params: ByQueue<EcnSharpParams>,
    queues: Vec<Persistence>,
}

impl Policy for EcnSharp {
    const ID: &'static str = "ecn-sharp";
    const SUMMARY: &'static str = "ECN#: mark what has waited long, and queues that persist";
    const CITATION: &'static str = "Zhang et al.: Enabling ECN for Datacenter Networks with RTT Variations, CoNEXT 2019, \
         doi:10.1145/3359989.3365426";

    const CHANGES: &'static [&'static str] = &["instant", "target", "interval"];
    const CHANGES_BY_PORT: bool = true;

    type Params = EcnSharpParams;

    fn params(
        section: &mut Section,
        _environment: &Environment,
    ) -> Result<EcnSharpParams, SettingsError> {
        let meaning = "the longest wait that is not marked at once (T_ins)";
        let instant = section.time("instant", "80us", meaning)?;
        let meaning = "the wait from which on a queue counts as long (persistent rule)";
        let target = section.time("target", "10us", meaning)?;
        let meaning = "how long a queue must have been long, and the first gap between marks";
        let interval = section.positive_time("interval", "150us", meaning)?;
        Ok(EcnSharpParams { instant, target, interval })
    }

    fn new(params: &EcnSharpParams, environment: &Environment) -> Self {
        let queues = environment.queues();
        let params = ByQueue::all(params.clone());
        EcnSharp { params, queues: vec![Persistence::default(); queues] }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.params.adopt(fresh.params, adoption.port, adoption.buffer);
    }
}

impl Persistence {
    /// Whether the persistent rule marks this packet.
    fn marks(&mut self, now: Time, sojourn: Time, params: &EcnSharpParams) -> bool {
        if sojourn < params.target {
            (self.due, self.marks) = (None, 0);
            return false;
        }
        let due = *self.due.get_or_insert(now + params.interval);
        if now <= due || (self.marks > 0 && now < self.next) {
            return false;
        }
        self.marks += 1;
        self.next = now + gap(params.interval, self.marks);
        true
    }
}

/// interval / sqrt(n), in whole picoseconds.
pub(super) fn gap(interval: Time, n: u32) -> Time {
    Time::from_ps((interval.ps() as f64 / f64::from(n).sqrt()) as u64)
}

impl Watch for EcnSharp {
    fn watches_departures(&self) -> bool {
        true
    }

    fn drops_departures(&self) -> bool {
        false
    }

    fn on_departure(&mut self, departure: &Departure, _buffer: &Buffer) -> Verdict {
        let sojourn = departure.sojourn();
        let params = self.params.of(departure.queue);
        let queue = &mut self.queues[departure.queue as usize];
        let persists = queue.marks(departure.now, sojourn, params);
        if persists || sojourn > params.instant { Verdict::Mark } else { Verdict::Pass }
    }
}

impl Aqm for EcnSharp {
    fn passes_idle_ports(&self) -> bool {
        // Then even a wait of 0 is not short.
        self.params.each().all(|each| each.target > Time::ZERO)
    }

    fn marks_from(&self, environment: &Environment) -> Option<(&'static str, u64)> {
        // One of the two rules may be out of reach, so that the other marks alone.
        let &EcnSharpParams { instant, target, .. } = self.params.common();
        let (key, marked) = if target <= instant {
            ("target", target)
        } else {
            ("instant", Time::from_ps(instant.ps().saturating_add(1)))
        };
        Some((key, bytes_behind(marked, environment)?))
    }

    fn watches_passing(&self) -> bool {
        true
    }

    #[inline]
    fn on_pass(&mut self, passing: &Arrival, _buffer: &Buffer) {
        let params = self.params.of(passing.queue);
        self.queues[passing.queue as usize].marks(passing.now, Time::ZERO, params);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::leaving;
    use crate::sharing::tests::filled;

    /// The marks of packets that leave at these times, in microseconds, after these waits.
    fn marks(packets: &[(u64, u64)]) -> Vec<u64> {
        let mut section = Section::empty();
        let mut policy = EcnSharp::read(&mut section, &Environment::example(1)).unwrap();
        let mut marked = |&(now, wait): &(u64, u64)| {
            let leaving = leaving(Time::from_us(now - wait), Time::from_us(now));
            policy.on_departure(&leaving, &filled(&[1500])) == Verdict::Mark
        };
        packets.iter().filter(|packet| marked(packet)).map(|(now, _)| *now).collect()
    }

    #[test]
    fn a_long_wait_is_marked_at_once() {
        assert_eq!(marks(&[(100, 80), (200, 81), (300, 5)]), [200]);
    }

    #[test]
    fn a_queue_that_stays_long_is_marked_at_shrinking_gaps() {
        // Long from 100 us on: due after 250. The packet at 251 is the first mark; then 150 us, 150
        // / sqrt(2) = 106.07 us and 150 / sqrt(3) = 86.6 us later at the earliest: 401, 508, 595.
        let packets: Vec<_> = (100..600).map(|now| (now, 20)).collect();
        assert_eq!(marks(&packets), [251, 401, 508, 595]);
    }

    #[test]
    fn a_short_wait_ends_it() {
        let mut packets: Vec<_> = (100..=260).map(|now| (now, 10)).collect();
        packets.push((261, 9));
        packets.extend((262..=413).map(|now| (now, 10)));
        // Long again from 262 us on, so due after 412.
        assert_eq!(marks(&packets), [251, 413]);
    }
}

//! ECN with one threshold: a packet that finds (or leaves behind) a queue longer than K is marked.
//!
//! # Reference
//! M. Alizadeh et al., "Data Center TCP (DCTCP)", ACM SIGCOMM 2010, section 3.1.
//! <https://doi.org/10.1145/1851182.1851192>
//! Marks at departure: H. Wu, J. Ju, G. Lu, C. Guo, Y. Xiong, Y. Zhang, "Tuning ECN for data center
//! networks", ACM CoNEXT 2012. <https://doi.org/10.1145/2413176.2413181>
//!
//! # Rule
//! Mark iff q > K on arrival. q: the queue's length without the packet in transmission and without
//! the arriving one (`scope = "port"`: that of all queues of the port); K: `threshold`.
//! `marks_at = "departure"`: mark iff q > K when the packet begins to be sent. q: the length that
//! it leaves behind in its queue (or at its port), without itself.
//!
//! # Departures from the paper
//! None known. `at_threshold = "mark"` marks from q = K on, as ns-3's RED queue does.
//!
//! # Scope and limitations
//! Packets that are not ECN-capable pass (`not_ect = "drop"` loses them instead, when they are
//! decided about, as RED's standard has it).
//!
//! # In composition
//! K is that of a queue, so a port with eight levels may hold eight times as much unmarked. `scope
//! = "port"` judges its queues as one, but marks packets of good levels for what waits in worse
//! ones. In `five` at 80% load, with LQD, RACK and PIAS's levels, about 25,000 packets are lost by
//! queue, and 4,500 by port (K = 65 packets; studies/spillway_studies/five/paper.md, with the
//! smaller buffer and timeouts of 10 ms). The AQM is asked before the sharing policy. Where that
//! refuses queues of less than K, packets are lost before any is marked; a warning only compares K
//! with the buffer and `queue_limit`.
//!
//! # Validation
//! The same marks as a second, naive implementation (`tests/naive_aqm.rs`). With N long DCTCP flows
//! the queue peaks near K + N. A mark at departure has the queueing delay behind it: the first
//! sender learns of it after a round trip without queues, the others soon after, and the queue
//! peaks a sixth of N above K + N C RTT / (C RTT + K), with C RTT in packets (`tests/analytic.rs`
//! of spillway-net; 8 and 16 flows). So it swings less. With 16 flows and K = 70 packets, its mean
//! and p99 are 68 and 86 packets marked on arrival, and 70 and 77 at departure; with 2 flows 68 and
//! 73, and 69 and 72 (`--set 'traffic.senders.senders="1..2"'`):
//! `spillway compare incast-star --vary switch.aqm.marks_at=arrival,departure --metrics buffer.mean,buffer.p99`
//!
//! # Cost
//! A comparison for every packet; no state.

use super::moment::{LeftBehind, Moment};
use super::{Aqm, AqmSample, Scope, bytes_of, finite, number_of};
use crate::buffer::{Buffer, Length, QueueId};
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::policy::{Arrival, Departure, Verdict, Watch};
use spillway_engine::Time;
use spillway_settings::quantity::Amount;
use spillway_settings::{Section, SettingsError};

/// The shortest queue for which packets are marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limit {
    /// In packets; `u32::MAX` if bytes count.
    packets: u32,
    /// In bytes; `u32::MAX` if packets count.
    bytes: u32,
}

impl Limit {
    /// A limit that no queue reaches.
    const NONE: Limit = Limit { packets: u32::MAX, bytes: u32::MAX };

    #[inline(always)]
    fn is_reached(self, length: Length) -> bool {
        length.packets >= self.packets || length.bytes >= self.bytes
    }
}

/// The queue length from which on packets are marked.
#[derive(Clone, Debug)]
struct Threshold {
    limit: Limit,
    /// The limit for packets that arrive. There is none if packets are decided about when they
    /// leave.
    on_arrival: Limit,
    /// K in bytes, where a packet counts as a full one; `None` if there is no threshold.
    bytes: Option<u64>,
}

/// When packets are marked, and what happens to them then.
#[derive(Clone, Debug)]
pub struct EcnThresholdParams {
    threshold: Threshold,
    moment: Moment,
    /// What is done with a packet that is to be marked. If it cannot be marked, it passes or is
    /// lost.
    verdict: Verdict,
    scope: Scope,
}

/// Marking with one threshold.
#[derive(Clone, Debug)]
pub struct EcnThreshold {
    thresholds: ByQueue<Threshold>,
    moment: Moment,
    verdict: Verdict,
    scope: Scope,
    left: LeftBehind,
}

impl Policy for EcnThreshold {
    const ID: &'static str = "ecn";
    const SUMMARY: &'static str = "ECN with one threshold: mark what finds more than K queued";
    const CITATION: &'static str =
        "Alizadeh et al.: Data Center TCP, SIGCOMM 2010, doi:10.1145/1851182.1851192";

    const CHANGES: &'static [&'static str] = &["threshold"];
    const CHANGES_BY_PORT: bool = true;

    type Params = EcnThresholdParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<EcnThresholdParams, SettingsError> {
        let meaning = "the longest queue in which an arrival is not marked (K)";
        let threshold = section.amount("threshold", "65pkt", meaning)?;
        let meaning = "what happens to a packet that finds exactly K queued";
        let beyond = section.choice("at_threshold", &[("pass", 1), ("mark", 0)], meaning)?;
        let scope = Scope::read(section)?;
        let moment = Moment::read(section)?;
        let verdict = read_not_ect(section, Verdict::Mark)?;
        let marks_from = number_of(threshold).saturating_add(beyond);
        let marks_from = u32::try_from(marks_from).unwrap_or(u32::MAX);
        let limit = match threshold {
            Amount::Packets(_) => Limit { packets: marks_from, ..Limit::NONE },
            Amount::Bytes(_) | Amount::Unlimited => Limit { bytes: marks_from, ..Limit::NONE },
        };
        let on_arrival = if moment == Moment::Arrival { limit } else { Limit::NONE };
        let bytes = finite(bytes_of(threshold, environment));
        let threshold = Threshold { limit, on_arrival, bytes };
        Ok(EcnThresholdParams { threshold, moment, verdict, scope })
    }

    fn new(params: &EcnThresholdParams, environment: &Environment) -> Self {
        let &EcnThresholdParams { ref threshold, moment, verdict, scope } = params;
        let thresholds = ByQueue::all(threshold.clone());
        let left = LeftBehind::new(scope, environment);
        EcnThreshold { thresholds, moment, verdict, scope, left }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.thresholds.adopt(fresh.thresholds, adoption.port, adoption.buffer);
    }
}

/// What happens to packets that cannot be marked.
pub(super) fn read_not_ect(
    section: &mut Section,
    default: Verdict,
) -> Result<Verdict, SettingsError> {
    let mut options = [("pass", Verdict::Mark), ("drop", Verdict::MarkOrDrop)];
    if default == Verdict::MarkOrDrop {
        options.reverse();
    }
    section.choice("not_ect", &options, "what happens to a packet that is not ECN-capable")
}

impl Watch for EcnThreshold {
    fn watches_departures(&self) -> bool {
        self.moment == Moment::Departure
    }

    fn drops_departures(&self) -> bool {
        self.watches_departures() && self.verdict == Verdict::MarkOrDrop
    }

    fn on_departure(&mut self, departure: &Departure, buffer: &Buffer) -> Verdict {
        if self.moment == Moment::Arrival {
            return Verdict::Pass;
        }
        let marks =
            self.thresholds.of(departure.queue).limit.is_reached(self.left.by(departure, buffer));
        if marks { self.verdict } else { Verdict::Pass }
    }
}

impl Aqm for EcnThreshold {
    #[inline(always)]
    fn on_arrival(&mut self, arrival: &Arrival, buffer: &Buffer) -> Verdict {
        let limit = self.thresholds.of(arrival.queue).on_arrival;
        let marks = limit.is_reached(self.scope.length(arrival.queue, buffer));
        if marks { self.verdict } else { Verdict::Pass }
    }

    fn passes_idle_ports(&self) -> bool {
        // A port is idle only if all its queues are empty. A packet that passes leaves them empty.
        !self.thresholds.each().any(|each| each.limit.is_reached(Length::default()))
    }

    fn sample(&self, _now: Time, queue: QueueId, _buffer: &Buffer) -> Option<AqmSample> {
        let threshold = self.thresholds.of(queue).bytes;
        Some(AqmSample { min_bytes: threshold, max_bytes: threshold, ..AqmSample::default() })
    }

    fn marks_from(&self, environment: &Environment) -> Option<(&'static str, u64)> {
        // A threshold that no queue can reach means that nothing is to be marked.
        let Limit { packets, bytes } = self.thresholds.common().limit;
        let from = match (packets, bytes) {
            (u32::MAX, u32::MAX) => return None,
            (u32::MAX, bytes) => bytes.into(),
            (packets, _) => u64::from(packets) * u64::from(environment.full_packet),
        };
        Some(("threshold", from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::leaving;
    use crate::sharing::tests::{arrival, filled};

    fn verdict(text: &str, queue_bytes: u32) -> Verdict {
        let mut section = Section::new("aqm", text.parse().unwrap());
        let mut ecn = EcnThreshold::read(&mut section, &Environment::example(1)).unwrap();
        ecn.on_arrival(&arrival(0, 1500), &filled(&[queue_bytes]))
    }

    #[test]
    fn a_queue_over_the_threshold_marks() {
        let at = |bytes| verdict("threshold = \"14000B\"", bytes);
        assert_eq!((at(14_000), at(14_001)), (Verdict::Pass, Verdict::Mark));
        let text = "threshold = \"14000B\"\nat_threshold = \"mark\"\nnot_ect = \"drop\"";
        assert_eq!(verdict(text, 13_999), Verdict::Pass);
        assert_eq!(verdict(text, 14_000), Verdict::MarkOrDrop);
    }

    #[test]
    fn a_port_s_queues_count_together_if_asked() {
        let environment = Environment { queues_per_port: 2, ..Environment::example(2) };
        let mut buffer = Buffer::new(1_000_000, environment.port_rates.clone(), 2);
        // 6000 and 5000 bytes at the first port, 20,000 at the second.
        [(0, 6000), (1, 5000), (2, 20_000)].into_iter().for_each(|(q, size)| buffer.add(q, size));
        let marks = |scope: &str, queue| {
            let text = format!("threshold = \"10KB\"\nscope = \"{scope}\"");
            let mut section = Section::new("aqm", text.parse().unwrap());
            let mut ecn = EcnThreshold::read(&mut section, &environment).unwrap();
            ecn.on_arrival(&arrival(queue, 1500), &buffer) == Verdict::Mark
        };
        assert_eq!([0, 1, 2, 3].map(|queue| marks("queue", queue)), [false, false, true, false]);
        assert_eq!([0, 1, 2, 3].map(|queue| marks("port", queue)), [true; 4]);
    }

    #[test]
    fn a_sample_has_the_threshold() {
        let bytes = |text: &str| {
            let mut section = Section::new("aqm", text.parse().unwrap());
            let ecn = EcnThreshold::read(&mut section, &Environment::example(1)).unwrap();
            let sample = ecn.sample(Time::ZERO, 0, &filled(&[0])).unwrap();
            let AqmSample { min_bytes, max_bytes, .. } = sample;
            assert_eq!(sample, AqmSample { min_bytes, max_bytes, ..AqmSample::default() });
            [min_bytes, max_bytes]
        };
        // 65 packets of 1500 B, whichever way exactly K is taken.
        assert_eq!(bytes(""), [Some(97_500); 2]);
        assert_eq!(bytes("at_threshold = \"mark\""), [Some(97_500); 2]);
        assert_eq!(bytes("threshold = \"30KB\""), [Some(30_000); 2]);
        assert_eq!(bytes("threshold = \"unlimited\""), [None; 2]);
    }

    /// The marks of three packets of 1500 bytes that come at once and then leave, by their places.
    fn marked(text: &str) -> Vec<u64> {
        let mut section = Section::new("aqm", text.parse().unwrap());
        let mut ecn = EcnThreshold::read(&mut section, &Environment::example(1)).unwrap();
        let mut buffer = Buffer::new(1_000_000, Environment::example(1).port_rates, 1);
        let mut marked = Vec::new();
        for place in 1..=3 {
            if ecn.on_arrival(&arrival(0, 1500), &buffer) == Verdict::Mark {
                marked.push(place);
            }
            buffer.add(0, 1500);
        }
        for place in 1..=3 {
            buffer.subtract(0, 1500);
            let now = Time::from_us(place);
            if ecn.on_departure(&leaving(Time::ZERO, now), &buffer) == Verdict::Mark {
                marked.push(place);
            }
        }
        marked
    }

    #[test]
    fn the_packet_that_leaves_a_long_queue_is_marked_in_place_of_the_one_that_finds_it() {
        // They find 0, 1 and 2 packets, and leave 2, 1 and 0 behind.
        assert_eq!(marked("threshold = \"1pkt\""), [3]);
        assert_eq!(marked("threshold = \"1pkt\"\nmarks_at = \"departure\""), [1]);
        assert_eq!(marked("threshold = \"1500B\"\nmarks_at = \"departure\""), [1]);
        // The first leaves 3000 bytes behind.
        let at = "threshold = \"3KB\"\nmarks_at = \"departure\"";
        assert_eq!(marked(at), [0; 0]);
        assert_eq!(marked(&format!("{at}\nat_threshold = \"mark\"")), [1]);
        let zero = "threshold = \"0pkt\"\nat_threshold = \"mark\"\nmarks_at = \"departure\"";
        assert_eq!(marked(zero), [1, 2, 3]);
    }

    #[test]
    fn a_packet_that_cannot_be_marked_is_lost_when_it_leaves() {
        let read = |text: &str| {
            let mut section = Section::new("aqm", text.parse().unwrap());
            EcnThreshold::read(&mut section, &Environment::example(1)).unwrap()
        };
        let at_departure = "threshold = \"1pkt\"\nmarks_at = \"departure\"";
        let mut drops = read(&format!("{at_departure}\nnot_ect = \"drop\""));
        let mut buffer = filled(&[1500]);
        buffer.add(0, 1500);
        let leaving = leaving(Time::ZERO, Time::from_us(1));
        assert_eq!(drops.on_departure(&leaving, &buffer), Verdict::MarkOrDrop);
        assert_eq!(drops.on_arrival(&arrival(0, 1500), &buffer), Verdict::Pass);
        // A port must be woken for packets that leave only if some of these may be dropped.
        assert!(drops.drops_departures() && !read(at_departure).drops_departures());
        assert!(!read("threshold = \"1pkt\"\nnot_ect = \"drop\"").drops_departures());
    }

    #[test]
    fn packets_are_counted_before_the_arrival() {
        // `filled` puts one packet into each queue: 1 > 0 marks, 1 > 1 does not.
        assert_eq!(verdict("threshold = \"0pkt\"", 1500), Verdict::Mark);
        assert_eq!(verdict("threshold = \"1pkt\"", 1500), Verdict::Pass);
    }
}

//! ECN with one threshold: a packet that finds a queue longer than K is marked.
//!
//! # Reference
//! M. Alizadeh et al., "Data Center TCP (DCTCP)", ACM SIGCOMM 2010, section 3.1.
//! <https://doi.org/10.1145/1851182.1851192>
//!
//! # Rule
//! Mark iff q > K on arrival. q: the queue's length without the packet in transmission and without
//! the arriving one (`scope = "port"`: that of all queues of the port); K: `threshold`.
//!
//! # Departures from the paper
//! None known. `at_threshold = "mark"` marks from q = K on, as ns-3's RED queue does.
//!
//! # Scope and limitations
//! Packets that are not ECN-capable pass (`not_ect = "drop"` refuses them instead, as RED's
//! standard has it).
//!
//! # Validation
//! With N long DCTCP flows the queue peaks near K + N (`tests/analytic.rs` of spillway-net).
//!
//! # Cost
//! A comparison for every packet; no state.

use super::{Aqm, AqmSample, Scope, bytes_of, finite, number_of};
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::{Environment, Policy};
use crate::policy::{Arrival, Verdict, Watch};
use spillway_engine::Time;
use spillway_settings::quantity::Amount;
use spillway_settings::{Section, SettingsError};

/// The queue length from which on packets are marked, in packets or bytes, and what is
/// done with them.
#[derive(Clone, Debug)]
pub struct EcnThresholdParams {
    /// The shortest queue that is marked, in packets; `u32::MAX` if bytes count.
    packets: u32,
    /// The same in bytes; `u32::MAX` if packets count.
    bytes: u32,
    /// K in bytes, where a packet counts as a full one; `None` if there is no threshold.
    threshold: Option<u64>,
    /// What is done with a packet that finds such a queue. One that cannot be marked passes or is
    /// lost.
    verdict: Verdict,
    scope: Scope,
}

/// Marking with one threshold.
#[derive(Clone, Debug)]
pub struct EcnThreshold {
    params: EcnThresholdParams,
}

impl Policy for EcnThreshold {
    const ID: &'static str = "ecn";
    const SUMMARY: &'static str = "ECN with one threshold: mark what finds more than K queued";
    const CITATION: &'static str =
        "Alizadeh et al.: Data Center TCP, SIGCOMM 2010, doi:10.1145/1851182.1851192";

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
        let verdict = read_not_ect(section, Verdict::Mark)?;
        let marks_from = number_of(threshold).saturating_add(beyond);
        let marks_from = u32::try_from(marks_from).unwrap_or(u32::MAX);
        let (packets, bytes) = match threshold {
            Amount::Packets(_) => (marks_from, u32::MAX),
            Amount::Bytes(_) | Amount::Unlimited => (u32::MAX, marks_from),
        };
        let threshold = finite(bytes_of(threshold, environment));
        Ok(EcnThresholdParams { packets, bytes, threshold, verdict, scope })
    }

    fn new(params: &EcnThresholdParams, _environment: &Environment) -> Self {
        EcnThreshold { params: params.clone() }
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

impl Watch for EcnThreshold {}

impl Aqm for EcnThreshold {
    #[inline(always)]
    fn on_arrival(&mut self, arrival: &Arrival, buffer: &Buffer) -> Verdict {
        let EcnThresholdParams { packets, bytes, verdict, scope, .. } = self.params;
        let length = scope.length(arrival.queue, buffer);
        let marks = length.packets >= packets || length.bytes >= bytes;
        if marks { verdict } else { Verdict::Pass }
    }

    fn passes_idle_ports(&self) -> bool {
        // A port is idle only if all its queues are empty.
        self.params.packets > 0 && self.params.bytes > 0
    }

    fn sample(&self, _now: Time, _queue: QueueId, _buffer: &Buffer) -> Option<AqmSample> {
        let threshold = self.params.threshold;
        Some(AqmSample { min_bytes: threshold, max_bytes: threshold, ..AqmSample::default() })
    }

    fn marks_from(&self, environment: &Environment) -> Option<(&'static str, u64)> {
        // A threshold that no queue can reach says that nothing shall be marked.
        let from = match (self.params.packets, self.params.bytes) {
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

    #[test]
    fn packets_are_counted_before_the_arrival() {
        // `filled` puts one packet into each queue: 1 > 0 marks, 1 > 1 does not.
        assert_eq!(verdict("threshold = \"0pkt\"", 1500), Verdict::Mark);
        assert_eq!(verdict("threshold = \"1pkt\"", 1500), Verdict::Pass);
    }
}

//! Blind trust: drop what an oracle predicts that Longest Queue Drop (LQD) would drop, and admit
//! the rest.
//!
//! # Reference
//! V. Addanki, M. Pacut, S. Schmid, "Credence: Augmenting Datacenter Switch Buffer Sharing with ML
//! Predictions", USENIX NSDI 2024, section 2.3.2 (the "naive algorithm that blindly trusts").
//! <https://www.usenix.org/conference/nsdi24/presentation/addanki-credence>
//!
//! # Rule
//! Admit iff the oracle does not predict that LQD would drop the packet, and Q + s <= B. s:
//! `arrival.size`, Q: `buffer.occupancy()`, B: `buffer.capacity()`.
//!
//! # Departures from the paper
//! Acks and other control packets, where they have queues of their own, are not tested
//! (`exempt_acks`).
//!
//! # Scope and limitations
//! This is the algorithm that the paper warns of: [Credence](credence.md) without its thresholds
//! and its safeguard. With perfect predictions it sends what LQD sends. With false positives alone
//! it starves, and one false negative can cost a packet in every slot for ever. The oracles and
//! their keys are those of Credence, and packets dropped by the AQM are hidden from them in the
//! same way. `sharing_counts` of the summary counts the arrivals that were `exempt`, those refused
//! for a full buffer (`buffer_full`), and the predictions about the others (`oracle_accepts`,
//! `oracle_drops`), of which `oracle_flips` were flipped. There is no virtual LQD here, so it is
//! not known which predictions were right.
//!
//! # In composition
//! As for [Credence](credence.md), but without thresholds and a safeguard nothing bounds what a
//! foreign forest does.
//!
//! # Validation
//! With given predictions it makes the same decisions as a second, naive implementation on
//! thousands of random arrivals (`tests/naive_blind_trust.rs`). In slots, with LQD's own drops as
//! predictions, it sends packet by packet what LQD sends, and the paper's two examples have the
//! results that the paper describes (`spillway-slotted/tests/blind_trust.rs`). With Smartbuf as the
//! oracle flows are those of Smartbuf (`tests/null.rs` of spillway-net).
//!
//! # Cost
//! A prediction for every arrival; Credence asks for one only while a queue is long.

use super::oracle::{Oracle, OracleParams};
use super::{Count, Credence, Sharing};
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, DropReason, Watch};
use spillway_engine::Time;
use spillway_settings::{Section, SettingsError};
use std::sync::Arc;

/// The oracle, and the packets that it is not asked about.
#[derive(Clone, Debug)]
pub struct BlindTrustParams {
    /// The oracle's parameters.
    pub(super) oracle: OracleParams,
    /// The queue class of acks, if these are not tested.
    exempt: Option<u8>,
}

/// Follows an oracle's predictions.
#[derive(Clone, Debug)]
pub struct BlindTrust {
    oracle: Oracle,
    exempt: Option<u8>,
    counts: Counts,
}

/// How often each test decided.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    exempt: u64,
    buffer_full: u64,
    oracle_accepts: u64,
    oracle_drops: u64,
}

impl Policy for BlindTrust {
    const ID: &'static str = "blind-trust";
    const SUMMARY: &'static str = "Blind trust: drop what an oracle predicts that LQD would drop";
    const CITATION: &'static str = "Addanki, Pacut, Schmid: Credence, NSDI 2024, section 2.3.2";

    const VARIANTS: &'static [&'static str] = &[
        "oracle = \"trace\"\ntrace = \"oracle_trace.parquet\"",
        "oracle = \"random\"",
        "oracle = \"smartbuf\"",
    ];

    const COST: Option<Cost> = Some(Cost {
        // The averages of a queue and of the buffer, and when they were last updated.
        queue: State { counters: 1, times: 1, ..State::NONE },
        switch: State { counters: 1, times: 1, more: "122 nodes of 4 trees", ..State::NONE },
        // Four trees of depth 4, and the sum of their answers.
        arrival: Credence::AVERAGES.and(Operations {
            comparisons: 4 * 4 + 1,
            additions: 3,
            ..Operations::NONE
        }),
        departure: Credence::AVERAGES,
        needs: "the base RTT, and a forest trained on what LQD drops in such a network",
        ..Cost::NONE
    });

    const CHANGES: &'static [&'static str] = &["flip_probability", "drop_probability"];

    type Params = BlindTrustParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<BlindTrustParams, SettingsError> {
        let oracle = OracleParams::read(section, environment)?;
        Ok(BlindTrustParams { oracle, exempt: environment.exempt_acks(section)? })
    }

    fn new(params: &BlindTrustParams, environment: &Environment) -> Self {
        let oracle = Oracle::new(&params.oracle, Self::ID, environment);
        BlindTrust { oracle, exempt: params.exempt, counts: Counts::default() }
    }

    fn adopt(&mut self, fresh: Self, _adoption: &Adoption) {
        self.oracle.adopt(fresh.oracle);
    }
}

impl BlindTrust {
    /// Replaces the oracle's answers by a prediction for every arrival, in order of arrival.
    pub fn with_predictions(self, predictions: Arc<[bool]>) -> BlindTrust {
        BlindTrust { oracle: self.oracle.with_predictions(predictions), ..self }
    }
}

impl Watch for BlindTrust {
    fn watches_queues(&self) -> bool {
        self.oracle.watches_queues()
    }

    fn on_dequeue(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        self.oracle.on_dequeue(now, queue, size, buffer);
    }

    fn on_release(&mut self, now: Time, queue: QueueId, buffer: &Buffer) {
        self.oracle.on_release(now, queue, buffer);
    }

    fn on_drop(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        self.oracle.on_drop(now, queue, size, buffer);
    }
}

impl Sharing for BlindTrust {
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        self.oracle.on_arrival(arrival, buffer);
        let counts = &mut self.counts;
        if u64::from(arrival.size) > buffer.free() {
            counts.buffer_full += 1;
            return Admission::Drop(DropReason::BufferFull);
        }
        if self.exempt == Some(arrival.queue_class) {
            counts.exempt += 1;
            return Admission::Admit;
        }
        if self.oracle.predicts_drop(arrival, buffer) {
            counts.oracle_drops += 1;
            return Admission::Drop(DropReason::Predicted);
        }
        counts.oracle_accepts += 1;
        Admission::Admit
    }

    fn knows_packets(&self) -> bool {
        self.oracle.knows_packets()
    }

    fn introduce(&mut self, flow: u32, seq: u64, _connection: u32) {
        self.oracle.introduce(flow, seq);
    }

    fn tests(&self, queue_class: u8) -> bool {
        self.exempt != Some(queue_class)
    }

    fn counters(&self) -> Vec<Count> {
        let Counts { exempt, buffer_full, oracle_accepts, oracle_drops } = self.counts;
        let mut counters = vec![
            ("exempt", exempt),
            ("buffer_full", buffer_full),
            ("oracle_accepts", oracle_accepts),
            ("oracle_drops", oracle_drops),
            ("oracle_flips", self.oracle.flips()),
        ];
        counters.extend(self.oracle.counters());
        counters.into_iter().map(|(name, n)| (name.into(), n)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::arrival;
    use super::*;

    const PREDICTED: Admission = Admission::Drop(DropReason::Predicted);
    const FULL: Admission = Admission::Drop(DropReason::BufferFull);

    /// Two ports with one queue each share 4,000 bytes.
    fn with(text: &str, predictions: &[bool]) -> (BlindTrust, Buffer) {
        let mut section = Section::new("sharing", text.parse().unwrap());
        let environment = Environment { capacity: 4_000, ..Environment::example(2) };
        let policy = BlindTrust::read(&mut section, &environment).unwrap();
        section.finish().unwrap();
        let buffer = Buffer::new(4_000, environment.port_rates, 1);
        (policy.with_predictions(predictions.into()), buffer)
    }

    /// Packets of 1000 bytes arrive for the first queue, and join it if they are admitted.
    fn join(policy: &mut BlindTrust, buffer: &mut Buffer, number: usize) -> Vec<Admission> {
        let one = |_| {
            let admission = policy.admit(&arrival(0, 1_000), buffer);
            if admission == Admission::Admit {
                buffer.add(0, 1_000);
            }
            admission
        };
        (0..number).map(one).collect()
    }

    /// The paper's second pitfall: B = 4, and of the packets for one queue, the fourth is wrongly
    /// predicted to pass. From then on the buffer is full, and packets for other queues are lost,
    /// whatever is predicted.
    #[test]
    fn one_false_negative_fills_the_buffer() {
        let (mut policy, mut buffer) = with("", &[false; 5]);
        assert_eq!(join(&mut policy, &mut buffer, 4), [Admission::Admit; 4]);
        assert_eq!(policy.admit(&arrival(1, 1_000), &buffer), FULL);
        let counts = policy.counters();
        let counted = |name: &str| counts.iter().find(|(known, _)| known == name).unwrap().1;
        assert_eq!((counted("oracle_accepts"), counted("buffer_full")), (4, 1));
        // If the prediction had been what LQD does, there would be room.
        let (mut policy, mut buffer) = with("", &[false, false, false, true, false]);
        assert_eq!(join(&mut policy, &mut buffer, 4)[3], PREDICTED);
        assert_eq!(policy.admit(&arrival(1, 1_000), &buffer), Admission::Admit);
    }

    /// The paper's first pitfall: with false positives alone, nothing is admitted into an empty
    /// buffer.
    #[test]
    fn false_positives_starve() {
        let (mut policy, mut buffer) = with("", &[true; 3]);
        assert_eq!(join(&mut policy, &mut buffer, 3), [PREDICTED; 3]);
        let (mut policy, mut buffer) = with("flip_probability = 1.0", &[true; 3]);
        assert_eq!(join(&mut policy, &mut buffer, 3), [Admission::Admit; 3]);
        assert_eq!(policy.counters()[4], ("oracle_flips".into(), 3));
    }
}

//! Decisions about arrivals.

use super::finite;
use super::names::{Name, Reason, Switch, Verdict};
use super::table::table;
use spillway_switch::Decision;

table! {
    /// Decisions about arrivals, in order of time.
    DecisionRow => DecisionTable {
        /// When.
        time_ps: u64,
        /// The switch.
        switch: Name<Switch>,
        /// The port.
        port: u32,
        /// The queue of the port.
        queue: u32,
        /// The packet's flow.
        flow_id: u32,
        /// Its first byte; for an ack, the first byte that the receiver was missing.
        seq: u64,
        /// Its bytes, as the buffer counts them.
        size_bytes: u32,
        /// Bytes in its queue before its arrival.
        queue_bytes: u64,
        /// The limit that the sharing policy applied to its queue; null if it has none.
        threshold_bytes: Option<u64>,
        /// Bytes in the buffer before its arrival.
        occupancy_bytes: u64,
        /// `admitted`, `marked` (and admitted), or `lost`.
        verdict: Name<Verdict>,
        /// Why it was lost; null if it was not.
        reason: Option<Name<Reason>>,
    }
    recorded if |scenario| scenario.recording.decisions.first > 0
}

impl DecisionRow {
    /// The row of a decision. Each port of the switch has `queues_per_port` queues.
    pub fn of(switch: u32, decision: &Decision, queues_per_port: u32) -> DecisionRow {
        let verdict = match decision.dropped {
            Some(_) => 2,
            None => u8::from(decision.marked),
        };
        DecisionRow {
            time_ps: decision.time.ps(),
            switch: Name(switch),
            port: decision.queue / queues_per_port,
            queue: decision.queue % queues_per_port,
            flow_id: decision.flow,
            seq: decision.seq,
            size_bytes: decision.size,
            queue_bytes: decision.queue_bytes.into(),
            threshold_bytes: decision.threshold.and_then(finite),
            occupancy_bytes: decision.occupancy,
            verdict: Name(verdict),
            reason: decision.dropped.map(Name::of),
        }
    }
}

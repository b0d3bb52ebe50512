//! Decisions about arrivals.

use super::finite;
use super::names::{Name, Reason, Switch, Verdict};
use super::table::table;
use crate::scenario::Scenario;
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
        /// Its first byte; for an ack, the first missing byte.
        seq: u64,
        /// Bytes that it takes in the buffer.
        size_bytes: u32,
        /// Bytes in its queue before it came.
        queue_bytes: u64,
        /// The policy's limit for the queue, if it has one.
        threshold_bytes: Option<u64>,
        /// Bytes in the buffer before it came.
        occupancy_bytes: u64,
        /// The outcome.
        verdict: Name<Verdict>,
        /// Why it was lost, if it was.
        reason: Option<Name<Reason>>,
    }
}

impl DecisionTable {
    /// Whether a run of the scenario records this table.
    pub fn is_recorded(scenario: &Scenario) -> bool {
        scenario.recording.decisions.first > 0
    }
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

//! Arrivals and their fates: the training data of an oracle.

use super::names::{Name, Switch};
use super::table::table;
use crate::scenario::Scenario;
use spillway_switch::{Buffer, Fate};

table! {
    /// Arrivals at switches with Longest Queue Drop, and their fates: the training data of an
    /// oracle. In the order in which the fates became known.
    OracleTraceRow => OracleTraceTable {
        /// When it arrived.
        time_ps: u64,
        /// The switch.
        switch: Name<Switch>,
        /// The port.
        port: u32,
        /// The queue of the port.
        queue: u32,
        /// Its number among the switch's arrivals.
        arrival: u64,
        /// Its flow.
        flow_id: u32,
        /// Its first byte.
        seq: u64,
        /// Bytes that it takes in the buffer.
        size_bytes: u32,
        /// Bytes in its queue before it came.
        queue_bytes: u64,
        /// The average of `queue_bytes`.
        average_queue_bytes: f64,
        /// Bytes in the switch's buffer before it came.
        occupancy_bytes: u64,
        /// The average of `occupancy_bytes`.
        average_occupancy_bytes: f64,
        /// The capacity of the switch's buffer, if it is limited.
        buffer_bytes: Option<u64>,
        /// The number of the switch's ports.
        ports: u32,
        /// Whether it was refused or pushed out, 0 or 1. Absent if it was lost for another reason,
        /// or was still queued at the end.
        dropped: Option<u8>,
        /// The number of arrivals that it stands for.
        weight: u64,
    }
}

impl OracleTraceTable {
    /// Whether a run of the scenario records this table.
    pub fn is_recorded(scenario: &Scenario) -> bool {
        scenario.recording.oracle_trace.is_some()
    }
}

impl OracleTraceRow {
    /// The row of an arrival at a switch with this buffer.
    pub fn of(switch: u32, fate: &Fate, buffer: &Buffer) -> OracleTraceRow {
        let queues_per_port = buffer.queues_per_port();
        let capacity = buffer.capacity();
        OracleTraceRow {
            time_ps: fate.time.ps(),
            switch: Name(switch),
            port: fate.queue / queues_per_port,
            queue: fate.queue % queues_per_port,
            arrival: fate.number,
            flow_id: fate.flow,
            seq: fate.seq,
            size_bytes: fate.size,
            queue_bytes: fate.queue_bytes.into(),
            average_queue_bytes: fate.average_queue_bytes,
            occupancy_bytes: fate.occupancy,
            average_occupancy_bytes: fate.average_occupancy,
            buffer_bytes: (capacity != Buffer::UNLIMITED).then_some(capacity),
            ports: buffer.ports(),
            dropped: fate.lost.map(u8::from),
            weight: fate.weight,
        }
    }
}

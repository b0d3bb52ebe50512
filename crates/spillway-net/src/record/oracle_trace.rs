//! Arrivals and their fates: what an oracle learns from.

use super::names::{Name, Switch};
use super::table::table;
use crate::scenario::Scenario;
use spillway_switch::{Buffer, Fate};

table! {
    /// Arrivals at switches that drop from the longest queue, and what became of them: what an
    /// oracle learns from. In the order in which fates became known.
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
        /// Bytes that it takes.
        size_bytes: u32,
        /// Bytes in its queue before it.
        queue_bytes: u64,
        /// The average of that.
        average_queue_bytes: f64,
        /// Bytes in the switch's buffer before it.
        occupancy_bytes: u64,
        /// The average of that.
        average_occupancy_bytes: f64,
        /// The switch's buffer, if it has an end.
        buffer_bytes: Option<u64>,
        /// The switch's ports.
        ports: u32,
        /// Whether it was refused or pushed out, 0 or 1; not known of what was lost otherwise, or still
        /// waited at the end.
        dropped: Option<u8>,
        /// How many arrivals it stands for.
        weight: u64,
    }
}

impl OracleTraceTable {
    /// Whether a scenario's run leaves one.
    pub fn is_recorded(scenario: &Scenario) -> bool {
        scenario.recording.oracle_trace.is_some()
    }
}

impl OracleTraceRow {
    /// Of an arrival at a switch with this buffer.
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

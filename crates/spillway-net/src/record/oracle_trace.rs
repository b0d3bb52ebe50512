//! Arrivals and their fates: the training data of an oracle.

use super::names::{Name, Switch};
use super::table::table;
use spillway_switch::{Buffer, Fate};

table! {
    /// Arrivals at switches with Longest Queue Drop, or with Credence, which follows a virtual one,
    /// and their fates there: the training data of an oracle. In the order in which the fates became
    /// known.
    OracleTraceRow => OracleTraceTable {
        /// When it arrived.
        time_ps: u64,
        /// The switch.
        switch: Name<Switch>,
        /// The port.
        port: u32,
        /// The queue of the port.
        queue: u32,
        /// Its number among all arrivals at the switch, from 0, including those without a row.
        arrival: u64,
        /// Its flow.
        flow_id: u32,
        /// Its first byte.
        seq: u64,
        /// Its bytes, as the buffer counts them.
        size_bytes: u32,
        /// Bytes in its queue.
        queue_bytes: u64,
        /// Its average (`record.oracle_trace_average`).
        average_queue_bytes: f64,
        /// Bytes in the buffer.
        occupancy_bytes: u64,
        /// Its average.
        average_occupancy_bytes: f64,
        /// The switch's buffer; null if it is unlimited.
        buffer_bytes: Option<u64>,
        /// The number of the switch's ports.
        ports: u32,
        /// 1 if LQD, real or virtual, refused it or pushed it out later, 0 if it was sent; null if it
        /// was lost in another way, or was still waiting at the end of the run.
        dropped: Option<u8>,
        /// The number of packets that the row stands for.
        weight: u64,
    }
    recorded if |scenario| scenario.recording.oracle_trace.is_some()
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

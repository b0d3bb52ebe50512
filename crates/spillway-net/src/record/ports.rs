//! What ports hold, at regular times.

use super::names::{Name, Switch};
use super::table::table;

table! {
    /// What ports held, at regular times.
    PortRow => PortTable {
        /// When.
        time_ps: u64,
        /// The switch.
        switch: Name<Switch>,
        /// The port.
        port: u32,
        /// Bytes held in all its queues, as the buffer counts them.
        bytes: u64,
        /// Packets held, except those in transmission.
        packets: u32,
        /// The threshold that the sharing policy would apply to its data queue if a packet without
        /// a priority arrived now (under `followlqd` and `credence`, before that packet is
        /// counted). Under `sp`, and under `edt` and `smartbuf` in a burst, it is the threshold of
        /// the whole port (not with `limit = "queue"`); under `fab`, that of the flow whose packet
        /// came last. Null where there is no such limit (`cs`, `lqd`, `harmonic`, `cbm`).
        threshold_bytes: Option<u64>,
        /// What the port would hold if it had never lost anything. It is the length of a second,
        /// unlimited queue that every packet joins and that is served at the same rate.
        unbounded_bytes: u64,
    }
    recorded if |scenario| scenario.recording.port_interval.is_some()
}

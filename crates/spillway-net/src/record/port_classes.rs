//! What ports hold of each class of flow, at regular times.

use super::names::{Class, Name, Switch};
use super::table::table;

table! {
    /// Samples of ports by class of flow: a row for every class of which the port held a packet.
    PortClassRow => PortClassTable {
        /// When.
        time_ps: u64,
        /// The switch.
        switch: Name<Switch>,
        /// The port.
        port: u32,
        /// The class of flow.
        class: Name<Class>,
        /// Bytes held of this class, including acks of its flows.
        bytes: u64,
    }
    recorded if |scenario| scenario.recording.port_interval.is_some()
}

//! What ports hold of each class of flow, at regular times.

use super::names::{Class, Name, Switch};
use super::table::table;
use crate::scenario::Scenario;

table! {
    /// Samples of ports by class of flow: a row for every class of which the port held a packet.
    PortClassRow => PortClassTable {
        /// When.
        time_ps: u64,
        /// The switch.
        switch: Name<Switch>,
        /// The port.
        port: u32,
        /// The class.
        class: Name<Class>,
        /// Bytes held, acks included.
        bytes: u64,
    }
}

impl PortClassTable {
    /// Whether a run of the scenario records this table: ports are sampled.
    pub fn is_recorded(scenario: &Scenario) -> bool {
        scenario.recording.port_interval.is_some()
    }
}

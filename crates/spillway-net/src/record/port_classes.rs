//! What ports hold of each class of flow, at regular times.

use super::names::{Class, Name, Switch};
use super::table::table;
use crate::scenario::Scenario;

table! {
    /// The same by class of flow: a row for every class of which a port held anything.
    PortClassRow => PortClassTable {
        /// When.
        time_ps: u64,
        /// The switch.
        switch: Name<Switch>,
        /// The port.
        port: u32,
        /// The class.
        class: Name<Class>,
        /// Bytes held, acks among them.
        bytes: u64,
    }
}

impl PortClassTable {
    /// Whether a scenario's run leaves one: where ports are sampled.
    pub fn is_recorded(scenario: &Scenario) -> bool {
        scenario.recording.port_interval.is_some()
    }
}

//! What ports hold, at regular times.

use super::names::{Name, Switch};
use super::table::table;
use crate::scenario::Scenario;

table! {
    /// What ports held, at regular times.
    PortRow => PortTable {
        /// When.
        time_ps: u64,
        /// The switch.
        switch: Name<Switch>,
        /// The port.
        port: u32,
        /// Bytes held.
        bytes: u64,
        /// Packets held.
        packets: u32,
        /// The limit that the sharing policy would set for its data queue, if it sets one.
        threshold_bytes: Option<u64>,
        /// Bytes that it would hold if nothing had ever been lost.
        unbounded_bytes: u64,
    }
}

impl PortTable {
    /// Whether a run of the scenario records this table.
    pub fn is_recorded(scenario: &Scenario) -> bool {
        scenario.recording.port_interval.is_some()
    }
}

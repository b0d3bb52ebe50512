//! Pauses: who paused whom, and for how long.

use super::names::{Name, Node};
use super::table::table;
use crate::scenario::Scenario;

table! {
    /// A row for every pause that has acted.
    PauseRow => PauseTable {
        /// The switch or host that paused the other.
        by: Name<Node>,
        /// The switch or host that was paused.
        paused: Name<Node>,
        /// The port that was paused (0 at a host).
        port: u32,
        /// The priority: the queue class at the switch.
        priority: u32,
        /// From when on the port could not begin to send.
        begin_ps: u64,
        /// When it could send again; absent if it could not before the run ended.
        end_ps: Option<u64>,
    }
}

impl PauseTable {
    /// Whether a run of the scenario records this table.
    pub fn is_recorded(scenario: &Scenario) -> bool {
        scenario.recording.pauses
    }
}

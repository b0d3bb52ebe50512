//! Pauses: who paused whom, and for how long.

use super::names::{Name, Node};
use super::table::table;

table! {
    /// A row for every pause that has acted.
    PauseRow => PauseTable {
        /// The switch or host that paused the other.
        by: Name<Node>,
        /// The switch or host that was paused.
        paused: Name<Node>,
        /// Its port; 0 at a host.
        port: u32,
        /// The priority: the queue class at the switch.
        priority: u32,
        /// From when on it could begin no packet of this priority.
        begin_ps: u64,
        /// When it could again; null if the run ended before.
        end_ps: Option<u64>,
    }
    recorded if |scenario| scenario.recording.pauses
}

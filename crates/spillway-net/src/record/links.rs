//! The utilisation of lines.

use super::names::{Line, Name};
use super::table::table;
use crate::scenario::Scenario;

table! {
    /// The utilisation of lines, for every interval in which they sent anything.
    LinkRow => LinkTable {
        /// The end of the interval: a multiple of its length, or the end of the run.
        time_ps: u64,
        /// The line.
        link: Name<Line>,
        /// The share of the interval in which the line was sending.
        utilisation: f64,
    }
}

impl LinkTable {
    /// Whether a run of the scenario records this table.
    pub fn is_recorded(scenario: &Scenario) -> bool {
        scenario.recording.link_interval.is_some()
    }
}

//! How busy links are.

use super::names::{Line, Name};
use super::table::table;
use crate::scenario::Scenario;

table! {
    /// How busy links were, in every interval in which they were not idle.
    LinkRow => LinkTable {
        /// The end of the interval: a multiple of it, or the end of the run.
        time_ps: u64,
        /// The link.
        link: Name<Line>,
        /// The share of the interval in which it was sending.
        utilisation: f64,
    }
}

impl LinkTable {
    /// Whether a scenario's run leaves one.
    pub fn is_recorded(scenario: &Scenario) -> bool {
        scenario.recording.link_interval.is_some()
    }
}

//! The utilisation of lines.

use super::names::{Line, Name};
use super::table::table;

table! {
    /// The utilisation of lines, for every interval in which they sent anything.
    LinkRow => LinkTable {
        /// The end of the interval: a multiple of `record.link_interval`, or for the last one the
        /// end of the run.
        time_ps: u64,
        /// The link, by its two ends: the sending end first.
        link: Name<Line>,
        /// The share of the interval in which it was sending, from 0 to 1: exact to the picosecond,
        /// also where a packet or a byte spans several intervals.
        utilisation: f64,
    }
    recorded if |scenario| scenario.recording.link_interval.is_some()
}

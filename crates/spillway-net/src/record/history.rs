//! What switches learn from bursts.

use super::names::{Name, Switch};
use super::table::table;
use spillway_switch::sharing::Learned;

table! {
    /// What switches had learned from bursts when the run ended.
    HistoryRow => HistoryTable {
        /// The switch.
        switch: Name<Switch>,
        /// How fast the queues of a burst grew, in bits per second: the middle of the range of
        /// gradients that count as one.
        gradient_bps: f64,
        /// The size that the burst reached: the largest of those that count as one; with `record =
        /// "admitted+dropped"` this includes what it lost, which has no bound.
        bytes: u64,
        /// When such a burst was last seen.
        last_seen_ps: u64,
    }
    recorded if |scenario| scenario.tiers.iter().any(|tier| tier.learns())
}

impl HistoryRow {
    /// The row of one thing that a switch has learned.
    pub fn of(switch: u32, learned: &Learned) -> HistoryRow {
        HistoryRow {
            switch: Name(switch),
            gradient_bps: 8.0 * learned.gradient,
            bytes: learned.bytes,
            last_seen_ps: learned.last_seen.ps(),
        }
    }
}

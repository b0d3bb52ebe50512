//! Bursts of ports.

use super::finite;
use super::names::{Name, Switch};
use super::table::table;
use crate::scenario::Scenario;
use spillway_engine::Time;
use spillway_switch::BurstReport;

table! {
    /// Bursts, in the order in which they ended.
    BurstRow => BurstTable {
        /// When the first packet left the port after the previous burst.
        start_ps: u64,
        /// When it was detected.
        detected_ps: u64,
        /// When it ended, if it did.
        end_ps: Option<u64>,
        /// The switch.
        switch: Name<Switch>,
        /// The port.
        port: u32,
        /// How fast its queues grew when it was detected, in bits per second.
        gradient_bps: f64,
        /// The most that the port held.
        peak_bytes: u64,
        /// The most that it would have held if nothing had ever been lost.
        demand_bytes: u64,
        /// The sharing policy's limit when it was detected, if it has one.
        first_threshold_bytes: Option<u64>,
        /// That limit just before the burst ended.
        last_threshold_bytes: Option<u64>,
        /// The least limit in between.
        least_threshold_bytes: Option<u64>,
        /// The greatest limit in between.
        most_threshold_bytes: Option<u64>,
        /// Packets lost.
        lost_packets: u64,
        /// Their bytes.
        lost_bytes: u64,
    }
}

impl BurstTable {
    /// Whether a run of the scenario records this table.
    pub fn is_recorded(scenario: &Scenario) -> bool {
        scenario.recording.bursts.is_some()
    }
}

impl BurstRow {
    /// The row of a burst that a switch reports.
    pub fn of(switch: u32, report: &BurstReport) -> BurstRow {
        BurstRow {
            start_ps: report.start.ps(),
            detected_ps: report.detected.ps(),
            end_ps: report.end.map(Time::ps),
            switch: Name(switch),
            port: report.port,
            gradient_bps: 8.0 * report.gradient,
            peak_bytes: report.peak_bytes,
            demand_bytes: report.demand_bytes,
            first_threshold_bytes: report.limits.and_then(|limits| finite(limits.first)),
            last_threshold_bytes: report.limits.and_then(|limits| finite(limits.last)),
            least_threshold_bytes: report.limits.and_then(|limits| finite(limits.least)),
            most_threshold_bytes: report.limits.and_then(|limits| finite(limits.most)),
            lost_packets: report.lost_packets,
            lost_bytes: report.lost_bytes,
        }
    }
}

//! Bursts of ports.

use super::finite;
use super::names::{Name, Switch};
use super::table::table;
use spillway_engine::Time;
use spillway_switch::BurstReport;

table! {
    /// Bursts, in the order in which they ended.
    BurstRow => BurstTable {
        /// When the first packet left the port after the previous burst, or smaller backlog, was
        /// over.
        start_ps: u64,
        /// When it was detected.
        detected_ps: u64,
        /// When it was over; null if it was not.
        end_ps: Option<u64>,
        /// The switch.
        switch: Name<Switch>,
        /// The port.
        port: u32,
        /// How fast the port's queues grew when it was detected, in bits per second: a moving
        /// average over departures, 3/4 of the previous value and 1/4 of the latest growth.
        gradient_bps: f64,
        /// The most that the port held.
        peak_bytes: u64,
        /// The most that it would have held if it had never lost anything (`unbounded_bytes`
        /// above). Retransmissions count in addition to the packets that were lost, and lost
        /// packets remain in this count until the port has been idle for long enough to have sent
        /// them. So after heavy losses later bursts, too, demand more than they would alone.
        demand_bytes: u64,
        /// The threshold of the port's data queue when it was detected; null where the policy has
        /// none.
        first_threshold_bytes: Option<u64>,
        /// The threshold just before it was over.
        last_threshold_bytes: Option<u64>,
        /// The least threshold in between.
        least_threshold_bytes: Option<u64>,
        /// The greatest threshold in between.
        most_threshold_bytes: Option<u64>,
        /// Packets lost at the port from the burst's start to its end.
        lost_packets: u64,
        /// Their bytes.
        lost_bytes: u64,
    }
    recorded if |scenario| scenario.recording.bursts.is_some()
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

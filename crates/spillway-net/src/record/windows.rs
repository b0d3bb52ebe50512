//! Windows of chosen flows, at regular times.

use super::table::table;
use spillway_engine::Time;
use spillway_transport::sender::Sender;
use spillway_transport::window::Window;

table! {
    /// Windows of chosen flows, at regular times while they last.
    WindowRow => WindowTable {
        /// When.
        time_ps: u64,
        /// The flow.
        flow_id: u32,
        /// The congestion window; null for a sender that has none.
        cwnd_bytes: Option<u64>,
        /// The rate at which its packets leave, in bits on the wire; null for a sender that does
        /// not pace.
        pace_bps: Option<f64>,
        /// Bytes in flight.
        in_flight_bytes: u64,
        /// Payload that has arrived, each byte counted once.
        delivered_bytes: u64,
        /// Rate of payload arriving since the previous sample, or since the start, in bits per
        /// second.
        rate_bps: f64,
        /// The smoothed round trip; 0 before the first sample.
        srtt_ps: u64,
    }
    recorded if |scenario| !scenario.recording.window_flows.is_empty()
}

impl WindowRow {
    /// The row of a flow's sender now, with the bytes that have arrived and their latest rate. An
    /// open-loop flow has no sender.
    pub fn of(
        now: Time,
        flow: u32,
        sender: Option<&Sender>,
        delivered_bytes: u64,
        rate_bps: f64,
    ) -> WindowRow {
        let window = sender.map(Sender::window);
        WindowRow {
            time_ps: now.ps(),
            flow_id: flow,
            cwnd_bytes: window.map(|window| window.cwnd).filter(|cwnd| *cwnd != Window::UNLIMITED),
            pace_bps: window
                .filter(|window| window.pace > 0)
                .map(|window| 8e12 / f64::from(window.pace)),
            in_flight_bytes: sender.map_or(0, Sender::in_flight),
            delivered_bytes,
            rate_bps,
            srtt_ps: sender.map_or(0, |sender| sender.smoothed_rtt().ps()),
        }
    }
}

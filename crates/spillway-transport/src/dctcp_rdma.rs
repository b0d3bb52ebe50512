//! DCTCP with a rate: cut the rate in proportion to how many packets were marked.
//!
//! It is how RDMA's simulators have DCTCP: packets leave at a rate, beside which a window lies that
//! is reduced with it.
//!
//! # Reference
//! The public simulator of HPCC's authors (alibaba-edu/High-Precision-Congestion-Control), mode 8,
//! with which they compare HPCC (Y. Li et al., ACM SIGCOMM 2019,
//! <https://doi.org/10.1145/3341302.3342085>). Its rule is DCTCP's (M. Alizadeh et al., ACM SIGCOMM
//! 2010, section 3.1).
//!
//! # Rule
//! Once a round trip, with the first ack of data sent since the last time: alpha = (1 - g) alpha +
//! g F, where F = min(1, acks that echoed a mark / packets in flight the last time). The first time
//! only begins a round trip. Then
//!
//! - an ack with a mark cuts: R = R (1 - alpha / 2); until data sent after the cut is acknowledged
//!   there is no other cut, and no increase;
//! - else, once a round trip: R = R + R_AI.
//!
//! The window is W R / C, where C is the line's rate and W its bandwidth-delay product (`window`,
//! `vary_window`). A flow begins at its line's rate with alpha = 1.
//!
//! # What the source leaves open
//! Nothing: the program is the definition. R_AI is 615 Mbps, which its authors give as a packet of
//! 1 KB in 13 us; other networks need other values.
//!
//! # Departures from the source
//! The rate is not rounded to whole bits per second. Packets in flight are what lies between the
//! acknowledged and the next byte, in whole segments, and one more, as there.
//!
//! # Scope and limitations
//! Losses are found and repaired as `recovery` says, and do not change the rate; after a
//! timeout one segment is in flight until the next ack. Every ack tells whether its packet was
//! marked. A new rate applies from the next packet on. Pacing counts bytes on the wire, to a
//! picosecond for each packet.
//!
//! # In composition
//! That of [DCQCN](dcqcn.md).
//!
//! # Validation
//! Hand arithmetic below; two to sixteen flows hold the queue near the threshold and share the line
//! (`tests/paced.rs`).
//!
//! # Cost
//! A few additions for every ack; 150 bytes for every flow.

use super::Access;
use super::control::{Congestion, ControlMaker, DriverParams, min_rate};
use super::kind::{Ecn, Kind, Needs};
use super::rates::{LineRate, RateWindow};
use super::receiver::EcnEcho;
use super::window::{Ack, CongestionControl, Window};
use spillway_engine::Time;
use spillway_settings::{Range, Section, SettingsError};

/// The row of DCTCP with a rate.
pub(super) const KIND: Kind = Kind {
    id: "dctcp-rdma",
    results: 1,
    summary: "DCTCP with a rate, as simulators of RDMA have it: cut in proportion to the share of \
              marked packets",
    citation: "alibaba-edu/High-Precision-Congestion-Control, mode 8; Alizadeh et al.: SIGCOMM 2010",
    needs: Needs { base_rtt: true, ecn: Ecn::Always, echo: EcnEcho::PerPacket, ..Needs::OF_PACE },
    read: |section| Ok(DriverParams::of_acks(DctcpRdmaParams::read(section)?)),
};

/// The parameters of DCTCP with a rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DctcpRdmaParams {
    g: f64,
    alpha0: f64,
    step: LineRate,
    /// In bits per second.
    min_rate: f64,
    window: RateWindow,
}

impl DctcpRdmaParams {
    /// Reads the parameters.
    pub fn read(section: &mut Section) -> Result<DctcpRdmaParams, SettingsError> {
        let g = section.number("g", 0.0625, Range::Unit, "weight of a new sample in alpha")?;
        let alpha0 = section.number("alpha0", 1.0, Range::Unit, "alpha before any sample")?;
        let step = LineRate::step(section, "615Mbps")?;
        let min_rate = min_rate(section, "1Gbps")?;
        let window = RateWindow::read(section, "1bdp", true)?;
        Ok(DctcpRdmaParams { g, alpha0, step, min_rate, window })
    }
}

/// The state of DCTCP with a rate.
#[derive(Clone, Copy, Debug)]
pub struct DctcpRdma {
    g: f64,
    alpha: f64,
    /// Rates in bits per second: the present one, the least, the line's, and the additive increase.
    rate: f64,
    least: f64,
    line: f64,
    step: f64,
    window: RateWindow,
    /// The window at the line's rate.
    at_line: f64,
    /// Acks with a mark since alpha was updated, and the packets in flight then; `None` before the
    /// first round trip.
    marked: u64,
    sent: Option<u64>,
    /// The next byte to be sent when alpha was updated.
    updated_at: u64,
    /// The next byte to be sent when a mark cut the rate, while there is no other cut.
    cut_at: Option<u64>,
}

impl DctcpRdma {
    /// The state of a flow that starts.
    pub fn new(params: DctcpRdmaParams, access: &Access) -> DctcpRdma {
        let line = access.line_rate();
        DctcpRdma {
            g: params.g,
            alpha: params.alpha0,
            rate: line,
            least: params.min_rate.min(line),
            line,
            step: params.step.of(line),
            window: params.window,
            at_line: params.window.at_line(access),
            marked: 0,
            sent: None,
            updated_at: 0,
            cut_at: None,
        }
    }

    /// Counts a mark. If the ack is the first of a round trip, updates alpha. Returns whether it
    /// is.
    fn update_alpha(&mut self, ack: &Ack, mss: u64) -> bool {
        self.marked += u64::from(ack.ece);
        if ack.una <= self.updated_at {
            return false;
        }
        self.updated_at = ack.nxt;
        match self.sent {
            // The packets that the first round trip has sent since its beginning.
            None => self.sent = Some((ack.nxt - ack.una + ack.acked) / mss + 1),
            Some(sent) => {
                let share = (self.marked as f64 / sent as f64).min(1.0);
                self.alpha = (1.0 - self.g) * self.alpha + self.g * share;
                self.marked = 0;
                self.sent = Some((ack.nxt - ack.una) / mss + 1);
            }
        }
        true
    }

    fn update_rate(&mut self, ack: &Ack, begins: bool) {
        if self.cut_at.is_some_and(|at| ack.una > at) {
            self.cut_at = None;
        }
        if self.cut_at.is_some() {
            return;
        }
        if ack.ece {
            self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(self.least);
            self.cut_at = Some(ack.nxt);
        } else if begins {
            self.rate = (self.rate + self.step).min(self.line);
        }
    }
}

impl ControlMaker for DctcpRdmaParams {
    fn start(&self, window: &mut Window, access: &Access) -> Congestion {
        let control = DctcpRdma::new(*self, access);
        control.window.set(window, control.at_line, control.rate, control.line);
        Congestion::DctcpRdma(Box::new(control))
    }
}

impl CongestionControl for DctcpRdma {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let begins = self.update_alpha(ack, window.mss);
        self.update_rate(ack, begins);
        self.window.set(window, self.at_line, self.rate, self.line);
    }

    fn on_send(&mut self, _window: &mut Window, _now: Time, bytes: u64) -> Time {
        Time::from_ps((bytes as f64 * 8e12 / self.rate).round() as u64)
    }

    fn on_loss(&mut self, window: &mut Window, _in_flight: u64) {
        window.ssthresh = window.cwnd;
    }

    /// What was sent before no longer counts as in flight, so no round trip is waited for.
    fn on_timeout(&mut self, window: &mut Window, _in_flight: u64) {
        (self.updated_at, self.cut_at) = (0, None);
        window.ssthresh = window.cwnd;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::access;
    use super::super::window::tests::{ack, segments};
    use super::*;

    /// 10 Gbps and 80 us: 100,000 bytes. g is a half.
    fn control(text: &str) -> DctcpRdma {
        let given = format!("g = 0.5\nrate_step = \"1Gbps\"\n{text}").parse().unwrap();
        let params = DctcpRdmaParams::read(&mut Section::new("transport", given)).unwrap();
        DctcpRdma::new(params, &access(10, 80))
    }

    /// The rate in Gbps and alpha after an ack.
    fn after(control: &mut DctcpRdma, una: u64, nxt: u64, ece: bool) -> (f64, f64) {
        let mut window = segments(100, 100);
        control.on_ack(&mut window, &ack(una, nxt, ece));
        (control.rate / 1e9, control.alpha)
    }

    /// The first ack begins a round trip, which ends when segment 10, the next to be sent, is
    /// acknowledged. It counted 10 packets, and one more; of these, acks 2, 4 and 5 were marked,
    /// and the first of the next round trip: 4 / 11.
    #[test]
    fn alpha_follows_the_share_of_marked_acks() {
        let mut control = control("");
        (control.rate, control.alpha) = (5e9, 0.25);
        assert_eq!(after(&mut control, 1, 10, false), (6.0, 0.25));
        // The first mark cuts by an eighth; then everything up to segment 11 must be acknowledged.
        assert_eq!(after(&mut control, 2, 11, true), (5.25, 0.25));
        assert_eq!(after(&mut control, 3, 12, false), (5.25, 0.25));
        assert_eq!(after(&mut control, 4, 13, true), (5.25, 0.25));
        assert_eq!(after(&mut control, 5, 14, true), (5.25, 0.25));
        assert_eq!(after(&mut control, 10, 19, false), (5.25, 0.25));
        let alpha = 0.125 + 0.5 * 4.0 / 11.0;
        // Segment 11 is the one at which the cut ends; the ack does not lie behind it.
        assert_eq!(after(&mut control, 11, 20, true), (5.25, alpha));
        let rate = 5.25 * (1.0 - alpha / 2.0);
        let (found, same) = after(&mut control, 12, 21, true);
        assert!((found - rate).abs() < 1e-12 && same == alpha, "{found}, {rate}");
        // Of 9 packets in flight and one more, ack 12 was marked, and the one at segment 21: 2 / 10. It
        // is the first of a round trip, but it cuts nothing, since the cut lasts until 21 is behind.
        assert_eq!(after(&mut control, 21, 30, true), (found, 0.5 * alpha + 0.1));
    }

    /// Without marks the rate rises by 1 Gbps in each round trip, up to the line's.
    #[test]
    fn without_marks_the_rate_rises_once_in_a_round_trip() {
        let mut control = control("alpha0 = 0.5");
        control.rate = 8.5e9;
        assert_eq!(after(&mut control, 1, 10, false).0, 9.5);
        assert_eq!(after(&mut control, 5, 14, false).0, 9.5);
        assert_eq!(after(&mut control, 10, 19, false).0, 9.5);
        assert_eq!(after(&mut control, 11, 20, false), (10.0, 0.25));
        // If there are more marks than packets, the share is 1.
        control.marked = 100;
        assert_eq!(after(&mut control, 21, 30, false), (10.0, 0.625));
    }

    /// Half of the rate and of the window of 100,000 bytes, and a segment less a byte. 1,000 bytes
    /// take 1.6 us.
    #[test]
    fn the_window_is_reduced_with_the_rate() {
        let mut control = control("");
        let mut window = segments(1, 1);
        control.on_ack(&mut window, &ack(1, 10, true));
        assert_eq!((window.cwnd, window.pace), (50_999, 1_600));
        assert_eq!(control.on_send(&mut window, Time::ZERO, 1_000), Time::from_ns(1_600));
        // Many cuts leave the least rate.
        for round in 1..9 {
            control.alpha = 1.0;
            control.on_ack(&mut window, &ack(1 + 20 * round, 10 + 20 * round, true));
        }
        assert_eq!(control.rate, 1e9);
        // A timeout ends the round trip and the time without cuts.
        control.on_timeout(&mut window, 9_000);
        assert_eq!((control.updated_at, control.cut_at), (0, None));
    }
}

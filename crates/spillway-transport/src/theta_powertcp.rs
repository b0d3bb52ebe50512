//! Theta-PowerTCP: the window follows the power of the path, from round trips alone.
//!
//! # Reference
//! V. Addanki, O. Michel, S. Schmid, "PowerTCP: Pushing the Performance Limits of Datacenter
//! Networks", USENIX NSDI 2022, section 3.4 (Algorithm 2).
//! <https://www.usenix.org/conference/nsdi22/presentation/addanki>
//!
//! # Rule
//! With every ack, dt after the previous one, where tau is the base RTT:
//!
//! Gamma_norm = max((RTT - RTT_before) / dt + 1, `least_current`) RTT / tau,
//! Gamma = (Gamma (tau - dt) + Gamma_norm dt) / tau, dt at most tau.
//!
//! Once every round trip: cwnd = gamma (cwnd / Gamma + beta) + (1 - gamma) cwnd, beta = C tau / N,
//! where C is the rate of the host's line and N the number of flows expected there. Packets leave
//! at the rate cwnd / tau.
//!
//! # What the paper leaves open
//! - N (`expected_flows`): 100, which adds 100 Mbps at 10 Gbps, as the authors' program does.
//! - Whose round-trip time tau is. Since packets are stored and forwarded at every hop, the real
//!   round trip may be longer than one base RTT for all flows. Power is then above 1 although
//!   nothing waits, and windows settle at beta / (1 - tau / RTT), far below the line's rate. So tau
//!   is the round-trip time of a full packet and its ack on the flow's own path (with `base_rtt =
//!   "network"`, the network's base RTT).
//! - Which window is divided by Gamma. In the paper it is the window of a round trip ago. With one
//!   update per round trip, by the first ack of data sent since the last update, this is the
//!   current window.
//! - Bounds of the window: `min_rate` and the line's rate, each times tau, as in the authors'
//!   program.
//!
//! # Departures from the paper
//! The paper has no least current. Without one, the first packets after a cut find the queue that
//! the others have left and give a power below 0. Windows then jump, and from eight flows on a
//! queue larger than the bandwidth-delay product remains. The authors' program
//! (inet-tub/ns3-datacenter) has 0.5, and so has this implementation. The program measures once per
//! round trip, with the difference over tau; `measure = "round-trip"` does so. It also computes
//! with rates, and chooses gamma 0.7 or 0.9 by Gamma; these are not offered.
//!
//! # Scope and limitations
//! A flow begins at the line's rate, with a window of C tau. Losses found without a timeout are
//! retransmitted and do not change the window. After a timeout the window is one segment until the
//! next update, which continues from the window before. Marks are ignored. Pacing counts bytes on
//! the wire.
//!
//! # In composition
//! It sees round trips alone. Under strict priority the wait for better levels counts like a queue
//! of its own, and under a tagger of several levels successive round trips are those of different
//! queues. Marks do nothing to it; but its packets are not ECN-capable by default, and `red`,
//! `ared`, `codel` and `pie` lose what they would mark, unless `not_ect` says otherwise. No loss
//! slows it but by a timeout.
//!
//! # Validation
//! Hand arithmetic below. The queue of 2, 8 and 16 flows is n beta within 5%, as the window law
//! says: next to nothing by default, at 98% of the line's rate or more (`tests/paced.rs`).
//!
//! # Cost
//! A few multiplications and divisions for every ack; 96 bytes for every flow; an event for every
//! packet that has to wait for its pace.

use super::Access;
use super::control::{Congestion, ControlMaker, DriverParams, expected_flows, min_rate};
use super::kind::{Kind, Needs};
use super::window::{Ack, CongestionControl, Window};
use spillway_engine::Time;
use spillway_settings::{Range, Section, SettingsError};

/// The row of theta-PowerTCP.
pub(super) const KIND: Kind = Kind {
    id: "theta-powertcp",
    results: 1,
    summary: "theta-PowerTCP: window and pace by the power of the path, from round trips",
    citation: "Addanki, Michel, Schmid: PowerTCP, NSDI 2022, Algorithm 2",
    needs: Needs { base_rtt: true, ..Needs::OF_PACE },
    read: |section| Ok(DriverParams::of_acks(ThetaPowerTcpParams::read(section)?)),
};

/// Theta-PowerTCP's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThetaPowerTcpParams {
    gamma: f64,
    expected_flows: f64,
    /// In bits per second.
    min_rate: f64,
    /// Whether power is measured with every ack instead of once per round trip.
    every_ack: bool,
    least_current: f64,
}

impl ThetaPowerTcpParams {
    /// Reads the parameters.
    pub fn read(section: &mut Section) -> Result<ThetaPowerTcpParams, SettingsError> {
        let meaning = "weight of the window computed from the power";
        let gamma = section.number("gamma", 0.9, Range::Unit, meaning)?;
        let expected_flows = expected_flows(section)?;
        let min_rate = min_rate(section, "100Mbps")?;
        let meaning = "when power is measured: with every ack, or once each round trip";
        let ways = [("every-ack", true), ("round-trip", false)];
        let every_ack = section.choice("measure", &ways, meaning)?;
        let meaning = "the least current assumed, as a share of the port's rate";
        let least_current = section.number("least_current", 0.5, Range::Unit, meaning)?;
        Ok(ThetaPowerTcpParams { gamma, expected_flows, min_rate, every_ack, least_current })
    }
}

/// Theta-PowerTCP's state.
#[derive(Clone, Copy, Debug)]
pub struct ThetaPowerTcp {
    gamma: f64,
    every_ack: bool,
    least_current: f64,
    /// The additive increase, and the bounds of the window, in bytes.
    beta: f64,
    least: f64,
    most: f64,
    /// The base RTT in picoseconds.
    tau: f64,
    /// The window, in bytes. It is kept while a timeout leaves only one segment of it.
    cwnd: f64,
    /// Smoothed normalised power.
    power: f64,
    before: Option<(Time, Time)>,
    /// The next byte to be sent at the last update.
    updated_at: u64,
}

impl ThetaPowerTcp {
    /// The state of a flow that starts.
    pub fn new(params: ThetaPowerTcpParams, access: &Access) -> ThetaPowerTcp {
        let tau = access.base_rtt.ps() as f64;
        let most = access.bdp();
        ThetaPowerTcp {
            gamma: params.gamma,
            every_ack: params.every_ack,
            least_current: params.least_current,
            beta: most / params.expected_flows,
            least: (params.min_rate * tau / 8e12).min(most),
            most,
            tau,
            cwnd: most,
            power: 1.0,
            before: None,
            updated_at: 0,
        }
    }

    fn measure(&mut self, now: Time, rtt: Time) {
        if let Some((at, rtt_before)) = self.before {
            let dt = (now - at).ps() as f64;
            if dt == 0.0 {
                return;
            }
            // The interval between measurements once per round trip is longer than tau, and counts
            // as tau.
            let over = if self.every_ack { dt } else { dt.min(self.tau) };
            let gradient = (rtt.ps() as f64 - rtt_before.ps() as f64) / over;
            let norm = (gradient + 1.0).max(self.least_current) * rtt.ps() as f64 / self.tau;
            let dt = dt.min(self.tau);
            self.power = (self.power * (self.tau - dt) + norm * dt) / self.tau;
        }
        self.before = Some((now, rtt));
    }
}

impl ControlMaker for ThetaPowerTcpParams {
    fn start(&self, _window: &mut Window, access: &Access) -> Congestion {
        Congestion::ThetaPowerTcp(Box::new(ThetaPowerTcp::new(*self, access)))
    }
}

impl CongestionControl for ThetaPowerTcp {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let is_update = ack.una > self.updated_at && ack.acked > 0;
        if self.every_ack || is_update {
            self.measure(ack.now, ack.rtt);
        }
        if !is_update {
            return;
        }
        self.updated_at = ack.nxt;
        // Power is kept above 0 however fast round trips shrink.
        let power = self.power.max(1e-3);
        let next = self.gamma * (self.cwnd / power + self.beta) + (1.0 - self.gamma) * self.cwnd;
        self.cwnd = next.clamp(self.least, self.most);
        window.set_paced(self.cwnd.max(window.mss as f64) as u64, self.tau / self.cwnd);
    }

    fn on_loss(&mut self, window: &mut Window, _in_flight: u64) {
        window.ssthresh = window.cwnd;
    }

    fn on_timeout(&mut self, window: &mut Window, _in_flight: u64) {
        self.updated_at = 0;
        window.ssthresh = window.cwnd;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::access;
    use super::super::window::tests::{ack, segments};
    use super::*;

    /// 10 Gbps and 80 us: 100,000 bytes.
    fn theta() -> ThetaPowerTcp {
        let params = ThetaPowerTcpParams {
            gamma: 0.9,
            expected_flows: 10.0,
            min_rate: 1e8,
            every_ack: true,
            least_current: 0.5,
        };
        ThetaPowerTcp::new(params, &access(10, 80))
    }

    fn at(us: u64, rtt_us: u64, una: u64, nxt: u64) -> Ack<'static> {
        Ack { now: Time::from_us(us), rtt: Time::from_us(rtt_us), ..ack(una, nxt, false) }
    }

    #[test]
    fn power_is_what_round_trips_and_their_growth_come_to() {
        let mut control = theta();
        control.measure(Time::from_us(100), Time::from_us(80));
        assert_eq!(control.power, 1.0);
        // The round trip is 8 us longer after 16 us: (0.5 + 1) 88 / 80 = 1.65, weighted with a
        // fifth of tau: 0.8 + 0.2 * 1.65.
        control.measure(Time::from_us(116), Time::from_us(88));
        assert!((control.power - 1.13).abs() < 1e-12, "{}", control.power);
        // More than a round trip later only this measurement counts: (88 - 88) / 160 + 1 = 1, times
        // 1.1.
        control.measure(Time::from_us(276), Time::from_us(88));
        assert!((control.power - 1.1).abs() < 1e-12, "{}", control.power);
    }

    #[test]
    fn the_window_is_divided_by_power_once_a_round_trip() {
        let mut control = theta();
        let mut window = segments(50, 1_000);
        control.cwnd = 50_000.0;
        control.on_ack(&mut window, &at(100, 80, 1, 51));
        // Power 1: 0.9 (50,000 + 10,000) + 0.1 * 50,000 = 59,000 bytes in 80 us.
        assert_eq!(window.cwnd, 59_000);
        assert_eq!(window.pace, 1356);
        // Power is 1.1, but there is no update before segment 51, the first one sent since the last
        // update, is acknowledged.
        control.on_ack(&mut window, &at(180, 88, 51, 109));
        assert_eq!(window.cwnd, 59_000);
        control.power = 1.1;
        control.before = Some((Time::from_us(180), Time::from_us(88)));
        control.on_ack(&mut window, &at(260, 88, 52, 110));
        // 0.9 (59,000 / 1.1 + 10,000) + 5,900 = 63,172.7.
        assert_eq!(window.cwnd, 63_172);
    }

    #[test]
    fn the_window_stays_within_the_lines_and_the_least_rate() {
        let mut control = theta();
        let mut window = segments(98, 1_000);
        control.cwnd = 98_000.0;
        control.on_ack(&mut window, &at(100, 80, 1, 99));
        assert_eq!((window.cwnd, window.pace), (100_000, 800));
        // 100 Mbps in 80 us are 1000 bytes.
        control.cwnd = 1_000.0;
        control.beta = 0.0;
        control.power = 50.0;
        control.before = None;
        control.on_ack(&mut window, &at(300, 800, 100, 200));
        assert_eq!((window.cwnd, window.pace), (1_000, 80_000));
    }
}

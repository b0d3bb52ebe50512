//! PowerTCP: the window follows the power of the path's busiest port, from in-band telemetry.
//!
//! # Reference
//! V. Addanki, O. Michel, S. Schmid, "PowerTCP: Pushing the Performance Limits of Datacenter
//! Networks", USENIX NSDI 2022, section 3.3 (Algorithm 1).
//! <https://www.usenix.org/conference/nsdi22/presentation/addanki>
//!
//! # Rule
//! With every ack, for every port on the path, compared with the telemetry of the previous ack, dt
//! earlier: current lambda = dq / dt + bytes sent / dt, voltage nu = q + b tau, Gamma_norm = lambda
//! nu / (b^2 tau), where q is what waits in all of the port's queues, b its rate and tau the base
//! RTT. With the greatest Gamma_norm of all ports:
//!
//! Gamma = (Gamma (tau - dt) + Gamma_norm dt) / tau, dt at most tau,
//! cwnd = gamma (cwnd_before / (Gamma / eta) + beta) + (1 - gamma) cwnd, beta = C tau / N,
//!
//! where cwnd_before is the window a round trip ago, C the rate of the host's line, and N the
//! number of flows expected there. Packets leave at the rate cwnd / tau.
//!
//! # What the paper leaves open
//! - N (`expected_flows`): 100, which adds 100 Mbps at 10 Gbps, as the authors' program does.
//! - tau: the round-trip time of a full packet and its ack on the flow's own path (with `base_rtt =
//!   "network"`, the network's base RTT), as for theta-PowerTCP.
//! - Bounds of the window: `min_rate` and the line's rate, each times tau, as in the authors'
//!   program.
//!
//! # Departures from the paper
//! None by default. The authors' program (inet-tub/ns3-datacenter) aims at 95% of a port's rate
//! (`eta = 0.95`) and takes lambda to be at least half of it (`least_current = 0.5`). Without this
//! a port that empties has next to no current, and all windows open at once. At 100 Gbps and a base
//! RTT of 4 us, which is 36 packets, eight flows then oscillate around a queue of 58 KB instead of
//! 11 KB (`tests/paced.rs`; this is the network of PRED's section 6.3.5).
//!
//! # Scope and limitations
//! Telemetry takes `telemetry_bytes` on the wire, on data packets and acks alike, and is exact. All
//! switches on the path write. Queue and bytes are those of the whole port, as in the paper and in
//! the authors' RDMA program; that of ABM and Credence has the queue of the packet's class.
//!
//! A flow begins at the line's rate, with a window of C tau. Losses found without a timeout are
//! retransmitted and do not change the window; after a timeout the window is one segment until the
//! next ack. Marks are ignored. Pacing counts bytes on the wire.
//!
//! # In composition
//! Telemetry is that of ports: a flow of a good level yields to what waits in worse ones, and a
//! flow that starves sees a busy line. What holds for [theta-PowerTCP](theta-powertcp.md) under
//! AQMs and losses holds here.
//!
//! # Validation
//! Hand arithmetic below. The queue of 2, 8 and 16 flows is n beta, as the window law says: next to
//! nothing by default, at over 95% of the line's rate (`tests/paced.rs`). With the settings of
//! ABM's program the percentiles of its published runs are matched within 5%
//! (studies/spillway_studies/references/validation.md).
//!
//! # Cost
//! A few divisions for every ack and port on the path; 330 bytes for every flow, 192 for every
//! packet in memory.

use super::Access;
use super::control::{Congestion, ControlMaker, DriverParams, expected_flows, min_rate};
use super::kind::{Kind, Needs};
use super::window::{Ack, CongestionControl, Window};
use crate::telemetry::Telemetry;
use spillway_settings::{Range, Section, SettingsError};

/// The row of PowerTCP.
pub(super) const KIND: Kind = Kind {
    id: "powertcp",
    results: 1,
    summary: "PowerTCP: window and pace by the power of the busiest port, from in-band telemetry",
    citation: "Addanki, Michel, Schmid: PowerTCP, NSDI 2022, Algorithm 1",
    needs: Needs { telemetry: true, base_rtt: true, ..Needs::OF_PACE },
    read: |section| Ok(DriverParams::of_acks(PowerTcpParams::read(section)?)),
};

/// PowerTCP's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerTcpParams {
    gamma: f64,
    expected_flows: f64,
    /// In bits per second.
    min_rate: f64,
    eta: f64,
    least_current: f64,
}

impl PowerTcpParams {
    /// Reads the parameters.
    pub fn read(section: &mut Section) -> Result<PowerTcpParams, SettingsError> {
        let meaning = "weight of the window computed from the power";
        let gamma = section.number("gamma", 0.9, Range::Unit, meaning)?;
        let expected_flows = expected_flows(section)?;
        let min_rate = min_rate(section, "100Mbps")?;
        let meaning = "the target utilisation of the busiest port";
        let eta = section.number("eta", 1.0, Range::Positive, meaning)?;
        let meaning = "the least current assumed, as a share of the port's rate";
        let least_current = section.number("least_current", 0.0, Range::Unit, meaning)?;
        Ok(PowerTcpParams { gamma, expected_flows, min_rate, eta, least_current })
    }
}

/// PowerTCP's state.
#[derive(Clone, Debug)]
pub struct PowerTcp {
    params: PowerTcpParams,
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
    before: Telemetry,
    /// The window a round trip ago, and the next byte to be sent when it was noted.
    window_before: f64,
    noted_at: u64,
}

impl PowerTcp {
    /// The state of a flow that starts.
    pub fn new(params: PowerTcpParams, access: &Access) -> PowerTcp {
        let tau = access.base_rtt.ps() as f64;
        let most = access.bdp();
        PowerTcp {
            params,
            beta: most / params.expected_flows,
            least: (params.min_rate * tau / 8e12).min(most),
            most,
            tau,
            cwnd: most,
            power: 1.0,
            before: Telemetry::default(),
            window_before: most,
            noted_at: 0,
        }
    }

    /// Returns false with the first ack, which there is nothing to compare with.
    fn measure(&mut self, telemetry: &Telemetry) -> bool {
        let (mut norm, mut span) = (f64::NEG_INFINITY, 0.0);
        for (now, before) in telemetry.since(&self.before) {
            let dt = (now.time - before.time).ps() as f64;
            // Relative to the port's rate, and to what it sends in a base RTT.
            let bytes = dt / now.ps_per_byte;
            let growth = now.queue_bytes as f64 - before.queue_bytes as f64;
            let current = (growth + (now.sent_bytes - before.sent_bytes) as f64) / bytes;
            let voltage = 1.0 + now.queue_bytes as f64 * now.ps_per_byte / self.tau;
            let power = current.max(self.params.least_current) * voltage;
            if power > norm {
                (norm, span) = (power, dt.min(self.tau));
            }
        }
        self.before.clone_from(telemetry);
        if span > 0.0 {
            self.power = (self.power * (self.tau - span) + norm * span) / self.tau;
        }
        span > 0.0
    }
}

impl ControlMaker for PowerTcpParams {
    fn start(&self, _window: &mut Window, access: &Access) -> Congestion {
        Congestion::PowerTcp(Box::new(PowerTcp::new(*self, access)))
    }
}

impl CongestionControl for PowerTcp {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let Some(telemetry) = ack.telemetry else { return };
        if !self.measure(telemetry) {
            return;
        }
        let PowerTcpParams { gamma, eta, .. } = self.params;
        // Power is kept above 0 however fast queues shrink.
        let power = (self.power / eta).max(1e-3);
        let next = gamma * (self.window_before / power + self.beta) + (1.0 - gamma) * self.cwnd;
        self.cwnd = next.clamp(self.least, self.most);
        window.set_paced(self.cwnd.max(window.mss as f64) as u64, self.tau / self.cwnd);
        if ack.una > self.noted_at {
            (self.window_before, self.noted_at) = (self.cwnd, ack.nxt);
        }
    }

    fn on_loss(&mut self, window: &mut Window, _in_flight: u64) {
        window.ssthresh = window.cwnd;
    }

    fn on_timeout(&mut self, window: &mut Window, _in_flight: u64) {
        self.noted_at = 0;
        window.ssthresh = window.cwnd;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::access;
    use super::super::window::tests::{ack, segments};
    use super::*;
    use crate::telemetry::tests::telemetry;

    /// 10 Gbps and 80 us: 100,000 bytes.
    fn powertcp() -> PowerTcp {
        let mut section = Section::new("transport", Default::default());
        let params = PowerTcpParams::read(&mut section).expect("its defaults");
        PowerTcp::new(PowerTcpParams { expected_flows: 10.0, ..params }, &access(10, 80))
    }

    #[test]
    fn power_is_current_times_voltage_where_it_is_greatest() {
        let mut control = powertcp();
        assert!(!control.measure(&telemetry(&[(100, 0, 0), (110, 10_000, 0)])));
        assert_eq!(control.power, 1.0);
        // The first port has sent 4,000 bytes in 8 us, which is 0.4 of its rate. The second has
        // sent 10,000, all that it could, while its queue grew by 2,000: 1.2 (1 + 12,000 / 100,000)
        // = 1.344, weighted with the tenth of tau that has passed.
        assert!(control.measure(&telemetry(&[(108, 0, 4_000), (118, 12_000, 10_000)])));
        assert!((control.power - (0.9 + 0.1344)).abs() < 1e-12, "{}", control.power);
        // After more than a round trip only the latest measurement counts: an idle port, and one at
        // a tenth of its rate.
        control.measure(&telemetry(&[(308, 0, 4_000), (318, 0, 35_000)]));
        let expected = (25_000.0 - 12_000.0) / 250_000.0;
        assert!((control.power - expected).abs() < 1e-12, "{}", control.power);
    }

    #[test]
    fn the_window_of_a_round_trip_ago_is_divided_with_every_ack() {
        let mut control = powertcp();
        let mut window = segments(100, 1_000);
        let mut on_ack = |us, queue, sent, una, nxt| {
            let telemetry = telemetry(&[(us, queue, sent)]);
            let ack = Ack { telemetry: Some(&telemetry), ..ack(una, nxt, false) };
            control.on_ack(&mut window, &ack);
            window.cwnd
        };
        assert_eq!(on_ack(100, 50_000, 0, 1, 101), 100_000);
        // The port sends at its full rate, and half of what it sends in tau is queued: 1.5,
        // weighted with a fifth. Gamma = 0.8 + 0.3 = 1.1, so the window is 0.9 (100,000 / 1.1 +
        // 10,000) + 0.1 * 100,000.
        assert_eq!(on_ack(116, 50_000, 20_000, 2, 102), 100_000);
        // The same again: Gamma = 0.8 * 1.1 + 0.3 = 1.18, and 0.9 (100,000 / 1.18 + 10,000) +
        // 10,000.
        assert_eq!(on_ack(132, 50_000, 40_000, 3, 103), 95_271);
        // Gamma = 1.244, still with the window of a round trip ago: 81,347 + 9,527.1.
        assert_eq!(on_ack(148, 50_000, 60_000, 4, 104), 90_874);
    }

    #[test]
    fn the_window_stays_within_the_lines_and_the_least_rate() {
        let mut control = powertcp();
        control.beta = 0.0;
        control.measure(&telemetry(&[(100, 9_000_000, 0)]));
        let mut window = segments(100, 1_000);
        let told = telemetry(&[(200, 9_000_000, 125_000)]);
        let ack = Ack { telemetry: Some(&told), ..ack(2, 101, false) };
        (control.window_before, control.cwnd) = (2_000.0, 2_000.0);
        control.on_ack(&mut window, &ack);
        // 100 Mbps in 80 us are 1000 bytes.
        assert_eq!((window.cwnd, window.pace), (1_000, 80_000));
    }
}

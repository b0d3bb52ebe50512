//! HPCC: the window follows what is in flight on the path's busiest link, from in-band telemetry.
//!
//! # Reference
//! Y. Li et al., "HPCC: High Precision Congestion Control", ACM SIGCOMM 2019, section 3 (Algorithm 1).
//! <https://doi.org/10.1145/3341302.3342085>
//!
//! # Rule
//! With every ack, for every port on the path, compared with the telemetry of the previous ack: u =
//! min(q, q_before) / (b T) + rate / b, where b is the port's rate, T the base RTT, and rate the
//! rate at which it sent in between. With the greatest u of all ports: U = (1 - dt / T) U + dt / T
//! u, dt at most T. Then
//!
//! - if U is at least eta, or maxStage additive steps are done: W = Wc / (U / eta) + W_AI,
//! - else W = Wc + W_AI, which is one additive step.
//!
//! W is computed from Wc with every ack. Once per round trip, with the first ack of data sent since
//! the last time, Wc becomes W, and only then steps are counted. Packets leave at the rate W / T.
//! W_AI = C T (1 - eta) / N, where C is the rate of the host's line.
//!
//! # What the paper leaves open
//! - T: the round-trip time of a full packet and its ack on the flow's own path (with `base_rtt =
//!   "network"`, the network's base RTT).
//! - N (`expected_flows`): 100.
//! - Bounds of the window: `min_rate` and the line's rate, each times T.
//!
//! # Departures from the paper
//! None by default. The authors' program computes with rates, adds 10 Mbps for every 25 Gbps of the
//! line, and is run with `max_stage = 0`, so that the first case always applies.
//!
//! # Scope and limitations
//! Telemetry takes `telemetry_bytes` on the wire, on data packets and acks alike. Its values are
//! exact, while those of the paper are rounded to fit into 42 bytes. Up to five switches write. A
//! flow begins at the line's rate, with a window of C T. Losses found without a timeout are
//! retransmitted and do not change the window; after a timeout the window is one segment until the
//! next ack. Marks are ignored. Pacing counts bytes on the wire.
//!
//! # Validation
//! Hand arithmetic below. Two, eight and sixteen flows keep the queue nearly empty at eta of the
//! line's rate. At 100 Gbps, in the network of PRED's section 6.3.5, they have 94% of the line's
//! rate and a queue of 1.1 KB, where PRED reports 93% and almost no queue (`tests/paced.rs`).
//!
//! # Cost
//! A few divisions for every ack and port on the path; 300 bytes for every flow, 168 for every
//! packet in memory.

use super::Access;
use super::control::{Congestion, ControlMaker, DriverParams, expected_flows, min_rate};
use super::kind::{Kind, Needs};
use super::window::{Ack, CongestionControl, Window};
use crate::telemetry::Telemetry;
use spillway_settings::{Range, Section, SettingsError};

/// The row of HPCC.
pub(super) const KIND: Kind = Kind {
    id: "hpcc",
    summary: "HPCC: window and pace by what is in flight on the path's busiest link, from in-band \
              telemetry",
    citation: "Li et al.: SIGCOMM 2019, doi:10.1145/3341302.3342085",
    needs: Needs { telemetry: true, base_rtt: true, ..Needs::OF_PACE },
    read: |section| Ok(DriverParams::of_acks(HpccParams::read(section)?)),
};

/// HPCC's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HpccParams {
    eta: f64,
    max_stage: u32,
    expected_flows: f64,
    /// In bits per second.
    min_rate: f64,
}

impl HpccParams {
    /// Reads the parameters.
    pub fn read(section: &mut Section) -> Result<HpccParams, SettingsError> {
        let meaning = "the target utilisation of the busiest port";
        let eta = section.number("eta", 0.95, Range::Positive, meaning)?;
        let meaning = "additive steps before the window is set from the links' utilisation again";
        let max_stage = section.integer("max_stage", 5, 0..=1_000_000, meaning)? as u32;
        let expected_flows = expected_flows(section)?;
        let min_rate = min_rate(section, "100Mbps")?;
        Ok(HpccParams { eta, max_stage, expected_flows, min_rate })
    }
}

/// HPCC's state.
#[derive(Clone, Copy, Debug)]
pub struct Hpcc {
    params: HpccParams,
    /// The additive step, and the bounds of the window, in bytes.
    step: f64,
    least: f64,
    most: f64,
    /// The base RTT in picoseconds.
    base_rtt: f64,
    /// The smoothed utilisation of the busiest link.
    in_use: f64,
    before: Telemetry,
    /// The window from which the next one is computed, in bytes.
    reference: f64,
    stage: u32,
    /// The next byte to be sent when the reference was set.
    set_at: u64,
}

impl Hpcc {
    /// The state of a flow that starts.
    pub fn new(params: HpccParams, access: &Access) -> Hpcc {
        let base_rtt = access.base_rtt.ps() as f64;
        let most = access.bdp();
        Hpcc {
            params,
            step: most * (1.0 - params.eta).max(0.0) / params.expected_flows,
            least: (params.min_rate * base_rtt / 8e12).min(most),
            most,
            base_rtt,
            in_use: 1.0,
            before: Telemetry::default(),
            reference: most,
            stage: 0,
            set_at: 0,
        }
    }

    /// Returns false with the first ack, which there is nothing to compare with.
    fn measure(&mut self, telemetry: &Telemetry) -> bool {
        let (mut most, mut span) = (f64::NEG_INFINITY, 0.0);
        for (now, before) in telemetry.since(&self.before) {
            let dt = (now.time - before.time).ps() as f64;
            let ps_per_byte = now.ps_per_byte as f64;
            let queue = now.queue_bytes.min(before.queue_bytes) as f64;
            let sent = (now.sent_bytes - before.sent_bytes) as f64;
            let in_use = queue * ps_per_byte / self.base_rtt + sent * ps_per_byte / dt;
            if in_use > most {
                (most, span) = (in_use, dt.min(self.base_rtt));
            }
        }
        self.before = *telemetry;
        if span > 0.0 {
            let weight = span / self.base_rtt;
            self.in_use = (1.0 - weight) * self.in_use + weight * most;
        }
        span > 0.0
    }
}

impl ControlMaker for HpccParams {
    fn start(&self, _window: &mut Window, access: &Access) -> Congestion {
        Congestion::Hpcc(Box::new(Hpcc::new(*self, access)))
    }
}

impl CongestionControl for Hpcc {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let Some(telemetry) = ack.telemetry else { return };
        if !self.measure(telemetry) {
            return;
        }
        let HpccParams { eta, max_stage, .. } = self.params;
        let follows = self.in_use >= eta || self.stage >= max_stage;
        let shrink = if follows { self.in_use / eta } else { 1.0 };
        let next = (self.reference / shrink + self.step).clamp(self.least, self.most);
        window.set_paced(next.max(window.mss as f64) as u64, self.base_rtt / next);
        if ack.una > self.set_at {
            self.stage = if follows { 0 } else { self.stage + 1 };
            (self.reference, self.set_at) = (next, ack.nxt);
        }
    }

    fn on_loss(&mut self, window: &mut Window, _in_flight: u64) {
        window.ssthresh = window.cwnd;
    }

    fn on_timeout(&mut self, window: &mut Window, _in_flight: u64) {
        self.set_at = 0;
        window.ssthresh = window.cwnd;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::access;
    use super::super::window::tests::{ack, segments};
    use super::*;
    use crate::telemetry::tests::telemetry;

    /// 10 Gbps and 80 us: 100,000 bytes; a step is 500 bytes.
    fn hpcc() -> Hpcc {
        let mut section = Section::new("transport", Default::default());
        let params = HpccParams::read(&mut section).expect("its defaults");
        Hpcc::new(HpccParams { expected_flows: 10.0, ..params }, &access(10, 80))
    }

    #[test]
    fn in_use_is_what_is_in_flight_on_the_busiest_link() {
        let mut control = hpcc();
        assert!(!control.measure(&telemetry(&[(100, 30_000, 0), (110, 0, 0)])));
        // 10,000 bytes in 8 us are the whole rate. Of the two queue lengths the smaller counts,
        // 20,000 of 100,000: u = 1.2, weighted with a tenth of T.
        assert!(control.measure(&telemetry(&[(108, 20_000, 10_000), (118, 0, 5_000)])));
        assert!((control.in_use - 1.02).abs() < 1e-12, "{}", control.in_use);
        // After more than T only the latest measurement counts: half of the rate, and no queue.
        control.measure(&telemetry(&[(208, 0, 72_500), (218, 0, 5_000)]));
        assert!((control.in_use - 0.5).abs() < 1e-12, "{}", control.in_use);
    }

    /// The windows after acks with this utilisation, each more than a base RTT after the one
    /// before.
    fn windows(control: &mut Hpcc, acks: &[(f64, u64, u64)]) -> Vec<u64> {
        let mut window = segments(100, 1_000);
        let (mut us, mut sent) = (100, 0);
        control.measure(&telemetry(&[(us, 0, sent)]));
        let on_ack = |&(in_use, una, nxt): &(f64, u64, u64)| {
            us += 100;
            sent += (125_000.0 * in_use) as u64;
            let told = telemetry(&[(us, 0, sent)]);
            control.on_ack(&mut window, &Ack { telemetry: Some(&told), ..ack(una, nxt, false) });
            window.cwnd
        };
        acks.iter().map(on_ack).collect()
    }

    #[test]
    fn the_reference_is_set_once_a_round_trip() {
        let mut control = hpcc();
        control.reference = 50_000.0;
        // 50,000 / (1 / 0.95) + 500, twice: the second ack is for data sent before the first ack
        // came.
        let acks = [(1.0, 1, 51), (1.0, 2, 52), (1.0, 52, 100)];
        // Then 48,000 / (1 / 0.95) + 500.
        assert_eq!(windows(&mut control, &acks), [48_000, 46_100, 46_100]);
    }

    #[test]
    fn after_five_steps_the_window_follows_the_use() {
        let mut control = hpcc();
        control.reference = 20_000.0;
        let acks: Vec<_> = (0..7).map(|round| (0.5, 1 + 100 * round, 100 + 100 * round)).collect();
        let grown = windows(&mut control, &acks);
        // 500 a round trip, and then 22,500 / (0.5 / 0.95) + 500.
        assert_eq!(grown, [20_500, 21_000, 21_500, 22_000, 22_500, 43_250, 43_750]);
    }

    #[test]
    fn the_window_stays_within_the_lines_and_the_least_rate() {
        let mut control = hpcc();
        let grown = windows(&mut control, &[(0.01, 1, 100)]);
        assert_eq!(grown, [100_000]);
        (control.reference, control.step) = (1_000.0, 0.0);
        assert_eq!(windows(&mut control, &[(1.0, 101, 200)]), [1_000]);
    }
}

//! HPCC: the window follows what is in flight on the path's busiest link, from in-band telemetry.
//!
//! # Reference
//! Y. Li et al., "HPCC: High Precision Congestion Control", ACM SIGCOMM 2019, section 3 (Algorithm
//! 1). <https://doi.org/10.1145/3341302.3342085>
//!
//! # Rule
//! With every ack, for every port on the path, compared with the telemetry of the previous ack: u =
//! min(q, q_before) / (b T) + rate / b, where b is the port's rate, T the base RTT, q what waits in
//! all of the port's queues, and rate the rate at which the port sent in between. With the greatest
//! u of all ports: U = (1 - dt / T) U + dt / T u, dt at most T. Then
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
//! None by default. With `preset = "simulator"` as in the public simulator of HPCC's authors, which
//! they run with other rules:
//!
//! - `max_stage = 0`, so that the first case always applies;
//! - W_AI / T is 0.04% of the line's rate, 10 Mbps for every 25 Gbps (`rate_step`);
//! - the first ack begins a round trip in which Wc stays (`first_reference`), where otherwise the
//!   second ack, the first that has something to be compared with, sets it;
//! - T is the network's base RTT (its rule for that, with propagation both ways and the data
//!   packet's transmission on every link, is a bit different: `topology.base_rtt`);
//! - telemetry is rounded (`telemetry_units`), with times in nanoseconds;
//! - a packet leaves while less than the window is in flight (`window_overshoots`);
//! - a packet that waits for its pace leaves earlier or later when the pace changes (`moves_next`);
//! - the pace counts from when the NIC sends a packet (`pace_from`);
//! - a rate of at least 1 Gbps; packets of 1000 bytes of payload, 48 of headers and 42 of
//!   telemetry, acks of 88 bytes.
//!
//! # Scope and limitations
//! Telemetry takes `telemetry_bytes` on the wire, on data packets and acks alike. By default its
//! values are exact, while those of the paper are rounded to fit into 42 bytes. All switches on the
//! path write, where those 42 bytes have room for five, and the public simulator writes the sixth
//! over the first. Queue and bytes are those of the whole port, as in the paper and in that
//! simulator, so flows of other priorities at a port count as well.
//!
//! A flow begins at the line's rate, with a window of C T. Losses found without a timeout are
//! retransmitted and do not change the window; after a timeout the window is one segment until the
//! next ack. Marks are ignored. Pacing counts bytes on the wire.
//!
//! # In composition
//! That of [PowerTCP](powertcp.md): telemetry is that of ports, whatever the levels of packets;
//! marks do not slow it, and losses only by timeouts.
//!
//! # Validation
//! Hand arithmetic below. Two, eight and sixteen flows keep the queue nearly empty at eta of the
//! line's rate. At 100 Gbps, in the network of PRED's section 6.3.5, they have 94% of the line's
//! rate and a queue of 1.1 KB, where PRED reports 93% and almost no queue (`tests/paced.rs`). With
//! `preset = "simulator"`, 2,000 flows of websearch at 50% between 32 hosts on a leaf-spine network
//! of 100 and 200 Gbps, each on the path that it had in a run of the public simulator: the mean
//! slowdowns of five classes of sizes, from 1.08 to 3.27, are within 0.5% of that run's, and the
//! 99th percentiles within 2% (until the last ack, with acks before data at NICs).
//!
//! # Cost
//! A few divisions for every ack and port on the path; 330 bytes for every flow, 192 for every
//! packet in memory.

use super::Access;
use super::control::{Congestion, ControlMaker, DriverParams, expected_flows, min_rate};
use super::kind::{Kind, Needs};
use super::preset::Preset;
use super::rates::LineRate;
use super::window::{Ack, CongestionControl, Window};
use crate::telemetry::{Difference, Fields, Telemetry};
use spillway_settings::{Form, Range, Section, SettingsError, Takes, Value};

/// The row of HPCC.
pub(super) const KIND: Kind = Kind {
    id: "hpcc",
    results: 1,
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
    step: Step,
    /// In bits per second.
    min_rate: f64,
    /// Whether every ack changes the window, or only those that set the reference.
    fast_react: bool,
    /// Whether the reference stays for a round trip after the first ack.
    waits: bool,
    units: Units,
    overshoots: bool,
    moves_next: bool,
}

/// What determines the additive increase.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    /// The number of flows that share the line.
    Flows(f64),
    /// A rate.
    Rate(LineRate),
}

/// How exact telemetry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Units {
    Exact,
    /// In units multiplied by the line's rate over 25 Gbps, or by 1 if that is less.
    PerLine,
    Times(u64),
}

/// The defaults that depend on the preset.
struct Defaults {
    max_stage: u64,
    rate_step: &'static str,
    min_rate: &'static str,
    first_reference: [(&'static str, bool); 2],
    telemetry_units: &'static str,
    is_simulator: bool,
}

impl Defaults {
    fn of(preset: Preset) -> Defaults {
        let (second, later) = (("second-ack", false), ("round-trip", true));
        match preset {
            Preset::Paper => Defaults {
                max_stage: 5,
                rate_step: BY_FLOWS,
                min_rate: "100Mbps",
                first_reference: [second, later],
                telemetry_units: "exact",
                is_simulator: false,
            },
            _ => Defaults {
                max_stage: 0,
                rate_step: "0.04%",
                min_rate: "1Gbps",
                first_reference: [later, second],
                telemetry_units: "per-25Gbps",
                is_simulator: true,
            },
        }
    }
}

/// The value of `rate_step` that lets the step follow from `expected_flows`.
pub(crate) const BY_FLOWS: &str = "expected-flows";

impl HpccParams {
    /// The keys that presets set, or that mean nothing with some presets.
    pub const OF_PRESETS: &'static [&'static str] = &[
        "max_stage",
        "rate_step",
        "expected_flows",
        "min_rate",
        "first_reference",
        "telemetry_units",
        "window_overshoots",
        "moves_next",
    ];

    /// Reads the parameters.
    pub fn read(section: &mut Section) -> Result<HpccParams, SettingsError> {
        let defaults = Defaults::of(Preset::read(section, None)?);
        let meaning = "the target utilisation of the busiest port";
        let eta = section.number("eta", 0.95, Range::Positive, meaning)?;
        let meaning = "additive steps before the window is set from the links' utilisation again";
        let max_stage =
            section.integer("max_stage", defaults.max_stage, 0..=1_000_000, meaning)? as u32;
        let step = HpccParams::read_step(section, defaults.rate_step)?;
        let min_rate = min_rate(section, defaults.min_rate)?;
        let meaning = "whether every ack changes the window, or only one in a round trip";
        let fast_react = section.flag("fast_react", true, meaning)?;
        let meaning = "when the window that others are computed from is set first: with the second ack, \
                       or a round trip after the first one";
        let waits = section.choice("first_reference", &defaults.first_reference, meaning)?;
        let units = HpccParams::read_units(section, defaults.telemetry_units)?;
        let meaning = "whether a packet leaves while less than the window is in flight, also if it does \
                       not fit";
        let overshoots = section.flag("window_overshoots", defaults.is_simulator, meaning)?;
        let meaning = "whether a packet that waits for its pace leaves earlier or later when the pace \
                       changes";
        let moves_next = section.flag("moves_next", defaults.is_simulator, meaning)?;
        Ok(HpccParams {
            eta,
            max_stage,
            step,
            min_rate,
            fast_react,
            waits,
            units,
            overshoots,
            moves_next,
        })
    }

    fn read_step(section: &mut Section, default: &str) -> Result<Step, SettingsError> {
        let takes = "a rate such as \"40Mbps\", a share of the line's rate such as \"0.2%\", or \
                     \"expected-flows\"";
        let takes = Takes::new(takes, [LineRate::form(), Form::word(BY_FLOWS)]);
        let rate =
            section.quantity("rate_step", default, takes, "the additive increase", |text| {
                match text {
                    BY_FLOWS => Some(None),
                    _ => LineRate::parse(text).map(Some),
                }
            })?;
        match rate {
            None => Ok(Step::Flows(expected_flows(section)?)),
            Some(rate) => {
                section.needs("rate_step = \"expected-flows\"", &["expected_flows"])?;
                Ok(Step::Rate(rate))
            }
        }
    }

    fn read_units(section: &mut Section, default: &str) -> Result<Units, SettingsError> {
        let times = Form::Integer { least: 1, most: 1_000 };
        let forms = [Form::word("exact"), Form::word("per-25Gbps"), times];
        section.value(
            "telemetry_units",
            default,
            Takes::new("\"exact\", \"per-25Gbps\", or a whole number from 1 to 1000", forms),
            "how telemetry is told: exactly, or in multiples of 80 B queued and 128 B sent and in \
             nanoseconds, where this number, or the line's rate over 25 Gbps, multiplies both units",
            |value| match value {
                Value::String(text) if text == "exact" => Some(Units::Exact),
                Value::String(text) if text == "per-25Gbps" => Some(Units::PerLine),
                Value::Integer(times @ 1..=1_000) => Some(Units::Times(*times as u64)),
                _ => None,
            },
        )
    }

    /// How exact telemetry is for senders on a line of so many bits per second.
    fn fields(&self, line: f64) -> Fields {
        match self.units {
            Units::Exact => Fields::Exact,
            Units::PerLine => Fields::Rounded(((line / 25e9) as u64).max(1)),
            Units::Times(times) => Fields::Rounded(times),
        }
    }
}

/// HPCC's state.
#[derive(Clone, Debug)]
pub struct Hpcc {
    params: HpccParams,
    fields: Fields,
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
            fields: params.fields(access.line_rate()),
            step: match params.step {
                Step::Flows(flows) => most * (1.0 - params.eta).max(0.0) / flows,
                Step::Rate(rate) => rate.of(access.line_rate()) * base_rtt / 8e12,
            },
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

    /// Returns false for the first ack: there is nothing to compare it with.
    fn measure(&mut self, telemetry: &Telemetry) -> bool {
        let (mut most, mut span) = (f64::NEG_INFINITY, 0.0);
        for (now, before) in telemetry.since(&self.before) {
            let Difference { ps, sent_bytes, queue_bytes } = self.fields.compare(now, before);
            if ps == 0 {
                // Rounded times may be the same.
                continue;
            }
            let dt = ps as f64;
            let ps_per_byte = now.ps_per_byte;
            let (queue, sent) = (queue_bytes as f64, sent_bytes as f64);
            let in_use = queue * ps_per_byte / self.base_rtt + sent * ps_per_byte / dt;
            if in_use > most {
                (most, span) = (in_use, dt.min(self.base_rtt));
            }
        }
        self.before.clone_from(telemetry);
        if span > 0.0 {
            let weight = span / self.base_rtt;
            self.in_use = (1.0 - weight) * self.in_use + weight * most;
        }
        span > 0.0
    }
}

impl ControlMaker for HpccParams {
    fn start(&self, window: &mut Window, access: &Access) -> Congestion {
        window.moves_next = self.moves_next;
        if self.overshoots {
            window.cwnd = window.with_overshoot(window.cwnd);
        }
        Congestion::Hpcc(Box::new(Hpcc::new(*self, access)))
    }
}

impl CongestionControl for Hpcc {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let Some(telemetry) = ack.telemetry else { return };
        let HpccParams { eta, max_stage, fast_react, waits, overshoots, .. } = self.params;
        let sets = ack.una > self.set_at;
        if !sets && !fast_react {
            return;
        }
        if !self.measure(telemetry) {
            if waits && self.set_at == 0 {
                self.set_at = ack.nxt;
            }
            return;
        }
        let follows = self.in_use >= eta || self.stage >= max_stage;
        let shrink = if follows { self.in_use / eta } else { 1.0 };
        let next = (self.reference / shrink + self.step).clamp(self.least, self.most);
        let cwnd = if overshoots {
            window.with_overshoot((next as u64).max(1))
        } else {
            next.max(window.mss as f64) as u64
        };
        window.set_paced(cwnd, self.base_rtt / next);
        if sets {
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
    use super::super::tests::{access, transport};
    use super::super::window::tests::{ack, segments};
    use super::*;
    use crate::telemetry::tests::telemetry;

    /// 10 Gbps and 80 us: 100,000 bytes; a step is 500 bytes.
    fn hpcc() -> Hpcc {
        let mut section = Section::new("transport", Default::default());
        let params = HpccParams::read(&mut section).expect("its defaults");
        Hpcc::new(HpccParams { step: Step::Flows(10.0), ..params }, &access(10, 80))
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

    fn read(text: &str) -> HpccParams {
        HpccParams::read(&mut Section::new("transport", text.parse().unwrap())).unwrap()
    }

    fn started(text: &str) -> Hpcc {
        Hpcc::new(read(text), &access(10, 80))
    }

    /// 80 us at 100 Mbps are 1,000 bytes, and at 0.04% of 10 Gbps 40.
    #[test]
    fn the_additive_increase_may_be_a_rate() {
        assert_eq!(started("rate_step = \"100Mbps\"").step, 1_000.0);
        assert_eq!(started("rate_step = \"0.04%\"").step, 40.0);
        // 100,000 bytes times 0.05, for one of 50 flows.
        let step = started("expected_flows = 50").step;
        assert!((step - 100.0).abs() < 1e-9, "{step}");
        let given = "rate_step = \"1Mbps\"\nexpected_flows = 9".parse().unwrap();
        let refused = HpccParams::read(&mut Section::new("transport", given)).unwrap_err();
        let expected = "transport.expected_flows: it needs rate_step = \"expected-flows\"";
        assert_eq!(refused.to_string(), expected);
    }

    /// 20,000 / (0.5 / 0.95) + 1,000 = 39,000, though half of the rate is free.
    #[test]
    fn without_additive_steps_the_window_always_follows_the_use() {
        let mut control = started("max_stage = 0\nrate_step = \"100Mbps\"");
        control.reference = 20_000.0;
        assert_eq!(windows(&mut control, &[(0.5, 1, 100), (0.95, 101, 200)]), [39_000, 40_000]);
    }

    /// The first ack is of the first of 50 segments. Up to the ack of the 51st the reference stays
    /// 50,000: 50,000 / (1 / 0.95) + 500 each time.
    #[test]
    fn the_first_round_trip_may_leave_the_reference() {
        let acks = [(1.0, 2, 51), (1.0, 3, 52), (1.0, 51, 60), (1.0, 52, 100)];
        let after = |text: &str| {
            let text = format!("expected_flows = 10\n{text}");
            let mut control = started(&text);
            control.reference = 50_000.0;
            let mut window = segments(100, 1_000);
            // Nothing to compare with: the window stays.
            let told = telemetry(&[(100, 0, 0)]);
            let first = Ack { telemetry: Some(&told), ..ack(1, 50, false) };
            control.on_ack(&mut window, &first);
            assert_eq!(window.cwnd, 100_000);
            windows(&mut control, &acks)
        };
        // With the second ack 48,000 is the reference, and 46,100 with the fourth.
        assert_eq!(after(""), [48_000, 46_100, 46_100, 46_100]);
        assert_eq!(after("first_reference = \"round-trip\""), [48_000, 48_000, 48_000, 46_100]);
    }

    /// The second ack is for data sent before the window was set: it is left alone, and so is its
    /// telemetry. The third is compared with the first: 1.0 and 0.5 for 100 us each are 0.75.
    #[test]
    fn acks_within_a_round_trip_may_be_left_alone() {
        let mut control = started("fast_react = false\nexpected_flows = 10");
        control.reference = 50_000.0;
        let acks = [(1.0, 1, 51), (1.0, 2, 52), (0.5, 52, 100)];
        // An additive step.
        assert_eq!(windows(&mut control, &acks), [48_000, 48_000, 48_500]);
        assert!((control.in_use - 0.75).abs() < 1e-9, "{}", control.in_use);
    }

    /// With units of 512 and 320 bytes: 9,728 of 10,000 bytes sent, 960 of 1,000 queued, in 8,000
    /// ns.
    #[test]
    fn telemetry_may_be_rounded() {
        let mut control = started("telemetry_units = 4");
        control.measure(&telemetry(&[(100, 2_000, 0)]));
        control.measure(&telemetry(&[(108, 1_000, 10_000)]));
        let expected = 0.9 + 0.1 * (9_728.0 / 10_000.0 + 960.0 / 100_000.0);
        assert!((control.in_use - expected).abs() < 1e-12, "{}", control.in_use);
        let fields = |gbps: f64| read("telemetry_units = \"per-25Gbps\"").fields(gbps * 1e9);
        assert_eq!([10.0, 25.0, 40.0, 100.0].map(fields), [1, 1, 1, 4].map(Fields::Rounded));
        assert_eq!(read("").fields(1e11), Fields::Exact);
    }

    /// A window of 48,000 bytes, with segments of 1,000.
    #[test]
    fn the_window_may_be_overshot_by_less_than_a_segment() {
        let mut control = started("window_overshoots = true\nexpected_flows = 10");
        control.reference = 50_000.0;
        assert_eq!(windows(&mut control, &[(1.0, 1, 51)]), [48_999]);
        let mut window = segments(100, 100);
        read("window_overshoots = true\nmoves_next = true").start(&mut window, &access(10, 80));
        assert_eq!((window.cwnd, window.moves_next), (100_999, true));
        let mut window = segments(100, 100);
        read("").start(&mut window, &access(10, 80));
        assert_eq!((window.cwnd, window.moves_next), (100_000, false));
    }

    #[test]
    fn a_preset_is_the_public_simulator_s() {
        assert_eq!(read("preset = \"paper\""), read(""));
        let expected = "max_stage = 0\nrate_step = \"0.04%\"\nmin_rate = \"1Gbps\"\n\
                        first_reference = \"round-trip\"\ntelemetry_units = \"per-25Gbps\"\n\
                        window_overshoots = true\nmoves_next = true";
        assert_eq!(read("preset = \"simulator\""), read(expected));
        let of = |text: &str| transport(&format!("kind = \"hpcc\"\n{text}"));
        let simulator = of("preset = \"simulator\"");
        assert_eq!((simulator.mss, simulator.header, simulator.ack_size), (1_000, 90, 88));
        assert!(!simulator.closed_loop().unwrap().measures_its_own_way());
        assert!(of("").closed_loop().unwrap().measures_its_own_way());
    }
}

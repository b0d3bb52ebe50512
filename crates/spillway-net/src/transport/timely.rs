//! TIMELY: the sending rate follows the gradient of round trips.
//!
//! # Reference
//! R. Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", ACM SIGCOMM 2015,
//! section 4.3 (Algorithm 1). <https://doi.org/10.1145/2785956.2787510>
//!
//! # Rule
//! Whenever a segment has been acknowledged:
//! D = (1 - alpha) D + alpha (RTT - RTT_before), gradient = D / min RTT.
//!
//! - RTT below T_low: R = R + delta.
//! - RTT above T_high: R = R (1 - beta (1 - T_high / RTT)).
//! - gradient at most 0: R = R + N delta, where N = 5 from the fifth such step in a row on, else 1.
//! - else R = R (1 - beta gradient).
//!
//! # What the paper leaves open
//! - How large a segment is. The paper has 16 to 64 KB; here `segment` is 16 KB. With `segment =
//!   "round-trip"` it is what was in flight, as in the programs of HPCC and PowerTCP. Rates then
//!   react too late if many flows begin at once, because behind a long queue the next update is a
//!   long round trip away.
//! - Bounds of the rate: `min_rate` and the line's rate.
//! - What ends a row of such steps: any step of another kind.
//!
//! # Departures from the paper
//! A flow begins at its line's rate; the paper divides that by the number of flows that its host
//! already has.
//!
//! With `preset = "simulator"` as in the public simulator of HPCC's authors: an update for every
//! round trip (`segment`), delta is 0.1% of the line's rate, all increases in a row count, and not
//! only those by the gradient (`row_counts`), and N is 5 from the sixth on (`hyper_after`); a rate
//! of at least 1 Gbps and no window, not even at first; packets of 1000 bytes of payload and 56 of
//! headers, of which 8 are a timestamp, acks of 60 bytes. Paces and round trips count from when the
//! NIC sends a packet (`pace_from`, `rtt_from`).
//!
//! # Scope and limitations
//! By default a window of the line's rate times the base RTT holds until the rate is first updated,
//! and none after that (`window`): lost segments are retransmitted without a change of the rate,
//! and after a timeout one segment is in flight until the next update. Round-trip times are
//! measured per packet, by its ack. Marks are ignored. Pacing counts bytes on the wire.
//!
//! # Validation
//! Hand arithmetic below. Two, eight and sixteen flows fill a line and keep round trips between the
//! thresholds (`tests/paced.rs`). Whether they share equally is not determined: TIMELY has no
//! unique fixed point (Zhu et al., CoNEXT 2016, doi:10.1145/2999572.2999593). In the published runs
//! of ABM's program the tails of incast flows are matched within 5%; those of short flows are 28%
//! and 38% longer here, and the median of incast flows under DT 26% shorter, for a reason that is
//! not known (docs/validation.md).
//!
//! # Cost
//! A comparison for every ack; 120 bytes for every flow; an event for every packet that has to wait
//! for its pace.

use super::Access;
use super::control::{Congestion, ControlMaker, DriverParams, min_rate};
use super::kind::{Kind, Needs};
use super::preset::Preset;
use super::rates::{LineRate, RateWindow};
use super::window::{Ack, CongestionControl, Window};
use spillway_engine::Time;
use spillway_settings::quantity::Amount;
use spillway_settings::{Range, Section, SettingsError};

/// The row of TIMELY.
pub(super) const KIND: Kind = Kind {
    id: "timely",
    summary: "TIMELY: pace by the gradient of round trips",
    citation: "Mittal et al.: SIGCOMM 2015, doi:10.1145/2785956.2787510",
    needs: Needs { base_rtt: true, ..Needs::OF_PACE },
    read: |section| Ok(DriverParams::of_acks(TimelyParams::read(section)?)),
};

/// TIMELY's parameters; times in picoseconds, rates in bits per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelyParams {
    alpha: f64,
    beta: f64,
    low: f64,
    high: f64,
    min_rtt: f64,
    delta: LineRate,
    min_rate: f64,
    /// In bytes; `None` stands for what is in flight.
    segment: Option<u64>,
    /// Whether every increase counts in a row, and how many of a row come before larger ones.
    all_count: bool,
    hyper_after: u32,
    window: RateWindow,
    /// Whether round trips count from when the NIC begins to send a packet.
    from_nic: bool,
}

/// The defaults that depend on the preset.
struct Defaults {
    rate_step: &'static str,
    min_rate: &'static str,
    segment: &'static str,
    row_counts: [(&'static str, bool); 2],
    hyper_after: u64,
    window: &'static str,
    rtt_from: [(&'static str, bool); 2],
}

impl Defaults {
    fn of(preset: Preset) -> Defaults {
        let (gradient, all) = (("gradient-steps", false), ("increases", true));
        let (host, nic) = (("host", false), ("nic", true));
        match preset {
            Preset::Paper => Defaults {
                rate_step: "10Mbps",
                min_rate: "100Mbps",
                segment: "16KB",
                row_counts: [gradient, all],
                hyper_after: 4,
                window: "start",
                rtt_from: [host, nic],
            },
            Preset::Simulator | Preset::SimulatorPaper => Defaults {
                rate_step: "0.1%",
                min_rate: "1Gbps",
                segment: "round-trip",
                row_counts: [all, gradient],
                hyper_after: 5,
                window: "none",
                rtt_from: [nic, host],
            },
        }
    }
}

impl TimelyParams {
    /// The keys that presets give values.
    pub const OF_PRESETS: &'static [&'static str] =
        &["rate_step", "min_rate", "segment", "row_counts", "hyper_after", "window", "rtt_from"];

    /// Reads the parameters.
    pub fn read(section: &mut Section) -> Result<TimelyParams, SettingsError> {
        let defaults = Defaults::of(Preset::read(section, false)?);
        let meaning = "weight of a new difference of round trips";
        let alpha = section.number("ewma_weight", 0.875, Range::Unit, meaning)?;
        let meaning = "the share of the rate that a gradient of 1 removes";
        let beta = section.number("decrease", 0.8, Range::Unit, meaning)?;
        let ps = |time: Time| time.ps() as f64;
        let low = section.time("t_low", "50us", "round trips below it increase the rate")?;
        let high = section.time("t_high", "500us", "round trips above it cut the rate")?;
        let meaning = "what differences of round trips are divided by";
        let min_rtt = section.positive_time("min_rtt", "20us", meaning)?;
        if low > high {
            let problem = format!("{low} is not valid; it must not be above t_high = {high}");
            return Err(section.error("t_low", problem));
        }
        let delta = LineRate::step(section, defaults.rate_step)?;
        let min_rate = min_rate(section, defaults.min_rate)?;
        let segment = section.quantity(
            "segment",
            defaults.segment,
            "a size such as \"16KB\", or \"round-trip\"",
            "how much data is acknowledged between updates of the rate",
            |text| match Amount::parse(text) {
                _ if text == "round-trip" => Some(None),
                Some(Amount::Bytes(bytes @ 1..)) => Some(Some(bytes)),
                _ => None,
            },
        )?;
        let meaning = "which steps make a row, after some of which they are five times as large: those by \
                       the gradient, or all increases";
        let all_count = section.choice("row_counts", &defaults.row_counts, meaning)?;
        let meaning = "steps in a row after which they are five times as large";
        let hyper_after =
            section.integer("hyper_after", defaults.hyper_after, 0..=1_000_000, meaning)? as u32;
        let window = RateWindow::read_for_start(section, defaults.window)?;
        let meaning = "from when round trips count: from when a packet goes to the NIC, or from when the NIC \
                       begins to send it";
        let from_nic = section.choice("rtt_from", &defaults.rtt_from, meaning)?;
        Ok(TimelyParams {
            alpha,
            beta,
            low: ps(low),
            high: ps(high),
            min_rtt: ps(min_rtt),
            delta,
            min_rate,
            segment,
            all_count,
            hyper_after,
            window,
            from_nic,
        })
    }
}

/// TIMELY's state.
#[derive(Clone, Copy, Debug)]
pub struct Timely {
    params: TimelyParams,
    /// The rate of the host's line, and the additive increase.
    most: f64,
    delta: f64,
    rate: f64,
    rtt_before: Option<f64>,
    difference: f64,
    /// The number of steps of the third kind in a row.
    row: u32,
    /// The next update comes when this byte is acknowledged.
    due_at: u64,
    /// The window at the line's rate.
    at_line: f64,
}

impl Timely {
    /// The state of a flow that starts.
    pub fn new(params: TimelyParams, access: &Access) -> Timely {
        let most = access.rate.bits_per_second() as f64;
        Timely {
            params,
            most,
            delta: params.delta.of(most),
            rate: most,
            rtt_before: None,
            difference: 0.0,
            row: 0,
            due_at: 0,
            at_line: params.window.at_line(access),
        }
    }

    fn update(&mut self, rtt: f64) {
        let TimelyParams { alpha, beta, low, high, min_rtt, min_rate, .. } = self.params;
        let delta = self.delta;
        let Some(before) = self.rtt_before.replace(rtt) else { return };
        self.difference = (1.0 - alpha) * self.difference + alpha * (rtt - before);
        let gradient = self.difference / min_rtt;
        let row = std::mem::take(&mut self.row);
        let rate = if rtt < low && !self.params.all_count {
            self.rate + delta
        } else if rtt > high {
            self.rate * (1.0 - beta * (1.0 - high / rtt))
        } else if gradient <= 0.0 || rtt < low {
            self.row = row.saturating_add(1);
            let times = if self.row > self.params.hyper_after { 5.0 } else { 1.0 };
            self.rate + times * delta
        } else {
            self.rate * (1.0 - beta * gradient)
        };
        self.rate = rate.clamp(min_rate.min(self.most), self.most);
    }
}

impl ControlMaker for TimelyParams {
    fn start(&self, window: &mut Window, access: &Access) -> Congestion {
        let control = Timely::new(*self, access);
        if !self.window.is_for_start() {
            self.window.set(window, control.at_line, control.rate, control.most);
        }
        Congestion::Timely(Box::new(control))
    }

    fn times_from_nic(&self) -> bool {
        self.from_nic
    }

    fn segment(&self) -> Option<u64> {
        self.segment
    }
}

impl CongestionControl for Timely {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if ack.una <= self.due_at || ack.acked == 0 {
            return;
        }
        self.due_at = self.params.segment.map_or(ack.nxt, |segment| ack.una + segment - 1);
        self.update(ack.rtt.ps() as f64);
        self.params.window.set(window, self.at_line, self.rate, self.most);
    }

    fn on_loss(&mut self, window: &mut Window, _in_flight: u64) {
        window.ssthresh = window.cwnd;
    }

    fn on_timeout(&mut self, window: &mut Window, _in_flight: u64) {
        self.due_at = 0;
        window.ssthresh = window.cwnd;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{access, transport};
    use super::*;

    const US: f64 = 1e6;

    fn timely() -> Timely {
        let mut section = Section::new("transport", Default::default());
        let params = TimelyParams::read(&mut section).expect("its defaults");
        Timely { rate: 5e9, ..Timely::new(params, &access(10, 80)) }
    }

    fn after(control: &mut Timely, rtts: &[f64]) -> f64 {
        rtts.iter().for_each(|rtt| control.update(rtt * US));
        control.rate / 1e6
    }

    #[test]
    fn below_the_low_threshold_the_rate_rises_whatever_the_gradient() {
        assert_eq!(after(&mut timely(), &[30.0, 49.0, 20.0]), 5_020.0);
    }

    #[test]
    fn above_the_high_threshold_it_falls_by_the_excess() {
        // 1 - 0.8 (1 - 500 / 1000) = 0.6.
        assert_eq!(after(&mut timely(), &[1000.0, 1000.0]), 3_000.0);
    }

    #[test]
    fn between_them_the_gradient_decides() {
        // From 100 to 102 us: D = 0.875 * 2 = 1.75 us, gradient 0.0875: 5000 (1 - 0.07) = 4650.
        let mut control = timely();
        assert!((after(&mut control, &[100.0, 102.0]) - 4_650.0).abs() < 1e-6);
        // Back to 100: D = 0.125 * 1.75 - 1.75 < 0, so 10 are added, and 50 from the fifth step on.
        assert!((after(&mut control, &[100.0, 100.0, 100.0, 100.0]) - 4_690.0).abs() < 1e-6);
        assert!((after(&mut control, &[100.0, 100.0]) - 4_790.0).abs() < 1e-6);
        // A rise ends the row.
        after(&mut control, &[140.0]);
        assert_eq!(control.row, 0);
    }

    #[test]
    fn the_rate_stays_within_its_bounds() {
        let mut control = timely();
        after(&mut control, &[100.0, 400.0, 400.0]);
        assert_eq!(control.rate, 1e8);
        control.rate = 9.995e9;
        assert_eq!(after(&mut control, &[30.0]), 10_000.0);
    }

    fn read(text: &str) -> TimelyParams {
        TimelyParams::read(&mut Section::new("transport", text.parse().unwrap())).unwrap()
    }

    fn at_half(text: &str) -> Timely {
        Timely { rate: 5e9, ..Timely::new(read(text), &access(10, 80)) }
    }

    /// Below the low threshold and by the gradient: five of 10 Mbps, and from the sixth on 50.
    #[test]
    fn all_increases_may_make_a_row() {
        let mut control = at_half("row_counts = \"increases\"\nhyper_after = 5");
        assert_eq!(after(&mut control, &[100.0, 100.0, 100.0, 40.0, 40.0, 40.0]), 5_050.0);
        assert_eq!(after(&mut control, &[40.0, 40.0]), 5_150.0);
        // By default round trips below the low threshold end a row, and the fifth step is larger.
        let mut control = at_half("");
        let steady = [100.0; 6];
        assert_eq!(after(&mut control, &steady), 5_090.0);
        assert_eq!(after(&mut control, &[40.0, 40.0]), 5_110.0);
        assert_eq!(control.row, 0);
    }

    /// What the line carries in a base RTT of 80 us are 100,000 bytes.
    #[test]
    fn a_window_lasts_for_the_start_or_for_ever_or_is_not_there() {
        use super::super::window::tests::{ack, segments};
        let cwnd = |text: &str| {
            let mut window = segments(100, 100);
            let mut control = read(text).start(&mut window, &access(10, 80));
            let first = window.cwnd;
            // The first round trip is only noted; the second, of no time, raises the rate.
            control.on_ack(&mut window, &ack(1, 100, false));
            control.on_ack(&mut window, &ack(101, 200, false));
            (first, window.cwnd)
        };
        assert_eq!(cwnd(""), (100_000, Window::UNLIMITED));
        assert_eq!(cwnd("window = \"none\""), (Window::UNLIMITED, Window::UNLIMITED));
        assert_eq!(cwnd("window = \"8KB\""), (8_999, 8_999));
    }

    #[test]
    fn a_preset_is_the_public_simulator_s() {
        assert_eq!(read("preset = \"paper\""), read(""));
        let expected = "rate_step = \"0.1%\"\nmin_rate = \"1Gbps\"\nsegment = \"round-trip\"\n\
                        row_counts = \"increases\"\nhyper_after = 5\nwindow = \"none\"\n\
                        rtt_from = \"nic\"";
        assert_eq!(read("preset = \"simulator\""), read(expected));
        let simulator = transport("kind = \"timely\"\npreset = \"simulator\"");
        assert_eq!((simulator.mss, simulator.header, simulator.ack_size), (1_000, 56, 60));
        let of_path = |text: &str| {
            transport(&format!("kind = \"timely\"\n{text}"))
                .closed_loop()
                .unwrap()
                .measures_its_own_way()
        };
        assert!(
            !of_path("") && !of_path("preset = \"simulator\"") && of_path("base_rtt = \"flow\"")
        );
        // 100 Mbps at 100 Gbps.
        assert_eq!(read("preset = \"simulator\"").delta.of(1e11), 1e8);
    }
}

//! TIMELY's settings.

use crate::InitialWindow;
use crate::control::min_rate;
use crate::preset::Preset;
use crate::rates::{LineRate, RateWindow};
use crate::recovery;
use spillway_engine::Time;
use spillway_settings::quantity::Amount;
use spillway_settings::{Form, Range, Section, SettingsError, Takes};

/// TIMELY's parameters; times in picoseconds, rates in bits per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimelyParams {
    pub(super) alpha: f64,
    pub(super) beta: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) min_rtt: f64,
    pub(super) delta: LineRate,
    pub(super) min_rate: f64,
    pub(super) segment: Segment,
    /// Whether every increase counts in a row, and how many increases of a row come before larger
    /// ones.
    pub(super) all_count: bool,
    pub(super) hyper_after: u32,
    /// The larger increase. `None` stands for five times the usual one.
    pub(super) large_step: Option<LineRate>,
    pub(super) window: RateWindow,
    pub(super) initial: InitialWindow,
    /// Whether a window that there is only at first ends with the first ack, rather than when the
    /// rate is first set.
    pub(super) ends_with_ack: bool,
    /// Whether round trips count from when the NIC begins to send a packet.
    pub(super) from_nic: bool,
    /// Whether the smoothed difference is kept in unsigned nanoseconds.
    pub(super) unsigned: bool,
    /// Whether the first ack after a timeout updates the rate.
    pub(super) after_timeout: bool,
    /// Whether in a recovery only retransmissions are sent until the rate is updated.
    pub(super) stalls: bool,
    pub(super) paces_payload: bool,
    pub(super) repairs_wait: bool,
    pub(super) moves_next: bool,
}

/// Which bytes are acknowledged between two updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Segment {
    Bytes(u64),
    /// All bytes that had been sent at the first of them.
    RoundTrip,
    /// As `RoundTrip`, but during a retransmission only up to the byte that was sent last.
    LastSent,
}

/// The defaults that depend on the preset.
struct Defaults {
    t_low: &'static str,
    min_rtt: &'static str,
    rate_step: &'static str,
    min_rate: &'static str,
    segment: &'static str,
    row_counts: [(&'static str, bool); 2],
    hyper_after: u64,
    large_step: &'static str,
    window: &'static str,
    start_window: &'static str,
    rtt_from: [(&'static str, bool); 2],
    /// Whether everything else is as in ABM's program.
    is_abm: bool,
}

const ROUND_TRIP: &str = "round-trip";
const LAST_SENT: &str = "last-sent";
const FIVE_STEPS: &str = "5steps";
const NEEDS_NS3: &str = "this value needs recovery = \"ns3\"";

/// The default of the window at first.
const ONE_BDP: &str = "1bdp";

impl Defaults {
    fn of(preset: Preset) -> Defaults {
        let (gradient, all) = (("gradient-steps", false), ("increases", true));
        let (host, nic) = (("host", false), ("nic", true));
        let of_paper = Defaults {
            t_low: "50us",
            min_rtt: "20us",
            rate_step: "10Mbps",
            min_rate: "100Mbps",
            segment: "16KB",
            row_counts: [gradient, all],
            hyper_after: 4,
            large_step: FIVE_STEPS,
            window: "start",
            start_window: ONE_BDP,
            rtt_from: [host, nic],
            is_abm: false,
        };
        match preset {
            Preset::Paper => of_paper,
            Preset::Abm => Defaults {
                t_low: "200us",
                min_rtt: "80us",
                rate_step: "100Mbps",
                segment: "last-sent",
                row_counts: [all, gradient],
                hyper_after: 5,
                large_step: "150Mbps",
                start_window: "55pkt",
                is_abm: true,
                ..of_paper
            },
            Preset::Simulator | Preset::SimulatorPaper => Defaults {
                rate_step: "0.1%",
                min_rate: "1Gbps",
                segment: "round-trip",
                row_counts: [all, gradient],
                hyper_after: 5,
                window: "none",
                rtt_from: [nic, host],
                ..of_paper
            },
        }
    }
}

impl TimelyParams {
    /// The keys that presets give values.
    pub const OF_PRESETS: &'static [&'static str] = &[
        "rate_step",
        "min_rate",
        "segment",
        "row_counts",
        "hyper_after",
        "large_step",
        "window",
        "rtt_from",
        "kept_difference",
        "update_after_timeout",
        "recovery_window",
        "pace_counts",
        "repairs_wait",
        "moves_next",
    ];

    /// The keys that only the preset of ABM's program sets.
    pub const OF_ABM: &'static [&'static str] = &["t_low", "min_rtt"];

    /// Reads the parameters.
    pub fn read(section: &mut Section) -> Result<TimelyParams, SettingsError> {
        let defaults = Defaults::of(Preset::read(section, Some(Preset::Abm))?);
        let meaning = "weight of a new difference of round trips";
        let alpha = section.number("ewma_weight", 0.875, Range::Unit, meaning)?;
        let meaning = "the share of the rate that a gradient of 1 removes";
        let beta = section.number("decrease", 0.8, Range::Unit, meaning)?;
        let ps = |time: Time| time.ps() as f64;
        let low =
            section.time("t_low", defaults.t_low, "round trips below it increase the rate")?;
        let high = section.time("t_high", "500us", "round trips above it cut the rate")?;
        let meaning = "what differences of round trips are divided by";
        let min_rtt = section.positive_time("min_rtt", defaults.min_rtt, meaning)?;
        if low > high {
            let problem = format!("{low} is not valid; it must not be above t_high = {high}");
            return Err(section.conflict("t_low", problem));
        }
        let delta = LineRate::step(section, defaults.rate_step)?;
        let min_rate = min_rate(section, defaults.min_rate)?;
        let as_ns3 = recovery::chosen(section.peek(recovery::KEY)) == "ns3";
        let segment = Segment::read(section, defaults.segment, as_ns3)?;
        let meaning = "which steps make a row, after some of which they are larger: those by the gradient, or \
                       all increases";
        let all_count = section.choice("row_counts", &defaults.row_counts, meaning)?;
        let meaning = "steps in a row after which they are larger";
        let hyper_after =
            section.integer("hyper_after", defaults.hyper_after, 0..=1_000_000, meaning)? as u32;
        let takes = "a rate such as \"40Mbps\", a share of the line's rate such as \"0.2%\", or \"5steps\" for \
                     five times `rate_step`";
        let takes = Takes::new(takes, [LineRate::form(), Form::word(FIVE_STEPS)]);
        let meaning = "the larger additive increase";
        let large_step =
            section.quantity("large_step", defaults.large_step, takes, meaning, |text| {
                if text == FIVE_STEPS { Some(None) } else { LineRate::parse(text).map(Some) }
            })?;
        let window = RateWindow::read_for_start(section, defaults.window)?;
        let (initial, ends_with_ack) = if window.is_for_start() {
            TimelyParams::read_start(section, &defaults)?
        } else {
            (InitialWindow::LineRate, true)
        };
        let meaning = "from when round trips count: from when a packet goes to the NIC, or from when the NIC \
                       begins to send it";
        let from_nic = section.choice("rtt_from", &defaults.rtt_from, meaning)?;
        let by_preset =
            |exact, of_abm| if defaults.is_abm { [of_abm, exact] } else { [exact, of_abm] };
        let meaning = "how the smoothed difference of round trips is kept: exactly, or as ABM's program does, \
                       in an unsigned number of nanoseconds, where a negative one is 2^64 more";
        let ways = by_preset(("exact", false), ("unsigned-ns", true));
        let unsigned = section.choice("kept_difference", &ways, meaning)?;
        let meaning = "whether the first ack after a timeout updates the rate; otherwise an update is due when \
                       it was before";
        let after_timeout = section.flag("update_after_timeout", !defaults.is_abm, meaning)?;
        let stalls = TimelyParams::read_stalls(section, defaults.is_abm && as_ns3, as_ns3)?;
        let meaning = "which bytes of a packet a pace counts";
        let ways = by_preset(("wire", false), ("payload", true));
        let paces_payload = section.choice("pace_counts", &ways, meaning)?;
        let meaning = "whether the first retransmission of a repair, which any window lets go, waits for the \
                       pace";
        let repairs_wait = section.flag("repairs_wait", !defaults.is_abm, meaning)?;
        let meaning = "whether a packet that waits for its pace leaves earlier or later when the pace changes";
        let moves_next = section.flag("moves_next", defaults.is_abm, meaning)?;
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
            large_step,
            window,
            initial,
            ends_with_ack,
            from_nic,
            unsigned,
            after_timeout,
            stalls,
            paces_payload,
            repairs_wait,
            moves_next,
        })
    }

    /// Reads the window at first, and whether it ends with the first ack.
    fn read_start(
        section: &mut Section,
        defaults: &Defaults,
    ) -> Result<(InitialWindow, bool), SettingsError> {
        let initial = section.quantity(
            "start_window",
            defaults.start_window,
            InitialWindow::takes(),
            InitialWindow::MEANING,
            |text| match text {
                ONE_BDP => Some(InitialWindow::LineRate),
                _ => InitialWindow::parse(text),
            },
        )?;
        let meaning = "when the window at the start ends: with the first ack, or when the rate is first set, \
                       which is about a round trip later";
        let (ack, rate) = (("first-ack", true), ("first-update", false));
        let ways = if defaults.is_abm { [rate, ack] } else { [ack, rate] };
        Ok((initial, section.choice("start_ends", &ways, meaning)?))
    }

    fn read_stalls(
        section: &mut Section,
        default: bool,
        as_ns3: bool,
    ) -> Result<bool, SettingsError> {
        let meaning = "the window in a recovery: that before it; or what is in flight, until the rate is \
                       updated or the recovery ends, as with ns-3's rate reduction to no lower window";
        let (kept, stalled) = (("kept", false), ("in-flight", true));
        let ways = if default { [stalled, kept] } else { [kept, stalled] };
        let stalls = section.choice("recovery_window", &ways, meaning)?;
        if stalls && !as_ns3 {
            return Err(section.conflict("recovery_window", NEEDS_NS3));
        }
        Ok(stalls)
    }
}

impl Segment {
    fn read(section: &mut Section, default: &str, as_ns3: bool) -> Result<Segment, SettingsError> {
        let default = if default == LAST_SENT && !as_ns3 { ROUND_TRIP } else { default };
        let takes = "a size such as \"16KB\", \"round-trip\", or \"last-sent\" for a round trip that ends in \
                     a repair with what was sent last";
        let forms = [Form::size().positive(), Form::word(ROUND_TRIP), Form::word(LAST_SENT)];
        let segment = section.quantity(
            "segment",
            default,
            Takes::new(takes, forms),
            "how much data is acknowledged between updates of the rate",
            |text| match (text, Amount::parse(text)) {
                (ROUND_TRIP, _) => Some(Segment::RoundTrip),
                (LAST_SENT, _) => Some(Segment::LastSent),
                (_, Some(Amount::Bytes(bytes @ 1..))) => Some(Segment::Bytes(bytes)),
                _ => None,
            },
        )?;
        if segment == Segment::LastSent && !as_ns3 {
            return Err(section.conflict("segment", NEEDS_NS3));
        }
        Ok(segment)
    }
}

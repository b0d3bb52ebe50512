//! DCQCN: a rate that congestion notifications cut, and that a timer and a byte counter raise.
//!
//! Senders begin at their line's rate. A receiver answers marked packets by notifications, few
//! enough for the rate to be cut once in a while, by more where they come often.
//!
//! # Reference
//! Y. Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", ACM SIGCOMM 2015, section
//! 3.1. <https://doi.org/10.1145/2785956.2787484>
//!
//! # Rule
//! **Congestion point.** Switches mark as RED does on the queue's length (`aqm = "red"`).
//!
//! **Notification point.** A receiver that gets a marked packet sends a notification (CNP), unless
//! it sent one for that flow less than `cnp_interval` ago.
//!
//! **Reaction point.** The sender has a rate R_C, a target R_T and an estimate alpha. A
//! notification cuts:
//!
//! R_T = R_C, R_C = R_C (1 - alpha / 2), alpha = (1 - g) alpha + g.
//!
//! Whenever `alpha_interval` passes without one: alpha = (1 - g) alpha. From the cut on, the rate
//! is increased every `increase_timer`, and every `byte_counter` bytes. T and B are the numbers of
//! these increases since the cut, the present one included, and F is `fast_recovery`:
//!
//! - both at most F: fast recovery, R_T stays;
//! - both above H (`hyper_after`): hyper increase, R_T = R_T + i R_HAI, where i = min(T, B) - H;
//! - else additive increase: R_T = R_T + R_AI.
//!
//! Then R_C = (R_C + R_T) / 2. R_T is at most the line's rate, R_C at least `min_rate`.
//!
//! # Presets
//! - `paper`: g = 1/256, 50 us between notifications, 55 us for alpha and the timer, 10 MB, F = H =
//!   5, R_AI = 40 Mbps.
//! - `simulator`: the values with which the public simulator of HPCC's authors is run. Each ack of
//!   a marked packet is a notification (`cnp = "ack-flag"`). From the first one on, alpha is
//!   updated every microsecond, by whether there was one since; and every 4 us the rate is cut, if
//!   there was one since. So the first cut comes 4 us late, with an alpha of less than 1. There is
//!   no byte counter: 300 us after a cut the rate returns half of the way, 300 us later the target
//!   rises by 0.02% of the line's rate, and then by 0.2% every 300 us. A cut leaves the target
//!   where it is, if nothing has increased the rate since the cut before. Packets have 1000 bytes
//!   of payload and 48 of headers, acks 60. The pace counts from when the NIC sends a packet
//!   (`pace_from`).
//! - `simulator-paper`: the same, with 50 us for alpha and cuts, and 55 us for the timer.
//!
//! # What the paper leaves open
//! - R_HAI: 200 Mbps, as in the settings that its authors' program (bobzhuyb/ns3-rdma) came with.
//! - The least rate: 100 Mbps.
//! - Whether a step counts itself among the F steps of fast recovery. Here F steps leave the target
//!   where it is. The authors' program has F - 1 of them, and hyper increases from the F-th step of
//!   both counters on: `fast_recovery = 4`, `hyper_after = 4`. It also raises alpha before it cuts
//!   (`alpha_first`), keeps the target unless its byte counter has increased the rate
//!   (`clamp_target`), divides a target of more than ten times the rate by 8 at first
//!   (`shrink_target`), and halves timer and counter in hyper increase (`hyper_halves`).
//! - The size of a notification: 60 bytes, of IP 20, UDP 8, RoCEv2 12 + 16 + 4.
//! - What bytes are counted: those on the wire, as for the pace.
//!
//! # Departures from the paper
//! None known by default.
//! In the simulator the first cut is considered a nanosecond later than here, to come after alpha's
//! update of that time; here that one comes first in any case. The simulator rounds rates to whole
//! bits per second and times to nanoseconds.
//!
//! # Scope and limitations
//! A flow has a rate of its own; the NIC serves the packets that its flows have sent as it serves
//! others'. A new rate applies from the next packet on: one that waits for its pace keeps its time.
//! Timers are no events: what they do is done when a packet is sent, or an ack or a notification
//! comes, with the time at which it was due. So a window that grows with the rate (`vary_window`)
//! is noticed then. Losses are found and repaired as `recovery` says, and do not change the
//! rate; after a timeout one segment is in flight until the next ack. Pacing counts bytes on the
//! wire, to a picosecond for each packet.
//!
//! # In composition
//! Marks alone cut its rate. Without an AQM that marks, or where a sharing policy refuses queues
//! that are too short to be marked, it sends on as fast as before, repairs with it. Where marks are
//! by queue, a flow's rate answers to those of all its levels. `pfc` keeps its packets from being
//! lost, and pauses cut no rate.
//!
//! # Validation
//! Hand arithmetic in `dcqcn/reaction.rs`, and a second implementation with an event for
//! everything, over random sequences (`dcqcn/naive.rs`). Notifications and paces end to end, to the
//! picosecond (`tests/dcqcn.rs`). 20 endless flows over a line of 40 Gbps and 2 us (PRED, appendix
//! D.1), marked with a slope of 2 per MB from 5 KB on: with `simulator` a queue of 18.5 KB on
//! average between 50 and 100 ms, and 18.5 KB in the public simulator; with `simulator-paper` and
//! 1% at 200 KB 146.0 KB, and 145.4 KB there (means over six seeds, and one run of the simulator).
//! 2,000 flows of websearch at 50% on a leaf-spine network, each on its path: the mean slowdowns of
//! five classes of sizes, from 2.5 to 3.5, are 0% to 7% above that simulator's.
//!
//! # Cost
//! A comparison for every packet, and a few operations for every time that a timer expires; 300
//! bytes for every flow, 8 of them at the receiver.

#[cfg(test)]
mod naive;
mod reaction;

use super::Access;
use super::control::{Congestion, ControlMaker, DriverParams, min_rate};
use super::kind::{Ecn, Kind, Needs};
use super::preset::Preset;
use super::rates::{LineRate, RateWindow};
use super::receiver::{EcnEcho, Notifications};
use super::size;
use super::window::{Ack, CongestionControl, Window};
use reaction::{Clamp, ReactionPoint, Rules};
use spillway_engine::Time;
use spillway_settings::{Form, Takes, quantity};
use spillway_settings::{Range, Section, SettingsError};

/// The row of DCQCN.
pub(super) const KIND: Kind = Kind {
    id: "dcqcn",
    results: 1,
    summary: "DCQCN: a rate that congestion notifications cut, for RDMA",
    citation: "Zhu et al.: SIGCOMM 2015, doi:10.1145/2785956.2787484",
    needs: Needs { base_rtt: true, ecn: Ecn::Always, echo: EcnEcho::PerPacket, ..Needs::OF_PACE },
    read: |section| Ok(DriverParams::of_acks(DcqcnParams::read(section)?)),
};

/// The least time between two expiries of a timer: runs would take very long otherwise.
const SHORTEST: Time = Time::from_ns(100);

/// DCQCN's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DcqcnParams {
    /// The rules, except for rates that may depend on the line's rate.
    rules: Rules,
    step: LineRate,
    hyper_step: LineRate,
    window: RateWindow,
    /// `None` if acks of marked packets are the notifications.
    notifications: Option<Notifications>,
}

/// The defaults that depend on the preset.
struct Defaults {
    alpha_interval: &'static str,
    timers: [(&'static str, bool); 2],
    first_cut: [(&'static str, bool); 2],
    decrease_interval: &'static str,
    clamp_target: [(&'static str, Clamp); 3],
    increase_timer: &'static str,
    byte_counter: &'static str,
    fast_recovery: u64,
    hyper_after: u64,
    rate_step: &'static str,
    hyper_step: &'static str,
    hyper_grows: bool,
    min_rate: &'static str,
    cnp: [(&'static str, bool); 2],
}

impl Defaults {
    fn of(preset: Preset) -> Defaults {
        let from_cut = ("from-cut", false);
        let free = ("free-running", true);
        let (at_once, later) = (("at-once", true), ("after-interval", false));
        let always = ("always", Clamp::Always);
        let after_increase = ("after-increase", Clamp::AfterIncrease);
        let after_bytes = ("after-byte-counter", Clamp::AfterByteCounter);
        let (packet, flag) = (("packet", true), ("ack-flag", false));
        let simulator = Defaults {
            alpha_interval: "1us",
            timers: [free, from_cut],
            first_cut: [later, at_once],
            decrease_interval: "4us",
            clamp_target: [after_increase, always, after_bytes],
            increase_timer: "300us",
            byte_counter: "none",
            fast_recovery: 1,
            hyper_after: 2,
            rate_step: "0.02%",
            hyper_step: "0.2%",
            hyper_grows: false,
            min_rate: "1Gbps",
            cnp: [flag, packet],
        };
        match preset {
            Preset::Paper => Defaults {
                alpha_interval: "55us",
                timers: [from_cut, free],
                first_cut: [at_once, later],
                decrease_interval: "0us",
                clamp_target: [always, after_increase, after_bytes],
                increase_timer: "55us",
                byte_counter: "10MB",
                fast_recovery: 5,
                hyper_after: 5,
                rate_step: "40Mbps",
                hyper_step: "200Mbps",
                hyper_grows: true,
                min_rate: "100Mbps",
                cnp: [packet, flag],
            },
            Preset::Simulator => simulator,
            _ => Defaults {
                alpha_interval: "50us",
                decrease_interval: "50us",
                increase_timer: "55us",
                ..simulator
            },
        }
    }
}

impl DcqcnParams {
    /// The keys that presets give values.
    pub const OF_PRESETS: &'static [&'static str] = &[
        "alpha_interval",
        "timers",
        "first_cut",
        "decrease_interval",
        "clamp_target",
        "increase_timer",
        "byte_counter",
        "fast_recovery",
        "hyper_after",
        "rate_step",
        "hyper_step",
        "hyper_grows",
        "min_rate",
        "cnp",
    ];

    /// The keys of notifications that are packets.
    pub const OF_PACKETS: &'static [&'static str] = &["cnp_interval", "cnp_size"];

    /// Reads the parameters.
    pub fn read(section: &mut Section) -> Result<DcqcnParams, SettingsError> {
        let defaults = Defaults::of(Preset::read(section, Some(Preset::SimulatorPaper))?);
        let g = section.number("g", 1.0 / 256.0, Range::Unit, "weight of a new sample in alpha")?;
        let alpha0 = section.number("alpha0", 1.0, Range::Unit, "alpha before any sample")?;
        let meaning =
            "how often alpha is updated: after this time without a notification, or always";
        let alpha_interval = timer(section, "alpha_interval", defaults.alpha_interval, meaning)?;
        let meaning = "whether a notification raises alpha before it cuts";
        let alpha_first = section.flag("alpha_first", false, meaning)?;
        let meaning = "when alpha and the rate change: with notifications and some time after them, \
                       or at fixed times after the first one";
        let free_running = section.choice("timers", &defaults.timers, meaning)?;
        let meaning = "when the first notification cuts the rate";
        let cuts_at_once = section.choice("first_cut", &defaults.first_cut, meaning)?;
        let meaning = "the least time between two cuts";
        let decrease_interval =
            section.time("decrease_interval", defaults.decrease_interval, meaning)?;
        if free_running && decrease_interval < SHORTEST {
            let problem = format!(
                "{decrease_interval} is not valid with timers = \"free-running\"; the least is {SHORTEST}"
            );
            return Err(section.conflict("decrease_interval", problem));
        }
        let meaning = "when a cut makes the rate before it the target: always, or if something, or the \
                       byte counter, has increased the rate since the cut before";
        let clamp = section.choice("clamp_target", &defaults.clamp_target, meaning)?;
        let meaning = "whether the first increase after a cut divides a target of more than ten times \
                       the rate by 8";
        let shrinks_target = section.flag("shrink_target", false, meaning)?;
        let meaning = "how often the rate is increased, counted from the last cut";
        let increase_timer = timer(section, "increase_timer", defaults.increase_timer, meaning)?;
        let forms = [Form::size().positive(), Form::word("none")];
        let byte_counter = section.quantity(
            "byte_counter",
            defaults.byte_counter,
            Takes::new("a size above 0 such as \"10MB\", or \"none\"", forms),
            "bytes on the wire after which the rate is increased",
            |text| match text {
                "none" => Some(None),
                _ => quantity::size(text).filter(|&bytes| bytes > 0).map(Some),
            },
        )?;
        let mut steps =
            |key, default, meaning| section.integer(key, default, 0..=1_000_000, meaning);
        let meaning = "increases by timer and by bytes, each, that leave the target where it is";
        let fast_recovery = steps("fast_recovery", defaults.fast_recovery, meaning)? as u32;
        let meaning = "increases by timer and by bytes, each, after which the target rises by \
                       `hyper_step`";
        let hyper_after = steps("hyper_after", defaults.hyper_after, meaning)? as u32;
        let step = LineRate::step(section, defaults.rate_step)?;
        let meaning = "the hyper increase of the rate";
        let hyper_step = section.quantity(
            "hyper_step",
            defaults.hyper_step,
            LineRate::takes(),
            meaning,
            LineRate::parse,
        )?;
        let meaning = "whether hyper increases are once, twice, three times, ... `hyper_step`";
        let hyper_grows = section.flag("hyper_grows", defaults.hyper_grows, meaning)?;
        let meaning = "whether timer and byte counter are halved in hyper increase";
        let hyper_halves = section.flag("hyper_halves", false, meaning)?;
        let min_rate = min_rate(section, defaults.min_rate)?;
        let window = RateWindow::read(section, "none", false)?;
        let notifications = notifications(section, &defaults.cnp)?;
        let rules = Rules {
            line: 0.0,
            g,
            alpha0,
            alpha_interval,
            alpha_first,
            free_running,
            cuts_at_once,
            decrease_interval,
            clamp,
            shrinks_target,
            increase_timer,
            byte_counter,
            fast_recovery,
            hyper_after,
            step: 0.0,
            hyper_step: 0.0,
            hyper_grows,
            hyper_halves,
            min_rate,
        };
        Ok(DcqcnParams { rules, step, hyper_step, window, notifications })
    }
}

/// The time between expiries of a timer.
fn timer(
    section: &mut Section,
    key: &'static str,
    default: &str,
    meaning: &'static str,
) -> Result<Time, SettingsError> {
    let takes = "a time from 100ns on, such as \"55us\"";
    let takes = Takes::new(takes, [Form::time().positive()]);
    let parse = |text: &str| quantity::time(text).filter(|&time| time >= SHORTEST);
    section.quantity(key, default, takes, meaning, parse)
}

/// How senders learn of marks: by packets, if not by their acks.
fn notifications(
    section: &mut Section,
    options: &[(&str, bool)],
) -> Result<Option<Notifications>, SettingsError> {
    let meaning = "how senders learn of marks: by notifications of their own, or by each ack of a \
                   marked packet";
    if !section.choice("cnp", options, meaning)? {
        section.needs("cnp = \"packet\"", DcqcnParams::OF_PACKETS)?;
        return Ok(None);
    }
    let meaning = "the least time between two notifications of a flow";
    let interval = section.time("cnp_interval", "50us", meaning)?;
    let meaning = "bytes of a notification on the wire";
    let size = size(section, "cnp_size", "60B", 1..=1500, meaning)?;
    Ok(Some(Notifications { interval, size }))
}

/// DCQCN's state.
#[derive(Clone, Copy, Debug)]
pub struct Dcqcn {
    point: ReactionPoint,
    line: f64,
    window: RateWindow,
    /// The window at the line's rate.
    at_line: f64,
    /// Whether acks of marked packets are notifications.
    by_acks: bool,
}

impl Dcqcn {
    fn set(&self, window: &mut Window) {
        self.window.set(window, self.at_line, self.point.rate(), self.line);
    }
}

impl ControlMaker for DcqcnParams {
    fn start(&self, window: &mut Window, access: &Access) -> Congestion {
        let line = access.line_rate();
        let rules = Rules {
            line,
            step: self.step.of(line),
            hyper_step: self.hyper_step.of(line),
            min_rate: self.rules.min_rate.min(line),
            ..self.rules
        };
        let control = Dcqcn {
            point: ReactionPoint::new(rules),
            line,
            window: self.window,
            at_line: self.window.at_line(access),
            by_acks: self.notifications.is_none(),
        };
        control.set(window);
        Congestion::Dcqcn(Box::new(control))
    }

    fn notifications(&self) -> Option<Notifications> {
        self.notifications
    }
}

impl CongestionControl for Dcqcn {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        self.point.advance(ack.now);
        if ack.ece && self.by_acks {
            self.point.on_notification(ack.now);
        }
        self.set(window);
    }

    fn on_notification(&mut self, window: &mut Window, now: Time) {
        self.point.on_notification(now);
        self.window.reduce(window, self.at_line, self.point.rate(), self.line);
    }

    fn on_send(&mut self, window: &mut Window, now: Time, bytes: u64) -> Time {
        let gap = self.point.on_send(now, bytes);
        window.set_pace(8e12 / self.point.rate());
        gap
    }

    fn on_loss(&mut self, window: &mut Window, _in_flight: u64) {
        window.ssthresh = window.cwnd;
    }

    fn on_timeout(&mut self, window: &mut Window, _in_flight: u64) {
        window.ssthresh = window.cwnd;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{access, transport};
    use super::super::window::tests::{ack, segments};
    use super::*;

    fn read(text: &str) -> Result<DcqcnParams, SettingsError> {
        DcqcnParams::read(&mut Section::new("transport", text.parse().unwrap()))
    }

    /// The state of a flow on a line of 40 Gbps.
    fn start(text: &str) -> (Congestion, Window) {
        let mut window = segments(1, 1);
        let control = read(text).unwrap().start(&mut window, &access(40, 8));
        (control, window)
    }

    #[test]
    fn presets_are_the_values_of_their_sources() {
        let paper = read("").unwrap();
        assert_eq!(paper, read("preset = \"paper\"").unwrap());
        let Rules { alpha_interval, increase_timer, byte_counter, fast_recovery, .. } = paper.rules;
        assert_eq!((alpha_interval, increase_timer), (Time::from_us(55), Time::from_us(55)));
        assert_eq!(
            (byte_counter, fast_recovery, paper.rules.g),
            (Some(10_000_000), 5, 1.0 / 256.0)
        );
        let told = Notifications { interval: Time::from_us(50), size: 60 };
        assert_eq!((paper.step, paper.notifications), (LineRate::Fixed(4e7), Some(told)));
        let timers = |text: &str| {
            let Rules { alpha_interval, decrease_interval, increase_timer, .. } =
                read(text).unwrap().rules;
            [alpha_interval, decrease_interval, increase_timer].map(|time| time.ps() / 1_000_000)
        };
        assert_eq!(timers("preset = \"simulator\""), [1, 4, 300]);
        assert_eq!(timers("preset = \"simulator-paper\""), [50, 50, 55]);
        // Keys that are given keep their values.
        assert_eq!(timers("preset = \"simulator\"\nincrease_timer = \"900us\""), [1, 4, 900]);
        // At 40 Gbps, 8 and 80 Mbps.
        let simulator = read("preset = \"simulator\"").unwrap();
        assert_eq!([simulator.step, simulator.hyper_step].map(|step| step.of(40e9)), [8e6, 80e6]);
    }

    #[test]
    fn a_preset_has_sizes_of_packets() {
        let sizes = |text: &str| {
            let transport = transport(&format!("kind = \"dcqcn\"\n{text}"));
            (transport.mss, transport.header, transport.ack_size)
        };
        assert_eq!(sizes(""), (1_448, 52, 52));
        assert_eq!(sizes("preset = \"simulator\""), (1_000, 48, 60));
        assert_eq!(sizes("preset = \"simulator-paper\"\nheader = \"52B\""), (1_000, 52, 60));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        let refused = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            refused("timers = \"free-running\"\ndecrease_interval = \"99ns\""),
            "transport.decrease_interval: 99ns is not valid with timers = \"free-running\"; the least is \
             100ns"
        );
        assert_eq!(
            refused("cnp = \"ack-flag\"\ncnp_size = \"64B\""),
            "transport.cnp_size: it needs cnp = \"packet\""
        );
        assert_eq!(refused("cnp_size = \"0B\""), "transport.cnp_size: 0B is not from 1B to 1500B");
        assert_eq!(
            refused("rate_step = \"101%\""),
            "transport.rate_step: \"101%\" is not valid; expected a rate such as \"40Mbps\", or a share of \
             the line's rate such as \"0.2%\""
        );
        assert_eq!(
            refused("preset = \"simulator_paper\""),
            "transport.preset: \"simulator_paper\" is not valid; expected \"paper\" or \"simulator\" or \
             \"simulator-paper\"\nhint: did you mean `simulator-paper`?"
        );
    }

    /// A flow begins with its line's rate and no window. Notifications are packets, so acks of
    /// marked packets do nothing; where they are the notifications, they cut.
    #[test]
    fn notifications_come_by_one_way_only() {
        let (mut control, mut window) = start("");
        assert_eq!((window.cwnd, window.pace), (Window::UNLIMITED, 200));
        control.on_ack(&mut window, &ack(1, 2, true));
        assert_eq!(window.pace, 200);
        control.on_notification(&mut window, Time::ZERO);
        assert_eq!((window.cwnd, window.pace), (Window::UNLIMITED, 400));
        let (mut control, mut window) = start("cnp = \"ack-flag\"");
        control.on_ack(&mut window, &ack(1, 2, false));
        assert_eq!(window.pace, 200);
        control.on_ack(&mut window, &ack(2, 3, true));
        assert_eq!(window.pace, 400);
    }

    /// The least rate is the line's at most. 1,000 bytes at 20 Gbps take 400 ns.
    #[test]
    fn the_pace_is_that_of_the_rate() {
        let (mut control, mut window) = start("min_rate = \"100Gbps\"");
        control.on_notification(&mut window, Time::ZERO);
        assert_eq!(control.on_send(&mut window, Time::ZERO, 1_000), Time::from_ns(200));
        let (mut control, mut window) = start("");
        control.on_notification(&mut window, Time::ZERO);
        assert_eq!(control.on_send(&mut window, Time::ZERO, 1_000), Time::from_ns(400));
        // 55 us later the rate is 30 Gbps: 266,667 ps, and 267 for a byte.
        let gap = control.on_send(&mut window, Time::from_ps(55_000_001), 1_000);
        assert_eq!((gap, window.pace), (Time::from_ps(266_667), 267));
    }

    /// After a timeout one segment is in flight until the next ack.
    #[test]
    fn after_a_timeout_the_next_ack_opens_the_window() {
        let (mut control, mut window) = start("window = \"8KB\"");
        assert_eq!(window.cwnd, 8_999);
        control.on_timeout(&mut window, 8_000);
        window.cwnd = window.mss;
        control.on_send(&mut window, Time::ZERO, 1_000);
        control.on_notification(&mut window, Time::ZERO);
        assert_eq!(window.cwnd, 1_000);
        control.on_ack(&mut window, &ack(1, 2, false));
        assert_eq!(window.cwnd, 8_999);
    }
}

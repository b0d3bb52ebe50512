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
//! With `preset = "abm"` as in the public program of ABM (inet-tub/ns3-datacenter, 40b8430), with
//! ns-3's loss recovery:
//!
//! - T_low is 200 us, gradients count over 80 us, delta is 100 Mbps, and 150 from the sixth
//!   increase in a row on (`large_step`, `row_counts`, `hyper_after`).
//! - The first window is 55 segments, and lasts until the second update, which is the first that
//!   sets the rate (`start_window`, `start_ends`).
//! - D is kept in an unsigned number of nanoseconds (`kept_difference`): a negative one is 2^64
//!   more, and fades by 8 with each update. For some 15 updates the rate falls to its least, or
//!   rises below T_low.
//! - In a recovery the window is what is in flight (`recovery_window`), because ns-3's rate
//!   reduction leaves that if a loss lowers no threshold. So only acks of new data let a segment
//!   go, until an update, or the end of the recovery, removes the window. A flow that has sent all
//!   before its first ack has no update.
//! - An update is due when what had been sent last is acknowledged (`segment = "last-sent"`), which
//!   in a repair is the last retransmission. The first ack counts even if it acknowledges nothing.
//!   A timeout does not move it (`update_after_timeout`).
//! - The pace counts payload (`pace_counts`). A new rate moves the packet that waits
//!   (`moves_next`), and the first retransmission of a repair, and each that an ack of new data
//!   lets go, does not wait (`repairs_wait`).
//!
//! # Scope and limitations
//! By default a window of the line's rate times the base RTT holds until the first ack, and none
//! after that (`window`): lost segments are retransmitted without a change of the rate, and after a
//! timeout one segment is in flight until the next update. Round-trip times are measured per
//! packet, by its ack. Marks are ignored. Pacing counts bytes on the wire.
//!
//! Of ABM's program it is left out that its counter of increases begins with no defined value, and
//! that a packet which a higher rate would have let go before keeps its time.
//!
//! # In composition
//! What holds for [theta-PowerTCP](theta-powertcp.md) holds here: it sees round trips alone, of
//! whatever levels, and no marks.
//!
//! # Validation
//! Hand arithmetic below. Two, eight and sixteen flows fill a line and keep round trips between the
//! thresholds (`tests/paced.rs`). Whether they share equally is not determined: TIMELY has no
//! unique fixed point (Zhu et al., CoNEXT 2016, doi:10.1145/2999572.2999593). Repairs
//! with `preset = "abm"` by hand (`sender/tests/stalled.rs`). With it the tails and medians of the
//! published runs of ABM's program are matched within 6%
//! (studies/spillway_studies/references/validation.md).
//!
//! # Cost
//! A comparison for every ack; 320 bytes for every flow; an event for every packet that has to wait
//! for its pace.

mod params;

use super::control::{Congestion, ControlMaker, DriverParams};
use super::kind::{Kind, Needs};
use super::window::{Ack, CongestionControl, Repair, Window};
use super::{Access, InitialWindow};
use params::Segment;
pub use params::TimelyParams;
use spillway_engine::Time;

/// The row of TIMELY.
pub(super) const KIND: Kind = Kind {
    id: "timely",
    results: 1,
    summary: "TIMELY: pace by the gradient of round trips",
    citation: "Mittal et al.: SIGCOMM 2015, doi:10.1145/2785956.2787510",
    needs: Needs { base_rtt: true, ..Needs::OF_PACE },
    read: |section| Ok(DriverParams::of_acks(TimelyParams::read(section)?)),
};

/// TIMELY's state.
#[derive(Clone, Copy, Debug)]
pub struct Timely {
    params: TimelyParams,
    /// The rate of the host's line, and the additive increase.
    most: f64,
    delta: f64,
    hyper: f64,
    rate: f64,
    rtt_before: Option<f64>,
    /// The smoothed difference of round trips. May be kept in unsigned nanoseconds.
    difference: f64,
    unsigned: u64,
    /// The number of increases in a row that count.
    row: u32,
    /// The next update comes when this byte is acknowledged.
    due_at: u64,
    /// Whether the latest ack was one at which an update was due, and whether that set the rate.
    is_noted: bool,
    is_set: bool,
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
            hyper: params.large_step.map_or(5.0 * params.delta.of(most), |step| step.of(most)),
            rate: most,
            rtt_before: None,
            difference: 0.0,
            unsigned: 0,
            row: 0,
            due_at: 0,
            is_noted: false,
            is_set: false,
            at_line: params.window.at_line(access),
        }
    }

    /// Takes a change of the round trip, and returns the smoothed difference.
    fn smooth(&mut self, change: f64) -> f64 {
        let alpha = self.params.alpha;
        if self.params.unsigned {
            let ns = (1.0 - alpha) * self.unsigned as f64 + alpha * (change / 1e3);
            self.unsigned = unsigned(ns);
            return ns * 1e3;
        }
        self.difference = (1.0 - alpha) * self.difference + alpha * change;
        self.difference
    }

    /// Updates the rate. With the first round trip it only notes that. Returns whether it has set
    /// the rate.
    fn update(&mut self, rtt: f64) -> bool {
        let TimelyParams { beta, low, high, min_rtt, min_rate, .. } = self.params;
        let delta = self.delta;
        let Some(before) = self.rtt_before.replace(rtt) else { return false };
        let gradient = self.smooth(rtt - before) / min_rtt;
        let row = std::mem::take(&mut self.row);
        let rate = if rtt < low && !self.params.all_count {
            self.rate + delta
        } else if rtt > high {
            self.rate * (1.0 - beta * (1.0 - high / rtt))
        } else if gradient <= 0.0 || rtt < low {
            self.row = row.saturating_add(1);
            self.rate + if self.row > self.params.hyper_after { self.hyper } else { delta }
        } else {
            self.rate * (1.0 - beta * gradient)
        };
        self.rate = rate.clamp(min_rate.min(self.most), self.most);
        true
    }
}

/// A number as C++ makes an unsigned one of it on 64-bit x86: a negative one is 2^64 more.
fn unsigned(number: f64) -> u64 {
    if number < 0.0 { (number as i64).cast_unsigned() } else { number as u64 }
}

impl ControlMaker for TimelyParams {
    fn start(&self, window: &mut Window, access: &Access) -> Congestion {
        let control = Timely::new(*self, access);
        window.moves_next = self.moves_next;
        if !self.window.is_for_start() {
            self.window.set(window, control.at_line, control.rate, control.most);
        }
        Congestion::Timely(Box::new(control))
    }

    fn times_from_nic(&self) -> bool {
        self.from_nic
    }

    fn segment(&self) -> Option<u64> {
        match self.segment {
            Segment::Bytes(bytes) => Some(bytes),
            Segment::RoundTrip | Segment::LastSent => None,
        }
    }

    fn initial_window(&self) -> InitialWindow {
        self.initial
    }

    fn paces_payload(&self) -> bool {
        self.paces_payload
    }

    fn repairs_wait(&self) -> bool {
        self.repairs_wait
    }
}

impl CongestionControl for Timely {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let by_last_sent = self.params.segment == Segment::LastSent;
        // An ack beyond the byte that is due always acknowledges something. The first ack need not.
        let is_first = by_last_sent && self.rtt_before.is_none();
        let is_due = ack.una > self.due_at && (ack.acked > 0 || by_last_sent);
        self.is_noted = is_due || is_first;
        self.is_set = false;
        if !self.is_noted {
            return;
        }
        self.due_at = match self.params.segment {
            Segment::Bytes(bytes) => ack.una + bytes - 1,
            Segment::RoundTrip | Segment::LastSent => ack.nxt,
        };
        let rtt = if self.params.unsigned { Time::from_ns(ack.rtt.ps() / 1_000) } else { ack.rtt };
        self.is_set = self.update(rtt.ps() as f64);
        if self.is_set || self.params.ends_with_ack {
            self.params.window.set(window, self.at_line, self.rate, self.most);
        }
    }

    fn on_repair(&mut self, window: &mut Window, repair: &Repair) {
        if self.is_noted && self.params.segment == Segment::LastSent {
            self.due_at = repair.sent_last;
        }
        if self.params.stalls && repair.in_recovery && repair.tells && !self.is_set {
            window.cwnd = repair.in_flight;
        }
    }

    fn on_loss(&mut self, window: &mut Window, _in_flight: u64) {
        window.ssthresh = if self.params.stalls { Window::UNLIMITED } else { window.cwnd };
    }

    fn on_timeout(&mut self, window: &mut Window, _in_flight: u64) {
        if self.params.after_timeout {
            self.due_at = 0;
        }
        window.ssthresh = window.cwnd;
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{access, transport};
    use super::super::window::tests::{ack, segments};
    use super::*;
    use spillway_settings::Section;

    const US: f64 = 1e6;

    fn timely() -> Timely {
        let mut section = Section::new("transport", Default::default());
        let params = TimelyParams::read(&mut section).expect("its defaults");
        Timely { rate: 5e9, ..Timely::new(params, &access(10, 80)) }
    }

    fn after(control: &mut Timely, rtts: &[f64]) -> f64 {
        for rtt in rtts {
            control.update(rtt * US);
        }
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

    /// Of 100 Mbps each, and from the sixth on 150; or 1% of the line.
    #[test]
    fn large_steps_may_have_a_size_of_their_own() {
        let rises = |text: &str| {
            let mut control = at_half(&format!("rate_step = \"100Mbps\"\nhyper_after = 5\n{text}"));
            let begun = after(&mut control, &[100.0; 6]);
            (begun, after(&mut control, &[100.0]), after(&mut control, &[100.0]))
        };
        assert_eq!(rises("large_step = \"150Mbps\""), (5_500.0, 5_650.0, 5_800.0));
        assert_eq!(rises("large_step = \"1%\""), (5_500.0, 5_600.0, 5_700.0));
        assert_eq!(rises("large_step = \"5steps\""), rises(""));
    }

    #[test]
    fn a_negative_difference_in_unsigned_nanoseconds_is_huge() {
        let text = "kept_difference = \"unsigned-ns\"\nt_low = \"50us\"";
        let mut control = at_half(text);
        // From 101 to 100 us, of which 7/8 count: the rate rises, and -875 ns are kept.
        assert_eq!(after(&mut control, &[101.0, 100.0]), 5_010.0);
        assert_eq!(control.unsigned, u64::MAX - 874);
        // An eighth of that remains with each update: for 20 us the gradient is far above 1.
        for power in [61, 58, 55] {
            assert_eq!(after(&mut control, &[100.0]), 100.0);
            assert_eq!(control.unsigned, 1 << power);
        }
        // Below the low threshold the rate rises all the same, and the difference fades.
        assert_eq!(after(&mut control, &[49.0]), 110.0);
        assert_eq!(control.unsigned, (1 << 52) - 44_625);
        // A difference is kept without the fraction of a nanosecond: 7/8 of 1 us and 3 ns.
        let mut control = at_half(text);
        after(&mut control, &[100.0, 101.003]);
        assert_eq!(control.unsigned, 877);
        // By default it is as it is.
        let mut control = at_half("");
        assert_eq!(after(&mut control, &[101.0, 100.0, 100.0]), 5_020.0);
    }

    #[test]
    fn a_number_becomes_unsigned_as_on_x86() {
        let cases = [(0.9, 0), (-0.9, 0), (-1.0, u64::MAX), (-1.9, u64::MAX), (2e19, u64::MAX)];
        for (number, expected) in cases {
            assert_eq!(unsigned(number), expected, "{number}");
        }
        assert_eq!(unsigned(1.5 * 2f64.powi(63)), 3 << 62);
    }

    /// The first round trip is only noted.
    #[test]
    fn the_first_window_may_last_until_the_rate_is_set() {
        let windows = |text: &str| {
            let text = format!("kind = \"timely\"\nmss = \"1000B\"\n{text}");
            let closed = transport(&text).closed_loop().unwrap().clone();
            let mut window = closed.initial_window(8_000, 1_000, &access(10, 80));
            assert_eq!(window.pace, 800);
            let mut control = closed.congestion(&access(10, 80), &mut window);
            let mut windows = vec![window.cwnd];
            for una in [1, 101] {
                control.on_ack(&mut window, &ack(una, una + 99, false));
                windows.push(window.cwnd);
            }
            windows
        };
        let none = Window::UNLIMITED;
        assert_eq!(windows(""), [100_000, none, none]);
        let until_set = "start_ends = \"first-update\"\n";
        assert_eq!(windows(until_set), [100_000, 100_000, none]);
        let of = |size: &str| windows(&format!("{until_set}start_window = \"{size}\""));
        assert_eq!(of("55pkt"), [55_000, 55_000, none]);
        assert_eq!(of("flow"), [8_000, 8_000, none]);
    }

    #[test]
    fn a_pace_may_count_payload_alone() {
        let header = |text: &str| {
            let text = format!("kind = \"timely\"\nheader = \"60B\"\n{text}");
            transport(&text).closed_loop().unwrap().paced_header
        };
        assert_eq!((header(""), header("pace_counts = \"payload\"")), (60, 0));
    }

    #[test]
    fn what_only_repairs_as_ns3_s_know_is_refused_without_them() {
        for setting in ["recovery_window = \"in-flight\"", "segment = \"last-sent\""] {
            let read = |more: &str| {
                let given = format!("{setting}\n{more}").parse().unwrap();
                TimelyParams::read(&mut Section::new("transport", given))
            };
            let refused = read("").unwrap_err().to_string();
            assert!(refused.ends_with("this value needs recovery = \"ns3\""), "{refused}");
            assert!(read("recovery = \"ns3\"").is_ok());
        }
        for key in ["start_window = \"9pkt\"", "start_ends = \"first-update\""] {
            let given = format!("window = \"none\"\n{key}").parse().unwrap();
            let refused = TimelyParams::read(&mut Section::new("transport", given)).unwrap_err();
            assert!(refused.to_string().ends_with("it needs window = \"start\""), "{refused}");
        }
        let segment = "start_window = \"9B\"\nkind = \"timely\"".parse().unwrap();
        let mut segment = Section::new("transport", segment);
        assert!(super::super::Transport::read(&mut segment, &Default::default()).is_err());
    }

    #[test]
    fn a_preset_is_abm_s_program_s() {
        let expected = "recovery = \"ns3\"\nt_low = \"200us\"\nmin_rtt = \"80us\"\n\
                        rate_step = \"100Mbps\"\nsegment = \"last-sent\"\nrow_counts = \"increases\"\n\
                        hyper_after = 5\nlarge_step = \"150Mbps\"\nstart_window = \"55pkt\"\n\
                        start_ends = \"first-update\"\nkept_difference = \"unsigned-ns\"\n\
                        update_after_timeout = false\nrecovery_window = \"in-flight\"\n\
                        pace_counts = \"payload\"\nrepairs_wait = false\nmoves_next = true";
        assert_eq!(read("preset = \"abm\"\nrecovery = \"ns3\""), read(expected));
        let abm = transport("kind = \"timely\"\npreset = \"abm\"");
        assert_eq!((abm.mss, abm.header, abm.ack_size), (1_400, 54, 54));
        assert!(abm.closed_loop().unwrap().recovery.is_ns3());
        transport("kind = \"timely\"\npreset = \"abm\"\nrecovery.kind = \"selective\"");
        // Settings that need losses to be found as in ns-3 are left out if they are found
        // otherwise.
        let by_sack = read("preset = \"abm\"\nrecovery = \"sack\"");
        assert_eq!((by_sack.segment, by_sack.stalls), (Segment::RoundTrip, false));
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

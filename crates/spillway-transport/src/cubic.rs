//! CUBIC: the window follows a cubic function of the time since the last loss.
//!
//! # Reference
//! S. Ha, I. Rhee, L. Xu, "CUBIC: a new TCP-friendly high-speed TCP variant", ACM SIGOPS Operating
//! Systems Review 42(5), 2008; L. Xu et al., RFC 9438, 2023, section 4.
//!
//! # Rule
//! In segments and seconds. t is the time since the first ack after a cut; the target uses t + RTT.
//!
//! W(t) = C (t - K)^3 + W_max, K = cbrt((W_max - cwnd) / C)   (RFC 9438, equations 1 and 2)
//!
//! Every acknowledged segment adds (target - cwnd) / cwnd segments, where target = W(t + RTT), at
//! least cwnd and at most 1.5 cwnd. On a loss W_max = cwnd and ssthresh = beta cwnd; if the window
//! had not returned to W_max, W_max = cwnd (1 + beta) / 2 instead (`fast_convergence`). If Reno
//! would be faster, Reno's window W_est is used: it grows by 3 (1 - beta) / (1 + beta) segments for
//! every window that is acknowledged, and by a segment once it has reached the window before the
//! cut (equation 4; `tcp_friendly`; with `friendly_alpha = "linux"` always by the former). After a
//! timeout W_max and W_est are the window with which congestion avoidance then begins, and K is 0
//! (section 4.8). Slow start and loss recovery are those of NewReno; a mark cuts like a loss, once
//! for what is in flight.
//!
//! # Departures from the paper
//! RTT is the least round trip that the flow has seen, as in Linux and ns-3. Before the first cut,
//! if there is no slow start, acks of a whole window add at least a twentieth, as in both.
//!
//! HyStart is off unless `hystart` turns it on. RFC 9438 leaves it open how slow start ends, and its
//! margins of 4 ms and more (`linux`, `rfc9406`) never show in a datacenter, where a queue of 4 ms
//! is 5 MB at 10 Gbps: there HyStart++ is slow start as without it. What remains of Linux's are
//! trains, and they depend on how acks are spaced.
//!
//! # Scope and limitations
//! In a datacenter the cubic function is flat: in 10 ms W(t) grows by a millionth of C. A flow's
//! behaviour there is determined by `tcp_friendly`, which ns-3 does not have.
//!
//! # In composition
//! That of [NewReno](newreno.md), except that marks and losses leave `beta` of a window.
//!
//! # Validation
//! Hand arithmetic below.
//!
//! # Cost
//! Some multiplications for every ack; 72 bytes for every flow, apart from those that all flows
//! have.

use super::Access;
use super::control::{Congestion, ControlMaker, DriverParams};
use super::hystart::{HyStart, Rule, Step};
use super::kind::{Kind, Needs};
use super::window::{Ack, CongestionControl, Window};
use spillway_engine::Time;
use spillway_settings::{Range, Section, SettingsError};

/// The row of CUBIC.
pub(super) const KIND: Kind = Kind {
    id: "cubic",
    results: 1,
    summary: "CUBIC: a window that is a cubic function of the time since the last loss",
    citation: "Ha, Rhee, Xu: ACM SIGOPS OSR 42(5), 2008; RFC 9438",
    needs: Needs::OF_WINDOW,
    read: |section| Ok(DriverParams::of_acks(CubicParams::read(section)?)),
};

/// CUBIC's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicParams {
    /// How steep the cubic function is (C), in segments per cubic second.
    pub c: f64,
    /// The share of the window that a cut leaves.
    pub beta: f64,
    /// Whether a flow with a shrinking share gives way to others.
    pub fast_convergence: bool,
    /// Whether the window is never smaller than Reno's would be.
    pub tcp_friendly: bool,
    /// Whether Reno's window grows by a segment per window once it is as large as before the cut.
    pub speeds_up: bool,
    /// Whose HyStart may end slow start, if one may.
    pub hystart: Option<Rule>,
}

impl CubicParams {
    /// Reads the parameters.
    pub fn read(section: &mut Section) -> Result<CubicParams, SettingsError> {
        let meaning = "how steep the window's growth is, in segments per cubic second";
        let c = section.number("cubic_c", 0.4, Range::Positive, meaning)?;
        let meaning = "the share of the window that a cut leaves";
        let beta = section.number("beta", 0.7, Range::Within(0.01, 0.99), meaning)?;
        let meaning =
            "whether a flow that was cut before it regained its window gives way to others";
        let fast_convergence = section.flag("fast_convergence", true, meaning)?;
        let meaning = "whether the window is never below what Reno's would be";
        let tcp_friendly = section.flag("tcp_friendly", true, meaning)?;
        if !tcp_friendly {
            section.needs("tcp_friendly = true", &["friendly_alpha"])?;
        }
        let meaning = "by how much Reno's window grows per window once it is as large as before the \
                       cut: by a segment (RFC 9438), or as before by 3 (1 - beta) / (1 + beta) of \
                       one, as Linux has it";
        let ways = [("rfc9438", true), ("linux", false)];
        let speeds_up =
            if tcp_friendly { section.choice("friendly_alpha", &ways, meaning)? } else { true };
        let hystart = section.choice(
            "hystart",
            &[
                ("none", None),
                ("exact", Some(Rule::Exact)),
                ("ns3", Some(Rule::Ns3)),
                ("linux", Some(Rule::Linux)),
                ("rfc9406", Some(Rule::PlusPlus)),
            ],
            "whether HyStart ends slow start: not at all, as ns-3 does by exact RTTs or by RTTs as it \
             measures them, as Linux does, or by HyStart++",
        )?;
        Ok(CubicParams { c, beta, fast_convergence, tcp_friendly, speeds_up, hystart })
    }
}

/// CUBIC's state. Windows are in segments.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    params: CubicParams,
    /// Where the cubic function is flat (W_max): the window before the last cut, or less
    /// (`fast_convergence`); 0 before the first.
    w_max: f64,
    /// The window before the last cut (cwnd_prior).
    prior: f64,
    /// Whether that was a timeout, after which congestion avoidance has not begun.
    timed_out: bool,
    /// The cubic function since the last cut; `None` until the first ack after it.
    epoch: Option<Epoch>,
    least_rtt: Time,
    /// Growth in bytes, less than the window's unit, that the window has not received yet.
    credit: f64,
    /// What ends slow start; `None` once it has.
    hystart: Option<HyStart>,
}

#[derive(Clone, Copy, Debug)]
struct Epoch {
    begin: Time,
    /// The time K, in seconds since the epoch began, at which the function is flat, and its value
    /// there.
    flat_at: f64,
    plateau: f64,
    /// Reno's window (W_est).
    reno: f64,
}

impl Cubic {
    /// The state of a flow that starts.
    pub fn new(params: CubicParams) -> Cubic {
        Cubic {
            params,
            w_max: 0.0,
            prior: 0.0,
            timed_out: false,
            epoch: None,
            least_rtt: Time::MAX,
            credit: 0.0,
            hystart: params.hystart.map(HyStart::new),
        }
    }

    /// Remembers the window before a cut. The next ack begins an epoch.
    fn remember(&mut self, window: &Window) {
        let cwnd = segments(window);
        let has_lost_share = self.params.fast_convergence && cwnd < self.w_max;
        self.w_max = if has_lost_share { cwnd * (1.0 + self.params.beta) / 2.0 } else { cwnd };
        self.prior = cwnd;
        self.timed_out = false;
        self.epoch = None;
        self.credit = 0.0;
    }

    /// The window that a cut leaves, in bytes.
    fn left(&self, window: &Window) -> u64 {
        window.whole_of(window.cwnd as f64 * self.params.beta)
    }

    /// The number of segments by which one acknowledged segment lets the window grow.
    fn growth(&mut self, now: Time, cwnd: f64, acked: f64) -> f64 {
        let CubicParams { c, beta, tcp_friendly, speeds_up, .. } = self.params;
        if std::mem::take(&mut self.timed_out) {
            self.w_max = cwnd;
        }
        let w_max = self.w_max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            begin: now,
            flat_at: ((w_max - cwnd).max(0.0) / c).cbrt(),
            plateau: w_max.max(cwnd),
            reno: cwnd,
        });
        let t = (now - epoch.begin + self.least_rtt).secs_f64();
        let target = c * (t - epoch.flat_at).powi(3) + epoch.plateau;
        let least = if w_max == 0.0 { 1.05 } else { 1.0 };
        let mut growth = (target / cwnd).clamp(least, 1.5) - 1.0;
        if tcp_friendly {
            let has_caught_up = epoch.reno >= self.prior && (speeds_up || self.prior == 0.0);
            let alpha = if has_caught_up { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) };
            epoch.reno += alpha * acked / cwnd;
            growth = growth.max((epoch.reno - cwnd) / acked);
        }
        growth
    }
}

/// The window in segments.
fn segments(window: &Window) -> f64 {
    window.cwnd as f64 / window.mss as f64
}

impl ControlMaker for CubicParams {
    fn start(&self, _window: &mut Window, _access: &Access) -> Congestion {
        Congestion::Cubic(Box::new(Cubic::new(*self)))
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        let mut counts = ack.acked;
        if ack.acked > 0 {
            self.least_rtt = self.least_rtt.min(ack.rtt);
            if window.slow_start
                && window.cwnd < window.ssthresh
                && let Some(hystart) = &mut self.hystart
            {
                match hystart.on_ack(ack, window) {
                    Step::Grows(bytes) => counts = bytes,
                    Step::Ends => {
                        window.slow_start = false;
                        self.hystart = None;
                    }
                }
            }
        }
        if ack.in_recovery {
            return;
        }
        if window.is_held(ack) {
            return;
        }
        if ack.ece {
            self.remember(window);
            window.cut_for_mark(self.left(window), ack);
        } else if ack.may_grow && ack.acked > 0 {
            if window.slow_start && window.cwnd < window.ssthresh {
                return window.grow(counts);
            }
            let acked = ack.acked as f64;
            let had = (window.cwnd + self.credit as u64) as f64 / window.mss as f64;
            let growth = self.growth(ack.now, had, acked / window.mss as f64);
            self.credit += acked * growth;
            let whole = window.whole(self.credit as u64);
            self.credit -= whole as f64;
            window.cwnd += whole;
        }
    }

    fn on_loss(&mut self, window: &mut Window, _in_flight: u64) {
        self.remember(window);
        window.ssthresh = self.left(window).max(2 * window.mss);
    }

    fn on_local_drop(&mut self, window: &mut Window) {
        self.remember(window);
        window.cut_to(self.left(window));
    }

    /// t counts only time with data (RFC 9438, section 4.2), as in Linux.
    fn on_idle(&mut self, idle: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.begin += idle;
        }
        if let Some(hystart) = &mut self.hystart {
            hystart.begin_anew();
        }
    }

    fn on_timeout(&mut self, window: &mut Window, in_flight: u64) {
        self.on_loss(window, in_flight);
        self.timed_out = true;
        if let (None, Some(rule)) = (self.hystart, self.params.hystart) {
            window.slow_start = true;
            self.hystart = Some(HyStart::new(rule));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::tests::{ack, segments};
    use super::*;

    fn cubic(tcp_friendly: bool) -> Cubic {
        Cubic::new(CubicParams {
            c: 0.4,
            beta: 0.7,
            fast_convergence: true,
            tcp_friendly,
            speeds_up: true,
            hystart: None,
        })
    }

    /// An ack of one segment at this time, with a round trip of 100 ms.
    fn at(seconds: f64) -> Ack<'static> {
        let rtt = Time::from_ms(100);
        Ack { now: Time::from_secs_f64(seconds), rtt, ..ack(1, 200, false) }
    }

    /// The window after a loss at 100 segments.
    fn cut(control: &mut Cubic) -> Window {
        let mut window = segments(100, 1_000);
        control.on_loss(&mut window, 100_000);
        assert_eq!(window.ssthresh, 70_000);
        Window { cwnd: window.ssthresh, ..window }
    }

    #[test]
    fn growth_is_cubic_around_the_window_before_the_loss() {
        // K = cbrt(30 / 0.4) = 4.217163. At the first ack W(0.1) = 100 + 0.4 (0.1 - K)^3 =
        // 72.0736, so a segment adds (72.0736 - 70) / 70 of one: 29.6 bytes.
        let mut control = cubic(false);
        let mut window = cut(&mut control);
        control.on_ack(&mut window, &at(10.0));
        assert_eq!(window.cwnd, 70_029);
        // A second on: 100 + 0.4 (1.1 - K)^3 = 87.8832: (87.8832 - 70.029) / 70.029 of a segment
        // are 254.95 bytes, and 0.62 were left over.
        control.on_ack(&mut window, &at(11.0));
        assert_eq!(window.cwnd, 70_029 + 255);
        // At K - 0.1 the target is where it was before the loss, and not above 1.5 windows.
        let mut window = Window { cwnd: 99_000, ..window };
        control.on_ack(&mut window, &at(10.0 + 4.117_163));
        assert_eq!(window.cwnd, 99_000 + 10);
        let mut window = Window { cwnd: 72_000, ..window };
        control.on_ack(&mut window, &at(30.0));
        assert_eq!(window.cwnd, 72_500);
    }

    /// The same in whole segments: 29.6, 284.6, 653.4 and 1,061.0 bytes of growth, since
    /// W(2.1) = 96.2 and W(3.1) = 99.4; and 0.7 times 101 segments are 70.
    #[test]
    fn whole_segments_wait_until_there_is_one() {
        let mut control = cubic(false);
        let mut window = Window { in_segments: true, ..cut(&mut control) };
        let mut after = |seconds| {
            control.on_ack(&mut window, &at(seconds));
            window.cwnd
        };
        assert_eq!([10.0, 11.0, 12.0, 13.0].map(&mut after), [70_000, 70_000, 70_000, 71_000]);
        assert!((control.credit - 61.0).abs() < 0.1, "{}", control.credit);
        window.cwnd = 101_000;
        control.on_loss(&mut window, 0);
        assert_eq!((window.ssthresh, control.credit), (70_000, 0.0));
        // 0.7 times 30 are 21, even if floats make that 20.999 segments.
        window = Window { mss: 1448, cwnd: 30 * 1448, ..window };
        control.on_loss(&mut window, 0);
        assert_eq!(window.ssthresh, 21 * 1448);
    }

    #[test]
    fn time_without_data_does_not_count() {
        let mut control = cubic(false);
        let mut window = cut(&mut control);
        control.on_idle(Time::from_ms(1));
        control.on_ack(&mut window, &at(10.0));
        // As in the test above, with 5 s between without data.
        control.on_idle(Time::from_ms(5_000));
        control.on_ack(&mut window, &at(16.0));
        assert_eq!(window.cwnd, 70_029 + 255);
    }

    #[test]
    fn who_has_lost_share_gives_way() {
        let mut control = cubic(false);
        let mut window = cut(&mut control);
        window.cwnd = 80_000;
        control.on_loss(&mut window, 80_000);
        // 80 * 1.7 / 2, and the window is cut as always.
        assert_eq!((control.w_max, window.ssthresh), (68.0, 56_000));
        window.cwnd = 90_000;
        control.on_loss(&mut window, 90_000);
        assert_eq!(control.w_max, 90.0);
    }

    #[test]
    fn it_is_never_slower_than_reno() {
        // 3 * 0.3 / 1.7 = 0.529 segments for 70 acknowledged, where the cubic function gives less:
        // in 70 us and a round trip of 80 us it has not moved from 70.
        let mut control = cubic(true);
        let mut window = cut(&mut control);
        for us in 0..70 {
            let now = Time::from_us(us);
            let rtt = Time::from_us(80);
            control.on_ack(&mut window, &Ack { now, rtt, ..ack(1, 200, false) });
        }
        assert!((70_524..=70_531).contains(&window.cwnd), "{}", window.cwnd);
        // From the window before the cut on, the window grows by a segment for every window. In
        // Linux it grows as before.
        for (speeds_up, least) in [(true, 110_985), (false, 110_520)] {
            control.params.speeds_up = speeds_up;
            let mut window = Window { cwnd: 110_000, ..window };
            control.epoch = None;
            for us in 100..210 {
                let now = Time::from_us(us);
                let rtt = Time::from_us(80);
                control.on_ack(&mut window, &Ack { now, rtt, ..ack(1, 200, false) });
            }
            assert!((least..=least + 16).contains(&window.cwnd), "{}", window.cwnd);
        }
    }

    /// Cut at 80 after a cut at 100: fast convergence sets W_max = 68, but the window before the
    /// cut is 80. W_est is 70 here, beyond W_max and below 80, so alpha is 0.9 / 1.7, and an ack of
    /// a segment lets the window of 70 grow by 1000 * 0.529412 / 70 = 7.56 bytes.
    #[test]
    fn fast_convergence_does_not_speed_renos_window_up() {
        let mut control = cubic(true);
        let mut window = cut(&mut control);
        window.cwnd = 80_000;
        control.on_loss(&mut window, 80_000);
        let grown = |control: &mut Cubic, segments: u64| {
            let mut window = Window { cwnd: segments * 1_000, ssthresh: 1, ..window };
            control.epoch = None;
            let (now, rtt) = (Time::from_us(1), Time::from_us(80));
            control.on_ack(&mut window, &Ack { now, rtt, ..ack(1, 200, false) });
            window.cwnd - segments * 1_000
        };
        assert_eq!(control.w_max, 68.0);
        assert_eq!(grown(&mut control, 70), 7);
        // At 80: 1000 / 80 = 12.5, and 0.56 bytes are left over.
        assert_eq!(grown(&mut control, 80), 13);
    }

    /// A timeout at 100 segments: ssthresh is 70. Congestion avoidance begins at 70, and W_max and
    /// W_est are 70, K is 0: half a second on W(0.6) = 70 + 0.4 * 0.6^3 = 70.0864, so a segment
    /// lets it grow by 1000 * 0.0864 / 70 = 1.23 bytes, where 0.01 are left of W(0.1) = 70.0004.
    #[test]
    fn after_a_timeout_the_function_begins_where_it_is_flat() {
        let mut control = cubic(false);
        let mut window = segments(100, 1_000);
        control.on_timeout(&mut window, 100_000);
        let mut window = Window { cwnd: 1_000, ssthresh: window.ssthresh, ..window };
        (0..69).for_each(|_| control.on_ack(&mut window, &at(9.0)));
        assert_eq!((window.cwnd, control.epoch.is_none()), (70_000, true));
        control.on_ack(&mut window, &at(10.0));
        let epoch = control.epoch.unwrap();
        assert_eq!((control.w_max, epoch.flat_at, epoch.plateau), (70.0, 0.0, 70.0));
        assert_eq!(window.cwnd, 70_000);
        control.on_ack(&mut window, &at(10.5));
        assert_eq!(window.cwnd, 70_001);
        // A loss afterwards is one like any other.
        control.on_loss(&mut window, 70_000);
        assert!(!control.timed_out && control.w_max == 70.001);
    }

    #[test]
    fn renos_window_is_not_told_how_to_grow_where_there_is_none() {
        let text = "kind = \"cubic\"\ntcp_friendly = false\nfriendly_alpha = \"linux\"";
        let mut section = Section::new("transport", text.parse().unwrap());
        let read = super::super::Transport::read(&mut section, &Default::default());
        let error = read.map(|_| ()).unwrap_err().to_string();
        assert_eq!(error, "transport.friendly_alpha: it needs tcp_friendly = true");
    }

    #[test]
    fn hystart_ends_slow_start_until_a_timeout() {
        let params = CubicParams { hystart: Some(Rule::Exact), ..cubic(false).params };
        let mut control = Cubic::new(params);
        let mut window = segments(20, 1_000);
        for us in [100, 150, 181] {
            let (now, rtt) = (Time::from_us(us), Time::from_us(80));
            control.on_ack(&mut window, &Ack { now, rtt, ..ack(1, 20, false) });
        }
        // The third ack is more than a round trip behind the first: it adds a twentieth of its
        // segment only.
        assert_eq!((window.cwnd, window.ssthresh), (22_050, 1_000_000));
        control.on_timeout(&mut window, 22_000);
        assert_eq!((window.slow_start, window.ssthresh), (true, 15_434));
    }

    #[test]
    fn a_mark_cuts_once_a_round() {
        let mut control = cubic(false);
        let mut window = segments(100, 10);
        control.on_ack(&mut window, &Ack { ece: true, ..ack(1, 101, true) });
        assert_eq!((window.cwnd, window.ssthresh), (70_000, 70_000));
        control.on_ack(&mut window, &Ack { ece: true, ..ack(2, 102, true) });
        assert_eq!(window.cwnd, 70_000);
    }
}

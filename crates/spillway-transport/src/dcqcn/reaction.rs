//! The reaction point: a rate that notifications cut, and that a timer and a byte counter raise.
//!
//! Its timers are no events. What they would have done is done later, when the rate is needed: when
//! a packet is sent or a notification comes. A timer expires after everything else that happens at
//! its time. Of several timers of the same time, alpha's comes first, then that of the increase,
//! then that of the cut.

use spillway_engine::Time;

/// When a cut makes the present rate the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// Always.
    Always,
    /// If the rate was increased since the previous cut.
    AfterIncrease,
    /// If the byte counter has increased the rate since the previous cut.
    AfterByteCounter,
}

/// The rules for a flow on a line; rates are in bits per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The rate of the line, which the flow begins with.
    pub line: f64,
    /// The weight of a new sample in alpha.
    pub g: f64,
    /// Alpha before the first notification.
    pub alpha0: f64,
    /// The time between updates of alpha.
    pub alpha_interval: Time,
    /// Whether a notification raises alpha before it cuts.
    pub alpha_first: bool,
    /// Whether alpha is updated and cuts are made at fixed times after the first notification.
    pub free_running: bool,
    /// Whether the first notification cuts at once.
    pub cuts_at_once: bool,
    /// The least time between cuts.
    pub decrease_interval: Time,
    /// When a cut makes the present rate the target.
    pub clamp: Clamp,
    /// Whether the first increase after a cut divides a target of more than ten times the rate by 8.
    pub shrinks_target: bool,
    /// The time between increases.
    pub increase_timer: Time,
    /// The bytes between increases, if they count.
    pub byte_counter: Option<u64>,
    /// Increases that leave the target where it is.
    pub fast_recovery: u32,
    /// Increases by each counter after which the target rises faster.
    pub hyper_after: u32,
    /// By how much the target rises.
    pub step: f64,
    /// By how much the target rises when it rises faster.
    pub hyper_step: f64,
    /// Whether each faster step is larger than the one before.
    pub hyper_grows: bool,
    /// Whether timer and byte counter are halved while the target rises faster.
    pub hyper_halves: bool,
    /// The least rate.
    pub min_rate: f64,
}

/// The state of a flow.
#[derive(Clone, Copy, Debug)]
pub struct ReactionPoint {
    rules: Rules,
    /// The rate, and the target rate to which it returns.
    rate: f64,
    target: f64,
    alpha: f64,
    /// When alpha is updated next. [`Time::MAX`] before the first notification, like the other
    /// times.
    alpha_due: Time,
    /// When the timer increases the rate next.
    increase_due: Time,
    /// When the next cut is made, if something asks for one.
    cut_due: Time,
    /// The earliest time of the next cut, if timers do not run freely.
    may_cut_from: Time,
    /// Whether there was a notification since alpha was last updated, and since cuts were last
    /// considered.
    is_told: bool,
    wants_cut: bool,
    /// Increases since the last cut.
    by_timer: u32,
    by_bytes: u32,
    /// Bytes until the counter increases the rate.
    bytes_left: u64,
}

impl ReactionPoint {
    /// The state of a flow that starts.
    pub fn new(rules: Rules) -> ReactionPoint {
        ReactionPoint {
            rules,
            rate: rules.line,
            target: rules.line,
            alpha: rules.alpha0,
            alpha_due: Time::MAX,
            increase_due: Time::MAX,
            cut_due: Time::MAX,
            may_cut_from: Time::ZERO,
            is_told: false,
            wants_cut: false,
            by_timer: 0,
            by_bytes: 0,
            bytes_left: 0,
        }
    }

    /// The rate, as of the last call.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// The rate that it returns to, and alpha.
    #[cfg(test)]
    pub fn target_and_alpha(&self) -> (f64, f64) {
        (self.target, self.alpha)
    }

    /// Carries out what timers were due to do before now.
    pub fn advance(&mut self, now: Time) {
        loop {
            let next = self.alpha_due.min(self.increase_due).min(self.cut_due);
            if next >= now {
                return;
            }
            if self.alpha_due == next {
                self.on_alpha_timer();
            } else if self.increase_due == next {
                self.on_increase_timer();
            } else {
                self.on_cut_timer();
            }
        }
    }

    /// A notification comes.
    pub fn on_notification(&mut self, now: Time) {
        self.advance(now);
        if self.rules.free_running { self.note(now) } else { self.react(now) }
    }

    /// A packet of so many bytes is sent. Returns the time until the next one may be sent.
    pub fn on_send(&mut self, now: Time, bytes: u64) -> Time {
        self.advance(now);
        let gap = Time::from_ps((bytes as f64 * 8e12 / self.rate).round() as u64);
        // Nothing counts before the first cut.
        if let Some(period) = self.rules.byte_counter
            && self.increase_due != Time::MAX
        {
            if self.bytes_left > bytes {
                self.bytes_left -= bytes
            } else {
                self.by_bytes = self.by_bytes.saturating_add(1);
                let is_hyper = self.increase();
                self.bytes_left = if is_hyper { period.div_ceil(2) } else { period };
            }
        }
        gap
    }

    /// A notification comes while timers run freely: they take it into account when they expire.
    fn note(&mut self, now: Time) {
        if self.alpha_due < Time::MAX {
            (self.is_told, self.wants_cut) = (true, true);
            return;
        }
        self.alpha_due = now + self.rules.alpha_interval;
        self.cut_due = now + self.rules.decrease_interval;
        if self.rules.cuts_at_once { self.cut(now) } else { self.wants_cut = true }
    }

    /// A notification comes, and timers begin with notifications and cuts.
    fn react(&mut self, now: Time) {
        let is_first = self.alpha_due == Time::MAX;
        self.alpha_due = now + self.rules.alpha_interval;
        if is_first && !self.rules.cuts_at_once {
            self.may_cut_from = now + self.rules.decrease_interval;
        }
        if self.rules.alpha_first {
            self.update_alpha(1.0);
        }
        if self.may_cut_from <= now {
            self.cut(now)
        } else {
            self.cut_due = self.may_cut_from
        }
        if !self.rules.alpha_first {
            self.update_alpha(1.0);
        }
    }

    fn on_alpha_timer(&mut self) {
        self.alpha_due += self.rules.alpha_interval;
        let told = std::mem::take(&mut self.is_told);
        self.update_alpha(f64::from(u8::from(told)));
    }

    /// alpha = (1 - g) alpha + g F
    fn update_alpha(&mut self, told: f64) {
        self.alpha = (1.0 - self.rules.g) * self.alpha + self.rules.g * told;
    }

    fn on_cut_timer(&mut self) {
        let now = self.cut_due;
        if !self.rules.free_running {
            return self.cut(now);
        }
        self.cut_due = now + self.rules.decrease_interval;
        if std::mem::take(&mut self.wants_cut) {
            self.cut(now);
        }
    }

    /// R_T = R_C, R_C = R_C (1 - alpha / 2); everything that increases the rate begins anew.
    fn cut(&mut self, now: Time) {
        let clamps = match self.rules.clamp {
            Clamp::Always => true,
            Clamp::AfterIncrease => self.by_timer > 0 || self.by_bytes > 0,
            Clamp::AfterByteCounter => self.by_bytes > 0,
        };
        if clamps {
            self.target = self.rate;
        }
        self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(self.rules.min_rate);
        (self.by_timer, self.by_bytes) = (0, 0);
        self.bytes_left = self.rules.byte_counter.unwrap_or(0);
        self.increase_due = now + self.rules.increase_timer;
        if !self.rules.free_running {
            self.cut_due = Time::MAX;
            self.may_cut_from = now + self.rules.decrease_interval;
        }
    }

    fn on_increase_timer(&mut self) {
        self.by_timer = self.by_timer.saturating_add(1);
        let period = self.rules.increase_timer;
        let is_hyper = self.increase();
        let half = Time::from_ps(period.ps().div_ceil(2));
        self.increase_due += if is_hyper { half } else { period };
    }

    /// Raises the target if the rules say so, and brings the rate half of the way to the target.
    /// Returns whether the timer or counter that caused this is to be halved.
    fn increase(&mut self) -> bool {
        let Rules { line, fast_recovery, hyper_after, step, hyper_step, .. } = self.rules;
        let (most, least) = match self.rules.byte_counter {
            Some(_) => (self.by_timer.max(self.by_bytes), self.by_timer.min(self.by_bytes)),
            None => (self.by_timer, self.by_timer),
        };
        let is_first = u64::from(self.by_timer) + u64::from(self.by_bytes) == 1;
        let recovers = most <= fast_recovery;
        let is_hyper = !recovers && least > hyper_after;
        if self.rules.shrinks_target && is_first && self.target > 10.0 * self.rate {
            self.target /= 8.0;
        } else if is_hyper {
            let times = if self.rules.hyper_grows { least - hyper_after } else { 1 };
            self.target += hyper_step * f64::from(times);
        } else if !recovers {
            self.target += step;
        }
        self.target = self.target.min(line);
        self.rate = (self.rate + self.target) / 2.0;
        is_hyper && self.rules.hyper_halves
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The paper's rules on a line of 40 Gbps, in numbers that divide: g = 1/2, all timers 50 us, a
    /// byte counter of 10,000 bytes, one step of fast recovery, 1 and 8 Gbps.
    const PAPER: Rules = Rules {
        line: 40e9,
        g: 0.5,
        alpha0: 1.0,
        alpha_interval: Time::from_us(55),
        alpha_first: false,
        free_running: false,
        cuts_at_once: true,
        decrease_interval: Time::ZERO,
        clamp: Clamp::Always,
        shrinks_target: false,
        increase_timer: Time::from_us(50),
        byte_counter: None,
        fast_recovery: 2,
        hyper_after: 3,
        step: 1e9,
        hyper_step: 8e9,
        hyper_grows: true,
        hyper_halves: false,
        min_rate: 1e8,
    };

    /// A simulator's: everything runs freely from the first notification on.
    const FREE: Rules = Rules {
        alpha_interval: Time::from_us(1),
        free_running: true,
        cuts_at_once: false,
        decrease_interval: Time::from_us(4),
        clamp: Clamp::AfterIncrease,
        increase_timer: Time::from_us(30),
        fast_recovery: 1,
        hyper_after: 2,
        hyper_grows: false,
        ..PAPER
    };

    /// Rate and target in Gbps, and alpha, a picosecond after a time in microseconds.
    fn at(point: &mut ReactionPoint, us: u64) -> (f64, f64, f64) {
        point.advance(Time::from_ps(us * 1_000_000 + 1));
        let (target, alpha) = point.target_and_alpha();
        (point.rate() / 1e9, target / 1e9, alpha)
    }

    fn told(point: &mut ReactionPoint, us: u64) {
        point.on_notification(Time::from_us(us));
    }

    /// From 40 Gbps half is left, alpha stays 1. Every 50 us: twice half of the way back to 40
    /// Gbps, 30 and 35; then the target would be 41 Gbps, more than the line's rate: 37.5.
    #[test]
    fn a_notification_cuts_at_once_and_fast_recovery_returns_to_the_rate_before() {
        let mut point = ReactionPoint::new(PAPER);
        assert_eq!(at(&mut point, 99), (40.0, 40.0, 1.0));
        told(&mut point, 100);
        assert_eq!(at(&mut point, 100), (20.0, 40.0, 1.0));
        assert_eq!(at(&mut point, 149), (20.0, 40.0, 1.0));
        assert_eq!(at(&mut point, 150), (30.0, 40.0, 1.0));
        assert_eq!(at(&mut point, 200), (35.0, 40.0, 0.5));
        assert_eq!(at(&mut point, 250), (37.5, 40.0, 0.25));
    }

    /// A second notification 10 us after the first: the target is 20 Gbps now, the rate 10. Then 15
    /// and 17.5; from the third step on the target rises by 1 Gbps: 21 and 19.25; from the fourth
    /// on by 8 and 16 Gbps, up to the line's rate: 29 and 24.125, 40 and 32.0625.
    #[test]
    fn after_fast_recovery_the_target_rises_and_then_faster() {
        let mut point = ReactionPoint::new(PAPER);
        told(&mut point, 0);
        told(&mut point, 10);
        let of = |point: &mut ReactionPoint, us| {
            let (rate, target, _) = at(point, us);
            (rate, target)
        };
        assert_eq!(of(&mut point, 59), (10.0, 20.0));
        assert_eq!(of(&mut point, 60), (15.0, 20.0));
        assert_eq!(of(&mut point, 110), (17.5, 20.0));
        assert_eq!(of(&mut point, 160), (19.25, 21.0));
        assert_eq!(of(&mut point, 210), (24.125, 29.0));
        assert_eq!(of(&mut point, 260), (32.0625, 40.0));
        // A single look at the end gives the same as a look after every step.
        let mut later = ReactionPoint::new(PAPER);
        told(&mut later, 0);
        told(&mut later, 10);
        assert_eq!(of(&mut later, 260), (32.0625, 40.0));
        // Steps of the same size: 29 and 24.125, 37 and 30.5625.
        let mut even = ReactionPoint::new(Rules { hyper_grows: false, ..PAPER });
        told(&mut even, 0);
        told(&mut even, 10);
        assert_eq!(of(&mut even, 260), (30.5625, 37.0));
        // Halved: the step at 210 us is followed by one at 235, 260 and 285 us.
        let mut halved = ReactionPoint::new(Rules { hyper_halves: true, ..PAPER });
        told(&mut halved, 0);
        told(&mut halved, 10);
        assert_eq!(of(&mut halved, 234), (24.125, 29.0));
        assert_eq!(of(&mut halved, 235), (32.0625, 40.0));
        assert_eq!(of(&mut halved, 260), (36.03125, 40.0));
    }

    /// From 1, alpha halves every 55 us without a notification; one brings it half of the way back
    /// to 1, after the cut, or before it.
    #[test]
    fn alpha_decays_without_notifications_and_rises_with_them() {
        let mut point = ReactionPoint::new(PAPER);
        told(&mut point, 0);
        assert_eq!(at(&mut point, 54).2, 1.0);
        assert_eq!(at(&mut point, 55).2, 0.5);
        assert_eq!(at(&mut point, 110).2, 0.25);
        // At 50 and 100 us the rate rose to 30 and 35 Gbps: 35 (1 - 0.25 / 2), and alpha 0.625.
        let mut first = point;
        first.rules.alpha_first = true;
        told(&mut point, 120);
        assert_eq!(at(&mut point, 120), (30.625, 35.0, 0.625));
        // The next decay is 55 us after the notification, not after the last decay.
        assert_eq!(at(&mut point, 174).2, 0.625);
        assert_eq!(at(&mut point, 175).2, 0.3125);
        // 35 (1 - 0.625 / 2).
        told(&mut first, 120);
        assert_eq!(at(&mut first, 120), (24.0625, 35.0, 0.625));
    }

    /// A notification at the very time at which a timer expires comes first: alpha does not decay,
    /// and the rate is cut, not increased and then cut.
    #[test]
    fn what_comes_when_a_timer_expires_is_in_time() {
        let mut point = ReactionPoint::new(Rules { alpha_interval: Time::from_us(50), ..PAPER });
        told(&mut point, 0);
        told(&mut point, 50);
        assert_eq!(at(&mut point, 50), (10.0, 20.0, 1.0));
        // Alpha's timer and the other one expire together: alpha's first, then 15 Gbps.
        assert_eq!(at(&mut point, 100), (15.0, 20.0, 0.5));
    }

    /// 10,000 bytes are ten packets. After the cut to 20 Gbps the tenth brings 30, the twentieth
    /// 35, and the thirtieth, the first behind fast recovery, 37.5. A gap is that of the rate
    /// before.
    #[test]
    fn a_byte_counter_increases_the_rate_too() {
        let rules = Rules { byte_counter: Some(10_000), ..PAPER };
        let mut point = ReactionPoint::new(rules);
        // Bytes before the first cut do not count: 1,000 bytes at 40 Gbps take 200 ns.
        assert_eq!(point.on_send(Time::ZERO, 9_999), Time::from_ps(1_999_800));
        told(&mut point, 1);
        let mut gaps = Vec::new();
        for packet in 0..30 {
            gaps.push(point.on_send(Time::from_us(1 + packet), 1_000).ps());
        }
        let expected = |ps: u64| vec![ps; 10];
        // 1000 * 8 / 30 Gbps = 266.67 ns, and / 35 Gbps = 228.57 ns.
        assert_eq!(gaps, [expected(400_000), expected(266_667), expected(228_571)].concat());
        assert_eq!(at(&mut point, 30).0, 37.5);
    }

    /// The target rises as soon as one counter is behind fast recovery, and faster when both are
    /// behind their third increase.
    #[test]
    fn both_counters_must_have_passed_for_the_faster_increase() {
        let rules = Rules { byte_counter: Some(1_000), line: 400e9, ..PAPER };
        let mut point = ReactionPoint::new(rules);
        (point.target, point.rate) = (200e9, 100e9);
        point.increase_due = Time::from_us(50);
        let target = |point: &ReactionPoint| point.target_and_alpha().0 / 1e9;
        // Each packet is a period. Two leave the target where it is, and two more raise it by 1.
        let mut targets = Vec::new();
        for packet in 0..4 {
            point.on_send(Time::from_us(packet), 1_000);
            targets.push(target(&point));
        }
        // The timer's first three steps raise it by 1 each, since the bytes' count is 4.
        for us in [50, 100, 150] {
            at(&mut point, us);
            targets.push(target(&point));
        }
        assert_eq!(targets, [200.0, 200.0, 201.0, 202.0, 203.0, 204.0, 205.0]);
        // Both counts are 4 now: 8. A fifth packet does not change the lesser count; the fifth step
        // of the timer makes it 5: 16.
        at(&mut point, 200);
        assert_eq!(target(&point), 213.0);
        point.on_send(Time::from_us(201), 1_000);
        assert_eq!(target(&point), 221.0);
        at(&mut point, 250);
        assert_eq!(target(&point), 237.0);
    }

    /// The first notification comes at 100 us. Alpha is updated at 101, 102, ..., cuts are
    /// considered at 104, 108, ...: the first one is made at 104 us, with an alpha of 1/16.
    #[test]
    fn free_running_timers_find_notifications_later() {
        let mut point = ReactionPoint::new(FREE);
        told(&mut point, 100);
        assert_eq!(at(&mut point, 100), (40.0, 40.0, 1.0));
        assert_eq!(at(&mut point, 101), (40.0, 40.0, 0.5));
        assert_eq!(at(&mut point, 103), (40.0, 40.0, 0.125));
        // 40 (1 - 1/32).
        assert_eq!(at(&mut point, 104), (38.75, 40.0, 0.0625));
        // One at 105.5 us counts for alpha at 106 us, and for the cut at 108 us.
        point.on_notification(Time::from_ns(105_500));
        assert_eq!(at(&mut point, 105), (38.75, 40.0, 0.03125));
        assert_eq!(at(&mut point, 106), (38.75, 40.0, 0.515625));
        let alpha = 0.515625 / 4.0;
        // There was no increase since the last cut, so the target stays.
        assert_eq!(at(&mut point, 108), (38.75 * (1.0 - alpha / 2.0), 40.0, alpha));
        // None came since: nothing is cut at 112 us.
        assert_eq!(at(&mut point, 137).0, 38.75 * (1.0 - alpha / 2.0));
        // 30 us after the cut.
        assert_eq!(at(&mut point, 138).0, (38.75 * (1.0 - alpha / 2.0) + 40.0) / 2.0);
    }

    /// Timers of 4 us: a cut at 4 us, an increase at 8 us, and there a cut after it, which makes
    /// the rate of that moment the target.
    #[test]
    fn an_increase_comes_before_a_cut_at_the_same_time() {
        let rules = Rules { g: 0.0, increase_timer: Time::from_us(4), alpha0: 0.5, ..FREE };
        let mut point = ReactionPoint::new(rules);
        told(&mut point, 0);
        assert_eq!(at(&mut point, 4), (30.0, 40.0, 0.5));
        told(&mut point, 5);
        assert_eq!(at(&mut point, 8), (35.0 * 0.75, 35.0, 0.5));
    }

    /// Cuts of 20 Gbps and more, at 0 and at 1 us; with a step at 50 us before the third.
    #[test]
    fn a_target_may_be_kept() {
        let target = |clamp: Clamp, step_by: Option<&str>| {
            let rules = Rules { clamp, byte_counter: Some(1_000), ..PAPER };
            let mut point = ReactionPoint::new(rules);
            told(&mut point, 0);
            match step_by {
                Some("timer") => point.advance(Time::from_us(51)),
                Some(_) => drop(point.on_send(Time::from_us(1), 1_000)),
                None => {}
            }
            told(&mut point, 60);
            let (target, _) = point.target_and_alpha();
            target / 1e9
        };
        // Without a step the rate is 20 Gbps at the second cut, with one it is 30.
        let all = |clamp| [None, Some("timer"), Some("bytes")].map(|by| target(clamp, by));
        let timer_only = |clamp| {
            let mut point = ReactionPoint::new(Rules { clamp, ..PAPER });
            told(&mut point, 0);
            told(&mut point, 10);
            let (target, _) = point.target_and_alpha();
            target / 1e9
        };
        assert_eq!([Clamp::Always, Clamp::AfterIncrease].map(timer_only), [20.0, 40.0]);
        // The timer's step at 50 us comes before the second notification at 60 us in any case.
        assert_eq!(all(Clamp::Always), [30.0, 30.0, 35.0]);
        assert_eq!(all(Clamp::AfterIncrease), [30.0, 30.0, 35.0]);
        assert_eq!(all(Clamp::AfterByteCounter), [40.0, 40.0, 35.0]);
    }

    /// From 40 Gbps to 4 and 0.4: a target above ten times the rate becomes 5 Gbps, not 40, with
    /// the first step; the second step is one as always.
    #[test]
    fn a_target_far_above_may_shrink() {
        let rules = Rules { shrinks_target: true, clamp: Clamp::AfterIncrease, ..PAPER };
        let mut point = ReactionPoint::new(rules);
        for us in 0..6 {
            told(&mut point, us);
        }
        // Alpha is 1: 20, 10, 5, 2.5, 1.25, 0.625 Gbps, and the target 40.
        assert_eq!(at(&mut point, 54), (0.625, 40.0, 1.0));
        assert_eq!(at(&mut point, 55).1, 5.0);
        assert_eq!(at(&mut point, 55).0, 2.8125);
        assert_eq!(at(&mut point, 105).0, 3.90625);
    }

    /// At most one cut in 50 us: what comes meanwhile is served at the end of that time, once.
    #[test]
    fn cuts_may_be_kept_apart() {
        let rules = Rules { decrease_interval: Time::from_us(50), ..PAPER };
        let rules = Rules { increase_timer: Time::from_ms(1), ..rules };
        let mut point = ReactionPoint::new(rules);
        told(&mut point, 0);
        told(&mut point, 10);
        told(&mut point, 20);
        assert_eq!(at(&mut point, 49).0, 20.0);
        assert_eq!(at(&mut point, 50).0, 10.0);
        assert_eq!(at(&mut point, 120).0, 10.0);
        // 70 us after the last cut, one comes at once. Alpha has fallen to 0.5 at 75 us.
        told(&mut point, 121);
        assert_eq!(at(&mut point, 121).0, 7.5);
        // The first one may wait too.
        let mut waits = ReactionPoint::new(Rules { cuts_at_once: false, ..rules });
        told(&mut waits, 10);
        assert_eq!(at(&mut waits, 59).0, 40.0);
        assert_eq!(at(&mut waits, 60).0, 20.0);
        // Where timers run freely, the first may come at once: the next are considered at 14 us,
        // ...
        let mut free = ReactionPoint::new(Rules { cuts_at_once: true, g: 0.0, ..FREE });
        told(&mut free, 10);
        assert_eq!(at(&mut free, 10).0, 20.0);
        assert_eq!(at(&mut free, 14).0, 20.0);
        told(&mut free, 17);
        assert_eq!(at(&mut free, 18).0, 10.0);
    }

    #[test]
    fn the_rate_stays_between_the_least_one_and_the_line_s() {
        let mut point = ReactionPoint::new(PAPER);
        (0..20).for_each(|us| told(&mut point, us));
        assert_eq!(at(&mut point, 20).0, 0.1);
        at(&mut point, 100_000);
        assert!(point.rate() <= 40e9 && point.rate() > 39.999e9, "{}", point.rate());
    }
}

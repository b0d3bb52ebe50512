//! A second, naive reaction point, with an event for every expiry of every timer and a log of all
//! that has happened, compared with the one in use over random sequences.

use super::reaction::{Clamp, ReactionPoint, Rules};
use spillway_engine::{Stream, Time};

/// The purpose of a pending event, in the order in which events of the same time are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    Alpha,
    Increase,
    Cut,
}

/// What has happened, in order.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Entry {
    Notified,
    Alpha,
    Considered,
    Cut,
    ByTimer,
    ByBytes,
    Sent(u64),
}

struct Naive {
    rules: Rules,
    pending: Vec<(Time, Timer)>,
    log: Vec<(Time, Entry)>,
    rate: f64,
    target: f64,
    alpha: f64,
}

impl Naive {
    fn new(rules: Rules) -> Naive {
        let Rules { line, alpha0, .. } = rules;
        let (pending, log) = (Vec::new(), Vec::new());
        Naive { rules, pending, log, rate: line, target: line, alpha: alpha0 }
    }

    /// What the log holds since the last entry of a kind, the latest first.
    fn since(&self, kind: Entry) -> impl Iterator<Item = Entry> {
        self.log.iter().rev().map(|(_, entry)| *entry).take_while(move |entry| *entry != kind)
    }

    fn has(&self, kind: Entry) -> bool {
        self.log.iter().any(|(_, entry)| *entry == kind)
    }

    fn last(&self, kind: Entry) -> Option<Time> {
        self.log.iter().rev().find(|(_, entry)| *entry == kind).map(|(time, _)| *time)
    }

    fn note(&mut self, now: Time, entry: Entry) {
        self.log.push((now, entry));
    }

    fn schedule(&mut self, timer: Timer, at: Time) {
        self.pending.retain(|(_, other)| *other != timer);
        self.pending.push((at, timer));
    }

    /// Handles every event before a time, one after the other.
    fn run_to(&mut self, now: Time) {
        while let Some(first) = self.pending.iter().min().copied().filter(|(at, _)| *at < now) {
            self.pending.retain(|other| *other != first);
            let (at, timer) = first;
            match timer {
                Timer::Alpha => {
                    // The very first notification starts the timer and does not count.
                    let mut told =
                        self.since(Entry::Alpha).filter(|e| *e == Entry::Notified).count();
                    if !self.has(Entry::Alpha) {
                        told -= 1;
                    }
                    let rises = self.rules.free_running && told > 0;
                    self.smooth(if rises { 1.0 } else { 0.0 });
                    self.note(at, Entry::Alpha);
                    self.schedule(Timer::Alpha, at + self.rules.alpha_interval);
                }
                Timer::Increase => {
                    self.note(at, Entry::ByTimer);
                    let half = self.increase();
                    let period = self.rules.increase_timer.ps();
                    let wait = if half { period.div_ceil(2) } else { period };
                    self.schedule(Timer::Increase, at + Time::from_ps(wait));
                }
                Timer::Cut => {
                    let is_told = self.since(Entry::Considered).any(|e| e == Entry::Notified);
                    let first_is_served = self.rules.cuts_at_once
                        && !self.has(Entry::Considered)
                        && self.log.iter().filter(|(_, e)| *e == Entry::Notified).count() == 1;
                    self.note(at, Entry::Considered);
                    if !self.rules.free_running {
                        self.cut(at);
                    } else {
                        self.schedule(Timer::Cut, at + self.rules.decrease_interval);
                        if is_told && !first_is_served {
                            self.cut(at);
                        }
                    }
                }
            }
        }
    }

    fn smooth(&mut self, sample: f64) {
        self.alpha = (1.0 - self.rules.g) * self.alpha + self.rules.g * sample;
    }

    fn notify(&mut self, now: Time) {
        self.run_to(now);
        let is_first = !self.has(Entry::Notified);
        let began =
            self.log.iter().find(|(_, entry)| *entry == Entry::Notified).map_or(now, |e| e.0);
        self.note(now, Entry::Notified);
        let interval = self.rules.decrease_interval;
        if self.rules.free_running {
            if is_first {
                self.schedule(Timer::Alpha, now + self.rules.alpha_interval);
                self.schedule(Timer::Cut, now + interval);
                if self.rules.cuts_at_once {
                    self.cut(now);
                }
            }
            return;
        }
        self.schedule(Timer::Alpha, now + self.rules.alpha_interval);
        if self.rules.alpha_first {
            self.smooth(1.0);
        }
        let allowed = match self.last(Entry::Cut) {
            Some(last) => last + interval,
            None if self.rules.cuts_at_once => now,
            None => began + interval,
        };
        if allowed <= now {
            self.cut(now)
        } else {
            self.schedule(Timer::Cut, allowed)
        }
        if !self.rules.alpha_first {
            self.smooth(1.0);
        }
    }

    fn cut(&mut self, now: Time) {
        let increases: Vec<Entry> = self
            .since(Entry::Cut)
            .filter(|entry| matches!(entry, Entry::ByTimer | Entry::ByBytes))
            .collect();
        let clamps = match self.rules.clamp {
            Clamp::Always => true,
            Clamp::AfterIncrease => !increases.is_empty(),
            Clamp::AfterByteCounter => increases.contains(&Entry::ByBytes),
        };
        if clamps {
            self.target = self.rate;
        }
        self.rate = f64::max(self.rules.min_rate, self.rate * (1.0 - self.alpha / 2.0));
        if !self.rules.free_running {
            self.pending.retain(|(_, timer)| *timer != Timer::Cut);
        }
        self.note(now, Entry::Cut);
        self.schedule(Timer::Increase, now + self.rules.increase_timer);
    }

    /// Bytes are counted from the last cut or the last time that they raised the rate, whichever
    /// came later.
    fn send(&mut self, now: Time, bytes: u64) -> Time {
        self.run_to(now);
        let gap = bytes as f64 * 8e12 / self.rate;
        self.note(now, Entry::Sent(bytes));
        if let Some(period) = self.rules.byte_counter
            && self.has(Entry::Cut)
        {
            let counted: u64 = self
                .log
                .iter()
                .rev()
                .take_while(|(_, entry)| !matches!(entry, Entry::Cut | Entry::ByBytes))
                .map(|(_, entry)| if let Entry::Sent(bytes) = entry { *bytes } else { 0 })
                .sum();
            let is_half = self.rules.hyper_halves && self.was_hyper_by_bytes();
            if counted >= if is_half { period.div_ceil(2) } else { period } {
                self.note(now, Entry::ByBytes);
                self.increase();
            }
        }
        Time::from_ps(gap.round() as u64)
    }

    /// Whether the last increase by bytes since the last cut was a hyper increase: by the counts of
    /// that moment.
    fn was_hyper_by_bytes(&self) -> bool {
        let since_cut: Vec<Entry> = self.since(Entry::Cut).collect();
        let after_last: Vec<Entry> =
            since_cut.into_iter().skip_while(|entry| *entry != Entry::ByBytes).collect();
        !after_last.is_empty() && self.is_hyper(&after_last)
    }

    fn counts(entries: &[Entry]) -> (u32, u32) {
        let count = |kind| entries.iter().filter(|entry| **entry == kind).count() as u32;
        (count(Entry::ByTimer), count(Entry::ByBytes))
    }

    fn is_hyper(&self, entries: &[Entry]) -> bool {
        let (timer, bytes) = Naive::counts(entries);
        let all_above =
            |limit: u32| timer > limit && (self.rules.byte_counter.is_none() || bytes > limit);
        let some_above = timer > self.rules.fast_recovery || bytes > self.rules.fast_recovery;
        some_above && all_above(self.rules.hyper_after)
    }

    fn increase(&mut self) -> bool {
        let entries: Vec<Entry> = self.since(Entry::Cut).collect();
        let (timer, bytes) = Naive::counts(&entries);
        let is_hyper = self.is_hyper(&entries);
        if self.rules.shrinks_target && timer + bytes == 1 && self.target > 10.0 * self.rate {
            self.target /= 8.0;
        } else if is_hyper {
            let least = if self.rules.byte_counter.is_some() { timer.min(bytes) } else { timer };
            let steps = if self.rules.hyper_grows { least - self.rules.hyper_after } else { 1 };
            self.target += f64::from(steps) * self.rules.hyper_step;
        } else if timer > self.rules.fast_recovery || bytes > self.rules.fast_recovery {
            self.target += self.rules.step;
        }
        self.target = f64::min(self.target, self.rules.line);
        self.rate = (self.rate + self.target) / 2.0;
        is_hyper && self.rules.hyper_halves
    }
}

/// Rules of any kind, with timers that are short enough for many of them to expire.
fn rules(draw: &mut Stream) -> Rules {
    let mut one = |options: &[u64]| options[draw.below(options.len() as u64) as usize];
    let flags: [bool; 6] = [(); 6].map(|()| one(&[0, 1]) == 1);
    let [alpha_first, free_running, cuts_at_once, shrinks_target, hyper_grows, hyper_halves] =
        flags;
    let us = Time::from_us;
    Rules {
        line: one(&[10, 40, 100]) as f64 * 1e9,
        g: [1.0 / 256.0, 0.0625, 0.5][one(&[0, 1, 2]) as usize],
        alpha0: [1.0, 0.5][one(&[0, 1]) as usize],
        alpha_interval: us(one(&[1, 4, 55])),
        alpha_first,
        free_running,
        cuts_at_once,
        decrease_interval: us(one(if free_running { &[4, 50] } else { &[0, 4, 50] })),
        clamp: [Clamp::Always, Clamp::AfterIncrease, Clamp::AfterByteCounter]
            [one(&[0, 1, 2]) as usize],
        shrinks_target,
        increase_timer: Time::from_ps(one(&[3_000_001, 12_000_000, 55_000_000])),
        byte_counter: [None, Some(7_000), Some(30_001)][one(&[0, 1, 2]) as usize],
        fast_recovery: one(&[0, 1, 5]) as u32,
        hyper_after: one(&[0, 2, 5]) as u32,
        step: 4e7,
        hyper_step: 2e9,
        hyper_grows,
        hyper_halves,
        min_rate: 1e8,
    }
}

#[test]
fn both_reaction_points_agree_over_random_sequences() {
    let (mut cuts, mut raised) = (0, [0; 2]);
    for seed in 0..400 {
        let mut draw = Stream::new(seed, "dcqcn", 0);
        let rules = rules(&mut draw);
        let (mut ours, mut naive) = (ReactionPoint::new(rules), Naive::new(rules));
        let mut now = Time::ZERO;
        for step in 0..300 {
            // Many steps come exactly when timers expire.
            let wait = match draw.below(8) {
                0 => 0,
                1..=3 => 1_000_000 * draw.below(5),
                4..=6 => draw.below(900_000),
                _ => draw.below(400_000_000),
            };
            now += Time::from_ps(wait);
            if draw.below(12) == 0 {
                ours.on_notification(now);
                naive.notify(now);
            } else {
                let bytes = 1 + draw.below(1_500);
                assert_eq!(ours.on_send(now, bytes), naive.send(now, bytes), "{seed}, {step}");
            }
            let (target, alpha) = ours.target_and_alpha();
            let found = (ours.rate(), target, alpha);
            assert_eq!(found, (naive.rate, naive.target, naive.alpha), "{seed}, {step}: {rules:?}");
        }
        let count = |kind| naive.log.iter().filter(|(_, entry)| *entry == kind).count();
        cuts += count(Entry::Cut);
        raised[0] += count(Entry::ByTimer);
        raised[1] += count(Entry::ByBytes);
    }
    // The test is worth something only if all of these happen often.
    assert!(cuts > 3_000 && raised[0] > 50_000 && raised[1] > 3_000, "{cuts}, {raised:?}");
}

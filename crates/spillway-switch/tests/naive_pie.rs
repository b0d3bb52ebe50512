//! PIE beside a second, naive implementation, packet by packet.
//!
//! A verdict that does not depend on chance must be the RFC's: where a queue is calm or short, and
//! wherever the probability is 0 or 1. Gains are so large that it often is.

use crate::common::{Real, Settings, cases};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_switch::DropReason;
use spillway_switch::packet::{Packet, flags};
use std::collections::VecDeque;

const US: u64 = 1_000_000;

#[derive(Clone, Debug)]
struct Rule {
    /// In microseconds.
    target: u64,
    interval: u64,
    burst: u64,
    alpha: f64,
    beta: f64,
    mark_up_to: f64,
    drops: bool,
    /// Whether the delay is the queue over its measured rate of departures.
    by_rate: bool,
    /// Whether hits are kept apart (RFC 8033, section 5.4).
    apart: bool,
}

impl Rule {
    fn text(&self) -> String {
        let Rule { target, interval, burst, alpha, beta, mark_up_to, drops, by_rate, apart } = self;
        let delay = if *by_rate { "rate" } else { "sojourn" };
        let not_ect = if *drops { "drop" } else { "pass" };
        format!(
            "target = \"{target}us\"\nupdate_interval = \"{interval}us\"\nburst = \"{burst}us\"\n\
             alpha = {alpha:?}\nbeta = {beta:?}\nmark_up_to = {mark_up_to:?}\n\
             not_ect = \"{not_ect}\"\ndelay = \"{delay}\"\nderandomize = {apart}"
        )
    }
}

#[derive(Debug, Default)]
struct Queue {
    /// When each packet joined.
    waiting: VecDeque<u64>,
    p: f64,
    current_delay: f64,
    old_delay: f64,
    burst_left: i64,
    /// When the cycle of measurement began, and the bytes sent since.
    cycle: Option<(u64, u64)>,
    /// How long 16 KB take on average; 0 before it is known.
    cycle_time: f64,
    /// The probabilities of the arrivals that could have been hit since the last hit.
    spared: Vec<f64>,
    /// Whether one of them may have been hit without a trace.
    is_unsure: bool,
}

const CYCLE: u64 = 16_384;

impl Queue {
    /// A packet leaves, and its wait or the rate of departures tells the delay (RFC 8033, sections
    /// 5.1 and 5.3). The average halves what is past.
    fn depart(&mut self, now: u64) -> bool {
        let Some(since) = self.waiting.pop_front() else { return false };
        let left = self.waiting.len() as u64 * 1500;
        self.current_delay = if left == 0 { 0.0 } else { (now - since) as f64 * 1e-12 };
        if let Some((began, sent)) = self.cycle {
            self.cycle = Some((began, sent + 1500));
            if sent + 1500 >= CYCLE {
                let took = (now - began) as f64 * 1e-12;
                let known = self.cycle_time > 0.0;
                self.cycle_time = if known { (self.cycle_time + took) / 2.0 } else { took };
                self.cycle = None;
            }
        }
        if self.cycle.is_none() && left >= CYCLE {
            self.cycle = Some((now, 0));
        }
        true
    }

    /// RFC 8033, section 5.2, in seconds.
    fn update(&mut self, rule: &Rule) {
        if rule.by_rate {
            let bytes = self.waiting.len() as f64 * 1500.0;
            self.current_delay = bytes / CYCLE as f64 * self.cycle_time;
        }
        let (target, delay) = (rule.target as f64 / 1e6, self.current_delay);
        let mut delta = rule.alpha * (delay - target) + rule.beta * (delay - self.old_delay);
        let limits = [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1];
        let factors = [2048.0, 512.0, 128.0, 32.0, 8.0, 2.0];
        if let Some(i) = (0..6).find(|&i| self.p < limits[i]) {
            delta /= factors[i];
        }
        if self.p >= 0.1 && delta > 0.02 {
            delta = 0.02;
        }
        self.p += delta;
        if delay == 0.0 && self.old_delay == 0.0 {
            self.p *= 0.98;
        }
        self.p = self.p.clamp(0.0, 1.0);
        self.burst_left = (self.burst_left - rule.interval as i64).max(0);
        if self.p == 0.0 && delay < target / 2.0 && self.old_delay < target / 2.0 {
            self.burst_left = rule.burst as i64;
        }
        self.old_delay = delay;
    }

    /// Whether an arrival is hit; `None` if that depends on chance.
    fn is_hit(&mut self, rule: &Rule) -> Option<bool> {
        let is_calm = self.old_delay < rule.target as f64 / 2e6 && self.p < 0.2;
        if self.burst_left > 0 || is_calm || self.waiting.len() <= 2 {
            return Some(false);
        }
        if self.p == 0.0 {
            self.forget();
            return Some(false);
        }
        self.spared.push(self.p);
        let sum: f64 = self.spared.iter().sum();
        match rule.apart {
            _ if self.p == 1.0 => Some(true),
            true if self.is_unsure => None,
            true if sum < 0.85 => Some(false),
            true if sum >= 8.5 => Some(true),
            _ => None,
        }
    }

    /// Whether a hit marks or loses the packet.
    fn effect(&self, rule: &Rule, ect: bool) -> (bool, bool) {
        if self.p > rule.mark_up_to {
            return (false, true);
        }
        (ect, !ect && rule.drops)
    }

    fn forget(&mut self) {
        self.spared.clear();
        self.is_unsure = false;
    }
}

#[derive(Clone, Debug)]
enum Step {
    Arrive { port: usize, ect: bool, packets: usize },
    Depart { port: usize, after: u64 },
    Update { times: usize },
}

/// Runs both. Returns how many packets were marked, lost, passed, and left to chance.
fn compare(rule: &Rule, steps: &[Step]) -> Result<[usize; 4], TestCaseError> {
    let settings = Settings { ports: 2, aqm: ("pie", rule.text()), ..Settings::default() };
    let mut real = Real::new(&settings);
    let queue = || Queue { burst_left: rule.burst as i64, ..Queue::default() };
    let mut queues = [queue(), queue()];
    let (mut now, mut number, mut counts) = (US, 0, [0; 4]);
    for step in steps {
        match *step {
            Step::Arrive { port, ect, packets } => {
                for _ in 0..packets {
                    now += 1;
                    let flags = if ect { flags::ECT } else { 0 };
                    let packet = Packet { size: 1500, flags, ..Packet::default() };
                    let id = real.insert(number, packet);
                    let (time, packet) = (Time::from_ps(now), real.packets[id]);
                    real.switch.enqueue(time, port as u32, id, &packet, &mut real.packets);
                    let is_marked = real.packets[id].flags & flags::CE != 0;
                    let is_lost = real.take_lost() == [(number, DropReason::Aqm)];
                    let (queue, outcome) = (&mut queues[port], (is_marked, is_lost));
                    let (expected, effect) = (queue.is_hit(rule), queue.effect(rule, ect));
                    if let Some(is_hit) = expected {
                        let effect = if is_hit { effect } else { (false, false) };
                        prop_assert_eq!(outcome, effect, "packet {}", number);
                    }
                    let has_trace = effect != (false, false);
                    match expected.or(has_trace.then_some(outcome == effect)) {
                        Some(true) => queue.forget(),
                        Some(false) => {}
                        None => queue.is_unsure = true,
                    }
                    let outcome = match (expected, is_marked, is_lost) {
                        (None, ..) => 3,
                        (_, true, _) => 0,
                        (.., true) => 1,
                        _ => 2,
                    };
                    counts[outcome] += 1;
                    if !is_lost {
                        queues[port].waiting.push_back(now);
                    }
                    number += 1;
                }
            }
            Step::Depart { port, after } => {
                now += after * US;
                if !queues[port].depart(now) {
                    continue;
                }
                let time = Time::from_ps(now);
                let id = real.switch.dequeue(time, port as u32, &mut real.packets).unwrap();
                real.packets.remove(id);
            }
            Step::Update { times } => {
                for _ in 0..times {
                    now += rule.interval * US;
                    real.switch.on_timer(Time::from_ps(now), 1);
                    queues.iter_mut().for_each(|queue| queue.update(rule));
                }
            }
        }
    }
    Ok(counts)
}

fn rule() -> impl Strategy<Value = Rule> {
    let times = (1u64..40, 1u64..10, select(vec![0u64, 0, 20]));
    let gains = (select(vec![100.0, 1e5, 1e8]), select(vec![0.0, 1e4, 1e7]));
    let marks = (select(vec![0.1, 1.0, 1.0]), any::<bool>(), any::<bool>(), any::<bool>());
    (times, gains, marks).prop_map(
        |((target, interval, burst), (alpha, beta), (mark_up_to, drops, by_rate, apart))| Rule {
            target,
            interval,
            burst,
            alpha,
            beta,
            mark_up_to,
            drops,
            by_rate,
            apart,
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let arrive = (0..2usize, any::<bool>(), select(vec![1usize, 2, 3, 12]))
        .prop_map(|(port, ect, packets)| Step::Arrive { port, ect, packets });
    let depart = (0..2usize, select(vec![0u64, 1, 5, 20]))
        .prop_map(|(port, after)| Step::Depart { port, after });
    let update = select(vec![1usize, 2, 60]).prop_map(|times| Step::Update { times });
    vec(prop_oneof![6 => arrive, 8 => depart, 2 => update], 1..300)
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn hits_are_those_of_the_rfc(rule in rule(), steps in steps()) {
        compare(&rule, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_mark_lose_and_pass() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    let mut totals = [[0; 4]; 2];
    for _ in 0..400 {
        let rule = rule().new_tree(&mut runner).unwrap().current();
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let counts = compare(&rule, &steps).unwrap();
        (0..4).for_each(|i| totals[usize::from(rule.by_rate)][i] += counts[i]);
    }
    for [marked, lost, passed, by_chance] in totals {
        assert!(marked > 200 && lost > 200 && passed > 2000, "{totals:?}");
        assert!(by_chance < passed, "{totals:?}");
    }
}

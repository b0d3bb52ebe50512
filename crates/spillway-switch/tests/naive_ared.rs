//! Adaptive RED beside a second, naive implementation, packet by packet.
//!
//! The naive one is woken at every interval; the real one makes up for intervals when packets
//! arrive. Samples, which change nothing, have the naive one's max_p.
//! A verdict that does not depend on chance must be the formula's: below min, from max (gentle:
//! twice max) on, and wherever the probability is 0 or 1. Where it depends on chance, marks tell
//! nothing of max_p, so some of the settings bring it to 1 and next to 0.

use crate::common::{Real, Settings, cases};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_switch::DropReason;
use spillway_switch::packet::{Packet, flags};
use std::collections::VecDeque;

/// The picoseconds of a full packet of 1500 bytes at 10 Gbps.
const PACKET: u64 = 1_200_000;
const PER_PORT: usize = 2;

#[derive(Clone, Debug)]
struct Rule {
    /// In packets.
    min: u64,
    max: u64,
    first: f64,
    weight: f64,
    /// In nanoseconds.
    interval: u64,
    alpha: f64,
    beta: f64,
    bounds: (f64, f64),
    gentle: bool,
    of_port: bool,
    drops: bool,
}

impl Rule {
    fn text(&self) -> String {
        let Rule { min, max, first, weight, interval, alpha, beta, gentle, .. } = self;
        let (bottom, top) = self.bounds;
        let scope = if self.of_port { "port" } else { "queue" };
        let not_ect = if self.drops { "drop" } else { "pass" };
        format!(
            "min = \"{min}pkt\"\nmax = \"{max}pkt\"\nmax_probability = {first:?}\n\
             weight = {weight:?}\ninterval = \"{interval}ns\"\nalpha = {alpha:?}\nbeta = {beta:?}\n\
             bottom = {bottom:?}\ntop = {top:?}\ngentle = {gentle}\nscope = \"{scope}\"\n\
             not_ect = \"{not_ect}\""
        )
    }
}

/// A queue or a port.
#[derive(Clone, Debug, Default)]
struct Queue {
    waiting: VecDeque<usize>,
    max_p: f64,
    average: f64,
    idle_from: u64,
    /// Whether rounding may have decided about a step.
    is_unsure: bool,
}

impl Queue {
    /// The average that an arrival would have, before its own sample.
    fn average_at(&self, now: u64, weight: f64) -> f64 {
        let mut average = self.average;
        if self.waiting.is_empty() {
            for _ in 0..now.saturating_sub(self.idle_from) / PACKET {
                average *= 1.0 - weight;
            }
        }
        average
    }

    /// An interval ends.
    fn adapt(&mut self, now: u64, rule: &Rule) {
        let (min, max) = (rule.min as f64, rule.max as f64);
        let average = self.average_at(now, rule.weight);
        let (low, high) = (min + 0.4 * (max - min), min + 0.6 * (max - min));
        // The two add up in different orders.
        let at_edge = [low, high].iter().any(|edge| (average - edge).abs() < 1e-9);
        self.is_unsure |= at_edge && rule.weight < 1.0;
        if average > high && self.max_p <= rule.bounds.1 {
            let alpha = if rule.alpha < self.max_p / 4.0 { rule.alpha } else { self.max_p / 4.0 };
            self.max_p += alpha;
            if self.max_p > 1.0 {
                self.max_p = 1.0;
            }
        } else if average < low && self.max_p >= rule.bounds.0 {
            self.max_p *= rule.beta;
        }
    }

    /// Whether an arrival is hit; `None` if that depends on chance.
    fn arrives(&mut self, now: u64, rule: &Rule) -> Option<bool> {
        self.average = self.average_at(now, rule.weight);
        if self.waiting.is_empty() {
            self.idle_from = self.idle_from.max(now);
        }
        let length = self.waiting.len() as f64;
        self.average = (1.0 - rule.weight) * self.average + rule.weight * length;
        let (avg, min, max) = (self.average, rule.min as f64, rule.max as f64);
        let at_edge = |edge: f64| (avg - edge).abs() < 1e-6;
        if at_edge(min) || at_edge(max) || at_edge(2.0 * max) {
            return None;
        }
        let p = if avg < min {
            0.0
        } else if avg < max {
            self.max_p * (avg - min) / (max - min)
        } else if rule.gentle && avg < 2.0 * max {
            self.max_p + (1.0 - self.max_p) * (avg - max) / max
        } else {
            1.0
        };
        // A chance of 1e-13 does not come about in these cases.
        match p {
            never if never < 1e-13 => Some(false),
            always if always > 1.0 - 1e-13 => Some(true),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Arrive { port: usize, queue: usize, ect: bool, packets: usize },
    Depart { port: usize, packets: usize },
    Wait { ns: u64 },
}

/// What became of packets.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    marked: usize,
    lost: usize,
    passed: usize,
    by_chance: usize,
    /// Hits and misses that only max_p decides: above min, and below max or twice max.
    by_max_p: [usize; 2],
    /// Samples of a max_p that is no longer what it was at first.
    sampled: usize,
}

/// Samples every queue.
fn check_samples(
    now: u64,
    rule: &Rule,
    real: &Real,
    queues: &[Queue],
    counts: &mut Counts,
) -> Result<(), TestCaseError> {
    for queue in 0..2 * PER_PORT {
        let state = &queues[if rule.of_port { queue / PER_PORT } else { queue }];
        let sample = real.switch.sample_aqm(Time::from_ps(now), queue as u32).unwrap();
        prop_assert_eq!(sample.min_bytes, Some(rule.min * 1500));
        prop_assert_eq!(sample.max_bytes, Some(rule.max * 1500));
        let max_p = sample.max_probability.unwrap();
        let slope = sample.slope_per_mb.unwrap_or(0.0);
        prop_assert_eq!(sample.slope_per_mb.is_some(), rule.max > rule.min);
        prop_assert!(
            (slope * 1.5e-3 * (rule.max - rule.min) as f64 - max_p).abs() < 1e-9 || slope == 0.0
        );
        if !state.is_unsure {
            prop_assert!((max_p - state.max_p).abs() <= 1e-12 * max_p, "{} {}", max_p, state.max_p);
            counts.sampled += usize::from(max_p != rule.first);
        }
    }
    Ok(())
}

/// Runs both.
fn compare(rule: &Rule, steps: &[Step]) -> Result<Counts, TestCaseError> {
    let settings = Settings {
        ports: 2,
        queues_per_port: PER_PORT,
        queue_classes: (1, 1),
        aqm: ("ared", rule.text()),
        ..Settings::default()
    };
    let mut real = Real::new(&settings);
    let place =
        |port: usize, queue: usize| if rule.of_port { port } else { port * PER_PORT + queue };
    let mut queues = vec![Queue { max_p: rule.first, ..Queue::default() }; 2 * PER_PORT];
    let (mut now, mut number, mut counts) = (0, 0, Counts::default());
    let (interval, mut free) = (rule.interval * 1000, [0; 2]);
    let mut interval_end = interval;
    let mut reach = |now: u64, queues: &mut Vec<Queue>| {
        while interval_end <= now {
            queues.iter_mut().for_each(|queue| queue.adapt(interval_end, rule));
            interval_end += interval;
        }
    };
    for step in steps {
        match *step {
            Step::Arrive { port, queue, ect, packets } => {
                for _ in 0..packets {
                    now += 100;
                    reach(now, &mut queues);
                    let state = &mut queues[place(port, queue)];
                    let flags = if ect { flags::ECT } else { 0 };
                    let priority = queue as u8;
                    let packet = Packet { size: 1500, flags, priority, ..Packet::default() };
                    let id = real.insert(number, packet);
                    let (time, packet) = (Time::from_ps(now), real.packets[id]);
                    real.switch.enqueue(time, port as u32, id, &packet, &mut real.packets);
                    let is_marked = real.packets[id].flags & flags::CE != 0;
                    let is_lost = real.take_lost() == [(number, DropReason::Aqm)];
                    let expected = state.arrives(now, rule).filter(|_| !state.is_unsure);
                    if let Some(hit) = expected {
                        let expected = (hit && ect, hit && !ect && rule.drops);
                        prop_assert_eq!((is_marked, is_lost), expected, "packet {}", number);
                        let is_steered = state.average > rule.min as f64
                            && state.average < (rule.max * if rule.gentle { 2 } else { 1 }) as f64;
                        counts.by_max_p[usize::from(hit)] += usize::from(is_steered);
                    }
                    match (expected, is_marked, is_lost) {
                        (None, ..) => counts.by_chance += 1,
                        (_, true, _) => counts.marked += 1,
                        (.., true) => counts.lost += 1,
                        _ => counts.passed += 1,
                    }
                    if !is_lost {
                        state.waiting.push_back(number);
                    }
                    number += 1;
                }
            }
            Step::Depart { port, packets } => {
                for _ in 0..packets {
                    now = now.max(free[port]);
                    reach(now, &mut queues);
                    if !real.switch.has_backlog(port as u32) {
                        break;
                    }
                    let time = Time::from_ps(now);
                    let id = real.switch.dequeue(time, port as u32, &mut real.packets).unwrap();
                    let left = real.number(id);
                    let holds = |queue: &&mut Queue| queue.waiting.contains(&left);
                    let state = queues.iter_mut().find(holds).unwrap();
                    state.waiting.retain(|number| *number != left);
                    free[port] = now + PACKET;
                    state.idle_from = free[port];
                    real.packets.remove(id);
                }
            }
            Step::Wait { ns } => {
                now += ns * 1000;
                reach(now, &mut queues);
            }
        }
        check_samples(now, rule, &real, &queues, &mut counts)?;
    }
    Ok(counts)
}

fn rule() -> impl Strategy<Value = Rule> {
    let thresholds = (0u64..4, select(vec![0u64, 2, 5]), select(vec![1.0, 0.5, 0.25]));
    // Steps that bring max_p to 1 or next to 0 at once, or after some intervals.
    let gains = select(vec![(1.0, 1.0, 0.001), (0.25, 0.5, 0.5), (0.1, 0.01, 0.9)]);
    let bounds = select(vec![(1e-18, 1.0), (0.01, 0.5)]);
    let interval = select(vec![300u64, 1_200, 5_000]);
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (thresholds, gains, bounds, interval, flags).prop_map(
        |((min, more, weight), (first, alpha, beta), bounds, interval, flags)| {
            let (gentle, of_port, drops) = flags;
            let first = f64::min(first, bounds.1);
            let max = min + more;
            Rule { min, max, first, weight, interval, alpha, beta, bounds, gentle, of_port, drops }
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let arrive = (0..2usize, 0..2usize, any::<bool>(), 1..5usize)
        .prop_map(|(port, queue, ect, packets)| Step::Arrive { port, queue, ect, packets });
    let depart = (0..2usize, 1..5usize).prop_map(|(port, packets)| Step::Depart { port, packets });
    let wait = select(vec![300u64, 1_000, 4_000, 60_000]).prop_map(|ns| Step::Wait { ns });
    vec(prop_oneof![6 => arrive, 6 => depart, 3 => wait], 1..200)
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn marks_are_those_of_a_rule_that_is_woken(rule in rule(), steps in steps()) {
        compare(&rule, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur, also such as only max_p
/// decides.
#[test]
fn the_cases_mark_lose_and_pass() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    let mut total = Counts::default();
    for _ in 0..400 {
        let rule = rule().new_tree(&mut runner).unwrap().current();
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let counts = compare(&rule, &steps).unwrap();
        total.marked += counts.marked;
        total.lost += counts.lost;
        total.passed += counts.passed;
        total.by_chance += counts.by_chance;
        (0..2).for_each(|i| total.by_max_p[i] += counts.by_max_p[i]);
        total.sampled += counts.sampled;
    }
    let Counts { marked, lost, passed, by_chance, by_max_p: [misses, hits], sampled } = total;
    assert!(marked > 200 && lost > 200 && passed > 2000, "{total:?}");
    assert!(
        by_chance < marked + lost + passed && misses > 200 && hits > 50 && sampled > 10_000,
        "{total:?}"
    );
}

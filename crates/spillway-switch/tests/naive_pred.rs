//! PRED beside a second, naive implementation: the whole history is kept, and flows, throughput,
//! queues and settings are worked out from it anew for every packet.
//!
//! A verdict that does not depend on chance must be the formula's: nothing is marked where the
//! probability is 0, everything where it is 1. Slopes are so large that one of them holds often.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Real, Settings, cases};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_switch::packet::{Packet, flags};
use std::collections::BTreeSet;

const US: u64 = 1_000_000;
const PORTS: usize = 2;

#[derive(Clone, Debug)]
struct Rule {
    /// In microseconds.
    t_fcs: u64,
    t_qla: u64,
    has_fcs: bool,
    has_qla: bool,
    by_time: bool,
    of_port: bool,
    both_sides: bool,
    lambda: f64,
    delta: f64,
    beta: f64,
    growth: &'static str,
}

const LAMBDA_MIN: f64 = 0.05;
const MIN: f64 = 2.0;
const MIN_STEP: f64 = 1.0;
const Q_LEFT: f64 = 3.0;
/// Packets, as all queues here.
const MAX: f64 = 40.0;

impl Rule {
    fn text(&self) -> String {
        let Rule { t_fcs, t_qla, has_fcs, has_qla, lambda, delta, beta, growth, .. } = self;
        let mean = if self.by_time { "time" } else { "arrivals" };
        let scope = if self.of_port { "port" } else { "queue" };
        let trials = if self.both_sides { "both-sides" } else { "one-side" };
        let mut text = format!(
            "min = \"{MIN}pkt\"\nmax = \"{MAX}pkt\"\nlambda = {lambda:?}\nlambda_unit = \"1500B\"\n\
             fcs = {has_fcs}\nqla = {has_qla}\n"
        );
        if *has_fcs {
            text += &format!("counter = \"exact\"\nt_fcs = \"{t_fcs}us\"\nf = \"{growth}\"\n");
        }
        if *has_qla {
            text += &format!(
                "t_qla = \"{t_qla}us\"\nbeta = {beta:?}\nq_left = \"{Q_LEFT}pkt\"\n\
                 mean = \"{mean}\"\nqla_scope = \"{scope}\"\ndelta = {delta:?}\n\
                 lambda_min = {LAMBDA_MIN:?}\nmin_step = \"{MIN_STEP}pkt\"\n\
                 min_trials = \"{trials}\"\n"
            );
        }
        text
    }
}

/// What happened: when, at which queue, of which flow.
#[derive(Clone, Copy, Debug)]
enum Event {
    Joined { now: u64, queue: usize, flow: u32 },
    Left { now: u64, queue: usize },
}

#[derive(Debug)]
struct Naive<'a> {
    rule: &'a Rule,
    queues_per_port: usize,
    events: Vec<Event>,
}

impl Naive<'_> {
    fn members(&self, of: usize) -> Vec<usize> {
        match self.rule.of_port {
            true => (of * self.queues_per_port..(of + 1) * self.queues_per_port).collect(),
            false => vec![of],
        }
    }

    /// Packets in these queues just before a time.
    fn length(&self, queues: &[usize], before: u64) -> usize {
        let joined = |event: &&Event| matches!(event, Event::Joined { now, queue, .. } if *now < before && queues.contains(queue));
        let left = |event: &&Event| matches!(event, Event::Left { now, queue } if *now < before && queues.contains(queue));
        self.events.iter().filter(joined).count() - self.events.iter().filter(left).count()
    }

    /// The flows of a port in a period.
    fn flows(&self, port: usize, period: u64, until: u64) -> usize {
        let length = self.rule.t_fcs * US;
        let in_period = |event: &Event| match *event {
            Event::Joined { now, queue, flow } => {
                let is_here = queue / self.queues_per_port == port;
                (is_here && now / length == period && now <= until).then_some(flow)
            }
            Event::Left { .. } => None,
        };
        self.events.iter().filter_map(in_period).collect::<BTreeSet<u32>>().len()
    }

    /// f(N) for an arrival that the events hold already.
    fn growth(&self, port: usize, now: u64) -> f64 {
        if !self.rule.has_fcs {
            return 1.0;
        }
        let period = now / (self.rule.t_fcs * US);
        let last = if period == 0 { 0 } else { self.flows(port, period - 1, now) };
        let n = last.max(self.flows(port, period, now)).max(1) as f64;
        match self.rule.growth {
            "n" => n,
            "sqrt-n" => n.sqrt(),
            _ => n * n,
        }
    }

    /// The utility of a period, which began at `from`.
    fn utility(&self, of: usize, from: u64) -> f64 {
        let (length, queues) = (self.rule.t_qla * US, self.members(of));
        let until = from + length;
        let is_sent = |event: &&Event| matches!(event, Event::Left { now, queue } if (from..until).contains(now) && queues.contains(queue));
        let sent = self.events.iter().filter(is_sent).count() as f64 * 1500.0;
        let queue = if self.rule.by_time {
            // Between two events the length stays.
            let mut times: Vec<u64> = self
                .events
                .iter()
                .map(|event| match event {
                    Event::Joined { now, .. } | Event::Left { now, .. } => *now,
                })
                .filter(|now| (from..until).contains(now))
                .collect();
            times.insert(0, from);
            times.push(until);
            let area: f64 = times
                .windows(2)
                .map(|pair| self.length(&queues, pair[1]) as f64 * (pair[1] - pair[0]) as f64)
                .sum();
            area / length as f64
        } else {
            let arrivals: Vec<u64> = self
                .events
                .iter()
                .filter_map(|event| match event {
                    Event::Joined { now, queue, .. }
                        if (from..until).contains(now) && queues.contains(queue) =>
                    {
                        Some(*now)
                    }
                    _ => None,
                })
                .collect();
            let found: usize = arrivals.iter().map(|now| self.length(&queues, *now)).sum();
            if arrivals.is_empty() { 0.0 } else { found as f64 / arrivals.len() as f64 }
        };
        // 10 Gbps: 800 ps for a byte.
        let share = sent * 800.0 / length as f64;
        let phi = if queue <= Q_LEFT { 1.0 } else { ((MAX - queue) / (MAX - Q_LEFT)).max(0.0) };
        self.rule.beta * share + (1.0 - self.rule.beta) * phi
    }

    /// lambda and min after so many periods; `None` if two utilities are too close to call.
    fn setting(&self, of: usize, periods: u64) -> Option<(f64, f64)> {
        let (mut lambda, mut min, mut moves_min) = (self.rule.lambda, MIN, false);
        if !self.rule.has_qla {
            return Some((lambda, min));
        }
        let length = self.rule.t_qla * US;
        for four in 0..periods / 4 {
            let u: Vec<f64> = (0..4).map(|i| self.utility(of, (4 * four + i) * length)).collect();
            let near = |a: f64, b: f64| a != b && (a - b).abs() < 1e-9;
            if near(u[0], u[1]) || near(u[2], u[3]) {
                return None;
            }
            if u[0] > u[1] && u[3] > u[2] {
                if moves_min && min > MIN {
                    min -= MIN_STEP;
                } else {
                    moves_min = false;
                    lambda += self.rule.delta;
                }
            } else if u[0] < u[1] && u[3] < u[2] {
                if moves_min {
                    min = (min + MIN_STEP).min(MAX);
                } else if lambda - self.rule.delta < LAMBDA_MIN - 1e-9 {
                    (lambda, moves_min) = (LAMBDA_MIN, true);
                } else {
                    lambda -= self.rule.delta;
                }
            }
        }
        let marks_more = [true, false, false, true][(periods % 4) as usize];
        Some(match (moves_min, marks_more) {
            (false, true) => (lambda + self.rule.delta, min),
            (false, false) => ((lambda - self.rule.delta).max(0.0), min),
            (true, true) if self.rule.both_sides => (lambda, (min - MIN_STEP).max(MIN)),
            (true, true) => (lambda, min),
            (true, false) => (lambda, (min + MIN_STEP).min(MAX)),
        })
    }

    /// Whether an arrival is marked; `None` if that depends on chance.
    fn verdict(&self, now: u64, queue: usize) -> Option<bool> {
        let q = self.length(&[queue], now) as f64;
        if q >= MAX {
            return Some(true);
        }
        let port = queue / self.queues_per_port;
        let of = if self.rule.of_port { port } else { queue };
        let (lambda, min) = self.setting(of, now / (self.rule.t_qla * US))?;
        let p = lambda * self.growth(port, now) * (q - min);
        match p {
            p if p <= -1e-9 => Some(false),
            p if p >= 1.0 + 1e-9 => Some(true),
            _ if q == min => Some(false),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Arrive { queue: usize, flow: u32, packets: usize },
    Depart { port: usize, after: u64 },
}

/// Samples every queue, which changes nothing: N as if a packet of a flow that has been counted came
/// now, and the setting and the utility of the periods that are over.
fn check_samples(now: u64, real: &Real, naive: &Naive) -> Result<(), TestCaseError> {
    let rule = naive.rule;
    for queue in 0..PORTS * naive.queues_per_port {
        let sample = real.switch.sample_aqm(Time::from_ps(now), queue as u32).unwrap();
        let port = queue / naive.queues_per_port;
        let growth = naive.growth(port, now);
        prop_assert_eq!(sample.flows.is_some(), rule.has_fcs);
        if let Some(flows) = sample.flows.map(f64::from) {
            let expected = match rule.growth {
                "n" => flows,
                "sqrt-n" => flows.sqrt(),
                _ => flows * flows,
            };
            prop_assert!((growth - expected).abs() < 1e-9, "{} flows at {} ps", flows, now);
        }
        let of = if rule.of_port { port } else { queue };
        let length = rule.t_qla * US;
        let periods = now / length;
        prop_assert_eq!(sample.utility.is_some(), rule.has_qla && periods > 0);
        if let Some(utility) = sample.utility {
            let expected = naive.utility(of, (periods - 1) * length);
            prop_assert!((utility - expected).abs() < 1e-9, "{} {}", utility, expected);
        }
        let Some((lambda, min)) = naive.setting(of, periods) else { continue };
        prop_assert!((sample.lambda.unwrap() - lambda).abs() < 1e-9);
        prop_assert_eq!(sample.min_bytes, Some((min * 1500.0) as u64));
        prop_assert_eq!(sample.max_bytes, Some((MAX * 1500.0) as u64));
        // The unit of lambda is a packet.
        let slope = lambda * growth / 1.5e-3;
        prop_assert!((sample.slope_per_mb.unwrap() - slope).abs() < 1e-9 * slope.max(1.0));
    }
    Ok(())
}

/// Runs both. Returns how many packets were marked, passed, and left to chance.
fn compare(
    rule: &Rule,
    queues_per_port: usize,
    steps: &[Step],
) -> Result<[usize; 3], TestCaseError> {
    let settings = Settings {
        ports: PORTS,
        queues_per_port,
        aqm: ("pred", rule.text()),
        ..Settings::default()
    };
    let mut real = Real::new(&settings);
    let mut naive = Naive { rule, queues_per_port, events: Vec::new() };
    let (mut now, mut number, mut periods, mut counts) = (0, 0, 0, [0; 3]);
    let mut advance = |real: &mut Real, until: u64| {
        while rule.has_qla && (periods + 1) * rule.t_qla * US <= until {
            periods += 1;
            real.switch.on_timer(Time::from_us(periods * rule.t_qla), 1);
        }
    };
    for step in steps {
        match *step {
            Step::Arrive { queue, flow, packets } => {
                let queue = queue % (PORTS * queues_per_port);
                let (port, queue_class) = (queue / queues_per_port, queue % queues_per_port);
                for _ in 0..packets {
                    now += 1;
                    advance(&mut real, now);
                    let priority = queue_class as u8;
                    let packet =
                        Packet { size: 1500, flags: flags::ECT, priority, ..Packet::default() };
                    let id = real.insert_of(flow, number, packet);
                    let (time, packet) = (Time::from_ps(now), real.packets[id]);
                    real.switch.enqueue(time, port as u32, id, &packet, &mut real.packets);
                    let is_marked = real.packets[id].flags & flags::CE != 0;
                    naive.events.push(Event::Joined { now, queue, flow });
                    let expected = naive.verdict(now, queue);
                    if let Some(expected) = expected {
                        prop_assert_eq!(is_marked, expected, "packet {} at {} ps", number, now);
                    }
                    let outcome = match expected {
                        None => 2,
                        Some(true) => 0,
                        Some(false) => 1,
                    };
                    counts[outcome] += 1;
                    number += 1;
                }
            }
            Step::Depart { port, after } => {
                now += after * US + 1;
                advance(&mut real, now);
                if !real.switch.has_backlog(port as u32) {
                    continue;
                }
                let time = Time::from_ps(now);
                let id = real.switch.dequeue(time, port as u32, &mut real.packets).unwrap();
                let queue = port * queues_per_port + usize::from(real.packets[id].queue_class);
                naive.events.push(Event::Left { now, queue });
                real.packets.remove(id);
            }
        }
        check_samples(now, &real, &naive)?;
    }
    Ok(counts)
}

fn rule() -> impl Strategy<Value = Rule> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let has_fcs = prop::bool::weighted(0.7);
    let times = (1u64..8, 2u64..10);
    let slopes = select(vec![(0.1, 0.02), (0.5, 0.04), (2.0, 0.03)]);
    let growth = select(vec!["n", "sqrt-n", "n-squared"]);
    (flags, has_fcs, times, slopes, select(vec![0.0, 0.4, 0.9]), growth).prop_map(
        |((has_qla, by_time, of_port, both_sides), has_fcs, times, slopes, beta, growth)| Rule {
            t_fcs: times.0,
            t_qla: times.1,
            has_fcs,
            has_qla,
            by_time,
            of_port: of_port && has_qla,
            both_sides,
            lambda: slopes.0,
            delta: slopes.1,
            beta,
            growth,
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let arrive = (0..4usize, 0u32..6, 1..5usize).prop_map(|(queue, flow, packets)| Step::Arrive {
        queue,
        flow,
        packets,
    });
    let depart = (0..PORTS, select(vec![0u64, 1, 1, 3]))
        .prop_map(|(port, after)| Step::Depart { port, after });
    vec(prop_oneof![4 => arrive, 9 => depart], 1..120)
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn marks_are_the_formula_s(rule in rule(), queues_per_port in 1usize..3, steps in steps()) {
        compare(&rule, queues_per_port, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_mark_and_pass() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    let mut totals = [[0; 3]; 2];
    for _ in 0..400 {
        let rule = rule().new_tree(&mut runner).unwrap().current();
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let counts = compare(&rule, 2, &steps).unwrap();
        (0..3).for_each(|i| totals[usize::from(rule.has_qla)][i] += counts[i]);
    }
    for [marked, passed, by_chance] in totals {
        assert!(marked > 500 && passed > 2000, "{totals:?}");
        assert!(by_chance < 2 * passed, "{totals:?}");
    }
}

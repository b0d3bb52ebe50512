//! PRED beside a second, naive implementation: the whole history is kept, and flows, throughput,
//! queues and settings are worked out from it anew for every packet.
//!
//! A verdict that does not depend on chance must be the formula's: nothing is marked where the
//! probability is 0, everything where it is 1. Slopes are so large that one of them holds often.

mod flows;

use crate::common::{Real, Settings, cases};
use flows::Counter;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_settings::quantity::Amount;
use spillway_switch::packet::{Packet, flags};
use spillway_switch::{Buffer, DropReason};

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
    /// Whether the queues of a port are marked as one.
    marks_port: bool,
    both_sides: bool,
    /// What a period without a packet does.
    idle: &'static str,
    /// Round trips of a trial, and those that are left out; otherwise a trial is a period.
    round_trips: Option<(f64, f64)>,
    tolerance: f64,
    /// From which share on the line counts as busy, if it has a say.
    busy: Option<f64>,
    /// Packets.
    phi_end: f64,
    /// Whether packets are decided about as they leave, by the queue that they leave behind.
    at_departure: bool,
    /// Whether packets that cannot be marked are lost instead.
    drops: bool,
    counter: Counter,
    lambda: f64,
    delta: f64,
    lambda_min: f64,
    lambda_max: f64,
    min_max: f64,
    beta: f64,
    growth: &'static str,
    phi: &'static str,
    /// Bytes of a row, and bits of a probability.
    table: Option<(u64, u32)>,
}

const MIN: f64 = 2.0;
const MIN_STEP: f64 = 2.0;
const Q_LEFT: f64 = 3.0;
/// Packets, as all queues here.
const MAX: f64 = 40.0;

impl Rule {
    fn text(&self) -> String {
        let Rule { t_fcs, t_qla, has_fcs, has_qla, lambda, delta, beta, growth, phi, .. } = self;
        let Rule { lambda_min, lambda_max, min_max, .. } = self;
        let mean = if self.by_time { "time" } else { "arrivals" };
        let scope = |is_port| if is_port { "port" } else { "queue" };
        let trials = if self.both_sides { "both-sides" } else { "one-side" };
        let Rule { idle, tolerance, phi_end, .. } = self;
        let not_ect = if self.drops { "drop" } else { "pass" };
        let moment = if self.at_departure { "departure" } else { "arrival" };
        let mut text = format!(
            "preset = \"paper\"\nmin = \"{MIN}pkt\"\nmax = \"{MAX}pkt\"\nlambda = {lambda:?}\nlambda_unit = \"1500B\"\n\
             fcs = {has_fcs}\nqla = {has_qla}\nnot_ect = \"{not_ect}\"\n\
             marks_at = \"{moment}\"\nscope = \"{}\"\n",
            scope(self.marks_port)
        );
        if *has_fcs {
            text += &format!("t_fcs = \"{t_fcs}us\"\nf = \"{growth}\"\n");
            text += &self.counter.text();
        }
        if *has_qla {
            text += &format!(
                "t_qla = \"{t_qla}us\"\nbeta = {beta:?}\nphi = \"{phi}\"\nq_left = \"{Q_LEFT}pkt\"\n\
                 mean = \"{mean}\"\ndelta = {delta:?}\n\
                 lambda_min = {lambda_min:?}\nmin_step = \"{MIN_STEP}pkt\"\n\
                 min_max = \"{min_max}pkt\"\nmin_trials = \"{trials}\"\nidle = \"{idle}\"\n\
                 tolerance = {tolerance:?}\n"
            );
            if !self.marks_port {
                text += &format!("qla_scope = \"{}\"\n", scope(self.of_port));
            }
            if *phi != "reciprocal" {
                text += &format!("phi_end = \"{phi_end}pkt\"\n");
            }
            if let Some((all, settling)) = self.round_trips {
                text += &format!(
                    "trials = \"round-trips\"\ntrial_rtts = {all:?}\nsettle_rtts = {settling:?}\n"
                );
            }
            if let Some(busy) = self.busy {
                text += &format!("decides = \"trials-and-line\"\nbusy = {busy:?}\n");
            }
            if lambda_max.is_finite() {
                text += &format!("lambda_max = {lambda_max:?}\n");
            }
        }
        if let Some((step, bits)) = self.table {
            text += &format!("table_step = \"{step}B\"\ntable_bits = {bits}\n");
        }
        text
    }
}

/// What happened: when, at which queue, of which flow.
#[derive(Clone, Copy, Debug)]
enum Event {
    Came { now: u64, queue: usize, flow: u32, is_lost: bool },
    Sent { now: u64, queue: usize },
    PushedOut { now: u64, queue: usize },
}

impl Event {
    fn now(self) -> u64 {
        let (Event::Came { now, .. } | Event::Sent { now, .. } | Event::PushedOut { now, .. }) =
            self;
        now
    }

    fn queue(self) -> usize {
        let (Event::Came { queue, .. }
        | Event::Sent { queue, .. }
        | Event::PushedOut { queue, .. }) = self;
        queue
    }
}

/// What a period shows.
#[derive(Debug)]
struct Period {
    share: f64,
    queue: f64,
    least: f64,
    /// Whether nothing was sent in it, and nothing waits at its end.
    is_idle: bool,
}

#[derive(Debug)]
struct Naive<'a> {
    rule: &'a Rule,
    queues_per_port: usize,
    events: Vec<Event>,
}

impl Naive<'_> {
    fn members(&self, of: usize) -> Vec<usize> {
        if self.rule.of_port { self.queues_of(of) } else { vec![of] }
    }

    fn queues_of(&self, port: usize) -> Vec<usize> {
        (port * self.queues_per_port..(port + 1) * self.queues_per_port).collect()
    }

    /// The queues whose packets count for marks in this one.
    fn counted(&self, queue: usize) -> Vec<usize> {
        if self.rule.marks_port {
            self.queues_of(queue / self.queues_per_port)
        } else {
            vec![queue]
        }
    }

    /// Packets in these queues just before a time.
    fn length(&self, queues: &[usize], before: u64) -> usize {
        let by_then = |event: &&Event| event.now() < before && queues.contains(&event.queue());
        let (mut came, mut left) = (0, 0);
        for event in self.events.iter().filter(by_then) {
            match event {
                Event::Came { is_lost, .. } => came += usize::from(!is_lost),
                Event::Sent { .. } | Event::PushedOut { .. } => left += 1,
            }
        }
        came - left
    }

    /// N of a port, by some counter.
    fn flows(&self, counter: Counter, port: usize, now: u64) -> usize {
        let of_port = |event: &Event| match *event {
            Event::Came { now, queue, flow, .. } if queue / self.queues_per_port == port => {
                Some((now, flow))
            }
            _ => None,
        };
        let packets: Vec<(u64, u32)> = self.events.iter().filter_map(of_port).collect();
        counter.flows(self.rule.t_fcs * US, &packets, now)
    }

    /// f(N), after all arrivals so far.
    fn growth(&self, port: usize, now: u64) -> f64 {
        if !self.rule.has_fcs {
            return 1.0;
        }
        let n = self.flows(self.rule.counter, port, now) as f64;
        match self.rule.growth {
            "n" => n,
            "sqrt-n" => n.sqrt(),
            _ => n * n,
        }
    }

    /// What a period, which began at `from`, shows.
    fn period(&self, of: usize, from: u64) -> Period {
        let (length, queues) = (self.rule.t_qla * US, self.members(of));
        let until = from + length;
        let is_within = |event: &&Event| {
            (from..until).contains(&event.now()) && queues.contains(&event.queue())
        };
        let within: Vec<&Event> = self.events.iter().filter(is_within).collect();
        let sent = within.iter().filter(|event| matches!(event, Event::Sent { .. })).count();
        let (queue, least) = if self.rule.by_time {
            // Between two events the length stays.
            let mut times: Vec<u64> = within.iter().map(|event| event.now()).collect();
            times.insert(0, from);
            times.push(until);
            let area: f64 = times
                .windows(2)
                .map(|pair| self.length(&queues, pair[1]) as f64 * (pair[1] - pair[0]) as f64)
                .sum();
            let mut waiting = self.length(&queues, from);
            let mut least = waiting;
            for event in &within {
                match event {
                    Event::Came { is_lost, .. } => waiting += usize::from(!is_lost),
                    Event::Sent { .. } | Event::PushedOut { .. } => waiting -= 1,
                }
                least = least.min(waiting);
            }
            (area / length as f64, least)
        } else {
            let came = within.iter().filter(|event| matches!(event, Event::Came { .. }));
            let found: Vec<usize> = came.map(|event| self.length(&queues, event.now())).collect();
            let sum: usize = found.iter().sum();
            (sum as f64 / found.len().max(1) as f64, found.into_iter().min().unwrap_or(0))
        };
        Period {
            // 10 Gbps: 800 ps for a byte.
            share: sent as f64 * 1500.0 * 800.0 / length as f64,
            queue,
            least: least as f64,
            is_idle: sent == 0 && self.length(&queues, until) == 0,
        }
    }

    fn utility(&self, share: f64, queue: f64) -> f64 {
        let end = self.rule.phi_end;
        let line = ((end - queue) / (end - Q_LEFT)).max(0.0);
        let phi = match self.rule.phi {
            _ if queue <= Q_LEFT => 1.0,
            "linear" => line,
            "square" => line * line,
            _ => Q_LEFT / queue,
        };
        self.rule.beta * share + (1.0 - self.rule.beta) * phi
    }

    /// lambda and min after so many periods, and the last utility; `None` if two numbers are too
    /// close to call.
    fn setting(&self, of: usize, periods: u64) -> Option<(f64, f64, Option<f64>)> {
        let &Rule { delta, lambda_min, lambda_max, min_max, tolerance, .. } = self.rule;
        let (mut lambda, mut min, mut moves_min) = (self.rule.lambda, MIN, false);
        if !self.rule.has_qla {
            return Some((lambda, min, None));
        }
        let near = |a: f64, b: f64, by: f64| a != b && (a - b).abs() < by;
        let mut utility = None;
        let (mut trials, mut periods_of_trial, mut trips) = (Vec::new(), Vec::new(), 0.0);
        for number in 0..periods {
            let period = self.period(of, number * self.rule.t_qla * US);
            match self.rule.idle {
                "begins-anew" if period.is_idle => {
                    utility = Some(self.utility(period.share, period.queue));
                    (trials, periods_of_trial, trips) = (Vec::new(), Vec::new(), 0.0);
                    continue;
                }
                "pauses" if period.is_idle => continue,
                _ => {}
            }
            if let Some((all, settling)) = self.rule.round_trips {
                let wait = (period.queue * 1500.0).floor() * 800.0;
                let after = trips + (self.rule.t_qla * US) as f64 / ((25 * US) as f64 + wait);
                if near(trips, settling, 1e-4) || near(after, all, 1e-4) {
                    return None;
                }
                if trips >= settling {
                    periods_of_trial.push(period);
                }
                trips = after;
                if trips < all || periods_of_trial.is_empty() {
                    continue;
                }
            } else {
                periods_of_trial.push(period);
            }
            let mean = |part: fn(&Period) -> f64| {
                periods_of_trial.iter().map(part).sum::<f64>() / periods_of_trial.len() as f64
            };
            let (share, queue, least) =
                (mean(|of| of.share), mean(|of| of.queue), mean(|of| of.least));
            (periods_of_trial, trips) = (Vec::new(), 0.0);
            let its = self.utility(share, queue);
            utility = Some(its);
            trials.push((its, share, least));
            let &[(u1, ..), (u2, ..), (u3, ..), (u4, ..)] = &trials[..] else { continue };
            let share = trials.iter().map(|trial| trial.1).sum::<f64>() / 4.0;
            let least = trials.iter().map(|trial| trial.2).sum::<f64>() / 4.0;
            trials.clear();
            for (a, b) in [(u1, u2), (u3, u4)] {
                if [-tolerance, 0.0, tolerance].iter().any(|by| near(a, b + by, 1e-9)) {
                    return None;
                }
            }
            let is_busy = self.rule.busy.is_none_or(|busy| share >= busy);
            // Sums of shares are rounded, so not even equal ones are told from unequal ones.
            if self.rule.busy.is_some_and(|busy| (share - busy).abs() < 1e-9)
                || self.rule.busy.is_some() && near(least, Q_LEFT, 1e-9)
            {
                return None;
            }
            let is_above = |a: f64, b: f64| a > b + tolerance;
            let at_start = lambda - delta < self.rule.lambda - 1e-9;
            let holds = self.rule.busy.is_some() && is_busy && at_start;
            let (more, less) = if is_above(u1, u2) && is_above(u4, u3) {
                (true, false)
            } else if is_above(u2, u1) && is_above(u3, u4) {
                (false, !holds)
            } else {
                let has_say = self.rule.busy.is_some();
                let is_below = lambda < self.rule.lambda - 1e-9 || min > MIN + 1e-9;
                let more = least > Q_LEFT || (is_busy && is_below);
                (has_say && more, has_say && !more && !is_busy)
            };
            if more {
                if moves_min && min > MIN {
                    min = (min - MIN_STEP).max(MIN);
                } else {
                    moves_min = false;
                    lambda = (lambda + delta).min(lambda_max);
                }
            } else if less {
                if moves_min {
                    min = (min + MIN_STEP).min(min_max);
                } else if lambda - delta < lambda_min - 1e-9 {
                    (lambda, moves_min) = (lambda_min, true);
                } else {
                    lambda -= delta;
                }
            }
        }
        let marks_more = [true, false, false, true][trials.len()];
        let (lambda, min) = match (moves_min, marks_more) {
            (false, true) => ((lambda + delta).min(lambda_max), min),
            (false, false) => (lambda - delta, min),
            (true, true) if self.rule.both_sides => (lambda, (min - MIN_STEP).max(MIN)),
            (true, true) => (lambda, min),
            (true, false) => (lambda, (min + MIN_STEP).min(min_max)),
        };
        Some((lambda, min, utility))
    }

    /// Whether a packet is marked, or lost if it cannot be, by a queue of so many packets; `None`
    /// if that depends on chance.
    fn marks(&self, now: u64, queue: usize, q: usize) -> Option<bool> {
        let q = q as f64;
        if q >= MAX {
            return Some(true);
        }
        let port = queue / self.queues_per_port;
        let of = if self.rule.of_port { port } else { queue };
        let (lambda, min, _) = self.setting(of, now / (self.rule.t_qla * US))?;
        let slope = lambda * self.growth(port, now);
        let Some((step, bits)) = self.rule.table else {
            return match slope * (q - min) {
                p if p <= -1e-9 => Some(false),
                p if p >= 1.0 + 1e-9 => Some(true),
                _ if q == min => Some(false),
                _ => None,
            };
        };
        let rows = (q * 1500.0 / step as f64).floor();
        let p = slope * (rows * step as f64 / 1500.0 - min);
        let most = f64::from(bits).exp2() - 1.0;
        // A probability is the nearest of 0, 1 / most, 2 / most, ..., 1.
        match p * most {
            number if number < 0.5 - 1e-6 => Some(false),
            number if number > most - 0.5 + 1e-6 => Some(true),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
enum Step {
    Arrive { queue: usize, flow: u32, ect: bool, packets: usize },
    Depart { port: usize, after: u64 },
}

/// What became of packets, and how often a sketch did not count as many flows as there were.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    marked: usize,
    lost: usize,
    passed: usize,
    by_chance: usize,
    refused: usize,
    pushed_out: usize,
    miscounted: [usize; 2],
}

impl Counts {
    /// The count of packets with this outcome, unless they were refused.
    fn outcome(&mut self, expected: Option<bool>, is_marked: bool, is_lost: bool) -> &mut usize {
        match (expected, is_marked, is_lost) {
            (None, ..) => &mut self.by_chance,
            (_, true, _) => &mut self.marked,
            (.., true) => &mut self.lost,
            _ => &mut self.passed,
        }
    }
}

/// Samples every queue, which changes nothing: N as if a packet of a flow that has been counted
/// came now, and the setting and the utility of the periods that are over.
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
        let Some((lambda, min, utility)) = naive.setting(of, periods) else { continue };
        prop_assert_eq!(sample.utility.is_some(), utility.is_some());
        if let (Some(found), Some(expected)) = (sample.utility, utility) {
            prop_assert!((found - expected).abs() < 1e-9, "{} {}", found, expected);
        }
        prop_assert!((sample.lambda.unwrap() - lambda).abs() < 1e-9);
        prop_assert_eq!(sample.min_bytes, Some((min * 1500.0) as u64));
        prop_assert_eq!(sample.max_bytes, Some((MAX * 1500.0) as u64));
        // The unit of lambda is a packet.
        let slope = lambda * growth / 1.5e-3;
        prop_assert!((sample.slope_per_mb.unwrap() - slope).abs() < 1e-9 * slope.max(1.0));
    }
    Ok(())
}

/// A rule at a switch.
#[derive(Clone, Debug)]
struct Setup {
    rule: Rule,
    queues_per_port: usize,
    capacity: u64,
    queue_limit: Amount,
    sharing: &'static str,
}

/// Runs both.
fn compare(setup: &Setup, steps: &[Step]) -> Result<Counts, TestCaseError> {
    let Setup { rule, queues_per_port, .. } = setup;
    let settings = Settings {
        ports: PORTS,
        queues_per_port: *queues_per_port,
        capacity: setup.capacity,
        queue_limit: setup.queue_limit,
        sharing: (setup.sharing, String::new()),
        aqm: ("pred", rule.text()),
        ..Settings::default()
    };
    let mut real = Real::new(&settings);
    let mut naive = Naive { rule, queues_per_port: *queues_per_port, events: Vec::new() };
    let (mut now, mut periods, mut counts) = (0, 0, Counts::default());
    // The queue of each packet.
    let mut queues = Vec::new();
    let mut advance = |real: &mut Real, until: u64| {
        while rule.has_qla && (periods + 1) * rule.t_qla * US <= until {
            periods += 1;
            real.switch.on_timer(Time::from_us(periods * rule.t_qla), 1);
        }
    };
    for step in steps {
        match *step {
            Step::Arrive { queue, flow, ect, packets } => {
                let queue = queue % (PORTS * queues_per_port);
                let (port, queue_class) = (queue / queues_per_port, queue % queues_per_port);
                for _ in 0..packets {
                    now += 1;
                    advance(&mut real, now);
                    let (number, priority) = (queues.len(), queue_class as u8);
                    queues.push(queue);
                    let flags = if ect { flags::ECT } else { 0 };
                    let packet = Packet { size: 1500, flags, priority, ..Packet::default() };
                    let id = real.insert_of(flow, number, packet);
                    let (time, packet) = (Time::from_ps(now), real.packets[id]);
                    real.switch.enqueue(time, port as u32, id, &packet, &mut real.packets);
                    let is_marked = real.packets[id].flags & flags::CE != 0;
                    let lost = real.take_lost();
                    let reason = lost.iter().find(|(of, _)| *of == number).map(|of| of.1);
                    for (other, _) in lost.into_iter().filter(|(of, _)| *of != number) {
                        naive.events.push(Event::PushedOut { now, queue: queues[other] });
                        counts.pushed_out += 1;
                    }
                    let is_lost = reason.is_some();
                    naive.events.push(Event::Came { now, queue, flow, is_lost });
                    if rule.has_fcs {
                        let exact = naive.flows(Counter::Exact, port, now);
                        let sketched = naive.flows(rule.counter, port, now);
                        counts.miscounted[0] += usize::from(sketched < exact);
                        counts.miscounted[1] += usize::from(sketched > exact);
                    }
                    let is_refused = reason.is_some_and(|reason| reason != DropReason::Aqm);
                    if rule.at_departure {
                        let found = (is_marked, is_lost && !is_refused);
                        prop_assert_eq!(found, (false, false), "packet {} at {} ps", number, now);
                        counts.refused += usize::from(is_refused);
                        continue;
                    }
                    let expected =
                        naive.marks(now, queue, naive.length(&naive.counted(queue), now));
                    if let Some(marks) = expected {
                        // What is marked and then refused has no mark to show.
                        let expected = (marks && ect && !is_refused, marks && !ect && rule.drops);
                        let found = (is_marked, is_lost && !is_refused);
                        prop_assert_eq!(found, expected, "packet {} at {} ps", number, now);
                    }
                    let count = if is_refused {
                        &mut counts.refused
                    } else {
                        counts.outcome(expected, is_marked, is_lost)
                    };
                    *count += 1;
                }
            }
            Step::Depart { port, after } => {
                now += after * US + 1;
                advance(&mut real, now);
                if !real.switch.has_backlog(port as u32) {
                    continue;
                }
                // Those lost on the way out, then the one that is sent.
                let time = Time::from_ps(now);
                let sent = real.switch.dequeue(time, port as u32, &mut real.packets);
                let lost: Vec<_> = real.switch.lost().iter().map(|lost| lost.packet).collect();
                real.switch.clear_lost();
                prop_assert!(rule.at_departure || lost.is_empty());
                let mut gone = vec![0; PORTS * queues_per_port];
                for id in lost.iter().copied().chain(sent) {
                    let (packet, is_lost) = (real.packets[id], Some(id) != sent);
                    let queue = port * queues_per_port + usize::from(packet.queue_class);
                    gone[queue] += 1;
                    if rule.at_departure {
                        let counted = naive.counted(queue);
                        let gone: usize = counted.iter().map(|&queue| gone[queue]).sum();
                        let left = naive.length(&counted, now) - gone;
                        let expected = naive.marks(now, queue, left);
                        let ect = packet.flags & flags::ECT != 0;
                        let found = (packet.flags & flags::CE != 0, is_lost);
                        prop_assert!(!is_lost || (!ect && rule.drops));
                        if let Some(marks) = expected {
                            let expected = (marks && ect, marks && !ect && rule.drops);
                            prop_assert_eq!(found, expected, "at {} ps, {} left", now, left);
                        }
                        *counts.outcome(expected, found.0, is_lost) += 1;
                    }
                    real.packets.remove(id);
                    naive.events.push(if is_lost {
                        Event::PushedOut { now, queue }
                    } else {
                        Event::Sent { now, queue }
                    });
                }
            }
        }
        check_samples(now, &real, &naive)?;
    }
    Ok(counts)
}

fn rule() -> impl Strategy<Value = Rule> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let more_flags =
        (prop::bool::weighted(0.7), any::<bool>(), prop::bool::weighted(0.4), any::<bool>());
    let trials = (
        select(vec!["counts", "begins-anew", "pauses"]),
        select(vec![None, Some((0.3, 0.0)), Some((0.4, 0.2)), Some((0.7, 0.3))]),
        select(vec![0.0, 0.01, 0.1]),
        select(vec![None, Some(0.2), Some(0.6)]),
        select(vec![10.0, MAX]),
    );
    let times = (1u64..8, 2u64..10);
    let slopes = select(vec![
        (0.1, 0.02, 0.05),
        (0.1, 0.04, 0.05),
        (0.5, 0.3, 0.4),
        (2.0, 0.3, 1.9),
        (2.0, 1.5, 1.6),
    ]);
    let bounds = (select(vec![0.0, 0.1, f64::INFINITY]), select(vec![5.0, MAX]));
    let counter = prop_oneof![
        2 => Just(Counter::Exact),
        2 => (select(vec![3, 8, 120]), select(vec![2, 255]))
            .prop_map(|(places, most)| Counter::Bitmap { places, most }),
        3 => (0u32..4, select(vec![1, 2, 8, 28])).prop_map(|(index_bits, more)| Counter::Hashes {
            index_bits,
            hash_bits: index_bits + more,
        }),
    ];
    let beta = select(vec![0.0, 0.4, 0.9]);
    let growth = select(vec!["n", "sqrt-n", "n-squared"]);
    let phi = select(vec!["linear", "square", "reciprocal"]);
    let table = prop_oneof![
        2 => Just(None),
        1 => (select(vec![1u64, 2_000, 4_500]), select(vec![1u32, 3, 8])).prop_map(Some),
    ];
    let shapes = (beta, growth, phi, table);
    (flags, more_flags, times, slopes, bounds, counter, shapes, trials).prop_map(
        |(flags, more_flags, times, slopes, bounds, counter, shapes, trials)| {
            let (beta, growth, phi, table) = shapes;
            let (idle, round_trips, tolerance, busy, phi_end) = trials;
            let (has_qla, by_time, of_port, both_sides) = flags;
            let (has_fcs, drops, at_departure, marks_port) = more_flags;
            let (lambda, delta, lambda_min) = slopes;
            Rule {
                t_fcs: times.0,
                t_qla: times.1,
                has_fcs,
                has_qla,
                by_time,
                of_port: (of_port || marks_port) && has_qla,
                marks_port,
                both_sides,
                idle,
                round_trips,
                tolerance,
                busy,
                phi_end,
                at_departure,
                drops,
                counter,
                lambda,
                delta,
                lambda_min,
                lambda_max: lambda + bounds.0,
                min_max: bounds.1,
                beta,
                growth,
                phi,
                table,
            }
        },
    )
}

fn setup() -> impl Strategy<Value = Setup> {
    let rooms = select(vec![
        (Buffer::UNLIMITED, Amount::Unlimited, "cs"),
        (24_000, Amount::Unlimited, "cs"),
        (24_000, Amount::Unlimited, "lqd"),
        (Buffer::UNLIMITED, Amount::Packets(9), "cs"),
    ]);
    (rule(), 1usize..3, rooms).prop_map(|(rule, queues_per_port, room)| Setup {
        rule,
        queues_per_port,
        capacity: room.0,
        queue_limit: room.1,
        sharing: room.2,
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let arrive = (0..4usize, 0u32..6, prop::bool::weighted(0.8), 1..5usize)
        .prop_map(|(queue, flow, ect, packets)| Step::Arrive { queue, flow, ect, packets });
    let depart = (0..PORTS, select(vec![0u64, 1, 1, 3]))
        .prop_map(|(port, after)| Step::Depart { port, after });
    vec(prop_oneof![4 => arrive, 9 => depart], 1..120)
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn marks_are_the_formula_s(setup in setup(), steps in steps()) {
        compare(&setup, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_mark_and_pass() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    // With and without QLA, as packets arrive and as they leave.
    let mut totals = [Counts::default(); 4];
    for _ in 0..800 {
        let setup = setup().new_tree(&mut runner).unwrap().current();
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let counts = compare(&setup, &steps).unwrap();
        let Rule { has_qla, at_departure, .. } = setup.rule;
        let total = &mut totals[usize::from(has_qla) + 2 * usize::from(at_departure)];
        total.marked += counts.marked;
        total.lost += counts.lost;
        total.passed += counts.passed;
        total.by_chance += counts.by_chance;
        total.refused += counts.refused;
        total.pushed_out += counts.pushed_out;
        (0..2).for_each(|i| total.miscounted[i] += counts.miscounted[i]);
    }
    for total in totals {
        assert!(total.marked > 500 && total.passed > 2000 && total.lost > 50, "{totals:?}");
        assert!(total.by_chance < 2 * total.passed, "{totals:?}");
        assert!(total.refused > 50 && total.pushed_out > 20, "{totals:?}");
        assert!(total.miscounted.iter().all(|&n| n > 100), "{totals:?}");
    }
}

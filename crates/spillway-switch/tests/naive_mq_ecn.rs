//! MQ-ECN beside a second, naive implementation, in ports that send on time.
//!
//! The naive one serves the queues itself, and so knows their turns. It keeps every sample of a
//! port, and averages them anew for each arrival.

use crate::common::{Ratio, Real, Settings, cases, decimal};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_switch::DropReason;
use spillway_switch::packet::{Packet, flags};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
struct Rule {
    /// In microseconds.
    rtt: u64,
    lambda: Ratio,
    /// In quarters.
    alpha: u64,
    idle_step: u64,
    resets: bool,
    drops: bool,
    /// The quanta of `dwrr` by queue class, or none for `rr`.
    quanta: Option<Vec<u64>>,
    queues: usize,
    /// Whether queue class 0 is for acks only.
    has_ack_queue: bool,
    uncounted: u64,
    holds: bool,
    sharing: &'static str,
}

/// Of both ports.
const PS_PER_BYTE: [u64; 2] = [800, 2000];
const CAPACITY: u64 = 40_000;

impl Rule {
    fn settings(&self) -> Settings {
        let Rule { rtt, idle_step, .. } = self;
        let (alpha, lambda) = (decimal(&(self.alpha, 4)), decimal(&self.lambda));
        let idle = if self.resets { "reset" } else { "decay" };
        let not_ect = if self.drops { "drop" } else { "pass" };
        let aqm = format!(
            "rtt = \"{rtt}us\"\nlambda = {lambda}\nalpha = {alpha}\nidle = \"{idle}\"\n\
             idle_step = \"{idle_step}B\"\nnot_ect = \"{not_ect}\""
        );
        let scheduling = match &self.quanta {
            None => ("rr", String::new()),
            Some(quanta) => {
                let weights: Vec<String> =
                    quanta.iter().map(|&quantum| decimal(&(quantum, 500))).collect();
                ("dwrr", format!("quantum = \"500B\"\nweights = [{}]", weights.join(", ")))
            }
        };
        Settings {
            capacity: CAPACITY,
            ports: 2,
            rates: vec![10, 4],
            queues_per_port: self.queues,
            queue_classes: (0, usize::from(self.has_ack_queue)),
            uncounted: self.uncounted,
            release_at_end: self.holds,
            sharing: (self.sharing, String::new()),
            aqm: ("mq-ecn", aqm),
            scheduling,
            ..Settings::default()
        }
    }

    fn quantum(&self, queue_class: usize) -> u64 {
        match &self.quanta {
            None => 1500,
            Some(quanta) => quanta[queue_class.min(quanta.len() - 1)],
        }
    }
}

/// What changes T_round.
#[derive(Clone, Copy, Debug)]
enum Change {
    Sample(u64),
    /// The line was idle for this many steps.
    Idle(u64),
}

/// The turn that began last: its queue class, and when the queue was empty and all of it sent.
#[derive(Clone, Copy, Debug)]
struct Turn {
    queue_class: usize,
    emptied: Option<u64>,
}

#[derive(Clone, Debug, Default)]
struct Port {
    /// Numbers and sizes on the wire.
    queues: Vec<VecDeque<(usize, u64)>>,
    /// The packet that is being sent: its queue class and size.
    sending: Option<(usize, u64)>,
    free_at: u64,
    /// When each queue's last turn ended, or its first packet came since.
    since: Vec<u64>,
    turn: Option<Turn>,
    changes: Vec<Change>,
    /// Of `rr`, the queue class after the one that sent last; of `dwrr`, the one that is visited.
    next: usize,
    deficits: Vec<u64>,
}

impl Port {
    fn new(queues: usize) -> Port {
        Port {
            queues: vec![VecDeque::new(); queues],
            since: vec![0; queues],
            deficits: vec![0; queues],
            ..Port::default()
        }
    }

    fn is_empty(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty)
    }

    /// T_round now: all changes, and the turn that is over unless another packet comes.
    fn round(&self, rule: &Rule) -> f64 {
        let over = self.turn.and_then(|turn| {
            turn.emptied.map(|end| Change::Sample(end.saturating_sub(self.since[turn.queue_class])))
        });
        let (mut round, alpha) = (0.0, rule.alpha as f64 / 4.0);
        for &change in self.changes.iter().chain(&over) {
            round = match change {
                Change::Sample(sample) => alpha * round + (1.0 - alpha) * sample as f64,
                Change::Idle(0) => round,
                Change::Idle(_) if rule.resets => 0.0,
                // After so many steps, less than a picosecond is left.
                Change::Idle(97..) => 0.0,
                Change::Idle(steps) => {
                    let kept = (0..steps).fold(1.0, |kept, _| kept * alpha);
                    if kept > 1e-12 { kept * round } else { 0.0 }
                }
            };
        }
        round
    }

    /// The turn before, if there was one, has ended by now.
    fn ends_turn(&mut self, now: u64) {
        let Some(Turn { queue_class, emptied }) = self.turn.take() else { return };
        let end = match emptied {
            Some(end) => end,
            None if self.queues[queue_class].is_empty() => return,
            None => now,
        };
        let since = &mut self.since[queue_class];
        self.changes.push(Change::Sample(end.saturating_sub(*since)));
        // A packet may have come before the end.
        *since = end.max(*since);
    }

    fn turns_to(&mut self, now: u64, queue_class: usize) {
        self.ends_turn(now);
        self.turn = Some(Turn { queue_class, emptied: None });
    }

    /// The queue class that sends next. Turns begin.
    fn serve(&mut self, now: u64, rule: &Rule) -> usize {
        let n = self.queues.len();
        if rule.quanta.is_none() {
            let mut order = (self.next..self.next + n).map(|queue_class| queue_class % n);
            let queue_class = order.find(|&class| !self.queues[class].is_empty()).unwrap();
            self.next = (queue_class + 1) % n;
            self.turns_to(now, queue_class);
            return queue_class;
        }
        loop {
            let queue_class = self.next;
            match self.queues[queue_class].front() {
                None => self.deficits[queue_class] = 0,
                Some(&(_, size)) if size <= self.deficits[queue_class] => {
                    self.deficits[queue_class] -= size;
                    return queue_class;
                }
                Some(_) => {}
            }
            self.next = (queue_class + 1) % n;
            if !self.queues[self.next].is_empty() {
                self.deficits[self.next] += rule.quantum(self.next);
                self.turns_to(now, self.next);
            }
        }
    }

    /// Sends a packet, and returns its number.
    fn send(&mut self, now: u64, rule: &Rule, ps_per_byte: u64) -> usize {
        let queue_class = self.serve(now, rule);
        let (number, size) = self.queues[queue_class].pop_front().unwrap();
        self.free_at = now + size * ps_per_byte;
        self.sending = Some((queue_class, size));
        let emptied = self.queues[queue_class].is_empty().then_some(self.free_at);
        self.turn = Some(Turn { queue_class, emptied });
        number
    }

    /// A packet joins a queue.
    fn join(&mut self, now: u64, rule: &Rule, packet: (usize, usize, u64), ps_per_byte: u64) {
        let (queue_class, number, size) = packet;
        if now > self.free_at && self.is_empty() {
            self.ends_turn(now);
            let step = rule.idle_step * ps_per_byte;
            self.changes.push(Change::Idle((now - self.free_at) / step));
        }
        let over = self.turn.filter(|turn| turn.queue_class == queue_class);
        let goes_on = over.is_some_and(|turn| turn.emptied.is_some());
        if self.queues[queue_class].is_empty() && !goes_on {
            self.since[queue_class] = self.since[queue_class].max(now);
        }
        self.queues[queue_class].push_back((number, size));
    }

    /// The bytes that count in a queue.
    fn bytes(&self, queue_class: usize, rule: &Rule) -> u64 {
        let waiting: u64 =
            self.queues[queue_class].iter().map(|(_, size)| size - rule.uncounted).sum();
        let held = self.sending.filter(|(class, _)| rule.holds && *class == queue_class);
        waiting + held.map_or(0, |(_, size)| size - rule.uncounted)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Arrive { after: u64, port: usize, queue_class: u8, size: u64, packets: usize, ect: bool },
    Purge { port: usize },
}

/// What the cases come to.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    marked: usize,
    passed: usize,
    lost: usize,
    /// Marked though the queue alone on the line would not have been.
    by_share: usize,
    /// Turns that went on after the queue was empty.
    prolonged: usize,
    idle: usize,
}

struct Run<'a> {
    rule: &'a Rule,
    real: Real,
    ports: [Port; 2],
    now: u64,
    number: usize,
    counts: Counts,
}

impl Run<'_> {
    /// All ports send what they can until now.
    fn send_until(&mut self, now: u64) -> Result<(), TestCaseError> {
        loop {
            let is_due = |place: &usize| {
                let port = &self.ports[*place];
                port.free_at <= now && (port.sending.is_some() || !port.is_empty())
            };
            let due = (0..2).filter(is_due).min_by_key(|&place| self.ports[place].free_at);
            let Some(place) = due else { return Ok(()) };
            let at = self.ports[place].free_at;
            self.send(at, place)?;
        }
    }

    /// A transmission ends, and the next one begins.
    fn send(&mut self, at: u64, place: usize) -> Result<(), TestCaseError> {
        let Real { switch, packets } = &mut self.real;
        let sent = switch.send_next(Time::from_ps(at), place as u32, packets);
        let port = &mut self.ports[place];
        port.sending = None;
        let (was, samples) = (port.turn, port.changes.len());
        let expected = (!port.is_empty()).then(|| port.send(at, self.rule, PS_PER_BYTE[place]));
        let prolongs = was.is_some_and(|turn| turn.emptied.is_some());
        let is_same = port.changes.len() == samples;
        self.counts.prolonged += usize::from(expected.is_some() && prolongs && is_same);
        prop_assert_eq!(sent.map(|(id, _)| self.real.number(id)), expected);
        if let Some((id, _)) = sent {
            self.real.packets.remove(id);
        }
        Ok(())
    }

    fn arrive(&mut self, place: usize, packet: Packet) -> Result<(), TestCaseError> {
        let (now, number) = (Time::from_ps(self.now), self.number);
        self.number += 1;
        let queue_class = usize::from(packet.priority);
        let id = self.real.insert(number, packet);
        let port = &mut self.ports[place];
        let (rule, size) = (self.rule, u64::from(packet.size));
        let is_idle = port.sending.is_none() && port.is_empty();
        // K = min(quantum / T_round, C) RTT lambda.
        let (bytes, round) = (port.bytes(queue_class, rule) as f64, port.round(rule));
        let delay = (rule.rtt * 1_000_000 * rule.lambda.0 / rule.lambda.1) as f64;
        let alone = bytes * PS_PER_BYTE[place] as f64 > delay;
        let by_share = bytes * round > delay * rule.quantum(queue_class) as f64;
        let is_managed = !(rule.has_ack_queue && queue_class == 0);
        let exceeds = is_managed && (alone || by_share);
        let ect = packet.flags & flags::ECT != 0;

        let Real { switch, packets } = &mut self.real;
        let sent = if is_idle {
            switch.pass(now, place as u32, id, &packet, packets)
        } else {
            switch.enqueue(now, place as u32, id, &packet, packets);
            None
        };
        let is_marked = self.real.packets[id].flags & flags::CE != 0;
        let lost = self.real.take_lost();
        let reason = lost.iter().find(|(of, _)| *of == number).map(|(_, reason)| *reason);
        let refused = exceeds && !ect && rule.drops;
        prop_assert_eq!(reason == Some(DropReason::Aqm), refused, "packet {}", number);
        for (victim, _) in &lost {
            for port in &mut self.ports {
                port.queues.iter_mut().for_each(|queue| queue.retain(|(of, _)| of != victim));
            }
        }
        if reason.is_some() {
            self.counts.lost += 1;
            return Ok(());
        }
        prop_assert_eq!(is_marked, exceeds && ect, "packet {}: {} {}", number, bytes, round);
        if is_marked {
            self.counts.marked += 1
        } else {
            self.counts.passed += 1
        }
        self.counts.by_share += usize::from(is_marked && !alone);
        let port = &mut self.ports[place];
        self.counts.idle += usize::from(is_idle && self.now > port.free_at);
        port.join(self.now, rule, (queue_class, number, size), PS_PER_BYTE[place]);
        if is_idle {
            let expected = port.send(self.now, rule, PS_PER_BYTE[place]);
            prop_assert_eq!(sent.map(|id| self.real.number(id)), Some(expected));
            self.real.packets.remove(id);
        }
        Ok(())
    }
}

fn compare(rule: &Rule, steps: &[Step]) -> Result<Counts, TestCaseError> {
    let real = Real::new(&rule.settings());
    let ports = [Port::new(rule.queues), Port::new(rule.queues)];
    let mut run = Run { rule, real, ports, now: 0, number: 0, counts: Counts::default() };
    for step in steps {
        match *step {
            Step::Arrive { after, port, queue_class, size, packets, ect } => {
                run.now += after;
                run.send_until(run.now)?;
                for _ in 0..packets {
                    let priority = queue_class % rule.queues as u8;
                    let flags = if ect { flags::ECT } else { 0 };
                    let size = (size + rule.uncounted) as u32;
                    run.arrive(port, Packet { size, flags, priority, ..Packet::default() })?;
                }
            }
            Step::Purge { port } => {
                let (now, Real { switch, packets }) = (Time::from_ps(run.now), &mut run.real);
                switch.purge(now, port as u32, DropReason::LinkDown, packets);
                run.real.take_lost();
                run.ports[port].queues.iter_mut().for_each(VecDeque::clear);
            }
        }
        prop_assert!(run.real.switch.is_consistent(&run.real.packets));
    }
    Ok(run.counts)
}

fn rule() -> impl Strategy<Value = Rule> {
    let quanta = prop_oneof![
        1 => Just(None),
        3 => vec(select(vec![500u64, 1000, 1500, 3000, 9000]), 1..=2).prop_map(Some),
    ];
    let marks = (
        select(vec![2u64, 5, 9, 20]),
        select(vec![(1u64, 1u64), (1, 2), (3, 4)]),
        0u64..4,
        select(vec![300u64, 1500, 6000]),
        any::<bool>(),
        any::<bool>(),
    );
    let switch = (
        2usize..4,
        any::<bool>(),
        select(vec![0u64, 20]),
        any::<bool>(),
        select(vec!["cs", "cs", "lqd"]),
    );
    (quanta, marks, switch).prop_map(
        |(
            quanta,
            (rtt, lambda, alpha, idle_step, resets, drops),
            (queues, acks, uncounted, holds, sharing),
        )| {
            Rule {
                rtt,
                lambda,
                alpha,
                idle_step,
                resets,
                drops,
                quanta,
                queues,
                has_ack_queue: acks,
                uncounted,
                holds,
                sharing,
            }
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let after = prop_oneof![
        2 => Just(0u64),
        4 => (0u64..4).prop_map(|packets| packets * 400_000),
        4 => 0u64..3_000_000,
        1 => 0u64..40_000_000,
    ];
    let sizes = select(vec![100u64, 500, 1000, 1500]);
    let arrive = (after, 0..2usize, 0u8..3, sizes, 1..4usize, prop::bool::weighted(0.9)).prop_map(
        |(after, port, queue_class, size, packets, ect)| Step::Arrive {
            after,
            port,
            queue_class,
            size,
            packets,
            ect,
        },
    );
    let purge = (0..2usize).prop_map(|port| Step::Purge { port });
    vec(prop_oneof![60 => arrive, 1 => purge], 1..200)
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn the_same_packets_are_marked(rule in rule(), steps in steps()) {
        compare(&rule, &steps)?;
    }
}

/// The random cases above are worth something only if all of this occurs.
#[test]
fn the_cases_mark_by_share_and_forget() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    let mut all = Counts::default();
    for _ in 0..400 {
        let rule = rule().new_tree(&mut runner).unwrap().current();
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let counts = compare(&rule, &steps).unwrap();
        all.marked += counts.marked;
        all.passed += counts.passed;
        all.lost += counts.lost;
        all.by_share += counts.by_share;
        all.prolonged += counts.prolonged;
        all.idle += counts.idle;
    }
    let Counts { marked, passed, lost, by_share, prolonged, idle } = all;
    assert!(marked > 1000 && passed > 1000 && lost > 200, "{all:?}");
    assert!(by_share > 500 && prolonged > 500 && idle > 500, "{all:?}");
}

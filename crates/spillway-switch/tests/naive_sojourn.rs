//! TCN, ECN# and CoDel beside second, naive implementations: whole dequeues from a queue of
//! packets.

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
enum Rule {
    Tcn { threshold: u64 },
    EcnSharp { instant: u64, target: u64, interval: u64 },
    CoDel { target: u64, interval: u64, drops: bool },
}

impl Rule {
    /// The settings; all times are in microseconds.
    fn settings(&self) -> (&'static str, String) {
        match self {
            Rule::Tcn { threshold } => ("tcn", format!("threshold = \"{threshold}us\"")),
            Rule::EcnSharp { instant, target, interval } => (
                "ecn-sharp",
                format!(
                    "instant=\"{instant}us\"\ntarget=\"{target}us\"\ninterval=\"{interval}us\""
                ),
            ),
            Rule::CoDel { target, interval, drops } => {
                let not_ect = if *drops { "drop" } else { "pass" };
                let text = format!(
                    "target=\"{target}us\"\ninterval=\"{interval}us\"\nnot_ect=\"{not_ect}\""
                );
                ("codel", text)
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: usize,
    size: u64,
    ect: bool,
    since: u64,
}

/// What has been taken out: the packet that is sent and whether it is marked, and those lost.
#[derive(Debug, Default, PartialEq)]
struct Taken {
    sent: Option<(usize, bool)>,
    lost: Vec<usize>,
}

/// A queue, and what the rules know of it.
#[derive(Debug, Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    first_above: u64,
    active: bool,
    count: u64,
    last_count: u64,
    next: u64,
}

impl Queue {
    fn dequeue(&mut self, now: u64, rule: &Rule) -> Taken {
        match *rule {
            Rule::Tcn { threshold } => {
                let packet = self.waiting.pop_front().unwrap();
                let marked = packet.ect && now - packet.since > threshold * US;
                Taken { sent: Some((packet.number, marked)), lost: Vec::new() }
            }
            Rule::EcnSharp { instant, target, interval } => {
                let packet = self.waiting.pop_front().unwrap();
                let wait = now - packet.since;
                let mut marked = wait > instant * US;
                let mut lasts = false;
                if wait < target * US {
                    self.first_above = 0;
                } else if self.first_above == 0 {
                    self.first_above = now + interval * US;
                } else {
                    lasts = now > self.first_above;
                }
                if self.active && !lasts {
                    self.active = false;
                } else if self.active && now >= self.next {
                    self.count += 1;
                    self.next = now + law(interval, self.count);
                    marked = true;
                } else if !self.active && lasts {
                    self.active = true;
                    self.count = 1;
                    self.next = now + law(interval, 1);
                    marked = true;
                }
                Taken { sent: Some((packet.number, marked && packet.ect)), lost: Vec::new() }
            }
            Rule::CoDel { target, interval, drops } => {
                self.codel(now, target * US, interval, drops)
            }
        }
    }

    /// RFC 8289, section 5.5, with marks in place of drops where that is possible.
    fn codel(&mut self, now: u64, target: u64, interval: u64, drops: bool) -> Taken {
        let mut taken = Taken::default();
        let (mut packet, mut ok) = self.take(now, target, interval);
        let mut marked = false;
        if self.active {
            if !ok {
                self.active = false;
            }
            while self.active && now >= self.next {
                let first = packet.unwrap();
                self.count += 1;
                if first.ect || !drops {
                    marked = first.ect;
                    self.next += law(interval, self.count);
                    break;
                }
                taken.lost.push(first.number);
                (packet, ok) = self.take(now, target, interval);
                if ok { self.next += law(interval, self.count) } else { self.active = false }
            }
        } else if ok {
            let first = packet.unwrap();
            if first.ect || !drops {
                marked = first.ect;
            } else {
                taken.lost.push(first.number);
                (packet, _) = self.take(now, target, interval);
            }
            self.active = true;
            let delta = self.count - self.last_count;
            self.count = 1;
            if delta > 1 && now < self.next + 16 * interval * US {
                self.count = delta;
            }
            self.next = now + law(interval, self.count);
            self.last_count = self.count;
        }
        taken.sent = packet.map(|packet| (packet.number, marked));
        taken
    }

    /// The next packet, and whether the queue has been above target for an interval.
    fn take(&mut self, now: u64, target: u64, interval: u64) -> (Option<Waiting>, bool) {
        let packet = self.waiting.pop_front();
        let left: u64 = self.waiting.iter().map(|packet| packet.size).sum();
        if packet.is_none_or(|packet| now - packet.since < target) || left <= 1500 {
            self.first_above = 0;
        } else if self.first_above == 0 {
            self.first_above = now + interval * US;
        } else if now >= self.first_above {
            return (packet, true);
        }
        (packet, false)
    }
}

/// interval / sqrt(count) in picoseconds.
fn law(interval: u64, count: u64) -> u64 {
    ((interval * US) as f64 / (count as f64).sqrt()) as u64
}

#[derive(Clone, Debug)]
enum Step {
    /// Some packets arrive at a port, one after the other.
    Arrive { port: usize, size: u64, ect: bool, number: usize },
    /// A port sends, so many microseconds later.
    Depart { port: usize, after: u64 },
}

/// Runs both. Returns how many packets were marked, lost, and passed.
fn compare(rule: &Rule, release_at_end: bool, steps: &[Step]) -> Result<[usize; 3], TestCaseError> {
    let settings =
        Settings { ports: 2, release_at_end, aqm: rule.settings(), ..Settings::default() };
    let mut real = Real::new(&settings);
    let mut queues = [Queue::default(), Queue::default()];
    let (mut now, mut number, mut counts) = (US, 0, [0; 3]);
    for step in steps {
        match *step {
            Step::Arrive { port, size, ect, number: packets } => {
                for _ in 0..packets {
                    now += 1;
                    let flags = if ect { flags::ECT } else { 0 };
                    let packet = Packet { size: size as u32, flags, ..Packet::default() };
                    let id = real.insert(number, packet);
                    let (time, packet) = (Time::from_ps(now), real.packets[id]);
                    real.switch.enqueue(time, port as u32, id, &packet, &mut real.packets);
                    queues[port].waiting.push_back(Waiting { number, size, ect, since: now });
                    number += 1;
                }
            }
            Step::Depart { port, after } => {
                now += after * US;
                let time = Time::from_ps(now);
                if release_at_end {
                    real.switch.on_sent(time, port as u32);
                }
                if queues[port].waiting.is_empty() {
                    prop_assert!(!real.switch.has_backlog(port as u32));
                    continue;
                }
                let expected = queues[port].dequeue(now, rule);
                let id = real.switch.dequeue(time, port as u32, &mut real.packets);
                let lost = real.take_lost();
                prop_assert!(lost.iter().all(|(_, reason)| *reason == DropReason::Aqm));
                let lost: Vec<usize> = lost.into_iter().map(|(number, _)| number).collect();
                let sent = id.map(|id| {
                    let marked = real.packets[id].flags & flags::CE != 0;
                    let number = real.number(id);
                    real.packets.remove(id);
                    (number, marked)
                });
                counts[0] += usize::from(sent.is_some_and(|(_, marked)| marked));
                counts[1] += lost.len();
                counts[2] += usize::from(sent.is_some_and(|(_, marked)| !marked));
                prop_assert_eq!(Taken { sent, lost }, expected, "at {} ps", now);
            }
        }
    }
    Ok(counts)
}

fn rule() -> impl Strategy<Value = Rule> {
    let tcn = (0u64..30).prop_map(|threshold| Rule::Tcn { threshold });
    let sharp = (5u64..40, 1u64..10, 1u64..20)
        .prop_map(|(instant, target, interval)| Rule::EcnSharp { instant, target, interval });
    let codel = (1u64..10, 1u64..20, any::<bool>())
        .prop_map(|(target, interval, drops)| Rule::CoDel { target, interval, drops });
    prop_oneof![1 => tcn, 2 => sharp, 4 => codel]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = select(vec![100u64, 700, 1500]);
    let arrive = (0..2usize, size, any::<bool>(), 1..5usize)
        .prop_map(|(port, size, ect, number)| Step::Arrive { port, size, ect, number });
    let depart = (0..2usize, select(vec![0u64, 1, 2, 5]))
        .prop_map(|(port, after)| Step::Depart { port, after });
    vec(prop_oneof![4 => arrive, 9 => depart], 1..300)
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn marks_and_losses_are_those_of_the_rules(
        rule in rule(),
        release_at_end in prop::bool::weighted(0.2),
        steps in steps(),
    ) {
        compare(&rule, release_at_end, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_mark_lose_and_pass() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    let mut totals = [[0; 3]; 3];
    for _ in 0..400 {
        let rule = rule().new_tree(&mut runner).unwrap().current();
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let kind = match rule {
            Rule::Tcn { .. } => 0,
            Rule::EcnSharp { .. } => 1,
            Rule::CoDel { .. } => 2,
        };
        let counts = compare(&rule, false, &steps).unwrap();
        (0..3).for_each(|i| totals[kind][i] += counts[i]);
    }
    assert!(totals.iter().all(|[marked, _, passed]| *marked > 200 && *passed > 200), "{totals:?}");
    assert!(totals[2][1] > 200, "{totals:?}");
}

//! ACC beside a second, naive implementation: the whole history is kept, and what an agent sees of
//! each interval is worked out from it anew.
//!
//! Agents have random weights, and lines that leave nothing to chance: between min and max nothing
//! is marked. Where two outputs are so close that rounding may decide between them, the real
//! agent's choice is taken.

#[path = "../src/aqm/acc/testing.rs"]
mod testing;

use crate::common::{Real, Settings, cases};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use spillway_engine::Time;
use spillway_settings::quantity::Amount;
use spillway_switch::packet::{Packet, flags};
use spillway_switch::{Buffer, DropReason};
use std::sync::atomic::{AtomicU32, Ordering};
use testing::Agent;

const US: u64 = 1_000_000;
const PORTS: usize = 2;
/// Of two ports, in picoseconds for a byte.
const RATES: ([u64; PORTS], [u64; PORTS]) = ([10, 40], [800, 200]);

#[derive(Clone, Debug)]
struct Setup {
    /// In microseconds.
    interval: u64,
    history: usize,
    ranges: [f64; 6],
    /// min and max in bytes.
    lines: Vec<[u64; 2]>,
    /// For each hidden output and each line, the weights and the bias.
    hidden: Vec<Vec<f32>>,
    outputs: Vec<Vec<f32>>,
    skips_idle: bool,
    drops: bool,
    queues_per_port: usize,
    /// Whether the first queue of each port is that of acks, which no AQM manages.
    has_acks: bool,
    uncounted: u64,
    release_at_end: bool,
    capacity: u64,
    queue_limit: Amount,
    sharing: &'static str,
}

/// The largest probability of a line: it means nothing where there is nothing between min and max.
fn chance(min: u64, max: u64) -> f64 {
    if min == max { (max % 7) as f64 / 8.0 } else { 0.0 }
}

impl Setup {
    fn agent(&self) -> Agent {
        let actions: Vec<[f64; 3]> = self
            .lines
            .iter()
            .map(|&[min, max]| [min as f64, max as f64, chance(min, max)])
            .collect();
        let layers = [self.hidden.clone(), self.outputs.clone()];
        Agent::new(self.interval * US, self.history, self.ranges, &actions, &layers)
    }
}

/// What happened to a packet: when, at which queue, and its bytes in the buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum What {
    Joined,
    Sent,
    PushedOut,
    Marked,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    what: What,
    now: u64,
    queue: usize,
    bytes: u64,
}

struct Naive<'a> {
    setup: &'a Setup,
    events: Vec<Event>,
    /// By queue: the line in force, and all that it has seen.
    chosen: Vec<usize>,
    seen: Vec<Vec<[f64; 6]>>,
}

impl Naive<'_> {
    /// Bytes that wait in a queue before a time.
    fn waiting(&self, queue: usize, before: u64) -> u64 {
        let of_queue = |event: &&Event| event.now < before && event.queue == queue;
        self.events.iter().filter(of_queue).fold(0, |bytes, event| match event.what {
            What::Joined => bytes + event.bytes,
            What::Sent | What::PushedOut => bytes - event.bytes,
            What::Marked => bytes,
        })
    }

    /// The numbers of an interval; `None` if nothing was sent or waited in it.
    fn look(&self, queue: usize, from: u64, until: u64) -> Option<[f64; 6]> {
        let length = (until - from) as f64;
        let mut times: Vec<u64> = self
            .events
            .iter()
            .map(|event| event.now)
            .filter(|now| (from..until).contains(now))
            .collect();
        times.insert(0, from);
        times.push(until);
        let area: f64 = times
            .windows(2)
            .map(|pair| self.waiting(queue, pair[1]) as f64 * (pair[1] - pair[0]) as f64)
            .sum();
        let on_wire = |what: What| -> f64 {
            let is_meant = |event: &&Event| {
                event.what == what && event.queue == queue && (from..until).contains(&event.now)
            };
            let uncounted = self.setup.uncounted;
            let bytes = self.events.iter().filter(is_meant).map(|event| event.bytes + uncounted);
            bytes.sum::<u64>() as f64
        };
        let ps_per_byte = RATES.1[queue / self.setup.queues_per_port] as f64;
        let [min, max] = self.setup.lines[self.chosen[queue]];
        let sent = on_wire(What::Sent);
        let numbers = [
            area / length,
            sent * ps_per_byte / length,
            on_wire(What::Marked) * ps_per_byte / length,
            min as f64,
            max as f64,
            chance(min, max),
        ];
        let share = |place: usize| (numbers[place] / self.setup.ranges[place]).min(1.0);
        (area > 0.0 || sent > 0.0).then(|| std::array::from_fn(share))
    }

    /// The outputs for what a queue has seen.
    fn outputs(&self, queue: usize) -> Vec<f64> {
        let history = self.setup.history;
        let mut seen = vec![[0.0; 6]; history];
        seen.extend(&self.seen[queue]);
        let inputs = seen[seen.len() - history..].concat();
        let sums = |layer: &[Vec<f32>], inputs: &[f64]| -> Vec<f64> {
            let sum = |weights: &Vec<f32>| -> f64 {
                let (bias, weights) = weights.split_last().unwrap();
                let terms = weights.iter().zip(inputs).map(|(&w, x)| f64::from(w) * x);
                f64::from(*bias) + terms.sum::<f64>()
            };
            layer.iter().map(sum).collect()
        };
        let hidden: Vec<f64> =
            sums(&self.setup.hidden, &inputs).iter().map(|sum| sum.max(0.0)).collect();
        sums(&self.setup.outputs, &hidden)
    }

    /// The line of the greatest output; `None` if it is too close to another.
    fn best(&self, queue: usize) -> Option<usize> {
        let outputs = self.outputs(queue);
        let best = (0..outputs.len()).max_by(|&a, &b| outputs[a].total_cmp(&outputs[b])).unwrap();
        let is_close = |line: usize| line != best && outputs[best] - outputs[line] < 1e-4;
        (!(0..outputs.len()).any(is_close)).then_some(best)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Arrive { queue: usize, size: u32, ect: bool, packets: usize },
    Depart { port: usize, after: u64 },
}

/// What occurred.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    marked: usize,
    lost: usize,
    refused: usize,
    pushed_out: usize,
    idle: usize,
    close: usize,
    changed: usize,
    kept: usize,
}

/// The line in force at a queue of the real switch, by its number.
fn real_line(setup: &Setup, real: &Real, now: u64, queue: usize) -> Option<usize> {
    let sample = real.switch.sample_aqm(Time::from_ps(now), queue as u32)?;
    let line = [sample.min_bytes.unwrap(), sample.max_bytes.unwrap()];
    setup.lines.iter().position(|known| *known == line)
}

/// Runs both.
fn compare(setup: &Setup, steps: &[Step]) -> Result<Counts, TestCaseError> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let file = std::env::temp_dir().join(format!("naive-acc-{}-{number}", std::process::id()));
    std::fs::write(&file, setup.agent().written()).unwrap();
    let idle = if setup.skips_idle { "keeps" } else { "decides" };
    let not_ect = if setup.drops { "drop" } else { "pass" };
    let text = format!(
        "model = '{}'\nexploration = 0\nidle = \"{idle}\"\nnot_ect = \"{not_ect}\"",
        file.display()
    );
    let queues_per_port = setup.queues_per_port;
    let mut real = Real::new(&Settings {
        ports: PORTS,
        rates: RATES.0.to_vec(),
        queues_per_port,
        queue_classes: (0, usize::from(setup.has_acks)),
        capacity: setup.capacity,
        queue_limit: setup.queue_limit,
        uncounted: setup.uncounted,
        release_at_end: setup.release_at_end,
        sharing: (setup.sharing, String::new()),
        aqm: ("acc", text),
        ..Settings::default()
    });
    std::fs::remove_file(&file).unwrap();
    let queues = PORTS * queues_per_port;
    let is_managed = |queue: usize| !setup.has_acks || !queue.is_multiple_of(queues_per_port);
    let mut naive = Naive {
        setup,
        events: Vec::new(),
        chosen: vec![0; queues],
        seen: vec![Vec::new(); queues],
    };
    let mut counts = Counts::default();
    // A change of lines at the end of an interval, compared with what the switch tells.
    let decide = |naive: &mut Naive, real: &Real, counts: &mut Counts, now: u64, queue: usize| {
        let chosen = real_line(setup, real, now, queue).unwrap();
        match naive.best(queue) {
            None => counts.close += 1,
            Some(best) => prop_assert_eq!(chosen, best, "queue {} at {} ps", queue, now),
        }
        counts.changed += usize::from(chosen != naive.chosen[queue]);
        naive.chosen[queue] = chosen;
        Ok(())
    };
    for queue in (0..queues).filter(|&queue| is_managed(queue)) {
        decide(&mut naive, &real, &mut counts, 0, queue)?;
    }
    counts.changed = 0;
    let (mut now, mut intervals) = (0, 0);
    let mut advance = |real: &mut Real, naive: &mut Naive, counts: &mut Counts, until: u64| {
        while (intervals + 1) * setup.interval * US <= until {
            let from = intervals * setup.interval * US;
            let end = from + setup.interval * US;
            intervals += 1;
            real.switch.on_timer(Time::from_ps(end), 1);
            for queue in 0..queues {
                if !is_managed(queue) {
                    prop_assert!(
                        real.switch.sample_aqm(Time::from_ps(end), queue as u32).is_none()
                    );
                    continue;
                }
                let looked = naive.look(queue, from, end);
                if looked.is_none() && setup.skips_idle {
                    counts.idle += 1;
                    let kept = real_line(setup, real, end, queue);
                    prop_assert_eq!(
                        kept,
                        Some(naive.chosen[queue]),
                        "an idle queue keeps its line"
                    );
                    continue;
                }
                let [min, max] = setup.lines[naive.chosen[queue]];
                let nothing = [0.0, 0.0, 0.0, min as f64, max as f64, chance(min, max)];
                let of_range = |place: usize| (nothing[place] / setup.ranges[place]).min(1.0);
                naive.seen[queue].push(looked.unwrap_or_else(|| std::array::from_fn(of_range)));
                decide(naive, real, counts, end, queue)?;
                counts.kept += 1;
            }
        }
        Ok(())
    };
    // The queue and bytes of each packet.
    let mut packets: Vec<(usize, u64)> = Vec::new();
    for step in steps {
        match *step {
            Step::Arrive { queue, size, ect, packets: number } => {
                let queue = queue % queues;
                let (port, queue_class) = (queue / queues_per_port, queue % queues_per_port);
                let is_ack = !is_managed(queue);
                for _ in 0..number {
                    now += 1;
                    advance(&mut real, &mut naive, &mut counts, now)?;
                    let bytes = u64::from(size) - setup.uncounted;
                    let number = packets.len();
                    packets.push((queue, bytes));
                    let ect_flag = if ect { flags::ECT } else { 0 };
                    let flags = if is_ack { flags::CONTROL } else { ect_flag };
                    let priority = queue_class as u8;
                    let packet = Packet { size, flags, priority, ..Packet::default() };
                    let id = real.insert(number, packet);
                    let found = u64::from(real.switch.buffer().bytes(queue as u32));
                    let (time, packet) = (Time::from_ps(now), real.packets[id]);
                    real.switch.enqueue(time, port as u32, id, &packet, &mut real.packets);
                    let is_marked = real.packets[id].flags & flags::CE != 0;
                    let lost = real.take_lost();
                    let reason = lost.iter().find(|(of, _)| *of == number).map(|of| of.1);
                    for (other, _) in lost.into_iter().filter(|(of, _)| *of != number) {
                        let (queue, bytes) = packets[other];
                        naive.events.push(Event { what: What::PushedOut, now, queue, bytes });
                        counts.pushed_out += 1;
                    }
                    if reason.is_none() {
                        naive.events.push(Event { what: What::Joined, now, queue, bytes });
                    }
                    if is_marked && reason.is_none() {
                        naive.events.push(Event { what: What::Marked, now, queue, bytes });
                        counts.marked += 1;
                    }
                    let is_refused = reason.is_some_and(|reason| reason != DropReason::Aqm);
                    let marks = is_managed(queue) && found >= setup.lines[naive.chosen[queue]][1];
                    let expected = (marks && ect && !is_refused, marks && !ect && setup.drops);
                    let told = (is_marked, reason == Some(DropReason::Aqm));
                    prop_assert_eq!(told, expected, "packet {} finds {}", number, found);
                    counts.lost += usize::from(told.1);
                    counts.refused += usize::from(is_refused);
                }
            }
            Step::Depart { port, after } => {
                now += after * US + 1;
                advance(&mut real, &mut naive, &mut counts, now)?;
                let (time, port) = (Time::from_ps(now), port as u32);
                real.switch.on_sent(time, port);
                if !real.switch.has_backlog(port) {
                    continue;
                }
                if let Some(id) = real.switch.dequeue(time, port, &mut real.packets) {
                    let (queue, bytes) = packets[real.number(id)];
                    naive.events.push(Event { what: What::Sent, now, queue, bytes });
                    real.packets.remove(id);
                }
            }
        }
    }
    Ok(counts)
}

fn setup() -> impl Strategy<Value = Setup> {
    let agent = (2u64..9, 1usize..4, 2usize..6).prop_flat_map(|(interval, history, lines)| {
        let weight = || -1.0f32..1.0;
        let line = select(vec![[1, 1], [1, 3000], [1500, 4500], [3000, 3000], [500, 12_000]]);
        (
            Just((interval, history)),
            vec(line, lines),
            vec(vec(weight(), 6 * history + 1), 3),
            vec(vec(weight(), 4), lines),
        )
    });
    let ranges = (select(vec![3_000.0, 20_000.0]), select(vec![0.3, 1.0]));
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), prop::bool::weighted(0.3));
    let shape = (1usize..3, select(vec![0, 0, 24]));
    let rooms = select(vec![
        (Buffer::UNLIMITED, Amount::Unlimited, "cs"),
        (15_000, Amount::Unlimited, "cs"),
        (15_000, Amount::Unlimited, "lqd"),
        (Buffer::UNLIMITED, Amount::Packets(9), "cs"),
    ]);
    (agent, ranges, flags, shape, rooms).prop_map(|(agent, ranges, flags, shape, room)| {
        let ((interval, history), mut lines, hidden, outputs) = agent;
        // A line that is there twice could not be told from its twin.
        for place in 1..lines.len() {
            while lines[..place].contains(&lines[place]) {
                lines[place][1] += 700;
            }
        }
        let (skips_idle, drops, has_acks, release_at_end) = flags;
        Setup {
            interval,
            history,
            ranges: [ranges.0, ranges.1, ranges.1, 3_000.0, 12_000.0, 1.0],
            lines,
            hidden,
            outputs,
            skips_idle,
            drops,
            queues_per_port: shape.0,
            has_acks: has_acks && shape.0 == 2,
            uncounted: shape.1,
            release_at_end: release_at_end && room.2 != "lqd",
            capacity: room.0,
            queue_limit: room.1,
            sharing: room.2,
        }
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = select(vec![1500, 1500, 600, 84]);
    let arrive = (0..4usize, size, prop::bool::weighted(0.8), 1..5usize)
        .prop_map(|(queue, size, ect, packets)| Step::Arrive { queue, size, ect, packets });
    let depart = (0..PORTS, select(vec![0u64, 1, 1, 3, 9]))
        .prop_map(|(port, after)| Step::Depart { port, after });
    vec(prop_oneof![4 => arrive, 9 => depart], 1..150)
}

proptest! {
    #![proptest_config(cases(1500))]

    #[test]
    fn lines_and_marks_are_those_of_what_was_seen(setup in setup(), steps in steps()) {
        compare(&setup, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_change_lines_and_mark() {
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    let mut total = Counts::default();
    for _ in 0..400 {
        let setup = setup().new_tree(&mut runner).unwrap().current();
        let steps = steps().new_tree(&mut runner).unwrap().current();
        let counts = compare(&setup, &steps).unwrap();
        total.marked += counts.marked;
        total.lost += counts.lost;
        total.refused += counts.refused;
        total.pushed_out += counts.pushed_out;
        total.idle += counts.idle;
        total.close += counts.close;
        total.changed += counts.changed;
        total.kept += counts.kept;
    }
    assert!(total.marked > 5_000 && total.lost > 500, "{total:?}");
    assert!(total.refused > 500 && total.pushed_out > 100, "{total:?}");
    assert!(total.idle > 500 && total.changed > 1_000, "{total:?}");
    assert!(total.close * 50 < total.kept, "{total:?}");
}

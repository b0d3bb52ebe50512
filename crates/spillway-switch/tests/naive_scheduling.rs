//! Every scheduler beside a second, naive implementation: the same packet leaves next.

use crate::common::{Real, Settings, cases};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_switch::packet::Packet;
use std::collections::VecDeque;

/// A waiting packet: its number, its size, and when it arrived.
type Waiting = (usize, u64, u64);

/// How one port's queues are served.
#[derive(Clone, Debug)]
enum Rule {
    Fifo,
    Strict,
    RoundRobin {
        /// The queue class that was served last.
        last: Option<usize>,
    },
    Deficit {
        quanta: Vec<u64>,
        deficits: Vec<u64>,
        visiting: usize,
    },
}

impl Rule {
    /// Takes out the packet that leaves next.
    fn serve(&mut self, queues: &mut [VecDeque<Waiting>]) -> usize {
        let n = queues.len();
        let queue_class = match self {
            // The earliest arrival; of equal ones, the lowest queue class.
            Rule::Fifo => {
                let first =
                    |queue_class: usize| queues[queue_class].front().map(|w| (w.2, queue_class));
                (0..n).filter_map(first).min().unwrap().1
            }
            Rule::Strict => (0..n).find(|&queue_class| !queues[queue_class].is_empty()).unwrap(),
            Rule::RoundRobin { last } => {
                let from = last.map_or(0, |last| last + 1);
                let mut order = (from..from + n).map(|queue_class| queue_class % n);
                let queue_class =
                    order.find(|&queue_class| !queues[queue_class].is_empty()).unwrap();
                *last = Some(queue_class);
                queue_class
            }
            // The queue that is visited sends while its deficit lasts. A visit begins with a
            // quantum. An empty queue has no deficit.
            Rule::Deficit { quanta, deficits, visiting } => loop {
                let queue_class = *visiting;
                match queues[queue_class].front() {
                    None => deficits[queue_class] = 0,
                    Some(&(_, size, _)) if size <= deficits[queue_class] => {
                        deficits[queue_class] -= size;
                        break queue_class;
                    }
                    Some(_) => {}
                }
                *visiting = (queue_class + 1) % n;
                if !queues[*visiting].is_empty() {
                    deficits[*visiting] += quanta[(*visiting).min(quanta.len() - 1)];
                }
            },
        };
        queues[queue_class].pop_front().unwrap().0
    }
}

#[derive(Clone, Debug)]
enum Step {
    Arrive { port: usize, queue_class: u8, size: u64 },
    Depart { port: usize },
}

fn compare(
    scheduling: (&'static str, String),
    rule: Rule,
    (ports, queues_per_port): (usize, usize),
    steps: &[Step],
) -> Result<(), TestCaseError> {
    let settings = Settings { ports, queues_per_port, scheduling, ..Settings::default() };
    let mut real = Real::new(&settings);
    let mut queues = vec![vec![VecDeque::new(); queues_per_port]; ports];
    let mut rules = vec![rule; ports];
    let mut busy = vec![false; ports];
    for (number, step) in steps.iter().enumerate() {
        // Two steps each take place at the same time.
        let ps = number as u64 / 2;
        let now = Time::from_ps(ps);
        let (port, sent) = match *step {
            Step::Arrive { port, queue_class, size } => {
                let port = port % ports;
                let last = queues_per_port - 1;
                queues[port][usize::from(queue_class).min(last)].push_back((number, size, ps));
                let packet =
                    Packet { size: size as u32, priority: queue_class, ..Packet::default() };
                let id = real.insert(number, packet);
                if busy[port] {
                    real.switch.enqueue(
                        now,
                        port as u32,
                        id,
                        &{ real.packets[id] },
                        &mut real.packets,
                    );
                    continue;
                }
                (
                    port,
                    real.switch.pass(
                        now,
                        port as u32,
                        id,
                        &{ real.packets[id] },
                        &mut real.packets,
                    ),
                )
            }
            Step::Depart { port } => {
                let port = port % ports;
                busy[port] = real.switch.has_backlog(port as u32);
                if !busy[port] {
                    continue;
                }
                (port, real.switch.dequeue(now, port as u32, &mut real.packets))
            }
        };
        busy[port] = true;
        let expected = rules[port].serve(&mut queues[port]);
        let id = sent.expect("nothing is lost");
        prop_assert_eq!(real.number(id), expected, "step {}: {:?}", number, step);
        real.packets.remove(id);
        prop_assert!(real.switch.is_consistent(&real.packets));
    }
    Ok(())
}

fn discipline() -> impl Strategy<Value = ((&'static str, String), Rule)> {
    // Weights in halves, and quanta smaller and larger than packets.
    let deficit = (vec(1u64..7, 1..4), select(vec![100u64, 700, 1500, 9000]));
    prop_oneof![
        Just((("fifo", String::new()), Rule::Fifo)),
        Just((("strict", String::new()), Rule::Strict)),
        Just((("rr", String::new()), Rule::RoundRobin { last: None })),
        deficit.prop_map(|(halves, quantum)| {
            let weights: Vec<String> =
                halves.iter().map(|h| format!("{}.{}", h / 2, h % 2 * 5)).collect();
            let text = format!("weights = [{}]\nquantum = \"{quantum}B\"", weights.join(", "));
            let quanta = halves.iter().map(|half| half * quantum / 2).collect();
            (("dwrr", text), Rule::Deficit { quanta, deficits: vec![0; 8], visiting: 0 })
        }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![select(vec![64u64, 700, 1500]), 40u64..1500];
    prop_oneof![
        (0usize..4, 0u8..8, size).prop_map(|(port, queue_class, size)| Step::Arrive {
            port,
            queue_class,
            size
        }),
        (0usize..4).prop_map(|port| Step::Depart { port }),
    ]
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn packets_leave_in_the_naive_order(
        (scheduling, rule) in discipline(),
        ports in 1usize..4,
        queues_per_port in 1usize..9,
        steps in vec(step(), 1..200),
    ) {
        compare(scheduling, rule, (ports, queues_per_port), &steps)?;
    }
}

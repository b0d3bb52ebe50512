//! pFabric's scheduling and dropping beside a second, naive implementation: the same packets leave
//! and are lost, in the same order.

use crate::common::{Real, Settings, cases};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_switch::DropReason;
use spillway_switch::packet::{Contents, NO_PRIORITY, Packet, flags};

/// A waiting packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Waiting {
    number: usize,
    flow: u32,
    /// Bytes that its flow has left; none for an ack.
    left: u32,
    size: u64,
}

/// A port: what waits, in the order in which it came.
#[derive(Clone, Debug, Default)]
struct Port(Vec<Waiting>);

impl Port {
    /// Adds a packet, and removes what does not fit. Returns what is lost. The arrival is among
    /// those that may be removed; if it is, nothing else is.
    fn come(&mut self, packet: Waiting, limit: u64) -> Vec<usize> {
        let before = self.0.clone();
        self.0.push(packet);
        let mut lost = Vec::new();
        while self.0.iter().map(|waiting| waiting.size).sum::<u64>() > limit {
            // The last of those with the most left.
            let most = self.0.iter().map(|waiting| waiting.left).max().unwrap();
            let place = self.0.iter().rposition(|waiting| waiting.left == most).unwrap();
            lost.push(self.0.remove(place).number);
            if lost.last() == Some(&packet.number) {
                self.0 = before;
                return vec![packet.number];
            }
        }
        lost.sort_unstable();
        lost
    }

    /// Takes out the packet that leaves.
    fn serve(&mut self) -> Option<usize> {
        let least = self.0.iter().map(|waiting| waiting.left).min()?;
        let flow = self.0.iter().find(|waiting| waiting.left == least).unwrap().flow;
        let place = self.0.iter().position(|waiting| waiting.flow == flow).unwrap();
        Some(self.0.remove(place).number)
    }
}

#[derive(Clone, Debug)]
enum Step {
    Arrive { port: usize, flow: u32, left: u32, size: u64, is_ack: bool },
    Depart { port: usize },
}

fn compare(limit: Option<u64>, ports: usize, steps: &[Step]) -> Result<(), TestCaseError> {
    let sharing = match limit {
        None => ("cs", String::new()),
        Some(limit) => ("pfabric", format!("limit = \"{limit}B\"")),
    };
    let scheduling = ("pfabric", String::new());
    let settings = Settings { ports, sharing, scheduling, ..Settings::default() };
    let mut real = Real::new(&settings);
    let mut naive = vec![Port::default(); ports];
    let mut busy = vec![false; ports];
    for (number, step) in steps.iter().enumerate() {
        let now = Time::from_ps(number as u64);
        match *step {
            Step::Arrive { port, flow, left, size, is_ack } => {
                let port = port % ports;
                let left_of = if is_ack { 0 } else { left };
                let arrival = Waiting { number, flow, left: left_of, size };
                let packet = Packet {
                    size: size as u32,
                    priority: NO_PRIORITY,
                    flags: if is_ack { flags::CONTROL } else { 0 },
                    ..Packet::default()
                };
                // An ack still has the number of the packet that it answers.
                let seq = number as u64;
                let contents = Contents { flow, remaining: left, seq, ..Contents::default() };
                let id = real.packets.insert(packet, contents);
                let lost = naive[port].come(arrival, limit.unwrap_or(u64::MAX));
                if busy[port] {
                    real.switch.enqueue(now, port as u32, id, &packet, &mut real.packets);
                } else {
                    let passed = real.switch.pass(now, port as u32, id, &packet, &mut real.packets);
                    let passed = passed.map(|id| (id, real.number(id)));
                    prop_assert_eq!(passed.map(|(_, number)| number), naive[port].serve());
                    passed.inspect(|&(id, _)| real.packets.remove(id));
                    busy[port] = passed.is_some();
                }
                let expected: Vec<_> =
                    lost.into_iter().map(|number| (number, DropReason::PushedOut)).collect();
                prop_assert_eq!(real.take_lost(), expected, "step {}: {:?}", number, step);
            }
            Step::Depart { port } => {
                let port = port % ports;
                let sent = real.switch.dequeue(now, port as u32, &mut real.packets);
                let sent = sent.map(|id| (id, real.number(id)));
                let expected = naive[port].serve();
                prop_assert_eq!(sent.map(|(_, number)| number), expected, "step {}", number);
                sent.inspect(|&(id, _)| real.packets.remove(id));
                busy[port] = sent.is_some();
            }
        }
        prop_assert!(real.switch.is_consistent(&real.packets));
    }
    Ok(())
}

fn step() -> impl Strategy<Value = Step> {
    let size = prop_oneof![select(vec![64u64, 700, 1500, 1500, 1500]), 40u64..1500];
    // Few values, so that there are ties, and a flow without an end.
    let left = prop_oneof![1u32..9, select(vec![1u32, 5, u32::MAX])];
    prop_oneof![
        2 => (0usize..3, 0u32..5, left, size, prop::bool::weighted(0.2)).prop_map(
            |(port, flow, left, size, is_ack)| {
                // A port carries data of a flow, or acks of others, never both.
                let flow = if is_ack { flow + 100 } else { flow };
                Step::Arrive { port, flow, left, size, is_ack }
            }
        ),
        1 => (0usize..3).prop_map(|port| Step::Depart { port }),
    ]
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn packets_leave_and_are_lost_as_the_rule_says(
        limit in prop::option::weighted(0.8, select(vec![1_500u64, 3_000, 4_700, 9_000, 36_864])),
        ports in 1usize..4,
        steps in vec(step(), 1..200),
    ) {
        compare(limit, ports, &steps)?;
    }
}

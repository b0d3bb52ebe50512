//! Policies that follow Longest Queue Drop, beside the real one: two switches see the same arrivals
//! at the same times and send at their ports' rates. What the follower holds its queues to must be
//! what LQD's queues hold, to the byte.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Real, Settings, cases};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::Time;
use spillway_switch::packet::{NO_PRIORITY, Packet, flags};

/// At 10 Gbps.
const PS_PER_BYTE: u64 = 800;

/// What both switches are.
#[derive(Clone, Debug)]
struct Setup {
    capacity: u64,
    ports: usize,
    queues_per_port: usize,
    rule: String,
    exempt_acks: bool,
    scheduling: (&'static str, &'static str),
    uncounted: u64,
    release_at_end: bool,
}

/// Some picoseconds after the one before.
#[derive(Clone, Copy, Debug)]
struct Packets {
    after: u64,
    port: usize,
    size: u64,
    priority: u8,
}

/// A switch whose ports send as fast as they can.
struct Timed {
    real: Real,
    setup: Setup,
    idle_at: Vec<u64>,
}

impl Timed {
    fn new(setup: &Setup, sharing: &'static str) -> Timed {
        let rule = format!("{}\nexempt_acks = {}", setup.rule, setup.exempt_acks);
        let (scheduling, parameters) = setup.scheduling;
        let mut real = Real::new(&Settings {
            capacity: setup.capacity,
            ports: setup.ports,
            queues_per_port: setup.queues_per_port,
            classes: (0, setup.queues_per_port - 1),
            uncounted: setup.uncounted,
            release_at_end: setup.release_at_end,
            sharing: (sharing, rule),
            scheduling: (scheduling, parameters.into()),
            ..Settings::default()
        });
        real.switch.trace_decisions();
        Timed { real, idle_at: vec![0; setup.ports], setup: setup.clone() }
    }

    /// All that is sent until now. A port that can send again does so before anything arrives.
    fn send_until(&mut self, now: u64) {
        for port in 0..self.setup.ports {
            while self.idle_at[port] <= now {
                let at = Time::from_ps(self.idle_at[port]);
                self.real.switch.on_sent(at, port as u32);
                let sent = self.real.switch.dequeue(at, port as u32, &mut self.real.packets);
                let Some(id) = sent else { break };
                self.idle_at[port] += u64::from(self.real.packets[id].size) * PS_PER_BYTE;
                self.real.packets.remove(id);
            }
        }
    }

    /// A packet arrives. What its queue held before, what it was held to, and whether it was lost.
    fn arrive(&mut self, now: u64, number: usize, given: Packets) -> (u64, Option<u64>, bool) {
        self.send_until(now);
        let packet = Packet {
            size: (given.size + self.setup.uncounted) as u32,
            priority: given.priority,
            flags: if given.priority == NO_PRIORITY { flags::CONTROL } else { 0 },
            ..Packet::default()
        };
        let id = self.real.insert(number, packet);
        let (at, port) = (Time::from_ps(now), given.port as u32);
        let Real { switch, packets } = &mut self.real;
        if self.idle_at[given.port] <= now && !switch.has_backlog(port) {
            if let Some(id) = switch.pass(at, port, id, &packet, packets) {
                self.idle_at[given.port] = now + u64::from(packet.size) * PS_PER_BYTE;
                packets.remove(id);
            }
        } else {
            switch.enqueue(at, port, id, &packet, packets);
        }
        let decision = self.real.switch.take_decisions()[0];
        self.real.take_lost();
        assert!(self.real.switch.is_consistent(&self.real.packets));
        (decision.queue_bytes.into(), decision.threshold, decision.dropped.is_some())
    }

    fn class_of(&self, priority: u8) -> usize {
        match priority {
            NO_PRIORITY => 0,
            priority => usize::from(priority).min(self.setup.queues_per_port - 1),
        }
    }

    fn bytes(&self, port: usize, priority: u8) -> u64 {
        let queue = port * self.setup.queues_per_port + self.class_of(priority);
        self.real.switch.buffer().bytes(queue as u32).into()
    }
}

/// Runs both; how many packets FollowLQD took, and how many it refused over a threshold.
fn compare(setup: &Setup, arrivals: &[Packets]) -> Result<[usize; 2], TestCaseError> {
    let (mut lqd, mut follow) = (Timed::new(setup, "lqd"), Timed::new(setup, "followlqd"));
    let (mut now, mut counts) = (0, [0; 2]);
    for (number, &arrival) in arrivals.iter().enumerate() {
        let arrival = Packets { port: arrival.port % setup.ports, ..arrival };
        now += arrival.after;
        let (_, _, lost) = lqd.arrive(now, number, arrival);
        let (held, threshold, refused) = follow.arrive(now, number, arrival);
        let lqd_holds = lqd.bytes(arrival.port, arrival.priority);
        // A packet that LQD sends at once is in no queue afterwards; it was when it was taken.
        let passed = !lost && lqd_holds == 0;
        let expected = if passed { arrival.size } else { lqd_holds };
        prop_assert_eq!(threshold, Some(expected), "packet {}: {:?}", number, arrival);
        let is_exempt = setup.exempt_acks
            && setup.queues_per_port > 1
            && follow.class_of(arrival.priority) == 0;
        let is_over = !is_exempt && held + arrival.size > expected;
        let occupancy = follow.real.switch.buffer().occupancy();
        let fits = refused || occupancy <= setup.capacity;
        prop_assert!(fits && (!is_over || refused), "packet {}: {:?}", number, arrival);
        if refused && !is_over {
            let full = occupancy + arrival.size > setup.capacity;
            prop_assert!(full, "packet {} was refused without need: {:?}", number, arrival);
        }
        counts[0] += usize::from(!refused);
        counts[1] += usize::from(is_over);
    }
    Ok(counts)
}

fn setup() -> impl Strategy<Value = Setup> {
    let shape = select(vec![(2, 1), (3, 1), (8, 1), (1, 2), (3, 2), (4, 3)]);
    let rule = (any::<bool>(), select(vec!["arriving-queue", "lowest-index"])).prop_map(
        |(count_arrival, tie)| format!("count_arrival = {count_arrival}\ntie = \"{tie}\""),
    );
    let scheduling =
        select(vec![("fifo", ""), ("strict", ""), ("rr", ""), ("dwrr", "weights = [1.0, 3.0]")]);
    let counted = (select(vec![0, 0, 24]), prop::bool::weighted(0.3));
    (3_000u64..15_000, shape, rule, any::<bool>(), scheduling, counted).prop_map(
        |(capacity, (ports, queues_per_port), rule, exempt_acks, scheduling, counted)| Setup {
            capacity,
            ports,
            queues_per_port,
            rule,
            exempt_acks,
            scheduling,
            uncounted: counted.0,
            release_at_end: counted.1,
        },
    )
}

/// Bursts at one instant, sometimes exactly when a port can send again, and pauses.
fn arrivals() -> impl Strategy<Value = Vec<Packets>> {
    let after = prop_oneof![
        6 => Just(0u64),
        4 => 0u64..400_000,
        2 => select(vec![1_500 * PS_PER_BYTE, 500 * PS_PER_BYTE]),
        1 => 0u64..9_000_000,
    ];
    let size = prop_oneof![3 => select(vec![100u64, 500, 1500]), 1 => 40u64..1500];
    let priority = prop_oneof![1 => Just(NO_PRIORITY), 4 => Just(2), 1 => 0u8..3];
    let packets = (after, prop_oneof![2 => Just(0usize), 1 => 0usize..8], size, priority);
    vec(packets, 1..150).prop_map(|all| {
        let packets = |(after, port, size, priority)| Packets { after, port, size, priority };
        all.into_iter().map(packets).collect()
    })
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn thresholds_are_the_queues_of_lqd(setup in setup(), arrivals in arrivals()) {
        compare(&setup, &arrivals)?;
    }
}

/// The random cases above are worth something only if thresholds refuse.
#[test]
fn the_cases_reach_thresholds() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    let mut totals = [0; 2];
    for _ in 0..200 {
        let setup = setup().new_tree(&mut runner).unwrap().current();
        let arrivals = arrivals().new_tree(&mut runner).unwrap().current();
        let counts = compare(&setup, &arrivals).unwrap();
        (0..2).for_each(|i| totals[i] += counts[i]);
    }
    assert!(totals.iter().all(|&total| total > 1_000), "{totals:?}");
}

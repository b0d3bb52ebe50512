//! Policies that follow Longest Queue Drop beside a switch under the real one: both see the same
//! arrivals at the same times and send at their ports' rates. The follower's thresholds must be the
//! lengths of LQD's queues, to the byte; its decisions must follow its rule with these thresholds;
//! and the oracle's hits and misses that it reports, and the fates that it traces, must agree with
//! what LQD has really done.

use crate::common::{Real, Settings, cases};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_engine::{Stream, Time};
use spillway_switch::packet::{NO_PRIORITY, Packet, flags};
use spillway_switch::{Averaging, DropReason, Fate, FateTracing};
use std::collections::BTreeSet;

/// At 10 Gbps.
const PS_PER_BYTE: u64 = 800;

/// The settings of both switches.
#[derive(Clone, Debug)]
struct Setup {
    follower: Follower,
    capacity: u64,
    ports: usize,
    /// The ports' rates in Gbps, repeated.
    rates: Vec<u64>,
    queues_per_port: usize,
    rule: String,
    exempt_acks: bool,
    scheduling: (&'static str, &'static str),
    uncounted: u64,
    release_at_end: bool,
}

impl Setup {
    fn ps_per_byte(&self, port: usize) -> u64 {
        8_000 / self.rates[port % self.rates.len()]
    }
}

#[derive(Clone, Copy, Debug)]
enum Follower {
    FollowLqd,
    /// With an oracle that predicts a drop for every packet, or for none.
    Credence {
        drops: bool,
        safeguard: bool,
    },
}

/// Packets that arrive `after` picoseconds after the previous ones.
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
    /// The packets known to be lost, and those that were sent.
    lost: BTreeSet<usize>,
    sent: BTreeSet<usize>,
}

impl Timed {
    fn new(setup: &Setup, sharing: &'static str, more: &str) -> Timed {
        let rule = format!("{}\nexempt_acks = {}\n{more}", setup.rule, setup.exempt_acks);
        let (scheduling, parameters) = setup.scheduling;
        let mut real = Real::new(&Settings {
            capacity: setup.capacity,
            ports: setup.ports,
            rates: setup.rates.clone(),
            queues_per_port: setup.queues_per_port,
            queue_classes: (0, setup.queues_per_port - 1),
            uncounted: setup.uncounted,
            release_at_end: setup.release_at_end,
            sharing: (sharing, rule),
            scheduling: (scheduling, parameters.into()),
            ..Settings::default()
        });
        real.switch.trace_decisions();
        let idle_at = vec![0; setup.ports];
        let (lost, sent) = (BTreeSet::new(), BTreeSet::new());
        Timed { real, idle_at, setup: setup.clone(), lost, sent }
    }

    /// Sends everything that is sent by now. A port that can send again does so before anything
    /// arrives.
    fn send_until(&mut self, now: u64) {
        for port in 0..self.setup.ports {
            while self.idle_at[port] <= now {
                let at = Time::from_ps(self.idle_at[port]);
                self.real.switch.on_sent(at, port as u32);
                let sent = self.real.switch.dequeue(at, port as u32, &mut self.real.packets);
                let Some(id) = sent else { break };
                self.sent.insert(self.real.number(id));
                let size = u64::from(self.real.packets[id].size);
                self.idle_at[port] += size * self.setup.ps_per_byte(port);
                self.real.packets.remove(id);
            }
        }
    }

    /// A packet arrives.
    fn arrive(&mut self, now: u64, number: usize, given: Packets) -> Outcome {
        self.send_until(now);
        let packet = Packet {
            size: (given.size + self.setup.uncounted) as u32,
            priority: given.priority,
            flags: if given.priority == NO_PRIORITY { flags::CONTROL } else { 0 },
            ..Packet::default()
        };
        let id = self.real.insert(number, packet);
        let longest = self.longest();
        let (at, port) = (Time::from_ps(now), given.port as u32);
        let Real { switch, packets } = &mut self.real;
        if self.idle_at[given.port] <= now && !switch.has_backlog(port) {
            if let Some(id) = switch.pass(at, port, id, &packet, packets) {
                let size = u64::from(packet.size);
                self.idle_at[given.port] = now + size * self.setup.ps_per_byte(given.port);
                packets.remove(id);
                self.sent.insert(number);
            }
        } else {
            switch.enqueue(at, port, id, &packet, packets);
        }
        let decision = self.real.switch.take_decisions()[0];
        self.lost.extend(self.real.take_lost().into_iter().map(|(number, _)| number));
        assert!(self.real.switch.is_consistent(&self.real.packets));
        Outcome {
            held: decision.queue_bytes.into(),
            occupancy: decision.occupancy,
            longest,
            threshold: decision.threshold,
            dropped: decision.dropped,
        }
    }

    /// The longest of the queues that are not exempt.
    fn longest(&self) -> u64 {
        let per_port = self.setup.queues_per_port;
        let is_tested = |queue: &usize| !self.is_exempt(queue % per_port);
        let queues = (0..self.setup.ports * per_port).filter(is_tested);
        let buffer = self.real.switch.buffer();
        queues.map(|queue| buffer.bytes(queue as u32).into()).max().unwrap_or(0)
    }

    fn is_exempt(&self, queue_class: usize) -> bool {
        self.setup.exempt_acks && self.setup.queues_per_port > 1 && queue_class == 0
    }

    fn queue_class_of(&self, priority: u8) -> usize {
        match priority {
            NO_PRIORITY => 0,
            priority => usize::from(priority).min(self.setup.queues_per_port - 1),
        }
    }

    fn bytes(&self, port: usize, priority: u8) -> u64 {
        let queue = port * self.setup.queues_per_port + self.queue_class_of(priority);
        self.real.switch.buffer().bytes(queue as u32).into()
    }
}

/// What a packet found when it arrived, and whether it was lost.
struct Outcome {
    held: u64,
    occupancy: u64,
    longest: u64,
    threshold: Option<u64>,
    dropped: Option<DropReason>,
}

/// The follower's decision, with `threshold` as T_i.
fn rule(
    setup: &Setup,
    found: &Outcome,
    is_exempt: bool,
    size: u64,
    threshold: u64,
) -> Option<DropReason> {
    let fits = found.occupancy + size <= setup.capacity;
    let full = (!fits).then_some(DropReason::BufferFull);
    let is_over = found.held + size > threshold;
    match setup.follower {
        _ if is_exempt => full,
        Follower::FollowLqd if is_over => Some(DropReason::OverThreshold),
        Follower::FollowLqd => full,
        Follower::Credence { safeguard: true, .. }
            if found.longest * (setup.ports as u64) < setup.capacity =>
        {
            full
        }
        Follower::Credence { .. } if !fits => full,
        Follower::Credence { .. } if is_over => Some(DropReason::OverThreshold),
        Follower::Credence { drops, .. } => drops.then_some(DropReason::Predicted),
    }
}

/// Runs both, and returns how many packets the follower admitted, refused over a threshold, or
/// refused as predicted.
fn compare(setup: &Setup, arrivals: &[Packets]) -> Result<[usize; 3], TestCaseError> {
    let (id, more) = match setup.follower {
        Follower::FollowLqd => ("followlqd", String::new()),
        Follower::Credence { drops, safeguard } => {
            let oracle = if drops { "always-drop" } else { "always-accept" };
            ("credence", format!("oracle = \"{oracle}\"\nsafeguard = {safeguard}"))
        }
    };
    let (mut lqd, mut follower) = (Timed::new(setup, "lqd", ""), Timed::new(setup, id, &more));
    if let Follower::Credence { .. } = setup.follower {
        let span = Time::from_us(10);
        let tracing = FateTracing { averaging: Averaging::Continuous, span, one_in: 1 };
        follower.real.switch.trace_fates(tracing, Stream::new(1, "test", 0));
    }
    let (mut now, mut counts) = (0, [0; 3]);
    let (mut asked, mut exempt) = (Vec::new(), 0);
    // At the end one more packet for every port, so that its queues are looked at again.
    let last =
        |port| Packets { after: if port == 0 { PAUSE } else { 0 }, port, size: 100, priority: 2 };
    let total = arrivals.len() + setup.ports;
    let arrivals = arrivals.iter().copied().chain((0..setup.ports).map(last));
    for (number, arrival) in arrivals.enumerate() {
        let arrival = Packets { port: arrival.port % setup.ports, ..arrival };
        now += arrival.after;
        let lost = lqd.arrive(now, number, arrival).dropped.is_some();
        let found = follower.arrive(now, number, arrival);
        let lqd_holds = lqd.bytes(arrival.port, arrival.priority);
        // A packet that LQD sends at once is in no queue afterwards, but it was when it was
        // admitted.
        let passed = !lost && lqd_holds == 0;
        let threshold = if passed { arrival.size } else { lqd_holds };
        prop_assert_eq!(found.threshold, Some(threshold), "packet {}: {:?}", number, arrival);
        let is_exempt = follower.is_exempt(follower.queue_class_of(arrival.priority));
        let expected = rule(setup, &found, is_exempt, arrival.size, threshold);
        prop_assert_eq!(found.dropped, expected, "packet {}: {:?}", number, arrival);
        exempt += usize::from(is_exempt);
        if is_asked(setup, &found, is_exempt, arrival.size, threshold) {
            asked.push((number, expected.is_some()));
        }
        match expected {
            None => counts[0] += 1,
            Some(DropReason::OverThreshold) => counts[1] += 1,
            Some(DropReason::Predicted) => counts[2] += 1,
            Some(_) => {}
        }
    }
    if let Follower::Credence { .. } = setup.follower {
        lqd.send_until(now);
        follower.real.switch.finish_sharing(Time::from_ps(now));
        let told = follower.real.switch.sharing_counters();
        let told = CELLS.map(|cell| told.iter().find(|(name, _)| *name == cell).map(|(_, n)| *n));
        let among = |fates: &BTreeSet<usize>, says: bool| {
            let of = |(number, said): &&(usize, bool)| *said == says && fates.contains(number);
            Some(asked.iter().filter(of).count() as u64)
        };
        let expected = [
            among(&lqd.lost, true),
            among(&lqd.sent, true),
            among(&lqd.sent, false),
            among(&lqd.lost, false),
        ];
        prop_assert_eq!(told, expected);
        // A trace has what LQD really did with each packet.
        follower.real.switch.finish_fates(Time::from_ps(now));
        let fates = follower.real.switch.take_fates();
        prop_assert_eq!(fates.len(), total - exempt);
        for Fate { seq, lost, .. } in fates {
            let number = seq as usize;
            let really = lqd.lost.contains(&number).then_some(true);
            prop_assert_eq!(lost, really.or(lqd.sent.contains(&number).then_some(false)));
        }
    }
    Ok(counts)
}

/// The counters of predictions. A drop is a positive.
const CELLS: [&str; 4] = ["true_positives", "false_positives", "true_negatives", "false_negatives"];

/// Long enough for everything to be sent.
const PAUSE: u64 = 1_000_000_000_000;

/// Whether the oracle's answer decided.
fn is_asked(setup: &Setup, found: &Outcome, is_exempt: bool, size: u64, threshold: u64) -> bool {
    let Follower::Credence { safeguard, .. } = setup.follower else { return false };
    let is_safe = safeguard && found.longest * (setup.ports as u64) < setup.capacity;
    let fits = found.occupancy + size <= setup.capacity;
    !is_exempt && !is_safe && fits && found.held + size <= threshold
}

fn setup() -> impl Strategy<Value = Setup> {
    let shape = select(vec![(2, 1), (3, 1), (8, 1), (1, 2), (3, 2), (4, 3)]);
    let rule = (any::<bool>(), select(vec!["arriving-queue", "lowest-index"])).prop_map(
        |(count_arrival, tie)| format!("count_arrival = {count_arrival}\ntie = \"{tie}\""),
    );
    let scheduling =
        select(vec![("fifo", ""), ("strict", ""), ("rr", ""), ("dwrr", "weights = [1.0, 3.0]")]);
    let counted = (select(vec![0, 0, 24]), prop::bool::weighted(0.3));
    let rates = select(vec![vec![10], vec![10, 1], vec![1, 10, 40], vec![100, 25, 10, 2]]);
    let follower = prop_oneof![
        1 => Just(Follower::FollowLqd),
        2 => (any::<bool>(), any::<bool>())
            .prop_map(|(drops, safeguard)| Follower::Credence { drops, safeguard }),
    ];
    let acks = any::<bool>();
    (follower, 3_000u64..15_000, shape, rates, rule, acks, scheduling, counted).prop_map(
        |(follower, capacity, shape, rates, rule, exempt_acks, scheduling, counted)| {
            let (ports, queues_per_port) = shape;
            Setup {
                follower,
                capacity,
                ports,
                rates,
                queues_per_port,
                rule,
                exempt_acks,
                scheduling,
                uncounted: counted.0,
                release_at_end: counted.1,
            }
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
    fn followers_hold_to_the_queues_of_lqd(setup in setup(), arrivals in arrivals()) {
        compare(&setup, &arrivals)?;
    }
}

/// The random cases above are worth something only if thresholds refuse.
#[test]
fn the_cases_reach_thresholds() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::new(cases(1));
    let mut totals = [0; 3];
    for _ in 0..200 {
        let setup = setup().new_tree(&mut runner).unwrap().current();
        let arrivals = arrivals().new_tree(&mut runner).unwrap().current();
        let counts = compare(&setup, &arrivals).unwrap();
        (0..3).for_each(|i| totals[i] += counts[i]);
    }
    assert!(totals.iter().all(|&total| total > 500), "{totals:?}");
}

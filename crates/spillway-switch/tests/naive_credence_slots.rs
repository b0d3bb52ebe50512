//! Algorithms 1 and 2 of the Credence paper, line by line, beside Credence and FollowLQD in the
//! slotted model, packet by packet.
//!
//! As in the paper, packets are alike, and in every slot some arrive and then each queue sends one.
//! The numbers in comments are lines of the pseudocode. Both must agree on every threshold and on
//! which packets are admitted.

use crate::common::{Real, Settings, cases};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use spillway_engine::Time;
use spillway_switch::packet::Packet;

/// The picoseconds in which a port sends a byte, which is a packet here.
const SLOT: u64 = 800;

/// What the paper leaves open of "let T_j(t) be the highest threshold".
#[derive(Clone, Copy, Debug)]
struct Highest {
    /// Whether T_i(t) already includes the arrival.
    counts_arrival: bool,
    /// Whether the first of several is chosen, rather than i, if i is among them.
    is_lowest: bool,
}

#[derive(Clone, Debug)]
struct Setup {
    buffer: u64,
    ports: usize,
    highest: Highest,
    /// Credence's predictions for arrivals, repeated.
    drops: Option<Vec<bool>>,
}

/// Both algorithms; without predictions, Algorithm 2. The names are the paper's.
struct Algorithm<'a> {
    setup: &'a Setup,
    q: Vec<u64>,
    t: Vec<u64>,
    gamma: u64,
    /// The number of arrivals so far.
    arrivals: usize,
}

impl Algorithm<'_> {
    fn new(setup: &Setup) -> Algorithm<'_> {
        let zeros = vec![0; setup.ports];
        Algorithm { setup, q: zeros.clone(), t: zeros, gamma: 0, arrivals: 0 }
    }

    /// Algorithm 1, lines 4 to 27; Algorithm 2, lines 4 to 13. Returns whether the packet is
    /// accepted.
    fn arrival(&mut self, i: usize) -> bool {
        let (b, n) = (self.setup.buffer, self.setup.ports as u64);
        self.arrivals += 1;
        self.update_threshold(i);
        let q_j = *self.q.iter().max().unwrap();
        let accepts = match &self.setup.drops {
            Some(_) if q_j * n < b => true,
            _ if self.q[i] >= self.t[i] => false,
            _ if self.q.iter().sum::<u64>() >= b => false,
            Some(drops) => !drops[(self.arrivals - 1) % drops.len()],
            None => true,
        };
        self.q[i] += u64::from(accepts);
        accepts
    }

    /// Algorithm 1, lines 37 to 46; Algorithm 2, lines 22 to 30.
    fn update_threshold(&mut self, i: usize) {
        if self.gamma < self.setup.buffer {
            self.t[i] += 1;
            self.gamma += 1;
            return;
        }
        let Highest { counts_arrival, is_lowest } = self.setup.highest;
        let mut t = self.t.clone();
        t[i] += u64::from(counts_arrival);
        let highest = *t.iter().max().unwrap();
        let first = t.iter().position(|&t| t == highest).unwrap();
        let j = if t[i] == highest && !is_lowest { i } else { first };
        self.t[i] += 1;
        self.t[j] -= 1;
    }

    /// Algorithm 1, lines 29 to 34 and 48 to 50; Algorithm 2, lines 14 to 19 and 31 to 34.
    fn departure(&mut self, i: usize) {
        if self.q[i] > 0 {
            self.q[i] -= 1;
        }
        if self.t[i] > 0 {
            self.t[i] -= 1;
            self.gamma -= 1;
        }
    }
}

/// Runs both, and returns how many packets were accepted, refused over a threshold, and refused
/// otherwise.
fn compare(setup: &Setup, slots: &[Vec<usize>]) -> Result<[usize; 3], TestCaseError> {
    let tie = if setup.highest.is_lowest { "lowest-index" } else { "arriving-queue" };
    let keys = format!("count_arrival = {}\ntie = \"{tie}\"", setup.highest.counts_arrival);
    let number = slots.iter().map(Vec::len).sum();
    let predictions = setup.drops.as_ref().map(|drops| {
        let again = drops.iter().copied().cycle();
        again.take(number).collect()
    });
    let mut real = Real::new(&Settings {
        capacity: setup.buffer,
        ports: setup.ports,
        slot: Some(Time::from_ps(SLOT)),
        sharing: (if predictions.is_some() { "credence" } else { "followlqd" }, keys),
        predictions,
        ..Settings::default()
    });
    real.switch.trace_decisions();
    let mut algorithm = Algorithm::new(setup);
    let mut counts = [0; 3];
    for (begin, slot) in (0..).step_by(SLOT as usize).zip(slots) {
        for &port in slot {
            let i = port % setup.ports;
            let packet = Packet { size: 1, ..Packet::default() };
            let (id, now) = (real.insert(algorithm.arrivals, packet), Time::from_ps(begin));
            real.switch.enqueue(now, i as u32, id, &packet, &mut real.packets);
            let found = real.switch.take_decisions()[0];
            let was = algorithm.q[i];
            let accepts = algorithm.arrival(i);
            let t = algorithm.t[i];
            prop_assert_eq!(found.threshold, Some(t), "arrival {}", algorithm.arrivals);
            prop_assert_eq!(found.dropped.is_none(), accepts, "arrival {}", algorithm.arrivals);
            real.take_lost();
            let outcome = if accepts {
                0
            } else if was >= t {
                1
            } else {
                2
            };
            counts[outcome] += 1;
        }
        for i in 0..setup.ports {
            let now = Time::from_ps(begin + SLOT / 2);
            let sent = real.switch.dequeue(now, i as u32, &mut real.packets);
            prop_assert_eq!(sent.is_some(), algorithm.q[i] > 0);
            if let Some(id) = sent {
                real.packets.remove(id);
            }
            algorithm.departure(i);
        }
    }
    Ok(counts)
}

fn setup() -> impl Strategy<Value = Setup> {
    let drops = proptest::option::of(vec(prop::bool::weighted(0.3), 1..40));
    (2usize..17, 1u64..50, any::<bool>(), any::<bool>(), drops).prop_map(
        |(ports, buffer, counts_arrival, is_lowest, drops)| Setup {
            buffer,
            ports,
            highest: Highest { counts_arrival, is_lowest },
            drops,
        },
    )
}

/// Slots with no arrivals, a few, or a burst; many arrivals are for port 0.
fn slots() -> impl Strategy<Value = Vec<Vec<usize>>> {
    let port = || prop_oneof![1 => Just(0usize), 2 => 0usize..16];
    vec(prop_oneof![6 => vec(port(), 0..6), 1 => vec(port(), 0..40)], 1..40)
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn in_slots_they_are_algorithms_1_and_2(setup in setup(), slots in slots()) {
        compare(&setup, &slots)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_refuse() {
    let mut runner = TestRunner::new(cases(1));
    let mut totals = [[0; 3]; 2];
    for _ in 0..300 {
        let setup = setup().new_tree(&mut runner).unwrap().current();
        let slots = slots().new_tree(&mut runner).unwrap().current();
        let counts = compare(&setup, &slots).unwrap();
        let total = &mut totals[usize::from(setup.drops.is_some())];
        (0..3).for_each(|i| total[i] += counts[i]);
    }
    assert!(totals.iter().flatten().all(|&total| total > 100), "{totals:?}");
}

/// The sequence with which appendix B shows that FollowLQD is at least (N+1)/2-competitive: B
/// packets for one queue; then, repeatedly, one for each of the N queues and N for that one.
#[test]
fn the_papers_bad_sequence_gets_two_packets_for_every_n_plus_one() {
    for counts_arrival in [true, false] {
        let (n, b) = (8, 40);
        let highest = Highest { counts_arrival, is_lowest: true };
        let setup = Setup { buffer: b, ports: n, highest, drops: None };
        let mut slots = vec![vec![0; b as usize]];
        for _ in 0..10 {
            slots.extend([(0..n).collect(), vec![0; n]]);
        }
        let [accepted, ..] = compare(&setup, &slots).unwrap();
        assert_eq!(accepted, b as usize + 10 * 2, "{counts_arrival}");
    }
}

//! Credence with the thresholds of its authors' program, beside a second, naive implementation,
//! packet by packet.
//!
//! The naive one has only a list of thresholds, which it sorts and sums up in every step. It is
//! written from the description of the program and shares no code with the switch. Both must agree
//! on every threshold, on which packets are admitted or refused, and why, and on how often each
//! test decided.

use crate::common::beside::{Checked, Given, Naive, Queues, Step, run, steps};
use crate::common::drawing::{Tally, look_at, switches};
use crate::common::{Settings, cases};
use proptest::option;
use proptest::prelude::*;
use spillway_switch::{Decision, DropReason};
use std::cmp::Reverse;

/// The keys of a scenario; `None` where it does not give them.
#[derive(Clone, Debug)]
struct Keys {
    oracle_drops: bool,
    /// Whether all answers are flipped.
    flips: Option<bool>,
    safeguard: Option<bool>,
    exempt_acks: Option<bool>,
}

impl Keys {
    fn text(&self) -> String {
        let oracle = if self.oracle_drops { "always-drop" } else { "always-accept" };
        let mut lines = vec!["thresholds = \"code\"".into(), format!("oracle = \"{oracle}\"")];
        lines.extend(self.flips.map(|all| format!("flip_probability = {}.0", u8::from(all))));
        lines.extend(self.safeguard.map(|has| format!("safeguard = {has}")));
        lines.extend(self.exempt_acks.map(|are| format!("exempt_acks = {are}")));
        lines.join("\n")
    }
}

/// The settings of both switches.
#[derive(Clone, Debug)]
struct Setup {
    keys: Keys,
    switch: Settings,
}

impl Setup {
    /// Whether a queue class is for acks alone, and is exempt.
    fn is_exempt(&self, queue_class: usize) -> bool {
        let (ack, data) = self.switch.queue_classes;
        self.keys.exempt_acks != Some(false) && ack != data && queue_class == ack
    }
}

/// The largest threshold is lowered by this much at a time.
const STEP: u64 = 1500;

struct Program<'a> {
    setup: &'a Setup,
    thresholds: Vec<u64>,
    counts: Tally,
}

impl<'a> Program<'a> {
    fn new(setup: &'a Setup) -> Program<'a> {
        let thresholds = vec![0; setup.switch.ports * setup.switch.queues_per_port];
        Program { setup, thresholds, counts: Tally::default() }
    }

    fn count(&mut self, what: &'static str) {
        self.counts.count(what, true);
    }

    fn room(&self) -> u64 {
        self.setup.switch.capacity - self.thresholds.iter().sum::<u64>()
    }

    /// The queues that are not exempt, by decreasing threshold; of equal ones, the lowest first.
    fn ranking(&self) -> Vec<usize> {
        let per_port = self.setup.switch.queues_per_port;
        let all = 0..self.thresholds.len();
        let mut ranked: Vec<usize> =
            all.filter(|queue| !self.setup.is_exempt(queue % per_port)).collect();
        ranked.sort_by_key(|&queue| (Reverse(self.thresholds[queue]), queue));
        ranked
    }

    /// Adds an arrival's size to its queue's threshold, after making room for it.
    fn raise(&mut self, queue: usize, size: u64) {
        while self.room() < size {
            let largest = self.ranking()[0];
            match self.thresholds[largest] {
                // Only acks' queues have thresholds left.
                0 => break,
                1..STEP => self.thresholds[largest] = 0,
                more => self.thresholds[largest] = more - STEP,
            }
            self.count("steps");
        }
        if self.room() < size {
            self.count("capped");
        }
        self.thresholds[queue] += size.min(self.room());
    }

    /// Whether no queue that is not exempt is longer than B / N.
    fn is_safe(&self, queues: &Queues) -> bool {
        let tested = queues.all().filter(|queue| !self.setup.is_exempt(queue % queues.per_port));
        let longest = tested.map(|queue| queues.bytes(queue)).max().unwrap();
        self.setup.keys.safeguard != Some(false) && longest * queues.ports as u64 <= queues.capacity
    }

    /// Which test decides about an arrival, by the names of the counters.
    fn decides(&self, arrival: &Given, queues: &Queues) -> &'static str {
        let is_over = queues.bytes(arrival.queue) + arrival.size > self.thresholds[arrival.queue];
        if queues.total() + arrival.size > queues.capacity {
            "buffer_full"
        } else if self.setup.is_exempt(arrival.queue_class) {
            "exempt"
        } else if self.is_safe(queues) {
            "safeguard"
        } else if is_over {
            "threshold"
        } else if self.setup.keys.oracle_drops != (self.setup.keys.flips == Some(true)) {
            "oracle_drops"
        } else {
            "oracle_accepts"
        }
    }
}

impl Naive for Program<'_> {
    fn check(&mut self, arrival: &Given, decision: &Decision, queues: &Queues) -> Checked {
        self.raise(arrival.queue, arrival.size);
        prop_assert_eq!(decision.threshold, Some(self.thresholds[arrival.queue]));
        let decides = self.decides(arrival, queues);
        let expected = match decides {
            "buffer_full" => Some(DropReason::BufferFull),
            "threshold" => Some(DropReason::OverThreshold),
            "oracle_drops" => Some(DropReason::Predicted),
            _ => None,
        };
        prop_assert_eq!(decision.dropped, expected, "{:?}: {:?}", arrival, self.thresholds);
        self.count(decides);
        if decides.starts_with("oracle") && self.setup.keys.flips == Some(true) {
            self.count("oracle_flips");
        }
        Ok(())
    }

    fn room(&self, _arrival: &Given, queues: &Queues) -> u64 {
        queues.capacity - queues.total()
    }

    /// A departure lowers the threshold by its size; the last packet's departure sets it to 0. The
    /// failure of a link changes nothing.
    fn leaves(&mut self, _now: u64, queue: usize, size: u64, queues: &Queues) {
        let threshold = self.thresholds[queue];
        if queues.packets(queue) == 1 && threshold > size {
            self.count("emptied");
        }
        let is_last = queues.packets(queue) == 1;
        self.thresholds[queue] = if is_last { 0 } else { threshold.saturating_sub(size) };
    }
}

/// Runs both, and returns how often each event occurred.
fn compare(setup: &Setup, steps: &[Step]) -> Result<Tally, TestCaseError> {
    let switch = Settings { sharing: ("credence", setup.keys.text()), ..setup.switch.clone() };
    let mut program = Program::new(setup);
    // The policy must see every departure, so no packet passes a queue.
    let real = run(&switch, false, &mut program, steps)?;
    for (name, told) in real.switch.sharing_counters() {
        prop_assert_eq!(told, program.counts.of(&name) as u64, "{}", name);
    }
    Ok(program.counts)
}

fn keys() -> impl Strategy<Value = Keys> {
    let flips = option::weighted(0.3, any::<bool>());
    (prop::bool::weighted(0.3), flips, option::of(any::<bool>()), option::of(any::<bool>()))
        .prop_map(|(oracle_drops, flips, safeguard, exempt_acks)| Keys {
            oracle_drops,
            flips,
            safeguard,
            exempt_acks,
        })
}

fn setup() -> impl Strategy<Value = Setup> {
    let shapes = vec![(2, 1), (3, 1), (16, 1), (1, 2), (2, 2), (6, 2), (3, 3), (4, 4), (2, 8)];
    let scheduling = vec![("rr", ""), ("strict", ""), ("dwrr", "weights = [1.0, 3.0]")];
    let capacity = prop_oneof![
        3 => 2_000u64..12_000,
        3 => (4u64..24).prop_map(|number| 500 * number),
        1 => 20_000u64..40_000,
    ];
    let switches = switches(shapes, capacity, scheduling);
    (keys(), switches).prop_map(|(keys, switch)| Setup { keys, switch })
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn credence_decides_like_the_program(setup in setup(), steps in steps(1..200)) {
        compare(&setup, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_ask_everyone() {
    let mut totals = Tally::default();
    look_at(300, setup(), |setup, steps| totals.add(compare(&setup, &steps).unwrap()));
    for what in [
        "exempt",
        "buffer_full",
        "safeguard",
        "threshold",
        "oracle_accepts",
        "oracle_drops",
        "oracle_flips",
        "steps",
        "emptied",
    ] {
        assert!(totals.of(what) > 500, "{what}: {totals:?}");
    }
    assert!(totals.of("capped") > 20, "{totals:?}");
}

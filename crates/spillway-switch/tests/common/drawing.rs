//! Switches drawn at random, and counts of what happened to them.

use super::Settings;
use super::beside::{Step, steps};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use spillway_settings::quantity::Amount;
use std::collections::BTreeMap;

/// A policy's id and its parameters.
pub type Section = (&'static str, &'static str);

/// Switches that differ in size, queues, queue classes and in how bytes are counted. A shape is a
/// number of ports and of queues per port. The sharing policy is left open.
pub fn switches(
    shapes: Vec<(usize, usize)>,
    capacity: impl Strategy<Value = u64>,
    scheduling: Vec<Section>,
) -> impl Strategy<Value = Settings> {
    let queue_classes = (any::<Index>(), any::<Index>());
    let counted = (select(vec![0, 0, 24]), prop::bool::weighted(0.2));
    (capacity, select(shapes), queue_classes, select(scheduling), counted).prop_map(
        |(capacity, (ports, queues_per_port), (ack, data), scheduling, counted)| Settings {
            capacity,
            ports,
            queues_per_port,
            queue_classes: (ack.index(queues_per_port), data.index(queues_per_port)),
            uncounted: counted.0,
            release_at_end: counted.1,
            scheduling: (scheduling.0, scheduling.1.into()),
            ..Settings::default()
        },
    )
}

/// Switches for policies that observe queues: few ports, of different rates, so that packets follow
/// closely on each other, and sometimes with a `queue_limit`.
pub fn watched_switches() -> impl Strategy<Value = Settings> {
    let shapes = vec![(1, 1), (2, 1), (3, 1), (16, 1), (1, 2), (2, 2), (3, 3), (1, 4), (2, 8)];
    let rates = select(vec![vec![10], vec![1], vec![4, 2], vec![1, 10, 2], vec![40, 1]]);
    let dwrr = ("dwrr", "weights = [1.0, 3.0]");
    let scheduling = vec![("rr", ""), ("rr", ""), ("strict", ""), ("fifo", ""), dwrr];
    let capacity = prop_oneof![
        3 => 2_000u64..12_000,
        3 => (4u64..24).prop_map(|number| 500 * number),
        1 => 20_000u64..40_000,
    ];
    let queue_limit = prop_oneof![
        17 => Just(Amount::Unlimited),
        3 => (500u64..5_000).prop_map(Amount::Bytes),
    ];
    (switches(shapes, capacity, scheduling), rates, queue_limit)
        .prop_map(|(switch, rates, queue_limit)| Settings { rates, queue_limit, ..switch })
}

/// Draws `number` setups with long lists of steps, and calls `look` for each.
pub fn look_at<S: Strategy>(number: usize, setups: S, mut look: impl FnMut(S::Value, Vec<Step>)) {
    let mut runner = TestRunner::new(super::cases(1));
    for _ in 0..number {
        let setup = setups.new_tree(&mut runner).unwrap().current();
        let steps = steps(100..200).new_tree(&mut runner).unwrap().current();
        look(setup, steps);
    }
}

/// How often each event occurred.
#[derive(Clone, Debug, Default)]
pub struct Tally(pub BTreeMap<&'static str, usize>);

impl Tally {
    /// Counts an event, if it happens.
    pub fn count(&mut self, what: &'static str, happens: bool) {
        *self.0.entry(what).or_default() += usize::from(happens);
    }

    pub fn add(&mut self, other: Tally) {
        for (what, n) in other.0 {
            *self.0.entry(what).or_default() += n;
        }
    }

    pub fn of(&self, what: &str) -> usize {
        self.0.get(what).copied().unwrap_or(0)
    }
}

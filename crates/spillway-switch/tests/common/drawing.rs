//! Switches drawn at random, and how often what happened to them.

use super::Settings;
use super::beside::{Step, steps};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::BTreeMap;

/// A policy's id and its parameters.
pub type Section = (&'static str, &'static str);

/// Switches that differ in size, queues, classes and in how bytes are counted; shapes are numbers of
/// ports and of queues for each. How the buffer is shared is left open.
pub fn switches(
    shapes: Vec<(usize, usize)>,
    capacity: impl Strategy<Value = u64>,
    scheduling: Vec<Section>,
) -> impl Strategy<Value = Settings> {
    let classes = (any::<Index>(), any::<Index>());
    let counted = (select(vec![0, 0, 24]), prop::bool::weighted(0.2));
    (capacity, select(shapes), classes, select(scheduling), counted).prop_map(
        |(capacity, (ports, queues_per_port), (ack, data), scheduling, counted)| Settings {
            capacity,
            ports,
            queues_per_port,
            classes: (ack.index(queues_per_port), data.index(queues_per_port)),
            uncounted: counted.0,
            release_at_end: counted.1,
            scheduling: (scheduling.0, scheduling.1.into()),
            ..Settings::default()
        },
    )
}

/// Draws so many setups and long lists of steps, and looks at each.
pub fn look_at<S: Strategy>(number: usize, setups: S, mut look: impl FnMut(S::Value, Vec<Step>)) {
    let mut runner = TestRunner::new(super::cases(1));
    for _ in 0..number {
        let setup = setups.new_tree(&mut runner).unwrap().current();
        let steps = steps(100..200).new_tree(&mut runner).unwrap().current();
        look(setup, steps);
    }
}

/// How often what happened.
#[derive(Clone, Debug, Default)]
pub struct Tally(pub BTreeMap<&'static str, usize>);

impl Tally {
    /// Once more, if it happens.
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

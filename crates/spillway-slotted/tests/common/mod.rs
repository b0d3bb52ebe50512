//! What the tests share: random instances, and policies from their keys.

#![allow(clippy::unwrap_used, dead_code)]

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use spillway_settings::{Section, Table};
use spillway_slotted::{Arrivals, environment, run};
use spillway_switch::Policy;
use spillway_switch::sharing::Credence;

pub fn cases(cases: u32) -> Config {
    Config { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() }
}

pub fn section(text: &str) -> Section {
    Section::new("policy", text.parse().unwrap())
}

pub fn rule_of(text: &str) -> Table {
    text.parse().unwrap()
}

pub fn credence(text: &str, buffer: u64, arrivals: &Arrivals, predictions: &[bool]) -> u64 {
    let environment = environment(arrivals.ports(), buffer, 1);
    let policy = Credence::read(&mut section(text), &environment).unwrap();
    run(&mut policy.with_predictions(predictions.into()), buffer, arrivals).transmitted
}

/// At most so many arrivals in every slot, more often than not for the first ports.
pub fn arrivals(ports: u32, most: usize, slots: usize) -> impl Strategy<Value = Arrivals> {
    let port = prop_oneof![2 => Just(0), 3 => 0..ports];
    vec(vec(port, 0..=most), 1..slots).prop_map(move |slots| Arrivals::of_slots(ports, &slots))
}

/// As appendix A has it: at most N arrivals in a slot; with a prediction for every packet.
pub fn predicted() -> impl Strategy<Value = (u64, Arrivals, Vec<bool>)> {
    let shape = (1u64..=12, 2u32..=5)
        .prop_flat_map(|(buffer, ports)| (Just(buffer), arrivals(ports, ports as usize, 40)));
    shape.prop_flat_map(|(buffer, arrivals)| {
        let predictions = vec(prop::bool::weighted(0.2), arrivals.packets().len());
        (Just(buffer), Just(arrivals), predictions)
    })
}

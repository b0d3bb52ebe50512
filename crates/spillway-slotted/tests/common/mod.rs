//! What the tests share: random instances, and policies from their keys.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngSeed};
use spillway_settings::{Section, Table};
use spillway_slotted::generators::{GENERATORS, Generator, Setting};
use spillway_slotted::{Arrivals, environment, run};
use spillway_switch::Policy;
use spillway_switch::sharing::{Credence, LongestQueueDrop};

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

/// At most `most` arrivals in every slot, mostly for the first ports.
pub fn arrivals(ports: u32, most: usize, slots: usize) -> impl Strategy<Value = Arrivals> {
    let port = prop_oneof![2 => Just(0), 3 => 0..ports];
    vec(vec(port, 0..=most), 1..slots).prop_map(move |slots| Arrivals::of_slots(ports, &slots))
}

/// The beginnings of sequences that were built to be bad for a policy, with gaps. Only those that
/// can be built for so small a switch.
fn built(ports: u32, buffer: u64) -> Option<impl Strategy<Value = Arrivals>> {
    let setting = Setting { ports, buffer, seed: 1 };
    let make = |generator: &Generator| generator.read(section("rounds = 8"), setting).ok();
    let against = GENERATORS.iter().filter(|generator| generator.against.is_some());
    let made: Vec<Arrivals> = against.filter_map(make).map(|make| make()).collect();
    let gaps = (1usize..40, vec(prop::bool::weighted(0.1), 256));
    (!made.is_empty()).then(|| {
        (select(made), gaps).prop_map(move |(arrivals, (slots, gaps))| {
            let slots: Vec<&[u32]> =
                arrivals.slots().take(slots).map(|slot| &arrivals.packets()[slot]).collect();
            Arrivals::of_slots(ports, &slots).without(|number| gaps[number % gaps.len()])
        })
    })
}

/// As in appendix A, at most N arrivals in a slot: random ones, and some built to be bad. Each
/// packet has a prediction, which is random or close to what LQD does.
pub fn predicted() -> impl Strategy<Value = (u64, Arrivals, Vec<bool>)> {
    let shape = (1u64..=12, 2u32..=5).prop_flat_map(|(buffer, ports)| {
        let random = arrivals(ports, ports as usize, 40).boxed();
        let arrivals = match built(ports, buffer) {
            Some(built) => prop_oneof![2 => random, 1 => built].boxed(),
            None => random,
        };
        (Just(buffer), arrivals)
    });
    shape.prop_flat_map(|(buffer, arrivals)| {
        let truth = lqd(buffer, &arrivals);
        let wrong = select(vec![0.0, 0.02, 0.2]);
        let flips = wrong.prop_flat_map(move |p| {
            vec(prop::bool::weighted(p), truth.len()).prop_map({
                let truth = truth.clone();
                move |flips| truth.iter().zip(flips).map(|(&label, flip)| label != flip).collect()
            })
        });
        let labels = vec(prop::bool::weighted(0.2), arrivals.packets().len());
        (Just(buffer), Just(arrivals), prop_oneof![labels.boxed(), flips.boxed()])
    })
}

/// For every packet, whether LQD drops it.
fn lqd(buffer: u64, arrivals: &Arrivals) -> Vec<bool> {
    let environment = environment(arrivals.ports(), buffer, 1);
    let mut policy = LongestQueueDrop::read(&mut section(""), &environment).unwrap();
    run(&mut policy, buffer, arrivals).dropped
}

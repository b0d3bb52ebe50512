//! Blind trust beside a second, naive implementation, packet by packet.
//!
//! The naive one adds up all waiting packets and looks up the prediction for the arrival. Both must
//! agree on which packets are admitted or refused, and why, and on how often each test decided.

use crate::common::beside::{Checked, Given, Naive, Queues, Step, is_asked, run, steps};
use crate::common::drawing::{Tally, look_at, switches};
use crate::common::{Settings, cases};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use spillway_settings::quantity::Amount;
use spillway_switch::{Decision, DropReason};

/// The keys of a scenario, `None` where it does not give them, and the predictions.
#[derive(Clone, Debug)]
struct Setup {
    exempt_acks: Option<bool>,
    /// Whether all answers are flipped.
    flips: Option<bool>,
    /// Predictions for arrivals, repeated: whether each will be dropped.
    says: Vec<bool>,
    switch: Settings,
}

impl Setup {
    fn text(&self) -> String {
        let mut lines = Vec::new();
        lines.extend(self.exempt_acks.map(|are| format!("exempt_acks = {are}")));
        lines.extend(self.flips.map(|all| format!("flip_probability = {}.0", u8::from(all))));
        lines.join("\n")
    }

    /// Whether a queue class is for acks alone, and is exempt.
    fn is_exempt(&self, queue_class: usize) -> bool {
        let (ack, data) = self.switch.queue_classes;
        self.exempt_acks != Some(false) && ack != data && queue_class == ack
    }

    /// A packet that finds its port idle passes the queue, unless the scheduler must see it or its
    /// bytes are held until it is sent.
    fn bypass(&self) -> bool {
        self.switch.scheduling.0 != "dwrr" && !self.switch.release_at_end
    }
}

struct Truster<'a> {
    setup: &'a Setup,
    /// The number of arrivals that it was asked about.
    asked: usize,
    counts: Tally,
}

impl Naive for Truster<'_> {
    fn check(&mut self, arrival: &Given, decision: &Decision, queues: &Queues) -> Checked {
        prop_assert_eq!(decision.threshold, None);
        if !is_asked(&self.setup.switch, arrival, queues) {
            prop_assert_eq!(decision.dropped, Some(DropReason::QueueLimit));
            self.counts.count("not asked", true);
            return Ok(());
        }
        let said = self.setup.says[self.asked % self.setup.says.len()];
        self.asked += 1;
        let flips = self.setup.flips == Some(true);
        let (by, expected) = if queues.total() + arrival.size > queues.capacity {
            ("buffer_full", Some(DropReason::BufferFull))
        } else if self.setup.is_exempt(arrival.queue_class) {
            ("exempt", None)
        } else if said != flips {
            ("oracle_drops", Some(DropReason::Predicted))
        } else {
            ("oracle_accepts", None)
        };
        prop_assert_eq!(decision.dropped, expected, "{:?}", arrival);
        self.counts.count(by, true);
        self.counts.count("oracle_flips", flips && by.starts_with("oracle"));
        self.counts.count("the last room", queues.total() + arrival.size == queues.capacity);
        Ok(())
    }

    fn room(&self, _arrival: &Given, queues: &Queues) -> u64 {
        queues.capacity - queues.total()
    }

    fn leaves(&mut self, _now: u64, _queue: usize, _size: u64, _queues: &Queues) {}
}

/// Runs both, and returns how often each event occurred.
fn compare(setup: &Setup, steps: &[Step]) -> Result<Tally, TestCaseError> {
    let predictions = setup.says.iter().copied().cycle().take(steps.len()).collect();
    let switch = Settings {
        sharing: ("blind-trust", setup.text()),
        predictions: Some(predictions),
        ..setup.switch.clone()
    };
    let mut truster = Truster { setup, asked: 0, counts: Tally::default() };
    let real = run(&switch, setup.bypass(), &mut truster, steps)?;
    for (name, told) in real.switch.sharing_counters() {
        prop_assert_eq!(told, truster.counts.of(&name) as u64, "{}", name);
    }
    Ok(truster.counts)
}

fn setup() -> impl Strategy<Value = Setup> {
    let shapes = vec![(2, 1), (3, 1), (16, 1), (1, 2), (2, 2), (3, 3), (4, 4), (2, 8)];
    let scheduling = vec![("rr", ""), ("strict", ""), ("dwrr", "weights = [1.0, 3.0]")];
    let switch = switches(shapes, 2_000u64..12_000, scheduling);
    let limit = select(vec![Amount::Unlimited, Amount::Unlimited, Amount::Bytes(1_800)]);
    let answers = vec(prop::bool::weighted(0.2), 1..40);
    (option::of(any::<bool>()), option::weighted(0.3, any::<bool>()), answers, switch, limit)
        .prop_map(|(exempt_acks, flips, says, switch, queue_limit)| Setup {
            exempt_acks,
            flips,
            says,
            switch: Settings { queue_limit, ..switch },
        })
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn blind_trust_decides_as_it_is_told(setup in setup(), steps in steps(1..200)) {
        compare(&setup, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_ask_everyone() {
    let mut totals = Tally::default();
    look_at(300, setup(), |setup, steps| totals.add(compare(&setup, &steps).unwrap()));
    assert_eq!(totals.0.len(), 7, "{totals:?}");
    assert!(totals.0.values().all(|&n| n > 200), "{totals:?}");
}

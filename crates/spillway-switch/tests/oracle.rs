//! A forest that decides for Credence sees what a trace of fates would have shown it.

mod common;

use common::{Real, Settings, cases};
use proptest::prelude::*;
use spillway_engine::{Stream, Time};
use spillway_forest::Forest;
use spillway_switch::packet::{NO_PRIORITY, Packet, flags};
use spillway_switch::sharing::MODELS;
use spillway_switch::{Averaging, DropReason, Environment, Fate, FateTracing};

const CAPACITY: u64 = 60_000;

/// What the model looks at, of what the trace has.
fn features(fate: &Fate) -> Vec<f32> {
    let lengths = [
        f64::from(fate.queue_bytes),
        fate.average_queue_bytes,
        fate.occupancy as f64,
        fate.average_occupancy,
    ];
    lengths.map(|bytes| (bytes / CAPACITY as f64) as f32).to_vec()
}

/// Arrivals of data (for 0 to 2) and acks (3 to 5), and departures, a while apart; how many of the
/// arrivals the oracle refused.
fn check(steps: &[(u64, u32)], release_at_end: bool) -> usize {
    let forest = Forest::read(MODELS[0].1).expect("the model that comes along is whole");
    assert_eq!(forest.features(), ["queue", "average_queue", "occupancy", "average_occupancy"]);
    let mut real = Real::new(&Settings {
        capacity: CAPACITY,
        ports: 3,
        queues_per_port: 2,
        classes: (0, 1),
        release_at_end,
        sharing: ("credence", "safeguard = false".into()),
        ..Settings::default()
    });
    let span = Environment::example(1).base_rtt;
    let tracing = FateTracing { averaging: Averaging::Continuous, span, one_in: 1 };
    real.switch.trace_fates(tracing, Stream::new(1, "test", 0));
    real.switch.trace_decisions();
    let mut now = Time::ZERO;
    for (number, &(wait, what)) in steps.iter().enumerate() {
        now += Time::from_ns(wait);
        let port = what % 3;
        if what < 6 {
            let (size, flags) = if what < 3 { (1500, 0) } else { (60, flags::CONTROL) };
            let packet = Packet { size, flags, priority: NO_PRIORITY, ..Packet::default() };
            let id = real.insert(number, packet);
            real.switch.enqueue(now, port, id, &packet, &mut real.packets);
            real.take_lost();
        } else {
            real.switch.on_sent(now, port);
            if let Some(id) = real.switch.dequeue(now, port, &mut real.packets) {
                real.packets.remove(id);
            }
        }
    }
    real.switch.finish_fates();
    let fates = real.switch.take_fates();
    let decisions = real.switch.take_decisions();
    let mut refused = 0;
    for fate in &fates {
        let decision = decisions.iter().find(|decision| decision.seq == fate.seq);
        let decision = decision.expect("every arrival has been decided about");
        let predicted = forest.is_positive(&features(fate));
        match decision.dropped {
            None => assert!(!predicted, "{fate:?}"),
            Some(DropReason::Predicted) => assert!(predicted, "{fate:?}"),
            Some(_) => {}
        }
        refused += usize::from(decision.dropped == Some(DropReason::Predicted));
    }
    refused
}

#[test]
fn under_bursts_it_refuses_some() {
    // One port, faster than it can send, until it holds most of the buffer; then a second.
    let fill = |port: u32, n: usize| vec![(50, port); n];
    let hold = |port: u32, n: usize| [(600, port), (600, port + 6)].repeat(n);
    let steps = [fill(0, 38), hold(0, 40), fill(1, 9), hold(1, 20), fill(0, 9)].concat();
    assert!(check(&steps, false) > 0);
    assert!(check(&steps, true) > 0);
}

proptest! {
    #![proptest_config(cases(60))]

    #[test]
    fn it_sees_what_a_trace_would_have_shown(
        steps in prop::collection::vec((0u64..2500, 0u32..9), 1..400),
        release_at_end: bool,
    ) {
        check(&steps, release_at_end);
    }
}

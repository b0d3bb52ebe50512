//! A forest that decides for Credence gets the features that a trace of fates would have recorded.

use crate::common::{Real, Settings, cases};
use proptest::prelude::*;
use spillway_engine::{Stream, Time};
use spillway_forest::{Forest, checksum};
use spillway_switch::packet::{NO_PRIORITY, Packet, flags};
use spillway_switch::sharing::MODELS;
use spillway_switch::{Averaging, DropReason, Environment, Fate, FateTracing};
use std::path::Path;

const CAPACITY: u64 = 60_000;

/// The model's features, from a record of the trace.
fn features(fate: &Fate) -> Vec<f32> {
    let lengths = [
        f64::from(fate.queue_bytes),
        fate.average_queue_bytes,
        fate.occupancy as f64,
        fate.average_occupancy,
    ];
    lengths.map(|bytes| (bytes / CAPACITY as f64) as f32).to_vec()
}

/// Arrivals of data (for ports 0 to 2) and acks (3 to 5), and departures, each with the time since
/// the last step. Returns how many arrivals the oracle refused.
fn check(steps: &[(u64, u32)], release_at_end: bool) -> usize {
    check_with(steps, release_at_end, None)
}

/// The same with a model's file that states other ranges of the features.
fn check_with(
    steps: &[(u64, u32)],
    release_at_end: bool,
    own: Option<(&Path, [[f32; 4]; 2])>,
) -> usize {
    let model = own.map(|(file, _)| format!("\nmodel = '{}'", file.display()));
    let forest = Forest::read(MODELS[0].1).expect("the bundled model is whole");
    let [least, greatest] = own.map_or_else(|| ranges(&forest), |(_, ranges)| ranges);
    assert_eq!(forest.features(), ["queue", "average_queue", "occupancy", "average_occupancy"]);
    let mut real = Real::new(&Settings {
        capacity: CAPACITY,
        ports: 3,
        queues_per_port: 2,
        queue_classes: (0, 1),
        release_at_end,
        sharing: ("credence", format!("safeguard = false{}", model.unwrap_or_default())),
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
    real.switch.finish_fates(now);
    let fates = real.switch.take_fates();
    let decisions = real.switch.take_decisions();
    let (mut refused, mut outside) = (0, 0);
    for fate in &fates {
        let decision = decisions.iter().find(|decision| decision.seq == fate.seq);
        let decision = decision.expect("every arrival has been decided about");
        let predicted = forest.is_positive(&features(fate));
        match decision.dropped {
            None => assert!(!predicted, "{fate:?}"),
            Some(DropReason::Predicted) => assert!(predicted, "{fate:?}"),
            Some(_) => {}
        }
        let is_asked = matches!(decision.dropped, None | Some(DropReason::Predicted));
        let values = features(fate);
        let is_outside = (0..4).any(|n| values[n] < least[n] || values[n] > greatest[n]);
        outside += u64::from(is_asked && is_outside);
        refused += usize::from(decision.dropped == Some(DropReason::Predicted));
    }
    let counts = real.switch.sharing_counters();
    let told = counts.iter().find(|(name, _)| name == "oracle_outside").map(|&(_, n)| n);
    assert_eq!(told, Some(outside));
    assert!(own.is_none() || (outside > 10 && outside < fates.len() as u64 - 10), "{outside}");
    refused
}

/// The ranges of a model's features in training, as its file states them.
fn ranges(forest: &Forest) -> [[f32; 4]; 2] {
    ["least", "greatest"].map(|key| {
        let told = forest.metadata(key).expect("it knows its training").split(',');
        let numbers: Vec<f32> = told.map(|number| number.parse().expect("a number")).collect();
        numbers.try_into().expect("one for each feature")
    })
}

/// Writes the bundled model with ranges other than its own.
fn write_with_ranges(file: &Path, others: [[f32; 4]; 2]) {
    let model = MODELS[0].1;
    let (length, rest) = model.split_first_chunk().expect("a header's length");
    let (header, arrays) = rest.split_at(u64::from_le_bytes(*length) as usize);
    let mut header = String::from_utf8(header.to_vec()).expect("JSON");
    let forest = Forest::read(model).expect("the bundled model is whole");
    for (key, values) in ["least", "greatest"].into_iter().zip(others) {
        let own = forest.metadata(key).expect("it knows its training");
        let other = values.map(|value| value.to_string()).join(",");
        let replaced =
            header.replacen(&format!("\"{key}\":\"{own}\""), &format!("\"{key}\":\"{other}\""), 1);
        assert_ne!(header, replaced);
        header = replaced;
    }
    let header = format!("{header}{}", " ".repeat(header.len().next_multiple_of(8) - header.len()));
    let length = (header.len() as u64).to_le_bytes();
    let mut content = [&length[..], header.as_bytes(), arrays].concat();
    let (place, sum) = checksum(&content).expect("it says one");
    content[place].copy_from_slice(sum.as_bytes());
    std::fs::write(file, content).expect("a file");
}

#[test]
fn what_lies_outside_of_its_training_is_counted() {
    let file = std::env::temp_dir().join(format!("spillway-ranges-{}", std::process::id()));
    let ranges = [[0.05, 0.0, 0.06, 0.0], [0.5, 1.0, 0.9, 0.25]];
    write_with_ranges(&file, ranges);
    let fill = |port: u32, n: usize| vec![(50, port); n];
    let hold = |port: u32, n: usize| [(600, port), (600, port + 6)].repeat(n);
    let steps = [fill(0, 38), hold(0, 40), fill(1, 9), hold(1, 20), fill(0, 9)].concat();
    for release_at_end in [false, true] {
        assert!(check_with(&steps, release_at_end, Some((&file, ranges))) > 0);
    }
    std::fs::remove_file(&file).expect("it was written");
}

#[test]
fn under_bursts_it_refuses_some() {
    // Packets for one port arrive faster than it can send, until it holds most of the buffer; then
    // for a second port.
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

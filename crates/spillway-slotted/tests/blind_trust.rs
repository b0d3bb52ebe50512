//! Blind trust in predictions (Credence, section 2.3.2), in the slotted model.

use crate::common::{cases, credence, predicted, section};
use proptest::prelude::*;
use spillway_slotted::{Arrivals, Outcome, environment, optimum, run};
use spillway_switch::Policy;
use spillway_switch::sharing::{BlindTrust, LongestQueueDrop};

fn blind_trust(buffer: u64, arrivals: &Arrivals, predictions: &[bool]) -> Outcome {
    let environment = environment(arrivals.ports(), buffer, 1);
    let policy = BlindTrust::read(&mut section(""), &environment).unwrap();
    run(&mut policy.with_predictions(predictions.into()), buffer, arrivals)
}

fn lqd(buffer: u64, arrivals: &Arrivals) -> Outcome {
    let environment = environment(arrivals.ports(), buffer, 1);
    run(&mut LongestQueueDrop::read(&mut section(""), &environment).unwrap(), buffer, arrivals)
}

proptest! {
    #![proptest_config(cases(2000))]

    /// LQD's buffer also holds the packets that LQD sends, so there is always room for them.
    #[test]
    fn with_perfect_predictions_it_is_lqd((buffer, arrivals, _) in predicted()) {
        let truth = lqd(buffer, &arrivals);
        prop_assert_eq!(blind_trust(buffer, &arrivals, &truth.dropped).dropped, truth.dropped);
    }

    #[test]
    fn it_never_beats_the_optimum((buffer, arrivals, predictions) in predicted()) {
        let sent = blind_trust(buffer, &arrivals, &predictions).transmitted;
        prop_assert!(sent <= optimum(buffer, &arrivals));
    }
}

/// The first pitfall: false positives alone starve the policy. Credence's safeguard sends at least
/// one N-th.
#[test]
fn false_positives_starve() {
    let arrivals = Arrivals::of_slots(2, &[[0, 1], [0, 1], [0, 1]]);
    assert_eq!(lqd(4, &arrivals).transmitted, 6);
    assert_eq!(blind_trust(4, &arrivals, &[true; 6]).transmitted, 0);
    assert_eq!(credence("", 4, &arrivals, &[true; 6]), 6);
}

/// The second pitfall. Queue 0 gets B packets, of which the last is wrongly predicted to pass. From
/// then on, every slot brings one packet for it and one for another queue, both predicted
/// correctly. The buffer is full except for what each slot sends, and queue 0's packet takes that
/// place, so the other packet is always lost. LQD, which is optimal here, takes both: its queue 0
/// stays one packet shorter.
///
/// By hand for B = 4: slot 0 sends one of four, and 3 wait. In each further slot, queue 0's packet
/// makes 4, the other one finds the buffer full and is lost, and one is sent. In all 4 + n are
/// sent; under the optimum 3 + 2 n.
#[test]
fn one_false_negative_costs_a_packet_in_every_slot() {
    let rounds = 50;
    let mut arrivals = Arrivals::new(2);
    arrivals.push([0; 4]);
    (0..rounds).for_each(|_| arrivals.push([0, 1]));
    let sent = blind_trust(4, &arrivals, &vec![false; 4 + 2 * rounds]).transmitted;
    assert_eq!(sent, 4 + rounds as u64);
    // The same with the last packet predicted correctly.
    let mut foretold = vec![false; 4 + 2 * rounds];
    foretold[3] = true;
    assert_eq!(blind_trust(4, &arrivals, &foretold).transmitted, 3 + 2 * rounds as u64);
    assert_eq!(optimum(4, &arrivals), 3 + 2 * rounds as u64);
    assert_eq!(lqd(4, &arrivals).dropped.iter().filter(|&&dropped| dropped).count(), 1);
}

/// The same with N - 1 false negatives, which the text compares with Complete Sharing. Every slot
/// brings a packet for queue 0 first, and then one for each other queue. The buffer has room only
/// for the first.
///
/// By hand for N = 4, B = 8: slot 0 sends one of eight. Each further slot takes one and sends one:
/// 8 + n in all. With three of the eight predicted as drops, five are taken, and each slot takes
/// and sends four: 5 + 4 n.
#[test]
fn a_false_negative_less_than_there_are_ports_is_as_bad_as_complete_sharing() {
    let rounds = 50;
    let mut arrivals = Arrivals::new(4);
    arrivals.push([0; 8]);
    (0..rounds).for_each(|_| arrivals.push([0, 1, 2, 3]));
    let mut predictions = vec![false; 8 + 4 * rounds];
    let rounds = rounds as u64;
    assert_eq!(lqd(8, &arrivals).dropped.iter().filter(|&&dropped| dropped).count(), 3);
    assert_eq!(blind_trust(8, &arrivals, &predictions).transmitted, 8 + rounds);
    predictions[5..8].fill(true);
    assert_eq!(blind_trust(8, &arrivals, &predictions).transmitted, 5 + 4 * rounds);
    assert_eq!(optimum(8, &arrivals), 5 + 4 * rounds);
    // Credence does not get the three predictions either, but refuses queue 0's packets until that
    // queue is as long as the virtual LQD's. The full buffer costs the other queues three packets
    // in slot 1, two in slot 2 and one in slot 3. Queue 0 has one packet refused in each of the
    // slots 2 to 4. That is nine in all, and none later.
    predictions.fill(false);
    assert_eq!(credence("", 8, &arrivals, &predictions), 8 + 4 * rounds - 9);
}

//! A small change to Credence for which Lemma 1 holds
//! (studies/spillway_studies/credence/theory.md).
//!
//! The oracle is asked about every packet. Thresholds are the queues of FollowLQD over the packets
//! that are not predicted as drops. The safeguard uses the whole occupancy instead of the longest
//! queue.

use crate::common::{cases, credence, predicted, rule_of};
use proptest::prelude::*;
use spillway_engine::Time;
use spillway_settings::Section;
use spillway_slotted::{Arrivals, environment, optimum, prediction_error, run};
use spillway_switch::policy::{Admission, Arrival, Watch};
use spillway_switch::sharing::{FollowLqd, Sharing};
use spillway_switch::{Buffer, DropReason, Policy};

/// Credence with this change.
struct Repaired<'a> {
    predictions: &'a [bool],
    arrivals: usize,
    /// FollowLQD over the packets that are not predicted as drops, and its queues.
    follow: FollowLqd,
    followed: Buffer,
    slot: u64,
}

impl<'a> Repaired<'a> {
    fn new(buffer: u64, ports: u32, predictions: &'a [bool]) -> Repaired<'a> {
        let environment = environment(ports, buffer, 1);
        Repaired {
            predictions,
            arrivals: 0,
            follow: FollowLqd::read(&mut Section::empty(), &environment).unwrap(),
            followed: Buffer::new(buffer, environment.port_rates, 1),
            slot: 0,
        }
    }

    /// Removes what FollowLQD has sent by now.
    fn catch_up(&mut self, now: Time) {
        while self.slot < now.ps() / 2 {
            self.slot += 1;
            for queue in 0..self.followed.ports() {
                if self.followed.bytes(queue) > 0 {
                    self.followed.subtract(queue, 1);
                }
            }
        }
    }

    /// Q + 1 <= B / N.
    fn is_safe(&self, buffer: &Buffer) -> bool {
        (buffer.occupancy() + 1) * u64::from(buffer.ports()) <= buffer.capacity()
    }
}

impl Watch for Repaired<'_> {}

impl Sharing for Repaired<'_> {
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        self.catch_up(arrival.now);
        self.arrivals += 1;
        if !self.predictions[self.arrivals - 1]
            && self.follow.admit(arrival, &self.followed) == Admission::Admit
            && self.followed.free() > 0
        {
            self.followed.add(arrival.queue, 1);
        }
        let follows = buffer.bytes(arrival.queue) < self.followed.bytes(arrival.queue);
        if self.is_safe(buffer) || follows {
            Admission::Admit
        } else {
            Admission::Drop(DropReason::OverThreshold)
        }
    }
}

fn repaired(buffer: u64, arrivals: &Arrivals, predictions: &[bool]) -> u64 {
    run(&mut Repaired::new(buffer, arrivals.ports(), predictions), buffer, arrivals).transmitted
}

proptest! {
    #![proptest_config(cases(3000))]

    #[test]
    fn lemma_1_holds((buffer, arrivals, predictions) in predicted()) {
        let error = prediction_error(buffer, &arrivals, &predictions, &rule_of("")).unwrap();
        let sent = repaired(buffer, &arrivals, &predictions);
        prop_assert!(sent >= error.follow_lqd, "{} < {}", sent, error.follow_lqd);
    }

    /// If the buffer has room for a packet of every port.
    #[test]
    fn it_sends_at_least_an_nth((buffer, arrivals, predictions) in predicted()) {
        let buffer = buffer.max(arrivals.ports().into());
        let sent = repaired(buffer, &arrivals, &predictions);
        prop_assert!(sent * u64::from(arrivals.ports()) >= optimum(buffer, &arrivals));
    }
}

/// Counterexamples to Lemma 1 and Theorem 1 as written.
#[test]
fn the_counterexamples_are_none_any_more() {
    let arrivals = Arrivals::of_slots(2, &[vec![0], vec![], vec![], vec![0, 0], vec![1, 0]]);
    let predicted = [false, false, false, true, false];
    assert_eq!(credence("", 2, &arrivals, &predicted), 3);
    assert_eq!(repaired(2, &arrivals, &predicted), 4);
    let arrivals = Arrivals::of_slots(3, &[vec![2, 0, 2]]);
    assert_eq!(credence("", 2, &arrivals, &[false, true, false]), 1);
    assert_eq!(repaired(2, &arrivals, &[false, true, false]), 2);
}

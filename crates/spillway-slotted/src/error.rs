//! The error of predictions of LQD's drops (Credence, Definition 1 and Theorem 2).

use crate::{Arrivals, environment, run};
use spillway_engine::Stream;
use spillway_settings::{Section, SettingsError, Table};
use spillway_switch::Policy;
use spillway_switch::sharing::{FollowLqd, LongestQueueDrop};

/// Predictions compared with LQD's drops; a drop is a positive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Confusion {
    /// Drops that were predicted as drops.
    pub true_positives: u64,
    /// Packets that LQD sent, but that were predicted as drops.
    pub false_positives: u64,
    /// Packets that LQD sent, as predicted.
    pub true_negatives: u64,
    /// Drops that were not predicted as drops.
    pub false_negatives: u64,
}

impl Confusion {
    /// Counts the four cases; `truth` and `predicted` have an entry for every packet.
    pub fn of(truth: &[bool], predicted: &[bool]) -> Confusion {
        let mut confusion = Confusion::default();
        for cell in truth.iter().zip(predicted) {
            *match cell {
                (true, true) => &mut confusion.true_positives,
                (false, true) => &mut confusion.false_positives,
                (false, false) => &mut confusion.true_negatives,
                (true, false) => &mut confusion.false_negatives,
            } += 1;
        }
        confusion
    }

    /// Theorem 2's upper bound of eta, (TN + FP) / (TN - min((N - 1) FN, TN)); infinite if it is no
    /// bound. The theorem is false as written (`tests/optimum.rs`).
    pub fn eta_bound(&self, ports: u32) -> f64 {
        let tn = self.true_negatives;
        let lost = (u64::from(ports - 1) * self.false_negatives).min(tn);
        quotient(tn + self.false_positives, tn - lost)
    }
}

/// The error of predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictionError {
    /// LQD's throughput.
    pub lqd: u64,
    /// FollowLQD's throughput for the arrivals that are not predicted as drops.
    pub follow_lqd: u64,
    /// Their ratio (Definition 1).
    pub eta: f64,
    /// How often predictions are right and wrong.
    pub confusion: Confusion,
}

/// The error of predictions for arrivals at a buffer of `buffer` packets. `rule` has the keys that
/// LQD and FollowLQD share: how the longest queue is chosen.
pub fn prediction_error(
    buffer: u64,
    arrivals: &Arrivals,
    predicted: &[bool],
    rule: &Table,
) -> Result<PredictionError, SettingsError> {
    let environment = environment(arrivals.ports(), buffer, 0);
    let section = || Section::new("rule", rule.clone());
    let mut lqd = LongestQueueDrop::read(&mut section(), &environment)?;
    let mut follow = FollowLqd::read(&mut section(), &environment)?;
    let truth = run(&mut lqd, buffer, arrivals);
    let rest = arrivals.without(|number| predicted[number]);
    let follow_lqd = run(&mut follow, buffer, &rest).transmitted;
    Ok(PredictionError {
        lqd: truth.transmitted,
        follow_lqd,
        eta: quotient(truth.transmitted, follow_lqd),
        confusion: Confusion::of(&truth.dropped, predicted),
    })
}

/// A quotient of throughputs; 1 if there was nothing to send.
fn quotient(sent: u64, of: u64) -> f64 {
    if sent == of { 1.0 } else { sent as f64 / of as f64 }
}

/// Labels, each of which is flipped with this probability.
pub fn flipped(labels: &[bool], probability: f64, seed: u64) -> Vec<bool> {
    let mut random = Stream::new(seed, "flips", 0);
    labels.iter().map(|&label| label != (random.uniform() < probability)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_turned_round_as_often_as_was_asked_for() {
        let labels = vec![true; 10_000];
        assert_eq!(flipped(&labels, 0.0, 1), labels);
        assert_eq!(flipped(&labels, 1.0, 1), vec![false; 10_000]);
        let turned = flipped(&labels, 0.3, 1).iter().filter(|&&label| !label).count();
        assert!((2_850..3_150).contains(&turned), "{turned}");
        assert_ne!(flipped(&labels, 0.3, 1), flipped(&labels, 0.3, 2));
    }
}

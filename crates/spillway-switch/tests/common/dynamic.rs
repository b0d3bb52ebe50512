//! A naive Dynamic Thresholds, for the policies that fall back on them.

use super::beside::{Given, Queues};
use super::{Ratio, decimal};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// The keys of a scenario; `None` where it does not give them.
#[derive(Clone, Debug)]
pub struct Dynamic {
    alpha: Option<Vec<Ratio>>,
    alpha_first_rtt: Option<Ratio>,
    count_arrival: Option<bool>,
}

impl Dynamic {
    /// The keys, as a scenario would give them.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(alpha) = &self.alpha {
            let alpha: Vec<String> = alpha.iter().map(decimal).collect();
            lines.push(format!("alpha = [{}]", alpha.join(", ")));
        }
        lines.extend(self.alpha_first_rtt.map(|a| format!("alpha_first_rtt = {}", decimal(&a))));
        lines.extend(self.count_arrival.map(|counts| format!("count_arrival = {counts}")));
        lines
    }

    /// T = alpha (B - Q), rounded down.
    pub fn limit(&self, arrival: &Given, queues: &Queues) -> u64 {
        let of_queue_class = match &self.alpha {
            None => (1, 2),
            Some(alpha) => *alpha.get(arrival.queue_class).or(alpha.last()).unwrap(),
        };
        let of_first = self.alpha_first_rtt.filter(|_| arrival.first_rtt);
        let (over, under) = of_first.unwrap_or(of_queue_class);
        (queues.capacity - queues.total()) * over / under
    }

    /// Whether an arrival is within its queue's threshold.
    pub fn takes(&self, arrival: &Given, queues: &Queues) -> bool {
        let (bytes, limit) = (queues.bytes(arrival.queue), self.limit(arrival, queues));
        match self.count_arrival {
            Some(false) => bytes < limit,
            _ => bytes + arrival.size <= limit,
        }
    }

    /// The largest arrival within the threshold, if its size counts.
    pub fn room(&self, arrival: &Given, queues: &Queues) -> u64 {
        self.limit(arrival, queues).saturating_sub(queues.bytes(arrival.queue))
    }
}

/// Halves, quarters and so on, which are exact as floats.
pub fn dynamic() -> impl Strategy<Value = Dynamic> {
    let alpha = || select(vec![(1, 16), (1, 8), (1, 4), (1, 2), (3, 4), (1, 1), (5, 2), (8, 1)]);
    (
        option::weighted(0.7, vec(alpha(), 1..4)),
        option::weighted(0.3, alpha()),
        option::weighted(0.5, any::<bool>()),
    )
        .prop_map(|(alpha, alpha_first_rtt, count_arrival)| Dynamic {
            alpha,
            alpha_first_rtt,
            count_arrival,
        })
}

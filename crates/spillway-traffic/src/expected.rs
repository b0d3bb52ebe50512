//! The expected amount of traffic, before it is drawn.

use super::active_time::ActiveTime;
use spillway_engine::Time;

/// The expected number of flows of a section, and their payload. Numbers that are drawn count with
/// their average. Numbers that differ between hosts count with an upper bound.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expected {
    /// Flows.
    pub flows: f64,
    /// The payload of all flows that end.
    pub bytes: f64,
    /// The payload of the largest flow that ends; 0 if none does.
    pub largest: u64,
}

impl Expected {
    /// `flows` flows of `bytes` bytes each.
    pub fn equal(flows: f64, bytes: u64) -> Expected {
        Expected { flows, bytes: flows * bytes as f64, largest: bytes }
    }
}

/// An average number, bounded by `most`. A `most` of `usize::MAX` is no bound.
pub fn at_most(drawn: f64, most: usize) -> f64 {
    match most {
        usize::MAX => drawn,
        most => drawn.min(most as f64),
    }
}

impl ActiveTime {
    /// The average number of arrivals in this time at a rate of `per_second`.
    pub fn arrivals(&self, per_second: f64) -> f64 {
        match self.stop.since(self.start) {
            // So even if the rate is infinite.
            Time::ZERO => 0.0,
            span => per_second * span.secs_f64(),
        }
    }
}

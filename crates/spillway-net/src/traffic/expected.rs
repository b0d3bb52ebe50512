//! What traffic comes to before it is drawn.

use super::window::Window;
use spillway_engine::Time;

/// How many flows a section has, and their payload: of what is drawn on average, and of what differs
/// by host as if all were like the largest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Expected {
    /// Flows.
    pub flows: f64,
    /// Payload of all that end.
    pub bytes: f64,
    /// Payload of the largest that ends; 0 if none does.
    pub largest: u64,
}

impl Expected {
    /// So many flows of so many bytes each.
    pub fn equal(flows: f64, bytes: u64) -> Expected {
        Expected { flows, bytes: flows * bytes as f64, largest: bytes }
    }
}

/// An average of what is drawn, no more than so many, of which the greatest number bounds nothing.
pub fn at_most(drawn: f64, most: usize) -> f64 {
    match most {
        usize::MAX => drawn,
        most => drawn.min(most as f64),
    }
}

impl Window {
    /// How many arrivals it has on average where there are so many per second.
    pub fn arrivals(&self, per_second: f64) -> f64 {
        match self.stop.since(self.start) {
            // Also where there are infinitely many per second.
            Time::ZERO => 0.0,
            span => per_second * span.secs_f64(),
        }
    }
}

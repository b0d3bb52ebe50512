//! Static Partitioning: every port owns a fixed part of the buffer.
//!
//! # Reference
//! F. Kamoun, L. Kleinrock, "Analysis of Shared Finite Storage in a Computer Network Node
//! Environment Under General Traffic Conditions", IEEE Transactions on Communications 28(7), 1980
//! ("complete partitioning", and "sharing with maximum queue lengths").
//! <https://doi.org/10.1109/TCOM.1980.1094756>
//!
//! # Rule
//! Admit iff q_port + s <= share * B and Q + s <= B, where q_port counts all queues of the port
//! and share = 1/N for N ports (`share = 0`), or a share of one's own, which may exceed 1/N.
//!
//! # Departures from the paper
//! None known; bytes are counted. B/N is rounded down, what is left over stays unused.
//!
//! # Scope and limitations
//! Ports of unequal rates get equal parts. An unlimited buffer has unlimited parts.
//!
//! # Validation
//! Decides like a second, naive implementation on thousands of random arrivals
//! (`tests/naive_sharing.rs`).
//!
//! # Cost
//! The port's queues are added up for every packet; no state.

use super::{Admission, Arrival, DropReason, Sharing};
use crate::buffer::Buffer;
use crate::catalogue::{Environment, Policy};
use crate::watch::Watch;
use spillway_settings::{Range, Section, SettingsError};

/// A fixed part of the buffer for every port.
#[derive(Clone, Debug)]
pub struct StaticPartitioning {
    port_limit: u64,
}

impl Policy for StaticPartitioning {
    const ID: &'static str = "sp";
    const SUMMARY: &'static str = "Static Partitioning: every port owns a fixed part of the buffer";
    const CITATION: &'static str = "Kamoun, Kleinrock: IEEE Trans. Communications 28(7), 1980";

    fn read(section: &mut Section, environment: &Environment) -> Result<Self, SettingsError> {
        let meaning = "share of the buffer that a port may fill; 0 is one over the number of ports";
        let share = section.number("share", 0.0, Range::Unit, meaning)?;
        let port_limit = match environment.capacity {
            Buffer::UNLIMITED => Buffer::UNLIMITED,
            capacity if share == 0.0 => capacity / environment.port_rates.len() as u64,
            capacity => (capacity as f64 * share) as u64,
        };
        Ok(StaticPartitioning { port_limit })
    }
}

impl Watch for StaticPartitioning {}

impl Sharing for StaticPartitioning {
    #[inline]
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        let port_bytes = buffer.port_bytes(buffer.port_of(arrival.queue));
        if port_bytes + u64::from(arrival.size) > self.port_limit {
            Admission::Drop(DropReason::OverThreshold)
        } else {
            Admission::Admit
        }
    }

    fn threshold(&self, _arrival: &Arrival, _buffer: &Buffer) -> Option<u64> {
        Some(self.port_limit)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, filled};
    use super::*;

    fn with(text: &str) -> StaticPartitioning {
        let mut section = Section::new("sharing", text.parse().unwrap());
        StaticPartitioning::read(&mut section, &Environment::example(4)).unwrap()
    }

    #[test]
    fn a_port_has_a_quarter_of_the_buffer() {
        // B = 1,000,000, N = 4: 250,000 for each. 248,500 + 1,500 fits to the byte.
        let buffer = filled(&[248_500, 400_000, 0, 0]);
        let over = Admission::Drop(DropReason::OverThreshold);
        assert_eq!(with("").admit(&arrival(0, 1500), &buffer), Admission::Admit);
        assert_eq!(with("").admit(&arrival(0, 1501), &buffer), over);
        assert_eq!(with("").admit(&arrival(1, 64), &buffer), over);
        // share = 0.5: 500,000 for each.
        assert_eq!(with("share = 0.5").admit(&arrival(1, 64), &buffer), Admission::Admit);
    }
}

//! Complete Sharing: a packet is admitted as long as the buffer has room for it.
//!
//! # Reference
//! F. Kamoun, L. Kleinrock, "Analysis of Shared Finite Storage in a Computer Network Node
//! Environment Under General Traffic Conditions", IEEE Transactions on Communications 28(7), 1980.
//! <https://doi.org/10.1109/TCOM.1980.1094756>
//!
//! # Rule
//! Admit iff Q + s <= B. B: `buffer.capacity()`, Q: `buffer.occupancy()`, s: `arrival.size`.
//!
//! # Departures from the paper
//! None known; the paper counts packets, this implementation bytes.
//!
//! # Scope and limitations
//! One queue can take the whole buffer.
//!
//! # In composition
//! It sees how full the buffer is, and neither queues nor acks. Under strict priority starved
//! queues fill the buffer, and a full buffer refuses urgent packets and acks like others. So
//! something else has to keep it from filling. In the factorial of
//! studies/spillway_studies/five/paper.md, with one queue for data and RACK, 8% of flows have a
//! timeout without an AQM, where LQD has 1%; with `ecn` 0.01% have one under either.
//!
//! # Validation
//! Makes the same decisions as a second, naive implementation on thousands of random arrivals
//! (`tests/naive_sharing.rs`).
//!
//! # Cost
//! A comparison for every packet; no state.

use super::Sharing;
use crate::buffer::Buffer;
use crate::catalogue::{Environment, Policy};
use crate::cost::Cost;
use crate::policy::{Admission, Arrival, DropReason, LARGEST_PACKET, Watch};
use spillway_settings::{Section, SettingsError};

/// Admits whatever fits.
#[derive(Clone, Debug)]
pub struct CompleteSharing;

impl Policy for CompleteSharing {
    const ID: &'static str = "cs";
    const SUMMARY: &'static str = "Complete Sharing: admit whatever fits";
    const CITATION: &'static str = "Kamoun, Kleinrock: IEEE Trans. Communications 28(7), 1980";
    const COST: Option<Cost> = Some(Cost::NONE);

    type Params = ();

    fn params(_section: &mut Section, _environment: &Environment) -> Result<(), SettingsError> {
        Ok(())
    }

    fn new(_params: &(), _environment: &Environment) -> Self {
        CompleteSharing
    }
}

impl Watch for CompleteSharing {}

impl Sharing for CompleteSharing {
    #[inline(always)]
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        if u64::from(arrival.size) <= buffer.free() {
            Admission::Admit
        } else {
            Admission::Drop(DropReason::BufferFull)
        }
    }

    fn open_below(&self, capacity: u64) -> u64 {
        capacity.saturating_sub(LARGEST_PACKET.into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, filled};
    use super::*;

    #[test]
    fn the_last_byte_is_given_away() {
        // B = 1,000,000, Q = 998,500: 1,500 fit and 1,501 do not.
        let buffer = filled(&[998_500, 0]);
        let mut cs = CompleteSharing;
        assert_eq!(cs.admit(&arrival(1, 1500), &buffer), Admission::Admit);
        let refused = Admission::Drop(DropReason::BufferFull);
        assert_eq!(cs.admit(&arrival(1, 1501), &buffer), refused);
    }
}

//! Losses found by timeouts alone.
//!
//! # Reference
//! V. Paxson, M. Allman, J. Chu, M. Sargent, "Computing TCP's Retransmission Timer", RFC 6298,
//! 2011; M. Allman, V. Paxson, E. Blanton, "TCP Congestion Control", RFC 5681, 2009, section 3.1.
//!
//! # Rule
//! - No ack shows a loss. When the timer expires (RFC 6298, section 5), all that is not known to
//!   have arrived is lost and is sent again, beginning with a window of one segment.
//! - What is in flight is a range that ends at the next byte to be sent, whatever of it has arrived.
//!
//! # In composition
//! The order of packets plays no part, so taggers and spraying do not mislead it. Any loss costs a
//! timeout, at the head of a queue as at its tail. What waits behind better levels for longer than
//! a timeout is sent again.

use super::reader::Losses;
use super::{Kind, Recovery};

/// The row of the catalogue.
pub const KIND: Kind = Kind {
    id: "timeout-only",
    results: 1,
    summary: "only a timeout shows losses, and then all that is missing",
    citation: "RFC 6298",
    read: |reader| {
        let losses = Losses { dupthresh: u32::MAX, ..reader.cuts()? };
        reader.with_phases(Recovery::TimeoutOnly, losses)
    },
};

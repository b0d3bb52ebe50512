//! Losses found by acks that acknowledge nothing new, as without selective acks.
//!
//! # Reference
//! T. Henderson, S. Floyd, A. Gurtov, Y. Nishida, "The NewReno Modification to TCP's Fast Recovery
//! Algorithm", RFC 6582, 2012; M. Allman, V. Paxson, E. Blanton, "TCP Congestion Control", RFC
//! 5681, 2009.
//!
//! # Rule
//! - After `dupthresh` acks of nothing new the segment that they ask for is lost, if something has
//!   arrived behind it (RFC 5681, section 3.2). A recovery begins, which cuts the window.
//! - Each ack of something new during a recovery asks for the next lost segment (RFC 6582, section
//!   3.2, step 3), which is sent at once.
//! - The recovery ends when all that was sent before it is acknowledged.
//!
//! # In composition
//! What holds for [SACK](sack.md) holds here, but there is no probe. A burst that loses many
//! packets is repaired one packet in a round trip. Acks that share a full queue with data may be
//! lost, and then they do not count.

use super::reader::Losses;
use super::{Kind, Recovery};

/// The row of the catalogue.
pub const KIND: Kind = Kind {
    id: "duplicate-acks",
    results: 1,
    summary: "a segment is lost after a number of acks that ask for it",
    citation: "RFC 6582, RFC 5681",
    read: |reader| {
        let dupthresh = reader.dupthresh()?;
        let losses = Losses { dupthresh, partial_acks_tell: true, ..reader.cuts()? };
        reader.with_phases(Recovery::DuplicateAcks, losses)
    },
};

//! Losses found by selective acks: a segment is lost when enough has arrived behind it.
//!
//! # Reference
//! E. Blanton, M. Allman, L. Wang, I. Jarvinen, M. Kojo, Y. Nishida, "A Conservative Loss Recovery
//! Algorithm Based on Selective Acknowledgment (SACK) for TCP", RFC 6675, 2012.
//!
//! # Rule
//! - IsLost (section 4): a segment is lost if `dupthresh` segments have arrived behind it. With the
//!   first loss a recovery begins (section 5, step 4), which cuts the window and sends the first
//!   lost segment at once. It ends when all that was sent before is acknowledged.
//! - NextSeg (section 4): lost segments, then new data, then segments behind which something has
//!   arrived, and finally the last one once more (rescue retransmission).
//! - With `partial_acks_tell` an ack in the middle of a recovery shows that the segment it asks for
//!   is lost (RFC 6582, section 3.2), unless a reduction for a mark was under way when the recovery
//!   began.
//! - With `tail_loss_probe` a segment is sent after two round trips without an ack (RFC 8985,
//!   section 7.2). If it arrives, what was sent before it and has not arrived is lost.
//!
//! # In composition
//! Whatever overtakes looks like a loss: under taggers that let packets overtake a run warns, under
//! `routing.kind = "spray"` it does not. Policies that refuse a burst, or push out tails, leave
//! nothing behind a loss that would show it: in `five`, with one queue for data, 15% of flows have
//! a timeout under `dt`, 5.4% under `lqd`, and 2.4% under `occamy`, which takes heads; with `rack`
//! 0.1% to 0.4% (studies/spillway_studies/five/paper.md). `tail_loss_probe` is for such losses,
//! too.

use super::reader::Losses;
use super::reduction::ReductionRule;
use super::{Kind, Recovery};

/// The row of the catalogue.
pub const KIND: Kind = Kind {
    id: "sack",
    results: 1,
    summary: "a segment is lost when enough has arrived behind it",
    citation: "RFC 6675",
    read: |reader| {
        let dupthresh = reader.dupthresh()?;
        let meaning = "whether an ack during loss recovery shows the next loss (RFC 6582)";
        let partial_acks_tell = reader.section.flag("partial_acks_tell", false, meaning)?;
        let cuts = reader.cuts()?;
        let tail_loss_probe = reader.probe(false)?;
        let are_plain = cuts.reduction == ReductionRule::AtOnce && !tail_loss_probe;
        let losses = Losses { dupthresh, partial_acks_tell, tail_loss_probe, are_plain, ..cuts };
        reader.with_phases(Recovery::Sack, losses)
    },
};

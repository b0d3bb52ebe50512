//! How the TCP of ns-3 reacts to losses (`TcpSocketBase` and `TcpTxBuffer`, 3.35 to 3.39), for runs
//! that are compared with it.
//!
//! It follows RFC 6675 except for this:
//!
//! - A cut for a mark is a state of its own (CWR), which replaces recovery and the state after a
//!   timeout. Until everything sent before the cut is acknowledged, losses are retransmitted and do
//!   not cut.
//! - In recovery each ack of new data lets the next segment go, whatever the window is, if it has
//!   not been retransmitted. Only the first such ack restarts the timer.
//! - If nothing is lost and there is no new data, missing segments are retransmitted even if
//!   nothing has arrived behind them. There is no rescue retransmission.
//! - A recovery halves what is in flight, not counting what is lost. With TIMELY as in ABM's
//!   program a recovery lowers no threshold; the head of `timely.rs` says what follows.
//! - Every timeout cuts, even that of a segment that was sent again after a timeout: ns-3 forgets
//!   that it was before it asks (`TcpTxBuffer::SetSentListLost`).
//! - With a window of less than a segment nothing is sent until the timer expires, even if nothing
//!   is in flight, except the end of a flow. But a reduction for a mark begins with a segment.
//! - A reduction differs as `reduction = "proportional-ns3"`
//!   tells, and DCTCP's growth and cuts as its head does.
//!
//! `sender/tests/follows_ns3.rs` gives it the acks of senders of ns-3: it sends the same segments.
//!
//! # In composition
//! What holds for [SACK](sack.md) holds here, but there is no probe. Where an AQM marks much,
//! losses do not cut, since marks have cut already. Where `min_window` lets marks leave less than a
//! segment, a flow waits for its timer.

use super::reader::Losses;
use super::reduction::ReductionRule;
use super::{Kind, Recovery};

/// The row of the catalogue.
pub const KIND: Kind = Kind {
    id: "ns3",
    results: 1,
    summary: "as the TCP of ns-3 finds and repairs losses",
    citation: "ns-3 (3.35 to 3.39): TcpSocketBase, TcpTxBuffer",
    read: |reader| {
        let dupthresh = reader.dupthresh()?;
        let reduction = reader.reduction(ReductionRule::Ns3)?;
        reader.with_phases(Recovery::Ns3, Losses { dupthresh, reduction, ..Losses::UNUSED })
    },
};

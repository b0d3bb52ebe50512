//! Losses found by the order in which packets of one priority were sent: the priority-based loss
//! detection of QCLIMB.
//!
//! # Reference
//! W. Li, X. He, Y. Liu, K. Li, K. Chen, Z. Ge, Z. Guan, H. Qi, S. Zhang, G. Liu, "Flow Scheduling
//! with Imprecise Knowledge", NSDI 2024. Its slides say that a flow's packets of one priority stay
//! in order; the rest is our reading.
//!
//! # Rule
//! A sender numbers its packets as it sends them, repairs included, and keeps each one's priority.
//! The receiver writes the number of each packet on its ack. A packet is lost when `dupthresh`
//! packets that were sent later with its own priority have arrived, and neither its own ack nor
//! another one has told that its payload is there. With `or_worse`, later packets of worse
//! priorities count too.
//!
//! # Where it is right
//! Packets of one priority stay in order where they take one path and every queue on it is served
//! first come, first served. They also stay before later packets of worse priorities where queues
//! are served by strict priority and none is paused. Where packets are sprayed, or a failure moves
//! a flow to another path, a packet may be taken to be lost that is only late.
//!
//! # In composition
//! It is made for taggers that let packets overtake. But the last packets of each level have none
//! of their level behind them, so where policies refuse bursts or push out tails, timeouts are left
//! to show it: in `five`, with QCLIMB, 15% of flows have one under `dt` and 8% under `lqd`, with
//! `rack` 2.8% and 2.7% (studies/spillway_studies/five/paper.md). Each packet needs an ack of its
//! own, so `ack_every` above 1 and `offload` are refused.

use super::orders::Orders;
use super::reader::Losses;
use super::{Kind, Recovery};
use crate::size;

/// The row of the catalogue.
pub const KIND: Kind = Kind {
    id: "per-priority",
    results: 1,
    summary: "a packet is lost when later ones of its priority have arrived",
    citation: "QCLIMB: Li et al.: NSDI 2024",
    read: |reader| {
        let dupthresh = reader.dupthresh()?;
        let meaning = "whether later packets of worse priorities show a loss too, which is right \
                       under strict priority on one path";
        let or_worse = reader.section.flag("or_worse", false, meaning)?;
        let meaning = "bytes of data packets and acks that tell which packet it is";
        let number_bytes = size(reader.section, "number_bytes", "4B", 0..=500, meaning)?;
        let losses = Losses { dupthresh, number_bytes, ..reader.cuts()? };
        reader.with_phases(Recovery::PerPriority(Box::new(ByOrder::new(or_worse))), losses)
    },
};

/// The state of a sender that finds losses by the order of its packets.
#[derive(Clone, Debug)]
pub struct ByOrder {
    pub(crate) orders: Orders,
    /// The number of the next packet when a loss last cut the window.
    pub(crate) cut_at: u64,
    /// Whether packets of worse priorities count too.
    pub or_worse: bool,
}

impl ByOrder {
    fn new(or_worse: bool) -> ByOrder {
        ByOrder { orders: Orders::new(1, 1, or_worse), cut_at: 0, or_worse }
    }

    /// A flow starts, in segments of `mss`.
    pub(super) fn start(&mut self, mss: u64, losses: &Losses) {
        self.orders = Orders::new(mss, losses.dupthresh, self.or_worse);
    }

    /// The retransmission timer has expired.
    pub(crate) fn on_timeout(&mut self) {
        self.orders.on_timeout();
        self.cut_at = self.orders.next();
    }
}

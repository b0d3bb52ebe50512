//! Losses, and how they were found and repaired: counts for each flow, as further columns of its
//! row and as sums in the summary.

use super::flows::Over;
use super::table::table;
use spillway_transport::recovery::OrderCounts;

/// What a flow lost, and what that led to. The last five counts exist only if losses are found by
/// the order of packets (`recovery = "per-priority"`). The simulator knows them, but no
/// sender does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Data packets that were lost in switches, in NICs and on links. Retransmissions and probes
    /// count too.
    pub lost: u32,
    /// Segments sent again because a loss was detected, or as a probe.
    pub by_detection: u32,
    /// Segments sent again after a timeout.
    pub by_timeout: u32,
    /// Data packets that brought nothing new.
    pub arrived_twice: u32,
    /// Data packets that came too early for their receiver, which discarded them.
    pub discarded: u32,
    /// Counts that follow from the order of packets, if packets are numbered.
    pub order: Option<OrderCounts>,
}

impl Repairs {
    /// The counts of a flow that lost nothing. Its packets may be numbered.
    pub fn none(is_numbered: bool) -> Repairs {
        Repairs { order: is_numbered.then(OrderCounts::default), ..Repairs::default() }
    }

    /// Whether there is nothing to count.
    pub fn is_empty(&self) -> bool {
        self.counts().into_iter().flatten().all(|count| count == 0)
    }
}

/// Declares the counts: their names, their meanings, and how they are read.
macro_rules! counts {
    (|$of:ident| $($(#[doc = $doc:literal])+ $name:ident = $value:expr),+ $(,)?) => {
        impl Repairs {
            /// The names of the counts.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// The counts, in the order of their names.
            pub fn counts(&self) -> [Option<u32>; Repairs::NAMES.len()] {
                let $of = self;
                [$($value),+]
            }
        }

        table! {
            /// Further columns of flows.
            RepairRow => RepairTable of |flow: Over<'_>| {
                $($(#[doc = $doc])+ $name: Option<u32> = { let $of = &flow.repairs; $value }),+
            }
            recorded if |scenario| scenario.recording.repairs
        }
    };
}

counts! {
    |of|
    /// Data packets that were lost in switches, in NICs or on links, including repairs and probes.
    lost_packets = Some(of.lost),
    /// Packets sent again because a loss was detected, or sent as a probe.
    repairs_by_detection = Some(of.by_detection),
    /// Packets sent again after a timeout.
    repairs_by_timeout = Some(of.by_timeout),
    /// Data packets that brought nothing new: unneeded repairs, or the packets that a repair had
    /// replaced.
    arrived_twice = Some(of.arrived_twice),
    /// Data packets that came too early for a receiver that accepts them in order only (`recovery =
    /// "go-back-n"`), and were discarded.
    discarded_packets = Some(of.discarded),
    /// Packets whose acks came while a packet sent earlier was still on its way.
    overtaking_packets = of.order.map(|order| order.overtaking),
    /// Packets taken for lost that had been dropped.
    right_detections = of.order.map(|order| order.right),
    /// Packets taken for lost that were still on their way.
    wrong_detections = of.order.map(|order| order.wrong),
    /// Packets taken for lost that had arrived: their acks had been dropped.
    unanswered_detections = of.order.map(|order| order.unanswered),
    /// Dropped packets that only a timeout revealed.
    losses_by_timeout = of.order.map(|order| order.by_timeout),
}

//! How losses were found and repaired: counts for each flow, as further columns of its row and as
//! sums in the summary.

use super::column::{Column, Field};
use crate::host::Ends;
use crate::transport::orders::OrderCounts;

/// What a flow's losses led to. All but the first four are counted only where losses are found by
/// the order of packets (`loss_detection = "per-priority"`); the simulator knows them, and no sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Segments sent again since a loss was detected, or as a probe.
    pub by_detection: u32,
    /// Segments sent again after a timeout.
    pub by_timeout: u32,
    /// Data packets that brought nothing new.
    pub arrived_twice: u32,
    /// Data packets that came too early for their receiver, which discarded them.
    pub discarded: u32,
    /// What the order of packets tells.
    pub order: OrderCounts,
}

impl Repairs {
    /// The names of the counts.
    pub const NAMES: [&'static str; 9] = [
        "repairs_by_detection",
        "repairs_by_timeout",
        "arrived_twice",
        "discarded_packets",
        "overtaking_packets",
        "right_detections",
        "wrong_detections",
        "unanswered_detections",
        "losses_by_timeout",
    ];

    /// Those of the flow at this place.
    pub(crate) fn of(ends: &Ends, slot: u32) -> Repairs {
        let sender = ends.sending(slot).sender();
        let repaired = sender.map_or(0, |sender| sender.retransmitted_packets);
        let by_timeout = sender.map_or(0, |sender| sender.timeout_repairs);
        Repairs {
            by_detection: repaired - by_timeout,
            by_timeout,
            arrived_twice: ends.receiving(slot).arrived_twice,
            discarded: ends.discarded(slot),
            order: sender.map(|sender| sender.order_counts()).unwrap_or_default(),
        }
    }

    /// The counts, in the order of their names.
    pub fn counts(&self) -> [u32; 9] {
        let Repairs { by_detection, by_timeout: repaired_late, arrived_twice, discarded, order } =
            *self;
        let OrderCounts { overtaking, right, wrong, unanswered, by_timeout } = order;
        [
            by_detection,
            repaired_late,
            arrived_twice,
            discarded,
            overtaking,
            right,
            wrong,
            unanswered,
            by_timeout,
        ]
    }

    /// The counts of rows, as columns.
    pub fn columns(rows: &[Repairs]) -> Vec<Column> {
        let of = |place: usize| rows.iter().map(|row| row.counts()[place]).collect();
        (0..).zip(Repairs::NAMES).map(|(place, name)| u32::finish(name, of(place))).collect()
    }
}

//! Losses, and how they were found and repaired: counts for each flow, as further columns of its
//! row and as sums in the summary.

use super::column::{Column, Field, Optional};
use spillway_transport::orders::OrderCounts;

/// What a flow lost, and what that led to. The last five counts exist only if losses are found by
/// the order of packets (`loss_detection = "per-priority"`). The simulator knows them, but no
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
    /// The names of the counts.
    pub const NAMES: [&'static str; 10] = [
        "lost_packets",
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

    /// The counts of a flow that lost nothing. Its packets may be numbered.
    pub fn none(is_numbered: bool) -> Repairs {
        Repairs { order: is_numbered.then(OrderCounts::default), ..Repairs::default() }
    }

    /// Whether there is nothing to count.
    pub fn is_empty(&self) -> bool {
        self.counts().into_iter().flatten().all(|count| count == 0)
    }

    /// The counts, in the order of their names.
    pub fn counts(&self) -> [Option<u32>; 10] {
        let Repairs { lost, by_detection, by_timeout, arrived_twice, discarded, order } = *self;
        let of_order = |count: fn(OrderCounts) -> u32| order.map(count);
        [
            Some(lost),
            Some(by_detection),
            Some(by_timeout),
            Some(arrived_twice),
            Some(discarded),
            of_order(|counts| counts.overtaking),
            of_order(|counts| counts.right),
            of_order(|counts| counts.wrong),
            of_order(|counts| counts.unanswered),
            of_order(|counts| counts.by_timeout),
        ]
    }

    /// The counts of rows, as columns.
    pub fn columns(rows: &[Repairs]) -> Vec<Column> {
        let column = |(place, name): (usize, _)| {
            let mut column = Optional::default();
            rows.iter().for_each(|row| row.counts()[place].push(&mut column));
            Option::<u32>::finish(name, column)
        };
        (0..).zip(Repairs::NAMES).map(column).collect()
    }
}

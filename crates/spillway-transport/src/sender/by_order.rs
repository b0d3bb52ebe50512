//! Losses found by the order in which packets of one priority were sent: when a sender consults
//! [`Orders`], and how it acts on the answers.

use super::{AckSegment, Detector, Phase, Piece, Sender};
use crate::ClosedLoop;
use crate::recovery::orders::{OrderCounts, Orders};
use spillway_switch::packet::NO_PRIORITY;

/// The state of a sender that finds losses by the order of its packets.
#[derive(Clone, Debug)]
pub(super) struct ByOrder {
    orders: Orders,
    /// The number of the next packet when a loss last cut the window.
    cut_at: u64,
}

impl ByOrder {
    /// The state of a flow that starts.
    pub fn new(mss: u64, dupthresh: u32, or_worse: bool) -> ByOrder {
        ByOrder { orders: Orders::new(mss, dupthresh, or_worse), cut_at: 0 }
    }

    /// The first segment that is lost.
    pub fn next_lost(&self) -> Option<(u64, u64)> {
        self.orders.next_lost()
    }

    /// Bytes that are lost and have not been retransmitted.
    pub fn lost_bytes(&self) -> u64 {
        self.orders.lost_bytes()
    }

    /// The last new segment was not sent after all.
    pub fn take_back(&mut self, seq: u64) {
        self.orders.take_back(seq);
    }

    /// The retransmission timer has expired.
    pub fn on_timeout(&mut self) {
        self.orders.on_timeout();
        self.cut_at = self.orders.next();
    }

    /// The next flow of the same connection begins.
    pub fn begin_next(&mut self) {
        self.orders.reset_counts();
    }
}

impl Sender {
    /// A segment is sent with this priority. Returns the number of its packet.
    pub fn number(&mut self, piece: &Piece, priority: u8) -> Option<u64> {
        let Detector::Order(by_order) = &mut self.detector else { return None };
        let range = (piece.seq, piece.seq + u64::from(piece.payload));
        // Without priorities all packets of a flow have the same.
        let priority = if priority == NO_PRIORITY { 0 } else { priority };
        Some(by_order.orders.on_sent(range, priority))
    }

    /// One of the sender's packets was dropped, or (`is_answer`) the ack of one. The simulator
    /// tells this.
    #[cold]
    pub fn note_dropped(&mut self, number: u64, is_answer: bool) {
        if let Detector::Order(by_order) = &mut self.detector {
            by_order.orders.on_dropped(number, is_answer);
        }
    }

    /// Whether it finds losses by the order of its packets.
    pub fn numbers_packets(&self) -> bool {
        matches!(self.detector, Detector::Order(_))
    }

    /// What the simulator has counted, if it finds losses this way.
    pub fn order_counts(&self) -> Option<OrderCounts> {
        match &self.detector {
            Detector::Order(by_order) => Some(by_order.orders.counts()),
            _ => None,
        }
    }

    /// Called before an ack is handled that moves on. If the ack answers the oldest packet alone,
    /// takes its number; nothing else follows from it then. Returns whether it did.
    #[inline]
    pub(super) fn take_next_number(&mut self, ack: &AckSegment) -> bool {
        match (&mut self.detector, ack.number) {
            (Detector::Order(by_order), Some(number)) => {
                by_order.orders.on_ack_in_order(number, ack.seq)
            }
            _ => false,
        }
    }

    /// Called before an ack is handled. Takes from it what it says about each packet.
    #[inline(never)]
    pub(super) fn note_order(&mut self, ack: &AckSegment) {
        let una = ack.seq.max(self.board.una);
        let (Detector::Order(by_order), Some(number)) = (&mut self.detector, ack.number) else {
            return;
        };
        let blocks = ack.sack.into_iter().flatten();
        let newly = blocks.flat_map(|&block| self.board.newly_told(block, una));
        by_order.orders.on_ack(number, una, newly);
    }

    /// Called after an ack has been handled that delivers `newly` bytes. Finds what is lost now.
    /// Returns whether anything is.
    #[inline(never)]
    pub(super) fn advance_by_order(&mut self, newly: u64, transport: &ClosedLoop) -> bool {
        let (_, ends_repair) = self.end_repair_of_each();
        let finds = self.find_by_order(newly, transport);
        if ends_repair && self.phase == Phase::Open && self.next_lost().is_some() {
            self.repair_the_rest();
        }
        finds
    }

    fn find_by_order(&mut self, newly: u64, transport: &ClosedLoop) -> bool {
        let Detector::Order(by_order) = &mut self.detector else { return false };
        let Some(latest) = by_order.orders.detect() else { return false };
        let of_new_window = latest >= by_order.cut_at;
        if self.react_to_losses(of_new_window, newly, transport) {
            self.note_number_of_cut();
        }
        true
    }

    fn note_number_of_cut(&mut self) {
        if let Detector::Order(by_order) = &mut self.detector {
            by_order.cut_at = by_order.orders.next();
        }
    }
}

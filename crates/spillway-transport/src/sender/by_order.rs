//! When a sender consults [`Orders`](crate::recovery::ByOrder), and how it acts on the answers.

use super::{AckSegment, Phase, Piece, Sender};
use crate::ClosedLoop;
use crate::recovery::{OrderCounts, Recovery};
use spillway_switch::packet::NO_PRIORITY;

impl Sender {
    /// A segment is sent with this priority. Returns the number of its packet.
    pub fn number(&mut self, piece: &Piece, priority: u8) -> Option<u64> {
        let Recovery::PerPriority(by_order) = &mut self.recovery else { return None };
        let range = (piece.seq, piece.seq + u64::from(piece.payload));
        // Without priorities all packets of a flow have the same.
        let priority = if priority == NO_PRIORITY { 0 } else { priority };
        Some(by_order.orders.on_sent(range, priority))
    }

    /// One of the sender's packets was dropped, or (`is_answer`) the ack of one. The simulator
    /// tells this.
    #[cold]
    pub fn note_dropped(&mut self, number: u64, is_answer: bool) {
        if let Recovery::PerPriority(by_order) = &mut self.recovery {
            by_order.orders.on_dropped(number, is_answer);
        }
    }

    /// Whether it finds losses by the order of its packets.
    pub fn numbers_packets(&self) -> bool {
        matches!(self.recovery, Recovery::PerPriority(_))
    }

    /// What the simulator has counted, if it finds losses this way.
    pub fn order_counts(&self) -> Option<OrderCounts> {
        match &self.recovery {
            Recovery::PerPriority(by_order) => Some(by_order.orders.counts()),
            _ => None,
        }
    }

    /// Called before an ack is handled that moves on. If the ack answers the oldest packet alone,
    /// takes its number; nothing else follows from it then. Returns whether it did.
    #[inline]
    pub(super) fn take_next_number(&mut self, ack: &AckSegment) -> bool {
        match (&mut self.recovery, ack.number) {
            (Recovery::PerPriority(by_order), Some(number)) => {
                by_order.orders.on_ack_in_order(number, ack.seq)
            }
            _ => false,
        }
    }

    /// Called before an ack is handled. Takes from it what it says about each packet.
    #[inline(never)]
    pub(super) fn note_order(&mut self, ack: &AckSegment) {
        let una = ack.seq.max(self.board.una);
        let (Recovery::PerPriority(by_order), Some(number)) = (&mut self.recovery, ack.number)
        else {
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
        let Recovery::PerPriority(by_order) = &mut self.recovery else { return false };
        let Some(latest) = by_order.orders.detect() else { return false };
        let of_new_window = latest >= by_order.cut_at;
        if self.react_to_losses(of_new_window, newly, transport) {
            self.note_number_of_cut();
        }
        true
    }

    fn note_number_of_cut(&mut self) {
        if let Recovery::PerPriority(by_order) = &mut self.recovery {
            by_order.cut_at = by_order.orders.next();
        }
    }
}

//! Which acks a sender asks for, if one ack is for several packets.
//!
//! A receiver may wait for more packets while their sender waits for the ack. Both would then wait
//! for `ack_delay`. So a sender asks for the ack of the last segment of its flow, as RDMA's NICs
//! and TCP's PSH do, and for the ack of a segment after which it may not send another.
//!
//! Senders with a pace, and IRN, have a window of about what is under way. Such a window would be
//! used up before the acks for large parts of it are back. So these senders also ask for an ack
//! after each of a number of equal parts of their window, as RDMA's NICs ask for acks at intervals
//! of their own. A congestion controller that updates after a number of bytes, such as TIMELY after
//! 16 KB, asks after as many bytes. In slow start, which acks drive, a sender asks after an eighth
//! of its window, much as Linux's receivers acknowledge a connection's first segments at once.

use super::{Phase, Sender};
use crate::ClosedLoop;
use crate::window::Window;

/// The number of parts. At most one of them is missing from what is under way.
const PARTS: u64 = 32;

impl Sender {
    /// Whether the sender asks for an ack of the segment that it has just handed out.
    #[cold]
    pub fn asks_for_ack(&mut self, transport: &ClosedLoop) -> bool {
        if !transport.acks.asked {
            return false;
        }
        let sent_to = self.sent_by_own();
        let Window { cwnd, ssthresh, slow_start, mss, .. } = self.window;
        let part_of_window = if transport.acks.times_last {
            cwnd / PARTS
        } else if slow_start && cwnd < ssthresh {
            cwnd / 8
        } else {
            u64::MAX
        };
        let part = part_of_window.min(self.most_by_own() / PARTS);
        let unasked = sent_to.saturating_sub(self.asked_to);
        // If a part is at least as large as what an ack is for, the receiver's own count suffices.
        let is_part = unasked >= part && part < u64::from(transport.acks.every) * mss;
        let asks = is_part || unasked >= transport.ack_segment || !self.may_go_on();
        if asks {
            self.asked_to = sent_to;
        }
        asks
    }

    /// Whether the window allows another segment. Retransmissions are acknowledged at once in any
    /// case.
    pub(super) fn may_go_on(&mut self) -> bool {
        match self.phase {
            Phase::Own => self.has_piece_by_own(),
            Phase::Open if self.reduction.is_none() => {
                let payload = self.window.mss.min(self.size - self.board.nxt);
                let room = self.window.room_for(payload);
                payload > 0 && self.in_flight() + room <= self.window.cwnd
            }
            _ => false,
        }
    }
}

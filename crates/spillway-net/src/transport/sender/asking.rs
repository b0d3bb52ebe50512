//! Which acks a sender asks for, where one ack is for several packets.
//!
//! A receiver that waits for more packets, which do not come because their sender waits for the
//! ack, would keep both waiting for `ack_delay`. So a sender asks for the ack of the last segment of
//! its flow, as RDMA's NICs do and TCP's PSH does, and of one after which it may send no more.
//!
//! A window of about what is under way, as senders with a pace and IRN have it, would be used up
//! before acks for large parts of it are back. Such a sender also asks at each of so many parts of
//! its window, as RDMA's NICs ask for acks at intervals of their own. TIMELY, which updates its rate
//! with each 16 KB, say, asks after as many. In slow start, which acks drive, a sender asks after an
//! eighth of its window, as Linux's receivers acknowledge a connection's first segments at once.

use super::{Phase, Sender};
use crate::transport::ClosedLoop;
use crate::transport::window::Window;

/// The number of parts. What is under way lacks at most one of them.
const PARTS: u64 = 32;

impl Sender {
    /// Whether the segment that was just given is to be acknowledged at once.
    #[cold]
    pub fn asks_for_ack(&mut self, transport: &ClosedLoop) -> bool {
        if !transport.acks.asked {
            return false;
        }
        let sent_to = self.sent_by_nacks();
        let Window { cwnd, ssthresh, slow_start, mss, .. } = self.window;
        let part_of_window = match transport.acks.times_last {
            true => cwnd / PARTS,
            false if slow_start && cwnd < ssthresh => cwnd / 8,
            false => u64::MAX,
        };
        let part = part_of_window.min(self.most_by_nacks() / PARTS);
        let unasked = sent_to.saturating_sub(self.asked_to);
        // The receiver counts by itself what is not less than an ack is for.
        let is_part = unasked >= part && part < u64::from(transport.acks.every) * mss;
        let asks = is_part || unasked >= transport.ack_segment || !self.may_go_on();
        if asks {
            self.asked_to = sent_to;
        }
        asks
    }

    /// Whether the window allows another segment. Whatever is repaired is acknowledged at once.
    fn may_go_on(&self) -> bool {
        match self.phase {
            Phase::ByNacks => self.has_piece_by_nacks(),
            Phase::Open if self.reduction.is_none() => {
                let payload = self.window.mss.min(self.size - self.board.nxt);
                let room = self.window.room_for(payload);
                payload > 0 && self.in_flight() + room <= self.window.cwnd
            }
            _ => false,
        }
    }
}

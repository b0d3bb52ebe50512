//! How a sender reacts when its own host drops a packet and tells it at once, as Linux does
//! (`__tcp_transmit_skb`, `tcp_enter_cwr`).

use super::{Phase, Piece, Sender};
use crate::recovery::reduction::ReductionRule;
use crate::{ClosedLoop, window::CongestionControl};
use spillway_engine::Time;

impl Sender {
    /// The queue of the sender's host was full and refused a segment. New data counts as not sent,
    /// a retransmission as lost, and the window is cut. The caller must not ask for more until an
    /// ack arrives or the timer expires.
    #[cold]
    pub fn on_refused(&mut self, piece: &Piece, transport: &ClosedLoop) {
        if !piece.again && piece.payload > 0 {
            self.board.nxt = piece.seq;
            self.recovery.take_back(piece.seq);
            if let Some(reduction) = &mut self.reduction {
                reduction.give_back(piece.payload.into());
            }
        }
        self.on_local_drop(transport);
        if self.has_nothing_out() {
            // No ack will come that could advance the reduction.
            self.reduction = None;
        }
    }

    /// The sender's host has dropped a packet. The window is cut as for a mark. It is not cut if it
    /// was cut after the data in flight was sent, or while losses are retransmitted.
    #[cold]
    pub fn on_local_drop(&mut self, transport: &ClosedLoop) {
        // At least 1: a cut lasts until a byte behind it is acknowledged, and a cut before the
        // first ack must last too.
        let (una, nxt) = (self.board.una.max(1), self.board.nxt.max(1));
        if self.phase != Phase::Open || una <= self.window.cut_until {
            return;
        }
        let before = (self.window.cwnd, self.window.ssthresh);
        self.window.cut_until = nxt;
        self.control.on_local_drop(&mut self.window);
        if self.window.is_cut_from(before) {
            self.tells_cut |= transport.ecn;
            if transport.losses.reduction != ReductionRule::AtOnce {
                self.begin_reduction(transport.losses.reduction, 0, true);
            }
        }
    }

    /// Whether no data is outstanding: everything was acknowledged or refused.
    pub(super) fn has_nothing_out(&self) -> bool {
        self.board.una == self.board.nxt && self.phase != Phase::Connecting
    }

    /// The timer has expired with no data outstanding: the sender tries again.
    #[cold]
    pub(super) fn try_again(&mut self, now: Time, transport: &ClosedLoop) {
        self.restart_timer(now, transport);
    }
}

//! What a sender does when its own host drops what it sends, and tells so at once, as Linux does
//! (`__tcp_transmit_skb`, `tcp_enter_cwr`).

use super::{Phase, Piece, Sender};
use crate::transport::reduction::ReductionRule;
use crate::transport::{ClosedLoop, window::CongestionControl};
use spillway_engine::Time;

impl Sender {
    /// The queue of its host was full: new data counts as not sent, a repair as lost, and the window is
    /// cut. It is not to be asked for more until an ack comes, or the timer runs out.
    #[cold]
    pub fn on_refused(&mut self, piece: &Piece, transport: &ClosedLoop) {
        if !piece.again {
            self.board.nxt = piece.seq;
            if let Some(by_rack) = &mut self.by_rack {
                by_rack.take_back(piece.seq);
            }
            if let Some(reduction) = &mut self.reduction {
                reduction.give_back(piece.payload.into());
            }
        }
        self.on_local_drop(transport);
        if self.has_nothing_out() {
            // No ack will come for which to send something.
            self.reduction = None;
        }
    }

    /// Its host has dropped a packet: the window is cut as for a mark, unless it was since what is in
    /// flight was sent, or losses are being repaired.
    #[cold]
    pub fn on_local_drop(&mut self, transport: &ClosedLoop) {
        // Before the first ack, too: a cut holds until a byte behind it is acknowledged.
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
                self.begin_reduction(transport.losses.reduction);
            }
        }
    }

    /// Whether nothing is in flight of what has been sent: all was refused.
    pub(super) fn has_nothing_out(&self) -> bool {
        self.board.una == self.board.nxt && self.phase != Phase::Connecting
    }

    /// The timer has run out, and nothing is in flight: it is time to try again.
    #[cold]
    pub(super) fn try_again(&mut self, now: Time, transport: &ClosedLoop) {
        self.restart_timer(now, transport);
    }
}

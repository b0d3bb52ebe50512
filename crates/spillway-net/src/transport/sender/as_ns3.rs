//! What the TCP of ns-3 does about losses (`TcpSocketBase` and `TcpTxBuffer`, 3.35 to 3.39), for runs that
//! are compared with its own.
//!
//! As RFC 6675, but for this. A mark's cut is a state of its own (CWR), which takes the place of a repair
//! and of what follows a timeout: until all that was sent before is acknowledged losses are repaired
//! and do not cut. In a repair each ack of new data lets the next segment go if it has not gone again,
//! whatever the window is, and moves on the timer the first time only; where nothing is lost and there is
//! no new data, what has not been sent again is, whether something has arrived behind it or not. There is
//! no rescue. A repair halves what is in flight without what is lost. Less than a segment of window sends
//! nothing but a flow's end, whether something is in flight or not, until the timer runs out.

use super::{AtOnce, Phase, Sender};
use crate::transport::window::{Ack, CongestionControl};

impl Sender {
    /// An ack has come. `cut_until` is the window's before it.
    pub(super) fn advance_as_ns3(&mut self, ack: &Ack, cut_until: u64) {
        self.keeps_timer = false;
        match self.phase {
            _ if self.window.cut_until != cut_until => self.phase = Phase::Reduced,
            Phase::Reduced if !self.window.is_held(ack) => self.phase = Phase::Open,
            Phase::Recovery if self.board.una >= self.recover => {
                self.phase = Phase::Open;
                self.has_moved_timer = false;
                self.window.cwnd = self.window.ssthresh;
            }
            Phase::Recovery if ack.acked > 0 => {
                self.keeps_timer = std::mem::replace(&mut self.has_moved_timer, true);
                if !self.board.is_head_repaired() {
                    let has_new = self.board.nxt < self.size && !self.board.is_head_lost();
                    self.at_once = if has_new { AtOnce::New } else { AtOnce::Head };
                }
            }
            Phase::Loss if self.board.una >= self.recover => {
                self.phase = Phase::Open;
                self.has_moved_timer = false;
            }
            Phase::Recovery => {}
            Phase::Open | Phase::Loss | Phase::Reduced | Phase::Connecting => {}
        }
        if self.phase == Phase::Open && self.board.is_head_lost() {
            self.recover_as_ns3();
        }
    }

    /// Whether there is more to send, and only the timer will let it go.
    #[cold]
    pub(super) fn is_stuck_as_ns3(&self) -> bool {
        self.window.cwnd < self.window.mss && self.board.nxt < self.size
    }

    #[cold]
    fn recover_as_ns3(&mut self) {
        self.board.lose_head(self.board.nxt);
        self.control.on_loss(&mut self.window, self.board.pipe());
        self.window.cwnd = self.window.ssthresh;
        self.window.credit = 0;
        self.phase = Phase::Recovery;
        self.recover = self.board.nxt;
        self.board.resume_repair();
        self.at_once = AtOnce::Head;
    }
}

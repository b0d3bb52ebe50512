//! How a sender follows the TCP of ns-3 (`recovery/ns3.rs`).

use super::{AtOnce, Phase, Sender};
use crate::window::{Ack, CongestionControl, Repair};

impl Sender {
    /// An ack has been handled. `cut_until` is the value that the window had before it.
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
            Phase::Open | Phase::Loss | Phase::Reduced | Phase::Connecting | Phase::Own => {}
        }
        if self.phase == Phase::Open && self.board.is_head_lost() {
            self.recover_as_ns3();
        }
        if self.phase != Phase::Open {
            self.tell_repair(ack);
        }
    }

    #[cold]
    fn tell_repair(&mut self, ack: &Ack) {
        let repair = Repair {
            in_recovery: self.phase == Phase::Recovery,
            tells: ack.delivered > 0,
            in_flight: self.in_flight(),
            sent_last: match self.at_once {
                AtOnce::Head => self.board.una,
                AtOnce::New => self.board.nxt,
                AtOnce::Nothing | AtOnce::Lost => self.sent_last.max(self.board.una),
            },
        };
        self.control.on_repair(&mut self.window, &repair);
    }

    /// Whether data is left that only the timer will let go.
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
        self.at_once = AtOnce::Head;
    }
}

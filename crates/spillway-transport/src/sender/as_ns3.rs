//! How the TCP of ns-3 reacts to losses (`TcpSocketBase` and `TcpTxBuffer`, 3.35 to 3.39), for runs
//! that are compared with it.
//!
//! It follows RFC 6675 except for this:
//!
//! - A cut for a mark is a state of its own (CWR), which replaces recovery and the state after a
//!   timeout. Until everything sent before the cut is acknowledged, losses are retransmitted and do
//!   not cut.
//! - In recovery each ack of new data lets the next segment go, whatever the window is, if it has
//!   not been retransmitted. Only the first such ack restarts the timer.
//! - If nothing is lost and there is no new data, missing segments are retransmitted even if
//!   nothing has arrived behind them. There is no rescue retransmission.
//! - A recovery halves what is in flight, not counting what is lost. With TIMELY as in ABM's
//!   program a recovery lowers no threshold; the head of `timely.rs` says what follows.
//! - Every timeout cuts, even that of a segment that was sent again after a timeout: ns-3 forgets
//!   that it was before it asks (`TcpTxBuffer::SetSentListLost`).
//! - With a window of less than a segment nothing is sent until the timer expires, even if nothing
//!   is in flight, except the end of a flow. But a reduction for a mark begins with a segment.
//! - A reduction differs as [`ReductionRule::Ns3`](crate::recovery::reduction::ReductionRule::Ns3)
//!   tells, and DCTCP's growth and cuts as its head does.
//!
//! `tests/follows_ns3.rs` gives it the acks of senders of ns-3: it sends the same segments.

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
            Phase::Open | Phase::Loss | Phase::Reduced | Phase::Connecting => {}
            Phase::ByTimeout | Phase::ByNacks => {}
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

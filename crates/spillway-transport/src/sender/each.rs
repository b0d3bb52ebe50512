//! Code that senders share which decide for each segment whether it is lost, by time or by order.

use super::{AtOnce, Phase, Sender};
use crate::ClosedLoop;
use crate::recovery::reduction::ReductionRule;

impl Sender {
    /// Whether a recovery is under way, and whether the ack that was just handled ends it.
    pub(super) fn end_repair_of_each(&mut self) -> (bool, bool) {
        let repairs = matches!(self.phase, Phase::Recovery | Phase::Loss);
        let ends = repairs && self.board.una >= self.recover;
        if ends {
            if self.phase == Phase::Recovery {
                self.window.cwnd = self.window.ssthresh;
            }
            self.phase = Phase::Open;
        }
        (repairs, ends)
    }

    /// Reacts to losses that were just found. `of_new_window` says whether one of them was sent
    /// after a loss last cut the window. `newly` is the number of bytes that the ack delivers that
    /// shows them. Returns whether the losses cut the window.
    pub(super) fn react_to_losses(
        &mut self,
        of_new_window: bool,
        newly: u64,
        transport: &ClosedLoop,
    ) -> bool {
        let cuts = match self.phase {
            Phase::Open => true,
            // Data sent after the last cut is lost, whether new or retransmitted. This is one more
            // sign of congestion (RFC 5681, section 4.3; RFC 8985, section 3.4).
            Phase::Recovery | Phase::Loss => of_new_window,
            Phase::Connecting | Phase::Reduced | Phase::Own => false,
        };
        if !cuts {
            return false;
        }
        let before = self.window.ssthresh;
        let cwnd = self.window.cwnd;
        self.cut_for_loss(transport);
        if self.phase == Phase::Open {
            self.phase = Phase::Recovery;
            self.recover = self.board.nxt;
            self.at_once = AtOnce::Lost;
        } else {
            self.window.cwnd = self.window.cwnd.min(cwnd);
        }
        // After a timeout the window is small already.
        let rule = transport.losses.reduction;
        if rule != ReductionRule::AtOnce
            && self.phase == Phase::Recovery
            && self.window.is_cut_from((u64::MAX, before))
        {
            self.begin_reduction(rule, newly, false);
        }
        true
    }

    /// Begins a recovery from losses that remain when a recovery ends. They were sent after it
    /// began, and the window has not let all of them go. It was cut for them when they were found.
    pub(super) fn repair_the_rest(&mut self) {
        self.phase = Phase::Recovery;
        self.recover = self.board.nxt;
    }
}

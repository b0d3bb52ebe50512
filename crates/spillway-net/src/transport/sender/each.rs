//! What senders share that judge each segment whether it is lost, by time or by order.

use super::{AtOnce, Phase, Sender};
use crate::transport::ClosedLoop;
use crate::transport::reduction::ReductionRule;

impl Sender {
    /// Whether a repair is under way, and whether the ack that was just handled ends it.
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

    /// Reacts to losses that were just found; `of_new_window` tells whether one of them was sent
    /// after a loss last cut the window. Returns whether they cut it.
    pub(super) fn react_to_losses(&mut self, of_new_window: bool, transport: &ClosedLoop) -> bool {
        let cuts = match self.phase {
            Phase::Open => true,
            // The loss of data sent after the last cut is one of another window (RFC 5681, section
            // 4.3). A proportional reduction covers it without another cut.
            Phase::Recovery | Phase::Loss => {
                transport.losses.reduction == ReductionRule::AtOnce && of_new_window
            }
            Phase::Connecting | Phase::Reduced | Phase::ByTimeout | Phase::ByNacks => false,
        };
        if !cuts {
            return false;
        }
        let cwnd = self.window.cwnd;
        self.cut_down(transport);
        if self.phase == Phase::Open {
            self.phase = Phase::Recovery;
            self.recover = self.board.nxt;
            self.at_once = AtOnce::Lost;
        } else {
            self.window.cwnd = self.window.cwnd.min(cwnd);
        }
        true
    }

    /// Recovers from losses that remain when a recovery ends: they were sent after it began, and
    /// the window has not let all of them go. If cuts take effect at once, the window was cut for
    /// them when they were found. Returns whether it is cut now.
    pub(super) fn repair_the_rest(&mut self, transport: &ClosedLoop) -> bool {
        let cuts = transport.losses.reduction != ReductionRule::AtOnce;
        if cuts {
            self.cut_down(transport);
        }
        self.phase = Phase::Recovery;
        self.recover = self.board.nxt;
        cuts
    }

    fn cut_down(&mut self, transport: &ClosedLoop) {
        let before = (u64::MAX, self.window.ssthresh);
        self.cut_for_loss(transport);
        let rule = transport.losses.reduction;
        if rule != ReductionRule::AtOnce && self.window.is_cut_from(before) {
            self.begin_reduction(rule, false);
        }
    }
}

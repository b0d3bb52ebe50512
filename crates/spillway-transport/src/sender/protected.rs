//! A sender that always has a packet in flight that switches do not lose easily
//! ([`Tlt`](crate::protection::Tlt)).

use super::{AtOnce, Phase, Piece, Sender};
use crate::ClosedLoop;
use crate::ranges::Range;
use crate::recovery::Recovery;
use crate::recovery::reduction::ReductionRule;
use spillway_engine::Time;

impl Sender {
    /// A segment that the sender has handed out is sent. Returns whether it is important. To be
    /// called for every segment of a sender that protects some.
    #[cold]
    pub fn is_important(&mut self, now: Time, piece: &Piece) -> bool {
        let (is_last, nxt) = (!self.may_go_on(), self.board.nxt);
        let again = piece.again.then_some(piece.seq);
        self.tlt.as_mut().is_some_and(|tlt| tlt.on_sent(now, again, nxt, is_last))
    }

    /// The next packet is important, if some are: the last important one was refused, or no echo of
    /// it has come in time.
    pub fn protect_next(&mut self) {
        if let Some(tlt) = &mut self.tlt {
            tlt.protect_next();
        }
    }

    /// An ack that was just handled tells that an important packet has arrived, which was sent at
    /// `sent_at`. Finds what is lost.
    #[cold]
    pub fn on_echo(&mut self, now: Time, sent_at: Time, transport: &ClosedLoop) {
        let Some(tlt) = &mut self.tlt else { return };
        if !tlt.on_echo(sent_at) {
            return;
        }
        let (covered, una) = (tlt.covered(), self.board.una);
        let is_lost = tlt.shows_loss_of(una);
        match transport.recovery {
            Recovery::Rack(_) => return self.take_echo(now, sent_at, transport),
            Recovery::Sack | Recovery::Ns3 if una < covered => self.board.lose_to(covered),
            _ => {}
        }
        if !is_lost {
            return;
        }
        match (self.phase, &transport.recovery) {
            (Phase::Open, Recovery::Sack) => self.recover_from_echo(now, transport),
            // It was sent again, and is lost again.
            (Phase::Recovery | Phase::Loss, _)
                if self.next_lost().is_none_or(|(seq, _)| seq > una) =>
            {
                self.at_once = AtOnce::Head;
            }
            _ => {}
        }
    }

    /// What is lost is repaired as after a loss that selective acks show.
    fn recover_from_echo(&mut self, now: Time, transport: &ClosedLoop) {
        let ssthresh = self.window.ssthresh;
        self.enter_recovery(transport);
        let rule = transport.losses.reduction;
        if rule != ReductionRule::AtOnce && self.window.is_cut_from((u64::MAX, ssthresh)) {
            self.begin_reduction(rule, 0, false);
        }
        self.set_retransmission_deadline(now, transport);
    }

    /// An important packet that the window does not allow, if it is due and nothing was sent: what
    /// is lost, or else the header of the first unacknowledged segment.
    #[cold]
    pub fn forced_piece(&mut self, now: Time) -> Option<Piece> {
        let tlt = self.tlt.as_ref().filter(|tlt| tlt.is_due())?;
        if self.phase == Phase::Connecting || self.has_nothing_out() {
            return None;
        }
        let una = self.board.una;
        let whole = tlt.shows_loss_of(una) && !matches!(self.recovery, Recovery::Rack(_))
            || self.numbers_packets();
        let segment: Option<Range> = self.next_lost().or(whole.then(|| self.board.head()));
        let Some(segment) = segment else {
            return Some(Piece { seq: una, payload: 0, again: false });
        };
        let piece = self.repair_at_once(segment);
        self.keep_time_of(now, &piece);
        Some(piece)
    }
}

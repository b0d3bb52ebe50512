//! What a sender does about losses: when it takes something for lost, how it repairs, and when the
//! repair is over.

use super::{Piece, Sender};
use crate::transport::ranges::Range;
use crate::transport::receiver::SackBlocks;
use crate::transport::window::{Ack, CongestionControl};
use crate::transport::{ClosedLoop, LossDetection};
use spillway_engine::Time;

/// What a sender is doing about losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Waiting for the connection to open.
    Connecting,
    /// Nothing is known to be lost.
    Open,
    /// Repairing a loss found by selective acks.
    Recovery,
    /// Repairing after a timeout.
    Loss,
    /// A mark's cut is under way, and what is lost meanwhile is repaired without another (ns-3's CWR).
    Reduced,
}

/// What goes out next whatever the window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtOnce {
    /// Nothing does.
    Nothing,
    /// The first segment that is not acknowledged.
    Head,
    /// The first segment that is lost.
    Lost,
    /// New data.
    New,
}

impl Sender {
    /// The byte behind all that is in flight: after a timeout only what has been sent again is.
    #[inline]
    pub(super) fn sent_to(&self) -> u64 {
        if self.phase == Phase::Loss { self.repaired_in_loss() } else { self.board.nxt }
    }

    #[cold]
    fn repaired_in_loss(&self) -> u64 {
        self.next_lost().map_or(self.board.nxt, |(seq, _)| seq)
    }

    /// The next segment that is lost and has not been sent again.
    pub(super) fn next_lost(&self) -> Option<Range> {
        match &self.by_rack {
            None => self.board.next_lost(),
            Some(by_rack) => by_rack.next_lost(),
        }
    }

    /// What to send next while something is lost (RFC 6675, NextSeg): what is lost, then new data, then
    /// what may be lost, and at last the segment at the end.
    #[inline(never)]
    pub(super) fn repair_piece(&mut self, transport: &ClosedLoop) -> Option<Piece> {
        match std::mem::replace(&mut self.at_once, AtOnce::Nothing) {
            AtOnce::Nothing => {}
            AtOnce::Head => return Some(self.repair_at_once(self.board.head())),
            AtOnce::Lost => return self.next_lost().map(|lost| self.repair_at_once(lost)),
            AtOnce::New => return self.new_piece_at_once(),
        }
        if let Some((seq, end)) = self.next_lost() {
            if !self.may_send(self.room_for(end - seq), transport) {
                return None;
            }
            self.board.repaired(end);
            return Some(self.again(seq, end));
        }
        if self.board.nxt < self.size || self.phase != Phase::Recovery {
            return self.new_piece(transport);
        }
        self.last_resort(transport)
    }

    /// In a repair a segment that is shorter than others needs as much room as they (section 5, step C).
    #[inline]
    pub(super) fn room_for(&self, payload: u64) -> u64 {
        if self.phase == Phase::Recovery { self.window.mss } else { payload }
    }

    #[cold]
    fn repair_at_once(&mut self, (seq, end): Range) -> Piece {
        self.board.repaired(end);
        self.count_in_reduction(end - seq);
        self.again(seq, end)
    }

    #[cold]
    fn last_resort(&mut self, transport: &ClosedLoop) -> Option<Piece> {
        let (gap, last) = match transport.losses.detection {
            LossDetection::Sack => (self.board.next_gap(), self.board.rescue()),
            LossDetection::Ns3 => (self.board.next_missing(), None),
            LossDetection::Rack => (None, None),
        };
        let (seq, end) = gap.or(last)?;
        if !self.may_send(self.room_for(end - seq), transport) {
            return None;
        }
        match gap {
            Some(_) => self.board.repaired(end),
            None => self.board.rescued(self.recover),
        }
        Some(self.again(seq, end))
    }

    fn again(&mut self, seq: u64, end: u64) -> Piece {
        self.retransmitted_packets += 1;
        Piece { seq, payload: (end - seq) as u32, again: true }
    }

    #[cold]
    pub(super) fn take_sack(&mut self, blocks: &SackBlocks, transport: &ClosedLoop) {
        if self.by_rack.is_some() {
            return self.board.take_quietly(blocks);
        }
        self.board.take(blocks, transport.losses.dupthresh);
        if let Some(probe) = self.probe {
            // The probe came through and what was sent before it did not.
            if self.board.highest_arrived().is_some_and(|end| end > probe) {
                self.board.lose_to(probe);
            }
        }
    }

    #[inline]
    pub(super) fn advance_phase(&mut self, ack: &Ack, transport: &ClosedLoop) {
        if self.phase != Phase::Open {
            self.advance_repair(ack, transport);
        } else if self.board.is_head_lost() {
            self.enter_recovery(transport);
        }
        if transport.losses.tail_loss_probe
            && self.probe.is_some_and(|probe| self.board.una > probe)
        {
            self.probe = None;
        }
    }

    #[cold]
    fn advance_repair(&mut self, ack: &Ack, transport: &ClosedLoop) {
        match self.phase {
            Phase::Recovery if self.board.una >= self.recover => {
                self.phase = Phase::Open;
                self.board.end_repair();
                self.window.cwnd = self.window.ssthresh;
            }
            Phase::Recovery if transport.losses.partial_acks_tell => {
                self.repairs_under_marks |= ack.ece;
                if ack.acked > 0 && !self.repairs_under_marks {
                    // What it misses was sent before the repair began.
                    if !self.board.is_head_repaired() {
                        self.at_once = AtOnce::Head;
                    }
                    self.board.lose_head(self.recover);
                }
            }
            Phase::Loss if self.board.una >= self.recover => {
                self.phase = Phase::Open;
                self.board.end_repair();
            }
            Phase::Open | Phase::Recovery | Phase::Loss | Phase::Connecting | Phase::Reduced => {}
        }
    }

    #[cold]
    fn enter_recovery(&mut self, transport: &ClosedLoop) {
        // Before a repair only marks cut.
        self.repairs_under_marks = self.reduction.is_some();
        self.cut_for_loss(transport);
        self.phase = Phase::Recovery;
        self.recover = self.board.nxt;
        self.board.begin_repair();
        self.board.lose_head(self.recover);
        self.at_once = AtOnce::Head;
    }

    /// A loss was found: the window is cut, unless a mark has cut it for the same.
    pub(super) fn cut_for_loss(&mut self, transport: &ClosedLoop) {
        if !transport.losses.cut_once || self.board.una >= self.window.cut_until {
            let in_flight = self.board.nxt - self.board.una;
            self.control.on_loss(&mut self.window, in_flight);
            self.window.cwnd = self.window.ssthresh;
            self.window.credit = 0;
            self.tells_cut |= transport.losses.cut_once;
        }
    }

    /// The retransmission timer has run out: all that is missing goes out again, from a window of one
    /// segment.
    pub(super) fn enter_loss(&mut self, now: Time, transport: &ClosedLoop) {
        if self.phase != Phase::Loss {
            // A segment that is lost again does not cut again (RFC 5681, section 3.1).
            let in_flight = self.in_flight();
            self.control.on_timeout(&mut self.window, in_flight);
        }
        // The one that told it may be what is lost.
        self.tells_cut |= transport.losses.cut_once;
        self.window.cwnd = self.window.mss;
        self.window.credit = 0;
        // What a mark's cut was for is no longer in flight.
        self.window.cut_until = 0;
        self.withheld = 0;
        self.reduction = None;
        self.at_once = AtOnce::Nothing;
        self.phase = Phase::Loss;
        self.recover = self.board.nxt;
        match &mut self.by_rack {
            None => self.board.lose_all(),
            Some(by_rack) => {
                by_rack.on_timeout(now);
                self.at_once = AtOnce::Lost;
            }
        }
    }
}

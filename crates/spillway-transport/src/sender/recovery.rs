//! How a sender reacts to losses: when it takes a segment to be lost, what it retransmits, and when
//! the recovery is over.

use super::{Piece, Recovery, Sender};
use crate::ClosedLoop;
use crate::ranges::Range;
use crate::receiver::SackBlocks;
use crate::window::{Ack, CongestionControl};
use spillway_engine::Time;

/// How a sender is reacting to losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Waiting for the connection to open.
    Connecting,
    /// Nothing is known to be lost.
    Open,
    /// Recovery from a loss that selective acks have shown.
    Recovery,
    /// Retransmission after a timeout.
    Loss,
    /// After a cut for a mark: losses are retransmitted without another cut (the state CWR of
    /// ns-3).
    Reduced,
    /// Always, for a recovery that chooses every segment itself.
    Own,
}

impl Phase {
    /// The phase of a sender whose connection is open and whose flow begins.
    pub(super) fn first(transport: &ClosedLoop) -> Phase {
        if transport.recovery.is_own() { Phase::Own } else { Phase::Open }
    }
}

/// What is sent next even if the window does not allow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtOnce {
    /// Nothing.
    Nothing,
    /// The first unacknowledged segment.
    Head,
    /// The first lost segment.
    Lost,
    /// New data.
    New,
}

impl Sender {
    /// The byte behind everything in flight. After a timeout only retransmitted data is in flight.
    #[inline]
    pub(super) fn sent_to(&self) -> u64 {
        if self.phase == Phase::Loss { self.repaired_in_loss() } else { self.board.nxt }
    }

    #[cold]
    fn repaired_in_loss(&self) -> u64 {
        self.next_lost().map_or(self.board.nxt, |(seq, _)| seq)
    }

    /// The next lost segment that has not been retransmitted.
    pub(super) fn next_lost(&self) -> Option<Range> {
        self.recovery.next_lost(&self.board)
    }

    /// The next segment while something is lost (RFC 6675, NextSeg): lost data, then new data, then
    /// data that may be lost, and finally the last missing segment.
    #[inline(never)]
    pub(super) fn repair_piece(&mut self, transport: &ClosedLoop) -> Option<Piece> {
        if self.phase == Phase::Own {
            return self.piece_by_own();
        }
        let piece = self.next_repair(transport)?;
        self.sent_last = piece.seq + u64::from(piece.payload);
        Some(piece)
    }

    fn next_repair(&mut self, transport: &ClosedLoop) -> Option<Piece> {
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

    /// In recovery a short segment needs as much room as a full one (section 5, step C).
    #[inline]
    pub(super) fn room_for(&self, payload: u64) -> u64 {
        if self.phase == Phase::Recovery { self.window.mss } else { self.window.room_for(payload) }
    }

    #[cold]
    pub(super) fn repair_at_once(&mut self, (seq, end): Range) -> Piece {
        self.board.repaired(end);
        self.count_in_reduction(end - seq);
        self.again(seq, end)
    }

    #[cold]
    fn last_resort(&mut self, transport: &ClosedLoop) -> Option<Piece> {
        let (gap, last) = match transport.recovery {
            Recovery::Sack => (self.board.next_gap(), self.board.rescue()),
            Recovery::Ns3 => (self.board.next_missing(), None),
            _ => (None, None),
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
        self.timeout_repairs += u32::from(self.phase == Phase::Loss);
        Piece { seq, payload: (end - seq) as u32, again: true }
    }

    #[cold]
    pub(super) fn take_sack(&mut self, blocks: &SackBlocks, transport: &ClosedLoop) {
        match transport.recovery {
            Recovery::Sack | Recovery::Ns3 => {}
            _ => return self.board.take_quietly(blocks),
        }
        self.board.take(blocks, transport.losses.dupthresh);
        if let Some(probe) = self.probe {
            // The probe has arrived, and data sent before it has not.
            if self.board.highest_arrived().is_some_and(|end| end > probe) {
                self.board.lose_to(probe);
            }
        }
    }

    /// Counts acks of nothing new. After enough of them the segment that they ask for is lost, if
    /// something has arrived behind it (RFC 5681, section 3.2).
    #[cold]
    pub(super) fn count_duplicate_acks(&mut self, acked: u64, transport: &ClosedLoop) {
        self.duplicate_acks = if acked > 0 { 0 } else { self.duplicate_acks.saturating_add(1) };
        let enough = self.duplicate_acks >= transport.losses.dupthresh;
        if enough && self.phase == Phase::Open && self.board.has_gap() {
            self.board.lose_head(self.board.nxt);
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
                let always = matches!(transport.recovery, Recovery::DuplicateAcks);
                if ack.acked > 0 && (always || !self.repairs_under_marks) {
                    // The segment that the ack asks for was sent before the recovery began.
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
            Phase::Open | Phase::Recovery | Phase::Loss => {}
            Phase::Connecting | Phase::Reduced | Phase::Own => {}
        }
    }

    #[cold]
    pub(super) fn enter_recovery(&mut self, transport: &ClosedLoop) {
        // A reduction before recovery can only be for a mark.
        self.repairs_under_marks = self.reduction.is_some();
        self.cut_for_loss(transport);
        self.phase = Phase::Recovery;
        self.recover = self.board.nxt;
        self.board.begin_repair();
        self.board.lose_head(self.recover);
        self.at_once = AtOnce::Head;
    }

    /// Cuts the window for a loss, unless a mark has already cut it for the same flight. Data that
    /// is lost during a recovery was sent after that cut.
    pub(super) fn cut_for_loss(&mut self, transport: &ClosedLoop) {
        let is_another = self.phase == Phase::Recovery;
        let is_cut = transport.losses.cut_once && self.board.una < self.window.cut_until;
        if is_another || !is_cut {
            let mut in_flight = self.board.nxt - self.board.una;
            // Data that acks of nothing new have let go (limited transmit) does not count (RFC
            // 5681, section 3.2, step 2). While the first gap stays, its amount grows. After a cut
            // for a mark, the window is no measure of what was in flight.
            if self.phase != Phase::Open || !self.window.holds(self.board.una) {
                in_flight = in_flight.min(self.window.cwnd);
            }
            self.control.on_loss(&mut self.window, in_flight);
            self.window.cwnd = self.window.ssthresh;
            self.window.credit = 0;
            self.tells_cut |= transport.losses.cut_once;
        }
    }

    /// The retransmission timer has expired: everything missing is retransmitted, beginning with a
    /// window of one segment.
    pub(super) fn enter_loss(&mut self, now: Time, transport: &ClosedLoop) {
        // If a segment that was sent again after a timeout is lost again, the window is not cut
        // once more (RFC 5681, section 3.1), except in ns-3. If something has been acknowledged
        // since, it is another segment.
        let is_another = self.rtt.backoff() <= 1 || transport.recovery.is_ns3();
        if self.phase != Phase::Loss || is_another {
            let in_flight = self.in_flight();
            self.control.on_timeout(&mut self.window, in_flight);
        }
        // The packet that announced the cut may be the one that was lost.
        self.tells_cut |= transport.losses.cut_once;
        self.window.cwnd = self.window.mss;
        self.window.credit = 0;
        // The flight for which the mark cut the window is no longer in flight.
        self.window.cut_until = 0;
        self.withheld = 0;
        self.reduction = None;
        self.at_once = AtOnce::Nothing;
        self.phase = Phase::Loss;
        self.recover = self.board.nxt;
        match &mut self.recovery {
            Recovery::Rack(by_rack) => {
                by_rack.on_timeout(now);
                self.at_once = AtOnce::Lost;
            }
            Recovery::PerPriority(by_order) => by_order.on_timeout(),
            _ => self.board.lose_all(),
        }
    }
}

//! A sender whose recovery chooses every segment itself. No loss cuts its window, but a timeout may.

use super::{AckSegment, Piece, Recovery, Sender};
use crate::recovery::{Flight, Own, OwnAck};
use crate::window::{Ack, CongestionControl};
use spillway_engine::Time;

/// The rules of such a sender, and what they see. They are distinct parts of the sender.
macro_rules! own {
    ($sender:ident) => {{
        let Recovery::Own(own) = &mut $sender.recovery else {
            unreachable!("only a sender in this phase is asked")
        };
        let Sender { board, window, size, .. } = $sender;
        let Own { rules, course } = &mut **own;
        (rules, Flight { board, window, size: *size, course })
    }};
}

impl Sender {
    /// Its recovery, if that chooses every segment itself.
    pub(super) fn own(&self) -> Option<&Own> {
        match &self.recovery {
            Recovery::Own(own) => Some(own),
            _ => None,
        }
    }

    /// An ack has arrived.
    pub(super) fn take_ack_by_own(&mut self, now: Time, ack: &AckSegment) {
        let acked = ack.seq.saturating_sub(self.board.una);
        let arrived_before = self.board.arrived();
        if acked > 0 {
            self.board.acknowledge(ack.seq);
        }
        let (rules, mut flight) = own!(self);
        if acked > 0 {
            flight.course.sent_to = flight.course.sent_to.max(ack.seq);
            flight.course.in_a_row = 0;
        }
        if let Some(blocks) = ack.sack.filter(|_| rules.in_order().is_none()) {
            flight.board.take_quietly(blocks);
        }
        let reaction = rules.on_ack(&mut flight, &OwnAck { seq: ack.seq, acked, sack: ack.sack });
        self.rtt.sample(now - ack.sent_at);
        if reaction.tells {
            self.tell_control(&Ack {
                now,
                acked,
                delivered: self.board.arrived() - arrived_before,
                rtt: now - ack.sent_at,
                ece: ack.ece,
                una: self.board.una,
                nxt: self.sent_by_own(),
                may_grow: ack.may_grow,
                in_recovery: false,
                as_ns3: false,
                telemetry: ack.telemetry,
            });
        }
        if reaction.restarts {
            self.set_timer_by_own(now);
        }
    }

    /// Tells the congestion controller of an ack. If it cuts for a mark, the next packet says so.
    fn tell_control(&mut self, ack: &Ack) {
        let before = (self.window.cwnd, self.window.ssthresh);
        let cut_until = self.window.cut_until;
        self.control.on_ack(&mut self.window, ack);
        let is_cut = self.window.cut_until != cut_until || self.window.is_cut_from(before);
        self.tells_cut |= ack.ece && is_cut;
    }

    /// The byte behind everything in flight.
    pub(super) fn sent_by_own(&self) -> u64 {
        self.own().map_or(self.board.nxt, |own| own.course.sent_to)
    }

    /// The most bytes in flight, whatever the window is.
    pub(super) fn most_by_own(&self) -> u64 {
        self.own().map_or(u64::MAX, |own| own.rules.most())
    }

    /// Starts the timer, or stops it if there is nothing to wait for.
    pub(super) fn set_timer_by_own(&mut self, now: Time) {
        let (rules, flight) = own!(self);
        flight.course.since = now;
        self.deadline = rules.rto(&flight).map_or(Time::MAX, |rto| now.saturating_add(rto));
    }

    /// Whether the window allows a segment, whatever the pace is.
    pub(super) fn has_piece_by_own(&mut self) -> bool {
        let (rules, flight) = own!(self);
        rules.next(&flight).is_some()
    }

    /// The next segment, if the window allows one.
    pub(super) fn piece_by_own(&mut self) -> Option<Piece> {
        let (rules, mut flight) = own!(self);
        let Some((seq, end)) = rules.next(&flight) else {
            rules.on_stopped();
            return None;
        };
        rules.on_sent(&mut flight, (seq, end));
        let Flight { board, course, .. } = flight;
        let again = seq < board.nxt;
        board.nxt = board.nxt.max(end);
        course.sent_to = course.sent_to.max(end);
        self.retransmitted_packets += u32::from(again);
        self.timeout_repairs += u32::from(again && course.after_timeout);
        Some(Piece { seq, payload: (end - seq) as u32, again })
    }

    /// The timer has expired. Returns a probe, if that is all that is sent.
    pub(super) fn on_timeout_by_own(&mut self, now: Time) -> Option<Piece> {
        let (rules, mut flight) = own!(self);
        let due = rules.rto(&flight).map_or(now, |rto| flight.course.since.saturating_add(rto));
        if due > now {
            // The timeout is longer than when the timer was set, since more is in flight.
            self.deadline = due;
            return None;
        }
        self.timeouts += 1;
        flight.course.in_a_row += 1;
        flight.course.after_timeout = true;
        let follows = rules.on_timeout(&mut flight);
        self.deadline = Time::MAX;
        if follows.cuts {
            self.control.on_timeout(&mut self.window, 0);
            self.window.cwnd = self.window.mss;
            self.set_timer_by_own(now);
        }
        follows.probes.then_some(Piece { seq: self.board.una, payload: 0, again: false })
    }

    /// Whether the sender leaves out a segment if it has arrived, although it has not been told so.
    pub fn leaves_out(&self, piece: &Piece) -> bool {
        self.own().is_some_and(|own| own.rules.leaves_out(&self.board, &own.course, piece.seq))
    }

    /// A segment that was left out is not sent.
    pub fn count_left_out(&mut self, piece: &Piece) {
        self.retransmitted_packets -= u32::from(piece.again);
        self.timeout_repairs -= u32::from(piece.again);
    }

    /// The bytes of its flow that are left, as a segment states them.
    pub fn remaining(&self, piece: &Piece) -> u64 {
        let stated = |own: &Own| own.rules.remaining(&self.board, piece.seq, self.size);
        self.own().map_or(self.size - piece.seq, stated)
    }
}

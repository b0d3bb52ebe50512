//! A sender that learns of losses by timeouts alone (pFabric).
//!
//! - The window is a range of the flow: it reaches from the first unacknowledged byte as far as
//!   `cwnd` and what has arrived behind it allow.
//! - An ack that moves its beginning lets segments go, and restarts the timer. Any other ack only
//!   reports what has arrived.
//! - A timeout sends the data that the window allows once more, from the window's beginning on. It
//!   leaves out what is known to have arrived. The timeout never changes.
//! - After many timeouts in a row only probes are sent, headers without payload, one for every
//!   timeout, until an ack comes.

use super::{AckSegment, Detector, Piece, Sender};
use crate::Access;
use crate::recovery::{Remaining, Timeouts};
use crate::window::{Ack, CongestionControl};
use spillway_engine::Time;

/// The state of such a sender.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByTimeout {
    settings: Timeouts,
    rto: Time,
    /// The next byte to be sent, for the first time or again.
    position: u64,
    /// Whether an ack or a timeout has let segments go, and the window has not stopped them yet.
    may_send: bool,
    /// Timeouts since the last ack.
    in_a_row: u32,
    is_probing: bool,
}

impl ByTimeout {
    /// The state at the start of a flow.
    pub fn new(settings: Timeouts, access: &Access) -> ByTimeout {
        let rto = settings.rto(access.base_rtt);
        ByTimeout { settings, rto, position: 0, may_send: true, in_a_row: 0, is_probing: false }
    }

    /// Timeouts since the last ack.
    pub fn in_a_row(&self) -> u32 {
        self.in_a_row
    }
}

impl Sender {
    /// Whether the sender leaves out a segment that has arrived, although it has not been told so.
    /// From the second timeout in a row on it sends the first unacknowledged segment in any case,
    /// since that segment's ack may be lost.
    pub fn leaves_out(&self, piece: &Piece) -> bool {
        let is_first = piece.seq == self.board.una;
        let Detector::FixedTimeout(state) = &self.detector else { return false };
        state.settings.knows_receiver && !(is_first && state.in_a_row > 1)
    }

    /// The bytes of its flow that are left, as a segment states them.
    pub fn remaining(&self, piece: &Piece) -> u64 {
        match &self.detector {
            Detector::FixedTimeout(state)
                if state.settings.remaining == Remaining::Unacknowledged =>
            {
                self.size - self.board.arrived()
            }
            _ => self.size - piece.seq,
        }
    }

    /// Starts the timer, if only timeouts show losses.
    pub(super) fn set_timer_by_timeout(&mut self, now: Time) {
        if let Detector::FixedTimeout(state) = &self.detector {
            self.deadline = now + state.rto;
        }
    }

    /// An ack has arrived.
    pub(super) fn take_ack_by_timeout(&mut self, now: Time, ack: &AckSegment) {
        let acked = ack.seq.saturating_sub(self.board.una);
        if acked > 0 {
            self.board.acknowledge(ack.seq);
        }
        if let Some(blocks) = ack.sack {
            self.board.take_quietly(blocks);
        }
        self.rtt.sample(now - ack.sent_at);
        let Detector::FixedTimeout(state) = &mut self.detector else { return };
        state.in_a_row = 0;
        let was_probing = std::mem::take(&mut state.is_probing);
        if acked == 0 && !was_probing {
            return;
        }
        state.may_send = true;
        if self.is_done() {
            self.deadline = Time::MAX;
            return;
        }
        self.set_timer_by_timeout(now);
        if acked > 0 {
            let told = Ack {
                now,
                acked,
                // The controller is not told of data that arrived behind a gap.
                delivered: acked,
                rtt: now - ack.sent_at,
                ece: ack.ece,
                una: self.board.una,
                nxt: self.board.nxt,
                may_grow: ack.may_grow,
                in_recovery: false,
                as_ns3: false,
                telemetry: ack.telemetry,
            };
            self.control.on_ack(&mut self.window, &told);
        }
    }

    /// The next segment that the window allows, if anything has let segments go.
    pub(super) fn piece_by_timeout(&mut self) -> Option<Piece> {
        let window_ends = self.board.una + self.window.cwnd + self.board.sacked_bytes();
        let Detector::FixedTimeout(state) = &mut self.detector else { return None };
        if !state.may_send {
            return None;
        }
        let next = self.board.segment_from(state.position, self.size);
        // A window is counted in full segments.
        let Some((seq, end)) = next.filter(|(seq, _)| seq + self.window.mss <= window_ends) else {
            state.may_send = false;
            return None;
        };
        state.position = end;
        let again = seq < self.board.nxt;
        self.board.nxt = self.board.nxt.max(end);
        Some(Piece { seq, payload: (end - seq) as u32, again })
    }

    /// The timer has expired. Returns a probe, if that is all that is sent.
    pub(super) fn on_timeout_alone(&mut self, now: Time) -> Option<Piece> {
        self.timeouts += 1;
        self.control.on_timeout(&mut self.window, 0);
        self.window.cwnd = self.window.mss;
        self.set_timer_by_timeout(now);
        let seq = self.board.una;
        let Detector::FixedTimeout(state) = &mut self.detector else { return None };
        state.position = seq;
        state.in_a_row += 1;
        state.is_probing = state.settings.probe_after.is_some_and(|after| state.in_a_row >= after);
        state.may_send = !state.is_probing;
        state.is_probing.then_some(Piece { seq, payload: 0, again: false })
    }
}

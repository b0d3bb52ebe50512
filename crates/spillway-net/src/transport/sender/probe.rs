//! Tail loss probes (RFC 8985, section 7): a piece that brings out acks where none come.

use super::{Phase, Piece, Sender, Timer};
use crate::transport::Transport;
use spillway_engine::Time;

impl Sender {
    /// When a probe is due, if that is before the retransmission timeout at `timeout` (RFC 8985,
    /// section 7.2).
    pub(super) fn probe_due(
        &self,
        now: Time,
        timeout: Time,
        transport: &Transport,
    ) -> Option<Time> {
        let by_rack = self.by_rack.is_some();
        if self.probe.is_some() || self.phase != Phase::Open || (by_rack && self.board.has_gap()) {
            return None;
        }
        let smoothed = self.rtt.smoothed();
        let mut due = now + smoothed * 2;
        if by_rack && transport.acks.every > 1 && self.in_flight() <= self.window.mss {
            // The ack of a single segment may be held back.
            due += transport.acks.delay;
        }
        (smoothed > Time::ZERO && due < timeout).then_some(due)
    }

    /// New data if there is any, else the last segment again (RFC 8985, section 7.3).
    pub(super) fn send_probe(&mut self, now: Time, transport: &Transport) -> Piece {
        self.timer = Timer::Retransmission;
        self.deadline = now + self.rtt.timeout(&transport.rto);
        let (nxt, mss) = (self.board.nxt, self.window.mss);
        let again = nxt >= self.size;
        let seq = if again { (nxt - 1) / mss * mss } else { nxt };
        let end = (seq + mss).min(self.size);
        self.board.nxt = nxt.max(end);
        self.retransmitted_packets += u32::from(again);
        self.probe = Some(seq);
        let piece = Piece { seq, payload: (end - seq) as u32, again };
        if let Some(by_rack) = &mut self.by_rack {
            by_rack.on_probe(now, &piece);
        }
        piece
    }
}

//! Tail loss probes (RFC 8985, section 7): a piece that brings out acks where none come.

use super::{Phase, Piece, Sender};
use crate::transport::Transport;
use spillway_engine::Time;

impl Sender {
    /// When a probe is due, if that is before the retransmission timeout at `timeout` (RFC 8985,
    /// section 7.2).
    pub(super) fn probe_due(&self, now: Time, timeout: Time) -> Option<Time> {
        if self.probe.is_some() || self.phase != Phase::Open {
            return None;
        }
        let smoothed = self.rtt.smoothed();
        let due = now + smoothed * 2;
        (smoothed > Time::ZERO && due < timeout).then_some(due)
    }

    /// New data if there is any, else the last segment again (RFC 8985, section 7.3).
    pub(super) fn send_probe(&mut self, now: Time, transport: &Transport) -> Piece {
        self.deadline_is_probe = false;
        self.deadline = now + self.rtt.timeout(&transport.rto);
        let (nxt, mss) = (self.board.nxt, self.window.mss);
        let again = nxt >= self.size;
        let seq = if again { (nxt - 1) / mss * mss } else { nxt };
        let end = (seq + mss).min(self.size);
        self.board.nxt = nxt.max(end);
        self.retransmitted_packets += u32::from(again);
        self.probe = Some(seq);
        Piece { seq, payload: (end - seq) as u32, again }
    }
}

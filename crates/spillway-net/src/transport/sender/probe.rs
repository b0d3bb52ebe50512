//! Tail loss probes (RFC 8985, section 7): a piece that brings out acks where none come.

use super::{Phase, Piece, Sender};
use crate::transport::ClosedLoop;
use spillway_engine::Time;

impl Sender {
    /// When a probe is due, if that is before the retransmission timeout at `timeout`, and losses are not
    /// found by time.
    pub(super) fn probe_due(&self, now: Time, timeout: Time) -> Option<Time> {
        let smoothed = self.rtt.smoothed();
        let due = now + smoothed * 2;
        (self.may_probe() && smoothed > Time::ZERO && due < timeout).then_some(due)
    }

    /// Whether there is no probe out and no repair.
    pub(super) fn may_probe(&self) -> bool {
        self.probe.is_none() && self.phase == Phase::Open
    }

    /// How long to wait for a probe, where the ack of a single segment may be held back so long (RFC 8985,
    /// section 7.2).
    pub(super) fn probe_timeout(&self, held_back: Time) -> Time {
        let smoothed = self.rtt.smoothed();
        if smoothed == Time::ZERO {
            return WITHOUT_A_SAMPLE;
        }
        let is_single = self.in_flight() <= self.window.mss;
        smoothed * 2 + if is_single { held_back } else { Time::ZERO }
    }

    /// New data if there is any, else the last segment again (RFC 8985, section 7.3).
    pub(super) fn send_probe(&mut self, now: Time, transport: &ClosedLoop) -> Piece {
        self.restart_timer(now, transport);
        let (nxt, mss) = (self.board.nxt, self.window.mss);
        let again = nxt >= self.size;
        let seq = if again { (nxt - 1) / mss * mss } else { nxt };
        let end = (seq + mss).min(self.size);
        self.board.nxt = nxt.max(end);
        self.retransmitted_packets += u32::from(again);
        self.probe = Some(seq);
        let piece = Piece { seq, payload: (end - seq) as u32, again };
        if let Some(by_rack) = &mut self.by_rack {
            by_rack.on_sent(now, &piece);
        }
        piece
    }
}

/// How long to wait for a probe before there is a round trip.
const WITHOUT_A_SAMPLE: Time = Time::from_ms(1_000);

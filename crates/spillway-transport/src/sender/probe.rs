//! Tail-loss probes (RFC 8985, section 7): a segment sent to provoke an ack when none comes.

use super::{Phase, Piece, Recovery, Sender};
use crate::ClosedLoop;
use spillway_engine::Time;

impl Sender {
    /// When a probe is due, for loss detection other than by time. `None` if the retransmission
    /// timeout comes first.
    pub(super) fn probe_due(&self, now: Time, timeout: Time) -> Option<Time> {
        let smoothed = self.rtt.smoothed();
        let due = now + smoothed * 2;
        (self.may_probe() && smoothed > Time::ZERO && due < timeout).then_some(due)
    }

    /// Whether no probe is under way and nothing is being retransmitted.
    pub(super) fn may_probe(&self) -> bool {
        self.probe.is_none() && self.phase == Phase::Open
    }

    /// How long to wait before a probe, if the ack of a single segment may be delayed by
    /// `held_back` (RFC 8985, section 7.2).
    pub(super) fn probe_timeout(&self, held_back: Time) -> Time {
        let smoothed = self.rtt.smoothed();
        if smoothed == Time::ZERO {
            return WITHOUT_A_SAMPLE;
        }
        let is_single = self.in_flight() <= self.window.mss;
        smoothed * 2 + if is_single { held_back } else { Time::ZERO }
    }

    /// Sends new data if there is any, else the last segment again (RFC 8985, section 7.3).
    pub(super) fn send_probe(&mut self, now: Time, transport: &ClosedLoop) -> Piece {
        self.probes += 1;
        let replaces_timeout =
            matches!(&self.recovery, Recovery::Rack(by_rack) if now >= by_rack.timeout_at);
        self.probes_for_timeouts += u32::from(replaces_timeout);
        self.restart_timer(now, transport);
        let (nxt, mss) = (self.board.nxt, self.window.mss);
        let again = nxt >= self.size;
        let seq = if again { (nxt - 1) / mss * mss } else { nxt };
        let end = (seq + mss).min(self.size);
        self.board.nxt = nxt.max(end);
        self.retransmitted_packets += u32::from(again);
        self.probe = Some(seq);
        let piece = Piece { seq, payload: (end - seq) as u32, again };
        if let Recovery::Rack(by_rack) = &mut self.recovery {
            by_rack.rack.on_sent(now, piece.range());
        }
        piece
    }
}

/// How long to wait before a probe if no round trip has been measured.
const WITHOUT_A_SAMPLE: Time = Time::from_ms(1_000);

//! Losses found by time (RFC 8985): what a sender asks [`Rack`], and what it does with the answers.

use super::{AckSegment, AtOnce, Phase, Piece, Sender, Timer};
use crate::transport::Transport;
use crate::transport::rack::{Found, Rack, RackAck};
use crate::transport::reduction::ReductionRule;
use spillway_engine::Time;

/// What only a sender has that finds losses by time.
#[derive(Debug)]
pub struct ByRack {
    rack: Rack,
    /// When the window was cut last for a loss.
    cut_at: Time,
    /// Until when something is in doubt; [`Time::MAX`] if nothing is.
    doubtful_until: Time,
    /// Whether the probe that is out was sent before.
    probe_is_again: bool,
}

impl ByRack {
    /// At the start of a flow, in segments of `mss` bytes.
    pub fn new(mss: u64) -> ByRack {
        ByRack {
            rack: Rack::new(mss),
            cut_at: Time::ZERO,
            doubtful_until: Time::MAX,
            probe_is_again: false,
        }
    }

    /// A piece goes out.
    #[cold]
    pub fn on_sent(&mut self, now: Time, piece: &Piece) {
        self.rack.on_sent(now, (piece.seq, piece.seq + u64::from(piece.payload)));
    }

    /// What went out last, new data, did not after all.
    pub fn take_back(&mut self, seq: u64) {
        self.rack.take_back(seq);
    }

    /// A probe goes out.
    #[cold]
    pub fn on_probe(&mut self, now: Time, piece: &Piece) {
        self.on_sent(now, piece);
        self.probe_is_again = piece.again;
    }

    /// The first segment that is lost.
    pub fn next_lost(&self) -> Option<(u64, u64)> {
        self.rack.next_lost()
    }

    /// Bytes that are lost and have not been sent again.
    pub fn lost_bytes(&self) -> u64 {
        self.rack.lost_bytes()
    }

    /// Until when something is in doubt; [`Time::MAX`] if nothing is.
    pub fn doubtful_until(&self) -> Time {
        self.doubtful_until
    }

    /// The retransmission timer has run out.
    pub fn on_timeout(&mut self, now: Time) {
        self.rack.on_timeout(now);
        self.cut_at = now;
        self.doubtful_until = Time::MAX;
    }
}

impl Sender {
    /// A piece goes out.
    #[cold]
    pub(super) fn note_sent(&mut self, now: Time, piece: &Piece) {
        if let Some(by_rack) = &mut self.by_rack {
            by_rack.on_sent(now, piece);
        }
    }

    /// An ack has come, of which nothing has been noted yet: what it tells of each segment.
    #[cold]
    pub(super) fn note_times(&mut self, now: Time, ack: &AckSegment, transport: &Transport) {
        let told = self.rack_ack(now, ack);
        let una = ack.seq.max(self.board.una);
        if let Some(by_rack) = &mut self.by_rack {
            // The latest comes first in an ack. What one ack tells is taken in as it was sent: that is
            // no reordering.
            let mut blocks = ack.sack.copied().unwrap_or_default();
            blocks.sort_unstable();
            let newly = blocks.iter().flat_map(|&block| self.board.newly_told(block, una));
            by_rack.rack.on_ack(&told, una, newly);
        }
        self.process_probe(&told, una, transport);
    }

    fn rack_ack(&self, now: Time, ack: &AckSegment) -> RackAck {
        RackAck {
            now,
            sent_at: ack.sent_at,
            // Before there is one it bounds nothing.
            smoothed: match self.rtt.smoothed() {
                Time::ZERO => Time::MAX,
                smoothed => smoothed,
            },
            is_duplicate: tells_duplicate(ack),
        }
    }

    /// A probe that was the last segment again has come through. If what it repeats had not arrived, and
    /// more has since, that was a loss (RFC 8985, section 7.4.2).
    fn process_probe(&mut self, ack: &RackAck, una: u64, transport: &Transport) {
        let (Some(probe), Some(by_rack)) = (self.probe, &self.by_rack) else { return };
        let end = (probe + self.window.mss).min(self.board.nxt);
        if una < end {
            return;
        }
        if !by_rack.probe_is_again || ack.is_duplicate {
            self.probe = None;
        } else if una > end {
            self.probe = None;
            if self.phase == Phase::Open {
                self.cut_for_loss(transport);
            }
        }
    }

    /// An ack has been taken in: what is lost now.
    #[cold]
    pub(super) fn advance_by_rack(&mut self, now: Time, ack: &AckSegment, transport: &Transport) {
        let repairs = matches!(self.phase, Phase::Recovery | Phase::Loss);
        let ends_repair = repairs && self.board.una >= self.recover;
        if ends_repair {
            if self.phase == Phase::Recovery {
                self.window.cwnd = self.window.ssthresh;
            }
            self.phase = Phase::Open;
        }
        let told = self.rack_ack(now, ack);
        // The last segment may be a short one.
        let sacked = self.board.sacked_bytes().div_ceil(self.window.mss);
        let has_dupthresh = sacked >= transport.losses.dupthresh.into();
        let Some(by_rack) = &mut self.by_rack else { return };
        let sent = (self.board.una, self.board.nxt);
        let phase = (repairs && !ends_repair, ends_repair);
        by_rack.rack.update_window(&told, sent, phase, has_dupthresh);
        self.find_by_time(now, transport);
    }

    /// The reordering timer has run out.
    #[cold]
    pub(super) fn on_reordering_timer(&mut self, now: Time, transport: &Transport) {
        self.find_by_time(now, transport);
        self.set_deadline(now, transport);
    }

    fn find_by_time(&mut self, now: Time, transport: &Transport) {
        let Some(by_rack) = &mut self.by_rack else { return };
        let found = by_rack.rack.detect(now);
        by_rack.doubtful_until = match found.wait {
            Time::ZERO => Time::MAX,
            wait => now + wait,
        };
        let cuts = found.any
            && match self.phase {
                Phase::Open => true,
                Phase::Recovery | Phase::Loss => is_another_loss(&found, by_rack.cut_at, transport),
                Phase::Connecting | Phase::Reduced => false,
            };
        if !cuts {
            return;
        }
        by_rack.cut_at = now;
        let cwnd = self.window.cwnd;
        self.cut_for_loss(transport);
        if self.phase == Phase::Open {
            self.phase = Phase::Recovery;
            self.recover = self.board.nxt;
            self.at_once = AtOnce::Lost;
        } else {
            self.window.cwnd = self.window.cwnd.min(cwnd);
        }
    }
}

/// A repair that is lost is a loss of another window, once for all that was sent after a cut. A window
/// that is reached by and by counts it as it goes on (RFC 8985, section 6.2, step 5).
fn is_another_loss(found: &Found, cut_at: Time, transport: &Transport) -> bool {
    transport.losses.reduction == ReductionRule::AtOnce
        && found.repair_sent_at.is_some_and(|at| at >= cut_at)
}

/// Whether the first range of an ack tells of data that has arrived twice (RFC 2883): what is acknowledged
/// cumulatively too, or lies in the next range.
fn tells_duplicate(ack: &AckSegment) -> bool {
    let Some(&[(start, end), (next_start, next_end), _]) = ack.sack else { return false };
    start < end && (end <= ack.seq || (next_start <= start && end <= next_end))
}

impl Timer {
    /// Which timer runs and until when: the reordering timer goes before the others (RFC 8985, section 8).
    pub(super) fn first(sender: &Sender, timeout: Time) -> Option<(Time, Timer)> {
        let by_rack = sender.by_rack.as_ref()?;
        let due = by_rack.doubtful_until();
        (due < timeout).then_some((due, Timer::Reordering))
    }
}

//! When a sender consults RACK, and how it acts on the answers.

use super::{AckSegment, Phase, Piece, Sender, Timer};
use crate::ClosedLoop;
use crate::recovery::{RackAck, Recovery};
use spillway_engine::Time;

impl Sender {
    /// Notes when a segment is sent.
    #[cold]
    pub(super) fn keep_time_of(&mut self, now: Time, piece: &Piece) {
        let Recovery::Rack(by_rack) = &mut self.recovery else { return };
        by_rack.rack.on_sent(now, piece.range());
        if !piece.again {
            by_rack.progress_at = now;
            self.choose_timer();
        }
    }

    /// Called before an ack is handled. Takes from it what it says about each segment.
    #[cold]
    pub(super) fn note_times(&mut self, now: Time, ack: &AckSegment) {
        let told = self.rack_ack(now, ack);
        let una = ack.seq.max(self.board.una);
        if let Recovery::Rack(by_rack) = &mut self.recovery {
            // An ack lists the latest range first. Its ranges are handled in the order of sequence
            // numbers, so that this does not look like reordering.
            let mut blocks = ack.sack.copied().unwrap_or_default();
            blocks.sort_unstable();
            let newly = blocks.iter().flat_map(|&block| self.board.newly_told(block, una));
            by_rack.rack.on_ack(&told, una, newly);
        }
        // A probe that retransmits the last segment is the last packet of the flow. So the rule of
        // section 7.4.2 for acks after it is not needed.
        if self.probe.is_some_and(|probe| una >= (probe + self.window.mss).min(self.board.nxt)) {
            self.probe = None;
        }
    }

    fn rack_ack(&self, now: Time, ack: &AckSegment) -> RackAck {
        RackAck {
            now,
            sent_at: ack.sent_at,
            // No bound before the first sample.
            smoothed: match self.rtt.smoothed() {
                Time::ZERO => Time::MAX,
                smoothed => smoothed,
            },
            is_duplicate: tells_duplicate(ack),
        }
    }

    /// Called after an ack has been handled that delivers `newly` bytes. Finds what is lost now.
    /// Returns whether anything is.
    #[cold]
    pub(super) fn advance_by_rack(
        &mut self,
        (now, newly): (Time, u64),
        ack: &AckSegment,
        transport: &ClosedLoop,
    ) -> bool {
        let (repairs, ends_repair) = self.end_repair_of_each();
        let told = self.rack_ack(now, ack);
        // Rounded up, since the last segment may be short.
        let sacked = self.board.sacked_bytes().div_ceil(self.window.mss);
        let has_dupthresh = sacked >= transport.losses.dupthresh.into();
        let Recovery::Rack(by_rack) = &mut self.recovery else { return false };
        let sent = (self.board.una, self.board.nxt);
        let phase = (repairs && !ends_repair, ends_repair);
        by_rack.rack.update_window(&told, sent, phase, has_dupthresh);
        let finds = self.find_by_time(now, newly, transport);
        if ends_repair && self.phase == Phase::Open && self.next_lost().is_some() {
            self.repair_the_rest();
        }
        finds
    }

    fn note_cut(&mut self, now: Time) {
        if let Recovery::Rack(by_rack) = &mut self.recovery {
            by_rack.cut_at = now;
        }
    }

    /// The reordering timer has expired.
    #[cold]
    pub(super) fn on_reordering_timer(&mut self, now: Time, transport: &ClosedLoop) {
        self.find_by_time(now, 0, transport);
        self.choose_timer();
    }

    /// Sets the timers after an ack, or when there is something to wait for again. Only an ack of
    /// new data restarts the retransmission timer (RFC 6298, rule 5.3) and the wait for a probe
    /// (RFC 8985, section 7.2).
    #[cold]
    pub(super) fn set_timers(&mut self, now: Time, moves_on: bool, transport: &ClosedLoop) {
        if moves_on && let Recovery::Rack(by_rack) = &mut self.recovery {
            by_rack.timeout_at = now + self.rtt.timeout(&transport.rto);
            by_rack.progress_at = now;
        }
        self.choose_timer();
    }

    /// Chooses the timer that runs: the reordering timer comes before the others (section 8), and a
    /// probe is due no later than the retransmission timeout (section 7.2).
    fn choose_timer(&mut self) {
        let Recovery::Rack(by_rack) = &self.recovery else { return };
        let timeout_at = by_rack.timeout_at;
        (self.deadline, self.timer) = if by_rack.doubtful_until < timeout_at {
            (by_rack.doubtful_until, Timer::Reordering)
        } else if let Some(held_back) = by_rack.probes
            && self.may_probe()
            && !self.board.has_gap()
        {
            let due = by_rack.progress_at + self.probe_timeout(held_back);
            (due.min(timeout_at), Timer::Probe)
        } else {
            (timeout_at, Timer::Retransmission)
        };
    }

    /// A packet that was sent then has arrived, and tells of no segment. Finds what is lost.
    #[cold]
    pub(super) fn take_echo(&mut self, now: Time, sent_at: Time, transport: &ClosedLoop) {
        if let Recovery::Rack(by_rack) = &mut self.recovery {
            by_rack.rack.on_arrival(now, sent_at);
        }
        self.on_reordering_timer(now, transport);
    }

    fn find_by_time(&mut self, now: Time, newly: u64, transport: &ClosedLoop) -> bool {
        let Recovery::Rack(by_rack) = &mut self.recovery else { return false };
        let found = by_rack.rack.detect(now);
        by_rack.doubtful_until = match found.wait {
            Time::ZERO => Time::MAX,
            wait => now + wait,
        };
        let of_new_window = found.sent_at >= by_rack.cut_at;
        if found.any && self.react_to_losses(of_new_window, newly, transport) {
            self.note_cut(now);
        }
        found.any
    }
}

/// Whether the first range of an ack reports data that has arrived twice (RFC 2883): it is also
/// acknowledged cumulatively, or lies within the next range.
fn tells_duplicate(ack: &AckSegment) -> bool {
    let Some(&[(start, end), (next_start, next_end), _]) = ack.sack else { return false };
    start < end && (end <= ack.seq || (next_start <= start && end <= next_end))
}

//! Losses found by time (RFC 8985): when a sender consults [`Rack`], and how it acts on the
//! answers.

use super::{AckSegment, Detector, Phase, Piece, Sender, Timer};
use crate::ClosedLoop;
use crate::recovery::rack::{Rack, RackAck};
use spillway_engine::Time;

/// The state of a sender that finds losses by time.
#[derive(Clone, Debug)]
pub(super) struct ByRack {
    rack: Rack,
    /// When a loss last cut the window.
    cut_at: Time,
    /// When the segments in doubt will be lost; [`Time::MAX`] if none are in doubt.
    doubtful_until: Time,
    /// When the retransmission timeout expires, whichever timer runs.
    timeout_at: Time,
    /// If probes are sent, the longest time for which the ack of a single segment may be delayed.
    probes: Option<Time>,
    /// When new data was last sent or acknowledged. The wait for a probe begins then.
    progress_at: Time,
}

impl ByRack {
    /// The state of a flow that starts.
    pub fn new(mss: u64, transport: &ClosedLoop) -> ByRack {
        let held_back = match transport.acks.every {
            1 => Time::ZERO,
            _ => transport.acks.delay,
        };
        ByRack {
            rack: Rack::new(mss),
            probes: transport.losses.tail_loss_probe.then_some(held_back),
            cut_at: Time::ZERO,
            doubtful_until: Time::MAX,
            timeout_at: Time::MAX,
            progress_at: Time::ZERO,
        }
    }

    /// A segment is sent.
    #[cold]
    pub fn on_sent(&mut self, now: Time, piece: &Piece) {
        self.rack.on_sent(now, (piece.seq, piece.seq + u64::from(piece.payload)));
    }

    /// The last new segment was not sent after all.
    pub fn take_back(&mut self, seq: u64) {
        self.rack.take_back(seq);
    }

    /// The first segment that is lost.
    pub fn next_lost(&self) -> Option<(u64, u64)> {
        self.rack.next_lost()
    }

    /// Bytes that are lost and have not been retransmitted.
    pub fn lost_bytes(&self) -> u64 {
        self.rack.lost_bytes()
    }

    /// The retransmission timer is restarted.
    pub fn restart(&mut self, timeout_at: Time) {
        self.timeout_at = timeout_at;
    }

    /// Whether the retransmission timeout is due.
    pub fn has_timed_out(&self, now: Time) -> bool {
        now >= self.timeout_at
    }

    /// The retransmission timer has expired.
    pub fn on_timeout(&mut self, now: Time) {
        self.rack.on_timeout(now);
        self.cut_at = now;
        self.doubtful_until = Time::MAX;
    }
}

impl Sender {
    /// Notes when a segment is sent.
    #[cold]
    pub(super) fn keep_time_of(&mut self, now: Time, piece: &Piece) {
        let Detector::Rack(by_rack) = &mut self.detector else { return };
        by_rack.on_sent(now, piece);
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
        if let Detector::Rack(by_rack) = &mut self.detector {
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
        let Detector::Rack(by_rack) = &mut self.detector else { return false };
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
        if let Detector::Rack(by_rack) = &mut self.detector {
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
        if moves_on && let Detector::Rack(by_rack) = &mut self.detector {
            by_rack.timeout_at = now + self.rtt.timeout(&transport.rto);
            by_rack.progress_at = now;
        }
        self.choose_timer();
    }

    /// Chooses the timer that runs: the reordering timer comes before the others (section 8), and a
    /// probe is due no later than the retransmission timeout (section 7.2).
    fn choose_timer(&mut self) {
        let Detector::Rack(by_rack) = &self.detector else { return };
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

    fn find_by_time(&mut self, now: Time, newly: u64, transport: &ClosedLoop) -> bool {
        let Detector::Rack(by_rack) = &mut self.detector else { return false };
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

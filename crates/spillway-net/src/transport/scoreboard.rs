//! What a sender has sent, and what became of it as far as acks tell.
//!
//! Loss is found by selective acks, as in RFC 6675: data is lost when more than (`dupthresh` - 1)
//! segments' worth of bytes behind it have been acknowledged. Segments start at multiples of the
//! payload's size, so what is lost is repaired segment by segment.

use super::ranges::{Range, Ranges};
use super::receiver::SackBlocks;

/// What has been sent: where it begins and ends, which of it has arrived, is lost, or was sent again.
/// What every ack needs comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Scoreboard {
    /// The first byte not acknowledged (HighACK + 1).
    pub una: u64,
    /// The next byte to be sent for the first time (HighData + 1).
    pub nxt: u64,
    /// Payload of a full segment.
    mss: u64,
    /// What has arrived behind a gap.
    sacked: Ranges,
    /// Unacknowledged data before this is lost.
    lost_to: u64,
    /// Lost data before this has been sent again (HighRxt + 1).
    repaired_to: u64,
}

impl Scoreboard {
    /// Before anything is sent in segments of `mss` bytes.
    pub fn new(mss: u64) -> Scoreboard {
        Scoreboard { una: 0, nxt: 0, mss, sacked: Ranges::default(), lost_to: 0, repaired_to: 0 }
    }

    /// Whether something has arrived behind a gap.
    #[inline]
    pub fn has_gap(&self) -> bool {
        !self.sacked.is_empty()
    }

    /// Bytes that the receiver is known to have.
    pub fn arrived(&self) -> u64 {
        self.una + self.sacked.bytes()
    }

    /// Where the last range that has arrived ends, if there is a gap.
    pub fn highest_arrived(&self) -> Option<u64> {
        self.sacked.as_slice().last().map(|&(_, end)| end)
    }

    /// Bytes in flight ("pipe"): sent, not acknowledged cumulatively or selectively, and not lost
    /// unless sent again.
    pub fn pipe(&self) -> u64 {
        let lost = self.sacked.missing_between(self.repaired_to.max(self.una), self.lost_to);
        self.nxt - self.una - self.sacked.bytes() - lost
    }

    /// Everything before `seq` is acknowledged.
    #[inline]
    pub fn acknowledge(&mut self, seq: u64) {
        self.una = seq;
        if self.has_gap() {
            self.sacked.remove_below(seq);
        }
    }

    /// Takes in the ranges that an ack tells, and what they tell to be lost.
    #[cold]
    pub fn take(&mut self, blocks: &SackBlocks, dupthresh: u32) {
        for &(start, end) in blocks {
            if end > self.una {
                self.sacked.insert((start.max(self.una), end));
            }
        }
        // Lost is what lies before `dupthresh` ranges or the bytes of as many segments, less one.
        let enough = u64::from(dupthresh - 1) * self.mss;
        let (mut bytes, mut ranges) = (0, 0);
        for &(start, end) in self.sacked.as_slice().iter().rev() {
            bytes += end - start;
            ranges += 1;
            if bytes > enough || ranges >= dupthresh {
                self.lose_to(start);
                break;
            }
        }
    }

    /// Whether the first segment not acknowledged is known to be lost.
    pub fn is_head_lost(&self) -> bool {
        self.has_gap() && self.lost_to > self.una
    }

    /// Everything before `seq` that has not arrived is lost.
    pub fn lose_to(&mut self, seq: u64) {
        self.lost_to = self.lost_to.max(seq);
    }

    /// The first segment not acknowledged is lost, as far as it was sent before `end`.
    pub fn lose_head(&mut self, end: u64) {
        self.lose_to((self.una + self.mss).min(end));
    }

    /// Everything that has not arrived is lost, and nothing of it has been sent again.
    pub fn lose_all(&mut self) {
        self.lost_to = self.nxt;
        self.begin_repair();
    }

    /// A repair begins: nothing that is lost has been sent again.
    pub fn begin_repair(&mut self) {
        self.repaired_to = self.una;
    }

    /// Whether the first segment not acknowledged has been sent again.
    pub fn is_head_repaired(&self) -> bool {
        self.repaired_to > self.una
    }

    /// The next lost segment that has not been sent again, or what is left of it.
    #[inline]
    pub fn next_lost(&self) -> Option<Range> {
        let (seq, gap_ends) = self.sacked.gap_from(self.repaired_to.max(self.una));
        (seq < self.lost_to).then(|| (seq, self.segment_end(seq, gap_ends)))
    }

    /// A repair up to `end` goes out.
    pub fn repaired(&mut self, end: u64) {
        self.repaired_to = end;
    }

    fn segment_end(&self, seq: u64, gap_ends: Option<u64>) -> u64 {
        let segment_ends = (seq / self.mss + 1) * self.mss;
        segment_ends.min(gap_ends.unwrap_or(self.nxt)).min(self.nxt)
    }
}

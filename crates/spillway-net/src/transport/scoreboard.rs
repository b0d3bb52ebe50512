//! What a sender has sent, and what became of it as far as selective acks tell: the scoreboard of
//! RFC 6675 (E. Blanton et al., "A Conservative Loss Recovery Algorithm Based on Selective
//! Acknowledgment (SACK) for TCP", 2012), section 4.
//!
//! What the RFC says of octets is said here of ranges: an octet that is lost has only lost ones
//! before it, and HighRxt is one bound. Segments start at multiples of the payload's size, so what is
//! lost is repaired segment by segment.

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
    /// What is missing before this has been sent again (HighRxt + 1).
    repaired_to: u64,
    /// The segment at the end has been sent again for what is missing before this (RescueRxt + 1).
    rescued_to: u64,
}

impl Scoreboard {
    /// Before anything is sent in segments of `mss` bytes.
    pub fn new(mss: u64) -> Scoreboard {
        let sacked = Ranges::default();
        Scoreboard { una: 0, nxt: 0, mss, sacked, lost_to: 0, repaired_to: 0, rescued_to: 0 }
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

    /// Bytes that have arrived behind a gap.
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked.bytes()
    }

    /// The parts of a range behind `una` that were not known to have arrived.
    pub fn newly_told(&self, (start, end): Range, una: u64) -> impl Iterator<Item = Range> {
        let mut from = start.max(una);
        std::iter::from_fn(move || {
            let (gap, gap_ends) = self.sacked.gap_from(from);
            let gap_ends = gap_ends.unwrap_or(end).min(end);
            from = gap_ends;
            (gap < gap_ends).then_some((gap, gap_ends))
        })
    }

    /// Takes in the ranges that an ack tells, nothing of which tells a loss.
    pub fn take_quietly(&mut self, blocks: &SackBlocks) {
        for &(start, end) in blocks {
            if end > self.una {
                self.sacked.insert((start.max(self.una), end));
            }
        }
    }

    /// Where the last range that has arrived ends, if there is a gap.
    pub fn highest_arrived(&self) -> Option<u64> {
        self.sacked.as_slice().last().map(|&(_, end)| end)
    }

    /// Bytes that were sent and are not known to have arrived.
    pub fn missing(&self) -> u64 {
        self.nxt - self.una - self.sacked.bytes()
    }

    /// Bytes in flight: of what has not arrived each byte counts once if it is not lost, and once if
    /// it has been sent again (SetPipe).
    pub fn pipe(&self) -> u64 {
        let repaired_to = self.repaired_to.max(self.una);
        let missing = self.missing();
        if repaired_to <= self.lost_to {
            missing - self.sacked.missing_between(repaired_to, self.lost_to)
        } else {
            missing + self.sacked.missing_between(self.lost_to.max(self.una), repaired_to)
        }
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
        self.take_quietly(blocks);
        // Lost is what lies before `dupthresh` ranges, or before more bytes than one segment less has
        // (IsLost).
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

    /// A repair begins: nothing has been sent again, and until its first segment is acknowledged the
    /// one at the end is not (section 5, step 4.3).
    pub fn begin_repair(&mut self) {
        self.repaired_to = self.una;
        self.rescued_to = self.segment_end(self.una, None);
    }

    /// The repair is over: what is missing now has not been sent again by another (step 3.1).
    pub fn end_repair(&mut self) {
        self.repaired_to = self.una;
    }

    /// A repair begins, in which what was sent again in an earlier one is not sent once more.
    pub fn resume_repair(&mut self) {
        self.repaired_to = self.repaired_to.max(self.una);
    }

    /// The first segment not acknowledged.
    pub fn head(&self) -> Range {
        let gap_ends = self.sacked.as_slice().first().map(|&(start, _)| start);
        (self.una, self.segment_end(self.una, gap_ends))
    }

    /// Whether the first segment not acknowledged has been sent again.
    pub fn is_head_repaired(&self) -> bool {
        self.repaired_to > self.una
    }

    /// The next lost segment that has not been sent again, or what is left of it (NextSeg, rule 1).
    #[inline]
    pub fn next_lost(&self) -> Option<Range> {
        let (seq, gap_ends) = self.sacked.gap_from(self.repaired_to.max(self.una));
        (seq < self.lost_to).then(|| (seq, self.segment_end(seq, gap_ends)))
    }

    /// The next segment that has not been sent again and behind which something has arrived, though not
    /// enough to call it lost (NextSeg, rule 3).
    pub fn next_gap(&self) -> Option<Range> {
        let (seq, gap_ends) = self.sacked.gap_from(self.repaired_to.max(self.una));
        gap_ends.map(|_| (seq, self.segment_end(seq, gap_ends)))
    }

    /// The next segment that has neither arrived nor been sent again, lost or not.
    pub fn next_missing(&self) -> Option<Range> {
        let (seq, gap_ends) = self.sacked.gap_from(self.repaired_to.max(self.una));
        (seq < self.nxt).then(|| (seq, self.segment_end(seq, gap_ends)))
    }

    /// The last segment that is missing: to be sent once in a repair, and not before the first segment of
    /// that is acknowledged (NextSeg, rule 4).
    pub fn rescue(&self) -> Option<Range> {
        if self.una <= self.rescued_to {
            return None;
        }
        let ranges = self.sacked.as_slice();
        let end = match ranges.last() {
            Some(&(start, end)) if end == self.nxt => start,
            _ => self.nxt,
        };
        let before = ranges.iter().rev().map(|&(_, end)| end).find(|&before| before < end);
        Some((((end - 1) / self.mss * self.mss).max(before.unwrap_or(self.una)), end))
    }

    /// The last segment goes out again in a repair that ends at `recover`.
    pub fn rescued(&mut self, recover: u64) {
        self.rescued_to = recover;
    }

    /// A repair up to `end` goes out.
    pub fn repaired(&mut self, end: u64) {
        self.repaired_to = self.repaired_to.max(end);
    }

    fn segment_end(&self, seq: u64, gap_ends: Option<u64>) -> u64 {
        let segment_ends = (seq / self.mss + 1) * self.mss;
        segment_ends.min(gap_ends.unwrap_or(self.nxt)).min(self.nxt)
    }
}

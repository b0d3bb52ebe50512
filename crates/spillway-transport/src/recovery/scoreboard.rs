//! What a sender has sent, and what selective acks have reported about it: the scoreboard of RFC
//! 6675 (E. Blanton et al., "A Conservative Loss Recovery Algorithm Based on Selective
//! Acknowledgment (SACK) for TCP", 2012), section 4.
//!
//! The RFC keeps its state per octet; here a few bounds suffice. All missing octets before a lost
//! one are lost too, and HighRxt is one number. Segments start at multiples of the full payload, so
//! lost data is retransmitted segment by segment.

use crate::ranges::{Range, Ranges};
use crate::receiver::SackBlocks;

/// The data sent so far: its bounds, and what of it has arrived, is lost or was retransmitted.
/// Fields that every ack needs come first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Scoreboard {
    /// The first byte not acknowledged (HighACK + 1).
    pub una: u64,
    /// The next byte to be sent for the first time (HighData + 1).
    pub nxt: u64,
    /// Payload of a full segment.
    mss: u64,
    /// Ranges that have arrived behind a gap.
    sacked: Ranges,
    /// Unacknowledged data before this is lost.
    lost_to: u64,
    /// Missing data before this has been retransmitted (HighRxt + 1).
    repaired_to: u64,
    /// No rescue retransmission is sent before data behind this is acknowledged (RescueRxt + 1).
    rescued_to: u64,
}

impl Scoreboard {
    /// The state before anything is sent, in segments of `mss` bytes.
    pub fn new(mss: u64) -> Scoreboard {
        let sacked = Ranges::default();
        Scoreboard { una: 0, nxt: 0, mss, sacked, lost_to: 0, repaired_to: 0, rescued_to: 0 }
    }

    /// Everything is acknowledged. The next byte to be sent begins a segment: leaves out the rest
    /// of a short one, forgets all about earlier ones, and returns the byte's number.
    pub fn begin_segment(&mut self) -> u64 {
        debug_assert_eq!(self.una, self.nxt, "something is still to be acknowledged");
        let first = self.nxt.next_multiple_of(self.mss);
        *self = Scoreboard { una: first, nxt: first, ..Scoreboard::new(self.mss) };
        first
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

    /// The ranges that have arrived behind a gap, in increasing order.
    pub fn sacked(&self) -> &[Range] {
        self.sacked.as_slice()
    }

    /// Bytes that have arrived behind a gap.
    pub fn sacked_bytes(&self) -> u64 {
        self.sacked.bytes()
    }

    /// The parts of a range, as far as it lies behind `una`, that were not known to have arrived.
    pub fn newly_told(&self, (start, end): Range, una: u64) -> impl Iterator<Item = Range> {
        let mut from = start.max(una);
        std::iter::from_fn(move || {
            let (gap, gap_ends) = self.sacked.gap_from(from);
            let gap_ends = gap_ends.unwrap_or(end).min(end);
            from = gap_ends;
            (gap < gap_ends).then_some((gap, gap_ends))
        })
    }

    /// Adds the ranges that an ack reports, without inferring losses from them.
    pub fn take_quietly(&mut self, blocks: &SackBlocks) {
        for &(start, end) in blocks {
            if end > self.una {
                self.sacked.insert((start.max(self.una), end));
            }
        }
    }

    /// The end of the last range that has arrived behind a gap.
    pub fn highest_arrived(&self) -> Option<u64> {
        self.sacked.as_slice().last().map(|&(_, end)| end)
    }

    /// Bytes that were sent and are not known to have arrived.
    pub fn missing(&self) -> u64 {
        self.nxt - self.una - self.sacked.bytes()
    }

    /// Bytes in flight (SetPipe): each missing byte counts once if it is not lost, and once more if
    /// it has been retransmitted.
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

    /// Adds the ranges that an ack reports, and infers losses from them.
    #[cold]
    pub fn take(&mut self, blocks: &SackBlocks, dupthresh: u32) {
        self.take_quietly(blocks);
        self.infer_losses(dupthresh);
    }

    /// Infers losses from what has arrived behind gaps.
    pub fn infer_losses(&mut self, dupthresh: u32) {
        // Data is lost if `dupthresh` ranges, or more than `dupthresh` - 1 segments' bytes, have
        // arrived behind it (IsLost).
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

    /// Whether the first unacknowledged segment is known to be lost.
    pub fn is_head_lost(&self) -> bool {
        self.has_gap() && self.lost_to > self.una
    }

    /// The byte before which unacknowledged data is lost.
    pub fn lost_to(&self) -> u64 {
        self.lost_to
    }

    /// Marks everything before `seq` that has not arrived as lost.
    pub fn lose_to(&mut self, seq: u64) {
        self.lost_to = self.lost_to.max(seq);
    }

    /// Marks the first unacknowledged segment as lost, up to `end`.
    pub fn lose_head(&mut self, end: u64) {
        self.lose_to((self.una + self.mss).min(end));
    }

    /// Marks everything that has not arrived as lost and not retransmitted.
    pub fn lose_all(&mut self) {
        self.lost_to = self.nxt;
        self.begin_repair();
    }

    /// Begins a recovery: nothing counts as retransmitted, and there is no rescue retransmission
    /// until the first segment is acknowledged (section 5, step 4.3).
    pub fn begin_repair(&mut self) {
        self.repaired_to = self.una;
        self.rescued_to = self.segment_end(self.una, None);
    }

    /// Ends a recovery: in the next one, missing data does not count as retransmitted (step 3.1).
    pub fn end_repair(&mut self) {
        self.repaired_to = self.una;
    }

    /// The first unacknowledged segment.
    pub fn head(&self) -> Range {
        let gap_ends = self.sacked.as_slice().first().map(|&(start, _)| start);
        (self.una, self.segment_end(self.una, gap_ends))
    }

    /// Whether the first unacknowledged segment has been retransmitted.
    pub fn is_head_repaired(&self) -> bool {
        self.repaired_to > self.una
    }

    /// The next lost segment that has not been retransmitted, or the rest of it (NextSeg, rule 1).
    #[inline]
    pub fn next_lost(&self) -> Option<Range> {
        let (seq, gap_ends) = self.sacked.gap_from(self.repaired_to.max(self.una));
        (seq < self.lost_to).then(|| (seq, self.segment_end(seq, gap_ends)))
    }

    /// The next segment that has not been retransmitted and behind which something has arrived, but
    /// too little to call it lost (NextSeg, rule 3).
    pub fn next_gap(&self) -> Option<Range> {
        let (seq, gap_ends) = self.sacked.gap_from(self.repaired_to.max(self.una));
        gap_ends.map(|_| (seq, self.segment_end(seq, gap_ends)))
    }

    /// The next segment that has neither arrived nor been retransmitted, lost or not.
    pub fn next_missing(&self) -> Option<Range> {
        let (seq, gap_ends) = self.sacked.gap_from(self.repaired_to.max(self.una));
        (seq < self.nxt).then(|| (seq, self.segment_end(seq, gap_ends)))
    }

    /// The first segment at or behind a byte that is not known to have arrived, or the part of it
    /// that is not, in a flow of `size` bytes.
    pub fn segment_from(&self, from: u64, size: u64) -> Option<Range> {
        let (seq, gap_ends) = self.sacked.gap_from(from.max(self.una));
        let end = ((seq / self.mss + 1) * self.mss).min(gap_ends.unwrap_or(size)).min(size);
        (seq < size).then_some((seq, end))
    }

    /// The last missing segment, for a rescue retransmission: one in each recovery, and only after
    /// the recovery's first segment is acknowledged (NextSeg, rule 4).
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

    /// Records the rescue retransmission in a recovery that ends at `recover`.
    pub fn rescued(&mut self, recover: u64) {
        self.rescued_to = recover;
    }

    /// Records a retransmission of data up to `end`.
    pub fn repaired(&mut self, end: u64) {
        self.repaired_to = self.repaired_to.max(end);
    }

    fn segment_end(&self, seq: u64, gap_ends: Option<u64>) -> u64 {
        let segment_ends = (seq / self.mss + 1) * self.mss;
        segment_ends.min(gap_ends.unwrap_or(self.nxt)).min(self.nxt)
    }
}

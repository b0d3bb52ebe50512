//! The segments of a flow, for senders that decide for each segment whether it is lost.

use crate::ranges::Range;
use std::collections::VecDeque;

/// A segment that has not been acknowledged cumulatively.
#[derive(Clone, Copy, Debug)]
pub struct Segment<T> {
    /// The sender's note about it.
    pub noted: T,
    /// Whether it is lost, and has not been sent again.
    pub lost: bool,
    /// Whether it has arrived behind a gap.
    pub arrived: bool,
}

/// The segments of a flow that were sent and have not been acknowledged cumulatively, with a note
/// of type `T` for each. They begin at multiples of the full payload.
#[derive(Clone, Debug)]
pub struct Segments<T> {
    mss: u64,
    /// The number of the first segment in `all`.
    first: u64,
    all: VecDeque<Segment<T>>,
    /// No segment before this one is lost.
    lost_from: u64,
    lost: u64,
    /// The end of the data sent so far, which may lie within a segment.
    sent_to: u64,
}

impl<T: Copy> Segments<T> {
    /// The state before anything is sent, in segments of `mss` bytes.
    pub fn new(mss: u64) -> Segments<T> {
        Segments { mss, first: 0, all: VecDeque::new(), lost_from: 0, lost: 0, sent_to: 0 }
    }

    /// The number of the segment that a byte is in.
    #[inline]
    pub fn number_of(&self, seq: u64) -> u64 {
        // Usually new data begins the next segment. That case needs no division.
        let next = self.first + self.all.len() as u64;
        if seq == next * self.mss { next } else { seq / self.mss }
    }

    /// The end of a segment.
    pub fn end_of(&self, number: u64) -> u64 {
        ((number + 1) * self.mss).min(self.sent_to)
    }

    /// The number of segments.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// The number and the state of a segment, by its place behind the first one.
    pub fn at(&self, place: usize) -> (u64, Segment<T>) {
        (self.first + place as u64, self.all[place])
    }

    /// A segment, unless it has been acknowledged cumulatively or was never sent.
    pub fn get(&self, number: u64) -> Option<&Segment<T>> {
        self.all.get(number.checked_sub(self.first)? as usize)
    }

    /// The segment at `seq` is sent, with this note. Returns whether that was for the first time.
    pub fn send(&mut self, (seq, end): Range, noted: T) -> bool {
        let number = self.number_of(seq);
        let place = (number - self.first) as usize;
        self.sent_to = self.sent_to.max(end);
        if let Some(segment) = self.all.get_mut(place) {
            segment.noted = noted;
            if std::mem::take(&mut segment.lost) {
                self.lost -= 1;
                // Usually it was the first lost one, so the next search begins after it.
                let from = self.lost_from.saturating_sub(self.first) as usize;
                let before = from.min(place)..place;
                if self.all.range(before).all(|segment| !segment.lost) {
                    self.lost_from = self.lost_from.max(number + 1);
                }
            }
            return false;
        }
        debug_assert_eq!(place, self.all.len(), "new data goes out in order");
        self.all.push_back(Segment { noted, lost: false, arrived: false });
        true
    }

    /// Forgets the last segment, new data at `seq`, which was not sent after all.
    pub fn take_back(&mut self, seq: u64) {
        self.all.pop_back();
        self.sent_to = seq;
    }

    /// Everything before `una` has arrived, and so have the ranges `newly` behind it. Calls
    /// `arrive` with the note and the end of every segment that was not known to have arrived. If
    /// the ranges are in order, the calls are in the order of the segments.
    pub fn acknowledge(
        &mut self,
        una: u64,
        newly: impl Iterator<Item = Range>,
        mut arrive: impl FnMut(T, u64),
    ) {
        while self.first * self.mss < una.min(self.sent_to) {
            let end = self.end_of(self.first);
            if end > una {
                break;
            }
            let Some(segment) = self.all.pop_front() else { break };
            self.first += 1;
            self.lost -= u64::from(segment.lost);
            if !segment.arrived {
                arrive(segment.noted, end);
            }
        }
        for (start, end) in newly {
            for number in start.div_ceil(self.mss)..end.div_ceil(self.mss) {
                let segment_end = self.end_of(number);
                let Some(place) = number.checked_sub(self.first) else { continue };
                let Some(segment) = self.all.get_mut(place as usize) else { continue };
                if segment_end > end || segment.arrived {
                    continue;
                }
                segment.arrived = true;
                self.lost -= u64::from(std::mem::take(&mut segment.lost));
                arrive(segment.noted, segment_end);
            }
        }
    }

    /// Everything before `una` has arrived. If `una` is the end of the first segment, and this
    /// segment has the given note and is not lost, forgets the segment and returns true. Otherwise
    /// returns false.
    pub fn acknowledge_first(&mut self, una: u64, noted: T) -> bool
    where
        T: PartialEq,
    {
        let is_meant = |first: &Segment<T>| !first.lost && first.noted == noted;
        if una != self.end_of(self.first) || !self.all.front().is_some_and(is_meant) {
            return false;
        }
        self.all.pop_front();
        self.first += 1;
        true
    }

    /// A segment that has not arrived is lost.
    pub fn lose(&mut self, number: u64) {
        let segment = &mut self.all[(number - self.first) as usize];
        debug_assert!(!segment.lost && !segment.arrived, "it is lost once");
        segment.lost = true;
        self.lost_from = if self.lost == 0 { number } else { self.lost_from.min(number) };
        self.lost += 1;
    }

    /// The first segment that is lost.
    pub fn next_lost(&self) -> Option<Range> {
        if self.lost == 0 {
            return None;
        }
        let from = self.lost_from.saturating_sub(self.first) as usize;
        let place = self.all.iter().skip(from).position(|segment| segment.lost)?;
        let number = self.first + (from + place) as u64;
        Some((number * self.mss, self.end_of(number)))
    }

    /// Bytes that are lost and have not been sent again.
    pub fn lost_bytes(&self) -> u64 {
        let last_is_lost = self.all.back().is_some_and(|segment| segment.lost);
        let missing = self.sent_to.div_ceil(self.mss) * self.mss - self.sent_to;
        self.lost * self.mss - if last_is_lost { missing } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four segments of 100 bytes and one of 50, each with its number as the note.
    fn five() -> Segments<u64> {
        let mut segments = Segments::new(100);
        for number in 0..5 {
            let (seq, end) = (number * 100, (number * 100 + 100).min(450));
            assert!(segments.send((seq, end), number));
        }
        segments
    }

    /// The notes and ends of the segments that have arrived, with what an ack says.
    fn arrived(segments: &mut Segments<u64>, una: u64, newly: &[Range]) -> Vec<(u64, u64)> {
        let mut told = Vec::new();
        segments.acknowledge(una, newly.iter().copied(), |noted, end| told.push((noted, end)));
        told
    }

    #[test]
    fn each_segment_arrives_once_and_only_as_a_whole() {
        let mut segments = five();
        assert_eq!(arrived(&mut segments, 0, &[(200, 300), (400, 450)]), [(2, 300), (4, 450)]);
        // Half of the first segment, and half of the fourth.
        assert_eq!(arrived(&mut segments, 50, &[(350, 450)]), []);
        assert_eq!(arrived(&mut segments, 300, &[]), [(0, 100), (1, 200)]);
        assert_eq!((segments.len(), segments.get(2).is_none()), (2, true));
        assert_eq!(arrived(&mut segments, 450, &[]), [(3, 400)]);
        assert_eq!(segments.len(), 0);
    }

    #[test]
    fn what_is_lost_is_sent_again_in_order_and_the_last_one_may_be_short() {
        let mut segments = five();
        assert_eq!((segments.next_lost(), segments.lost_bytes()), (None, 0));
        segments.lose(4);
        segments.lose(1);
        assert_eq!((segments.next_lost(), segments.lost_bytes()), (Some((100, 200)), 150));
        assert!(!segments.send((100, 200), 7));
        assert_eq!(segments.get(1).map(|segment| segment.noted), Some(7));
        assert_eq!((segments.next_lost(), segments.lost_bytes()), (Some((400, 450)), 50));
        // It is reported as arrived although it was lost.
        arrived(&mut segments, 0, &[(400, 450)]);
        assert_eq!((segments.next_lost(), segments.lost_bytes()), (None, 0));
    }

    #[test]
    fn a_search_for_what_is_lost_begins_behind_what_was_sent_again() {
        let mut segments = five();
        // Segments 1 and 4 are lost, and the last one goes first, as a probe would.
        segments.lose(1);
        segments.lose(4);
        segments.send((400, 450), 5);
        assert_eq!((segments.lost_from, segments.next_lost()), (1, Some((100, 200))));
        // 1 and 4 again, in order: 2 and 3 between them are not looked at another time.
        segments.lose(4);
        segments.send((100, 200), 6);
        assert_eq!((segments.lost_from, segments.next_lost()), (2, Some((400, 450))));
        segments.send((400, 450), 7);
        assert_eq!((segments.lost_from, segments.next_lost()), (5, None));
        segments.lose(2);
        assert_eq!((segments.lost_from, segments.next_lost()), (2, Some((200, 300))));
    }

    #[test]
    fn what_was_not_sent_after_all_is_forgotten() {
        let mut segments = five();
        segments.take_back(400);
        assert_eq!((segments.len(), segments.end_of(3)), (4, 400));
        assert!(segments.send((400, 450), 4));
    }
}

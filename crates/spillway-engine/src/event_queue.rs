//! The event queue: a timing wheel of short buckets, of which only the current one is sorted.
//!
//! Time is divided into buckets. A bucket is a power of two of picoseconds wide. The wheel of
//! buckets covers the near future. Each bucket has a row in which it holds its events, unsorted, as
//! long as they fit. A table of the rows' lengths tells which buckets hold any. Events beyond the
//! wheel, mostly timers, wait in a heap. Results do not depend on the width or number of buckets:
//! events are taken out in order of time, then of key.
//!
//! Within its bucket an event is one word: its time within the bucket, and below that its key. So
//! two events are compared by comparing two words, and eight events share a cache line.

use crate::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that is due at a time. Of two events of the same time, the one with the smaller key
/// comes first. A key says what is due. It is made of identities, which do not depend on the order
/// of insertion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// When it is due.
    pub time: Time,
    /// What is due.
    pub key: u32,
}

/// The number of bits of an event's key; its time within the bucket is above them.
const KEY_BITS: u32 = 32;

/// The number of events for which a bucket has places. In a busy network it holds about six.
const ROW: usize = 16;

/// The number of places of a row that are sorted together.
const FIRST: usize = 8;

/// What a place holds without an event: a time later than any, with the key 0. A look ahead may
/// return that key.
const NONE: u64 = (u32::MAX as u64) << KEY_BITS;

/// A bucket's events, unsorted, followed by [`NONE`]. A row has two cache lines. Most rows need
/// only one.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Row([u64; ROW]);

/// Pending events, taken out in order of time and key.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// The logarithm of a bucket's width in picoseconds.
    width_log2: u32,
    /// A mask for the bits of a time that give its place within a bucket.
    within: u64,
    /// The number of buckets (a power of two), less one.
    mask: u64,
    /// The current bucket, counted from time 0.
    bucket: u64,
    /// The current bucket's events in order, up to `end`; those before `next` have been taken out.
    current: Vec<u64>,
    next: usize,
    end: usize,
    /// The events of the wheel's other buckets, and their numbers.
    rows: Vec<Row>,
    lengths: Vec<u8>,
    /// The events that did not fit into a full row.
    surplus: Vec<Vec<u64>>,
    /// The events beyond the wheel.
    far: BinaryHeap<Reverse<Event>>,
    /// The bucket of the first event in `far`.
    far_bucket: u64,
}

impl EventQueue {
    /// A queue of `2^buckets_log2` buckets (at least 64), each `2^width_log2` picoseconds wide (at
    /// most 2^31).
    pub fn new(width_log2: u32, buckets_log2: u32) -> EventQueue {
        assert!(width_log2 < KEY_BITS, "a time within a bucket has 31 bits");
        let buckets = 1usize << buckets_log2.max(6);
        EventQueue {
            width_log2,
            within: (1 << width_log2) - 1,
            mask: buckets as u64 - 1,
            bucket: 0,
            current: vec![NONE; ROW],
            next: 0,
            end: 0,
            rows: vec![Row([NONE; ROW]); buckets],
            lengths: vec![0; buckets],
            surplus: vec![Vec::new(); buckets],
            far: BinaryHeap::new(),
            far_bucket: u64::MAX,
        }
    }

    /// The number of pending events.
    pub fn len(&self) -> usize {
        let in_rows: usize = self.lengths.iter().map(|&length| usize::from(length)).sum();
        let surplus: usize = self.surplus.iter().map(Vec::len).sum();
        self.end - self.next + in_rows + surplus + self.far.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an event. It must not be due before the last one taken out.
    #[inline(always)]
    pub fn push(&mut self, time: Time, key: u32) {
        let bucket = time.ps() >> self.width_log2;
        let ahead = bucket - self.bucket;
        // In the wheel, but not in the current bucket.
        if ahead.wrapping_sub(1) < self.mask {
            let place = (bucket & self.mask) as usize;
            let word = self.word(time, key);
            let length = &mut self.lengths[place];
            match self.rows[place].0.get_mut(usize::from(*length)) {
                Some(free) => {
                    *free = word;
                    *length += 1;
                }
                None => self.push_surplus(place, word),
            }
        } else if ahead == 0 {
            self.push_current(self.word(time, key));
        } else {
            self.push_far(time, key, bucket);
        }
    }

    /// Takes out the first event.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Event> {
        if self.next == self.end && !self.advance() {
            return None;
        }
        let word = self.current[self.next];
        self.next += 1;
        Some(self.event(self.bucket, word))
    }

    /// As `pop`, where it is seldom done: `pop` is a part of its caller's code.
    #[inline(never)]
    pub fn take(&mut self) -> Option<Event> {
        self.pop()
    }

    /// When the first event is due; `None` if nothing is pending. Slower than taking it out.
    pub fn next_time(&self) -> Option<Time> {
        self.next().map(|event| event.time)
    }

    /// The first event; `None` if nothing is pending. Slower than taking it out.
    pub fn next(&self) -> Option<Event> {
        if self.next < self.end {
            return Some(self.event(self.bucket, self.current[self.next]));
        }
        let near = self.next_occupied().map(|bucket| {
            let place = (bucket & self.mask) as usize;
            let row = &self.rows[place].0[..usize::from(self.lengths[place])];
            let first = row.iter().chain(&self.surplus[place]).min();
            self.event(bucket, *first.expect("a bucket that holds an event"))
        });
        let far = self.far.peek().map(|&Reverse(event)| event);
        near.into_iter().chain(far).min()
    }

    /// Keeps only the events whose keys are wanted.
    pub fn retain(&mut self, is_wanted: impl Fn(u32) -> bool) {
        let mut kept = EventQueue::new(self.width_log2, (self.mask + 1).ilog2());
        while let Some(Event { time, key }) = self.take() {
            if is_wanted(key) {
                kept.push(time, key);
            }
        }
        *self = kept;
    }

    /// The key of the event `ahead` places after the first; any key if the current bucket has no
    /// such event. It serves prefetching and costs almost nothing.
    #[inline(always)]
    pub fn hint(&self, ahead: usize) -> u32 {
        self.current.get(self.next + ahead).map_or(0, |&word| word as u32)
    }

    /// An event of a bucket.
    #[inline(always)]
    fn event(&self, bucket: u64, word: u64) -> Event {
        let time = Time::from_ps((bucket << self.width_log2) + (word >> KEY_BITS));
        Event { time, key: word as u32 }
    }

    /// The word for a time and a key.
    #[inline(always)]
    fn word(&self, time: Time, key: u32) -> u64 {
        (time.ps() & self.within) << KEY_BITS | u64::from(key)
    }

    /// Inserts an event into the current bucket. It has few events, mostly due before the new one,
    /// so the search starts at the end.
    fn push_current(&mut self, word: u64) {
        self.append(word);
        let mut place = self.end - 1;
        while place > self.next && self.current[place - 1] > word {
            self.current[place] = self.current[place - 1];
            place -= 1;
        }
        self.current[place] = word;
    }

    /// Adds an event after those of the current bucket.
    fn append(&mut self, word: u64) {
        match self.current.get_mut(self.end) {
            Some(free) => *free = word,
            None => self.current.push(word),
        }
        self.end += 1;
    }

    #[cold]
    fn push_surplus(&mut self, place: usize, word: u64) {
        self.surplus[place].push(word);
    }

    #[cold]
    fn push_far(&mut self, time: Time, key: u32, bucket: u64) {
        self.far.push(Reverse(Event { time, key }));
        self.far_bucket = self.far_bucket.min(bucket);
    }

    /// Moves to the next bucket that holds any event. False if there is none.
    #[inline(always)]
    fn advance(&mut self) -> bool {
        let bucket = self.next_occupied().unwrap_or(u64::MAX).min(self.far_bucket);
        (self.next, self.end) = (0, 0);
        if bucket == u64::MAX {
            return false;
        }
        self.bucket = bucket;
        let place = (bucket & self.mask) as usize;
        let row = &mut self.rows[place].0;
        self.end = usize::from(std::mem::take(&mut self.lengths[place]));
        if self.end == 1 && bucket != self.far_bucket {
            // When little happens, a bucket has a single event.
            self.current[0] = std::mem::replace(&mut row[0], NONE);
            return true;
        }
        self.current[..FIRST].copy_from_slice(&row[..FIRST]);
        row[..FIRST].fill(NONE);
        if self.end > FIRST {
            self.current[FIRST..ROW].copy_from_slice(&row[FIRST..]);
            if self.end == ROW {
                self.take_surplus(place);
            }
        }
        if bucket == self.far_bucket {
            self.take_far();
        }
        sort(&mut self.current, self.end);
        true
    }

    /// The first bucket of the wheel that holds any event. Eight rows are tested at a time.
    #[inline(always)]
    fn next_occupied(&self) -> Option<u64> {
        let from = self.bucket + 1;
        let place = (from & self.mask) as usize;
        let (groups, _) = self.lengths.as_chunks::<8>();
        let mut group = place / 8;
        let mut lengths = u64::from_le_bytes(groups[group]) & (u64::MAX << (place % 8 * 8));
        // The first group is tested twice: its last rows first, and its first rows at the end of
        // the wheel.
        for _ in 0..=groups.len() {
            if lengths != 0 {
                let found = group as u64 * 8 + u64::from(lengths.trailing_zeros() / 8);
                return Some(from + (found.wrapping_sub(from) & self.mask));
            }
            group = if group + 1 == groups.len() { 0 } else { group + 1 };
            lengths = u64::from_le_bytes(groups[group]);
        }
        None
    }

    /// Appends the events that did not fit into the current bucket's row.
    #[cold]
    fn take_surplus(&mut self, place: usize) {
        let mut surplus = std::mem::take(&mut self.surplus[place]);
        surplus.drain(..).for_each(|word| self.append(word));
        self.surplus[place] = surplus;
    }

    /// Moves the events that are due in the current bucket out of the heap.
    #[cold]
    fn take_far(&mut self) {
        while let Some(&Reverse(Event { time, key })) = self.far.peek() {
            let bucket = time.ps() >> self.width_log2;
            if bucket > self.bucket {
                self.far_bucket = bucket;
                return;
            }
            self.far.pop();
            self.append(self.word(time, key));
        }
        self.far_bucket = u64::MAX;
    }
}

/// Sorts a bucket's events, which are followed by [`NONE`] up to the eighth. In a busy network
/// there are about six. The first four or eight are sorted by a sorting network, which has no
/// branches to predict; the others are inserted one by one.
#[inline]
fn sort(words: &mut [u64], len: usize) {
    if len > 32 {
        return words[..len].sort_unstable();
    }
    if len <= 4 {
        if let Some(first) = words.first_chunk_mut() {
            *first = sort_four(*first);
        }
        return;
    }
    if let Some(first) = words.first_chunk_mut() {
        *first = sort_eight(*first);
    }
    for i in FIRST..len {
        let word = words[i];
        let mut place = i;
        while place > 0 && words[place - 1] > word {
            words[place] = words[place - 1];
            place -= 1;
        }
        words[place] = word;
    }
}

/// A sorting network for four: 5 exchanges.
#[inline(always)]
fn sort_four([a, b, c, d]: [u64; 4]) -> [u64; 4] {
    let ((a, c), (b, d)) = (order(a, c), order(b, d));
    let ((a, b), (c, d)) = (order(a, b), order(c, d));
    let (b, c) = order(b, c);
    [a, b, c, d]
}

/// A sorting network for eight: 19 exchanges (Knuth, The Art of Computer Programming, vol. 3,
/// section 5.3.4).
#[inline(always)]
fn sort_eight([a, b, c, d, e, f, g, h]: [u64; FIRST]) -> [u64; FIRST] {
    let ((a, c), (b, d), (e, g), (f, h)) = (order(a, c), order(b, d), order(e, g), order(f, h));
    let ((a, e), (b, f), (c, g), (d, h)) = (order(a, e), order(b, f), order(c, g), order(d, h));
    let ((a, b), (c, d), (e, f), (g, h)) = (order(a, b), order(c, d), order(e, f), order(g, h));
    let ((c, e), (d, f)) = (order(c, e), order(d, f));
    let ((b, e), (d, g)) = (order(b, e), order(d, g));
    let ((b, c), (d, e), (f, g)) = (order(b, c), order(d, e), order(f, g));
    [a, b, c, d, e, f, g, h]
}

#[inline(always)]
fn order(x: u64, y: u64) -> (u64, u64) {
    (x.min(y), x.max(y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn events_that_are_not_wanted_are_removed() {
        let mut queue = EventQueue::new(4, 6);
        // In the current bucket, in another, and beyond the wheel.
        for (time, key) in [(3, 1), (3, 2), (70, 3), (70, 4), (5_000, 5), (5_000, 6)] {
            queue.push(Time::from_ps(time), key);
        }
        queue.retain(|key| key % 2 == 0);
        let event = |time, key| Event { time: Time::from_ps(time), key };
        assert_eq!((queue.len(), queue.next()), (3, Some(event(3, 2))));
        let left: Vec<Event> = std::iter::from_fn(|| queue.take()).collect();
        assert_eq!(left, [event(3, 2), event(70, 4), event(5_000, 6)]);
        assert_eq!(queue.next(), None);
    }

    #[test]
    fn events_come_by_time_and_then_by_key() {
        let mut queue = EventQueue::new(4, 6);
        for (time, key) in [(500_000, 1), (20, 9), (20, 3), (7, 5), (1_100, 2)] {
            queue.push(Time::from_ps(time), key);
        }
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|e| e.key).collect();
        assert_eq!(order, [5, 3, 9, 2, 1]);
    }

    #[test]
    fn a_bucket_may_hold_any_number_of_events() {
        for count in [1, 3, 4, 5, 8, 9, 16, 17, 32, 33, 100] {
            let mut queue = EventQueue::new(10, 6);
            // Events in the last two thirds of a bucket, pushed while it was beyond the wheel, in
            // the wheel, and current.
            let (far, near) = (70 << 10, 69 << 10);
            let times = |part: u64| (0..count).map(move |i| far + 300 * part + (i * 37) % 300);
            times(1).for_each(|time| queue.push(Time::from_ps(time), 0));
            queue.push(Time::from_ps(near), 0);
            assert_eq!(queue.pop().map(|event| event.time.ps()), Some(near));
            times(2).for_each(|time| queue.push(Time::from_ps(time), 1));
            queue.push(Time::from_ps(far), 0);
            assert_eq!(
                (queue.pop().map(|event| event.time.ps()), queue.len()),
                (Some(far), 2 * count as usize)
            );
            times(1).for_each(|time| queue.push(Time::from_ps(time), 2));
            let mut expected: Vec<_> = times(1).map(|time| (time, 0)).collect();
            expected.extend(times(1).map(|time| (time, 2)));
            expected.extend(times(2).map(|time| (time, 1)));
            expected.sort_unstable();
            let order =
                std::iter::from_fn(|| queue.pop()).map(|event| (event.time.ps(), event.key));
            assert!(order.eq(expected), "{count}");
        }
    }

    proptest! {
        /// Compares with a plain heap, with pushes between the pops, for several widths.
        #[test]
        fn the_order_is_that_of_a_heap(
            steps in prop::collection::vec((0u64..40_000, 0u32..5, 0usize..3), 1..400),
            width_log2 in 0u32..12,
            buckets_log2 in 6u32..13,
        ) {
            let mut queue = EventQueue::new(width_log2, buckets_log2);
            let mut heap = BinaryHeap::new();
            let mut now = 0;
            for (ahead, key, pops) in steps {
                let event = Event { time: Time::from_ps(now + ahead * ahead / 97), key };
                queue.push(event.time, key);
                heap.push(Reverse(event));
                for _ in 0..pops {
                    let time = heap.peek().map(|Reverse(event)| event.time);
                    prop_assert_eq!(queue.next_time(), time);
                    let next = queue.pop();
                    prop_assert_eq!(next, heap.pop().map(|Reverse(event)| event));
                    now = next.map_or(now, |event| event.time.ps());
                }
                prop_assert_eq!(queue.len(), heap.len());
            }
            while let Some(Reverse(event)) = heap.pop() {
                prop_assert_eq!(queue.pop(), Some(event));
            }
            prop_assert!(queue.pop().is_none() && queue.is_empty());
        }
    }
}

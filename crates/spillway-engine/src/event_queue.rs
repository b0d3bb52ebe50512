//! The event queue: a calendar of short buckets, of which only the current one is sorted.
//!
//! Time is cut into buckets of a power of two of picoseconds. A ring of them covers the near
//! future; each holds its events in no order, and a bitmap tells which hold any. What lies beyond
//! the ring (timers, mostly) waits in a heap. Results do not depend on the buckets' width or
//! number: events come out by time and then by key.
//!
//! Within its bucket an event is one word, its time within the bucket above and its key below, so
//! to compare two events is to compare two words, and eight of them share a cache line.

use crate::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Something that is due at a time. Of two events at the same time the one with the smaller key
/// comes first; a key says what is due, and is made of stable identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Event {
    /// When it is due.
    pub time: Time,
    /// What is due.
    pub key: u32,
}

/// Where an event's key ends and its time within the bucket begins.
const KEY_BITS: u32 = 32;

/// Events in order of time and key.
#[derive(Debug)]
pub struct EventQueue {
    /// The logarithm of a bucket's width in picoseconds.
    width_log2: u32,
    /// The bits of a time that tell where it lies within its bucket.
    within: u64,
    /// The number of buckets, less one; a power of two less one.
    mask: u64,
    /// The current bucket, counted from time 0.
    bucket: u64,
    /// The current bucket's events in order; those before `next` have been taken.
    current: Vec<u64>,
    next: usize,
    /// The other buckets of the ring. Vectors are swapped, so their memory stays in use.
    ring: Vec<Vec<u64>>,
    /// Which buckets of the ring hold anything.
    occupied: Vec<u64>,
    /// What is due beyond the ring.
    far: BinaryHeap<Reverse<Event>>,
    /// The bucket of the first event in `far`.
    far_bucket: u64,
}

impl EventQueue {
    /// A queue of `2^buckets_log2` buckets (64 at least), each `2^width_log2` picoseconds wide
    /// (2^32 at most).
    pub fn new(width_log2: u32, buckets_log2: u32) -> EventQueue {
        assert!(width_log2 <= KEY_BITS, "a time within a bucket has 32 bits");
        let buckets = 1usize << buckets_log2.max(6);
        EventQueue {
            width_log2,
            within: (1 << width_log2) - 1,
            mask: buckets as u64 - 1,
            bucket: 0,
            current: Vec::new(),
            next: 0,
            ring: vec![Vec::new(); buckets],
            occupied: vec![0; buckets / 64],
            far: BinaryHeap::new(),
            far_bucket: u64::MAX,
        }
    }

    /// How many events are pending.
    pub fn len(&self) -> usize {
        let mut ring = 0;
        for (buckets, &bits) in self.ring.chunks(64).zip(&self.occupied) {
            if bits != 0 {
                ring += buckets.iter().map(Vec::len).sum::<usize>();
            }
        }
        self.current.len() - self.next + ring + self.far.len()
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
        if ahead == 0 {
            let word = self.word(time, key);
            self.push_current(word);
        } else if ahead <= self.mask {
            let place = (bucket & self.mask) as usize;
            self.occupied[place / 64] |= 1 << (place % 64);
            let word = self.word(time, key);
            self.ring[place].push(word);
        } else {
            self.push_far(time, key, bucket);
        }
    }

    /// Takes out the first event.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Event> {
        if self.next == self.current.len() && !self.advance() {
            return None;
        }
        let word = self.current[self.next];
        self.next += 1;
        let time = Time::from_ps((self.bucket << self.width_log2) + (word >> KEY_BITS));
        Some(Event { time, key: word as u32 })
    }

    /// The key of the event `ahead` places behind the first, if it is in the current bucket: a
    /// look ahead that costs nothing, for prefetching.
    #[inline(always)]
    pub fn peek(&self, ahead: usize) -> Option<u32> {
        self.current.get(self.next + ahead).map(|&word| word as u32)
    }

    /// A time within its bucket, and a key.
    #[inline(always)]
    fn word(&self, time: Time, key: u32) -> u64 {
        (time.ps() & self.within) << KEY_BITS | u64::from(key)
    }

    /// The current bucket's events are few, and mostly due before the new one: shift from the end.
    fn push_current(&mut self, word: u64) {
        let mut place = self.current.len();
        self.current.push(word);
        while place > self.next && self.current[place - 1] > word {
            self.current[place] = self.current[place - 1];
            place -= 1;
        }
        self.current[place] = word;
    }

    #[cold]
    fn push_far(&mut self, time: Time, key: u32, bucket: u64) {
        self.far.push(Reverse(Event { time, key }));
        self.far_bucket = self.far_bucket.min(bucket);
    }

    /// Moves to the next bucket that holds anything. False when nothing is left.
    fn advance(&mut self) -> bool {
        let bucket = self.next_occupied().unwrap_or(u64::MAX).min(self.far_bucket);
        self.current.clear();
        self.next = 0;
        if bucket == u64::MAX {
            return false;
        }
        self.bucket = bucket;
        let place = (bucket & self.mask) as usize;
        std::mem::swap(&mut self.current, &mut self.ring[place]);
        self.occupied[place / 64] &= !(1 << (place % 64));
        if bucket == self.far_bucket {
            self.take_far();
        }
        sort(&mut self.current);
        true
    }

    /// The first bucket of the ring that holds anything.
    fn next_occupied(&self) -> Option<u64> {
        let from = self.bucket + 1;
        let place = (from & self.mask) as usize;
        let words = self.occupied.len();
        let mut word = place / 64;
        let mut bits = self.occupied[word] & (u64::MAX << (place % 64));
        // The first word twice: its upper bits first, its lower ones after a whole turn.
        for _ in 0..=words {
            if bits != 0 {
                let found = word as u64 * 64 + u64::from(bits.trailing_zeros());
                return Some(from + (found.wrapping_sub(from) & self.mask));
            }
            word = if word + 1 == words { 0 } else { word + 1 };
            bits = self.occupied[word];
        }
        None
    }

    /// Moves what is due in the current bucket from the heap to it.
    #[cold]
    fn take_far(&mut self) {
        while let Some(&Reverse(Event { time, key })) = self.far.peek() {
            let bucket = time.ps() >> self.width_log2;
            if bucket > self.bucket {
                self.far_bucket = bucket;
                return;
            }
            self.far.pop();
            let word = self.word(time, key);
            self.current.push(word);
        }
        self.far_bucket = u64::MAX;
    }
}

/// Sorts a bucket. In a busy network it holds half a dozen events: the first eight go through a
/// network, without a branch that would have to be predicted. Others are inserted, one by one, and
/// so are the few of a quiet one.
#[inline]
fn sort(words: &mut Vec<u64>) {
    let len = words.len();
    if len > 32 {
        return words.sort_unstable();
    }
    let mut sorted = 1;
    if len > 3 {
        words.extend_from_slice(&[u64::MAX; 8]);
        if let Some(first) = words.first_chunk_mut() {
            *first = sort_eight(*first);
            sorted = first.len();
        }
        words.truncate(len);
    }
    for i in sorted..len {
        let word = words[i];
        let mut place = i;
        while place > 0 && words[place - 1] > word {
            words[place] = words[place - 1];
            place -= 1;
        }
        words[place] = word;
    }
}

/// A sorting network for eight: 19 exchanges (Knuth, The Art of Computer Programming, vol. 3,
/// section 5.3.4).
#[inline(always)]
fn sort_eight([a, b, c, d, e, f, g, h]: [u64; 8]) -> [u64; 8] {
    let order = |x: u64, y: u64| (x.min(y), x.max(y));
    let ((a, c), (b, d), (e, g), (f, h)) = (order(a, c), order(b, d), order(e, g), order(f, h));
    let ((a, e), (b, f), (c, g), (d, h)) = (order(a, e), order(b, f), order(c, g), order(d, h));
    let ((a, b), (c, d), (e, f), (g, h)) = (order(a, b), order(c, d), order(e, f), order(g, h));
    let ((c, e), (d, f)) = (order(c, e), order(d, f));
    let ((b, e), (d, g)) = (order(b, e), order(d, g));
    let ((b, c), (d, e), (f, g)) = (order(b, c), order(d, e), order(f, g));
    [a, b, c, d, e, f, g, h]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn events_come_by_time_and_then_by_key() {
        let mut queue = EventQueue::new(4, 6);
        for (time, key) in [(500_000, 1), (20, 9), (20, 3), (7, 5), (1_100, 2)] {
            queue.push(Time::from_ps(time), key);
        }
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|e| e.key).collect();
        assert_eq!(order, [5, 3, 9, 2, 1]);
    }

    proptest! {
        /// Beside a plain heap, with pushes between the pops, at several widths.
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

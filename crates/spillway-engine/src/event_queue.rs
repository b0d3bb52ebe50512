//! The event queue: a calendar of short buckets, so that most events cost a list insertion.
//!
//! Time is cut into buckets of a power of two of picoseconds. A ring of them covers the near
//! future; each holds an unsorted list, and a bitmap tells which are occupied. Only the current
//! bucket is sorted. What lies beyond the ring (timers, mostly) waits in a heap. Results do not
//! depend on the bucket's width or on their number: events come out by time and then by key.

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
    pub key: u64,
}

const NIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    event: Event,
    next: u32,
}

/// Events in order of time and key.
#[derive(Debug)]
pub struct EventQueue {
    /// The logarithm of a bucket's width in picoseconds.
    width_log2: u32,
    /// The number of buckets, less one; a power of two less one.
    mask: u64,
    /// The bucket, counted from time 0, whose events are in `current`.
    current_bucket: u64,
    /// The events of the current bucket (and earlier ones), the first due last.
    current: Vec<Event>,
    /// For every bucket of the ring the first node of its list.
    heads: Vec<u32>,
    occupied: Bitmap,
    nodes: Vec<Node>,
    free: u32,
    /// What is due beyond the ring.
    far: BinaryHeap<Reverse<Event>>,
    /// The bucket of the first event in `far`.
    far_bucket: u64,
    in_ring: usize,
}

impl EventQueue {
    /// A queue of `2^buckets_log2` buckets (64 at least), each `2^width_log2` picoseconds wide.
    pub fn new(width_log2: u32, buckets_log2: u32) -> EventQueue {
        let buckets = 1usize << buckets_log2.max(6);
        EventQueue {
            width_log2,
            mask: buckets as u64 - 1,
            current_bucket: 0,
            current: Vec::new(),
            heads: vec![NIL; buckets],
            occupied: Bitmap::new(buckets),
            nodes: Vec::new(),
            free: NIL,
            far: BinaryHeap::new(),
            far_bucket: u64::MAX,
            in_ring: 0,
        }
    }

    /// How many events are pending.
    pub fn len(&self) -> usize {
        self.current.len() + self.in_ring + self.far.len()
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds an event. It must not be due before the last one taken out.
    #[inline]
    pub fn push(&mut self, time: Time, key: u64) {
        let event = Event { time, key };
        let bucket = time.ps() >> self.width_log2;
        // A wrap-around puts what is already due (bucket <= current) beyond the ring's length.
        let ahead = bucket.wrapping_sub(self.current_bucket).wrapping_sub(1);
        if ahead < self.mask {
            self.push_ring(bucket, event);
        } else if bucket <= self.current_bucket {
            self.push_current(event);
        } else {
            self.far.push(Reverse(event));
            self.far_bucket = self.far_bucket.min(bucket);
        }
    }

    /// Takes out the first event.
    #[inline]
    pub fn pop(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.current.pop() {
                return Some(event);
            }
            if !self.advance() {
                return None;
            }
        }
    }

    /// The event `ahead` places behind the first, if it is in the current bucket: a look ahead
    /// that costs nothing, for prefetching.
    #[inline]
    pub fn peek(&self, ahead: usize) -> Option<Event> {
        self.current.len().checked_sub(ahead + 1).map(|i| self.current[i])
    }

    #[inline]
    fn push_ring(&mut self, bucket: u64, event: Event) {
        let slot = (bucket & self.mask) as usize;
        let next = self.heads[slot];
        let node = Node { event, next };
        let id = self.free;
        if id == NIL {
            self.heads[slot] = self.nodes.len() as u32;
            self.nodes.push(node);
        } else {
            self.free = self.nodes[id as usize].next;
            self.nodes[id as usize] = node;
            self.heads[slot] = id;
        }
        if next == NIL {
            self.occupied.set(slot);
        }
        self.in_ring += 1;
    }

    #[cold]
    fn push_current(&mut self, event: Event) {
        let place = self.current.iter().rposition(|later| *later > event).map_or(0, |i| i + 1);
        self.current.insert(place, event);
    }

    /// Moves to the next bucket that holds anything. False when nothing is left.
    fn advance(&mut self) -> bool {
        let mut bucket = self.far_bucket;
        if self.in_ring > 0 {
            let from = self.current_bucket + 1;
            let slot = self.occupied.next((from & self.mask) as usize) as u64;
            bucket = bucket.min(from + (slot.wrapping_sub(from) & self.mask));
        }
        if bucket == u64::MAX {
            return false;
        }
        self.current_bucket = bucket;
        self.take_ring(bucket);
        if bucket == self.far_bucket {
            self.take_far(bucket);
        }
        sort_descending(&mut self.current);
        true
    }

    fn take_ring(&mut self, bucket: u64) {
        let slot = (bucket & self.mask) as usize;
        let first = self.heads[slot];
        if first == NIL {
            return;
        }
        self.heads[slot] = NIL;
        self.occupied.clear(slot);
        let mut id = first;
        loop {
            let node = self.nodes[id as usize];
            self.current.push(node.event);
            if node.next == NIL {
                break;
            }
            id = node.next;
        }
        // The whole list becomes free at once.
        self.nodes[id as usize].next = self.free;
        self.free = first;
        self.in_ring -= self.current.len();
    }

    #[cold]
    fn take_far(&mut self, bucket: u64) {
        while let Some(Reverse(event)) = self.far.peek() {
            let next = event.time.ps() >> self.width_log2;
            if next > bucket {
                self.far_bucket = next;
                return;
            }
            self.current.push(*event);
            self.far.pop();
        }
        self.far_bucket = u64::MAX;
    }
}

/// Buckets hold a few events: insertion beats a general sort there.
#[inline]
fn sort_descending(events: &mut [Event]) {
    if events.len() > 24 {
        events.sort_unstable_by(|a, b| b.cmp(a));
        return;
    }
    for i in 1..events.len() {
        let event = events[i];
        let mut place = i;
        while place > 0 && events[place - 1] < event {
            events[place] = events[place - 1];
            place -= 1;
        }
        events[place] = event;
    }
}

/// Which buckets are occupied: a bit each, and above them a bit for every word.
#[derive(Debug)]
struct Bitmap {
    words: Vec<u64>,
    summary: Vec<u64>,
}

impl Bitmap {
    fn new(bits: usize) -> Bitmap {
        let words = bits.div_ceil(64);
        Bitmap { words: vec![0; words], summary: vec![0; words.div_ceil(64)] }
    }

    #[inline]
    fn set(&mut self, bit: usize) {
        self.words[bit / 64] |= 1 << (bit % 64);
        self.summary[bit / 4096] |= 1 << (bit / 64 % 64);
    }

    #[inline]
    fn clear(&mut self, bit: usize) {
        let word = &mut self.words[bit / 64];
        *word &= !(1 << (bit % 64));
        if *word == 0 {
            self.summary[bit / 4096] &= !(1 << (bit / 64 % 64));
        }
    }

    /// The first set bit at or behind `from`, going round. At least one bit must be set.
    #[inline]
    fn next(&self, from: usize) -> usize {
        let here = self.words[from / 64] & (u64::MAX << (from % 64));
        if here != 0 {
            return from / 64 * 64 + here.trailing_zeros() as usize;
        }
        let word = from / 64 + 1;
        let n = self.summary.len();
        // Its own summary word twice: behind `word` first, and before it at the end.
        for step in 0..=n {
            let place = (word / 64 + step) % n;
            let mut bits = self.summary[place];
            if step == 0 && word / 64 < n {
                bits &= u64::MAX << (word % 64);
            }
            if bits != 0 {
                let word = place * 64 + bits.trailing_zeros() as usize;
                return word * 64 + self.words[word].trailing_zeros() as usize;
            }
        }
        unreachable!("a search in an empty bitmap")
    }
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
        let order: Vec<u64> = std::iter::from_fn(|| queue.pop()).map(|e| e.key).collect();
        assert_eq!(order, [5, 3, 9, 2, 1]);
    }

    proptest! {
        /// Beside a plain heap, with pushes between the pops, at several widths.
        #[test]
        fn the_order_is_that_of_a_heap(
            steps in prop::collection::vec((0u64..40_000, 0u64..5, 0usize..3), 1..400),
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

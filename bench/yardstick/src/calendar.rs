//! A calendar of events: a ring of short time slices ("days"), of which only today's is sorted.
//!
//! An event is one `u64`: its offset within its day above, the identity of who waits below. So
//! comparing two events of one day is one comparison, ties break by identity, and a cache line
//! holds eight. Whoever waits does so at most once (see [`crate::network`]), so identities are
//! unique and the order is total.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Picoseconds.
pub type Time = u64;

const IDENTITY_BITS: u32 = 32;

pub struct Calendar {
    /// log2 of a day's length in picoseconds.
    day_bits: u32,
    /// Number of days in the ring, minus one; the number is a power of two.
    mask: u64,
    /// Today, counted from time zero.
    today: u64,
    /// Today's events in order; those before `next` have happened.
    agenda: Vec<u64>,
    next: usize,
    /// The other days' events, unsorted. Swapping the vectors keeps their memory in use.
    days: Vec<Vec<u64>>,
    /// One bit per day that has events, to skip the empty ones 64 at a time.
    occupied: Vec<u64>,
    /// What lies beyond the ring.
    far: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Calendar {
    pub fn new(day_bits: u32, ring_bits: u32) -> Self {
        assert!(day_bits <= 32 && (6..=24).contains(&ring_bits));
        Self {
            day_bits,
            mask: (1 << ring_bits) - 1,
            today: 0,
            agenda: Vec::new(),
            next: 0,
            days: (0..1 << ring_bits).map(|_| Vec::new()).collect(),
            occupied: vec![0; 1 << (ring_bits - 6)],
            far: BinaryHeap::new(),
        }
    }

    #[inline(always)]
    pub fn push(&mut self, time: Time, identity: u32) {
        let day = time >> self.day_bits;
        let offset = time & ((1 << self.day_bits) - 1);
        let event = offset << IDENTITY_BITS | u64::from(identity);
        let ahead = day - self.today;
        if ahead == 0 {
            self.insert_today(event);
        } else if ahead <= self.mask {
            let slot = (day & self.mask) as usize;
            self.occupied[slot / 64] |= 1 << (slot % 64);
            self.days[slot].push(event);
        } else {
            self.far.push(Reverse((time, identity)));
        }
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<(Time, u32)> {
        if self.next == self.agenda.len() && !self.advance() {
            return None;
        }
        let event = self.agenda[self.next];
        self.next += 1;
        Some(((self.today << self.day_bits) + (event >> IDENTITY_BITS), event as u32))
    }

    /// The identity that comes `ahead` events after the next one, if it is known already.
    #[inline(always)]
    pub fn peek(&self, ahead: usize) -> Option<u32> {
        self.agenda.get(self.next + ahead).map(|&event| event as u32)
    }

    /// Today's events are few and mostly earlier than the new one: shift from the end.
    fn insert_today(&mut self, event: u64) {
        let mut at = self.agenda.len();
        self.agenda.push(event);
        while at > self.next && self.agenda[at - 1] > event {
            self.agenda[at] = self.agenda[at - 1];
            at -= 1;
        }
        self.agenda[at] = event;
    }

    /// Moves on to the next day that has events; false when there is none.
    fn advance(&mut self) -> bool {
        self.agenda.clear();
        self.next = 0;
        let near = self.next_occupied();
        let far = self.far.peek().map(|Reverse((time, _))| time >> self.day_bits);
        let Some(day) = near.into_iter().chain(far).min() else {
            return false;
        };
        self.today = day;
        let slot = (day & self.mask) as usize;
        std::mem::swap(&mut self.agenda, &mut self.days[slot]);
        self.occupied[slot / 64] &= !(1 << (slot % 64));
        while let Some(&Reverse((time, identity))) = self.far.peek() {
            if (time >> self.day_bits) != day {
                break;
            }
            self.far.pop();
            let offset = time & ((1 << self.day_bits) - 1);
            self.agenda.push(offset << IDENTITY_BITS | u64::from(identity));
        }
        sort(&mut self.agenda);
        true
    }

    /// The first occupied day after today, within the ring.
    fn next_occupied(&self) -> Option<u64> {
        let from = self.today + 1;
        let slot = (from & self.mask) as usize;
        let words = self.occupied.len();
        let mut word = slot / 64;
        let mut bits = self.occupied[word] & (!0 << (slot % 64));
        for _ in 0..=words {
            if bits != 0 {
                let found = (word * 64) as u64 + u64::from(bits.trailing_zeros());
                return Some(from + (found.wrapping_sub(from) & self.mask));
            }
            word = (word + 1) % words;
            bits = self.occupied[word];
        }
        None
    }
}

/// Insertion sort: a day holds a dozen events, and of large ones there are few.
fn sort(events: &mut [u64]) {
    if events.len() > 32 {
        return events.sort_unstable();
    }
    for i in 1..events.len() {
        let event = events[i];
        let mut at = i;
        while at > 0 && events[at - 1] > event {
            events[at] = events[at - 1];
            at -= 1;
        }
        events[at] = event;
    }
}

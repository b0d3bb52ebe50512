//! What bursts have come to, by the gradient of their queue.

use crate::records::{u32_at, u64_at};
use crate::sharing::Learned;
use spillway_engine::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The pairs that are kept: how fast queues of a burst grew, and how many bytes they came to.
///
/// Gradients are whole numbers of a quantum: as floats no two would ever be the same. Of bursts of
/// one gradient the largest is kept. What has not been seen for `max_age` is forgotten.
#[derive(Clone, Debug)]
pub struct History {
    /// Bytes per second.
    quantum: f64,
    max_age: Time,
    entries: BTreeMap<i64, Entry>,
    /// The same by size.
    by_bytes: BTreeSet<(u64, i64)>,
    /// When entries were seen, in order; those that were seen again since do not count.
    seen: VecDeque<(Time, i64)>,
    aged_out: u64,
    most: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    bytes: u64,
    last_seen: Time,
}

impl History {
    /// Nothing is known yet. `quantum` is in bytes per second, above 0.
    pub fn new(quantum: f64, max_age: Time) -> History {
        History {
            quantum,
            max_age,
            entries: BTreeMap::new(),
            by_bytes: BTreeSet::new(),
            seen: VecDeque::new(),
            aged_out: 0,
            most: 0,
        }
    }

    fn key(&self, gradient: f64) -> i64 {
        (gradient / self.quantum).floor() as i64
    }

    /// A burst that grew by so many bytes per second has come to so many bytes.
    pub fn insert(&mut self, now: Time, gradient: f64, bytes: u64) {
        self.forget(now);
        let key = self.key(gradient);
        let known = self.entries.get(&key).map(|entry| entry.bytes);
        let bytes = known.map_or(bytes, |known| known.max(bytes));
        if let Some(known) = known {
            self.by_bytes.remove(&(known, key));
        }
        self.entries.insert(key, Entry { bytes, last_seen: now });
        self.by_bytes.insert((bytes, key));
        self.seen.push_back((now, key));
        self.most = self.most.max(self.len());
    }

    /// What the `k` bursts came to whose gradients are the nearest above this one, nearest first.
    pub fn nearest_above(
        &mut self,
        now: Time,
        gradient: f64,
        k: usize,
    ) -> impl Iterator<Item = u64> + use<'_> {
        self.forget(now);
        let above = self.key(gradient).saturating_add(1);
        self.entries.range(above..).take(k).map(|(_, entry)| entry.bytes)
    }

    /// What the largest burst came to.
    pub fn largest(&self) -> Option<u64> {
        self.by_bytes.last().map(|&(bytes, _)| bytes)
    }

    /// All that is known, by gradient: the middle of those that count as the same.
    pub fn entries(&self) -> impl Iterator<Item = Learned> + use<'_> {
        self.entries.iter().map(|(&key, &Entry { bytes, last_seen })| Learned {
            gradient: (key as f64 + 0.5) * self.quantum,
            bytes,
            last_seen,
        })
    }

    /// Knows of such a burst from the beginning, if it is one of this switch. What is known is in a
    /// file: a switch (or [`u32::MAX`] for all) in four bytes, a gradient in eight, as a float, and
    /// bytes in eight, all with the lowest first. False if it is something else.
    pub fn load(&mut self, bytes: &[u8], switch: u32) -> bool {
        let (records, rest) = bytes.as_chunks::<20>();
        for record in records {
            let burst_of = u32_at(record, 0);
            let gradient = f64::from_bits(u64_at(record, 4));
            if !gradient.is_finite() {
                return false;
            }
            if burst_of == switch || burst_of == u32::MAX {
                self.insert(Time::ZERO, gradient, u64_at(record, 12));
            }
        }
        rest.is_empty()
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// How many there have been at most.
    pub fn most(&self) -> usize {
        self.most
    }

    /// How many have been forgotten.
    pub fn aged_out(&self) -> u64 {
        self.aged_out
    }

    fn forget(&mut self, now: Time) {
        while let Some(&(time, key)) = self.seen.front()
            && now.since(time) > self.max_age
        {
            self.seen.pop_front();
            if let Some(entry) = self.entries.get(&key).copied()
                && entry.last_seen == time
            {
                self.entries.remove(&key);
                self.by_bytes.remove(&(entry.bytes, key));
                self.aged_out += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn history(bursts: &[(u64, f64, u64)]) -> History {
        let mut history = History::new(100.0, Time::from_us(1000));
        for &(us, gradient, bytes) in bursts {
            history.insert(Time::from_us(us), gradient, bytes);
        }
        history
    }

    fn above(history: &mut History, us: u64, gradient: f64, k: usize) -> Vec<u64> {
        history.nearest_above(Time::from_us(us), gradient, k).collect()
    }

    #[test]
    fn the_nearest_above_come_first() {
        // Keys 5, 12, 13 and -2.
        let mut known =
            history(&[(0, 1250.0, 40), (0, 550.0, 10), (0, 1300.0, 30), (0, -150.0, 9)]);
        assert_eq!(above(&mut known, 0, 120.0, 3), [10, 40, 30]);
        assert_eq!(above(&mut known, 0, 120.0, 2), [10, 40]);
        assert_eq!(above(&mut known, 0, -1e9, 1), [9]);
        // Its own quantum is not above it; none is above the last.
        assert_eq!(above(&mut known, 0, 1201.0, 3), [30]);
        assert!(above(&mut known, 0, 1399.0, 3).is_empty());
        assert_eq!(known.largest(), Some(40));
    }

    #[test]
    fn what_one_has_learned_another_begins_with() {
        let known = history(&[(0, 1250.0, 40), (0, 550.0, 10), (0, -150.0, 9)]);
        let mut bytes = Vec::new();
        let rows = known.entries().map(|learned| (3, learned.gradient, learned.bytes));
        for (switch, gradient, size) in rows.chain([(u32::MAX, 2_000.0, 50), (4, 9_000.0, 60)]) {
            bytes.extend(u32::to_le_bytes(switch));
            bytes.extend(f64::to_le_bytes(gradient));
            bytes.extend(u64::to_le_bytes(size));
        }
        let mut another = History::new(100.0, Time::from_us(1000));
        assert!(another.load(&bytes, 3));
        assert_eq!(above(&mut another, 0, -1e9, 9), [9, 10, 40, 50]);
        assert_eq!(another.entries().next().map(|learned| learned.gradient), Some(-150.0));
        assert!(!another.load(&bytes[1..], 3));
        assert!(!another.load(&[0xff; 20], 3));
    }

    #[test]
    fn of_one_quantum_the_largest_is_kept() {
        let mut known = history(&[(0, 500.0, 10), (0, 599.0, 7), (0, 501.0, 12)]);
        assert_eq!((known.len(), known.largest()), (1, Some(12)));
        assert_eq!(above(&mut known, 0, 0.0, 3), [12]);
    }

    #[test]
    fn what_has_not_been_seen_for_long_is_forgotten() {
        let mut known = history(&[(0, 500.0, 10), (10, 700.0, 20), (400, 500.0, 3)]);
        assert_eq!(above(&mut known, 1010, 0.0, 3), [10, 20]);
        // 1000 us after it was seen it is still there, a picosecond later not. The other was seen
        // again, with fewer bytes, and keeps what it has.
        let late = Time::from_ps(1_010_000_001);
        assert_eq!(known.nearest_above(late, 0.0, 3).collect::<Vec<_>>(), [10]);
        assert_eq!((known.len(), known.aged_out()), (1, 1));
        assert!(above(&mut known, 1401, 0.0, 3).is_empty());
        assert_eq!((known.largest(), known.aged_out(), known.most()), (None, 2, 2));
    }
}

//! The sizes of earlier bursts, by their gradients.

use crate::records::{u32_at, u64_at};
use crate::sharing::Learned;
use spillway_engine::Time;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// The pairs that are stored: how fast the queues of a burst grew, and how many bytes they reached.
///
/// Gradients are rounded down to whole multiples of a quantum, since no two floats would be equal.
/// Of bursts with the same gradient, the largest is stored. A burst that has not been seen for
/// `max_age` is forgotten.
///
/// There is one history for all ports, or one for each.
#[derive(Clone, Debug)]
pub struct History {
    rules: Rules,
    /// By history and gradient.
    entries: BTreeMap<(u32, i64), Entry>,
    /// The entries, by history and size.
    by_bytes: BTreeSet<(u32, u64, i64)>,
    /// When entries were seen, in order. An item is outdated if its entry was seen again later.
    seen: VecDeque<(Time, (u32, i64))>,
    aged_out: u64,
    most: usize,
}

/// Which gradients are equal, and how long bursts are remembered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Gradients in the same quantum are equal; in bytes per second, above 0.
    pub quantum: f64,
    /// A burst that has not been seen for longer than this is forgotten.
    pub max_age: Time,
    /// Whether bursts of the same gradient are among the nearest above.
    pub own_quantum: bool,
    /// The number of ports with a history of their own; 1 if all ports share one.
    pub histories: u32,
}

/// A burst that is known from the beginning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// The number of its switch; [`u32::MAX`] for all switches.
    switch: u32,
    /// In bytes per second.
    gradient: f64,
    bytes: u64,
}

/// Reads the records of a file, each of 20 bytes: a switch (four bytes), a gradient (a float of
/// eight bytes), and a size in bytes (eight), all little-endian. `None` if the file has another
/// form.
pub fn known_of(bytes: &[u8]) -> Option<Arc<[Known]>> {
    let (records, rest) = bytes.as_chunks::<20>();
    let known = |record: &[u8; 20]| Known {
        switch: u32_at(record, 0),
        gradient: f64::from_bits(u64_at(record, 4)),
        bytes: u64_at(record, 12),
    };
    let known: Arc<[Known]> = records.iter().map(known).collect();
    let is_one = rest.is_empty() && known.iter().all(|burst| burst.gradient.is_finite());
    is_one.then_some(known)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    bytes: u64,
    last_seen: Time,
}

impl History {
    /// A history in which nothing is known.
    pub fn new(rules: Rules) -> History {
        History {
            rules,
            entries: BTreeMap::new(),
            by_bytes: BTreeSet::new(),
            seen: VecDeque::new(),
            aged_out: 0,
            most: 0,
        }
    }

    fn key(&self, port: u32, gradient: f64) -> (u32, i64) {
        (self.history_of(port), (gradient / self.rules.quantum).floor() as i64)
    }

    fn history_of(&self, port: u32) -> u32 {
        if self.rules.histories == 1 { 0 } else { port }
    }

    /// A burst at `port` grew by `gradient` bytes per second and reached `bytes` bytes.
    pub fn insert(&mut self, now: Time, port: u32, gradient: f64, bytes: u64) {
        self.forget(now);
        let key = self.key(port, gradient);
        let known = self.entries.get(&key).map(|entry| entry.bytes);
        let bytes = known.map_or(bytes, |known| known.max(bytes));
        if let Some(known) = known {
            self.by_bytes.remove(&(key.0, known, key.1));
        }
        self.entries.insert(key, Entry { bytes, last_seen: now });
        self.by_bytes.insert((key.0, bytes, key.1));
        self.seen.push_back((now, key));
        self.most = self.most.max(self.len());
    }

    /// The sizes of the `k` bursts in a port's history whose gradients are the nearest above this
    /// one, nearest first.
    pub fn nearest_above(
        &mut self,
        now: Time,
        port: u32,
        gradient: f64,
        k: usize,
    ) -> impl Iterator<Item = u64> + use<'_> {
        self.forget(now);
        let (history, own) = self.key(port, gradient);
        let above = if self.rules.own_quantum { own } else { own.saturating_add(1) };
        self.entries
            .range((history, above)..=(history, i64::MAX))
            .take(k)
            .map(|(_, entry)| entry.bytes)
    }

    /// The size of the largest burst in a port's history.
    pub fn largest(&self, port: u32) -> Option<u64> {
        let history = self.history_of(port);
        let own = self.by_bytes.range((history, 0, i64::MIN)..=(history, u64::MAX, i64::MAX));
        own.last().map(|&(_, bytes, _)| bytes)
    }

    /// All entries, by history and gradient. The gradient given is the middle of its quantum.
    pub fn entries(&self) -> impl Iterator<Item = Learned> + use<'_> {
        self.entries.iter().map(|(&(_, key), &Entry { bytes, last_seen })| Learned {
            gradient: (key as f64 + 0.5) * self.rules.quantum,
            bytes,
            last_seen,
        })
    }

    /// Adds these bursts to all histories, from the beginning, if they are this switch's.
    pub fn load(&mut self, known: &[Known], switch: u32) {
        for burst in known.iter().filter(|burst| [switch, u32::MAX].contains(&burst.switch)) {
            for port in 0..self.rules.histories {
                self.insert(Time::ZERO, port, burst.gradient, burst.bytes);
            }
        }
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The greatest number of entries so far.
    pub fn most(&self) -> usize {
        self.most
    }

    /// The number of entries forgotten.
    pub fn aged_out(&self) -> u64 {
        self.aged_out
    }

    fn forget(&mut self, now: Time) {
        while let Some(&(time, key)) = self.seen.front()
            && now.since(time) > self.rules.max_age
        {
            self.seen.pop_front();
            if let Some(entry) = self.entries.get(&key).copied()
                && entry.last_seen == time
            {
                self.entries.remove(&key);
                self.by_bytes.remove(&(key.0, entry.bytes, key.1));
                self.aged_out += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: Rules =
        Rules { quantum: 100.0, max_age: Time::from_us(1000), own_quantum: false, histories: 1 };

    fn history(bursts: &[(u64, f64, u64)]) -> History {
        let mut history = History::new(RULES);
        for &(us, gradient, bytes) in bursts {
            history.insert(Time::from_us(us), 0, gradient, bytes);
        }
        history
    }

    fn above(history: &mut History, us: u64, gradient: f64, k: usize) -> Vec<u64> {
        history.nearest_above(Time::from_us(us), 0, gradient, k).collect()
    }

    #[test]
    fn the_nearest_above_come_first() {
        // Keys 5, 12, 13 and -2.
        let mut known =
            history(&[(0, 1250.0, 40), (0, 550.0, 10), (0, 1300.0, 30), (0, -150.0, 9)]);
        assert_eq!(above(&mut known, 0, 120.0, 3), [10, 40, 30]);
        assert_eq!(above(&mut known, 0, 120.0, 2), [10, 40]);
        assert_eq!(above(&mut known, 0, -1e9, 1), [9]);
        // A burst of the same quantum is not above, and no burst is above the last.
        assert_eq!(above(&mut known, 0, 1201.0, 3), [30]);
        assert!(above(&mut known, 0, 1399.0, 3).is_empty());
        assert_eq!(known.largest(0), Some(40));
    }

    #[test]
    fn its_own_quantum_may_be_among_those_above() {
        // Keys 5, 12 and 13.
        let mut known = History::new(Rules { own_quantum: true, ..RULES });
        for (gradient, bytes) in [(1250.0, 40), (550.0, 10), (1300.0, 30)] {
            known.insert(Time::ZERO, 0, gradient, bytes);
        }
        assert_eq!(above(&mut known, 0, 599.0, 3), [10, 40, 30]);
        // 1299 is in quantum 12, though no burst in it grew as fast; 1300 is in quantum 13, 1400 in
        // none.
        assert_eq!(above(&mut known, 0, 1299.0, 1), [40]);
        assert_eq!(above(&mut known, 0, 1300.0, 3), [30]);
        assert!(above(&mut known, 0, 1400.0, 3).is_empty());
    }

    #[test]
    fn a_port_may_know_of_its_own_bursts_only() {
        let mut known = History::new(Rules { histories: 3, ..RULES });
        let at = |us: u64| Time::from_us(us);
        for (us, port, gradient, bytes) in
            [(0, 0, 550.0, 40), (10, 2, 550.0, 10), (20, 0, 1250.0, 30), (30, 2, 590.0, 20)]
        {
            known.insert(at(us), port, gradient, bytes);
        }
        let mut of = |us: u64, port: u32| {
            let near: Vec<u64> = known.nearest_above(at(us), port, 0.0, 9).collect();
            (near, known.largest(port), known.len(), known.aged_out())
        };
        // Port 2 has seen one gradient twice, and port 1 has seen nothing.
        assert_eq!(of(30, 0), (vec![40, 30], Some(40), 3, 0));
        assert_eq!(of(30, 1), (vec![], None, 3, 0));
        assert_eq!(of(30, 2), (vec![20], Some(20), 3, 0));
        // Port 0's first burst is too old; port 2 saw the same gradient 30 us later.
        assert_eq!(of(1001, 2), (vec![20], Some(20), 2, 1));
        assert_eq!(of(1001, 0), (vec![30], Some(30), 2, 1));
        assert_eq!(known.most(), 3);
        // What is known from the beginning is known to all ports.
        let mut bytes = u32::to_le_bytes(7).to_vec();
        bytes.extend(f64::to_le_bytes(700.0));
        bytes.extend(u64::to_le_bytes(50));
        let mut another = History::new(Rules { histories: 2, ..RULES });
        another.load(&known_of(&bytes).unwrap(), 7);
        assert_eq!(
            (another.largest(0), another.largest(1), another.len()),
            (Some(50), Some(50), 2)
        );
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
        let mut another = History::new(RULES);
        another.load(&known_of(&bytes).unwrap(), 3);
        assert_eq!(above(&mut another, 0, -1e9, 9), [9, 10, 40, 50]);
        assert_eq!(another.entries().next().map(|learned| learned.gradient), Some(-150.0));
        assert_eq!(known_of(&bytes[1..]), None);
        assert_eq!(known_of(&[0xff; 20]), None);
    }

    #[test]
    fn of_one_quantum_the_largest_is_kept() {
        let mut known = history(&[(0, 500.0, 10), (0, 599.0, 7), (0, 501.0, 12)]);
        assert_eq!((known.len(), known.largest(0)), (1, Some(12)));
        assert_eq!(above(&mut known, 0, 0.0, 3), [12]);
    }

    #[test]
    fn what_has_not_been_seen_for_long_is_forgotten() {
        let mut known = history(&[(0, 500.0, 10), (10, 700.0, 20), (400, 500.0, 3)]);
        assert_eq!(above(&mut known, 1010, 0.0, 3), [10, 20]);
        // An entry is still there exactly 1000 us after it was seen, but not a picosecond later.
        // The other one was seen again, with fewer bytes, and keeps its size.
        let late = Time::from_ps(1_010_000_001);
        assert_eq!(known.nearest_above(late, 0, 0.0, 3).collect::<Vec<_>>(), [10]);
        assert_eq!((known.len(), known.aged_out()), (1, 1));
        assert!(above(&mut known, 1401, 0.0, 3).is_empty());
        assert_eq!((known.largest(0), known.aged_out(), known.most()), (None, 2, 2));
    }
}

//! When the deferred ports of a switch can send again.

use spillway_engine::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// The ports that wait, by their lines, in order of time.
#[derive(Clone, Debug)]
pub(crate) struct Timetable {
    /// The earliest time; [`Time::MAX`] if no port waits. Stored beside the heap because every
    /// arrival reads it.
    first: Time,
    entries: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Default for Timetable {
    fn default() -> Timetable {
        Timetable { first: Time::MAX, entries: BinaryHeap::new() }
    }
}

impl Timetable {
    /// A timetable that is always due and has no ports. Its owner handles every arriving packet
    /// apart.
    pub fn always_due() -> Timetable {
        Timetable { first: Time::ZERO, ..Timetable::default() }
    }

    /// Whether it is such a timetable.
    pub fn is_always_due(&self) -> bool {
        self.first == Time::ZERO && self.entries.is_empty()
    }

    /// When the first port can send; [`Time::MAX`] if none waits.
    #[inline(always)]
    pub fn first(&self) -> Time {
        self.first
    }

    /// The line of the first port, if one waits.
    #[inline(always)]
    pub fn first_line(&self) -> Option<u32> {
        self.entries.peek().map(|&Reverse((_, line))| line)
    }

    /// Adds a waiting port.
    #[inline(always)]
    pub fn add(&mut self, time: Time, line: u32) {
        self.entries.push(Reverse((time, line)));
        self.first = self.first.min(time);
    }

    /// The first port now waits for another time, or does not wait any more. This is cheaper than
    /// to remove the port and to add it again.
    #[inline(always)]
    pub fn move_first(&mut self, to: Option<Time>) {
        if let Some(mut first) = self.entries.peek_mut() {
            match to {
                Some(time) => first.0.0 = time,
                None => {
                    PeekMut::pop(first);
                }
            }
        }
        self.first = self.entries.peek().map_or(Time::MAX, |&Reverse((time, _))| time);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Compared with a list that is sorted after each step. Among ports with the same time the
        /// one with the lowest line is first.
        #[test]
        fn ports_come_in_order_of_time(
            steps in prop::collection::vec((0u64..40, 0usize..6, 0u64..20), 1..300),
        ) {
            let (mut table, mut naive, mut now) = (Timetable::default(), Vec::new(), 0);
            for (line, (ahead, moved, by)) in (0u32..).zip(steps) {
                table.add(Time::from_ps(now + ahead), line);
                naive.push((Time::from_ps(now + ahead), line));
                naive.sort();
                prop_assert_eq!(table.first(), naive[0].0);
                now += moved as u64 * 5;
                for _ in 0..moved {
                    prop_assert_eq!(table.first_line(), naive.first().map(|first| first.1));
                    // Every other port waits again.
                    let to = (by % 2 == 0).then(|| Time::from_ps(now + by));
                    table.move_first(to);
                    if !naive.is_empty() {
                        let (_, line) = naive.remove(0);
                        naive.extend(to.map(|time| (time, line)));
                        naive.sort();
                    }
                    let first = naive.first().map_or(Time::MAX, |first| first.0);
                    prop_assert_eq!(table.first(), first);
                }
            }
        }
    }
}

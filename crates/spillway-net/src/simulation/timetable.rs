//! When the ports of one switch can send again.

use spillway_engine::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Ports that wait, given by their lines, in order of time.
#[derive(Clone, Debug)]
pub(super) struct Timetable {
    /// The time of the first; [`Time::MAX`] if there is none. Kept beside the heap, since it is asked
    /// for at every arrival.
    first: Time,
    entries: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Default for Timetable {
    fn default() -> Timetable {
        Timetable { first: Time::MAX, entries: BinaryHeap::new() }
    }
}

impl Timetable {
    /// When the first of them can send; [`Time::MAX`] if nobody waits.
    #[inline(always)]
    pub fn first(&self) -> Time {
        self.first
    }

    /// Another one waits.
    #[inline(always)]
    pub fn add(&mut self, time: Time, line: u32) {
        self.entries.push(Reverse((time, line)));
        self.first = self.first.min(time);
    }

    /// Takes out the first, if it can send by `now`.
    #[inline(always)]
    pub fn take(&mut self, now: Time) -> Option<(Time, u32)> {
        if self.first > now {
            return None;
        }
        let Reverse(entry) = self.entries.pop()?;
        self.first = self.entries.peek().map_or(Time::MAX, |&Reverse((time, _))| time);
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Beside a list that is sorted anew each time; of those at the same time the earlier comes first.
        #[test]
        fn ports_are_taken_in_order_of_time(
            steps in prop::collection::vec((0u64..40, 0usize..6), 1..300),
        ) {
            let (mut table, mut naive, mut now) = (Timetable::default(), Vec::new(), 0);
            for (line, (ahead, taken)) in (0..).zip(steps) {
                table.add(Time::from_ps(now + ahead), line);
                naive.push((Time::from_ps(now + ahead), line));
                naive.sort();
                prop_assert_eq!(table.first(), naive[0].0);
                now += taken as u64 * 5;
                for _ in 0..taken {
                    let is_due = naive.first().is_some_and(|first| first.0 <= Time::from_ps(now));
                    let expected = is_due.then(|| naive.remove(0));
                    prop_assert_eq!(table.take(Time::from_ps(now)), expected);
                }
                let first = naive.first().map_or(Time::MAX, |first| first.0);
                prop_assert_eq!(table.first(), first);
            }
        }
    }
}

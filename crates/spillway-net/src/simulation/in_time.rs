//! Records of all switches as one list in order of time.

use spillway_engine::Time;

/// What switches have recorded and what has not been written to a table yet.
///
/// A run proceeds in pieces. A piece may end between two events of the same time. What was recorded
/// at that time then waits for the next piece, so the order does not depend on where pieces end.
#[derive(Clone, Debug)]
pub(super) struct InTime<T>(Vec<(Time, u32, T)>);

impl<T> Default for InTime<T> {
    fn default() -> InTime<T> {
        InTime(Vec::new())
    }
}

impl<T> InTime<T> {
    /// Adds what a switch has recorded. Each switch adds in order of time.
    pub fn add(&mut self, time: Time, switch: u32, note: T) {
        self.0.push((time, switch, note));
    }

    /// Removes what was recorded before a time, or everything with `None`, in the order of time,
    /// then switch, then recording.
    pub fn take(&mut self, before: Option<Time>) -> impl Iterator<Item = (u32, T)> + use<'_, T> {
        self.0.sort_by_key(|(time, switch, _)| (*time, *switch));
        let end = match before {
            Some(before) => self.0.partition_point(|(time, ..)| *time < before),
            None => self.0.len(),
        };
        self.0.drain(..end).map(|(_, switch, note)| (switch, note))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_in_order_of_time_wherever_a_piece_ends() {
        let mut notes = InTime::default();
        let add = |notes: &mut InTime<char>, (time, switch, note)| {
            notes.add(Time::from_ps(time), switch, note);
        };
        for row in [(3, 0, 'c'), (5, 0, 'e'), (5, 0, 'f'), (1, 1, 'a')] {
            add(&mut notes, row);
        }
        let now = Some(Time::from_ps(5));
        assert_eq!(notes.take(now).collect::<Vec<_>>(), [(1, 'a'), (0, 'c')]);
        // The next piece records more at the same time.
        for row in [(5, 0, 'g'), (5, 1, 'h'), (7, 0, 'i')] {
            add(&mut notes, row);
        }
        let all: Vec<_> = notes.take(None).collect();
        assert_eq!(all, [(0, 'e'), (0, 'f'), (0, 'g'), (1, 'h'), (0, 'i')]);
    }
}

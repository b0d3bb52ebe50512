//! Sets of byte ranges: what has arrived out of order, or been acknowledged selectively.

/// A range of bytes: its first byte, and the one behind its last.
pub type Range = (u64, u64);

/// Disjoint ranges in increasing order, with a gap between any two.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<Range>);

impl Ranges {
    /// Whether there are no ranges.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ranges, in increasing order.
    pub fn as_slice(&self) -> &[Range] {
        &self.0
    }

    /// Removes all ranges.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Bytes in all ranges.
    pub fn bytes(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    /// Adds a range, and returns the range that it has become part of.
    pub fn insert(&mut self, (start, end): Range) -> Range {
        // Ranges that touch or overlap the new one are merged with it.
        let first = self.0.partition_point(|&(_, e)| e < start);
        let last = self.0.partition_point(|&(s, _)| s <= end);
        let merged = match self.0.get(first..last) {
            Some([]) | None => (start, end),
            Some(touched) => (start.min(touched[0].0), end.max(touched[touched.len() - 1].1)),
        };
        self.0.splice(first..last, [merged]);
        merged
    }

    /// Removes all bytes before `seq`.
    pub fn remove_below(&mut self, seq: u64) {
        let gone = self.0.partition_point(|&(_, end)| end <= seq);
        self.0.drain(..gone);
        if let Some(first) = self.0.first_mut() {
            first.0 = first.0.max(seq);
        }
    }

    /// If the first range starts at or before `seq`, removes it and returns its end.
    pub fn take_through(&mut self, seq: u64) -> Option<u64> {
        let &(start, end) = self.0.first()?;
        (start <= seq).then(|| {
            self.0.remove(0);
            end
        })
    }

    /// Bytes of `from..to` that are in no range.
    pub fn missing_between(&self, from: u64, to: u64) -> u64 {
        if to <= from {
            return 0;
        }
        let covered: u64 = self.0.iter().map(|&(s, e)| e.min(to).saturating_sub(s.max(from))).sum();
        to - from - covered
    }

    /// The first gap at or behind `from`: its start, and its end if a range follows.
    pub fn gap_from(&self, from: u64) -> (u64, Option<u64>) {
        let mut start = from;
        for &(s, e) in &self.0 {
            if start < s {
                return (start, Some(s));
            }
            start = start.max(e);
        }
        (start, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn touching_ranges_become_one() {
        let mut ranges = Ranges::default();
        ranges.insert((10, 20));
        ranges.insert((30, 40));
        assert_eq!(ranges.insert((20, 30)), (10, 40));
        assert_eq!(ranges.as_slice(), [(10, 40)]);
    }

    #[test]
    fn gaps_are_found() {
        let mut ranges = Ranges::default();
        ranges.insert((10, 20));
        ranges.insert((30, 40));
        assert_eq!(ranges.gap_from(0), (0, Some(10)));
        assert_eq!(ranges.gap_from(12), (20, Some(30)));
        assert_eq!(ranges.gap_from(35), (40, None));
        // 0..10, 20..30 and 40..50.
        assert_eq!((ranges.missing_between(0, 50), ranges.missing_between(15, 35)), (30, 10));
    }

    proptest! {
        /// Compared with a plain set of bytes.
        #[test]
        fn ranges_hold_what_a_set_holds(
            inserts in prop::collection::vec((0u64..60, 1u64..12), 0..20),
            below in 0u64..70,
        ) {
            let (mut ranges, mut set) = (Ranges::default(), std::collections::BTreeSet::new());
            for (start, length) in inserts {
                let (s, e) = ranges.insert((start, start + length));
                set.extend(start..start + length);
                prop_assert!((s..e).all(|byte| set.contains(&byte)));
            }
            prop_assert_eq!(ranges.bytes(), set.len() as u64);
            prop_assert!(ranges.as_slice().windows(2).all(|w| w[0].1 < w[1].0));
            ranges.remove_below(below);
            set.retain(|&byte| byte >= below);
            prop_assert_eq!(ranges.bytes(), set.len() as u64);
            for (start, end) in ranges.as_slice() {
                prop_assert!((*start..*end).all(|byte| set.contains(&byte)));
            }
        }
    }
}

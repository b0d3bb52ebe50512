//! Which queues of a port hold packets.

/// The queue classes of a port, at most 64, whose queues hold packets. Each has one bit. So a
/// question about all of them takes one step, however many there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog(u64);

impl Backlog {
    /// A queue holds packets from now on.
    #[inline(always)]
    pub fn insert(&mut self, queue_class: u8) {
        self.0 |= 1 << queue_class;
    }

    /// A queue is empty from now on.
    #[inline(always)]
    pub fn remove(&mut self, queue_class: u8) {
        self.0 &= !(1 << queue_class);
    }

    /// A queue is empty from now on, if `is_empty`. Takes no branch.
    #[inline(always)]
    pub fn remove_if(&mut self, is_empty: bool, queue_class: u8) {
        self.0 &= !(u64::from(is_empty) << queue_class);
    }

    /// This backlog without the given queue classes, a bit each.
    #[inline(always)]
    pub fn but(self, queue_classes: u64) -> Backlog {
        Backlog(self.0 & !queue_classes)
    }

    /// Whether no queue holds anything.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether a queue holds packets.
    #[inline(always)]
    pub fn has(self, queue_class: u8) -> bool {
        self.0 >> queue_class & 1 == 1
    }

    /// The lowest queue class that holds packets. There must be one.
    #[inline(always)]
    pub fn first(self) -> u8 {
        debug_assert!(!self.is_empty(), "the first of no queues");
        self.0.trailing_zeros() as u8
    }

    /// The lowest queue class from `queue_class` on that holds packets, or else the lowest of all.
    /// There must be one.
    #[inline(always)]
    pub fn first_from(self, queue_class: u8) -> u8 {
        let from = Backlog(self.0 >> queue_class << queue_class);
        if from.is_empty() { self.first() } else { from.first() }
    }

    /// All queue classes that hold packets, the lowest first.
    #[inline(always)]
    pub fn iter(self) -> impl Iterator<Item = u8> {
        let left = |held: u64| (held != 0).then_some(held);
        std::iter::successors(left(self.0), move |held| left(held & (held - 1)))
            .map(|held| held.trailing_zeros() as u8)
    }
}

impl FromIterator<u8> for Backlog {
    fn from_iter<I: IntoIterator<Item = u8>>(queue_classes: I) -> Backlog {
        let mut backlog = Backlog::default();
        queue_classes.into_iter().for_each(|queue_class| backlog.insert(queue_class));
        backlog
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// Compared with a set, over random changes of up to 64 queues.
        #[test]
        fn it_is_the_set_of_queues_that_hold_packets(
            changes in prop::collection::vec((0u8..64, any::<bool>(), any::<bool>()), 1..200),
            from in 0u8..64,
        ) {
            let (mut backlog, mut naive) = (Backlog::default(), BTreeSet::new());
            for (queue_class, holds, by_condition) in changes {
                match (holds, by_condition) {
                    (true, false) => backlog.insert(queue_class),
                    (true, true) => {
                        backlog.insert(queue_class);
                        backlog.remove_if(false, queue_class);
                    }
                    (false, false) => backlog.remove(queue_class),
                    (false, true) => backlog.remove_if(true, queue_class),
                }
                if holds { naive.insert(queue_class); } else { naive.remove(&queue_class); }
                prop_assert_eq!(backlog.is_empty(), naive.is_empty());
                prop_assert_eq!(backlog.has(queue_class), holds);
                prop_assert!(backlog.iter().eq(naive.iter().copied()));
                prop_assert_eq!(naive.iter().copied().collect::<Backlog>(), backlog);
                if let Some(&first) = naive.first() {
                    let next = naive.range(from..).next().copied().unwrap_or(first);
                    prop_assert_eq!((backlog.first(), backlog.first_from(from)), (first, next));
                }
            }
        }
    }
}

//! Merges several sorted streams into one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// The items of several sorted streams in one order. Only the next item of each stream is held.
///
/// Items that compare as equal are identical, so the order of the streams does not matter.
#[derive(Clone, Debug)]
pub struct Merge<I: Iterator> {
    streams: Vec<I>,
    /// The next item of every stream that has one, with the stream's index.
    heads: BinaryHeap<Reverse<(I::Item, usize)>>,
}

impl<I: Iterator<Item: Ord>> Merge<I> {
    /// Merges streams, each of which must be sorted.
    pub fn new(mut streams: Vec<I>) -> Merge<I> {
        let head = |(place, stream): (usize, &mut I)| Some(Reverse((stream.next()?, place)));
        let heads = streams.iter_mut().enumerate().filter_map(head).collect();
        Merge { streams, heads }
    }
}

impl<I: Iterator<Item: Ord>> Iterator for Merge<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        let mut first = self.heads.peek_mut()?;
        let Reverse((head, place)) = &mut *first;
        match self.streams[*place].next() {
            Some(next) => {
                debug_assert!(next >= *head, "a merged stream is not sorted");
                Some(std::mem::replace(head, next))
            }
            None => Some(PeekMut::pop(first).0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_streams_come_out_sorted_whatever_their_order() {
        let streams = [vec![1, 4, 4, 9], vec![], vec![2, 4], vec![0, 10]];
        let merged = |order: [usize; 4]| -> Vec<u32> {
            Merge::new(order.map(|place| streams[place].clone().into_iter()).into()).collect()
        };
        assert_eq!(merged([0, 1, 2, 3]), [0, 1, 2, 4, 4, 4, 9, 10]);
        assert_eq!(merged([0, 1, 2, 3]), merged([3, 2, 1, 0]));
    }

    #[test]
    fn streams_may_be_endless() {
        let multiples = |n: u64| (1u64..).map(move |i| n * i);
        let merged = Merge::new(vec![multiples(2), multiples(5)]);
        assert_eq!(merged.take(7).collect::<Vec<_>>(), [2, 4, 5, 6, 8, 10, 10]);
    }
}

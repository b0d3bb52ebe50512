//! The sizes of the packets that wait in a queue that sends in order.

use std::collections::VecDeque;

/// Sizes, of which the first lies beside the list of the others. It is at hand when its packet is
/// sent, and nothing waits for the next one, which is then fetched.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes {
    /// 0 if there is none.
    first: u32,
    more: VecDeque<u32>,
}

impl Sizes {
    #[inline(always)]
    pub fn push(&mut self, size: u32) {
        if self.first == 0 {
            self.first = size;
        } else {
            self.more.push_back(size);
        }
    }

    /// Takes out the first size. Returns it, and whether there are more.
    #[inline(always)]
    pub fn take(&mut self) -> (u32, bool) {
        debug_assert!(self.first > 0, "a queue that is not empty has a packet");
        let size = self.first;
        let next = self.more.pop_front();
        self.first = next.unwrap_or(0);
        (size, next.is_some())
    }

    pub fn is_empty(&self) -> bool {
        self.first == 0
    }

    pub fn iter(&self) -> impl Iterator<Item = &u32> {
        std::iter::once(&self.first).filter(|&&first| first > 0).chain(&self.more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sizes_come_out_as_they_went_in(pushes in prop::collection::vec(0usize..12, 1..60)) {
            let (mut sizes, mut naive) = (Sizes::default(), VecDeque::new());
            for (number, pushed) in (1..).zip(pushes) {
                for size in (number * 100..).take(pushed) {
                    sizes.push(size);
                    naive.push_back(size);
                }
                for _ in 0..naive.len().min(5) {
                    let size = naive.pop_front().unwrap();
                    prop_assert_eq!(sizes.take(), (size, !naive.is_empty()));
                }
                prop_assert!(sizes.iter().eq(&naive));
                prop_assert_eq!(sizes.is_empty(), naive.is_empty());
            }
        }
    }
}

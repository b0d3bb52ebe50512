//! The one place with unsafe code: asking the processor to fetch memory that is needed soon.

/// Starts to fetch `items[index]` into the cache, or the last item if there are fewer: whether
/// there is such an item would be one more branch that cannot be predicted. Does nothing on a
/// processor without such an instruction.
#[inline(always)]
#[allow(unsafe_code)]
pub fn prefetch<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(item) = at_or_last(items, index) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch reads nothing that the program can see, and the address is valid.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}

/// `items[index]`, or the last item if there are fewer; `None` if there are none at all.
#[inline(always)]
pub fn at_or_last<T>(items: &[T], index: usize) -> Option<&T> {
    items.get(index.min(items.len().wrapping_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_last_is_the_last() {
        let at = |items: &[u8], index| at_or_last(items, index).copied();
        assert_eq!([0, 1, 2, usize::MAX].map(|index| at(&[7, 8], index)), [7, 8, 8, 8].map(Some));
        assert_eq!((at(&[], 0), at(&[], usize::MAX)), (None, None));
    }
}

//! Prefetching memory that is needed soon.

/// Starts to fetch `items[index]` into the cache. The index is not checked: if there is no such
/// item, something else is fetched, or nothing. Does nothing on processors without such an
/// instruction.
#[inline(always)]
#[allow(unsafe_code)]
pub fn prefetch<T>(items: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let item = items.as_ptr().wrapping_add(index);
        // SAFETY: a prefetch has no effect that the program can observe, and any address is
        // allowed.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(item.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, index);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_index_will_do() {
        let items = [7, 8];
        for index in [0, 1, 2, usize::MAX] {
            prefetch(&items, index);
        }
        prefetch(&items[..0], 0);
        assert_eq!(items, [7, 8]);
    }
}

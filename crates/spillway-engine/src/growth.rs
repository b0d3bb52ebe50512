//! Arrays that grow to many megabytes.

/// The least size for which huge pages are asked for, in bytes.
const LEAST: usize = 4 << 20;

/// Adds an item at the end of an array. Where the system has huge pages for those who ask, a large
/// array lies on them, so that the processor finds its addresses sooner.
#[inline]
pub fn push<T>(items: &mut Vec<T>, item: T) {
    if items.len() == items.capacity() {
        grow(items);
    }
    items.push(item);
}

/// Large arrays grow into new memory: pages that move with an array stay as small as they are.
#[cold]
fn grow<T>(items: &mut Vec<T>) {
    let capacity = 2 * items.capacity();
    if capacity * size_of::<T>() < LEAST {
        return items.reserve(1);
    }
    let mut larger = Vec::with_capacity(capacity);
    ask_for_huge_pages(&larger);
    larger.append(items);
    *items = larger;
}

/// Asks the system for huge pages for an array with all of its capacity, if that is large.
#[allow(unsafe_code)]
pub fn ask_for_huge_pages<T>(items: &Vec<T>) {
    let bytes = items.capacity() * size_of::<T>();
    if bytes < LEAST {
        return;
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::mm::{Advice, madvise};
        let page = rustix::param::page_size();
        let begin = items.as_ptr().cast::<u8>();
        let to_page = begin.addr().next_multiple_of(page) - begin.addr();
        let whole = (bytes - to_page) / page * page;
        let begin = begin.wrapping_add(to_page).cast_mut().cast();
        // SAFETY: the advice changes no contents, and the range lies within the allocation.
        // If it is not taken, nothing is lost.
        let _ = unsafe { madvise(begin, whole, Advice::LinuxHugepage) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_keep_what_is_in_them_while_they_grow() {
        let mut items = Vec::new();
        let many = 2 * LEAST as u64 / 8;
        (0..many).for_each(|item| push(&mut items, item));
        assert!(items.capacity() * 8 > LEAST);
        assert!(items.iter().copied().eq(0..many));
        ask_for_huge_pages(&Vec::<u64>::new());
    }
}

//! Numbers in binary records, little-endian.

/// The four bytes from `from` on, as a number.
pub fn u32_at(record: &[u8], from: usize) -> u32 {
    record[from..from + 4].iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

/// The eight bytes from `from` on, as a number.
pub fn u64_at(record: &[u8], from: usize) -> u64 {
    u64::from(u32_at(record, from)) | u64::from(u32_at(record, from + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_byte_comes_first() {
        let record = [9, 1, 2, 3, 4, 5, 6, 7, 8];
        assert_eq!(u32_at(&record, 1), 0x0403_0201);
        assert_eq!(u64_at(&record, 1), 0x0807_0605_0403_0201);
    }
}

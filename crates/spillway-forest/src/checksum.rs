//! The checksum of a file.

use std::ops::Range;

const KEY: &[u8] = b"\"crc32\":\"";
const BLANK: &[u8] = b"00000000";

/// The place of the checksum in a file's header, and its correct value: the CRC-32 of all bytes,
/// with zeros in that place, as eight hexadecimal digits. `None` if the header has no checksum.
pub fn checksum(bytes: &[u8]) -> Option<(Range<usize>, String)> {
    let length = u64::from_le_bytes(*bytes.first_chunk()?);
    let header = usize::try_from(length).ok()?.checked_add(8)?;
    let key = bytes.get(..header)?.windows(KEY.len()).position(|window| window == KEY)?;
    let place = key + KEY.len()..key + KEY.len() + BLANK.len();
    bytes.get(place.clone())?;
    let mut sum = crc32fast::Hasher::new();
    sum.update(&bytes[..place.start]);
    sum.update(BLANK);
    sum.update(&bytes[place.end..]);
    Some((place, format!("{:08x}", sum.finalize())))
}

//! The most that one queue may hold.

use crate::buffer::Length;
use spillway_settings::quantity::Amount;

/// The most that one queue may hold, in packets and in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueueLimit(Length);

impl QueueLimit {
    /// A limit, in the unit in which it is given. Lengths are counted in 32 bits, so no queue holds
    /// more than 4 GiB, whatever the limit.
    pub fn of(limit: Amount) -> QueueLimit {
        let capped = |limit: u64| u32::try_from(limit).unwrap_or(u32::MAX);
        let (packets, bytes) = match limit {
            Amount::Packets(limit) => (capped(limit), u32::MAX),
            Amount::Bytes(limit) => (u32::MAX, capped(limit)),
            Amount::Unlimited => (u32::MAX, u32::MAX),
        };
        QueueLimit(Length { packets, bytes })
    }

    /// Whether a packet of `size` bytes may join a queue of this length.
    #[inline(always)]
    pub fn has_room(self, length: Length, size: u32) -> bool {
        let bytes = u64::from(length.bytes) + u64::from(size);
        length.packets < self.0.packets && bytes <= self.0.bytes.into()
    }

    /// Whether an empty queue takes a packet of `size` bytes.
    pub fn takes(self, size: u32) -> bool {
        self.has_room(Length::default(), size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_or_bytes_are_counted_with_the_arrival() {
        let room =
            |limit, packets, bytes| QueueLimit::of(limit).has_room(Length { packets, bytes }, 1500);
        assert!(room(Amount::Packets(3), 2, 9_000_000) && !room(Amount::Packets(3), 3, 3));
        assert!(room(Amount::Bytes(4_500), 99, 3_000) && !room(Amount::Bytes(4_500), 1, 3_001));
        assert!(room(Amount::Unlimited, 1 << 31, u32::MAX - 1500));
        // Lengths are counted up to 4 GiB.
        assert!(!room(Amount::Bytes(1 << 40), 1, u32::MAX - 1499));
        assert!(!QueueLimit::of(Amount::Packets(0)).takes(1));
    }
}

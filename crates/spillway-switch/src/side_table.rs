//! Data that only some packets carry.

use crate::packet::PacketId;

/// Data that only some packets carry, kept beside the [`Arena`](crate::packet::Arena) and addressed
/// by the packets' numbers, so that other packets do not pay for it.
///
/// Packets' records are full. Whatever only some runs need of a packet (the telemetry that switches
/// write, the ranges of selective acks) gets a side table; a [flag](crate::packet::flags) on the
/// packet says whether it has an entry. Packets' numbers are reused: an entry without the flag is
/// an old packet's.
#[derive(Clone, Debug)]
pub struct SideTable<T>(Vec<T>);

impl<T> Default for SideTable<T> {
    fn default() -> SideTable<T> {
        SideTable(Vec::new())
    }
}

impl<T: Clone + Default> SideTable<T> {
    /// Bytes that the table takes.
    pub fn bytes(&self) -> u64 {
        size_of_val(self.0.as_slice()) as u64
    }

    /// A packet's entry; `None` if no packet with so high a number ever had one.
    #[inline]
    pub fn get(&self, id: PacketId) -> Option<&T> {
        self.0.get(id as usize)
    }

    /// A packet's entry, to be written. It holds the default, or what the number's last packet
    /// left.
    #[inline]
    pub fn of(&mut self, id: PacketId) -> &mut T {
        let place = id as usize;
        if self.0.len() <= place {
            self.0.resize(place + 1, T::default());
        }
        &mut self.0[place]
    }

    /// Copies the entry of one packet to another.
    #[cold]
    pub fn copy(&mut self, from: PacketId, to: PacketId) {
        let entry = std::mem::take(self.of(from));
        self.of(to).clone_from(&entry);
        *self.of(from) = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_to_the_highest_number_that_carries_something() {
        let mut table = SideTable::<u64>::default();
        assert_eq!((table.get(0), table.bytes()), (None, 0));
        *table.of(2) = 7;
        assert_eq!((table.get(0), table.get(2), table.get(3)), (Some(&0), Some(&7), None));
        assert_eq!(table.bytes(), 24);
        table.copy(2, 4);
        assert_eq!(table.get(4), Some(&7));
    }
}

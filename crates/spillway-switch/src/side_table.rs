//! Data that only some packets carry.

use crate::packet::PacketId;

/// Data that only some packets carry. The table lies beside the [`Arena`](crate::packet::Arena) and
/// is addressed by the packets' numbers. Packets without such data do not pay for it.
///
/// A packet's record has no room left. Data of packets that only some runs need, such as the
/// telemetry of switches or the ranges of selective acks, get a side table. A
/// [flag](crate::packet::flags) on the packet says whether it has an entry. Packets' numbers are
/// reused, so an entry without the flag belongs to an older packet.
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

    /// A packet's entry, to be written. It holds the default value, or what an older packet with
    /// this number left.
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

//! What only some packets carry.

use crate::packet::PacketId;

/// What only some packets carry, kept beside the [`Arena`](crate::packet::Arena) by the packets'
/// numbers, so that nobody else pays for it.
///
/// Packets' records are full. Whatever only some runs need of a packet (what switches write on it, the
/// ranges that an ack tells) gets a side table; a [flag](crate::packet::flags) on the packet says
/// whether it carries it. A packet's number is used again: what is there without the flag is old.
#[derive(Clone, Debug)]
pub struct SideTable<T>(Vec<T>);

impl<T> Default for SideTable<T> {
    fn default() -> SideTable<T> {
        SideTable(Vec::new())
    }
}

impl<T: Copy + Default> SideTable<T> {
    /// Bytes that it takes.
    pub fn bytes(&self) -> u64 {
        size_of_val(self.0.as_slice()) as u64
    }

    /// What a packet carries; `None` if no packet with so high a number ever carried any.
    #[inline]
    pub fn get(&self, id: PacketId) -> Option<&T> {
        self.0.get(id as usize)
    }

    /// The same, to be written: the default, or what is left of the number's last packet.
    #[inline]
    pub fn of(&mut self, id: PacketId) -> &mut T {
        let place = id as usize;
        if self.0.len() <= place {
            self.0.resize(place + 1, T::default());
        }
        &mut self.0[place]
    }

    /// Has a packet carry what another carries.
    #[cold]
    pub fn copy(&mut self, from: PacketId, to: PacketId) {
        *self.of(to) = *self.of(from);
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

//! In which queue class a packet waits.

use spillway_switch::packet::{NO_PRIORITY, Packet, flags};
use std::hint::select_unpredictable;

/// The queue classes of packets at a switch, as its neighbours know them, or at a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketClasses {
    /// Of data without a priority.
    pub data: u8,
    /// Of acks and other control packets.
    pub acks: u8,
    /// The last one.
    pub last: u8,
}

impl PacketClasses {
    /// The queue class of a packet.
    #[inline]
    pub fn of(&self, packet: &Packet) -> u8 {
        // Packets of all kinds arrive in no predictable order, so a branch would often be
        // mispredicted.
        let is_control = packet.flags & flags::CONTROL != 0;
        let plain = select_unpredictable(is_control, self.acks, self.data);
        let by_priority = packet.priority.min(self.last);
        select_unpredictable(packet.priority == NO_PRIORITY, plain, by_priority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_waits_by_its_priority_or_by_its_kind() {
        let classes = PacketClasses { data: 2, acks: 1, last: 3 };
        let of = |priority, flags| classes.of(&Packet { priority, flags, ..Packet::default() });
        let control = flags::CONTROL | flags::SYN;
        assert_eq!((of(NO_PRIORITY, 0), of(NO_PRIORITY, flags::ECT)), (2, 2));
        assert_eq!((of(NO_PRIORITY, control), of(0, control)), (1, 0));
        assert_eq!([0, 3, 4, 254].map(|priority| of(priority, 0)), [0, 3, 3, 3]);
    }
}

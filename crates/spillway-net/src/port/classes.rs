//! In which queue class of a switch a packet waits.

use spillway_switch::packet::{NO_PRIORITY, Packet, flags};

/// The queue classes of packets at a switch, as its neighbours know them.
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
        match packet.priority {
            NO_PRIORITY if packet.flags & flags::CONTROL != 0 => self.acks,
            NO_PRIORITY => self.data,
            priority => priority.min(self.last),
        }
    }
}

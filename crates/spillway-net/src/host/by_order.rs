//! Flows whose sender finds losses by the order of its packets. The simulator tells the sender
//! which of its packets were dropped. Only counts depend on this.

use super::Hosts;
use super::ends::Driver;
use crate::network::Network;
use spillway_switch::packet::{PacketId, flags};

/// What the sender of a lost packet is told of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gone {
    /// Whether it was a data packet.
    pub is_data: bool,
    /// Its number, or that of the packet that it answers, if it has one.
    pub number: Option<u64>,
}

impl Gone {
    /// A packet that is about to be removed.
    pub fn of(net: &Network, id: PacketId) -> Gone {
        let has = net.packets[id].flags;
        let is_numbered = has & (flags::NUMBERED | flags::SYN) == flags::NUMBERED;
        Gone {
            is_data: has & flags::CONTROL == 0,
            number: if is_numbered { net.numbers.get(id).copied() } else { None },
        }
    }
}

impl Hosts {
    /// A packet was lost. If the packet has a number, or answers a packet that has one, the
    /// sender's counts need to know.
    #[cold]
    pub(super) fn note_number_of_lost(&mut self, slot: u32, lost: &Gone) {
        if let (Driver::ClosedLoop(sender), Some(number)) =
            (&mut self.ends.sending_mut(slot).driver, lost.number)
        {
            sender.note_dropped(number, !lost.is_data);
        }
    }
}

//! Flows whose sender finds losses by the order of its packets. The simulator tells the sender
//! which of its packets were dropped. Only counts depend on this.

use super::Hosts;
use super::ends::Driver;
use crate::network::Network;
use spillway_switch::packet::{PacketId, flags};

impl Hosts {
    /// A packet was lost. If the packet has a number, or answers a packet that has one, the
    /// sender's counts need to know.
    #[cold]
    pub fn note_number_of_lost(&mut self, net: &Network, slot: u32, id: PacketId) {
        let packet_flags = net.packets[id].flags;
        if packet_flags & (flags::NUMBERED | flags::SYN) != flags::NUMBERED {
            return;
        }
        let is_answer = packet_flags & flags::CONTROL != 0;
        if let (Driver::ClosedLoop(sender), Some(&number)) =
            (&mut self.ends.sending_mut(slot).driver, net.numbers.get(id))
        {
            sender.note_dropped(number, is_answer);
        }
    }
}

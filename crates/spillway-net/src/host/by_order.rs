//! Flows whose sender finds losses by the order of its packets: the simulator tells it which of
//! them were dropped, and nothing but counts hangs on that.

use super::Hosts;
use super::ends::Driver;
use crate::network::Network;
use spillway_switch::packet::{PacketId, flags};

impl Hosts {
    /// A packet was lost. If it has a number, or answers one that has, the sender's counts need it.
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

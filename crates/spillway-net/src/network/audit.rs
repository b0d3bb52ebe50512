//! Checks of the network's accounts.

use super::Network;
use crate::port::nic::Nic;
use spillway_switch::Switch;
use spillway_switch::packet::{NO_PACKET, PacketId};

impl Network {
    /// Whether every packet and byte made has arrived, was lost, or is still in the network, and
    /// all switches' counters agree with their packets. For tests: it visits every packet.
    pub fn is_conserved(&self) -> bool {
        let (mut packets, mut bytes) = (0, 0);
        let mut count = |mut id: PacketId| {
            while id != NO_PACKET {
                packets += 1;
                bytes += u64::from(self.packets[id].size);
                id = self.packets[id].next;
            }
        };
        self.lines.iter().for_each(|line| count(line.head));
        self.nics.iter().flat_map(Nic::heads).for_each(&mut count);
        self.switches.iter().flat_map(Switch::heads).for_each(&mut count);
        let t = &self.totals;
        t.made_packets == t.arrived_packets + t.lost_packets + packets
            && t.made_bytes == t.arrived_bytes + t.lost_bytes + bytes
            && packets == self.packets.live() as u64
            && self.switches.iter().all(|switch| switch.is_consistent(&self.packets))
            && self.nics.iter().all(|nic| nic.is_consistent(&self.packets))
    }
}

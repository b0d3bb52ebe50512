//! Hosts' cards with a discipline: what they send, and what they lose.

use super::network::{Lost, Network};
use crate::topology::Node;
use spillway_switch::DropReason;
use spillway_switch::packet::PacketId;

impl Network {
    /// A packet for such a card. One that finds the line idle is queued and sent at once.
    #[inline(never)]
    pub fn offer(&mut self, host: u32, id: PacketId) {
        if let Err(reason) = self.nics[host as usize].offer(self.now, id, &mut self.packets) {
            return self.lose_at_card(host, id, reason);
        }
        let line = &self.lines[host as usize];
        if !line.waits {
            match line.busy_until <= self.now {
                true => self.send_managed(host),
                false => self.wait(host),
            }
        }
    }

    /// Such a card can send: what is next and is not lost on its way out.
    #[inline(never)]
    pub fn send_managed(&mut self, host: u32) {
        while self.nics[host as usize].has_backlog() {
            let nic = &mut self.nics[host as usize];
            match nic.release(self.now, &mut self.packets) {
                (id, Ok(())) => {
                    let waits = nic.has_backlog();
                    return self.send_and_wait(host, (id, waits));
                }
                (id, Err(reason)) => self.lose_at_card(host, id, reason),
            }
        }
    }

    #[cold]
    fn lose_at_card(&mut self, host: u32, packet: PacketId, reason: DropReason) {
        let queue = Some(self.packets[packet].class.into());
        self.lost.push(Lost { packet, reason, at: Node::Host(host), queue });
    }
}

//! The hosts' NICs within the network: what they send, and what they lose.

use super::{Lost, Network};
use crate::port::nic::NicQueueing;
use crate::topology::Node;
use spillway_engine::Time;
use spillway_switch::DropReason;
use spillway_switch::packet::{Contents, Packet, PacketId, flags};

impl Network {
    /// Makes a packet and sends it out of a host.
    #[inline]
    pub fn launch(&mut self, host: u32, packet: Packet, contents: Contents) {
        let id = self.packets.insert(packet, contents);
        if packet.flags & flags::TELEMETRY != 0 {
            self.telemetry.of(id).clear();
        }
        self.relaunch(host, id);
    }

    /// Sends a packet out of a host that was made, in place, from one that had arrived there.
    #[inline]
    pub fn relaunch(&mut self, host: u32, id: PacketId) {
        self.totals.made_packets += 1;
        self.totals.made_bytes += u64::from(self.packets[id].size);
        match self.nic_queueing {
            NicQueueing::Plain => return self.transmit(host, id),
            NicQueueing::Managed => return self.offer(host, id),
            NicQueueing::Queued => {}
        }
        let line = &mut self.lines[host as usize];
        if line.busy_until <= self.now && !line.waits {
            return self.transmit(host, id);
        }
        let waits = line.waits;
        self.nics[host as usize].enqueue(id, &mut self.packets);
        if !waits {
            self.wait(host);
        }
    }

    /// How long a host's line will be busy with what its host has given it to send.
    #[inline(always)]
    pub fn host_backlog(&self, host: u32) -> Time {
        let line = &self.lines[host as usize];
        if self.nic_queueing == NicQueueing::Plain {
            return line.busy_until.since(self.now);
        }
        let sending = self.busy_until(host).since(self.now);
        sending + line.time_of(self.nics[host as usize].bytes())
    }

    /// Offers a packet to a managed NIC. If the line is idle, the packet is queued and sent at
    /// once.
    #[inline(never)]
    pub fn offer(&mut self, host: u32, id: PacketId) {
        if let Err(reason) = self.nics[host as usize].offer(self.now, id, &mut self.packets) {
            return self.lose_at_nic(host, id, reason);
        }
        let line = &self.lines[host as usize];
        if !line.waits {
            match line.busy_until <= self.now {
                true => self.send_managed(host),
                false => self.wait(host),
            }
        }
    }

    /// A managed NIC can send: it sends the first packet that its discipline does not drop on the
    /// way out.
    #[inline(never)]
    pub fn send_managed(&mut self, host: u32) {
        while self.nics[host as usize].has_backlog() {
            let nic = &mut self.nics[host as usize];
            match nic.release(self.now, &mut self.packets) {
                (id, Ok(())) => {
                    let waits = nic.has_backlog();
                    return self.send_and_wait(host, (id, waits));
                }
                (id, Err(reason)) => self.lose_at_nic(host, id, reason),
            }
        }
    }

    #[cold]
    fn lose_at_nic(&mut self, host: u32, packet: PacketId, reason: DropReason) {
        let queue = Some(self.packets[packet].queue_class.into());
        self.lost.push(Lost { packet, reason, at: Node::Host(host), queue });
    }
}

//! Packets on lines and through switches.

use super::Simulation;
use super::key::{Kind, key};
use crate::routing::PathChoice;
use spillway_switch::DropReason;
use spillway_switch::packet::{NO_PACKET, PacketId, flags};

impl Simulation {
    /// The first packet on a line arrives at its far end.
    #[inline]
    pub(super) fn on_arrival(&mut self, line_id: u32) {
        let line = &mut self.lines[line_id as usize];
        let id = line.head;
        // A failure takes packets off their line; their event comes all the same.
        if id == NO_PACKET || self.packets[id].time != self.now {
            return;
        }
        let next = self.packets[id].next;
        line.head = next;
        if next != NO_PACKET {
            self.events.push(self.packets[next].time, key(Kind::Arrival, line_id));
        }
        let to = line.to;
        if line.to_host {
            self.deliver(to, id);
        } else {
            self.forward(to, id);
        }
    }

    /// A port can send again.
    #[inline]
    pub(super) fn on_wake(&mut self, line_id: u32) {
        let now = self.now;
        let line = &mut self.lines[line_id as usize];
        if line.busy_until > now {
            // The line failed and came back in the meantime.
            self.events.push(line.busy_until, key(Kind::Wake, line_id));
            return;
        }
        line.wakes = false;
        if line_id < self.nics.len() as u32 {
            let nic = &mut self.nics[line_id as usize];
            if nic.has_backlog() {
                let id = nic.dequeue(&self.packets);
                let more = nic.has_backlog();
                self.transmit(line_id, id);
                self.wake_after_sending(line_id, more);
            }
            return;
        }
        let (switch_id, port) = (line.from, line.port);
        let switch = &mut self.switches[switch_id as usize];
        if switch.releases_at_end() {
            switch.on_sent(now, port);
        }
        if !switch.has_backlog(port) {
            return;
        }
        let sent = switch.dequeue(now, port, &mut self.packets);
        let wake = switch.has_backlog(port) || (switch.releases_at_end() && sent.is_some());
        if !switch.lost().is_empty() {
            self.collect_lost(switch_id);
        }
        if let Some(id) = sent {
            self.transmit(line_id, id);
        }
        self.wake_after_sending(line_id, wake);
    }

    #[inline]
    fn wake_after_sending(&mut self, line_id: u32, wake: bool) {
        let line = &mut self.lines[line_id as usize];
        if wake && !line.wakes {
            line.wakes = true;
            self.events.push(line.busy_until, key(Kind::Wake, line_id));
        }
    }

    /// A packet has arrived at a switch.
    #[inline]
    pub(super) fn forward(&mut self, switch_id: u32, id: PacketId) {
        let packet = &self.packets[id];
        let hops = self.routing.next_hops(switch_id, packet.dst);
        let port = match hops {
            [] => return self.lose_without_route(switch_id, id),
            [only] => *only,
            many => {
                let choice = if packet.flags & flags::EXPLICIT_PATH != 0 {
                    PathChoice::Path(packet.path).pick(0, many.len())
                } else if let Some(random) = &mut self.spray {
                    random[switch_id as usize].below(many.len() as u64) as usize
                } else {
                    let seed = self.switch_seeds[switch_id as usize];
                    PathChoice::Hash(packet.path).pick(seed, many.len())
                };
                many[choice]
            }
        };
        let line_id = self.first_line[switch_id as usize] + port;
        let now = self.now;
        let line = &mut self.lines[line_id as usize];
        let switch = &mut self.switches[switch_id as usize];
        if line.busy_until <= now && !line.wakes {
            let sent = switch.pass(now, port, id, &mut self.packets);
            let wake = switch.releases_at_end() && sent.is_some();
            if !switch.lost().is_empty() {
                self.collect_lost(switch_id);
            }
            if let Some(id) = sent {
                self.transmit(line_id, id);
            }
            self.wake_after_sending(line_id, wake);
        } else {
            switch.enqueue(now, port, id, &mut self.packets);
            let wake = switch.has_backlog(port);
            if wake && !line.wakes {
                line.wakes = true;
                self.events.push(line.busy_until, key(Kind::Wake, line_id));
            }
            if !switch.lost().is_empty() {
                self.collect_lost(switch_id);
            }
        }
    }

    /// A packet goes out of a host.
    #[inline]
    pub(super) fn send(&mut self, host: u32, id: PacketId) {
        let line = &mut self.lines[host as usize];
        let nic = &mut self.nics[host as usize];
        if line.busy_until <= self.now && !line.wakes {
            self.transmit(host, id);
            return;
        }
        nic.enqueue(id, &mut self.packets);
        if !line.wakes {
            line.wakes = true;
            self.events.push(line.busy_until, key(Kind::Wake, host));
        }
    }

    /// Puts a packet on an idle line.
    #[inline]
    pub(super) fn transmit(&mut self, line_id: u32, id: PacketId) {
        self.counters.packet_hops += 1;
        let line = &mut self.lines[line_id as usize];
        let packet = &mut self.packets[id];
        let end = self.now + line.rate.time_of(packet.size.into());
        line.busy_until = end;
        let due = end + line.delay;
        packet.time = due;
        packet.next = NO_PACKET;
        self.instruments.count_sent(line_id, packet.size);
        if line.impaired && self.is_lost_on_line(line_id, id) {
            return;
        }
        let line = &mut self.lines[line_id as usize];
        let tail = std::mem::replace(&mut line.tail, id);
        if line.head == NO_PACKET {
            line.head = id;
            self.events.push(due, key(Kind::Arrival, line_id));
        } else {
            self.packets[tail].next = id;
        }
    }

    /// Takes what a switch has lost out of the network.
    #[cold]
    fn collect_lost(&mut self, switch_id: u32) {
        let lost = self.switches[switch_id as usize].lost().to_vec();
        self.switches[switch_id as usize].clear_lost();
        for lost in lost {
            self.note_drop(Some((switch_id, Some(lost.queue))), lost.packet, lost.reason);
            self.remove_packet(lost.packet);
        }
    }

    /// The same after a purge.
    pub(super) fn collect_purged(&mut self, switch_id: u32) {
        self.collect_lost(switch_id);
    }

    #[cold]
    fn lose_without_route(&mut self, switch_id: u32, id: PacketId) {
        self.note_drop(Some((switch_id, None)), id, DropReason::NoRoute);
        self.remove_packet(id);
    }

    /// A packet that is lost leaves the network and its flow.
    pub(super) fn remove_packet(&mut self, id: PacketId) {
        let packet = &self.packets[id];
        let (slot, size) = (packet.slot, packet.size);
        self.counters.totals.lost_packets += 1;
        self.counters.totals.lost_bytes += u64::from(size);
        self.packets.remove(id);
        self.flows[slot].packets -= 1;
        self.release_if_over(slot);
    }
}

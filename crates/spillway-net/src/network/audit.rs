//! Checks of the network's accounts.

use super::intake::Intake;
use super::{Network, Totals};
use spillway_switch::Switch;
use spillway_switch::packet::{NO_PACKET, PacketId};

impl Network {
    /// Whether every packet and byte made has arrived, was lost, or is still in the network, and
    /// all switches' counters agree with their packets. For tests: it visits every packet.
    pub fn is_conserved(&self) -> bool {
        let (packets, bytes) = self.present();
        self.totals.are_all_but(packets, bytes)
            && packets == self.packets.live() as u64
            && self.is_consistent()
    }

    /// Whether all switches' and NICs' counters agree with their packets.
    pub fn is_consistent(&self) -> bool {
        self.switches.iter().all(|switch| switch.is_consistent(&self.packets))
            && self.nics.iter().all(|nic| nic.is_consistent(&self.packets))
    }

    /// The packets and bytes that are in the network.
    pub fn present(&self) -> (u64, u64) {
        let (mut packets, mut bytes) = (0, 0);
        let mut count = |mut id: PacketId| {
            while id != NO_PACKET {
                packets += 1;
                bytes += u64::from(self.packets[id].size);
                id = self.packets[id].next;
            }
        };
        self.lines.iter().for_each(|line| count(line.head));
        self.switches.iter().flat_map(Switch::heads).for_each(&mut count);
        let at_nics = self.nics.iter().flat_map(|nic| nic.waiting(&self.packets));
        for id in self.intakes.iter().flat_map(Intake::waiting).chain(at_nics) {
            packets += 1;
            bytes += u64::from(self.packets[id].size);
        }
        (packets, bytes)
    }
}

impl Totals {
    /// Whether all that was made has arrived or was lost, but so much.
    pub fn are_all_but(&self, packets: u64, bytes: u64) -> bool {
        self.made_packets == self.arrived_packets + self.lost_packets + packets
            && self.made_bytes == self.arrived_bytes + self.lost_bytes + bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Shortcuts;
    use crate::testing::{Bench, STAR};
    use spillway_engine::Time;
    use spillway_switch::DropReason;
    use spillway_switch::packet::{Contents, Packet};

    /// Host 0's NIC has a packet on the line and one that waits; the switch's port 2 has one on the
    /// line and three that wait; one packet has arrived at host 1, and one was lost. Eight packets
    /// of 100 bytes in all.
    fn sound() -> Bench {
        let nic = "nic = { queue_limit = \"1MB\" }\nswitch = { buffer = \"10KB\" }";
        let mut bench = Bench::with(&format!("{STAR}\n{nic}"), Shortcuts::NONE);
        let net = &mut bench.net;
        let packet = |dst: u32| Packet { size: 100, dst, ..Packet::default() };
        (0..2).for_each(|_| net.launch(0, packet(1), Contents::default()));
        // Taken off its line at host 1, as if it had come there.
        net.launch(1, packet(1), Contents::default());
        let arrived = net.lines[1].head;
        net.lines[1].head = NO_PACKET;
        (net.totals.arrived_packets, net.totals.arrived_bytes) = (1, 100);
        net.packets.remove(arrived);
        // Lost on host 2's line, and counted.
        net.launch(2, packet(0), Contents::default());
        let lost = net.lines[2].head;
        net.lines[2].head = NO_PACKET;
        (net.totals.lost_packets, net.totals.lost_bytes) = (1, 100);
        net.packets.remove(lost);
        // At the switch, and already at its port.
        for _ in 0..4 {
            let id = net.packets.insert(packet(2), Contents::default());
            (net.totals.made_packets, net.totals.made_bytes) =
                (net.totals.made_packets + 1, net.totals.made_bytes + 100);
            let packet = net.packets[id];
            net.forward(0, 0, id, &packet);
        }
        // Another packet, as large as the buffer, does not fit any more and is lost as well.
        let refused = net.packets.insert(Packet { size: 10_000, ..packet(2) }, Contents::default());
        let packet = net.packets[refused];
        net.forward(0, 0, refused, &packet);
        assert_eq!(net.lost.pop().map(|lost| lost.reason), Some(DropReason::BufferFull));
        net.packets.remove(refused);
        bench
    }

    /// A packet that waits at port 2 of the switch.
    fn waiting(net: &Network) -> PacketId {
        net.switches[0].heads().find(|&id| id != NO_PACKET).expect("three wait")
    }

    #[test]
    fn a_sound_network_passes_at_every_moment() {
        let mut bench = sound();
        let net = &mut bench.net;
        assert!(net.is_conserved());
        // Two on host 0's line and in its NIC; one on the switch's line, and three in its queue.
        assert_eq!((net.totals.made_packets, net.packets.live()), (8, 6));
        assert_eq!(net.switches[0].buffer().occupancy(), 300);
        // At 100 ns both ports send again.
        for _ in 0..2 {
            let event = net.events.pop().unwrap();
            assert_eq!(event.time, Time::from_ns(100));
            net.now = event.time;
            net.on_wake(crate::event::id(event.key));
            assert!(net.is_conserved());
        }
    }

    #[test]
    fn wrong_totals_are_found() {
        type Wrong = fn(&mut Network);
        let wrong: [Wrong; 6] = [
            |net| net.totals.made_packets += 1,
            |net| net.totals.made_bytes -= 1,
            |net| net.totals.arrived_packets += 1,
            |net| net.totals.arrived_bytes -= 1,
            |net| net.totals.lost_packets -= 1,
            |net| net.totals.lost_bytes += 1,
        ];
        for (number, make_wrong) in wrong.into_iter().enumerate() {
            let mut bench = sound();
            make_wrong(&mut bench.net);
            assert!(!bench.net.is_conserved(), "number {number}");
        }
    }

    #[test]
    fn a_packet_that_is_nowhere_or_in_two_places_is_found() {
        // The packet has vanished from its line, or from the queue of a NIC or a switch, but is not
        // counted as lost.
        let mut bench = sound();
        bench.net.lines[0].head = NO_PACKET;
        assert!(!bench.net.is_conserved());
        let mut bench = sound();
        let now = bench.net.now;
        let (id, _) = bench.net.nics[0].release(now, &mut bench.net.packets).unwrap();
        assert!(!bench.net.is_conserved());
        // The totals agree if the packet counts as lost, but its place in the arena is still taken.
        bench.net.totals.lost_packets += 1;
        bench.net.totals.lost_bytes += 100;
        assert!(!bench.net.is_conserved());
        bench.net.packets.remove(id);
        assert!(bench.net.is_conserved());
        // On two lines at once.
        let mut bench = sound();
        bench.net.lines[1].head = bench.net.lines[0].head;
        assert!(!bench.net.is_conserved());
        // On a line and in a switch's queue.
        let mut bench = sound();
        let first = bench.net.lines[0].head;
        bench.net.packets[first].next = waiting(&bench.net);
        assert!(!bench.net.is_conserved());
    }

    #[test]
    fn counters_of_queues_that_disagree_with_their_packets_are_found() {
        // A byte more in a queue and a byte less on a line: the totals are right.
        let mut bench = sound();
        let (queued, on_line) = (waiting(&bench.net), bench.net.lines[0].head);
        bench.net.packets[queued].size += 1;
        bench.net.packets[on_line].size -= 1;
        assert!(!bench.net.is_conserved());
        // The same in a NIC's queue.
        let mut bench = sound();
        let queued = bench.net.nics[0].waiting(&bench.net.packets).next().expect("one waits");
        bench.net.packets[queued].size += 1;
        bench.net.packets[on_line].size -= 1;
        assert!(!bench.net.is_conserved());
    }
}

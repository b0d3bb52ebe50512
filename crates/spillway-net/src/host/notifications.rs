//! Notifications of congestion: packets by which a receiver tells a sender of marked packets.

use super::Hosts;
use super::ends::Driver;
use super::priority;
use crate::network::Network;
use spillway_engine::Time;
use spillway_switch::packet::{Contents, Packet, PacketId, flags};
use spillway_transport::receiver::Notifications;

/// When the sender of each flow may be told again, by the flow's place. An entry of an earlier flow
/// does not count.
#[derive(Clone, Debug, Default)]
pub(super) struct Told(Vec<Entry>);

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// The flow's number.
    flow: u32,
    from: Time,
}

impl Told {
    /// Whether the flow with this number and place may be told now. If so, it may not be told again
    /// for `interval`.
    fn take(&mut self, now: Time, (flow, slot): (u32, u32), interval: Time) -> bool {
        let place = slot as usize;
        if place >= self.0.len() {
            self.0.resize(place + 1, Entry { flow, from: Time::ZERO });
        }
        let entry = &mut self.0[place];
        let may = entry.flow != flow || now >= entry.from;
        if may {
            *entry = Entry { flow, from: now + interval };
        }
        may
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        size_of_val(self.0.as_slice()) as u64
    }
}

impl Hosts {
    /// A marked packet has arrived. Its sender is told, unless it was told a short time ago.
    #[cold]
    pub(super) fn notify(&mut self, net: &mut Network, slot: u32, settings: &Notifications) {
        let end = self.ends.receiving_mut(slot);
        if !self.told.take(net.now, (end.id, slot), settings.interval) {
            return;
        }
        end.packets += 1;
        let packet = Packet {
            size: settings.size,
            dst: end.src,
            path: end.ack_path,
            flags: flags::CONTROL | flags::CNP | (end.ack_flags & flags::EXPLICIT_PATH),
            priority: priority::OF_CONTROL,
            ..Packet::default()
        };
        let contents =
            Contents { flow: end.id, slot: end.peer, sent_at: net.now, ..Contents::default() };
        net.launch(end.dst, packet, contents);
    }

    /// A notification has arrived at the sender.
    #[cold]
    pub(super) fn on_notification(&mut self, net: &mut Network, id: PacketId) {
        let slot = net.packets.contents(id).slot;
        net.packets.remove(id);
        let sending = self.ends.sending_mut(slot);
        sending.flow.packets -= 1;
        if let Driver::ClosedLoop(sender) = &mut sending.driver {
            sender.on_notification(net.now);
        }
        self.note_if_over(net.moment(), slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Kind;
    use crate::testing::{Bench, NS, STAR, US, flow, transport};

    /// A flow from host 0 to host 1. The line carries 8 Gbps, a packet of 1,000 bytes takes 1 us.
    fn bench(more: &str) -> Bench {
        let more = format!("cnp_size = \"100B\", cnp_interval = \"50us\"{more}");
        let mut bench = Bench::new(&format!("{STAR}\n{}", transport("dcqcn", &more)));
        bench.start(flow(0, 1, 100 * 960));
        bench
    }

    /// A marked or unmarked segment arrives at host 1 at a time in picoseconds.
    fn arrives(bench: &mut Bench, at: u64, segment: u64, flags: u16) {
        let contents = Contents { seq: segment * 960, payload: 960, ..Contents::default() };
        let id = bench.make(Packet { flags, size: 1_000, ..Packet::default() }, contents);
        bench.hosts.ends.sending_mut(0).flow.packets += 1;
        bench.net.now = Time::from_ps(at);
        bench.hosts.deliver(&mut bench.net, &bench.scenario, 1, id);
    }

    /// Flags, size and time of arrival of what host 1 has sent.
    fn answers(bench: &Bench) -> Vec<(u16, u32, u64)> {
        let told = |id: u32| {
            let packet = &bench.net.packets[id];
            (packet.flags, packet.size, packet.time.ps())
        };
        bench.on_line(1).into_iter().map(told).collect()
    }

    const ACK: u16 = flags::CONTROL;
    const CNP: u16 = flags::CONTROL | flags::CNP;

    /// The notification leaves first: 100 ns and 10 us. The ack comes 50 ns behind it, and tells of
    /// the mark too.
    #[test]
    fn a_marked_packet_causes_a_notification_and_its_ack() {
        let mut bench = bench("");
        arrives(&mut bench, 20 * US, 0, flags::ECT | flags::CE);
        let (first, second) = (30 * US + 100 * NS, 30 * US + 150 * NS);
        assert_eq!(answers(&bench), [(CNP, 100, first), (ACK | flags::ECE, 50, second)]);
        let id = bench.on_line(1)[0];
        let packet = &bench.net.packets[id];
        let path = bench.hosts.ends.receiving(0).ack_path;
        assert_eq!((packet.dst, packet.path, packet.priority), (0, path, priority::OF_CONTROL));
        // The segment was made by the sender, the notification by the receiver.
        assert_eq!(bench.hosts.ends.receiving(0).packets, 1);
    }

    #[test]
    fn a_flow_is_told_once_in_an_interval() {
        let mut bench = bench("");
        let marked = flags::ECT | flags::CE;
        arrives(&mut bench, 20 * US, 0, flags::ECT);
        arrives(&mut bench, 21 * US, 1, marked);
        arrives(&mut bench, 22 * US, 2, marked);
        arrives(&mut bench, 71 * US - 1, 3, marked);
        // 50 us after the first, for a segment out of order, and again.
        arrives(&mut bench, 71 * US, 5, marked);
        arrives(&mut bench, 121 * US, 4, marked);
        let kinds: Vec<bool> =
            answers(&bench).iter().map(|(flags, ..)| flags & flags::CNP != 0).collect();
        let (told, acked) = (true, false);
        assert_eq!(
            kinds,
            [acked, told, acked, acked, acked, told, acked, told, acked],
            "{:?}",
            answers(&bench)
        );
    }

    #[test]
    fn each_flow_has_intervals_of_its_own() {
        let mut told = Told::default();
        let (us, interval) = (Time::from_us, Time::from_us(50));
        assert!(told.take(us(10), (7, 3), interval));
        assert!(told.take(us(10), (8, 0), interval));
        assert!(!told.take(us(59), (7, 3), interval));
        // Another flow at the same place.
        assert!(told.take(us(59), (9, 3), interval));
        assert!(!told.take(us(60), (9, 3), interval));
        assert_eq!(told.bytes(), 4 * 16);
    }

    /// Half of the line's rate is left: packets leave every 2 us.
    #[test]
    fn a_notification_cuts_the_rate_and_acknowledges_nothing() {
        let mut bench = bench("");
        let contents = Contents { seq: 960, ..Contents::default() };
        let id = bench.make(Packet { flags: CNP, ..Packet::default() }, contents);
        bench.hosts.ends.receiving_mut(0).packets += 1;
        bench.net.now = Time::from_ns(500);
        bench.hosts.deliver(&mut bench.net, &bench.scenario, 0, id);
        let sending = bench.hosts.ends.sending(0);
        let sender = sending.sender().unwrap();
        assert_eq!((sender.acknowledged(), sender.window().pace), (0, 2_000));
        // The second packet keeps its time, and the third comes 2 us behind it.
        assert_eq!(bench.step(), (US, Kind::Clock, 0));
        assert_eq!(bench.step(), (3 * US, Kind::Clock, 0));
        assert_eq!(bench.net.totals.made_packets, 3);
        // One packet that the sender has made is gone, since the receiver's was counted there.
        let ends = &bench.hosts.ends;
        assert_eq!((ends.sending(0).flow.packets, ends.receiving(0).packets), (2, 1));
        assert_eq!(bench.net.packets.live(), 3);
    }

    /// The last ack comes first: the flow is over with the notification.
    #[test]
    fn a_notification_may_be_a_flow_s_last_packet() {
        let mut bench = bench("");
        let slot = bench.start(flow(0, 2, 960));
        bench.hosts.ends.receiving_mut(slot).packets += 1;
        let contents = Contents { slot, seq: 960, ..Contents::default() };
        let ack = bench.make(Packet { flags: ACK, ..Packet::default() }, contents);
        bench.hosts.deliver(&mut bench.net, &bench.scenario, 0, ack);
        assert_eq!(bench.hosts.take_over(), None);
        let last = bench.make(Packet { flags: CNP, ..Packet::default() }, contents);
        bench.hosts.deliver(&mut bench.net, &bench.scenario, 0, last);
        assert_eq!(bench.hosts.take_over(), Some(slot));
    }

    #[test]
    fn where_acks_tell_there_are_no_notifications() {
        let text = transport("dcqcn", "cnp = \"ack-flag\"");
        let mut bench = Bench::new(&format!("{STAR}\n{text}"));
        bench.start(flow(0, 1, 100 * 960));
        arrives(&mut bench, 20 * US, 0, flags::ECT | flags::CE);
        assert_eq!(answers(&bench), [(ACK | flags::ECE, 50, 30 * US + 50 * NS)]);
    }
}

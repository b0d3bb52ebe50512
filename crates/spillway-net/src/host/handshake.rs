//! The handshake that opens a connection: a request and its answer.

use super::Hosts;
use super::ends::{Driver, SendingEnd};
use super::priority;
use super::sending::set_timer;
use crate::network::Network;
use crate::scenario::Scenario;
use spillway_switch::packet::{Contents, Packet, PacketId, flags};

impl Hosts {
    /// Sends the request for a connection.
    pub(super) fn send_syn(&mut self, net: &mut Network, scenario: &Scenario, slot: u32) {
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        let transport = scenario.transport(flow.transport);
        let (Driver::ClosedLoop(sender), Some(closed)) = (driver, transport.closed_loop()) else {
            return;
        };
        sender.on_connect(net.now, closed);
        flow.packets += 1;
        let packet = Packet {
            size: transport.ack_size,
            dst: flow.spec.dst,
            path: flow.path,
            flags: flags::CONTROL | flags::SYN | (flow.data_flags & flags::EXPLICIT_PATH),
            priority: priority::OF_CONTROL,
            ..Packet::default()
        };
        let contents =
            Contents { flow: flow.id, slot: flow.peer, sent_at: net.now, ..Contents::default() };
        net.launch(flow.spec.src, packet, contents);
        set_timer(net, flow, sender);
    }

    /// A packet of the handshake has arrived: the receiver answers a request, and an answer lets
    /// the sender begin.
    pub(super) fn on_syn(
        &mut self,
        net: &mut Network,
        scenario: &Scenario,
        host: u32,
        id: PacketId,
    ) {
        let Contents { slot, sent_at, .. } = *net.packets.contents(id);
        let packet = &mut net.packets[id];
        let receiving = self.ends.receiving(slot);
        if host == receiving.dst {
            packet.flags = receiving.ack_flags | flags::SYN;
            packet.dst = receiving.src;
            packet.path = receiving.ack_path;
            net.packets.contents_mut(id).slot = receiving.peer;
            net.relaunch(host, id);
            return;
        }
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        flow.packets -= 1;
        net.packets.remove(id);
        let Driver::ClosedLoop(sender) = driver else { return };
        sender.on_connected(net.now, sent_at);
        if sender.is_done() {
            self.note_if_over(net.moment(), slot);
        } else {
            self.send_pieces(net, scenario, slot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Kind;
    use crate::testing::{Bench, MS, NS, STAR, US, flow, transport};
    use spillway_engine::Time;
    use spillway_transport::flow::FlowSpec;

    fn bench(more: &str) -> Bench {
        let more = format!("handshake = true{more}");
        Bench::new(&format!("{STAR}\n{}", transport("newreno", &more)))
    }

    /// The only packet on a line, with its contents.
    fn alone_on(bench: &Bench, line: u32) -> (Packet, Contents) {
        let [id] = bench.on_line(line)[..] else { panic!("one packet on line {line}") };
        (bench.net.packets[id], *bench.net.packets.contents(id))
    }

    #[test]
    fn data_leave_when_the_answer_has_come_back() {
        let mut bench = bench("");
        let slot = bench.start(flow(0, 1, 960));
        let (request, contents) = alone_on(&bench, 0);
        assert_eq!(
            (request.flags, request.size, request.dst),
            (flags::CONTROL | flags::SYN, 50, 1)
        );
        assert_eq!((contents.slot, contents.payload), (slot, 0));
        // 50 ns and 10 us on each of four lines.
        let step = 10_050 * NS;
        assert_eq!(bench.step(), (step, Kind::Arrival, 0));
        assert_eq!(bench.step(), (2 * step, Kind::Arrival, 4));
        let (answer, _) = alone_on(&bench, 1);
        assert_eq!((answer.flags, answer.size, answer.dst), (flags::CONTROL | flags::SYN, 50, 0));
        assert_eq!(bench.step(), (3 * step, Kind::Arrival, 1));
        assert!(bench.on_line(0).is_empty());
        assert_eq!(bench.step(), (4 * step, Kind::Arrival, 3));
        // Data at 40.2 us: it arrives 1 + 10 us later.
        let (data, _) = alone_on(&bench, 0);
        assert_eq!((data.size, data.time.ps()), (1_000, 51_200 * NS));
        let sender = bench.hosts.ends.sending(slot).sender().unwrap();
        assert_eq!(sender.smoothed_rtt(), Time::from_ns(40_200));
        // One packet is left; request and answer are counted as gone.
        assert_eq!((bench.net.packets.live(), bench.hosts.ends.sending(slot).flow.packets), (1, 1));
    }

    #[test]
    fn a_handshake_takes_the_paths_of_the_flow_and_of_its_acks() {
        let mut bench = bench("");
        bench.start(FlowSpec { path: Some(5), ack_path: Some(6), ..flow(0, 1, 960) });
        let flags = flags::CONTROL | flags::SYN | flags::EXPLICIT_PATH;
        let (request, _) = alone_on(&bench, 0);
        assert_eq!((request.path, request.flags), (5, flags));
        bench.steps::<2>();
        let (answer, _) = alone_on(&bench, 1);
        assert_eq!((answer.path, answer.flags), (6, flags));
    }

    #[test]
    fn a_request_without_an_answer_is_repeated_after_twice_the_time() {
        let mut bench = bench(", recovery.initial_rto = \"1ms\"");
        let slot = bench.start(flow(0, 1, 960));
        // Nothing arrives anywhere: only timers are handled. 1, 1 + 2 and 3 + 4 ms.
        let mut sent_again = Vec::new();
        while sent_again.len() < 3 {
            let event = bench.net.events.pop().unwrap();
            if let Some(number) = Kind::FlowTimer.id_of(event.key) {
                bench.net.now = event.time;
                bench.hosts.on_flow_timer(&mut bench.net, &bench.scenario, number);
                let last = *bench.on_line(0).last().unwrap();
                let sent_at = bench.net.packets.contents(last).sent_at;
                assert_ne!(bench.net.packets[last].flags & flags::SYN, 0);
                sent_again.push((event.time.ps() / MS, sent_at.ps() / MS));
            }
        }
        assert_eq!(sent_again, [(1, 1), (3, 3), (7, 7)]);
        let tally = &bench.hosts.tally;
        // A request is no segment.
        assert_eq!((tally.timeouts, tally.retransmitted), (3, 0));
        assert_eq!(bench.net.totals.made_packets, 4);
        assert_eq!(bench.hosts.ends.sending(slot).flow.packets, 4);
    }

    #[test]
    fn a_second_answer_changes_nothing() {
        let mut bench = bench("");
        let slot = bench.start(flow(0, 1, 960));
        bench.steps::<4>();
        let made = bench.net.totals.made_packets;
        // The answer to another request, 50 us later.
        bench.net.now = Time::from_us(90);
        let answer = Packet { size: 50, flags: flags::CONTROL | flags::SYN, ..Packet::default() };
        let contents = Contents { slot, sent_at: Time::from_us(1), ..Contents::default() };
        let id = bench.make(answer, contents);
        bench.hosts.ends.sending_mut(slot).flow.packets += 1;
        bench.hosts.on_syn(&mut bench.net, &bench.scenario, 0, id);
        assert_eq!((bench.net.totals.made_packets, bench.net.packets.live()), (made, 1));
        let SendingEnd { flow, driver } = bench.hosts.ends.sending(slot);
        let Driver::ClosedLoop(sender) = driver else { panic!("acks drive it") };
        assert_eq!((flow.packets, sender.smoothed_rtt().ps()), (1, 40_200 * NS));
        assert!(sender.deadline() > Time::from_ps(90 * US), "its data still wait for an ack");
    }
}

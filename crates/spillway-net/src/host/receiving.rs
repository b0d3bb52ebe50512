//! The receiving end of a flow: it records what has arrived, and sends acks.

use super::Hosts;
use super::ends::ReceivingEnd;
use super::priority;
use crate::event::Kind;
use crate::network::Network;
use crate::scenario::Scenario;
use spillway_engine::Time;
use spillway_switch::packet::{Contents, Packet, PacketId, flags};
use spillway_transport::ClosedLoop;
use spillway_transport::receiver::{AckFields, Segment};

impl Hosts {
    /// A data packet of a closed loop has arrived.
    #[inline(always)]
    pub(super) fn on_data(
        &mut self,
        net: &mut Network,
        scenario: &Scenario,
        host: u32,
        id: PacketId,
    ) {
        let (segment, slot) = segment_of(net, id);
        let end = self.ends.receiving_mut(slot);
        let transport = scenario.transport(end.transport);
        let Some(closed) = transport.closed_loop() else { return };
        if let Some(seq) = end.receiver.on_expected(&segment, &closed.acks) {
            self.note_arrived(net.now, scenario, slot, u64::from(segment.payload));
            let Segment { ce: ece, sent_at, .. } = segment;
            let ack = AckFields { seq, ece, sent_at, sack: None };
            return self.reply(net, transport.ack_size, host, id, &ack, 0);
        }
        self.on_unexpected_data::<false>(net, scenario, closed, host, id);
    }

    /// As `on_data`, for an important packet: its ack says so.
    #[inline(never)]
    pub(super) fn on_important_data(
        &mut self,
        net: &mut Network,
        scenario: &Scenario,
        host: u32,
        id: PacketId,
    ) {
        let end = self.ends.receiving(net.packets.contents(id).slot);
        if let Some(closed) = scenario.transport(end.transport).closed_loop() {
            self.on_unexpected_data::<true>(net, scenario, closed, host, id);
        }
    }

    /// Handles a data packet that is out of order, or that is not answered by exactly its own ack.
    /// Such a packet may trigger no ack, two acks, or an ack for the packets before it. The last ack
    /// for an `IMPORTANT` packet says that it has arrived.
    #[inline(never)]
    fn on_unexpected_data<const IMPORTANT: bool>(
        &mut self,
        net: &mut Network,
        scenario: &Scenario,
        closed: &ClosedLoop,
        host: u32,
        id: PacketId,
    ) {
        let (segment, slot) = segment_of(net, id);
        if segment.ce
            && let Some(notifications) = &closed.notifications
        {
            self.notify(net, slot, notifications);
        }
        let (packet, contents) = (net.packets[id], *net.packets.contents(id));
        let (mut acks, mut count) = ([None; 2], 0);
        let reply = |ack: AckFields| {
            acks[count] = Some(ack);
            count += 1;
        };
        let (new, is_early) = match closed.acks.in_order {
            None => {
                let receiver = &mut self.ends.receiving_mut(slot).receiver;
                (receiver.on_segment(net.now, &segment, &closed.acks, reply), false)
            }
            Some(rule) => {
                let (end, state) = self.ends.in_order_mut(slot);
                let is_early = segment.seq > end.receiver.next();
                let (rule, policy) = ((rule, state), &closed.acks);
                let receiver = &mut end.receiver;
                (receiver.on_segment_in_order(net.now, &segment, policy, rule, reply), is_early)
            }
        };
        self.note_arrived(net.now, scenario, slot, new);
        let end = self.ends.receiving_mut(slot);
        end.arrived_twice += u32::from(new == 0 && !is_early && segment.payload > 0);
        let ack_size = scenario.transport(end.transport).ack_size;
        set_ack_timer(net, end);
        let echo = if IMPORTANT { flags::IMPORTANT_ECHO } else { 0 };
        if IMPORTANT && let Some(last) = acks.iter_mut().flatten().last() {
            last.sent_at = segment.sent_at;
        }
        match acks {
            [Some(ack), None] => self.reply(net, ack_size, host, id, &ack, echo),
            [Some(first), Some(second)] => {
                let extra = net.packets.insert(packet, contents);
                if packet.flags & flags::TELEMETRY != 0 {
                    net.telemetry.copy(id, extra);
                }
                end.packets += 1;
                self.reply(net, ack_size, host, extra, &first, 0);
                self.reply(net, ack_size, host, id, &second, echo);
            }
            _ => {
                end.packets -= 1;
                net.packets.remove(id);
                self.note_if_over(net.moment(), slot);
            }
        }
    }

    /// A packet of an open-loop flow has arrived.
    #[inline(never)]
    pub(super) fn on_datagram(&mut self, net: &mut Network, scenario: &Scenario, id: PacketId) {
        let (segment, slot) = segment_of(net, id);
        let end = self.ends.receiving_mut(slot);
        end.packets -= 1;
        let new = end.receiver.on_datagram(&segment);
        self.note_arrived(net.now, scenario, slot, new);
        net.packets.remove(id);
        self.note_if_over(net.moment(), slot);
    }

    /// Counts payload that has arrived for the first time.
    #[inline(always)]
    fn note_arrived(&mut self, now: Time, scenario: &Scenario, slot: u32, new: u64) {
        let end = self.ends.receiving_mut(slot);
        if now >= scenario.warmup && now < scenario.duration {
            self.tally.delivered_bytes[usize::from(end.class)] += new;
        }
        if end.receiver.next() >= end.awaits {
            self.note_awaited(now, slot);
        }
    }

    /// The awaited bytes have arrived: all that was sent on the way up to better levels, the whole
    /// flow, or both.
    #[cold]
    fn note_awaited(&mut self, now: Time, slot: u32) {
        let end = self.ends.receiving_mut(slot);
        end.climbed_at = end.climbed_at.min(now);
        end.awaits = end.size;
        if end.receiver.next() >= end.size {
            end.awaits = u64::MAX;
            end.completed_at = now;
            if self.completed_at(slot) == now {
                self.count_complete(slot);
            }
        }
    }

    /// Turns an arrived packet into an ack with these additional flags, and sends it back.
    #[inline(always)]
    fn reply(
        &mut self,
        net: &mut Network,
        ack_size: u32,
        host: u32,
        id: PacketId,
        ack: &AckFields,
        more: u16,
    ) {
        let contents = net.packets.contents_mut(id);
        let end = self.ends.receiving(contents.slot);
        contents.slot = end.peer;
        contents.seq = ack.seq;
        contents.sent_at = ack.sent_at;
        contents.payload = 0;
        let packet = &mut net.packets[id];
        let echo = if ack.ece { flags::ECE } else { 0 };
        packet.flags = end.ack_flags | echo | more;
        packet.size = ack_size;
        packet.dst = end.src;
        packet.path = end.ack_path;
        packet.priority = priority::OF_CONTROL;
        if let Some(blocks) = ack.sack {
            packet.flags |= flags::SACK;
            *self.sacks.of(id) = blocks;
        }
        net.relaunch(host, id);
    }

    /// The time of a delayed ack has come. The receiver may have put the ack off meanwhile.
    pub fn on_ack_due(&mut self, net: &mut Network, scenario: &Scenario, number: u32) {
        let Some(slot) = self.ends.slot_of(number) else { return };
        let end = self.ends.receiving_mut(slot);
        end.ack_timer = Time::MAX;
        if end.receiver.ack_deadline != net.now {
            return set_ack_timer(net, end);
        }
        if let Some(ack) = end.receiver.delayed_ack(net.now) {
            end.packets += 1;
            let (host, flow) = (end.dst, end.id);
            let ack_size = scenario.transport(end.transport).ack_size;
            let contents = Contents { slot, flow, ..Contents::default() };
            let id = net.packets.insert(Packet::default(), contents);
            if end.ack_flags & flags::TELEMETRY != 0 {
                net.telemetry.of(id).clear();
            }
            self.reply(net, ack_size, host, id, &ack, 0);
        }
    }
}

/// A data packet as its receiver sees it, and the place of its flow.
#[inline(always)]
fn segment_of(net: &Network, id: PacketId) -> (Segment, u32) {
    let packet_flags = net.packets[id].flags;
    let contents = net.packets.contents(id);
    let segment = Segment {
        seq: contents.seq,
        payload: contents.payload,
        ce: packet_flags & flags::CE != 0,
        cwr: packet_flags & flags::CWR != 0,
        sent_at: contents.sent_at,
        asks: packet_flags & flags::ASKS != 0,
    };
    (segment, contents.slot)
}

/// If the receiver delays an ack and no event is pending, schedules an event for the ack. Deadlines
/// only move later: an event that comes too early is scheduled again.
fn set_ack_timer(net: &mut Network, end: &mut ReceivingEnd) {
    let deadline = end.receiver.ack_deadline;
    if deadline < Time::MAX && end.ack_timer == Time::MAX {
        end.ack_timer = deadline;
        net.events.push(deadline, Kind::AckDue.key(end.id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, NS, STAR, US, flow, transport};
    use spillway_transport::flow::FlowSpec;
    use spillway_transport::receiver::SackBlocks;
    use spillway_transport::telemetry::Hop;

    /// A flow from host 0 to host 1. The test delivers its data by hand: only the request for a
    /// connection is on its way.
    fn bench(kind: &str, more: &str, size: u64) -> (Bench, u32) {
        let more = format!("handshake = true{more}");
        let mut bench =
            Bench::new(&format!("warmup = \"10us\"\n{STAR}\n{}", transport(kind, &more)));
        let slot = bench.start(flow(0, 1, size));
        (bench, slot)
    }

    /// A segment arrives at host 1 at a time in picoseconds. It was sent 500 ns before.
    fn arrives(bench: &mut Bench, at: u64, (seq, payload): (u64, u32), flags: u16) {
        let slot = 0;
        let sent_at = Time::from_ps(at - 500 * NS);
        let contents = Contents { slot, seq, payload, sent_at, ..Contents::default() };
        let id = bench.make(Packet { flags, size: payload + 40, ..Packet::default() }, contents);
        if flags & flags::TELEMETRY != 0 {
            let hop = Hop { sent_bytes: seq, ..Hop::default() };
            *bench.net.telemetry.of(id) = Default::default();
            bench.net.telemetry.of(id).push(hop);
        }
        bench.hosts.ends.sending_mut(slot).flow.packets += 1;
        bench.net.now = Time::from_ps(at);
        bench.hosts.on_data(&mut bench.net, &bench.scenario, 1, id);
    }

    /// An ack: the byte that it asks for, whether it echoes a mark, when the acknowledged packet
    /// was sent in nanoseconds, and the ranges that it reports.
    type Told = (u64, bool, u64, Option<SackBlocks>);

    /// The acks that host 1 has sent.
    fn acks(bench: &Bench) -> Vec<Told> {
        let told = |id: PacketId| {
            let (packet, contents) = (&bench.net.packets[id], bench.net.packets.contents(id));
            let has = |flag: u16| packet.flags & flag != 0;
            let sack = has(flags::SACK).then(|| *bench.hosts.sacks.get(id).unwrap());
            (contents.seq, has(flags::ECE), contents.sent_at.ps() / NS, sack)
        };
        bench.on_line(1).into_iter().map(told).collect()
    }

    /// One range, as an ack reports it.
    fn range(from: u64, to: u64) -> Option<SackBlocks> {
        Some([(from, to), (0, 0), (0, 0)])
    }

    /// Packets made by the sender and by the receiver of the flow, less those that are gone. All
    /// packets that are left are among them.
    fn count(bench: &Bench) -> (i32, i32) {
        let ends = &bench.hosts.ends;
        let counted = ends.sending(0).flow.packets + ends.receiving(0).packets;
        (counted, bench.net.packets.live() as i32)
    }

    #[test]
    fn a_segment_becomes_its_ack_and_goes_back() {
        let (mut bench, slot) = bench("dctcp", "", 3 * 960);
        arrives(&mut bench, 40 * US, (0, 960), flags::ECT | flags::CE);
        arrives(&mut bench, 42 * US, (960, 960), flags::ECT);
        assert_eq!(acks(&bench), [(960, true, 39_500, None), (1_920, false, 41_500, None)]);
        assert_eq!(bench.hosts.tally.delivered_bytes, [1_920]);
        let id = bench.on_line(1)[0];
        let (packet, contents) = (&bench.net.packets[id], bench.net.packets.contents(id));
        assert_eq!((packet.size, packet.dst, packet.flags), (50, 0, flags::CONTROL | flags::ECE));
        assert_eq!((contents.payload, contents.slot), (0, slot));
        assert_eq!(packet.path, bench.hosts.ends.receiving(slot).ack_path);
        // 50 ns and 10 us each; the line was idle.
        assert_eq!(bench.arrivals_on_line(1), [50_050 * NS, 52_050 * NS]);
        // The request, and two acks.
        assert_eq!(count(&bench), (3, 3));
    }

    #[test]
    fn what_comes_out_of_order_is_reported_and_counted_once() {
        let (mut bench, _) = bench("newreno", "", 4 * 960);
        let mut delivered = Vec::new();
        for (us, seq) in [(40, 1_920), (41, 960), (42, 960), (43, 0)] {
            arrives(&mut bench, us * US, (seq, 960), 0);
            delivered.push(bench.hosts.tally.delivered_bytes[0]);
        }
        // The third brings nothing new; the fourth fills the gap up to the end of the third
        // segment.
        assert_eq!(delivered, [960, 1_920, 1_920, 2_880]);
        assert_eq!(
            acks(&bench),
            [
                (0, false, 39_500, range(1_920, 2_880)),
                (0, false, 40_500, range(960, 2_880)),
                (0, false, 41_500, range(960, 2_880)),
                (2_880, false, 42_500, None),
            ]
        );
        assert_eq!(bench.hosts.tally.completed, 0);
        assert_eq!(count(&bench), (5, 5));
    }

    #[test]
    fn a_delayed_ack_goes_with_the_second_segment_or_at_its_deadline() {
        let (mut bench, _) = bench("newreno", ", ack_every = 2, ack_delay = \"5us\"", 4 * 960);
        arrives(&mut bench, US, (0, 960), 0);
        assert_eq!(acks(&bench), []);
        // The request, and no segment: the receiver keeps no packet for its ack.
        assert_eq!(count(&bench), (1, 1));
        arrives(&mut bench, 2 * US, (960, 960), 0);
        // It is for both, and tells when the first was sent.
        assert_eq!(acks(&bench), [(1_920, false, 500, None)]);
        arrives(&mut bench, 4 * US, (1_920, 960), 0);
        // The event of the first segment, at 1 + 5 us, finds that the ack is due at 4 + 5 us.
        assert_eq!(bench.step(), (6 * US, Kind::AckDue, 0));
        assert_eq!(acks(&bench).len(), 1);
        assert_eq!(bench.step(), (9 * US, Kind::AckDue, 0));
        assert_eq!(acks(&bench)[1..], [(2_880, false, 3_500, None)]);
        assert_eq!(count(&bench), (3, 3));
        // 9 us, 50 ns and 10 us.
        assert_eq!(bench.arrivals_on_line(1)[1], 19_050 * NS);
        // Nothing is delayed any more. The request comes to the switch.
        assert_eq!(bench.step(), (10_050 * NS, Kind::Arrival, 0));
    }

    #[test]
    fn one_segment_may_cause_two_acks() {
        // The first waits for its ack. The third is marked and out of order: the first gets its own
        // ack, without the mark, and the third one with it.
        let (mut bench, _) = bench("dctcp", ", ack_every = 2", 4 * 960);
        arrives(&mut bench, US, (0, 960), flags::TELEMETRY);
        arrives(&mut bench, 2 * US, (1_920, 960), flags::TELEMETRY | flags::CE);
        let expected = [(960, false, 500, None), (960, true, 1_500, range(1_920, 2_880))];
        assert_eq!(acks(&bench), expected);
        // Both carry the telemetry of the packet that caused them.
        for id in bench.on_line(1) {
            let telemetry = bench.net.telemetry.get(id).unwrap();
            assert_eq!(telemetry.hops().iter().map(|hop| hop.sent_bytes).next(), Some(1_920));
        }
        assert_eq!(count(&bench), (3, 3));
    }

    #[test]
    fn a_flow_is_complete_when_its_last_byte_arrives() {
        let (mut bench, slot) = bench("newreno", "", 1_000);
        assert_eq!((bench.hosts.unfinished, bench.hosts.tally.completed), (1, 0));
        arrives(&mut bench, 20 * US, (960, 40), 0);
        assert_eq!(bench.hosts.ends.receiving(slot).completed_at, Time::MAX);
        // The gap is filled, and later the last segment comes again.
        arrives(&mut bench, 30 * US, (0, 960), 0);
        arrives(&mut bench, 50 * US, (960, 40), 0);
        let end = bench.hosts.ends.receiving(slot);
        assert_eq!(end.completed_at, Time::from_us(30));
        assert_eq!((bench.hosts.unfinished, bench.hosts.tally.completed), (0, 1));
        assert_eq!(bench.hosts.tally.delivered_bytes, [1_000]);
    }

    /// Two packets are sent on the way up. The second of them is lost, and arrives after the
    /// others.
    #[test]
    fn climbing_is_over_when_all_that_was_sent_on_the_way_up_is_there() {
        let tagging = ", tagging = { kind = \"qclimb\", thresholds = [], acks = \"with-first\" }";
        let more = format!("handshake = true{tagging}");
        let mut bench =
            Bench::new(&format!("record.climbing = true\n{STAR}\n{}", transport("newreno", &more)));
        let slot = bench.start(FlowSpec { bound: 1_920, ..flow(0, 1, 4 * 960) });
        let mut told = Vec::new();
        for (us, seq) in [(40, 0), (41, 1_920), (42, 0), (50, 960), (51, 960), (60, 2_880)] {
            arrives(&mut bench, us * US, (seq, 960), 0);
            let end = bench.hosts.ends.receiving(slot);
            told.push((end.climbed_at, end.completed_at));
        }
        let [before, climbed, end] = [Time::MAX, Time::from_us(50), Time::from_us(60)];
        assert_eq!(told[..3], [(before, before); 3]);
        assert_eq!(told[3..], [(climbed, before), (climbed, before), (climbed, end)]);
        assert_eq!((bench.hosts.unfinished, bench.hosts.tally.completed), (0, 1));
    }

    #[test]
    fn bytes_count_from_the_end_of_the_warmup_until_the_end_of_the_window() {
        // From 10 us to 1 ms. The first segment comes 1 ps before, the last one when it ends.
        let (mut bench, _) = bench("newreno", "", 4 * 960);
        let times = [10 * US - 1, 10 * US, 1_000 * US - 1, 1_000 * US];
        let counted = [(times[0], 0), (times[1], 960), (times[2], 1_920), (times[3], 1_920)];
        for (seq, (at, bytes)) in (0..).step_by(960).zip(counted) {
            arrives(&mut bench, at, (seq, 960), 0);
            assert_eq!(bench.hosts.tally.delivered_bytes, [bytes], "at {at} ps");
        }
    }

    #[test]
    fn an_open_loop_flow_is_over_when_its_last_packet_has_arrived() {
        let text = format!("{STAR}\n{}", transport("udp", "rate = \"8Gbps\""));
        let mut bench = Bench::new(&text);
        let slot = bench.start(flow(0, 1, 1_000));
        // The second packet, of 80 bytes, leaves at 1 us. The first takes 2 * (1 + 10) us. The
        // second reaches the switch at 11.08 us and waits until 12 us: 12 + 0.08 + 10 us.
        assert_eq!(bench.step(), (US, Kind::Clock, 0));
        let arrivals = bench.steps::<3>().map(|(time, ..)| time);
        assert_eq!(arrivals, [11 * US, 11_080 * NS, 22 * US]);
        assert_eq!((bench.hosts.take_over(), bench.net.packets.live()), (None, 1));
        assert_eq!(bench.step(), (22_080 * NS, Kind::Arrival, 4));
        assert_eq!(bench.hosts.take_over(), Some(slot));
        assert_eq!(bench.hosts.ends.receiving(slot).completed_at, Time::from_ns(22_080));
        assert_eq!((bench.net.packets.live(), bench.hosts.tally.delivered_bytes[0]), (0, 1_000));
    }
}

//! The hosts' NICs within the network: what they send, and what they lose.

use super::{Lost, Network};
use crate::event::Kind;
use crate::port::line::{Line, Waking};
use crate::port::nic::NicQueueing;
use spillway_engine::Time;
use spillway_switch::DropReason;
use spillway_switch::packet::{Arena, Contents, NO_PACKET, Packet, PacketId, flags};
use spillway_topology::Node;

impl Network {
    /// Makes a packet and sends it out of a host.
    #[inline]
    pub fn launch(&mut self, host: u32, packet: Packet, contents: Contents) {
        let id = self.make(packet, contents);
        self.relaunch(host, id);
    }

    /// As `launch`, for a packet that has a number among the packets of its flow.
    pub fn launch_numbered(&mut self, host: u32, packet: Packet, contents: Contents, number: u64) {
        let id = self.make(packet, contents);
        *self.numbers.of(id) = number;
        self.relaunch(host, id);
    }

    /// Makes a packet on which no switch has written yet.
    #[inline]
    fn make(&mut self, packet: Packet, contents: Contents) -> PacketId {
        let id = self.packets.insert(packet, contents);
        if packet.flags & flags::TELEMETRY != 0 {
            self.telemetry.of(id).clear();
        }
        id
    }

    /// Sends a packet that a host has made out of an arrived packet, in that packet's place.
    #[inline(always)]
    pub fn relaunch(&mut self, host: u32, id: PacketId) {
        self.totals.made_packets += 1;
        self.totals.made_bytes += u64::from(self.packets[id].size);
        match self.nic_queueing {
            NicQueueing::Plain => self.transmit(host, id),
            NicQueueing::Queued => self.send_or_queue(host, id),
            NicQueueing::Managed => self.offer(host, id),
        }
    }

    /// At a NIC that accepts every packet: sends a packet, or queues it.
    #[inline(never)]
    fn send_or_queue(&mut self, host: u32, id: PacketId) {
        let line = &self.lines[host as usize];
        if (line.busy_until <= self.now) & line.waits {
            self.catch_up_nic(host);
        }
        let line = &self.lines[host as usize];
        let is_idle = (line.busy_until <= self.now) & !line.waits;
        let is_best = self.nic_classes.of(&self.packets[id]) == 0;
        // One combined condition costs a single branch.
        if is_idle | (is_best & (line.waking == Waking::BestInOrder)) {
            self.transmit(host, id)
        } else {
            self.queue_at_nic(host, id)
        }
    }

    /// Queues a packet that must wait at such a NIC.
    #[inline(never)]
    fn queue_at_nic(&mut self, host: u32, id: PacketId) {
        let line = &mut self.lines[host as usize];
        self.nics[host as usize].enqueue(id, &mut self.packets);
        if !line.waits {
            match line.waking {
                Waking::ByEvent | Waking::Pausable | Waking::AfterArrivals => self.wait(host),
                Waking::Deferred | Waking::InOrder | Waking::BestInOrder => line.waits = true,
            }
        }
    }

    /// How long a host's line will be busy with the packets that the host has handed over so far.
    #[inline(always)]
    pub fn host_backlog(&self, host: u32) -> Time {
        let line = &self.lines[host as usize];
        if self.nic_queueing == NicQueueing::Plain {
            return line.busy_until.since(self.now);
        }
        let waiting = line.lasts(self.nics[host as usize].bytes());
        match line.waking {
            // A deferred NIC may still hold packets that it could have sent by now. Their time is
            // over, so it does not count.
            waking if waking.sends_when_empty() => {
                (self.busy_until(host) + waiting).since(self.now)
            }
            _ => self.busy_until(host).since(self.now) + waiting,
        }
    }

    /// Offers a packet to a managed NIC. If the line is idle, the packet is queued and sent at
    /// once.
    #[inline(never)]
    pub fn offer(&mut self, host: u32, id: PacketId) {
        let line = &self.lines[host as usize];
        let is_idle = line.busy_until <= self.now && !line.waits;
        // The packet does not wait. Its flow sees this at once, and need not be told.
        let is_sent = is_idle && line.waking != Waking::AfterArrivals;
        if is_sent && self.nics[host as usize].lets_pass(&mut self.packets[id]) {
            return self.transmit(host, id);
        }
        match self.nics[host as usize].offer(self.now, id, &mut self.packets) {
            Ok(pushed_out) => {
                for id in pushed_out {
                    self.lose_at_nic(host, id, DropReason::PushedOut);
                }
            }
            Err(reason) => return self.lose_at_nic(host, id, reason),
        }
        if is_sent {
            self.send_managed(host, false);
        } else if !self.lines[host as usize].waits {
            self.wait(host);
        }
    }

    /// Packets that hosts have put on their lines before their turn. Plain NICs do so, and other
    /// NICs with packets of their best queue. `packet_hops` counts these packets already. `packets`
    /// has those of the lines that are wanted.
    pub fn packets_ahead(&self, packets: &Arena, is_wanted: impl Fn(u32) -> bool) -> u64 {
        let is_plain = self.nic_queueing == NicQueueing::Plain;
        let lines = self.lines[..self.nics.len()].iter();
        let ahead = lines.filter(|line| is_plain || line.waking == Waking::BestInOrder);
        let busy = ahead.filter(|line| line.busy_until > self.now && is_wanted(line.number));
        busy.map(|line| self.not_begun(line, packets)).sum()
    }

    /// Packets on a line whose turn has not come.
    fn not_begun(&self, line: &Line, packets: &Arena) -> u64 {
        let (mut waiting, mut id) = (0, line.head);
        // Each packet begins when the one before it ends. The first has begun.
        while id != NO_PACKET && packets[id].next != NO_PACKET {
            let packet = &packets[id];
            waiting += u64::from(packet.time.since(line.delay) > self.now);
            id = packet.next;
        }
        waiting
    }

    /// A managed NIC can send. It sends the first packet that is not paused and that its discipline
    /// does not drop on the way out. `tells` says whether the packets have waited, so that their
    /// flows may have to be told.
    #[inline(never)]
    pub fn send_managed(&mut self, host: u32, tells: bool) {
        while let Some((id, outcome)) =
            self.nics[host as usize].release(self.now, &mut self.packets)
        {
            if tells {
                self.tell_begun(id);
            }
            match outcome {
                Ok(()) => {
                    let waits = self.nics[host as usize].can_send(&self.packets);
                    return self.send_and_wait(host, (id, waits));
                }
                Err(reason) => self.lose_at_nic(host, id, reason),
            }
        }
    }

    /// A packet that has waited at a NIC leaves it. If required, the packet notes the time, and its
    /// flow is told.
    pub(super) fn tell_begun(&mut self, id: PacketId) {
        let packet_flags = self.packets[id].flags;
        if packet_flags & flags::CONTROL != 0 {
            return;
        }
        let contents = self.packets.contents_mut(id);
        if packet_flags & flags::TIMED_BY_NIC != 0 {
            contents.sent_at = self.now;
        }
        if self.has_queue_pairs {
            self.events.push(self.now, Kind::Begun.key(contents.flow));
        }
    }

    /// Bytes that wait at a host's NIC.
    pub fn waiting_at(&self, host: u32) -> u64 {
        self.nics[host as usize].bytes()
    }

    #[cold]
    fn lose_at_nic(&mut self, host: u32, packet: PacketId, reason: DropReason) {
        let queue = Some(self.packets[packet].queue_class.into());
        self.lost.push(Lost { packet, reason, at: Node::Host(host), queue });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Shortcuts;
    use crate::testing::{Bench, NS, STAR, US};
    use spillway_engine::{Clock, Rate};
    use spillway_switch::packet::NO_PRIORITY;
    use spillway_transport::telemetry::Hop;

    const THREE_QUEUES: &str = "nic = { queues = 3, ack_queue = 0, data_queue = 2 }";

    fn bench(nic: &str) -> Bench {
        Bench::new(&format!("{STAR}\n{nic}"))
    }

    /// Sends a packet to host 1 out of host 0.
    fn launch(bench: &mut Bench, size: u32, priority: u8, flags: u16) {
        let packet = Packet { size, dst: 1, priority, flags, ..Packet::default() };
        bench.net.launch(0, packet, Contents::default());
    }

    /// Packets that have begun to be sent.
    fn begun(bench: &Bench) -> u64 {
        bench.net.packet_hops - bench.net.packets_ahead(&bench.net.packets, |_| true)
    }

    #[test]
    fn a_plain_nic_puts_all_on_the_line_at_once() {
        let mut bench = bench("");
        [1_000, 500, 50].into_iter().for_each(|size| launch(&mut bench, size, NO_PRIORITY, 0));
        // 1, 1.5 and 1.55 us, and 10 us of delay.
        assert_eq!(bench.arrivals_on_line(0), [11 * US, 11_500 * NS, 11_550 * NS]);
        bench.net.now = Time::from_ns(400);
        assert_eq!(bench.net.host_backlog(0), Time::from_ns(1_150));
        assert_eq!(bench.net.host_backlog(1), Time::ZERO);
        assert_eq!((bench.net.totals.made_packets, bench.net.totals.made_bytes), (3, 1_550));
        // The first has begun, at 1 us also the second.
        assert_eq!(begun(&bench), 1);
        bench.net.now = Time::from_ns(999);
        assert_eq!(begun(&bench), 1);
        bench.net.now = Time::from_us(1);
        assert_eq!(begun(&bench), 2);
        bench.net.now = Time::from_us(2);
        assert_eq!(begun(&bench), 3);
    }

    #[test]
    fn what_waits_leaves_by_priority_when_the_line_is_free() {
        let mut bench = Bench::with(&format!("{STAR}\n{THREE_QUEUES}"), Shortcuts::NONE);
        launch(&mut bench, 1_000, NO_PRIORITY, 0);
        launch(&mut bench, 900, NO_PRIORITY, 0);
        launch(&mut bench, 800, 1, 0);
        launch(&mut bench, 50, NO_PRIORITY, flags::CONTROL);
        // Of the first packet 600 ns are left at 400 ns, and 1,750 bytes wait.
        bench.net.now = Time::from_ns(400);
        assert_eq!(bench.net.host_backlog(0), Time::from_ns(600 + 1_750));
        // One wake at a time: after 1 us, 50 ns of the ack, 800 ns of priority 1. Then nothing
        // waits.
        let wakes = bench.steps::<3>();
        assert_eq!(wakes, [US, 1_050 * NS, 1_850 * NS].map(|at| (at, Kind::Wake, 0)));
        assert_eq!(bench.sizes_on_line(0), [1_000, 50, 800, 900]);
        let arrivals = [11_000, 11_050, 11_850, 12_750].map(|ns| ns * NS);
        assert_eq!(bench.arrivals_on_line(0), arrivals);
        assert_eq!(bench.net.host_backlog(0), Time::from_ns(900));
        assert_eq!(bench.step(), (11 * US, Kind::Arrival, 0));
    }

    #[test]
    fn a_deferred_nic_sends_late_with_the_times_at_which_it_could() {
        let mut bench = bench(THREE_QUEUES);
        launch(&mut bench, 1_000, NO_PRIORITY, 0);
        launch(&mut bench, 900, NO_PRIORITY, 0);
        launch(&mut bench, 800, 1, 0);
        // At 1.2 us nobody has looked: 800 bytes could be on the line since 1 us, and 900 then
        // wait.
        bench.net.now = Time::from_ns(1_200);
        assert_eq!(bench.sizes_on_line(0), [1_000]);
        assert_eq!(bench.net.host_backlog(0), Time::from_ns(600 + 900));
        // So an ack comes too late for 1 us, and leaves at 1.8 us, before the 900 bytes. Nothing can
        // overtake it, so it is on the line already; its turn comes later.
        launch(&mut bench, 50, NO_PRIORITY, flags::CONTROL);
        assert_eq!(bench.sizes_on_line(0), [1_000, 800, 50]);
        assert_eq!(bench.net.host_backlog(0), Time::from_ns(600 + 950));
        let begun = [1_200, 1_799, 1_800, 9_000].map(|ns| {
            bench.net.now = Time::from_ns(ns);
            begun(&bench)
        });
        assert_eq!(begun, [2, 2, 3, 3]);
        assert_eq!(bench.net.host_backlog(0), Time::ZERO);
        bench.net.catch_up_all();
        assert_eq!(bench.sizes_on_line(0), [1_000, 800, 50, 900]);
        let arrivals = [11_000, 11_800, 11_850, 12_750].map(|ns| ns * NS);
        assert_eq!((bench.arrivals_on_line(0), bench.net.packet_hops), (arrivals.into(), 4));
        assert_eq!(bench.pending(), [(11 * US, Kind::Arrival, 0)]);
        // An idle line sends at once again.
        bench.net.now = Time::from_us(20);
        launch(&mut bench, 700, NO_PRIORITY, 0);
        assert_eq!(bench.arrivals_on_line(0)[4], 30_700 * NS);
    }

    /// By a clock that is 300 ppm slow, 1,000 bytes take 1,000.30009 ns. Three times as many take
    /// 3,000.90027 ns, however often the line was looked at in between.
    #[test]
    fn a_deferred_nic_has_its_backlog_to_the_picosecond() {
        for (shortcuts, wakes) in [(Shortcuts::ALL, 0), (Shortcuts::NONE, 1)] {
            let mut bench = Bench::with(&format!("{STAR}\n{THREE_QUEUES}"), shortcuts);
            let exact = Rate::from_bits_per_second(8_000_000_000).unwrap();
            let slow = exact.by_clock(Clock::off_by_ppb(-300_000));
            bench.net.lines[0].byte_time = slow.byte_time();
            (0..3).for_each(|_| launch(&mut bench, 1_000, NO_PRIORITY, 0));
            (0..wakes).for_each(|_| _ = bench.step());
            bench.net.now = Time::from_ns(1_200);
            assert_eq!(bench.net.host_backlog(0), Time::from_ps(1_800_900), "{shortcuts:?}");
        }
    }

    #[test]
    fn a_nic_that_serves_flows_in_turn_queues_its_best_packets_too() {
        let nic = "nic = { queues = 2, scheduling = \"per-flow-rr\", data_queue = 1 }";
        let mut bench = bench(nic);
        for (flow, size) in [(0, 1_000), (1, 400), (1, 300), (2, 200)] {
            let packet = Packet { size, dst: 1, priority: 0, ..Packet::default() };
            bench.net.launch(0, packet, Contents { flow, ..Contents::default() });
        }
        assert_eq!(bench.sizes_on_line(0), [1_000]);
        bench.net.now = Time::from_us(5);
        bench.net.catch_up_all();
        assert_eq!(bench.sizes_on_line(0), [1_000, 400, 200, 300]);
    }

    #[test]
    fn a_deferred_nic_sends_when_its_line_runs_empty() {
        let mut bench = bench(THREE_QUEUES);
        [1_000, 900].into_iter().for_each(|size| launch(&mut bench, size, NO_PRIORITY, 0));
        assert_eq!(bench.step(), (11 * US, Kind::Arrival, 0));
        assert_eq!(bench.arrivals_on_line(0), [11_900 * NS]);
        assert!(!bench.net.lines[0].waits);
        // The other event is that of the packet that has come to the switch.
        let due = bench.pending().into_iter().filter(|event| event.2 == 0);
        assert_eq!(due.collect::<Vec<_>>(), [(11_900 * NS, Kind::Arrival, 0)]);
    }

    #[test]
    fn a_managed_nic_loses_what_finds_its_queue_full() {
        let mut bench = bench("nic = { queues = 2, data_queue = 1, queue_limit = \"1pkt\" }");
        // The first is sent, the second waits, the third is lost; an ack has a queue of its own.
        [1_000, 900, 800].into_iter().for_each(|size| launch(&mut bench, size, NO_PRIORITY, 0));
        launch(&mut bench, 50, NO_PRIORITY, flags::CONTROL);
        let [lost] = bench.net.lost[..] else { panic!("one is lost") };
        assert_eq!((lost.reason, lost.at), (DropReason::QueueLimit, Node::Host(0)));
        assert_eq!((lost.queue, bench.net.packets[lost.packet].size), (Some(1), 800));
        // The packet was made, so the code that collects it counts it as lost.
        assert_eq!((bench.net.totals.made_packets, bench.net.totals.made_bytes), (4, 2_750));
        let wakes = bench.steps::<2>();
        assert_eq!(wakes, [(US, Kind::Wake, 0), (1_050 * NS, Kind::Wake, 0)]);
        assert_eq!(bench.sizes_on_line(0), [1_000, 50, 900]);
        // An idle line sends at once again.
        bench.net.now = Time::from_us(5);
        launch(&mut bench, 700, NO_PRIORITY, 0);
        assert_eq!(bench.arrivals_on_line(0)[3], 15_700 * NS);
        assert_eq!(bench.net.lost.len(), 1);
    }

    #[test]
    fn a_packet_begins_without_telemetry() {
        let mut bench = bench("");
        // The place that the next packet gets still holds an older one's telemetry.
        bench.net.telemetry.of(0).push(Hop::default());
        launch(&mut bench, 1_000, NO_PRIORITY, flags::TELEMETRY);
        assert_eq!(bench.net.telemetry.get(0).map(|telemetry| telemetry.hops().len()), Some(0));
        // A packet that was made out of an arrived one keeps the telemetry: an ack carries it back.
        let id = bench.on_line(0)[0];
        bench.net.telemetry.of(id).push(Hop::default());
        bench.net.relaunch(1, id);
        assert_eq!(bench.net.telemetry.get(id).map(|telemetry| telemetry.hops().len()), Some(1));
    }
}

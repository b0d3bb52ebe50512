//! The network without its hosts: packets on lines and in switches.
//!
//! The network knows nothing of flows. Its caller receives the packets that have reached their
//! hosts, and collects those that were lost.

mod ahead;
mod audit;
mod build;
mod cut;
mod deadlock;
mod expelling;
mod failures;
mod intake;
mod nics;
mod pausing;
mod timers;
mod waiting;
mod whole_ns;

pub use cut::Cut;
pub(crate) use cut::{Border, Ferry};
pub(crate) use pausing::Pause;
pub(crate) use timers::PolicyTimer;

use crate::event::Moment;
use crate::port::line::{End, Line, Waking};
use crate::port::nic::{Nic, NicQueueing};
use crate::port::ring::PortFifo;
use crate::port::timetable::Timetable;
use crate::scenario::PacketClasses;
use cut::Away;
use deadlock::Deadlocks;
use failures::Failures;
use intake::Intake;
use pausing::Pausing;
use spillway_engine::{Event, EventQueue, Stream, Time};
use spillway_switch::packet::{Arena, NO_PACKET, Packet, PacketId, flags};
use spillway_switch::{DropReason, QueueId, SideTable, Switch};
use spillway_topology::Node;
use spillway_topology::routing::{PathChoice, Routing};
use spillway_transport::telemetry::{Hop, Telemetry};
use whole_ns::WholeNs;

/// A packet that was lost, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub packet: PacketId,
    pub reason: DropReason,
    /// The switch or host that would have sent it next.
    pub at: Node,
    /// The queue that held it, or that it was meant for.
    pub queue: Option<QueueId>,
}

/// Packets, and bytes on the wire, that were made, arrived or were lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets made by hosts.
    pub made_packets: u64,
    /// Their bytes.
    pub made_bytes: u64,
    /// Packets that reached their host.
    pub arrived_packets: u64,
    /// Their bytes.
    pub arrived_bytes: u64,
    /// Packets lost.
    pub lost_packets: u64,
    /// Their bytes.
    pub lost_bytes: u64,
}

/// What chooses next hops in place of the hash of ECMP.
#[derive(Clone)]
enum Chooser {
    /// With spraying, every switch's random stream.
    Spray(Vec<Stream>),
    /// The hash of the RDMA simulators.
    Murmur3,
}

impl Chooser {
    /// Chooses a next hop for a packet at the switch with this number and this seed.
    fn choose(&mut self, (switch, seed): (u32, u32), packet: &Packet, among: usize) -> usize {
        match self {
            Chooser::Spray(random) => random[switch as usize].below(among as u64) as usize,
            Chooser::Murmur3 => PathChoice::Murmur3(packet.path, packet.dst).pick(seed, among),
        }
    }
}

/// The lines of a switch, and its ports that wait.
#[derive(Clone, Debug)]
pub(crate) struct SwitchPorts {
    /// The line of its first port.
    pub first_line: u32,
    /// Together with a flow's hash it chooses among equal next hops.
    pub seed: u32,
    /// Its ports that wait and are deferred.
    pub waiting: Timetable,
}

/// Lines, switches and NICs, and the packets in them.
#[derive(Clone)]
pub(crate) struct Network {
    pub now: Time,
    /// The key of the event that is being handled.
    pub key: u32,
    /// In a part of a cut network: the last event of a kind that is rare.
    pub latest: Event,
    /// In a part of a cut network: how many lost packets have been looked at. May wrap around.
    pub losses: u32,
    pub events: EventQueue,
    pub packets: Arena,
    pub lines: Vec<Line>,
    pub ports: Vec<SwitchPorts>,
    pub switches: Vec<Switch>,
    pub timers: Vec<PolicyTimer>,
    pub nics: Vec<Nic>,
    /// Rings below the queues of ports, by line, if there are any.
    port_fifos: Vec<Option<PortFifo>>,
    pub nic_queueing: NicQueueing,
    /// The queues in which packets wait at NICs.
    nic_classes: PacketClasses,
    /// Whether something must be done when a packet that has waited at a NIC begins to be sent.
    tells_begun: bool,
    /// Whether flows are told when such a packet begins to be sent.
    has_queue_pairs: bool,
    pub routing: Routing,
    /// Whether some transport asks switches for telemetry.
    pub writes_telemetry: bool,
    /// The time saved so far, if times of transmission are cut to whole nanoseconds.
    whole_ns: Option<WholeNs>,
    /// The telemetry that switches have written.
    pub telemetry: SideTable<Telemetry>,
    /// The numbers of packets in the order in which their flows sent them.
    pub numbers: SideTable<u64>,
    /// What chooses next hops, if it is not the hash of ECMP.
    chooser: Option<Chooser>,
    pub failures: Failures,
    /// Pause frames and the queue classes that they have stopped, if some priority is lossless.
    pub pausing: Option<Box<Pausing>>,
    /// What a part of a cut network knows of other parts, if some priority is lossless.
    away: Option<Box<Away>>,
    /// The search for ports that pause each other in a cycle, if there can be such a cycle.
    pub deadlocks: Option<Box<Deadlocks>>,
    /// The packets that wait at hosts to be taken in, if some hosts take in packets at a rate of
    /// their own.
    intakes: Vec<Intake>,
    /// Packets lost and not collected yet.
    pub lost: Vec<Lost>,
    /// Packets that started transmission on any line.
    pub packet_hops: u64,
    pub totals: Totals,
}

impl std::ops::AddAssign for Totals {
    fn add_assign(&mut self, more: Totals) {
        self.made_packets += more.made_packets;
        self.made_bytes += more.made_bytes;
        self.arrived_packets += more.arrived_packets;
        self.arrived_bytes += more.arrived_bytes;
        self.lost_packets += more.lost_packets;
        self.lost_bytes += more.lost_bytes;
    }
}

impl Network {
    /// What is being done, as a place in the order of the run.
    pub fn moment(&self) -> Moment {
        let Event { time, key } = self.latest;
        // An event may cause another one of the same time that has a lower key.
        let (highest, follows) =
            if time == self.now && key > self.key { (key, self.key) } else { (self.key, 0) };
        Moment { time: self.now, highest, follows, place: self.losses }
    }

    /// When a line will have sent all packets put on it.
    fn busy_until(&self, line_id: u32) -> Time {
        match self.port_fifos.get(line_id as usize) {
            Some(Some(fifo)) => fifo.end(),
            _ => self.lines[line_id as usize].busy_until,
        }
    }

    /// Bytes that a line has sent until now.
    pub fn sent_bytes(&self, line_id: u32) -> u64 {
        self.sent_bytes_by(line_id, self.now)
    }

    /// Bytes that a line has sent until `time`. Nothing may have happened since then.
    pub fn sent_bytes_by(&self, line_id: u32, time: Time) -> u64 {
        let line = &self.lines[line_id as usize];
        line.accepted_bytes - line.byte_time.bytes_in(self.busy_until(line_id).since(time))
    }

    /// How long a line has been sending until now: the time of all bytes that were put on it, less
    /// the time of those that it has still to send.
    pub fn busy_time(&self, line_id: u32) -> Time {
        let line = &self.lines[line_id as usize];
        let given = line.byte_time.time_of(line.accepted_bytes);
        let saved = self.failures.cut_short(line_id)
            + self.whole_ns.as_ref().map_or(Time::ZERO, |whole| whole.saved(line_id));
        given.since(self.busy_until(line_id).since(self.now) + saved)
    }

    /// The first packet on a line arrives at its far end. Returns the packet if that end is a host.
    #[inline(always)]
    pub fn on_arrival(&mut self, line_id: u32) -> Option<(u32, PacketId)> {
        let line = &mut self.lines[line_id as usize];
        let id = line.head;
        // A failure takes packets off their line, but their event stays in the queue.
        let packet = *self.packets.get(id).filter(|packet| packet.time == self.now)?;
        line.take(&packet, &self.packets, &mut self.events);
        let (to, end) = (line.to, line.end);
        // The conditions are combined without branches. Together they are seldom true, so one
        // branch remains that is easy to predict.
        if line.waking.sends_when_empty() & line.waits & (line.head == NO_PACKET) {
            self.catch_up_line(line_id);
        }
        if end == End::Host {
            self.totals.arrived_packets += 1;
            self.totals.arrived_bytes += u64::from(packet.size);
            return Some((to, id));
        }
        self.forward(line_id, to, id, &packet);
        None
    }

    /// A packet has arrived at a switch, on a line.
    #[inline(always)]
    fn forward(&mut self, line_id: u32, switch_id: u32, id: PacketId, packet: &Packet) {
        if self.ports[switch_id as usize].waiting.first() <= self.now
            && self.is_handled_apart(line_id, switch_id, id)
        {
            return;
        }
        let SwitchPorts { first_line, seed, .. } = self.ports[switch_id as usize];
        let Some(port) = self.next_port::<false>((switch_id, seed), packet) else {
            return self.lose(id, DropReason::NoRoute, Node::Switch(switch_id));
        };
        let line_id = first_line + port;
        let line = &mut self.lines[line_id as usize];
        let switch = &mut self.switches[switch_id as usize];
        let lost;
        if (line.busy_until <= self.now) & !line.waits {
            let sent = switch.pass(self.now, port, id, packet, &mut self.packets);
            lost = switch.has_lost();
            if let Some(id) = sent {
                let waits = switch.releases_at_end();
                self.transmit(line_id, id);
                if waits {
                    self.wait(line_id);
                }
            }
        } else if line.waking == Waking::InOrder {
            return self.queue_in_order::<false>(switch_id, port, id);
        } else if line.waking == Waking::BestInOrder && switch.is_best(packet) {
            return self.queue_in_order::<true>(switch_id, port, id);
        } else {
            switch.enqueue(self.now, port, id, packet, &mut self.packets);
            lost = switch.has_lost();
            if !line.waits && switch.has_backlog(port) {
                self.wait(line_id);
            }
        }
        if lost {
            self.collect_lost(switch_id);
        }
    }

    /// Called before a packet that has arrived at a switch is decided about, if the switch's
    /// timetable is due. Most switches let their deferred ports catch up, and the packet then goes
    /// its usual way. Other nodes have a timetable that is always due and handle every packet
    /// apart: switches with lossless priorities, switches that expel packets, hosts that are slow to
    /// take in packets, and switches whose ports choose after arrivals. So no check for these nodes is needed for every
    /// packet elsewhere. Returns whether the packet was handled apart.
    #[inline(never)]
    fn is_handled_apart(&mut self, line_id: u32, switch_id: u32, id: PacketId) -> bool {
        if !self.ports[switch_id as usize].waiting.is_always_due() {
            self.catch_up(switch_id);
            return false;
        }
        match self.lines[line_id as usize].end {
            End::SlowHost => self.queue_at_host(line_id, id),
            End::LosslessSwitch => self.forward_lossless(line_id, id),
            End::ExpellingSwitch => self.forward_expelling(line_id, id),
            End::Switch | End::Host => self.queue_for_choice(line_id, id),
        }
        true
    }

    /// The port by which a packet leaves a switch; `None` if no route leads to its destination.
    /// Packets that are handled apart use a second copy of this function (`APART`). The first copy
    /// then has a single caller, into which it is inlined.
    #[inline(always)]
    fn next_port<const APART: bool>(
        &mut self,
        (switch_id, seed): (u32, u32),
        packet: &Packet,
    ) -> Option<u32> {
        let choose = |among: usize| {
            if packet.flags & flags::EXPLICIT_PATH != 0 {
                PathChoice::Path(packet.path).pick(0, among)
            } else if let Some(chooser) = &mut self.chooser {
                chooser.choose((switch_id, seed), packet, among)
            } else {
                // Done even if there is a single port: a branch for that case would often be
                // mispredicted.
                PathChoice::Hash(packet.path).pick(seed, among)
            }
        };
        self.routing.next_hop(switch_id, packet.dst, choose)
    }

    /// Puts a packet on a line, which may still be sending earlier ones.
    #[inline(always)]
    pub fn transmit(&mut self, line_id: u32, id: PacketId) {
        self.packet_hops += 1;
        let line = &mut self.lines[line_id as usize];
        if line.attended {
            self.send_attended(line_id, id)
        } else {
            line.send(self.now, id, &mut self.packets, &mut self.events)
        }
    }

    /// As `transmit`, for a line that may lose the packet, that has a ring before it, whose port
    /// writes telemetry, or on which times are cut to whole nanoseconds.
    #[cold]
    fn send_attended(&mut self, line_id: u32, id: PacketId) {
        if self.packets[id].flags & (flags::TELEMETRY | flags::CONTROL) == flags::TELEMETRY {
            self.write_telemetry(line_id, id);
        }
        let packet = &mut self.packets[id];
        let line = &mut self.lines[line_id as usize];
        let exact = line.lasts(packet.size.into());
        let lasts = match &mut self.whole_ns {
            None => exact,
            Some(whole) => whole.cut(line_id, exact),
        };
        let (arrival, lost) = match self.port_fifos.get_mut(line_id as usize) {
            Some(Some(fifo)) => (line.occupy_in_turn(self.now, packet, lasts, fifo), false),
            _ => (line.occupy_for(self.now, packet, lasts), self.is_lost_on_line(line_id, id)),
        };
        if !lost {
            let line = &mut self.lines[line_id as usize];
            line.carry(id, (arrival, lasts), &mut self.packets, &mut self.events);
        }
    }

    /// If a switch sends on this line, its port writes its state into the packet that it begins to
    /// send.
    fn write_telemetry(&mut self, line_id: u32, id: PacketId) {
        let line = &self.lines[line_id as usize];
        if line_id < self.nics.len() as u32 {
            return;
        }
        let (port, switch) = (self.port_of(line_id), &self.switches[line.from as usize]);
        self.telemetry.of(id).push(Hop {
            time: self.now,
            queue_bytes: switch.waiting_bytes(port),
            sent_bytes: line.accepted_bytes,
            ps_per_byte: line.byte_time.ps(),
        });
    }

    /// The port that sends on a line of a switch.
    pub fn port_of(&self, line_id: u32) -> u32 {
        let from = self.lines[line_id as usize].from;
        line_id - self.ports[from as usize].first_line
    }

    /// The switch or host that sends on a line.
    pub fn sender_on(&self, line_id: u32) -> Node {
        if line_id < self.nics.len() as u32 {
            Node::Host(line_id)
        } else {
            Node::Switch(self.lines[line_id as usize].from)
        }
    }

    /// A packet is lost that is in no switch's queue.
    #[cold]
    pub fn lose(&mut self, packet: PacketId, reason: DropReason, at: Node) {
        self.lost.push(Lost { packet, reason, at, queue: None });
    }

    /// Collects the packets that a switch has lost.
    #[cold]
    pub fn collect_lost(&mut self, switch_id: u32) {
        let switch = &mut self.switches[switch_id as usize];
        self.lost.extend(switch.lost().iter().map(|lost| Lost {
            packet: lost.packet,
            reason: lost.reason,
            at: Node::Switch(switch_id),
            queue: Some(lost.queue),
        }));
        switch.clear_lost();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Kind;
    use crate::testing::{Bench, NS, STAR, US};
    use spillway_switch::packet::{Contents, NO_PRIORITY};

    /// Two leaves with two hosts each, and two spines. A leaf has ports to its hosts first, then to
    /// the spines. The lines of leaf 0 are 4 to 7.
    const LEAF_SPINE: &str = "topology = { kind = \"leaf-spine\", leaves = 2, hosts_per_leaf = 2, \
                              spines = 2, host_rate = \"8Gbps\", fabric_rate = \"8Gbps\", \
                              link_delay = \"10us\" }";

    fn packet(dst: u32, size: u32) -> Packet {
        Packet { size, dst, priority: NO_PRIORITY, ..Packet::default() }
    }

    /// Handles the next event, an arrival. Returns its time, its line, and the host if it is at
    /// one.
    fn next_arrival(net: &mut Network) -> (u64, u32, Option<u32>) {
        let event = net.events.pop().expect("an arrival");
        net.now = event.time;
        let line = Kind::Arrival.id_of(event.key).expect("an arrival");
        (event.time.ps(), line, net.on_arrival(line).map(|(host, _)| host))
    }

    #[test]
    fn a_line_has_sent_what_its_time_allows() {
        let mut bench = Bench::new(STAR);
        let net = &mut bench.net;
        (0..2).for_each(|_| net.launch(0, packet(1, 1_000), Contents::default()));
        for (ns, bytes) in [(0, 0), (500, 500), (1_750, 1_750), (2_000, 2_000), (9_000, 2_000)] {
            net.now = Time::from_ns(ns);
            // A byte takes a nanosecond.
            assert_eq!((net.sent_bytes(0), net.busy_time(0)), (bytes, Time::from_ns(bytes)));
        }
        // A byte whose transmission has begun counts as sent, like a byte that a failure cuts
        // short. The busy time counts only the part that has passed.
        net.launch(1, packet(0, 1_000), Contents::default());
        net.now = Time::from_ps(9_000 * NS + 500);
        assert_eq!((net.sent_bytes(1), net.busy_time(1).ps()), (1, 500));
    }

    /// The ring has room for the third packet when the first has left, but the line sends all
    /// three.
    #[test]
    fn a_port_with_a_ring_sends_until_the_ring_is_empty() {
        let mut bench = Bench::new(&format!("{STAR}\nswitch = {{ port_fifo_packets = 2 }}"));
        for _ in 0..3 {
            let id = bench.make(packet(1, 1_000), Contents::default());
            bench.net.transmit(4, id);
        }
        let net = &mut bench.net;
        assert_eq!(
            (net.lines[4].busy_until, net.busy_until(4)),
            (Time::from_us(1), Time::from_us(3))
        );
        net.now = Time::from_ns(2_500);
        assert_eq!((net.sent_bytes(4), net.busy_time(4)), (2_500, Time::from_ns(2_500)));
        assert_eq!(bench.arrivals_on_line(4), [11 * US, 12 * US, 13 * US]);
    }

    #[test]
    fn a_port_without_a_ring_is_busy_as_if_no_port_had_one() {
        let mut bench = Bench::new(&format!("{STAR}\nswitch = {{ port_fifo_packets = 2 }}"));
        bench.net.launch(0, packet(1, 1_000), Contents::default());
        assert_eq!(bench.net.busy_until(0), Time::from_us(1));
    }

    #[test]
    fn a_packet_passes_the_switch_to_its_host() {
        let mut bench = Bench::new(STAR);
        let net = &mut bench.net;
        net.launch(0, packet(2, 1_000), Contents::default());
        assert_eq!(next_arrival(net), (11 * US, 0, None));
        assert_eq!(net.totals.arrived_packets, 0);
        assert_eq!(next_arrival(net), (22 * US, 5, Some(2)));
        assert_eq!((net.totals.arrived_packets, net.totals.arrived_bytes), (1, 1_000));
        assert_eq!(net.packet_hops, 2);
    }

    /// The second packet leaves 2 us after the first has been sent. From a delay of some 4.3 ms on
    /// the gap between two packets on a line may be too long to be noted with the first one.
    #[test]
    fn packets_arrive_in_time_whatever_the_delay() {
        for delay in [10, 4_293, 4_294, 5_000] {
            let mut bench = Bench::new(&STAR.replace("10us", &format!("{delay}us")));
            let net = &mut bench.net;
            net.launch(0, packet(1, 1_000), Contents::default());
            net.now = Time::from_us(3);
            net.launch(0, packet(1, 1_000), Contents::default());
            assert_eq!([(); 2].map(|()| next_arrival(net).0), [(1 + delay) * US, (4 + delay) * US]);
        }
    }

    #[test]
    fn an_event_without_its_packet_does_nothing() {
        let mut bench = Bench::new(STAR);
        let net = &mut bench.net;
        net.launch(0, packet(2, 1_000), Contents::default());
        // A failure has taken the first packet off the line, and another is due later.
        net.now = Time::from_us(10);
        assert_eq!(net.on_arrival(0), None);
        net.lines[1].head = NO_PACKET;
        assert_eq!(net.on_arrival(1), None);
        assert_eq!((net.totals.arrived_packets, net.packet_hops), (0, 1));
        assert_eq!(next_arrival(net), (11 * US, 0, None));
    }

    #[test]
    fn a_packet_takes_the_path_that_it_names() {
        let mut bench = Bench::new(LEAF_SPINE);
        let net = &mut bench.net;
        // To host 2 of the other leaf, at successive times: an even number names the first of two
        // spines.
        for (path, spine) in [(0, 0), (2, 0), (4, 0), (1, 1), (3, 1), (5, 1), (6, 0), (7, 1)] {
            let flags = flags::EXPLICIT_PATH;
            net.launch(0, Packet { path, flags, ..packet(2, 1_000) }, Contents::default());
            let before = [6, 7].map(|line| net.lines[line].accepted_bytes);
            while next_arrival(net).1 != 0 {}
            let sent = [0, 1].map(|n| net.lines[6 + n].accepted_bytes - before[n]);
            assert_eq!(sent, [[1_000, 0], [0, 1_000]][spine], "path {path}");
        }
        // Within the rack there is only one.
        let packet = Packet { path: 3, flags: flags::EXPLICIT_PATH, ..packet(1, 1_000) };
        net.launch(0, packet, Contents::default());
        while next_arrival(net).1 != 0 {}
        assert_eq!(net.lines[5].accepted_bytes, 1_000);
    }

    #[test]
    fn what_has_no_route_or_no_room_is_lost_at_its_switch() {
        let text = format!("{STAR}\nswitch = {{ buffer = \"1000B\", queues_per_port = 2 }}");
        let mut bench = Bench::new(&text);
        let topology = &bench.scenario.topology;
        let of_host_2 = topology.nics[2] | 1;
        let up: Vec<bool> =
            (0..topology.lines.len() as u32).map(|line| line | 1 != of_host_2).collect();
        bench.net.routing = Routing::new(topology, &up);
        let mut comes = |dst: u32| {
            let id = bench.make(packet(dst, 600), Contents::default());
            let packet = bench.net.packets[id];
            bench.net.forward(0, 0, id, &packet);
            id
        };
        let lost = comes(2);
        // One on the line, one in the buffer; 400 bytes are left.
        let [_, _, refused] = [(); 3].map(|()| comes(1));
        let told = |lost: &Lost| (lost.packet, lost.reason, lost.at, lost.queue);
        let lost_packets: Vec<_> = bench.net.lost.iter().map(told).collect();
        let at = Node::Switch(0);
        // Data are in the second queue of port 1, which has the number 1 * 2 + 1.
        let expected =
            [(lost, DropReason::NoRoute, at, None), (refused, DropReason::BufferFull, at, Some(3))];
        assert_eq!(lost_packets, expected);
        assert!(!bench.net.switches[0].has_lost(), "they are collected once");
    }
}

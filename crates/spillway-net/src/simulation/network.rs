//! The network without its hosts: packets on lines and through switches.
//!
//! It knows nothing of flows. A packet that has reached its host is handed to whoever runs the
//! network; what was lost is kept for it to collect.

use super::failures::Failures;
use crate::event::{self, Kind};
use crate::nic::{Cards, Nic};
use crate::port::line::{Line, Waking};
use crate::port::ring::{self, PortFifo};
use crate::port::timetable::Timetable;
use crate::routing::{PathChoice, Routing};
use crate::scenario::{Scenario, Spreading};
use crate::telemetry::{Hop, Reports};
use crate::topology::{LinkId, Node, Topology};
use crate::transport::Transport;
use spillway_engine::{EventQueue, Stream, Time, mix, prefetch};
use spillway_switch::packet::{Arena, Contents, NO_PACKET, Packet, PacketId, flags};
use spillway_switch::{Discipline, DropReason, QueueId, Switch};

/// A packet that was lost, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lost {
    pub packet: PacketId,
    pub reason: DropReason,
    /// The switch or host that it was to leave.
    pub at: Node,
    /// The queue that it was in or meant for, if it was one.
    pub queue: Option<QueueId>,
}

/// Packets and bytes on the wire that came into being and went.
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

/// A policy that wants to be woken.
#[derive(Clone, Copy, Debug)]
pub(super) struct PolicyTimer {
    /// The switch or host that has it.
    pub at: Node,
    /// 0 for the sharing policy, 1 for the AQM.
    pub policy: usize,
    pub period: Time,
}

/// Where a switch's lines are, and what its ports wait for.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The line of its first port.
    pub first_line: u32,
    /// With a flow's hash it chooses among equal next hops.
    pub seed: u32,
    /// Its ports that wait, if they are seen to late.
    pub waiting: Timetable,
}

/// Lines, switches and cards, and the packets in them.
pub(super) struct Network {
    pub now: Time,
    pub events: EventQueue,
    pub packets: Arena,
    pub lines: Vec<Line>,
    pub places: Vec<Place>,
    pub switches: Vec<Switch>,
    pub timers: Vec<PolicyTimer>,
    pub nics: Vec<Nic>,
    /// Rings below the queues of ports, by line, if there are any.
    port_fifos: Vec<Option<PortFifo>>,
    pub cards: Cards,
    pub routing: Routing,
    /// Whether any packet asks switches for telemetry.
    pub writes_telemetry: bool,
    /// What they have written.
    pub reports: Reports,
    /// With spraying, every switch's random stream.
    spray: Option<Vec<Stream>>,
    pub failures: Failures,
    /// Packets lost and not collected yet.
    pub lost: Vec<Lost>,
    /// Packets that started transmission on any line.
    pub packet_hops: u64,
    pub totals: Totals,
}

impl Network {
    /// An empty network.
    pub fn new(scenario: &Scenario) -> Network {
        let topology = &scenario.topology;
        let (mut lines, first_line, line_of_link) = lay_lines(topology);
        let writes_telemetry = scenario.transports.iter().any(Transport::asks_telemetry);
        lines.iter_mut().for_each(|line| line.attended = writes_telemetry);
        let port_fifos = ring::of_lines(scenario, &mut lines);
        let switches: Vec<Switch> =
            (0..topology.switches.len() as u32).map(|s| scenario.make_switch(s)).collect();
        let nics: Vec<Nic> = (0..topology.hosts()).map(|host| scenario.make_nic(host)).collect();
        let place = |(switch, first_line): (u64, u32)| {
            let own = if scenario.routing.seed_per_switch { switch + 1 } else { 0 };
            let seed = mix(mix(scenario.routing.hash_seed) ^ own) as u32;
            Place { first_line, seed, waiting: Timetable::default() }
        };
        let stream = |switch: usize| Stream::new(scenario.seed, "spray", switch as u64);
        let spray = (scenario.routing.spreading == Spreading::Spray)
            .then(|| (0..switches.len()).map(stream).collect());
        let (width_log2, buckets_log2) = calendar(&lines);
        Network {
            now: Time::ZERO,
            events: EventQueue::new(width_log2, buckets_log2),
            packets: Arena::new(),
            places: (0..).zip(first_line).map(place).collect(),
            timers: timers(&switches, &nics),
            switches,
            cards: Cards::Queued,
            nics,
            port_fifos,
            routing: Routing::new(topology, &vec![true; topology.links.len()]),
            writes_telemetry,
            reports: Reports::default(),
            spray,
            failures: Failures::new(scenario, line_of_link),
            lost: Vec::new(),
            packet_hops: 0,
            totals: Totals::default(),
            lines,
        }
    }

    /// Begins the first period of every policy that has one.
    pub fn schedule_timers(&mut self) {
        for (number, timer) in (0..).zip(&self.timers) {
            self.events.push(timer.period, Kind::PolicyTimer.key(number));
        }
    }

    /// Whether nothing will happen any more, but for policies that are woken: nothing moves, and
    /// nothing is due.
    pub fn is_still(&self) -> bool {
        self.packets.live() == 0 && self.events.len() <= self.timers.len()
    }

    /// A policy's period is over, and the next begins.
    pub fn on_policy_timer(&mut self, number: u32) {
        let PolicyTimer { at, policy, period } = self.timers[number as usize];
        match at {
            Node::Switch(switch) => {
                self.catch_up(switch);
                self.switches[switch as usize].on_timer(self.now, policy);
            }
            Node::Host(host) => self.nics[host as usize].on_timer(self.now),
        }
        self.events.push(self.now + period, Kind::PolicyTimer.key(number));
    }

    /// Makes a packet and sends it out of a host.
    #[inline]
    pub fn launch(&mut self, host: u32, packet: Packet, contents: Contents) {
        let id = self.packets.insert(packet, contents);
        if packet.flags & flags::TELEMETRY != 0 {
            self.reports.clear(id);
        }
        self.relaunch(host, id);
    }

    /// Sends a packet out of a host that has just been made of one that had arrived there.
    #[inline]
    pub fn relaunch(&mut self, host: u32, id: PacketId) {
        self.totals.made_packets += 1;
        self.totals.made_bytes += u64::from(self.packets[id].size);
        match self.cards {
            Cards::Plain => return self.transmit(host, id),
            Cards::Managed => return self.offer(host, id),
            Cards::Queued => {}
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

    /// How long a host's line has work for.
    #[inline(always)]
    pub fn host_backlog(&self, host: u32) -> Time {
        let line = &self.lines[host as usize];
        if self.cards == Cards::Plain {
            return line.busy_until.since(self.now);
        }
        let sending = self.busy_until(host).since(self.now);
        sending + line.time_of(self.nics[host as usize].bytes())
    }

    /// When a line will have sent all that it has been given.
    fn busy_until(&self, line_id: u32) -> Time {
        match self.port_fifos.get(line_id as usize) {
            Some(Some(fifo)) => fifo.end(),
            _ => self.lines[line_id as usize].busy_until,
        }
    }

    /// Bytes that a line has sent until now.
    pub fn sent_bytes(&self, line_id: u32) -> u64 {
        let line = &self.lines[line_id as usize];
        line.accepted_bytes - self.busy_until(line_id).since(self.now).ps() / line.ps_per_byte
    }

    /// How long a line has been sending until now: what was put on it, less what is still to be sent.
    pub fn busy_time(&self, line_id: u32) -> Time {
        let line = &self.lines[line_id as usize];
        let given = line.time_of(line.accepted_bytes);
        given - self.busy_until(line_id).since(self.now) - self.failures.cut_short(line_id)
    }

    /// Has what the next events will want fetched: a line, the packet that arrives on it, and what is
    /// in that if it arrives at a host. If an event is for something else than a line, any will do.
    #[inline(always)]
    pub fn look_ahead(&self) {
        prefetch(&self.lines, event::id(self.events.hint(1)) as usize);
        if let Some(line) = self.lines.get(event::id(self.events.hint(0)) as usize) {
            self.packets.prefetch(line.head);
            self.packets.prefetch_contents(if line.to_host { line.head } else { 0 });
        }
    }

    /// The first packet on a line arrives at its far end. Returns it if that is a host.
    #[inline(always)]
    pub fn on_arrival(&mut self, line_id: u32) -> Option<(u32, PacketId)> {
        let line = &mut self.lines[line_id as usize];
        let id = line.head;
        // A failure takes packets off their line; their event comes all the same.
        let packet = *self.packets.get(id).filter(|packet| packet.time == self.now)?;
        line.take(&packet, &self.packets, &mut self.events);
        let (to, to_host) = (line.to, line.to_host);
        // As one question, which is seldom answered with yes.
        if (line.waking == Waking::Late) & line.waits & (line.head == NO_PACKET) {
            let from = line.from;
            self.catch_up(from);
        }
        if to_host {
            self.totals.arrived_packets += 1;
            self.totals.arrived_bytes += u64::from(packet.size);
            return Some((to, id));
        }
        self.forward(to, id, &packet);
        None
    }

    /// A packet has arrived at a switch.
    #[inline(always)]
    fn forward(&mut self, switch_id: u32, id: PacketId, packet: &Packet) {
        if self.places[switch_id as usize].waiting.first() <= self.now {
            self.catch_up(switch_id);
        }
        let Place { first_line, seed, .. } = self.places[switch_id as usize];
        let choose = |among: usize| {
            if packet.flags & flags::EXPLICIT_PATH != 0 {
                PathChoice::Path(packet.path).pick(0, among)
            } else if let Some(random) = &mut self.spray {
                random[switch_id as usize].below(among as u64) as usize
            } else {
                // Also among one: to tell whether it is one would be guesswork.
                PathChoice::Hash(packet.path).pick(seed, among)
            }
        };
        let Some(port) = self.routing.next_hop(switch_id, packet.dst, choose) else {
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
            return self.queue_in_order(switch_id, port, id);
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

    /// Puts a packet on a line. A plain card's packets need not wait until it is idle: they leave in
    /// the order in which they come, whatever happens meanwhile.
    #[inline(always)]
    pub fn transmit(&mut self, line_id: u32, id: PacketId) {
        self.packet_hops += 1;
        let line = &mut self.lines[line_id as usize];
        match line.attended {
            false => line.send(self.now, id, &mut self.packets, &mut self.events),
            true => self.send_attended(line_id, id),
        }
    }

    /// Puts a packet on a line that may lose it, whose port writes telemetry, or has a ring before
    /// it.
    #[cold]
    fn send_attended(&mut self, line_id: u32, id: PacketId) {
        if self.packets[id].flags & (flags::TELEMETRY | flags::CONTROL) == flags::TELEMETRY {
            self.write_telemetry(line_id, id);
        }
        let packet = &mut self.packets[id];
        let line = &mut self.lines[line_id as usize];
        let (arrival, lost) = match self.port_fifos.get_mut(line_id as usize) {
            Some(Some(fifo)) => (line.occupy_in_turn(self.now, packet, fifo), false),
            _ => (line.occupy(self.now, packet), self.is_lost_on_line(line_id, id)),
        };
        if !lost {
            let line = &mut self.lines[line_id as usize];
            line.carry(id, arrival, &mut self.packets, &mut self.events);
        }
    }

    /// A switch's port writes on a packet how it is as it begins to send it.
    fn write_telemetry(&mut self, line_id: u32, id: PacketId) {
        let line = &self.lines[line_id as usize];
        if line_id < self.nics.len() as u32 {
            return;
        }
        let (port, switch) = (self.port_of(line_id), &self.switches[line.from as usize]);
        self.reports.of(id).push(Hop {
            time: self.now,
            queue_bytes: switch.waiting_bytes(port, &self.packets[id]),
            sent_bytes: line.accepted_bytes,
            ps_per_byte: line.ps_per_byte,
        });
    }

    /// The port that sends on a line of a switch.
    pub fn port_of(&self, line_id: u32) -> u32 {
        let from = self.lines[line_id as usize].from;
        line_id - self.places[from as usize].first_line
    }

    /// The switch or host that sends on a line.
    pub fn sender_on(&self, line_id: u32) -> Node {
        match line_id < self.nics.len() as u32 {
            true => Node::Host(line_id),
            false => Node::Switch(self.lines[line_id as usize].from),
        }
    }

    /// A packet is lost that no queue of a switch has.
    #[cold]
    pub fn lose(&mut self, packet: PacketId, reason: DropReason, at: Node) {
        self.lost.push(Lost { packet, reason, at, queue: None });
    }

    /// Takes over what a switch has lost.
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

    /// Whether every packet and byte made has arrived, was lost, or is here, and all switches'
    /// counters agree with their packets: walks over everything, for tests.
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

/// The lines of a topology: hosts' first, then every switch's in the order of its ports. Returns
/// them with the first of every switch, and the line of every link.
fn lay_lines(topology: &Topology) -> (Vec<Line>, Vec<u32>, Vec<u32>) {
    let mut lines = Vec::with_capacity(topology.links.len());
    let mut line_of_link = vec![0; topology.links.len()];
    let mut first_line = Vec::new();
    let mut lay = |link: LinkId, from: u32| {
        let spec = &topology.links[link as usize];
        let to = match spec.to {
            Node::Host(host) => (host, true),
            Node::Switch(switch) => (switch, false),
        };
        line_of_link[link as usize] = lines.len() as u32;
        lines.push(Line::new(lines.len() as u32, spec, from, to));
        lines.len() as u32
    };
    for (host, &link) in (0..).zip(&topology.nics) {
        lay(link, host);
    }
    let mut next = topology.hosts();
    for (number, switch) in (0..).zip(&topology.switches) {
        first_line.push(next);
        for &link in &switch.ports {
            next = lay(link, number);
        }
    }
    (lines, first_line, line_of_link)
}

/// The timers of all policies that want one.
fn timers(switches: &[Switch], nics: &[Nic]) -> Vec<PolicyTimer> {
    let timers = |at: Node, periods: [Option<Time>; 2]| {
        let timer = move |(policy, period): (usize, Option<Time>)| {
            period.map(|period| PolicyTimer { at, policy, period })
        };
        periods.into_iter().enumerate().filter_map(timer)
    };
    let of_switch =
        |(number, switch): (u32, &Switch)| timers(Node::Switch(number), switch.periods());
    let of_host = |(number, nic): (u32, &Nic)| {
        let period = nic.discipline().and_then(Discipline::period);
        timers(Node::Host(number), [None, period])
    };
    let hosts = (0..).zip(nics).flat_map(of_host);
    (0..).zip(switches).flat_map(of_switch).chain(hosts).collect()
}

/// The event queue's buckets, as logarithms: width in picoseconds, and number.
///
/// About an event is pending for every line that carries something, due within a packet's time on
/// the wire and in the cable: the ring spans that. Buckets as wide as the transmission of the
/// smallest packet are seldom pushed to while they are current; on the middle one of all lines, so
/// that a single fast line does not make buckets too narrow for the others.
fn calendar(lines: &[Line]) -> (u32, u32) {
    const SMALLEST: u64 = 52;
    const FULL: u64 = 1500;
    let mut smallest: Vec<u64> = lines.iter().map(|line| line.time_of(SMALLEST).ps()).collect();
    let middle = smallest.len() / 2;
    let width = *smallest.select_nth_unstable(middle).1;
    let width_log2 = width.max(1).ilog2().min(31);
    let ahead = |line: &Line| (line.delay + line.time_of(FULL)).ps();
    let horizon = lines.iter().map(ahead).max().unwrap_or(1);
    let buckets_log2 = ((horizon >> width_log2) + 1).next_power_of_two().ilog2().clamp(6, 16);
    (width_log2, buckets_log2)
}

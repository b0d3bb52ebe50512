//! The network without its hosts: packets on lines and in switches.
//!
//! It knows nothing of flows. Its caller receives the packets that have reached their hosts, and
//! collects those that were lost.

mod audit;
mod build;
mod failures;
mod nics;
mod timers;
mod waiting;

pub(crate) use timers::PolicyTimer;

use crate::event;
use crate::port::line::{Line, Waking};
use crate::port::nic::{Nic, NicQueueing};
use crate::port::ring::PortFifo;
use crate::port::timetable::Timetable;
use crate::routing::{PathChoice, Routing};
use crate::telemetry::{Hop, Telemetry};
use crate::topology::Node;
use failures::Failures;
use spillway_engine::{EventQueue, Stream, Time, prefetch};
use spillway_switch::packet::{Arena, NO_PACKET, Packet, PacketId, flags};
use spillway_switch::{DropReason, QueueId, SideTable, Switch};

/// A packet that was lost, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub packet: PacketId,
    pub reason: DropReason,
    /// The switch or host that it would have left next.
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
pub(crate) struct Network {
    pub now: Time,
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
    pub routing: Routing,
    /// Whether some transport asks switches for telemetry.
    pub writes_telemetry: bool,
    /// The telemetry that switches have written.
    pub telemetry: SideTable<Telemetry>,
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
    /// When a line will have sent all packets put on it.
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

    /// How long a line has been sending until now: the time of what was put on it, less what is
    /// still to be sent.
    pub fn busy_time(&self, line_id: u32) -> Time {
        let line = &self.lines[line_id as usize];
        let given = line.time_of(line.accepted_bytes);
        given - self.busy_until(line_id).since(self.now) - self.failures.cut_short(line_id)
    }

    /// Prefetches what the next events will need: a line, the packet that arrives on it, and that
    /// packet's contents if it arrives at a host. An event may concern something other than a line:
    /// then an unrelated line is prefetched, which does no harm.
    #[inline(always)]
    pub fn look_ahead(&self) {
        prefetch(&self.lines, event::id(self.events.hint(1)) as usize);
        if let Some(line) = self.lines.get(event::id(self.events.hint(0)) as usize) {
            self.packets.prefetch(line.head);
            self.packets.prefetch_contents(if line.to_host { line.head } else { 0 });
        }
    }

    /// The first packet on a line arrives at its far end. Returns the packet if that end is a host.
    #[inline(always)]
    pub fn on_arrival(&mut self, line_id: u32) -> Option<(u32, PacketId)> {
        let line = &mut self.lines[line_id as usize];
        let id = line.head;
        // A failure takes packets off their line, but their event stays in the queue.
        let packet = *self.packets.get(id).filter(|packet| packet.time == self.now)?;
        line.take(&packet, &self.packets, &mut self.events);
        let (to, to_host) = (line.to, line.to_host);
        // One combined condition, which is seldom true, costs a single branch.
        if (line.waking == Waking::Deferred) & line.waits & (line.head == NO_PACKET) {
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
        if self.ports[switch_id as usize].waiting.first() <= self.now {
            self.catch_up(switch_id);
        }
        let SwitchPorts { first_line, seed, .. } = self.ports[switch_id as usize];
        let choose = |among: usize| {
            if packet.flags & flags::EXPLICIT_PATH != 0 {
                PathChoice::Path(packet.path).pick(0, among)
            } else if let Some(random) = &mut self.spray {
                random[switch_id as usize].below(among as u64) as usize
            } else {
                // Also with a single port: a branch for that case could not be predicted.
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

    /// Puts a packet on a line, which may still be sending earlier ones.
    #[inline(always)]
    pub fn transmit(&mut self, line_id: u32, id: PacketId) {
        self.packet_hops += 1;
        let line = &mut self.lines[line_id as usize];
        match line.attended {
            false => line.send(self.now, id, &mut self.packets, &mut self.events),
            true => self.send_attended(line_id, id),
        }
    }

    /// The same for a line that may lose the packet, has a ring before it, or whose port writes
    /// telemetry.
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

    /// A switch's port writes its state into a packet that it begins to send.
    fn write_telemetry(&mut self, line_id: u32, id: PacketId) {
        let line = &self.lines[line_id as usize];
        if line_id < self.nics.len() as u32 {
            return;
        }
        let (port, switch) = (self.port_of(line_id), &self.switches[line.from as usize]);
        self.telemetry.of(id).push(Hop {
            time: self.now,
            queue_bytes: switch.waiting_bytes(port, &self.packets[id]),
            sent_bytes: line.accepted_bytes,
            ps_per_byte: line.ps_per_byte,
        });
    }

    /// The port that sends on a line of a switch.
    pub fn port_of(&self, line_id: u32) -> u32 {
        let from = self.lines[line_id as usize].from;
        line_id - self.ports[from as usize].first_line
    }

    /// The switch or host that sends on a line.
    pub fn sender_on(&self, line_id: u32) -> Node {
        match line_id < self.nics.len() as u32 {
            true => Node::Host(line_id),
            false => Node::Switch(self.lines[line_id as usize].from),
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

//! A network that is cut into parts: which part has which node, and how packets cross from part to
//! part.
//!
//! Each part is a network of its own with all lines, of which it runs those between its own nodes.
//! A line that crosses lies in two parts: packets are put on it in one and arrive in the other. In
//! the part of its sender, such a line's list begins with a placeholder, so the line never runs
//! empty and schedules no arrivals.

use super::Network;
use super::pausing::Frame;
use crate::port::line::{Line, Waking};
use spillway_engine::{Stream, Time};
use spillway_switch::SideTable;
use spillway_switch::packet::{Contents, NO_PACKET, Packet, PacketId, flags};
use spillway_topology::{Node, Topology};
use spillway_transport::receiver::SackBlocks;
use spillway_transport::telemetry::Telemetry;
use std::sync::Arc;

/// Which part of a cut network has which node.
#[derive(Clone, Debug)]
pub struct Cut {
    parts: u16,
    of_switch: Vec<u16>,
    of_host: Vec<u16>,
}

impl Cut {
    /// Cuts a network into parts of about the same number of racks. Each other switch joins the
    /// part to which most of its lines lead, or of several such parts the one with the fewest
    /// switches.
    pub fn by_racks(topology: &Topology, parts: u16) -> Cut {
        const NONE: u16 = u16::MAX;
        let racks = topology.racks();
        let mut of_switch = vec![NONE; topology.switches.len()];
        for (place, &leaf) in racks.iter().enumerate() {
            of_switch[leaf as usize] = (place * usize::from(parts) / racks.len()) as u16;
        }
        let mut sizes = vec![0u32; usize::from(parts)];
        while let Some(reached) = (0..of_switch.len()).find(|&switch| {
            of_switch[switch] == NONE
                && neighbours(topology, switch).any(|other| of_switch[other as usize] != NONE)
        }) {
            let mut lines = vec![0u32; usize::from(parts)];
            for other in neighbours(topology, reached) {
                if let Some(count) = lines.get_mut(usize::from(of_switch[other as usize])) {
                    *count += 1;
                }
            }
            let best = (0..usize::from(parts))
                .max_by_key(|&part| (lines[part], std::cmp::Reverse((sizes[part], part))));
            let best = best.unwrap_or(0);
            sizes[best] += 1;
            of_switch[reached] = best as u16;
        }
        Cut::with_hosts(topology, parts, of_switch)
    }

    /// Cuts a network at random, for tests: results do not depend on it.
    pub fn at_random(topology: &Topology, parts: u16, seed: u64) -> Cut {
        let mut random = Stream::new(seed, "cut", 0);
        let mut part = |_| random.below(parts.into()) as u16;
        let of_switch = (0..topology.switches.len()).map(&mut part).collect();
        Cut::with_hosts(topology, parts, of_switch)
    }

    /// Hosts are with their switches.
    fn with_hosts(topology: &Topology, parts: u16, of_switch: Vec<u16>) -> Cut {
        let of_host = |&line: &u32| match topology.lines[line as usize].to {
            Node::Switch(switch) => of_switch[switch as usize],
            Node::Host(_) => 0,
        };
        let of_host = topology.nics.iter().map(of_host).collect();
        Cut { parts, of_switch, of_host }
    }

    /// How many parts there are.
    pub fn parts(&self) -> u16 {
        self.parts
    }

    /// The part that has a node.
    pub fn part_of(&self, node: Node) -> u16 {
        match node {
            Node::Switch(switch) => self.of_switch[switch as usize],
            Node::Host(host) => self.of_host[host as usize],
        }
    }

    /// The part that has a host.
    pub fn part_of_host(&self, host: u32) -> u16 {
        self.of_host[host as usize]
    }
}

/// The switches to which a switch's lines lead.
fn neighbours(topology: &Topology, switch: usize) -> impl Iterator<Item = u32> + '_ {
    topology.switches[switch].ports.iter().filter_map(|&line| {
        match topology.lines[line as usize].to {
            Node::Switch(other) => Some(other),
            Node::Host(_) => None,
        }
    })
}

/// A packet that crosses to another part. Its `next` is the line on which it is.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    packet: Packet,
    contents: Contents,
}

/// Packets that cross to one other part, in the order in which each line carries them.
#[derive(Clone, Debug)]
pub(crate) struct Ferry {
    crossings: Vec<Crossing>,
    /// What those of them carry that have entries in side tables, in order.
    sacks: Vec<SackBlocks>,
    telemetry: Vec<Telemetry>,
    /// Pause frames, with the lines whose ports act on them.
    frames: Vec<(u32, Frame)>,
    /// When the first packet arrives, or the first frame acts.
    pub earliest: Time,
}

impl Default for Ferry {
    fn default() -> Ferry {
        Ferry {
            crossings: Vec::new(),
            sacks: Vec::new(),
            telemetry: Vec::new(),
            frames: Vec::new(),
            earliest: Time::MAX,
        }
    }
}

impl Ferry {
    pub fn is_empty(&self) -> bool {
        self.crossings.is_empty() && self.frames.is_empty()
    }

    pub fn len(&self) -> usize {
        self.crossings.len()
    }

    /// The bytes of all packets.
    pub fn bytes(&self) -> u64 {
        self.crossings.iter().map(|crossing| u64::from(crossing.packet.size)).sum()
    }
}

/// What a part knows of the others.
#[derive(Clone, Debug)]
pub(super) struct Away {
    own: u16,
    cut: Arc<Cut>,
    /// Pause frames to such ports: the part, the line on which the port sends, and the frame.
    frames: Vec<(u16, u32, Frame)>,
}

impl Away {
    /// Whether a node is in another part.
    fn has(&self, node: Node) -> bool {
        self.cut.part_of(node) != self.own
    }

    /// Takes a frame to the port of this node that sends on a line. False if the node is in this
    /// part.
    pub fn takes(&mut self, node: Node, line: u32, frame: Frame) -> bool {
        let is_away = self.has(node);
        if is_away {
            self.frames.push((self.cut.part_of(node), line, frame));
        }
        is_away
    }
}

/// How far ahead lines are fetched, in lines or packets.
const AHEAD: usize = 6;

/// A line on which packets leave a part.
#[derive(Clone, Copy, Debug)]
struct Exit {
    line: u32,
    /// The packet that always comes first on it, and never arrives.
    placeholder: PacketId,
    to: u16,
}

/// The lines on which packets leave a part.
#[derive(Clone, Debug, Default)]
pub(crate) struct Border {
    exits: Vec<Exit>,
    /// Switches with such a line whose ports do not put packets on it at once.
    late: Vec<u32>,
    /// The least time between a packet's departure and its arrival in another part;
    /// [`Time::MAX`] if there are no such lines.
    pub least_delay: Time,
}

impl Border {
    /// Placeholders among the part's packets.
    pub fn placeholders(&self) -> usize {
        self.exits.len()
    }
}

impl Network {
    /// Makes this network the part `own` of a cut network. `smallest` is the size of the smallest
    /// packet. To be called before anything is sent.
    pub fn become_part(&mut self, cut: &Arc<Cut>, own: u16, smallest: u64) -> Border {
        let mut border = Border { least_delay: Time::MAX, ..Border::default() };
        let mut smallest = smallest;
        if let Some(pausing) = &self.pausing {
            smallest = smallest.min(pausing.smallest_frame());
        }
        self.away = Some(Box::new(Away { own, cut: cut.clone(), frames: Vec::new() }));
        for number in 0..self.lines.len() as u32 {
            let from = self.sender_on(number);
            let line = &mut self.lines[number as usize];
            if line.end.is_host() {
                // Hosts are with their switches.
                continue;
            }
            let (from_part, to_part) = (cut.part_of(from), cut.part_of(Node::Switch(line.to)));
            if from_part == to_part {
                continue;
            }
            if from_part != own {
                line.waking = Waking::ByEvent;
                continue;
            }
            let placeholder = self.packets.insert(Packet::default(), Contents::default());
            self.packets[placeholder].next = NO_PACKET;
            (line.head, line.tail) = (placeholder, placeholder);
            border.exits.push(Exit { line: number, placeholder, to: to_part });
            let exact = line.time_of(smallest);
            let lasts = if self.whole_ns.is_some() { exact.in_whole_ns() } else { exact };
            border.least_delay = border.least_delay.min(line.delay + lasts);
            if line.waking.sends_when_empty() {
                border.late.push(line.from);
            }
        }
        border.late.dedup();
        border
    }

    /// Whether a line leads from this part to another.
    pub(super) fn leads_away(&self, line: u32) -> bool {
        self.away.as_ref().is_some_and(|away| {
            let Line { to, end, .. } = self.lines[line as usize];
            let to = if end.is_host() { Node::Host(to) } else { Node::Switch(to) };
            away.has(to) && !away.has(self.sender_on(line))
        })
    }

    /// When the next packet can leave the part that no event sends; [`Time::MAX`] if there is none.
    pub fn next_exit(&self, border: &Border) -> Time {
        let firsts = border.late.iter().map(|&switch| self.ports[switch as usize].waiting.first());
        firsts.min().unwrap_or(Time::MAX)
    }

    /// Takes the packets that have left the part by now off their lines.
    pub fn export(
        &mut self,
        border: &Border,
        sacks: &SideTable<SackBlocks>,
        ferries: &mut [Ferry],
    ) {
        border.late.iter().for_each(|&switch| self.catch_up(switch));
        for (place, exit) in border.exits.iter().enumerate() {
            if let Some(ahead) = border.exits.get(place + AHEAD) {
                spillway_engine::prefetch(&self.lines, ahead.line as usize);
                self.packets.prefetch(self.packets[ahead.placeholder].next);
            }
            let line = &mut self.lines[exit.line as usize];
            if std::mem::replace(&mut line.tail, exit.placeholder) == exit.placeholder {
                continue;
            }
            let ferry = &mut ferries[usize::from(exit.to)];
            let mut id = std::mem::replace(&mut self.packets[exit.placeholder].next, NO_PACKET);
            ferry.earliest = ferry.earliest.min(self.packets[id].time);
            while id != NO_PACKET {
                let packet = self.packets[id];
                self.packets.prefetch(packet.next);
                self.packets.prefetch_contents(packet.next);
                if packet.flags & flags::CARRIES != 0 {
                    self.load(id, sacks, ferry);
                }
                let on_line = Packet { next: exit.line, ..packet };
                let contents = *self.packets.contents(id);
                ferry.crossings.push(Crossing { packet: on_line, contents });
                self.packets.remove(id);
                id = packet.next;
            }
        }
        if let Some(away) = &mut self.away {
            for (part, line, frame) in away.frames.drain(..) {
                let ferry = &mut ferries[usize::from(part)];
                ferry.earliest = ferry.earliest.min(frame.acts_at);
                ferry.frames.push((line, frame));
            }
        }
    }

    /// Takes along what a packet carries in side tables.
    #[cold]
    fn load(&mut self, id: PacketId, sacks: &SideTable<SackBlocks>, ferry: &mut Ferry) {
        let has = |flag: u16| self.packets[id].flags & flag != 0;
        if has(flags::SACK) {
            ferry.sacks.extend(sacks.get(id));
        }
        if has(flags::TELEMETRY) {
            ferry.telemetry.push(self.telemetry.get(id).cloned().unwrap_or_default());
        }
    }

    /// Puts packets that come from another part on their lines.
    pub fn import(&mut self, ferry: &mut Ferry, sacks: &mut SideTable<SackBlocks>) {
        let mut ranges = ferry.sacks.drain(..);
        let mut telemetry = ferry.telemetry.drain(..);
        for (place, &Crossing { packet, contents }) in ferry.crossings.iter().enumerate() {
            if let Some(ahead) = ferry.crossings.get(place + AHEAD) {
                spillway_engine::prefetch(&self.lines, ahead.packet.next as usize);
            }
            let id = self.packets.insert(Packet { next: NO_PACKET, ..packet }, contents);
            let has = |flag: u16| packet.flags & flag != 0;
            if has(flags::CARRIES) {
                if has(flags::SACK)
                    && let Some(of_packet) = ranges.next()
                {
                    *sacks.of(id) = of_packet;
                }
                if has(flags::TELEMETRY)
                    && let Some(of_packet) = telemetry.next()
                {
                    *self.telemetry.of(id) = of_packet;
                }
            }
            let line = &mut self.lines[packet.next as usize];
            line.receive(id, packet.time, &mut self.packets, &mut self.events);
        }
        ferry.crossings.clear();
        for (line, frame) in ferry.frames.drain(..) {
            self.take_in_frame(line, frame);
        }
        ferry.earliest = Time::MAX;
    }

    /// Exchanges the state of a line, and of the port that sends on it, with another network's.
    pub fn swap_line(&mut self, line: usize, other: &mut Network) {
        std::mem::swap(&mut self.lines[line], &mut other.lines[line]);
        if let (Some(here), Some(there)) =
            (self.port_fifos.get_mut(line), other.port_fifos.get_mut(line))
        {
            std::mem::swap(here, there);
        }
        if let (Some(here), Some(there)) = (&mut self.whole_ns, &mut other.whole_ns) {
            here.swap(line, there);
        }
        self.failures.swap(line, &mut other.failures);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Bench, NS, US};
    use spillway_switch::packet::NO_PRIORITY;

    const LEAF_SPINE: &str = "topology = { kind = \"leaf-spine\", leaves = 4, spines = 2, \
                              hosts_per_leaf = 2, host_rate = \"8Gbps\", fabric_rate = \"8Gbps\", \
                              link_delay = \"10us\" }";
    const FAT_TREE: &str = "topology = { kind = \"fat-tree\", k = 4, host_rate = \"8Gbps\", \
                            fabric_rate = \"8Gbps\", link_delay = \"10us\" }";

    fn cut(topology: &str, parts: u16) -> Cut {
        Cut::by_racks(&Bench::new(topology).scenario.topology, parts)
    }

    #[test]
    fn racks_are_shared_out_with_their_hosts_and_what_is_above_them() {
        // Leaves 0 to 3, and spines whose lines lead to all parts alike.
        let cut = cut(LEAF_SPINE, 2);
        assert_eq!(cut.of_switch, [0, 0, 1, 1, 0, 1]);
        assert_eq!(cut.of_host, [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!((cut.parts(), cut.part_of(Node::Switch(5)), cut.part_of_host(3)), (2, 1, 0));
    }

    #[test]
    fn a_pod_s_switches_are_with_its_racks() {
        // Eight leaves, two in a pod; eight aggregation switches; four cores.
        let cut = cut(FAT_TREE, 4);
        assert_eq!(cut.of_switch[..8], [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(cut.of_switch[8..16], [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(cut.of_switch[16..], [0, 1, 2, 3]);
    }

    /// The two parts of a leaf-spine network, with their borders.
    fn parts() -> [(Bench, Border); 2] {
        let cut = Arc::new(cut(LEAF_SPINE, 2));
        [0, 1].map(|own| {
            let mut bench = Bench::new(LEAF_SPINE);
            let border = bench.net.become_part(&cut, own, 50);
            (bench, border)
        })
    }

    /// A byte takes a nanosecond.
    #[test]
    fn a_packet_needs_at_least_its_line_s_delay_to_cross() {
        let [(mut bench, border), _] = parts();
        assert_eq!(border.least_delay, Time::from_ns(10_050));
        // From its two leaves to the other spine, and from its spine to the other leaves.
        assert_eq!((border.placeholders(), bench.net.packets.live()), (4, 4));
        assert_eq!(bench.net.next_exit(&border), Time::MAX);
        let mut ferries = vec![Ferry::default(); 2];
        bench.net.export(&border, &SideTable::default(), &mut ferries);
        assert!(ferries.iter().all(Ferry::is_empty));
    }

    #[test]
    fn packets_cross_in_order_and_arrive_in_time() {
        let [(mut here, border), (mut there, _)] = parts();
        // Two packets leave leaf 0 for the other part's spine, the second with ranges.
        let line = border.exits[0].line;
        let mut sacks = SideTable::default();
        for (size, flags) in [(1_000, 0), (500, flags::SACK)] {
            let packet = Packet { size, dst: 6, priority: NO_PRIORITY, flags, ..Packet::default() };
            let contents = Contents { seq: size.into(), ..Contents::default() };
            let id = here.make(packet, contents);
            *sacks.of(id) = [(7, 9), (0, 0), (0, 0)];
            here.net.transmit(line, id);
        }
        let mut ferries = vec![Ferry::default(); 2];
        here.net.export(&border, &sacks, &mut ferries);
        let ferry = &mut ferries[1];
        assert_eq!((ferry.len(), ferry.bytes(), ferry.earliest.ps()), (2, 1_500, 11 * US));
        assert_eq!(here.net.packets.live(), border.placeholders());
        let mut known = SideTable::default();
        there.net.import(ferry, &mut known);
        assert!(ferry.is_empty() && ferry.earliest == Time::MAX);
        assert_eq!(there.arrivals_on_line(line), [11 * US, 11_500 * NS]);
        let [_, second] = there.on_line(line)[..] else { panic!("two packets") };
        assert_eq!(there.net.packets.contents(second).seq, 500);
        assert_eq!(known.get(second), Some(&[(7, 9), (0, 0), (0, 0)]));
        assert_eq!(there.step().0, 11 * US);
        assert_eq!(there.step().0, 11_500 * NS);
    }

    #[test]
    fn random_cuts_leave_hosts_with_their_switches() {
        let topology = &Bench::new(FAT_TREE).scenario.topology;
        let cuts = [0, 1].map(|seed| Cut::at_random(topology, 3, seed));
        assert_ne!(cuts[0].of_switch, cuts[1].of_switch);
        for cut in cuts {
            let leaf_of = |host: u32| cut.part_of(Node::Switch(topology.rack_of(host)));
            assert!((0..16).all(|host| cut.part_of_host(host) == leaf_of(host)));
            assert!(cut.of_switch.iter().all(|&part| part < 3));
        }
    }
}

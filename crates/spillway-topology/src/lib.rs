//! Topologies: hosts, switches, and the links between them.
//!
//! A topology is plain data; packets move elsewhere. A link consists of two lines, one in each
//! direction, numbered `2k` and `2k + 1`, so that `line ^ 1` is the opposite direction. A host has
//! one link. A switch's ports are the lines that leave it, in the order in which its links were
//! added.

mod base_rtt;
mod clocks;
mod dumbbell;
mod fabric;
mod fat_tree;
mod graph;
pub mod ideal;
mod kinds;
mod leaf_spine;
mod names;
pub mod routing;
mod star;

pub use base_rtt::{base_rtt, base_rtt_at_most};
pub use clocks::Clocks;
use fabric::{Fabric, Search};
pub use kinds::{KINDS, Kind, read};
pub use names::OwnNames;

use base_rtt::LongestPath;
use spillway_engine::{Rate, Time};

/// A line's number in the topology.
pub type LineId = u32;

/// The names of tiers.
pub const TIERS: [&str; 4] = ["leaf", "spine", "aggregation", "core"];

/// One end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// A host, by its number.
    Host(u32),
    /// A switch, by its number.
    Switch(u32),
}

/// A line: one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineSpec {
    /// Where packets are queued and sent.
    pub from: Node,
    /// Where they arrive.
    pub to: Node,
    /// The rate at which bytes are sent.
    pub rate: Rate,
    /// The propagation delay.
    pub delay: Time,
    /// Whether times of transmission are cut to whole nanoseconds.
    pub whole_ns: bool,
}

impl LineSpec {
    /// The time that a packet of this many bytes takes to be sent. After some other packets it
    /// takes a picosecond more.
    pub fn time_of(&self, bytes: u64) -> Time {
        let exact = self.rate.time_of(bytes);
        if self.whole_ns { exact.in_whole_ns() } else { exact }
    }
}

/// A switch and its tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchSpec {
    /// One of [`TIERS`]: `leaf` if hosts are attached to it, otherwise one of the others.
    pub tier: &'static str,
    /// Its ports: the lines that leave it.
    pub ports: Vec<LineId>,
}

/// Hosts, switches and the links between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Lines; the two of a link are neighbours.
    pub lines: Vec<LineSpec>,
    /// Switches, by number.
    pub switches: Vec<SwitchSpec>,
    /// The names that its description gives to switches and hosts, if any.
    pub own_names: OwnNames,
    /// For every host, the line that leaves its NIC.
    pub nics: Vec<LineId>,
    /// Whether the network was built so that it looks the same from every rack.
    pub are_racks_alike: bool,
    /// Whether ports choose what to send after all packets of the same moment have arrived.
    pub arrivals_first: bool,
    /// How far devices' clocks are off.
    pub clocks: Clocks,
    /// Found when first needed.
    longest_path: LongestPath,
}

impl Topology {
    /// What loads are fractions of, in bits per second: the rate of the uplinks of all leaves or,
    /// without uplinks, the rate of the lines of all hosts.
    pub fn capacity(&self) -> (&'static str, u64) {
        let uplinks = self.racks().iter().map(|&leaf| self.uplink_rate_of_leaf(leaf)).sum();
        let host_rate = |&line: &LineId| self.lines[line as usize].rate.bits_per_second();
        match uplinks {
            0 => ("hosts", self.nics.iter().map(host_rate).sum()),
            uplinks => ("uplinks", uplinks),
        }
    }

    /// The number of hosts.
    pub fn hosts(&self) -> u32 {
        self.nics.len() as u32
    }

    /// A number for every node: switches first, then hosts.
    pub fn place_of(&self, node: Node) -> u32 {
        match node {
            Node::Switch(switch) => switch,
            Node::Host(host) => self.switches.len() as u32 + host,
        }
    }

    /// The switch that a host is attached to: its rack.
    pub fn rack_of(&self, host: u32) -> u32 {
        match self.lines[self.nics[host as usize] as usize].to {
            Node::Switch(switch) => switch,
            Node::Host(_) => unreachable!("a host's line ends at a switch"),
        }
    }

    /// The least time in which so many bytes arrive at a host; 0 where times are cut to whole
    /// nanoseconds.
    pub fn time_to_host(&self, host: u32, bytes: u64) -> Time {
        let line = &self.lines[self.nics[host as usize] as usize ^ 1];
        if line.whole_ns { Time::ZERO } else { line.rate.time_of(bytes) }
    }

    /// The switches that hosts are attached to, by number.
    pub fn racks(&self) -> Vec<u32> {
        let mut has_hosts = vec![false; self.switches.len()];
        for host in 0..self.hosts() {
            has_hosts[self.rack_of(host) as usize] = true;
        }
        (0..self.switches.len() as u32).filter(|&switch| has_hosts[switch as usize]).collect()
    }

    /// The rate at which a leaf can send to other switches, in bits per second.
    pub fn uplink_rate_of_leaf(&self, leaf: u32) -> u64 {
        let lines = self.switches[leaf as usize].ports.iter().map(|&l| &self.lines[l as usize]);
        let uplinks = lines.filter(|line| matches!(line.to, Node::Switch(_)));
        uplinks.map(|line| line.rate.bits_per_second()).sum()
    }

    /// Adds a switch without ports and returns its number.
    pub fn add_switch(&mut self, tier: &'static str) -> u32 {
        self.switches.push(SwitchSpec { tier, ports: Vec::new() });
        self.switches.len() as u32 - 1
    }

    /// Adds a host with a link to `switch` and returns its number.
    pub fn add_host(&mut self, switch: u32, rate: Rate, delay: Time) -> u32 {
        let host = self.hosts();
        self.nics.push(self.lines.len() as LineId);
        self.connect(Node::Host(host), Node::Switch(switch), rate, delay);
        host
    }

    /// Adds a link between two switches and returns its line from `a` to `b`.
    pub fn add_link(&mut self, a: u32, b: u32, rate: Rate, delay: Time) -> LineId {
        self.connect(Node::Switch(a), Node::Switch(b), rate, delay)
    }

    fn connect(&mut self, a: Node, b: Node, rate: Rate, delay: Time) -> LineId {
        let first = self.lines.len() as LineId;
        self.longest_path = LongestPath::default();
        for (line, from, to) in [(first, a, b), (first + 1, b, a)] {
            self.lines.push(LineSpec { from, to, rate, delay, whole_ns: false });
            if let Node::Switch(switch) = from {
                self.switches[switch as usize].ports.push(line);
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_two_lines_and_ports_follow_their_order() {
        // Switches 0 - 1 - 2, and hosts on the two ends.
        let rate = Rate::from_bits_per_second(10_000_000_000).unwrap();
        let mut topology = Topology::default();
        (0..3).for_each(|_| _ = topology.add_switch("leaf"));
        assert_eq!(topology.add_link(0, 1, rate, Time::from_us(1)), 0);
        assert_eq!(topology.add_host(2, rate, Time::from_us(2)), 0);
        assert_eq!(topology.add_link(1, 2, rate, Time::from_us(3)), 4);
        assert_eq!(topology.add_host(0, rate, Time::from_us(4)), 1);

        let ports: Vec<&[LineId]> = topology.switches.iter().map(|s| s.ports.as_slice()).collect();
        assert_eq!(ports, [&[0, 7][..], &[1, 4], &[3, 5]]);
        assert_eq!(topology.nics, [2, 6]);
        let back = topology.lines[4 ^ 1];
        assert_eq!((back.from, back.to), (Node::Switch(2), Node::Switch(1)));
        assert_eq!((topology.rack_of(0), topology.rack_of(1)), (2, 0));
        assert_eq!(topology.racks(), [0, 2]);
        assert_eq!(topology.uplink_rate_of_leaf(1), 20_000_000_000);
    }

    /// What a program built on ns-3 has measured, in nanoseconds, by the bytes of a packet.
    #[test]
    fn whole_nanoseconds_are_those_of_ns3() {
        let measured = [
            (1_048, [335, 209, 83, 41, 20]),
            (1_056, [337, 211, 84, 42, 21]),
            (1_090, [348, 217, 87, 43, 21]),
            (60, [19, 11, 4, 2, 1]),
            (88, [28, 17, 7, 3, 1]),
            (43, [13, 8, 3, 1, 0]),
        ];
        let line = |gbps: u64, whole_ns| LineSpec {
            from: Node::Host(0),
            to: Node::Switch(0),
            rate: Rate::from_bits_per_second(gbps * 1_000_000_000).unwrap(),
            delay: Time::ZERO,
            whole_ns,
        };
        for (bytes, expected) in measured {
            let times = [25, 40, 100, 200, 400].map(|gbps| line(gbps, true).time_of(bytes));
            assert_eq!(times, expected.map(Time::from_ns), "{bytes} B");
        }
        assert_eq!(line(100, false).time_of(1_048), Time::from_ps(83_840));
        assert_eq!(line(100, true).time_of(0), Time::ZERO);
    }
}

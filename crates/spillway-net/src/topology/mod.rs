//! Topologies: hosts, switches, and the links between them.
//!
//! A topology is plain data; packets move elsewhere. In this room a cable consists of two links,
//! one in each direction, numbered `2c` and `2c + 1`, so that `link ^ 1` is the opposite direction.
//! A host has one cable. A switch's ports are the links that leave it, in the order in which its
//! cables were added.

mod base_rtt;
mod dumbbell;
mod fabric;
mod fat_tree;
mod graph;
mod kinds;
mod leaf_spine;
mod names;
mod star;

pub use base_rtt::{base_rtt, base_rtt_at_most};
pub(crate) use fabric::{Fabric, Search};
pub use kinds::{KINDS, Kind, read};
pub use names::OwnNames;

use base_rtt::LongestPath;
use spillway_engine::{Rate, Time};

/// A link's number: one direction of a cable.
pub type LinkId = u32;

/// One end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// A host, by its number.
    Host(u32),
    /// A switch, by its number.
    Switch(u32),
}

/// One direction of a cable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where packets are queued and sent.
    pub from: Node,
    /// Where they arrive.
    pub to: Node,
    /// The rate at which bytes are sent.
    pub rate: Rate,
    /// The propagation delay.
    pub delay: Time,
}

/// A switch and its tier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchSpec {
    /// `leaf` if hosts are attached to it, otherwise `spine`, `aggregation` or `core`.
    pub tier: &'static str,
    /// Its ports: the links that leave it.
    pub ports: Vec<LinkId>,
}

/// Hosts, switches and the links between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Topology {
    /// Links; the two of a cable are neighbours.
    pub links: Vec<Link>,
    /// Switches, by number.
    pub switches: Vec<SwitchSpec>,
    /// The names that its description gives to switches and hosts, if any.
    pub own_names: OwnNames,
    /// For every host, the link that leaves its NIC.
    pub nics: Vec<LinkId>,
    /// Whether the network was built so that it looks the same from every rack.
    pub are_racks_alike: bool,
    /// Found when first needed.
    longest_path: LongestPath,
}

impl Topology {
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
        match self.links[self.nics[host as usize] as usize].to {
            Node::Switch(switch) => switch,
            Node::Host(_) => unreachable!("a host's link ends at a switch"),
        }
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
        let links = self.switches[leaf as usize].ports.iter().map(|&l| &self.links[l as usize]);
        let uplinks = links.filter(|link| matches!(link.to, Node::Switch(_)));
        uplinks.map(|link| link.rate.bits_per_second()).sum()
    }

    /// Adds a switch without ports and returns its number.
    pub fn add_switch(&mut self, tier: &'static str) -> u32 {
        self.switches.push(SwitchSpec { tier, ports: Vec::new() });
        self.switches.len() as u32 - 1
    }

    /// Adds a host on a cable to `switch` and returns its number.
    pub fn add_host(&mut self, switch: u32, rate: Rate, delay: Time) -> u32 {
        let host = self.hosts();
        self.nics.push(self.links.len() as LinkId);
        self.connect(Node::Host(host), Node::Switch(switch), rate, delay);
        host
    }

    /// Adds a cable between two switches and returns its first link, from `a` to `b`.
    pub fn add_cable(&mut self, a: u32, b: u32, rate: Rate, delay: Time) -> LinkId {
        self.connect(Node::Switch(a), Node::Switch(b), rate, delay)
    }

    fn connect(&mut self, a: Node, b: Node, rate: Rate, delay: Time) -> LinkId {
        let first = self.links.len() as LinkId;
        self.longest_path = LongestPath::default();
        for (link, from, to) in [(first, a, b), (first + 1, b, a)] {
            self.links.push(Link { from, to, rate, delay });
            if let Node::Switch(switch) = from {
                self.switches[switch as usize].ports.push(link);
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cables_are_two_links_and_ports_follow_their_order() {
        // Switches 0 - 1 - 2, and hosts on the two ends.
        let rate = Rate::from_bits_per_second(10_000_000_000).unwrap();
        let mut topology = Topology::default();
        (0..3).for_each(|_| _ = topology.add_switch("leaf"));
        assert_eq!(topology.add_cable(0, 1, rate, Time::from_us(1)), 0);
        assert_eq!(topology.add_host(2, rate, Time::from_us(2)), 0);
        assert_eq!(topology.add_cable(1, 2, rate, Time::from_us(3)), 4);
        assert_eq!(topology.add_host(0, rate, Time::from_us(4)), 1);

        let ports: Vec<&[LinkId]> = topology.switches.iter().map(|s| s.ports.as_slice()).collect();
        assert_eq!(ports, [&[0, 7][..], &[1, 4], &[3, 5]]);
        assert_eq!(topology.nics, [2, 6]);
        let back = topology.links[4 ^ 1];
        assert_eq!((back.from, back.to), (Node::Switch(2), Node::Switch(1)));
        assert_eq!((topology.rack_of(0), topology.rack_of(1)), (2, 0));
        assert_eq!(topology.racks(), [0, 2]);
        assert_eq!(topology.uplink_rate_of_leaf(1), 20_000_000_000);
    }
}

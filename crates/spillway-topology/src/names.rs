//! The names of switches, hosts and links.

use super::{Node, Topology};
use std::collections::BTreeMap;

/// The names that a topology's description gives to its nodes, by the nodes' numbers; empty if it
/// gives none. In results, nodes have other names, formed in the same way in all topologies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnNames {
    /// Switches.
    pub switches: Vec<String>,
    /// Hosts.
    pub hosts: Vec<String>,
}

impl OwnNames {
    /// The name of a node.
    pub fn of(&self, node: Node) -> Option<&str> {
        let name = match node {
            Node::Switch(switch) => self.switches.get(switch as usize),
            Node::Host(host) => self.hosts.get(host as usize),
        };
        name.map(String::as_str)
    }
}

impl Topology {
    /// The nodes that have this name: in results, or in the topology's description.
    pub fn nodes_called(&self, name: &str) -> Vec<Node> {
        let nodes = (0..self.switches.len() as u32).map(Node::Switch);
        let nodes = nodes.chain((0..self.hosts()).map(Node::Host));
        let named = nodes.zip(self.node_names());
        let is_so_called = |(node, known): &(Node, String)| {
            known == name || self.own_names.of(*node) == Some(name)
        };
        named.filter(is_so_called).map(|(node, _)| node).collect()
    }

    /// A node with all of its names, as in `leaf0 ("left" in the topology)`.
    pub fn full_name(&self, node: Node) -> String {
        let name = self.node_name(node);
        match self.own_names.of(node) {
            Some(own) if own != name => format!("{name} ({own:?} in the topology)"),
            _ => name,
        }
    }

    /// A switch's name in results: its tier and its number within it, as in `leaf3`.
    pub fn switch_name(&self, switch: u32) -> String {
        let tier = self.switches[switch as usize].tier;
        let before = &self.switches[..switch as usize];
        let place = before.iter().filter(|other| other.tier == tier).count();
        format!("{tier}{place}")
    }

    /// The names of all switches, by their numbers.
    pub fn switch_names(&self) -> Vec<String> {
        let mut of_tier: BTreeMap<&str, u32> = BTreeMap::new();
        let mut name = |tier| {
            let place = of_tier.entry(tier).or_default();
            *place += 1;
            format!("{tier}{}", *place - 1)
        };
        self.switches.iter().map(|switch| name(switch.tier)).collect()
    }

    /// A node's name in results: a switch's, or one such as `host7`.
    pub fn node_name(&self, node: Node) -> String {
        match node {
            Node::Host(host) => host_name(host),
            Node::Switch(switch) => self.switch_name(switch),
        }
    }

    /// The names of all nodes: switches first, then hosts.
    pub fn node_names(&self) -> Vec<String> {
        self.switch_names().into_iter().chain((0..self.hosts()).map(host_name)).collect()
    }

    /// The names of all lines, such as `host3-leaf0`, in the order of their numbers: hosts' first,
    /// then by switch and port. Of parallel lines the second has `#1` appended, and so on.
    pub fn line_names(&self) -> Vec<String> {
        let nodes = self.node_names();
        let name = |node| &nodes[self.place_of(node) as usize];
        let ports = self.switches.iter().flat_map(|switch| &switch.ports);
        let mut same: BTreeMap<(Node, Node), u32> = BTreeMap::new();
        let lines = self.nics.iter().chain(ports).map(|&line| {
            let line = &self.lines[line as usize];
            let before = same.entry((line.from, line.to)).or_default();
            *before += 1;
            match *before {
                1 => format!("{}-{}", name(line.from), name(line.to)),
                n => format!("{}-{}#{}", name(line.from), name(line.to), n - 1),
            }
        });
        lines.collect()
    }
}

fn host_name(host: u32) -> String {
    format!("host{host}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillway_engine::{Rate, Time};

    #[test]
    fn switches_are_named_by_tier_and_parallel_links_by_number() {
        let (rate, delay) = (Rate::from_bits_per_second(1_000_000_000).unwrap(), Time::from_us(1));
        let mut topology = Topology::default();
        ["leaf", "spine", "leaf"].into_iter().for_each(|tier| _ = topology.add_switch(tier));
        topology.add_host(2, rate, delay);
        (0..2).for_each(|_| _ = topology.add_link(0, 1, rate, delay));
        assert_eq!(topology.node_names(), ["leaf0", "spine0", "leaf1", "host0"]);
        for (switch, name) in (0..).zip(topology.switch_names()) {
            assert_eq!(topology.switch_name(switch), name);
            assert_eq!(topology.node_name(Node::Switch(switch)), name);
        }
        let names =
            ["host0-leaf1", "leaf0-spine0", "leaf0-spine0#1", "spine0-leaf0", "spine0-leaf0#1"];
        assert_eq!(topology.line_names(), [&names[..], &["leaf1-host0"]].concat());
    }
}

//! The round trip of an empty network: the scale of its times.

use super::fabric::{Fabric, Search};
use super::{LineId, Node, Topology};
use spillway_engine::Time;
use std::sync::OnceLock;

/// Twice the propagation delay of the longest path between two hosts, plus the time of one full
/// packet at the slowest link of that path.
///
/// Rates are nominal. Only paths with the fewest hops count. The longest path is the one with the
/// most propagation; among equals, the one with the slowest link. It is searched for when first
/// asked for, and kept.
pub fn base_rtt(topology: &Topology, full_packet_bytes: u64) -> Time {
    let LongestPath(known) = &topology.longest_path;
    known.get_or_init(|| longest_path(topology)).round_trip(full_packet_bytes)
}

/// An upper bound of the base RTT, from a single search: the distance between two racks is at most
/// the sum of their distances from a third.
pub fn base_rtt_at_most(topology: &Topology, full_packet_bytes: u64) -> Time {
    let LongestPath(known) = &topology.longest_path;
    if let Some(longest) = known.get() {
        return longest.round_trip(full_packet_bytes);
    }
    let mut found = Search::default();
    let racks = topology.racks();
    Fabric::new(topology, |_| true).search(racks[0], &mut found);
    let hops = racks.iter().map(|&rack| found.distance[rack as usize]).max().unwrap_or(0);
    let mut most = Span::default();
    let (mut host_links, mut fabric) = (Time::ZERO, Time::ZERO);
    for line in &topology.lines {
        let of_host = matches!((line.from, line.to), (Node::Host(_), _) | (_, Node::Host(_)));
        let longest = if of_host { &mut host_links } else { &mut fabric };
        *longest = (*longest).max(line.delay);
        most.per_byte = most.per_byte.max(line.rate.nominal().time_of(1));
    }
    most.propagation = host_links * 2 + fabric * (2 * u64::from(hops));
    most.round_trip(full_packet_bytes)
}

/// The longest path of a topology, once it has been found. It follows from the rest of the
/// topology, so it does not count when topologies are compared.
#[derive(Clone, Debug, Default)]
pub(super) struct LongestPath(OnceLock<Span>);

impl PartialEq for LongestPath {
    fn eq(&self, _: &LongestPath) -> bool {
        true
    }
}

impl Eq for LongestPath {}

fn longest_path(topology: &Topology) -> Span {
    let fabric = Fabric::new(topology, |_| true);
    let hosts = farthest_hosts(topology);
    let mut longest = Span::default();
    let mut found = Search::default();
    let mut spans = vec![Span::default(); topology.switches.len()];
    let racks = topology.racks();
    let seen_from = if topology.are_racks_alike { 1 } else { racks.len() };
    for &rack in racks.iter().take(seen_from) {
        let [Some(here), neighbour] = hosts[rack as usize] else { continue };
        fabric.search(rack, &mut found);
        for &switch in &found.order {
            let steps = fabric.nearer(switch, &found);
            let span = steps.map(|s| Span::of(topology, s.line).then(spans[s.to as usize])).max();
            spans[switch as usize] = span.unwrap_or_default();
            let there = if switch == rack { neighbour } else { hosts[switch as usize][0] };
            if let Some(there) = there {
                longest = longest.max(here.then(spans[switch as usize]).then(there));
            }
        }
    }
    longest
}

/// The facts about a path that its round trip depends on. Ordered by length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    propagation: Time,
    /// The time of a byte at the slowest link.
    per_byte: Time,
}

impl Span {
    fn of(topology: &Topology, line: LineId) -> Span {
        let line = &topology.lines[line as usize];
        Span { propagation: line.delay, per_byte: line.rate.nominal().time_of(1) }
    }

    /// The round trip: the propagation twice, and a full packet at the slowest link.
    fn round_trip(self, full_packet_bytes: u64) -> Time {
        self.propagation * 2 + self.per_byte * full_packet_bytes
    }

    fn then(self, other: Span) -> Span {
        Span {
            propagation: self.propagation + other.propagation,
            per_byte: self.per_byte.max(other.per_byte),
        }
    }
}

/// For every switch the two longest links to its hosts. A path within a rack takes both.
fn farthest_hosts(topology: &Topology) -> Vec<[Option<Span>; 2]> {
    let mut farthest = vec![[None; 2]; topology.switches.len()];
    for host in 0..topology.hosts() {
        let span = Some(Span::of(topology, topology.nics[host as usize]));
        let [first, second] = &mut farthest[topology.rack_of(host) as usize];
        if span > *first {
            *second = std::mem::replace(first, span);
        } else if span > *second {
            *second = span;
        }
    }
    farthest
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use spillway_engine::Rate;
    use spillway_settings::Section;
    use std::path::Path;

    fn gbps(n: u64) -> Rate {
        Rate::from_bits_per_second(n * 1_000_000_000).unwrap()
    }

    #[test]
    fn the_longest_path_may_lie_within_a_rack() {
        // Hosts at 1, 7 and 9 us on one switch, at 1 us on another, 2 us between the switches:
        // 9 + 7 = 16 us beats 9 + 2 + 1 = 12 us.
        let mut topology = Topology::default();
        let switches = [topology.add_switch("leaf"), topology.add_switch("leaf")];
        for us in [7, 1, 9] {
            topology.add_host(switches[0], gbps(10), Time::from_us(us));
        }
        topology.add_host(switches[1], gbps(1), Time::from_us(1));
        topology.add_link(switches[0], switches[1], gbps(10), Time::from_us(2));
        // The 1 Gbps host is not on that path: 1000 B take 0.8 us.
        assert_eq!(base_rtt(&topology, 1_000), Time::from_ns(32_800));
    }

    #[test]
    fn a_path_of_more_hops_is_not_taken_however_long() {
        // 0 - 1 directly takes 1 us; the detour over 2 takes 100 us.
        let mut topology = Topology::default();
        let s: Vec<u32> = ["leaf", "leaf", "spine"].map(|t| topology.add_switch(t)).to_vec();
        topology.add_host(s[0], gbps(10), Time::from_us(1));
        topology.add_host(s[1], gbps(10), Time::from_us(1));
        topology.add_link(s[0], s[1], gbps(10), Time::from_us(1));
        topology.add_link(s[0], s[2], gbps(10), Time::from_us(50));
        topology.add_link(s[2], s[1], gbps(10), Time::from_us(50));
        assert_eq!(base_rtt(&topology, 0), Time::from_us(6));
    }

    #[test]
    fn of_equal_paths_the_longest_counts_and_then_the_slowest() {
        // Three parallel links: 5 us at 40 Gbps, 5 us at 2 Gbps, 1 us at 1 Gbps.
        let mut topology = Topology::default();
        let s = [topology.add_switch("leaf"), topology.add_switch("leaf")];
        topology.add_host(s[0], gbps(10), Time::from_us(1));
        topology.add_host(s[1], gbps(10), Time::from_us(1));
        for (us, rate) in [(5, 40), (5, 2), (1, 1)] {
            topology.add_link(s[0], s[1], gbps(rate), Time::from_us(us));
        }
        // 2 * 7 us, and 1000 B at 2 Gbps take 4 us.
        assert_eq!(base_rtt(&topology, 1_000), Time::from_us(18));
    }

    /// A topology from its section.
    fn built(text: &str) -> Topology {
        let mut section = Section::new("topology", text.parse().unwrap());
        read(&mut section, Path::new("")).unwrap()
    }

    #[test]
    fn where_racks_are_alike_one_of_them_says_what_all_say() {
        for (text, are_alike) in [
            ("kind = \"star\"\nhosts = 3", false),
            ("kind = \"dumbbell\"", false),
            (
                "kind = \"leaf-spine\"\nleaves = 3\nhost_delay = \"5us\"\nfabric_rate = \"1Gbps\"",
                true,
            ),
            ("kind = \"leaf-spine\"\nleaves = 1\nspines = 1\nhosts_per_leaf = 2", true),
            ("kind = \"leaf-spine\"\nhosts_per_leaf = 1\nlinks_per_pair = 2", true),
            ("kind = \"fat-tree\"\nk = 2\ncore_delay = \"9us\"", true),
            ("kind = \"fat-tree\"\nk = 4\naggregation_rate = \"1Gbps\"", true),
            ("kind = \"fat-tree\"\nk = 8\nhost_delay = \"1ms\"\ncore_rate = \"5Gbps\"", true),
        ] {
            let topology = built(text);
            assert_eq!(topology.are_racks_alike, are_alike, "{text}");
            let mut each = topology.clone();
            (each.are_racks_alike, each.longest_path) = (false, LongestPath::default());
            for bytes in [0, 1_500, 60_000] {
                assert_eq!(base_rtt(&topology, bytes), base_rtt(&each, bytes), "{text}");
            }
        }
    }

    #[test]
    fn what_is_said_of_it_without_looking_is_no_less() {
        for (text, at_most) in [
            // At most 2, 4 and 0 hops from the first rack; then the hosts' links and 1.2 us.
            ("kind = \"leaf-spine\"", 37_200),
            ("kind = \"fat-tree\"\nk = 4", 61_200),
            ("kind = \"star\"\nhosts = 3", 13_200),
        ] {
            let text = format!("{text}\nlink_delay = \"3us\"\nhost_rate = \"10Gbps\"");
            let topology = built(&text);
            let most = base_rtt_at_most(&topology, 1_500);
            assert_eq!(most, Time::from_ns(at_most), "{text}");
            let exact = base_rtt(&topology, 1_500);
            assert!(exact <= most, "{text}: {exact}");
            // Once the longest path is known, the bound is exact.
            assert_eq!(base_rtt_at_most(&topology, 1_500), exact);
        }
    }

    #[test]
    fn another_link_may_make_it_another() {
        let mut topology = Topology::default();
        let s = [topology.add_switch("leaf"), topology.add_switch("leaf")];
        s.iter().for_each(|&switch| _ = topology.add_host(switch, gbps(10), Time::from_us(1)));
        topology.add_link(s[0], s[1], gbps(10), Time::from_us(1));
        assert_eq!(base_rtt(&topology, 0), Time::from_us(6));
        topology.add_link(s[0], s[1], gbps(10), Time::from_us(5));
        assert_eq!(base_rtt(&topology, 0), Time::from_us(14));
    }
}

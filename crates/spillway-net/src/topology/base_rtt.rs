//! The round trip of an empty network: the scale of its times.

use super::fabric::{Fabric, Search};
use super::{LinkId, Topology};
use spillway_engine::Time;

/// Twice the propagation of the longest path between two hosts, plus one full packet at the
/// slowest link of that path.
///
/// Paths are those of fewest hops; the longest has the most propagation, and of equals the
/// slowest link.
pub fn base_rtt(topology: &Topology, full_packet_bytes: u64) -> Time {
    let fabric = Fabric::new(topology, |_| true);
    let hosts = farthest_hosts(topology);
    let mut longest = Span::default();
    let mut found = Search::default();
    let mut spans = vec![Span::default(); topology.switches.len()];
    for rack in topology.racks() {
        let [Some(here), neighbour] = hosts[rack as usize] else { continue };
        fabric.search(rack, &mut found);
        for &switch in &found.order {
            let steps = fabric.nearer(switch, &found);
            let span = steps.map(|s| Span::of(topology, s.link).then(spans[s.to as usize])).max();
            spans[switch as usize] = span.unwrap_or_default();
            let there = if switch == rack { neighbour } else { hosts[switch as usize][0] };
            if let Some(there) = there {
                longest = longest.max(here.then(spans[switch as usize]).then(there));
            }
        }
    }
    longest.propagation * 2 + longest.per_byte * full_packet_bytes
}

/// What of a path its round trip depends on. The longer comes later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Span {
    propagation: Time,
    /// What a byte takes at the slowest link.
    per_byte: Time,
}

impl Span {
    fn of(topology: &Topology, link: LinkId) -> Span {
        let link = &topology.links[link as usize];
        Span { propagation: link.delay, per_byte: link.rate.time_of(1) }
    }

    fn then(self, other: Span) -> Span {
        Span {
            propagation: self.propagation + other.propagation,
            per_byte: self.per_byte.max(other.per_byte),
        }
    }
}

/// For every switch the two longest cables to its hosts: a path within a rack takes both.
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
    use super::*;
    use spillway_engine::Rate;

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
        topology.add_cable(switches[0], switches[1], gbps(10), Time::from_us(2));
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
        topology.add_cable(s[0], s[1], gbps(10), Time::from_us(1));
        topology.add_cable(s[0], s[2], gbps(10), Time::from_us(50));
        topology.add_cable(s[2], s[1], gbps(10), Time::from_us(50));
        assert_eq!(base_rtt(&topology, 0), Time::from_us(6));
    }

    #[test]
    fn of_equal_paths_the_longest_counts_and_then_the_slowest() {
        // Three parallel cables: 5 us at 40 Gbps, 5 us at 2 Gbps, 1 us at 1 Gbps.
        let mut topology = Topology::default();
        let s = [topology.add_switch("leaf"), topology.add_switch("leaf")];
        topology.add_host(s[0], gbps(10), Time::from_us(1));
        topology.add_host(s[1], gbps(10), Time::from_us(1));
        for (us, rate) in [(5, 40), (5, 2), (1, 1)] {
            topology.add_cable(s[0], s[1], gbps(rate), Time::from_us(us));
        }
        // 2 * 7 us, and 1000 B at 2 Gbps take 4 us.
        assert_eq!(base_rtt(&topology, 1_000), Time::from_us(18));
    }
}

//! Who is in which rack, for traffic that chooses its hosts by rack.

use crate::topology::Topology;
use std::ops::Range;

/// The hosts of a topology by rack. Racks are numbered from 0 in the order of their switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Racks {
    /// Every host's rack.
    rack_of: Vec<usize>,
    /// Hosts, those of one rack side by side.
    by_rack: Vec<u32>,
    /// Every rack's part of `by_rack`.
    ranges: Vec<Range<usize>>,
}

/// A set of hosts to choose among.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The hosts of a rack.
    Rack(usize),
    /// The hosts of all other racks.
    OutsideRack(usize),
    /// All hosts but this one.
    AllBut(u32),
    /// One host.
    One(u32),
}

impl Racks {
    /// The racks of a topology: its switches that have hosts.
    pub fn of(topology: &Topology) -> Racks {
        let mut by_rack: Vec<u32> = (0..topology.hosts()).collect();
        by_rack.sort_by_key(|&host| (topology.rack_of(host), host));
        let mut racks = Racks { rack_of: vec![0; by_rack.len()], by_rack, ranges: Vec::new() };
        let same_rack = |a: &u32, b: &u32| topology.rack_of(*a) == topology.rack_of(*b);
        for hosts in racks.by_rack.chunk_by(same_rack) {
            let start = racks.ranges.last().map_or(0, |range| range.end);
            for &host in hosts {
                racks.rack_of[host as usize] = racks.ranges.len();
            }
            racks.ranges.push(start..start + hosts.len());
        }
        racks
    }

    /// How many hosts there are.
    pub fn hosts(&self) -> u32 {
        self.rack_of.len() as u32
    }

    /// How many racks there are.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }

    /// The rack of a host.
    pub fn rack_of(&self, host: u32) -> usize {
        self.rack_of[host as usize]
    }

    /// The rack after this one; after the last comes the first.
    pub fn after(&self, rack: usize) -> usize {
        (rack + 1) % self.count()
    }

    /// How many hosts are in a group.
    pub fn size(&self, group: Group) -> usize {
        match group {
            Group::Rack(rack) => self.ranges[rack].len(),
            Group::OutsideRack(rack) => self.by_rack.len() - self.ranges[rack].len(),
            Group::AllBut(_) => self.by_rack.len() - 1,
            Group::One(_) => 1,
        }
    }

    /// The host at a place in a group.
    pub fn member(&self, group: Group, place: usize) -> u32 {
        match group {
            Group::Rack(rack) => self.by_rack[self.ranges[rack].clone()][place],
            Group::OutsideRack(rack) => {
                let range = &self.ranges[rack];
                self.by_rack[if place < range.start { place } else { place + range.len() }]
            }
            Group::AllBut(host) => place as u32 + u32::from(place as u32 >= host),
            Group::One(host) => host,
        }
    }

    /// The hosts that are in any of some groups, sorted.
    pub fn union(&self, groups: &[Group]) -> Vec<u32> {
        let mut is_in = vec![false; self.by_rack.len()];
        let mut missing = is_in.len();
        for &group in groups {
            for place in 0..self.size(group) {
                let host = self.member(group, place) as usize;
                missing -= usize::from(!is_in[host]);
                is_in[host] = true;
            }
            if missing == 0 {
                break;
            }
        }
        (0..self.hosts()).filter(|&host| is_in[host as usize]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::fixture;
    use spillway_engine::{Rate, Time};

    #[test]
    fn groups_hold_the_hosts_that_they_name() {
        // Hosts 0, 1 | 2, 3 | 4, 5.
        let racks = Racks::of(&fixture::leaf_spine(3, 2, 1));
        let members = |group| -> Vec<u32> {
            (0..racks.size(group)).map(|place| racks.member(group, place)).collect()
        };
        for (group, hosts) in [
            (Group::Rack(1), vec![2, 3]),
            (Group::OutsideRack(1), vec![0, 1, 4, 5]),
            (Group::AllBut(3), vec![0, 1, 2, 4, 5]),
            (Group::One(3), vec![3]),
        ] {
            assert_eq!(members(group), hosts);
            assert_eq!(racks.union(&[group]), hosts);
        }
        assert_eq!(racks.union(&[Group::Rack(2), Group::One(0)]), [0, 4, 5]);
        assert_eq!((racks.count(), racks.rack_of(4), racks.after(2)), (3, 2, 0));
    }

    #[test]
    fn hosts_of_a_rack_need_not_be_neighbours() {
        let mut topology = Topology::default();
        let (a, b) = (topology.add_switch("leaf"), topology.add_switch("leaf"));
        let rate = Rate::from_bits_per_second(1_000_000_000).unwrap();
        for switch in [b, a, b, a] {
            topology.add_host(switch, rate, Time::ZERO);
        }
        let racks = Racks::of(&topology);
        assert_eq!((racks.rack_of(0), racks.rack_of(1)), (1, 0));
        let outside = [0, 1].map(|place| racks.member(Group::OutsideRack(0), place));
        assert_eq!(outside, [0, 2]);
    }
}

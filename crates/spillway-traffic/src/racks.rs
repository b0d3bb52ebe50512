//! The hosts of each rack, for traffic that chooses hosts by rack.

use super::keys;
use spillway_settings::{Section, SettingsError};
use spillway_topology::Topology;
use std::ops::Range;

/// The hosts that take part, by rack. Racks are numbered from 0 in the order of their switches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Racks {
    /// Every host's rack, whether it takes part or not.
    rack_of: Vec<usize>,
    /// The hosts that take part, in order.
    hosts: Vec<u32>,
    /// These hosts, grouped by rack.
    by_rack: Vec<u32>,
    /// The range of every rack in `by_rack`.
    ranges: Vec<Range<usize>>,
}

/// A set of hosts to choose among.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The hosts of a rack.
    Rack(usize),
    /// The hosts of all other racks.
    OutsideRack(usize),
    /// All hosts except this one, which takes part.
    AllBut(u32),
    /// One host.
    One(u32),
}

impl Racks {
    /// The racks of a topology, which are its switches with hosts. If the section names places,
    /// only the hosts at these places of each rack take part.
    pub fn read(section: &mut Section, topology: &Topology) -> Result<Racks, SettingsError> {
        let racks = Racks::of(topology, None);
        let smallest = racks.ranges.iter().map(Range::len).min().unwrap_or(0) as u32;
        let meaning = "The hosts of each rack that take part, by their positions in the rack; by \
                       default all.";
        let places = keys::hosts(section, "places", meaning, smallest)?;
        Ok(places.map_or(racks, |places| Racks::of(topology, Some(&places))))
    }

    fn of(topology: &Topology, places: Option<&[u32]>) -> Racks {
        let mut all: Vec<u32> = (0..topology.hosts()).collect();
        all.sort_by_key(|&host| (topology.rack_of(host), host));
        let mut racks = Racks {
            rack_of: vec![0; all.len()],
            hosts: Vec::new(),
            by_rack: Vec::new(),
            ranges: Vec::new(),
        };
        let same_rack = |a: &u32, b: &u32| topology.rack_of(*a) == topology.rack_of(*b);
        for hosts in all.chunk_by(same_rack) {
            let start = racks.by_rack.len();
            for (place, &host) in (0..).zip(hosts) {
                racks.rack_of[host as usize] = racks.ranges.len();
                if places.is_none_or(|places| places.contains(&place)) {
                    racks.by_rack.push(host);
                }
            }
            racks.ranges.push(start..racks.by_rack.len());
        }
        racks.hosts.extend(&racks.by_rack);
        racks.hosts.sort_unstable();
        racks
    }

    /// The hosts that take part, in order.
    pub fn hosts(&self) -> &[u32] {
        &self.hosts
    }

    /// The number of hosts, whether they take part or not.
    pub fn all(&self) -> usize {
        self.rack_of.len()
    }

    /// Refuses hosts that do not take part.
    pub fn check(&self, section: &Section, key: &str, hosts: &[u32]) -> Result<(), SettingsError> {
        match hosts.iter().find(|host| self.hosts.binary_search(host).is_err()) {
            Some(host) => {
                Err(section.conflict(key, format!("host {host} is at none of the `places`")))
            }
            None => Ok(()),
        }
    }

    /// The number of racks.
    pub fn count(&self) -> usize {
        self.ranges.len()
    }

    /// Areas of racks, from every rack's area.
    pub fn areas<'a>(&'a self, area_of: &'a [usize]) -> Areas<'a> {
        let number = area_of.iter().max().map_or(0, |last| last + 1);
        let (mut hosts, mut racks) = (vec![0; number], vec![0; number]);
        for (rack, &area) in area_of.iter().enumerate() {
            hosts[area] += self.size(Group::Rack(rack));
            racks[area] += 1;
        }
        Areas { racks: self, area_of, hosts_in: hosts, racks_in: racks }
    }

    /// The rack of a host.
    pub fn rack_of(&self, host: u32) -> usize {
        self.rack_of[host as usize]
    }

    /// The next rack; the first follows the last.
    pub fn after(&self, rack: usize) -> usize {
        (rack + 1) % self.count()
    }

    /// The number of hosts in a group.
    pub fn size(&self, group: Group) -> usize {
        match group {
            Group::Rack(rack) => self.ranges[rack].len(),
            Group::OutsideRack(rack) => self.by_rack.len() - self.ranges[rack].len(),
            Group::AllBut(_) => self.by_rack.len() - 1,
            Group::One(_) => 1,
        }
    }

    /// A host of a group, by its index.
    pub fn member(&self, group: Group, place: usize) -> u32 {
        match group {
            Group::Rack(rack) => self.by_rack[self.ranges[rack].clone()][place],
            Group::OutsideRack(rack) => {
                let range = &self.ranges[rack];
                self.by_rack[if place < range.start { place } else { place + range.len() }]
            }
            Group::AllBut(host) => {
                let own = self.hosts.partition_point(|&other| other < host);
                self.hosts[place + usize::from(place >= own)]
            }
            Group::One(host) => host,
        }
    }

    /// The hosts that are in at least one of the groups, sorted.
    pub fn union(&self, groups: &[Group]) -> Vec<u32> {
        let mut is_in = vec![false; self.rack_of.len()];
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
        (0..).zip(is_in).filter_map(|(host, is_in)| is_in.then_some(host)).collect()
    }
}

/// Racks in areas, such as pods. Areas are numbered from 0.
#[derive(Debug)]
pub struct Areas<'a> {
    racks: &'a Racks,
    /// The area of every rack.
    area_of: &'a [usize],
    /// For every area, its hosts that take part, and its racks.
    hosts_in: Vec<usize>,
    racks_in: Vec<usize>,
}

impl Areas<'_> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.hosts_in.len()
    }

    /// The area of a host.
    pub fn area_of(&self, host: u32) -> usize {
        self.area_of[self.racks.rack_of(host)]
    }

    /// The share of a group that is in the host's own area. The group does not hold the host.
    pub fn share_inside(&self, host: u32, group: Group) -> f64 {
        let own = self.area_of(host);
        let hosts = match group {
            Group::Rack(rack) => return f64::from(u8::from(self.area_of[rack] == own)),
            Group::One(other) => return f64::from(u8::from(self.area_of(other) == own)),
            Group::AllBut(_) => self.hosts_in[own] - 1,
            Group::OutsideRack(rack) if self.area_of[rack] == own => {
                self.hosts_in[own] - self.racks.size(Group::Rack(rack))
            }
            Group::OutsideRack(_) => self.hosts_in[own],
        };
        hosts as f64 / self.racks.size(group).max(1) as f64
    }

    /// The share of all other racks that lies in the host's own area.
    pub fn share_of_other_racks_inside(&self, host: u32) -> f64 {
        let others = self.racks.count().saturating_sub(1).max(1);
        (self.racks_in[self.area_of(host)] - 1) as f64 / others as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use spillway_engine::{Rate, Time};

    #[test]
    fn groups_hold_the_hosts_that_they_name() {
        // Hosts 0, 1 | 2, 3 | 4, 5.
        let racks = Racks::of(&fixture::leaf_spine(3, 2, 1), None);
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
    fn some_hosts_of_each_rack_may_take_part() {
        // Hosts 0, 1, 2 | 3, 4, 5 | 6, 7, 8, without the first of each.
        let racks = Racks::of(&fixture::leaf_spine(3, 3, 1), Some(&[1, 2]));
        assert_eq!(racks.hosts(), [1, 2, 4, 5, 7, 8]);
        for (group, hosts) in [
            (Group::Rack(1), vec![4, 5]),
            (Group::OutsideRack(1), vec![1, 2, 7, 8]),
            (Group::AllBut(4), vec![1, 2, 5, 7, 8]),
        ] {
            assert_eq!(racks.union(&[group]), hosts);
        }
        assert_eq!((racks.count(), racks.rack_of(3)), (3, 1));
    }

    #[test]
    fn hosts_of_a_rack_need_not_be_neighbours() {
        let mut topology = Topology::default();
        let (a, b) = (topology.add_switch("leaf"), topology.add_switch("leaf"));
        let rate = Rate::from_bits_per_second(1_000_000_000).unwrap();
        for switch in [b, a, b, a] {
            topology.add_host(switch, rate, Time::ZERO);
        }
        let racks = Racks::of(&topology, None);
        assert_eq!((racks.rack_of(0), racks.rack_of(1)), (1, 0));
        let outside = [0, 1].map(|place| racks.member(Group::OutsideRack(0), place));
        assert_eq!(outside, [0, 2]);
    }
}

//! When hosts learn that a flow is complete for which flows of theirs wait.
//!
//! # Rule
//! A flow is complete at one host: at its receiver or, with `completion = "last-ack"`, at its
//! sender. That host knows it at once. Another host knows it `release_delay` later. By default this
//! is the least time that an ack takes between the two hosts in the empty network, since no other
//! message is faster.

use spillway_engine::Time;
use spillway_settings::{Form, Section, SettingsError, Takes, quantity};
use spillway_topology::{LineId, LineSpec, Node, Topology};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// How long other hosts take to learn that a flow is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Release {
    /// As long as an ack takes at the least.
    #[default]
    Least,
    /// This long.
    After(Time),
}

impl Release {
    /// Reads the key `release_delay`.
    pub fn read(section: &mut Section) -> Result<Release, SettingsError> {
        let takes = "\"least\", or a time such as \"25.2us\"";
        let takes = Takes::new(takes, [Form::word("least"), Form::time()]);
        let meaning = "How long after a flow is complete another host knows of it and goes on: as long \
                       as an ack takes between the two in the empty network, or a time.";
        section.quantity("release_delay", "least", takes, meaning, |text| match text {
            "least" => Some(Release::Least),
            _ => quantity::time(text).map(Release::After),
        })
    }
}

/// The end of a flow for which others wait.
#[derive(Debug)]
pub struct End<'a> {
    /// Now, when it is complete.
    pub now: Time,
    /// Where it is complete.
    pub host: u32,
    /// How long others take to learn of it.
    pub release: Release,
    /// Bytes of the flow's acks on the wire.
    pub ack_size: u32,
    /// The network.
    pub topology: &'a Topology,
    /// The network's delays, as far as they are known.
    pub delays: &'a mut Delays,
}

impl End<'_> {
    /// When a host knows that the flow is complete.
    pub fn known_at(&mut self, host: u32) -> Time {
        let delay = match self.release {
            _ if host == self.host => Time::ZERO,
            Release::Least => self.delays.between(self.topology, (self.host, host), self.ack_size),
            Release::After(delay) => delay,
        };
        self.now.saturating_add(delay)
    }
}

/// The least times that packets take through an empty network, found when first needed.
#[derive(Clone, Debug, Default)]
pub struct Delays {
    /// By rack and size of the packets: the times from the rack to all switches.
    from: BTreeMap<(u32, u32), Vec<Time>>,
}

impl Delays {
    /// The least time that a packet of so many bytes takes from one host to another.
    pub fn between(&mut self, topology: &Topology, (from, to): (u32, u32), bytes: u32) -> Time {
        let (here, there) = (topology.rack_of(from), topology.rack_of(to));
        let search = || delays_from(topology, here, bytes);
        let delays = self.from.entry((here, bytes)).or_insert_with(search);
        let [first, last] = [topology.nics[from as usize], topology.nics[to as usize] ^ 1];
        let on = |line: LineId| delay_of(&topology.lines[line as usize], bytes);
        on(first) + delays[there as usize] + on(last)
    }

    /// Bytes of memory that it takes.
    pub fn bytes(&self) -> u64 {
        self.from.values().map(|delays| size_of_val(delays.as_slice()) as u64).sum()
    }
}

/// The time that a packet takes on a line, until its last bit has arrived.
fn delay_of(line: &LineSpec, bytes: u32) -> Time {
    line.time_of(bytes.into()) + line.delay
}

/// The least times that a packet takes from a switch to all others (Dijkstra's algorithm).
fn delays_from(topology: &Topology, switch: u32, bytes: u32) -> Vec<Time> {
    let mut delays = vec![Time::MAX; topology.switches.len()];
    let mut next = BinaryHeap::from([Reverse((Time::ZERO, switch))]);
    while let Some(Reverse((delay, switch))) = next.pop() {
        let known = &mut delays[switch as usize];
        if *known < Time::MAX {
            continue;
        }
        *known = delay;
        for &port in &topology.switches[switch as usize].ports {
            let line = &topology.lines[port as usize];
            if let Node::Switch(to) = line.to {
                next.push(Reverse((delay + delay_of(line, bytes), to)));
            }
        }
    }
    delays
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use spillway_engine::Rate;

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    /// A triangle of switches: the direct link from 0 to 2 takes 7 us, the way by 1 takes 2 + 3.
    fn triangle() -> Topology {
        let mut topology = Topology::default();
        let rate = Rate::from_bits_per_second(10_000_000_000).unwrap();
        (0..3).for_each(|_| _ = topology.add_switch("leaf"));
        for (a, b, delay) in [(0, 2, 7), (0, 1, 2), (1, 2, 3)] {
            topology.add_link(a, b, rate, us(delay));
        }
        for (switch, delay) in [(0, 1), (0, 4), (2, 9)] {
            topology.add_host(switch, rate, us(delay));
        }
        topology
    }

    #[test]
    fn the_least_delay_is_that_of_the_shortest_way_whatever_its_hops() {
        let (topology, mut delays) = (triangle(), Delays::default());
        let mut between = |from, to, bytes| delays.between(&topology, (from, to), bytes);
        assert_eq!(between(0, 2, 0), us(1 + 5 + 9));
        assert_eq!(between(2, 1, 0), us(9 + 5 + 4));
        assert_eq!(between(0, 1, 0), us(1 + 4));
        // 1 us for 1,250 bytes on each of four lines; 3 us make the direct link the faster one.
        assert_eq!(between(0, 2, 1_250), us(1 + 5 + 9 + 4));
        assert_eq!(between(0, 2, 3_750), us(1 + 7 + 9 + 3 * 3));
        // Two racks of the three have been asked for, one of them with three sizes.
        assert_eq!(delays.bytes(), 4 * 3 * 8);
    }

    #[test]
    fn it_is_the_time_of_a_packet_that_meets_no_other() {
        let (topology, mut delays) = (fixture::leaf_spine(3, 2, 2), Delays::default());
        for (from, to) in (0..6).flat_map(|from| (0..6).map(move |to| (from, to))) {
            if from != to {
                let alone = spillway_topology::ideal::fastest(&topology, None, from, to, 52);
                let found = delays.between(&topology, (from, to), 52);
                assert_eq!(Some(found), alone, "{from} {to}");
            }
        }
    }

    #[test]
    fn the_host_where_a_flow_ends_knows_at_once() {
        let (topology, mut delays) = (triangle(), Delays::default());
        let mut known_at = |release, host| {
            let (topology, delays) = (&topology, &mut delays);
            End { now: us(100), host: 0, release, ack_size: 0, topology, delays }.known_at(host)
        };
        assert_eq!([0, 1].map(|host| known_at(Release::Least, host)), [us(100), us(105)]);
        let fixed = Release::After(us(20));
        assert_eq!([0, 1].map(|host| known_at(fixed, host)), [us(100), us(120)]);
        assert_eq!(known_at(Release::After(Time::MAX), 1), Time::MAX);
    }

    #[test]
    fn the_delay_is_the_least_one_or_a_time() {
        let read = |text: &str| Release::read(&mut Section::new("x", text.parse().unwrap()));
        assert_eq!(read("").unwrap(), Release::Least);
        assert_eq!(read("release_delay = \"least\"").unwrap(), Release::Least);
        assert_eq!(read("release_delay = \"0us\"").unwrap(), Release::After(Time::ZERO));
        assert_eq!(
            read("release_delay = \"1.5us\"").unwrap(),
            Release::After(Time::from_ns(1_500))
        );
        assert_eq!(
            read("release_delay = \"1rtt\"").unwrap_err().to_string(),
            "x.release_delay: \"1rtt\" is not valid; expected \"least\", or a time such as \"25.2us\""
        );
    }
}

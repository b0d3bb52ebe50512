//! Shortest-path routing: at every switch, the ports with the fewest hops to a host.
//!
//! Routes are stored by rack, not by host, and equal sets of ports are stored once. A switch stores
//! the routes of a range of racks, and one for all others: a leaf's own rack, a pod's racks, and up.
//! So the tables of large networks fit into a cache. A lookup is three loads, the host's rack, the
//! switch's range and the route, and a fourth if the ports are not consecutive. It costs the same
//! for near and far hosts. After a failure the table is computed anew.

mod choice;
pub mod murmur3;

pub use choice::{PathChoice, ecmp};

use crate::{Fabric, LineId, Node, Search, Topology};
use spillway_engine::prefetch;
use std::collections::BTreeMap;

/// For every switch and host, the ports on shortest paths.
#[derive(Clone, Debug)]
pub struct Routing {
    hosts: Vec<Attachment>,
    ranges: Vec<Range>,
    /// For each switch the routes of its range, then the one for all other racks.
    routes: Vec<Route>,
    /// The ports to which routes point. It begins with all port numbers in order. There a port
    /// equals its own index, and need not be loaded.
    pool: Vec<u32>,
    /// The number of ports in order at the beginning of the pool.
    row: usize,
    order: NextHops,
}

/// The order in which next hops are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextHops {
    /// From the first port to the last.
    Ascending,
    /// From the last port to the first.
    Descending,
}

/// Where a host is attached.
#[derive(Clone, Copy, Debug)]
struct Attachment {
    /// The index of its rack among the racks.
    rack: u32,
    /// The port of the rack's switch that leads to it.
    port: u32,
}

/// The racks for which a switch has routes of their own.
#[derive(Clone, Copy, Debug)]
struct Range {
    first: u32,
    count: u32,
    /// The place of the first one's route.
    at: u32,
}

impl Range {
    /// The place of a rack's route.
    #[inline(always)]
    fn place_of(self, rack: u32) -> usize {
        (self.at + rack.wrapping_sub(self.first).min(self.count)) as usize
    }
}

/// A slice of the pool. At the rack itself it starts at the host's port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Route {
    start: u32,
    /// The length; the top bit says whether the switch is the rack itself.
    length: u32,
}

impl Route {
    const LOCAL: u32 = 1 << 31;
}

impl Routing {
    /// Routes over the lines that are up. `up` has an entry for every line, so the two directions
    /// of a link may differ.
    pub fn new(topology: &Topology, up: &[bool]) -> Routing {
        Routing::in_order(NextHops::Ascending, topology, up)
    }

    /// As `new`, after lines have failed or recovered.
    pub fn renewed(&self, topology: &Topology, up: &[bool]) -> Routing {
        Routing::in_order(self.order, topology, up)
    }

    /// Routes whose next hops are in this order.
    pub fn in_order(order: NextHops, topology: &Topology, up: &[bool]) -> Routing {
        assert_eq!(up.len(), topology.lines.len(), "one entry for every line");
        let racks = topology.racks();
        let unreachable = racks.len() as u32;
        let row = topology.switches.iter().map(|switch| switch.ports.len()).max().unwrap_or(0);
        let mut routing = Routing {
            hosts: vec![Attachment { rack: unreachable, port: 0 }; topology.nics.len()],
            ranges: Vec::with_capacity(topology.switches.len()),
            routes: Vec::new(),
            pool: (0..row as u32).collect(),
            row,
            order,
        };
        // A row for each switch, with a column for each rack, and a last one for a rack that cannot be
        // reached: hosts whose own link is down belong to it.
        let columns = racks.len() + 1;
        let mut all = vec![Route::default(); topology.switches.len() * columns];
        let fabric = Fabric::new(topology, |line| up[line as usize]);
        let mut shared = BTreeMap::new();
        let mut found = Search::default();
        let mut ports = Vec::new();
        for (column, &rack) in racks.iter().enumerate() {
            routing.attach(topology, up, rack, column);
            all[rack as usize * columns + column] = Route { start: 0, length: 1 | Route::LOCAL };
            fabric.search(rack, &mut found);
            for &switch in &found.order[1..] {
                ports.clear();
                ports.extend(fabric.nearer(switch, &found).map(|step| step.port));
                if order == NextHops::Descending {
                    ports.reverse();
                }
                all[switch as usize * columns + column] = routing.share(&mut shared, &ports);
            }
        }
        let are_reached = routing.hosts.iter().all(|host| host.rack != unreachable);
        let used = columns - usize::from(are_reached && !racks.is_empty());
        all.chunks(columns).for_each(|row| routing.store(&row[..used]));
        routing
    }

    /// The ports of `switch`, by their numbers, that lie on a shortest path to a host; none if it
    /// cannot be reached.
    ///
    /// A host whose own link is down cannot be reached from anywhere.
    #[inline]
    pub fn next_hops(&self, switch: u32, dst_host: u32) -> &[u32] {
        let (start, length) = self.places(switch, dst_host);
        &self.pool[start..start + length]
    }

    /// One of these ports. `choose` gets the number of ports and returns an index among them.
    /// `None` if there are no ports.
    #[inline(always)]
    pub fn next_hop(
        &self,
        switch: u32,
        dst_host: u32,
        choose: impl FnOnce(usize) -> usize,
    ) -> Option<u32> {
        let (start, length) = self.places(switch, dst_host);
        if length == 0 {
            return None;
        }
        let choice = choose(length);
        debug_assert!(choice < length, "one of those that there are");
        let place = start + choice;
        Some(if place < self.row { place as u32 } else { self.pool[place] })
    }

    /// Asks the processor to fetch what a look-up needs. There need not be such a switch or host.
    #[inline(always)]
    pub fn prefetch(&self, switch: u32, dst_host: u32) {
        let host = self.hosts.get(dst_host as usize);
        if let (Some(host), Some(range)) = (host, self.ranges.get(switch as usize)) {
            prefetch(&self.routes, range.place_of(host.rack));
        }
    }

    /// The index in the pool at which the ports begin, and their number.
    #[inline(always)]
    fn places(&self, switch: u32, dst_host: u32) -> (usize, usize) {
        let Attachment { rack, port } = self.hosts[dst_host as usize];
        let place = self.ranges[switch as usize].place_of(rack);
        let Route { start, length } = self.routes[place];
        ((start + port * (length >> 31)) as usize, (length & !Route::LOCAL) as usize)
    }

    /// Stores the next switch's routes, of which there is at least one. Those at the beginning and at
    /// the end that are equal are stored once.
    fn store(&mut self, row: &[Route]) {
        let range = |others: Route| {
            let first = row.iter().position(|&route| route != others).unwrap_or(row.len());
            let end = row.iter().rposition(|&route| route != others).map_or(first, |last| last + 1);
            (end - first, first, others)
        };
        let (begin, end) = (range(row[0]), range(row[row.len() - 1]));
        let (count, first, others) = if begin.0 < end.0 { begin } else { end };
        let at = self.routes.len() as u32;
        self.routes.extend(&row[first..first + count]);
        self.routes.push(others);
        self.ranges.push(Range { first: first as u32, count: count as u32, at });
    }

    /// Records the ports of a rack's hosts that can be reached.
    fn attach(&mut self, topology: &Topology, up: &[bool], rack: u32, column: usize) {
        for (port, &line) in (0..).zip(&topology.switches[rack as usize].ports) {
            if let (Node::Host(host), true) = (topology.lines[line as usize].to, up[line as usize])
            {
                self.hosts[host as usize] = Attachment { rack: column as u32, port };
            }
        }
    }

    /// The route over these ports. Equal sets share their place in the pool.
    fn share(&mut self, shared: &mut BTreeMap<Vec<u32>, u32>, ports: &[u32]) -> Route {
        let length = ports.len() as u32;
        if ports.windows(2).all(|pair| pair[1] == pair[0] + 1) {
            return Route { start: ports.first().copied().unwrap_or(0), length };
        }
        if let Some(&start) = shared.get(ports) {
            return Route { start, length };
        }
        let start = self.pool.len() as u32;
        self.pool.extend(ports);
        shared.insert(ports.to_vec(), start);
        Route { start, length }
    }
}

/// The lines that a packet takes from one host to another. At each switch `choose` picks one of its
/// next hops. `None` if the packet does not arrive.
///
/// The sender's own link is taken to be up.
pub fn path_lines(
    topology: &Topology,
    routing: &Routing,
    src: u32,
    dst: u32,
    mut choose: impl FnMut(u32, &[u32]) -> usize,
) -> Option<Vec<LineId>> {
    let mut lines = vec![topology.nics[src as usize]];
    // No shortest path visits a switch twice.
    for _ in 0..topology.switches.len() {
        let Node::Switch(switch) = topology.lines[lines[lines.len() - 1] as usize].to else {
            break;
        };
        let hops = routing.next_hops(switch, dst);
        if hops.is_empty() {
            return None;
        }
        let port = hops[choose(switch, hops)];
        lines.push(topology.switches[switch as usize].ports[port as usize]);
    }
    let end = topology.lines[lines[lines.len() - 1] as usize].to;
    (end == Node::Host(dst)).then_some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spillway_engine::{Rate, Stream, Time};
    use spillway_settings::Section;
    use std::path::Path;

    fn network(text: &str) -> Topology {
        let mut section = Section::new("topology", text.parse().unwrap());
        crate::read(&mut section, Path::new("")).unwrap()
    }

    fn all_up(topology: &Topology) -> Routing {
        Routing::new(topology, &vec![true; topology.lines.len()])
    }

    #[test]
    fn next_hops_in_a_leaf_spine_with_parallel_links() {
        // Leaves 0..3 with hosts at ports 0, 1 and uplinks at 2, 3 (spine 3) and 4, 5 (spine 4).
        let text = "kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\n\
                    links_per_pair = 2";
        let routing = all_up(&network(text));
        assert_eq!(routing.next_hops(1, 2), [0]);
        assert_eq!(routing.next_hops(1, 3), [1]);
        assert_eq!(routing.next_hops(1, 0), [2, 3, 4, 5]);
        assert_eq!(routing.next_hops(0, 5), [2, 3, 4, 5]);
        // A spine's ports are two for every leaf; host 3 is on leaf 1.
        assert_eq!(routing.next_hops(3, 3), [2, 3]);
        assert_eq!(routing.next_hops(4, 5), [4, 5]);
    }

    #[test]
    fn next_hops_may_be_counted_from_the_last_port() {
        let text = "kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\n\
                    links_per_pair = 2";
        let network = network(text);
        let mut up = vec![true; network.lines.len()];
        let routing = Routing::in_order(NextHops::Descending, &network, &up);
        assert_eq!(routing.next_hops(1, 3), [1]);
        assert_eq!(routing.next_hops(1, 0), [5, 4, 3, 2]);
        assert_eq!(routing.next_hops(3, 3), [3, 2]);
        let chosen = [0, 1, 2, 3].map(|place| routing.next_hop(1, 0, |_| place));
        assert_eq!(chosen, [5, 4, 3, 2].map(Some));
        // Also after a failure: that of the second line from leaf 1 to spine 3.
        up[network.switches[1].ports[3] as usize] = false;
        assert_eq!(routing.renewed(&network, &up).next_hops(1, 0), [5, 4, 2]);
    }

    #[test]
    fn next_hops_in_a_fat_tree_of_four_port_switches() {
        // Edge 0..8, aggregation 8..16, core 16..20; pod 1 has edges 2, 3, aggregations 10, 11.
        let tree = network("kind = \"fat-tree\"\nk = 4");
        let routing = all_up(&tree);
        assert_eq!(routing.next_hops(3, 7), [1]);
        assert_eq!(routing.next_hops(3, 4), [2, 3]);
        assert_eq!(routing.next_hops(3, 0), [2, 3]);
        // Down to edge 2 or 3 within the pod, else up to either core.
        assert_eq!(routing.next_hops(11, 4), [0]);
        assert_eq!(routing.next_hops(11, 6), [1]);
        assert_eq!(routing.next_hops(11, 15), [2, 3]);
        // A core's port p leads to pod p, which has four hosts.
        assert_eq!(routing.next_hops(17, 15), [3]);

        let hops = |src, dst| path_lines(&tree, &routing, src, dst, |_, _| 0).unwrap().len();
        assert_eq!((hops(0, 1), hops(0, 2), hops(0, 15)), (2, 4, 6));
    }

    #[test]
    fn the_lines_of_a_path_are_those_chosen() {
        let tree = network("kind = \"fat-tree\"\nk = 4");
        let routing = all_up(&tree);
        let lines = path_lines(&tree, &routing, 0, 15, |_, hops| hops.len() - 1).unwrap();
        // Always the last choice: edge 0, aggregation 9, core 19, pod 3's aggregation 15, edge 7.
        let to: Vec<Node> = lines.iter().map(|&line| tree.lines[line as usize].to).collect();
        let switches = [0, 9, 19, 15, 7].map(Node::Switch);
        assert_eq!((&to[..5], to[5]), (&switches[..], Node::Host(15)));
        assert!(
            lines.windows(2).all(|pair| {
                tree.lines[pair[0] as usize].to == tree.lines[pair[1] as usize].from
            })
        );
    }

    #[test]
    fn a_line_that_is_down_is_avoided_and_its_opposite_is_not() {
        // Two leaves (hosts 0 and 1), two spines: leaf 0 has port 1 to spine 2, port 2 to spine 3.
        let pair = network("kind = \"leaf-spine\"\nleaves = 2\nspines = 2\nhosts_per_leaf = 1");
        let mut up = vec![true; pair.lines.len()];
        let line = pair.switches[0].ports[1];
        up[line as usize] = false;
        let routing = Routing::new(&pair, &up);
        assert_eq!(routing.next_hops(0, 1), [2]);
        assert_eq!(routing.next_hops(1, 0), [1, 2]);
        // Spine 2 still sends down to leaf 0, although leaf 0 no longer sends up to it.
        assert_eq!(routing.next_hops(2, 0), [0]);

        // Now spine 2's line down to leaf 1 fails as well. From spine 2 the path leads over leaf 0
        // and spine 3, because only leaf 0's line up to spine 2 is down.
        up[pair.switches[2].ports[1] as usize] = false;
        let routing = Routing::new(&pair, &up);
        assert_eq!(routing.next_hops(2, 1), [0]);
        assert_eq!(routing.next_hops(0, 1), [2]);
    }

    #[test]
    fn a_host_whose_link_is_down_is_reached_from_nowhere() {
        let star = network("kind = \"star\"\nhosts = 3");
        let mut up = vec![true; star.lines.len()];
        up[star.nics[1] as usize ^ 1] = false;
        let routing = Routing::new(&star, &up);
        assert_eq!(routing.next_hops(0, 0), [0]);
        assert_eq!(routing.next_hops(0, 1), [0; 0]);
        assert_eq!(routing.next_hops(0, 2), [2]);
        assert_eq!(path_lines(&star, &routing, 0, 1, |_, _| 0), None);
    }

    #[test]
    fn eight_thousand_hosts_take_less_than_a_megabyte() {
        let text = "kind = \"leaf-spine\"\nleaves = 512\nspines = 128\nhosts_per_leaf = 16";
        let routing = all_up(&network(text));
        // A leaf has a route to its own rack and one up, a spine one to each rack but the last, and
        // that one. The pool: the 512 ports of a spine in order, which contain every set of ports.
        assert_eq!(routing.routes.len(), 512 * 2 + 128 * 512);
        assert_eq!(routing.pool.len(), 512);
        let bytes = 8 * (routing.routes.len() + routing.hosts.len()) + 4 * routing.pool.len();
        assert!(bytes < 700_000, "{bytes}");
        assert_eq!(size_of::<Route>() + size_of::<Attachment>(), 16);
    }

    /// A random network of switches and hosts, with some lines down.
    fn random_network(seed: u64) -> (Topology, Vec<bool>) {
        let mut stream = Stream::new(seed, "network", 0);
        let mut below = |n: u64| stream.below(n);
        let rate = Rate::from_bits_per_second(10_000_000_000).unwrap();
        let mut topology = Topology::default();
        let switches = 1 + below(8);
        (0..switches).for_each(|_| _ = topology.add_switch("leaf"));
        // Links are added before and after hosts, so that ports come in any order.
        for _ in 0..2 {
            for _ in 0..below(2 * switches) {
                let (a, b) = (below(switches) as u32, below(switches) as u32);
                if a != b {
                    topology.add_link(a, b, rate, Time::ZERO);
                }
            }
            for _ in 0..1 + below(4) {
                topology.add_host(below(switches) as u32, rate, Time::ZERO);
            }
        }
        let down = below(3);
        let mut up: Vec<bool> = (0..topology.lines.len()).map(|_| below(10) >= down).collect();
        topology.nics.iter().for_each(|&nic| up[nic as usize] = true);
        (topology, up)
    }

    /// Hops from every node to a host, found by going over all lines until nothing changes.
    fn naive_distances(topology: &Topology, up: &[bool], dst: u32) -> BTreeMap<Node, usize> {
        let mut distance = BTreeMap::from([(Node::Host(dst), 0)]);
        loop {
            let before = distance.clone();
            for (line, &up) in topology.lines.iter().zip(up) {
                if let (true, Some(&hops)) = (up, before.get(&line.to)) {
                    let known = distance.entry(line.from).or_insert(usize::MAX);
                    *known = (*known).min(hops + 1);
                }
            }
            if distance == before {
                return distance;
            }
        }
    }

    proptest! {
        #[test]
        fn routes_are_all_the_shortest_paths_and_no_others(seed: u64) {
            let (topology, up) = random_network(seed);
            let routing = Routing::new(&topology, &up);
            let mut choices = Stream::new(seed, "choices", 0);
            for dst in 0..topology.hosts() {
                let distance = naive_distances(&topology, &up, dst);
                for (switch, spec) in topology.switches.iter().enumerate() {
                    let here = distance.get(&Node::Switch(switch as u32));
                    let is_nearer = |&port: &u32| {
                        let line = spec.ports[port as usize] as usize;
                        let there = distance.get(&topology.lines[line].to);
                        up[line] && there.is_some_and(|there| Some(there + 1) == here.copied())
                    };
                    let expected: Vec<u32> =
                        (0..spec.ports.len() as u32).filter(is_nearer).collect();
                    prop_assert_eq!(routing.next_hops(switch as u32, dst), &expected[..]);
                    for (place, &port) in expected.iter().enumerate() {
                        let chosen = routing.next_hop(switch as u32, dst, |_| place);
                        prop_assert_eq!(chosen, Some(port));
                    }
                }
                for src in (0..topology.hosts()).filter(|&src| src != dst) {
                    let path = path_lines(&topology, &routing, src, dst, |_, hops| {
                        choices.below(hops.len() as u64) as usize
                    });
                    let expected = distance.get(&Node::Host(src));
                    prop_assert_eq!(path.map(|lines| lines.len()), expected.copied());
                }
            }
        }
    }
}

//! The switches and the lines between them, in a form for searching.

use super::{LineId, Node, Topology};

/// A step from one switch to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The port of the first switch.
    pub port: u32,
    /// The line.
    pub line: LineId,
    /// The switch that it leads to.
    pub to: u32,
}

/// The lines between switches that are up.
#[derive(Clone, Debug)]
pub struct Fabric {
    steps: Vec<Vec<Step>>,
    /// For every switch, the switches with a step to it. Parallel lines count once.
    sources: Vec<Vec<u32>>,
}

/// The result of a search. Reused by later searches to avoid allocation.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// For every switch, its hops to the target, or [`Search::UNREACHABLE`].
    pub distance: Vec<u32>,
    /// The switches with a path to the target, by distance, the target first.
    pub order: Vec<u32>,
}

impl Search {
    /// The distance of a switch without a path.
    pub const UNREACHABLE: u32 = u32::MAX;
}

impl Fabric {
    /// The lines between switches for which `is_up` holds.
    pub fn new(topology: &Topology, is_up: impl Fn(LineId) -> bool) -> Fabric {
        let count = topology.switches.len();
        let mut fabric =
            Fabric { steps: vec![Vec::new(); count], sources: vec![Vec::new(); count] };
        for (from, switch) in topology.switches.iter().enumerate() {
            for (port, &line) in switch.ports.iter().enumerate() {
                let Node::Switch(to) = topology.lines[line as usize].to else { continue };
                if !is_up(line) {
                    continue;
                }
                fabric.steps[from].push(Step { port: port as u32, line, to });
                let sources = &mut fabric.sources[to as usize];
                if sources.last() != Some(&(from as u32)) {
                    sources.push(from as u32);
                }
            }
        }
        fabric
    }

    /// Finds the distance of every switch from `to`, in hops, by a breadth-first search backwards.
    pub fn search(&self, to: u32, found: &mut Search) {
        let Search { distance, order } = found;
        distance.clear();
        distance.resize(self.steps.len(), Search::UNREACHABLE);
        order.clear();
        distance[to as usize] = 0;
        order.push(to);
        let mut next = 0;
        while let Some(&switch) = order.get(next) {
            next += 1;
            for &source in &self.sources[switch as usize] {
                if distance[source as usize] == Search::UNREACHABLE {
                    distance[source as usize] = distance[switch as usize] + 1;
                    order.push(source);
                }
            }
        }
    }

    /// The steps from `switch` that lead one hop nearer to the target, by port. `switch` must have
    /// a path to it.
    pub fn nearer<'a>(&'a self, switch: u32, found: &'a Search) -> impl Iterator<Item = Step> + 'a {
        let here = found.distance[switch as usize];
        debug_assert!(here != Search::UNREACHABLE, "a switch that has no path");
        let steps = self.steps[switch as usize].iter().copied();
        steps.filter(move |step| found.distance[step.to as usize] < here)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillway_engine::{Rate, Time};

    #[test]
    fn a_search_goes_by_hops_and_by_the_direction_of_links() {
        // 0 = 1 - 2 - 3, the first two joined twice, and 0 - 3; 4 is isolated.
        let mut topology = Topology::default();
        (0..5).for_each(|_| _ = topology.add_switch("spine"));
        let rate = Rate::from_bits_per_second(10_000_000_000).unwrap();
        let mut link = |a, b| topology.add_link(a, b, rate, Time::ZERO);
        let links = [link(0, 1), link(0, 1), link(1, 2), link(2, 3), link(0, 3)];

        let mut found = Search::default();
        let fabric = Fabric::new(&topology, |_| true);
        fabric.search(2, &mut found);
        assert_eq!(found.distance, [2, 1, 0, 1, Search::UNREACHABLE]);
        assert_eq!(found.order, [2, 1, 3, 0]);
        let steps: Vec<(u32, u32)> = fabric.nearer(0, &found).map(|s| (s.port, s.to)).collect();
        assert_eq!(steps, [(0, 1), (1, 1), (2, 3)]);

        // Without 1 -> 2 the path from 1 is 1 - 0 - 3 - 2. The path back is unchanged.
        let fabric = Fabric::new(&topology, |line| line != links[2]);
        fabric.search(2, &mut found);
        assert_eq!(found.distance[..4], [2, 3, 0, 1]);
        fabric.search(1, &mut found);
        assert_eq!(found.distance[..4], [1, 0, 1, 2]);
    }
}

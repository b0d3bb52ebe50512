//! Building the network: its lines, the switches and NICs that send on them, and an event queue of
//! a size that fits them.

use super::deadlock::Deadlocks;
use super::failures::Failures;
use super::intake::Intake;
use super::pausing::Pausing;
use super::whole_ns::WholeNs;
use super::{Chooser, Network, SwitchPorts, Totals, timers};
use crate::port::line::{End, Line};
use crate::port::nic::{Nic, NicQueueing};
use crate::port::ring;
use crate::port::timetable::Timetable;
use crate::scenario::{Hash, Scenario, Spreading};
use spillway_engine::{Event, EventQueue, Stream, Time, mix};
use spillway_switch::packet::Arena;
use spillway_switch::{SideTable, Switch};
use spillway_topology::routing::Routing;
use spillway_topology::{LineId, Node, Topology};
use spillway_transport::Transport;

impl Network {
    /// A network without packets.
    pub fn new(scenario: &Scenario) -> Network {
        let topology = &scenario.topology;
        let (mut lines, first_line, place_of_line) = lay_lines(topology);
        let writes_telemetry = scenario.transports.iter().any(Transport::asks_telemetry);
        let cuts_times = topology.lines.iter().any(|line| line.whole_ns);
        let is_attended = writes_telemetry || cuts_times;
        lines.iter_mut().for_each(|line| line.attended = is_attended || line.is_slow());
        let port_fifos = ring::of_lines(scenario, &mut lines);
        let switches: Vec<Switch> =
            (0..topology.switches.len() as u32).map(|s| scenario.make_switch(s)).collect();
        let nics: Vec<Nic> = (0..topology.hosts()).map(|host| Nic::of(scenario, host)).collect();
        let switch_ports = |(switch, first_line): (u64, u32)| {
            let seed = match scenario.routing.hash {
                Hash::Multiplicative { seed, per_switch } => {
                    let own = if per_switch { switch + 1 } else { 0 };
                    mix(mix(seed) ^ own) as u32
                }
                Hash::Murmur3 => topology.hosts() + switch as u32,
            };
            SwitchPorts { first_line, seed, waiting: Timetable::default() }
        };
        let stream = |switch: usize| Stream::new(scenario.seed, "spray", switch as u64);
        let chooser = match (scenario.routing.spreading, scenario.routing.hash) {
            (Spreading::Spray, _) => {
                Some(Chooser::Spray((0..switches.len()).map(stream).collect()))
            }
            (Spreading::FlowHash, Hash::Murmur3) => Some(Chooser::Murmur3),
            (Spreading::FlowHash, Hash::Multiplicative { .. }) => None,
        };
        let all_up = vec![true; topology.lines.len()];
        let (width_log2, buckets_log2) = wheel(&lines);
        let mut ports: Vec<SwitchPorts> =
            (0..).zip(first_line.iter().copied()).map(switch_ports).collect();
        let pausing = Pausing::new(scenario, &mut lines, &mut ports, &place_of_line);
        let routing = Routing::in_order(scenario.routing.next_hops, topology, &all_up);
        let deadlocks = Deadlocks::new(scenario, &routing, pausing.is_some());
        Network {
            now: Time::ZERO,
            key: 0,
            latest: Event { time: Time::ZERO, key: 0 },
            losses: 0,
            events: EventQueue::new(width_log2, buckets_log2),
            packets: Arena::new(),
            ports,
            timers: timers::of_policies(&switches, &nics),
            switches,
            nic_queueing: NicQueueing::Queued,
            nic_classes: scenario.nic.packet_classes(),
            tells_begun: false,
            has_queue_pairs: false,
            nics,
            port_fifos,
            routing,
            writes_telemetry,
            whole_ns: cuts_times.then(|| WholeNs::new(lines.len())),
            telemetry: SideTable::default(),
            numbers: SideTable::default(),
            chooser,
            failures: Failures::new(scenario, place_of_line),
            pausing,
            away: None,
            deadlocks,
            intakes: Intake::of_hosts(scenario),
            lost: Vec::new(),
            packet_hops: 0,
            totals: Totals::default(),
            lines,
        }
    }
}

/// The lines of a topology: the hosts' first, then each switch's in the order of its ports. Returns
/// the lines, the number of every switch's first line, and the place among them of every line of
/// the topology.
fn lay_lines(topology: &Topology) -> (Vec<Line>, Vec<u32>, Vec<u32>) {
    let mut lines = Vec::with_capacity(topology.lines.len());
    spillway_engine::ask_for_huge_pages(&lines);
    let mut place_of_line = vec![0; topology.lines.len()];
    let mut first_line = Vec::new();
    let mut lay = |line: LineId, from: u32| {
        let spec = &topology.lines[line as usize];
        let to = match spec.to {
            Node::Host(host) => (host, End::Host),
            Node::Switch(switch) => (switch, End::Switch),
        };
        place_of_line[line as usize] = lines.len() as u32;
        lines.push(Line::new(lines.len() as u32, spec, from, to));
        lines.len() as u32
    };
    for (host, &line) in (0..).zip(&topology.nics) {
        lay(line, host);
    }
    let mut next = topology.hosts();
    for (number, switch) in (0..).zip(&topology.switches) {
        first_line.push(next);
        for &line in &switch.ports {
            next = lay(line, number);
        }
    }
    (lines, first_line, place_of_line)
}

/// The buckets of the event queue's timing wheel, as logarithms: width in picoseconds, and number.
///
/// Every line that carries packets has about one pending event, due within the time that a packet
/// takes to be sent and to propagate. The wheel covers the longest such time. A bucket is as wide
/// as the transmission of the smallest packet, so that an event is seldom pushed into the current
/// bucket. The median line gives the width, so that one fast line does not make the buckets too
/// narrow for all others.
fn wheel(lines: &[Line]) -> (u32, u32) {
    const SMALLEST: u64 = 52;
    const FULL: u64 = 1500;
    let mut smallest: Vec<u64> = lines.iter().map(|line| line.time_of(SMALLEST).ps()).collect();
    let middle = smallest.len() / 2;
    let width = *smallest.select_nth_unstable(middle).1;
    let width_log2 = width.max(1).ilog2().min(31);
    let ahead = |line: &Line| (line.delay + line.time_of(FULL)).ps();
    let horizon = lines.iter().map(ahead).max().unwrap_or(1);
    let buckets_log2 = ((horizon >> width_log2) + 1).next_power_of_two().ilog2().clamp(6, 16);
    (width_log2, buckets_log2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Sources;
    use std::path::Path;

    fn scenario(text: &str) -> Scenario {
        let text = format!("duration = \"1ms\"\n{text}");
        Scenario::read(text.parse().unwrap(), &Sources::of(Path::new(""))).unwrap()
    }

    const LEAF_SPINE: &str = "topology = { kind = \"leaf-spine\", leaves = 2, hosts_per_leaf = 2, \
                              spines = 2, host_rate = \"10Gbps\", fabric_rate = \"40Gbps\", \
                              link_delay = \"1us\" }";

    #[test]
    fn lines_are_numbered_by_hosts_then_switches_and_their_ports() {
        let network = Network::new(&scenario(LEAF_SPINE));
        // Four hosts, and a leaf's four ports, a spine's two.
        assert_eq!(network.lines.len(), 4 + 2 * 4 + 2 * 2);
        let first_lines: Vec<u32> = network.ports.iter().map(|ports| ports.first_line).collect();
        assert_eq!(first_lines, [4, 8, 12, 14]);
        for (number, line) in (0..).zip(&network.lines) {
            assert_eq!(line.number, number);
            match network.sender_on(number) {
                Node::Host(host) => assert_eq!((host, line.end), (number, End::Switch)),
                Node::Switch(switch) => {
                    let port = network.port_of(number);
                    assert_eq!(network.ports[switch as usize].first_line + port, number);
                }
            }
        }
        let to_hosts: Vec<u32> =
            network.lines.iter().filter(|line| line.end.is_host()).map(|line| line.to).collect();
        assert_eq!(to_hosts, [0, 1, 2, 3]);
    }

    #[test]
    fn seeds_of_switches_differ_where_the_scenario_says_so() {
        let seeds = |text: &str| {
            let network = Network::new(&scenario(&format!("{LEAF_SPINE}\n{text}")));
            network.ports.iter().map(|ports| ports.seed).collect::<Vec<_>>()
        };
        let own = seeds("routing = { hash_seeds = \"per-switch\" }");
        assert!((1..own.len()).all(|switch| own[switch] != own[0]), "{own:?}");
        let common = seeds("routing = { hash_seeds = \"same\" }");
        assert!(common.iter().all(|seed| *seed == common[0]), "{common:?}");
    }

    #[test]
    fn buckets_are_as_wide_as_the_smallest_packet_and_span_a_packet_and_a_link() {
        // 52 bytes take 41.6 ns at 10 Gbps: 2^15 ps and more. A full packet takes 1.2 us, the link
        // 1 us: 2.2 us are 67 buckets, and 128 is the next power of two.
        let star = "topology = { kind = \"star\", hosts = 4, host_rate = \"10Gbps\", \
                    link_delay = \"1us\" }";
        let network = Network::new(&scenario(star));
        assert_eq!(wheel(&network.lines), (15, 7));
        // At least 64 buckets.
        let short = star.replace("1us", "1ns");
        assert_eq!(wheel(&Network::new(&scenario(&short)).lines), (15, 6));
    }
}

//! Facts that follow from a scenario, for people who are about to run it.

use crate::scenario::Scenario;
use serde_json::{Map, Value, json};
use spillway_engine::Time;
use spillway_topology::{Clocks, LineId, Node, Topology};
use spillway_traffic::{Expected, Source};
use spillway_transport::Transport;
use spillway_transport::flow::FlowSpec;
use std::collections::BTreeMap;

/// Topology, buffers, delays and traffic. At most `most_flows` flows are counted.
pub fn facts(scenario: &Scenario, most_flows: u64) -> Value {
    let topology = &scenario.topology;
    let transport = &scenario.transports[0];
    let host_rate = topology.lines[topology.nics[0] as usize].rate;
    let (load_of, capacity_bps) = topology.capacity();
    let timed = scenario.transports.iter().filter_map(Transport::closed_loop);
    let min_rto = timed.filter_map(|closed| closed.min_rto(scenario.base_rtt)).max();
    let base_rtt = scenario.base_rtt.ps() as f64;
    let hosts_bps: u64 = topology.nics.iter().map(|&line| rate(scenario, line)).sum();
    json!({
        "hosts": topology.hosts(),
        "racks": topology.racks().len(),
        "links": topology.lines.len() / 2,
        "host_gbps": gbps(host_rate.bits_per_second()),
        "tiers": (0..scenario.tiers.len()).filter_map(|t| tier(scenario, t)).collect::<Value>(),
        "oversubscription": hosts_bps as f64 / capacity_bps as f64,
        "clocks": clocks(topology),
        "base_rtt_us": base_rtt * 1e-6,
        "min_rto_us": min_rto.map(|time| time.ps() as f64 * 1e-6),
        "min_rto_base_rtts": min_rto.map(|time| time.ps() as f64 / base_rtt),
        "bdp_bytes": host_rate.nominal().bytes_in(scenario.base_rtt),
        "full_packet_bytes": transport.full_packet(),
        "first_rtt_bytes": transport.first_rtt_bytes(host_rate, scenario.base_rtt),
        "load_of": load_of,
        "capacity_gbps": gbps(capacity_bps),
        "traffic": traffic(scenario, capacity_bps, most_flows),
    })
}

/// How far hosts' and switches' clocks are off, from the slowest to the fastest, in ppm; null where
/// they are exact.
fn clocks(topology: &Topology) -> Value {
    let range = |of_hosts: bool| {
        let lines = topology.lines.iter();
        let ppm = lines
            .filter(|line| matches!(line.from, Node::Host(_)) == of_hosts)
            .map(|line| line.rate.clock().ppb() / 1e3);
        let (low, high) = ppm.fold((f64::MAX, f64::MIN), |(l, h), ppm| (l.min(ppm), h.max(ppm)));
        let tenths = |ppm: f64| (ppm * 10.0).round() / 10.0 + 0.0;
        json!([tenths(low), tenths(high)])
    };
    match topology.clocks {
        Clocks::Exact => Value::Null,
        Clocks::Spread { .. } => json!({ "hosts_ppm": range(true), "switches_ppm": range(false) }),
    }
}

/// A rough estimate of the packets that hosts send in a run, acks included. Traffic with a rate
/// counts with its average number of flows and packets, other flows with their own packets, and
/// endless flows with what their hosts' lines can carry. If acks drive a sender, each of its
/// packets counts with an ack.
pub fn expected_packets(scenario: &Scenario) -> f64 {
    let of_source = |source: &Source| {
        let class = usize::from(source.class_numbers().start);
        let transport = &scenario.transports[usize::from(scenario.class_transport[class])];
        let packets = match source.packets_per_flow(transport.mss) {
            Some(each) => each * source.expected().flows,
            None => packets_of_flows(scenario, source, transport),
        };
        if transport.closed_loop().is_some() { 2.0 * packets } else { packets }
    };
    scenario.traffic.sources.iter().map(of_source).sum()
}

fn packets_of_flows(scenario: &Scenario, source: &Source, transport: &Transport) -> f64 {
    if source.waits() {
        return source.expected().bytes / f64::from(transport.mss);
    }
    let until = source.sends_until().unwrap_or(scenario.stop).min(scenario.stop);
    let full_packet = f64::from(transport.full_packet());
    let (mut ending, mut endless) = (0.0, BTreeMap::new());
    for flow in source.flows().take(MOST_COUNTED) {
        if flow.size != FlowSpec::ENDLESS {
            ending += flow.size.div_ceil(u64::from(transport.mss)) as f64;
            continue;
        }
        // Flows of one host share its line, which is busy from the start of the first one.
        let line = rate(scenario, scenario.topology.nics[flow.src as usize]) as f64;
        let time = seconds(until) - seconds(flow.start.min(until));
        endless.entry(flow.src).or_insert(line / 8.0 * time / full_packet);
    }
    ending + endless.values().sum::<f64>()
}

/// The most flows to be counted. More are not needed for an estimate.
const MOST_COUNTED: usize = 1_000_000;

fn seconds(time: Time) -> f64 {
    time.ps() as f64 * 1e-12
}

fn gbps(bits_per_second: u64) -> f64 {
    bits_per_second as f64 * 1e-9
}

fn rate(scenario: &Scenario, line: LineId) -> u64 {
    scenario.topology.lines[line as usize].rate.bits_per_second()
}

/// A tier's switches, with the ports and buffer of its first one. `None` if the topology lacks the
/// tier.
fn tier(scenario: &Scenario, place: usize) -> Option<Value> {
    let topology = &scenario.topology;
    let settings = &scenario.tiers[place];
    let of_tier = |switch: &u32| topology.switches[*switch as usize].tier == settings.tier;
    let switches: Vec<u32> = (0..topology.switches.len() as u32).filter(of_tier).collect();
    let first = *switches.first()?;
    let mut ports: BTreeMap<u64, u32> = BTreeMap::new();
    for &line in &topology.switches[first as usize].ports {
        *ports.entry(rate(scenario, line)).or_default() += 1;
    }
    let ports: Map<String, Value> =
        ports.iter().rev().map(|(&rate, &n)| (format!("{}", gbps(rate)), n.into())).collect();
    let [sharing, aqm, scheduling] = settings.policies();
    Some(json!({
        "tier": settings.tier,
        "switches": switches.len(),
        "ports_by_gbps": ports,
        "buffer_bytes": settings.capacity_of(topology, first),
        "queues_per_port": settings.settings.queues_per_port,
        "sharing": sharing,
        "aqm": aqm,
        "scheduling": scheduling,
    }))
}

/// The flows of a section that are counted, and their payload.
fn counted(source: &Source, most_flows: u64) -> (u64, u64) {
    let (mut flows, mut bytes) = (0, 0);
    for flow in source.flows().take(usize::try_from(most_flows).unwrap_or(usize::MAX)) {
        flows += 1;
        bytes += if flow.size == FlowSpec::ENDLESS { 0 } else { flow.size };
    }
    (flows, bytes)
}

fn traffic(scenario: &Scenario, capacity_bps: u64, most_flows: u64) -> Value {
    let sources = scenario.traffic.sources.iter().map(|source| {
        let waits = source.waits();
        let (flows, bytes) = if waits {
            let Expected { flows, bytes, .. } = source.expected();
            (flows as u64, bytes as u64)
        } else {
            counted(source, most_flows)
        };
        let offered = source.offered_bits_per_second();
        json!({
            "name": source.name(),
            "kind": source.kind(),
            "classes": source.classes(),
            "offered_gbps": offered.map(|bps| bps * 1e-9),
            "load": offered.map(|bps| bps / capacity_bps as f64),
            "flows": flows,
            "bytes": bytes,
            "counted_all": waits || flows < most_flows,
        })
    });
    sources.collect()
}

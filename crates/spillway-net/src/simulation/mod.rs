//! A run: the network's state and the loop that moves it from event to event.

mod failures;
mod hosts;
mod instruments;
mod key;
mod line;
mod network;

use crate::flow::FlowSpec;
use crate::flows::Flows;
use crate::nic::Nic;
use crate::record::Record;
use crate::routing::Routing;
use crate::scenario::Scenario;
use crate::topology::{LinkId, Node, Topology};
use crate::traffic::{self, Merge};
use crate::transport::receiver::SackBlocks;
use instruments::Instruments;
use key::{Kind, id_of, key, kind_of, slot_of};
use line::Line;
use spillway_engine::{EventQueue, Stream, Time, mix};
use spillway_switch::packet::{Arena, PacketId};
use spillway_switch::{DropReason, Switch};
use std::iter::Peekable;

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// There is more to do.
    Running,
    /// All flows are complete.
    Complete,
    /// The scenario's stop was reached with flows that are not complete.
    Stopped,
}

/// Packets and bytes on the wire that came into being and went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets made by hosts.
    pub made_packets: u64,
    /// Their bytes.
    pub made_bytes: u64,
    /// Packets that reached their host.
    pub arrived_packets: u64,
    /// Their bytes.
    pub arrived_bytes: u64,
    /// Packets lost.
    pub lost_packets: u64,
    /// Their bytes.
    pub lost_bytes: u64,
}

/// What a run has counted so far.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Events handled.
    pub events: u64,
    /// Packets that started transmission on any line.
    pub packet_hops: u64,
    /// Flows started.
    pub flows_started: u64,
    /// Flows whose last byte arrived.
    pub flows_completed: u64,
    /// Packets sent again.
    pub retransmitted_packets: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Lost packets, by reason in the order of [`DropReason::ALL`].
    pub drops: [u64; DropReason::ALL.len()],
    /// Payload that arrived in the window of measurement, by class, each byte counted once.
    pub delivered_bytes: Vec<u64>,
    /// Payload of the flows that started in the window of measurement.
    pub started_bytes: u64,
    /// Packets and bytes made, arrived and lost.
    pub totals: Totals,
}

/// A run.
pub struct Simulation {
    scenario: Scenario,
    now: Time,
    events: EventQueue,
    packets: Arena,
    /// What acks tell beyond a gap, by packet.
    sacks: Vec<SackBlocks>,
    lines: Vec<Line>,
    /// For every switch the line of its first port.
    first_line: Vec<u32>,
    switches: Vec<Switch>,
    nics: Vec<Nic>,
    routing: Routing,
    switch_seeds: Vec<u32>,
    /// With spraying, every switch's random stream.
    spray: Option<Vec<Stream>>,
    flows: Flows,
    traffic: Peekable<Merge<traffic::Flows>>,
    /// Flows that are not complete, and one more while others are still to start.
    unfinished: u64,
    /// Of them those that never end.
    endless: u64,
    failures: failures::Failures,
    instruments: Instruments,
    counters: Counters,
    record: Record,
}

impl Simulation {
    /// A run at its beginning.
    pub fn new(scenario: Scenario) -> Simulation {
        let topology = &scenario.topology;
        let (lines, first_line, line_of_link) = lay_lines(topology);
        let switches: Vec<Switch> =
            (0..topology.switches.len() as u32).map(|s| scenario.make_switch(s)).collect();
        let nics = (0..topology.hosts()).map(|_| Nic::new(scenario.nic)).collect();
        let routing = Routing::new(topology, &vec![true; topology.links.len()]);
        let per_switch = |switch: usize| {
            let own = if scenario.routing.seed_per_switch { switch as u64 + 1 } else { 0 };
            mix(mix(scenario.routing.hash_seed) ^ own) as u32
        };
        let spray = (scenario.routing.spreading == crate::scenario::Spreading::Spray).then(|| {
            (0..switches.len() as u64)
                .map(|switch| Stream::new(scenario.seed, "spray", switch))
                .collect()
        });
        let (width_log2, buckets_log2) = calendar(&lines);
        let mut simulation = Simulation {
            now: Time::ZERO,
            events: EventQueue::new(width_log2, buckets_log2),
            packets: Arena::new(),
            sacks: Vec::new(),
            first_line,
            switch_seeds: (0..switches.len()).map(per_switch).collect(),
            spray,
            switches,
            nics,
            routing,
            flows: Flows::default(),
            traffic: scenario.traffic.flows().peekable(),
            unfinished: 0,
            endless: 0,
            failures: failures::Failures::new(&scenario, line_of_link),
            instruments: Instruments::new(&scenario, lines.len()),
            counters: Counters {
                delivered_bytes: vec![0; scenario.traffic.classes.len()],
                ..Counters::default()
            },
            record: Record::default(),
            lines,
            scenario,
        };
        simulation.schedule_start();
        simulation.schedule_failures();
        simulation.schedule_instruments();
        simulation
    }

    /// Handles up to so many events.
    pub fn run(&mut self, events: u64) -> Progress {
        for _ in 0..events {
            if self.unfinished == 0
                && (self.packets.live() == 0 || self.now >= self.scenario.duration)
            {
                return Progress::Complete;
            }
            let Some(event) = self.events.pop() else { return Progress::Complete };
            if event.time > self.scenario.stop {
                self.now = self.scenario.stop;
                return if self.unfinished == self.endless {
                    Progress::Complete
                } else {
                    Progress::Stopped
                };
            }
            debug_assert!(event.time >= self.now, "time does not go back");
            self.now = event.time;
            self.counters.events += 1;
            match kind_of(event.key) {
                Kind::Arrival => self.on_arrival(id_of(event.key)),
                Kind::Wake => self.on_wake(id_of(event.key)),
                Kind::FlowStart => self.start_flows(),
                Kind::FlowTimer => self.on_flow_timer(id_of(event.key), slot_of(event.key)),
                Kind::AckDue => self.on_ack_due(id_of(event.key), slot_of(event.key)),
                Kind::Clock => self.on_clock(id_of(event.key), slot_of(event.key)),
                Kind::CableChange => self.on_cable_change(id_of(event.key)),
                Kind::RouteChange => self.on_route_change(),
                Kind::Measure => self.on_measure(),
                Kind::SampleQueues => self.sample_queues(),
                Kind::SampleWindows => self.sample_windows(),
                Kind::SampleLinks => self.sample_links(),
            }
        }
        Progress::Running
    }

    /// The simulated time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The scenario that is run.
    pub fn scenario(&self) -> &Scenario {
        &self.scenario
    }

    /// What was counted so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The switches as they are now.
    pub fn switches(&self) -> &[Switch] {
        &self.switches
    }

    /// What was recorded so far; tables may be taken out of it.
    pub fn record_mut(&mut self) -> &mut Record {
        &mut self.record
    }

    /// Packets on their way or waiting, with their bytes: walks over all of them, for tests.
    pub fn in_network(&self) -> (u64, u64) {
        let mut found = (0, 0);
        let mut count = |mut id: PacketId| {
            while id != spillway_switch::packet::NO_PACKET {
                found.0 += 1;
                found.1 += u64::from(self.packets[id].size);
                id = self.packets[id].next;
            }
        };
        self.lines.iter().for_each(|line| count(line.head));
        self.nics.iter().flat_map(Nic::heads).for_each(&mut count);
        self.switches.iter().flat_map(Switch::heads).for_each(&mut count);
        found
    }

    /// Whether every packet and byte made has arrived, was lost, or is in the network, and all
    /// switches' counters agree with their packets; for tests.
    pub fn is_conserved(&self) -> bool {
        let t = &self.counters.totals;
        let (packets, bytes) = self.in_network();
        t.made_packets == t.arrived_packets + t.lost_packets + packets
            && t.made_bytes == t.arrived_bytes + t.lost_bytes + bytes
            && packets == self.packets.live() as u64
            && self.switches.iter().all(|switch| switch.is_consistent(&self.packets))
    }

    fn schedule_start(&mut self) {
        if let Some(next) = self.traffic.peek() {
            self.events.push(next.start, key(Kind::FlowStart, 0));
            self.unfinished += 1;
        }
    }

    /// Starts all flows that start now.
    fn start_flows(&mut self) {
        self.unfinished -= 1;
        let now = self.now;
        while let Some(spec) = self.traffic.next_if(|spec: &FlowSpec| spec.start <= now) {
            self.start_flow(spec);
        }
        self.schedule_start();
    }
}

/// The lines of a topology: hosts' first, then every switch's in the order of its ports. Returns
/// them with the first of every switch, and the line of every link.
fn lay_lines(topology: &Topology) -> (Vec<Line>, Vec<u32>, Vec<u32>) {
    let mut lines = Vec::with_capacity(topology.links.len());
    let mut line_of_link = vec![0; topology.links.len()];
    let mut first_line = Vec::new();
    let mut lay = |link: LinkId, from: (u32, u32)| {
        let spec = &topology.links[link as usize];
        let to = match spec.to {
            Node::Host(host) => (host, true),
            Node::Switch(switch) => (switch, false),
        };
        line_of_link[link as usize] = lines.len() as u32;
        lines.push(Line::new(spec.rate, spec.delay, from, to));
        lines.len() as u32
    };
    for (host, &link) in (0..).zip(&topology.nics) {
        lay(link, (host, 0));
    }
    let mut next = topology.hosts();
    for (number, switch) in (0..).zip(&topology.switches) {
        first_line.push(next);
        for (port, &link) in (0..).zip(&switch.ports) {
            next = lay(link, (number, port));
        }
    }
    (lines, first_line, line_of_link)
}

/// The event queue's buckets, as logarithms: width in picoseconds, and number.
///
/// What is pending is about an event for every line that carries something, due within a packet's
/// time on the wire and in the cable: the ring spans twice that, in buckets that hold an event or
/// two.
fn calendar(lines: &[Line]) -> (u32, u32) {
    let ahead = |line: &Line| (line.delay + line.rate.time_of(1500)).ps();
    let horizon = 2 * lines.iter().map(ahead).max().unwrap_or(1);
    let buckets_log2 = (2 * lines.len()).next_power_of_two().ilog2().clamp(10, 18);
    let width_log2 = (horizon >> buckets_log2).max(1).ilog2() + 1;
    (width_log2, buckets_log2)
}

impl std::fmt::Debug for Simulation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Simulation").field("now", &self.now).finish_non_exhaustive()
    }
}

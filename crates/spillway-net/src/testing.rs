//! Helpers of the tests beside the code: a small network and its hosts, whose events a test handles
//! one by one.
//!
//! A byte takes 1 ns on every line, and every line has a delay of 10 us. A full packet has 960
//! bytes of payload and 40 of headers, so it takes 1 us to be sent. An ack has 50 bytes and takes
//! 50 ns.

use crate::event::Kind;
use crate::host::Hosts;
use crate::network::Network;
use crate::port::Shortcuts;
use crate::scenario::{Scenario, Sources};
use crate::simulation::{Progress, Simulation};
use spillway_engine::Time;
use spillway_settings::{Table, Value};
use spillway_switch::packet::{Contents, NO_PACKET, Packet, PacketId};
use spillway_traffic::FlowColumns;
use spillway_transport::flow::FlowSpec;
use std::path::Path;

/// Picoseconds in a nanosecond.
pub(crate) const NS: u64 = 1_000;
/// Picoseconds in a microsecond.
pub(crate) const US: u64 = 1_000_000;
/// Picoseconds in a millisecond.
pub(crate) const MS: u64 = 1_000_000_000;

/// Three hosts at one switch. The hosts' lines are 0 to 2, and line 3 + n leads to host n.
pub(crate) const STAR: &str = "topology = { kind = \"star\", hosts = 3, host_rate = \"8Gbps\", \
                               link_delay = \"10us\" }";

/// A transport whose segments and acks have the sizes that this module states.
pub(crate) fn transport(kind: &str, more: &str) -> String {
    let open_loop = kind == "udp";
    let acks = if open_loop { "" } else { ", ack_size = \"50B\"" };
    let more = if more.is_empty() { String::new() } else { format!(", {more}") };
    format!("transport = {{ kind = \"{kind}\", mss = \"960B\", header = \"40B\"{acks}{more} }}")
}

/// A flow of a list: sender, receiver, payload, start in nanoseconds.
pub(crate) type Listed = (u32, u32, u64, u64);

/// Flows as a list.
pub(crate) fn columns(flows: &[Listed]) -> FlowColumns {
    FlowColumns {
        src: flows.iter().map(|flow| flow.0).collect(),
        dst: flows.iter().map(|flow| flow.1).collect(),
        size_bytes: flows.iter().map(|flow| flow.2).collect(),
        start_ns: flows.iter().map(|flow| flow.3).collect(),
        ..FlowColumns::default()
    }
}

/// Reads a scenario, with exact clocks. A list of flows is added, whose class has the number 0.
pub(crate) fn scenario(text: &str, flows: &[Listed]) -> Scenario {
    scenario_of(text, &columns(flows))
}

/// As `scenario`, with all columns that a list may have.
pub(crate) fn scenario_of(text: &str, list: &FlowColumns) -> Scenario {
    let text = format!("{text}\n[[traffic]]\nname = \"list\"\nkind = \"flows\"\nfile = \"list\"\n");
    let mut given: Table = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    if let Some(Value::Table(topology)) = given.get_mut("topology") {
        topology.entry("clocks").or_insert("exact".into());
    }
    let sources = Sources { flows: &|_, _| Some(list.clone()), ..Sources::of(Path::new("")) };
    Scenario::read(given, &sources).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// A run of a scenario with these flows, to its end.
pub(crate) fn finished(text: &str, flows: &[Listed]) -> Simulation {
    finish(Simulation::new(scenario(text, flows)))
}

/// Runs a simulation from where it is to its end.
pub(crate) fn finish(mut simulation: Simulation) -> Simulation {
    while simulation.run(1 << 10) == Progress::Running {}
    simulation.finish();
    simulation
}

/// Runs a simulation until an event at this time has been handled, or a later one.
pub(crate) fn run_to(simulation: &mut Simulation, time: Time) {
    while simulation.now() < time {
        assert_eq!(simulation.run(1), Progress::Running, "it ends before {time}");
    }
}

/// A flow of the first class that starts at once.
pub(crate) fn flow(src: u32, dst: u32, size: u64) -> FlowSpec {
    FlowSpec::new(src, dst, size)
}

/// A network with its hosts, without traffic, samples and link events.
pub(crate) struct Bench {
    pub scenario: Scenario,
    pub net: Network,
    pub hosts: Hosts,
    /// The number of the next flow.
    next_flow: u32,
}

impl Bench {
    /// A scenario's network and hosts at time 0. The scenario lasts 1 ms.
    pub fn new(text: &str) -> Bench {
        Bench::with(text, Shortcuts::ALL)
    }

    /// As `new`, with these shortcuts only.
    pub fn with(text: &str, shortcuts: Shortcuts) -> Bench {
        Bench::of(scenario(&format!("duration = \"1ms\"\n{text}"), &[(0, 1, 1, 0)]), shortcuts)
    }

    /// The network and hosts of a scenario that has been read.
    pub fn of(scenario: Scenario, shortcuts: Shortcuts) -> Bench {
        let mut net = Network::new(&scenario);
        net.take_shortcuts(shortcuts, &scenario);
        Bench { hosts: Hosts::new(&scenario), net, scenario, next_flow: 0 }
    }

    /// Starts a flow now, and returns its place.
    pub fn start(&mut self, spec: FlowSpec) -> u32 {
        let id = self.next_flow;
        self.next_flow += 1;
        self.hosts.start_flow(&mut self.net, &self.scenario, id, spec);
        self.hosts.ends.slot_of(id).expect("it has just started")
    }

    /// Handles the next event. Returns its time in picoseconds, what it is, and the number of its
    /// line, flow or timer.
    pub fn step(&mut self) -> (u64, Kind, u32) {
        let event = self.net.events.pop().expect("something is still to happen");
        self.net.now = event.time;
        let Bench { scenario, net, hosts, .. } = self;
        let (kind, number) = Kind::of(event.key);
        match kind {
            Kind::Arrival => {
                if let Some((host, id)) = net.on_arrival(number) {
                    hosts.deliver(net, scenario, host, id);
                }
            }
            Kind::Wake => net.on_wake(number),
            Kind::Choose => net.on_choice(number),
            Kind::Expulsion => net.on_expulsion(number),
            Kind::Begun => hosts.on_begun(net, scenario, number),
            Kind::Clock => hosts.on_clock(net, scenario, number),
            Kind::AckDue => hosts.on_ack_due(net, scenario, number),
            Kind::FlowTimer => hosts.on_flow_timer(net, scenario, number),
            Kind::PolicyTimer => net.on_policy_timer(number),
            Kind::Pause => net.on_pause(number),
            Kind::PauseEnd => net.on_pause_end(number),
            Kind::PauseRenewal => net.on_pause_renewal(number),
            Kind::TakenIn => {
                if let Some(id) = net.on_taken_in(number) {
                    hosts.deliver(net, scenario, number, id);
                }
            }
            other => panic!("{other:?} is no event of a network or its hosts"),
        }
        (event.time.ps(), kind, number)
    }

    /// As `step`, for so many events.
    pub fn steps<const N: usize>(&mut self) -> [(u64, Kind, u32); N] {
        [(); N].map(|()| self.step())
    }

    /// Takes out all pending events. Nothing can happen after that.
    pub fn pending(&mut self) -> Vec<(u64, Kind, u32)> {
        let events = std::iter::from_fn(|| self.net.events.pop());
        let told = |event: spillway_engine::Event| {
            let (kind, number) = Kind::of(event.key);
            (event.time.ps(), kind, number)
        };
        events.map(told).collect()
    }

    /// Makes a packet without sending it.
    pub fn make(&mut self, packet: Packet, contents: Contents) -> PacketId {
        self.net.packets.insert(packet, contents)
    }

    /// The packets under way on a line, the first to arrive first.
    pub fn on_line(&self, line: u32) -> Vec<PacketId> {
        let first = Some(self.net.lines[line as usize].head);
        let next = |id: &PacketId| self.net.packets.get(*id).map(|packet| packet.next);
        std::iter::successors(first, next).take_while(|&id| id != NO_PACKET).collect()
    }

    /// The sizes of these packets.
    pub fn sizes_on_line(&self, line: u32) -> Vec<u32> {
        self.on_line(line).into_iter().map(|id| self.net.packets[id].size).collect()
    }

    /// When these packets arrive, in picoseconds.
    pub fn arrivals_on_line(&self, line: u32) -> Vec<u64> {
        self.on_line(line).into_iter().map(|id| self.net.packets[id].time.ps()).collect()
    }
}

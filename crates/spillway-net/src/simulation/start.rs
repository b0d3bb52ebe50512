//! Flows at their start: who they are, which way they go, and the least time that they need.

use super::Simulation;
use super::flows::Flow;
use crate::flow::FlowSpec;
use crate::ideal::{self, Packets};
use crate::routing::{PathChoice, Routing, path_links};
use crate::scenario::{SlowdownBase, Spreading};
use crate::topology::base_rtt;
use crate::transport::receiver::Receiver;
use crate::transport::sender::Sender;
use crate::transport::{Access, Transport};
use spillway_engine::{Rate, Stream, Time, mix};
use spillway_switch::packet::flags;

impl Simulation {
    /// A flow starts.
    pub(super) fn start_flow(&mut self, spec: FlowSpec) {
        let id = self.counters.flows_started as u32;
        self.counters.flows_started += 1;
        self.unfinished += 1;
        if spec.size == FlowSpec::ENDLESS {
            self.endless += 1;
        } else if spec.start >= self.scenario.warmup {
            self.counters.started_bytes += spec.size;
        }
        let place = self.scenario.class_transport[usize::from(spec.class)];
        let transport = &self.scenario.transports[usize::from(place)];
        let hash = |way: u64| {
            let ends = u64::from(spec.src) << 32 | u64::from(spec.dst);
            let seed = self.scenario.routing.hash_seed;
            (mix(mix(mix(seed) ^ ends) ^ (u64::from(id) << 1 | way)) >> 32) as u32
        };
        let nic_rate = self.nic_rate(spec.src);
        let explicit = |path: Option<u32>| path.map_or(0, |_| flags::EXPLICIT_PATH);
        let open_loop = transport.clock().is_some();
        let ect = if transport.ecn { flags::ECT } else { 0 };
        let datagram = if open_loop { flags::DATAGRAM } else { 0 };
        let telemetry = if transport.asks_telemetry() { flags::TELEMETRY } else { 0 };
        let there = Way {
            path: spec.path.unwrap_or_else(|| hash(0)),
            flags: ect | datagram | telemetry | explicit(spec.path),
        };
        let back = Way {
            path: spec.ack_path.unwrap_or_else(|| hash(1)),
            flags: flags::CONTROL | telemetry | explicit(spec.ack_path),
        };
        let base_rtt = match transport.measures_its_own_way() {
            true => self.unloaded_rtt(&spec, transport, there, back),
            false => self.scenario.base_rtt,
        };
        let access = Access { rate: nic_rate, base_rtt };
        let mut flow = Flow {
            spec,
            id,
            transport: place,
            path: there.path,
            ack_path: back.path,
            data_flags: there.flags,
            ack_flags: back.flags,
            sends_singly: transport.paces() || self.scenario.tells_senders(),
            packets: 0,
            completed_at: None,
            first_rtt_bytes: transport.first_rtt_bytes(nic_rate, self.scenario.base_rtt),
            host_backlog: transport.host_backlog(nic_rate, self.scenario.base_rtt),
            ideal: Time::ZERO,
            timer: Time::MAX,
            ack_timer: Time::MAX,
            pace_timer: Time::MAX,
            sender: Sender::new(spec.size, transport, &access),
            receiver: Receiver::default(),
            clock: open_loop.then(|| (Stream::new(self.scenario.seed, "clock", id.into()), 0)),
        };
        flow.ideal = self.ideal_of(&flow);
        let (handshake, slot) = (transport.handshake, self.flows.insert(flow));
        if open_loop {
            self.send_by_clock(slot);
        } else if handshake {
            self.send_syn(slot);
        } else {
            self.send_pieces(slot);
        }
    }

    /// The rate of a host's line.
    fn nic_rate(&self, host: u32) -> Rate {
        let topology = &self.scenario.topology;
        topology.links[topology.nics[host as usize] as usize].rate
    }

    /// What the flow's slowdown is relative to.
    fn ideal_of(&self, flow: &Flow) -> Time {
        let spec = &flow.spec;
        if spec.size == FlowSpec::ENDLESS {
            return Time::ZERO;
        }
        if self.scenario.slowdown_base == SlowdownBase::Published {
            let propagation = base_rtt(&self.scenario.topology, 0);
            return propagation + self.nic_rate(spec.src).time_of(spec.size);
        }
        let transport = &self.scenario.transports[usize::from(flow.transport)];
        let there = Way { path: flow.path, flags: flow.data_flags };
        let back = Way { path: flow.ack_path, flags: flow.ack_flags };
        let data = Packets::of(spec.size, transport.mss, transport.header);
        let mut ideal = self.least(spec.src, spec.dst, there, data);
        if transport.handshake {
            let control = control_packet(transport);
            ideal += self.least(spec.src, spec.dst, there, control);
            ideal += self.least(spec.dst, spec.src, back, control);
        }
        ideal
    }

    /// The round trip of a full packet and its ack where nothing else is on their way.
    fn unloaded_rtt(&self, spec: &FlowSpec, transport: &Transport, there: Way, back: Way) -> Time {
        let full = Packets { count: 1, full: 0, last: transport.full_packet().into() };
        let ack = control_packet(transport);
        self.least(spec.src, spec.dst, there, full) + self.least(spec.dst, spec.src, back, ack)
    }

    /// The least time that packets take on a way.
    fn least(&self, from: u32, to: u32, way: Way, packets: Packets) -> Time {
        let is_given = way.flags & flags::EXPLICIT_PATH != 0;
        let sprayed = self.scenario.routing.spreading == Spreading::Spray;
        // Where cables fail a flow may have to take any way.
        match is_given {
            _ if self.scenario.cables_fail() => self.least_time_any_way(from, to, None, packets),
            false if sprayed => {
                self.least_time_any_way(from, to, Some(&self.network.routing), packets)
            }
            false => self.least_time(from, to, PathChoice::Hash(way.path), packets),
            true => self.least_time(from, to, PathChoice::Path(way.path), packets),
        }
    }

    fn least_time(&self, from: u32, to: u32, choice: PathChoice, packets: Packets) -> Time {
        let ports = &self.network.ports;
        let pick = |switch: u32, hops: &[u32]| choice.pick(ports[switch as usize].seed, hops.len());
        let topology = &self.scenario.topology;
        let path = path_links(topology, &self.network.routing, from, to, pick);
        let path = path.expect("in a whole network every host reaches every other");
        ideal::least_time(&ideal::links(topology, &path), packets)
    }

    /// Packets that may go different ways: one packet on the fastest, and the others before it at
    /// the rate of the hosts' lines; or all of them through the narrowest stage, and as far as light
    /// goes. Without `routing` any way may be taken, and there are no stages.
    fn least_time_any_way(
        &self,
        from: u32,
        to: u32,
        routing: Option<&Routing>,
        packets: Packets,
    ) -> Time {
        let fastest = ideal::fastest(&self.scenario.topology, routing, from, to, packets.last);
        let fastest = fastest.expect("in a whole network every host reaches every other");
        let before = packets.full * (packets.count - 1);
        let slowest = self.nic_rate(from).time_of(before).max(self.nic_rate(to).time_of(before));
        let Some(routing) = routing else { return slowest + fastest };
        let topology = &self.scenario.topology;
        let light = ideal::fastest(topology, Some(routing), from, to, 0);
        let light = light.expect("there is a fastest way");
        let stages = ideal::narrowest(topology, routing, from, to, before + packets.last);
        (slowest + fastest).max(light + stages)
    }
}

/// What chooses a packet's way, and its flags.
#[derive(Clone, Copy, Debug)]
struct Way {
    path: u32,
    flags: u16,
}

/// An ack, or a packet of a handshake.
fn control_packet(transport: &Transport) -> Packets {
    Packets { count: 1, full: 0, last: transport.ack_size.into() }
}

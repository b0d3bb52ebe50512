//! How flows start: their paths, and the least time in which they can complete.

use super::Hosts;
use super::ends::{Driver, Outgoing, ReceivingEnd, SendingEnd};
use super::open_loop::Clock;
use crate::flow::FlowSpec;
use crate::ideal::{self, Packets};
use crate::network::Network;
use crate::routing::{PathChoice, Routing, path_lines};
use crate::scenario::{Scenario, SlowdownBase, Spreading};
use crate::topology::base_rtt;
use crate::transport::receiver::Receiver;
use crate::transport::sender::Sender;
use crate::transport::{Access, ClosedLoop, Transport};
use spillway_engine::{Rate, Time, mix};
use spillway_switch::packet::flags;

impl Hosts {
    /// Starts a flow, which gets this number.
    pub fn start_flow(&mut self, net: &mut Network, scenario: &Scenario, id: u32, spec: FlowSpec) {
        self.unfinished += 1;
        let place = scenario.class_transport[usize::from(spec.class)];
        let transport = scenario.transport(place);
        let ways = Ways { scenario, net };
        let (there, back) = ways.of_flow(id, &spec, transport);
        let rate = ways.nic_rate(spec.src);
        let ideal = ways.ideal_of(&spec, transport, there, back);
        let closed = transport.closed_loop();
        let driver = match closed {
            None => Driver::OpenLoop(Clock::new(scenario.seed, id)),
            Some(closed) => {
                let base_rtt = match closed.measures_its_own_way() {
                    true => ways.unloaded_rtt(&spec, transport, there, back),
                    false => scenario.base_rtt,
                };
                let access = Access { rate, base_rtt };
                Driver::ClosedLoop(Sender::new(spec.size, transport.mss, closed, &access))
            }
        };
        let flow = Outgoing {
            timer: Time::MAX,
            host_backlog: closed
                .map_or(Time::MAX, |closed| closed.host_backlog(rate, scenario.base_rtt)),
            id,
            packets: 0,
            path: there.path,
            first_rtt_bytes: transport.first_rtt_bytes(rate, scenario.base_rtt),
            transport: place,
            data_flags: there.flags,
            sends_singly: closed.is_some_and(ClosedLoop::paces) || scenario.tells_senders(),
            spec,
            pace_timer: Time::MAX,
            ideal,
        };
        let receiving = ReceivingEnd {
            receiver: Receiver::default(),
            size: spec.size,
            src: spec.src,
            ack_path: back.path,
            ack_flags: back.flags,
            transport: place,
            class: spec.class,
            packets: 0,
            completed_at: None,
            ack_timer: Time::MAX,
            dst: spec.dst,
            id,
        };
        let slot = self.ends.insert(SendingEnd { flow, driver }, receiving);
        match closed {
            None => self.send_by_clock(net, scenario, slot),
            Some(closed) if closed.handshake => self.send_syn(net, scenario, slot),
            Some(_) => self.send_pieces(net, scenario, slot),
        }
    }
}

/// Paths through a network, and how long they take.
struct Ways<'a> {
    scenario: &'a Scenario,
    net: &'a Network,
}

impl Ways<'_> {
    /// The paths of a flow's data and acks, with the flags of its packets.
    fn of_flow(&self, id: u32, spec: &FlowSpec, transport: &Transport) -> (Way, Way) {
        let hash = |way: u64| {
            let ends = u64::from(spec.src) << 32 | u64::from(spec.dst);
            let seed = self.scenario.routing.hash_seed;
            (mix(mix(mix(seed) ^ ends) ^ (u64::from(id) << 1 | way)) >> 32) as u32
        };
        let explicit = |path: Option<u32>| path.map_or(0, |_| flags::EXPLICIT_PATH);
        let driven = match transport.closed_loop() {
            None => flags::DATAGRAM,
            Some(closed) if closed.ecn => flags::ECT,
            Some(_) => 0,
        };
        let telemetry = if transport.asks_telemetry() { flags::TELEMETRY } else { 0 };
        let there = Way {
            path: spec.path.unwrap_or_else(|| hash(0)),
            flags: driven | telemetry | explicit(spec.path),
        };
        let back = Way {
            path: spec.ack_path.unwrap_or_else(|| hash(1)),
            flags: flags::CONTROL | telemetry | explicit(spec.ack_path),
        };
        (there, back)
    }

    /// The rate of a host's line.
    fn nic_rate(&self, host: u32) -> Rate {
        let topology = &self.scenario.topology;
        topology.lines[topology.nics[host as usize] as usize].rate
    }

    /// The time that the flow's slowdown is relative to.
    fn ideal_of(&self, spec: &FlowSpec, transport: &Transport, there: Way, back: Way) -> Time {
        if spec.size == FlowSpec::ENDLESS {
            return Time::ZERO;
        }
        if self.scenario.slowdown_base == SlowdownBase::Published {
            let propagation = base_rtt(&self.scenario.topology, 0);
            return propagation + self.nic_rate(spec.src).time_of(spec.size);
        }
        let data = Packets::of(spec.size, transport.mss, transport.header);
        let mut ideal = self.least(spec.src, spec.dst, there, data);
        if transport.closed_loop().is_some_and(|closed| closed.handshake) {
            let control = control_packet(transport);
            ideal += self.least(spec.src, spec.dst, there, control);
            ideal += self.least(spec.dst, spec.src, back, control);
        }
        ideal
    }

    /// The round trip of a full packet and its ack in the empty network.
    fn unloaded_rtt(&self, spec: &FlowSpec, transport: &Transport, there: Way, back: Way) -> Time {
        let full = Packets { count: 1, full: 0, last: transport.full_packet().into() };
        let ack = control_packet(transport);
        self.least(spec.src, spec.dst, there, full) + self.least(spec.dst, spec.src, back, ack)
    }

    /// The least time that packets need from one host to another.
    fn least(&self, from: u32, to: u32, way: Way, packets: Packets) -> Time {
        let is_given = way.flags & flags::EXPLICIT_PATH != 0;
        let sprayed = self.scenario.routing.spreading == Spreading::Spray;
        // Where links fail, a flow may have to take any path.
        match is_given {
            _ if self.scenario.links_fail() => self.least_time_any_way(from, to, None, packets),
            false if sprayed => self.least_time_any_way(from, to, Some(&self.net.routing), packets),
            false => self.least_time(from, to, PathChoice::Hash(way.path), packets),
            true => self.least_time(from, to, PathChoice::Path(way.path), packets),
        }
    }

    fn least_time(&self, from: u32, to: u32, choice: PathChoice, packets: Packets) -> Time {
        let ports = &self.net.ports;
        let pick = |switch: u32, hops: &[u32]| choice.pick(ports[switch as usize].seed, hops.len());
        let topology = &self.scenario.topology;
        let path = path_lines(topology, &self.net.routing, from, to, pick);
        let path = path.expect("in a whole network every host reaches every other");
        ideal::least_time(&ideal::lines(topology, &path), packets)
    }

    /// A lower bound for packets that may take different paths: the larger of two. One lets all
    /// packets but the last pass at the rate of the hosts' lines, and then the last one on the
    /// fastest path. The other adds up all packets' time at the narrowest stage and the least
    /// propagation delay. Without `routing` any path may be taken, and there are no stages.
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

/// What chooses a packet's path, and its flags.
#[derive(Clone, Copy, Debug)]
struct Way {
    path: u32,
    flags: u16,
}

/// The size of an ack or a packet of a handshake.
fn control_packet(transport: &Transport) -> Packets {
    Packets { count: 1, full: 0, last: transport.ack_size.into() }
}

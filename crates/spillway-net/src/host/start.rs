//! How flows start: their paths, and the least time in which they can complete.

use super::Hosts;
use super::connections::Idle;
use super::ends::{Driver, Outgoing, ReceivingEnd, Sending, SendingEnd};
use super::open_loop::Clock;
use super::priority::Held;
use crate::network::Network;
use crate::scenario::{Completion, Hash, Scenario, Spreading};
use spillway_engine::{Time, mix};
use spillway_switch::packet::flags;
use spillway_topology::ideal::{self, Packets};
use spillway_topology::routing::{PathChoice, Routing, murmur3, path_lines};
use spillway_topology::{LineId, LineSpec};
use spillway_transport::flow::FlowSpec;
use spillway_transport::receiver::Receiver;
use spillway_transport::sender::Sender;
use spillway_transport::{Access, ClosedLoop, Transport};

impl Hosts {
    /// Starts a flow, which gets this number, on a connection of its own or on one that is idle.
    pub fn start_flow(&mut self, net: &mut Network, scenario: &Scenario, id: u32, spec: FlowSpec) {
        let slot = self.prepare(net, scenario, id, spec, None);
        self.begin(net, scenario, slot);
    }

    /// Makes both ends of a flow that is about to begin, in a place that has been reserved for them
    /// or in any. Returns their place.
    pub fn prepare(
        &mut self,
        net: &mut Network,
        scenario: &Scenario,
        id: u32,
        spec: FlowSpec,
        reserved: Option<u32>,
    ) -> u32 {
        let place = scenario.class_transport[usize::from(spec.class)];
        let transport = scenario.transport(place);
        let leaves_open = transport.leaves_open();
        let idle = if leaves_open { self.connections.take(&spec) } else { None };
        let connection = idle.map_or(id, |idle| idle.connection);
        let hashed = match scenario.routing.hash {
            Hash::Multiplicative { seed, .. } => Hashed::Connection { seed, id: connection },
            Hash::Murmur3 => Hashed::Port(self.port_of(&spec, idle)),
        };
        let ways = Ways { scenario, net };
        let (there, back) = Ways::of_connection(hashed, &spec, transport);
        let &LineSpec { rate, whole_ns, .. } = ways.nic_line(spec.src);
        let closed = transport.closed_loop();
        let shakes_hands = idle.is_none() && closed.is_some_and(|closed| closed.handshake);
        let ideal = ways.ideal_of(&spec, transport, (there, back), shakes_hands);
        let base_rtt = ways.base_rtt(&spec, transport, there, back);
        let access = Access { rate, base_rtt, whole_ns, flow: Some(id) };
        let mut flow = Outgoing {
            timer: Time::MAX,
            host_backlog: closed
                .map_or(Time::MAX, |closed| closed.host_backlog(rate, scenario.base_rtt)),
            id,
            packets: 0,
            path: there.path,
            peer: 0,
            first_rtt_bytes: transport.first_rtt_bytes(rate, scenario.base_rtt),
            transport: place,
            data_flags: if closed.is_some_and(|closed| closed.times_from_nic) {
                there.flags | flags::TIMED_BY_NIC
            } else {
                there.flags
            },
            sending: closed
                .map_or(Sending::ByWindow, |closed| Sending::of(closed, scenario.tells_senders())),
            leaves_open,
            held: Held::NONE,
            spec,
            pace_timer: Time::MAX,
            handed_at: Time::MAX,
            first_byte: 0,
            ideal,
            acked_at: Time::MAX,
            connection,
            restart: None,
            timeouts: 0,
            lost: 0,
        };
        let climbs_to = if scenario.recording.climbing {
            transport.tagging.climbs_to(spec.bound, spec.size)
        } else {
            spec.size
        };
        let mut receiving = ReceivingEnd {
            receiver: Receiver::default(),
            awaits: if climbs_to == 0 { spec.size } else { climbs_to },
            size: spec.size,
            src: spec.src,
            peer: 0,
            ack_path: back.path,
            ack_flags: back.flags,
            transport: place,
            class: spec.class,
            packets: 0,
            arrived_twice: 0,
            completed_at: Time::MAX,
            climbed_at: if climbs_to == 0 { spec.start } else { Time::MAX },
            ack_timer: Time::MAX,
            dst: spec.dst,
            id,
        };
        let slot = match (idle, closed) {
            (Some(Idle { slot, since, .. }), Some(closed)) => {
                receiving.receiver = self.ends.receiving(slot).receiver.for_next_flow();
                let slot = self.ends.place_for_next(slot);
                if let Driver::ClosedLoop(sender) = &mut self.ends.sending_mut(slot).driver {
                    let idle = net.now - since;
                    flow.first_byte = sender.begin_next(net.now, idle, spec.size, closed, &access);
                }
                self.ends.renew(slot, flow, receiving);
                slot
            }
            (_, Some(closed)) => {
                let sender = Sender::new(spec.size, transport.mss, closed, &access);
                let slot = reserved.unwrap_or_else(|| self.ends.reserve());
                let sending = SendingEnd { flow, driver: Driver::ClosedLoop(sender) };
                self.ends.insert(slot, sending, receiving);
                slot
            }
            (_, None) => {
                let driver = Driver::OpenLoop(Clock::new(scenario.seed, id));
                let slot = reserved.unwrap_or_else(|| self.ends.reserve());
                self.ends.insert(slot, SendingEnd { flow, driver }, receiving);
                slot
            }
        };
        if self.names_connections {
            net.packets.name_connection(slot, connection);
        }
        slot
    }

    /// A flow sends its first packets.
    pub fn begin(&mut self, net: &mut Network, scenario: &Scenario, slot: u32) {
        self.unfinished = self.unfinished.wrapping_add(1);
        let SendingEnd { flow, driver } = self.ends.sending(slot);
        let is_first = flow.connection == flow.id;
        let closed = scenario.transport(flow.transport).closed_loop();
        let shakes_hands = is_first && closed.is_some_and(|closed| closed.handshake);
        match driver {
            Driver::OpenLoop(_) => self.send_by_clock(net, scenario, slot),
            Driver::ClosedLoop(_) if shakes_hands => self.send_syn(net, scenario, slot),
            Driver::ClosedLoop(_) => self.send_pieces(net, scenario, slot),
        }
    }
}

/// What the hashes of a connection are made of, apart from its hosts.
#[derive(Clone, Copy)]
enum Hashed {
    /// The number of the flow that opened it, and a seed.
    Connection { seed: u64, id: u32 },
    /// Its port.
    Port(u16),
}

impl Hashed {
    /// The value that chooses the path of a flow's data, or (`is_answer`) of the answers to them.
    fn path(self, spec: &FlowSpec, is_answer: bool) -> u32 {
        match self {
            Hashed::Connection { seed, id } => {
                let ends = u64::from(spec.src) << 32 | u64::from(spec.dst);
                let way = u64::from(id) << 1 | u64::from(is_answer);
                (mix(mix(mix(seed) ^ ends) ^ way) >> 32) as u32
            }
            Hashed::Port(port) => {
                let sender = if is_answer { spec.dst } else { spec.src };
                murmur3::path_of(sender, port, is_answer)
            }
        }
    }
}

/// Paths through a network, and how long they take.
struct Ways<'a> {
    scenario: &'a Scenario,
    net: &'a Network,
}

impl Ways<'_> {
    /// The paths of data and acks on a connection, with the flags of packets.
    fn of_connection(hashed: Hashed, spec: &FlowSpec, transport: &Transport) -> (Way, Way) {
        let explicit = |path: Option<u32>| path.map_or(0, |_| flags::EXPLICIT_PATH);
        let driven = match transport.closed_loop() {
            None => flags::DATAGRAM,
            Some(closed) if closed.ecn => flags::ECT,
            Some(_) => 0,
        };
        let telemetry = if transport.asks_telemetry() { flags::TELEMETRY } else { 0 };
        let numbered = if transport.numbers_packets() { flags::NUMBERED } else { 0 };
        let carried = telemetry | numbered;
        let there = Way {
            path: spec.path.unwrap_or_else(|| hashed.path(spec, false)),
            flags: driven | carried | explicit(spec.path),
        };
        let back = Way {
            path: spec.ack_path.unwrap_or_else(|| hashed.path(spec, true)),
            flags: flags::CONTROL | carried | explicit(spec.ack_path),
        };
        (there, back)
    }

    /// A host's line.
    fn nic_line(&self, host: u32) -> &LineSpec {
        let topology = &self.scenario.topology;
        &topology.lines[topology.nics[host as usize] as usize]
    }

    /// The least time in which the flow could complete.
    fn ideal_of(
        &self,
        spec: &FlowSpec,
        transport: &Transport,
        (there, back): (Way, Way),
        shakes_hands: bool,
    ) -> Time {
        if spec.size == FlowSpec::ENDLESS {
            return Time::ZERO;
        }
        let data = Packets::of(spec.size, transport.mss, transport.header);
        let mut ideal = self.least(spec.src, spec.dst, there, data);
        if shakes_hands {
            let control = control_packet(transport);
            ideal += self.least(spec.src, spec.dst, there, control);
            ideal += self.least(spec.dst, spec.src, back, control);
        }
        if self.scenario.completion == Completion::LastAck && transport.closed_loop().is_some() {
            ideal += self.least(spec.dst, spec.src, back, control_packet(transport));
        }
        ideal
    }

    /// The base RTT with which the flow's transport compares its round trips.
    fn base_rtt(&self, spec: &FlowSpec, transport: &Transport, there: Way, back: Way) -> Time {
        if transport.closed_loop().is_some_and(ClosedLoop::measures_its_own_way) {
            self.unloaded_rtt(spec, transport, there, back)
        } else {
            self.scenario.base_rtt
        }
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
        // If links fail, a flow may have to take any path.
        match is_given {
            _ if self.scenario.links_fail() => self.least_time_any_way(from, to, None, packets),
            false if sprayed => self.least_time_any_way(from, to, Some(&self.net.routing), packets),
            false => self.least_time(from, to, self.by_hash(way.path, to), packets),
            true => self.least_time(from, to, PathChoice::Path(way.path), packets),
        }
    }

    /// How switches choose for a packet to host `dst` whose path is not given.
    fn by_hash(&self, path: u32, dst: u32) -> PathChoice {
        match self.scenario.routing.hash {
            Hash::Multiplicative { .. } => PathChoice::Hash(path),
            Hash::Murmur3 => PathChoice::Murmur3(path, dst),
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

    /// A lower bound for packets that may take different paths. It is the larger of two bounds. The
    /// first lets all packets but the last pass at the rate of the hosts' lines, and then sends the
    /// last one on the fastest path. The second adds up the time of all packets at the narrowest
    /// stage and the least propagation delay. Without `routing` any path may be taken, and there
    /// are no stages.
    fn least_time_any_way(
        &self,
        from: u32,
        to: u32,
        routing: Option<&Routing>,
        packets: Packets,
    ) -> Time {
        let fastest = ideal::fastest(&self.scenario.topology, routing, from, to, packets.last);
        let fastest = fastest.expect("in a whole network every host reaches every other");
        let topology = &self.scenario.topology;
        let (sends, receives) = (topology.nics[from as usize], topology.nics[to as usize] ^ 1);
        let before = |line: LineId| {
            topology.lines[line as usize].time_of(packets.full) * (packets.count - 1)
        };
        let slowest = before(sends).max(before(receives));
        let Some(routing) = routing else { return slowest + fastest };
        let light = ideal::fastest(topology, Some(routing), from, to, 0);
        let light = light.expect("there is a fastest way");
        let stages = ideal::narrowest(topology, routing, from, to, packets);
        (slowest + fastest).max(light + stages)
    }
}

/// A packet's path and its flags.
#[derive(Clone, Copy, Debug)]
struct Way {
    path: u32,
    flags: u16,
}

/// The size of an ack or a packet of a handshake.
fn control_packet(transport: &Transport) -> Packets {
    Packets { count: 1, full: 0, last: transport.ack_size.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Kind;
    use crate::port::Shortcuts;
    use crate::testing::{Bench, NS, STAR, US, flow, scenario, transport};

    fn bench(more: &str, kind: &str, of_transport: &str) -> Bench {
        Bench::new(&format!("{more}\n{STAR}\n{}", transport(kind, of_transport)))
    }

    #[test]
    fn both_ends_know_their_flow_and_not_more() {
        let mut bench = bench("", "dctcp", "");
        let other = bench.start(flow(1, 2, 960));
        let spec = FlowSpec { path: Some(7), ack_path: Some(8), ..flow(0, 2, 5_000) };
        let slot = bench.start(spec);
        assert_eq!((other, slot, bench.hosts.unfinished), (0, 1, 2));
        let (sending, receiving) =
            (bench.hosts.ends.sending(slot), bench.hosts.ends.receiving(slot));
        let flow = &sending.flow;
        assert_eq!((flow.id, flow.path, flow.spec), (1, 7, spec));
        assert_eq!(flow.data_flags, flags::ECT | flags::EXPLICIT_PATH);
        assert_eq!((receiving.id, receiving.size, receiving.ack_path), (1, 5_000, 8));
        assert_eq!((receiving.src, receiving.dst), (0, 2));
        assert_eq!(receiving.ack_flags, flags::CONTROL | flags::EXPLICIT_PATH);
        assert_eq!((receiving.completed_at, receiving.packets), (Time::MAX, 0));
    }

    #[test]
    fn the_hash_of_a_path_depends_on_the_flow_its_direction_and_the_seed() {
        let paths = |seed: u64| {
            let routing = format!("routing = {{ hash_seed = {seed} }}");
            let mut bench = bench(&routing, "newreno", "");
            // Two flows between the same hosts, and one the other way.
            let slots = [flow(0, 1, 960), flow(0, 1, 960), flow(1, 0, 960)].map(|f| bench.start(f));
            let ends = &bench.hosts.ends;
            slots.map(|slot| [ends.sending(slot).flow.path, ends.receiving(slot).ack_path]).concat()
        };
        let mut all = [paths(1), paths(2)].concat();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 12, "all differ");
        assert_eq!(paths(1), paths(1));
        // The first flow of a run, one way and the other.
        let first = |spec: FlowSpec| {
            let mut bench = bench("", "newreno", "");
            let slot = bench.start(spec);
            bench.hosts.ends.sending(slot).flow.path
        };
        assert_ne!(first(flow(0, 1, 960)), first(flow(1, 0, 960)));
    }

    /// The flow runs to its end and is removed. Returns its place. An ack comes after two lines
    /// there and two back.
    fn run_to_the_end(bench: &mut Bench) -> u32 {
        loop {
            bench.step();
            if let Some(slot) = bench.hosts.take_over() {
                bench.hosts.remove(slot);
                return slot;
            }
        }
    }

    #[test]
    fn flows_of_a_connection_have_its_path_and_place_and_numbers_of_their_own() {
        let mut bench = bench("", "newreno", "connections = \"open\"");
        let told = |bench: &Bench, slot: u32| {
            let (sending, receiving) =
                (bench.hosts.ends.sending(slot), bench.hosts.ends.receiving(slot));
            let flow = &sending.flow;
            assert_eq!((flow.id, flow.spec.size), (receiving.id, receiving.size));
            assert_eq!(receiving.receiver.next(), 0);
            ((flow.path, receiving.ack_path, flow.connection), flow.id, flow.first_byte)
        };
        let first = bench.start(flow(0, 1, 960));
        let of_first = told(&bench, first);
        assert_eq!((of_first.0.2, of_first.1, of_first.2), (0, 0, 0));
        assert_eq!(run_to_the_end(&mut bench), first);
        assert_eq!(bench.hosts.ends.slot_of(0), None);
        // The next flow between other hosts gets another place, though this one has no flow.
        assert_eq!(bench.start(flow(0, 2, 960)), 1);
        let second = bench.start(flow(0, 1, 100));
        assert_eq!((second, told(&bench, second)), (first, (of_first.0, 2, 960)));
        assert_eq!(bench.net.packets.contents(bench.on_line(0)[1]).seq, 0);
        let [id] = bench.on_line(0)[1..] else { panic!("two packets") };
        assert_eq!(
            (bench.net.packets.connection_of(id), bench.net.packets.contents(id).flow),
            (0, 2)
        );
        // At the same time a third flow opens a connection.
        let third = bench.start(flow(0, 1, 960));
        assert_eq!((third, told(&bench, third).0.2), (2, 3));
        assert_ne!(told(&bench, third).0.0, of_first.0.0);
    }

    #[test]
    fn a_path_that_a_list_gives_is_the_flow_s() {
        let mut bench = bench("", "newreno", "connections = \"open\"");
        let given = |path| FlowSpec { path, ack_path: path, ..flow(0, 1, 960) };
        bench.start(given(Some(5)));
        run_to_the_end(&mut bench);
        let mut next = |path| {
            let slot = bench.start(given(path));
            let told = bench.hosts.ends.sending(slot).flow.connection;
            run_to_the_end(&mut bench);
            told
        };
        // 5 is the first one's connection; another path, or none, opens one.
        assert_eq!([Some(5), Some(6), None, Some(5), None].map(&mut next), [0, 2, 3, 0, 3]);
    }

    #[test]
    fn a_transport_decides_what_goes_first_and_with_which_flags() {
        let first = |kind: &str, more: &str| {
            let mut bench = bench("", kind, more);
            let slot = bench.start(flow(0, 1, 3 * 960));
            let of = |id: u32| bench.net.packets[id].flags;
            let flags: Vec<u16> = bench.on_line(0).into_iter().map(of).collect();
            (flags, bench.hosts.ends.receiving(slot).ack_flags)
        };
        let (first_rtt, control) = (flags::FIRST_RTT, flags::CONTROL);
        // The window of ten segments lets all three go; without ECN they have no flags of their
        // own.
        assert_eq!(first("newreno", "ecn = false"), (vec![first_rtt; 3], control));
        // A clock sends one, and a pace too.
        let datagram = flags::DATAGRAM | first_rtt;
        assert_eq!(first("udp", ""), (vec![datagram], control));
        let telemetry = flags::TELEMETRY;
        let (sent, ack_flags) = first("hpcc", "ecn = false");
        assert_eq!((sent, ack_flags), (vec![telemetry | first_rtt], control | telemetry));
        let request = control | flags::SYN;
        assert_eq!(first("newreno", "handshake = true"), (vec![request], control));
    }

    #[test]
    fn a_flow_has_the_transport_of_its_class() {
        // Classes are numbered in the order of sections: 0 has datagrams, 1 the default transport.
        let text = format!(
            "duration = \"1ms\"\n{STAR}\n{}\n[[traffic]]\nname = \"first\"\nkind = \"permutation\"\n\
             size = \"1KB\"\ntransport = \"udp\"\nmss = \"500B\"",
            transport("newreno", "initial_window = \"2pkt\"")
        );
        let mut bench = Bench::of(scenario(&text, &[(0, 1, 1, 0)]), Shortcuts::ALL);
        let first = bench.start(flow(0, 1, 3_000));
        let second = bench.start(FlowSpec { class: 1, ..flow(1, 0, 3_000) });
        let classes = [first, second].map(|slot| bench.hosts.ends.receiving(slot).class);
        assert_eq!(classes, [0, 1]);
        assert!(bench.hosts.ends.sending(first).sender().is_none());
        assert!(bench.hosts.ends.sending(second).sender().is_some());
        // Packets of 500 and of 960 bytes, both with 40 bytes of headers.
        assert_eq!(bench.sizes_on_line(0), [540]);
        assert_eq!(bench.sizes_on_line(1), [1_000, 1_000]);
    }

    /// 2,000 bytes are packets of 1,000, 1,000 and 120 bytes. The first is on the second line from
    /// 11 to 12 us, the second until 13, and the third, there since 12.12 us, until 13.12 us.
    #[test]
    fn the_base_of_the_slowdown_is_the_least_time() {
        let ideal = |more: &str, of_transport: &str| {
            let mut bench = bench(more, "newreno", of_transport);
            let slot = bench.start(flow(0, 1, 2_000));
            bench.hosts.ends.sending(slot).flow.ideal.ps()
        };
        assert_eq!(ideal("", ""), 23_120 * NS);
        // A request and its answer: 2 * 2 * (0.05 + 10) us.
        assert_eq!(ideal("", "handshake = true"), 23_120 * NS + 40_200 * NS);
        assert_eq!(ideal("slowdown_base = \"published\"", ""), 23_120 * NS);
        // Where links fail, no path is certain: 2,000 bytes on the host's line, and then the last
        // packet, 2 * (0.12 + 10) us.
        let fails = "[[event]]\nkind = \"link-down\"\na = \"host2\"\nb = \"leaf0\"\nat = \"1us\"";
        let text = format!("duration = \"1ms\"\n{STAR}\n{}\n{fails}", transport("newreno", ""));
        let mut bench = Bench::of(scenario(&text, &[(0, 1, 1, 0)]), Shortcuts::ALL);
        let slot = bench.start(flow(0, 1, 2_000));
        assert_eq!(bench.hosts.ends.sending(slot).flow.ideal.ps(), 22_240 * NS);
        let endless = bench.start(flow(0, 1, FlowSpec::ENDLESS));
        assert_eq!(bench.hosts.ends.sending(endless).flow.ideal, Time::ZERO);
    }

    /// Hosts 0 and 1 are on one leaf: a packet of 1,000 bytes takes 2 * (1 + 10) us, and an ack
    /// 2 * (0.05 + 10) us. The network's base RTT is 8 * 10 + 1 us. A byte takes 1 ns.
    #[test]
    fn a_base_rtt_is_that_of_the_path_or_of_the_network() {
        let leaf_spine = "topology = { kind = \"leaf-spine\", leaves = 2, hosts_per_leaf = 2, \
                          spines = 1, host_rate = \"8Gbps\", fabric_rate = \"8Gbps\", \
                          link_delay = \"10us\" }";
        let window = |of: &str| {
            let more = format!("telemetry_bytes = \"0B\", base_rtt = \"{of}\"");
            let mut bench = Bench::new(&format!("{leaf_spine}\n{}", transport("hpcc", &more)));
            let slot = bench.start(flow(0, 1, 100_000));
            bench.hosts.ends.sending(slot).sender().unwrap().window().cwnd
        };
        assert_eq!(window("flow"), 22_000 + 20_100);
        assert_eq!(window("network"), 81_000);
    }

    #[test]
    fn a_flow_of_a_clock_asks_for_its_next_packet() {
        // 1 Gbps: a packet of 1,000 bytes every 8 us.
        let mut bench = bench("", "udp", "rate = \"1Gbps\"");
        bench.net.now = Time::from_us(3);
        bench.start(flow(0, 1, 2 * 960));
        assert_eq!(bench.step(), (11 * US, Kind::Clock, 0));
        assert_eq!(bench.net.totals.made_packets, 2);
    }
}

//! Flows at their hosts: starting, sending, receiving, acknowledging, ending.

use super::Simulation;
use super::key::{Kind, flow_key};
use crate::flow::FlowSpec;
use crate::flows::Flow;
use crate::ideal;
use crate::record::{FlowTable, Outcome};
use crate::routing::path_links;
use crate::scenario::{SlowdownBase, Spreading};
use crate::transport::receiver::{AckFields, Receiver, Segment};
use crate::transport::sender::{AckSegment, Piece, Sender};
use crate::transport::{Control, Transport};
use spillway_engine::{Stream, Time, mix};
use spillway_switch::packet::{NO_PRIORITY, Packet, PacketId, flags};

/// Bits of a flow number that an event's key carries.
const KEY_FLOW_BITS: u32 = 0x0fff_ffff;

impl Simulation {
    pub(super) fn start_flow(&mut self, spec: FlowSpec) {
        let id = self.counters.flows_started as u32;
        self.counters.flows_started += 1;
        self.unfinished += 1;
        let class = usize::from(spec.class);
        if spec.size == FlowSpec::ENDLESS {
            self.endless += 1;
        } else if spec.start >= self.scenario.warmup {
            self.counters.started_bytes += spec.size;
        }
        let place = self.scenario.class_transport[class];
        let transport = &self.scenario.transports[usize::from(place)];
        let hash = |way: u64| {
            let ends = u64::from(spec.src) << 32 | u64::from(spec.dst);
            let seed = self.scenario.routing.hash_seed;
            (mix(mix(mix(seed) ^ ends) ^ (u64::from(id) << 1 | way)) >> 32) as u32
        };
        let explicit = |path: Option<u32>| path.map_or(0, |_| flags::EXPLICIT_PATH);
        let ect = if transport.ecn { flags::ECT } else { 0 };
        let open_loop = matches!(transport.control, Control::Udp(_));
        let datagram = if open_loop { flags::DATAGRAM } else { 0 };
        let nic =
            &self.scenario.topology.links[self.scenario.topology.nics[spec.src as usize] as usize];
        let seed = self.scenario.seed;
        let mut flow = Flow {
            spec,
            id,
            transport: place,
            path: spec.path.unwrap_or_else(|| hash(0)),
            ack_path: spec.ack_path.unwrap_or_else(|| hash(1)),
            data_flags: ect | datagram | explicit(spec.path),
            ack_flags: flags::CONTROL | explicit(spec.ack_path),
            packets: 0,
            completed_at: None,
            first_rtt_bytes: transport.first_rtt_bytes(nic.rate, self.scenario.base_rtt),
            ideal: Time::ZERO,
            timer: Time::MAX,
            sender: Sender::new(spec.size, transport),
            receiver: Receiver::default(),
            clock: open_loop.then(|| (Stream::new(seed, "clock", id.into()), 0)),
        };
        flow.ideal = self.ideal_of(&flow);
        let (handshake, slot) = (transport.handshake, self.flows.insert(flow));
        if open_loop {
            self.on_clock(id & KEY_FLOW_BITS, slot);
        } else if handshake {
            self.send_syn(slot);
        } else {
            self.send_pieces(slot);
        }
    }

    /// What the flow's slowdown is relative to.
    fn ideal_of(&self, flow: &Flow) -> Time {
        let spec = &flow.spec;
        if spec.size == FlowSpec::ENDLESS {
            return Time::ZERO;
        }
        let transport = &self.scenario.transports[usize::from(flow.transport)];
        let topology = &self.scenario.topology;
        if self.scenario.slowdown_base == SlowdownBase::Published {
            let nic = &topology.links[topology.nics[spec.src as usize] as usize];
            return self.published_rtt() + nic.rate.time_of(spec.size);
        }
        let packets = ideal::Packets::of(spec.size, transport.mss, transport.header);
        let control = ideal::Packets { count: 1, full: 0, last: transport.ack_size.into() };
        let least = |path: u32, flags: u16, src: u32, dst: u32, packets| {
            let link_ids = self.path_of(path, flags, src, dst)?;
            Some(ideal::least_time(&ideal::links(topology, &link_ids), packets))
        };
        let ways: Vec<u32> = match self.scenario.routing.spreading {
            Spreading::Spray if flow.data_flags & flags::EXPLICIT_PATH == 0 => {
                return self.ideal_of_sprayed(flow, transport, packets, control);
            }
            _ => vec![flow.path],
        };
        let (src, dst) = (spec.src, spec.dst);
        let data = least(ways[0], flow.data_flags, src, dst, packets);
        let Some(data) = data else { return Time::from_ps(1) };
        if !transport.handshake {
            return data;
        }
        let there = least(flow.path, flow.data_flags, src, dst, control);
        let back = least(flow.ack_path, flow.ack_flags, dst, src, control);
        data + there.unwrap_or_default() + back.unwrap_or_default()
    }

    /// Under spraying: the least propagation and store-and-forward of any way for one packet, and
    /// the rate of the hosts' lines for the rest, which no cut between them exceeds.
    fn ideal_of_sprayed(
        &self,
        flow: &Flow,
        transport: &Transport,
        packets: ideal::Packets,
        control: ideal::Packets,
    ) -> Time {
        let topology = &self.scenario.topology;
        let (src, dst) = (flow.spec.src, flow.spec.dst);
        let fastest = |src: u32, dst: u32, packets: ideal::Packets| {
            let ways = 0..64;
            let times = ways.filter_map(|way| {
                let links = self.path_of(way, flags::EXPLICIT_PATH, src, dst)?;
                Some(ideal::least_time(&ideal::links(topology, &links), packets))
            });
            times.min().unwrap_or_default()
        };
        let last = ideal::Packets { count: 1, ..packets };
        let slower = |a: u32, b: u32| {
            let rate = |link: u32| topology.links[link as usize].rate;
            let (a, b) = (rate(topology.nics[a as usize]), rate(topology.nics[b as usize] ^ 1));
            if a.ps_per_byte() > b.ps_per_byte() { a } else { b }
        };
        let before = slower(src, dst).time_of(packets.full * (packets.count - 1));
        let mut ideal = before + fastest(src, dst, last);
        if transport.handshake {
            ideal += fastest(src, dst, control) + fastest(dst, src, control);
        }
        ideal
    }

    fn path_of(&self, path: u32, packet_flags: u16, src: u32, dst: u32) -> Option<Vec<u32>> {
        use crate::routing::PathChoice;
        let choice = match packet_flags & flags::EXPLICIT_PATH {
            0 => PathChoice::Hash(path),
            _ => PathChoice::Path(path),
        };
        let pick =
            |switch: u32, hops: &[u32]| choice.pick(self.switch_seeds[switch as usize], hops.len());
        path_links(&self.scenario.topology, &self.routing, src, dst, pick)
    }

    /// The round trip of propagation alone, as published figures use it.
    fn published_rtt(&self) -> Time {
        crate::topology::base_rtt(&self.scenario.topology, 0)
    }

    /// A packet has arrived at a host.
    #[inline]
    pub(super) fn deliver(&mut self, host: u32, id: PacketId) {
        let packet = &self.packets[id];
        self.counters.totals.arrived_packets += 1;
        self.counters.totals.arrived_bytes += u64::from(packet.size);
        if packet.flags & flags::CONTROL == 0 {
            self.on_data(host, id);
        } else if packet.flags & flags::SYN == 0 {
            self.on_ack(id);
        } else {
            self.on_syn(host, id);
        }
    }

    #[inline]
    fn on_data(&mut self, host: u32, id: PacketId) {
        let packet = self.packets[id];
        let slot = packet.slot;
        let flow = &mut self.flows[slot];
        let transport = &self.scenario.transports[usize::from(flow.transport)];
        let segment = Segment {
            seq: packet.seq,
            payload: packet.payload,
            ce: packet.flags & flags::CE != 0,
            cwr: packet.flags & flags::CWR != 0,
            sent_at: packet.sent_at,
        };
        let mut acks = [None; 2];
        let mut count = 0;
        let now = self.now;
        let new = flow.receiver.on_segment(now, &segment, &transport.acks, |ack| {
            acks[count] = Some(ack);
            count += 1;
        });
        if now >= self.scenario.warmup && now < self.scenario.duration {
            self.counters.delivered_bytes[usize::from(flow.spec.class)] += new;
        }
        let arrived_all = flow.receiver.next() >= flow.spec.size;
        if packet.flags & flags::DATAGRAM != 0 {
            self.packets.remove(id);
            self.flows[slot].packets -= 1;
            if arrived_all {
                self.complete(slot);
            }
            self.release_if_over(slot);
            return;
        }
        if arrived_all && flow.completed_at.is_none() {
            self.complete(slot);
        }
        let flow = &mut self.flows[slot];
        if let Some(deadline) = flow.receiver.ack_deadline {
            let flow_id = flow.id;
            self.events.push(deadline, flow_key(Kind::AckDue, flow_id, slot));
        }
        match acks {
            [None, _] => {
                self.flows[slot].packets -= 1;
                self.packets.remove(id);
            }
            [Some(ack), None] => self.reply(host, id, &ack),
            [Some(first), Some(second)] => {
                let extra = self.packets.insert(packet);
                self.flows[slot].packets += 1;
                self.reply(host, extra, &first);
                self.reply(host, id, &second);
            }
        }
    }

    /// Turns a packet that has arrived into an ack and sends it back.
    #[inline]
    fn reply(&mut self, host: u32, id: PacketId, ack: &AckFields) {
        let packet = &mut self.packets[id];
        let flow = &self.flows[packet.slot];
        let size = self.scenario.transports[usize::from(flow.transport)].ack_size;
        let echo = if ack.ece { flags::ECE } else { 0 };
        packet.flags = flow.ack_flags | echo;
        packet.size = size;
        packet.dst = flow.spec.src;
        packet.path = flow.ack_path;
        packet.priority = NO_PRIORITY;
        packet.seq = ack.seq;
        packet.sent_at = ack.sent_at;
        packet.payload = 0;
        if let Some(blocks) = ack.sack {
            packet.flags |= flags::SACK;
            if self.sacks.len() <= id as usize {
                self.sacks.resize(id as usize + 1, Default::default());
            }
            self.sacks[id as usize] = blocks;
        }
        self.counters.totals.made_packets += 1;
        self.counters.totals.made_bytes += u64::from(size);
        self.send(host, id);
    }

    #[inline]
    fn on_ack(&mut self, id: PacketId) {
        let packet = &self.packets[id];
        let slot = packet.slot;
        let sack = match packet.flags & flags::SACK {
            0 => None,
            _ => Some(&self.sacks[id as usize]),
        };
        let ack = AckSegment {
            seq: packet.seq,
            ece: packet.flags & flags::ECE != 0,
            sent_at: packet.sent_at,
            sack,
        };
        let flow = &mut self.flows[slot];
        let transport = &self.scenario.transports[usize::from(flow.transport)];
        flow.packets -= 1;
        flow.sender.on_ack(self.now, &ack, transport);
        let done = flow.sender.is_done();
        self.packets.remove(id);
        if done {
            self.release_if_over(slot);
        } else {
            self.send_pieces(slot);
        }
    }

    /// Sends what the sender's window allows, and sets its timer.
    #[inline]
    fn send_pieces(&mut self, slot: u32) {
        loop {
            let flow = &mut self.flows[slot];
            if flow.spec.size == FlowSpec::ENDLESS && self.is_stopped(slot) {
                break;
            }
            let flow = &mut self.flows[slot];
            let transport = &self.scenario.transports[usize::from(flow.transport)];
            let Some(piece) = flow.sender.next_piece(self.now, transport) else { break };
            self.send_piece(slot, piece);
        }
        self.set_timer(slot);
    }

    /// Whether an endless flow's time is over: it sends nothing new then.
    #[cold]
    fn is_stopped(&mut self, slot: u32) -> bool {
        let flow = &self.flows[slot];
        self.now >= self.scenario.class_stop[usize::from(flow.spec.class)]
    }

    #[inline]
    fn send_piece(&mut self, slot: u32, piece: Piece) {
        let flow = &mut self.flows[slot];
        let transport = &self.scenario.transports[usize::from(flow.transport)];
        let first = if piece.seq < flow.first_rtt_bytes { flags::FIRST_RTT } else { 0 };
        let again = if piece.again { flags::RETRANSMISSION } else { 0 };
        let cut = match std::mem::take(&mut flow.sender.tells_cut) {
            true => flags::CWR,
            false => 0,
        };
        self.counters.retransmitted_packets += u64::from(piece.again);
        let remaining = flow.spec.size - piece.seq;
        let packet = Packet {
            next: 0,
            prev: 0,
            time: self.now,
            size: piece.payload + transport.header,
            dst: flow.spec.dst,
            path: flow.path,
            flags: flow.data_flags | first | again | cut,
            priority: flow.spec.priority.unwrap_or(NO_PRIORITY),
            class: 0,
            flow: flow.id,
            slot,
            seq: piece.seq,
            sent_at: self.now,
            payload: piece.payload,
            remaining: remaining.min(u64::from(u32::MAX)) as u32,
        };
        let src = flow.spec.src;
        self.launch(src, packet);
    }

    /// A new packet goes out of a host.
    #[inline]
    fn launch(&mut self, host: u32, packet: Packet) {
        self.counters.totals.made_packets += 1;
        self.counters.totals.made_bytes += u64::from(packet.size);
        self.flows[packet.slot].packets += 1;
        let id = self.packets.insert(packet);
        self.send(host, id);
    }

    #[inline]
    fn set_timer(&mut self, slot: u32) {
        let flow = &mut self.flows[slot];
        let deadline = flow.sender.deadline();
        // Lazily: one event is pending, and if it comes too early it goes on.
        if deadline < flow.timer {
            flow.timer = deadline;
            self.events.push(deadline, flow_key(Kind::FlowTimer, flow.id, slot));
        }
    }

    /// The flow's event is due: the timer has run out, or was put off meanwhile.
    pub(super) fn on_flow_timer(&mut self, id: u32, slot: u32) {
        let now = self.now;
        let Some(flow) = self.flows.find(slot, id, KEY_FLOW_BITS) else { return };
        if flow.timer != now {
            return;
        }
        flow.timer = Time::MAX;
        if flow.sender.deadline() <= now && !flow.sender.is_done() {
            let transport = &self.scenario.transports[usize::from(flow.transport)];
            let timeouts = flow.sender.timeouts;
            let probe = flow.sender.on_deadline(now, transport);
            self.counters.timeouts += u64::from(flow.sender.timeouts - timeouts);
            if let Some(piece) = probe {
                self.send_piece(slot, piece);
            } else if self.flows[slot].sender.is_connecting() {
                self.send_syn(slot);
                return;
            }
        }
        self.send_pieces(slot);
    }

    pub(super) fn on_ack_due(&mut self, id: u32, slot: u32) {
        let now = self.now;
        let Some(flow) = self.flows.find(slot, id, KEY_FLOW_BITS) else { return };
        if flow.receiver.ack_deadline != Some(now) {
            return;
        }
        if let Some(ack) = flow.receiver.delayed_ack() {
            let packet = Packet { slot, flow: flow.id, ..Packet::default() };
            flow.packets += 1;
            let host = flow.spec.dst;
            let id = self.packets.insert(packet);
            self.reply(host, id, &ack);
        }
    }

    /// Asks for a connection.
    fn send_syn(&mut self, slot: u32) {
        let flow = &mut self.flows[slot];
        let transport = &self.scenario.transports[usize::from(flow.transport)];
        flow.sender.on_connect(self.now, transport);
        let explicit = flow.data_flags & flags::EXPLICIT_PATH;
        let packet = Packet {
            size: transport.ack_size,
            dst: flow.spec.dst,
            path: flow.path,
            flags: flags::CONTROL | flags::SYN | explicit,
            priority: NO_PRIORITY,
            flow: flow.id,
            slot,
            sent_at: self.now,
            ..Packet::default()
        };
        let src = flow.spec.src;
        self.launch(src, packet);
        self.set_timer(slot);
    }

    /// A request for a connection is answered; an answer opens it.
    fn on_syn(&mut self, host: u32, id: PacketId) {
        let slot = self.packets[id].slot;
        let flow = &mut self.flows[slot];
        if host == flow.spec.dst {
            let ack =
                AckFields { seq: 0, ece: false, sent_at: self.packets[id].sent_at, sack: None };
            self.reply_syn(host, id, &ack);
            return;
        }
        flow.packets -= 1;
        let sent_at = self.packets[id].sent_at;
        self.packets.remove(id);
        flow.sender.on_connected(self.now, sent_at);
        if flow.sender.is_done() {
            self.release_if_over(slot);
        } else {
            self.send_pieces(slot);
        }
    }

    fn reply_syn(&mut self, host: u32, id: PacketId, ack: &AckFields) {
        let slot = self.packets[id].slot;
        self.flows[slot].ack_flags |= flags::SYN;
        self.reply(host, id, ack);
        self.flows[slot].ack_flags &= !flags::SYN;
    }

    /// An open-loop flow sends its next packet.
    pub(super) fn on_clock(&mut self, id: u32, slot: u32) {
        let now = self.now;
        let Some(flow) = self.flows.find(slot, id, KEY_FLOW_BITS) else { return };
        let transport = &self.scenario.transports[usize::from(flow.transport)];
        let Control::Udp(udp) = transport.control else { return };
        let stop = self.scenario.class_stop[usize::from(flow.spec.class)];
        let Some((random, next)) = &mut flow.clock else { return };
        if flow.spec.size == FlowSpec::ENDLESS && now >= stop {
            return;
        }
        let payload = u64::from(transport.mss).min(flow.spec.size - *next);
        let piece = Piece { seq: *next, payload: payload as u32, again: false };
        *next += payload;
        if *next < flow.spec.size {
            let gap = udp.gap(payload as u32 + transport.header, random);
            let flow_id = flow.id;
            self.events.push(now + gap, flow_key(Kind::Clock, flow_id, slot));
        }
        self.send_piece(slot, piece);
    }

    /// The last byte has arrived.
    #[cold]
    fn complete(&mut self, slot: u32) {
        let flow = &mut self.flows[slot];
        if flow.completed_at.is_some() {
            return;
        }
        flow.completed_at = Some(self.now);
        self.unfinished -= 1;
        self.counters.flows_completed += 1;
    }

    /// If nothing of a flow will happen any more: writes its row and gives back its place.
    #[inline]
    pub(super) fn release_if_over(&mut self, slot: u32) {
        if self.flows[slot].is_over() {
            self.release(slot);
        }
    }

    #[cold]
    fn release(&mut self, slot: u32) {
        if self.flows[slot].completed_at.is_none() {
            // Open loop, and some of it was lost.
            self.unfinished -= 1;
        }
        self.write_row(slot);
        self.flows.remove(slot);
    }

    /// Writes the row of a flow that is over, or as it is at the end of the run.
    pub(super) fn write_row(&mut self, slot: u32) {
        let row = self.row_of(&self.flows[slot]);
        let (spec, outcome, retransmitted, timeouts, id, delivered) = row;
        let flows = &mut self.record.flows;
        let fct = if outcome.complete { outcome.fct.ps() } else { FlowTable::UNFINISHED };
        flows.flow_id.push(id);
        flows.src.push(spec.src);
        flows.dst.push(spec.dst);
        flows.size_bytes.push(if spec.size == FlowSpec::ENDLESS { 0 } else { spec.size });
        flows.class.push(spec.class);
        flows.priority.push(spec.priority.map_or(-1, i16::from));
        flows.start_ps.push(spec.start.ps());
        flows.fct_ps.push(fct);
        flows.ideal_ps.push(outcome.ideal.ps());
        flows.delivered_bytes.push(delivered);
        flows.retransmitted_packets.push(retransmitted);
        flows.timeouts.push(timeouts);
        flows.query_id.push(spec.query.map_or(-1, i64::from));
        if spec.size != FlowSpec::ENDLESS && spec.start >= self.scenario.warmup {
            self.record.outcomes.push(outcome);
        }
    }

    fn row_of(&self, flow: &Flow) -> (FlowSpec, Outcome, u32, u32, u32, u64) {
        let spec = flow.spec;
        let outcome = Outcome {
            start: spec.start,
            fct: match flow.completed_at {
                Some(at) => at - spec.start,
                None => self.now - spec.start,
            },
            ideal: flow.ideal,
            size: spec.size,
            query: spec.query.unwrap_or(u32::MAX),
            class: spec.class,
            complete: flow.completed_at.is_some(),
            timed_out: flow.sender.timeouts > 0,
        };
        let (retransmitted, timeouts) = (flow.sender.retransmitted_packets, flow.sender.timeouts);
        (spec, outcome, retransmitted, timeouts, flow.id, flow.delivered())
    }
}

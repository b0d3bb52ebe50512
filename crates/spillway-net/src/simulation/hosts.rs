//! Flows at their hosts: sending, receiving, acknowledging.

use super::Simulation;
use super::flows::Flow;
use crate::event::Kind;
use crate::flow::FlowSpec;
use crate::network::Network;
use crate::transport::Transport;
use crate::transport::receiver::{AckFields, Segment};
use crate::transport::sender::{AckSegment, Piece};
use spillway_engine::Time;
use spillway_switch::DropReason;
use spillway_switch::packet::{Contents, NO_PRIORITY, Packet, PacketId, flags};

impl Simulation {
    /// A packet has arrived at a host.
    #[inline(always)]
    pub(super) fn deliver(&mut self, host: u32, id: PacketId) {
        let packet_flags = self.network.packets[id].flags;
        if packet_flags & flags::CONTROL == 0 {
            self.on_data(host, id);
        } else if packet_flags & flags::SYN == 0 {
            self.on_ack(id);
        } else {
            self.on_syn(host, id);
        }
    }

    #[inline(always)]
    fn on_data(&mut self, host: u32, id: PacketId) {
        let packet_flags = self.network.packets[id].flags;
        let contents = self.network.packets.contents(id);
        let (slot, is_datagram) = (contents.slot, packet_flags & flags::DATAGRAM != 0);
        let segment = Segment {
            seq: contents.seq,
            payload: contents.payload,
            ce: packet_flags & flags::CE != 0,
            cwr: packet_flags & flags::CWR != 0,
            sent_at: contents.sent_at,
        };
        let flow = &mut self.flows[slot];
        let transport = &self.scenario.transports[usize::from(flow.transport)];
        if let Some(seq) = flow.receiver.on_expected(&segment, &transport.acks) {
            self.note_arrived(slot, u64::from(segment.payload));
            let Segment { ce: ece, sent_at, .. } = segment;
            return self.reply(host, id, &AckFields { seq, ece, sent_at, sack: None });
        }
        self.on_unexpected_data(host, id, &segment, is_datagram);
    }

    /// Payload has arrived for the first time.
    #[inline(always)]
    fn note_arrived(&mut self, slot: u32, new: u64) {
        let now = self.network.now;
        let flow = &mut self.flows[slot];
        if now >= self.scenario.warmup && now < self.scenario.duration {
            self.counters.delivered_bytes[usize::from(flow.spec.class)] += new;
        }
        if flow.receiver.next() >= flow.spec.size && flow.completed_at.is_none() {
            flow.completed_at = Some(now);
            self.unfinished -= 1;
            self.counters.flows_completed += 1;
        }
    }

    /// A data packet that is out of order, or not answered by its own ack alone: by none, by two,
    /// or by one for the packets before it.
    fn on_unexpected_data(
        &mut self,
        host: u32,
        id: PacketId,
        segment: &Segment,
        is_datagram: bool,
    ) {
        let (packet, contents) = (self.network.packets[id], *self.network.packets.contents(id));
        let slot = contents.slot;
        let flow = &mut self.flows[slot];
        let transport = &self.scenario.transports[usize::from(flow.transport)];
        let (mut acks, mut count) = ([None; 2], 0);
        let new = flow.receiver.on_segment(self.network.now, segment, &transport.acks, |ack| {
            acks[count] = Some(ack);
            count += 1;
        });
        self.note_arrived(slot, new);
        let flow = &mut self.flows[slot];
        if !is_datagram {
            set_ack_timer(&mut self.network, flow);
        }
        match acks {
            [Some(before), None] if !is_datagram => self.reply(host, id, &before),
            [Some(first), Some(second)] if !is_datagram => {
                let extra = self.network.packets.insert(packet, contents);
                if packet.flags & flags::TELEMETRY != 0 {
                    self.network.reports.copy(id, extra);
                }
                flow.packets += 1;
                self.reply(host, extra, &first);
                self.reply(host, id, &second);
            }
            _ => {
                flow.packets -= 1;
                self.network.packets.remove(id);
                self.release_if_over(slot);
            }
        }
    }

    /// Turns a packet that has arrived into an ack and sends it back.
    #[inline(always)]
    fn reply(&mut self, host: u32, id: PacketId, ack: &AckFields) {
        let contents = self.network.packets.contents_mut(id);
        let flow = &self.flows[contents.slot];
        contents.seq = ack.seq;
        contents.sent_at = ack.sent_at;
        contents.payload = 0;
        let packet = &mut self.network.packets[id];
        let echo = if ack.ece { flags::ECE } else { 0 };
        packet.flags = flow.ack_flags | echo;
        packet.size = self.scenario.transports[usize::from(flow.transport)].ack_size;
        packet.dst = flow.spec.src;
        packet.path = flow.ack_path;
        packet.priority = NO_PRIORITY;
        if let Some(blocks) = ack.sack {
            packet.flags |= flags::SACK;
            if self.sacks.len() <= id as usize {
                self.sacks.resize(id as usize + 1, Default::default());
            }
            self.sacks[id as usize] = blocks;
        }
        self.network.relaunch(host, id);
    }

    #[inline(always)]
    fn on_ack(&mut self, id: PacketId) {
        let packet_flags = self.network.packets[id].flags;
        let contents = self.network.packets.contents(id);
        let slot = contents.slot;
        let sack = match packet_flags & flags::SACK {
            0 => None,
            _ => Some(&self.sacks[id as usize]),
        };
        let flow = &mut self.flows[slot];
        let transport = &self.scenario.transports[usize::from(flow.transport)];
        let may_grow = self.network.host_backlog(flow.spec.src) <= flow.host_backlog;
        let ack = AckSegment {
            seq: contents.seq,
            ece: packet_flags & flags::ECE != 0,
            sent_at: contents.sent_at,
            may_grow,
            sack,
            telemetry: match packet_flags & flags::TELEMETRY {
                0 => None,
                _ => self.network.reports.get(id),
            },
        };
        flow.packets -= 1;
        flow.sender.on_ack(self.network.now, &ack, transport);
        self.network.packets.remove(id);
        if flow.sender.is_done() {
            self.release_if_over(slot);
        } else {
            self.send_pieces(slot);
        }
    }

    /// Sends what the sender's window allows, and sets its timer.
    #[inline(always)]
    pub(super) fn send_pieces(&mut self, slot: u32) {
        let flow = &mut self.flows[slot];
        let now = self.network.now;
        if flow.sender.is_endless() {
            // An endless flow whose time is over sends nothing new.
            if now >= self.scenario.class_stop[usize::from(flow.spec.class)] {
                return;
            }
        }
        let transport = &self.scenario.transports[usize::from(flow.transport)];
        if flow.sends_singly {
            return self.send_single_pieces(slot);
        }
        while let Some(piece) = flow.sender.next_piece(now, transport) {
            self.counters.retransmitted_packets += u64::from(piece.again);
            send_piece(&mut self.network, flow, transport, slot, piece);
        }
        set_timer(&mut self.network, flow);
    }

    /// The same for a sender that paces: what is not due yet has an event. And for one that hears of what
    /// its host drops.
    #[inline(never)]
    fn send_single_pieces(&mut self, slot: u32) {
        let flow = &mut self.flows[slot];
        let now = self.network.now;
        let transport = &self.scenario.transports[usize::from(flow.transport)];
        let tells = self.scenario.tells_senders();
        while let Some(piece) = flow.sender.next_paced_piece(now, transport) {
            self.counters.retransmitted_packets += u64::from(piece.again);
            let lost = self.network.lost.len();
            send_piece(&mut self.network, flow, transport, slot, piece);
            match self.network.lost.get(lost).map(|lost| lost.reason) {
                Some(DropReason::QueueLimit) if tells => {
                    flow.sender.on_refused(&piece, transport);
                    break;
                }
                Some(DropReason::Aqm) if tells => flow.sender.on_local_drop(transport),
                _ => {}
            }
        }
        if let Some(at) = flow.sender.waits_until(now)
            && at < flow.pace_timer
        {
            flow.pace_timer = at;
            self.network.events.push(at, Kind::Clock.key(flow.id));
        }
        set_timer(&mut self.network, flow);
    }

    /// The flow's event is due: the timer has run out, or was put off meanwhile.
    pub(super) fn on_flow_timer(&mut self, number: u32) {
        let now = self.network.now;
        let Some(slot) = self.flows.slot_of(number) else { return };
        let flow = &mut self.flows[slot];
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
                self.counters.retransmitted_packets += u64::from(piece.again);
                send_piece(&mut self.network, flow, transport, slot, piece);
            } else if flow.sender.is_connecting() {
                self.send_syn(slot);
                return;
            }
        }
        self.send_pieces(slot);
    }

    /// An ack was held back long enough.
    pub(super) fn on_ack_due(&mut self, number: u32) {
        let now = self.network.now;
        let Some(slot) = self.flows.slot_of(number) else { return };
        let flow = &mut self.flows[slot];
        flow.ack_timer = Time::MAX;
        if flow.receiver.ack_deadline != now {
            return set_ack_timer(&mut self.network, flow);
        }
        if let Some(ack) = flow.receiver.delayed_ack() {
            flow.packets += 1;
            let (host, flow) = (flow.spec.dst, flow.id);
            let contents = Contents { slot, flow, ..Contents::default() };
            let id = self.network.packets.insert(Packet::default(), contents);
            self.network.reports.clear(id);
            self.reply(host, id, &ack);
        }
    }

    /// Asks for a connection.
    pub(super) fn send_syn(&mut self, slot: u32) {
        let now = self.network.now;
        let flow = &mut self.flows[slot];
        let transport = &self.scenario.transports[usize::from(flow.transport)];
        flow.sender.on_connect(now, transport);
        flow.packets += 1;
        let packet = Packet {
            size: transport.ack_size,
            dst: flow.spec.dst,
            path: flow.path,
            flags: flags::CONTROL | flags::SYN | (flow.data_flags & flags::EXPLICIT_PATH),
            priority: NO_PRIORITY,
            ..Packet::default()
        };
        let contents = Contents { flow: flow.id, slot, sent_at: now, ..Contents::default() };
        self.network.launch(flow.spec.src, packet, contents);
        set_timer(&mut self.network, flow);
    }

    /// A request for a connection is answered; an answer opens it.
    fn on_syn(&mut self, host: u32, id: PacketId) {
        let Contents { slot, sent_at, .. } = *self.network.packets.contents(id);
        let packet = &mut self.network.packets[id];
        let flow = &mut self.flows[slot];
        if host == flow.spec.dst {
            packet.flags = flow.ack_flags | flags::SYN;
            packet.dst = flow.spec.src;
            packet.path = flow.ack_path;
            self.network.relaunch(host, id);
            return;
        }
        flow.packets -= 1;
        flow.sender.on_connected(self.network.now, sent_at);
        self.network.packets.remove(id);
        if flow.sender.is_done() {
            self.release_if_over(slot);
        } else {
            self.send_pieces(slot);
        }
    }

    /// A flow's clock strikes: an open-loop flow's, or that of one which paces.
    pub(super) fn on_clock(&mut self, number: u32) {
        let Some(slot) = self.flows.slot_of(number) else { return };
        if self.flows[slot].clock.is_some() {
            return self.send_by_clock(slot);
        }
        if self.flows[slot].pace_timer != self.network.now {
            // The window has grown since, and the packet has left earlier.
            return;
        }
        self.flows[slot].pace_timer = Time::MAX;
        if !self.flows[slot].sender.is_done() {
            self.send_pieces(slot);
        }
    }

    /// An open-loop flow sends its next packet.
    pub(super) fn send_by_clock(&mut self, slot: u32) {
        let now = self.network.now;
        let flow = &mut self.flows[slot];
        let transport = &self.scenario.transports[usize::from(flow.transport)];
        let stop = self.scenario.class_stop[usize::from(flow.spec.class)];
        let (Some(clock), Some((random, next))) = (transport.clock(), &mut flow.clock) else {
            return;
        };
        if flow.spec.size == FlowSpec::ENDLESS && now >= stop {
            return;
        }
        let payload = u64::from(transport.mss).min(flow.spec.size - *next);
        let piece = Piece { seq: *next, payload: payload as u32, again: false };
        *next += payload;
        if *next < flow.spec.size {
            let gap = clock.gap(payload as u32 + transport.header, random);
            self.network.events.push(now + gap, Kind::Clock.key(flow.id));
        }
        send_piece(&mut self.network, flow, transport, slot, piece);
    }
}

#[inline(always)]
fn send_piece(
    network: &mut Network,
    flow: &mut Flow,
    transport: &Transport,
    slot: u32,
    piece: Piece,
) {
    let first = if piece.seq < flow.first_rtt_bytes.into() { flags::FIRST_RTT } else { 0 };
    let again = if piece.again { flags::RETRANSMISSION } else { 0 };
    let cut = if flow.sender.tells_cut { flags::CWR } else { 0 };
    flow.sender.tells_cut = false;
    flow.packets += 1;
    let remaining = flow.sender.remaining_from(piece.seq);
    let packet = Packet {
        next: 0,
        prev: 0,
        time: network.now,
        size: piece.payload + transport.header,
        dst: flow.spec.dst,
        path: flow.path,
        flags: flow.data_flags | first | again | cut,
        priority: flow.spec.priority.unwrap_or(NO_PRIORITY),
        class: 0,
    };
    let contents = Contents {
        flow: flow.id,
        slot,
        seq: piece.seq,
        sent_at: network.now,
        payload: piece.payload,
        remaining: remaining.min(u64::from(u32::MAX)) as u32,
    };
    network.launch(flow.spec.src, packet, contents);
}

/// Sees to it that an event is due for the ack that a flow's receiver holds back, if it does. Lazily
/// too: a deadline only moves on.
fn set_ack_timer(network: &mut Network, flow: &mut Flow) {
    let deadline = flow.receiver.ack_deadline;
    if deadline < Time::MAX && flow.ack_timer == Time::MAX {
        flow.ack_timer = deadline;
        network.events.push(deadline, Kind::AckDue.key(flow.id));
    }
}

/// Sees to it that an event is due no later than the flow's deadline. Lazily: one is pending, and
/// if it comes too early it goes on.
#[inline(always)]
fn set_timer(network: &mut Network, flow: &mut Flow) {
    let deadline = flow.sender.deadline();
    if deadline < flow.timer {
        flow.timer = deadline;
        network.events.push(deadline, Kind::FlowTimer.key(flow.id));
    }
}

//! The receiving end of a flow: it records what has arrived, and sends acks.

use super::Hosts;
use super::ends::ReceivingEnd;
use super::priority;
use crate::event::Kind;
use crate::network::Network;
use crate::scenario::Scenario;
use crate::transport::ClosedLoop;
use crate::transport::receiver::{AckFields, Segment};
use spillway_engine::Time;
use spillway_switch::packet::{Contents, Packet, PacketId, flags};

impl Hosts {
    /// A data packet of a closed loop has arrived.
    #[inline(always)]
    pub(super) fn on_data(
        &mut self,
        net: &mut Network,
        scenario: &Scenario,
        host: u32,
        id: PacketId,
    ) {
        let (segment, slot) = segment_of(net, id);
        let end = self.ends.receiving_mut(slot);
        let transport = scenario.transport(end.transport);
        let Some(closed) = transport.closed_loop() else { return };
        if let Some(seq) = end.receiver.on_expected(&segment, &closed.acks) {
            self.note_arrived(net.now, scenario, slot, u64::from(segment.payload));
            let Segment { ce: ece, sent_at, .. } = segment;
            let ack = AckFields { seq, ece, sent_at, sack: None };
            return self.reply(net, transport.ack_size, host, id, &ack);
        }
        self.on_unexpected_data(net, scenario, closed, host, id);
    }

    /// A data packet that is out of order, or that is not answered by exactly its own ack: it may
    /// trigger no ack, two acks, or one for the packets before it.
    #[inline(never)]
    fn on_unexpected_data(
        &mut self,
        net: &mut Network,
        scenario: &Scenario,
        closed: &ClosedLoop,
        host: u32,
        id: PacketId,
    ) {
        let (segment, slot) = segment_of(net, id);
        let (packet, contents) = (net.packets[id], *net.packets.contents(id));
        let end = self.ends.receiving_mut(slot);
        let (mut acks, mut count) = ([None; 2], 0);
        let new = end.receiver.on_segment(net.now, &segment, &closed.acks, |ack| {
            acks[count] = Some(ack);
            count += 1;
        });
        self.note_arrived(net.now, scenario, slot, new);
        let end = self.ends.receiving_mut(slot);
        let ack_size = scenario.transport(end.transport).ack_size;
        set_ack_timer(net, end);
        match acks {
            [Some(ack), None] => self.reply(net, ack_size, host, id, &ack),
            [Some(first), Some(second)] => {
                let extra = net.packets.insert(packet, contents);
                if packet.flags & flags::TELEMETRY != 0 {
                    net.telemetry.copy(id, extra);
                }
                end.packets += 1;
                self.reply(net, ack_size, host, extra, &first);
                self.reply(net, ack_size, host, id, &second);
            }
            _ => {
                end.packets -= 1;
                net.packets.remove(id);
                self.note_if_over(slot);
            }
        }
    }

    /// A packet of an open-loop flow has arrived.
    #[inline(never)]
    pub(super) fn on_datagram(&mut self, net: &mut Network, scenario: &Scenario, id: PacketId) {
        let (segment, slot) = segment_of(net, id);
        let end = self.ends.receiving_mut(slot);
        end.packets -= 1;
        let new = end.receiver.on_datagram(&segment);
        self.note_arrived(net.now, scenario, slot, new);
        net.packets.remove(id);
        self.note_if_over(slot);
    }

    /// Counts payload that has arrived for the first time.
    #[inline(always)]
    fn note_arrived(&mut self, now: Time, scenario: &Scenario, slot: u32, new: u64) {
        let end = self.ends.receiving_mut(slot);
        if now >= scenario.warmup && now < scenario.duration {
            self.tally.delivered_bytes[usize::from(end.class)] += new;
        }
        if end.receiver.next() >= end.size && end.completed_at.is_none() {
            end.completed_at = Some(now);
            self.unfinished -= 1;
            self.tally.completed += 1;
        }
    }

    /// Turns a packet that has arrived into an ack and sends it back.
    #[inline(always)]
    fn reply(
        &mut self,
        net: &mut Network,
        ack_size: u32,
        host: u32,
        id: PacketId,
        ack: &AckFields,
    ) {
        let contents = net.packets.contents_mut(id);
        let end = self.ends.receiving(contents.slot);
        contents.seq = ack.seq;
        contents.sent_at = ack.sent_at;
        contents.payload = 0;
        let packet = &mut net.packets[id];
        let echo = if ack.ece { flags::ECE } else { 0 };
        packet.flags = end.ack_flags | echo;
        packet.size = ack_size;
        packet.dst = end.src;
        packet.path = end.ack_path;
        packet.priority = priority::OF_CONTROL;
        if let Some(blocks) = ack.sack {
            packet.flags |= flags::SACK;
            *self.sacks.of(id) = blocks;
        }
        net.relaunch(host, id);
    }

    /// The time of a delayed ack has come, unless it was put off meanwhile.
    pub fn on_ack_due(&mut self, net: &mut Network, scenario: &Scenario, number: u32) {
        let Some(slot) = self.ends.slot_of(number) else { return };
        let end = self.ends.receiving_mut(slot);
        end.ack_timer = Time::MAX;
        if end.receiver.ack_deadline != net.now {
            return set_ack_timer(net, end);
        }
        if let Some(ack) = end.receiver.delayed_ack() {
            end.packets += 1;
            let (host, flow) = (end.dst, end.id);
            let ack_size = scenario.transport(end.transport).ack_size;
            let contents = Contents { slot, flow, ..Contents::default() };
            let id = net.packets.insert(Packet::default(), contents);
            if end.ack_flags & flags::TELEMETRY != 0 {
                net.telemetry.of(id).clear();
            }
            self.reply(net, ack_size, host, id, &ack);
        }
    }
}

/// A data packet as its receiver sees it, and the place of its flow.
#[inline(always)]
fn segment_of(net: &Network, id: PacketId) -> (Segment, u32) {
    let packet_flags = net.packets[id].flags;
    let contents = net.packets.contents(id);
    let segment = Segment {
        seq: contents.seq,
        payload: contents.payload,
        ce: packet_flags & flags::CE != 0,
        cwr: packet_flags & flags::CWR != 0,
        sent_at: contents.sent_at,
    };
    (segment, contents.slot)
}

/// Schedules an event for the ack that the receiver delays, if it delays one and none is pending.
/// Deadlines only move later: an event that comes too early is scheduled again.
fn set_ack_timer(net: &mut Network, end: &mut ReceivingEnd) {
    let deadline = end.receiver.ack_deadline;
    if deadline < Time::MAX && end.ack_timer == Time::MAX {
        end.ack_timer = deadline;
        net.events.push(deadline, Kind::AckDue.key(end.id));
    }
}

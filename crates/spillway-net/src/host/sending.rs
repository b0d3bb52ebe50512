//! The sending end of a flow that acks drive: it sends when an ack arrives, a timer expires, or its
//! pace allows.

use super::Hosts;
use super::ends::{Driver, Outgoing, SendingEnd};
use super::priority;
use crate::event::Kind;
use crate::network::Network;
use crate::scenario::Scenario;
use crate::transport::sender::{AckSegment, Piece, Sender};
use crate::transport::{ClosedLoop, Transport};
use spillway_engine::Time;
use spillway_switch::DropReason;
use spillway_switch::packet::{Contents, Packet, PacketId, flags};

impl Hosts {
    /// An ack has arrived.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, net: &mut Network, scenario: &Scenario, id: PacketId) {
        let packet_flags = net.packets[id].flags;
        let contents = net.packets.contents(id);
        let slot = contents.slot;
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        let transport = scenario.transport(flow.transport);
        let Some((sender, closed)) = closed_loop(driver, transport) else { return };
        let ack = AckSegment {
            seq: contents.seq,
            ece: packet_flags & flags::ECE != 0,
            sent_at: contents.sent_at,
            may_grow: net.host_backlog(flow.spec.src) <= flow.host_backlog,
            sack: match packet_flags & flags::SACK {
                0 => None,
                _ => self.sacks.get(id),
            },
            telemetry: match packet_flags & flags::TELEMETRY {
                0 => None,
                _ => net.telemetry.get(id),
            },
        };
        flow.packets -= 1;
        sender.on_ack(net.now, &ack, closed);
        net.packets.remove(id);
        if sender.is_done() {
            self.note_if_over(slot);
        } else {
            self.send_pieces(net, scenario, slot);
        }
    }

    /// Sends what the sender's window allows, and schedules its timer.
    #[inline(always)]
    pub(super) fn send_pieces(&mut self, net: &mut Network, scenario: &Scenario, slot: u32) {
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        let transport = scenario.transport(flow.transport);
        let Some((sender, closed)) = closed_loop(driver, transport) else { return };
        if sender.is_endless() {
            // An endless flow sends nothing new after the end of its traffic section.
            if net.now >= scenario.class_stop[usize::from(flow.spec.class)] {
                return;
            }
        }
        if flow.sends_singly {
            return self.send_single_pieces(net, scenario, slot);
        }
        while let Some(piece) = sender.next_piece(net.now, closed) {
            self.tally.retransmitted += u64::from(piece.again);
            let tells_cut = sender.take_cut();
            send_piece(net, flow, transport.header, slot, piece, tells_cut);
        }
        set_timer(net, flow, sender);
    }

    /// The same, segment by segment, for a sender that paces, which needs an event when its next
    /// segment is not due yet, and for one that is told what its own host drops.
    #[inline(never)]
    fn send_single_pieces(&mut self, net: &mut Network, scenario: &Scenario, slot: u32) {
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        let transport = scenario.transport(flow.transport);
        let Some((sender, closed)) = closed_loop(driver, transport) else { return };
        let now = net.now;
        let tells = scenario.tells_senders();
        while let Some(piece) = sender.next_paced_piece(now, closed, transport.header) {
            self.tally.retransmitted += u64::from(piece.again);
            let lost = net.lost.len();
            let tells_cut = sender.take_cut();
            send_piece(net, flow, transport.header, slot, piece, tells_cut);
            match net.lost.get(lost).map(|lost| lost.reason) {
                Some(DropReason::QueueLimit) if tells => {
                    sender.on_refused(&piece, closed);
                    break;
                }
                Some(DropReason::Aqm) if tells => sender.on_local_drop(closed),
                _ => {}
            }
        }
        if let Some(at) = sender.waits_until(now)
            && at < flow.pace_timer
        {
            flow.pace_timer = at;
            net.events.push(at, Kind::Clock.key(flow.id));
        }
        set_timer(net, flow, sender);
    }

    /// The flow's timer event is due. The deadline may have moved later meanwhile.
    pub fn on_flow_timer(&mut self, net: &mut Network, scenario: &Scenario, number: u32) {
        let now = net.now;
        let Some(slot) = self.ends.slot_of(number) else { return };
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        if flow.timer != now {
            return;
        }
        flow.timer = Time::MAX;
        let transport = scenario.transport(flow.transport);
        let Some((sender, closed)) = closed_loop(driver, transport) else { return };
        if sender.deadline() <= now && !sender.is_done() {
            let timeouts = sender.timeouts;
            let probe = sender.on_deadline(now, closed);
            self.tally.timeouts += u64::from(sender.timeouts - timeouts);
            if let Some(piece) = probe {
                self.tally.retransmitted += u64::from(piece.again);
                let tells_cut = sender.take_cut();
                send_piece(net, flow, transport.header, slot, piece, tells_cut);
            } else if sender.is_connecting() {
                self.send_syn(net, scenario, slot);
                return;
            }
        }
        self.send_pieces(net, scenario, slot);
    }

    /// A clock fires: that of an open-loop flow, or of a sender that paces.
    pub fn on_clock(&mut self, net: &mut Network, scenario: &Scenario, number: u32) {
        let Some(slot) = self.ends.slot_of(number) else { return };
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        match driver {
            Driver::OpenLoop(_) => self.send_by_clock(net, scenario, slot),
            // The packet has already been sent, because the window has grown.
            Driver::ClosedLoop(_) if flow.pace_timer != net.now => {}
            Driver::ClosedLoop(sender) => {
                flow.pace_timer = Time::MAX;
                if !sender.is_done() {
                    self.send_pieces(net, scenario, slot);
                }
            }
        }
    }
}

/// The sender and its transport's settings, if acks drive the flow.
#[inline(always)]
fn closed_loop<'a>(
    driver: &'a mut Driver,
    transport: &'a Transport,
) -> Option<(&'a mut Sender, &'a ClosedLoop)> {
    match driver {
        Driver::ClosedLoop(sender) => Some((sender, transport.closed_loop()?)),
        Driver::OpenLoop(_) => None,
    }
}

/// Sends a segment of a flow as a packet.
#[inline(always)]
pub(super) fn send_piece(
    net: &mut Network,
    flow: &mut Outgoing,
    header: u32,
    slot: u32,
    piece: Piece,
    tells_cut: bool,
) {
    let first = if piece.seq < flow.first_rtt_bytes.into() { flags::FIRST_RTT } else { 0 };
    let again = if piece.again { flags::RETRANSMISSION } else { 0 };
    let cut = if tells_cut { flags::CWR } else { 0 };
    flow.packets += 1;
    let remaining = flow.spec.size - piece.seq;
    let packet = Packet {
        next: 0,
        prev: 0,
        time: net.now,
        size: piece.payload + header,
        dst: flow.spec.dst,
        path: flow.path,
        flags: flow.data_flags | first | again | cut,
        priority: priority::of_data(flow),
        queue_class: 0,
    };
    let contents = Contents {
        flow: flow.id,
        slot,
        seq: piece.seq,
        sent_at: net.now,
        payload: piece.payload,
        remaining: remaining.min(u64::from(u32::MAX)) as u32,
    };
    net.launch(flow.spec.src, packet, contents);
}

/// Keeps an event pending that is due no later than the sender's deadline. An event that comes
/// before the deadline is scheduled again, so a later deadline needs no new event.
#[inline(always)]
pub(super) fn set_timer(net: &mut Network, flow: &mut Outgoing, sender: &Sender) {
    let deadline = sender.deadline();
    if deadline < flow.timer {
        flow.timer = deadline;
        net.events.push(deadline, Kind::FlowTimer.key(flow.id));
    }
}

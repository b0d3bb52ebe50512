//! The sending end of a flow that acks drive: it sends when an ack arrives, a timer expires, or its
//! pace allows.

use super::Hosts;
use super::connections::Idle;
use super::ends::{Driver, Outgoing, Sending, SendingEnd};
use super::priority::{self, Held};
use crate::event::Kind;
use crate::network::Network;
use crate::scenario::{Completion, Scenario};
use spillway_engine::Time;
use spillway_switch::packet::{Contents, Packet, PacketId, flags};
use spillway_switch::{DropReason, SideTable};
use spillway_transport::receiver::SackBlocks;
use spillway_transport::sender::{AckSegment, Piece, Sender};
use spillway_transport::telemetry::Telemetry;
use spillway_transport::{ClosedLoop, Transport};

impl Hosts {
    /// An ack has arrived.
    #[inline(always)]
    pub(super) fn on_ack(&mut self, net: &mut Network, scenario: &Scenario, id: PacketId) {
        match net.packets[id].flags & flags::CARRIES {
            0 => self.take_ack::<false, false>(net, scenario, id),
            _ => self.take_carrying_ack(net, scenario, id),
        }
    }

    /// As `on_ack`, for an ack that carries what most acks do not.
    #[inline(never)]
    fn take_carrying_ack(&mut self, net: &mut Network, scenario: &Scenario, id: PacketId) {
        self.take_ack::<true, false>(net, scenario, id);
    }

    /// As `on_ack`, for the ack of an important packet.
    #[inline(never)]
    pub(super) fn on_echo(&mut self, net: &mut Network, scenario: &Scenario, id: PacketId) {
        self.take_ack::<true, true>(net, scenario, id);
    }

    /// Takes an ack. The usual ack carries nothing more. For it (`CARRIES` is false) most questions
    /// are answered at compile time. It `ECHOES` if it is the ack of an important packet.
    #[inline(always)]
    fn take_ack<const CARRIES: bool, const ECHOES: bool>(
        &mut self,
        net: &mut Network,
        scenario: &Scenario,
        id: PacketId,
    ) {
        let packet_flags = net.packets[id].flags;
        let contents = net.packets.contents(id);
        let slot = contents.slot;
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        let transport = scenario.transport(flow.transport);
        let Some((sender, closed)) = closed_loop(driver, transport) else { return };
        let (sack, telemetry, number) = if CARRIES {
            carried(&mut self.sacks, net, id, flow.first_byte)
        } else {
            (None, None, None)
        };
        let ack = AckSegment {
            seq: contents.seq + flow.first_byte,
            ece: packet_flags & flags::ECE != 0,
            sent_at: contents.sent_at,
            may_grow: net.host_backlog(flow.spec.src) <= flow.host_backlog,
            sack,
            telemetry,
            number,
        };
        flow.packets -= 1;
        sender.on_ack(net.now, &ack, closed);
        if ECHOES {
            sender.on_echo(net.now, ack.sent_at, closed);
        }
        net.packets.remove(id);
        if sender.is_done() {
            if flow.acked_at == Time::MAX {
                flow.acked_at = net.now;
                if flow.leaves_open {
                    let idle = Idle { connection: flow.connection, slot, since: net.now };
                    self.connections.leave(&flow.spec, idle);
                }
                if self.completion == Completion::LastAck {
                    self.count_complete(slot);
                }
            }
            self.note_if_over(net.moment(), slot);
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
        match flow.sending {
            Sending::ByWindow => {}
            Sending::Numbered => return self.send_numbered_pieces(net, scenario, slot),
            Sending::Singly => return self.send_single_pieces::<false>(net, scenario, slot),
            Sending::Protected => return self.send_single_pieces::<true>(net, scenario, slot),
            Sending::InBursts => return self.send_bursts(net, scenario, slot),
        }
        let repairs = &mut self.tally.retransmitted;
        send_by_window::<false>(net, flow, sender, transport, closed, repairs);
    }

    /// As `send_pieces`, for a sender that numbers its packets.
    #[inline(never)]
    fn send_numbered_pieces(&mut self, net: &mut Network, scenario: &Scenario, slot: u32) {
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        let transport = scenario.transport(flow.transport);
        let Some((sender, closed)) = closed_loop(driver, transport) else { return };
        let repairs = &mut self.tally.retransmitted;
        send_by_window::<true>(net, flow, sender, transport, closed, repairs);
    }

    /// As `send_pieces`, segment by segment. This is for three kinds of senders: one that paces,
    /// which needs an event when its next segment is not due yet; one that has one timeout for all
    /// its segments; and one that is told which packets its own host drops. One that `TAGS` some of
    /// them as important may be any of them, or none.
    #[inline(never)]
    fn send_single_pieces<const TAGS: bool>(
        &mut self,
        net: &mut Network,
        scenario: &Scenario,
        slot: u32,
    ) {
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        let transport = scenario.transport(flow.transport);
        let Some((sender, closed)) = closed_loop(driver, transport) else { return };
        if closed.states_remaining {
            return self.send_by_timeout(net, scenario, slot);
        }
        let now = net.now;
        let tells = scenario.tells_senders();
        let is_pair = scenario.nic.queue_pairs && closed.paces();
        if is_pair && flow.handed_at != Time::MAX {
            // The next segment is chosen when the packet that waits has left.
            return set_timer(net, flow, sender);
        }
        let wait = |net: &Network, host: u32| {
            if closed.paces_from_nic && !is_pair { net.host_backlog(host) } else { Time::ZERO }
        };
        loop {
            let wait = wait(net, flow.spec.src);
            let mut piece = sender.next_paced_piece(now, closed, wait);
            if TAGS && piece.is_none() {
                piece = sender.forced_piece(now);
            }
            let Some(piece) = piece else { break };
            self.tally.retransmitted += u64::from(piece.again);
            let (lost, waiting) = (net.lost.len(), net.waiting_at(flow.spec.src));
            let told = told(sender, closed) | if TAGS { tag(sender, net.now, &piece) } else { 0 };
            let (next, remaining) = (sender.never_sent(), flow.remaining(piece.seq));
            let made = packet_of(net, flow, transport, (piece, next), told, remaining);
            launch(net, flow, sender, &piece, made);
            match net.lost.get(lost).map(|lost| lost.reason) {
                Some(DropReason::QueueLimit) if tells => {
                    sender.on_refused(&piece, closed);
                    if TAGS && told & flags::IMPORTANT != 0 {
                        sender.protect_next();
                    }
                    break;
                }
                Some(DropReason::Aqm) if tells => sender.on_local_drop(closed),
                _ => {}
            }
            if is_pair && net.waiting_at(flow.spec.src) > waiting {
                flow.handed_at = now;
                return set_timer(net, flow, sender);
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
        if sender.is_done() {
            return;
        }
        if sender.deadline() <= now {
            let late_before = sender.probes_for_timeouts;
            let probe = sender.on_deadline(now, closed);
            let timeouts = sender.timeouts - flow.timeouts;
            if timeouts > 0 {
                self.tally.timeouts += u64::from(timeouts);
                flow.timeouts += timeouts;
                flow.held = Held::NONE;
                // If the connection does not open, this says nothing about what the flow has sent.
                let has_begun = !sender.is_connecting();
                if has_begun && transport.tagging.takes_back(sender.timeouts_in_a_row()) {
                    flow.restart = Some(sender.never_sent() - flow.first_byte);
                }
            }
            if let Some(piece) = probe {
                self.tally.retransmitted += u64::from(piece.again);
                self.tally.probes[0] += 1;
                self.tally.probes[1] += u64::from(sender.probes_for_timeouts - late_before);
                let told = told(sender, closed);
                let (next, remaining) = (sender.never_sent(), sender.remaining(&piece));
                let at_end = closed.bursts.is_some_and(|bursts| bursts.tells)
                    && remaining <= piece.payload.into();
                let told = told | if at_end { flags::ASKS } else { 0 };
                let told = told | if closed.protects { tag(sender, net.now, &piece) } else { 0 };
                send_piece(net, flow, transport, (piece, next), told, remaining);
            } else if sender.is_connecting() {
                self.send_syn(net, scenario, slot);
                return;
            }
        }
        self.send_pieces(net, scenario, slot);
    }

    /// A packet that waited at its NIC has left it. A flow that hands over one packet at a time may
    /// hand over the next, and its pace counts from now.
    pub fn on_begun(&mut self, net: &mut Network, scenario: &Scenario, number: u32) {
        let Some(slot) = self.ends.slot_of(number) else { return };
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        let handed_at = std::mem::replace(&mut flow.handed_at, Time::MAX);
        if let (Driver::ClosedLoop(sender), true) = (driver, handed_at != Time::MAX) {
            sender.delay_pace(net.now - handed_at);
            if !sender.is_done() {
                self.send_pieces(net, scenario, slot);
            }
        }
    }

    /// A clock fires: that of an open-loop flow, or of a sender that paces.
    pub fn on_clock(&mut self, net: &mut Network, scenario: &Scenario, number: u32) {
        let Some(slot) = self.ends.slot_of(number) else { return };
        let SendingEnd { flow, driver } = self.ends.sending_mut(slot);
        match driver {
            Driver::OpenLoop(_) => self.send_by_clock(net, scenario, slot),
            // The event is outdated: the packet has been sent already, because the window has
            // grown.
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
pub(super) fn closed_loop<'a>(
    driver: &'a mut Driver,
    transport: &'a Transport,
) -> Option<(&'a mut Sender, &'a ClosedLoop)> {
    match driver {
        Driver::ClosedLoop(sender) => Some((sender, transport.closed_loop()?)),
        Driver::OpenLoop(_) => None,
    }
}

/// What an ack carries that most acks do not: ranges that have arrived behind a gap, telemetry, and
/// the number of the packet that it acknowledges. `first_byte` is the number of the flow's first
/// byte on its connection.
fn carried<'a>(
    sacks: &'a mut SideTable<SackBlocks>,
    net: &'a Network,
    id: PacketId,
    first_byte: u64,
) -> (Option<&'a SackBlocks>, Option<&'a Telemetry>, Option<u64>) {
    let packet_flags = net.packets[id].flags;
    let has = |flag| packet_flags & flag != 0;
    if has(flags::SACK) && first_byte > 0 {
        number_on(sacks.of(id), first_byte);
    }
    (
        if has(flags::SACK) { sacks.get(id) } else { None },
        if has(flags::TELEMETRY) { net.telemetry.get(id) } else { None },
        if has(flags::NUMBERED) { net.numbers.get(id).copied() } else { None },
    )
}

/// Turns ranges of a flow's bytes into ranges of its connection's bytes.
#[cold]
fn number_on(blocks: &mut SackBlocks, first_byte: u64) {
    for (start, end) in blocks.iter_mut().filter(|(_, end)| *end > 0) {
        (*start, *end) = (*start + first_byte, *end + first_byte);
    }
}

/// Sends segments as long as the sender's window allows it, and schedules the sender's timer. With
/// `NUMBERED`, packets get numbers. Counts the segments that were sent before.
#[inline(always)]
fn send_by_window<const NUMBERED: bool>(
    net: &mut Network,
    flow: &mut Outgoing,
    sender: &mut Sender,
    transport: &Transport,
    closed: &ClosedLoop,
    repairs: &mut u64,
) {
    while let Some(piece) = sender.next_piece(net.now, closed) {
        *repairs += u64::from(piece.again);
        let told = told(sender, closed);
        let (next, remaining) = (sender.never_sent(), flow.remaining(piece.seq));
        let made = packet_of(net, flow, transport, (piece, next), told, remaining);
        if NUMBERED {
            launch(net, flow, sender, &piece, made)
        } else {
            net.launch(flow.spec.src, made.0, made.1)
        }
    }
    set_timer(net, flow, sender);
}

/// The flags by which a sender tells the receiver something with the segment that it has just
/// handed out.
#[inline(always)]
pub(super) fn told(sender: &mut Sender, closed: &ClosedLoop) -> u16 {
    let cut = if sender.take_cut() { flags::CWR } else { 0 };
    if closed.acks.every > 1 && sender.asks_for_ack(closed) { cut | flags::ASKS } else { cut }
}

/// The flags of a segment that may be important. An important one asks for its ack.
#[inline(never)]
fn tag(sender: &mut Sender, now: Time, piece: &Piece) -> u16 {
    if sender.is_important(now, piece) {
        flags::IMPORTANT | flags::ASKS
    } else {
        flags::UNIMPORTANT
    }
}

/// Sends a segment of a flow as a packet with these additional flags. `next` is the first byte that
/// was never sent. `remaining` is what the packet says that the flow has left.
#[inline(always)]
pub(super) fn send_piece(
    net: &mut Network,
    flow: &mut Outgoing,
    transport: &Transport,
    (piece, next): (Piece, u64),
    told: u16,
    remaining: u64,
) {
    let (packet, contents) = packet_of(net, flow, transport, (piece, next), told, remaining);
    net.launch(flow.spec.src, packet, contents);
}

/// Sends a packet. It gets a number if its flow's packets have numbers.
#[inline(always)]
fn launch(
    net: &mut Network,
    flow: &Outgoing,
    sender: &mut Sender,
    piece: &Piece,
    (packet, contents): (Packet, Contents),
) {
    match sender.number(piece, packet.priority) {
        None => net.launch(flow.spec.src, packet, contents),
        Some(number) => net.launch_numbered(flow.spec.src, packet, contents, number),
    }
}

/// A segment of a flow as a packet.
#[inline(always)]
pub(super) fn packet_of(
    net: &Network,
    flow: &mut Outgoing,
    transport: &Transport,
    (piece, next): (Piece, u64),
    told: u16,
    remaining: u64,
) -> (Packet, Contents) {
    let seq = piece.seq - flow.first_byte;
    let first = if seq < flow.first_rtt_bytes.into() { flags::FIRST_RTT } else { 0 };
    let again = if piece.again { flags::RETRANSMISSION } else { 0 };
    flow.packets += 1;
    let packet = Packet {
        next: 0,
        prev: 0,
        time: net.now,
        size: piece.payload + transport.header,
        dst: flow.spec.dst,
        path: flow.path,
        flags: flow.data_flags | first | again | told,
        priority: priority::of_data(flow, &piece, next, &transport.tagging),
        queue_class: 0,
    };
    let contents = Contents {
        flow: flow.id,
        slot: flow.peer,
        seq,
        sent_at: net.now,
        payload: piece.payload,
        remaining: remaining.min(u64::from(u32::MAX)) as u32,
    };
    (packet, contents)
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

#[cfg(test)]
mod tests;

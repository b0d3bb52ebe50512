//! A port with a buffer of its own: which packets of a host's queues are marked or lost.
//!
//! The owner keeps the packets and chooses which leaves next. The AQM sees an unlimited buffer of
//! one port. In addition, each queue has a limit. AQM and limit are consulted as in a switch, and
//! in the same order.

use crate::aqm::{Aqm, AqmPolicy};
use crate::buffer::{Buffer, Length, QueueId};
use crate::catalogue::Adoption;
use crate::limit::QueueLimit;
use crate::packet::{Arena, Packet, PacketId, flags};
use crate::policy::{Arrival, Departure, DropReason, Watch};
use spillway_engine::{Rate, Time};
use spillway_settings::quantity::Amount;

/// The parts that make up a discipline.
#[derive(Debug)]
pub struct DisciplineParts {
    /// The rate of the port.
    pub rate: Rate,
    /// Its queues, numbered by queue class.
    pub queues: u32,
    /// The queue that the AQM does not manage, if there is one.
    pub unmanaged: Option<u8>,
    /// The most that one queue may hold, without the packet in transmission.
    pub queue_limit: Amount,
    /// The AQM of the queues.
    pub aqm: AqmPolicy,
}

/// The byte and packet counts of a port's queues, and the AQM and the limit that decide about their
/// packets.
#[derive(Clone, Debug)]
pub struct Discipline {
    aqm: AqmPolicy,
    buffer: Buffer,
    limit: QueueLimit,
    unmanaged: Option<u8>,
    marks: u64,
}

impl Discipline {
    /// A discipline with empty queues.
    pub fn new(parts: DisciplineParts) -> Discipline {
        Discipline {
            aqm: parts.aqm,
            buffer: Buffer::new(Buffer::UNLIMITED, vec![parts.rate], parts.queues),
            limit: QueueLimit::of(parts.queue_limit),
            unmanaged: parts.unmanaged,
            marks: 0,
        }
    }

    /// The AQM takes over the parameters of `fresh`, an AQM of the same kind that was made for this
    /// host.
    pub fn change_aqm(&mut self, now: Time, fresh: AqmPolicy) {
        self.aqm.adopt(fresh, &Adoption { now, port: None, buffer: &self.buffer });
    }

    /// The contents of its queues.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Packets marked so far.
    pub fn marks(&self) -> u64 {
        self.marks
    }

    /// Whether the limit of a packet's queue class leaves room for the packet once `freed` is gone.
    pub fn has_room(&self, packet: &Packet, freed: Length) -> bool {
        let Length { packets, bytes } = self.buffer.length(packet.queue_class.into());
        let left = Length { packets: packets - freed.packets, bytes: bytes - freed.bytes };
        self.limit.has_room(left, packet.size)
    }

    /// Whether its AQM is told the flows of packets.
    pub fn knows_flows(&self) -> bool {
        self.aqm.knows_flows()
    }

    /// A packet has arrived for a queue. It joins the queue, or an error tells why it is lost.
    pub fn on_arrival(
        &mut self,
        now: Time,
        queue_class: u8,
        id: PacketId,
        packets: &mut Arena,
    ) -> Result<(), DropReason> {
        let (flow, seq) = (packets.connection_of(id), packets.contents(id).seq);
        let packet = &mut packets[id];
        (packet.time, packet.queue_class) = (now, queue_class);
        let arrival = Arrival {
            now,
            queue: queue_class.into(),
            queue_class,
            size: packet.size,
            first_rtt: packet.flags & flags::FIRST_RTT != 0,
            is_control: packet.flags & flags::CONTROL != 0,
            flow,
            seq,
        };
        let outcome = self.decide(&arrival, packet.flags & flags::ECT != 0);
        self.carry_out(outcome, now, packet)?;
        self.buffer.add(arrival.queue, arrival.size);
        self.aqm.on_enqueue(&arrival, &self.buffer);
        Ok(())
    }

    /// A packet leaves its queue to be sent. An error tells why it is lost instead.
    pub fn on_departure(
        &mut self,
        now: Time,
        id: PacketId,
        packets: &mut Arena,
    ) -> Result<(), DropReason> {
        let packet = &mut packets[id];
        let &mut Packet { queue_class, size, time: queued_at, .. } = packet;
        let queue = QueueId::from(queue_class);
        self.buffer.subtract(queue, size);
        self.aqm.on_dequeue(now, queue, size, &self.buffer);
        if !self.aqm.watches_departures() || self.unmanaged == Some(queue_class) {
            return Ok(());
        }
        let first_rtt = packet.flags & flags::FIRST_RTT != 0;
        let ect = packet.flags & flags::ECT != 0;
        let departure = Departure { now, queue, queue_class, size, first_rtt, ect, queued_at };
        let verdict = self.aqm.on_departure(&departure, &self.buffer);
        let outcome = verdict.outcome(ect, DropReason::Aqm);
        self.carry_out(outcome, now, packet)
    }

    /// A waiting packet is lost for a reason that lies outside the discipline.
    pub fn on_loss(&mut self, now: Time, packet: &Packet) {
        let (queue, size) = (QueueId::from(packet.queue_class), packet.size);
        self.aqm.on_release(now, queue, &self.buffer);
        self.buffer.subtract(queue, size);
        self.aqm.on_drop(now, queue, size, &self.buffer);
    }

    /// How often the AQM wants to be woken.
    pub fn period(&self) -> Option<Time> {
        self.aqm.period()
    }

    /// Another period of the AQM has passed.
    pub fn on_timer(&mut self, now: Time) {
        self.aqm.on_timer(now, &self.buffer);
    }

    /// Whether the counts agree with the given lengths of the queues; for tests.
    pub fn holds(&self, waiting: &[Length]) -> bool {
        let bytes: u64 = waiting.iter().map(|length| u64::from(length.bytes)).sum();
        self.buffer.queues() == waiting && self.buffer.occupancy() == bytes
    }

    /// Whether an arrival is marked, or why it is lost.
    fn decide(&mut self, arrival: &Arrival, can_mark: bool) -> Result<bool, DropReason> {
        let marked = if self.unmanaged == Some(arrival.queue_class) {
            false
        } else {
            let verdict = self.aqm.on_arrival(arrival, &self.buffer);
            verdict.outcome(can_mark, DropReason::Aqm)?
        };
        if self.limit.has_room(self.buffer.length(arrival.queue), arrival.size) {
            Ok(marked)
        } else {
            Err(DropReason::QueueLimit)
        }
    }

    /// Carries out a decision: marks the packet, or tells the AQM that it is lost.
    fn carry_out(
        &mut self,
        outcome: Result<bool, DropReason>,
        now: Time,
        packet: &mut Packet,
    ) -> Result<(), DropReason> {
        match outcome {
            Ok(false) => {}
            Ok(true) => {
                packet.flags |= flags::CE;
                self.marks += 1;
                self.aqm.on_mark(packet.queue_class.into(), packet.size);
            }
            Err(reason) => {
                self.aqm.on_drop(now, packet.queue_class.into(), packet.size, &self.buffer);
                return Err(reason);
            }
        }
        Ok(())
    }
}

//! What the policies decide about a packet, and how the switch carries it out.

use super::Switch;
use crate::aqm::Aqm;
use crate::buffer::QueueId;
use crate::packet::{Arena, Contents, NO_PRIORITY, Packet, PacketId, flags};
use crate::policy::{Admission, Arrival, Departure, DropReason, Verdict};
use crate::sharing::Sharing;
use spillway_engine::Time;
use std::hint::select_unpredictable;

impl<S: Sharing, A: Aqm> Switch<S, A> {
    #[inline]
    pub(super) fn arrival(
        &self,
        now: Time,
        port: u32,
        id: PacketId,
        packet: &Packet,
        packets: &Arena,
    ) -> Arrival {
        self.arrival_of(now, port, self.queue_class_of(packet), id, packet, packets)
    }

    /// An arrival at a port's queue of this queue class.
    #[inline(always)]
    pub(super) fn arrival_of(
        &self,
        now: Time,
        port: u32,
        queue_class: u8,
        id: PacketId,
        packet: &Packet,
        packets: &Arena,
    ) -> Arrival {
        let (flow, seq) = if self.names_flows {
            (packets.connection_of(id), packets.contents(id).seq)
        } else {
            (0, 0)
        };
        Arrival {
            now,
            queue: self.buffer.queue_of(port, queue_class),
            queue_class,
            size: packet.size - self.uncounted_bytes,
            first_rtt: packet.flags & flags::FIRST_RTT != 0,
            is_control: packet.flags & flags::CONTROL != 0,
            flow,
            seq,
        }
    }

    /// The queue class in which a packet waits here.
    #[inline]
    pub fn queue_class_of(&self, packet: &Packet) -> u8 {
        if self.last_queue_class == 0 {
            return 0;
        }
        // Packets of all kinds arrive in no predictable order, so a branch would often be
        // mispredicted.
        let is_control = packet.flags & flags::CONTROL != 0;
        let plain = self.plain_queue_classes[usize::from(is_control)];
        let by_priority = packet.priority.min(self.last_queue_class);
        select_unpredictable(packet.priority == NO_PRIORITY, plain, by_priority)
    }

    /// Decides about an arrival, makes room for it, and marks it. Returns false if it is lost.
    #[inline(always)]
    pub(super) fn admit(
        &mut self,
        arrival: &Arrival,
        id: PacketId,
        packet_flags: u16,
        packets: &mut Arena,
    ) -> bool {
        if self.is_watched {
            return self.admit_watched(arrival, id, packet_flags, packets);
        }
        let outcome = self.decide::<false>(arrival, id, packet_flags, packets);
        self.carry_out(outcome, arrival.now, id, arrival.queue, arrival.size, packets)
    }

    /// As `admit`, for an arrival that is announced to the sharing policy first, traced, or counted
    /// if it is unimportant.
    #[inline(never)]
    fn admit_watched(
        &mut self,
        arrival: &Arrival,
        id: PacketId,
        packet_flags: u16,
        packets: &mut Arena,
    ) -> bool {
        if self.introduces {
            let Contents { flow, seq, .. } = *packets.contents(id);
            self.sharing.introduce(flow, seq, packets.connection_of(id));
        }
        if self.is_traced {
            return self.admit_traced(arrival, id, packet_flags, packets);
        }
        let outcome = self.decide::<true>(arrival, id, packet_flags, packets);
        self.carry_out(outcome, arrival.now, id, arrival.queue, arrival.size, packets)
    }

    /// Whether an arrival is marked, or why it is lost. Makes room for it. With `LIMITS`,
    /// unimportant packets have a limit.
    #[inline(always)]
    pub(super) fn decide<const LIMITS: bool>(
        &mut self,
        arrival: &Arrival,
        id: PacketId,
        packet_flags: u16,
        packets: &mut Arena,
    ) -> Result<bool, DropReason> {
        let can_mark = packet_flags & flags::ECT != 0;
        let managed = if arrival.queue_class == self.unmanaged {
            Verdict::Pass
        } else {
            self.aqm.on_arrival(arrival, &self.buffer)
        };
        let marked = managed.outcome(can_mark, DropReason::Aqm)?;
        if !self.queue_limit.has_room(self.buffer.length(arrival.queue), arrival.size) {
            return Err(DropReason::QueueLimit);
        }
        if LIMITS && !self.takes_unimportant(arrival, packet_flags) {
            return Err(DropReason::Unimportant);
        }
        match self.sharing.admit(arrival, &self.buffer) {
            Admission::Admit if u64::from(arrival.size) <= self.buffer.free() => {}
            Admission::Admit => return Err(DropReason::BufferFull),
            Admission::Drop(reason) => return Err(reason),
            Admission::PushOut(victim) => self.push_out(victim, arrival, id, packets)?,
        }
        if LIMITS {
            self.count_unimportant(arrival, packet_flags);
        }
        Ok(marked)
    }

    /// Asks the AQM, then the sharing policy, about a packet on its way out. Returns true if it is
    /// lost.
    pub(super) fn marks_or_drops_departure(
        &mut self,
        now: Time,
        queue: QueueId,
        queue_class: u8,
        id: PacketId,
        packets: &mut Arena,
    ) -> bool {
        let packet = &mut packets[id];
        let size = packet.size - self.uncounted_bytes;
        let first_rtt = packet.flags & flags::FIRST_RTT != 0;
        let ect = packet.flags & flags::ECT != 0;
        let departure =
            Departure { now, queue, queue_class, size, first_rtt, ect, queued_at: packet.time };
        let managed = if queue_class == self.unmanaged {
            Verdict::Pass
        } else {
            self.aqm.on_departure(&departure, &self.buffer)
        };
        let outcome = managed.outcome(ect, DropReason::Aqm).and_then(|marked| {
            if !self.sharing.watches_departures() {
                return Ok(marked);
            }
            let shared = self.sharing.on_departure(&departure, &self.buffer);
            Ok(marked | shared.outcome(ect, DropReason::OverDelay)?)
        });
        if self.is_traced {
            self.note_departure(now, queue, id, size, outcome);
        }
        if outcome.is_err() {
            // The packet is not sent. If its bytes were to be held until then, they are freed now.
            self.on_sent(now, self.buffer.port_of(queue));
            self.forget_unimportant(queue, id, packets);
        }
        !self.carry_out(outcome, now, id, queue, size, packets)
    }

    /// Carries out a decision: marks the packet or loses it. Returns whether it is still there.
    #[inline(always)]
    pub(super) fn carry_out(
        &mut self,
        outcome: Result<bool, DropReason>,
        now: Time,
        id: PacketId,
        queue: QueueId,
        size: u32,
        packets: &mut Arena,
    ) -> bool {
        match outcome {
            Ok(marked) => {
                if marked {
                    packets[id].flags |= flags::CE;
                    self.marks += 1;
                }
                true
            }
            Err(reason) => {
                self.lose(now, id, queue, size, reason);
                false
            }
        }
    }
}

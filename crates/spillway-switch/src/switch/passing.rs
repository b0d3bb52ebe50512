//! Packets that find their port idle and without backlog.

use super::Switch;
use crate::aqm::Aqm;
use crate::packet::{Arena, Packet, PacketId, flags};
use crate::policy::{Arrival, DropReason, LARGEST_PACKET, Verdict};
use crate::scheduling::Scheduling;
use crate::sharing::Sharing;
use spillway_engine::Time;

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// A packet arrives for an idle port without backlog. It passes as if it were queued and sent
    /// at once. Returns the packet, or `None` if it is lost.
    #[inline(always)]
    pub fn pass(
        &mut self,
        now: Time,
        port: u32,
        id: PacketId,
        packet: &Packet,
        packets: &mut Arena,
    ) -> Option<PacketId> {
        let occupancy = self.buffer.occupancy();
        if occupancy >= self.open_below || packet.size > LARGEST_PACKET {
            if occupancy >= self.managed_below || packet.size > LARGEST_PACKET {
                return self.pass_asking(now, port, id, packets);
            }
            if self.asks_passing {
                return self.pass_managed(now, port, id, packets);
            }
            self.pass_telling(now, port, id, packets);
            return Some(id);
        }
        if self.tells_scheduler {
            self.scheduling.on_send(port, self.queue_class_of(packet), packet.size);
        }
        Some(id)
    }

    /// As `pass`, for a packet of which only the AQM is told. This function looks the packet up
    /// again, so that `pass` needs no copy of it in memory.
    #[inline(never)]
    fn pass_telling(&mut self, now: Time, port: u32, id: PacketId, packets: &Arena) {
        if self.last_queue_class > 0 {
            return self.pass_telling_of_class(now, port, id, packets);
        }
        let passing = self.arrival_of(now, port, 0, id, &packets[id], packets);
        self.aqm.on_pass(&passing, &self.buffer);
    }

    /// As `pass_telling`, at a port with several queues.
    #[inline(never)]
    fn pass_telling_of_class(&mut self, now: Time, port: u32, id: PacketId, packets: &Arena) {
        let packet = &packets[id];
        let passing = self.arrival(now, port, id, packet, packets);
        if self.tells_scheduler {
            self.scheduling.on_send(port, passing.queue_class, packet.size);
        }
        if passing.queue_class != self.unmanaged {
            self.aqm.on_pass(&passing, &self.buffer);
        }
    }

    /// As `pass`, for a packet about which only the AQM is asked.
    #[inline(never)]
    fn pass_managed(
        &mut self,
        now: Time,
        port: u32,
        id: PacketId,
        packets: &mut Arena,
    ) -> Option<PacketId> {
        let packet = &packets[id];
        let (size, can_mark) = (packet.size, packet.flags & flags::ECT != 0);
        let arrival = self.arrival(now, port, id, packet, packets);
        if arrival.queue_class != self.unmanaged {
            let verdict = self.aqm.on_idle_port(&arrival, &self.buffer);
            if verdict != Verdict::Pass {
                let outcome = verdict.outcome(can_mark, DropReason::Aqm);
                if !self.carry_out(outcome, now, id, arrival.queue, arrival.size, packets) {
                    return None;
                }
                if self.is_traced && outcome == Ok(true) {
                    self.note_mark(arrival.queue, arrival.size);
                }
                self.aqm.on_pass(&arrival, &self.buffer);
            }
        }
        if self.tells_scheduler {
            self.scheduling.on_send(port, arrival.queue_class, size);
        }
        Some(id)
    }

    /// As `pass`, for a packet about which the sharing policy is asked too, or that a trace
    /// observes.
    #[inline(never)]
    fn pass_asking(
        &mut self,
        now: Time,
        port: u32,
        id: PacketId,
        packets: &mut Arena,
    ) -> Option<PacketId> {
        let packet = packets[id];
        if !self.may_bypass {
            self.enqueue(now, port, id, &packet, packets);
            return self.dequeue(now, port, packets);
        }
        let arrival = self.arrival(now, port, id, &packet, packets);
        if !self.admit(&arrival, id, packet.flags, packets) {
            return None;
        }
        let is_managed = arrival.queue_class != self.unmanaged;
        if self.tells_passing {
            self.tell_of_passing(&arrival);
        } else if self.asks_passing && is_managed && !self.aqm.watches_departures() {
            self.aqm.on_pass(&arrival, &self.buffer);
        }
        if self.watches_departures {
            packets[id].time = now;
            if self.marks_or_drops_departure(now, arrival.queue, arrival.queue_class, id, packets) {
                return None;
            }
        }
        if self.tells_scheduler {
            self.scheduling.on_send(port, arrival.queue_class, packet.size);
        }
        Some(id)
    }

    /// Tells the policies of a packet that passes as if it had been queued. Its bytes are in the
    /// buffer for no time, so only the policies notice them.
    #[inline(never)]
    fn tell_of_passing(&mut self, arrival: &Arrival) {
        let &Arrival { now, queue, size, .. } = arrival;
        self.buffer.add(queue, size);
        self.sharing.on_enqueue(arrival, &self.buffer);
        self.aqm.on_enqueue(arrival, &self.buffer);
        self.buffer.subtract(queue, size);
        self.sharing.on_dequeue(now, queue, size, &self.buffer);
        self.aqm.on_dequeue(now, queue, size, &self.buffer);
    }

    /// Two occupancies. Below the first, no policy need be asked about a packet that passes. Below
    /// the second, only the AQM need be asked or told.
    pub(super) fn opens_below(&self) -> (u64, u64) {
        if self.lossless.is_some() {
            // The buffer's capacity changes as lossless packets come and go.
            return (0, 0);
        }
        let fits = self.queue_limit.takes(LARGEST_PACKET);
        let (watches, passes) = (self.aqm.watches_departures(), self.aqm.passes_idle_ports());
        let is_seen =
            !self.may_bypass || self.traces_arrivals() || self.tells_passing || self.introduces;
        if !fits || is_seen || (watches && !passes) {
            return (0, 0);
        }
        let below = self.sharing.open_below(self.buffer.capacity());
        if passes && !self.aqm.watches_passing() { (below, below) } else { (0, below) }
    }
}

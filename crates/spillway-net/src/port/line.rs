//! One direction of a cable, with the port that sends on it.

use super::ring::PortFifo;
use crate::event::Kind;
use crate::topology::Link;
use spillway_engine::{EventQueue, Time};
use spillway_switch::packet::{Arena, NO_PACKET, Packet, PacketId};

/// How a port that waits gets to send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waking {
    /// By an event.
    ByEvent,
    /// Deferred: no later than with the next arrival at its switch.
    Deferred,
    /// Deferred, and nothing is decided then: its packets are sent in the order of their arrival, and
    /// are on the line already. Only the buffer hears that they leave.
    InOrder,
}

/// A port's line. Those of hosts come first, numbered as the hosts; then those of each switch, in
/// the order of its ports.
///
/// Packets arrive in the order in which they were sent, so those on the line form a list through
/// the packets themselves, and only the first has an event.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Line {
    /// When the port can send again: take the next packet out of its queues.
    pub busy_until: Time,
    /// How long a bit travels.
    pub delay: Time,
    /// How long a byte takes.
    pub ps_per_byte: u64,
    /// The packet that arrives next.
    pub head: PacketId,
    /// The packet that was sent last.
    pub tail: PacketId,
    /// When that arrives.
    tail_arrival: Time,
    /// Where it leads: a host or a switch.
    pub to: u32,
    /// Its own number.
    pub number: u32,
    /// The switch that sends on it; for hosts' lines the host.
    pub from: u32,
    pub to_host: bool,
    /// Whether the port waits: it will do something when it can send again.
    pub waits: bool,
    /// How it gets to send again.
    pub waking: Waking,
    /// Whether what is put on it is looked at first: it is down, or loses packets, or its port writes
    /// telemetry or has a ring below its queues.
    pub attended: bool,
    /// Bytes put on it so far, with those that wait for their turn.
    pub accepted_bytes: u64,
}

impl Line {
    pub fn new(number: u32, link: &Link, from: u32, (to, to_host): (u32, bool)) -> Line {
        Line {
            busy_until: Time::ZERO,
            delay: link.delay,
            ps_per_byte: link.rate.ps_per_byte(),
            head: NO_PACKET,
            tail: NO_PACKET,
            tail_arrival: Time::ZERO,
            to,
            number,
            from,
            to_host,
            waits: false,
            waking: Waking::ByEvent,
            attended: false,
            accepted_bytes: 0,
        }
    }

    /// Puts a packet on the line.
    #[inline(always)]
    pub fn send(&mut self, now: Time, id: PacketId, packets: &mut Arena, events: &mut EventQueue) {
        let arrival = self.occupy(now, &mut packets[id]);
        self.carry(id, arrival, packets, events);
    }

    /// Takes the time that a packet takes, as soon as the packets before it are sent. Returns when
    /// it arrives.
    #[inline(always)]
    pub fn occupy(&mut self, now: Time, packet: &mut Packet) -> Time {
        let size = u64::from(packet.size);
        let end = self.busy_until.max(now) + self.time_of(size);
        self.busy_until = end;
        self.accepted_bytes += size;
        packet.time = end + self.delay;
        packet.next = NO_PACKET;
        packet.time
    }

    /// The same for a port with a ring below its queues.
    pub fn occupy_in_turn(&mut self, now: Time, packet: &mut Packet, fifo: &mut PortFifo) -> Time {
        let (end, has_room_at) = fifo.push(now, self.time_of(packet.size.into()));
        self.busy_until = has_room_at;
        self.accepted_bytes += u64::from(packet.size);
        packet.time = end + self.delay;
        packet.next = NO_PACKET;
        packet.time
    }

    /// Takes a packet in behind those that are on the line already.
    #[inline(always)]
    pub fn carry(
        &mut self,
        id: PacketId,
        arrival: Time,
        packets: &mut Arena,
        events: &mut EventQueue,
    ) {
        let tail = std::mem::replace(&mut self.tail, id);
        let tail_arrival = std::mem::replace(&mut self.tail_arrival, arrival);
        if self.head == NO_PACKET {
            self.head = id;
            events.push(arrival, Kind::Arrival.key(self.number));
        } else {
            let tail = &mut packets[tail];
            tail.next = id;
            tail.prev = gap(arrival - tail_arrival);
        }
    }

    /// Takes off the first packet, which is `packet`; the next one becomes the one that has an
    /// event.
    #[inline(always)]
    pub fn take(&mut self, packet: &Packet, packets: &Arena, events: &mut EventQueue) {
        let &Packet { next, prev, time, .. } = packet;
        self.head = next;
        if next != NO_PACKET {
            let arrival = match prev {
                LONG_GAP => packets[next].time,
                gap => time + Time::from_ps(gap.into()),
            };
            events.push(arrival, Kind::Arrival.key(self.number));
        }
    }

    /// Bytes sent until now.
    pub fn sent_bytes(&self, now: Time) -> u64 {
        self.accepted_bytes - self.busy_until.since(now).ps() / self.ps_per_byte
    }

    /// How long so many bytes take.
    #[inline(always)]
    pub fn time_of(&self, bytes: u64) -> Time {
        Time::from_ps(bytes * self.ps_per_byte)
    }
}

/// A packet on a line keeps in `prev`, which only queues need, how long after it the next one
/// arrives: so that one need not be looked at before its time. This stands for gaps that are longer.
const LONG_GAP: u32 = u32::MAX;

fn gap(time: Time) -> u32 {
    u32::try_from(time.ps()).unwrap_or(LONG_GAP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_cache_line() {
        assert_eq!(size_of::<Line>(), 64);
    }
}

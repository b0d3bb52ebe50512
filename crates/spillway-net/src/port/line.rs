//! A line: one direction of a link, and the state of the port that sends on it.

use super::ring::PortFifo;
use crate::event::Kind;
use spillway_engine::{ByteTime, EventQueue, Time};
use spillway_switch::packet::{Arena, NO_PACKET, Packet, PacketId};
use spillway_topology::LineSpec;

/// What makes a waiting port send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waking {
    /// An event wakes it.
    ByEvent,
    /// It is deferred: it sends when the next packet arrives at its switch or NIC, or when its line
    /// runs empty.
    Deferred,
    /// It is deferred, and its packets leave in the order of arrival. They are on the line already.
    /// The switch only has to tell its buffer, later, that they leave.
    InOrder,
    /// It is deferred, and nothing can overtake the packets of its best queue. These are on the
    /// line already. The switch only has to tell its buffer, later, that they leave.
    BestInOrder,
    /// An event wakes it, and pause frames may stop its queues.
    Pausable,
    /// An event after the arrivals of the same moment wakes it, even if it could send at once.
    AfterArrivals,
}

impl Waking {
    /// Whether packets may still wait at the port when its line runs empty, because no event wakes
    /// the port.
    #[inline(always)]
    pub fn sends_when_empty(self) -> bool {
        matches!(self, Waking::Deferred | Waking::BestInOrder)
    }
}

/// What is at the far end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A switch.
    Switch,
    /// A host, which takes in packets as they arrive.
    Host,
    /// A switch with lossless priorities.
    LosslessSwitch,
    /// A switch that expels packets, without lossless priorities.
    ExpellingSwitch,
    /// A host that takes in packets at a rate of its own.
    SlowHost,
}

impl End {
    /// Whether it is a host.
    #[inline(always)]
    pub fn is_host(self) -> bool {
        matches!(self, End::Host | End::SlowHost)
    }
}

/// A port's line. Lines are numbered: first those of hosts, with the hosts' numbers, then those of
/// each switch in the order of its ports.
///
/// Packets arrive in the order in which they were sent. So the packets on a line form a list
/// through the packets themselves, and only the first one has an event.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct Line {
    /// When the port can take the next packet out of its queues.
    pub busy_until: Time,
    /// The propagation delay.
    pub delay: Time,
    /// The time that a byte takes to be sent.
    pub byte_time: ByteTime,
    /// The packet that arrives next.
    pub head: PacketId,
    /// The packet that was sent last.
    pub tail: PacketId,
    /// For a port whose waiting packets are on the line already: the bytes put on the line before
    /// the packet that the port sends next. Only the low 32 bits, which suffice for that packet's
    /// time.
    told: u32,
    /// When the packet that was sent last arrives: the low 32 bits, in picoseconds.
    last: u32,
    /// Where it leads: a host or a switch.
    pub to: u32,
    /// Its own number.
    pub number: u32,
    /// The switch, or for a host's line the host, that sends on it.
    pub from: u32,
    /// The kind of node to which it leads.
    pub end: End,
    /// Whether the port waits until it can send again.
    pub waits: bool,
    /// What makes the port send again.
    pub waking: Waking,
    /// Whether packets put on it need a check first. This is so if the line is down, loses packets
    /// or is slow, if its port writes telemetry or has a ring below its queues, or if times are cut
    /// to whole nanoseconds.
    pub attended: bool,
    /// Bytes put on it so far, including those that it has not sent yet.
    pub accepted_bytes: u64,
}

impl Line {
    pub fn new(number: u32, spec: &LineSpec, from: u32, (to, end): (u32, End)) -> Line {
        Line {
            busy_until: Time::ZERO,
            delay: spec.delay,
            byte_time: spec.rate.byte_time(),
            head: NO_PACKET,
            tail: NO_PACKET,
            told: 0,
            last: 0,
            to,
            number,
            from,
            end,
            waits: false,
            waking: Waking::ByEvent,
            attended: false,
            accepted_bytes: 0,
        }
    }

    /// Puts a packet on the line.
    #[inline(always)]
    pub fn send(&mut self, now: Time, id: PacketId, packets: &mut Arena, events: &mut EventQueue) {
        let packet = &mut packets[id];
        let lasts = self.byte_time.quick_time_behind(self.accepted_bytes, packet.size.into());
        let arrival = self.occupy_for(now, packet, lasts);
        self.carry(id, (arrival, lasts), packets, events);
    }

    /// The time that so many bytes take, behind those that have been put on the line.
    #[inline(always)]
    pub fn lasts(&self, bytes: u64) -> Time {
        self.byte_time.time_behind(self.accepted_bytes, bytes)
    }

    /// The port begins to wait until everything that is on the line now has been sent.
    #[inline(always)]
    pub fn begin_waiting(&mut self) {
        self.waits = true;
        self.catch_up_told();
    }

    /// The time of the packet that the port sends next, if that packet is on the line already. The
    /// port sends it as soon as its wait is over.
    #[inline(always)]
    pub fn lasts_ahead(&mut self, bytes: u64) -> Time {
        let lasts = self.byte_time.quick_time_behind(self.told.into(), bytes);
        self.told = self.told.wrapping_add(bytes as u32);
        lasts
    }

    /// The port has sent everything that is on the line now.
    #[inline(always)]
    pub fn catch_up_told(&mut self) {
        self.told = self.accepted_bytes as u32;
    }

    /// Reserves the line for a packet that takes `lasts` to be sent, behind those put on it before.
    /// Returns when the packet arrives.
    #[inline(always)]
    pub fn occupy_for(&mut self, now: Time, packet: &mut Packet, lasts: Time) -> Time {
        let end = self.busy_until.max(now) + lasts;
        self.busy_until = end;
        self.accepted_bytes += u64::from(packet.size);
        packet.time = end + self.delay;
        packet.next = NO_PACKET;
        packet.time
    }

    /// As `occupy_for`, for a port with a ring below its queues.
    pub fn occupy_in_turn(
        &mut self,
        now: Time,
        packet: &mut Packet,
        lasts: Time,
        fifo: &mut PortFifo,
    ) -> Time {
        let (end, has_room_at) = fifo.push(now, lasts);
        self.busy_until = has_room_at;
        self.accepted_bytes += u64::from(packet.size);
        packet.time = end + self.delay;
        packet.next = NO_PACKET;
        packet.time
    }

    /// Appends a packet to those on the line. It takes `lasts` to be sent.
    ///
    /// The packet before it is only written to, so nothing waits for it to be in the cache. It is
    /// still on the line, so the gap between the two is at most `lasts` and the propagation delay.
    #[inline(always)]
    pub fn carry(
        &mut self,
        id: PacketId,
        (arrival, lasts): (Time, Time),
        packets: &mut Arena,
        events: &mut EventQueue,
    ) {
        let tail = std::mem::replace(&mut self.tail, id);
        let low = arrival.ps() as u32;
        if self.head == NO_PACKET {
            self.head = id;
            events.push(arrival, Kind::Arrival.key(self.number));
        } else {
            let tail = &mut packets[tail];
            tail.next = id;
            let is_short = (lasts + self.delay).ps() < LONG_GAP.into();
            tail.prev = if is_short { low.wrapping_sub(self.last) } else { LONG_GAP };
        }
        self.last = low;
    }

    /// Appends a packet that has come from the line's sender and arrives at this time.
    pub fn receive(
        &mut self,
        id: PacketId,
        arrival: Time,
        packets: &mut Arena,
        events: &mut EventQueue,
    ) {
        let tail = std::mem::replace(&mut self.tail, id);
        if self.head == NO_PACKET {
            self.head = id;
            events.push(arrival, Kind::Arrival.key(self.number));
        } else {
            let tail = &mut packets[tail];
            tail.next = id;
            tail.prev = (arrival - tail.time).ps().min(LONG_GAP.into()) as u32;
        }
    }

    /// Removes the first packet, which is `packet`, and schedules the arrival of the next one.
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
        self.accepted_bytes - self.byte_time.bytes_in(self.busy_until.since(now))
    }

    /// How long the byte in transmission still takes.
    pub fn rest_of_byte(&self, now: Time) -> Time {
        self.byte_time.beyond_bytes(self.busy_until.since(now))
    }

    /// Whether times on this line need more exact arithmetic than those of quick lines.
    pub fn is_slow(&self) -> bool {
        !self.byte_time.is_quick()
    }

    /// The time that this many bytes take to be sent.
    #[inline(always)]
    pub fn time_of(&self, bytes: u64) -> Time {
        self.byte_time.time_of(bytes)
    }
}

/// The field `prev` is needed only in queues. On a line, a packet stores there the gap until the
/// next packet arrives, so the next packet need not be touched before. This value stands for a gap
/// that may be too long for the field.
const LONG_GAP: u32 = u32::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_cache_line() {
        assert_eq!(size_of::<Line>(), 64);
    }
}

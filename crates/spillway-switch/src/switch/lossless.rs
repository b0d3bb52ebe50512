//! Lossless packets. Each is held in a queue and in the account of the port by which it came in.
//! Pause frames can stop lossless queues. See [`pfc`](crate::pfc).
//!
//! What the sharing policy sees depends on `sees_all`. Without it, the policy's buffer is what
//! reserves, headrooms and lossless packets leave free. The policy does not see lossless queues,
//! and takes no victims from them. With `sees_all`, the policy also sees the lossless queues. Only
//! the unused part of reserves and headrooms is hidden from it.
//!
//! An AQM manages lossless queues like others, except that it only marks: a packet that it would
//! drop passes. An AQM may look at several queues of a port. So it is shown a buffer with the
//! lengths of all queues, lossless and lossy.

use super::{Lost, Switch};
use crate::aqm::Aqm;
use crate::buffer::{Buffer, QueueId};
use crate::lists::Place;
use crate::meter::Meter;
use crate::packet::{Arena, Packet, PacketId, flags};
use crate::pfc::{Accounts, LosslessParts, PauseChange};
use crate::policy::{Arrival, Departure, DropReason};
use crate::scheduling::Scheduling;
use crate::sharing::Sharing;
use spillway_engine::{Rate, Time};

/// Stands in place of a number for a queue class that is not lossless.
const LOSSY: u8 = u8::MAX;

/// A switch's state of lossless packets.
#[derive(Clone, Debug)]
pub(super) struct Lossless {
    accounts: Accounts,
    /// The number of each queue class among the lossless ones; [`LOSSY`] for other queue classes.
    places: Box<[u8]>,
    /// The queue classes of each port that are paused, a bit each.
    paused: Box<[u64]>,
    /// The lengths of all queues. Those of lossy queues are copies, made when an AQM looks at them:
    /// the switch's own buffer counts their bytes.
    buffer: Buffer,
    /// The queue classes that are not lossless.
    lossy: Box<[u8]>,
    /// With `release_at_end`: for every port, the account of the packet in transmission.
    in_transmission: Box<[u32]>,
    /// Whether a packet passes if it finds its port idle and its account far from the threshold.
    lets_pass: bool,
    /// Bytes that all packets take. The meter records how they change.
    occupancy: u64,
    meter: Meter,
}

impl Lossless {
    pub fn new(
        parts: LosslessParts,
        capacity: u64,
        port_rates: &[Rate],
        queues_per_port: u32,
        meter: &Meter,
    ) -> Lossless {
        let mut places = vec![LOSSY; queues_per_port as usize];
        for (place, &queue_class) in (0..).zip(&parts.queue_classes) {
            places[usize::from(queue_class)] = place;
        }
        Lossless {
            accounts: Accounts::new(parts),
            lossy: (0..)
                .zip(&places)
                .filter(|&(_, &place)| place == LOSSY)
                .map(|(n, _)| n)
                .collect(),
            places: places.into(),
            paused: vec![0; port_rates.len()].into(),
            buffer: Buffer::new(capacity, port_rates.to_vec(), queues_per_port),
            in_transmission: vec![0; port_rates.len()].into(),
            lets_pass: false,
            occupancy: 0,
            meter: meter.clone(),
        }
    }

    /// The capacity of the sharing policy's buffer.
    pub fn capacity_left(&self) -> u64 {
        let capacity = self.buffer.capacity();
        if self.accounts.parts().sees_all {
            capacity - self.accounts.unused()
        } else {
            capacity - self.accounts.parts().set_aside() - self.accounts.shared()
        }
    }

    /// The occupancy by all packets, measured up to `now`.
    pub fn meter(&mut self, now: Time) -> &Meter {
        self.meter.changes(now, self.occupancy, self.occupancy);
        &self.meter
    }

    /// All queues of a port, as AQMs see them. `buffer` counts the lossy queues.
    pub fn with_lossy(&mut self, port: u32, buffer: &Buffer) -> &Buffer {
        for &queue_class in &self.lossy {
            let queue = buffer.queue_of(port, queue_class);
            self.buffer.copy_length(queue, buffer.length(queue));
        }
        &self.buffer
    }

    /// As `with_lossy`, for all ports.
    pub fn with_all(&mut self, buffer: &Buffer) -> &Buffer {
        for port in 0..buffer.ports() {
            self.with_lossy(port, buffer);
        }
        &self.buffer
    }

    fn change(&mut self, now: Time, occupancy: u64) {
        if occupancy != self.occupancy {
            self.meter.changes(now, self.occupancy, occupancy);
            self.occupancy = occupancy;
        }
    }
}

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// Whether a queue class is lossless.
    #[inline]
    pub(super) fn is_lossless(&self, queue_class: u8) -> bool {
        let lossless = self.lossless.as_ref();
        lossless.is_some_and(|lossless| lossless.places[usize::from(queue_class)] != LOSSY)
    }

    /// Whether a queue is lossless.
    #[inline]
    pub(super) fn is_lossless_queue(&self, queue: QueueId) -> bool {
        self.lossless.is_some() && self.is_lossless(self.buffer.queue_class_of(queue))
    }

    /// The queue classes of a port that are paused, a bit each.
    #[inline]
    pub(super) fn paused(&self, port: u32) -> u64 {
        self.lossless.as_ref().map_or(0, |lossless| lossless.paused[port as usize])
    }

    /// Whether a port has a backlog in a queue that is not paused.
    #[inline]
    pub fn can_send(&self, port: u32) -> bool {
        !self.lists.backlog(port).but(self.paused(port)).is_empty()
    }

    /// The buffer that counts a queue's bytes.
    #[inline]
    pub fn buffer_of(&self, queue: QueueId) -> &Buffer {
        match &self.lossless {
            Some(lossless) if self.is_lossless_queue(queue) => &lossless.buffer,
            _ => &self.buffer,
        }
    }

    /// Bytes that the switch holds, lossless packets among them.
    pub fn occupancy(&self) -> u64 {
        let lossy = self.buffer.occupancy();
        match &self.lossless {
            Some(lossless) if !lossless.accounts.parts().sees_all => {
                lossy + lossless.buffer.occupancy()
            }
            _ => lossy,
        }
    }

    /// Bytes that the switch can hold.
    pub fn capacity(&self) -> u64 {
        self.lossless.as_ref().map_or(&self.buffer, |lossless| &lossless.buffer).capacity()
    }

    /// Bytes that a port holds, lossless packets among them.
    pub fn port_bytes(&self, port: u32) -> u64 {
        let queues = self.buffer.queues_of(port);
        queues.map(|queue| u64::from(self.buffer_of(queue).bytes(queue))).sum()
    }

    /// The accounts of lossless packets, if some are lossless.
    pub fn accounts(&self) -> Option<&Accounts> {
        self.lossless.as_ref().map(|lossless| &lossless.accounts)
    }

    /// A packet has come in by the port `from` and shall leave by the port `port`. `is_idle` says
    /// whether that port could send it now. Returns the packet if it is sent now. For switches with
    /// lossless priorities.
    #[inline(always)]
    pub fn receive(
        &mut self,
        now: Time,
        (from, port): (u32, u32),
        is_idle: bool,
        (id, packet): (PacketId, &Packet),
        packets: &mut Arena,
    ) -> Option<PacketId> {
        let queue_class = self.queue_class_of(packet);
        let Some(lossless) = &self.lossless else { unreachable!("it has lossless priorities") };
        let is_idle = is_idle && lossless.paused[port as usize] >> queue_class & 1 == 0;
        let place = lossless.places[usize::from(queue_class)];
        if place == LOSSY {
            let sent = if is_idle {
                self.pass(now, port, id, packet, packets)
            } else {
                self.enqueue(now, port, id, packet, packets);
                None
            };
            self.note_occupancy(now);
            return sent;
        }
        let account = lossless.accounts.of(from, place);
        let size = packet.size - self.uncounted_bytes;
        if is_idle
            && lossless.lets_pass
            && lossless.accounts.lets_pass(account, size, self.buffer.free())
        {
            if self.tells_scheduler {
                self.scheduling.on_send(port, queue_class, packet.size);
            }
            return Some(id);
        }
        let arrival = self.arrival_of(now, port, queue_class, id, packet, packets);
        if self.queues_lossless(&arrival, account, id, packets) && is_idle {
            return self.dequeue(now, port, packets);
        }
        None
    }

    /// Accounts for a lossless packet and queues it. Returns false if it is lost.
    #[inline(never)]
    fn queues_lossless(
        &mut self,
        arrival: &Arrival,
        account: u32,
        id: PacketId,
        packets: &mut Arena,
    ) -> bool {
        let &Arrival { now, queue, queue_class, size, .. } = arrival;
        if self.is_traced {
            self.note_held(now, queue);
        }
        let (free, is_managed) = (self.buffer.free(), queue_class != self.unmanaged);
        let Some(lossless) = &mut self.lossless else { return false };
        if !lossless.accounts.admit(account, size, free) {
            // The AQM was not asked about this packet, so it is not told of the loss.
            self.lost.push(Lost { packet: id, queue, reason: DropReason::Headroom });
            self.note_drop(queue, size);
            return false;
        }
        let packet = &mut packets[id];
        (packet.time, packet.queue_class) = (now, queue_class);
        if is_managed {
            let port = self.buffer.port_of(queue);
            let verdict = self.aqm.on_arrival(arrival, lossless.with_lossy(port, &self.buffer));
            let can_mark = packet.flags & flags::ECT != 0;
            if verdict.outcome(can_mark, DropReason::Aqm) == Ok(true) {
                packet.flags |= flags::CE;
                self.marks += 1;
                self.aqm.on_mark(queue, size);
                if let Some(observer) = &mut self.observer {
                    observer.marks(queue, packet.size);
                }
            }
        }
        packets.name_account(id, account);
        self.lists.append(
            Place { queue, port: self.buffer.port_of(queue), queue_class },
            id,
            packets,
        );
        lossless.buffer.add(queue, size);
        if lossless.accounts.parts().sees_all {
            self.buffer.add(queue, size);
        }
        let port = self.buffer.port_of(queue);
        self.aqm.on_enqueue(arrival, lossless.with_lossy(port, &self.buffer));
        self.buffer.set_capacity(lossless.capacity_left());
        self.note_occupancy(now);
        true
    }

    /// A lossless packet leaves its queue to be sent.
    pub(super) fn leaves_lossless(
        &mut self,
        now: Time,
        port: u32,
        queue: QueueId,
        id: PacketId,
        packets: &mut Arena,
    ) {
        let (size, account) = (packets[id].size - self.uncounted_bytes, packets.account_of(id));
        match &mut self.in_transmission {
            None => self.frees_account(now, account, queue, size, true),
            Some(in_transmission) => {
                in_transmission[port as usize] = (queue, size);
                if let Some(lossless) = &mut self.lossless {
                    lossless.in_transmission[port as usize] = account;
                    lossless.buffer.subtract_packet(queue);
                    if lossless.accounts.parts().sees_all {
                        self.buffer.subtract_packet(queue);
                    }
                }
            }
        }
        let Some(lossless) = &mut self.lossless else { return };
        let buffer = lossless.with_lossy(port, &self.buffer);
        self.aqm.on_dequeue(now, queue, size, buffer);
        let packet = &mut packets[id];
        if self.aqm.watches_departures() && packet.queue_class != self.unmanaged {
            let (first_rtt, ect) =
                (packet.flags & flags::FIRST_RTT != 0, packet.flags & flags::ECT != 0);
            let (queue_class, queued_at) = (packet.queue_class, packet.time);
            let departure = Departure { now, queue, queue_class, size, first_rtt, ect, queued_at };
            let verdict = self.aqm.on_departure(&departure, buffer);
            if verdict.outcome(ect, DropReason::Aqm) == Ok(true) {
                packet.flags |= flags::CE;
                self.marks += 1;
                self.aqm.on_mark(queue, size);
                if let Some(observer) = &mut self.observer {
                    observer.marks(queue, packet.size);
                }
            }
        }
    }

    /// The transmission of a lossless packet has ended: frees its bytes.
    pub(super) fn frees_lossless(&mut self, now: Time, port: u32, queue: QueueId, size: u32) {
        if let Some(lossless) = &self.lossless {
            let account = lossless.in_transmission[port as usize];
            self.frees_account(now, account, queue, size, false);
        }
    }

    /// Frees the bytes of a packet. `with_packet` says whether the queue still counts the packet.
    fn frees_account(
        &mut self,
        now: Time,
        account: u32,
        queue: QueueId,
        size: u32,
        with_packet: bool,
    ) {
        if self.is_traced {
            self.note_held(now, queue);
        }
        let free = self.buffer.free();
        let Some(lossless) = &mut self.lossless else { return };
        let sees_all = lossless.accounts.parts().sees_all;
        for buffer in [Some(&mut lossless.buffer), sees_all.then_some(&mut self.buffer)] {
            let Some(buffer) = buffer else { continue };
            if with_packet {
                buffer.subtract_packet(queue);
            }
            buffer.subtract_bytes(queue, size);
        }
        lossless.accounts.release(account, size, free);
        self.buffer.set_capacity(lossless.capacity_left());
        self.note_occupancy(now);
    }

    /// Loses a packet that has just been taken from the head of a lossless queue.
    pub(super) fn purges_lossless(
        &mut self,
        now: Time,
        queue: QueueId,
        id: PacketId,
        reason: DropReason,
        packets: &Arena,
    ) {
        let size = packets[id].size - self.uncounted_bytes;
        self.frees_account(now, packets.account_of(id), queue, size, true);
        self.lost.push(Lost { packet: id, queue, reason });
        if let Some(lossless) = &mut self.lossless {
            let port = self.buffer.port_of(queue);
            self.aqm.on_drop(now, queue, size, lossless.with_lossy(port, &self.buffer));
        }
        self.note_drop(queue, size);
    }

    /// Tells the meter what the switch holds now, if some packets are lossless.
    pub(super) fn note_occupancy(&mut self, now: Time) {
        let occupancy = self.occupancy();
        if let Some(lossless) = &mut self.lossless {
            lossless.change(now, occupancy);
        }
    }

    /// A port can send again. As [`Switch::send_next`], for a switch whose queues may be paused.
    pub fn send_next_unpaused(
        &mut self,
        now: Time,
        port: u32,
        packets: &mut Arena,
    ) -> Option<(PacketId, bool)> {
        self.has_sent(now, port);
        let id = self.dequeue(now, port, packets);
        self.note_occupancy(now);
        Some((id?, self.releases_at_end() || self.can_send(port)))
    }

    /// A port has put the last byte of a packet on its line. With `release_at_end` the packet's
    /// bytes are freed now.
    pub fn has_sent(&mut self, now: Time, port: u32) {
        if self.releases_at_end() {
            self.on_sent(now, port);
            self.note_occupancy(now);
        }
    }

    /// A pause frame stops a queue class of a port, or lets it send again.
    pub fn pause(&mut self, port: u32, queue_class: u8, pauses: bool) {
        if let Some(lossless) = &mut self.lossless {
            let paused = &mut lossless.paused[port as usize];
            if pauses { *paused |= 1 << queue_class } else { *paused &= !(1 << queue_class) }
        }
    }

    /// Whether a port's queue class is paused.
    pub fn is_paused(&self, port: u32, queue_class: u8) -> bool {
        self.paused(port) >> queue_class & 1 == 1
    }

    /// A port's link has failed. No queue of the port is paused any more, and no account of the
    /// port pauses the neighbour.
    pub fn forget_pauses(&mut self, port: u32) {
        if let Some(lossless) = &mut self.lossless {
            lossless.paused[port as usize] = 0;
            lossless.accounts.forget(port);
        }
    }

    /// Whether accounts have to stop their neighbours or let them send again.
    #[inline]
    pub fn has_pause_changes(&self) -> bool {
        self.lossless.as_ref().is_some_and(|lossless| lossless.accounts.has_changes())
    }

    /// Takes the changes since the last call.
    pub fn take_pause_changes(&mut self) -> Vec<PauseChange> {
        self.lossless.as_mut().map(|lossless| lossless.accounts.take_changes()).unwrap_or_default()
    }

    /// Decides whether lossless packets that find their port idle may pass.
    pub(super) fn let_lossless_pass(&mut self) {
        let needs_none = self.aqm.passes_idle_ports()
            && !self.aqm.watches_passing()
            && !self.aqm.watches_queues();
        let passes = self.may_bypass && needs_none;
        if let Some(lossless) = &mut self.lossless {
            lossless.lets_pass = passes;
        }
    }

    /// The packets that wait in a queue: the account of each and its bytes.
    pub fn bytes_by_account<'a>(
        &'a self,
        queue: QueueId,
        packets: &'a Arena,
    ) -> impl Iterator<Item = (u32, u32)> + use<'a, S, A> {
        let size = |id| packets[id].size - self.uncounted_bytes;
        let ids = self.lists.packets_of(queue, packets);
        ids.map(move |id| (packets.account_of(id), size(id)))
    }

    /// Whether accounts agree with the packets that wait or are being sent; for tests.
    pub(super) fn lossless_agrees(&self, packets: &Arena) -> bool {
        let Some(lossless) = &self.lossless else { return true };
        let classes = lossless.accounts.parts().queue_classes.len();
        let mut held = vec![0u64; lossless.paused.len() * classes];
        for queue in 0..self.buffer.queues().len() as QueueId {
            if self.is_lossless_queue(queue) {
                for (account, size) in self.bytes_by_account(queue, packets) {
                    held[account as usize] += u64::from(size);
                }
            }
        }
        for (port, &(queue, size)) in self.in_transmission.iter().flatten().enumerate() {
            if size > 0 && self.is_lossless_queue(queue) {
                held[lossless.in_transmission[port] as usize] += u64::from(size);
            }
        }
        lossless.accounts.agrees(&held)
            && self.buffer.capacity() == lossless.capacity_left()
            && lossless.occupancy == self.occupancy()
    }
}

//! Ports, or best queues of ports, that send packets in the order in which they admitted them.
//!
//! Once such a port has queued a packet, nothing more is decided about it. The switch's owner knows
//! at once when the packet will be sent. So the switch keeps only the packet's size, and returns
//! the size when the packet is sent. Under strict priority this also holds for the best queue of a
//! port, since the other queues wait for it.

use super::Switch;
use crate::aqm::Aqm;
use crate::lists::Place;
use crate::packet::{Arena, Packet, PacketId};
use crate::sharing::Sharing;
use spillway_engine::{Time, prefetch};

/// What a port has begun to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// A packet of this size, which is on the line already.
    Ahead(u32),
    /// A packet that is to be put on the line.
    Packet(PacketId),
}

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// Asks the processor to fetch what a packet for the only queue of a port needs soon.
    #[inline(always)]
    pub fn prefetch(&self, port: u32) {
        prefetch(self.buffer.queues(), port as usize);
        prefetch(&self.sizes, port as usize);
    }

    /// Whether a packet belongs in the best queue of its port.
    #[inline(always)]
    pub fn is_best(&self, packet: &Packet) -> bool {
        self.queue_class_of(packet) == 0
    }

    /// A packet arrives for the only queue of a port that sends in order. The port is sending or
    /// has a backlog. Returns whether the packet is admitted; otherwise it is lost.
    #[inline(always)]
    pub fn enqueue_in_order(
        &mut self,
        now: Time,
        port: u32,
        id: PacketId,
        packet: &Packet,
        packets: &mut Arena,
    ) -> bool {
        let arrival = self.arrival(now, port, id, packet, packets);
        if !self.admit(&arrival, id, packet.flags, packets) {
            return false;
        }
        self.sizes[port as usize].push(packet.size);
        self.joins(&arrival);
        true
    }

    /// As `enqueue_in_order`, for the best queue of a port that has several.
    #[inline(always)]
    pub fn enqueue_best(
        &mut self,
        now: Time,
        port: u32,
        id: PacketId,
        packet: &Packet,
        packets: &mut Arena,
    ) -> bool {
        let is_admitted = self.enqueue_in_order(now, port, id, packet, packets);
        if is_admitted {
            self.lists.backlog_mut(port).insert(0);
        }
        is_admitted
    }

    /// A port that sends in order begins to send its next packet. Returns the packet's size, and
    /// whether more packets wait.
    #[inline(always)]
    pub fn send_in_order(&mut self, now: Time, port: u32) -> (u32, bool) {
        let (size, waits) = self.sizes[port as usize].take();
        // The port has one queue, with the port's number.
        self.leaves(now, port, port, size - self.uncounted_bytes);
        (size, waits)
    }

    /// A port under strict priority, whose best queue sends in order, begins to send its next
    /// packet. There must be one. Also returns whether more packets wait.
    #[inline(always)]
    pub fn send_by_priority(&mut self, now: Time, port: u32, packets: &Arena) -> (Sent, bool) {
        let queue_class = self.lists.backlog(port).first();
        let queue = self.buffer.queue_of(port, queue_class);
        let (sent, size) = match queue_class {
            0 => {
                let (size, more) = self.sizes[port as usize].take();
                self.lists.backlog_mut(port).remove_if(!more, 0);
                (Sent::Ahead(size), size)
            }
            _ => {
                let id = self.lists.take_head(Place { queue, port, queue_class }, packets);
                (Sent::Packet(id), packets[id].size)
            }
        };
        self.leaves(now, port, queue, size - self.uncounted_bytes);
        (sent, self.has_backlog(port))
    }
}

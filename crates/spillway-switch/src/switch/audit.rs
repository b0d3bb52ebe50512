//! Whether a switch's counters agree with its packets, for tests.

use super::Switch;
use crate::aqm::Aqm;
use crate::buffer::QueueId;
use crate::packet::{Arena, NO_PACKET, PacketId};
use crate::sharing::Sharing;

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// The first packet of every queue, for tests.
    pub fn heads(&self) -> impl Iterator<Item = PacketId> {
        self.lists.as_slice().iter().map(|list| list.head)
    }

    /// Whether all counters agree with the packets that wait; for tests.
    pub fn is_consistent(&self, packets: &Arena) -> bool {
        let waiting = |queue: usize| {
            let (port, is_best) = (
                self.buffer.port_of(queue as QueueId) as usize,
                self.buffer.queue_class_of(queue as QueueId) == 0,
            );
            let sizes = self.sizes[port].iter().filter(|_| is_best);
            let (mut bytes, mut count) =
                sizes.fold((0, 0), |(b, n), size| (b + size - self.uncounted_bytes, n + 1));
            let mut id = self.lists.as_slice()[queue].head;
            while id != NO_PACKET {
                bytes += packets[id].size - self.uncounted_bytes;
                count += 1;
                id = packets[id].next;
            }
            (bytes, count)
        };
        let mut held: Vec<(u32, u32)> = (0..self.lists.as_slice().len()).map(waiting).collect();
        for &(queue, size) in self.in_transmission.iter().flatten().filter(|(_, size)| *size > 0) {
            held[queue as usize].0 += size;
        }
        let total: u64 = held.iter().map(|(bytes, _)| u64::from(*bytes)).sum();
        let same = |(queue, held): (usize, &(u32, u32))| {
            let queue = queue as QueueId;
            let buffer = self.buffer_of(queue);
            (buffer.bytes(queue), buffer.packets(queue)) == *held
        };
        // A port that has one queue and sends in order has no backlog. Its queue has the port's
        // number.
        let is_noted = |(queue, (_, count)): (usize, &(u32, u32))| {
            let place = self.lists.place_of(queue as QueueId);
            self.last_queue_class == 0 && !self.sizes[queue].is_empty()
                || self.lists.backlog(place.port).has(place.queue_class) == (*count > 0)
        };
        held.iter().enumerate().all(same)
            && held.iter().enumerate().all(is_noted)
            && total == self.occupancy()
            && self.buffer.occupancy() <= self.buffer.capacity()
            && self.lists.agree(packets)
            && self.lossless_agrees(packets)
            && self.unimportant_agrees(packets)
    }
}

//! The packets that a switch has lost, kept until its owner collects them.

use super::Switch;
use crate::aqm::Aqm;
use crate::buffer::QueueId;
use crate::packet::{Arena, NO_PACKET, PacketId};
use crate::policy::DropReason;
use crate::sharing::Sharing;
use spillway_engine::Time;

/// A packet that the switch has lost. The switch's owner removes it from the arena.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// The packet.
    pub packet: PacketId,
    /// The queue that it was in, or would have joined.
    pub queue: QueueId,
    /// Why it was lost.
    pub reason: DropReason,
}

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// Whether anything was lost since the last call of `clear_lost`.
    #[inline]
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// The packets lost since the last call of `clear_lost`.
    #[inline]
    pub fn lost(&self) -> &[Lost] {
        &self.lost
    }

    /// Forgets the lost packets.
    #[inline]
    pub fn clear_lost(&mut self) {
        self.lost.clear();
    }

    /// Loses all packets that wait at a port.
    pub fn purge(&mut self, now: Time, port: u32, reason: DropReason, packets: &mut Arena) {
        for queue in self.buffer.queues_of(port) {
            while self.lists.as_slice()[queue as usize].head != NO_PACKET {
                let id = self.lists.take_out(queue, self.lists.head(queue), packets);
                let size = packets[id].size - self.uncounted_bytes;
                if self.is_lossless_queue(queue) {
                    self.purges_lossless(now, queue, id, reason, packets);
                    continue;
                }
                self.forget_unimportant(queue, id, packets);
                self.note_length(now, queue);
                self.sharing.on_release(now, queue, &self.buffer);
                self.subtract(now, queue, size);
                self.lose(now, id, queue, size, reason);
            }
        }
        self.note_occupancy(now);
    }

    #[cold]
    pub(super) fn lose(
        &mut self,
        now: Time,
        id: PacketId,
        queue: QueueId,
        size: u32,
        reason: DropReason,
    ) {
        self.lost.push(Lost { packet: id, queue, reason });
        self.note_loss(now, queue, id, size, reason);
        self.sharing.on_drop(now, queue, size, &self.buffer);
        self.aqm.on_drop(now, queue, size, &self.buffer);
    }
}

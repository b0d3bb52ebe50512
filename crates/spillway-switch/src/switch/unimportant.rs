//! A limit for unimportant packets, below everything else, so that important ones find room: what
//! TLT's switches do (color-aware dropping; `spillway-transport/src/protection/tlt.rs` has the whole rule).
//!
//! A port loses an unimportant packet if the unimportant bytes in all its queues, with the packet,
//! would reach the limit. Important packets, acks, and data of other flows are not counted. They
//! are left to `queue_limit` and the sharing policy, as are unimportant ones below the limit.
//!
//! The AQM is asked first. A packet counts until it begins to be sent. Lossless packets do not
//! count, and are not lost.

use super::Switch;
use super::dequeueing::Dequeueing;
use crate::aqm::Aqm;
use crate::buffer::QueueId;
use crate::packet::{Arena, NO_PACKET, PacketId, flags};
use crate::policy::Arrival;
use crate::sharing::Sharing;
use spillway_engine::Time;

/// The unimportant packets of a switch.
#[derive(Clone, Debug)]
pub(super) struct Unimportant {
    /// No port holds so many bytes of them.
    limit: u64,
    /// Their bytes at each port.
    held: Box<[u64]>,
    /// How the switch takes packets out of queues apart from counting.
    dequeueing: Dequeueing,
}

impl Unimportant {
    /// Their bytes at each port.
    #[cfg(test)]
    pub fn held(&self) -> &[u64] {
        &self.held
    }
}

/// Whether a packet is unimportant.
fn is_unimportant(packet_flags: u16) -> bool {
    packet_flags & (flags::CONTROL | flags::UNIMPORTANT) == flags::UNIMPORTANT
}

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// Limits the unimportant packets of each port to less than this many bytes. The switch must
    /// have seen no packet yet.
    pub fn limit_unimportant(&mut self, limit: u64) {
        let held = vec![0; self.buffer.ports() as usize].into();
        let dequeueing = std::mem::replace(&mut self.dequeueing, Dequeueing::Counted);
        self.unimportant = Some(Box::new(Unimportant { limit, held, dequeueing }));
        self.may_bypass = false;
        self.ask_if_needed();
    }

    /// Whether an arrival is within the limit, or has none.
    pub(super) fn takes_unimportant(&self, arrival: &Arrival, packet_flags: u16) -> bool {
        let Some(unimportant) = &self.unimportant else { return true };
        let held = unimportant.held[self.buffer.port_of(arrival.queue) as usize];
        !is_unimportant(packet_flags) || held + u64::from(arrival.size) < unimportant.limit
    }

    /// An arrival joins its queue.
    pub(super) fn count_unimportant(&mut self, arrival: &Arrival, packet_flags: u16) {
        if let Some(unimportant) = &mut self.unimportant
            && is_unimportant(packet_flags)
        {
            let port = self.buffer.port_of(arrival.queue);
            unimportant.held[port as usize] += u64::from(arrival.size);
        }
    }

    /// A packet leaves its lossy queue, to be sent or lost.
    pub(super) fn forget_unimportant(&mut self, queue: QueueId, id: PacketId, packets: &Arena) {
        if let Some(unimportant) = &mut self.unimportant
            && is_unimportant(packets[id].flags)
        {
            let size = packets[id].size - self.uncounted_bytes;
            unimportant.held[self.buffer.port_of(queue) as usize] -= u64::from(size);
        }
    }

    /// As `dequeue`, if unimportant packets are counted.
    #[inline(never)]
    pub(super) fn dequeue_counted(
        &mut self,
        now: Time,
        port: u32,
        packets: &mut Arena,
    ) -> Option<PacketId> {
        let dequeueing = self.unimportant.as_ref()?.dequeueing;
        let id = self.dequeue_uncounted(dequeueing, now, port, packets)?;
        let queue = self.buffer.queue_of(port, packets[id].queue_class);
        if !self.is_lossless_queue(queue) {
            self.forget_unimportant(queue, id, packets);
        }
        Some(id)
    }

    /// Whether the counts agree with the packets that wait; for tests.
    pub(super) fn unimportant_agrees(&self, packets: &Arena) -> bool {
        let Some(unimportant) = &self.unimportant else { return true };
        let mut held = vec![0; unimportant.held.len()];
        for (queue, list) in (0..).zip(self.lists.as_slice()) {
            let mut id = list.head;
            while id != NO_PACKET {
                if is_unimportant(packets[id].flags) && !self.is_lossless_queue(queue) {
                    let size = packets[id].size - self.uncounted_bytes;
                    held[self.buffer.port_of(queue) as usize] += u64::from(size);
                }
                id = packets[id].next;
            }
        }
        unimportant.held[..] == held && held.iter().all(|&held| held < unimportant.limit)
    }
}

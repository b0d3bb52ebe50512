//! Ports that send packets in the order in which they admitted them, and best queues of others.
//!
//! Nothing more is decided about a packet once such a port has queued it, and the switch's owner
//! knows at once when it will be sent. So the switch keeps only the packet's size, and returns it
//! when the packet is sent. Under strict priority that is true of the packets of the best queue,
//! too, for which all others wait.

use super::Switch;
use crate::aqm::Aqm;
use crate::packet::{Arena, Packet, PacketId};
use crate::sharing::Sharing;
use spillway_engine::Time;

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// Whether a packet belongs in the best queue of its port.
    #[inline(always)]
    pub fn is_best(&self, packet: &Packet) -> bool {
        self.queue_class_of(packet) == 0
    }

    /// A packet for the only or the best queue of such a port, which is sending or has a backlog.
    /// Returns whether it is admitted; otherwise it is lost.
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
        self.sizes[port as usize].push_back(packet.size);
        self.joins(&arrival);
        true
    }

    /// A port that sends in order begins to send its next packet. Returns the packet's size, and
    /// whether more packets wait.
    #[inline(always)]
    pub fn send_in_order(&mut self, now: Time, port: u32) -> (u32, bool) {
        let sizes = &mut self.sizes[port as usize];
        let size = sizes.pop_front().expect("a port that waits has a packet");
        let waits = !sizes.is_empty();
        // The port has one queue, with the port's number.
        self.leaves(now, port, port, size - self.uncounted_bytes);
        (size, waits)
    }

    /// The same for a port whose best queue sends in order; `None` if that queue is empty.
    #[inline(always)]
    pub fn send_best_in_order(&mut self, now: Time, port: u32) -> Option<(u32, bool)> {
        let sizes = &mut self.sizes[port as usize];
        let size = sizes.pop_front()?;
        let waits = !sizes.is_empty() || self.has_backlog(port);
        self.leaves(now, port, self.buffer.queue_of(port, 0), size - self.uncounted_bytes);
        Some((size, waits))
    }
}

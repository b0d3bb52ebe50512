//! Ports that send in the order of arrival what they have taken in.
//!
//! About a packet that is queued there nothing is decided any more, and its owner knows at once when it
//! will be sent. So the switch keeps its size only, and hands it back when it is.

use super::Switch;
use crate::aqm::Aqm;
use crate::packet::{Arena, Packet, PacketId};
use crate::sharing::Sharing;
use spillway_engine::Time;

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// A packet for such a port, which is sending or has a backlog. Whether it is taken in; it may be
    /// lost instead.
    #[inline(always)]
    pub fn enqueue_in_order(
        &mut self,
        now: Time,
        port: u32,
        id: PacketId,
        packet: &Packet,
        packets: &mut Arena,
    ) -> bool {
        let arrival = self.arrival(now, port, packet);
        if !self.admit(&arrival, id, packet.flags, packets) {
            return false;
        }
        self.sizes[port as usize].push_back(packet.size);
        self.joins(&arrival);
        true
    }

    /// Such a port begins to send its next packet. Returns the packet's size, and whether more wait.
    #[inline(always)]
    pub fn send_in_order(&mut self, now: Time, port: u32) -> (u32, bool) {
        let sizes = &mut self.sizes[port as usize];
        let size = sizes.pop_front().expect("a port that waits has a packet");
        let waits = !sizes.is_empty();
        // A port's only queue has its number.
        self.leaves(now, port, port, size - self.uncounted_bytes);
        (size, waits)
    }
}

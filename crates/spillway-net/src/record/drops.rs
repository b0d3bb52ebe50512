//! Lost packets.

use super::names::{Name, Node, Reason};
use super::table::table;
use spillway_engine::Time;
use spillway_switch::packet::{Contents, Packet};
use spillway_switch::{Buffer, DropReason, QueueId};

table! {
    /// A row for every packet that was lost.
    DropRow => DropTable {
        /// When.
        time_ps: u64,
        /// Where: a switch, or the host in whose NIC or on whose line it was lost, such as `host3`.
        switch: Name<Node>,
        /// The port; null if the packet was lost on the link that leaves the switch, or had no
        /// route.
        port: Option<i32>,
        /// The queue that it was in or meant for; null where `port` is, and at a host for packets
        /// lost to a failing link and for those that it has no room to take in.
        queue: Option<i32>,
        /// Why.
        reason: Name<Reason>,
        /// Its flow.
        flow_id: u32,
        /// Its first byte; for an ack, the first byte that the receiver was missing.
        seq: u64,
        /// Its size on the wire.
        size_bytes: u32,
        /// Bytes in its queue at that moment.
        queue_bytes: u64,
        /// Bytes in the switch's buffer at that moment; at a host, in all queues of its NIC, if
        /// `[nic]` has a limit or an AQM (0 for packets that it has no room to take in).
        occupancy_bytes: u64,
    }
}

/// Where a packet was lost.
#[derive(Clone, Copy, Debug)]
pub struct LossPlace<'a> {
    /// The switch's number; hosts are numbered after all switches.
    pub node: u32,
    /// The switch's buffer, or that of a NIC's queues if it has a discipline.
    pub buffer: Option<&'a Buffer>,
    /// The queue, if it was lost in one.
    pub queue: Option<QueueId>,
    /// The port, if the node has only one.
    pub port: Option<i32>,
}

impl DropRow {
    /// The row of a packet that is lost now.
    pub fn of(
        now: Time,
        reason: DropReason,
        place: LossPlace<'_>,
        (packet, contents): (&Packet, &Contents),
    ) -> DropRow {
        let in_queue = place.buffer.zip(place.queue);
        let of_queue = |value: fn(&Buffer, QueueId) -> i32| {
            in_queue.map(|(buffer, queue)| value(buffer, queue))
        };
        DropRow {
            time_ps: now.ps(),
            switch: Name(place.node),
            port: of_queue(|buffer, queue| buffer.port_of(queue) as i32).or(place.port),
            queue: of_queue(|buffer, queue| buffer.queue_class_of(queue).into()),
            reason: Name::of(reason),
            flow_id: contents.flow,
            seq: contents.seq,
            size_bytes: packet.size,
            queue_bytes: in_queue.map_or(0, |(buffer, queue)| buffer.bytes(queue).into()),
            occupancy_bytes: place.buffer.map_or(0, Buffer::occupancy),
        }
    }
}

//! The packets of every queue, as linked lists through the packets themselves.

use crate::backlog::Backlog;
use crate::buffer::QueueId;
use crate::packet::{Arena, NO_PACKET, PacketId};
use crate::scheduling::{Waiting, worst_of};
use std::hint::select_unpredictable;

/// The ends of a queue's list.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    /// The first packet; [`NO_PACKET`] if there is none.
    pub head: PacketId,
    /// The last packet; meaningless if there is none.
    pub tail: PacketId,
}

/// A list for every queue.
#[derive(Clone, Debug)]
pub(crate) struct Lists {
    lists: Vec<List>,
    /// By port, the queues that hold packets. If a best queue sends in order, it is noted here, but
    /// its packets are in no list. If a port's only queue sends in order, the port has no backlog
    /// here.
    backlogs: Vec<Backlog>,
    queues_per_port: u32,
}

/// A queue, with its port and its queue class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub queue: QueueId,
    pub port: u32,
    pub queue_class: u8,
}

impl Lists {
    /// Empty lists for the queues of some ports.
    pub fn new(ports: usize, queues_per_port: u32) -> Lists {
        Lists {
            lists: vec![
                List { head: NO_PACKET, tail: NO_PACKET };
                ports * queues_per_port as usize
            ],
            backlogs: vec![Backlog::default(); ports],
            queues_per_port,
        }
    }

    /// All lists, by their queues' numbers.
    #[inline]
    pub fn as_slice(&self) -> &[List] {
        &self.lists
    }

    /// The queues of a port that hold packets.
    #[inline(always)]
    pub fn backlog(&self, port: u32) -> Backlog {
        self.backlogs[port as usize]
    }

    /// The queues of a port that hold packets, mutable. The packets of a best queue that sends in
    /// order are in no list, so the switch notes here whether that queue holds any.
    #[inline(always)]
    pub fn backlog_mut(&mut self, port: u32) -> &mut Backlog {
        &mut self.backlogs[port as usize]
    }

    /// The first packet of a queue; [`NO_PACKET`] if it is empty.
    #[inline(always)]
    pub fn head(&self, queue: QueueId) -> PacketId {
        self.lists[queue as usize].head
    }

    /// The last packet of a queue; [`NO_PACKET`] if it is empty.
    pub fn tail(&self, queue: QueueId) -> PacketId {
        let List { head, tail } = self.lists[queue as usize];
        if head == NO_PACKET { NO_PACKET } else { tail }
    }

    /// Puts a packet at the end of a queue.
    #[inline]
    pub fn append(&mut self, place: Place, id: PacketId, packets: &mut Arena) {
        let list = &mut self.lists[place.queue as usize];
        let tail = std::mem::replace(&mut list.tail, id);
        // Queues are empty about as often as not, so a branch would often be mispredicted. Without
        // a branch: the packet that joins an empty queue is put behind itself.
        let is_empty = list.head == NO_PACKET;
        list.head = select_unpredictable(is_empty, id, list.head);
        packets[select_unpredictable(is_empty, id, tail)].next = id;
        let packet = &mut packets[id];
        (packet.prev, packet.next) = (tail, NO_PACKET);
        self.backlogs[place.port as usize].insert(place.queue_class);
    }

    /// The packets of a queue, in the order in which they came.
    #[inline]
    pub fn packets_of(
        &self,
        queue: QueueId,
        packets: &Arena,
    ) -> impl Iterator<Item = PacketId> + Clone {
        let known = |id: PacketId| (id != NO_PACKET).then_some(id);
        let first = known(self.lists[queue as usize].head);
        std::iter::successors(first, move |&id| known(packets[id].next))
    }

    /// Takes out the first packet of a queue, which must not be empty.
    #[inline]
    pub fn take_head(&mut self, place: Place, packets: &Arena) -> PacketId {
        let list = &mut self.lists[place.queue as usize];
        let id = list.head;
        debug_assert_ne!(id, NO_PACKET, "the first packet of an empty queue");
        list.head = packets[id].next;
        let is_empty = list.head == NO_PACKET;
        self.backlogs[place.port as usize].remove_if(is_empty, place.queue_class);
        id
    }

    /// The packet of a queue whose flow had the most bytes left; of several, the last. `None` if
    /// the arrival's flow had at least as many. Control packets have none left.
    pub fn worst(&self, queue: QueueId, arrival: PacketId, packets: &Arena) -> Option<PacketId> {
        let waiting = |id| Waiting::of(id, packets);
        worst_of(self.packets_of(queue, packets).map(waiting), waiting(arrival))
    }

    /// Takes a packet out of its queue. The packet keeps its own links, which say where it was.
    pub fn unlink(&mut self, queue: QueueId, id: PacketId, packets: &mut Arena) {
        // The first packet's `prev` may name a packet that has left.
        if self.lists[queue as usize].head == id {
            packets[id].prev = NO_PACKET;
        }
        self.join(queue, packets[id].prev, packets[id].next, packets);
        if self.lists[queue as usize].head == NO_PACKET {
            let Place { port, queue_class, .. } = self.place_of(queue);
            self.backlogs[port as usize].remove(queue_class);
        }
    }

    /// Puts the packet that was unlinked last back where it was.
    pub fn relink(&mut self, queue: QueueId, id: PacketId, packets: &mut Arena) {
        let (prev, next) = (packets[id].prev, packets[id].next);
        self.join(queue, prev, id, packets);
        self.join(queue, id, next, packets);
        let Place { port, queue_class, .. } = self.place_of(queue);
        self.backlogs[port as usize].insert(queue_class);
    }

    /// The place of a queue.
    pub fn place_of(&self, queue: QueueId) -> Place {
        match self.queues_per_port {
            // Most ports have one queue, and a division takes long.
            1 => Place { queue, port: queue, queue_class: 0 },
            of => Place { queue, port: queue / of, queue_class: (queue % of) as u8 },
        }
    }

    /// Makes two packets neighbours. [`NO_PACKET`] stands for the end of the list.
    #[inline]
    fn join(&mut self, queue: QueueId, before: PacketId, after: PacketId, packets: &mut Arena) {
        let list = &mut self.lists[queue as usize];
        match before {
            NO_PACKET => list.head = after,
            before => packets[before].next = after,
        }
        match after {
            NO_PACKET => list.tail = before,
            after => packets[after].prev = before,
        }
    }
}

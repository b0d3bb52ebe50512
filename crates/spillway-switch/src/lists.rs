//! The packets of every queue, as linked lists through the packets themselves.

use crate::backlog::Backlog;
use crate::buffer::QueueId;
use crate::packet::{Arena, NO_PACKET, PacketId};
use crate::scheduling::{Waiting, worst_of};
use crate::waiting_list::WaitingList;
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
    /// By queue, if the scheduler chooses among its packets: those that were there at the last
    /// search. Others may have joined behind them.
    searched: Box<[WaitingList]>,
}

/// A queue, with its port and its queue class.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub queue: QueueId,
    pub port: u32,
    pub queue_class: u8,
}

impl Lists {
    /// Empty lists for the queues of some ports. With `chooses`, the scheduler chooses among the
    /// packets of a queue.
    pub fn new(ports: usize, queues_per_port: u32, chooses: bool) -> Lists {
        let queues = ports * queues_per_port as usize;
        Lists {
            lists: vec![List { head: NO_PACKET, tail: NO_PACKET }; queues],
            backlogs: vec![Backlog::default(); ports],
            queues_per_port,
            searched: vec![WaitingList::default(); if chooses { queues } else { 0 }].into(),
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

    /// Whether every queue begins with the packets that were there at its last search; for tests.
    pub fn agree(&self, packets: &Arena) -> bool {
        let agrees = |(queue, searched): (QueueId, &WaitingList)| {
            let first = self.packets_of(queue, packets).take(searched.len());
            searched.iter().eq(first.map(|id| Waiting::of(id, packets)))
        };
        (0..).zip(&self.searched).all(agrees)
    }

    /// Takes out the first packet of a queue, which must not be empty. The scheduler must not choose
    /// among its packets.
    #[inline]
    pub fn take_head(&mut self, place: Place, packets: &Arena) -> PacketId {
        let list = &mut self.lists[place.queue as usize];
        let id = list.head;
        debug_assert_ne!(id, NO_PACKET, "the first packet of an empty queue");
        debug_assert!(self.searched.is_empty(), "the scheduler chooses no packets");
        list.head = packets[id].next;
        let is_empty = list.head == NO_PACKET;
        self.backlogs[place.port as usize].remove_if(is_empty, place.queue_class);
        id
    }

    /// The packets of a queue, to be searched; `None` if the scheduler does not choose among them.
    /// Those that have joined the queue since the last search come in now.
    #[inline]
    pub fn waiting(&mut self, queue: QueueId, packets: &Arena) -> Option<&WaitingList> {
        let waiting = self.searched.get_mut(queue as usize)?;
        let mut next = match waiting.last() {
            None => self.lists[queue as usize].head,
            Some(last) => packets[last].next,
        };
        while next != NO_PACKET {
            waiting.push(Waiting::of(next, packets));
            next = packets[next].next;
        }
        Some(waiting)
    }

    /// Takes out the packet at a place of what [`Lists::waiting`] has given.
    #[inline]
    pub fn take_at(&mut self, queue: QueueId, place: usize, packets: &mut Arena) -> PacketId {
        let id = self.searched[queue as usize].remove(place).id;
        self.unlink(queue, id, packets);
        id
    }

    /// Takes out the packet of a queue whose flow had the most bytes left; of several, the last.
    /// `None` if the arrival's flow had at least as many. Control packets have none left.
    pub fn take_worst(
        &mut self,
        queue: QueueId,
        arrival: PacketId,
        packets: &mut Arena,
    ) -> Option<PacketId> {
        let arrival = Waiting::of(arrival, packets);
        if let Some(waiting) = self.waiting(queue, packets) {
            let place = worst_of(waiting, arrival)?;
            return Some(self.take_at(queue, place, packets));
        }
        // Of equal packets, `max_by_key` gives the last.
        let waiting = self.packets_of(queue, packets).map(|id| Waiting::of(id, packets));
        let worst = waiting.max_by_key(|packet| packet.remaining)?;
        (worst.remaining > arrival.remaining).then(|| self.take_out(queue, worst.id, packets))
    }

    /// Takes a packet out of its queue, wherever it is.
    pub fn take_out(&mut self, queue: QueueId, id: PacketId, packets: &mut Arena) -> PacketId {
        assert_ne!(id, NO_PACKET, "a packet is taken from an empty queue");
        if let Some(waiting) = self.waiting(queue, packets) {
            let place = waiting.place_of(id);
            return self.take_at(queue, place, packets);
        }
        self.unlink(queue, id, packets);
        id
    }

    /// Takes a packet out of its queue's list. The packet keeps its own links, which say where it
    /// was.
    #[inline]
    fn unlink(&mut self, queue: QueueId, id: PacketId, packets: &mut Arena) {
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

    /// Puts the packet that was taken out last back where it was.
    pub fn relink(&mut self, queue: QueueId, id: PacketId, packets: &mut Arena) {
        let (prev, next) = (packets[id].prev, packets[id].next);
        self.join(queue, prev, id, packets);
        self.join(queue, id, next, packets);
        let Place { port, queue_class, .. } = self.place_of(queue);
        self.backlogs[port as usize].insert(queue_class);
        if let Some(waiting) = self.searched.get_mut(queue as usize) {
            let place = if prev == NO_PACKET { 0 } else { waiting.place_of(prev) + 1 };
            waiting.insert(place, Waiting::of(id, packets));
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Contents, Packet};

    /// One queue, from which packets are chosen: packets 0 to 3, whose flows have 5, 9, 9 and 1
    /// bytes left.
    fn four() -> (Lists, Arena) {
        let (mut lists, mut packets) = (Lists::new(1, 1, true), Arena::new());
        [5, 9, 9, 1].into_iter().for_each(|remaining| join(remaining, &mut lists, &mut packets));
        (lists, packets)
    }

    fn join(remaining: u32, lists: &mut Lists, packets: &mut Arena) {
        let id = packets.insert(Packet::default(), Contents { remaining, ..Contents::default() });
        lists.append(Place { queue: 0, port: 0, queue_class: 0 }, id, packets);
    }

    /// What waits, by both lists.
    fn ids(lists: &mut Lists, packets: &Arena) -> Vec<PacketId> {
        let linked: Vec<PacketId> = lists.packets_of(0, packets).collect();
        let waiting = lists.waiting(0, packets).expect("packets are chosen");
        assert!(waiting.iter().map(|packet| packet.id).eq(linked.iter().copied()));
        linked
    }

    #[test]
    fn a_search_sees_what_has_joined_and_left_since_the_last_one() {
        let (mut lists, mut packets) = four();
        // The arrival, packet 4, is not in the queue. Of the two worst, the last goes.
        packets.insert(Packet::default(), Contents { remaining: 5, ..Contents::default() });
        assert_eq!(lists.take_worst(0, 4, &mut packets), Some(2));
        join(7, &mut lists, &mut packets);
        assert!(lists.agree(&packets));
        assert_eq!(lists.take_out(0, 0, &mut packets), 0);
        assert_eq!(ids(&mut lists, &packets), [1, 3, 5]);
        assert_eq!(lists.take_at(0, 2, &mut packets), 5);
        assert_eq!(lists.take_worst(0, 4, &mut packets), Some(1));
        // The last that waits has less left than the arrival.
        assert_eq!(lists.take_worst(0, 4, &mut packets), None);
        assert_eq!(lists.take_out(0, 3, &mut packets), 3);
        assert!(lists.backlog(0).is_empty());
        join(8, &mut lists, &mut packets);
        assert_eq!(ids(&mut lists, &packets), [6]);
    }

    #[test]
    fn packets_go_back_to_their_places_the_last_taken_first() {
        let (mut lists, mut packets) = four();
        for taken in [vec![0], vec![3], vec![1, 2], vec![2, 1, 0], vec![3, 0, 2, 1]] {
            taken.iter().for_each(|&id| _ = lists.take_out(0, id, &mut packets));
            taken.iter().rev().for_each(|&id| lists.relink(0, id, &mut packets));
            assert_eq!(ids(&mut lists, &packets), [0, 1, 2, 3], "{taken:?}");
        }
    }

    #[test]
    fn a_list_that_does_not_begin_as_its_queue_does_is_found() {
        let (mut lists, mut packets) = four();
        assert!(lists.agree(&packets));
        ids(&mut lists, &packets);
        packets.contents_mut(3).remaining = 2;
        assert!(!lists.agree(&packets));
        packets.contents_mut(3).remaining = 1;
        lists.unlink(0, 1, &mut packets);
        assert!(!lists.agree(&packets));
    }
}

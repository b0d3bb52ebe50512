//! A host's network interface (NIC): strict priorities, and within a priority one FIFO queue or one
//! queue per flow.
//!
//! It accepts every packet, unless it has a discipline: that marks and drops packets as at a
//! switch's port.

use spillway_engine::Time;
use spillway_switch::packet::{Arena, NO_PACKET, NO_PRIORITY, Packet, PacketId, flags};
use spillway_switch::{Discipline, DropReason, Length};
use std::collections::VecDeque;

/// How packets of equal priority are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NicScheduling {
    /// First come, first served.
    Fifo,
    /// Flows take turns, one packet each.
    PerFlowRoundRobin,
}

/// The settings of a NIC.
#[derive(Clone, Copy, Debug)]
pub struct NicSettings {
    /// How packets of equal priority are ordered.
    pub scheduling: NicScheduling,
    /// The number of its priorities.
    pub queues: u8,
    /// The priority of acks and other control packets.
    pub ack_queue: u8,
    /// The priority of data without one.
    pub data_queue: u8,
    /// Packets that fit into the ring below its queues.
    pub fifo_packets: u32,
}

impl NicSettings {
    /// Whether packets leave in the order in which they are queued.
    pub fn is_plain(&self) -> bool {
        self.queues == 1 && self.scheduling == NicScheduling::Fifo && self.fifo_packets == 0
    }
}

/// How the hosts' NICs queue packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NicQueueing {
    /// In one FIFO queue without limits: the line itself serves as the queue.
    Plain,
    /// In queues that accept every packet.
    Queued,
    /// In queues with a discipline.
    Managed,
}

#[derive(Clone, Copy, Debug)]
struct List {
    slot: u32,
    head: PacketId,
    tail: PacketId,
}

impl List {
    fn of(slot: u32, id: PacketId) -> List {
        List { slot, head: id, tail: id }
    }

    fn append(&mut self, id: PacketId, packets: &mut Arena) {
        packets[self.tail].next = id;
        self.tail = id;
    }

    /// Removes the first packet. Also returns whether it was the last one.
    fn take(&mut self, packets: &Arena) -> (PacketId, bool) {
        let id = self.head;
        self.head = packets[id].next;
        (id, self.head == NO_PACKET)
    }
}

/// The queues of one host's NIC.
#[derive(Debug)]
pub struct Nic {
    settings: NicSettings,
    /// For every priority its lists, in the order in which they are served; with FIFO there is at
    /// most one.
    queues: Vec<VecDeque<List>>,
    packets: u32,
    bytes: u64,
    /// What marks and drops packets, if anything does.
    discipline: Option<Box<Discipline>>,
}

impl Nic {
    /// An empty NIC.
    pub fn new(settings: NicSettings, discipline: Option<Discipline>) -> Nic {
        let queues = vec![VecDeque::new(); settings.queues.into()];
        Nic { settings, queues, packets: 0, bytes: 0, discipline: discipline.map(Box::new) }
    }

    /// What marks and drops packets, if anything does.
    #[inline]
    pub fn discipline(&self) -> Option<&Discipline> {
        self.discipline.as_deref()
    }

    /// A period of its AQM is over.
    pub fn on_timer(&mut self, now: Time) {
        if let Some(discipline) = &mut self.discipline {
            discipline.on_timer(now);
        }
    }

    /// Whether it has anything to send.
    #[inline]
    pub fn has_backlog(&self) -> bool {
        self.packets > 0
    }

    /// Bytes that wait.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Queues a packet, unless the discipline drops it.
    pub fn offer(
        &mut self,
        now: Time,
        id: PacketId,
        packets: &mut Arena,
    ) -> Result<(), DropReason> {
        let queue_class = self.queue_of(&packets[id]);
        if let Some(discipline) = &mut self.discipline {
            discipline.on_arrival(now, queue_class, id, packets)?;
        }
        self.enqueue(id, packets);
        Ok(())
    }

    /// Queues a packet at a NIC without a discipline.
    #[inline]
    pub fn enqueue(&mut self, id: PacketId, packets: &mut Arena) {
        self.packets += 1;
        let slot = packets.contents(id).slot;
        let packet = &mut packets[id];
        packet.next = NO_PACKET;
        self.bytes += u64::from(packet.size);
        let queue = usize::from(self.queue_of(packet));
        let lists = &mut self.queues[queue];
        let mine = match self.settings.scheduling {
            NicScheduling::Fifo => lists.front_mut(),
            NicScheduling::PerFlowRoundRobin => lists.iter_mut().find(|list| list.slot == slot),
        };
        match mine {
            Some(list) => list.append(id, packets),
            None => lists.push_back(List::of(slot, id)),
        }
    }

    /// Removes the packet that is next, with the reason if the discipline drops it. There must be
    /// one.
    pub fn release(
        &mut self,
        now: Time,
        packets: &mut Arena,
    ) -> (PacketId, Result<(), DropReason>) {
        let id = self.dequeue(packets);
        let discipline = self.discipline.as_mut();
        (id, discipline.map_or(Ok(()), |discipline| discipline.on_departure(now, id, packets)))
    }

    /// Removes a packet that a failure of the link loses, if there is one.
    pub fn lose(&mut self, now: Time, packets: &Arena) -> Option<PacketId> {
        let id = self.has_backlog().then(|| self.dequeue(packets))?;
        if let Some(discipline) = &mut self.discipline {
            discipline.on_loss(now, &packets[id]);
        }
        Some(id)
    }

    /// Removes the packet that a NIC without a discipline sends next. There must be one.
    #[inline]
    pub fn dequeue(&mut self, packets: &Arena) -> PacketId {
        self.packets -= 1;
        let lists = self.queues.iter_mut().find(|lists| !lists.is_empty());
        let lists = lists.expect("a backlog is in some queue");
        let first = lists.front_mut().expect("the queue is not empty");
        let (id, emptied) = first.take(packets);
        self.bytes -= u64::from(packets[id].size);
        if emptied {
            lists.pop_front();
        } else if self.settings.scheduling == NicScheduling::PerFlowRoundRobin {
            lists.rotate_left(1);
        }
        id
    }

    /// The first packet of every list, for tests.
    pub fn heads(&self) -> impl Iterator<Item = PacketId> {
        self.queues.iter().flatten().map(|list| list.head)
    }

    /// Whether the counters of its discipline, if it has one, agree with its packets. For tests.
    pub fn is_consistent(&self, packets: &Arena) -> bool {
        let length = |lists: &VecDeque<List>| {
            let mut length = Length::default();
            for list in lists {
                let mut id = list.head;
                while id != NO_PACKET {
                    length.bytes += packets[id].size;
                    length.packets += 1;
                    id = packets[id].next;
                }
            }
            length
        };
        let waiting: Vec<Length> = self.queues.iter().map(length).collect();
        self.discipline().is_none_or(|discipline| discipline.holds(&waiting))
    }

    fn queue_of(&self, packet: &Packet) -> u8 {
        let last = self.settings.queues - 1;
        if packet.flags & flags::CONTROL != 0 {
            self.settings.ack_queue
        } else if packet.priority == NO_PRIORITY {
            self.settings.data_queue
        } else {
            packet.priority.min(last)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillway_switch::packet::Contents;

    /// The order in which packets leave, as their indices among those given as (slot, priority).
    fn order(scheduling: NicScheduling, given: &[(u32, u8)]) -> Vec<u64> {
        let settings =
            NicSettings { scheduling, queues: 3, ack_queue: 0, data_queue: 2, fifo_packets: 0 };
        let (mut nic, mut packets) = (Nic::new(settings, None), Arena::new());
        for (seq, &(slot, priority)) in (0..).zip(given) {
            let id = {
                let contents = Contents { slot, seq, ..Contents::default() };
                packets.insert(Packet { priority, ..Packet::default() }, contents)
            };
            nic.enqueue(id, &mut packets);
        }
        let mut order = Vec::new();
        while nic.has_backlog() {
            order.push(packets.contents(nic.dequeue(&packets)).seq);
        }
        order
    }

    #[test]
    fn priorities_are_strict_and_equals_keep_their_order() {
        let given = [(1, 1), (2, NO_PRIORITY), (1, 0), (3, 1), (2, 9)];
        assert_eq!(order(NicScheduling::Fifo, &given), [2, 0, 3, 1, 4]);
    }

    #[test]
    fn flows_take_turns() {
        let given = [(1, 1), (1, 1), (1, 1), (2, 1), (3, 1), (2, 1)];
        assert_eq!(order(NicScheduling::PerFlowRoundRobin, &given), [0, 3, 4, 1, 5, 2]);
    }
}

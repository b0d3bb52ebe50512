//! A host's network interface (NIC): strict priorities, and within a priority one FIFO queue or one
//! queue per flow. Or one queue, of which pFabric's rule chooses the packet that is sent.
//!
//! It accepts every packet, unless it has a discipline: that marks and drops packets as at a
//! switch's port.

use crate::port::classes::PacketClasses;
use spillway_engine::Time;
use spillway_switch::packet::{Arena, NO_PACKET, NO_PRIORITY, Packet, PacketId, flags};
use spillway_switch::scheduling::{Waiting, next_to_send, worst_of};
use spillway_switch::{Discipline, DropReason, Length};
use std::collections::VecDeque;

/// How packets of equal priority are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NicScheduling {
    /// First come, first served.
    Fifo,
    /// Flows take turns, one packet each.
    PerFlowRoundRobin,
    /// The flow with the fewest bytes left first. What does not fit pushes out the packet whose flow
    /// has the most left.
    PFabric,
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
    /// Whether a paced flow has at most one packet there, as a queue pair of RDMA, and is told when
    /// that packet begins to be sent.
    pub queue_pairs: bool,
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

    /// Its packets, in the order in which they came.
    fn waiting(&self, packets: &Arena) -> impl Iterator<Item = Waiting> + Clone {
        let known = |id: PacketId| (id != NO_PACKET).then_some(id);
        let ids = std::iter::successors(known(self.head), move |&id| known(packets[id].next));
        ids.map(|id| Waiting::of(id, packets))
    }

    /// Removes one of its packets. Returns whether it was the last one.
    fn remove(&mut self, id: PacketId, packets: &mut Arena) -> bool {
        if id == self.head {
            return self.take(packets).1;
        }
        let before = self.waiting(packets).map(|packet| packet.id);
        let before = before.take_while(|&before| before != id).last();
        let before = before.expect("the packet is not the first one");
        packets[before].next = packets[id].next;
        if self.tail == id {
            self.tail = before;
        }
        false
    }
}

/// The queues of one host's NIC.
#[derive(Debug)]
pub struct Nic {
    settings: NicSettings,
    /// For every priority its lists, in the order in which they are served; except with turns there
    /// is at most one.
    queues: Vec<VecDeque<List>>,
    packets: u32,
    bytes: u64,
    /// What marks and drops packets, if anything does.
    discipline: Option<Box<Discipline>>,
    /// What pause frames stop, if they stop anything.
    stops: Option<Stops>,
}

/// Which packets pause frames stop: those for the paused queue classes of the host's switch.
#[derive(Clone, Copy, Debug)]
pub struct Stops {
    /// The queue classes of its packets at its switch.
    pub classes: PacketClasses,
    /// Whether acks and other control packets stop, too.
    pub with_acks: bool,
    /// The queue classes that are paused, a bit each.
    pub paused: u64,
}

impl Stops {
    fn stops(&self, packet: &Packet) -> bool {
        let is_control = packet.flags & flags::CONTROL != 0;
        self.paused >> self.classes.of(packet) & 1 == 1 && (self.with_acks || !is_control)
    }
}

impl Nic {
    /// An empty NIC.
    pub fn new(settings: NicSettings, discipline: Option<Discipline>, stops: Option<Stops>) -> Nic {
        let queues = vec![VecDeque::new(); settings.queues.into()];
        let discipline = discipline.map(Box::new);
        Nic { settings, queues, packets: 0, bytes: 0, discipline, stops }
    }

    /// A pause frame stops a queue class, or lets it go on.
    pub fn pause(&mut self, queue_class: u8, pauses: bool) {
        if let Some(stops) = &mut self.stops {
            match pauses {
                true => stops.paused |= 1 << queue_class,
                false => stops.paused &= !(1 << queue_class),
            }
        }
    }

    /// Nothing is paused any more.
    pub fn forget_pauses(&mut self) {
        if let Some(stops) = &mut self.stops {
            stops.paused = 0;
        }
    }

    /// Whether it has a packet that may leave: the first one of some list that is not paused.
    pub fn can_send(&self, packets: &Arena) -> bool {
        match self.stops.filter(|stops| stops.paused != 0) {
            None => self.has_backlog(),
            Some(_) => self.first_unpaused(packets).is_some(),
        }
    }

    /// The queue and the place in it of the list that is served next: the first one, of the highest
    /// priority, whose first packet is not paused.
    fn first_unpaused(&self, packets: &Arena) -> Option<(usize, usize)> {
        let is_free =
            |list: &List| !self.stops.is_some_and(|stops| stops.stops(&packets[list.head]));
        let of_queue = |lists: &VecDeque<List>| lists.iter().position(is_free);
        let mut queues = self.queues.iter().enumerate();
        queues.find_map(|(queue, lists)| of_queue(lists).map(|place| (queue, place)))
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

    /// Packets that wait.
    pub fn packets(&self) -> u32 {
        self.packets
    }

    /// Bytes that wait.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Queues a packet, unless the discipline drops it. Returns the packets that it has pushed out.
    pub fn offer(
        &mut self,
        now: Time,
        id: PacketId,
        packets: &mut Arena,
    ) -> Result<Vec<PacketId>, DropReason> {
        let queue_class = self.queue_of(&packets[id]);
        packets[id].queue_class = queue_class;
        let pushed_out = match self.settings.scheduling {
            NicScheduling::PFabric => self.make_room(now, id, packets)?,
            NicScheduling::Fifo | NicScheduling::PerFlowRoundRobin => Vec::new(),
        };
        if let Some(discipline) = &mut self.discipline {
            discipline.on_arrival(now, queue_class, id, packets)?;
        }
        self.enqueue(id, packets);
        Ok(pushed_out)
    }

    /// Pushes out the packets whose flows have the most left until a packet fits. If that packet is
    /// as bad as one of them, it is lost itself, and none is pushed out.
    fn make_room(
        &mut self,
        now: Time,
        id: PacketId,
        packets: &mut Arena,
    ) -> Result<Vec<PacketId>, DropReason> {
        let arrival = Waiting::of(id, packets);
        let Some(discipline) = &mut self.discipline else { return Ok(Vec::new()) };
        let (mut worst, mut freed) = (Vec::new(), Length::default());
        while !discipline.has_room(&packets[id], freed) {
            let waiting = self.queues[0].iter().flat_map(|list| list.waiting(packets));
            let others = waiting.filter(|packet| !worst.contains(&packet.id));
            let next = worst_of(others, arrival).ok_or(DropReason::PushedOut)?;
            freed = Length { packets: freed.packets + 1, bytes: freed.bytes + packets[next].size };
            worst.push(next);
        }
        for &id in &worst {
            discipline.on_loss(now, &packets[id]);
        }
        for &id in &worst {
            self.remove(id, packets);
        }
        Ok(worst)
    }

    /// Removes a packet of the only queue.
    fn remove(&mut self, id: PacketId, packets: &mut Arena) {
        self.packets -= 1;
        self.bytes -= u64::from(packets[id].size);
        let list = self.queues[0].front_mut().expect("the queue is not empty");
        if list.remove(id, packets) {
            self.queues[0].clear();
        }
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
            NicScheduling::Fifo | NicScheduling::PFabric => lists.front_mut(),
            NicScheduling::PerFlowRoundRobin => lists.iter_mut().find(|list| list.slot == slot),
        };
        match mine {
            Some(list) => list.append(id, packets),
            None => lists.push_back(List::of(slot, id)),
        }
    }

    /// Removes the packet that is next, with the reason if the discipline drops it. `None` if nothing
    /// waits, or all of it is paused.
    pub fn release(
        &mut self,
        now: Time,
        packets: &mut Arena,
    ) -> Option<(PacketId, Result<(), DropReason>)> {
        if !self.can_send(packets) {
            return None;
        }
        let id = match self.stops.filter(|stops| stops.paused != 0) {
            None => self.dequeue(packets),
            Some(_) => {
                let (queue, place) = self.first_unpaused(packets)?;
                self.take(queue, place, packets)
            }
        };
        let discipline = self.discipline.as_mut();
        Some((
            id,
            discipline.map_or(Ok(()), |discipline| discipline.on_departure(now, id, packets)),
        ))
    }

    /// Removes a packet that a failure of the link loses, if there is one.
    pub fn lose(&mut self, now: Time, packets: &mut Arena) -> Option<PacketId> {
        let id = self.has_backlog().then(|| self.dequeue(packets))?;
        if let Some(discipline) = &mut self.discipline {
            discipline.on_loss(now, &packets[id]);
        }
        Some(id)
    }

    /// Removes the packet that a NIC without a discipline sends next. There must be one.
    #[inline]
    pub fn dequeue(&mut self, packets: &mut Arena) -> PacketId {
        if self.settings.scheduling == NicScheduling::PFabric {
            let list = self.queues[0].front().expect("a backlog is in the queue");
            let id = next_to_send(list.waiting(packets));
            self.remove(id, packets);
            return id;
        }
        let queue = self.queues.iter().position(|lists| !lists.is_empty());
        self.take(queue.expect("a backlog is in some queue"), 0, packets)
    }

    /// Removes the first packet of the list at a place of a queue.
    #[inline(always)]
    fn take(&mut self, queue: usize, place: usize, packets: &Arena) -> PacketId {
        self.packets -= 1;
        let lists = &mut self.queues[queue];
        let (id, emptied) = lists[place].take(packets);
        self.bytes -= u64::from(packets[id].size);
        if emptied {
            lists.remove(place);
        } else if self.settings.scheduling == NicScheduling::PerFlowRoundRobin {
            // The others are served first.
            let list = lists.remove(place);
            lists.extend(list);
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
        let settings = NicSettings {
            scheduling,
            queues: 3,
            ack_queue: 0,
            data_queue: 2,
            fifo_packets: 0,
            queue_pairs: false,
        };
        let (mut nic, mut packets) = (Nic::new(settings, None, None), Arena::new());
        for (seq, &(slot, priority)) in (0..).zip(given) {
            let id = {
                let contents = Contents { slot, seq, ..Contents::default() };
                packets.insert(Packet { priority, ..Packet::default() }, contents)
            };
            nic.enqueue(id, &mut packets);
        }
        let mut order = Vec::new();
        while nic.has_backlog() {
            let id = nic.dequeue(&mut packets);
            order.push(packets.contents(id).seq);
        }
        order
    }

    #[test]
    fn priorities_are_strict_and_equals_keep_their_order() {
        let given = [(1, 1), (2, NO_PRIORITY), (1, 0), (3, 1), (2, 9)];
        assert_eq!(order(NicScheduling::Fifo, &given), [2, 0, 3, 1, 4]);
    }

    /// Flow 1 has 5 bytes left with its first packet and 3 with its second; flow 2 has 4, flow 3 has
    /// 6, and there is an ack.
    #[test]
    fn the_flow_with_the_least_left_goes_first_and_its_packets_in_order() {
        let settings = NicSettings {
            scheduling: NicScheduling::PFabric,
            queues: 1,
            ack_queue: 0,
            data_queue: 0,
            fifo_packets: 0,
            queue_pairs: false,
        };
        let (mut nic, mut packets) = (Nic::new(settings, None, None), Arena::new());
        let control = flags::CONTROL;
        for (seq, (flow, remaining, flags)) in
            (0..).zip([(3, 6, 0), (1, 5, 0), (2, 4, 0), (1, 3, 0), (4, 9, control), (2, 2, 0)])
        {
            let contents = Contents { flow, remaining, seq, ..Contents::default() };
            let id = packets.insert(Packet { flags, size: 100, ..Packet::default() }, contents);
            nic.enqueue(id, &mut packets);
        }
        let mut order = Vec::new();
        while nic.has_backlog() {
            assert_eq!(nic.bytes(), 100 * (6 - order.len() as u64));
            assert!(nic.is_consistent(&packets));
            let id = nic.dequeue(&mut packets);
            order.push(packets.contents(id).seq);
        }
        assert_eq!(order, [4, 2, 5, 1, 3, 0]);
        // It is empty, and takes packets again.
        let id = packets.insert(Packet::default(), Contents::default());
        nic.enqueue(id, &mut packets);
        assert_eq!((nic.dequeue(&mut packets), nic.has_backlog()), (id, false));
    }

    #[test]
    fn flows_take_turns() {
        let given = [(1, 1), (1, 1), (1, 1), (2, 1), (3, 1), (2, 1)];
        assert_eq!(order(NicScheduling::PerFlowRoundRobin, &given), [0, 3, 4, 1, 5, 2]);
    }
}

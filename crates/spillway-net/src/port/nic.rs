//! A host's network interface (NIC). Its queues are served by strict priority. Each priority has
//! one FIFO queue, or one queue per flow. Alternatively the NIC has a single queue, and pFabric's
//! rule chooses the packet that is sent.
//!
//! The NIC accepts every packet, unless it has a discipline. A discipline marks and drops packets
//! as at a switch's port.

use crate::scenario::{NicScheduling, NicSettings, PacketClasses, Scenario};
use spillway_engine::Time;
use spillway_switch::aqm::AqmPolicy;
use spillway_switch::packet::{Arena, NO_PACKET, Packet, PacketId, flags};
use spillway_switch::scheduling::{Waiting, next_to_send, worst_of};
use spillway_switch::{Backlog, Discipline, DropReason, Length, WaitingList};
use std::collections::VecDeque;
use std::hint::select_unpredictable;

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

/// The ends of a list of packets. They are meaningless while the list is empty.
#[derive(Clone, Copy, Debug)]
struct List {
    head: PacketId,
    tail: PacketId,
}

impl List {
    const EMPTY: List = List { head: NO_PACKET, tail: NO_PACKET };

    /// Puts a packet at the end. Lists are empty about as often as not, so a branch would often be
    /// mispredicted. Without a branch: the packet that joins an empty list is put behind itself.
    fn append(&mut self, is_empty: bool, id: PacketId, packets: &mut Arena) {
        self.head = select_unpredictable(is_empty, id, self.head);
        packets[select_unpredictable(is_empty, id, self.tail)].next = id;
        packets[id].next = NO_PACKET;
        self.tail = id;
    }

    /// Removes the first packet. Also returns whether it was the last one.
    fn take(&mut self, packets: &Arena) -> (PacketId, bool) {
        let id = self.head;
        self.head = packets[id].next;
        (id, self.head == NO_PACKET)
    }

    /// Its packets, in the order in which they came. It must not be empty.
    fn ids(self, packets: &Arena) -> impl Iterator<Item = PacketId> {
        let known = |id: PacketId| (id != NO_PACKET).then_some(id);
        std::iter::successors(known(self.head), move |&id| known(packets[id].next))
    }
}

/// The queues of a NIC, by priority.
#[derive(Clone, Debug)]
enum Queues {
    /// Each is one list.
    One(Box<[List]>),
    /// Each has a list for every flow, in the order in which the lists are served. A list names its
    /// flow by the place of the flow's state.
    PerFlow(Box<[VecDeque<(u32, List)>]>),
    /// There is one, whose packets are searched for the one that is sent or dropped next.
    Searched(Box<WaitingList>),
}

/// The queues of one host's NIC. Its own fields that every packet needs share a cache line.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Nic {
    /// The priorities whose queues hold packets.
    backlog: Backlog,
    bytes: u64,
    queues: Queues,
    settings: NicSettings,
    /// The queues in which packets wait.
    classes: PacketClasses,
    /// What marks and drops packets, if anything does.
    discipline: Option<Box<Discipline>>,
    /// Which packets pause frames stop, if they stop any.
    stops: Option<Stops>,
}

/// Which packets pause frames stop: those of queue classes that are paused at the host's switch.
#[derive(Clone, Copy, Debug)]
pub struct Stops {
    /// The queue classes of its packets at its switch.
    pub classes: PacketClasses,
    /// Whether pause frames also stop acks and other control packets.
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
    /// A host's NIC, empty.
    pub fn of(scenario: &Scenario, host: u32) -> Nic {
        let stops = scenario.hosts_can_be_paused().then(|| Stops {
            classes: scenario.tiers[0].settings.packet_classes(),
            with_acks: scenario.pauses_acks,
            paused: 0,
        });
        Nic::new(scenario.nic, scenario.make_discipline(host), stops)
    }

    /// An empty NIC. Pause frames stop its packets if `stops` says which.
    pub fn new(settings: NicSettings, discipline: Option<Discipline>, stops: Option<Stops>) -> Nic {
        let queues = match settings.scheduling {
            NicScheduling::Fifo => Queues::One(vec![List::EMPTY; settings.queues.into()].into()),
            NicScheduling::PFabric => Queues::Searched(Box::default()),
            NicScheduling::PerFlowRoundRobin => {
                Queues::PerFlow(vec![VecDeque::new(); settings.queues.into()].into())
            }
        };
        Nic {
            backlog: Backlog::default(),
            bytes: 0,
            queues,
            settings,
            classes: settings.packet_classes(),
            discipline: discipline.map(Box::new),
            stops,
        }
    }

    /// A pause frame stops a queue class, or lets it go on.
    pub fn pause(&mut self, queue_class: u8, pauses: bool) {
        if let Some(stops) = &mut self.stops {
            if pauses {
                stops.paused |= 1 << queue_class
            } else {
                stops.paused &= !(1 << queue_class)
            }
        }
    }

    /// Nothing is paused any more.
    pub fn forget_pauses(&mut self) {
        if let Some(stops) = &mut self.stops {
            stops.paused = 0;
        }
    }

    /// Whether it has a packet that may leave: some list whose first packet is not paused.
    pub fn can_send(&self, packets: &Arena) -> bool {
        match self.stops.filter(|stops| stops.paused != 0) {
            None => self.has_backlog(),
            Some(_) => self.first_unpaused(packets).is_some(),
        }
    }

    /// The list that is served next, as its queue and its place in the queue: the first list of the
    /// highest priority whose first packet is not paused.
    fn first_unpaused(&self, packets: &Arena) -> Option<(u8, usize)> {
        let is_free =
            |list: &List| !self.stops.is_some_and(|stops| stops.stops(&packets[list.head]));
        let place = |queue: u8| match &self.queues {
            Queues::One(lists) => is_free(&lists[usize::from(queue)]).then_some(0),
            Queues::PerFlow(lists) => {
                lists[usize::from(queue)].iter().position(|(_, list)| is_free(list))
            }
            // Scenarios with such a NIC have no pause frames.
            Queues::Searched(_) => Some(0),
        };
        self.backlog.iter().find_map(|queue| place(queue).map(|place| (queue, place)))
    }

    /// What marks and drops packets, if anything does.
    #[inline]
    pub fn discipline(&self) -> Option<&Discipline> {
        self.discipline.as_deref()
    }

    /// The discipline's AQM takes over the parameters of `fresh`, an AQM of the same kind.
    pub fn change_aqm(&mut self, now: Time, fresh: AqmPolicy) {
        if let Some(discipline) = &mut self.discipline {
            discipline.change_aqm(now, fresh);
        }
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
        !self.backlog.is_empty()
    }

    /// Bytes that wait.
    #[inline]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether a packet that comes and leaves at once changes nothing.
    #[inline]
    pub fn lets_pass(&self, packet: &mut Packet) -> bool {
        packet.queue_class = self.classes.of(packet);
        self.discipline.is_none()
            && self.backlog.is_empty()
            && self.stops.is_none_or(|stops| stops.paused == 0)
    }

    /// Queues a packet, unless the discipline drops it. Returns the packets that were pushed out
    /// for it.
    pub fn offer(
        &mut self,
        now: Time,
        id: PacketId,
        packets: &mut Arena,
    ) -> Result<Vec<PacketId>, DropReason> {
        let queue_class = self.classes.of(&packets[id]);
        packets[id].queue_class = queue_class;
        let pushed_out = self.make_room(now, id, packets)?;
        if let Some(discipline) = &mut self.discipline {
            discipline.on_arrival(now, queue_class, id, packets)?;
        }
        self.enqueue(id, packets);
        Ok(pushed_out)
    }

    /// Pushes out the packets whose flows have the most bytes left until a packet fits. If the flow
    /// of that packet has at least as many bytes left as one of them, the packet itself is lost,
    /// and none is pushed out. Only a queue that is searched is made room in.
    fn make_room(
        &mut self,
        now: Time,
        id: PacketId,
        packets: &mut Arena,
    ) -> Result<Vec<PacketId>, DropReason> {
        let (Queues::Searched(waiting), Some(discipline)) =
            (&mut self.queues, &mut self.discipline)
        else {
            return Ok(Vec::new());
        };
        let arrival = Waiting::of(id, packets);
        let (mut taken, mut freed) = (Vec::new(), Length::default());
        while !discipline.has_room(&packets[id], freed) {
            let Some(place) = worst_of(waiting, arrival) else {
                // The one taken last goes back first, so that all places are right.
                taken.into_iter().rev().for_each(|(place, packet)| waiting.insert(place, packet));
                return Err(DropReason::PushedOut);
            };
            let packet = waiting.remove(place);
            let bytes = freed.bytes + packets[packet.id].size;
            freed = Length { packets: freed.packets + 1, bytes };
            taken.push((place, packet));
        }
        self.bytes -= u64::from(freed.bytes);
        self.backlog.remove_if(waiting.is_empty(), 0);
        let lost: Vec<PacketId> = taken.into_iter().map(|(_, packet)| packet.id).collect();
        lost.iter().for_each(|&id| discipline.on_loss(now, &packets[id]));
        Ok(lost)
    }

    /// The packets of a queue, for tests.
    fn ids(&self, queue: u8, packets: &Arena) -> Vec<PacketId> {
        match &self.queues {
            Queues::One(_) if !self.backlog.has(queue) => Vec::new(),
            Queues::One(lists) => lists[usize::from(queue)].ids(packets).collect(),
            Queues::PerFlow(lists) => {
                lists[usize::from(queue)].iter().flat_map(|(_, list)| list.ids(packets)).collect()
            }
            Queues::Searched(waiting) => waiting.iter().map(|packet| packet.id).collect(),
        }
    }

    /// Queues a packet at a NIC without a discipline.
    #[inline]
    pub fn enqueue(&mut self, id: PacketId, packets: &mut Arena) {
        let packet = &packets[id];
        self.bytes += u64::from(packet.size);
        let queue = self.classes.of(packet);
        match &mut self.queues {
            Queues::One(lists) => {
                lists[usize::from(queue)].append(!self.backlog.has(queue), id, packets);
            }
            Queues::PerFlow(lists) => {
                let (lists, flow) = (&mut lists[usize::from(queue)], packets.contents(id).flow);
                match lists.iter_mut().find(|(of, _)| *of == flow) {
                    Some((_, list)) => list.append(false, id, packets),
                    None => {
                        let mut list = List::EMPTY;
                        list.append(true, id, packets);
                        lists.push_back((flow, list));
                    }
                }
            }
            Queues::Searched(waiting) => waiting.push(Waiting::of(id, packets)),
        }
        self.backlog.insert(queue);
    }

    /// Prefetches the packet that a NIC with a backlog will probably send next.
    #[inline]
    pub fn prefetch_next(&self, packets: &Arena) {
        if let Queues::One(lists) = &self.queues {
            packets.prefetch(lists[usize::from(self.backlog.first())].head);
        }
    }

    /// Removes the packet that is next. If the discipline drops it, also returns the reason. `None`
    /// if nothing waits, or if everything that waits is paused.
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

    /// Removes a packet that is lost because the link has failed, if there is one.
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
        self.take(self.backlog.first(), 0, packets)
    }

    /// Removes the first packet of the list at this place of a queue; if the queue is searched, the
    /// packet that is sent next.
    #[inline(always)]
    fn take(&mut self, queue: u8, place: usize, packets: &Arena) -> PacketId {
        let (id, emptied) = match &mut self.queues {
            Queues::One(lists) => lists[usize::from(queue)].take(packets),
            Queues::PerFlow(lists) => {
                let lists = &mut lists[usize::from(queue)];
                let (id, emptied) = lists[place].1.take(packets);
                let list = lists.remove(place);
                if !emptied {
                    // The others are served first.
                    lists.extend(list);
                }
                (id, lists.is_empty())
            }
            Queues::Searched(waiting) => {
                let id = waiting.remove(next_to_send(waiting)).id;
                (id, waiting.is_empty())
            }
        };
        self.backlog.remove_if(emptied, queue);
        self.bytes -= u64::from(packets[id].size);
        id
    }

    /// The packets that wait, for tests.
    pub fn waiting(&self, packets: &Arena) -> impl Iterator<Item = PacketId> {
        (0..self.settings.queues).flat_map(|queue| self.ids(queue, packets))
    }

    /// Whether the counters of its discipline, if it has one, agree with its packets. For tests.
    pub fn is_consistent(&self, packets: &Arena) -> bool {
        let length = |queue: u8| {
            let ids = self.ids(queue, packets);
            let bytes = ids.iter().map(|&id| packets[id].size).sum();
            Length { packets: ids.len() as u32, bytes }
        };
        let waiting: Vec<Length> = (0..self.settings.queues).map(length).collect();
        let holds = |queue: u8| waiting[usize::from(queue)].packets > 0;
        let backlog: Backlog = (0..self.settings.queues).filter(|&queue| holds(queue)).collect();
        let bytes: u64 = waiting.iter().map(|length| u64::from(length.bytes)).sum();
        (backlog, bytes) == (self.backlog, self.bytes)
            && self.discipline().is_none_or(|discipline| discipline.holds(&waiting))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillway_settings::Section;
    use spillway_settings::quantity::Amount;
    use spillway_switch::packet::{Contents, NO_PRIORITY};
    use spillway_switch::{DisciplineParts, Environment};

    /// The order in which packets leave, as their indices among those given as (flow, priority).
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
        for (seq, &(flow, priority)) in (0..).zip(given) {
            let id = {
                let contents = Contents { flow, seq, ..Contents::default() };
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
    fn what_every_packet_needs_of_a_nic_is_in_its_first_cache_line() {
        assert!(std::mem::offset_of!(Nic, discipline) <= 64);
    }

    #[test]
    fn priorities_are_strict_and_equals_keep_their_order() {
        let given = [(1, 1), (2, NO_PRIORITY), (1, 0), (3, 1), (2, 9)];
        assert_eq!(order(NicScheduling::Fifo, &given), [2, 0, 3, 1, 4]);
    }

    /// Flow 1 has 5 bytes left with its first packet and 3 with its second; flow 2 has 4, flow 3
    /// has 6, and there is an ack.
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

    /// The queue has room for 1,000 bytes and holds packets 0, 1 and 2: 400 bytes of flow 1 with 9
    /// left, 300 of flow 2 with 5 left, 200 of flow 1 with 8 left. Packet 3, 800 bytes of flow 3
    /// with 6 left, would push out 0 and 2, but not 1: it is lost itself, and they go back to their
    /// places. For packet 4, 500 bytes with 6 left, 0 is enough.
    #[test]
    fn what_was_to_make_room_goes_back_to_its_place() {
        let settings = NicSettings {
            scheduling: NicScheduling::PFabric,
            queues: 1,
            ack_queue: 0,
            data_queue: 0,
            fifo_packets: 0,
            queue_pairs: false,
        };
        let environment = Environment::example(1);
        let aqm = AqmPolicy::read("none", &mut Section::empty(), &environment);
        let discipline = Discipline::new(DisciplineParts {
            rate: environment.port_rates[0],
            queues: 1,
            unmanaged: None,
            queue_limit: Amount::Bytes(1_000),
            aqm: aqm.expect("it has no parameters"),
        });
        let (mut nic, mut packets) = (Nic::new(settings, Some(discipline), None), Arena::new());
        let mut offer = |size, flow, remaining| {
            let contents = Contents { flow, remaining, ..Contents::default() };
            let id = packets.insert(Packet { size, ..Packet::default() }, contents);
            let outcome = nic.offer(Time::ZERO, id, &mut packets);
            assert!(nic.is_consistent(&packets));
            (outcome, nic.ids(0, &packets))
        };
        for (size, flow, remaining) in [(400, 1, 9), (300, 2, 5), (200, 1, 8)] {
            assert_eq!(offer(size, flow, remaining).0, Ok(vec![]));
        }
        assert_eq!(offer(800, 3, 6), (Err(DropReason::PushedOut), vec![0, 1, 2]));
        assert_eq!(offer(500, 3, 6), (Ok(vec![0]), vec![1, 2, 4]));
    }

    #[test]
    fn flows_take_turns() {
        let given = [(1, 1), (1, 1), (1, 1), (2, 1), (3, 1), (2, 1)];
        assert_eq!(order(NicScheduling::PerFlowRoundRobin, &given), [0, 3, 4, 1, 5, 2]);
    }
}

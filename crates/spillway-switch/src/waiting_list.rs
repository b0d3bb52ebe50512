//! The packets of a queue from which any may leave, beside each other in memory.

use crate::packet::PacketId;
use crate::places::{first_place, last_place};
use crate::scheduling::Waiting;

/// The packets of a queue, in the order in which they came, each at its place, from 0.
///
/// A queue that is searched for every packet has one. What is searched lies together: bytes left,
/// flows and numbers, 12 bytes for each packet. A search looks at all, but at several at once, and
/// never at the packets themselves, which lie anywhere in memory.
#[derive(Clone, Debug, Default)]
pub struct WaitingList {
    /// By place.
    remaining: Vec<u32>,
    flows: Vec<u32>,
    ids: Vec<PacketId>,
}

impl WaitingList {
    /// How many packets wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether none waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The packets, in the order in which they came.
    pub fn iter(&self) -> impl Iterator<Item = Waiting> + Clone {
        (0..self.len()).map(|place| self.get(place))
    }

    /// The packet at a place.
    #[inline]
    pub fn get(&self, place: usize) -> Waiting {
        let (flow, remaining) = (self.flows[place], self.remaining[place]);
        Waiting { id: self.ids[place], flow, remaining }
    }

    /// The number of the packet that came last.
    #[inline]
    pub(crate) fn last(&self) -> Option<PacketId> {
        self.ids.last().copied()
    }

    /// The least number of bytes left; `u32::MAX` if no packet waits.
    #[inline]
    pub fn least_remaining(&self) -> u32 {
        self.remaining.iter().copied().fold(u32::MAX, u32::min)
    }

    /// The greatest number of bytes left; 0 if no packet waits.
    #[inline]
    pub fn most_remaining(&self) -> u32 {
        self.remaining.iter().copied().fold(0, u32::max)
    }

    /// The place of the first packet with so many bytes left. There must be one.
    #[inline]
    pub fn first_with(&self, remaining: u32) -> usize {
        first_place(&self.remaining, remaining)
    }

    /// The place of the last packet with so many bytes left. There must be one.
    #[inline]
    pub fn last_with(&self, remaining: u32) -> usize {
        last_place(&self.remaining, remaining)
    }

    /// The place of a flow's first packet. There must be one.
    #[inline]
    pub fn first_of(&self, flow: u32) -> usize {
        first_place(&self.flows, flow)
    }

    /// The place of a packet, which must wait.
    #[inline]
    pub fn place_of(&self, id: PacketId) -> usize {
        first_place(&self.ids, id)
    }

    /// A packet comes.
    #[inline]
    pub fn push(&mut self, packet: Waiting) {
        self.remaining.push(packet.remaining);
        self.flows.push(packet.flow);
        self.ids.push(packet.id);
    }

    /// The packet at a place leaves.
    #[inline]
    pub fn remove(&mut self, place: usize) -> Waiting {
        let packet = self.get(place);
        if place + 1 == self.len() {
            // Often it is the only one, and then nothing is moved.
            self.remaining.pop();
            self.flows.pop();
            self.ids.pop();
        } else {
            self.remaining.remove(place);
            self.flows.remove(place);
            self.ids.remove(place);
        }
        packet
    }

    /// Puts a packet back to its place.
    pub fn insert(&mut self, place: usize, packet: Waiting) {
        self.remaining.insert(place, packet.remaining);
        self.flows.insert(place, packet.flow);
        self.ids.insert(place, packet.id);
    }
}

impl FromIterator<Waiting> for WaitingList {
    fn from_iter<I: IntoIterator<Item = Waiting>>(packets: I) -> WaitingList {
        let mut list = WaitingList::default();
        packets.into_iter().for_each(|packet| list.push(packet));
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduling::{next_to_send, worst_of};
    use proptest::prelude::*;

    fn packet(id: PacketId, flow: u32, remaining: u32) -> Waiting {
        Waiting { id, flow, remaining }
    }

    /// Places 0 to 3: packet 30 of flow 7 with 5 bytes left, 10 of 8 with 9, 20 of 7 with 5, and 40
    /// of 8 with 9.
    fn four() -> WaitingList {
        [packet(30, 7, 5), packet(10, 8, 9), packet(20, 7, 5), packet(40, 8, 9)]
            .into_iter()
            .collect()
    }

    #[test]
    fn the_least_and_the_most_are_found_where_they_came_first_and_last() {
        let list = four();
        assert_eq!((list.least_remaining(), list.most_remaining()), (5, 9));
        assert_eq!((list.first_with(5), list.last_with(5)), (0, 2));
        assert_eq!((list.first_with(9), list.last_with(9)), (1, 3));
        assert_eq!((list.first_of(8), list.place_of(20)), (1, 2));
        let none = WaitingList::default();
        assert_eq!((none.least_remaining(), none.most_remaining()), (u32::MAX, 0));
        assert!(none.is_empty() && !list.is_empty());
    }

    #[test]
    fn those_behind_a_packet_that_leaves_move_up_and_back() {
        let mut list = four();
        assert_eq!(list.remove(1), packet(10, 8, 9));
        assert_eq!((list.len(), list.first_of(8), list.place_of(40)), (3, 2, 2));
        list.insert(1, packet(10, 8, 9));
        assert!(list.iter().eq(four().iter()));
    }

    /// A plain list. The packet with the least left is the first of several, and the worst the last:
    /// `min_by_key` and `max_by_key` give these.
    #[derive(Clone, Debug, Default)]
    struct Naive(Vec<Waiting>);

    impl Naive {
        fn next_to_send(&self) -> usize {
            let best = self.0.iter().min_by_key(|packet| packet.remaining).unwrap();
            self.0.iter().position(|packet| packet.flow == best.flow).unwrap()
        }

        fn worst_of(&self, arrival: Waiting) -> Option<usize> {
            let (place, worst) = (0..).zip(&self.0).max_by_key(|(_, packet)| packet.remaining)?;
            (worst.remaining > arrival.remaining).then_some(place)
        }
    }

    /// What happens: a packet arrives, as its flow and bytes left, after which perhaps one leaves.
    #[derive(Clone, Copy, Debug)]
    enum Leaves {
        Nothing,
        Next,
        Worst,
        AndReturns(usize),
    }

    fn step() -> impl Strategy<Value = (u32, u32, Leaves)> {
        // Few numbers, so that many are equal, and the greatest, of flows without an end.
        let remaining = prop_oneof![0u32..6, 0u32..1_000, Just(u32::MAX)];
        let leaves = prop_oneof![
            4 => Just(Leaves::Nothing),
            2 => Just(Leaves::Next),
            1 => Just(Leaves::Worst),
            1 => (0usize..1_000).prop_map(Leaves::AndReturns),
        ];
        (0u32..40, remaining, leaves)
    }

    proptest! {
        /// Up to some 200 packets wait.
        #[test]
        fn pfabric_chooses_as_in_a_plain_list(steps in prop::collection::vec(step(), 1..600)) {
            let (mut list, mut naive) = (WaitingList::default(), Naive::default());
            for (id, (flow, remaining, leaves)) in (0..).zip(steps) {
                let arrival = packet(id, flow, remaining);
                prop_assert_eq!(worst_of(&list, arrival), naive.worst_of(arrival));
                list.push(arrival);
                naive.0.push(arrival);
                let next = naive.next_to_send();
                prop_assert_eq!(next_to_send(&list), next);
                let place = match leaves {
                    Leaves::Nothing => continue,
                    Leaves::Next => next,
                    Leaves::Worst => naive.worst_of(packet(id, 0, 0)).unwrap_or(0),
                    Leaves::AndReturns(number) => number % naive.0.len(),
                };
                let leaver = naive.0.remove(place);
                prop_assert_eq!(list.place_of(leaver.id), place);
                prop_assert_eq!(list.remove(place), leaver);
                if matches!(leaves, Leaves::AndReturns(_)) {
                    naive.0.insert(place, leaver);
                    list.insert(place, leaver);
                }
                prop_assert!(list.iter().eq(naive.0.iter().copied()));
            }
        }
    }
}

//! The two ends of every flow that is alive: what the sending host knows of it, and what the
//! receiving host knows.
//!
//! Neither end looks at the other. If one must know something of the other, a packet carries it;
//! the sending end is also told of losses. Only to find out whether a flow is over, the packets of
//! both ends are added up.

use super::open_loop::Clock;
use super::priority::Held;
use crate::event;
use crate::record::Repairs;
use spillway_engine::Time;
use spillway_transport::ClosedLoop;
use spillway_transport::flow::FlowSpec;
use spillway_transport::receiver::{InOrder, Receiver};
use spillway_transport::sender::Sender;
use std::collections::BTreeMap;

/// The sending end of a flow. Its cache lines hold, in this order: what every packet needs, the
/// rest, and the sender's state.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct SendingEnd {
    pub flow: Outgoing,
    pub driver: Driver,
}

/// What makes a flow send.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "nearly all flows are of a closed loop: no pointer for them"
)]
#[derive(Clone)]
pub(crate) enum Driver {
    /// Acks.
    ClosedLoop(Sender),
    /// A clock.
    OpenLoop(Clock),
}

/// How a flow's segments are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sending {
    /// As many as the window allows. A clock sends by none of these ways.
    ByWindow,
    /// As `ByWindow`, with a number on each packet.
    Numbered,
    /// As `ByWindow`, in bursts.
    InBursts,
    /// One by one. This is so if segments are paced, if the sender has one timeout for all of them,
    /// or if it is told which of them its own host drops.
    Singly,
    /// As `Singly`, and each is tagged as important or not.
    Protected,
}

impl Sending {
    /// How a flow's segments are sent. `is_told` says whether its sender is told of drops at its
    /// own host.
    pub fn of(closed: &ClosedLoop, is_told: bool) -> Sending {
        if closed.protects {
            Sending::Protected
        } else if closed.paces() || closed.states_remaining || is_told {
            Sending::Singly
        } else if closed.recovery.numbers_packets() {
            Sending::Numbered
        } else if closed.bursts.is_some() {
            Sending::InBursts
        } else {
            Sending::ByWindow
        }
    }
}

/// A flow as its sending host knows it.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Outgoing {
    /// When its pending timer event is due.
    pub timer: Time,
    /// The longest backlog of its host's line with which the flow's window may still grow.
    pub host_backlog: Time,
    /// Its number.
    pub id: u32,
    /// Packets sent by this end, less those that came back and those that were reported lost.
    pub packets: i32,
    /// What chooses the path of its data.
    pub path: u32,
    /// The place of its receiving end, which its packets carry.
    pub peer: u32,
    /// Payload at its beginning that is tagged as sent in the first round trip.
    pub first_rtt_bytes: u32,
    /// The index of its transport.
    pub transport: u16,
    /// The flags of its data packets.
    pub data_flags: u16,
    /// How its segments are sent.
    pub sending: Sending,
    /// Whether its place is kept when the flow is over, for the next flow of its connection.
    pub leaves_open: bool,
    /// The priority of its new packets, and up to which byte it holds.
    pub held: Held,
    /// The flow that was asked for.
    pub spec: FlowSpec,
    /// The number of its first byte on its connection. There, bytes are numbered on from flow to
    /// flow. In packets, they are numbered within the flow.
    pub first_byte: u64,
    /// When the pending event for its next paced packet is due; [`Time::MAX`] if there is none.
    pub pace_timer: Time,
    /// For a flow that hands packets to the NIC one at a time: when it handed over the packet that
    /// waits there. [`Time::MAX`] if none waits.
    pub handed_at: Time,
    /// The least time in which it could complete.
    pub ideal: Time,
    /// When everything was acknowledged; [`Time::MAX`] before.
    pub acked_at: Time,
    /// The number of the flow that opened its connection.
    pub connection: u32,
    /// The first byte that had never been sent when the flow's tagger last took the flow back to
    /// the best level. `None` if that never happened.
    pub restart: Option<u64>,
    /// Its timeouts so far.
    pub timeouts: u32,
    /// Its data packets that were lost so far.
    pub lost: u32,
}

/// The receiving end of a flow.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct ReceivingEnd {
    pub receiver: Receiver,
    /// When this many bytes have arrived in order, something must be noted. `u64::MAX` if nothing
    /// is left to be noted.
    pub awaits: u64,
    /// Payload in bytes; [`FlowSpec::ENDLESS`] for a flow that never ends.
    pub size: u64,
    /// The host that its acks go to.
    pub src: u32,
    /// The place of its sending end, which its acks carry.
    pub peer: u32,
    /// What chooses the path of its acks.
    pub ack_path: u32,
    /// The flags of its acks.
    pub ack_flags: u16,
    /// The index of its transport.
    pub transport: u16,
    /// The number of its class.
    pub class: u16,
    /// Packets made by this end, less those that ended here.
    pub packets: i32,
    /// Data packets that arrived with no new data.
    pub arrived_twice: u32,
    /// When its last byte arrived; [`Time::MAX`] before.
    pub completed_at: Time,
    /// When the last byte arrived that was sent on the way up to better levels; [`Time::MAX`]
    /// before. Only known if it is recorded.
    pub climbed_at: Time,
    /// When the pending event for its held-back ack is due; [`Time::MAX`] if there is none.
    pub ack_timer: Time,
    /// Its own host.
    pub dst: u32,
    /// Its number.
    pub id: u32,
}

impl Outgoing {
    /// Bytes of the flow from the byte `seq` of its connection on.
    #[inline(always)]
    pub fn remaining(&self, seq: u64) -> u64 {
        self.spec.size - (seq - self.first_byte)
    }
}

impl SendingEnd {
    /// Whether everything has been sent, and with a closed loop also acknowledged.
    pub fn is_done(&self) -> bool {
        match &self.driver {
            Driver::ClosedLoop(sender) => sender.is_done(),
            Driver::OpenLoop(clock) => clock.has_sent(self.flow.spec.size),
        }
    }

    /// The sender, if acks drive the flow.
    pub fn sender(&self) -> Option<&Sender> {
        match &self.driver {
            Driver::ClosedLoop(sender) => Some(sender),
            Driver::OpenLoop(_) => None,
        }
    }
}

/// The ends of all flows that are alive. Both ends of a flow have the same place, which is reused
/// when the flow is over and none of its packets is left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends {
    sending: Vec<SendingEnd>,
    receiving: Vec<ReceivingEnd>,
    free: Vec<u32>,
    /// How many places there are, with those that have been given away and not filled yet.
    places: u32,
    /// What receiving ends that accept packets in order only keep in addition, by their places.
    in_order: Vec<InOrder>,
    /// The places, by the flows' numbers.
    by_number: BTreeMap<u32, u32>,
}

impl Ends {
    /// A place for both ends of a flow. Places must be filled in the order in which they are given
    /// away.
    pub fn reserve(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.places += 1;
            self.places - 1
        })
    }

    /// Puts both ends of a flow into their place.
    pub fn insert(&mut self, slot: u32, sending: SendingEnd, receiving: ReceivingEnd) {
        self.by_number.insert(event::id(sending.flow.id), slot);
        self.put(slot, sending, receiving);
    }

    fn put(&mut self, slot: u32, mut sending: SendingEnd, mut receiving: ReceivingEnd) {
        (sending.flow.peer, receiving.peer) = (slot, slot);
        match (self.sending.get_mut(slot as usize), self.receiving.get_mut(slot as usize)) {
            (Some(place), Some(other)) => (*place, *other) = (sending, receiving),
            _ => {
                spillway_engine::push(&mut self.sending, sending);
                spillway_engine::push(&mut self.receiving, receiving);
            }
        }
    }

    /// Frees the place of a flow that is over.
    pub fn remove(&mut self, slot: u32) {
        self.rest(slot);
        self.free.push(slot);
    }

    /// Forgets a flow that is over, and keeps its place for the next flow of its connection.
    pub fn rest(&mut self, slot: u32) {
        let known = self.by_number.remove(&event::id(self.sending(slot).flow.id));
        assert_eq!(known, Some(slot), "a flow is removed once");
        if let Some(state) = self.in_order.get_mut(slot as usize) {
            *state = InOrder::default();
        }
    }

    /// The place for the next flow of a connection. Usually it is the place of the last flow. While
    /// packets of the last flow are left, it is another place, with a copy of the sender. So these
    /// packets change nothing for the next flow.
    pub fn place_for_next(&mut self, slot: u32) -> u32 {
        if self.is_over(slot) {
            return slot;
        }
        self.sending_mut(slot).flow.leaves_open = false;
        let next = self.reserve();
        self.put(next, self.sending(slot).clone(), self.receiving(slot).clone());
        next
    }

    /// Puts the next flow of a connection into its place.
    pub fn renew(&mut self, slot: u32, mut flow: Outgoing, mut receiving: ReceivingEnd) {
        (flow.peer, receiving.peer) = (slot, slot);
        self.by_number.insert(event::id(flow.id), slot);
        self.sending[slot as usize].flow = flow;
        self.receiving[slot as usize] = receiving;
    }

    /// Asks the processor to fetch the end that an ack, or data, is for.
    #[inline(always)]
    pub fn prefetch(&self, slot: u32, is_ack: bool) {
        if is_ack {
            spillway_engine::prefetch(&self.sending, slot as usize);
        } else {
            spillway_engine::prefetch(&self.receiving, slot as usize);
        }
    }

    /// The sending end at a place.
    #[inline]
    pub fn sending(&self, slot: u32) -> &SendingEnd {
        &self.sending[slot as usize]
    }

    /// The sending end at a place, mutable.
    #[inline]
    pub fn sending_mut(&mut self, slot: u32) -> &mut SendingEnd {
        &mut self.sending[slot as usize]
    }

    /// Both ends at a place, the sending end mutable. Only needed for a sender that knows more than
    /// a network would tell it.
    #[inline]
    pub fn both_mut(&mut self, slot: u32) -> (&mut SendingEnd, &ReceivingEnd) {
        (&mut self.sending[slot as usize], &self.receiving[slot as usize])
    }

    /// The receiving end at a place, which accepts packets in order only, and what it keeps in
    /// addition.
    pub fn in_order_mut(&mut self, slot: u32) -> (&mut ReceivingEnd, &mut InOrder) {
        let place = slot as usize;
        if place >= self.in_order.len() {
            self.in_order.resize(place + 1, InOrder::default());
        }
        (&mut self.receiving[place], &mut self.in_order[place])
    }

    /// Packets of the flow at a place that were discarded because they came too early.
    pub fn discarded(&self, slot: u32) -> u32 {
        self.in_order.get(slot as usize).map_or(0, |state| state.discarded)
    }

    /// The sending end at a place, if there is one.
    pub fn sending_at(&self, slot: u32) -> Option<&SendingEnd> {
        self.sending.get(slot as usize)
    }

    /// The receiving end at a place, if there is one.
    pub fn receiving_at(&self, slot: u32) -> Option<&ReceivingEnd> {
        self.receiving.get(slot as usize)
    }

    /// As many packets of the flow at a place were discarded.
    pub fn take_discarded(&mut self, slot: u32, discarded: u32) {
        if discarded > 0 {
            self.in_order_mut(slot).1.discarded = discarded;
        }
    }

    /// The receiving end at a place.
    #[inline]
    pub fn receiving(&self, slot: u32) -> &ReceivingEnd {
        &self.receiving[slot as usize]
    }

    /// The receiving end at a place, mutable.
    #[inline]
    pub fn receiving_mut(&mut self, slot: u32) -> &mut ReceivingEnd {
        &mut self.receiving[slot as usize]
    }

    /// Whether nothing more will happen to a flow.
    #[inline]
    pub fn is_over(&self, slot: u32) -> bool {
        let (sending, receiving) = (self.sending(slot), self.receiving(slot));
        sending.flow.packets + receiving.packets == 0 && sending.is_done()
    }

    /// The place of the flow whose number has these low bits, if it is alive.
    pub fn slot_of(&self, number: u32) -> Option<u32> {
        self.by_number.get(&number).copied()
    }

    /// Bytes of memory. There are as many places as there ever were flows alive at once.
    pub fn bytes(&self) -> u64 {
        let ends = size_of_val(self.sending.as_slice()) + size_of_val(self.receiving.as_slice());
        (ends + size_of_val(self.in_order.as_slice())) as u64
    }

    /// What the flow at this place lost, and how it was repaired.
    pub fn repairs(&self, slot: u32) -> Repairs {
        let sender = self.sending(slot).sender();
        let repaired = sender.map_or(0, |sender| sender.retransmitted_packets);
        let by_timeout = sender.map_or(0, |sender| sender.timeout_repairs);
        Repairs {
            lost: self.sending(slot).flow.lost,
            by_detection: repaired - by_timeout,
            by_timeout,
            arrived_twice: self.receiving(slot).arrived_twice,
            discarded: self.discarded(slot),
            order: sender.and_then(|sender| sender.order_counts()),
        }
    }

    /// The places of all flows that are alive, in the order of their numbers.
    pub fn slots(&self) -> Vec<u32> {
        self.by_number.values().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillway_engine::Rate;
    use spillway_settings::Section;
    use spillway_transport::sender::AckSegment;
    use spillway_transport::{Access, Control, Transport};

    const NEWRENO: &str = "kind = \"newreno\"\nmss = \"1000B\"";

    fn closed_loop(text: &str) -> ClosedLoop {
        let mut section = Section::new("transport", text.parse().unwrap());
        let read = Transport::read(&mut section, &Default::default());
        let Control::ClosedLoop(closed) = read.unwrap().control else { panic!("acks drive it") };
        closed
    }

    /// Sends the flow's only packet, and takes the ack.
    fn finish(sender: &mut Sender) {
        let transport = closed_loop(NEWRENO);
        sender.next_piece(Time::ZERO, &transport).unwrap();
        let ack = AckSegment {
            seq: 1_000,
            ece: false,
            sent_at: Time::ZERO,
            may_grow: true,
            sack: None,
            telemetry: None,
            number: None,
        };
        sender.on_ack(Time::from_us(25), &ack, &transport);
    }

    /// Both ends of a flow of one packet that acks drive, or a clock.
    fn flow(id: u32, is_open_loop: bool) -> (SendingEnd, ReceivingEnd) {
        let spec = crate::testing::flow(0, 1, 1_000);
        let driver = if is_open_loop {
            Driver::OpenLoop(Clock::new(1, id))
        } else {
            let rate = Rate::from_bits_per_second(10_000_000_000).unwrap();
            let access = Access { rate, base_rtt: Time::from_us(25), whole_ns: false, flow: None };
            Driver::ClosedLoop(Sender::new(spec.size, 1_000, &closed_loop(NEWRENO), &access))
        };
        let flow = Outgoing {
            timer: Time::MAX,
            host_backlog: Time::MAX,
            id,
            packets: 0,
            path: 0,
            peer: 0,
            first_rtt_bytes: 0,
            transport: 0,
            data_flags: 0,
            sending: Sending::ByWindow,
            leaves_open: false,
            held: Held::NONE,
            spec,
            pace_timer: Time::MAX,
            handed_at: Time::MAX,
            first_byte: 0,
            ideal: Time::ZERO,
            acked_at: Time::MAX,
            connection: id,
            restart: None,
            timeouts: 0,
            lost: 0,
        };
        let receiving = ReceivingEnd {
            receiver: Receiver::default(),
            awaits: spec.size,
            size: spec.size,
            src: 0,
            peer: 0,
            ack_path: 0,
            ack_flags: 0,
            transport: 0,
            class: 0,
            arrived_twice: 0,
            packets: 0,
            completed_at: Time::MAX,
            climbed_at: Time::MAX,
            ack_timer: Time::MAX,
            dst: 1,
            id,
        };
        (SendingEnd { flow, driver }, receiving)
    }

    fn insert(ends: &mut Ends, id: u32, is_open_loop: bool) -> u32 {
        let (sending, receiving) = flow(id, is_open_loop);
        let slot = ends.reserve();
        ends.insert(slot, sending, receiving);
        slot
    }

    #[test]
    fn segments_go_one_by_one_where_a_sender_paces_or_is_told_of_each() {
        let sending = |text: &str, is_told: bool| {
            let text = format!("mss = \"1000B\"\n{text}");
            Sending::of(&closed_loop(&text), is_told)
        };
        let numbered = "kind = \"dctcp\"\nrecovery.kind = \"per-priority\"";
        assert_eq!(sending("kind = \"dctcp\"", false), Sending::ByWindow);
        assert_eq!(sending("kind = \"dctcp\"", true), Sending::Singly);
        assert_eq!(sending(numbered, false), Sending::Numbered);
        assert_eq!(sending(numbered, true), Sending::Singly);
        let paced = format!("{numbered}\nmin_window = \"100B\"");
        assert_eq!(sending(&paced, false), Sending::Singly);
        assert_eq!(sending("kind = \"pfabric\"", false), Sending::Singly);
    }

    #[test]
    fn places_are_used_again_and_numbers_are_not() {
        let mut ends = Ends::default();
        assert_eq!([7, 8, 9].map(|id| insert(&mut ends, id, false)), [0, 1, 2]);
        let bytes = ends.bytes();
        ends.remove(1);
        assert_eq!((ends.slot_of(8), ends.slot_of(9)), (None, Some(2)));
        assert_eq!(insert(&mut ends, 10, false), 1);
        assert_eq!((ends.sending(1).flow.id, ends.receiving(1).id), (10, 10));
        assert_eq!((ends.slots(), ends.bytes()), (vec![0, 2, 1], bytes));
    }

    #[test]
    fn the_next_flow_has_a_place_of_its_own_while_packets_of_the_last_one_are_left() {
        let mut ends = Ends::default();
        let slot = insert(&mut ends, 3, false);
        ends.sending_mut(slot).flow.leaves_open = true;
        if let Driver::ClosedLoop(sender) = &mut ends.sending_mut(slot).driver {
            finish(sender);
        }
        ends.sending_mut(slot).flow.packets = 1;
        let other = ends.place_for_next(slot);
        assert_eq!((other, ends.sending(slot).flow.leaves_open), (1, false));
        let (sending, receiving) = flow(4, false);
        ends.renew(other, sending.flow, receiving);
        // The sender is the one that the last flow has left. That flow is still known.
        assert!(ends.sending(other).is_done());
        assert_eq!((ends.slot_of(3), ends.slot_of(4)), (Some(slot), Some(other)));
        ends.sending_mut(slot).flow.packets = 0;
        assert_eq!(ends.place_for_next(slot), slot);
    }

    #[test]
    #[should_panic(expected = "a flow is removed once")]
    fn a_flow_is_not_removed_twice() {
        let mut ends = Ends::default();
        insert(&mut ends, 3, false);
        ends.remove(0);
        ends.remove(0);
    }

    #[test]
    fn a_flow_is_over_when_it_is_done_and_none_of_its_packets_is_left() {
        let mut ends = Ends::default();
        for is_open_loop in [false, true] {
            let slot = insert(&mut ends, u32::from(is_open_loop), is_open_loop);
            assert!(!ends.is_over(slot), "nothing is sent");
            match &mut ends.sending_mut(slot).driver {
                Driver::ClosedLoop(sender) => finish(sender),
                Driver::OpenLoop(clock) => clock.send_all(1_000),
            }
            assert!(ends.is_over(slot));
            // A packet left the sending end and an ack is made of it; the ack comes back, or is
            // lost.
            ends.sending_mut(slot).flow.packets = 1;
            assert!(!ends.is_over(slot));
            ends.sending_mut(slot).flow.packets = 0;
            // Two acks of one packet: the second was made at the receiving end.
            ends.receiving_mut(slot).packets = 1;
            assert!(!ends.is_over(slot));
            ends.sending_mut(slot).flow.packets = -1;
            assert!(ends.is_over(slot));
        }
    }
}

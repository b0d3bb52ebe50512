//! A network that loses, delays and reorders packets.

use super::{AckSegment, Piece};
use crate::ClosedLoop;
use crate::receiver::{AckFields, InOrder, Receiver, Segment};
use proptest::prelude::*;
use spillway_engine::Time;
use std::collections::BTreeMap;

/// The length of a step, for tests in which time matters. A round trip without a delay takes five.
pub const STEP: Time = Time::from_us(20);

/// The step in which a packet sent now arrives if it is not delayed.
pub fn arrival_step(now: Time) -> u64 {
    now.ps().div_ceil(STEP.ps()) + 5
}

/// What happens to a packet, or to its ack.
#[derive(Clone, Copy, Debug)]
pub struct Fate {
    is_lost: bool,
    is_ack_lost: bool,
    delay: u64,
}

impl Fate {
    /// The same fate, but the ack is not lost.
    pub fn answered(self) -> Fate {
        Fate { is_ack_lost: false, ..self }
    }
}

/// Fates of packets, in the order in which they are sent.
pub fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = (0u8..10, 0u8..10, 0u64..12).prop_map(|(lost, ack_lost, delay)| Fate {
        is_lost: lost < 2,
        is_ack_lost: ack_lost < 1,
        delay: if delay < 8 { 0 } else { delay - 7 },
    });
    prop::collection::vec(fate, 1..200)
}

/// Packets under way to a receiver, which acknowledges them at once.
pub struct Network {
    receiver: Receiver,
    /// What the receiver keeps in addition if it accepts packets in order only.
    in_order: InOrder,
    fates: Vec<Fate>,
    /// Packets sent so far.
    sent: usize,
    /// The packets, by the step in which they arrive and the order in which they were sent.
    on_the_way: BTreeMap<(u64, usize), (Segment, bool)>,
}

impl Network {
    /// A network that repeats these fates forever.
    pub fn new(fates: Vec<Fate>) -> Network {
        Network {
            receiver: Receiver::default(),
            in_order: InOrder::default(),
            fates,
            sent: 0,
            on_the_way: BTreeMap::new(),
        }
    }

    /// Sends a packet that arrives in the step `arrives` if it is not delayed. `safe` packets are
    /// not lost.
    pub fn send(&mut self, now: Time, arrives: u64, piece: &Piece, safe: bool) {
        let fate = self.fates[self.sent % self.fates.len()];
        if safe || !fate.is_lost {
            let Piece { seq, payload, .. } = *piece;
            let segment =
                Segment { seq, payload, ce: false, cwr: false, sent_at: now, asks: false };
            let is_answered = safe || !fate.is_ack_lost;
            self.on_the_way.insert((arrives + fate.delay, self.sent), (segment, is_answered));
        }
        self.sent += 1;
    }

    /// The step in which the next packet arrives.
    pub fn next_step(&self) -> Option<u64> {
        self.on_the_way.keys().next().map(|&(step, _)| step)
    }

    /// Delivers the next packet. Returns its place in the order of sending, and the acks that get
    /// back.
    pub fn deliver(&mut self, now: Time, transport: &ClosedLoop) -> (u64, Vec<AckFields>) {
        let Some(((_, place), (segment, is_answered))) = self.on_the_way.pop_first() else {
            return (0, Vec::new());
        };
        let mut acks = self.arrive(now, &segment, transport);
        acks.retain(|_| is_answered);
        (place as u64, acks)
    }

    /// The next packet, and whether its acks get back. The caller delivers it.
    pub fn take_next(&mut self) -> Option<(Segment, bool)> {
        self.on_the_way.pop_first().map(|(_, next)| next)
    }

    /// A packet arrives. Returns the acks that it causes.
    pub fn arrive(
        &mut self,
        now: Time,
        segment: &Segment,
        transport: &ClosedLoop,
    ) -> Vec<AckFields> {
        let (policy, mut acks) = (&transport.acks, Vec::new());
        let reply = |ack| acks.push(ack);
        match policy.in_order {
            None => self.receiver.on_segment(now, segment, policy, reply),
            Some(rule) => {
                let rule = (rule, &mut self.in_order);
                self.receiver.on_segment_in_order(now, segment, policy, rule, reply)
            }
        };
        acks
    }
}

impl AckFields {
    /// The ack as the sender sees it. Its own line is idle.
    pub fn segment(&self) -> AckSegment<'_> {
        AckSegment {
            seq: self.seq,
            ece: self.ece,
            sent_at: self.sent_at,
            may_grow: true,
            sack: self.sack.as_ref(),
            telemetry: None,
            number: None,
        }
    }
}

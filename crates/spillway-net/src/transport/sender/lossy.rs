//! A network that loses, delays and reorders what a sender sends.

use super::{AckSegment, Piece};
use crate::transport::ClosedLoop;
use crate::transport::receiver::{AckFields, Receiver, Segment};
use proptest::prelude::*;
use spillway_engine::Time;
use std::collections::BTreeMap;

/// A step where time matters; a round trip without a delay takes five.
pub const STEP: Time = Time::from_us(20);

/// The step in which a packet arrives that is sent now and not delayed.
pub fn arrival_step(now: Time) -> u64 {
    now.ps().div_ceil(STEP.ps()) + 5
}

/// What a packet or its ack meets.
#[derive(Clone, Copy, Debug)]
pub struct Fate {
    is_lost: bool,
    is_ack_lost: bool,
    delay: u64,
}

/// Fates of packets that are sent one after the other.
pub fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = (0u8..10, 0u8..10, 0u64..12).prop_map(|(lost, ack_lost, delay)| Fate {
        is_lost: lost < 2,
        is_ack_lost: ack_lost < 1,
        delay: if delay < 8 { 0 } else { delay - 7 },
    });
    prop::collection::vec(fate, 1..200)
}

/// Packets on the way to a receiver, whose acks come at once.
pub struct Network {
    receiver: Receiver,
    fates: Vec<Fate>,
    /// Packets sent so far.
    sent: usize,
    /// By the step in which they arrive, and the order in which they were sent.
    on_the_way: BTreeMap<(u64, usize), (Segment, bool)>,
}

impl Network {
    /// The fates come again and again.
    pub fn new(fates: Vec<Fate>) -> Network {
        Network { receiver: Receiver::default(), fates, sent: 0, on_the_way: BTreeMap::new() }
    }

    /// A piece that is not delayed arrives in the step `arrives`; nothing is lost of what is `safe`.
    pub fn send(&mut self, now: Time, arrives: u64, piece: &Piece, safe: bool) {
        let fate = self.fates[self.sent % self.fates.len()];
        if safe || !fate.is_lost {
            let Piece { seq, payload, .. } = *piece;
            let segment = Segment { seq, payload, ce: false, cwr: false, sent_at: now };
            let is_answered = safe || !fate.is_ack_lost;
            self.on_the_way.insert((arrives + fate.delay, self.sent), (segment, is_answered));
        }
        self.sent += 1;
    }

    /// The step in which the next packet arrives.
    pub fn next_step(&self) -> Option<u64> {
        self.on_the_way.keys().next().map(|&(step, _)| step)
    }

    /// The next packet arrives: the acks that get back.
    pub fn deliver(&mut self, now: Time, transport: &ClosedLoop) -> Vec<AckFields> {
        let mut acks = Vec::new();
        if let Some((_, (segment, is_answered))) = self.on_the_way.pop_first() {
            self.receiver.on_segment(now, &segment, &transport.acks, |ack| acks.push(ack));
            acks.retain(|_| is_answered);
        }
        acks
    }
}

impl AckFields {
    /// As a sender sees it whose own line is idle.
    pub fn segment(&self) -> AckSegment<'_> {
        AckSegment {
            seq: self.seq,
            ece: self.ece,
            sent_at: self.sent_at,
            may_grow: true,
            sack: self.sack.as_ref(),
            telemetry: None,
        }
    }
}

//! The state of the flows that are alive. A place is reused when a flow is over and none of its
//! packets is left.

use crate::event;
use crate::flow::FlowSpec;
use crate::transport::receiver::Receiver;
use crate::transport::sender::Sender;
use spillway_engine::{Stream, Time};
use std::collections::BTreeMap;

/// A flow that is alive. In cache lines: what data packets need, what acks need, the rest, what the
/// sender needs.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Flow {
    pub receiver: Receiver,
    /// What chooses the way of its acks.
    pub ack_path: u32,
    /// The flags of its acks.
    pub ack_flags: u16,
    /// When its pending timer event is due.
    pub timer: Time,
    /// How long its host's line may have work for while its window grows.
    pub host_backlog: Time,
    /// Its number.
    pub id: u32,
    /// Packets of it that exist.
    pub packets: u32,
    /// What chooses the way of its data.
    pub path: u32,
    /// Payload that is tagged as sent in the first round trip.
    pub first_rtt_bytes: u32,
    /// Its transport, by place.
    pub transport: u16,
    /// The flags of its data packets.
    pub data_flags: u16,
    /// Whether each of its pieces has to be seen to by itself: they leave at a pace, or it hears of those
    /// that its own host drops.
    pub sends_singly: bool,
    /// What it was asked to do.
    pub spec: FlowSpec,
    /// When the pending event for its held-back ack is due; [`Time::MAX`] if there is none.
    pub ack_timer: Time,
    /// When the pending event for its next paced packet is due; [`Time::MAX`] if there is none.
    pub pace_timer: Time,
    /// When its last byte arrived.
    pub completed_at: Option<Time>,
    /// The least time that it could take.
    pub ideal: Time,
    /// The clock of an open-loop flow: its random stream and the next byte to send.
    pub clock: Option<(Stream, u64)>,
    pub sender: Sender,
}

impl Flow {
    /// Whether nothing of it will happen any more.
    pub fn is_over(&self) -> bool {
        let sent = match &self.clock {
            None => self.sender.is_done(),
            Some((_, next)) => *next >= self.spec.size,
        };
        sent && self.packets == 0
    }
}

/// All flows that are alive, by place.
#[derive(Debug, Default)]
pub(super) struct Flows {
    places: Vec<Flow>,
    free: Vec<u32>,
    /// The places by the flows' numbers.
    by_number: BTreeMap<u32, u32>,
}

impl Flows {
    pub fn insert(&mut self, flow: Flow) -> u32 {
        let number = event::id(flow.id);
        let slot = match self.free.pop() {
            Some(slot) => {
                self.places[slot as usize] = flow;
                slot
            }
            None => {
                self.places.push(flow);
                self.places.len() as u32 - 1
            }
        };
        self.by_number.insert(number, slot);
        slot
    }

    pub fn remove(&mut self, slot: u32) {
        let known = self.by_number.remove(&event::id(self[slot].id));
        assert_eq!(known, Some(slot), "a flow is removed once");
        self.free.push(slot);
    }

    /// The place of the flow with these low bits of its number, if it is alive.
    pub fn slot_of(&self, number: u32) -> Option<u32> {
        self.by_number.get(&number).copied()
    }

    /// Bytes that they take: as many places as there have been flows alive at a time.
    pub fn bytes(&self) -> u64 {
        (self.places.len() * size_of::<Flow>()) as u64
    }

    /// The places of all flows that are alive, by their numbers.
    pub fn slots(&self) -> Vec<u32> {
        self.by_number.values().copied().collect()
    }
}

impl std::ops::Index<u32> for Flows {
    type Output = Flow;
    #[inline]
    fn index(&self, slot: u32) -> &Flow {
        &self.places[slot as usize]
    }
}

impl std::ops::IndexMut<u32> for Flows {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Flow {
        &mut self.places[slot as usize]
    }
}

//! The state of the flows that are alive. A place is reused when a flow is over and none of its
//! packets is left.

use crate::flow::FlowSpec;
use crate::transport::receiver::Receiver;
use crate::transport::sender::Sender;
use spillway_engine::{Stream, Time};

/// A flow that is alive.
#[derive(Debug)]
pub(crate) struct Flow {
    /// What it was asked to do.
    pub spec: FlowSpec,
    /// Its number.
    pub id: u32,
    /// Its transport, by place.
    pub transport: u16,
    /// What chooses the way of its data.
    pub path: u32,
    /// What chooses the way of its acks.
    pub ack_path: u32,
    /// The flags of its data packets.
    pub data_flags: u16,
    /// The flags of its acks.
    pub ack_flags: u16,
    /// Packets of it that exist.
    pub packets: u32,
    /// When its last byte arrived.
    pub completed_at: Option<Time>,
    /// Payload that is tagged as sent in the first round trip.
    pub first_rtt_bytes: u64,
    /// The least time that it could take.
    pub ideal: Time,
    /// When its pending timer event is due.
    pub timer: Time,
    pub sender: Sender,
    pub receiver: Receiver,
    /// The clock of an open-loop flow: its random stream and the next byte to send.
    pub clock: Option<(Stream, u64)>,
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

    /// Payload that has arrived, each byte counted once.
    pub fn delivered(&self) -> u64 {
        self.receiver.delivered()
    }
}

/// All flows that are alive, by place.
#[derive(Debug, Default)]
pub(crate) struct Flows {
    places: Vec<Option<Box<Flow>>>,
    free: Vec<u32>,
}

impl Flows {
    pub fn insert(&mut self, flow: Flow) -> u32 {
        match self.free.pop() {
            Some(slot) => {
                self.places[slot as usize] = Some(Box::new(flow));
                slot
            }
            None => {
                self.places.push(Some(Box::new(flow)));
                self.places.len() as u32 - 1
            }
        }
    }

    pub fn remove(&mut self, slot: u32) {
        self.places[slot as usize] = None;
        self.free.push(slot);
    }

    /// The flow at this place, if it is still the one whose number has these low bits.
    pub fn find(&mut self, slot: u32, id: u32, mask: u32) -> Option<&mut Flow> {
        let flow = self.places.get_mut(slot as usize)?.as_deref_mut();
        flow.filter(|flow| flow.id & mask == id)
    }

    /// The places of all flows that are alive.
    pub fn slots(&self) -> Vec<u32> {
        let alive = |(slot, place): (u32, &Option<Box<Flow>>)| place.is_some().then_some(slot);
        (0..).zip(&self.places).filter_map(alive).collect()
    }
}

impl std::ops::Index<u32> for Flows {
    type Output = Flow;
    #[inline]
    fn index(&self, slot: u32) -> &Flow {
        self.places[slot as usize].as_deref().expect("packets belong to flows that are alive")
    }
}

impl std::ops::IndexMut<u32> for Flows {
    #[inline]
    fn index_mut(&mut self, slot: u32) -> &mut Flow {
        self.places[slot as usize].as_deref_mut().expect("packets belong to flows that are alive")
    }
}

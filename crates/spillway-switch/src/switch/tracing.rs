//! What is kept of a switch's arrivals for people: decisions, and fates of packets.

use super::Switch;
use crate::aqm::Aqm;
use crate::buffer::QueueId;
use crate::fates::{Fate, FateTracing, Fates};
use crate::packet::{Arena, Contents, PacketId, flags};
use crate::sharing::{Arrival, DropReason, Sharing};
use spillway_engine::{Stream, Time};

/// What was decided about one arrival.
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    /// When.
    pub time: Time,
    /// The queue that it was for.
    pub queue: QueueId,
    /// The packet's flow.
    pub flow: u32,
    /// The packet's first byte (or, of an ack, the first byte missing).
    pub seq: u64,
    /// Bytes that it takes.
    pub size: u32,
    /// Bytes in the queue before it.
    pub queue_bytes: u32,
    /// The sharing policy's limit for the queue, if it has one.
    pub threshold: Option<u64>,
    /// Bytes in the buffer before it.
    pub occupancy: u64,
    /// Whether it was marked.
    pub marked: bool,
    /// Why it was lost, if it was.
    pub dropped: Option<DropReason>,
}

/// What an arrival finds.
#[derive(Clone, Copy, Debug)]
struct Seen {
    queue_bytes: u32,
    occupancy: u64,
}

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// Starts to keep decisions.
    pub fn trace_decisions(&mut self) {
        self.decisions = Some(Vec::new());
        self.trace_if_asked();
    }

    /// Keeps no more decisions.
    pub fn stop_tracing_decisions(&mut self) {
        self.decisions = None;
        self.trace_if_asked();
    }

    /// Starts to follow packets to their fates, from an empty buffer on. `random` chooses those
    /// that are kept.
    pub fn trace_fates(&mut self, tracing: FateTracing, random: Stream) {
        let fates = Fates::new(tracing, self.buffer.queues().len(), random);
        self.fates = Some(Box::new(fates));
        self.watches_departures = true;
        self.trace_if_asked();
    }

    /// Takes the fates that have become known since the last call.
    pub fn take_fates(&mut self) -> Vec<Fate> {
        self.fates.as_mut().map(|fates| fates.take()).unwrap_or_default()
    }

    /// The run is over: what still waits has no fate.
    pub fn finish_fates(&mut self) {
        if let Some(fates) = &mut self.fates {
            fates.finish();
        }
    }

    /// A trace has a row for every arrival: all are decided about, one by one.
    pub(super) fn trace_if_asked(&mut self) {
        self.is_traced = self.decisions.is_some() || self.fates.is_some() || self.introduces;
        self.open_below = self.opens_below();
    }

    /// Takes the decisions kept since the last call.
    pub fn take_decisions(&mut self) -> Vec<Decision> {
        self.decisions.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// The same, with an introduction and rows in the traces.
    #[cold]
    pub(super) fn admit_traced(
        &mut self,
        arrival: &Arrival,
        id: PacketId,
        packet_flags: u16,
        packets: &mut Arena,
    ) -> bool {
        let seen = Seen {
            queue_bytes: self.buffer.bytes(arrival.queue),
            occupancy: self.buffer.occupancy(),
        };
        if self.introduces {
            let Contents { flow, seq, .. } = *packets.contents(id);
            self.sharing.introduce(flow, seq);
        }
        self.note_length(arrival.now, arrival.queue);
        if let Some(fates) = &mut self.fates
            && self.sharing.tests(arrival.class)
        {
            fates.arrives(arrival, id, packets.contents(id), &self.buffer);
        }
        let outcome = self.decide(arrival, id, packet_flags & flags::ECT != 0, packets);
        if self.decisions.is_some() {
            let threshold = self.sharing.threshold(arrival, &self.buffer);
            self.note_decision(arrival, packets.contents(id), seen, threshold, outcome);
        }
        self.carry_out(outcome, arrival.now, id, arrival.queue, arrival.size, packets)
    }

    #[cold]
    fn note_decision(
        &mut self,
        arrival: &Arrival,
        contents: &Contents,
        Seen { queue_bytes, occupancy }: Seen,
        threshold: Option<u64>,
        outcome: Result<bool, DropReason>,
    ) {
        let decision = Decision {
            time: arrival.now,
            queue: arrival.queue,
            flow: contents.flow,
            seq: contents.seq,
            size: arrival.size,
            queue_bytes,
            threshold,
            occupancy,
            marked: outcome == Ok(true),
            dropped: outcome.err(),
        };
        self.decisions.get_or_insert_default().push(decision);
    }
}

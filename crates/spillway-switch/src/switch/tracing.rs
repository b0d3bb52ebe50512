//! What a switch records for analysis: decisions about arrivals, fates of packets, and bursts.

use super::Switch;
use crate::aqm::Aqm;
use crate::buffer::QueueId;
use crate::bursts::{BurstReport, BurstTracing, Bursts, Left};
use crate::fates::{Fate, FateTracing, Fates};
use crate::packet::{Arena, Contents, NO_PACKET, Packet, PacketId};
use crate::policy::{Arrival, DropReason};
use crate::sharing::{Learned, Sharing};
use spillway_engine::{Stream, Time};

/// The decision about one arrival.
#[derive(Clone, Copy, Debug)]
pub struct Decision {
    /// When.
    pub time: Time,
    /// The queue that it was for.
    pub queue: QueueId,
    /// The packet's flow.
    pub flow: u32,
    /// The number of the packet's first byte (of an ack: of the first byte missing).
    pub seq: u64,
    /// Bytes that it takes in the buffer.
    pub size: u32,
    /// Bytes in the queue when it arrived.
    pub queue_bytes: u32,
    /// The sharing policy's limit for the queue, if it has one.
    pub threshold: Option<u64>,
    /// Bytes in the buffer when it arrived.
    pub occupancy: u64,
    /// Whether it was marked.
    pub marked: bool,
    /// Why it was lost, if it was.
    pub dropped: Option<DropReason>,
}

/// The state that an arrival finds.
#[derive(Clone, Copy, Debug)]
struct Seen {
    queue_bytes: u32,
    occupancy: u64,
}

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// Starts to record decisions.
    pub fn trace_decisions(&mut self) {
        self.decisions = Some(Vec::new());
        self.trace_if_asked();
    }

    /// Stops recording decisions.
    pub fn stop_tracing_decisions(&mut self) {
        self.decisions = None;
        self.trace_if_asked();
    }

    /// Starts to follow packets to their fates, here or in the virtual LQD that the sharing policy
    /// follows; the buffer must be empty. `random` draws which ones are kept.
    pub fn trace_fates(&mut self, tracing: FateTracing, random: Stream) {
        let (lqd, queues) = (self.sharing.lqd_beside(), self.buffer.queues().len());
        let fates = Fates::new(tracing, lqd, queues, random);
        self.fates = Some(Box::new(fates));
        self.watches_departures = true;
        self.trace_if_asked();
    }

    /// Takes the fates that have become known since the last call.
    pub fn take_fates(&mut self) -> Vec<Fate> {
        self.fates.as_mut().map(|fates| fates.take()).unwrap_or_default()
    }

    /// The run is over: packets still waiting have no fate.
    pub fn finish_fates(&mut self, now: Time) {
        if let Some(fates) = &mut self.fates {
            fates.finish(now);
        }
    }

    /// Starts to follow the bursts of ports; the buffer must be empty.
    pub fn trace_bursts(&mut self, tracing: BurstTracing) {
        self.bursts = Some(Box::new(Bursts::new(tracing, self.buffer.ports() as usize)));
        self.watches_departures = true;
        self.trace_if_asked();
    }

    /// Takes the bursts that ended since the last call.
    pub fn take_bursts(&mut self) -> Vec<BurstReport> {
        self.bursts.as_mut().map(|bursts| bursts.take()).unwrap_or_default()
    }

    /// The run is over: the bursts still going on are reported without an end.
    pub fn finish_bursts(&mut self) {
        if let Some(bursts) = &mut self.bursts {
            bursts.finish();
        }
    }

    /// Bytes that a port would hold if no packet had ever been lost. `None` if bursts are not
    /// followed.
    pub fn unbounded_bytes(&self, now: Time, port: u32) -> Option<u64> {
        let bursts = self.bursts.as_ref()?;
        let rate = self.buffer.rate(port).byte_time();
        Some(bursts.unbounded(now, port, self.buffer.port_bytes(port), rate))
    }

    /// The number of bytes that the sharing policy would let a port's data queue hold if a packet
    /// without a priority arrived now; `None` where it has no limit.
    pub fn limit(&mut self, now: Time, port: u32) -> Option<u64> {
        let queue_class = self.plain_queue_classes[0];
        let queue = self.buffer.queue_of(port, queue_class);
        self.sharing.look_at(now, queue);
        let arrival = Arrival { now, queue, queue_class, ..Arrival::default() };
        self.sharing.threshold(&arrival, &self.buffer)
    }

    /// The packets that wait at a port, queue by queue.
    pub fn waiting<'a>(
        &'a self,
        port: u32,
        packets: &'a Arena,
    ) -> impl Iterator<Item = PacketId> + use<'a, S, A> {
        let heads = self.buffer.queues_of(port).map(|queue| &self.lists.as_slice()[queue as usize]);
        let first = |id: PacketId| (id != NO_PACKET).then_some(id);
        let next = move |&id: &PacketId| first(packets[id].next);
        heads.flat_map(move |list| std::iter::successors(first(list.head), next))
    }

    /// The bytes that the buffer counts for a packet.
    pub fn size_of(&self, packet: &Packet) -> u32 {
        packet.size - self.uncounted_bytes
    }

    /// What the sharing policy has learned of bursts.
    pub fn learned(&self) -> Vec<Learned> {
        self.sharing.learned()
    }

    /// Called when a queue's length may be about to change.
    #[inline]
    pub(super) fn note_length(&mut self, now: Time, queue: QueueId) {
        if self.is_traced {
            self.note_length_traced(now, queue);
        }
    }

    #[cold]
    fn note_length_traced(&mut self, now: Time, queue: QueueId) {
        if let Some(fates) = &mut self.fates {
            fates.held(now, queue, self.buffer.bytes(queue), self.buffer.occupancy());
        }
        self.note_held(now, queue);
    }

    /// A packet has left its queue, or passed it. `outcome` says whether it is sent, with or
    /// without a mark, or lost after all.
    #[cold]
    pub(super) fn note_departure(
        &mut self,
        now: Time,
        queue: QueueId,
        id: PacketId,
        size: u32,
        outcome: Result<bool, DropReason>,
    ) {
        let is_sent = outcome.is_ok();
        if let Some(fates) = &mut self.fates {
            // The queue held the packet's bytes until now. If the packet passed the queue, it did
            // not, but then no time has elapsed since the packet arrived.
            let gone = if self.in_transmission.is_some() { 0 } else { size };
            let (bytes, occupancy) = (self.buffer.bytes(queue), self.buffer.occupancy());
            fates.held(now, queue, bytes + gone, occupancy + u64::from(gone));
            if is_sent {
                fates.departs(now, queue, id, &self.buffer);
            }
        }
        if self.bursts.is_some() && is_sent {
            self.note_burst(now, self.buffer.port_of(queue), size);
        }
        if outcome == Ok(true) {
            self.note_mark(queue, size);
        }
    }

    /// A packet is lost that was in this queue or would have joined it.
    pub(super) fn note_loss(
        &mut self,
        now: Time,
        queue: QueueId,
        id: PacketId,
        size: u32,
        reason: DropReason,
    ) {
        if let Some(fates) = &mut self.fates {
            fates.is_lost(now, id, reason);
        }
        if let Some(bursts) = &mut self.bursts {
            let port = self.buffer.port_of(queue);
            let rate = self.buffer.rate(port).byte_time();
            bursts.loses(now, port, size, self.buffer.port_bytes(port), rate);
        }
        self.note_drop(queue, size);
    }

    /// A packet of `size` bytes has left a port to be sent.
    fn note_burst(&mut self, now: Time, port: u32, size: u32) {
        let limit = self.limit(now, port);
        let rate = self.buffer.rate(port);
        let sent = now + rate.time_of(u64::from(size) + u64::from(self.uncounted_bytes));
        let held = if self.in_transmission.is_some() { size } else { 0 };
        let bytes = self.buffer.port_bytes(port) - u64::from(held);
        let left = Left { now, port, bytes, sent };
        if let Some(bursts) = &mut self.bursts {
            bursts.departs(left, rate.byte_time(), limit);
        }
    }

    /// Whether a trace records every arrival, even one that passes an idle port.
    pub(super) fn traces_arrivals(&self) -> bool {
        self.decisions.is_some() || self.fates.is_some() || self.bursts.is_some()
    }

    /// Updates whether packets are traced, and below which occupancies policies need not be asked.
    pub(super) fn trace_if_asked(&mut self) {
        let is_observed = self.observer.is_some();
        self.is_traced = self.traces_arrivals() || is_observed || self.aqm.hears_marks();
        self.is_watched = self.is_traced || self.unimportant.is_some() || self.introduces;
        self.frees_unobserved = self.in_transmission.is_none() && !is_observed;
        (self.open_below, self.managed_below) = self.opens_below();
    }

    /// Takes the decisions recorded since the last call.
    pub fn take_decisions(&mut self) -> Vec<Decision> {
        self.decisions.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Admits an arrival as `admit` does, and records it in the traces.
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
        self.note_length(arrival.now, arrival.queue);
        let is_followed = self.sharing.tests(arrival.queue_class);
        if let Some(fates) = &mut self.fates
            && is_followed
        {
            fates.arrives(arrival, id, packets.contents(id), &self.buffer);
        }
        let outcome = if self.unimportant.is_some() {
            self.decide::<true>(arrival, id, packet_flags, packets)
        } else {
            self.decide::<false>(arrival, id, packet_flags, packets)
        };
        if let Some(fates) = &mut self.fates {
            fates.decided(arrival, outcome.err(), is_followed);
        }
        if self.decisions.is_some() {
            // If the packet was refused before the sharing policy was asked, the policy has not
            // brought its limit up to date. It does so here.
            if let Err(DropReason::Aqm | DropReason::QueueLimit | DropReason::Unimportant) = outcome
            {
                self.sharing.look_at(arrival.now, arrival.queue);
            }
            let threshold = self.sharing.threshold(arrival, &self.buffer);
            self.note_decision(arrival, packets.contents(id), seen, threshold, outcome);
        }
        if outcome == Ok(true) {
            self.note_mark(arrival.queue, arrival.size);
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

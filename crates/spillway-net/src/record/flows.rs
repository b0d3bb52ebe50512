//! Flows: a row for each, and what the summary keeps of it.

use super::Repairs;
use super::names::{Class, Name};
use super::table::table;
use spillway_engine::Time;
use spillway_transport::flow::FlowSpec;
use spillway_transport::receiver::Receiver;
use spillway_transport::sender::Sender;
use std::ops::{Deref, DerefMut};

table! {
    /// A row for every flow, written when it is over or when the run ends.
    FlowRow => FlowTable {
        /// Its number: flows are numbered by start, sender, receiver, size, class, priority, path.
        flow_id: u32,
        /// The sending host.
        src: u32,
        /// The receiving host.
        dst: u32,
        /// Payload to be sent; 0 for an endless flow.
        size_bytes: u64,
        /// Its class.
        class: Name<Class>,
        /// Its priority, if it has one.
        priority: Option<i16>,
        /// When it started.
        start_ps: u64,
        /// How long it took, if it is complete.
        fct_ps: Option<u64>,
        /// The least time in which it could complete.
        ideal_ps: u64,
        /// The completion time divided by the least time, if it is complete.
        slowdown: Option<f64>,
        /// Payload that arrived, each byte counted once.
        delivered_bytes: u64,
        /// Segments sent again.
        retransmitted_packets: u32,
        /// Retransmission timeouts.
        timeouts: u32,
        /// Tail-loss probes.
        tail_loss_probes: u32,
        /// How many of them were sent in place of a timeout that was due.
        probes_for_timeouts: u32,
        /// Its query, if it has one.
        query_id: Option<i64>,
    }
}

impl FlowRow {
    /// The row of a flow to which nothing more will happen. An open-loop flow has no sender.
    pub fn of(
        id: u32,
        spec: &FlowSpec,
        outcome: &Outcome,
        sender: Option<&Sender>,
        receiver: &Receiver,
    ) -> FlowRow {
        FlowRow {
            flow_id: id,
            src: spec.src,
            dst: spec.dst,
            size_bytes: if spec.size == FlowSpec::ENDLESS { 0 } else { spec.size },
            class: Name(spec.class),
            priority: spec.priority.map(i16::from),
            start_ps: spec.start.ps(),
            fct_ps: outcome.complete.then_some(outcome.fct.ps()),
            ideal_ps: outcome.base.ps(),
            slowdown: outcome.complete.then(|| outcome.slowdown()),
            delivered_bytes: receiver.delivered(),
            retransmitted_packets: sender.map_or(0, |sender| sender.retransmitted_packets),
            timeouts: sender.map_or(0, |sender| sender.timeouts),
            tail_loss_probes: sender.map_or(0, |sender| sender.probes),
            probes_for_timeouts: sender.map_or(0, |sender| sender.probes_for_timeouts),
            query_id: spec.query.map(i64::from),
        }
    }
}

/// What the summary keeps of a flow.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// When it started.
    pub start: Time,
    /// How long it took, or has taken so far.
    pub fct: Time,
    /// The base of its slowdown: in a row the least time, in the summary the base that the scenario
    /// asks for.
    pub base: Time,
    /// Payload.
    pub size: u64,
    /// Its query, or `u32::MAX`.
    pub query: u32,
    /// Its class.
    pub class: u16,
    /// Whether it is complete.
    pub complete: bool,
    /// Whether it saw a timeout.
    pub timed_out: bool,
    /// What is kept of some flows only.
    pub extra: Option<Box<Extra>>,
}

/// What the summary keeps of flows that have sent something again, and of all flows if climbing is
/// recorded.
#[derive(Clone, Copy, Debug)]
pub struct Extra {
    /// How its losses were repaired.
    pub repairs: Repairs,
    /// How long the flow climbed, if that is recorded. [`Time::MAX`] if it still climbed when it
    /// was over or the run ended.
    pub climbed: Time,
}

impl Outcome {
    /// The time that the flow took, or has taken so far, divided by the base. Meaningless for an
    /// endless flow.
    pub fn slowdown(&self) -> f64 {
        self.fct.ps() as f64 / self.base.ps().max(1) as f64
    }

    /// How long the flow climbed, or has climbed so far. Meaningless if that is not recorded.
    pub fn climbed(&self) -> Time {
        self.extra.as_ref().map_or(Time::ZERO, |extra| extra.climbed.min(self.fct))
    }
}

/// What the summary keeps of all flows, and how much memory that takes.
#[derive(Clone, Debug, Default)]
pub struct Outcomes {
    each: Vec<Outcome>,
    /// How many flows have a box.
    boxes: usize,
}

impl Outcomes {
    /// Adds a flow.
    pub fn push(&mut self, outcome: Outcome) {
        self.boxes += usize::from(outcome.extra.is_some());
        self.each.push(outcome);
    }

    /// Bytes of memory, including those of the boxes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.each.as_slice()) + self.boxes * size_of::<Extra>()
    }
}

impl Deref for Outcomes {
    type Target = [Outcome];

    fn deref(&self) -> &[Outcome] {
        &self.each
    }
}

impl DerefMut for Outcomes {
    fn deref_mut(&mut self) -> &mut [Outcome] {
        &mut self.each
    }
}

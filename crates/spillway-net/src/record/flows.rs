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
    FlowRow => FlowTable of |flow: Over<'_>| {
        /// Its number, in the order of start, sender, receiver, size, class, priority, path.
        flow_id: u32 = flow.id,
        /// The sending host.
        src: u32 = flow.spec.src,
        /// The receiving host.
        dst: u32 = flow.spec.dst,
        /// Payload; 0 for an endless flow.
        size_bytes: u64 = if flow.spec.size == FlowSpec::ENDLESS { 0 } else { flow.spec.size },
        /// Its traffic section, or the class that a list gave it.
        class: Name<Class> = Name(flow.spec.class),
        /// Null if it has none.
        priority: Option<i16> = flow.spec.priority.map(i16::from),
        /// When it started.
        start_ps: u64 = flow.spec.start.ps(),
        /// Its completion time; null if it is not complete.
        fct_ps: Option<u64> = flow.outcome.complete.then_some(flow.outcome.fct.ps()),
        /// The ideal base of its slowdown, whatever `slowdown_base` is; 0 for an endless flow.
        ideal_ps: u64 = flow.outcome.base.ps(),
        /// `fct_ps` over `ideal_ps`; null if it is not complete, although the summary counts such a
        /// flow with the time that it has waited.
        slowdown: Option<f64> = flow.outcome.complete.then(|| flow.outcome.slowdown()),
        /// Payload that arrived, each byte counted once.
        delivered_bytes: u64 = flow.receiver.delivered(),
        /// Packets sent again.
        retransmitted_packets: u32 = flow.sender.map_or(0, |sender| sender.retransmitted_packets),
        /// Retransmission timeouts.
        timeouts: u32 = flow.sender.map_or(0, |sender| sender.timeouts),
        /// Tail-loss probes.
        tail_loss_probes: u32 = flow.sender.map_or(0, |sender| sender.probes),
        /// Those of them that were sent when the timeout was due, in its place.
        probes_for_timeouts: u32 = flow.sender.map_or(0, |sender| sender.probes_for_timeouts),
        /// The query that it belongs to, numbered within its class; null if none.
        query_id: Option<i64> = flow.spec.query.map(i64::from),
    }
}

table! {
    /// A further column of flows, if some connections stay open.
    ConnectionRow => ConnectionTable of |flow: Over<'_>| {
        /// The number of the flow that opened the flow's connection; its own number if it opened
        /// one.
        connection: u32 = flow.connection,
    }
    recorded if |scenario| scenario.leaves_connections_open()
}

table! {
    /// A further column of flows.
    AckedRow => AckedTable of |flow: Over<'_>| {
        /// The time from the flow's start until its sender had everything acknowledged, as programs
        /// measure it at senders; null if the run ended earlier.
        acked_ps: Option<u64> =
            flow.acked_at.map(|at| at.since(flow.spec.start).ps()),
    }
    recorded if |scenario| scenario.recording.acknowledged
}

table! {
    /// A further column of flows.
    ClimbedRow => ClimbedTable of |flow: Over<'_>| {
        /// The time from the flow's start for which it climbed: 0 if it never climbs, `fct_ps` if
        /// it climbs to its end, null if it still climbed when the run ended.
        climbed_ps: Option<u64> = {
            let climbed = flow.outcome.extra.as_ref().map(|extra| extra.climbed);
            climbed.filter(|&climbed| climbed != Time::MAX).map(Time::ps)
        },
    }
    recorded if |scenario| scenario.recording.climbing
}

/// A flow to which nothing more will happen.
pub struct Over<'a> {
    /// Its number.
    pub id: u32,
    /// What it was asked to be.
    pub spec: &'a FlowSpec,
    /// How it ended; its base is the least time.
    pub outcome: &'a Outcome,
    /// Its sender. An open-loop flow has none.
    pub sender: Option<&'a Sender>,
    /// Its receiver.
    pub receiver: &'a Receiver,
    /// The number of the flow that opened its connection.
    pub connection: u32,
    /// When everything was acknowledged, if it was.
    pub acked_at: Option<Time>,
    /// How its losses were repaired.
    pub repairs: Repairs,
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

//! The training data of an oracle: every arrival, the state in which it found the switch, and its
//! fate.
//!
//! # Reference
//! V. Addanki, M. Pacut, S. Schmid, "Credence", USENIX NSDI 2024, section 4.1: for every packet,
//! the length of its queue, the occupancy of the buffer, the averages of both, and whether Longest
//! Queue Drop lost the packet.
//!
//! Where the policy itself is LQD, the fate is what became of the packet. Where it follows a virtual
//! LQD, the fate is what that one did with it, and the state is that of the real buffer.

use crate::averages::{Averages, Averaging};
use crate::buffer::{Buffer, QueueId};
use crate::packet::{Contents, PacketId};
use crate::policy::{Arrival, DropReason};
use crate::sharing::LqdBeside;
use spillway_engine::{Stream, Time};
use std::collections::BTreeMap;

/// How fates are traced.
#[derive(Clone, Copy, Debug)]
pub struct FateTracing {
    /// How averages are taken.
    pub averaging: Averaging,
    /// The time that they extend over, above 0.
    pub span: Time,
    /// Of the arrivals that the policy did not lose, one in this many is kept; above 0.
    pub one_in: u64,
}

/// An arrival, as it was before anything was decided or pushed out, and its fate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fate {
    /// When it arrived.
    pub time: Time,
    /// Its number among the traced arrivals at the switch, from 0.
    pub number: u64,
    /// The queue that it is for.
    pub queue: QueueId,
    /// Its flow.
    pub flow: u32,
    /// The number of its first byte in the flow.
    pub seq: u64,
    /// Bytes that it takes in the buffer.
    pub size: u32,
    /// Bytes in its queue.
    pub queue_bytes: u32,
    /// The average of `queue_bytes`.
    pub average_queue_bytes: f64,
    /// Bytes in the buffer.
    pub occupancy: u64,
    /// The average of `occupancy`.
    pub average_occupancy: f64,
    /// When its fate became known; [`Time::MAX`] if it never did. That of a packet in a virtual LQD
    /// becomes known when that one is looked at.
    pub known: Time,
    /// Whether the sharing policy, or the virtual LQD, refused it, pushed it out or expelled it;
    /// `None` if that is not known, because it was lost for another reason or was still waiting at
    /// the end.
    pub lost: Option<bool>,
    /// The number of arrivals that it stands for.
    pub weight: u64,
}

/// Follows every packet of a switch until its fate is known.
#[derive(Clone, Debug)]
pub(crate) struct Fates {
    /// The virtual LQD that decides about fates, if the real switch does not.
    lqd: Option<LqdBeside>,
    queues: usize,
    averages: Averages,
    one_in: u64,
    random: Stream,
    arrivals: u64,
    /// By the packet's id, or its number if the fate is a virtual LQD's, which may hold a packet
    /// longer than the switch does.
    waiting: BTreeMap<u64, Fate>,
    known: Vec<Fate>,
}

impl Fates {
    pub fn new(
        tracing: FateTracing,
        lqd: Option<LqdBeside>,
        queues: usize,
        random: Stream,
    ) -> Fates {
        Fates {
            lqd,
            queues,
            averages: Averages::new(tracing.averaging, tracing.span, queues),
            one_in: tracing.one_in,
            random,
            arrivals: 0,
            waiting: BTreeMap::new(),
            known: Vec::new(),
        }
    }

    /// A packet about which the policy is to decide. The averages have been updated to this moment.
    pub fn arrives(
        &mut self,
        arrival: &Arrival,
        id: PacketId,
        contents: &Contents,
        buffer: &Buffer,
    ) {
        let Arrival { now, queue, size, .. } = *arrival;
        let fate = Fate {
            time: now,
            number: self.arrivals,
            queue,
            flow: contents.flow,
            seq: contents.seq,
            size,
            queue_bytes: buffer.bytes(queue),
            average_queue_bytes: self.averages.queue(queue),
            occupancy: buffer.occupancy(),
            average_occupancy: self.averages.occupancy(),
            known: Time::MAX,
            lost: None,
            weight: 1,
        };
        let key = if self.lqd.is_some() { fate.number } else { id.into() };
        self.arrivals += 1;
        self.waiting.insert(key, fate);
    }

    /// The switch has decided about an arrival. `reason` is why it is lost, if it is; `is_followed`
    /// says whether its fate is asked for.
    pub fn decided(&mut self, arrival: &Arrival, reason: Option<DropReason>, is_followed: bool) {
        let Some(lqd) = &mut self.lqd else { return };
        let number = is_followed.then(|| self.arrivals - 1);
        if matches!(
            reason,
            Some(DropReason::Aqm | DropReason::QueueLimit | DropReason::Unimportant)
        ) {
            // The sharing policy was not asked.
            number.into_iter().for_each(|number| self.learn(arrival.now, number, None));
        } else {
            lqd.on_arrival(arrival, number);
            self.learn_from_lqd(arrival.now);
        }
    }

    /// Until now, `bytes` were in the queue and `occupancy` in the buffer.
    pub fn held(&mut self, now: Time, queue: QueueId, bytes: u32, occupancy: u64) {
        self.averages.held(now, queue, bytes, occupancy);
    }

    /// A packet has left its queue to be sent.
    pub fn departs(&mut self, now: Time, queue: QueueId, id: PacketId, buffer: &Buffer) {
        self.averages.departed(now, queue, buffer.bytes(queue), buffer.occupancy());
        if self.lqd.is_none() {
            self.learn(now, id.into(), Some(false));
        }
    }

    /// A packet is lost.
    pub fn is_lost(&mut self, now: Time, id: PacketId, reason: DropReason) {
        if self.lqd.is_some() {
            return;
        }
        let fate = match reason {
            DropReason::BufferFull
            | DropReason::OverThreshold
            | DropReason::OverDelay
            | DropReason::PushedOut
            | DropReason::Predicted
            | DropReason::Expelled => Some(true),
            DropReason::QueueLimit
            | DropReason::Aqm
            | DropReason::LinkDown
            | DropReason::LinkLoss
            | DropReason::NoRoute
            | DropReason::Headroom
            | DropReason::Unimportant => None,
        };
        self.learn(now, id.into(), fate);
    }

    /// The run is over: packets still waiting have no fate.
    pub fn finish(&mut self, now: Time) {
        if let Some(lqd) = &mut self.lqd {
            lqd.look_at(now, self.queues);
            self.learn_from_lqd(now);
        }
        while let Some((&key, _)) = self.waiting.first_key_value() {
            self.learn(Time::MAX, key, None);
        }
    }

    /// Takes the fates that became known since the last call, in that order.
    pub fn take(&mut self) -> Vec<Fate> {
        std::mem::take(&mut self.known)
    }

    fn learn_from_lqd(&mut self, now: Time) {
        let found = self.lqd.as_mut().map(LqdBeside::take).unwrap_or_default();
        found
            .into_iter()
            .for_each(|(number, is_dropped)| self.learn(now, number, Some(is_dropped)));
    }

    fn learn(&mut self, now: Time, key: u64, lost: Option<bool>) {
        let Some(mut fate) = self.waiting.remove(&key) else { return };
        (fate.known, fate.lost) = (now, lost);
        if lost != Some(true) {
            fate.weight = self.one_in;
            if self.one_in > 1 && self.random.below(self.one_in) > 0 {
                return;
            }
        }
        self.known.push(fate);
    }
}

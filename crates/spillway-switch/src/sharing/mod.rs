//! How the ports of a switch share its buffer: one file for each policy.

mod active_buffer_management;
mod blind_trust;
mod cbm;
mod complete_sharing;
mod credence;
mod dynamic_thresholds;
mod enhanced_dynamic_thresholds;
mod fab;
mod fb;
mod follow_lqd;
mod harmonic;
mod longest_queue_drop;
mod occamy;
mod oracle;
mod pfabric;
mod quasi_pushout;
mod reverie;
mod shadow;
mod smartbuf;
mod static_partitioning;
pub mod victim;

pub use oracle::MODELS;
pub use shadow::LqdBeside;

use crate::buffer::{Buffer, QueueId};
use crate::catalogue::catalogue;
use crate::extension::SharingExtension;
use crate::policy::{Admission, Arrival, LARGEST_PACKET, Watch, watch_each};
use spillway_engine::Time;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A counter of a policy: its name and its value.
pub type Count = (Cow<'static, str>, u64);

/// A burst that a policy has learned of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Learned {
    /// How fast its queues grew, in bytes per second.
    pub gradient: f64,
    /// How many bytes the burst reached.
    pub bytes: u64,
    /// When such a burst was last seen.
    pub last_seen: Time,
}

/// A sharing policy. It decides and the switch counts, so that no policy can lose a byte.
pub trait Sharing: Watch {
    /// Whether an arrival may join its queue. The switch has not added it to the queue yet.
    /// Whatever the answer, the packet is lost if the buffer has no room for it.
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission;

    /// Below this occupancy the policy admits every arrival of at most [`LARGEST_PACKET`] bytes that
    /// finds its port idle. The policy need not be told of such arrivals, so the switch calls
    /// neither `admit` nor `on_departure` for them. 0 if they must be called for all arrivals. The
    /// buffer has `capacity` bytes.
    fn open_below(&self, _capacity: u64) -> u64 {
        0
    }

    /// Whether it may push out queued packets. Only then may it answer with [`Admission::PushOut`].
    fn pushes_out(&self) -> bool {
        false
    }

    /// Whether packets stay lost that were pushed out for an arrival that is refused in the end.
    fn loses_victims(&self) -> bool {
        false
    }

    /// Whether it expels packets that wait, at times of its own choice.
    fn expels(&self) -> bool {
        false
    }

    /// The first moment, from now on, at which it may expel a packet; `None` if it will not. Only an
    /// arrival, its timer or a new parameter may bring one about, and none brings one forward that
    /// is to come. Packets that leave do neither.
    fn next_expulsion(&mut self, _now: Time, _buffer: &Buffer) -> Option<Time> {
        None
    }

    /// This moment has come. The queue whose first packet is expelled, if one is: it has a packet.
    fn expel(&mut self, _now: Time, _buffer: &Buffer) -> Option<QueueId> {
        None
    }

    /// The packet that `expel` has chosen takes so many bytes.
    fn on_expelled(&mut self, _size: u32) {}

    /// Whether it must know which packet arrives. If so, `introduce` is called before `admit`.
    fn knows_packets(&self) -> bool {
        false
    }

    /// The next arrival is the packet of this flow that begins with the byte `seq`, on the
    /// connection that the flow with the number `connection` opened.
    fn introduce(&mut self, _flow: u32, _seq: u64, _connection: u32) {}

    /// Whether it decides about packets of this queue class. Otherwise it admits all of them that
    /// fit.
    fn tests(&self, _queue_class: u8) -> bool {
        true
    }

    /// Its counters, by name, for the summary.
    fn counters(&self) -> Vec<Count> {
        Vec::new()
    }

    /// What it has learned of bursts.
    fn learned(&self) -> Vec<Learned> {
        Vec::new()
    }

    /// Called when a queue is examined although no packet has arrived for it. The policy brings up
    /// to date what it otherwise computes only at arrivals.
    fn look_at(&mut self, _now: Time, _queue: QueueId) {}

    /// A virtual LQD of the kind that it follows, still empty, whose drops an oracle learns; `None`
    /// if it follows none.
    fn lqd_beside(&self) -> Option<LqdBeside> {
        None
    }

    /// The limit that applied to this arrival, for traces; `None` if the policy has no limit.
    /// Called after the decision, before the packet joins its queue. Also called after `look_at`,
    /// with an imaginary packet of no bytes.
    fn threshold(&self, _arrival: &Arrival, _buffer: &Buffer) -> Option<u64> {
        None
    }
}

/// Below this occupancy there is room for a largest packet under alpha (B - Q) / `among`, rounded
/// down to a byte, and in the buffer. `alpha` is at most 1.
fn room_below(capacity: u64, alpha: f64, among: usize) -> u64 {
    let needed = f64::from(LARGEST_PACKET + 1) * among as f64 / alpha;
    capacity.saturating_sub(needed.ceil() as u64)
}

catalogue! {
    /// The sharing policy of a switch.
    SharingPolicy of SharingParams by each, open to SharingExtension {
        complete_sharing::CompleteSharing,
        static_partitioning::StaticPartitioning,
        dynamic_thresholds::DynamicThresholds,
        harmonic::Harmonic,
        longest_queue_drop::LongestQueueDrop,
        quasi_pushout::QuasiPushout,
        follow_lqd::FollowLqd,
        credence::Credence,
        blind_trust::BlindTrust,
        active_buffer_management::ActiveBufferManagement,
        cbm::Cbm,
        fab::Fab,
        fb::Fb,
        smartbuf::Smartbuf,
        enhanced_dynamic_thresholds::EnhancedDynamicThresholds,
        reverie::Reverie,
        pfabric::PFabric,
        occamy::Occamy,
    }
}

impl Sharing for SharingPolicy {
    #[inline(always)]
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        if let SharingPolicy::Extension(policy) = self {
            // A copy, so that the other variants do not need the arrival in memory.
            return policy.admit(&{ *arrival }, buffer);
        }
        each!(self, policy => policy.admit(arrival, buffer))
    }
    fn open_below(&self, capacity: u64) -> u64 {
        each!(self, policy => policy.open_below(capacity))
    }
    fn pushes_out(&self) -> bool {
        each!(self, policy => policy.pushes_out())
    }
    fn loses_victims(&self) -> bool {
        each!(self, policy => policy.loses_victims())
    }
    fn expels(&self) -> bool {
        each!(self, policy => policy.expels())
    }
    fn next_expulsion(&mut self, now: Time, buffer: &Buffer) -> Option<Time> {
        each!(self, policy => policy.next_expulsion(now, buffer))
    }
    fn expel(&mut self, now: Time, buffer: &Buffer) -> Option<QueueId> {
        each!(self, policy => policy.expel(now, buffer))
    }
    fn on_expelled(&mut self, size: u32) {
        each!(self, policy => policy.on_expelled(size));
    }
    fn knows_packets(&self) -> bool {
        each!(self, policy => policy.knows_packets())
    }
    fn introduce(&mut self, flow: u32, seq: u64, connection: u32) {
        each!(self, policy => policy.introduce(flow, seq, connection));
    }
    fn tests(&self, queue_class: u8) -> bool {
        each!(self, policy => policy.tests(queue_class))
    }
    fn counters(&self) -> Vec<Count> {
        each!(self, policy => policy.counters())
    }
    fn learned(&self) -> Vec<Learned> {
        each!(self, policy => policy.learned())
    }
    fn look_at(&mut self, now: Time, queue: QueueId) {
        each!(self, policy => policy.look_at(now, queue));
    }
    fn lqd_beside(&self) -> Option<LqdBeside> {
        each!(self, policy => policy.lqd_beside())
    }
    fn threshold(&self, arrival: &Arrival, buffer: &Buffer) -> Option<u64> {
        each!(self, policy => policy.threshold(arrival, buffer))
    }
}

watch_each!(SharingPolicy, each);

impl SharingParams {
    /// The trained models that a policy asks, by name, each with what its file records of its
    /// training, as JSON. Models without such a record are left out.
    pub fn trainings(&self) -> BTreeMap<&str, &str> {
        match self {
            SharingParams::Credence(credence) => credence.oracle.trainings(),
            SharingParams::BlindTrust(blind_trust) => blind_trust.oracle.trainings(),
            _ => BTreeMap::new(),
        }
    }
}

/// Code that runs with a policy of any type. It is compiled once for each type, so it need not find
/// out at run time which policy it has.
pub trait WithPolicy {
    /// The result.
    type Output;

    /// Runs it.
    fn run<S: Sharing + ?Sized>(self, policy: &mut S) -> Self::Output;
}

impl SharingPolicy {
    /// Replaces the oracle's answers by a prediction for every arrival, in order of arrival; `None`
    /// for a policy that asks no oracle.
    pub fn with_predictions(self, predictions: Arc<[bool]>) -> Option<SharingPolicy> {
        Some(match self {
            SharingPolicy::Credence(policy) => {
                SharingPolicy::Credence(policy.with_predictions(predictions))
            }
            SharingPolicy::BlindTrust(policy) => {
                SharingPolicy::BlindTrust(policy.with_predictions(predictions))
            }
            _ => return None,
        })
    }

    /// Runs `what` with whichever policy this is.
    pub fn with<W: WithPolicy>(&mut self, what: W) -> W::Output {
        each!(self, policy => policy.take(what))
    }
}

/// A policy, possibly behind a pointer.
trait Take: Sharing {
    fn take<W: WithPolicy>(&mut self, what: W) -> W::Output {
        what.run(self)
    }
}

impl<S: Sharing + ?Sized> Take for S {}

/// A parameter by queue class. The last value holds for all further ones.
#[inline(always)]
fn of_queue_class(values: &[f64], queue_class: u8) -> f64 {
    values[usize::from(queue_class).min(values.len() - 1)]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::catalogue::Environment;
    use crate::policy::DropReason;

    /// A buffer of 1,000,000 bytes whose queues, one for each port, hold these numbers of bytes.
    pub(crate) fn filled(queue_bytes: &[u32]) -> Buffer {
        let environment = Environment::example(queue_bytes.len());
        let mut buffer = Buffer::new(environment.capacity, environment.port_rates, 1);
        for (queue, &bytes) in queue_bytes.iter().enumerate() {
            buffer.add(queue as QueueId, bytes);
        }
        buffer
    }

    /// The outcome for an arrival above a policy's limits.
    pub(crate) const OVER: Admission = Admission::Drop(DropReason::OverThreshold);

    /// A packet for a queue with queue class 0.
    pub(crate) fn arrival(queue: QueueId, size: u32) -> Arrival {
        Arrival { queue, size, ..Arrival::default() }
    }

    #[test]
    fn every_policy_has_a_row_with_its_source() {
        for entry in SharingPolicy::catalogue() {
            assert!(!entry.summary.is_empty() && !entry.citation.is_empty(), "{}", entry.id);
            assert!(entry.keys.iter().all(|key| !key.meaning.is_empty()), "{}", entry.id);
            assert!(entry.cost.is_some(), "{} tells nothing of its cost", entry.id);
        }
    }
}

//! Active queue management: which packets are marked, or dropped before the buffer is full.

pub mod acc;
mod ared;
mod codel;
mod ecn;
mod ecn_sharp;
mod moment;
mod mq_ecn;
mod none;
mod pie;
mod pred;
mod red;
mod sample;
mod tcn;

use crate::buffer::{Buffer, Length, QueueId};
use crate::catalogue::{Environment, catalogue};
use crate::extension::AqmExtension;
use crate::policy::{Arrival, Verdict, Watch, watch_each};
use spillway_engine::Time;
use spillway_settings::quantity::Amount;
use spillway_settings::{Section, SettingsError};

pub use mq_ecn::check_turns;
pub use pred::counter;
pub use sample::AqmSample;

/// An AQM. It is not asked about packets of ack queues, if acks have queues of their own.
pub trait Aqm: Watch {
    /// Called on arrival, before the sharing policy is asked. The queue does not hold the packet
    /// yet.
    #[inline(always)]
    fn on_arrival(&mut self, _arrival: &Arrival, _buffer: &Buffer) -> Verdict {
        Verdict::Pass
    }

    /// Whether it passes every packet that finds its port idle, both on arrival and on its way out.
    /// The switch then need not ask it about such packets.
    fn passes_idle_ports(&self) -> bool {
        false
    }

    /// Whether it must be told of packets that pass an idle port.
    fn watches_passing(&self) -> bool {
        false
    }

    /// A packet passes an idle port, where no packet waits: it is sent as it arrives. The switch
    /// calls this method in place of `on_departure` and, if the AQM `passes_idle_ports`, in place
    /// of `on_arrival`. For another packet that passes it may call those methods instead. The
    /// outcome must be the same either way.
    #[inline(always)]
    fn on_pass(&mut self, _passing: &Arrival, _buffer: &Buffer) {}

    /// For a packet that finds its port idle and that nothing but the AQM can lose. Does in one
    /// call what `on_arrival` does and, if the packet passes unchanged, what `on_pass` does.
    #[inline]
    fn on_idle_port(&mut self, arrival: &Arrival, buffer: &Buffer) -> Verdict {
        let verdict = self.on_arrival(arrival, buffer);
        if verdict == Verdict::Pass {
            self.on_pass(arrival, buffer);
        }
        verdict
    }

    /// Whether it must be told of packets that are marked.
    fn hears_marks(&self) -> bool {
        false
    }

    /// A packet is marked at this queue, which it joins, passes or leaves. `size` is its bytes in
    /// the buffer. Called if the AQM `hears_marks`.
    fn on_mark(&mut self, _queue: QueueId, _size: u32) {}

    /// Whether arrivals must name their flows.
    fn knows_flows(&self) -> bool {
        false
    }

    /// The numbers by which it would mark an arrival at a queue now, before that arrival changes
    /// them. `None` if it has no such numbers. Numbers that it otherwise brings up to date only
    /// when packets arrive are given as of this moment.
    fn sample(&self, _now: Time, _queue: QueueId, _buffer: &Buffer) -> Option<AqmSample> {
        None
    }

    /// For a queue that is alone at its port: the number of bytes from which on it may mark, and
    /// the key that sets this number. `None` if marks depend neither on a queue's length nor on the
    /// time that packets wait.
    fn marks_from(&self, _environment: &Environment) -> Option<(&'static str, u64)> {
        None
    }

    /// Whether it must be told of the turns in which a port serves its queues. If so, the scheduler
    /// must have turns, and every packet is queued.
    fn watches_turns(&self) -> bool {
        false
    }

    /// A queue's turn begins, and the queue sends nothing in it although it has a packet. Called if
    /// the AQM `watches_turns`.
    fn on_vain_turn(&mut self, _now: Time, _queue: QueueId, _buffer: &Buffer) {}

    /// A packet begins to be sent. `buffer` no longer counts it. Called if the AQM `watches_turns`.
    #[inline(always)]
    fn on_send(&mut self, _sending: &Sending, _buffer: &Buffer) {}
}

/// A packet that begins to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Sending {
    /// Now.
    pub now: Time,
    /// The port.
    pub port: u32,
    /// The queue that it comes from.
    pub queue: QueueId,
    /// Bytes on the wire.
    pub size: u32,
    /// Whether its queue's turn begins.
    pub begins: bool,
}

catalogue! {
    /// The AQM of a switch.
    AqmPolicy of AqmParams by each, open to AqmExtension {
        none::NoAqm,
        ecn::EcnThreshold,
        red::Red,
        ared::Ared,
        codel::CoDel,
        tcn::Tcn,
        ecn_sharp::EcnSharp,
        pie::Pie,
        pred::Pred,
        mq_ecn::MqEcn,
        acc::Acc,
    }
}

impl Aqm for AqmPolicy {
    #[inline(always)]
    fn on_arrival(&mut self, arrival: &Arrival, buffer: &Buffer) -> Verdict {
        if let AqmPolicy::Extension(policy) = self {
            // A copy, so that the other variants do not need the arrival in memory.
            return policy.on_arrival(&{ *arrival }, buffer);
        }
        each!(self, policy => policy.on_arrival(arrival, buffer))
    }
    fn passes_idle_ports(&self) -> bool {
        each!(self, policy => policy.passes_idle_ports())
    }
    fn watches_passing(&self) -> bool {
        each!(self, policy => policy.watches_passing())
    }
    #[inline(always)]
    fn on_pass(&mut self, passing: &Arrival, buffer: &Buffer) {
        // Copies, so that only the variants that are called need the packet in memory.
        each!(self, policy => policy.on_pass(&{ *passing }, buffer));
    }
    #[inline(always)]
    fn on_idle_port(&mut self, arrival: &Arrival, buffer: &Buffer) -> Verdict {
        each!(self, policy => policy.on_idle_port(&{ *arrival }, buffer))
    }
    fn hears_marks(&self) -> bool {
        each!(self, policy => policy.hears_marks())
    }
    fn on_mark(&mut self, queue: QueueId, size: u32) {
        each!(self, policy => policy.on_mark(queue, size));
    }
    fn knows_flows(&self) -> bool {
        each!(self, policy => policy.knows_flows())
    }
    fn sample(&self, now: Time, queue: QueueId, buffer: &Buffer) -> Option<AqmSample> {
        each!(self, policy => policy.sample(now, queue, buffer))
    }
    fn marks_from(&self, environment: &Environment) -> Option<(&'static str, u64)> {
        each!(self, policy => policy.marks_from(environment))
    }
    fn watches_turns(&self) -> bool {
        each!(self, policy => policy.watches_turns())
    }
    fn on_vain_turn(&mut self, now: Time, queue: QueueId, buffer: &Buffer) {
        each!(self, policy => policy.on_vain_turn(now, queue, buffer));
    }
    #[inline(always)]
    fn on_send(&mut self, sending: &Sending, buffer: &Buffer) {
        each!(self, policy => policy.on_send(sending, buffer));
    }
}

watch_each!(AqmPolicy, each);

/// Which packets count as the queue that a packet finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    /// The packets of its own queue.
    Queue,
    /// The packets of all queues of its port.
    Port,
}

impl Scope {
    const NAMES: [(&'static str, Scope); 2] = [("queue", Scope::Queue), ("port", Scope::Port)];
    const MEANING: &'static str =
        "whose length counts: the queue's, or that of all queues of the port";

    /// Reads which packets count.
    fn read(section: &mut Section) -> Result<Scope, SettingsError> {
        section.choice("scope", &Scope::NAMES, Scope::MEANING)
    }

    /// The same, where an algorithm was published for queues.
    fn read_extra(section: &mut Section) -> Result<Scope, SettingsError> {
        section.extra_choice("scope", &Scope::NAMES, Scope::MEANING)
    }

    /// The length that counts for a queue.
    #[inline(always)]
    fn length(self, queue: QueueId, buffer: &Buffer) -> Length {
        match self {
            Scope::Queue => buffer.length(queue),
            Scope::Port => buffer.port_length(buffer.port_of(queue)),
        }
    }
}

/// A length in the unit of a threshold.
#[inline(always)]
fn in_unit_of(threshold: Amount, length: Length) -> u32 {
    match threshold {
        Amount::Packets(_) => length.packets,
        Amount::Bytes(_) | Amount::Unlimited => length.bytes,
    }
}

/// A threshold's number in its own unit.
#[inline(always)]
fn number_of(threshold: Amount) -> u64 {
    match threshold {
        Amount::Packets(number) | Amount::Bytes(number) => number,
        Amount::Unlimited => u64::MAX,
    }
}

/// A limit in bytes; `None` if it is infinite.
fn finite(bytes: u64) -> Option<u64> {
    (bytes != u64::MAX).then_some(bytes)
}

/// The fewest queued bytes behind which a packet may wait for this long. This is at the slowest
/// port, when a full packet has just begun to be sent there.
fn bytes_behind(wait: Time, environment: &Environment) -> Option<u64> {
    let slowest = environment.port_rates.iter().map(|rate| rate.nominal().byte_time()).max()?;
    Some(slowest.bytes_begun_in(wait).saturating_sub(environment.full_packet.into()))
}

/// A threshold's bytes, where a packet counts as a full one.
fn bytes_of(threshold: Amount, environment: &Environment) -> u64 {
    match threshold {
        Amount::Packets(packets) => packets.saturating_mul(environment.full_packet.into()),
        Amount::Bytes(bytes) => bytes,
        Amount::Unlimited => u64::MAX,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::policy::Departure;
    use spillway_engine::Rate;

    /// An ECN-capable packet of 1500 bytes that leaves the first queue.
    pub(crate) fn leaving(queued_at: Time, now: Time) -> Departure {
        Departure {
            now,
            queue: 0,
            queue_class: 0,
            size: 1500,
            first_rtt: false,
            ect: true,
            queued_at,
        }
    }

    #[test]
    fn a_wait_is_as_many_bytes_as_the_slowest_port_sends_in_it() {
        let mut environment = Environment::example(2);
        // A byte takes 0.8 ns: 20 us are 25,000 bytes, of which 1,500 may be on the line.
        let behind = |wait, environment: &Environment| bytes_behind(wait, environment);
        let wait = Time::from_us(20);
        assert_eq!(behind(wait, &environment), Some(23_500));
        assert_eq!(behind(wait + Time::from_ps(1), &environment), Some(23_501));
        // The packet that is being sent accounts for this wait alone.
        assert_eq!(behind(Time::from_ns(1200), &environment), Some(0));
        assert_eq!(behind(Time::ZERO, &environment), Some(0));
        // At 40 Gbps a packet waits for 20 us behind 100,000 bytes. At the other port it still
        // waits behind 25,000.
        environment.port_rates[0] = Rate::from_bits_per_second(40_000_000_000).unwrap();
        assert_eq!(behind(wait, &environment), Some(23_500));
        environment.port_rates.pop();
        assert_eq!(behind(wait, &environment), Some(98_500));
        environment.port_rates.clear();
        assert_eq!(behind(wait, &environment), None);
    }

    #[test]
    fn every_policy_has_a_row_with_its_source() {
        for entry in AqmPolicy::catalogue() {
            assert!(!entry.summary.is_empty(), "{}", entry.id);
            assert!(entry.keys.iter().all(|key| !key.meaning.is_empty()), "{}", entry.id);
        }
    }
}

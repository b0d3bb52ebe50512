//! Active queue management: which packets are marked, or dropped before the buffer is full.

mod ecn;
mod none;
mod red;

use crate::buffer::{Buffer, QueueId};
use crate::catalogue::catalogue;
use crate::extension::AqmExtension;
use crate::policy::{Arrival, Verdict, Watch, watch_each};
use spillway_engine::Time;
use spillway_settings::quantity::Amount;

/// An AQM. It is not asked about packets of ack queues, if acks have queues of their own.
pub trait Aqm: Watch {
    /// Called on arrival, before the sharing policy is asked. The queue does not hold the packet
    /// yet.
    fn on_arrival(&mut self, arrival: &Arrival, buffer: &Buffer) -> Verdict;

    /// Whether it passes every arrival that finds its port idle. It is then not called for these
    /// arrivals.
    fn passes_idle_ports(&self) -> bool {
        false
    }
}

catalogue! {
    /// The AQM of a switch.
    AqmPolicy of AqmParams by each, open to AqmExtension {
        none::NoAqm,
        ecn::EcnThreshold,
        red::Red,
    }
}

impl Aqm for AqmPolicy {
    #[inline(always)]
    fn on_arrival(&mut self, arrival: &Arrival, buffer: &Buffer) -> Verdict {
        if let AqmPolicy::Extension(policy) = self {
            // A copy, so that for the other variants the arrival need not be in memory.
            return policy.on_arrival(&{ *arrival }, buffer);
        }
        each!(self, policy => policy.on_arrival(arrival, buffer))
    }
    fn passes_idle_ports(&self) -> bool {
        each!(self, policy => policy.passes_idle_ports())
    }
}

watch_each!(AqmPolicy, each);

/// A queue's length in the unit of a threshold.
#[inline(always)]
fn length_in_unit_of(threshold: Amount, queue: QueueId, buffer: &Buffer) -> u64 {
    match threshold {
        Amount::Packets(_) => u64::from(buffer.packets(queue)),
        Amount::Bytes(_) | Amount::Unlimited => u64::from(buffer.bytes(queue)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_policy_has_a_row_with_its_source() {
        for entry in AqmPolicy::catalogue() {
            assert!(!entry.summary.is_empty(), "{}", entry.id);
            assert!(entry.keys.iter().all(|key| !key.meaning.is_empty()), "{}", entry.id);
        }
    }
}

//! The one place where a packet's priority is chosen, each time it is sent.

use super::ends::Outgoing;
use spillway_switch::packet::NO_PRIORITY;

/// Acks and the packets of a handshake have no priority: NICs and switches have a queue for them.
pub(super) const OF_CONTROL: u8 = NO_PRIORITY;

/// A data packet has its flow's priority, if the flow has one.
#[inline(always)]
pub(super) fn of_data(flow: &Outgoing) -> u8 {
    flow.spec.priority.unwrap_or(NO_PRIORITY)
}

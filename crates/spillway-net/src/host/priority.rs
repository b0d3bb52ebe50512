//! The one place where a packet's priority is chosen, each time that it is sent.

use super::ends::Outgoing;
use spillway_switch::packet::NO_PRIORITY;

/// Of acks and of the packets of a handshake: none; NICs and switches have a queue for them.
pub(super) const OF_CONTROL: u8 = NO_PRIORITY;

/// Of a data packet: its flow's, if that has one.
#[inline(always)]
pub(super) fn of_data(flow: &Outgoing) -> u8 {
    flow.spec.priority.unwrap_or(NO_PRIORITY)
}

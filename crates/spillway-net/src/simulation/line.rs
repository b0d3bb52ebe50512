//! One direction of a cable, with the port that sends on it.

use crate::topology::Link;
use spillway_engine::Time;
use spillway_switch::packet::{NO_PACKET, PacketId};

/// A port's line. Those of hosts come first, numbered as the hosts; then those of each switch, in
/// the order of its ports.
///
/// Packets arrive in the order in which they were sent, so those on the line form a list through
/// the packets themselves, and only the first has an event.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(super) struct Line {
    /// When the port can send again.
    pub busy_until: Time,
    /// How long a bit travels.
    pub delay: Time,
    /// How long a byte takes.
    pub ps_per_byte: u64,
    /// The packet that arrives next.
    pub head: PacketId,
    /// The packet that was sent last.
    pub tail: PacketId,
    /// Where it leads: a host or a switch.
    pub to: u32,
    /// The switch that sends on it; for hosts' lines the host.
    pub from: u32,
    /// The port of that switch.
    pub port: u32,
    pub to_host: bool,
    /// Whether an event will wake the port when it can send again.
    pub wakes: bool,
    /// Whether it is down or loses packets.
    pub impaired: bool,
    /// Bytes put on it so far, with those that wait for their turn.
    pub accepted_bytes: u64,
}

impl Line {
    pub fn new(link: &Link, (from, port): (u32, u32), (to, to_host): (u32, bool)) -> Line {
        Line {
            busy_until: Time::ZERO,
            delay: link.delay,
            ps_per_byte: link.rate.ps_per_byte(),
            head: NO_PACKET,
            tail: NO_PACKET,
            to,
            from,
            port,
            to_host,
            wakes: false,
            impaired: false,
            accepted_bytes: 0,
        }
    }

    /// Bytes sent until now.
    pub fn sent_bytes(&self, now: Time) -> u64 {
        self.accepted_bytes - self.busy_until.since(now).ps() / self.ps_per_byte
    }

    /// How long so many bytes take.
    #[inline(always)]
    pub fn time_of(&self, bytes: u64) -> Time {
        Time::from_ps(bytes * self.ps_per_byte)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_one_cache_line() {
        assert_eq!(size_of::<Line>(), 64);
    }
}

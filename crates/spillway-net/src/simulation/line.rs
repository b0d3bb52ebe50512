//! One direction of a cable, with the port that sends on it.

use spillway_engine::{Rate, Time};
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
    pub rate: Rate,
    /// The packet that arrives next.
    pub head: PacketId,
    /// The packet that was sent last.
    pub tail: PacketId,
    /// Where it leads: a host or a switch.
    pub to: u32,
    pub to_host: bool,
    /// Whether an event will wake the port when it can send again.
    pub wakes: bool,
    /// Whether it is down or loses packets.
    pub impaired: bool,
    /// The switch that sends on it; for hosts' lines the host.
    pub from: u32,
    /// The port of that switch.
    pub port: u32,
}

impl Line {
    pub fn new(
        rate: Rate,
        delay: Time,
        (from, port): (u32, u32),
        (to, to_host): (u32, bool),
    ) -> Line {
        Line {
            busy_until: Time::ZERO,
            delay,
            rate,
            head: NO_PACKET,
            tail: NO_PACKET,
            to,
            to_host,
            wakes: false,
            impaired: false,
            from,
            port,
        }
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

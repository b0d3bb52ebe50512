//! In-band telemetry: what switches write into packets of transports that ask for it.
//!
//! It is kept in a [side table](spillway_switch::SideTable), so other packets do not pay for it.

use spillway_engine::Time;

/// The number of switches that can write into a packet (HPCC, section 4.1). Later ones on the path
/// write nothing.
pub const HOPS: usize = 5;

/// What a port writes: its state when it begins to send the packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hop {
    /// The time.
    pub time: Time,
    /// The bytes then left in its queue.
    pub queue_bytes: u64,
    /// The bytes that it had sent before.
    pub sent_bytes: u64,
    /// The time of a byte on its line.
    pub ps_per_byte: u64,
}

/// What the ports on a packet's path have written, in order. An ack carries it back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Telemetry {
    count: u8,
    hops: [Hop; HOPS],
}

impl Telemetry {
    /// The entries written so far.
    pub fn hops(&self) -> &[Hop] {
        &self.hops[..usize::from(self.count)]
    }

    /// Removes all entries.
    #[cold]
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Adds an entry if there is room.
    pub fn push(&mut self, hop: Hop) {
        if let Some(place) = self.hops.get_mut(usize::from(self.count)) {
            *place = hop;
            self.count += 1;
        }
    }

    /// Each port's entry together with its entry in `before`; none if these are other ports.
    pub fn since<'a>(&'a self, before: &'a Telemetry) -> impl Iterator<Item = (&'a Hop, &'a Hop)> {
        let same = self.count == before.count;
        self.hops().iter().zip(before.hops()).filter(move |(now, before)| {
            same && now.time > before.time && now.sent_bytes >= before.sent_bytes
        })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Entries of ports of 10 Gbps: the time in microseconds, and the bytes queued and sent.
    pub(crate) fn telemetry(hops: &[(u64, u64, u64)]) -> Telemetry {
        let mut telemetry = Telemetry::default();
        for &(us, queue_bytes, sent_bytes) in hops {
            telemetry.push(Hop {
                time: Time::from_us(us),
                queue_bytes,
                sent_bytes,
                ps_per_byte: 800,
            });
        }
        telemetry
    }

    #[test]
    fn there_is_room_for_five_switches() {
        let seven = telemetry(&[(1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4), (5, 5, 5), (6, 6, 6)]);
        assert_eq!(seven.hops().len(), 5);
        assert_eq!(seven.hops()[4].queue_bytes, 5);
    }

    #[test]
    fn ports_are_compared_with_themselves_only() {
        let before = telemetry(&[(10, 0, 100), (20, 0, 50)]);
        let now = telemetry(&[(11, 0, 200), (21, 0, 40)]);
        // The second has sent less than before, so it is another port.
        assert_eq!(now.since(&before).count(), 1);
        assert_eq!(telemetry(&[(11, 0, 200)]).since(&before).count(), 0);
    }
}

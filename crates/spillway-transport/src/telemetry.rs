//! In-band telemetry: what switches write into packets of transports that ask for it.
//!
//! It is kept in a [side table](spillway_switch::SideTable), so other packets do not pay for it.

use spillway_engine::Time;

/// The number of entries for which a packet has room (HPCC, section 4.1). On longer paths the
/// entries lie elsewhere.
const HOPS: usize = 5;

/// What a port writes: its state when it begins to send the packet. All numbers are about the whole
/// port with all its queues.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hop {
    /// The time.
    pub time: Time,
    /// The bytes then left in its queues.
    pub queue_bytes: u64,
    /// The bytes that it had sent before.
    pub sent_bytes: u64,
    /// The time of a byte on its line.
    pub ps_per_byte: f64,
}

/// How exact telemetry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fields {
    /// Exactly.
    Exact,
    /// Rounded as in HPCC's 64 bits for every port: nanoseconds in 24 bits, multiples of 128 bytes
    /// sent in 20 bits, and multiples of 80 bytes queued in 17 bits. All are rounded down. The
    /// number multiplies both units.
    Rounded(u64),
}

/// What an entry of a port shows in comparison with an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The picoseconds in between.
    pub ps: u64,
    /// The bytes that the port has sent in between.
    pub sent_bytes: u64,
    /// The lesser of the two queue lengths.
    pub queue_bytes: u64,
}

impl Fields {
    /// Compares an entry with one that was written earlier. Rounded times may be the same.
    pub fn compare(self, now: &Hop, before: &Hop) -> Difference {
        let least = now.queue_bytes.min(before.queue_bytes);
        match self {
            Fields::Exact => Difference {
                ps: (now.time - before.time).ps(),
                sent_bytes: now.sent_bytes - before.sent_bytes,
                queue_bytes: least,
            },
            Fields::Rounded(multiplier) => {
                // Fields that overflow begin again at 0, and so do differences.
                let between = |now: u64, before: u64, unit: u64, bits: u32| {
                    (now / unit).wrapping_sub(before / unit) & ((1 << bits) - 1)
                };
                let (sent, queued) = (128 * multiplier, 80 * multiplier);
                let length = |hop: &Hop| (hop.queue_bytes / queued) & ((1 << 17) - 1);
                Difference {
                    ps: 1_000 * between(now.time.ps(), before.time.ps(), 1_000, 24),
                    sent_bytes: sent * between(now.sent_bytes, before.sent_bytes, sent, 20),
                    queue_bytes: queued * length(now).min(length(before)),
                }
            }
        }
    }
}

/// What the ports on a packet's path have written, in order. An ack carries it back.
#[derive(Debug, Default, PartialEq)]
pub struct Telemetry {
    count: u32,
    hops: [Hop; HOPS],
    /// All entries, if `hops` has no room for them.
    all: Vec<Hop>,
}

impl Clone for Telemetry {
    fn clone(&self) -> Telemetry {
        Telemetry { count: self.count, hops: self.hops, all: self.all.clone() }
    }

    /// Memory for many entries is used again.
    fn clone_from(&mut self, from: &Telemetry) {
        (self.count, self.hops) = (from.count, from.hops);
        self.all.clone_from(&from.all);
    }
}

impl Telemetry {
    /// The entries written so far.
    pub fn hops(&self) -> &[Hop] {
        self.hops.get(..self.count as usize).unwrap_or(&self.all)
    }

    /// Removes all entries.
    #[cold]
    pub fn clear(&mut self) {
        self.count = 0;
        self.all.clear();
    }

    /// Adds an entry.
    pub fn push(&mut self, hop: Hop) {
        match self.hops.get_mut(self.count as usize) {
            Some(place) => *place = hop,
            None => self.push_beyond(hop),
        }
        self.count += 1;
    }

    #[cold]
    fn push_beyond(&mut self, hop: Hop) {
        if self.all.is_empty() {
            self.all.extend(self.hops);
        }
        self.all.push(hop);
    }

    /// Each port's entry together with its entry in `before`. Empty if `before` is about other
    /// ports.
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
                ps_per_byte: 800.0,
            });
        }
        telemetry
    }

    #[test]
    fn there_is_room_for_all_switches() {
        let entries: Vec<_> = (1..=7).map(|hop| (hop, hop, hop)).collect();
        let lengths = |told: &Telemetry| -> Vec<u64> {
            told.hops().iter().map(|hop| hop.queue_bytes).collect()
        };
        for count in 0..=7 {
            let mut told = telemetry(&entries[..count]);
            assert_eq!(lengths(&told), (1..=count as u64).collect::<Vec<_>>());
            let mut copy = telemetry(&entries[..6]);
            copy.clone_from(&told);
            assert_eq!((lengths(&copy), lengths(&told.clone())), (lengths(&told), lengths(&told)));
            told.clear();
            assert_eq!(told.hops(), []);
            told.push(copy.hops().first().copied().unwrap_or_default());
            assert_eq!(told.hops().len(), 1);
        }
        let (before, now) = (telemetry(&entries), telemetry(&[(9, 9, 9); 7]));
        assert_eq!(now.since(&before).count(), 7);
        assert_eq!(telemetry(&[(9, 9, 9); 6]).since(&before).count(), 0);
    }

    #[test]
    fn rounded_fields_are_multiples_and_begin_again() {
        let hop = |time: u64, sent_bytes: u64, queue_bytes: u64| Hop {
            time: Time::from_ps(time),
            queue_bytes,
            sent_bytes,
            ps_per_byte: 80.0,
        };
        let (before, now) = (hop(1_000_999, 1_023, 700), hop(1_084_000, 2_048, 319));
        let exact = Difference { ps: 83_001, sent_bytes: 1_025, queue_bytes: 319 };
        assert_eq!(Fields::Exact.compare(&now, &before), exact);
        // 1,084 - 1,000 ns. With units of 512 bytes, 4 - 1 of them were sent, and less than 320
        // wait.
        let rounded = Difference { ps: 84_000, sent_bytes: 1_536, queue_bytes: 0 };
        assert_eq!(Fields::Rounded(4).compare(&now, &before), rounded);
        // With units of 128 bytes, 16 - 7, and 3 * 80 wait.
        let rounded = Difference { ps: 84_000, sent_bytes: 1_152, queue_bytes: 240 };
        assert_eq!(Fields::Rounded(1).compare(&now, &before), rounded);
        // 2^24 ns, 2^20 * 128 bytes and 2^17 * 80 bytes are 0 again.
        let late = hop(1_084_000 + (1_000 << 24), 2_048 + (128 << 20), 700 + (80 << 17));
        let rounded = Difference { queue_bytes: 640, ..rounded };
        assert_eq!(Fields::Rounded(1).compare(&late, &before), rounded);
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

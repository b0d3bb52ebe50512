//! How many flows a port sees: the counters of the Flow Concurrent Stabilizer.

use spillway_engine::{Time, mix};
use spillway_settings::{ErrorKind, Section, SettingsError};
use std::collections::BTreeSet;

/// How a port counts its flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A bit for every place, all cleared when a period begins (section 4.1, appendix B).
    Bitmap {
        /// At least 1.
        places: u32,
        /// The largest number that the counter holds.
        most: u32,
    },
    /// Algorithm 1 (appendix C.1): places that hold hashes of flow and period, never cleared.
    Hashes {
        /// The number of places is two to the power of this; at most `hash_bits`.
        index_bits: u32,
        /// From 1 to 32.
        hash_bits: u32,
    },
    /// Every flow once.
    Exact,
}

impl Kind {
    /// Reads the keys, for a sketch that may be useless.
    ///
    /// # Errors
    /// If a value is wrong, or there are more places than hashes.
    pub fn read(section: &mut Section) -> Result<Kind, SettingsError> {
        let meaning =
            "what counts flows: a bit for each place, Algorithm 1 of the paper, or no sketch";
        let kinds = [("bitmap", 0), ("hashes", 1), ("exact", 2)];
        Ok(match section.choice("counter", &kinds, meaning)? {
            0 => {
                section.needs("counter = \"hashes\"", &["hash_bits"])?;
                let meaning = "bits of a port's bitmap; `hashes` has places instead, a power of two, by default \
                               1024";
                let places = section.integer("places", 120, 1..=1 << 20, meaning)? as u32;
                let meaning = "the largest number of flows that the counter holds";
                let most =
                    section.integer("count_max", 255, 1..=u64::from(u32::MAX), meaning)? as u32;
                Kind::Bitmap { places, most }
            }
            1 => {
                section.needs("counter = \"bitmap\"", &["count_max"])?;
                let meaning = "places of a port's table, a power of two";
                let places = section.integer("places", 1024, 1..=1 << 20, meaning)?;
                let meaning = "bits of the hash that a place holds";
                let hash_bits = section.integer("hash_bits", 32, 1..=32, meaning)? as u32;
                if !places.is_power_of_two() {
                    return Err(section.error(
                        ErrorKind::WrongValue,
                        "places",
                        format!("{places} is no power of two"),
                    ));
                }
                let index_bits = places.trailing_zeros();
                if index_bits > hash_bits {
                    let problem = format!("{hash_bits} bits cannot tell {places} places apart");
                    return Err(section.conflict("hash_bits", problem));
                }
                Kind::Hashes { index_bits, hash_bits }
            }
            _ => {
                section.needs("counter = \"bitmap\" or \"hashes\"", &["places"])?;
                section.needs("counter = \"bitmap\"", &["count_max"])?;
                section.needs("counter = \"hashes\"", &["hash_bits"])?;
                Kind::Exact
            }
        })
    }
}

/// A number that no flow has.
const NO_FLOW: u64 = u64::MAX;

/// A port's counter.
#[derive(Clone, Debug)]
pub struct Counter {
    /// The length of a period, above 0.
    period: Time,
    /// When the period began, or for bitmaps and exact counters when it ends.
    edge: Time,
    /// Flows of the period before this one, and of this one.
    last: u32,
    now: u32,
    /// The flow of the packet that a bitmap or an exact counter has counted last. The counter holds
    /// this flow. [`NO_FLOW`] before the first packet.
    latest: u64,
    memory: Memory,
}

#[derive(Clone, Debug)]
enum Memory {
    Bitmap { bits: Vec<u64>, places: u32, most: u32 },
    Hashes { hashes: Vec<u32>, hash_mask: u32, index_mask: u32, sequence: u32 },
    Exact(BTreeSet<u32>),
}

impl Counter {
    /// A counter that has not seen a packet.
    pub fn new(kind: Kind, period: Time) -> Counter {
        let memory = match kind {
            Kind::Bitmap { places, most } => {
                Memory::Bitmap { bits: vec![0; places.div_ceil(64) as usize], places, most }
            }
            Kind::Hashes { index_bits, hash_bits } => Memory::Hashes {
                hashes: vec![0; 1 << index_bits],
                hash_mask: u32::MAX >> (32 - hash_bits),
                index_mask: (1 << index_bits) - 1,
                sequence: 0,
            },
            Kind::Exact => Memory::Exact(BTreeSet::new()),
        };
        let edge = if matches!(kind, Kind::Hashes { .. }) { Time::ZERO } else { period };
        Counter { period, edge, last: 0, now: 0, latest: NO_FLOW, memory }
    }

    /// Counts a packet of a flow.
    #[inline(always)]
    pub fn count(&mut self, now: Time, flow: u32) {
        // Packets of a flow often follow each other: nothing changes.
        if self.latest != u64::from(flow) || now >= self.edge {
            self.count_another(now, flow);
        }
    }

    /// As `count`, for another flow than the last one, or in another period.
    #[inline(never)]
    fn count_another(&mut self, now: Time, flow: u32) {
        match &mut self.memory {
            Memory::Hashes { hashes, hash_mask, index_mask, sequence } => {
                if now.since(self.edge) > self.period {
                    self.edge = now;
                    (self.last, self.now) = (self.now, 0);
                    *sequence = sequence.wrapping_add(1);
                    return;
                }
                let key = u64::from(flow) << 32 | u64::from(*sequence);
                let hash = mix(key) as u32 & *hash_mask;
                let held = &mut hashes[(hash & *index_mask) as usize];
                self.now += u32::from(*held != hash);
                *held = hash;
            }
            Memory::Bitmap { bits, places, most } => {
                if now >= self.edge {
                    bits.fill(0);
                    self.begin_periods(now);
                    return self.count_another(now, flow);
                }
                let place = mix(flow.into()) as u32 % *places;
                let (word, bit) = (&mut bits[(place / 64) as usize], 1 << (place % 64));
                self.now = (self.now + u32::from(*word & bit == 0)).min(*most);
                *word |= bit;
                self.latest = flow.into();
            }
            Memory::Exact(flows) => {
                if now >= self.edge {
                    flows.clear();
                    self.begin_periods(now);
                    return self.count_another(now, flow);
                }
                self.now += u32::from(flows.insert(flow));
                self.latest = flow.into();
            }
        }
    }

    /// The period that holds `now` begins, perhaps after others without a packet.
    fn begin_periods(&mut self, now: Time) {
        let missed = now.since(self.edge).ps() / self.period.ps();
        self.last = if missed == 0 { self.now } else { 0 };
        self.now = 0;
        self.edge += self.period * (missed + 1);
    }

    /// N at this time, which is not before the last packet; it changes when a period ends. With
    /// Algorithm 1 a period ends with a packet only.
    pub fn flows_at(&self, now: Time) -> u32 {
        match self.memory {
            Memory::Hashes { .. } => self.flows(),
            _ if now < self.edge => self.flows(),
            _ if now.since(self.edge) < self.period => self.now.max(1),
            _ => 1,
        }
    }

    /// The number of flows (N): the count of the last period or of this one, whichever is larger,
    /// and at least 1.
    #[inline]
    pub fn flows(&self) -> u32 {
        self.last.max(self.now).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERIOD: Time = Time::from_us(10);

    /// N after packets of these flows at these times, in microseconds.
    fn counts(kind: Kind, packets: &[(u64, u32)]) -> Vec<u32> {
        let mut counter = Counter::new(kind, PERIOD);
        let mut after = |&(us, flow): &(u64, u32)| {
            counter.count(Time::from_us(us), flow);
            counter.flows()
        };
        packets.iter().map(&mut after).collect()
    }

    #[test]
    fn the_larger_of_two_periods_counts() {
        // Three flows until 10 us, one until 20 us, none until 30 us.
        let packets = [(1, 7), (2, 7), (3, 8), (4, 9), (10, 7), (19, 7), (20, 8), (39, 8)];
        let expected = [1, 1, 2, 3, 3, 3, 1, 1];
        assert_eq!(counts(Kind::Exact, &packets), expected);
        assert_eq!(counts(Kind::Bitmap { places: 4096, most: 255 }, &packets), expected);
    }

    #[test]
    fn after_an_empty_period_only_this_one_counts() {
        let packets = [(1, 7), (2, 8), (15, 1), (16, 2), (17, 3), (35, 4)];
        assert_eq!(counts(Kind::Exact, &packets), [1, 2, 2, 2, 3, 1]);
    }

    #[test]
    fn a_bitmap_counts_no_more_than_its_places_and_its_counter_hold() {
        let packets: Vec<_> = (0..1000).map(|flow| (1, flow)).collect();
        let last = |kind| counts(kind, &packets).pop();
        assert_eq!(last(Kind::Bitmap { places: 120, most: 255 }), Some(120));
        assert_eq!(last(Kind::Bitmap { places: 4096, most: 255 }), Some(255));
        assert_eq!(last(Kind::Exact), Some(1000));
    }

    #[test]
    fn as_many_places_are_taken_as_balls_hit_bins() {
        // 60 flows in 120 places: 120 (1 - (119/120)^60) = 47.4; standard deviation about 2.7.
        let packets: Vec<_> = (5000..5060).map(|flow| (1, flow)).collect();
        let n = counts(Kind::Bitmap { places: 120, most: 255 }, &packets).pop().unwrap_or(0);
        assert!((39..=55).contains(&n), "{n}");
    }

    #[test]
    fn algorithm_1_opens_a_period_with_a_packet_that_it_does_not_count() {
        let kind = Kind::Hashes { index_bits: 10, hash_bits: 32 };
        // A period ends only when more than 10 us have passed since it began.
        let packets =
            [(1, 7), (2, 8), (10, 9), (11, 1), (12, 7), (13, 7), (21, 9), (22, 8), (23, 7)];
        // The packet at 11 us opens the second period, that at 22 us the third.
        assert_eq!(counts(kind, &packets), [1, 2, 3, 3, 3, 3, 3, 2, 2]);
    }

    #[test]
    fn flows_that_share_a_place_are_counted_again_and_again() {
        // One place: a packet that follows a packet of another flow counts as a new flow.
        let kind = Kind::Hashes { index_bits: 0, hash_bits: 32 };
        let packets: Vec<_> = (0..10).map(|n| (1, n % 2)).collect();
        assert_eq!(counts(kind, &packets).pop(), Some(10));
        // Two flows with the same hash are one, and a flow whose hash is 0 is not seen.
        let kind = Kind::Hashes { index_bits: 1, hash_bits: 1 };
        let packets: Vec<_> = (0..64).map(|flow| (1, flow)).collect();
        assert_eq!(counts(kind, &packets).pop(), Some(1));
    }

    #[test]
    fn hashes_without_bits_of_their_own_soon_find_nothing_new() {
        // Eight places, of which each can hold its own number only; 0 is there from the beginning.
        // 64 flows have all hashes in a period.
        let after = |hash_bits, periods| {
            let mut counter = Counter::new(Kind::Hashes { index_bits: 3, hash_bits }, PERIOD);
            for period in 0..periods {
                (0..64).for_each(|flow| counter.count(Time::from_us(11 * period), flow));
            }
            counter.flows()
        };
        assert_eq!([after(3, 1), after(3, 2), after(3, 3)], [7, 7, 1]);
        assert_eq!([after(32, 1), after(32, 3)], [64, 63]);
    }

    /// N at a time without a packet is that which a packet of a known flow would find.
    #[test]
    fn flows_at_a_time_follow_the_periods() {
        let bitmap = Kind::Bitmap { places: 120, most: 255 };
        for kind in [bitmap, Kind::Exact] {
            let mut counter = Counter::new(kind, PERIOD);
            for (us, flow) in [(1, 7), (2, 8), (3, 9), (11, 7)] {
                counter.count(Time::from_us(us), flow);
            }
            let at = |ns| counter.flows_at(Time::from_ns(ns));
            // Three in the last period and one in this; then one; then none, which counts as one.
            assert_eq!([at(11_000), at(19_999), at(20_000), at(30_000)], [3, 3, 1, 1]);
            counter.count(Time::from_us(12), 8);
            let at = |ns| counter.flows_at(Time::from_ns(ns));
            assert_eq!([at(19_999), at(20_000), at(29_999), at(30_000)], [3, 2, 2, 1]);
        }
        // Algorithm 1 begins a period with a packet.
        let mut counter = Counter::new(Kind::Hashes { index_bits: 10, hash_bits: 32 }, PERIOD);
        for (us, flow) in [(1, 7), (2, 8)] {
            counter.count(Time::from_us(us), flow);
        }
        assert_eq!(counter.flows_at(Time::from_us(500)), counter.flows());
        assert_eq!(counter.flows(), 2);
    }
}

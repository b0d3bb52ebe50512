//! The retransmission timeout (RFC 6298): how long to wait for an ack.

use spillway_engine::Time;
use spillway_settings::quantity::{self, LONGEST, RttTime};

/// A sender's estimate of the round-trip time. The default has no sample yet.
#[derive(Clone, Copy, Debug, Default)]
pub struct RttEstimate {
    smoothed: u64,
    variation: u64,
    /// The number of timeouts in a row so far.
    backoff: u32,
}

/// The bounds of a retransmission timeout.
#[derive(Clone, Copy, Debug)]
pub struct RtoBounds {
    /// The timeout before the first sample.
    pub initial: Time,
    /// The least timeout.
    pub min: Time,
    /// The least that it is beyond the smoothed round trip: the granularity of the clock (G).
    pub granularity: Granularity,
    /// Whether `min` bounds the part beyond the smoothed round trip, rather than the whole timeout,
    /// as in Linux.
    pub min_bounds_spread: bool,
    /// The greatest timeout.
    pub max: Time,
}

impl RtoBounds {
    /// For senders with another timeout, which never changes.
    pub const UNUSED: RtoBounds = RtoBounds {
        initial: LONGEST,
        min: LONGEST,
        max: LONGEST,
        granularity: Granularity::NONE,
        min_bounds_spread: false,
    };
}

/// The least that a timeout is beyond the smoothed round trip: the greater of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Granularity {
    time: Time,
    /// In 1024ths of the smoothed round trip.
    share: u32,
}

impl Granularity {
    /// Nothing.
    pub const NONE: Granularity = Granularity { time: Time::ZERO, share: 0 };

    /// Reads `"20us"`, which may be 0, or `"0.5rtt"`, a multiple of the smoothed round trip.
    pub fn parse(text: &str) -> Option<Granularity> {
        match RttTime::parse(text) {
            Some(RttTime::Time(time)) => Some(Granularity { time, share: 0 }),
            Some(RttTime::Rtt(times)) => {
                let share = times.times(1 << 10).and_then(|share| share.try_into().ok())?;
                Some(Granularity { time: Time::ZERO, share })
            }
            None => quantity::time(text).map(|time| Granularity { time, share: 0 }),
        }
    }

    /// This granularity, but at least this time.
    pub fn at_least(self, time: Time) -> Granularity {
        Granularity { time: self.time.max(time), ..self }
    }

    #[inline]
    fn of(self, smoothed: u64) -> u64 {
        let share = (u128::from(smoothed) * u128::from(self.share)) >> 10;
        self.time.ps().max(share as u64)
    }
}

/// The most doublings of a timeout.
const DOUBLINGS: u32 = 16;

impl RtoBounds {
    /// The timeout after all doublings, if no ack ever comes.
    pub fn longest_without_an_ack(&self) -> Time {
        Time::from_ps(self.initial.ps().saturating_mul(1 << DOUBLINGS)).min(self.max)
    }
}

impl RttEstimate {
    /// Adds a sample (RFC 6298, section 2: weights 1/8 and 1/4).
    #[inline]
    pub fn sample(&mut self, rtt: Time) {
        let rtt = rtt.ps();
        if self.smoothed == 0 {
            (self.smoothed, self.variation) = (rtt, rtt / 2);
        } else {
            let error = self.smoothed.abs_diff(rtt);
            self.variation = self.variation - self.variation / 4 + error / 4;
            self.smoothed = self.smoothed - self.smoothed / 8 + rtt / 8;
        }
    }

    /// The smoothed round trip; zero before the first sample.
    pub fn smoothed(&self) -> Time {
        Time::from_ps(self.smoothed)
    }

    /// The time to wait from now: srtt + max(G, 4 rttvar) within the bounds (rule 2.3), doubled for
    /// every timeout in a row.
    #[inline]
    pub fn timeout(&self, bounds: &RtoBounds) -> Time {
        let base = match self.smoothed {
            0 => bounds.initial,
            smoothed => {
                let spread = (4 * self.variation).max(bounds.granularity.of(smoothed));
                Time::from_ps(smoothed.saturating_add(spread)).max(bounds.min)
            }
        };
        let times = 1 << self.backoff.min(DOUBLINGS);
        Time::from_ps(base.ps().saturating_mul(times)).min(bounds.max)
    }

    /// The timeout has expired: the next one is twice as long.
    pub fn back_off(&mut self) {
        self.backoff += 1;
    }

    /// Timeouts in a row so far.
    pub fn backoff(&self) -> u32 {
        self.backoff
    }

    /// New data was acknowledged: the timeout is no longer doubled.
    #[inline]
    pub fn reset_backoff(&mut self) {
        self.backoff = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_follows_rfc_6298() {
        let us = Time::from_us;
        let bounds = RtoBounds {
            initial: us(1000),
            min: us(10),
            max: us(5000),
            granularity: Granularity::parse("20us").unwrap(),
            min_bounds_spread: false,
        };
        let mut estimate = RttEstimate::default();
        assert_eq!(estimate.timeout(&bounds), us(1000));
        // First sample 80: srtt 80, rttvar 40: 80 + 160 = 240.
        estimate.sample(us(80));
        assert_eq!(estimate.timeout(&bounds), us(240));
        // Then 120: rttvar 30 + 10 = 40, srtt 70 + 15 = 85: 85 + 160 = 245.
        estimate.sample(us(120));
        assert_eq!((estimate.smoothed(), estimate.timeout(&bounds)), (us(85), us(245)));
        estimate.back_off();
        estimate.back_off();
        assert_eq!(estimate.timeout(&bounds), us(980));
        estimate.back_off();
        estimate.back_off();
        estimate.back_off();
        assert_eq!(estimate.timeout(&bounds), us(5000));
        estimate.reset_backoff();
        assert_eq!(estimate.timeout(&bounds), us(245));
        // With equal round trips rttvar vanishes, and the granularity is left.
        (0..200).for_each(|_| estimate.sample(us(80)));
        let timeout = |granularity: &str| {
            let granularity = Granularity::parse(granularity).unwrap();
            estimate.timeout(&RtoBounds { granularity, ..bounds }).ps() / 1_000
        };
        assert_eq!((timeout("20us"), timeout("0us")), (100_000, 80_000));
        assert_eq!((timeout("0.5rtt"), timeout("1rtt")), (120_000, 160_000));
        let floor = Granularity::parse("1rtt").unwrap().at_least(us(200));
        assert_eq!(
            estimate.timeout(&RtoBounds { granularity: floor, ..bounds }).ps() / 1_000,
            280_000
        );
        for wrong in ["", "rtt", "-1us", "0rtt", "5000000rtt", "1bdp"] {
            assert_eq!(Granularity::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_timeout_is_doubled_sixteen_times_and_never_beyond_its_bound() {
        let (day, most) = (Time::from_ms(86_400_000), Time::from_ps(u64::MAX / 4));
        for (initial, max, expected) in [
            (Time::from_ns(1), Time::from_us(5_000), Time::from_ns(65_536)),
            (Time::from_us(1), Time::from_us(5_000), Time::from_us(5_000)),
            (day, most, most),
        ] {
            let least = Time::from_ns(1);
            let (granularity, min_bounds_spread) = (Granularity::NONE, false);
            let bounds = RtoBounds { initial, min: least, max, granularity, min_bounds_spread };
            let mut estimate = RttEstimate::default();
            (0..40).for_each(|_| estimate.back_off());
            assert_eq!(estimate.timeout(&bounds), expected);
            assert_eq!(bounds.longest_without_an_ack(), expected);
        }
    }
}

//! The retransmission timeout (RFC 6298): how long to wait for an ack.

use spillway_engine::Time;

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
    /// The greatest timeout.
    pub max: Time,
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

    /// The time to wait from now: srtt + 4 rttvar within the bounds, doubled for every timeout in a
    /// row.
    #[inline]
    pub fn timeout(&self, bounds: &RtoBounds) -> Time {
        let base = match self.smoothed {
            0 => bounds.initial,
            smoothed => Time::from_ps(smoothed + 4 * self.variation).max(bounds.min),
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
        let bounds = RtoBounds { initial: us(1000), min: us(10), max: us(5000) };
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
    }

    #[test]
    fn a_timeout_is_doubled_sixteen_times_and_never_beyond_its_bound() {
        let (day, most) = (Time::from_ms(86_400_000), Time::from_ps(u64::MAX / 4));
        for (initial, max, expected) in [
            (Time::from_ns(1), Time::from_us(5_000), Time::from_ns(65_536)),
            (Time::from_us(1), Time::from_us(5_000), Time::from_us(5_000)),
            (day, most, most),
        ] {
            let bounds = RtoBounds { initial, min: Time::from_ns(1), max };
            let mut estimate = RttEstimate::default();
            (0..40).for_each(|_| estimate.back_off());
            assert_eq!(estimate.timeout(&bounds), expected);
            assert_eq!(bounds.longest_without_an_ack(), expected);
        }
    }
}

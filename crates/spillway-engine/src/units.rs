//! Time and rates, as integers.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// A point in simulated time, or a span of it, in picoseconds.
///
/// The transmission of a byte takes a whole number of picoseconds at 1, 10, 25, 40, 100, 200, 400
/// and 800 Gbps. A `u64` of picoseconds covers 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start of every run.
    pub const ZERO: Time = Time(0);
    /// Later than everything that happens.
    pub const MAX: Time = Time(u64::MAX);

    /// `ps` picoseconds.
    pub const fn from_ps(ps: u64) -> Time {
        Time(ps)
    }
    /// `ns` nanoseconds.
    pub const fn from_ns(ns: u64) -> Time {
        Time(ns * 1_000)
    }
    /// `us` microseconds.
    pub const fn from_us(us: u64) -> Time {
        Time(us * 1_000_000)
    }
    /// `ms` milliseconds.
    pub const fn from_ms(ms: u64) -> Time {
        Time(ms * 1_000_000_000)
    }
    /// `seconds` seconds, rounded to the nearest picosecond; negative spans become zero.
    pub fn from_secs_f64(seconds: f64) -> Time {
        Time((seconds * 1e12).round() as u64)
    }
    /// As picoseconds.
    pub const fn ps(self) -> u64 {
        self.0
    }
    /// As seconds, rounded to a float.
    pub fn secs_f64(self) -> f64 {
        self.0 as f64 * 1e-12
    }
    /// `self - earlier`, or zero if `earlier` is later.
    pub const fn since(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
    /// `self + span`, or [`Time::MAX`] if that overflows.
    pub const fn saturating_add(self, span: Time) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl Add for Time {
    type Output = Time;
    fn add(self, other: Time) -> Time {
        Time(self.0 + other.0)
    }
}

impl AddAssign for Time {
    fn add_assign(&mut self, other: Time) {
        self.0 += other.0;
    }
}

impl Sub for Time {
    type Output = Time;
    fn sub(self, other: Time) -> Time {
        Time(self.0 - other.0)
    }
}

impl Mul<u64> for Time {
    type Output = Time;
    fn mul(self, times: u64) -> Time {
        Time(self.0 * times)
    }
}

impl fmt::Display for Time {
    /// The shortest exact form: `3us`, `25.2us`, `1ps`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            0 => return f.write_str("0us"),
            ps if ps >= 1_000_000_000_000 => (1_000_000_000_000, "s"),
            ps if ps >= 1_000_000_000 => (1_000_000_000, "ms"),
            ps if ps >= 1_000_000 => (1_000_000, "us"),
            ps if ps >= 1_000 => (1_000, "ns"),
            _ => (1, "ps"),
        };
        let (whole, part) = (self.0 / unit, self.0 % unit);
        if part == 0 {
            return write!(f, "{whole}{name}");
        }
        let digits = unit.ilog10() as usize;
        let fraction = format!("{part:0digits$}");
        write!(f, "{whole}.{}{name}", fraction.trim_end_matches('0'))
    }
}

/// The speed of a line, as a whole number of picoseconds per byte.
///
/// If a rate does not give a whole number, it is rounded to the next slower one that does;
/// [`Rate::is_exact`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    ps_per_byte: u64,
    bits_per_second: u64,
}

impl Rate {
    /// A line with this rate; `None` unless a byte takes at least one picosecond and at most one
    /// second.
    pub fn from_bits_per_second(bits_per_second: u64) -> Option<Rate> {
        if !(8..=8_000_000_000_000).contains(&bits_per_second) {
            return None;
        }
        let ps_per_byte = 8_000_000_000_000_u64.div_ceil(bits_per_second);
        Some(Rate { ps_per_byte, bits_per_second })
    }
    /// The picoseconds that a byte takes.
    pub const fn ps_per_byte(self) -> u64 {
        self.ps_per_byte
    }
    /// The time that `bytes` bytes take.
    pub const fn time_of(self, bytes: u64) -> Time {
        Time(bytes * self.ps_per_byte)
    }
    /// The whole bytes that pass within a span.
    pub const fn bytes_in(self, span: Time) -> u64 {
        span.0 / self.ps_per_byte
    }
    /// The rate in bits per second, as it was given.
    pub const fn bits_per_second(self) -> u64 {
        self.bits_per_second
    }
    /// Whether a byte takes a whole number of picoseconds, so that nothing was rounded.
    pub const fn is_exact(self) -> bool {
        self.bits_per_second * self.ps_per_byte == 8_000_000_000_000
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bits_per_second {
            b if b % 1_000_000_000 == 0 => write!(f, "{}Gbps", b / 1_000_000_000),
            b if b % 1_000_000 == 0 => write!(f, "{}Mbps", b / 1_000_000),
            b => write!(f, "{b}bps"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_a_whole_number_of_picoseconds_at_every_common_rate() {
        // 8 bits / 10e9 bits per second = 0.8 ns.
        for (gbps, ps) in [(1, 8000), (10, 800), (25, 320), (40, 200), (100, 80), (200, 40)] {
            let rate = Rate::from_bits_per_second(gbps * 1_000_000_000).unwrap();
            assert_eq!((rate.ps_per_byte(), rate.is_exact()), (ps, true));
        }
        assert_eq!(Rate::from_bits_per_second(400_000_000_000).unwrap().ps_per_byte(), 20);
        assert_eq!(Rate::from_bits_per_second(800_000_000_000).unwrap().ps_per_byte(), 10);
    }

    #[test]
    fn a_rate_that_does_not_divide_rounds_to_the_slower_side() {
        // 8e12 / 3e9 = 2666.67 ps per byte.
        let rate = Rate::from_bits_per_second(3_000_000_000).unwrap();
        assert_eq!((rate.ps_per_byte(), rate.is_exact()), (2667, false));
    }

    #[test]
    fn times_print_exactly() {
        for (ps, text) in
            [(0, "0us"), (25_200_000, "25.2us"), (3_000_000, "3us"), (1, "1ps"), (1_001, "1.001ns")]
        {
            assert_eq!(Time::from_ps(ps).to_string(), text);
        }
    }
}

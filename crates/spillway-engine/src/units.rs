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
    /// This time of transmission in whole nanoseconds, as ns-3 has it. ns-3 computes the time in
    /// seconds, as a binary fraction, and cuts that too. So a time that is a whole number of
    /// nanoseconds also loses one nanosecond.
    pub const fn in_whole_ns(self) -> Time {
        Time::from_ns(self.0.saturating_sub(1) / 1_000)
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

/// The time that a byte takes on a line, in whole [fractions](ByteTime::FRACTIONS) of a picosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteTime(u64);

impl ByteTime {
    /// The fractions of a picosecond, as a power of two: 0.1 ppm of a byte's time at 800 Gbps.
    const BITS: u32 = 20;
    /// How many fractions a picosecond has.
    pub const FRACTIONS: u64 = 1 << ByteTime::BITS;

    /// So many picoseconds.
    pub const fn from_ps(ps: u64) -> ByteTime {
        ByteTime(ps << ByteTime::BITS)
    }
    /// The picoseconds, which need not be a whole number.
    pub const fn ps(self) -> f64 {
        self.0 as f64 / ByteTime::FRACTIONS as f64
    }
    /// The fractions of a picosecond that have begun when `before` bytes have been sent.
    #[inline(always)]
    const fn begun(self, before: u64) -> u64 {
        ((self.0 as u32).wrapping_mul(before as u32) & (ByteTime::FRACTIONS - 1) as u32) as u64
    }
    /// The whole picoseconds of the time that `bytes` bytes take.
    #[inline(always)]
    pub const fn time_of(self, bytes: u64) -> Time {
        self.time_behind(0, bytes)
    }
    /// The whole picoseconds of the time that `bytes` bytes take on a line that has sent `before`
    /// bytes. Packets end at whole picoseconds. The time that one packet is short, the next packets
    /// make up for.
    #[inline(always)]
    pub const fn time_behind(self, before: u64, bytes: u64) -> Time {
        let fractions = self.0 as u128 * bytes as u128 + self.begun(before) as u128;
        Time((fractions >> ByteTime::BITS) as u64)
    }
    /// As `time_behind`, if [`is_quick`](ByteTime::is_quick) holds.
    #[inline(always)]
    pub const fn quick_time_behind(self, before: u64, bytes: u64) -> Time {
        Time((self.0 * bytes + self.begun(before)) >> ByteTime::BITS)
    }
    /// Whether the time of any packet can be computed in 64 bits. Packets are below 16 MB, so this
    /// holds if a byte takes less than a microsecond.
    pub const fn is_quick(self) -> bool {
        self.0 < 1 << 40
    }
    /// As [`time_of`](ByteTime::time_of), but [`Time::MAX`] if the time would be too long.
    pub const fn saturating_time_of(self, bytes: u64) -> Time {
        let ps = (self.0 as u128 * bytes as u128) >> ByteTime::BITS;
        if ps > u64::MAX as u128 { Time::MAX } else { Time(ps as u64) }
    }
    /// The whole bytes that pass within a span.
    pub const fn bytes_in(self, span: Time) -> u64 {
        (((span.0 as u128) << ByteTime::BITS) / self.0 as u128) as u64
    }
    /// The bytes that have begun to pass within a span.
    pub const fn bytes_begun_in(self, span: Time) -> u64 {
        ((span.0 as u128) << ByteTime::BITS).div_ceil(self.0 as u128) as u64
    }
    /// What is left of a span after the whole bytes that pass in it, in whole picoseconds.
    pub const fn beyond_bytes(self, span: Time) -> Time {
        let left = ((span.0 as u128) << ByteTime::BITS) % self.0 as u128;
        Time((left >> ByteTime::BITS) as u64)
    }
}

/// A device's clock: how much longer a time really lasts than the device measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Clock {
    /// In parts of 2^31; below 0 if the clock is fast.
    longer: i32,
}

impl Clock {
    /// A clock that is right.
    pub const EXACT: Clock = Clock { longer: 0 };
    /// The most parts in a thousand million by which a clock may be off: 1%.
    pub const MOST_PPB: i64 = 10_000_000;

    /// A clock that is off by so many parts in a thousand million. Below 0, it is slow.
    pub const fn off_by_ppb(ppb: i64) -> Clock {
        assert!(-Clock::MOST_PPB <= ppb && ppb <= Clock::MOST_PPB, "a clock is off by 1% at most");
        Clock { longer: (-ppb * (1 << 31) / (1_000_000_000 + ppb)) as i32 }
    }
    /// By how many parts in a thousand million it is off.
    pub fn ppb(self) -> f64 {
        let longer = f64::from(self.longer) / f64::from(1_u32 << 31);
        -1e9 * longer / (1.0 + longer)
    }
    /// How long a time really lasts that the device measures as `exact`, rounded up.
    pub const fn stretch(self, exact: Time) -> Time {
        Time(self.stretched(exact.0))
    }
    const fn stretched(self, exact: u64) -> u64 {
        let more = (exact as i128 * self.longer as i128 + (1 << 31) - 1) >> 31;
        (exact as i128 + more) as u64
    }
}

/// The speed of a line: its nominal rate, and the time that a byte takes by the clock of the device
/// that sends.
///
/// If a nominal rate does not give a whole number of picoseconds per byte, it is rounded to the next
/// slower one that does; [`Rate::is_exact`] tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    byte_time: ByteTime,
    bits_per_second: u64,
    clock: Clock,
}

impl Rate {
    /// A line with this rate; `None` unless a byte takes at least one picosecond and at most one
    /// second.
    pub fn from_bits_per_second(bits_per_second: u64) -> Option<Rate> {
        if !(8..=8_000_000_000_000).contains(&bits_per_second) {
            return None;
        }
        let byte_time = ByteTime::from_ps(8_000_000_000_000_u64.div_ceil(bits_per_second));
        Some(Rate { byte_time, bits_per_second, clock: Clock::EXACT })
    }
    /// This speed by another clock.
    pub const fn by_clock(self, clock: Clock) -> Rate {
        let ps = 8_000_000_000_000_u64.div_ceil(self.bits_per_second);
        Rate { byte_time: ByteTime(clock.stretched(ByteTime::from_ps(ps).0)), clock, ..self }
    }
    /// This speed by an exact clock.
    pub const fn nominal(self) -> Rate {
        self.by_clock(Clock::EXACT)
    }
    /// The clock of the device that sends.
    pub const fn clock(self) -> Clock {
        self.clock
    }
    /// The time that a byte takes.
    pub const fn byte_time(self) -> ByteTime {
        self.byte_time
    }
    /// The picoseconds that a byte takes, which need not be a whole number.
    pub const fn ps_per_byte(self) -> f64 {
        self.byte_time.ps()
    }
    /// The time that `bytes` bytes take.
    pub const fn time_of(self, bytes: u64) -> Time {
        self.byte_time.time_of(bytes)
    }
    /// The whole bytes that pass within a span.
    pub const fn bytes_in(self, span: Time) -> u64 {
        self.byte_time.bytes_in(span)
    }
    /// The nominal rate in bits per second, as it was given.
    pub const fn bits_per_second(self) -> u64 {
        self.bits_per_second
    }
    /// Whether a byte takes a whole number of picoseconds at the nominal rate, so that nothing was
    /// rounded.
    pub const fn is_exact(self) -> bool {
        8_000_000_000_000_u64.is_multiple_of(self.bits_per_second)
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
            assert_eq!((rate.byte_time(), rate.is_exact()), (ByteTime::from_ps(ps), true));
        }
        for (gbps, ps) in [(400, 20.0), (800, 10.0)] {
            assert_eq!(Rate::from_bits_per_second(gbps * 1_000_000_000).unwrap().ps_per_byte(), ps);
        }
    }

    #[test]
    fn a_rate_that_does_not_divide_rounds_to_the_slower_side() {
        // 8e12 / 3e9 = 2666.67 ps per byte.
        let rate = Rate::from_bits_per_second(3_000_000_000).unwrap();
        assert_eq!((rate.ps_per_byte(), rate.is_exact()), (2667.0, false));
    }

    /// A clock that is 300 ppm slow makes a byte at 100 Gbps last 80 / 0.9997 = 80.0240072 ps. 1,500
    /// bytes take 120,036.0108 ps.
    #[test]
    fn a_slow_clock_stretches_every_byte() {
        let exact = Rate::from_bits_per_second(100_000_000_000).unwrap();
        let slow = exact.by_clock(Clock::off_by_ppb(-300_000));
        assert!((slow.ps_per_byte() - 80.024_007_2).abs() < 1e-6, "{}", slow.ps_per_byte());
        assert_eq!(slow.time_of(1_500), Time::from_ps(120_036));
        assert_eq!((slow.bits_per_second(), slow.nominal()), (100_000_000_000, exact));
        assert!(exact.by_clock(Clock::off_by_ppb(100_000)).ps_per_byte() < 80.0);
        assert_eq!(exact.by_clock(Clock::off_by_ppb(0)), exact);
        // By that clock a second is 1 / 0.9997 of a second long.
        let second = slow.clock().stretch(Time::from_ms(1_000));
        assert!(second.ps().abs_diff(1_000_300_090_027) < 1_000, "{second}");
        assert_eq!(slow.clock().ppb().round(), -300_000.0);
    }

    /// A byte of a picosecond and a quarter: packets of one byte end after the whole picoseconds of
    /// 1.25, 2.5, 3.75, 5 and 6.25 ps.
    #[test]
    fn packets_share_what_is_left_of_a_picosecond() {
        let byte = ByteTime(ByteTime::FRACTIONS * 5 / 4);
        let lasts = |before| byte.time_behind(before, 1).ps();
        assert_eq!([0, 1, 2, 3, 4].map(lasts), [1, 1, 1, 2, 1]);
        let ps = Time::from_ps;
        assert_eq!((byte.time_of(4), byte.time_of(5)), (ps(5), ps(6)));
        assert_eq!((byte.bytes_in(ps(6)), byte.bytes_begun_in(ps(6))), (4, 5));
        assert_eq!((byte.bytes_in(ps(5)), byte.bytes_begun_in(ps(5))), (4, 4));
        // Six picoseconds are four bytes and one picosecond.
        assert_eq!(byte.beyond_bytes(ps(6)), ps(1));
        assert_eq!(byte.saturating_time_of(u64::MAX), Time::MAX);
    }

    /// Also after more bytes than the fractions can count, and on lines as slow as can be.
    #[test]
    fn times_of_packets_add_up() {
        for byte in [ByteTime(ByteTime::FRACTIONS * 100 / 3), ByteTime((1 << 60) - 1)] {
            let mut sent = u64::from(u32::MAX) * 1_000;
            let begin = sent;
            let mut lasted = 0;
            for bytes in (0..1_000).map(|n| 64 + n * 7) {
                lasted += byte.time_behind(sent, bytes).ps();
                sent += bytes;
            }
            let exact = |bytes: u64| (u128::from(byte.0) * u128::from(bytes)) >> ByteTime::BITS;
            assert_eq!(u128::from(lasted), exact(sent) - exact(begin));
        }
    }

    #[test]
    fn at_whole_picoseconds_nothing_is_left() {
        assert_eq!(ByteTime::from_ps(80).time_behind(12_345, 1_500), Time::from_ps(120_000));
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

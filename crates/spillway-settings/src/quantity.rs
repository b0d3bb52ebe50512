//! Quantities as people write them: `"10Gbps"`, `"25.2us"`, `"5.12KB/port/Gbps"`, `"65pkt"`.
//!
//! `KB` is 1000 bytes and `KiB` 1024. Decimals are exact: no float is involved. Values are bounded.
//! So a few of them can be added without overflow, and floats represent sizes exactly.

use crate::takes::{Form, Takes};
use spillway_engine::{Rate, Time};
use std::fmt;

/// The longest time.
pub const LONGEST: Time = Time::from_ps(u64::MAX / 4);
/// The most bytes.
pub const MOST_BYTES: u64 = 1 << 53;
/// The most packets: with 64 KiB each, they have no more than the most bytes.
pub const MOST_PACKETS: u64 = 1 << 37;
/// The most bytes for every Gbps of a port.
const MOST_PER_GBPS: u64 = 1_000_000_000;

/// A positive decimal number times a unit, still exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    mantissa: u128,
    /// Ten to the power of the number of decimals.
    divisor: u128,
}

impl Decimal {
    /// `self * factor`, rounded to the nearest integer; `None` if it does not fit.
    pub fn times(self, factor: u64) -> Option<u64> {
        let product = self.mantissa.checked_mul(u128::from(factor))?;
        u64::try_from(product.checked_add(self.divisor / 2)? / self.divisor).ok()
    }

    /// As a float, for a share or a ratio.
    pub fn to_f64(self) -> f64 {
        self.mantissa as f64 / self.divisor as f64
    }

    fn scaled(self, unit: u128) -> Option<Decimal> {
        Some(Decimal { mantissa: self.mantissa.checked_mul(unit)?, divisor: self.divisor })
    }
}

pub(crate) const SIZES: &[(&str, u128)] = &[
    ("B", 1),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
];
pub(crate) const PACKETS: &[(&str, u128)] = &[("pkt", 1)];
pub(crate) const TIMES: &[(&str, u128)] =
    &[("ps", 1), ("ns", 1_000), ("us", 1_000_000), ("ms", 1_000_000_000), ("s", 1_000_000_000_000)];
pub(crate) const RATES: &[(&str, u128)] = &[
    ("bps", 1),
    ("Kbps", 1_000),
    ("Mbps", 1_000_000),
    ("Gbps", 1_000_000_000),
    ("Tbps", 1_000_000_000_000),
];

/// Splits a number from its unit: `"5.12KB"` is 5.12 and `KB`.
fn split(text: &str) -> Option<(Decimal, &str)> {
    let text = text.trim();
    let end =
        text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = (text[..end].replace('_', ""), text[end..].trim());
    let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
    if whole.is_empty() || fraction.contains('.') || fraction.len() > 18 {
        return None;
    }
    let mantissa = format!("{whole}{fraction}").parse().ok()?;
    Some((Decimal { mantissa, divisor: 10u128.pow(fraction.len() as u32) }, unit))
}

fn with_units(text: &str, units: &[(&str, u128)]) -> Option<u64> {
    let (number, unit) = split(text)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit)?;
    number.scaled(*factor)?.times(1)
}

/// A span of time: `"25.2us"`.
pub fn time(text: &str) -> Option<Time> {
    with_units(text, TIMES).map(Time::from_ps).filter(|&time| time <= LONGEST)
}

/// A line's rate: `"10Gbps"`.
pub fn rate(text: &str) -> Option<Rate> {
    Rate::from_bits_per_second(with_units(text, RATES)?)
}

/// A number of bytes: `"1448B"`, `"4MB"`.
pub fn size(text: &str) -> Option<u64> {
    with_units(text, SIZES).filter(|&bytes| bytes <= MOST_BYTES)
}

/// A number of packets: `"65pkt"`.
fn packets(text: &str) -> Option<u64> {
    with_units(text, PACKETS).filter(|&packets| packets <= MOST_PACKETS)
}

/// Why a quantity with a valid number and unit is refused: it exceeds the maximum.
pub fn excess(text: &str) -> Option<&'static str> {
    let (_, unit) = split(text)?;
    let has_unit_of = |units: &[(&str, u128)]| units.iter().any(|(name, _)| *name == unit);
    if has_unit_of(TIMES) && time(text).is_none() {
        Some("is more than 53 days")
    } else if has_unit_of(SIZES) && size(text).is_none() {
        Some("is more than 2^53 bytes")
    } else if has_unit_of(PACKETS) && packets(text).is_none() {
        Some("is more than 2^37 packets")
    } else {
        None
    }
}

/// A share: `"50%"` is 0.5.
pub fn share(text: &str) -> Option<f64> {
    let (number, unit) = split(text)?;
    (unit == "%").then(|| number.to_f64() / 100.0)
}

/// The size of a switch's buffer, which may depend on its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferSize {
    /// Never full.
    Unlimited,
    /// A number of bytes.
    Bytes(u64),
    /// A number of bytes for every Gbps of every port.
    PerPortPerGbps(Decimal),
}

impl BufferSize {
    /// `"1MB"`, `"5.12KB/port/Gbps"` or `"unlimited"`, above 0.
    pub fn parse(text: &str) -> Option<BufferSize> {
        if text == "unlimited" {
            return Some(BufferSize::Unlimited);
        }
        let Some(per) = text.strip_suffix("/port/Gbps") else {
            return size(text).filter(|&bytes| bytes > 0).map(BufferSize::Bytes);
        };
        let (number, unit) = split(per)?;
        let (_, factor) = SIZES.iter().find(|(name, _)| *name == unit)?;
        let each = number.scaled(*factor)?;
        let is_within = each.mantissa > 0 && each.times(1)? <= MOST_PER_GBPS;
        is_within.then_some(BufferSize::PerPortPerGbps(each))
    }

    /// The bytes for a switch whose ports have these rates; `None` if unlimited.
    pub fn bytes(self, port_rates: impl Iterator<Item = Rate>) -> Option<u64> {
        match self {
            BufferSize::Unlimited => None,
            BufferSize::Bytes(bytes) => Some(bytes),
            BufferSize::PerPortPerGbps(each) => {
                let bits_per_second: u128 =
                    port_rates.map(|rate| u128::from(rate.bits_per_second())).sum();
                let (whole, part) = (each.mantissa / each.divisor, each.mantissa % each.divisor);
                let product = whole * bits_per_second + part * bits_per_second / each.divisor;
                Some((product / 1_000_000_000) as u64)
            }
        }
    }
}

/// A part of a switch's buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BufferPart {
    /// A number of bytes.
    Bytes(u64),
    /// A share of the buffer.
    Share(f64),
}

impl BufferPart {
    /// `"800KB"` or `"20%"`.
    pub fn parse(text: &str) -> Option<BufferPart> {
        share(text).map(BufferPart::Share).or_else(|| size(text).map(BufferPart::Bytes))
    }

    /// Its bytes in a buffer of `capacity` bytes.
    pub fn bytes(self, capacity: u64) -> u64 {
        match self {
            BufferPart::Bytes(bytes) => bytes,
            BufferPart::Share(share) => (share * capacity as f64).round() as u64,
        }
    }
}

/// A length of a queue or a window: packets, bytes, or no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// No limit.
    Unlimited,
    /// Bytes on the wire.
    Bytes(u64),
    /// Full packets.
    Packets(u64),
}

impl Amount {
    /// `"65pkt"`, `"100KB"` or `"unlimited"`.
    pub fn parse(text: &str) -> Option<Amount> {
        if text == "unlimited" {
            return Some(Amount::Unlimited);
        }
        match packets(text) {
            Some(packets) => Some(Amount::Packets(packets)),
            None => size(text).map(Amount::Bytes),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Amount::Unlimited => f.write_str("unlimited"),
            Amount::Bytes(bytes) => write!(f, "{bytes}B"),
            Amount::Packets(packets) => write!(f, "{packets}pkt"),
        }
    }
}

/// A size that may be a multiple of the bandwidth-delay product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BdpSize {
    /// Bytes.
    Bytes(u64),
    /// A multiple of the rate of the sender's line times the base RTT.
    Bdp(Decimal),
}

impl BdpSize {
    /// `"1bdp"` or `"30KB"`.
    pub fn parse(text: &str) -> Option<BdpSize> {
        match split(text) {
            Some((number, "bdp")) => Some(BdpSize::Bdp(number)),
            _ => size(text).map(BdpSize::Bytes),
        }
    }

    /// Whether it is nothing, on any line.
    pub fn is_zero(&self) -> bool {
        match self {
            BdpSize::Bytes(bytes) => *bytes == 0,
            BdpSize::Bdp(times) => times.mantissa == 0,
        }
    }

    /// The bytes for a sender's line and a base RTT.
    pub fn bytes(self, rate: Rate, base_rtt: Time) -> u64 {
        match self {
            BdpSize::Bytes(bytes) => bytes,
            BdpSize::Bdp(times) => {
                times.times(rate.nominal().bytes_in(base_rtt)).unwrap_or(MOST_BYTES).min(MOST_BYTES)
            }
        }
    }
}

/// A time that may be a multiple of the base RTT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RttTime {
    /// A span of time.
    Time(Time),
    /// A multiple of the base RTT.
    Rtt(Decimal),
}

impl RttTime {
    /// What a key for such a time accepts.
    pub fn takes() -> Takes {
        let takes =
            "a time above 0 such as \"45us\", or a multiple of the base RTT such as \"3rtt\"";
        Takes::new(takes, [RttTime::form()])
    }

    /// The form of such a time.
    pub fn form() -> Form {
        Form::time().or_in("rtt").positive()
    }

    /// `"45us"` or `"3rtt"`, above 0.
    pub fn parse(text: &str) -> Option<RttTime> {
        match split(text) {
            Some((number, "rtt")) => (number.mantissa > 0).then_some(RttTime::Rtt(number)),
            _ => time(text).filter(|&time| time > Time::ZERO).map(RttTime::Time),
        }
    }

    /// The time for a base RTT, a picosecond at least.
    pub fn of(self, base_rtt: Time) -> Time {
        match self {
            RttTime::Time(time) => time,
            RttTime::Rtt(times) => {
                let ps = times.times(base_rtt.ps()).unwrap_or(u64::MAX);
                Time::from_ps(ps.max(1)).min(LONGEST)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_may_be_a_multiple_of_the_base_rtt() {
        let of = |text| RttTime::parse(text).map(|time| time.of(Time::from_ns(14_600)));
        assert_eq!(of("45us"), Some(Time::from_us(45)));
        assert_eq!(of("3rtt"), Some(Time::from_ns(43_800)));
        assert_eq!(of("0.5rtt"), Some(Time::from_ns(7_300)));
        assert_eq!((of("0us"), of("0rtt"), of("rtt"), of("3bdp")), (None, None, None, None));
        assert_eq!(of("9e9rtt"), None);
        assert_eq!(of("99999999999999999999rtt"), Some(LONGEST));
    }

    #[test]
    fn quantities_are_exact() {
        assert_eq!(time("25.2us"), Some(Time::from_ns(25_200)));
        assert_eq!(time("0us"), Some(Time::ZERO));
        assert_eq!(rate("10Gbps").map(Rate::ps_per_byte), Some(800.0));
        assert_eq!((size("5.12KB"), size("4MiB")), (Some(5_120), Some(4 << 20)));
        assert_eq!(share("37.5%"), Some(0.375));
    }

    #[test]
    fn a_number_without_its_unit_is_refused() {
        for text in ["3", "us", "-3us", "3 apples", "1.2.3us", "", "1e3us"] {
            assert_eq!(time(text), None, "{text}");
        }
    }

    #[test]
    fn a_buffer_grows_with_the_ports() {
        // 5.12 KB * 20 ports * 10 Gbps = 1,024,000 B; 5.14 KiB * 200 = 1,052,672 B.
        let ports = || std::iter::repeat_n(rate("10Gbps").unwrap(), 20);
        let bytes = |text| BufferSize::parse(text).unwrap().bytes(ports());
        assert_eq!(bytes("5.12KB/port/Gbps"), Some(1_024_000));
        assert_eq!(bytes("5.14KiB/port/Gbps"), Some(1_052_672));
        assert_eq!((bytes("4MB"), bytes("unlimited")), (Some(4_000_000), None));
    }

    #[test]
    fn what_can_be_written_is_bounded() {
        // 2^62 ps are 4,611,686.018427387904 s; 2^53 B 9,007,199.254740992 GB.
        assert_eq!(time("4611686.018427387903s"), Some(LONGEST));
        assert_eq!(size("9007199.254740992GB"), Some(MOST_BYTES));
        assert_eq!(Amount::parse("137438953472pkt"), Some(Amount::Packets(MOST_PACKETS)));
        for (text, expected) in [
            ("4611686.018427387904s", Some("is more than 53 days")),
            ("99999999999999999999999s", Some("is more than 53 days")),
            ("9007199254740993B", Some("is more than 2^53 bytes")),
            ("18446744073709551615B", Some("is more than 2^53 bytes")),
            ("137438953473pkt", Some("is more than 2^37 packets")),
            ("1us", None),
            ("3 apples", None),
        ] {
            assert_eq!(excess(text), expected, "{text}");
            let is_read = time(text).is_some() || Amount::parse(text).is_some();
            assert_eq!(is_read, text == "1us", "{text}");
        }
    }

    #[test]
    fn the_largest_buffer_per_port_does_not_overflow() {
        // 1 GB * 1,000,000 ports * 8000 Gbps = 8e18 B.
        let ports = || std::iter::repeat_n(rate("8Tbps").unwrap(), 1_000_000);
        let bytes = |text| BufferSize::parse(text).map(|buffer| buffer.bytes(ports()));
        assert_eq!(bytes("1GB/port/Gbps"), Some(Some(8_000_000_000_000_000_000)));
        let nearly = bytes("0.999999999999999999GB/port/Gbps");
        assert_eq!(nearly, Some(Some(7_999_999_999_999_999_992)));
        assert_eq!(
            (bytes("2GB/port/Gbps"), bytes("0B/port/Gbps"), bytes("0MB")),
            (None, None, None)
        );
    }

    #[test]
    fn a_part_of_a_buffer_is_rounded_to_the_nearest_byte() {
        let bytes = |text| BufferPart::parse(text).map(|part| part.bytes(1_001));
        assert_eq!(
            (bytes("800KB"), bytes("50%"), bytes("33%")),
            (Some(800_000), Some(501), Some(330))
        );
        assert_eq!(bytes("half"), None);
    }

    #[test]
    fn a_bdp_is_rate_times_base_rtt() {
        // 10 Gbps * 25.2 us = 31,500 B.
        let rate = rate("10Gbps").unwrap();
        let bytes = |text| BdpSize::parse(text).unwrap().bytes(rate, Time::from_ns(25_200));
        assert_eq!((bytes("1bdp"), bytes("1.5bdp"), bytes("9KB")), (31_500, 47_250, 9_000));
    }
}

//! What a key takes: told to people as text, and to programs by kind.

use crate::quantity::{PACKETS, RATES, SIZES, TIMES};
use crate::section::Range;
use std::fmt;

/// What a key takes.
#[derive(Clone, Debug, PartialEq)]
pub enum Takes {
    /// A time with its unit.
    Time {
        /// Whether it must be above 0.
        positive: bool,
    },
    /// A line's rate.
    Rate,
    /// A number of bytes.
    Size {
        /// Whether it must be above 0.
        positive: bool,
    },
    /// Packets or bytes, or unlimited.
    Amount,
    /// A switch's buffer.
    Buffer,
    /// Bytes, or a multiple of the bandwidth-delay product.
    BdpSize,
    /// A number.
    Number(Range),
    /// A number, or a list of numbers.
    Numbers(Range),
    /// A whole number, both ends included.
    Integer {
        /// The least.
        least: u64,
        /// The greatest.
        most: u64,
    },
    /// True or false.
    Flag,
    /// One of these names.
    Choice(Vec<String>),
    /// One of these names, or a table with `kind` and parameters.
    Policy(Vec<String>),
    /// What the text says.
    Other(String),
}

impl Takes {
    /// Its name for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Takes::Time { .. } => "time",
            Takes::Rate => "rate",
            Takes::Size { .. } => "size",
            Takes::Amount => "amount",
            Takes::Buffer => "buffer",
            Takes::BdpSize => "bdp-size",
            Takes::Number(_) => "number",
            Takes::Numbers(_) => "numbers",
            Takes::Integer { .. } => "integer",
            Takes::Flag => "flag",
            Takes::Choice(_) => "choice",
            Takes::Policy(_) => "policy",
            Takes::Other(_) => "other",
        }
    }

    /// The names among which it chooses; none if it takes something else.
    pub fn choices(&self) -> &[String] {
        match self {
            Takes::Choice(names) | Takes::Policy(names) => names,
            _ => &[],
        }
    }

    /// The units of which one must follow the number, if it takes a quantity.
    pub fn units(&self) -> Vec<&'static str> {
        let of = |units: &'static [(&'static str, u128)]| units.iter().map(|(unit, _)| *unit);
        match self {
            Takes::Time { .. } => of(TIMES).collect(),
            Takes::Rate => of(RATES).collect(),
            Takes::Size { .. } | Takes::Buffer => of(SIZES).collect(),
            Takes::Amount => of(PACKETS).chain(of(SIZES)).collect(),
            Takes::BdpSize => of(SIZES).chain(["bdp"]).collect(),
            _ => Vec::new(),
        }
    }

    /// The least and the greatest number, if it takes numbers, and whether they are allowed
    /// themselves. Lengths of time and sizes have none.
    pub fn bounds(&self) -> Option<[(f64, bool); 2]> {
        match *self {
            Takes::Number(range) | Takes::Numbers(range) => Some(range.bounds()),
            Takes::Integer { least, most } => Some([(least as f64, true), (most as f64, true)]),
            _ => None,
        }
    }
}

impl From<&str> for Takes {
    fn from(text: &str) -> Takes {
        Takes::Other(text.into())
    }
}

impl From<String> for Takes {
    fn from(text: String) -> Takes {
        Takes::Other(text)
    }
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Takes::Time { positive: false } => f.write_str("a time such as \"25.2us\""),
            Takes::Time { positive: true } => f.write_str("a time above 0, such as \"25.2us\""),
            Takes::Rate => f.write_str("a rate from 8bps to 8Tbps, such as \"10Gbps\""),
            Takes::Size { positive: false } => f.write_str("a size such as \"1500B\" or \"4MB\""),
            Takes::Size { positive: true } => {
                f.write_str("a size above 0, such as \"1500B\" or \"4MB\"")
            }
            Takes::Amount => {
                f.write_str("a length such as \"65pkt\" or \"100KB\", or \"unlimited\"")
            }
            Takes::Buffer => f.write_str(
                "a size above 0, such as \"1MB\" or \"5.12KB/port/Gbps\", or \"unlimited\"",
            ),
            Takes::BdpSize => f.write_str("a size such as \"30KB\" or \"1bdp\""),
            Takes::Number(range) => write!(f, "a number in {range}"),
            Takes::Numbers(range) => write!(f, "a number in {range}, or a list of them"),
            Takes::Integer { least, most: u64::MAX } => {
                write!(f, "a whole number, at least {least}")
            }
            Takes::Integer { least, most } => write!(f, "a whole number from {least} to {most}"),
            Takes::Flag => f.write_str("true or false"),
            Takes::Choice(names) => {
                let quoted: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
                f.write_str(&quoted.join(" or "))
            }
            Takes::Policy(names) => {
                write!(f, "one of {}, or a table with `kind` and parameters", names.join(", "))
            }
            Takes::Other(text) => f.write_str(text),
        }
    }
}

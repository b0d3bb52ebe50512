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
    /// A number, a list of numbers, or a table of them.
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
    /// What the text says to people, in any of these forms.
    Other(String, Vec<Form>),
}

/// A form of values. A key's values have one of its forms; what else holds of them is told to people
/// only.
#[derive(Clone, Debug, PartialEq)]
pub enum Form {
    /// True or false.
    Flag,
    /// A line of text that is not blank.
    Text,
    /// This text.
    Word(String),
    /// A text that is matched by a regular expression without anchors.
    Pattern(&'static str),
    /// A text: a number, and one of these units.
    Quantity {
        /// The units.
        units: Vec<String>,
        /// Whether the number must be above 0.
        positive: bool,
    },
    /// A number.
    Number(Range),
    /// A whole number, both ends included.
    Integer {
        /// The least.
        least: u64,
        /// The greatest.
        most: u64,
    },
    /// A list.
    List {
        /// The forms of its items.
        of: Vec<Form>,
        /// How many it has at least.
        least: usize,
        /// How many it has at most.
        most: usize,
    },
    /// A table.
    Table,
}

impl Form {
    /// Two ends and dots between them, such as `"0..15"`.
    pub const RANGE: Form = Form::Pattern(r".*\.\..*");
    /// A number by which something is named.
    pub const INDEX: Form = Form::Integer { least: 0, most: u64::MAX };

    /// A time with its unit.
    pub fn time() -> Form {
        Form::of(TIMES)
    }

    /// A rate with its unit.
    pub fn rate() -> Form {
        Form::of(RATES)
    }

    /// A number of bytes with its unit.
    pub fn size() -> Form {
        Form::of(SIZES)
    }

    /// This text.
    pub fn word(text: &str) -> Form {
        Form::Word(text.into())
    }

    /// A list that is not empty.
    pub fn list(of: impl Into<Vec<Form>>) -> Form {
        Form::List { of: of.into(), least: 1, most: usize::MAX }
    }

    /// The quantity, which may have this unit, too.
    ///
    /// # Panics
    /// If it is no quantity.
    pub fn or_in(mut self, unit: &str) -> Form {
        let Form::Quantity { units, .. } = &mut self else { panic!("{self:?} has no units") };
        units.push(unit.into());
        self
    }

    /// The quantity, if it is above 0.
    ///
    /// # Panics
    /// If it is no quantity.
    pub fn positive(mut self) -> Form {
        let Form::Quantity { positive, .. } = &mut self else { panic!("{self:?} has no units") };
        *positive = true;
        self
    }

    /// A number with one of these units.
    pub fn quantity(units: &[&str]) -> Form {
        Form::Quantity { units: units.iter().map(|unit| (*unit).into()).collect(), positive: false }
    }

    fn of(units: &[(&str, u128)]) -> Form {
        let units: Vec<&str> = units.iter().map(|(unit, _)| *unit).collect();
        Form::quantity(&units)
    }
}

impl Takes {
    /// What only a text tells to people, and its forms.
    pub fn new(text: impl Into<String>, forms: impl Into<Vec<Form>>) -> Takes {
        Takes::Other(text.into(), forms.into())
    }

    /// The forms of its values.
    pub fn forms(&self) -> Vec<Form> {
        let quantity = |form: Form, positive| if positive { form.positive() } else { form };
        let words = |names: &[String]| names.iter().cloned().map(Form::Word).collect();
        match self {
            Takes::Time { positive } => vec![quantity(Form::time(), *positive)],
            Takes::Rate => vec![Form::rate().positive()],
            Takes::Size { positive } => vec![quantity(Form::size(), *positive)],
            Takes::Amount => {
                vec![Form::of(&[PACKETS, SIZES].concat()), Form::word("unlimited")]
            }
            Takes::Buffer => {
                let sizes = Form::size().positive();
                let per_port = SIZES.iter().map(|(unit, _)| format!("{unit}/port/Gbps"));
                vec![per_port.fold(sizes, |all, unit| all.or_in(&unit)), Form::word("unlimited")]
            }
            Takes::BdpSize => vec![Form::size().or_in("bdp")],
            Takes::Number(range) => vec![Form::Number(*range)],
            Takes::Numbers(range) => {
                vec![Form::Number(*range), Form::list([Form::Number(*range)]), Form::Table]
            }
            Takes::Integer { least, most } => vec![Form::Integer { least: *least, most: *most }],
            Takes::Flag => vec![Form::Flag],
            Takes::Choice(names) => words(names),
            Takes::Policy(names) => [words(names), vec![Form::Table]].concat(),
            Takes::Other(_, forms) => forms.clone(),
        }
    }

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
            Takes::Other(..) if !self.choices().is_empty() => "choice",
            Takes::Other(..) => "other",
        }
    }

    /// The names among which it chooses; none if it takes something else.
    pub fn choices(&self) -> Vec<String> {
        match self {
            Takes::Choice(names) | Takes::Policy(names) => names.clone(),
            Takes::Other(_, forms) => {
                let name = |form: &Form| match form {
                    Form::Word(name) => Some(name.clone()),
                    _ => None,
                };
                forms.iter().map(name).collect::<Option<_>>().unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    /// The units of which one must follow the number, if it takes nothing but a quantity.
    pub fn units(&self) -> Vec<String> {
        match self.forms().as_slice() {
            [Form::Quantity { units, .. }, rest @ ..]
                if rest.iter().all(|form| matches!(form, Form::Word(_))) =>
            {
                units.clone()
            }
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
            Takes::Numbers(range) => {
                write!(
                    f,
                    "a number in {range}, a list of them, or a table such as {{ acks = 64, data = 0.5 }}"
                )
            }
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
            Takes::Other(text, _) => f.write_str(text),
        }
    }
}

//! How many hosts answer a query, and with how many bytes.

use crate::Context;
use crate::sizes::Sizes;
use spillway_engine::Stream;
use spillway_settings::quantity::{BufferPart, MOST_BYTES};
use spillway_settings::{Section, SettingsError, Value};

/// The number of hosts that answer a query: a range in which all numbers are equally likely.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FanIn {
    /// The least number.
    pub fewest: u32,
    /// The greatest number.
    pub most: u32,
}

/// The sizes of the answers to a query.
#[derive(Clone, Debug, PartialEq)]
pub enum AnswerSizes {
    /// The senders share this many bytes equally.
    Shared(u64),
    /// Each answer has a size of its own.
    Drawn(Sizes),
}

impl FanIn {
    /// Reads a fan-in as scenarios write it.
    pub fn parse(value: &Value) -> Option<FanIn> {
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|&number| number > 0);
        let (fewest, most) = match value {
            Value::String(text) => {
                let (fewest, most) = text.split_once("..")?;
                (number(fewest)?, number(most)?)
            }
            one => {
                let one = u32::try_from(one.as_integer()?).ok().filter(|&number| number > 0)?;
                (one, one)
            }
        };
        (fewest <= most).then_some(FanIn { fewest, most })
    }

    /// The average.
    pub fn mean(self) -> f64 {
        (f64::from(self.fewest) + f64::from(self.most)) / 2.0
    }

    /// Draws the fan-in of the next query. Nothing is drawn if only one value is possible.
    pub fn draw(self, stream: &mut Stream) -> usize {
        match self.most - self.fewest {
            0 => self.most as usize,
            more => self.fewest as usize + stream.below(u64::from(more) + 1) as usize,
        }
    }
}

impl AnswerSizes {
    /// The sizes of answers to this receiver if at most `most` senders share a burst.
    pub fn shared(
        burst: BufferPart,
        section: &Section,
        context: &Context,
        receiver: u32,
        most: usize,
    ) -> Result<AnswerSizes, SettingsError> {
        let buffer = (context.leaf_buffer_bytes)(context.topology.rack_of(receiver));
        let bytes = match (burst, buffer) {
            (BufferPart::Share(_), None) => {
                let problem = "a share of an unlimited buffer; expected bytes";
                return Err(section.conflict("burst", problem));
            }
            (burst, buffer) => burst.bytes(buffer.unwrap_or_default()),
        };
        if bytes > MOST_BYTES {
            return Err(section.conflict("burst", format!("{bytes} bytes are more than 2^53")));
        }
        match bytes / most as u64 {
            0 => Err(section.conflict("burst", format!("{bytes} bytes for {most} senders"))),
            _ => Ok(AnswerSizes::Shared(bytes)),
        }
    }

    /// The average bytes of a query, over all fan-ins.
    pub fn mean(&self, fan_in: FanIn) -> f64 {
        match self {
            AnswerSizes::Drawn(sizes) => fan_in.mean() * sizes.mean(),
            AnswerSizes::Shared(bytes) => {
                let fan_ins = u64::from(fan_in.fewest)..=u64::from(fan_in.most);
                let number = fan_ins.clone().count() as f64;
                fan_ins.map(|n| (bytes / n * n) as f64).sum::<f64>() / number
            }
        }
    }

    /// The average packets of a query with at most `mss` bytes each, over all fan-ins.
    pub fn mean_packets(&self, fan_in: FanIn, mss: u32) -> f64 {
        match self {
            AnswerSizes::Drawn(sizes) => fan_in.mean() * sizes.mean_packets(mss),
            AnswerSizes::Shared(bytes) => {
                let fan_ins = u64::from(fan_in.fewest)..=u64::from(fan_in.most);
                let number = fan_ins.clone().count() as f64;
                let packets = |n: u64| ((bytes / n).div_ceil(u64::from(mss)) * n) as f64;
                fan_ins.map(packets).sum::<f64>() / number
            }
        }
    }

    /// The size of the largest answer.
    pub fn largest(&self, fan_in: FanIn) -> u64 {
        match self {
            AnswerSizes::Shared(bytes) => bytes / u64::from(fan_in.fewest),
            AnswerSizes::Drawn(sizes) => sizes.largest(),
        }
    }

    /// Draws the size of the next answer, one of `fan_in` in its query.
    pub fn draw(&self, fan_in: usize, stream: &mut Stream) -> u64 {
        match self {
            AnswerSizes::Shared(bytes) => bytes / fan_in as u64,
            AnswerSizes::Drawn(sizes) => sizes.draw(stream),
        }
    }
}

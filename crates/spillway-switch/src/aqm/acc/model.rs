//! The file of a trained agent.
//!
//! [safetensors](https://github.com/huggingface/safetensors), version 1 of our layout. The metadata
//! has `format` (`spillway-acc`), `version` (`1`), `crc32` (as forests have it), `interval_ps` (the
//! time between decisions in training), `history` (how many intervals the agent sees), and whatever
//! else the trainer tells of where it comes from.
//!
//! | array | type, shape | |
//! | --- | --- | --- |
//! | `ranges` | f64, 6 | by what each of the six numbers of an interval is divided |
//! | `actions` | f64, actions x 3 | `min` and `max` in bytes, `max_probability` |
//! | `layer0.weight`, `layer1.weight` ... | f32, outputs x inputs | the first has 6 x `history` inputs |
//! | `layer0.bias`, `layer1.bias` ... | f32, outputs | the last has an output for every action |

use super::network::{Layer, Network};
use safetensors::{Dtype, SafeTensors};
use spillway_engine::Time;
use spillway_forest::checksum;
use spillway_settings::{ErrorKind, SettingsError};
use std::collections::BTreeMap;

const FORMAT: &str = "spillway-acc";
const VERSION: &str = "1";
/// Limits for a file. An agent decides at every queue, many times in a millisecond.
const MOST_BYTES: usize = 16 << 20;
const MOST_LAYERS: usize = 8;
const MOST_WIDTH: usize = 4096;
const MOST_ACTIONS: usize = 65_536;
const MOST_HISTORY: usize = 64;
/// Bytes of a queue that a file may name: whole numbers up to here are exact.
const MOST_QUEUE: f64 = (1_u64 << 53) as f64;

/// How many numbers describe an interval.
pub const FEATURES: usize = 6;

/// What was read, or why the file is no trained agent. Whoever has named the file knows the path.
type Result<T> = std::result::Result<T, SettingsError>;

fn refuse<T>(problem: impl Into<String>) -> Result<T> {
    Err(ErrorKind::File.at("", problem))
}

/// What an agent may choose: a line of RED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    /// In bytes, at least 1.
    pub min: u64,
    /// In bytes, at least `min`.
    pub max: u64,
    /// From 0 to 1.
    pub max_probability: f64,
}

/// A trained agent.
#[derive(Clone, Debug)]
pub struct Model {
    /// The time between its decisions in training.
    pub interval: Time,
    /// How many intervals it sees.
    pub history: usize,
    /// The divisors of the six numbers of an interval, above 0.
    pub ranges: [f64; FEATURES],
    /// What it may choose.
    pub actions: Vec<Action>,
    /// The network that chooses: the action with the greatest output.
    pub network: Network,
}

impl Model {
    /// Reads an agent from the bytes of a file.
    ///
    /// # Errors
    /// If it is damaged, too large, of another version or shape, or something else.
    pub fn read(bytes: &[u8]) -> Result<Model> {
        if bytes.len() > MOST_BYTES {
            return refuse(format!("it has {} bytes, more than 16 MiB", bytes.len()));
        }
        let file = File::read(bytes)?;
        let interval = file.whole("interval_ps", 1, i64::MAX as u64)?;
        let history = file.whole("history", 1, MOST_HISTORY as u64)? as usize;
        let ranges = file.doubles("ranges", &[Some(FEATURES)])?;
        let ranges = <[f64; FEATURES]>::try_from(ranges).expect("the shape was checked");
        if let Some(range) = ranges.iter().find(|&&range| range <= 0.0) {
            return refuse(format!("its range {range} is not above 0"));
        }
        let actions = file.actions()?;
        let network = file.network(FEATURES * history, actions.len())?;
        Ok(Model { interval: Time::from_ps(interval), history, ranges, actions, network })
    }
}

/// A file that is not damaged.
struct File<'a> {
    arrays: SafeTensors<'a>,
    metadata: BTreeMap<String, String>,
}

impl<'a> File<'a> {
    fn read(bytes: &'a [u8]) -> Result<File<'a>> {
        let unreadable = |error: safetensors::SafeTensorError| {
            ErrorKind::File.at("", format!("it is not a model file, or it is damaged: {error}"))
        };
        let (_, read) = SafeTensors::read_metadata(bytes).map_err(unreadable)?;
        let arrays = SafeTensors::deserialize(bytes).map_err(unreadable)?;
        let pairs = read.metadata().iter().flatten();
        let metadata = pairs.map(|(key, value)| (key.clone(), value.clone())).collect();
        let file = File { arrays, metadata };
        match file.told("format") {
            FORMAT => {}
            "spillway-forest" => return refuse("it is a forest, not an agent"),
            _ => return refuse(format!("its metadata has no format = {FORMAT:?}")),
        }
        let version = file.told("version");
        if version != VERSION {
            let text = format!("its version is {version}; this program reads version {VERSION}");
            return refuse(text);
        }
        match checksum(bytes) {
            Some((place, sum)) if bytes[place.clone()] == *sum.as_bytes() => Ok(file),
            Some((_, sum)) => {
                let told = file.told("crc32");
                refuse(format!("it is damaged: its checksum is {sum} and should be {told:?}"))
            }
            None => refuse("it is damaged: it has no checksum"),
        }
    }

    /// The value of a key in the metadata; empty if it is missing.
    fn told(&self, key: &str) -> &str {
        self.metadata.get(key).map_or("", String::as_str)
    }

    /// A whole number in the metadata.
    fn whole(&self, key: &str, least: u64, most: u64) -> Result<u64> {
        let told = self.told(key);
        let is_plain = told.len() < 20 && told.bytes().all(|byte| byte.is_ascii_digit());
        match told.parse() {
            Ok(number) if is_plain && (least..=most).contains(&number) => Ok(number),
            _ => refuse(format!(
                "its {key} is {told:?}; expected a whole number from {least} to {most}"
            )),
        }
    }

    /// The numbers of an array, all of them finite, and its shape. If `shape` is given, the array
    /// must have that shape.
    fn array<T: Copy + Into<f64>, const SIZE: usize>(
        &self,
        name: &str,
        dtype: Dtype,
        expected: &[Option<usize>],
        read: fn([u8; SIZE]) -> T,
    ) -> Result<(Vec<T>, Vec<usize>)> {
        let Ok(array) = self.arrays.tensor(name) else {
            return refuse(format!("it has no array {name:?}"));
        };
        if array.dtype() != dtype {
            return refuse(format!("its {name:?} is of {:?}, not {dtype:?}", array.dtype()));
        }
        let shape = array.shape();
        let is_right = shape.len() == expected.len()
            && shape
                .iter()
                .zip(expected)
                .all(|(&has, wanted)| has > 0 && wanted.is_none_or(|wanted| wanted == has));
        if !is_right {
            let wanted: Vec<String> = expected
                .iter()
                .map(|length| length.map_or("any number".into(), |length| length.to_string()))
                .collect();
            let wanted = wanted.join(" x ");
            return refuse(format!("its {name:?} has the shape {shape:?}; expected {wanted}"));
        }
        let (items, _) = array.data().as_chunks::<SIZE>();
        let numbers: Vec<T> = items.iter().map(|item| read(*item)).collect();
        match numbers.iter().find(|&&number| !number.into().is_finite()) {
            None => Ok((numbers, shape.to_vec())),
            Some(&number) => refuse(format!("its {name:?} has the number {}", number.into())),
        }
    }

    fn doubles(&self, name: &str, shape: &[Option<usize>]) -> Result<Vec<f64>> {
        Ok(self.array(name, Dtype::F64, shape, f64::from_le_bytes)?.0)
    }

    fn singles(&self, name: &str, shape: &[Option<usize>]) -> Result<(Vec<f32>, Vec<usize>)> {
        self.array(name, Dtype::F32, shape, f32::from_le_bytes)
    }

    fn actions(&self) -> Result<Vec<Action>> {
        let numbers = self.doubles("actions", &[None, Some(3)])?;
        let (rows, _) = numbers.as_chunks::<3>();
        if rows.len() > MOST_ACTIONS {
            return refuse(format!("it has {} actions, more than {MOST_ACTIONS}", rows.len()));
        }
        let action = |(number, &[min, max, max_probability]): (usize, &[f64; 3])| {
            let is_line = (1.0..=max).contains(&min)
                && max <= MOST_QUEUE
                && min.fract() == 0.0
                && max.fract() == 0.0
                && (0.0..=1.0).contains(&max_probability);
            if is_line {
                Ok(Action { min: min as u64, max: max as u64, max_probability })
            } else {
                refuse(format!(
                    "its action {number} is min = {min}, max = {max} bytes, max_probability = \
                     {max_probability}, which is no line"
                ))
            }
        };
        rows.iter().enumerate().map(action).collect()
    }

    fn network(&self, inputs: usize, outputs: usize) -> Result<Network> {
        let is_there =
            |number: &usize| self.arrays.tensor(&format!("layer{number}.weight")).is_ok();
        let count = (0..).take_while(is_there).count();
        let of_layers = self.arrays.names().iter().filter(|name| name.starts_with("layer")).count();
        if self.arrays.len() != of_layers + 2 {
            return refuse("it has other arrays than ranges, actions and those of layers");
        }
        if !(1..=MOST_LAYERS).contains(&count) || of_layers != 2 * count {
            return refuse(format!(
                "its layers must be layer0, layer1 and so on, 1 to {MOST_LAYERS}, each with weight and \
                 bias"
            ));
        }
        let mut inputs = inputs;
        let mut layers = Vec::with_capacity(count);
        for number in 0..count {
            let is_last = number + 1 == count;
            let expected = [is_last.then_some(outputs), Some(inputs)];
            let (weights, shape) = self.singles(&format!("layer{number}.weight"), &expected)?;
            if !is_last && shape[0] > MOST_WIDTH {
                let text = format!("its layer {number} has {} outputs", shape[0]);
                return refuse(format!("{text}, more than {MOST_WIDTH}"));
            }
            let (bias, _) = self.singles(&format!("layer{number}.bias"), &[Some(shape[0])])?;
            layers.push(Layer::new(bias, &weights));
            inputs = shape[0];
        }
        Ok(Network::new(layers))
    }
}

#[cfg(test)]
mod tests;

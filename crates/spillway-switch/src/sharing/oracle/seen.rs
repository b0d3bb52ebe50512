//! The range of a model's training data, as its file states it.

use super::features::MOST_FEATURES;
use crate::buffer::Buffer;
use crate::catalogue::Environment;
use spillway_forest::Forest;

/// What a model's file states about its training. Files of older versions state nothing.
#[derive(Clone, Debug)]
pub struct Seen {
    /// The ranges of the features.
    pub ranges: Option<Ranges>,
    /// The sizes of the switches' buffers, in bytes.
    buffers: Vec<u64>,
    /// The rates of their ports, in bits per second.
    rates: Vec<u64>,
}

/// The least and the greatest value of every feature. A feature without limits may have any value.
#[derive(Clone, Debug)]
pub struct Ranges {
    least: [f32; MOST_FEATURES],
    greatest: [f32; MOST_FEATURES],
}

impl Seen {
    /// Reads a file's metadata. An error tells what is wrong with them.
    pub fn of(forest: &Forest) -> Result<Seen, String> {
        let features = forest.features().len();
        let least = list::<f32>(forest, "least")?;
        let greatest = list::<f32>(forest, "greatest")?;
        let of_features = [least.len(), greatest.len()];
        if of_features != [0, 0] && of_features != [features; 2] {
            return Err(format!(
                "it has the ranges of {of_features:?} features, not of {features}"
            ));
        }
        let ranges = (!least.is_empty()).then(|| {
            let mut ranges = Ranges {
                least: [f32::NEG_INFINITY; MOST_FEATURES],
                greatest: [f32::INFINITY; MOST_FEATURES],
            };
            ranges.least[..features].copy_from_slice(&least);
            ranges.greatest[..features].copy_from_slice(&greatest);
            ranges
        });
        Ok(Seen { ranges, buffers: list(forest, "buffers")?, rates: list(forest, "rates")? })
    }

    /// How a switch differs from all switches that the model was trained on, if these are known.
    pub fn differs(&self, environment: &Environment) -> Option<String> {
        let mut texts = Vec::new();
        if !self.buffers.is_empty() && !self.buffers.contains(&environment.capacity) {
            let here = match environment.capacity {
                Buffer::UNLIMITED => "none that is ever full".into(),
                bytes => format!("{bytes} bytes"),
            };
            let there = self.buffers.iter().map(u64::to_string).collect::<Vec<_>>().join(" or ");
            texts.push(format!("buffers of {there} bytes, and here is {here}"));
        }
        let mut here: Vec<u64> =
            environment.port_rates.iter().map(|rate| rate.bits_per_second()).collect();
        here.sort_unstable();
        here.dedup();
        if !self.rates.is_empty() && here.iter().any(|rate| !self.rates.contains(rate)) {
            let (here, there) = (gbps(&here), gbps(&self.rates));
            texts.push(format!("lines of {there} Gbps, and here are {here} Gbps"));
        }
        let text = texts.join("; ");
        (!text.is_empty()).then(|| format!("it was trained where switches had {text}"))
    }
}

impl Ranges {
    /// Whether all values are within these ranges.
    #[inline]
    pub fn contain(&self, values: &[f32; MOST_FEATURES]) -> bool {
        let within = |place: usize| {
            self.least[place] <= values[place] && values[place] <= self.greatest[place]
        };
        (0..MOST_FEATURES).all(within)
    }
}

/// Reads numbers separated by commas; none if the file does not have the key.
fn list<T: std::str::FromStr>(forest: &Forest, key: &str) -> Result<Vec<T>, String> {
    let told = forest.metadata(key).unwrap_or_default();
    let parts = told.split(',').map(str::trim).filter(|part| !part.is_empty());
    let read = |part: &str| part.parse::<T>().map_err(|_| format!("its {key} are {told:?}"));
    parts.map(read).collect()
}

fn gbps(rates: &[u64]) -> String {
    let each = rates.iter().map(|&rate| format!("{}", rate as f64 * 1e-9));
    each.collect::<Vec<_>>().join(" and ")
}

//! How often receivers send queries.

use crate::racks::Racks;
use spillway_engine::Time;
use spillway_settings::{ErrorKind, Range, Section, SettingsError};
use spillway_topology::Topology;
use std::collections::BTreeSet;

/// When a receiver sends its queries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrivals {
    /// At random.
    Poisson {
        /// The average rate.
        queries_per_second: f64,
    },
    /// At regular times.
    Every(Time),
}

impl Arrivals {
    /// The average rate.
    pub fn per_second(self) -> f64 {
        match self {
            Arrivals::Poisson { queries_per_second } => queries_per_second,
            Arrivals::Every(interval) => 1.0 / interval.secs_f64(),
        }
    }
}

/// How often receivers send queries, as the section gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Frequency {
    /// Each receiver sends queries at this rate.
    Of(Arrivals),
    /// All receivers together offer this share of all uplinks.
    OfUplinks(f64),
    /// Each receiver offers this many bits per second.
    Each(f64),
    /// Each receiver offers this share of its own line.
    OfReceivers(f64),
}

const RATE: &str = "queries_per_host_per_s";

/// Makes a frequency from a load; which one depends on what the load is a share of.
type OfLoad = fn(f64) -> Frequency;

const LOAD_OF: [(&str, OfLoad); 2] =
    [("uplink", Frequency::OfUplinks), ("receiver", Frequency::OfReceivers)];

impl Frequency {
    /// Reads the keys that give it.
    pub fn read(section: &mut Section) -> Result<Frequency, SettingsError> {
        let meaning = "Queries of each receiver per second, at exponential gaps.";
        let rate = section.optional(RATE, |s| s.number(RATE, None, Range::Positive, meaning))?;
        let meaning = "Time between the queries of each receiver, instead of exponential gaps.";
        let interval =
            section.optional("interval", |s| s.positive_time("interval", "", meaning))?;
        let meaning = "The offered load in payload bytes, as a share of what `load_of` says, \
                       instead of a number of queries.";
        let load =
            section.optional("load", |s| s.number("load", None, Range::Positive, meaning))?;
        let meaning = "What the load is a share of: the uplinks of all leaves (the default), or \
                       the receivers' lines.";
        let of = section.optional("load_of", |s| s.choice("load_of", &LOAD_OF, meaning))?;
        if of.is_some() && load.is_none() {
            return Err(section.error(ErrorKind::UnusedKey, "load_of", "it needs `load`"));
        }
        match (rate, interval, load) {
            (Some(queries_per_second), None, None) => {
                Ok(Frequency::Of(Arrivals::Poisson { queries_per_second }))
            }
            (None, Some(interval), None) => Ok(Frequency::Of(Arrivals::Every(interval))),
            (None, None, Some(load)) => Ok(of.unwrap_or(Frequency::OfUplinks)(load)),
            (Some(_), Some(_), _) => {
                Err(section.conflict("interval", format!("not together with {RATE}")))
            }
            (Some(_), _, Some(_)) => {
                Err(section.conflict("load", format!("not together with {RATE}")))
            }
            (_, Some(_), Some(_)) => Err(section.conflict("load", "not together with interval")),
            (None, None, None) => Err(section.error(
                ErrorKind::MissingKey,
                RATE,
                "missing; expected this, `interval`, or `load`",
            )),
        }
    }

    /// This frequency, with a share of the uplinks divided among this many receivers.
    pub fn among(
        self,
        receivers: usize,
        topology: &Topology,
        racks: &Racks,
    ) -> Result<Frequency, String> {
        let Frequency::OfUplinks(load) = self else { return Ok(self) };
        let leaves = racks.hosts().iter().map(|&host| topology.rack_of(host));
        let leaves: BTreeSet<u32> = leaves.collect();
        let rates = leaves.into_iter().map(|leaf| topology.uplink_rate_of_leaf(leaf));
        match rates.sum::<u64>() {
            0 => Err("there are no uplinks; expected \"receiver\"".into()),
            uplinks => Ok(Frequency::Each(load * uplinks as f64 / receivers as f64)),
        }
    }

    /// The arrivals of a receiver's queries of `bits` bits on average.
    pub fn arrivals(self, topology: &Topology, receiver: u32, bits: f64) -> Arrivals {
        let bits_per_second = match self {
            Frequency::Of(arrivals) => return arrivals,
            Frequency::Each(bits_per_second) => bits_per_second,
            Frequency::OfUplinks(_) => unreachable!("it is divided first"),
            Frequency::OfReceivers(load) => {
                let line = topology.nics[receiver as usize];
                load * topology.lines[line as usize].rate.bits_per_second() as f64
            }
        };
        Arrivals::Poisson { queries_per_second: bits_per_second / bits }
    }
}

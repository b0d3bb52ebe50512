//! The features that a trained model uses.

use crate::averages::{Averages, Averaging};
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::Environment;
use spillway_engine::Time;
use spillway_forest::Forest;

/// A feature: one of the paper's four (section 3.4), or the arrival's queue class, which for tagged
/// packets is their level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Feature {
    Queue,
    AverageQueue,
    Occupancy,
    AverageOccupancy,
    QueueClass,
}

impl Feature {
    /// The names that models and traces use for the features.
    const NAMES: [(&str, Feature); 5] = [
        ("queue", Feature::Queue),
        ("average_queue", Feature::AverageQueue),
        ("occupancy", Feature::Occupancy),
        ("average_occupancy", Feature::AverageOccupancy),
        ("queue_class", Feature::QueueClass),
    ];
}

/// The most features that a model may use.
pub const MOST_FEATURES: usize = Feature::NAMES.len();

/// The features that a model names, and the form in which it expects them.
#[derive(Clone, Debug)]
pub struct FeaturesParams {
    features: Vec<Feature>,
    /// Whether lengths are shares of the buffer rather than bytes.
    are_shares: bool,
    averaging: Averaging,
}

impl FeaturesParams {
    /// The features of a model. An error tells what is wrong with the model.
    pub fn of_model(forest: &Forest) -> Result<FeaturesParams, String> {
        let known = |name: &String| {
            let found = Feature::NAMES.iter().find(|(known, _)| known == name);
            found.map(|&(_, feature)| feature).ok_or_else(|| {
                let names = Feature::NAMES.map(|(name, _)| name).join(", ");
                format!("it looks at {name:?}; known are {names}")
            })
        };
        let features: Vec<Feature> =
            forest.features().iter().map(known).collect::<Result<_, _>>()?;
        if features.len() > Feature::NAMES.len() {
            return Err(format!("it looks at {} features", features.len()));
        }
        let told = |key: &str| forest.metadata(key).unwrap_or_default();
        let are_shares = match told("units") {
            "fraction" => true,
            "bytes" => false,
            other => return Err(format!("its units are {other:?}, not \"fraction\" or \"bytes\"")),
        };
        let averaging = match told("average") {
            "time" => Averaging::Continuous,
            "code" => Averaging::AtDepartures,
            other => return Err(format!("its average is {other:?}, not \"time\" or \"code\"")),
        };
        Ok(FeaturesParams { features, are_shares, averaging })
    }

    /// Whether averages are among them.
    pub fn looks_back(&self) -> bool {
        let averaged = [Feature::AverageQueue, Feature::AverageOccupancy];
        self.features.iter().any(|feature| averaged.contains(feature))
    }

    /// How averages are taken.
    pub fn averaging(&self) -> Averaging {
        self.averaging
    }
}

/// The features of a model at one switch.
#[derive(Clone, Debug)]
pub struct Features {
    features: Vec<Feature>,
    /// Lengths are divided by this: the buffer's size, or 1.
    unit: f64,
    capacity: f64,
    /// Only if a model uses averages.
    averages: Option<Averages>,
    release_at_end: bool,
}

impl Features {
    /// The features at a switch at which nothing has arrived yet, with averages if this or a later
    /// model looks back.
    pub fn new(params: &FeaturesParams, looks_back: bool, environment: &Environment) -> Features {
        let (averaging, queues) = (params.averaging, environment.queues());
        let mut features = Features {
            features: Vec::new(),
            unit: 1.0,
            capacity: environment.capacity as f64,
            averages: looks_back.then(|| Averages::new(averaging, environment.base_rtt, queues)),
            release_at_end: environment.service.release_at_end,
        };
        features.become_those_of(params);
        features
    }

    /// From now on another model looks, with averages of the same kind.
    pub fn become_those_of(&mut self, params: &FeaturesParams) {
        self.features.clone_from(&params.features);
        self.unit = if params.are_shares { self.capacity } else { 1.0 };
    }

    /// Until now a queue held `more` bytes more than it holds now, and so did the buffer.
    #[inline]
    pub fn held(&mut self, now: Time, queue: QueueId, more: u32, buffer: &Buffer) {
        if let Some(averages) = &mut self.averages {
            let occupancy = buffer.occupancy() + u64::from(more);
            averages.held(now, queue, buffer.bytes(queue) + more, occupancy);
        }
    }

    /// A packet has left its queue to be sent.
    #[inline]
    pub fn departed(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        let gone = if self.release_at_end { 0 } else { size };
        self.held(now, queue, gone, buffer);
        if let Some(averages) = &mut self.averages {
            averages.departed(now, queue, buffer.bytes(queue), buffer.occupancy());
        }
    }

    /// The features' values for a packet that arrives for this queue. The averages are up to date.
    #[inline]
    pub fn of(&self, queue: QueueId, buffer: &Buffer) -> [f32; MOST_FEATURES] {
        let mut values = [0.0; MOST_FEATURES];
        for (value, feature) in values.iter_mut().zip(&self.features) {
            let bytes = match (feature, &self.averages) {
                (Feature::QueueClass, _) => {
                    *value = buffer.queue_class_of(queue).into();
                    continue;
                }
                (Feature::AverageQueue, Some(averages)) => averages.queue(queue),
                (Feature::AverageOccupancy, Some(averages)) => averages.occupancy(),
                (Feature::Occupancy | Feature::AverageOccupancy, _) => buffer.occupancy() as f64,
                (Feature::Queue | Feature::AverageQueue, _) => buffer.bytes(queue).into(),
            };
            *value = (bytes / self.unit) as f32;
        }
        values
    }
}

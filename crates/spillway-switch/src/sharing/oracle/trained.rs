//! A trained model at one switch.

use super::features::Features;
use super::models::{Model, Models};
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::Environment;
use spillway_engine::Time;
use spillway_settings::{Section, SettingsError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The models that the switches of a tier use.
#[derive(Clone, Debug)]
pub struct TrainedParams {
    /// The model of the first switch.
    first: Arc<Model>,
    /// The models of all switches, by their numbers.
    models: BTreeMap<u32, Arc<Model>>,
}

impl TrainedParams {
    /// Reads `model`, and opens each model that it names for this switch's tier once.
    pub fn read(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<TrainedParams, SettingsError> {
        let asked = Models::read(section, environment)?.of_tier(section, environment)?;
        let (mut opened, mut models, mut told) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for (&switch, asked) in &asked {
            if !opened.contains_key(asked) {
                let model = asked.open(section, environment)?;
                let warning = model.seen.differs(environment);
                told.extend(warning.map(|text| format!("{}: {text}", asked.name)));
                opened.insert(asked, Arc::new(model));
            }
            models.insert(switch, Arc::clone(&opened[asked]));
        }
        told.sort_unstable();
        told.dedup();
        told.iter().for_each(|text| section.warn("model", text));
        Ok(TrainedParams { first: Arc::clone(&models[&environment.switch]), models })
    }

    /// The models' names, each with what its file records of its training, as JSON. Models without
    /// such a record are left out.
    pub fn trainings(&self) -> BTreeMap<&str, &str> {
        let models = self.models.values();
        models
            .filter_map(|model| Some((&*model.name, model.forest.metadata("training")?)))
            .collect()
    }
}

/// A forest and its features.
#[derive(Clone, Debug)]
pub struct Trained {
    model: Arc<Model>,
    features: Features,
    /// How often a feature was outside its range in training, if the model states these ranges.
    outside: u64,
}

impl Trained {
    /// The forest of a switch at which nothing has arrived yet.
    pub fn new(params: &TrainedParams, environment: &Environment) -> Trained {
        let model = Arc::clone(params.models.get(&environment.switch).unwrap_or(&params.first));
        Trained { features: Features::new(&model.features, environment), model, outside: 0 }
    }

    /// Until now a queue, and the buffer, held the bytes that they hold now.
    #[inline]
    pub fn held(&mut self, now: Time, queue: QueueId, buffer: &Buffer) {
        self.features.held(now, queue, 0, buffer);
    }

    /// A packet has left its queue to be sent.
    #[inline]
    pub fn departed(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        self.features.departed(now, queue, size, buffer);
    }

    /// Whether LQD would drop a packet that arrives for this queue.
    #[inline]
    pub fn predicts_drop(&mut self, queue: QueueId, buffer: &Buffer) -> bool {
        let values = self.features.of(queue, buffer);
        if let Some(ranges) = &self.model.seen.ranges {
            self.outside += u64::from(!ranges.contain(&values));
        }
        self.model.forest.is_positive(&values)
    }

    /// How often it was asked about values outside the ranges of its training. `None` if these
    /// ranges are not known.
    pub fn outside(&self) -> Option<u64> {
        self.model.seen.ranges.as_ref().map(|_| self.outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_the_same_model_shares_it() {
        let names = ["leaf0", "leaf1", "leaf2"].map(String::from);
        let environment = Environment { names: Arc::new(names), ..Environment::example(2) };
        let text = "model = { leaf1 = \"smartbuf\", leaf = \"default\" }";
        let mut section = Section::new("sharing", text.parse().unwrap());
        let params = TrainedParams::read(&mut section, &environment).unwrap();
        let asked = |switch| {
            let environment = Environment { switch, ..environment.clone() };
            Trained::new(&params, &environment).model
        };
        assert!(Arc::ptr_eq(&asked(0), &asked(2)));
        assert!(!Arc::ptr_eq(&asked(0), &asked(1)));
    }
}

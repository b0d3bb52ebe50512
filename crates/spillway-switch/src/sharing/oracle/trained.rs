//! The trained models of one switch, which follow one another.

use super::dated::{self, Dated};
use super::features::Features;
use super::models::Model;
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::Environment;
use crate::policy::Arrival;
use spillway_engine::Time;
use spillway_settings::{Section, SettingsError};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The models that the switches of a tier use.
#[derive(Clone, Debug)]
pub struct TrainedParams {
    /// The models of the first switch.
    first: Arc<[Dated]>,
    /// The models of all switches, by their numbers.
    models: BTreeMap<u32, Arc<[Dated]>>,
}

impl TrainedParams {
    /// Reads `model`, and opens each model that it names for this switch's tier once.
    pub fn read(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<TrainedParams, SettingsError> {
        let asked = dated::read(section, environment)?;
        let (mut opened, mut models, mut told) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        for (&switch, asked) in &asked {
            let mut of_switch = Vec::new();
            for each in asked {
                if !opened.contains_key(&each.asked) {
                    let model = each.open(section, environment)?;
                    let warning = model.seen.differs(environment);
                    told.extend(warning.map(|text| format!("{}: {text}", model.name)));
                    opened.insert(&each.asked, Arc::new(model));
                }
                let model = Arc::clone(&opened[&each.asked]);
                of_switch.push(Dated { at: each.at, model });
            }
            dated::check_averages(section, &of_switch)?;
            models.insert(switch, of_switch.into());
        }
        told.sort_unstable();
        told.dedup();
        told.iter().for_each(|text| section.warn("model", text));
        Ok(TrainedParams { first: Arc::clone(&models[&environment.switch]), models })
    }

    /// The models' names, each with what its file records of its training, as JSON. Models without
    /// such a record are left out.
    pub fn trainings(&self) -> BTreeMap<&str, &str> {
        let models = self.models.values().flat_map(|models| models.iter());
        models
            .filter_map(|Dated { model, .. }| {
                Some((&*model.name, model.forest.metadata("training")?))
            })
            .collect()
    }
}

/// A forest and its features.
#[derive(Clone, Debug)]
pub struct Trained {
    model: Arc<Model>,
    /// When the next model takes over; [`Time::MAX`] if none does.
    until: Time,
    /// All models, and the number of the next one.
    all: Arc<[Dated]>,
    next: usize,
    features: Features,
    /// How often a feature was outside its range in training, if the model states these ranges.
    outside: u64,
}

impl Trained {
    /// The forest of a switch at which nothing has arrived yet.
    pub fn new(params: &TrainedParams, environment: &Environment) -> Trained {
        let all = Arc::clone(params.models.get(&environment.switch).unwrap_or(&params.first));
        let looks_back = all.iter().any(|each| each.model.features.looks_back());
        let model = Arc::clone(&all[0].model);
        let features = Features::new(&model.features, looks_back, environment);
        let until = all.get(1).map_or(Time::MAX, |next| next.at);
        Trained { model, until, all, next: 1, features, outside: 0 }
    }

    /// The next model decides. Averages go on.
    #[cold]
    fn take_over(&mut self) {
        self.model = Arc::clone(&self.all[self.next].model);
        self.features.become_those_of(&self.model.features);
        self.next += 1;
        self.until = self.all.get(self.next).map_or(Time::MAX, |next| next.at);
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

    /// Whether LQD would drop an arriving packet.
    #[inline]
    pub fn predicts_drop(&mut self, arrival: &Arrival, buffer: &Buffer) -> bool {
        while arrival.now >= self.until {
            self.take_over();
        }
        let values = self.features.of(arrival.queue, buffer);
        if let Some(ranges) = &self.model.seen.ranges {
            self.outside += u64::from(!ranges.contain(&values));
        }
        self.model.forest.is_positive(&values)
    }

    /// How often a model was asked about values outside the ranges of its training. `None` if the
    /// ranges of no model are known.
    pub fn outside(&self) -> Option<u64> {
        let is_known = |each: &Dated| each.model.seen.ranges.is_some();
        self.all.iter().any(is_known).then_some(self.outside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillway_settings::Table;

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

    /// The second takes over at 5 us, the third at 7 us: before what happens at that time.
    #[test]
    fn models_follow_one_another() {
        let models = [("0us", "default"), ("5us", "smartbuf"), ("7us", "default")]
            .map(|(at, model)| format!("{{ at = \"{at}\", model = \"{model}\" }}"));
        let text = format!("model = [{}]", models.join(", "));
        let (environment, buffer) =
            (Environment::example(2), super::super::super::tests::filled(&[0, 0]));
        let mut section = Section::new("sharing", text.parse().unwrap());
        let params = TrainedParams::read(&mut section, &environment).unwrap();
        assert_eq!(section.finish().unwrap().to_string().parse::<Table>(), text.parse());
        let used = |at: &[Time]| {
            let mut trained = Trained::new(&params, &environment);
            for &now in at {
                trained.predicts_drop(&Arrival { now, ..Arrival::default() }, &buffer);
            }
            trained.model.name.clone()
        };
        let [just_before, at] = [4_999_999, 5_000_000].map(Time::from_ps);
        assert_eq!(used(&[just_before]), "default");
        assert_eq!(used(&[just_before, at]), "smartbuf");
        assert_eq!(used(&[Time::from_us(7)]), "default");
    }
}

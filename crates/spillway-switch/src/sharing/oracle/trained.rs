//! A trained model at one switch.

use super::features::Features;
use super::models::{self, Models};
use super::seen::Ranges;
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::Environment;
use spillway_engine::Time;
use spillway_forest::Forest;
use spillway_settings::{Section, SettingsError};

/// A forest and what it looks at.
#[derive(Clone, Debug)]
pub struct Trained {
    forest: Forest,
    features: Features,
    /// What the features were in training, if the model says so.
    ranges: Option<Ranges>,
    /// How often one of them was something else.
    outside: u64,
}

impl Trained {
    /// Reads `model`: what the switch is to ask. With the first switch of a tier all that the tier's
    /// switches would ask are looked at.
    pub fn read(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<Trained, SettingsError> {
        let models = Models::read(section, environment)?;
        let mut told = Vec::new();
        if models::is_first_of_tier(environment) {
            for asked in models.of_tier(section, environment)? {
                let (_, seen) = asked.open(section, environment)?;
                let warning = seen.differs(environment);
                told.extend(warning.map(|text| format!("{}: {text}", asked.name)));
            }
        }
        told.sort_unstable();
        told.dedup();
        told.iter().for_each(|text| section.warn("model", text));
        let asked = models.of(section, environment, environment.switch)?;
        let (forest, seen) = asked.open(section, environment)?;
        let features = asked.features(section, environment, &forest)?;
        Ok(Trained { forest, features, ranges: seen.ranges, outside: 0 })
    }

    /// Until now a queue, and the buffer, held what they hold.
    #[inline]
    pub fn held(&mut self, now: Time, queue: QueueId, buffer: &Buffer) {
        self.features.held(now, queue, 0, buffer);
    }

    /// A packet has left its queue to be sent.
    #[inline]
    pub fn departed(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        self.features.departed(now, queue, size, buffer);
    }

    /// Whether LQD would drop what arrives at this queue.
    #[inline]
    pub fn predicts_drop(&mut self, queue: QueueId, buffer: &Buffer) -> bool {
        let values = self.features.of(queue, buffer);
        if let Some(ranges) = &self.ranges {
            self.outside += u64::from(!ranges.contain(&values));
        }
        self.forest.is_positive(&values)
    }

    /// How often it was asked about what lies outside of what it was trained on, if that is known.
    pub fn outside(&self) -> Option<u64> {
        self.ranges.as_ref().map(|_| self.outside)
    }
}

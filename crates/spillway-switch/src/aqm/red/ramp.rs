//! How the probability of a mark grows with the average queue.

use crate::aqm::{AqmSample, number_of};
use crate::catalogue::Refusal;
use spillway_settings::quantity::Amount;
use spillway_settings::{Section, SettingsError};

/// The average queues between which the probability grows.
#[derive(Clone, Copy, Debug)]
pub struct Thresholds {
    /// Up to this average queue nothing is marked, in packets or bytes.
    pub min: Amount,
    /// `min` as a number, in its own unit.
    pub from: f64,
    /// From this average queue on everything is marked, in the same unit; at least `min`.
    pub max: f64,
}

impl Thresholds {
    pub fn read(section: &mut Section) -> Result<Thresholds, SettingsError> {
        let min = section.amount("min", "5pkt", "queue up to which nothing is marked")?;
        let max = section.amount("max", "15pkt", "queue from which everything is marked")?;
        let same_unit = matches!(
            (min, max),
            (Amount::Packets(_), Amount::Packets(_)) | (Amount::Bytes(_), Amount::Bytes(_))
        );
        if !same_unit || number_of(min) > number_of(max) {
            return Err(section.conflict(
                "max",
                format!("{max} must not be less than min = {min}, in the same unit"),
            ));
        }
        Ok(Thresholds { min, from: number_of(min) as f64, max: number_of(max) as f64 })
    }
}

impl Thresholds {
    /// Refuses thresholds in another unit if queues are averaged: the averages are in the present
    /// unit.
    pub fn check_unit(self, next: Thresholds, averages: bool) -> Result<(), Refusal> {
        let is_same = std::mem::discriminant(&self.min) == std::mem::discriminant(&next.min);
        if is_same || !averages {
            Ok(())
        } else {
            Err(("min", "the averages of queues have the unit of `min`".into()))
        }
    }
}

/// Reads whether the probability rises on beyond max.
pub fn read_gentle(section: &mut Section, default: bool) -> Result<bool, SettingsError> {
    let meaning = "whether the probability rises on to 1 between max and twice max";
    section.flag("gentle", default, meaning)
}

/// The probability between min and max.
#[derive(Clone, Copy, Debug)]
pub enum Curve {
    TwoPoint {
        max_probability: f64,
    },
    /// The slope is per byte or per packet, in the unit of `min`.
    PointSlope {
        slope: f64,
    },
}

/// The probability for every average queue.
#[derive(Clone, Copy, Debug)]
pub struct Ramp {
    pub thresholds: Thresholds,
    /// The probability between the two.
    pub curve: Curve,
    /// Whether the probability rises further, to 1, between max and twice max.
    pub gentle: bool,
}

impl Ramp {
    /// The line's numbers in bytes. A packet counts as a full one.
    pub fn sample(&self, full_packet: u64) -> AqmSample {
        let Thresholds { min, max, .. } = self.thresholds;
        let bytes_per_unit = match min {
            Amount::Packets(_) => full_packet,
            _ => 1,
        };
        let bytes = |length: u64| length.saturating_mul(bytes_per_unit);
        let (min_bytes, max_bytes) = (bytes(number_of(min)), bytes(max as u64));
        let between = max_bytes - min_bytes;
        let (slope, max_probability) = match self.curve {
            Curve::TwoPoint { max_probability } => {
                let slope = (between > 0).then(|| max_probability / (between as f64 * 1e-6));
                (slope, Some(max_probability))
            }
            Curve::PointSlope { slope } => (Some(slope * 1e6 / bytes_per_unit as f64), None),
        };
        AqmSample {
            min_bytes: Some(min_bytes),
            max_bytes: Some(max_bytes),
            slope_per_mb: slope,
            max_probability,
            ..AqmSample::default()
        }
    }

    /// The probability p for an average queue; 0 below min.
    #[inline]
    pub fn probability(&self, average: f64) -> f64 {
        let Ramp { thresholds: Thresholds { from: min, max, .. }, curve, gentle } = *self;
        if average < min {
            return 0.0;
        }
        let at_max = match curve {
            Curve::TwoPoint { max_probability } => max_probability,
            Curve::PointSlope { slope } => (slope * (max - min)).min(1.0),
        };
        if average < max {
            match curve {
                Curve::TwoPoint { max_probability } => {
                    max_probability * (average - min) / (max - min)
                }
                Curve::PointSlope { slope } => (slope * (average - min)).min(1.0),
            }
        } else if gentle && average < 2.0 * max {
            at_max + (1.0 - at_max) * (average - max) / max
        } else {
            1.0
        }
    }
}

//! By which numbers an AQM marks at a moment, for those who follow how they change.

/// The numbers by which an AQM marks the packets of a queue. A number that the AQM does not have is
/// `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AqmSample {
    /// Bytes of the queue up to which nothing is marked.
    pub min_bytes: Option<u64>,
    /// Bytes of the queue from which everything is marked, or a steeper line begins (gentle RED).
    pub max_bytes: Option<u64>,
    /// The rise of the probability between the two for every MB of queue.
    pub slope_per_mb: Option<f64>,
    /// The probability just below max, if the AQM sets or steers it.
    pub max_probability: Option<f64>,
    /// The probability for all packets, if it does not depend on the queue that they find.
    pub probability: Option<f64>,
    /// The number of flows by which the slope is set.
    pub flows: Option<u32>,
    /// The slope for one flow, in the unit of the AQM's own parameter.
    pub lambda: Option<f64>,
    /// The utility of the last complete trial.
    pub utility: Option<f64>,
}

impl AqmSample {
    /// This line with thresholds that are `scale` times as large.
    pub(super) fn scaled(self, scale: f64) -> AqmSample {
        let bytes = |length: u64| (length as f64 * scale).round() as u64;
        AqmSample {
            min_bytes: self.min_bytes.map(bytes),
            max_bytes: self.max_bytes.map(bytes),
            slope_per_mb: self.slope_per_mb.map(|slope| slope / scale),
            ..self
        }
    }
}

//! The numbers by which AQMs mark, at regular times.

use super::names::{Name, Switch};
use super::table::table;
use crate::scenario::Scenario;
use spillway_engine::Time;
use spillway_switch::{QueueId, Switch as AnySwitch};

table! {
    /// The numbers by which AQMs marked, at regular times. Has a row for every queue whose AQM has
    /// such numbers.
    AqmRow => AqmTable {
        /// When.
        time_ps: u64,
        /// The switch.
        switch: Name<Switch>,
        /// The port.
        port: u32,
        /// The queue of the port.
        queue: u32,
        /// The bytes up to which nothing is marked.
        min_bytes: Option<u64>,
        /// The bytes from which everything is marked.
        max_bytes: Option<u64>,
        /// The rise of the probability between the two for every MB.
        slope_per_mb: Option<f64>,
        /// The probability just below max.
        max_probability: Option<f64>,
        /// The probability for all packets alike.
        probability: Option<f64>,
        /// The number of flows that sets the slope.
        flows: Option<u32>,
        /// The slope for one flow.
        lambda: Option<f64>,
        /// The utility of the last trial.
        utility: Option<f64>,
    }
}

impl AqmTable {
    /// Whether a run of the scenario records this table.
    pub fn is_recorded(scenario: &Scenario) -> bool {
        scenario.recording.aqm_interval.is_some()
    }

    /// Samples all queues of a switch.
    pub fn sample(&mut self, now: Time, number: u32, switch: &AnySwitch) {
        let buffer = switch.buffer();
        for queue in 0..buffer.queues().len() as QueueId {
            let Some(sample) = switch.sample_aqm(now, queue) else { continue };
            self.push(AqmRow {
                time_ps: now.ps(),
                switch: Name(number),
                port: buffer.port_of(queue),
                queue: buffer.queue_class_of(queue).into(),
                min_bytes: sample.min_bytes,
                max_bytes: sample.max_bytes,
                slope_per_mb: sample.slope_per_mb,
                max_probability: sample.max_probability,
                probability: sample.probability,
                flows: sample.flows,
                lambda: sample.lambda,
                utility: sample.utility,
            });
        }
    }
}

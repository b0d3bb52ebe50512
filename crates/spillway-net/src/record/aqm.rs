//! The numbers by which AQMs mark, at regular times.

use super::names::{Name, Switch};
use super::table::table;
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
        /// The queue up to which nothing is marked. Thresholds in packets count full packets. Null
        /// for `pie`, and for `ecn` without a threshold.
        min_bytes: Option<u64>,
        /// The queue from which everything is marked, or with `gentle` a steeper line begins; for
        /// `ecn` the same as `min_bytes`. Null for `pie`, and if there is no such queue.
        max_bytes: Option<u64>,
        /// How much the probability rises between the two for every MB of queue. `pred`: lambda
        /// f(N), per MB. Null for `pie` and `ecn`, and for `red` and `ared` if min is max.
        slope_per_mb: Option<f64>,
        /// The probability just below max: of `red` in its two-point form, and `max_p` of `ared`,
        /// which it steers. Null for others.
        max_probability: Option<f64>,
        /// The probability of `pie`, which does not depend on the queue that a packet finds. Null
        /// for others.
        probability: Option<f64>,
        /// The flows that `pred` counts at the port (N). It changes with packets, and when a period
        /// of `t_fcs` ends; null for others, and with `fcs = false`.
        flows: Option<u32>,
        /// Lambda of `pred`, that of the trial under way, in the scenario's unit: per `lambda_unit`
        /// of queue, without f(N); null for others.
        lambda: Option<f64>,
        /// The utility that `pred` found in the last complete period of `t_qla`; null before, with
        /// `qla = false`, and for others.
        utility: Option<f64>,
    }
    recorded if |scenario| scenario.recording.aqm_interval.is_some()
}

impl AqmTable {
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

//! ACC: a trained agent that chooses RED's thresholds anew, interval by interval.
//!
//! # Reference
//! S. Yan, X. Wang, X. Zheng, Y. Xia, D. Liu, W. Deng, "ACC: Automatic ECN Tuning for High-Speed
//! Datacenter Networks", ACM SIGCOMM 2021. <https://doi.org/10.1145/3452296.3472927>
//! As it is built again in "PRED: Performance-oriented Random Early Detection for Consistently
//! Stable Performance in Datacenters", USENIX NSDI 2025, section 6.3.3.
//!
//! # Rule
//! Mark as RED does, by the queue of this moment: not below min, always from max on, and between
//! them with p = `max_probability` (q - min) / (max - min).
//! At every multiple of `interval` each queue chooses its line out of the model's table: the one
//! with the greatest output of the model's network, the first of equals; or, with the probability
//! `exploration`, any of them. A queue that had nothing to send in the interval keeps its line, and
//! has not seen that interval (`idle = "decides"`: it decides as all do). The network sees the last
//! k intervals, the oldest first, and of each six numbers: the mean over time of the bytes that
//! wait in the queue; R / C, by the bytes sent; the same by the bytes that were marked here; and
//! min, max and `max_probability` in that interval. Each is divided by its range in the model, and
//! is 1 beyond it. Before the run all are 0, and by these each queue chooses its first line,
//! without exploring.
//!
//! # Departures from the paper
//! ACC's paper was not at hand. What is known of it, and how surely, is told beside the
//! [variants](../learning.md#acc). The agent does not learn while a run goes on: its model stays as
//! it is, and what is left of learning is `exploration`.
//!
//! # Scope and limitations
//! All queues that an AQM manages use one model, each with a state of its own. R counts packets
//! that begin to be sent, with their framing. A model chooses in bytes, whatever the network's
//! packets and rates are; it knows only what it was trained on.
//!
//! # In composition
//! An agent sees its own queue: no other queues, no buffer, no losses. Under strict priority R of a
//! worse queue is what better ones leave, and a queue that a sharing policy keeps short by losses
//! looks like one with little to send. A run does not compare its model's training with the
//! scenario.
//!
//! # Validation
//! The file, sums and decisions by hand (below, `acc/model.rs`, `acc/network.rs`), and the same
//! states and lines as a second, naive implementation (`tests/naive_acc.rs`). Runs are the same to
//! the bit as those in which RED's line is set from Python by what a look at the switch tells
//! (`tests/test_acc_native.py`).
//!
//! # Cost
//! For every packet a comparison, its queue's sums, and a random number between min and max. A
//! decision with the bundled model, 20,608 weights, takes about 2 us
//! (`cargo run --release -p spillway-switch --example acc`).

pub mod model;
pub mod network;
#[cfg(test)]
mod testing;

use super::ecn::read_not_ect;
use super::red::ramp::{Curve, Ramp, Thresholds};
use super::{Aqm, AqmSample};
use crate::buffer::{Buffer, QueueId};
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::policy::{Arrival, Verdict, Watch};
use model::{FEATURES, Model};
use network::Scratch;
use spillway_engine::{Rate, Stream, Time};
use spillway_settings::quantity::Amount;
use spillway_settings::{ErrorKind, Range, Section, SettingsError};
use std::sync::Arc;

/// The bundled models, as `make rl` makes them: names, and the bytes of their files.
pub const MODELS: [(&str, &[u8]); 2] = [
    ("pred", include_bytes!("../../models/acc-pred.safetensors")),
    ("acc", include_bytes!("../../models/acc-acc.safetensors")),
];

/// How a queue is marked, and how its line is chosen.
#[derive(Clone, Debug)]
pub struct AccParams {
    model: Model,
    /// The line of each action.
    ramps: Vec<Ramp>,
    interval: Time,
    exploration: f64,
    skips_idle: bool,
    verdict: Verdict,
}

/// A queue's line, and the measurements of the queue in an interval. Bytes sent are those on the
/// wire.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// The number of the action in force.
    action: u32,
    /// Packets that wait, and their bytes.
    packets: u32,
    bytes: u64,
    since: Time,
    /// The bytes that have waited until `since`, times the picoseconds.
    byte_picoseconds: u128,
    /// Bytes that have left the queue or passed it, and bytes of marked packets.
    sent: u64,
    marked: u64,
}

/// ACC.
#[derive(Clone, Debug)]
pub struct Acc {
    params: Arc<AccParams>,
    /// The probability that a decision is drawn at random from all lines.
    exploration: ByQueue<f64>,
    queues: Vec<Queue>,
    /// For queue after queue, the numbers of the last intervals, the oldest first.
    seen: Vec<f32>,
    scratch: Scratch,
    /// Bytes of every packet that the buffer does not count.
    uncounted: u32,
    /// The queue class of acks that are not managed.
    unmanaged: Option<u8>,
    random: Stream,
    explores: Stream,
}

impl Policy for Acc {
    const ID: &'static str = "acc";
    const SUMMARY: &'static str = "ACC: a trained agent chooses RED's line";
    const CITATION: &'static str = "Yan et al.: ACC: Automatic ECN Tuning for High-Speed Datacenter Networks, SIGCOMM \
         2021, doi:10.1145/3452296.3472927";

    const CHANGES: &'static [&'static str] = &["exploration"];
    const CHANGES_BY_PORT: bool = true;

    type Params = Arc<AccParams>;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<Arc<AccParams>, SettingsError> {
        let model = read_model(section, environment)?;
        let meaning = "the time between decisions; by default that of the model's training";
        let interval = section
            .optional("interval", |section| section.positive_time("interval", "", meaning))?;
        let meaning = "the probability that a decision is any of the lines instead of the model's";
        let exploration = section.number("exploration", 0.01, Range::Unit, meaning)?;
        let meaning =
            "what a queue does at the end of an interval in which nothing was sent or waited";
        let skips_idle = section.choice("idle", &[("keeps", true), ("decides", false)], meaning)?;
        let verdict = read_not_ect(section, Verdict::Mark)?;
        let line = |action: &model::Action| Ramp {
            thresholds: Thresholds {
                min: Amount::Bytes(action.min),
                from: action.min as f64,
                max: action.max as f64,
            },
            curve: Curve::TwoPoint { max_probability: action.max_probability },
            gentle: false,
        };
        Ok(Arc::new(AccParams {
            ramps: model.actions.iter().map(line).collect(),
            interval: interval.unwrap_or(model.interval),
            model,
            exploration,
            skips_idle,
            verdict,
        }))
    }

    fn new(params: &Arc<AccParams>, environment: &Environment) -> Self {
        let mut scratch = Scratch::default();
        let seen = vec![0.0; FEATURES * params.model.history];
        let action = params.model.network.best(&seen, &mut scratch);
        let queue = Queue {
            action,
            packets: 0,
            bytes: 0,
            since: Time::ZERO,
            byte_picoseconds: 0,
            sent: 0,
            marked: 0,
        };
        let stream = |name| Stream::new(environment.seed, name, environment.switch.into());
        Acc {
            params: Arc::clone(params),
            exploration: ByQueue::all(params.exploration),
            queues: vec![queue; environment.queues()],
            seen: seen.repeat(environment.queues()),
            scratch,
            uncounted: environment.service.uncounted_bytes,
            unmanaged: environment.unmanaged(),
            // The stream has RED's name. So a run equals a run of RED whose line somebody else
            // sets.
            random: stream("red"),
            explores: stream("acc"),
        }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.exploration.adopt(fresh.exploration, adoption.port, adoption.buffer);
        if adoption.port.is_none() {
            self.params = fresh.params;
        }
    }
}

/// The key of the model, which is bundled or a file.
fn read_model(section: &mut Section, environment: &Environment) -> Result<Model, SettingsError> {
    let meaning = "the trained agent: a bundled one, or a file that `spillway acc train` wrote";
    let takes = "\"pred\", \"acc\", or a path, seen from the scenario's folder";
    let name = section.text("model", "pred", takes, meaning)?;
    let bytes = match MODELS.iter().find(|(known, _)| *known == name) {
        Some(&(_, bytes)) => bytes.into(),
        None => {
            let bundled = MODELS.map(|(name, _)| format!("{name:?}")).join(", ");
            let hint = format!("what is bundled is called {bundled}; every other name is a file's");
            environment.file(section, "model", &name).map_err(|error| error.hint(hint))?
        }
    };
    Model::read(&bytes)
        .map_err(|why| section.error(ErrorKind::File, "model", format!("{name}: {why}")))
}

impl Queue {
    /// Adds up the bytes that have waited until now.
    #[inline]
    fn waits(&mut self, now: Time) {
        self.byte_picoseconds += u128::from(self.bytes) * u128::from(now.since(self.since).ps());
        self.since = now;
    }

    /// The interval is over, and the next one begins. Returns the mean of the bytes that waited,
    /// the bytes sent, and the bytes marked.
    fn ends(&mut self, now: Time, interval: Time) -> (f64, u64, u64) {
        self.waits(now);
        let mean = self.byte_picoseconds as f64 / interval.ps() as f64;
        self.byte_picoseconds = 0;
        (mean, std::mem::take(&mut self.sent), std::mem::take(&mut self.marked))
    }
}

impl Acc {
    /// The numbers of an interval, as the network sees them.
    fn features(
        &self,
        (mean, sent, marked): (f64, u64, u64),
        rate: Rate,
        action: u32,
    ) -> [f32; FEATURES] {
        let AccParams { model, interval, .. } = &*self.params;
        let share = |bytes| rate.time_of(bytes).ps() as f64 / interval.ps() as f64;
        let line = &model.actions[action as usize];
        let numbers = [
            mean,
            share(sent),
            share(marked),
            line.min as f64,
            line.max as f64,
            line.max_probability,
        ];
        std::array::from_fn(|place| (numbers[place] / model.ranges[place]).min(1.0) as f32)
    }

    /// Chooses the line of a queue by what it has seen.
    fn choose(&mut self, queue: usize) -> u32 {
        let model = &self.params.model;
        let exploration = *self.exploration.of(queue as QueueId);
        if exploration > 0.0 && self.explores.uniform() < exploration {
            return self.explores.below(model.actions.len() as u64) as u32;
        }
        let size = FEATURES * model.history;
        let seen = &self.seen[queue * size..][..size];
        model.network.best(seen, &mut self.scratch)
    }

    /// The probability of a mark.
    #[inline]
    fn probability(&self, queue: QueueId, bytes: u32) -> f64 {
        let action = self.queues[queue as usize].action;
        self.params.ramps[action as usize].probability(bytes.into())
    }
}

impl Watch for Acc {
    #[inline]
    fn on_enqueue(&mut self, arrival: &Arrival, _buffer: &Buffer) {
        let queue = &mut self.queues[arrival.queue as usize];
        queue.waits(arrival.now);
        queue.packets += 1;
        queue.bytes += u64::from(arrival.size);
    }

    #[inline]
    fn on_dequeue(&mut self, now: Time, queue: QueueId, size: u32, _buffer: &Buffer) {
        let uncounted = self.uncounted;
        let queue = &mut self.queues[queue as usize];
        queue.waits(now);
        queue.packets -= 1;
        queue.bytes -= u64::from(size);
        queue.sent += u64::from(size) + u64::from(uncounted);
    }

    fn on_drop(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        let left = buffer.packets(queue);
        let queue = &mut self.queues[queue as usize];
        if left < queue.packets {
            // The lost packet was one of those that waited, not an arrival.
            queue.waits(now);
            queue.packets -= 1;
            queue.bytes -= u64::from(size);
        }
    }

    fn period(&self) -> Option<Time> {
        Some(self.params.interval)
    }

    fn on_timer(&mut self, now: Time, buffer: &Buffer) {
        let AccParams { interval, skips_idle, .. } = *self.params;
        let size = FEATURES * self.params.model.history;
        for number in 0..self.queues.len() {
            let queue = number as QueueId;
            if self.unmanaged == Some(buffer.queue_class_of(queue)) {
                continue;
            }
            let measured = self.queues[number].ends(now, interval);
            if skips_idle && measured.0 == 0.0 && measured.1 == 0 {
                continue;
            }
            let rate = buffer.rate(buffer.port_of(queue));
            let features = self.features(measured, rate, self.queues[number].action);
            let seen = &mut self.seen[number * size..][..size];
            seen.copy_within(FEATURES.., 0);
            seen[size - FEATURES..].copy_from_slice(&features);
            self.queues[number].action = self.choose(number);
        }
    }
}

impl Aqm for Acc {
    #[inline]
    fn on_arrival(&mut self, arrival: &Arrival, buffer: &Buffer) -> Verdict {
        let probability = self.probability(arrival.queue, buffer.bytes(arrival.queue));
        let marks =
            probability >= 1.0 || (probability > 0.0 && self.random.uniform() < probability);
        if marks { self.params.verdict } else { Verdict::Pass }
    }

    fn watches_passing(&self) -> bool {
        true
    }

    #[inline]
    fn on_pass(&mut self, passing: &Arrival, _buffer: &Buffer) {
        let size = u64::from(passing.size) + u64::from(self.uncounted);
        self.queues[passing.queue as usize].sent += size;
    }

    fn hears_marks(&self) -> bool {
        true
    }

    fn on_mark(&mut self, queue: QueueId, size: u32) {
        self.queues[queue as usize].marked += u64::from(size) + u64::from(self.uncounted);
    }

    fn sample(&self, _now: Time, queue: QueueId, _buffer: &Buffer) -> Option<AqmSample> {
        let action = self.queues[queue as usize].action;
        // The lines are in bytes, whatever the size of a full packet.
        Some(self.params.ramps[action as usize].sample(1))
    }

    fn marks_from(&self, _environment: &Environment) -> Option<(&'static str, u64)> {
        self.params.model.actions.iter().map(|action| action.min).min().map(|min| ("model", min))
    }
}

#[cfg(test)]
mod tests;

//! Smartbuf: a port in a burst may hold as much as earlier bursts reached that grew at a similar
//! rate.
//!
//! # Reference
//! H. Rezaei, H. Almasi, B. Vamanan, "Smartbuf: An Agile Memory Management for Shared-Memory
//! Switches in Datacenters", IEEE/ACM IWQoS 2021, section III (Algorithm 1).
//!
//! # Rule
//! Whenever a packet leaves a port; q is what its queues then hold, without the packet in
//! transmission:
//!
//! gradient = 3/4 gradient + 1/4 dq / dt,    max = the greatest q since the last burst's end
//!
//! - max > B / sigma and q >= beta max: the port is in a burst. It may hold the mean of the maxima
//!   of K known bursts, of all ports: those whose gradients are the nearest above this one's.
//! - q < beta max: the burst is over. If max > B / sigma, (gradient, max) is learned. Gradient and
//!   maximum start again, and the port's limits are those of Dynamic Thresholds. If the port still
//!   holds more than B / sigma, that is another burst.
//!
//! Outside bursts, and as long as no burst is known, each queue has the threshold of Dynamic
//! Thresholds. If fewer than K gradients are above, the mean is over those; if none is, the largest
//! known burst counts.
//!
//! # Limits of queues
//! The paper's bursts are those of ports. With `limit = "queue"` each queue has bursts and limits
//! of its own: q is what the queue holds when a packet leaves its port, and a packet is within the
//! limit if its queue is. So the gradient of a queue that waits for better ones is measured, too.
//!
//! # What the paper leaves open
//! - Which gradient a burst is stored under (`key`). As printed, it is the gradient at the moment
//!   when the maximum is reached (`"at-max"`). Without losses this is next to nothing, since a
//!   queue that still grows fast has not reached its maximum; if a limit cuts the burst, it is how
//!   fast the burst reached that limit. The look-up uses the current gradient. `"at-detection"`
//!   stores and looks up the gradient at which max first exceeded B / sigma, `"peak"` the greatest
//!   gradient so far.
//! - Which gradients count as equal, since floats hardly ever repeat: gradients are rounded to
//!   hundredths of the fastest port's rate (`key_quantum`). For equal gradients the greater maximum
//!   is kept.
//! - When entries are forgotten ("entries eventually age out"): 1 s after they were last seen
//!   (`max_age`).
//! - What counts as the maximum of a burst that a prediction has limited. With `record =
//!   "admitted"` it is what was held, so what is learned can only shrink. With `"admitted+dropped"`
//!   it is the greatest sum of what was held and what the burst had lost by then, including losses
//!   on a failed link.
//! - When predictions begin to be used (`learning_period`): at once.
//! - How the K bursts are combined: the text has their average (`estimate = "mean"`), and also "the
//!   upper bound". `"quantile"` takes the largest, or another `quantile`, of those that there are.
//! - Whether bursts with an equal gradient count as above (`own_quantum`): by default they do not,
//!   as if all of them were below.
//! - How often a burst's limit is looked up (`lookup`): whenever a packet leaves
//!   (`"each-departure"`), which is when the printed lines are executed, or once, "when incast is
//!   detected" (`"detection"`). In that case the limit found, or Dynamic Thresholds if none is,
//!   holds until the burst's end.
//! - Whether "just enough" may be less than a port without a burst could have. With `floor = "dt"`
//!   a burst may hold the greater of the prediction and the threshold of Dynamic Thresholds.
//! - Whether "ports can learn from each other" (`learn_from = "all-ports"`). With `"own-port"` each
//!   port knows only its own bursts, and those that all know from the beginning.
//! - How the moving average starts. A gradient is measured between packets that leave back to back.
//!   After a pause, and after a burst's end, the first value is taken without averaging. A packet
//!   that leaves after a pause has a gradient of 0.
//!
//! # Departures from the paper
//! The printed algorithm looks up its threshold when a burst is over, and resets nothing then, so a
//! port never leaves its first burst; it also takes K - 1 neighbours but divides by K. The rule
//! above follows the surrounding text ("when incast is detected"). `variant = "printed"` executes
//! the lines as printed: gradients are over all packets, starting from 0; a burst's end sets the
//! threshold, or leaves it as it is if there is no neighbour. The printed lines leave nothing open
//! for `estimate`, `own_quantum`, `lookup`, `floor` and `learn_from` to choose, so the variant
//! takes none of these keys. Line 33, which restores Dynamic Thresholds, requires a low maximum,
//! and a port with a predicted threshold never has one again. `smoothing`, `key` and `record` are
//! then not used, and `bursts` counts all packets at which the lines take a burst to be over, which
//! are many.
//!
//! # Scope and limitations
//! Predicted limits apply to a port (or with `limit = "queue"` to a queue) and count the arrival;
//! the thresholds of Dynamic Thresholds apply to queues. In the slotted model bursts are measured
//! in packets. With `port_fifo_packets` packets leave a port's queues before they are sent, so
//! after a small packet the gradient may start again. Bursts known from the beginning count as seen
//! at time 0, whenever they were seen, and at all ports. With `floor = "dt"` a packet is admitted
//! if either limit admits it.
//!
//! # In composition
//! A burst is one of a port, and so is its limit. Under strict priority what waits in a port's
//! worse queues counts against packets of better ones, and has them refused although they would be
//! sent at once; a run warns of this. With `limit = "queue"` a burst is one of a queue. With `floor
//! = "dt"` a packet is admitted as well if it is within the threshold of its own queue.
//!
//! # Validation
//! Has the same limits, to the byte, and makes the same decisions as a second, naive implementation
//! on thousands of random cases, in both variants (`tests/naive_smartbuf.rs`). That one recomputes
//! everything from all samples of a burst and all bursts ever learned. Until `learning_period` is
//! over, decisions equal those of Dynamic Thresholds.
//!
//! # Cost
//! It hears of every packet, even at idle ports. A look-up in a tree for every packet
//! that leaves during a burst, unless the limit is looked up once per burst; 170 bytes for every
//! port, 110 for every burst of the last `max_age`. With `limit = "queue"` all this for every
//! queue: a packet that leaves is a sample for all queues of its port.

mod estimate;
mod history;
mod printed;
#[cfg(test)]
mod tests;

use super::{Count, DynamicThresholds, Learned, Sharing};
use crate::buffer::{Buffer, QueueId};
use crate::burst::{Burst, KeyGradient};
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, Watch};
use estimate::Estimate;
use history::{History, Known, Rules};
use printed::{Outcome, Printed};
use spillway_engine::Time;
use spillway_settings::{ErrorKind, Range, Section, SettingsError};
use std::sync::Arc;

/// What a burst is, and how bursts are learned and predicted.
#[derive(Clone, Debug)]
pub struct SmartbufParams {
    /// The thresholds of queues for which nothing is predicted.
    dynamic: <DynamicThresholds as Policy>::Params,
    /// Whether each queue has bursts and limits of its own, rather than each port.
    is_by_queue: bool,
    /// Which reading of the algorithm is used.
    variant: Variant,
    /// The gradient that characterizes a burst.
    key: KeyGradient,
    /// The number of known bursts that a prediction is computed from (K), from 1 to 1,000,000.
    k: usize,
    /// A port that holds more than the buffer divided by sigma is in a burst; at least 1.
    sigma: f64,
    /// The share of its maximum below which a burst is over, above 0 and at most 1.
    beta: f64,
    /// The weight of the previous gradient, from 0 to 1.
    past: f64,
    /// The step to which gradients are rounded, as a share of the fastest port's rate, above 0.
    key_quantum: f64,
    /// A burst that has not been seen for longer than this is forgotten.
    max_age: Time,
    /// Whether a burst's maximum includes what was lost, in addition to what was held.
    counts_lost: bool,
    /// Nothing is predicted before this time.
    learning_period: Time,
    /// The choices that the text of the paper leaves open.
    of_text: OfText,
    /// What is known from the beginning, for all switches.
    known: Arc<[Known]>,
}

/// Predicts how much of the buffer a burst will take.
#[derive(Clone, Debug)]
pub struct Smartbuf {
    params: SmartbufParams,
    dynamic: DynamicThresholds,
    /// B / sigma, in bytes.
    large: f64,
    uncounted_bytes: u32,
    releases_at_end: bool,
    history: History,
    /// For every port, or for every queue.
    places: Vec<Place>,
    bursts: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Text,
    Printed,
}

/// The choices about predictions that the text of the paper leaves open. The printed lines leave
/// none.
#[derive(Clone, Copy, Debug)]
struct OfText {
    estimate: Estimate,
    own_quantum: bool,
    looks_once: bool,
    has_floor: bool,
    has_own_history: bool,
}

impl OfText {
    fn read(section: &mut Section, variant: Variant) -> Result<OfText, SettingsError> {
        let mut of_text = OfText {
            estimate: Estimate::Mean,
            own_quantum: false,
            looks_once: false,
            has_floor: false,
            has_own_history: false,
        };
        if variant == Variant::Printed {
            let keys = ["estimate", "quantile", "own_quantum", "lookup", "floor", "learn_from"];
            section.needs("variant = \"text\"", &keys)?;
            return Ok(of_text);
        }
        of_text.estimate = Estimate::read(section)?;
        let meaning = "whether bursts of the same gradient are among the nearest above";
        of_text.own_quantum = section.flag("own_quantum", false, meaning)?;
        let meaning = "when a burst's limit is looked up: whenever a packet leaves, or once";
        let lookups = [("each-departure", false), ("detection", true)];
        of_text.looks_once = section.choice("lookup", &lookups, meaning)?;
        let meaning =
            "what a prediction is never below: nothing, or the limit of Dynamic Thresholds";
        of_text.has_floor = section.choice("floor", &[("none", false), ("dt", true)], meaning)?;
        let meaning = "whose bursts a port learns from";
        let ports = [("all-ports", false), ("own-port", true)];
        of_text.has_own_history = section.choice("learn_from", &ports, meaning)?;
        Ok(of_text)
    }
}

/// A port's or a queue's burst, and its limit if one is predicted.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    burst: Burst,
    printed: Printed,
    limit: Option<u64>,
}

impl Policy for Smartbuf {
    const ID: &'static str = "smartbuf";
    const SUMMARY: &'static str =
        "Smartbuf: a port in a burst may hold as much as similar bursts reached before";
    const CITATION: &'static str = "Rezaei, Almasi, Vamanan: Smartbuf, IWQoS 2021, Algorithm 1";
    const VARIANTS: &'static [&'static str] = &["estimate = \"quantile\""];
    const COST: Option<Cost> = Some(Cost {
        // What it holds, and held when a packet last left; its gradient, maximum, gradient at the
        // maximum, and limit; when a packet left and when it was sent; whether it has a gradient
        // and a limit.
        port: State { counters: 6, times: 2, bits: 2, ..State::NONE },
        others: &[("known burst", State { counters: 2, times: 1, ..State::NONE })],
        // In addition, what the port holds.
        arrival: DynamicThresholds::TEST.and(Operations { additions: 1, ..Operations::NONE }),
        // What the port holds and when the packet has been sent; whether the port was idle in
        // between; dq / dt and its average; the maximum, whether it is large, and beta times it.
        departure: Operations {
            additions: 5,
            comparisons: 5,
            scalings: 4,
            divisions: 1,
            ..Operations::NONE
        },
        at_times: &[
            (
                "each departure in a burst",
                Operations { look_ups: 1, additions: 2, divisions: 1, ..Operations::NONE },
            ),
            ("each burst's end", Operations { look_ups: 1, comparisons: 1, ..Operations::NONE }),
        ],
        needs: "the ports' rates; a table in the order of its keys: fewer than 35 bursts in the \
                paper",
        ..Cost::NONE
    });

    const CHANGES: &'static [&'static str] = &[
        "alpha",
        "alpha_first_rtt",
        "k",
        "sigma",
        "beta",
        "smoothing",
        "quantile",
        "learning_period",
    ];

    type Params = SmartbufParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<SmartbufParams, SettingsError> {
        let dynamic = DynamicThresholds::params(section, environment)?;
        let meaning =
            "whose burst is limited: that of all queues of a port together, or each queue's";
        let is_by_queue =
            section.extra_choice("limit", &[("port", false), ("queue", true)], meaning)?;
        let meaning = "the text's reading of Algorithm 1, or its printed lines";
        let variants = [("text", Variant::Text), ("printed", Variant::Printed)];
        let variant = section.choice("variant", &variants, meaning)?;
        let meaning = "the gradient under which a burst is stored";
        let keys = [
            ("at-max", KeyGradient::AtMax),
            ("at-detection", KeyGradient::AtDetection),
            ("peak", KeyGradient::Peak),
        ];
        let key = section.choice("key", &keys, meaning)?;
        let meaning = "how many known bursts a prediction is computed from (K)";
        let k = section.integer("k", 3, 1..=1_000_000, meaning)? as usize;
        let meaning = "a port that holds more than the buffer divided by sigma is in a burst";
        let sigma = section.number("sigma", 5.0, Range::AtLeast(1.0), meaning)?;
        let meaning = "the share of its maximum below which a burst is over";
        let beta = section.number("beta", 0.5, Range::Share, meaning)?;
        let meaning = "weight of the previous gradient in the average";
        let past = section.number("smoothing", 0.75, Range::Unit, meaning)?;
        let meaning =
            "the step to which gradients are rounded, as a share of the fastest port's rate";
        let key_quantum = section.number("key_quantum", 0.01, Range::Positive, meaning)?;
        let meaning = "the age at which a burst is forgotten";
        let max_age = section.time("max_age", "1s", meaning)?;
        let meaning = "whether a burst's maximum counts what was held, or also what was lost";
        let records = [("admitted", false), ("admitted+dropped", true)];
        let counts_lost = section.choice("record", &records, meaning)?;
        let meaning = "the time until which nothing is predicted";
        let learning_period = section.time("learning_period", "0s", meaning)?;
        let of_text = OfText::read(section, variant)?;
        let takes = "a path, seen from the scenario's folder";
        let meaning = "what is known from the beginning: history.parquet of a run, or its folder";
        let file = section.optional("history", |s| s.text("history", "", takes, meaning))?;
        let known = match file {
            None => Arc::default(),
            Some(name) => {
                let bytes = environment.records("history", section, "history", &name)?;
                history::known_of(&bytes).ok_or_else(|| {
                    section.error(
                        ErrorKind::File,
                        "history",
                        format!("{name}: it is not a history of bursts"),
                    )
                })?
            }
        };
        Ok(SmartbufParams {
            dynamic,
            is_by_queue,
            variant,
            key,
            k,
            sigma,
            beta,
            past,
            key_quantum,
            max_age,
            counts_lost,
            learning_period,
            of_text,
            known,
        })
    }

    fn new(params: &SmartbufParams, environment: &Environment) -> Self {
        let rates = environment.port_rates.iter().map(|rate| rate.bits_per_second());
        let fastest = rates.max().unwrap_or(8) as f64 / 8.0;
        let ports = environment.port_rates.len();
        let of_text = params.of_text;
        let mut history = History::new(Rules {
            quantum: params.key_quantum * fastest,
            max_age: params.max_age,
            own_quantum: of_text.own_quantum,
            histories: if of_text.has_own_history { ports as u32 } else { 1 },
        });
        history.load(&params.known, environment.switch);
        Smartbuf {
            params: params.clone(),
            dynamic: DynamicThresholds::new(&params.dynamic, environment),
            large: environment.capacity as f64 / params.sigma,
            uncounted_bytes: environment.service.uncounted_bytes,
            releases_at_end: environment.service.release_at_end,
            history,
            places: vec![
                Place::default();
                if params.is_by_queue { environment.queues() } else { ports }
            ],
            bursts: 0,
        }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.dynamic.adopt(fresh.dynamic, adoption);
        (self.large, self.params) = (fresh.large, fresh.params);
    }
}

impl Smartbuf {
    /// The limit for a port in a burst with this gradient, if any burst is known.
    fn predict(&mut self, now: Time, port: u32, gradient: f64) -> Option<u64> {
        if now < self.params.learning_period {
            return None;
        }
        let nearest = self.history.nearest_above(now, port, gradient, self.params.k);
        self.params.of_text.estimate.of(nearest).or_else(|| self.history.largest(port))
    }

    fn learn(&mut self, now: Time, port: u32, gradient: f64, bytes: u64) {
        self.history.insert(now, port, gradient, bytes);
        self.bursts += 1;
    }

    /// The place of a queue's burst.
    fn place_of(&self, queue: QueueId, buffer: &Buffer) -> usize {
        (if self.params.is_by_queue { queue } else { buffer.port_of(queue) }) as usize
    }

    /// The bytes that a limit is for.
    fn held(&self, queue: QueueId, buffer: &Buffer) -> u64 {
        if self.params.is_by_queue {
            buffer.bytes(queue).into()
        } else {
            buffer.port_bytes(buffer.port_of(queue))
        }
    }

    /// A packet has left a port. This place there now holds `bytes` bytes.
    fn follow(&mut self, now: Time, port: u32, place: usize, bytes: u64, sent: Time) {
        let burst = &mut self.places[place].burst;
        burst.sample(now, bytes, sent, self.params.past);
        let is_large = burst.max_held as f64 > self.large;
        if bytes as f64 >= self.params.beta * burst.max_held as f64 {
            if is_large {
                let is_new = burst.detect();
                let gradient = match self.params.key {
                    KeyGradient::AtMax => burst.gradient(),
                    key => burst.key(key),
                };
                if is_new || !self.params.of_text.looks_once {
                    self.places[place].limit = self.predict(now, port, gradient);
                }
            }
            return;
        }
        let ended = *burst;
        burst.end();
        self.places[place].limit = None;
        if is_large {
            let bytes = if self.params.counts_lost { ended.max_wanted } else { ended.max_held };
            self.learn(now, port, ended.key(self.params.key), bytes);
        }
    }

    fn follow_printed(&mut self, now: Time, place: usize, bytes: u64) {
        let settings =
            (self.params.k, self.large, self.params.beta, now >= self.params.learning_period);
        let state = &mut self.places[place];
        match state.printed.on_dequeue(now, bytes, settings, &mut self.history) {
            Outcome::Stays => {}
            Outcome::Dynamic => state.limit = None,
            Outcome::Becomes(limit) => {
                state.limit = limit.or(state.limit);
                self.bursts += 1;
            }
        }
    }
}

impl Watch for Smartbuf {
    fn watches_queues(&self) -> bool {
        true
    }

    fn on_dequeue(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        let port = buffer.port_of(queue);
        let on_the_wire = u64::from(size) + u64::from(self.uncounted_bytes);
        let sent = now + buffer.rate(port).time_of(on_the_wire);
        let own = self.place_of(queue, buffer);
        let all = if self.params.is_by_queue { buffer.queues_of(port) } else { queue..queue + 1 };
        for queue in all {
            let place = self.place_of(queue, buffer);
            // A packet in transmission has left, even if its bytes are still held.
            let held = if self.releases_at_end && place == own { size } else { 0 };
            let bytes = self.held(queue, buffer) - u64::from(held);
            match self.params.variant {
                Variant::Text => self.follow(now, port, place, bytes, sent),
                Variant::Printed => self.follow_printed(now, place, bytes),
            }
        }
    }

    fn on_drop(&mut self, _now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        let place = self.place_of(queue, buffer);
        self.places[place].burst.lose(size.into());
    }
}

impl Sharing for Smartbuf {
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        let Some(limit) = self.places[self.place_of(arrival.queue, buffer)].limit else {
            return self.dynamic.admit(arrival, buffer);
        };
        let is_within = self.held(arrival.queue, buffer) + u64::from(arrival.size) <= limit;
        if self.params.of_text.has_floor && !is_within {
            return self.dynamic.admit(arrival, buffer);
        }
        Admission::if_within(is_within)
    }

    fn counters(&self) -> Vec<Count> {
        vec![
            ("bursts".into(), self.bursts),
            ("entries".into(), self.history.len() as u64),
            ("most_entries".into(), self.history.most() as u64),
            ("aged_out".into(), self.history.aged_out()),
        ]
    }

    fn learned(&self) -> Vec<Learned> {
        self.history.entries().collect()
    }

    fn threshold(&self, arrival: &Arrival, buffer: &Buffer) -> Option<u64> {
        let limit = self.places[self.place_of(arrival.queue, buffer)].limit;
        match limit {
            Some(_) if !self.params.of_text.has_floor => limit,
            _ => limit.max(self.dynamic.threshold(arrival, buffer)),
        }
    }
}

//! Smartbuf: a port in a burst may hold as much as bursts that grew like it came to.
//!
//! # Reference
//! H. Rezaei, H. Almasi, B. Vamanan, "Smartbuf: An Agile Memory Management for Shared-Memory Switches
//! in Datacenters", IEEE/ACM IWQoS 2021, section III (Algorithm 1).
//!
//! # Rule
//! Whenever a packet leaves a port, q being what its queues hold then (what is being sent has left):
//!
//! gradient = 3/4 gradient + 1/4 dq / dt,    max = the greatest q since the last burst's end
//!
//! - max > B / sigma and q >= beta max: a burst. The port may hold the mean of what those K bursts
//!   came to, of all ports, whose gradients are the nearest above this one's.
//! - q < beta max: it is over. If max > B / sigma, (gradient, max) is learned. Gradient and maximum
//!   begin anew, and the port's limits are those of Dynamic Thresholds again. If the port still
//!   holds more than B / sigma, that is another burst.
//!
//! Until then, and where nothing is known yet, each queue has the threshold of Dynamic Thresholds.
//! When fewer than K gradients are above, the mean is of those that are; when none is, the largest
//! burst known counts.
//!
//! # What the paper leaves open
//! - Which gradient a burst is known by (`key`). As printed it is that of the moment when the maximum
//!   is reached (`"at-max"`): where nothing is lost next to nothing, since a queue that still grows
//!   fast has not come to its maximum; where a limit cuts it, how fast it came to that limit. It is
//!   looked for with the gradient of the moment. `"at-detection"` learns and
//!   looks for the gradient with which max first exceeded B / sigma, `"peak"` the greatest so far.
//! - Floats do not repeat: gradients count in hundredths of the fastest port's rate (`key_quantum`).
//!   Of those that fall together the greater maximum is kept.
//! - "Entries eventually age out": 1 s after they were last seen (`max_age`).
//! - What counts as the maximum of a burst that a prediction has held down: what was held, so
//!   what is learned can only shrink (`record = "admitted"`), or the greatest sum of what was held
//!   and what the burst had lost by then (`"admitted+dropped"`), be it to a cable that was cut.
//! - From when on predictions are used (`learning_period`): at once.
//! - A gradient is one of packets that leave one right after the other: after a pause, and after a
//!   burst's end, the first is taken as it is. What leaves after a pause has one of 0.
//!
//! # Departures from the paper
//! The printed algorithm looks its threshold up when a burst is over, and resets nothing then, so that
//! a port never gets out of its first burst; it takes K - 1 neighbours and divides by K. The rule
//! above is that of the text around it ("when incast is detected"). `variant = "printed"` runs the
//! lines as they are: gradients of all packets, from 0; a burst's end sets the threshold, and without
//! a neighbour leaves it. Line 33, which brings Dynamic Thresholds back, asks for a low maximum: a
//! port that has a predicted threshold never has one again. `smoothing`, `key` and `record` are not
//! asked then, and `bursts` counts all packets with which the lines take a burst for over: many.
//!
//! # Scope and limitations
//! Predicted limits are a port's and count the arrival, those of Dynamic Thresholds a queue's. In
//! the slotted model a burst is one of packets. With `port_fifo_packets` packets leave a port's queues
//! before they are sent: after a small one its gradient may begin anew. What is known from the
//! beginning counts as seen at time 0, whenever it was.
//!
//! # Validation
//! Has the limits, to the byte, and decides like a second, naive implementation, which works
//! everything out anew from all samples of a burst and all bursts ever learned, on thousands of
//! random cases, in both variants; until `learning_period` is over it decides like Dynamic
//! Thresholds (`tests/naive_smartbuf.rs`).
//!
//! # Cost
//! All packets take the way through their queues, idle ports or not. A look into a tree for every
//! packet that leaves a burst; 170 bytes for every port, 80 for every burst of the
//! last `max_age`.

mod history;
mod printed;

use super::{Admission, Arrival, Count, DynamicThresholds, Learned, Sharing};
use crate::buffer::{Buffer, QueueId};
use crate::burst::{Burst, KeyGradient};
use crate::catalogue::{Environment, Policy};
use crate::watch::Watch;
use history::History;
use printed::{Outcome, Printed};
use spillway_engine::Time;
use spillway_settings::{Range, Section, SettingsError};

/// Predicts how much of the buffer a burst will take.
#[derive(Clone, Debug)]
pub struct Smartbuf {
    dynamic: DynamicThresholds,
    variant: Variant,
    key: KeyGradient,
    k: usize,
    /// B / sigma, in bytes.
    large: f64,
    beta: f64,
    past: f64,
    counts_lost: bool,
    learning_period: Time,
    uncounted_bytes: u32,
    releases_at_end: bool,
    history: History,
    ports: Vec<Port>,
    bursts: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Text,
    Printed,
}

/// A port's burst, and what it may hold if that is predicted.
#[derive(Clone, Copy, Debug, Default)]
struct Port {
    burst: Burst,
    printed: Printed,
    limit: Option<u64>,
}

impl Policy for Smartbuf {
    const ID: &'static str = "smartbuf";
    const SUMMARY: &'static str =
        "Smartbuf: a port in a burst may hold as much as bursts that grew like it came to";
    const CITATION: &'static str = "Rezaei, Almasi, Vamanan: Smartbuf, IWQoS 2021, Algorithm 1";

    fn read(section: &mut Section, environment: &Environment) -> Result<Self, SettingsError> {
        let dynamic = DynamicThresholds::read(section, environment)?;
        let meaning = "the text's reading of Algorithm 1, or its printed lines";
        let variants = [("text", Variant::Text), ("printed", Variant::Printed)];
        let variant = section.choice("variant", &variants, meaning)?;
        let meaning = "the gradient that a burst is known by";
        let keys = [
            ("at-max", KeyGradient::AtMax),
            ("at-detection", KeyGradient::AtDetection),
            ("peak", KeyGradient::Peak),
        ];
        let key = section.choice("key", &keys, meaning)?;
        let meaning = "of how many known bursts the mean is taken (K)";
        let k = section.integer("k", 3, 1..=1_000_000, meaning)? as usize;
        let meaning = "a port that holds more than one over it of the buffer is in a burst";
        let sigma = section.number("sigma", 5.0, Range::AtLeast(1.0), meaning)?;
        let meaning = "the share of its maximum below which a burst is over";
        let beta = section.number("beta", 0.5, Range::Share, meaning)?;
        let meaning = "weight of the gradient before";
        let past = section.number("smoothing", 0.75, Range::Unit, meaning)?;
        let meaning = "gradients that are equal, as a share of the fastest port's rate";
        let quantum = section.number("key_quantum", 0.01, Range::Positive, meaning)?;
        let meaning = "what has not been seen for longer is forgotten";
        let max_age = section.time("max_age", "1s", meaning)?;
        let meaning = "whether a burst's maximum is what was held, or what was lost too";
        let records = [("admitted", false), ("admitted+dropped", true)];
        let counts_lost = section.choice("record", &records, meaning)?;
        let meaning = "until when nothing is predicted";
        let learning_period = section.time("learning_period", "0s", meaning)?;
        let takes = "a path, seen from the scenario's folder";
        let meaning = "what is known from the beginning: history.parquet of a run, or its folder";
        let file = section
            .optional("history", takes, meaning, |s| s.text("history", "", takes, meaning))?;
        let rates = environment.port_rates.iter().map(|rate| rate.bits_per_second());
        let fastest = rates.max().unwrap_or(8) as f64 / 8.0;
        let mut history = History::new(quantum * fastest, max_age);
        if let Some(name) = file {
            let bytes = environment.records("history", section, "history", &name)?;
            if !history.load(&bytes, environment.switch) {
                let problem = format!("{name}: it is not a history of bursts");
                return Err(section.error("history", problem));
            }
        }
        Ok(Smartbuf {
            dynamic,
            variant,
            key,
            k,
            large: environment.capacity as f64 / sigma,
            beta,
            past,
            counts_lost,
            learning_period,
            uncounted_bytes: environment.service.uncounted_bytes,
            releases_at_end: environment.service.release_at_end,
            history,
            ports: vec![Port::default(); environment.port_rates.len()],
            bursts: 0,
        })
    }
}

impl Smartbuf {
    /// What a port in such a burst may hold, if anything is known.
    fn predict(&mut self, now: Time, gradient: f64) -> Option<u64> {
        if now < self.learning_period {
            return None;
        }
        let (mut count, mut sum) = (0, 0);
        for bytes in self.history.nearest_above(now, gradient, self.k) {
            (count, sum) = (count + 1, sum + bytes);
        }
        match count {
            0 => self.history.largest(),
            count => Some(sum / count),
        }
    }

    fn learn(&mut self, now: Time, gradient: f64, bytes: u64) {
        self.history.insert(now, gradient, bytes);
        self.bursts += 1;
    }

    /// A packet has left a port that now holds so many bytes.
    fn follow(&mut self, now: Time, port: usize, bytes: u64, sent: Time) {
        let burst = &mut self.ports[port].burst;
        burst.sample(now, bytes, sent, self.past);
        let is_large = burst.max_held as f64 > self.large;
        if bytes as f64 >= self.beta * burst.max_held as f64 {
            if is_large {
                burst.detect();
                let gradient = match self.key {
                    KeyGradient::AtMax => burst.gradient(),
                    key => burst.key(key),
                };
                self.ports[port].limit = self.predict(now, gradient);
            }
            return;
        }
        let ended = *burst;
        burst.end();
        self.ports[port].limit = None;
        if is_large {
            let bytes = if self.counts_lost { ended.max_wanted } else { ended.max_held };
            self.learn(now, ended.key(self.key), bytes);
        }
    }

    fn follow_printed(&mut self, now: Time, port: usize, bytes: u64) {
        let settings = (self.k, self.large, self.beta, now >= self.learning_period);
        let state = &mut self.ports[port];
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
        // What is being sent has left, whether or not its bytes are still held.
        let held = if self.releases_at_end { size } else { 0 };
        let bytes = buffer.port_bytes(port) - u64::from(held);
        if self.variant == Variant::Printed {
            return self.follow_printed(now, port as usize, bytes);
        }
        let on_the_wire = u64::from(size) + u64::from(self.uncounted_bytes);
        let sent = now + buffer.rate(port).time_of(on_the_wire);
        self.follow(now, port as usize, bytes, sent);
    }

    fn on_drop(&mut self, _now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        self.ports[buffer.port_of(queue) as usize].burst.lose(size.into());
    }
}

impl Sharing for Smartbuf {
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        let port = buffer.port_of(arrival.queue);
        let Some(limit) = self.ports[port as usize].limit else {
            return self.dynamic.admit(arrival, buffer);
        };
        Admission::if_within(buffer.port_bytes(port) + u64::from(arrival.size) <= limit)
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
        let limit = self.ports[buffer.port_of(arrival.queue) as usize].limit;
        limit.or_else(|| self.dynamic.threshold(arrival, buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, filled};
    use super::*;

    /// 1,000,000 bytes, so more than 200,000 are a burst; three ports of 10 Gbps, on which 1500 bytes
    /// take 1.2 us.
    struct Bench {
        smartbuf: Smartbuf,
        lengths: [u32; 3],
        now: Time,
    }

    impl Bench {
        fn new(text: &str) -> Bench {
            let mut section = Section::new("sharing", text.parse().unwrap());
            let smartbuf = Smartbuf::read(&mut section, &Environment::example(3)).unwrap();
            Bench { smartbuf, lengths: [0; 3], now: Time::from_us(100) }
        }

        /// A full packet leaves a port, 1.2 us after the last, and so many bytes stay.
        fn leaves(&mut self, port: u32, bytes: u32) -> Option<u64> {
            self.now += Time::from_ns(1200);
            self.lengths[port as usize] = bytes;
            self.smartbuf.on_dequeue(self.now, port, 1500, &filled(&self.lengths));
            self.smartbuf.ports[port as usize].limit
        }

        /// A queue grows by so many bytes a packet until it holds `most`; what it may hold then.
        fn grows(&mut self, port: u32, by: u32, most: u32) -> Option<u64> {
            let mut limit = None;
            for bytes in (by..=most).step_by(by as usize) {
                limit = self.leaves(port, bytes);
            }
            limit
        }

        /// It grows, and is below half of it at once.
        fn comes_and_goes(&mut self, port: u32, by: u32, most: u32) {
            self.grows(port, by, most);
            assert_eq!(self.leaves(port, most / 2 - 1), None, "the burst is over");
        }

        fn admits(&mut self, port: u32, size: u32) -> bool {
            let buffer = filled(&self.lengths);
            self.smartbuf.admit(&arrival(port, size), &buffer) == Admission::Admit
        }

        fn known(&mut self) -> Vec<u64> {
            self.smartbuf.history.nearest_above(self.now, f64::MIN, 100).collect()
        }
    }

    #[test]
    fn a_burst_may_hold_what_the_nearest_above_came_to() {
        let mut bench = Bench::new("");
        // Growing by 6000, 9000 and 12,000 bytes in 1.2 us: 5, 7.5 and 10 GB/s.
        bench.comes_and_goes(0, 12_000, 420_000);
        bench.comes_and_goes(1, 6_000, 300_000);
        bench.comes_and_goes(0, 9_000, 360_000);
        assert_eq!(bench.known(), [300_000, 360_000, 420_000]);
        // 4000 bytes are 3.33 GB/s: below all three. 200,000 bytes are not more than a fifth.
        assert_eq!(bench.grows(2, 4_000, 200_000), None);
        assert_eq!(bench.leaves(2, 204_000), Some(360_000));
        bench.lengths[2] = 358_500;
        assert!(bench.admits(2, 1500) && !bench.admits(2, 1501));
        // 7500 bytes, 6.25 GB/s: two are above.
        bench.leaves(2, 0);
        assert_eq!(bench.grows(2, 7_500, 225_000), Some(390_000));
        // 15,000 bytes: none is, and the largest counts.
        bench.leaves(2, 0);
        assert_eq!(bench.grows(2, 15_000, 210_000), Some(420_000));
        // It falls to half of that: 3/4 12.5 - 1/4 87.5 GB/s, and port 2's own bursts of 204,000 and
        // 225,000 bytes are among the three above. Below half it is over.
        assert_eq!(bench.leaves(2, 105_000), Some(243_000));
        assert_eq!(bench.leaves(2, 104_999), None);
    }

    #[test]
    fn k_is_how_many_count() {
        for (k, limit) in [(1, 300_000), (2, 330_000), (3, 360_000), (9, 360_000)] {
            let mut bench = Bench::new(&format!("k = {k}"));
            bench.comes_and_goes(0, 12_000, 420_000);
            bench.comes_and_goes(0, 6_000, 300_000);
            bench.comes_and_goes(0, 9_000, 360_000);
            assert_eq!(bench.grows(1, 3_000, 210_000), Some(limit), "{k}");
        }
    }

    #[test]
    fn while_nothing_is_known_thresholds_are_dynamic() {
        let mut bench = Bench::new("alpha = 1.0\nlearning_period = \"1ms\"");
        assert_eq!(bench.grows(0, 6_000, 402_000), None);
        // T = 1,000,000 - 402,000 = 598,000.
        assert!(bench.admits(0, 10_000));
        bench.lengths[0] = 500_000;
        assert!(!bench.admits(0, 1), "T = 500,000");
        // Learning goes on meanwhile, and 1 ms after the run's begin it is used.
        bench.leaves(0, 0);
        assert_eq!(bench.known(), [402_000]);
        assert_eq!(bench.grows(1, 3_000, 210_000), None);
        bench.now = Time::from_ps(998_799_999);
        assert_eq!(bench.leaves(1, 211_000), None);
        bench.now = Time::from_ns(998_800);
        assert_eq!(bench.leaves(1, 211_000), Some(402_000));

        let mut bench = Bench::new("variant = \"printed\"\nlearning_period = \"1ms\"");
        bench.comes_and_goes(0, 12_000, 420_000);
        bench.now = Time::from_ps(998_799_999);
        assert_eq!(bench.leaves(0, 200_000), None);
        bench.now = Time::from_ns(998_800);
        assert_eq!(bench.leaves(0, 200_000), Some(140_000), "one of K = 3");
    }

    #[test]
    fn a_queue_that_is_no_burst_is_not_learned() {
        let mut bench = Bench::new("");
        bench.comes_and_goes(0, 5_000, 200_000);
        assert!(bench.known().is_empty());
        let mut bench = Bench::new("sigma = 5.1");
        bench.comes_and_goes(0, 5_000, 200_000);
        assert_eq!(bench.known(), [200_000]);
        let counts: Vec<u64> = bench.smartbuf.counters().iter().map(|(_, count)| *count).collect();
        assert_eq!(counts, [1, 1, 1, 0]);
    }

    #[test]
    fn it_is_known_by_the_gradient_that_is_asked_for() {
        // 6000 a packet up to 204,000, which is detected; twice 12,000; then 3000 up to 234,000: 5
        // GB/s, 3/4 5 + 1/4 10 = 6.25 and 7.1875 GB/s, and last 6.015625 and 5.13671875 GB/s.
        for (key, gradient) in [("at-max", 5.13e9), ("at-detection", 5e9), ("peak", 7.18e9)] {
            let mut bench = Bench::new(&format!("key = \"{key}\""));
            bench.grows(0, 6_000, 204_000);
            for bytes in [216_000, 228_000, 231_000, 234_000, 100_000] {
                bench.leaves(0, bytes);
            }
            // A hundredth of 1.25 GB/s is 12.5 MB/s.
            let mut above =
                |gradient| bench.smartbuf.history.nearest_above(bench.now, gradient, 1).count();
            assert_eq!((above(gradient - 0.0125e9), above(gradient + 0.0125e9)), (1, 0), "{key}");
        }
    }

    #[test]
    fn what_was_lost_may_count() {
        for (record, bytes) in [("admitted", 240_000), ("admitted+dropped", 249_000)] {
            let mut bench = Bench::new(&format!("record = \"{record}\""));
            bench.grows(0, 6_000, 234_000);
            let buffer = filled(&bench.lengths);
            for _ in 0..6 {
                bench.smartbuf.on_drop(bench.now, 0, 1500, &buffer);
                bench.smartbuf.on_drop(bench.now, 1, 1500, &buffer);
            }
            bench.leaves(0, 240_000);
            // Lost after the maximum, and while it falls: 238,000 and 10,500 are fewer.
            bench.smartbuf.on_drop(bench.now, 0, 1500, &buffer);
            bench.leaves(0, 238_000);
            bench.leaves(0, 100_000);
            assert_eq!(bench.known(), [bytes]);
        }
    }

    #[test]
    fn what_is_being_sent_is_no_burst() {
        // A burst of 900 bytes, more than 16,000 / 20, is known. A packet is sent, the last one, and its
        // bytes are held until then: no other leaves that could tell that the port is empty.
        let mut environment = Environment { capacity: 16_000, ..Environment::example(1) };
        environment.service.release_at_end = true;
        let mut section = Section::new("sharing", "sigma = 20.0".parse().unwrap());
        let mut smartbuf = Smartbuf::read(&mut section, &environment).unwrap();
        smartbuf.learn(Time::ZERO, 0.0, 900);
        let mut buffer = Buffer::new(16_000, environment.port_rates.clone(), 1);
        buffer.add(0, 1500);
        smartbuf.on_dequeue(Time::from_us(1), 0, 1500, &buffer);
        buffer.subtract(0, 1500);
        assert_eq!(smartbuf.admit(&arrival(0, 1500), &buffer), Admission::Admit);
    }

    #[test]
    fn a_pause_begins_a_new_train() {
        let mut bench = Bench::new("key = \"at-detection\"");
        // 100,000 bytes at 10 GB/s, a pause, and on with 5 GB/s.
        bench.grows(0, 12_000, 96_000);
        bench.now += Time::from_ps(1);
        for bytes in (102_000..=210_000).step_by(6_000) {
            bench.leaves(0, bytes);
        }
        bench.leaves(0, 0);
        let mut above =
            |gradient| bench.smartbuf.history.nearest_above(bench.now, gradient, 1).count();
        assert_eq!((above(4.98e9), above(5.02e9)), (1, 0));
    }

    #[test]
    fn as_printed_a_threshold_stays_where_nothing_is_above() {
        let mut bench = Bench::new("variant = \"printed\"");
        // 10 GB/s up to 420,000 bytes, of which less than half are left. It was the first.
        assert_eq!(bench.grows(0, 12_000, 420_000), None);
        assert_eq!(bench.leaves(0, 209_999), None);
        // Again it is less than half: now it knows its own burst, one of K = 3.
        assert_eq!(bench.leaves(0, 100_000), Some(140_000));
        // Nothing changes for long, and the gradient comes to 0. With 109,999 bytes in 1.2 us it is
        // a quarter of 91.7 GB/s, and that is above 10. Nor does a new maximum change anything.
        for _ in 0..40 {
            assert_eq!(bench.leaves(0, 100_000), Some(140_000));
        }
        assert_eq!(bench.leaves(0, 209_999), Some(140_000));
        assert_eq!(bench.leaves(0, 500_000), Some(140_000));
        assert!(!bench.admits(0, 64));
        // The other ports have Dynamic Thresholds: 0.5 (1,000,000 - 500,000).
        assert_eq!(bench.leaves(1, 1_000), None);
        assert!(bench.admits(1, 248_000));
    }
}

//! Smartbuf beside a second, naive implementation, packet by packet, and worked out by hand.
//!
//! The naive one stores for every port all samples since the end of its last burst, and every burst
//! that was ever learned. At every departure it computes everything from these lists. It is written
//! from the rule (`variant = "printed"` from the lines of Algorithm 1) and shares no code with the
//! switch. Both must agree on every limit, to the byte, on which packets are admitted or refused,
//! and why, and on what has been learned and forgotten.
//!
//! All computations except those of gradients are in integers. Two gradients that differ only by
//! rounding could lie in different quanta. So gradients are computed by the same operations in the
//! same order, from the first sample of a train to the last, and must be equal to the bit.

mod keys;

use crate::common::beside::{Checked, Given, Naive, Queues, Step, fate, is_asked, run, steps};
use crate::common::drawing::{Tally, look_at, watched_switches};
use crate::common::dynamic::Dynamic;
use crate::common::{Real, Settings, cases};
use keys::{Estimate, Keys, keys};
use proptest::prelude::*;
use spillway_switch::{Decision, DropReason};
use std::collections::BTreeMap;

/// The settings of both switches.
#[derive(Clone, Debug)]
struct Setup {
    keys: Keys,
    switch: Settings,
}

impl Setup {
    fn switch(&self) -> Settings {
        Settings { sharing: ("smartbuf", self.keys.text()), ..self.switch.clone() }
    }

    fn is_by_queue(&self) -> bool {
        self.keys.is_by_queue == Some(true)
    }

    /// Where a queue's bursts are: at its port, or in itself.
    fn place(&self, queue: usize) -> usize {
        if self.is_by_queue() { queue } else { queue / self.switch.queues_per_port }
    }

    /// The port of such a place.
    fn port(&self, place: usize) -> usize {
        if self.is_by_queue() { place / self.switch.queues_per_port } else { place }
    }

    /// The bytes at a queue's place.
    fn held(&self, queue: usize, queues: &Queues) -> u64 {
        if self.is_by_queue() {
            queues.bytes(queue)
        } else {
            queues.port_bytes(queue / queues.per_port)
        }
    }

    /// The rate of a port in Gbps.
    fn rate(&self, port: usize) -> u64 {
        self.switch.rates[port % self.switch.rates.len()]
    }

    /// The quantum as a share of the fastest port's rate, in bytes per second.
    fn quantum(&self) -> f64 {
        let fastest = (0..self.switch.ports).map(|port| self.rate(port)).max().unwrap();
        let share = self.keys.key_quantum.map_or(0.01, |(over, under)| over as f64 / under as f64);
        share * (fastest * 1_000_000_000 / 8) as f64
    }
}

/// What a place, a port or a queue, held after a packet had left the port.
#[derive(Clone, Copy, Debug)]
struct Sample {
    time: u64,
    bytes: u64,
    /// When that packet's transmission ended.
    sent: u64,
    /// The bytes that the burst had lost by then.
    lost: u64,
}

/// A place's state, in the rule's words.
#[derive(Clone, Debug, Default)]
struct Place {
    /// The sample at which the last burst ended.
    before: Option<Sample>,
    /// The samples since then.
    samples: Vec<Sample>,
    lost: Vec<u64>,
    /// Its limit since the last departure.
    limit: Option<u64>,
    /// The limit when the burst was detected.
    first: Option<Option<u64>>,
}

impl Place {
    /// The smoothed gradient at a sample, computed from the beginning of its train.
    fn gradient(&self, sample: usize, past: f64) -> f64 {
        let all: Vec<Sample> = self.before.iter().chain(&self.samples).copied().collect();
        let last = sample + self.before.iter().len();
        // Packets that leave at the same instant form no train, since no gradient can be computed.
        let follows = |&at: &usize| {
            let (earlier, later) = (all[at - 1], all[at]);
            later.time <= earlier.sent && later.time > earlier.time
        };
        let train = (1..=last).rev().take_while(follows).count();
        let mut smoothed = None;
        for at in last + 1 - train..=last {
            let seconds = (all[at].time - all[at - 1].time) as f64 / 1e12;
            let gradient = (all[at].bytes as f64 - all[at - 1].bytes as f64) / seconds;
            smoothed = Some(match smoothed {
                None => gradient,
                Some(before) => past * before + (1.0 - past) * gradient,
            });
        }
        smoothed.unwrap_or(0.0)
    }
}

/// A place's state, in the words of Algorithm 1.
#[derive(Clone, Copy, Debug, Default)]
struct Lines {
    gradient_prev: f64,
    qlen_prev: u64,
    t_prev: u64,
    max_buf_seen: u64,
    temp_map: (f64, u64),
    /// `None` for the DT threshold.
    port_buf_threshold: Option<u64>,
}

/// A burst that is over.
#[derive(Clone, Copy, Debug)]
struct Learned {
    time: u64,
    port: usize,
    key: i64,
    bytes: u64,
}

struct Smartbuf<'a> {
    setup: &'a Setup,
    places: Vec<Place>,
    lines: Vec<Lines>,
    learned: Vec<Learned>,
    /// The most bursts that were ever known at the same time.
    most: usize,
    /// When the known bursts were last looked up.
    looked_at: u64,
    counts: Tally,
}

impl<'a> Smartbuf<'a> {
    fn new(setup: &'a Setup) -> Smartbuf<'a> {
        let last = setup.switch.ports * setup.switch.queues_per_port - 1;
        let places = setup.place(last) + 1;
        Smartbuf {
            setup,
            places: vec![Place::default(); places],
            lines: vec![Lines::default(); places],
            learned: Vec::new(),
            most: 0,
            looked_at: 0,
            counts: Tally::default(),
        }
    }

    fn predicted(&self, queue: usize) -> Option<u64> {
        let place = self.setup.place(queue);
        if self.setup.keys.is_printed {
            self.lines[place].port_buf_threshold
        } else {
            self.places[place].limit
        }
    }

    fn limit(&self, arrival: &Given, queues: &Queues) -> u64 {
        let dynamic = self.setup.keys.dynamic.limit(arrival, queues);
        self.at_least(self.predicted(arrival.queue), dynamic)
    }

    /// The prediction. Where nothing is predicted, or Dynamic Thresholds are the floor, their limit
    /// counts.
    fn at_least(&self, predicted: Option<u64>, dynamic: u64) -> u64 {
        let has_floor = self.setup.keys.is(|keys| keys.has_floor);
        let floor = if has_floor { dynamic } else { 0 };
        predicted.map_or(dynamic, |limit| limit.max(floor))
    }

    fn key(&self, gradient: f64) -> i64 {
        (gradient / self.setup.quantum()).floor() as i64
    }

    /// The bursts of all histories that are not forgotten: for each key, the largest size since it
    /// was last absent for too long. Also returns how many have been forgotten.
    fn known(&self, now: u64) -> (BTreeMap<(usize, i64), u64>, usize) {
        let max_age = self.setup.keys.max_age_ps();
        let mut known = BTreeMap::new();
        let mut forgotten = 0;
        let is_own = self.setup.keys.is(|keys| keys.is_own_port);
        let place = |burst: &Learned| (if is_own { burst.port } else { 0 }, burst.key);
        for key in self.learned.iter().map(place) {
            let (mut seen, mut bytes, mut lapses) = (None, 0, 0);
            for burst in self.learned.iter().filter(|burst| place(burst) == key) {
                let is_known = seen.is_some_and(|seen| burst.time - seen <= max_age);
                lapses += usize::from(seen.is_some() && !is_known);
                bytes = if is_known { burst.bytes.max(bytes) } else { burst.bytes };
                seen = Some(burst.time);
            }
            let is_known = now - seen.unwrap() <= max_age;
            if !known.contains_key(&key) {
                forgotten += lapses + usize::from(!is_known);
            }
            known.insert(key, is_known.then_some(bytes));
        }
        let known = known.into_iter().filter_map(|(key, bytes)| Some((key, bytes?))).collect();
        (known, forgotten)
    }

    /// The bursts in a port's history, by key.
    fn known_to(&self, port: usize, now: u64) -> BTreeMap<i64, u64> {
        let is_own = self.setup.keys.is(|keys| keys.is_own_port);
        let known = self.known(now).0.into_iter();
        let known = known.filter(|((of, _), _)| !is_own || *of == port);
        known.map(|((_, key), bytes)| (key, bytes)).collect()
    }

    /// The sizes of the bursts whose gradients are the nearest above.
    fn nearest(&mut self, now: u64, port: usize, gradient: f64, number: usize) -> Vec<u64> {
        self.looked_at = now;
        let (key, known) = (self.key(gradient), self.known_to(port, now));
        let takes_own = self.setup.keys.is(|keys| keys.own_quantum);
        let is_above = |other: i64| other > key || (takes_own && other == key);
        let above = known.iter().filter(|(other, _)| is_above(**other));
        self.counts.count("of its own quantum", known.contains_key(&key));
        self.counts.count("of its own quantum and taken", takes_own && known.contains_key(&key));
        let others = self.known(now).0.len() - known.len();
        self.counts.count("others know of some", others > 0);
        self.counts.count("more are above", above.clone().count() > number);
        let max_age = self.setup.keys.max_age_ps();
        let is_seen_last = |burst: &&Learned| {
            let is_later = |other: &Learned| other.key == burst.key && other.time > burst.time;
            !self.learned.iter().any(is_later)
        };
        let mut seen_last = self.learned.iter().filter(is_seen_last);
        let is_oldest = seen_last.any(|burst| now - burst.time == max_age) && max_age > 0;
        self.counts.count("known for just so long", is_oldest);
        above.take(number).map(|(_, bytes)| *bytes).collect()
    }

    fn learn(&mut self, time: u64, port: usize, gradient: f64, bytes: u64) {
        let key = self.key(gradient);
        let known = self.known_to(port, time).get(&key).copied();
        self.counts.count("learned", true);
        self.counts.count("seen again", known.is_some());
        self.counts.count("seen again and smaller", known.is_some_and(|known| known > bytes));
        self.counts.count("below 0", key < 0);
        self.looked_at = time;
        self.learned.push(Learned { time, port, key, bytes });
        self.most = self.most.max(self.known(time).0.len());
    }

    /// The mean of the nearest above, or a quantile of them; the largest known if there are none
    /// above.
    fn predict(&mut self, now: u64, port: usize, gradient: f64) -> Option<u64> {
        if now < self.setup.keys.learning_ps() {
            self.counts.count("still learning", !self.learned.is_empty());
            return None;
        }
        let mut nearest = self.nearest(now, port, gradient, self.setup.keys.k());
        let number = nearest.len() as u64;
        let largest = self.known_to(port, now).values().max().copied();
        self.counts.count("nothing is known", largest.is_none());
        self.counts.count("none is above", number == 0 && largest.is_some());
        self.counts.count("fewer are above", number > 0 && nearest.len() < self.setup.keys.k());
        let Some(Estimate::Quantile(quantile)) = self.setup.keys.of_text.estimate else {
            self.counts.count("a mean of several", number > 1);
            return nearest.iter().sum::<u64>().checked_div(number).or(largest);
        };
        // The least size with at most `above` sizes above it: of n, the (n - floor((1 - q) n))th.
        let (over, under) = quantile.unwrap_or((1, 1));
        let above = (under - over) * number / under;
        nearest.sort();
        self.counts.count("a quantile, not the largest", above > 0);
        self.counts.count("the largest of several", number > 1 && above == 0);
        nearest.iter().rev().nth(above as usize).copied().or(largest)
    }

    /// A packet leaves a port, which then holds `bytes` bytes.
    fn leaves_text(&mut self, place: usize, now: u64, bytes: u64, sent: u64) {
        let keys = &self.setup.keys;
        let past = keys.smoothing.map_or(0.75, |(over, under)| over as f64 / under as f64);
        let capacity = self.setup.switch.capacity;
        let state = &mut self.places[place];
        let lost = state.lost.iter().sum();
        state.samples.push(Sample { time: now, bytes, sent, lost });
        let gradients: Vec<f64> =
            (0..state.samples.len()).map(|sample| state.gradient(sample, past)).collect();
        let max = state.samples.iter().map(|sample| sample.bytes).max().unwrap();
        let is_in_train = state.samples.len() > 1 && *gradients.last().unwrap() != 0.0;
        let is_large = |bytes: u64| keys.is_large(bytes, capacity);
        let of_first = |is: &dyn Fn(u64) -> bool| {
            let sample = state.samples.iter().position(|sample| is(sample.bytes));
            sample.map(|sample| gradients[sample])
        };
        let at_max = of_first(&|bytes| bytes == max).unwrap();
        let at_detection = of_first(&is_large);
        let peak = gradients.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.counts.count("in a train", is_in_train);
        if !keys.is_low(bytes, max) {
            self.counts.count("just not low", bytes > 0 && keys.is_low(bytes - 1, max));
            if is_large(max) {
                let gradient = match keys.key {
                    None | Some("at-max") => *gradients.last().unwrap(),
                    Some("at-detection") => at_detection.unwrap(),
                    _ => peak,
                };
                // If an earlier limit is kept, nothing is looked up, and so nothing is forgotten.
                let first = self.places[place].first;
                let kept = first.filter(|_| self.setup.keys.is(|keys| keys.looks_once));
                let limit =
                    kept.unwrap_or_else(|| self.predict(now, self.setup.port(place), gradient));
                self.counts.count("kept from detection", kept.is_some_and(|kept| kept.is_some()));
                self.counts.count("kept that nothing was known", kept == Some(None));
                self.places[place].first.get_or_insert(limit);
                self.places[place].limit = limit;
            }
            return;
        }
        let sample = *state.samples.last().unwrap();
        let wanted = state.samples.iter().map(|sample| sample.bytes + sample.lost).max().unwrap();
        *state = Place { before: Some(sample), ..Place::default() };
        self.counts.count("ends and is no burst", !is_large(max));
        if !is_large(max) {
            return;
        }
        let gradient = match keys.key {
            None | Some("at-max") => at_max,
            Some("at-detection") => at_detection.unwrap(),
            _ => peak,
        };
        let counts_lost = keys.counts_lost == Some(true);
        self.counts.count("wanted more than it held", counts_lost && wanted > max);
        self.counts.count("other keys", at_max != peak && at_detection != Some(peak));
        self.learn(now, self.setup.port(place), gradient, if counts_lost { wanted } else { max });
    }

    /// Lines 8 to 33 of Algorithm 1.
    fn leaves_printed(&mut self, place: usize, t: u64, qlen: u64) {
        let Lines { gradient_prev, qlen_prev, t_prev, .. } = self.lines[place];
        // At least one picosecond, so that nothing is divided by zero.
        let seconds = if t == t_prev { 1.0 / 1e12 } else { (t - t_prev) as f64 / 1e12 };
        let gradient = (qlen as f64 - qlen_prev as f64) / seconds; // 9
        self.lines[place].qlen_prev = qlen; // 10
        self.lines[place].t_prev = t;
        let gradient = 0.25 * gradient + 0.75 * gradient_prev; // 11
        self.lines[place].gradient_prev = gradient; // 12
        let cur_buf_in_use = qlen;
        let max_buf_seen = self.lines[place].max_buf_seen;
        if cur_buf_in_use > max_buf_seen {
            // 13
            self.lines[place].max_buf_seen = cur_buf_in_use; // 14
            self.lines[place].temp_map = (gradient, cur_buf_in_use); // 15
        } else if self.setup.keys.is_low(cur_buf_in_use, max_buf_seen) {
            // 16
            if self.setup.keys.is_large(max_buf_seen, self.setup.switch.capacity) {
                // 17 and 26
                let k = self.setup.keys.k();
                let mut min = vec![0; k + 1];
                let mut found = 0;
                let is_real_phase = t >= self.setup.keys.learning_ps();
                if is_real_phase {
                    let nearest = self.nearest(t, self.setup.port(place), gradient, k - 1);
                    found = nearest.len();
                    // 27 and 28: 1 to K - 1.
                    min[1..=found].copy_from_slice(&nearest);
                }
                let avg = min.iter().sum::<u64>() / k as u64; // 29
                self.counts.count("none is above", is_real_phase && found == 0);
                self.counts.count("fewer are above", found > 0 && found < k - 1);
                if found > 0 {
                    self.lines[place].port_buf_threshold = Some(avg); // 30
                    self.counts.count("becomes", true);
                }
                let (gradient, max_buf_seen) = self.lines[place].temp_map;
                self.learn(t, self.setup.port(place), gradient, max_buf_seen); // 18 and 31
            } else {
                self.lines[place].max_buf_seen = 0; // 20
                self.lines[place].temp_map = (0.0, 0); // 21
                let threshold = self.lines[place].port_buf_threshold.take(); // 33
                self.counts.count("ends and is no burst", true);
                self.counts.count("becomes dynamic", threshold.is_some());
            }
        }
    }
}

impl Naive for Smartbuf<'_> {
    fn check(&mut self, arrival: &Given, decision: &Decision, queues: &Queues) -> Checked {
        let limit = self.limit(arrival, queues);
        prop_assert_eq!(decision.threshold, Some(limit), "{:?}", arrival);
        let place = self.setup.place(arrival.queue);
        let predicted = self.predicted(arrival.queue);
        let bytes = self.setup.held(arrival.queue, queues) + arrival.size;
        let dynamic = self.setup.keys.dynamic.takes(arrival, queues);
        let has_floor = self.setup.keys.is(|keys| keys.has_floor);
        let is_within = predicted.map_or(dynamic, |limit| bytes <= limit || (has_floor && dynamic));
        let of_queue = queues.bytes(arrival.queue) + arrival.size;
        let is_asked = is_asked(&self.setup.switch, arrival, queues);
        let fits = queues.total() + arrival.size <= queues.capacity;
        let expected = fate(is_asked, is_within, fits);
        prop_assert_eq!(decision.dropped, expected, "{:?}: {}", arrival, limit);
        if expected.is_some() {
            self.places[place].lost.push(arrival.size);
        }
        self.counts.count("not asked", !is_asked);
        self.counts.count("full", expected == Some(DropReason::BufferFull));
        let over = expected == Some(DropReason::OverThreshold);
        self.counts.count("dynamic and taken", predicted.is_none() && expected.is_none());
        self.counts.count("dynamic and over", predicted.is_none() && over);
        self.counts.count("predicted and taken", predicted.is_some() && expected.is_none());
        self.counts.count("predicted and over", predicted.is_some() && over);
        self.counts.count("taken since predicted", expected.is_none() && !dynamic);
        self.counts.count("over since predicted", over && dynamic);
        self.counts.count("at the limit", predicted == Some(bytes));
        self.counts.count("a byte beyond", predicted.is_some_and(|limit| bytes == limit + 1));
        let is_apart = is_within != (of_queue <= limit);
        self.counts.count("queue but not port", predicted.is_some() && is_apart);
        let is_beyond = predicted.is_some_and(|limit| bytes > limit);
        self.counts.count("over but for the floor", has_floor && is_beyond && dynamic);
        Ok(())
    }

    fn room(&self, arrival: &Given, queues: &Queues) -> u64 {
        let held = self.setup.held(arrival.queue, queues);
        let dynamic = self.setup.keys.dynamic.room(arrival, queues);
        let left = self.predicted(arrival.queue).map(|limit| limit.saturating_sub(held));
        self.at_least(left, dynamic)
    }

    fn leaves(&mut self, now: u64, queue: usize, size: u64, queues: &Queues) {
        let port = queue / queues.per_port;
        let ps_per_byte = 8_000 / self.setup.rate(port);
        let sent = now + (size + self.setup.switch.uncounted) * ps_per_byte;
        let own = self.setup.place(queue);
        let mut places: Vec<usize> =
            queues.of_port(port).map(|queue| self.setup.place(queue)).collect();
        places.dedup();
        for place in places {
            // The packet has left, even if its bytes are held until it is sent.
            let gone = if place == own { size } else { 0 };
            let of = if self.setup.is_by_queue() { place } else { queue };
            let bytes = self.setup.held(of, queues) - gone;
            if self.setup.keys.is_printed {
                self.leaves_printed(place, now, bytes);
            } else {
                self.leaves_text(place, now, bytes, sent);
            }
        }
    }

    /// No packet leaves for the line, but all are lost.
    fn is_cut(&mut self, _now: u64, port: usize, bytes: &[u64], queues: &Queues) {
        for (queue, &bytes) in queues.of_port(port).zip(bytes) {
            self.places[self.setup.place(queue)].lost.push(bytes);
            self.counts.count("cut", bytes > 0);
        }
    }
}

/// Runs both, and returns how often each event occurred.
fn compare(setup: &Setup, steps: &[Step]) -> Result<Tally, TestCaseError> {
    let mut smartbuf = Smartbuf::new(setup);
    let real = run(&setup.switch(), false, &mut smartbuf, steps)?;
    let (known, forgotten) = smartbuf.known(smartbuf.looked_at);
    let told: Vec<u64> = real.switch.sharing_counters().into_iter().map(|(_, n)| n).collect();
    let expected = [smartbuf.learned.len(), known.len(), smartbuf.most, forgotten];
    let expected = expected.map(|n| n as u64);
    prop_assert_eq!(told, expected, "bursts, entries, the most of them, aged out");
    smartbuf.counts.count("forgotten", forgotten > 0);
    Ok(smartbuf.counts)
}

fn setup() -> impl Strategy<Value = Setup> {
    (keys(), watched_switches()).prop_map(|(keys, switch)| Setup { keys, switch })
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn smartbuf_decides_like_its_rule(setup in setup(), steps in steps(1..200)) {
        compare(&setup, &steps)?;
    }
}

/// The random cases above are worth something only if all outcomes occur.
#[test]
fn the_cases_learn_predict_and_forget() {
    let mut totals: BTreeMap<bool, Tally> = BTreeMap::new();
    look_at(1800, setup(), |setup, steps| {
        let counts = compare(&setup, &steps).unwrap();
        totals.entry(setup.keys.is_printed).or_default().add(counts);
    });
    for (is_printed, number) in [(false, 37), (true, 24)] {
        let mut total = totals[&is_printed].clone();
        // With the printed lines, a port with a predicted threshold never returns to Dynamic
        // Thresholds: its maximum is large, and does not fall.
        assert_eq!(total.0.remove("becomes dynamic"), is_printed.then_some(0));
        if is_printed {
            let not_taken =
                ["of its own quantum and taken", "others know of some", "over but for the floor"];
            assert!(not_taken.iter().all(|&what| total.0.remove(what) == Some(0)), "{total:?}");
        }
        assert_eq!(total.0.len(), number, "{total:?}");
        let least = |what| if what == "known for just so long" { 5 } else { 20 };
        assert!(total.0.iter().all(|(&what, &n)| n > least(what)), "{total:?}");
    }
}

/// Dynamic Thresholds, which stores what the switch beside it decides.
struct Told<'a> {
    dynamic: &'a Dynamic,
    decisions: Vec<(Option<u64>, Option<DropReason>)>,
}

impl Naive for Told<'_> {
    fn check(&mut self, _arrival: &Given, decision: &Decision, _queues: &Queues) -> Checked {
        self.decisions.push((decision.threshold, decision.dropped));
        Ok(())
    }

    fn room(&self, arrival: &Given, queues: &Queues) -> u64 {
        self.dynamic.room(arrival, queues)
    }

    fn leaves(&mut self, _now: u64, _queue: usize, _size: u64, _queues: &Queues) {}
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn while_it_learns_it_is_dynamic_thresholds(setup in setup(), steps in steps(1..200)) {
        let Setup { keys, .. } = &setup;
        let decisions = |sharing: (&'static str, String), bypass: bool| {
            let mut told = Told { dynamic: &keys.dynamic, decisions: Vec::new() };
            let switch = Settings { sharing, ..setup.switch() };
            run(&switch, bypass, &mut told, &steps).map(|_| told.decisions)
        };
        let bypass = setup.switch.scheduling.0 != "dwrr" && !setup.switch.release_at_end;
        let dynamic = decisions(("dt", keys.dynamic.lines().join("\n")), bypass)?;
        for is_printed in [false, true] {
            let mut keys = Keys { is_printed, learning_ns: None, ..keys.clone() }.text();
            keys.push_str("\nlearning_period = \"1s\"");
            prop_assert_eq!(&decisions(("smartbuf", keys), false)?, &dynamic);
        }
    }
}

#[test]
fn a_burst_is_held_to_what_the_last_one_came_to() {
    for (record, lost) in [("admitted", 3), ("admitted+dropped", 2)] {
        // B = 12,000, so that a burst is more than 2400 bytes; 1000 bytes take 0.8 us.
        let sharing = format!("key = \"at-detection\"\nrecord = \"{record}\"");
        let mut real = Real::new(&Settings {
            capacity: 12_000,
            ports: 2,
            sharing: ("smartbuf", sharing),
            ..Settings::default()
        });
        // T = 0.5 (12,000 - Q) admits 4000 bytes, and 1000 are lost. In 0.8 us the queue
        // grows from 2000 to 3000 bytes.
        assert_eq!(real.join(0, 0, 3), 0);
        real.leave(0, 0);
        assert_eq!(real.join(700, 0, 3), 1);
        real.leave(800, 0);
        // 2000 bytes are more than half of the maximum, 1000 are not.
        real.leave(1_600, 0);
        assert_eq!(real.switch.sharing_counters()[0], ("bursts".into(), 0));
        real.leave(2_400, 0);
        assert_eq!(real.switch.sharing_counters()[0], ("bursts".into(), 1));
        real.leave(3_200, 0);
        // The other port's queue grows as fast: no burst is above, so the largest one counts.
        // 3000 bytes wait; Dynamic Thresholds would admit another packet.
        assert_eq!(real.join(4_000, 1, 3), 0);
        real.leave(4_000, 1);
        assert_eq!(real.join(4_700, 1, 2), 0);
        real.leave(4_800, 1);
        assert_eq!(real.join(4_900, 1, 3), lost, "{record}");
    }
}

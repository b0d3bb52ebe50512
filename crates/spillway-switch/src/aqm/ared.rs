//! Adaptive RED: RED whose largest probability is steered so that the average queue stays halfway
//! between min and max.
//!
//! # Reference
//! S. Floyd, R. Gummadi, S. Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of
//! RED's Active Queue Management", ICSI, August 2001.
//! <https://www.icir.org/floyd/papers/adaptiveRed.pdf>
//!
//! # Rule
//! Marks are RED's (two-point, `gentle`), with max_p in place of `max_probability`, which is where
//! it starts. Every `interval`, for every queue (or port):
//! avg > target and max_p <= 0.5 (`top`): max_p = max_p + min(`alpha`, max_p / 4);
//! avg < target and max_p >= 0.01 (`bottom`): max_p = `beta` max_p.
//! target: from min + 0.4 (max - min) to min + 0.6 (max - min) (`target_low`, `target_high`).
//! avg: as in RED, with w = 1 - exp(-1 / (T C)); T: `time_constant`, C: full packets that the port
//! sends in a second. `weight` sets w itself.
//!
//! # Departures from the paper
//! The paper also derives min and max from a target delay; here they are set, as RED's. Marks are
//! independent of each other by default (`spacing`), as in `red`. Where the paper leaves it open:
//! intervals begin with the run, and at the end of one, avg is that of the last arrival; while the
//! queue is empty it decays as if packets of full size had passed, as RED's does for an arrival. An
//! arrival at that very moment belongs to the next interval.
//!
//! # Scope and limitations
//! The defaults are the paper's, for round trips of 100 ms: ten of them are its T of 1 s, five its
//! interval of 0.5 s. In a data centre both are longer than most runs, and max_p stays where it
//! starts: set them by the base RTT. No setting for data centres is published that we know of.
//!
//! # In composition
//! What holds for [RED](red.md) holds here. Beyond that, a starved queue is long whatever is
//! marked: as long as its average is above target, max_p rises up to `top`, and what comes next is
//! marked by that.
//!
//! # Validation
//! Steps of max_p by hand (below), and the same max_p and, where the probability is 0 or 1, the
//! same marks as a second, naive implementation that is woken at every interval
//! (`tests/naive_ared.rs`).
//!
//! # Cost
//! That of RED with an average, and a comparison of times; the intervals since the last arrival are
//! made up for at the next. 88 bytes for every queue.

use super::ecn::read_not_ect;
use super::red::average::Average;
use super::red::coin::{Coin, Spacing};
use super::red::ramp::{Curve, Ramp, Thresholds, read_gentle};
use super::{Aqm, AqmSample, Scope, bytes_of, in_unit_of};
use crate::buffer::{Buffer, QueueId};
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy, Refusal};
use crate::policy::{Arrival, Verdict, Watch};
use spillway_engine::{Stream, Time};
use spillway_settings::{Range, Section, SettingsError};
use std::cmp::Ordering;

/// The least weight of a sample, as in RED.
const LEAST_WEIGHT: f64 = 1e-9;

/// How the largest probability is steered.
#[derive(Clone, Copy, Debug)]
struct Steering {
    /// Above 0.
    interval: Time,
    /// The average queues that leave it as it is, in the unit of the thresholds.
    target: (f64, f64),
    /// The largest step up, at least 1e-6.
    alpha: f64,
    /// The factor of a step down, at most 0.999999.
    beta: f64,
    /// Below the first bound there is no step down. Above the second there is no step up.
    bounds: (f64, f64),
}

/// The weight of a sample in the average.
#[derive(Clone, Copy, Debug)]
enum Weight {
    Given(f64),
    ByTime(Time),
}

/// How marks depend on the queue, and how this is steered.
#[derive(Clone, Debug)]
pub struct AredParams {
    thresholds: Thresholds,
    gentle: bool,
    /// Where the largest probability starts, above 0.
    first: f64,
    steering: Steering,
    weight: Weight,
    spacing: Spacing,
    scope: Scope,
    verdict: Verdict,
}

#[derive(Clone, Debug)]
struct QueueState {
    average: Average,
    coin: Coin,
    max_probability: f64,
    /// When the interval under way ends.
    interval_end: Time,
}

/// Adaptive RED.
#[derive(Clone, Debug)]
pub struct Ared {
    params: ByQueue<AredParams>,
    full_packet: u64,
    /// The queue class of acks that are not managed.
    unmanaged: Option<u8>,
    random: Stream,
    queues: Vec<QueueState>,
}

impl Policy for Ared {
    const ID: &'static str = "ared";
    const SUMMARY: &'static str = "Adaptive RED: RED that steers its largest probability";
    const CITATION: &'static str = "Floyd, Gummadi, Shenker: Adaptive RED: An Algorithm for Increasing the Robustness of \
         RED's Active Queue Management, ICSI, 2001";

    const CHANGES: &'static [&'static str] =
        &["min", "max", "alpha", "beta", "bottom", "top", "target_low", "target_high"];
    const CHANGES_BY_PORT: bool = true;

    type Params = AredParams;

    fn params(
        section: &mut Section,
        _environment: &Environment,
    ) -> Result<AredParams, SettingsError> {
        let thresholds = Thresholds::read(section)?;
        let meaning = "marking probability just below max, at first";
        let first = section.number("max_probability", 0.1, Range::Share, meaning)?;
        let steering = Steering::read(section, thresholds)?;
        let (bottom, top) = steering.bounds;
        if first < bottom || first > top {
            let problem = "max_probability must be from bottom to top";
            return Err(section.conflict("max_probability", problem));
        }
        let meaning = "weight of a new sample in the average; by default by `time_constant`";
        let range = Range::Within(LEAST_WEIGHT, 1.0);
        let weight =
            section.optional("weight", |section| section.number("weight", None, range, meaning))?;
        let weight = match weight {
            Some(weight) => Weight::Given(weight),
            None => {
                let meaning = "the time over which the queue is averaged, while the port sends";
                Weight::ByTime(section.positive_time("time_constant", "1s", meaning)?)
            }
        };
        let gentle = read_gentle(section, true)?;
        let spacing = Spacing::read(section)?;
        let scope = Scope::read(section)?;
        let verdict = read_not_ect(section, Verdict::MarkOrDrop)?;
        Ok(AredParams { thresholds, gentle, first, steering, weight, spacing, scope, verdict })
    }

    fn new(params: &AredParams, environment: &Environment) -> Self {
        let weight = |packet| params.weight.of(packet);
        let averages = Average::all(params.scope, environment, weight).into_iter();
        let state = |average| QueueState {
            average,
            coin: Coin::default(),
            max_probability: params.first,
            interval_end: params.steering.interval,
        };
        Ared {
            params: ByQueue::all(params.clone()),
            full_packet: u64::from(environment.full_packet),
            unmanaged: environment.unmanaged(),
            random: Stream::new(environment.seed, "ared", environment.switch.into()),
            queues: averages.map(state).collect(),
        }
    }

    fn check_change(from: &AredParams, to: &AredParams) -> Result<(), Refusal> {
        from.thresholds.check_unit(to.thresholds, true)
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        let Adoption { now, port, buffer } = *adoption;
        // Intervals that are over belong to the old parameters.
        for queue in adoption.ports().flat_map(|port| buffer.queues_of(port)) {
            let &AredParams { thresholds, ref steering, scope, .. } = self.params.of(queue);
            let is_empty = in_unit_of(thresholds.min, scope.length(queue, buffer)) == 0;
            let place = self.place(queue, buffer);
            self.queues[place].catch_up_before(now, is_empty, steering);
        }
        self.params.adopt(fresh.params, port, buffer);
    }
}

impl Steering {
    fn read(section: &mut Section, thresholds: Thresholds) -> Result<Steering, SettingsError> {
        let meaning = "time between steps of the largest probability";
        let interval = section.positive_time("interval", "500ms", meaning)?;
        let meaning = "the largest step up of the largest probability; no step is above a quarter";
        let alpha = section.number("alpha", 0.01, Range::Within(1e-6, 1.0), meaning)?;
        let meaning = "the factor of a step down of the largest probability";
        let beta = section.number("beta", 0.9, Range::Within(0.001, 0.999_999), meaning)?;
        let meaning = "below it, the largest probability falls no further";
        let bottom = section.number("bottom", 0.01, Range::Share, meaning)?;
        let meaning = "above it, the largest probability rises no further";
        let top = section.number("top", 0.5, Range::Share, meaning)?;
        if bottom > top {
            return Err(section.conflict("top", format!("{top} is less than bottom = {bottom}")));
        }
        let meaning = "where the target begins, as a share of the way from min to max";
        let low = section.number("target_low", 0.4, Range::Unit, meaning)?;
        let meaning = "where the target ends, as a share of the way from min to max";
        let high = section.number("target_high", 0.6, Range::Unit, meaning)?;
        if low > high {
            let problem = format!("{high} is less than target_low = {low}");
            return Err(section.conflict("target_high", problem));
        }
        let Thresholds { from: min, max, .. } = thresholds;
        let at = |share: f64| min + share * (max - min);
        let (target, bounds) = ((at(low), at(high)), (bottom, top));
        Ok(Steering { interval, target, alpha, beta, bounds })
    }

    /// Where an average is: below the target, in it, or above.
    fn side(&self, average: f64) -> Ordering {
        let (low, high) = self.target;
        match average {
            below if below < low => Ordering::Less,
            above if above > high => Ordering::Greater,
            _ => Ordering::Equal,
        }
    }

    /// A step: max_p + min(alpha, max_p / 4), beta max_p, or max_p.
    fn step(&self, max_probability: f64, side: Ordering) -> f64 {
        let (bottom, top) = self.bounds;
        match side {
            Ordering::Greater if max_probability <= top => {
                (max_probability + self.alpha.min(max_probability / 4.0)).min(1.0)
            }
            Ordering::Less if max_probability >= bottom => self.beta * max_probability,
            _ => max_probability,
        }
    }
}

impl Weight {
    /// w = 1 - exp(-1 / (T C)), at a port that sends a full packet in this time.
    fn of(self, packet: Time) -> f64 {
        match self {
            Weight::Given(weight) => weight,
            Weight::ByTime(constant) => {
                let packets = constant.ps() as f64 / packet.ps().max(1) as f64;
                (-libm::expm1(-1.0 / packets)).clamp(LEAST_WEIGHT, 1.0)
            }
        }
    }
}

impl QueueState {
    /// Ends the intervals that are over before now.
    fn catch_up_before(&mut self, now: Time, is_empty: bool, steering: &Steering) {
        if now > Time::ZERO {
            self.catch_up(Time::from_ps(now.ps() - 1), is_empty, steering);
        }
    }

    /// Ends the intervals that are over by now. If `is_empty`, the queue has been empty since its
    /// last packet was sent.
    #[cold]
    fn catch_up(&mut self, now: Time, is_empty: bool, steering: &Steering) {
        let side_at = |average: &Average, time: Time| {
            if is_empty {
                steering.side(average.decayed(time))
            } else {
                steering.side(average.value())
            }
        };
        while self.interval_end <= now {
            let side = side_at(&self.average, self.interval_end);
            let next = steering.step(self.max_probability, side);
            let steps = if next == self.max_probability {
                // The next intervals change nothing either, until the average is on another side of
                // the target. Meanwhile the average only decays.
                let most = now.since(self.interval_end).ps() / steering.interval.ps();
                last_with(most, |steps| {
                    side_at(&self.average, self.interval_end + steering.interval * steps) == side
                })
            } else {
                0
            };
            self.max_probability = next;
            let last = self.interval_end + steering.interval * steps;
            self.interval_end = last.saturating_add(steering.interval);
        }
    }
}

/// The last number up to `largest` that has a property. 0 has the property. If a number lacks it,
/// all greater numbers lack it too.
fn last_with(largest: u64, has: impl Fn(u64) -> bool) -> u64 {
    let (mut last, mut beyond) = (0, largest.saturating_add(1));
    while beyond - last > 1 {
        let middle = last + (beyond - last) / 2;
        if has(middle) {
            last = middle;
        } else {
            beyond = middle;
        }
    }
    last
}

impl Ared {
    /// The place of the state for a queue.
    #[inline]
    fn place(&self, queue: QueueId, buffer: &Buffer) -> usize {
        match self.params.common().scope {
            Scope::Queue => queue as usize,
            Scope::Port => buffer.port_of(queue) as usize,
        }
    }

    /// The decision about an arrival that finds an average of at least min.
    #[inline(never)]
    fn marks_some(&mut self, queue: QueueId, place: usize, average: f64) -> Verdict {
        let &AredParams { thresholds, gentle, spacing, verdict, .. } = self.params.of(queue);
        let state = &mut self.queues[place];
        let curve = Curve::TwoPoint { max_probability: state.max_probability };
        let probability = Ramp { thresholds, curve, gentle }.probability(average);
        let marks = state.coin.is_hit(probability, spacing, &mut self.random);
        if marks { verdict } else { Verdict::Pass }
    }

    /// A packet of a queue begins to be sent.
    #[inline(always)]
    fn is_sent(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        let place = self.place(queue, buffer);
        self.queues[place].average.is_sent(now, size);
    }
}

impl Aqm for Ared {
    #[inline(always)]
    fn on_arrival(&mut self, arrival: &Arrival, buffer: &Buffer) -> Verdict {
        let AredParams { thresholds, steering, scope, .. } = self.params.of(arrival.queue);
        let length = in_unit_of(thresholds.min, scope.length(arrival.queue, buffer));
        let place = self.place(arrival.queue, buffer);
        let state = &mut self.queues[place];
        if state.interval_end <= arrival.now {
            state.catch_up(arrival.now, length == 0, steering);
        }
        let average = state.average.finds(arrival.now, length.into());
        if average < thresholds.from {
            state.coin.rests();
            return Verdict::Pass;
        }
        self.marks_some(arrival.queue, place, average)
    }

    fn watches_passing(&self) -> bool {
        true
    }

    #[inline]
    fn on_pass(&mut self, passing: &Arrival, buffer: &Buffer) {
        self.is_sent(passing.now, passing.queue, passing.size, buffer);
    }

    fn marks_from(&self, environment: &Environment) -> Option<(&'static str, u64)> {
        Some(("min", bytes_of(self.params.common().thresholds.min, environment)))
    }

    fn sample(&self, now: Time, queue: QueueId, buffer: &Buffer) -> Option<AqmSample> {
        let &AredParams { thresholds, gentle, ref steering, scope, .. } = self.params.of(queue);
        let is_empty = in_unit_of(thresholds.min, scope.length(queue, buffer)) == 0;
        let mut state = self.queues[self.place(queue, buffer)].clone();
        state.catch_up(now, is_empty, steering);
        let curve = Curve::TwoPoint { max_probability: state.max_probability };
        Some(Ramp { thresholds, curve, gentle }.sample(self.full_packet))
    }
}

impl Watch for Ared {
    #[inline]
    fn on_dequeue(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        if self.unmanaged != Some(buffer.queue_class_of(queue)) {
            self.is_sent(now, queue, size, buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sharing::tests::{arrival, filled};

    const TEXT: &str = "min = \"10KB\"\nmax = \"20KB\"\nweight = 1.0\ninterval = \"1ms\"";

    fn ared(text: &str) -> Ared {
        let mut section = Section::new("aqm", text.parse().unwrap());
        Ared::read(&mut section, &Environment::example(1)).unwrap()
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    /// max_p after an arrival of this time has found a queue of so many bytes.
    fn after(ared: &mut Ared, us: u64, queue_bytes: u32) -> f64 {
        let buffer = match queue_bytes {
            0 => Buffer::new(1_000_000, Environment::example(1).port_rates, 1),
            bytes => filled(&[bytes]),
        };
        ared.on_arrival(&Arrival { now: Time::from_us(us), ..arrival(0, 1500) }, &buffer);
        ared.queues[0].max_probability
    }

    #[test]
    fn max_p_rises_by_alpha_and_falls_by_beta_around_the_target() {
        // The target is from 10 + 0.4 * 10 = 14 KB to 16 KB.
        let mut ared = ared(TEXT);
        assert_eq!(after(&mut ared, 999, 16_001), 0.1);
        // Above at 1 ms: 0.1 + 0.01. In the target, both ends included, at 2 and 3 ms.
        assert!(close(after(&mut ared, 1_000, 16_000), 0.11));
        assert!(close(after(&mut ared, 2_500, 14_000), 0.11));
        assert!(close(after(&mut ared, 3_000, 13_999), 0.11));
        // Below at 4 ms: 0.9 * 0.11.
        assert!(close(after(&mut ared, 4_000, 15_000), 0.099));
    }

    #[test]
    fn a_small_max_p_rises_by_a_quarter() {
        // 0.02 / 4 = 0.005 is less than 0.01; 0.025 / 4 = 0.00625; 0.03125 / 4 = 0.0078125.
        let mut ared = ared(&format!("{TEXT}\nmax_probability = 0.02"));
        after(&mut ared, 0, 17_000);
        assert!(close(after(&mut ared, 1_000, 17_000), 0.025));
        assert!(close(after(&mut ared, 2_000, 17_000), 0.03125));
        assert!(close(after(&mut ared, 3_000, 17_000), 0.0390625));
    }

    #[test]
    fn steps_end_beyond_the_bounds() {
        // 0.5 is still at most 0.5, 0.51 is not.
        let mut high = ared(&format!("{TEXT}\nmax_probability = 0.5"));
        after(&mut high, 0, 17_000);
        assert!(close(after(&mut high, 1_000, 17_000), 0.51));
        assert!(close(after(&mut high, 2_000, 17_000), 0.51));
        // 0.01 is still at least 0.01, 0.009 is not.
        let mut low = ared(&format!("{TEXT}\nmax_probability = 0.01"));
        after(&mut low, 0, 12_000);
        assert!(close(after(&mut low, 1_000, 12_000), 0.009));
        assert!(close(after(&mut low, 2_000, 12_000), 0.009));
        // A step that would lead beyond 1 ends there.
        let mut all = ared(&format!("{TEXT}\nmax_probability = 0.9\ntop = 1.0\nalpha = 1.0"));
        after(&mut all, 0, 17_000);
        assert_eq!(after(&mut all, 1_000, 17_000), 1.0);
    }

    #[test]
    fn intervals_without_an_arrival_are_made_up_for() {
        let mut ared = ared(TEXT);
        after(&mut ared, 0, 12_000);
        // Three are over: 0.1 * 0.9^3 = 0.0729.
        assert!(close(after(&mut ared, 3_999, 12_000), 0.0729));
        // 0.9^21 = 0.1094 and 0.9^22 = 0.0985, after which max_p = 0.00985 stays, in next to no
        // time.
        let last = after(&mut ared, 9_000_000_000, 17_000);
        assert!(last < 0.01 && close(last, 0.1 * libm::pow(0.9, 22.0)), "{last}");
        // Intervals still end at whole milliseconds.
        assert_eq!(after(&mut ared, 9_000_000_999, 17_000), last);
        assert!(close(after(&mut ared, 9_000_001_000, 17_000), last * 1.25));
    }

    #[test]
    fn while_a_queue_is_empty_its_average_decays() {
        // 0.5 * 64 KB = 32 KB is above 16 KB. The last packet is sent from 998.8 to 1000 us: at 1
        // ms the average is still 32 KB. 1500 B take 1.2 us, so at 2 ms it is next to nothing.
        let text = TEXT.replace("1.0", "0.5");
        let mut ared = ared(&text);
        after(&mut ared, 100, 64_000);
        let empty = Buffer::new(1_000_000, Environment::example(1).port_rates, 1);
        ared.on_dequeue(Time::from_ns(998_800), 0, 1500, &empty);
        assert!(close(after(&mut ared, 2_000, 0), 0.11 * 0.9));
        // A queue that is not empty keeps its average until the next arrival.
        let mut kept = tests::ared(&text);
        after(&mut kept, 100, 64_000);
        kept.on_dequeue(Time::from_ns(998_800), 0, 1500, &empty);
        assert!(close(after(&mut kept, 2_000, 1_500), 0.12));
    }

    #[test]
    fn a_sample_is_of_its_moment_and_changes_nothing() {
        // Three intervals are over at 3 ms: 0.1 * 0.9^3, over 0.01 MB. Then the same once more.
        let mut ared = ared(TEXT);
        after(&mut ared, 0, 12_000);
        let before = format!("{ared:?}");
        for _ in 0..2 {
            let sample = ared.sample(Time::from_us(3_000), 0, &filled(&[12_000])).unwrap();
            assert!(close(sample.max_probability.unwrap(), 0.0729));
            assert!((sample.slope_per_mb.unwrap() - 7.29).abs() < 1e-9);
            assert_eq!((sample.min_bytes, sample.max_bytes), (Some(10_000), Some(20_000)));
            assert_eq!(sample.probability.or(sample.lambda).or(sample.utility), None);
        }
        assert_eq!(format!("{ared:?}"), before);
        assert!(close(after(&mut ared, 3_000, 12_000), 0.0729));
    }

    #[test]
    fn the_last_number_is_found() {
        for largest in 0..20 {
            for last in 0..=largest {
                assert_eq!(last_with(largest, |n| n <= last), last);
            }
        }
    }

    #[test]
    fn the_weight_follows_the_rate() {
        // At 10 Gbps 1500 B take 1.2 us: T = 1.2 us is one packet, w = 1 - 1/e.
        let weight = |text: &str| ared(text).params.common().weight.of(Time::from_ns(1200));
        assert!(close(weight("time_constant = \"1200ns\""), 1.0 - libm::exp(-1.0)));
        // The paper's: C = 833,333 packets in a second, w = 1 - exp(-1/C), next to 1/C.
        assert!((weight("") - 1.2e-6).abs() < 1e-12, "{}", weight(""));
        assert_eq!(weight("weight = 0.25"), 0.25);
        assert_eq!(weight("time_constant = \"1000000s\""), 1e-9);
    }

    #[test]
    fn marks_follow_max_p() {
        // (15 - 10) / (20 - 10) * 0.1 = 0.05; standard error sqrt(.05 * .95 / 1e5) = 0.0007.
        // Gentle: 0.1 + 0.9 * (30 - 20) / 20 = 0.55, error 0.0016.
        let share = |queue: u32| {
            let (mut ared, buffer) = (ared(TEXT), filled(&[queue]));
            let marks = |_: &u32| ared.on_arrival(&arrival(0, 1500), &buffer) != Verdict::Pass;
            (0..100_000).filter(marks).count() as f64 / 1e5
        };
        assert!((share(15_000) - 0.05).abs() < 0.003);
        assert!((share(30_000) - 0.55).abs() < 0.006);
        assert_eq!((share(9_999), share(40_000)), (0.0, 1.0));
    }

    #[test]
    fn a_port_s_queues_have_one_max_p_if_asked() {
        let environment = Environment { queues_per_port: 2, ..Environment::example(1) };
        let mut buffer = Buffer::new(1_000_000, environment.port_rates.clone(), 2);
        [(0, 13_000), (1, 4_000)].into_iter().for_each(|(queue, size)| buffer.add(queue, size));
        let text = format!("{TEXT}\nscope = \"port\"");
        let mut section = Section::new("aqm", text.parse().unwrap());
        let mut ared = Ared::read(&mut section, &environment).unwrap();
        for (us, queue) in [(0, 0), (1_000, 1), (2_000, 0)] {
            ared.on_arrival(&Arrival { now: Time::from_us(us), ..arrival(queue, 1500) }, &buffer);
        }
        // 17 KB are above the target twice.
        assert!(close(ared.queues[0].max_probability, 0.12));
    }

    #[test]
    fn bounds_in_the_wrong_order_are_refused() {
        for (text, starts) in [
            ("bottom = 0.6", "aqm.top: 0.5 is less than bottom = 0.6"),
            ("target_low = 0.7", "aqm.target_high: 0.6 is less than target_low = 0.7"),
            ("max_probability = 0.6", "aqm.max_probability: max_probability must be from"),
            ("max_probability = 0.009", "aqm.max_probability: max_probability must be from"),
            ("min = \"9pkt\"\nmax = \"8pkt\"", "aqm.max: "),
        ] {
            let mut section = Section::new("aqm", text.parse().unwrap());
            let error = Ared::read(&mut section, &Environment::example(1)).unwrap_err();
            assert!(error.to_string().starts_with(starts), "{error}");
        }
    }
}

//! PIE: a controller steers the probability of marks so that packets wait for a target time.
//!
//! # Reference
//! R. Pan, P. Natarajan, F. Baker, G. White, "Proportional Integral Controller Enhanced (PIE)", RFC
//! 8033, 2017. <https://doi.org/10.17487/RFC8033>
//!
//! # Rule
//! Every `update_interval`, for every queue:
//! p = p + s (alpha (d - target) + beta (d - d_old)), between 0 and 1. d: the wait of the packet
//! that left last, 0 if it left the queue empty (`delay = "rate"`: bytes queued over the measured
//! rate of departures); d_old: d at the last update; s: 1/2048, 1/512, 1/128, 1/32, 1/8 or 1/2 as p
//! is below 1e-6, 1e-5, ..., 0.1, else 1. From p = 0.1 on a step is at most 0.02; p shrinks by a
//! further 2% when d = d_old = 0.
//! An arrival is hit with probability p, unless d_old < target / 2 and p < 0.2, or at most two
//! packets are queued, or a burst is allowed: for `burst` from the start, and from whenever p = 0
//! and d, d_old < target / 2.
//! A hit marks a packet that is ECN-capable while p <= `mark_up_to`; others are lost (or pass:
//! `not_ect = "pass"`).
//! `derandomize` (section 5.4) keeps hits apart: a = a + p with every arrival that could be hit, and
//! a = 0 after a hit or while p = 0. Below a = 0.85 there is no hit, from 8.5 on there is one for
//! certain.
//!
//! # Departures from the paper
//! The RFC's defaults are for the Internet: target and `update_interval` 15 ms, alpha 0.125 and
//! beta 1.25 per second, a burst of 150 ms, marks up to p = 0.1. Here target is 20 us; alpha and
//! beta are larger by 15 ms / 20 us, so that alpha target and beta target are the RFC's; all hits
//! mark. A measured rate is by cycles of 16 KB (RFC, section 5.3); a cycle weighs a half in the
//! average, as in ns-3, where the RFC gives it a quarter.
//!
//! # Scope and limitations
//! With `derandomize` fewer arrivals are hit than p says, one in 18 at p = 0.1; the controller makes
//! up for it. Linux (6.12) does not reset a when it marks for certain, and then marks every packet
//! until p falls; here it is reset. A loss to a full buffer does not reset a.
//!
//! # In composition
//! d is that of packets that have left. While a queue is starved under strict priority, or paused,
//! p goes on by the wait of the packet that left last; its long waits show when it is served, and
//! hit those that arrive then. With `delay = "rate"` the bytes that wait count at once. Packets
//! that are not ECN-capable are lost on arrival, and the last ones of a burst have none behind them
//! that show it. So are acks that share a queue with data.
//!
//! # Validation
//! The steps of p and the gaps between hits by hand (below), and the same p and the same hits, where
//! chance does not decide, as a second, naive implementation (`tests/naive_pie.rs`).
//!
//! # Cost
//! A random number for every packet while p is above 0, and the time of its arrival; an update of
//! each queue in every interval. 72 bytes for every queue.

use super::ecn::read_not_ect;
use super::{Aqm, AqmSample, bytes_behind};
use crate::buffer::{Buffer, QueueId};
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::policy::{Arrival, Departure, Verdict, Watch};
use spillway_engine::{Stream, Time};
use spillway_settings::{Range, Section, SettingsError};

/// Up to the first sum of probabilities, no arrival is hit. From the second on, every arrival is
/// hit.
const SPARED_BELOW: f64 = 0.85;
const CERTAIN_FROM: f64 = 8.5;

/// A cycle in which the rate of departures is measured, in bytes.
const CYCLE: u64 = 1 << 14;

/// The gains, and what else the controller needs.
#[derive(Clone, Debug)]
pub struct PieParams {
    target: Time,
    /// Above 0.
    update_interval: Time,
    /// Per second of waiting.
    alpha: f64,
    beta: f64,
    burst: Time,
    /// The largest probability at which ECN-capable packets are marked.
    mark_up_to: f64,
    measures_rate: bool,
    derandomize: bool,
    verdict: Verdict,
}

/// The measured rate of a queue's departures.
#[derive(Clone, Copy, Debug, Default)]
struct Drain {
    /// When the cycle under way began.
    since: Option<Time>,
    /// Bytes sent in it.
    sent: u64,
    /// How long a cycle takes, in seconds, on average; 0 before the first one is complete.
    average: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct QueueState {
    probability: f64,
    /// The wait of the packet that left last.
    wait: Time,
    /// The delay at the last update, in seconds.
    delay: f64,
    /// How long bursts are still allowed.
    burst: Time,
    drain: Drain,
    /// The sum of the probabilities since the last hit.
    accumulated: f64,
}

/// PIE.
#[derive(Clone, Debug)]
pub struct Pie {
    params: ByQueue<PieParams>,
    random: Stream,
    queues: Vec<QueueState>,
}

impl Policy for Pie {
    const ID: &'static str = "pie";
    const SUMMARY: &'static str = "PIE: a controller of the waiting time sets the probability";
    const CITATION: &'static str = "Pan et al.: Proportional Integral Controller Enhanced (PIE), RFC 8033, 2017, \
         doi:10.17487/RFC8033";

    const CHANGES: &'static [&'static str] = &["target", "alpha", "beta", "mark_up_to"];
    const CHANGES_BY_PORT: bool = true;

    type Params = PieParams;

    fn params(
        section: &mut Section,
        _environment: &Environment,
    ) -> Result<PieParams, SettingsError> {
        let meaning = "the wait to which the queue is steered; the RFC's 15ms is for the Internet";
        let target = section.positive_time("target", "20us", meaning)?;
        let meaning = "time between updates of the probability";
        let update_interval = section.positive_time("update_interval", "30us", meaning)?;
        let meaning = "change of the probability, per second that the wait is above target";
        let alpha = section.number("alpha", 93.75, Range::NotNegative, meaning)?;
        let meaning = "change of the probability, per second by which the wait has grown";
        let beta = section.number("beta", 937.5, Range::NotNegative, meaning)?;
        let meaning = "how long a burst passes after a time without congestion; the RFC's 150ms";
        let burst = section.time("burst", "0us", meaning)?;
        let meaning = "the largest probability at which packets are marked rather than lost";
        let mark_up_to = section.number("mark_up_to", 1.0, Range::Unit, meaning)?;
        let meaning = "the delay: the last packet's wait, or the queue over its rate of departures";
        let delays = [("sojourn", false), ("rate", true)];
        let measures_rate = section.choice("delay", &delays, meaning)?;
        let meaning = "whether hits are kept apart by the sum of the probabilities since the last";
        let derandomize = section.flag("derandomize", true, meaning)?;
        let verdict = read_not_ect(section, Verdict::MarkOrDrop)?;
        Ok(PieParams {
            target,
            update_interval,
            alpha,
            beta,
            burst,
            mark_up_to,
            measures_rate,
            derandomize,
            verdict,
        })
    }

    fn new(params: &PieParams, environment: &Environment) -> Self {
        let queues = environment.queues();
        let state = QueueState { burst: params.burst, ..QueueState::default() };
        Pie {
            params: ByQueue::all(params.clone()),
            random: Stream::new(environment.seed, "pie", environment.switch.into()),
            queues: vec![state; queues],
        }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.params.adopt(fresh.params, adoption.port, adoption.buffer);
    }
}

/// The factor by which a step is smaller while the probability is small.
fn scale(probability: f64) -> f64 {
    let steps = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0)];
    let steps = steps.into_iter().chain([(0.1, 2.0)]);
    let mut smaller = steps.skip_while(|(below, _)| probability >= *below);
    smaller.next().map_or(1.0, |(_, by)| 1.0 / by)
}

impl QueueState {
    /// An update, with the delay of this moment in seconds.
    fn update(&mut self, delay: f64, params: &PieParams) {
        if delay == 0.0 && self.delay == 0.0 && self.probability == 0.0 {
            // Most queues most of the time: the probability would become negative, and stays 0.
            self.burst = params.burst;
            return;
        }
        let target = params.target.secs_f64();
        let mut step = params.alpha * (delay - target) + params.beta * (delay - self.delay);
        step *= scale(self.probability);
        if self.probability >= 0.1 {
            step = step.min(0.02);
        }
        self.probability += step;
        if delay == 0.0 && self.delay == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst = self.burst.since(params.update_interval);
        if self.probability == 0.0 && delay < target / 2.0 && self.delay < target / 2.0 {
            self.burst = params.burst;
        }
        self.delay = delay;
    }

    /// An arrival that could be hit: the probability that it is, if hits are kept apart.
    fn chance(&mut self) -> f64 {
        self.accumulated =
            if self.probability == 0.0 { 0.0 } else { self.accumulated + self.probability };
        match self.accumulated {
            sum if sum < SPARED_BELOW => 0.0,
            sum if sum < CERTAIN_FROM => self.probability,
            _ => 1.0,
        }
    }
}

impl Drain {
    /// A packet has left, with this many bytes behind it.
    fn on_departure(&mut self, now: Time, size: u32, left: u32) {
        let left = u64::from(left);
        let Some(since) = self.since else {
            if left >= CYCLE {
                (self.since, self.sent) = (Some(now), 0);
            }
            return;
        };
        self.sent += u64::from(size);
        if self.sent >= CYCLE {
            let took = now.since(since).secs_f64();
            let is_first = self.average == 0.0;
            self.average = if is_first { took } else { f64::midpoint(self.average, took) };
            (self.since, self.sent) = ((left >= CYCLE).then_some(now), 0);
        }
    }

    /// How long this many bytes wait, in seconds.
    fn delay(&self, bytes: u32) -> f64 {
        f64::from(bytes) / CYCLE as f64 * self.average
    }
}

impl Pie {
    /// A packet leaves a queue with this many bytes behind it. Its wait counts as this long.
    #[inline]
    fn leaves(&mut self, queue: QueueId, now: Time, wait: Time, size: u32, left: u32) {
        let queue = &mut self.queues[queue as usize];
        queue.wait = wait;
        if self.params.common().measures_rate {
            queue.drain.on_departure(now, size, left);
        }
    }
}

impl Watch for Pie {
    fn watches_departures(&self) -> bool {
        true
    }

    fn drops_departures(&self) -> bool {
        false
    }

    fn on_departure(&mut self, departure: &Departure, buffer: &Buffer) -> Verdict {
        let left = buffer.length(departure.queue);
        let wait = if left.packets == 0 { Time::ZERO } else { departure.sojourn() };
        self.leaves(departure.queue, departure.now, wait, departure.size, left.bytes);
        Verdict::Pass
    }

    fn period(&self) -> Option<Time> {
        Some(self.params.common().update_interval)
    }

    fn on_timer(&mut self, _now: Time, buffer: &Buffer) {
        for (number, queue) in (0..).zip(&mut self.queues) {
            let params = self.params.of(number);
            let delay = if params.measures_rate {
                queue.drain.delay(buffer.bytes(number))
            } else {
                queue.wait.secs_f64()
            };
            queue.update(delay, params);
        }
    }
}

impl Aqm for Pie {
    #[inline]
    fn on_arrival(&mut self, arrival: &Arrival, buffer: &Buffer) -> Verdict {
        let queue = &mut self.queues[arrival.queue as usize];
        let QueueState { probability, delay, burst, .. } = *queue;
        let params = self.params.of(arrival.queue);
        let is_calm = delay < params.target.secs_f64() / 2.0 && probability < 0.2;
        if is_calm || burst > Time::ZERO || buffer.packets(arrival.queue) <= 2 {
            return Verdict::Pass;
        }
        let chance = if params.derandomize { queue.chance() } else { probability };
        if chance < 1.0 && self.random.uniform() >= chance {
            return Verdict::Pass;
        }
        queue.accumulated = 0.0;
        if probability <= params.mark_up_to { params.verdict } else { Verdict::Drop }
    }

    fn passes_idle_ports(&self) -> bool {
        true
    }

    fn watches_passing(&self) -> bool {
        true
    }

    #[inline]
    fn on_pass(&mut self, passing: &Arrival, _buffer: &Buffer) {
        self.leaves(passing.queue, passing.now, Time::ZERO, passing.size, 0);
    }

    fn marks_from(&self, environment: &Environment) -> Option<(&'static str, u64)> {
        // Queues are calm up to half of the target. There p falls towards 0, unless gains are so
        // large that the growth of a wait alone takes it to 0.2.
        let half = Time::from_ps(self.params.common().target.ps().div_ceil(2));
        Some(("target", bytes_behind(half, environment)?))
    }

    fn sample(&self, _now: Time, queue: QueueId, _buffer: &Buffer) -> Option<AqmSample> {
        let probability = Some(self.queues[queue as usize].probability);
        Some(AqmSample { probability, ..AqmSample::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::leaving;
    use crate::sharing::tests::{arrival, filled};

    fn pie(text: &str) -> Pie {
        let mut section = Section::new("aqm", text.parse().unwrap());
        Pie::read(&mut section, &Environment::example(1)).unwrap()
    }

    /// The probability after an update with this delay, in us, from another probability and delay.
    fn after(probability: f64, (before, now): (f64, f64)) -> f64 {
        let mut state = QueueState { probability, delay: before * 1e-6, ..QueueState::default() };
        state.update(now * 1e-6, pie("").params.common());
        state.probability
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn steps_follow_the_gains() {
        // 40 us after 30: 93.75 * 20 us + 937.5 * 10 us = 0.001875 + 0.009375 = 0.01125.
        assert!(close(after(0.2, (30.0, 40.0)), 0.21125));
        assert!(close(after(0.05, (30.0, 40.0)), 0.05 + 0.01125 / 2.0));
        assert!(close(after(0.005, (30.0, 40.0)), 0.005 + 0.01125 / 8.0));
        assert!(close(after(0.0005, (30.0, 40.0)), 0.0005 + 0.01125 / 32.0));
        assert!(close(after(0.0, (30.0, 40.0)), 0.01125 / 2048.0));
        // 100 us after 20: 0.0075 + 0.075, but at most 0.02 from 0.1 on.
        assert!(close(after(0.1, (20.0, 100.0)), 0.12));
        assert!(close(after(0.0999, (20.0, 100.0)), 0.0999 + 0.0825 / 2.0));
    }

    #[test]
    fn an_idle_queue_forgets() {
        // -0.001875, then 2% less.
        assert!(close(after(0.2, (0.0, 0.0)), (0.2 - 0.001875) * 0.98));
        assert_eq!(after(0.001, (0.0, 0.0)), (0.001 - 0.001_875 / 8.0) * 0.98);
        assert_eq!(after(1e-7, (0.0, 0.0)), 0.0);
    }

    /// A queue of three packets with this probability and delay.
    fn hit(text: &str, probability: f64, delay: f64) -> Verdict {
        let (mut pie, mut buffer) = (pie(text), filled(&[1500]));
        (0..2).for_each(|_| buffer.add(0, 1500));
        (pie.queues[0].probability, pie.queues[0].delay) = (probability, delay);
        pie.on_arrival(&arrival(0, 1500), &buffer)
    }

    #[test]
    fn calm_queues_short_queues_and_bursts_pass() {
        assert_eq!(hit("", 1.0, 0.0), Verdict::MarkOrDrop);
        assert_eq!(hit("mark_up_to = 0.1", 1.0, 0.0), Verdict::Drop);
        assert_eq!(hit("burst = \"1ms\"", 1.0, 0.0), Verdict::Pass);
        // The target is 20 us. From half of it on a queue is not calm, or from p = 0.2 on: a fifth
        // of 10,000 is hit, with a standard deviation of 40.
        let hits = |probability, delay| {
            let (mut pie, mut buffer) = (pie("derandomize = false"), filled(&[1500]));
            (0..2).for_each(|_| buffer.add(0, 1500));
            (pie.queues[0].probability, pie.queues[0].delay) = (probability, delay);
            let is_hit = |_: &u32| pie.on_arrival(&arrival(0, 1500), &buffer) != Verdict::Pass;
            (0..10_000).filter(is_hit).count()
        };
        assert_eq!(hits(0.199, 9.999e-6), 0);
        assert!((1_800..2_200).contains(&hits(0.199, 10e-6)));
        assert!((1_800..2_200).contains(&hits(0.2, 0.0)));
        let (mut pie, buffer) = (pie(""), filled(&[3000]));
        pie.queues[0].probability = 1.0;
        assert_eq!(pie.on_arrival(&arrival(0, 1500), &buffer), Verdict::Pass);
    }

    /// Which of so many arrivals are hit, at a queue of three packets that waits for the target.
    fn hits(text: &str, probability: f64, accumulated: f64, arrivals: usize) -> Vec<usize> {
        let (mut pie, mut buffer) = (pie(text), filled(&[1500]));
        (0..2).for_each(|_| buffer.add(0, 1500));
        let queue = &mut pie.queues[0];
        (queue.probability, queue.delay, queue.accumulated) = (probability, 20e-6, accumulated);
        let is_hit = |_: &usize| pie.on_arrival(&arrival(0, 1500), &buffer) != Verdict::Pass;
        (1..=arrivals).filter(is_hit).collect()
    }

    #[test]
    fn hits_are_kept_apart() {
        // 6 / 8 are below 0.85, 7 / 8 are not: after a hit six pass for certain. 8.375 + 1 / 8 are
        // 8.5: the first is hit for certain, and so is the 68th after another at the latest.
        let hit = hits("", 0.125, 8.375, 10_000);
        assert_eq!(hit[0], 1);
        let gaps: Vec<_> = hit.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!((gaps.iter().min(), gaps.iter().any(|gap| *gap > 68)), (Some(&7), false));
        // The seventh is hit with p = 1 / 8, and so on: a gap is 6 + 8 packets on average, with a
        // standard deviation of sqrt(56), for 714 gaps of 0.28.
        let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
        assert!((mean - 14.0).abs() < 1.1, "{mean}");
        // p = 0 forgets the sum, and p = 1 hits everything.
        assert!(hits("", 0.0, 8.5, 100).is_empty());
        assert_eq!(hits("", 1.0, 0.0, 3), [1, 2, 3]);
    }

    #[test]
    fn a_share_of_the_arrivals_is_hit() {
        // Standard error sqrt(0.1 * 0.9 / 1e5) = 0.00095.
        let share = hits("derandomize = false", 0.1, 0.0, 100_000).len() as f64 / 1e5;
        assert!((share - 0.1).abs() < 0.003, "{share}");
    }

    #[test]
    fn the_delay_is_the_last_wait_or_zero() {
        let mut pie = pie("");
        let mut after = |waited: u64, left: u32| {
            let leaving = leaving(Time::from_us(0), Time::from_us(waited));
            let buffer = match left {
                0 => Buffer::new(1_000_000, Environment::example(1).port_rates, 1),
                left => filled(&[left]),
            };
            pie.on_departure(&leaving, &buffer);
            pie.on_timer(Time::ZERO, &buffer);
            pie.queues[0].delay
        };
        assert!(close(after(30, 1500), 30e-6));
        assert_eq!(after(30, 0), 0.0);
    }

    #[test]
    fn a_sample_has_the_probability_alone() {
        let (mut pie, buffer) = (pie(""), filled(&[1500]));
        pie.queues[0].probability = 0.3;
        let sample = pie.sample(Time::ZERO, 0, &buffer);
        let probability = Some(0.3);
        assert_eq!(sample, Some(AqmSample { probability, ..AqmSample::default() }));
    }

    #[test]
    fn a_rate_is_measured_in_cycles_of_16_kb() {
        // A packet of 1500 bytes every 2 us: a cycle is 11 packets, 16,500 bytes, in 22 us.
        let mut drain = Drain::default();
        (0..12).for_each(|n| drain.on_departure(Time::from_us(2 * n), 1500, 100_000));
        assert!(close(drain.average, 22e-6));
        // 20 KB wait for 20,000 / 16,384 * 22 us = 26.86 us.
        assert!((drain.delay(20_000) - 26.855e-6).abs() < 1e-9);
        // At half the rate: (22 + 44) / 2.
        (1..12).for_each(|n| drain.on_departure(Time::from_us(22 + 4 * n), 1500, 1000));
        assert!(close(drain.average, 33e-6));
        assert_eq!(drain.since, None);
    }
}

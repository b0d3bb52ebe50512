//! RED: the longer the queue, the more packets are marked (or dropped).
//!
//! # Reference
//! S. Floyd, V. Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM
//! Transactions on Networking 1(4):397-413, 1993. <https://doi.org/10.1109/90.251892>
//! The point-slope form: "PRED: Performance-oriented Random Early Detection for Consistently
//! Stable Performance in Datacenters", section 2.1.
//!
//! # Rule
//! avg = (1 - w) avg + w q on every arrival; w = 1, the default, is the instantaneous queue. q: the
//! queue's length, or that of all queues of the port (`scope = "port"`).
//! `marks_at = "departure"`: a packet is decided about when it begins to be sent, and avg moves
//! then. q is the length that it leaves behind in its queue (or at its port), without itself.
//! avg < min: pass. avg >= max: mark. Between, with probability
//! two-point: p = max_p (avg - min) / (max - min); point-slope: p = lambda (avg - min), at most 1,
//! with lambda per MB (the paper's example: 0.1 / (0.2 MB - 0.005 MB) is about 0.5).
//! Gentle: from max to 2 max, p = max_p + (1 - max_p) (avg - max) / max, and from 2 max on 1.
//! `thresholds_of = "rate"`: min and max are those of the switch's slowest ports. A port that is r
//! times as fast has r times as much, and the line between them is r times as flat: p is that of
//! avg / r.
//!
//! # Departures from the paper
//! Marks are independent of each other by default, as in switches; `spacing = "uniform"` spaces
//! them as in the paper, p / (1 - count p). `"uniform-ns3"` is the same as ns-3 has it (and the
//! paper's pseudocode): count includes the arriving packet, so that gaps are shorter by one.
//! `"wait"` is ns-3's default: no mark while count p < 1, then p / (2 - count p), where count
//! includes the arriving packet too. If an arrival finds its queue empty, avg decays as if packets
//! of full size had passed since the queue's last packet was sent; so it does for a departure that
//! leaves the queue empty.
//! The point-slope form marks everything from max on, as the two-point form does; PRED's equation
//! (5) has the line at max itself.
//! The paper decides on arrival, as Linux and ns-3 do. With `marks_at = "departure"` everything
//! moves to the departure: the sample, the decay, and the packets that `spacing` counts.
//!
//! # Scope and limitations
//! A queue's length excludes the packet in transmission and the arriving one. What cannot be marked
//! is lost (`not_ect`) when it is decided about.
//!
//! # In composition
//! What holds for [ECN](ecn.md) and K holds for min. By default packets that are not ECN-capable
//! are lost: acks that share a queue with data, and data of transports without `ecn = true`. With
//! `marks_at = "departure"` they are lost at the head, and those behind them show the loss. With
//! `weight` below 1 the average of an empty queue decays by the rate of the port, also while the
//! port sends from other queues.
//!
//! # Validation
//! Marking frequencies agree with the formula (below). Where no random number is involved, it makes
//! the same decisions as a second, naive implementation on thousands of random arrivals
//! (`tests/naive_aqm.rs`).
//!
//! # Cost
//! A comparison and a division for every packet; from min on also a random number. 80 bytes for
//! every queue.

pub(super) mod average;
pub(super) mod coin;
pub(super) mod ramp;

use super::ecn::read_not_ect;
use super::moment::{LeftBehind, Moment};
use super::{Aqm, AqmSample, Scope, bytes_of, in_unit_of, number_of};
use crate::buffer::{Buffer, Length, QueueId};
use crate::by_queue::ByQueue;
use crate::catalogue::{Adoption, Environment, Policy, Refusal};
use crate::policy::{Arrival, Departure, Verdict, Watch};
use average::Average;
use coin::{Coin, Spacing};
use ramp::{Curve, Ramp, Thresholds};
use spillway_engine::{Stream, Time};
use spillway_settings::quantity::Amount;
use spillway_settings::{Range, Section, SettingsError};

#[derive(Clone, Debug)]
struct QueueState {
    average: Average,
    coin: Coin,
    /// The factor between its thresholds and those of the parameters.
    scale: f64,
}

/// How the probability of a mark grows with the queue, and what is done with it.
#[derive(Clone, Debug)]
pub struct RedParams {
    ramp: Ramp,
    /// Whether thresholds hold for the slowest ports, and grow for other ports in proportion to
    /// their rate.
    by_rate: bool,
    rules: Rules,
}

/// Parameters that stay the same while a run goes on.
#[derive(Clone, Copy, Debug)]
struct Rules {
    /// The weight of a new sample in the average, at least 1e-9. With 1, the average is the queue
    /// itself.
    weight: f64,
    /// How marks are spread over packets.
    spacing: Spacing,
    scope: Scope,
    moment: Moment,
    /// What happens to a packet that is to be marked. If it cannot be marked, it passes or is lost.
    verdict: Verdict,
}

/// Random early detection.
#[derive(Clone, Debug)]
pub struct Red {
    rules: Rules,
    ramps: ByQueue<Ramp>,
    left: LeftBehind,
    full_packet: u64,
    /// The queue class of acks that are not managed.
    unmanaged: Option<u8>,
    random: Stream,
    queues: Vec<QueueState>,
}

impl Policy for Red {
    const ID: &'static str = "red";
    const SUMMARY: &'static str = "RED: mark or drop with a probability that grows with the queue";
    const CITATION: &'static str =
        "Floyd, Jacobson: IEEE/ACM Trans. Networking 1(4), 1993, doi:10.1109/90.251892";

    const VARIANTS: &'static [&'static str] = &["form = \"point-slope\""];

    const CHANGES: &'static [&'static str] = &["min", "max", "max_probability", "slope"];
    const CHANGES_BY_PORT: bool = true;

    type Params = RedParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<RedParams, SettingsError> {
        let thresholds = Thresholds::read(section)?;
        let point_slope = section.choice(
            "form",
            &[("two-point", false), ("point-slope", true)],
            "two-point: up to `max_probability` at max; point-slope: by `slope`",
        )?;
        let curve = if point_slope {
            section.needs("form = \"two-point\"", &["max_probability"])?;
            let meaning = "rise of the probability for every MB of queue (point-slope; lambda)";
            let per_megabyte = section.number("slope", 0.5, Range::Positive, meaning)?;
            let bytes_per_unit = match thresholds.min {
                Amount::Packets(_) => f64::from(environment.full_packet),
                _ => 1.0,
            };
            Curve::PointSlope { slope: per_megabyte * bytes_per_unit * 1e-6 }
        } else {
            section.needs("form = \"point-slope\"", &["slope"])?;
            let meaning = "marking probability just below max (two-point)";
            let max_probability = section.number("max_probability", 0.02, Range::Unit, meaning)?;
            Curve::TwoPoint { max_probability }
        };
        let meaning = "weight of a new sample in the average; 1 is the instantaneous queue";
        let weight = section.number("weight", 1.0, Range::Within(1e-9, 1.0), meaning)?;
        let gentle = ramp::read_gentle(section, false)?;
        let by_rate = section.choice(
            "thresholds_of",
            &[("all", false), ("rate", true)],
            "min and max are those of all ports, or those of the switch's slowest ones, and others \
             have them in proportion to their rate",
        )?;
        let spacing = Spacing::read(section)?;
        let scope = Scope::read(section)?;
        let moment = Moment::read(section)?;
        let verdict = read_not_ect(section, Verdict::MarkOrDrop)?;
        let ramp = Ramp { thresholds, curve, gentle };
        let rules = Rules { weight, spacing, scope, moment, verdict };
        Ok(RedParams { ramp, by_rate, rules })
    }

    fn new(params: &RedParams, environment: &Environment) -> Self {
        let averages =
            Average::all(params.rules.scope, environment, |_| params.rules.weight).into_iter();
        let slowest = environment.port_rates.iter().map(|rate| rate.bits_per_second()).min();
        let state = |average: Average| {
            let scale = match slowest {
                Some(slowest) if params.by_rate => {
                    average.rate().bits_per_second() as f64 / slowest as f64
                }
                _ => 1.0,
            };
            QueueState { average, coin: Coin::default(), scale }
        };
        Red {
            rules: params.rules,
            ramps: ByQueue::all(params.ramp),
            left: LeftBehind::new(params.rules.scope, environment),
            full_packet: u64::from(environment.full_packet),
            unmanaged: environment.unmanaged(),
            random: Stream::new(environment.seed, "red", environment.switch.into()),
            queues: averages.map(state).collect(),
        }
    }

    fn check_change(from: &RedParams, to: &RedParams) -> Result<(), Refusal> {
        from.ramp.thresholds.check_unit(to.ramp.thresholds, from.rules.weight < 1.0)
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        self.ramps.adopt(fresh.ramps, adoption.port, adoption.buffer);
    }
}

impl Red {
    /// The place of the state for a queue.
    #[inline]
    fn place(&self, queue: QueueId, buffer: &Buffer) -> usize {
        match self.rules.scope {
            Scope::Queue => queue as usize,
            Scope::Port => buffer.port_of(queue) as usize,
        }
    }

    /// The average of the state at this place, updated with a queue of this length.
    #[inline]
    fn average(&mut self, now: Time, place: usize, unit: Amount, length: Length) -> f64 {
        let length = f64::from(in_unit_of(unit, length));
        if self.rules.weight == 1.0 {
            return length;
        }
        self.queues[place].average.finds(now, length)
    }

    /// Decides about a packet by the length of its queue.
    #[inline]
    fn decide(&mut self, now: Time, queue: QueueId, length: Length, buffer: &Buffer) -> Verdict {
        let ramp = *self.ramps.of(queue);
        let place = self.place(queue, buffer);
        let average = self.average(now, place, ramp.thresholds.min, length);
        let Rules { spacing, verdict, .. } = self.rules;
        let QueueState { coin, scale, .. } = &mut self.queues[place];
        let probability = ramp.probability(average / *scale);
        let marks = coin.is_hit(probability, spacing, &mut self.random);
        if marks { verdict } else { Verdict::Pass }
    }

    /// A packet of a queue begins to be sent.
    #[inline]
    fn is_sent(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        let place = self.place(queue, buffer);
        self.queues[place].average.is_sent(now, size);
    }
}

impl Aqm for Red {
    #[inline]
    fn on_arrival(&mut self, arrival: &Arrival, buffer: &Buffer) -> Verdict {
        let Rules { scope, moment, .. } = self.rules;
        if moment == Moment::Departure {
            return Verdict::Pass;
        }
        self.decide(arrival.now, arrival.queue, scope.length(arrival.queue, buffer), buffer)
    }

    fn passes_idle_ports(&self) -> bool {
        let Rules { weight, spacing, .. } = self.rules;
        let spares_empty = self.ramps.each().all(|ramp| number_of(ramp.thresholds.min) > 0);
        weight == 1.0 && spacing == Spacing::Independent && spares_empty
    }

    fn watches_passing(&self) -> bool {
        self.rules.weight < 1.0
    }

    #[inline]
    fn on_pass(&mut self, passing: &Arrival, buffer: &Buffer) {
        if self.rules.weight < 1.0 {
            self.is_sent(passing.now, passing.queue, passing.size, buffer);
        }
    }

    fn sample(&self, _now: Time, queue: QueueId, buffer: &Buffer) -> Option<AqmSample> {
        let scale = self.queues[self.place(queue, buffer)].scale;
        Some(self.ramps.of(queue).sample(self.full_packet).scaled(scale))
    }

    fn marks_from(&self, environment: &Environment) -> Option<(&'static str, u64)> {
        // `max` need not be within reach: the line marks from `min` on.
        Some(("min", bytes_of(self.ramps.common().thresholds.min, environment)))
    }
}

impl Watch for Red {
    #[inline]
    fn on_dequeue(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
        let Rules { weight, moment, .. } = self.rules;
        let is_managed = || self.unmanaged != Some(buffer.queue_class_of(queue));
        if weight < 1.0 && moment == Moment::Arrival && is_managed() {
            self.is_sent(now, queue, size, buffer);
        }
    }

    fn watches_departures(&self) -> bool {
        self.rules.moment == Moment::Departure
    }

    fn drops_departures(&self) -> bool {
        self.watches_departures() && self.rules.verdict == Verdict::MarkOrDrop
    }

    fn on_departure(&mut self, departure: &Departure, buffer: &Buffer) -> Verdict {
        if self.rules.moment == Moment::Arrival {
            return Verdict::Pass;
        }
        let &Departure { now, queue, size, ect, .. } = departure;
        let verdict = self.decide(now, queue, self.left.by(departure, buffer), buffer);
        if verdict != Verdict::MarkOrDrop || ect {
            self.is_sent(now, queue, size, buffer);
        }
        verdict
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aqm::tests::leaving;
    use crate::sharing::tests::{arrival, filled};
    use spillway_engine::Rate;

    fn red(text: &str) -> Red {
        let mut section = Section::new("aqm", text.parse().unwrap());
        Red::read(&mut section, &Environment::example(1)).unwrap()
    }

    /// The average, updated with the queue that this arrival finds.
    fn average(red: &mut Red, arrival: &Arrival, buffer: &Buffer) -> f64 {
        let place = red.place(arrival.queue, buffer);
        let length = red.rules.scope.length(arrival.queue, buffer);
        red.average(arrival.now, place, red.ramps.common().thresholds.min, length)
    }

    fn probability(text: &str, queue: f64) -> f64 {
        red(text).ramps.common().probability(queue)
    }

    /// A buffer with a queue of `bytes` bytes, or an empty queue.
    fn buffer_of(bytes: u32) -> Buffer {
        match bytes {
            0 => Buffer::new(1_000_000, Environment::example(1).port_rates, 1),
            bytes => filled(&[bytes]),
        }
    }

    fn share_marked(text: &str, queue_bytes: u32) -> f64 {
        let (mut red, buffer) = (red(text), filled(&[queue_bytes]));
        let n = 100_000;
        let marked =
            (0..n).filter(|_| red.on_arrival(&arrival(0, 1500), &buffer) != Verdict::Pass).count();
        marked as f64 / f64::from(n)
    }

    #[test]
    fn two_points_make_a_line() {
        // (60 - 20) / (100 - 20) * 0.1 = 0.05; standard error sqrt(.05 * .95 / 1e5) = 0.0007.
        let text = "min = \"20KB\"\nmax = \"100KB\"\nmax_probability = 0.1";
        assert!((share_marked(text, 60_000) - 0.05).abs() < 0.003);
        assert_eq!((share_marked(text, 19_999), share_marked(text, 100_000)), (0.0, 1.0));
    }

    /// A port of 40 Gbps beside one of 10 Gbps: thresholds of 20 and 100 KB are 80 and 400 KB
    /// there, and 240 KB are what 60 KB are at the slower one: p = 0.05.
    #[test]
    fn faster_ports_may_have_more() {
        let mut environment = Environment::example(2);
        environment.port_rates[1] = Rate::from_bits_per_second(40_000_000_000).unwrap();
        let made = |of: &str| {
            let text = format!("min = \"20KB\"\nmax = \"100KB\"\nmax_probability = 0.1\n{of}");
            let mut section = Section::new("aqm", text.parse().unwrap());
            Red::read(&mut section, &environment).unwrap()
        };
        let share = |of: &str, queue: u32, bytes: u32| {
            let mut red = made(of);
            let buffer = filled(&[if queue == 0 { bytes } else { 0 }, bytes]);
            let arrival = arrival(queue, 1500);
            let n = 100_000;
            let marked = (0..n).filter(|_| red.on_arrival(&arrival, &buffer) != Verdict::Pass);
            marked.count() as f64 / f64::from(n)
        };
        let by_rate = "thresholds_of = \"rate\"";
        for (of, queue, bytes) in [(by_rate, 0, 60_000), (by_rate, 1, 240_000), ("", 1, 60_000)] {
            assert!((share(of, queue, bytes) - 0.05).abs() < 0.003, "{of} {queue} {bytes}");
        }
        let ends = [79_999, 400_000].map(|bytes| share(by_rate, 1, bytes));
        assert_eq!(ends, [0.0, 1.0]);
        let buffer = filled(&[0, 0]);
        let told = |queue| made(by_rate).sample(Time::ZERO, queue, &buffer).unwrap();
        assert_eq!((told(0).min_bytes, told(0).max_bytes), (Some(20_000), Some(100_000)));
        assert_eq!((told(1).min_bytes, told(1).max_bytes), (Some(80_000), Some(400_000)));
        // 0.1 per 80 KB is 1.25 per MB, and a quarter of that at the faster port.
        let slopes = [0, 1].map(|queue| told(queue).slope_per_mb.unwrap());
        assert!((slopes[0] - 1.25).abs() < 1e-9 && (slopes[1] - 0.3125).abs() < 1e-9, "{slopes:?}");
    }

    #[test]
    fn a_point_and_a_slope_are_the_same_line() {
        // The PRED paper's example: 0.1 / (0.2 MB - 0.005 MB) = 0.513 per MB.
        let text = "form = \"point-slope\"\nmin = \"5KB\"\nmax = \"200KB\"\nslope = 0.512820512";
        let two = "min = \"5KB\"\nmax = \"200KB\"\nmax_probability = 0.1";
        for queue in [5_000.0, 50_000.0, 199_999.0] {
            let difference = probability(text, queue) - probability(two, queue);
            assert!(difference.abs() < 1e-9, "{queue}");
        }
        // In packets of 1500 bytes, 0.5 per MB is 0.00075 per packet; 20 packets above
        // min, p = 0.015.
        let text = "form = \"point-slope\"\nmin = \"10pkt\"\nmax = \"300pkt\"\nslope = 0.5";
        assert!((probability(text, 30.0) - 0.015).abs() < 1e-12);
    }

    #[test]
    fn gentle_goes_on_to_twice_max() {
        let text = "min = \"5pkt\"\nmax = \"10pkt\"\nmax_probability = 0.2\ngentle = true";
        // 0.2 + 0.8 * (15 - 10) / 10 = 0.6.
        assert!((probability(text, 15.0) - 0.6).abs() < 1e-12);
        assert_eq!(probability(text, 20.0), 1.0);
    }

    #[test]
    fn spacing_keeps_the_distance_of_marks_even() {
        // p = 0.5 * (60 - 20) / (100 - 20) / 5 = 0.05; uniform spacing makes the gaps uniform on
        // 1 .. 1/p, with mean (1/p + 1) / 2 = 10.5, so 2 / (1/p + 1) = 0.0952 are marked.
        let text = "min = \"20KB\"\nmax = \"100KB\"\nmax_probability = 0.1\nspacing = \"uniform\"";
        assert!((share_marked(text, 60_000) - 0.0952).abs() < 0.003);
    }

    #[test]
    fn packets_count_themselves_as_in_ns_3() {
        // p = 0.5 * (60 - 20) / (100 - 20) = 0.25. The n-th packet after a mark:
        // uniform: 0.25 / (1 - 0.25 (n - 1)): 1/4, 1/3, 1/2, 1;
        // uniform-ns3: 0.25 / (1 - 0.25 n): 1/3, 1/2, 1;
        // wait: 0 for n < 4, then 0.25 / (2 - 0.25 n): 1/4, 1/3, 1/2, 1.
        // So all gaps of a range are equally likely.
        let gaps = |spacing: &str| {
            let text = "min = \"20KB\"\nmax = \"100KB\"\nmax_probability = 0.5\nspacing";
            let (mut red, buffer) = (red(&format!("{text} = \"{spacing}\"")), filled(&[60_000]));
            let mut counts = [0; 9];
            let mut since = 0;
            for _ in 0..100_000 {
                since += 1;
                if red.on_arrival(&arrival(0, 1500), &buffer) != Verdict::Pass {
                    counts[since] += 1;
                    since = 0;
                }
            }
            let all: u32 = counts.iter().sum();
            counts.map(|count| f64::from(count) / f64::from(all))
        };
        // Standard error at most sqrt(1/3 * 2/3 / (1e5 / 5.5)) = 0.0035.
        for (spacing, range) in [("uniform", 1..=4), ("uniform-ns3", 1..=3), ("wait", 4..=7)] {
            let expected = 1.0 / range.clone().count() as f64;
            for (gap, share) in gaps(spacing).into_iter().enumerate() {
                let expected = if range.contains(&gap) { expected } else { 0.0 };
                assert!((share - expected).abs() < 0.015, "{spacing} {gap} {share}");
            }
        }
    }

    #[test]
    fn the_average_moves_by_its_weight() {
        // 0 -> 0.25 * 40,000 = 10,000 -> 10,000 + 0.25 * 30,000 = 17,500.
        let mut red = red("min = \"20KB\"\nmax = \"100KB\"\nweight = 0.25");
        let buffer = filled(&[40_000]);
        assert_eq!(average(&mut red, &arrival(0, 1500), &buffer), 10_000.0);
        assert_eq!(average(&mut red, &arrival(0, 1500), &buffer), 17_500.0);
    }

    #[test]
    fn the_average_of_an_idle_queue_decays() {
        let mut red = red("min = \"20KB\"\nmax = \"100KB\"\nweight = 0.5");
        let at = |us| Time::from_us(us);
        let mut finds = |us, queue_bytes: u32| {
            let arrival = Arrival { now: at(us), ..arrival(0, 1500) };
            average(&mut red, &arrival, &buffer_of(queue_bytes))
        };
        assert_eq!(finds(0, 64_000), 32_000.0);
        assert_eq!(finds(100, 64_000), 48_000.0);
        // The last packet starts to be sent at 100 us; 1500 B at 10 Gbps take 1.2 us. Until
        // 103.6 us, two packets of full size could have followed it: 48,000 / 4, and the empty
        // queue halves it again.
        red.on_dequeue(at(100), 0, 1500, &buffer_of(0));
        let now = at(100) + Time::from_ns(3_600);
        let arrival = Arrival { now, ..arrival(0, 1500) };
        assert_eq!(average(&mut red, &arrival, &buffer_of(0)), 6_000.0);
        // From then on, the idle time counts from this arrival.
        assert_eq!(average(&mut red, &arrival, &buffer_of(0)), 3_000.0);
    }

    #[test]
    fn the_packet_that_leaves_a_long_queue_is_marked_in_place_of_the_one_that_finds_it() {
        // Three packets of 1500 B come at once, and find 0, 1 and 2 packets; then they leave, and
        // leave 2, 1 and 0 behind. From two on all are marked, and below none.
        for (moment, expected) in [("arrival", (vec![3], vec![])), ("departure", (vec![], vec![1]))]
        {
            let mut red = red(&format!("min = \"2pkt\"\nmax = \"2pkt\"\nmarks_at = \"{moment}\""));
            let mut buffer = buffer_of(0);
            let (mut arriving, mut departing) = (Vec::new(), Vec::new());
            for place in 1..=3 {
                if red.on_arrival(&arrival(0, 1500), &buffer) != Verdict::Pass {
                    arriving.push(place);
                }
                buffer.add(0, 1500);
            }
            for place in 1..=3 {
                buffer.subtract(0, 1500);
                let leaving = leaving(Time::ZERO, Time::from_us(place));
                if red.on_departure(&leaving, &buffer) != Verdict::Pass {
                    departing.push(place);
                }
            }
            assert_eq!((arriving, departing), expected, "{moment}");
        }
    }

    #[test]
    fn at_departures_the_average_is_of_what_they_leave_behind() {
        let mut red =
            red("min = \"20KB\"\nmax = \"100KB\"\nweight = 0.5\nmarks_at = \"departure\"");
        let leaves = |red: &mut Red, ns: u64, left: u32| {
            let leaving = leaving(Time::ZERO, Time::from_ns(ns));
            red.on_dequeue(leaving.now, 0, 1500, &buffer_of(left));
            red.on_departure(&leaving, &buffer_of(left));
            red.queues[0].average.value()
        };
        // 0 -> 0.5 * 64,000 -> 48,000. What arrives meanwhile does not count.
        assert_eq!(leaves(&mut red, 0, 64_000), 32_000.0);
        red.on_arrival(&arrival(0, 1500), &buffer_of(10_000));
        assert_eq!(leaves(&mut red, 98_800, 64_000), 48_000.0);
        // The next leaves the queue empty, as soon as the line has sent the one before: half.
        assert_eq!(leaves(&mut red, 100_000, 0), 24_000.0);
        // That one has been sent at 101.2 us. Until 103.6 us, two packets of full size could have
        // followed it: 24,000 / 4, and the empty queue halves it again.
        assert_eq!(leaves(&mut red, 103_600, 0), 3_000.0);
        assert_eq!(leaves(&mut red, 104_800, 0), 1_500.0);
    }

    #[test]
    fn what_is_lost_as_it_leaves_has_not_been_sent() {
        // The queue of 30 KB is over max; then it is empty. For a packet that is lost at 0, the line is
        // idle from then on, and until 2.4 us two packets could have passed: 15,000 / 4 / 2. For one
        // that is sent until 1.2 us it is one.
        for (ect, expected) in [(false, 1_875.0), (true, 3_750.0)] {
            let text = "min = \"5KB\"\nmax = \"9KB\"\nweight = 0.5\nmarks_at = \"departure\"";
            let mut red = red(text);
            let long = Departure { ect, ..leaving(Time::ZERO, Time::ZERO) };
            assert_eq!(red.on_departure(&long, &buffer_of(30_000)), Verdict::MarkOrDrop);
            red.on_departure(&leaving(Time::ZERO, Time::from_ns(2_400)), &buffer_of(0));
            assert_eq!(red.queues[0].average.value(), expected, "{ect}");
        }
        assert!(red("marks_at = \"departure\"").drops_departures() && !red("").drops_departures());
        assert!(!red("marks_at = \"departure\"\nnot_ect = \"pass\"").drops_departures());
    }

    #[test]
    fn a_port_s_queues_have_one_average_if_asked() {
        let environment = Environment { queues_per_port: 2, ..Environment::example(1) };
        let mut buffer = Buffer::new(1_000_000, environment.port_rates.clone(), 2);
        [(0, 30_000), (1, 10_000)].into_iter().for_each(|(queue, size)| buffer.add(queue, size));
        let averages = |scope: &str| {
            let text = format!("min=\"9KB\"\nmax=\"90KB\"\nweight=0.5\nscope=\"{scope}\"");
            let mut section = Section::new("aqm", text.parse().unwrap());
            let mut red = Red::read(&mut section, &environment).unwrap();
            [0, 1].map(|queue| average(&mut red, &arrival(queue, 1500), &buffer))
        };
        assert_eq!(averages("queue"), [15_000.0, 5_000.0]);
        // 0 -> 20,000 -> 30,000 of 40,000.
        assert_eq!(averages("port"), [20_000.0, 30_000.0]);
    }

    #[test]
    fn a_sample_is_in_bytes_and_per_mb() {
        let sample = |text: &str| red(text).sample(Time::ZERO, 0, &buffer_of(0)).unwrap();
        // 10 packets of 1500 B are 0.015 MB: 0.03 / 0.015 MB = 2 per MB.
        let two_point = sample("min = \"5pkt\"\nmax = \"15pkt\"\nmax_probability = 0.03");
        let slope = two_point.slope_per_mb.unwrap();
        assert!((slope - 2.0).abs() < 1e-12);
        let expected = AqmSample {
            min_bytes: Some(7_500),
            max_bytes: Some(22_500),
            slope_per_mb: Some(slope),
            max_probability: Some(0.03),
            ..AqmSample::default()
        };
        assert_eq!(two_point, expected);
        // What was set comes back.
        for unit in ["min = \"5pkt\"\nmax = \"15pkt\"", "min = \"7500B\"\nmax = \"22500B\""] {
            let line = sample(&format!("form = \"point-slope\"\nslope = 0.7\n{unit}"));
            assert!((line.slope_per_mb.unwrap() - 0.7).abs() < 1e-12);
            assert_eq!((line.min_bytes, line.max_probability), (Some(7_500), None));
        }
        // There is no line between two thresholds that are equal.
        let step = sample("min = \"5pkt\"\nmax = \"5pkt\"");
        assert_eq!((step.slope_per_mb, step.max_bytes), (None, Some(7_500)));
    }

    #[test]
    fn thresholds_in_the_wrong_order_are_refused() {
        for text in ["min = \"9pkt\"\nmax = \"8pkt\"", "min = \"9KB\"\nmax = \"80pkt\""] {
            let mut section = Section::new("aqm", text.parse().unwrap());
            let error = Red::read(&mut section, &Environment::example(1)).unwrap_err();
            assert!(error.to_string().starts_with("aqm.max: "), "{error}");
        }
    }
}

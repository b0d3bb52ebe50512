//! The Queue Length Adjuster: small trials, and a step where two of them agree.

use spillway_engine::{Rate, Time};

/// How the utility of the mean queue (Phi) falls as the queue grows. Up to `q_left` it is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// In a straight line, to 0 at `phi_end`.
    Linear,
    /// The square of the straight line: steep at first.
    Square,
    /// `q_left` / q, which does not reach 0.
    Reciprocal,
}

/// The duration of a trial in round trips: in all, and those at its beginning that are left out. A
/// round trip lasts the base RTT and the wait in the queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrips {
    pub all: f64,
    /// Below `all`.
    pub settling: f64,
}

/// What happens in a period without a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// It counts like any other period.
    Counts,
    /// The four trials begin anew.
    BeginsAnew,
    /// It is left out.
    Pauses,
}

/// The parameters of the adjuster's steps and utility. Queues are in packets.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The weight of throughput (beta).
    pub beta: f64,
    pub shape: Shape,
    pub q_left: f64,
    /// The mean queue at which Phi ends, above `q_left`.
    pub phi_end: f64,
    /// How long trials last. `None` if a trial lasts one period, as by default.
    pub round_trips: Option<RoundTrips>,
    /// Steps of lambda, above 0 and below its least, its start, and its bounds.
    pub step: f64,
    pub lambda_first: f64,
    pub lambda_min: f64,
    pub lambda_max: f64,
    /// Steps of min, above 0, and its bounds.
    pub min_step: f64,
    pub min_first: f64,
    pub min_max: f64,
    /// Whether a trial of min compares a step up with a step down, rather than with no step.
    pub both_sides: bool,
    /// Utilities that differ by no more than this are alike.
    pub tolerance: f64,
    /// If the use of the line decides where trials disagree: the share of the line from which on it
    /// counts as busy.
    pub busy: Option<f64>,
    pub idle: Idle,
}

/// A setting of the marks: the slope, in the unit of lambda, and min in packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    pub lambda: f64,
    pub min: f64,
}

/// What was measured in a period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// Bytes sent.
    pub sent: u64,
    /// The mean queue and the shortest queue, in packets.
    pub queue: f64,
    pub least: f64,
    /// Whether nothing was sent and nothing waited.
    pub is_idle: bool,
}

/// The conditions of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub rate: Rate,
    pub period: Time,
    pub base_rtt: Time,
    /// Bytes of a packet.
    pub packet: f64,
}

/// Sums over the periods of the present trial.
#[derive(Clone, Copy, Debug, Default)]
struct Gathered {
    /// Round trips since the trial began.
    round_trips: f64,
    /// Periods that count, and sums over them.
    periods: u32,
    sent: u64,
    queue: f64,
    least: f64,
}

/// The state of one queue, or port.
#[derive(Clone, Debug)]
pub struct Adjuster {
    /// The setting around which it tries.
    center: Setting,
    /// Whether it moves min instead of lambda.
    moves_min: bool,
    /// The utilities of those of the four trials that are over.
    utilities: [f64; 4],
    trials: usize,
    gathered: Gathered,
    /// Sums over the trials that are over: the shortest queues, and the shares of the line in use.
    least: f64,
    share: f64,
    /// The utility of the last trial.
    pub utility: f64,
}

impl Rules {
    /// Phi of a mean queue in packets.
    fn phi(&self, queue: f64) -> f64 {
        if queue <= self.q_left {
            return 1.0;
        }
        let line = ((self.phi_end - queue) / (self.phi_end - self.q_left)).max(0.0);
        match self.shape {
            Shape::Linear => line,
            Shape::Square => line * line,
            Shape::Reciprocal => self.q_left / queue,
        }
    }

    /// U = beta R / C + (1 - beta) Phi(q), for a share R / C of the line.
    pub fn utility(&self, share: f64, queue: f64) -> f64 {
        self.beta * share + (1.0 - self.beta) * self.phi(queue)
    }
}

impl Place {
    /// R / C: the share of the line that so many bytes take in so many periods.
    pub fn share(&self, sent: u64, periods: u32) -> f64 {
        let time = self.period * u64::from(periods);
        self.rate.time_of(sent).ps() as f64 / time.ps() as f64
    }
}

/// Two floats that are steps apart differ by more than this, and equal ones by less.
const CLOSE: f64 = 1e-9;

impl Adjuster {
    /// An adjuster that begins at a setting.
    pub fn new(first: Setting) -> Adjuster {
        Adjuster {
            center: first,
            moves_min: false,
            utilities: [0.0; 4],
            trials: 0,
            gathered: Gathered::default(),
            least: 0.0,
            share: 0.0,
            utility: f64::NAN,
        }
    }

    /// The setting of the trial under way: high, low, low, high. High marks more.
    pub fn trial(&self, rules: &Rules) -> Setting {
        let is_high = matches!(self.trials, 0 | 3);
        let Setting { lambda, min } = self.center;
        match (self.moves_min, is_high) {
            (false, true) => Setting { lambda: (lambda + rules.step).min(rules.lambda_max), min },
            (false, false) => Setting { lambda: (lambda - rules.step).max(0.0), min },
            (true, true) if rules.both_sides => {
                Setting { lambda, min: (min - rules.min_step).max(rules.min_first) }
            }
            (true, true) => self.center,
            (true, false) => Setting { lambda, min: (min + rules.min_step).min(rules.min_max) },
        }
    }

    /// A period is over. If it ends the trial, the next trial begins, perhaps around another
    /// setting.
    pub fn end_period(&mut self, measured: Measured, place: &Place, rules: &Rules) {
        match rules.idle {
            Idle::BeginsAnew if measured.is_idle => {
                self.utility = rules.utility(place.share(measured.sent, 1), measured.queue);
                return self.begin_anew();
            }
            Idle::Pauses if measured.is_idle => return,
            _ => {}
        }
        let Some(RoundTrips { all, settling }) = rules.round_trips else {
            let share = place.share(measured.sent, 1);
            return self.end_trial(share, measured.queue, measured.least, rules);
        };
        let so_far = &mut self.gathered;
        if so_far.round_trips >= settling {
            so_far.periods += 1;
            so_far.sent += measured.sent;
            so_far.queue += measured.queue;
            so_far.least += measured.least;
        }
        let wait = place.rate.time_of((measured.queue * place.packet) as u64);
        so_far.round_trips += place.period.ps() as f64 / (place.base_rtt + wait).ps() as f64;
        if so_far.round_trips < all || so_far.periods == 0 {
            return;
        }
        let Gathered { periods, sent, queue, least, .. } = std::mem::take(so_far);
        let number = f64::from(periods);
        self.end_trial(place.share(sent, periods), queue / number, least / number, rules);
    }

    /// The four trials begin anew.
    fn begin_anew(&mut self) {
        (self.trials, self.gathered) = (0, Gathered::default());
        (self.least, self.share) = (0.0, 0.0);
    }

    /// A trial is over, with this share of the line, mean queue and least queue.
    fn end_trial(&mut self, share: f64, queue: f64, least: f64, rules: &Rules) {
        self.utility = rules.utility(share, queue);
        self.utilities[self.trials] = self.utility;
        (self.least, self.share) = (self.least + least, self.share + share);
        self.trials += 1;
        if self.trials < 4 {
            return;
        }
        let [first_high, first_low, second_low, second_high] = self.utilities;
        let is_above = |one: f64, other: f64| one > other + rules.tolerance;
        let is_busy = rules.busy.is_none_or(|busy| self.share / 4.0 >= busy);
        if is_above(first_high, first_low) && is_above(second_high, second_low) {
            self.mark_more(rules);
        } else if is_above(first_low, first_high) && is_above(second_low, second_high) {
            let is_first = self.center.lambda - rules.step < rules.lambda_first - CLOSE;
            if rules.busy.is_none() || !is_busy || !is_first {
                self.mark_less(rules);
            }
        } else if rules.busy.is_some() {
            let Setting { lambda, min } = self.center;
            let is_below = lambda < rules.lambda_first - CLOSE || min > rules.min_first + CLOSE;
            if self.least / 4.0 > rules.q_left || (is_busy && is_below) {
                self.mark_more(rules);
            } else if !is_busy {
                self.mark_less(rules);
            }
        }
        self.begin_anew();
    }

    fn mark_more(&mut self, rules: &Rules) {
        let Setting { lambda, min } = &mut self.center;
        if self.moves_min && *min > rules.min_first + CLOSE {
            *min = (*min - rules.min_step).max(rules.min_first);
            return;
        }
        self.moves_min = false;
        *lambda = (*lambda + rules.step).min(rules.lambda_max);
    }

    fn mark_less(&mut self, rules: &Rules) {
        let Setting { lambda, min } = &mut self.center;
        if self.moves_min {
            *min = (*min + rules.min_step).min(rules.min_max);
            return;
        }
        *lambda -= rules.step;
        if *lambda < rules.lambda_min - CLOSE {
            *lambda = rules.lambda_min;
            self.moves_min = true;
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn rules() -> Rules {
        Rules {
            beta: 0.4,
            shape: Shape::Linear,
            q_left: 15.0,
            phi_end: 315.0,
            round_trips: None,
            step: 0.025,
            lambda_first: 0.1,
            lambda_min: 0.05,
            lambda_max: f64::INFINITY,
            min_step: 5.0,
            min_first: 10.0,
            min_max: 315.0,
            both_sides: true,
            tolerance: 0.0,
            busy: None,
            idle: Idle::Counts,
        }
    }

    /// After four trials with these utilities: shares of the line, with beta = 1.
    fn after_by(
        adjuster: &mut Adjuster,
        utilities: [f64; 4],
        least: f64,
        rules: &Rules,
    ) -> Setting {
        let rules = Rules { beta: 1.0, ..rules.clone() };
        utilities.into_iter().for_each(|share| adjuster.end_trial(share, 1.0, least, &rules));
        adjuster.center
    }

    fn after(adjuster: &mut Adjuster, utilities: [f64; 4]) -> Setting {
        after_by(adjuster, utilities, 0.0, &rules())
    }

    fn place() -> Place {
        let rate = Rate::from_bits_per_second(10_000_000_000).expect("10 Gbps is a rate");
        let (period, base_rtt) = (Time::from_us(200), Time::from_us(40));
        Place { rate, period, base_rtt, packet: 1500.0 }
    }

    const UP: [f64; 4] = [0.9, 0.8, 0.7, 0.8];
    const DOWN: [f64; 4] = [0.8, 0.9, 0.8, 0.7];

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn utility_weighs_throughput_against_the_queue() {
        let u = |sent, queue| rules().utility(place().share(sent, 1), queue);
        // 250,000 bytes are 200 us of the line.
        assert!(close(u(250_000, 15.0), 1.0));
        assert!(close(u(125_000, 3.0), 0.2 + 0.6));
        // A sixth of the way from 15 to 315 packets.
        assert!(close(u(250_000, 65.0), 0.4 + 0.6 * 5.0 / 6.0));
        assert!(close(u(250_000, 400.0), 0.4));
        let shaped = |shape| Rules { shape, ..rules() }.phi(65.0);
        assert!(close(shaped(Shape::Square), 25.0 / 36.0));
        assert!(close(shaped(Shape::Reciprocal), 15.0 / 65.0));
    }

    #[test]
    fn the_four_trials_are_high_low_low_high() {
        let mut adjuster = Adjuster::new(Setting { lambda: 0.1, min: 10.0 });
        let mut tried = Vec::new();
        for _ in 0..4 {
            tried.push(adjuster.trial(&rules()).lambda);
            adjuster.end_trial(0.5, 1.0, 0.0, &rules());
        }
        assert!(tried.iter().zip([0.125, 0.075, 0.075, 0.125]).all(|(a, b)| close(*a, b)));
        // Equal utilities change nothing.
        assert_eq!(adjuster.center, Setting { lambda: 0.1, min: 10.0 });
    }

    #[test]
    fn it_moves_where_both_pairs_agree() {
        let mut adjuster = Adjuster::new(Setting { lambda: 0.1, min: 10.0 });
        assert!(close(after(&mut adjuster, UP).lambda, 0.125));
        assert!(close(after(&mut adjuster, DOWN).lambda, 0.1));
        for undecided in [[0.9, 0.8, 0.8, 0.7], [0.8, 0.9, 0.7, 0.8], [0.8, 0.8, 0.7, 0.8]] {
            assert!(close(after(&mut adjuster, undecided).lambda, 0.1));
        }
    }

    #[test]
    fn below_the_least_slope_min_moves() {
        let mut adjuster = Adjuster::new(Setting { lambda: 0.1, min: 10.0 });
        let slopes: Vec<f64> = (0..3).map(|_| after(&mut adjuster, DOWN).lambda).collect();
        assert!(close(slopes[0], 0.075) && close(slopes[1], 0.05) && close(slopes[2], 0.05));
        assert_eq!(after(&mut adjuster, DOWN).min, 15.0);
        // Around 15 packets: 10 marks more, 20 less.
        assert_eq!(adjuster.trial(&rules()).min, 10.0);
        adjuster.end_trial(0.5, 1.0, 0.0, &rules());
        assert_eq!(adjuster.trial(&rules()), Setting { lambda: 0.05, min: 20.0 });
        let one_sided = Rules { both_sides: false, ..rules() };
        adjuster.trials = 0;
        assert_eq!(adjuster.trial(&one_sided).min, 15.0);
        // Back to 10, and then lambda moves again.
        assert_eq!(after(&mut adjuster, UP).min, 10.0);
        let back = after(&mut adjuster, UP);
        assert!(close(back.lambda, 0.075) && back.min == 10.0);
    }

    #[test]
    fn settings_stay_within_their_bounds() {
        let bounded = Rules { lambda_max: 0.12, min_max: 12.0, ..rules() };
        let mut adjuster = Adjuster::new(Setting { lambda: 0.1, min: 10.0 });
        assert_eq!(adjuster.trial(&bounded).lambda, 0.12);
        (0..2).for_each(|_| _ = after_by(&mut adjuster, UP, 0.0, &bounded));
        assert_eq!(adjuster.center.lambda, 0.12);
        (0..10).for_each(|_| _ = after_by(&mut adjuster, DOWN, 0.0, &bounded));
        assert_eq!(adjuster.center, Setting { lambda: 0.05, min: 12.0 });
    }

    #[test]
    fn an_idle_period_counts_begins_anew_or_is_left_out() {
        let idle = Measured { is_idle: true, ..Measured::default() };
        for (choice, trials) in [(Idle::Counts, 2), (Idle::BeginsAnew, 0), (Idle::Pauses, 1)] {
            let rules = Rules { idle: choice, ..rules() };
            let mut adjuster = Adjuster::new(Setting { lambda: 0.1, min: 10.0 });
            adjuster.end_period(Measured { sent: 1, ..Measured::default() }, &place(), &rules);
            adjuster.end_period(idle, &place(), &rules);
            assert_eq!(adjuster.trials, trials);
        }
    }

    /// Pairs differ by 0.1, or by half of that.
    #[test]
    fn utilities_within_the_tolerance_are_alike() {
        let lambda = |tolerance| {
            let mut adjuster = Adjuster::new(Setting { lambda: 0.1, min: 10.0 });
            let rules = Rules { tolerance, ..rules() };
            after_by(&mut adjuster, [0.9, 0.8, 0.75, 0.8], 0.0, &rules).lambda
        };
        assert!(close(lambda(0.04), 0.125) && close(lambda(0.06), 0.1));
    }

    const UNDECIDED: [f64; 4] = [0.9, 0.8, 0.9, 0.8];

    /// Trials disagree. If the queue is never short, it is marked more. Else, if the line is not
    /// busy, it is marked less. If the line is busy, it is marked as at the start.
    #[test]
    fn the_queue_and_the_line_decide_where_trials_disagree() {
        for (least, busy, expected) in
            [(15.1, 0.8, 0.125), (15.1, 0.9, 0.125), (15.0, 0.8, 0.1), (15.0, 0.9, 0.075)]
        {
            let mut adjuster = Adjuster::new(Setting { lambda: 0.1, min: 10.0 });
            let rules = Rules { busy: Some(busy), ..rules() };
            let lambda = after_by(&mut adjuster, UNDECIDED, least, &rules).lambda;
            assert!(close(lambda, expected), "{least} {busy}: {lambda}");
        }
        let mut adjuster = Adjuster::new(Setting { lambda: 0.1, min: 10.0 });
        let [idle, busy] = [0.9, 0.8].map(|busy| Rules { busy: Some(busy), ..rules() });
        let mut settings = Vec::new();
        for rules in [&idle, &idle, &idle, &idle, &busy, &busy, &busy, &busy] {
            settings.push(after_by(&mut adjuster, UNDECIDED, 0.0, rules));
        }
        let lambdas = [0.075, 0.05, 0.05, 0.05, 0.05, 0.075, 0.1, 0.1];
        assert!(settings.iter().zip(lambdas).all(|(it, lambda)| close(it.lambda, lambda)));
        let mins: Vec<f64> = settings.iter().map(|it| it.min).collect();
        assert_eq!(mins, [10.0, 10.0, 10.0, 15.0, 10.0, 10.0, 10.0, 10.0]);
    }

    /// On a busy line lambda falls to its start, and no further.
    #[test]
    fn a_busy_line_is_not_marked_less_than_at_first() {
        for (busy, lowest) in [(0.7, 0.1), (0.9, 0.05)] {
            let mut adjuster = Adjuster::new(Setting { lambda: 0.1, min: 10.0 });
            let rules = Rules { busy: Some(busy), ..rules() };
            let up = after_by(&mut adjuster, UP, 0.0, &rules).lambda;
            assert!(close(up, 0.125));
            for _ in 0..3 {
                after_by(&mut adjuster, DOWN, 0.0, &rules);
            }
            assert!(close(adjuster.center.lambda, lowest), "{}", adjuster.center.lambda);
        }
    }
}

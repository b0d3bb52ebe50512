//! The Queue Length Adjuster: small trials, and a step where two of them agree.

use spillway_engine::{Rate, Time};

/// How the utility falls with the mean queue (Phi), which is 1 up to `q_left`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// In a straight line, to 0 at `max`.
    Linear,
    /// The square of the straight line: steep at first.
    Square,
    /// `q_left` / q, which does not reach 0.
    Reciprocal,
}

/// What the adjuster's steps and utility depend on. Queues are in packets.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The weight of throughput (beta).
    pub beta: f64,
    pub shape: Shape,
    pub q_left: f64,
    /// The longest queue that counts, above `q_left`.
    pub max: f64,
    /// Steps of lambda, above 0 and below its least, and its bounds.
    pub step: f64,
    pub lambda_min: f64,
    pub lambda_max: f64,
    /// Steps of min, above 0, and its bounds.
    pub min_step: f64,
    pub min_first: f64,
    pub min_max: f64,
    /// Whether a trial of min compares a step up with a step down, rather than with no step.
    pub both_sides: bool,
    /// Whether a period without a packet begins the four trials anew.
    pub skips_idle: bool,
}

/// What marks are made by: the slope, in the unit of lambda, and min in packets.
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
    /// The mean queue in packets.
    pub queue: f64,
    /// Whether nothing was sent and nothing waited.
    pub is_idle: bool,
}

/// The state of one queue, or port.
#[derive(Clone, Debug)]
pub struct Adjuster {
    /// The setting around which it tries.
    center: Setting,
    /// Whether it moves min instead of lambda.
    moves_min: bool,
    /// The utilities of the trials made of the four.
    utilities: [f64; 4],
    trials: usize,
    /// The utility of the last period.
    pub utility: f64,
}

impl Rules {
    /// Phi of a mean queue in packets.
    fn phi(&self, queue: f64) -> f64 {
        if queue <= self.q_left {
            return 1.0;
        }
        let line = ((self.max - queue) / (self.max - self.q_left)).max(0.0);
        match self.shape {
            Shape::Linear => line,
            Shape::Square => line * line,
            Shape::Reciprocal => self.q_left / queue,
        }
    }

    /// U = beta R / C + (1 - beta) Phi(q).
    pub fn utility(&self, measured: Measured, rate: Rate, period: Time) -> f64 {
        let throughput = rate.time_of(measured.sent).ps() as f64 / period.ps() as f64;
        self.beta * throughput + (1.0 - self.beta) * self.phi(measured.queue)
    }
}

/// Floats that are steps apart differ by more than this; equal ones by less.
const CLOSE: f64 = 1e-9;

impl Adjuster {
    /// An adjuster that begins at a setting.
    pub fn new(first: Setting) -> Adjuster {
        Adjuster {
            center: first,
            moves_min: false,
            utilities: [0.0; 4],
            trials: 0,
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

    /// A period is over. The next trial begins, perhaps around another setting.
    pub fn end_period(&mut self, measured: Measured, utility: f64, rules: &Rules) {
        self.utility = utility;
        if rules.skips_idle && measured.is_idle {
            self.trials = 0;
            return;
        }
        self.utilities[self.trials] = utility;
        self.trials += 1;
        if self.trials < 4 {
            return;
        }
        self.trials = 0;
        let [first_high, first_low, second_low, second_high] = self.utilities;
        if first_high > first_low && second_high > second_low {
            self.mark_more(rules);
        } else if first_high < first_low && second_high < second_low {
            self.mark_less(rules);
        }
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
            max: 315.0,
            step: 0.025,
            lambda_min: 0.05,
            lambda_max: f64::INFINITY,
            min_step: 5.0,
            min_first: 10.0,
            min_max: 315.0,
            both_sides: true,
            skips_idle: false,
        }
    }

    const BUSY: Measured = Measured { sent: 1, queue: 1.0, is_idle: false };

    /// After four periods with these utilities, from a slope.
    fn after(adjuster: &mut Adjuster, utilities: [f64; 4]) -> Setting {
        utilities.into_iter().for_each(|utility| adjuster.end_period(BUSY, utility, &rules()));
        adjuster.center
    }

    const UP: [f64; 4] = [0.9, 0.8, 0.7, 0.8];
    const DOWN: [f64; 4] = [0.8, 0.9, 0.8, 0.7];

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    #[test]
    fn utility_weighs_throughput_against_the_queue() {
        let rate = Rate::from_bits_per_second(10_000_000_000).expect("10 Gbps is a rate");
        let u = |sent, queue| {
            let measured = Measured { sent, queue, is_idle: false };
            rules().utility(measured, rate, Time::from_us(200))
        };
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
            adjuster.end_period(BUSY, 0.5, &rules());
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
        adjuster.end_period(BUSY, 0.5, &rules());
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
        (0..8).for_each(|n| adjuster.end_period(BUSY, UP[n % 4], &bounded));
        assert_eq!(adjuster.center.lambda, 0.12);
        (0..40).for_each(|n| adjuster.end_period(BUSY, DOWN[n % 4], &bounded));
        assert_eq!(adjuster.center, Setting { lambda: 0.05, min: 12.0 });
    }

    #[test]
    fn an_idle_period_counts_or_begins_anew() {
        let idle = Measured { sent: 0, queue: 0.0, is_idle: true };
        let skips = Rules { skips_idle: true, ..rules() };
        for (rules, trials) in [(rules(), 2), (skips, 0)] {
            let mut adjuster = Adjuster::new(Setting { lambda: 0.1, min: 10.0 });
            adjuster.end_period(BUSY, 0.5, &rules);
            adjuster.end_period(idle, 0.6, &rules);
            assert_eq!(adjuster.trials, trials);
        }
    }
}

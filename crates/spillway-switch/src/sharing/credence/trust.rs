//! Whether Credence is followed: while it loses little more than the virtual LQD has lost of the same
//! packets.

use super::super::dynamic_thresholds::DynamicThresholdsParams;
use super::super::harmonic::HarmonicParams;
use super::super::shadow::Truth;
use super::super::{DynamicThresholds, Harmonic, Sharing};
use crate::buffer::Buffer;
use crate::catalogue::{Environment, Policy};
use crate::policy::{Admission, Arrival};
use spillway_settings::{Range, Section, SettingsError};

/// When Credence is followed, and what decides otherwise.
#[derive(Clone, Debug)]
pub(super) struct TrustParams {
    window: u32,
    most: f64,
    fallback: FallbackParams,
}

#[derive(Clone, Debug)]
enum FallbackParams {
    Dt(DynamicThresholdsParams),
    Harmonic(HarmonicParams),
}

/// The judge of Credence.
#[derive(Clone, Debug)]
pub(super) struct Trust {
    window: u32,
    most: f64,
    fallback: Fallback,
    /// Arrivals until the next judgement.
    left: u32,
    /// Packets lost in this window.
    lost: u64,
    /// Packets that the virtual LQD had lost and sent by the last judgement.
    before: [u64; 2],
    is_followed: bool,
    /// The regret of the last window in which Credence was followed, and of that in which it was
    /// not, unless that was too long ago.
    followed: f64,
    not_followed: Option<f64>,
    /// For how many windows a choice that was made for its regret has lasted, and how long it may
    /// last before the other one is tried again.
    held: u32,
    hold: u32,
    /// Arrivals about which the fallback has decided.
    pub fallbacks: u64,
}

#[derive(Clone, Debug)]
enum Fallback {
    Dt(Box<DynamicThresholds>),
    Harmonic(Box<Harmonic>),
}

impl TrustParams {
    const KEYS: [&'static str; 3] = ["trust_window", "trust_regret", "fallback"];

    /// Reads the keys; `None` if Credence is always followed.
    pub fn read(
        section: &mut Section,
        exempt: Option<u8>,
        environment: &Environment,
    ) -> Result<Option<TrustParams>, SettingsError> {
        let [window, regret, fallback] = Self::KEYS;
        let meaning = "whether Credence is always followed, or while its recent regret is small: \
                       what it loses more than the virtual LQD";
        let options = [("always", false), ("regret", true)];
        if !section.extra_choice("trust", &options, meaning)? {
            section.needs("trust = \"regret\"", &Self::KEYS)?;
            return Ok(None);
        }
        let meaning = "the number of arrivals after each of which the regret is judged";
        let window = section.integer(window, 10_000, 1..=u64::from(u32::MAX), meaning)? as u32;
        let meaning = "the greatest regret, as a share of the packets that LQD sends";
        let most = section.number(regret, 0.005, Range::NotNegative, meaning)?;
        let meaning = "what decides while Credence is not followed";
        let kinds = [(DynamicThresholds::ID, true), (Harmonic::ID, false)];
        let fallback = if section.choice(fallback, &kinds, meaning)? {
            FallbackParams::Dt(DynamicThresholds::params(&mut Section::empty(), environment)?)
        } else {
            FallbackParams::Harmonic(HarmonicParams::by_rank(exempt))
        };
        Ok(Some(TrustParams { window, most, fallback }))
    }
}

impl Trust {
    /// The most windows before the other choice is tried again.
    const LONGEST_HOLD: u32 = 64;

    pub fn new(params: &TrustParams, environment: &Environment) -> Trust {
        Trust {
            window: params.window,
            most: params.most,
            fallback: match &params.fallback {
                FallbackParams::Dt(params) => {
                    Fallback::Dt(Box::new(DynamicThresholds::new(params, environment)))
                }
                FallbackParams::Harmonic(params) => {
                    Fallback::Harmonic(Box::new(Harmonic::new(params, environment)))
                }
            },
            left: params.window,
            lost: 0,
            before: [0; 2],
            is_followed: true,
            followed: 0.0,
            not_followed: None,
            held: 0,
            hold: 1,
            fallbacks: 0,
        }
    }

    /// A packet is lost: an arrival, or one that was pushed out.
    pub fn lost(&mut self) {
        self.lost += 1;
    }

    /// A packet has arrived. `truth`, what has become of the packets before it under LQD, is asked
    /// for at the end of a window.
    pub fn arrived(&mut self, truth: impl FnOnce() -> Truth) {
        if self.left == 0 {
            let now = truth().totals();
            let [dropped, sent] = [0, 1].map(|at| (now[at] - self.before[at]) as f64);
            self.judge((self.lost as f64 - dropped) / sent.max(1.0));
            (self.before, self.lost, self.left) = (now, 0, self.window);
        }
        self.left -= 1;
    }

    /// Chooses for the next window, after one with this regret.
    fn judge(&mut self, regret: f64) {
        if self.is_followed {
            self.followed = regret;
            if regret <= self.most {
                (self.held, self.hold) = (0, 1);
            } else if self.not_followed.is_none_or(|other| other < regret) {
                self.is_followed = false;
                (self.held, self.hold) = (0, (2 * self.hold).min(Trust::LONGEST_HOLD));
            } else {
                self.held += 1;
                if self.held == self.hold {
                    self.not_followed = None;
                }
            }
        } else {
            self.not_followed = Some(regret);
            self.held += 1;
            if regret >= self.followed || self.held == self.hold {
                (self.is_followed, self.held) = (true, 0);
            }
        }
    }

    /// What the fallback decides about an arrival; `None` while Credence is followed.
    pub fn instead(&mut self, arrival: &Arrival, buffer: &Buffer) -> Option<Admission> {
        if self.is_followed {
            return None;
        }
        self.fallbacks += 1;
        Some(match &mut self.fallback {
            Fallback::Dt(policy) => policy.admit(arrival, buffer),
            Fallback::Harmonic(policy) => policy.admit(arrival, buffer),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::shadow::{Ledger, Prediction};
    use super::*;

    /// The regret of each window, and whether the rule is followed in the next one.
    #[test]
    fn the_rule_is_tried_again_later_and_later() {
        let environment = Environment::example(2);
        let mut section = Section::new("sharing", "trust = \"regret\"".parse().unwrap());
        let params = TrustParams::read(&mut section, None, &environment).unwrap().unwrap();
        let mut trust = Trust::new(&params, &environment);
        let windows = [
            (0.005, true),
            (0.5, false),
            (0.1, false),
            // The fallback has had its two windows.
            (0.1, true),
            (0.5, false),
            (0.1, false),
            // It was no better than the rule.
            (0.5, true),
            // Nor would it be here, for four windows; then that is forgotten.
            (0.4, true),
            (0.4, true),
            (0.4, true),
            (0.4, true),
            (0.4, false),
            (0.1, false),
            (0.9, true),
            // All is well again, so the next fallback has two windows, not 16.
            (0.0, true),
            (0.95, false),
            (0.0, false),
            (0.0, true),
        ];
        for (window, (regret, is_followed)) in windows.into_iter().enumerate() {
            trust.judge(regret);
            assert_eq!(trust.is_followed, is_followed, "{window}");
        }
    }

    /// Of 12 arrivals LQD drops one and sends 10; here 3 are lost. 3 - 1 of 10 is 0.2.
    #[test]
    fn regret_is_what_lqd_would_not_have_lost() {
        for (most, is_followed) in [("0.2", true), ("0.19", false)] {
            let environment = Environment::example(2);
            let text = format!("trust = \"regret\"\ntrust_window = 12\ntrust_regret = {most}");
            let mut section = Section::new("sharing", text.parse().unwrap());
            let params = TrustParams::read(&mut section, None, &environment).unwrap().unwrap();
            let mut trust = Trust::new(&params, &environment);
            let mut truth = Truth::default();
            for arrival in 0..12 {
                trust.arrived(|| unreachable!("the window is not over"));
                (arrival < 3).then(|| trust.lost());
                (arrival < 11).then(|| truth.learn(Prediction::None, arrival == 0));
            }
            trust.arrived(|| truth);
            assert_eq!(trust.is_followed, is_followed);
        }
    }
}

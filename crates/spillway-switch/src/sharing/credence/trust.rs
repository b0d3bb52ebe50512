//! Whether Credence is followed: while it loses little more than the virtual LQD has lost of the same
//! packets.

use super::super::dynamic_thresholds::DynamicThresholdsParams;
use super::super::harmonic::HarmonicParams;
use super::super::shadow::{Prediction, Truth};
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
    /// Packets tested in this window.
    tested: u32,
    /// Packets lost in all, but for those of which a drop was predicted.
    lost: u64,
    /// Whether packets were lost since regret was last looked at.
    has_lost: bool,
    /// The packets that were lost here and not by the virtual LQD by the last judgement.
    before: i64,
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
        let meaning = "the number of tested packets after which the regret is judged";
        let window = section.integer(window, 1_000, 1..=u64::from(u32::MAX), meaning)? as u32;
        let meaning = "the greatest regret, as a share of the tested packets";
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
            tested: 0,
            lost: 0,
            has_lost: false,
            before: 0,
            is_followed: true,
            followed: 0.0,
            not_followed: None,
            held: 0,
            hold: 1,
            fallbacks: 0,
        }
    }

    /// A packet is lost.
    pub fn lost(&mut self, is_predicted: bool) {
        self.lost += u64::from(!is_predicted);
        self.has_lost = true;
    }

    /// A packet has arrived. `truth`, what has become of the packets before it under LQD, is asked
    /// for at the end of a window, and earlier after a loss.
    pub fn arrived(&mut self, truth: impl FnOnce() -> Truth) {
        let is_over = self.tested == self.window;
        if !(is_over || self.is_followed && self.has_lost) {
            return;
        }
        self.has_lost = false;
        let total = self.regret(truth());
        let regret = (total - self.before) as f64;
        let most = self.most.max(self.not_followed.unwrap_or(0.0));
        if is_over || regret > most * f64::from(self.window) {
            self.judge(regret / f64::from(self.tested.max(1)));
            (self.before, self.tested) = (total, 0);
        }
    }

    /// The packets that were lost here and not by LQD. One that was refused because LQD was predicted
    /// to drop it counts when LQD has sent it.
    fn regret(&self, truth: Truth) -> i64 {
        let [dropped, _] = truth.totals();
        let [right, wrong] = [true, false].map(|of| truth.of(Prediction::Drop, of));
        (self.lost + wrong) as i64 - (dropped - right) as i64
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

    /// A packet is tested. What the fallback decides about it; `None` while Credence is followed.
    pub fn instead(&mut self, arrival: &Arrival, buffer: &Buffer) -> Option<Admission> {
        self.tested += 1;
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

    fn trust(more: &str) -> Trust {
        let environment = Environment::example(2);
        let text = format!("trust = \"regret\"\ntrust_window = 12\n{more}");
        let mut section = Section::new("sharing", text.parse().unwrap());
        let params = TrustParams::read(&mut section, None, &environment).unwrap().unwrap();
        Trust::new(&params, &environment)
    }

    /// The regret of each window, and whether the rule is followed in the next one.
    #[test]
    fn the_rule_is_tried_again_later_and_later() {
        let mut trust = trust("");
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

    /// Of 12 packets 4 are lost. LQD sends two of them, of one of which a drop was predicted; it drops
    /// a third, and one that is admitted; and the predicted drop of the fourth is not decided yet: (2 +
    /// 1) - (1 + 1) = 1 of 12.
    #[test]
    fn regret_is_what_lqd_has_not_lost() {
        for (most, is_followed) in [(1, true), (0, false)] {
            let mut trust = trust(&format!("trust_regret = {:?}", f64::from(most) / 12.0));
            (0..12).for_each(|_| trust.tested += 1);
            for is_predicted in [true, true, false, false] {
                trust.lost(is_predicted);
            }
            let mut truth = Truth::default();
            truth.learn(Prediction::Drop, false);
            for (is_dropped, n) in [(false, 9), (true, 2)] {
                (0..n).for_each(|_| truth.learn(Prediction::None, is_dropped));
            }
            trust.arrived(|| truth);
            assert_eq!((trust.is_followed, trust.tested, trust.before), (is_followed, 0, 1));
        }
    }

    /// More than 0.25 x 12 = 3 wrong drops are too many, however few packets were tested, unless the
    /// fallback has lost as much before.
    #[test]
    fn a_window_ends_when_too_much_is_lost() {
        let mut trust = trust("trust_regret = 0.25");
        let mut truth = Truth::default();
        let mut one_more = |trust: &mut Trust| {
            trust.tested += 1;
            trust.lost(true);
            truth.learn(Prediction::Drop, false);
            trust.arrived(|| truth);
            trust.arrived(|| unreachable!("nothing was lost since"));
            trust.is_followed
        };
        assert_eq!([0; 4].map(|_| one_more(&mut trust)), [true, true, true, false]);
        assert_eq!((trust.tested, trust.before, trust.followed), (0, 4, 1.0));
        trust.judge(0.5);
        trust.judge(0.5);
        // 0.5 x 12 = 6.
        assert_eq!(
            [0; 7].map(|_| one_more(&mut trust)),
            [true, true, true, true, true, true, false]
        );
    }
}

//! Smartbuf's keys, as a scenario gives them and as the rule uses them.

use crate::common::dynamic::{Dynamic, dynamic};
use crate::common::{Ratio, decimal};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// The keys of a scenario; `None` where it does not give them.
#[derive(Clone, Debug)]
pub struct Keys {
    pub dynamic: Dynamic,
    pub is_printed: bool,
    pub key: Option<&'static str>,
    pub k: Option<usize>,
    pub sigma: Option<Ratio>,
    pub beta: Option<Ratio>,
    pub smoothing: Option<Ratio>,
    pub key_quantum: Option<Ratio>,
    pub counts_lost: Option<bool>,
    pub max_age_ns: Option<u64>,
    pub learning_ns: Option<u64>,
}

impl Keys {
    pub fn text(&self) -> String {
        let mut lines = self.dynamic.lines();
        if self.is_printed {
            lines.push("variant = \"printed\"".into());
        }
        lines.extend(self.key.map(|key| format!("key = \"{key}\"")));
        lines.extend(self.k.map(|k| format!("k = {k}")));
        let ratios = [
            ("sigma", &self.sigma),
            ("beta", &self.beta),
            ("smoothing", &self.smoothing),
            ("key_quantum", &self.key_quantum),
        ];
        for (name, ratio) in ratios {
            lines.extend(ratio.iter().map(|ratio| format!("{name} = {}", decimal(ratio))));
        }
        lines.extend(self.counts_lost.map(|counts| {
            format!("record = \"{}\"", if counts { "admitted+dropped" } else { "admitted" })
        }));
        lines.extend(self.max_age_ns.map(|ns| format!("max_age = \"{ns}ns\"")));
        lines.extend(self.learning_ns.map(|ns| format!("learning_period = \"{ns}ns\"")));
        lines.join("\n")
    }

    pub fn k(&self) -> usize {
        self.k.unwrap_or(3)
    }

    pub fn max_age_ps(&self) -> u64 {
        self.max_age_ns.map_or(1_000_000_000_000, |ns| 1_000 * ns)
    }

    pub fn learning_ps(&self) -> u64 {
        1_000 * self.learning_ns.unwrap_or(0)
    }

    /// max > B / sigma.
    pub fn is_large(&self, max: u64, capacity: u64) -> bool {
        let (over, under) = self.sigma.unwrap_or((5, 1));
        max * over > capacity * under
    }

    /// q < beta max.
    pub fn is_low(&self, bytes: u64, max: u64) -> bool {
        let (over, under) = self.beta.unwrap_or((1, 2));
        bytes * under < over * max
    }
}

/// Sizes, times and rates are small here; so is what makes a burst.
pub fn keys() -> impl Strategy<Value = Keys> {
    let key = option::weighted(0.8, select(vec!["at-max", "at-detection", "peak"]));
    let k = option::weighted(0.7, select(vec![1usize, 2, 4, 7]));
    let sigma = select(vec![(5, 1), (5, 2), (3, 2), (10, 1), (20, 1), (40, 1)]);
    let beta = option::weighted(0.7, select(vec![(1, 8), (1, 4), (1, 2), (3, 4), (7, 8), (1, 1)]));
    let smoothing = option::weighted(0.5, select(vec![(0, 1), (1, 4), (1, 2), (7, 8), (1, 1)]));
    let quantum = select(vec![(1, 128), (1, 8), (1, 2), (2, 1), (16, 1)]);
    let max_age = select(vec![0u64, 200, 400, 800, 1_500, 5_000, 20_000]);
    let learning = select(vec![0u64, 1_000, 5_000, 20_000]);
    (
        (dynamic(), any::<bool>(), key, k, option::weighted(0.8, sigma), beta),
        (smoothing, option::weighted(0.7, quantum), option::weighted(0.8, any::<bool>())),
        (option::weighted(0.6, max_age), option::weighted(0.3, learning)),
    )
        .prop_map(
            |(of_bursts, (smoothing, key_quantum, counts_lost), (max_age_ns, learning_ns))| {
                let (dynamic, is_printed, key, k, sigma, beta) = of_bursts;
                Keys {
                    dynamic,
                    is_printed,
                    key,
                    k,
                    sigma,
                    beta,
                    smoothing,
                    key_quantum,
                    counts_lost,
                    max_age_ns,
                    learning_ns,
                }
            },
        )
}

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
    pub is_by_queue: Option<bool>,
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
    pub of_text: OfText,
}

/// The keys that only the text's reading takes.
#[derive(Clone, Debug)]
pub struct OfText {
    pub estimate: Option<Estimate>,
    pub own_quantum: Option<bool>,
    pub looks_once: Option<bool>,
    pub has_floor: Option<bool>,
    pub is_own_port: Option<bool>,
}

/// How the K bursts are combined; `None` for the default quantile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    Mean,
    Quantile(Option<Ratio>),
}

impl OfText {
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match self.estimate {
            None => {}
            Some(Estimate::Mean) => lines.push("estimate = \"mean\"".into()),
            Some(Estimate::Quantile(quantile)) => {
                lines.push("estimate = \"quantile\"".into());
                lines.extend(quantile.map(|share| format!("quantile = {}", decimal(&share))));
            }
        }
        lines.extend(self.own_quantum.map(|own| format!("own_quantum = {own}")));
        let choices = [
            ("lookup", self.looks_once, ["each-departure", "detection"]),
            ("floor", self.has_floor, ["none", "dt"]),
            ("learn_from", self.is_own_port, ["all-ports", "own-port"]),
        ];
        for (name, chosen, names) in choices {
            let chosen = chosen.map(|is_second| names[usize::from(is_second)]);
            lines.extend(chosen.map(|chosen| format!("{name} = \"{chosen}\"")));
        }
        lines
    }
}

impl Keys {
    pub fn text(&self) -> String {
        let mut lines = self.dynamic.lines();
        let limit = |is_by_queue| if is_by_queue { "queue" } else { "port" };
        lines.extend(self.is_by_queue.map(|is| format!("limit = \"{}\"", limit(is))));
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
        if !self.is_printed {
            lines.extend(self.of_text.lines());
        }
        lines.join("\n")
    }

    /// Whether one of the text's keys is true; the printed lines do not have these keys.
    pub fn is(&self, key: impl Fn(&OfText) -> Option<bool>) -> bool {
        !self.is_printed && key(&self.of_text) == Some(true)
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

/// Sizes, times and rates are small here, and so are bursts.
pub fn keys() -> impl Strategy<Value = Keys> {
    let key = option::weighted(0.8, select(vec!["at-max", "at-detection", "peak"]));
    let k = option::weighted(0.7, select(vec![1usize, 2, 4, 7]));
    let sigma = select(vec![(5, 1), (5, 2), (3, 2), (10, 1), (20, 1), (40, 1)]);
    let beta = option::weighted(0.7, select(vec![(1, 8), (1, 4), (1, 2), (3, 4), (7, 8), (1, 1)]));
    let smoothing = option::weighted(0.5, select(vec![(0, 1), (1, 4), (1, 2), (7, 8), (1, 1)]));
    let quantum = select(vec![(1, 128), (1, 8), (1, 2), (2, 1), (16, 1)]);
    let max_age = select(vec![0u64, 200, 400, 800, 1_500, 5_000, 20_000]);
    let learning = select(vec![0u64, 1_000, 5_000, 20_000]);
    let quantile = option::weighted(0.8, select(vec![(1, 4), (1, 2), (3, 4), (1, 1)]));
    let estimate = prop_oneof![
        1 => Just(None),
        1 => Just(Some(Estimate::Mean)),
        1 => quantile.prop_map(|share| Some(Estimate::Quantile(share))),
    ];
    let flag = || option::weighted(0.6, any::<bool>());
    let of_text = (estimate, flag(), flag(), flag(), flag()).prop_map(
        |(estimate, own_quantum, looks_once, has_floor, is_own_port)| OfText {
            estimate,
            own_quantum,
            looks_once,
            has_floor,
            is_own_port,
        },
    );
    (
        (dynamic(), flag(), any::<bool>(), key, k, option::weighted(0.8, sigma), beta),
        (smoothing, option::weighted(0.7, quantum), option::weighted(0.8, any::<bool>())),
        (option::weighted(0.6, max_age), option::weighted(0.3, learning), of_text),
    )
        .prop_map(|(of_bursts, (smoothing, key_quantum, counts_lost), of_history)| {
            let (max_age_ns, learning_ns, of_text) = of_history;
            let (dynamic, is_by_queue, is_printed, key, k, sigma, beta) = of_bursts;
            Keys {
                dynamic,
                is_by_queue,
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
                of_text,
            }
        })
}

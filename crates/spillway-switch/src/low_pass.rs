//! Low-pass filtered lengths, and thresholds that the congested ones share, as in Reverie.
//!
//! x <- gamma x + (1 - gamma) q when a packet leaves, then x <- min(x, q)
//!
//! n_p = max(1, sum of min(1, x / `saturation`) over what belongs to p)
//!
//! T_p = alpha_p (B - Q) / n_p

use spillway_settings::{Range, Section, SettingsError};

/// How lengths are filtered, and from when on they are congested.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LowPassParams {
    /// The weight of the past, gamma, from 0 to 1.
    pub gamma: f64,
    /// The filtered length, in bytes, from which on something counts as wholly congested; above 0.
    pub saturation: u64,
}

impl LowPassParams {
    /// Reads the keys `gamma` and `saturation`.
    ///
    /// # Errors
    /// If a value is wrong.
    pub fn read(section: &mut Section) -> Result<LowPassParams, SettingsError> {
        let meaning = "the weight of the past in a filtered length, when a packet leaves";
        let gamma = section.number("gamma", 0.999, Range::Unit, meaning)?;
        let meaning = "the filtered length from which on one counts as wholly congested";
        let saturation = section.positive_size("saturation", "20480B", meaning)?;
        Ok(LowPassParams { gamma, saturation })
    }
}

/// The filtered lengths of the queues, or of the accounts, of a switch. Those of a port lie side by
/// side, one for each class.
#[derive(Clone, Debug)]
pub(crate) struct LowPass {
    params: LowPassParams,
    lengths: Box<[f64]>,
    /// By class: the sum of min(x, `saturation`), in whole bytes each.
    congested: Box<[u64]>,
}

impl LowPass {
    /// Of so many queues in so many classes, all empty.
    pub fn new(params: LowPassParams, number: usize, classes: usize) -> LowPass {
        LowPass { params, lengths: vec![0.0; number].into(), congested: vec![0; classes].into() }
    }

    /// x, rounded up to a byte. So it is at most a number of bytes exactly if x is.
    #[inline]
    pub fn length(&self, at: usize) -> u64 {
        self.lengths[at].ceil() as u64
    }

    /// A packet has left. `left` bytes are left.
    pub fn leaves(&mut self, at: usize, left: u64) {
        let (before, left) = (self.lengths[at], left as f64);
        // With q <= x the weighted mean is at least q, and is cut to q.
        let after = if left <= before {
            left
        } else {
            before + (1.0 - self.params.gamma) * (left - before)
        };
        self.lengths[at] = after;
        let counted = |x: f64| (x as u64).min(self.params.saturation);
        let class = at % self.congested.len();
        let sum = &mut self.congested[class];
        *sum = *sum + counted(after) - counted(before);
    }

    /// The greatest n_p that there can be.
    pub fn most_congested(&self) -> usize {
        self.lengths.len() / self.congested.len()
    }

    /// T_p for a class, rounded down to a byte.
    #[inline]
    pub fn threshold(&self, alpha: f64, class: usize, free: u64) -> u64 {
        let whole = self.params.saturation;
        (alpha * free as f64 * whole as f64 / self.congested[class].max(whole) as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn low_pass() -> LowPass {
        // Two ports with two classes.
        LowPass::new(LowPassParams { gamma: 0.75, saturation: 1_000 }, 4, 2)
    }

    #[test]
    fn a_length_rises_by_a_share_of_the_difference_and_falls_at_once() {
        let mut of = low_pass();
        // 0.75 * 0 + 0.25 * 4,000; then 0.75 * 1,000 + 0.25 * 3,000; then 0.75 * 1,500 + 0.25 *
        // 1,502 = 1,500.5.
        for (left, expected) in [(4_000, 1_000), (3_000, 1_500), (1_502, 1_501)] {
            of.leaves(0, left);
            assert_eq!(of.length(0), expected, "{left}");
        }
        // The mean would be 1,225.375.
        of.leaves(0, 400);
        assert_eq!(of.length(0), 400);
        of.leaves(0, 0);
        assert_eq!((of.length(0), &*of.congested), (0, &[0, 0][..]));
    }

    #[test]
    fn congested_lengths_of_a_class_share_its_threshold() {
        let mut of = low_pass();
        let thresholds = |of: &LowPass| [0, 1].map(|class| of.threshold(0.5, class, 9_000));
        // Half of 9,000 bytes. 1,000 and 500 bytes of class 0 count as one and a half.
        of.leaves(0, 4_000);
        assert_eq!(thresholds(&of), [4_500, 4_500]);
        of.leaves(2, 2_000);
        assert_eq!(thresholds(&of), [3_000, 4_500]);
        // Above 1,000 bytes nothing counts for more: two, and 500 more are nothing in class 1.
        of.leaves(2, 20_000);
        of.leaves(1, 2_000);
        assert_eq!(thresholds(&of), [2_250, 4_500]);
        of.leaves(0, 0);
        assert_eq!(thresholds(&of), [4_500, 4_500]);
    }
}

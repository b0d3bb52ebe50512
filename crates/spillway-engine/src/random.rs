//! Named random streams: one for each entity, all derived from the run's seed.
//!
//! A stream depends only on the seed, its name and its index. So an entity draws the same numbers
//! whatever the others draw, and in whatever order streams are made.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers (xoshiro256++, Blackman and Vigna 2019).
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of entity `index` of the kind `name`, in the run with this seed.
    pub fn new(seed: u64, name: &str, index: u64) -> Stream {
        let mut state = mix(seed);
        for byte in name.bytes() {
            state = mix(state ^ u64::from(byte));
        }
        Stream(Xoshiro256PlusPlus::seed_from_u64(mix(state ^ index)))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1), with 53 bits.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform among 0, 1, ... `n - 1`, without bias (Lemire 2019). `n` must be above 0.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "a choice among nothing");
        let mut product = u128::from(self.bits()) * u128::from(n);
        if (product as u64) < n {
            let reject_below = n.wrapping_neg() % n;
            while (product as u64) < reject_below {
                product = u128::from(self.bits()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// Exponential with this mean. Uses `libm`, so that the result is the same on every platform.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -libm::log1p(-self.uniform()) * mean
    }

    /// `count` distinct indices below `n`, in increasing order. `count` must not exceed `n`.
    pub fn distinct(&mut self, count: usize, n: usize) -> Vec<usize> {
        // Floyd's sampling: one draw for each index, whatever `n` is.
        let mut chosen = std::collections::BTreeSet::new();
        for last in n - count..n {
            let pick = self.below(last as u64 + 1) as usize;
            if !chosen.insert(pick) {
                chosen.insert(last);
            }
        }
        chosen.into_iter().collect()
    }
}

/// A one-to-one mixing of 64 bits (the finalizer of splitmix64, Steele et al. 2014).
pub const fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_seed_name_and_index_and_repeat() {
        let first = |seed, name, index| Stream::new(seed, name, index).bits();
        let base = first(1, "flows", 0);
        assert_eq!(base, first(1, "flows", 0));
        assert!(base != first(2, "flows", 0));
        assert!(base != first(1, "paths", 0));
        assert!(base != first(1, "flows", 1));
    }

    #[test]
    fn an_exponential_has_its_mean() {
        let mut stream = Stream::new(7, "test", 0);
        let n = 200_000;
        let mean = (0..n).map(|_| stream.exponential(3.0)).sum::<f64>() / f64::from(n);
        // Standard error 3 / sqrt(200,000) = 0.0067.
        assert!((mean - 3.0).abs() < 0.03, "{mean}");
    }

    #[test]
    fn distinct_choices_are_distinct_and_fair() {
        let mut stream = Stream::new(7, "test", 1);
        let mut counts = [0u32; 5];
        for _ in 0..50_000 {
            let chosen = stream.distinct(2, 5);
            assert!(chosen.len() == 2 && chosen[0] < chosen[1] && chosen[1] < 5);
            chosen.iter().for_each(|&i| counts[i] += 1);
        }
        // Each of 5 is among the 2 chosen with probability 2/5: 20,000 times, with standard
        // deviation 110.
        assert!(counts.iter().all(|&c| (19_500..20_500).contains(&c)), "{counts:?}");
    }
}

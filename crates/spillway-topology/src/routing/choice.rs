//! The choice of one among equal next hops.

use super::murmur3;

/// How a packet's path is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathChoice {
    /// By the hash of its flow.
    Hash(u32),
    /// By this number at every hop, modulo the number of next hops.
    Path(u32),
    /// By the hash of the RDMA simulators: what the packet says of its flow, and the host that it
    /// goes to.
    Murmur3(u32, u32),
}

impl PathChoice {
    /// A choice among `n` next hops, at a switch with this seed.
    #[inline]
    pub fn pick(self, switch_seed: u32, n: usize) -> usize {
        match self {
            PathChoice::Hash(hash) => ecmp(hash, switch_seed, n),
            PathChoice::Path(path) => path as usize % n,
            PathChoice::Murmur3(path, dst) => murmur3::choose(path, dst, switch_seed, n),
        }
    }
}

/// Equal-cost multipath: a choice among `n` next hops by a flow's hash.
///
/// Hashes are well mixed, and each switch has a random seed of its own, so choices at different
/// switches are independent. With the same seed everywhere, flows that choose alike at one switch
/// also choose alike at the next, and some of its links stay empty.
#[inline]
pub fn ecmp(hash: u32, switch_seed: u32, n: usize) -> usize {
    // Multiplicative hashing; each switch has an odd multiplier of its own. (With one multiplier,
    // and the seed added to the hash first, some pairs of switches would be correlated.) The high
    // bits depend on the whole hash. Read as a fraction of 1 and multiplied by `n`, they are the
    // choice, without a division.
    let multiplier = GOLDEN_RATIO ^ (u64::from(switch_seed) << 32);
    let mixed = u64::from(hash).wrapping_mul(multiplier) >> 32;
    ((mixed * n as u64) >> 32) as usize
}

/// 2^64 over the golden ratio, odd.
const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;

#[cfg(test)]
mod tests {
    use super::*;
    use spillway_engine::mix;

    fn hash(flow: u64) -> u32 {
        (mix(flow) >> 32) as u32
    }

    fn seed(switch: u64) -> u32 {
        mix(1_000_003 * (switch + 1)) as u32
    }

    /// The deviation of counts from being equal: chi-square, whose degrees of freedom are one less
    /// than the number of counts.
    fn chi_square(counts: &[u32]) -> f64 {
        let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
        counts.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum()
    }

    /// A bound that chance exceeds less than once in 100,000 tests: the mean plus five and a half
    /// standard deviations.
    fn bound(counts: usize) -> f64 {
        let freedom = (counts - 1) as f64;
        freedom + 5.5 * (2.0 * freedom).sqrt() + 12.0
    }

    #[test]
    fn flows_are_spread_evenly() {
        for n in 2..=8 {
            for switch in 0..50 {
                let mut counts = vec![0; n];
                (0..20_000).for_each(|flow| counts[ecmp(hash(flow), seed(switch), n)] += 1);
                let chi = chi_square(&counts);
                assert!(chi < bound(n), "n = {n}, switch {switch}: {chi} from {counts:?}");
            }
        }
    }

    #[test]
    fn choices_at_successive_switches_are_independent() {
        for (n, m) in [(2, 2), (4, 4), (4, 8), (3, 5), (8, 8), (7, 7)] {
            for switch in 0..200 {
                let mut counts = vec![0; n * m];
                for flow in 0..20_000 {
                    let first = ecmp(hash(flow), seed(switch), n);
                    counts[first * m + ecmp(hash(flow), seed(switch + 1), m)] += 1;
                }
                let chi = chi_square(&counts);
                assert!(chi < bound(n * m), "{n} x {m}, switch {switch}: {chi} from {counts:?}");
            }
        }
    }

    #[test]
    fn with_one_seed_every_switch_chooses_alike() {
        // All flows that take path 1 of 4 here take path 1 of 4 again.
        let ways = |flow| [ecmp(hash(flow), 7, 4), ecmp(hash(flow), 7, 4)];
        assert!((0..1_000).map(ways).all(|[first, second]| first == second));
    }

    #[test]
    fn a_single_way_is_taken_and_a_given_one_wraps_around() {
        for value in [0, 1, 5, u32::MAX] {
            assert_eq!(PathChoice::Hash(value).pick(9, 1), 0);
            assert_eq!(PathChoice::Path(value).pick(9, 4), value as usize % 4);
        }
    }
}

//! Who sends how much to whom in each step of a collective.
//!
//! # Reference
//! All-reduce by a ring: P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms for
//! clusters of workstations", Journal of Parallel and Distributed Computing 69(2), 2009. By halving
//! and doubling: R. Thakur, R. Rabenseifner, W. Gropp, "Optimization of Collective Communication
//! Operations in MPICH", International Journal of High Performance Computing Applications 19(1),
//! 2005, section 4.5 (Rabenseifner's algorithm).
//!
//! # Rule
//! Each of n ranks has `size` bytes, in n blocks as equal as whole bytes allow. Block b reaches
//! from byte floor(size b / n) to floor(size (b + 1) / n).
//! - Ring: 2 (n - 1) steps, in each of which every rank sends to the next one. In step s < n - 1
//!   rank r sends block r - s, which the next rank adds to its own block. In step n - 1 + s it
//!   sends block r + 1 - s, which is final. All numbers are modulo n.
//! - Halving and doubling, for n a power of two: 2 log2 n steps. In step s < log2 n rank r
//!   exchanges with r xor 2^s. Of the blocks that it is still to reduce, it keeps the lower half if
//!   bit s of r is 0, and the upper half otherwise. It sends the other half. Then the same steps
//!   follow in the opposite order: the rank sends what it has, and has twice as much afterwards.
//! - All to all, in p phases: the n - 1 other ranks are split into p groups as equal as possible.
//!   In phase i rank r sends `size` bytes to each of r + k, for k from floor((n - 1) i / p) + 1 to
//!   floor((n - 1)(i + 1) / p), modulo n.

use std::ops::Range;

/// How ranks send to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// All-reduce by a ring.
    Ring,
    /// All-reduce by halving and doubling.
    HalvingDoubling,
    /// All to all, in phases.
    Shift {
        /// How many.
        phases: u32,
    },
}

/// An algorithm among a number of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub algorithm: Algorithm,
    pub ranks: u32,
    /// Bytes of payload, at least one for every rank.
    pub size: u64,
}

impl Schedule {
    /// Steps of an iteration.
    pub fn steps(&self) -> u32 {
        match self.algorithm {
            Algorithm::Ring => 2 * (self.ranks - 1),
            Algorithm::HalvingDoubling => 2 * self.ranks.ilog2(),
            Algorithm::Shift { phases } => phases,
        }
    }

    /// Flows of an iteration.
    pub fn flows(&self) -> u64 {
        let of_rank = match self.algorithm {
            Algorithm::Ring | Algorithm::HalvingDoubling => self.steps(),
            Algorithm::Shift { .. } => self.ranks - 1,
        };
        u64::from(of_rank) * u64::from(self.ranks)
    }

    /// How many flows each rank sends, and receives, in a step.
    pub fn width(&self, step: u32) -> u32 {
        match self.algorithm {
            Algorithm::Ring | Algorithm::HalvingDoubling => 1,
            Algorithm::Shift { .. } => self.shift(step + 1) - self.shift(step),
        }
    }

    /// What a rank sends in a step: to whom, and how many bytes.
    pub fn sends(&self, rank: u32, step: u32) -> impl Iterator<Item = (u32, u64)> + use<> {
        let schedule = *self;
        let ranks = u64::from(self.ranks);
        (0..self.width(step)).map(move |place| match schedule.algorithm {
            Algorithm::Shift { .. } => {
                let distance = schedule.shift(step) + place + 1;
                (((u64::from(rank) + u64::from(distance)) % ranks) as u32, schedule.size)
            }
            Algorithm::Ring | Algorithm::HalvingDoubling => {
                let (to, blocks) = schedule.blocks(rank, step);
                (to, schedule.bytes(blocks))
            }
        })
    }

    /// The blocks that a rank sends in a step of an all-reduce, and to whom.
    fn blocks(&self, rank: u32, step: u32) -> (u32, Range<u32>) {
        match self.algorithm {
            Algorithm::HalvingDoubling => self.exchange(rank, step),
            Algorithm::Ring | Algorithm::Shift { .. } => {
                let is_final = u32::from(step >= self.ranks - 1);
                let back = step - is_final * (self.ranks - 1);
                let block = (rank + is_final + self.ranks - back) % self.ranks;
                ((rank + 1) % self.ranks, block..block + 1)
            }
        }
    }

    /// The bytes of some blocks.
    fn bytes(&self, blocks: Range<u32>) -> u64 {
        let before = |block: u32| {
            (u128::from(self.size) * u128::from(block) / u128::from(self.ranks)) as u64
        };
        before(blocks.end) - before(blocks.start)
    }

    /// The partner of a rank in a step of halving and doubling, and the blocks that the partner is
    /// sent.
    fn exchange(&self, rank: u32, step: u32) -> (u32, Range<u32>) {
        let halvings = self.ranks.ilog2();
        let bit = if step < halvings { step } else { 2 * halvings - 1 - step };
        // The blocks that the rank is to reduce before the exchange over this bit, and after it.
        let (mut kept, mut given) = (0..self.ranks, 0..0);
        for bit in 0..=bit {
            let middle = (kept.start + kept.end) / 2;
            let (lower, upper) = (kept.start..middle, middle..kept.end);
            (kept, given) = if rank >> bit & 1 == 0 { (lower, upper) } else { (upper, lower) };
        }
        (rank ^ 1 << bit, if step < halvings { given } else { kept })
    }

    /// The last distance before a phase of all to all.
    fn shift(&self, phase: u32) -> u32 {
        let Algorithm::Shift { phases } = self.algorithm else { return 0 };
        (u64::from(self.ranks - 1) * u64::from(phase) / u64::from(phases)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(algorithm: Algorithm, ranks: u32, size: u64) -> Schedule {
        Schedule { algorithm, ranks, size }
    }

    /// What every rank sends in every step.
    fn sent(schedule: &Schedule) -> Vec<Vec<Vec<(u32, u64)>>> {
        let of_step =
            |step| (0..schedule.ranks).map(move |rank| schedule.sends(rank, step).collect());
        (0..schedule.steps()).map(|step| of_step(step).collect()).collect()
    }

    /// Three ranks with 10 bytes: blocks 0, 1 and 2 have 3, 3 and 4.
    #[test]
    fn a_ring_passes_every_block_round_twice() {
        let by_step = sent(&schedule(Algorithm::Ring, 3, 10));
        let sizes = |step: usize| by_step[step].iter().map(|flows| flows[0].1).collect::<Vec<_>>();
        // Blocks 0 1 2, then 2 0 1; final ones: 1 2 0, then 0 1 2.
        assert_eq!([sizes(0), sizes(1)], [[3, 3, 4], [4, 3, 3]]);
        assert_eq!([sizes(2), sizes(3)], [[3, 4, 3], [3, 3, 4]]);
        assert!(by_step.iter().all(|step| [step[0][0].0, step[1][0].0, step[2][0].0] == [1, 2, 0]));
    }

    /// Four ranks with 8 bytes. Over bit 0 ranks 0 and 1 exchange halves of 4 bytes, 2 and 3 too;
    /// over bit 1 quarters of 2 bytes. Then the same backwards.
    #[test]
    fn halving_sends_less_each_time_and_doubling_more() {
        let by_step = sent(&schedule(Algorithm::HalvingDoubling, 4, 8));
        let steps: Vec<Vec<(u32, u64)>> =
            by_step.into_iter().map(|step| step.into_iter().flatten().collect()).collect();
        assert_eq!(steps[0], [(1, 4), (0, 4), (3, 4), (2, 4)]);
        assert_eq!(steps[1], [(2, 2), (3, 2), (0, 2), (1, 2)]);
        assert_eq!(steps[2], steps[1]);
        assert_eq!(steps[3], steps[0]);
        // With 7 bytes blocks have 1, 2, 2 and 2: rank 0 gives 2 and 3, of 4 bytes, then block 1;
        // it ends with block 0.
        let uneven = schedule(Algorithm::HalvingDoubling, 4, 7);
        let of_rank_0: Vec<_> = (0..4).flat_map(|step| uneven.sends(0, step)).collect();
        assert_eq!(of_rank_0, [(1, 4), (2, 2), (2, 1), (1, 3)]);
    }

    /// Ranks start with themselves in each block's sum, as a bit. In the first half of all steps a
    /// receiver adds, in the second half it takes what is final.
    #[test]
    fn whoever_follows_it_has_the_sum_of_all() {
        let check = |algorithm, ranks: u32| {
            let schedule = schedule(algorithm, ranks, 1_000);
            let mut sums: Vec<Vec<u32>> =
                (0..ranks).map(|rank| vec![1 << rank; ranks as usize]).collect();
            let mut sent = 0;
            for step in 0..schedule.steps() {
                let before = sums.clone();
                for rank in 0..ranks {
                    let (to, blocks) = schedule.blocks(rank, step);
                    sent += schedule.bytes(blocks.clone());
                    for block in blocks {
                        let (own, block) = (&mut sums[to as usize], block as usize);
                        let given = before[rank as usize][block];
                        assert!(
                            step >= schedule.steps() / 2 || own[block] & given == 0,
                            "added twice"
                        );
                        own[block] =
                            if step < schedule.steps() / 2 { own[block] | given } else { given };
                    }
                }
            }
            assert!(sums.iter().flatten().all(|&sum| sum == (1 << ranks) - 1), "{schedule:?}");
            // Each block is passed on by all but one, twice.
            assert_eq!(sent, 2 * u64::from(ranks - 1) * 1_000);
        };
        [2, 3, 4, 7, 8, 16].into_iter().for_each(|ranks| check(Algorithm::Ring, ranks));
        [2, 4, 8, 16].into_iter().for_each(|ranks| check(Algorithm::HalvingDoubling, ranks));
    }

    #[test]
    fn phases_share_the_others_out() {
        let phases = |phases| sent(&schedule(Algorithm::Shift { phases }, 5, 9));
        let of_rank_3 = |by_step: &[Vec<Vec<(u32, u64)>>]| -> Vec<Vec<u32>> {
            by_step.iter().map(|step| step[3].iter().map(|&(to, _)| to).collect()).collect()
        };
        assert_eq!(of_rank_3(&phases(1)), [[4, 0, 1, 2]]);
        assert_eq!(of_rank_3(&phases(4)), [[4], [0], [1], [2]]);
        assert_eq!(of_rank_3(&phases(3)), [vec![4], vec![0], vec![1, 2]]);
        let widths = |phases| {
            let schedule = schedule(Algorithm::Shift { phases }, 5, 9);
            (0..phases).map(|step| schedule.width(step)).collect::<Vec<_>>()
        };
        assert_eq!((widths(1), widths(3)), (vec![4], vec![1, 1, 2]));
        assert_eq!(schedule(Algorithm::Shift { phases: 3 }, 5, 9).flows(), 20);
    }
}

//! Harmonic: the k-th longest queue may hold a k-th of what the longest may.
//!
//! # Reference
//! A. Kesselman, Y. Mansour, "Harmonic buffer management policy for shared memory switches",
//! Theoretical Computer Science 324(2-3):161-182, 2004. <https://doi.org/10.1016/j.tcs.2004.05.014>
//!
//! # Rule
//! Add the arrival to its queue, and sort the queues by length, the longest first. Admit iff for
//! every rank k
//!
//! q_(k) <= B / (k H_N),    H_N = 1 + 1/2 + ... + 1/N.
//!
//! B: `buffer.capacity()`; N: the number of ranked queues. The bounds add up to B, so what they
//! admit fits.
//!
//! # Departures from the paper
//! The paper counts packets of one size; lengths here are bytes, and a large packet may overtake
//! several queues at once. All queues whose rank changes are then tested. Acks and other control
//! packets that have queues of their own are neither ranked nor tested (`exempt_acks`). `form =
//! "prefix"` bounds the k longest queues together, by B H_k / H_N; it admits everything that the
//! form by rank admits, and more. The paper's abstract speaks of "a system of inequalities over the
//! queues ordered by size" and fits both.
//!
//! # Scope and limitations
//! No packet is pushed out. The guarantee, that the optimum sends at most ln N + 2 times as many
//! packets, is for packets of one size.
//!
//! # In composition
//! Ranks are those of queues, whatever their ports, and empty ones count in N. With nine queues for
//! each of 16 ports, one of them for acks, the longest queue may hold 18% of the buffer, and with
//! one queue 30%. Under strict priority starved queues have the first ranks, and keep them: a burst
//! of a better level may hold no more than a later rank allows.
//!
//! # Validation
//! Makes the same decisions as a second, naive implementation, which sorts all queues and tests
//! every rank, on thousands of random arrivals (`tests/naive_sharing.rs`).
//!
//! # Cost
//! None beyond two comparisons while the whole buffer holds at most B / H_N, or the queue at most
//! the least bound. Otherwise: for the form by rank, one scan of all queue lengths for every
//! packet, and another for every queue overtaken; for the form by prefix, a sort.

use super::Sharing;
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::{Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, LARGEST_PACKET, Watch};
use spillway_settings::{Section, SettingsError};

/// Which queues are bounded, and how.
#[derive(Clone, Debug)]
pub struct HarmonicParams {
    /// Whether every queue is bounded by its rank, or the k longest together.
    form: Form,
    /// The queue class of acks, if these are neither ranked nor tested.
    exempt: Option<u8>,
}

impl HarmonicParams {
    /// Every queue is bounded by its rank, but for those of this class.
    pub(super) fn by_rank(exempt: Option<u8>) -> HarmonicParams {
        HarmonicParams { form: Form::Rank, exempt }
    }
}

/// Bounds queue lengths by their rank.
#[derive(Clone, Debug)]
pub struct Harmonic {
    params: HarmonicParams,
    /// The most that the k-th longest queue, or the k longest together, may hold; k from 1.
    bounds: Vec<u64>,
    /// A queue of at most this length violates no bound whatever the ranks are, and neither do the
    /// queues that it overtakes.
    harmless: u64,
    /// At this occupancy no bound is violated, however the bytes are spread over queues.
    harmless_together: u64,
    /// Used to sort the queues' lengths.
    lengths: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Rank,
    Prefix,
}

impl Policy for Harmonic {
    const ID: &'static str = "harmonic";
    const SUMMARY: &'static str = "Harmonic: the k-th longest queue may hold B / (k H_N)";
    const CITATION: &'static str =
        "Kesselman, Mansour: Theoretical Computer Science 324, 2004, doi:10.1016/j.tcs.2004.05.014";
    const COST: Option<Cost> = Some(Cost {
        // The bound of a rank; there are as many ranks as queues.
        queue: State { counters: 1, ..State::NONE },
        // How many queues are as long, and whether a queue of that rank may be so long.
        arrival: Operations { additions: 1, searches: 1, comparisons: 1, ..Operations::NONE },
        at_times: &[(
            "each queue overtaken",
            Operations { searches: 1, comparisons: 1, ..Operations::NONE },
        )],
        ..Cost::NONE
    });

    type Params = HarmonicParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<HarmonicParams, SettingsError> {
        let meaning = "whether every queue is bounded by its rank, or the k longest together";
        let form =
            section.choice("form", &[("rank", Form::Rank), ("prefix", Form::Prefix)], meaning)?;
        Ok(HarmonicParams { form, exempt: environment.exempt_acks(section)? })
    }

    fn new(params: &HarmonicParams, environment: &Environment) -> Self {
        let exempt = usize::from(params.exempt.is_some());
        let queues = environment.port_rates.len() * (environment.queues_per_port as usize - exempt);
        let bounds = bounds(params.form, environment.capacity, queues);
        Harmonic {
            params: params.clone(),
            harmless: match params.form {
                Form::Rank => bounds.iter().copied().min().unwrap_or(0),
                // A short queue adds to the sum too.
                Form::Prefix => 0,
            },
            harmless_together: harmless_together(params.form, &bounds),
            bounds,
            lengths: Vec::new(),
        }
    }
}

/// B / (k H_N), or B H_k / H_N, rounded down.
fn bounds(form: Form, capacity: u64, queues: usize) -> Vec<u64> {
    let harmonic = |n: usize| (1..=n).map(|k| 1.0 / k as f64).sum::<f64>();
    let share = |k: usize| match form {
        Form::Rank => 1.0 / (k as f64 * harmonic(queues)),
        Form::Prefix => harmonic(k) / harmonic(queues),
    };
    match capacity {
        Buffer::UNLIMITED => vec![u64::MAX; queues],
        // A float may be slightly less than the whole number that is meant.
        capacity => {
            (1..=queues).map(|k| (capacity as f64 * share(k) * (1.0 + 1e-12)) as u64).collect()
        }
    }
}

/// The most bytes that violate no bound, however they are spread over queues. With T bytes in all,
/// the k-th longest queue has at most T / k, rounded down. This is within its bound b if T < k (b +
/// 1), which is about B / H_N for every k. With prefixes, no queues hold more than all of them.
fn harmless_together(form: Form, bounds: &[u64]) -> u64 {
    let most = |(k, &bound): (u64, &u64)| match form {
        Form::Rank => bound.saturating_add(1).saturating_mul(k) - 1,
        Form::Prefix => bound,
    };
    (1..).zip(bounds).map(most).min().unwrap_or(0)
}

impl Harmonic {
    /// The lengths of the ranked queues, with their numbers.
    fn ranked<'a>(&self, buffer: &'a Buffer) -> impl Iterator<Item = (QueueId, u64)> + use<'a> {
        buffer.queues_but(self.params.exempt).map(|(queue, length)| (queue, length.bytes.into()))
    }

    /// Whether all ranks are within their bounds when the arrival has joined its queue. They were
    /// before, so only the arrival's queue and the queues that it overtakes need be tested.
    fn ranks_hold(&self, arrival: &Arrival, buffer: &Buffer) -> bool {
        let before = u64::from(buffer.bytes(arrival.queue));
        let after = before + u64::from(arrival.size);
        // Of queues of equal length, the last has the lowest bound: a queue's rank is the number of
        // queues that are at least as long.
        let rank = |length: u64| {
            let others = self.ranked(buffer).filter(|&(queue, _)| queue != arrival.queue);
            let longer = others.filter(|&(_, other)| other >= length).count();
            longer + usize::from(after >= length)
        };
        let holds = |length: u64| length <= self.bounds[rank(length) - 1];
        let mut overtaken = self.ranked(buffer).filter(|&(queue, length)| {
            queue != arrival.queue && before < length && length <= after
        });
        holds(after) && overtaken.all(|(_, length)| holds(length))
    }

    /// Whether for every k the k longest queues are within their bound, with the arrival.
    fn prefixes_hold(&mut self, arrival: &Arrival, buffer: &Buffer) -> bool {
        let with_arrival = |(queue, length): (QueueId, u64)| {
            if queue == arrival.queue { length + u64::from(arrival.size) } else { length }
        };
        let mut lengths = std::mem::take(&mut self.lengths);
        lengths.clear();
        lengths.extend(self.ranked(buffer).map(with_arrival));
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        let mut sum = 0;
        let holds = lengths.iter().zip(&self.bounds).all(|(length, &bound)| {
            sum += length;
            sum <= bound
        });
        self.lengths = lengths;
        holds
    }
}

impl Watch for Harmonic {}

impl Sharing for Harmonic {
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        let size = u64::from(arrival.size);
        let is_harmless = buffer.occupancy() + size <= self.harmless_together
            || u64::from(buffer.bytes(arrival.queue)) + size <= self.harmless;
        let holds = match self.params.form {
            _ if is_harmless || self.params.exempt == Some(arrival.queue_class) => true,
            Form::Rank => self.ranks_hold(arrival, buffer),
            Form::Prefix => self.prefixes_hold(arrival, buffer),
        };
        Admission::if_within(holds)
    }

    fn open_below(&self, capacity: u64) -> u64 {
        let most = self.harmless_together.min(capacity);
        most.saturating_add(1).saturating_sub(LARGEST_PACKET.into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{OVER, arrival};
    use super::*;

    /// Ports with one queue each, which share 22,000 bytes.
    fn with(text: &str, ports: usize) -> Harmonic {
        let mut section = Section::new("sharing", text.parse().unwrap());
        let environment = Environment { capacity: 22_000, ..Environment::example(ports) };
        Harmonic::read(&mut section, &environment).unwrap()
    }

    fn holding(queue_bytes: &[u32]) -> Buffer {
        let mut buffer = Buffer::new(22_000, Environment::example(queue_bytes.len()).port_rates, 1);
        (0..).zip(queue_bytes).for_each(|(queue, &bytes)| buffer.add(queue, bytes));
        buffer
    }

    #[test]
    fn three_queues_may_hold_six_three_and_two_elevenths() {
        // H_3 = 11/6: 22,000 / (11/6) = 12,000, 6,000 and 4,000; by prefix 12,000, 18,000, 22,000.
        assert_eq!(with("", 3).bounds, [12_000, 6_000, 4_000]);
        assert_eq!(with("form = \"prefix\"", 3).bounds, [12_000, 18_000, 22_000]);
        let admits =
            |queue, bytes: [u32; 3]| with("", 3).admit(&arrival(queue, 1_000), &holding(&bytes));
        assert_eq!(admits(0, [11_000, 6_000, 4_000]), Admission::Admit);
        assert_eq!(admits(0, [11_001, 0, 0]), OVER);
        assert_eq!(admits(1, [12_000, 5_000, 4_000]), Admission::Admit);
        assert_eq!(admits(1, [12_000, 5_001, 4_000]), OVER);
        // The last queue becomes the second. The second, with 4,500, becomes the third, which may
        // hold 4,000.
        assert_eq!(admits(2, [12_000, 4_500, 3_600]), OVER);
        assert_eq!(admits(2, [12_000, 4_000, 3_600]), Admission::Admit);
        // Of two equal queues one is the third, for which 5,000 is too long. Of two queues longer
        // than 6,000 one is too long.
        assert_eq!(admits(1, [12_000, 4_000, 5_000]), OVER);
        assert_eq!(admits(1, [6_001, 5_001, 0]), OVER);
        assert_eq!(admits(1, [6_001, 5_000, 0]), Admission::Admit);
    }

    #[test]
    fn prefixes_admit_what_ranks_refuse() {
        // Two queues of 7,000: the second may hold 6,000, the two together 18,000.
        let buffer = holding(&[7_000, 6_000, 0]);
        assert_eq!(with("", 3).admit(&arrival(1, 1_000), &buffer), OVER);
        let mut prefix = with("form = \"prefix\"", 3);
        assert_eq!(prefix.admit(&arrival(1, 1_000), &buffer), Admission::Admit);
        // Two queues may hold 12,000 + 6,000, and three 22,000.
        assert_eq!(prefix.admit(&arrival(1, 1), &holding(&[12_000, 6_000, 0])), OVER);
        assert_eq!(
            prefix.admit(&arrival(2, 4_000), &holding(&[9_000, 9_000, 0])),
            Admission::Admit
        );
        assert_eq!(prefix.admit(&arrival(2, 4_001), &holding(&[9_000, 9_000, 0])), OVER);
        assert_eq!(prefix.admit(&arrival(0, 1), &holding(&[12_000, 0, 0])), OVER);
    }

    #[test]
    fn what_breaks_no_bound_in_any_order_is_admitted_at_once() {
        // 12,000 bytes: 12,000, or 6,000 twice, or 4,000 three times are all within their bounds.
        for form in ["", "form = \"prefix\""] {
            assert_eq!(with(form, 3).harmless_together, 12_000, "{form}");
            assert_eq!(with(form, 3).admit(&arrival(0, 1), &holding(&[12_000, 0, 0])), OVER);
        }
        // 4,000 bytes are within every bound. With prefixes, a second short queue counts.
        assert_eq!(with("", 3).harmless, 4_000);
        let mut prefix = with("form = \"prefix\"", 3);
        assert_eq!(prefix.admit(&arrival(1, 1), &holding(&[12_000, 6_000, 0])), OVER);
        // With a buffer 100 times as large, the largest packet has room above 1,183,616 bytes.
        let opens = |capacity| {
            let environment = Environment { capacity, ..Environment::example(3) };
            Harmonic::read(&mut Section::empty(), &environment).unwrap().open_below(capacity)
        };
        assert_eq!(opens(2_200_000), 1_183_617);
        assert_eq!(opens(22_000), 0);
    }

    /// Compares with the bounds themselves, for lengths of three queues in steps that the bounds
    /// allow.
    #[test]
    fn what_is_admitted_at_once_would_be_admitted_by_rank() {
        let (mut at_once, mut looked_at) = (0, 0);
        for form in ["", "form = \"prefix\""] {
            let mut harmonic = with(form, 3);
            let bounds = harmonic.bounds.clone();
            let holds = |mut lengths: [u32; 3]| {
                lengths.sort_unstable_by(|a, b| b.cmp(a));
                let [first, second, third] = lengths.map(u64::from);
                let tested = match form {
                    "" => [first, second, third],
                    _ => [first, first + second, first + second + third],
                };
                tested.iter().zip(&bounds).all(|(length, bound)| length <= bound)
            };
            for place in 0..12_u32.pow(3) {
                let lengths = [place % 12, place / 12 % 12, place / 144].map(|n| n * 1_100);
                if !holds(lengths) {
                    continue;
                }
                let buffer = holding(&lengths);
                for size in [1, 200, 1_100, 1_500] {
                    let mut after = lengths;
                    after[0] += size;
                    let answer = harmonic.admit(&arrival(0, size), &buffer);
                    let expected = Admission::if_within(holds(after));
                    assert_eq!(answer, expected, "{form} {lengths:?} {size}");
                    let together = buffer.occupancy() + u64::from(size);
                    let is_at_once = together <= harmonic.harmless_together
                        || u64::from(after[0]) <= harmonic.harmless;
                    at_once += u32::from(is_at_once);
                    looked_at += u32::from(!is_at_once);
                }
            }
        }
        assert!(at_once > 500 && looked_at > 500, "{at_once} at once, {looked_at} looked at");
    }

    #[test]
    fn an_unlimited_buffer_has_no_bounds() {
        let environment = Environment { capacity: Buffer::UNLIMITED, ..Environment::example(2) };
        let mut harmonic = Harmonic::read(&mut Section::empty(), &environment).unwrap();
        assert_eq!(harmonic.admit(&arrival(0, 1_500), &holding(&[22_000, 0])), Admission::Admit);
    }
}

//! The distribution of a buffer's occupancy over time.

use spillway_engine::{Time, prefetch};

/// The distribution of a buffer's occupancy over the time between two moments.
///
/// Nothing is sampled: every picosecond counts. Occupancies are counted in bins. A bin is a power
/// of two of bytes wide, at most 1/4096 of the buffer; for an unlimited buffer, the width of the
/// bins grows with the occupancy and is at most 1/256 of it. A percentile is the upper edge of its
/// bin; mean and maximum are exact.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Meter {
    byte_picoseconds: u128,
    /// The time in each bin.
    picoseconds: Box<[u64]>,
    last: Time,
    until: Time,
    max: u64,
    /// The bin of the occupancy since `last`.
    bin: u32,
    bins: Bins,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bins {
    Linear { width_log2: u8 },
    Growing,
}

/// The least number of bins. Every number of bins is a multiple of it.
const FEWEST: usize = 64;

/// The binary logarithm of the number of bins for each doubling of the occupancy, from
/// 256 bytes on.
const PER_OCTAVE_LOG2: u32 = 8;

impl Bins {
    #[inline]
    fn of(self, bytes: u64) -> usize {
        match self {
            Bins::Linear { width_log2 } => (bytes >> width_log2) as usize,
            Bins::Growing => {
                let octave = (64 - bytes.leading_zeros()).saturating_sub(PER_OCTAVE_LOG2 + 1);
                ((u64::from(octave) << PER_OCTAVE_LOG2) + (bytes >> octave)) as usize
            }
        }
    }

    /// The highest occupancy that belongs to a bin.
    fn upper(self, bin: usize) -> u64 {
        match self {
            Bins::Linear { width_log2 } => ((bin as u64 + 1) << width_log2) - 1,
            Bins::Growing => {
                let bin = bin as u64;
                let octave = (bin >> PER_OCTAVE_LOG2).saturating_sub(1);
                ((bin - (octave << PER_OCTAVE_LOG2) + 1) << octave) - 1
            }
        }
    }
}

impl Meter {
    /// A meter for a buffer of this capacity that measures from `from` to `until`.
    pub fn new(capacity: u64, from: Time, until: Time) -> Meter {
        let bins = match capacity {
            u64::MAX => Bins::Growing,
            _ => Bins::Linear { width_log2: (capacity / 4096).max(1).ilog2() as u8 },
        };
        Meter {
            bins,
            picoseconds: vec![0; FEWEST].into(),
            byte_picoseconds: 0,
            bin: 0,
            max: 0,
            last: from,
            until: until.max(from),
        }
    }

    /// The occupancy has been `before` since the last call, and is `after` from now on.
    #[inline]
    pub fn changes(&mut self, now: Time, before: u64, after: u64) {
        let now = now.min(self.until);
        if now > self.last {
            let span = (now - self.last).ps();
            self.last = now;
            self.picoseconds[self.bin as usize] += span;
            self.byte_picoseconds += u128::from(before) * u128::from(span);
            self.max = self.max.max(before);
        }
        let bin = self.bins.of(after);
        self.bin = bin as u32;
        if bin >= self.picoseconds.len() {
            self.grow(bin);
        }
        // This bin is needed at the next change, and by then much else has happened.
        prefetch(&self.picoseconds, bin);
    }

    #[cold]
    fn grow(&mut self, bin: usize) {
        let mut longer = std::mem::take(&mut self.picoseconds).into_vec();
        longer.resize((bin + 1).next_multiple_of(FEWEST), 0);
        self.picoseconds = longer.into_boxed_slice();
    }

    /// Adds what another meter with the same bins has measured.
    ///
    /// # Panics
    /// If the bins differ: only meters of equal buffers can be pooled.
    pub fn pool(&mut self, other: &Meter) {
        assert_eq!(self.bins, other.bins, "meters of different buffers");
        if other.picoseconds.len() > self.picoseconds.len() {
            self.grow(other.picoseconds.len() - 1);
        }
        for (mine, theirs) in self.picoseconds.iter_mut().zip(&other.picoseconds) {
            *mine += theirs;
        }
        self.byte_picoseconds += other.byte_picoseconds;
        self.max = self.max.max(other.max);
    }

    /// The time measured, summed over pooled meters.
    fn total(&self) -> u64 {
        self.picoseconds.iter().sum()
    }

    /// The mean in bytes; 0 if nothing was measured.
    pub fn mean(&self) -> f64 {
        match self.total() {
            0 => 0.0,
            total => self.byte_picoseconds as f64 / total as f64,
        }
    }

    /// The highest occupancy that lasted for any time.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The occupancy that was not exceeded during the share `p` of the time.
    pub fn percentile(&self, p: f64) -> u64 {
        let wanted = (p * self.total() as f64).ceil() as u64;
        let mut seen = 0;
        for (bin, &picoseconds) in self.picoseconds.iter().enumerate() {
            seen += picoseconds;
            if seen >= wanted && seen > 0 {
                return self.bins.upper(bin).min(self.max);
            }
        }
        self.max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    #[test]
    fn every_picosecond_counts_within_the_window() {
        // From 100 to 300: 10 bytes for 50 ps, 40 for 100, 0 for 50.
        let mut meter = Meter::new(4096, at(100), at(300));
        let mut before = 0;
        for (time, after) in [(50, 4000), (90, 10), (150, 40), (250, 0), (400, 4000), (500, 0)] {
            meter.changes(at(time), before, after);
            before = after;
        }
        // (10 * 50 + 40 * 100) / 200 = 22.5.
        assert_eq!((meter.mean(), meter.max(), meter.total()), (22.5, 40, 200));
        assert_eq!([0.25, 0.5, 0.51, 1.0].map(|p| meter.percentile(p)), [0, 10, 40, 40]);
    }

    #[test]
    fn growing_bins_are_fine_and_without_gaps() {
        for bytes in [0, 1, 255, 256, 511, 512, 513, 1023, 1024, 99_999, 12_345_678_901] {
            let bin = Bins::Growing.of(bytes);
            let upper = Bins::Growing.upper(bin);
            assert!(bytes <= upper && (upper - bytes) * 256 <= bytes, "{bytes} {upper}");
            assert_eq!(Bins::Growing.of(upper + 1), bin + 1, "{bytes}");
        }
    }

    #[test]
    fn a_meter_is_one_cache_line() {
        assert_eq!(size_of::<Meter>(), 64);
    }

    #[test]
    fn pooling_adds_time() {
        let mut first = Meter::new(u64::MAX, at(0), at(100));
        let mut second = first.clone();
        first.changes(at(0), 0, 1000);
        second.changes(at(0), 0, 2000);
        first.changes(at(100), 1000, 0);
        second.changes(at(100), 2000, 0);
        first.pool(&second);
        assert_eq!((first.mean(), first.max(), first.total()), (1500.0, 2000, 200));
    }
}

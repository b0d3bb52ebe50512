//! Distributions of flow sizes, given by points of their cumulative probability.

use spillway_engine::Stream;
use spillway_settings::quantity::MOST_BYTES;

/// A distribution of sizes in bytes: points joined by straight lines.
///
/// If the first point has a probability above 0, exactly its size occurs with that probability.
/// Drawn sizes are truncated to whole bytes, and are at least 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Cdf {
    points: Vec<Point>,
    /// The probability of less than one byte, which is never drawn.
    below_one: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Point {
    size: f64,
    /// The probability of a size up to this one.
    probability: f64,
}

/// An error in a distribution.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CdfError {
    #[error("line {line}: {text:?} is not two columns, a size in bytes and a probability")]
    NotTwoColumns { line: usize, text: String },
    #[error("line {line}: {text:?} is not a number")]
    NotANumber { line: usize, text: String },
    #[error("line {line}: {value} is negative")]
    Negative { line: usize, value: f64 },
    #[error("line {line}: the size {value} is below the one before it, {before}")]
    SizesFall { line: usize, value: f64, before: f64 },
    #[error("line {line}: the probability {value} is below the one before it, {before}")]
    ProbabilitiesFall { line: usize, value: f64, before: f64 },
    #[error("line {line}: the last probability is {value}; it must be 1, or 100 for percent")]
    DoesNotEndAtOne { line: usize, value: f64 },
    #[error("the file is empty: no line with a size in bytes and a probability")]
    Empty,
    #[error("no size reaches one byte")]
    BelowOneByte,
}

impl Cdf {
    /// Reads one point per line: size in bytes and cumulative probability, from 0 to 1 or from 0 to
    /// 100, depending on the last point. Blanks or a comma separate them; `#` begins a comment.
    pub fn parse(text: &str) -> Result<Cdf, CdfError> {
        let mut points: Vec<Point> = Vec::new();
        let mut last_line = 0;
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            let point = parse_point(line, text)?;
            if let Some(before) = points.last() {
                let (value, before) = (point.size, before.size);
                if value < before {
                    return Err(CdfError::SizesFall { line, value, before });
                }
            }
            if let Some(before) = points.last() {
                let (value, before) = (point.probability, before.probability);
                if value < before {
                    return Err(CdfError::ProbabilitiesFall { line, value, before });
                }
            }
            points.push(point);
            last_line = line;
        }
        match points.last().ok_or(CdfError::Empty)?.probability {
            1.0 => {}
            100.0 => points.iter_mut().for_each(|point| point.probability /= 100.0),
            value => return Err(CdfError::DoesNotEndAtOne { line: last_line, value }),
        }
        Cdf::new(points)
    }

    fn new(points: Vec<Point>) -> Result<Cdf, CdfError> {
        let Some(above) = points.iter().position(|point| point.size >= 1.0) else {
            return Err(CdfError::BelowOneByte);
        };
        let below_one = match above {
            0 => 0.0,
            _ => {
                let (low, high) = (points[above - 1], points[above]);
                let part = (1.0 - low.size) / (high.size - low.size);
                low.probability + part * (high.probability - low.probability)
            }
        };
        if below_one >= 1.0 {
            return Err(CdfError::BelowOneByte);
        }
        Ok(Cdf { points, below_one })
    }

    /// All sizes from `low` to `high` are equally likely. `low` is at least 1, and `high` not below
    /// it.
    pub fn uniform(low: u64, high: u64) -> Cdf {
        let at = |size: u64, probability| Point { size: size as f64, probability };
        Cdf { points: vec![at(low, 0.0), at(high, 1.0)], below_one: 0.0 }
    }

    /// This distribution, limited to sizes from `low` (at least 1) to `high`, both included. `None`
    /// if it has none of these sizes.
    pub fn within(&self, low: u64, high: u64) -> Option<Cdf> {
        let (low, high) = (low as f64, high as f64);
        let (below, up_to) = (self.probability_below(low), self.probability_up_to(high));
        if up_to <= below {
            return None;
        }
        let inner = self.points.iter().filter(|point| low < point.size && point.size < high);
        let first = [(low, below), (low, self.probability_up_to(low))];
        let last = [(high, self.probability_below(high)), (high, up_to)];
        let points = first.into_iter();
        let points = points.chain(inner.map(|point| (point.size, point.probability)));
        let points = points.chain(last).map(|(size, probability)| Point {
            size,
            probability: (probability - below) / (up_to - below),
        });
        Some(Cdf { points: points.collect(), below_one: 0.0 })
    }

    /// The probability of less than this size.
    fn probability_below(&self, size: f64) -> f64 {
        self.probability_at(size, self.points.iter().position(|point| point.size >= size))
    }

    /// The probability of a size up to this one.
    fn probability_up_to(&self, size: f64) -> f64 {
        self.probability_at(size, self.points.iter().position(|point| point.size > size))
    }

    /// The probability on the straight line that ends at this point, or behind the last point.
    fn probability_at(&self, size: f64, above: Option<usize>) -> f64 {
        let Some(above) = above else { return 1.0 };
        let Some(before) = above.checked_sub(1) else { return 0.0 };
        let (low, high) = (self.points[before], self.points[above]);
        let part = (size - low.size) / (high.size - low.size);
        low.probability + part * (high.probability - low.probability)
    }

    /// Sizes, and the probability of a size up to each.
    pub fn points(&self) -> Vec<(f64, f64)> {
        self.points.iter().map(|point| (point.size, point.probability)).collect()
    }

    /// The mean in bytes, exact for the straight lines: the sum of each piece's middle times its
    /// probability.
    pub fn mean(&self) -> f64 {
        let first = self.points[0];
        let pieces = self.points.windows(2).map(|pair| {
            let (low, high) = (pair[0], pair[1]);
            (high.probability - low.probability) * (low.size + high.size) / 2.0
        });
        first.probability * first.size + pieces.sum::<f64>()
    }

    /// The mean number of packets with at most `mss` bytes each.
    pub fn mean_packets(&self, mss: u32) -> f64 {
        let mss = f64::from(mss);
        // A drawn size is truncated: a packet more is needed from each multiple of the MSS, plus 1.
        let multiples = |size: f64| ((size - 1.0) / mss).floor();
        // The integral of that from 1 on.
        let integral = |size: f64| {
            let whole = multiples(size);
            whole * (whole - 1.0) / 2.0 * mss + whole * (size - 1.0 - whole * mss)
        };
        let first = self.points[0];
        let mut more =
            if first.size >= 1.0 { first.probability * multiples(first.size) } else { 0.0 };
        for pair in self.points.windows(2).filter(|pair| pair[1].size >= 1.0) {
            let (low, high) = (pair[0], pair[1]);
            let probability = high.probability - low.probability;
            more += match high.size - low.size {
                0.0 => probability * multiples(low.size),
                span => probability / span * (integral(high.size) - integral(low.size.max(1.0))),
            };
        }
        1.0 + more / (1.0 - self.below_one)
    }

    /// The largest size in bytes.
    pub fn largest(&self) -> u64 {
        self.points.last().map_or(0, |point| point.size as u64)
    }

    /// Draws a size. It takes exactly one number from the stream: sizes below one byte are excluded
    /// by choosing among the others only, and not by drawing again.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let probability = self.below_one + (1.0 - self.below_one) * stream.uniform();
        (self.size_at(probability) as u64).max(1)
    }

    /// The size that is not exceeded with this probability, below 1.
    fn size_at(&self, probability: f64) -> f64 {
        let above = self.points.partition_point(|point| point.probability <= probability);
        let Some(high) = self.points.get(above) else { return self.points[above - 1].size };
        if above == 0 {
            return high.size;
        }
        let low = self.points[above - 1];
        let part = (probability - low.probability) / (high.probability - low.probability);
        low.size + part * (high.size - low.size)
    }
}

fn parse_point(line: usize, text: &str) -> Result<Point, CdfError> {
    let separated = |c: char| c.is_whitespace() || c == ',';
    let mut columns = text.split(separated).filter(|column| !column.is_empty());
    let (Some(size), Some(probability), None) = (columns.next(), columns.next(), columns.next())
    else {
        return Err(CdfError::NotTwoColumns { line, text: text.into() });
    };
    let number = |text: &str| match text.parse::<f64>() {
        Ok(value) if value < 0.0 => Err(CdfError::Negative { line, value }),
        // Larger sizes are not exact as floats, and surely a mistake.
        Ok(value) if value <= MOST_BYTES as f64 => Ok(value),
        _ => Err(CdfError::NotANumber { line, text: text.into() }),
    };
    Ok(Point { size: number(size)?, probability: number(probability)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cdf(text: &str) -> Cdf {
        Cdf::parse(text).unwrap()
    }

    #[test]
    fn the_mean_is_that_of_straight_lines() {
        // 0.5 * (0 + 100) / 2 + 0.5 * (100 + 300) / 2 = 25 + 100.
        assert_eq!(cdf("0 0\n100 0.5\n300 1").mean(), 125.0);
        // Half of the flows have exactly 10 B: 0.5 * 10 + 0.5 * (10 + 30) / 2.
        assert_eq!(cdf("10 50\n30 100").mean(), 15.0);
    }

    #[test]
    fn packets_are_those_of_drawn_sizes_on_average() {
        // From 1 to 101, 100 of 200 sizes have one packet; up to 201 the others have two.
        assert_eq!(cdf("1 0\n201 1").mean_packets(100), 1.5);
        // Below that no size is drawn: the same, whatever its probability.
        assert!((cdf("0.5 0.2\n1 0.3\n201 1").mean_packets(100) - 1.5).abs() < 1e-12);
        // Half have exactly 101 bytes or two packets, a quarter 1 to 51, a quarter exactly 51.
        assert_eq!(cdf("101 0.5\n101 1").mean_packets(100), 2.0);
        assert_eq!(cdf("1 0\n51 0.25\n51 0.5\n101 0.5\n101 1").mean_packets(100), 1.5);
        // 1000 bytes more are 10 packets more.
        assert_eq!(cdf("1001 0\n1201 1").mean_packets(100), 11.5);
        // Drawn: with 14 packets or more the last has a chance to be small.
        let text = "0 0\n70 0.3\n70 0.4\n2500 0.8\n9000 1";
        let (cdf, mut stream) = (cdf(text), Stream::new(1, "draws", 0));
        let drawn: u64 = (0..100_000).map(|_| cdf.draw(&mut stream).div_ceil(1_000)).sum();
        let mean = cdf.mean_packets(1_000);
        assert!((drawn as f64 / 1e5 - mean).abs() < 0.02, "{drawn}, {mean}");
    }

    #[test]
    fn sizes_are_interpolated_and_jumps_stay_jumps() {
        let cdf = cdf("0 0\n100 0.5\n200 0.5\n300 1");
        for (probability, size) in [(0.0, 0.0), (0.25, 50.0), (0.5, 200.0), (0.75, 250.0)] {
            assert_eq!(cdf.size_at(probability), size, "{probability}");
        }
    }

    #[test]
    fn a_uniform_distribution_is_one_line() {
        let cdf = Cdf::uniform(100, 300);
        assert_eq!((cdf.mean(), cdf.size_at(0.0), cdf.size_at(0.5)), (200.0, 100.0, 200.0));
    }

    #[test]
    fn a_part_of_it_has_its_shape() {
        // From 50 to 200: 0.25 on the first line, 0.25 on the second.
        let whole = cdf("0 0\n100 0.5\n300 1");
        let part = whole.within(50, 200).unwrap();
        assert_eq!(part.mean(), 0.5 * 75.0 + 0.5 * 150.0);
        for (probability, size) in [(0.0, 50.0), (0.25, 75.0), (0.5, 100.0), (0.75, 150.0)] {
            assert_eq!(part.size_at(probability), size, "{probability}");
        }
        let size = whole.within(1, 300).unwrap().size_at(0.9);
        assert!((size - whole.size_at(0.9 * 0.995 + 0.005)).abs() < 1e-9, "{size}");
        assert_eq!(whole.within(301, 400), None);
    }

    #[test]
    fn jumps_at_the_ends_of_a_part_are_in_it() {
        // 10 bytes with probability 0.5, 20 bytes with 0.2, and a line from 20 to 30.
        let whole = cdf("10 0.5\n20 0.5\n20 0.7\n30 1");
        assert_eq!(whole.within(10, 20).unwrap().mean(), (0.5 * 10.0 + 0.2 * 20.0) / 0.7);
        assert_eq!(whole.within(11, 20).unwrap().mean(), 20.0);
        assert_eq!(whole.within(10, 19).unwrap().mean(), 10.0);
        assert_eq!(whole.within(20, 30).unwrap().mean(), (0.2 * 20.0 + 0.3 * 25.0) / 0.5);
        assert_eq!(whole.within(11, 19), None);
    }

    #[test]
    fn percent_commas_and_comments_are_understood() {
        let expected = cdf("100 0.25\n200 1");
        assert_eq!(cdf("# size, percent\n100, 25\n\n200,\t100 # the end\n"), expected);
    }

    #[test]
    fn draws_follow_the_distribution() {
        let (cdf, mut stream) = (cdf("0 0\n100 0.5\n300 1"), Stream::new(1, "test", 0));
        let sizes: Vec<u64> = (0..100_000).map(|_| cdf.draw(&mut stream)).collect();
        let mean = sizes.iter().sum::<u64>() as f64 / 1e5;
        // Truncation takes half a byte, and never drawing the 0.5% below 1 B adds 0.005 * 125:
        // 125 - 0.5 + 0.6 = 125.1. Standard deviation 84 / sqrt(1e5) = 0.27.
        assert!((mean - 125.1).abs() < 1.0, "{mean}");
        assert!(sizes.iter().all(|&size| (1..300).contains(&size)));
        // A size below 100 has probability (0.5 - 0.005) / 0.995 = 0.4975; deviation 0.0016.
        let small = sizes.iter().filter(|&&size| size < 100).count() as f64 / 1e5;
        assert!((small - 0.4975).abs() < 0.006, "{small}");
    }

    #[test]
    fn a_size_below_one_byte_is_never_drawn() {
        let (cdf, mut stream) = (cdf("0 0\n1 0.999\n2 1"), Stream::new(1, "test", 0));
        assert!((0..1000).all(|_| cdf.draw(&mut stream) == 1));
    }

    #[test]
    fn every_mistake_has_its_message() {
        for (text, message) in [
            ("5", "line 1: \"5\" is not two columns, a size in bytes and a probability"),
            ("5 0 1", "line 1: \"5 0 1\" is not two columns, a size in bytes and a probability"),
            ("0 0\nten 1", "line 2: \"ten\" is not a number"),
            ("0 0\n10 nan", "line 2: \"nan\" is not a number"),
            ("0 0\n-1 1", "line 2: -1 is negative"),
            ("9 0\n\n8 1", "line 3: the size 8 is below the one before it, 9"),
            ("1 .2\n2 .1", "line 2: the probability 0.1 is below the one before it, 0.2"),
            (
                "1 0\n2 0.9\n# end\n",
                "line 2: the last probability is 0.9; it must be 1, or 100 for percent",
            ),
            ("# nothing\n", "the file is empty: no line with a size in bytes and a probability"),
            ("0 0\n0 1", "no size reaches one byte"),
            ("0 0\n1 1", "no size reaches one byte"),
        ] {
            assert_eq!(Cdf::parse(text).unwrap_err().to_string(), message, "{text:?}");
        }
    }
}

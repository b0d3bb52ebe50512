//! The size predicted for a burst, from the sizes of its nearest neighbours.

use spillway_settings::{Range, Section, SettingsError};

/// How the sizes of the neighbours are combined.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Estimate {
    /// Their mean.
    Mean,
    /// The least size that is at least as large as this share of all of them; 1 is the largest.
    Quantile(f64),
}

impl Estimate {
    /// Reads the keys.
    ///
    /// # Errors
    /// If the name is unknown, or the share is out of range.
    pub fn read(section: &mut Section) -> Result<Estimate, SettingsError> {
        let meaning = "how the nearest bursts are combined: their mean, or a quantile";
        if section.choice("estimate", &[("mean", false), ("quantile", true)], meaning)? {
            let meaning = "with estimate = \"quantile\", which one: 1 is the largest of the K";
            Ok(Estimate::Quantile(section.number("quantile", 1.0, Range::Share, meaning)?))
        } else {
            section.needs("estimate = \"quantile\"", &["quantile"])?;
            Ok(Estimate::Mean)
        }
    }

    /// The estimate from these sizes in bytes, rounded down; `None` without any.
    pub fn of(self, neighbours: impl Iterator<Item = u64>) -> Option<u64> {
        match self {
            Estimate::Mean => {
                let (count, sum) = neighbours.fold((0, 0), |(n, sum), bytes| (n + 1, sum + bytes));
                u64::checked_div(sum, count)
            }
            Estimate::Quantile(share) => {
                let mut sorted: Vec<u64> = neighbours.collect();
                sorted.sort_unstable();
                // Slightly less, so that rounding errors do not count: a tenth of ten is one.
                let rank = (sorted.len() as f64 * share - 1e-9).ceil().max(1.0) as usize;
                sorted.get(rank - 1).copied()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(estimate: Estimate, bytes: &[u64]) -> Option<u64> {
        estimate.of(bytes.iter().copied())
    }

    #[test]
    fn a_mean_is_rounded_down() {
        assert_eq!(of(Estimate::Mean, &[10, 40, 31]), Some(27));
        assert_eq!(of(Estimate::Mean, &[7]), Some(7));
        assert_eq!(of(Estimate::Mean, &[]), None);
    }

    #[test]
    fn a_quantile_is_one_of_them() {
        // A third of three is the first one, a half of three (1.5) the second, and any share above
        // two thirds the third.
        for (share, bytes) in
            [(0.01, 10), (1.0 / 3.0, 10), (0.5, 31), (2.0 / 3.0, 31), (0.67, 40), (1.0, 40)]
        {
            assert_eq!(of(Estimate::Quantile(share), &[10, 40, 31]), Some(bytes), "{share}");
        }
        // 0.7 times 10 is slightly more than 7 as a float, but 7 is meant.
        let ten: Vec<u64> = (1..=10).collect();
        assert_eq!(of(Estimate::Quantile(0.7), &ten), Some(7));
        assert_eq!(of(Estimate::Quantile(0.5), &[9]), Some(9));
        assert_eq!(of(Estimate::Quantile(1.0), &[]), None);
    }

    #[test]
    fn a_quantile_is_asked_for_only_where_it_counts() {
        let read = |text: &str| {
            let mut section = Section::new("sharing", text.parse().unwrap());
            let estimate = Estimate::read(&mut section).map_err(|error| error.to_string())?;
            section.finish().map(|_| estimate).map_err(|error| error.to_string())
        };
        assert_eq!(read(""), Ok(Estimate::Mean));
        assert_eq!(read("estimate = \"quantile\""), Ok(Estimate::Quantile(1.0)));
        let half = "estimate = \"quantile\"\nquantile = 0.5";
        assert_eq!(read(half), Ok(Estimate::Quantile(0.5)));
        assert!(read("quantile = 0.5").unwrap_err().contains("quantile"));
        assert!(read("estimate = \"median\"").unwrap_err().contains("\"mean\""));
        for wrong in ["0.0", "1.5", "-1.0"] {
            let text = format!("estimate = \"quantile\"\nquantile = {wrong}");
            assert!(read(&text).unwrap_err().contains("(0, 1]"), "{wrong}");
        }
    }
}

//! LAS in K levels: the less a flow has been served, the better its priority.
//!
//! # Reference
//! I. Rai, G. Urvoy-Keller, E. Biersack, "Analysis of LAS Scheduling for Job Size Distributions
//! with High Variance", ACM SIGMETRICS 2003. Levels that widen by a factor: M. Chowdhury, I.
//! Stoica, "Efficient Coflow Scheduling Without Prior Knowledge" (Aalo), ACM SIGCOMM 2015, section
//! 4.2.
//!
//! # Rule
//! A packet has the first level i with sent <= `first` * `factor`^(i - 1), where sent counts the
//! payload of its flow before it; the last of `levels` if there is none.
//!
//! # Departures from the paper
//! LAS shares the line equally among the flows that have been served least; levels only come close
//! to it. It needs no distribution of sizes, unlike PIAS, whose levels are otherwise alike.
//!
//! # Scope and limitations
//! Within a level packets are served in the order in which they come.
//!
//! # In composition
//! What holds for [PIAS](pias.md) holds here, except that no timeout takes a flow back: one that
//! starves in a worse level stays there.
//!
//! # Validation
//! Levels by hand below.
//!
//! # Cost
//! A comparison for a new packet that has the level of the one before. Other new packets and
//! repairs: two comparisons for each threshold below what the flow has sent.

use super::{Kind, Ladder, Tagged, Tagger};
use spillway_settings::{Range, Section, SettingsError};
use std::sync::Arc;

/// The row of LAS.
pub(super) const KIND: Kind = Kind {
    id: "las",
    results: 1,
    summary: "LAS in K levels: by what a flow has sent, in levels that widen by a factor",
    citation: "Rai, Urvoy-Keller, Biersack: Analysis of LAS Scheduling, SIGMETRICS 2003",
    read: |section| Ok(Some(Arc::new(Las::read(section)?))),
};

/// LAS.
#[derive(Clone, Debug)]
pub(super) struct Las(Ladder);

impl Las {
    fn read(section: &mut Section) -> Result<Las, SettingsError> {
        let meaning = "how many levels there are";
        let levels = section.integer("levels", 8, 1..=63, meaning)?;
        let meaning = "bytes that a flow may have sent in the first level";
        let first = section.positive_size("first", "1460B", meaning)?;
        let meaning = "how many times as many bytes it may have sent in the next level";
        let factor = section.number("factor", 4.0, Range::AboveOne, meaning)?;
        let threshold = |level: u64| (first as f64 * factor.powi(level as i32)) as u64;
        let thresholds: Vec<u64> = (0..levels - 1).map(threshold).collect();
        if thresholds.windows(2).any(|pair| pair[0] >= pair[1]) {
            let problem = format!(
                "{levels} levels from {first} bytes on, each {factor:?} times as wide as the one before, \
                 are not all a byte apart, or go beyond all sizes"
            );
            return Err(section.conflict("levels", problem));
        }
        Ok(Las(Ladder::new(thresholds)))
    }
}

impl Tagger for Las {
    fn levels(&self) -> u8 {
        self.0.levels()
    }

    fn level(&self, packet: &Tagged) -> u8 {
        self.0.level_of(packet.sent)
    }

    fn holds_until(&self, packet: &Tagged) -> u64 {
        self.0.grows_to(packet.sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn las(text: &str) -> Result<Las, String> {
        let mut section = Section::new("tagging", text.parse().unwrap());
        Las::read(&mut section).map_err(|error| error.to_string())
    }

    #[test]
    fn levels_widen_by_a_factor() {
        let las = las("first = \"1KB\"\nfactor = 3.0\nlevels = 4").unwrap();
        // Up to 1, 3 and 9 KB.
        let level = |sent| las.level(&Tagged { sent, ..Tagged::default() });
        let levels = [0, 1_000, 1_001, 3_000, 9_000, 9_001].map(level);
        assert_eq!((levels, las.levels()), ([1, 1, 2, 2, 3, 4], 4));
    }

    #[test]
    fn levels_that_do_not_widen_are_refused() {
        assert_eq!(
            las("factor = 1.0").unwrap_err(),
            "tagging.factor: 1.0 is not valid; expected a number in (1, inf)"
        );
        let of_all = |text: &str| {
            let refused = las(text).unwrap_err();
            assert!(refused.starts_with("tagging.levels: "), "{refused}");
            assert!(refused.ends_with("a byte apart, or go beyond all sizes"), "{refused}");
            refused
        };
        of_all("first = \"1B\"\nfactor = 1.01");
        of_all("first = \"1000GB\"\nfactor = 1e6");
        assert!(of_all("levels = 63").contains("63 levels from 1460 bytes on, each 4.0 times"));
        assert!(of_all("factor = 1e300").contains("each 1e300 times"));
    }
}

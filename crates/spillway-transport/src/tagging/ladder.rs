//! Levels by thresholds: those that were published, or others.

use spillway_settings::{ErrorKind, Form, Section, SettingsError, Takes, Value, quantity};
use std::sync::Arc;

/// Bytes of payload in a packet of the published thresholds.
pub const PUBLISHED_PACKET: u64 = 1_460;

/// Thresholds that were published, in packets, by the distribution of sizes and the load for which
/// they were computed: PIAS's program for ns-2, and the older ones of the scripts around pFabric.
const PUBLISHED: &[(&str, [u64; 7])] = &[
    ("websearch-0.5", [1059, 1412, 1643, 1869, 2008, 2115, 2184]),
    ("websearch-0.6", [956, 1381, 1718, 2028, 2297, 2551, 2660]),
    ("websearch-0.7", [999, 1305, 1564, 1763, 1956, 2149, 2309]),
    ("websearch-0.8", [909, 1329, 1648, 1960, 2143, 2337, 2484]),
    ("websearch-0.9", [759, 1132, 1456, 1737, 2010, 2199, 2325]),
    ("datamining-0.5", [805, 1106, 1401, 10693, 11970, 21162, 22272]),
    ("datamining-0.6", [840, 1232, 1617, 11950, 12238, 21494, 25720]),
    ("datamining-0.7", [907, 1301, 1619, 12166, 12915, 21313, 26374]),
    ("datamining-0.8", [745, 1083, 1391, 13689, 14936, 21149, 27245]),
    ("datamining-0.9", [750, 1083, 1416, 13705, 14952, 21125, 28253]),
    ("websearch-older", [46, 1084, 1717, 1943, 1989, 1999, 2001]),
    ("datamining-older", [257, 2107, 24703, 28915, 28984, 29000, 29016]),
];

/// The published thresholds in bytes, by name.
pub fn published() -> impl Iterator<Item = (&'static str, Vec<u64>)> {
    let in_bytes = |packets: &[u64; 7]| packets.iter().map(|n| n * PUBLISHED_PACKET).collect();
    PUBLISHED.iter().map(move |(name, packets)| (*name, in_bytes(packets)))
}

/// The most thresholds: a port has at most 64 queues, one of them perhaps for acks.
const MOST: usize = 62;

/// Bytes at which a flow moves from one level to the next, rising.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ladder(Arc<[u64]>);

impl Ladder {
    /// A ladder with these thresholds, which must rise.
    pub fn new(thresholds: Vec<u64>) -> Ladder {
        debug_assert!(thresholds.is_sorted());
        Ladder(thresholds.into())
    }

    /// Reads thresholds: a published name, or sizes.
    ///
    /// # Errors
    /// If there is no such name, or sizes do not rise.
    pub fn read(
        section: &mut Section,
        key: &'static str,
        meaning: &'static str,
    ) -> Result<Ladder, SettingsError> {
        let names: Vec<_> = PUBLISHED.iter().map(|(name, _)| format!("\"{name}\"")).collect();
        let takes = format!(
            "{}, or a list of sizes that rise, such as [\"100KB\", \"1MB\"]",
            names.join(", ")
        );
        let mut forms: Vec<_> = PUBLISHED.iter().map(|(name, _)| Form::word(name)).collect();
        forms.push(Form::List { of: vec![Form::size()], least: 0, most: usize::MAX });
        let takes = Takes::new(takes, forms);
        let thresholds = section.value(key, "websearch-0.8", takes, meaning, parse)?;
        if thresholds.len() > MOST {
            let problem = format!("{} thresholds; there may be {MOST}", thresholds.len());
            return Err(section.error(ErrorKind::WrongValue, key, problem));
        }
        if let Some(pair) = thresholds.windows(2).find(|pair| pair[0] >= pair[1]) {
            let problem = format!("{}B is not above {}B, which comes before", pair[1], pair[0]);
            return Err(section.error(ErrorKind::WrongValue, key, problem));
        }
        Ok(Ladder::new(thresholds))
    }

    /// How many levels it makes: one more than it has thresholds.
    pub fn levels(&self) -> u8 {
        self.0.len() as u8 + 1
    }

    /// The first level, from 1, whose threshold this many bytes do not exceed; the last one if they
    /// exceed all.
    #[inline]
    pub fn level_of(&self, bytes: u64) -> u8 {
        // There are few, and most packets belong to flows that have sent little.
        let place = self.0.iter().position(|&threshold| bytes <= threshold);
        place.unwrap_or(self.0.len()) as u8 + 1
    }

    /// Where a number of bytes that grows leaves its level; `u64::MAX` for the last one.
    pub fn grows_to(&self, bytes: u64) -> u64 {
        let end = self.0.get(usize::from(self.level_of(bytes)) - 1);
        end.map_or(u64::MAX, |&end| end.saturating_add(1))
    }

    /// By how much a number of bytes shrinks until it leaves its level, or is 0.
    pub fn shrinks_by(&self, bytes: u64) -> u64 {
        let better = usize::from(self.level_of(bytes)).checked_sub(2);
        bytes - better.map_or(0, |better| self.0[better])
    }
}

fn parse(value: &Value) -> Option<Vec<u64>> {
    match value {
        Value::String(name) => published().find(|(known, _)| known == name).map(|(_, bytes)| bytes),
        Value::Array(sizes) => sizes.iter().map(|size| quantity::size(size.as_str()?)).collect(),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn read(text: &str) -> Result<Ladder, String> {
        let mut section = Section::new("tagging", text.parse().unwrap());
        Ladder::read(&mut section, "thresholds", "").map_err(|error| error.to_string())
    }

    #[test]
    fn a_level_ends_with_its_threshold() {
        let ladder = read("thresholds = [\"1460B\", \"10KB\"]").unwrap();
        assert_eq!(ladder.levels(), 3);
        let levels =
            [0, 1_460, 1_461, 10_000, 10_001, u64::MAX].map(|bytes| ladder.level_of(bytes));
        assert_eq!(levels, [1, 1, 2, 2, 3, 3]);
        // Without thresholds there is one level.
        assert_eq!(read("thresholds = []").unwrap().level_of(7), 1);
    }

    #[test]
    fn a_number_stays_in_its_level_up_to_the_next_threshold() {
        let ladder = read("thresholds = [\"1460B\", \"10KB\"]").unwrap();
        let grows = [0, 1_460, 1_461, 10_000, 10_001].map(|bytes| ladder.grows_to(bytes));
        assert_eq!(grows, [1_461, 1_461, 10_001, 10_001, u64::MAX]);
        // 12,000 bytes are in the last level. With 2,000 less, 10,000, they are in the one before.
        let shrinks =
            [0, 1_460, 1_461, 10_000, 10_001, 12_000].map(|bytes| ladder.shrinks_by(bytes));
        assert_eq!(shrinks, [0, 1_460, 1, 8_540, 1, 2_000]);
        let one = read("thresholds = []").unwrap();
        assert_eq!((one.grows_to(7), one.shrinks_by(7)), (u64::MAX, 7));
    }

    #[test]
    fn published_thresholds_are_packets_of_1460_bytes() {
        let ladder = read("").unwrap();
        assert_eq!((ladder.0[0], ladder.0[6], ladder.levels()), (909 * 1_460, 2_484 * 1_460, 8));
        assert_eq!(read("thresholds = \"datamining-0.8\"").unwrap().0[4], 14_936 * 1_460);
        for (name, packets) in PUBLISHED {
            assert!(packets.windows(2).all(|pair| pair[0] < pair[1]), "{name}");
        }
    }

    #[test]
    fn thresholds_that_do_not_rise_or_have_no_size_are_refused() {
        for (text, problem) in [
            ("[\"2KB\", \"2KB\"]", "2000B is not above 2000B"),
            ("[\"2KB\", \"1KB\"]", "1000B is not above 2000B"),
            ("[2000]", "is not valid; expected"),
            ("\"websearch\"", "is not valid; expected \"websearch-0.5\""),
        ] {
            let error = read(&format!("thresholds = {text}")).unwrap_err();
            assert!(
                error.starts_with("tagging.thresholds: ") && error.contains(problem),
                "{error}"
            );
        }
        let many: Vec<_> = (1..=63).map(|kb| format!("\"{kb}KB\"")).collect();
        let error = read(&format!("thresholds = [{}]", many.join(", "))).unwrap_err();
        assert!(error.ends_with("63 thresholds; there may be 62"), "{error}");
    }
}

//! The key `sizes`: how large flows are.

use super::cdf::Cdf;
use spillway_engine::Stream;
use spillway_settings::{
    ErrorKind, Files, Form, Section, SettingsError, Takes, nearest_name, quantity,
};
use std::sync::Arc;

/// Where the sizes of flows come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Sizes {
    /// All the same.
    Fixed(u64),
    /// Drawn from a distribution.
    Drawn(Arc<Cdf>),
}

/// A distribution that comes with the program.
#[derive(Clone, Copy, Debug)]
pub struct NamedCdf {
    /// Its name in a scenario.
    pub name: &'static str,
    /// Its file; the first line names the source.
    text: &'static str,
}

macro_rules! named {
    ($($name:literal),* $(,)?) => {
        &[$(NamedCdf {
            name: $name,
            text: include_str!(concat!("../cdf/", $name, ".txt")),
        }),*]
    };
}

/// The distributions that come with the program.
pub const NAMED: &[NamedCdf] = named![
    "websearch",
    "websearch-dctcp",
    "websearch-pfabric",
    "datamining",
    "datamining-vl2",
    "datamining-pfabric",
    "hadoop",
    "hadoop-hpcc",
    "hadoop-mqecn",
    "imc10",
    "cache-mqecn",
    "cachefollower",
    "webserver",
    "keyvalue",
    "alibaba-storage",
    "alibaba-solar",
    "google-rpc",
    "google-searchrpc",
];

/// The values that the key `sizes` accepts.
const TAKES: &str = "a distribution's name, a file with two columns, a range such as \
                     \"1KB..32KB\", or a size such as \"20KB\"";

const MEANING: &str = "Sizes of the flows in bytes of payload: a bundled distribution, a file of \
                       sizes and cumulative probabilities in the scenario's folder, a range in \
                       which all sizes are equally likely, or one size.";

/// Reads the key `sizes_within`: the least and the greatest size.
fn read_within(section: &mut Section) -> Result<Option<(u64, u64)>, SettingsError> {
    let meaning = "Only sizes of the distribution within this range, in their proportions.";
    let takes = Takes::new("a range such as \"1KB..32KB\"", [Form::RANGE]);
    section
        .optional("sizes_within", |s| s.quantity("sizes_within", "", takes, meaning, parse_range))
}

/// Parses two sizes, the first at least one byte and the second larger.
fn parse_range(text: &str) -> Option<(u64, u64)> {
    let (low, high) = text.split_once("..")?;
    let (low, high) = (quantity::size(low.trim())?, quantity::size(high.trim())?);
    (0 < low && low < high).then_some((low, high))
}

impl NamedCdf {
    /// A line about the distribution and the source of its points.
    pub fn source(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }

    /// Its mean in bytes.
    pub fn mean(&self) -> f64 {
        self.cdf().mean()
    }

    fn cdf(&self) -> Cdf {
        Cdf::parse(self.text).expect("distributions that come with the program are valid: tested")
    }
}

impl Sizes {
    /// Reads the keys `sizes` and `sizes_within` of a section that must have sizes.
    pub fn read(section: &mut Section, files: &Files) -> Result<Sizes, SettingsError> {
        let text = section.text("sizes", "", TAKES, MEANING)?;
        let within = read_within(section)?;
        Sizes::of(section, &text, within, files)
    }

    /// As `read`, for a section that need not have sizes.
    pub fn read_if_given(
        section: &mut Section,
        files: &Files,
    ) -> Result<Option<Sizes>, SettingsError> {
        let text = section.optional("sizes", |s| s.text("sizes", "", TAKES, MEANING))?;
        let within = read_within(section)?;
        match (text, within) {
            (None, None) => Ok(None),
            (None, Some(_)) => {
                Err(section.error(ErrorKind::UnusedKey, "sizes_within", "it needs `sizes`"))
            }
            (Some(text), within) => Sizes::of(section, &text, within, files).map(Some),
        }
    }

    /// The part of a distribution within a range.
    fn of(
        section: &Section,
        text: &str,
        within: Option<(u64, u64)>,
        files: &Files,
    ) -> Result<Sizes, SettingsError> {
        let sizes = Sizes::named(section, text, files)?;
        match (sizes, within) {
            (sizes, None) => Ok(sizes),
            (Sizes::Fixed(_), Some(_)) => {
                let problem = "there is one size only; expected a distribution in `sizes`";
                Err(section.error(ErrorKind::UnusedKey, "sizes_within", problem))
            }
            (Sizes::Drawn(cdf), Some((low, high))) => match cdf.within(low, high) {
                Some(cdf) => Ok(Sizes::Drawn(Arc::new(cdf))),
                None => {
                    Err(section.conflict("sizes_within", format!("{text:?} has no such sizes")))
                }
            },
        }
    }

    fn named(section: &Section, text: &str, files: &Files) -> Result<Sizes, SettingsError> {
        if let Some(named) = NAMED.iter().find(|named| named.name == text) {
            return Ok(Sizes::Drawn(Arc::new(named.cdf())));
        }
        if let Some((low, high)) = parse_range(text) {
            return Ok(Sizes::Drawn(Arc::new(Cdf::uniform(low, high))));
        }
        let path = files.folder().join(text);
        if let Some(excess) = quantity::excess(text) {
            return Err(section.error(
                ErrorKind::WrongValue,
                "sizes",
                format!("{text:?} {excess}"),
            ));
        }
        match quantity::size(text) {
            Some(0) => {
                return Err(section.error(
                    ErrorKind::WrongValue,
                    "sizes",
                    "0 bytes; a flow has at least one",
                ));
            }
            Some(size) => return Ok(Sizes::Fixed(size)),
            None if path.is_file() || text.contains(['.', '/']) => {}
            None => {
                let hint = nearest_name(text, NAMED.iter().map(|named| named.name));
                let problem = format!("{text:?} is not known; expected {TAKES}");
                return Err(section.error(ErrorKind::WrongValue, "sizes", problem).hint(hint));
            }
        }
        let file = files.text(section, "sizes", text).map_err(|error| {
            section.error(
                ErrorKind::File,
                "sizes",
                format!("cannot read {}: {error}", path.display()),
            )
        })?;
        let cdf = Cdf::parse(&file).map_err(|error| {
            section.error(ErrorKind::File, "sizes", format!("{}: {error}", path.display()))
        })?;
        Ok(Sizes::Drawn(Arc::new(cdf)))
    }

    /// Sizes, and the probability of a size up to each, to be joined by straight lines. Exactly the
    /// first one occurs with its probability.
    pub fn points(&self) -> Vec<(f64, f64)> {
        match self {
            Sizes::Fixed(size) => vec![(*size as f64, 1.0)],
            Sizes::Drawn(cdf) => cdf.points(),
        }
    }

    /// The mean size in bytes.
    pub fn mean(&self) -> f64 {
        match self {
            Sizes::Fixed(size) => *size as f64,
            Sizes::Drawn(cdf) => cdf.mean(),
        }
    }

    /// The mean number of packets with at most `mss` bytes each.
    pub fn mean_packets(&self, mss: u32) -> f64 {
        match self {
            Sizes::Fixed(size) => size.div_ceil(u64::from(mss)) as f64,
            Sizes::Drawn(cdf) => cdf.mean_packets(mss),
        }
    }

    /// The largest size in bytes.
    pub fn largest(&self) -> u64 {
        match self {
            Sizes::Fixed(size) => *size,
            Sizes::Drawn(cdf) => cdf.largest(),
        }
    }

    /// Draws the size of the next flow.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        match self {
            Sizes::Fixed(size) => *size,
            Sizes::Drawn(cdf) => cdf.draw(stream),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn read(sizes: &str, folder: &Path) -> Result<Sizes, SettingsError> {
        let text = format!("sizes = {sizes:?}");
        Sizes::read(&mut Section::new("traffic.x", text.parse().unwrap()), &Files::of(folder))
    }

    #[test]
    fn every_distribution_has_the_mean_of_its_source() {
        // The sum over pieces of probability times middle; published for the ABM and Credence
        // runs: websearch 1,711,222.5, datamining 5,036,535.2, hadoop 3,423,728.4.
        let means = [
            ("websearch", 1_711_222.5),
            ("websearch-dctcp", 1_711_250.0),
            ("websearch-pfabric", 1_665_830.8),
            ("datamining", 5_036_535.2),
            ("datamining-vl2", 12_658_198.6),
            ("datamining-pfabric", 7_470_236.0),
            ("hadoop", 3_423_728.4),
            ("hadoop-hpcc", 120_420.8),
            ("hadoop-mqecn", 4_135_296.7),
            ("imc10", 195_357.1),
            ("cache-mqecn", 910_689.6),
            ("cachefollower", 686_866.1),
            ("webserver", 62_228.8),
            ("keyvalue", 184.6),
            ("alibaba-storage", 40_869.8),
            ("alibaba-solar", 39_423.5),
            ("google-rpc", 2_891.6),
            ("google-searchrpc", 423.4),
        ];
        assert_eq!(means.map(|(name, _)| name), *NAMED.iter().map(|n| n.name).collect::<Vec<_>>());
        for (named, (name, mean)) in NAMED.iter().zip(means) {
            assert!((named.mean() - mean).abs() < 0.06, "{name}: {}", named.mean());
            assert!(named.text.starts_with("# ") && named.source().contains('/'), "{name}");
        }
    }

    #[test]
    fn a_size_is_a_size() {
        let sizes = read("20KB", Path::new("")).unwrap();
        assert_eq!((sizes.mean(), sizes.draw(&mut Stream::new(1, "x", 0))), (20_000.0, 20_000));
    }

    #[test]
    fn a_range_has_all_its_sizes_and_a_distribution_may_be_cut_to_one() {
        let folder = Path::new("");
        assert_eq!(read("1KB..32KB", folder).unwrap().mean(), 16_500.0);
        let within = |sizes: &str, within: &str| {
            let text = format!("sizes = {sizes:?}\nsizes_within = {within:?}");
            let mut section = Section::new("traffic.x", text.parse().unwrap());
            Sizes::read(&mut section, &Files::of(folder)).map_err(|error| error.to_string())
        };
        // 0.1 from 1 to 2 MB, 0.1 to 5 MB, 0.07 to 10 MB: (0.15 + 0.35 + 0.525) / 0.27 MB.
        let mean = within("websearch", "1MB..10MB").unwrap().mean();
        assert!((mean - 3_796_296.3).abs() < 0.1, "{mean}");
        assert_eq!(
            within("20KB", "1KB..32KB").unwrap_err(),
            "traffic.x.sizes_within: there is one size only; expected a distribution in `sizes`"
        );
        assert_eq!(
            within("websearch", "31MB..32MB").unwrap_err(),
            "traffic.x.sizes_within: \"websearch\" has no such sizes"
        );
        for range in ["32KB..1KB", "0B..1KB", "1KB", "1KB..", "5KB..5KB"] {
            let error = within("websearch", range).unwrap_err();
            assert!(error.contains("expected a range such as \"1KB..32KB\""), "{error}");
        }
    }

    #[test]
    fn its_points_are_those_of_its_lines() {
        let points = |sizes| read(sizes, Path::new("")).unwrap().points();
        assert_eq!(points("20KB"), [(20_000.0, 1.0)]);
        assert_eq!(points("1KB..32KB"), [(1_000.0, 0.0), (32_000.0, 1.0)]);
        let websearch = points("websearch-pfabric");
        assert_eq!((websearch[0], websearch[1]), ((8_760.0, 0.0), (8_760.0, 0.15)));
        assert_eq!(websearch.last(), Some(&(29_200_000.0, 1.0)));
    }

    #[test]
    fn a_file_is_found_beside_the_scenario() {
        let folder = std::env::temp_dir().join(format!("spillway-sizes-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("mine.csv"), "100,0\n300,100\n").unwrap();
        std::fs::write(folder.join("bad"), "100 0\n50 1\n").unwrap();
        let mean = read("mine.csv", &folder).unwrap().mean();
        let error = read("bad", &folder).unwrap_err().to_string();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(mean, 200.0);
        let expected = "bad: line 2: the size 50 is below the one before it, 100";
        assert!(error.starts_with("traffic.x.sizes: ") && error.ends_with(expected), "{error}");
    }

    #[test]
    fn what_is_not_there_is_named() {
        let error = |sizes| read(sizes, Path::new("/nowhere")).unwrap_err().to_string();
        assert!(error("webserach").ends_with("hint: did you mean `websearch`?"));
        assert!(error("my.txt").contains("cannot read /nowhere/my.txt: "), "{}", error("my.txt"));
        assert_eq!(error("0B"), "traffic.x.sizes: 0 bytes; a flow has at least one");
        assert_eq!(error("10000000GB"), "traffic.x.sizes: \"10000000GB\" is more than 2^53 bytes");
        assert!(error("/dev/null").ends_with("cannot read /dev/null: it is not a file"));
    }
}

//! Traffic: every kind is a file of its own and yields flows in the order of their starts.
//!
//! A kind reads its section's keys once, and then yields its flows lazily, in the order of
//! [`FlowSpec`]. Every host draws from a random stream named after the section, so a section's
//! flows do not depend on other sections. [`Traffic`] merges the sections in an order that does not
//! depend on the order in which they were declared.

mod active_time;
mod all_reduce;
mod all_to_all;
mod bounds;
mod cdf;
mod collective;
mod csv;
mod demand;
mod expected;
#[cfg(test)]
mod fixture;
mod flow_columns;
mod flow_graph;
mod flow_list;
mod flow_model;
mod incast;
mod keys;
mod label;
mod merge;
mod permutation;
mod persistent;
mod poisson;
mod racks;
mod release;
mod sizes;
mod waiting;

pub use demand::Demand;
pub use expected::Expected;
pub use flow_columns::FlowColumns;
pub use flow_model::FlowModel;
pub use merge::Merge;
pub use release::{Delays, End, Release};
pub use sizes::{NAMED as NAMED_SIZES, NamedCdf, Sizes};
pub use waiting::{Iteration, Released, Waiting};

use bounds::Bounds;
use dyn_clone::DynClone;
use label::Label;
use spillway_engine::{Stream, Time};
use spillway_settings::{ErrorKind, Files, Key, Section, SettingsError};
use spillway_topology::Topology;
use spillway_transport::flow::FlowSpec;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use waiting::Bounded;

/// Flows in the order of [`FlowSpec`], made when they are asked for.
pub type Flows = Box<dyn FlowIterator>;

/// An iterator over flows of which copies can be made.
pub trait FlowIterator: Iterator<Item = FlowSpec> + DynClone + Send {}

impl<T: Iterator<Item = FlowSpec> + Clone + Send> FlowIterator for T {}

dyn_clone::clone_trait_object!(FlowIterator);

/// The kinds of traffic. A new one is a file and a row here.
pub const KINDS: &[Kind] = &[
    poisson::KIND,
    incast::KIND,
    permutation::KIND,
    all_to_all::KIND,
    all_reduce::KIND,
    persistent::KIND,
    flow_list::KIND,
];

/// A kind of traffic.
pub struct Kind {
    /// Its name in a scenario.
    pub id: &'static str,
    /// A description of one line.
    pub summary: &'static str,
    /// Its results number. It rises whenever the results of runs with this traffic change although
    /// nothing else of these runs has changed.
    pub results: u32,
    /// Values for the required keys, as TOML, for [`Kind::keys`].
    example: &'static str,
    read: Read,
}

/// How a kind reads its section.
type Read = fn(&mut Section, Label, &Context) -> Result<Box<dyn Pattern>, SettingsError>;

/// A section of traffic as its kind has read it.
trait Pattern: fmt::Debug + Send + Sync {
    /// All its flows, from the first, except those that start when others are complete.
    fn flows(&self) -> Flows;

    /// Its flows that start when others are complete, if it has any, or jobs that are to be
    /// recorded.
    fn waiting(&self) -> Option<Box<dyn Waiting>> {
        None
    }

    /// How long hosts take to learn of the flows for which their own flows wait.
    fn release(&self) -> Release {
        Release::Least
    }

    /// Whether connections of its flows stay open, unless a scenario says otherwise.
    fn leaves_open(&self) -> bool {
        false
    }

    /// Whether it has jobs.
    fn has_jobs(&self) -> bool {
        false
    }

    /// The expected amount of its flows.
    fn expected(&self) -> Expected;

    /// The most flows that it can have with any seed.
    fn most_flows(&self) -> u64 {
        self.flows().count() as u64
    }

    /// The payload that it offers on average, if it has a rate.
    fn offered_bits_per_second(&self) -> Option<f64> {
        None
    }

    /// The average packets of its flows with at most `mss` bytes each, if it has a rate.
    fn packets_per_flow(&self, _mss: u32) -> Option<f64> {
        None
    }

    /// The demand on every host, if it has a rate that lasts.
    fn demand(&self) -> Option<Demand> {
        None
    }

    /// The part of the demand that stays within each area of racks, from every rack's area.
    fn demand_inside(&self, area_of: &[usize]) -> Vec<f64> {
        vec![0.0; area_of.iter().max().map_or(0, |last| last + 1)]
    }

    /// When its endless flows stop sending, if it has any.
    fn sends_until(&self) -> Option<Time> {
        None
    }

    /// Whether some of its flows have bounds of their own.
    fn has_bounds(&self) -> bool {
        false
    }

    /// The priorities that single flows have of their own.
    fn priorities(&self) -> BTreeSet<u8> {
        BTreeSet::new()
    }

    /// The classes of its flows, sorted, unless it has a single one that is named after the
    /// section.
    fn classes(&self) -> Option<Vec<String>> {
        None
    }
}

/// Reads columns of numbers. The arguments are the key that names the file, the file's name as
/// written, and the columns' names.
pub type ReadNumbers<'a> = dyn Fn(&str, &str, &[String]) -> Option<Vec<Vec<f64>>> + 'a;

/// The facts outside its section that traffic depends on.
pub struct Context<'a> {
    /// The network, with at least two hosts.
    pub topology: &'a Topology,
    /// The run's seed.
    pub seed: u64,
    /// Flows start before this.
    pub duration: Time,
    /// The run ends here.
    pub stop: Time,
    /// The buffer of a leaf switch, by the switch's number; `None` is unlimited.
    pub leaf_buffer_bytes: &'a dyn Fn(u32) -> Option<u64>,
    /// The files of the scenario.
    pub files: &'a Files,
    /// The flows of a file that the caller has read already. The arguments are the key that names
    /// the file, and its name as written.
    pub columns: &'a dyn Fn(&str, &str) -> Option<FlowColumns>,
    /// Further columns of numbers of such a file, by their names.
    pub numbers: &'a ReadNumbers<'a>,
    /// The model that bounds the sizes of the section's flows, if it has one.
    pub model: Option<&'a FlowModel>,
}

/// A traffic section, read.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    kind: &'static str,
    first_class: u16,
    classes: Vec<String>,
    /// Shared by all copies of the scenario.
    pattern: Arc<dyn Pattern>,
    bounds: Bounds,
    seed: u64,
    priority: Option<u8>,
}

/// All of a scenario's traffic.
#[derive(Clone, Debug)]
pub struct Traffic {
    /// The sections, in the order in which they were given.
    pub sources: Vec<Source>,
    /// The names of the classes; a flow's `class` is an index into it.
    pub classes: Vec<String>,
}

impl Kind {
    /// The keys of its section, including `name`, `kind`, `priority` and `bound`.
    pub fn keys(&self) -> Vec<Key> {
        let text = "kind = \"leaf-spine\"".parse().expect("this is TOML");
        let topology = spillway_topology::read(&mut Section::new("", text), Path::new(""))
            .expect("every topology but a graph needs no more than its kind: tested");
        let context = Context {
            topology: &topology,
            seed: 0,
            duration: Time::from_ms(1),
            stop: Time::from_ms(1),
            leaf_buffer_bytes: &|_| Some(1_000_000),
            files: &Files::default(),
            columns: &|_, _| Some(FlowColumns::default()),
            numbers: &|_, _, _| None,
            model: None,
        };
        let text = format!("name = \"example\"\nkind = \"{}\"\n{}", self.id, self.example);
        let given = text.parse().expect("the kinds' examples are TOML: tested");
        let mut section = Section::new("", given);
        // The example need not be complete: all keys are asked for before a missing value is
        // reported.
        let _ = read(&mut section, 0, &context);
        section.keys().to_vec()
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

/// Reads a section of traffic. Its classes are numbered from `class`.
///
/// Keys of its transport stay in the section; the caller reads them.
pub fn read(section: &mut Section, class: u16, context: &Context) -> Result<Source, SettingsError> {
    let name =
        section.text("name", "", "a name", "Names the class, and seeds its random streams.")?;
    let ids = KINDS.iter().map(|kind| kind.id);
    let id = section.one_of("kind", ids, "The kind of traffic.")?;
    let kind = KINDS.iter().find(|kind| kind.id == id).expect("it is one of those listed");
    let meaning = "The priority of its flows, 0 the highest.";
    let priority =
        section.optional("priority", |s| s.integer("priority", None, 0..=254, meaning))?;
    let priority = priority.map(|priority| priority as u8);
    let (bounds, model) = Bounds::read(section, context.files)?;
    if model.is_some() && kind.id != flow_list::KIND.id {
        let problem = format!(
            "\"model\" looks at columns of a list; expected traffic of kind \"flows\", not {id:?}"
        );
        return Err(section.conflict("bound", problem));
    }
    let context = &Context { model: model.as_ref(), ..*context };
    let label = Label { name: name.clone(), seed: context.seed, class, priority };
    let pattern = (kind.read)(section, label, context)?;
    let classes = pattern.classes().unwrap_or_else(|| vec![name.clone()]);
    Ok(Source {
        name,
        kind: kind.id,
        first_class: class,
        classes,
        pattern: pattern.into(),
        bounds,
        seed: context.seed,
        priority,
    })
}

impl Source {
    /// The section's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The id of its kind.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// The names of its classes.
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// The numbers of its classes.
    pub fn class_numbers(&self) -> Range<u16> {
        self.first_class..self.first_class + self.classes.len() as u16
    }

    /// Its flows, from the first.
    pub fn flows(&self) -> Flows {
        let (flows, bounds) = (self.pattern.flows(), self.bounds);
        if matches!(bounds, Bounds::None | Bounds::Model) {
            return flows;
        }
        let mut random = Stream::new(self.seed, &format!("bound/{}", self.name), 0);
        Box::new(flows.map(move |flow| FlowSpec { bound: bounds.draw(&flow, &mut random), ..flow }))
    }

    /// Its flows that start when others are complete, if it has any, or jobs that are to be
    /// recorded.
    pub fn waiting(&self) -> Option<Box<dyn Waiting>> {
        let (waiting, bounds) = (self.pattern.waiting()?, self.bounds);
        if matches!(bounds, Bounds::None | Bounds::Model) {
            return Some(waiting);
        }
        let random = Stream::new(self.seed, &format!("bound/{}", self.name), 1);
        Some(Box::new(Bounded { waiting, bounds, random }))
    }

    /// How long hosts take to learn of the flows for which their own flows wait.
    pub fn release(&self) -> Release {
        self.pattern.release()
    }

    /// Whether connections of its flows stay open, unless a scenario says otherwise.
    pub fn leaves_open(&self) -> bool {
        self.pattern.leaves_open()
    }

    /// Whether some of its flows start when others are complete.
    pub fn waits(&self) -> bool {
        self.pattern.waiting().is_some_and(|waiting| waiting.left() > 0)
    }

    /// Whether some of its flows have bounds.
    pub fn has_bounds(&self) -> bool {
        self.bounds != Bounds::None || self.pattern.has_bounds()
    }

    /// Whether some of its flows have a priority of their own.
    pub fn has_priorities(&self) -> bool {
        !self.priorities().is_empty()
    }

    /// The priorities of its flows, as far as they have some of their own.
    pub fn priorities(&self) -> BTreeSet<u8> {
        let mut priorities = self.pattern.priorities();
        priorities.extend(self.priority);
        priorities
    }

    /// The expected amount of its flows.
    pub fn expected(&self) -> Expected {
        self.pattern.expected()
    }

    /// The payload that it offers while it is active, in bits per second over all hosts. `None` if
    /// it has no rate. Lists have none, nor have flows that start at once or never end.
    pub fn offered_bits_per_second(&self) -> Option<f64> {
        self.pattern.offered_bits_per_second()
    }

    /// The average packets of its flows with at most `mss` bytes of payload each; `None` if it has
    /// no rate.
    pub fn packets_per_flow(&self, mss: u32) -> Option<f64> {
        self.pattern.packets_per_flow(mss)
    }

    /// The mean payload of its flows that end; `None` if there are none.
    pub fn mean_size(&self) -> Option<f64> {
        let Expected { flows, bytes, .. } = self.expected();
        (bytes > 0.0).then(|| bytes / flows)
    }

    /// The demand on every host; `None` if it has no rate, or ends before its active time does.
    pub fn demand(&self) -> Option<Demand> {
        self.pattern.demand()
    }

    /// The part of [`Source::demand`] that stays within each area of racks, in bits of payload per
    /// second. Racks, in the order of [`Topology::racks`], are in areas numbered from 0.
    pub fn demand_inside(&self, area_of: &[usize]) -> Vec<f64> {
        self.pattern.demand_inside(area_of)
    }

    /// When its endless flows stop sending; `None` if it has none.
    pub fn sends_until(&self) -> Option<Time> {
        self.pattern.sends_until()
    }
}

impl Traffic {
    /// Reads all sections. Their classes are numbered in the order of the sections' names.
    ///
    /// Keys of transports stay in the sections.
    pub fn read(sections: &mut [Section], context: &Context) -> Result<Traffic, SettingsError> {
        // A section's path ends with its name.
        let mut order: Vec<usize> = (0..sections.len()).collect();
        order.sort_by(|&a, &b| sections[a].path().cmp(sections[b].path()));
        let mut sources: Vec<(usize, Source)> = Vec::new();
        let mut classes: Vec<String> = Vec::new();
        for place in order {
            let section = &mut sections[place];
            let source = read(section, classes.len() as u16, context)?;
            if let Some(name) = source.classes.iter().find(|name| classes.contains(name)) {
                let problem = format!("the class {name:?} is there twice: names must differ");
                return Err(section.conflict("name", problem));
            }
            classes.extend_from_slice(&source.classes);
            if classes.len() > usize::from(u16::MAX) {
                let problem = format!("more than {} classes of flows", u16::MAX);
                return Err(ErrorKind::Limit.at("traffic", problem));
            }
            sources.push((place, source));
        }
        sources.sort_by_key(|(place, _)| *place);
        Ok(Traffic { sources: sources.into_iter().map(|(_, source)| source).collect(), classes })
    }

    /// The most flows that there can be with any seed; `u64::MAX` if nothing bounds them.
    pub fn most_flows(&self) -> u64 {
        self.sources.iter().fold(0, |all, source| all.saturating_add(source.pattern.most_flows()))
    }

    /// Whether some of its flows belong to jobs.
    pub fn has_jobs(&self) -> bool {
        self.sources.iter().any(|source| source.pattern.has_jobs())
    }

    /// All flows in the order of [`FlowSpec`], except those that start when others are complete.
    pub fn flows(&self) -> Merge<Flows> {
        merge(self.sources.iter().map(Source::flows).collect())
    }
}

/// The flows of several sources in the order of [`FlowSpec`], which does not depend on the order of
/// the sources.
pub fn merge(sources: Vec<Flows>) -> Merge<Flows> {
    Merge::new(sources)
}

/// Reads the key `size`, for kinds whose flows are all of the same size.
fn read_size(section: &mut Section) -> Result<u64, SettingsError> {
    section.positive_size("size", "", "Bytes of payload of each flow.")
}

#[cfg(test)]
mod tests {
    use super::fixture::{self, Fixture};
    use super::*;

    const WEB: &str = "name = \"web\"\nkind = \"poisson\"\nsizes = \"websearch\"\nload = 0.5";
    const QUERIES: &str = "name = \"queries\"\nkind = \"incast\"\n\
                           queries_per_host_per_s = 500\nburst = \"50%\"\nfan_in = 4\n\
                           jitter = \"1ms\"";
    const SHUFFLE: &str = "name = \"shuffle\"\nkind = \"all-to-all\"\nsize = \"1MB\"\n\
                           start = \"2ms\"";
    const LONG: &str = "name = \"long\"\nkind = \"persistent\"\nreceiver = 3";

    fn fixture() -> Fixture {
        Fixture::new(fixture::leaf_spine(4, 4, 2))
    }

    #[test]
    fn flows_are_the_same_whatever_the_order_of_sections() {
        let flows = |sections: &[&str]| -> Vec<FlowSpec> {
            fixture().traffic(sections).unwrap().flows().collect()
        };
        let all = flows(&[WEB, QUERIES, SHUFFLE, LONG]);
        assert!(all.is_sorted());
        assert_eq!(all, flows(&[LONG, SHUFFLE, QUERIES, WEB]));
        assert_eq!(all, flows(&[SHUFFLE, WEB, LONG, QUERIES]));
        for class in 0..4 {
            assert!(all.iter().filter(|flow| flow.class == class).count() > 10, "{class}");
        }
    }

    #[test]
    fn classes_are_numbered_by_name_and_sources_stay_in_place() {
        let traffic = fixture().traffic(&[WEB, QUERIES, LONG]).unwrap();
        assert_eq!(traffic.classes, ["long", "queries", "web"]);
        assert_eq!(
            traffic.sources.iter().map(Source::name).collect::<Vec<_>>(),
            ["web", "queries", "long"]
        );
        assert_eq!(traffic.sources[0].class_numbers(), 2..3);
        assert_eq!(traffic.sources[0].kind(), "poisson");
    }

    #[test]
    fn a_list_s_classes_are_numbered_among_the_others() {
        let mut fixture = fixture();
        fixture.columns = Some(FlowColumns {
            src: vec![0, 1],
            dst: vec![2, 3],
            size_bytes: vec![5, 6],
            start_ns: vec![0, 0],
            class: Some(vec!["b".into(), "a".into()]),
            ..FlowColumns::default()
        });
        let list = "name = \"m\"\nkind = \"flows\"\nfile = \"f\"";
        let traffic = fixture.traffic(&[WEB, list, LONG]).unwrap();
        assert_eq!(traffic.classes, ["long", "a", "b", "web"]);
        assert_eq!(traffic.sources[1].class_numbers(), 1..3);
        let classes: Vec<u16> = traffic.sources[1].flows().map(|flow| flow.class).collect();
        assert_eq!(classes, [2, 1]);
    }

    #[test]
    fn another_section_leaves_a_section_s_flows_unchanged() {
        let of = |sections: &[&str], name: &str| -> Vec<(u64, u32, u32, u64)> {
            let traffic = fixture().traffic(sections).unwrap();
            let class = traffic.classes.iter().position(|class| class == name).unwrap() as u16;
            let flows = traffic.flows().filter(|flow| flow.class == class);
            flows.map(|flow| (flow.start.ps(), flow.src, flow.dst, flow.size)).collect()
        };
        for name in ["web", "queries"] {
            let both = of(&[QUERIES, WEB], name);
            assert!(both.len() > 10);
            assert_eq!(both, of(&[LONG, WEB, SHUFFLE, QUERIES], name), "{name}");
        }
    }

    #[test]
    fn what_bounds_the_number_of_flows_is_known_for_every_seed() {
        let most = |sections: &[&str]| fixture().traffic(sections).unwrap().most_flows();
        // All to all: 16 hosts with 15 flows each, of which some may start too late. The other
        // section: 15 senders to one receiver.
        assert_eq!(most(&[SHUFFLE, LONG]), 16 * 15 + 15);
        assert_eq!(most(&[&format!("{SHUFFLE}\njitter = \"1s\"")]), 16 * 15);
        let limited = [format!("{WEB}\nflows = 9"), format!("{QUERIES}\nqueries = 5")];
        assert_eq!(most(&[&limited[0], &limited[1]]), 9 + 5 * 4);
        assert_eq!(most(&[WEB, LONG]), u64::MAX);
        assert_eq!(most(&[QUERIES]), u64::MAX);
    }

    #[test]
    fn what_is_expected_is_what_is_drawn_on_average() {
        let mut fixture = fixture();
        fixture.duration = Time::from_ms(100);
        fixture.columns = Some(FlowColumns {
            src: vec![0, 1],
            dst: vec![2, 3],
            size_bytes: vec![5, 6],
            start_ns: vec![0, 100_000_001],
            ..FlowColumns::default()
        });
        for text in [
            &WEB.replace("websearch", "20KB"),
            &format!("{}\nstart = \"40ms\"\nstop = \"1s\"", WEB.replace("websearch", "1KB..9KB")),
            &format!("{WEB}\nflows = 7"),
            &format!("{WEB}\nload_of = \"receiver\"\nsources = 50"),
            QUERIES,
            &format!("{QUERIES}\nqueries = 30"),
            "name = \"x\"\nkind = \"incast\"\ninterval = \"3ms\"\nsizes = \"9KB\"\nfan_in = \"2..4\"",
            SHUFFLE,
            &format!("{SHUFFLE}\njitter = \"196ms\""),
            &SHUFFLE.replace("2ms", "2s"),
            "name = \"x\"\nkind = \"permutation\"\nsize = \"7KB\"",
            LONG,
            &format!("{LONG}\nflows_per_pair = 3\nstagger = \"3ms\""),
            &format!("{LONG}\nflows_per_pair = 3\nstagger = \"30us\""),
            &format!("{LONG}\nstart = \"100ms\"\nstop = \"101ms\""),
            "name = \"x\"\nkind = \"flows\"\nfile = \"f\"",
        ] {
            let source = &fixture.traffic(&[text]).unwrap().sources[0];
            let ends = |flow: &FlowSpec| flow.size != FlowSpec::ENDLESS;
            let sizes: Vec<u64> = source.flows().filter(ends).map(|flow| flow.size).collect();
            let (expected, flows) = (source.expected(), source.flows().count() as f64);
            let bytes = sizes.iter().sum::<u64>() as f64;
            // If the jitter is twice the duration, half of all hosts start in time, more or less.
            let spread = if text.contains("196ms") { 0.5 } else { 3.0 / flows.max(1.0).sqrt() };
            let about = |drawn: f64, expected: f64| (drawn - expected).abs() <= spread * expected;
            assert!(about(flows, expected.flows), "{text}: {flows}, {expected:?}");
            let largest = sizes.iter().copied().max().unwrap_or(0);
            assert!(largest <= expected.largest || flows == 0.0, "{text}: {largest}, {expected:?}");
            // With websearch a few flows have most of the bytes.
            let is_drawn = text.contains("websearch");
            assert!(is_drawn || about(bytes, expected.bytes), "{text}: {bytes}, {expected:?}");
        }
    }

    #[test]
    fn the_seed_and_the_name_choose_the_flows() {
        let flows = |seed, text: &str| -> Vec<FlowSpec> {
            let mut fixture = fixture();
            fixture.seed = seed;
            fixture.traffic(&[text]).unwrap().flows().collect()
        };
        assert_eq!(flows(1, WEB), flows(1, WEB));
        assert_ne!(flows(1, WEB), flows(2, WEB));
        assert_ne!(flows(1, WEB), flows(1, &WEB.replace("web\"", "other\"")));
    }

    #[test]
    fn every_kind_tells_its_keys() {
        for (kind, keys) in KINDS.iter().zip([
            "places sizes sizes_within load load_of destinations senders sources start stop flows",
            "places queries_per_host_per_s interval load load_of burst sizes sizes_within fan_in \
             senders jitter receivers start stop queries",
            "size start shift",
            "size start jitter phases hosts jobs placement iterations compute release_delay",
            "algorithm size start jitter hosts jobs placement iterations compute release_delay",
            "flows_per_pair start stop stagger pairs senders receiver",
            "file only_class limit origin release_delay",
        ]) {
            let expected: Vec<&str> =
                ["name", "kind", "priority", "bound"].into_iter().chain(keys.split(' ')).collect();
            let found: Vec<&str> = kind.keys().iter().map(|key| key.name).collect();
            assert_eq!(found, expected, "{kind:?}");
            let is_sentence =
                |text: &str| text.ends_with('.') && text.starts_with(char::is_uppercase);
            assert!(kind.keys().iter().all(|key| is_sentence(key.meaning)), "{kind:?}");
            assert!(is_sentence(kind.summary));
        }
    }

    #[test]
    fn keys_of_others_stay_in_the_section() {
        let mut section =
            fixture::section("permutation", "size = \"1MB\"\nrecovery.min_rto = \"1ms\"");
        fixture().with_context(|context| read(&mut section, 0, context)).unwrap();
        assert_eq!(section.rest().to_string().trim(), "[recovery]\nmin_rto = \"1ms\"");
        let resolved = section.finish().unwrap().to_string();
        let expected = "name = \"test\"\nkind = \"permutation\"\nsize = \"1MB\"\nstart = \"0us\"\n";
        assert_eq!(resolved, expected);
    }

    #[test]
    fn a_resolved_section_reads_the_same_again() {
        let read_again = |text: &str| {
            let mut section = Section::new("traffic.x", text.parse().unwrap());
            let source = fixture().with_context(|context| read(&mut section, 0, context)).unwrap();
            (section.finish().unwrap().to_string(), source.flows().collect::<Vec<_>>())
        };
        let pairs = "name = \"p\"\nkind = \"persistent\"\npairs = [[0, 4]]\npriority = 3";
        let to_one = format!("{WEB}\ndestinations = 3\nsenders = \"0..2\"\nflows = 9");
        for text in [WEB, QUERIES, SHUFFLE, LONG, pairs, &to_one] {
            let (resolved, flows) = read_again(text);
            assert_eq!(read_again(&resolved), (resolved.clone(), flows), "{resolved}");
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for (sections, problem) in [
            (vec![WEB, WEB], "traffic.web.name: the class \"web\" is there twice"),
            (
                vec!["name = \"x\"\nkind = \"poison\""],
                "traffic.x.kind: \"poison\" is not valid; expected \"poisson\" or \"incast\" or \
                 \"permutation\" or \"all-to-all\" or \"all-reduce\" or \"persistent\" or \"flows\"\n\
                 hint: did you mean `poisson`?",
            ),
            (vec!["name = \"x\""], "traffic.x.kind: missing; expected \"poisson\" or \"incast\""),
            (vec!["name = \"x\"\nkind = \"poisson\"\npriority = 256"], "traffic.x.priority: 256"),
        ] {
            let error = fixture().traffic(&sections).unwrap_err().to_string();
            assert!(error.contains(problem), "{error}");
        }
        let mut nameless = Section::new("traffic.0", Default::default());
        let error = fixture().with_context(|context| read(&mut nameless, 0, context).unwrap_err());
        assert_eq!(error.to_string(), "traffic.0.name: missing; expected a name");
    }
}

//! A scenario around a traffic section, for tests.

use super::{Context, FlowColumns, Label, Source, Traffic, read};
use spillway_engine::Time;
use spillway_settings::{Files, Section, SettingsError};
use spillway_topology::Topology;
use spillway_transport::flow::FlowSpec;
use std::path::Path;

/// The context in which a section is read. All lines have 10 Gbps.
pub struct Fixture {
    pub topology: Topology,
    pub seed: u64,
    pub duration: Time,
    pub stop: Time,
    pub leaf_buffer: Option<u64>,
    pub files: Files,
    pub columns: Option<FlowColumns>,
    pub numbers: Option<Vec<Vec<f64>>>,
}

/// A leaf-spine network with one link between each leaf and each spine.
pub fn leaf_spine(leaves: u32, hosts_per_leaf: u32, spines: u32) -> Topology {
    topology(&format!(
        "kind = \"leaf-spine\"\nleaves = {leaves}\nhosts_per_leaf = {hosts_per_leaf}\n\
         spines = {spines}"
    ))
}

/// A topology from its section.
pub fn topology(text: &str) -> Topology {
    spillway_topology::read(&mut Section::new("topology", text.parse().unwrap()), Path::new(""))
        .unwrap()
}

/// A section called `test`.
pub fn section(kind: &str, text: &str) -> Section {
    let text = format!("name = \"test\"\nkind = {kind:?}\n{text}");
    Section::new("traffic.test", text.parse().unwrap())
}

impl Fixture {
    pub fn new(topology: Topology) -> Fixture {
        Fixture {
            topology,
            seed: 1,
            duration: Time::from_ms(10),
            stop: Time::from_ms(20),
            leaf_buffer: Some(1_000_000),
            files: Files::default(),
            columns: None,
            numbers: None,
        }
    }

    pub fn with_context<T>(&self, use_context: impl FnOnce(&Context) -> T) -> T {
        use_context(&Context {
            topology: &self.topology,
            seed: self.seed,
            duration: self.duration,
            stop: self.stop,
            leaf_buffer_bytes: &|_| self.leaf_buffer,
            files: &self.files,
            columns: &|_, _| self.columns.clone(),
            numbers: &|_, _, _| self.numbers.clone(),
            model: None,
        })
    }

    /// The source of a section called `test`.
    pub fn source(&self, kind: &str, text: &str) -> Result<Source, SettingsError> {
        self.with_context(|context| read(&mut section(kind, text), 0, context))
    }

    /// Its flows.
    pub fn flows(&self, kind: &str, text: &str) -> Vec<FlowSpec> {
        self.source(kind, text).unwrap().flows().collect()
    }

    /// The section as its kind's own reader reads it.
    pub fn read_with<P>(
        &self,
        text: &str,
        read: fn(&mut Section, Label, &Context) -> Result<P, SettingsError>,
    ) -> Result<P, SettingsError> {
        let label = Label { name: "test".into(), seed: self.seed, class: 0, priority: None };
        let mut section = Section::new("traffic.test", text.parse().unwrap());
        self.with_context(|context| read(&mut section, label, context))
    }

    /// All traffic of several sections, each of them TOML.
    pub fn traffic(&self, sections: &[&str]) -> Result<Traffic, SettingsError> {
        let section = |text: &&str| {
            let table: spillway_settings::Table = text.parse().unwrap();
            let name = table["name"].as_str().unwrap().to_string();
            Section::new(format!("traffic.{name}"), table)
        };
        let mut sections: Vec<Section> = sections.iter().map(section).collect();
        self.with_context(|context| Traffic::read(&mut sections, context))
    }
}

//! The catalogue of topologies, and how a scenario's `[topology]` becomes one of them.

use super::clocks::Clocks;
use super::{Topology, dumbbell, fat_tree, graph, leaf_spine, star};
use spillway_engine::{Rate, Time};
use spillway_settings::{ErrorKind, Form, Key, Section, SettingsError, Takes, quantity};
use std::path::Path;

type Result<T> = std::result::Result<T, SettingsError>;

/// A kind of topology.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// Its name in a scenario.
    pub id: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Its results number. It rises whenever the results of runs with this topology change although
    /// nothing else of these runs has changed.
    pub results: u32,
    read: fn(&mut Section, &Path) -> Result<Topology>,
}

/// All kinds, from the smallest to the most general.
pub const KINDS: &[Kind] = &[
    Kind { id: "star", results: 1, summary: "Hosts around one switch.", read: star::read },
    Kind {
        id: "dumbbell",
        results: 1,
        summary: "Senders and receivers on two switches, with one link between them.",
        read: dumbbell::read,
    },
    Kind {
        id: "leaf-spine",
        results: 1,
        summary: "Two tiers: every leaf is connected to every spine.",
        read: leaf_spine::read,
    },
    Kind {
        id: "fat-tree",
        results: 1,
        summary: "Three tiers of equal k-port switches: k pods, k^3/4 hosts.",
        read: fat_tree::read,
    },
    Kind { id: "graph", results: 1, summary: "Any network, link by link.", read: graph::read },
];

impl Kind {
    /// The keys that it reads besides `kind`, with their defaults.
    pub fn keys(&self) -> Vec<Key> {
        let mut section = Section::empty();
        // The result may be an error, since keys without a default are missing. Only the questions
        // matter.
        let _ = (self.read)(&mut section, Path::new(""));
        section.keys().to_vec()
    }
}

/// Reads the network that a section describes. Names of files are relative to `folder`.
pub fn read(section: &mut Section, folder: &Path) -> Result<Topology> {
    let ids = KINDS.iter().map(|kind| kind.id);
    let id = section.one_of("kind", ids, "Which shape the network has.")?;
    let kind = KINDS.iter().find(|kind| kind.id == id).expect("it is one of those listed");
    let mut topology = (kind.read)(section, folder)?;
    let meaning = "whether a packet's time on a line is cut to whole nanoseconds";
    let whole_ns = section.optional_flag("whole_ns", meaning)? == Some(true);
    topology.lines.iter_mut().for_each(|line| line.whole_ns = whole_ns);
    topology.clocks = Clocks::read(section, whole_ns)?;
    let meaning = "whether a port that can send chooses only after all packets of the same moment \
                   have arrived";
    topology.arrivals_first = section.optional_flag("arrivals_first", meaning)? == Some(true);
    Ok(topology)
}

/// The most hosts of any network.
pub(super) const MAX_HOSTS: u64 = 1_000_000;
/// The most links between switches.
const MAX_LINKS: u64 = 10_000_000;
/// The most pairs of a switch and a rack: routes take eight bytes for each.
const MAX_ROUTES: u64 = 500_000_000;

/// The size of a network that is to be built.
pub(super) struct Size {
    pub hosts: u64,
    /// Switches with hosts.
    pub racks: u64,
    pub switches: u64,
    /// Links between switches.
    pub links: u64,
}

impl Size {
    /// Refuses, before anything is built, a network without hosts and one that would not fit in
    /// memory.
    pub fn check(&self, section: &Section) -> Result<()> {
        let within = |what: &str, count: u64, least: u64, most: u64| {
            let kind = match count {
                _ if count < least => ErrorKind::Conflict,
                _ if count > most => ErrorKind::Limit,
                _ => return Ok(()),
            };
            let problem = format!("{count} {what}; expected from {least} to {most}");
            Err(kind.at(section.path(), problem))
        };
        within("hosts", self.hosts, 2, MAX_HOSTS)?;
        within("links between switches", self.links, 0, MAX_LINKS)?;
        within("pairs of a switch and a leaf", self.switches * self.racks, 1, MAX_ROUTES)
    }
}

/// The rate of the hosts' links, which is the default for the others.
pub(super) fn host_rate(section: &mut Section) -> Result<Rate> {
    section.rate("host_rate", "10Gbps", "Rate of the hosts' links.")
}

/// The default delay of links.
pub(super) fn link_delay(section: &mut Section) -> Result<Time> {
    delay(section, "link_delay", "3us", "Propagation delay of every link.")
}

/// The propagation delay of a link. Its limit keeps the sum over a whole path from overflowing.
pub(super) fn delay(
    section: &mut Section,
    key: &'static str,
    default: &str,
    meaning: &'static str,
) -> Result<Time> {
    let takes = Takes::new("a time of at most 1s, such as \"3us\"", [Form::time()]);
    section.quantity(key, default, takes, meaning, |text| {
        quantity::time(text).filter(|&delay| delay <= Time::from_ms(1_000))
    })
}

/// Reads a section from text.
#[cfg(test)]
pub(super) fn read_text(text: &str) -> Result<Topology> {
    let mut section = Section::new("topology", text.parse().expect("valid TOML"));
    let topology = read(&mut section, Path::new(""))?;
    section.finish().map(|_| topology)
}

/// The node at the other end of every port of a switch.
#[cfg(test)]
pub(super) fn port_ends(topology: &Topology, switch: usize) -> Vec<super::Node> {
    let ports = &topology.switches[switch].ports;
    ports.iter().map(|&line| topology.lines[line as usize].to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        read_text(text).unwrap_err().to_string()
    }

    #[test]
    fn a_kind_is_required_and_known() {
        let all = "\"star\" or \"dumbbell\" or \"leaf-spine\" or \"fat-tree\" or \"graph\"";
        assert_eq!(error("hosts = 4"), format!("topology.kind: missing; expected {all}"));
        assert_eq!(
            error("kind = \"leafspine\""),
            format!(
                "topology.kind: \"leafspine\" is not valid; expected {all}\n\
                 hint: did you mean `leaf-spine`?"
            )
        );
    }

    #[test]
    fn every_kind_lists_its_keys_and_but_for_the_graph_works_without_any() {
        for kind in KINDS {
            let keys = kind.keys();
            assert!(!keys.is_empty(), "{}", kind.id);
            assert!(keys.iter().all(|key| key.meaning.ends_with('.')), "{}", kind.id);
            let alone = read_text(&format!("kind = {:?}", kind.id));
            assert_eq!(alone.is_ok(), kind.id != "graph", "{}", kind.id);
        }
    }

    #[test]
    fn a_resolved_section_reads_the_same_again() {
        for kind in KINDS.iter().filter(|kind| kind.id != "graph") {
            let given = format!("kind = {:?}\nhost_rate = \"25Gbps\"", kind.id);
            let mut section = Section::new("topology", given.parse().unwrap());
            let first = read(&mut section, Path::new("")).unwrap();
            let resolved = section.finish().unwrap().to_string();
            assert_eq!(read_text(&resolved).unwrap(), first, "{resolved}");
        }
    }

    #[test]
    fn what_is_too_large_or_too_small_is_refused_before_it_is_built() {
        let leaf_spine = |rest: &str| error(&format!("kind = \"leaf-spine\"\n{rest}"));
        assert_eq!(
            leaf_spine("leaves = 100_000\nhosts_per_leaf = 100"),
            "topology: 10000000 hosts; expected from 2 to 1000000"
        );
        assert_eq!(
            leaf_spine("leaves = 1\nhosts_per_leaf = 1"),
            "topology: 1 hosts; expected from 2 to 1000000"
        );
        assert_eq!(
            leaf_spine("leaves = 1000\nspines = 1000\nlinks_per_pair = 20"),
            "topology: 20000000 links between switches; expected from 0 to 10000000"
        );
        // (50,000 + 4) * 50,000 routes.
        assert_eq!(
            leaf_spine("leaves = 50_000"),
            "topology: 2500200000 pairs of a switch and a leaf; expected from 1 to 500000000"
        );
        assert_eq!(
            error("kind = \"star\"\nhosts = 1"),
            "topology.hosts: 1 is not valid; expected a whole number from 2 to 1000000"
        );
    }

    #[test]
    fn a_delay_has_a_limit() {
        assert_eq!(
            error("kind = \"star\"\nlink_delay = \"1.1s\""),
            "topology.link_delay: \"1.1s\" is not valid; \
             expected a time of at most 1s, such as \"3us\""
        );
    }

    #[test]
    fn a_key_of_another_kind_is_unknown() {
        assert_eq!(
            error("kind = \"star\"\nhost_rates = \"1Gbps\""),
            "topology.host_rates: unknown key\nhint: did you mean `host_rate`?"
        );
    }
}

//! Any network, link by link: switches, the hosts on them and the links between them.
//!
//! The tables are in a TOML file of their own, which `file` names, or in the scenario itself, as
//! `[[topology.switch]]` and so on. A resolved scenario always contains them, so it needs no other
//! file.
//!
//! ```toml
//! [[switch]]
//! name = "left"
//! # tier: "leaf" where hosts attach; elsewhere "spine", or "aggregation" or "core" if it says so
//!
//! [[host]]
//! name = "a"
//! switch = "left"
//! rate = "10Gbps"
//! delay = "3us"
//!
//! [[link]]
//! a = "left"
//! b = "right"
//! rate = "40Gbps"
//! delay = "3us"
//! # count = 2: parallel links
//! ```
//!
//! Switches and hosts are numbered in the order of their declaration. A switch's ports are its
//! hosts, in order, then its links, in order. `[[event]]` and `[record]` may call a switch by its
//! name here, or by its name in results, which is its tier and its number within the tier.

use super::kinds::{MAX_HOSTS, Size, delay};
use super::{Fabric, OwnNames, Search, TIERS, Topology};
use spillway_engine::{Rate, Time};
use spillway_settings::{
    ErrorKind, Section, SettingsError, Value, nearest_name, parse, read_whole_text,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

type Result<T> = std::result::Result<T, SettingsError>;

const TABLES: [&str; 3] = ["switch", "host", "link"];

pub(super) fn read(section: &mut Section, folder: &Path) -> Result<Topology> {
    let takes = "a path, seen from the scenario's folder";
    let meaning = "A TOML file of [[switch]], [[host]] and [[link]] tables; without it these are \
                   in the scenario.";
    let file = section.optional("file", |section| section.text("file", "", takes, meaning))?;
    // The resolved section has the tables instead.
    section.leave_out("file");
    let (topology, tables) = match file {
        None if !TABLES.iter().any(|key| section.has(key)) => {
            return Err(section.error(
                ErrorKind::MissingKey,
                "file",
                format!("missing; expected {takes}"),
            ));
        }
        None => read_tables(section)?,
        Some(_) if TABLES.iter().any(|key| section.has(key)) => {
            let problem = "the network is described here too; expected the one or the other";
            return Err(section.conflict("file", problem));
        }
        Some(name) => {
            let in_file = |error| locate(error, &name);
            let mut inside = open(section, &folder.join(&name), &name)?;
            let read = read_tables(&mut inside).map_err(in_file)?;
            inside.finish().map_err(in_file)?;
            read
        }
    };
    for (key, tables) in TABLES.into_iter().zip(tables) {
        section.put(key, Value::Array(tables));
    }
    Ok(topology)
}

fn open(section: &Section, path: &Path, name: &str) -> Result<Section> {
    let text = read_whole_text(path).map_err(|error| {
        section.error(ErrorKind::File, "file", format!("cannot read {name:?}: {error}"))
    })?;
    let table = parse(&text).map_err(|error| {
        section.error(ErrorKind::File, "file", format!("{name:?} is not valid TOML: {error}"))
    })?;
    Ok(Section::new("", table))
}

/// Adds the name of the file to an error.
fn locate(mut error: SettingsError, file: &str) -> SettingsError {
    error.path = match error.path.as_str() {
        "" => file.into(),
        path => format!("{file}: {path}"),
    };
    error
}

struct Host {
    switch: u32,
    rate: Rate,
    delay: Time,
}

struct Link {
    ends: [u32; 2],
    rate: Rate,
    delay: Time,
    count: u64,
}

/// The tables as they were resolved, in the order of [`TABLES`].
type Resolved = [Vec<Value>; 3];

fn read_tables(section: &mut Section) -> Result<(Topology, Resolved)> {
    let mut resolved = Resolved::default();
    let switches = Switches::read(section, &mut resolved[0])?;
    let (names, hosts) = read_hosts(section, &switches, &mut resolved[1])?;
    let links = read_links(section, &switches, &mut resolved[2])?;

    let mut has_hosts = vec![false; switches.names.len()];
    hosts.iter().for_each(|host| has_hosts[host.switch as usize] = true);
    Size {
        hosts: hosts.len() as u64,
        racks: has_hosts.iter().filter(|&&has| has).count() as u64,
        switches: switches.names.len() as u64,
        links: links.iter().map(|link| link.count).sum(),
    }
    .check(section)?;

    let mut topology = Topology::default();
    for (switch, &has_hosts) in has_hosts.iter().enumerate() {
        topology.add_switch(switches.tier(switch, has_hosts, section)?);
    }
    for host in &hosts {
        topology.add_host(host.switch, host.rate, host.delay);
    }
    for link in &links {
        for _ in 0..link.count {
            topology.add_link(link.ends[0], link.ends[1], link.rate, link.delay);
        }
    }
    let first_cut_off = first_cut_off(&topology);
    topology.own_names = OwnNames { switches: switches.names, hosts: names };
    match first_cut_off {
        None => Ok((topology, resolved)),
        Some(host) => {
            let names = &topology.own_names.hosts;
            let problem = format!("host {:?} cannot reach host {:?}", names[host], names[0]);
            Err(section.conflict("link", format!("{problem}: no links connect their switches")))
        }
    }
}

/// The first host whose switch has no path to that of host 0.
fn first_cut_off(topology: &Topology) -> Option<usize> {
    let mut found = Search::default();
    Fabric::new(topology, |_| true).search(topology.rack_of(0), &mut found);
    let distance = |host| found.distance[topology.rack_of(host) as usize];
    let cut_off = (0..topology.hosts()).find(|&host| distance(host) == Search::UNREACHABLE);
    cut_off.map(|host| host as usize)
}

/// The declared switches.
struct Switches {
    names: Vec<String>,
    tiers: Vec<Option<&'static str>>,
    numbers: BTreeMap<String, u32>,
}

impl Switches {
    fn read(section: &mut Section, resolved: &mut Vec<Value>) -> Result<Switches> {
        let mut switches =
            Switches { names: Vec::new(), tiers: Vec::new(), numbers: BTreeMap::new() };
        for mut table in section.sections("switch")? {
            let name = table.text("name", "", "a name", "What links and hosts call it.")?;
            let meaning = "Its place in the hierarchy.";
            let tier = table.optional("tier", |table| {
                table.choice("tier", &TIERS.map(|tier| (tier, tier)), meaning)
            })?;
            let number = switches.names.len() as u32;
            if switches.numbers.insert(name.clone(), number).is_some() {
                return Err(table.conflict("name", format!("two switches are called {name:?}")));
            }
            switches.names.push(name);
            switches.tiers.push(tier);
            resolved.push(table.finish()?.into());
        }
        Ok(switches)
    }

    /// Reads the name of a switch.
    fn ask(&self, table: &mut Section, key: &'static str, meaning: &'static str) -> Result<u32> {
        let name = table.text(key, "", "the name of a switch", meaning)?;
        match self.numbers.get(&name) {
            Some(&number) => Ok(number),
            None => {
                let names = self.names.iter().map(String::as_str);
                let problem = format!("there is no switch called {name:?}");
                let error = table.error(ErrorKind::UnknownPlace, key, problem);
                Err(error.hint(nearest_name(&name, names)))
            }
        }
    }

    fn tier(&self, switch: usize, has_hosts: bool, section: &Section) -> Result<&'static str> {
        match (self.tiers[switch], has_hosts) {
            (None | Some("leaf"), true) => Ok("leaf"),
            (given, false) => Ok(given.unwrap_or("spine")),
            (Some(other), true) => {
                let key = format!("switch.{}.tier", self.names[switch]);
                let problem = format!("{other:?} is not valid; a switch with hosts is \"leaf\"");
                Err(section.conflict(&key, problem))
            }
        }
    }
}

fn read_hosts(
    section: &mut Section,
    switches: &Switches,
    resolved: &mut Vec<Value>,
) -> Result<(Vec<String>, Vec<Host>)> {
    let (mut names, mut hosts, mut taken) = (Vec::new(), Vec::new(), BTreeSet::new());
    for mut table in section.sections("host")? {
        let name = table.text("name", "", "a name", "What it is called.")?;
        if !taken.insert(name.clone()) {
            return Err(table.conflict("name", format!("two hosts are called {name:?}")));
        }
        names.push(name);
        hosts.push(Host {
            switch: switches.ask(&mut table, "switch", "The switch that it is attached to.")?,
            rate: table.rate("rate", "", "Rate of its link.")?,
            delay: delay(&mut table, "delay", "", "Propagation delay of its link.")?,
        });
        resolved.push(table.finish()?.into());
    }
    Ok((names, hosts))
}

fn read_links(
    section: &mut Section,
    switches: &Switches,
    resolved: &mut Vec<Value>,
) -> Result<Vec<Link>> {
    let mut links = Vec::new();
    for mut table in section.sections("link")? {
        let ends = [
            switches.ask(&mut table, "a", "The switch at one end.")?,
            switches.ask(&mut table, "b", "The switch at the other end.")?,
        ];
        if ends[0] == ends[1] {
            return Err(table.conflict("b", "both ends are the same switch"));
        }
        links.push(Link {
            ends,
            rate: table.rate("rate", "", "Rate of the link.")?,
            delay: delay(&mut table, "delay", "", "Propagation delay of the link.")?,
            count: table.integer("count", 1, 1..=MAX_HOSTS, "Parallel links like this one.")?,
        });
        resolved.push(table.finish()?.into());
    }
    Ok(links)
}

#[cfg(test)]
mod tests {
    use super::super::Node::{Host, Switch};
    use super::super::base_rtt;
    use super::super::kinds::{port_ends, read, read_text};
    use super::*;

    /// Two leaves below a spine, two parallel links from the second.
    const NETWORK: &str = r#"
        switch = [{ name = "left" }, { name = "top" }, { name = "right" }]
        host = [
            { name = "a", switch = "left", rate = "10Gbps", delay = "1us" },
            { name = "b", switch = "right", rate = "10Gbps", delay = "2us" },
            { name = "c", switch = "left", rate = "25Gbps", delay = "1us" },
        ]
        link = [
            { a = "top", b = "right", rate = "40Gbps", delay = "3us", count = 2 },
            { a = "left", b = "top", rate = "5Gbps", delay = "4us" },
        ]
    "#;

    fn inline(tables: &str) -> Result<Topology> {
        read_text(&format!("kind = \"graph\"\n{tables}"))
    }

    fn error(from: &str, to: &str) -> String {
        assert!(NETWORK.contains(from), "{from}");
        inline(&NETWORK.replacen(from, to, 1)).unwrap_err().to_string()
    }

    #[test]
    fn hosts_and_switches_are_numbered_as_declared() {
        let network = inline(NETWORK).unwrap();
        let tiers: Vec<&str> = network.switches.iter().map(|switch| switch.tier).collect();
        assert_eq!(tiers, ["leaf", "spine", "leaf"]);
        assert_eq!(port_ends(&network, 0), [Host(0), Host(2), Switch(1)]);
        assert_eq!(port_ends(&network, 1), [Switch(2), Switch(2), Switch(0)]);
        assert_eq!(port_ends(&network, 2), [Host(1), Switch(1), Switch(1)]);
        assert_eq!(network.uplink_rate_of_leaf(2), 80_000_000_000);
        // 2 * (1 + 4 + 3 + 2) us; 1000 B at 5 Gbps take 1.6 us.
        assert_eq!(base_rtt(&network, 1_000), Time::from_ns(21_600));
    }

    #[test]
    fn nodes_go_by_their_names_here_and_by_those_in_results() {
        let network = inline(&NETWORK.replace("\"right\"", "\"leaf0\"")).unwrap();
        assert_eq!(network.nodes_called("top"), [Switch(1)]);
        assert_eq!(network.nodes_called("spine0"), [Switch(1)]);
        assert_eq!(network.nodes_called("c"), [Host(2)]);
        assert_eq!(network.nodes_called("host2"), [Host(2)]);
        assert_eq!(network.nodes_called("leaf1"), [Switch(2)]);
        assert_eq!(network.nodes_called("leaf0"), [Switch(0), Switch(2)]);
        assert_eq!(network.nodes_called("bottom"), []);
        assert_eq!(network.full_name(Switch(2)), "leaf1 (\"leaf0\" in the topology)");
    }

    #[test]
    fn a_file_is_read_and_the_resolved_section_no_longer_needs_it() {
        let folder = std::env::temp_dir().join(format!("spillway-graph-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let read_file = |content: &str| {
            std::fs::write(folder.join("net.toml"), content).unwrap();
            let given = "kind = \"graph\"\nfile = \"net.toml\"".parse().unwrap();
            let mut section = Section::new("topology", given);
            let topology = read(&mut section, &folder)?;
            section.finish().map(|resolved| (topology, resolved.to_string()))
        };

        let (topology, resolved) = read_file(NETWORK).unwrap();
        assert_eq!(topology, inline(NETWORK).unwrap());
        assert!(!resolved.contains("net.toml"), "{resolved}");
        assert_eq!(read_text(&resolved).unwrap(), topology);

        let wrong = read_file(&NETWORK.replace("\"40Gbps\"", "40")).unwrap_err().to_string();
        let expected = "net.toml: link.0.rate: 40 is not valid; expected a rate from 8bps to 8Tbps, \
                        such as \"10Gbps\"";
        assert_eq!(wrong, expected);
        let wrong = read_file(&format!("{NETWORK}\nlinks = 3")).unwrap_err().to_string();
        assert_eq!(wrong, "net.toml: links: unknown key\nhint: did you mean `link`?");
        let wrong = read_file("switch = [").unwrap_err().to_string();
        assert!(wrong.starts_with("topology.file: \"net.toml\" is not valid TOML: "), "{wrong}");
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn the_network_is_described_once() {
        let takes = "expected a path, seen from the scenario's folder";
        let text = |error: SettingsError| error.to_string();
        assert_eq!(text(inline("").unwrap_err()), format!("topology.file: missing; {takes}"));
        let number = text(inline("file = 3").unwrap_err());
        assert_eq!(number, format!("topology.file: 3 is not valid; {takes}"));
        let missing = text(inline("file = \"no-such.toml\"").unwrap_err());
        assert!(missing.starts_with("topology.file: cannot read \"no-such.toml\": "), "{missing}");
        let twice = text(inline(&format!("file = \"net.toml\"\n{NETWORK}")).unwrap_err());
        let expected = "the network is described here too; expected the one or the other";
        assert_eq!(twice, format!("topology.file: {expected}"));
    }

    #[test]
    fn errors_name_the_table_and_the_nearest_switch() {
        for (from, to, expected) in [
            (
                "switch = \"right\"",
                "switch = \"rigth\"",
                "topology.host.b.switch: there is no switch called \"rigth\"\n\
                 hint: did you mean `right`?",
            ),
            (
                "b = \"top\"",
                "b = \"tip\"",
                "topology.link.1.b: there is no switch called \"tip\"\nhint: did you mean `top`?",
            ),
            ("b = \"top\"", "b = \"left\"", "topology.link.1.b: both ends are the same switch"),
            (
                "name = \"top\"",
                "name = \"left\"",
                "topology.switch.left.name: two switches are called \"left\"",
            ),
            ("name = \"c\"", "name = \"a\"", "topology.host.a.name: two hosts are called \"a\""),
            (
                "name = \"left\"",
                "name = \"left\", tier = \"core\"",
                "topology.switch.left.tier: \"core\" is not valid; a switch with hosts is \"leaf\"",
            ),
            (
                "delay = \"2us\"",
                "dealy = \"2us\"",
                "topology.host.b.delay: missing; expected a time of at most 1s, such as \"3us\"",
            ),
            (
                "{ a = \"left\", b = \"top\", rate = \"5Gbps\", delay = \"4us\" },",
                "",
                "topology.link: host \"b\" cannot reach host \"a\": no links connect their \
                 switches",
            ),
        ] {
            assert_eq!(error(from, to), expected);
        }
    }

    #[test]
    fn a_network_has_hosts() {
        let error = inline("switch = [{ name = \"alone\" }]").unwrap_err().to_string();
        assert_eq!(error, "topology: 0 hosts; expected from 2 to 1000000");
    }
}

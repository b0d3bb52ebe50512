//! What every section of a scenario takes. The code that reads the sections is asked.

use crate::scenario::{Scenario, Sources};
use spillway_settings::{Form, Key, Takes, asked};
use spillway_switch::Entry;
use spillway_switch::aqm::AqmPolicy;
use spillway_switch::scheduling::SchedulingPolicy;
use spillway_switch::sharing::SharingPolicy;
use spillway_transport::{Transport, recovery, tagging};
use std::path::Path;

/// What a section takes.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its path. `*` stands for a place in a list, as in `traffic.*`.
    pub path: &'static str,
    /// The value of `kind` with which it has these keys, if it has kinds.
    pub kind: Option<&'static str>,
    /// Its keys, in the order in which they are asked for.
    pub keys: Vec<Key>,
    /// The names of those that may change during a run.
    pub changes: &'static [&'static str],
}

/// The sections that are in no catalogue, and those of topologies: the path, and the kinds.
const ASKED: &[(&str, &[&str])] = &[
    ("", &[]),
    ("routing", &[]),
    ("switch", &[]),
    ("switch.pfc", &["static", "dynamic", "reverie"]),
    ("nic", &[]),
    ("record", &[]),
    ("limits", &[]),
    ("topology.switch.*", &[]),
    ("topology.host.*", &[]),
    ("topology.link.*", &[]),
    ("traffic.*.bound", &["constant", "uniform", "miss", "model"]),
    ("event.*", &["link-down", "link-loss", "set"]),
];

const GRAPH: &str = "
    [topology]
    kind = \"graph\"
    [[topology.switch]]
    name = \"s\"
    [[topology.switch]]
    name = \"t\"
    [[topology.host]]
    name = \"a\"
    switch = \"s\"
    rate = \"10Gbps\"
    delay = \"1us\"
    [[topology.host]]
    name = \"b\"
    switch = \"s\"
    rate = \"10Gbps\"
    delay = \"1us\"
    [[topology.link]]
    a = \"s\"
    b = \"t\"
    rate = \"10Gbps\"
    delay = \"1us\"";

/// A scenario in which a section asks for all of its keys, without its duration.
fn example(path: &str, kind: &str) -> String {
    let star = "topology = { kind = \"star\" }";
    match path {
        "topology" if kind == "graph" => GRAPH.into(),
        "topology.switch.*" | "topology.host.*" | "topology.link.*" => GRAPH.into(),
        "topology" => format!("topology = {{ kind = {kind:?} }}"),
        "switch" => format!("{star}\nswitch = {{ queues_per_port = 64 }}"),
        "nic" => format!("{star}\nnic = {{ queues = 64 }}"),
        "switch.pfc" => format!(
            "{star}\nswitch = {{ buffer = \"100MB\", pfc = {{ kind = {kind:?}, ends = \"quanta\" }} }}"
        ),
        "traffic.*.bound" => {
            let size = if kind == "constant" { ", size = \"1KB\"" } else { "" };
            format!(
                "{star}\ntraffic = [{{ name = \"t\", kind = \"persistent\", receiver = 0, \
                 bound = {{ kind = {kind:?}{size} }} }}]"
            )
        }
        "event.*" => {
            let more = if kind == "set" {
                "key = \"switch.aqm.threshold\", value = \"9pkt\""
            } else {
                "a = \"leaf0\", b = \"host0\""
            };
            format!(
                "{star}\nswitch = {{ aqm = \"ecn\" }}\n\
                 event = [{{ kind = {kind:?}, at = \"1us\", {more} }}]"
            )
        }
        _ => star.into(),
    }
}

/// All sections, of all kinds, from the root on.
pub fn schema() -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    for &(path, kinds) in ASKED {
        match kinds {
            [] => sections.push(of_reading(path, None)),
            kinds => sections.extend(kinds.iter().map(|&kind| of_reading(path, Some(kind)))),
        }
    }
    let topologies = spillway_topology::KINDS.iter();
    sections.extend(topologies.map(|kind| of_reading("topology", Some(kind.id))));
    let mut add = |path, kind, keys| {
        sections.push(Section { path, kind: Some(kind), keys, changes: &[] });
    };
    for kind in spillway_transport::KINDS {
        add("transport", kind.id, Transport::keys(kind.id));
    }
    for kind in recovery::KINDS {
        add("transport.recovery", kind.id, kind.keys());
    }
    for kind in tagging::KINDS {
        add("transport.tagging", kind.id, kind.keys());
    }
    for kind in spillway_traffic::KINDS {
        let mut keys = kind.keys();
        keys.push(Key {
            name: "transport",
            takes: Takes::new(
                "the id of a transport",
                spillway_transport::KINDS
                    .iter()
                    .map(|kind| Form::word(kind.id))
                    .collect::<Vec<_>>(),
            ),
            default: "none".into(),
            meaning: "the transport of its flows; by default that of [transport]",
        });
        add("traffic.*", kind.id, keys);
    }
    let rooms = [
        ("switch.sharing", SharingPolicy::catalogue()),
        ("switch.aqm", AqmPolicy::catalogue()),
        ("switch.scheduling", SchedulingPolicy::catalogue()),
    ];
    for (path, entries) in rooms {
        sections.extend(entries.into_iter().map(|entry| {
            let Entry { id, keys, changes, .. } = entry;
            Section { path, kind: Some(id), keys, changes }
        }));
    }
    sections
}

/// The keys for which a section is asked when a scenario is read.
fn of_reading(path: &'static str, kind: Option<&'static str>) -> Section {
    let text = example(path, kind.unwrap_or_default());
    let given = format!("duration = \"1ms\"\n{text}").parse().expect("this is TOML");
    let (_, found) = asked(|| Scenario::read(given, &Sources::of(Path::new(""))));
    let mut keys: Vec<Key> = Vec::new();
    for (at, key) in found {
        if matches(path, &at) && keys.iter().all(|known| known.name != key.name) {
            keys.push(key);
        }
    }
    let changes: &[&str] = if path == "nic" { &["receive_rate"] } else { &[] };
    Section { path, kind, keys, changes }
}

/// Whether a path is one of those that a path with `*` stands for.
fn matches(pattern: &str, path: &str) -> bool {
    let (mut steps, mut own) = (pattern.split('.'), path.split('.'));
    loop {
        match (steps.next(), own.next()) {
            (None, None) => return true,
            (Some(step), Some(at)) if step == "*" || step == at => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(path: &str, kind: Option<&str>) -> Section {
        let found = schema().into_iter().find(|one| (one.path, one.kind) == (path, kind));
        found.unwrap_or_else(|| panic!("{path} {kind:?}"))
    }

    fn names(path: &str, kind: Option<&str>) -> Vec<&'static str> {
        section(path, kind).keys.iter().map(|key| key.name).collect()
    }

    #[test]
    fn sections_have_the_keys_that_their_readers_ask_for() {
        assert!(names("", None).contains(&"slowdown_base"));
        assert_eq!(names("topology.switch.*", None), ["name", "tier"]);
        let star = names("topology", Some("star"));
        assert!(["kind", "clocks", "host_clocks", "base_rtt"].iter().all(|key| star.contains(key)));
        assert!(names("switch.pfc", Some("static")).contains(&"priorities"));
        assert!(names("traffic.*", Some("flows")).contains(&"transport"));
        assert!(names("switch.pfc", Some("dynamic")).contains(&"alpha"));
        assert!(!names("switch.pfc", Some("static")).contains(&"alpha"));
        assert!(names("traffic.*.bound", Some("miss")).contains(&"misses"));
        assert!(names("event.*", Some("set")).contains(&"value"));
        assert!(names("record", None).contains(&"windows"));
        for section in schema() {
            let mut names: Vec<_> = section.keys.iter().map(|key| key.name).collect();
            names.sort_unstable();
            assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{section:?}");
            assert!(section.changes.iter().all(|name| names.contains(name)), "{section:?}");
        }
    }

    #[test]
    fn a_key_that_need_not_be_given_is_told_as_if_it_were() {
        let record = section("record", None);
        let interval = record.keys.iter().find(|key| key.name == "queue_interval").unwrap();
        assert_eq!(interval.takes, Takes::Time { positive: true });
        assert_eq!(interval.default, "none");
    }

    #[test]
    fn stars_stand_for_one_step() {
        assert!(matches("traffic.*.bound", "traffic.t.bound") && matches("", ""));
        assert!(!matches("traffic.*", "traffic.t.bound") && !matches("nic", "nic.aqm"));
    }
}

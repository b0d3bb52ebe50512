//! Results numbers: what the results of a run depend on besides its scenario and the files that it
//! reads.
//!
//! The engine has a results number, and so has every algorithm, kind of traffic and topology,
//! beside its name. A number rises whenever a change of what it stands for changes results. Runs of
//! the same resolved scenario with the same numbers have the same results, whatever else has
//! changed in the program. So results may be kept and found again by these numbers.
//! `tests/digests.rs` checks that results change only together with a number.

use spillway_settings::{Table, Value};
use spillway_switch::aqm::AqmPolicy;
use spillway_switch::scheduling::SchedulingPolicy;
use spillway_switch::sharing::SharingPolicy;
use spillway_transport::{protection, recovery, tagging};
use std::collections::BTreeMap;
use std::iter::zip;

/// The engine's number, which stands for everything that no other number stands for.
pub const ENGINE: u32 = 1;

/// Results numbers, each with the name of what it stands for: `engine`, or a room and an algorithm
/// in it, as in `sharing.dt`.
pub type Numbers = BTreeMap<String, u32>;

/// The results numbers of a scenario in which every value is written out. Algorithms from outside
/// the program have none.
pub fn numbers(resolved: &Table) -> Numbers {
    let mut found = Numbers::from([("engine".into(), ENGINE)]);
    named(resolved, &all(), &mut found);
    found
}

/// All results numbers.
pub fn all() -> Numbers {
    let policies = [
        ("sharing", SharingPolicy::IDS, SharingPolicy::RESULTS),
        ("aqm", AqmPolicy::IDS, AqmPolicy::RESULTS),
        ("scheduling", SchedulingPolicy::IDS, SchedulingPolicy::RESULTS),
    ];
    let policies = policies
        .into_iter()
        .flat_map(|(room, ids, results)| zip(ids, results).map(move |(id, n)| (room, *id, *n)));
    let transports =
        spillway_transport::KINDS.iter().map(|kind| ("transport", kind.id, kind.results));
    let recoveries = recovery::KINDS.iter().map(|kind| ("recovery", kind.id, kind.results));
    let taggers = tagging::KINDS.iter().map(|kind| ("tagging", kind.id, kind.results));
    let traffics = spillway_traffic::KINDS.iter().map(|kind| ("traffic", kind.id, kind.results));
    let topologies =
        spillway_topology::KINDS.iter().map(|kind| ("topology", kind.id, kind.results));
    let protections = protection::KINDS.iter().map(|kind| ("protection", kind.id, kind.results));
    let of_rooms = policies
        .chain(transports)
        .chain(recoveries)
        .chain(taggers)
        .chain(protections)
        .chain(traffics)
        .chain(topologies);
    let engine = ("engine".to_string(), ENGINE);
    of_rooms.map(|(room, id, n)| (format!("{room}.{id}"), n)).chain([engine]).collect()
}

/// Adds what a table names, at any depth. In a room, the name is the value of `kind` or the room's
/// own value.
fn named(table: &Table, all: &Numbers, found: &mut Numbers) {
    let mut add = |room: &str, id: &Value| {
        let name = id.as_str().map(|id| format!("{room}.{id}"));
        if let Some((name, number)) = name.and_then(|name| all.get_key_value(&name)) {
            found.insert(name.clone(), *number);
        }
    };
    let mut below = Vec::new();
    for (room, value) in table {
        match value {
            Value::Table(one) => below.push((room, one)),
            Value::Array(several) => {
                below.extend(several.iter().filter_map(Value::as_table).map(|one| (room, one)));
            }
            one => add(room, one),
        }
    }
    for (room, table) in &below {
        if let Some(id) = table.get("kind") {
            add(room, id);
        }
    }
    below.iter().for_each(|(_, table)| named(table, all, found));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_scenario_names_is_found_wherever_it_stands() {
        let text = r#"
            duration = "1ms"
            topology = { kind = "leaf-spine", leaves = 2, spines = 1, hosts_per_leaf = 2 }
            nic = { queues = 3, data_queue = 1 }
            [switch]
            queues_per_port = 3
            data_queue = 1
            sharing = "lqd"
            scheduling = "strict"
            leaf = { sharing = "dt", aqm = "red" }
            [transport]
            kind = "newreno"
            [[traffic]]
            name = "a"
            kind = "poisson"
            sizes = "websearch"
            load = 0.1
            transport = "hpcc"
            [[traffic]]
            name = "b"
            kind = "persistent"
            receiver = 1
            tagging = { kind = "las", levels = 2 }
        "#;
        let given = text.parse().expect("TOML");
        let sources = crate::scenario::Sources::of(std::path::Path::new(""));
        let read = crate::scenario::Scenario::read(given, &sources).expect("a scenario");
        let names: Vec<String> = numbers(&read.resolved).into_keys().collect();
        let expected = [
            "aqm.none",
            "aqm.red",
            "engine",
            "recovery.sack",
            "scheduling.fifo",
            "scheduling.strict",
            "sharing.dt",
            "sharing.lqd",
            "tagging.fixed",
            "tagging.las",
            "topology.leaf-spine",
            "traffic.persistent",
            "traffic.poisson",
            "transport.hpcc",
            "transport.newreno",
        ];
        assert_eq!(names, expected);
    }

    #[test]
    fn every_number_counts_from_one() {
        assert!(all().values().all(|&number| number > 0));
    }
}

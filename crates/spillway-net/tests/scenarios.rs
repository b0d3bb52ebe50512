//! The scenarios that come with the program: each is valid, and resolves to itself.

#![allow(clippy::unwrap_used)]

use spillway_net::scenario::{Scenario, Sources};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios")
}

fn scenarios() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    files.sort();
    files
}

fn read(file: &Path, text: &str) -> Scenario {
    let given = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let read = Scenario::read(given, &Sources::of(&folder()));
    read.unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[test]
fn every_scenario_resolves_to_itself() {
    let files = scenarios();
    assert!(!files.is_empty());
    for file in files {
        let scenario = read(&file, &std::fs::read_to_string(&file).unwrap());
        let resolved = scenario.resolved.to_string();
        let again = read(&file, &resolved);
        assert_eq!(again.resolved.to_string(), resolved, "{}", file.display());
        assert_eq!(again.warnings, scenario.warnings, "{}", file.display());
        // The same network and the same first flows.
        assert_eq!(again.topology, scenario.topology, "{}", file.display());
        let flows = |scenario: &Scenario| scenario.traffic.flows().take(100).collect::<Vec<_>>();
        let first = flows(&scenario);
        assert_eq!(flows(&again), first, "{}", file.display());
        assert!(!first.is_empty(), "{} sends nothing", file.display());
        let stem = file.file_stem().unwrap().to_str();
        assert_eq!(Some(scenario.name.as_str()), stem, "a scenario is named as its file");
    }
}

#[test]
fn a_whole_flow_is_no_window_where_it_never_ends() {
    let text = r#"
        duration = "1ms"
        topology = { kind = "star", hosts = 2 }
        transport = { initial_window = "flow" }
        [[traffic]]
        name = "long"
        kind = "persistent"
        receiver = 1
    "#;
    let error = Scenario::read(text.parse().unwrap(), &Sources::of(Path::new(""))).unwrap_err();
    let expected = "traffic.long.initial_window: \"flow\" is no window for flows that never end";
    assert_eq!(error.to_string(), expected);
    let with = format!("{text}\ninitial_window = \"10pkt\"");
    assert!(Scenario::read(with.parse().unwrap(), &Sources::of(Path::new(""))).is_ok());
}

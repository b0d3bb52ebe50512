//! Writes random scenarios to files, for comparisons of two builds by `bench/digests.py`.

use crate::common::random::case;
use spillway_net::traffic::FlowColumns;
use std::fs::write;
use std::path::Path;

/// A list of flows as CSV.
fn csv(list: &FlowColumns) -> String {
    let mut columns = vec![
        ("src", list.src.iter().map(ToString::to_string).collect::<Vec<_>>()),
        ("dst", list.dst.iter().map(ToString::to_string).collect()),
        ("size_bytes", list.size_bytes.iter().map(ToString::to_string).collect()),
        ("start_ns", list.start_ns.iter().map(ToString::to_string).collect()),
    ];
    if let Some(after) = &list.after {
        let text = |others: &Vec<u32>| {
            others.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        columns.push(("after", after.iter().map(text).collect()));
    }
    if let Some(delays) = &list.delay_ns {
        let text = |delay: &Option<u64>| delay.map_or(String::new(), |delay| delay.to_string());
        columns.push(("delay_ns", delays.iter().map(text).collect()));
    }
    for (name, ways) in [("path", &list.path), ("ack_path", &list.ack_path), ("job", &list.job)] {
        if let Some(ways) = ways {
            let text = |way: &Option<u32>| way.map_or(String::new(), |way| way.to_string());
            columns.push((name, ways.iter().map(text).collect()));
        }
    }
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let rows = (0..list.src.len()).map(|row| {
        columns.iter().map(|(_, column)| column[row].as_str()).collect::<Vec<_>>().join(",")
    });
    let lines: Vec<String> = std::iter::once(names.join(",")).chain(rows).collect();
    lines.join("\n") + "\n"
}

#[test]
#[ignore = "writes 1000 scenarios to the folder that SPILLWAY_SCENARIOS names"]
fn random_scenarios_are_written() {
    let folder = std::env::var("SPILLWAY_SCENARIOS").expect("SPILLWAY_SCENARIOS names a folder");
    let folder = Path::new(&folder);
    for seed in 0..1000 {
        let case = case(seed);
        let text = case.text().replace("file = \"list\"", &format!("file = \"{seed}.csv\""));
        write(folder.join(format!("{seed}.toml")), text).expect("a file in that folder");
        if !case.list.src.is_empty() {
            write(folder.join(format!("{seed}.csv")), csv(&case.list)).expect("a file, too");
        }
    }
}

//! What runs come to, in short, beside the results numbers that they had then: a change of results
//! that no number tells of fails here.
//!
//! Every bundled scenario runs for a short and for a long time, and 1,000 [random](common::random)
//! ones as they are, which record what can be recorded: the number of a scenario says what. A digest
//! is of fixed columns and numbers, so that a new one changes none. `make digests` writes what is
//! kept in `tests/data/digests.txt`, and refuses where a number should have risen.

use crate::common::random::case;
use crate::common::{bundled, bundled_folder, finish, on_all_cores};
use spillway_net::extensions::Extensions;
use spillway_net::record::column::{Column, Values};
use spillway_net::results::{self, Numbers};
use spillway_net::scenario::{Scenario, Sources, assignments};
use spillway_net::simulation::Simulation;
use spillway_settings::Table;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The columns of tables that digests are of.
const COLUMNS: [(&str, &str); 15] = [
    (
        "flows",
        "flow_id src dst size_bytes class priority start_ps fct_ps ideal_ps slowdown \
         delivered_bytes retransmitted_packets timeouts tail_loss_probes query_id",
    ),
    ("queues", "time_ps switch port queue bytes packets"),
    (
        "drops",
        "time_ps switch port queue reason flow_id seq size_bytes queue_bytes occupancy_bytes",
    ),
    ("switches", "time_ps switch bytes packets"),
    (
        "decisions",
        "time_ps switch port queue flow_id seq size_bytes queue_bytes threshold_bytes \
         occupancy_bytes verdict reason",
    ),
    (
        "oracle_trace",
        "time_ps switch port queue arrival flow_id seq size_bytes queue_bytes average_queue_bytes \
         occupancy_bytes average_occupancy_bytes buffer_bytes ports dropped weight",
    ),
    (
        "windows",
        "time_ps flow_id cwnd_bytes pace_bps in_flight_bytes delivered_bytes rate_bps srtt_ps",
    ),
    ("links", "time_ps link utilisation"),
    ("ports", "time_ps switch port bytes packets threshold_bytes unbounded_bytes"),
    ("port_classes", "time_ps switch port class bytes"),
    (
        "aqm",
        "time_ps switch port queue min_bytes max_bytes slope_per_mb max_probability probability \
         flows lambda utility",
    ),
    ("jobs", "class job iteration start_ps end_ps"),
    ("pauses", "by paused port priority begin_ps end_ps"),
    (
        "bursts",
        "start_ps detected_ps end_ps switch port gradient_bps peak_bytes demand_bytes \
         first_threshold_bytes last_threshold_bytes least_threshold_bytes most_threshold_bytes \
         lost_packets lost_bytes",
    ),
    ("history", "switch gradient_bps bytes last_seen_ps"),
];

/// The numbers of the summary that digests are of: where they stand, classes and tiers by `*`.
const NUMBERS: &str = "simulated_s flows.started flows.completed marks retransmitted_packets timeouts \
    tail_loss_probes packet_hops drops.* goodput_gbps.* load.offered load.realised load.on_wire \
    fct_slowdown.*.count fct_slowdown.*.mean fct_slowdown.*.p50 fct_slowdown.*.p99 \
    fct_slowdown.*.unfinished fct_slowdown.*.with_timeout fct_us.*.mean fct_us.*.p95 fct_us.*.max \
    query_us.count query_us.mean query_us.p99 buffer_occupancy.mean buffer_occupancy.p99 \
    buffer_occupancy.max buffer_occupancy.by_tier.*.p99 repairs.*.lost_packets \
    repairs.*.repairs_by_detection repairs.*.repairs_by_timeout";

const RANDOM: u64 = 1_000;
const SHORT: &str = "1ms";
const LONG: &str = "20ms";

/// A run: what it comes to, and the numbers of what it names.
struct Digest {
    name: String,
    sum: u64,
    numbers: Numbers,
}

/// FNV-1a, of 64 bits.
struct Sum(u64);

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn column(&mut self, column: &Column) {
        macro_rules! numbers {
            ($($kind:ident)+) => {
                match &column.values {
                    $(Values::$kind(all) => all.iter().for_each(|n| self.add(&n.to_le_bytes())),)+
                }
            };
        }
        self.add(column.name.as_bytes());
        numbers!(U8 U16 U32 U64 I16 I32 I64 F64);
        if let Some((present, _)) = &column.absent {
            self.add(present);
        }
    }

    /// The numbers of a document that some pattern names.
    fn document(&mut self, value: &serde_json::Value, path: &[&str], patterns: &[Vec<&str>]) {
        if let Some(table) = value.as_object() {
            for (name, value) in table {
                self.document(value, &[path, &[name]].concat(), patterns);
            }
        } else if patterns.iter().any(|pattern| {
            pattern.len() == path.len()
                && pattern.iter().zip(path).all(|(a, b)| *a == "*" || a == b)
        }) {
            self.add(format!("{} {value}", path.join(".")).as_bytes());
        }
    }
}

/// Runs a scenario to its end.
fn digest(name: String, scenario: Scenario) -> Digest {
    let numbers = results::numbers(&scenario.resolved);
    let mut run = finish(Simulation::new(scenario));
    let mut sum = Sum(0xcbf2_9ce4_8422_2325);
    for (table, columns) in COLUMNS {
        for column in run.record.take(table).unwrap() {
            if columns.split_whitespace().any(|name| name == column.name) {
                sum.column(&column);
            }
        }
    }
    let patterns: Vec<Vec<&str>> =
        NUMBERS.split_whitespace().map(|path| path.split('.').collect()).collect();
    sum.document(&run.summary, &[], &patterns);
    Digest { name, sum: sum.0, numbers }
}

/// A scenario with a key set to another value, where it can have that.
fn with(text: &str, sets: &[String], sources: &Sources) -> Scenario {
    let read = |sets: &[String]| {
        let mut given: Table = text.parse().unwrap();
        assignments::apply(&mut given, sets, &[], &Extensions::default()).unwrap();
        Scenario::read(given, sources)
    };
    read(sets).or_else(|_| read(&[])).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn of_bundled(file: &Path, duration: &str) -> Digest {
    let text = std::fs::read_to_string(file).unwrap();
    let name = file.file_stem().unwrap().display();
    let sets = ["warmup=0us".into(), format!("duration={duration}")];
    digest(format!("{name} {duration}"), with(&text, &sets, &Sources::of(&bundled_folder())))
}

fn of_random(seed: u64) -> Digest {
    let case = case(seed);
    let mut text = case.text() + "\n[record]\n";
    let has_ring = !text.contains("port_fifo_packets = 0");
    match seed % 4 {
        0 => {}
        1 => text += "queue_interval = \"20us\"\nlink_interval = \"30us\"\n",
        2 => {
            text += "decisions = 500\nwindows = [0]\n";
            text += if has_ring { "" } else { "port_interval = \"25us\"\n" };
        }
        _ => {
            text += "link_interval = \"7us\"\naqm_interval = \"25us\"\n";
            text += if text.contains("sharing = \"lqd\"") { "oracle_trace = true\n" } else { "" };
            text += if has_ring { "" } else { "bursts = \"4KB\"\n" };
        }
    }
    let list = |_: &str, _: &str| Some(case.list.clone());
    let sources = Sources { flows: &list, ..Sources::of(Path::new("")) };
    // What stalls is sampled until it stops.
    digest(format!("random {seed}"), with(&text, &["stop=20ms".into()], &sources))
}

/// What is kept: the numbers of all that has one, and the sums by name.
#[derive(Default)]
struct Kept {
    numbers: Numbers,
    sums: BTreeMap<String, u64>,
}

impl Kept {
    fn file() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/digests.txt")
    }

    /// What is kept now; nothing before it is written for the first time.
    fn read() -> Kept {
        Kept::parse(&std::fs::read_to_string(Kept::file()).unwrap_or_default())
    }

    fn parse(text: &str) -> Kept {
        let mut kept = Kept::default();
        for line in text.lines() {
            let (name, value) = line.rsplit_once(' ').unwrap();
            if let Some(of) = name.strip_prefix("results ") {
                kept.numbers.insert(of.into(), value.parse().unwrap());
            } else {
                kept.sums.insert(name.into(), u64::from_str_radix(value, 16).unwrap());
            }
        }
        kept
    }

    fn text(&self) -> String {
        let mut text = String::new();
        for (of, number) in &self.numbers {
            writeln!(text, "results {of} {number}").unwrap();
        }
        for (name, sum) in &self.sums {
            writeln!(text, "{name} {sum:016x}").unwrap();
        }
        text
    }

    /// The runs that come to something else, though no number of what they name has risen.
    fn untold(&self, found: &[Digest]) -> Vec<String> {
        let is_other = |run: &&Digest| self.sums.get(&run.name).is_some_and(|sum| *sum != run.sum);
        let has_risen =
            |(of, now): (&String, &u32)| self.numbers.get(of).is_none_or(|before| before < now);
        let untold = |run: &&Digest| !run.numbers.iter().any(has_risen);
        found.iter().filter(is_other).filter(untold).map(|run| run.name.clone()).collect()
    }

    /// What does not hold of these runs.
    fn check(&self, found: &[Digest], all: &Numbers) -> Result<(), String> {
        let untold = self.untold(found);
        if !untold.is_empty() {
            let mut of_all = found.iter().filter(|run| untold.contains(&run.name));
            let mut common = of_all.next().map(|run| run.numbers.clone()).unwrap_or_default();
            of_all.for_each(|run| common.retain(|of, _| run.numbers.contains_key(of)));
            let (names, common) = (untold.join(", "), common.into_keys().collect::<Vec<_>>());
            return Err(format!(
                "other results, and no results number has risen: {names}. All of these name {}",
                common.join(", ")
            ));
        }
        let is_kept = |run: &Digest| self.sums.get(&run.name) == Some(&run.sum);
        if self.numbers != *all || !found.iter().all(is_kept) {
            return Err("results numbers have risen, or runs are new: `make digests`".into());
        }
        Ok(())
    }
}

/// The runs of every test, and those that take minutes.
fn runs(is_long: bool) -> Vec<Digest> {
    let files = bundled();
    let cases = files.len() as u64;
    let durations: &[&str] = if is_long { &[SHORT, LONG] } else { &[SHORT] };
    let mut found = on_all_cores(0..cases * durations.len() as u64, |place| {
        of_bundled(&files[(place % cases) as usize], durations[(place / cases) as usize])
    });
    let random = if is_long { RANDOM } else { RANDOM / 5 };
    found.extend(on_all_cores(0..random, of_random));
    found
}

fn check(found: &[Digest]) -> Kept {
    let kept = Kept::read();
    kept.check(found, &results::all()).unwrap_or_else(|why| panic!("{why}"));
    kept
}

#[test]
fn runs_come_to_what_they_did() {
    check(&runs(false));
}

#[test]
#[ignore = "slow: long runs of the bundled scenarios, and all random ones"]
fn long_runs_come_to_what_they_did() {
    let found = runs(true);
    let kept = check(&found);
    assert_eq!(kept.sums.len(), found.len(), "runs are kept that are no more: `make digests`");
    let named = |of: &String| found.iter().any(|run| run.numbers.contains_key(of));
    let unnamed: Vec<_> = results::all().into_keys().filter(|of| !named(of)).collect();
    assert_eq!(unnamed, [""; 0], "no run names these, so that nothing would tell");
}

mod written {
    use super::*;

    #[test]
    #[ignore = "writes what is kept"]
    fn digests() {
        let found = runs(true);
        let untold = Kept::read().untold(&found);
        assert!(untold.is_empty(), "no results number has risen for {}", untold.join(", "));
        let sums = found.into_iter().map(|run| (run.name, run.sum)).collect();
        let text = Kept { numbers: results::all(), sums }.text();
        std::fs::write(Kept::file(), text).unwrap();
    }
}

#[test]
fn other_results_need_a_number_that_has_risen() {
    let numbers = |pairs: &[(&str, u32)]| {
        pairs.iter().map(|(of, number)| (of.to_string(), *number)).collect::<Numbers>()
    };
    let run = |name: &str, sum, of: &[(&str, u32)]| Digest {
        name: name.into(),
        sum,
        numbers: numbers(of),
    };
    let kept = Kept::parse(
        "results engine 1\nresults sharing.dt 1\nresults sharing.lqd 1\na 1ms 0a\nb 1ms 0b\n",
    );
    let as_before = numbers(&[("engine", 1), ("sharing.dt", 1), ("sharing.lqd", 1)]);
    let (a, b) = (
        run("a 1ms", 10, &[("engine", 1), ("sharing.dt", 1)]),
        [("engine", 1), ("sharing.lqd", 1)],
    );
    assert_eq!(kept.check(&[a, run("b 1ms", 11, &b)], &as_before), Ok(()));
    // Other results of one run.
    let why = kept.check(&[run("b 1ms", 12, &b)], &as_before).unwrap_err();
    let expected = "other results, and no results number has risen: b 1ms. All of these name engine, sharing.lqd";
    assert_eq!(why, expected);
    // Another number has risen, or its own has.
    let dt = numbers(&[("engine", 1), ("sharing.dt", 2), ("sharing.lqd", 1)]);
    assert_eq!(kept.check(&[run("b 1ms", 12, &b)], &dt).unwrap_err(), expected);
    let lqd = numbers(&[("engine", 1), ("sharing.dt", 1), ("sharing.lqd", 2)]);
    let risen = run("b 1ms", 12, &[("engine", 1), ("sharing.lqd", 2)]);
    let why = kept.check(&[risen], &lqd).unwrap_err();
    assert_eq!(why, "results numbers have risen, or runs are new: `make digests`");
    // A run that is not kept.
    assert!(kept.check(&[run("c 1ms", 1, &b)], &as_before).is_err());
}

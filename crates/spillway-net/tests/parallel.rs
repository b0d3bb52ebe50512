//! Runs on several threads: the same as on one, to the bit.

use crate::common::random::{Draw, case};
use crate::common::*;
use spillway_engine::{Stream, Time};
use spillway_net::extensions::Extensions;
use spillway_net::scenario::{Scenario, Sources, assignments};
use spillway_net::simulation::{Cut, Progress, Simulation};

/// What a run comes to: the summary, and all that is recorded, in lines.
fn outcome(run: Run) -> String {
    format!("{:#}\n{:?}", run.summary, run.record).replace("}, ", "},\n")
}

/// Fails if two runs do not come to the same, and says where.
pub fn compare(name: &str, expected: Run, found: Run) {
    let (expected, found) = (outcome(expected), outcome(found));
    for (expected, found) in expected.lines().zip(found.lines()) {
        let same = expected.bytes().zip(found.bytes()).take_while(|(a, b)| a == b).count();
        let [expected, found] = [expected, found].map(|line| {
            let from = same.saturating_sub(60);
            String::from_utf8_lossy(&line.as_bytes()[from..line.len().min(from + 120)]).into_owned()
        });
        assert_eq!(expected, found, "{name}");
    }
    assert_eq!(expected.len(), found.len(), "{name}");
}

/// A scenario with tables that depend on its number.
fn recorded(seed: u64) -> Scenario {
    let case = case(seed);
    let more = match seed % 5 {
        0 => "climbing = true",
        1 => "queue_interval = \"20us\"\nlink_interval = \"30us\"\ndrops = true",
        2 => "decisions = 500\nqueue_classes = true",
        3 => "windows = [0]\nwindow_interval = \"9us\"\nport_interval = \"15us\"",
        _ => "link_interval = \"7us\"\naqm_interval = \"25us\"\nacknowledged = true",
    };
    // What stalls is sampled until it stops.
    let text = case.text().replace("stop = \"200s\"", "stop = \"20ms\"");
    let more = match text.contains("port_fifo_packets") {
        true => more.split("\nport_interval").next().unwrap_or(""),
        false => more,
    };
    scenario_with(&format!("{text}\n[record]\n{more}"), &case.list)
}

/// Runs a scenario on one thread, and cut at random on some, with halts on the way. False if it must
/// stay on one.
fn check(seed: u64) -> bool {
    let mut draw = Draw(Stream::new(seed, "threads", 0));
    let parts = [2, 2, 3, 4, 8][draw.below(5) as usize];
    let scenario = recorded(seed);
    let cut = Cut::at_random(&scenario.topology, parts, seed);
    let threads = 1 + draw.below(3) as usize;
    let (mut run, alone) = Simulation::with_cut(scenario, cut, threads);
    if alone.is_some() {
        return false;
    }
    let whole = finish(Simulation::new(recorded(seed)));
    let end = (whole.number("simulated_s") * 1e12) as u64;
    for _ in 0..draw.below(3) {
        let time = run.now() + Time::from_ps(draw.below(end + 1));
        while run.run_until(time, 1 + draw.below(300)) == Progress::Running {}
        assert!(run.is_conserved(), "seed {seed}: packets have gone astray");
        run = run.clone();
    }
    compare(&format!("seed {seed}"), whole, finish(run));
    true
}

#[test]
fn random_scenarios_are_the_same_in_any_parts() {
    let divided = on_all_cores(0..1_500, check).into_iter().filter(|is_divided| *is_divided);
    let divided = divided.count();
    assert!(divided > 700, "{divided} were divided");
}

#[test]
#[ignore = "slow: 20,000 scenarios"]
fn many_random_scenarios_are_the_same_in_any_parts() {
    let divided = on_all_cores(1_500..21_500, check).into_iter().filter(|is_divided| *is_divided);
    let divided = divided.count();
    assert!(divided > 9_000, "{divided} were divided");
}

#[test]
fn bundled_scenarios_are_the_same_on_several_threads() {
    let files = bundled();
    let read = |file: &std::path::Path| {
        let mut given: spillway_settings::Table =
            std::fs::read_to_string(file).unwrap().parse().unwrap();
        let sets = ["warmup=0us".into(), "duration=300us".into()];
        assignments::apply(&mut given, &sets, &[], &Extensions::default()).unwrap();
        Scenario::read(given, &Sources::of(&bundled_folder())).unwrap()
    };
    let divided = on_all_cores(0..files.len() as u64, |place| {
        let file = &files[place as usize];
        let threads = 2 + place as usize % 3;
        let (run, alone) = Simulation::in_parts(read(file), threads, threads);
        if alone.is_none() {
            assert!(run.threads() > 1);
            let name = file.file_stem().unwrap().display().to_string();
            compare(&name, finish(Simulation::new(read(file))), finish(run));
        }
        alone
    });
    let on_several = divided.iter().filter(|alone| alone.is_none()).count();
    assert!(on_several > 9, "{divided:?}");
}

#[test]
fn a_run_that_must_stay_on_one_thread_says_why() {
    let star = "duration = \"1ms\"\ntopology = { kind = \"star\", hosts = 3, \
                host_rate = \"10Gbps\", link_delay = \"1us\" }\n[[traffic]]\nname = \"x\"\n\
                kind = \"permutation\"\nsize = \"1KB\"";
    let (run, alone) = Simulation::in_parts(scenario(star), 4, 4);
    assert_eq!((run.threads(), alone), (1, Some("all hosts are in one rack")));
    assert_eq!(run.windows(), None);
}

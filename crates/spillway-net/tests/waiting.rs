//! Flows that start when others are complete: lists, all-reduce, all-to-all in phases, and jobs.

use crate::common::{Listed, Row, Run, columns, finish, run, scenario_with, with_list};
use spillway_engine::Stream;
use spillway_net::scenario::{Scenario, Sources};
use spillway_net::simulation::{Progress, Simulation};
use spillway_traffic::FlowColumns;
use std::path::Path;

const US: u64 = 1_000_000;

/// Four hosts at a switch; a packet of 1,000 bytes takes 1 us on each of two lines, which delay it
/// by 1 us each: a flow of n packets takes n + 3 us where nothing else is. An ack takes a
/// nanosecond, for which data may wait.
fn text(more: &str) -> String {
    format!(
        "duration = \"10ms\"
         topology = {{ kind = \"star\", hosts = 4, host_rate = \"8Gbps\", link_delay = \"1us\" }}
         transport = {{ kind = \"dctcp\", mss = \"1000B\", header = \"0B\", ack_size = \"1B\", \
         initial_window = \"100pkt\" }}
         {more}"
    )
}

/// A list in which flows wait for those with these numbers.
fn after(flows: &[Listed], after: &[&[u32]]) -> FlowColumns {
    let after = after.iter().map(|others| others.to_vec()).collect();
    FlowColumns { after: Some(after), ..columns(flows) }
}

fn run_list(text: &str, list: &FlowColumns) -> Run {
    finish(Simulation::new(scenario_with(&with_list(text), list)))
}

/// Start, sender, receiver and end of every flow, in microseconds.
fn times(run: &Run) -> Vec<(u64, u32, u32, u64)> {
    let of_row = |row: &Row| {
        let end = row.start_ps + row.fct_ps.unwrap();
        (row.start_ps / US, row.src, row.dst, end / US)
    };
    run.flows.iter().map(of_row).collect()
}

/// Class, job, iteration, and its start and end in microseconds.
type Iteration = (u16, u32, u32, Option<u64>, Option<u64>);

/// The table of jobs.
fn jobs(run: &Run) -> Vec<Iteration> {
    let jobs = &run.record.jobs;
    let us = |time: Option<u64>| time.map(|ps| ps / US);
    let row = |row: usize| {
        let (start, end) = (us(jobs.start_ps.known(row)), us(jobs.end_ps.known(row)));
        (jobs.class[row], jobs.job[row], jobs.iteration[row], start, end)
    };
    (0..jobs.len()).map(row).collect()
}

/// The same where all hosts learn at once of what is complete.
fn run_list_at_once(text: &str, list: &FlowColumns) -> Run {
    let text = format!("{}\n{AT_ONCE}", with_list(text));
    finish(Simulation::new(scenario_with(&text, list)))
}

/// The time of an ack from host to host.
const NEWS: u64 = 2 * (US + 1_000);
const AT_ONCE: &str = "release_delay = \"0us\"";

/// A packet is complete at host 1 after 4 us. Its ack is back at host 0 after 2.002 us more: 1 ns
/// and 1 us on each of two lines, as from any host to any other.
#[test]
fn other_hosts_learn_of_the_end_of_a_flow_after_the_time_of_an_ack() {
    let flows = [0, 0, 1, 2, 3].map(|src| (src, (src + 1) % 4, 1_000, 0));
    let list = after(&flows, &[&[], &[0], &[0], &[0], &[0]]);
    let starts = |more: &str, section: &str| {
        let text = format!("{}\n{section}", with_list(&text(more)));
        let run = finish(Simulation::new(scenario_with(&text, &list)));
        let start = |src| run.flows.iter().rfind(|row| row.src == src).unwrap().start_ps;
        [0, 1, 2, 3].map(start)
    };
    let least = [NEWS, 0, NEWS, NEWS].map(|news| 4 * US + news);
    assert_eq!(starts("", ""), least);
    assert_eq!(starts("", "release_delay = \"least\""), least);
    assert_eq!(starts("", AT_ONCE), [4 * US; 4]);
    assert_eq!(
        starts("", "release_delay = \"1500ps\""),
        [1_500, 0, 1_500, 1_500].map(|ps| 4 * US + ps)
    );
    let last_ack = "completion = \"last-ack\"";
    assert_eq!(starts(last_ack, ""), [0, NEWS, NEWS, NEWS].map(|news| 4 * US + NEWS + news));
    assert_eq!(starts(last_ack, AT_ONCE), [4 * US + NEWS; 4]);
}

/// Two racks with links of 1 and 3 us: a packet takes 4 us of time on lines and 8 us under way from
/// rack to rack. Flow 2 waits for one that ends at its own host at 12 us, and for one that ends
/// beside it at 9 us, of which it knows 2.002 us later; flow 3 in the other rack waits for both, and
/// the news of the first take 8.004 us.
#[test]
fn a_flow_waits_for_the_last_news_and_not_for_the_last_end() {
    let text = "duration = \"10ms\"
        topology = { kind = \"leaf-spine\", leaves = 2, spines = 1, hosts_per_leaf = 2, \
        host_rate = \"8Gbps\", fabric_rate = \"8Gbps\", link_delay = \"1us\", fabric_delay = \"3us\" }
        transport = { mss = \"1000B\", header = \"0B\", ack_size = \"1B\" }";
    let flows = [(0, 2, 1_000, 0), (2, 3, 1_000, 5_000), (2, 3, 1_000, 0), (0, 1, 1_000, 0)];
    let run = run_list(text, &after(&flows, &[&[], &[], &[1, 0], &[0, 1]]));
    assert_eq!(times(&run), [(0, 0, 2, 12), (5, 2, 3, 9), (12, 2, 3, 16), (20, 0, 1, 24)]);
}

/// One packet each. The first is complete at 4 us. The second waits for it; the third for both, and
/// 2 us more; the fourth for the first, but does not start before 6 us.
#[test]
fn a_flow_starts_when_the_last_of_those_before_it_is_complete() {
    let flows = [(0, 1, 1_000, 0), (1, 2, 1_000, 0), (2, 3, 1_000, 0), (3, 0, 1_000, 6_000)];
    let list = FlowColumns {
        delay_ns: Some(vec![None, None, Some(2_000), None]),
        job: Some(vec![Some(7), Some(7), Some(7), None]),
        ..after(&flows, &[&[], &[0], &[1, 0, 1], &[0]])
    };
    let run = run_list(&text(""), &list);
    assert_eq!(times(&run), [(0, 0, 1, 4), (4, 1, 2, 8), (6, 3, 0, 10), (10, 2, 3, 14)]);
    assert_eq!(run.progress, Progress::Complete);
    assert_eq!(jobs(&run), [(0, 7, 0, Some(0), Some(14))]);
    let job = &run.summary["job_us"];
    assert_eq!(
        (job["list"]["p50"].as_f64().map(f64::floor), job["all"]["count"].as_u64()),
        (Some(14.0), Some(1))
    );
    assert_eq!(run.summary["flows"]["waiting"], 0);
}

#[test]
fn a_flow_that_would_start_too_late_does_not_and_nor_do_those_that_wait_for_it() {
    let short = text("").replace("10ms", "8us");
    let flows = [(0, 1, 1_000, 0); 4];
    let list = FlowColumns {
        job: Some(vec![Some(0), Some(0), Some(1), Some(1)]),
        ..after(&flows, &[&[], &[0], &[1], &[2]])
    };
    let run = run_list_at_once(&short, &list);
    // The second starts at 4 us; the third would at 8 us, when none starts any more.
    assert_eq!(times(&run), [(0, 0, 1, 4), (4, 0, 1, 8)]);
    assert_eq!((run.progress, &run.summary["flows"]["waiting"]), (Progress::Complete, &0.into()));
    assert_eq!(jobs(&run), [(0, 0, 0, Some(0), Some(8)), (0, 1, 0, None, None)]);
    // One that waits for a flow that is left out from the first.
    let late = [(0, 1, 1_000, 9_000), (0, 1, 1_000, 0), (0, 1, 1_000, 0)];
    let run = run_list(&short, &after(&late, &[&[], &[0], &[]]));
    assert_eq!((times(&run), run.progress), (vec![(0, 0, 1, 4)], Progress::Complete));
}

#[test]
fn what_lacks_datagrams_datagrams_never_starts_and_that_is_told() {
    let lossy =
        "[[event]]\nkind = \"link-loss\"\na = \"host0\"\nb = \"leaf0\"\nat = \"0us\"\nrate = 1.0";
    let text = text(lossy).replace("kind = \"dctcp\"", "kind = \"udp\"");
    let text = text.replace(", ack_size = \"1B\", initial_window = \"100pkt\"", "");
    let run = run_list(&text, &after(&[(0, 1, 1_000, 0), (1, 2, 1_000, 0)], &[&[], &[0]]));
    assert_eq!((run.flows.len(), run.progress), (1, Progress::Stopped));
    assert_eq!(run.summary["flows"]["waiting"], 1);
}

/// What a run did, as a list in which no flow waits, repeats it to the bit.
#[test]
fn a_run_with_flows_that_wait_is_repeated_by_its_own_flows() {
    let text = text("switch = { buffer = \"15KB\" }").replace("10ms", "10s");
    let mut waited = 0;
    for seed in 0..40 {
        let mut random = Stream::new(seed, "waiting", 0);
        let mut below = |n: u64| random.below(n) as u32;
        let flows: Vec<Listed> = (0..60)
            .map(|_| {
                let src = below(4);
                let dst = (src + 1 + below(3)) % 4;
                (src, dst, 1 + u64::from(below(30_000)), u64::from(below(40_000)))
            })
            .collect();
        // Those before a flow have lower numbers, but flow 0 and some others wait for none.
        let before =
            (0..60_u32).map(|flow| (0..below(3)).map(|_| below(flow.max(1).into())).collect());
        let mut before: Vec<Vec<u32>> = before.collect();
        before[0].clear();
        let delay = |others: &Vec<u32>| (!others.is_empty()).then(|| u64::from(below(20_000)));
        let delays = before.iter().map(delay).collect();
        let list = FlowColumns { after: Some(before), delay_ns: Some(delays), ..columns(&flows) };
        let run = run_list(&text, &list);
        assert_eq!((run.flows.len(), run.progress), (60, Progress::Complete));
        assert!(run.all_drops() > 0);
        let rows = &run.flows;
        waited += rows.iter().filter(|row| row.start_ps > 40 * US).count();
        let replay = FlowColumns {
            src: rows.iter().map(|row| row.src).collect(),
            dst: rows.iter().map(|row| row.dst).collect(),
            size_bytes: rows.iter().map(|row| row.size).collect(),
            start_ps: Some(rows.iter().map(|row| row.start_ps).collect()),
            ..FlowColumns::default()
        };
        assert_eq!(run_list(&text, &replay).flows, run.flows, "seed {seed}");
        assert_eq!(run_list(&text, &list).flows, run.flows, "seed {seed}");
    }
    assert!(waited > 100, "{waited}");
}

/// The error about a list.
fn refused(more: &str, list: &FlowColumns) -> String {
    let flows = |_: &str, _: &str| Some(list.clone());
    let sources = Sources { flows: &flows, ..Sources::of(Path::new("")) };
    let text = format!("{}\n{more}", with_list(&text("")));
    Scenario::read(text.parse().unwrap(), &sources).unwrap_err().to_string()
}

#[test]
fn flows_that_can_never_start_are_refused() {
    let flows = [(0, 1, 1_000, 0); 4];
    let error = |others: [&[u32]; 4]| refused("", &after(&flows, &others));
    assert_eq!(
        error([&[], &[1], &[], &[]]),
        "traffic.list.file: list: row 2, column after: 1 is the flow itself"
    );
    assert_eq!(
        error([&[], &[], &[4], &[]]),
        "traffic.list.file: list: row 3, column after: 4 is not a flow; there are 4, from 0 to 3"
    );
    assert_eq!(
        error([&[], &[3], &[1, 0], &[2]]),
        "traffic.list.file: list: flows that wait for each other: 1 after 3 after 2 after 1"
    );
    let long = FlowColumns {
        delay_ns: Some(vec![None, Some(u64::MAX), None, None]),
        ..after(&flows, &[&[], &[0], &[], &[]])
    };
    assert!(refused("", &long).contains("column delay_ns: 18446744073709551615 is beyond what"));
    let in_vain = FlowColumns { delay_ns: Some(vec![Some(5); 4]), ..columns(&flows) };
    assert_eq!(
        refused("", &in_vain),
        "traffic.list.file: list: row 1, column delay_ns: a delay, but no flow in the column after"
    );
    let classes = ["a", "b", "a", "a"].map(std::sync::Arc::from).to_vec();
    let classes = FlowColumns { class: Some(classes), ..after(&flows, &[&[], &[], &[1], &[]]) };
    assert_eq!(
        refused("only_class = \"a\"", &classes),
        "traffic.list.file: list: row 3, column after: 1 is of another class, which is not taken"
    );
    let error = refused("limit = 2", &after(&flows, &[&[], &[0], &[], &[]]));
    assert_eq!(
        error,
        "traffic.list.limit: flows that wait for others have no order of starts to be cut by"
    );
}

fn traffic(keys: &str) -> String {
    text(&format!("[[traffic]]\nname = \"job\"\n{keys}"))
}

/// Three hosts with 3 packets: in each of 4 steps each sends one packet to the next, which takes 4
/// us, and by default knows of its end 2.002 us later. After 5 us of computing they do it again.
#[test]
fn a_ring_takes_its_steps_and_computes_between_iterations() {
    let ring = traffic(
        "kind = \"all-reduce\"\nsize = \"3000B\"\nhosts = \"0..2\"\niterations = 2\ncompute = \"5us\"",
    );
    let starts = |run: &Run| run.flows.iter().map(|row| row.start_ps / US).collect::<Vec<u64>>();
    let by_default = run(&ring);
    let expected = [0, 6, 12, 18, 29, 35, 41, 47].map(|start| [start; 3]).concat();
    assert_eq!(starts(&by_default), expected);
    assert_eq!(jobs(&by_default), [(0, 0, 0, Some(0), Some(22)), (0, 0, 1, Some(29), Some(51))]);
    let ring = format!("{ring}\n{AT_ONCE}");
    let run = run(&ring);
    let expected = [0, 4, 8, 12, 21, 25, 29, 33].map(|start| [start; 3]).concat();
    assert_eq!(starts(&run), expected);
    assert!(
        run.flows.iter().all(|row| row.dst == (row.src + 1) % 3 && row.fct_ps.unwrap() / US == 4)
    );
    assert_eq!(jobs(&run), [(0, 0, 0, Some(0), Some(16)), (0, 0, 1, Some(21), Some(37))]);
    assert_eq!(run.number("job_us.job.max").floor(), 37.0);
    assert_eq!(run.number("iteration_us.all.mean").floor(), 16.0);
    // With 10 us no step begins after 8 us; the iteration does not end.
    let run = crate::common::run(&ring.replace("10ms", "10us"));
    assert_eq!((run.flows.len(), run.progress), (9, Progress::Complete));
    assert_eq!(jobs(&run), [(0, 0, 0, Some(0), None)]);
    assert_eq!(run.number("job_us.job.unfinished"), 1.0);
    // It has lasted until the run's last event, and not until a stop of 10 s.
    assert_eq!(run.number("job_us.job.max").floor(), 12.0);
}

/// Four hosts with 4 packets exchange 2, 1, 1 and 2: 5 + 4 + 4 + 5 us, and by default 2.002 us
/// more before each step but the first.
#[test]
fn halving_and_doubling_takes_its_steps() {
    let steps = |more: &str, expected: [u64; 4], end: u64| {
        let run = run(&traffic(&format!(
            "kind = \"all-reduce\"\nalgorithm = \"halving-doubling\"\nsize = \"4000B\"\n{more}"
        )));
        let starts: Vec<u64> = run.flows.iter().map(|row| row.start_ps / US).collect();
        assert_eq!(starts, expected.map(|start| [start; 4]).concat());
        assert_eq!(jobs(&run), [(0, 0, 0, Some(0), Some(end))]);
    };
    steps("", [0, 7, 13, 19], 24);
    steps(AT_ONCE, [0, 5, 9, 13], 18);
}

/// Host 0 sends 10 packets of another flow first: its part of the first phase, which begins at 1
/// us, is at host 1 after 14 us, and one more for a packet that has come between. Hosts 0 and 1
/// begin the second phase then; hosts 2 and 3 do after 5 us, and host 3's packet is the one
/// between, at host 1's port.
#[test]
fn a_host_waits_for_what_it_sends_and_receives_only() {
    let phases = format!("kind = \"all-to-all\"\nsize = \"1000B\"\nphases = 3\n{AT_ONCE}");
    let phases = traffic(&phases);
    let alone = run(&phases);
    let starts: Vec<u64> = alone.flows.iter().map(|row| row.start_ps / US).collect();
    assert_eq!(starts, [0, 4, 8].map(|start| [start; 4]).concat());
    let distance = |row: &Row| (row.dst + 4 - row.src) % 4;
    assert!(alone.flows.iter().all(|row| u64::from(distance(row)) == 1 + row.start_ps / (4 * US)));
    let run = run_list(&format!("{phases}\nstart = \"1us\""), &columns(&[(0, 1, 10_000, 0)]));
    let start = |src: u32, dst: u32| {
        let own = run.flows.iter().filter(|row| row.class == 0 && row.size == 1_000);
        own.filter(|row| (row.src, row.dst) == (src, dst))
            .map(|row| row.start_ps / US)
            .next()
            .unwrap()
    };
    assert_eq!([start(0, 2), start(1, 3)], [15, 15]);
    assert_eq!([start(2, 0), start(3, 1)], [5, 5]);
}

#[test]
fn jobs_share_hosts_as_asked() {
    let pairs = |placement: &str| {
        let text = traffic(&format!(
            "kind = \"all-reduce\"\nsize = \"2000B\"\njobs = 2\nplacement = \"{placement}\""
        ));
        let run = run(&text);
        assert_eq!(jobs(&run).len(), 2);
        let mut pairs: Vec<(u32, u32)> = run.flows.iter().map(|row| (row.src, row.dst)).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    };
    assert_eq!(pairs("packed"), [(0, 1), (1, 0), (2, 3), (3, 2)]);
    assert_eq!(pairs("spread"), [(0, 2), (1, 3), (2, 0), (3, 1)]);
    assert_eq!(pairs("random").len(), 4);
}

#[test]
fn collectives_that_cannot_be_are_refused() {
    let refused = |keys: &str| {
        let sources = Sources::of(Path::new(""));
        Scenario::read(traffic(keys).parse().unwrap(), &sources).unwrap_err().to_string()
    };
    for (keys, error) in [
        (
            "kind = \"all-reduce\"\nsize = \"1MB\"\njobs = 3",
            "traffic.job.jobs: 4 hosts for 3 jobs; expected as many for each, and at least 2",
        ),
        (
            "kind = \"all-reduce\"\nsize = \"1MB\"\njobs = 4",
            "traffic.job.jobs: 4 hosts for 4 jobs; expected as many for each, and at least 2",
        ),
        (
            "kind = \"all-reduce\"\nsize = \"3B\"",
            "traffic.job.size: 3 bytes for 4 hosts; each adds up at least one",
        ),
        (
            "kind = \"all-reduce\"\nsize = \"1MB\"\nhosts = \"0..2\"\nalgorithm = \"halving-doubling\"",
            "traffic.job.algorithm: \"halving-doubling\" takes a power of two; each job has 3 hosts",
        ),
        (
            "kind = \"all-to-all\"\nsize = \"1MB\"\nhosts = \"0..1\"\nphases = 2",
            "traffic.job.phases: 2 phases for the 1 others of a job",
        ),
    ] {
        assert_eq!(refused(keys), error);
    }
}

/// A ring of four in which the second iteration would begin too late. A datagram of the fourth of
/// six steps is lost, so two flows of the first iteration never start.
#[test]
fn an_iteration_that_has_begun_is_stuck_even_if_the_next_would_be_too_late() {
    let text = traffic(
        "kind = \"all-reduce\"\nsize = \"4000B\"\niterations = 2\ncompute = \"1s\"\n\
         release_delay = \"0us\"\n[[event]]\nkind = \"link-loss\"\na = \"host0\"\nb = \"leaf0\"\nat = \"15us\"\nuntil = \"17us\"\nrate = 1.0",
    );
    let text = text.replace("kind = \"dctcp\"", "kind = \"udp\"");
    let text = text.replace(", ack_size = \"1B\", initial_window = \"100pkt\"", "");
    let run = run(&text);
    assert_eq!((run.flows.len(), run.progress), (22, Progress::Stopped));
    assert_eq!(run.summary["flows"]["waiting"], 2);
}

/// Each of three hosts sends to the next in four steps, the last ack of a step being back when the
/// next one begins.
#[test]
fn hosts_of_a_collective_keep_their_connections_open() {
    let ring = |transport: &str, section: &str| {
        let ring = "kind = \"all-reduce\"\nsize = \"3000B\"\nhosts = \"0..2\"";
        let text = traffic(&format!("{ring}\n{section}"));
        let text = text.replace("kind = \"dctcp\"", transport);
        let text = if text.contains("udp") {
            text.replace(", initial_window = \"100pkt\"", "")
        } else {
            text
        };
        let scenario = crate::common::scenario(&text);
        let resolved = scenario.resolved.to_string();
        let again = crate::common::scenario(&resolved).resolved.to_string();
        assert_eq!(again, resolved);
        let run = finish(Simulation::new(scenario));
        assert_eq!(run.flows.len(), 12);
        run.record.connections.map(|opened| {
            let mut rows: Vec<_> =
                run.record.flows.flow_id.iter().copied().zip(opened.connection).collect();
            rows.sort_unstable();
            rows.into_iter().map(|(_, opened)| opened).collect::<Vec<u32>>()
        })
    };
    let (dctcp, kept) = ("kind = \"dctcp\"", Some([[0, 1, 2]; 4].concat()));
    assert_eq!(ring(dctcp, ""), kept);
    assert_eq!(ring(dctcp, "transport = \"cubic\""), kept);
    // Where every flow has its own, or that is given, or there are no connections.
    assert_eq!(ring(dctcp, "connections = \"own\""), None);
    assert_eq!(ring("kind = \"dctcp\", connections = \"own\"", ""), None);
    assert_eq!(ring("kind = \"dctcp\", connections = \"own\"", "connections = \"open\""), kept);
    assert_eq!(ring("kind = \"udp\"", ""), None);
}

/// The first of two flows, by start, is taken, and its job is over with it.
#[test]
fn a_limit_cuts_jobs_of_a_list_too() {
    let flows = [(0, 1, 1_000, 5_000), (0, 1, 1_000, 0), (0, 1, 1_000, 9_000)];
    let list = FlowColumns { job: Some(vec![Some(1), Some(0), Some(0)]), ..columns(&flows) };
    let run = run_list(&text(""), &list);
    assert_eq!(jobs(&run), [(0, 1, 0, Some(5), Some(9)), (0, 0, 0, Some(0), Some(13))]);
    let text = format!("{}limit = 1", with_list(&text("")));
    let run = finish(Simulation::new(scenario_with(&text, &list)));
    assert_eq!(jobs(&run), [(0, 0, 0, Some(0), Some(4))]);
}

//! Runs in steps, and copies of runs: both go on as the run that was left alone, to the bit.

use crate::common::policies::every_policy;
use crate::common::random::{Draw, case};
use crate::common::*;
use spillway_engine::{Stream, Time};
use spillway_net::simulation::{Progress, Simulation};
use spillway_switch::scheduling::SchedulingPolicy;
use spillway_traffic::FlowColumns;
use spillway_transport::tagging;

/// What a run comes to.
#[derive(Debug, PartialEq)]
struct Outcome {
    summary: serde_json::Value,
    flows: Vec<Row>,
    record: String,
}

/// All that is recorded, so that tables that a run lacks are compared as well.
fn outcome(run: Run) -> Outcome {
    Outcome { summary: run.summary, flows: run.flows, record: format!("{:?}", run.record) }
}

/// Halts at a time, in pieces of some events. False if the run is over before.
fn halts_at(simulation: &mut Simulation, time: Time, draw: &mut Draw) -> bool {
    loop {
        match simulation.run_until(time, 1 + draw.below(300)) {
            Progress::Running => {}
            Progress::Halted => {
                assert!(simulation.now() == time && simulation.is_conserved(), "{time}");
                return true;
            }
            _ => return false,
        }
    }
}

/// Cuts a run at random moments, and copies it at each; a copy goes on at once, or at the end, or
/// is cut itself. Returns how many copies there were.
fn check(text: &str, list: &FlowColumns, draw: &mut Draw, cuts: usize) -> usize {
    let begin = || Simulation::new(scenario_with(text, list));
    let whole = finish(begin());
    let simulated_ps = (whole.number("simulated_s") * 1e12) as u64;
    let whole = outcome(whole);
    let mut moments: Vec<u64> = (0..cuts).map(|_| draw.below(simulated_ps + 2)).collect();
    moments.sort_unstable();
    let (mut simulation, mut kept, mut copies) = (begin(), Vec::new(), 0);
    for moment in moments {
        if !halts_at(&mut simulation, Time::from_ps(moment), draw) {
            break;
        }
        let copy = simulation.clone();
        copies += 1;
        match draw.below(3) {
            0 => assert_eq!(outcome(finish(copy)), whole, "a copy at {moment} ps"),
            // The copy goes on to be cut, and what it was copied from is kept.
            1 => kept.push(std::mem::replace(&mut simulation, copy)),
            _ => kept.push(copy),
        }
    }
    assert_eq!(outcome(finish(simulation)), whole, "in steps");
    for copy in kept {
        let at = copy.now();
        assert_eq!(outcome(finish(copy)), whole, "a copy at {at}, later");
    }
    copies
}

#[test]
fn random_scenarios_do_not_depend_on_how_they_are_cut() {
    let copies = on_all_cores(0..200, |seed| {
        let (case, mut draw) = (case(seed), Draw(Stream::new(seed, "cuts", 0)));
        let record = ["", "[record]\ndecisions = 50\nclimbing = true"][seed as usize % 2];
        check(&format!("{}\n{record}", case.text()), &case.list, &mut draw, 6)
    });
    let copies: usize = copies.into_iter().sum();
    assert!(copies > 800, "{copies} copies");
}

/// An endless flow has sent its last packet, and only an AQM's timer is left.
#[test]
fn what_has_ended_does_not_go_on() {
    let text = r#"
        duration = "1ms"
        stop = "20s"
        topology = { kind = "star", hosts = 2, host_rate = "10Gbps", link_delay = "1us" }
        switch.aqm = { kind = "pie", update_interval = "30us" }
        [[traffic]]
        name = "one"
        kind = "persistent"
        senders = 1
        receiver = 0
        stop = "100us"
    "#;
    let mut run = Simulation::new(scenario(text));
    let end = |run: &mut Simulation| loop {
        match run.run_until(Time::from_us(30_000_000), 100) {
            Progress::Running => {}
            progress => return (progress, run.now(), run.events()),
        }
    };
    let ended = end(&mut run);
    assert!(ended.0 == Progress::Complete && ended.1 < Time::from_us(20_000), "{ended:?}");
    assert_eq!(end(&mut run), ended);
    // Nor does it halt again before the timer that is left.
    let soon = ended.1 + Time::from_ps(1);
    assert_eq!((run.run_until(soon, 1), run.now(), run.events()), ended);
    assert_eq!((run.run(1), run.now(), run.events()), ended);
}

const LEAF_SPINE: &str = "topology = { kind = \"leaf-spine\", leaves = 2, spines = 2, \
    hosts_per_leaf = 3, host_rate = \"10Gbps\", fabric_rate = \"10Gbps\", link_delay = \"1us\" }";

/// Six hosts, of which each sends to all others at once, and now and then.
fn six_hosts(topology: &str, transport: &str, more: &str) -> String {
    format!(
        r#"
        duration = "1ms"
        {topology}
        {transport}
        {more}
        [[traffic]]
        name = "all"
        kind = "all-to-all"
        size = "60KB"
        jitter = "20us"
        [[traffic]]
        name = "some"
        kind = "poisson"
        sizes = "1KB..40KB"
        load = 0.4
        load_of = "host"
        destinations = "uniform"
        [record]
        drops = true
        decisions = 100
        queue_interval = "7us"
        "#
    )
}

/// A scenario for every policy, scheduler, transport, tagger and topology.
fn everything() -> Vec<String> {
    let dctcp = "transport = { kind = \"dctcp\", initial_window = \"20pkt\" }";
    let switch = |settings: &str| {
        let queues = if settings.contains("pfabric") || settings.contains("fifo") { 1 } else { 2 };
        let more = format!("[switch]\nbuffer = \"60KB\"\nqueues_per_port = {queues}\n{settings}");
        six_hosts(LEAF_SPINE, dctcp, &more)
    };
    // Models by name are for another topology.
    let policies = every_policy().into_iter().filter(|settings| !settings.contains("leaf0"));
    let schedulers = SchedulingPolicy::IDS.iter().map(|id| match *id {
        "pfabric" => "scheduling = \"pfabric\"\nsharing = \"pfabric\"".into(),
        id => format!("scheduling = {id:?}"),
    });
    let lossless = "sharing = \"dt\"\npfc = { kind = \"dynamic\", \
                    alpha = 1, priorities = [1], headroom = \"5KB\" }";
    let by_switch = "sharing = { kind = \"credence\", \
                     model = { leaf0 = \"default\", leaf = \"smartbuf\", spine = \"default\" } }";
    let policies = policies.chain(schedulers).chain([lossless.into(), by_switch.into()]);
    let transports = spillway_transport::KINDS.iter().map(|kind| {
        let transport = match kind.id {
            "udp" => "transport = { kind = \"udp\", rate = \"3Gbps\" }".into(),
            id => format!("transport = {{ kind = {id:?} }}"),
        };
        six_hosts(LEAF_SPINE, &transport, "switch = { buffer = \"60KB\" }")
    });
    let taggers = tagging::KINDS.iter().map(|kind| {
        let transport = format!("transport = {{ kind = \"dctcp\", tagging = {:?} }}", kind.id);
        let queues = "nic.queues = 9\nswitch = { buffer = \"60KB\", queues_per_port = 9, \
                      scheduling = \"strict\" }";
        six_hosts(LEAF_SPINE, &transport, queues)
    });
    let topologies = spillway_topology::KINDS.iter().map(|kind| {
        let shape = match kind.id {
            "star" => "hosts = 6, host_rate = \"10Gbps\", link_delay = \"1us\"",
            "dumbbell" => "senders = 3, receivers = 3, host_rate = \"10Gbps\"",
            "leaf-spine" => "leaves = 3, hosts_per_leaf = 2, spines = 1, host_rate = \"10Gbps\"",
            "fat-tree" => "k = 4, host_rate = \"10Gbps\"",
            _ => {
                "switch = [{ name = \"s\" }, { name = \"t\" }], \
                 host = [{ name = \"a\", switch = \"s\", rate = \"10Gbps\", delay = \"1us\" }, \
                 { name = \"b\", switch = \"t\", rate = \"25Gbps\", delay = \"2us\" }], \
                 link = [{ a = \"s\", b = \"t\", rate = \"10Gbps\", delay = \"1us\" }]"
            }
        };
        let topology = format!("topology = {{ kind = {:?}, {shape} }}", kind.id);
        six_hosts(&topology, dctcp, "switch = { buffer = \"60KB\" }")
    });
    let all = policies.map(|settings| switch(&settings));
    all.chain(transports).chain(taggers).chain(topologies).collect()
}

fn check_everything(cuts: usize) {
    for (seed, text) in (0..).zip(everything()) {
        println!("{text}");
        let mut draw = Draw(Stream::new(seed, "cuts", 1));
        let copies = check(&text, &FlowColumns::default(), &mut draw, cuts);
        assert!(copies > cuts / 2, "{copies} copies");
    }
}

#[test]
fn everything_is_copied() {
    check_everything(6);
}

#[test]
#[ignore = "slow: 100 copies of every scenario"]
fn everything_is_copied_at_any_moment() {
    check_everything(100);
}

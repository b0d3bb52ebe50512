//! Looks at runs from outside: what they tell, by hand, and that they change nothing.

use crate::common::policies::every_policy;
use crate::common::random::{Draw, case};
use crate::common::*;
use spillway_engine::{Stream, Time};
use spillway_net::record::column::Values;
use spillway_net::scenario::Scenario;
use spillway_net::simulation::{Look, Progress, SIGNALS, Shortcuts, Simulation};
use spillway_traffic::FlowColumns;
use std::collections::BTreeMap;

/// Halts at a time. False if the run is over before.
fn halts_at(simulation: &mut Simulation, time: Time) -> bool {
    loop {
        match simulation.run_until(time, 1 << 10) {
            Progress::Running => {}
            progress => return progress == Progress::Halted,
        }
    }
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_string()).collect()
}

/// The numbers of a look, and its shape.
fn told(look: &Look) -> (Vec<f64>, &[usize]) {
    let numbers = match &look.values {
        Values::I64(values) => values.iter().map(|&value| value as f64).collect(),
        Values::F64(values) => values.clone(),
        other => panic!("{other:?}"),
    };
    (numbers, &look.shape)
}

/// The numbers of one signal.
fn one(simulation: &mut Simulation, name: &str) -> Vec<f64> {
    told(&simulation.observe(&names(&[name])).unwrap()[0]).0
}

fn ns(ns: u64) -> Time {
    Time::from_ns(ns)
}

/// A byte takes 1 ns, a link 10 us. Host 0 sends to host 1 first, then hosts 2 and 3: their first
/// packets, of 1,000 B, arrive at the switch at 11 us, one after the other. Acks have 50 B.
fn star(flows: &[Listed], kind: &str, switch: &str) -> Simulation {
    let kind = match kind {
        "udp" => "kind = \"udp\", rate = \"8Gbps\"".into(),
        kind => format!("kind = {kind:?}, ack_size = \"50B\""),
    };
    let text = format!(
        "duration = \"1ms\"\n\
         topology = {{ kind = \"star\", hosts = 4, host_rate = \"8Gbps\", link_delay = \"10us\" }}\n\
         transport = {{ {kind}, mss = \"960B\", header = \"40B\" }}\n\
         [switch]\n{switch}"
    );
    Simulation::new(scenario_with(&with_list(&text), &columns(flows)))
}

/// It arrives at the switch at 11 us, passes it, and is there at 22 us.
#[test]
fn one_packet_is_sent_and_delivered_and_never_waits() {
    let mut run = star(&[(0, 1, 960, 0)], "udp", "");
    let all = names(&[
        "switch.sent_bytes",
        "switch.leaf0.port.1.sent_bytes",
        "switch.leaf0.port.1.mean_queue_bytes",
        "switch.leaf0.port.1.max_queue_bytes",
        "delivered_bytes",
        "flows_started",
        "flows_completed",
        "traffic.list.flows_completed",
        "fct_ps",
        "fct_slowdown",
    ]);
    let mut look = |at: Time, alive: bool| {
        assert_eq!(halts_at(&mut run, at), alive);
        let looks = run.observe(&all).unwrap();
        looks.iter().map(told).map(|(numbers, _)| numbers).collect::<Vec<_>>()
    };
    let none = |sent: f64, started: f64| {
        let [sent, zero, started] = [sent, 0.0, started].map(|number| vec![number]);
        let by_port = vec![0.0, sent[0], 0.0, 0.0];
        let (z, no) = (zero, Vec::new());
        vec![by_port, sent, z.clone(), z.clone(), z.clone(), started, z.clone(), z, no.clone(), no]
    };
    assert_eq!(look(ns(0), true), none(0.0, 0.0));
    assert_eq!(look(ns(11_000), true), none(0.0, 1.0));
    assert_eq!(look(ns(11_500), true), none(500.0, 0.0));
    // A byte that is being sent counts.
    assert_eq!(look(Time::from_ps(11_500_001), true), none(1.0, 0.0));
    assert_eq!(look(ns(12_000), true), none(499.0, 0.0));
    assert_eq!(look(ns(22_000), true), none(0.0, 0.0));
    let end = look(ns(22_001), false);
    assert_eq!(end[4..], [vec![960.0], vec![0.0], vec![1.0], vec![1.0], vec![22e6], vec![1.0]]);
    assert_eq!(look(ns(22_001), false), none(0.0, 0.0));
}

/// Of three packets that arrive together at 11 us the second waits until 12 us, the third until 13
/// us.
#[test]
fn packets_that_wait_count_to_the_picosecond() {
    let flows = [(0, 1, 960, 0), (2, 1, 960, 0), (3, 1, 960, 0)];
    let mut run = star(&flows, "udp", "");
    let [mean, max, bytes] = ["mean_queue_bytes", "max_queue_bytes", "queue_bytes"]
        .map(|id| format!("switch.leaf0.port.1.queue.0.{id}"));
    let all =
        [&mean[..], &max, &bytes, "switch.leaf0.port.1.queue_packets", "switch.occupancy_bytes"];
    let all = names(&all);
    run.follow(&all).unwrap();
    let mut look = |at: Time| {
        assert!(halts_at(&mut run, at));
        let looks = run.observe(&all).unwrap();
        let numbers = looks.iter().map(|look| told(look).0);
        numbers.map(|numbers| numbers[0]).collect::<Vec<_>>()
    };
    assert_eq!(look(ns(11_000)), [0.0; 5]);
    // What happens at a moment has not happened when the run halts there.
    assert_eq!(look(ns(11_500)), [2_000.0, 2_000.0, 2_000.0, 2.0, 2_000.0]);
    assert_eq!(look(ns(12_000)), [2_000.0, 2_000.0, 2_000.0, 2.0, 2_000.0]);
    // A look without any time since the last one tells of this moment.
    assert_eq!(look(ns(12_000)), [2_000.0, 2_000.0, 2_000.0, 2.0, 2_000.0]);
    assert_eq!(look(Time::from_ps(12_000_001)), [1_000.0, 1_000.0, 1_000.0, 1.0, 1_000.0]);
    // 999,999 ps with 1,000 B, and as long without.
    assert_eq!(look(Time::from_ps(13_999_999)), [500.0, 1_000.0, 0.0, 0.0, 0.0]);
    assert_eq!(look(ns(20_000)), [0.0; 5]);
}

/// Packets are marked that find more than 500 B. The last of four finds 2,000 B, and the buffer has
/// no room for it.
#[test]
fn marks_and_losses_count_where_they_happen() {
    let flows = [(0, 1, 960, 0), (2, 1, 960, 0), (3, 1, 960, 0), (0, 1, 960, 0)];
    let aqm = "aqm = { kind = \"ecn\", threshold = \"500B\" }";
    // The fourth packet comes at 12 us, when the second has left.
    let mut run = star(&flows, "dctcp", &format!("{aqm}\nbuffer = \"1500B\""));
    let all = names(&[
        "switch.leaf0.marked_packets",
        "switch.leaf0.marked_bytes",
        "switch.leaf0.dropped_packets",
        "switch.leaf0.dropped_bytes",
    ]);
    assert!(halts_at(&mut run, ns(11_000)));
    let looks = run.observe(&all).unwrap();
    assert!(looks.iter().all(|look| told(look) == (vec![0.0; 4], &[4, 1][..])));
    assert!(halts_at(&mut run, ns(11_001)));
    // The second waits, the third is refused before it could be marked.
    let looks = run.observe(&all).unwrap();
    let at_port = |look: &Look| told(look).0[1];
    assert_eq!(looks.iter().map(at_port).collect::<Vec<_>>(), [0.0, 0.0, 1.0, 1_000.0]);
    let mut run = star(&flows, "dctcp", aqm);
    run.follow(&all).unwrap();
    assert!(halts_at(&mut run, ns(12_001)));
    // The third finds 1,000 B, and so does the fourth.
    let looks = run.observe(&all).unwrap();
    assert_eq!(looks.iter().map(at_port).collect::<Vec<_>>(), [2.0, 2_000.0, 0.0, 0.0]);
    assert_eq!(run.marks(), 2);
}

/// The same four packets. From 11 us on the port sends 8 Gbps for 4 us. The third and the fourth are
/// marked as they come, at 11 and 12 us; from 22 us on a packet arrives every microsecond.
#[test]
fn rates_are_counts_over_the_time_since_the_last_look() {
    let flows = [(0, 1, 960, 0), (2, 1, 960, 0), (3, 1, 960, 0), (0, 1, 960, 0)];
    let mut run = star(&flows, "dctcp", "aqm = { kind = \"ecn\", threshold = \"500B\" }");
    let port = "switch.leaf0.port.1";
    let (sent, marked) = (format!("{port}.sent_gbps"), format!("{port}.queue.0.marked_gbps"));
    let all = names(&[&sent, &marked, "delivered_gbps", "traffic.0.delivered_gbps"]);
    run.follow(&all).unwrap();
    let mut look = |us: u64| {
        assert!(halts_at(&mut run, ns(1_000 * us)));
        let looks = run.observe(&all).unwrap();
        looks.iter().map(|look| told(look).0[0]).collect::<Vec<_>>()
    };
    assert_eq!(look(11), [0.0; 4]);
    assert_eq!(look(12), [8.0, 8.0, 0.0, 0.0]);
    // No time has passed.
    assert_eq!(look(12), [0.0; 4]);
    // A packet of three microseconds is marked.
    assert_eq!(look(15), [8.0, 8.0 / 3.0, 0.0, 0.0]);
    assert_eq!(look(22), [0.0; 4]);
    assert_eq!(look(24), [0.0, 0.0, 7.68, 7.68]);
}

#[test]
fn each_name_has_a_last_look_of_its_own() {
    let flows = [(0, 1, 9_600, 0)];
    let mut run = star(&flows, "udp", "");
    let (port, switch) = ("switch.leaf0.port.1.sent_bytes", "switch.leaf.sent_bytes");
    run.follow(&names(&[port])).unwrap();
    assert!(halts_at(&mut run, ns(14_000)));
    // The second name counts from here.
    assert_eq!((one(&mut run, switch), one(&mut run, port)), (vec![0.0; 4], vec![3_000.0]));
    assert!(halts_at(&mut run, ns(15_000)));
    assert_eq!(one(&mut run, port), [1_000.0]);
    // A copy has the same last looks, and neither learns of the other's next ones.
    let mut copy = run.clone();
    for run in [&mut run, &mut copy] {
        assert!(halts_at(run, ns(15_500)));
        assert_eq!(one(run, port), [500.0]);
        assert_eq!(one(run, switch), [0.0, 1_500.0, 0.0, 0.0]);
    }
}

#[test]
fn completed_flows_are_kept_until_all_have_looked() {
    // One packet each; they are there at 22, 23 and 24 us.
    let flows = [(0, 1, 960, 0), (2, 1, 960, 0), (3, 1, 960, 0)];
    let mut run = star(&flows, "udp", "");
    run.follow(&names(&["fct_ps"])).unwrap();
    assert!(halts_at(&mut run, ns(22_500)));
    assert!(one(&mut run, "traffic.list.fct_ps").is_empty());
    assert!(one(&mut run, "fct_slowdown").is_empty());
    assert!(halts_at(&mut run, ns(23_500)));
    assert_eq!(one(&mut run, "fct_slowdown"), [23.0 / 22.0]);
    assert_eq!(one(&mut run, "fct_ps"), [22e6, 23e6]);
    assert!(!halts_at(&mut run, ns(30_000)));
    assert_eq!(one(&mut run, "fct_ps"), [24e6]);
    assert_eq!(one(&mut run, "traffic.list.fct_ps"), [23e6, 24e6]);
    assert_eq!(one(&mut run, "fct_slowdown"), [24.0 / 22.0]);
    assert!(one(&mut run, "fct_ps").is_empty());
}

/// Two leaves with 3 hosts, two spines; two queues in leaves, one in spines.
const LEAF_SPINE: &str = r#"
    duration = "1ms"
    topology = { kind = "leaf-spine", leaves = 2, spines = 3, hosts_per_leaf = 2 }
    switch.leaf.queues_per_port = 2
    [[traffic]]
    name = "a.b"
    kind = "all-to-all"
    size = "60KB"
"#;

#[test]
fn what_is_named_by_itself_has_no_axis() {
    let mut run = Simulation::new(scenario(LEAF_SPINE));
    let mut shape = |name: &str| run.observe(&names(&[name])).unwrap()[0].shape.clone();
    assert_eq!(shape("switch.leaf.queue_bytes"), [10, 2]);
    assert_eq!(shape("switch.leaf1.queue_bytes"), [5, 2]);
    assert_eq!(shape("switch.leaf1.port.4.queue_bytes"), [2]);
    assert_eq!(shape("switch.leaf1.queue.1.queue_bytes"), [5]);
    assert_eq!(shape("switch.leaf1.port.4.queue.1.queue_bytes"), [0; 0]);
    assert_eq!(shape("switch.leaf.port.4.queue_bytes"), [2, 2]);
    assert_eq!(shape("switch.queue.0.queue_bytes"), [2 * 5 + 3 * 2]);
    assert_eq!(shape("switch.port.1.sent_bytes"), [5]);
    assert_eq!(shape("switch.sent_bytes"), [16]);
    assert_eq!(shape("switch.spine2.port.0.sent_bytes"), [0; 0]);
    assert_eq!(shape("switch.occupancy_bytes"), [5]);
    assert_eq!(shape("switch.spine.occupancy_bytes"), [3]);
    assert_eq!(shape("switch.spine2.occupancy_bytes"), [0; 0]);
    assert_eq!(shape("traffic.a.b.delivered_bytes"), [0; 0]);
    assert_eq!(shape("fct_ps"), [0]);
}

#[test]
fn what_a_name_means_is_what_results_call_it() {
    // The first packets of the first leaf's hosts are for each other.
    let mut run = Simulation::new(scenario(LEAF_SPINE));
    let all = names(&["switch.sent_bytes", "switch.leaf.sent_bytes", "switch.leaf1.sent_bytes"]);
    run.follow(&all).unwrap();
    assert!(halts_at(&mut run, Time::from_us(60)));
    let looks = run.observe(&all).unwrap();
    let [all, leaves, second] = [0, 1, 2].map(|place| told(&looks[place]).0);
    assert_eq!((all.len(), &all[..10], &all[5..10]), (16, &leaves[..], &second[..]));
    assert!(all.iter().all(|&sent| sent > 0.0), "{all:?}");
}

#[test]
fn names_that_are_none_are_refused() {
    let graph = r#"
        duration = "1ms"
        [topology]
        kind = "graph"
        switch = [{ name = "left" }, { name = "leaf0" }]
        host = [{ name = "a", switch = "left", rate = "10Gbps", delay = "1us" },
            { name = "b", switch = "leaf0", rate = "10Gbps", delay = "1us" }]
        link = [{ a = "left", b = "leaf0", rate = "10Gbps", delay = "1us" }]
        [[traffic]]
        name = "all"
        kind = "all-to-all"
        size = "60KB"
    "#;
    for (text, name, problem, hint) in [
        ("", "queue_byte", "there is no signal \"queue_byte\"", "did you mean `queue_bytes`?"),
        ("", "", "there is no signal \"\"", "valid here: queue_bytes, queue_packets"),
        ("", "switch.leaf", "there is no signal \"leaf\"", "valid here: queue_bytes"),
        ("", "queue_bytes", "is a signal of switches", "written switch.queue_bytes"),
        ("", "nic.sent_bytes", "is a signal of switches", "written switch.sent_bytes"),
        ("", ".fct_ps", "is a signal of flows", "written fct_ps"),
        ("", "switch..queue_bytes", "is a signal of switches", "written switch.queue_bytes"),
        ("", "switch.leaf..queue_bytes", "no switch or tier \"leaf.\"", "did you mean `leaf"),
        ("", "switch.fct_ps", "is a signal of flows", "written fct_ps, or traffic.NAME.fct_ps"),
        ("", "traffic.fct_ps", "is a signal of flows", "written fct_ps"),
        ("", "traffic.ab.fct_ps", "there is no traffic \"ab\"", "did you mean `a.b`?"),
        ("", "switch.leaf2.queue_bytes", "no switch or tier \"leaf2\"", "did you mean `leaf"),
        (
            "",
            "switch.core.queue_bytes",
            "no switch or tier \"core\"",
            "valid here: leaf, spine, le",
        ),
        ("", "switch.host0.queue_bytes", "no switch or tier \"host0\"", "valid here: leaf"),
        ("", "switch.leaf.port.5.sent_bytes", "no port 5: leaf0 has 5, 0 to 4", ""),
        ("", "switch.port.2.sent_bytes", "no port 2: spine0 has 2, 0 to 1", ""),
        ("", "switch.leaf.port.x.sent_bytes", "no switch or tier \"leaf.port.x\"", ""),
        ("", "switch.leaf.port.+1.sent_bytes", "no switch or tier \"leaf.port.+1\"", ""),
        (
            "",
            "switch.leaf1.queue.2.queue_bytes",
            "no queue 2: there are 2 at each port of leaf1",
            "",
        ),
        ("", "switch.queue_bytes", "some of these ports have 1 queues, others 2", "name a tier"),
        (
            "",
            "switch.queue.1.sent_bytes",
            "sent_bytes has a number for a port, not for a queue",
            "",
        ),
        ("", "switch.port.1.occupancy_bytes", "number for a switch, not for a port", ""),
        ("", "switch.queue.0.occupancy_bytes", "number for a switch, not for a queue", ""),
        (
            graph,
            "switch.leaf0.sent_bytes",
            "\"leaf0\" may be leaf0 (\"left\" in the topology) or",
            "",
        ),
    ] {
        let mut run = Simulation::new(scenario(if text.is_empty() { LEAF_SPINE } else { text }));
        let error = run.observe(&names(&["delivered_bytes", name])).unwrap_err();
        let told = (error.problem.as_str(), error.hint.as_deref().unwrap_or(""));
        assert_eq!(error.path, name);
        assert!(told.0.contains(problem) && told.1.contains(hint), "{name}: {told:?}");
        assert!(run.follow(&names(&[name])).is_err());
    }
    let mut run = Simulation::new(scenario(graph));
    assert_eq!(one(&mut run, "switch.left.port.1.sent_bytes"), [0.0]);
    assert_eq!(one(&mut run, "switch.leaf1.occupancy_bytes"), [0.0]);
}

/// The names of all signals: by tier, and of flows.
fn all_names(scenario: &Scenario) -> Vec<String> {
    let mut all = Vec::new();
    let tiers = spillway_topology::TIERS;
    let is_there = |tier: &&&str| scenario.topology.switches.iter().any(|each| each.tier == **tier);
    for signal in SIGNALS {
        if ["queue", "port", "switch"].contains(&signal.each.name()) {
            all.extend(
                tiers.iter().filter(is_there).map(|tier| format!("switch.{tier}.{}", signal.id)),
            );
        } else {
            all.push(signal.id.into());
            let of = |class: &String| format!("traffic.{class}.{}", signal.id);
            all.extend(scenario.traffic.classes.iter().map(of));
        }
    }
    all
}

/// What a run comes to, table by table.
fn outcome(run: &Run) -> (String, String) {
    (run.summary.to_string(), format!("{:?} {:?}", run.flows, run.record))
}

/// Everything that was told, look after look.
struct Told {
    looks: Vec<Vec<Look>>,
    /// The sums over all looks and places.
    sums: BTreeMap<String, f64>,
    fcts: Vec<f64>,
    run: Run,
    marks: u64,
}

/// Looks at everything at these moments and at the end, from the start or from the first look on.
fn looked_at(simulation: Simulation, moments: &[u64], from_start: bool, draw: &mut Draw) -> Told {
    let mut simulation = simulation;
    let all = all_names(simulation.scenario());
    if from_start {
        simulation.follow(&all).unwrap();
    }
    let (mut looks, mut copies) = (Vec::new(), Vec::new());
    for &moment in moments {
        if !halts_at(&mut simulation, Time::from_ps(moment)) {
            break;
        }
        looks.push(simulation.observe(&all).unwrap());
        if draw.below(4) == 0 {
            // A copy is looked at where it does not halt, too. What that tells depends on the
            // events.
            let mut copy = simulation.clone();
            copy.run_events(1 + draw.below(20));
            copy.observe(&all).unwrap();
            copies.push(copy);
        }
    }
    let progress = loop {
        match simulation.run(1 << 20) {
            Progress::Running => {}
            done => break done,
        }
    };
    looks.push(simulation.observe(&all).unwrap());
    let marks = simulation.switches().iter().map(|switch| switch.marks()).sum();
    let (mut sums, mut fcts) = (BTreeMap::new(), Vec::new());
    for (name, look) in looks.iter().flat_map(|looks| all.iter().zip(looks)) {
        let (numbers, shape) = told(look);
        assert_eq!(numbers.len(), shape.iter().product::<usize>(), "{name}");
        *sums.entry(name.clone()).or_default() += numbers.iter().sum::<f64>();
        if name == "fct_ps" {
            fcts.extend(numbers);
        }
    }
    let run = end(simulation, progress);
    for copy in copies {
        assert_eq!(outcome(&finish(copy)), outcome(&run));
    }
    Told { looks, sums, fcts, run, marks }
}

/// The sum over all looks of a signal at all tiers.
fn over_tiers(told: &Told, id: &str) -> f64 {
    let end = format!(".{id}");
    told.sums.iter().filter(|(name, _)| name.ends_with(&end)).map(|(_, sum)| sum).sum()
}

fn check(text: &str, list: &FlowColumns, draw: &mut Draw, cuts: u64) -> bool {
    let begin = |shortcuts| Simulation::with(scenario_with(text, list), shortcuts);
    let plain = finish(begin(Shortcuts::ALL));
    let simulated_ps = (plain.number("simulated_s") * 1e12) as u64;
    // Any moments, and those at which something happens, and just after these.
    let completed = plain.flows.iter().filter_map(|row| Some(row.start_ps + row.fct_ps?));
    let arrived = plain.record.decisions.time_ps.iter().chain(&plain.record.drops.time_ps);
    let events: Vec<u64> = completed.chain(arrived.copied()).collect();
    let mut moment = |_| match draw.below(2) {
        1 if !events.is_empty() => events[draw.below(events.len() as u64) as usize] + draw.below(2),
        _ => draw.below(simulated_ps + 2),
    };
    let mut moments: Vec<u64> = (0..cuts).map(&mut moment).collect();
    moments.sort_unstable();
    let told = looked_at(begin(Shortcuts::ALL), &moments, true, draw);
    assert_eq!(outcome(&told.run), outcome(&plain));
    let later = looked_at(begin(Shortcuts::ALL), &moments, false, draw);
    assert_eq!(outcome(&later.run), outcome(&plain));
    // From the second look on it does not matter whether the first one was the first to name it.
    assert_eq!(later.looks[1..], told.looks[1..]);
    // Shortcuts of ports leave nothing out.
    let slow = looked_at(begin(Shortcuts::NONE), &moments, true, draw);
    for (place, (one, other)) in told.looks.iter().zip(&slow.looks).enumerate() {
        assert_eq!(one, other, "look {place} of {}", told.looks.len());
    }
    // Everything counts once.
    let delivered: u64 = plain.flows.iter().map(|row| row.delivered).sum();
    assert_eq!(told.sums["delivered_bytes"], delivered as f64);
    assert_eq!(told.sums["flows_started"], plain.counters.flows_started as f64);
    assert_eq!(told.sums["flows_completed"], plain.counters.flows_completed as f64);
    for id in ["delivered_bytes", "flows_started", "flows_completed", "fct_ps"] {
        let classes: f64 = told
            .sums
            .iter()
            .filter(|(name, _)| name.starts_with("traffic.") && name.ends_with(&format!(".{id}")))
            .map(|(_, sum)| sum)
            .sum();
        assert_eq!(classes, told.sums[id], "{id}");
    }
    let mut fcts: Vec<u64> = plain.flows.iter().filter_map(|row| row.fct_ps).collect();
    let mut seen: Vec<u64> = told.fcts.iter().map(|&fct| fct as u64).collect();
    fcts.sort_unstable();
    seen.sort_unstable();
    assert_eq!(seen, fcts);
    assert_eq!(over_tiers(&told, "marked_packets"), told.marks as f64);
    let switches = scenario_with(text, list).topology.switches.len() as u32;
    let dropped = over_tiers(&told, "dropped_packets");
    let drops = &plain.record.drops;
    if plain.all_drops() == drops.len() as u64 {
        let is_queued =
            |row: &usize| drops.switch[*row] < switches && drops.queue.known(*row).is_some();
        assert_eq!(dropped, (0..drops.len()).filter(is_queued).count() as f64);
    }
    dropped > 0.0 && over_tiers(&told, "marked_bytes") > 0.0
}

#[test]
fn looks_change_nothing_and_miss_nothing() {
    let eventful = on_all_cores(0..200, |seed| {
        let (case, mut draw) = (case(seed), Draw(Stream::new(seed, "looks", 0)));
        let record = ["", "[record]\ndecisions = 50\nclimbing = true"][seed as usize % 2];
        let text = format!("{}\n{record}", case.text());
        u32::from(check(&text, &case.list, &mut draw, 6))
    });
    let eventful: u32 = eventful.into_iter().sum();
    assert!(eventful > 10, "{eventful} with marks and losses");
}

/// Five hosts send to the sixth, and now and then to others.
fn six_hosts(switch: &str) -> String {
    format!(
        r#"
        duration = "500us"
        stop = "100ms"
        topology = {{ kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 3,
            host_rate = "10Gbps", fabric_rate = "10Gbps", link_delay = "1us" }}
        transport = {{ kind = "dctcp", initial_window = "20pkt" }}
        [[traffic]]
        name = "in"
        kind = "incast"
        interval = "100us"
        burst = "60KB"
        fan_in = 5
        senders = "any"
        receivers = 1
        [[traffic]]
        name = "some"
        kind = "poisson"
        sizes = "1KB..40KB"
        load = 0.4
        load_of = "host"
        destinations = "uniform"
        [switch]
        buffer = "60KB"
        {switch}
        "#
    )
}

#[test]
fn looks_at_every_policy_and_at_lossless_queues_change_nothing() {
    // Models by name are for another topology.
    let policies = every_policy().into_iter().filter(|settings| !settings.contains("leaf0"));
    let mut all: Vec<String> = policies.collect();
    let pfc = "pfc = { kind = \"dynamic\", alpha = 0.5, priorities = [1], headroom = \"3KB\" }";
    let aqms = ["", ", marks_at = \"departure\""];
    let aqms = aqms.map(|more| format!("aqm = {{ kind = \"ecn\", threshold = \"4pkt\"{more} }}"));
    for (release, aqm) in
        ["start", "end"].into_iter().flat_map(|r| aqms.iter().map(move |a| (r, a)))
    {
        all.push(format!("release = {release:?}\n{aqm}"));
        all.push(format!("release = {release:?}\n{aqm}\n{pfc}"));
        all.push(format!("release = {release:?}\n{aqm}\n{pfc}\nsharing = \"lqd\""));
        let fails = "[[event]]\nkind = \"link-down\"\na = \"leaf0\"\nb = \"host1\"\nat = \"120us\"\n\
                     until = \"150us\"";
        all.push(format!("release = {release:?}\n{aqm}\n{pfc}\n{fails}"));
        all.push(format!("release = {release:?}\n{aqm}\n{fails}"));
    }
    let mut eventful = 0;
    for (seed, settings) in (0..).zip(all) {
        let queues = if settings.contains("pfabric") { 1 } else { 2 };
        let text = six_hosts(&format!("queues_per_port = {queues}\n{settings}"));
        println!("{text}");
        let mut draw = Draw(Stream::new(seed, "looks", 1));
        eventful += u32::from(check(&text, &FlowColumns::default(), &mut draw, 5));
    }
    assert!(eventful > 10, "{eventful} with marks and losses");
}

/// The mean over queues is that of the buffer, which a meter of its own measures.
#[test]
fn means_of_queues_make_up_the_mean_of_the_buffer() {
    for more in [
        "",
        "release = \"end\"",
        "sharing = \"lqd\"",
        "queues_per_port = 3",
        "queues_per_port = 2\npfc = { kind = \"dynamic\", alpha = 1, priorities = [1], headroom = \"5KB\" }",
        "queues_per_port = 2\nrelease = \"end\"\npfc = { kind = \"dynamic\", alpha = 1, priorities = [1], \
         headroom = \"5KB\" }",
    ] {
        let text = format!(
            r#"
            duration = "500us"
            stop = "10ms"
            topology = {{ kind = "star", hosts = 6, host_rate = "10Gbps", link_delay = "1us" }}
            transport = {{ kind = "dctcp", initial_window = "20pkt" }}
            [[traffic]]
            name = "all"
            kind = "all-to-all"
            size = "60KB"
            [[traffic]]
            name = "some"
            kind = "poisson"
            sizes = "1KB..40KB"
            load = 0.6
            load_of = "host"
            destinations = "uniform"
            [switch]
            buffer = "100KB"
            {more}
            "#
        );
        let mut run = Simulation::new(scenario(&text));
        let name = "switch.mean_queue_bytes";
        run.follow(&names(&[name])).unwrap();
        let (mut held, mut last) = (0.0, 0);
        for us in [13, 14, 100, 350, 500] {
            assert!(halts_at(&mut run, Time::from_us(us)));
            held += one(&mut run, name).iter().sum::<f64>() * (us - last) as f64;
            last = us;
        }
        let mean = finish(run).number("buffer_occupancy.mean") * 100_000.0;
        assert!(
            mean > 100.0 && (mean - held / 500.0).abs() < 1e-6,
            "{more}: {mean} {}",
            held / 500.0
        );
    }
}

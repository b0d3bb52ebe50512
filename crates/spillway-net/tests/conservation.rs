//! [Random scenarios](common::random): no packet is lost track of, flows are complete, and a run is
//! a function of its scenario. A failure names the scenario's number.

use crate::common::random::{Case, Draw, case};
use crate::common::*;
use spillway_engine::Stream;
use spillway_net::simulation::{Progress, Shortcuts, Simulation};
use spillway_switch::DropReason;
use spillway_topology::Clocks;
use spillway_traffic::FlowColumns;
use std::collections::BTreeMap;

/// Runs in steps of any length, and checks every packet and byte after each.
fn run_in_steps(seed: u64, case: &Case) -> Run {
    let mut draw = Draw(Stream::new(seed, "steps", 0));
    let mut simulation = Simulation::new(scenario_with(&case.text(), &case.list));
    let progress = loop {
        let events = 1 + [0, 7, 100, 2000][draw.below(4) as usize];
        let progress = simulation.run(events);
        assert!(simulation.is_conserved(), "seed {seed} at {}", simulation.now());
        if progress != Progress::Running {
            break progress;
        }
    };
    end(simulation, progress)
}

fn check(seed: u64, mut case: Case) -> Run {
    let run = run_in_steps(seed, &case);

    // Flows that retransmit must be complete, and datagrams too unless one of them is lost.
    let scenario = scenario_with(&case.text(), &case.list);
    let may_stall = case.may_stall() && run.progress == Progress::Stopped;
    let is_stuck = run.lacks_datagrams(&scenario);
    assert!(
        may_stall || is_stuck || run.progress == Progress::Complete,
        "seed {seed}: {:?}",
        run.progress
    );
    for row in &run.flows {
        let place = scenario.class_transport[usize::from(row.class)];
        let is_open_loop = scenario.transports[usize::from(place)].kind == "udp";
        if row.size == 0 {
            // An endless flow.
            assert!(row.fct_ps.is_none(), "seed {seed}: {row:?}");
            continue;
        }
        assert!(row.delivered <= row.size && row.ideal_ps > 0, "seed {seed}: {row:?}");
        let (is_whole, is_complete) = (row.delivered == row.size, row.fct_ps.is_some());
        // A flow that stalls may only lack its last ack.
        let lacks_ack = is_whole && !is_complete && may_stall;
        assert!(is_whole == is_complete || lacks_ack, "seed {seed}: {row:?}");
        assert!(row.fct_ps.is_some() || is_open_loop || may_stall, "seed {seed}: {row:?}");
        assert!(row.fct_ps.is_some() || run.progress != Progress::Complete, "seed {seed}: {row:?}");
        assert!(row.fct_ps.is_none_or(|fct| fct >= row.ideal_ps), "seed {seed}: {row:?}");
        assert!(!is_open_loop || row.retransmitted == 0, "seed {seed}: {row:?}");
    }
    let rows = run.flows.len() as u64;
    assert_eq!((run.counters.flows_started, rows > 0), (rows, true), "seed {seed}");
    let retransmitted: u64 = run.flows.iter().map(|row| u64::from(row.retransmitted)).sum();
    assert_eq!(run.counters.retransmitted_packets, retransmitted, "seed {seed}");
    assert_eq!(run.all_drops(), run.counters.totals.lost_packets, "seed {seed}");
    assert_eq!(run.all_drops(), run.record.drops.len() as u64, "seed {seed}");

    check_repairs(seed, &case, scenario.warmup.ps(), &run);

    // Once more in one go; with the sections in another order; from the resolved scenario.
    let again = |text: &str| finish(Simulation::new(scenario_with(text, &case.list)));
    let same = |other: Run, what: &str| {
        assert_eq!(run.flows, other.flows, "seed {seed}, {what}");
        assert_eq!(run.summary, other.summary, "seed {seed}, {what}");
        assert_eq!(run.record.drops, other.record.drops, "seed {seed}, {what}");
    };
    same(again(&case.text()), "again");
    let resolved = scenario.resolved.to_string();
    same(again(&resolved), "resolved");
    // Where decisions are traced, events wake waiting ports; elsewhere they are deferred.
    let recorded = "[record]\ndecisions = 1\nclimbing = true";
    let mut woken = again(&format!("{}\n{recorded}", case.text()));
    check_climbing(seed, &mut woken);
    assert!(woken.counters.events >= run.counters.events, "seed {seed}");
    assert_eq!(run.flows, woken.flows, "seed {seed}, woken");
    assert_eq!(run.summary_but_events(), woken.summary_but_events(), "seed {seed}, woken");
    assert_eq!(run.record.drops, woken.record.drops, "seed {seed}, woken");
    // Without any shortcut, and without each one of them.
    let but_one = [
        Shortcuts { pass_when_idle: false, ..Shortcuts::ALL },
        Shortcuts { deferred: false, ..Shortcuts::ALL },
        Shortcuts { in_order: false, ..Shortcuts::ALL },
        Shortcuts { plain_nic: false, ..Shortcuts::ALL },
    ];
    for shortcuts in [Shortcuts::NONE, but_one[seed as usize % but_one.len()]] {
        let what = format!("{shortcuts:?}");
        let scenario = scenario_with(&case.text(), &case.list);
        let other = finish(Simulation::with(scenario, shortcuts));
        assert_eq!(run.flows, other.flows, "seed {seed}, {what}");
        assert_eq!(run.summary_but_events(), other.summary_but_events(), "seed {seed}, {what}");
        assert_eq!(run.record.drops, other.record.drops, "seed {seed}, {what}");
    }
    // If some flow never ends, links are measured and AQMs sampled until the stop.
    if run.flows.iter().all(|row| row.size > 0) {
        check_links(seed, &case);
        check_aqms(seed, &case, &run);
    }
    assert_eq!(scenario_with(&resolved, &case.list).resolved.to_string(), resolved, "seed {seed}");
    case.traffic.reverse();
    let reversed = case.text();
    same(finish(Simulation::new(scenario_with(&reversed, &case.list))), "reversed");
    case.list = backwards(&case.list);
    same(finish(Simulation::new(scenario_with(&reversed, &case.list))), "rows backwards");
    run
}

/// What was sent again was found lost by detection or by a timeout, and packets that stay in order
/// are never taken to be lost while they are on their way: on one path, where worse priorities
/// count only under strict priority.
fn check_repairs(seed: u64, case: &Case, warmup: u64, run: &Run) {
    let count = |name: &str| run.number(&format!("repairs.all.{name}"));
    // Null where no flow numbers its packets.
    let known = |name: &str| run.summary["repairs"]["all"][name].as_f64().unwrap_or(0.0);
    let measured = run.flows.iter().filter(|row| row.size > 0 && row.start_ps >= warmup);
    let again: u32 = measured.map(|row| row.retransmitted).sum();
    let repairs = count("repairs_by_detection") + count("repairs_by_timeout");
    assert_eq!(repairs, f64::from(again), "seed {seed}");
    // Acks are lost, too, and packets of flows that are not measured.
    let lost = count("lost_packets");
    assert!(lost <= run.all_drops() as f64, "seed {seed}: {lost}");
    assert!(lost >= known("right_detections") + known("losses_by_timeout"), "seed {seed}: {lost}");
    let text = case.text();
    let one_path = text.contains("kind = \"ecmp\"") && !text.contains("link-down");
    let in_order =
        text.contains("scheduling = \"strict\"") || !text.contains("recovery.or_worse = true");
    if one_path && in_order {
        assert_eq!(known("wrong_detections"), 0.0, "seed {seed}");
    }
    // Packets that stay in order are sent again little more often than any, or their acks, are lost:
    // as a repair, as the rescue of a recovery, and as what a timeout has sent before. Going back
    // sends a window again.
    let keeps_order = one_path && !text.contains("tagging = {");
    if keeps_order && !text.contains("recovery.kind = \"go-back-n\"") {
        let by_detection = count("repairs_by_detection");
        let most = 4.0 * run.all_drops() as f64 + run.counters.probes[0] as f64;
        assert!(by_detection <= most, "seed {seed}: {by_detection} of {most}");
    }
}

/// A flow climbs for no longer than it lasts, and so do all. Takes what the summary tells of it.
fn check_climbing(seed: u64, run: &mut Run) {
    let (times, flows) = (&run.record.climbing.as_ref().unwrap().climbed_ps, &run.record.flows);
    assert_eq!(times.len(), flows.len(), "seed {seed}");
    for row in 0..flows.len() {
        let (climbed, fct) = (times.known(row), flows.fct_ps.known(row));
        assert!(fct.is_none() || climbed.is_some(), "seed {seed}, row {row}");
        assert!(fct.is_none_or(|fct| climbed.unwrap() <= fct), "seed {seed}, row {row}");
    }
    let told = run.summary.as_object_mut().and_then(|table| table.remove("climbing")).unwrap();
    for class in told.as_object().unwrap().values() {
        let share = class["share"].as_f64();
        assert!(share.is_none_or(|share| (0.0..=1.0).contains(&share)), "seed {seed}: {told}");
    }
}

/// Samples of AQMs change nothing, and see the same whether ports are deferred or woken. `run` is
/// the run without them.
fn check_aqms(seed: u64, case: &Case, run: &Run) {
    let text = format!("{}\n[record]\naqm_interval = \"23us\"", case.text());
    let sampled = |more: &str, shortcuts: Shortcuts| {
        let scenario = scenario_with(&format!("{text}\n{more}"), &case.list);
        finish(Simulation::with(scenario, shortcuts))
    };
    let with = sampled("", Shortcuts::ALL);
    let summary = |run: &Run| {
        let mut summary = run.summary_but_events();
        // The last event may be a sample.
        summary.as_object_mut().and_then(|table| table.remove("simulated_s")).expect("a number");
        summary
    };
    assert_eq!(run.flows, with.flows, "seed {seed}");
    assert_eq!(summary(run), summary(&with), "seed {seed}");
    assert_eq!(run.record.drops, with.record.drops, "seed {seed}");
    let bare = sampled("", Shortcuts::NONE);
    assert_eq!(with.record.aqm, bare.record.aqm, "seed {seed}, without shortcuts");
    let woken = sampled("decisions = 1", Shortcuts::ALL);
    assert_eq!(with.record.aqm, woken.record.aqm, "seed {seed}, woken");
}

/// A link is busy for as long as the bytes that it carries take, and for at most the whole time,
/// however long the intervals are.
fn check_links(seed: u64, case: &Case) {
    let measured = |interval_ps: u64| {
        let record = format!("[record]\nlink_interval = \"{interval_ps}ps\"");
        let scenario = scenario_with(&format!("{}\n{record}", case.text()), &case.list);
        let hosts = scenario.topology.hosts();
        let byte_time = scenario.topology.lines[0].rate.byte_time();
        // A packet lost on a link or in a host's own queue is not counted on its line, or the run
        // may end before it has been sent. Where times are cut, bytes do not tell them.
        let is_whole = scenario.events.is_empty()
            && scenario.discipline.is_none()
            && scenario.topology.clocks == Clocks::Exact
            && !scenario.topology.lines[0].whole_ns;
        let run = finish(Simulation::new(scenario));
        let (links, mut busy) = (&run.record.links, BTreeMap::<u32, u64>::new());
        for row in 0..links.len() {
            let (time, share) = (links.time_ps[row], links.utilisation[row]);
            assert!(share > 0.0 && share <= 1.0, "seed {seed}: {share} at {time}");
            let span = time - (time - 1) / interval_ps * interval_ps;
            *busy.entry(links.link[row]).or_default() += (share * span as f64).round() as u64;
        }
        let totals = run.counters.totals;
        if is_whole && totals.made_packets == totals.arrived_packets + totals.lost_packets {
            let of_hosts: u64 = busy.range(..hosts).map(|(_, ps)| ps).sum();
            assert_eq!(of_hosts, byte_time.time_of(totals.made_bytes).ps(), "seed {seed}");
        }
        busy
    };
    let mut draw = Draw(Stream::new(seed, "links", 0));
    let (short, long) = (100_000 + draw.below(3_000_000), 1_000_000 + draw.below(300_000_000));
    let (often, seldom) = (measured(short), measured(long));
    assert!(often.keys().eq(seldom.keys()), "seed {seed}");
    for (link, busy) in often {
        // Where clocks are not exact, what is busy in the midst of a packet is known to a picosecond.
        let most = u64::from(case.text().contains("_clocks") || case.text().contains("spread"));
        assert!(busy.abs_diff(seldom[&link]) <= most, "seed {seed}: {short} and {long} ps");
    }
}

/// A list with its rows in reverse order.
fn backwards(list: &FlowColumns) -> FlowColumns {
    fn turned<T: Clone>(column: &[T]) -> Vec<T> {
        column.iter().rev().cloned().collect()
    }
    FlowColumns {
        src: turned(&list.src),
        dst: turned(&list.dst),
        size_bytes: turned(&list.size_bytes),
        start_ns: turned(&list.start_ns),
        path: list.path.as_deref().map(turned),
        ack_path: list.ack_path.as_deref().map(turned),
        after: list.after.as_deref().map(|after| {
            let last = list.src.len() as u32 - 1;
            let of_row = |others: &Vec<u32>| others.iter().map(|other| last - other).collect();
            turned(after).iter().map(of_row).collect()
        }),
        delay_ns: list.delay_ns.as_deref().map(turned),
        job: list.job.as_deref().map(turned),
        ..FlowColumns::default()
    }
}

#[test]
fn random_scenarios_keep_every_packet_and_repeat() {
    let mut drops = [0; 8];
    let (mut timeouts, mut marks, mut packets, mut shared, mut discarded) = (0, 0.0, 0, 0, 0.0);
    let (mut stalled, mut waited, mut jobs) = (0, 0, 0);
    for (stalls, run) in
        on_all_cores(0..400, |seed| (case(seed).may_stall(), check(seed, case(seed))))
    {
        (0..8).for_each(|reason| drops[reason] += run.counters.drops[reason]);
        timeouts += run.counters.timeouts;
        stalled += u32::from(run.progress == Progress::Stopped && stalls);
        waited += run.summary["flows"].get("waiting").map_or(0, |_| 1);
        jobs += run.record.jobs.len();
        marks += run.number("marks");
        discarded += run.number("repairs.all.discarded_packets");
        packets += run.counters.totals.made_packets;
        if let Some(connections) = &run.record.connections {
            let flows = run.record.flows.flow_id.iter();
            shared +=
                flows.zip(&connections.connection).filter(|(flow, opened)| flow != opened).count();
        }
    }
    // The test is worth something only if all of this happens.
    println!(
        "{packets} packets, {drops:?} lost, {marks} marked, {timeouts} timeouts, {shared} flows on \
         connections of others, {discarded} discarded, {stalled} stalled, {waited} with flows that wait, {jobs} iterations"
    );
    assert!(drops.iter().all(|&lost| lost > 20), "{drops:?}");
    assert!(timeouts > 20 && marks > 200.0, "{timeouts} timeouts, {marks} marks");
    assert!(shared > 50, "{shared} flows on connections of others");
    assert!(discarded > 1_000.0, "{discarded} discarded");
    assert!(stalled < 30, "{stalled} stalled");
    assert!(waited > 30 && jobs > 50, "{waited} with flows that wait, {jobs} iterations");
}

#[test]
#[ignore = "slow: 3000 scenarios"]
fn many_random_scenarios() {
    on_all_cores(1_000..4_000, |seed| drop(check(seed, case(seed))));
}

/// A random scenario whose switches have one of these lines in place of the one with the same key.
fn with_one_of(seed: u64, lines: &[&str]) -> Case {
    let mut case = case(seed);
    let other = lines[seed as usize % lines.len()];
    let key = other.split(' ').next().expect("a key");
    let is_it = |line: &str| line.split(' ').next() == Some(key);
    let lines = case.head.lines().map(|line| if is_it(line) { other } else { line });
    case.head = lines.collect::<Vec<_>>().join("\n");
    case
}

/// Policies that expel packets.
const EXPELLING: [&str; 5] = [
    "sharing = { kind = \"occamy\", alpha = [8, 0.25] }",
    "sharing = { kind = \"occamy\", alpha = 0.5, victim = \"longest\", bandwidth = 4 }",
    "sharing = { kind = \"occamy\", alpha = 0.25, preset = \"ns-3\" }",
    "sharing = { kind = \"occamy\", alpha = 0.5, preset = \"dpdk\", victim = \"longest\" }",
    "sharing = { kind = \"occamy\", alpha = 0.5, preset = \"dpdk\", threshold_every = \"3us\" }",
];

/// Variants that go beyond what was published. The first needs queues that are served in order.
const EXTRAS: [&str; 4] = [
    "sharing = { kind = \"cbm\", alpha = [8, 0.5, 0.25], delay = \"served\" }",
    "sharing = { kind = \"credence\", oracle = \"random\", drop_probability = 0.1, push_out = true }",
    "sharing = { kind = \"smartbuf\", alpha = [8, 0.5], sigma = 20.0, limit = \"queue\" }",
    "aqm = { kind = \"pred\", min = \"2pkt\", q_left = \"3pkt\", max = \"9KB\", scope = \"port\" }",
];

#[test]
fn packets_that_are_expelled_are_lost_once() {
    let expelled = DropReason::ALL.iter().position(|reason| *reason == DropReason::Expelled);
    let runs = on_all_cores(400..520, |seed| check(seed, with_one_of(seed, &EXPELLING)));
    let lost: Vec<u64> = runs.iter().map(|run| run.counters.drops[expelled.unwrap()]).collect();
    let (all, some) = (lost.iter().sum::<u64>(), lost.iter().filter(|lost| **lost > 0).count());
    assert!(all > 800 && some > 20, "{all} in {some} runs");
}

#[test]
fn what_goes_beyond_publications_keeps_every_packet() {
    let runs = on_all_cores(520..640, |seed| {
        let first = usize::from(case(seed).head.contains("scheduling = \"pfabric\""));
        check(seed, with_one_of(seed, &EXTRAS[first..]))
    });
    let pushed_out = DropReason::ALL.iter().position(|reason| *reason == DropReason::PushedOut);
    let lost: u64 = runs.iter().map(|run| run.counters.drops[pushed_out.unwrap()]).sum();
    assert!(lost > 100, "{lost} pushed out");
}

//! Settings that must not change any result, to the bit, and some that must.

use crate::common::*;
use spillway_net::simulation::{Progress, Simulation};
use spillway_switch::DropReason;

/// Networks and traffic whose buffers never fill. They are unlimited unless `switch` says
/// otherwise.
const SCENARIOS: [(&str, &str); 4] = [
    (
        "an incast on a star",
        r#"
        duration = "1ms"
        topology = { kind = "star", hosts = 9, host_rate = "10Gbps", link_delay = "2us" }
        transport = { kind = "dctcp", initial_window = "flow" }
        [[traffic]]
        name = "incast"
        kind = "incast"
        interval = "250us"
        burst = "80KB"
        fan_in = 8
        senders = "any"
        receivers = 3
        "#,
    ),
    (
        "web servers on a leaf-spine",
        r#"
        duration = "2ms"
        topology = { kind = "leaf-spine", leaves = 3, spines = 2, hosts_per_leaf = 4 }
        transport = { kind = "dctcp", handshake = true }
        [[traffic]]
        name = "web"
        kind = "poisson"
        sizes = "webserver"
        load = 0.6
        "#,
    ),
    (
        "a permutation on a fat-tree",
        r#"
        duration = "1ms"
        topology = { kind = "fat-tree", k = 4, link_delay = "1us" }
        transport = { kind = "newreno", ecn = true, ack_every = 2 }
        [[traffic]]
        name = "permutation"
        kind = "permutation"
        size = "400KB"
        "#,
    ),
    (
        "datagrams and windows over a dumbbell",
        r#"
        duration = "1ms"
        topology = { kind = "dumbbell", senders = 3, receivers = 2 }
        transport = { kind = "dctcp" }
        [[traffic]]
        name = "clocked"
        kind = "permutation"
        size = "300KB"
        shift = 3
        transport = "udp"
        rate = "4Gbps"
        [[traffic]]
        name = "windows"
        kind = "all-to-all"
        size = "30KB"
        jitter = "100us"
        "#,
    ),
];

/// Two queues per port, so that acks have their own.
const TWO_QUEUES: &str = "queues_per_port = 2";

fn run_with(scenario: &str, switch: &str) -> Run {
    let ecn = if switch.contains("aqm") { "" } else { "aqm = \"ecn\"" };
    run(&format!("{scenario}\n[switch]\n{ecn}\n{switch}"))
}

/// Asserts that two runs have the same flows and the same summary, apart from the number of events.
fn same(name: &str, a: &Run, b: &Run) {
    assert!(a.flows.len() >= 12, "{name}: {} flows", a.flows.len());
    assert_eq!(a.flows, b.flows, "{name}");
    assert_eq!(a.summary_but_events(), b.summary_but_events(), "{name}");
}

/// Where decisions are traced, events wake waiting ports. Elsewhere they are deferred, and catch up
/// before every sample.
#[test]
fn samples_see_ports_that_wait_as_they_are() {
    const SAMPLES: &str = "[record]\nqueue_interval = \"3us\"\nlink_interval = \"7us\"";
    for (name, scenario) in SCENARIOS {
        for switch in ["buffer = \"60KB\"", "buffer = \"60KB\"\nsharing = \"lqd\"", TWO_QUEUES] {
            let with = |more: &str| run_with(scenario, &format!("{switch}\n{SAMPLES}\n{more}"));
            let (late, woken) = (with(""), with("decisions = 1"));
            same(name, &late, &woken);
            assert!(late.record.queues.len() > 50 && late.record.links.len() > 100, "{name}");
            assert_eq!(late.record.queues, woken.record.queues, "{name}, {switch}");
            assert_eq!(late.record.links, woken.record.links, "{name}, {switch}");
            assert!(late.counters.events < woken.counters.events, "{name}, {switch}");
        }
    }
}

/// Compares a NIC that needs no queue with one whose discipline marks and drops nothing.
#[test]
fn a_card_s_discipline_that_is_never_in_force_changes_nothing() {
    for (name, scenario) in SCENARIOS {
        let with = |nic: &str| run(&format!("{scenario}\n[nic]\n{nic}"));
        let plain = with("");
        for nic in [
            "aqm = \"none\"",
            "queue_limit = \"1GB\"",
            "aqm = { kind = \"ecn\", threshold = \"100000pkt\" }",
            "aqm = { kind = \"red\", min = \"1GB\", max = \"2GB\", weight = 0.5 }\n\
             queue_limit = \"100000pkt\"",
        ] {
            let own = with(nic);
            same(&format!("{name}, {nic}"), &plain, &own);
            assert_eq!(nic.contains("none"), own.counters.events == plain.counters.events);
        }
        let queues = "queues = 2\nscheduling = \"per-flow-rr\"\nfifo_packets = 3";
        let (without, own) = (with(queues), with(&format!("{queues}\nqueue_limit = \"1GB\"")));
        same(name, &without, &own);
        assert_eq!(without.counters.events, own.counters.events, "{name}");
    }
}

/// Sixteen senders to one receiver, in a run that is stopped at various times.
#[test]
fn a_run_that_is_stopped_has_sent_what_could_be_sent() {
    for stop in (0..40).map(|step| 11_000 + 617 * step) {
        let with = |record: &str| {
            run(&format!(
                "duration = \"10us\"\nstop = \"{stop}ns\"\n\
                 topology = {{ kind = \"star\", hosts = 17, link_delay = \"1us\" }}\n\
                 [[traffic]]\nname = \"burst\"\nkind = \"incast\"\nburst = \"400KB\"\nfan_in = 16\n\
                 senders = \"any\"\nreceivers = 1\ninterval = \"1ms\"\n{record}"
            ))
        };
        let (late, woken) = (with(""), with("[record]\ndecisions = 1"));
        assert_eq!(late.progress, Progress::Stopped);
        same(&format!("stopped after {stop} ns"), &late, &woken);
    }
}

/// ABM measures its queues every few microseconds, and its decisions depend on what it then finds.
#[test]
fn policies_are_woken_to_see_ports_that_wait_as_they_are() {
    for release in ["start", "end"] {
        for abm in ["update_interval = \"7us\"", "drain = \"interval\", update_interval = \"3us\""]
        {
            let section = |priority: u32, every: &str, burst: &str, ends: (u32, u32)| {
                format!(
                    "[[traffic]]\nname = \"{burst}\"\nkind = \"incast\"\ninterval = \"{every}\"\n\
                     burst = \"{burst}\"\nfan_in = {}\nsenders = \"any\"\nreceivers = {}\n\
                     priority = {priority}\n",
                    ends.0, ends.1
                )
            };
            let with = |record: &str| {
                run(&format!(
                    "duration = \"1ms\"\nstop = \"20ms\"\n\
                     topology = {{ kind = \"star\", hosts = 9, link_delay = \"20us\" }}\n\
                     transport = {{ kind = \"dctcp\", initial_window = \"flow\" }}\n\
                     [switch]\nbuffer = \"60KB\"\nqueues_per_port = 2\nrelease = \"{release}\"\n\
                     sharing = {{ kind = \"abm\", alpha = 0.5, {abm} }}\n{}{}{record}",
                    section(1, "100us", "80KB", (8, 3)),
                    section(0, "70us", "60KB", (5, 2)),
                ))
            };
            let (late, woken) = (with(""), with("[record]\ndecisions = 1"));
            assert!(late.all_drops() > 100);
            same(&format!("{abm}, released at the {release}"), &late, &woken);
        }
    }
}

#[test]
fn sharing_makes_no_difference_while_the_buffer_never_fills() {
    for (name, scenario) in SCENARIOS {
        for queues in ["", TWO_QUEUES] {
            let with = |sharing: &str| {
                let switch = format!("buffer = \"50MB\"\n{queues}\nsharing = {sharing}");
                run_with(scenario, &switch)
            };
            let cs = with("\"cs\"");
            assert_eq!(cs.all_drops(), 0);
            assert!(cs.number("buffer_occupancy.max") > 0.0);
            for sharing in [
                "\"lqd\"",
                "{ kind = \"dt\", alpha = 1e6 }",
                "{ kind = \"sp\", share = 1.0 }",
                "\"harmonic\"",
                "\"followlqd\"",
                "{ kind = \"cbm\", alpha = 1e9 }",
                "{ kind = \"fab\", alpha = 1e6 }",
            ] {
                same(&format!("{name}, {sharing}, {queues}"), &cs, &with(sharing));
            }
            // These policies have timers, which are events, or keep counts: only the flows are the
            // same.
            for sharing in [
                "{ kind = \"abm\", alpha = 1e9 }",
                "{ kind = \"abm\", alpha = 1e9, drain = \"interval\" }",
                "\"credence\"",
                "{ kind = \"credence\", thresholds = \"code\" }",
                "\"quasi-pushout\"",
                "{ kind = \"fb\", alpha = 1e9 }",
                "{ kind = \"reverie\", alpha = 1e9 }",
            ] {
                let same = cs.flows == with(sharing).flows;
                assert!(same, "{name}, {sharing}, {queues}");
            }
        }
    }
}

/// The rows of a trace of fates, in an order that does not depend on when fates became known.
fn taught(run: &Run) -> Vec<[u64; 8]> {
    let trace = &run.record.oracle_trace;
    let row = |row: usize| {
        let averages = [trace.average_queue_bytes[row], trace.average_occupancy_bytes[row]];
        let [queue, occupancy] = averages.map(f64::to_bits);
        let lost = trace.dropped.known(row).map_or(2, u64::from);
        let (switch, arrival) = (trace.switch[row].into(), trace.arrival[row]);
        let held = [trace.queue_bytes[row], trace.occupancy_bytes[row]];
        [switch, arrival, trace.time_ps[row], held[0], held[1], queue, occupancy, lost]
    };
    let mut rows: Vec<_> = (0..trace.len()).map(row).collect();
    rows.sort_unstable();
    rows
}

/// A switch that is the first on all paths of datagrams has the same arrivals under any policy, so
/// it teaches the same drops.
#[test]
fn credence_teaches_what_lqd_drops_whatever_it_does_itself() {
    let with = |sharing: &str| {
        run(&format!(
            r#"
            duration = "1ms"
            record = {{ oracle_trace = true }}
            topology = {{ kind = "star", hosts = 9 }}
            switch = {{ buffer = "45KB", sharing = {sharing} }}
            transport = {{ kind = "udp", rate = "4Gbps" }}
            [[traffic]]
            name = "all"
            kind = "poisson"
            sizes = "100KB"
            load = 0.9
            load_of = "host"
            destinations = "uniform"
            [[traffic]]
            name = "queries"
            kind = "incast"
            interval = "100us"
            burst = "60KB"
            fan_in = 6
            senders = "any"
            "#
        ))
    };
    let of = |run: &Run| -> Vec<_> {
        taught(run).into_iter().map(|[switch, n, at, .., lost]| [switch, n, at, lost]).collect()
    };
    let lqd = of(&with("\"lqd\""));
    let dropped = lqd.iter().filter(|row| row[3] == 1).count();
    assert!(dropped > 100, "{dropped} of {}", lqd.len());
    for oracle in ["always-drop", "always-accept", "random"] {
        let credence = with(&format!("{{ kind = \"credence\", oracle = \"{oracle}\" }}"));
        assert!(of(&credence) == lqd, "{oracle}");
    }
}

/// What an oracle that accepts everything lets in is what LQD does, as long as queues are LQD's.
#[test]
fn credence_that_pushes_out_and_expects_no_drop_is_lqd() {
    let credence = "{ kind = \"credence\", oracle = \"always-accept\", push_out = true }";
    let mut pushed_out = 0;
    for (name, scenario) in SCENARIOS {
        for queues in ["scheduling = \"fifo\"", "queues_per_port = 3\nscheduling = \"strict\""] {
            let with = |sharing: &str| {
                let traced = "[record]\noracle_trace = true";
                let switch = format!("buffer = \"20KB\"\n{queues}\nsharing = {sharing}\n{traced}");
                run_with(scenario, &switch)
            };
            let (lqd, credence) = (with("\"lqd\""), with(credence));
            assert!(lqd.flows == credence.flows, "{name}, {queues}");
            // So is what it teaches.
            assert_eq!(taught(&lqd), taught(&credence), "{name}, {queues}");
            pushed_out += credence.counters.drops[DropReason::PushedOut as usize];
        }
    }
    assert!(pushed_out > 100, "{pushed_out} pushed out");
}

/// Who follows Smartbuf's predictions and nothing else is Smartbuf; its keys may be those of any.
#[test]
fn blind_trust_in_smartbuf_is_smartbuf() {
    for (keys, queues) in [("", ""), ("sigma = 8, record = \"admitted+dropped\"", TWO_QUEUES)] {
        let mut lost = 0;
        for (name, scenario) in SCENARIOS {
            let with = |sharing: &str| {
                run_with(scenario, &format!("buffer = \"20KB\"\n{queues}\nsharing = {sharing}"))
            };
            let smartbuf = with(&format!("{{ kind = \"smartbuf\", {keys} }}"));
            let blind = with(&format!(
                "{{ kind = \"blind-trust\", exempt_acks = false, oracle = \"smartbuf\", smartbuf = \
                 {{ {keys} }} }}"
            ));
            assert!(smartbuf.flows == blind.flows, "{name}, {keys}");
            let drops = |run: &Run| run.counters.drops.iter().sum::<u64>();
            assert_eq!(drops(&smartbuf), drops(&blind), "{name}, {keys}");
            lost += drops(&blind);
        }
        assert!(lost > 100, "{keys}: {lost} lost");
    }
}

#[test]
fn flows_that_are_not_short_are_held_to_dynamic_thresholds() {
    for (name, scenario) in SCENARIOS {
        let with = |sharing: &str| {
            let switch = format!("buffer = \"40KB\"\n{TWO_QUEUES}\nsharing = {sharing}");
            run_with(scenario, &switch)
        };
        let dt = with("{ kind = \"dt\", alpha = [8, 0.25] }");
        assert!(dt.drops(DropReason::OverThreshold) > 0, "{name}");
        same(name, &dt, &with("{ kind = \"fab\", alpha = [8, 0.25], short_bytes = \"0B\" }"));
        let one = with("{ kind = \"dt\", alpha = 0.25 }");
        same(name, &one, &with("{ kind = \"fab\", alpha = 0.25, alpha_short = 0.25 }"));
        let fab = with("{ kind = \"fab\", alpha = [8, 0.25] }");
        assert_ne!(dt.flows, fab.flows, "{name}");
    }
}

#[test]
fn a_threshold_that_is_never_reached_is_none() {
    for (name, scenario) in SCENARIOS {
        let none = run_with(scenario, "aqm = \"none\"");
        let unlimited = "{ kind = \"ecn\", threshold = \"unlimited\" }";
        for aqm in [unlimited, "{ kind = \"red\", min = \"1GB\", max = \"2GB\" }"] {
            let other = run_with(scenario, &format!("aqm = {aqm}"));
            assert_eq!(other.summary["marks"], 0);
            same(name, &none, &other);
        }
    }
    // A limit that is reached does make a difference.
    let (_, incast) = SCENARIOS[0];
    let marked = run_with(incast, "aqm = { kind = \"ecn\", threshold = \"5pkt\" }");
    assert!(marked.number("marks") > 0.0);
}

#[test]
fn one_queue_is_served_alike_by_every_scheduler() {
    for (name, scenario) in SCENARIOS {
        let fifo = run_with(scenario, "scheduling = \"fifo\"");
        for scheduling in ["rr", "strict", "dwrr"] {
            let other = run_with(scenario, &format!("scheduling = \"{scheduling}\""));
            same(&format!("{name}, {scheduling}"), &fifo, &other);
        }
    }
}

#[test]
fn when_bytes_are_released_changes_what_the_buffer_holds_and_nothing_else() {
    for (name, scenario) in SCENARIOS {
        let start = run_with(scenario, "release = \"start\"");
        let end = run_with(scenario, "release = \"end\"");
        assert_eq!(start.flows, end.flows, "{name}");
        assert_eq!(start.number("packet_hops"), end.number("packet_hops"));
        for number in ["mean", "max"] {
            let path = format!("buffer_occupancy.{number}");
            assert!(start.number(&path) < end.number(&path), "{name}, {number}");
        }
    }
}

#[test]
fn spraying_over_one_path_is_ecmp() {
    let one_spine = SCENARIOS[1].1.replace("spines = 2", "spines = 1");
    for scenario in [SCENARIOS[0].1, &one_spine, SCENARIOS[3].1] {
        let with =
            |kind: &str| run_with(&format!("routing = {{ kind = \"{kind}\" }}\n{scenario}"), "");
        // With spraying the base of slowdowns is another bound.
        let times = |run: Run| run.flows.into_iter().map(|row| Row { ideal_ps: 0, ..row });
        let ecmp: Vec<Row> = times(with("ecmp")).collect();
        assert_eq!(ecmp, times(with("spray")).collect::<Vec<_>>());
    }
    let (_, two_spines) = SCENARIOS[1];
    let with = |kind: &str| run_with(&format!("routing.kind = \"{kind}\"\n{two_spines}"), "");
    assert_ne!(with("ecmp").flows, with("spray").flows);
}

#[test]
fn recording_changes_nothing() {
    let record = "[record]\nqueue_interval = \"1us\"\nlink_interval = \"3us\"\ndecisions = 100000\n\
                  windows = [0, 1, 2, 3]\nwindow_interval = \"2us\"";
    for (name, scenario) in SCENARIOS {
        let bare = run_with(scenario, "");
        let mut recorded = run_with(&format!("{scenario}\n{record}"), "");
        let tables = &recorded.record;
        assert!(!tables.queues.is_empty() && !tables.decisions.is_empty(), "{name}");
        assert!(!tables.links.is_empty() && !tables.windows.is_empty(), "{name}");
        // Samples are events too.
        assert!(recorded.summary["events"].as_u64() > bare.summary["events"].as_u64());
        recorded.summary["events"] = bare.summary["events"].clone();
        recorded.summary["simulated_s"] = bare.summary["simulated_s"].clone();
        same(name, &bare, &recorded);
    }
}

/// The numbers of AQMs, some of which bring them up to date only when packets arrive.
#[test]
fn samples_of_aqms_change_nothing() {
    let record = "[record]\naqm_interval = \"1us\"";
    for (name, scenario) in SCENARIOS {
        for aqm in [
            "{ kind = \"ecn\", threshold = \"4pkt\" }",
            "{ kind = \"red\", min = \"1pkt\", max = \"9pkt\", weight = 0.1 }",
            "{ kind = \"ared\", min = \"1pkt\", max = \"5pkt\", weight = 0.3, interval = \"3us\" }",
            "{ kind = \"pie\", target = \"1us\", update_interval = \"3us\" }",
            "{ kind = \"pred\", min = \"1pkt\", q_left = \"2pkt\", max = \"9pkt\" }",
        ] {
            let with = |more: &str| {
                let switch = format!("aqm = {aqm}\nqueues_per_port = 2\n{more}");
                run_with(scenario, &switch)
            };
            let (bare, mut sampled) = (with(""), with(record));
            let woken = with(&format!("{record}\ndecisions = 1"));
            assert!(sampled.record.aqm.len() > 1000, "{name}, {aqm}");
            assert_eq!(sampled.record.aqm, woken.record.aqm, "{name}, {aqm}");
            // No port has been woken for it.
            assert!(sampled.counters.events < woken.counters.events, "{name}, {aqm}");
            assert!(sampled.counters.events > bare.counters.events, "{name}, {aqm}");
            assert_eq!(sampled.record.drops, bare.record.drops, "{name}, {aqm}");
            sampled.summary["simulated_s"] = bare.summary["simulated_s"].clone();
            same(&format!("{name}, {aqm}"), &bare, &sampled);
        }
    }
}

#[test]
fn a_link_that_loses_nothing_is_a_link() {
    let (name, scenario) = SCENARIOS[1];
    let event = "[[event]]\nkind = \"link-loss\"\na = \"leaf0\"\nb = \"spine1\"\nat = \"100us\"\n\
                 until = \"900us\"\nrate = 0.0";
    let mut with = run_with(&format!("{scenario}\n{event}"), "");
    let without = run_with(scenario, "");
    with.summary["events"] = without.summary["events"].clone();
    same(name, &without, &with);
}

#[test]
fn per_flow_queues_in_the_card_are_one_where_there_is_one_flow() {
    // Every host of the permutation has one flow and the acks of another, each in its own queue.
    let (name, scenario) = SCENARIOS[2];
    let with =
        |nic: &str| run_with(&format!("{scenario}\n[nic]\n{nic}\nqueues = 2\ndata_queue = 1"), "");
    same(name, &with("scheduling = \"fifo\""), &with("scheduling = \"per-flow-rr\""));
}

#[test]
fn seeds_matter() {
    let (_, scenario) = SCENARIOS[1];
    let flows = |seeds: &str| run_with(&format!("{seeds}\n{scenario}"), "").flows;
    let who = |rows: &[Row]| -> Vec<(u32, u32, u64, u64)> {
        rows.iter().map(|row| (row.src, row.dst, row.size, row.start_ps)).collect()
    };
    let first = flows("seed = 1");
    assert_eq!(first, flows("seed = 1"));
    assert_ne!(who(&first), who(&flows("seed = 2")));
    // The seed of the hash changes paths and times, but not the flows.
    let other_ways = flows("seed = 1\nrouting.hash_seed = 2");
    assert_eq!(who(&first), who(&other_ways));
    assert_ne!(first, other_ways);
}

/// The same happens at all leaves at the same times, so the order of traced rows depends on ties
/// between switches all the time.
#[test]
fn traces_do_not_depend_on_the_pieces_in_which_a_run_is_made() {
    let text = r#"
        duration = "300us"
        record = { oracle_trace = true, bursts = "5KB", decisions = 900 }
        topology = { kind = "leaf-spine", leaves = 4, spines = 2, hosts_per_leaf = 4 }
        switch = { buffer = "60KB", sharing = "lqd" }
        [transport]
        kind = "dctcp"
        initial_window = "flow"
        [[traffic]]
        name = "everyone"
        kind = "permutation"
        size = "90KB"
        shift = 5
        "#;
    let traced = |piece: u64| {
        let mut simulation = Simulation::new(scenario(text));
        while simulation.run(piece) == Progress::Running {
            simulation.collect_traces();
        }
        simulation.finish();
        let record = simulation.record_mut();
        (record.oracle_trace.clone(), record.bursts.clone(), record.decisions.clone())
    };
    let whole = traced(u64::MAX);
    assert!(whole.0.len() > 900 && whole.1.len() > 10 && whole.2.len() == 900);
    assert!(whole.0.dropped.contains(&1), "nothing was lost");
    for piece in [1, 7, 1_000] {
        assert_eq!(traced(piece), whole, "pieces of {piece} events");
    }
}

/// Lossless priorities whose thresholds nothing reaches.
#[test]
fn priority_flow_control_that_never_pauses_changes_nothing() {
    let switches = [
        "buffer = \"100MB\"",
        "buffer = \"100MB\"\nsharing = \"lqd\"\nqueues_per_port = 2",
        "buffer = \"100MB\"\nsharing = { kind = \"dt\", alpha = 8 }\nrelease = \"end\"",
        "buffer = \"100MB\"\nsharing = \"credence\"\nqueues_per_port = 2\nscheduling = \"dwrr\"",
        "buffer = \"100MB\"\naqm = { kind = \"codel\", target = \"20us\", not_ect = \"pass\" }",
    ];
    for (name, scenario) in SCENARIOS {
        for switch in switches {
            let with = |pfc: &str| {
                let mut run = run_with(scenario, &format!("{switch}\n{pfc}"));
                // A sharing policy decides about other packets alone, and counts those.
                for key in ["pauses", "sharing_counts"] {
                    run.summary.as_object_mut().and_then(|summary| summary.remove(key));
                }
                run
            };
            let plain = with("");
            for pfc in [
                "pfc = { kind = \"static\", threshold = \"20MB\", priorities = [0] }",
                "pfc = \"dynamic\"",
                "pfc = \"reverie\"",
            ] {
                same(&format!("{name}, {switch}, {pfc}"), &plain, &with(pfc));
            }
        }
    }
}

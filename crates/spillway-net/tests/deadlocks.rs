//! Cycles of ports that pause each other: rings of switches in which all hosts send the same way
//! round.

use crate::common::random::Draw;
use crate::common::*;
use spillway_engine::Stream;
use spillway_net::simulation::{Progress, Shortcuts, Simulation};
use spillway_traffic::FlowColumns;

/// The hosts of the ring: name, switch, rate of the link.
const HOSTS: [(&str, &str, &str); 4] =
    [("ha", "a", "10Gbps"), ("hb", "b", "10Gbps"), ("hc", "c", "10Gbps"), ("hd", "d", "10Gbps")];

/// Four switches in a ring, each with a host, and with other hosts. The link from d to a has a rate
/// of its own. `ends` has the times of the run, `switch` the switches' settings.
fn around(
    ends: &str,
    others: &[(&str, &str, &str)],
    (delay, last): (&str, &str),
    switch: &str,
) -> String {
    let host = |&(name, at, rate): &(&str, &str, &str)| {
        format!("{{ name = \"{name}\", switch = \"{at}\", rate = \"{rate}\", delay = \"1us\" }}")
    };
    let link = |(a, b, rate): (&str, &str, &str)| {
        format!("{{ a = \"{a}\", b = \"{b}\", rate = \"{rate}\", delay = \"{delay}\" }}")
    };
    let links =
        [("a", "b", "10Gbps"), ("b", "c", "10Gbps"), ("c", "d", "10Gbps"), ("d", "a", last)];
    format!(
        "{ends}\n\
         transport = {{ kind = \"udp\", rate = \"10Gbps\" }}\n\
         [topology]\nkind = \"graph\"\n\
         switch = [{{ name = \"a\" }}, {{ name = \"b\" }}, {{ name = \"c\" }}, {{ name = \"d\" }}]\n\
         host = [{}]\nlink = [{}]\n\
         [switch]\n{switch}\n\
         [record]\npauses = true\n\
         [[traffic]]\nname = \"clockwise\"\nkind = \"flows\"\nfile = \"list\"\n",
        HOSTS.iter().chain(others).map(host).collect::<Vec<_>>().join(", "),
        links.map(link).join(", "),
    )
}

/// Every host sends two hops clockwise: its packets wait at the next switch for the link after it.
fn ring(more: &str) -> String {
    let pfc = format!("pfc = {{ kind = \"static\", threshold = \"20KB\"{more} }}");
    let switch = format!("buffer = \"1MB\"\n{pfc}");
    around("duration = \"1ms\"\nstop = \"2ms\"", &[], ("1us", "10Gbps"), &switch)
}

/// Of two equal next hops, switch a's first is b; at the others the second leads on clockwise.
fn clockwise() -> FlowColumns {
    let flows: Vec<Listed> = (0..4).map(|host| (host, (host + 2) % 4, 1_000_000, 0)).collect();
    FlowColumns { path: Some([0, 1, 1, 1].map(Some).into()), ..columns(&flows) }
}

#[test]
fn a_cycle_of_ports_that_pause_each_other_ends_the_run() {
    let run = finish(Simulation::new(scenario_with(&ring(""), &clockwise())));
    assert_eq!(run.progress, Progress::Deadlock);
    assert_eq!(run.summary["status"], "deadlock");
    let deadlock = &run.summary["pauses"]["deadlock"];
    let members: Vec<String> = deadlock["ports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|port| format!("{} {}", port["switch"].as_str().unwrap(), port["port"]))
        .collect();
    // A switch's port 0 leads to its host; a's next one to b, the others' last one clockwise.
    assert_eq!(members, ["leaf0 1", "leaf1 2", "leaf2 2", "leaf3 2"]);
    // Nothing is lost, and nothing arrives any more: it was found when it closed.
    assert_eq!((run.all_drops(), run.summary["flows"]["completed"].as_u64()), (0, Some(0)));
    let found_us = deadlock["time_us"].as_f64().unwrap();
    assert!(found_us < 500.0, "{found_us}");
    let ongoing = run.record.pauses.end_ps.clone();
    let endless = (0..run.record.pauses.len()).filter(|&row| ongoing.known(row).is_none()).count();
    assert!(endless >= 4, "{endless}");

    // Told to go on, the run reports the same and goes on to its stop: nothing ever arrives.
    let text = ring(", on_deadlock = \"continue\"");
    let on = finish(Simulation::new(scenario_with(&text, &clockwise())));
    assert_eq!(on.summary["pauses"]["deadlock"], *deadlock);
    assert_ne!(on.progress, Progress::Deadlock);
    assert_eq!(on.summary["flows"]["completed"], 0);
    let delivered = |run: &Run| run.flows.iter().map(|flow| flow.delivered).sum::<u64>();
    // What was on its way to a host when the cycle closed still arrives there.
    assert!(delivered(&on) < delivered(&run) + 40_000, "{} {}", delivered(&on), delivered(&run));

    // Half the flows make no cycle.
    let mut half = clockwise();
    for column in [&mut half.src, &mut half.dst] {
        column.truncate(2);
    }
    half.size_bytes.truncate(2);
    half.start_ns.truncate(2);
    half.path.as_mut().unwrap().truncate(2);
    let run = finish(Simulation::new(scenario_with(&ring(""), &half)));
    assert_eq!((run.progress, run.all_drops()), (Progress::Complete, 0));
    assert!(run.summary["pauses"]["deadlock"].is_null());
}

/// The ring, where the line from d to a is slow and two hosts more at a send to a third: their
/// packets take what is free there, so a pauses d with little of its account. That was d's packets
/// for b, which wait for the line to b, and for a's host. The last one of these leaves while little
/// is free, and d stays paused; when all is free that the two hosts had taken, nothing leaves that
/// would let d go on.
#[test]
fn a_cycle_is_found_where_a_threshold_rises_after_the_last_packet_that_could_leave() {
    let others = [("f", "a", "10Gbps"), ("g", "a", "10Gbps"), ("s", "a", "10Gbps")];
    let switch = "buffer = \"200KB\"\npfc = { kind = \"dynamic\", alpha = 4.0, reserve = \"0B\", \
                  resume_offset = \"0B\", headroom = \"9KB\" }";
    let ends = "duration = \"1ms\"\nstop = \"60ms\"";
    let text = around(ends, &others, ("0us", "1Gbps"), switch);
    // With some starts the last packet of d goes to a's host, with others to b.
    for start in [0, 3_000, 6_000, 12_000, 24_000] {
        let ring = [(0, 2, 0), (1, 3, 0), (2, 0, 0), (3, 1, start)];
        let mut flows: Vec<Listed> =
            ring.map(|(from, to, start)| (from, to, 2_000_000, start)).into();
        flows.extend([(4, 6, 2_500_000, 0), (5, 6, 2_500_000, 0)]);
        let path = Some([0, 1, 1, 1, 0, 0].map(Some).into());
        let list = FlowColumns { path, ..columns(&flows) };
        let run =
            |text: &str, shortcuts| finish(Simulation::with(scenario_with(text, &list), shortcuts));
        let stopped = run(&text, Shortcuts::ALL);
        assert_eq!((stopped.progress, stopped.all_drops()), (Progress::Deadlock, 0), "{start}");
        let deadlock = &stopped.summary["pauses"]["deadlock"];
        assert_eq!(deadlock["ports"].as_array().unwrap().len(), 4, "{deadlock}");
        assert_eq!(run(&text, Shortcuts::NONE).summary["pauses"]["deadlock"], *deadlock);
        // Told to go on, it tells the same, and only the two hosts' flows are ever complete.
        let text = text.replace("headroom =", "on_deadlock = \"continue\", headroom =");
        let on = run(&text, Shortcuts::ALL);
        assert_eq!(on.summary["pauses"]["deadlock"], *deadlock);
        assert_eq!(
            (on.progress, &on.summary["flows"]["completed"]),
            (Progress::Stopped, &2.into())
        );
    }
}

/// The ring again, where d may have as much at a as is free. When a pauses it, two of its packets
/// wait for x, behind one that takes 12 ms, and the others for the line to b. At 3 ms f and g send
/// to x, and then no more. At 4 ms the link of x fails: d's packets are lost first, while f's and
/// g's fill so much of the buffer that d stays paused; when these are lost as well, all that a
/// holds of d waits for b, and nothing leaves a any more.
#[test]
fn a_cycle_is_found_that_closes_with_the_loss_of_a_queue_whose_link_fails() {
    let others = [("f", "a", "10Gbps"), ("g", "a", "10Gbps"), ("x", "a", "1Mbps")];
    let switch = "buffer = \"209KB\"\npfc = { kind = \"dynamic\", alpha = 1.0, reserve = \"0B\", \
                  resume_offset = \"0B\", headroom = \"9KB\" }";
    let ends = "duration = \"10ms\"\nstop = \"60ms\"";
    let text = around(ends, &others, ("0us", "1Gbps"), switch);
    let ring = [(0, 2), (1, 3), (2, 0), (3, 1)];
    let mut flows: Vec<Listed> = ring.map(|(from, to)| (from, to, 2_000_000, 0)).into();
    flows.extend([(2, 6, 4_000, 0), (4, 6, 20_000, 3_000_000), (5, 6, 20_000, 3_000_000)]);
    let path = Some([0, 1, 1, 1, 1, 0, 0].map(Some).into());
    let list = FlowColumns { path, ..columns(&flows) };
    let run = |more: &str, shortcuts| {
        finish(Simulation::with(scenario_with(&format!("{text}{more}"), &list), shortcuts))
    };
    let fails = "[[event]]\nkind = \"link-down\"\na = \"a\"\nb = \"x\"\nat = \"4ms\"\n";
    for shortcuts in [Shortcuts::ALL, Shortcuts::NONE] {
        let run = run(fails, shortcuts);
        assert_eq!(run.progress, Progress::Deadlock);
        let deadlock = &run.summary["pauses"]["deadlock"];
        assert_eq!(deadlock["time_us"], 4_000.0);
        assert_eq!(deadlock["ports"].as_array().unwrap().len(), 4, "{deadlock}");
    }
    // Without the failure it closes with the last packet that d has for x: two take 12.016 ms each
    // at 1 Mbps.
    let whole = run("", Shortcuts::ALL);
    let closes_us = whole.summary["pauses"]["deadlock"]["time_us"].as_f64().unwrap();
    assert_eq!((whole.progress, whole.all_drops()), (Progress::Deadlock, 0));
    assert!((24_032.0..24_100.0).contains(&closes_us), "{closes_us}");
}

/// Rings of five switches, round which every host sends two hops, with other flows beside: a run
/// that is told to go on either completes all flows and knows no deadlock, or has told of one.
#[test]
fn random_rings_end_or_tell_of_a_deadlock() {
    let dynamic = [0.5, 2.0, 8.0].map(|alpha| format!("\"dynamic\", alpha = {alpha:?}"));
    let reverie = [0.5, 2.0, 8.0]
        .map(|alpha| format!("\"reverie\", alpha = {alpha:?}, gamma = 0.8, saturation = \"6KB\""));
    for kinds in [dynamic, reverie] {
        let deadlocks = deadlocks_in_rings(&kinds.each_ref().map(String::as_str));
        println!("{deadlocks} of 100 runs with a deadlock");
        assert!((20..95).contains(&deadlocks), "{deadlocks}");
    }
}

/// Runs a hundred of them, with one of these kinds of thresholds each. How many have a deadlock.
fn deadlocks_in_rings(kinds: &[&str]) -> u32 {
    let mut deadlocks = 0;
    for seed in 0..100 {
        let mut draw = Draw(Stream::new(seed, "rings", 0));
        let near = |draw: &mut Draw| draw.one(&["0us", "1us", "5us"]).to_string();
        let host = |name: u64, at: u64, delay: String| {
            format!(
                "{{ name = \"h{name}\", switch = \"s{at}\", rate = \"10Gbps\", delay = \"{delay}\" }}"
            )
        };
        let mut hosts: Vec<String> = (0..5).map(|at| host(at, at, near(&mut draw))).collect();
        for name in 5..7 {
            hosts.push(host(name, draw.below(5), near(&mut draw)));
        }
        let links = (0..5).map(|at| {
            let (rate, delay) =
                (draw.one(&["1Gbps", "4Gbps", "10Gbps"]).to_string(), near(&mut draw));
            let next = (at + 1) % 5;
            format!("{{ a = \"s{at}\", b = \"s{next}\", rate = \"{rate}\", delay = \"{delay}\" }}")
        });
        let links: Vec<String> = links.collect();
        let switches = [0, 1, 2, 3, 4].map(|at| format!("{{ name = \"s{at}\" }}")).join(", ");
        let text = format!(
            "seed = {seed}\nduration = \"1ms\"\nstop = \"200ms\"\n\
             transport = {{ kind = \"udp\", rate = \"10Gbps\" }}\n\
             [topology]\nkind = \"graph\"\nswitch = [{switches}]\nhost = [{}]\nlink = [{}]\n\
             [switch]\nbuffer = \"400KB\"\nrelease = \"{}\"\n\
             pfc = {{ kind = {}, reserve = \"{}\", resume_offset = \"{}\", \
             on_deadlock = \"continue\", ends = {} }}\n",
            hosts.join(", "),
            links.join(", "),
            draw.one(&["start", "end"]),
            draw.one(kinds),
            draw.one(&["0KB", "3KB"]),
            draw.one(&["0KB", "2KB"]),
            draw.one(&[
                "\"resume\"",
                "\"quanta\", quanta = 400, refresh_after = \"5us\"",
                "\"quanta-only\", quanta = 400, refresh_after = \"5us\"",
            ]),
        );
        let mut flows: Vec<Listed> = (0..5_u32)
            .map(|at| (at, (at + 2) % 5, 200_000 + draw.below(1_000_000), draw.below(100_000)))
            .collect();
        for _ in 0..12 {
            let src = draw.below(7);
            let dst = (src + 1 + draw.below(6)) % 7;
            let (size, start) = (1 + draw.below(1_000_000), draw.below(300_000));
            flows.push((src as u32, dst as u32, size, start));
        }
        let run = run_flows(&text, &flows);
        let is_found = !run.summary["pauses"]["deadlock"].is_null();
        let is_complete = run.summary["flows"]["completed"] == run.summary["flows"]["started"];
        assert_eq!(run.all_drops(), 0, "seed {seed}\n{text}");
        assert_eq!(is_found, !is_complete, "seed {seed}\n{text}\n{flows:?}");
        deadlocks += u32::from(is_found);
    }
    deadlocks
}

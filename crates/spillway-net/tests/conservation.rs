//! Random scenarios: nothing goes astray, flows are whole, and a run is a function of its scenario.
//!
//! A number makes a scenario: a small network of any kind, buffers small enough to drop, any
//! policies, transports and traffic, failing and lossy cables. A failure names the number.

mod common;

use common::*;
use spillway_engine::Stream;
use spillway_net::simulation::{Progress, Simulation};
use spillway_net::traffic::FlowColumns;
use std::collections::BTreeMap;

/// A scenario in parts.
struct Case {
    head: String,
    /// Sections of traffic, in any order.
    traffic: Vec<String>,
    /// The flows of the section `list`, if it is there.
    list: FlowColumns,
}

impl Case {
    fn text(&self) -> String {
        format!("{}\n{}", self.head, self.traffic.join("\n"))
    }
}

/// Choices at random.
struct Draw(Stream);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0.below(n)
    }

    fn one<'a>(&mut self, options: &[&'a str]) -> &'a str {
        options[self.below(options.len() as u64) as usize]
    }

    /// True once in `n` times.
    fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

/// A topology, its number of hosts, whether it has several racks, and cables by their ends.
fn topology(draw: &mut Draw) -> (String, u64, bool, Vec<(String, String)>) {
    let rate = draw.one(&["10Gbps", "10Gbps", "3Gbps", "25Gbps"]);
    let fabric = draw.one(&["10Gbps", "10Gbps", "40Gbps", "4Gbps"]);
    let delay = draw.one(&["0us", "1us", "1us", "7us"]);
    let cable = |a: &str, b: String| (a.to_string(), b);
    let (kind, hosts, is_split, cables) = match draw.below(8) {
        0 | 1 => {
            let hosts = 2 + draw.below(5);
            (format!("kind = \"star\"\nhosts = {hosts}"), hosts, false, Vec::new())
        }
        2 => {
            let (senders, receivers) = (1 + draw.below(4), 1 + draw.below(3));
            let text = format!(
                "kind = \"dumbbell\"\nsenders = {senders}\nreceivers = {receivers}\n\
                 bottleneck_rate = \"{fabric}\""
            );
            (text, senders + receivers, true, vec![cable("leaf0", "leaf1".into())])
        }
        3..=5 => {
            let (leaves, spines, each) = (2 + draw.below(2), 1 + draw.below(3), 1 + draw.below(3));
            let parallel = 1 + draw.below(2);
            let text = format!(
                "kind = \"leaf-spine\"\nleaves = {leaves}\nspines = {spines}\n\
                 hosts_per_leaf = {each}\nlinks_per_pair = {parallel}\nfabric_rate = \"{fabric}\""
            );
            let cables = (0..spines).map(|spine| cable("leaf0", format!("spine{spine}")));
            (text, leaves * each, true, cables.collect())
        }
        6 => {
            let text = format!("kind = \"fat-tree\"\nk = 4\nfabric_rate = \"{fabric}\"");
            let cables =
                vec![cable("leaf0", "aggregation1".into()), cable("aggregation0", "core0".into())];
            (text, 16, true, cables)
        }
        _ => {
            // A triangle whose sides differ, and a detour from one corner to another.
            let text = format!(
                "kind = \"graph\"\n\
                 switch = [{{ name = \"a\" }}, {{ name = \"b\" }}, {{ name = \"c\" }}, \
                 {{ name = \"d\" }}]\n\
                 host = [{}]\n\
                 link = [{}]",
                ["a", "a", "b", "b", "c"]
                    .iter()
                    .enumerate()
                    .map(|(i, at)| format!(
                        "{{ name = \"{i}\", switch = \"{at}\", rate = \"{rate}\", delay = \"1us\" }}"
                    ))
                    .collect::<Vec<_>>()
                    .join(", "),
                [("a", "b", "1Gbps"), ("b", "c", fabric), ("a", "c", "10Gbps"), ("a", "d", rate),
                 ("d", "b", "40Gbps")]
                    .iter()
                    .map(|(a, b, rate)| format!(
                        "{{ a = \"{a}\", b = \"{b}\", rate = \"{rate}\", delay = \"{delay}\" }}"
                    ))
                    .collect::<Vec<_>>()
                    .join(", "),
            );
            return (text, 5, true, vec![cable("leaf0", "leaf1".into())]);
        }
    };
    let text = format!("{kind}\nhost_rate = \"{rate}\"\nlink_delay = \"{delay}\"");
    let mut cables: Vec<(String, String)> = cables;
    cables.push(cable("leaf0", "host0".into()));
    (text, hosts, is_split, cables)
}

/// Any switch that takes a packet of 1500 bytes when it is empty.
fn switch(draw: &mut Draw, cables_change: bool) -> String {
    let sharing = draw.one(&[
        "\"cs\"",
        "\"sp\"",
        "{ kind = \"sp\", share = 0.3 }",
        "{ kind = \"dt\", alpha = [8, 0.5], alpha_first_rtt = 4 }",
        "{ kind = \"dt\", alpha = 0.25, count_arrival = false }",
        "\"lqd\"",
        "\"harmonic\"",
        "{ kind = \"harmonic\", form = \"prefix\", exempt_acks = false }",
        "\"followlqd\"",
        "{ kind = \"credence\", oracle = \"random\", drop_probability = 0.1 }",
        "{ kind = \"credence\", thresholds = \"code\", flip_probability = 0.2 }",
        "{ kind = \"blind-trust\", oracle = \"random\", drop_probability = 0.05 }",
        "{ kind = \"abm\", alpha = [8, 0.5] }",
        "\"cbm\"",
        "{ kind = \"cbm\", buffer_of = \"port\", exempt_acks = false }",
        "{ kind = \"fab\", alpha = [8, 0.5], short_bytes = \"6KB\", idle_timeout = \"50us\" }",
        "{ kind = \"edt\", alpha = [8, 0.5], burst_packets = 3, burst_time = \"20us\" }",
        "{ kind = \"smartbuf\", alpha = [8, 0.5], sigma = 20.0, record = \"admitted+dropped\", \
           estimate = \"quantile\", floor = \"dt\", learn_from = \"own-port\" }",
        "{ kind = \"sp\", form = \"rtt\", flows = 0.2 }",
        "{ kind = \"abm\", congestion = \"fractional\", drain = \"interval\", \
           update_interval = \"100us\" }",
        "{ kind = \"followlqd\", count_arrival = false, tie = \"lowest-index\" }",
        "{ kind = \"lqd\", count_arrival = false, tie = \"lowest-index\", exempt_acks = false }",
    ]);
    let aqm = draw.one(&[
        "\"none\"",
        "{ kind = \"ecn\", threshold = \"4pkt\" }",
        "{ kind = \"ecn\", threshold = \"3KB\", not_ect = \"drop\" }",
        "{ kind = \"red\", min = \"2pkt\", max = \"9pkt\", max_probability = 0.3 }",
        "{ kind = \"red\", min = \"2pkt\", max = \"9pkt\", weight = 0.1, gentle = true }",
    ]);
    let scheduling =
        draw.one(&["\"fifo\"", "\"strict\"", "\"rr\"", "{ kind = \"dwrr\", weights = [2, 1] }"]);
    let release = draw.one(&["start", "start", "end"]);
    let fifo = match release {
        "start" if !cables_change => draw.one(&["0", "0", "1", "3"]),
        _ => "0",
    };
    format!(
        "buffer = \"{}\"\nqueue_limit = \"{}\"\nqueues_per_port = {}\nuncounted_bytes = \"{}\"\n\
         release = \"{release}\"\nport_fifo_packets = {fifo}\n\
         sharing = {sharing}\naqm = {aqm}\nscheduling = {scheduling}",
        draw.one(&["16KB", "16KB", "20KB", "35KB", "100KB", "unlimited"]),
        draw.one(&["unlimited", "unlimited", "unlimited", "2pkt", "12pkt", "10KB"]),
        1 + draw.below(3),
        draw.one(&["0B", "0B", "24B"]),
    )
}

/// Settings for windows (or their loss recovery) that need no kind.
fn window(draw: &mut Draw) -> String {
    let losses = match draw.below(4) {
        0 => format!(
            "loss_detection = \"rack\"\ntail_loss_probe = {}\ncut_once = {}",
            draw.once_in(2),
            draw.once_in(2)
        ),
        1 => "loss_detection = \"ns3\"".into(),
        _ => format!(
            "loss_detection = \"sack\"\npartial_acks_tell = {}\ntail_loss_probe = {}\ncut_once = {}",
            draw.once_in(2),
            draw.once_in(3),
            draw.once_in(2)
        ),
    };
    format!(
        "initial_window = \"{}\"\nhandshake = {}\nack_every = {}\nack_delay = \"{}\"\n\
         dupthresh = {}\nreduction = \"{}\"\nsyn_window = \"{}\"\nmin_window = \"{}\"\n{losses}",
        draw.one(&["1pkt", "10pkt", "20KB", "flow"]),
        draw.once_in(3),
        draw.one(&["1", "1", "2", "4"]),
        draw.one(&["50us", "500us"]),
        draw.one(&["3", "3", "30"]),
        draw.one(&["at-once", "proportional", "proportional-ns3"]),
        draw.one(&["unlimited", "4pkt"]),
        draw.one(&["2pkt", "2pkt", "1pkt", "300B"]),
    )
}

/// What hosts mark and drop: mostly nothing. Senders are told of it only where all that have windows cut
/// for marks.
fn discipline(draw: &mut Draw, all_cut: bool) -> String {
    let aqm = draw.one(&[
        "\"none\"",
        "\"none\"",
        "{ kind = \"ecn\", threshold = \"3pkt\" }",
        "{ kind = \"ecn\", threshold = \"9KB\", not_ect = \"drop\" }",
        "{ kind = \"red\", min = \"2pkt\", max = \"9pkt\", weight = 0.1, gentle = true }",
    ]);
    let queue_limit = draw.one(&["unlimited", "unlimited", "unlimited", "3pkt", "15KB"]);
    let drops_nothing = (aqm, queue_limit) == ("\"none\"", "unlimited");
    let told = if drops_nothing || !all_cut { "silent" } else { draw.one(&["silent", "cut"]) };
    format!(
        "queues = {}\nqueue_limit = \"{queue_limit}\"\naqm = {aqm}\nlocal_drops = \"{told}\"",
        1 + draw.below(3)
    )
}

fn datagrams(draw: &mut Draw) -> String {
    let pacing = draw.one(&["constant", "poisson"]);
    format!("transport = \"udp\"\nrate = \"2Gbps\"\npacing = \"{pacing}\"")
}

/// Transports whose packets leave at a pace.
const PACED: [&str; 4] = ["theta-powertcp", "powertcp", "hpcc", "timely"];

fn traffic(draw: &mut Draw, hosts: u64, is_split: bool) -> (Vec<String>, FlowColumns) {
    let mut sections = Vec::new();
    let mut list = FlowColumns::default();
    let kinds = 1 + draw.below(7);
    for (place, name) in ["m", "c", "x"].iter().enumerate() {
        if kinds & 1 << place == 0 {
            continue;
        }
        let body = match draw.below(6) {
            0 => format!(
                "kind = \"poisson\"\nsizes = \"{}\"\nload = 0.7\nload_of = \"host\"\n\
                 destinations = \"{}\"\nflows = 25",
                draw.one(&["keyvalue", "20KB", "webserver"]),
                if is_split { draw.one(&["uniform", "other-rack"]) } else { "uniform" },
            ),
            1 => format!(
                "kind = \"incast\"\ninterval = \"150us\"\nburst = \"{}\"\nfan_in = {}\n\
                 senders = \"any\"\nreceivers = 1\njitter = \"{}\"",
                draw.one(&["30KB", "90KB"]),
                1 + draw.below(hosts - 1),
                draw.one(&["0us", "20us"]),
            ),
            2 => "kind = \"permutation\"\nsize = \"61234B\"".into(),
            5 if place == 0 => {
                let sender = hosts - 1;
                let ends = format!("receiver = 0\nsenders = {sender}\nstop = \"2ms\"");
                format!("kind = \"persistent\"\n{ends}\ninitial_window = \"5pkt\"")
            }
            3 if hosts <= 6 => "kind = \"all-to-all\"\nsize = \"9KB\"\njitter = \"30us\"".into(),
            _ if list.src.is_empty() => {
                for _ in 0..12 {
                    let src = draw.below(hosts);
                    let dst = (src + 1 + draw.below(hosts - 1)) % hosts;
                    list.src.push(src as u32);
                    list.dst.push(dst as u32);
                    list.size_bytes.push(1 + draw.below(40_000));
                    // Some start together: then they are told apart by who they are.
                    list.start_ns.push(10_000 * draw.below(30));
                }
                let given = |draw: &mut Draw| (0..12).map(|_| Some(draw.below(4) as u32)).collect();
                list.path = draw.once_in(2).then(|| given(draw));
                list.ack_path = draw.once_in(2).then(|| given(draw));
                "kind = \"flows\"\nfile = \"list\"".into()
            }
            _ => "kind = \"permutation\"\nsize = \"1B\"\nstart = \"50us\"".into(),
        };
        let own = match draw.below(5) {
            _ if body.contains("persistent") => String::new(),
            0 => datagrams(draw),
            1 => {
                let kind = draw.one(&["newreno", "cubic"]);
                format!("transport = \"{kind}\"\necn = {}\n{}", draw.once_in(2), window(draw))
            }
            2 => {
                let kind = draw.one(&PACED);
                format!("transport = \"{kind}\"")
            }
            _ => String::new(),
        };
        let priority = if draw.once_in(3) { "priority = 1" } else { "" };
        sections.push(format!("[[traffic]]\nname = \"{name}\"\n{body}\n{priority}\n{own}\n"));
    }
    (sections, list)
}

fn event(draw: &mut Draw, cables: &[(String, String)]) -> String {
    let (a, b) = &cables[draw.below(cables.len() as u64) as usize];
    let at = draw.below(400);
    let until = at + 1 + draw.below(3_000);
    let what = match draw.below(2) {
        0 => format!("kind = \"link-loss\"\nrate = {}", draw.one(&["0.01", "0.1", "0.4"])),
        _ => {
            let reroute_after = draw.one(&["0us", "20us", "700us"]);
            format!("kind = \"link-down\"\nreroute_after = \"{reroute_after}\"")
        }
    };
    format!("[[event]]\na = \"{a}\"\nb = \"{b}\"\nat = \"{at}us\"\nuntil = \"{until}us\"\n{what}\n")
}

fn case(seed: u64) -> Case {
    let mut draw = Draw(Stream::new(seed, "case", 0));
    let draw = &mut draw;
    let (topology, hosts, is_split, cables) = topology(draw);
    let events = draw.below(4).saturating_sub(1);
    let events: String = (0..events).map(|_| event(draw, &cables)).collect();
    let (switch, window) = (switch(draw, !events.is_empty()), window(draw));
    let fifo = if events.is_empty() { draw.one(&["0", "0", "2"]) } else { "0" };
    let hystart = draw.one(&["none", "exact", "ns3"]);
    let (traffic, list) = traffic(draw, hosts, is_split);
    let paces =
        |section: &String| PACED.iter().any(|kind| section.contains(&format!("\"{kind}\"")));
    let all_cut = !traffic.iter().any(paces);
    let head = format!(
        "seed = {seed}\nwarmup = \"{}\"\nduration = \"500us\"\nstop = \"200s\"\n\
         [topology]\n{topology}\n\
         [routing]\nkind = \"{}\"\nhash_seeds = \"{}\"\n\
         [switch]\n{switch}\n\
         [nic]\nscheduling = \"{}\"\nfifo_packets = {fifo}\n{}\n\
         [transport]\nkind = {}\nmin_rto = \"1ms\"\ninitial_rto = \"2ms\"\n{window}\n\
         {events}",
        draw.one(&["0us", "0us", "100us"]),
        draw.one(&["ecmp", "spray"]),
        draw.one(&["per-switch", "same"]),
        draw.one(&["fifo", "per-flow-rr"]),
        discipline(draw, all_cut),
        match draw.one(&["newreno", "dctcp", "cubic"]) {
            "cubic" => format!("\"cubic\"\nhystart = \"{hystart}\""),
            kind => format!("\"{kind}\""),
        },
    );
    Case { head, traffic, list }
}

/// Runs in steps of any size, looking at every packet and byte in between.
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

fn check(seed: u64) -> Run {
    println!("seed {seed}");
    let mut case = case(seed);
    let run = run_in_steps(seed, &case);

    // Everything that repeats what is lost is complete; datagrams are so unless one of them is lost.
    let scenario = scenario_with(&case.text(), &case.list);
    assert_eq!(run.progress, Progress::Complete, "seed {seed}");
    for row in &run.flows {
        let place = scenario.class_transport[usize::from(row.class)];
        let is_open_loop = scenario.transports[usize::from(place)].kind == "udp";
        if row.size == 0 {
            // It never ends.
            assert!(row.fct_ps.is_none(), "seed {seed}: {row:?}");
            continue;
        }
        assert!(row.delivered <= row.size && row.ideal_ps > 0, "seed {seed}: {row:?}");
        assert_eq!(row.delivered == row.size, row.fct_ps.is_some(), "seed {seed}: {row:?}");
        assert!(row.fct_ps.is_some() || is_open_loop, "seed {seed}: {row:?}");
        assert!(row.fct_ps.is_none_or(|fct| fct >= row.ideal_ps), "seed {seed}: {row:?}");
        assert!(!is_open_loop || row.retransmitted == 0, "seed {seed}: {row:?}");
    }
    let rows = run.flows.len() as u64;
    assert_eq!((run.counters.flows_started, rows > 0), (rows, true), "seed {seed}");
    let retransmitted: u64 = run.flows.iter().map(|row| u64::from(row.retransmitted)).sum();
    assert_eq!(run.counters.retransmitted_packets, retransmitted, "seed {seed}");
    assert_eq!(run.all_drops(), run.counters.totals.lost_packets, "seed {seed}");
    assert_eq!(run.all_drops(), run.record.drops.len() as u64, "seed {seed}");

    // Again, in one go; with the sections in another order; from what the scenario resolves to.
    let again = |text: &str| finish(Simulation::new(scenario_with(text, &case.list)));
    let same = |other: Run, what: &str| {
        assert_eq!(run.flows, other.flows, "seed {seed}, {what}");
        assert_eq!(run.summary, other.summary, "seed {seed}, {what}");
        assert_eq!(run.record.drops, other.record.drops, "seed {seed}, {what}");
    };
    same(again(&case.text()), "again");
    let resolved = scenario.resolved.to_string();
    same(again(&resolved), "resolved");
    // Where decisions are traced events wake the ports that wait; else they are seen to late.
    let woken = again(&format!("{}\n[record]\ndecisions = 1", case.text()));
    assert!(woken.counters.events >= run.counters.events, "seed {seed}");
    assert_eq!(run.flows, woken.flows, "seed {seed}, woken");
    assert_eq!(run.summary_but_events(), woken.summary_but_events(), "seed {seed}, woken");
    assert_eq!(run.record.drops, woken.record.drops, "seed {seed}, woken");
    // With flows that never end, links would be measured until the stop.
    if run.flows.iter().all(|row| row.size > 0) {
        check_links(seed, &case);
    }
    assert_eq!(scenario_with(&resolved, &case.list).resolved.to_string(), resolved, "seed {seed}");
    case.traffic.reverse();
    let reversed = case.text();
    same(finish(Simulation::new(scenario_with(&reversed, &case.list))), "reversed");
    case.list = backwards(&case.list);
    same(finish(Simulation::new(scenario_with(&reversed, &case.list))), "rows backwards");
    run
}

/// Links are busy for as long as the bytes that they carry take, a share of time that is one at most,
/// however long the intervals are.
fn check_links(seed: u64, case: &Case) {
    let measured = |interval_ps: u64| {
        let record = format!("[record]\nlink_interval = \"{interval_ps}ps\"");
        let scenario = scenario_with(&format!("{}\n{record}", case.text()), &case.list);
        let hosts = scenario.topology.hosts();
        let ps_per_byte = scenario.topology.links[0].rate.ps_per_byte();
        // What a cable or a host's own queue loses is not on its line, or the run is over before it has
        // been sent.
        let is_whole = scenario.events.is_empty() && scenario.discipline.is_none();
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
            assert_eq!(of_hosts, totals.made_bytes * ps_per_byte, "seed {seed}");
        }
        busy
    };
    let mut draw = Draw(Stream::new(seed, "links", 0));
    let (short, long) = (100_000 + draw.below(3_000_000), 1_000_000 + draw.below(300_000_000));
    assert_eq!(measured(short), measured(long), "seed {seed}: {short} and {long} ps");
}

/// A list with its rows the other way round.
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
        ..FlowColumns::default()
    }
}

#[test]
fn random_scenarios_keep_every_packet_and_repeat() {
    let mut drops = [0; 8];
    let (mut timeouts, mut marks, mut packets) = (0, 0.0, 0);
    for seed in 0..400 {
        let run = check(seed);
        (0..8).for_each(|reason| drops[reason] += run.counters.drops[reason]);
        timeouts += run.counters.timeouts;
        marks += run.number("marks");
        packets += run.counters.totals.made_packets;
    }
    // They are worth something only if everything happens in them.
    println!("{packets} packets, {drops:?} lost, {marks} marked, {timeouts} timeouts");
    assert!(drops.iter().all(|&lost| lost > 20), "{drops:?}");
    assert!(timeouts > 20 && marks > 200.0, "{timeouts} timeouts, {marks} marks");
}

#[test]
#[ignore = "slow: 5000 scenarios"]
fn many_random_scenarios() {
    for seed in 1_000..6_000 {
        check(seed);
    }
}

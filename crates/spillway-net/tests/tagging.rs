//! Taggers in whole networks: which queues packets wait in, in which order a port serves them, what
//! is managed, and what is refused.

use crate::common::random::Draw;
use crate::common::{Listed, Run, columns, finish, scenario_with};
use spillway_engine::Stream;
use spillway_net::scenario::{Scenario, Sources};
use spillway_net::simulation::{Progress, Simulation};
use spillway_traffic::FlowColumns;
use std::path::Path;

/// Four hosts at a switch; a packet of 1,000 bytes takes 1 us, and each line delays by 1 us. All
/// segments of a flow leave at once.
fn text(switch: &str, tagging: &str, more: &str) -> String {
    format!(
        "duration = \"10ms\"
         topology = {{ kind = \"star\", hosts = 4, host_rate = \"8Gbps\", link_delay = \"1us\" }}
         switch = {{ {switch} }}
         transport = {{ kind = \"dctcp\", mss = \"1000B\", header = \"0B\", ack_size = \"50B\", \
         initial_window = \"100pkt\", tagging = {tagging} }}
         {more}
         [[traffic]]
         name = \"list\"
         kind = \"flows\"
         file = \"list\""
    )
}

const FIVE: &str = "queues_per_port = 5, scheduling = \"strict\"";
const SLIDES: &str = "{ kind = \"qclimb\", thresholds = [\"1KB\", \"3KB\", \"5KB\"] }";
/// The other reading: the way down counts the packet itself.
const COUNTING: &str =
    "{ kind = \"qclimb\", thresholds = [\"1KB\", \"3KB\", \"6KB\"], counts_packet = true }";

fn run(text: &str, list: &FlowColumns) -> Run {
    finish(Simulation::new(scenario_with(text, list)))
}

/// The error about a scenario.
fn refused(text: &str, list: &FlowColumns) -> String {
    let flows = |_: &str, _: &str| Some(list.clone());
    let sources = Sources { flows: &flows, ..Sources::of(Path::new("")) };
    Scenario::read(text.parse().unwrap(), &sources).unwrap_err().to_string()
}

/// A list of flows with bounds.
fn bounded(flows: &[Listed], bounds: &[u64]) -> FlowColumns {
    let bound_bytes = Some(bounds.iter().map(|&bound| Some(bound)).collect());
    FlowColumns { bound_bytes, ..columns(flows) }
}

/// To host 2: flow 0, of 7 packets with a bound of 4, from host 0 at once; flow 1, of 3 packets
/// with a bound of 3, from host 1 at 3 us.
fn of_slides() -> FlowColumns {
    bounded(&[(0, 2, 7_000, 0), (1, 2, 3_000, 3_000)], &[4_000, 3_000])
}

/// Flow 0's packets have the priorities 3 2 2 1 3 3 4. The first is on the line at once; the NIC
/// then sends by priority, so a0 a3 a1 a2 a4 a5 a6 reach the switch at 2, 3, ... 8 us. Flow 1's
/// have 2 2 1: b0 b2 b1 reach it at 5, 6, 7 us. A port that can send again does so before what
/// arrives at that moment is queued; of two arrivals, host 0's comes first.
///
/// | us | sends | waits, after arrivals |
/// | --- | --- | --- |
/// | 2, 3, 4 | a0, a3, a1 | nothing |
/// | 5 | a2 | b0 (2) |
/// | 6 | b0 | a4 (3), b2 (1) |
/// | 7 | b2 | a4 (3), a5 (3), b1 (2) |
/// | 8 | b1 | a4, a5 (3), a6 (4) |
/// | 9, 10, 11 | a4, a5, a6 | |
///
/// A packet that begins to be sent at 8 us is there at 8 + 1 + 1 us. Both readings give the same.
#[test]
fn one_port_serves_the_slides_flows_in_order_of_priority() {
    let sampled = "[record]\nqueue_interval = \"1us\"";
    let expected = [
        (5, 2, 1),
        (6, 1, 1),
        (6, 3, 1),
        (7, 2, 1),
        (7, 3, 2),
        (8, 3, 2),
        (8, 4, 1),
        (9, 3, 1),
        (9, 4, 1),
        (10, 4, 1),
    ];
    for tagging in [SLIDES, COUNTING] {
        let run = run(&text(FIVE, tagging, sampled), &of_slides());
        assert_eq!([run.fct(0), run.fct(1)], [13_000_000, 7_000_000]);
        // What waits, as the time in microseconds, the level, and packets; acks have the first
        // queue.
        let queues = &run.record.queues;
        let of_data = (0..queues.len()).filter(|&row| queues.port[row] == 2);
        let waits = of_data
            .map(|row| (queues.time_ps[row] / 1_000_000, queues.queue[row], queues.packets[row]));
        assert_eq!(waits.collect::<Vec<_>>(), expected, "{tagging}");
    }
}

/// In the same table, a2 is the last of the four packets that flow 0 sends on the way up: it is
/// there at 5 + 2 us. Flow 1 climbs to its end, which is 7 us after its start.
#[test]
fn the_summary_tells_for_how_much_of_their_time_flows_climbed() {
    let share = |record: &str, bounds: &[u64]| {
        let list = FlowColumns {
            bound_bytes: Some(bounds.iter().map(|&bound| Some(bound)).collect()),
            ..of_slides()
        };
        run(&text(FIVE, SLIDES, record), &list).summary["climbing"].clone()
    };
    let asked = "record.climbing = true";
    let told = share(asked, &[4_000, 3_000]);
    // 7 and 7 of 13 and 7 us. All flows are short.
    for of in ["short", "list", "all"] {
        assert_eq!(told[of]["share"], 0.7, "{of}");
    }
    assert!(told["long"]["share"].is_null());
    assert_eq!(share(asked, &[0, 0])["all"]["share"], 0.0);
    assert_eq!(share(asked, &[7_000, 3_000])["all"]["share"], 1.0);
    assert!(share("", &[4_000, 3_000]).is_null());
}

/// In order of arrival the port sends, from 5 us on: a3 b0 a4 b1 a5 b2 a6. The last packet of flow
/// 1 begins at 10 us.
#[test]
fn without_tags_the_same_port_serves_them_as_they_come() {
    let run = run(&text(FIVE, "\"fixed\"", ""), &of_slides());
    assert_eq!([run.fct(0), run.fct(1)], [13_000_000, 9_000_000]);
}

/// Three flows of the best level, of 4 packets each: at 2, 3, 4 and 5 us three packets arrive, and
/// one leaves; from 3 us on, and before, the first of them finds the line busy. Data queued when
/// they arrive: 0, 0, 1; 1, 2, 3; 3, 4, 5; 5, 6, 7. More than 3 are found 5 times.
#[test]
fn the_aqm_manages_data_of_the_best_level_wherever_acks_wait() {
    let flows = [(0, 3, 4_000, 0), (1, 3, 4_000, 0), (2, 3, 4_000, 0)];
    let aqm = "aqm = { kind = \"ecn\", threshold = \"3pkt\" }";
    for (queues, acks) in [(9, "apart"), (8, "with-first")] {
        let switch = format!("queues_per_port = {queues}, scheduling = \"strict\", {aqm}");
        let tagging = format!("{{ kind = \"pias\", acks = \"{acks}\" }}");
        let run = run(&text(&switch, &tagging, ""), &columns(&flows));
        assert_eq!(run.number("marks"), 5.0, "{acks}");
    }
}

/// The same packets: 2, 4, 6 and 8 wait from 2, 3, 4 and 5 us on, and then 7 to 1, for a
/// microsecond each.
#[test]
fn the_summary_tells_what_waits_in_which_class() {
    let flows = [(0, 3, 4_000, 0), (1, 3, 4_000, 0), (2, 3, 4_000, 0)];
    let of = |more: &str, record: &str| {
        let switch = format!(
            "queues_per_port = 9, scheduling = \"strict\", \
             aqm = {{ kind = \"ecn\", threshold = \"3pkt\" }}, {more}"
        );
        run(&text(&switch, "{ kind = \"pias\", acks = \"apart\" }", record), &columns(&flows))
    };
    let asked = "[record]\nqueue_classes = true";
    let found = of("buffer = \"unlimited\"", asked);
    let best = found.summary["queue_classes"]["leaf"]["1"].clone();
    assert_eq!(best["marked_packets"], 5);
    assert_eq!(best["dropped_packets"], 0);
    let byte_us = best["mean_bytes"].as_f64().unwrap() * found.number("simulated_s") * 1e6;
    assert!((byte_us - 48_000.0).abs() < 1e-6, "{byte_us}");
    // Of 8 packets that wait from 5 us on, two are too many.
    let found = of("queue_limit = \"6pkt\"", asked);
    let best = &found.summary["queue_classes"]["leaf"]["1"];
    assert_eq!(best["dropped_packets"].as_u64().unwrap(), found.all_drops());
    assert!(found.all_drops() > 0);
    assert!(of("queue_limit = \"6pkt\"", "").summary["queue_classes"].is_null());
}

/// The same packets: those that are lost, those that wait in every queue, and all that flows tell.
#[test]
fn without_bounds_qclimb_is_pias_and_with_sizes_srpt() {
    let flows: Vec<Listed> = (0..60)
        .map(|flow| (flow % 3, 3, 1_000 * (1 + u64::from(flow * 7 % 23)), u64::from(flow) * 700))
        .collect();
    let sizes: Vec<u64> = flows.iter().map(|flow| flow.2).collect();
    let of = |kind: &str, list: &FlowColumns| {
        let tagging = SLIDES.replace("qclimb", kind);
        let small = "buffer = \"12KB\", queues_per_port = 5, scheduling = \"strict\"";
        let every_microsecond = "[record]\ndrops = true\nqueue_interval = \"1us\"";
        let run = run(&text(small, &tagging, every_microsecond), list);
        assert!(run.all_drops() > 0, "packets are sent again");
        let queues = &run.record.queues;
        let waits = (0..queues.len())
            .map(|row| {
                let place = (queues.time_ps[row], queues.port[row], queues.queue[row]);
                (place, queues.packets[row])
            })
            .collect::<Vec<_>>();
        assert!(waits.len() > 500, "{}", waits.len());
        (run.flows, run.record.drops, waits)
    };
    let without = columns(&flows);
    assert_eq!(of("qclimb", &without), of("pias", &without));
    let exact = of("qclimb", &bounded(&flows, &sizes));
    assert_eq!(exact, of("qclimb-ps", &without));
    assert_eq!(exact, of("srpt", &without));
    assert_ne!(exact, of("pias", &without));
}

/// Flows from 15 hosts to five others across two spines, with small buffers and strict priorities
/// everywhere: packets overtake one another and are lost, and those of one priority stay in order.
#[test]
fn on_one_path_nothing_that_was_overtaken_is_taken_for_lost() {
    let (mut overtaking, mut right, mut by_timeout) = (0.0, 0.0, 0.0);
    for seed in 0..40_u64 {
        let mut draw = Draw(Stream::new(seed, "overtaking", 0));
        let flows: Vec<Listed> = (0..80)
            .map(|flow| {
                let (from, to) = (draw.below(15), 15 + draw.below(5));
                (from as u32, to as u32, 1 + draw.below(90_000), flow * 900)
            })
            .collect();
        // Some have no bound; others lie between nothing and twice the size.
        let bounds: Vec<u64> =
            flows.iter().map(|flow| flow.2 * draw.below(3) * draw.below(8) / 7).collect();
        let kind = ["qclimb", "qclimb-ps", "pias"][seed as usize % 3];
        let repairs = ["as-before", "as-next", "as-first"][seed as usize / 3 % 3];
        let tagging = format!(
            "{{ kind = \"{kind}\", thresholds = [\"3KB\", \"9KB\", \"30KB\"], reset_after = {}, \
             repairs = \"{repairs}\" }}",
            seed % 4
        );
        let buffer = [15, 30, 60][seed as usize / 2 % 3];
        let text = format!(
            "duration = \"300ms\"
             seed = {seed}
             topology = {{ kind = \"leaf-spine\", leaves = 4, spines = 2, hosts_per_leaf = 5, \
             host_rate = \"10Gbps\", fabric_rate = \"10Gbps\", link_delay = \"1us\" }}
             routing = {{ kind = \"ecmp\" }}
             switch = {{ buffer = \"{buffer}KB\", queues_per_port = 5, scheduling = \"strict\" }}
             nic = {{ queues = 5, scheduling = \"fifo\" }}
             transport = {{ kind = \"dctcp\", mss = \"1000B\", initial_window = \"{}pkt\", \
             recovery.kind = \"per-priority\", recovery.or_worse = {}, recovery.min_rto = \"500us\", \
             recovery.initial_rto = \"500us\", tagging = {tagging} }}
             [[traffic]]
             name = \"list\"
             kind = \"flows\"
             file = \"list\"",
            10 + seed % 30,
            seed % 2 == 0
        );
        let run = run(&text, &bounded(&flows, &bounds));
        let count = |name: &str| run.number(&format!("repairs.all.{name}"));
        assert_eq!(count("wrong_detections"), 0.0, "{text}");
        assert_eq!(run.progress, Progress::Complete, "{text}");
        overtaking += count("overtaking_packets");
        right += count("right_detections");
        by_timeout += count("losses_by_timeout");
    }
    println!("{overtaking} overtook, {right} found lost, {by_timeout} by timeout");
    assert!(overtaking > 1_000.0 && right > 1_000.0 && by_timeout > 1_000.0);
}

#[test]
fn a_port_needs_a_queue_for_every_priority() {
    let list = of_slides();
    let queues = |number: u8| format!("queues_per_port = {number}, scheduling = \"strict\"");
    let error = refused(&text(&queues(4), SLIDES, ""), &list);
    let expected = "transport.tagging: 4 priorities, beside that of acks, need \
                    switch.queues_per_port = 5, not 4\n\
                    hint: acks may share that of the first priority: acks = \"with-first\"";
    assert_eq!(error, expected);
    let error = refused(&text(&queues(3), SLIDES, ""), &list);
    assert!(error.ends_with("need switch.queues_per_port = 5, not 3"), "{error}");
    let error = refused(&text(&queues(5), SLIDES, "nic = { queues = 1 }"), &list);
    assert!(error.ends_with("need nic.queues = 5, not 1"), "{error}");
    let shared = SLIDES.replace(" }", ", acks = \"with-first\" }");
    let error = refused(&text(&queues(3), &shared, ""), &list);
    assert!(
        error.contains("4 priorities, shared with acks, need switch.queues_per_port = 4"),
        "{error}"
    );
    run(&text(&queues(4), &shared, ""), &list);
    let error = refused(&text(&format!("{}, ack_queue = 2", queues(5)), SLIDES, ""), &list);
    assert!(error.contains("it needs switch.ack_queue = 0"), "{error}");
    // A traffic section may have a tagger of its own.
    let own = format!("{}\ntagging = \"srpt\"", text(&queues(5), "\"fixed\"", ""));
    let error = refused(&own, &list);
    assert!(error.starts_with("traffic.list.tagging: 8 priorities"), "{error}");
}

#[test]
fn a_flow_s_own_priority_and_a_tagger_exclude_each_other() {
    let own = format!("{}\npriority = 2", text(FIVE, SLIDES, ""));
    let error = refused(&own, &of_slides());
    assert!(error.starts_with("traffic.list.priority: a flow's own priority, by"), "{error}");
    let listed = FlowColumns { priority: Some(vec![None, Some(3)]), ..of_slides() };
    let error = refused(&text(FIVE, SLIDES, ""), &listed);
    assert!(error.starts_with("traffic.list.priority: "), "{error}");
    run(&text(FIVE, "\"fixed\"", ""), &listed);
}

#[test]
fn a_tagger_that_goes_by_bounds_warns_where_there_are_none() {
    let warned = |list: &FlowColumns, of_section: &str| {
        let run = run(&format!("{}\n{of_section}", text(FIVE, SLIDES, "")), list);
        run.warnings.iter().any(|text| text.contains("its tagger goes by the flows' bounds"))
    };
    let without = columns(&[(0, 2, 7_000, 0)]);
    assert!(warned(&without, ""));
    assert!(!warned(&without, "bound = \"exact\""));
    assert!(!warned(&of_slides(), ""));
}

/// Packets of one priority stay in order on one path, which there is at one switch, or by the
/// flow's hash.
#[test]
fn order_within_a_priority_is_warned_of_where_packets_are_sprayed() {
    let star = "topology = { kind = \"star\", hosts = 4, host_rate";
    let fabric = "topology = { kind = \"leaf-spine\", leaves = 2, spines = 2, hosts_per_leaf = 2, \
                  fabric_rate = \"8Gbps\", host_rate";
    let spray = "routing = { kind = \"spray\" }";
    let warned = |topology: &str, detection: &str, routing: &str| {
        let losses = format!("recovery.kind = \"{detection}\", tagging");
        let text = text(FIVE, SLIDES, "").replace("tagging", &losses).replace(star, topology);
        let scenario = scenario_with(&format!("{routing}\n{text}"), &of_slides());
        scenario.warnings.iter().any(|text| text.contains("lets them overtake"))
    };
    assert!(warned(fabric, "per-priority", spray));
    assert!(!warned(fabric, "per-priority", ""));
    assert!(!warned(fabric, "sack", spray));
    assert!(!warned(star, "per-priority", spray));
}

/// Worse priorities tell of losses only where they cannot come first.
#[test]
fn worse_priorities_as_witnesses_are_warned_of_where_they_may_come_first() {
    let pfc = "buffer = \"2MB\", scheduling = \"strict\", pfc = { kind = \"static\", priorities = [1], threshold = \"6KB\" }";
    for (how, warns) in [
        ("scheduling = \"strict\"", ""),
        ("scheduling = \"rr\"", "serve their queues otherwise"),
        (pfc, "pause some of them"),
    ] {
        let switch = format!("queues_per_port = 5, {how}");
        let losses = "recovery.kind = \"per-priority\", recovery.or_worse = true, tagging";
        let text = text(&switch, SLIDES, "").replace("tagging", losses);
        let scenario = scenario_with(&text, &of_slides());
        let told =
            scenario.warnings.iter().find(|text| text.starts_with("transport.recovery.or_worse"));
        assert_eq!(told.is_some(), !warns.is_empty(), "{:?}", scenario.warnings);
        assert!(told.is_none_or(|told| told.contains(warns)), "{told:?}");
    }
}

/// Ports that do half of what pFabric's do, or none of it under its transport, are warned of.
#[test]
fn pfabric_in_part_is_warned_of() {
    let read = |switch: &str, spine: &str, transport: &str| {
        let text = format!(
            "duration = \"10us\"\nnic = {{ scheduling = \"pfabric\", queues = 1 }}\n\
             transport = {{ kind = \"{transport}\" }}\n[switch]\nqueues_per_port = 1\n{switch}\n\
             [switch.spine]\n{spine}\n[topology]\nkind = \"leaf-spine\"\nleaves = 2\nspines = 1\n\
             hosts_per_leaf = 2\n[[traffic]]\nname = \"a\"\nkind = \"flows\"\nfile = \"list\""
        );
        scenario_with(&text, &columns(&[(0, 1, 1_460, 0)])).warnings
    };
    let (sharing, scheduling) = ("sharing = \"pfabric\"", "scheduling = \"pfabric\"");
    let both = format!("{sharing}\n{scheduling}");
    let other = "sharing = \"dt\"\nscheduling = \"fifo\"";
    let told = |switch: &str, spine: &str, transport: &str| {
        let warnings = read(switch, spine, transport);
        let found = warnings.into_iter().find(|text| text.contains("pFabric's ports"));
        found.map(|text| {
            let key = text.split(':').next().unwrap().to_string();
            let tier =
                ["leaf", "spine"].into_iter().find(|tier| text.contains(&format!("a {tier}")));
            (key, tier.unwrap())
        })
    };
    let at = |key: &str, tier| Some((key.to_string(), tier));
    assert_eq!(told(&both, "", "pfabric"), None);
    assert_eq!(told(&both, "", "dctcp"), None);
    assert_eq!(told(other, "", "dctcp"), None);
    assert_eq!(told(other, "", "pfabric"), at("transport.kind", "leaf"));
    assert_eq!(told(&both, other, "pfabric"), at("transport.kind", "spine"));
    assert_eq!(told(sharing, "", "dctcp"), at("switch.sharing", "leaf"));
    assert_eq!(told(scheduling, "", "dctcp"), at("switch.scheduling", "leaf"));
}

/// Several levels are those of strict priority, and where packets overtake others of their flow, a gap
/// is no sign of a loss.
#[test]
fn levels_are_warned_of_where_what_is_around_them_makes_little_of_them() {
    let one_level = "{ kind = \"pias\", thresholds = [] }";
    let warned = |scheduling: &str, tagging: &str, detection: &str| {
        let switch = format!("queues_per_port = 5, scheduling = \"{scheduling}\"");
        let tagged = format!("recovery.kind = \"{detection}\", tagging");
        let text = text(&switch, tagging, "").replace("tagging", &tagged);
        let warnings = scenario_with(&text, &of_slides()).warnings;
        let has = |part: &str| warnings.iter().any(|text| text.contains(part));
        (has("serve their queues by \"rr\""), has("later packets of a flow overtake"))
    };
    // RACK waits for what was overtaken.
    assert_eq!(warned("strict", SLIDES, "rack"), (false, false));
    assert_eq!(warned("strict", SLIDES, "per-priority"), (false, false));
    assert_eq!(warned("rr", SLIDES, "per-priority"), (true, false));
    assert_eq!(warned("strict", SLIDES, "sack"), (false, true));
    assert_eq!(warned("strict", SLIDES, "duplicate-acks"), (false, true));
    assert_eq!(warned("strict", SLIDES, "timeout-only"), (false, false));
    // NACKs know no priorities, so no other recovery is named.
    let nacks = |retransmit: &str| {
        let own = format!("kind = \"dcqcn\", recovery.kind = \"{retransmit}\"");
        let text = text(FIVE, SLIDES, "")
            .replace("kind = \"dctcp\"", &own)
            .replace("initial_window = \"100pkt\", ", "");
        let warnings = scenario_with(&text, &of_slides()).warnings;
        warnings.into_iter().filter(|text| text.contains("packets of a flow overtake"))
    };
    let told: Vec<String> = ["go-back-n", "selective"].into_iter().flat_map(nacks).collect();
    let expected = "transport.recovery: by its tagger later packets of a flow overtake earlier ones, \
                    which are then taken to be lost, and sent again";
    assert_eq!(told, [expected; 2]);
    // PIAS's flows only sink.
    let sinks = "{ kind = \"pias\", thresholds = [\"1KB\", \"3KB\", \"5KB\"] }";
    assert_eq!(warned("rr", sinks, "sack"), (true, false));
    assert_eq!(warned("rr", one_level, "sack"), (false, false));
}

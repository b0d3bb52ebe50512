//! Priority flow control in whole networks: a victim flow, and random scenarios with lossless
//! priorities.

use crate::common::random::{Case, Draw, case};
use crate::common::*;
use crate::parallel::compare;
use spillway_engine::Stream;
use spillway_net::scenario::{Scenario, Sources};
use spillway_net::simulation::{Cut, Progress, Shortcuts, Simulation};
use spillway_switch::DropReason;
use std::path::Path;

/// Three hosts of leaf 0 send to one of leaf 1, and a fourth to another host there: 40 Gbps over a
/// link of 40 Gbps, of which only the last link of the three is short.
fn victim(pfc: &str) -> Run {
    let text = format!(
        "duration = \"5ms\"\n\
         topology = {{ kind = \"leaf-spine\", leaves = 2, spines = 1, hosts_per_leaf = 4, host_rate = \
         \"10Gbps\", fabric_rate = \"40Gbps\", link_delay = \"1us\" }}\n\
         transport = {{ kind = \"newreno\" }}\n\
         [switch]\nbuffer = \"600KB\"\n{pfc}\n\
         [[traffic]]\nname = \"list\"\nkind = \"flows\"\nfile = \"list\"\n"
    );
    let size = 2_000_000;
    let flows = [(0, 4, size, 0), (1, 4, size, 0), (2, 4, size, 0), (3, 5, size, 0)];
    finish(Simulation::new(scenario_with(&text, &columns(&flows))))
}

#[test]
fn a_flow_that_shares_no_congested_link_is_slowed_by_pauses() {
    let (lossy, lossless) = (victim(""), victim("pfc = { kind = \"dynamic\", alpha = 0.125 }"));
    assert!(lossy.all_drops() > 0);
    assert_eq!(lossless.all_drops(), 0);
    let slowdown = |run: &Run| run.fct(3) as f64 / run.flows[3].ideal_ps as f64;
    assert!(slowdown(&lossy) < 1.1, "{}", slowdown(&lossy));
    assert!(slowdown(&lossless) > 1.5, "{}", slowdown(&lossless));
    // The pauses reach from leaf 1 over the spine and leaf 0 to the victim's own NIC.
    for tier in ["leaf", "spine", "host"] {
        assert!(lossless.number(&format!("pauses.by_tier.{tier}.pauses")) > 0.0, "{tier}");
    }
}

/// A host takes in 1 Gbps of 10, pauses nothing of a lossy priority, and loses what does not fit.
/// That is told of without a queue: its NIC has other ones, and fewer of them than the leaf.
#[test]
fn what_a_slow_host_has_no_room_for_is_told_without_a_queue() {
    for nic in ["", "queues = 1, ack_queue = 0, data_queue = 0, queue_limit = \"9pkt\", "] {
        let text = format!(
            "duration = \"1ms\"\nstop = \"20ms\"\n\
             topology = {{ kind = \"star\", hosts = 2, host_rate = \"10Gbps\", link_delay = \"1us\" }}\n\
             transport = {{ kind = \"udp\", rate = \"10Gbps\" }}\n\
             switch = {{ buffer = \"1MB\", queues_per_port = 3, data_queue = 2, pfc = {{ kind = \
             \"static\", priorities = [0] }} }}\n\
             nic = {{ {nic}receive_rate = \"1Gbps\", receive_buffer = \"30KB\", receive_threshold = \
             \"3KB\" }}\n"
        );
        let run = run_flows(&text, &[(0, 1, 100_000, 0)]);
        assert!(run.drops(DropReason::BufferFull) > 10, "{nic}");
        assert_eq!(run.all_drops(), run.drops(DropReason::BufferFull), "{nic}");
        let drops = &run.record.drops;
        for row in (0..drops.len()).filter(|&row| drops.switch[row] == 2) {
            assert_eq!((drops.queue.known(row), drops.queue_bytes[row]), (None, 0), "{nic}");
        }
    }
}

/// 600 kB come for a host of 10 Gbps, by two queues of which one is lossless.
///
/// Without idle times 600 packets of 1,500 bytes for 1,448 take 497 us. A pause by the most quanta
/// lasts 3.355 ms.
#[test]
fn a_pause_by_quanta_ends_when_the_queue_has_drained() {
    let last = |ends: &str| {
        let run = run_flows(
            &format!(
                "duration = \"8ms\"\nstop = \"20ms\"\n\
                 topology = {{ kind = \"star\", hosts = 3, host_rate = \"10Gbps\", link_delay = \
                 \"1us\" }}\n\
                 transport = {{ kind = \"udp\", rate = \"10Gbps\" }}\n\
                 switch = {{ buffer = \"1MB\", queues_per_port = 2, pfc = {{ kind = \"static\", \
                 threshold = \"20KB\", ends = \"{ends}\" }} }}\n"
            ),
            &[(0, 2, 500_000, 0), (1, 2, 100_000, 0)],
        );
        assert_eq!(run.all_drops(), 0);
        assert!(run.number("pauses.pauses") > 0.0);
        (0..2).map(|flow| run.fct(flow)).max().unwrap() / 1_000_000
    };
    assert!((497..505).contains(&last("resume")), "{}", last("resume"));
    assert!((497..505).contains(&last("quanta")), "{}", last("quanta"));
    assert!(last("quanta-only") > 3_355, "{}", last("quanta-only"));
}

/// Two hosts of 10 Gbps each send to a third, which takes in 5: one of them in a lossless queue.
fn into_a_slow_host(more: &str) -> String {
    format!(
        "duration = \"4ms\"\nstop = \"4ms\"\n\
         topology = {{ kind = \"star\", hosts = 3, host_rate = \"10Gbps\", link_delay = \"1us\" }}\n\
         transport = {{ kind = \"udp\", rate = \"4500Mbps\" }}\n\
         switch = {{ buffer = \"2MB\", queues_per_port = 2, data_queue = 1, pfc = {{ kind = \
         \"static\", threshold = \"20KB\" }} }}\n\
         nic = {{ receive_rate = \"5Gbps\", {more} }}\n\
         [[traffic]]\nname = \"lossless\"\nkind = \"persistent\"\npairs = [[0, 2]]\n\
         [[traffic]]\nname = \"lossy\"\nkind = \"persistent\"\npairs = [[1, 2]]\npriority = 0\n"
    )
}

#[test]
fn lossless_packets_are_not_lost_for_others_at_a_slow_host() {
    let run = run(&into_a_slow_host("receive_buffer = \"300KB\", receive_threshold = \"100KB\""));
    assert!(run.drops(DropReason::BufferFull) > 300, "{:?}", run.lost());
    assert_eq!(run.all_drops(), run.drops(DropReason::BufferFull));
    let drops = &run.record.drops;
    assert!((0..drops.len()).all(|row| drops.flow_id[row] == 1));
    // The host pauses its leaf, and that pauses host 0.
    assert!(run.number("pauses.by_tier.leaf.pauses") > 0.0);
    assert!(run.number("pauses.by_tier.host.pauses") > 0.0);
}

/// What may wait: 100,000 bytes, and 2 us at 10 Gbps, three packets and a frame until the leaf
/// stops; then a packet of others.
#[test]
fn a_slow_host_s_buffer_holds_what_is_lossless() {
    let with = |buffer: u64| {
        into_a_slow_host(&format!("receive_buffer = \"{buffer}B\", receive_threshold = \"100KB\""))
    };
    let least = 100_000 + 2_500 + 3 * 1_500 + 64 + 1_500;
    assert_eq!(run(&with(least)).drops(DropReason::Headroom), 0);
    let error = refusal(&with(least - 1));
    let expected = "nic.receive_buffer: 108563B does not hold what may wait of lossless packets at \
                    host0, 107064B, and a packet of others, 1500B: receive_threshold, 100000B, and \
                    what comes until the leaf stops, for each lossless priority";
    assert_eq!(error, expected);
}

/// At 8 Gbps a packet takes 1.5 us: they come at 5, 6.5, 8 ... us, the last of 20 at 33.5 us.
const AT_8_GBPS: &str = "duration = \"1ms\"\nstop = \"20ms\"\n\
     topology = { kind = \"star\", hosts = 3, host_rate = \"8Gbps\", link_delay = \"1us\" }\n\
     transport = { kind = \"udp\", rate = \"8Gbps\" }\n\
     switch = { buffer = \"1MB\", pfc = { kind = \"static\" } }\n";

const TWENTY_PACKETS: u64 = 20 * MSS;

#[test]
fn hosts_take_in_packets_at_rates_of_their_own() {
    let two = [(0, 1, TWENTY_PACKETS, 0), (0, 2, TWENTY_PACKETS, 200_000)];
    let fct = |rates: &str| {
        let run = run_flows(&format!("{AT_8_GBPS}nic = {{ receive_rate = {rates} }}"), &two);
        [run.fct(0), run.fct(1)].map(|ps| ps / 1_000)
    };
    // At 4 Gbps, 3 us each: from 5 us on.
    let (fast, slow) = (33_500, 65_000);
    assert_eq!(fct("\"unlimited\""), [fast, fast]);
    assert_eq!(fct("\"4Gbps\""), [slow, slow]);
    for rates in [
        "{ host1 = \"4Gbps\" }",
        "{ \"0..1\" = \"4Gbps\" }",
        "{ 1 = \"4Gbps\", others = \"unlimited\" }",
        "{ others = \"4Gbps\", \"2\" = \"unlimited\" }",
    ] {
        assert_eq!(fct(rates), [slow, fast], "{rates}");
    }
}

/// From 10 us on host 1 needs 3 us for a packet: the fifth, which comes at 11 us, is taken in at 14
/// us, and the last of 20 at 59 us. If it is fast again from 21 us on, it takes in the eighth until
/// 23 us and then all that have come, and the last at 33.5 us.
#[test]
fn a_host_becomes_slow_and_fast_again() {
    let slower = [("10us", "\"4Gbps\"")];
    let both = [("10us", "\"4Gbps\""), ("21us", "\"unlimited\"")];
    for (changes, expected) in [(&slower[..], 59_000), (&both[..], 33_500)] {
        for path in ["nic.receive_rate", "nic.receive_rate.host1", "nic.receive_rate.0..1"] {
            let head = format!("{AT_8_GBPS}nic = {{ receive_rate = \"unlimited\" }}\n");
            let event = |(at, rate): &(&str, &str)| {
                format!(
                    "[[event]]\nkind = \"set\"\nkey = \"{path}\"\nvalue = {rate}\nat = \"{at}\"\n"
                )
            };
            let events: String = changes.iter().map(event).collect();
            let list = [(0, 1, TWENTY_PACKETS, 0)];
            let whole = run_flows(&format!("{head}{events}"), &list);
            assert_eq!(whole.fct(0) / 1_000, expected, "{path}");
            let mut stepped = Simulation::new(scenario_with(&with_list(&head), &columns(&list)));
            for (at, rate) in changes {
                let at = spillway_settings::quantity::time(at).unwrap();
                while stepped.run_until(at, 100) == Progress::Running {}
                let value = spillway_settings::Value::String(rate.trim_matches('"').into());
                stepped.set(&[(path, &value)]).unwrap();
            }
            assert_eq!(finish(stepped).fct(0), whole.fct(0), "{path}");
        }
    }
}

#[test]
fn rates_of_hosts_that_are_none_are_refused() {
    let nic = |rates: &str| refusal(&format!("{AT_8_GBPS}nic = {{ receive_rate = {rates} }}"));
    for (rates, expected) in [
        (
            "\"fast\"",
            "nic.receive_rate: \"fast\" is not valid; expected a rate such as \"40Gbps\", \
             \"unlimited\", or a table of hosts and rates",
        ),
        ("{ host3 = \"4Gbps\" }", "nic.receive_rate.host3: there is no host \"host3\""),
        ("{ leaf0 = \"4Gbps\" }", "nic.receive_rate.leaf0: there is no host \"leaf0\""),
        ("{ \"0..3\" = \"4Gbps\" }", "nic.receive_rate.0..3: there is no host \"0..3\""),
        ("{ \"+1\" = \"4Gbps\" }", "nic.receive_rate.+1: there is no host \"+1\""),
        (
            "{ host1 = 4 }",
            "nic.receive_rate.host1: 4 is not valid; expected a rate from 8bps to 8Tbps, such as \
             \"10Gbps\", or \"unlimited\"",
        ),
        (
            "{ host1 = \"4Gbps\", \"0..1\" = \"5Gbps\" }",
            "nic.receive_rate.0..1: host1 has another rate, too",
        ),
    ] {
        let error = nic(rates);
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    let event = |nic: &str, path: &str, value: &str| {
        let event = format!("kind = \"set\"\nkey = \"{path}\"\nvalue = {value}\nat = \"1us\"");
        refusal(&format!("{AT_8_GBPS}nic = {{ {nic} }}\n[[event]]\n{event}\n"))
    };
    let has_one = "receive_rate = \"4Gbps\"";
    for (nic, path, value, expected) in [
        (
            "",
            "nic.receive_rate",
            "\"4Gbps\"",
            "nic.receive_rate: it changes only where the scenario has a receive_rate",
        ),
        (
            has_one,
            "nic.receive_rate.host7",
            "\"4Gbps\"",
            "nic.receive_rate.host7: there is no host",
        ),
        (has_one, "nic.receive_rate", "4", "nic.receive_rate: 4 is not valid; expected a rate"),
        (has_one, "nic.receive_buffer", "\"4KB\"", "nic.receive_buffer: it cannot change"),
    ] {
        let error = event(nic, path, value);
        assert!(error.contains(expected), "{error}\n{expected}");
    }
}

/// Acks of flows to paused hosts come while those are paused.
#[test]
fn acks_that_no_pause_stops_are_warned_of_where_they_are_lossless() {
    let warnings = |switch: &str, nic: &str, kind: &str| {
        let text = format!(
            "duration = \"1ms\"\ntopology = {{ kind = \"star\", hosts = 3 }}\n\
             transport = {{ kind = \"{kind}\" }}\n\
             switch = {{ buffer = \"1MB\", pfc = {{ kind = \"static\" {switch} }}\n\
             nic = {{ {nic} }}\n"
        );
        scenario_with(&with_list(&text), &columns(&[(0, 1, 1_000, 0)])).warnings
    };
    let unpaused = "pauses_acks = false";
    let expected = "nic.pauses_acks: hosts send acks while queue class 0 is paused, and leaves count \
                    them in its headroom, which is reckoned without them: acks may be lost; with an \
                    ack_queue of their own, which is not lossless, they take none of it";
    assert_eq!(warnings("}", unpaused, "dcqcn"), [expected]);
    assert_eq!(warnings("}", "", "dcqcn"), [""; 0]);
    assert_eq!(warnings("}", unpaused, "udp"), [""; 0]);
    // Whoever says how much there is knows.
    assert_eq!(warnings(", headroom = \"3bdp\" }", unpaused, "dcqcn"), [""; 0]);
    let own_queue = "}, queues_per_port = 2, ack_queue = 0, data_queue = 1";
    assert_eq!(warnings(own_queue, unpaused, "dcqcn"), [""; 0]);
}

/// Packets of 9,000 bytes in one section of traffic: headroom is reckoned for them.
#[test]
fn headroom_is_reckoned_for_the_largest_packet_of_all_traffic() {
    let read = |pfc: &str| {
        let text = format!(
            "duration = \"1ms\"\ntopology = {{ kind = \"star\", hosts = 3 }}\n\
             switch = {{ buffer = \"1MB\", pfc = {{ kind = \"static\"{pfc} }} }}\n\
             [[traffic]]\nname = \"short\"\nkind = \"persistent\"\npairs = [[0, 2]]\n\
             [[traffic]]\nname = \"jumbo\"\nkind = \"persistent\"\npairs = [[1, 2]]\nmss = \"8948B\"\n"
        );
        Scenario::read(text.parse().unwrap(), &Sources::of(Path::new("")))
    };
    let found = read("").unwrap();
    assert_eq!(found.tiers[0].pfc.as_ref().unwrap().mtu, 9_000);
    let written = found.resolved["switch"]["pfc"]["mtu"].as_str().map(String::from);
    assert_eq!(written.as_deref(), Some("9000B"));
    let again = Scenario::read(found.resolved.clone(), &Sources::of(Path::new(""))).unwrap();
    assert_eq!(again.resolved, found.resolved);
    let error = read(", mtu = \"1500B\"").unwrap_err().to_string();
    assert!(
        error.starts_with("switch.pfc.mtu: 1500B is less than a full packet, 9000B"),
        "{error}"
    );
}

/// Leaves have lossless priorities, and the spine what `spine` says. Of three queues data without a
/// priority waits in the last one at leaves.
fn tiers(spine: &str) -> String {
    format!(
        "duration = \"1ms\"\nstop = \"20ms\"\n\
         topology = {{ kind = \"leaf-spine\", leaves = 2, spines = 1, hosts_per_leaf = 4, host_rate = \
         \"10Gbps\", fabric_rate = \"40Gbps\", link_delay = \"1us\" }}\n\
         transport = {{ kind = \"udp\", rate = \"10Gbps\" }}\n\
         [switch]\nbuffer = \"2MB\"\nqueues_per_port = 3\n\
         [switch.leaf]\ndata_queue = 2\npfc = {{ kind = \"static\", threshold = \"20KB\" }}\n\
         [switch.spine]\n{spine}\n[record]\npauses = true\n"
    )
}

const INTO_ONE: [Listed; 3] = [(0, 4, 300_000, 0), (1, 4, 300_000, 0), (2, 4, 300_000, 0)];

#[test]
fn switches_without_lossless_priorities_are_not_paused() {
    let run = run_flows(&tiers("data_queue = 2"), &INTO_ONE);
    // Frames went to the spine, which does not stop: its packets are lost at the leaf.
    assert!(run.number("pauses.frames") > 0.0 && run.drops(DropReason::Headroom) > 0);
    assert_eq!((run.number("pauses.pauses"), run.record.pauses.len()), (0.0, 0));
    let expected = "switch.pfc: a spine has none, so it does not stop when a leaf pauses it: lossless \
                    packets that come from it may be lost";
    assert_eq!(run.warnings, [expected]);
    // With them it stops, and nothing is lost.
    let pfc = "data_queue = 2\npfc = { kind = \"static\", threshold = \"20KB\" }";
    let run = run_flows(&tiers(pfc), &INTO_ONE);
    assert!(run.number("pauses.by_tier.spine.pauses") > 0.0);
    assert_eq!((run.all_drops(), run.warnings.len()), (0, 0));
}

#[test]
fn lossless_priorities_need_the_same_queues_in_all_tiers_that_have_them() {
    for (spine, paused) in [
        ("data_queue = 1\npfc = \"static\"", 2),
        ("queues_per_port = 2\npfc = \"static\"", 2),
        ("data_queue = 2\nack_queue = 2\npfc = { kind = \"static\", priorities = [0] }", 0),
    ] {
        let leaf = if paused == 0 { "priorities = [0, 2], " } else { "" };
        let text = with_list(&tiers(spine)).replace("threshold =", &format!("{leaf}threshold ="));
        let error = refusal(&text);
        let expected = format!(
            "switch.pfc.priorities: a leaf pauses queue class {paused}, and its packets wait in another \
             one at a spine, which would not stop them: both need the same queues_per_port, ack_queue \
             and data_queue"
        );
        assert_eq!(error, expected, "{spine}");
    }
}

/// Makes priorities of a random scenario lossless; `None` if its switches or NICs do not go with
/// that. The switches' buffers hold all headrooms.
fn lossless(seed: u64) -> Option<(Case, bool)> {
    let mut case = case(seed);
    // pFabric's switches and NICs choose among packets, and its senders repeat what is late without
    // end where nothing is lost.
    if case.text().contains("pfabric") {
        return None;
    }
    case.head = case.head.replace("arrivals_first = true", "");
    let mut draw = Draw(Stream::new(seed, "lossless", 0));
    let queues = case.head.lines().find_map(|line| line.strip_prefix("queues_per_port = "));
    let queues: u64 = queues.map_or(1, |queues| queues.parse().unwrap());
    let pushes_out = ["lqd", "pushout"].iter().any(|kind| case.head.contains(kind));
    let priorities = match draw.below(3) {
        0 => String::new(),
        1 => "priorities = [0], ".into(),
        _ => format!("priorities = [{}], ", draw.below(queues)),
    };
    let headroom = draw.one(&["auto", "auto", "auto", "2KB"]);
    // All of them, in a quarter.
    let are_all = Draw(Stream::new(seed, "several", 0)).once_in(4);
    let priorities = if are_all {
        format!("priorities = {:?}, ", (0..queues).collect::<Vec<u64>>())
    } else {
        priorities
    };
    let crosses = draw.one(&["shared", "shared", "headroom"]);
    let ends = draw.one(&[
        "ends = \"resume\"",
        "ends = \"resume\"",
        "ends = \"quanta\", quanta = 300, refresh_after = \"2us\"",
        "ends = \"quanta-only\", quanta = 300, refresh_after = \"2us\"",
    ]);
    let kind = draw.one(&[
        "\"static\", threshold = \"3KB\"",
        "\"static\", threshold = \"4KB\"",
        "\"dynamic\", alpha = 0.02",
        "\"dynamic\", alpha = 0.03, alpha_of = \"rate\"",
        "\"dynamic\"",
    ]);
    // Reverie's threshold, in a quarter; with its sharing policy where the scenario has that.
    let mut reverie = Draw(Stream::new(seed, "reverie", 1));
    let kind = match reverie.below(4) {
        0 => reverie.one(&[
            "\"reverie\"",
            "\"reverie\", gamma = 0.5, saturation = \"3KB\", alpha = 0.05",
            "\"reverie\", gamma = 0.9, saturation = \"6KB\", alpha = 0.02",
        ]),
        _ => kind,
    };
    let sees = if pushes_out { "lossy" } else { draw.one(&["lossy", "lossy", "all"]) };
    // Frames that nobody obeys: what headroom does not hold is lost.
    let obeyed = !Draw(Stream::new(seed, "obeyed", 0)).once_in(8);
    let pfc = format!(
        "pfc = {{ kind = {kind}, obeyed = {obeyed}, {priorities}resume_offset = \"{}\", reserve = \"{}\", headroom = \
         \"{headroom}\", mtu = \"1600B\", crosses_into = \"{crosses}\", response_time = \"{}\", sees = \"{sees}\", {ends} \
         }}",
        draw.one(&["0B", "3KB"]),
        draw.one(&["0B", "3KB"]),
        draw.one(&["0us", "700ns"]),
    );
    let buffer = draw.one(&["450KB", "600KB", "1MB"]);
    let holds_more = are_all || case.head.contains("link_delay = \"7us\"");
    let buffer = if holds_more { "2MB" } else { buffer };
    let line = |line: &str| match line.split(" = ").next() {
        Some("buffer") => format!("buffer = \"{buffer}\"\n{pfc}"),
        Some("port_fifo_packets") => "port_fifo_packets = 0".into(),
        Some("fifo_packets") => {
            let rate = draw_rate(seed);
            let (acks, pairs) = (!seed.is_multiple_of(3), seed.is_multiple_of(2));
            format!("fifo_packets = 0\npauses_acks = {acks}\nqueue_pairs = {pairs}\n{rate}")
        }
        _ => line.to_string(),
    };
    case.head = case.head.lines().map(line).collect::<Vec<_>>().join("\n");
    if !draw_rate(seed).is_empty() {
        // Behind a slow host packets wait longer than that, and fixed timeouts would repeat them
        // faster than it takes them in.
        for part in std::iter::once(&mut case.head).chain(&mut case.traffic) {
            *part = part.replace("recovery.rto_low = \"2rtt\"", "recovery.rto_low = \"300us\"");
        }
    }
    // Acks that nothing stops need more.
    let is_enough = headroom == "auto" && obeyed && !seed.is_multiple_of(3);
    Some((case, is_enough))
}

/// Some hosts take in packets slowly.
fn draw_rate(seed: u64) -> String {
    let rate = match seed % 10 {
        0 => "\"2Gbps\"",
        5 => "{ host1 = \"2Gbps\", 0 = \"unlimited\", others = \"5Gbps\" }",
        _ => return String::new(),
    };
    format!("receive_rate = {rate}\nreceive_buffer = \"600KB\"\nreceive_threshold = \"20KB\"")
}

fn check(seed: u64) -> Option<(f64, u64)> {
    let (case, is_enough) = lossless(seed)?;
    let text = case.text();
    let scenario = |text: &str| scenario_with(text, &case.list);
    let mut simulation = Simulation::new(scenario(&text));
    let mut draw = Draw(Stream::new(seed, "steps", 0));
    let progress = loop {
        let progress = simulation.run(1 + [0, 7, 100, 2000][draw.below(4) as usize]);
        assert!(simulation.is_conserved(), "seed {seed} at {}\n{text}", simulation.now());
        let events = simulation.counters().events;
        assert!(events < 5_000_000, "seed {seed} at {}\n{text}", simulation.now());
        if progress != Progress::Running {
            break progress;
        }
    };
    let run = end(simulation, progress);
    assert!(
        matches!(progress, Progress::Complete | Progress::Deadlock)
            || case.may_stall()
            || run.lacks_datagrams(&scenario(&text)),
        "seed {seed}: {progress:?}\n{text}"
    );
    // Where headroom is the formula's and links do not fail, nothing is lost for want of it.
    let lost = run.drops(DropReason::Headroom);
    let changes = text.contains("[[event]]");
    if is_enough && !changes {
        assert_eq!(lost, 0, "seed {seed}: {:?}\n{text}", run.lost());
    }
    for shortcuts in [
        Shortcuts::NONE,
        Shortcuts { pass_when_idle: false, ..Shortcuts::ALL },
        Shortcuts { deferred: false, ..Shortcuts::ALL },
    ] {
        let mut simulation = Simulation::with(scenario(&text), shortcuts);
        let progress = loop {
            let progress = simulation.run(1_000);
            let (now, events) = (simulation.now(), simulation.counters().events);
            assert!(events < 5_000_000, "seed {seed}, {shortcuts:?} at {now}\n{text}");
            if progress != Progress::Running {
                break progress;
            }
        };
        let other = end(simulation, progress);
        assert_eq!(run.flows, other.flows, "seed {seed}, {shortcuts:?}\n{text}");
        let summary = (run.summary_but_events(), other.summary_but_events());
        assert_eq!(summary.0, summary.1, "seed {seed}, {shortcuts:?}\n{text}");
        assert_eq!(run.record.drops, other.record.drops, "seed {seed}, {shortcuts:?}");
    }
    let resolved = scenario(&text).resolved.to_string();
    let again = finish(Simulation::new(scenario(&resolved)));
    assert_eq!(run.summary, again.summary, "seed {seed}, resolved");
    Some((run.number("pauses.pauses"), lost))
}

/// Runs a scenario with a row for each pause, whole and in random parts. Returns the number of its
/// pauses if it can be divided.
fn divided(seed: u64) -> Option<usize> {
    let (case, _) = lossless(seed)?;
    let scenario =
        || scenario_with(&format!("{}\n[record]\npauses = true", case.text()), &case.list);
    let parts = 2 + (seed % 3) as u16;
    let cut = Cut::at_random(&scenario().topology, parts, seed);
    let (run, alone) = Simulation::with_cut(scenario(), cut, 1 + seed as usize % 2);
    if alone.is_some() {
        return None;
    }
    let whole = finish(Simulation::new(scenario()));
    let pauses = whole.record.pauses.len();
    compare(&format!("seed {seed}"), whole, finish(run));
    Some(pauses)
}

#[test]
fn pauses_are_the_same_in_any_parts() {
    let pauses: Vec<usize> = on_all_cores(0..3_000, divided).into_iter().flatten().collect();
    let with_pauses = pauses.iter().filter(|pauses| **pauses > 0).count();
    assert!(pauses.len() > 100 && with_pauses > 40, "{} {with_pauses}", pauses.len());
}

#[test]
fn random_scenarios_with_lossless_priorities_hold() {
    let checked: Vec<(f64, u64)> = on_all_cores(0..1050, check).into_iter().flatten().collect();
    let with_pauses = checked.iter().filter(|(pauses, _)| *pauses > 0.0).count();
    let with_losses = checked.iter().filter(|(_, lost)| *lost > 0).count();
    assert!(checked.len() > 300, "{}", checked.len());
    println!("{} runs, {with_pauses} with pauses, {with_losses} with losses", checked.len());
    assert!(with_pauses > 120 && with_losses > 15, "{with_pauses} {with_losses}");
}

#[test]
#[ignore = "slow: 5000 scenarios"]
fn many_random_scenarios_with_lossless_priorities_hold() {
    on_all_cores(1_050..6_050, check);
}

/// Every AQM, with settings by which it marks in the star below.
const AQMS: [&str; 15] = [
    "{ kind = \"ecn\", threshold = \"4pkt\" }",
    "{ kind = \"ecn\", threshold = \"4pkt\", marks_at = \"departure\" }",
    "{ kind = \"red\", min = \"2pkt\", max = \"9pkt\", weight = 0.1, gentle = true }",
    "{ kind = \"ared\", min = \"2pkt\", max = \"9pkt\", weight = 0.1, interval = \"20us\" }",
    "{ kind = \"codel\", target = \"2us\", interval = \"20us\" }",
    "{ kind = \"tcn\", threshold = \"5us\" }",
    "{ kind = \"ecn-sharp\", instant = \"8us\", target = \"2us\", interval = \"20us\" }",
    "{ kind = \"pie\", target = \"3us\", update_interval = \"5us\", mark_up_to = 1.0 }",
    "{ kind = \"pie\", target = \"3us\", delay = \"rate\", update_interval = \"5us\", mark_up_to = 1.0 }",
    "{ kind = \"pred\", min = \"2pkt\", q_left = \"3pkt\", max = \"90KB\" }",
    "{ kind = \"pred\", min = \"2pkt\", fcs = false, mean = \"arrivals\" }",
    "{ kind = \"pred\", min = \"1pkt\", lambda = 2.0, qla_scope = \"port\", marks_at = \"departure\" }",
    "{ kind = \"acc\", interval = \"9us\", exploration = 0.3 }",
    "{ kind = \"mq-ecn\", rtt = \"9us\" }",
    "{ kind = \"mq-ecn\", rtt = \"5us\", alpha = 0.5, idle = \"reset\" }",
];

/// Sharing policies, of which none drops anything in the star below.
const SHARING: [&str; 15] = [
    "\"cs\"",
    "\"sp\"",
    "\"dt\"",
    "\"harmonic\"",
    "\"lqd\"",
    "\"quasi-pushout\"",
    "\"followlqd\"",
    "{ kind = \"credence\", oracle = \"always-accept\" }",
    "\"abm\"",
    "\"cbm\"",
    "\"fab\"",
    "\"fb\"",
    "\"reverie\"",
    "\"smartbuf\"",
    "\"edt\"",
];

/// Five DCTCP senders into one host, in one to three priorities, with a buffer that never fills.
fn calm(sharing: &str, aqm: &str, queues: u32, pfc: &str) -> Run {
    let flows: String = (0..queues)
        .map(|priority| {
            format!(
                "[[traffic]]\nname = \"p{priority}\"\nkind = \"poisson\"\nsizes = \"40KB\"\n\
                 load = 0.3\nload_of = \"receiver\"\ndestinations = 0\npriority = {priority}\n"
            )
        })
        .collect();
    let text = format!(
        "seed = 4\nduration = \"2ms\"\nstop = \"1s\"\n\
         topology = {{ kind = \"star\", hosts = 6, host_rate = \"10Gbps\", link_delay = \"1us\" }}\n\
         switch = {{ buffer = \"100MB\", pfc = {pfc}, queues_per_port = {queues}, aqm = {aqm}, \
         sharing = {sharing}, scheduling = \"dwrr\" }}\n\
         nic = {{ queue_limit = \"unlimited\" }}\n\
         transport = {{ kind = \"dctcp\" }}\n{flows}"
    );
    finish(Simulation::new(scenario(&text)))
}

#[test]
fn lossless_priorities_change_nothing_in_a_buffer_that_never_fills() {
    let with_aqms = AQMS.map(|aqm| (SHARING[0], aqm));
    let with_sharing = SHARING.map(|sharing| (sharing, AQMS[0]));
    for (sharing, aqm) in with_aqms.into_iter().chain(with_sharing) {
        // A virtual switch serves what it sees as if it had the port for itself.
        let is_virtual = sharing.contains("followlqd") || sharing.contains("credence");
        let cases = [(2, "[0, 1]"), (2, "[1]"), (3, "[0, 2]")];
        for &(queues, lossless) in &cases[..if is_virtual { 1 } else { 3 }] {
            let lossy = calm(sharing, aqm, queues, "\"none\"");
            let pfc = format!("{{ kind = \"dynamic\", priorities = {lossless} }}");
            let calm = calm(sharing, aqm, queues, &pfc);
            let what = format!("{sharing}, {aqm}, {queues} queues, {lossless}");
            assert!(lossy.all_drops() == 0 && lossy.number("marks") > 0.0, "{what}");
            assert_eq!(calm.number("pauses.pauses"), 0.0, "{what}");
            assert_eq!(lossy.number("marks"), calm.number("marks"), "{what}");
            assert_eq!(lossy.flows, calm.flows, "{what}");
        }
    }
}

/// What is wrong with a star of four hosts whose switch or NICs are so.
fn refused(more: &str) -> String {
    let text = format!(
        "duration = \"1ms\"\n\
         topology = {{ kind = \"star\", hosts = 4, host_rate = \"8Gbps\", link_delay = \"1us\" }}\n{more}"
    );
    refusal(&text)
}

fn refusal(text: &str) -> String {
    let given = text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"));
    let given = by_exact_clocks(given);
    let list = columns(&[(0, 1, 1, 0)]);
    let sources = Sources { flows: &|_, _| Some(list.clone()), ..Sources::of(Path::new("")) };
    match Scenario::read(given, &sources) {
        Err(error) => format!("{}: {}", error.path, error.problem),
        Ok(_) => panic!("it is read: {text}"),
    }
}

fn with(pfc: &str) -> String {
    refused(&format!("switch = {{ buffer = \"200KB\", queues_per_port = 2, pfc = {{ {pfc} }} }}"))
}

/// A port's headroom is 2 * 1,000 + 3 * 1,500 + 64 bytes, since what is shared may be full; four
/// ports have 26,256 bytes, and 16,000 of reserve.
#[test]
fn what_leaves_no_room_is_refused_with_the_reason() {
    assert_eq!(
        with("kind = \"dynamic\", headroom = \"60KB\""),
        "switch.pfc.headroom: reserves and headrooms of leaf0 are 256000B, more than its buffer, 200000B"
    );
    assert_eq!(
        refused("switch = { buffer = \"43KB\", pfc = \"static\" }"),
        "switch.pfc.headroom: reserves and headrooms of leaf0, 42256B, leave 744B of its buffer: less \
         than one packet, 1500B"
    );
    assert_eq!(
        refused("switch = { buffer = \"46KB\", pfc = { kind = \"dynamic\", alpha = 0.25 } }"),
        "switch.pfc.alpha: 0.25 of the 3744B that reserves and headrooms of leaf0 leave is a threshold of \
         936B; it must hold a packet, 1500B: else every packet pauses"
    );
    assert_eq!(
        with("kind = \"static\", threshold = \"1400B\""),
        "switch.pfc.threshold: 1400B is not valid; it must hold a packet, 1500B: else every packet pauses"
    );
    assert_eq!(
        with("kind = \"static\", threshold = \"9KB\", resume_offset = \"10KB\""),
        "switch.pfc.resume_offset: 10000B is more than threshold, 9000B"
    );
    assert_eq!(
        with("kind = \"static\", priorities = [0, 2]"),
        "switch.pfc.priorities: 2 is no queue class: queues_per_port = 2, so there are 0 to 1"
    );
    assert_eq!(
        with("kind = \"static\", priorities = [1, 1]"),
        "switch.pfc.priorities: 1 is there twice"
    );
    assert_eq!(
        with("kind = \"static\", priorities = []"),
        "switch.pfc.priorities: it is empty; without lossless priorities it is pfc = \"none\""
    );
    assert_eq!(
        with("kind = \"static\", ends = \"quanta\", quanta = 10, refresh_after = \"2us\""),
        "switch.pfc.refresh_after: 2us is not before 10 quanta are over, after 640ns at leaf0"
    );
    // 1,500 bytes take 1.5 us, and 60 quanta 3.84 us.
    let quanta = "kind = \"static\", ends = \"quanta\", quanta = 60, refresh_after";
    assert_eq!(
        with(&format!("{quanta} = \"2341ns\"")),
        "switch.pfc.refresh_after: 2.341us is too late at leaf0: a frame may have to wait for 1.5us, and 60 \
         quanta are over after 3.84us"
    );
    // A frame about the other priority may go first.
    assert_eq!(
        with(&format!("priorities = [0, 1], {quanta} = \"2277ns\"")),
        "switch.pfc.refresh_after: 2.277us is too late at leaf0: a frame may have to wait for 1.564us, and \
         60 quanta are over after 3.84us"
    );
    assert_eq!(
        with("kind = \"static\", mtu = \"1KB\""),
        "switch.pfc.mtu: 1000B is less than a full packet, 1500B (at a leaf): headroom would not suffice"
    );
}

/// At 400 Gbps 1,048 bytes take 20.96 ns, cut to 20: a host sends 4.8% more than 2 MB in the 40 us
/// that a pause takes to act. Its receiver takes in next to nothing.
#[test]
fn headroom_suffices_where_times_are_cut() {
    for (whole_ns, more_than) in [(false, 1_990_000.0), (true, 2_080_000.0)] {
        let text = format!(
            "duration = \"200us\"\nstop = \"100ms\"\n\
             [topology]\nkind = \"graph\"\nwhole_ns = {whole_ns}\nswitch = [{{ name = \"a\" }}]\n\
             host = [{{ name = \"slow\", switch = \"a\", rate = \"1Gbps\", delay = \"20us\" }},\n\
             {{ name = \"fast\", switch = \"a\", rate = \"400Gbps\", delay = \"20us\" }}]\n\
             [switch]\nbuffer = \"20MB\"\n\
             pfc = {{ kind = \"static\", threshold = \"100KB\", mtu = \"1048B\" }}\n\
             [transport]\nkind = \"dcqcn\"\npreset = \"simulator\"\n"
        );
        let run = run_flows(&text, &[(1, 0, 6_000_000, 0)]);
        assert_eq!(run.all_drops(), 0, "{whole_ns}");
        let peak = run.number("pauses.headroom_peak_bytes");
        assert!(peak > more_than, "{whole_ns}: {peak}");
    }
}

/// Where accounts alone share the rest, `auto` needs no room for the packet on which a pause is
/// sent: four ports have 4 * (2 * 1,000 + 2 * 1,500 + 64) = 20,256 bytes. Where that may be full
/// each has 1,500 more.
///
/// Static: four thresholds of 9,000 bytes and five packets, 43,500 bytes, must be left. Dynamic
/// with alpha 1: of `r` bytes four accounts leave r / 16 less a packet of (1/2 + 1/4 + 1/8 + 1/16),
/// and 7,500 must be left: with r = 142,500 (142,500 / 16 = 8,906.25, less 1,406.25).
#[test]
fn headroom_has_a_packet_more_where_what_is_shared_may_be_full() {
    let set_aside = |buffer: u64, pfc: &str| -> u64 {
        let text = format!(
            "duration = \"1ms\"\ntopology = {{ kind = \"star\", hosts = 4, host_rate = \"8Gbps\", \
             link_delay = \"1us\" }}\nswitch = {{ buffer = \"{buffer}B\", {pfc} }}\n"
        );
        let scenario = scenario_with(&with_list(&text), &columns(&[(0, 1, 1, 0)]));
        let switch = scenario.make_switch(0);
        switch.accounts().unwrap().parts().set_aside()
    };
    let (fixed, dynamic) = (
        "pfc = { kind = \"static\", threshold = \"9KB\", reserve = \"0B\" }",
        "pfc = { kind = \"dynamic\", alpha = 1.0, reserve = \"0B\" }",
    );
    for (pfc, enough) in [(fixed, 43_500), (dynamic, 142_500)] {
        assert_eq!(set_aside(20_256 + enough, pfc), 20_256, "{pfc}");
        assert_eq!(set_aside(20_256 + enough - 16, pfc), 26_256, "{pfc}");
        // Others may fill it.
        assert_eq!(set_aside(10_000_000, &format!("queues_per_port = 2, {pfc}")), 26_256);
    }
}

/// Three times 1 us at 8 Gbps are 3,000 bytes for each of four ports.
#[test]
fn headroom_may_be_a_multiple_of_what_links_hold() {
    assert_eq!(
        refused(
            "switch = { buffer = \"11KB\", pfc = { kind = \"static\", headroom = \"3bdp\", \
                 reserve = \"0B\" } }"
        ),
        "switch.pfc.headroom: reserves and headrooms of leaf0 are 12000B, more than its buffer, 11000B"
    );
}

#[test]
fn what_does_not_go_with_lossless_priorities_is_refused() {
    let of_switch = |more: &str| {
        refused(&format!("switch = {{ buffer = \"200KB\", pfc = \"dynamic\", {more} }}"))
    };
    let cases = [
        (refused("switch = { pfc = \"static\" }"), "switch.pfc.kind: not with an unlimited buffer"),
        (of_switch("port_fifo_packets = 2"), "switch.pfc.kind: not with port_fifo_packets"),
        (of_switch("scheduling = \"pfabric\""), "switch.scheduling.kind: \"pfabric\" is not valid"),
        (
            refused(
                "switch = { buffer = \"200KB\", pfc = { kind = \"dynamic\", sees = \"all\" }, \
                 sharing = \"lqd\" }",
            ),
            "switch.sharing.kind: \"lqd\" is not valid with sees = \"all\"",
        ),
        (
            refused(
                "switch = { buffer = \"200KB\", pfc = { kind = \"dynamic\", sees = \"all\" }, \
                 sharing = \"occamy\" }",
            ),
            "switch.sharing.kind: \"occamy\" is not valid with sees = \"all\" in `pfc`: it could expel",
        ),
        (refused("nic = { receive_rate = \"1Gbps\" }"), "nic.receive_rate: it needs lossless"),
        (
            refused("nic = { receive_buffer = \"1MB\" }"),
            "nic.receive_buffer: it needs `receive_rate`",
        ),
        (refused("record = { pauses = true }"), "record.pauses: it needs lossless priorities"),
    ];
    for (error, expected) in cases {
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
    for (nic, expected) in [
        ("fifo_packets = 1", "nic.fifo_packets: not with lossless priorities"),
        ("scheduling = \"pfabric\"", "nic.scheduling: \"pfabric\" is not valid with lossless"),
        (
            "receive_rate = \"1Gbps\", receive_threshold = \"1KB\"",
            "nic.receive_threshold: 1000B is not valid; it must hold a packet",
        ),
    ] {
        let error = refused(&format!(
            "switch = {{ buffer = \"200KB\", pfc = \"dynamic\" }}\nnic = {{ {nic} }}"
        ));
        assert!(error.starts_with(expected), "{error}\n{expected}");
    }
}

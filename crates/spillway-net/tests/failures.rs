//! Links that fail, recover, or lose packets: what is lost, where and when, and what continues.

use crate::common::*;
use spillway_net::simulation::Progress;
use spillway_switch::DropReason;

const US: u64 = 1_000_000;

/// 10 Gbps and 1 us at the hosts; 10 Gbps and 10 us between the switches.
const DUMBBELL: &str = r#"
    duration = "10ms"
    [topology]
    kind = "dumbbell"
    senders = 1
    receivers = 1
    host_rate = "10Gbps"
    link_delay = "1us"
    bottleneck_delay = "10us"
"#;

/// Hosts 0 and 1 on leaf 0 (switch 0), 2 and 3 on leaf 1; ports 2 and 3 of a leaf lead to the two
/// spines. Lines are numbered hosts' first: 6 and 7 lead from leaf 0 to the spines.
const LEAF_SPINE: &str = r#"
    duration = "5ms"
    stop = "10s"
    [topology]
    kind = "leaf-spine"
    leaves = 2
    spines = 2
    hosts_per_leaf = 2
    host_rate = "10Gbps"
    link_delay = "1us"
"#;

fn event(kind: &str, (a, b): (&str, &str), at: &str, until: &str, more: &str) -> String {
    let until = if until.is_empty() { String::new() } else { format!("until = \"{until}\"") };
    format!(
        "[[event]]\nkind = \"{kind}\"\na = \"{a}\"\nb = \"{b}\"\nat = \"{at}\"\n{until}\n{more}\n"
    )
}

fn times_of(run: &Run, reason: DropReason) -> Vec<u64> {
    run.lost().iter().filter(|loss| loss.reason == reason).map(|loss| loss.time_ps).collect()
}

#[test]
fn what_is_on_a_failing_link_is_lost_and_what_is_sent_to_it_too() {
    // A packet every 2.4 us. Number k starts on the middle link at 2.4 k + 2.2 us and reaches its
    // end at 2.4 k + 13.4 us.
    let down = event("link-down", ("leaf0", "leaf1"), "100us", "200us", "reroute_after = \"1s\"");
    let text = format!("{DUMBBELL}\n{down}\n[transport]\nkind = \"udp\"\nrate = \"5Gbps\"");
    let run = run_flows(&text, &[(0, 1, 100 * MSS, 0)]);
    // At 100 us numbers 37 to 40 are on it. 41 (at 100.6 us) to 82 (199.0 us) arrive while it is
    // down.
    let lost = run.lost();
    assert!(lost.iter().all(|loss| loss.reason == DropReason::LinkDown && loss.place == 0));
    let numbers: Vec<u64> = lost.iter().map(|loss| loss.seq / MSS).collect();
    assert_eq!(numbers, (37..=82).collect::<Vec<u64>>());
    let time = |number: u64| if number <= 40 { 100 * US } else { 2_400_000 * number + 2_200_000 };
    assert!(lost.iter().all(|loss| loss.time_ps == time(loss.seq / MSS)));
    assert_eq!(run.flows[0].delivered, (100 - 46) * MSS);
    assert_eq!(run.summary["drops"].to_string(), "{\"link_down\":46}");
}

#[test]
fn a_failing_link_takes_the_card_s_queue_with_it() {
    // 20 Gbps into a line of 10 Gbps: number k is made at 0.6 k us and sent at 1.2 k us; it is on
    // the line for 1.2 + 10 us.
    let text = format!(
        "duration = \"10ms\"\ntopology = {{ kind = \"star\", hosts = 2, link_delay = \"10us\" }}\n\
         transport = {{ kind = \"udp\", rate = \"20Gbps\" }}\n{}",
        event("link-down", ("host0", "leaf0"), "60.1us", "120.1us", "reroute_after = \"1s\"")
    );
    let run = run_flows(&text, &[(0, 1, 300 * MSS, 0)]);
    // At 60.1 us 0 to 40 have arrived (49.2 + 11.2 > 60.1), 41 to 50 are on the line, and 51 to 100
    // in the NIC. 101 to 200 are sent to a link that is down. 201 to 299 arrive.
    let lost = run.lost();
    let numbers: Vec<u64> = lost.iter().map(|loss| loss.seq / MSS).collect();
    assert_eq!(numbers, (41..=200).collect::<Vec<u64>>());
    assert_eq!(lost.iter().filter(|loss| loss.time_ps == 60_100_000).count(), 60);
    // In rows of losses hosts are numbered after the only switch; 1 is host 0.
    assert!(lost.iter().all(|loss| loss.place == 1));
    assert_eq!(run.flows[0].delivered, 140 * MSS);
    // Nobody retransmits: the flow waits for the lost packets until the stop, 10 s after 10 ms.
    assert_eq!((run.number("fct_us.all.max"), run.number("fct_us.all.unfinished")), (1.001e7, 1.0));
}

#[test]
fn a_link_that_is_back_carries_at_once_whatever_its_port_was_to_send() {
    // At 10 Mbps (0.8 us a byte) a packet of 65,052 bytes would occupy the NIC's line until 52 ms,
    // and the next one waits behind it. Both are lost at 1 us. A packet of 1500 bytes sent at 10 us
    // takes 2 * (1.2 ms + 1 us).
    let text = format!(
        "duration = \"1ms\"\nstop = \"1s\"\ntransport = {{ kind = \"udp\", rate = \"10Gbps\", mss = \
         \"65000B\" }}\n[topology]\nkind = \"star\"\nhosts = 2\nhost_rate = \"10Mbps\"\n\
         link_delay = \"1us\"\n{}",
        event("link-down", ("host0", "leaf0"), "1us", "5us", "")
    );
    let run = run_flows(&text, &[(0, 1, 65_000, 0), (0, 1, 64_000, 10), (0, 1, 1_448, 10_000)]);
    assert_eq!((run.all_drops(), run.fct(2)), (2, 2 * 1_201 * US));
}

#[test]
fn a_failing_link_takes_the_switch_s_queue_with_it() {
    // Two senders at 10 Gbps to host 2. From 2.2 us on, when the first two packets arrive, every
    // 1.2 us one is sent and one more has to wait. At 122.3 us the hundred-and-first is being sent.
    let star = "duration = \"10ms\"\ntopology = { kind = \"star\", hosts = 3, link_delay = \"1us\" }\n\
                transport = { kind = \"udp\", rate = \"10Gbps\" }";
    let down = event("link-down", ("leaf0", "host2"), "122.3us", "", "");
    for release in ["start", "end"] {
        let text = format!("{star}\nswitch = {{ release = \"{release}\" }}\n{down}");
        let run = run_flows(&text, &[(0, 2, 150 * MSS, 0), (1, 2, 150 * MSS, 0)]);
        // By 122.2 us (2.2 + 1.2 * 100) 2 * 101 packets have arrived. 100 have been sent, the last
        // of which has been on the line for 1.3 of its 2.2 us, and one more is being sent. So 202 -
        // 99 are lost at once.
        let lost = run.lost();
        assert_eq!(lost.iter().filter(|loss| loss.time_ps == 122_300_000).count(), 202 - 99);
        // The rest find no route and are lost as well. Nobody waits for datagrams.
        assert_eq!(run.drops(DropReason::NoRoute), 300 - 202);
        assert_eq!(run.flows[0].delivered + run.flows[1].delivered, 99 * MSS);
        assert_eq!(run.progress, Progress::Stopped);
    }
}

/// The times, among multiples of 10 us, at which a line was sending.
fn busy(run: &Run, line: u32) -> Vec<u64> {
    let links = &run.record.links;
    let rows = (0..links.len()).filter(|&row| links.link[row] == line);
    rows.map(|row| links.time_ps[row] / US).collect()
}

#[test]
fn a_packet_that_a_failure_cuts_has_taken_the_line_until_then() {
    // At 1 Mbps a packet takes 12 ms and a byte 8 us. The link fails after 4 ms and 3 us, within
    // byte 501, and once more 5 us into the next packet, which starts at 12 ms.
    let down = |at, until| event("link-down", ("leaf0", "host0"), at, until, "");
    let events = [down("4003us", "6ms"), down("12005us", "14ms")].concat();
    let text = format!(
        "duration = \"1s\"\ntopology = {{ kind = \"star\", hosts = 2, host_rate = \"1Mbps\" }}\n\
         transport = {{ kind = \"udp\", rate = \"1Mbps\" }}\n\
         record = {{ link_interval = \"1us\" }}\n{events}"
    );
    let run = run_flows(&text, &[(0, 1, 2 * MSS, 0)]);
    assert_eq!(run.drops(DropReason::LinkDown), 2);
    let sending = (1..=4_003).chain(12_001..=12_005);
    assert_eq!(busy(&run, 0), sending.collect::<Vec<u64>>());
    assert!(run.record.links.utilisation.iter().all(|&share| share == 1.0));
}

#[test]
fn routes_lead_around_a_failure_and_back() {
    // A flow of 5 MB (4 ms at least) whose packets take the first of equal next hops.
    let down =
        event("link-down", ("leaf0", "spine0"), "500us", "2000us", "reroute_after = \"100us\"");
    let text = format!(
        "{LEAF_SPINE}\n{down}\n[record]\nlink_interval = \"10us\"\n\
         [transport]\nrecovery.min_rto = \"300us\"\ninitial_window = \"20pkt\""
    );
    let mut list = columns(&[(0, 2, 5_000_000, 0)]);
    list.path = Some(vec![Some(0)]);
    list.ack_path = Some(vec![Some(0)]);
    let run = run_columns(&text, &list);
    let row = &run.flows[0];
    assert_eq!((run.progress, row.delivered), (Progress::Complete, 5_000_000));
    assert!(row.retransmitted > 0);

    // Both directions fail, so data and acks are lost, from the failure until routes change.
    let lost = run.lost();
    assert!(lost.iter().all(|loss| loss.reason == DropReason::LinkDown));
    assert!(lost.iter().all(|loss| (500 * US..=600 * US).contains(&loss.time_ps)));
    assert!(lost.iter().any(|loss| loss.size == 52) && lost.iter().any(|loss| loss.size == 1500));
    assert_eq!(lost[0].time_ps, 500 * US);

    // The first spine until 500 us; the other from 600 us, when packets flow again; the first once
    // more from 2100 us, after routes have changed.
    let (first, second) = (busy(&run, 6), busy(&run, 7));
    assert!(first.contains(&500) && !first.iter().any(|us| (511..2100).contains(us)));
    assert!(second.iter().all(|us| (600..=2110).contains(us)), "{second:?}");
    assert!(second.contains(&1500) && first.contains(&2200) && first.contains(&3500));
}

#[test]
fn routes_follow_late_even_if_the_link_is_back() {
    // Down from 500 to 600 us, but switches learn of changes 200 us later. Packets go to the first
    // spine until 700 us, then to the other, and from 800 us to the first again.
    let down =
        event("link-down", ("leaf0", "spine0"), "500us", "600us", "reroute_after = \"200us\"");
    let text = format!(
        "{LEAF_SPINE}\n{down}\n[record]\nlink_interval = \"10us\"\n\
         [transport]\nkind = \"udp\"\nrate = \"5Gbps\""
    );
    let mut list = columns(&[(0, 2, 600 * MSS, 0)]);
    list.path = Some(vec![Some(0)]);
    let run = run_columns(&text, &list);
    // Number k is at the leaf at 2.4 k + 2.2 us, so 208 (501.4 us) to 249 (599.8 us) arrive while
    // the link is down. At 500 us number 207 (from 499.0 to 501.2 us) is on the link.
    let numbers: Vec<u64> = run.lost().iter().map(|loss| loss.seq / MSS).collect();
    assert_eq!(numbers, (207..=249).collect::<Vec<u64>>());
    // Number 332, sent from 799.0 to 800.2 us, is the last on the other path.
    assert_eq!(busy(&run, 7), (710..=810).step_by(10).collect::<Vec<u64>>());
}

#[test]
fn a_link_is_up_when_all_its_failures_are_over() {
    let failures = [("100us", "300us"), ("200us", "400us"), ("250us", "260us")];
    let down =
        |(at, until)| event("link-down", ("leaf0", "leaf1"), at, until, "reroute_after = \"1s\"");
    let events: String = failures.map(down).concat();
    let text = format!("{DUMBBELL}\n{events}\n[transport]\nkind = \"udp\"\nrate = \"5Gbps\"");
    let run = run_flows(&text, &[(0, 1, 300 * MSS, 0)]);
    // From 37, as above, to the last one before 400 us: 2.4 k + 2.2 < 400 gives 165.
    let numbers: Vec<u64> = run.lost().iter().map(|loss| loss.seq / MSS).collect();
    assert_eq!(numbers, (37..=165).collect::<Vec<u64>>());
}

#[test]
fn switches_that_hear_of_failures_late_know_the_last_of_them() {
    // Two failures of one link: the second begins and ends within the first, but switches learn of
    // it 500 us later, when the first is long over. Everything is up from 1000 us on, and switches
    // know it from 1100 us (600 + 500) on.
    let failure = |at, until, after: &str| {
        let reroute_after = format!("reroute_after = \"{after}\"");
        event("link-down", ("leaf0", "spine0"), at, until, &reroute_after)
    };
    let events = [failure("400us", "600us", "500us"), failure("100us", "1000us", "0us")].concat();
    let text = format!(
        "{LEAF_SPINE}\n{events}\n[record]\nlink_interval = \"10us\"\n\
         [transport]\nkind = \"udp\"\nrate = \"5Gbps\""
    );
    let mut list = columns(&[(0, 2, 600 * MSS, 0)]);
    list.path = Some(vec![Some(0)]);
    let run = run_columns(&text, &list);
    let (first, second) = (busy(&run, 6), busy(&run, 7));
    assert_eq!(first[..10], (10..=100).step_by(10).collect::<Vec<u64>>());
    assert_eq!(first[10..13], [1110, 1120, 1130]);
    assert_eq!(second, (110..=1110).step_by(10).collect::<Vec<u64>>());
    // What was on the link at 100 us is lost: number 40, there from 98.2 to 100.4 us.
    let numbers: Vec<u64> = run.lost().iter().map(|loss| loss.seq / MSS).collect();
    assert_eq!(numbers, [40]);
}

#[test]
fn losses_of_one_link_add_up() {
    let lossy = |at, until| event("link-loss", ("leaf0", "leaf1"), at, until, "rate = 0.5");
    let events = [lossy("1ms", "4ms"), lossy("2ms", "3ms")].concat();
    let text = format!("{DUMBBELL}\n{events}\n[transport]\nkind = \"udp\"\nrate = \"10Gbps\"");
    let run = run_flows(&text, &[(0, 1, 5_000 * MSS, 0)]);
    let times = times_of(&run, DropReason::LinkLoss);
    // 833 packets per millisecond: half of them are lost, then three quarters, then half again;
    // standard deviations 833 * sqrt(p (1 - p) / 833) = 14.4 and 12.5.
    for (ms, expected) in [(0, 0), (1, 417), (2, 625), (3, 417), (4, 0)] {
        let lost = times.iter().filter(|&&time| time / (1_000 * US) == ms).count() as i64;
        assert!((lost - expected).abs() <= if expected == 0 { 0 } else { 58 }, "{ms}: {lost}");
    }
}

#[test]
fn a_lossy_link_loses_its_share_in_both_directions() {
    let lossy = |rate: &str| event("link-loss", ("leaf0", "leaf1"), "1ms", "5ms", rate);
    let text = format!(
        "{DUMBBELL}\n{}\n[transport]\nkind = \"udp\"\nrate = \"10Gbps\"",
        lossy("rate = 0.1")
    );
    // 3333 packets in 4 ms from each side: 2 * 333 are lost, standard deviation sqrt(6666 * 0.1 *
    // 0.9) = 24.5.
    let run = run_flows(&text, &[(0, 1, 5_000 * MSS, 0), (1, 0, 5_000 * MSS, 0)]);
    let times = times_of(&run, DropReason::LinkLoss);
    assert_eq!(run.all_drops(), times.len() as u64);
    assert!((times.len() as i64 - 667).abs() < 4 * 25, "{}", times.len());
    assert!(times.iter().all(|time| (1_000 * US..5_000 * US).contains(time)));
    for switch in [0, 1] {
        let there = run.lost().iter().filter(|loss| loss.place == switch).count() as i64;
        assert!((there - 333).abs() < 4 * 17, "{there}");
    }
    let delivered = run.flows[0].delivered + run.flows[1].delivered;
    assert_eq!(delivered, (10_000 - times.len() as u64) * MSS);
    // Another seed loses other packets.
    let other =
        run_flows(&format!("seed = 2\n{text}"), &[(0, 1, 5_000 * MSS, 0), (1, 0, 5_000 * MSS, 0)]);
    assert_ne!(times, times_of(&other, DropReason::LinkLoss));
    // rate = 1 loses everything.
    let text = format!(
        "{DUMBBELL}\n{}\n[transport]\nkind = \"udp\"\nrate = \"5Gbps\"",
        lossy("rate = 1.0")
    );
    let run = run_flows(&text, &[(0, 1, 3_000 * MSS, 0)]);
    // 2.4 k + 2.2 us lies from 1000 us to before 5000 us: 416 to 2082.
    assert_eq!(run.drops(DropReason::LinkLoss), 2082 - 416 + 1);
}

#[test]
fn flows_get_over_losses_and_are_whole() {
    for transport in ["dctcp", "newreno"] {
        let lossy = event("link-loss", ("leaf0", "leaf1"), "0us", "", "rate = 0.02");
        let text = format!(
            "{DUMBBELL}\n{lossy}\n[transport]\nkind = \"{transport}\"\nrecovery.min_rto = \"300us\"\n\
             handshake = true\nrecovery.initial_rto = \"1ms\""
        );
        let flows: Vec<Listed> = (0..30).map(|i| (0, 1, 100_000, i * 50_000)).collect();
        let run = run_flows(&text, &flows);
        assert!(run.flows.iter().all(|row| row.delivered == 100_000 && row.fct_ps.is_some()));
        // About 2100 data packets and as many acks: 80 are lost, standard deviation 9.
        assert!((44..130).contains(&run.drops(DropReason::LinkLoss)));
        assert!(run.counters.retransmitted_packets >= 30);
    }
}

#[test]
fn a_host_without_its_link_is_unreachable_until_it_is_back() {
    let down = event("link-down", ("leaf1", "host2"), "100us", "3ms", "reroute_after = \"20us\"");
    let text = format!(
        "{LEAF_SPINE}\n{down}\n[transport]\nrecovery.min_rto = \"1ms\"\nrecovery.initial_rto = \"1ms\""
    );
    // One flow is under way; another starts while its receiver cannot be reached.
    let run =
        run_flows(&text, &[(0, 2, 300_000, 0), (1, 2, 20_000, 1_000_000), (0, 3, 300_000, 0)]);
    assert_eq!(run.progress, Progress::Complete);
    assert!(run.flows.iter().all(|row| row.fct_ps.is_some() && row.delivered == row.size));
    assert!(run.drops(DropReason::LinkDown) > 0 && run.drops(DropReason::NoRoute) > 0);
    // Without a route packets are lost at the first switch, until 3.02 ms.
    for loss in run.lost() {
        match loss.reason {
            DropReason::NoRoute => assert!((120 * US..=3_020 * US).contains(&loss.time_ps)),
            reason => assert_eq!(reason, DropReason::LinkDown),
        }
    }
    let no_route = run.lost().into_iter().filter(|loss| loss.reason == DropReason::NoRoute);
    assert!(no_route.clone().all(|loss| loss.flow != 1 || loss.place == 0));
    // The bound for slowdowns is that of the network without failures: 20 KB take at least 13
    // packets of 1.2 us and one of 1228 B over 4 links, and 4 us of propagation.
    let late = &run.flows[2];
    assert_eq!((late.src, late.size), (1, 20_000));
    let ideal = 13 * 1_200_000 + 4 * (1_176 + 52) * 800 + 4 * US;
    assert_eq!(late.ideal_ps, ideal);
    assert!(late.fct_ps > Some(2_000 * US) && late.timeouts >= 1);
}

#[test]
fn a_host_that_never_comes_back_leaves_its_flow_unfinished() {
    let down = event("link-down", ("leaf1", "host2"), "100us", "", "");
    let text = LEAF_SPINE.replace("10s", "50ms");
    let run = run_flows(&format!("{text}\n{down}"), &[(0, 2, 300_000, 0), (0, 3, 300_000, 0)]);
    assert_eq!(run.progress, Progress::Stopped);
    assert_eq!((run.flows[0].fct_ps, run.flows[1].fct_ps.is_some()), (None, true));
    assert!(run.flows[0].delivered < 300_000);
    assert_eq!(run.summary["status"], "stopped");
    assert_eq!(run.number("fct_slowdown.all.unfinished"), 1.0);
    // It counts with the time waited.
    assert_eq!(run.number("fct_us.all.max"), 50_000.0);
}

#[test]
fn an_event_on_a_link_that_is_not_there_is_refused_with_those_that_are() {
    let refused = |network: &str, (a, b): (&str, &str), more: &str| {
        let event = event("link-down", (a, b), "1us", "", more);
        let sources = spillway_net::scenario::Sources::of(std::path::Path::new(""));
        let given = format!("{network}\n{event}").parse().expect("this is TOML");
        let read = spillway_net::scenario::Scenario::read(given, &sources);
        read.expect_err("there is no such link").to_string()
    };
    for (ends, more, problem) in [
        (
            ("leaf0", "spine0"),
            "parallel = 1",
            "event.0.parallel: 1 is not a link from leaf0 to spine0; there is only 0",
        ),
        (
            ("leaf0", "leaf1"),
            "",
            "event.0.b: no link leads from leaf0 to leaf1; those of leaf0 lead to host0, host1, \
             spine0, spine1",
        ),
        (
            ("host3", "leaf0"),
            "parallel = 3",
            "event.0.b: no link leads from host3 to leaf0; those of host3 lead to leaf1",
        ),
        (
            ("leaf2", "spine0"),
            "",
            "event.0.a: there is no \"leaf2\" in this topology; there are host0 to host3, leaf0, \
             leaf1, spine0, spine1\nhint: did you mean `leaf0`?",
        ),
        (
            ("leaf0", "switch17"),
            "",
            "event.0.b: there is no \"switch17\" in this topology; there are host0 to host3, leaf0, \
             leaf1, spine0, spine1",
        ),
    ] {
        assert_eq!(refused(LEAF_SPINE, ends, more), problem, "{ends:?}");
    }
    let parallel = format!("{LEAF_SPINE}\nlinks_per_pair = 3");
    assert_eq!(
        refused(&parallel, ("spine1", "leaf1"), "parallel = 3"),
        "event.0.parallel: 3 is not a link from spine1 to leaf1; there are 3, from 0 to 2"
    );
    let lone = "duration = \"1ms\"\n[topology]\nkind = \"graph\"\n\
                switch = [{ name = \"s\" }, { name = \"lone\" }]\n\
                host = [{ name = \"x\", switch = \"s\", rate = \"1Gbps\", delay = \"1us\" },\
                { name = \"y\", switch = \"s\", rate = \"1Gbps\", delay = \"1us\" }]";
    assert_eq!(
        refused(lone, ("spine0", "leaf0"), ""),
        "event.0.b: no link leads from spine0 to leaf0, nor anywhere else"
    );
    assert_eq!(
        refused(lone, ("leaf0", "host0"), "[record]\ndecisions_switch = 1\ndecisions_port = 0"),
        "record.decisions_port: 0 is not a port of spine0; there are none"
    );
    // A graph's own names, one of which belongs to two nodes.
    let named = &lone.replace("\"lone\"", "\"leaf0\"");
    assert_eq!(
        refused(named, ("s", "spine0"), ""),
        "event.0.b: no link leads from s to spine0; those of s lead to host0, host1"
    );
    assert_eq!(
        refused(named, ("x", "leaf0"), ""),
        "event.0.b: \"leaf0\" may be leaf0 (\"s\" in the topology) or spine0 (\"leaf0\" in the \
         topology)\nhint: take the one's name that no other has"
    );
    assert_eq!(
        refused(lone, ("loan", "x"), ""),
        "event.0.a: there is no \"loan\" in this topology; there are host0, host1, leaf0, spine0\n\
         hint: did you mean `lone`?"
    );
    assert_eq!(
        refused(named, ("s", "x"), "[record]\ndecisions_switch = \"leaf0\""),
        "record.decisions_switch: \"leaf0\" may be leaf0 (\"s\" in the topology) or spine0 \
         (\"leaf0\" in the topology)\nhint: take the one's name that no other has"
    );
    assert_eq!(
        refused(lone, ("s", "x"), "[record]\nport_interval = \"1us\"\nport_switch = \"host0\""),
        "record.port_switch: there is no \"host0\" in this topology; there are leaf0, spine0"
    );
    let tree = "duration = \"1ms\"\n[topology]\nkind = \"fat-tree\"\nk = 16";
    assert_eq!(
        refused(tree, ("aggregation9", "core0"), ""),
        "event.0.b: no link leads from aggregation9 to core0; those of aggregation9 lead to leaf8 \
         to leaf15, core8 to core15"
    );
}

#[test]
fn a_graph_s_own_names_mean_what_those_of_results_mean() {
    let read = |(a, b): (&str, &str), switch: &str| {
        let text = format!(
            r#"
            duration = "1ms"
            traffic = []
            [topology]
            kind = "graph"
            switch = [{{ name = "left" }}, {{ name = "right" }}]
            host = [
                {{ name = "x", switch = "right", rate = "1Gbps", delay = "1us" }},
                {{ name = "y", switch = "left", rate = "1Gbps", delay = "1us" }},
            ]
            link = [{{ a = "left", b = "right", rate = "1Gbps", delay = "1us" }}]
            [[event]]
            a = "{a}"
            b = "{b}"
            at = "1us"
            [record]
            decisions = 1
            decisions_switch = {switch}
            port_interval = "1us"
            port_switch = {switch}
            "#
        );
        let scenario = scenario(&text);
        let record = &scenario.recording;
        (scenario.events[0].line, record.decisions.switch, record.port_switch)
    };
    let right = read(("leaf1", "leaf0"), "1");
    assert_eq!((right.1, right.2), (Some(1), Some(1)));
    for (ends, switch) in [
        (("right", "left"), "\"right\""),
        (("right", "leaf0"), "\"leaf1\""),
        (("leaf1", "left"), "\"right\""),
    ] {
        assert_eq!(read(ends, switch), right, "{ends:?}");
    }
    assert_eq!(read(("x", "right"), "1").0, read(("host0", "leaf1"), "1").0);
    assert_ne!(read(("y", "left"), "1").0, read(("x", "right"), "1").0);
}

#[test]
fn a_number_that_is_a_switch_s_name_means_that_switch() {
    let network = r#"
        duration = "1ms"
        traffic = []
        [topology]
        kind = "graph"
        switch = [{ name = "7" }, { name = "0" }, { name = "s" }]
        host = [
            { name = "x", switch = "7", rate = "1Gbps", delay = "1us" },
            { name = "y", switch = "0", rate = "1Gbps", delay = "1us" },
        ]
        link = [
            { a = "7", b = "0", rate = "1Gbps", delay = "1us" },
            { a = "0", b = "s", rate = "1Gbps", delay = "1us" },
        ]
    "#;
    let switch_of = |given: &str| scenario(given).recording.decisions.switch;
    for (given, switch) in [
        ("7", 0),
        ("\"7\"", 0),
        ("\"leaf0\"", 0),
        ("0", 1),
        ("\"0\"", 1),
        ("1", 1),
        ("\"1\"", 1),
        ("2", 2),
        ("\"s\"", 2),
    ] {
        let text = format!("{network}\n[record]\ndecisions = 1\ndecisions_switch = {given}");
        assert_eq!(switch_of(&text), Some(switch), "{given}");
        let resolved = scenario(&text).resolved.to_string();
        assert_eq!(switch_of(&resolved), Some(switch), "{resolved}");
    }
    // An event names its ends; a number is no name unless somebody is called so.
    let event = |a: &str, b: &str| format!("{network}\n[[event]]\na = {a}\nb = {b}\nat = \"1us\"");
    let line = |a: &str, b: &str| scenario(&event(a, b)).events[0].line;
    assert_eq!(line("7", "0"), line("\"7\"", "\"0\""));
    assert_eq!(line("7", "0"), line("\"leaf0\"", "\"leaf1\""));
    let sources = spillway_net::scenario::Sources::of(std::path::Path::new(""));
    let given = event("2", "0").parse().expect("this is TOML");
    let error = spillway_net::scenario::Scenario::read(given, &sources).unwrap_err().to_string();
    assert!(error.contains("event.0.a: there is no \"2\" in this topology"), "{error}");
}

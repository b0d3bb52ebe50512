//! Losses where packets of a flow overtake each other: found by the order within a priority, by
//! duplicate acks, and by timeouts alone.

use crate::common::{Listed, Run, columns, finish, scenario_with};
use spillway_net::simulation::Simulation;
use spillway_traffic::FlowColumns;

/// Four hosts at a switch; a byte takes 1 ns, and each line delays by 1 us. All segments of a flow
/// leave at once. A packet has 1,000 bytes of payload and 4 that tell its number, an ack 50 and 4.
fn text(switch: &str, transport: &str) -> String {
    format!(
        "duration = \"10ms\"
         topology = {{ kind = \"star\", hosts = 4, host_rate = \"8Gbps\", link_delay = \"1us\" }}
         switch = {{ {switch} }}
         transport = {{ kind = \"dctcp\", mss = \"1000B\", header = \"0B\", ack_size = \"50B\", \
         initial_window = \"100pkt\", {transport} }}
         [[traffic]]
         name = \"list\"
         kind = \"flows\"
         file = \"list\"
         [record]
         repairs = true"
    )
}

const ORDER: &str = "recovery.kind = \"per-priority\"";
const FIVE: &str = "queues_per_port = 5, scheduling = \"strict\"";
const SLIDES: &str = "tagging = { kind = \"qclimb\", thresholds = [\"1KB\", \"3KB\", \"5KB\"] }";

fn run(text: &str, list: &FlowColumns) -> Run {
    finish(Simulation::new(scenario_with(text, list)))
}

/// The numbers of all flows that are known and not 0.
fn counts(run: &Run) -> Vec<(String, u64)> {
    let all = run.summary["repairs"]["all"].as_object().unwrap();
    let known = all.iter().filter_map(|(name, count)| Some((name.clone(), count.as_u64()?)));
    known.filter(|(_, count)| *count > 0).collect()
}

fn named(counts: &[(&str, u64)]) -> Vec<(String, u64)> {
    counts.iter().map(|&(name, count)| (name.into(), count)).collect()
}

/// One flow of 1,000-byte segments from host 0 to host 2, with a bound.
fn bounded(segments: u64, bound: u64) -> FlowColumns {
    let bound_bytes = Some(vec![Some(bound * 1_000)]);
    FlowColumns { bound_bytes, ..columns(&[(0, 2, segments * 1_000, 0)]) }
}

/// 2 * (1.004 + 1) us: the four bytes take 4 ns on each line.
#[test]
fn one_packet_pays_for_its_number() {
    let list = columns(&[(0, 2, 1_000, 0)]);
    assert_eq!(run(&text("", ORDER), &list).fct(0), 4_008_000);
    let free = format!("{ORDER}, recovery.number_bytes = \"0B\"");
    assert_eq!(run(&text("", &free), &list).fct(0), 4_000_000);
}

/// The slides' first flow: a3 leaves the NIC right after a0, before a1 and a2. The last of seven
/// packets leaves the host at 7.028 us and the switch 2.004 us later.
#[test]
fn one_packet_that_overtakes_two_is_no_loss() {
    let run = run(&text(FIVE, &format!("{ORDER}, {SLIDES}")), &bounded(7, 4));
    assert_eq!((run.fct(0), run.flows[0].retransmitted), (10_032_000, 0));
    assert_eq!(counts(&run), named(&[("overtaking_packets", 1)]));
}

/// Of 12 packets with a bound of 9, the priorities are 4 4 4 4 3 3 2 2 1 4 4 4. After a0 the NIC
/// sends a8, a6 and a7, which three duplicate acks tell of: a1 goes again for nothing. a8, a6 and
/// a7, a4 and a5 come before a1 to a3, and a8 before a6 and a7.
#[test]
fn three_packets_that_overtake_are_a_loss_to_those_who_count_duplicates() {
    let of = |losses: &str| run(&text(FIVE, &format!("{losses}, {SLIDES}")), &bounded(12, 9));
    let by_order = of(ORDER);
    assert_eq!(by_order.fct(0), (12 * 1_004 + 1_000 + 1_004 + 1_000) * 1_000);
    assert_eq!(counts(&by_order), named(&[("overtaking_packets", 5)]));
    for way in ["sack", "duplicate-acks"] {
        let counts = counts(&of(&format!("recovery.kind = \"{way}\"")));
        let count = |name: &str| counts.iter().find(|(known, _)| known == name).map(|&(_, n)| n);
        let repairs = count("repairs_by_detection").unwrap();
        assert_eq!(count("arrived_twice"), Some(repairs), "{way}: {counts:?}");
    }
    let alone = of("recovery.kind = \"timeout-only\"");
    assert_eq!((alone.flows[0].retransmitted, alone.fct(0)), (0, 12 * 1_000_000 + 3_000_000));
}

/// To host 2: a0 and a1 from host 0 at once, and b0 to b5 from host 1 at 0.5 us, all of one
/// priority. They reach the switch at 2.004, 3.008 and at 2.504, 3.508, ... us; one packet may
/// wait.
///
/// | us | |
/// | --- | --- |
/// | 2.504 | b0 waits for a0 |
/// | 3.008 | b0 is sent, a1 waits |
/// | 3.508 | b1 is dropped |
/// | 4.012 | a1 is sent |
/// | 4.512 | b2 waits until 5.016, and each of the others 0.504 us as well |
/// | 9.028 | b4 is at host 2, which begins to be sent at 7.024 us |
/// | 11.136 | its ack, of 54 bytes, is at host 1: two lines take 2 * 1.054 us. b1 goes again |
/// | 15.144 | b1 is at host 2: 4.008 us later |
const LOSS: [Listed; 2] = [(0, 2, 2_000, 0), (1, 2, 6_000, 500)];

#[test]
fn one_loss_is_found_by_the_third_later_packet_of_its_priority() {
    let run = run(&text("queue_limit = \"1pkt\"", ORDER), &columns(&LOSS));
    assert_eq!(run.all_drops(), 1);
    assert_eq!(run.fct(1), 15_144_000 - 500_000);
    let one = ["lost_packets", "repairs_by_detection", "right_detections"].map(|name| (name, 1));
    assert_eq!(counts(&run), named(&one));
    let right = &run.record.repairs.as_ref().unwrap().right_detections;
    assert_eq!((right.len(), right.iter().sum::<u32>()), (2, 1));
}

/// The same without the bytes for numbers: where nothing overtakes, three duplicate acks tell as
/// much.
#[test]
fn on_one_path_with_one_priority_duplicate_acks_find_the_same_loss() {
    let of = |losses: &str| run(&text("queue_limit = \"1pkt\"", losses), &columns(&LOSS)).fct(1);
    let by_order = of(&format!("{ORDER}, recovery.number_bytes = \"0B\""));
    assert_eq!(by_order, of("recovery.kind = \"duplicate-acks\""));
    assert_eq!(by_order, of("recovery.kind = \"sack\""));
    // 10 ms after the last ack that moved on: that of b0.
    let alone = of("recovery.kind = \"timeout-only\"");
    assert!(alone > 10_000_000_000, "{alone}");
}

/// Two paths: packets of one priority overtake each other, and are taken to be lost.
#[test]
fn sprayed_packets_are_taken_to_be_lost_that_are_only_late() {
    let list: Vec<Listed> =
        (0..8).map(|n| (n % 4, 4 + n % 3, 200_000, u64::from(n) * 1_000)).collect();
    let of = |routing: &str| {
        let text = text("buffer = \"40KB\"", ORDER).replace(
            "kind = \"star\", hosts = 4, host_rate = \"8Gbps\"",
            "kind = \"leaf-spine\", leaves = 2, hosts_per_leaf = 4, spines = 2, \
             host_rate = \"8Gbps\", fabric_rate = \"8Gbps\"",
        );
        run(&format!("routing = {{ kind = \"{routing}\" }}\n{text}"), &columns(&list))
    };
    let (one_path, sprayed) = (of("ecmp"), of("spray"));
    let wrong = |run: &Run| run.number("repairs.all.wrong_detections");
    assert_eq!((wrong(&one_path), one_path.number("repairs.all.overtaking_packets")), (0.0, 0.0));
    assert!(one_path.number("repairs.all.right_detections") > 0.0);
    assert!(wrong(&sprayed) > 0.0 && sprayed.number("repairs.all.overtaking_packets") > 0.0);
}

/// From host 0 at switch a to host 1 at switch b: straight on, with 1 us of delay, or by switch c,
/// with 5 us on both of its links. The link from a to b is down at a time, of which switches know
/// at once.
fn with_detour(down: &str) -> Run {
    let topology = "topology = { kind = \"graph\", \
        switch = [{ name = \"a\" }, { name = \"b\" }, { name = \"c\" }], \
        host = [{ name = \"x\", switch = \"a\", rate = \"8Gbps\", delay = \"1us\" }, \
                { name = \"y\", switch = \"b\", rate = \"8Gbps\", delay = \"1us\" }], \
        link = [{ a = \"a\", b = \"b\", rate = \"8Gbps\", delay = \"1us\" }, \
                { a = \"a\", b = \"c\", rate = \"8Gbps\", delay = \"5us\" }, \
                { a = \"c\", b = \"b\", rate = \"8Gbps\", delay = \"5us\" }] }";
    let star =
        "topology = { kind = \"star\", hosts = 4, host_rate = \"8Gbps\", link_delay = \"1us\" }";
    let text = text("", ORDER).replace(star, topology);
    assert!(text.contains("graph"));
    let event = format!("[[event]]\nkind = \"link-down\"\na = \"a\"\nb = \"b\"\n{down}");
    run(&format!("{text}\n{event}"), &columns(&[(0, 1, 8_000, 0)]))
}

/// Eight packets are at switch a at 2.004, 3.008, ... 9.032 us.
///
/// | us | |
/// | --- | --- |
/// | 5.5 | the link fails: a0 and a1 are at switch b, a2 and a3 are on the link and lost |
/// | 6.020 | a4 goes by switch c |
/// | 22.040 | a6 is at host 1, 2 * 6.004 + 2 * 2.004 us after its sending began at 6.024 |
/// | 34.256 | its ack is back by c, 2 * 5.054 + 2 * 1.054 us later, the third: a2 goes again |
/// | 35.260 | a3 goes again |
/// | 51.276 | a3 is at host 1, 16.016 us later |
#[test]
fn what_a_failing_link_takes_is_found_by_what_goes_around_it() {
    let run = with_detour("at = \"5.5us\"");
    assert_eq!(run.fct(0), 51_276_000);
    let two = ["lost_packets", "repairs_by_detection", "right_detections"].map(|name| (name, 2));
    assert_eq!(counts(&run), named(&two));
}

/// The link is down at first, and a0 to a3 go by switch c. From 5.5 us on it carries a4 to a7,
/// which overtake them: a4 is at host 1 at 10.028 us, a6 at 12.036, and its ack, the third, at host
/// 0 3.162 us later, at 15.198. Four packets are taken to be lost. Host 1 has a3 and so all at
/// 19.028 us, 16.016 us after it was sent at 3.012.
#[test]
fn packets_that_took_a_longer_way_before_are_taken_to_be_lost() {
    let run = with_detour("at = \"0us\"\nuntil = \"5.5us\"");
    assert_eq!(run.fct(0), 19_028_000);
    let names = ["repairs_by_detection", "arrived_twice", "overtaking_packets", "wrong_detections"];
    assert_eq!(counts(&run), named(&names.map(|name| (name, 4))));
}

//! A single packet, or a single flow: its time must be what arithmetic gives, to the picosecond.
//!
//! A full packet has 1500 bytes, 52 of them header; an ack 52. At 10 Gbps a byte takes 0.8 ns, so
//! they take 1.2 us and 41.6 ns; at 25 Gbps (0.32 ns) 480 and 16.64 ns; at 100 Gbps (0.08 ns) 120
//! and 4.16 ns; at 1 Gbps (8 ns) 12 us and 416 ns.

use crate::common::*;
use proptest::prelude::*;

const NS: u64 = 1_000;
const US: u64 = 1_000_000;

const STAR: &str = r#"kind = "star"
hosts = 4
host_rate = "10Gbps"
link_delay = "3us""#;

const LONG_STAR: &str = r#"kind = "star"
hosts = 2
host_rate = "10Gbps"
link_delay = "10us""#;

/// Hosts 0 and 1 are on one leaf, 2 and 3 on the other.
const LEAF_SPINE: &str = r#"kind = "leaf-spine"
leaves = 2
spines = 2
hosts_per_leaf = 2
host_rate = "25Gbps"
fabric_rate = "100Gbps"
link_delay = "1us""#;

/// Hosts 0 to 3 are in the first pod, 12 to 15 in the last.
const FAT_TREE: &str = r#"kind = "fat-tree"
k = 4
host_rate = "10Gbps"
link_delay = "1us""#;

const FAST_CORE: &str = r#"kind = "fat-tree"
k = 4
host_rate = "10Gbps"
fabric_rate = "40Gbps"
link_delay = "1us"
core_delay = "4us""#;

const SLOW_MIDDLE: &str = r#"kind = "dumbbell"
senders = 1
receivers = 1
host_rate = "10Gbps"
bottleneck_rate = "1Gbps"
link_delay = "1us"
bottleneck_delay = "10us""#;

/// A fast line first, then one whose time per byte is not a whole number of picoseconds, then a
/// slower one.
const UNEQUAL: &str = r#"kind = "graph"
switch = [{ name = "a" }, { name = "b" }]
host = [
    { name = "src", switch = "a", rate = "100Gbps", delay = "1us" },
    { name = "dst", switch = "b", rate = "1Gbps", delay = "2us" },
]
link = [{ a = "a", b = "b", rate = "3Gbps", delay = "5us" }]"#;

/// The completion time of a flow of `size` bytes alone, from host 0 to `dst`.
fn alone(topology: &str, transport: &str, dst: u32, size: u64) -> Run {
    let text = format!(
        "duration = \"1ms\"\nstop = \"1s\"\n[topology]\n{topology}\n[transport]\n{transport}"
    );
    run_flows(&text, &[(0, dst, size, 5)])
}

fn fct(topology: &str, transport: &str, dst: u32, size: u64) -> u64 {
    alone(topology, transport, dst, size).fct(0)
}

const DATAGRAMS: &str = "kind = \"udp\"\nrate = \"10Gbps\"";
const WHOLE: &str = "initial_window = \"flow\"";

#[test]
fn one_packet_is_stored_and_forwarded_at_every_hop() {
    for (topology, dst, expected) in [
        // 2 * (1.2 + 3) us.
        (STAR, 1, 8_400 * NS),
        // 2 links within the rack: 2 * (480 ns + 1 us); 4 across: 480 + 120 + 120 + 480 ns + 4 us.
        (LEAF_SPINE, 1, 2_960 * NS),
        (LEAF_SPINE, 2, 5_200 * NS),
        // Within the rack, within the pod, across pods: 2, 4 and 6 * (1.2 + 1) us.
        (FAT_TREE, 1, 4_400 * NS),
        (FAT_TREE, 2, 8_800 * NS),
        (FAT_TREE, 15, 13_200 * NS),
        // 40 Gbps take 300 ns: 2 * (1.2 + 1) + 2 * (0.3 + 1) + 2 * (0.3 + 4) us.
        (FAST_CORE, 15, 15_600 * NS),
        // (1.2 + 1) + (12 + 10) + (1.2 + 1) us.
        (SLOW_MIDDLE, 1, 26_400 * NS),
        // 3 Gbps are 2667 ps for a byte: 0.12 + 4.0005 + 12 us, and 8 us of propagation.
        (UNEQUAL, 1, 24_120_500),
    ] {
        for transport in [DATAGRAMS, WHOLE, "initial_window = \"1pkt\""] {
            assert_eq!(fct(topology, transport, dst, MSS), expected, "{topology}\n{transport}");
        }
    }
}

#[test]
fn packets_far_apart_on_a_long_line_keep_their_times() {
    // A line with a delay of 20 ms holds three packets at a time, 4.2 and 4.4 ms apart; a u32 of
    // picoseconds ends at 4.295 ms. Each packet takes 2 * (1.2 us + 20 ms).
    let text = "duration = \"10ms\"\nstop = \"1s\"\n[topology]\nkind = \"star\"\nhosts = 2\n\
                host_rate = \"10Gbps\"\nlink_delay = \"20ms\"\n[transport]\nkind = \"udp\"\n\
                rate = \"10Gbps\"";
    let run = run_flows(text, &[(0, 1, MSS, 5), (0, 1, MSS, 4_200_000), (0, 1, MSS, 8_600_000)]);
    assert_eq!([0, 1, 2].map(|flow| run.fct(flow)), [40_002_400 * NS; 3]);
}

#[test]
fn sprayed_packets_are_held_to_the_narrowest_stage() {
    // 1000 packets of 1500 bytes over two uplinks of 10 Gbps: 600 us, and 4 us of propagation. The
    // hosts' lines, of 100 Gbps, take 120 us.
    let text = "duration = \"1ms\"\nstop = \"1s\"\n[topology]\nkind = \"leaf-spine\"\n\
                leaves = 2\nspines = 2\nhosts_per_leaf = 1\nhost_rate = \"100Gbps\"\n\
                fabric_rate = \"10Gbps\"\nlink_delay = \"1us\"\n[routing]\nkind = \"spray\"\n\
                [transport]\ninitial_window = \"flow\"\nrecovery.dupthresh = 1000";
    let run = run_flows(text, &[(0, 1, 1000 * MSS, 5)]);
    assert_eq!(run.flows[0].ideal_ps, 604_000 * NS);
    // One packet more or fewer on one of the two, and the other links of the last packet.
    let late = run.fct(0) - run.flows[0].ideal_ps;
    assert!(late < 60_000 * NS, "{late}");
}

#[test]
fn a_packet_of_one_byte_has_its_header() {
    // 53 bytes: 2 * (42.4 + 3000) ns.
    assert_eq!(fct(STAR, DATAGRAMS, 1, 1), 6_084_800);
    // 53 bytes with headers of 40 instead of 52: 41 bytes, 2 * (32.8 + 3000) ns.
    assert_eq!(fct(STAR, "header = \"40B\"", 1, 1), 6_065_600);
}

#[test]
fn the_packets_behind_the_first_follow_at_the_slowest_line() {
    // 4 full packets, and one of 152 B (121.6 ns at 10 Gbps). Without the 6 us of propagation: the
    // fourth leaves the second line at 5 * 1.2 = 6 us. The last, at the switch since 4.9216 us,
    // follows it: 6.1216 us.
    assert_eq!(fct(STAR, WHOLE, 1, 4 * MSS + 100), 12_121_600);
    // 3 full packets, and one of 152 B (48.64 ns at 25 Gbps). Without the 4 us of propagation: the
    // full ones reach the last line at 0.72, 1.2 and 1.68 us and leave it at 1.2, 1.68 and 2.16 us.
    // The last follows at once: 2.20864 us.
    assert_eq!(fct(LEAF_SPINE, WHOLE, 3, 3 * MSS + 100), 6_208_640);
    // The slow middle: the second packet leaves it at 1.2 + 24 us; then 1.2 us, and 12 us of
    // propagation.
    assert_eq!(fct(SLOW_MIDDLE, WHOLE, 1, 2 * MSS), 38_400 * NS);
    // A short last packet (1 B: 53 B, 424 ns at 1 Gbps) leaves the middle at 25.2 + 0.424 us. It
    // waits for the second, which is on the last line until 26.4 us, and takes 42.4 ns more.
    assert_eq!(fct(SLOW_MIDDLE, WHOLE, 1, 2 * MSS + 1), 38_442_400);
    // 100, 3 and 1 Gbps: the last line is the slowest. The first packet reaches it at 0.12 + 4.0005
    // us; then 3 * 12 us, and 8 us of propagation.
    assert_eq!(fct(UNEQUAL, WHOLE, 1, 3 * MSS), 48_120_500);
}

#[test]
fn datagrams_follow_their_clock() {
    // At 1 Gbps a packet every 12 us: the third is sent at 24 us and takes 8.4 us.
    assert_eq!(fct(STAR, "kind = \"udp\"\nrate = \"1Gbps\"", 1, 3 * MSS), 32_400 * NS);
    // At 40 Gbps they queue in the sender's NIC: 2 * 1.2 + 8.4 us.
    assert_eq!(fct(STAR, "kind = \"udp\"\nrate = \"40Gbps\"", 1, 3 * MSS), 10_800 * NS);
}

#[test]
fn a_handshake_is_a_round_trip_of_small_packets() {
    let handshake = |more: &str| format!("handshake = true\n{more}");
    // 2 * (41.6 + 3000) ns each way, then the data.
    let round_trip = 2 * 6_083_200;
    assert_eq!(fct(STAR, &handshake(WHOLE), 1, MSS), round_trip + 8_400 * NS);
    // 64 bytes take 51.2 ns.
    let larger = handshake("ack_size = \"64B\"");
    assert_eq!(fct(STAR, &larger, 1, MSS), 4 * 3_051_200 + 8_400 * NS);
    // Across racks: 2 * (16.64 + 4.16) ns + 4 us each way.
    let round_trip = 2 * 4_041_600;
    assert_eq!(fct(LEAF_SPINE, &handshake(WHOLE), 3, 3 * MSS + 100), round_trip + 6_208_640);
}

#[test]
fn acks_clock_out_what_the_first_window_leaves() {
    // A packet takes 2 * (1.2 + 10) = 22.4 us, its ack 2 * (0.0416 + 10) = 20.0832 us: 42.4832 us.
    let rtt = 42_483_200;
    // 10 packets, then two for every ack: 20, and finally the last 10. Acks come every 1.2 us, so
    // the line is busy from each round's first ack on. Packet 30 is sent at 2 RTT, packet 39 9 *
    // 1.2 us later.
    let expected = 2 * rtt + 9 * 1_200 * NS + 22_400 * NS;
    assert_eq!(expected, 118_166_400);
    let window = "initial_window = \"10pkt\"";
    assert_eq!(fct(LONG_STAR, window, 1, 40 * MSS), expected);
    assert_eq!(fct(LONG_STAR, &format!("kind = \"newreno\"\n{window}"), 1, 40 * MSS), expected);
    // 1 packet, then 2, then the fourth.
    let expected = 2 * rtt + 22_400 * NS;
    assert_eq!(fct(LONG_STAR, "initial_window = \"1pkt\"", 1, 4 * MSS), expected);
    // Without slow start the window grows by 1/cwnd for every ack. The acks of 0 and 1 make it 2.5
    // and 2.9 packets and release 2 and 3. Those of 2 and 3 make it 3.24 and 3.55 and release 4 and
    // 5, and 6. The ack of 4 releases 7, which is sent at 3 RTT.
    let expected = 3 * rtt + 22_400 * NS;
    let slow = "kind = \"newreno\"\ninitial_window = \"2pkt\"\nslow_start = false";
    assert_eq!(fct(LONG_STAR, slow, 1, 8 * MSS), expected);
}

#[test]
fn acks_clock_flows_across_unequal_lines_and_after_a_handshake() {
    // Data 1.2 us + 4 us; acks 2 * (16.64 + 4.16) ns + 4 us: RTT = 9.2416 us. 10 packets, then 20:
    // the last is sent 19 * 480 ns into the second round.
    let expected = 9_241_600 + 19 * 480 * NS + 5_200 * NS;
    assert_eq!(fct(LEAF_SPINE, "initial_window = \"10pkt\"", 2, 30 * MSS), expected);
    // Fat tree: 13.2 us there, 6 * 1.0416 us back. A handshake, 4 packets, then 6 of 8 allowed.
    let (there, back) = (13_200 * NS, 6_249_600);
    let expected = 2 * back + (there + back) + 5 * 1_200 * NS + there;
    let transport = "initial_window = \"4pkt\"\nhandshake = true";
    assert_eq!(fct(FAT_TREE, transport, 15, 10 * MSS), expected);
    // The slow middle spaces acks by 12 us. There 26.4 us, back (0.0416 + 1) + (0.416 + 10) +
    // (0.0416 + 1) = 12.4992 us: RTT = 38.8992 us, or 3.2 packets. With a window of 2 packets the
    // middle runs empty. Two acks, at RTT and RTT + 12 us, release 2 packets each, so packets 2 to
    // 5 leave the sender at RTT + (1.2, 2.4, 13.2, 14.4) us. The middle sends them back to back
    // from RTT + 2.2 us on: the fourth has left it at RTT + 2.2 + 48 us; then 10 + 1.2 + 1 us.
    let expected = 38_899_200 + (2_200 + 48_000 + 12_200) * NS;
    assert_eq!(fct(SLOW_MIDDLE, "initial_window = \"2pkt\"", 1, 6 * MSS), expected);
}

#[test]
fn a_sprayed_packet_is_related_to_the_fastest_of_all_ways() {
    // Over b or c, then over d or e. The path over b and e has five lines of 10 Gbps and 1 us: 11
    // us. Each other path has one line of 1 Gbps instead: 10.8 us more.
    let topology = r#"kind = "graph"
switch = [{ name = "a" }, { name = "b" }, { name = "c" }, { name = "d" }, { name = "e" }, { name = "z" }]
host = [
    { name = "src", switch = "a", rate = "10Gbps", delay = "1us" },
    { name = "dst", switch = "z", rate = "10Gbps", delay = "1us" },
]
link = [
    { a = "a", b = "b", rate = "10Gbps", delay = "1us" },
    { a = "a", b = "c", rate = "10Gbps", delay = "1us" },
    { a = "b", b = "d", rate = "1Gbps", delay = "1us" },
    { a = "b", b = "e", rate = "10Gbps", delay = "1us" },
    { a = "c", b = "d", rate = "1Gbps", delay = "1us" },
    { a = "c", b = "e", rate = "1Gbps", delay = "1us" },
    { a = "d", b = "z", rate = "10Gbps", delay = "1us" },
    { a = "e", b = "z", rate = "10Gbps", delay = "1us" },
]"#;
    let text = format!(
        "duration = \"10ms\"\nrouting.kind = \"spray\"\n[topology]\n{topology}\n[transport]\n{WHOLE}"
    );
    // 40 flows of one packet, one after the other.
    let flows: Vec<Listed> = (0..40).map(|flow| (0, 1, MSS, flow * 100_000)).collect();
    let run = run_flows(&text, &flows);
    assert!(run.flows.iter().all(|row| row.ideal_ps == 11_000 * NS));
    let on = |fct| run.flows.iter().filter(|row| row.fct_ps == Some(fct)).count();
    let (fast, slow) = (on(11_000 * NS), on(21_800 * NS));
    // A quarter of the flows are fast: 10 of 40, standard deviation 2.7.
    assert!(fast + slow == 40 && (3..20).contains(&fast), "{fast} {slow}");
}

#[test]
fn the_published_base_is_propagation_and_payload() {
    // 4 * 3 us, and 1448 B at 10 Gbps: 1.1584 us.
    let text = format!(
        "duration = \"1ms\"\nslowdown_base = \"published\"\n[topology]\n{STAR}\n\
         [transport]\n{WHOLE}"
    );
    let run = run_flows(&text, &[(0, 1, MSS, 0)]);
    // Rows keep the least time, which is that of the flow alone.
    assert_eq!((run.flows[0].ideal_ps, run.fct(0)), (8_400 * NS, 8_400 * NS));
    assert_eq!(run.record.flows.slowdown.known(0), Some(1.0));
    // Less than 1: this base is not a bound.
    assert_eq!(run.number("fct_slowdown.all.p50"), 8_400_000.0 / 13_158_400.0);
}

#[test]
fn two_flows_of_one_packet_share_the_receivers_line() {
    // Both reach the switch at 4.2 us. Host 0's is first, since its line has the lower number; the
    // other waits for 1.2 us.
    let text = format!("duration = \"1ms\"\n[topology]\n{STAR}\n[transport]\n{WHOLE}");
    let run = run_flows(&text, &[(2, 1, MSS, 0), (0, 1, MSS, 0)]);
    assert_eq!([run.fct(0), run.fct(1)], [8_400 * NS, 9_600 * NS]);
    assert_eq!([run.flows[0].src, run.flows[1].src], [0, 2]);
}

/// When a line was busy: the end of each interval, and the share of it.
fn utilisation(run: &Run, line: u32) -> Vec<(u64, f64)> {
    let links = &run.record.links;
    let rows = (0..links.len()).filter(|&row| links.link[row] == line);
    rows.map(|row| (links.time_ps[row], links.utilisation[row])).collect()
}

#[test]
fn a_packet_s_time_on_a_line_is_that_of_the_intervals_that_it_spans() {
    // At 1 Mbps a byte takes 8 us, and a packet of 1500 bytes 12 ms: on the host's line from 0 to
    // 12 ms, on the switch's from 12.25 to 24.25 ms. The run ends when it arrives, at 24.5 ms.
    let run = |interval: &str| {
        let text = format!(
            "duration = \"1s\"\nrecord = {{ link_interval = \"{interval}\" }}\n\
             topology = {{ kind = \"star\", hosts = 2, host_rate = \"1Mbps\", link_delay = \"250us\" }}\n\
             transport = {{ kind = \"udp\", rate = \"1Mbps\" }}"
        );
        run_flows(&text, &[(0, 1, MSS, 0)])
    };
    let ms = |ms: u64| 1_000 * US * ms;
    let long = run("5ms");
    assert_eq!(utilisation(&long, 0), [(ms(5), 1.0), (ms(10), 1.0), (ms(15), 0.4)]);
    // 2.75 of 5 ms, and 4.25 of the last 4.5 ms.
    let last = (ms(49) / 2, 4.25 / 4.5);
    assert_eq!(utilisation(&long, 3), [(ms(15), 0.55), (ms(20), 1.0), last]);
    // Intervals of an eighth of a byte, 24,500 of them in 24.5 ms.
    let short = utilisation(&run("1us"), 0);
    assert_eq!(short, (1..=12_000).map(|us| (us * US, 1.0)).collect::<Vec<_>>());
}

fn any_topology() -> impl Strategy<Value = (&'static str, u32)> {
    prop_oneof![
        Just((STAR, 1)),
        (1u32..4).prop_map(|dst| (LEAF_SPINE, dst)),
        (1u32..16).prop_map(|dst| (FAT_TREE, dst)),
        (1u32..16).prop_map(|dst| (FAST_CORE, dst)),
        Just((SLOW_MIDDLE, 1)),
        Just((UNEQUAL, 1)),
    ]
}

proptest! {
    #![proptest_config(cases(128))]

    /// A flow alone, with a window as large as the flow, takes its ideal time to the picosecond.
    /// With any other window it takes at least that.
    #[test]
    fn the_ideal_is_reached_and_never_beaten(
        (topology, dst) in any_topology(),
        size in prop_oneof![1u64..5_000, 1u64..400_000],
        handshake: bool,
        window in prop::sample::select(vec!["flow", "1pkt", "3pkt", "10pkt", "20KB"]),
        spray: bool,
    ) {
        let transport = format!("initial_window = \"{window}\"\nhandshake = {handshake}");
        let topology = if spray { format!("{topology}\n[routing]\nkind = \"spray\"") } else { topology.to_string() };
        let run = alone(&topology, &transport, dst, size);
        let row = &run.flows[0];
        prop_assert!(run.fct(0) >= row.ideal_ps, "{row:?}");
        prop_assert_eq!((row.delivered, row.retransmitted), (size, 0));
        let slowdown = run.number("fct_slowdown.all.max");
        if window == "flow" && !spray {
            prop_assert_eq!((run.fct(0), slowdown), (row.ideal_ps, 1.0));
        }
    }
}

#[test]
fn a_flow_s_time_does_not_depend_on_when_it_starts() {
    let text = format!("duration = \"1s\"\n[topology]\n{LEAF_SPINE}\n[routing]\nhash_seed = 7");
    let starts = [0, 1_000_001, 2_000_999, 123_456_789, 999_999_999];
    let flows: Vec<Listed> = starts.iter().map(|&start| (0, 3, 200_000, start)).collect();
    let run = run_flows(&text, &flows);
    assert_eq!(run.flows.len(), 5);
    let expected = run.fct(0);
    assert!(run.flows.iter().all(|row| row.fct_ps == Some(expected)), "{:?}", run.flows);
    // 200 KB take at least 64 us at 25 Gbps.
    assert!(expected > 64 * US);
}

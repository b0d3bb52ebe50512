//! Times of transmission cut to whole nanoseconds, as programs built on ns-3 have them.
//!
//! At 100 Gbps 1,048 bytes take 83.84 ns, which become 83, and 60 bytes 4.8 ns, which become 4. At
//! 40 Gbps they take 209.6 and 12 ns, which become 209 and 11.

use crate::common::*;

const NS: u64 = 1_000;
const US: u64 = 1_000_000;

const STAR: &str = "topology = { kind = \"star\", hosts = 3, host_rate = \"100Gbps\", \
                    link_delay = \"1us\", whole_ns = true }";

/// Packets of 1,000 bytes of payload and 48 of headers, and acks of 60 bytes.
const TRANSPORT: &str = "mss = \"1000B\"\nheader = \"48B\"\nack_size = \"60B\"\n\
                         initial_window = \"flow\"";

fn text(network: &str, more: &str) -> String {
    format!("duration = \"1ms\"\n{network}\n{more}\n[transport]\n{TRANSPORT}")
}

/// Of a megabyte the last packet leaves its host after 1,000 * 83 ns. It takes 83 ns at the switch,
/// and 1 us on each line. A program that cuts its times so needs 83 ns for each packet, too.
#[test]
fn a_megabyte_takes_a_thousand_times_83_ns() {
    let run = run_flows(&text(STAR, "record.acknowledged = true"), &[(0, 1, 1_000_000, 0)]);
    let fct = 83_000 * NS + 83 * NS + 2 * US;
    assert_eq!(run.fct(0), fct);
    assert_eq!((run.flows[0].ideal_ps, run.number("fct_slowdown.all.max")), (fct, 1.0));
    // The last ack comes 2 * (4 ns + 1 us) later.
    let acked = run.record.acknowledged.unwrap().acked_ps.known(0);
    assert_eq!(acked, Some(fct + 2 * (4 * NS + US)));
}

/// A sender with a pace needs 83 ns for each packet as well, where its pace is that of its line:
/// the gap to the next packet is cut, too. With a timestamp a packet has 1,056 bytes, which take
/// 84.48 ns. 10 packets with telemetry, 1,090 bytes and 87.2 ns each, are sent before HPCC's first
/// ack.
#[test]
fn paces_are_cut_as_lines_are() {
    for (kind, each, packets) in [
        ("kind = \"dcqcn\"\npreset = \"simulator\"", 83, 1_000),
        ("kind = \"dctcp-rdma\"\nmss = \"1000B\"\nheader = \"48B\"", 83, 20),
        ("kind = \"timely\"\npreset = \"simulator\"", 84, 20),
        ("kind = \"hpcc\"\npreset = \"simulator\"", 87, 10),
    ] {
        let text = format!("duration = \"1ms\"\n{STAR}\n[transport]\n{kind}");
        let run = run_flows(&text, &[(0, 1, 1_000 * packets, 0)]);
        assert_eq!(run.fct(0), (packets + 1) * each * NS + 2 * US, "{kind}");
    }
}

#[test]
fn a_time_that_is_a_whole_number_of_nanoseconds_loses_one() {
    let slow = STAR.replace("100Gbps", "40Gbps");
    let run = run_flows(&text(&slow, "record.acknowledged = true"), &[(0, 1, 1_000, 0)]);
    assert_eq!(run.fct(0), 2 * (209 * NS + US));
    let acked = run.record.acknowledged.unwrap().acked_ps.known(0);
    assert_eq!(acked, Some(2 * (209 * NS + US) + 2 * (11 * NS + US)));
}

/// Two packets meet at the port to host 2. Both arrive after 1.083 us, and the second waits for the
/// first. In its second transmission a NIC's queue or a ring cuts as well.
#[test]
fn queues_and_rings_send_in_whole_nanoseconds() {
    let flows = [(0, 2, 2_000, 0), (1, 2, 2_000, 0)];
    for more in [
        "",
        "switch = { port_fifo_packets = 2 }",
        "switch = { queues_per_port = 3, scheduling = \"strict\" }",
        "nic = { scheduling = \"per-flow-rr\" }",
        "nic = { queue_limit = \"9pkt\", fifo_packets = 1 }",
        "switch = { release = \"end\" }",
    ] {
        let run = run_flows(&text(STAR, more), &flows);
        // Host 0's second packet is the third of four.
        let after = |packets: u64| 83 * NS + US + packets * 83 * NS + US;
        assert_eq!([run.fct(0), run.fct(1)], [after(3), after(4)], "{more}");
    }
}

/// The host sends for 12 * 83 ns of 1 us, and not more than the whole time however short an
/// interval is.
#[test]
fn a_line_is_busy_for_the_time_of_its_packets() {
    let busy = |interval: &str| {
        let record = format!("record = {{ link_interval = \"{interval}\" }}");
        let run = run_flows(&text(STAR, &record), &[(0, 1, 12_000, 0)]);
        let links = &run.record.links;
        let rows = (0..links.len()).filter(|&row| links.link[row] == 0);
        rows.map(|row| links.utilisation[row]).collect::<Vec<_>>()
    };
    assert_eq!(busy("1us"), [0.996]);
    assert_eq!(busy("83ns"), [1.0; 12]);
}

#[test]
fn whole_nanoseconds_are_the_same_with_and_without_telemetry_and_losses() {
    // The packets that are lost are drawn by a seed: with a loss of nothing, all arrive.
    let event = "[[event]]\nkind = \"link-loss\"\na = \"host0\"\nb = \"leaf0\"\nat = \"0us\"\n\
                 until = \"1us\"\nrate = 0.0";
    let run = run_flows(&format!("{}\n{event}", text(STAR, "")), &[(0, 1, 1_000_000, 0)]);
    assert_eq!(run.fct(0), 83_083 * NS + 2 * US);
    let hpcc = "kind = \"hpcc\"\nmss = \"1000B\"\nheader = \"48B\"\nack_size = \"46B\"";
    let run =
        run_flows(&format!("duration = \"1ms\"\n{STAR}\n[transport]\n{hpcc}"), &[(0, 1, 1_000, 0)]);
    // 1,090 bytes are 87.2 ns.
    assert_eq!(run.fct(0), 2 * (87 * NS + US));
}

#[test]
fn a_sprayed_flow_is_not_faster_than_its_base() {
    let network = "topology = { kind = \"leaf-spine\", leaves = 2, spines = 3, hosts_per_leaf = 2, \
                   host_rate = \"100Gbps\", fabric_rate = \"40Gbps\", link_delay = \"1us\", \
                   whole_ns = true }\nrouting = { kind = \"spray\" }";
    for size in [1, 1_000, 1_001, 50_000, 400_001] {
        let run = run_flows(&text(network, ""), &[(0, 2, size, 0)]);
        assert!(run.fct(0) >= run.flows[0].ideal_ps, "{:?}", run.flows[0]);
    }
}

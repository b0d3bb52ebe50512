//! One ack for several packets: on an idle line it makes hardly a difference for how many, and no
//! sender waits for an ack that its receiver holds back.

use crate::common::*;
use spillway_transport::KINDS;

const US: u64 = 1_000_000;

/// Two lines of 100 Gbps and 1 us, on which 36 packets are under way.
const PAIR: &str = r#"
    duration = "1s"
    topology = { kind = "star", hosts = 3, host_rate = "100Gbps", link_delay = "1us" }
"#;

/// The time that flows of so many bytes from host 0 to host 1 take, in picoseconds.
fn time(head: &str, transport: &str, sizes: &[u64]) -> u64 {
    let text = format!("{PAIR}\n{head}\n[transport]\n{transport}");
    let list: Vec<Listed> = sizes.iter().map(|&size| (0, 1, size, 0)).collect();
    let run = run_flows(&text, &list);
    assert_eq!(run.flows.iter().map(|row| row.timeouts).sum::<u32>(), 0, "{transport}");
    (0..sizes.len()).map(|flow| run.fct(flow)).max().unwrap()
}

/// Kinds whose receivers may acknowledge several packets at once.
fn kinds() -> impl Iterator<Item = &'static str> {
    KINDS.iter().map(|kind| kind.id).filter(|id| !["udp", "pfabric"].contains(id))
}

#[test]
fn every_transport_takes_as_long_as_with_an_ack_for_every_packet() {
    for kind in kinds() {
        for more in ["", "recovery.kind = \"go-back-n\"", "recovery.kind = \"selective\""] {
            let of = |every: u64| {
                let text = format!("kind = \"{kind}\"\nack_every = {every}\n{more}");
                [100_000, 1_000_000].map(|size| time("", &text, &[size]) as f64)
            };
            let each = of(1);
            for every in 2..=64 {
                let [short, long] = of(every);
                let ratios = [short / each[0], long / each[1]];
                let is_close = |ratio: &f64| (0.95..1.05).contains(ratio);
                assert!(ratios.iter().all(is_close), "{kind} {more}, {every}: {ratios:?}");
            }
        }
    }
}

/// A window of packets that is less than what an ack is for: without asking, all would wait.
#[test]
fn senders_whose_windows_are_full_do_not_wait_for_the_delay() {
    for kind in kinds() {
        let of = |every: u64, more: &str| {
            let text =
                format!("kind = \"{kind}\"\nack_every = {every}\nack_delay = \"100ms\"\n{more}");
            time("", &text, &[100_000])
        };
        let (each, many) = (of(1, ""), of(64, ""));
        assert!(many < 2 * each, "{kind}: {many} {each}");
    }
    let without = "kind = \"dctcp\"\nack_every = 64\nrecovery.min_rto = \"1s\"\nrecovery.initial_rto = \"1s\"\n\
                   ask_acks = false";
    assert!(time("", without, &[100_000]) > 500 * US);
}

/// The round trips of theta-PowerTCP and TIMELY do not hold how long packets wait for their acks,
/// and TIMELY updates its rate as often as with an ack for every packet.
#[test]
fn rates_by_round_trips_do_not_hang_on_how_many_packets_an_ack_is_for() {
    let of = |kind: &str, every: u64, sizes: &[u64]| {
        time("", &format!("kind = \"{kind}\"\nack_every = {every}"), sizes) as f64
    };
    for (kind, flows) in
        [("theta-powertcp", 1), ("theta-powertcp", 2), ("timely", 1), ("timely", 2)]
    {
        let sizes = vec![10_000_000; flows];
        let each = of(kind, 1, &sizes);
        for every in [2, 3, 4, 8, 20, 64] {
            let ratio = of(kind, every, &sizes) / each;
            assert!((0.95..1.05).contains(&ratio), "{flows} {kind}, {every}: {ratio}");
        }
    }
}

/// Three packets of 1,500 bytes at 120 ns each, and an ack of 52 bytes: 4.16 ns on each line.
#[test]
fn a_flow_that_is_complete_with_its_last_ack_does_not_wait_for_the_delay() {
    let head = "completion = \"last-ack\"";
    let expected = (4 * 120 + 4 * 1_000) * 1_000 + 2 * 4_160;
    for kind in ["dctcp", "newreno", "cubic", "dcqcn"] {
        for every in [1, 2, 5, 64] {
            let text = format!("kind = \"{kind}\"\nack_every = {every}");
            assert_eq!(time(head, &text, &[3 * MSS]), expected, "{kind}, {every}");
        }
    }
}

//! Facts that follow from a scenario, compared with hand arithmetic.

use serde_json::json;
use spillway_net::facts::{expected_packets, facts};
use spillway_net::scenario::{Scenario, Sources};
use std::path::Path;

/// Two leaves of four hosts at 10 Gbps, with two uplinks of 10 Gbps each.
const NETWORK: &str = r#"
    duration = "10ms"
    switch = { buffer = "100KB" }
    topology = { kind = "leaf-spine", leaves = 2, hosts_per_leaf = 4, spines = 2, host_rate = "10Gbps", fabric_rate = "10Gbps", link_delay = "10us" }
"#;

fn read(traffic: &str) -> Scenario {
    let text = format!("{NETWORK}\n{traffic}");
    Scenario::read(text.parse().unwrap(), &Sources::of(Path::new(""))).unwrap()
}

#[test]
fn a_network_is_counted() {
    let scenario = read("[[traffic]]\nname = \"a\"\nkind = \"permutation\"\nsize = \"20KB\"\n");
    let found = facts(&scenario, 1_000);
    assert_eq!(found["hosts"], 8);
    assert_eq!(found["racks"], 2);
    // Eight links of hosts, and two from each leaf to the spines.
    assert_eq!(found["links"], 12);
    assert_eq!(found["oversubscription"], 2.0);
    assert_eq!(found["capacity_gbps"], 40.0);
    let leaf = &found["tiers"][0];
    assert_eq!(leaf["switches"], 2);
    assert_eq!(leaf["ports_by_gbps"], json!({ "10": 6 }));
    assert_eq!(leaf["buffer_bytes"], 100_000);
    assert_eq!(found["tiers"][1]["switches"], 2);
    // Four links each way, and a full packet of 1,500 bytes on one of them.
    assert_eq!(found["base_rtt_us"], 81.2);
    let traffic = &found["traffic"][0];
    assert_eq!((&traffic["flows"], &traffic["bytes"]), (&json!(8), &json!(160_000)));
    assert_eq!(traffic["counted_all"], true);
    assert_eq!(facts(&scenario, 3)["traffic"][0]["flows"], 3);
}

#[test]
fn the_packets_of_a_run_are_expected() {
    let packets = |traffic: &str| expected_packets(&read(traffic));
    let about = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 1e-9, "{found}, {expected}");
    };
    // 20,000 bytes are 14 packets of up to 1,440 bytes, and each has an ack.
    let all = "[[traffic]]\nname = \"a\"\nkind = \"permutation\"\nsize = \"20KB\"\n";
    assert_eq!(packets(all), 8.0 * 14.0 * 2.0);
    assert_eq!(packets(&format!("transport = {{ kind = \"udp\" }}\n{all}")), 8.0 * 14.0);
    let small = all.replace("20KB", "1B");
    assert_eq!(packets(&small), 8.0 * 2.0);
    // Half of the uplinks' 40 Gbps for 10 ms: 25 MB, or 1,250 flows.
    let load = "[[traffic]]\nname = \"b\"\nkind = \"poisson\"\nload = 0.5\nsizes = \"20KB\"\n";
    about(packets(load), 1_250.0 * 14.0 * 2.0);
    about(packets(&format!("{all}{load}")), (1_250.0 + 8.0) * 14.0 * 2.0);
    about(packets(&load.replace("20KB", "1KB")), 25_000.0 * 2.0);
    // Only in its window, and no more than its flows.
    about(packets(&format!("{load}stop = \"2ms\"\n")), 250.0 * 14.0 * 2.0);
    about(packets(&format!("{load}flows = 9\n")), 9.0 * 14.0 * 2.0);
    // 8 hosts ask each of 3 others for 20 KB, 10 times.
    let queries = "[[traffic]]\nname = \"q\"\nkind = \"incast\"\ninterval = \"1ms\"\n\
                   burst = \"60KB\"\nfan_in = 3\n";
    about(packets(queries), 8.0 * 10.0 * 3.0 * 14.0 * 2.0);
    // Of 2 or 3 hosts: 2 * 21 packets of 30,000 bytes, or 3 * 14.
    about(packets(&queries.replace("= 3", "= \"2..3\"")), 8.0 * 10.0 * 42.0 * 2.0);
    let drawn = queries.replace("burst = \"60KB\"", "sizes = \"20KB\"");
    about(packets(&drawn), 8.0 * 10.0 * 3.0 * 14.0 * 2.0);
    let endless = "stop = \"20ms\"\n[[traffic]]\nname = \"c\"\nkind = \"persistent\"\n\
                   senders = [0, 1]\nreceiver = 7\n";
    // Two hosts' lines at 10 Gbps until the run stops, with 1,500 bytes in a packet.
    about(packets(endless), 50e6 / 1_500.0 * 2.0);
}

#[test]
fn small_flows_have_more_packets_at_the_same_load() {
    let packets = |sizes: &str| {
        let load = "[[traffic]]\nname = \"b\"\nkind = \"poisson\"\nload = 0.5\n";
        expected_packets(&read(&format!("{load}sizes = \"{sizes}\"\n")))
    };
    // As many bytes, but mostly flows of far less than a packet: 180 bytes each on average.
    let (small, large) = (packets("keyvalue"), packets("websearch"));
    assert!(small > 7.0 * large, "{small}, {large}");
}

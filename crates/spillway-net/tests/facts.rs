//! Facts that follow from a scenario, compared with hand arithmetic.

#![allow(clippy::unwrap_used)]

use serde_json::json;
use spillway_net::facts::{expected_bytes, facts};
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
fn what_a_run_carries_is_expected() {
    let all = "[[traffic]]\nname = \"a\"\nkind = \"permutation\"\nsize = \"20KB\"\n";
    assert_eq!(expected_bytes(&read(all)), 160_000.0);
    // Half of the uplinks' 40 Gbps for 10 ms.
    let load = "[[traffic]]\nname = \"b\"\nkind = \"poisson\"\nload = 0.5\nsizes = \"20KB\"\n";
    assert_eq!(expected_bytes(&read(load)), 25e6);
    assert_eq!(expected_bytes(&read(&format!("{all}{load}"))), 25_160_000.0);
    let endless = "stop = \"20ms\"\n[[traffic]]\nname = \"c\"\nkind = \"persistent\"\n\
                   senders = [0, 1]\nreceiver = 7\n";
    // Two hosts' lines at 10 Gbps until the run stops.
    assert_eq!(expected_bytes(&read(endless)), 50e6);
}

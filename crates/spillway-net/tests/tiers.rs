//! Switches of one tier that are unlike each other: each has policies made for it, from parameters
//! that they share.

use crate::common::policies::every_policy;
use crate::common::*;

/// Two leaf switches: 46 Gbps of ports at the one, 25 at the other, and buffers by the rates.
const FAST: &str = "{ name = \"fast\" }";
const SLOW: &str = "{ name = \"slow\" }";
/// A switch that no link leads to.
const SPARE: &str = "{ name = \"spare\", tier = \"leaf\" }";

/// All hosts send to all. Ties would go by the numbers of switches: delays are such that there are
/// none.
fn text(switches: &[&str], settings: &str) -> String {
    let switches = switches.join(", ");
    let queues = if settings.contains("pfabric") { 1 } else { 2 };
    format!(
        r#"
        duration = "2ms"
        [topology]
        kind = "graph"
        switch = [{switches}]
        host = [
            {{ name = "a", switch = "fast", rate = "25Gbps", delay = "1.001us" }},
            {{ name = "b", switch = "fast", rate = "10Gbps", delay = "1.117us" }},
            {{ name = "c", switch = "slow", rate = "1Gbps", delay = "0.931us" }},
            {{ name = "d", switch = "slow", rate = "10Gbps", delay = "1.283us" }},
            {{ name = "e", switch = "slow", rate = "3Gbps", delay = "1.409us" }},
        ]
        link = [{{ a = "fast", b = "slow", rate = "11Gbps", delay = "2.063us" }}]
        [transport]
        kind = "dctcp"
        initial_window = "20pkt"
        [[traffic]]
        name = "all"
        kind = "all-to-all"
        size = "150KB"
        jitter = "100us"
        [record]
        drops = true
        [switch]
        buffer = "0.7KB/port/Gbps"
        queues_per_port = {queues}
        {settings}
        "#
    )
}

/// Whichever of the two is the first of their tier, each decides as it would alone.
#[test]
fn a_switch_is_what_it_is_wherever_it_stands_in_its_tier() {
    // What is drawn depends on the switch's number.
    let is_alike = |settings: &&String| !settings.contains("leaf0") && !settings.contains("acc");
    for settings in every_policy().iter().filter(is_alike) {
        let first = run(&text(&[FAST, SLOW], settings));
        let second = run(&text(&[SLOW, FAST], settings));
        assert_eq!(first.flows, second.flows, "{settings}");
        for switch in 0..2 {
            let losses = |run: &Run, place| {
                let of_place = run.lost().into_iter().filter(|loss| loss.place == place);
                of_place.map(|loss| (loss.time_ps, loss.port, loss.seq)).collect::<Vec<_>>()
            };
            let lost = losses(&first, switch);
            assert_eq!(lost, losses(&second, 1 - switch), "{settings}");
            assert!(!lost.is_empty(), "nothing is lost at switch {switch} with {settings}");
        }
    }
}

/// And one of them that has no port at all is made as well.
#[test]
fn every_policy_is_made_for_every_switch() {
    let draws = "sharing = { kind = \"credence\", oracle = \"random\" }\naqm = \"red\"";
    for settings in every_policy().iter().map(String::as_str).chain([draws]) {
        for switches in [[FAST, SLOW, SPARE], [SPARE, SLOW, FAST]] {
            let run = run(&text(&switches, settings));
            let whole = run.flows.iter().filter(|flow| flow.fct_ps.is_some());
            assert_eq!(whole.count(), 20, "{settings}");
        }
    }
}

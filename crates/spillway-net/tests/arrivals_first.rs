//! Ports that choose after the arrivals of the same moment: what ties decide, by hand, and that
//! nothing else changes.

use crate::common::{Listed, Run, columns, finish, scenario_with};
use spillway_net::scenario::{Scenario, Sources};
use spillway_net::simulation::Simulation;
use std::path::Path;

const US: u64 = 1_000_000;
const ORDERS: [&str; 2] = ["", "arrivals_first = true"];

/// Hosts at a switch; a byte takes 1 ns, and each line delays by 1 us. Packets have 1,000 bytes
/// without headers. Ports and NICs send what has least left.
fn text(order: &str, more: &str) -> String {
    format!(
        "duration = \"1ms\"
         switch = {{ sharing = \"pfabric\", scheduling = \"pfabric\" }}
         nic = {{ scheduling = \"pfabric\" }}
         transport = {{ kind = \"pfabric\", mss = \"1000B\", header = \"0B\", ack_size = \"50B\", \
                        rto = \"1ms\", initial_window = \"9pkt\", max_window = \"9pkt\" }}
         {more}
         [[traffic]]
         name = \"list\"
         kind = \"flows\"
         file = \"list\"
         [topology]
         kind = \"star\"
         hosts = 4
         host_rate = \"8Gbps\"
         link_delay = \"1us\"
         {order}"
    )
}

fn run(order: &str, more: &str, list: &[Listed]) -> Run {
    finish(Simulation::new(scenario_with(&text(order, more), &columns(list))))
}

/// a0, a1 and a2 of host 0 are at the switch at 2, 3 and 4 us, and b0 of host 1 at 3 us, when the
/// port to host 2 has sent a0. In both orders a1 comes before b0, on the line with the lower
/// number. At once, a1 is sent before b0 is there; after arrivals b0 goes first, since its flow has
/// less left.
#[test]
fn a_port_that_becomes_free_sees_what_comes_in_that_moment() {
    let list = [(0, 2, 3_000, 0), (1, 2, 1_000, 1_000)];
    let times = ORDERS.map(|order| {
        let run = run(order, "", &list);
        [run.fct(0), run.fct(1)]
    });
    // b0 begins at 4 or at 3 us, and a2 at 5 us: they are there 2 us after that.
    assert_eq!(times, [[7 * US, 5 * US], [7 * US, 4 * US]]);
}

/// Both packets are at the idle port at 2 us: from host 0 the first of two, from host 1 the only
/// one.
#[test]
fn an_idle_port_waits_for_what_comes_in_that_moment() {
    let list = [(0, 2, 2_000, 0), (1, 2, 1_000, 0)];
    let times = ORDERS.map(|order| {
        let run = run(order, "", &list);
        [run.fct(0), run.fct(1)]
    });
    assert_eq!(times, [[6 * US, 5 * US], [6 * US, 4 * US]]);
}

/// Two flows of host 0 start together, the longer one first.
#[test]
fn an_idle_nic_waits_for_what_its_host_sends_in_that_moment() {
    let list = [(0, 1, 3_000, 0), (0, 2, 1_000, 0)];
    let times = ORDERS.map(|order| {
        let run = run(order, "", &list);
        [run.fct(0), run.fct(1)]
    });
    assert_eq!(times, [[7 * US, 5 * US], [7 * US, 4 * US]]);
}

/// A limit of one packet, beside the one that is sent. At 3 us a1 and b0 find a0 sent: at once a1
/// passes, and b0 waits. After arrivals b0 and a1 wait for an instant, so a1 is lost, the worse.
#[test]
fn what_comes_in_one_moment_must_fit_before_the_port_chooses() {
    let limit = "switch.sharing = { kind = \"pfabric\", limit = \"1000B\" }";
    let list = [(0, 2, 2_000, 0), (1, 2, 1_000, 1_000)];
    let lost = ORDERS.map(|order| {
        let switch = "switch = { sharing = \"pfabric\", scheduling = \"pfabric\" }";
        let text = text(order, limit).replace(switch, "switch.scheduling = \"pfabric\"");
        let run = finish(Simulation::new(scenario_with(&text, &columns(&list))));
        (run.all_drops(), run.flows.iter().map(|row| row.timeouts).collect::<Vec<_>>())
    });
    assert_eq!(lost, [(0, vec![0, 0]), (1, vec![1, 0])]);
}

/// Where ports send in the order of arrival and nothing is lost or marked, no choice is to be made:
/// both orders give the same flows, however many ties there are.
#[test]
fn in_order_nothing_changes() {
    let list: Vec<Listed> =
        (0..60).map(|n| (n % 3, 3 - n % 2 * 3, 20_000 + 1_000 * u64::from(n), 0)).collect();
    let list: Vec<Listed> = list.into_iter().filter(|(src, dst, ..)| src != dst).collect();
    let flows = ORDERS.map(|order| {
        let text = text(order, "")
            .replace("switch = { sharing = \"pfabric\", scheduling = \"pfabric\" }", "")
            .replace("nic = { scheduling = \"pfabric\" }", "")
            .replace("kind = \"pfabric\"", "kind = \"newreno\"")
            .replace(
                "rto = \"1ms\", initial_window = \"9pkt\", max_window = \"9pkt\"",
                "recovery.min_rto = \"1s\"",
            );
        let run = finish(Simulation::new(scenario_with(&text, &columns(&list))));
        assert_eq!(run.all_drops(), 0);
        run.flows
    });
    assert!(flows[0].len() > 40 && flows[0] == flows[1]);
}

#[test]
fn lossless_priorities_are_refused_with_it() {
    let pfc = "[switch]\nbuffer = \"1MB\"\npfc = { kind = \"static\", threshold = \"20KB\" }";
    let given = |order: &str| {
        let text = format!(
            "duration = \"1ms\"\n[topology]\nkind = \"star\"\nhosts = 3\nhost_rate = \"8Gbps\"\n\
             link_delay = \"1us\"\n{order}\n{pfc}"
        );
        Scenario::read(text.parse().unwrap(), &Sources::of(Path::new("")))
    };
    let error = given("arrivals_first = true").unwrap_err();
    let problem = "arrivals_first = true is not modelled where priorities are lossless";
    assert!(error.to_string().contains(problem), "{error}");
}

//! Important packets in whole networks, by hand: which ones a switch loses, and when they are sent
//! again.

use crate::common::{Run, columns, finish, scenario_with};
use spillway_net::simulation::{Progress, Simulation};
use spillway_switch::DropReason;

/// Three hosts at a switch; a packet of 1,000 bytes takes 1 us, an ack 50 ns, and each line delays
/// by 1 us. All segments of a flow leave at once.
fn text(switch: &str, transport: &str) -> String {
    format!(
        "duration = \"10ms\"
         topology = {{ kind = \"star\", hosts = 3, host_rate = \"8Gbps\", link_delay = \"1us\" }}
         switch = {{ {switch} }}
         transport = {{ kind = \"dctcp\", mss = \"950B\", header = \"50B\", ack_size = \"50B\", \
         initial_window = \"100pkt\", {transport} }}
         [[traffic]]
         name = \"list\"
         kind = \"flows\"
         file = \"list\""
    )
}

/// Four packets each from hosts 0 and 1 to host 2, at once.
fn four_and_four(switch: &str, transport: &str) -> Run {
    let list = columns(&[(0, 2, 4 * 950, 0), (1, 2, 4 * 950, 0)]);
    let run = finish(Simulation::new(scenario_with(&text(switch, transport), &list)));
    assert_eq!(run.progress, Progress::Complete);
    run
}

const NS: u64 = 1_000;

/// The port sends a0 at 2 us, b0 at 3, a1 at 4. At 4 us a1 has left and b1 waits: a2 makes that
/// 2,000 bytes, and b2 would make it 3,000. At 5 us the important a3 and b3 come, which do not
/// count: the port sends b1, a2, a3, b3, and that one is at host 2 at 9 + 1 us. Its ack is at host 1
/// at 10 + 2 * 1.05 us, and b2 at host 2 after 4 us more.
#[test]
fn a_lost_packet_is_sent_again_when_the_important_one_behind_it_is_acknowledged() {
    let limit = "unimportant_limit = \"2001B\"";
    for kind in ["sack", "ns3", "duplicate-acks", "timeout-only"] {
        let run =
            four_and_four(limit, &format!("protection = \"tlt\", recovery.kind = \"{kind}\""));
        assert_eq!((run.drops(DropReason::Unimportant), run.all_drops()), (1, 1), "{kind}");
        assert_eq!((run.fct(0), run.fct(1)), (9_000 * NS, 16_100 * NS), "{kind}");
        assert_eq!((run.flows[1].retransmitted, run.flows[1].timeouts), (1, 0), "{kind}");
    }
    // RACK waits for a quarter of the least round trip, that of b0: 5 us there, and 2.1 us back.
    let run = four_and_four(limit, "protection = \"tlt\", recovery.kind = \"rack\"");
    assert_eq!(run.fct(1), 16_100 * NS + 7_100 * NS / 4);
}

/// A byte more, and nothing is lost; a byte less than two packets, and b1 and a2 are lost as well.
#[test]
fn the_limit_is_exact() {
    let lost = |limit: u64| {
        let switch = format!("unimportant_limit = \"{limit}B\"");
        four_and_four(&switch, "protection = \"tlt\"").drops(DropReason::Unimportant)
    };
    assert_eq!((lost(3_001), lost(3_000)), (0, 1));
    assert!(lost(2_000) > 1);
}

/// Without tags nothing is unimportant, and without a limit nothing is lost for it.
#[test]
fn neither_half_does_anything_alone() {
    let both = "unimportant_limit = \"2001B\"";
    for (switch, transport) in [(both, "protection = \"none\""), ("", "protection = \"tlt\"")] {
        let run = four_and_four(switch, transport);
        assert_eq!((run.all_drops(), run.fct(1)), (0, 11_000 * NS));
    }
}

/// Bursts of 32 hosts at a switch with a small buffer: none of the timeouts that there are without
/// protection.
#[test]
fn an_incast_has_no_timeouts() {
    let timeouts = |protection: &str, limit: &str| {
        let run = crate::common::run(&format!(
            "duration = \"5ms\"
             topology = {{ kind = \"star\", hosts = 33, host_rate = \"10Gbps\", link_delay = \"1us\" }}
             [switch]
             buffer = \"300KB\"
             sharing = \"dt\"
             aqm = {{ kind = \"ecn\", threshold = \"20pkt\" }}
             {limit}
             [transport]
             kind = \"dctcp\"
             {protection}
             [[traffic]]
             name = \"incast\"
             kind = \"incast\"
             interval = \"1ms\"
             burst = \"400KB\"
             fan_in = 32
             senders = \"any\"
             receivers = 1
             initial_window = \"flow\""
        ));
        assert_eq!(run.progress, Progress::Complete);
        (run.counters.timeouts, run.all_drops() > 100)
    };
    let (without, loses) = timeouts("", "");
    assert!(without > 10 && loses, "{without}");
    let limit = "unimportant_limit = \"20%\"";
    assert_eq!(timeouts("protection = \"tlt\"", limit), (0, true), "{without} without");
}

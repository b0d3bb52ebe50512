//! pFabric end to end: the order in which a host and a port send, what they drop, and how losses
//! are repaired, computed by hand to the picosecond.
//!
//! All lines have 10 Gbps and 10 us. A full packet has 1500 bytes and takes 1.2 us, so it needs
//! 22.4 us from host to host; an ack has 52 bytes, takes 41.6 ns, and needs 20.0832 us.

use crate::common::*;
use spillway_net::scenario::{Scenario, Sources};
use spillway_net::simulation::Progress;
use spillway_switch::DropReason;
use std::path::Path;

const NS: u64 = 1_000;
const US: u64 = 1_000_000;
const STAR: &str = "topology = { kind = \"star\", hosts = 3, host_rate = \"10Gbps\", \
                    link_delay = \"10us\" }";
const TRANSPORT: &str = "kind = \"pfabric\"\ninitial_window = \"12pkt\"\nmax_window = \"15pkt\"\n\
                         rto = \"100us\"";

/// The link of host 0 loses what is put on it within 100 ns of these times.
fn losses(times_ns: &[u64]) -> String {
    let event = |ns: &u64| {
        let (at, until) = (ns.saturating_sub(100), ns + 100);
        format!(
            "[[event]]\nkind = \"link-loss\"\na = \"host0\"\nb = \"leaf0\"\nrate = 1.0\n\
             at = \"{at}ns\"\nuntil = \"{until}ns\"\n"
        )
    };
    times_ns.iter().map(event).collect()
}

/// A flow of this many packets from host 0 to host 1; what is sent at these times is lost. Returns
/// when it is complete, how many segments were sent again, and its timeouts.
fn flow(packets: u64, more: &str, lost_at_ns: &[u64]) -> (u64, u32, u32) {
    let text = format!(
        "duration = \"1s\"\n{STAR}\n{}\n[transport]\n{TRANSPORT}\n{more}",
        losses(lost_at_ns)
    );
    let run = run_flows(&text, &[(0, 1, packets * MSS, 0)]);
    assert_eq!(run.progress, Progress::Complete);
    assert_eq!(run.all_drops(), lost_at_ns.len() as u64, "{:?}", run.lost());
    (run.fct(0), run.flows[0].retransmitted, run.flows[0].timeouts)
}

// Transport --------------------------------------------------------------------------------------

/// 12 packets leave at once. Their acks come from 42.4832 us on, one every 1.2 us, and widen the
/// window to 13, 14 and 15: the first three let two packets go each, the fourth and the fifth one.
/// So the line is busy from 42.4832 us on with eight packets; the last leaves at 50.8832 us.
#[test]
fn a_flow_without_losses_sends_what_its_window_lets_go() {
    assert_eq!(flow(20, "", &[]), (50_883_200 + 22_400 * NS, 0, 0));
}

/// Number 5, sent at 6 us, is lost. All others are sent as before, and 14 of them are reported
/// behind the gap, but nothing is sent again before the timer expires: the ack of number 4, at
/// 47.2832 us, has restarted it. The retransmission leaves at 147.2832 us.
#[test]
fn a_loss_is_repaired_by_the_timer_however_many_acks_report_it() {
    let alone = (147_283_200 + 22_400 * NS, 1, 1);
    assert_eq!(flow(20, "", &[6_000]), alone);
    assert_eq!(flow(20, "knows_receiver = true\nremaining = \"unsent\"", &[6_000]), alone);
}

/// All three packets are lost, and the first once more after the timeout at 100 us. The second
/// timeout in a row, at 200 us, sends a probe: 52 bytes, whose ack of 52 bytes is back at 240.1664
/// us. The window is one segment: the first packet goes, its ack comes 42.4832 us later, and the
/// other two go, the second of them 1.2 us after the first.
#[test]
fn a_probe_goes_until_an_ack_comes() {
    let lost = [0, 1_200, 2_400, 100_000];
    let at = 240_166_400 + 42_483_200 + 1_200 * NS + 22_400 * NS;
    assert_eq!(flow(3, "probe_after = 2", &lost), (at, 4, 2));
    // Without probes the first packet goes at 200 us.
    let at = 200 * US + 42_483_200 + 1_200 * NS + 22_400 * NS;
    assert_eq!(flow(3, "probe_after = 0", &lost), (at, 4, 2));
    assert_eq!(flow(3, "probe_after = 3", &lost), (at, 4, 2));
}

/// A probe that is lost is followed by another one, 100 us later.
#[test]
fn probes_are_repeated_for_every_timeout() {
    let lost = [0, 1_200, 2_400, 100_000, 200_000];
    let at = 340_166_400 + 42_483_200 + 1_200 * NS + 22_400 * NS;
    assert_eq!(flow(3, "probe_after = 2", &lost), (at, 4, 3));
}

/// With a window of one segment, the ack of the first of two is lost on its last line, at 32.4416
/// us. The segment goes again at 100 us; the other one follows with its ack. A sender that knows
/// what has arrived sends nothing after that timeout, but does so after the next one.
#[test]
fn a_sender_that_knows_the_receiver_does_not_wait_for_an_ack_for_ever() {
    let one = TRANSPORT.replace("12pkt", "1pkt");
    for (knows, timeouts) in [(false, 1), (true, 2)] {
        let text = format!(
            "duration = \"1s\"\n{STAR}\n{}\n[transport]\n{one}\nknows_receiver = {knows}",
            losses(&[32_441])
        );
        let run = run_flows(&text, &[(0, 1, 2 * MSS, 0)]);
        let at = u64::from(timeouts) * 100 * US + 42_483_200 + 22_400 * NS;
        assert_eq!(
            (run.fct(0), run.flows[0].retransmitted, run.flows[0].timeouts),
            (at, 1, timeouts)
        );
    }
}

/// The window is a BDP by default, rounded up, and the timeout three base RTT. The base RTT is 41.2
/// us: 51,500 bytes, 36 segments of 1448 bytes; and 123.6 us. The last packet of 36 leaves at 42
/// us.
#[test]
fn window_and_timeout_follow_from_the_base_rtt() {
    let text = format!("duration = \"1s\"\n{STAR}\ntransport = {{ kind = \"pfabric\" }}");
    let run = run_flows(&text, &[(0, 1, 37 * MSS, 0)]);
    // The 37th goes when the first ack comes, behind the 36th, which leaves until 43.2 us.
    assert_eq!(run.fct(0), 43_200 * NS + 22_400 * NS);
    let lost = format!("{text}\n{}", losses(&[0]));
    let run = run_flows(&lost, &[(0, 1, MSS, 0)]);
    assert_eq!((run.fct(0), run.flows[0].timeouts), (123_600 * NS + 22_400 * NS, 1));
}

// Hosts and ports --------------------------------------------------------------------------------

/// Host 0 sends a flow of 6 packets, and at the same time one of 2. The first packet of the long
/// flow is on the line already. Then the short flow goes, then the rest of the long one.
#[test]
fn a_host_serves_the_flow_with_the_least_left() {
    let times = |nic: &str| {
        let text =
            format!("duration = \"1s\"\n{STAR}\nnic = {{ {nic} }}\n[transport]\n{TRANSPORT}");
        let run = run_flows(&text, &[(0, 1, 6 * MSS, 0), (0, 2, 2 * MSS, 0)]);
        assert_eq!(run.all_drops(), 0);
        [run.fct(0), run.fct(1)].map(|ps| (ps - 22_400 * NS) / NS)
    };
    assert_eq!(times("scheduling = \"pfabric\""), [8_400, 2_400]);
    assert_eq!(times("scheduling = \"pfabric\", queue_limit = \"20KB\""), [8_400, 2_400]);
    assert_eq!(times("scheduling = \"fifo\""), [6_000, 8_400]);
}

/// Of the long flow five packets wait, 7,500 bytes. With a limit of 7,500 bytes the first packet of
/// the short flow pushes out the last of these, and its second the last but one. They are sent
/// again 100 us after the ack of the first packet has come, at 42.4832 us; the third that waited
/// follows the fourth. With a limit in packets it is the same.
#[test]
fn a_host_drops_the_packet_with_the_most_left() {
    for limit in ["7500B", "5pkt"] {
        let text = format!(
            "duration = \"1s\"\n{STAR}\nnic = {{ scheduling = \"pfabric\", queue_limit = \"{limit}\" \
             }}\nrecord = {{ drops = true }}\n[transport]\n{TRANSPORT}"
        );
        let run = run_flows(&text, &[(0, 1, 6 * MSS, 0), (0, 2, 2 * MSS, 0)]);
        let lost: Vec<_> = run.lost().iter().map(|l| (l.flow, l.seq / MSS, l.reason)).collect();
        assert_eq!(lost, [(0, 5, DropReason::PushedOut), (0, 4, DropReason::PushedOut)]);
        // The short flow leaves from 1.2 us on.
        assert_eq!(run.fct(1), 2_400 * NS + 22_400 * NS);
        // Numbers 1 to 3 leave from 3.6 us on; the ack of number 3 comes 42.4832 us after 6 us.
        let timeout = 6_000 * NS + 42_483_200 + 100 * US;
        // One segment, and with its ack two: only the second is left.
        assert_eq!(run.fct(0), timeout + 42_483_200 + 22_400 * NS);
        assert_eq!((run.flows[0].timeouts, run.flows[0].retransmitted), (1, 2));
    }
}

/// The same where packets carry what was not sent before them: of the five that wait, with 5 to 1
/// packets left, the first two packets of the short flow, with 2 and 1 left, push out the first
/// two. The last one has 1 left and came before the short flow's: so the long flow leaves first,
/// from 1.2 us on, and the short one from 4.8 us on. What is lost goes again 100 us after the ack
/// at 42.4832 us, both at once: three have arrived behind.
#[test]
fn what_was_not_sent_before_may_be_what_counts() {
    let text = format!(
        "duration = \"1s\"\n{STAR}\nnic = {{ scheduling = \"pfabric\", queue_limit = \"7500B\" \
         }}\nrecord = {{ drops = true }}\n[transport]\n{TRANSPORT}\nremaining = \"unsent\""
    );
    let run = run_flows(&text, &[(0, 1, 6 * MSS, 0), (0, 2, 2 * MSS, 0)]);
    let lost: Vec<_> = run.lost().iter().map(|l| (l.flow, l.seq / MSS, l.reason)).collect();
    assert_eq!(lost, [(0, 1, DropReason::PushedOut), (0, 2, DropReason::PushedOut)]);
    assert_eq!(run.fct(1), 6_000 * NS + 22_400 * NS);
    assert_eq!(run.fct(0), 42_483_200 + 100 * US + 1_200 * NS + 22_400 * NS);
    assert_eq!((run.flows[0].timeouts, run.flows[0].retransmitted), (1, 2));
}

/// Hosts 1 and 2 send to host 0, whose port has room for one packet: at 11.2 us A0 passes and B0
/// waits. At 12.4 us B0 leaves, A1 comes and waits, B1 comes.
fn two_to_one(packets_of_b: u64) -> Run {
    let text = format!(
        "duration = \"1s\"\n{STAR}\nrecord = {{ drops = true }}\n[switch]\n\
         sharing = {{ kind = \"pfabric\", limit = \"1500B\" }}\nscheduling = \"pfabric\"\n\
         [transport]\n{TRANSPORT}"
    );
    run_flows(&text, &[(1, 0, 3 * MSS, 0), (2, 0, packets_of_b * MSS, 0)])
}

/// B has 2 packets left, A 3: A1 is pushed out. At 13.6 us B1 leaves and A2 comes. The ack of A0,
/// at 42.4832 us, has started the timer anew; A1 leaves again 100 us later.
#[test]
fn a_port_drops_the_packet_with_the_most_left() {
    let run = two_to_one(2);
    let lost: Vec<_> = run.lost().iter().map(|l| (l.time_ps, l.flow, l.seq, l.reason)).collect();
    assert_eq!(lost, [(12_400 * NS, 0, MSS, DropReason::PushedOut)]);
    assert_eq!(run.fct(1), 13_600 * NS + 11_200 * NS);
    assert_eq!(run.fct(0), 42_483_200 + 100 * US + 22_400 * NS);
    assert_eq!((run.flows[0].timeouts, run.flows[1].timeouts), (1, 0));
}

/// With 3 packets B has as much left: B1 is refused itself. At 13.6 us A1 leaves, A2 comes and
/// waits, and B2 is refused.
#[test]
fn an_arrival_as_bad_as_the_worst_is_refused() {
    let run = two_to_one(3);
    let lost: Vec<_> = run.lost().iter().map(|l| (l.time_ps, l.flow, l.seq / MSS)).collect();
    assert_eq!(lost[..2], [(12_400 * NS, 1, 1), (13_600 * NS, 1, 2)]);
    assert_eq!(run.fct(0), 14_800 * NS + 11_200 * NS);
}

// Settings ---------------------------------------------------------------------------------------

fn refused(more: &str) -> String {
    let text = format!("duration = \"1ms\"\n{STAR}\n{more}");
    let read = Scenario::read(text.parse().unwrap(), &Sources::of(Path::new("")));
    read.unwrap_err().to_string()
}

#[test]
fn what_does_not_go_with_priorities_of_packets_is_refused() {
    for (more, problem) in [
        (
            "switch = { queues_per_port = 2, scheduling = \"pfabric\" }",
            "switch.scheduling.kind: \"pfabric\" is not valid with queues_per_port = 2: priorities are \
             on the packets; it needs one queue for each port",
        ),
        (
            "switch = { queues_per_port = 3, sharing = \"pfabric\" }",
            "switch.sharing.kind: \"pfabric\" is not valid with queues_per_port = 3: priorities are on \
             the packets; it needs one queue for each port",
        ),
        (
            "switch = { scheduling = \"pfabric\", aqm = \"red\" }",
            "switch.scheduling.kind: \"pfabric\" is not valid with aqm = \"red\", which takes packets \
             to leave in the order in which they came; it needs aqm = \"none\"",
        ),
        (
            "switch = { sharing = \"pfabric\", aqm = \"ecn\" }",
            "switch.sharing.kind: \"pfabric\" is not valid with aqm = \"ecn\": it alone says what is lost, \
             by what flows have left; it needs aqm = \"none\"",
        ),
        (
            "switch = { sharing = \"pfabric\", aqm = \"none\", queue_limit = \"9KB\" }",
            "switch.sharing.kind: \"pfabric\" is not valid with a queue_limit, which would lose arrivals \
             whatever flows have left; it needs queue_limit = \"unlimited\", and has a `limit` of its own",
        ),
        (
            "switch = { sharing = \"pfabric\", aqm = \"none\", release = \"end\" }",
            "switch.sharing.kind: \"pfabric\" is not valid with release = \"end\": its limit is that of \
             packets that can be pushed out, and the one that is being sent cannot; it needs \
             release = \"start\"",
        ),
        (
            "nic = { scheduling = \"pfabric\", queues = 2 }",
            "nic.scheduling: \"pfabric\" is not valid with queues = 2: priorities are on the packets; it \
             needs one queue",
        ),
        (
            "nic = { scheduling = \"pfabric\", aqm = \"codel\" }",
            "nic.aqm: \"codel\" is not valid with scheduling = \"pfabric\", which does not send packets \
             in the order in which they come; it needs \"none\"",
        ),
        (
            "nic = { scheduling = \"pfabric\", queue_limit = \"9KB\", local_drops = \"cut\" }",
            "nic.local_drops: \"cut\" is not valid with scheduling = \"pfabric\", which may drop \
             another flow's packet; it needs \"silent\"",
        ),
        (
            "transport = { kind = \"pfabric\", rto = \"0us\" }",
            "transport.rto: \"0us\" is not valid; expected a time above 0 such as \"45us\", or a \
             multiple of the base RTT such as \"3rtt\"",
        ),
        (
            "transport = { kind = \"pfabric\", max_window = \"flow\" }",
            "transport.max_window: \"flow\" is not valid; expected a window such as \"15pkt\", \"22KB\" \
             or \"1.25bdp\"",
        ),
    ] {
        assert_eq!(refused(more), problem);
    }
}

#[test]
fn a_timeout_below_the_round_trip_is_refused() {
    let text = with_list(&format!(
        "duration = \"1ms\"\n{STAR}\ntransport = {{ kind = \"pfabric\", rto = \"0.9rtt\" }}"
    ));
    let sources =
        Sources { flows: &|_, _| Some(columns(&[(0, 1, 9, 0)])), ..Sources::of(Path::new("")) };
    let error = Scenario::read(text.parse().unwrap(), &sources).unwrap_err().to_string();
    assert_eq!(
        error,
        "transport.rto: 37.08us is not valid: a packet and its ack take 41.2us in the empty network, \
         and all would be sent again before its ack can be there"
    );
}

//! How paced senders react to losses, timeouts and marks: they retransmit, and their windows follow
//! what they measure instead of what was lost.
//!
//! As in transport.rs most runs have two lines of 10 Gbps and 10 us each: a full packet takes 22.4
//! us, its ack 20.0832 us.

use crate::common::*;
use spillway_net::simulation::Progress;

const US: u64 = 1_000_000;
const THERE: u64 = 22_400_000;
const RTT: u64 = THERE + 20_083_200;
const PACKET: u64 = 1_200_000;

const KINDS: [&str; 4] = [
    "kind = \"theta-powertcp\"",
    "kind = \"powertcp\"\ntelemetry_bytes = \"0B\"",
    "kind = \"hpcc\"\ntelemetry_bytes = \"0B\"\nmin_rate = \"10Gbps\"",
    "kind = \"timely\"\nt_low = \"1ms\"\nt_high = \"2ms\"",
];

/// The same, and senders with a rate that marks cut.
fn all_kinds() -> impl Iterator<Item = &'static str> {
    KINDS.into_iter().chain(["kind = \"dcqcn\"", "kind = \"dctcp-rdma\""])
}

/// A flow of this many packets; what is sent at the times `lost_at` is lost. Returns the completion
/// time, the number of retransmissions, and the timeouts.
fn flow(packets: u64, transport: &str, lost_at: &[u64]) -> (u64, u32, u32) {
    let losses: String = lost_at
        .iter()
        .map(|time| {
            let (at, until) = (time.saturating_sub(100_000), time + 100_000);
            format!(
                "[[event]]\nkind = \"link-loss\"\na = \"host0\"\nb = \"leaf0\"\nrate = 1.0\n\
                 at = \"{at}ps\"\nuntil = \"{until}ps\"\n"
            )
        })
        .collect();
    let text = format!(
        "duration = \"1s\"\ntopology = {{ kind = \"star\", hosts = 2, host_rate = \"10Gbps\", \
         link_delay = \"10us\" }}\n{losses}[transport]\n{transport}"
    );
    let run = run_flows(&text, &[(0, 1, packets * MSS, 0)]);
    assert_eq!(run.progress, Progress::Complete);
    assert_eq!(run.all_drops(), lost_at.len() as u64, "{transport}");
    println!("{transport} {packets} {lost_at:?}: {} {:?}", run.fct(0), run.flows[0]);
    (run.fct(0), run.flows[0].retransmitted, run.flows[0].timeouts)
}

/// A flow alone on its path keeps its line's rate. Number 5 is lost; the ack of number 8, the third
/// behind it, shows that.
#[test]
fn a_loss_is_repaired_and_cuts_nothing() {
    for kind in all_kinds() {
        let known = 8 * PACKET + RTT;
        assert_eq!(flow(20, kind, &[5 * PACKET]), (known + THERE, 1, 0), "{kind}");
        // Of 400 packets, which take eleven round trips, one more is sent, and the window waits
        // less than one packet's time for its ack. A round trip with half of the window would take
        // 17 packets' times more.
        let (undisturbed, ..) = flow(400, kind, &[]);
        assert!(undisturbed < 400 * PACKET + THERE, "{kind}: {undisturbed} ps");
        let (fct, again, timeouts) = flow(400, kind, &[5 * PACKET]);
        assert_eq!((again, timeouts), (1, 0), "{kind}");
        let late = fct - undisturbed;
        assert!((PACKET..2 * PACKET).contains(&late), "{kind}: {late} ps");
    }
}

#[test]
fn a_lost_tail_waits_for_the_timeout() {
    // The last ack, of number 18, sets the timer.
    for kind in all_kinds() {
        for (min_rto, us) in [("10ms", 10_000), ("1ms", 1_000)] {
            let transport = format!("{kind}\nrecovery.min_rto = \"{min_rto}\"");
            let expected = 18 * PACKET + RTT + us * US + THERE;
            assert_eq!(flow(20, &transport, &[19 * PACKET]), (expected, 1, 1), "{kind}");
        }
    }
}

/// The whole first window is lost, so nothing shows a loss. After 10 ms one segment is sent again.
/// The window opens with the first ack that the controller can use: the first one, or, if two
/// reports have to be compared, the second.
#[test]
fn a_timeout_leaves_one_segment_until_an_ack_tells_more() {
    // C tau is 36 packets of 52,000 bytes in all; TIMELY paces 35 until the first ack. DCQCN has no
    // window, and paces all.
    // DCTCP's window is 51,500 bytes, of which 35 packets leave room for one that does not fit.
    let all = [(36, 1), (36, 2), (36, 2), (35, 1), (40, 1), (36, 1)];
    for (kind, (sent, round_trips)) in all_kinds().zip(all) {
        let all: Vec<u64> = (0..sent).map(|packet| packet * PACKET).collect();
        let (fct, again, timeouts) = flow(40, kind, &all);
        assert_eq!((u64::from(again), timeouts), (sent, 1), "{kind}");
        // With a window of C tau, less than a packet's time is lost in between.
        let expected = 10_000 * US + round_trips * RTT + (39 - round_trips) * PACKET + THERE;
        assert!((expected..expected + PACKET).contains(&fct), "{kind}: {fct} ps, {expected}");
    }
}

/// Eight flows over a line that marks packets which find five waiting, with the additive increase
/// for ten flows. Results are the same with and without ECN.
#[test]
fn marks_are_ignored() {
    for kind in KINDS {
        let run = |ecn: bool| shared(&format!("{kind}\necn = {ecn}"));
        let (with, without) = (run(true), run(false));
        assert!(with.number("marks") > 1000.0 && without.number("marks") == 0.0, "{kind}");
        assert_eq!(deliveries(&with), deliveries(&without), "{kind}");
    }
}

/// Ten flows into one line for 5 ms, through a queue that drops.
fn shared(transport: &str) -> Run {
    run(&format!(
        r#"
        duration = "5ms"
        stop = "5ms"
        record = {{ windows = [0, 4, 9], window_interval = "100us", drops = false }}
        [transport]
        {transport}
        recovery.min_rto = "1ms"
        [switch]
        queue_limit = "100pkt"
        aqm = {{ kind = "ecn", threshold = "5pkt" }}
        [topology]
        kind = "star"
        hosts = 11
        host_rate = "10Gbps"
        link_delay = "10us"
        [[traffic]]
        name = "long"
        kind = "persistent"
        senders = "1..10"
        receiver = 0
        "#
    ))
}

fn deliveries(run: &Run) -> (Vec<u64>, Vec<u64>, u64, u64) {
    let windows = &run.record.windows;
    let counts = (run.counters.packet_hops, run.all_drops());
    assert!(counts.1 > 0, "something is lost");
    (windows.delivered_bytes.clone(), windows.cwnd_bytes.to_vec(), counts.0, counts.1)
}

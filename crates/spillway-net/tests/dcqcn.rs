//! DCQCN end to end: marks, notifications and paces, to the picosecond.
//!
//! Three hosts at one switch; a byte takes 1 ns on every line, and every line has a delay of 10 us.
//! A full packet has 960 + 40 bytes and takes 1 us, an ack 50 ns, a notification 60 ns.
//!
//! Flow 0 sends packet k from host 0 at k us; it comes to the switch at k + 11, and leaves at once.
//! Flow 1 sends two packets from host 1 at 10 and 11 us. At 21 us packet 10 comes first and goes
//! on, and the first of flow 1 waits. At 22 us it goes on; packet 11 waits, and the second of flow
//! 1 finds it waiting and is marked. At 23 us packet 11 goes on; packet 12 finds the second of flow
//! 1 waiting and is marked. From now on packet k finds packet k - 1 waiting, is marked, and leaves
//! at k + 13, as long as flow 0 sends at its line's rate. Packet 12 comes to host 2 at 36 us.

use crate::common::*;
use spillway_net::simulation::Progress;

const NS: u64 = 1_000;
const US: u64 = 1_000_000;

/// The run of flow 0, with so many packets, and of flow 1.
fn beside_two_packets(packets: u64, transport: &str) -> Run {
    let text = format!(
        "duration = \"1ms\"\n\
         topology = {{ kind = \"star\", hosts = 3, host_rate = \"8Gbps\", link_delay = \"10us\" }}\n\
         switch = {{ aqm = {{ kind = \"ecn\", threshold = \"1000B\", at_threshold = \"mark\" }} }}\n\
         [transport]\nkind = \"dcqcn\"\nmss = \"960B\"\nheader = \"40B\"\nack_size = \"50B\"\n{transport}"
    );
    let run = run_flows(&text, &[(0, 2, packets * 960, 0), (1, 2, 2 * 960, 10_000)]);
    assert_eq!((run.progress, run.all_drops()), (Progress::Complete, 0));
    println!("{transport}: {} {}", run.fct(0), run.number("marks"));
    run
}

/// The notification leaves host 2 at 36 us and comes to host 0 at 36 + 2 (10 + 0.06) = 56.12 us. It
/// leaves half of the rate. Packet 57 keeps its time, 57 us, and is the last that finds another
/// waiting. The next ones leave at 59, 61, ..., 113 us (packet 85): the timer has expired at 56.12 +
/// 55 = 111.12 us, and the rate is 6 Gbps. So packet 89 leaves 4 * 1,333,333 ps later, and takes 22 us.
#[test]
fn a_notification_halves_the_rate_until_the_timer_raises_it() {
    let run = beside_two_packets(90, "");
    assert_eq!(run.fct(0), 113 * US + 4 * 1_333_333 + 22 * US);
    // Packets 12 to 57, and one of flow 1.
    assert_eq!(run.number("marks"), 47.0);
    // Both flows get one notification: the next of flow 0 could leave at 86 us, and packet 57 comes
    // at 81. 92 packets with their acks, and two notifications.
    assert_eq!(run.counters.totals.made_packets, 2 * 92 + 2);
    assert_eq!(run.counters.totals.made_bytes, 92 * 1_050 + 2 * 60);
}

/// The same with notifications that may come every 20 us: packet 32 comes at 56 us, and 52 at 76
/// us. Theirs come to host 0 at 76.12 and 96.12 us. From 57 us packets leave every 2 us, up to 77
/// us (packet 67); from there every 4 us, up to 97 us (packet 72), and then every 8 us: packet 74
/// leaves at 113 us. The timer expires 55 us after the last cut, at 151.12 us: packet 79 leaves at
/// 153 us. Between 1 and 2 Gbps lie 1.5.
#[test]
fn notifications_come_at_intervals_while_packets_are_marked() {
    let run = beside_two_packets(80, "cnp_interval = \"20us\"");
    // 97, 105, 113, 121, 129, 137, 145, 153 us are packets 72 to 79.
    assert_eq!(run.fct(0), 153 * US + 22 * US);
    let run = beside_two_packets(81, "cnp_interval = \"20us\"");
    // 1,000 bytes at 1.5 Gbps take 5,333,333 ps.
    assert_eq!(run.fct(0), 153 * US + 5_333_333 + 22 * US);
    assert_eq!(run.counters.totals.made_packets, 2 * 83 + 4);
}

/// Acks of marked packets are notifications. The first comes to host 0 at 36 + 2 (10 + 0.05) = 56.1
/// us, and others every microsecond. With timers that run freely the first cut comes 100 us later,
/// at 156.1 us, and the next are 100 us apart. Packet 157 leaves at 157 us, and then one every 2
/// us: 169 leaves at 181 us, and finds nothing waiting.
#[test]
fn acks_of_marked_packets_may_be_the_notifications() {
    let free = "cnp = \"ack-flag\"\ntimers = \"free-running\"\nfirst_cut = \"after-interval\"\n\
                decrease_interval = \"100us\"\ng = 0.0";
    let run = beside_two_packets(170, free);
    assert_eq!(run.fct(0), 181 * US + 22 * US);
    assert_eq!(run.counters.totals.made_packets, 2 * 172);
    // With cuts at once, the first comes at 56.1 us and the second at 156.1 us: packets leave every
    // 2 us from 57 us on, up to 157 us (packet 107), and every 4 us from there if one was marked
    // meanwhile. Packet 57 was, and its ack came at 101.1 us, after the first cut.
    let at_once = free.replace("after-interval", "at-once");
    let run = beside_two_packets(110, &format!("{at_once}\nincrease_timer = \"1ms\""));
    assert_eq!(run.fct(0), 157 * US + 2 * 4 * US + 22 * US);
}

/// Every ack of a marked packet cuts at once, down to the least rate: those of 12 to 17 leave 4, 2,
/// 1, 0.5, 0.25 and 0.2 Gbps. They come at 56.1, 57.1, ... us. Packet 57 leaves at 57 us with a gap
/// of 2 us, and packet 58 at 59 us, when 56.1, 57.1 and 58.1 us are over: 1 Gbps, 8 us. At 67 us,
/// the rate is the least: 40 us. So packet 60 leaves at 107 us, and packet 61 at 147 us.
#[test]
fn the_least_rate_is_the_least() {
    let transport = "cnp = \"ack-flag\"\nmin_rate = \"200Mbps\"\nincrease_timer = \"1ms\"";
    let run = beside_two_packets(62, transport);
    assert_eq!(run.fct(0), 147 * US + 22 * US);
}

/// A flow alone. 8 packets are 7,680 bytes, less than 8,000: nine leave in a round trip, which
/// takes 22 us there and 20.1 us back. With 8 Gbps and 42.1 us the window is 42,100 bytes: 44
/// packets.
#[test]
fn a_window_bounds_what_is_in_flight() {
    let fct = |packets: u64, transport: &str| {
        let text = format!(
            "duration = \"1ms\"\n\
             topology = {{ kind = \"star\", hosts = 2, host_rate = \"8Gbps\", link_delay = \"10us\" }}\n\
             [transport]\nkind = \"dcqcn\"\nmss = \"960B\"\nheader = \"40B\"\nack_size = \"50B\"\n{transport}"
        );
        run_flows(&text, &[(0, 1, packets * 960, 0)]).fct(0)
    };
    let round_trip = 42 * US + 100 * NS;
    assert_eq!(fct(27, "window = \"8KB\""), 2 * round_trip + 8 * US + 22 * US);
    assert_eq!(fct(27, ""), 26 * US + 22 * US);
    // The 43rd ack is there when the 44th packet has left: the line is never idle.
    assert_eq!(fct(200, "window = \"1bdp\""), 199 * US + 22 * US);
    // Half of it: 21,050 bytes, 22 packets.
    assert_eq!(fct(44, "window = \"0.5bdp\""), round_trip + 21 * US + 22 * US);
    // A rate that is not cut leaves the window as it is.
    assert_eq!(fct(44, "window = \"0.5bdp\"\nvary_window = true"), round_trip + 21 * US + 22 * US);
}

/// A flow alone, whose last packet has 100 + 40 bytes. With less than 8,100 bytes in flight, which
/// are no multiple of 960, packets leave: nine at once, 8,640 bytes. The last one leaves with the
/// first ack, at 42.1 us, and not behind the nine, though 8,640 + 100 is less than a segment beyond
/// the window. As the ninth it follows the eight at once, and waits at the switch for the one
/// before it.
#[test]
fn a_short_last_packet_does_not_leave_early() {
    for way in ["", "recovery.kind = \"go-back-n\"", "recovery.kind = \"selective\""] {
        let fct = |packets: u64| {
            let text = format!(
                "duration = \"1ms\"\n\
                 topology = {{ kind = \"star\", hosts = 2, host_rate = \"8Gbps\", link_delay = \"10us\" }}\n\
                 [transport]\nkind = \"dcqcn\"\nwindow = \"8100B\"\nmss = \"960B\"\nheader = \"40B\"\n\
                 ack_size = \"50B\"\n{way}"
            );
            run_flows(&text, &[(0, 1, packets * 960 + 100, 0)]).fct(0)
        };
        assert_eq!(fct(8), 8 * US + 21 * US + 140 * NS, "{way}");
        assert_eq!(fct(9), 42 * US + 100 * NS + 20 * US + 2 * 140 * NS, "{way}");
        // A full packet would leave then, too.
        assert_eq!(fct(10), 43 * US + 100 * NS + 21 * US + 140 * NS, "{way}");
    }
}

/// A window of 48 packets is no limit. The notification at 56.12 us halves the rate, and the window
/// if it varies. At 57 us packets 0 to 56 have left and 13 of them are acknowledged: the ack of
/// packet k comes at k + 44.1 us if k is 12 or more. Fewer than 24 packets are in flight when
/// packet 33 is acknowledged, at 77.1 us. From there packets leave every 2 us, while two acks come:
/// packet 75 leaves at 113.1 us, and not at 93.
#[test]
fn a_window_may_shrink_with_the_rate() {
    let wide = beside_two_packets(76, "window = \"46080B\"");
    assert_eq!(wide.fct(0), 93 * US + 22 * US);
    let narrow = beside_two_packets(76, "window = \"46080B\"\nvary_window = true");
    assert_eq!(narrow.fct(0), 113 * US + 100 * NS + 22 * US);
}

/// The flow alone loses its packet 5. The ack of the third packet behind it shows that, and the
/// rate stays: packet 5 leaves next, and everything else a microsecond later.
#[test]
fn a_loss_changes_no_rate() {
    let text = "duration = \"1ms\"\n\
                topology = { kind = \"star\", hosts = 2, host_rate = \"8Gbps\", link_delay = \"10us\" }\n\
                transport = { kind = \"dcqcn\", mss = \"960B\", header = \"40B\", ack_size = \"50B\" }\n\
                [[event]]\nkind = \"link-loss\"\na = \"host0\"\nb = \"leaf0\"\nrate = 1.0\n\
                at = \"5900ns\"\nuntil = \"6100ns\"\n";
    let run = run_flows(text, &[(0, 1, 100 * 960, 0)]);
    assert_eq!((run.all_drops(), run.flows[0].retransmitted), (1, 1));
    assert_eq!(run.fct(0), 100 * US + 22 * US);
}

/// The results of so many endless flows over a line of 40 Gbps, between 10 and 20 ms, marked with a
/// slope of 2 for every MB: throughput, Jain's index of their shares, and the mean queue in bytes.
fn shared(n: u32, transport: &str) -> (f64, f64, f64) {
    let flows: Vec<String> = (0..n).map(|flow| flow.to_string()).collect();
    let run = run(&format!(
        r#"
        warmup = "10ms"
        duration = "20ms"
        stop = "20ms"
        topology = {{ kind = "star", hosts = {hosts}, host_rate = "40Gbps", link_delay = "2us" }}
        record = {{ windows = [{listed}], window_interval = "5ms", drops = false }}
        [switch]
        buffer = "unlimited"
        aqm = {{ kind = "red", min = "5KB", max = "505KB", max_probability = 1.0, marks_at = "departure" }}
        [transport]
        kind = "dcqcn"
        recovery.min_rto = "1s"
        recovery.initial_rto = "1s"
        {transport}
        [[traffic]]
        name = "long"
        kind = "persistent"
        senders = "0..{last}"
        receiver = {n}
        "#,
        hosts = n + 1,
        listed = flows.join(", "),
        last = n - 1,
    ));
    let table = &run.record.windows;
    let delivered = |flow: u32| {
        let rows = (0..table.len()).filter(|&row| table.flow_id[row] == flow);
        let bytes: Vec<u64> = rows.map(|row| table.delivered_bytes[row]).collect();
        (bytes[bytes.len() - 1] - bytes[bytes.len() - 3]) as f64
    };
    let shares: Vec<f64> = (0..n).map(delivered).collect();
    let throughput = shares.iter().sum::<f64>() * 8.0 / 10e-3;
    let queue = run.number("buffer_occupancy.mean");
    println!("{n} {transport}: {throughput:.3e}, Jain {:.4}, queue {queue:.0} B", jain(&shares));
    (throughput, jain(&shares), queue)
}

/// With 1000 of 1048 bytes, a line of 40 Gbps carries 38.17 Gbps. The queue of many flows is
/// longer, since each cuts by less than it would have to.
#[test]
fn flows_share_a_line_and_keep_its_queue_short() {
    let few = shared(2, "preset = \"simulator\"\nmin_rate = \"100Mbps\"");
    let many = shared(20, "preset = \"simulator-paper\"\nmin_rate = \"100Mbps\"");
    for (throughput, fairness, queue) in [few, many] {
        assert!((0.9..1.001).contains(&(throughput / 38.17e9)), "{throughput}");
        assert!(fairness > 0.9, "{fairness}");
        assert!((1_000.0..100_000.0).contains(&queue), "{queue}");
    }
    assert!(many.2 > 3.0 * few.2, "{many:?}, {few:?}");
}

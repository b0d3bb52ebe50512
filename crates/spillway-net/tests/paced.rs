//! Paced senders: when their packets leave, and how they share a line.

use crate::common::*;

/// The results of n endless flows over one line of 10 Gbps in the second half of 40 ms: throughput,
/// Jain's index of their shares, and the mean queue before the line.
fn shared(transport: &str, n: u32) -> (f64, f64, f64) {
    let flows: Vec<String> = (0..n).map(|flow| flow.to_string()).collect();
    let run = run(&format!(
        r#"
        warmup = "20ms"
        duration = "40ms"
        stop = "40ms"
        transport = {{ {transport} }}
        record = {{ windows = [{}], window_interval = "10ms", drops = false }}
        [switch]
        buffer = "unlimited"
        aqm = {{ kind = "ecn", threshold = "65pkt" }}
        [topology]
        kind = "dumbbell"
        senders = {n}
        receivers = 1
        host_rate = "10Gbps"
        bottleneck_rate = "10Gbps"
        link_delay = "10us"
        [[traffic]]
        name = "long"
        kind = "persistent"
        senders = "0..{}"
        receiver = {n}
        stagger = "500us"
        "#,
        flows.join(", "),
        n - 1
    ));
    assert_eq!(run.all_drops(), 0);
    let table = &run.record.windows;
    let delivered = |flow: u32| {
        let rows = (0..table.len()).filter(|&row| table.flow_id[row] == flow);
        let bytes: Vec<u64> = rows.map(|row| table.delivered_bytes[row]).collect();
        (bytes[bytes.len() - 1] - bytes[bytes.len() - 3]) as f64
    };
    let shares: Vec<f64> = (0..n).map(delivered).collect();
    let payload = 1.25e9 * 0.02 * MSS as f64 / FULL as f64;
    let throughput = shares.iter().sum::<f64>() / payload;
    // The mean over two switches, of which one never has a queue.
    let queue = 2.0 * run.number("buffer_occupancy.mean");
    println!("{transport}, {n}: {throughput:.4}, Jain {:.4}, queue {queue:.0} B", jain(&shares));
    (throughput, jain(&shares), queue)
}

/// Base RTT: 1500 bytes over three lines of 10 Gbps and 10 us each, and 52 back.
const TAU_S: f64 = 60e-6 + 3.0 * (1500.0 + 52.0) * 0.8e-9;

/// If cwnd = gamma (cwnd / Gamma + beta) + (1 - gamma) cwnd holds for all n windows, whose sum is C
/// tau plus the queue, and Gamma = RTT / tau, then the queue is n beta.
#[test]
fn theta_powertcp_holds_the_queue_at_its_additive_increases() {
    for n in [2, 8, 16] {
        let text = "kind = \"theta-powertcp\", expected_flows = 10";
        let (throughput, fairness, queue) = shared(text, n);
        let expected = f64::from(n) * 1.25e9 * TAU_S / 10.0;
        assert!((queue / expected - 1.0).abs() < 0.05, "{n}: {queue}, not {expected}");
        assert!(throughput > 0.99 && fairness > 0.99, "{n}: {throughput}, {fairness}");
    }
}

/// The base RTT of packets that carry telemetry.
const TELEMETRY_TAU_S: f64 = TAU_S + 6.0 * 42.0 * 0.8e-9;

/// The same law for the power of the port itself. Ports report whole packets, so the queue may
/// differ by two of them.
#[test]
fn powertcp_holds_the_queue_at_its_additive_increases() {
    for n in [2, 8, 16] {
        let text = "kind = \"powertcp\", expected_flows = 10";
        let (throughput, fairness, queue) = shared(text, n);
        let expected = f64::from(n) * 1.25e9 * TELEMETRY_TAU_S / 10.0;
        let off = (queue - expected).abs();
        assert!(off < f64::max(0.05 * expected, 2.0 * 1542.0), "{n}: {queue}, not {expected}");
        assert!(throughput > 0.972 && fairness > 0.99, "{n}: {throughput}, {fairness}");
    }
}

/// With telemetry, 1500 of every 1542 bytes remain on the line: 97.3%.
#[test]
fn telemetry_keeps_queues_next_to_empty_where_marks_keep_them_at_the_threshold() {
    for n in [2, 8, 16] {
        for text in ["kind = \"powertcp\"", "kind = \"hpcc\", expected_flows = 16"] {
            let (throughput, fairness, queue) = shared(text, n);
            assert!(throughput > 0.94 * 0.973 && throughput < 0.973, "{text}, {n}: {throughput}");
            assert!(fairness > 0.99, "{text}, {n}: {fairness}");
            assert!(queue < 65.0 * FULL as f64 / 8.0, "{text}, {n}: {queue}");
        }
    }
}

/// As the public simulator runs it: the window always follows the use, and 0.04% of the line's rate
/// are added. In packets of 1,090 bytes 1,000 are payload; `shared` compares with 1,448 of 1,500.
/// More than ten flows would have more than the line's rate at 1 Gbps, the least.
#[test]
fn hpcc_as_simulated_keeps_the_queue_next_to_empty() {
    let most = 1000.0 / 1090.0 * 1500.0 / 1448.0;
    for n in [2, 8] {
        let (throughput, fairness, queue) = shared("kind = \"hpcc\", preset = \"simulator\"", n);
        assert!((0.93..0.97).contains(&(throughput / most)), "{n}: {throughput}");
        // Increases of 4 Mbps make shares equal only slowly.
        assert!(fairness > 0.8 && queue < 10_000.0, "{n}: {fairness}, {queue}");
    }
}

/// 1,000 bytes of 1,056 are payload.
#[test]
fn timely_as_simulated_keeps_round_trips_between_its_thresholds() {
    let most = 1000.0 / 1056.0 * 1500.0 / 1448.0;
    for n in [2, 8] {
        let text = "kind = \"timely\", preset = \"simulator\", t_low = \"100us\", min_rtt = \"64us\", \
                    min_rate = \"100Mbps\"";
        let (throughput, _, queue) = shared(text, n);
        assert!((0.8..1.001).contains(&(throughput / most)), "{n}: {throughput}");
        assert!(queue < (500e-6 - TAU_S) * 1.25e9, "{n}: {queue}");
    }
}

/// Marks from 65 packets on, at most one cut in a round trip of about 142 us with that queue.
/// Shares are equal, and the line is full.
#[test]
fn dctcp_with_a_rate_holds_the_queue_near_the_threshold() {
    for n in [2, 8, 16] {
        let text = "kind = \"dctcp-rdma\", rate_step = \"100Mbps\", min_rate = \"10Mbps\"";
        let (throughput, fairness, queue) = shared(text, n);
        assert!((0.99..1.001).contains(&throughput), "{n}: {throughput}");
        assert!(fairness > 0.95, "{n}: {fairness}");
        assert!((20_000.0..130_000.0).contains(&queue), "{n}: {queue}");
    }
}

/// The results of two endless flows, joined by six more at 2 ms, in the time from 4 to 8 ms. Links
/// have 100 Gbps and 1 us (PRED, section 6.3.5). Returns the line's utilisation and the mean queue
/// before it.
fn joined_by_six(transport: &str) -> (f64, f64) {
    let run = run(&format!(
        r#"
        warmup = "4ms"
        duration = "8ms"
        stop = "8ms"
        transport = {{ {transport} }}
        record = {{ link_interval = "4ms", drops = false }}
        [switch]
        buffer = "unlimited"
        aqm = {{ kind = "ecn", threshold = "65pkt" }}
        [topology]
        kind = "star"
        hosts = 21
        host_rate = "100Gbps"
        link_delay = "1us"
        [[traffic]]
        name = "first"
        kind = "persistent"
        senders = "1..2"
        receiver = 0
        [[traffic]]
        name = "later"
        kind = "persistent"
        senders = "3..8"
        receiver = 0
        start = "2ms"
        "#
    ));
    let links = &run.record.links;
    let last = (0..links.len()).filter(|&row| links.time_ps[row] == 8_000_000_000);
    let busiest = last.map(|row| links.utilisation[row]).fold(0.0, f64::max);
    let queue = run.number("buffer_occupancy.mean");
    println!("{transport}: {busiest:.4}, queue {queue:.0} B");
    (busiest, queue)
}

/// For HPCC the paper reports 93% of the line, and almost no queue.
#[test]
fn at_100_gbps_queues_stay_next_to_empty_too() {
    let (busy, marked) = joined_by_six("kind = \"dctcp\"");
    assert!(busy > 0.999 && marked > 65.0 * FULL as f64 * 0.8, "{busy}, {marked}");
    let (busy, queue) = joined_by_six("kind = \"hpcc\"");
    assert!(busy > 0.92 && busy < 0.96 && queue < 2.0 * FULL as f64, "{busy}, {queue}");
    let (busy, queue) = joined_by_six("kind = \"theta-powertcp\"");
    assert!(busy > 0.98 && queue < marked / 15.0, "{busy}, {queue}");
    let (busy, queue) = joined_by_six("kind = \"powertcp\", least_current = 0.5");
    assert!(busy > 0.9 && queue < marked / 5.0, "{busy}, {queue}");
}

/// A port that empties its queue and receives nothing has no current, so all windows open at once.
/// With a round trip of 4 us, or 36 packets, eight flows do that again and again.
#[test]
fn without_a_least_current_short_round_trips_swing() {
    let (_, swinging) = joined_by_six("kind = \"powertcp\"");
    let (_, steady) = joined_by_six("kind = \"powertcp\", least_current = 0.5");
    assert!(swinging > 3.0 * steady, "{swinging}, {steady}");
}

/// Below the low threshold rates only rise, so it must be above the round trip of the empty
/// network. How the flows share the line is not tested: the paper's law leaves it open.
#[test]
fn timely_keeps_round_trips_between_its_thresholds() {
    for n in [2, 8] {
        let text = "kind = \"timely\", t_low = \"100us\", min_rtt = \"64us\"";
        let (throughput, _, queue) = shared(text, n);
        assert!(throughput > 0.97 && throughput < 1.001, "{n}: {throughput}");
        assert!(queue < (500e-6 - TAU_S) * 1.25e9, "{n}: {queue}");
    }
    let (throughput, ..) = shared("kind = \"timely\"", 2);
    assert!(throughput < 0.7, "a base RTT above the low threshold: {throughput}");
}

/// A least rate above the line's counts as the line's: nothing is controlled any more.
#[test]
fn the_least_rate_may_be_the_lines() {
    for kind in ["theta-powertcp", "powertcp", "hpcc", "timely"] {
        let text = format!("kind = \"{kind}\", min_rate = \"40Gbps\", recovery.min_rto = \"1s\"");
        let (throughput, fairness, queue) = shared(&text, 2);
        assert!(throughput > 0.97 && fairness > 0.99, "{kind}: {throughput}, {fairness}");
        assert!(queue > 50_000.0, "{kind}: {queue}");
    }
}

/// A flow of 100 Gbps crosses a row of switches, of which only the last has a line of 10 Gbps: its
/// port writes telemetry however many have before it.
#[test]
fn telemetry_comes_from_all_switches_of_a_path() {
    for (kind, count) in [("hpcc", 5), ("hpcc", 6), ("hpcc", 12), ("powertcp", 6)] {
        let line = |to: usize| {
            let from = to - 1;
            format!("{{ a = \"s{from}\", b = \"s{to}\", rate = \"100Gbps\", delay = \"1us\" }}")
        };
        let names: Vec<_> =
            (0..count).map(|switch| format!("{{ name = \"s{switch}\" }}")).collect();
        let lines: Vec<_> = (1..count).map(line).collect();
        let host = |name: &str, switch: usize, gbps: u32| {
            format!(
                "{{ name = \"{name}\", switch = \"s{switch}\", rate = \"{gbps}Gbps\", delay = \"1us\" }}"
            )
        };
        let run = run(&format!(
            "warmup = \"20ms\"\nduration = \"40ms\"\nstop = \"40ms\"\n\
             transport = {{ kind = \"{kind}\" }}\nswitch = {{ buffer = \"unlimited\" }}\n\
             topology = {{ kind = \"graph\", switch = [{}], link = [{}], host = [{}, {}] }}\n\
             [[traffic]]\nname = \"one\"\nkind = \"persistent\"\npairs = [[0, 1]]\n",
            names.join(", "),
            lines.join(", "),
            host("a", 0, 100),
            host("b", count - 1, 10),
        ));
        let queue = run.number("buffer_occupancy.mean");
        assert!(queue < 2_000.0, "{kind} over {count}: {queue} B");
    }
}

/// 42 more bytes on the data packet and on its ack.
#[test]
fn telemetry_counts_on_the_wire() {
    let fct = |transport: &str| {
        let text = format!(
            "duration = \"1s\"\ntopology = {{ kind = \"star\", hosts = 2, host_rate = \"10Gbps\", \
             link_delay = \"20us\" }}\n[transport]\n{transport}"
        );
        run_flows(&text, &[(0, 1, MSS, 0)]).flows[0].fct_ps
    };
    assert_eq!(fct("kind = \"hpcc\""), Some(2 * (1542 * 800 + 20_000_000)));
    assert_eq!(
        fct("kind = \"hpcc\"\ntelemetry_bytes = \"0B\""),
        Some(2 * (1500 * 800 + 20_000_000))
    );
    // Two packets, one of 1,000 and one of 448 bytes, with 90 more each.
    let simulated = fct("kind = \"hpcc\"\npreset = \"simulator\"");
    assert_eq!(simulated, Some(2 * (1090 * 800 + 20_000_000) + 538 * 800));
}

#[test]
fn round_trips_keep_queues_short_where_marks_keep_them_at_the_threshold() {
    for n in [2, 8] {
        let (throughput, fairness, queue) = shared("kind = \"theta-powertcp\"", n);
        assert!(throughput > 0.98 && throughput < 1.001, "{n}: {throughput}");
        assert!(fairness > 0.99, "{n}: {fairness}");
        let (_, _, marked) = shared("kind = \"dctcp\"", n);
        assert!(marked > 65.0 * FULL as f64 * 0.9 && queue < marked / 10.0, "{n}: {queue}");
    }
}

/// 40 packets are less than a round trip can hold. They leave back to back at the line's rate, as
/// with any window that has room for them.
#[test]
fn a_flow_begins_with_its_lines_rate() {
    let fct = |transport: &str| {
        let text = format!(
            "duration = \"1s\"\ntopology = {{ kind = \"star\", hosts = 2, host_rate = \"10Gbps\", \
             link_delay = \"20us\" }}\n[transport]\n{transport}"
        );
        run_flows(&text, &[(0, 1, 40 * MSS, 0)]).flows[0].fct_ps
    };
    let window = fct("kind = \"newreno\"\ninitial_window = \"40pkt\"");
    assert_eq!(fct("kind = \"theta-powertcp\""), window);
    // 40 * 1.2 us, one more for the hop in between, and the links.
    assert_eq!(window, Some(41 * 1_200_000 + 40_000_000));
}

/// The flow's own round trip is shorter than the network's. With the latter as tau, power is below
/// 1, and the window grows to its bound.
#[test]
fn tau_may_be_the_networks() {
    let (_, _, own) = shared("kind = \"theta-powertcp\"", 2);
    let (throughput, ..) = shared("kind = \"theta-powertcp\", base_rtt = \"network\"", 2);
    // The network's base RTT counts neither store-and-forward on the path nor acks: 61.2 us of
    // 63.72. Alone on the line power is 1.041, and a window settles at beta / (1 - 1 / 1.041), a
    // quarter of C tau.
    assert!((0.4..0.6).contains(&throughput), "{throughput}");
    assert!(own < 5_000.0, "{own}");
}

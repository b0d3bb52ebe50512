//! Queues, thresholds, schedulers and DCTCP against their formulas.

use crate::common::*;
use spillway_switch::DropReason;

/// Bytes per second over a line of 10 Gbps.
const LINE: f64 = 1.25e9;

// M/D/1 ------------------------------------------------------------------------------------------

/// The mean wait, in service times, at a port of 10 Gbps under Poisson arrivals, measured over so
/// many service times.
///
/// Each source sends packets of 1500 B at 0.5 Gbps on average over a line of 800 Gbps. That line is
/// busy for 0.06% of the time, so two packets of one source hardly ever meet in its NIC, and all
/// sources together are a Poisson process. A service takes 1.2 us.
/// sources together are a Poisson process. A service takes 1.2 us.
fn mean_wait(sources: u32, services: u64, switch: &str) -> f64 {
    let hosts = format!(
        "[{}{{ name = \"sink\", switch = \"s\", rate = \"10Gbps\", delay = \"1us\" }}]",
        (0..sources)
            .map(|source| format!(
                "{{ name = \"{source}\", switch = \"s\", rate = \"800Gbps\", delay = \"1us\" }}, "
            ))
            .collect::<String>()
    );
    let warmup_us = 20_000;
    let duration_us = warmup_us + services * 6 / 5;
    let run = run(&format!(
        r#"
        warmup = "{warmup_us}us"
        duration = "{duration_us}us"
        stop = "{duration_us}us"
        topology = {{ kind = "graph", switch = [{{ name = "s" }}], host = {hosts} }}
        transport = {{ kind = "udp", rate = "500Mbps", pacing = "poisson" }}
        [switch]
        buffer = "unlimited"
        {switch}
        [[traffic]]
        name = "packets"
        kind = "persistent"
        receiver = {sources}
        "#
    ));
    assert_eq!(run.summary["buffer_occupancy"]["unit"], "bytes");
    assert_eq!(run.all_drops(), 0);
    // Little's law: waiting packets = arrivals per service time * wait in service times.
    let load = f64::from(sources) * 0.05;
    run.number("buffer_occupancy.mean") / FULL as f64 / load
}

/// Pollaczek and Khinchine with constant service: rho / (2 (1 - rho)) service times.
///
/// The accuracy of a mean over T service times: in heavy traffic the wait is a reflected Brownian
/// motion of drift 1 - rho and variance 1, whose average over T has the relative standard deviation
/// sqrt(2 / T) / (1 - rho).
fn check_wait(sources: u32, services: u64, tolerance: f64) {
    let load = f64::from(sources) * 0.05;
    let expected = load / (2.0 * (1.0 - load));
    let deviation = (2.0 / services as f64).sqrt() / (1.0 - load);
    let error = mean_wait(sources, services, "") / expected - 1.0;
    println!("M/D/1 at {load:.2}: off by {:+.3}%, deviation {deviation:.4}", 100.0 * error);
    assert!(tolerance >= 3.5 * deviation, "{tolerance} is too strict to be meaningful");
    assert!(error.abs() < tolerance, "load {load}: off by {error}");
}

#[test]
fn md1_waits_half_a_service_at_half_load() {
    // sqrt(2 / 1e6) / 0.5 = 0.28%.
    check_wait(10, 1_000_000, 0.02);
}

#[test]
fn md1_waits_two_services_at_load_0_8() {
    // sqrt(2 / 1e6) / 0.2 = 0.7%.
    check_wait(16, 1_000_000, 0.03);
}

#[test]
fn md1_waits_nine_and_a_half_services_at_load_0_95() {
    // sqrt(2 / 1e6) / 0.05 = 2.8%.
    check_wait(19, 1_000_000, 0.12);
}

#[test]
#[ignore = "slow: 45 million packets"]
fn md1_waits_are_within_two_percent() {
    // 0.71%, 0.5% and 0.45%.
    check_wait(10, 2_000_000, 0.02);
    check_wait(16, 4_000_000, 0.02);
    check_wait(19, 40_000_000, 0.02);
}

#[test]
fn a_packet_in_transmission_counts_where_bytes_are_held_to_its_end() {
    // On average rho packets are being sent. Both runs have the same arrivals, so only chance in
    // their number remains: 4e5 arrivals, 0.16%.
    let services = 500_000;
    let waiting = mean_wait(16, services, "release = \"start\"");
    let present = mean_wait(16, services, "release = \"end\"");
    assert!((present - waiting - 1.0).abs() < 0.007, "{present} - {waiting}");
}

// Dynamic Thresholds -----------------------------------------------------------------------------

/// The lengths of `n` overloaded queues, at every sample of the second half of a run.
fn overloaded(n: u32, buffer: u64, sharing: &str) -> Vec<Vec<u64>> {
    // Receivers 0 .. n; each has two senders at the full rate of its line.
    let pairs: Vec<String> = (0..2 * n).map(|i| format!("[{}, {}]", n + i, i % n)).collect();
    let run = run(&format!(
        r#"
        duration = "20ms"
        stop = "20ms"
        record = {{ queue_interval = "7us", drops = false }}
        topology = {{ kind = "star", hosts = {}, host_rate = "10Gbps", link_delay = "1us" }}
        transport = {{ kind = "udp", rate = "10Gbps" }}
        switch = {{ buffer = "{buffer}B", sharing = {sharing} }}
        [[traffic]]
        name = "overload"
        kind = "persistent"
        pairs = [{}]
        "#,
        3 * n,
        pairs.join(", ")
    ));
    assert!(run.drops(DropReason::OverThreshold) > 1000);
    let queues = &run.record.queues;
    let mut samples = std::collections::BTreeMap::new();
    for row in 0..queues.len() {
        if queues.time_ps[row] >= 10_000_000_000 {
            let sample: &mut Vec<u64> = samples.entry(queues.time_ps[row]).or_default();
            sample.push(queues.bytes[row]);
        }
    }
    assert!(samples.len() > 1000);
    samples.into_values().collect()
}

#[test]
fn dynamic_thresholds_settle_where_queues_and_threshold_meet() {
    // n queues of q each and T = alpha (B - n q) meet at q = alpha B / (1 + alpha n).
    let mut worst: f64 = 0.0;
    for alpha in [0.5, 1.0, 2.0] {
        for n in [1, 2, 3, 4, 8] {
            let buffer = 900_000;
            let expected = alpha * f64::from(buffer) / (1.0 + alpha * f64::from(n));
            let sharing = format!("{{ kind = \"dt\", alpha = {alpha:?} }}");
            for sample in overloaded(n, buffer as u64, &sharing) {
                assert_eq!(sample.len(), n as usize, "an overloaded queue was empty");
                for bytes in sample {
                    let off = bytes as f64 - expected;
                    worst = worst.max(off.abs());
                    assert!(off.abs() <= FULL as f64, "alpha {alpha}, n {n}: {bytes}, {expected}");
                }
            }
        }
    }
    println!("dynamic thresholds: within {worst:.0} bytes");
}

#[test]
fn the_paper_s_rule_lets_every_queue_go_one_packet_beyond() {
    // A queue below T may take a packet of any size, so it ends between T and T + 1500 B.
    let sharing = "{ kind = \"dt\", alpha = 1.0, count_arrival = false }";
    for sample in overloaded(2, 900_000, sharing) {
        // 300,000 each if the arriving packet counted.
        for bytes in sample {
            assert!((299_000..=301_500).contains(&bytes), "{bytes}");
        }
    }
}

// Scheduling -------------------------------------------------------------------------------------

/// The shares of three overloading classes of a port, in bytes of payload.
fn shares(scheduling: &str, mss: [u64; 3]) -> [f64; 3] {
    let classes: String = (0..3)
        .map(|class| {
            format!(
                r#"
                [[traffic]]
                name = "p{class}"
                kind = "persistent"
                pairs = [[{class}, 3]]
                priority = {class}
                mss = "{}B"
                "#,
                mss[class]
            )
        })
        .collect();
    let run = run(&format!(
        r#"
        warmup = "1ms"
        duration = "21ms"
        stop = "21ms"
        record = {{ drops = false }}
        topology = {{ kind = "star", hosts = 4, host_rate = "10Gbps", link_delay = "1us" }}
        transport = {{ kind = "udp", rate = "10Gbps" }}
        switch = {{ queue_limit = "100pkt", queues_per_port = 3, scheduling = {scheduling} }}
        {classes}
        "#
    ));
    let all = run.number("goodput_gbps.all");
    // Full packets: 10 Gbps less headers.
    let expected = if mss == [MSS; 3] { 10.0 * MSS as f64 / FULL as f64 } else { 9.0 };
    assert!(all >= 0.999 * expected && all < 10.0, "{all} Gbps");
    [0, 1, 2].map(|class| run.number(&format!("goodput_gbps.p{class}")) / all)
}

fn are_near(shares: [f64; 3], expected: [f64; 3]) {
    let near = |(share, expected): (&f64, &f64)| (share - expected).abs() <= 0.01 * expected;
    assert!(shares.iter().zip(&expected).all(near), "{shares:?}, expected {expected:?}");
}

#[test]
fn schedulers_share_the_line_as_they_should() {
    are_near(shares("{ kind = \"dwrr\", weights = [2, 1, 1] }", [MSS; 3]), [0.5, 0.25, 0.25]);
    are_near(shares("{ kind = \"dwrr\", weights = [1, 2, 5] }", [MSS; 3]), [0.125, 0.25, 0.625]);
    are_near(shares("\"rr\"", [MSS; 3]), [1.0 / 3.0; 3]);
    // All three send at the same rate and lose alike, so none is preferred.
    let [p0, p1, p2] = shares("\"strict\"", [MSS; 3]);
    assert!(p0 > 0.999 && p1 + p2 < 0.001, "{p0} {p1} {p2}");
}

#[test]
fn round_robin_shares_packets_and_deficits_share_bytes() {
    // Payloads of 1448, 724 and 362 B, in packets of 1500, 776 and 414 B.
    let sizes = [MSS, MSS / 2, MSS / 4];
    // Packet by packet payloads are as 4 : 2 : 1.
    are_near(shares("\"rr\"", sizes), [4.0 / 7.0, 2.0 / 7.0, 1.0 / 7.0]);
    // Equal bytes on the wire: payloads are as 1448/1500 : 724/776 : 362/414.
    let payload = [1448.0 / 1500.0, 724.0 / 776.0, 362.0 / 414.0];
    let all: f64 = payload.iter().sum();
    are_near(shares("\"dwrr\"", sizes), payload.map(|share| share / all));
}

// DCTCP ------------------------------------------------------------------------------------------

struct Steady {
    /// The longest queue, in packets.
    max: f64,
    mean: f64,
    /// Payload over what headers leave of the line.
    throughput: f64,
    jain: f64,
}

/// `n` DCTCP flows to one receiver at 10 Gbps, over lines with a delay of `delay_us`, with marks
/// above `k` packets.
fn dctcp(n: u32, k: u32, delay_us: u32, duration_ms: u32, more: &str) -> Steady {
    let aqm = format!("kind = \"ecn\", threshold = \"{k}pkt\"");
    dctcp_under(n, &aqm, delay_us, duration_ms, more)
}

/// The same under any AQM.
fn dctcp_under(n: u32, aqm: &str, delay_us: u32, duration_ms: u32, more: &str) -> Steady {
    let flows: Vec<String> = (0..n).map(|flow| flow.to_string()).collect();
    let half = duration_ms / 2;
    let run = run(&format!(
        r#"
        warmup = "{half}ms"
        duration = "{duration_ms}ms"
        stop = "{duration_ms}ms"
        record = {{ windows = [{}], window_interval = "{half}ms" }}
        transport = {{ kind = "dctcp" {more} }}
        [topology]
        kind = "star"
        hosts = {}
        host_rate = "10Gbps"
        link_delay = "{delay_us}us"
        [switch]
        buffer = "unlimited"
        aqm = {{ {aqm} }}
        [[traffic]]
        name = "long"
        kind = "persistent"
        receiver = {n}
        "#,
        flows.join(", "),
        n + 1
    ));
    assert_eq!((run.all_drops(), run.counters.timeouts), (0, 0));
    // Sampled in the middle and at the end.
    let windows = &run.record.windows;
    let delivered = |flow: u32| {
        let rows = (0..windows.len()).filter(|&row| windows.flow_id[row] == flow);
        let bytes: Vec<u64> = rows.map(|row| windows.delivered_bytes[row]).collect();
        (bytes[1] - bytes[0]) as f64
    };
    let shares: Vec<f64> = (0..n).map(delivered).collect();
    let seconds = f64::from(half) * 1e-3;
    Steady {
        max: run.number("buffer_occupancy.max") / FULL as f64,
        mean: run.number("buffer_occupancy.mean") / FULL as f64,
        throughput: shares.iter().sum::<f64>() / (LINE * seconds * MSS as f64 / FULL as f64),
        jain: jain(&shares),
    }
}

/// The number of packets of 1500 B that a line of 10 Gbps sends in a round trip without queues: 1.2
/// us for data and 0.0416 us for an ack of 52 B on each of two lines, and four delays.
fn packets_in_a_round_trip(delay_us: u32) -> f64 {
    (2.0 * (1.2 + 0.0416) + 4.0 * f64::from(delay_us)) / 1.2
}

/// Alizadeh et al., SIGCOMM 2010, section 3.3: N synchronised flows, each of which grows by a
/// packet per round trip, find the queue at K and learn of it a round trip later, so the queue
/// peaks at K + N. From there it falls by A = sqrt(2 N (C RTT + K)) / 2 and rises again linearly,
/// so on average it is A/2 below its peak.
///
/// Here a packet is marked if it finds more than K packets, not counting itself. The first marked
/// one is the (K + 2)nd in the queue, so the peak is at K + 2 + N. Two synchronised flows reach it
/// to the byte.
fn check_dctcp(n: u32, k: u32, delay_us: u32) {
    let steady = dctcp(n, k, delay_us, 200, "");
    let peak = f64::from(k + 2 + n);
    let amplitude =
        0.5 * (2.0 * f64::from(n) * (packets_in_a_round_trip(delay_us) + f64::from(k))).sqrt();
    let mean = peak - amplitude / 2.0;
    println!(
        "DCTCP N {n}, K {k}, {delay_us} us: peak {} ({peak}), mean {:.1} ({mean:.1}), \
         throughput {:.5}, Jain {:.4}",
        steady.max, steady.mean, steady.throughput, steady.jain
    );
    assert!((steady.max - f64::from(k + n)).abs() <= 3.0, "{}", steady.max);
    assert!((steady.mean / mean - 1.0).abs() < 0.1, "{} {mean}", steady.mean);
    assert!(steady.throughput > 0.999 && steady.throughput < 1.0005, "{}", steady.throughput);
    assert!(steady.jain > 0.98, "{}", steady.jain);
}

#[test]
fn dctcp_peaks_at_k_plus_n_with_full_throughput() {
    // C RTT = 35 packets. K = 70 is far above a seventh of that, the least that keeps the line
    // busy.
    for n in [2, 8, 16] {
        check_dctcp(n, 70, 10);
    }
    // C RTT = 335 packets; a seventh is 48.
    for n in [2, 8] {
        check_dctcp(n, 70, 100);
    }
}

/// A packet that is marked as it leaves has its queueing delay behind it: its sender learns of the
/// mark after a round trip without queues, in place of one with K packets in it. In that time a
/// flow, which grows by a packet per whole round trip, grows by C RTT / (C RTT + K) of one. So the
/// queue peaks at K + 2 + N C RTT / (C RTT + K) if all flows learn of it as early as the first.
/// Those whose packets stand further back do later, so that it peaks higher, by a sixth of N here.
/// Marked on arrival, the queue peaks at K + 2 + N, which is 5 and 11 packets more.
#[test]
fn marks_at_departure_overshoot_by_what_flows_grow_in_a_round_trip_without_queues() {
    let (k, delay_us) = (70, 10);
    let own = packets_in_a_round_trip(delay_us);
    for n in [8, 16] {
        let aqm = format!("kind = \"ecn\", threshold = \"{k}pkt\", marks_at = \"departure\"");
        let steady = dctcp_under(n, &aqm, delay_us, 200, "");
        let least = f64::from(k + 2) + f64::from(n) * own / (own + f64::from(k));
        println!("DCTCP N {n}, marked as packets leave: peak {} ({least:.1})", steady.max);
        let range = least..least + f64::from(n) / 4.0;
        assert!(range.contains(&steady.max), "{} {range:?}", steady.max);
        assert!(steady.throughput > 0.999 && steady.throughput < 1.0005, "{}", steady.throughput);
    }
}

/// Identical flows synchronise, and some numbers of them then keep unequal shares: a small window
/// is cut twice while a large one is cut once. Whether this happens depends on how senders get down
/// to a cut window.
#[test]
fn three_dctcp_flows_in_step_do_not_share_equally_unless_cuts_are_reached_by_and_by() {
    let jain = |more: &str| dctcp(3, 70, 10, 200, more).jain;
    let at_once = jain("");
    assert!((0.8..0.98).contains(&at_once), "{at_once}");
    assert!(jain(", recovery.reduction = \"proportional-ns3\"") > 0.98);
}

#[test]
fn any_number_of_dctcp_flows_peaks_at_k_plus_n_with_full_throughput() {
    for delay_us in [10, 100] {
        for n in 2..=32 {
            let steady = dctcp(n, 70, delay_us, 200, "");
            println!("N {n}, {delay_us} us: Jain {:.3}", steady.jain);
            assert!((steady.max - f64::from(70 + n)).abs() <= 3.0, "{n}: {}", steady.max);
            assert!(steady.throughput > 0.999, "{n}: {}", steady.throughput);
            assert!(steady.jain > 0.8, "{n}: {}", steady.jain);
        }
    }
}

/// The longest queue of each class that was sampled, and the mean, where three classes of two DCTCP
/// flows each share a line of 10 Gbps by 2:1:1.
fn queues_by_weight(aqm: &str) -> [(f64, f64); 3] {
    let classes: String = (0..3)
        .map(|class| {
            format!(
                r#"
                [[traffic]]
                name = "p{class}"
                kind = "persistent"
                pairs = [[{}, 6], [{}, 6]]
                priority = {class}
                "#,
                2 * class,
                2 * class + 1
            )
        })
        .collect();
    let run = run(&format!(
        r#"
        warmup = "20ms"
        duration = "60ms"
        stop = "60ms"
        record = {{ drops = false, queue_interval = "7us" }}
        transport = {{ kind = "dctcp" }}
        topology = {{ kind = "star", hosts = 7, host_rate = "10Gbps", link_delay = "20us" }}
        [switch]
        queues_per_port = 4
        ack_queue = 3
        scheduling = {{ kind = "dwrr", weights = [2, 1, 1, 1] }}
        aqm = {aqm}
        {classes}
        "#
    ));
    assert_eq!(run.counters.timeouts, 0);
    let queues = &run.record.queues;
    [0, 1, 2].map(|class| {
        let rows = (0..queues.len()).filter(|&row| {
            let late = queues.time_ps[row] > 20_000_000_000;
            late && queues.port[row] == 6 && queues.queue[row] == class
        });
        let bytes: Vec<f64> = rows.map(|row| queues.bytes[row] as f64).collect();
        let longest = bytes.iter().copied().fold(0.0, f64::max);
        (longest, bytes.iter().sum::<f64>() / bytes.len() as f64)
    })
}

#[test]
fn mq_ecn_holds_each_queue_at_its_share() {
    let by_share = queues_by_weight("{ kind = \"mq-ecn\", rtt = \"80us\" }");
    let alike = queues_by_weight("{ kind = \"ecn\", threshold = \"100KB\" }");
    println!("{by_share:?}, with one threshold for all {alike:?}");
    // 10 Gbps in 80 us are 100,000 bytes, of which the classes have a half and a quarter each.
    // Queues peak with what two flows add until they have heard of a mark, and stay near.
    for ((longest, mean), k) in by_share.into_iter().zip([50_000.0, 25_000.0, 25_000.0]) {
        assert!(longest > k && longest <= k + 6_000.0, "{longest}, K = {k}");
        assert!(mean > 0.9 * k && mean < k, "{mean}, K = {k}");
    }
    assert!(alike.iter().all(|&(longest, _)| longest > 100_000.0), "{alike:?}");
}

#[test]
fn dctcp_loses_throughput_where_k_is_too_low() {
    // C RTT = 335, K = 2: A = sqrt(2 * 2 * 337) / 2 = 18 packets, more than K + 2 + N = 6, so the
    // queue is empty for a part of every cycle.
    let steady = dctcp(2, 2, 100, 200, "");
    assert!((0.9..0.99).contains(&steady.throughput), "{}", steady.throughput);
}

/// Where the analysis does not hold: windows are at least two segments, so N of them keep 2 N - C
/// RTT packets in the queue in spite of all marks, if that is more than K.
#[test]
fn the_least_window_of_many_flows_holds_the_queue_above_k() {
    let (n, k, delay_us) = (32, 20, 10);
    let steady = dctcp(n, k, delay_us, 200, "");
    // 64 - 35.4.
    let expected = f64::from(2 * n) - packets_in_a_round_trip(delay_us);
    assert!((steady.mean - expected).abs() < 0.5, "{} {expected}", steady.mean);
    assert!(steady.max <= expected + 1.0, "{}", steady.max);
}

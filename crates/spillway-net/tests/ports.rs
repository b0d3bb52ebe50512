//! What is recorded about ports: samples, what they would hold without losses, shares by class,
//! bursts, and what Smartbuf learns from them.

use crate::common::*;
use spillway_net::record::Record;

/// Eight hosts send datagrams to a ninth, at 20 times its rate for a while, and others to a tenth.
/// They do not react to losses, so later arrivals do not depend on them.
fn open_loop(switch: &str, record: &str) -> Run {
    run(&format!(
        r#"
        duration = "400us"
        topology = {{ kind = "star", hosts = 24, host_rate = "10Gbps", link_delay = "1us" }}
        switch = {{ {switch} }}
        transport = {{ kind = "udp" }}
        [[traffic]]
        name = "burst"
        kind = "incast"
        queries_per_host_per_s = 8000
        sizes = "1KB..20KB"
        fan_in = "4..16"
        senders = "any"
        receivers = [8, 9]
        jitter = "10us"
        [[traffic]]
        name = "other"
        kind = "poisson"
        sizes = "100B..3KB"
        load = 0.3
        load_of = "host"
        destinations = "uniform"
        [record]
        {record}
        "#
    ))
}

/// Samples of a port: time, bytes, bytes without losses, limit.
fn samples(record: &Record, port: u32) -> Vec<(u64, u64, u64, u64)> {
    let table = &record.ports;
    let rows = 0..table.len();
    let rows = rows.filter(|&row| table.port[row] == port).map(|row| {
        (
            table.time_ps[row],
            table.bytes[row],
            table.unbounded_bytes[row],
            table.threshold_bytes[row],
        )
    });
    rows.collect()
}

#[test]
fn the_queue_that_loses_nothing_is_that_of_an_unlimited_buffer() {
    let record = "port_interval = \"1us\"";
    let limited = open_loop("buffer = \"60KB\", sharing = \"dt\"", record);
    let unlimited = open_loop("buffer = \"unlimited\"", record);
    assert!(limited.all_drops() > 80 && unlimited.all_drops() == 0, "{}", limited.all_drops());
    let (mut most, mut excess) = (0, 0);
    for port in [8, 9] {
        let (here, there) = (samples(&limited.record, port), samples(&unlimited.record, port));
        for (&(time, bytes, unbounded, _), &(_, held, same, _)) in here.iter().zip(&there) {
            assert_eq!(held, same, "nothing is lost there");
            // Whole packets are sent, one at a time.
            assert!(unbounded.abs_diff(held) <= 2 * FULL, "{time}: {unbounded} of {held}");
            most = most.max(held);
            excess = excess.max(unbounded - bytes);
        }
    }
    assert!(most > 120_000 && excess > 100_000, "{most} {excess}");
}

#[test]
fn samples_have_the_policy_s_limit_and_the_shares_of_classes() {
    let run = open_loop("buffer = \"60KB\", sharing = \"dt\"", "port_interval = \"2us\"");
    let (table, classes) = (&run.record.ports, &run.record.port_classes);
    let times = 1 + table.time_ps[table.len() - 1] / 2_000_000;
    assert_eq!(table.len() as u64, 24 * times);
    let mut row = 0;
    let mut by_class = [0, 0];
    for at in (0..table.len()).step_by(24) {
        // T = 0.5 (B - Q) at every port.
        let held: u64 = table.bytes[at..at + 24].iter().sum();
        let limit = (60_000 - held) / 2;
        assert!(table.threshold_bytes[at..at + 24].iter().all(|&each| each == limit));
        for port in 0..24 {
            let mut bytes = 0;
            let is_here = |row: usize| {
                row < classes.len()
                    && (classes.time_ps[row], classes.port[row]) == (table.time_ps[at], port)
            };
            while is_here(row) {
                by_class[usize::from(classes.class[row])] += classes.bytes[row];
                bytes += classes.bytes[row];
                row += 1;
            }
            assert_eq!(bytes, table.bytes[at + port as usize]);
        }
    }
    assert_eq!(row, classes.len());
    assert!(by_class.iter().all(|&bytes| bytes > 100_000), "{by_class:?}");
    let run = open_loop("buffer = \"60KB\"", "port_interval = \"2us\"\nport_switch = 0");
    let ports = &run.record.ports;
    assert!((0..ports.len()).all(|row| ports.threshold_bytes.known(row).is_none()));
}

/// Also for policies that compute their thresholds at arrivals.
#[test]
fn where_nothing_comes_thresholds_fall() {
    for sharing in ["followlqd", "{ kind = \"credence\", oracle = \"always-accept\" }"] {
        let run = run(&format!(
            r#"
            duration = "2ms"
            topology = {{ kind = "star", hosts = 9, host_rate = "10Gbps", link_delay = "1us" }}
            switch = {{ buffer = "1MB", sharing = {sharing} }}
            transport = {{ kind = "udp", rate = "10Gbps" }}
            [[traffic]]
            name = "burst"
            kind = "incast"
            queries = 1
            queries_per_host_per_s = 10000
            burst = "160KB"
            fan_in = 8
            senders = "any"
            receivers = [0]
            [record]
            port_interval = "5us"
            "#,
            sharing =
                if sharing.starts_with('{') { sharing.to_string() } else { format!("{sharing:?}") },
        ));
        let limits: Vec<_> = samples(&run.record, 0).iter().map(|row| (row.1, row.3)).collect();
        // The virtual switch holds what the real one does, except for the packet being sent.
        assert!(limits.iter().all(|&(bytes, limit)| bytes.abs_diff(limit) <= FULL), "{limits:?}");
        assert!(limits.iter().any(|&(bytes, _)| bytes > 90_000), "{limits:?}");
        assert!(limits.last().unwrap().1 < 2 * FULL, "{limits:?}");
    }
}

#[test]
fn recording_ports_and_bursts_changes_nothing() {
    for sharing in [
        "\"dt\"",
        "{ kind = \"smartbuf\", sigma = 10.0 }",
        "\"lqd\"",
        "\"fab\"",
        "\"edt\"",
        "\"followlqd\"",
        "{ kind = \"credence\", oracle = \"random\", drop_probability = 0.1 }",
    ] {
        let switch = format!("buffer = \"60KB\", sharing = {sharing}");
        let plain = open_loop(&switch, "");
        let record = "port_interval = \"3us\"\nbursts = \"10%\"\nburst_end = 0.3";
        let watched = open_loop(&switch, record);
        assert_eq!(plain.flows, watched.flows, "{sharing}");
        assert_eq!(plain.record.drops, watched.record.drops, "{sharing}");
        assert_eq!(plain.summary["sharing_counts"], watched.summary["sharing_counts"], "{sharing}");
        assert!(plain.record.ports.is_empty() && plain.record.bursts.is_empty());
        assert!(watched.record.bursts.len() > 3, "{sharing}");
    }
}

#[test]
fn the_bursts_recorded_are_those_that_smartbuf_learns() {
    // Every burst that it does not recognise is learned; the quanta of gradients are so small that
    // all differ.
    let run = open_loop(
        "buffer = \"60KB\", sharing = { kind = \"smartbuf\", sigma = 10.0, key = \"at-detection\", \
         key_quantum = 1e-7 }",
        "bursts = \"10%\"",
    );
    let (bursts, history) = (&run.record.bursts, &run.record.history);
    let over: Vec<usize> =
        (0..bursts.len()).filter(|&row| bursts.end_ps.known(row).is_some()).collect();
    assert!(over.len() > 5 && over.len() == history.len(), "{} {}", over.len(), history.len());
    let sorted = |mut pairs: Vec<(f64, u64)>| {
        pairs.sort_by(|a, b| a.partial_cmp(b).unwrap());
        pairs
    };
    let seen = over.iter().map(|&row| (bursts.gradient_bps[row], bursts.peak_bytes[row]));
    let known = (0..history.len()).map(|row| (history.gradient_bps[row], history.bytes[row]));
    for (seen, known) in sorted(seen.collect()).into_iter().zip(sorted(known.collect())) {
        // A ten-millionth of 10 Gbps.
        assert!((seen.0 - known.0).abs() <= 1_000.0 && seen.1 == known.1, "{seen:?} {known:?}");
    }
    // The first burst has nothing to be compared with: T = 0.5 (B - Q), and Q is at least what it
    // held.
    let first = (bursts.first_threshold_bytes[0], bursts.peak_bytes[0]);
    assert!(first.0 <= 27_000 && first.1 > 6_000, "{first:?}");
    for &row in &over {
        let (demand, peak) = (bursts.demand_bytes[row], bursts.peak_bytes[row]);
        assert!(demand > peak || (demand == peak && bursts.lost_bytes[row] == 0));
        assert!(bursts.start_ps[row] <= bursts.detected_ps[row]);
        assert!(bursts.detected_ps[row] < bursts.end_ps[row]);
        let [least, last, most] = [
            bursts.least_threshold_bytes[row],
            bursts.last_threshold_bytes[row],
            bursts.most_threshold_bytes[row],
        ];
        assert!(least <= last && last <= most, "{least} {last} {most}");
    }
}

#[test]
fn smartbuf_that_knows_nothing_is_dynamic_thresholds() {
    for (name, topology) in [
        ("star", "{ kind = \"star\", hosts = 16 }"),
        ("leaf-spine", "{ kind = \"leaf-spine\", leaves = 3, spines = 2, hosts_per_leaf = 6 }"),
    ] {
        let of = |sharing: &str| {
            run(&format!(
                r#"
                duration = "2ms"
                topology = {topology}
                transport = {{ kind = "dctcp", recovery.min_rto = "1ms" }}
                [switch]
                buffer = "150KB"
                queues_per_port = 2
                aqm = "ecn"
                sharing = {sharing}
                [[traffic]]
                name = "burst"
                kind = "incast"
                queries_per_host_per_s = 500
                sizes = "1KB..32KB"
                fan_in = "4..10"
                senders = "any"
                [[traffic]]
                name = "web"
                kind = "poisson"
                sizes = "websearch"
                load = 0.5
                load_of = "host"
                destinations = "uniform"
                "#
            ))
        };
        let dynamic = of("{ kind = \"dt\", alpha = [4, 0.5], alpha_first_rtt = 1.0 }");
        assert!(dynamic.all_drops() > 100, "{name}: {}", dynamic.all_drops());
        for variant in ["text", "printed"] {
            let smart = of(&format!(
                "{{ kind = \"smartbuf\", alpha = [4, 0.5], alpha_first_rtt = 1.0, \
                 learning_period = \"60s\", variant = \"{variant}\" }}"
            ));
            assert_eq!(dynamic.flows, smart.flows, "{name}, {variant}");
            assert_eq!(dynamic.record.drops, smart.record.drops, "{name}, {variant}");
        }
        let smart = of("{ kind = \"smartbuf\", alpha = [4, 0.5], alpha_first_rtt = 1.0 }");
        assert_ne!(dynamic.flows, smart.flows, "{name}: it learns, and then it is not");
        // Everything is forgotten at once, so it never finds a match.
        let smart = of("{ kind = \"smartbuf\", alpha = [4, 0.5], alpha_first_rtt = 1.0, \
             max_age = \"0s\" }");
        assert_eq!(dynamic.flows, smart.flows, "{name}, empty");
        assert_eq!(dynamic.record.drops, smart.record.drops, "{name}, empty");
    }
}

#[test]
fn what_cannot_be_recorded_is_refused() {
    for (switch, record, problem) in [
        ("", "bursts = \"20%\"", "record.bursts: a share of an unlimited buffer; expected bytes"),
        ("", "bursts = 20", "record.bursts: 20 is not valid; expected a share of the buffer"),
        ("", "burst_end = 0.5", "record.burst_end: it needs `bursts`"),
        ("", "bursts = \"20KB\"\nburst_end = 2.0", "record.burst_end: "),
        ("", "bursts = \"20KB\"\nburst_end = 0.0", "record.burst_end: 0.0 is not valid"),
        ("", "bursts = \"0B\"", "record.bursts: 0B is not valid; it must be above 0"),
        ("buffer = \"1MB\"", "bursts = \"100%\"", "record.bursts: not a share that a port can"),
        ("buffer = \"1MB\"", "bursts = \"0%\"", "record.bursts: not a share that a port can"),
        ("", "port_switch = 0", "record.port_switch: it needs `port_interval`"),
        ("", "aqm_switch = 0", "record.aqm_switch: it needs `aqm_interval`"),
        ("", "aqm_interval = \"0us\"", "record.aqm_interval: \"0us\" is not valid"),
        (
            "",
            "aqm_interval = \"1us\"\naqm_switch = 1",
            "record.aqm_switch: 1 is not a switch; there is only 0",
        ),
        ("", "empty_queues = true", "record.empty_queues: it needs `queue_interval`"),
        ("", "port_interval = \"0us\"", "record.port_interval: \"0us\" is not valid"),
        (
            "",
            "port_interval = \"1us\"\nport_switch = 1",
            "record.port_switch: 1 is not a switch; there is only 0",
        ),
        (
            "",
            "decisions_switch = -1",
            "record.decisions_switch: -1 is not valid; expected a switch such as \"leaf0\", or its \
             number",
        ),
        ("", "decisions_switch = \"\"", "record.decisions_switch: \"\" is not valid; expected a"),
        ("", "decisions_switch = \"spine0\"", "record.decisions_switch: there is no \"spine0\" in"),
        ("", "decisions_switch = 7", "record.decisions_switch: 7 is not a switch; there is only 0"),
        (
            "",
            "decisions_port = 16",
            "record.decisions_port: 16 is not a port of any switch; there are 16, from 0 to 15",
        ),
        (
            "queues_per_port = 3",
            "decisions_switch = 0\ndecisions_queue = 3",
            "record.decisions_queue: 3 is not a queue of a port of leaf0; there are 3, from 0 to 2",
        ),
        ("", "decisions_flow = 0", "record.decisions_flow: 0 is not a flow; there are none"),
        ("", "decisions_port = 1", "record.decisions_port: it needs `decisions`"),
        ("", "windows = [0, 4]", "record.windows: 4 is not a flow; there are none"),
        (
            "port_fifo_packets = 1",
            "bursts = \"20KB\"",
            "record.bursts: not with switch.port_fifo_packets",
        ),
        (
            "port_fifo_packets = 1",
            "port_interval = \"1us\"",
            "record.port_interval: not with switch.port_fifo_packets",
        ),
    ] {
        let text = format!(
            "duration = \"1ms\"\ntopology = {{ kind = \"star\" }}\nswitch = {{ {switch} }}\n\
             transport = {{ kind = \"udp\" }}\n[record]\n{record}"
        );
        let sources = spillway_net::scenario::Sources::of(std::path::Path::new(""));
        let read = spillway_net::scenario::Scenario::read(text.parse().unwrap(), &sources);
        let error = read.unwrap_err().to_string();
        assert!(error.starts_with(problem), "{record}: {error}");
    }
}

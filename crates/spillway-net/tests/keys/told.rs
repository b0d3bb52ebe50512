//! What would do nothing or never end is refused, and what is probably not meant is warned of.

use super::{BASE, read, table};
use spillway_net::scenario::Scenario;
use spillway_net::simulation::{Progress, Simulation};
use spillway_settings::{SettingsError, apply};

/// The base with assignments applied.
fn assigned(assignments: &[&str]) -> Result<Scenario, SettingsError> {
    let mut given = table(BASE);
    for assignment in assignments {
        apply(&mut given, assignment)?;
    }
    read(given)
}

#[test]
fn what_would_do_nothing_or_never_end_is_refused() {
    for (assignments, error) in [
        (&["duration=0us"][..], "duration: \"0us\" is not valid; expected a time above 0"),
        (
            &["topology.base_rtt=0us"],
            "topology.base_rtt: \"0us\" is not valid; expected a time above 0",
        ),
        (
            &["switch.sharing=abm", "switch.sharing.update_interval=0us"],
            "switch.sharing.update_interval: \"0us\" is not valid; expected a time above 0",
        ),
        (
            &[
                "switch.sharing=abm",
                "switch.sharing.congestion=fractional",
                "switch.sharing.saturation=0B",
            ],
            "switch.sharing.saturation: \"0B\" is not valid; expected a size above 0",
        ),
        (&["switch.sharing={}"], "switch.sharing: {} is not valid; expected one of cs, sp, dt,"),
        (
            &["switch.leaf.aqm={}"],
            "switch.leaf.aqm: {} is not valid; expected one of none, ecn, red",
        ),
        (&["switch.buffer=0B"], "switch.buffer: \"0B\" is not valid; expected a size above 0"),
        (&["switch.buffer=0KB/port/Gbps"], "switch.buffer: \"0KB/port/Gbps\" is not valid"),
        (
            &["switch.queue_limit=0B"],
            "switch.queue_limit: 0B is not valid; nothing would ever be queued",
        ),
        (
            &["switch.unimportant_limit=1500B"],
            "switch.unimportant_limit: 1500B is not above a full packet of 1500B: no unimportant packet \
             could come below it",
        ),
        (
            &["switch.buffer=unlimited", "switch.unimportant_limit=9%"],
            "switch.unimportant_limit: a share needs a limited buffer",
        ),
        (
            &["switch.data_queue=7", "switch.queues_per_port=7"],
            "switch.data_queue: 7 is no queue class: queues_per_port = 7, so there are 0 to 6",
        ),
        (
            &["switch.ack_queue=1", "switch.queues_per_port=1"],
            "switch.ack_queue: 1 is no queue class: queues_per_port = 1, so there are 0 to 0",
        ),
        (&["switch.data_queue=-1"], "switch.data_queue: -1 is not valid; expected a whole number"),
        (
            &["nic.data_queue=7", "nic.queues=7"],
            "nic.data_queue: 7 is no queue class: queues = 7, so there are 0 to 6",
        ),
        (
            &["nic.ack_queue=8", "nic.queues=8"],
            "nic.ack_queue: 8 is no queue class: queues = 8, so there are 0 to 7",
        ),
        (&["switch.queue_limit=0pkt"], "switch.queue_limit: 0pkt is not valid; nothing would ever"),
        (
            &["switch.scheduling=dwrr", "switch.scheduling.quantum=0B"],
            "switch.scheduling.quantum: \"0B\" is not valid; expected a size above 0",
        ),
        (&["name=\"\""], "name: \"\" is not valid; expected a name"),
        (&["traffic.0.name=\" \""], "traffic. .name: \" \" is not valid; expected a name"),
        (&["traffic.a.size=0B"], "traffic.a.size: \"0B\" is not valid; expected a size above 0"),
        (
            &["traffic.a.priority=255"],
            "traffic.a.priority: 255 is not valid; expected a whole number",
        ),
        (
            &["traffic.b.interval=0s"],
            "traffic.b.interval: \"0s\" is not valid; expected a time above 0",
        ),
        (
            &["record.link_interval=0us"],
            "record.link_interval: \"0us\" is not valid; expected a time",
        ),
        (&["limits.flows=0"], "limits.flows: 0 is not valid; expected a whole number from 1 to"),
        (
            &["transport.kind=timely", "transport.min_rtt=0us"],
            "transport.min_rtt: \"0us\" is not valid",
        ),
        (
            &["transport.kind=dcqcn", "transport.alpha_interval=99ns"],
            "transport.alpha_interval: \"99ns\" is not valid; expected a time from 100ns on, such as",
        ),
        (
            &["transport.kind=dcqcn", "transport.byte_counter=0B"],
            "transport.byte_counter: \"0B\" is not valid; expected a size above 0 such as",
        ),
        (
            &["transport.kind=hpcc", "transport.telemetry_units=0"],
            "transport.telemetry_units: 0 is not valid; expected \"exact\", \"per-25Gbps\", or a whole",
        ),
        (
            &["transport.kind=hpcc", "transport.rate_step=1000"],
            "transport.rate_step: 1000 is not valid; expected a rate such as",
        ),
        (
            &["transport.kind=hpcc", "transport.preset=simulator", "transport.expected_flows=9"],
            "transport.expected_flows: it needs rate_step = \"expected-flows\"",
        ),
        (
            &["transport.kind=timely", "transport.window=first"],
            "transport.window: \"first\" is not valid; expected a size above 0 such as",
        ),
        (
            &["transport.kind=dcqcn", "transport.window=1bdp", "transport.window=0B"],
            "transport.window: \"0B\" is not valid; expected a size above 0 such as",
        ),
    ] {
        let refused = assigned(assignments).unwrap_err().to_string();
        assert!(refused.starts_with(error), "{refused}");
    }
}

#[test]
fn a_tier_s_policy_without_a_kind_is_told_to_set_it_first() {
    let hint = |assignments: &[&str]| assigned(assignments).unwrap_err().hint.unwrap();
    let kind_first = "a tier's policy replaces the whole policy of `switch`: set \
                      switch.leaf.sharing, its kind, first";
    let (dt, alpha) = ("switch.sharing=dt", "switch.leaf.sharing.alpha=1");
    assert_eq!(hint(&[dt, alpha]), kind_first);
    // Not where the tier has a kind, where there is no other policy, or about another key.
    assert_ne!(hint(&[dt, "switch.leaf.sharing=cs", alpha]), kind_first);
    assert_ne!(hint(&[alpha]), kind_first);
    let another = ["switch.leaf.aqm=ecn", "switch.leaf.aqm.treshold=1pkt"];
    assert_eq!(hint(&[&[dt], &another[..]].concat()), "did you mean `threshold`?");
    assert!(assigned(&[dt, "switch.leaf.sharing=dt", alpha]).is_ok());
}

#[test]
fn what_is_probably_not_meant_is_warned_of() {
    assert_eq!(assigned(&[]).unwrap().warnings, [""; 0]);
    for (assignments, expected) in [
        (
            &["switch.sharing=dt", "switch.sharing.alpha=[1, 2, 3]"][..],
            &["switch.sharing.alpha: 3 numbers, but a port has 2 queues: the others mean nothing"]
                [..],
        ),
        (
            &[
                "switch.spine.queues_per_port=1",
                "switch.spine.scheduling.kind=dwrr",
                "switch.spine.scheduling.weights=[2, 1]",
            ],
            &[
                "switch.spine.scheduling.weights: 2 numbers, but a port has one queue: the others mean nothing",
            ],
        ),
        (
            &["switch.buffer=1499B", "switch.spine.buffer=1MB"],
            &[
                "switch.buffer: a leaf has room for 1499 bytes; a full packet, which counts 1500, never gets \
               through it",
            ],
        ),
        (
            &["switch.buffer=1499B", "switch.uncounted_bytes=1B", "switch.queue_limit=1498B"],
            &[
                "switch.queue_limit: a leaf has room for 1498 bytes; a full packet, which counts 1499, \
                 never gets through it",
                "switch.queue_limit: a spine has room for 1498 bytes; a full packet, which counts 1499, \
                 never gets through it",
            ],
        ),
        (
            &["event.0.at=5ms", "event.0.until=6ms"],
            &["event.0: at = 5ms is not before stop = 5ms: it never happens"],
        ),
        (&["traffic.b.start=60us"], &["traffic.b: no flow starts before duration = 60us"]),
        (
            &["traffic.a.start=1ms", "traffic.b.start=1ms"],
            &[
                "traffic.a: no flow starts before duration = 60us",
                "traffic.b: no flow starts before duration = 60us",
            ],
        ),
        (
            &["traffic.a.recovery.initial_rto=5us"],
            &[
                "traffic.a.recovery.initial_rto = 5us is less than 25.2us, which a packet and its ack take in the \
               empty network: what a flow sends first is sent again before its ack can be there",
            ],
        ),
    ] {
        assert_eq!(assigned(assignments).unwrap().warnings, expected);
    }
}

/// The buffer holds 20,000 bytes, and a full packet has 1500.
#[test]
fn a_threshold_that_no_queue_can_reach_is_warned_of() {
    let warned = |aqm: &[&str]| {
        let leaf = aqm.iter().map(|setting| format!("switch.leaf.aqm.{setting}"));
        let all: Vec<String> =
            ["switch.leaf.scheduling=dwrr".into()].into_iter().chain(leaf).collect();
        assigned(&all.iter().map(String::as_str).collect::<Vec<_>>()).unwrap().warnings
    };
    let expected = |key: &str, from: u64| {
        format!(
            "switch.leaf.aqm.{key}: a leaf marks queues from {from} bytes on, but its buffer holds 20000: a \
             queue that has its port to itself is never marked"
        )
    };
    for (aqm, key, from) in [
        (&["kind=ecn"][..], "threshold", 99_000),
        (&["kind=ecn", "threshold=20KB"], "threshold", 20_001),
        (&["kind=ecn", "threshold=20001B", "at_threshold=mark"], "threshold", 20_001),
        (&["kind=ecn", "threshold=13pkt"], "threshold", 21_000),
        (&["kind=red", "min=20001B", "max=30KB"], "min", 20_001),
        (&["kind=red", "min=14pkt"], "min", 21_000),
        (&["kind=ared", "min=14pkt"], "min", 21_000),
        (&["kind=pred", "min=20001B"], "min", 20_001),
        // 16 us at 10 Gbps.
        (&["kind=mq-ecn", "rtt=16us"], "rtt", 20_001),
        // A packet that waits for more than 17.2 us finds 21,500 bytes, 1,500 of them on the line.
        (&["kind=tcn", "threshold=17200ns"], "threshold", 20_001),
        (&["kind=tcn", "threshold=50ms"], "threshold", 62_498_501),
        (&["kind=codel", "target=17200001ps"], "target", 20_001),
        // 17 steps of ns-3's clock are 17.408 us, 21,760 bytes.
        (&["kind=codel", "rules=ns3", "target=18us"], "target", 20_260),
        (&["kind=ecn-sharp", "target=17200001ps"], "target", 20_001),
        (&["kind=ecn-sharp", "target=50ms", "instant=17200ns"], "instant", 20_001),
        // Half of the target.
        (&["kind=pie", "target=34400001ps"], "target", 20_001),
    ] {
        assert_eq!(warned(aqm), [expected(key, from)], "{aqm:?}");
    }
    for aqm in [
        &["kind=ecn", "threshold=19999B"][..],
        &["kind=ecn", "threshold=20KB", "at_threshold=mark"],
        &["kind=ecn", "threshold=12pkt"],
        // Nothing shall be marked.
        &["kind=ecn", "threshold=unlimited"],
        &["kind=red", "min=20KB", "max=30KB"],
        &["kind=pred", "min=20KB"],
        &["kind=mq-ecn", "rtt=15999ns"],
        &["kind=mq-ecn", "rtt=32us", "lambda=0.4999"],
        &["kind=tcn", "threshold=17199999ps"],
        &["kind=codel", "target=17200ns"],
        &["kind=codel", "rules=ns3", "target=17us"],
        &["kind=ecn-sharp", "target=17200ns"],
        // One rule is enough.
        &["kind=ecn-sharp", "target=50ms", "instant=17199999ps"],
        &["kind=ecn-sharp", "instant=50ms"],
        &["kind=pie", "target=34400ns"],
    ] {
        assert_eq!(warned(aqm), [""; 0], "{aqm:?}");
    }
    // What joins a queue of at most 8 packets finds 7, 10,500 bytes, and everything that finds 8 is
    // refused, marked or not.
    let within = |limit: &str, aqm: &[&str]| {
        let limit = format!("switch.leaf.queue_limit={limit}");
        let aqm = aqm.iter().map(|setting| format!("switch.leaf.aqm.{setting}"));
        let all: Vec<String> = [limit].into_iter().chain(aqm).collect();
        assigned(&all.iter().map(String::as_str).collect::<Vec<_>>()).unwrap().warnings
    };
    for (limit, aqm, key, from, most) in [
        ("8pkt", &["kind=ecn", "threshold=7pkt"][..], "threshold", 12_000, 10_500),
        ("8pkt", &["kind=ecn", "threshold=8pkt", "at_threshold=mark"], "threshold", 12_000, 10_500),
        ("8pkt", &["kind=ecn", "threshold=10500B"], "threshold", 10_501, 10_500),
        ("8000B", &["kind=ecn", "threshold=5pkt"], "threshold", 9_000, 8_000),
        ("5pkt", &["kind=pred", "min=10pkt"], "min", 15_000, 6_000),
        ("8pkt", &["kind=red", "min=8pkt", "max=9pkt"], "min", 12_000, 10_500),
        // What joins leaves after 12,000 bytes at most, in 9.6 us.
        ("8pkt", &["kind=tcn", "threshold=9600ns"], "threshold", 10_501, 10_500),
    ] {
        let expected = format!(
            "switch.leaf.aqm.{key}: a leaf marks queues from {from} bytes on, but `queue_limit` = {limit} \
             refuses packets that find more than {most}: a queue that has its port to itself is never marked"
        );
        assert_eq!(within(limit, aqm), [expected], "{limit} {aqm:?}");
    }
    for (limit, aqm) in [
        ("8pkt", &["kind=ecn", "threshold=6pkt"][..]),
        ("8pkt", &["kind=ecn", "threshold=10499B"]),
        ("8KB", &["kind=ecn", "threshold=4pkt"]),
        // max is a last protection; the line from min on is what marks.
        ("8pkt", &["kind=red", "min=5pkt", "max=3000pkt"]),
        ("8pkt", &["kind=pred", "min=5pkt", "max=500KB"]),
        ("8pkt", &["kind=ecn", "threshold=unlimited"]),
        ("8pkt", &["kind=tcn", "threshold=9599999ps"]),
    ] {
        assert_eq!(within(limit, aqm), [""; 0], "{limit} {aqm:?}");
    }
    // The buffer is smaller.
    assert_eq!(within("20pkt", &["kind=red", "min=14pkt"]), [expected("min", 21_000)]);
    // A buffer without an end holds any queue.
    assert_eq!(
        assigned(&["switch.buffer=unlimited", "switch.aqm.kind=ecn"]).unwrap().warnings,
        [""; 0]
    );
    let waits = ["switch.buffer=unlimited", "switch.aqm.kind=tcn", "switch.aqm.threshold=1s"];
    assert_eq!(assigned(&waits).unwrap().warnings, [""; 0]);
}

/// The warning says that a switch without room for a full packet lets none through. So it is.
#[test]
fn what_has_no_room_for_a_full_packet_lets_none_through() {
    for (assignment, passes) in [
        ("switch.buffer=1499B", false),
        ("switch.buffer=1500B", true),
        ("switch.queue_limit=1499B", false),
        ("switch.queue_limit=1500B", true),
    ] {
        let scenario = assigned(&[assignment, "traffic.a.size=1448B", "stop=2ms"]).unwrap();
        assert_eq!(scenario.warnings.is_empty(), passes, "{assignment}");
        let mut simulation = Simulation::new(scenario);
        while simulation.run(1 << 16) == Progress::Running {}
        let of_a = simulation.counters().delivered_bytes[0];
        assert_eq!(of_a > 0, passes, "{assignment}: {of_a} B");
    }
}

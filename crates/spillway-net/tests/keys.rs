//! Every key of every section with no value, the least, the greatest, and values of another type.
//!
//! Whatever the value, the scenario is either refused with an error that names a key, or read. Then
//! it resolves to itself and runs, at least for a while, in bounded memory. Tests are built with
//! overflow checks, so no arithmetic wraps unnoticed.

#![allow(clippy::unwrap_used)]

use spillway_net::scenario::{Scenario, Sources};
use spillway_net::simulation::{Progress, Simulation};
use spillway_net::traffic::FlowColumns;
use spillway_net::{tagging, topology, traffic, transport};
use spillway_settings::{SettingsError, Table, Value, apply};
use spillway_switch::aqm::AqmPolicy;
use spillway_switch::scheduling::SchedulingPolicy;
use spillway_switch::sharing::SharingPolicy;
use std::collections::BTreeSet;
use std::path::Path;

/// A small scenario with every kind of section.
const BASE: &str = r#"
    duration = "60us"
    stop = "5ms"
    limits = { memory = "20MB" }
    topology = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2 }
    switch = { buffer = "20KB", queues_per_port = 2 }
    transport = { initial_rto = "500us", min_rto = "200us" }
    [[traffic]]
    name = "a"
    kind = "permutation"
    size = "40KB"
    [[traffic]]
    name = "b"
    kind = "incast"
    interval = "50us"
    burst = "9KB"
    fan_in = 2
    [[event]]
    kind = "link-down"
    a = "leaf0"
    b = "spine0"
    at = "20us"
    until = "40us"
    [record]
    queue_interval = "10us"
    link_interval = "7us"
    aqm_interval = "9us"
    bursts = "3KB"
"#;

/// A section of a scenario: its path, what it contains, and its keys.
struct Place {
    steps: Vec<&'static str>,
    has: Table,
    keys: Vec<String>,
}

fn table(text: &str) -> Table {
    text.parse().unwrap_or_else(|error| panic!("{error}: {text}"))
}

impl Place {
    fn new(steps: &str, has: &str, keys: impl IntoIterator<Item = impl Into<String>>) -> Place {
        let steps = steps.split('.').filter(|step| !step.is_empty());
        Place {
            steps: steps.map(|step| &*step.to_string().leak()).collect(),
            has: table(has),
            keys: keys.into_iter().map(Into::into).collect(),
        }
    }

    /// Takes the keys from the error about an unknown one.
    fn asked(steps: &str, has: &str) -> Place {
        let mut place = Place::new(steps, has, [""; 0]);
        let unknown = "z".repeat(40);
        let error = read(place.with(&unknown, Value::Integer(1))).unwrap_err();
        let hint = error.hint.unwrap();
        let names = hint.strip_prefix("valid here: ").unwrap_or_else(|| panic!("{steps}: {hint}"));
        place.keys = names.split(", ").map(str::to_string).collect();
        place
    }

    /// The scenario in which a key of this section has a value.
    fn with(&self, key: &str, value: Value) -> Table {
        let mut scenario = table(BASE);
        if self.steps == ["topology"] {
            // Another network has other links.
            scenario.remove("event");
        }
        let mut section = &mut scenario;
        for step in &self.steps {
            let next = section.entry(*step).or_insert_with(|| Value::Table(Table::new()));
            section = match next {
                Value::Array(list) => list[0].as_table_mut().unwrap(),
                Value::Table(table) => table,
                other => panic!("{other}"),
            };
        }
        if let Some(kind) = self.has.get("kind") {
            // Another kind has other keys.
            if section.get("kind") != Some(kind) {
                section.clear();
            }
        }
        section.extend(self.has.clone());
        section.insert(key.to_string(), value);
        scenario
    }

    fn name(&self, key: &str) -> String {
        let kind = self.has.get("kind").map_or(String::new(), |kind| format!(" ({kind})"));
        format!("{}.{key}{kind}", self.steps.join("."))
    }
}

fn read(scenario: Table) -> Result<Scenario, SettingsError> {
    let list = FlowColumns {
        src: vec![0, 1, 3],
        dst: vec![1, 2, 0],
        size_bytes: vec![1, 9_000, 40_000],
        start_ns: vec![0, 20_000, 30_000],
        class: Some(["x", "y", "x"].map(String::from).into()),
        priority: Some(vec![None, Some(0), Some(254)]),
        ..FlowColumns::default()
    };
    let sources = Sources::of(Path::new("/nowhere"));
    let flows = |_: &str, name: &str| (name == "list").then(|| list.clone());
    Scenario::read(scenario, &Sources { flows: &flows, ..sources })
}

/// All sections, of all kinds.
fn places() -> Vec<Place> {
    let names = |keys: &[spillway_settings::Key]| -> Vec<String> {
        keys.iter().map(|key| key.name.to_string()).collect()
    };
    let mut places = vec![
        Place::asked("", ""),
        Place::asked("routing", ""),
        Place::asked("switch", ""),
        Place::asked("switch.leaf", ""),
        Place::asked(
            "switch.pfc",
            "kind = \"static\"\nends = \"quanta\"\nheadroom = \"1KB\"\nreserve = \"0B\"",
        ),
        Place::asked(
            "switch.pfc",
            "kind = \"dynamic\"\nalpha = 1.0\nheadroom = \"0B\"\nreserve = \"0B\"",
        ),
        Place::asked("nic", ""),
        Place::asked("record", ""),
        Place::asked("limits", ""),
        Place::asked("event", ""),
        Place::asked("event", "kind = \"link-loss\"\na = \"leaf0\"\nb = \"spine0\"\nat = \"2us\""),
    ];
    for kind in topology::KINDS {
        let has = match kind.id {
            "graph" => "kind = \"graph\"\nswitch = [{ name = \"s\" }]\nhost = [\n\
                        { name = \"a\", switch = \"s\", rate = \"1Gbps\", delay = \"1us\" },\n\
                        { name = \"b\", switch = \"s\", rate = \"1Gbps\", delay = \"1us\" }]"
                .to_string(),
            id => format!("kind = {id:?}"),
        };
        places.push(Place::asked("topology", &has));
    }
    for transport::Kind { id, .. } in transport::KINDS {
        let also: &[&str] = match *id {
            "dcqcn" | "timely" => &["", "window = \"1bdp\"", "preset = \"simulator\""],
            "hpcc" => &["", "preset = \"simulator\""],
            _ => &[""],
        };
        for also in also {
            let has = format!("kind = {id:?}\n{also}");
            places.push(Place::new("transport", &has, names(&transport::Transport::keys(id))));
        }
    }
    for kind in tagging::KINDS {
        // The ports of the scenario have two queues.
        let few = match kind.id {
            "fixed" => "",
            "las" => "levels = 2\nacks = \"with-first\"",
            _ => "thresholds = [\"9KB\"]\nacks = \"with-first\"",
        };
        let has = format!("kind = {:?}\n{few}", kind.id);
        places.push(Place::new("transport.tagging", &has, names(&kind.keys())));
    }
    for kind in traffic::KINDS {
        let alternatives: &[&str] = match kind.id {
            "poisson" => &[
                "sizes = \"websearch\"\nload = 0.5\nflows = 20",
                "sizes = \"1KB..9KB\"\nload = 0.5\nload_of = \"host\"\ndestinations = 3",
            ],
            "incast" => &[
                "interval = \"20us\"\nburst = \"9KB\"\nfan_in = 2",
                "load = 0.1\nsizes = \"websearch\"\nfan_in = 1",
                "queries_per_host_per_s = 1000\nburst = \"20%\"\nfan_in = \"1..3\"\nsenders = \"any\"",
            ],
            "permutation" | "all-to-all" => &["size = \"9KB\""],
            "persistent" => &["receiver = 0\nstop = \"50us\"", "pairs = [[0, 1]]\nstop = \"50us\""],
            _ => &["file = \"list\""],
        };
        for has in alternatives {
            let has = format!("kind = {:?}\nname = \"a\"\n{has}", kind.id);
            places.push(Place::new("traffic", &has, names(&kind.keys())));
        }
    }
    let mut policies = |room: &str, entries: Vec<spillway_switch::Entry>| {
        for entry in entries {
            let own = match entry.id {
                "abm" => "congestion = \"fractional\"",
                "credence" => "oracle = \"random\"",
                "red" => "form = \"point-slope\"",
                "sp" => "form = \"rtt\"",
                _ => "",
            };
            let mut settings = vec!["", own];
            settings.dedup();
            for has in settings {
                let has = format!("kind = {:?}\n{has}", entry.id);
                places.push(Place::new(&format!("switch.{room}"), &has, names(&entry.keys)));
            }
        }
    };
    policies("sharing", SharingPolicy::catalogue());
    policies("aqm", AqmPolicy::catalogue());
    policies("scheduling", SchedulingPolicy::catalogue());
    places
}

fn values() -> Vec<Value> {
    let numbers = [0, 1, 2, -1, 64, 255, i64::from(u32::MAX), i64::MAX, i64::MIN];
    let floats = [0.0, -0.0, 0.5, 1.0, 1e-300, 1e300, -1.0, f64::INFINITY, f64::NAN];
    let texts = [
        "",
        " ",
        "0us",
        "1ps",
        "1us",
        "100us",
        "4000000s",
        "99999999999999s",
        "0B",
        "1B",
        "1500B",
        "100GB",
        "9007199254740992B",
        "18446744073709551615B",
        "0pkt",
        "1pkt",
        "99999999pkt",
        "0%",
        "100%",
        "99999999999999%",
        "0bdp",
        "1000000bdp",
        "99999999999999bdp",
        "0bps",
        "8bps",
        "8Tbps",
        "9Tbps",
        "1GB/port/Gbps",
        "0B/port/Gbps",
        "unlimited",
        "flow",
        "0..1",
        "1..0",
        "0..4294967295",
        "1B..9007199254740992B",
        "-1us",
        "1e3us",
        "none",
        "spine0",
        "x",
        "list",
        "leaf0",
        "host3",
        "default",
        "/dev/zero",
        "\u{1b}[31m",
    ];
    let numbers = numbers.into_iter().map(Value::Integer);
    let floats = floats.into_iter().map(Value::Float);
    let texts = texts.into_iter().map(|text| Value::String(text.into()));
    let others = [
        "[]",
        "{}",
        "[0]",
        "[0, 0]",
        "[[0, 1]]",
        "[1e300, 1e-300]",
        "[0.5, 0.5, 0.5, 0.5, 0.5]",
        "true",
        "1979-05-27",
        "{ kind = \"dt\" }",
        "{ kind = [] }",
        "[{}]",
        "[\"\"]",
    ];
    let others = others.into_iter().map(|text| table(&format!("v = {text}"))["v"].clone());
    numbers.chain(floats).chain(texts).chain(others).collect()
}

/// Whether a value is empty or zero, but valid for some key.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::String(text) => text.trim().is_empty(),
        Value::Float(number) => !number.is_finite(),
        Value::Table(table) => table.values().all(is_nothing),
        Value::Array(list) => list.iter().all(is_nothing),
        Value::Datetime(_) => true,
        Value::Integer(_) | Value::Boolean(_) => false,
    }
}

/// Keys for which an empty value is valid: an empty list, or a section in which everything has its
/// default.
fn may_be_empty(place: &Place, key: &str, value: &Value) -> bool {
    let is_section = ["topology", "routing", "switch", "nic", "transport", "record", "limits"];
    let is_tier = ["leaf", "spine"];
    match value {
        Value::Table(table) if table.is_empty() => {
            (place.steps.is_empty() && is_section.contains(&key))
                || (place.steps == ["switch"] && is_tier.contains(&key))
        }
        Value::Array(list) if list.is_empty() => {
            (place.steps.is_empty() && ["traffic", "event"].contains(&key))
                || (place.steps == ["record"] && key == "windows")
                || (place.steps == ["transport", "tagging"] && key == "thresholds")
                || (place.steps == ["topology"] && key == "link")
        }
        _ => false,
    }
}

/// Reads a scenario, and the one that it resolves to, and runs it for a while.
fn try_out(given: Table) -> Result<(), SettingsError> {
    let scenario = read(given)?;
    let resolved = scenario.resolved.to_string();
    let again = read(table(&resolved)).unwrap_or_else(|error| panic!("{error}: {resolved}"));
    assert_eq!(again.resolved.to_string(), resolved);
    assert_eq!(again.warnings, scenario.warnings);
    let memory = scenario.limits.memory;
    let mut simulation = Simulation::new(scenario);
    for _ in 0..6 {
        if simulation.run(1000) != Progress::Running {
            break;
        }
    }
    assert!(simulation.is_conserved());
    assert!(simulation.bytes() < 2 * memory, "{} B", simulation.bytes());
    simulation.finish();
    Ok(())
}

#[test]
fn every_key_is_refused_or_read_whatever_it_says() {
    let (mut valid, mut refused, mut keys) = (0, 0, BTreeSet::new());
    for place in places() {
        for key in &place.keys {
            keys.insert(place.name(key));
            for value in values() {
                let shown = format!("{} = {value}", place.name(key));
                println!("{shown}");
                match try_out(place.with(key, value.clone())) {
                    Ok(()) => {
                        valid += 1;
                        assert!(
                            !is_nothing(&value) || may_be_empty(&place, key, &value),
                            "valid: {shown}"
                        );
                    }
                    Err(error) => {
                        refused += 1;
                        assert!(!error.path.is_empty(), "{shown}: {error}");
                    }
                }
            }
        }
    }
    println!("{} keys: {valid} values valid, {refused} refused", keys.len());
    assert!(keys.len() > 250 && valid > 1_500, "{} keys, {valid} valid", keys.len());
}

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
            &["traffic.a.initial_rto=5us"],
            &[
                "traffic.a.initial_rto = 5us is less than 25.2us, which a packet and its ack take in the \
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

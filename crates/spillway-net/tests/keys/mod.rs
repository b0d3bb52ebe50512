//! Every key of every section with no value, the least, the greatest, and values of another type.
//!
//! Whatever the value, the scenario is either refused with an error that names a key, or read. Then
//! it resolves to itself and runs, at least for a while, in bounded memory. Tests are built with
//! overflow checks, so no arithmetic wraps unnoticed.

mod told;

use spillway_net::scenario::{Scenario, Sources};
use spillway_net::simulation::{Progress, Simulation};
use spillway_settings::{SettingsError, Table, Value};
use spillway_switch::aqm::AqmPolicy;
use spillway_switch::scheduling::SchedulingPolicy;
use spillway_switch::sharing::SharingPolicy;
use spillway_traffic::FlowColumns;
use spillway_transport::tagging;
use std::collections::BTreeSet;
use std::path::Path;

/// A small scenario with every kind of section.
const BASE: &str = r#"
    duration = "60us"
    stop = "5ms"
    limits = { memory = "20MB" }
    topology = { kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 2 }
    switch = { buffer = "20KB", queues_per_port = 2 }
    transport = { recovery.initial_rto = "500us", recovery.min_rto = "200us" }
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
        class: Some(["x", "y", "x"].map(std::sync::Arc::from).into()),
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
        Place::asked("switch.pfc", "kind = \"reverie\"\nheadroom = \"0B\"\nreserve = \"0B\""),
        Place::asked("nic", ""),
        Place::asked("record", ""),
        Place::asked("limits", ""),
        Place::asked("event", ""),
        Place::asked("event", "kind = \"link-loss\"\na = \"leaf0\"\nb = \"spine0\"\nat = \"2us\""),
    ];
    for kind in spillway_topology::KINDS {
        let has = match kind.id {
            "graph" => "kind = \"graph\"\nswitch = [{ name = \"s\" }]\nhost = [\n\
                        { name = \"a\", switch = \"s\", rate = \"1Gbps\", delay = \"1us\" },\n\
                        { name = \"b\", switch = \"s\", rate = \"1Gbps\", delay = \"1us\" }]"
                .to_string(),
            id => format!("kind = {id:?}"),
        };
        places.push(Place::asked("topology", &has));
    }
    for spillway_transport::Kind { id, .. } in spillway_transport::KINDS {
        let also: &[&str] = match *id {
            "dcqcn" | "timely" => &["", "window = \"1bdp\"", "preset = \"simulator\""],
            "hpcc" => &["", "preset = \"simulator\""],
            _ => &[""],
        };
        for also in also {
            let has = format!("kind = {id:?}\n{also}");
            places.push(Place::new(
                "transport",
                &has,
                names(&spillway_transport::Transport::keys(id)),
            ));
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
    for kind in spillway_traffic::KINDS {
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

//! The bundled scenarios: each is valid and resolves to itself.

use crate::common::{bundled, bundled_folder};
use spillway_net::scenario::{Scenario, Sources};
use spillway_settings::ErrorKind;
use std::path::Path;

fn read(file: &Path, text: &str) -> Scenario {
    let given = text.parse().unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let read = Scenario::read(given, &Sources::of(&bundled_folder()));
    read.unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

#[test]
fn every_scenario_resolves_to_itself() {
    let files = bundled();
    assert!(!files.is_empty());
    for file in files {
        let scenario = read(&file, &std::fs::read_to_string(&file).unwrap());
        let resolved = scenario.resolved.to_string();
        let again = read(&file, &resolved);
        assert_eq!(again.resolved.to_string(), resolved, "{}", file.display());
        let stem = file.file_stem().unwrap().to_str();
        let expected: &[&str] = if stem == Some("five") { &["PRED is not by queue"] } else { &[] };
        assert_eq!(scenario.warnings.len(), expected.len(), "{}", file.display());
        for (warning, part) in scenario.warnings.iter().zip(expected) {
            assert!(warning.contains(part), "{}: {warning}", file.display());
        }
        assert_eq!(again.warnings, scenario.warnings, "{}", file.display());
        // The same network and the same first flows.
        assert_eq!(again.topology, scenario.topology, "{}", file.display());
        let flows = |scenario: &Scenario| scenario.traffic.flows().take(100).collect::<Vec<_>>();
        let first = flows(&scenario);
        assert_eq!(flows(&again), first, "{}", file.display());
        assert!(!first.is_empty(), "{} sends nothing", file.display());
        assert_eq!(Some(scenario.name.as_str()), stem, "a scenario is named as its file");
    }
}

#[test]
fn a_whole_flow_is_no_window_where_it_never_ends() {
    let text = r#"
        duration = "1ms"
        topology = { kind = "star", hosts = 2 }
        transport = { initial_window = "flow" }
        [[traffic]]
        name = "long"
        kind = "persistent"
        receiver = 1
    "#;
    let error = Scenario::read(text.parse().unwrap(), &Sources::of(Path::new(""))).unwrap_err();
    let expected = "traffic.long.initial_window: \"flow\" is no window for flows that never end";
    assert_eq!(error.to_string(), expected);
    let with = format!("{text}\ninitial_window = \"10pkt\"");
    assert!(Scenario::read(with.parse().unwrap(), &Sources::of(Path::new(""))).is_ok());
}

#[test]
fn what_cannot_be_counted_is_refused() {
    let error = |rate: &str, traffic: &str| {
        let text = format!(
            "duration = \"1ms\"\n[topology]\nkind = \"star\"\nhosts = 2000\nhost_rate = \"{rate}\"\n\
             clocks = \"exact\"\n\
             [transport]\nrecovery.max_rto = \"10s\"\n[[traffic]]\nname = \"big\"\n{traffic}"
        );
        let read = Scenario::read(text.parse().unwrap(), &Sources::of(Path::new("")));
        read.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let permutation = |size: &str| format!("kind = \"permutation\"\nsize = \"{size}\"");
    // 53 days are 2^62 - 1 ps. At 1 Mbps a byte takes 8,000,000 ps, so they carry 576,460,752,303
    // B: 384,307,168 and a half packets of 1500 B.
    let packets = |packets: u64| permutation(&format!("{}B", 1448 * packets));
    assert_eq!(error("1Mbps", &packets(384_307_168)), "");
    assert_eq!(
        error("1Mbps", &packets(384_307_169)),
        "traffic.big: a flow of 556476780712 bytes takes more than 53 days on a line of 1Mbps"
    );
    // 2000 flows of 2^51 B have 4.5e18 B, nearly 2^62 = 4.6e18; with 2,400,000,000,000,000 B each
    // it is 4.8e18.
    assert_eq!(error("1000Gbps", &permutation("2251799813685248B")), "");
    assert_eq!(
        error("1000Gbps", &permutation("2400000000000000B")),
        "traffic.big: 4.80e18 bytes are expected in all; 2^62 can be counted"
    );
    let endless = permutation("18446744073709551615B");
    let expected =
        "traffic.big.size: \"18446744073709551615B\" is more than 2^53 bytes; expected a size";
    assert!(error("10Gbps", &endless).starts_with(expected), "{}", error("10Gbps", &endless));
}

#[test]
fn a_timeout_that_no_ack_can_come_within_is_refused() {
    // 13.2 us: two links of 3 us there and back, and 1500 B at 10 Gbps.
    let read = |transport: &str, own: &str| {
        let text = format!(
            "duration = \"1ms\"\ntopology = {{ kind = \"star\", hosts = 2 }}\n\
             transport = {{ {transport} }}\n[[traffic]]\nname = \"one\"\nkind = \"permutation\"\n\
             size = \"1MB\"\n{own}"
        );
        let read = Scenario::read(text.parse().unwrap(), &Sources::of(Path::new("")));
        read.map(|scenario| scenario.warnings).map_err(|error| error.to_string())
    };
    let never = "in the empty network: no ack would ever come in time";
    for (transport, own, expected) in [
        (
            "recovery.initial_rto = \"0us\"",
            "",
            "transport.recovery.initial_rto: 0us is not valid: the timeout",
        ),
        // 200 ps, doubled sixteen times, is 13.1072 us.
        (
            "recovery.initial_rto = \"200ps\"",
            "",
            "never gets longer than 13.1072us, and a packet and its ack",
        ),
        (
            "",
            "recovery.initial_rto = \"0us\"",
            "traffic.one.recovery.initial_rto: 0us is not valid",
        ),
        (
            "recovery.initial_rto = \"1ps\", recovery.min_rto = \"1ps\", recovery.max_rto = \"1ps\"",
            "",
            "transport.recovery.max_rto: 1ps is not valid: the timeout never gets longer than 1ps, and",
        ),
        (
            "recovery.min_rto = \"1us\", recovery.max_rto = \"13.1us\"",
            "",
            "transport.recovery.max_rto: 13.1us is not valid",
        ),
    ] {
        let error = read(transport, own).unwrap_err();
        assert!(error.contains(expected) && error.ends_with(never), "{error}");
    }
    let warnings = read("recovery.initial_rto = \"202ps\"", "").unwrap();
    let expected =
        "transport.recovery.initial_rto = 202ps is less than 13.2us, which a packet and its ack";
    assert!(warnings.len() == 1 && warnings[0].starts_with(expected), "{warnings:?}");
    let none: [String; 0] = [];
    let tight = "recovery.initial_rto = \"13.2us\", recovery.min_rto = \"1us\", recovery.max_rto = \"13.2us\"";
    let warnings = read(tight, "").unwrap();
    let expected =
        "transport.recovery.min_rto = 1us is less than 13.2us, which a packet and its ack";
    assert!(warnings.len() == 1 && warnings[0].starts_with(expected), "{warnings:?}");
    assert_eq!(read(&format!("{tight}, recovery.min_rto_bounds = \"spread\""), "").unwrap(), none);
    let tight = "recovery.initial_rto = \"13.2us\", recovery.min_rto = \"13.2us\", recovery.max_rto = \"13.2us\"";
    assert_eq!(read(tight, "").unwrap(), none);
    // A transport that nothing uses is not checked.
    assert_eq!(read("recovery.initial_rto = \"0us\"", "transport = \"udp\"").unwrap(), none);
}

#[test]
fn an_error_has_a_kind_and_a_path() {
    use ErrorKind::*;
    let graph = |file: &str| format!("topology = {{ kind = \"graph\"{file} }}");
    let star = |more: &str| format!("topology = {{ kind = \"star\", hosts = 4 }}\n{more}");
    let traffic = |kind: &str, more: &str| {
        star(&format!("[[traffic]]\nname = \"a\"\nkind = \"{kind}\"\n{more}"))
    };
    let asks = "interval = \"1ms\"\nsenders = \"any\"\nfan_in = 2\n";
    let models = "switch.sharing = { kind = \"credence\", model = { leaf9 = \"default\" } }";
    for (text, kind, path) in [
        (star("sede = 1"), UnknownKey, "sede"),
        (star("transport.min_rto = \"1ms\""), UnknownKey, "transport.min_rto"),
        (star(models), UnknownPlace, "switch.sharing.model"),
        (star("record.burst_end = 0.5"), UnusedKey, "record.burst_end"),
        (star("nic.receive_rate = \"9Gbps\""), UnusedKey, "nic.receive_rate"),
        (graph(""), MissingKey, "topology.file"),
        (traffic("persistent", ""), MissingKey, "traffic.a.receiver"),
        (traffic("incast", asks), MissingKey, "traffic.a.burst"),
        (star("seed = -1"), WrongValue, "seed"),
        (star("switch.aqm = \"rde\""), WrongValue, "switch.aqm"),
        (traffic("persistent", "receiver = 4"), WrongValue, "traffic.a.receiver"),
        (star("stop = \"1us\""), Conflict, "stop"),
        (star("switch.aqm = { kind = \"red\", min = \"16pkt\" }"), Conflict, "switch.aqm.max"),
        (star("transport.initial_window = \"1B\""), Conflict, "transport.initial_window"),
        (graph(", file = \"none\""), File, "topology.file"),
        (star("switch.aqm = { kind = \"acc\", model = \"none\" }"), File, "switch.aqm.model"),
        (traffic("flows", "file = \"none\""), File, "traffic.a.file"),
        (star("record.queue_interval = \"1ps\""), Limit, "record.queue_interval"),
    ] {
        let given = format!("duration = \"1s\"\n{text}").parse().unwrap();
        let error = Scenario::read(given, &Sources::of(Path::new(""))).unwrap_err();
        assert_eq!((error.kind, error.path.as_str()), (kind, path), "{error}");
    }
}

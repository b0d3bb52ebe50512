//! Numbers that change while a run goes on.

use crate::common::random::{Case, Draw, case};
use crate::common::*;
use spillway_engine::{Stream, Time};
use spillway_net::simulation::{Progress, Shortcuts, Simulation};
use spillway_settings::{Value, apply};

/// Six hosts under two leaves, of which each sends to all others at once, and now and then.
fn six_hosts(switch: &str) -> String {
    let queues = if switch.contains("pfabric") { 1 } else { 2 };
    format!(
        r#"
        duration = "1ms"
        topology = {{ kind = "leaf-spine", leaves = 2, spines = 2, hosts_per_leaf = 3,
            host_rate = "10Gbps", fabric_rate = "10Gbps", link_delay = "1us" }}
        transport = {{ kind = "dctcp", initial_window = "20pkt" }}
        [[traffic]]
        name = "all"
        kind = "all-to-all"
        size = "60KB"
        jitter = "20us"
        [[traffic]]
        name = "some"
        kind = "poisson"
        sizes = "1KB..40KB"
        load = 0.6
        load_of = "host"
        destinations = "uniform"
        [nic]
        aqm = {{ kind = "ecn", threshold = "90pkt" }}
        [switch]
        buffer = "60KB"
        queues_per_port = {queues}
        {switch}
        "#
    )
}

fn event(at: &str, path: &str, value: &str) -> String {
    format!("[[event]]\nkind = \"set\"\nkey = \"{path}\"\nvalue = {value}\nat = \"{at}\"\n")
}

fn value(text: &str) -> Value {
    format!("value = {text}").parse::<spillway_settings::Table>().unwrap()["value"].clone()
}

/// The flows, the marks and the drops of a run.
fn outcome(run: Run) -> (Vec<Row>, serde_json::Value) {
    let counts = run.summary_but_events();
    (run.flows, counts)
}

fn whole(text: &str) -> (Vec<Row>, serde_json::Value) {
    outcome(run(text))
}

fn halts_at(simulation: &mut Simulation, time: Time) {
    while simulation.run_until(time, 100) == Progress::Running {}
    assert_eq!(simulation.now(), time);
}

/// Policies, a number of theirs, and another value. At a port, and at a single switch, that is no
/// key of a scenario.
const CHANGES: &[(&str, &str, &str)] = &[
    ("sharing = \"dt\"", "switch.sharing.alpha", "8.0"),
    ("sharing = \"dt\"", "switch.sharing.alpha[1]", "8.0"),
    ("sharing = \"dt\"", "switch.sharing.alpha_first_rtt", "8.0"),
    ("sharing = \"dt\"", "switch.leaf0.sharing.alpha", "8.0"),
    ("sharing = \"dt\"", "switch.leaf0.port.1.sharing.alpha", "0.1"),
    ("sharing = \"dt\"", "switch.port.1.sharing.alpha", "0.1"),
    ("sharing = \"sp\"", "switch.sharing.share", "0.5"),
    ("sharing = \"abm\"", "switch.leaf.sharing.alpha_first_rtt", "0.1"),
    ("sharing = \"cbm\"", "switch.sharing.alpha_first_rtt", "0.2"),
    ("sharing = \"fab\"", "switch.sharing.alpha_short", "0.2"),
    ("sharing = \"edt\"", "switch.sharing.burst_packets", "2"),
    ("sharing = \"smartbuf\"", "switch.sharing.alpha", "8.0"),
    (
        "sharing = { kind = \"credence\", oracle = \"random\", drop_probability = 0.1 }",
        "switch.sharing.drop_probability",
        "0.9",
    ),
    (
        "sharing = { kind = \"blind-trust\", oracle = \"always-accept\" }",
        "switch.sharing.flip_probability",
        "0.2",
    ),
    ("sharing = \"pfabric\"\nscheduling = \"pfabric\"", "switch.sharing.limit", "\"4KB\""),
    ("aqm = \"ecn\"", "switch.aqm.threshold", "\"3pkt\""),
    ("aqm = \"ecn\"", "switch.leaf1.port.0.aqm.threshold", "\"3pkt\""),
    ("aqm = { kind = \"ecn\", at_threshold = \"mark\" }", "switch.aqm.threshold", "\"0pkt\""),
    ("aqm = \"red\"", "switch.aqm.min", "\"0pkt\""),
    ("aqm = \"red\"", "switch.leaf1.port.0.aqm.max_probability", "0.9"),
    ("aqm = { kind = \"red\", weight = 0.1 }", "switch.aqm.max", "\"6pkt\""),
    ("aqm = { kind = \"red\", marks_at = \"departure\" }", "switch.aqm.max", "\"6pkt\""),
    ("aqm = { kind = \"ared\", interval = \"20us\", weight = 0.5 }", "switch.aqm.min", "\"0pkt\""),
    ("aqm = { kind = \"codel\", interval = \"9us\" }", "switch.aqm.target", "\"1us\""),
    ("aqm = \"tcn\"", "switch.aqm.threshold", "\"2us\""),
    ("aqm = \"ecn-sharp\"", "switch.aqm.instant", "\"2us\""),
    (
        "aqm = { kind = \"pie\", update_interval = \"5us\", alpha = 1e5 }",
        "switch.aqm.target",
        "\"2us\"",
    ),
    ("aqm = { kind = \"acc\", interval = \"9us\" }", "switch.aqm.exploration", "0.7"),
    ("aqm = { kind = \"pred\", preset = \"paper\", qla = false }", "switch.aqm.lambda", "4.0"),
    (
        "aqm = { kind = \"pred\", preset = \"paper\", t_qla = \"9us\", lambda_unit = \"2KB\", max = \"50KB\" }",
        "switch.aqm.q_left",
        "\"1pkt\"",
    ),
    ("aqm = \"mq-ecn\"\nscheduling = \"rr\"", "switch.aqm.lambda", "0.1"),
    ("", "nic.aqm.threshold", "\"2pkt\""),
    ("sharing = \"sp\"", "switch.leaf0.port.1.sharing.share", "0.1"),
    ("sharing = \"abm\"", "switch.leaf0.port.1.sharing.alpha_first_rtt", "0.1"),
    ("sharing = \"cbm\"", "switch.leaf1.port.0.sharing.alpha_first_rtt", "0.2"),
    ("sharing = \"fab\"", "switch.leaf1.port.0.sharing.alpha_short", "0.2"),
    ("sharing = \"edt\"", "switch.leaf1.port.0.sharing.burst_packets", "2"),
    ("sharing = \"pfabric\"\nscheduling = \"pfabric\"", "switch.port.1.sharing.limit", "\"4KB\""),
    ("aqm = { kind = \"ared\", weight = 0.5 }", "switch.leaf1.port.2.aqm.min", "\"0pkt\""),
    (
        "aqm = { kind = \"ared\", weight = 0.5, scope = \"port\" }",
        "switch.leaf.port.2.aqm.max",
        "\"6pkt\"",
    ),
    ("aqm = { kind = \"codel\", interval = \"9us\" }", "switch.leaf1.port.0.aqm.target", "\"1us\""),
    ("aqm = \"tcn\"", "switch.leaf1.port.0.aqm.threshold", "\"2us\""),
    ("aqm = \"ecn-sharp\"", "switch.leaf1.port.0.aqm.target", "\"0us\""),
    (
        "aqm = { kind = \"pie\", update_interval = \"5us\", alpha = 1e5 }",
        "switch.leaf1.port.0.aqm.target",
        "\"2us\"",
    ),
    ("aqm = { kind = \"acc\", interval = \"9us\" }", "switch.leaf1.port.0.aqm.exploration", "0.7"),
    (
        "aqm = { kind = \"pred\", preset = \"paper\", max = \"50KB\", q_left = \"4pkt\" }",
        "switch.aqm.max",
        "\"16KB\"",
    ),
    ("aqm = \"mq-ecn\"\nscheduling = \"rr\"", "switch.leaf1.port.0.aqm.lambda", "0.1"),
];

#[test]
fn a_change_at_the_start_is_the_scenario_with_that_number() {
    for (switch, path, value) in CHANGES {
        let steps = path.split('.').count();
        if steps > 3 || path.contains(['0', '[']) || path.contains("leaf.") {
            continue;
        }
        let text = six_hosts(switch);
        let mut table: spillway_settings::Table = text.parse().unwrap();
        apply(&mut table, &format!("{path}={value}")).unwrap();
        let other = whole(&table.to_string());
        assert!(other.0 != whole(&text).0, "{path} of {switch} makes no difference");
        let changed = whole(&format!("{text}\n{}", event("0us", path, value)));
        assert!(changed.0 == other.0, "{path} of {switch}");
    }
}

#[test]
fn a_change_is_the_same_by_event_and_by_hand_with_and_without_shortcuts() {
    for (switch, path, number) in CHANGES {
        println!("{path} of {switch}");
        let text = six_hosts(switch);
        let with_event = format!("{text}\n{}", event("323.456us", path, number));
        let by_event = whole(&with_event);
        let unchanged = whole(&text);
        assert!(by_event.0 != unchanged.0, "it makes no difference");
        let early = whole(&format!("{text}\n{}", event("0us", path, number)));
        assert!(by_event.0 != early.0, "when makes no difference");
        let mut simulation = Simulation::new(scenario(&text));
        halts_at(&mut simulation, Time::from_ps(323_456_000));
        let mut copy = simulation.clone();
        simulation.set(&[(path, &value(number))]).unwrap();
        assert!(outcome(finish(simulation)) == by_event, "the event differs");
        // What is done to a run is not done to its copy.
        copy.run_until(Time::from_us(400), 50);
        assert!(outcome(finish(copy)).0 == unchanged.0, "the copy has changed");
        let slow = finish(Simulation::with(scenario(&with_event), Shortcuts::NONE));
        assert!(slow.flows == by_event.0, "shortcuts make a difference");
    }
}

#[test]
fn however_a_run_is_cut_its_numbers_change_in_time() {
    let events = [("100us", "\"3pkt\""), ("100us", "\"2pkt\""), ("250us", "\"40pkt\"")];
    let events = events.map(|(at, value)| event(at, "switch.aqm.threshold", value)).concat();
    let text = format!("{}\n{events}", six_hosts("aqm = \"ecn\""));
    let expected = whole(&text);
    let once = event("100us", "switch.aqm.threshold", "\"2pkt\"");
    let again = event("250us", "switch.aqm.threshold", "\"40pkt\"");
    let of_text_order = whole(&format!("{}\n{again}{once}", six_hosts("aqm = \"ecn\"")));
    assert!(of_text_order == expected, "of two at one time the last one holds");
    let cuts = [vec![99, 100, 101], vec![100, 100, 250], vec![30, 180, 249, 251, 400]];
    for cut in cuts {
        let mut simulation = Simulation::new(scenario(&text));
        for at in &cut {
            halts_at(&mut simulation, Time::from_us(*at));
        }
        let copy = simulation.clone();
        assert!(outcome(finish(simulation)) == expected, "cut at {cut:?}");
        assert!(outcome(finish(copy)) == expected, "copied at {cut:?}");
    }
}

/// Two hosts send a packet of 1,500 bytes (1.2 us) to a third one at once, again and again: of each
/// pair one finds an empty queue and an idle port, and the other one nothing queued but a busy
/// port. With three, the third one finds one packet.
#[test]
fn a_threshold_holds_from_its_moment_on() {
    let text = r#"
        duration = "1ms"
        topology = { kind = "star", hosts = 5, host_rate = "10Gbps", link_delay = "1us" }
        transport = { kind = "dctcp", mss = "1440B", header = "60B" }
        [switch]
        queues_per_port = 2
        aqm = { kind = "ecn", threshold = "1pkt" }
    "#;
    let at = [0, 20, 40, 60];
    let sends = at.iter().flat_map(|us| (0..3).map(move |src| (src, 3, 1440, us * 1000)));
    let other = at.iter().flat_map(|us| (0..3).map(move |src| (src, 4, 1440, us * 1000 + 10_000)));
    let flows: Vec<_> = sends.chain(other).collect();
    let marks = |events: &str| run_flows(&format!("{text}\n{events}"), &flows).number("marks");
    assert_eq!(marks(""), 0.0);
    // Packets that start at 40 us arrive at 42.2 us.
    let from = |at: &str, key: &str| marks(&event(at, key, "\"0pkt\""));
    assert_eq!(from("42.2us", "switch.leaf0.port.3.aqm.threshold"), 2.0);
    assert_eq!(from("43.4us", "switch.leaf0.port.3.aqm.threshold"), 1.0);
    assert_eq!(from("0us", "switch.leaf0.port.4.aqm.threshold"), 4.0);
    assert_eq!(from("42.2us", "switch.aqm.threshold"), 4.0);
    // A port's own number goes when all get one.
    let own = event("0us", "switch.leaf0.port.3.aqm.threshold", "\"0pkt\"");
    let all = event("30us", "switch.leaf.aqm.threshold", "\"9pkt\"");
    assert_eq!(marks(&format!("{own}{all}")), 2.0);
}

#[test]
fn numbers_that_go_together_are_set_at_once() {
    let text = six_hosts("aqm = \"red\"");
    let [min, max] = ["\"30pkt\"", "\"40pkt\""].map(value);
    let begin = || {
        let mut simulation = Simulation::new(scenario(&text));
        halts_at(&mut simulation, Time::from_us(50));
        simulation
    };
    let (mut at_once, mut in_turn) = (begin(), begin());
    assert!(in_turn.set(&[("switch.aqm.min", &min)]).is_err());
    at_once.set(&[("switch.aqm.min", &min), ("switch.aqm.max", &max)]).unwrap();
    in_turn.set(&[("switch.aqm.max", &max)]).unwrap();
    in_turn.set(&[("switch.aqm.min", &min)]).unwrap();
    assert!(outcome(finish(at_once)) == outcome(finish(in_turn)));
    // One that is refused takes the other with it.
    let mut refused = begin();
    let low = value("\"1pkt\"");
    let error =
        refused.set(&[("switch.aqm.min", &low), ("switch.leaf.aqm.max", &low), ("a", &low)]);
    assert!(error.is_err());
    assert!(outcome(finish(refused)) == whole(&text));
}

#[test]
fn a_change_keeps_no_run_alive() {
    let text = six_hosts("aqm = \"ecn\"");
    let (plain, late) = (
        run(&format!("stop = \"1s\"\n{text}")),
        event("999ms", "switch.aqm.threshold", "\"1pkt\""),
    );
    let with_event = run(&format!("stop = \"1s\"\n{text}\n{late}"));
    assert_eq!(with_event.summary["simulated_s"], plain.summary["simulated_s"]);
    assert_eq!(with_event.counters.events, plain.counters.events);
}

fn refused(switch: &str, path: &str, number: &str) -> String {
    let text = six_hosts(switch);
    let mut simulation = Simulation::new(scenario(&text));
    halts_at(&mut simulation, Time::from_us(50));
    let error = simulation.set(&[(path, &value(number))]).unwrap_err().to_string();
    assert!(outcome(finish(simulation)) == whole(&text), "{path} has changed something");
    error
}

#[test]
fn what_cannot_change_is_refused_by_name() {
    let cases = [
        ("", "switch.buffer", "1", "\"buffer\" of switches cannot change while a run goes on"),
        ("", "switch.scheduling.weights", "1", "\"scheduling\" of switches cannot change"),
        ("", "switch.leaf.scheduling.weights", "1", "\"scheduling\" of switches cannot change"),
        ("", "switch.leaf0.buffer", "1", "\"buffer\" of switches cannot change"),
        ("", "transport.g", "0.5", "transport.g: it cannot change while a run goes on"),
        ("", "switch", "1", "what can: switch.sharing.KEY"),
        ("", "nic.receive_rate", "\"1Gbps\"", "it changes only where the scenario has a receive"),
        ("", "nic.aqm.kind", "\"red\"", "a policy's kind does not change while a run goes on"),
        ("", "switch.sharing.alpha", "1", "nothing of \"cs\" does"),
        ("", "switch.sharing", "1", "it needs a key of sharing, as in sharing.KEY"),
        ("", "switch.leaf7.sharing.alpha", "1", "there is no switch or tier \"leaf7\""),
        ("", "switch.host0.sharing.alpha", "1", "there is no switch or tier \"host0\""),
        ("sharing = \"dt\"", "switch.sharing.kind", "\"abm\"", "a policy's kind does not change"),
        ("aqm = \"red\"", "switch.aqm.kind", "\"ecn\"", "these do: min, max"),
        ("sharing = \"dt\"", "switch.sharing.alhpa", "1", "did you mean `alpha`?"),
        (
            "sharing = \"dt\"",
            "switch.sharing.count_arrival",
            "false",
            "these do: alpha, alpha_first",
        ),
        ("sharing = \"dt\"", "switch.sharing.alpha", "-1", "switch.sharing.alpha: -1 is not valid"),
        ("sharing = \"dt\"", "switch.leaf0.sharing.alpha", "0", "switch.leaf0.sharing.alpha: 0 is"),
        ("sharing = \"dt\"", "switch.sharing.alpha[2]", "1", "2 is not a queue class; there are 2"),
        ("sharing = \"dt\"", "switch.sharing.alpha[x]", "1", "alpha[x] does not name a place"),
        ("sharing = \"dt\"", "switch.sharing.alpha_first_rtt[0]", "1", "it is no list"),
        (
            "sharing = \"dt\"",
            "switch.leaf0.port.5.sharing.alpha",
            "1",
            "5 is not a port; there are 5",
        ),
        (
            "sharing = \"smartbuf\"",
            "switch.leaf0.port.1.sharing.alpha",
            "1",
            "is the same for all ports",
        ),
        ("aqm = \"red\"", "switch.leaf0.port.1.aqm.min", "\"30pkt\"", "aqm.max: 15pkt must not be"),
        ("aqm = \"red\"", "switch.aqm.weight", "0.5", "these do: min, max, max_probability, slope"),
        ("aqm = \"red\"", "switch.aqm.slope", "0.5", "it needs form = \"point-slope\""),
        ("aqm = \"pred\"", "switch.leaf.aqm.lambda", "0.5", "it needs qla = false"),
        (
            "[switch.leaf]\naqm = \"ecn\"\n[switch.spine]\naqm = \"ecn\"",
            "switch.aqm.threshold",
            "1",
            "every tier has its own aqm: name the tier",
        ),
    ];
    for (switch, path, number, expected) in cases {
        let error = refused(switch, path, number);
        assert!(error.contains(expected), "{path}: {error}");
    }
}

#[test]
fn changes_are_checked_when_the_scenario_is_read_and_at_every_other_change() {
    let read = |text: &str| {
        let sources = spillway_net::scenario::Sources::of(std::path::Path::new(""));
        spillway_net::scenario::Scenario::read(text.parse().unwrap(), &sources)
    };
    let first = event("50us", "switch.aqm.max", "\"40pkt\"");
    let then = event("100us", "switch.aqm.min", "\"30pkt\"");
    let text = six_hosts("aqm = \"red\"");
    assert!(read(&format!("{text}\n{first}{then}")).is_ok());
    // Those of one moment are made at once.
    let once = event("100us", "switch.aqm.max", "\"40pkt\"");
    assert!(read(&format!("{text}\n{then}{once}")).is_ok());
    let later = event("150us", "switch.aqm.max", "\"40pkt\"");
    let error = read(&format!("{text}\n{later}{then}")).unwrap_err().to_string();
    assert_eq!(
        error.lines().next(),
        Some("event.1: switch.aqm.max: 15pkt must not be less than min = 30pkt, in the same unit")
    );
    let mut simulation = Simulation::new(scenario(&format!("{text}\n{first}{then}")));
    halts_at(&mut simulation, Time::from_us(70));
    let error = simulation.set(&[("switch.aqm.max", &value("\"20pkt\""))]).unwrap_err().to_string();
    assert!(error.starts_with("event.1: switch.aqm.max: 20pkt must not be less"), "{error}");
    simulation.set(&[("switch.aqm.max", &value("\"35pkt\""))]).unwrap();
    finish(simulation);
    for (wrong, expected) in [
        ("key = \"switch.aqm.min\"\nat = \"1us\"", "event.0.value"),
        ("value = 1\nat = \"1us\"", "event.0.key"),
        ("key = \"switch.aqm.min\"\nvalue = 1", "event.0.at"),
        ("key = \"a.b\"\nvalue = { c = 1 }\nat = \"1us\"", "event.0.value"),
        ("key = \"a.b\"\nvalue = 1\nat = \"1us\"\na = \"leaf0\"", "event.0.a"),
    ] {
        let error = read(&format!("{text}\n[[event]]\nkind = \"set\"\n{wrong}\n")).unwrap_err();
        assert_eq!(error.path, expected, "{error}");
    }
}

#[test]
fn a_port_that_refuses_a_change_of_all_is_named() {
    let mut simulation = Simulation::new(scenario(&six_hosts("aqm = \"red\"")));
    let port = ["min", "max"].map(|key| format!("switch.leaf1.port.2.aqm.{key}"));
    simulation.set(&[(&port[0], &value("\"20pkt\"")), (&port[1], &value("\"30pkt\""))]).unwrap();
    let error = simulation.set(&[("switch.aqm.max", &value("\"18pkt\""))]).unwrap_err().to_string();
    assert!(error.contains("switch.aqm.max: 18pkt must not be less than min = 20pkt"), "{error}");
    assert!(error.contains("port 2 of leaf1 has numbers of its own"), "{error}");
    // That of the port itself needs no hint.
    let error = simulation.set(&[(&port[1], &value("\"18pkt\""))]).unwrap_err().to_string();
    assert!(!error.contains("of its own"), "{error}");
}

/// Values that keys of several policies take.
const VALUES: &[(&str, &[&str])] = &[
    ("sharing.alpha", &["0.1", "9"]),
    ("sharing.alpha_first_rtt", &["0.2", "50"]),
    ("sharing.alpha_short", &["0.1"]),
    ("sharing.congested_at", &["0.3"]),
    ("sharing.share", &["0.7", "0.05"]),
    ("sharing.sigma", &["2"]),
    ("sharing.burst_packets", &["2"]),
    ("sharing.flip_probability", &["0.3"]),
    ("sharing.limit", &["\"8KB\""]),
    ("aqm.threshold", &["\"2pkt\"", "\"0pkt\"", "\"2us\"", "\"9KB\""]),
    ("aqm.min", &["\"0pkt\"", "\"3pkt\"", "\"2KB\""]),
    ("aqm.max", &["\"6pkt\"", "\"40pkt\"", "\"50KB\""]),
    ("aqm.max_probability", &["1", "0.3"]),
    ("aqm.target", &["\"1us\"", "\"50us\""]),
    ("aqm.instant", &["\"3us\""]),
    ("aqm.lambda", &["0.3", "3"]),
    ("aqm.beta", &["0.7"]),
];

/// Events that the scenario allows, one after another.
fn some_changes(text: &str, case: &Case, draw: &mut Draw) -> Vec<String> {
    let mut simulation = Simulation::new(scenario_with(text, &case.list));
    let mut events = Vec::new();
    for tries in 0..60 {
        let (key, values) = VALUES[draw.below(VALUES.len() as u64) as usize];
        let place =
            draw.one(&["switch", "switch.leaf", "switch.leaf0", "switch.leaf0.port.0", "nic"]);
        let (path, number) = (format!("{place}.{key}"), draw.one(values));
        if events.len() < 4 && simulation.set(&[(&path, &value(number))]).is_ok() {
            let at = format!("{}ns", tries * 2000 + draw.below(2000));
            events.push(event(&at, &path, number));
        }
    }
    events
}

#[test]
fn random_scenarios_change_alike_with_and_without_shortcuts_and_however_cut() {
    let tell = on_all_cores(0..250, |seed| {
        let (case, mut draw) = (case(seed), Draw(Stream::new(seed, "changes", 0)));
        let events = some_changes(&case.text(), &case, &mut draw);
        if events.is_empty() {
            return None;
        }
        let text = format!("{}\n{}", case.text(), events.concat());
        let begin = || scenario_with(&text, &case.list);
        let expected = finish(Simulation::new(begin()));
        let plain = finish(Simulation::new(scenario_with(&case.text(), &case.list)));
        let tells = plain.flows != expected.flows;
        let slow = finish(Simulation::with(begin(), Shortcuts::NONE));
        assert!(slow.flows == expected.flows, "shortcuts make a difference");
        assert_eq!(slow.record.drops, expected.record.drops);
        let mut stepped = Simulation::new(begin());
        for us in 1..40 {
            while stepped.run_until(Time::from_us(3 * us), 1 + draw.below(50)) == Progress::Running
            {
            }
        }
        let stepped = finish(stepped);
        assert!(stepped.flows == expected.flows, "steps make a difference");
        assert_eq!(stepped.summary, expected.summary);
        Some(tells)
    });
    let tell: Vec<bool> = tell.into_iter().flatten().collect();
    let (changed, told) = (tell.len(), tell.iter().filter(|&&tells| tells).count());
    assert!(changed > 120 && told > 60, "{changed} with changes, of which {told} are told");
}

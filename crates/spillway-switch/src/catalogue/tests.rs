//! Every policy of the catalogue: its keys, its changes, its random stream.

use super::*;
use crate::Buffer;
use crate::aqm::{AqmParams, AqmPolicy};
use crate::scheduling::SchedulingParams;
use crate::sharing::{SharingParams, SharingPolicy};
use spillway_settings::{Table, Value};

/// Settings to try. A policy has some of these keys. It refuses the others, or does not read them.
const SETTINGS: [&str; 14] = [
    "",
    "alpha = [0.25, 2.0]",
    "buffer_of = \"port\"",
    "congestion = \"fractional\"",
    "estimate = \"quantile\"\nlearn_from = \"own-port\"",
    "flows = 2\nform = \"rtt\"",
    "form = \"point-slope\"\nweight = 0.5",
    "form = \"prefix\"",
    "max_time = \"1ms\"",
    "model = { leaf0 = \"default\", leaf1 = \"smartbuf\", leaf = \"default\" }",
    "oracle = \"random\"",
    "share = 0.5",
    "thresholds = \"code\"",
    "weights = [1, 2]\nquantum = \"9KB\"",
];

fn rate(gbps: u64) -> Rate {
    Rate::from_bits_per_second(gbps * 1_000_000_000).unwrap()
}

/// The first switch of a tier, and others of the same tier: with slower and faster ports, fewer or
/// more ports, smaller, larger and unlimited buffers, and one without any port.
fn tier() -> Vec<Environment> {
    let names: Arc<[String]> = (0..5).map(|number| format!("leaf{number}")).collect();
    let of = |(switch, capacity, rates): (u32, u64, &[u64])| Environment {
        switch,
        names: Arc::clone(&names),
        capacity,
        port_rates: rates.iter().map(|&gbps| rate(gbps)).collect(),
        ..Environment::listing()
    };
    let switches: [(u32, u64, &[u64]); 5] = [
        (0, 1_000_000, &[10, 10, 40]),
        (1, 70_000, &[1, 2]),
        (2, 9_000_000, &[100, 10, 1, 400]),
        (3, Buffer::UNLIMITED, &[10]),
        (4, 500_000, &[]),
    ];
    switches.map(of).into()
}

/// At every switch of a tier, a policy made from parameters that were read with the first switch
/// equals a policy whose parameters were read with that switch itself.
macro_rules! assert_made_as_read {
    ($params:ident, $ids:expr, $least:expr) => {
        let switches = tier();
        let mut checked = 0;
        for (id, settings) in $ids.iter().flat_map(|&id| SETTINGS.map(|text| (id, text))) {
            let section = || Section::new("policy", settings.parse().unwrap());
            let Ok(params) = $params::read(id, &mut section(), &switches[0]) else { continue };
            for environment in &switches {
                let read = $params::read(id, &mut section(), environment).unwrap();
                let read = format!("{:?}", read.make(environment));
                let made = format!("{:?}", params.make(environment));
                let switch = environment.switch;
                assert_eq!(made, read, "{id} at switch {switch} with {settings:?}");
            }
            checked += 1;
        }
        assert!(checked >= $least, "only {checked} were read");
    };
}

#[test]
fn a_tiers_parameters_are_as_good_for_each_of_its_switches() {
    assert_made_as_read!(SharingParams, SharingPolicy::IDS, 16 * 12);
    assert_made_as_read!(AqmParams, AqmPolicy::IDS, 3 * 12);
    assert_made_as_read!(SchedulingParams, SchedulingPolicy::IDS, 5 * 12);
}

/// A value for each key that can change, and the settings that it needs beside it.
const CHANGED: &[(&str, &str, &str, &str)] = &[
    ("sp", "share", "0.3", ""),
    ("sp", "flows", "7", "form = \"rtt\""),
    ("dt", "alpha", "[3.0, 4.0]", ""),
    ("dt", "alpha_first_rtt", "9.0", ""),
    ("credence", "flip_probability", "0.1", "oracle = \"random\""),
    ("credence", "drop_probability", "0.1", "oracle = \"random\""),
    ("blind-trust", "flip_probability", "0.1", "oracle = \"random\""),
    ("blind-trust", "drop_probability", "0.1", "oracle = \"random\""),
    ("abm", "alpha", "2.0", ""),
    ("abm", "alpha_first_rtt", "2.0", ""),
    ("abm", "congested_at", "0.7", ""),
    ("abm", "saturation", "\"9KB\"", "congestion = \"fractional\""),
    ("cbm", "alpha", "2.0", ""),
    ("cbm", "alpha_first_rtt", "2.0", ""),
    ("cbm", "congested_at", "0.7", ""),
    ("fab", "alpha", "2.0", ""),
    ("fab", "alpha_short", "2.0", ""),
    ("fab", "short_bytes", "\"9KB\"", ""),
    ("fb", "alpha", "2.0", ""),
    ("fb", "congested_at", "0.7", ""),
    ("reverie", "alpha", "2.0", ""),
    ("reverie", "alpha_first_rtt", "2.0", ""),
    ("smartbuf", "alpha", "2.0", ""),
    ("smartbuf", "alpha_first_rtt", "2.0", ""),
    ("smartbuf", "k", "7", ""),
    ("smartbuf", "sigma", "7.0", ""),
    ("smartbuf", "beta", "0.7", ""),
    ("smartbuf", "smoothing", "0.6", ""),
    ("smartbuf", "quantile", "0.7", "estimate = \"quantile\""),
    ("smartbuf", "learning_period", "\"7us\"", ""),
    ("edt", "alpha", "2.0", ""),
    ("edt", "alpha_first_rtt", "2.0", ""),
    ("edt", "burst_packets", "7", ""),
    ("edt", "burst_time", "\"7us\"", ""),
    ("edt", "drain_packets", "7", ""),
    ("edt", "max_time", "\"7us\"", ""),
    ("pfabric", "limit", "\"9KB\"", ""),
    ("occamy", "alpha", "[3.0, 4.0]", ""),
    ("ecn", "threshold", "\"7pkt\"", ""),
    ("red", "min", "\"7pkt\"", ""),
    ("red", "max", "\"77pkt\"", ""),
    ("red", "max_probability", "0.7", ""),
    ("red", "slope", "0.7", "form = \"point-slope\""),
    ("ared", "min", "\"7pkt\"", ""),
    ("ared", "max", "\"77pkt\"", ""),
    ("ared", "alpha", "0.07", ""),
    ("ared", "beta", "0.7", ""),
    ("ared", "bottom", "0.07", ""),
    ("ared", "top", "0.7", ""),
    ("ared", "target_low", "0.45", ""),
    ("ared", "target_high", "0.7", ""),
    ("codel", "target", "\"7us\"", ""),
    ("codel", "interval", "\"77us\"", ""),
    ("tcn", "threshold", "\"7us\"", ""),
    ("ecn-sharp", "instant", "\"77us\"", ""),
    ("ecn-sharp", "target", "\"7us\"", ""),
    ("ecn-sharp", "interval", "\"77us\"", ""),
    ("pie", "target", "\"7us\"", ""),
    ("pie", "alpha", "7.0", ""),
    ("pie", "beta", "7.0", ""),
    ("pie", "mark_up_to", "0.7", ""),
    ("acc", "exploration", "0.7", ""),
    ("pred", "min", "\"7pkt\"", "qla = false"),
    ("pred", "max", "\"77pkt\"", ""),
    ("pred", "lambda", "0.7", "qla = false"),
    ("pred", "beta", "0.7", ""),
    ("pred", "q_left", "\"7pkt\"", ""),
    ("mq-ecn", "rtt", "\"77us\"", ""),
    ("mq-ecn", "lambda", "0.7", ""),
];

/// Before any packet has arrived, a policy that changes to a value equals a policy that is made
/// with that value. If the key can differ by port, one port can change alone, until all ports
/// change.
macro_rules! assert_adopted {
    ($params:ident, $policy:ident) => {
        let environment = &tier()[0];
        let buffer = Buffer::new(1_000_000, environment.port_rates.clone(), 2);
        for entry in $policy::catalogue() {
            for &key in entry.changes {
                let row = CHANGED.iter().find(|row| (row.0, row.1) == (entry.id, key));
                let (_, _, value, beside) = row.expect(key);
                let params = |settings: String| {
                    let mut section = Section::new("policy", settings.parse().unwrap());
                    let read = $params::read(entry.id, &mut section, environment).unwrap();
                    section.finish().unwrap();
                    read
                };
                let from = params(beside.to_string());
                let to = params(format!("{beside}\n{key} = {value}"));
                assert_eq!(from.changes().0, entry.changes);
                from.check_change(&to).unwrap();
                let (mut policy, fresh) = (from.make(environment), to.make(environment));
                let (before, after) = (format!("{policy:?}"), format!("{fresh:?}"));
                assert_ne!(before, after, "{} of {}", key, entry.id);
                let mut adoption = Adoption { now: Time::ZERO, port: None, buffer: &buffer };
                if from.changes().1 {
                    adoption.port = Some(1);
                    policy.adopt(to.make(environment), &adoption);
                    let one_port = format!("{policy:?}");
                    assert!(one_port != before && one_port != after, "{}", entry.id);
                    adoption.port = None;
                }
                policy.adopt(fresh, &adoption);
                assert_eq!(format!("{policy:?}"), after, "{} of {}", key, entry.id);
            }
        }
    };
}

#[test]
fn what_changes_is_what_would_have_been_made() {
    assert_adopted!(SharingParams, SharingPolicy);
    assert_adopted!(AqmParams, AqmPolicy);
    assert_adopted!(SchedulingParams, SchedulingPolicy);
    let listed = |entries: Vec<Entry>| entries.iter().map(|entry| entry.changes.len()).sum();
    let of_rooms: [usize; 2] = [listed(SharingPolicy::catalogue()), listed(AqmPolicy::catalogue())];
    assert_eq!(of_rooms.iter().sum::<usize>(), CHANGED.len());
}

#[test]
fn what_a_policy_steers_itself_and_units_of_averages_do_not_change() {
    let environment = &tier()[0];
    let refused = |id, from: &str, to: &str| {
        let read = |settings: &str| {
            let mut section = Section::new("aqm", settings.parse().unwrap());
            AqmParams::read(id, &mut section, environment).unwrap()
        };
        read(from).check_change(&read(to)).err()
    };
    let key = |refusal: Option<Refusal>| refusal.map(|(key, _)| key);
    assert_eq!(key(refused("pred", "", "lambda = 0.2")), Some("lambda"));
    assert_eq!(key(refused("pred", "", "min = \"9pkt\"")), Some("min"));
    assert_eq!(key(refused("pred", "qla = false", "qla = false\nlambda = 0.2")), None);
    let bytes = "min = \"9KB\"\nmax = \"90KB\"\n";
    assert_eq!(key(refused("red", "", bytes)), None);
    let averages = "weight = 0.5\n";
    assert_eq!(key(refused("red", averages, &format!("{averages}{bytes}"))), Some("min"));
    assert_eq!(key(refused("ared", "", bytes)), Some("min"));
}

#[test]
fn every_switch_has_a_random_stream_of_its_own() {
    let switches = tier();
    let mut section = Section::new("aqm", Table::new());
    let params = AqmParams::read("red", &mut section, &switches[0]).unwrap();
    let made = |switch: usize| format!("{:?}", params.make(&switches[switch]));
    let (at_first, at_second) = (made(0), made(1));
    assert_ne!(stream_of(&at_first), stream_of(&at_second));
    assert_eq!(made(0), at_first);
}

/// What a policy's state says of its stream.
fn stream_of(state: &str) -> &str {
    let from = state.find("random: ").expect("it draws");
    &state[from..from + state[from..].find('}').expect("a struct")]
}

/// What a list by queue class is resolved to, and what is warned of.
fn by_role(text: &str, environment: &Environment) -> Result<(Value, Vec<String>), String> {
    let mut section = Section::new("sharing", format!("alpha = {text}").parse().unwrap());
    let numbers = environment.by_queue_class(&mut section, "alpha", 0.5, Range::Positive, "");
    let numbers = numbers.map_err(|error| error.to_string())?;
    let warnings = section.warnings().to_vec();
    let resolved = section.finish().unwrap().remove("alpha").unwrap();
    let list = resolved.as_array().cloned().unwrap_or_else(|| vec![resolved.clone()]);
    assert_eq!(list.len(), numbers.len());
    Ok((resolved, warnings))
}

#[test]
fn numbers_by_role_are_those_by_queue_class() {
    let of = |queues_per_port, ack_queue_class, shares_ack_queues| Environment {
        queues_per_port,
        ack_queue_class,
        shares_ack_queues,
        ..Environment::example(2)
    };
    let (two, eight, last) = (of(2, 0, false), of(8, 0, false), of(3, 2, false));
    let (one, shared) = (of(1, 0, false), of(4, 0, true));
    let plain = "{ acks = 64, data = 0.5 }";
    for (text, environment, expected) in [
        (plain, &two, "[64, 0.5]"),
        (plain, &eight, "[64, 0.5]"),
        ("{ acks = 64, data = [4, 2, 1] }", &eight, "[64, 4, 2, 1]"),
        ("{ acks = 1, data = 1 }", &eight, "1"),
        // Acks have the last queue class; data have the others.
        ("{ acks = 64, data = [4, 2] }", &last, "[4, 2, 64]"),
        (plain, &last, "[0.5, 0.5, 64]"),
        // Acks wait with data of the best level.
        ("{ data = 0.5 }", &shared, "0.5"),
        ("{ data = [4, 2] }", &shared, "[4, 2, 2, 2]"),
        ("{ data = 0.5 }", &one, "0.5"),
    ] {
        let (resolved, warnings) = by_role(text, environment).unwrap();
        assert_eq!(resolved.to_string(), expected, "{text}");
        assert_eq!(warnings, [""; 0], "{text}");
    }
    let meaningless =
        "sharing.alpha: acks wait with data, whose number they have: `acks` means nothing";
    assert_eq!(by_role(plain, &shared).unwrap().1, [meaningless]);
    let many = "sharing.alpha: 2 numbers for data, but data have 1 queues at a port";
    assert_eq!(by_role("{ acks = 1, data = [2, 3] }", &two).unwrap().1, [many]);
}

#[test]
fn roles_that_are_missing_or_unknown_are_refused() {
    let two = Environment { queues_per_port: 2, ..Environment::example(2) };
    for (text, problem) in [
        ("{ data = 0.5 }", "`acks` is missing: they have queue class 0"),
        ("{ acks = 64 }", "`data` is missing: a number, or a list of them"),
        ("{ acks = 64, data = [] }", "`data` is missing: a number, or a list of them"),
        ("{ acks = 64, dat = 1 }", "\"dat\" is not a role; these are acks and data"),
        (
            "{ acks = 64, data = -1 }",
            "[64, -1] is not valid; expected a number in (0, inf), a list of them, or a table such as { acks = \
             64, data = 0.5 }",
        ),
    ] {
        assert_eq!(by_role(text, &two).unwrap_err(), format!("sharing.alpha: {problem}"), "{text}");
    }
}

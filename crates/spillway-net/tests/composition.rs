//! Algorithms together with others than they were made for: what is warned of, and that ordinary
//! scenarios are not.

use crate::common::{bundled_folder, columns, scenario_with};
use spillway_forest::checksum;
use spillway_net::scenario::{Scenario, Sources};
use spillway_settings::apply;
use spillway_switch::sharing::MODELS;
use spillway_traffic::FlowColumns;

/// The warnings of a bundled scenario with assignments.
fn bundled(name: &str, assignments: &[&str]) -> Vec<String> {
    let text = std::fs::read_to_string(bundled_folder().join(format!("{name}.toml"))).unwrap();
    let mut given = spillway_settings::parse(&text).unwrap();
    for assignment in assignments {
        apply(&mut given, assignment).unwrap();
    }
    Scenario::read(given, &Sources::of(&bundled_folder())).unwrap().warnings
}

/// The warnings at a switch with eight queues for each port, some of whose flows have priorities.
fn at_switch(switch: &str, tagging: &str, priorities: &[u8]) -> Vec<String> {
    let text = format!(
        "duration = \"1ms\"\ntopology = {{ kind = \"star\", hosts = 4 }}\nnic.queues = 8\n\
         transport = {{ kind = \"dctcp\", recovery.kind = \"per-priority\", tagging = {tagging} }}\n\
         switch = {{ buffer = \"1MB\", queues_per_port = 8, {switch} }}\n\
         [[traffic]]\nname = \"list\"\nkind = \"flows\"\nfile = \"list\""
    );
    let list = columns(&[(0, 1, 1_000, 0), (2, 1, 1_000, 0)]);
    let priority = (!priorities.is_empty())
        .then(|| priorities.iter().map(|&priority| Some(priority)).collect());
    scenario_with(&text, &FlowColumns { priority, ..list }).warnings
}

const FIXED: &str = "\"fixed\"";
const APART: &str = "{ kind = \"pias\", thresholds = [\"1KB\", \"3KB\"] }";
const WITH_FIRST: &str =
    "{ kind = \"pias\", thresholds = [\"1KB\", \"3KB\"], acks = \"with-first\" }";

#[test]
fn numbers_meant_for_acks_that_data_get_are_warned_of() {
    let told = |lists: &str, tagging: &str, priorities: &[u8]| {
        let warnings = at_switch(&format!("scheduling = \"strict\", {lists}"), tagging, priorities);
        assert!(warnings.len() < 2, "{warnings:?}");
        warnings.into_iter().next().unwrap_or_default()
    };
    let dt = |alpha: &str| format!("sharing = {{ kind = \"dt\", alpha = {alpha} }}");
    let of = |roles: &str| {
        format!(
            "switch.sharing.alpha: data wait with acks in queue class 0, so 64 holds for these data as \
             well as for acks; {roles}write one number for each of the 8 queue classes, or let acks \
             wait apart from data"
        )
    };
    let expected = of("write alpha = { data = 0.5 }, or ");
    assert_eq!(told(&dt("[64, 0.5]"), WITH_FIRST, &[]), expected);
    assert!(told(&dt("[64, 2, 1]"), FIXED, &[0, 4]).contains("acks; write one number"));
    // Flows with priorities of their own may wait with acks, or not: roles do not tell.
    assert_eq!(told(&dt("[64, 0.5]"), FIXED, &[0, 1]), of(""));
    for other in ["abm", "cbm", "fab", "edt"] {
        let lists = dt("[64, 0.5]").replace("\"dt\"", &format!("\"{other}\""));
        let warnings = at_switch(&format!("scheduling = \"rr\", {lists}"), WITH_FIRST, &[]);
        assert!(warnings.contains(&expected), "{other}: {warnings:?}");
    }
    let asked =
        "{ kind = \"blind-trust\", oracle = \"smartbuf\", smartbuf = { alpha = [64, 0.5] } }";
    let warnings = at_switch(&format!("scheduling = \"rr\", sharing = {asked}"), WITH_FIRST, &[]);
    let of_oracle = expected.replacen("sharing", "sharing.smartbuf", 1);
    assert!(warnings.contains(&of_oracle), "{warnings:?}");
    for (alpha, tagging, priorities) in [
        ("[64, 0.5]", APART, &[][..]),
        ("[64, 0.5]", FIXED, &[]),
        ("[64, 0.5]", FIXED, &[1, 2]),
        // One number for each class of data.
        ("[8, 1, 0.5]", WITH_FIRST, &[]),
        ("[1, 1.0]", WITH_FIRST, &[]),
        ("0.5", WITH_FIRST, &[]),
        ("{ data = 0.5 }", WITH_FIRST, &[]),
        ("{ data = [8, 1] }", WITH_FIRST, &[]),
        ("{ acks = 64, data = [8, 1] }", APART, &[]),
    ] {
        assert_eq!(told(&dt(alpha), tagging, priorities), "", "{alpha} {tagging} {priorities:?}");
    }
    assert!(told(&dt("[8, 1]"), WITH_FIRST, &[]).contains("so 8 holds"));
    assert!(told(&dt("[8, 1, 0.5]"), FIXED, &[0, 4]).contains("so 8 holds"));
    let weights = "scheduling = { kind = \"dwrr\", weights = [4, 1] }";
    let warnings = at_switch(weights, WITH_FIRST, &[]);
    let text = "switch.scheduling.weights: data wait with acks in queue class 0, so 4 holds";
    assert!(warnings.iter().any(|warning| warning.starts_with(text)), "{warnings:?}");
    // Data without a priority that share the class of acks, where no list can tell them apart.
    let shared =
        "queues_per_port = 2, data_queue = 0, sharing = { kind = \"dt\", alpha = [64, 0.5] }";
    let text = format!(
        "duration = \"1ms\"\ntopology = {{ kind = \"star\", hosts = 2 }}\nswitch = {{ {shared} }}\n\
         [[traffic]]\nname = \"list\"\nkind = \"flows\"\nfile = \"list\""
    );
    let told = scenario_with(&text, &columns(&[(0, 1, 1_000, 0)])).warnings;
    assert_eq!(
        told,
        ["switch.sharing.alpha: data wait with acks in queue class 0, so 64 holds for \
                       these data as well as for acks; write alpha = { data = 0.5 }, or let acks wait apart from data"]
    );
}

#[test]
fn a_number_far_above_all_others_is_meant_for_acks_wherever_these_wait() {
    let of_credence = |alpha: &str, acks: u8| {
        let sharing = format!("switch.sharing={{ kind = 'dt', alpha = {alpha} }}");
        let queues = [acks, 1 - acks].map(|class| class.to_string());
        let [acks, data] = [&queues[0], &queues[1]];
        let places = [format!("switch.ack_queue={acks}"), format!("switch.data_queue={data}")];
        bundled("credence", &[&sharing, &places[0], &places[1]])
    };
    assert_eq!(
        of_credence("[64, 0.5]", 1),
        [
            "switch.sharing.alpha: data wait in queue class 0, and acks in 1, so 64 holds for data; write \
          alpha = { acks = 64, data = 0.5 }"
        ]
    );
    for (alpha, acks) in [
        ("[64, 0.5]", 0),
        ("{ acks = 64, data = 0.5 }", 1),
        ("[0.5, 64]", 1),
        ("[7, 0.5]", 1),
        ("0.5", 1),
    ] {
        assert_eq!(of_credence(alpha, acks), [""; 0], "{alpha} {acks}");
    }
    // One number for each of nine queues, as a scenario has it in which acks wait apart.
    let nine = "sharing = { kind = \"dt\", alpha = [64, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5] }";
    let expected = "switch.sharing.alpha: data wait with acks in queue class 0, so 64 holds for these data \
                    as well as for acks; write alpha = { data = 0.5 }, or let acks wait apart from data";
    assert_eq!(at_switch(&format!("scheduling = \"strict\", {nine}"), WITH_FIRST, &[]), [expected]);
    assert_eq!(at_switch(&format!("scheduling = \"strict\", {nine}"), APART, &[]), [""; 0]);
    // Tagged data wait where acks do not.
    let told = at_switch(
        "scheduling = \"rr\", ack_queue = 7, sharing = { kind = \"dt\", alpha = [64, 2, 1] }",
        FIXED,
        &[0, 1],
    );
    let expected = "queue class 0, and acks in 7, so 64 holds for data; write alpha = { acks = 64, data = \
                    [2, 1] }, or write one number for each of the 8 queue classes";
    assert!(told.len() == 1 && told[0].ends_with(expected), "{told:?}");
}

#[test]
fn values_that_events_set_are_warned_of_as_those_of_the_scenario() {
    let told = |key: &str, value: &str| {
        let event = format!("{{ kind = 'set', at = '1ms', key = '{key}', value = {value} }}");
        bundled(
            "credence",
            &[
                "switch.sharing={ kind = 'dt', alpha = [0.5, 0.5] }",
                "switch.ack_queue=1",
                "switch.data_queue=0",
                "switch.spine.sharing=lqd",
                &format!("event=[{event}]"),
            ],
        )
    };
    let expected = |key: &str| {
        format!(
            "event.0: {key}: data wait in queue class 0, and acks in 1, so 64 holds for data; write its \
             numbers in the order of queue classes"
        )
    };
    let alpha = "switch.leaf.sharing.alpha";
    for (key, value) in [
        (alpha, "[64, 0.5]"),
        ("switch.leaf3.sharing.alpha", "[64, 0.5]"),
        ("switch.leaf.port.2.sharing.alpha", "[64, 0.5]"),
        ("switch.leaf.sharing.alpha[0]", "64"),
    ] {
        let told = told(key, value);
        assert_eq!(told, [expected(key)]);
    }
    assert_eq!(told(alpha, "[0.5, 64]"), [""; 0]);
    assert_eq!(told(alpha, "64"), [""; 0]);
}

/// A rule that needs strict priority and data in several queues.
fn only_under_strict(policy: &str, part: &str) {
    let has = |scheduling: &str, tagging: &str, priorities: &[u8]| {
        let switch = format!("scheduling = \"{scheduling}\", {policy}");
        at_switch(&switch, tagging, priorities).iter().any(|text| text.contains(part))
    };
    for (scheduling, tagging, priorities, expected) in [
        ("strict", APART, &[][..], true),
        ("strict", WITH_FIRST, &[], true),
        ("strict", FIXED, &[1, 2], true),
        ("strict", FIXED, &[1, 1], false),
        ("strict", FIXED, &[], false),
        ("rr", APART, &[], false),
    ] {
        let found = has(scheduling, tagging, priorities);
        assert_eq!(found, expected, "{policy} {scheduling} {tagging} {priorities:?}");
    }
}

#[test]
fn limits_of_ports_and_of_delays_are_warned_of_under_strict_priority() {
    only_under_strict("sharing = \"smartbuf\"", "floor = \"dt\" admits what is within DT's");
    only_under_strict("sharing = \"smartbuf\"", "limit = \"queue\" limits each queue's own burst");
    only_under_strict("sharing = \"edt\"", "in a burst EDT limits all queues of a port together");
    only_under_strict("sharing = \"cbm\"", "CBM drops packets that have waited for long");
    only_under_strict("sharing = \"cbm\"", "others are sent; or serve queues in turn (\"rr\")");
    let strict =
        |policy: &str| at_switch(&format!("scheduling = \"strict\", {policy}"), APART, &[]);
    // Who asks it refuses what it refuses.
    let asked = "sharing = { kind = \"blind-trust\", oracle = \"smartbuf\" }";
    only_under_strict(asked, "switch.sharing.smartbuf: in a burst Smartbuf limits all queues");
    let printed = strict("sharing = { kind = \"smartbuf\", variant = \"printed\" }");
    assert!(printed.len() == 1 && !printed[0].contains("floor"), "{printed:?}");
    assert_eq!(strict("sharing = { kind = \"smartbuf\", floor = \"dt\" }"), [""; 0]);
    assert_eq!(strict("sharing = { kind = \"smartbuf\", limit = \"queue\" }"), [""; 0]);
    assert_eq!(strict("sharing = { kind = \"cbm\", delay = \"served\" }"), [""; 0]);
    assert!(!strict("sharing = \"edt\"")[0].contains("limit ="));
    assert_eq!(strict("sharing = \"dt\""), [""; 0]);
}

#[test]
fn who_follows_lqd_and_pushes_nothing_out_is_warned_of_under_strict_priority() {
    let always = |more: &str| {
        format!("sharing = {{ kind = \"credence\", oracle = \"always-accept\"{more} }}")
    };
    only_under_strict("sharing = \"followlqd\"", "FollowLQD pushes nothing out, and under");
    only_under_strict("sharing = \"followlqd\"", "fill the buffer; \"lqd\" takes that room back");
    only_under_strict(&always(""), "push_out = true takes that room back");
    only_under_strict(&always(", thresholds = \"code\""), "push_out = true takes that room back");
    let switch = format!("scheduling = \"strict\", {}", always(", push_out = true"));
    assert_eq!(at_switch(&switch, APART, &[]), [""; 0]);
}

#[test]
fn first_bytes_in_several_levels_are_warned_of() {
    let told = |sharing: &str, tagging: &str, priorities: &[u8]| {
        let warnings =
            at_switch(&format!("scheduling = \"strict\", {sharing}"), tagging, priorities);
        warnings
            .iter()
            .any(|text| text.starts_with("switch.sharing: FAB counts a flow's bytes in each"))
    };
    assert!(told("sharing = \"fab\"", APART, &[]));
    assert!(!told("sharing = \"fab\"", "{ kind = \"pias\", thresholds = [] }", &[]));
    assert!(!told("sharing = \"fab\"", FIXED, &[1, 2]));
    assert!(!told("sharing = \"dt\"", APART, &[]));
}

#[test]
fn pred_among_several_queues_under_strict_priority_is_warned_of() {
    let parts = ["the flows of better ones, since", "a throughput that better ones leave it"];
    only_under_strict("aqm = \"pred\"", "under \"strict\" PRED is not by queue: a worse queue");
    parts.iter().for_each(|part| only_under_strict("aqm = \"pred\"", part));
    let told = |parameters: &str| {
        let aqm = format!("scheduling = \"strict\", aqm = {{ kind = \"pred\", {parameters} }}");
        let warnings = at_switch(&aqm, APART, &[]);
        parts.map(|part| warnings.iter().any(|text| text.contains(part)))
    };
    assert_eq!(told("qla_scope = \"port\""), [true, false]);
    assert_eq!(told("qla = false"), [true, false]);
    assert_eq!(told("fcs = false"), [false, true]);
    assert_eq!(told("fcs = false, qla_scope = \"port\""), [false, false]);
    assert_eq!(told("scope = \"port\""), [false, false]);
    // In turn, a queue has its share of the line, but not of the count.
    let in_turn = |more: &str, priorities: &[u8]| {
        let aqm = format!("scheduling = \"dwrr\", aqm = {{ kind = \"pred\"{more} }}");
        at_switch(&aqm, FIXED, priorities)
    };
    assert_eq!(
        in_turn("", &[1, 2]),
        [
            "switch.aqm: with data in several queues PRED is not by queue: a queue is marked for the \
          flows of others, too, since those of the port are counted (fcs = false counts none); scope = \
          \"port\" marks the queues of a port as one"
        ]
    );
    for (more, priorities) in
        [("", &[1, 1][..]), (", fcs = false", &[1, 2]), (", scope = \"port\"", &[1, 2])]
    {
        assert_eq!(in_turn(more, priorities), [""; 0], "{more} {priorities:?}");
    }
}

#[test]
fn one_half_of_reverie_is_warned_of() {
    let told = |assignments: &[&str]| bundled("reverie", assignments);
    let prefix = "switch: Reverie is one rule for all packets that share a buffer: ";
    let lossy = "sharing = \"reverie\" holds for lossy packets alone; pfc = \"reverie\" is its rule \
                 for lossless ones";
    let lossless = "pfc = \"reverie\" holds for lossless packets alone; sharing = \"reverie\" is its \
                    rule for lossy ones";
    for (assignment, problem) in [
        ("switch.pfc=dynamic", lossy),
        ("switch.sharing=abm", lossless),
        ("switch.pfc.gamma=0.99", "gamma of sharing is not that of pfc"),
        ("switch.sharing.saturation=1KB", "saturation of sharing is not that of pfc"),
    ] {
        assert_eq!(told(&[assignment]), [format!("{prefix}{problem}")]);
    }
    for assignments in [
        &["switch.pfc=none"][..],
        &["switch.pfc=dynamic", "switch.sharing=abm"],
        // Each half may have its share.
        &["switch.sharing.alpha=2"],
    ] {
        assert_eq!(told(assignments), [""; 0], "{assignments:?}");
    }
}

/// Eight queues, strict priority and PIAS, with the recovery that this needs.
const LEVELS: [&str; 5] = [
    "switch.queues_per_port=8",
    "switch.scheduling=strict",
    "nic.queues=8",
    "transport.tagging={ kind = 'pias', thresholds = ['10KB', '100KB'] }",
    "switch.sharing={ kind = 'credence', push_out = true }",
];

#[test]
fn a_model_among_others_than_in_its_training_is_warned_of() {
    assert_eq!(bundled("credence", &["switch.sharing=credence"]), [""; 0]);
    assert_eq!(bundled("credence", &["switch.sharing=blind-trust"]), [""; 0]);
    // The other loads and bursts of the paper.
    let other =
        ["switch.sharing=credence", "traffic.websearch.load=0.2", "traffic.incast.burst=10%"];
    assert_eq!(bundled("credence", &other), [""; 0]);
    assert_eq!(
        bundled("credence", &[&LEVELS[..], &["switch.sharing.oracle=random"]].concat()),
        [""; 0]
    );
    let why = "train one for this scenario, by `spillway oracle train`";
    let told = |assignments: &[&str]| bundled("credence", assignments);
    assert_eq!(
        told(&LEVELS),
        [format!(
            "switch.sharing.model: default: it was trained with queues_per_port = 2, scheduling = rr, \
             tagging = fixed; here queues_per_port = 8, scheduling = strict, tagging = pias: {why}"
        )]
    );
    for (assignment, expected) in [
        ("transport.recovery=rack", "recovery = sack; here recovery = rack"),
        ("traffic.websearch.sizes=hadoop", "sizes = websearch; here sizes = hadoop"),
        ("traffic.incast.recovery=rack", "recovery = sack; here recovery = rack and sack"),
        (
            "traffic.incast.transport=newreno",
            "transport = dctcp; here transport = dctcp and newreno",
        ),
        (
            "traffic.websearch.sizes_within=1KB..1MB",
            "sizes = websearch; here sizes = websearch within 1KB..1MB",
        ),
    ] {
        let text = format!("switch.sharing.model: default: it was trained with {expected}: {why}");
        assert_eq!(told(&["switch.sharing=credence", assignment]), [text]);
    }
    // The scheduler of a single queue is no other.
    let smartbuf = ["switch.sharing={ kind = 'blind-trust', model = 'smartbuf' }"];
    for scheduling in ["switch.scheduling=fifo", "switch.scheduling=strict"] {
        assert_eq!(bundled("smartbuf", &[smartbuf[0], scheduling]), [""; 0]);
    }
    let at_leaf = bundled("smartbuf", &["switch.leaf.sharing=credence", "switch.spine.sharing=dt"]);
    let found = at_leaf.iter().find(|text| text.contains("trained with queues_per_port = 2"));
    assert!(found.unwrap().starts_with("switch.leaf.sharing.model: default"), "{at_leaf:?}");
}

#[test]
fn a_model_that_does_not_tell_of_its_training_is_not_compared() {
    let mut bytes = MODELS[0].1.to_vec();
    let key = b"\"training\":";
    let place = bytes.windows(key.len()).position(|window| window == key).unwrap();
    bytes[place + 1] = b'T';
    let (sum, right) = checksum(&bytes).unwrap();
    bytes[sum].copy_from_slice(right.as_bytes());
    let name = format!("spillway-composition-{}.safetensors", std::process::id());
    let file = std::env::temp_dir().join(name);
    std::fs::write(&file, bytes).unwrap();
    let model = format!("switch.sharing.model='{}'", file.display());
    assert_eq!(bundled("credence", &[&LEVELS[..], &[&model]].concat()), [""; 0]);
    std::fs::remove_file(file).unwrap();
}

/// The papers' set-ups, with the policies that they compare.
#[test]
fn ordinary_scenarios_are_not_warned_of() {
    for (scenario, key, policies) in [
        ("abm", "sharing", &["abm", "cbm", "fab", "{ kind = 'dt', alpha = [64, 0.5] }"][..]),
        ("cbm", "sharing", &["abm", "cbm", "{ kind = 'dt', alpha = [1, 0.5] }"]),
        ("credence", "sharing", &["lqd", "abm", "followlqd", "{ kind = 'dt', alpha = [64, 0.5] }"]),
        ("smartbuf", "leaf.sharing", &["smartbuf", "edt", "cbm"]),
        ("qclimb", "sharing", &["dt", "abm", "lqd", "sp", "{ kind = 'dt', alpha = 2 }"]),
        ("leaf-spine-128", "aqm", &["pred", "{ kind = 'pred', preset = 'paper' }"]),
    ] {
        for policy in policies {
            let assignment = format!("switch.{key}={policy}");
            assert_eq!(bundled(scenario, &[&assignment]), [""; 0], "{scenario}: {assignment}");
        }
    }
}

/// The warnings of a scenario with DCTCP on a leaf-spine.
fn protected(more: &str) -> Vec<String> {
    let text = format!(
        "duration = \"1ms\"\ntopology.kind = \"leaf-spine\"\nswitch.buffer = \"1MB\"\n\
         switch.queues_per_port = 5\nswitch.scheduling = \"strict\"\nnic.queues = 5\n\
         transport.kind = \"dctcp\"\n{more}\n\
         [[traffic]]\nname = \"list\"\nkind = \"flows\"\nfile = \"list\""
    );
    scenario_with(&text, &columns(&[(0, 1, 1_000, 0)])).warnings
}

#[test]
fn important_packets_and_a_limit_for_others_belong_together() {
    let (tags, limit) = ("transport.protection = \"tlt\"", "switch.unimportant_limit = \"9%\"");
    assert_eq!(protected(&format!("{tags}\n{limit}")), [""; 0]);
    assert_eq!(protected(&format!("{tags}\nswitch.spine.unimportant_limit = \"9%\"")), [""; 0]);
    let found = protected(tags);
    assert!(found.len() == 1 && found[0].starts_with("transport.protection: no switch has"));
    let found = protected(limit);
    assert!(found.len() == 1 && found[0].starts_with("switch.unimportant_limit: no sender tags"));
    let overtakes = "transport.protection: an important packet may overtake others";
    let sprayed = protected(&format!("{tags}\n{limit}\nrouting.kind = \"spray\""));
    assert!(sprayed.len() == 1 && sprayed[0].starts_with(overtakes), "{sprayed:?}");
    let climbs =
        "transport.tagging = { kind = \"qclimb\", thresholds = [\"1KB\", \"3KB\", \"5KB\"] }";
    let climbing = protected(&format!("{tags}\n{limit}\n{climbs}"));
    assert!(climbing.iter().any(|text| text.starts_with(overtakes)), "{climbing:?}");
}

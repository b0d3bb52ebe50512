//! A key that means something with another setting only is refused, and the error names the
//! setting.

use spillway_settings::{Section, SettingsError};
use spillway_switch::Environment;
use spillway_switch::aqm::AqmPolicy;
use spillway_switch::sharing::SharingPolicy;

const COUNTERS: &str = "counter = \"bitmap\" or \"hashes\"";

#[test]
fn a_key_of_another_setting_is_refused() {
    for (id, text, key, setting) in [
        ("red", "slope = 0.5", "slope", "form = \"point-slope\""),
        (
            "red",
            "form = \"point-slope\"\nmax_probability = 0.5",
            "max_probability",
            "form = \"two-point\"",
        ),
        ("pred", "fcs = false\nplaces = 120", "places", "fcs = true"),
        ("pred", "hash_bits = 32", "hash_bits", "counter = \"hashes\""),
        ("pred", "counter = \"hashes\"\ncount_max = 9", "count_max", "counter = \"bitmap\""),
        ("pred", "counter = \"exact\"\nplaces = 120", "places", COUNTERS),
        ("pred", "counter = \"exact\"\ncount_max = 9", "count_max", "counter = \"bitmap\""),
        ("pred", "counter = \"exact\"\nhash_bits = 9", "hash_bits", "counter = \"hashes\""),
        ("pred", "qla = false\nt_qla = \"1ms\"", "t_qla", "qla = true"),
        ("pred", "qla = false\nidle = \"counts\"", "idle", "qla = true"),
        ("pred", "qla = false\ndelta = 0.1", "delta", "qla = true"),
        ("pred", "scope = \"port\"\nqla_scope = \"port\"", "qla_scope", "scope = \"queue\""),
        ("pred", "table_bits = 8", "table_bits", "`table_step`"),
        ("sp", "flows = 3", "flows", "form = \"rtt\""),
        ("sp", "form = \"rtt\"\nshare = 0.1", "share", "form = \"share\""),
        ("abm", "saturation = \"9KB\"", "saturation", "congestion = \"fractional\""),
        (
            "abm",
            "congestion = \"fractional\"\ncongested_at = 0.5",
            "congested_at",
            "congestion = \"binary\"",
        ),
        ("smartbuf", "quantile = 0.5", "quantile", "estimate = \"quantile\""),
        ("smartbuf", "variant = \"printed\"\nfloor = \"dt\"", "floor", "variant = \"text\""),
        ("credence", "thresholds = \"code\"\ntie = \"x\"", "tie", "thresholds = \"lqd\""),
        ("credence", "thresholds = \"code\"\npush_out = true", "push_out", "thresholds = \"lqd\""),
        ("credence", "trace = \"x\"", "trace", "oracle = \"trace\""),
        ("credence", "smartbuf = { k = 4 }", "smartbuf", "oracle = \"smartbuf\""),
        ("blind-trust", "drop_probability = 1", "drop_probability", "oracle = \"random\""),
        ("blind-trust", "oracle = \"random\"\nmodel = \"x\"", "model", "oracle = \"forest\""),
    ] {
        let problem = read(id, text).map(|error| error.to_string());
        assert_eq!(problem, Some(format!("x.{key}: it needs {setting}")), "{id}: {text}");
    }
}

/// What is wrong with the settings of a policy.
fn read(id: &str, text: &str) -> Option<SettingsError> {
    let table = text.parse().expect("a table");
    let (mut section, environment) = (Section::new("x", table), Environment::example(1));
    if AqmPolicy::catalogue().iter().any(|entry| entry.id == id) {
        AqmPolicy::read(id, &mut section, &environment).err()
    } else {
        SharingPolicy::read(id, &mut section, &environment).err()
    }
}

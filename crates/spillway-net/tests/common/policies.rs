//! Every policy of the catalogues.

use spillway_switch::aqm::AqmPolicy;
use spillway_switch::sharing::SharingPolicy;

/// Every policy with its defaults, and with the settings that have it do something else. Of those
/// that can, only `acc` draws.
pub fn every_policy() -> Vec<String> {
    let aqm = |id: &&str| match *id {
        // Its chance is all or nothing.
        "red" => "aqm = { kind = \"red\", min = \"8pkt\", max = \"8pkt\", weight = 0.5 }".into(),
        "ared" => "aqm = { kind = \"ared\", min = \"8pkt\", max = \"8pkt\", weight = 0.5, \
                   gentle = false }"
            .into(),
        "acc" => "aqm = { kind = \"acc\", interval = \"9us\", exploration = 0.3 }".into(),
        "ecn" => "aqm = { kind = \"ecn\", threshold = \"8pkt\" }".into(),
        "mq-ecn" => "aqm = { kind = \"mq-ecn\", rtt = \"9us\" }\nscheduling = \"dwrr\"".into(),
        "pie" => "aqm = { kind = \"pie\", alpha = 1e18, beta = 0 }".into(),
        "pred" => {
            "aqm = { kind = \"pred\", min = \"8pkt\", max = \"8pkt\", q_left = \"4pkt\" }".into()
        }
        id => format!("aqm = {id:?}"),
    };
    let sharing = SharingPolicy::IDS.iter().map(|id| format!("sharing = {id:?}"));
    let others = [
        "kind = \"abm\", congestion = \"fractional\"",
        "kind = \"cbm\", buffer_of = \"port\"",
        "kind = \"credence\", thresholds = \"code\"",
        "kind = \"credence\", model = { leaf0 = \"default\", leaf = \"smartbuf\" }",
        "kind = \"harmonic\", form = \"prefix\"",
        "kind = \"smartbuf\", learn_from = \"own-port\"",
        "kind = \"sp\", form = \"rtt\"",
    ];
    let others = others.iter().map(|table| format!("sharing = {{ {table} }}"));
    sharing.chain(AqmPolicy::IDS.iter().map(aqm)).chain(others).collect()
}

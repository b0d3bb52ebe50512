//! Keys of a transport whose value decides which other keys mean something, or what they are by
//! default.

use super::dcqcn::DcqcnParams;
use super::hpcc;
use super::preset;
use super::rates::RateWindow;
use super::{Connections, recovery};

/// The keys that decide about others.
pub const CHOICES: [&str; 7] =
    [recovery::KEY, "connections", "cnp", "window", "rate_step", "coalesce", preset::KEY];

/// Whether a transport of some kind drops the value of `key` when one of [`CHOICES`] gets `value`.
/// It does if `key` then means nothing, or if the new value is to decide about it.
pub fn is_foreign(kind: &str, key: &str, choice: &str, value: &str) -> bool {
    let is_decided =
        choice == preset::KEY && (preset::decides(kind, key) || preset::decides_alone(value, key));
    is_decided || unused(kind, choice, value).any(|unused| *unused == key)
}

/// The keys that mean nothing while a choice has this value.
fn unused(kind: &str, choice: &str, value: &str) -> impl Iterator<Item = &'static &'static str> {
    let is_timely = kind == "timely";
    let unused: [&[&str]; 2] = match (choice, value) {
        (recovery::KEY, _) if !recovery::has_phases(value) => [&recovery::OF_PHASES, &[]],
        ("connections", "own") => [Connections::OF_OPEN, &[]],
        ("cnp", _) if value != "packet" => [DcqcnParams::OF_PACKETS, &[]],
        ("window", "start") => [&[], &[]],
        ("window", _) => [
            if value == "none" { RateWindow::OF_WINDOW } else { &[] },
            if is_timely { RateWindow::OF_START } else { &[] },
        ],
        ("rate_step", _) if value != hpcc::BY_FLOWS => [&["expected_flows"], &[]],
        ("coalesce", "none") => [&["coalesce_time"], &[]],
        _ => [&[], &[]],
    };
    unused.into_iter().flatten()
}

/// Whether the default of `key` changes when a choice changes from `earlier` to `value`. What was
/// written for the earlier value is not meant for the new one.
pub fn has_other_default(key: &str, choice: &str, value: &str, earlier: &str) -> bool {
    match choice {
        // TIMELY does with ns-3's recovery what ABM's program does.
        recovery::KEY => key == "recovery_window" && (value == "ns3") != (earlier == "ns3"),
        preset::KEY => value != earlier && preset::decides_alone(earlier, key),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::transport;
    use super::*;

    /// The keys that a preset decides are those whose defaults differ.
    #[test]
    fn presets_decide_the_keys_that_differ() {
        let keys = |kind: &str, preset: &str| {
            let mut given = vec![("kind", kind), (preset::KEY, preset)];
            given.push(("connections", "open"));
            let given = given.into_iter().map(|(key, value)| (key.to_string(), value.into()));
            let mut section = spillway_settings::Section::new("", given.collect());
            super::super::Transport::read(&mut section, &Default::default()).unwrap();
            section.finish().unwrap()
        };
        for (kind, preset) in [
            ("dcqcn", "simulator"),
            ("dcqcn", "simulator-paper"),
            ("hpcc", "simulator"),
            ("timely", "simulator"),
            ("timely", "abm"),
        ] {
            let (paper, other) = (keys(kind, "paper"), keys(kind, preset));
            for key in paper.keys().chain(other.keys()) {
                let differs = paper.get(key) != other.get(key);
                let is_known = preset::decides(kind, key)
                    || preset::decides_alone(preset, key)
                    || key == preset::KEY
                    || (key == recovery::KEY
                        && preset::recovery_of(preset, "paper", "sack").is_some());
                assert!(is_known || !differs, "{kind}: {key}");
            }
        }
        let decides = |kind, key| preset::decides(kind, key);
        assert!(!decides("dcqcn", "g") && decides("dcqcn", "mss") && !decides("dctcp", "mss"));
        assert!(!decides("dcqcn", "window") && decides("timely", "window"));
        // Keys to which only the preset of ABM's program gives other values come and go with that
        // preset.
        let goes = |preset| is_foreign("timely", "t_low", preset::KEY, preset);
        assert!(goes("abm") && !goes("simulator") && !goes("paper"));
        let goes = |from| has_other_default("t_low", preset::KEY, "paper", from);
        assert!(goes("abm") && !goes("simulator"));
    }

    #[test]
    fn what_a_choice_makes_meaningless_is_refused() {
        assert!(is_foreign("dcqcn", "cnp_size", "cnp", "ack-flag"));
        assert!(
            !is_foreign("dcqcn", "cnp_size", "cnp", "packet")
                && !is_foreign("dcqcn", "g", "cnp", "ack-flag")
        );
        assert!(is_foreign("dcqcn", "vary_window", "window", "none"));
        assert!(is_foreign("newreno", "coalesce_time", "coalesce", "none"));
        assert!(!is_foreign("newreno", "coalesce_time", "coalesce", "64KiB"));
        assert!(is_foreign("newreno", "ack_push", "recovery", "selective"));
        assert!(is_foreign("hpcc", "expected_flows", "rate_step", "1Mbps"));
        assert!(!is_foreign("hpcc", "expected_flows", "rate_step", "expected-flows"));
        assert!(!is_foreign("dcqcn", "vary_window", "window", "8KB"));
        // What is not foreign is read.
        transport("kind = \"dcqcn\"\nwindow = \"8KB\"\nvary_window = true\ncnp_size = \"64B\"");
    }
}

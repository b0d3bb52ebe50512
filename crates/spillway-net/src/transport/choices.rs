//! Keys of a transport whose value decides which other keys mean something, or what they are by
//! default.

use super::dcqcn::DcqcnParams;
use super::preset;
use super::rates::RateWindow;
use super::{Connections, Losses};

/// The keys that decide about others.
pub const CHOICES: [&str; 5] = ["loss_detection", "connections", "cnp", "window", preset::KEY];

/// Whether a key's value is not to be kept when one of [`CHOICES`] gets another value: the key means
/// nothing then, or the new value is to decide about it.
pub fn is_foreign(key: &str, choice: &str, value: &str) -> bool {
    match choice {
        "loss_detection" => Losses::is_foreign(key, value),
        "connections" => Connections::is_foreign(key, value),
        "cnp" => value != "packet" && DcqcnParams::OF_PACKETS.contains(&key),
        "window" => value == "none" && RateWindow::OF_WINDOW.contains(&key),
        preset::KEY => preset::decides(key),
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
        for kind in ["dcqcn"] {
            let paper = keys(kind, "paper");
            let others = ["simulator", "simulator-paper"].map(|preset| keys(kind, preset));
            for other in &others {
                for (key, value) in other {
                    let differs = paper.get(key) != Some(value);
                    let is_known = preset::decides(key) || key == preset::KEY;
                    assert!(is_known || !differs, "{kind}: {key} = {value}");
                }
            }
        }
        assert!(!preset::decides("g") && preset::decides("mss"));
    }

    #[test]
    fn what_a_choice_makes_meaningless_is_refused() {
        assert!(is_foreign("cnp_size", "cnp", "ack-flag"));
        assert!(!is_foreign("cnp_size", "cnp", "packet") && !is_foreign("g", "cnp", "ack-flag"));
        assert!(is_foreign("vary_window", "window", "none"));
        assert!(!is_foreign("vary_window", "window", "8KB"));
        // What is not foreign is read.
        transport("kind = \"dcqcn\"\nwindow = \"8KB\"\nvary_window = true\ncnp_size = \"64B\"");
    }
}

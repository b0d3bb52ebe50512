//! Presets: the values of several keys under one name. A key that a scenario gives keeps its value.

use super::dcqcn::DcqcnParams;
use spillway_settings::{Section, SettingsError, Value};

/// The key.
pub const KEY: &str = "preset";

/// What the values are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// The paper that the transport is from.
    Paper,
    /// The public simulator of HPCC's authors (alibaba-edu/High-Precision-Congestion-Control).
    Simulator,
    /// The same simulator with what it calls the paper's values.
    SimulatorPaper,
}

impl Preset {
    /// Reads the key. All transports with presets have the first two of them.
    pub fn read(section: &mut Section, all: bool) -> Result<Preset, SettingsError> {
        let options = [
            ("paper", Preset::Paper),
            ("simulator", Preset::Simulator),
            ("simulator-paper", Preset::SimulatorPaper),
        ];
        let options = if all { &options[..] } else { &options[..2] };
        section.choice(KEY, options, "whose values other keys have by default")
    }
}

/// The defaults of the keys that all transports have for sizes of packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sizes {
    pub mss: &'static str,
    pub header: &'static str,
    pub ack_size: &'static str,
}

/// Whether presets decide about a key: they give it a value, or make it mean nothing.
pub fn decides(key: &str) -> bool {
    let all = [&Sizes::KEYS[..], DcqcnParams::OF_PRESETS, DcqcnParams::OF_PACKETS];
    all.concat().contains(&key)
}

impl Sizes {
    const KEYS: [&'static str; 3] = ["mss", "header", "ack_size"];

    /// Those of a kind of transport, with the preset that its section gives.
    pub fn of(kind: &str, section: &Section) -> Sizes {
        let preset = section.peek(KEY).and_then(Value::as_str).unwrap_or_default();
        let of_simulator = preset.starts_with("simulator");
        let (mss, header, ack_size) = match kind {
            "dcqcn" if of_simulator => ("1000B", "48B", "60B"),
            _ => ("1448B", "52B", "52B"),
        };
        Sizes { mss, header, ack_size }
    }
}

//! Presets: the values of several keys under one name. A key that a scenario gives keeps its value.

use super::dcqcn::DcqcnParams;
use super::hpcc::HpccParams;
use super::rates::RateWindow;
use super::timely::TimelyParams;
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

/// The defaults of keys that are not the congestion controller's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Defaults {
    pub mss: &'static str,
    pub header: &'static str,
    pub ack_size: &'static str,
    /// The values of `base_rtt` and whether they stand for the flow's own; the first is the
    /// default.
    pub base_rtt: [(&'static str, bool); 2],
    /// The values of `pace_from` and whether they stand for the NIC.
    pub pace_from: [(&'static str, bool); 2],
}

/// Whether a transport's presets decide about a key: they give it a value, or make it mean nothing.
pub fn decides(kind: &str, key: &str) -> bool {
    let own: &[&[&str]] = match kind {
        "dcqcn" => &[DcqcnParams::OF_PRESETS, DcqcnParams::OF_PACKETS],
        "hpcc" => &[HpccParams::OF_PRESETS],
        "timely" => &[TimelyParams::OF_PRESETS, RateWindow::OF_WINDOW],
        _ => return false,
    };
    Defaults::KEYS.contains(&key) || own.concat().contains(&key)
}

impl Defaults {
    const KEYS: [&'static str; 5] = ["mss", "header", "ack_size", "base_rtt", "pace_from"];

    /// Those of a kind of transport, with the preset that its section gives.
    pub fn of(kind: &str, section: &Section) -> Defaults {
        let preset = section.peek(KEY).and_then(Value::as_str).unwrap_or_default();
        let (flow, network) = (("flow", true), ("network", false));
        let (host, nic) = (("host", false), ("nic", true));
        let of_simulator = |header, ack_size| Defaults {
            mss: "1000B",
            header,
            ack_size,
            base_rtt: [network, flow],
            pace_from: [nic, host],
        };
        match kind {
            "dcqcn" if preset.starts_with("simulator") => of_simulator("48B", "60B"),
            // 8 bytes of a timestamp; telemetry comes on top.
            "timely" if preset == "simulator" => of_simulator("56B", "60B"),
            "hpcc" if preset == "simulator" => of_simulator("48B", "46B"),
            _ => {
                let of_network = ["timely", "dctcp-rdma"].contains(&kind);
                let of_nic = kind == "dctcp-rdma";
                Defaults {
                    mss: "1448B",
                    header: "52B",
                    ack_size: "52B",
                    base_rtt: if of_network { [network, flow] } else { [flow, network] },
                    pace_from: if of_nic { [nic, host] } else { [host, nic] },
                }
            }
        }
    }
}

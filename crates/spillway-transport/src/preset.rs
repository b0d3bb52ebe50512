//! Presets: the values of several keys under one name. A key that a scenario gives keeps its value.

use super::dcqcn::DcqcnParams;
use super::hpcc::HpccParams;
use super::rates::RateWindow;
use super::recovery;
use super::timely::TimelyParams;
use spillway_settings::{Section, SettingsError, Table, Value};

/// The transports that may have Linux's values.
const OF_LINUX: [&str; 3] = ["dctcp", "newreno", "cubic"];

/// The name of ABM's program.
const ABM: &str = "abm";

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
    /// The public program of ABM (inet-tub/ns3-datacenter), which is ns-3's TCP.
    Abm,
}

impl Preset {
    /// Reads the key. All transports with presets have the first two presets. Some have another
    /// one, `other`.
    pub fn read(section: &mut Section, other: Option<Preset>) -> Result<Preset, SettingsError> {
        let presets = [Some(Preset::Paper), Some(Preset::Simulator), other];
        let options: Vec<_> = presets.into_iter().flatten().map(|each| (each.id(), each)).collect();
        section.choice(KEY, &options, "whose values other keys have by default")
    }

    /// Its name in a scenario.
    fn id(self) -> &'static str {
        match self {
            Preset::Paper => "paper",
            Preset::Simulator => "simulator",
            Preset::SimulatorPaper => "simulator-paper",
            Preset::Abm => ABM,
        }
    }
}

/// The defaults of keys that do not belong to the congestion controller.
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

/// The values of Linux (6.12, its defaults, with HZ = 1000).
fn linux(kind: &str) -> Vec<(&'static str, Value)> {
    let texts = [
        ("ack_delay", "40ms"),
        ("window_unit", "segments"),
        ("host_backlog", "unlimited"),
        ("offload", "64KiB"),
    ];
    let flags = ["handshake", "ack_push"];
    let numbers = [("ack_every", 2), ("quick_acks", 16)];
    let own: &[(&str, &str)] = match kind {
        "cubic" => &[("hystart", "linux"), ("friendly_alpha", "linux")],
        "dctcp" => &[("share_of", "delivered")],
        _ => &[],
    };
    let texts = texts.iter().chain(own).map(|&(key, value)| (key, value.into()));
    let flags = flags.into_iter().map(|key| (key, true)).chain([("ask_acks", false)]);
    let flags = flags.map(|(key, value)| (key, Value::Boolean(value)));
    texts.chain(flags).chain(numbers.map(|(key, value)| (key, Value::Integer(value)))).collect()
}

/// Linux's loss recovery.
fn recovery_of_linux() -> Table {
    let texts = [
        ("kind", "rack"),
        ("initial_rto", "1s"),
        ("min_rto", "200ms"),
        ("min_rto_bounds", "spread"),
        ("rto_granularity", "0us"),
        ("max_rto", "120s"),
        ("reduction", "proportional"),
    ];
    let texts = texts.map(|(key, value)| (key.to_string(), value.into()));
    texts.into_iter().chain([("tail_loss_probe".to_string(), Value::Boolean(true))]).collect()
}

/// Gives a loss recovery that is not given, or the keys of it that are not.
fn give_recovery(section: &mut Section, values: Table) {
    let given = section.raw(recovery::KEY);
    let given = given.map_or_else(Table::new, |given| recovery::table_of(Some(&given)));
    let kind = given.get("kind").or(values.get("kind")).and_then(Value::as_str);
    let kind = kind.unwrap_or_default().to_string();
    let mut filled = values;
    filled.retain(|key, _| key == "kind" || recovery::has(&kind, key));
    filled.extend(given);
    section.give(recovery::KEY, Value::Table(filled));
}

/// Reads the key of a transport whose preset is Linux, and gives the other keys their values. With
/// the preset of ABM's program, lets losses be found as in ns-3.
pub(super) fn fill(kind: &str, section: &mut Section) -> Result<(), SettingsError> {
    let chosen = |key| section.peek(key).and_then(Value::as_str);
    if kind == "timely" && chosen(KEY) == Some(ABM) {
        give_recovery(section, Table::from_iter([("kind".to_string(), "ns3".into())]));
    }
    if !OF_LINUX.contains(&kind) {
        return Ok(());
    }
    let meaning = "whose values other keys have by default: those of Linux's TCP, or each its own";
    let read = |section: &mut Section| section.choice(KEY, &[("linux", ())], meaning);
    if section.optional(KEY, read)?.is_some() {
        let is_friendly = section.peek("tcp_friendly") != Some(&Value::Boolean(false));
        let values = linux(kind).into_iter();
        let values = values.filter(|&(key, _)| is_friendly || key != "friendly_alpha");
        values.for_each(|(key, value)| section.give(key, value));
        give_recovery(section, recovery_of_linux());
    }
    Ok(())
}

/// The kind of recovery that comes with this preset after another one in place of the kind `now`,
/// if presets decide about it: about those with TCP's phases.
pub fn recovery_of(preset: &str, earlier: &str, now: &str) -> Option<&'static str> {
    match (preset == ABM, earlier == ABM) {
        _ if !recovery::has(now, "min_rto") => None,
        (true, _) => Some("ns3"),
        (false, true) => Some(recovery::KINDS[0].id),
        (false, false) => None,
    }
}

/// Whether a transport of this kind has this preset.
pub fn has(kind: &str, preset: &str) -> bool {
    match kind {
        "dcqcn" => ["paper", "simulator", "simulator-paper"].contains(&preset),
        "hpcc" => ["paper", "simulator"].contains(&preset),
        "timely" => ["paper", "simulator", ABM].contains(&preset),
        _ => OF_LINUX.contains(&kind) && preset == "linux",
    }
}

/// Whether this preset decides about a key about which other presets do not.
pub fn decides_alone(preset: &str, key: &str) -> bool {
    preset == ABM && TimelyParams::OF_ABM.contains(&key)
}

/// Whether some preset of a transport decides about a key: it sets the key, or the key means
/// nothing with it.
pub fn decides(kind: &str, key: &str) -> bool {
    if OF_LINUX.contains(&kind) {
        return key == recovery::KEY || linux(kind).iter().any(|(known, _)| *known == key);
    }
    let own: &[&[&str]] = match kind {
        "dcqcn" => &[DcqcnParams::OF_PRESETS, DcqcnParams::OF_PACKETS],
        "hpcc" => &[HpccParams::OF_PRESETS],
        "timely" => &[TimelyParams::OF_PRESETS, RateWindow::OF_WINDOW, RateWindow::OF_START],
        _ => return false,
    };
    Defaults::KEYS.contains(&key) || own.concat().contains(&key)
}

impl Defaults {
    const KEYS: [&'static str; 5] = ["mss", "header", "ack_size", "base_rtt", "pace_from"];

    /// The defaults of a kind of transport with the preset that its section gives.
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
            "timely" if preset == ABM => Defaults {
                mss: "1400B",
                header: "54B",
                ack_size: "54B",
                base_rtt: [network, flow],
                pace_from: [host, nic],
            },
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

#[cfg(test)]
mod tests {
    use super::super::tests::transport;
    use super::*;
    use spillway_settings::Section;

    #[test]
    fn a_kind_has_the_presets_that_it_takes() {
        for kind in crate::KINDS.iter().map(|kind| kind.id) {
            for preset in ["paper", "simulator", "simulator-paper", "abm", "linux"] {
                let text = format!("kind = \"{kind}\"\npreset = \"{preset}\"");
                let mut section = Section::new("transport", text.parse().unwrap());
                let read = crate::Transport::read(&mut section, &Default::default());
                let takes = read.is_ok_and(|_| section.finish().is_ok());
                assert_eq!(has(kind, preset), takes, "{text}");
            }
        }
    }

    #[test]
    fn linux_gives_its_values_to_keys_that_are_not_given() {
        let read = |text: &str| {
            let mut section = Section::new("transport", text.parse().unwrap());
            super::super::Transport::read(&mut section, &Default::default()).unwrap();
            section.finish().unwrap()
        };
        for kind in OF_LINUX {
            let found =
                read(&format!("kind = \"{kind}\"\npreset = \"linux\"\nrecovery.min_rto = \"5ms\""));
            for (key, value) in linux(kind) {
                assert_eq!(found.get(key), Some(&value), "{key}");
            }
            for (key, value) in recovery_of_linux() {
                let expected = if key == "min_rto" { "5ms".into() } else { value };
                assert_eq!(found[recovery::KEY].get(&key), Some(&expected), "{key}");
            }
            // What is resolved resolves to itself, and without the key nothing is written.
            assert_eq!(read(&found.to_string()), found);
            assert!(!read(&format!("kind = \"{kind}\"")).contains_key(KEY));
        }
        assert!(decides("newreno", "offload") && !decides("newreno", "hystart"));
        let closed = transport("kind = \"cubic\"\npreset = \"linux\"");
        assert!(closed.closed_loop().unwrap().bursts.is_some());
    }
}

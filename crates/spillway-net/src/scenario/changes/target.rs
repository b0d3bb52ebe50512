//! The paths of numbers that change while a run goes on.

use super::Room;
use crate::scenario::{Result, Scenario, numbered};
use spillway_settings::ErrorKind;

/// The target of a path.
pub(super) struct Target<'a> {
    pub room: Room,
    /// The switches, by tier. For NICs, only the number 0.
    pub switches: Vec<u32>,
    pub port: Option<u32>,
    pub key: &'a str,
    /// The index in a list.
    pub element: Option<usize>,
}

impl Scenario {
    /// The target of a path.
    pub(super) fn target<'a>(&self, path: &'a str) -> Result<Target<'a>> {
        let refused = |problem: String| Err(ErrorKind::UnknownKey.at(path, problem));
        let cannot_change = |key: &str| {
            let problem = format!(
                "{key:?} of switches cannot change while a run goes on; `sharing` and `aqm` can"
            );
            Err(ErrorKind::Conflict.at(path, problem))
        };
        let steps: Vec<&str> = path.split('.').collect();
        let (switches, room_of, rest) = match steps.as_slice() {
            ["nic", "aqm", key] => {
                let (key, element) = element_of(path, key)?;
                let target =
                    Target { room: Room::NicAqm, switches: vec![0], port: None, key, element };
                return Ok(target);
            }
            ["switch", room @ ("sharing" | "aqm"), rest @ ..] => {
                (self.switches_with_common(room), *room, rest)
            }
            ["switch", key, ..] if self.is_switch_setting(key) => {
                return cannot_change(key);
            }
            ["switch", "port", _, room, rest @ ..] => {
                (self.switches_with_common(room), *room, rest)
            }
            ["switch", place, "port", _, room, rest @ ..] | ["switch", place, room, rest @ ..] => {
                (self.switches_called(path, place)?.0, *room, rest)
            }
            _ => {
                let hint = "what can: switch.sharing.KEY and switch.aqm.KEY, of a tier or a switch as in \
                            switch.leaf.aqm.KEY and switch.leaf0.aqm.KEY, of a port as in \
                            switch.leaf0.port.3.aqm.KEY, nic.aqm.KEY, and nic.receive_rate, of a host \
                            as in nic.receive_rate.host3";
                let problem = "it cannot change while a run goes on";
                return Err(ErrorKind::Conflict.at(path, problem).hint(hint));
            }
        };
        let room = match room_of {
            "sharing" => Room::Sharing,
            "aqm" => Room::Aqm,
            other => return cannot_change(other),
        };
        let [key] = rest else {
            return refused(format!("it needs a key of {room_of}, as in {room_of}.KEY"));
        };
        let port = match steps.as_slice() {
            ["switch", "port", port, ..] | ["switch", _, "port", port, ..] => {
                Some(self.port_called(path, port, &switches)?)
            }
            _ => None,
        };
        if switches.is_empty() {
            let problem =
                format!("every tier has its own {room_of}: name the tier, as in switch.leaf");
            return refused(problem);
        }
        let (key, element) = element_of(path, key)?;
        Ok(Target { room, switches, port, key, element })
    }

    /// Whether `[switch]` has this key as a setting, rather than as a tier's section, which has no
    /// kind.
    fn is_switch_setting(&self, key: &str) -> bool {
        let value = self.resolved.get("switch").and_then(|switch| switch.get(key));
        value.is_some_and(|value| value.as_table().is_none_or(|table| table.contains_key("kind")))
    }

    /// The switches whose policy is the common one of all tiers.
    fn switches_with_common(&self, room: &str) -> Vec<u32> {
        let all = 0..self.topology.switches.len() as u32;
        all.filter(|&switch| !self.tiers[self.tier_of(switch)].has_own(room)).collect()
    }

    /// A port that each of these switches has.
    fn port_called(&self, path: &str, port: &str, switches: &[u32]) -> Result<u32> {
        let ports = |&switch: &u32| self.topology.switches[switch as usize].ports.len();
        let ports = switches.iter().map(ports).min().unwrap_or(0);
        let number = port.parse::<u32>().ok().filter(|&number| (number as usize) < ports);
        number.ok_or_else(|| {
            ErrorKind::UnknownPlace.at(path, format!("{port} is not a port; {}", numbered(ports)))
        })
    }
}

/// A key without the index in its list, and that index: `alpha[1]`.
fn element_of<'a>(path: &str, key: &'a str) -> Result<(&'a str, Option<usize>)> {
    let Some((name, rest)) = key.split_once('[') else { return Ok((key, None)) };
    match rest.strip_suffix(']').and_then(|place| place.parse().ok()) {
        Some(place) => Ok((name, Some(place))),
        None => {
            Err(ErrorKind::UnknownKey.at(path, format!("{key} does not name a place, as alpha[1]")))
        }
    }
}

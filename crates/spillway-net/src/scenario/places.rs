//! Switches in the paths of signals and of numbers that change.

use super::{Result, Scenario};
use spillway_settings::{ErrorKind, nearest_name};
use spillway_topology::{Node, TIERS};

impl Scenario {
    /// The switches of a tier, or the switch with this name. Also returns whether it is the name of
    /// one switch. `path` is the path in which the name stands.
    ///
    /// # Errors
    /// If there is no such switch, or several have this name.
    pub(crate) fn switches_called(&self, path: &str, who: &str) -> Result<(Vec<u32>, bool)> {
        let topology = &self.topology;
        let all = 0..topology.switches.len() as u32;
        let is_tier = |&switch: &u32| topology.switches[switch as usize].tier == who;
        let of_tier: Vec<u32> = all.clone().filter(is_tier).collect();
        if !of_tier.is_empty() {
            return Ok((of_tier, false));
        }
        let mut found = topology.nodes_called(who);
        found.retain(|node| matches!(node, Node::Switch(_)));
        match found[..] {
            [node] => Ok((vec![topology.place_of(node)], true)),
            [] => {
                let error =
                    ErrorKind::UnknownPlace.at(path, format!("there is no switch or tier {who:?}"));
                let is_there =
                    |tier: &&str| topology.switches.iter().any(|each| each.tier == *tier);
                let tiers = TIERS.into_iter().filter(is_there).map(String::from);
                let own = topology.own_names.switches.iter().cloned();
                let known: Vec<String> = tiers.chain(topology.switch_names()).chain(own).collect();
                Err(error.hint(nearest_name(who, known.iter().map(String::as_str))))
            }
            _ => {
                let each: Vec<String> =
                    found.iter().map(|&node| topology.full_name(node)).collect();
                let error = ErrorKind::UnknownPlace
                    .at(path, format!("{who:?} may be {}", each.join(" or ")));
                Err(error.hint("take the one's name that no other has"))
            }
        }
    }
}

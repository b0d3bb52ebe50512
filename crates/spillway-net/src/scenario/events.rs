//! `[[event]]`: links that fail and recover, or lose packets.

use super::Result;
use crate::topology::{LinkId, Node, Topology};
use spillway_engine::Time;
use spillway_settings::{Range, Section, SettingsError, nearest_name};

/// What happens to a cable.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkChange {
    /// It carries nothing. What is on it is lost, and so is what waits for it or is sent to it
    /// until routes change, which they do so much later (as after its recovery).
    Down {
        /// How long switches take to route around it.
        reroute_after: Time,
    },
    /// It loses every packet with this probability, in both directions.
    Loss(f64),
}

/// Something that happens to a cable for a time.
#[derive(Clone, Copy, Debug)]
pub struct LinkEvent {
    /// One of its two links; the other is this one `^ 1`.
    pub link: LinkId,
    /// When it begins.
    pub at: Time,
    /// When it is over.
    pub until: Time,
    /// What it is.
    pub change: LinkChange,
}

impl LinkEvent {
    pub(super) fn read(section: &mut Section, topology: &Topology) -> Result<LinkEvent> {
        let down = section.choice(
            "kind",
            &[("link-down", true), ("link-loss", false)],
            "a cable that carries nothing, or that loses packets",
        )?;
        let link = read_cable(section, topology)?;
        let at = section.time("at", "", "when it begins")?;
        let until = section.optional("until", "a time", "when it is over", |s| {
            s.time("until", "", "when it is over")
        })?;
        let until = until.unwrap_or(Time::MAX);
        if until <= at {
            return Err(section.error("until", format!("{until} is not after at = {at}")));
        }
        let change = match down {
            true => {
                let meaning = "how long after a failure or a recovery routes change";
                LinkChange::Down { reroute_after: section.time("reroute_after", "0us", meaning)? }
            }
            false => {
                let meaning = "probability that a packet is lost";
                LinkChange::Loss(section.number("rate", 0.001, Range::Unit, meaning)?)
            }
        };
        Ok(LinkEvent { link, at, until, change })
    }
}

fn read_cable(section: &mut Section, topology: &Topology) -> Result<LinkId> {
    let takes = "a switch such as \"leaf0\", or a host such as \"host3\"";
    let a = section.text("a", "", takes, "one end of the cable")?;
    let b = section.text("b", "", takes, "its other end")?;
    let (a_node, b_node) = (find(section, "a", &a, topology)?, find(section, "b", &b, topology)?);
    let meaning = "which of several parallel cables";
    let which = section.integer("parallel", 0, 0..=u64::from(u16::MAX), meaning)? as usize;
    let between = |link: &LinkId| {
        let link = &topology.links[*link as usize];
        link.from == a_node && link.to == b_node
    };
    let mut cables = (0..topology.links.len() as LinkId).filter(between);
    let problem = || section.error("b", format!("there is no such cable from {a} to {b}"));
    cables.nth(which).ok_or_else(problem)
}

fn find(
    section: &Section,
    key: &str,
    name: &str,
    topology: &Topology,
) -> std::result::Result<Node, SettingsError> {
    let hosts = (0..topology.hosts()).map(Node::Host);
    let switches = (0..topology.switches.len() as u32).map(Node::Switch);
    let mut nodes = switches.chain(hosts);
    if let Some(node) = nodes.find(|&node| topology.node_name(node) == name) {
        return Ok(node);
    }
    let names: Vec<String> =
        (0..topology.switches.len() as u32).map(|switch| topology.switch_name(switch)).collect();
    let hint = nearest_name(name, names.iter().map(String::as_str));
    Err(section.error(key, format!("there is no {name:?} in this topology")).hint(hint))
}

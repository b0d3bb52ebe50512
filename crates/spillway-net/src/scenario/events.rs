//! `[[event]]`: links that fail and recover, or lose packets, and numbers that change.

use super::changes::Change;
use super::{Result, numbered};
use spillway_engine::Time;
use spillway_settings::{
    ErrorKind, Form, Range, Section, SettingsError, Takes, Value, is_line, nearest_name,
};
use spillway_topology::{LineId, Node, Topology};
use std::collections::BTreeSet;

/// What happens to a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LinkChange {
    /// It carries nothing. Packets on it or queued for it are lost. Packets sent to it are lost
    /// until routes change. Routes change this long after its failure, and this long after its
    /// recovery.
    Down {
        /// How long switches take to route around it.
        reroute_after: Time,
    },
    /// It loses every packet with this probability, in both directions.
    Loss(f64),
}

/// A change of a link for some time.
#[derive(Clone, Copy, Debug)]
pub struct LinkEvent {
    /// The link's line from `a` to `b`; the other is this number `^ 1`.
    pub line: LineId,
    /// When it begins.
    pub at: Time,
    /// When it ends.
    pub until: Time,
    /// What happens.
    pub change: LinkChange,
}

/// Something that happens at a time.
pub(super) enum Event {
    /// A change of a link.
    Link(LinkEvent),
    /// A change of a number.
    Set(Change),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Down,
    Loss,
    Set,
}

/// Reads all events.
pub(super) fn read(
    root: &mut Section,
    topology: &Topology,
    have_port_fifos: bool,
) -> Result<Vec<Event>> {
    let (mut events, mut tables) = (Vec::new(), Vec::new());
    for mut section in root.sections("event")? {
        events.push(Event::read(&mut section, topology)?);
        tables.push(Value::Table(section.finish()?));
    }
    if events.iter().any(|event| matches!(event, Event::Link(_))) && have_port_fifos {
        let problem = "not with switch.port_fifo_packets or nic.fifo_packets: what has left a \
                       port's queues cannot be lost any more";
        return Err(ErrorKind::Conflict.at("event", problem));
    }
    if !tables.is_empty() {
        root.put("event", Value::Array(tables));
    }
    Ok(events)
}

impl Event {
    pub fn read(section: &mut Section, topology: &Topology) -> Result<Event> {
        let kind = section.choice(
            "kind",
            &[("link-down", Kind::Down), ("link-loss", Kind::Loss), ("set", Kind::Set)],
            "a link that carries nothing, or that loses packets; or a number that changes",
        )?;
        match kind {
            Kind::Set => Change::read(section).map(Event::Set),
            _ => LinkEvent::read(section, topology, kind == Kind::Down).map(Event::Link),
        }
    }

    /// When it begins.
    pub fn at(&self) -> Time {
        match self {
            Event::Link(event) => event.at,
            Event::Set(change) => change.at,
        }
    }
}

impl LinkEvent {
    fn read(section: &mut Section, topology: &Topology, down: bool) -> Result<LinkEvent> {
        let line = read_line(section, topology)?;
        let at = section.time("at", "", "when it begins")?;
        let until = section.optional("until", |s| s.time("until", "", "when it is over"))?;
        let until = until.unwrap_or(Time::MAX);
        if until <= at {
            return Err(section.conflict("until", format!("{until} is not after at = {at}")));
        }
        let change = if down {
            let meaning = "how long after a failure or a recovery routes change";
            LinkChange::Down { reroute_after: section.time("reroute_after", "0us", meaning)? }
        } else {
            let meaning = "probability that a packet is lost";
            LinkChange::Loss(section.number("rate", 0.001, Range::Unit, meaning)?)
        };
        Ok(LinkEvent { line, at, until, change })
    }
}

/// Reads which link it is, and returns the line from `a` to `b`.
fn read_line(section: &mut Section, topology: &Topology) -> Result<LineId> {
    let takes = "a switch such as \"leaf0\", or a host such as \"host3\"";
    let takes = Takes::new(takes, [Form::Text]);
    let a = given_name(section, "a", takes.clone(), "one end of the link")?;
    let b = given_name(section, "b", takes, "its other end")?;
    let (a_node, b_node) = (find(section, "a", &a, topology)?, find(section, "b", &b, topology)?);
    let meaning = "which of several parallel links";
    let which = section.integer("parallel", 0, 0..=u64::from(u16::MAX), meaning)? as usize;
    let leads_to_b = |line: &LineId| topology.lines[*line as usize].to == b_node;
    let lines: Vec<LineId> = leaving(a_node, topology).filter(leads_to_b).collect();
    if lines.is_empty() {
        let others = leaving(a_node, topology).map(|line| topology.lines[line as usize].to);
        let problem = match names_of(others, topology) {
            none if none.is_empty() => format!("no link leads from {a} to {b}, nor anywhere else"),
            others => format!("no link leads from {a} to {b}; those of {a} lead to {others}"),
        };
        return Err(section.conflict("b", problem));
    }
    let problem = || {
        let problem = format!("{which} is not a link from {a} to {b}; {}", numbered(lines.len()));
        section.error(ErrorKind::WrongValue, "parallel", problem)
    };
    lines.get(which).copied().ok_or_else(problem)
}

/// The lines that leave a node, in the order of its ports.
fn leaving(node: Node, topology: &Topology) -> impl Iterator<Item = LineId> {
    let lines = match node {
        Node::Host(host) => &topology.nics[host as usize..][..1],
        Node::Switch(switch) => &topology.switches[switch as usize].ports[..],
    };
    lines.iter().copied()
}

/// The names of nodes, each once. Of nodes with consecutive numbers, only the first and the last
/// are named.
fn names_of(nodes: impl Iterator<Item = Node>, topology: &Topology) -> String {
    const MOST: usize = 8;
    let nodes: BTreeSet<Node> = nodes.collect();
    // The part of the names before the number, and the first and last of consecutive numbers.
    let mut rows: Vec<(String, u32, u32)> = Vec::new();
    for node in nodes {
        let name = topology.node_name(node);
        let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
        let kind = name.strip_suffix(digits).unwrap_or_default();
        let number: u32 = digits.parse().expect("names are a tier, or \"host\", and a number");
        match rows.last_mut() {
            Some((last_kind, _, last)) if last_kind == kind && *last + 1 == number => {
                *last = number
            }
            _ => rows.push((kind.to_string(), number, number)),
        }
    }
    let left_out = rows.len().saturating_sub(MOST);
    let row = |(kind, first, last): &(String, u32, u32)| match last - first {
        0 => format!("{kind}{first}"),
        1 => format!("{kind}{first}, {kind}{last}"),
        _ => format!("{kind}{first} to {kind}{last}"),
    };
    let mut names = rows.iter().take(MOST).map(row).collect::<Vec<_>>().join(", ");
    if left_out > 0 {
        names.push_str(" and others");
    }
    names
}

/// A node's name as it is given. One that is a number may stand without quotes.
pub(super) fn given_name(
    section: &mut Section,
    key: &'static str,
    takes: Takes,
    meaning: &'static str,
) -> Result<String> {
    section.value(key, "", takes, meaning, |value| match value {
        Value::String(name) => is_line(name).then(|| name.clone()),
        value => value.as_integer().and_then(|n| u32::try_from(n).ok()).map(|n| n.to_string()),
    })
}

/// The node that a key names.
fn find(section: &Section, key: &str, name: &str, topology: &Topology) -> Result<Node> {
    let hosts = (0..topology.hosts()).map(Node::Host);
    let switches = (0..topology.switches.len() as u32).map(Node::Switch);
    let found = topology.nodes_called(name);
    if let Some(node) = only_one(section, key, name, &found, topology)? {
        return Ok(node);
    }
    Err(unknown(section, key, name, switches.chain(hosts), topology))
}

/// An error about a name that none of `nodes` has.
pub(super) fn unknown(
    section: &Section,
    key: &str,
    name: &str,
    nodes: impl Iterator<Item = Node> + Clone,
    topology: &Topology,
) -> SettingsError {
    let all = names_of(nodes.clone(), topology);
    let error = section.error(
        ErrorKind::UnknownPlace,
        key,
        format!("there is no {name:?} in this topology; there are {all}"),
    );
    // Names of hosts in results are not suggested. They differ only in the number, so each name is
    // near to all others.
    let of_results = topology.switch_names();
    let own = nodes.filter_map(|node| topology.own_names.of(node));
    let hint = nearest_name(name, of_results.iter().map(String::as_str).chain(own));
    if hint.starts_with("did you mean") { error.hint(hint) } else { error }
}

/// The node with this name; `None` if there is none. Refuses a name that several nodes have.
pub(super) fn only_one(
    section: &Section,
    key: &str,
    name: &str,
    found: &[Node],
    topology: &Topology,
) -> Result<Option<Node>> {
    if found.len() > 1 {
        let each: Vec<String> = found.iter().map(|&node| topology.full_name(node)).collect();
        let error = section.error(
            ErrorKind::UnknownPlace,
            key,
            format!("{name:?} may be {}", each.join(" or ")),
        );
        return Err(error.hint("take the one's name that no other has"));
    }
    Ok(found.first().copied())
}

//! The names that numbers in tables stand for.

use super::column::Number;
use crate::scenario::Scenario;
use spillway_switch::DropReason;
use std::sync::Arc;

/// A list of names; numbers are indices into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Classes of flows.
    Classes,
    /// Switches.
    Switches,
    /// Switches, followed by hosts.
    Nodes,
    /// Lines: hosts' first, then by switch and port.
    Lines,
    /// Why packets are lost.
    Reasons,
    /// Outcomes of arrivals.
    Verdicts,
}

/// A kind of thing that has names.
pub trait Named {
    /// The type of its numbers.
    type Number: Number;
    /// The list of its names.
    const NAMES: Names;
}

/// A number that stands for a name.
pub struct Name<K: Named>(pub K::Number);

impl<K: Named> Clone for Name<K> {
    fn clone(&self) -> Name<K> {
        *self
    }
}

impl<K: Named> Copy for Name<K> {}

macro_rules! named {
    ($($(#[$meta:meta])* $kind:ident($number:ty): $names:ident),+ $(,)?) => {
        $(
            $(#[$meta])*
            pub enum $kind {}

            impl Named for $kind {
                type Number = $number;
                const NAMES: Names = Names::$names;
            }
        )+
    };
}

named! {
    /// A class of flows.
    Class(u16): Classes,
    /// A switch.
    Switch(u32): Switches,
    /// A switch, or a host, numbered after all switches.
    Node(u32): Nodes,
    /// A line.
    Line(u32): Lines,
    /// Why a packet is lost.
    Reason(u8): Reasons,
    /// The outcome of an arrival: admitted, admitted and marked, or lost.
    Verdict(u8): Verdicts,
}

impl Name<Reason> {
    /// The name of a reason.
    pub fn of(reason: DropReason) -> Name<Reason> {
        Name(reason as u8)
    }
}

/// The names of a run.
#[derive(Clone, Debug)]
pub struct Vocabulary {
    classes: Arc<[String]>,
    switches: Arc<[String]>,
    nodes: Arc<[String]>,
    lines: Arc<[String]>,
    reasons: Arc<[String]>,
    verdicts: Arc<[String]>,
}

impl Vocabulary {
    /// The names in a run of the scenario.
    pub fn of(scenario: &Scenario) -> Vocabulary {
        Vocabulary {
            classes: scenario.traffic.classes.iter().cloned().collect(),
            switches: scenario.topology.switch_names().into(),
            nodes: scenario.topology.node_names().into(),
            lines: scenario.topology.line_names().into(),
            reasons: DropReason::ALL.iter().map(|reason| reason.name().to_string()).collect(),
            verdicts: ["admitted", "marked", "lost"].map(String::from).into(),
        }
    }

    /// A list of names.
    pub fn list(&self, names: Names) -> &Arc<[String]> {
        match names {
            Names::Classes => &self.classes,
            Names::Switches => &self.switches,
            Names::Nodes => &self.nodes,
            Names::Lines => &self.lines,
            Names::Reasons => &self.reasons,
            Names::Verdicts => &self.verdicts,
        }
    }
}

//! What numbers in tables stand for.

use super::column::Number;
use crate::scenario::Scenario;
use spillway_switch::DropReason;
use std::sync::Arc;

/// A list of names: numbers are places in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Names {
    /// Classes of flows.
    Classes,
    /// Switches.
    Switches,
    /// Switches, and behind them hosts.
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
    /// How it is numbered.
    type Number: Number;
    /// The list of its names.
    const NAMES: Names;
}

/// Something by its number, which stands for a name.
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
    /// A switch, or behind all switches a host.
    Node(u32): Nodes,
    /// A line.
    Line(u32): Lines,
    /// Why a packet is lost.
    Reason(u8): Reasons,
    /// The outcome for an arrival: admitted, admitted and marked, lost.
    Verdict(u8): Verdicts,
}

impl Name<Reason> {
    /// A reason's.
    pub fn of(reason: DropReason) -> Name<Reason> {
        Name(reason as u8)
    }
}

/// The names of a run.
#[derive(Debug)]
pub struct Vocabulary {
    classes: Arc<[String]>,
    switches: Arc<[String]>,
    nodes: Arc<[String]>,
    lines: Arc<[String]>,
    reasons: Arc<[String]>,
    verdicts: Arc<[String]>,
}

impl Vocabulary {
    /// Of a scenario's run.
    pub fn of(scenario: &Scenario) -> Vocabulary {
        Vocabulary {
            classes: scenario.traffic.classes.iter().cloned().collect(),
            switches: scenario.topology.switch_names().into(),
            nodes: scenario.topology.node_names().into(),
            lines: scenario.topology.link_names().into(),
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

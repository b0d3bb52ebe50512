//! `[record]`: what is recorded besides flows.

use super::events::{given_name, only_one, unknown};
use super::{Limits, Result, TierSettings, numbered};
use spillway_engine::Time;
use spillway_settings::quantity::{BufferPart, BufferSize};
use spillway_settings::{ErrorKind, Form, Range, Section, Takes, Value};
use spillway_switch::{Averaging, BurstTracing, FateTracing};
use spillway_topology::{Node, SwitchSpec, Topology};
use spillway_traffic::Traffic;

/// Which decisions are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecisionFilter {
    /// The number of decisions kept, from the beginning of the run; 0 for none.
    pub first: u64,
    /// Only decisions about packets of this flow.
    pub flow: Option<u32>,
    /// Only decisions of this switch.
    pub switch: Option<u32>,
    /// Only decisions at this port.
    pub port: Option<u32>,
    /// Only decisions about this queue of the port.
    pub queue: Option<u32>,
}

/// What is recorded.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The time between samples of queues.
    pub queue_interval: Option<Time>,
    /// Whether a sample has rows for empty queues too.
    pub empty_queues: bool,
    /// Whether the rows of flows say how losses were found and repaired.
    pub repairs: bool,
    /// Whether the rows of flows say when everything was acknowledged.
    pub acknowledged: bool,
    /// Whether the rows of flows say how long flows climbed.
    pub climbing: bool,
    /// Whether the summary has the slowdowns of flows without a timeout.
    pub without_timeout: bool,
    /// Whether the summary has counts by queue class.
    pub queue_classes: bool,
    /// Whether every pause has a row.
    pub pauses: bool,
    /// Whether every lost packet has a row.
    pub drops: bool,
    /// Which decisions are kept.
    pub decisions: DecisionFilter,
    /// How the fates of packets are traced, if at all.
    pub oracle_trace: Option<FateTracing>,
    /// Flows whose windows are sampled.
    pub window_flows: Vec<u32>,
    /// The time between samples of windows.
    pub window_interval: Time,
    /// The time between measurements of links.
    pub link_interval: Option<Time>,
    /// What counts as a burst of a port, if bursts are recorded.
    pub bursts: Option<BurstDefinition>,
    /// The time between samples of ports.
    pub port_interval: Option<Time>,
    /// Only ports of this switch are sampled.
    pub port_switch: Option<u32>,
    /// The time between samples of AQMs.
    pub aqm_interval: Option<Time>,
    /// Only AQMs of this switch are sampled.
    pub aqm_switch: Option<u32>,
    /// How many samples are taken in a picosecond, on average.
    pub looks_per_ps: f64,
    /// Flows of at most this many bytes are short.
    pub short_bytes: u64,
    /// Flows of at least this many bytes are long.
    pub long_bytes: u64,
}

/// What counts as a burst.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BurstDefinition {
    /// A port that holds more than this is in a burst.
    pub above: BufferPart,
    /// A burst is over when the port holds less than this share of the burst's maximum.
    pub end: f64,
}

impl BurstDefinition {
    /// The definition for a switch with this much buffer. Shares of an unlimited buffer have been
    /// refused before.
    pub fn of(self, capacity: u64) -> BurstTracing {
        BurstTracing { above: self.above.bytes(capacity), beta: self.end }
    }
}

impl Recording {
    pub(super) fn read(section: &mut Section, scope: &Scope) -> Result<Recording> {
        let interval = |section: &mut Section, key: &'static str, meaning: &'static str| {
            section.optional(key, |s| s.positive_time(key, "", meaning))
        };
        let queue_interval = interval(section, "queue_interval", "time between samples of queues")?;
        // Scenarios need not say whether they ask for these.
        let meaning = "whether queues that are empty at a sample have a row too";
        let empty_queues = section.optional_flag("empty_queues", meaning)?;
        if empty_queues.is_some() && queue_interval.is_none() {
            return Err(section.error(
                ErrorKind::UnusedKey,
                "empty_queues",
                "it needs `queue_interval`",
            ));
        }
        let empty_queues = empty_queues.unwrap_or(false);
        let meaning = "whether the row of a flow tells how its losses were found and repaired";
        let repairs = section.optional_flag("repairs", meaning)?.unwrap_or(false);
        let meaning =
            "whether flows have one more column, the time until everything was acknowledged";
        let acknowledged = section.optional_flag("acknowledged", meaning)?.unwrap_or(false);
        let meaning = "whether flows have one more column, the time for which they climbed, and the \
                       summary has the share of their time";
        let climbing = section.optional_flag("climbing", meaning)?.unwrap_or(false);
        let meaning = "whether the summary has the slowdowns of flows that had no timeout";
        let without_timeout = section.optional_flag("without_timeout", meaning)?.unwrap_or(false);
        let meaning = "whether the summary has bytes, marks and losses by tier and queue class";
        let queue_classes = section.optional_flag("queue_classes", meaning)?.unwrap_or(false);
        let pauses =
            section.optional_flag("pauses", "whether every pause has a row")?.unwrap_or(false);
        if pauses && scope.tiers.iter().all(|tier| tier.pfc.is_none()) {
            let problem = "it needs lossless priorities (`switch.pfc`): nothing else is paused";
            return Err(section.error(ErrorKind::UnusedKey, "pauses", problem));
        }
        let drops = section.flag("drops", true, "whether every lost packet has a row")?;
        let meaning = "how many decisions about arrivals are kept";
        let first = section.integer("decisions", 0, 0..=u64::MAX, meaning)?;
        let mut only = |key: &'static str, meaning: &'static str| {
            section.optional(key, |s| {
                s.integer(key, None, 0..=u64::from(u32::MAX), meaning).map(|n| n as u32)
            })
        };
        let flow = only("decisions_flow", "only decisions about this flow's packets")?;
        let port = only("decisions_port", "only decisions of this port")?;
        let queue = only("decisions_queue", "only decisions of this queue of a port")?;
        let meaning = "only decisions of this switch, by its name or number";
        let switch = scope.read_switch(section, "decisions_switch", meaning)?;
        let decisions = DecisionFilter { first, flow, switch, port, queue };
        scope.check_decisions(section, decisions)?;
        let filters = [
            ("decisions_flow", flow.is_some()),
            ("decisions_port", port.is_some()),
            ("decisions_queue", queue.is_some()),
            ("decisions_switch", switch.is_some()),
        ];
        if let Some((key, _)) = filters.into_iter().find(|(_, is_given)| *is_given && first == 0) {
            return Err(section.error(ErrorKind::UnusedKey, key, "it needs `decisions`"));
        }
        let oracle_trace = read_oracle_trace(section, scope)?;
        let window_flows = read_flows(section)?;
        scope.check_flows(section, "windows", &window_flows)?;
        let meaning = "time between samples of windows";
        let window_interval = section.positive_time("window_interval", "10us", meaning)?;
        let link_interval =
            interval(section, "link_interval", "time between measurements of links")?;
        let bursts = read_bursts(section, scope)?;
        let port_interval = interval(section, "port_interval", "time between samples of ports")?;
        let meaning = "only the ports of this switch, by its name or number";
        let port_switch = scope.read_switch(section, "port_switch", meaning)?;
        if port_switch.is_some() && port_interval.is_none() {
            return Err(section.error(
                ErrorKind::UnusedKey,
                "port_switch",
                "it needs `port_interval`",
            ));
        }
        let aqm_interval = interval(section, "aqm_interval", "time between samples of AQMs")?;
        let meaning = "only the AQMs of this switch, by its name or number";
        let aqm_switch = scope.read_switch(section, "aqm_switch", meaning)?;
        if aqm_switch.is_some() && aqm_interval.is_none() {
            return Err(section.error(
                ErrorKind::UnusedKey,
                "aqm_switch",
                "it needs `aqm_interval`",
            ));
        }
        for (key, is_asked) in
            [("bursts", bursts.is_some()), ("port_interval", port_interval.is_some())]
        {
            if is_asked && scope.tiers.iter().any(|tier| tier.settings.port_fifo_packets > 0) {
                let problem = "not with switch.port_fifo_packets: what has left a port's queues is \
                               not sent yet";
                return Err(section.conflict(key, problem));
            }
        }
        let (switches, lines) = (scope.topology.switches.len(), scope.topology.lines.len());
        let ports_of = |switch: u32| scope.topology.switches[switch as usize].ports.len();
        let ports = port_switch.map_or(lines, ports_of);
        let queues = if empty_queues { scope.queues(None) } else { 0 };
        let mut looks_per_ps = 0.0;
        for (key, interval, things) in [
            ("queue_interval", queue_interval, switches + queues),
            ("window_interval", window_flows.first().map(|_| window_interval), window_flows.len()),
            ("link_interval", link_interval, lines),
            ("port_interval", port_interval, ports),
            ("aqm_interval", aqm_interval, scope.queues(aqm_switch)),
        ] {
            if let Some(interval) = interval {
                let path = section.path_of(key);
                scope.limits.check_samples(&path, interval, things, scope.duration)?;
                looks_per_ps += things as f64 / interval.ps() as f64;
            }
        }
        let short_bytes =
            section.size("short", "100KB", "the longest flow that counts as short")?;
        let long_bytes = section.size("long", "1MB", "the shortest flow that counts as long")?;
        if short_bytes >= long_bytes {
            let problem =
                format!("{short_bytes}B is not valid; it must be less than long, {long_bytes}B");
            return Err(section.conflict("short", problem));
        }
        Ok(Recording {
            queue_interval,
            empty_queues,
            repairs,
            acknowledged,
            climbing,
            without_timeout,
            queue_classes,
            pauses,
            drops,
            decisions,
            oracle_trace,
            window_flows,
            window_interval,
            link_interval,
            bursts,
            port_interval,
            port_switch,
            aqm_interval,
            aqm_switch,
            looks_per_ps,
            short_bytes,
            long_bytes,
        })
    }
}

/// The facts outside `[record]` on which a recording depends.
pub(super) struct Scope<'a> {
    pub base_rtt: Time,
    pub duration: Time,
    pub limits: &'a Limits,
    pub topology: &'a Topology,
    pub tiers: &'a [TierSettings],
    pub traffic: &'a Traffic,
}

impl Scope<'_> {
    /// The number of queues in all switches, or in one.
    fn queues(&self, only: Option<u32>) -> usize {
        let switches = (0..).zip(&self.topology.switches);
        let chosen = switches.filter(|(number, _)| only.is_none_or(|wanted| wanted == *number));
        chosen.map(|(_, switch)| switch.ports.len() * self.queues_per_port(switch)).sum()
    }

    fn queues_per_port(&self, switch: &SwitchSpec) -> usize {
        let settings = self.tiers.iter().find(|settings| settings.tier == switch.tier);
        settings.map_or(0, |tier| tier.settings.queues_per_port as usize)
    }

    /// Reads a switch, given by its name in results or in the topology, or by its number. A name
    /// takes precedence over a number. The resolved value is the number, unless another switch has
    /// this number as its name.
    fn read_switch(
        &self,
        section: &mut Section,
        key: &'static str,
        meaning: &'static str,
    ) -> Result<Option<u32>> {
        let takes = "a switch such as \"leaf0\", or its number";
        let takes = Takes::new(takes, [Form::Text, Form::INDEX]);
        section.optional(key, |section| {
            let name = given_name(section, key, takes, meaning)?;
            let switch = match (self.switch_called(section, key, &name)?, name.parse()) {
                (Some(switch), _) => switch,
                (None, Ok(number)) => self.check_number(section, key, number)?,
                (None, Err(_)) => {
                    let switches = (0..self.topology.switches.len() as u32).map(Node::Switch);
                    return Err(unknown(section, key, &name, switches, self.topology));
                }
            };
            match self.switches_called(&switch.to_string())[..] {
                [] => section.put(key, i64::from(switch)),
                [Node::Switch(same)] if same == switch => section.put(key, i64::from(switch)),
                _ => section.put(key, name),
            }
            Ok(switch)
        })
    }

    fn check_number(&self, section: &Section, key: &str, switch: u32) -> Result<u32> {
        let switches = self.topology.switches.len();
        if (switch as usize) < switches {
            Ok(switch)
        } else {
            let problem = format!("{switch} is not a switch; {}", numbered(switches));
            Err(section.error(ErrorKind::WrongValue, key, problem))
        }
    }

    fn switches_called(&self, name: &str) -> Vec<Node> {
        let mut found = self.topology.nodes_called(name);
        found.retain(|node| matches!(node, Node::Switch(_)));
        found
    }

    fn switch_called(&self, section: &Section, key: &str, name: &str) -> Result<Option<u32>> {
        let found = self.switches_called(name);
        let only = only_one(section, key, name, &found, self.topology)?;
        Ok(only.map(|node| self.topology.place_of(node)))
    }

    /// Refuses flows that do not exist with any seed.
    fn check_flows(&self, section: &Section, key: &str, flows: &[u32]) -> Result<()> {
        let Some(&last) = flows.iter().max() else { return Ok(()) };
        let there_are = match self.traffic.most_flows() {
            most if most > u64::from(last) => return Ok(()),
            0 => "there are none".into(),
            most => format!("there are {most} at most, numbered from 0"),
        };
        Err(section.error(ErrorKind::WrongValue, key, format!("{last} is not a flow; {there_are}")))
    }

    /// Refuses filters that no decision can pass, because what they name does not exist.
    fn check_decisions(&self, section: &Section, only: DecisionFilter) -> Result<()> {
        self.check_flows(section, "decisions_flow", only.flow.as_slice())?;
        // The ports and queues of the given switch, or of all switches if none is given.
        let all = 0..self.topology.switches.len() as u32;
        let switches = || all.clone().filter(|&switch| only.switch.is_none_or(|s| s == switch));
        let of = match only.switch {
            Some(switch) => format!("of {}", self.topology.switch_name(switch)),
            None => "of any switch".into(),
        };
        let ports = |switch: u32| self.topology.switches[switch as usize].ports.len();
        let most = switches().map(ports).max().unwrap_or(0);
        if let Some(port) = only.port.filter(|&port| port as usize >= most) {
            let problem = format!("{port} is not a port {of}; {}", numbered(most));
            return Err(section.error(ErrorKind::WrongValue, "decisions_port", problem));
        }
        let has_port = |&switch: &u32| only.port.is_none_or(|port| (port as usize) < ports(switch));
        let queues = |switch: u32| self.queues_per_port(&self.topology.switches[switch as usize]);
        let most = switches().filter(has_port).map(queues).max().unwrap_or(0);
        if let Some(queue) = only.queue.filter(|&queue| queue as usize >= most) {
            let problem = format!("{queue} is not a queue of a port {of}; {}", numbered(most));
            return Err(section.error(ErrorKind::WrongValue, "decisions_queue", problem));
        }
        Ok(())
    }
}

fn read_bursts(section: &mut Section, scope: &Scope) -> Result<Option<BurstDefinition>> {
    let takes = "a share of the buffer such as \"20%\", or a size such as \"800KB\"";
    let takes = Takes::new(takes, [Form::size().or_in("%")]);
    let meaning = "whether bursts have a row: those of ports that hold more than this";
    let above = section
        .optional("bursts", |s| s.quantity("bursts", "", takes, meaning, BufferPart::parse))?;
    let meaning = "the share of its maximum below which a burst is over";
    let end =
        section.optional("burst_end", |s| s.number("burst_end", 0.5, Range::Share, meaning))?;
    let Some(above) = above else {
        return match end {
            None => Ok(None),
            Some(_) => Err(section.error(ErrorKind::UnusedKey, "burst_end", "it needs `bursts`")),
        };
    };
    let bursts = BurstDefinition { above, end: end.unwrap_or(0.5) };
    let is_unlimited = |tier: &TierSettings| tier.settings.buffer == BufferSize::Unlimited;
    let (kind, problem) = match above {
        BufferPart::Share(share) if !(share > 0.0 && share < 1.0) => (
            ErrorKind::WrongValue,
            "not a share that a port can be above; expected one between 0% and 100%",
        ),
        BufferPart::Share(_) if scope.tiers.iter().any(is_unlimited) => {
            (ErrorKind::Conflict, "a share of an unlimited buffer; expected bytes")
        }
        BufferPart::Bytes(0) => (ErrorKind::WrongValue, "0B is not valid; it must be above 0"),
        _ => return Ok(Some(bursts)),
    };
    Err(section.error(kind, "bursts", problem))
}

fn read_oracle_trace(section: &mut Section, scope: &Scope) -> Result<Option<FateTracing>> {
    let meaning = "whether every arrival at a switch with sharing = \"lqd\" has a row, with its \
                   fate, and at one with \"credence\" with that in its virtual LQD: what `spillway \
                   oracle train` learns from";
    let is_traced = section.flag("oracle_trace", false, meaning)?;
    let meaning = "of the arrivals that were not dropped, one in this many has a row in the trace, \
                   with this weight";
    let one_in = section.integer("oracle_trace_sample", 1, 1..=u64::MAX, meaning)?;
    let meaning = "averages in the trace: weighted by time, or as the authors' program has them";
    let kinds = [("time", Averaging::Continuous), ("code", Averaging::AtDepartures)];
    let averaging = section.choice("oracle_trace_average", &kinds, meaning)?;
    if is_traced && !scope.tiers.iter().any(TierSettings::teaches_oracles) {
        let problem = "there is no switch with sharing = \"lqd\", whose drops an oracle learns, or \
                       \"credence\" with thresholds = \"lqd\"";
        return Err(section.error(ErrorKind::UnusedKey, "oracle_trace", problem));
    }
    Ok(is_traced.then_some(FateTracing { averaging, span: scope.base_rtt, one_in }))
}

fn read_flows(section: &mut Section) -> Result<Vec<u32>> {
    let meaning = "flows whose windows are sampled, by their numbers";
    let number = |item: &Value| item.as_integer().and_then(|n| u32::try_from(n).ok());
    let numbers = Form::List { of: vec![Form::INDEX], least: 0, most: usize::MAX };
    let takes = Takes::new("a list of flow numbers", [numbers]);
    let flows = section.optional("windows", |section| {
        section.value("windows", "", takes, meaning, |value| {
            value.as_array().and_then(|list| list.iter().map(number).collect())
        })
    })?;
    Ok(flows.unwrap_or_default())
}

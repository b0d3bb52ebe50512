//! The signals that a run can be asked for, and their names.
//!
//! A name is the path of a place, written as in the scenario's keys, followed by the name of a
//! signal. `switch.leaf.sent_bytes` is about the tier `leaf`, and `switch.leaf0.port.3.sent_bytes`
//! about one port.

use crate::scenario::Scenario;
use spillway_settings::{ErrorKind, SettingsError, nearest_name};
use spillway_switch::{QueueId, Switch};

type Result<T> = std::result::Result<T, SettingsError>;

/// What a signal measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Bytes held by a queue.
    QueueBytes,
    /// Packets held by a queue.
    QueuePackets,
    /// The mean over time of a queue's bytes.
    MeanQueueBytes,
    /// The most of a queue's bytes.
    MaxQueueBytes,
    /// Packets marked.
    MarkedPackets,
    /// Bytes marked.
    MarkedBytes,
    /// Bits marked, over time.
    MarkedGbps,
    /// Packets lost.
    DroppedPackets,
    /// Bytes lost.
    DroppedBytes,
    /// Bytes sent by a port.
    SentBytes,
    /// Bits sent by a port, over time.
    SentGbps,
    /// Bytes held by a switch.
    OccupancyBytes,
    /// Payload that has arrived.
    DeliveredBytes,
    /// Bits of payload that have arrived, over time.
    DeliveredGbps,
    /// Flows that have started.
    FlowsStarted,
    /// Flows that are complete.
    FlowsCompleted,
    /// Completion times.
    FctPs,
    /// Slowdowns.
    FctSlowdown,
}

/// Whether a signal has one number for each queue, port, switch or flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// Every queue of the chosen ports.
    Queue,
    /// Every chosen port.
    Port,
    /// Every chosen switch.
    Switch,
    /// All flows, or the flows of a class: one number.
    Flows,
    /// Every flow that has become complete.
    Flow,
}

impl Each {
    /// Its name in listings.
    pub fn name(self) -> &'static str {
        match self {
            Each::Queue => "queue",
            Each::Port => "port",
            Each::Switch => "switch",
            Each::Flows => "all flows, or a class",
            Each::Flow => "complete flow",
        }
    }

    fn is_of_switches(self) -> bool {
        matches!(self, Each::Queue | Each::Port | Each::Switch)
    }
}

/// A signal.
#[derive(Clone, Copy, Debug)]
pub struct Signal {
    /// The last part of its names.
    pub id: &'static str,
    /// What it measures.
    pub quantity: Quantity,
    /// Whether it has one number for each queue, port, switch or flow.
    pub each: Each,
    /// Whether its numbers are about the time since the last look, rather than about this moment.
    pub is_since: bool,
    /// What its numbers are.
    pub meaning: &'static str,
}

const fn signal(
    id: &'static str,
    quantity: Quantity,
    each: Each,
    is_since: bool,
    meaning: &'static str,
) -> Signal {
    Signal { id, quantity, each, is_since, meaning }
}

/// All signals.
pub const SIGNALS: [Signal; 18] = [
    signal("queue_bytes", Quantity::QueueBytes, Each::Queue, false, "bytes that the queue holds"),
    signal(
        "queue_packets",
        Quantity::QueuePackets,
        Each::Queue,
        false,
        "packets that wait in the queue, without the one that is being sent",
    ),
    signal(
        "mean_queue_bytes",
        Quantity::MeanQueueBytes,
        Each::Queue,
        true,
        "the mean of `queue_bytes` over time, exact: nothing is sampled",
    ),
    signal(
        "max_queue_bytes",
        Quantity::MaxQueueBytes,
        Each::Queue,
        true,
        "the most that the queue has held for any time",
    ),
    signal(
        "marked_packets",
        Quantity::MarkedPackets,
        Each::Queue,
        true,
        "packets marked here, also if they passed the idle port without waiting in the queue",
    ),
    signal("marked_bytes", Quantity::MarkedBytes, Each::Queue, true, "their bytes on the wire"),
    signal(
        "marked_gbps",
        Quantity::MarkedGbps,
        Each::Queue,
        true,
        "their rate on the wire, in Gbps",
    ),
    signal(
        "dropped_packets",
        Quantity::DroppedPackets,
        Each::Queue,
        true,
        "packets lost that were in the queue or would have joined it",
    ),
    signal("dropped_bytes", Quantity::DroppedBytes, Each::Queue, true, "their bytes on the wire"),
    signal(
        "sent_bytes",
        Quantity::SentBytes,
        Each::Port,
        true,
        "bytes put on the line, a byte that is being sent among them",
    ),
    signal("sent_gbps", Quantity::SentGbps, Each::Port, true, "the rate of these bytes, in Gbps"),
    signal(
        "occupancy_bytes",
        Quantity::OccupancyBytes,
        Each::Switch,
        false,
        "bytes that the buffer holds",
    ),
    signal(
        "delivered_bytes",
        Quantity::DeliveredBytes,
        Each::Flows,
        true,
        "payload that has arrived, each byte counted once",
    ),
    signal(
        "delivered_gbps",
        Quantity::DeliveredGbps,
        Each::Flows,
        true,
        "the rate of this payload, in Gbps",
    ),
    signal("flows_started", Quantity::FlowsStarted, Each::Flows, true, "flows that have started"),
    signal(
        "flows_completed",
        Quantity::FlowsCompleted,
        Each::Flows,
        true,
        "flows that have become complete",
    ),
    signal(
        "fct_ps",
        Quantity::FctPs,
        Each::Flow,
        true,
        "completion times in picoseconds, in the order of completion",
    ),
    signal(
        "fct_slowdown",
        Quantity::FctSlowdown,
        Each::Flow,
        true,
        "slowdowns, in the order of completion",
    ),
];

/// The things that a signal's numbers are about, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// Queues: the number of a switch, and of a queue of it.
    Queues(Vec<(u32, QueueId)>),
    /// Ports: the number of a switch, and of a port of it.
    Ports(Vec<(u32, u32)>),
    /// Switches.
    Switches(Vec<u32>),
    /// Classes of flows, taken together.
    Classes(Vec<u16>),
}

/// A signal at the places that a name gives it.
#[derive(Clone, Debug)]
pub struct Named {
    /// The signal.
    pub signal: Signal,
    /// The things that its numbers are about.
    pub places: Places,
    /// How many numbers there are along each axis. Not known in advance for a signal with a number
    /// for each flow.
    pub shape: Vec<usize>,
}

/// Reads a name.
///
/// # Errors
/// If the name is not that of a signal in this scenario.
pub fn read(name: &str, scenario: &Scenario, switches: &[Switch]) -> Result<Named> {
    let (place, id) = match name.rsplit_once('.') {
        Some((place, id)) => (Some(place), id),
        None => (None, name),
    };
    let Some(signal) = SIGNALS.iter().find(|signal| signal.id == id).copied() else {
        let error = ErrorKind::UnknownKey.at(name, format!("there is no signal {id:?}"));
        return Err(error.hint(nearest_name(id, SIGNALS.iter().map(|signal| signal.id))));
    };
    let is_of_switches = signal.each.is_of_switches();
    let parts = place.map(|place| place.split_once('.').unwrap_or((place, "")));
    match (parts, is_of_switches) {
        (Some(("switch", rest)), true) if place != Some("switch.") => {
            Chosen::read(name, rest, scenario, switches)?.named(signal, switches)
        }
        (Some(("traffic", class)), false) if !class.is_empty() => {
            of_class(name, class, signal, scenario)
        }
        (None, false) => {
            let classes = (0..scenario.traffic.classes.len() as u16).collect();
            Ok(Named { signal, places: Places::Classes(classes), shape: Vec::new() })
        }
        _ => {
            let (what, written) = if is_of_switches {
                ("switches", format!("switch.{id}"))
            } else {
                ("flows", format!("{id}, or traffic.NAME.{id}"))
            };
            let error = ErrorKind::UnknownKey.at(name, format!("{id} is a signal of {what}"));
            Err(error.hint(format!("it is written {written}")))
        }
    }
}

/// The signal of a section of traffic, by its name or its place, or a class of a list.
fn of_class(name: &str, class: &str, signal: Signal, scenario: &Scenario) -> Result<Named> {
    let all = &scenario.traffic.classes;
    let is_meant = |(_, known): &(u16, &String)| *known == class;
    let mut classes: Vec<u16> = (0..).zip(all).filter(is_meant).map(|(number, _)| number).collect();
    if classes.is_empty() {
        let sections = scenario.traffic.sources.iter().enumerate();
        let meant = sections.filter(|(place, _)| place.to_string() == class);
        classes.extend(meant.flat_map(|(_, source)| source.class_numbers()));
    }
    if classes.is_empty() {
        let error = ErrorKind::UnknownPlace.at(name, format!("there is no traffic {class:?}"));
        return Err(error.hint(nearest_name(class, all.iter().map(String::as_str))));
    }
    Ok(Named { signal, places: Places::Classes(classes), shape: Vec::new() })
}

/// The switches that a name chooses, and the port and queue of each.
struct Chosen<'a> {
    name: &'a str,
    scenario: &'a Scenario,
    switches: Vec<u32>,
    /// Whether a single switch is named. It needs no axis.
    is_one: bool,
    port: Option<u32>,
    queue: Option<u32>,
}

impl<'a> Chosen<'a> {
    /// Reads what stands between `switch` and the signal.
    fn read(
        name: &'a str,
        between: &str,
        scenario: &'a Scenario,
        switches: &[Switch],
    ) -> Result<Chosen<'a>> {
        let (rest, queue) = number_behind("queue", between);
        let (who, port) = number_behind("port", rest);
        let (switches, is_one) = match who {
            "" => ((0..switches.len() as u32).collect(), false),
            _ => scenario.switches_called(name, who)?,
        };
        Ok(Chosen { name, scenario, switches, is_one, port, queue })
    }

    /// The signal at these places.
    fn named(self, signal: Signal, switches: &[Switch]) -> Result<Named> {
        let id = signal.id;
        for (what, number, is_refused) in [
            ("port", self.port, signal.each == Each::Switch),
            ("queue", self.queue, signal.each != Each::Queue),
        ] {
            if number.is_some() && is_refused {
                let each = signal.each.name();
                return Err(self.error(
                    ErrorKind::UnknownKey,
                    format!("{id} has a number for a {each}, not for a {what}"),
                ));
            }
        }
        let mut ports = Vec::new();
        for &number in &self.switches {
            let has = switches[number as usize].buffer().ports();
            ports.extend(
                self.all_or_one("port", number, self.port, has)?.map(|port| (number, port)),
            );
        }
        let is_one_port = self.is_one && self.port.is_some();
        let axis = |is_one: bool, length: usize| (!is_one).then_some(length);
        let (places, shape) = match signal.each {
            Each::Switch => {
                let shape = axis(self.is_one, self.switches.len());
                (Places::Switches(self.switches), shape.into_iter().collect())
            }
            Each::Port => {
                let shape = axis(is_one_port, ports.len());
                (Places::Ports(ports), shape.into_iter().collect())
            }
            _ => {
                let (queues, each) = self.queues(&ports, switches)?;
                let axes = [axis(is_one_port, ports.len()), axis(self.queue.is_some(), each)];
                (Places::Queues(queues), axes.into_iter().flatten().collect())
            }
        };
        Ok(Named { signal, places, shape })
    }

    /// The chosen queues of these ports, and how many each port has.
    fn queues(
        &self,
        ports: &[(u32, u32)],
        switches: &[Switch],
    ) -> Result<(Vec<(u32, QueueId)>, usize)> {
        let each = |switch: u32| switches[switch as usize].buffer().queues_per_port();
        let fewest = self.switches.iter().map(|&switch| each(switch)).min().unwrap_or(0);
        let most = self.switches.iter().map(|&switch| each(switch)).max().unwrap_or(0);
        if fewest != most && self.queue.is_none() {
            let error = self.error(
                ErrorKind::Conflict,
                format!("some of these ports have {fewest} queues, others {most}"),
            );
            return Err(error.hint("name a tier, a switch or a queue"));
        }
        let mut queues = Vec::new();
        for &(number, port) in ports {
            let chosen = self.all_or_one("queue", number, self.queue, each(number))?;
            let buffer = switches[number as usize].buffer();
            queues.extend(chosen.map(|class| (number, buffer.queue_of(port, class as u8))));
        }
        Ok((queues, most as usize))
    }

    /// The ports or queues of a switch, of which there are this many: all of them, or one.
    fn all_or_one(
        &self,
        what: &str,
        switch: u32,
        one: Option<u32>,
        has: u32,
    ) -> Result<std::ops::Range<u32>> {
        match one {
            None => Ok(0..has),
            Some(number) if number < has => Ok(number..number + 1),
            Some(number) => {
                let switch = self.scenario.topology.switch_name(switch);
                let last = has.saturating_sub(1);
                let there_are = format!("there are {has} at each port of {switch}");
                let there_are =
                    if what == "port" { format!("{switch} has {has}") } else { there_are };
                Err(self.error(
                    ErrorKind::UnknownPlace,
                    format!("there is no {what} {number}: {there_are}, 0 to {last}"),
                ))
            }
        }
    }

    fn error(&self, kind: ErrorKind, problem: String) -> SettingsError {
        kind.at(self.name, problem)
    }
}

/// A path without its last two parts, if these are a word and a number; and that number.
fn number_behind<'a>(word: &str, path: &'a str) -> (&'a str, Option<u32>) {
    let read = || {
        let (before, number) = path.rsplit_once('.')?;
        let (rest, last) = before.rsplit_once('.').unwrap_or(("", before));
        let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number.parse().ok().filter(|_| is_number && last == word)?;
        Some((rest, Some(number)))
    };
    read().unwrap_or((path, None))
}

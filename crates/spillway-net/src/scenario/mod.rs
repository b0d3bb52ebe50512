//! A scenario: the description of a run, validated, with every default filled in.

pub mod assignments;
mod changes;
mod choice;
mod classes;
mod composition;
mod events;
mod limits;
mod loads;
mod nic;
mod pfc;
mod places;
mod reading;
mod receiving;
mod recording;
mod routing;
mod switches;
mod tags;
mod timeouts;
mod volume;
mod warnings;

pub use changes::{Change, Changed, Fresh};
pub use classes::PacketClasses;
pub use events::{LinkChange, LinkEvent};
pub use limits::Limits;
pub use nic::{DisciplineSettings, NicScheduling, NicSettings};
pub use pfc::{Ends, PauseFrames, PfcSettings};
pub use receiving::Receiving;
pub use recording::{DecisionFilter, Recording};
pub use routing::{Hash, RoutingSettings, Spreading};
pub use switches::{SwitchSettings, TierSettings};

use crate::extensions::Extensions;
use spillway_engine::Time;
use spillway_settings::{Content, Files, NamedFile, SettingsError, Table};
use spillway_topology::Topology;
use spillway_traffic::{FlowColumns, ReadNumbers, Traffic};
use spillway_transport::Transport;
use std::path::Path;
use std::sync::Arc;

type Result<T> = std::result::Result<T, SettingsError>;

/// What a flow's slowdown is relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowdownBase {
    /// The exact least time of the same flow alone in the same network.
    Ideal,
    /// RTT + size / rate, as in published figures: propagation both ways, and the payload at the
    /// rate of the sender's line.
    Published,
}

/// When a flow is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Completion {
    /// When its last byte has arrived.
    #[default]
    LastByte,
    /// When its sender has everything acknowledged. Flows without acks are nevertheless complete
    /// when their last byte has arrived.
    LastAck,
}

/// Reads a policy's file, like a [`Reader`](spillway_settings::Reader). It also gets the names of
/// the switches, by their numbers.
pub type RecordReader = Arc<dyn Fn(&str, &str, &str, &[String]) -> Content + Send + Sync>;

/// Where the files and algorithms that a scenario names come from.
pub struct Sources<'a> {
    /// The folder to which file names are relative.
    pub folder: &'a Path,
    /// The flows of a file that the caller has read already, by the key and the file's name.
    pub flows: &'a dyn Fn(&str, &str) -> Option<FlowColumns>,
    /// Further columns of numbers of such a file, by the key, the file's name, and the columns'
    /// names.
    pub numbers: &'a ReadNumbers<'a>,
    /// Reads recorded files of other formats, if given.
    pub records: Option<RecordReader>,
    /// Algorithms that are not compiled in.
    pub extensions: Extensions,
}

impl Sources<'_> {
    /// All files are read from a folder.
    pub fn of(folder: &Path) -> Sources<'_> {
        let extensions = Extensions::default();
        Sources { folder, flows: &|_, _| None, numbers: &|_, _, _| None, records: None, extensions }
    }
}

/// A validated scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Measurements start here.
    pub warmup: Time,
    /// Flows start before this; measurements of the network end here.
    pub duration: Time,
    /// The run ends here at the latest.
    pub stop: Time,
    /// The network.
    pub topology: Topology,
    /// The round trip of the empty network.
    pub base_rtt: Time,
    /// How next hops are chosen.
    pub routing: RoutingSettings,
    /// The switches' settings, by tier.
    pub tiers: Vec<TierSettings>,
    /// Every host's NIC.
    pub nic: NicSettings,
    /// The discipline of NICs, which marks and drops packets, if there is one.
    pub discipline: Option<DisciplineSettings>,
    /// How hosts take in packets, if they have a rate of their own for it.
    pub receiving: Option<Receiving>,
    /// Whether pause frames also stop hosts' acks.
    pub pauses_acks: bool,
    /// The transports in use.
    pub transports: Vec<Transport>,
    /// The transport of every class of flows, by index.
    pub class_transport: Vec<u16>,
    /// For every class, whether it counts as incast: because its traffic is of that kind, or
    /// because that is its name.
    pub class_is_incast: Vec<bool>,
    /// For every class, when its endless flows stop.
    pub class_stop: Vec<Time>,
    /// What is sent.
    pub traffic: Traffic,
    /// Links that fail and recover.
    pub events: Vec<LinkEvent>,
    /// Numbers that change, in order of time.
    pub changes: Vec<Change>,
    /// What is recorded.
    pub recording: Recording,
    /// The limits of what it may ask for.
    pub limits: Limits,
    /// What slowdowns are relative to.
    pub slowdown_base: SlowdownBase,
    /// When flows are complete.
    pub completion: Completion,
    /// Whether data wait in the queues of acks, because a tagger gives them that priority.
    shares_ack_queues: bool,
    /// The files that it names.
    files: Files,
    /// The names of all switches, by their numbers.
    names: Arc<[String]>,
    /// The scenario with every value written out. Reading this table gives the same scenario.
    pub resolved: Table,
    /// What is allowed but may be a mistake.
    pub warnings: Vec<String>,
}

impl Scenario {
    /// The files that were read, with the keys that named them.
    pub fn named_files(&self) -> Vec<NamedFile> {
        self.files.named()
    }

    /// A bound from below for the bytes of a packet on the wire.
    pub(crate) fn smallest_packet(&self) -> u64 {
        let sizes =
            self.transports.iter().map(|transport| transport.ack_size.min(transport.header));
        sizes.min().unwrap_or(0).into()
    }

    /// The facts on which the policies of switches and NICs depend.
    fn around(&self) -> switches::Surroundings<'_> {
        switches::Surroundings {
            topology: &self.topology,
            seed: self.seed,
            base_rtt: self.base_rtt,
            transport: &self.transports[0],
            shares_ack_queues: self.shares_ack_queues,
            files: &self.files,
            names: &self.names,
        }
    }

    /// A transport, by its place in `transports`.
    #[inline]
    pub fn transport(&self, place: u16) -> &Transport {
        &self.transports[usize::from(place)]
    }

    /// The index of a switch's tier in `tiers`.
    pub fn tier_of(&self, switch: u32) -> usize {
        let tier = self.topology.switches[switch as usize].tier;
        self.tiers.iter().position(|t| t.tier == tier).unwrap_or(0)
    }

    /// Whether links fail, so that routes change during the run.
    pub fn links_fail(&self) -> bool {
        self.events.iter().any(|event| matches!(event.change, LinkChange::Down { .. }))
    }

    /// Whether pause frames may stop hosts.
    pub fn hosts_can_be_paused(&self) -> bool {
        self.tiers[0].pfc.is_some()
    }

    /// Whether any port has a ring.
    pub fn has_port_fifos(&self) -> bool {
        has_port_fifos(&self.tiers, &self.nic)
    }

    /// Whether connections of some class of flows stay open.
    pub fn leaves_connections_open(&self) -> bool {
        self.class_transport.iter().any(|&place| self.transport(place).leaves_open())
    }

    /// Whether flows of a class number their packets, and find losses by their order.
    pub fn numbers_packets(&self, class: u16) -> bool {
        let closed_loop = self.transport(self.class_transport[usize::from(class)]).closed_loop();
        closed_loop.is_some_and(|closed_loop| closed_loop.recovery.numbers_packets())
    }

    /// Whether senders are told at once which packets their own hosts drop.
    pub fn tells_senders(&self) -> bool {
        self.discipline.as_ref().is_some_and(|discipline| discipline.tells_senders)
    }

    /// A switch's name: its tier and its number within it.
    pub fn switch_name(&self, switch: u32) -> String {
        self.topology.switch_name(switch)
    }
}

/// For messages: which numbers exist if there are `count` of them, from 0.
fn numbered(count: usize) -> String {
    match count {
        0 => "there are none".into(),
        1 => "there is only 0".into(),
        _ => format!("there are {count}, from 0 to {}", count - 1),
    }
}

fn has_port_fifos(tiers: &[TierSettings], nic: &NicSettings) -> bool {
    nic.fifo_packets > 0 || tiers.iter().any(|tier| tier.settings.port_fifo_packets > 0)
}

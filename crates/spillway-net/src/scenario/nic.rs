//! `[nic]`: every host's NIC.

use super::PacketClasses;
use super::choice::Choice;
use super::switches::{MOST_QUEUES, Reading, Surroundings, queue_class};
use super::{Result, SwitchSettings};
use spillway_settings::quantity::Amount;
use spillway_settings::{ErrorKind, Section};
use spillway_switch::aqm::{AqmParams, NoAqm};
use spillway_switch::policy::Watch;
use spillway_switch::scheduling::{SchedulingPolicy, StrictPriority};
use spillway_switch::{Buffer, Discipline, DisciplineParts, Environment, Policy, Service};
use spillway_topology::Node;
use spillway_transport::{KINDS, Transport};
use std::sync::Arc;

/// How packets of equal priority are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NicScheduling {
    /// First come, first served.
    Fifo,
    /// Flows take turns, one packet each.
    PerFlowRoundRobin,
    /// The flow with the fewest bytes left first. An arriving packet that does not fit pushes out
    /// the packet whose flow has the most bytes left.
    PFabric,
}

/// The settings of a NIC.
#[derive(Clone, Copy, Debug)]
pub struct NicSettings {
    /// How packets of equal priority are ordered.
    pub scheduling: NicScheduling,
    /// The number of its priorities.
    pub queues: u8,
    /// The priority of acks and other control packets.
    pub ack_queue: u8,
    /// The priority of data without a priority of their own.
    pub data_queue: u8,
    /// Packets that fit into the ring below its queues.
    pub fifo_packets: u32,
    /// Whether a paced flow has at most one packet in the NIC, like a queue pair of RDMA. The flow
    /// is then told when this packet begins to be sent.
    pub queue_pairs: bool,
}

impl NicSettings {
    /// Whether packets leave in the order in which they are queued.
    pub fn is_plain(&self) -> bool {
        self.queues == 1 && self.sends_in_order()
    }

    /// The queues in which packets wait.
    pub fn packet_classes(&self) -> PacketClasses {
        PacketClasses { data: self.data_queue, acks: self.ack_queue, last: self.queues - 1 }
    }

    /// Whether the packets of each queue leave in the order in which they are queued.
    pub fn sends_in_order(&self) -> bool {
        self.scheduling == NicScheduling::Fifo && self.fifo_packets == 0
    }
}

/// How a NIC marks and drops packets.
#[derive(Clone, Debug)]
pub struct DisciplineSettings {
    queue_limit: Amount,
    choice: Choice,
    aqm: AqmParams,
    /// Whether senders are told at once which packets are dropped on arrival, and then cut their
    /// window.
    pub tells_senders: bool,
}

impl DisciplineSettings {
    /// Its AQM, and the parameters.
    pub(super) fn aqm(&self) -> (&Choice, &AqmParams) {
        (&self.choice, &self.aqm)
    }

    /// Refuses a limit below a full packet. Refuses to tell senders of drops if they cannot react.
    pub(super) fn check(&self, transports: &[Transport]) -> Result<()> {
        let full = transports.iter().map(Transport::full_packet).max().unwrap_or(0);
        let holds_none = match self.queue_limit {
            Amount::Packets(limit) => limit == 0,
            Amount::Bytes(limit) => limit < u64::from(full),
            Amount::Unlimited => false,
        };
        if holds_none {
            let limit = self.queue_limit;
            let problem = format!("{limit} is not valid; it must hold a full packet, {full}B");
            return Err(ErrorKind::Conflict.at("nic.queue_limit", problem));
        }
        let cuts = |transport: &Transport| transport.needs.cuts_for_local_drops;
        let has_nacks = |transport: &Transport| {
            transport.closed_loop().is_some_and(|closed| closed.recovery.is_own())
                && cuts(transport)
        };
        if self.tells_senders && transports.iter().any(has_nacks) {
            let problem = "\"cut\" is not valid where NACKs tell of losses (transport.recovery): no \
                           loss cuts there; it needs \"silent\"";
            return Err(ErrorKind::Conflict.at("nic.local_drops", problem));
        }
        let has_bursts = |transport: &Transport| {
            transport.closed_loop().is_some_and(|closed| closed.bursts.is_some())
        };
        if self.tells_senders && transports.iter().any(has_bursts) {
            let problem = "\"cut\" is not valid where segments leave in bursts (transport.offload, \
                           transport.ack_push); it needs \"silent\"";
            return Err(ErrorKind::Conflict.at("nic.local_drops", problem));
        }
        match transports.iter().find(|transport| self.tells_senders && !cuts(transport)) {
            None => Ok(()),
            Some(Transport { kind, .. }) => {
                let cut = KINDS.iter().filter(|kind| kind.needs.cuts_for_local_drops);
                let cut: Vec<_> = cut.map(|kind| kind.id).collect();
                let (last, others) = cut.split_last().expect("some cut");
                let problem = format!(
                    "\"cut\" is not valid with transport = {kind:?}, which does not cut for a mark \
                     alone; it needs {} or {last}",
                    others.join(", ")
                );
                Err(ErrorKind::Conflict.at("nic.local_drops", problem))
            }
        }
    }
}

/// Reads the section. The defaults are the settings of the leaf tier.
pub(super) fn read(
    section: &mut Section,
    leaf: &SwitchSettings,
    reading: &Reading,
) -> Result<(NicSettings, Option<DisciplineSettings>)> {
    let scheduling = section.choice(
        "scheduling",
        &[
            ("fifo", NicScheduling::Fifo),
            ("per-flow-rr", NicScheduling::PerFlowRoundRobin),
            ("pfabric", NicScheduling::PFabric),
        ],
        "the order of packets of equal priority, or of all by the bytes that flows have left",
    )?;
    let meaning = "priorities that it tells apart, the lowest number first";
    let queues =
        section.integer("queues", u64::from(leaf.queues_per_port), 1..=MOST_QUEUES, meaning)?;
    let there_are = ("queues", queues);
    let meaning = "priority of acks and of handshakes: a NIC has one queue for each priority";
    let ack_queue = queue_class(section, "ack_queue", leaf.ack_queue, there_are, meaning)?;
    let meaning = "priority of data without one";
    let data_queue = queue_class(section, "data_queue", leaf.data_queue, there_are, meaning)?;
    let meaning = "packets that it takes out of its queues ahead of time";
    let fifo_packets = section.integer("fifo_packets", 0, 0..=10_000, meaning)? as u32;
    let queues = queues as u8;
    let meaning = "whether paced flows hand it one packet at a time, as queue pairs of RDMA";
    let queue_pairs = section.flag("queue_pairs", false, meaning)?;
    let nic = NicSettings { scheduling, queues, ack_queue, data_queue, fifo_packets, queue_pairs };
    if scheduling == NicScheduling::PFabric && queues > 1 {
        let problem = format!(
            "\"pfabric\" is not valid with queues = {queues}: priorities are on the packets; it needs \
             one queue"
        );
        return Err(section.conflict("scheduling", problem));
    }
    Ok((nic, read_discipline(section, &nic, reading)?))
}

/// Refuses NICs that cannot be paused if their switches have lossless priorities.
pub(super) fn check_pauses(section: &Section, nic: &NicSettings, can_be: bool) -> Result<()> {
    if can_be && nic.scheduling == NicScheduling::PFabric {
        let problem = "\"pfabric\" is not valid with lossless priorities (`pfc`): it takes no \
                       account of priorities that are paused";
        return Err(section.conflict("scheduling", problem));
    }
    if can_be && nic.fifo_packets > 0 {
        let problem = "not with lossless priorities (`pfc`): what has left its queue cannot be \
                       paused";
        return Err(section.conflict("fifo_packets", problem));
    }
    Ok(())
}

fn read_discipline(
    section: &mut Section,
    nic: &NicSettings,
    reading: &Reading,
) -> Result<Option<DisciplineSettings>> {
    let meaning = "the most that one queue may hold";
    let queue_limit = section.amount("queue_limit", "unlimited", meaning)?;
    let meaning = "how its queues of data are managed";
    let ids = reading.extensions.aqm_ids();
    let choice = Choice::of(section.policy("aqm", NoAqm::ID, ids, meaning)?);
    let environment = environment(nic, &reading.around, 0);
    let mut own = choice.section();
    let aqm = reading.extensions.aqm_params(&choice.id, &mut own, &environment)?;
    // An AQM that is not compiled in may refuse its settings only when it is made.
    if let Some(period) = aqm.make(&environment).period() {
        let hosts = reading.around.topology.nics.len();
        reading.limits.check_samples(own.path(), period, hosts, reading.times.0)?;
    }
    section.put("aqm", choice.resolved(own)?);
    let tells_senders = section.choice(
        "local_drops",
        &[("silent", false), ("cut", true)],
        "whether a sender hears at once of what its own host drops, and cuts its window",
    )?;
    let has_one = queue_limit != Amount::Unlimited || choice.id != NoAqm::ID;
    if tells_senders && !has_one {
        let problem = "\"cut\" needs `queue_limit` or `aqm`: without them hosts drop nothing";
        return Err(section.conflict("local_drops", problem));
    }
    if nic.scheduling == NicScheduling::PFabric {
        if choice.id != NoAqm::ID {
            let problem = format!(
                "{:?} is not valid with scheduling = \"pfabric\", which does not send packets in \
                 the order in which they come; it needs \"none\"",
                choice.id
            );
            return Err(section.conflict("aqm", problem));
        }
        if tells_senders {
            let problem = "\"cut\" is not valid with scheduling = \"pfabric\", which may drop \
                           another flow's packet; it needs \"silent\"";
            return Err(section.conflict("local_drops", problem));
        }
    }
    Ok(has_one.then_some(DisciplineSettings { queue_limit, choice, aqm, tells_senders }))
}

/// The facts on which the AQM of a host may depend.
fn environment(nic: &NicSettings, around: &Surroundings, host: u32) -> Environment {
    let Surroundings { topology, .. } = around;
    Environment {
        seed: around.seed,
        switch: topology.place_of(Node::Host(host)),
        names: Arc::clone(around.names),
        capacity: Buffer::UNLIMITED,
        port_rates: vec![topology.lines[topology.nics[host as usize] as usize].rate],
        queues_per_port: nic.queues.into(),
        ack_queue_class: nic.ack_queue,
        data_queue_class: nic.data_queue,
        shares_ack_queues: around.shares_ack_queues,
        base_rtt: around.base_rtt,
        full_packet: around.transport.full_packet(),
        service: Service {
            scheduling: SchedulingPolicy::StrictPriority(StrictPriority),
            uncounted_bytes: 0,
            release_at_end: false,
            slot: None,
        },
        files: around.files.clone(),
    }
}

impl super::Scenario {
    /// The facts on which the AQM of a host depends.
    pub(super) fn nic_environment(&self, host: u32) -> Environment {
        environment(&self.nic, &self.around(), host)
    }

    /// Makes what marks and drops packets at a host's NIC, if anything does.
    pub fn make_discipline(&self, host: u32) -> Option<Discipline> {
        let settings = self.discipline.as_ref()?;
        let environment = self.nic_environment(host);
        Some(Discipline::new(DisciplineParts {
            rate: environment.port_rates[0],
            queues: environment.queues_per_port,
            unmanaged: environment.unmanaged(),
            queue_limit: settings.queue_limit,
            aqm: settings.aqm.make(&environment),
        }))
    }
}

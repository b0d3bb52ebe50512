//! `[switch]` and its sections for single tiers.

use super::PacketClasses;
use super::assignments::POLICIES;
use super::choice::Choice;
use super::pfc::{self, PfcSettings};
use super::{Limits, Result};
use crate::extensions::Extensions;
use spillway_engine::{Rate, Time};
use spillway_settings::quantity::{Amount, BufferPart, BufferSize};
use spillway_settings::{ErrorKind, Files, Form, Section, SettingsError, Table, Takes, Value};
use spillway_switch::aqm::{Aqm, AqmParams, NoAqm};
use spillway_switch::policy::Watch;
use spillway_switch::scheduling::{Fifo, Scheduling, SchedulingParams, SchedulingPolicy};
use spillway_switch::sharing::{
    Credence, LongestQueueDrop, PFabric as PFabricSharing, Sharing, SharingParams, Smartbuf,
};
use spillway_switch::{Buffer, Environment, Meter, Policy, Service, Switch, SwitchParts};
use spillway_topology::Topology;
use spillway_transport::Transport;
use std::sync::Arc;

/// The settings of a switch.
#[derive(Clone, Debug)]
pub struct SwitchSettings {
    /// The shared buffer.
    pub buffer: BufferSize,
    /// The most that one queue may hold.
    pub queue_limit: Amount,
    /// What the unimportant packets of a port must stay below, if they have a limit.
    pub unimportant_limit: Option<BufferPart>,
    /// Queues of each port.
    pub queues_per_port: u32,
    /// The queue class of acks and control packets.
    pub ack_queue: u8,
    /// The queue class of data without a priority.
    pub data_queue: u8,
    /// Bytes of every packet that the buffer does not count.
    pub uncounted_bytes: u32,
    /// The number of packets that the ring below each port's queues holds.
    pub port_fifo_packets: u32,
    release_at_end: bool,
    pfc: Choice,
    sharing: Choice,
    aqm: Choice,
    scheduling: Choice,
}

/// The settings of a tier's switches.
#[derive(Clone, Debug)]
pub struct TierSettings {
    /// The tier.
    pub tier: &'static str,
    /// The settings as read.
    pub settings: SwitchSettings,
    /// Its lossless priorities, if there are some.
    pub pfc: Option<PfcSettings>,
    /// The parameters from which its policies are made.
    params: PolicyParams,
    /// The keys of its own section.
    own: Vec<String>,
    /// What is allowed but may be a mistake.
    pub warnings: Vec<String>,
}

/// The parameters of a tier's policies.
#[derive(Clone, Debug)]
struct PolicyParams {
    sharing: SharingParams,
    aqm: AqmParams,
    scheduling: SchedulingParams,
}

/// The facts outside `[switch]` on which the policies of switches and NICs depend.
pub(super) struct Surroundings<'a> {
    pub topology: &'a Topology,
    pub seed: u64,
    pub base_rtt: Time,
    pub transport: &'a Transport,
    /// Whether data wait in the queues of acks, because a tagger gives them that priority.
    pub shares_ack_queues: bool,
    pub files: &'a Files,
    /// The names of all switches, by their numbers.
    pub names: &'a Arc<[String]>,
}

/// The surroundings, and what else is needed to read settings.
pub(super) struct Reading<'a> {
    pub around: Surroundings<'a>,
    /// `duration` and `stop`.
    pub times: (Time, Time),
    pub limits: &'a Limits,
    pub extensions: &'a Extensions,
    /// The largest full packet of all transports, as far as they have been read.
    pub largest_packet: u32,
}

/// Reads `[switch]` and its sections for single tiers, the leaf tier first.
pub(super) fn read(mut section: Section, reading: &Reading) -> Result<(Vec<TierSettings>, Table)> {
    let leaf = "leaf";
    let mut tiers: Vec<&'static str> = vec![leaf];
    for switch in &reading.around.topology.switches {
        if !tiers.contains(&switch.tier) {
            tiers.push(switch.tier);
        }
    }
    let mut own: Vec<(&'static str, Option<Table>)> = Vec::new();
    for &tier in &tiers {
        let table = match section.raw(tier) {
            None => None,
            Some(Value::Table(table)) => Some(table),
            Some(other) => {
                let problem = format!("{other} is not valid; expected a table");
                return Err(section.error(ErrorKind::WrongValue, tier, problem));
            }
        };
        own.push((tier, table));
    }
    let given = section.rest();
    let mut section = Section::new("switch", given.clone());
    section.also(tiers.iter().map(ToString::to_string));
    let base = SwitchSettings::read(&mut section, reading.extensions)?;
    let mut resolved = section.finish()?;
    let of_base = base.policies_of(reading, leaf, &mut resolved)?;
    let mut read = Vec::new();
    for (tier, own) in own {
        let keys = own.iter().flat_map(Table::keys).cloned().collect();
        let (settings, (params, pfc, warnings)) = match own {
            None if tier == leaf => (base.clone(), of_base.clone()),
            None => (base.clone(), base.policies_of(reading, tier, &mut Table::new())?),
            Some(own) => {
                let mut merged = given.clone();
                let without_kind = without_kind(&own, &given);
                merged.extend(own);
                let mut section = Section::new(format!("switch.{tier}"), merged);
                let settings = SwitchSettings::read(&mut section, reading.extensions)?;
                let mut table = section.finish()?;
                let of_tier = settings.policies_of(reading, tier, &mut table);
                let of_tier = of_tier.map_err(|error| kind_first(error, tier, &without_kind))?;
                resolved.insert(tier.into(), Value::Table(table));
                (settings, of_tier)
            }
        };
        read.push(TierSettings { tier, settings, pfc, params, own: keys, warnings });
    }
    Ok((read, resolved))
}

/// The policies of which a tier has parameters but no kind, although `switch` has a policy.
fn without_kind(own: &Table, common: &Table) -> Vec<&'static str> {
    let has_none = |key: &str| own[key].as_table().is_some_and(|table| !table.contains_key("kind"));
    let keys = POLICIES.into_iter().filter(|&key| common.contains_key(key));
    keys.filter(|&key| own.contains_key(key) && has_none(key)).collect()
}

/// An error in a tier's policies. If the policy has no kind, the error gets another hint: the kind
/// of the policy of `switch` does not count for the tier.
fn kind_first(error: SettingsError, tier: &str, without_kind: &[&str]) -> SettingsError {
    let mut paths = without_kind.iter().map(|key| format!("switch.{tier}.{key}"));
    match paths.find(|path| error.path.starts_with(&format!("{path}."))) {
        None => error,
        Some(path) => error.hint(format!(
            "a tier's policy replaces the whole policy of `switch`: set {path}, its kind, first"
        )),
    }
}

fn port_rates(topology: &Topology, switch: u32) -> Vec<Rate> {
    let ports = &topology.switches[switch as usize].ports;
    ports.iter().map(|&line| topology.lines[line as usize].rate).collect()
}

/// The most queues of a port.
pub(super) const MOST_QUEUES: u64 = 64;

/// What is wrong with a number that no queue has.
pub(super) fn no_queue_class(class: i64, (how_many, queues): (&str, u64)) -> String {
    let last = queues - 1;
    format!("{class} is no queue class: {how_many} = {queues}, so there are 0 to {last}")
}

/// The queue class of some packets. By default it is this one, or the last one if there are fewer.
///
/// `there_are` is the key that says how many queues there are, and its value.
pub(super) fn queue_class(
    section: &mut Section,
    key: &'static str,
    default: u8,
    there_are: (&str, u64),
    meaning: &'static str,
) -> Result<u8> {
    let last = there_are.1 - 1;
    let class = section.integer(key, last.min(default.into()), 0..=MOST_QUEUES - 1, meaning)?;
    if class > last {
        return Err(section.conflict(key, no_queue_class(class as i64, there_are)));
    }
    Ok(class as u8)
}

impl SwitchSettings {
    fn read(section: &mut Section, extensions: &Extensions) -> Result<SwitchSettings> {
        let buffer = section.buffer("buffer", "unlimited", "the buffer that all ports share")?;
        let meaning =
            "the most that one queue may hold, below the shared buffer; never more than 4 GiB";
        let queue_limit = section.amount("queue_limit", "unlimited", meaning)?;
        if let Amount::Bytes(0) | Amount::Packets(0) = queue_limit {
            let problem = format!("{queue_limit} is not valid; nothing would ever be queued");
            return Err(section.error(ErrorKind::WrongValue, "queue_limit", problem));
        }
        let unimportant_limit = SwitchSettings::read_unimportant_limit(section, buffer)?;
        let meaning = "queues of each port";
        let queues = section.integer("queues_per_port", 1, 1..=MOST_QUEUES, meaning)?;
        let there_are = ("queues_per_port", queues);
        let meaning = "queue class of acks and of handshakes, whatever their flow's priority";
        let ack_queue = queue_class(section, "ack_queue", 0, there_are, meaning)?;
        let meaning = "queue class of data without a priority";
        let data_queue = queue_class(section, "data_queue", 1, there_are, meaning)?;
        let meaning = "bytes of every packet that the buffer does not count";
        let uncounted_bytes = section.size("uncounted_bytes", "0B", meaning)?;
        let release_at_end = section.choice(
            "release",
            &[("start", false), ("end", true)],
            "whether a packet's bytes are given back when its transmission starts or ends",
        )?;
        let meaning = "packets that each port takes out of its queues ahead of time";
        let port_fifo_packets = section.integer("port_fifo_packets", 0, 0..=10_000, meaning)?;
        if port_fifo_packets > 0 && release_at_end {
            let problem = "needs release = \"start\": what waits there is not counted";
            return Err(section.conflict("port_fifo_packets", problem));
        }
        let meaning = "which priorities are lossless, and at which threshold a neighbour is paused";
        let pfc = Choice::of(section.policy("pfc", "none", pfc::IDS.into_iter(), meaning)?);
        let meaning = "how ports share the buffer";
        let ids = extensions.sharing_ids();
        let sharing = Choice::of(section.policy("sharing", "cs", ids, meaning)?);
        let meaning = "how data queues are managed";
        let aqm = Choice::of(section.policy("aqm", "none", extensions.aqm_ids(), meaning)?);
        let default = if queues == 1 { "fifo" } else { "rr" };
        let meaning = "which queue of a port sends next";
        let ids = extensions.scheduling_ids();
        let scheduling = Choice::of(section.policy("scheduling", default, ids, meaning)?);
        Ok(SwitchSettings {
            buffer,
            queue_limit,
            unimportant_limit,
            queues_per_port: queues as u32,
            ack_queue,
            data_queue,
            uncounted_bytes: uncounted_bytes.min(u64::from(u32::MAX)) as u32,
            port_fifo_packets: port_fifo_packets as u32,
            release_at_end,
            pfc,
            sharing,
            aqm,
            scheduling,
        })
    }

    fn read_unimportant_limit(
        section: &mut Section,
        buffer: BufferSize,
    ) -> Result<Option<BufferPart>> {
        let key = "unimportant_limit";
        let meaning = "a port loses packets that a sender with `protection` has not tagged as important if \
                       it would hold this much of them";
        let takes = "a size such as \"400KB\", or a share of the buffer such as \"9%\"";
        let takes = Takes::new(takes, [Form::size().or_in("%")]);
        let limit = section.optional(key, |section| {
            section.quantity(key, "", takes, meaning, BufferPart::parse)
        })?;
        if let (Some(BufferPart::Share(_)), BufferSize::Unlimited) = (limit, buffer) {
            let problem = "a share needs a limited buffer";
            return Err(section.conflict(key, problem));
        }
        Ok(limit)
    }

    /// Refuses a limit for unimportant packets that some switch of a tier could not keep without
    /// losing all of them.
    fn check_unimportant_limit(
        &self,
        tier: &str,
        topology: &Topology,
        largest_packet: u32,
    ) -> Result<()> {
        let switches = (0..).zip(&topology.switches).filter(|(_, switch)| switch.tier == tier);
        let limits = switches.filter_map(|(switch, _)| self.unimportant_bytes(topology, switch));
        match limits.min() {
            Some(limit) if limit <= largest_packet.into() => {
                let section = Section::new("switch", Table::new());
                let problem = format!(
                    "{limit}B is not above a full packet of {largest_packet}B: no unimportant packet could \
                     come below it"
                );
                Err(section.conflict("unimportant_limit", problem))
            }
            _ => Ok(()),
        }
    }

    /// The limit for unimportant packets at a port of a switch, if there is one.
    fn unimportant_bytes(&self, topology: &Topology, switch: u32) -> Option<u64> {
        let capacity = self.buffer.bytes(port_rates(topology, switch).into_iter());
        Some(self.unimportant_limit?.bytes(capacity.unwrap_or(Buffer::UNLIMITED)))
    }

    /// Reads and checks the parameters of a tier's policies against its first switch, and puts
    /// them, resolved, into `table`. Returns them with the warnings.
    fn policies_of(
        &self,
        reading: &Reading,
        tier: &str,
        table: &mut Table,
    ) -> Result<(PolicyParams, Option<PfcSettings>, Vec<String>)> {
        let Reading { around, times, limits, extensions, largest_packet } = reading;
        let switches = || around.topology.switches.iter();
        let first = switches().position(|s| s.tier == tier).unwrap_or(0) as u32;
        let number = switches().filter(|s| s.tier == tier).count();
        let check = |section: &mut Section, policy: &dyn Watch| {
            limits.check_wakeups(section, policy.period(), number, *times)
        };
        let mut warnings = Vec::new();
        let mut resolve = |key: &str, choice: &Choice, section: Section| {
            warnings.extend_from_slice(section.warnings());
            table.insert(key.into(), choice.resolved(section)?);
            Ok::<_, SettingsError>(())
        };
        self.check_unimportant_limit(tier, around.topology, *largest_packet)?;
        let mut section = self.pfc.section();
        let pfc = PfcSettings::read(&self.pfc, &mut section, self, *largest_packet)?;
        if let Some(pfc) = &pfc {
            self.check_lossless(pfc, &section, tier, around.topology)?;
        }
        resolve("pfc", &self.pfc, section)?;

        let mut environment = self.environment(around, first, pfc.as_ref());
        let mut of_ports = self.scheduling.section();
        let id = &self.scheduling.id;
        let scheduling = extensions.scheduling_params(id, &mut of_ports, &environment)?;
        environment.service.scheduling = scheduling.make(&environment);
        let chooses = environment.service.scheduling.chooses_packets();
        self.check_packet_choice(&of_ports, chooses)?;
        if chooses && pfc.is_some() {
            let problem = format!(
                "{id:?} is not valid with lossless priorities (`pfc`): it takes no account of queues \
                 that are paused"
            );
            return Err(of_ports.conflict("kind", problem));
        }

        let mut section = self.sharing.section();
        let sharing = extensions.sharing_params(&self.sharing.id, &mut section, &environment)?;
        if self.sharing.id == PFabricSharing::ID {
            self.check_one_queue(&section, PFabricSharing::ID)?;
            let why = ": it alone says what is lost, by what flows have left";
            self.check_no_aqm(&section, PFabricSharing::ID, why)?;
            self.check_own_limit(&section)?;
        }
        let made = sharing.make(&environment);
        check(&mut section, &made)?;
        let takes = made.pushes_out() || made.expels();
        if takes && pfc.as_ref().is_some_and(PfcSettings::sees_all) {
            let what = if made.expels() { "expel" } else { "push out" };
            let problem = format!(
                "{:?} is not valid with sees = \"all\" in `pfc`: it could {what} lossless packets",
                self.sharing.id
            );
            return Err(section.conflict("kind", problem));
        }
        resolve("sharing", &self.sharing, section)?;

        let mut section = self.aqm.section();
        let aqm = extensions.aqm_params(&self.aqm.id, &mut section, &environment)?;
        let made = aqm.make(&environment);
        check(&mut section, &made)?;
        let (most, why) = self.longest_found(&environment);
        if let Some((key, from)) = made.marks_from(&environment).filter(|of| of.1 > most) {
            let text = format!(
                "a {tier} marks queues from {from} bytes on, but {why}: a queue that has its port to \
                 itself is never marked"
            );
            section.warn(key, text);
        }
        resolve("aqm", &self.aqm, section)?;

        resolve("scheduling", &self.scheduling, of_ports)?;
        Ok((PolicyParams { sharing, aqm, scheduling }, pfc, warnings))
    }

    /// Refuses lossless priorities without room at some switch of a tier, or with rings.
    fn check_lossless(
        &self,
        pfc: &PfcSettings,
        section: &Section,
        tier: &str,
        topology: &Topology,
    ) -> Result<()> {
        if self.port_fifo_packets > 0 {
            let problem = "not with port_fifo_packets: what has left its queue cannot be paused";
            return Err(section.conflict("kind", problem));
        }
        let switches = (0..).zip(&topology.switches).filter(|(_, switch)| switch.tier == tier);
        for (switch, _) in switches {
            let capacity = self.buffer.bytes(port_rates(topology, switch).into_iter());
            pfc.check(section, topology, switch, capacity)?;
        }
        Ok(())
    }

    /// The queue classes in which packets wait.
    pub fn packet_classes(&self) -> PacketClasses {
        let last = (self.queues_per_port - 1) as u8;
        PacketClasses { data: self.data_queue, acks: self.ack_queue, last }
    }

    /// Refuses settings that do not go with a scheduler that chooses among the packets of a queue.
    /// `section` is the scheduler's.
    fn check_packet_choice(&self, section: &Section, chooses: bool) -> Result<()> {
        if !chooses {
            return Ok(());
        }
        self.check_one_queue(section, &self.scheduling.id)?;
        let why = ", which takes packets to leave in the order in which they came";
        self.check_no_aqm(section, &self.scheduling.id, why)
    }

    /// Refuses an AQM beside the policy that has this id and this section. `why` follows the AQM's
    /// name.
    fn check_no_aqm(&self, section: &Section, id: &str, why: &str) -> Result<()> {
        let aqm = &self.aqm.id;
        if aqm == NoAqm::ID {
            return Ok(());
        }
        let problem =
            format!("{id:?} is not valid with aqm = {aqm:?}{why}; it needs aqm = \"none\"");
        Err(section.conflict("kind", problem))
    }

    /// Refuses limits other than that of the policy with this section. Also refuses to hold bytes
    /// until transmissions end, since the policy cannot push out a packet that is being sent.
    fn check_own_limit(&self, section: &Section) -> Result<()> {
        let problem = if self.queue_limit != Amount::Unlimited {
            "\"pfabric\" is not valid with a queue_limit, which would lose arrivals whatever flows have \
             left; it needs queue_limit = \"unlimited\", and has a `limit` of its own"
        } else if self.release_at_end {
            "\"pfabric\" is not valid with release = \"end\": its limit is that of packets that can be \
             pushed out, and the one that is being sent cannot; it needs release = \"start\""
        } else {
            return Ok(());
        };
        Err(section.conflict("kind", problem))
    }

    /// Refuses several queues beside the policy that has this id and this section.
    fn check_one_queue(&self, section: &Section, id: &str) -> Result<()> {
        if self.queues_per_port == 1 {
            return Ok(());
        }
        let problem = format!(
            "{id:?} is not valid with queues_per_port = {}: priorities are on the packets; it \
             needs one queue for each port",
            self.queues_per_port
        );
        Err(section.conflict("kind", problem))
    }

    /// The most bytes that an admitted packet may find in its queue, and why.
    fn longest_found(&self, environment: &Environment) -> (u64, String) {
        let limit = match self.queue_limit {
            Amount::Packets(limit) => (limit - 1).saturating_mul(environment.full_packet.into()),
            Amount::Bytes(limit) => limit,
            Amount::Unlimited => u64::MAX,
        };
        if environment.capacity <= limit {
            return (environment.capacity, format!("its buffer holds {}", environment.capacity));
        }
        let written = self.queue_limit;
        (limit, format!("`queue_limit` = {written} refuses packets that find more than {limit}"))
    }

    /// The facts on which a switch's policies may depend. The caller sets the scheduler. The
    /// policies' buffer is what is not set aside for lossless packets.
    fn environment(
        &self,
        around: &Surroundings,
        switch: u32,
        pfc: Option<&PfcSettings>,
    ) -> Environment {
        let port_rates = port_rates(around.topology, switch);
        let capacity = self.buffer.bytes(port_rates.iter().copied());
        let left = |capacity| {
            let parts = pfc.map(|pfc| pfc.parts(around.topology, switch, capacity));
            capacity - parts.map_or(0, |parts| parts.set_aside())
        };
        let service = Service {
            scheduling: SchedulingPolicy::Fifo(Fifo),
            uncounted_bytes: self.uncounted_bytes,
            release_at_end: self.release_at_end,
            slot: None,
        };
        Environment {
            seed: around.seed,
            switch,
            names: Arc::clone(around.names),
            capacity: capacity.map_or(Buffer::UNLIMITED, left),
            port_rates,
            queues_per_port: self.queues_per_port,
            ack_queue_class: self.ack_queue,
            data_queue_class: self.data_queue,
            shares_ack_queues: around.shares_ack_queues,
            base_rtt: around.base_rtt,
            full_packet: around.transport.full_packet(),
            service,
            files: around.files.clone(),
        }
    }
}

impl TierSettings {
    /// Bytes of a switch's buffer; `None` if it is unlimited.
    pub fn capacity_of(&self, topology: &Topology, switch: u32) -> Option<u64> {
        self.settings.buffer.bytes(port_rates(topology, switch).into_iter())
    }

    /// Whether it has a policy of its own under this key.
    pub(super) fn has_own(&self, key: &str) -> bool {
        self.own.iter().any(|own| own == key)
    }

    /// Its sharing policy, and the parameters.
    pub(super) fn sharing(&self) -> (&Choice, &SharingParams) {
        (&self.settings.sharing, &self.params.sharing)
    }

    /// Its AQM, and the parameters.
    pub(super) fn aqm(&self) -> (&Choice, &AqmParams) {
        (&self.settings.aqm, &self.params.aqm)
    }

    /// Its scheduler, and the parameters.
    pub(super) fn scheduling(&self) -> (&Choice, &SchedulingParams) {
        (&self.settings.scheduling, &self.params.scheduling)
    }

    /// Whether its switches know what Longest Queue Drop does: they use it, or follow a virtual one
    /// with an oracle.
    pub fn teaches_oracles(&self) -> bool {
        let Choice { id, parameters, .. } = &self.settings.sharing;
        let thresholds = parameters.get("thresholds").and_then(Value::as_str);
        id == LongestQueueDrop::ID || (id == Credence::ID && thresholds != Some("code"))
    }

    /// Whether its switches learn from bursts.
    pub fn learns(&self) -> bool {
        self.settings.sharing.id == Smartbuf::ID
    }

    /// Whether an oracle of its switches replays recorded outcomes.
    pub fn has_recorded_fates(&self) -> bool {
        let oracle = self.settings.sharing.parameters.get("oracle");
        oracle.and_then(Value::as_str) == Some("trace")
    }

    /// The ids of the sharing, AQM and scheduling policies.
    pub fn policies(&self) -> [&str; 3] {
        let SwitchSettings { sharing, aqm, scheduling, .. } = &self.settings;
        [&sharing.id, &aqm.id, &scheduling.id]
    }
}

impl super::Scenario {
    /// The facts on which the policies of a switch depend.
    pub(super) fn environment_of(&self, switch: u32) -> Environment {
        let TierSettings { settings, params, pfc, .. } = &self.tiers[self.tier_of(switch)];
        let mut environment = settings.environment(&self.around(), switch, pfc.as_ref());
        environment.service.scheduling = params.scheduling.make(&environment);
        environment
    }

    /// Makes an empty switch.
    pub fn make_switch(&self, switch: u32) -> Switch {
        let tier = &self.tiers[self.tier_of(switch)];
        let TierSettings { settings, params, pfc, .. } = tier;
        let environment = self.environment_of(switch);
        let capacity = tier.capacity_of(&self.topology, switch).unwrap_or(Buffer::UNLIMITED);
        let mut made = Switch::new(SwitchParts {
            capacity,
            port_rates: environment.port_rates.clone(),
            queues_per_port: settings.queues_per_port,
            ack_queue_class: settings.ack_queue,
            data_queue_class: settings.data_queue,
            unmanaged: environment.unmanaged(),
            queue_limit: settings.queue_limit,
            uncounted_bytes: settings.uncounted_bytes,
            release_at_end: settings.release_at_end,
            sharing: params.sharing.make(&environment),
            aqm: params.aqm.make(&environment),
            scheduling: environment.service.scheduling,
            meter: Meter::new(capacity, self.warmup, self.duration),
            lossless: pfc.as_ref().map(|pfc| pfc.parts(&self.topology, switch, capacity)),
        });
        if let Some(limit) = settings.unimportant_bytes(&self.topology, switch) {
            made.limit_unimportant(limit);
        }
        made
    }
}

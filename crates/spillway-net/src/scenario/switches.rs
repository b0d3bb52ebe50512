//! `[switch]` and its tiers.

use super::choice::Choice;
use super::{Limits, Result};
use crate::extensions::Extensions;
use crate::topology::Topology;
use crate::transport::Transport;
use spillway_engine::{Rate, Time};
use spillway_settings::quantity::{Amount, BufferSize};
use spillway_settings::{Files, Section, SettingsError, Table, Value};
use spillway_switch::policy::Watch;
use spillway_switch::scheduling::{Fifo, SchedulingPolicy};
use spillway_switch::sharing::{LongestQueueDrop, Smartbuf};
use spillway_switch::{Buffer, Environment, Meter, Policy, Service, Switch, SwitchParts};
use std::sync::Arc;

/// The settings of a switch.
#[derive(Clone, Debug)]
pub struct SwitchSettings {
    /// The shared buffer.
    pub buffer: BufferSize,
    /// The most that one queue may hold.
    pub queue_limit: Amount,
    /// Queues of each port.
    pub queues_per_port: u32,
    /// The queue of acks and control packets.
    pub ack_queue: u8,
    /// The queue of data without a priority.
    pub data_queue: u8,
    /// Bytes of each packet that the buffer does not count.
    pub uncounted_bytes: u32,
    /// Packets that each port takes out of its queues ahead of time.
    pub port_fifo_packets: u32,
    release_at_end: bool,
    sharing: Choice,
    aqm: Choice,
    scheduling: Choice,
}

/// The settings of a tier's switches.
#[derive(Clone, Debug)]
pub struct TierSettings {
    /// The tier.
    pub tier: &'static str,
    /// What its switches are like.
    pub settings: SwitchSettings,
    /// What deserves a second look.
    pub warnings: Vec<String>,
}

/// What of the rest of the scenario a switch depends on.
pub(super) struct Place<'a> {
    pub topology: &'a Topology,
    pub seed: u64,
    pub base_rtt: Time,
    pub transport: &'a Transport,
    pub duration: Time,
    pub limits: &'a Limits,
    pub files: &'a Files,
    /// The names of all switches, by their numbers.
    pub names: &'a Arc<[String]>,
    pub extensions: &'a Extensions,
}

/// Reads `[switch]` and the tiers' own versions of it, the leaf tier first.
pub(super) fn read(mut section: Section, place: &Place) -> Result<(Vec<TierSettings>, Table)> {
    let mut tiers: Vec<&'static str> = vec!["leaf"];
    for switch in &place.topology.switches {
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
                return Err(section.error(tier, problem));
            }
        };
        own.push((tier, table));
    }
    let given = section.rest();
    let mut section = Section::new("switch", given.clone());
    section.also(tiers.iter().map(ToString::to_string));
    let base = SwitchSettings::read(&mut section, place.extensions)?;
    let mut resolved = section.finish()?;
    base.policies_of(place, "leaf", &mut resolved)?;
    let mut read = Vec::new();
    for (tier, own) in own {
        let (settings, warnings) = match own {
            None => {
                let warnings = base.policies_of(place, tier, &mut Table::new())?;
                (base.clone(), warnings)
            }
            Some(own) => {
                let mut merged = given.clone();
                merged.extend(own);
                let mut section = Section::new(format!("switch.{tier}"), merged);
                let settings = SwitchSettings::read(&mut section, place.extensions)?;
                let mut table = section.finish()?;
                let warnings = settings.policies_of(place, tier, &mut table)?;
                resolved.insert(tier.into(), Value::Table(table));
                (settings, warnings)
            }
        };
        read.push(TierSettings { tier, settings, warnings });
    }
    Ok((read, resolved))
}

fn port_rates(topology: &Topology, switch: u32) -> Vec<Rate> {
    let ports = &topology.switches[switch as usize].ports;
    ports.iter().map(|&link| topology.links[link as usize].rate).collect()
}

impl SwitchSettings {
    fn read(section: &mut Section, extensions: &Extensions) -> Result<SwitchSettings> {
        let buffer = section.buffer("buffer", "unlimited", "the buffer that all ports share")?;
        let meaning =
            "the most that one queue may hold, below the shared buffer; never more than 4 GiB";
        let queue_limit = section.amount("queue_limit", "unlimited", meaning)?;
        if let Amount::Bytes(0) | Amount::Packets(0) = queue_limit {
            let problem = format!("{queue_limit} is not valid; nothing would ever be queued");
            return Err(section.error("queue_limit", problem));
        }
        let queues = section.integer("queues_per_port", 1, 1..=64, "queues of each port")?;
        let last = queues - 1;
        let ack = section.integer("ack_queue", 0, 0..=last, "queue of acks and control packets")?;
        let meaning = "queue of data without a priority";
        let data = section.integer("data_queue", last.min(1), 0..=last, meaning)?;
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
            return Err(section.error("port_fifo_packets", problem));
        }
        let meaning = "how ports share the buffer";
        let ids = extensions.sharing_ids();
        let sharing = Choice::of(section.policy("sharing", "cs", ids, meaning)?);
        let meaning = "how data queues are managed";
        let aqm = Choice::of(section.policy("aqm", "none", extensions.aqm_ids(), meaning)?);
        let default = if queues == 1 { "fifo" } else { "rr" };
        let meaning = "which queue of a port sends next";
        let ids = SchedulingPolicy::IDS.iter().copied();
        let scheduling = Choice::of(section.policy("scheduling", default, ids, meaning)?);
        Ok(SwitchSettings {
            buffer,
            queue_limit,
            queues_per_port: queues as u32,
            ack_queue: ack as u8,
            data_queue: data as u8,
            uncounted_bytes: uncounted_bytes.min(u64::from(u32::MAX)) as u32,
            port_fifo_packets: port_fifo_packets as u32,
            release_at_end,
            sharing,
            aqm,
            scheduling,
        })
    }

    /// Reads the policies for a tier's first switch, so that what is wrong with them is found, and
    /// puts them, resolved, into `table`. Returns what deserves a second look.
    fn policies_of(&self, place: &Place, tier: &str, table: &mut Table) -> Result<Vec<String>> {
        let switch = place.topology.switches.iter().position(|s| s.tier == tier).unwrap_or(0);
        let environment = self.environment(place, switch as u32)?;
        let mut warnings = Vec::new();
        let mut read = |key: &str, choice: &Choice, read: &dyn Fn(&mut Section) -> Result<()>| {
            let resolved = choice.resolve(|section| {
                read(section)?;
                warnings.extend_from_slice(section.warnings());
                Ok(())
            })?;
            table.insert(key.into(), resolved);
            Ok::<_, SettingsError>(())
        };
        let switches = place.topology.switches.iter().filter(|s| s.tier == tier).count();
        let check = |path: &str, policy: &dyn Watch| match policy.period() {
            None => Ok(()),
            Some(period) => place.limits.check_samples(path, period, switches, place.duration),
        };
        read("sharing", &self.sharing, &|s| {
            let policy = place.extensions.read_sharing(&self.sharing.id, s, &environment)?;
            check(s.path(), &policy)
        })?;
        read("aqm", &self.aqm, &|s| {
            let policy = place.extensions.read_aqm(&self.aqm.id, s, &environment)?;
            check(s.path(), &policy)
        })?;
        read("scheduling", &self.scheduling, &|s| {
            SchedulingPolicy::read(&self.scheduling.id, s, &environment).map(drop)
        })?;
        Ok(warnings)
    }

    /// What the policies of a switch may depend on.
    fn environment(&self, place: &Place, switch: u32) -> Result<Environment> {
        let port_rates = port_rates(place.topology, switch);
        let capacity = self.buffer.bytes(port_rates.iter().copied());
        let service = Service {
            scheduling: SchedulingPolicy::Fifo(Fifo),
            uncounted_bytes: self.uncounted_bytes,
            release_at_end: self.release_at_end,
            slot: None,
        };
        let mut environment = Environment {
            seed: place.seed,
            switch,
            names: Arc::clone(place.names),
            capacity: capacity.unwrap_or(Buffer::UNLIMITED),
            port_rates,
            queues_per_port: self.queues_per_port,
            ack_class: self.ack_queue,
            data_class: self.data_queue,
            base_rtt: place.base_rtt,
            full_packet: place.transport.full_packet(),
            service,
            files: place.files.clone(),
        };
        let Choice { id, .. } = &self.scheduling;
        environment.service.scheduling =
            SchedulingPolicy::read(id, &mut self.scheduling.section(), &environment)?;
        Ok(environment)
    }
}

impl TierSettings {
    /// Bytes of a switch's buffer; `None` if it is unlimited.
    pub fn capacity_of(&self, topology: &Topology, switch: u32) -> Option<u64> {
        self.settings.buffer.bytes(port_rates(topology, switch).into_iter())
    }

    /// Whether its switches drop from the longest queue.
    pub fn drops_longest_queue(&self) -> bool {
        self.settings.sharing.id == LongestQueueDrop::ID
    }

    /// Whether its switches learn of bursts.
    pub fn learns(&self) -> bool {
        self.settings.sharing.id == Smartbuf::ID
    }

    /// Whether an oracle of its switches repeats recorded fates.
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
    /// Makes a switch, empty.
    pub fn make_switch(&self, switch: u32) -> Switch {
        let tier = &self.tiers[self.tier_of(switch)];
        let settings = &tier.settings;
        let read = "a policy that was read once reads again";
        let environment = settings.environment(&self.place(), switch).expect(read);
        let SwitchSettings { sharing, aqm, .. } = settings;
        Switch::new(SwitchParts {
            capacity: environment.capacity,
            port_rates: environment.port_rates.clone(),
            queues_per_port: settings.queues_per_port,
            ack_class: settings.ack_queue,
            data_class: settings.data_queue,
            queue_limit: settings.queue_limit,
            uncounted_bytes: settings.uncounted_bytes,
            release_at_end: settings.release_at_end,
            sharing: self
                .extensions
                .read_sharing(&sharing.id, &mut sharing.section(), &environment)
                .expect(read),
            aqm: self.extensions.read_aqm(&aqm.id, &mut aqm.section(), &environment).expect(read),
            scheduling: environment.service.scheduling,
            meter: Meter::new(environment.capacity, self.warmup, self.duration),
        })
    }
}

//! Switches and hosts' NICs.

use super::super::{has_port_fifos, nic, pfc};
use crate::scenario::switches::{self, Reading};
use crate::scenario::tags::Tags;
use crate::scenario::{DisciplineSettings, NicSettings, Receiving, Result, TierSettings};
use spillway_settings::{ErrorKind, Section, Table};
use spillway_transport::Transport;

/// What is read of switches and NICs.
pub(super) struct Devices {
    switch_given: Table,
    pub tiers: Vec<TierSettings>,
    pub nic: NicSettings,
    pub discipline: Option<DisciplineSettings>,
    pub receiving: Option<Receiving>,
    pub pauses_acks: bool,
}

impl Devices {
    pub fn read(root: &mut Section, reading: &Reading, tags: &Tags) -> Result<Devices> {
        let topology = reading.around.topology;
        let switch_given = root.section("switch")?.rest();
        let (tiers, table) = switches::read(Section::new("switch", switch_given.clone()), reading)?;
        pfc::check_tiers(&tiers)?;
        root.put("switch", table);
        let mut section = root.section("nic")?;
        let (nic, discipline) = nic::read(&mut section, &tiers[0].settings, reading)?;
        let meaning = "whether pause frames stop acks, too, where they share a paused priority";
        let pauses_acks = section.flag("pauses_acks", true, meaning)?;
        let has_pfc = tiers[0].pfc.is_some();
        let receiving = Receiving::read(&mut section, topology, has_pfc)?;
        nic::check_pauses(&section, &nic, has_pfc)?;
        pfc::check_order(topology, &tiers)?;
        root.put("nic", section.finish()?);
        tags.check(&tiers, &nic)?;
        let ports = |tier| {
            let settings = tiers.iter().find(|settings| settings.tier == tier);
            settings.map_or((1, 0), |tier| {
                (tier.settings.queues_per_port, tier.settings.port_fifo_packets)
            })
        };
        reading.limits.check_queues(topology, ports, &nic)?;
        Ok(Devices { switch_given, tiers, nic, discipline, receiving, pauses_acks })
    }

    /// Now that all transports are known: reads what depends on the largest packet once more, and
    /// checks that devices and transports suit each other.
    pub fn suit(
        &mut self,
        root: &mut Section,
        mut reading: Reading,
        transports: &[Transport],
    ) -> Result<()> {
        let topology = reading.around.topology;
        let largest = transports.iter().map(Transport::full_packet).max().unwrap_or(0);
        if largest > reading.largest_packet && self.tiers.iter().any(|tier| tier.pfc.is_some()) {
            // Headroom is computed for the packets of all transports.
            reading.largest_packet = largest;
            let section = Section::new("switch", std::mem::take(&mut self.switch_given));
            let (tiers, table) = switches::read(section, &reading)?;
            self.tiers = tiers;
            root.put("switch", table);
        }
        let tiers = &self.tiers;
        check_sizes(tiers, transports)?;
        let lossless = tiers.iter().filter_map(|tier| Some((tier.tier, tier.pfc.as_ref()?)));
        pfc::check_packets(lossless, largest)?;
        if let (Some(receiving), Some(pfc)) = (&mut self.receiving, &tiers[0].pfc) {
            receiving.set_aside(topology, pfc, tiers[0].settings.queues_per_port)?;
        }
        self.discipline.iter().try_for_each(|discipline| discipline.check(transports))?;
        check_recorded_fates(tiers, transports)
    }

    /// Whether any port has a ring.
    pub fn have_port_fifos(&self) -> bool {
        has_port_fifos(&self.tiers, &self.nic)
    }
}

fn check_sizes(tiers: &[TierSettings], transports: &[Transport]) -> Result<()> {
    let smallest = transports.iter().map(|t| t.ack_size.min(t.header + 1)).min().unwrap_or(0);
    for tier in tiers {
        if tier.settings.uncounted_bytes >= smallest {
            let problem = format!("must be less than the smallest packet, {smallest}B");
            return Err(ErrorKind::Conflict.at("switch.uncounted_bytes", problem));
        }
    }
    Ok(())
}

fn check_recorded_fates(tiers: &[TierSettings], transports: &[Transport]) -> Result<()> {
    let reacts = transports.iter().find(|transport| transport.closed_loop().is_some());
    if let (Some(_), Some(transport)) = (tiers.iter().find(|t| t.has_recorded_fates()), reacts) {
        let problem = format!(
            "\"trace\" is not valid with transport = {:?}, whose packets are others when other \
             packets are lost; recorded fates need \"udp\"",
            transport.kind
        );
        return Err(ErrorKind::Conflict.at("switch.sharing.oracle", problem));
    }
    Ok(())
}

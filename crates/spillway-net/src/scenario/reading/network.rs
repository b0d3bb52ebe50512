//! The network: topology, the transport that all traffic has by default, and routing.

use super::Head;
use crate::scenario::{Limits, Result, RoutingSettings, Sources, switches};
use spillway_engine::Time;
use spillway_settings::{Files, Reader, Section, Table};
use spillway_topology::Topology;
use spillway_transport::Transport;
use std::sync::Arc;

/// What is read of a network.
pub(super) struct Network {
    pub topology: Topology,
    pub base_rtt: Time,
    pub routing: RoutingSettings,
    pub transport: Transport,
    /// The transport's section as it is given, and with every value written out.
    pub transport_given: Table,
    pub transport_table: Table,
    /// The names of all switches, by their numbers.
    pub names: Arc<[String]>,
    pub files: Files,
}

impl Network {
    pub fn read(root: &mut Section, head: &Head, sources: &Sources) -> Result<Network> {
        let mut section = root.section("topology")?;
        let mut topology = spillway_topology::read(&mut section, sources.folder)?;
        topology.set_clocks(head.seed);
        Limits::check_lines(topology.lines.len())?;
        let mut transport_section = root.section("transport")?;
        let transport_given = transport_section.rest();
        let mut transport_section = Section::new("transport", transport_given.clone());
        let transport = Transport::read(&mut transport_section, &sources.extensions.hosts)?;
        let transport_table = transport_section.finish()?;
        let meaning = "round trip of the empty network: bandwidth-delay products and intervals \
                       hang on it; by default that of a full packet and its ack";
        let given = section.optional("base_rtt", |s| s.positive_time("base_rtt", "", meaning))?;
        let base_rtt = given.unwrap_or_else(|| {
            // This takes time in a large network.
            let base_rtt = spillway_topology::base_rtt(&topology, transport.full_packet().into());
            section.put("base_rtt", base_rtt.to_string());
            base_rtt
        });
        root.put("topology", section.finish()?);

        let mut section = root.section("routing")?;
        let routing = RoutingSettings::read(&mut section, topology.hosts())?;
        root.put("routing", section.finish()?);

        let names: Arc<[String]> = topology.switch_names().into();
        let files = Files::of(sources.folder).with(sources.records.clone().map(|records| {
            let switches = Arc::clone(&names);
            Reader(Arc::new(move |kind, key, name| records(kind, key, name, &switches)))
        }));
        Ok(Network {
            topology,
            base_rtt,
            routing,
            transport,
            transport_given,
            transport_table,
            names,
            files,
        })
    }

    /// The facts on which the policies of switches and NICs depend.
    pub fn around(&self, seed: u64, shares_ack_queues: bool) -> switches::Surroundings<'_> {
        switches::Surroundings {
            topology: &self.topology,
            seed,
            base_rtt: self.base_rtt,
            transport: &self.transport,
            shares_ack_queues,
            files: &self.files,
            names: &self.names,
        }
    }
}

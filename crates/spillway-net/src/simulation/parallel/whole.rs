//! The whole of a run in parts: what it borrows from them, and what it adds up.

use crate::network::Totals;
use crate::simulation::Simulation;
use spillway_topology::Node;

impl Simulation {
    /// Exchanges the switches, lines and NICs of every part with those that the whole has in their
    /// places. Done once, the whole has what the parts had; done twice, nothing has changed.
    pub(super) fn lend_and_take(&mut self, parts: &mut [Box<Simulation>]) {
        let whole = &mut self.network;
        for part in parts {
            let (Some(own), of_part) = (&part.part, &mut part.network) else { return };
            for line in 0..whole.lines.len() {
                // A part has the state of the lines on which it sends.
                if own.has(whole.sender_on(line as u32)) {
                    whole.swap_line(line, of_part);
                }
            }
            for switch in 0..whole.switches.len() {
                if own.has(Node::Switch(switch as u32)) {
                    std::mem::swap(&mut whole.switches[switch], &mut of_part.switches[switch]);
                }
            }
            for host in 0..whole.nics.len() {
                if own.has(Node::Host(host as u32)) {
                    std::mem::swap(&mut whole.nics[host], &mut of_part.nics[host]);
                }
            }
        }
    }

    /// Takes over the pauses that act in the parts.
    pub(super) fn take_open_pauses(&mut self, parts: &mut [Box<Simulation>]) {
        let Some(pausing) = &mut self.network.pausing else { return };
        for of_part in parts.iter_mut().filter_map(|part| part.network.pausing.as_deref_mut()) {
            pausing.take_open(of_part);
        }
    }

    /// Takes over what the parts have counted since this was done last.
    pub(super) fn add_up(&mut self, parts: &mut [Box<Simulation>]) {
        if let Some(pausing) = &mut self.network.pausing {
            pausing.add_up(parts.iter_mut().filter_map(|part| part.network.pausing.as_deref_mut()));
        }
        for part in parts {
            let network = &mut part.network;
            self.network.now = self.network.now.max(network.now);
            self.network.packet_hops += std::mem::take(&mut network.packet_hops);
            self.network.totals += std::mem::take::<Totals>(&mut network.totals);
            self.counters.events += std::mem::take(&mut part.counters.events);
            let drops = std::mem::take(&mut part.counters.drops);
            self.counters.drops.iter_mut().zip(drops).for_each(|(sum, more)| *sum += more);
            self.hosts.add_up(&mut part.hosts);
        }
    }
}

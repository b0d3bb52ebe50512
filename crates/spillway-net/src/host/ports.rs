//! The ports of flows. Switches hash them if they choose next hops as those of the RDMA simulators
//! do.

use super::Hosts;
use super::connections::Idle;
use spillway_topology::routing::murmur3;
use spillway_transport::flow::FlowSpec;
use std::collections::BTreeMap;

/// How many connections each host has opened to each other host.
#[derive(Clone, Debug, Default)]
pub(super) struct Ports {
    opened: BTreeMap<(u32, u32), u32>,
}

impl Ports {
    /// The port of a new connection.
    fn open(&mut self, spec: &FlowSpec) -> u16 {
        let opened = self.opened.entry((spec.src, spec.dst)).or_default();
        let port = murmur3::port_after(*opened);
        *opened = opened.wrapping_add(1);
        port
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        (self.opened.len() * size_of::<((u32, u32), u32)>()) as u64
    }
}

impl Hosts {
    /// The port of a flow that starts, on an idle connection or on one that it opens.
    pub(super) fn port_of(&mut self, spec: &FlowSpec, idle: Option<Idle>) -> u16 {
        let Some(Idle { slot, .. }) = idle else { return self.ports.open(spec) };
        // A path that is given is no hash. If both paths are given, the port is not needed.
        match spec.path {
            None => self.ends.sending(slot).flow.path as u16,
            Some(_) => self.ends.receiving(slot).ack_path as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::flow;

    #[test]
    fn each_pair_of_hosts_has_ports_of_its_own() {
        let mut ports = Ports::default();
        let pairs = [(0, 1), (0, 1), (1, 0), (0, 2), (0, 1)];
        let opened = pairs.map(|(src, dst)| ports.open(&flow(src, dst, 960)));
        assert_eq!(opened, [10_000, 10_001, 10_000, 10_000, 10_002]);
        assert_eq!(ports.bytes(), 3 * 12);
    }
}

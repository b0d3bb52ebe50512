//! Hosts around one switch.
//!
//! The switch's ports are its hosts, in order.

use super::Topology;
use super::kinds::{MAX_HOSTS, host_rate, link_delay};
use spillway_settings::{Section, SettingsError};
use std::path::Path;

pub(super) fn read(section: &mut Section, _folder: &Path) -> Result<Topology, SettingsError> {
    let hosts = section.integer("hosts", 16, 2..=MAX_HOSTS, "Hosts on the switch.")?;
    let rate = host_rate(section)?;
    let delay = link_delay(section)?;

    let mut topology = Topology::default();
    let switch = topology.add_switch("leaf");
    for _ in 0..hosts {
        topology.add_host(switch, rate, delay);
    }
    Ok(topology)
}

#[cfg(test)]
mod tests {
    use super::super::kinds::{port_ends, read_text};
    use super::super::{Node, base_rtt};
    use spillway_engine::Time;

    #[test]
    fn every_port_is_a_host() {
        let star = read_text("kind = \"star\"\nhosts = 3\nlink_delay = \"1us\"").unwrap();
        assert_eq!((star.hosts(), star.switches.len(), star.lines.len()), (3, 1, 6));
        assert_eq!(port_ends(&star, 0), [Node::Host(0), Node::Host(1), Node::Host(2)]);
        assert_eq!((star.switches[0].tier, star.uplink_rate_of_leaf(0)), ("leaf", 0));
        // Over 2 links of 1 us there and back; 1500 B * 0.8 ns = 1.2 us.
        assert_eq!(base_rtt(&star, 1_500), Time::from_ns(5_200));
    }
}

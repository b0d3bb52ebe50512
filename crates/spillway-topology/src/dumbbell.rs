//! Senders on one switch, receivers on another, and one link between the two: the bottleneck.
//!
//! Senders are the first hosts, on switch 0; receivers follow, on switch 1. A switch's ports are
//! its hosts, in order, then the bottleneck.

use super::Topology;
use super::kinds::{MAX_HOSTS, Size, delay, host_rate, link_delay};
use spillway_settings::{Section, SettingsError};
use std::path::Path;

pub(super) fn read(section: &mut Section, _folder: &Path) -> Result<Topology, SettingsError> {
    let senders = section.integer("senders", 2, 1..=MAX_HOSTS, "Hosts on the first switch.")?;
    let receivers =
        section.integer("receivers", 2, 1..=MAX_HOSTS, "Hosts on the second switch.")?;
    let host_rate = host_rate(section)?;
    let bottleneck_rate = section.rate(
        "bottleneck_rate",
        &host_rate.to_string(),
        "Rate of the link between the switches; by default that of the hosts' links.",
    )?;
    let link_delay = link_delay(section)?;
    let bottleneck_delay = delay(
        section,
        "bottleneck_delay",
        &link_delay.to_string(),
        "Delay of the link between the switches; by default `link_delay`.",
    )?;
    Size { hosts: senders + receivers, racks: 2, switches: 2, links: 1 }.check(section)?;

    let mut topology = Topology::default();
    for hosts in [senders, receivers] {
        let switch = topology.add_switch("leaf");
        for _ in 0..hosts {
            topology.add_host(switch, host_rate, link_delay);
        }
    }
    topology.add_link(0, 1, bottleneck_rate, bottleneck_delay);
    Ok(topology)
}

#[cfg(test)]
mod tests {
    use super::super::kinds::{port_ends, read_text};
    use super::super::{Node, base_rtt};
    use spillway_engine::Time;

    #[test]
    fn senders_meet_receivers_over_one_link() {
        let text = "kind = \"dumbbell\"\nsenders = 3\nreceivers = 1\n\
                    bottleneck_rate = \"1Gbps\"\nbottleneck_delay = \"10us\"\nlink_delay = \"1us\"";
        let dumbbell = read_text(text).unwrap();
        let racks: Vec<u32> = (0..4).map(|host| dumbbell.rack_of(host)).collect();
        assert_eq!(racks, [0, 0, 0, 1]);
        assert_eq!(
            port_ends(&dumbbell, 0),
            [Node::Host(0), Node::Host(1), Node::Host(2), Node::Switch(1)]
        );
        assert_eq!(port_ends(&dumbbell, 1), [Node::Host(3), Node::Switch(0)]);
        assert_eq!(dumbbell.uplink_rate_of_leaf(0), 1_000_000_000);
        // 2 * (1 + 10 + 1) us; 1500 B at 1 Gbps take 12 us.
        assert_eq!(base_rtt(&dumbbell, 1_500), Time::from_us(36));
    }
}

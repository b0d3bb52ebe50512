//! Two tiers: hosts on leaves, and every leaf connected to every spine.
//!
//! Leaves are the first switches, spines follow. Host `h` is host `h % hosts_per_leaf` of leaf
//! `h / hosts_per_leaf`. A leaf's ports are its hosts, in order, then its uplinks by (spine,
//! parallel link); a spine's are by (leaf, parallel link).

use super::Topology;
use super::kinds::{MAX_HOSTS, Size, delay, host_rate, link_delay};
use spillway_settings::{Section, SettingsError};
use std::path::Path;

pub(super) fn read(section: &mut Section, _folder: &Path) -> Result<Topology, SettingsError> {
    let any = 1..=MAX_HOSTS;
    let leaves = section.integer("leaves", 16, any.clone(), "Switches with hosts.")?;
    let spines = section.integer("spines", 4, any.clone(), "Switches that connect the leaves.")?;
    let hosts_per_leaf =
        section.integer("hosts_per_leaf", 16, any.clone(), "Hosts on every leaf.")?;
    let links_per_pair =
        section.integer("links_per_pair", 1, any, "Parallel links between a leaf and a spine.")?;
    let host_rate = host_rate(section)?;
    let fabric_rate = section.rate(
        "fabric_rate",
        &host_rate.to_string(),
        "Rate of the links between leaves and spines; by default that of the hosts' links.",
    )?;
    let link_delay = link_delay(section)?.to_string();
    let host_delay = delay(
        section,
        "host_delay",
        &link_delay,
        "Delay of the hosts' links; by default `link_delay`.",
    )?;
    let fabric_delay = delay(
        section,
        "fabric_delay",
        &link_delay,
        "Delay of the links between leaves and spines; by default `link_delay`.",
    )?;
    Size {
        hosts: leaves * hosts_per_leaf,
        racks: leaves,
        switches: leaves + spines,
        links: leaves * spines * links_per_pair,
    }
    .check(section)?;

    let (leaves, spines) = (leaves as u32, spines as u32);
    let mut topology = Topology { are_racks_alike: true, ..Topology::default() };
    for _ in 0..leaves {
        let leaf = topology.add_switch("leaf");
        for _ in 0..hosts_per_leaf {
            topology.add_host(leaf, host_rate, host_delay);
        }
    }
    for _ in 0..spines {
        topology.add_switch("spine");
    }
    for leaf in 0..leaves {
        for spine in leaves..leaves + spines {
            for _ in 0..links_per_pair {
                topology.add_link(leaf, spine, fabric_rate, fabric_delay);
            }
        }
    }
    Ok(topology)
}

#[cfg(test)]
mod tests {
    use super::super::kinds::{port_ends as ports, read_text};
    use super::super::{Node, base_rtt};
    use Node::{Host, Switch};
    use spillway_engine::Time;

    #[test]
    fn ports_are_hosts_then_uplinks_by_spine_and_parallel_link() {
        let text = "kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 2\n\
                    links_per_pair = 2\nhost_rate = \"25Gbps\"\nfabric_rate = \"100Gbps\"";
        let network = read_text(text).unwrap();
        // 3 * 2 links of hosts and 3 * 2 * 2 between switches, with two lines each.
        assert_eq!((network.hosts(), network.lines.len()), (6, 36));
        let tiers: Vec<&str> = network.switches.iter().map(|switch| switch.tier).collect();
        assert_eq!(tiers, ["leaf", "leaf", "leaf", "spine", "spine"]);
        let leaf_1 = [Host(2), Host(3), Switch(3), Switch(3), Switch(4), Switch(4)];
        assert_eq!(ports(&network, 1), leaf_1);
        let spine_0 = [Switch(0), Switch(0), Switch(1), Switch(1), Switch(2), Switch(2)];
        assert_eq!(ports(&network, 3), spine_0);
        // Ports of parallel links are in the order in which these were added.
        let (up, down) = (&network.switches[1].ports, &network.switches[3].ports);
        assert_eq!([up[2] ^ 1, up[3] ^ 1], [down[2], down[3]]);
        // 4 uplinks of 100 Gbps above 2 hosts of 25 Gbps.
        assert_eq!(network.uplink_rate_of_leaf(1), 400_000_000_000);
    }

    #[test]
    fn a_base_rtt_of_25_2_microseconds() {
        // 16 leaves, 4 spines, 256 hosts; 8 links of 3 us, and 1500 B * 0.8 ns = 1.2 us.
        let network = read_text("kind = \"leaf-spine\"").unwrap();
        assert_eq!((network.hosts(), network.switches.len()), (256, 20));
        assert_eq!(base_rtt(&network, 1_500), Time::from_ns(25_200));
    }

    #[test]
    fn each_tier_may_have_its_own_delay() {
        let text = "kind = \"leaf-spine\"\nlink_delay = \"1us\"\nfabric_delay = \"5us\"";
        let network = read_text(text).unwrap();
        // 2 * (1 + 5 + 5 + 1) us + 1.2 us.
        assert_eq!(base_rtt(&network, 1_500), Time::from_ns(25_200));
        let text = "kind = \"leaf-spine\"\nlink_delay = \"1us\"\nhost_delay = \"0us\"";
        // 2 * (0 + 1 + 1 + 0) us + 1.2 us.
        assert_eq!(base_rtt(&read_text(text).unwrap(), 1_500), Time::from_ns(5_200));
    }
}

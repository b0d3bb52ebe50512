//! Three tiers of equal switches with `k` ports each, so that every tier carries what the one
//! below it can send.
//!
//! There are `k` pods, each of `k/2` edge switches (tier `leaf`) and `k/2` aggregation switches;
//! every edge switch has `k/2` hosts. Aggregation switch `j` of every pod is connected to the `k/2`
//! core switches from `j k/2` on. Edge switches are the first switches, pod by pod, then come the
//! aggregation switches, pod by pod, then the core. Host `h` is on edge switch `h / (k/2)`. A
//! switch's ports are its downlinks, then its uplinks, each in the order of the hosts or switches
//! at their other ends.
//!
//! # Reference
//! M. Al-Fares, A. Loukissas, A. Vahdat, "A scalable, commodity data center network architecture",
//! SIGCOMM 2008. doi:10.1145/1402958.1402967

use super::Topology;
use super::kinds::{Size, delay, host_rate, link_delay};
use spillway_settings::{ErrorKind, Section, SettingsError};
use std::path::Path;

pub(super) fn read(section: &mut Section, _folder: &Path) -> Result<Topology, SettingsError> {
    // 158^3 / 4 = 986,078 hosts.
    let k = section.integer("k", 4, 2..=158, "Ports of every switch, an even number.")?;
    if k % 2 == 1 {
        let problem = format!("{k} is not valid; expected an even whole number from 2 to 158");
        return Err(section.error(ErrorKind::WrongValue, "k", problem));
    }
    let host_rate = host_rate(section)?;
    let fabric_rate = section
        .rate(
            "fabric_rate",
            &host_rate.to_string(),
            "Rate of the links between switches; by default that of the hosts' links.",
        )?
        .to_string();
    let aggregation_rate = section.rate(
        "aggregation_rate",
        &fabric_rate,
        "Rate between edge and aggregation; by default `fabric_rate`.",
    )?;
    let core_rate = section.rate(
        "core_rate",
        &fabric_rate,
        "Rate between aggregation and core; by default `fabric_rate`.",
    )?;
    let link_delay = link_delay(section)?.to_string();
    let host_delay = delay(
        section,
        "host_delay",
        &link_delay,
        "Delay of the hosts' links; by default `link_delay`.",
    )?;
    let aggregation_delay = delay(
        section,
        "aggregation_delay",
        &link_delay,
        "Delay between edge and aggregation; by default `link_delay`.",
    )?;
    let core_delay = delay(
        section,
        "core_delay",
        &link_delay,
        "Delay between aggregation and core; by default `link_delay`.",
    )?;
    let half = k / 2;
    Size {
        hosts: k * half * half,
        racks: k * half,
        switches: 2 * k * half + half * half,
        links: 2 * k * half * half,
    }
    .check(section)?;

    let (k, half) = (k as u32, half as u32);
    let mut topology = Topology { are_racks_alike: true, ..Topology::default() };
    for _ in 0..k * half {
        let edge = topology.add_switch("leaf");
        for _ in 0..half {
            topology.add_host(edge, host_rate, host_delay);
        }
    }
    let first_aggregation = k * half;
    for _ in 0..k * half {
        topology.add_switch("aggregation");
    }
    let first_core = 2 * k * half;
    for _ in 0..half * half {
        topology.add_switch("core");
    }
    for edge in 0..k * half {
        let pod = edge / half;
        for j in 0..half {
            let aggregation = first_aggregation + pod * half + j;
            topology.add_link(edge, aggregation, aggregation_rate, aggregation_delay);
        }
    }
    for place in 0..k * half {
        let j = place % half;
        for core in j * half..(j + 1) * half {
            topology.add_link(first_aggregation + place, first_core + core, core_rate, core_delay);
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
    fn a_fat_tree_of_four_port_switches() {
        // 4 pods of 2 edge (0..8) and 2 aggregation switches (8..16), 4 core switches (16..20).
        let tree = read_text("kind = \"fat-tree\"\nk = 4").unwrap();
        assert_eq!((tree.hosts(), tree.switches.len(), tree.lines.len()), (16, 20, 96));
        assert!(tree.switches.iter().all(|switch| switch.ports.len() == 4));
        let count = |tier| tree.switches.iter().filter(|switch| switch.tier == tier).count();
        assert_eq!((count("leaf"), count("aggregation"), count("core")), (8, 8, 4));
        // Edge 3 is the second of pod 1, whose aggregation switches are 10 and 11.
        assert_eq!(ports(&tree, 3), [Host(6), Host(7), Switch(10), Switch(11)]);
        assert_eq!(ports(&tree, 11), [Switch(2), Switch(3), Switch(18), Switch(19)]);
        // Core 17 is one of the first aggregation switches' pair.
        assert_eq!(ports(&tree, 17), [Switch(8), Switch(10), Switch(12), Switch(14)]);
    }

    #[test]
    fn each_tier_may_have_its_own_rate_and_delay() {
        let text = "kind = \"fat-tree\"\nk = 4\nlink_delay = \"1us\"\ncore_delay = \"4us\"\n\
                    fabric_rate = \"40Gbps\"\ncore_rate = \"5Gbps\"";
        let tree = read_text(text).unwrap();
        assert_eq!(tree.uplink_rate_of_leaf(0), 80_000_000_000);
        // 2 * (1 + 1 + 4 + 4 + 1 + 1) us; 1500 B at 5 Gbps take 2.4 us.
        assert_eq!(base_rtt(&tree, 1_500), Time::from_ns(26_400));
    }

    #[test]
    fn the_number_of_ports_is_even() {
        let error = read_text("kind = \"fat-tree\"\nk = 5").unwrap_err();
        assert_eq!(
            error.to_string(),
            "topology.k: 5 is not valid; expected an even whole number from 2 to 158"
        );
    }
}

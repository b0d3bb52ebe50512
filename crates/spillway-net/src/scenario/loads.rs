//! Compares what hosts are asked to send and receive with what their lines, and the uplinks, carry.
//!
//! A load that is a share of uplinks does not consider hosts: if they are few or slow, they may be
//! unable to send or receive it. Flows then pile up at hosts, and results only show how long the
//! run was.

use spillway_engine::Time;
use spillway_topology::{Node, Topology};
use spillway_traffic::{Demand, Source};
use spillway_transport::Transport;
use std::collections::BTreeSet;

/// A line is overloaded above this share. Averages are sums of floats, whose error is smaller.
const FULL: f64 = 1.0 + 1e-9;

/// The demand of all traffic sections on hosts, headers included.
pub(super) struct Loads<'a> {
    topology: &'a Topology,
    racks: Areas,
    /// `None` if the links between pods carry everything that racks can send.
    pods: Option<Areas>,
    sections: Vec<Section<'a>>,
}

/// The demand of a section.
struct Section<'a> {
    name: &'a str,
    demand: Demand,
    /// The part of the demand that stays within each rack.
    inside_racks: Vec<f64>,
    /// The part that stays within each pod. Empty if pods are not considered.
    inside_pods: Vec<f64>,
}

/// Racks in areas, and the links between areas.
struct Areas {
    /// The area of every rack.
    area_of: Vec<usize>,
    /// The area of every host.
    of_host: Vec<usize>,
    /// The switch of each area's first rack.
    first: Vec<u32>,
    /// The total rate, in bits per second, of the links that leave each area.
    rates: Vec<f64>,
}

impl Areas {
    /// Areas from the area of every rack and, in any order, rates that leave areas.
    fn of(topology: &Topology, area_of: Vec<usize>, leaving: &[(usize, u64)]) -> Areas {
        let racks = topology.racks();
        let number = area_of.iter().max().map_or(0, |last| last + 1);
        let (mut first, mut rates) = (vec![0; number], vec![0.0; number]);
        let mut of_switch = vec![0; topology.switches.len()];
        for (&rack, &area) in racks.iter().zip(&area_of).rev() {
            first[area] = rack;
            of_switch[rack as usize] = area;
        }
        leaving.iter().for_each(|&(area, rate)| rates[area] += rate as f64);
        let of_host = (0..topology.hosts()).map(|host| of_switch[topology.rack_of(host) as usize]);
        Areas { of_host: of_host.collect(), area_of, first, rates }
    }

    /// Every rack is an area.
    fn racks(topology: &Topology) -> Areas {
        let rate = |&leaf: &u32| topology.uplink_rate_of_leaf(leaf);
        let leaving: Vec<(usize, u64)> = topology.racks().iter().map(rate).enumerate().collect();
        Areas::of(topology, (0..leaving.len()).collect(), &leaving)
    }

    /// Each pod, that is, all racks that are connected without core switches, is an area. `None` if
    /// all racks are in one pod, or if the links to the core are nowhere narrower than the racks'
    /// uplinks.
    fn pods(topology: &Topology) -> Option<Areas> {
        let is_core = |switch: u32| topology.switches[switch as usize].tier == "core";
        let racks = topology.racks();
        let mut pod_of = vec![usize::MAX; topology.switches.len()];
        let (mut pods, mut leaving, mut uplinks) = (0, Vec::new(), Vec::new());
        for &rack in &racks {
            if pod_of[rack as usize] == usize::MAX {
                pod_of[rack as usize] = pods;
                let mut found = vec![rack];
                while let Some(switch) = found.pop() {
                    for &line in &topology.switches[switch as usize].ports {
                        let line = &topology.lines[line as usize];
                        match line.to {
                            Node::Switch(to) if is_core(to) => {
                                leaving.push((pods, line.rate.bits_per_second()));
                            }
                            Node::Switch(to) if pod_of[to as usize] == usize::MAX => {
                                pod_of[to as usize] = pods;
                                found.push(to);
                            }
                            _ => {}
                        }
                    }
                }
                pods += 1;
                uplinks.push(0.0);
            }
            uplinks[pod_of[rack as usize]] += topology.uplink_rate_of_leaf(rack) as f64;
        }
        let area_of = racks.iter().map(|&rack| pod_of[rack as usize]).collect();
        let pods = Areas::of(topology, area_of, &leaving);
        let are_narrower = pods.rates.iter().zip(&uplinks).any(|(rate, uplinks)| rate < uplinks);
        (pods.first.len() > 1 && are_narrower).then_some(pods)
    }

    /// The demand of a section across the borders of areas: what leaves each area, or what enters
    /// it.
    fn across(&self, of_hosts: &[f64], inside: &[f64]) -> Vec<f64> {
        let mut across: Vec<f64> = inside.iter().map(|bps| -bps).collect();
        of_hosts.iter().zip(&self.of_host).for_each(|(bps, &area)| across[area] += bps);
        across
    }
}

/// Whether hosts are considered as senders or as receivers.
#[derive(Clone, Copy)]
enum Side {
    Senders,
    Receivers,
}

impl<'a> Loads<'a> {
    /// No demand yet.
    pub fn of(topology: &'a Topology) -> Loads<'a> {
        let (racks, pods) = (Areas::racks(topology), Areas::pods(topology));
        Loads { topology, racks, pods, sections: Vec::new() }
    }

    /// Adds the demand of a section.
    pub fn add(&mut self, source: &'a Source, transport: &Transport) {
        let Some(mut demand) = source.demand() else { return };
        // A flow has at least one packet, and a header on each packet.
        let mean = source.mean_size().unwrap_or(f64::INFINITY);
        let packets_per_byte = (1.0 / f64::from(transport.mss)).max(1.0 / mean);
        let on_the_wire = 1.0 + f64::from(transport.header) * packets_per_byte;
        demand.sends.iter_mut().chain(&mut demand.receives).for_each(|bps| *bps *= on_the_wire);
        let inside = |areas: &Areas| {
            let payload = source.demand_inside(&areas.area_of).into_iter();
            payload.map(|bps| bps * on_the_wire).collect()
        };
        let inside_racks = inside(&self.racks);
        let inside_pods = self.pods.as_ref().map(inside).unwrap_or_default();
        self.sections.push(Section { name: source.name(), demand, inside_racks, inside_pods });
    }

    /// Warnings about hosts that cannot send or receive what is asked of them, and about uplinks
    /// that cannot carry it.
    pub fn warnings(&self) -> Vec<String> {
        let of_hosts = [Side::Senders, Side::Receivers].into_iter();
        let of_hosts = of_hosts.filter_map(|side| self.too_much(side));
        of_hosts.chain(self.too_much_for_uplinks()).chain(self.too_much_between_pods()).collect()
    }

    /// The warnings about traffic to other racks, each at its worst moment. One is about all
    /// uplinks together, and one about the rack with the most traffic for its uplinks. The second
    /// is left out if that rack has no more than its part of the first.
    fn too_much_for_uplinks(&self) -> Vec<String> {
        let ("uplinks", capacity) = self.topology.capacity() else { return Vec::new() };
        let capacity = capacity as f64;
        let across = |section: &Section| -> f64 {
            section.demand.sends.iter().sum::<f64>() - section.inside_racks.iter().sum::<f64>()
        };
        let at = |at: Time| {
            let all: Vec<(&str, f64)> =
                self.active(at).map(|section| (section.name, across(section))).collect();
            (all.iter().map(|(_, bps)| bps).sum::<f64>(), all)
        };
        let moments = self.begins().into_iter().map(at);
        let Some((bps, all)) = moments.max_by(|a, b| a.0.total_cmp(&b.0)) else {
            return Vec::new();
        };
        let mut warnings = Vec::new();
        let mut least = FULL;
        if bps > capacity * FULL {
            least = bps / capacity * (1.0 + 1e-6);
            warnings.push(format!(
                "{}: {} are to go to other racks, headers included, and the uplinks carry {}: the \
                 excess waits, and delays keep growing",
                names(all, capacity),
                told(bps),
                told(capacity)
            ));
        }
        let words = ["", "racks", "its uplinks carry", "rack is", "racks are"];
        warnings.extend(self.too_much_for(&self.racks, |s| &s.inside_racks, least, words));
        warnings
    }

    /// The warning about traffic to other pods, at the worst moment, if the pods' links are
    /// narrower than the racks' uplinks.
    fn too_much_between_pods(&self) -> Option<String> {
        let words = ["the pod of ", "pods", "its links to the core carry", "pod is", "pods are"];
        self.too_much_for(self.pods.as_ref()?, |s| &s.inside_pods, FULL, words)
    }

    /// The warning about the area with the most traffic for its links to other areas, at the worst
    /// moment, if this traffic is above a share of what the links carry.
    fn too_much_for(
        &self,
        areas: &Areas,
        inside: impl for<'s> Fn(&'s Section<'a>) -> &'s [f64],
        least: f64,
        [of, others, carry, one_is, more_are]: [&str; 5],
    ) -> Option<String> {
        // The worst area so far: its demand as a share, the side, and the sections; then the area,
        // and the number of overloaded areas.
        let mut worst = (0.0, Side::Senders, Vec::new(), 0, 0);
        for at in self.begins() {
            let asked = [Side::Senders, Side::Receivers].map(|side| {
                let of_section = |section: &Section<'a>| {
                    let each = demand_on(side, &section.demand);
                    (section.name, areas.across(each, inside(section)))
                };
                (side, self.active(at).map(of_section).collect::<Vec<_>>())
            });
            let share = |sections: &[(&str, Vec<f64>)], area: usize| match areas.rates[area] {
                0.0 => 0.0,
                rate => sections.iter().map(|(_, bps)| bps[area]).sum::<f64>() / rate,
            };
            let is_over = |area: &usize| asked.iter().any(|(_, all)| share(all, *area) > FULL);
            let over = (0..areas.rates.len()).filter(is_over).count();
            for (side, sections) in &asked {
                for area in 0..areas.rates.len() {
                    let share = share(sections, area);
                    // Shares that should be equal may differ by a rounding error.
                    if share > worst.0 * FULL {
                        let asked = sections.iter().map(|(name, bps)| (*name, bps[area]));
                        worst = (share, *side, asked.collect(), area, over);
                    }
                }
            }
        }
        let (share, side, sections, area, over) = worst;
        (share > least).then(|| {
            let (verb, direction) = match side {
                Side::Senders => ("send", "to"),
                Side::Receivers => ("receive", "from"),
            };
            let rate = areas.rates[area];
            let leaf = self.topology.full_name(Node::Switch(areas.first[area]));
            let more = match over - 1 {
                0 => String::new(),
                1 => format!(", and one other {one_is} asked for more than it can"),
                n => format!(", and {n} other {more_are} asked for more than they can"),
            };
            format!(
                "{}: {of}{leaf} is to {verb} {} {direction} other {others}, headers included, and \
                 {carry} {}{more}: the excess waits, and delays keep growing",
                names(sections, rate),
                told(share * rate),
                told(rate)
            )
        })
    }

    /// The times at which sections begin: the demand can only be highest at one of them.
    fn begins(&self) -> BTreeSet<Time> {
        self.sections.iter().map(|section| section.demand.active.start).collect()
    }

    /// The warning about one side, at the worst moment.
    fn too_much(&self, side: Side) -> Option<String> {
        let moments = self.begins().into_iter().map(|at| self.asked(side, at));
        let worst = moments.max_by(|a, b| a.worst_share().total_cmp(&b.worst_share()))?;
        worst.message(side)
    }

    /// The demand on hosts at a time.
    fn asked(&self, side: Side, at: Time) -> Asked<'a> {
        let lines = self.topology.nics.iter().map(|&nic| &self.topology.lines[nic as usize]);
        let lines: Vec<f64> = lines.map(|line| line.rate.bits_per_second() as f64).collect();
        let mut asked = Asked { bps: vec![0.0; lines.len()], lines, names: Vec::new() };
        for section in self.active(at) {
            let each = demand_on(side, &section.demand);
            asked.bps.iter_mut().zip(each).for_each(|(all, bps)| *all += bps);
            asked.names.push(section.name);
        }
        asked
    }

    /// The sections that are active at a time.
    fn active(&self, at: Time) -> impl Iterator<Item = &Section<'a>> {
        let is_active = move |section: &&Section| {
            section.demand.active.start <= at && at < section.demand.active.stop
        };
        self.sections.iter().filter(is_active)
    }
}

fn demand_on(side: Side, demand: &Demand) -> &[f64] {
    match side {
        Side::Senders => &demand.sends,
        Side::Receivers => &demand.receives,
    }
}

/// The names of the sections that contribute to a demand on links. `sections` gives what each asks
/// for.
fn names<'a>(sections: impl IntoIterator<Item = (&'a str, f64)>, carried: f64) -> String {
    // A demand that should be 0 may be a rounding error instead.
    let contribute = sections.into_iter().filter(|(_, bps)| *bps > carried * 1e-9);
    contribute.map(|(name, _)| format!("traffic.{name}")).collect::<Vec<_>>().join(" and ")
}

/// The demand on every host at a time, its line's rate, and the sections that contribute.
struct Asked<'a> {
    bps: Vec<f64>,
    lines: Vec<f64>,
    names: Vec<&'a str>,
}

impl Asked<'_> {
    fn share(&self, host: usize) -> f64 {
        self.bps[host] / self.lines[host]
    }

    fn worst_share(&self) -> f64 {
        (0..self.bps.len()).map(|host| self.share(host)).fold(0.0, f64::max)
    }

    /// The warning, if any host is overloaded.
    fn message(&self, side: Side) -> Option<String> {
        let all = || (0..self.bps.len()).filter(|&host| self.bps[host] > self.lines[host] * 1e-9);
        let over: Vec<usize> = all().filter(|&host| self.share(host) > FULL).collect();
        let worst =
            *over.iter().rev().max_by(|&&a, &&b| self.share(a).total_cmp(&self.share(b)))?;
        let verb = match side {
            Side::Senders => "send",
            Side::Receivers => "receive",
        };
        let names = self.names.iter().map(|name| format!("traffic.{name}"));
        let names = names.collect::<Vec<_>>().join(" and ");
        let sum = |of: &[f64]| told(all().map(|host| of[host]).sum());
        let which = match (all().count(), over.len()) {
            (several @ 2.., same) if several == same => format!(
                "{several} hosts are to {verb} {} together, headers included, and their lines \
                 carry {}",
                sum(&self.bps),
                sum(&self.lines)
            ),
            (_, over) => {
                let others = match over - 1 {
                    0 => String::new(),
                    1 => ", and one other host is to do more than it can".into(),
                    n => format!(", and {n} other hosts are to do more than they can"),
                };
                let (bps, line) = (told(self.bps[worst]), told(self.lines[worst]));
                format!(
                    "host{worst} is to {verb} {bps}, headers included, and its line carries \
                     {line}{others}"
                )
            }
        };
        Some(format!("{names}: {which}: the excess waits, and delays keep growing"))
    }
}

/// A rate for messages, with enough digits to differ from a line's rate.
fn told(bits_per_second: f64) -> String {
    let units = [(1e12, "Tbps"), (1e9, "Gbps"), (1e6, "Mbps"), (1e3, "Kbps")];
    let unit = units.into_iter().find(|(size, _)| bits_per_second >= *size);
    let (size, unit) = unit.unwrap_or((1.0, "bps"));
    let number = format!("{:.3}", bits_per_second / size);
    format!("{} {unit}", number.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Scenario, Sources};
    use std::path::Path;

    /// The warnings about traffic in a network of 2 leaves with 4 hosts at 10 Gbps and 4 uplinks
    /// each.
    fn warnings(traffic: &str) -> Vec<String> {
        let text = format!(
            "duration = \"1ms\"\ntransport = {{ mss = \"1440B\", header = \"60B\" }}\n\
             topology = {{ kind = \"leaf-spine\", leaves = 2, hosts_per_leaf = 4, spines = 4, \
             host_rate = \"10Gbps\", fabric_rate = \"20Gbps\" }}\n{traffic}"
        );
        Scenario::read(text.parse().unwrap(), &Sources::of(Path::new(""))).unwrap().warnings
    }

    fn poisson(name: &str, more: &str) -> String {
        format!("[[traffic]]\nname = \"{name}\"\nkind = \"poisson\"\nsizes = \"10KB\"\n{more}\n")
    }

    #[test]
    fn a_load_of_uplinks_that_hosts_cannot_carry_is_told() {
        // 0.72 of 4 * 20 Gbps at each leaf is 57.6 Gbps, or 60 with headers (1500 / 1440), for 4
        // hosts.
        let expected = [
            "traffic.web: 8 hosts are to send 120 Gbps together, headers included, and their lines \
             carry 80 Gbps: the excess waits, and delays keep growing",
            "traffic.web: 8 hosts are to receive 120 Gbps together, headers included, and their \
             lines carry 80 Gbps: the excess waits, and delays keep growing",
        ];
        assert_eq!(warnings(&poisson("web", "load = 0.72")), expected);
        // 0.48 of 80 is 38.4, or 40 with headers: exactly what the lines carry.
        assert_eq!(warnings(&poisson("web", "load = 0.48")), [""; 0]);
        assert_eq!(warnings(&poisson("web", "load = 0.4801")).len(), 2);
    }

    #[test]
    fn a_load_that_uplinks_cannot_carry_is_told() {
        let four_to_one = |traffic: &str| {
            let text = format!(
                "duration = \"1ms\"\ntransport = {{ mss = \"1440B\", header = \"60B\" }}\n\
                 topology = {{ kind = \"leaf-spine\", leaves = 2, hosts_per_leaf = 8, spines = 2, \
                 host_rate = \"10Gbps\", fabric_rate = \"10Gbps\" }}\n{traffic}"
            );
            Scenario::read(text.parse().unwrap(), &Sources::of(Path::new(""))).unwrap().warnings
        };
        // Of 16 hosts at 10 Gbps 40 Gbps of uplinks: 1.2 is 48 Gbps, or 50 with headers.
        let expected = "traffic.web: 50 Gbps are to go to other racks, headers included, and the \
                        uplinks carry 40 Gbps: the excess waits, and delays keep growing";
        assert_eq!(four_to_one(&poisson("web", "load = 1.2")), [expected]);
        assert_eq!(four_to_one(&poisson("web", "load = 0.96")), [""; 0]);
        // 8 of a host's 15 destinations are in the other rack: 40 Gbps of 75.
        let uniform = "load = 0.45\nload_of = \"host\"\ndestinations = \"uniform\"";
        assert_eq!(four_to_one(&poisson("web", uniform)), [""; 0]);
        let more = uniform.replace("0.45", "0.46");
        assert_eq!(four_to_one(&poisson("web", &more)).len(), 1);
        // Flows of a byte have a header each: 61 times as much.
        let tiny = poisson("web", "load = 0.02").replace("10KB", "1B");
        assert!(four_to_one(&tiny)[0].contains("48.8 Gbps are to go to other racks"));
    }

    /// The warnings in a network whose hosts and switches have 10 Gbps, except for what `more`
    /// says.
    fn in_network(network: &str, traffic: &str) -> Vec<String> {
        let text = format!(
            "duration = \"10ms\"\ntransport = {{ mss = \"1440B\", header = \"60B\" }}\n\
             topology = {{ {network}, host_rate = \"10Gbps\" }}\n{traffic}"
        );
        Scenario::read(text.parse().unwrap(), &Sources::of(Path::new(""))).unwrap().warnings
    }

    /// The warnings in a network of 8 racks with 4 hosts and a single uplink each.
    fn one_uplink(traffic: &str) -> Vec<String> {
        in_network("kind = \"leaf-spine\", leaves = 8, hosts_per_leaf = 4, spines = 1", traffic)
    }

    /// A warning about a rack, after its section's name.
    fn of_rack(text: &str) -> String {
        format!("{text}: the excess waits, and delays keep growing")
    }

    #[test]
    fn a_rack_whose_uplinks_cannot_carry_its_part_is_told() {
        // 17 Gbps, or 17.708 with headers, of a single uplink, though all could carry 80.
        let some = |more: &str| one_uplink(&poisson("web", more));
        let expected = of_rack(
            "traffic.web: leaf0 is to send 17.708 Gbps to other racks, headers included, and its \
             uplinks carry 10 Gbps",
        );
        assert_eq!(some("load = 1.7\nsenders = \"0..3\""), [expected]);
        assert_eq!(some("load = 0.96\nsenders = \"0..3\""), [""; 0]);
        // Half of the rack's hosts have half of the load. If only they take part, they have all of
        // it.
        assert_eq!(some("load = 1.7\nsenders = \"0..1\""), [""; 0]);
        assert_eq!(some("load = 1.7\nsenders = \"0..1\"\nplaces = \"0..1\"").len(), 1);
        // 4 hosts with 4.8 Gbps each, 5 with headers: 28 of 31 destinations are in other racks.
        let uniform = "load = 0.48\nload_of = \"host\"\ndestinations = \"uniform\"\n";
        let expected = of_rack(
            "traffic.web: leaf2 is to send 18.065 Gbps to other racks, headers included, and its \
             uplinks carry 10 Gbps",
        );
        assert_eq!(some(&format!("{uniform}senders = \"8..11\"")), [expected]);
        // If the receiver is in the same rack, the uplinks carry nothing.
        let within = "load = 0.31\nload_of = \"host\"\ndestinations = 0\nsenders = \"1..3\"";
        assert_eq!(some(within), [""; 0]);
        // 3 racks with 1.7, of which one has 0.84 more.
        let three = poisson("web", "load = 1.7\nsenders = \"0..11\"");
        let more = poisson("x", "load = 1.68\nsenders = \"4..5\"");
        let expected = of_rack(
            "traffic.web and traffic.x: leaf1 is to send 26.458 Gbps to other racks, headers \
             included, and its uplinks carry 10 Gbps, and 2 other racks are asked for more than \
             they can",
        );
        assert_eq!(one_uplink(&[three, more].concat()), [expected]);
    }

    #[test]
    fn a_rack_is_told_beside_all_racks_if_it_is_asked_for_more_than_they_are() {
        let all = poisson("web", "load = 1.2");
        let total = |told: &str| {
            of_rack(&format!(
                "{told} are to go to other racks, headers included, and the uplinks carry 80 Gbps"
            ))
        };
        assert_eq!(one_uplink(&all), [total("traffic.web: 100 Gbps")]);
        let more = poisson("x", "load = 0.96\nsenders = \"28..31\"");
        let rack = of_rack(
            "traffic.web and traffic.x: leaf7 is to send 22.5 Gbps to other racks, headers \
             included, and its uplinks carry 10 Gbps, and 7 other racks are asked for more than \
             they can",
        );
        let expected = [total("traffic.web and traffic.x: 110 Gbps"), rack];
        assert_eq!(one_uplink(&[all.clone(), more.clone()].concat()), expected);
        // At different times they do not add up.
        let (all, more) = (format!("{all}stop = \"5ms\"\n"), format!("{more}start = \"5ms\"\n"));
        assert_eq!(one_uplink(&[all, more].concat()), [total("traffic.web: 100 Gbps")]);
    }

    #[test]
    fn a_rack_that_is_to_receive_more_than_its_uplinks_carry_is_told() {
        // Its 4 hosts ask for 600 KB in a millisecond each, 5 Gbps with headers.
        let queries = |senders: &str| {
            one_uplink(&format!(
                "[[traffic]]\nname = \"q\"\nkind = \"incast\"\ninterval = \"1ms\"\n\
                 burst = \"600KB\"\nfan_in = 4\nreceivers = \"0..3\"\nsenders = \"{senders}\"\n"
            ))
        };
        let receives = |told: &str| {
            of_rack(&format!(
                "traffic.q: leaf0 is to receive {told} from other racks, headers included, and \
                 its uplinks carry 10 Gbps"
            ))
        };
        assert_eq!(queries("other-racks"), [receives("20 Gbps")]);
        assert_eq!(queries("one-other-rack"), [receives("20 Gbps")]);
        // 28 of 31 hosts are in other racks.
        assert_eq!(queries("any"), [receives("18.065 Gbps")]);
        let next = of_rack(
            "traffic.q: leaf1 is to send 20 Gbps to other racks, headers included, and its \
             uplinks carry 10 Gbps, and one other rack is asked for more than it can",
        );
        assert_eq!(queries("next-rack"), [next]);
    }

    #[test]
    fn a_pod_whose_links_to_the_core_are_too_narrow_is_told() {
        // 4 pods of 2 racks with 2 hosts, with 4 links to the core.
        let tree = |core: &str, traffic: &str| {
            in_network(&format!("kind = \"fat-tree\", k = 4, core_rate = \"{core}\""), traffic)
        };
        // 6.72 Gbps of each host, 7 with headers. 12 of the 14 hosts in other racks are in other
        // pods: 24 of 28.
        let all = poisson("web", "load = 0.672");
        let expected = of_rack(
            "traffic.web: the pod of leaf0 is to send 24 Gbps to other pods, headers included, \
             and its links to the core carry 20 Gbps, and 3 other pods are asked for more than \
             they can",
        );
        assert_eq!(tree("5Gbps", &all), [expected]);
        assert_eq!(tree("8Gbps", &all), [""; 0]);
        // 12 of 15 of all other hosts: 22.4 of 28.
        let uniform = "load = 0.672\nload_of = \"host\"\ndestinations = \"uniform\"";
        assert!(tree("5Gbps", &poisson("web", uniform))[0].contains("send 22.4 Gbps to other"));
        // Half of what goes to the next rack leaves the pod: 14 of 28.
        let next = poisson("web", "load = 0.672\ndestinations = \"next-rack\"");
        assert_eq!(tree("5Gbps", &next), [""; 0]);
        assert!(tree("2.5Gbps", &next)[0].contains("send 14 Gbps to other pods"));
        // The hosts of the second pod ask for 600 KB in a millisecond each, 5 Gbps with headers.
        let queries = |senders: &str| {
            tree(
                "2Gbps",
                &format!(
                    "[[traffic]]\nname = \"q\"\nkind = \"incast\"\ninterval = \"1ms\"\n\
                     burst = \"600KB\"\nfan_in = 2\nreceivers = \"4..7\"\n\
                     senders = \"{senders}\"\n"
                ),
            )
        };
        // Of 7 other racks 6 are in other pods, of 14 other hosts 12, of 15 hosts 12.
        for (senders, told) in
            [("one-other-rack", "17.143 Gbps"), ("other-racks", "17.143 Gbps"), ("any", "16 Gbps")]
        {
            let expected = of_rack(&format!(
                "traffic.q: the pod of leaf2 is to receive {told} from other pods, headers \
                 included, and its links to the core carry 8 Gbps"
            ));
            assert_eq!(queries(senders), [expected], "{senders}");
        }
    }

    #[test]
    fn a_receiver_of_more_than_its_line_carries_is_told() {
        // 7 hosts send 1.92 Gbps each, 2 with headers, to one host.
        let to_one = "load = 0.192\nload_of = \"host\"\ndestinations = 5";
        let expected = "traffic.web: host5 is to receive 14 Gbps, headers included, and its line \
                        carries 10 Gbps: the excess waits, and delays keep growing";
        assert_eq!(warnings(&poisson("web", to_one)), [expected]);
        // Two sections, each with its own receiver. Hosts 0 and 1 send to both, the others to one.
        let other = "load = 0.96\nload_of = \"host\"\ndestinations = 6\nsenders = \"0..1\"";
        let both = warnings(&[poisson("web", to_one), poisson("x", other)].concat());
        let expected = [
            "traffic.web and traffic.x: host0 is to send 12 Gbps, headers included, and its line \
             carries 10 Gbps, and one other host is to do more than it can: the excess \
             waits, and delays keep growing",
            "traffic.web and traffic.x: 2 hosts are to receive 34 Gbps together, headers included, \
             and their lines carry 20 Gbps: the excess waits, and delays keep growing",
        ];
        assert_eq!(both, expected);
    }

    #[test]
    fn only_what_is_sent_at_the_same_time_adds_up() {
        let part = |name, times: &str| {
            let load = "load = 0.6\nload_of = \"host\"\ndestinations = \"uniform\"";
            poisson(name, &format!("{load}\n{times}"))
        };
        let (first, second) = (part("a", "stop = \"500us\""), part("b", "start = \"500us\""));
        assert_eq!(warnings(&[first.clone(), second].concat()), [""; 0]);
        let overlapping = warnings(&[first, part("b", "start = \"499us\"")].concat());
        assert!(
            overlapping[0].starts_with("traffic.a and traffic.b: 8 hosts are to send 100 Gbps")
        );
        assert_eq!(overlapping.len(), 2);
    }

    #[test]
    fn rates_are_told_in_their_units() {
        let rates = [15.1e12, 12.8e12, 999.9994e9, 1.0416e6, 2.5e3, 10.0];
        let expected =
            ["15.1 Tbps", "12.8 Tbps", "999.999 Gbps", "1.042 Mbps", "2.5 Kbps", "10 bps"];
        assert_eq!(rates.map(told), expected);
    }
}

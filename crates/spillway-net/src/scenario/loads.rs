//! Compares what hosts are to send and receive with what their lines, and the uplinks, carry.
//!
//! A load that is a share of uplinks does not consider hosts: if they are few or slow, they may be
//! unable to send or receive it. Flows then pile up at hosts, and results only show how long the
//! run was.

use crate::summary::capacity;
use crate::topology::Topology;
use crate::traffic::{Demand, Source};
use crate::transport::Transport;
use spillway_engine::Time;
use std::collections::BTreeSet;

/// A line is overloaded above this share. The averages are sums of floats, which may be off by
/// less.
const FULL: f64 = 1.0 + 1e-9;

/// The demand of all traffic sections on hosts, headers included.
pub(super) struct Loads<'a> {
    topology: &'a Topology,
    sections: Vec<(&'a str, Demand)>,
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
        Loads { topology, sections: Vec::new() }
    }

    /// Adds the demand of a section.
    pub fn add(&mut self, source: &'a Source, transport: &Transport) {
        let Some(mut demand) = source.demand() else { return };
        // A flow has a packet at least, and a header on each.
        let mean = source.mean_size().unwrap_or(f64::INFINITY);
        let packets_per_byte = (1.0 / f64::from(transport.mss)).max(1.0 / mean);
        let on_the_wire = 1.0 + f64::from(transport.header) * packets_per_byte;
        demand.sends.iter_mut().chain(&mut demand.receives).for_each(|bps| *bps *= on_the_wire);
        demand.between_racks *= on_the_wire;
        self.sections.push((source.name(), demand));
    }

    /// Warnings about hosts that cannot send, or cannot receive, what is asked of them, and about
    /// uplinks that cannot carry it.
    pub fn warnings(&self) -> Vec<String> {
        let of_hosts = [Side::Senders, Side::Receivers].into_iter();
        of_hosts.filter_map(|side| self.too_much(side)).chain(self.too_much_for_uplinks()).collect()
    }

    /// The warning about what goes to other racks, at the worst moment.
    fn too_much_for_uplinks(&self) -> Option<String> {
        let ("uplinks", capacity) = capacity(self.topology) else { return None };
        let at = |at: Time| {
            let sections = self.active(at).filter(|(_, demand)| demand.between_racks > 0.0);
            let bps = sections.clone().map(|(_, demand)| demand.between_racks).sum::<f64>();
            (bps, sections.map(|(name, _)| format!("traffic.{name}")).collect::<Vec<_>>())
        };
        let moments = self.sections.iter().map(|(_, demand)| at(demand.active.start));
        let (bps, names) = moments.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (bps > capacity as f64 * FULL).then(|| {
            format!(
                "{}: {} are to go to other racks, headers included, and the uplinks carry {}: the \
                 excess waits, and delays keep growing",
                names.join(" and "),
                told(bps),
                told(capacity as f64)
            )
        })
    }

    /// The warning about one side, at the worst moment. The demand can only be highest when some
    /// section begins.
    fn too_much(&self, side: Side) -> Option<String> {
        let begins: BTreeSet<Time> =
            self.sections.iter().map(|(_, demand)| demand.active.start).collect();
        let moments = begins.into_iter().map(|at| self.asked(side, at));
        let worst = moments.max_by(|a, b| a.worst_share().total_cmp(&b.worst_share()))?;
        worst.message(side)
    }

    /// The demand on hosts at a time.
    fn asked(&self, side: Side, at: Time) -> Asked<'a> {
        let lines = self.topology.nics.iter().map(|&nic| &self.topology.lines[nic as usize]);
        let lines: Vec<f64> = lines.map(|line| line.rate.bits_per_second() as f64).collect();
        let mut asked = Asked { bps: vec![0.0; lines.len()], lines, names: Vec::new() };
        for (name, demand) in self.active(at) {
            let each = match side {
                Side::Senders => &demand.sends,
                Side::Receivers => &demand.receives,
            };
            asked.bps.iter_mut().zip(each).for_each(|(all, bps)| *all += bps);
            asked.names.push(*name);
        }
        asked
    }

    /// The sections that are active at a time.
    fn active(&self, at: Time) -> impl Iterator<Item = &(&'a str, Demand)> + Clone {
        let is_active = move |(_, demand): &&(&'a str, Demand)| {
            demand.active.start <= at && at < demand.active.stop
        };
        self.sections.iter().filter(is_active)
    }
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

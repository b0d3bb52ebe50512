//! Clocks: how far the rates of devices are from their nominal rates.
//!
//! If all clocks are exactly equal, flows that meet at a full queue keep their order for ever, and
//! always the same flow finds the free place (Floyd and Jacobson, "Traffic Phase Effects in
//! Packet-Switched Gateways", 1991). So hosts send a little slower than switches, each at a rate of
//! its own. This stands for the gaps that real hosts leave between packets, not for the tolerance
//! of their oscillators.

use super::{Node, Topology};
use spillway_engine::{Clock, Stream};
use spillway_settings::{Form, Section, SettingsError, Takes};
use std::ops::RangeInclusive;

type Result<T> = std::result::Result<T, SettingsError>;

/// How far clocks are off, in parts in a thousand million; below 0 they are slow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Clocks {
    /// Not at all.
    #[default]
    Exact,
    /// Each device's clock is drawn once, uniformly.
    Spread {
        /// Hosts' clocks. If the range reaches so far, a host is as far below the slowest switch as
        /// it would be below a nominal clock.
        hosts: RangeInclusive<i64>,
        /// Switches' clocks.
        switches: RangeInclusive<i64>,
    },
}

impl Clocks {
    /// Reads the keys of a topology. If times are cut to whole nanoseconds, as in other simulators,
    /// clocks are exact.
    pub(super) fn read(section: &mut Section, whole_ns: bool) -> Result<Clocks> {
        let choices = [("spread", true), ("exact", false)];
        let meaning =
            "whether the rates of hosts and switches differ a little from their nominal rates";
        let given = section.has("clocks");
        let order = |first: usize| [choices[first], choices[1 - first]];
        let is_spread = section.choice("clocks", &order(usize::from(whole_ns)), meaning)?;
        if is_spread && whole_ns && given {
            let problem = "\"spread\" is not valid with whole_ns = true: that repeats programs whose \
                           clocks are exact";
            return Err(section.conflict("clocks", problem));
        }
        let meaning = "how far hosts' clocks are off where they are spread; below 0 they are slow";
        let hosts = range(section, "host_clocks", meaning)?.unwrap_or(-400_000..=-200_000);
        let meaning = "how far switches' clocks are off where they are spread";
        let switches = range(section, "switch_clocks", meaning)?.unwrap_or(-100_000..=100_000);
        Ok(if is_spread { Clocks::Spread { hosts, switches } } else { Clocks::Exact })
    }
}

impl Topology {
    /// Gives every device its clock, in the run with this seed. A device sends on all its lines by
    /// its own clock.
    pub fn set_clocks(&mut self, seed: u64) {
        let Clocks::Spread { hosts, switches } = self.clocks.clone() else { return };
        let draw = |name, index: usize, range: RangeInclusive<i64>| {
            let (low, high) = range.into_inner();
            let above = Stream::new(seed, name, index as u64).below((high - low) as u64 + 1);
            low + above as i64
        };
        let of_switches: Vec<i64> = (0..self.switches.len())
            .map(|switch| draw("switch-clock", switch, switches.clone()))
            .collect();
        let slowest = of_switches.iter().copied().min().unwrap_or(0).min(0);
        let (low, high) = hosts.into_inner();
        let hosts = low..=(high + slowest).max(low);
        for line in &mut self.lines {
            let ppb = match line.from {
                Node::Host(host) => draw("host-clock", host as usize, hosts.clone()),
                Node::Switch(switch) => of_switches[switch as usize],
            };
            line.rate = line.rate.by_clock(Clock::off_by_ppb(ppb));
        }
    }
}

/// A range such as `"-400..-200ppm"`, in parts in a thousand million; `None` if none is given.
fn range(
    section: &mut Section,
    key: &'static str,
    meaning: &'static str,
) -> Result<Option<RangeInclusive<i64>>> {
    let takes = "parts per million from -10000 to 10000, such as \"-400..-200ppm\"";
    let takes = Takes::new(takes, [Form::Pattern(r"-?[0-9.]+\.\.-?[0-9.]+ppm")]);
    let parse = |text: &str| {
        let (low, high) = text.strip_suffix("ppm")?.split_once("..")?;
        let (low, high) = (ppb(low)?, ppb(high)?);
        let most = -Clock::MOST_PPB..=Clock::MOST_PPB;
        (low <= high && most.contains(&low) && most.contains(&high)).then_some(low..=high)
    };
    section.optional(key, |s| s.quantity(key, "", takes, meaning, parse))
}

/// Parts in a thousand million of a number of parts per million with up to three decimals.
fn ppb(text: &str) -> Option<i64> {
    let (sign, text) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 3 || whole.len() > 5 {
        return None;
    }
    Some(sign * format!("{whole}{fraction:0<3}").parse::<i64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::super::kinds::read_text;
    use super::*;

    const NETWORK: &str = "kind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts_per_leaf = 40\n";

    /// The clocks of all devices, by lines, in parts per million.
    fn clocks(more: &str, seed: u64) -> (Vec<f64>, Vec<f64>) {
        let mut topology = read_text(&format!("{NETWORK}{more}")).unwrap();
        topology.set_clocks(seed);
        let of = |is_host: bool| {
            let lines = topology.lines.iter();
            let lines = lines.filter(move |line| matches!(line.from, Node::Host(_)) == is_host);
            lines.map(|line| line.rate.clock().ppb() / 1e3).collect::<Vec<_>>()
        };
        (of(true), of(false))
    }

    fn bounds(values: &[f64]) -> (f64, f64) {
        values.iter().fold((f64::MAX, f64::MIN), |(low, high), &v| (low.min(v), high.max(v)))
    }

    #[test]
    fn hosts_are_slower_than_the_slowest_switch() {
        for seed in 1..20 {
            let (hosts, switches) = clocks("", seed);
            let ((slow, fast), (slowest, fastest)) = (bounds(&hosts), bounds(&switches));
            assert!(slow >= -400.01 && fast <= -199.99, "{slow} .. {fast}");
            assert!(slowest >= -100.01 && fastest <= 100.01, "{slowest} .. {fastest}");
            assert!(fast <= slowest.min(0.0) - 199.9, "{fast} and {slowest}");
            // Spread over what is left of the range: 100 ppm at least.
            assert!(fast - slow > 80.0, "{slow} .. {fast}");
        }
    }

    #[test]
    fn a_device_has_one_clock_and_each_another() {
        let mut topology = read_text(NETWORK).unwrap();
        topology.set_clocks(7);
        let clock = |line: u32| topology.lines[line as usize].rate.clock();
        for switch in &topology.switches {
            assert!(switch.ports.iter().all(|&line| clock(line) == clock(switch.ports[0])));
        }
        let mut hosts: Vec<u64> =
            topology.nics.iter().map(|&line| clock(line).ppb().to_bits()).collect();
        hosts.sort_unstable();
        hosts.dedup();
        assert_eq!(hosts.len(), 120);
        assert_eq!(clocks("", 7), clocks("", 7));
        assert_ne!(clocks("", 7), clocks("", 8));
    }

    #[test]
    fn exact_clocks_and_whole_nanoseconds_are_as_nominal() {
        for more in ["clocks = \"exact\"", "whole_ns = true"] {
            let (hosts, switches) = clocks(more, 1);
            assert!(hosts.iter().chain(&switches).all(|&ppm| ppm == 0.0), "{more}");
        }
    }

    #[test]
    fn ranges_may_be_given() {
        let more = "host_clocks = \"-1.5..-1.5ppm\"\nswitch_clocks = \"20..20ppm\"";
        let (hosts, switches) = clocks(more, 1);
        assert!(hosts.iter().all(|ppm| (ppm + 1.5).abs() < 0.002));
        assert!(switches.iter().all(|ppm| (ppm - 20.0).abs() < 0.002));
        for text in
            ["1..2", "2..1ppm", "0..20000ppm", "-..1ppm", "1_0..20ppm", "1.2345..2ppm", "ppm"]
        {
            let error = read_text(&format!("{NETWORK}host_clocks = \"{text}\"")).unwrap_err();
            assert!(error.to_string().contains("parts per million"), "{error}");
        }
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let error = |text: &str| read_text(&format!("{NETWORK}{text}")).unwrap_err().to_string();
        let text = error("clocks = \"spread\"\nwhole_ns = true");
        assert!(text.contains("clocks") && text.contains("whole_ns"), "{text}");
    }
}

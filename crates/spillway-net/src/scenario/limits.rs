//! `[limits]`: how much a scenario may ask for. A user who wants more raises a limit.
//!
//! One digit too many is enough for a run that fills the memory or never ends. Demands that can be
//! predicted are refused when the scenario is read. Memory is also checked during the run, since
//! only the run shows how many packets wait in the network.

use super::NicSettings;
use super::Result;
use crate::event::{MOST_FLOWS, MOST_LINES};
use spillway_engine::Time;
use spillway_settings::{ErrorKind, Section, SettingsError, Table, Value};
use spillway_switch::packet::PACKET_BYTES;
use spillway_topology::Topology;
use spillway_traffic::Source;
use spillway_transport::{Access, Transport};

/// The least memory of a queue, in a switch or a NIC.
const QUEUE_BYTES: u128 = 64;
/// The memory of one place in a ring.
const FIFO_BYTES: u128 = 8;

/// A number of wake-ups of policies that takes some ten seconds, and so may be a mistake.
const MANY_WAKEUPS: f64 = 1e7;

/// The limits of what may be asked for.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most flows that may be expected.
    pub flows: u64,
    /// The most samples of one kind, or calls of one timer.
    pub samples: u64,
    /// The most bytes that packets, flows and records may take during a run.
    pub memory: u64,
}

impl Limits {
    /// When the samples after a time exceed the limit, if so many are taken in a picosecond.
    pub fn end_of_samples(&self, after: Time, looks_per_ps: f64) -> Time {
        let more = self.samples as f64 / looks_per_ps;
        after.saturating_add(Time::from_ps(more as u64))
    }

    /// The limits of a scenario that is yet to be read. The default limits if they are wrong in the
    /// scenario.
    pub fn of(scenario: &Table) -> Limits {
        let given = scenario.get("limits").and_then(Value::as_table).cloned().unwrap_or_default();
        let read = |given| Limits::read(&mut Section::new("limits", given));
        let default = || read(Table::new()).expect("defaults are valid");
        read(given).unwrap_or_else(|_| default())
    }

    pub(super) fn read(section: &mut Section) -> Result<Limits> {
        let meaning = "the most flows that may be expected, of all traffic together";
        let flows = section.integer("flows", 10_000_000, 1..=MOST_FLOWS, meaning)?;
        let meaning = "how often something is looked at because it is time: a queue by a sample, a \
                       switch by its policy";
        let samples = section.integer("samples", 1_000_000_000, 1..=i64::MAX as u64, meaning)?;
        let meaning = "bytes that packets, flows and what is recorded may take as the run goes on";
        let memory = section.size("memory", "4GB", meaning)?;
        Ok(Limits { flows, samples, memory })
    }

    /// Refuses more flows than the limit, as far as their number can be predicted.
    pub(super) fn check_flows(&self, sources: &[Source]) -> Result<()> {
        let mut in_all = 0.0;
        for source in sources {
            in_all += source.expected().flows;
            // `NaN` and infinity are too many as well.
            let is_within = in_all <= self.flows as f64;
            if !is_within {
                let flows = told(in_all);
                let problem = format!("{flows} flows are expected in all: more than limits.flows");
                return Err(self.error(format!("traffic.{}", source.name()), problem, "flows"));
            }
        }
        Ok(())
    }

    /// Refuses a network with more lines than an event's key can tell apart.
    pub(super) fn check_lines(lines: usize) -> Result<()> {
        if lines as u64 <= MOST_LINES {
            return Ok(());
        }
        let problem = format!("{lines} lines, two for each link: more than {MOST_LINES}");
        Err(ErrorKind::Limit.at("topology", problem))
    }

    /// Refuses too many samples: `things` at every interval until `end`.
    pub(super) fn check_samples(
        &self,
        path: &str,
        interval: Time,
        things: usize,
        end: Time,
    ) -> Result<()> {
        let samples = end.ps() as f64 / interval.ps() as f64 * things as f64;
        if samples <= self.samples as f64 {
            return Ok(());
        }
        let times = told(end.ps() as f64 / interval.ps() as f64);
        let of = if things == 1 { String::new() } else { format!(" of each of {things}") };
        let problem =
            format!("every {interval} comes to {times} samples{of}: more than limits.samples");
        Err(self.error(path.into(), problem, "samples"))
    }

    /// Refuses too many wake-ups of a policy at `things` switches or hosts until `duration`. Warns
    /// of many wake-ups, until `duration` or until `stop`.
    pub(super) fn check_wakeups(
        &self,
        section: &mut Section,
        period: Option<Time>,
        things: usize,
        (duration, stop): (Time, Time),
    ) -> Result<()> {
        let Some(period) = period else { return Ok(()) };
        self.check_samples(section.path(), period, things, duration)?;
        let until = |end: Time| end.ps() as f64 / period.ps() as f64 * things as f64;
        let (wakeups, most) = (until(duration), until(stop));
        let each = "each takes a microsecond or more";
        let problem = if wakeups > MANY_WAKEUPS {
            format!("it is woken every {period}, {} times in all: {each}", told(wakeups))
        } else if most > self.samples as f64 {
            format!(
                "it is woken every {period}, also while flows go on after duration, {} times until \
                 stop = {stop}: {each}",
                told(most)
            )
        } else {
            return Ok(());
        };
        section.warn("kind", problem);
        Ok(())
    }

    /// Refuses a flow whose initial window, or the least window after a cut, would fill the memory.
    pub(super) fn check_window(
        &self,
        source: &Source,
        transport: &Transport,
        access: &Access,
    ) -> Result<()> {
        let size = match source.sends_until() {
            Some(_) => u64::MAX,
            None => source.expected().largest,
        };
        let bytes = transport.largest_burst(size, access);
        let packets = bytes.div_ceil(u64::from(transport.mss));
        let taken = u128::from(packets) * u128::from(PACKET_BYTES);
        let what = format!("a window of {packets} packets, sent at once,");
        self.check_memory(format!("traffic.{}", source.name()), &what, taken)
    }

    /// Refuses more queues than fit into memory. These are the queues of all ports of all tiers,
    /// with the rings below them, and the queues of NICs.
    pub(super) fn check_queues(
        &self,
        topology: &Topology,
        port: impl Fn(&'static str) -> (u32, u32),
        nic: &NicSettings,
    ) -> Result<()> {
        let bytes = |ports: usize, (queues, fifo_packets): (u32, u32)| {
            let each = u128::from(queues) * QUEUE_BYTES + u128::from(fifo_packets) * FIFO_BYTES;
            ports as u128 * each
        };
        let of_switches = topology.switches.iter().map(|s| bytes(s.ports.len(), port(s.tier)));
        let ports: usize = topology.switches.iter().map(|switch| switch.ports.len()).sum();
        self.check_memory(
            "switch".into(),
            &format!("the queues of {ports} ports"),
            of_switches.sum(),
        )?;
        let hosts = topology.nics.len();
        let taken = bytes(hosts, (nic.queues.into(), nic.fifo_packets));
        self.check_memory("nic".into(), &format!("the queues of {hosts} NICs"), taken)
    }

    fn check_memory(&self, path: String, what: &str, bytes: u128) -> Result<()> {
        if bytes <= u128::from(self.memory) {
            return Ok(());
        }
        let gigabytes = bytes as f64 * 1e-9;
        let problem = format!("{what} would take {gigabytes:.1} GB: more than limits.memory");
        Err(self.error(path, problem, "memory"))
    }

    /// An error that names the limit that is exceeded.
    fn error(&self, path: String, problem: String, key: &str) -> SettingsError {
        let limit = match key {
            "flows" => self.flows.to_string(),
            "samples" => self.samples.to_string(),
            _ => format!("{}B", self.memory),
        };
        let hint = format!("if that is meant, raise limits.{key}, which is {limit}");
        ErrorKind::Limit.at(path, problem).hint(hint)
    }
}

/// A number of things for an error message. It may be fractional, or far beyond any real number of
/// things.
fn told(number: f64) -> String {
    if number < 1e15 { format!("{number:.0}") } else { format!("{number:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_with_more_lines_than_events_tell_apart_is_refused() {
        assert!(Limits::check_lines(1 << 27).is_ok());
        let error = Limits::check_lines((1 << 27) + 2).unwrap_err();
        let expected = "topology: 134217730 lines, two for each link: more than 134217728";
        assert_eq!(error.to_string(), expected);
    }
}

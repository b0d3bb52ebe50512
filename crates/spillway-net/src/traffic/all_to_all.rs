//! Every host sends to every other.
//!
//! # What it does
//! The shuffle, or all-to-all collective: each host starts a flow to every other host. With a
//! jitter each host starts all of its flows at its own random time, like hosts that are not quite
//! synchronised.
//!
//! # Rule
//! n hosts send n (n - 1) flows of the same size. A host starts at `start` plus a delay, uniform
//! from 0 to `jitter`.
//!
//! # Cost
//! Memory per host, not per flow.

use super::label::Label;
use super::{Context, Expected, Flows, Kind, Pattern};
use spillway_engine::Time;
use spillway_settings::{Section, SettingsError};

/// The kind `all-to-all`.
pub const KIND: Kind = Kind {
    id: "all-to-all",
    summary: "Every host sends one flow to every other host.",
    example: "size = \"1MB\"",
    read: |section, label, context| Ok(Box::new(AllToAllParams::read(section, label, context)?)),
};

/// A section of kind `all-to-all`, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllToAllParams {
    label: Label,
    hosts: u32,
    size: u64,
    start: Time,
    jitter: Time,
    /// No flow starts at this time or later.
    duration: Time,
}

impl AllToAllParams {
    /// Reads a section's keys.
    pub fn read(
        section: &mut Section,
        label: Label,
        context: &Context,
    ) -> Result<AllToAllParams, SettingsError> {
        let size = super::read_size(section)?;
        let start = section.time("start", "0us", "When the first flows may start.")?;
        let meaning = "Each host starts its flows after a delay, uniform up to this.";
        let jitter = section.time("jitter", "0us", meaning)?;
        let (hosts, duration) = (context.topology.hosts(), context.duration);
        Ok(AllToAllParams { label, hosts, size, start, jitter, duration })
    }
}

impl Pattern for AllToAllParams {
    fn flows(&self) -> Flows {
        let AllToAllParams { label, hosts, size, start, jitter, duration } = self.clone();
        let start_of = |host: u32| {
            let delay = label.stream(u64::from(host)).below(jitter.ps().saturating_add(1));
            (start.saturating_add(Time::from_ps(delay)), host)
        };
        let mut starts: Vec<(Time, u32)> =
            (0..hosts).map(start_of).filter(|(start, _)| *start < duration).collect();
        starts.sort_unstable();
        Box::new(starts.into_iter().flat_map(move |(start, src)| {
            let label = label.clone();
            let others = (0..hosts).filter(move |&dst| dst != src);
            others.map(move |dst| label.flow(start, src, dst, size))
        }))
    }

    fn expected(&self) -> Expected {
        let time = self.duration.since(self.start).ps() as f64;
        let in_time = (time / self.jitter.ps().max(1) as f64).min(1.0);
        Expected::equal(self.most_flows() as f64 * in_time, self.size)
    }

    fn most_flows(&self) -> u64 {
        let hosts = u64::from(self.hosts);
        hosts * (hosts - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::fixture::{self, Fixture};

    #[test]
    fn everyone_sends_to_everyone_else() {
        let fixture = Fixture::new(fixture::leaf_spine(1, 3, 1));
        let flows = fixture.flows("all-to-all", "size = \"1MB\"\nstart = \"2us\"");
        let pairs: Vec<(u32, u32)> = flows.iter().map(|flow| (flow.src, flow.dst)).collect();
        assert_eq!(pairs, [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]);
        assert!(flows.iter().all(|f| f.start == Time::from_us(2) && f.size == 1_000_000));
    }

    #[test]
    fn with_a_jitter_every_host_has_its_own_moment() {
        let fixture = Fixture::new(fixture::leaf_spine(2, 8, 1));
        let flows = fixture.flows("all-to-all", "size = \"1B\"\njitter = \"10us\"");
        assert_eq!(flows.len(), 16 * 15);
        assert!(flows.is_sorted() && flows[239].start <= Time::from_us(10));
        let start_of = |host| flows.iter().find(|flow| flow.src == host).unwrap().start;
        assert!(flows.iter().all(|flow| flow.start == start_of(flow.src)));
        assert!(start_of(0) != start_of(1));
    }

    #[test]
    fn many_flows_take_little_memory() {
        // 512 * 511 flows of 56 B would be 15 MB; what is kept is 512 starts.
        let fixture = Fixture::new(fixture::leaf_spine(16, 32, 4));
        let source = fixture.source("all-to-all", "size = \"1MB\"").unwrap();
        assert_eq!(source.flows().count(), 512 * 511);
    }
}

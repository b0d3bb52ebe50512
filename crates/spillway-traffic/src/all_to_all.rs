//! Every host sends to every other.
//!
//! # What it does
//! The shuffle, or all-to-all collective: each host starts a flow to every other host. With a
//! jitter each host starts all of its flows at its own random time, like hosts that are not quite
//! synchronised. In phases it sends to some others at a time.
//!
//! # Rule
//! n hosts send n (n - 1) flows of the same size. A host starts at `start` plus a delay, uniform
//! from 0 to `jitter`. With p `phases` host h sends in phase i (from 0) to the hosts h + k, for k
//! from floor((n - 1) i / p) + 1 to floor((n - 1) (i + 1) / p), modulo n. A host begins a phase
//! when it knows that the flows that it sends and receives in the phase before are complete. Flows
//! that it sends are complete at other hosts, so it learns of their end `release_delay` later.
//! Between iterations it waits for `compute` and another jitter. With jobs, the hosts of each job
//! do this among themselves.
//!
//! Unless the section or `[transport]` gives `connections`, they stay open (`"open"`): hosts of a
//! job send to the same hosts again and again.
//!
//! # Cost
//! Memory per host, and for the flows of the first phase.

use super::Kind;
use super::collective::{Algorithm, Collective, Jobs, Schedule};

/// The kind `all-to-all`.
pub const KIND: Kind = Kind {
    id: "all-to-all",
    results: 1,
    summary: "Every host sends to every other host, at once or in phases.",
    example: "size = \"1MB\"",
    read: |section, label, context| {
        let size = super::read_size(section)?;
        let jobs = Jobs::read(section, label, context)?;
        let meaning =
            "Each host divides the others into this many groups, and sends to one after the other.";
        let phases = section.integer("phases", Some(1), 1..=u64::MAX, meaning)?;
        let jobs = jobs.read_hosts(section, context)?;
        let ranks = jobs.hosts();
        if phases >= ranks.into() {
            let problem = format!("{phases} phases for the {} others of a job", ranks - 1);
            return Err(section.conflict("phases", problem));
        }
        let algorithm = Algorithm::Shift { phases: phases as u32 };
        Ok(Box::new(Collective::new(jobs, Schedule { algorithm, ranks, size })))
    },
};

#[cfg(test)]
mod tests {
    use crate::fixture::{self, Fixture};
    use spillway_engine::Time;

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

//! All-reduce: the hosts of a job add up what each of them has, and all have the sum.
//!
//! # What it does
//! The collective of training in parallel: every host has a gradient of `size` bytes, and needs the
//! sum of all. Each host then computes for a while, and does it again.
//!
//! # Rule
//! The n hosts of a job cut the gradient into n blocks, as equal as whole bytes allow. With `ring`
//! each host sends one block to the next host in each of 2 (n - 1) steps (P. Patarasuk, X. Yuan,
//! JPDC 69(2), 2009). With `halving-doubling` hosts exchange half of all blocks with the nearest
//! other host, a quarter with the one after next, and so on; then the same backwards: 2 log2 n
//! steps (Rabenseifner's algorithm; R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005). Each
//! block that a host sends in a step is part of one flow.
//!
//! A host begins a step when it knows that the flows that it sends and receives in the step before
//! are complete. It waits for nothing else. Flows that it sends are complete at other hosts, so it
//! learns of their end `release_delay` later. Between its last step and the first step of the next
//! iteration it computes for `compute`, and a jitter. Adding up takes no time.
//!
//! Unless the section or `[transport]` gives `connections`, they stay open (`"open"`): hosts of a
//! job send to the same hosts again and again.
//!
//! # Cost
//! Memory per host, not per flow.

use super::Kind;
use super::collective::{Algorithm, Collective, Jobs, Schedule};

/// The kind `all-reduce`.
pub const KIND: Kind = Kind {
    id: "all-reduce",
    results: 1,
    summary: "Hosts of a job add up their gradients, again and again.",
    example: "size = \"1MB\"",
    read: |section, label, context| {
        let algorithms =
            [("ring", Algorithm::Ring), ("halving-doubling", Algorithm::HalvingDoubling)];
        let meaning =
            "How: each block round a ring, or halves, quarters and so on exchanged in pairs.";
        let algorithm = section.choice("algorithm", &algorithms, meaning)?;
        let size =
            section.positive_size("size", "", "Bytes that each host has, and are added up.")?;
        let jobs = Jobs::read(section, label, context)?.read_hosts(section, context)?;
        let ranks = jobs.hosts();
        if size < u64::from(ranks) {
            let problem = format!("{size} bytes for {ranks} hosts; each adds up at least one");
            return Err(section.conflict("size", problem));
        }
        if algorithm == Algorithm::HalvingDoubling && !ranks.is_power_of_two() {
            let problem =
                format!("\"halving-doubling\" takes a power of two; each job has {ranks} hosts");
            return Err(section.conflict("algorithm", problem));
        }
        Ok(Box::new(Collective::new(jobs, Schedule { algorithm, ranks, size })))
    },
};

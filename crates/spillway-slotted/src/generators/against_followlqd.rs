//! Against FollowLQD (Credence, Observation 1): its queue remains, while LQD's becomes shorter.
//!
//! Port 0 fills the buffer. Then two slots alternate: one packet for every port, port 0's first;
//! and N for port 0. LQD pushes out N - 1 of port 0's packets for the others. FollowLQD cannot; it
//! keeps its queue of B - 1 and takes one packet in each slot, port 0's: 2 in two slots, where the
//! optimum sends N + 1. So OPT / ALG approaches (N + 1) / 2.
//!
//! With `arrivals_per_slot = "burst"` both come in one slot, N for port 0 first. Then FollowLQD
//! sends 1 where the optimum sends N.

use super::{Generator, Make, PerSlot, Setting, at_least_two, fill, rounds};
use crate::Arrivals;
use spillway_settings::{Section, SettingsError};

pub(super) const GENERATOR: Generator = Generator {
    id: "against-followlqd",
    summary: "port 0 fills the buffer, then in turns a packet for every port and N for port 0",
    citation: "Addanki, Pacut, Schmid: Credence, NSDI 2024, Observation 1",
    against: Some("followlqd"),
    limit: Some(|ports, _| f64::from(ports + 1) / 2.0),
    read,
};

fn read(section: &mut Section, setting: Setting) -> Result<Make, SettingsError> {
    at_least_two(section, setting)?;
    let Setting { ports, buffer, .. } = setting;
    let rounds = rounds(section, 20 * buffer.min(100_000), 2 * u64::from(ports))?;
    let per_slot = PerSlot::read(section)?;
    Ok(Box::new(move || {
        let mut arrivals = Arrivals::new(ports);
        fill(&mut arrivals, setting);
        for _ in 0..rounds {
            let refill = (0..ports).map(|_| 0);
            match per_slot {
                PerSlot::Ports => {
                    arrivals.push(0..ports);
                    arrivals.push(refill);
                }
                PerSlot::Burst => arrivals.push(refill.chain(1..ports)),
            }
        }
        arrivals
    }))
}

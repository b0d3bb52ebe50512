//! Flows for which others wait, in a run in parts: when the next of them may be complete.
//!
//! A flow may start at the moment at which another one is complete, with the next number of all
//! flows. So windows in which such a flow may be complete are handled in order.

use super::Parallel;
use crate::simulation::Simulation;
use spillway_engine::Time;
use spillway_transport::Transport;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Flows for which others wait, by the earliest times at which they may be complete.
#[derive(Clone, Debug, Default)]
pub(super) struct Releases {
    flows: BinaryHeap<Reverse<Awaited>>,
}

/// A flow for which others wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Awaited {
    /// It is not complete before this time.
    earliest: Time,
    /// The part and place of its receiving end, and its number.
    part: u16,
    place: u32,
    id: u32,
}

impl Releases {
    /// A flow for which others wait starts now.
    pub fn add(&mut self, now: Time, part: u16, place: u32, id: u32) {
        self.flows.push(Reverse(Awaited { earliest: now, part, place, id }));
    }
}

impl Parallel {
    /// Whether a flow for which others wait may be complete before this time. Nothing happens
    /// before `first`.
    pub(super) fn may_release_before(&mut self, first: Time, bound: Time) -> bool {
        while let Some(&Reverse(next)) = self.releases.flows.peek() {
            if next.earliest >= bound {
                return false;
            }
            self.releases.flows.pop();
            let part = &self.parts[usize::from(next.part)];
            let Some(least) = part.time_to_complete(next.place, next.id) else { continue };
            let earliest = first + least;
            self.releases.flows.push(Reverse(Awaited { earliest, ..next }));
            if earliest < bound {
                return true;
            }
        }
        false
    }
}

impl Simulation {
    /// The least time in which the flow with this number, whose receiving end is at this place, may
    /// be complete; `None` if it is complete.
    fn time_to_complete(&self, place: u32, id: u32) -> Option<Time> {
        let end = self.hosts.ends.receiving_at(place).filter(|end| end.id == id)?;
        if self.hosts.completed_at(place) < Time::MAX {
            return None;
        }
        // One packet may be on its line when the time begins, and one when it ends.
        let full = self.scenario.transports.iter().map(Transport::full_packet).max().unwrap_or(0);
        let missing = end.size.saturating_sub(end.receiver.delivered() + 2 * u64::from(full));
        Some(self.scenario.topology.time_to_host(end.dst, missing))
    }
}

//! Strict priority: the lowest-numbered queue that is not empty sends next.
//!
//! # Rule
//! Packet by packet and without preemption; queues of lower priority can starve.
//!
//! # In composition
//! What starves keeps its room in the buffer, unless the sharing policy takes that back (as `lqd`,
//! `occamy`, or `credence` with `push_out`) or loses what is late (`cbm`). AQMs that go by time
//! mark it for others. Policies that take a port for one queue are warned of
//! (docs/scenario/switch.md). Timers of a sender may expire though nothing is lost: in `five`, with
//! PIAS, LQD and RACK, 7% of flows have a timeout if the least is 1 ms, and 1.5% if it is 10 ms
//! (studies/spillway_studies/five/paper.md). While a pause frame stops a queue, worse ones send.

use super::{Head, Scheduling};
use crate::backlog::Backlog;
use crate::catalogue::{Environment, Policy};
use spillway_settings::{Section, SettingsError};

/// The lowest queue class first.
#[derive(Clone, Debug)]
pub struct StrictPriority;

impl Policy for StrictPriority {
    const ID: &'static str = "strict";
    const SUMMARY: &'static str = "strict priority: the lowest queue class that holds anything";
    const CITATION: &'static str = "";

    type Params = ();

    fn params(_section: &mut Section, _environment: &Environment) -> Result<(), SettingsError> {
        Ok(())
    }

    fn new(_params: &(), _environment: &Environment) -> Self {
        StrictPriority
    }
}

impl Scheduling for StrictPriority {
    #[inline]
    fn select(
        &mut self,
        _port: u32,
        backlog: Backlog,
        _head: impl Fn(u8) -> Head,
        _turn: impl FnMut(u8),
    ) -> u8 {
        backlog.first()
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn watches_sending(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{queues, serve};
    use super::*;

    #[test]
    fn a_lower_queue_class_waits_for_all_higher_ones() {
        assert_eq!(serve(&mut StrictPriority, &mut queues(&[2, 1, 1], 100), 9), [0, 0, 1, 2]);
    }
}

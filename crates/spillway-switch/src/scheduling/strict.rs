//! Strict priority: the lowest-numbered queue that is not empty sends next.
//!
//! # Rule
//! Packet by packet and without preemption; queues of lower priority can starve.

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

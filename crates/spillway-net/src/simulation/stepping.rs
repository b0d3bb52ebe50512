//! A run in steps: it halts at a time, and goes on from there, or from a copy of it.
//!
//! However a run is divided into steps, its results are the same to the bit. When it halts at a
//! moment, everything before that moment has happened and nothing of that moment has. A change made
//! then holds for the whole moment.

use super::{Progress, Simulation};
use crate::scenario::Scenario;
use spillway_engine::Time;

/// The shortest time.
const INSTANT: Time = Time::from_ps(1);

impl Simulation {
    /// A copy that goes on with another reading of the same scenario.
    pub fn copy_with(&self, scenario: Scenario) -> Simulation {
        Simulation { scenario, ..self.clone() }
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.counters.events
    }

    /// Handles up to `events` events that are due before a time. Returns [`Progress::Halted`] if no
    /// such event is left; all ports are up to date then. A time beyond the scenario's `stop` means
    /// the end.
    pub fn run_until(&mut self, time: Time, events: u64) -> Progress {
        let progress = match self.next_change() {
            None => self.handle_events_until(time, events),
            Some(_) => self.handle_events_and_change(Some(time), events),
        };
        self.within_limits(progress)
    }

    pub(super) fn handle_events_until(&mut self, time: Time, events: u64) -> Progress {
        if self.parallel.is_some() {
            return self.run_in_parts(time, events);
        }
        for _ in 0..events {
            let next = self.network.events.next_time();
            let goes_on = !self.is_over() && self.ended_early().is_none();
            if goes_on && next.is_some_and(|next| next >= time) {
                return self.halt(time);
            }
            match self.handle_events(1) {
                Progress::Running => {}
                progress => return progress,
            }
        }
        Progress::Running
    }

    /// No event is left that is due before a time.
    fn halt(&mut self, time: Time) -> Progress {
        if time > self.scenario.stop {
            return self.handle_events(1);
        }
        self.halted_at = time;
        if time > Time::ZERO {
            // The run does not notice this change: only events ask whether the run is over.
            let before = std::mem::replace(&mut self.network.now, time - INSTANT);
            self.catch_up();
            self.network.now = before;
        }
        Progress::Halted
    }
}

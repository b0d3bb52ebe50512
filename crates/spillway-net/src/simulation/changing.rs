//! Numbers that change while a run goes on.

use super::{Progress, Simulation};
use crate::network::Network;
use crate::scenario::{Change, Fresh};
use spillway_engine::Time;
use spillway_settings::{SettingsError, Table, Value};
use std::sync::Arc;

impl Simulation {
    /// Sets numbers from now on. Now is the time at which the run halted last, so the numbers hold
    /// for everything that happens at this moment. A path is one of the scenario. In it, a tier may
    /// be replaced by the name of a switch, followed by a port if wanted, as in
    /// `switch.leaf0.port.3.aqm.min`.
    ///
    /// # Errors
    /// If a path does not lead to a number that can change. Also if the values are not valid there,
    /// either now or together with what the scenario changes later. Then nothing has changed.
    pub fn set(&mut self, numbers: &[(&str, &Value)]) -> Result<(), SettingsError> {
        let mut changed = self.changed.clone();
        let fresh = self.scenario.change(numbers, &mut changed)?;
        if self.changes_made < self.scenario.changes.len() {
            self.scenario.check_changes(self.changes_made, changed.clone())?;
        }
        self.changed = changed;
        self.adopt(fresh);
        self.note_by_hand(numbers);
        Ok(())
    }

    /// Notes what was set by hand. If a number is set twice at the same moment, the last value
    /// counts.
    fn note_by_hand(&mut self, numbers: &[(&str, &Value)]) {
        let now = self.now();
        let by_hand = Arc::make_mut(&mut self.set_by_hand);
        let earlier = by_hand.partition_point(|change| change.at < now);
        for &(key, value) in numbers {
            let of_key = by_hand[earlier..].iter().position(|change| change.key == key);
            if let Some(place) = of_key {
                by_hand.remove(earlier + place);
            }
            by_hand.push(Change::by_hand(now, key, value));
        }
    }

    /// Whether any number was set by hand.
    pub fn was_set(&self) -> bool {
        !self.set_by_hand.is_empty()
    }

    /// Adds what was set by hand, as events, to this run's scenario as it is written out. A run of
    /// the result has the same results as this run.
    pub fn add_what_was_set(&self, scenario: &mut Table) {
        let events = scenario.entry("event").or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(events) = events {
            // These events come first: at a moment at which the scenario itself changes something,
            // the run halts before that change.
            events.splice(0..0, self.scenario.events_of(&self.set_by_hand));
        }
    }

    fn adopt(&mut self, fresh: Vec<Fresh>) {
        let now = self.now();
        fresh.into_iter().for_each(|fresh| self.network.adopt(now, fresh));
    }

    /// When the scenario changes a number next.
    pub(super) fn next_change(&self) -> Option<Time> {
        self.scenario.changes.get(self.changes_made).map(|change| change.at)
    }

    /// Handles up to `events` events that are due before a time, or before the end if there is
    /// none. Where the scenario changes numbers, the run halts as it does for a caller that steps
    /// it.
    #[cold]
    pub(super) fn handle_events_and_change(
        &mut self,
        until: Option<Time>,
        events: u64,
    ) -> Progress {
        let before = self.counters.events;
        loop {
            let left = events - (self.counters.events - before);
            let due = self.next_change().filter(|&at| until.is_none_or(|until| at < until));
            let progress = match due.or(until) {
                Some(time) => self.handle_events_until(time, left),
                None => self.handle_events(left),
            };
            if progress != Progress::Halted || due.is_none() {
                return progress;
            }
            self.make_changes();
        }
    }

    /// Makes all changes of the moment at which the run has halted.
    fn make_changes(&mut self) {
        let due = &self.scenario.changes[self.changes_made..];
        let due = due.iter().take_while(|change| change.at == self.halted_at);
        let numbers: Vec<_> = due.map(Change::number).collect();
        let fresh = self.scenario.change(&numbers, &mut self.changed);
        self.changes_made += numbers.len();
        self.adopt(fresh.expect("it was checked when the scenario was read, and at every `set`"));
    }
}

impl Network {
    /// The policy at a place takes over the numbers of `fresh`.
    fn adopt(&mut self, now: Time, fresh: Fresh) {
        match fresh {
            Fresh::Sharing(switch, port, fresh) => {
                self.switches[switch as usize].change_sharing(now, port, fresh);
                self.schedule_expulsion(now, switch);
            }
            Fresh::Aqm(switch, port, fresh) => {
                self.switches[switch as usize].change_aqm(now, port, fresh);
            }
            Fresh::NicAqm(host, fresh) => self.nics[host as usize].change_aqm(now, fresh),
            Fresh::ReceiveRate(host, rate) => self.change_receive_rate(host, rate),
        }
    }
}

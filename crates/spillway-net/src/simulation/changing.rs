//! Numbers that change while a run goes on.

use super::{Progress, Simulation};
use crate::network::Network;
use crate::scenario::{Change, Fresh};
use spillway_engine::Time;
use spillway_settings::{SettingsError, Table, Value};
use std::sync::Arc;

impl Simulation {
    /// Sets numbers from now on, which is where the run halted last: they hold for all that happens
    /// at this moment. A path is the scenario's; a tier may be replaced by a switch's name and be
    /// followed by a port, as in `switch.leaf0.port.3.aqm.min`.
    ///
    /// # Errors
    /// If a path leads to no number that can change, or if the values are not valid there, now or
    /// with what the scenario changes later. Nothing has changed then.
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

    /// Notes what was set by hand; of a number that is set twice at a moment, the last value.
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

    /// Adds to a scenario, the one of this run as it is written out, what was set by hand, as
    /// events. A run of it has the same results.
    pub fn add_what_was_set(&self, scenario: &mut Table) {
        let events = scenario.entry("event").or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(events) = events {
            // They come first: at the scenario's own changes of a moment, the run has halted
            // before.
            events.splice(0..0, self.scenario.events_of(&self.set_by_hand));
        }
    }

    fn adopt(&mut self, fresh: Vec<Fresh>) {
        let now = self.now();
        fresh.into_iter().for_each(|fresh| self.network.adopt(now, fresh));
    }

    /// When a number changes next, by the scenario.
    pub(super) fn next_change(&self) -> Option<Time> {
        self.scenario.changes.get(self.changes_made).map(|change| change.at)
    }

    /// Handles up to `events` events that are due before a time, or all without one. Where numbers
    /// change, the run halts as it does for whoever steps it.
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
    /// The policy in a place takes over the numbers of this one.
    fn adopt(&mut self, now: Time, fresh: Fresh) {
        match fresh {
            Fresh::Sharing(switch, port, fresh) => {
                self.switches[switch as usize].change_sharing(now, port, fresh);
            }
            Fresh::Aqm(switch, port, fresh) => {
                self.switches[switch as usize].change_aqm(now, port, fresh);
            }
            Fresh::NicAqm(host, fresh) => self.nics[host as usize].change_aqm(now, fresh),
            Fresh::ReceiveRate(host, rate) => self.change_receive_rate(host, rate),
        }
    }
}

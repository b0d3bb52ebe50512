//! Changes in a scenario with every value written out.
//!
//! A tier that has a section is written out with all its policies, so these look as if they were
//! its own. A number that is set without a tier would not reach them. So such a path is written
//! once for each tier that it means.

use super::Change;
use crate::scenario::Scenario;
use spillway_settings::Value;

impl Scenario {
    /// Names the tiers in the events of the scenario as it is written out.
    pub(in crate::scenario) fn name_tiers_of_changes(&mut self) {
        let Some(Value::Array(events)) = self.resolved.get("event").cloned() else { return };
        let written = |event: Value| match &event {
            Value::Table(table) if table.get("kind").and_then(Value::as_str) == Some("set") => {
                let key = table.get("key").and_then(Value::as_str).unwrap_or_default();
                let with = |key: String| {
                    let mut table = table.clone();
                    table.insert("key".into(), Value::String(key));
                    Value::Table(table)
                };
                self.keys_written_out(key).into_iter().map(with).collect()
            }
            _ => vec![event],
        };
        let events = events.into_iter().flat_map(written).collect();
        self.resolved.insert("event".into(), Value::Array(events));
    }

    /// The events that make these changes, where the scenario is written out.
    pub(crate) fn events_of(&self, changes: &[Change]) -> Vec<Value> {
        let event = |change: &Change, key: String| {
            let at = Value::String(change.at.to_string());
            let (kind, key) = (Value::String("set".into()), Value::String(key));
            let fields =
                [("kind", kind), ("key", key), ("value", change.value.clone()), ("at", at)];
            Value::Table(
                fields.map(|(name, value)| (name.to_string(), value)).into_iter().collect(),
            )
        };
        let mut events = Vec::new();
        for change in changes {
            let keys = self.keys_written_out(&change.key);
            events.extend(keys.into_iter().map(|key| event(change, key)));
        }
        events
    }

    /// A path as it is or, if it means several tiers, the path for each tier.
    fn keys_written_out(&self, key: &str) -> Vec<String> {
        let steps: Vec<&str> = key.split('.').collect();
        let room = match steps.as_slice() {
            ["switch", "port", _, room, ..] | ["switch", room @ ("sharing" | "aqm"), ..] => room,
            _ => return vec![key.to_string()],
        };
        let switch = self.resolved.get("switch").and_then(Value::as_table);
        let has_section = |tier: &str| switch.is_some_and(|switch| switch.contains_key(tier));
        if !self.tiers.iter().any(|tier| has_section(tier.tier)) {
            return vec![key.to_string()];
        }
        let rest = &key["switch".len()..];
        let common = self.tiers.iter().filter(|tier| !tier.has_own(room));
        common.map(|tier| format!("switch.{}{rest}", tier.tier)).collect()
    }
}

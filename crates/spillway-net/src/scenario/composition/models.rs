//! Warnings about models among others than in their training.

use super::Place;
use crate::scenario::Scenario;
use crate::scenario::assignments::kind_of;
use serde_json::Value as Json;
use spillway_settings::{Table, Value};
use spillway_switch::Policy;
use spillway_switch::scheduling::StrictPriority;
use std::collections::BTreeSet;

/// Warnings about models that were trained under other algorithms, or with other flows. What their
/// files do not tell is not compared.
pub(super) fn foreign_models(place: &Place, scenario: &Scenario) -> Vec<String> {
    let here = conditions(&scenario.resolved, place.tier.tier);
    let mut found = Vec::new();
    for (name, training) in place.tier.sharing().1.trainings() {
        let there = conditions_of(training, place.tier.tier);
        let differs = |(here, there): &(&Condition, &Condition)| {
            !there.1.is_empty() && !here.1.is_subset(&there.1)
        };
        let pairs: Vec<_> = here.iter().zip(&there).filter(differs).collect();
        if pairs.is_empty() {
            continue;
        }
        let written = |(key, values): &Condition| {
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            format!("{key} = {}", values.join(" and "))
        };
        let there: Vec<String> = pairs.iter().map(|(_, there)| written(there)).collect();
        let here: Vec<String> = pairs.iter().map(|(here, _)| written(here)).collect();
        found.push(format!(
            "{}.model: {name}: it was trained with {}; here {}: train one for this scenario, by `spillway \
             oracle train`",
            place.policy("sharing").0,
            there.join(", "),
            here.join(", ")
        ));
    }
    found
}

/// A key, and the values that it has; none if they are not known.
type Condition = (&'static str, BTreeSet<String>);

/// The conditions in all scenarios of a training.
fn conditions_of(training: &str, tier: &str) -> Vec<Condition> {
    let training: Json = serde_json::from_str(training).unwrap_or_default();
    let traces = training["traces"].as_array().into_iter().flatten();
    let texts = traces.filter_map(|trace| trace["resolved"].as_str());
    let tables = texts.filter_map(|text| spillway_settings::parse(text).ok());
    let mut all = conditions(&Table::new(), tier);
    for table in tables {
        for (all, (_, values)) in all.iter_mut().zip(conditions(&table, tier)) {
            all.1.extend(values);
        }
    }
    all
}

/// The conditions that matter to a model, in a resolved scenario.
fn conditions(resolved: &Table, tier: &str) -> Vec<Condition> {
    let kind = |section: &Value, key: &str| section.get(key).and_then(kind_of).map(String::from);
    let none = Value::Table(Table::new());
    let switch = resolved.get("switch").unwrap_or(&none);
    let switch = switch.get(tier).unwrap_or(switch);
    let queues = switch.get("queues_per_port").and_then(Value::as_integer);
    let scheduling = kind(switch, "scheduling").map(|id| match (queues, &*id) {
        (Some(1), "rr" | "dwrr" | StrictPriority::ID) => "fifo".into(),
        _ => id,
    });
    let mut all = [
        ("queues_per_port", queues.map(|queues| queues.to_string()).into_iter().collect()),
        ("scheduling", scheduling.into_iter().collect()),
        ("tagging", BTreeSet::new()),
        ("transport", BTreeSet::new()),
        ("recovery", BTreeSet::new()),
        ("sizes", BTreeSet::new()),
    ];
    let common = resolved.get("transport").unwrap_or(&none);
    let sections = resolved.get("traffic").and_then(Value::as_array).into_iter().flatten();
    for section in sections {
        let own = kind(section, "transport");
        let of = if own.is_some() { section } else { common };
        // Files from before there were taggers do not have the key.
        let tagging = kind(of, "tagging").unwrap_or_else(|| "fixed".into());
        let sizes = section.get("sizes").and_then(Value::as_str).map(|sizes| {
            match section.get("sizes_within").and_then(Value::as_str) {
                Some(within) => format!("{sizes} within {within}"),
                None => sizes.into(),
            }
        });
        let values =
            [Some(tagging), own.or_else(|| kind(common, "kind")), kind(of, "recovery"), sizes];
        for ((_, all), value) in all[2..].iter_mut().zip(values) {
            all.extend(value);
        }
    }
    all.into()
}

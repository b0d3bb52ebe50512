//! What scenarios can choose from, for listings.

use crate::plugins::REASONS;
use pyo3::prelude::*;
use serde_json::{Value, json};
use spillway_net::record::Record;
use spillway_net::record::column::Kind;
use spillway_net::results::{Numbers, all};
use spillway_net::simulation::{Progress, SIGNALS};
use spillway_net::summary::CLASSES;
use spillway_settings::{Form, Key};
use spillway_switch::aqm::AqmPolicy;
use spillway_switch::cost::State;
use spillway_switch::scheduling::SchedulingPolicy;
use spillway_switch::sharing::SharingPolicy;
use spillway_switch::{Cost, DropReason, Entry};
use spillway_traffic::NAMED_SIZES;
use spillway_transport::{protection, recovery, tagging};

/// All algorithms by room, with their parameters and sources, and all signals, as JSON.
#[pyfunction]
pub fn catalogue() -> String {
    let transports = spillway_transport::KINDS.iter().map(|kind| {
        row(kind.id, kind.summary, kind.citation, &spillway_transport::Transport::keys(kind.id))
    });
    let recoveries = recovery::KINDS.iter();
    let recoveries = recoveries.map(|kind| row(kind.id, kind.summary, kind.citation, &kind.keys()));
    let taggers = tagging::KINDS.iter();
    let taggers = taggers.map(|kind| row(kind.id, kind.summary, kind.citation, &kind.keys()));
    let protections = protection::KINDS.iter();
    let protections = protections.map(|kind| {
        let told = row(kind.id, kind.summary, kind.citation, &[]);
        with_cost(told, &kind.cost)
    });
    let traffics =
        spillway_traffic::KINDS.iter().map(|kind| row(kind.id, kind.summary, "", &kind.keys()));
    let topologies =
        spillway_topology::KINDS.iter().map(|kind| row(kind.id, kind.summary, "", &kind.keys()));
    let sizes = NAMED_SIZES.iter().map(
        |sizes| json!({ "id": sizes.name, "mean_bytes": sizes.mean(), "citation": sizes.source() }),
    );
    let signals = SIGNALS.iter().map(|signal| {
        json!({
            "id": signal.id,
            "each": signal.each.name(),
            "is_since": signal.is_since,
            "meaning": signal.meaning,
        })
    });
    json!({
        "sharing": policies(SharingPolicy::catalogue()),
        "aqm": policies(AqmPolicy::catalogue()),
        "scheduling": policies(SchedulingPolicy::catalogue()),
        "transport": transports.collect::<Value>(),
        "recovery": recoveries.collect::<Value>(),
        "tagging": taggers.collect::<Value>(),
        "protection": protections.collect::<Value>(),
        "traffic": traffics.collect::<Value>(),
        "topology": topologies.collect::<Value>(),
        "sizes": sizes.collect::<Value>(),
        "signals": signals.collect::<Value>(),
    })
    .to_string()
}

/// What every section of a scenario takes, as JSON: a list of sections, each with its path, its
/// kind and its keys.
#[pyfunction]
pub fn schema() -> String {
    let sections = spillway_net::schema::schema();
    let told = sections.iter().map(|section| {
        let keys = section.keys.iter().map(|key| {
            let mut told = of_key(key);
            told["type"] = key.takes.kind().into();
            told["changes"] = section.changes.contains(&key.name).into();
            let choices = key.takes.choices();
            if !choices.is_empty() {
                told["choices"] = choices.into();
            }
            let units = key.takes.units();
            if !units.is_empty() {
                told["units"] = units.into();
            }
            told["forms"] = key.takes.forms().iter().map(of_form).collect();
            for (end, bound) in ENDS.into_iter().zip(key.takes.bounds().into_iter().flatten()) {
                told[end] = of_bound(bound);
            }
            told
        });
        json!({ "path": section.path, "kind": section.kind, "keys": keys.collect::<Value>() })
    });
    told.collect::<Value>().to_string()
}

const ENDS: [&str; 2] = ["least", "most"];

/// The end of a range, and whether it belongs to it.
fn of_bound((value, included): (f64, bool)) -> Value {
    if value.is_finite() { json!({ "value": value, "included": included }) } else { Value::Null }
}

/// A form of values, by its name.
fn of_form(form: &Form) -> Value {
    match form {
        Form::Flag => json!({ "form": "flag" }),
        Form::Text => json!({ "form": "text" }),
        Form::Word(word) => json!({ "form": "word", "word": word }),
        Form::Pattern(pattern) => json!({ "form": "pattern", "pattern": pattern }),
        Form::Quantity { units, positive } => {
            json!({ "form": "quantity", "units": units, "positive": positive })
        }
        Form::Number(range) => {
            let [least, most] = range.bounds().map(of_bound);
            json!({ "form": "number", "least": least, "most": most })
        }
        Form::Integer { least, most } => {
            json!({ "form": "integer", "least": least, "most": most })
        }
        Form::List { of, least, most } => {
            let of: Value = of.iter().map(of_form).collect();
            json!({ "form": "list", "of": of, "least": least, "most": most })
        }
        Form::Table => json!({ "form": "table" }),
    }
}

/// The paths of keys from before, with the paths at which they are now.
#[pyfunction]
pub fn moved_keys() -> Vec<(String, String)> {
    let path = |key: &str| format!("transport.{key}");
    recovery::moved().map(|(key, now)| (path(key), path(&now))).collect()
}

/// What results hold, as JSON: the statuses of runs, from the best to the worst; the classes of
/// every scenario; the tiers; the reasons of losses, and those of them that plug-ins may give; the
/// columns of all tables, and the further columns of flows by what asks for them; the tables that
/// every run records.
#[pyfunction]
pub fn result_schema() -> String {
    let names =
        |reasons: &[DropReason]| reasons.iter().map(|reason| reason.name()).collect::<Value>();
    json!({
        "statuses": Progress::STATUSES,
        "classes": CLASSES,
        "tiers": spillway_topology::TIERS,
        "reasons": names(&DropReason::ALL),
        "plugins_reasons": names(&REASONS),
        "tables": columns(Record::kinds()),
        "further": columns(Record::further_kinds()),
        "always": Record::ALWAYS,
    })
    .to_string()
}

/// The columns of tables.
fn columns(tables: Vec<(&'static str, Vec<Kind>)>) -> Value {
    let column = |kind: &Kind| {
        json!({
            "name": kind.name,
            "type": kind.number,
            "is_name": kind.names.is_some(),
            "may_be_null": kind.may_be_absent,
            "meaning": kind.meaning,
        })
    };
    let of = |(name, kinds): (&str, Vec<Kind>)| {
        (name.to_string(), kinds.iter().map(column).collect::<Value>())
    };
    Value::Object(tables.into_iter().map(of).collect())
}

/// A key as JSON.
fn of_key(key: &Key) -> Value {
    json!({
        "name": key.name,
        "takes": key.takes.to_string(),
        "default": key.default,
        "meaning": key.meaning,
    })
}

/// The results numbers of everything that has one, including the slotted model.
#[pyfunction]
pub fn results() -> Numbers {
    let mut numbers = all();
    numbers.insert("slotted".into(), spillway_slotted::RESULTS);
    numbers
}

fn policies(entries: Vec<Entry>) -> Value {
    let told = |entry: &Entry| {
        let mut told = row(entry.id, entry.summary, entry.citation, &entry.keys);
        told["changes"] = entry.changes.into();
        told["changes_by_port"] = entry.changes_by_port.into();
        match &entry.cost {
            Some(cost) => with_cost(told, cost),
            None => told,
        }
    };
    entries.iter().map(told).collect()
}

/// The row of an algorithm with what it requires of a switch's hardware.
fn with_cost(mut told: Value, cost: &Cost) -> Value {
    told["cost"] = cost.parts().into_iter().collect();
    told["state"] = cost.states().map(of_state).collect();
    told
}

/// State that a policy keeps, and what it keeps it for, as numbers and what is no number.
fn of_state((of, state): (&str, State)) -> Value {
    json!({
        "of": of,
        "counters": state.counters,
        "times": state.times,
        "bits": state.bits,
        "more": state.more,
    })
}

/// An algorithm: its name, what it does, its source and its keys.
pub fn row(id: &str, summary: &str, citation: &str, keys: &[Key]) -> Value {
    let keys = keys.iter().filter(|key| !["name", "kind"].contains(&key.name)).map(of_key);
    json!({
        "id": id,
        "summary": summary,
        "citation": citation,
        "keys": keys.collect::<Value>(),
    })
}

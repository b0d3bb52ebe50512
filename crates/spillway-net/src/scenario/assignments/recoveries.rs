//! Assignments to the kind of a loss recovery: what both kinds have stays.

use super::{at, kinds_of_senders, section_of_traffic};
use spillway_settings::{SettingsError, Table, Value};
use spillway_transport::recovery;

/// Gives the recovery at `path` this kind. Returns the paths of dropped keys: those that the kind
/// does not have, or with another default. If it is that of `[transport]`, they are dropped from
/// traffic sections without a kind of their own, too.
///
/// # Errors
/// If the path leads nowhere.
pub(super) fn change(
    table: &mut Table,
    path: &str,
    id: &str,
) -> Result<Vec<String>, SettingsError> {
    let common = table.get("transport").and_then(|section| section.get(recovery::KEY));
    let earlier = recovery::chosen(common).to_string();
    let (merged, mut gone) = changed(at(table, path), path, &earlier, id);
    spillway_settings::apply(table, &format!("{path}={}", Value::Table(merged)))?;
    if path == "transport.recovery" {
        for place in 0..kinds_of_senders(table).len() {
            let Some(section) = section_of_traffic(table, place) else { continue };
            let Some(Value::Table(own)) = section.get(recovery::KEY) else { continue };
            if own.contains_key("kind") {
                continue;
            }
            let own = Value::Table(own.clone());
            let path = format!("traffic.{place}.{}", recovery::KEY);
            let (mut left, dropped) = changed(Some(&own), &path, &earlier, id);
            left.remove("kind");
            gone.extend(dropped);
            section.insert(recovery::KEY.into(), Value::Table(left.clone()));
            if left.is_empty() {
                section.remove(recovery::KEY);
            }
        }
    }
    Ok(gone)
}

/// A recovery with another kind than it has, or than `earlier`, and the paths of dropped keys.
fn changed(given: Option<&Value>, path: &str, earlier: &str, id: &str) -> (Table, Vec<String>) {
    let mut given = recovery::table_of(given);
    given.entry("kind").or_insert_with(|| earlier.into());
    let given = Value::Table(given);
    let Value::Table(merged) = recovery::merge(Some(&given), &id.into()) else {
        unreachable!("a section is merged")
    };
    let before = given.as_table().into_iter().flat_map(Table::keys);
    let gone = before.filter(|key| !merged.contains_key(*key)).map(|key| format!("{path}.{key}"));
    let gone = gone.collect();
    (merged, gone)
}

//! `--set key=value` in a whole scenario: what an assignment drops beside what it sets, and which
//! assignments deserve a warning.
//!
//! Another kind of transport or topology has other keys, and what only the kind before had goes with
//! it; [`spillway_settings::apply`] knows nothing of that.

use crate::extensions::Extensions;
use crate::topology;
use crate::transport::{self, Losses, Transport};
use spillway_settings::{SettingsError, Table, Value};

/// Applies `key=value` assignments in order to a scenario that has not been read yet. Returns a warning
/// for each that does not reach all that it seems to, and for each that a later one has made void.
///
/// # Errors
/// One is not of that form, or leads nowhere.
pub fn apply(
    given: &mut Table,
    assignments: &[String],
    extensions: &Extensions,
) -> Result<Vec<String>, SettingsError> {
    let void = apply_each(given, assignments, extensions)?;
    let mut warnings = overruled(given, assignments);
    warnings.extend(void);
    Ok(warnings)
}

/// The same; returns only what a later one has made void.
fn apply_each(
    table: &mut Table,
    assignments: &[String],
    extensions: &Extensions,
) -> Result<Vec<String>, SettingsError> {
    let mut warnings = Vec::new();
    for (place, assignment) in assignments.iter().enumerate() {
        let before = sender_of(table, assignment);
        spillway_settings::apply(table, assignment)?;
        let mut gone = forget_other_kinds(table, assignment, extensions);
        gone.extend(forget_other_senders(table, assignment, before, extensions));
        let gone: Vec<String> = gone.iter().map(|path| by_name(table, path)).collect();
        let (earlier, later) = (&assignments[..place], &assignments[place + 1..]);
        for path in earlier.iter().map(|other| path_of(other)) {
            let is_set_again = later.iter().any(|other| path_of(other) == path);
            if is_set_again || !gone.contains(&by_name(table, path)) {
                continue;
            }
            let key = path.rsplit('.').next().unwrap_or_default();
            warnings.push(format!(
                "{path} is set, but {assignment} behind it drops it: there is no {key} there"
            ));
        }
    }
    Ok(warnings)
}

/// Another kind of transport or topology has other keys: what only other kinds have goes, and what none
/// has stays, to be told. Returns the paths of what is gone.
fn forget_other_kinds(table: &mut Table, assignment: &str, extensions: &Extensions) -> Vec<String> {
    if path_of(assignment) == "transport.loss_detection" {
        return forget_other_losses(table);
    }
    let Some(section) = path_of(assignment).strip_suffix(".kind") else { return Vec::new() };
    let Some(Value::Table(settings)) = table.get_mut(section) else { return Vec::new() };
    let kind = settings.get("kind").and_then(Value::as_str).unwrap_or_default();
    let kinds: Vec<(&str, Vec<String>)> = match section {
        "transport" => {
            let keys = |id| Some((id, Transport::keys_of(id, section, extensions).ok()?));
            transport::ids(extensions).filter_map(keys).collect()
        }
        "topology" => {
            let names =
                |kind: &topology::Kind| kind.keys().iter().map(|key| key.name.into()).collect();
            topology::KINDS.iter().map(|kind| (kind.id, names(kind))).collect()
        }
        _ => return Vec::new(),
    };
    let Some((_, ours)) = kinds.iter().find(|(id, _)| *id == kind) else { return Vec::new() };
    let is_known = |key: &str| kinds.iter().any(|(_, keys)| is_of(keys, key));
    drop_keys(settings, section, |key| key == "kind" || is_of(ours, key) || !is_known(key))
}

/// Another way of finding losses: the keys that mean nothing under it go.
fn forget_other_losses(table: &mut Table) -> Vec<String> {
    let Some(Value::Table(settings)) = table.get_mut("transport") else { return Vec::new() };
    let way = settings.get("loss_detection").and_then(Value::as_str).unwrap_or_default();
    let way = way.to_string();
    drop_keys(settings, "transport", |key| !Losses::is_foreign(key, &way))
}

/// Whether a key is one of these.
fn is_of(keys: &[String], key: &str) -> bool {
    keys.iter().any(|known| known == key)
}

/// Drops the keys of the section at `path` that are not to stay, and returns their paths.
fn drop_keys(settings: &mut Table, path: &str, stays: impl Fn(&str) -> bool) -> Vec<String> {
    let gone = settings.keys().filter(|key| !stays(key)).map(|key| format!("{path}.{key}"));
    let gone: Vec<String> = gone.collect();
    settings.retain(|key, _| stays(key));
    gone
}

/// The section of traffic that `traffic.NAME.transport=...` is about.
fn traffic_of<'a>(table: &'a mut Table, assignment: &str) -> Option<&'a mut Table> {
    let (path, _) = assignment.split_once('=')?;
    let name = path.trim().strip_prefix("traffic.")?.strip_suffix(".transport")?;
    let sections = table.get_mut("traffic")?.as_array_mut()?;
    let is_named = |section: &Value| section.get("name").and_then(Value::as_str) == Some(name);
    let place = sections.iter().position(is_named).or_else(|| name.parse().ok())?;
    sections.get_mut(place)?.as_table_mut()
}

/// A path into a section of traffic by the section's name, if it goes by its place.
fn by_name(table: &Table, path: &str) -> String {
    let named = || {
        let (place, key) = path.strip_prefix("traffic.")?.split_once('.')?;
        let section = table.get("traffic")?.as_array()?.get(place.parse::<usize>().ok()?)?;
        Some(format!("traffic.{}.{key}", section.get("name")?.as_str()?))
    };
    named().unwrap_or_else(|| path.to_string())
}

/// The transport of the section of traffic that is about to get another.
fn sender_of(table: &mut Table, assignment: &str) -> Option<String> {
    let own = traffic_of(table, assignment)?.get("transport").cloned();
    let common = || table.get("transport")?.get("kind").cloned();
    own.or_else(common)?.as_str().map(str::to_string)
}

/// What a section of traffic had of its transport before, and its new one has not, goes. Returns the
/// paths of that.
fn forget_other_senders(
    table: &mut Table,
    assignment: &str,
    before: Option<String>,
    extensions: &Extensions,
) -> Vec<String> {
    let Some(section) = traffic_of(table, assignment) else { return Vec::new() };
    let now = section.get("transport").and_then(Value::as_str).unwrap_or_default();
    let keys_of = |kind: &str| Transport::keys_of(kind, "traffic", extensions);
    let Ok(theirs) = keys_of(before.as_deref().unwrap_or(transport::KINDS[0].id)) else {
        return Vec::new();
    };
    let Ok(ours) = keys_of(now) else { return Vec::new() };
    let path = path_of(assignment).strip_suffix(".transport").unwrap_or_default();
    let stays = |key: &str| key == "kind" || is_of(&ours, key) || !is_of(&theirs, key);
    drop_keys(section, path, stays)
}

/// The key that an assignment sets.
fn path_of(assignment: &str) -> &str {
    assignment.split('=').next().unwrap_or_default().trim()
}

/// A warning for every assignment to `switch` that a tier has a value of its own for, unless that is
/// set behind it.
fn overruled(given: &Table, assignments: &[String]) -> Vec<String> {
    let Some(Value::Table(switch)) = given.get("switch") else { return Vec::new() };
    let mut warnings = Vec::new();
    for (place, assignment) in assignments.iter().enumerate() {
        let path = path_of(assignment);
        let mut steps = path.split('.');
        let (Some("switch"), Some(key)) = (steps.next(), steps.next()) else { continue };
        for (tier, own) in switch {
            let own = own.as_table().filter(|_| tier != key);
            let own_path = format!("switch.{tier}.{key}");
            let is_set_too = assignments[place..].iter().any(|other| path_of(other) == own_path);
            if own.is_some_and(|own| own.contains_key(key)) && !is_set_too {
                warnings.push(format!(
                    "{path} is set, but not for the {tier} tier, which has its own: \
                     set switch.{tier}.{key} too"
                ));
            }
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a scenario is after assignments, and what is warned of.
    fn applied(given: &str, assignments: &[&str]) -> (Table, Vec<String>) {
        let mut table: Table = given.parse().unwrap();
        let assignments: Vec<String> = assignments.iter().map(|text| text.to_string()).collect();
        let warnings = apply(&mut table, &assignments, &Extensions::default()).unwrap();
        (table, warnings)
    }

    fn table(text: &str) -> Table {
        text.parse().unwrap()
    }

    #[test]
    fn what_only_the_kind_before_had_goes_with_it_and_what_none_has_stays() {
        let given = "[transport]\nkind = \"dctcp\"\ng = 0.5\nmin_rto = \"1ms\"\ngg = 1";
        let (found, warnings) = applied(given, &["transport.kind=newreno"]);
        let expected = "[transport]\nkind = \"newreno\"\nmin_rto = \"1ms\"\ngg = 1";
        assert_eq!((found, warnings), (table(expected), vec![]));
        let given = "[topology]\nkind = \"leaf-spine\"\nleaves = 4\nlink_delay = \"1us\"";
        let (found, _) = applied(given, &["topology.kind=star"]);
        assert_eq!(found, table("[topology]\nkind = \"star\"\nlink_delay = \"1us\""));
        // An unknown kind drops nothing: reading it will tell.
        let given = "[transport]\nkind = \"dctcp\"\ng = 0.5";
        let (found, _) = applied(given, &["transport.kind=dctp"]);
        assert_eq!(found, table("[transport]\nkind = \"dctp\"\ng = 0.5"));
    }

    #[test]
    fn another_way_of_finding_losses_has_other_keys() {
        let given = "[transport]\ntail_loss_probe = true\ndupthresh = 4";
        let (found, _) = applied(given, &["transport.loss_detection=ns3"]);
        assert_eq!(found, table("[transport]\nloss_detection = \"ns3\"\ndupthresh = 4"));
    }

    #[test]
    fn a_section_of_traffic_loses_what_its_transport_before_had() {
        let given = "[[traffic]]\nname = \"a\"\nkind = \"incast\"\ng = 0.5\nmin_rto = \"1ms\"";
        let after = "[[traffic]]\nname = \"a\"\nkind = \"incast\"\nmin_rto = \"1ms\"\n\
                     transport = \"cubic\"";
        // By name, and by place.
        for assignment in ["traffic.a.transport=cubic", "traffic.0.transport=cubic"] {
            assert_eq!(applied(given, &[assignment]).0, table(after), "{assignment}");
        }
    }

    #[test]
    fn an_assignment_that_a_later_one_drops_is_told() {
        let drops = "transport.g is set, but transport.kind=newreno behind it drops it: there is no g \
                     there";
        let told = |assignments: &[&str]| applied("", assignments).1;
        assert_eq!(told(&["transport.g=0.5", "transport.kind=newreno"]), [drops]);
        assert_eq!(told(&["transport.kind=newreno", "transport.g=0.5"]), [""; 0]);
        // It is set once more.
        let again = ["transport.g=0.5", "transport.kind=newreno", "transport.kind=dctcp"];
        assert_eq!(told(&again), [drops]);
        assert_eq!(told(&[&again[..], &["transport.g=0.25"]].concat()), [""; 0]);
    }

    #[test]
    fn an_assignment_to_all_switches_that_a_tier_overrules_is_told() {
        let given = "[switch]\nsharing = \"dt\"\n[switch.leaf]\nsharing = \"cs\"";
        let overruled = "switch.sharing is set, but not for the leaf tier, which has its own: set \
                         switch.leaf.sharing too";
        let told = |assignments: &[&str]| applied(given, assignments).1;
        assert_eq!(told(&["switch.sharing=lqd"]), [overruled]);
        assert_eq!(told(&["switch.sharing=lqd", "switch.leaf.sharing=lqd"]), [""; 0]);
        assert_eq!(told(&["switch.aqm=none"]), [""; 0]);
    }
}

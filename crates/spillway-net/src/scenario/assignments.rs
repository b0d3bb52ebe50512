//! Assignments `--set key=value` to a whole scenario: which other keys they drop, and which
//! assignments deserve a warning.
//!
//! Each kind of transport or topology has its own keys. If the kind changes, a key that only the
//! previous kind had is dropped, also from traffic sections that use that transport. If the kind of
//! a policy changes, the policy starts anew, without the parameters of the previous one.
//! [`spillway_settings::apply`] knows nothing of this.

mod overruled;
mod recoveries;

use self::overruled::overruled;
use super::RoutingSettings;
use crate::extensions::Extensions;
use spillway_settings::{SettingsError, Table, Value, place_in};
use spillway_topology::TIERS;
use spillway_transport::{Transport, recovery, recovery_of};

/// The keys of a switch, or of a tier, that hold a policy.
pub(super) const POLICIES: [&str; 3] = ["sharing", "aqm", "scheduling"];

/// Applies `key=value` assignments in order to a scenario that has not been read yet. Returns a
/// warning for each assignment that has less effect than it seems to have, and for each that a
/// later one has undone. Assignments in `may_lack` may have nothing to unset, without a warning.
///
/// # Errors
/// If an assignment has another form, or its path leads nowhere.
pub fn apply(
    given: &mut Table,
    assignments: &[String],
    may_lack: &[String],
    extensions: &Extensions,
) -> Result<Vec<String>, SettingsError> {
    let void = apply_each(given, assignments, may_lack, extensions)?;
    let mut warnings = overruled(given, assignments);
    warnings.extend(void);
    Ok(warnings)
}

/// As `apply`, but returns only two kinds of warnings: about assignments that a later one has
/// undone, and about those that had nothing to remove.
fn apply_each(
    table: &mut Table,
    assignments: &[String],
    may_lack: &[String],
    extensions: &Extensions,
) -> Result<Vec<String>, SettingsError> {
    let mut warnings = Vec::new();
    let mut all_gone: Vec<String> = Vec::new();
    let mut senders = Senders::of(table);
    for (place, assignment) in assignments.iter().enumerate() {
        let (earlier, later) = (&assignments[..place], &assignments[place + 1..]);
        let path = path_of(assignment);
        let policy = PreviousPolicy::before(table, path);
        let chosen = Choice::of(path).map(|choice| (choice, choice.value(table)));
        let mut gone = Vec::new();
        let has_changed = match &policy {
            _ if is_recovery(path)
                && let Some(id) = id_of(assignment) =>
            {
                gone = recoveries::change(table, path.trim_end_matches(".kind"), &id)?;
                true
            }
            // A policy without its kind is removed altogether.
            Some(policy) if unsets(assignment) => {
                spillway_settings::apply(table, &format!("{}=", policy.path))?
            }
            _ => spillway_settings::apply(table, assignment)?,
        };
        if let Some((policy, _)) = path.rsplit_once('.').filter(|(policy, _)| is_policy(policy))
            && at(table, policy).and_then(Value::as_table).is_some_and(Table::is_empty)
        {
            // Its only parameter is gone.
            spillway_settings::apply(table, &format!("{policy}="))?;
        }
        let is_expected = may_lack.contains(assignment);
        if !has_changed && !is_expected && !all_gone.contains(&by_name(table, path)) {
            warnings.push(format!("{assignment} unsets nothing: {path} is not set"));
        }
        if let Some((choice, earlier)) = &chosen
            && choice.key == "preset"
            && let now = recovery::chosen(at(table, "transport.recovery"))
            && let Some(id) = recovery_of(&choice.value(table), earlier, now)
        {
            gone.extend(recoveries::change(table, "transport.recovery", id)?);
        }
        gone.extend(match &chosen {
            Some((choice, earlier)) => choice.forget_others(table, earlier),
            None => forget_other_kinds(table, assignment, extensions),
        });
        gone.extend(senders.follow(table, later, extensions));
        let mut gone: Vec<String> = gone.iter().map(|path| by_name(table, path)).collect();
        let parameters = policy.map_or_else(Vec::new, |policy| policy.forget(table));
        let parameters: Vec<String> = parameters.iter().map(|path| by_name(table, path)).collect();
        for path in earlier.iter().filter(|other| !unsets(other)).map(|other| path_of(other)) {
            let is_set_again = later.iter().any(|other| path_of(other) == path);
            let named = by_name(table, path);
            let is_parameter = parameters.iter().any(|parameter| is_within(&named, parameter));
            let is_gone = gone.iter().any(|dropped| is_within(&named, dropped));
            if is_set_again || !is_parameter && !is_gone {
                continue;
            }
            let reason = if is_parameter {
                "a policy of another kind starts anew".to_string()
            } else if path_of(assignment) == "transport.preset" {
                "a preset decides about it".to_string()
            } else if chosen.as_ref().is_some_and(|(choice, earlier)| {
                choice.has_other_default(table, key_of(path), earlier)
            }) {
                "what it is by default depends on that".to_string()
            } else {
                format!("there is no {} there", key_of(path))
            };
            warnings.push(format!("{path} is set, but {assignment} after it drops it: {reason}"));
        }
        gone.extend(parameters);
        all_gone.extend(gone);
    }
    Ok(warnings)
}

/// Drops keys after the kind of a transport or topology has changed: those that only other kinds
/// have. Keys that no kind has stay, so that reading reports them. Returns the paths of dropped
/// keys.
fn forget_other_kinds(table: &mut Table, assignment: &str, extensions: &Extensions) -> Vec<String> {
    if path_of(assignment) == "routing.hash" {
        return forget_other_hashes(table);
    }
    let Some(section) = path_of(assignment).strip_suffix(".kind") else { return Vec::new() };
    let Some(Value::Table(settings)) = table.get_mut(section) else { return Vec::new() };
    let default = if section == "transport" { spillway_transport::KINDS[0].id } else { "" };
    let kind = settings.get("kind").map_or(Some(default), Value::as_str).unwrap_or_default();
    let kind = &*kind.to_string();
    let kinds: Vec<(&str, Vec<String>)> = match section {
        "transport" => {
            let keys = |id| Some((id, Transport::keys_of(id, section, &extensions.hosts).ok()?));
            spillway_transport::ids(&extensions.hosts).filter_map(keys).collect()
        }
        "topology" => {
            let names = |kind: &spillway_topology::Kind| {
                kind.keys().iter().map(|key| key.name.into()).collect()
            };
            spillway_topology::KINDS.iter().map(|kind| (kind.id, names(kind))).collect()
        }
        _ => return Vec::new(),
    };
    let Some((_, ours)) = kinds.iter().find(|(id, _)| *id == kind) else { return Vec::new() };
    let is_known = |key: &str| kinds.iter().any(|(_, keys)| is_of(keys, key));
    let stays = |key: &str| key == "kind" || is_of(ours, key) || !is_known(key);
    let mut gone = drop_keys(settings, section, stays);
    let unfit = if section == "transport" { recovery::fit(settings, kind) } else { Vec::new() };
    gone.extend(unfit.into_iter().map(|key| format!("{section}.{key}")));
    gone
}

/// A policy before an assignment to its kind.
struct PreviousPolicy<'a> {
    /// Where it is, such as `switch.aqm`.
    path: &'a str,
    kind: String,
    /// The paths of its parameters.
    parameters: Vec<String>,
}

impl PreviousPolicy<'_> {
    /// The policy at whose kind `path` ends, if the policy has a kind.
    fn before<'a>(table: &Table, path: &'a str) -> Option<PreviousPolicy<'a>> {
        let path = path.strip_suffix(".kind").filter(|path| is_policy(path))?;
        let policy = at(table, path)?;
        let keys = policy.as_table().into_iter().flat_map(Table::keys);
        let parameters = keys.filter(|key| *key != "kind").map(|key| format!("{path}.{key}"));
        Some(PreviousPolicy {
            path,
            kind: kind_of(policy)?.into(),
            parameters: parameters.collect(),
        })
    }

    /// If the policy at this path now has another kind, or is gone, drops its parameters. Returns
    /// the paths of dropped keys.
    fn forget(self, table: &mut Table) -> Vec<String> {
        match at_mut(table, self.path) {
            Some(policy) if kind_of(policy) == Some(&self.kind) => return Vec::new(),
            Some(Value::Table(policy)) => policy.retain(|key, _| key == "kind"),
            _ => {}
        }
        self.parameters
    }
}

/// Whether this is the path of a policy.
fn is_policy(path: &str) -> bool {
    match path.split('.').collect::<Vec<_>>()[..] {
        ["nic", key] => key == "aqm",
        ["transport", key] => ["tagging", recovery::KEY].contains(&key),
        ["switch", key] => POLICIES.contains(&key),
        ["switch", tier, key] => TIERS.contains(&tier) && POLICIES.contains(&key),
        ["traffic", _, key] => ["bound", "tagging", recovery::KEY].contains(&key),
        _ => false,
    }
}

/// The value at a path through tables and sections with names.
fn at<'a>(table: &'a Table, path: &str) -> Option<&'a Value> {
    let (first, rest) = path.split_once('.')?;
    rest.split('.').try_fold(table.get(first)?, |value, step| match value {
        Value::Array(list) => list.get(place_in(list, step)?),
        value => value.get(step),
    })
}

/// As `at`, mutable.
fn at_mut<'a>(table: &'a mut Table, path: &str) -> Option<&'a mut Value> {
    let (first, rest) = path.split_once('.')?;
    rest.split('.').try_fold(table.get_mut(first)?, |value, step| match value {
        Value::Array(list) => place_in(list, step).map(|place| &mut list[place]),
        value => value.get_mut(step),
    })
}

/// A key of a transport that decides about other keys, and its section.
#[derive(Clone, Copy)]
struct Choice<'a> {
    /// The section, such as `transport` or `traffic.web`.
    section: &'a str,
    key: &'a str,
}

impl<'a> Choice<'a> {
    /// The choice at this path, if it is one. In traffic sections only recovery is.
    fn of(path: &'a str) -> Option<Choice<'a>> {
        let path = if is_recovery(path) { path.trim_end_matches(".kind") } else { path };
        let (section, key) = path.rsplit_once('.')?;
        let of_traffic = section.split_once('.').is_some_and(|(first, _)| first == "traffic");
        let is_one = match section {
            "transport" => spillway_transport::CHOICES.contains(&key),
            _ => of_traffic && key == recovery::KEY,
        };
        is_one.then_some(Choice { section, key })
    }

    /// The text of a key in its section or, if it is not given there, in the common transport.
    fn text(&self, table: &Table, key: &str) -> Option<String> {
        let own = match self.section {
            "transport" => None,
            section => at(table, &format!("{section}.{key}")),
        };
        let value = own.or_else(|| table.get("transport")?.get(key))?;
        kind_of(value).map(str::to_string)
    }

    /// The value that is chosen.
    fn value(&self, table: &Table) -> String {
        let default = if self.key == recovery::KEY { recovery::chosen(None) } else { "" };
        self.text(table, self.key).unwrap_or_else(|| default.into())
    }

    /// Whether a key's default has changed because the choice is not `earlier` any more.
    fn has_other_default(&self, table: &Table, key: &str, earlier: &str) -> bool {
        let value = self.value(table);
        let is_of_recovery = self.key == recovery::KEY && recovery::has(&value, key);
        is_of_recovery || spillway_transport::has_other_default(key, self.key, &value, earlier)
    }

    /// Drops the keys that do not go with the choice: those that mean nothing with it, and those
    /// whose default has changed, since their values were meant for the earlier choice. The same
    /// happens in traffic sections without a choice of their own.
    fn forget_others(&self, table: &mut Table, earlier: &str) -> Vec<String> {
        let kind = table.get("transport").and_then(|common| common.get("kind")?.as_str());
        let kind = kind.unwrap_or(spillway_transport::KINDS[0].id).to_string();
        let value = self.value(table);
        let has_other =
            |key: &str| spillway_transport::has_other_default(key, self.key, &value, earlier);
        let stays = |key: &str| {
            !spillway_transport::is_foreign(&kind, key, self.key, &value) && !has_other(key)
        };
        let settings = match self.section {
            "transport" => table.get_mut("transport"),
            section => at_mut(table, section),
        };
        let mut gone = match settings {
            Some(Value::Table(settings)) => drop_keys(settings, self.section, stays),
            _ => Vec::new(),
        };
        if self.section == "transport" {
            for place in 0..kinds_of_senders(table).len() {
                if let Some(section) = section_of_traffic(table, place)
                    && !section.contains_key(self.key)
                {
                    let path = format!("traffic.{place}");
                    gone.extend(drop_keys(section, &path, |key| !has_other(key)));
                }
            }
        }
        gone
    }
}

/// Drops the keys that mean nothing with the chosen hash.
fn forget_other_hashes(table: &mut Table) -> Vec<String> {
    let Some(Value::Table(settings)) = table.get_mut("routing") else { return Vec::new() };
    let hash = settings.get("hash").and_then(Value::as_str).unwrap_or_default().to_string();
    drop_keys(settings, "routing", |key| !RoutingSettings::is_foreign(key, &hash))
}

/// Whether a key is in this list.
fn is_of(keys: &[String], key: &str) -> bool {
    keys.iter().any(|known| known == key)
}

/// Drops the keys of the section at `path` for which `stays` is false, and returns their paths.
fn drop_keys(settings: &mut Table, path: &str, stays: impl Fn(&str) -> bool) -> Vec<String> {
    let gone = settings.keys().filter(|key| !stays(key)).map(|key| format!("{path}.{key}"));
    let gone: Vec<String> = gone.collect();
    settings.retain(|key, _| stays(key));
    gone
}

/// A path into a traffic section, with the section's name instead of its index.
fn by_name(table: &Table, path: &str) -> String {
    let named = || {
        let (place, key) = path.strip_prefix("traffic.")?.split_once('.')?;
        let section = table.get("traffic")?.as_array()?.get(place.parse::<usize>().ok()?)?;
        Some(format!("traffic.{}.{key}", section.get("name")?.as_str()?))
    };
    named().unwrap_or_else(|| path.to_string())
}

/// Which transports' keys each traffic section may contain. By the section's index: the kinds of
/// transport that it has had since foreign keys were last dropped from it, the present kind last.
struct Senders(Vec<Vec<String>>);

impl Senders {
    /// The state before any assignment.
    fn of(table: &Table) -> Senders {
        Senders(kinds_of_senders(table).into_iter().map(|kind| vec![kind]).collect())
    }

    /// Updates the sections after an assignment: drops keys of a section's previous transports that
    /// the present one does not have. If a later assignment gives the section a transport of its
    /// own, the keys are dropped only then. Returns the paths of dropped keys.
    fn follow(
        &mut self,
        table: &mut Table,
        later: &[String],
        extensions: &Extensions,
    ) -> Vec<String> {
        let mut gone = Vec::new();
        let kinds = kinds_of_senders(table);
        if kinds.len() != self.0.len() {
            // Sections were added or removed, so indices have changed.
            *self = Senders::of(table);
        }
        for (place, (kind, had)) in kinds.into_iter().zip(&mut self.0).enumerate() {
            if had.last() != Some(&kind) {
                had.push(kind.clone());
            }
            let path = by_name(table, &format!("traffic.{place}.transport"));
            let waits = later.iter().any(|other| by_name(table, path_of(other)) == path);
            let Some((ours, theirs)) = had.split_last().filter(|(_, before)| !before.is_empty())
            else {
                continue;
            };
            let keys_of =
                |kind: &String| Transport::keys_of(kind, "traffic", &extensions.hosts).ok();
            // An unknown kind drops nothing: reading will report it.
            let Some(ours) = keys_of(ours).filter(|_| !waits) else { continue };
            let theirs: Vec<String> = theirs.iter().filter_map(keys_of).flatten().collect();
            let stays = |key: &str| key == "kind" || is_of(&ours, key) || !is_of(&theirs, key);
            if let Some(section) = section_of_traffic(table, place) {
                let path = format!("traffic.{place}");
                gone.extend(drop_keys(section, &path, stays));
                let unfit = recovery::fit(section, &kind);
                gone.extend(unfit.into_iter().map(|key| format!("{path}.{key}")));
            }
            had.drain(..had.len() - 1);
        }
        gone
    }
}

/// The kind of transport of every traffic section.
fn kinds_of_senders(table: &Table) -> Vec<String> {
    let common = table.get("transport").and_then(|section| section.get("kind"));
    let kind = |section: &Value| {
        let kind = section.get("transport").or(common);
        kind.map_or(Some(spillway_transport::KINDS[0].id), Value::as_str)
            .unwrap_or_default()
            .to_string()
    };
    let sections = table.get("traffic").and_then(Value::as_array);
    sections.map_or_else(Vec::new, |sections| sections.iter().map(kind).collect())
}

/// A traffic section, by its index.
fn section_of_traffic(table: &mut Table, place: usize) -> Option<&mut Table> {
    table.get_mut("traffic")?.as_array_mut()?.get_mut(place)?.as_table_mut()
}

/// Whether this is the path of a loss recovery, or of its kind.
fn is_recovery(path: &str) -> bool {
    let path = path.strip_suffix(".kind").unwrap_or(path);
    is_policy(path) && key_of(path) == recovery::KEY
}

/// The id that an assignment sets, if it sets plain text.
fn id_of(assignment: &str) -> Option<String> {
    let (_, text) = assignment.split_once('=').filter(|_| !unsets(assignment))?;
    match spillway_settings::value_of(text.trim()) {
        Value::String(id) => Some(id),
        _ => None,
    }
}

/// The key that an assignment sets.
fn path_of(assignment: &str) -> &str {
    assignment.split('=').next().unwrap_or_default().trim()
}

/// The last step of a path.
fn key_of(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or_default()
}

/// Whether an assignment removes a key.
fn unsets(assignment: &str) -> bool {
    assignment.split_once('=').is_some_and(|(_, value)| value.trim().is_empty())
}

/// The kind of a policy, which is an id or a table.
pub(super) fn kind_of(policy: &Value) -> Option<&str> {
    policy.as_str().or_else(|| policy.get("kind")?.as_str())
}

/// Whether a path is `whole`, or a path below it.
fn is_within(path: &str, whole: &str) -> bool {
    path.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scenario after assignments, and the warnings.
    pub(super) fn applied(given: &str, assignments: &[&str]) -> (Table, Vec<String>) {
        let mut table: Table = given.parse().unwrap();
        let assignments: Vec<String> = assignments.iter().map(|text| text.to_string()).collect();
        let warnings = apply(&mut table, &assignments, &[], &Extensions::default()).unwrap();
        (table, warnings)
    }

    fn table(text: &str) -> Table {
        text.parse().unwrap()
    }

    #[test]
    fn what_only_the_kind_before_had_goes_with_it_and_what_none_has_stays() {
        let given = "[transport]\nkind = \"dctcp\"\ng = 0.5\nrecovery.min_rto = \"1ms\"\ngg = 1";
        let (found, warnings) = applied(given, &["transport.kind=newreno"]);
        let expected = "[transport]\nkind = \"newreno\"\nrecovery.min_rto = \"1ms\"\ngg = 1";
        assert_eq!((found, warnings), (table(expected), vec![]));
        let given = "[topology]\nkind = \"leaf-spine\"\nleaves = 4\nlink_delay = \"1us\"";
        let (found, _) = applied(given, &["topology.kind=star"]);
        assert_eq!(found, table("[topology]\nkind = \"star\"\nlink_delay = \"1us\""));
        // An unknown kind drops nothing: reading will report it.
        let given = "[transport]\nkind = \"dctcp\"\ng = 0.5";
        let (found, _) = applied(given, &["transport.kind=dctp"]);
        assert_eq!(found, table("[transport]\nkind = \"dctp\"\ng = 0.5"));
    }

    #[test]
    fn another_way_of_finding_losses_has_other_keys() {
        let given = "[transport]\nrecovery.tail_loss_probe = true\nrecovery.dupthresh = 4";
        let (found, _) = applied(given, &["transport.recovery=ns3"]);
        assert_eq!(found, table("[transport]\nrecovery.kind = \"ns3\"\nrecovery.dupthresh = 4"));
    }

    #[test]
    fn what_was_written_for_another_recovery_goes_with_it() {
        let (rack, sack) = ("transport.recovery=rack", "transport.recovery=sack");
        let ns3 = "transport.recovery=ns3";
        let written = "recovery.tail_loss_probe = false\nrecovery.reduction = \"proportional\"";
        let given = format!("[transport]\n{written}");
        let left = |given: &str, assignments: &[&str]| {
            let (found, warnings) = applied(given, assignments);
            let recovery = found["transport"].get("recovery");
            let has = |key: &str| recovery.is_some_and(|own| own.get(key).is_some());
            ([has("tail_loss_probe"), has("reduction")], warnings)
        };
        assert_eq!(left(&given, &[rack]).0, [false, true]);
        assert_eq!(left(&given, &[ns3]).0, [false, false]);
        // The same detection changes nothing. Then from RACK to another one.
        assert_eq!(left(&given, &[sack]).0, [true, true]);
        let of_rack = format!("{given}\nrecovery.kind = \"rack\"");
        assert_eq!(left(&of_rack, &[rack]).0, [true, true]);
        assert_eq!(left(&of_rack, &[sack]).0, [false, true]);
        assert_eq!(left(&of_rack, &["transport.recovery="]).0, [false, false]);
        let of_ns3 =
            "[transport]\nrecovery.kind = \"ns3\"\nrecovery.reduction = \"proportional-ns3\"";
        assert_eq!(left(of_ns3, &[rack]).0, [false, false]);
        // What is assigned after it stays. A warning tells of what was assigned before it.
        let probe = "transport.recovery.tail_loss_probe=false";
        assert_eq!(left("[transport]", &[rack, probe]), ([true, false], vec![]));
        let told = "transport.recovery.tail_loss_probe is set, but transport.recovery=rack after it drops \
                    it: what it is by default depends on that";
        assert_eq!(left("[transport]", &[probe, rack]), ([false, false], vec![told.into()]));
    }

    #[test]
    fn sections_of_traffic_lose_what_was_written_for_another_recovery() {
        let given = "[transport]\n[[traffic]]\nname = \"a\"\nrecovery.tail_loss_probe = false\n\
                     [[traffic]]\nname = \"b\"\nrecovery.tail_loss_probe = false\nrecovery.kind = \"sack\"";
        let left = |assignment: &str| {
            let (found, _) = applied(given, &[assignment]);
            let has = |section: &Value| {
                section.get("recovery").is_some_and(|own| own.get("tail_loss_probe").is_some())
            };
            found["traffic"].as_array().unwrap().iter().map(has).collect::<Vec<_>>()
        };
        assert_eq!(left("transport.recovery=rack"), [false, true]);
        assert_eq!(left("traffic.a.recovery=rack"), [false, true]);
        assert_eq!(left("traffic.1.recovery=rack"), [true, false]);
        assert_eq!(left("traffic.b.recovery=duplicate-acks"), [true, false]);
    }

    #[test]
    fn another_preset_decides_anew() {
        let given = "[transport]\nkind = \"dcqcn\"\npreset = \"paper\"\nbyte_counter = \"1MB\"\ng = 0.5\n\
                     mss = \"960B\"\ncnp_size = \"64B\"";
        let (found, _) = applied(given, &["transport.preset=simulator"]);
        let expected = "[transport]\nkind = \"dcqcn\"\npreset = \"simulator\"\ng = 0.5";
        assert_eq!(found, table(expected));
        let (found, _) = applied(given, &["transport.cnp=ack-flag"]);
        let expected = given.replace("cnp_size = \"64B\"", "cnp = \"ack-flag\"");
        assert_eq!(found, table(&expected));
        // What is assigned after it stays, and what was assigned before does not.
        let (found, warnings) = applied(
            given,
            &["transport.mss=1KB", "transport.preset=simulator", "transport.header=9B"],
        );
        assert_eq!(found["transport"].get("header").and_then(Value::as_str), Some("9B"));
        assert_eq!(found["transport"].get("mss"), None);
        let dropped = "transport.mss is set, but transport.preset=simulator after it drops it: a preset \
                       decides about it";
        assert_eq!(warnings, [dropped]);
    }

    #[test]
    fn a_section_of_traffic_loses_what_its_transport_before_had() {
        let given =
            "[[traffic]]\nname = \"a\"\nkind = \"incast\"\ng = 0.5\nrecovery.min_rto = \"1ms\"";
        let after = "[[traffic]]\nname = \"a\"\nkind = \"incast\"\nrecovery.min_rto = \"1ms\"\n\
                     transport = \"cubic\"";
        // By name and by index.
        for assignment in ["traffic.a.transport=cubic", "traffic.0.transport=cubic"] {
            assert_eq!(applied(given, &[assignment]).0, table(after), "{assignment}");
        }
    }

    #[test]
    fn sections_without_a_transport_of_their_own_follow_the_common_one() {
        let given = "[transport]\nkind = \"dctcp\"\n\
                     [[traffic]]\nname = \"a\"\ninitial_window = \"flow\"\nrecovery.min_rto = \"1ms\"\n\
                     [[traffic]]\nname = \"b\"\ninitial_window = \"flow\"\ntransport = \"cubic\"";
        let keys = |assignments: &[&str]| {
            let (table, warnings) = applied(given, assignments);
            let has = |section: &Value| section.get("initial_window").is_some();
            let sections = table["traffic"].as_array().unwrap();
            assert!(sections[0].get("recovery").is_some());
            (sections.iter().map(has).collect::<Vec<_>>(), warnings)
        };
        let (hpcc, own) = ("transport.kind=hpcc", "traffic.a.transport=hpcc");
        assert_eq!(keys(&[hpcc]).0, [false, true]);
        // In both orders, by name and by index.
        for both in [[hpcc, own], [own, hpcc], [hpcc, "traffic.0.transport=hpcc"]] {
            assert_eq!(keys(&both), (vec![false, true], vec![]), "{both:?}");
        }
        // A section that gets a kind of its own keeps the keys of that kind, whatever the common
        // kind is meanwhile.
        assert_eq!(keys(&[hpcc, "traffic.a.transport=cubic"]).0, [true, true]);
        assert_eq!(keys(&[hpcc, "traffic.b.transport="]).0, [false, false]);
        assert_eq!(keys(&["transport.kind=hpc"]).0, [true, true]);
        // An earlier assignment that is dropped gives a warning.
        let told = keys(&["traffic.a.initial_window=1pkt", hpcc]).1;
        let dropped = "traffic.a.initial_window is set, but transport.kind=hpcc after it drops it: \
                       there is no initial_window there";
        assert_eq!(told, [dropped]);
        // Going back to the first kind does not bring back what was dropped.
        assert_eq!(keys(&[hpcc, "transport.kind=dctcp"]).0, [false, true]);
    }

    #[test]
    fn a_key_that_is_taken_away_has_its_default_again() {
        let given = "[transport]\nkind = \"newreno\"\nrecovery.min_rto = \"1ms\"";
        let left = applied(given, &["transport.recovery.min_rto="]);
        assert_eq!(left, (table("[transport]\nkind = \"newreno\""), vec![]));
        // Without `kind` the transport is the default one, which does not have cubic's keys.
        let kinds = "[transport]\nkind = \"cubic\"\nhystart = \"ns3\"\nrecovery.min_rto = \"1ms\"";
        let (found, _) = applied(kinds, &["transport.kind="]);
        assert_eq!(found, table("[transport]\nrecovery.min_rto = \"1ms\""));
        let nothing = "transport.min_rot= unsets nothing: transport.min_rot is not set";
        assert_eq!(applied(given, &["transport.min_rot="]).1, [nothing]);
        // A key that an earlier assignment has dropped is gone, as intended: no warning.
        let kinds = "[transport]\nkind = \"dctcp\"\ng = 0.5";
        assert_eq!(applied(kinds, &["transport.kind=hpcc", "transport.g="]).1, [""; 0]);
    }

    #[test]
    fn another_hash_drops_seeds_that_it_has_not() {
        let given = "[routing]\nkind = \"ecmp\"\nhash_seed = 2\nhash_seeds = \"same\"";
        let (found, told) = applied(given, &["routing.hash=murmur3"]);
        assert_eq!(found, table("[routing]\nkind = \"ecmp\"\nhash = \"murmur3\""));
        assert_eq!(told, [""; 0]);
        let (found, _) = applied(given, &["routing.hash=multiplicative"]);
        assert_eq!(found, table(&format!("{given}\nhash = \"multiplicative\"")));
        let (_, told) = applied("", &["routing.hash_seed=3", "routing.hash=murmur3"]);
        let drops = "routing.hash_seed is set, but routing.hash=murmur3 after it drops it: there is \
                     no hash_seed there";
        assert_eq!(told, [drops]);
    }

    #[test]
    fn an_assignment_that_a_later_one_drops_is_told() {
        let drops = "transport.g is set, but transport.kind=newreno after it drops it: there is no g \
                     there";
        let told = |assignments: &[&str]| applied("", assignments).1;
        assert_eq!(told(&["transport.g=0.5", "transport.kind=newreno"]), [drops]);
        assert_eq!(told(&["transport.kind=newreno", "transport.g=0.5"]), [""; 0]);
        // No warning if it is set once more.
        let again = ["transport.g=0.5", "transport.kind=newreno", "transport.kind=dctcp"];
        assert_eq!(told(&again), [drops]);
        assert_eq!(told(&[&again[..], &["transport.g=0.25"]].concat()), [""; 0]);
    }

    #[test]
    fn a_policy_of_another_kind_starts_anew() {
        for policy in
            ["switch.aqm", "switch.sharing", "switch.scheduling", "switch.core.aqm", "nic.aqm"]
        {
            let given = format!("[{policy}]\nkind = \"a\"\nx = 1\ny = 2");
            let set = |rest: &[&str]| {
                let rest: Vec<String> = rest.iter().map(|key| format!("{policy}.{key}")).collect();
                applied(&given, &rest.iter().map(String::as_str).collect::<Vec<_>>())
            };
            let expected = |text: &str| (table(&format!("[{policy}]\n{text}")), vec![]);
            assert_eq!(set(&["kind=b"]), expected("kind = \"b\""));
            assert_eq!(set(&["kind=b", "x=3"]), expected("kind = \"b\"\nx = 3"));
            // The same kind keeps its parameters.
            assert_eq!(set(&["kind=a", "x=3"]), expected("kind = \"a\"\nx = 3\ny = 2"));
            // Taking away a key that is gone needs no warning.
            assert_eq!(set(&["kind=b", "x="]), expected("kind = \"b\""));
        }
        // Other tables with a kind keep their keys, and so does a table that had no kind.
        let given = "[switch.other.aqm]\nkind = \"a\"\nx = 1\n[switch.aqm]\nx = 1";
        let (found, warnings) = applied(given, &["switch.other.aqm.kind=b", "switch.aqm.kind=b"]);
        let after = "[switch.other.aqm]\nkind = \"b\"\nx = 1\n[switch.aqm]\nkind = \"b\"\nx = 1";
        assert_eq!((found, warnings), (table(after), vec![]));
    }

    #[test]
    fn a_section_s_bound_or_tagger_of_another_kind_starts_anew() {
        for key in ["bound", "tagging"] {
            let without = "[[traffic]]\nname = \"b\"\n[[traffic]]\nname = \"a\"";
            let section = |rest: &str| format!("{without}\n[traffic.{key}]\n{rest}");
            let given = section("kind = \"a\"\nx = 1");
            for at in [format!("traffic.a.{key}"), format!("traffic.1.{key}")] {
                let set = |rest: &[&str]| {
                    let rest: Vec<String> =
                        rest.iter().map(|rest| format!("{at}.{rest}")).collect();
                    applied(&given, &rest.iter().map(String::as_str).collect::<Vec<_>>())
                };
                let expected = |text: &str| (table(&section(text)), vec![]);
                assert_eq!(set(&["kind=b"]), expected("kind = \"b\""));
                assert_eq!(set(&["kind=b", "x=3"]), expected("kind = \"b\"\nx = 3"));
                assert_eq!(set(&["kind=a", "x=3"]), expected("kind = \"a\"\nx = 3"));
                // By index or by name, it is the same section.
                let (first, second) = (format!("traffic.1.{key}.x=3"), format!("{at}.kind=b"));
                let (found, told) = applied(&given, &[&first, &second]);
                assert_eq!(found, expected("kind = \"b\"").0);
                assert!(told[0].ends_with("a policy of another kind starts anew"), "{told:?}");
            }
            let (found, told) = applied(&given, &[&format!("traffic.a.{key}.kind=")]);
            assert_eq!((found, told), (table(without), vec![]));
        }
    }

    #[test]
    fn a_policy_without_its_kind_is_gone() {
        for policy in ["\"ecn\"", "{ kind = \"ecn\" }", "{ kind = \"ecn\", threshold = 1 }"] {
            let given = format!("[switch]\nbuffer = 1\naqm = {policy}");
            let found = applied(&given, &["switch.aqm.kind="]);
            assert_eq!(found, (table("[switch]\nbuffer = 1"), vec![]), "{policy}");
        }
        let nothing = "switch.aqm.kind= unsets nothing: switch.aqm.kind is not set";
        assert_eq!(applied("[switch]\nbuffer = 1", &["switch.aqm.kind="]).1, [nothing]);
    }

    #[test]
    fn a_parameter_that_another_kind_of_policy_drops_is_told() {
        let given = "[switch]\nsharing = { kind = \"dt\", alpha = 2 }";
        let told = |assignments: &[&str]| applied(given, assignments).1;
        let drops = |key: &str| {
            format!(
                "switch.sharing.{key} is set, but switch.sharing.kind=abm after it drops it: a \
                     policy of another kind starts anew"
            )
        };
        let kind = "switch.sharing.kind=abm";
        assert_eq!(told(&["switch.sharing.alpha=1", kind]), [drops("alpha")]);
        assert_eq!(told(&["switch.sharing.model.leaf=a", kind]), [drops("model.leaf")]);
        assert_eq!(told(&["switch.sharing.alpha=1", kind, "switch.sharing.alpha=3"]), [""; 0]);
        assert_eq!(told(&[kind, "switch.sharing.alpha=3"]), [""; 0]);
        assert_eq!(told(&["switch.sharing.alpha=1", "switch.sharing.kind=dt"]), [""; 0]);
    }
}

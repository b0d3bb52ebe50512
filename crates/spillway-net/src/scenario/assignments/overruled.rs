//! Assignments to all switches that the value of a tier overrules.

use super::{POLICIES, TIERS, is_within, kind_of, path_of, unsets};
use spillway_settings::{Table, Value};

/// A warning for every assignment to `switch` that has no effect on a tier because the tier has a
/// value of its own. There is no warning if another assignment, earlier or later, has set the
/// tier's value, or if the two values are equal. There is none for a parameter either if the tier's
/// policy is of another kind, since that kind need not have the parameter.
pub(super) fn overruled(given: &Table, assignments: &[String]) -> Vec<String> {
    let Some(Value::Table(switch)) = given.get("switch") else { return Vec::new() };
    let mut warnings = Vec::new();
    for (place, assignment) in assignments.iter().enumerate() {
        let path = path_of(assignment);
        let Some(below) = path.strip_prefix("switch.") else { continue };
        let key = below.split('.').next().unwrap_or_default();
        let is_set_again = assignments[place + 1..].iter().any(|other| path_of(other) == path);
        if TIERS.contains(&key) || is_set_again {
            continue;
        }
        let is_policy = POLICIES.contains(&key);
        let is_parameter = is_policy && below.contains('.') && below != format!("{key}.kind");
        let common = switch.get(key);
        for tier in TIERS {
            let own = switch.get(tier).and_then(|own| own.get(key));
            if is_parameter && own.and_then(kind_of) != common.and_then(kind_of) {
                continue;
            }
            let is_same = own == common || is_policy && own.map(whole) == common.map(whole);
            let own_path = format!("switch.{tier}.{below}");
            let is_set_too = assignments.iter().any(|other| decides(path_of(other), &own_path));
            if own.is_none() || is_same || is_set_too {
                continue;
            }
            let set = if unsets(assignment) { "unset" } else { "set" };
            warnings.push(format!(
                "{path} is {set}, but not for the {tier} tier, which has its own: {set} {own_path} too"
            ));
        }
    }
    warnings
}

/// A policy as a table, even if it is written as an id.
fn whole(policy: &Value) -> Value {
    match policy {
        Value::String(_) => Table::from_iter([("kind".into(), policy.clone())]).into(),
        other => other.clone(),
    }
}

/// Whether an assignment to the path `assigned` determines the value at `path`: it is the same
/// path, one that contains it, or the kind of the policy there.
fn decides(assigned: &str, path: &str) -> bool {
    is_within(path, assigned) || assigned.strip_suffix(".kind") == Some(path)
}

#[cfg(test)]
mod tests {
    use super::super::tests::applied;

    #[test]
    fn an_assignment_to_all_switches_that_a_tier_overrules_is_told() {
        let given = "[switch]\nsharing = \"dt\"\n[switch.leaf]\nsharing = \"cs\"";
        let overruled = "switch.sharing is set, but not for the leaf tier, which has its own: set \
                         switch.leaf.sharing too";
        let told = |assignments: &[&str]| applied(given, assignments).1;
        assert_eq!(told(&["switch.sharing=lqd"]), [overruled]);
        assert_eq!(told(&["switch.sharing=lqd", "switch.leaf.sharing=lqd"]), [""; 0]);
        assert_eq!(told(&["switch.aqm=none"]), [""; 0]);
        // One warning, however often the value was set. A tier that has no value of its own after
        // all assignments overrules nothing.
        assert_eq!(told(&["switch.sharing=dt", "switch.sharing=lqd"]), [overruled]);
        assert_eq!(told(&["switch.sharing=lqd", "switch.leaf.sharing="]), [""; 0]);
        let unset = "switch.sharing is unset, but not for the leaf tier, which has its own: unset \
                     switch.leaf.sharing too";
        assert_eq!(told(&["switch.sharing="]), [unset]);
        assert_eq!(told(&["switch.sharing=lqd", "switch.leaf.sharing.alpha=2"]), [overruled]);
    }

    #[test]
    fn a_parameter_that_a_tier_s_policy_of_the_same_kind_overrules_is_told() {
        let told = |leaf: &str, assignment| {
            let given = format!("[switch]\nsharing = \"dt\"\n[switch.leaf]\nsharing = {leaf}");
            applied(&given, &[assignment]).1
        };
        // The warning names the parameter of the tier's policy, not the policy.
        let alpha = "switch.sharing.alpha is set, but not for the leaf tier, which has its own: set \
                     switch.leaf.sharing.alpha too";
        for same in ["\"dt\"", "{ kind = \"dt\" }", "{ kind = \"dt\", alpha = 4 }"] {
            assert_eq!(told(same, "switch.sharing.alpha=2"), [alpha], "{same}");
        }
        // A policy of another kind need not have the parameter.
        for other in ["\"cs\"", "{ kind = \"abm\", alpha = 4 }"] {
            assert_eq!(told(other, "switch.sharing.alpha=2"), [""; 0], "{other}");
        }
        let kind = "switch.sharing.kind is set, but not for the leaf tier, which has its own: set \
                    switch.leaf.sharing.kind too";
        assert_eq!(told("\"cs\"", "switch.sharing.kind=lqd"), [kind]);
    }

    #[test]
    fn an_element_that_a_tier_s_own_list_overrules_is_told() {
        let given = "[switch]\nsharing = { kind = \"dt\", alpha = [1, 1] }\n\
                     [switch.leaf]\nsharing = { kind = \"dt\", alpha = [1, 1] }";
        let element = "switch.sharing.alpha[1] is set, but not for the leaf tier, which has its own: set \
                       switch.leaf.sharing.alpha[1] too";
        let told = |assignments: &[&str]| applied(given, assignments).1;
        assert_eq!(told(&["switch.sharing.alpha[1]=2"]), [element]);
        let leaf = "switch.leaf.sharing.alpha=[1, 3]";
        assert_eq!(told(&["switch.sharing.alpha[1]=2", leaf]), [""; 0]);
    }

    #[test]
    fn a_tier_that_an_assignment_has_set_overrules_nothing() {
        let given = "[switch]\nsharing = \"dt\"\n[switch.leaf]\nsharing = \"cs\"";
        for assignments in [
            // The tier's value is set before that of all switches, or in between.
            &["switch.leaf.sharing=abm", "switch.sharing=lqd"][..],
            &["switch.sharing=abm", "switch.leaf.sharing=abm", "switch.sharing=lqd"],
            // The tier's whole table, or all of `switch`.
            &["switch.leaf={ sharing = \"abm\" }", "switch.sharing=lqd"],
            &["switch.sharing=lqd", "switch={ sharing = \"dt\", leaf = { sharing = \"cs\" } }"],
            // The kind of the tier's policy, or the policy that has the parameter.
            &["switch.sharing=lqd", "switch.leaf.sharing.kind=abm"],
            &["switch.leaf.sharing=dt", "switch.sharing.alpha=2"],
            &["switch.sharing.alpha=2", "switch.leaf.sharing=dt", "switch.leaf.sharing.alpha=1"],
            // The tier has the same value.
            &["switch.sharing=cs"],
            &["switch.sharing.kind=cs"],
            // The tier has no value of its own.
            &["switch.spine.sharing=lqd"],
            &["switch.leaf.aqm=none", "switch.aqm=ecn"],
        ] {
            assert_eq!(applied(given, assignments).1, [""; 0], "{assignments:?}");
        }
        // A policy's parameter `buffer` is not a tier's.
        let given = "[switch]\nbuffer = \"1MB\"\nsharing = { kind = \"x\", buffer = 1 }";
        assert_eq!(applied(given, &["switch.buffer=2MB"]).1, [""; 0]);
    }
}

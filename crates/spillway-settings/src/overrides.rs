//! `--set key=value`: changing a scenario by dotted paths before it is read.

use crate::depth::{check_depth, parse};
use crate::error::{ErrorKind, SettingsError};
use toml::{Table, Value};

/// Applies one `key=value` to a scenario that has not been read yet. `key=` without a value removes
/// a key, which may be missing. Returns whether anything has changed.
///
/// The value is TOML (`0.5`, `true`, `[64, 0.5]`, `{ kind = "dt" }`), or else plain text
/// (`50%`, `dt`). A step into an array of tables names its `name` or its place, and `key[1]` is an
/// element of a list that is there. Setting a policy replaces it and its parameters; a step into a
/// policy written as an id turns it into a table.
pub fn apply(scenario: &mut Table, assignment: &str) -> Result<bool, SettingsError> {
    let Some((path, text)) = assignment.split_once('=') else {
        let problem = format!("{assignment:?} is not of the form key=value");
        return Err(ErrorKind::WrongValue.at("", problem));
    };
    let (path, text) = (path.trim(), text.trim());
    let steps: Vec<&str> = path.split('.').collect();
    if steps.iter().any(|step| step.is_empty()) {
        return Err(ErrorKind::WrongValue.at("", format!("{path:?} is not a dotted path")));
    }
    check_depth(path, steps.len())?;
    if text.is_empty() {
        return Ok(unset(scenario, &steps));
    }
    set(scenario, path, &steps, value_of(text)).map(|()| true)
}

/// Removes the value to which these steps lead, and returns whether there was one.
fn unset(table: &mut Table, steps: &[&str]) -> bool {
    let (first, rest) = (steps[0], &steps[1..]);
    if !table.contains_key(first)
        && let Some((name, places)) = element(first)
    {
        return unset_element(table.get_mut(name), &places, rest);
    }
    if rest.is_empty() {
        return table.remove(first).is_some();
    }
    match table.get_mut(first) {
        Some(Value::Table(inner)) => unset(inner, rest),
        Some(Value::Array(list)) => {
            let Some(place) = place_in(list, rest[0]) else { return false };
            match (&rest[1..], &mut list[place]) {
                ([], _) => {
                    list.remove(place);
                    true
                }
                (rest, Value::Table(inner)) => unset(inner, rest),
                _ => false,
            }
        }
        _ => false,
    }
}

/// Removes an element of a list, or a value below it.
fn unset_element(found: Option<&mut Value>, places: &[usize], rest: &[&str]) -> bool {
    let (Some(Value::Array(list)), [place, deeper @ ..]) = (found, places) else { return false };
    if *place >= list.len() {
        return false;
    }
    match (deeper, rest, &mut list[*place]) {
        ([], [], _) => {
            list.remove(*place);
            true
        }
        ([], rest, Value::Table(inner)) => unset(inner, rest),
        ([], ..) => false,
        (deeper, rest, inner) => unset_element(Some(inner), deeper, rest),
    }
}

/// A step such as `alpha[1]`: the key of a list, and places in it and in lists within it.
fn element(step: &str) -> Option<(&str, Vec<usize>)> {
    let (name, places) = step.strip_suffix(']')?.split_once('[')?;
    let places: Result<Vec<usize>, _> = places.split("][").map(str::parse).collect();
    places.ok().filter(|_| !name.is_empty()).map(|places| (name, places))
}

/// The index of the element that a step into a list names: by its `name`, or by its index.
pub fn place_in(list: &[Value], step: &str) -> Option<usize> {
    let found = list.iter().enumerate().position(|item| label(item) == step);
    found.or_else(|| step.parse().ok()).filter(|&place| place < list.len())
}

/// A value as it is written after the `=` of an assignment.
pub fn value_of(text: &str) -> Value {
    let parsed = parse(&format!("value = {text}"));
    match parsed.ok().and_then(|mut table| table.remove("value")) {
        Some(value) if !matches!(value, Value::Datetime(_)) => value,
        _ => Value::String(text.into()),
    }
}

fn set(table: &mut Table, path: &str, steps: &[&str], value: Value) -> Result<(), SettingsError> {
    let (first, rest) = (steps[0], &steps[1..]);
    if !table.contains_key(first)
        && let Some((name, places)) = element(first)
    {
        return set_element(table.get_mut(name), path, name, &places, rest, value);
    }
    if rest.is_empty() {
        table.insert(first.into(), value);
        return Ok(());
    }
    let entry = table.entry(first).or_insert_with(|| Value::Table(Table::new()));
    if let Value::String(kind) = entry {
        let policy = Table::from_iter([("kind".to_string(), Value::String(kind.clone()))]);
        *entry = Value::Table(policy);
    }
    match entry {
        Value::Table(inner) => set(inner, path, rest, value),
        Value::Array(list) => {
            let names: Vec<String> = list.iter().enumerate().map(label).collect();
            match place_in(list, rest[0]).map(|place| &mut list[place]) {
                Some(Value::Table(inner)) if rest.len() > 1 => set(inner, path, &rest[1..], value),
                Some(element) if rest.len() == 1 => {
                    *element = value;
                    Ok(())
                }
                _ => {
                    let problem = format!("there is no {first} called {:?}", rest[0]);
                    let valid = format!("valid here: {}", names.join(", "));
                    Err(ErrorKind::UnknownKey.at(path, problem).hint(valid))
                }
            }
        }
        _ => Err(ErrorKind::UnknownKey.at(path, format!("{first} has no keys below it"))),
    }
}

/// Changes an element of an existing list, or a value below it.
fn set_element(
    found: Option<&mut Value>,
    path: &str,
    name: &str,
    places: &[usize],
    rest: &[&str],
    value: Value,
) -> Result<(), SettingsError> {
    let refused =
        |problem: String, hint: String| Err(ErrorKind::UnknownKey.at(path, problem).hint(hint));
    let Some(Value::Array(list)) = found else {
        let hint = format!("set the whole list first, as in {name}=[1, 2]");
        return refused(format!("there is no list {name} of which to change an element"), hint);
    };
    let (place, deeper, count) = (places[0], &places[1..], list.len());
    let Some(found) = list.get_mut(place) else {
        let hint = format!("it has {count}, and the first is [0]");
        return refused(format!("{name} has no element [{place}]"), hint);
    };
    match (deeper, rest, found) {
        ([], [], found) => {
            *found = value;
            Ok(())
        }
        ([], rest, Value::Table(inner)) => set(inner, path, rest, value),
        ([], ..) => {
            let problem = format!("{name}[{place}] has no keys below it");
            Err(ErrorKind::UnknownKey.at(path, problem))
        }
        (deeper, rest, inner) => {
            set_element(Some(inner), path, &format!("{name}[{place}]"), deeper, rest, value)
        }
    }
}

fn label((place, item): (usize, &Value)) -> String {
    match item.get("name").and_then(Value::as_str) {
        Some(name) => name.to_string(),
        None => place.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(scenario: &str, assignments: &[&str]) -> String {
        let mut table: Table = scenario.parse().unwrap();
        for assignment in assignments {
            apply(&mut table, assignment).unwrap();
        }
        table.to_string()
    }

    #[test]
    fn a_policy_is_replaced_whole_and_then_refined() {
        let given = "[switch]\nsharing = { kind = \"dt\", alpha = 2.0 }\n";
        let set = ["switch.sharing=abm", "switch.sharing.alpha=0.5"];
        let expected = "[switch.sharing]\nkind = \"abm\"\nalpha = 0.5\n";
        assert_eq!(applied(given, &set).trim(), expected.trim());
    }

    #[test]
    fn array_elements_go_by_name() {
        let given = "[[traffic]]\nname = \"incast\"\nburst = \"50%\"\n";
        let expected = "[[traffic]]\nname = \"incast\"\nburst = \"75%\"\n";
        assert_eq!(applied(given, &["traffic.incast.burst=75%"]), expected);
        let error = apply(&mut given.parse().unwrap(), "traffic.incats.burst=1").unwrap_err();
        assert!(error.to_string().contains("valid here: incast"), "{error}");
    }

    #[test]
    fn an_element_of_a_list_goes_by_its_place() {
        let given = "[sharing]\nkind = \"dt\"\nalpha = [1, 2, [3, 4]]\n";
        let expected = given.replace("[1, 2, [3, 4]]", "[1, 0.5, [3, 9]]");
        assert_eq!(applied(given, &["sharing.alpha[1]=0.5", "sharing.alpha[2][1]=9"]), expected);
        let fewer = given.replace("[1, 2, [3, 4]]", "[2, [3]]");
        assert_eq!(applied(given, &["sharing.alpha[0]=", "sharing.alpha[1][1]="]), fewer);
        // Below an element that is a table; and names come first.
        let given = "[[traffic]]\nname = \"web[0]\"\nload = 1\n";
        let expected = given.replace("load = 1", "load = 2");
        for path in ["traffic[0].load", "traffic.web[0].load"] {
            assert_eq!(applied(given, &[&format!("{path}=2")]), expected, "{path}");
        }
        assert_eq!(applied(given, &["traffic[0].load="]), "[[traffic]]\nname = \"web[0]\"\n");
    }

    #[test]
    fn an_element_that_is_not_there_is_refused() {
        let given = "sharing = \"dt\"\nbounds = [1, 2]\n";
        let refused = |assignment: &str| {
            let error = apply(&mut given.parse().unwrap(), assignment).unwrap_err();
            (format!("{}: {}", error.path, error.problem), error.hint)
        };
        for name in ["alpha", "alpha[0]"] {
            let (text, hint) = refused(&format!("sharing.{name}[1]=2"));
            let problem = "there is no list alpha of which to change an element";
            assert!(text.ends_with(problem), "{text}");
            assert_eq!(hint.as_deref(), Some("set the whole list first, as in alpha=[1, 2]"));
        }
        let (text, hint) = refused("bounds[2]=3");
        assert_eq!(text, "bounds[2]: bounds has no element [2]");
        assert_eq!(hint.as_deref(), Some("it has 2, and the first is [0]"));
        assert_eq!(refused("bounds[0].a=3").0, "bounds[0].a: bounds[0] has no keys below it");
        for assignment in ["bounds[2]=", "bounds[0].a=", "alpha[0]=", "bounds[0][0]="] {
            assert!(!apply(&mut given.parse().unwrap(), assignment).unwrap(), "{assignment}");
        }
        // What is not of this form is a key like any other.
        assert_eq!(applied("", &["a[x]=1"]), "\"a[x]\" = 1\n");
    }

    #[test]
    fn a_key_without_a_value_is_taken_away() {
        let given = "[switch]\nbuffer = \"1MB\"\n[switch.sharing]\nkind = \"dt\"\nalpha = 2.0\n";
        let after = "[switch]\nbuffer = \"1MB\"\n\n[switch.sharing]\nkind = \"dt\"\n";
        assert_eq!(applied(given, &["switch.sharing.alpha="]), after);
        assert_eq!(applied(given, &["switch.sharing = "]), "[switch]\nbuffer = \"1MB\"\n");
        // A section is found by its name or its index.
        let given = "[[traffic]]\nname = \"a\"\nload = 1\n\n[[traffic]]\nname = \"b\"\n";
        assert_eq!(applied(given, &["traffic.a="]), "[[traffic]]\nname = \"b\"\n");
        assert_eq!(applied(given, &["traffic.1=", "traffic.a.name="]), "[[traffic]]\nload = 1\n");
        // An empty text is a value.
        assert_eq!(applied("", &["name=\"\""]), "name = \"\"\n");
    }

    #[test]
    fn what_is_not_there_is_not_made_and_not_taken_away() {
        let given = "seed = 1\n\n[[event]]\nat = \"1us\"\n";
        for text in ["sed=", "seed.a=", "switch.buffer=", "event.1=", "event.0.a=", "event.0.at.b="]
        {
            let mut table: Table = given.parse().unwrap();
            assert!(!apply(&mut table, text).unwrap(), "{text}");
            assert_eq!(table.to_string(), given);
        }
        assert!(apply(&mut given.parse().unwrap(), "event.0=").unwrap());
        assert!(apply(&mut given.parse().unwrap(), "seed=2").unwrap());
    }

    #[test]
    fn what_goes_too_deep_is_refused() {
        let error = apply(&mut Table::new(), &format!("{}a=1", "a.".repeat(10_000))).unwrap_err();
        assert!(error.to_string().contains("tables and lists stand within one another"), "{error}");
        let deep = "[".repeat(10_000);
        assert_eq!(applied("", &[&format!("a={deep}")]), format!("a = \"{deep}\"\n"));
    }

    #[test]
    fn what_is_not_an_assignment_is_refused() {
        for text in ["seed", "=3", "a..b=1"] {
            assert!(apply(&mut Table::new(), text).is_err(), "{text}");
        }
    }
}

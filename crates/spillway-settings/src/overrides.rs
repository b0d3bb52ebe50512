//! `--set key=value`: changing a scenario by dotted paths before it is read.

use crate::depth::{check_depth, parse};
use crate::error::SettingsError;
use toml::{Table, Value};

/// Applies one `key=value` to a scenario that has not been read yet.
///
/// The value is TOML (`0.5`, `true`, `[64, 0.5]`, `{ kind = "dt" }`), or else plain text
/// (`50%`, `dt`). A step into an array of tables names its `name` or its place. Setting a policy
/// replaces it and its parameters; a step into a policy written as an id turns it into a table.
pub fn apply(scenario: &mut Table, assignment: &str) -> Result<(), SettingsError> {
    let Some((path, text)) = assignment.split_once('=') else {
        let problem = format!("{assignment:?} is not of the form key=value");
        return Err(SettingsError::new("", problem));
    };
    let (path, text) = (path.trim(), text.trim());
    let steps: Vec<&str> = path.split('.').collect();
    if steps.iter().any(|step| step.is_empty()) {
        return Err(SettingsError::new("", format!("{path:?} is not a dotted path")));
    }
    check_depth(path, steps.len())?;
    set(scenario, path, &steps, value_of(text))
}

fn value_of(text: &str) -> Value {
    let parsed = parse(&format!("value = {text}"));
    match parsed.ok().and_then(|mut table| table.remove("value")) {
        Some(value) if !matches!(value, Value::Datetime(_)) => value,
        _ => Value::String(text.into()),
    }
}

fn set(table: &mut Table, path: &str, steps: &[&str], value: Value) -> Result<(), SettingsError> {
    let (first, rest) = (steps[0], &steps[1..]);
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
            let found = names.iter().position(|name| name == rest[0]);
            let element = found.or_else(|| rest[0].parse().ok()).and_then(|i| list.get_mut(i));
            match element {
                Some(Value::Table(inner)) if rest.len() > 1 => set(inner, path, &rest[1..], value),
                Some(element) if rest.len() == 1 => {
                    *element = value;
                    Ok(())
                }
                _ => {
                    let problem = format!("there is no {first} called {:?}", rest[0]);
                    let valid = format!("valid here: {}", names.join(", "));
                    Err(SettingsError::new(path, problem).hint(valid))
                }
            }
        }
        _ => Err(SettingsError::new(path, format!("{first} has no keys below it"))),
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

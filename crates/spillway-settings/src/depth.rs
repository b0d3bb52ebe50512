//! A limit on how deeply tables and lists may be nested.
//!
//! Code that walks through a scenario, or drops it, calls itself at every level of nesting. The
//! stack is finite.

use crate::error::{ErrorKind, SettingsError};
use toml::{Table, Value};

/// The deepest nesting of tables and lists. Scenarios need very little.
const MOST: usize = 64;

/// Refuses a value that is nested more deeply.
pub fn check_depth(path: &str, depth: usize) -> Result<(), SettingsError> {
    if depth <= MOST {
        return Ok(());
    }
    // The whole path would not help the user.
    let begin: String = path.chars().take(40).collect();
    Err(too_deep(&format!("{begin}...")))
}

/// Reads TOML.
///
/// # Errors
/// If it is not TOML, or is nested too deeply. The parser has a limit of its own for that, which
/// applies first.
pub fn parse(text: &str) -> Result<Table, SettingsError> {
    let table: Table = text.parse().map_err(|error: toml::de::Error| {
        if error.message().contains("recurs") {
            too_deep("")
        } else {
            ErrorKind::WrongValue.at("", error.to_string())
        }
    })?;
    if table.values().all(|value| is_within(value, MOST)) { Ok(table) } else { Err(too_deep("")) }
}

fn too_deep(path: &str) -> SettingsError {
    let problem = format!("tables and lists stand within one another, more than {MOST} of them");
    ErrorKind::Limit.at(path, problem)
}

/// Whether nothing in a value is nested within more than `most` tables and lists.
fn is_within(value: &Value, most: usize) -> bool {
    match (value, most) {
        (Value::Array(_) | Value::Table(_), 0) => false,
        (Value::Array(list), _) => list.iter().all(|item| is_within(item, most - 1)),
        (Value::Table(table), _) => table.values().all(|item| is_within(item, most - 1)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_nested_too_deeply_is_refused_before_anybody_walks_through_it() {
        let nested = |depth: usize| {
            [
                format!("a = {}{}", "[".repeat(depth), "]".repeat(depth)),
                format!("a = {}1{}", "{ a = ".repeat(depth), " }".repeat(depth)),
                format!("{}a = 1", "a.".repeat(depth)),
                format!("[{}a]", "a.".repeat(depth - 1)),
                format!("[[{}a]]", "a.".repeat(depth - 2)),
            ]
        };
        for text in nested(MOST) {
            parse(&text).unwrap();
        }
        let expected = "tables and lists stand within one another, more than 64 of them";
        for text in [nested(MOST + 1), nested(200), nested(100_000)].concat() {
            let depth = text.matches(['[', '{', '.']).count();
            let error = parse(&text).unwrap_err();
            assert_eq!(error.to_string(), expected, "{depth}");
        }
        assert!(parse("a = [1").unwrap_err().problem.contains("line 1"));
        check_depth("a", MOST).unwrap();
        let error = check_depth(&"a.".repeat(10_000), MOST + 1).unwrap_err().to_string();
        assert_eq!(error, format!("{}...: {expected}", "a.".repeat(20)));
    }
}

//! Keys that accept several types of value: hosts as a number, a range or a list.

use spillway_settings::{ErrorKind, Form, Section, SettingsError, Takes, Value};

/// The values that a key for hosts accepts.
const HOSTS: &str = "a host, a list of hosts, or a range with both ends such as \"0..15\"";

/// Reads an optional value of any type with its own parser.
pub fn optional_value<T>(
    section: &mut Section,
    key: &'static str,
    takes: Takes,
    meaning: &'static str,
    parse: impl FnOnce(&Value) -> Option<T>,
) -> Result<Option<T>, SettingsError> {
    section.optional(key, |s| s.value(key, "", takes, meaning, parse))
}

/// Reads a set of hosts, sorted. Each must exist and occur once.
pub fn hosts(
    section: &mut Section,
    key: &'static str,
    meaning: &'static str,
    number: u32,
) -> Result<Option<Vec<u32>>, SettingsError> {
    let parse = |value: &Value| parse_hosts(value, number);
    let takes = Takes::new(HOSTS, [Form::INDEX, Form::list([Form::INDEX]), Form::RANGE]);
    let Some(mut hosts) = optional_value(section, key, takes, meaning, parse)? else {
        return Ok(None);
    };
    hosts.sort_unstable();
    for &host in &hosts {
        exists(section, key, host, number)?;
    }
    match hosts.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(section.error(
            ErrorKind::WrongValue,
            key,
            format!("host {} is listed twice", pair[0]),
        )),
        None => Ok(Some(hosts)),
    }
}

/// Refuses a host that does not exist, if there are `number` hosts.
pub fn exists(section: &Section, key: &str, host: u32, number: u32) -> Result<(), SettingsError> {
    if host < number {
        return Ok(());
    }
    let last = number.saturating_sub(1);
    let problem = format!("{host} is not a host; there are {number}, from 0 to {last}");
    Err(section.error(ErrorKind::WrongValue, key, problem))
}

/// Parses a host's number.
pub fn parse_host(value: &Value) -> Option<u32> {
    u32::try_from(value.as_integer()?).ok()
}

fn parse_hosts(value: &Value, number: u32) -> Option<Vec<u32>> {
    match value {
        Value::Array(list) if !list.is_empty() => list.iter().map(parse_host).collect(),
        Value::String(range) => {
            let (first, last) = range.split_once("..")?;
            let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
            // A range is cut off one host after the last. That suffices for it to be refused.
            (first <= last).then(|| (first..=last.min(first.max(number))).collect())
        }
        one => Some(vec![parse_host(one)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Vec<u32>>, SettingsError> {
        hosts(&mut Section::new("traffic.x", text.parse().unwrap()), "senders", "", 8)
    }

    #[test]
    fn hosts_are_a_number_a_list_or_a_range_with_both_ends() {
        for (text, hosts) in [
            ("", None),
            ("senders = 3", Some(vec![3])),
            ("senders = [5, 1]", Some(vec![1, 5])),
            ("senders = \"2..4\"", Some(vec![2, 3, 4])),
        ] {
            assert_eq!(read(text).unwrap(), hosts, "{text}");
        }
    }

    #[test]
    fn hosts_that_do_not_exist_or_stand_there_twice_are_refused() {
        for (text, problem) in [
            ("senders = 8", "8 is not a host; there are 8, from 0 to 7"),
            ("senders = \"6..9\"", "8 is not a host; there are 8, from 0 to 7"),
            ("senders = [1, 1]", "host 1 is listed twice"),
            (
                "senders = -1",
                "-1 is not valid; expected a host, a list of hosts, or a range with both ends \
                 such as \"0..15\"",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert_eq!(error, format!("traffic.x.senders: {problem}"));
        }
        for text in ["senders = []", "senders = \"4..2\"", "senders = \"4\"", "senders = [0.5]"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}

//! Reading one table of a scenario.
//!
//! The code that interprets a section asks it for each key, with the key's default and its meaning.
//! These questions do everything: they validate the given values, fill in the others, produce the
//! resolved table, and document the section (`spillway list`). Nothing is stated twice.

use crate::error::{ErrorKind, SettingsError, nearest_name};
use crate::quantity::{self, Amount, BdpSize, BufferSize};
use crate::takes::{Form, Takes};
use spillway_engine::{Rate, Time};
use std::cell::RefCell;
use std::fmt;
use toml::{Table, Value};

type Result<T> = std::result::Result<T, SettingsError>;

/// A key that a section understands.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Its name in the section.
    pub name: &'static str,
    /// What it accepts.
    pub takes: Takes,
    /// Its default as it would be written; empty if a value must be given.
    pub default: String,
    /// What it means.
    pub meaning: &'static str,
}

/// The numbers that a key allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// Above 0.
    Positive,
    /// 0 or more.
    NotNegative,
    /// Above 1.
    AboveOne,
    /// From 0 to 1, both included.
    Unit,
    /// Above 0, and at most 1.
    Share,
    /// This value or more.
    AtLeast(f64),
    /// From the first to the second, both included.
    Within(f64, f64),
}

impl Range {
    fn contains(self, x: f64) -> bool {
        let [(low, has_low), (high, has_high)] = self.bounds();
        let is_above = x > low || (has_low && x == low);
        is_above && (x < high || (has_high && x == high))
    }

    /// The least and the greatest, and whether they are allowed themselves.
    pub fn bounds(self) -> [(f64, bool); 2] {
        const NO_END: (f64, bool) = (f64::INFINITY, false);
        match self {
            Range::Positive => [(0.0, false), NO_END],
            Range::NotNegative => [(0.0, true), NO_END],
            Range::AboveOne => [(1.0, false), NO_END],
            Range::Unit => [(0.0, true), (1.0, true)],
            Range::Share => [(0.0, false), (1.0, true)],
            Range::AtLeast(least) => [(least, true), NO_END],
            Range::Within(low, high) => [(low, true), (high, true)],
        }
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [(low, has_low), (high, has_high)] = self.bounds();
        let (open, close) = (if has_low { '[' } else { '(' }, if has_high { ']' } else { ')' });
        write!(f, "{open}{low}, {high}{close}")
    }
}

thread_local! {
    /// What `asked` listens to.
    static ASKED: RefCell<Option<Vec<(String, Key)>>> = const { RefCell::new(None) };
}

/// Calls `read`, and lists the keys that sections were asked for meanwhile, each with its section's
/// path.
pub fn asked<T>(read: impl FnOnce() -> T) -> (T, Vec<(String, Key)>) {
    let earlier = ASKED.replace(Some(Vec::new()));
    let result = read();
    (result, ASKED.replace(earlier).unwrap_or_default())
}

/// One table of a scenario: the given values, and the values to which they are resolved.
#[derive(Debug)]
pub struct Section {
    path: String,
    /// The steps to it from the root. Steps into arrays are numbers, so the steps are unambiguous;
    /// the path has names there.
    place: Vec<String>,
    given: Table,
    resolved: Table,
    keys: Vec<Key>,
    /// The warnings so far.
    warnings: Vec<String>,
    /// Names that are valid in this table although other code reads them.
    also_valid: Vec<String>,
    /// The key that is asked for now, and need not be given.
    optional: Option<&'static str>,
}

impl Section {
    /// The section at this dotted path, with the values given for it.
    pub fn new(path: impl Into<String>, given: Table) -> Section {
        let path = path.into();
        let place = path.split('.').filter(|step| !step.is_empty()).map(Into::into).collect();
        Section {
            path,
            place,
            given,
            resolved: Table::new(),
            keys: Vec::new(),
            warnings: Vec::new(),
            also_valid: Vec::new(),
            optional: None,
        }
    }

    /// A section without given values, to list its keys and defaults.
    pub fn empty() -> Section {
        Section::new("", Table::new())
    }

    /// The dotted path of this section.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The dotted path of one of its keys.
    pub fn path_of(&self, key: &str) -> String {
        match self.path.as_str() {
            "" => key.to_string(),
            path => format!("{path}.{key}"),
        }
    }

    /// The steps to one of its keys from the root. Steps into arrays are numbers.
    pub(crate) fn place_of(&self, key: &str) -> Vec<String> {
        self.place.iter().cloned().chain([key.to_string()]).collect()
    }

    /// The keys asked for so far.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// Whether a value was given for `key` and has not been read yet.
    pub fn has(&self, key: &str) -> bool {
        self.given.contains_key(key)
    }

    /// An error about `key`.
    pub fn error(&self, kind: ErrorKind, key: &str, problem: impl Into<String>) -> SettingsError {
        kind.at(self.path_of(key), problem)
    }

    /// An error about the value of `key`, which does not go together with those of other keys.
    pub fn conflict(&self, key: &str, problem: impl Into<String>) -> SettingsError {
        self.error(ErrorKind::Conflict, key, problem)
    }

    /// Refuses keys that mean something only with another setting, such as `counter = "hashes"`.
    pub fn needs(&self, setting: &str, keys: &[&str]) -> Result<()> {
        match keys.iter().find(|key| self.has(key)) {
            None => Ok(()),
            Some(key) => Err(self.error(ErrorKind::UnusedKey, key, format!("it needs {setting}"))),
        }
    }

    /// Adds a warning about the value of `key`, which is valid but unusual.
    pub fn warn(&mut self, key: &str, text: impl fmt::Display) {
        self.warnings.push(format!("{}: {text}", self.path_of(key)));
    }

    /// The warnings added by [`Section::warn`].
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// A span of time.
    pub fn time(
        &mut self,
        key: &'static str,
        default: &str,
        meaning: &'static str,
    ) -> Result<Time> {
        self.quantity(key, default, Takes::Time { positive: false }, meaning, quantity::time)
    }

    /// A span of time above 0.
    pub fn positive_time(
        &mut self,
        key: &'static str,
        default: &str,
        meaning: &'static str,
    ) -> Result<Time> {
        let parse = |text: &str| quantity::time(text).filter(|&time| time > Time::ZERO);
        self.quantity(key, default, Takes::Time { positive: true }, meaning, parse)
    }

    /// A line's rate.
    pub fn rate(
        &mut self,
        key: &'static str,
        default: &str,
        meaning: &'static str,
    ) -> Result<Rate> {
        self.quantity(key, default, Takes::Rate, meaning, quantity::rate)
    }

    /// A number of bytes.
    pub fn size(&mut self, key: &'static str, default: &str, meaning: &'static str) -> Result<u64> {
        self.quantity(key, default, Takes::Size { positive: false }, meaning, quantity::size)
    }

    /// A number of bytes above 0.
    pub fn positive_size(
        &mut self,
        key: &'static str,
        default: &str,
        meaning: &'static str,
    ) -> Result<u64> {
        let parse = |text: &str| quantity::size(text).filter(|&bytes| bytes > 0);
        self.quantity(key, default, Takes::Size { positive: true }, meaning, parse)
    }

    /// Packets or bytes, or unlimited.
    pub fn amount(
        &mut self,
        key: &'static str,
        default: &str,
        meaning: &'static str,
    ) -> Result<Amount> {
        self.quantity(key, default, Takes::Amount, meaning, Amount::parse)
    }

    /// A switch's buffer.
    pub fn buffer(
        &mut self,
        key: &'static str,
        default: &str,
        meaning: &'static str,
    ) -> Result<BufferSize> {
        self.quantity(key, default, Takes::Buffer, meaning, BufferSize::parse)
    }

    /// Bytes, or a multiple of the bandwidth-delay product.
    pub fn bdp_size(
        &mut self,
        key: &'static str,
        default: &str,
        meaning: &'static str,
    ) -> Result<BdpSize> {
        self.quantity(key, default, Takes::BdpSize, meaning, BdpSize::parse)
    }

    /// A bound in bytes, or a multiple of the bandwidth-delay product; `None` for "unlimited".
    pub fn bdp_bound(
        &mut self,
        key: &'static str,
        default: &str,
        meaning: &'static str,
    ) -> Result<Option<BdpSize>> {
        let takes = "a size such as \"30KB\" or \"1bdp\", or \"unlimited\"";
        let takes = Takes::new(takes, [Form::size().or_in("bdp"), Form::word("unlimited")]);
        self.quantity(key, default, takes, meaning, |text| match text {
            "unlimited" => Some(None),
            _ => BdpSize::parse(text).map(Some),
        })
    }

    /// A quantity with a unit, read by its own parser. An empty default means that a value must be
    /// given.
    pub fn quantity<T>(
        &mut self,
        key: &'static str,
        default: &str,
        takes: Takes,
        meaning: &'static str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T> {
        self.value(key, default, takes, meaning, |value| value.as_str().and_then(parse))
    }

    /// A value of any type, read by its own parser. An empty default means that a value must be
    /// given.
    pub fn value<T>(
        &mut self,
        key: &'static str,
        default: &str,
        takes: Takes,
        meaning: &'static str,
        parse: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T> {
        let default_value = (!default.is_empty()).then(|| Value::String(default.into()));
        let value = self.take(key, default_value, &takes, meaning)?;
        let parsed = parse(&value);
        parsed.ok_or_else(|| self.wrong(key, &value, &takes))
    }

    /// A number in a range. Without a default, a value must be given.
    pub fn number(
        &mut self,
        key: &'static str,
        default: impl Into<Option<f64>>,
        range: Range,
        meaning: &'static str,
    ) -> Result<f64> {
        let takes = Takes::Number(range);
        let value = self.take(key, default.into().map(Value::Float), &takes, meaning)?;
        let number = as_number(&value).filter(|&x| range.contains(x));
        number.ok_or_else(|| self.wrong(key, &value, &takes))
    }

    /// An integer in a range, both ends included.
    pub fn integer(
        &mut self,
        key: &'static str,
        default: impl Into<Option<u64>>,
        range: std::ops::RangeInclusive<u64>,
        meaning: &'static str,
    ) -> Result<u64> {
        let takes = Takes::Integer { least: *range.start(), most: *range.end() };
        let default = default.into().map(|n| Value::Integer(n as i64));
        let value = self.take(key, default, &takes, meaning)?;
        let number = value.as_integer().and_then(|n| u64::try_from(n).ok());
        number.filter(|n| range.contains(n)).ok_or_else(|| self.wrong(key, &value, &takes))
    }

    /// True or false.
    pub fn flag(
        &mut self,
        key: &'static str,
        default: bool,
        meaning: &'static str,
    ) -> Result<bool> {
        let value = self.take(key, Some(Value::Boolean(default)), &Takes::Flag, meaning)?;
        value.as_bool().ok_or_else(|| self.wrong(key, &value, &Takes::Flag))
    }

    /// A flag for what goes beyond a publication. Unless it is set, it is not written out, so that
    /// what was resolved before there was such a key stays as it is.
    pub fn extra_flag(&mut self, key: &'static str, meaning: &'static str) -> Result<bool> {
        let is_set = self.flag(key, false, meaning)?;
        if !is_set {
            self.leave_out(key);
        }
        Ok(is_set)
    }

    /// As [`Section::extra_flag`], with names of which the first stands for what was published.
    pub fn extra_choice<T: Clone>(
        &mut self,
        key: &'static str,
        options: &[(&str, T)],
        meaning: &'static str,
    ) -> Result<T> {
        let chosen = self.choice(key, options, meaning)?;
        if self.resolved.get(key).and_then(Value::as_str) == Some(options[0].0) {
            self.leave_out(key);
        }
        Ok(chosen)
    }

    /// A line of text that is not blank. An empty default means that a value must be given.
    pub fn text(
        &mut self,
        key: &'static str,
        default: &str,
        takes: &str,
        meaning: &'static str,
    ) -> Result<String> {
        let parse = |text: &str| is_line(text).then(|| text.to_string());
        self.quantity(key, default, Takes::new(takes, [Form::Text]), meaning, parse)
    }

    /// One of several names. The first one is the default.
    pub fn choice<T: Clone>(
        &mut self,
        key: &'static str,
        options: &[(&str, T)],
        meaning: &'static str,
    ) -> Result<T> {
        let takes = Takes::Choice(options.iter().map(|(name, _)| (*name).into()).collect());
        let value = self.take(key, Some(options[0].0.into()), &takes, meaning)?;
        let Some(text) = value.as_str() else { return Err(self.wrong(key, &value, &takes)) };
        match options.iter().find(|(name, _)| *name == text) {
            Some((_, chosen)) => Ok(chosen.clone()),
            None => {
                let hint = nearest_name(text, options.iter().map(|(name, _)| *name));
                Err(self.wrong(key, &value, &takes).hint(hint))
            }
        }
    }

    /// One of several names, which must be given.
    pub fn one_of<'a>(
        &mut self,
        key: &'static str,
        ids: impl Iterator<Item = &'a str> + Clone,
        meaning: &'static str,
    ) -> Result<String> {
        let takes = Takes::Choice(ids.clone().map(Into::into).collect());
        let value = self.take(key, None, &takes, meaning)?;
        let Some(id) = value.as_str() else { return Err(self.wrong(key, &value, &takes)) };
        match ids.clone().find(|known| *known == id) {
            Some(id) => Ok(id.into()),
            None => Err(self.wrong(key, &value, &takes).hint(nearest_name(id, ids))),
        }
    }

    /// One number or a list of numbers: `0.5` or `[64, 0.5]`.
    pub fn numbers(
        &mut self,
        key: &'static str,
        default: &[f64],
        range: Range,
        meaning: &'static str,
    ) -> Result<Vec<f64>> {
        let takes = Takes::Numbers(range);
        let default = match default {
            [] => None,
            [one] => Some(Value::Float(*one)),
            many => Some(Value::Array(many.iter().map(|&x| Value::Float(x)).collect())),
        };
        let value = self.take(key, default, &takes, meaning)?;
        let numbers: Option<Vec<f64>> = match &value {
            Value::Array(list) if !list.is_empty() => list.iter().map(as_number).collect(),
            one => as_number(one).map(|x| vec![x]),
        };
        let numbers = numbers.filter(|list| list.iter().all(|&x| range.contains(x)));
        numbers.ok_or_else(|| self.wrong(key, &value, &takes))
    }

    /// The elements of a list that has been read, or the number that was given in place of a list.
    /// `None` for other keys.
    pub fn list(&self, key: &str) -> Option<Vec<Value>> {
        let takes_list =
            |known: &&Key| known.name == key && matches!(known.takes, Takes::Numbers(_));
        self.keys.iter().find(takes_list)?;
        match self.resolved.get(key)? {
            Value::Array(list) => Some(list.clone()),
            one => Some(vec![one.clone()]),
        }
    }

    /// The value of a key that need not be given; `read` asks for it. `None` if it is not given. It
    /// is then not written out.
    pub fn optional<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Section) -> Result<T>,
    ) -> Result<Option<T>> {
        if self.has(key) {
            return self.at_times(key, read).map(Some);
        }
        // What the key takes is what would have been asked for.
        let mut other = Section::new(self.path.clone(), Table::new());
        let _ = asked(|| drop(read(&mut other)));
        for known in other.keys.into_iter().filter(|known| known.name == key) {
            self.note(Key { default: "none".into(), ..known });
        }
        Ok(None)
    }

    /// The value of a key that must be given, but only beside some values of other keys; `read`
    /// asks for it.
    pub fn at_times<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Section) -> Result<T>,
    ) -> Result<T> {
        self.optional = Some(key);
        let value = read(self);
        self.optional = None;
        value
    }

    /// A flag that need not be given. If it is not given, it is not written out.
    pub fn optional_flag(
        &mut self,
        key: &'static str,
        meaning: &'static str,
    ) -> Result<Option<bool>> {
        self.optional(key, |section| section.flag(key, false, meaning))
    }

    /// The table under `key`, empty if it was not given. Pass the result of its [`Section::finish`]
    /// to [`Section::put`].
    pub fn section(&mut self, key: &'static str) -> Result<Section> {
        let path = self.path_of(key);
        self.also_valid.push(key.into());
        match self.given.remove(key) {
            None => Ok(Section::new(path, Table::new())),
            Some(Value::Table(table)) => Ok(Section::new(path, table)),
            Some(other) => Err(self.wrong(key, &other, &Takes::new("a table", [Form::Table]))),
        }
    }

    /// As [`Section::section`], for a table that belongs to some values of other keys. It is listed.
    pub fn table(&mut self, key: &'static str, meaning: &'static str) -> Result<Section> {
        let takes = Takes::new("a table", [Form::Table]);
        self.note(Key { name: key, takes, default: "none".into(), meaning });
        self.section(key)
    }

    /// The tables of the array under `key`. The path of each contains its `name` or its index.
    pub fn sections(&mut self, key: &'static str) -> Result<Vec<Section>> {
        self.also_valid.push(key.into());
        let takes = format!("tables, each headed [[{key}]]");
        let takes = Takes::new(takes, [Form::list([Form::Table])]);
        let list = match self.given.remove(key) {
            None => return Ok(Vec::new()),
            Some(Value::Array(list)) => list,
            Some(other) => return Err(self.wrong(key, &other, &takes)),
        };
        let mut sections = Vec::new();
        for (place, item) in list.into_iter().enumerate() {
            let Value::Table(table) = item else { return Err(self.wrong(key, &item, &takes)) };
            let label = match table.get("name").and_then(Value::as_str) {
                Some(name) => name.to_string(),
                None => place.to_string(),
            };
            let mut section = Section::new(format!("{}.{label}", self.path_of(key)), table);
            section.place = self.place_of(key);
            section.place.push(place.to_string());
            sections.push(section);
        }
        Ok(sections)
    }

    /// A policy: an id, or a table with `kind` and parameters. Returns the id, which is one of
    /// `ids`, and the section of the parameters.
    pub fn policy<'a>(
        &mut self,
        key: &'static str,
        default: &str,
        ids: impl Iterator<Item = &'a str> + Clone,
        meaning: &'static str,
    ) -> Result<(String, Section)> {
        let takes = Takes::Policy(ids.clone().map(Into::into).collect());
        self.remember(key, &takes, default, meaning);
        let path = self.path_of(key);
        let (kind, parameters) = match self.given.remove(key) {
            None => (default.to_string(), Table::new()),
            Some(Value::String(kind)) => (kind, Table::new()),
            Some(Value::Table(table)) if table.is_empty() => {
                return Err(self.wrong(key, &Value::Table(table), &takes));
            }
            Some(Value::Table(mut table)) => match table.remove("kind") {
                None => (default.to_string(), table),
                Some(Value::String(kind)) => (kind, table),
                Some(other) => return Err(self.wrong(key, &other, &takes)),
            },
            Some(other) => return Err(self.wrong(key, &other, &takes)),
        };
        if !ids.clone().any(|id| id == kind) {
            let problem = format!("{kind:?} is not known; expected {takes}");
            let error = ErrorKind::WrongValue.at(path, problem);
            return Err(error.hint(nearest_name(&kind, ids)));
        }
        let mut section = Section::new(path, parameters);
        section.place = self.place_of(key);
        section.resolved.insert("kind".into(), Value::String(kind.clone()));
        section.also_valid.push("kind".into());
        Ok((kind, section))
    }

    /// Puts a resolved value that other code has read into this section's result.
    pub fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.resolved.insert(key.into(), value.into());
    }

    /// Does not write out a key that has been asked for, since other keys say the same.
    pub fn leave_out(&mut self, key: &str) {
        self.resolved.remove(key);
    }

    /// Gives a value to a key that has none.
    pub fn give(&mut self, key: &str, value: Value) {
        if !self.has(key) {
            self.given.insert(key.into(), value);
        }
    }

    /// Takes the value given for `key` unchanged, if there is one.
    pub fn raw(&mut self, key: &str) -> Option<Value> {
        self.also_valid.push(key.into());
        self.given.remove(key)
    }

    /// The value given for `key`. It stays there and must still be asked for.
    pub fn peek(&self, key: &str) -> Option<&Value> {
        self.given.get(key)
    }

    /// Takes everything that has not been asked for, to be read by another section.
    /// [`Section::also`] of that section keeps the names valid that this section knows.
    pub fn rest(&mut self) -> Table {
        std::mem::take(&mut self.given)
    }

    /// Adds names that are valid here although other code reads them, for hints.
    pub fn also(&mut self, names: impl IntoIterator<Item = String>) {
        self.also_valid.extend(names);
    }

    /// All names asked for so far or added by [`Section::also`].
    pub fn valid_names(&self) -> Vec<String> {
        let asked = self.keys.iter().map(|key| key.name.to_string());
        asked.chain(self.also_valid.iter().cloned()).collect()
    }

    /// The resolved table. A key that no code asked for is an error.
    pub fn finish(self) -> Result<Table> {
        if let Some(key) = self.given.keys().next() {
            let names = self.valid_names();
            let error = ErrorKind::UnknownKey.at(self.path_of(key), "unknown key");
            return Err(error.hint(nearest_name(key, names.iter().map(String::as_str))));
        }
        Ok(self.resolved)
    }

    fn take(
        &mut self,
        key: &'static str,
        default: Option<Value>,
        takes: &Takes,
        meaning: &'static str,
    ) -> Result<Value> {
        let written = default.as_ref().map(ToString::to_string).unwrap_or_default();
        self.remember(key, takes, &written, meaning);
        let value = match self.given.remove(key).or(default) {
            Some(value) => value,
            None => {
                let problem = format!("missing; expected {takes}");
                return Err(self.error(ErrorKind::MissingKey, key, problem));
            }
        };
        self.resolved.insert(key.into(), value.clone());
        Ok(value)
    }

    fn remember(&mut self, key: &'static str, takes: &Takes, default: &str, meaning: &'static str) {
        self.note(Key { name: key, takes: takes.clone(), default: default.into(), meaning });
    }

    fn note(&mut self, mut key: Key) {
        if self.optional == Some(key.name) {
            key.default = "none".into();
        }
        ASKED.with_borrow_mut(|all| {
            all.iter_mut().for_each(|all| all.push((self.path.clone(), key.clone())));
        });
        self.keys.push(key);
    }

    fn wrong(&self, key: &str, value: &Value, takes: &Takes) -> SettingsError {
        let is_negative = |text: &str| text.trim_start().starts_with('-');
        let problem = match value.as_str() {
            Some(text) if is_negative(text) => "must not be negative",
            text => text.and_then(quantity::excess).unwrap_or("is not valid"),
        };
        self.error(ErrorKind::WrongValue, key, format!("{value} {problem}; expected {takes}"))
    }
}

/// Whether a text is a line that is not blank.
pub fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(['\n', '\r'])
}

fn as_number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|n| n as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(text: &str) -> Section {
        Section::new("switch", text.parse().unwrap())
    }

    #[test]
    fn given_values_are_read_and_missing_ones_filled_in() {
        let mut s = section("rtt = \"3us\"\nalpha = 1");
        assert_eq!(s.time("rtt", "1us", "round trip").unwrap(), Time::from_us(3));
        assert_eq!(s.number("alpha", 0.5, Range::Positive, "share").unwrap(), 1.0);
        assert_eq!(s.size("mss", "1448B", "payload").unwrap(), 1448);
        assert!(s.optional("cap", |s| s.size("cap", "", "limit")).unwrap().is_none());
        let told = s.keys().last().unwrap();
        let size = Takes::Size { positive: false };
        assert_eq!((told.name, &told.takes, &*told.default), ("cap", &size, "none"));
        let resolved = s.finish().unwrap().to_string();
        assert_eq!(resolved, "rtt = \"3us\"\nalpha = 1\nmss = \"1448B\"\n");
    }

    #[test]
    fn errors_name_the_key_the_value_and_what_was_expected() {
        let mut s =
            section("rtt = 3\nalpha = -1\nkind = \"tial\"\nnever = \"0us\"\nage = \"99999999s\"");
        let text = |error: SettingsError| error.to_string();
        assert_eq!(
            text(s.time("rtt", "1us", "").unwrap_err()),
            "switch.rtt: 3 is not valid; expected a time such as \"25.2us\""
        );
        assert_eq!(
            text(s.positive_time("never", "1us", "").unwrap_err()),
            "switch.never: \"0us\" is not valid; expected a time above 0, such as \"25.2us\""
        );
        assert_eq!(
            text(s.time("age", "1us", "").unwrap_err()),
            "switch.age: \"99999999s\" is more than 53 days; expected a time such as \"25.2us\""
        );
        assert_eq!(
            text(s.number("alpha", 1.0, Range::Positive, "").unwrap_err()),
            "switch.alpha: -1 is not valid; expected a number in (0, inf)"
        );
        assert_eq!(
            text(s.choice("kind", &[("tail", 0), ("head", 1)], "").unwrap_err()),
            "switch.kind: \"tial\" is not valid; expected \"tail\" or \"head\"\n\
             hint: did you mean `tail`?"
        );
        assert_eq!(
            text(s.integer("hosts", None, 1..=64, "").unwrap_err()),
            "switch.hosts: missing; expected a whole number from 1 to 64"
        );
    }

    #[test]
    fn what_is_blank_or_nothing_is_refused() {
        let mut s = section("name = \" \"\nquantum = \"0B\"\nbuffer = \"0B\"");
        let error = |read: Result<()>| read.unwrap_err().to_string();
        assert_eq!(
            error(s.text("name", "", "a name", "").map(drop)),
            "switch.name: \" \" is not valid; expected a name"
        );
        assert_eq!(
            error(s.positive_size("quantum", "", "").map(drop)),
            "switch.quantum: \"0B\" is not valid; expected a size above 0, such as \"1500B\" or \"4MB\""
        );
        let of_two_lines =
            error(section("name = \"a\\nb\"").text("name", "", "a name", "").map(drop));
        assert!(of_two_lines.ends_with("is not valid; expected a name"), "{of_two_lines}");
        let error = error(s.buffer("buffer", "", "").map(drop));
        assert!(error.contains("\"0B\" is not valid; expected a size above 0"), "{error}");
    }

    #[test]
    fn what_goes_beyond_a_publication_is_written_out_only_if_it_is_chosen() {
        let resolved = |text: &str| {
            let mut s = section(text);
            let is_set = s.extra_flag("push_out", "").unwrap();
            let limit = s.extra_choice("limit", &[("port", 0), ("queue", 1)], "").unwrap();
            let told: Vec<&str> = s.keys().iter().map(|key| key.default.as_str()).collect();
            assert_eq!(told, ["false", "\"port\""]);
            (is_set, limit, s.finish().unwrap().to_string())
        };
        assert_eq!(resolved(""), (false, 0, "".into()));
        assert_eq!(resolved("push_out = false\nlimit = \"port\""), (false, 0, "".into()));
        let chosen = "push_out = true\nlimit = \"queue\"\n";
        assert_eq!(resolved(chosen), (true, 1, chosen.into()));
    }

    #[test]
    fn what_is_said_to_deserve_a_second_look_is_kept() {
        let mut s = section("");
        s.warn("alpha", "3 numbers");
        assert_eq!(s.warnings(), ["switch.alpha: 3 numbers"]);
    }

    #[test]
    fn a_key_of_another_setting_is_an_error_that_names_the_setting() {
        let s = section("places = 3");
        let error = s.needs("counter = \"bitmap\"", &["most", "places"]).unwrap_err();
        assert_eq!(error.to_string(), "switch.places: it needs counter = \"bitmap\"");
        assert!(s.needs("counter = \"bitmap\"", &["most"]).is_ok());
    }

    #[test]
    fn an_unknown_key_is_an_error_with_the_nearest_name() {
        let mut s = section("bufer = \"1MB\"");
        s.buffer("buffer", "unlimited", "").unwrap();
        let error = s.finish().unwrap_err().to_string();
        assert_eq!(error, "switch.bufer: unknown key\nhint: did you mean `buffer`?");
    }

    #[test]
    fn a_policy_is_an_id_or_a_table() {
        let ids = ["dt", "lqd"];
        for (text, kind) in [("", "dt"), ("p = \"lqd\"", "lqd"), ("p = { kind = \"lqd\" }", "lqd")]
        {
            let (id, _) = section(text).policy("p", "dt", ids.into_iter(), "").unwrap();
            assert_eq!(id, kind, "{text}");
        }
        let error = section("p = {}").policy("p", "dt", ids.into_iter(), "").unwrap_err();
        assert!(error.to_string().contains("{} is not valid; expected one of dt, lqd"), "{error}");
        let error = section("p = \"lqt\"").policy("p", "dt", ids.into_iter(), "").unwrap_err();
        assert!(error.to_string().ends_with("hint: did you mean `lqd`?"), "{error}");
    }
}

//! Errors in settings: the key, its value, and what was expected.

use std::fmt;

/// What is wrong with a setting, for programs, which do not read the error's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// There is no such key, section or element.
    UnknownKey,
    /// A part of the key's path, or its value, is a name that no switch, host or other place has, or
    /// that several have.
    UnknownPlace,
    /// The key means something only with another setting, which is missing.
    UnusedKey,
    /// A key without a default is missing.
    MissingKey,
    /// The value is of another type, out of range, or a name that is not known.
    WrongValue,
    /// The value may be valid, but not together with those of other keys.
    Conflict,
    /// A file that the key names cannot be read, or has wrong contents.
    File,
    /// More than one of the scenario's limits, or the simulator, allows.
    Limit,
}

impl ErrorKind {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ErrorKind::UnknownKey => "unknown-key",
            ErrorKind::UnknownPlace => "unknown-place",
            ErrorKind::UnusedKey => "unused-key",
            ErrorKind::MissingKey => "missing-key",
            ErrorKind::WrongValue => "wrong-value",
            ErrorKind::Conflict => "conflict",
            ErrorKind::File => "file",
            ErrorKind::Limit => "limit",
        }
    }

    /// An error of this kind about the key at `path`.
    pub fn at(self, path: impl Into<String>, problem: impl Into<String>) -> SettingsError {
        SettingsError { kind: self, path: path.into(), problem: problem.into(), hint: None }
    }
}

/// A wrong setting. Its text names the key by its dotted path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct SettingsError {
    /// What kind of error it is.
    pub kind: ErrorKind,
    /// The key's dotted path, such as `switch.sharing.alpha`.
    pub path: String,
    /// What is wrong and what was expected.
    pub problem: String,
    /// A hint, such as the nearest valid name or all valid ones.
    pub hint: Option<String>,
}

impl SettingsError {
    /// Adds a hint.
    pub fn hint(mut self, hint: impl Into<String>) -> SettingsError {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            write!(f, "{}", self.problem)?;
        } else {
            write!(f, "{}: {}", self.path, self.problem)?;
        }
        match &self.hint {
            Some(hint) => write!(f, "\nhint: {hint}"),
            None => Ok(()),
        }
    }
}

/// A sentence that names the candidate nearest to `name`, or else all candidates.
pub fn nearest_name<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    let mut unique: Vec<&str> = Vec::new();
    for candidate in candidates {
        if !unique.contains(&candidate) {
            unique.push(candidate);
        }
    }
    let candidates = unique;
    let nearest = candidates
        .iter()
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), *candidate))
        .min();
    match nearest {
        Some((distance, candidate)) if distance <= 2.max(name.len() / 3) => {
            format!("did you mean `{candidate}`?")
        }
        _ if candidates.is_empty() => "no key is valid here".into(),
        _ => format!("valid here: {}", candidates.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_and_otherwise_all() {
        let names = ["buffer", "sharing", "aqm", "buffer"];
        assert_eq!(nearest_name("bufer", names.into_iter()), "did you mean `buffer`?");
        assert_eq!(nearest_name("xyzzy", names.into_iter()), "valid here: buffer, sharing, aqm");
    }
}

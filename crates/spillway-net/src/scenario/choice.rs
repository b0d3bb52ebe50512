//! A policy that a scenario has chosen.

use super::Result;
use spillway_settings::{Section, Table, Value};

/// A policy that was chosen. Its parameters are read anew for every tier that has it.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub id: String,
    path: String,
    pub parameters: Table,
}

impl Choice {
    /// The choice that a section holds under a policy's key.
    pub fn of((id, mut own): (String, Section)) -> Choice {
        Choice { id, path: own.path().to_string(), parameters: own.rest() }
    }

    /// The path of its section.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Its parameters, as a section to be read.
    pub fn section(&self) -> Section {
        Section::new(self.path.clone(), self.parameters.clone())
    }

    /// The choice with every default written out, after its parameters have been read. A key in the
    /// section that no code has asked for is an error.
    pub fn resolved(&self, section: Section) -> Result<Value> {
        let mut resolved = Table::from_iter([("kind".into(), self.id.clone().into())]);
        resolved.extend(section.finish()?);
        Ok(Value::Table(resolved))
    }
}

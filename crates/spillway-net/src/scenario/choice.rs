//! A policy that a scenario has chosen.

use super::Result;
use spillway_settings::{Section, Table, Value};

/// A policy as it was chosen: its parameters are read for every tier that has it.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub id: String,
    path: String,
    pub parameters: Table,
}

impl Choice {
    /// What a section has found under a policy's key.
    pub fn of((id, mut own): (String, Section)) -> Choice {
        Choice { id, path: own.path().to_string(), parameters: own.rest() }
    }

    /// Its parameters, to be read.
    pub fn section(&self) -> Section {
        Section::new(self.path.clone(), self.parameters.clone())
    }

    /// With every default written out, as its section has it after its parameters are read. What else
    /// there is in it is an error.
    pub fn resolved(&self, section: Section) -> Result<Value> {
        let mut resolved = Table::from_iter([("kind".into(), self.id.clone().into())]);
        resolved.extend(section.finish()?);
        Ok(Value::Table(resolved))
    }
}

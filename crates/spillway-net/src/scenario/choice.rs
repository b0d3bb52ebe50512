//! A policy that a scenario has chosen.

use super::Result;
use spillway_settings::{Section, Table, Value};

/// A policy as it was chosen: read anew for every place that has one.
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

    /// Has it read, so that what is wrong with it is found. Returns it with every default written out.
    pub fn resolve(&self, read: impl FnOnce(&mut Section) -> Result<()>) -> Result<Value> {
        let mut section = self.section();
        read(&mut section)?;
        let mut resolved = Table::from_iter([("kind".into(), self.id.clone().into())]);
        resolved.extend(section.finish()?);
        Ok(Value::Table(resolved))
    }
}

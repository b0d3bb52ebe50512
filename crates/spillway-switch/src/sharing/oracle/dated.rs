//! Models that follow one another: which one a switch uses, and from which time on.

use super::models::{Asked, Model, Models};
use crate::catalogue::Environment;
use spillway_engine::Time;
use spillway_settings::{ErrorKind, Section, SettingsError, Table, Value};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A model, and when it takes over.
#[derive(Clone, Debug)]
pub struct Dated {
    /// The time from which on it decides.
    pub at: Time,
    /// The model.
    pub model: Arc<Model>,
}

/// A model that is asked for, and when it takes over.
#[derive(Clone, Debug)]
pub struct DatedName {
    /// The time from which on it decides.
    pub at: Time,
    /// The model, and the path of the section that names it, if that is one of a list.
    pub asked: (Asked, Option<String>),
}

impl DatedName {
    /// Opens the model.
    pub fn open(
        &self,
        section: &Section,
        environment: &Environment,
    ) -> Result<Model, SettingsError> {
        match &self.asked {
            (asked, None) => asked.open(section, environment),
            (asked, Some(path)) => asked.open(&Section::new(path, Table::new()), environment),
        }
    }
}

/// Reads `model`: for every switch of the tier the models that it uses, in order of time.
pub fn read(
    section: &mut Section,
    environment: &Environment,
) -> Result<BTreeMap<u32, Vec<DatedName>>, SettingsError> {
    let is_list = |value: &Value| matches!(value, Value::Array(list) if !list.is_empty());
    if !section.peek("model").is_some_and(is_list) {
        let found = Models::read(section, environment)?.of_tier(section, environment)?;
        let one = |asked| vec![DatedName { at: Time::ZERO, asked: (asked, None) }];
        return Ok(found.into_iter().map(|(switch, asked)| (switch, one(asked))).collect());
    }
    let mut all: BTreeMap<u32, Vec<DatedName>> = BTreeMap::new();
    let (mut resolved, mut before) = (Vec::new(), None);
    for mut each in section.sections("model")? {
        let at = each.time("at", "", "when this model takes over")?;
        let problem = match before {
            None if at > Time::ZERO => Some("the first model must be there from 0 on".into()),
            Some(before) if at <= before => {
                Some(format!("{at} is not after {before}, when the model before it takes over"))
            }
            _ => None,
        };
        if let Some(problem) = problem {
            return Err(each.error(ErrorKind::WrongValue, "at", problem));
        }
        before = Some(at);
        let found = Models::read(&mut each, environment)?.of_tier(&each, environment)?;
        for (switch, asked) in found {
            let asked = (asked, Some(each.path().to_string()));
            all.entry(switch).or_default().push(DatedName { at, asked });
        }
        resolved.push(Value::Table(each.finish()?));
    }
    section.put("model", resolved);
    Ok(all)
}

/// Fails if averages would have to change their kind.
pub fn check_averages(section: &Section, models: &[Dated]) -> Result<(), SettingsError> {
    let averaging = |each: &Dated| each.model.features.averaging();
    let Some(pair) = models.windows(2).find(|pair| averaging(&pair[0]) != averaging(&pair[1]))
    else {
        return Ok(());
    };
    let told = |of: &Dated| of.model.forest.metadata("average").unwrap_or_default().to_string();
    let problem = format!(
        "the averages of {} are {:?}, those of {} are {:?}, and averages go on from one to the next",
        pair[0].model.name,
        told(&pair[0]),
        pair[1].model.name,
        told(&pair[1]),
    );
    Err(section.conflict("model", problem).hint("train both on traces with the same averages"))
}

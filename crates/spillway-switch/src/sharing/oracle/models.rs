//! Which model a switch uses: the same one for all switches, or one for each.

use super::features::FeaturesParams;
use super::seen::Seen;
use crate::catalogue::Environment;
use spillway_forest::Forest;
use spillway_settings::{
    ErrorKind, Form, Section, SettingsError, Table, Takes, Value, nearest_name,
};
use std::collections::BTreeMap;

/// The bundled models, as `spillway oracle default` makes them: names, and the bytes of their
/// files.
pub const MODELS: [(&str, &[u8]); 2] = [
    ("default", include_bytes!("../../../models/default.safetensors")),
    ("smartbuf", include_bytes!("../../../models/smartbuf.safetensors")),
];

const ENDING: &str = ".safetensors";

/// The value of `model`.
pub enum Models {
    /// One model for all switches.
    One(String),
    /// A model for each switch or tier, by its name.
    Each(BTreeMap<String, String>),
}

/// A model that a switch uses, and the key that names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// A bundled model's name, or a file's.
    pub name: String,
    /// The name of the switch or tier that the model is given for, if it is not for all.
    of: Option<String>,
}

/// The contents of a model's file.
#[derive(Debug)]
pub struct Model {
    /// A bundled model's name, or a file's.
    pub name: String,
    /// The forest.
    pub forest: Forest,
    /// The features that it uses.
    pub features: FeaturesParams,
    /// The range of its training data.
    pub seen: Seen,
}

impl Models {
    /// Reads the key. A folder stands for a table of the models in it.
    pub fn read(section: &mut Section, environment: &Environment) -> Result<Self, SettingsError> {
        let meaning = "of oracle = \"forest\", a bundled one (`spillway oracle show default`; \
                       \"smartbuf\" was trained in that scenario), or a file that `spillway oracle \
                       train` wrote; or one for every switch, by the names of switches and tiers: a \
                       table, or a folder with NAME.safetensors; or several of these, each `at` the \
                       time when it takes over";
        let takes = "\"default\", \"smartbuf\", a path, seen from the scenario's folder, a table \
                     such as { leaf = \"leaf.safetensors\", spine0 = \"default\" }, or a list such as \
                     [{ at = \"0ms\", model = \"default\" }, { at = \"50ms\", model = \"next.safetensors\" }]";
        let takes = Takes::new(takes, [Form::Text, Form::Table, Form::list([Form::Table])]);
        let is_text = |text: &String| !text.trim().is_empty();
        let parse = |value: &Value| match value {
            Value::String(name) => Some(Models::One(name.clone())).filter(|_| is_text(name)),
            Value::Table(table) if !table.is_empty() => {
                let text = |value: &Value| value.as_str().map(String::from).filter(is_text);
                let each = |(of, name): (&String, &Value)| Some((of.clone(), text(name)?));
                table.iter().map(each).collect::<Option<_>>().map(Models::Each)
            }
            _ => None,
        };
        let models = section.value("model", "default", takes, meaning, parse)?;
        let Models::One(folder) = &models else { return Ok(models) };
        if is_bundled(folder) || !environment.files.is_folder(folder) {
            return Ok(models);
        }
        let refused =
            |why: String| section.error(ErrorKind::File, "model", format!("{folder}: {why}"));
        let names = environment.files.list(folder, ENDING);
        let names = names.map_err(|why| refused(format!("it cannot be read: {why}")))?;
        if names.is_empty() {
            let hint = "call them after switches or tiers: leaf.safetensors, spine0.safetensors";
            return Err(
                refused(format!("no model in the folder is called NAME{ENDING}")).hint(hint)
            );
        }
        let file = |name: &String| (name.clone(), format!("{folder}/{name}{ENDING}"));
        let each: BTreeMap<String, String> = names.iter().map(file).collect();
        let resolved: Table =
            each.iter().map(|(of, file)| (of.clone(), Value::from(file.as_str()))).collect();
        section.put("model", resolved);
        Ok(Models::Each(each))
    }

    /// The model that a switch uses.
    fn of(
        &self,
        section: &Section,
        environment: &Environment,
        switch: u32,
    ) -> Result<Asked, SettingsError> {
        let each = match self {
            Models::One(name) => return Ok(Asked { name: name.clone(), of: None }),
            Models::Each(each) => each,
        };
        let name = &environment.names[switch as usize];
        let found = each.get_key_value(name).or_else(|| each.get_key_value(tier_of(name)));
        let (of, model) = found.ok_or_else(|| {
            let hint =
                format!("one for {name} alone, or one for {} for all of that tier", tier_of(name));
            section
                .error(ErrorKind::MissingKey, "model", format!("there is none for {name}"))
                .hint(hint)
        })?;
        Ok(Asked { name: model.clone(), of: Some(of.clone()) })
    }

    /// The models that the switches of this switch's tier use, by the switches' numbers. Fails if a
    /// name is that of no switch or tier.
    pub fn of_tier(
        &self,
        section: &Section,
        environment: &Environment,
    ) -> Result<BTreeMap<u32, Asked>, SettingsError> {
        let names = &environment.names;
        if let Models::Each(each) = self {
            let known = || names.iter().map(String::as_str).chain(names.iter().map(|n| tier_of(n)));
            if let Some(of) = each.keys().find(|of| !known().any(|name| name == *of)) {
                let error = section.error(
                    ErrorKind::UnknownPlace,
                    "model",
                    format!("there is no switch or tier {of:?}"),
                );
                return Err(error.hint(nearest_name(of, known())));
            }
        }
        let own = tier_of(&names[environment.switch as usize]);
        let switches = (0u32..).zip(names.iter()).filter(|(_, name)| tier_of(name) == own);
        switches.map(|(switch, _)| Ok((switch, self.of(section, environment, switch)?))).collect()
    }
}

impl Asked {
    /// Opens the model. If it is a file, the file is recorded in the results.
    pub fn open(
        &self,
        section: &Section,
        environment: &Environment,
    ) -> Result<Model, SettingsError> {
        let bytes = match (MODELS.iter().find(|(known, _)| *known == self.name), &self.of) {
            (Some(&(_, bytes)), _) => bytes.into(),
            (None, None) => environment.file(section, "model", &self.name)?,
            (None, Some(of)) => {
                let section = Section::new(section.path_of("model"), Table::new());
                environment.file(&section, of, &self.name)?
            }
        };
        let refused =
            |why: String| section.error(ErrorKind::File, "model", format!("{}: {why}", self.name));
        let forest = Forest::read(&bytes).map_err(|error| refused(error.to_string()))?;
        let seen = Seen::of(&forest).map_err(refused)?;
        let features = FeaturesParams::of_model(&forest).map_err(refused)?;
        Ok(Model { name: self.name.clone(), forest, features, seen })
    }
}

fn is_bundled(name: &str) -> bool {
    MODELS.iter().any(|(known, _)| *known == name)
}

/// The tier of a switch, by its name.
fn tier_of(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit())
}

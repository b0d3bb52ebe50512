//! Reading scenarios: text or dict, assignments on top, flow files by a callable.

use crate::errors;
use crate::facts::facts;
use crate::flows::{Flows, columns_of};
use crate::plugins::{Failure, Plugins};
use crate::tables::place_names;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use spillway_net::extensions::Extensions;
use spillway_net::scenario::{RecordReader, Sources};
use spillway_net::topology;
use spillway_net::transport::{self, Losses, Transport};
use spillway_settings::{Content, NamedFile, Table, Value, apply, check_depth};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A scenario that has been read: valid, and with every default filled in.
#[pyclass(frozen, module = "spillway._core")]
pub struct Scenario {
    /// What is left for whoever runs it first.
    read: Mutex<Option<spillway_net::scenario::Scenario>>,
    /// Its name.
    #[pyo3(get)]
    name: String,
    /// Its seed.
    #[pyo3(get)]
    seed: u64,
    /// The scenario as TOML, every value written out.
    #[pyo3(get)]
    resolved: String,
    /// What deserves a second look.
    #[pyo3(get)]
    warnings: Vec<String>,
    /// Flows start before this.
    #[pyo3(get)]
    duration_ps: u64,
    /// The run ends here at the latest.
    #[pyo3(get)]
    stop_ps: u64,
    /// The names of switches and hosts, by their places.
    #[pyo3(get)]
    pub places: Vec<String>,
    /// The paths of the keys that name files, and the files that were read for them.
    #[pyo3(get)]
    files: Vec<(String, String)>,
    named_files: Vec<NamedFile>,
    /// The places of the plug-ins that it names.
    #[pyo3(get)]
    named_plugins: Vec<usize>,
    /// What plug-ins have raised, if there are any.
    failure: Option<Arc<Failure>>,
}

#[pymethods]
impl Scenario {
    /// Reads a scenario, TOML text or a dict, with `key=value` assignments on top.
    ///
    /// Files that it names are relative to `folder`. `load` gets the key and the name of a list of
    /// flows as it is written and returns its columns, or None where the list is to be read as CSV.
    /// `records` gets what is expected of a policy's file, its key and name, and the names of the
    /// switches, and returns the file that it has read and what that comes to.
    /// `plugins` are descriptions of those that it may name. `file` is what text is from, if it is
    /// from a file.
    #[new]
    #[pyo3(signature = (given, folder, assignments, load, records, plugins, file=None))]
    #[expect(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        given: &Bound<'_, PyAny>,
        folder: PathBuf,
        assignments: Vec<String>,
        load: &Bound<'_, PyAny>,
        records: &Bound<'_, PyAny>,
        plugins: Vec<Bound<'_, PyAny>>,
        file: Option<&str>,
    ) -> PyResult<Scenario> {
        let plugins = Plugins::of(&plugins)?;
        let extensions = plugins.extensions();
        let mut table = match given.cast::<PyString>() {
            Ok(text) => parse(py, file, &text.to_cow()?)?,
            Err(_) => table_of("", given, 0)?,
        };
        let forgotten = apply_all(py, &mut table, &assignments, &extensions)?;
        // What an assignment names, a later one may have replaced.
        plugins.forget_named();
        let mut warnings = overruled(&table, &assignments);
        warnings.extend(forgotten);
        let raised = Raised::default();
        let columns = |key: &str, file: &str| {
            let loaded = load.call1((key, file)).and_then(|loaded| match loaded.is_none() {
                true => Ok(None),
                false => Ok(Some(columns_of(loaded.cast::<PyDict>()?)?)),
            });
            raised.or_default(loaded)
        };
        let (reader, kept) = (records.clone().unbind(), raised.clone());
        let records: RecordReader = Arc::new(move |kind, key, file, switches| {
            Python::attach(|py| {
                let read = reader.call1(py, (kind, key, file, switches));
                let read = read.and_then(|read| read.extract::<(String, Vec<u8>)>(py));
                let (file, bytes) = kept.or_default(read);
                Content { file, bytes: bytes.into() }
            })
        });
        let records = Some(records);
        let sources = Sources { folder: &folder, flows: &columns, records, extensions };
        let read = spillway_net::scenario::Scenario::read(table, &sources);
        if let Some(error) = raised.take() {
            return Err(error);
        }
        if let Some(error) = plugins.failure.take(py, None, &[]) {
            return Err(error);
        }
        let read = read.map_err(|error| errors::wrong_setting(py, error))?;
        let named_files = read.named_files();
        Ok(Scenario {
            name: read.name.clone(),
            seed: read.seed,
            resolved: read.resolved.to_string(),
            warnings: warnings.into_iter().chain(read.warnings.iter().cloned()).collect(),
            duration_ps: read.duration.ps(),
            stop_ps: read.stop.ps(),
            places: place_names(&read.topology),
            files: named_files
                .iter()
                .map(|named| (named.key.clone(), named.file.clone()))
                .collect(),
            named_files,
            named_plugins: plugins.named(),
            failure: (!plugins.is_empty()).then(|| plugins.failure.clone()),
            read: Mutex::new(Some(read)),
        })
    }

    /// The scenario as TOML, with other names for its files, in their order.
    fn resolved_with(&self, py: Python<'_>, names: Vec<String>) -> PyResult<String> {
        let mut resolved = parse(py, None, &self.resolved)?;
        for (named, name) in self.named_files.iter().zip(names) {
            named.rename(&mut resolved, &name);
        }
        Ok(resolved.to_string())
    }

    /// Numbers that follow from the scenario, as JSON. Flows are counted up to so many.
    fn facts(&self, py: Python<'_>, most_flows: u64) -> PyResult<String> {
        let facts = py.detach(|| self.lock().as_ref().map(|read| facts(read, most_flows)));
        facts.map(|facts| facts.to_string()).ok_or_else(|| errors::spent(py, "scenario"))
    }

    /// The flows that it would send.
    fn flows(&self, py: Python<'_>) -> PyResult<Flows> {
        let flows = self.lock().as_ref().map(|read| Flows::of(&read.traffic));
        flows.ok_or_else(|| errors::spent(py, "scenario"))
    }
}

impl Scenario {
    /// Hands the scenario to a run, once.
    pub fn take(&self) -> Option<spillway_net::scenario::Scenario> {
        self.lock().take()
    }

    /// Where its plug-ins leave what they raise; `None` without any.
    pub fn failure(&self) -> Option<Arc<Failure>> {
        self.failure.clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<spillway_net::scenario::Scenario>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A scenario's TOML text with `key=value` assignments applied, not validated.
#[pyfunction]
pub fn assign(py: Python<'_>, text: &str, assignments: Vec<String>) -> PyResult<String> {
    let mut table = parse(py, None, text)?;
    apply_all(py, &mut table, &assignments, &Extensions::default())?;
    Ok(table.to_string())
}

/// The first that Python's readers of files have raised.
#[derive(Clone, Default)]
struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// What was read; after a failure, which is kept, what stands for nothing.
    fn or_default<T: Default>(&self, read: PyResult<T>) -> T {
        read.unwrap_or_else(|error| {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            T::default()
        })
    }

    fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

fn parse(py: Python<'_>, file: Option<&str>, text: &str) -> PyResult<Table> {
    spillway_settings::parse(text).map_err(|error| errors::not_toml(py, file, &error))
}

/// Applies assignments in order. Returns a warning for each that a later one has made void.
fn apply_all(
    py: Python<'_>,
    table: &mut Table,
    assignments: &[String],
    extensions: &Extensions,
) -> PyResult<Vec<String>> {
    let mut warnings = Vec::new();
    for (place, assignment) in assignments.iter().enumerate() {
        let before = sender_of(table, assignment);
        apply(table, assignment).map_err(|error| errors::wrong_setting(py, error))?;
        let mut gone = forget_other_kinds(table, assignment, extensions);
        gone.extend(forget_other_senders(table, assignment, before, extensions));
        let gone: Vec<String> = gone.iter().map(|path| by_name(table, path)).collect();
        let (earlier, later) = (&assignments[..place], &assignments[place + 1..]);
        for path in earlier.iter().map(|other| path_of(other)) {
            let is_set_again = later.iter().any(|other| path_of(other) == path);
            if is_set_again || !gone.contains(&by_name(table, path)) {
                continue;
            }
            let key = path.rsplit('.').next().unwrap_or_default();
            warnings.push(format!(
                "{path} is set, but {assignment} behind it drops it: there is no {key} there"
            ));
        }
    }
    Ok(warnings)
}

/// Another kind of transport or topology has other keys: what only other kinds have goes, and what none
/// has stays, to be told. Returns the paths of what is gone.
fn forget_other_kinds(table: &mut Table, assignment: &str, extensions: &Extensions) -> Vec<String> {
    if path_of(assignment) == "transport.loss_detection" {
        return forget_other_losses(table);
    }
    let Some(section) = path_of(assignment).strip_suffix(".kind") else { return Vec::new() };
    let Some(Value::Table(settings)) = table.get_mut(section) else { return Vec::new() };
    let kind = settings.get("kind").and_then(Value::as_str).unwrap_or_default();
    let kinds: Vec<(&str, Vec<String>)> = match section {
        "transport" => {
            let keys = |id| Some((id, Transport::keys_of(id, section, extensions).ok()?));
            transport::ids(extensions).filter_map(keys).collect()
        }
        "topology" => {
            let names =
                |kind: &topology::Kind| kind.keys().iter().map(|key| key.name.into()).collect();
            topology::KINDS.iter().map(|kind| (kind.id, names(kind))).collect()
        }
        _ => return Vec::new(),
    };
    let Some((_, ours)) = kinds.iter().find(|(id, _)| *id == kind) else { return Vec::new() };
    let is_known = |key: &str| kinds.iter().any(|(_, keys)| is_of(keys, key));
    drop_keys(settings, section, |key| key == "kind" || is_of(ours, key) || !is_known(key))
}

/// Another way of finding losses: the keys that mean nothing under it go.
fn forget_other_losses(table: &mut Table) -> Vec<String> {
    let Some(Value::Table(settings)) = table.get_mut("transport") else { return Vec::new() };
    let way = settings.get("loss_detection").and_then(Value::as_str).unwrap_or_default();
    let way = way.to_string();
    drop_keys(settings, "transport", |key| !Losses::is_foreign(key, &way))
}

/// Whether a key is one of these.
fn is_of(keys: &[String], key: &str) -> bool {
    keys.iter().any(|known| known == key)
}

/// Drops the keys of the section at `path` that are not to stay, and returns their paths.
fn drop_keys(settings: &mut Table, path: &str, stays: impl Fn(&str) -> bool) -> Vec<String> {
    let gone = settings.keys().filter(|key| !stays(key)).map(|key| format!("{path}.{key}"));
    let gone: Vec<String> = gone.collect();
    settings.retain(|key, _| stays(key));
    gone
}

/// The section of traffic that `traffic.NAME.transport=...` is about.
fn traffic_of<'a>(table: &'a mut Table, assignment: &str) -> Option<&'a mut Table> {
    let (path, _) = assignment.split_once('=')?;
    let name = path.trim().strip_prefix("traffic.")?.strip_suffix(".transport")?;
    let sections = table.get_mut("traffic")?.as_array_mut()?;
    let is_named = |section: &Value| section.get("name").and_then(Value::as_str) == Some(name);
    let place = sections.iter().position(is_named).or_else(|| name.parse().ok())?;
    sections.get_mut(place)?.as_table_mut()
}

/// A path into a section of traffic by the section's name, if it goes by its place.
fn by_name(table: &Table, path: &str) -> String {
    let named = || {
        let (place, key) = path.strip_prefix("traffic.")?.split_once('.')?;
        let section = table.get("traffic")?.as_array()?.get(place.parse::<usize>().ok()?)?;
        Some(format!("traffic.{}.{key}", section.get("name")?.as_str()?))
    };
    named().unwrap_or_else(|| path.to_string())
}

/// The transport of the section of traffic that is about to get another.
fn sender_of(table: &mut Table, assignment: &str) -> Option<String> {
    let own = traffic_of(table, assignment)?.get("transport").cloned();
    let common = || table.get("transport")?.get("kind").cloned();
    own.or_else(common)?.as_str().map(str::to_string)
}

/// What a section of traffic had of its transport before, and its new one has not, goes. Returns the
/// paths of that.
fn forget_other_senders(
    table: &mut Table,
    assignment: &str,
    before: Option<String>,
    extensions: &Extensions,
) -> Vec<String> {
    let Some(section) = traffic_of(table, assignment) else { return Vec::new() };
    let now = section.get("transport").and_then(Value::as_str).unwrap_or_default();
    let keys_of = |kind: &str| Transport::keys_of(kind, "traffic", extensions);
    let Ok(theirs) = keys_of(before.as_deref().unwrap_or(transport::KINDS[0].id)) else {
        return Vec::new();
    };
    let Ok(ours) = keys_of(now) else { return Vec::new() };
    let path = path_of(assignment).strip_suffix(".transport").unwrap_or_default();
    let stays = |key: &str| key == "kind" || is_of(&ours, key) || !is_of(&theirs, key);
    drop_keys(section, path, stays)
}

/// The key that an assignment sets.
fn path_of(assignment: &str) -> &str {
    assignment.split('=').next().unwrap_or_default().trim()
}

/// A warning for every assignment to `switch` that a tier has a value of its own for, unless that is
/// set behind it.
fn overruled(given: &Table, assignments: &[String]) -> Vec<String> {
    let Some(Value::Table(switch)) = given.get("switch") else { return Vec::new() };
    let mut warnings = Vec::new();
    for (place, assignment) in assignments.iter().enumerate() {
        let path = path_of(assignment);
        let mut steps = path.split('.');
        let (Some("switch"), Some(key)) = (steps.next(), steps.next()) else { continue };
        for (tier, own) in switch {
            let own = own.as_table().filter(|_| tier != key);
            let own_path = format!("switch.{tier}.{key}");
            let is_set_too = assignments[place..].iter().any(|other| path_of(other) == own_path);
            if own.is_some_and(|own| own.contains_key(key)) && !is_set_too {
                warnings.push(format!(
                    "{path} is set, but not for the {tier} tier, which has its own: \
                     set switch.{tier}.{key} too"
                ));
            }
        }
    }
    warnings
}

/// A dict as the table that TOML would make of it, which stands within so many tables and lists, itself
/// among them, the whole scenario not.
pub fn table_of(path: &str, given: &Bound<'_, PyAny>, depth: usize) -> PyResult<Table> {
    check_depth(path, depth).map_err(|error| errors::wrong_setting(given.py(), error))?;
    let not_a_value = || errors::not_a_value(given.py(), path, given);
    let dict = given.cast::<PyDict>().map_err(|_| not_a_value())?;
    let mut table = Table::new();
    for (key, value) in dict {
        let key: String = key.extract().map_err(|_| not_a_value())?;
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        table.insert(key, value_of(&path, &value, depth)?);
    }
    Ok(table)
}

/// A value in a table that stands within so many.
pub fn value_of(path: &str, given: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    if let Ok(flag) = given.cast::<PyBool>() {
        return Ok(Value::Boolean(flag.is_true()));
    }
    if given.is_instance_of::<PyInt>() {
        let number = given.extract().map_err(|_| errors::not_a_value(given.py(), path, given))?;
        return Ok(Value::Integer(number));
    }
    if given.is_instance_of::<PyFloat>() {
        return given.extract().map(Value::Float);
    }
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(Value::String(text.to_cow()?.into_owned()));
    }
    if given.is_instance_of::<PyList>() || given.is_instance_of::<PyTuple>() {
        let items = given.try_iter()?.enumerate();
        let item = |(place, item): (usize, PyResult<Bound<'_, PyAny>>)| {
            value_of(&format!("{path}.{place}"), &item?, depth + 1)
        };
        check_depth(path, depth + 1).map_err(|error| errors::wrong_setting(given.py(), error))?;
        return items.map(item).collect::<PyResult<_>>().map(Value::Array);
    }
    table_of(path, given, depth + 1).map(Value::Table)
}

/// What Python makes of a value of TOML; a date becomes text.
pub fn object_of<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::String(text) => text.into_pyobject(py)?.into_any(),
        Value::Integer(number) => number.into_pyobject(py)?.into_any(),
        Value::Float(number) => number.into_pyobject(py)?.into_any(),
        Value::Boolean(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Datetime(date) => date.to_string().into_pyobject(py)?.into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| object_of(py, item));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Value::Table(table) => {
            let dict = PyDict::new(py);
            for (key, value) in table {
                dict.set_item(key, object_of(py, value)?)?;
            }
            dict.into_any()
        }
    })
}

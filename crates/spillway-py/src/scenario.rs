//! Reading scenarios: text or a dict, assignments, and files of flows that a callable reads.

use crate::errors;
use crate::flows::{Flows, columns_of, numbers_of};
use crate::plugins::{Failure, Plugins};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};
use spillway_engine::Time;
use spillway_net::extensions::Extensions;
use spillway_net::facts::{expected_packets, facts};
use spillway_net::record::Record;
use spillway_net::results::{self, Numbers};
use spillway_net::scenario::{Limits, RecordReader, Sources, assignments};
use spillway_settings::{Content, NamedFile, Section, Table, Value, check_depth};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A scenario that has been read: valid, and with every default filled in.
#[pyclass(frozen, module = "spillway._core")]
pub struct Scenario {
    /// The scenario, until a run takes it.
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
    /// The results numbers of what it names.
    #[pyo3(get)]
    results: Numbers,
    /// Warnings: what is valid but may be a mistake.
    #[pyo3(get)]
    warnings: Vec<String>,
    /// Flows start before this.
    #[pyo3(get)]
    duration_ps: u64,
    /// The run ends here at the latest.
    #[pyo3(get)]
    stop_ps: u64,
    /// The names of switches and hosts, by their numbers.
    #[pyo3(get)]
    pub places: Vec<String>,
    /// The tables that its run records.
    #[pyo3(get)]
    tables: Vec<&'static str>,
    /// The paths of the keys that name files, and the files that were read for them.
    #[pyo3(get)]
    files: Vec<(String, String)>,
    named_files: Vec<NamedFile>,
    /// The indices of the plug-ins that it names.
    #[pyo3(get)]
    named_plugins: Vec<usize>,
    /// The first exception of its plug-ins, if it has any.
    failure: Option<Arc<Failure>>,
}

#[pymethods]
impl Scenario {
    /// Reads a scenario, which is TOML text or a dict, and applies `key=value` assignments.
    ///
    /// File names are relative to `folder`. `load` reads lists of flows. It is given the key and
    /// the name of a list, as written, and the limits of flows and memory. It returns the list's
    /// columns, or None if the list is to be read as CSV. If it is also given names, it returns the
    /// columns of numbers with these names. `records` reads other files. It is given the kind of
    /// file that a policy expects, the key and the name, the names of the switches, and the limit
    /// of memory. It returns the file that it has read, and the file's contents. `plugins` are
    /// descriptions of the plug-ins that the scenario may name. `file` is the file from which the
    /// text comes, if there is one. `may_lack` are assignments that may have nothing to unset.
    #[new]
    #[pyo3(signature = (given, folder, assignments, load, records, plugins, file=None, may_lack=vec![]))]
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
        may_lack: Vec<String>,
    ) -> PyResult<Scenario> {
        let plugins = Plugins::of(&plugins)?;
        let extensions = plugins.extensions();
        let mut table = match given.cast::<PyString>() {
            Ok(text) => parse(py, file, &text.to_cow()?)?,
            Err(_) => table_of("", given, 0)?,
        };
        let warnings = assignments::apply(&mut table, &assignments, &may_lack, &extensions)
            .map_err(|error| errors::wrong_setting(py, error))?;
        // A later assignment may have replaced a name that an earlier one set.
        plugins.forget_named();
        let raised = Raised::default();
        let Limits { flows: most, memory, .. } = Limits::of(&table);
        let columns = |key: &str, file: &str| {
            let loaded = load.call1((key, file, most, memory)).and_then(|loaded| {
                if loaded.is_none() {
                    Ok(None)
                } else {
                    Ok(Some(columns_of(loaded.cast::<PyDict>()?)?))
                }
            });
            raised.or_default(loaded)
        };
        let numbers = |key: &str, file: &str, names: &[String]| {
            let loaded = load.call1((key, file, most, memory, names.to_vec()));
            let loaded = loaded.and_then(|loaded| numbers_of(&loaded));
            raised.or_default(loaded.map(Some))
        };
        let (reader, kept) = (records.clone().unbind(), raised.clone());
        let records: RecordReader = Arc::new(move |kind, key, file, switches| {
            Python::attach(|py| {
                let read = reader.call1(py, (kind, key, file, switches, memory));
                let read = read.and_then(|read| read.extract::<(String, Vec<u8>)>(py));
                let (file, bytes) = kept.or_default(read);
                Content { file, bytes: bytes.into() }
            })
        });
        let records = Some(records);
        let sources =
            Sources { folder: &folder, flows: &columns, numbers: &numbers, records, extensions };
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
            results: results::numbers(&read.resolved),
            warnings: warnings.into_iter().chain(read.warnings.iter().cloned()).collect(),
            duration_ps: read.duration.ps(),
            stop_ps: read.stop.ps(),
            tables: Record::tables_of(&read),
            places: read.topology.node_names(),
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

    /// The scenario as TOML with other file names, given in the order of its files.
    fn resolved_with(&self, py: Python<'_>, names: Vec<String>) -> PyResult<String> {
        let mut resolved = parse(py, None, &self.resolved)?;
        for (named, name) in self.named_files.iter().zip(names) {
            named.rename(&mut resolved, &name);
        }
        Ok(resolved.to_string())
    }

    /// Facts that follow from the scenario, as JSON. At most `most_flows` flows are counted.
    fn facts(&self, py: Python<'_>, most_flows: u64) -> PyResult<String> {
        let facts = py.detach(|| self.lock().as_ref().map(|read| facts(read, most_flows)));
        facts.map(|facts| facts.to_string()).ok_or_else(|| errors::spent(py, "scenario"))
    }

    /// A rough estimate of the packets that hosts send in its run, acks included.
    fn expected_packets(&self, py: Python<'_>) -> PyResult<f64> {
        let packets = py.detach(|| self.lock().as_ref().map(expected_packets));
        packets.ok_or_else(|| errors::spent(py, "scenario"))
    }

    /// The names of the traffic sections in which some flows start when others are complete.
    fn waiting(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let names = self.lock().as_ref().map(|read| {
            let waiting = read.traffic.sources.iter().filter(|source| source.waits());
            waiting.map(|source| source.name().to_string()).collect()
        });
        names.ok_or_else(|| errors::spent(py, "scenario"))
    }

    /// The flows that the scenario would send, except those that start when others are complete.
    fn flows(&self, py: Python<'_>) -> PyResult<Flows> {
        let flows = self.lock().as_ref().map(|read| Flows::of(&read.traffic));
        flows.ok_or_else(|| errors::spent(py, "scenario"))
    }
}

impl Scenario {
    /// Gives the scenario to a run. This is possible once.
    pub fn take(&self) -> Option<spillway_net::scenario::Scenario> {
        self.lock().take()
    }

    /// Where its plug-ins leave their first exception; `None` if there are no plug-ins.
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
    assignments::apply(&mut table, &assignments, &[], &Extensions::default())
        .map_err(|error| errors::wrong_setting(py, error))?;
    Ok(table.to_string())
}

/// A time such as `3ms`, in picoseconds.
#[pyfunction]
pub fn picoseconds(py: Python<'_>, time: &str) -> PyResult<u64> {
    let given = Table::from_iter([("time".to_owned(), Value::String(time.to_owned()))]);
    let read = Section::new("", given).time("time", "0us", "");
    read.map(Time::ps).map_err(|error| errors::wrong_setting(py, error))
}

/// The first exception raised by Python's readers of files.
#[derive(Clone, Default)]
struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// The result of reading. After an exception, which is kept, an empty default.
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

/// The table that a TOML text contains.
pub fn parse(py: Python<'_>, file: Option<&str>, text: &str) -> PyResult<Table> {
    spillway_settings::parse(text).map_err(|error| errors::not_toml(py, file, &error))
}

/// A dict as a TOML table. `depth` counts the tables and lists that enclose a value of the dict:
/// the dict counts, the whole scenario does not.
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

/// A value in a table at this depth.
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

/// A value of TOML as a Python object. Dates become text.
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

//! The one place where errors of the simulator become Python exceptions.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use spillway_engine::Time;
use spillway_settings::{ErrorKind, SettingsError};

/// An error in a setting, as `spillway.base.errors.ScenarioError`.
pub fn wrong_setting(py: Python<'_>, error: SettingsError) -> PyErr {
    let text = match error.path.as_str() {
        "" => error.problem,
        path => format!("{path}: {}", error.problem),
    };
    raise(py, "ScenarioError", (text, error.hint, error.path, error.kind.name()))
}

/// Text that is not TOML, from a file if one is given.
pub fn not_toml(py: Python<'_>, file: Option<&str>, error: &SettingsError) -> PyErr {
    let kind = if file.is_some() { ErrorKind::File } else { error.kind };
    let name = file.unwrap_or("this");
    let problem = format!("{name} is not TOML: {}", error.problem.trim_end());
    wrong_setting(py, kind.at("", problem))
}

/// A file with wrong contents.
pub fn wrong_file(py: Python<'_>, error: &dyn std::fmt::Display) -> PyErr {
    wrong_setting(py, ErrorKind::File.at("", error.to_string()))
}

/// A value of a type that scenarios cannot hold.
pub fn not_a_value(py: Python<'_>, path: &str, value: &Bound<'_, PyAny>) -> PyErr {
    let kind = value.get_type();
    let problem =
        format!("{kind} is not a value; expected text, a number, a flag, a list or a dict");
    wrong_setting(py, ErrorKind::WrongValue.at(path, problem))
}

/// A simulation or a scenario that has been used already.
pub fn spent(py: Python<'_>, what: &str) -> PyErr {
    raise(py, "SpillwayError", (format!("this {what} has been used up"),))
}

/// A run that is looked at from within one of its own hooks.
pub fn running(py: Python<'_>) -> PyErr {
    let hint = "a hook is told the time: `now_ps`";
    raise(py, "SpillwayError", ("the time of this run is not known: it is running", hint))
}

/// A run that takes more memory than its scenario allows.
pub fn out_of_memory(py: Python<'_>, now: Time, bytes: u64) -> PyErr {
    let gigabytes = bytes as f64 * 1e-9;
    let text = format!(
        "at simulated time {now} packets, flows and what is recorded of them take {gigabytes:.2} GB: \
         more than limits.memory"
    );
    let hint = "if that is meant, raise limits.memory; without a folder for the results, tables are kept \
                in memory, too";
    raise(py, "SpillwayError", (text, hint, "limits.memory", ErrorKind::Limit.name()))
}

/// A run that was still not over after the greatest number of samples and wake-ups allowed.
pub fn too_many_samples(py: Python<'_>, now: Time) -> PyErr {
    let text = format!(
        "at simulated time {now} flows are still not complete, and since the scenario's duration \
         policies were woken and samples taken more often than limits.samples"
    );
    let hint = "set an earlier stop, or a longer interval; if that is meant, raise limits.samples";
    raise(py, "SpillwayError", (text, hint, "limits.samples", ErrorKind::Limit.name()))
}

/// An exception raised by a plug-in. Has the text, the plug-in's id, the function called, and the
/// simulated time in picoseconds if a run was under way.
pub fn plugin_failed(
    py: Python<'_>,
    cause: PyErr,
    arguments: (String, String, &'static str, Option<u64>),
) -> PyErr {
    let error = raise(py, "PluginError", arguments);
    error.set_cause(py, Some(cause));
    error
}

/// Whether an exception is a `ScenarioError`.
pub fn is_wrong_setting(py: Python<'_>, error: &PyErr) -> bool {
    class(py, "ScenarioError").is_ok_and(|class| error.is_instance(py, class.as_any()))
}

fn raise<A>(py: Python<'_>, class: &str, arguments: A) -> PyErr
where
    A: pyo3::PyErrArguments + Send + Sync + 'static,
{
    match self::class(py, class) {
        Ok(class) => PyErr::from_type(class, arguments),
        Err(error) => error,
    }
}

/// A class of `spillway.base.errors`.
fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    static ERRORS: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let module =
        ERRORS.get_or_try_init(py, || py.import("spillway.base.errors").map(Bound::unbind))?;
    Ok(module.bind(py).getattr(name)?.cast_into::<PyType>()?)
}

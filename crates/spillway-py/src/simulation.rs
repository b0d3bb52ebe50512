//! A run. It mostly works without the interpreter, which it consults at intervals.

use crate::column::{self, Column};
use crate::errors;
use crate::plugins::{Failure, copying};
use crate::scenario::{Scenario, parse};
use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spillway_engine::Time;
use spillway_net::record::names::Vocabulary;
use spillway_net::simulation::{Progress, Simulation as Run, Windows};
use spillway_net::summary::summarize;
use spillway_settings::value_of;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

/// The number of events between two checks of the tables. It is fixed, so the points at which
/// tables are emptied do not depend on the machine's speed.
const STINT: u64 = 1 << 14;

/// As many stints, for a run on several threads, which begin anew in each.
const STINTS: u64 = 64;

/// A run of a scenario. The scenario cannot be used again.
#[pyclass(frozen, module = "spillway._core")]
pub struct Simulation {
    state: Mutex<State>,
    vocabulary: Vocabulary,
    /// The names of switches and hosts, by their numbers.
    places: Vec<String>,
    /// The first exception of its plug-ins, if it has any.
    failure: Option<Arc<Failure>>,
    /// Why the run is on one thread, although it should be on several.
    alone: Option<&'static str>,
}

struct State {
    simulation: Run,
    progress: Progress,
}

#[pymethods]
impl Simulation {
    /// A run that is about to begin, on as many threads as it can be divided among, in as many
    /// parts or in `parts`.
    #[new]
    #[pyo3(signature = (scenario, threads=1, parts=None))]
    fn new(
        py: Python<'_>,
        scenario: &Scenario,
        threads: usize,
        parts: Option<usize>,
    ) -> PyResult<Simulation> {
        let (failure, places) = (scenario.failure(), scenario.places.clone());
        let Some(scenario) = scenario.take() else { return Err(errors::spent(py, "scenario")) };
        let vocabulary = Vocabulary::of(&scenario);
        let has_hooks = failure.is_some();
        let parts = parts.unwrap_or(threads);
        let (simulation, alone) = py.detach(|| match parts {
            1 => (Run::new(scenario), None),
            _ if has_hooks => (Run::new(scenario), Some("plug-ins are called one at a time")),
            _ => Run::in_parts(scenario, parts, threads),
        });
        let state = Mutex::new(State { simulation, progress: Progress::Running });
        let made = Simulation { state, vocabulary, places, failure, alone };
        made.check_plugins(py)?;
        Ok(made)
    }

    /// Runs to the end and returns the status: complete, stopped, deadlock or interrupted. With
    /// `until`, a simulated time in picoseconds, the status may also be halted. Then nothing of
    /// that moment has happened, and the run goes on with the next call.
    ///
    /// Every `interval` seconds `report` is called with the simulated time in picoseconds, and the
    /// numbers of events, packet-hops, flows started and flows completed. Whenever a table has
    /// `rows` rows, `drain` is called to take them. A KeyboardInterrupt, raised by either of them
    /// or by a signal, ends the run. An error is raised if the run takes more memory than its
    /// scenario allows.
    #[pyo3(signature = (report=None, interval=0.1, drain=None, rows=usize::MAX, until=None))]
    fn run(
        &self,
        py: Python<'_>,
        report: Option<Bound<'_, PyAny>>,
        interval: f64,
        drain: Option<Bound<'_, PyAny>>,
        rows: usize,
        until: Option<u64>,
    ) -> PyResult<&'static str> {
        let until = until.map(Time::from_ps);
        let interval = Duration::try_from_secs_f64(interval).unwrap_or(Duration::ZERO);
        let talk = || -> PyResult<()> {
            py.check_signals()?;
            if let Some(report) = &report {
                let state = self.state();
                let [events, hops, started, completed] = state.simulation.so_far();
                let numbers = (state.simulation.now().ps(), events, hops, started, completed);
                drop(state);
                report.call1(numbers)?;
            }
            Ok(())
        };
        let mut is_interrupted = false;
        while !is_interrupted {
            let (progress, is_full) = match self.failure {
                None => py.detach(|| self.advance(interval, rows, until)),
                // Hooks need the interpreter all the time; releasing it between them would cost
                // more.
                Some(_) => self.advance(interval, rows, until),
            };
            let said = self.check_plugins(py).and_then(|()| match (is_full, &drain) {
                (true, Some(drain)) => drain.call0().and_then(|_| talk()),
                _ => talk(),
            });
            match said {
                Ok(()) => {}
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
                    is_interrupted = true;
                }
                Err(error) => return Err(error),
            }
            if progress != Progress::Running {
                break;
            }
        }
        if self.state().progress == Progress::OutOfMemory {
            let now = self.state().simulation.now();
            return Err(errors::out_of_memory(py, now, self.state().simulation.bytes()));
        }
        if self.state().progress == Progress::TooManySamples {
            return Err(errors::too_many_samples(py, self.state().simulation.now()));
        }
        Ok(match self.state().progress {
            Progress::Halted if !is_interrupted => "halted",
            progress => progress.status(),
        })
    }

    /// Sets numbers from the moment on at which the run has halted. Each is a path and a value as
    /// text, in the form that follows the = of an assignment.
    fn set(&self, py: Python<'_>, numbers: Vec<(String, String)>) -> PyResult<()> {
        let values: Vec<_> = numbers.iter().map(|(_, value)| value_of(value)).collect();
        let paths = numbers.iter().map(|(path, _)| path.as_str());
        let numbers: Vec<_> = paths.zip(&values).collect();
        let changed = self.state().simulation.set(&numbers);
        changed.map_err(|error| errors::wrong_setting(py, error))
    }

    /// Takes this run's scenario, written out as TOML, and returns it with events that set what was
    /// set by hand.
    fn with_what_was_set(&self, py: Python<'_>, scenario: String) -> PyResult<String> {
        if !self.state().simulation.was_set() {
            return Ok(scenario);
        }
        let mut table = parse(py, None, &scenario)?;
        self.state().simulation.add_what_was_set(&mut table);
        Ok(table.to_string())
    }

    /// The run does not go on. Flows that are not complete get their rows.
    fn finish(&self, py: Python<'_>) {
        py.detach(|| self.state().simulation.finish());
    }

    /// A copy of the run that goes on from this very moment. `scenario` is another reading of the
    /// same scenario, which a run with plug-ins needs.
    #[pyo3(signature = (scenario=None))]
    fn copy(&self, py: Python<'_>, scenario: Option<&Scenario>) -> PyResult<Simulation> {
        let (simulation, failure) = match scenario {
            None => (py.detach(|| self.state().simulation.clone()), None),
            Some(scenario) => {
                let Some(read) = scenario.take() else { return Err(errors::spent(py, "scenario")) };
                let failure = scenario.failure().unwrap_or_default();
                let copy = || self.state().simulation.copy_with(read);
                (copying(py, &failure, copy), Some(failure))
            }
        };
        let (vocabulary, places) = (self.vocabulary.clone(), self.places.clone());
        let state = Mutex::new(State { simulation, progress: self.state().progress });
        let made = Simulation { state, vocabulary, places, failure, alone: self.alone };
        made.check_plugins(py)?;
        Ok(made)
    }

    /// Signals that have not been named before are counted from now on.
    fn follow(&self, py: Python<'_>, names: Vec<String>) -> PyResult<()> {
        let followed = self.state().simulation.follow(&names);
        self.check_plugins(py)?;
        followed.map(|_| ()).map_err(|error| errors::wrong_setting(py, error))
    }

    /// The numbers of each signal, and how many there are along each axis.
    fn observe(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Vec<(Column, Vec<usize>)>> {
        let looks = self.state().simulation.observe(&names);
        self.check_plugins(py)?;
        let looks = looks.map_err(|error| errors::wrong_setting(py, error))?;
        Ok(looks.into_iter().map(|look| (Column::of(look.values), look.shape)).collect())
    }

    /// How many threads the run is on, and why it is on one if it should be on several.
    fn threads(&self) -> (usize, Option<&'static str>) {
        (self.state().simulation.threads(), self.alone)
    }

    /// The processor time that it has taken on other threads than the caller's, in seconds.
    fn cpu_elsewhere(&self) -> f64 {
        self.state().simulation.cpu_elsewhere().as_secs_f64()
    }

    /// Of a run in parts: how many there are, windows, windows in order, packets that crossed, and
    /// the most events that a part had in each window, added up.
    fn windows(&self) -> Option<(usize, u64, u64, u64, u64)> {
        let (parts, windows) = self.state().simulation.windows()?;
        let Windows { windows, in_order, crossings, longest } = windows;
        Some((parts, windows, in_order, crossings, longest))
    }

    /// The simulated time, in picoseconds. Raises an error while the run goes on with plug-ins: the
    /// run holds the interpreter then, so a hook would wait for itself.
    fn now(&self, py: Python<'_>) -> PyResult<u64> {
        let is_held = matches!(self.state.try_lock(), Err(TryLockError::WouldBlock));
        if is_held && self.failure.is_some() {
            return Err(errors::running(py));
        }
        Ok(self.state().simulation.now().ps())
    }

    /// Removes the rows that a table has so far and returns them as columns.
    fn take<'py>(&self, py: Python<'py>, table: &str) -> PyResult<Bound<'py, PyDict>> {
        let mut state = self.state();
        let Some(columns) = state.simulation.record_mut().take(table) else {
            return Err(PyKeyError::new_err(table.to_string()));
        };
        column::table(py, columns, |names| self.vocabulary.list(names).clone())
    }

    /// The summary of a run that has ended, as JSON.
    fn summary(&self, py: Python<'_>) -> PyResult<String> {
        let summary = py.detach(|| {
            let mut state = self.state();
            let progress = state.progress;
            summarize(&mut state.simulation, progress).to_string()
        });
        self.check_plugins(py)?;
        Ok(summary)
    }
}

impl Simulation {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Raises the exception of a plug-in, if there was one.
    fn check_plugins(&self, py: Python<'_>) -> PyResult<()> {
        let Some(failure) = self.failure.as_ref().filter(|failure| failure.has_failed()) else {
            return Ok(());
        };
        let now = self.state().simulation.now();
        failure.take(py, Some(now), &self.places).map_or(Ok(()), Err)
    }

    /// Runs until the end, or until `interval` has passed or a table has `rows` rows.
    fn advance(&self, interval: Duration, rows: usize, until: Option<Time>) -> (Progress, bool) {
        let begin = Instant::now();
        let mut state = self.state();
        loop {
            // However a run is divided into calls, tables are emptied after the same events.
            let stint = if state.simulation.threads() == 1 { STINT } else { STINT * STINTS };
            let events = stint - state.simulation.events() % stint;
            state.progress = match &self.failure {
                None => some(&mut state.simulation, events, until),
                Some(failure) => one_by_one(failure, &mut state.simulation, events, until),
            };
            state.simulation.collect_traces();
            let is_full = state.simulation.record_mut().longest() >= rows;
            let has_failed = self.failure.as_ref().is_some_and(|failure| failure.has_failed());
            let is_due = is_full || has_failed || begin.elapsed() >= interval;
            if state.progress != Progress::Running || is_due {
                return (state.progress, is_full);
            }
        }
    }
}

/// Runs a number of events, or until a time. Then all ports are up to date.
fn some(simulation: &mut Run, events: u64, until: Option<Time>) -> Progress {
    match until {
        None => simulation.run(events),
        Some(time) => simulation.run_until(time, events),
    }
}

/// As `some`, but ends with the event in which a plug-in fails.
fn one_by_one(
    failure: &Failure,
    simulation: &mut Run,
    events: u64,
    until: Option<Time>,
) -> Progress {
    let mut progress = Progress::Running;
    for _ in 0..events {
        progress = match until {
            None => simulation.run_events(1),
            Some(time) => simulation.run_until(time, 1),
        };
        if progress != Progress::Running || failure.has_failed() {
            break;
        }
    }
    simulation.catch_up();
    progress
}

//! A run: mostly without the interpreter, which it consults at intervals.

use crate::column;
use crate::errors;
use crate::plugins::Failure;
use crate::scenario::Scenario;
use pyo3::exceptions::{PyKeyError, PyKeyboardInterrupt};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spillway_net::record::Record;
use spillway_net::record::names::Vocabulary;
use spillway_net::simulation::Progress;
use spillway_net::summary::summarize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The number of events between two checks of the tables. It is fixed, so that the points where
/// tables are emptied do not depend on the machine's speed.
const STINT: u64 = 1 << 14;

/// A run of a scenario. The scenario cannot be used again.
#[pyclass(frozen, module = "spillway._core")]
pub struct Simulation {
    state: Mutex<State>,
    vocabulary: Vocabulary,
    /// The names of switches and hosts, by their numbers.
    places: Vec<String>,
    /// The first exception of its plug-ins, if it has any.
    failure: Option<Arc<Failure>>,
}

struct State {
    simulation: spillway_net::simulation::Simulation,
    progress: Progress,
}

#[pymethods]
impl Simulation {
    /// A run that is about to begin.
    #[new]
    fn new(py: Python<'_>, scenario: &Scenario) -> PyResult<Simulation> {
        let (failure, places) = (scenario.failure(), scenario.places.clone());
        let Some(scenario) = scenario.take() else { return Err(errors::spent(py, "scenario")) };
        let vocabulary = Vocabulary::of(&scenario);
        let simulation = py.detach(|| spillway_net::simulation::Simulation::new(scenario));
        let state = Mutex::new(State { simulation, progress: Progress::Running });
        let made = Simulation { state, vocabulary, places, failure };
        made.check_plugins(py)?;
        Ok(made)
    }

    /// Runs to the end and returns the status: complete, stopped or interrupted.
    ///
    /// Every `interval` seconds `report` is called with the simulated time in picoseconds, and the
    /// numbers of events, packet-hops, flows started and flows completed. Whenever a table has
    /// `rows` rows, `drain` is called to take them. A KeyboardInterrupt, raised by either of them
    /// or by a signal, ends the run. An error is raised if the run takes more memory than its
    /// scenario allows.
    #[pyo3(signature = (report=None, interval=0.1, drain=None, rows=usize::MAX))]
    fn run(
        &self,
        py: Python<'_>,
        report: Option<Bound<'_, PyAny>>,
        interval: f64,
        drain: Option<Bound<'_, PyAny>>,
        rows: usize,
    ) -> PyResult<&'static str> {
        let interval = Duration::try_from_secs_f64(interval).unwrap_or(Duration::ZERO);
        let talk = || -> PyResult<()> {
            py.check_signals()?;
            if let Some(report) = &report {
                let state = self.state();
                let counters = state.simulation.counters();
                let numbers = (
                    state.simulation.now().ps(),
                    counters.events,
                    counters.packet_hops,
                    counters.flows_started,
                    counters.flows_completed,
                );
                drop(state);
                report.call1(numbers)?;
            }
            Ok(())
        };
        let mut is_interrupted = false;
        while !is_interrupted {
            let (progress, is_full) = match self.failure {
                None => py.detach(|| self.advance(interval, rows)),
                // Hooks need the interpreter all the time; releasing it between them would cost
                // more.
                Some(_) => self.advance(interval, rows),
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
        py.detach(|| self.state().simulation.finish());
        Ok(match self.state().progress {
            Progress::Complete => "complete",
            Progress::Stopped => "stopped",
            Progress::Deadlock => "deadlock",
            Progress::Running | Progress::OutOfMemory => "interrupted",
        })
    }

    /// The tables that a run can record.
    #[staticmethod]
    fn tables() -> Vec<&'static str> {
        Record::TABLES.to_vec()
    }

    /// The tables that every run records.
    #[staticmethod]
    fn always() -> Vec<&'static str> {
        Record::ALWAYS.to_vec()
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
    fn advance(&self, interval: Duration, rows: usize) -> (Progress, bool) {
        let begin = Instant::now();
        let mut state = self.state();
        loop {
            state.progress = match &self.failure {
                None => state.simulation.run(STINT),
                Some(failure) => run_until(failure, &mut state.simulation),
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

/// Runs a number of events, but ends with the event in which a plug-in fails.
fn run_until(failure: &Failure, simulation: &mut spillway_net::simulation::Simulation) -> Progress {
    let mut progress = Progress::Running;
    for _ in 0..STINT {
        progress = simulation.run_events(1);
        if progress != Progress::Running || failure.has_failed() {
            break;
        }
    }
    simulation.catch_up();
    progress
}

//! The first exception that a plug-in raises in a run.

use crate::errors;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use spillway_engine::Time;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// What an instance of a plug-in is for.
#[derive(Clone, Copy, Debug)]
pub enum Place {
    /// The switch or host with this number.
    Node(u32),
    /// The flow with this number.
    Flow(u32),
}

/// Where an exception was raised.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The plug-in's id.
    pub plugin: String,
    /// The hook that was called.
    pub hook: &'static str,
    /// What it was called for, if that is known.
    pub place: Option<Place>,
}

/// The first exception of all plug-ins in a run. After an exception no hook is called.
#[derive(Debug, Default)]
pub struct Failure {
    has_failed: AtomicBool,
    first: Mutex<Option<(PyErr, Origin)>>,
}

impl Failure {
    /// Whether there has been an exception.
    #[inline]
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Keeps an exception if it is the first.
    pub fn set(&self, error: PyErr, origin: Origin) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.has_failed.swap(true, Ordering::Relaxed) {
            *first = Some((error, origin));
        }
    }

    /// The exception as users see it. Errors in settings and Ctrl-C stay as they are. Any other
    /// exception becomes the cause of a `PluginError`. `time` is the time at which it was raised,
    /// `None` before the run.
    pub fn take(&self, py: Python<'_>, time: Option<Time>, places: &[String]) -> Option<PyErr> {
        let first = self.first.lock().unwrap_or_else(PoisonError::into_inner).take();
        let (error, Origin { plugin, hook, place }) = first?;
        if error.is_instance_of::<PyKeyboardInterrupt>(py) || errors::is_wrong_setting(py, &error) {
            return Some(error);
        }
        let place = match place {
            Some(Place::Node(node)) => places.get(node as usize).map(|name| format!(" at {name}")),
            Some(Place::Flow(flow)) => Some(format!(" of flow {flow}")),
            None => None,
        };
        let place = place.unwrap_or_default();
        let when = match time {
            Some(time) => format!("at simulated time {time}"),
            None => "before the run".into(),
        };
        let text = format!("the plug-in {plugin} has failed {when}, in {hook}{place}");
        Some(errors::plugin_failed(py, error, (text, plugin, hook, time.map(Time::ps))))
    }
}

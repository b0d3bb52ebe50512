//! An instance of a plug-in. Its hooks are looked up only once.

use super::copying;
use super::failure::{Failure, Origin, Place};
use pyo3::call::PyCallArgs;
use pyo3::prelude::*;
use std::sync::Arc;

macro_rules! hooks {
    ($($hook:ident $name:literal),+ $(,)?) => {
        /// The hooks that a plug-in may have.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Hook {
            $(
                #[doc = concat!("`", $name, "`.")]
                $hook,
            )+
        }

        impl Hook {
            const ALL: &[(Hook, &str)] = &[$((Hook::$hook, $name)),+];
        }
    };
}

hooks! {
    Admit "admit",
    OnArrival "on_arrival",
    OnEnqueue "on_enqueue",
    OnDequeue "on_dequeue",
    OnRelease "on_release",
    OnDrop "on_drop",
    OnDeparture "on_departure",
    OnTimer "on_timer",
    OnMark "on_mark",
    OnSend "on_send",
    OnVainTurn "on_vain_turn",
    Sample "sample",
    OpenBelow "open_below",
    Threshold "threshold",
    Counters "counters",
    OnAck "on_ack",
    OnLoss "on_loss",
    OnTimeout "on_timeout",
    Level "level",
    Select "select",
    Choose "choose",
    Quantum "quantum",
    NextSegment "next_segment",
    TimeoutPs "timeout_ps",
    OnSent "on_sent",
    OnStopped "on_stopped",
    BeginNext "begin_next",
    ShortestTimeoutPs "shortest_timeout_ps",
}

impl Hook {
    /// The names of all hooks.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Hook::ALL.iter().map(|&(_, name)| name)
    }

    fn name(self) -> &'static str {
        Hook::ALL[self as usize].1
    }
}

/// The arguments of a hook: a tuple.
pub trait Arguments: for<'py> PyCallArgs<'py> {}

impl<T: for<'py> PyCallArgs<'py>> Arguments for T {}

/// An instance with its hooks. Hooks that its class lacks are not called. After a failure no hook
/// is called.
#[derive(Debug)]
pub struct Instance {
    plugin: Arc<str>,
    /// What it is for, if errors are to name it.
    pub place: Option<Place>,
    failure: Arc<Failure>,
    /// The object; `None` if it could not be made.
    object: Option<Py<PyAny>>,
    /// Its hooks, by their numbers.
    bound: Vec<Option<Py<PyAny>>>,
}

impl Clone for Instance {
    /// A copy of the object. If the object cannot be copied, the copy has no hooks, and the
    /// exception is kept.
    fn clone(&self) -> Instance {
        let failure = copying::failure().unwrap_or_else(|| self.failure.clone());
        let mut copy = Instance::none(&self.plugin, self.place, &failure);
        let Some(object) = &self.object else { return copy };
        let copied = Python::attach(|py| {
            let object = copying::deep(object.bind(py))?;
            copy.bind_those(&object, |hook| self.has(hook))
        });
        if let Err(error) = copied {
            copy.fail(error, "copy.deepcopy");
        }
        copy
    }
}

impl Instance {
    /// An instance without hooks, for a plug-in that could not be made.
    pub fn none(plugin: &Arc<str>, place: Option<Place>, failure: &Arc<Failure>) -> Instance {
        let bound = Hook::ALL.iter().map(|_| None).collect();
        Instance { plugin: plugin.clone(), place, failure: failure.clone(), object: None, bound }
    }

    /// The plug-in's id.
    pub fn plugin(&self) -> &str {
        &self.plugin
    }

    /// Looks up the hooks with these names.
    pub fn bind(&mut self, object: &Bound<'_, PyAny>, hooks: &[String]) -> PyResult<()> {
        self.bind_those(object, |hook| hooks.iter().any(|has| has == hook.name()))
    }

    fn bind_those(
        &mut self,
        object: &Bound<'_, PyAny>,
        has: impl Fn(Hook) -> bool,
    ) -> PyResult<()> {
        for &(hook, name) in Hook::ALL {
            if has(hook) {
                self.bound[hook as usize] = Some(object.getattr(name)?.unbind());
            }
        }
        self.object = Some(object.clone().unbind());
        Ok(())
    }

    /// Whether its class has this hook.
    #[inline]
    pub fn has(&self, hook: Hook) -> bool {
        self.bound[hook as usize].is_some()
    }

    /// Calls a hook and reads its answer. Before the call, `show` updates the views that the hook
    /// is given. Returns `None` if there is no such hook, or if it fails.
    pub fn call<T>(
        &self,
        hook: Hook,
        show: impl FnOnce(Python<'_>) -> PyResult<()>,
        arguments: impl Arguments,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let bound = self.bound[hook as usize].as_ref()?;
        if self.failure.has_failed() {
            return None;
        }
        Python::attach(|py| {
            let answered = show(py)
                .and_then(|()| bound.bind(py).call1(arguments))
                .and_then(|answer| read(&answer));
            match answered {
                Ok(answer) => Some(answer),
                Err(error) => {
                    self.fail(error, hook.name());
                    None
                }
            }
        })
    }

    /// Keeps an exception raised by this instance.
    pub fn fail(&self, error: PyErr, hook: &'static str) {
        let origin = Origin { plugin: self.plugin.to_string(), hook, place: self.place };
        self.failure.set(error, origin);
    }
}

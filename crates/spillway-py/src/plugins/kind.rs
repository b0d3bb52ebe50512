//! A plug-in's class as a kind of algorithm.

use super::failure::{Failure, Origin, Place};
use super::instance::Instance;
use super::policy::Policy;
use super::scheduler::Scheduler;
use super::views::Switch;
use crate::scenario::{object_of, value_of};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use spillway_settings::{ErrorKind, Section, SettingsError};
use spillway_switch::aqm::check_turns;
use spillway_switch::{
    AqmExtension, Environment, Extension, ExtensionParams, SchedulingExtension, SharingExtension,
};
use spillway_transport::receiver::EcnEcho;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A plug-in's class, as its description gives it.
#[derive(Debug)]
pub struct Kind {
    id: Arc<str>,
    room: String,
    /// A `spillway.plugins.Description`.
    description: Py<PyAny>,
    /// The names of its parameters, and of its hooks.
    parameters: Vec<String>,
    hooks: Vec<String>,
    failure: Arc<Failure>,
    is_named: AtomicBool,
    /// For a congestion controller: the default of `ecn`.
    pub ecn: bool,
    /// For a congestion controller: how marks are echoed.
    pub echo: EcnEcho,
    /// For a congestion controller: whether switches write telemetry on its packets.
    pub asks_telemetry: bool,
    /// For a congestion controller: whether it compares with the base RTT.
    pub knows_base_rtt: bool,
}

impl Kind {
    pub fn of(description: &Bound<'_, PyAny>, failure: &Arc<Failure>) -> PyResult<Kind> {
        let flag = |name| description.getattr(name)?.extract::<bool>();
        let echo = if flag("echoes_each_mark")? { EcnEcho::PerPacket } else { EcnEcho::Latched };
        Ok(Kind {
            id: description.getattr("id")?.extract::<String>()?.into(),
            room: description.getattr("room")?.extract()?,
            parameters: description.getattr("names")?.extract()?,
            hooks: description.getattr("hooks")?.extract()?,
            description: description.clone().unbind(),
            failure: failure.clone(),
            is_named: AtomicBool::new(false),
            ecn: flag("ecn_capable")?,
            echo,
            asks_telemetry: flag("asks_telemetry")?,
            knows_base_rtt: flag("knows_base_rtt")?,
        })
    }

    /// The name by which scenarios choose it.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The room in which algorithms of this kind are listed.
    pub fn room(&self) -> &str {
        &self.room
    }

    /// Whether the scenario has named it.
    pub fn is_named(&self) -> bool {
        self.is_named.load(Ordering::Relaxed)
    }

    /// Forgets that the scenario has named it.
    pub fn forget_named(&self) {
        self.is_named.store(false, Ordering::Relaxed);
    }

    /// An instance whose hooks are not bound yet.
    pub fn unbound(&self, place: Option<Place>) -> Instance {
        Instance::none(&self.id, place, &self.failure)
    }

    /// A new object of the class with its hooks. Its `start` has been called, if there is something
    /// to start it with.
    pub fn make<'py>(
        &self,
        py: Python<'py>,
        instance: &mut Instance,
        path: &str,
        values: &Bound<'py, PyDict>,
        start: Option<Bound<'py, PyTuple>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let object = self.description.bind(py).call_method1("make", (path, values, start))?;
        instance.bind(&object, &self.hooks)?;
        Ok(object)
    }

    /// Reads the parameters of a section. An error in them is kept as the failure.
    pub fn values<'py>(
        &self,
        py: Python<'py>,
        section: &mut Section,
    ) -> Result<Bound<'py, PyDict>, SettingsError> {
        self.is_named.store(true, Ordering::Relaxed);
        self.read(py, section).map_err(|error| {
            self.fail(error);
            ErrorKind::WrongValue.at(section.path(), format!("{} refuses its parameters", self.id))
        })
    }

    fn read<'py>(&self, py: Python<'py>, section: &mut Section) -> PyResult<Bound<'py, PyDict>> {
        let given = PyDict::new(py);
        // All names are asked for before any value can be refused.
        for name in &self.parameters {
            if let Some(value) = section.raw(name) {
                given.set_item(name, object_of(py, &value)?)?;
            }
        }
        let values = self.description.bind(py).call_method1("read", (section.path(), given))?;
        let values = values.cast_into::<PyDict>()?;
        for name in &self.parameters {
            if let Some(value) = values.get_item(name)? {
                section.put(name, value_of(&section.path_of(name), &value, 1)?);
            }
        }
        Ok(values)
    }

    /// Keeps an exception raised before the run.
    pub fn fail(&self, error: PyErr) {
        let origin = Origin { plugin: self.id.to_string(), hook: "its start", place: None };
        self.failure.set(error, origin);
    }

    /// Reads the parameters of a policy of switches.
    fn params(self: &Arc<Self>, section: &mut Section) -> Result<Arc<Params>, SettingsError> {
        Python::attach(|py| {
            let values = self.values(py, section)?.unbind();
            let path = section.path().to_string();
            Ok(Arc::new(Params { kind: self.clone(), path, values }))
        })
    }
}

/// A policy of switches with its parameters, which makes an object for every switch.
#[derive(Debug)]
pub struct Params {
    kind: Arc<Kind>,
    /// The path of the section that holds the parameters.
    path: String,
    values: Py<PyDict>,
}

impl Params {
    /// What `of` makes of a new object, or `failed` if there is none.
    fn made<P>(
        &self,
        environment: &Environment,
        of: impl FnOnce(&Bound<'_, PyAny>, Instance, &Environment) -> PyResult<P>,
        failed: impl FnOnce(Instance) -> P,
    ) -> P {
        let Params { kind, path, values } = self;
        Python::attach(|py| {
            let mut instance = kind.unbound(Some(Place::Node(environment.switch)));
            let start = (Switch::of(environment),).into_pyobject(py);
            let object = start
                .and_then(|start| kind.make(py, &mut instance, path, values.bind(py), Some(start)));
            object.and_then(|object| of(&object, instance, environment)).unwrap_or_else(|error| {
                kind.fail(error);
                failed(kind.unbound(Some(Place::Node(environment.switch))))
            })
        })
    }
}

/// A plug-in's class as a kind of sharing policy, of AQM, or of scheduler.
#[derive(Debug)]
pub struct PolicyKind(pub Arc<Kind>);

impl Extension<dyn SharingExtension> for PolicyKind {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn params(
        &self,
        section: &mut Section,
        _environment: &Environment,
    ) -> Result<Arc<dyn ExtensionParams<dyn SharingExtension>>, SettingsError> {
        Ok(self.0.params(section)?)
    }
}

impl ExtensionParams<dyn SharingExtension> for Params {
    fn make(&self, environment: &Environment) -> Box<dyn SharingExtension> {
        Box::new(self.made(environment, Policy::of, Policy::failed))
    }
}

impl Extension<dyn AqmExtension> for PolicyKind {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn params(
        &self,
        section: &mut Section,
        environment: &Environment,
    ) -> Result<Arc<dyn ExtensionParams<dyn AqmExtension>>, SettingsError> {
        if self.0.hooks.iter().any(|hook| hook == "on_send" || hook == "on_vain_turn") {
            check_turns(self.0.id(), section, environment)?;
        }
        Ok(self.0.params(section)?)
    }
}

impl ExtensionParams<dyn AqmExtension> for Params {
    fn make(&self, environment: &Environment) -> Box<dyn AqmExtension> {
        Box::new(self.made(environment, Policy::of, Policy::failed))
    }
}

impl Extension<dyn SchedulingExtension> for PolicyKind {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn params(
        &self,
        section: &mut Section,
        _environment: &Environment,
    ) -> Result<Arc<dyn ExtensionParams<dyn SchedulingExtension>>, SettingsError> {
        Ok(self.0.params(section)?)
    }
}

impl ExtensionParams<dyn SchedulingExtension> for Params {
    fn make(&self, environment: &Environment) -> Box<dyn SchedulingExtension> {
        Box::new(self.made(environment, Scheduler::of, Scheduler::failed))
    }
}

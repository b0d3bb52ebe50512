//! Plug-ins: algorithms written in Python, behind the traits of compiled-in ones.
//!
//! Hooks are given copies, so no object that Python keeps points into the simulator. The first
//! exception ends the run. After it no hook is called.

mod answers;
mod control;
mod copying;
mod failure;
mod instance;
mod kind;
mod policy;
mod recovery;
mod scheduler;
mod tagger;
mod views;

pub use answers::REASONS;
pub use copying::copying;
pub use failure::Failure;

use control::Controller;
use instance::Hook;
use kind::{Kind, PolicyKind};
use pyo3::prelude::*;
use recovery::RecoveryKind;
use spillway_net::extensions::Extensions;
use std::sync::Arc;
use tagger::TaggerKind;

/// The plug-ins that one scenario may name.
pub struct Plugins {
    kinds: Vec<Arc<Kind>>,
    /// The first exception raised by any of them.
    pub failure: Arc<Failure>,
}

impl Plugins {
    /// From descriptions, `spillway.plugins.Description`.
    pub fn of(descriptions: &[Bound<'_, PyAny>]) -> PyResult<Plugins> {
        let failure = Arc::new(Failure::default());
        let kind = |each: &Bound<'_, PyAny>| Ok(Arc::new(Kind::of(each, &failure)?));
        let kinds = descriptions.iter().map(kind).collect::<PyResult<_>>()?;
        Ok(Plugins { kinds, failure })
    }

    /// The plug-ins in the form in which the simulator takes them.
    pub fn extensions(&self) -> Extensions {
        let mut extensions = Extensions::default();
        for kind in &self.kinds {
            match kind.room() {
                "sharing" => extensions.sharing.push(Arc::new(PolicyKind(kind.clone()))),
                "aqm" => extensions.aqm.push(Arc::new(PolicyKind(kind.clone()))),
                "scheduling" => extensions.scheduling.push(Arc::new(PolicyKind(kind.clone()))),
                "recovery" => extensions.hosts.recovery.push(Arc::new(RecoveryKind(kind.clone()))),
                "tagging" => extensions.hosts.tagging.push(Arc::new(TaggerKind(kind.clone()))),
                _ => extensions.hosts.transport.push(Arc::new(Controller(kind.clone()))),
            }
        }
        extensions
    }

    /// The indices of the plug-ins that the scenario has named.
    pub fn named(&self) -> Vec<usize> {
        let named = self.kinds.iter().enumerate().filter(|(_, kind)| kind.is_named());
        named.map(|(place, _)| place).collect()
    }

    /// Forgets which plug-ins have been named.
    pub fn forget_named(&self) {
        self.kinds.iter().for_each(|kind| kind.forget_named());
    }

    /// Whether there are no plug-ins.
    pub fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }
}

/// Adds the names of all hooks, and the classes of their arguments and answers, to the module.
pub fn add_classes(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("HOOKS", Hook::names().collect::<Vec<_>>())?;
    module.add_class::<answers::Drop>()?;
    module.add_class::<answers::PushOut>()?;
    module.add_class::<answers::Verdict>()?;
    module.add_class::<control::Access>()?;
    module.add_class::<control::Ack>()?;
    module.add_class::<control::Hop>()?;
    module.add_class::<control::Window>()?;
    module.add_class::<recovery::Flight>()?;
    module.add_class::<recovery::Reaction>()?;
    module.add_class::<scheduler::Backlog>()?;
    module.add_class::<scheduler::Waiting>()?;
    module.add_class::<tagger::Packet>()?;
    module.add_class::<views::Arrival>()?;
    module.add_class::<views::Buffer>()?;
    module.add_class::<views::Departure>()?;
    module.add_class::<views::Switch>()
}

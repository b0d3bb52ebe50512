//! Algorithms from outside the program that a scenario may name.

use crate::transport::ControlExtension;
use spillway_settings::{Section, SettingsError};
use spillway_switch::aqm::AqmPolicy;
use spillway_switch::sharing::SharingPolicy;
use spillway_switch::{AqmExtension, Environment, Extension, SharingExtension};
use std::sync::Arc;

type Result<T> = std::result::Result<T, SettingsError>;

/// What there is beside the catalogues, by room.
#[derive(Clone, Debug, Default)]
pub struct Extensions {
    /// Sharing policies.
    pub sharing: Vec<Arc<dyn Extension<dyn SharingExtension>>>,
    /// AQMs.
    pub aqm: Vec<Arc<dyn Extension<dyn AqmExtension>>>,
    /// Congestion controllers.
    pub transport: Vec<Arc<dyn ControlExtension>>,
}

impl Extensions {
    /// The ids of the sharing policies, those of the catalogue first.
    pub fn sharing_ids(&self) -> impl Iterator<Item = &str> + Clone {
        SharingPolicy::IDS.iter().copied().chain(self.sharing.iter().map(|kind| kind.id()))
    }

    /// The ids of the AQMs, those of the catalogue first.
    pub fn aqm_ids(&self) -> impl Iterator<Item = &str> + Clone {
        AqmPolicy::IDS.iter().copied().chain(self.aqm.iter().map(|kind| kind.id()))
    }

    /// Reads the sharing policy with this id, for one switch.
    pub fn read_sharing(
        &self,
        id: &str,
        section: &mut Section,
        environment: &Environment,
    ) -> Result<SharingPolicy> {
        match self.sharing.iter().find(|kind| kind.id() == id) {
            Some(kind) => kind.read(section, environment).map(SharingPolicy::Extension),
            None => SharingPolicy::read(id, section, environment),
        }
    }

    /// Reads the AQM with this id, for one switch.
    pub fn read_aqm(
        &self,
        id: &str,
        section: &mut Section,
        environment: &Environment,
    ) -> Result<AqmPolicy> {
        match self.aqm.iter().find(|kind| kind.id() == id) {
            Some(kind) => kind.read(section, environment).map(AqmPolicy::Extension),
            None => AqmPolicy::read(id, section, environment),
        }
    }
}

//! Algorithms that are not compiled in, but that scenarios may name.

use spillway_settings::{Section, SettingsError};
use spillway_switch::aqm::{AqmParams, AqmPolicy};
use spillway_switch::scheduling::{SchedulingParams, SchedulingPolicy};
use spillway_switch::sharing::{SharingParams, SharingPolicy};
use spillway_switch::{
    AqmExtension, Environment, Extension, SchedulingExtension, SharingExtension,
};
use std::sync::Arc;

type Result<T> = std::result::Result<T, SettingsError>;

/// The algorithms that exist in addition to those of the catalogues, by room.
#[derive(Clone, Debug, Default)]
pub struct Extensions {
    /// Sharing policies.
    pub sharing: Vec<Arc<dyn Extension<dyn SharingExtension>>>,
    /// AQMs.
    pub aqm: Vec<Arc<dyn Extension<dyn AqmExtension>>>,
    /// Schedulers.
    pub scheduling: Vec<Arc<dyn Extension<dyn SchedulingExtension>>>,
    /// Congestion controllers, loss recoveries and taggers.
    pub hosts: spillway_transport::Extensions,
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

    /// The ids of the schedulers, those of the catalogue first.
    pub fn scheduling_ids(&self) -> impl Iterator<Item = &str> + Clone {
        SchedulingPolicy::IDS.iter().copied().chain(self.scheduling.iter().map(|kind| kind.id()))
    }

    /// Reads the parameters of the sharing policy with this id. `environment` is that of the tier's
    /// first switch.
    pub fn sharing_params(
        &self,
        id: &str,
        section: &mut Section,
        environment: &Environment,
    ) -> Result<SharingParams> {
        match self.sharing.iter().find(|kind| kind.id() == id) {
            Some(kind) => kind.params(section, environment).map(SharingParams::Extension),
            None => SharingParams::read(id, section, environment),
        }
    }

    /// As `sharing_params`, for an AQM.
    pub fn aqm_params(
        &self,
        id: &str,
        section: &mut Section,
        environment: &Environment,
    ) -> Result<AqmParams> {
        match self.aqm.iter().find(|kind| kind.id() == id) {
            Some(kind) => kind.params(section, environment).map(AqmParams::Extension),
            None => AqmParams::read(id, section, environment),
        }
    }

    /// As `sharing_params`, for a scheduler.
    pub fn scheduling_params(
        &self,
        id: &str,
        section: &mut Section,
        environment: &Environment,
    ) -> Result<SchedulingParams> {
        match self.scheduling.iter().find(|kind| kind.id() == id) {
            Some(kind) => kind.params(section, environment).map(SchedulingParams::Extension),
            None => SchedulingParams::read(id, section, environment),
        }
    }
}

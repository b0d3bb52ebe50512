//! No active queue management: queues grow until the sharing policy stops them.

use super::Aqm;
use crate::catalogue::{Environment, Policy};
use crate::policy::Watch;
use spillway_settings::{Section, SettingsError};

/// Marks and drops nothing.
#[derive(Clone, Debug)]
pub struct NoAqm;

impl Policy for NoAqm {
    const ID: &'static str = "none";
    const SUMMARY: &'static str = "no marking and no early drops";
    const CITATION: &'static str = "";

    type Params = ();

    fn params(_section: &mut Section, _environment: &Environment) -> Result<(), SettingsError> {
        Ok(())
    }

    fn new(_params: &(), _environment: &Environment) -> Self {
        NoAqm
    }
}

impl Watch for NoAqm {}

impl Aqm for NoAqm {
    fn passes_idle_ports(&self) -> bool {
        true
    }
}

//! No active queue management: queues grow until the sharing policy stops them.
//!
//! # In composition
//! Nothing is marked. So only losses cut the windows of `dctcp`, `newreno` and `cubic`, and nothing
//! cuts the rates of `dcqcn` and `dctcp-rdma`. The sharing policy alone keeps room for bursts: in
//! the factorial of studies/spillway_studies/five/paper.md, with one queue for data and RACK, 8% of
//! flows have a timeout under `cs`, 1% under `lqd`, and 0.4% under `occamy`.

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

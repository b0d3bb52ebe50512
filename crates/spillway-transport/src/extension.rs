//! Congestion controllers, loss recoveries and taggers that are not compiled in; they are called through a pointer.

use super::control::ControlMaker;
use super::kind::Needs;
use super::recovery::RecoveryExtension;
use super::tagging::TaggerExtension;
use super::window::CongestionControl;
use dyn_clone::DynClone;
use spillway_settings::{Section, SettingsError};
use std::fmt::Debug;
use std::sync::Arc;

/// The controller of one flow.
pub trait FlowControl: CongestionControl + Debug + DynClone + Send {}

impl<T: CongestionControl + Clone + Debug + Send> FlowControl for T {}

dyn_clone::clone_trait_object!(FlowControl);

/// A kind of congestion controller that is not compiled in: the counterpart of a row in the
/// catalogue.
pub trait ControlExtension: Debug + Send + Sync {
    /// The name by which scenarios choose it. No transport of the catalogue has this name.
    fn id(&self) -> &str;

    /// What it needs besides acks.
    fn needs(&self) -> Needs;

    /// Reads its parameters.
    fn read(&self, section: &mut Section) -> Result<Arc<dyn ControlMaker>, SettingsError>;
}

/// What exists in addition to the catalogues.
#[derive(Clone, Debug, Default)]
pub struct Extensions {
    /// Congestion controllers.
    pub transport: Vec<Arc<dyn ControlExtension>>,
    /// Loss recoveries.
    pub recovery: Vec<Arc<dyn RecoveryExtension>>,
    /// Taggers.
    pub tagging: Vec<Arc<dyn TaggerExtension>>,
}

//! Congestion controllers from outside the program: what is not compiled in is reached through a
//! pointer.

use super::control::ControlMaker;
use super::kind::Needs;
use super::window::CongestionControl;
use spillway_settings::{Section, SettingsError};
use std::fmt::Debug;
use std::sync::Arc;

/// The controller of one flow.
pub trait FlowControl: CongestionControl + Debug + Send {}

impl<T: CongestionControl + Debug + Send> FlowControl for T {}

/// A kind of congestion controller from outside, as the catalogue's rows are kinds of those within.
pub trait ControlExtension: Debug + Send + Sync {
    /// The name by which scenarios choose it; no transport of the catalogue has it.
    fn id(&self) -> &str;

    /// What it needs beside the acks.
    fn needs(&self) -> Needs;

    /// Reads its parameters.
    fn read(&self, section: &mut Section) -> Result<Arc<dyn ControlMaker>, SettingsError>;
}

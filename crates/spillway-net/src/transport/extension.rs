//! Congestion controllers from outside the program: what is not compiled in is reached through a
//! pointer.

use super::Access;
use super::receiver::EcnEcho;
use super::window::{CongestionControl, Window};
use spillway_settings::{Section, SettingsError};
use std::fmt::Debug;
use std::sync::Arc;

/// The controller of one flow.
pub trait FlowControl: CongestionControl + Debug + Send {}

impl<T: CongestionControl + Debug + Send> FlowControl for T {}

/// A controller with its parameters: makes one for every flow.
pub trait ControlMaker: Debug + Send + Sync {
    /// At the start of a flow, whose window it may change.
    fn start(&self, window: &mut Window, access: &Access) -> Box<dyn FlowControl>;

    /// Whether switches are to write telemetry on its packets.
    fn asks_telemetry(&self) -> bool {
        false
    }

    /// Whether it compares with the base RTT: then it may be that of the flow's own way.
    fn knows_base_rtt(&self) -> bool {
        false
    }
}

/// A kind of congestion controller from outside.
pub trait ControlExtension: Debug + Send + Sync {
    /// The name by which scenarios choose it; no transport of the catalogue has it.
    fn id(&self) -> &str;

    /// Whether packets are ECN-capable where the scenario does not say.
    fn ecn(&self) -> bool;

    /// How the receiver echoes marks.
    fn echo(&self) -> EcnEcho;

    /// Reads its parameters.
    fn read(&self, section: &mut Section) -> Result<Arc<dyn ControlMaker>, SettingsError>;
}

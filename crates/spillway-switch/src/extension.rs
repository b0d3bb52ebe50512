//! Policies from outside the program: those not compiled in are called through a pointer.

use crate::aqm::Aqm;
use crate::catalogue::Environment;
use crate::sharing::Sharing;
use dyn_clone::DynClone;
use spillway_settings::{Section, SettingsError};
use std::fmt::Debug;
use std::sync::Arc;

/// A sharing policy from outside.
pub trait SharingExtension: Sharing + Debug + DynClone + Send {}

impl<T: Sharing + Clone + Debug + Send> SharingExtension for T {}

dyn_clone::clone_trait_object!(SharingExtension);

/// An AQM from outside.
pub trait AqmExtension: Aqm + Debug + DynClone + Send {}

impl<T: Aqm + Clone + Debug + Send> AqmExtension for T {}

dyn_clone::clone_trait_object!(AqmExtension);

/// A kind of policy from outside, which corresponds to a row of the catalogue. `P` is
/// [`SharingExtension`] or [`AqmExtension`].
pub trait Extension<P: ?Sized>: Debug + Send + Sync {
    /// The name by which scenarios choose it; no policy of the catalogue has it.
    fn id(&self) -> &str;

    /// Reads the parameters, for a tier whose first switch has this environment.
    ///
    /// # Errors
    /// If something is wrong with them.
    fn params(
        &self,
        section: &mut Section,
        environment: &Environment,
    ) -> Result<Arc<dyn ExtensionParams<P>>, SettingsError>;
}

/// The parameters of such a policy, the same for all switches of a tier.
pub trait ExtensionParams<P: ?Sized>: Debug + Send + Sync {
    /// Makes the policy for one switch, before any packet has arrived.
    fn make(&self, environment: &Environment) -> Box<P>;
}

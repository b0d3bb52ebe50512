//! Policies from outside the program: those not compiled in are called through a pointer.

use crate::aqm::Aqm;
use crate::backlog::Backlog;
use crate::catalogue::Environment;
use crate::scheduling::{Head, Scheduling};
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

/// A scheduler from outside.
pub trait SchedulingExtension: Scheduling + Debug + DynClone + Send {
    /// What [`Scheduling::select`] returns, and the turns that begin.
    fn select_by(
        &mut self,
        port: u32,
        backlog: Backlog,
        head: &dyn Fn(u8) -> Head,
    ) -> (u8, Vec<u8>);
}

impl<T: Scheduling + Clone + Debug + Send> SchedulingExtension for T {
    fn select_by(
        &mut self,
        port: u32,
        backlog: Backlog,
        head: &dyn Fn(u8) -> Head,
    ) -> (u8, Vec<u8>) {
        let mut turns = Vec::new();
        let queue_class = self.select(port, backlog, head, |turn| turns.push(turn));
        (queue_class, turns)
    }
}

/// What a trait object cannot have of [`Scheduling`].
pub(crate) trait ByPointer {
    /// [`Scheduling::select`].
    fn select(
        &mut self,
        port: u32,
        backlog: Backlog,
        head: impl Fn(u8) -> Head,
        turn: impl FnMut(u8),
    ) -> u8;
}

impl ByPointer for Box<dyn SchedulingExtension> {
    // Only the call behind the pointer needs arguments in memory. Turns are told after it, so that
    // what `turn` changes need not be there either: it would have to be for built-in schedulers too.
    #[inline(always)]
    fn select(
        &mut self,
        port: u32,
        backlog: Backlog,
        head: impl Fn(u8) -> Head,
        turn: impl FnMut(u8),
    ) -> u8 {
        let (queue_class, turns) = select_behind(self, port, backlog, head);
        turns.into_iter().for_each(turn);
        queue_class
    }
}

#[cold]
#[inline(never)]
fn select_behind(
    policy: &mut Box<dyn SchedulingExtension>,
    port: u32,
    backlog: Backlog,
    head: impl Fn(u8) -> Head,
) -> (u8, Vec<u8>) {
    policy.select_by(port, backlog, &head)
}

dyn_clone::clone_trait_object!(SchedulingExtension);

/// A kind of policy from outside, which corresponds to a row of the catalogue. `P` is
/// [`SharingExtension`], [`AqmExtension`] or [`SchedulingExtension`].
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

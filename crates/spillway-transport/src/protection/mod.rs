//! Protection: which packets a sender tags as important, so that switches lose others first. One file
//! for each kind.

mod tlt;

pub use tlt::Tlt;

use spillway_settings::{ErrorKind, Section, SettingsError};
use spillway_switch::Cost;

/// The row of a kind of protection.
#[derive(Debug)]
pub struct Kind {
    /// The field's short name.
    pub id: &'static str,
    /// A description of one line.
    pub summary: &'static str,
    /// Where it was published.
    pub citation: &'static str,
    /// What it requires of a switch's hardware.
    pub cost: Cost,
    /// Its results number. It rises whenever the results of runs with it change although nothing
    /// else of these runs has changed.
    pub results: u32,
}

/// Kinds of protection as the catalogue lists them. By default there is none.
pub const KINDS: &[Kind] = &[tlt::KIND];

/// The key of a transport that chooses its protection.
pub const KEY: &str = "protection";

/// Reads the key of a transport whose segments leave one by one, or (`in_bursts`) together. Returns
/// whether its packets are protected.
pub(crate) fn read(section: &mut Section, in_bursts: bool) -> Result<bool, SettingsError> {
    let meaning = "which packets are tagged as important, so that a switch with an `unimportant_limit` \
                   loses others first";
    let kinds = [("none", false), (tlt::KIND.id, true)];
    let protects = section.extra_choice(KEY, &kinds, meaning)?;
    if protects && in_bursts {
        let problem = "it does not go with `offload` or `ack_push`: packets are tagged one by one";
        return Err(section.conflict(KEY, problem));
    }
    Ok(protects)
}

/// Refuses the key of a transport with a pace.
pub(crate) fn refuse_paced(section: &Section) -> Result<(), SettingsError> {
    if section.has(KEY) {
        let why = "means nothing where a pace is set: only packets of a window are protected";
        return Err(section.error(ErrorKind::UnusedKey, KEY, why));
    }
    Ok(())
}

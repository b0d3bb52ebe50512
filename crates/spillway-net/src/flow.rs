//! A flow as traffic describes it: who sends how much to whom, and when.

use spillway_engine::Time;

/// One flow to be sent.
///
/// The order of the fields is the order of flows: by start, then by who they are, so that their
/// numbers do not depend on the order in which traffic was declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowSpec {
    /// When its first byte is there to be sent.
    pub start: Time,
    /// The sending host.
    pub src: u32,
    /// The receiving host.
    pub dst: u32,
    /// Payload in bytes; [`FlowSpec::ENDLESS`] for a flow that never ends.
    pub size: u64,
    /// The place of its traffic section, in the order of the sections' names.
    pub class: u16,
    /// Its own priority, 0 the highest, if it has one.
    pub priority: Option<u8>,
    /// The choice among equal next hops for its data, modulo their number at every hop; by hash
    /// where there is none.
    pub path: Option<u32>,
    /// The same for its acks.
    pub ack_path: Option<u32>,
    /// The query that it answers: flows of one query are complete together.
    pub query: Option<u32>,
}

impl FlowSpec {
    /// The size of a flow that never ends.
    pub const ENDLESS: u64 = u64::MAX;
}

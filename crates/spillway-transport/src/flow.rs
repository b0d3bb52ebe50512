//! A flow as traffic describes it: sender, receiver, size and start.

use spillway_engine::Time;
use std::cmp::Ordering;

/// One flow to be sent.
///
/// Flows are ordered by start, then by their other properties, so their numbers do not depend on
/// the order in which traffic was declared. Fields that packets need come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct FlowSpec {
    /// The sending host.
    pub src: u32,
    /// The receiving host.
    pub dst: u32,
    /// The number of its class.
    pub class: u16,
    /// Its own priority, 0 the highest, if it has one.
    pub priority: Option<u8>,
    /// The number that chooses among equal next hops for its data: at every hop, modulo the number
    /// of next hops. Without it, the hash chooses.
    pub path: Option<u32>,
    /// The same number for its acks.
    pub ack_path: Option<u32>,
    /// The query that it answers. A query is complete when all of its flows are.
    pub query: Option<u32>,
    /// The number by which its section identifies it for the flows that wait for it. [`NO_TAG`] if
    /// none waits.
    ///
    /// [`NO_TAG`]: FlowSpec::NO_TAG
    pub tag: u32,
    /// When its first byte can be sent.
    pub start: Time,
    /// Payload in bytes; [`FlowSpec::ENDLESS`] for a flow that never ends.
    pub size: u64,
    /// What its host knows of its size before it sends: it has at least this many bytes of payload.
    /// 0 if nothing is known.
    pub bound: u64,
}

impl FlowSpec {
    /// The size of a flow that never ends.
    pub const ENDLESS: u64 = u64::MAX;

    /// The tag of a flow that no other waits for.
    pub const NO_TAG: u32 = u32::MAX;

    /// A flow of the first class that starts at once, and about which nothing more is known.
    pub fn new(src: u32, dst: u32, size: u64) -> FlowSpec {
        FlowSpec {
            src,
            dst,
            class: 0,
            priority: None,
            path: None,
            ack_path: None,
            query: None,
            tag: FlowSpec::NO_TAG,
            start: Time::ZERO,
            size,
            bound: 0,
        }
    }
}

impl Ord for FlowSpec {
    /// By start first; flows are numbered in this order.
    fn cmp(&self, other: &FlowSpec) -> Ordering {
        let key = |flow: &FlowSpec| {
            let FlowSpec { src, dst, class, priority, path, ack_path, query, .. } = *flow;
            let FlowSpec { tag, start, size, bound, .. } = *flow;
            (start, src, dst, size, class, priority, path, ack_path, query, bound, tag)
        };
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for FlowSpec {
    fn partial_cmp(&self, other: &FlowSpec) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

//! Events' keys: what is due, and for whom.
//!
//! The kind is in the top bits, so it orders what is due at the same time: a port that can send
//! again sends before anything arrives, arrivals come before new flows, timers after both. Below it
//! is a stable identity (a line's or a flow's number), and last, where it is needed, the place of
//! the flow's state.

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// A cable changes.
    CableChange,
    /// Routes change.
    RouteChange,
    /// The window of measurement begins or ends.
    Measure,
    /// A port can send again.
    Wake,
    /// The first packet on a line arrives.
    Arrival,
    /// The next flows start.
    FlowStart,
    /// An open-loop flow sends.
    Clock,
    /// A held-back ack is due.
    AckDue,
    /// A flow's timer.
    FlowTimer,
    /// Queues are sampled.
    SampleQueues,
    /// Windows are sampled.
    SampleWindows,
    /// Links are measured.
    SampleLinks,
}

const KINDS: [Kind; 12] = [
    Kind::CableChange,
    Kind::RouteChange,
    Kind::Measure,
    Kind::Wake,
    Kind::Arrival,
    Kind::FlowStart,
    Kind::Clock,
    Kind::AckDue,
    Kind::FlowTimer,
    Kind::SampleQueues,
    Kind::SampleWindows,
    Kind::SampleLinks,
];

/// A key without the place of a flow's state.
#[inline]
pub(super) fn key(kind: Kind, id: u32) -> u64 {
    (kind as u64) << 60 | u64::from(id & 0x0fff_ffff) << 32
}

/// The key of something due for a flow.
#[inline]
pub(super) fn flow_key(kind: Kind, flow: u32, slot: u32) -> u64 {
    key(kind, flow) | u64::from(slot)
}

/// What is due.
#[inline]
pub(super) fn kind_of(key: u64) -> Kind {
    KINDS[(key >> 60) as usize % KINDS.len()]
}

/// For whom, less the top four bits of its number.
#[inline]
pub(super) fn id_of(key: u64) -> u32 {
    (key >> 32) as u32 & 0x0fff_ffff
}

/// The place of the flow's state.
#[inline]
pub(super) fn slot_of(key: u64) -> u32 {
    key as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_by_kind_and_then_by_identity() {
        for kind in KINDS {
            let key = flow_key(kind, 0x1234_5678, 9);
            assert_eq!((kind_of(key), id_of(key), slot_of(key)), (kind, 0x0234_5678, 9));
        }
        assert!(key(Kind::Wake, 7) < key(Kind::Arrival, 3));
        assert!(flow_key(Kind::FlowTimer, 3, 99) < flow_key(Kind::FlowTimer, 4, 0));
    }
}

//! Events' keys: what is due, and for whom.
//!
//! The kind is in the top bits, so it orders what is due at the same time: a port that can send
//! again sends before anything arrives, arrivals come before new flows, timers after both. Below it
//! is a stable identity: a line's or a flow's number.

/// What an event does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// A cable changes.
    CableChange,
    /// Routes change.
    RouteChange,
    /// A port can send again.
    Wake,
    /// The window of measurement begins or ends, and with it perhaps the run: ports have sent by then.
    Measure,
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
    /// A policy's timer.
    PolicyTimer,
    /// Queues are sampled.
    SampleQueues,
    /// Windows are sampled.
    SampleWindows,
    /// Links are measured.
    SampleLinks,
    /// Ports are sampled.
    SamplePorts,
}

/// In their order.
const KINDS: [Kind; 14] = [
    Kind::CableChange,
    Kind::RouteChange,
    Kind::Wake,
    Kind::Measure,
    Kind::Arrival,
    Kind::FlowStart,
    Kind::Clock,
    Kind::AckDue,
    Kind::FlowTimer,
    Kind::PolicyTimer,
    Kind::SampleQueues,
    Kind::SampleWindows,
    Kind::SampleLinks,
    Kind::SamplePorts,
];

const KIND_BITS: u32 = 5;
const ID_BITS: u32 = u32::BITS - KIND_BITS;
const ID_MASK: u32 = (1 << ID_BITS) - 1;

/// Lines that keys can tell apart.
pub(crate) const MOST_LINES: u64 = 1 << ID_BITS;

/// Flows that may be expected: keys tell as many apart that are alive together as there are lines at
/// most, and by chance there may be a few more than are expected.
pub(crate) const MOST_FLOWS: u64 = 120_000_000;

impl Kind {
    /// The key of an event of this kind. Of a number only the low 27 bits are kept: lines are
    /// fewer ([`MOST_LINES`]), and flows that far apart are not alive together.
    #[inline(always)]
    pub fn key(self, number: u32) -> u32 {
        (self as u32) << ID_BITS | id(number)
    }

    /// For whom an event is, if it is of this kind.
    #[inline(always)]
    pub fn id_of(self, key: u32) -> Option<u32> {
        (key >> ID_BITS == self as u32).then_some(id(key))
    }

    /// What an event does, and for whom.
    pub fn of(key: u32) -> (Kind, u32) {
        let kind = KINDS[(key >> ID_BITS) as usize];
        (kind, id(key))
    }
}

/// For whom an event is; of a flow's number, what keys carry of it.
#[inline(always)]
pub(crate) fn id(key: u32) -> u32 {
    key & ID_MASK
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_by_kind_and_then_by_identity() {
        for (place, expected) in (0..).zip(KINDS) {
            let (kind, id) = Kind::of(place << 27 | 0x0234_5678);
            assert_eq!((kind, kind as u32, id), (expected, place, 0x0234_5678));
            // Of a number 27 bits are kept.
            assert_eq!(kind.key(0xf234_5678), place << 27 | 0x0234_5678);
            assert_eq!(kind.id_of(kind.key(5)), Some(5));
        }
        assert_eq!(Kind::Wake.id_of(Kind::Arrival.key(5)), None);
        assert!(Kind::Wake.key(7) < Kind::Arrival.key(3));
        assert!(Kind::Arrival.key(9) < Kind::FlowTimer.key(0));
    }
}

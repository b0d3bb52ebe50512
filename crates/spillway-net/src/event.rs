//! The keys of events: what happens, and to which line or flow.
//!
//! The kind is in the top bits, so it orders the events of the same time. A port that can send
//! again sends before anything arrives, unless the scenario has arrivals first. Arrivals come
//! before new flows, and timers after both. The lower bits hold the number of a line or a flow.

use spillway_engine::Time;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident,)*) => {
        /// The kind of an event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Kind {
            $($(#[$doc])* $kind,)*
        }

        /// All kinds, in order.
        const KINDS: [Kind; [$(Kind::$kind),*].len()] = [$(Kind::$kind),*];
    };
}

kinds! {
    /// A window of a part of the network ends.
    Edge,
    /// A link fails or recovers.
    LinkChange,
    /// Routes change.
    RouteChange,
    /// A pause frame acts.
    Pause,
    /// The quanta of a pause are over.
    PauseEnd,
    /// A port can send again.
    Wake,
    /// The window of measurement begins or ends. Ports that can send at that time have sent.
    Measure,
    /// The first packet on a line arrives.
    Arrival,
    /// A host has taken in a packet.
    TakenIn,
    /// The next flows start.
    FlowStart,
    /// An open-loop flow sends.
    Clock,
    /// A packet that waited at its NIC begins to be sent, or is lost there.
    Begun,
    /// A delayed ack is due.
    AckDue,
    /// A port that chooses after arrivals can send.
    Choose,
    /// A switch's sharing policy may expel a packet.
    Expulsion,
    /// A flow's timer expires.
    FlowTimer,
    /// A policy's timer expires.
    PolicyTimer,
    /// The frame of a pause is to be repeated.
    PauseRenewal,
    /// Queues are sampled.
    SampleQueues,
    /// Windows are sampled.
    SampleWindows,
    /// Links are measured.
    SampleLinks,
    /// Ports are sampled.
    SamplePorts,
    /// AQMs are sampled.
    SampleAqms,
    /// A deadlock ends the run.
    Deadlock,
}

const KIND_BITS: u32 = 5;
const ID_BITS: u32 = u32::BITS - KIND_BITS;
const ID_MASK: u32 = (1 << ID_BITS) - 1;

/// Something that happens in an event: its place in the order of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment {
    /// The event's time.
    pub time: Time,
    /// The event's key, or that of an earlier event of the same time if that is higher.
    pub highest: u32,
    /// If it is that of an earlier event: the event's own key.
    pub follows: u32,
    /// The place of a loss among those of its part.
    pub place: u32,
}

impl Moment {
    /// Before any event.
    pub const BEGIN: Moment = Moment { time: Time::ZERO, highest: 0, follows: 0, place: 0 };
}

/// The most lines that keys can tell apart.
pub(crate) const MOST_LINES: u64 = 1 << ID_BITS;

/// The most flows that may be expected. Keys can tell as many flows apart that are alive at once as
/// they can tell lines apart. Some room is left, since more flows may start than expected.
pub(crate) const MOST_FLOWS: u64 = 120_000_000;

impl Kind {
    /// The key of an event of this kind. Only the low 27 bits of the number are kept. This
    /// suffices: there are fewer lines ([`MOST_LINES`]), and two flows whose numbers have the same
    /// low bits are never alive at the same time.
    #[inline(always)]
    pub const fn key(self, number: u32) -> u32 {
        (self as u32) << ID_BITS | id(number)
    }

    /// Whether it is a sample, which is taken at regular times.
    pub fn is_sample(self) -> bool {
        matches!(
            self,
            Kind::SampleQueues
                | Kind::SampleWindows
                | Kind::SampleLinks
                | Kind::SamplePorts
                | Kind::SampleAqms
        )
    }

    /// The number in a key, if it is of this kind.
    #[inline(always)]
    pub fn id_of(self, key: u32) -> Option<u32> {
        (key >> ID_BITS == self as u32).then_some(id(key))
    }

    /// The kind and the number in a key.
    pub fn of(key: u32) -> (Kind, u32) {
        let kind = KINDS[(key >> ID_BITS) as usize];
        (kind, id(key))
    }
}

/// The number in a key. Of a flow's number, a key has only the low bits.
#[inline(always)]
pub(crate) const fn id(key: u32) -> u32 {
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
            // 27 bits of the number are kept.
            assert_eq!(kind.key(0xf234_5678), place << 27 | 0x0234_5678);
            assert_eq!(kind.id_of(kind.key(5)), Some(5));
        }
        assert_eq!(Kind::Wake.id_of(Kind::Arrival.key(5)), None);
        assert!(Kind::Wake.key(7) < Kind::Arrival.key(3));
        assert!(Kind::Arrival.key(9) < Kind::FlowTimer.key(0));
    }
}

//! The vocabulary of policies and the switch: what a policy is asked about a packet, what it may
//! answer, and what it may observe.

use crate::buffer::{Buffer, QueueId};
use spillway_engine::Time;

/// More bytes than any Ethernet packet has, jumbo frames included.
pub const LARGEST_PACKET: u32 = 16 << 10;

/// A packet that arrives, when it is decided about.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrival {
    /// Now.
    pub now: Time,
    /// The queue that it would join.
    pub queue: QueueId,
    /// The queue class of that queue.
    pub queue_class: u8,
    /// Bytes that it would take in the buffer.
    pub size: u32,
    /// Whether it was sent in its flow's first round trip.
    pub first_rtt: bool,
    /// Whether it carries no data: an ack, or a part of a handshake.
    pub is_control: bool,
    /// The number of the packet's connection, if the AQM [knows
    /// flows](crate::aqm::Aqm::knows_flows); else 0. A connection has the number of the flow that
    /// opened it.
    pub flow: u32,
    /// The position of the packet's first byte within its flow, if the AQM knows flows; else 0.
    pub seq: u64,
}

/// A packet that has waited and is about to be sent.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Now.
    pub now: Time,
    /// The queue that it leaves. `buffer` no longer counts the packet there. It still counts the
    /// packet's bytes if they are held until its transmission ends.
    pub queue: QueueId,
    /// The queue class of that queue.
    pub queue_class: u8,
    /// Bytes that it took in the buffer.
    pub size: u32,
    /// Whether it was sent in its flow's first round trip.
    pub first_rtt: bool,
    /// Whether it is ECN-capable.
    pub ect: bool,
    /// When it joined the queue.
    pub queued_at: Time,
}

impl Departure {
    /// How long it has waited in the queue.
    #[inline(always)]
    pub fn sojourn(&self) -> Time {
        self.now.since(self.queued_at)
    }
}

/// The decision about a packet at an AQM, or on its way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It passes unchanged.
    Pass,
    /// It is marked if it is ECN-capable, else it passes.
    Mark,
    /// It is marked if it is ECN-capable, else it is lost.
    MarkOrDrop,
    /// It is lost.
    Drop,
}

impl Verdict {
    /// The outcome: whether the packet is marked, or why it is lost.
    #[inline(always)]
    pub(crate) fn outcome(self, can_mark: bool, reason: DropReason) -> Result<bool, DropReason> {
        match self {
            Verdict::Pass => Ok(false),
            Verdict::Mark => Ok(can_mark),
            Verdict::MarkOrDrop if can_mark => Ok(true),
            Verdict::MarkOrDrop | Verdict::Drop => Err(reason),
        }
    }
}

/// A sharing policy's decision about an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It may join its queue, if it fits.
    Admit,
    /// It is lost.
    Drop(DropReason),
    /// This packet shall make room. The switch takes it out and asks the policy again. If the
    /// arrival is refused in the end, all victims return to their places, unless the policy
    /// `loses_victims`.
    PushOut(Victim),
}

impl Admission {
    /// Admits an arrival if it is within the policy's limits, and drops it otherwise.
    #[inline(always)]
    pub(crate) fn if_within(is_within: bool) -> Admission {
        if is_within { Admission::Admit } else { Admission::Drop(DropReason::OverThreshold) }
    }
}

/// A packet that makes room for an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The last packet of this queue.
    Tail(QueueId),
    /// The first packet of this queue.
    Head(QueueId),
    /// The packet of this queue whose flow had the most bytes left when the packet was sent, the
    /// last of several. If the arrival's flow had as many, the arrival is refused. Acks and other
    /// control packets have none left.
    Worst(QueueId),
}

/// Why a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum DropReason {
    /// The shared buffer had no room.
    BufferFull,
    /// Its queue, or its port's share, would have gone over the policy's limit.
    OverThreshold,
    /// It was pushed out for another packet.
    PushedOut,
    /// Its queue was at `queue_limit`.
    QueueLimit,
    /// Active queue management dropped it.
    Aqm,
    /// Its link was down.
    LinkDown,
    /// Its link lost it.
    LinkLoss,
    /// No route led to its destination.
    NoRoute,
    /// An oracle predicted that it would be lost.
    Predicted,
    /// It had waited for longer than the policy's limit.
    OverDelay,
    /// It was lossless, and the headroom for it was full.
    Headroom,
    /// It waited in a queue over the policy's limit.
    Expelled,
    /// It was unimportant, and its port was at the limit of such packets.
    Unimportant,
}

impl DropReason {
    /// All reasons, in order.
    pub const ALL: [DropReason; 13] = [
        DropReason::BufferFull,
        DropReason::OverThreshold,
        DropReason::PushedOut,
        DropReason::QueueLimit,
        DropReason::Aqm,
        DropReason::LinkDown,
        DropReason::LinkLoss,
        DropReason::NoRoute,
        DropReason::Predicted,
        DropReason::OverDelay,
        DropReason::Headroom,
        DropReason::Expelled,
        DropReason::Unimportant,
    ];

    /// The name of this reason in results.
    pub fn name(self) -> &'static str {
        match self {
            DropReason::BufferFull => "buffer_full",
            DropReason::OverThreshold => "over_threshold",
            DropReason::PushedOut => "pushed_out",
            DropReason::QueueLimit => "queue_limit",
            DropReason::Aqm => "aqm",
            DropReason::LinkDown => "link_down",
            DropReason::LinkLoss => "link_loss",
            DropReason::NoRoute => "no_route",
            DropReason::Predicted => "predicted",
            DropReason::OverDelay => "over_delay",
            DropReason::Headroom => "headroom",
            DropReason::Expelled => "expelled",
            DropReason::Unimportant => "unimportant",
        }
    }
}

/// What sharing policies and AQMs have in common: both may observe queues, and both may decide
/// about packets on their way out. The switch spends no time on what a policy does not ask for.
pub trait Watch {
    /// Whether it must see every packet join and leave its queue. If not, the switch calls neither
    /// `on_enqueue` nor `on_dequeue` for a packet that finds its port idle.
    fn watches_queues(&self) -> bool {
        false
    }

    /// Whether it must see them at least where pause frames may stop queues: a packet may pass a
    /// port that is idle because all that waits there is paused.
    fn watches_beside_paused(&self) -> bool {
        false
    }

    /// Whether packets of all switches must leave in order of time. Python plug-ins need this,
    /// since they may look at other switches. Otherwise the simulator may defer a packet's
    /// departure until just before something else happens at the packet's switch. The packet then
    /// leaves with the time at which it was due.
    fn watches_in_time(&self) -> bool {
        false
    }

    /// A packet has joined its queue (`buffer` counts it).
    #[inline(always)]
    fn on_enqueue(&mut self, _arrival: &Arrival, _buffer: &Buffer) {}

    /// A packet has left its queue to be sent (`buffer` no longer counts it).
    #[inline(always)]
    fn on_dequeue(&mut self, _now: Time, _queue: QueueId, _size: u32, _buffer: &Buffer) {}

    /// Bytes of a queue are about to be freed although no packet leaves the queue for its line.
    /// Either they belong to a packet that held them until its transmission ended, or to a packet
    /// that waited for a link that has failed.
    #[inline(always)]
    fn on_release(&mut self, _now: Time, _queue: QueueId, _buffer: &Buffer) {}

    /// A packet has been lost: an arrival for this queue, or a packet that was in it. An AQM is not
    /// told of a lossless packet that finds its headroom full: such a packet is lost before the AQM
    /// is asked about it.
    #[inline(always)]
    fn on_drop(&mut self, _now: Time, _queue: QueueId, _size: u32, _buffer: &Buffer) {}

    /// Whether it decides about packets on their way out.
    fn watches_departures(&self) -> bool {
        false
    }

    /// Whether what it decides about packets on their way out may be that they are lost.
    fn drops_departures(&self) -> bool {
        self.watches_departures()
    }

    /// Called when a packet is about to be sent, if `watches_departures`. The switch asks the AQM
    /// first, except about packets of ack queues. It then asks the sharing policy about every
    /// packet. If only the sharing policy or a trace watches departures, the switch calls this
    /// method of the AQM too. The default answer lets the packet pass.
    fn on_departure(&mut self, _departure: &Departure, _buffer: &Buffer) -> Verdict {
        Verdict::Pass
    }

    /// How often it wants to be woken, above 0; `None` for never.
    fn period(&self) -> Option<Time> {
        None
    }

    /// Another period has passed. The first one begins with the run.
    fn on_timer(&mut self, _now: Time, _buffer: &Buffer) {}
}

/// Implements `Watch` for an enum of policies by passing each call on to the policy.
macro_rules! watch_each {
    ($name:ident, $each:ident) => {
        impl crate::policy::Watch for $name {
            fn watches_queues(&self) -> bool {
                $each!(self, policy => policy.watches_queues())
            }
            fn watches_beside_paused(&self) -> bool {
                $each!(self, policy => policy.watches_beside_paused())
            }
            fn watches_in_time(&self) -> bool {
                $each!(self, policy => policy.watches_in_time())
            }
            #[inline(always)]
            fn on_enqueue(&mut self, arrival: &Arrival, buffer: &Buffer) {
                $each!(self, policy => policy.on_enqueue(arrival, buffer));
            }
            #[inline(always)]
            fn on_dequeue(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
                $each!(self, policy => policy.on_dequeue(now, queue, size, buffer));
            }
            fn on_release(&mut self, now: Time, queue: QueueId, buffer: &Buffer) {
                $each!(self, policy => policy.on_release(now, queue, buffer));
            }
            #[inline(always)]
            fn on_drop(&mut self, now: Time, queue: QueueId, size: u32, buffer: &Buffer) {
                $each!(self, policy => policy.on_drop(now, queue, size, buffer));
            }
            fn watches_departures(&self) -> bool {
                $each!(self, policy => policy.watches_departures())
            }
            fn drops_departures(&self) -> bool {
                $each!(self, policy => policy.drops_departures())
            }
            fn on_departure(
                &mut self,
                departure: &crate::policy::Departure,
                buffer: &Buffer,
            ) -> crate::policy::Verdict {
                $each!(self, policy => policy.on_departure(departure, buffer))
            }
            fn period(&self) -> Option<Time> {
                $each!(self, policy => policy.period())
            }
            fn on_timer(&mut self, now: Time, buffer: &Buffer) {
                $each!(self, policy => policy.on_timer(now, buffer));
            }
        }
    };
}
pub(crate) use watch_each;

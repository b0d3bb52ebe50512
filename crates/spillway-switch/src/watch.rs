//! What a policy sees of a switch beside the arrivals that it is asked about.

use crate::aqm::{Departure, Verdict};
use crate::buffer::{Buffer, QueueId};
use crate::sharing::Arrival;
use spillway_engine::Time;

/// Sharing policies and AQMs alike may watch queues, and may decide about packets on their way out.
/// What a policy does not ask for costs nothing.
pub trait Watch {
    /// Whether it must see every packet join and leave its queue. A packet that finds its port idle
    /// then takes the way through the queue too; otherwise it passes, and `on_enqueue` and
    /// `on_dequeue` do not hear of it.
    fn watches_queues(&self) -> bool {
        false
    }

    /// Whether it must see packets leave in order of time among all switches, as what is written in
    /// Python and may look around must. Otherwise a switch's packets may be sent late: before anything
    /// else happens at that switch, and each with its time.
    fn watches_in_time(&self) -> bool {
        false
    }

    /// A packet has joined its queue (`buffer` counts it).
    #[inline(always)]
    fn on_enqueue(&mut self, _arrival: &Arrival, _buffer: &Buffer) {}

    /// A packet has left its queue to be sent (`buffer` no longer counts it).
    #[inline(always)]
    fn on_dequeue(&mut self, _now: Time, _queue: QueueId, _size: u32, _buffer: &Buffer) {}

    /// Bytes of a queue are about to be given back though no packet leaves it for its line: those of
    /// one that was held until its transmission ended, or that waited for a cable that has failed.
    #[inline(always)]
    fn on_release(&mut self, _now: Time, _queue: QueueId, _buffer: &Buffer) {}

    /// A packet has been lost: an arrival, or one that was in this queue.
    #[inline(always)]
    fn on_drop(&mut self, _now: Time, _queue: QueueId, _size: u32, _buffer: &Buffer) {}

    /// Whether it wants to be asked about packets on their way out.
    fn watches_departures(&self) -> bool {
        false
    }

    /// Asked when a packet is about to be sent, if it wants to be. The AQM is asked first, and not
    /// about packets of ack queues; the sharing policy about all.
    fn on_departure(&mut self, _departure: &Departure, _buffer: &Buffer) -> Verdict {
        Verdict::Pass
    }

    /// How often it wants to be woken, above 0; `None` for never.
    fn period(&self) -> Option<Time> {
        None
    }

    /// Another period is over; the first begins with the run.
    fn on_timer(&mut self, _now: Time, _buffer: &Buffer) {}
}

/// An enum of policies watches as the policy that it is.
macro_rules! watch_each {
    ($name:ident, $each:ident) => {
        impl crate::watch::Watch for $name {
            fn watches_queues(&self) -> bool {
                $each!(self, policy => policy.watches_queues())
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
            fn on_departure(
                &mut self,
                departure: &crate::aqm::Departure,
                buffer: &Buffer,
            ) -> crate::aqm::Verdict {
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

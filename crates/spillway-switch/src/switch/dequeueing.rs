//! Packets on their way out: which queue of a port sends next, and which of its packets.

use super::{NO_QUEUE_CLASS, Switch};
use crate::aqm::{Aqm, Sending};
use crate::buffer::QueueId;
use crate::lists::Place;
use crate::packet::{Arena, PacketId};
use crate::scheduling::{Head, Scheduling};
use crate::sharing::Sharing;
use spillway_engine::Time;

/// How a switch takes packets out of its queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dequeueing {
    /// Each queue sends its packets in order.
    InOrder,
    /// As `InOrder`. The AQM must also be told of the queues' turns.
    InTurn,
    /// The scheduler chooses among the packets of a queue.
    ByChoice,
    /// Each queue sends its packets in order, unless it is paused.
    Pausable,
    /// As `Pausable`. The AQM must also be told of the queues' turns.
    PausableInTurn,
    /// In one of these ways, and unimportant packets are counted.
    Counted,
}

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// Takes out the packet that the port sends next. Returns `None` if there is no backlog, or if
    /// all of the backlog was dropped on the way out.
    #[inline(always)]
    pub fn dequeue(&mut self, now: Time, port: u32, packets: &mut Arena) -> Option<PacketId> {
        match self.dequeueing {
            Dequeueing::Counted => self.dequeue_counted(now, port, packets),
            dequeueing => self.dequeue_uncounted(dequeueing, now, port, packets),
        }
    }

    /// As `dequeue`, in one of the ways in which nothing is counted.
    #[inline(always)]
    pub(super) fn dequeue_uncounted(
        &mut self,
        dequeueing: Dequeueing,
        now: Time,
        port: u32,
        packets: &mut Arena,
    ) -> Option<PacketId> {
        match dequeueing {
            Dequeueing::InOrder => self.dequeue_and::<false, false, false>(now, port, packets),
            Dequeueing::InTurn => self.dequeue_in_turn(now, port, packets),
            Dequeueing::ByChoice => self.dequeue_by_choice(now, port, packets),
            Dequeueing::Pausable => self.dequeue_pausable(now, port, packets),
            Dequeueing::PausableInTurn => self.dequeue_pausable_in_turn(now, port, packets),
            Dequeueing::Counted => unreachable!("it is none of these ways"),
        }
    }

    /// As `dequeue`, if the AQM must be told of turns.
    #[inline(never)]
    fn dequeue_in_turn(&mut self, now: Time, port: u32, packets: &mut Arena) -> Option<PacketId> {
        self.dequeue_and::<true, false, false>(now, port, packets)
    }

    /// As `dequeue`, if the scheduler chooses among the packets of a queue.
    #[inline(never)]
    fn dequeue_by_choice(&mut self, now: Time, port: u32, packets: &mut Arena) -> Option<PacketId> {
        self.dequeue_and::<false, true, false>(now, port, packets)
    }

    /// As `dequeue`, if queues may be paused.
    #[inline(never)]
    fn dequeue_pausable(&mut self, now: Time, port: u32, packets: &mut Arena) -> Option<PacketId> {
        self.dequeue_and::<false, false, true>(now, port, packets)
    }

    /// As `dequeue`, if queues may be paused and the AQM must be told of turns.
    #[inline(never)]
    fn dequeue_pausable_in_turn(
        &mut self,
        now: Time,
        port: u32,
        packets: &mut Arena,
    ) -> Option<PacketId> {
        self.dequeue_and::<true, false, true>(now, port, packets)
    }

    /// Takes out of a queue the packet that the scheduler chooses. The queue must not be empty.
    #[inline(always)]
    fn take_chosen(&mut self, queue: QueueId, packets: &mut Arena) -> PacketId {
        let waiting = self.lists.waiting(queue, packets);
        let waiting = waiting.expect("the scheduler chooses among a queue's packets");
        let place = self.scheduling.choose(waiting);
        self.lists.take_at(queue, place, packets)
    }

    /// Takes out the next packet. With `CHOOSES`, the scheduler chooses it from its queue;
    /// otherwise it is the queue's first. With `TELLS`, the AQM is told of turns. With `PAUSES`,
    /// paused queues are passed over.
    #[inline(always)]
    fn dequeue_and<const TELLS: bool, const CHOOSES: bool, const PAUSES: bool>(
        &mut self,
        now: Time,
        port: u32,
        packets: &mut Arena,
    ) -> Option<PacketId> {
        // The queue class whose turn began last, if it has sent nothing yet.
        let mut begun = NO_QUEUE_CLASS;
        loop {
            let held = self.lists.backlog(port);
            let backlog = if PAUSES { held.but(self.paused(port)) } else { held };
            if backlog.is_empty() {
                return None;
            }
            let queue_class = match self.last_queue_class {
                0 => 0,
                _ => {
                    let head = |queue_class: u8| {
                        let id = self.lists.head(self.buffer.queue_of(port, queue_class));
                        Head { size: packets[id].size, queued_at: packets[id].time }
                    };
                    let turn = |queue_class| {
                        if TELLS {
                            if begun != NO_QUEUE_CLASS {
                                let queue = self.buffer.queue_of(port, begun);
                                let buffer = match &mut self.lossless {
                                    Some(lossless) if PAUSES => {
                                        lossless.with_lossy(port, &self.buffer)
                                    }
                                    _ => &self.buffer,
                                };
                                self.aqm.on_vain_turn(now, queue, buffer);
                            }
                            begun = queue_class;
                        }
                    };
                    self.scheduling.select(port, backlog, head, turn)
                }
            };
            let queue = self.buffer.queue_of(port, queue_class);
            let id = if CHOOSES {
                self.take_chosen(queue, packets)
            } else {
                self.lists.take_head(Place { queue, port, queue_class }, packets)
            };
            let size = packets[id].size - self.uncounted_bytes;
            if PAUSES && self.is_lossless(queue_class) {
                self.leaves_lossless(now, port, queue, id, packets);
            } else {
                self.leaves(now, port, queue, size);
                if self.watches_departures
                    && self.marks_or_drops_departure(now, queue, queue_class, id, packets)
                {
                    continue;
                }
            }
            let size = size + self.uncounted_bytes;
            if self.tells_scheduler {
                self.scheduling.on_send(port, queue_class, size);
            }
            if TELLS {
                let begins = begun != NO_QUEUE_CLASS;
                let buffer = match &mut self.lossless {
                    Some(lossless) if PAUSES => lossless.with_lossy(port, &self.buffer),
                    _ => &self.buffer,
                };
                self.aqm.on_send(&Sending { now, port, queue, size, begins }, buffer);
            }
            return Some(id);
        }
    }

    /// A port can send again. Returns the packet that it sends next, and whether `send_next` must
    /// be called when that packet has been sent. Returns `None` if there is no backlog, or if all
    /// of the backlog was dropped on the way out.
    #[inline(always)]
    pub fn send_next(
        &mut self,
        now: Time,
        port: u32,
        packets: &mut Arena,
    ) -> Option<(PacketId, bool)> {
        if self.releases_at_end() {
            self.on_sent(now, port);
        }
        let id = self.dequeue(now, port, packets)?;
        Some((id, self.releases_at_end() || self.has_backlog(port)))
    }

    /// A port has put the last byte of a packet on its line (only with `release_at_end`).
    pub fn on_sent(&mut self, now: Time, port: u32) {
        if let Some(in_transmission) = &mut self.in_transmission {
            let (queue, size) = std::mem::take(&mut in_transmission[port as usize]);
            if size > 0 && self.is_lossless_queue(queue) {
                self.frees_lossless(now, port, queue, size);
            } else if size > 0 {
                self.note_length(now, queue);
                self.sharing.on_release(now, queue, &self.buffer);
                self.change(now, |buffer| buffer.subtract_bytes(queue, size));
            }
        }
    }
}

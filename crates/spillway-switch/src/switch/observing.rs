//! Counts what becomes of the packets of each queue, for observers outside the run.
//!
//! Nothing is sampled. The switch notes a queue's bytes whenever they are about to change. A packet
//! that passes an idle port does not change them. Observing changes no result of a run, and may
//! begin at any time.

use super::Switch;
use crate::aqm::Aqm;
use crate::buffer::QueueId;
use crate::sharing::Sharing;
use spillway_engine::Time;
use std::ops::AddAssign;

/// What has become of a queue's packets since the observation began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounts {
    /// The bytes that the queue has held, times the picoseconds for which it has held them.
    pub byte_picoseconds: u128,
    /// Packets marked, on arrival or on their way out. Packets that passed without being queued
    /// count too.
    pub marked_packets: u64,
    /// Their bytes on the wire.
    pub marked_bytes: u64,
    /// Packets lost that were in the queue or would have joined it.
    pub dropped_packets: u64,
    /// Their bytes on the wire.
    pub dropped_bytes: u64,
}

impl AddAssign for QueueCounts {
    fn add_assign(&mut self, other: QueueCounts) {
        self.byte_picoseconds += other.byte_picoseconds;
        self.marked_packets += other.marked_packets;
        self.marked_bytes += other.marked_bytes;
        self.dropped_packets += other.dropped_packets;
        self.dropped_bytes += other.dropped_bytes;
    }
}

/// The counts of all queues of a switch.
#[derive(Clone, Debug)]
pub(super) struct Observer {
    counts: Box<[QueueCounts]>,
    /// For each queue, the time up to which its bytes have been counted.
    until: Box<[Time]>,
    /// For each caller of `observe_peaks`, the most bytes that each queue has held since that
    /// caller last asked.
    peaks: Vec<Box<[u32]>>,
}

impl Observer {
    fn new(now: Time, queues: usize) -> Observer {
        Observer {
            counts: vec![QueueCounts::default(); queues].into(),
            until: vec![now; queues].into(),
            peaks: Vec::new(),
        }
    }

    /// A queue has held this many bytes since the last call.
    pub fn held(&mut self, now: Time, queue: QueueId, bytes: u32) {
        let queue = queue as usize;
        let until = std::mem::replace(&mut self.until[queue], now);
        if now > until {
            let span = u128::from((now - until).ps());
            self.counts[queue].byte_picoseconds += u128::from(bytes) * span;
            for peaks in &mut self.peaks {
                peaks[queue] = peaks[queue].max(bytes);
            }
        }
    }

    /// A packet of this many bytes on the wire is marked.
    pub fn marks(&mut self, queue: QueueId, bytes: u32) {
        let counts = &mut self.counts[queue as usize];
        counts.marked_packets += 1;
        counts.marked_bytes += u64::from(bytes);
    }

    /// A packet of this many bytes on the wire is lost.
    pub fn drops(&mut self, queue: QueueId, bytes: u32) {
        let counts = &mut self.counts[queue as usize];
        counts.dropped_packets += 1;
        counts.dropped_bytes += u64::from(bytes);
    }
}

impl<S: Sharing, A: Aqm> Switch<S, A> {
    /// Begins to observe all queues, unless they are observed already. No departure that was due
    /// before `now` may still be deferred.
    pub fn observe(&mut self, now: Time) {
        if self.observer.is_none() {
            let observer = Observer::new(now, self.buffer.queues().len());
            self.observer = Some(Box::new(observer));
            self.trace_if_asked();
        }
    }

    /// Begins to observe the most bytes that queues hold. Returns the number that `take_peak`
    /// needs.
    pub fn observe_peaks(&mut self, now: Time) -> usize {
        self.observe(now);
        let queues = self.buffer.queues().len() as QueueId;
        (0..queues).for_each(|queue| self.note_held(now, queue));
        let Some(observer) = &mut self.observer else { return 0 };
        observer.peaks.push(vec![0; queues as usize].into());
        observer.peaks.len() - 1
    }

    /// The counts of an observed queue until `now`. No departure that was due before `now` may
    /// still be deferred.
    ///
    /// # Panics
    /// If the switch is not observed.
    pub fn queue_counts(&mut self, now: Time, queue: QueueId) -> QueueCounts {
        self.note_held(now, queue);
        let observer = self.observer.as_ref().expect("the switch is observed");
        observer.counts[queue as usize]
    }

    /// The most bytes that a queue has held since the last call with this number, or since the
    /// number was given. A length that lasted no time does not count, except the present one.
    ///
    /// # Panics
    /// If `observe_peaks` did not return this number.
    pub fn take_peak(&mut self, now: Time, number: usize, queue: QueueId) -> u32 {
        self.note_held(now, queue);
        let bytes = self.buffer_of(queue).bytes(queue);
        let observer = self.observer.as_mut().expect("the switch is observed");
        std::mem::take(&mut observer.peaks[number][queue as usize]).max(bytes)
    }

    /// Called when a queue's bytes may be about to change.
    #[cold]
    pub(super) fn note_held(&mut self, now: Time, queue: QueueId) {
        let bytes = self.buffer_of(queue).bytes(queue);
        if let Some(observer) = &mut self.observer {
            observer.held(now, queue, bytes);
        }
    }

    /// A packet of this many bytes in the buffer is marked.
    pub(super) fn note_mark(&mut self, queue: QueueId, size: u32) {
        self.aqm.on_mark(queue, size);
        if let Some(observer) = &mut self.observer {
            observer.marks(queue, size + self.uncounted_bytes);
        }
    }

    /// A packet of this many bytes in the buffer is lost.
    pub(super) fn note_drop(&mut self, queue: QueueId, size: u32) {
        if let Some(observer) = &mut self.observer {
            observer.drops(queue, size + self.uncounted_bytes);
        }
    }
}

//! Quasi-Pushout: as Longest Queue Drop, except that a register names the queue that loses. It
//! follows the queues that change, so no search for the longest one is needed.
//!
//! # Reference
//! Y.-S. Lin, C. B. Shung, "Quasi-Pushout Cell Discarding", IEEE Communications Letters
//! 1(5):146-148, 1997. <https://doi.org/10.1109/4234.625041>
//!
//! # Rule
//! The register names the *quasi-longest* queue, L. When a packet has joined or left a queue i: if
//! q_i > q_L, then L = i.
//!
//! While Q + s > B: L loses the packet at its tail. If L is the arrival's own queue, the arrival
//! itself is refused. B: `buffer.capacity()`, Q: `buffer.occupancy()`, s: `arrival.size`.
//!
//! # Departures from the paper
//! Only the letter's abstract was available, which does not state the rule. The rule is that of a
//! patent of its first author (US 6,393,027, its abstract and first claims). The patent pushes out
//! the packet at the head, and admits the arrival even if the queue is its own. Here the queue
//! loses its tail, as under LQD; with packets of one size, all lengths are the same. The patent
//! also claims to compare lengths only when packets join, or only when they leave.
//!
//! Packets have sizes: several small ones of L may be pushed out for a large one. Acks and other
//! control packets that have queues of their own are neither tested nor victims (`exempt_acks`),
//! as under LQD, but they too need room.
//!
//! # Scope and limitations
//! L need not be the longest queue: if L shrinks, a longer queue takes its place only when a packet
//! joins or leaves that queue. If L has no packet that could be pushed out, because the only one is
//! in transmission and its bytes are held (`release = "end"`), or because the last one has just
//! left and the arrival is larger, the arrival is refused as `buffer_full`.
//!
//! # In composition
//! What holds for [LQD](lqd.md) holds here. Beyond that, a queue that no packet joins or leaves is
//! not compared with L. So under strict priority a starved queue may be longer than L for long, and
//! keeps its room while L loses packets.
//!
//! # Validation
//! Makes the same decisions as a second, naive implementation on thousands of random arrivals
//! (`tests/naive_sharing.rs`). That one finds L in a list of all changes of lengths. While the
//! buffer never fills, flows are those of Complete Sharing (`tests/null.rs` of spillway-net).
//!
//! # Cost
//! A comparison for every packet that joins or leaves a queue, even at idle ports; no search.

use super::Sharing;
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::{Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, DropReason, LARGEST_PACKET, Victim, Watch};
use spillway_engine::Time;
use spillway_settings::{Section, SettingsError};

/// Which queues take part.
#[derive(Clone, Debug)]
pub struct QuasiPushoutParams {
    /// The queue class of acks, if these are neither tested nor victims.
    exempt: Option<u8>,
}

/// Pushes out the tail of the quasi-longest queue when the buffer is full.
#[derive(Clone, Debug)]
pub struct QuasiPushout {
    params: QuasiPushoutParams,
    /// L. It is never exempt.
    quasi_longest: QueueId,
}

impl Policy for QuasiPushout {
    const ID: &'static str = "quasi-pushout";
    const SUMMARY: &'static str =
        "Quasi-Pushout: a full buffer pushes out the tail of a queue that a register names";
    const CITATION: &'static str =
        "Lin, Shung: IEEE Communications Letters 1(5), 1997, doi:10.1109/4234.625041";
    const COST: Option<Cost> = Some(Cost {
        switch: State { more: "1 queue's number", ..State::NONE },
        others: &[("packet", State { more: "1 link to the one before", ..State::NONE })],
        // Whether the queue is longer than the one in the register.
        arrival: Operations { comparisons: 1, ..Operations::NONE },
        departure: Operations { comparisons: 1, ..Operations::NONE },
        // Whether the register names the arrival's own queue.
        at_times: &[("each packet pushed out", Operations { comparisons: 1, ..Operations::NONE })],
        needs: "a queue that can lose its last packet",
        ..Cost::NONE
    });

    type Params = QuasiPushoutParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<QuasiPushoutParams, SettingsError> {
        Ok(QuasiPushoutParams { exempt: environment.exempt_acks(section)? })
    }

    fn new(params: &QuasiPushoutParams, _environment: &Environment) -> Self {
        // The first queue that is not exempt.
        let quasi_longest = u32::from(params.exempt == Some(0));
        QuasiPushout { params: params.clone(), quasi_longest }
    }
}

impl QuasiPushout {
    /// A queue's length has changed: if q_i > q_L, then L = i.
    #[inline]
    fn compare(&mut self, queue: QueueId, buffer: &Buffer) {
        let is_longer = buffer.bytes(queue) > buffer.bytes(self.quasi_longest);
        if is_longer && self.params.exempt != Some(buffer.queue_class_of(queue)) {
            self.quasi_longest = queue;
        }
    }
}

impl Watch for QuasiPushout {
    fn watches_queues(&self) -> bool {
        true
    }

    fn on_enqueue(&mut self, arrival: &Arrival, buffer: &Buffer) {
        self.compare(arrival.queue, buffer);
    }

    fn on_dequeue(&mut self, _now: Time, queue: QueueId, _size: u32, buffer: &Buffer) {
        self.compare(queue, buffer);
    }
}

impl Sharing for QuasiPushout {
    fn pushes_out(&self) -> bool {
        true
    }

    #[inline]
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        let queue = self.quasi_longest;
        if u64::from(arrival.size) <= buffer.free() {
            Admission::Admit
        } else if queue == arrival.queue {
            Admission::Drop(DropReason::PushedOut)
        } else if buffer.packets(queue) > 0 {
            Admission::PushOut(Victim::Tail(queue))
        } else {
            Admission::Drop(DropReason::BufferFull)
        }
    }

    fn tests(&self, queue_class: u8) -> bool {
        self.params.exempt != Some(queue_class)
    }

    fn open_below(&self, capacity: u64) -> u64 {
        capacity.saturating_sub(LARGEST_PACKET.into())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::arrival;
    use super::*;

    /// Three ports share 10,000 bytes.
    struct Bench {
        policy: QuasiPushout,
        buffer: Buffer,
    }

    impl Bench {
        fn new(queues_per_port: u32) -> Bench {
            let environment = Environment { queues_per_port, ..Environment::example(3) };
            let policy = QuasiPushout::read(&mut Section::empty(), &environment).unwrap();
            Bench { policy, buffer: Buffer::new(10_000, environment.port_rates, queues_per_port) }
        }

        /// Packets of these bytes join a queue. Returns L.
        fn join(&mut self, queue: QueueId, sizes: &[u32]) -> QueueId {
            for &size in sizes {
                self.buffer.add(queue, size);
                self.policy.on_enqueue(&arrival(queue, size), &self.buffer);
            }
            self.policy.quasi_longest
        }

        fn leave(&mut self, queue: QueueId, size: u32) -> QueueId {
            self.buffer.subtract(queue, size);
            self.policy.on_dequeue(Time::ZERO, queue, size, &self.buffer);
            self.policy.quasi_longest
        }

        fn admit(&mut self, queue: QueueId, size: u32) -> Admission {
            self.policy.admit(&arrival(queue, size), &self.buffer)
        }
    }

    #[test]
    fn a_queue_that_changes_and_is_longer_becomes_the_quasi_longest() {
        let mut bench = Bench::new(1);
        assert_eq!(bench.join(1, &[2_000, 1_000]), 1);
        // 3,000 is not longer than 3,000; 3,001 is.
        assert_eq!(bench.join(2, &[1_000, 1_000, 1_000]), 1);
        assert_eq!(bench.join(2, &[1]), 2);
        // Queue 2 shrinks to 2,001. Queue 1 has 3,000, but is compared only when it changes.
        assert_eq!(bench.leave(2, 1_000), 2);
        // 2,000 is not longer than 2,001.
        assert_eq!(bench.leave(1, 1_000), 2);
        // 1,001 and 2,000; then 1,001 and 1,500, which is longer.
        assert_eq!(bench.leave(2, 1_000), 2);
        assert_eq!(bench.leave(1, 500), 1);
    }

    #[test]
    fn a_full_buffer_pushes_out_from_the_quasi_longest_queue_not_the_longest() {
        let mut bench = Bench::new(1);
        bench.join(1, &[1_500, 1_500, 1_900]);
        bench.join(0, &[1_275; 4]);
        // Queue 0 shrinks from 5,100 to 2,550, and queue 2 has as many: queue 1, with 4,900, is the
        // longest.
        bench.leave(0, 1_275);
        bench.leave(0, 1_275);
        bench.join(2, &[1_500, 1_050]);
        assert_eq!(bench.admit(2, 0), Admission::Admit);
        for (queue, expected) in [
            (0, Admission::Drop(DropReason::PushedOut)),
            (1, Admission::PushOut(Victim::Tail(0))),
            (2, Admission::PushOut(Victim::Tail(0))),
        ] {
            assert_eq!(bench.admit(queue, 1), expected, "{queue}");
        }
        // When queue 1 has sent a packet, it has 3,400, and 1,500 bytes are free.
        assert_eq!(bench.leave(1, 1_500), 1);
        assert_eq!(bench.admit(0, 1_500), Admission::Admit);
        assert_eq!(bench.admit(0, 1_501), Admission::PushOut(Victim::Tail(1)));
    }

    #[test]
    fn a_quasi_longest_queue_without_a_packet_loses_none() {
        // Its bytes are held until they have been sent.
        let mut bench = Bench::new(1);
        bench.join(0, &[6_000]);
        bench.join(1, &[2_000, 2_000]);
        bench.buffer.subtract_packet(0);
        assert_eq!(bench.admit(1, 1), Admission::Drop(DropReason::BufferFull));
    }

    #[test]
    fn queues_of_acks_are_no_victims() {
        // Queues 0, 2 and 4 are for acks. The register begins at queue 1, which is not.
        let mut bench = Bench::new(2);
        assert_eq!(bench.join(0, &[6_000]), 1);
        assert_eq!(bench.admit(2, 5_000), Admission::Drop(DropReason::BufferFull));
        assert_eq!(bench.join(3, &[4_000]), 3);
        assert_eq!(bench.leave(0, 1_000), 3);
        assert_eq!(bench.admit(2, 1_001), Admission::PushOut(Victim::Tail(3)));
        assert_eq!([0, 1].map(|class| bench.policy.tests(class)), [false, true]);
    }
}

//! Longest Queue Drop: admit every packet; when the buffer is full, the longest queue loses its
//! last packet.
//!
//! # Reference
//! W. Aiello, A. Kesselman, Y. Mansour, "Competitive buffer management for shared-memory
//! switches", ACM Transactions on Algorithms 5(1), 2008. <https://doi.org/10.1145/1435375.1435378>
//!
//! # Rule
//! While Q + s > B: the longest queue loses the packet at its tail. The arriving packet counts
//! towards its queue. If that queue is the longest, the arrival itself is refused. B:
//! `buffer.capacity()`, Q: `buffer.occupancy()`, s: `arrival.size`.
//!
//! If several queues are longest, `tie = "arriving-queue"` chooses the arrival's own if it is one
//! of them, so that no queue loses a packet to an equally long one; if it is not, it chooses the
//! one with the lowest number. `tie = "lowest-index"` chooses the lowest number in any case. A
//! queue's number is port * `queues_per_port` + queue class.
//!
//! # Departures from the paper
//! Packets have sizes: several small ones may be pushed out for a large one. If the arrival's own
//! queue becomes the longest meanwhile, the arrival is refused and no other queue loses anything.
//! Acks and other control packets that have queues of their own are neither tested nor victims
//! (`exempt_acks`), but they too need room. With `count_arrival = false` and `tie = "lowest-index"`
//! victims are chosen as in the LQD of inet-tub/ns3-datacenter, which evicts first and then adds,
//! even to the longest queue.
//!
//! # Scope and limitations
//! A packet whose transmission has started is no longer in its queue and cannot be pushed out. With
//! `release = "end"` its bytes still count towards its queue. If that queue is the longest and
//! holds nothing else, nothing can be pushed out of it. The arrival is then refused as
//! `buffer_full`, whatever the other queues hold (as `pushed_out` if the queue is the arrival's
//! own, and the longest with it).
//!
//! # In composition
//! Lengths are those of queues: a port whose data are spread over several queues loses less than
//! one that has as much in one queue. Starved queues are long, so under strict priority they make
//! room for urgent packets of all ports. AQMs decide about arrivals before the push-out; the mark
//! of a victim is lost with it. What is pushed out came last, and often nothing behind it shows the
//! loss: in `five`, with one queue for data, 5.4% of flows have a timeout where losses are counted,
//! and 0.4% with `rack` (studies/spillway_studies/five/paper.md).
//!
//! # Validation
//! Makes the same decisions as a second, naive implementation on thousands of random arrivals
//! (`tests/naive_sharing.rs`).
//!
//! # Cost
//! None while the buffer has room. Otherwise a scan of all queue lengths for every packet pushed
//! out, in vector instructions (docs/performance.md has the cost with 16, 64 and 512 queues).

use super::Sharing;
use super::victim::VictimRule;
use crate::buffer::Buffer;
use crate::catalogue::{Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, DropReason, LARGEST_PACKET, Victim, Watch};
use spillway_settings::{Section, SettingsError};

/// The rule for the queue that loses a packet.
#[derive(Clone, Debug)]
pub struct LongestQueueDropParams {
    /// How the longest queue is found.
    rule: VictimRule,
    /// The queue class of acks, if these are neither tested nor victims.
    exempt: Option<u8>,
}

/// Pushes out the tail of the longest queue when the buffer is full.
#[derive(Clone, Debug)]
pub struct LongestQueueDrop {
    params: LongestQueueDropParams,
}

impl Policy for LongestQueueDrop {
    const ID: &'static str = "lqd";
    const SUMMARY: &'static str =
        "Longest Queue Drop: a full buffer pushes out the tail of the longest queue";
    const CITATION: &'static str =
        "Aiello, Kesselman, Mansour: ACM Trans. Algorithms 5(1), 2008, doi:10.1145/1435375.1435378";
    const COST: Option<Cost> = Some(Cost {
        others: &[("packet", State { more: "1 link to the one before", ..State::NONE })],
        // The longest queue, and whether the arrival makes its own queue longer than it, or as
        // long.
        at_times: &[(
            "each packet pushed out",
            Operations { searches: 1, additions: 1, comparisons: 2, ..Operations::NONE },
        )],
        needs: "a queue that can lose its last packet",
        ..Cost::NONE
    });

    type Params = LongestQueueDropParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<LongestQueueDropParams, SettingsError> {
        let rule = VictimRule::read(section)?;
        Ok(LongestQueueDropParams { rule, exempt: environment.exempt_acks(section)? })
    }

    fn new(params: &LongestQueueDropParams, _environment: &Environment) -> Self {
        LongestQueueDrop { params: params.clone() }
    }
}

impl Watch for LongestQueueDrop {}

impl Sharing for LongestQueueDrop {
    fn pushes_out(&self) -> bool {
        true
    }
    #[inline]
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        if u64::from(arrival.size) <= buffer.free() {
            return Admission::Admit;
        }
        let LongestQueueDropParams { rule, exempt } = self.params;
        let lengths = buffer.queues();
        let (per_port, size) = (buffer.queues_per_port(), arrival.size);
        match rule.longest(lengths, per_port, exempt, arrival.queue, size) {
            Some(queue) if queue == arrival.queue && rule.count_arrival => {
                Admission::Drop(DropReason::PushedOut)
            }
            Some(queue) if buffer.packets(queue) > 0 => Admission::PushOut(Victim::Tail(queue)),
            _ => Admission::Drop(DropReason::BufferFull),
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
    use super::super::tests::{arrival, filled};
    use super::*;

    fn with(text: &str) -> LongestQueueDrop {
        let mut section = Section::new("sharing", text.parse().unwrap());
        LongestQueueDrop::read(&mut section, &Environment::example(3)).unwrap()
    }

    #[test]
    fn nothing_is_pushed_out_while_there_is_room() {
        // B = 1,000,000: 998,500 + 1,500 fits.
        let buffer = filled(&[998_500, 0, 0]);
        assert_eq!(with("").admit(&arrival(0, 1500), &buffer), Admission::Admit);
    }

    #[test]
    fn the_lowest_number_among_the_longest_loses_unless_the_arrivals_queue_is_one_of_them() {
        let buffer = filled(&[1_000, 499_500, 499_500]);
        let tail = |queue| Admission::PushOut(Victim::Tail(queue));
        assert_eq!(with("").admit(&arrival(0, 1500), &buffer), tail(1));
        let evict_first = "count_arrival = false";
        assert_eq!(with(evict_first).admit(&arrival(2, 1500), &buffer), tail(2));
        let lowest = "count_arrival = false\ntie = \"lowest-index\"";
        assert_eq!(with(lowest).admit(&arrival(2, 1500), &buffer), tail(1));
    }

    #[test]
    fn a_packet_in_transmission_cannot_be_pushed_out() {
        // Its bytes are held until it has been sent: queue 0 is the longest, but has no packet to
        // lose.
        let mut buffer = filled(&[600_000, 300_000, 99_000]);
        buffer.subtract_packet(0);
        let refused = Admission::Drop(DropReason::BufferFull);
        assert_eq!(with("").admit(&arrival(1, 1500), &buffer), refused);
        assert_eq!(with("count_arrival = false").admit(&arrival(0, 1500), &buffer), refused);
        let own = Admission::Drop(DropReason::PushedOut);
        assert_eq!(with("").admit(&arrival(0, 1500), &buffer), own);
    }

    #[test]
    fn the_longest_queue_makes_room_and_may_be_the_arrivals_own() {
        let buffer = filled(&[500_000, 498_000, 2_000]);
        assert_eq!(with("").admit(&arrival(2, 1500), &buffer), Admission::PushOut(Victim::Tail(0)));
        // 498,000 + 1,500 < 500,000 and 498,000 + 3,000 > 500,000.
        assert_eq!(with("").admit(&arrival(1, 1500), &buffer), Admission::PushOut(Victim::Tail(0)));
        let refused = Admission::Drop(DropReason::PushedOut);
        assert_eq!(with("").admit(&arrival(1, 3000), &buffer), refused);
        let evict_first = "count_arrival = false\ntie = \"lowest-index\"";
        assert_eq!(
            with(evict_first).admit(&arrival(0, 1500), &buffer),
            Admission::PushOut(Victim::Tail(0))
        );
    }
}

//! The one rule for the longest queue, whose packet makes room.
//!
//! The real LQD, the thresholds that follow a virtual LQD, and the labels of a learning trace must
//! choose the same victim, so all of them use this rule.

use crate::buffer::{Length, QueueId};
use spillway_settings::{Section, SettingsError};

/// How ties between longest queues are broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// The arriving packet's queue if it is among the longest, else the lowest number. So no packet
    /// is pushed out for one from an equally long queue.
    ArrivingQueue,
    /// The lowest number.
    LowestIndex,
}

/// The rule by which the longest queue is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VictimRule {
    /// Whether the arriving packet counts towards its queue.
    pub count_arrival: bool,
    /// Which queue is chosen among equals.
    pub tie: Tie,
}

impl VictimRule {
    /// Reads the rule's two keys.
    pub fn read(section: &mut Section) -> Result<VictimRule, SettingsError> {
        Ok(VictimRule {
            count_arrival: section.flag(
                "count_arrival",
                true,
                "whether the arriving packet counts towards its queue when the longest queue is \
                 determined",
            )?,
            tie: section.choice(
                "tie",
                &[("arriving-queue", Tie::ArrivingQueue), ("lowest-index", Tie::LowestIndex)],
                "which of several longest queues loses a packet",
            )?,
        })
    }

    /// The longest queue, given that a packet of `size` bytes arrives for `arriving`. Queues of
    /// queue class `exempt` are ignored. `None` if all others are empty (and the arrival is not
    /// counted).
    #[inline]
    pub fn longest(
        self,
        queues: &[Length],
        queues_per_port: u32,
        exempt: Option<u8>,
        arriving: QueueId,
        size: u32,
    ) -> Option<QueueId> {
        let is_exempt = |queue: QueueId| {
            exempt.is_some_and(|queue_class| queue % queues_per_port == u32::from(queue_class))
        };
        // Exempt queues hold acks and are seldom the longest, so it is faster to search all queues
        // first.
        let (mut longest, mut queue) = longest_of(queues);
        if let (Some(queue_class), true) = (exempt, is_exempt(queue)) {
            (longest, queue) =
                longest_but_queue_class(queues, queues_per_port as usize, queue_class.into());
        }
        let held = (!is_exempt(arriving)).then(|| queues[arriving as usize].bytes);
        self.settle((longest, || queue), arriving, held, size)
    }

    /// As `longest`, for callers that know the greatest length and can find the first queue that
    /// has it. `held` is the length of the arrival's queue, unless that queue is exempt.
    #[inline]
    pub fn settle(
        self,
        (longest, first): (u32, impl Fn() -> QueueId),
        arriving: QueueId,
        held: Option<u32>,
        size: u32,
    ) -> Option<QueueId> {
        if let Some(held) = held {
            let own = held + if self.count_arrival { size } else { 0 };
            let wins_tie = || match self.tie {
                Tie::ArrivingQueue => true,
                Tie::LowestIndex => arriving < first(),
            };
            if own > longest || (own == longest && wins_tie()) {
                return (own > 0).then_some(arriving);
            }
        }
        (longest > 0).then(first)
    }
}

/// The greatest length and the first queue that has it.
#[inline]
fn longest_of(queues: &[Length]) -> (u32, QueueId) {
    // Two passes, neither with a branch that depends on the lengths.
    let longest = queues.iter().map(|length| length.bytes).max().unwrap_or(0);
    let queue = queues.iter().position(|length| length.bytes == longest).unwrap_or(0);
    (longest, queue as QueueId)
}

fn longest_but_queue_class(
    queues: &[Length],
    queues_per_port: usize,
    queue_class: usize,
) -> (u32, QueueId) {
    let (mut longest, mut queue) = (0, 0);
    for (port, queues) in queues.chunks_exact(queues_per_port).enumerate() {
        for (i, length) in queues.iter().enumerate() {
            if length.bytes > longest && i != queue_class {
                (longest, queue) = (length.bytes, port * queues_per_port + i);
            }
        }
    }
    (longest, queue as QueueId)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(bytes: &[u32]) -> Vec<Length> {
        bytes.iter().map(|&bytes| Length { bytes, packets: 1 }).collect()
    }

    fn rule(count_arrival: bool, tie: Tie) -> VictimRule {
        VictimRule { count_arrival, tie }
    }

    #[test]
    fn the_arrival_can_make_its_own_queue_the_longest() {
        let queues = lengths(&[10, 20, 15]);
        let theory = rule(true, Tie::ArrivingQueue);
        assert_eq!(theory.longest(&queues, 1, None, 2, 4), Some(1)); // 15 + 4 < 20
        assert_eq!(theory.longest(&queues, 1, None, 2, 5), Some(2)); // 15 + 5 = 20: a tie
        assert_eq!(rule(true, Tie::LowestIndex).longest(&queues, 1, None, 2, 5), Some(1));
        assert_eq!(rule(false, Tie::ArrivingQueue).longest(&queues, 1, None, 2, 9), Some(1));
    }

    #[test]
    fn the_lowest_index_wins_a_tie_of_others() {
        let queues = lengths(&[5, 20, 20, 0]);
        for tie in [Tie::ArrivingQueue, Tie::LowestIndex] {
            assert_eq!(rule(true, tie).longest(&queues, 1, None, 3, 1), Some(1));
        }
        assert_eq!(rule(false, Tie::ArrivingQueue).longest(&queues, 1, None, 2, 1), Some(2));
    }

    #[test]
    fn exempt_queues_lose_nothing() {
        // Two ports of two queues; queue class 0 holds acks.
        let queues = lengths(&[90, 10, 80, 20]);
        let theory = rule(true, Tie::ArrivingQueue);
        assert_eq!(theory.longest(&queues, 2, Some(0), 0, 50), Some(3));
        assert_eq!(theory.longest(&queues, 2, Some(0), 1, 15), Some(1));
        assert_eq!(theory.longest(&lengths(&[90, 0, 80, 0]), 2, Some(0), 0, 50), None);
    }
}

//! The most packets that any policy could have sent with knowledge of all arrivals. Packets are
//! taken from the queue that would be empty last.
//!
//! # Reference
//! I. Bochkov, A. Davydow, N. Gaevoy, S. Nikolenko, "New competitiveness bounds for the shared
//! memory switch", arXiv:1907.04399, 2019, where this algorithm is called LateQD. The rule and the
//! argument here are our own.
//!
//! # Rule
//! Suppose that nothing were ever dropped. Then every departure from a queue can be attributed to
//! the packet that arrived last of those waiting, so that each packet takes a place in the buffer
//! from its arrival to that departure. A set of packets can be kept iff never more than B of these
//! intervals overlap. The largest such set is found from left to right: whenever there are more
//! than B intervals, the one that ends last is removed (Carlisle and Lloyd, 1995; Faigle and
//! Nawijn, 1995). It belongs to the queue that would be empty last.
//!
//! # Validation
//! It equals an exhaustive search on thousands of small instances (`tests/optimum.rs`), and a
//! linear program on medium ones (`tests/test_slotted.py` of the Python package).
//!
//! # Cost
//! O(P log B) for P packets.

use crate::Arrivals;
use std::collections::BTreeSet;

/// The most packets that can be sent out of a buffer of `buffer` packets, whatever the policy.
pub fn optimum(buffer: u64, arrivals: &Arrivals) -> u64 {
    let ends = departures(arrivals);
    let mut kept: BTreeSet<(u64, usize)> = BTreeSet::new();
    let mut lost = 0;
    for (slot, numbers) in (0..).zip(arrivals.slots()) {
        while kept.first().is_some_and(|&(end, _)| end < slot) {
            kept.pop_first();
        }
        for number in numbers {
            kept.insert((ends[number], number));
            if kept.len() as u64 > buffer {
                kept.pop_last();
                lost += 1;
            }
        }
    }
    arrivals.packets().len() as u64 - lost
}

/// For every packet, the slot in which it would leave if nothing were dropped and each queue sent
/// its latest packet first.
fn departures(arrivals: &Arrivals) -> Vec<u64> {
    let mut ends = vec![0; arrivals.packets().len()];
    let mut waiting = vec![Vec::new(); arrivals.ports() as usize];
    let mut last = 0;
    for (slot, numbers) in (0..).zip(arrivals.slots()) {
        for number in numbers {
            waiting[arrivals.packets()[number] as usize].push(number);
        }
        for stack in &mut waiting {
            if let Some(number) = stack.pop() {
                ends[number] = slot;
            }
        }
        last = slot + 1;
    }
    for stack in &mut waiting {
        for (slot, &number) in (last..).zip(stack.iter().rev()) {
            ends[number] = slot;
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_that_came_last_leaves_first() {
        // Queue 0 gets two packets in slot 0 and one in slot 1; queue 1 gets one in slot 1. Slot 0
        // sends packet 1, slot 1 packets 2 and 3, and slot 2 packet 0.
        let arrivals = Arrivals::of_slots(2, &[vec![0, 0], vec![0, 1]]);
        assert_eq!(departures(&arrivals), [2, 0, 1, 1]);
        // With room for two: one of slot 0's packets is left, two more arrive, and one does not
        // fit.
        assert_eq!([1, 2, 3].map(|buffer| optimum(buffer, &arrivals)), [2, 3, 4]);
    }
}

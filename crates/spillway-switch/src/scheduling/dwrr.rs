//! Deficit weighted round robin: queues share the line in proportion to their weights, in bytes.
//!
//! # Reference
//! M. Shreedhar, G. Varghese, "Efficient fair queuing using deficit round robin", IEEE/ACM
//! Transactions on Networking 4(3):375-385, 1996. <https://doi.org/10.1109/90.502236>
//!
//! # Rule
//! Queues are visited in turn. On a visit a queue's deficit grows by its quantum; it sends while
//! its deficit covers its first packet. A queue that is empty at its turn loses its deficit.
//!
//! # Departures from the paper
//! The paper keeps a list of active queues; here the turn goes round all queues of the port. With
//! so few, the order of service differs only after a queue was empty. The paper resets the deficit
//! as soon as a queue is empty. Here this happens when the port looks for its next packet, so a
//! queue that gets another packet while its last one is being sent keeps its deficit and its turn.
//!
//! # Scope and limitations
//! A packet that is dropped at its queue's head uses no deficit.
//!
//! # In composition
//! A tagger's levels are served in turn, which a run warns of. Lists of weights are written as
//! those of alpha (docs/scenario/switch.md): where data share the queue of acks, they have its
//! weight. A paused queue counts as empty, and loses its deficit. `mq-ecn` marks by the quanta.
//!
//! # Validation
//! Weights 2:1:1 give their shares within 1% (below, and end to end in `tests/analytic.rs` of
//! spillway-net).
//!
//! # Cost
//! Constant for every packet as long as the quanta are at least a packet; 8 bytes for every queue.

use super::{Head, Scheduling};
use crate::backlog::Backlog;
use crate::catalogue::{Environment, Policy};
use spillway_settings::{Range, Section, SettingsError};

/// Weights and quantum.
#[derive(Clone, Debug)]
pub struct DeficitRoundRobinParams {
    /// The weight of each queue class, from 0.001 to 1000. The last one holds for all further ones.
    weights: Vec<f64>,
    /// The bytes that a queue of weight 1 may send in a visit, above 0.
    quantum: u64,
}

/// Deficit weighted round robin.
#[derive(Clone, Debug)]
pub struct DeficitRoundRobin {
    /// By queue class. The last one holds for all further ones.
    quanta: Vec<u64>,
    deficits: Vec<u64>,
    /// For every port, the queue class that is being visited.
    visiting: Vec<u8>,
    queue_classes: usize,
}

impl Policy for DeficitRoundRobin {
    const ID: &'static str = "dwrr";
    const SUMMARY: &'static str = "deficit weighted round robin: bytes in proportion to weights";
    const CITATION: &'static str =
        "Shreedhar, Varghese: IEEE/ACM Trans. Networking 4(3), 1996, doi:10.1109/90.502236";

    type Params = DeficitRoundRobinParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<DeficitRoundRobinParams, SettingsError> {
        let meaning = "weight of each queue class, the last holding for all further ones";
        let range = Range::Within(0.001, 1000.0);
        let weights = environment.by_queue_class(section, "weights", 1.0, range, meaning)?;
        let meaning = "bytes that a queue of weight 1 may send in a visit";
        let quantum = section.positive_size("quantum", "1500B", meaning)?;
        Ok(DeficitRoundRobinParams { weights, quantum })
    }

    fn new(params: &DeficitRoundRobinParams, environment: &Environment) -> Self {
        let ports = environment.port_rates.len();
        let queue_classes = environment.queues_per_port as usize;
        let quantum = |weight: &f64| ((weight * params.quantum as f64) as u64).max(1);
        DeficitRoundRobin {
            quanta: params.weights.iter().map(quantum).collect(),
            deficits: vec![0; ports * queue_classes],
            visiting: vec![0; ports],
            queue_classes,
        }
    }
}

impl DeficitRoundRobin {
    fn quantum_of(&self, queue_class: u8) -> u64 {
        self.quanta[usize::from(queue_class).min(self.quanta.len() - 1)]
    }

    fn deficit(&mut self, port: u32, queue_class: u8) -> &mut u64 {
        &mut self.deficits[port as usize * self.queue_classes + usize::from(queue_class)]
    }
}

impl Scheduling for DeficitRoundRobin {
    #[inline]
    fn select(
        &mut self,
        port: u32,
        backlog: Backlog,
        head: impl Fn(u8) -> Head,
        mut turn: impl FnMut(u8),
    ) -> u8 {
        let mut queue_class = self.visiting[port as usize];
        loop {
            if !backlog.has(queue_class) {
                *self.deficit(port, queue_class) = 0;
            } else if *self.deficit(port, queue_class) >= u64::from(head(queue_class).size) {
                self.visiting[port as usize] = queue_class;
                return queue_class;
            }
            let next = queue_class + 1;
            queue_class = if usize::from(next) == self.queue_classes { 0 } else { next };
            if backlog.has(queue_class) {
                let quantum = self.quantum_of(queue_class);
                *self.deficit(port, queue_class) += quantum;
                turn(queue_class);
            }
        }
    }

    fn quantum(&self, queue_class: u8, _full_packet: u32) -> Option<u64> {
        Some(self.quantum_of(queue_class))
    }

    fn keeps_account(&self) -> bool {
        true
    }

    #[inline]
    fn on_send(&mut self, port: u32, queue_class: u8, size: u32) {
        let deficit = self.deficit(port, queue_class);
        *deficit = deficit.saturating_sub(u64::from(size));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{queues, serve, serve_in_turn};
    use super::*;

    fn dwrr(text: &str) -> DeficitRoundRobin {
        let environment = Environment { queues_per_port: 3, ..Environment::example(1) };
        let mut section = Section::new("scheduling", text.parse().unwrap());
        DeficitRoundRobin::read(&mut section, &environment).unwrap()
    }

    #[test]
    fn weights_two_one_one_share_two_one_one() {
        let mut policy = dwrr("weights = [2, 1, 1]");
        let served = serve(&mut policy, &mut queues(&[9000, 9000, 9000], 1500), 8000);
        let count = |queue_class| served.iter().filter(|&&c| c == queue_class).count();
        assert_eq!((count(0), count(1), count(2)), (4000, 2000, 2000));
    }

    #[test]
    fn shares_are_in_bytes_and_a_remainder_is_kept() {
        // With a quantum of 1500, packets of 1000: visits send 1 packet, then 2 (with 500 kept), in
        // turn.
        let mut policy = dwrr("");
        let served = serve(&mut policy, &mut queues(&[6, 6, 0], 1000), 12);
        assert_eq!(served, [1, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 0]);
    }

    #[test]
    fn a_queue_that_refills_while_its_last_packet_is_sent_keeps_deficit_and_turn() {
        // Quantum 1500: after sending 100, queue class 1 has a deficit of 1400 and is empty. It
        // gets its next packets in time.
        let mut policy = dwrr("");
        let mut waiting = queues(&[1, 1, 0], 100);
        assert_eq!(serve(&mut policy, &mut waiting, 1), [1]);
        waiting[1].extend(&queues(&[14], 100)[0]);
        assert_eq!(serve(&mut policy, &mut waiting, 15), [&[1; 14][..], &[0]].concat());
        // If the port finds it empty, deficit and turn are gone.
        let mut policy = dwrr("");
        assert_eq!(serve(&mut policy, &mut queues(&[2, 1, 0], 100), 2), [1, 0]);
        assert_eq!((policy.deficits[1], policy.visiting[0]), (0, 0));
    }

    #[test]
    fn turns_begin_with_a_quantum() {
        let mut policy = dwrr("weights = [2, 1]\nquantum = \"1500B\"");
        assert_eq!([0, 1, 2].map(|class| policy.quantum(class, 9000).unwrap()), [3000, 1500, 1500]);
        let served = serve_in_turn(&mut policy, &mut queues(&[3, 1, 1], 1500), 9);
        let expected = [(1, vec![1]), (2, vec![2]), (0, vec![0]), (0, vec![]), (0, vec![0])];
        assert_eq!(served, expected);
        // Packets of three quanta: the queues' turns come round until one has enough.
        let mut policy = dwrr("quantum = \"500B\"");
        let served = serve_in_turn(&mut policy, &mut queues(&[1, 1, 0], 1500), 9);
        assert_eq!(served, [(1, vec![1, 0, 1, 0, 1]), (0, vec![0])]);
    }

    #[test]
    fn an_empty_queue_saves_nothing_up() {
        let mut policy = dwrr("");
        serve(&mut policy, &mut queues(&[2, 1, 0], 100), 9);
        let served = serve(&mut policy, &mut queues(&[0, 16, 16], 1500), 32);
        assert_eq!(served.iter().filter(|&&queue_class| queue_class == 1).count(), 16);
        assert!(served.windows(2).all(|pair| pair[0] != pair[1]), "{served:?}");
    }
}

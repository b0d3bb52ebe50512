//! Round robin: the queues of a port take turns, packet by packet.
//!
//! # Rule
//! The turn moves to the next queue after every packet; empty queues are skipped at no cost.
//!
//! # In composition
//! A queue of small packets, as acks, gets fewer bytes than others. A tagger's levels are served in
//! turn, which a run warns of. A packet that is dropped at the head of its queue uses no turn, and
//! paused queues are passed over. `mq-ecn` needs turns as here, or as under [dwrr](dwrr.md).

use super::{Head, Scheduling};
use crate::backlog::Backlog;
use crate::catalogue::{Environment, Policy};
use spillway_settings::{Section, SettingsError};

/// One packet from each queue in turn.
#[derive(Clone, Debug)]
pub struct RoundRobin {
    /// For every port, the queue class whose turn is next.
    turn: Vec<u8>,
    queue_classes: u8,
}

impl Policy for RoundRobin {
    const ID: &'static str = "rr";
    const SUMMARY: &'static str = "round robin, packet by packet";
    const CITATION: &'static str = "";

    type Params = ();

    fn params(_section: &mut Section, _environment: &Environment) -> Result<(), SettingsError> {
        Ok(())
    }

    fn new(_params: &(), environment: &Environment) -> Self {
        let turn = vec![0; environment.port_rates.len()];
        RoundRobin { turn, queue_classes: environment.queues_per_port as u8 }
    }
}

impl Scheduling for RoundRobin {
    #[inline]
    fn select(
        &mut self,
        port: u32,
        backlog: Backlog,
        _head: impl Fn(u8) -> Head,
        mut turn: impl FnMut(u8),
    ) -> u8 {
        let queue_class = backlog.first_from(self.turn[port as usize]);
        turn(queue_class);
        queue_class
    }

    fn quantum(&self, _queue_class: u8, full_packet: u32) -> Option<u64> {
        Some(full_packet.into())
    }

    #[inline]
    fn on_send(&mut self, port: u32, queue_class: u8, _size: u32) {
        let next = queue_class + 1;
        self.turn[port as usize] = if next >= self.queue_classes { 0 } else { next };
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{queues, serve, serve_in_turn};
    use super::*;

    #[test]
    fn queues_take_turns_and_empty_ones_cost_nothing() {
        let environment = Environment { queues_per_port: 3, ..Environment::example(1) };
        let mut rr = RoundRobin::read(&mut Section::empty(), &environment).unwrap();
        assert_eq!(serve(&mut rr, &mut queues(&[3, 1, 2], 100), 9), [0, 1, 2, 0, 2, 0]);
        // Every packet has its turn, also the second of a queue that is alone.
        let served = serve_in_turn(&mut rr, &mut queues(&[3, 0, 1], 100), 9);
        assert_eq!(served, [2, 0, 0, 0].map(|queue_class| (queue_class, vec![queue_class])));
        assert_eq!((rr.quantum(0, 1500), rr.quantum(2, 9000)), (Some(1500), Some(9000)));
    }
}

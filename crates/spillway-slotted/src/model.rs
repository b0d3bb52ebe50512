//! The model itself: a policy, a buffer, arrivals.

use crate::Arrivals;
use spillway_engine::{Rate, Time};
use spillway_switch::scheduling::{Fifo, SchedulingPolicy};
use spillway_switch::sharing::{Admission, Arrival, Sharing, Victim};
use spillway_switch::{Buffer, DropReason, Environment, Service};
use std::collections::{BTreeMap, VecDeque};

/// Picoseconds of a slot: packets arrive in its first, and are sent in its second.
const SLOT: u64 = 2;

/// What became of a sequence of arrivals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Packets that were sent, or will be when nothing comes any more.
    pub transmitted: u64,
    /// For every packet whether it was lost.
    pub dropped: Vec<bool>,
    /// Packets lost, by reason.
    pub drops: BTreeMap<DropReason, u64>,
}

/// Where a policy finds itself in the slotted model: a packet is a byte, and a port sends one every
/// slot.
///
/// # Panics
/// If the buffer has no room at all.
pub fn environment(ports: u32, buffer: u64, seed: u64) -> Environment {
    assert!(buffer > 0, "a buffer of one packet at least");
    let rate = Rate::from_bits_per_second(8_000_000_000_000 / SLOT).expect("a byte every slot");
    Environment {
        seed,
        capacity: buffer,
        port_rates: vec![rate; ports as usize],
        base_rtt: Time::from_ps(SLOT),
        full_packet: 1,
        service: Service {
            scheduling: SchedulingPolicy::Fifo(Fifo),
            uncounted_bytes: 0,
            release_at_end: false,
            delay: Time::from_ps(SLOT / 2),
        },
        ..Environment::example(ports as usize)
    }
}

/// Runs a policy, made for [`environment`], over arrivals.
pub fn run(policy: &mut impl Sharing, buffer: u64, arrivals: &Arrivals) -> Outcome {
    run_observed(policy, buffer, arrivals, |_, _, _| {})
}

/// The same; after every arrival `observe` gets its number, the policy and the buffer.
pub fn run_observed<S: Sharing>(
    policy: &mut S,
    buffer: u64,
    arrivals: &Arrivals,
    mut observe: impl FnMut(usize, &S, &Buffer),
) -> Outcome {
    let rates = environment(arrivals.ports(), buffer, 0).port_rates;
    let mut model = Model {
        policy,
        buffer: Buffer::new(buffer, rates, 1),
        queues: vec![VecDeque::new(); arrivals.ports() as usize],
        outcome: Outcome { dropped: vec![false; arrivals.packets().len()], ..Outcome::default() },
    };
    let mut timer = model.policy.period();
    for (slot, numbers) in (0..).zip(arrivals.slots()) {
        let now = Time::from_ps(slot * SLOT);
        while let (Some(period), Some(due)) = (model.policy.period(), timer.filter(|&at| at <= now))
        {
            model.policy.on_timer(due, &model.buffer);
            timer = Some(due + period);
        }
        for number in numbers {
            model.arrive(now, number, arrivals.packets()[number]);
            observe(number, model.policy, &model.buffer);
        }
        model.depart(now + Time::from_ps(SLOT / 2));
    }
    let lost: u64 = model.outcome.drops.values().sum();
    model.outcome.transmitted = arrivals.packets().len() as u64 - lost;
    model.outcome
}

struct Model<'a, S> {
    policy: &'a mut S,
    buffer: Buffer,
    /// The numbers of the packets in every queue.
    queues: Vec<VecDeque<usize>>,
    outcome: Outcome,
}

impl<S: Sharing> Model<'_, S> {
    fn arrive(&mut self, now: Time, number: usize, port: u32) {
        let arrival = Arrival { now, queue: port, class: 0, size: 1, first_rtt: false };
        let mut evicted = Vec::new();
        let refused = loop {
            match self.policy.admit(&arrival, &self.buffer) {
                Admission::Admit if self.buffer.free() > 0 => break None,
                Admission::Admit => break Some(DropReason::BufferFull),
                Admission::Drop(reason) => break Some(reason),
                // Packets are all alike here: none is worse than the last.
                Admission::PushOut(Victim::Tail(queue) | Victim::Worst(queue)) => {
                    let tail = self.queues[queue as usize].pop_back();
                    evicted.push((queue, tail.expect("a push-out from a queue that holds some")));
                    self.buffer.subtract(queue, 1);
                }
            }
        };
        for (queue, victim) in evicted.into_iter().rev() {
            if refused.is_none() {
                self.lose(now, victim, queue, DropReason::PushedOut);
            } else {
                self.queues[queue as usize].push_back(victim);
                self.buffer.add(queue, 1);
            }
        }
        match refused {
            Some(reason) => self.lose(now, number, port, reason),
            None => {
                self.queues[port as usize].push_back(number);
                self.buffer.add(port, 1);
                self.policy.on_enqueue(&arrival, &self.buffer);
            }
        }
    }

    fn lose(&mut self, now: Time, number: usize, queue: u32, reason: DropReason) {
        self.outcome.dropped[number] = true;
        *self.outcome.drops.entry(reason).or_default() += 1;
        self.policy.on_drop(now, queue, 1, &self.buffer);
    }

    fn depart(&mut self, now: Time) {
        for (queue, packets) in (0..).zip(&mut self.queues) {
            if packets.pop_front().is_some() {
                self.buffer.subtract(queue, 1);
                self.policy.on_dequeue(now, queue, 1, &self.buffer);
            }
        }
    }
}

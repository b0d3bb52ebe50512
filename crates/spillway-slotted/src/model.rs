//! The slotted model: a policy, a buffer, arrivals.

use crate::Arrivals;
use spillway_engine::{Rate, Time};
use spillway_switch::policy::{Admission, Arrival, Departure, Verdict, Victim};
use spillway_switch::scheduling::{Fifo, SchedulingPolicy};
use spillway_switch::sharing::{Sharing, SharingPolicy, WithPolicy};
use spillway_switch::{Buffer, DropReason, Environment, Service};
use std::collections::{BTreeMap, VecDeque};

/// The picoseconds in a slot. Packets arrive in the first, and are sent in the second.
const SLOT: u64 = 2;

/// The result of a sequence of arrivals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Packets that were sent, including those sent after the last arrival.
    pub transmitted: u64,
    /// For every packet, whether it was lost.
    pub dropped: Vec<bool>,
    /// Packets lost, by reason.
    pub drops: BTreeMap<DropReason, u64>,
}

/// The environment of a policy in the slotted model: a packet is a byte, and a port sends one in
/// every slot.
///
/// # Panics
/// If the buffer has no room for a packet.
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
            slot: Some(Time::from_ps(SLOT)),
        },
        ..Environment::example(ports as usize)
    }
}

/// Runs a policy, made for [`environment`], over arrivals.
pub fn run<S: Sharing + ?Sized>(policy: &mut S, buffer: u64, arrivals: &Arrivals) -> Outcome {
    run_observed(policy, buffer, arrivals, |_, _, _| {})
}

/// As `run`, for a policy whose type is known only at run time.
pub fn run_policy(policy: &mut SharingPolicy, buffer: u64, arrivals: &Arrivals) -> Outcome {
    struct Run<'a>(u64, &'a Arrivals);
    impl WithPolicy for Run<'_> {
        type Output = Outcome;

        fn run<S: Sharing + ?Sized>(self, policy: &mut S) -> Outcome {
            run(policy, self.0, self.1)
        }
    }
    policy.with(Run(buffer, arrivals))
}

/// As `run`. After every arrival, `observe` gets the arrival's number, the policy and the buffer.
pub fn run_observed<S: Sharing + ?Sized>(
    policy: &mut S,
    buffer: u64,
    arrivals: &Arrivals,
    mut observe: impl FnMut(usize, &S, &Buffer),
) -> Outcome {
    let ports = arrivals.ports() as usize;
    let rates = environment(arrivals.ports(), buffer, 0).port_rates;
    let watched = if policy.watches_departures() { arrivals.packets().len() } else { 0 };
    let mut model = Model {
        policy,
        buffer: Buffer::new(buffer, rates, 1),
        queues: vec![VecDeque::new(); ports],
        busy: vec![0; ports.div_ceil(64)],
        evicted: Vec::new(),
        since: vec![Time::ZERO; watched],
        dropped: vec![false; arrivals.packets().len()],
        drops: [0; DropReason::ALL.len()],
    };
    let period = model.policy.period();
    let mut timer = period;
    let mut slots = arrivals.slots();
    for slot in 0.. {
        let numbers = match slots.next() {
            Some(numbers) => numbers,
            // Packets that still wait may be lost.
            None if watched > 0 && model.buffer.occupancy() > 0 => 0..0,
            None => break,
        };
        let now = Time::from_ps(slot * SLOT);
        while let (Some(period), Some(due)) = (period, timer.filter(|&at| at <= now)) {
            model.policy.on_timer(due, &model.buffer);
            timer = Some(due + period);
        }
        for number in numbers {
            model.arrive(now, number as u32, arrivals.packets()[number]);
            observe(number, model.policy, &model.buffer);
        }
        model.depart(now + Time::from_ps(SLOT / 2));
    }
    let counted = DropReason::ALL.into_iter().zip(model.drops);
    Outcome {
        transmitted: arrivals.packets().len() as u64 - model.drops.iter().sum::<u64>(),
        dropped: model.dropped,
        drops: counted.filter(|&(_, packets)| packets > 0).collect(),
    }
}

struct Model<'a, S: ?Sized> {
    policy: &'a mut S,
    buffer: Buffer,
    /// The numbers of the packets in every queue.
    queues: Vec<VecDeque<u32>>,
    /// One bit for every queue: whether it holds any packet.
    busy: Vec<u64>,
    /// Packets set aside for an arrival that is not yet decided about, and their queues.
    evicted: Vec<(u32, u32)>,
    /// When every packet arrived, for a policy that decides about departures.
    since: Vec<Time>,
    dropped: Vec<bool>,
    drops: [u64; DropReason::ALL.len()],
}

impl<S: Sharing + ?Sized> Model<'_, S> {
    #[inline]
    fn arrive(&mut self, now: Time, number: u32, port: u32) {
        let arrival = Arrival { now, queue: port, size: 1, ..Arrival::default() };
        match self.decide(&arrival) {
            Some(reason) => {
                if self.policy.loses_victims() {
                    self.lose_evicted(now);
                }
                self.restore();
                self.lose(now, number, port, reason);
            }
            None => {
                self.lose_evicted(now);
                self.enter(port, number);
                if let Some(since) = self.since.get_mut(number as usize) {
                    *since = now;
                }
                self.policy.on_enqueue(&arrival, &self.buffer);
            }
        }
    }

    /// Why an arrival is lost, if it is lost. Victims are set aside.
    #[inline]
    fn decide(&mut self, arrival: &Arrival) -> Option<DropReason> {
        loop {
            match self.policy.admit(arrival, &self.buffer) {
                Admission::Admit if self.buffer.free() > 0 => return None,
                Admission::Admit => return Some(DropReason::BufferFull),
                Admission::Drop(reason) => return Some(reason),
                // Packets are alike here, so no packet is worse than the last one.
                Admission::PushOut(Victim::Tail(queue) | Victim::Worst(queue)) => {
                    let tail = self.queues[queue as usize].pop_back();
                    self.evict(queue, tail);
                }
                Admission::PushOut(Victim::Head(queue)) => {
                    let head = self.queues[queue as usize].pop_front();
                    self.evict(queue, head);
                }
            }
        }
    }

    /// Sets a packet aside that has been taken out of a queue.
    fn evict(&mut self, queue: u32, packet: Option<u32>) {
        let victim = packet.expect("a push-out from a queue that holds some");
        self.leave(queue);
        self.evicted.push((queue, victim));
    }

    /// Loses the victims.
    fn lose_evicted(&mut self, now: Time) {
        while let Some((queue, victim)) = self.evicted.pop() {
            self.lose(now, victim, queue, DropReason::PushedOut);
        }
    }

    /// Puts the victims back that are left, since the arrival is refused.
    fn restore(&mut self) {
        while let Some((queue, victim)) = self.evicted.pop() {
            // Queues are in the order of numbers.
            let held = &mut self.queues[queue as usize];
            if held.front().is_some_and(|&first| first > victim) {
                held.push_front(victim);
            } else {
                held.push_back(victim);
            }
            self.note_entry(queue);
        }
    }

    fn enter(&mut self, queue: u32, number: u32) {
        self.queues[queue as usize].push_back(number);
        self.note_entry(queue);
    }

    fn note_entry(&mut self, queue: u32) {
        self.busy[queue as usize / 64] |= 1 << (queue % 64);
        self.buffer.add(queue, 1);
    }

    /// A packet has been taken out of a queue.
    fn leave(&mut self, queue: u32) {
        let is_empty = self.queues[queue as usize].is_empty();
        self.busy[queue as usize / 64] &= !(u64::from(is_empty) << (queue % 64));
        self.buffer.subtract(queue, 1);
    }

    fn lose(&mut self, now: Time, number: u32, queue: u32, reason: DropReason) {
        self.dropped[number as usize] = true;
        self.drops[reason as usize] += 1;
        self.policy.on_drop(now, queue, 1, &self.buffer);
    }

    fn depart(&mut self, now: Time) {
        for word in 0..self.busy.len() {
            let mut left = self.busy[word];
            while left != 0 {
                let queue = word as u32 * 64 + left.trailing_zeros();
                left &= left - 1;
                while let Some(number) = self.queues[queue as usize].pop_front() {
                    self.leave(queue);
                    self.policy.on_dequeue(now, queue, 1, &self.buffer);
                    if self.is_sent(now, queue, number) {
                        break;
                    }
                    self.lose(now, number, queue, DropReason::OverDelay);
                }
            }
        }
    }

    /// Whether a packet that has left its queue is sent.
    fn is_sent(&mut self, now: Time, queue: u32, number: u32) -> bool {
        let Some(&queued_at) = self.since.get(number as usize) else { return true };
        let departure = Departure {
            now,
            queue,
            queue_class: 0,
            size: 1,
            first_rtt: false,
            ect: false,
            queued_at,
        };
        self.policy.on_departure(&departure, &self.buffer) != Verdict::Drop
    }
}

//! An imagined Longest Queue Drop beside the real buffer: which packets LQD would hold by now, had
//! it seen the same arrivals.
//!
//! Its ports send as the real ones do: the same scheduling, at the same rate, without a pause while
//! anything waits. Nobody tells it when; it catches up with a port when it must know its queues.
//! Until then a queue can only be shorter than remembered, so a length is a bound from above: while
//! even the bounds leave room for an arrival only its own port is looked at.

use super::Arrival;
use super::victim::VictimRule;
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::{Environment, Service};
use crate::scheduling::{Head, Scheduling};
use spillway_engine::Time;
use std::collections::VecDeque;

/// A switch that LQD shares, without packets: their sizes are enough.
#[derive(Clone, Debug)]
pub(super) struct ShadowLqd {
    rule: VictimRule,
    exempt: Option<u8>,
    service: Service,
    /// The lengths that LQD's queues had when their ports were last looked at.
    buffer: Buffer,
    /// What waits in every queue: bytes, and when they came.
    waiting: Vec<VecDeque<(u32, Time)>>,
    /// When every port can send again.
    idle_at: Vec<Time>,
    /// Packets that wait at every port.
    backlog: Vec<u32>,
    /// With `release_at_end`, for every port the queue and bytes in transmission.
    in_transmission: Vec<(QueueId, u32)>,
    /// Packets set aside for an arrival that is not decided yet.
    evicted: Vec<(QueueId, u32, Time)>,
}

impl ShadowLqd {
    /// An empty one, beside an empty switch.
    pub fn new(rule: VictimRule, exempt: Option<u8>, environment: &Environment) -> ShadowLqd {
        let ports = environment.port_rates.len();
        let queues = ports * environment.queues_per_port as usize;
        let buffer = Buffer::new(
            environment.capacity,
            environment.port_rates.clone(),
            environment.queues_per_port,
        );
        ShadowLqd {
            rule,
            exempt,
            service: environment.service.clone(),
            buffer,
            waiting: vec![VecDeque::new(); queues],
            idle_at: vec![Time::ZERO; ports],
            backlog: vec![0; ports],
            in_transmission: vec![(0, 0); ports],
            evicted: Vec::new(),
        }
    }

    /// The bytes of LQD's queue, as of the last look at its port.
    pub fn bytes(&self, queue: QueueId) -> u32 {
        self.buffer.bytes(queue)
    }

    /// An arrival, as LQD would treat it. Its own port has been caught up with afterwards.
    pub fn on_arrival(&mut self, arrival: &Arrival) {
        let port = self.buffer.port_of(arrival.queue);
        self.catch_up(port, arrival.now);
        if self.make_room(arrival) {
            if self.backlog[port as usize] == 0 {
                let idle_at = &mut self.idle_at[port as usize];
                *idle_at = (*idle_at).max(arrival.now + self.service.delay);
            }
            self.backlog[port as usize] += 1;
            self.waiting[arrival.queue as usize].push_back((arrival.size, arrival.now));
            self.buffer.add(arrival.queue, arrival.size);
        }
    }

    /// Pushes out what must go for an arrival; false if it is refused.
    fn make_room(&mut self, arrival: &Arrival) -> bool {
        let size = u64::from(arrival.size);
        if size <= self.buffer.free() {
            return true;
        }
        (0..self.buffer.ports()).for_each(|port| self.catch_up(port, arrival.now));
        while size > self.buffer.free() {
            let victim = self.rule.longest(
                self.buffer.queues(),
                self.buffer.queues_per_port(),
                self.exempt,
                arrival.queue,
                arrival.size,
            );
            // The longest is the arrival's own, or has nothing left that could go.
            let is_own = victim == Some(arrival.queue) && self.rule.count_arrival;
            let tail = victim.filter(|_| !is_own).and_then(|queue| {
                self.waiting[queue as usize].pop_back().map(|(size, came)| (queue, size, came))
            });
            let Some((queue, size, came)) = tail else {
                self.restore();
                return false;
            };
            self.evicted.push((queue, size, came));
            self.buffer.subtract(queue, size);
            self.backlog[self.buffer.port_of(queue) as usize] -= 1;
        }
        self.evicted.clear();
        true
    }

    /// Nobody is pushed out for an arrival that is refused.
    fn restore(&mut self) {
        while let Some((queue, size, came)) = self.evicted.pop() {
            self.waiting[queue as usize].push_back((size, came));
            self.buffer.add(queue, size);
            self.backlog[self.buffer.port_of(queue) as usize] += 1;
        }
    }

    /// Removes what a port has begun to send by now.
    fn catch_up(&mut self, port: u32, now: Time) {
        let place = port as usize;
        while self.idle_at[place] <= now {
            self.end_transmission(port);
            if self.backlog[place] == 0 {
                return;
            }
            let first = self.buffer.queue_of(port, 0);
            let (waiting, uncounted_bytes) = (&self.waiting, self.service.uncounted_bytes);
            let head = |class: u8| {
                let head = waiting[(first + u32::from(class)) as usize].front();
                head.map(|&(size, queued_at)| Head { size: size + uncounted_bytes, queued_at })
            };
            let classes = self.buffer.queues_per_port() as u8;
            let class = match classes {
                1 => 0,
                _ => self.service.scheduling.select(port, classes, head),
            };
            let queue = self.buffer.queue_of(port, class);
            let (size, _) =
                self.waiting[queue as usize].pop_front().expect("what is selected has a head");
            self.backlog[place] -= 1;
            let on_the_wire = size + uncounted_bytes;
            self.service.scheduling.on_send(port, class, on_the_wire);
            self.buffer.subtract_packet(queue);
            if self.service.release_at_end {
                self.in_transmission[place] = (queue, size);
            } else {
                self.buffer.subtract_bytes(queue, size);
            }
            self.idle_at[place] += self.buffer.rate(port).time_of(on_the_wire.into());
        }
    }

    /// Gives back the bytes of a packet that has been sent, if they were held until now.
    fn end_transmission(&mut self, port: u32) {
        let (queue, size) = std::mem::take(&mut self.in_transmission[port as usize]);
        self.buffer.subtract_bytes(queue, size);
    }
}

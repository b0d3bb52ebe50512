//! A virtual Longest Queue Drop beside the real buffer: which packets LQD would hold by now if it
//! had seen the same arrivals.
//!
//! Its ports send as the real ones do: with the same scheduling, at the same rate, and without a
//! pause while any packet waits. They have no events. A port is brought up to date when the length
//! of one of its queues must be known. Until then its queues can only be shorter than recorded, so
//! the recorded lengths are upper bounds. While even these bounds leave room for an arrival, only
//! the arrival's own port is brought up to date. Otherwise all ports that could have sent something
//! by now are. Tournaments over the recorded times and lengths find these ports, and then the
//! longest queue.

use super::super::victim::VictimRule;
use super::tournament::Tournament;
use super::{Ledger, Truth};
use crate::buffer::{Buffer, QueueId};
use crate::catalogue::{Environment, Service};
use crate::policy::Arrival;
use crate::scheduling::{Head, Scheduling};
use spillway_engine::Time;
use std::collections::VecDeque;

/// A packet that would wait under LQD.
#[derive(Clone, Copy, Debug)]
struct Virtual<N> {
    size: u32,
    note: N,
    came: Time,
}

/// The last arrival.
#[derive(Clone, Copy, Debug)]
enum Last {
    /// It was refused, or there was none.
    Refused,
    /// It waits at the end of this queue.
    Waits(QueueId),
    /// It was sent at once. Until its port is looked at again, it counts in its queue.
    Passed(QueueId, u32),
}

/// A switch under LQD, without packets: their sizes are enough, and what is noted of them.
#[derive(Clone, Debug)]
pub struct ShadowSwitch<L: Ledger = Truth> {
    rule: VictimRule,
    exempt: Option<u8>,
    service: Service,
    /// How long a packet that finds its port idle waits before it is sent.
    delay: Time,
    /// Whether the scheduler need not be asked when a port has only one packet.
    is_stateless: bool,
    /// Whether a packet that finds its port idle is sent at once, and not only when its port is
    /// looked at again.
    lets_pass: bool,
    /// The lengths that LQD's queues had when their ports were last looked at.
    buffer: Buffer,
    /// The packets that wait in every queue.
    waiting: Vec<VecDeque<Virtual<L::Note>>>,
    /// The port of every queue. It is needed for every packet, and a division would take longer.
    ports: Vec<u32>,
    /// When each port can send again.
    idle_at: Vec<Time>,
    /// The bytes that each port has sent.
    sent: Vec<u64>,
    /// The number of packets that wait at each port.
    backlog: Vec<u32>,
    /// With `release_at_end`, for every port the queue and bytes in transmission.
    in_transmission: Vec<(QueueId, u32)>,
    /// Packets set aside for an arrival that is not yet decided about.
    evicted: Vec<(QueueId, Virtual<L::Note>)>,
    last: Last,
    ledger: L,
    /// When all ports were last brought up to date.
    caught_up_at: Time,
    /// Whether the buffer was full recently. Only then are the tournaments kept up to date.
    is_contended: bool,
    /// The ports that hold anything, by the time at which they can send again.
    due: Tournament,
    /// The queues that may lose packets, by their lengths; the longest has the least key.
    longest: Tournament,
}

impl<L: Ledger> ShadowSwitch<L> {
    /// An empty virtual switch, beside an empty switch.
    pub fn new(rule: VictimRule, exempt: Option<u8>, environment: &Environment) -> Self {
        let buffer = Buffer::new(
            environment.capacity,
            environment.port_rates.clone(),
            environment.queues_per_port,
        );
        ShadowSwitch::with(rule, exempt, environment.service.clone(), buffer)
    }

    /// A switch of the same kind. Both are empty.
    pub fn beside<M: Ledger>(&self) -> ShadowSwitch<M> {
        assert_eq!(self.buffer.occupancy(), 0, "it begins together with the other one");
        ShadowSwitch::with(self.rule, self.exempt, self.service.clone(), self.buffer.clone())
    }

    fn with(rule: VictimRule, exempt: Option<u8>, service: Service, buffer: Buffer) -> Self {
        let (ports, queues) = (buffer.ports() as usize, buffer.queues().len());
        ShadowSwitch {
            rule,
            exempt,
            delay: service.delay(),
            is_stateless: !service.scheduling.keeps_account(),
            lets_pass: L::LEARNS_EARLY
                && !service.scheduling.keeps_account()
                && !service.release_at_end
                && service.delay() == Time::ZERO,
            service,
            waiting: vec![VecDeque::new(); queues],
            ports: (0..queues as u32).map(|queue| buffer.port_of(queue)).collect(),
            buffer,
            idle_at: vec![Time::ZERO; ports],
            sent: vec![0; ports],
            backlog: vec![0; ports],
            in_transmission: vec![(0, 0); ports],
            evicted: Vec::new(),
            last: Last::Refused,
            ledger: L::default(),
            caught_up_at: Time::ZERO,
            is_contended: false,
            due: Tournament::new(ports),
            longest: Tournament::new(queues),
        }
    }

    /// The bytes in a queue under LQD, as of the last look at its port.
    pub fn bytes(&self, queue: QueueId) -> u32 {
        match self.last {
            Last::Passed(of, size) if of == queue => self.buffer.bytes(queue) + size,
            _ => self.buffer.bytes(queue),
        }
    }

    /// Brings a queue's port up to date.
    pub fn look_at(&mut self, now: Time, queue: QueueId) {
        let port = self.ports[queue as usize];
        self.catch_up(port, now);
        if let Last::Passed(of, size) = &mut self.last
            && self.ports[*of as usize] == port
        {
            *size = 0;
        }
    }

    /// Treats an arrival as LQD would, and returns the bytes of its queue afterwards, with its port
    /// brought up to date.
    #[inline]
    pub fn on_arrival(&mut self, arrival: &Arrival) -> u32 {
        let port = self.ports[arrival.queue as usize];
        if self.idle_at[port as usize] <= arrival.now {
            self.catch_up(port, arrival.now);
        }
        self.last = Last::Refused;
        if u64::from(arrival.size) > self.buffer.free() && !self.make_room(arrival) {
            self.ledger.learn(L::Note::default(), true);
            return self.bytes(arrival.queue);
        }
        let place = port as usize;
        if self.backlog[place] == 0 {
            if self.lets_pass && self.idle_at[place] <= arrival.now {
                return self.pass(port, arrival);
            }
            let begins = arrival.now + self.delay;
            if self.idle_at[place] < begins {
                self.idle_at[place] = begins;
            }
        }
        let (size, came) = (arrival.size, arrival.now);
        self.enter(port, arrival.queue, Virtual { size, note: L::Note::default(), came });
        self.last = Last::Waits(arrival.queue);
        // Setting the tournaments up again costs little beside the arrivals that fill half a
        // buffer.
        self.is_contended &= self.buffer.occupancy() > self.buffer.capacity() / 2;
        self.bytes(arrival.queue)
    }

    /// An arrival finds its port idle, and is sent at once. Returns the bytes of its queue with it.
    #[inline]
    fn pass(&mut self, port: u32, arrival: &Arrival) -> u32 {
        let &Arrival { now, queue, size, .. } = arrival;
        self.idle_at[port as usize] = now;
        self.last = Last::Passed(queue, size);
        self.send(port, queue - self.buffer.queue_of(port, 0), size, L::Note::default());
        size
    }

    #[inline]
    fn enter(&mut self, port: u32, queue: QueueId, packet: Virtual<L::Note>) {
        let backlog = &mut self.backlog[port as usize];
        if self.is_contended {
            if *backlog == 0 {
                self.due.fell(port);
            }
            self.longest.fell(queue);
        }
        *backlog += 1;
        self.waiting[queue as usize].push_back(packet);
        self.buffer.add(queue, packet.size);
    }

    /// Notes something of the packet that has just arrived.
    pub fn note(&mut self, note: L::Note) {
        let is_dropped = match self.last {
            Last::Waits(queue) => {
                if let Some(packet) = self.waiting[queue as usize].back_mut() {
                    packet.note = note;
                }
                return;
            }
            Last::Passed(..) => false,
            Last::Refused => true,
        };
        self.ledger.forget(L::Note::default(), is_dropped);
        self.ledger.learn(note, is_dropped);
    }

    /// What has become of packets so far.
    pub fn ledger(&self) -> &L {
        &self.ledger
    }

    /// The same, to take from it what has been learned.
    pub fn ledger_mut(&mut self) -> &mut L {
        &mut self.ledger
    }

    /// Pushes out packets to make room for an arrival; false if the arrival is refused.
    fn make_room(&mut self, arrival: &Arrival) -> bool {
        let size = u64::from(arrival.size);
        if !self.is_contended {
            self.is_contended = true;
            (0..self.backlog.len() as u32).for_each(|port| self.due.fell(port));
            (0..self.waiting.len() as QueueId).for_each(|queue| self.longest.fell(queue));
        }
        self.catch_up_with_all(arrival.now);
        while size > self.buffer.free() {
            let (longest, queue) = self.longest_queue();
            let held = (!self.is_exempt(arrival.queue)).then(|| self.bytes(arrival.queue));
            let victim = self.rule.settle((longest, || queue), arrival.queue, held, arrival.size);
            // The longest queue is the arrival's own, or has no packet that could be pushed out.
            let is_own = victim == Some(arrival.queue) && self.rule.count_arrival;
            let tail = victim.filter(|_| !is_own).and_then(|queue| {
                self.waiting[queue as usize].pop_back().map(|packet| (queue, packet))
            });
            let Some((queue, packet)) = tail else {
                self.restore();
                return false;
            };
            self.evicted.push((queue, packet));
            self.buffer.subtract(queue, packet.size);
            self.backlog[self.ports[queue as usize] as usize] -= 1;
        }
        let ledger = &mut self.ledger;
        self.evicted.drain(..).for_each(|(_, packet)| ledger.learn(packet.note, true));
        true
    }

    /// Puts the victims back, since the arrival is refused.
    fn restore(&mut self) {
        while let Some((queue, packet)) = self.evicted.pop() {
            self.enter(self.ports[queue as usize], queue, packet);
        }
    }

    fn is_exempt(&self, queue: QueueId) -> bool {
        self.exempt.is_some_and(|queue_class| self.buffer.queue_class_of(queue) == queue_class)
    }

    /// The greatest length, and the first queue that has it. All ports must be up to date.
    fn longest_queue(&mut self) -> (u32, QueueId) {
        let ShadowSwitch { longest, buffer, exempt, .. } = self;
        let found = longest.least(Tournament::NONE - 1, |queue| {
            let queue = queue as QueueId;
            if exempt.is_some_and(|queue_class| buffer.queue_class_of(queue) == queue_class) {
                Tournament::NONE
            } else {
                Tournament::NONE - u64::from(buffer.bytes(queue))
            }
        });
        found.map_or((0, 0), |(key, queue)| ((Tournament::NONE - key) as u32, queue))
    }

    /// Brings all ports up to date: removes the packets that they have begun to send by now.
    fn catch_up_with_all(&mut self, now: Time) {
        // Packets that arrived at that same moment still wait for their delay, if there is one.
        if self.caught_up_at == now && self.delay > Time::ZERO {
            return;
        }
        self.caught_up_at = now;
        loop {
            let ShadowSwitch { due, idle_at, backlog, in_transmission, .. } = self;
            let due = due.least(now.ps(), |port| {
                if backlog[port] > 0 || in_transmission[port].1 > 0 {
                    idle_at[port].ps()
                } else {
                    Tournament::NONE
                }
            });
            let Some((_, port)) = due else { return };
            self.catch_up(port, now);
        }
    }

    /// Brings a port up to date: removes the packets that it has begun to send by now.
    fn catch_up(&mut self, port: u32, now: Time) {
        let place = port as usize;
        while self.idle_at[place] <= now {
            if self.service.release_at_end {
                self.end_transmission(port);
            }
            if self.backlog[place] == 0 {
                return;
            }
            let first = self.buffer.queue_of(port, 0);
            let (waiting, uncounted_bytes) = (&self.waiting, self.service.uncounted_bytes);
            let queue_of = |queue_class: u8| &waiting[(first + u32::from(queue_class)) as usize];
            let head = |queue_class: u8| {
                let packet = queue_of(queue_class)[0];
                Head { size: packet.size + uncounted_bytes, queued_at: packet.came }
            };
            let mut holding =
                (0..self.buffer.queues_per_port() as u8).filter(|&of| !queue_of(of).is_empty());
            let queue_class = match self.buffer.queues_per_port() {
                1 => 0,
                // With a single packet there is no choice.
                _ if self.backlog[place] == 1 && self.is_stateless => holding.next().unwrap_or(0),
                _ => self.service.scheduling.select(port, holding.collect(), head, |_| ()),
            };
            let queue = first + u32::from(queue_class);
            let head = self.waiting[queue as usize].pop_front();
            let Virtual { size, note, .. } = head.expect("what is selected has a head");
            self.backlog[place] -= 1;
            self.buffer.subtract_packet(queue);
            if self.service.release_at_end {
                self.in_transmission[place] = (queue, size);
            } else {
                self.buffer.subtract_bytes(queue, size);
            }
            self.send(port, queue_class.into(), size, note);
        }
    }

    /// A port begins to send a packet of this queue class.
    #[inline]
    fn send(&mut self, port: u32, queue_class: u32, size: u32, note: L::Note) {
        let place = port as usize;
        self.ledger.learn(note, false);
        let on_the_wire = size + self.service.uncounted_bytes;
        self.service.scheduling.on_send(port, queue_class as u8, on_the_wire);
        let byte_time = self.buffer.rate(port).byte_time();
        let on_the_wire = u64::from(on_the_wire);
        self.idle_at[place] += byte_time.time_behind(self.sent[place], on_the_wire);
        self.sent[place] += on_the_wire;
    }

    /// Frees the bytes of a packet that has been sent, if they were held until now.
    fn end_transmission(&mut self, port: u32) {
        let (queue, size) = std::mem::take(&mut self.in_transmission[port as usize]);
        self.buffer.subtract_bytes(queue, size);
    }
}

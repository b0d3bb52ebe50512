//! Which queue of a port sends next, and which of its packets: one file for each discipline.

mod dwrr;
mod fifo;
mod pfabric;
mod round_robin;
mod strict;

pub use pfabric::next_to_send;

use crate::backlog::Backlog;
use crate::catalogue::{Policy, catalogue};
use crate::extension::{ByPointer, SchedulingExtension};
use crate::packet::{Arena, PacketId, flags};
use crate::waiting_list::WaitingList;
use spillway_engine::Time;

/// The first packet of a queue.
#[derive(Clone, Copy, Debug)]
pub struct Head {
    /// Bytes on the wire.
    pub size: u32,
    /// When it was queued.
    pub queued_at: Time,
}

/// A packet that waits, as a scheduler that chooses among the packets of a queue sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waiting {
    /// The packet.
    pub id: PacketId,
    /// Its flow.
    pub flow: u32,
    /// Bytes that its flow had left when it was sent; 0 for acks and other control packets.
    pub remaining: u32,
}

impl Waiting {
    /// A packet of the arena.
    #[inline(always)]
    pub fn of(id: PacketId, packets: &Arena) -> Waiting {
        let contents = packets.contents(id);
        let is_control = packets[id].flags & flags::CONTROL != 0;
        let remaining = if is_control { 0 } else { contents.remaining };
        Waiting { id, flow: contents.flow, remaining }
    }
}

/// What scenarios call something.
pub trait Named {
    /// The name by which they choose it.
    fn id(&self) -> &str;
}

impl<P: Policy> Named for P {
    fn id(&self) -> &str {
        P::ID
    }
}

/// A service discipline for the queues of every port of a switch.
pub trait Scheduling: Named {
    /// The queue class that sends next, out of `backlog`, which is not empty. `head` gives the
    /// first packet of a queue class of the backlog. A scheduler that serves queues in turn calls
    /// `turn` with each queue class whose turn begins, in order.
    fn select(
        &mut self,
        port: u32,
        backlog: Backlog,
        head: impl Fn(u8) -> Head,
        turn: impl FnMut(u8),
    ) -> u8
    where
        Self: Sized;

    /// Whether packets of the lowest queue class always go first, whatever has been sent.
    fn is_strict(&self) -> bool {
        false
    }

    /// Whether it chooses among the packets of a queue. Otherwise a queue sends them in the order
    /// in which they came.
    fn chooses_packets(&self) -> bool {
        false
    }

    /// The place of the packet that a queue sends, if the scheduler chooses among a queue's packets.
    /// At least one waits.
    fn choose(&self, _waiting: &WaitingList) -> usize {
        0
    }

    /// The bytes that a queue may send in a turn. `full_packet` is the size of a full packet.
    /// `None` if queues are not served in turn.
    fn quantum(&self, _queue_class: u8, _full_packet: u32) -> Option<u64> {
        None
    }

    /// Whether it keeps an account for every queue and resets the account when the queue is empty.
    /// Such a scheduler must see every packet: it treats a packet that joins an empty queue and is
    /// sent at once differently from one that passes.
    fn keeps_account(&self) -> bool {
        false
    }

    /// Whether it must be asked in order of time among all switches.
    fn watches_in_time(&self) -> bool {
        false
    }

    /// Whether it must be told of every packet that is sent. If not,
    /// [`on_send`](Scheduling::on_send) is not called.
    fn watches_sending(&self) -> bool {
        true
    }

    /// A packet of this queue class with `size` bytes on the wire is sent. Not called for a packet
    /// dropped at the head.
    #[inline(always)]
    fn on_send(&mut self, _port: u32, _queue_class: u8, _size: u32) {}
}

/// The place of the packet that is dropped first: the one whose flow had the most bytes left; of
/// equal ones, the last that came. `None` if that is the arrival.
#[inline]
pub fn worst_of(waiting: &WaitingList, arrival: Waiting) -> Option<usize> {
    let most = waiting.most_remaining();
    (most > arrival.remaining).then(|| waiting.last_with(most))
}

catalogue! {
    /// The scheduler of a switch's ports.
    SchedulingPolicy of SchedulingParams by each, open to SchedulingExtension {
        fifo::Fifo,
        strict::StrictPriority,
        round_robin::RoundRobin,
        dwrr::DeficitRoundRobin,
        pfabric::PFabric,
    }
}

impl Named for SchedulingPolicy {
    fn id(&self) -> &str {
        each!(self, policy => policy.id())
    }
}

impl Scheduling for SchedulingPolicy {
    #[inline(always)]
    fn select(
        &mut self,
        port: u32,
        backlog: Backlog,
        head: impl Fn(u8) -> Head,
        turn: impl FnMut(u8),
    ) -> u8 {
        each!(self, policy => policy.select(port, backlog, head, turn))
    }
    fn is_strict(&self) -> bool {
        each!(self, policy => policy.is_strict())
    }
    fn chooses_packets(&self) -> bool {
        each!(self, policy => policy.chooses_packets())
    }
    fn choose(&self, waiting: &WaitingList) -> usize {
        each!(self, policy => policy.choose(waiting))
    }
    fn quantum(&self, queue_class: u8, full_packet: u32) -> Option<u64> {
        each!(self, policy => policy.quantum(queue_class, full_packet))
    }
    fn keeps_account(&self) -> bool {
        each!(self, policy => policy.keeps_account())
    }
    fn watches_in_time(&self) -> bool {
        each!(self, policy => policy.watches_in_time())
    }
    fn watches_sending(&self) -> bool {
        each!(self, policy => policy.watches_sending())
    }
    #[inline(always)]
    fn on_send(&mut self, port: u32, queue_class: u8, size: u32) {
        each!(self, policy => policy.on_send(port, queue_class, size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Environment;
    use spillway_settings::Section;
    use std::collections::VecDeque;

    /// Serves a port's queues until they are empty (or `n` times) and returns the queue classes
    /// served.
    pub(super) fn serve(
        policy: &mut impl Scheduling,
        queues: &mut [VecDeque<Head>],
        n: usize,
    ) -> Vec<u8> {
        serve_in_turn(policy, queues, n).into_iter().map(|(queue_class, _)| queue_class).collect()
    }

    /// As `serve`, with the turns that begin before each packet.
    pub(super) fn serve_in_turn(
        policy: &mut impl Scheduling,
        queues: &mut [VecDeque<Head>],
        n: usize,
    ) -> Vec<(u8, Vec<u8>)> {
        let mut served = Vec::new();
        while served.len() < n && queues.iter().any(|queue| !queue.is_empty()) {
            let head = |queue_class: u8| queues[usize::from(queue_class)][0];
            let mut turns = Vec::new();
            let turn = |queue_class| turns.push(queue_class);
            let holds = |&queue_class: &u8| !queues[usize::from(queue_class)].is_empty();
            let backlog = (0..queues.len() as u8).filter(holds).collect();
            let queue_class = policy.select(0, backlog, head, turn);
            let packet =
                queues[usize::from(queue_class)].pop_front().expect("a queue with a packet");
            policy.on_send(0, queue_class, packet.size);
            served.push((queue_class, turns));
        }
        served
    }

    /// Queues with these numbers of packets, all of one size, queued one after the other, queue
    /// by queue.
    pub(super) fn queues(packets: &[usize], size: u32) -> Vec<VecDeque<Head>> {
        let mut clock = 0;
        let mut queue = |n: usize| {
            let head = |_| {
                clock += 1;
                Head { size, queued_at: Time::from_ps(clock) }
            };
            (0..n).map(head).collect()
        };
        packets.iter().map(|&n| queue(n)).collect()
    }

    /// Serves the last queue class first, and is told what each policy may be told.
    #[derive(Clone, Debug, Default)]
    struct LastFirst(Vec<(u8, u32)>);

    impl Named for LastFirst {
        fn id(&self) -> &str {
            "last-first"
        }
    }

    impl Scheduling for LastFirst {
        fn select(
            &mut self,
            _port: u32,
            backlog: Backlog,
            head: impl Fn(u8) -> Head,
            mut turn: impl FnMut(u8),
        ) -> u8 {
            let last = backlog.iter().last().expect("a queue with a packet");
            assert_eq!(head(last).size, 100);
            turn(last);
            last
        }

        fn chooses_packets(&self) -> bool {
            true
        }

        fn choose(&self, waiting: &WaitingList) -> usize {
            waiting.len() - 1
        }

        fn quantum(&self, queue_class: u8, full_packet: u32) -> Option<u64> {
            Some(u64::from(full_packet) + u64::from(queue_class))
        }

        fn keeps_account(&self) -> bool {
            true
        }

        fn watches_in_time(&self) -> bool {
            true
        }

        fn watches_sending(&self) -> bool {
            !self.0.is_empty()
        }

        fn on_send(&mut self, _port: u32, queue_class: u8, size: u32) {
            self.0.push((queue_class, size));
        }
    }

    #[test]
    fn a_scheduler_from_outside_is_asked_and_told_as_those_within() {
        let mut policy = SchedulingPolicy::Extension(Box::new(LastFirst::default()));
        assert_eq!(policy.id(), "last-first");
        assert!(policy.keeps_account() && policy.watches_in_time() && policy.chooses_packets());
        assert!(!policy.is_strict() && !policy.watches_sending());
        assert_eq!(policy.quantum(2, 1500), Some(1502));
        let waiting = [3, 1, 2].map(|id| Waiting { id, flow: id, remaining: 0 });
        assert_eq!(policy.choose(&waiting.into_iter().collect()), 2);
        let mut copy = policy.clone();
        let served = serve_in_turn(&mut policy, &mut queues(&[2, 0, 1], 100), 9);
        assert_eq!(served, [2, 0, 0].map(|queue_class| (queue_class, vec![queue_class])));
        let told = |policy: &SchedulingPolicy| format!("{policy:?}");
        assert_eq!(told(&policy), "Extension(LastFirst([(2, 100), (0, 100), (0, 100)]))");
        // A copy has heard nothing of it.
        assert_eq!(told(&copy), "Extension(LastFirst([]))");
        assert_eq!(serve(&mut copy, &mut queues(&[1, 1, 0], 100), 1), [1]);
        assert!(copy.watches_sending());
    }

    #[test]
    fn those_within_serve_the_same_behind_a_pointer() {
        let environment = Environment { queues_per_port: 3, ..Environment::example(1) };
        for id in SchedulingPolicy::IDS {
            let read = || SchedulingPolicy::read(id, &mut Section::empty(), &environment).unwrap();
            let mut behind = SchedulingPolicy::Extension(Box::new(read()));
            let packets = || queues(&[7, 2, 5], 700);
            let served = serve_in_turn(&mut read(), &mut packets(), 14);
            assert_eq!(serve_in_turn(&mut behind, &mut packets(), 14), served, "{id}");
            assert_eq!((served.len(), behind.id()), (14, *id));
        }
    }
}

//! A second implementation of go-back-N and IRN, packet by packet, for both ends.

use super::lossy::{Network, STEP, arrival_step, fates};
use super::*;
use crate::receiver::AckFields;
use crate::tests::{access, closed_loop};
use proptest::prelude::*;

const SMSS: u64 = 1_000;

/// What a receiver answers: the packet that it asks for, and the one that came too early if it is a
/// NACK.
type Answer = (usize, Option<usize>);

/// The two ways.
#[derive(Clone, Copy, Debug)]
enum Way {
    GoBackN { interval: Time, answers_old: bool, rto: Time },
    Irn { most: u64, low: Time, high: Time, few: usize, all: bool },
}

struct Receiver {
    way: Way,
    has: Vec<bool>,
    nacks: Vec<(usize, Time)>,
}

impl Receiver {
    fn expected(&self) -> usize {
        self.has.iter().position(|has| !has).unwrap_or(self.has.len())
    }

    fn on_packet(&mut self, now: Time, packet: usize) -> Option<Answer> {
        let expected = self.expected();
        match self.way {
            Way::GoBackN { .. } if packet == expected => self.has[packet] = true,
            Way::GoBackN { answers_old, .. } if packet < expected => {
                return answers_old.then_some((expected, None));
            }
            Way::GoBackN { interval, .. } => {
                let last = self.nacks.last();
                if last.is_some_and(|&(nacked, at)| nacked == expected && now < at + interval) {
                    return None;
                }
                self.nacks.push((expected, now));
                return Some((expected, Some(packet)));
            }
            Way::Irn { .. } => self.has[packet] = true,
        }
        let expected = self.expected();
        Some((expected, (packet > expected).then_some(packet)))
    }
}

struct Naive {
    way: Way,
    /// The end of each packet, in bytes.
    ends: Vec<u64>,
    acknowledged: usize,
    /// The next packet; where a sender goes back, it may have been sent before.
    next: usize,
    sent: usize,
    /// IRN: which packets are known to have arrived.
    arrived: Vec<bool>,
    /// Which packets were sent again in this recovery, and where the recovery ends.
    repaired: Vec<bool>,
    recovery: Option<usize>,
    /// The packets before this one are lost if they have not arrived.
    lost_before: usize,
    /// Since when the timer runs.
    timer: Option<Time>,
    /// When it expires, as it was last set.
    due: Option<Time>,
}

impl Naive {
    fn new(size: u64, way: Way) -> Naive {
        let packets = size.div_ceil(SMSS) as usize;
        Naive {
            way,
            ends: (1..=packets).map(|n| (n as u64 * SMSS).min(size)).collect(),
            acknowledged: 0,
            next: 0,
            sent: 0,
            arrived: vec![false; packets],
            repaired: vec![false; packets],
            recovery: None,
            lost_before: 0,
            timer: None,
            due: None,
        }
    }

    fn bytes(&self, from: usize, to: usize) -> u64 {
        let start = |packet: usize| if packet == 0 { 0 } else { self.ends[packet - 1] };
        start(to) - start(from)
    }

    fn out(&self) -> usize {
        match self.way {
            Way::GoBackN { .. } => self.next,
            Way::Irn { .. } => self.sent,
        }
    }

    fn start_timer(&mut self, now: Time) {
        let packets = self.out() - self.acknowledged;
        self.timer = (packets > 0).then_some(now);
        self.due = self.timer.map(|since| since + self.rto());
    }

    fn rto(&self) -> Time {
        match self.way {
            Way::GoBackN { rto, .. } => rto,
            Way::Irn { low, high, few, .. } => {
                let in_flight = self.bytes(self.acknowledged, self.sent);
                if in_flight <= few as u64 * SMSS { low } else { high }
            }
        }
    }

    /// The first packet that is lost and was not sent again in this recovery.
    fn first_lost(&self) -> Option<usize> {
        self.recovery?;
        (self.acknowledged..self.sent).find(|&packet| {
            let is_passed = self.arrived[packet..].contains(&true) || packet < self.lost_before;
            !self.arrived[packet] && !self.repaired[packet] && is_passed
        })
    }

    /// Sends what may be sent: packets, and whether they were sent before.
    fn send(&mut self, now: Time, cwnd: u64) -> Vec<(usize, bool)> {
        let mut sent = Vec::new();
        loop {
            let lost = self.first_lost();
            let packet = lost.unwrap_or(self.out());
            let most = match self.way {
                Way::Irn { most, .. } if lost.is_none() => cwnd.min(most),
                _ => cwnd,
            };
            let is_there = packet < self.ends.len();
            let fits = |s: &Naive| s.bytes(s.acknowledged, packet + 1) <= most;
            if !is_there || !(packet == self.acknowledged || fits(self)) {
                return sent;
            }
            sent.push((packet, packet < self.sent));
            match lost {
                Some(packet) => self.repaired[packet] = true,
                None => self.next = packet + 1,
            }
            self.sent = self.sent.max(packet + 1);
            if self.timer.is_none() {
                self.start_timer(now);
            }
        }
    }

    fn on_answer(&mut self, now: Time, (expected, early): Answer) {
        let is_late = expected < self.acknowledged;
        self.acknowledged = self.acknowledged.max(expected);
        self.next = self.next.max(self.acknowledged);
        match self.way {
            Way::GoBackN { .. } => {
                if early.is_some() && !is_late {
                    self.next = self.acknowledged;
                }
            }
            Way::Irn { .. } => {
                if let Some(packet) = early {
                    self.arrived[packet] = true;
                }
                if self.recovery.is_some_and(|end| self.acknowledged >= end) {
                    self.recovery = None;
                }
                let has_gap = self.arrived[self.acknowledged..].contains(&true);
                if self.recovery.is_none() && early.is_some() && has_gap {
                    self.recover();
                }
            }
        }
        self.start_timer(now);
    }

    fn recover(&mut self) {
        self.recovery = Some(self.sent);
        self.repaired.fill(false);
        self.lost_before = self.lost_before.max((self.acknowledged + 1).min(self.sent));
    }

    /// The timer has expired. Returns whether it was a timeout.
    fn on_timer(&mut self, now: Time) -> bool {
        let due = self.timer.expect("it runs") + self.rto();
        if due > now {
            self.due = Some(due);
            return false;
        }
        (self.timer, self.due) = (None, None);
        match self.way {
            Way::GoBackN { .. } => self.next = self.acknowledged,
            Way::Irn { all, .. } => {
                self.recover();
                if all {
                    self.lost_before = self.sent;
                }
            }
        }
        true
    }
}

/// The settings as a scenario has them.
fn settings(way: Way) -> String {
    match way {
        Way::GoBackN { interval, answers_old, rto } => format!(
            "recovery.kind = \"go-back-n\"\nrecovery.nack_interval = \"{interval}\"\nrecovery.old_packets = \"{}\"\n\
             recovery.ack_timeout = \"{rto}\"",
            if answers_old { "ack" } else { "silent" }
        ),
        Way::Irn { most, low, high, few, all } => format!(
            "recovery.kind = \"selective\"\nrecovery.max_in_flight = \"{most}B\"\nrecovery.rto_low = \"{low}\"\n\
             recovery.rto_high = \"{high}\"\nrecovery.rto_low_packets = {few}\nrecovery.after_timeout = \"{}\"",
            if all { "all" } else { "first" }
        ),
    }
}

fn ways() -> impl Strategy<Value = Way> {
    let us = |us: std::ops::Range<u64>| us.prop_map(Time::from_us);
    prop_oneof![
        (us(0..400), any::<bool>(), us(150..900)).prop_map(|(interval, answers_old, rto)| {
            Way::GoBackN { interval, answers_old, rto }
        }),
        (1u64..50, us(150..400), us(300..900), 0usize..6, any::<bool>()).prop_map(
            |(packets, low, high, few, all)| Way::Irn { most: packets * 700, low, high, few, all }
        ),
    ]
}

/// An answer as the receiver under test gives it.
fn answer(ack: &AckFields) -> Answer {
    let early = ack.sack.map(|[(start, _), ..]| (start / SMSS) as usize);
    (ack.seq.div_ceil(SMSS) as usize, early)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn both_ends_do_what_two_naive_ones_do(
        size in 1u64..60_000,
        window in 1u64..40,
        kind in prop::sample::select(vec!["newreno", "dctcp"]),
        way in ways(),
        fates in fates(),
    ) {
        let transport = closed_loop(&format!(
            "kind = \"{kind}\"\nmss = \"{SMSS}B\"\ninitial_window = \"{window}pkt\"\n{}",
            settings(way)
        ));
        // If an ack is lost, a silent receiver never repeats what it said.
        let fates = match way {
            Way::GoBackN { answers_old: false, .. } => fates.into_iter().map(|f| f.answered()).collect(),
            _ => fates,
        };
        let mut sender = Sender::new(size, SMSS as u32, &transport, &access(10, 25));
        let mut naive = Naive::new(size, way);
        let packets = naive.ends.len();
        let mut receiver = Receiver { way, has: vec![false; packets], nacks: Vec::new() };
        let mut network = Network::new(fates);
        let (mut now, mut again) = (Time::ZERO, 0);
        while !sender.is_done() {
            // The fates repeat, so a sender that goes back may meet the same ones for ever.
            let safe = sender.timeouts > 8 || again > 500;
            let mut sent = Vec::new();
            while let Some(piece) = sender.next_piece(now, &transport) {
                prop_assert_eq!(u64::from(piece.payload), SMSS.min(size - piece.seq));
                sent.push(((piece.seq / SMSS) as usize, piece.again));
                network.send(now, arrival_step(now), &piece, safe);
            }
            again += sent.iter().filter(|(_, again)| *again).count() as u32;
            prop_assert_eq!(&sent, &naive.send(now, sender.window().cwnd), "at {:?}", now);
            prop_assert_eq!(sender.retransmitted_packets, again);
            prop_assert_eq!(sender.in_flight(), naive.bytes(naive.acknowledged, naive.out()));
            prop_assert_eq!(sender.deadline(), naive.due.unwrap_or(Time::MAX), "at {:?}", now);
            let arrival = network.next_step().map_or(Time::MAX, |step| STEP * step);
            prop_assert!(sender.deadline().min(arrival) < Time::MAX, "nothing to wait for at {:?}", now);
            now = sender.deadline().min(arrival);
            if arrival <= now {
                let (segment, is_answered) = network.take_next().expect("a packet arrives");
                let acks = network.arrive(now, &segment, &transport);
                let told = receiver.on_packet(now, (segment.seq / SMSS) as usize);
                prop_assert_eq!(acks.iter().map(answer).collect::<Vec<_>>(), Vec::from_iter(told));
                prop_assert!(acks.iter().all(|ack| ack.sent_at == segment.sent_at));
                for ack in acks.iter().filter(|_| is_answered) {
                    sender.on_ack(now, &ack.segment(), &transport);
                    naive.on_answer(now, answer(ack));
                }
            } else {
                let timeouts = sender.timeouts + u32::from(naive.on_timer(now));
                prop_assert_eq!(sender.on_deadline(now, &transport), None);
                prop_assert_eq!(sender.timeouts, timeouts);
            }
            prop_assert!(sender.timeouts <= 200, "{} timeouts", sender.timeouts);
        }
        prop_assert!(receiver.has.iter().all(|has| *has));
    }
}

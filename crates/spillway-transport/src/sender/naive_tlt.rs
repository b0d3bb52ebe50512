//! TLT once more, from a list of all that has happened: each question of the rule in the head of
//! [`Tlt`] goes through all packets sent so far. What the window lets go, and what a recovery finds
//! by its own rules, is taken from the sender that it is compared with; for RACK both come from its
//! naive implementation.

use super::lossy::{Network, STEP, arrival_step, fates};
use super::naive_rack::Naive as ByTime;
use super::*;
use crate::receiver::AckFields;
use crate::tests::{access, closed_loop};
use proptest::prelude::*;
use std::collections::BTreeSet;

const SMSS: u64 = 1_000;

/// What has happened to a sender.
#[derive(Debug)]
enum Event {
    Sent(Packet),
    /// The echo of the important packet that was sent last.
    Echo,
    Timeout,
    /// A recovery begins or ends: what was sent again before does not count in the next one.
    Anew,
}

#[derive(Debug)]
struct Packet {
    at: Time,
    seq: u64,
    /// The byte behind its last one. A header alone has none.
    end: u64,
    is_important: bool,
    /// Whether it repairs a loss. Probes and the rescue of RFC 6675 do not.
    is_repair: bool,
}

/// The history of a flow, and what its acks have said.
struct Naive {
    size: u64,
    una: u64,
    events: Vec<Event>,
    /// The first bytes of segments that have arrived, and of those that are lost, sent again or
    /// not.
    acked: BTreeSet<u64>,
    lost: BTreeSet<u64>,
    by_time: Option<ByTime>,
}

impl Naive {
    fn new(size: u64, by_time: Option<ByTime>) -> Naive {
        let (acked, lost) = Default::default();
        Naive { size, una: 0, events: Vec::new(), acked, lost, by_time }
    }

    /// All packets sent, each with its place among the events.
    fn packets(&self) -> impl DoubleEndedIterator<Item = (usize, &Packet)> {
        self.events.iter().enumerate().filter_map(|(place, event)| match event {
            Event::Sent(packet) => Some((place, packet)),
            _ => None,
        })
    }

    fn last_important(&self) -> Option<(usize, &Packet)> {
        self.packets().rfind(|(_, packet)| packet.is_important)
    }

    /// What has happened since the last important packet left.
    fn since_important(&self) -> &[Event] {
        &self.events[self.last_important().map_or(0, |(place, _)| place)..]
    }

    /// Whether the next packet is important, whatever the window allows: after an echo or a
    /// timeout.
    fn is_due(&self) -> bool {
        self.since_important().iter().any(|event| matches!(event, Event::Echo | Event::Timeout))
    }

    /// Segments without an ack that were sent before the last important packet, the first time or
    /// another.
    fn missing_before(&self) -> BTreeSet<u64> {
        let important = self.last_important().map(|(place, _)| place);
        let before = self.packets().filter(|&(place, _)| Some(place) < important);
        let segments = before.filter(|(_, packet)| packet.seq < packet.end);
        segments.map(|(_, packet)| packet.seq).filter(|seq| !self.acked.contains(seq)).collect()
    }

    /// Whether the first unacknowledged segment was sent before the last important packet, and not
    /// since.
    fn is_head_lost(&self) -> bool {
        let is_head = |packet: &Packet| packet.seq == self.una && packet.seq < packet.end;
        let sent = self.packets().rfind(|(_, packet)| is_head(packet)).map(|(place, _)| place);
        sent.is_some() && sent < self.last_important().map(|(place, _)| place)
    }

    /// The first segment that is lost and has not been sent again.
    fn next_lost(&self) -> Option<u64> {
        if let Some(by_time) = &self.by_time {
            return by_time.rack.lost().next().map(|(seq, _)| seq);
        }
        let anew = self.events.iter().rposition(|event| matches!(event, Event::Anew));
        let repairs: Vec<u64> = self
            .packets()
            .filter(|&(place, packet)| Some(place) > anew && packet.is_repair)
            .map(|(_, packet)| packet.seq)
            .collect();
        self.lost.iter().copied().find(|seq| !self.acked.contains(seq) && !repairs.contains(seq))
    }

    /// What is sent although the window allows nothing: a segment, or a header alone.
    fn forced(&self) -> Option<Range> {
        let nxt = self.packets().map(|(_, packet)| packet.end).max()?;
        if !self.is_due() || self.una == nxt {
            return None;
        }
        let head = (self.by_time.is_none() && self.is_head_lost()).then_some(self.una);
        let Some(seq) = self.next_lost().or(head) else { return Some((self.una, self.una)) };
        Some((seq, (seq + SMSS).min(self.size)))
    }

    fn send(&mut self, packet: Packet) {
        if let Some(by_time) = &mut self.by_time
            && packet.seq < packet.end
        {
            by_time.rack.transmit(packet.at, (packet.seq, packet.end));
        }
        self.events.push(Event::Sent(packet));
    }

    fn on_ack(&mut self, ack: &AckFields) {
        self.una = self.una.max(ack.seq);
        for (start, end) in ack.sack.into_iter().flatten().chain([(0, self.una)]) {
            self.acked.extend((start..end).step_by(SMSS as usize));
        }
    }

    /// An important packet has arrived that was sent then. Returns whether it is the last one, and
    /// no timeout has come since.
    fn on_echo(&mut self, now: Time, sent_at: Time, loses: bool) -> bool {
        if self.is_due() || self.last_important().is_none_or(|(_, packet)| packet.at != sent_at) {
            return false;
        }
        if loses {
            self.lost.append(&mut self.missing_before());
        }
        if let Some(by_time) = &mut self.by_time {
            by_time.rack.arrive(now, sent_at);
            by_time.detect(now);
        }
        self.events.push(Event::Echo);
        true
    }
}

/// The segments that a sender takes to be lost, sent again or not.
fn lost(sender: &Sender, acked: &BTreeSet<u64>) -> BTreeSet<u64> {
    let board = &sender.board;
    let to = board.lost_to().min(board.nxt);
    (0..to).step_by(SMSS as usize).filter(|seq| !acked.contains(seq)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_important_forced_and_lost_is_what_the_history_says(
        size in 1u64..120_000,
        window in 1u64..40,
        kind in prop::sample::select(vec!["newreno", "dctcp"]),
        (recovery, more) in prop::sample::select(vec![
            ("sack", ""), ("sack", "recovery.tail_loss_probe = true"),
            ("sack", "recovery.reduction = \"proportional\""), ("ns3", ""), ("rack", ""),
            ("rack", "recovery.tail_loss_probe = false"), ("duplicate-acks", ""),
            ("timeout-only", ""),
        ]),
        spares: bool,
        marks in prop::collection::vec(prop::bool::weighted(0.1), 1..50),
        fates in fates(),
    ) {
        let text = format!(
            "kind = \"{kind}\"\nmss = \"{SMSS}B\"\ninitial_window = \"{window}pkt\"\n\
             protection = \"tlt\"\nrecovery.min_rto = \"1ms\"\nrecovery.initial_rto = \"1ms\"\n\
             recovery.kind = \"{recovery}\"\n{more}"
        );
        let transport = closed_loop(&text);
        let [sack, ns3, rack] = ["sack", "ns3", "rack"].map(|kind| recovery == kind);
        let mut sender = Sender::new(size, SMSS as u32, &transport, &access(10, 25));
        let by_time = rack.then(|| ByTime::new(size, 3, more.is_empty()));
        let mut naive = Naive::new(size, by_time);
        let mut network = Network::new(fates);
        let (mut now, mut acks) = (Time::ZERO, 0);
        // The important packets, by the order in which all were sent.
        let mut important: Vec<bool> = Vec::new();
        // What an echo has shown to be lost, and so is sent before all else.
        let mut first = None;
        let mut probe = None;
        while !sender.is_done() {
            let is_initial = important.is_empty();
            loop {
                let is_probe = probe.is_some();
                let piece = match probe.take().or_else(|| sender.next_piece(now, &transport)) {
                    Some(piece) => piece,
                    None => {
                        let forced = sender.forced_piece(now);
                        prop_assert_eq!(forced.map(|piece| piece.range()), naive.forced());
                        let Some(piece) = forced else { break };
                        piece
                    }
                };
                let (seq, end) = piece.range();
                if let Some(first) = first.take() {
                    prop_assert_eq!((seq, end > seq), (first, true), "at {:?}", now);
                }
                let is_important = sender.is_important(now, &piece);
                prop_assert!(is_initial || is_important == naive.is_due(), "{:?} at {:?}", piece, now);
                important.push(is_important);
                let is_rescue = sack && !naive.lost.contains(&seq) && naive.acked.range(seq..).next().is_none();
                let is_repair = piece.again && !is_probe && !is_rescue;
                naive.send(Packet { at: now, seq, end, is_important, is_repair });
                let safe = sender.timeouts > 8 || important.len() > 2_000 || (spares && is_important);
                network.send(now, arrival_step(now), &piece, safe);
            }
            if is_initial {
                prop_assert_eq!(important.iter().position(|&it| it), Some(important.len() - 1));
            }
            if let Some(by_time) = &naive.by_time {
                prop_assert_eq!(sender.in_flight(), by_time.in_flight(), "at {:?}", now);
            }
            let arrival = network.next_step().map_or(Time::MAX, |step| STEP * step);
            prop_assert!(sender.deadline().min(arrival) < Time::MAX, "nothing to wait for at {:?}", now);
            now = sender.deadline().min(arrival);
            let phase = sender.phase;
            if arrival > now {
                let (timer, timeouts) = (sender.timer, sender.timeouts);
                probe = sender.on_deadline(now, &transport);
                if sender.timeouts > timeouts {
                    naive.events.extend([Event::Timeout, Event::Anew]);
                    naive.lost = lost(&sender, &naive.acked);
                }
                match &mut naive.by_time {
                    Some(by_time) if sender.timeouts > timeouts => {
                        by_time.time_out(now, Time::ZERO);
                    }
                    Some(by_time) if timer == Timer::Reordering => by_time.detect(now),
                    _ => {}
                }
            } else {
                let (place, told) = network.deliver(now, &transport);
                let last = told.len();
                for (number, ack) in (1..).zip(told) {
                    acks += 1;
                    let ece = marks[acks % marks.len()];
                    sender.on_ack(now, &AckSegment { ece, ..ack.segment() }, &transport);
                    naive.on_ack(&ack);
                    let smoothed = sender.smoothed_rtt();
                    if let Some(by_time) = &mut naive.by_time {
                        by_time.on_ack(now, &ack, smoothed, Time::ZERO);
                    }
                    if sender.phase != phase && !ns3 {
                        naive.events.push(Event::Anew);
                    }
                    naive.lost = lost(&sender, &naive.acked);
                    prop_assert_eq!(sender.next_lost().map(|(seq, _)| seq), naive.next_lost());
                    if number < last || !important[place as usize] {
                        continue;
                    }
                    let phase = sender.phase;
                    let shows = naive.on_echo(now, ack.sent_at, sack || ns3);
                    sender.on_echo(now, ack.sent_at, &transport);
                    // The new segment that an ack lets go in a recovery of ns-3 goes first.
                    let is_first = !rack && sender.at_once != AtOnce::New;
                    if shows && is_first && naive.is_head_lost() {
                        let repairs = matches!(phase, Phase::Recovery | Phase::Loss);
                        first = (repairs || sack).then_some(naive.una);
                    }
                    let begins = first.is_some() && phase == Phase::Open;
                    if begins {
                        naive.events.push(Event::Anew);
                    }
                    let phase = if begins { Phase::Recovery } else { phase };
                    let phase = naive.by_time.as_ref().map_or(phase, |by_time| by_time.phase);
                    prop_assert_eq!(sender.phase, phase, "at {:?}", now);
                    match &naive.by_time {
                        Some(by_time) => prop_assert_eq!(sender.in_flight(), by_time.in_flight()),
                        None => prop_assert_eq!(&lost(&sender, &naive.acked), &naive.lost),
                    }
                }
            }
            prop_assert_eq!(sender.next_lost().map(|(seq, _)| seq), naive.next_lost());
            let is_due = sender.tlt.as_ref().is_some_and(|tlt| tlt.is_due());
            prop_assert_eq!(is_due, naive.is_due());
        }
    }
}

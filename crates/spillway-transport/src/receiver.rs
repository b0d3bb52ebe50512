//! The receiving half of a flow: what has arrived, and what its acks report.

mod in_order;

pub use in_order::{InOrder, InOrderRule};

use super::ranges::{Range, Ranges};
use spillway_engine::Time;

/// The most ranges that fit into an ack (RFC 2018: three beside a timestamp).
pub const SACK_BLOCKS: usize = 3;

/// The ranges that an ack reports as arrived, the latest first; unused ones are (0, 0).
pub type SackBlocks = [Range; SACK_BLOCKS];

/// How a receiver echoes marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnEcho {
    /// Every ack says whether the packets that it acknowledges were marked (RFC 8257, section 3.2).
    PerPacket,
    /// After a mark all acks echo it, until the sender announces a cut (RFC 3168).
    Latched,
    /// As `PerPacket`, and in addition by notifications.
    Notified,
}

/// Packets by which a receiver tells a sender of marked packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notifications {
    /// The least time between two notifications of a flow.
    pub interval: Time,
    /// Bytes on the wire.
    pub size: u32,
}

/// How a receiver acknowledges.
#[derive(Clone, Copy, Debug)]
pub struct AckPolicy {
    /// The number of packets that one ack acknowledges.
    pub every: u32,
    /// The longest time for which an ack is delayed.
    pub delay: Time,
    /// How many of the first packets are acknowledged at once.
    pub quick: u8,
    /// How marks are echoed.
    pub echo: EcnEcho,
    /// What acks report of data behind a gap.
    pub tells: Tells,
    /// Which send time an ack for several packets reports. If true, it is that of the last of them,
    /// without the time that this packet has waited for its ack. If false, it is that of the first
    /// (RFC 7323).
    pub times_last: bool,
    /// Whether senders ask for the ack of a packet after which they may send no more.
    pub asked: bool,
    /// How the receiver answers, if it accepts packets in order only.
    pub in_order: Option<InOrderRule>,
}

/// What an ack reports of data behind a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tells {
    /// Up to three ranges (RFC 2018).
    Ranges,
    /// As `Ranges`, and before them the data that has arrived twice (D-SACK, RFC 2883).
    Duplicates,
    /// The packet that it answers, if this packet lies behind a gap. The ack is then a NACK.
    Packet,
}

/// A data packet as the receiver sees it.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Its first byte.
    pub seq: u64,
    /// Its payload in bytes.
    pub payload: u32,
    /// Whether it was marked.
    pub ce: bool,
    /// Whether it announces that the sender has cut its window.
    pub cwr: bool,
    /// When it was sent.
    pub sent_at: Time,
    /// Whether it asks for an ack at once.
    pub asks: bool,
}

impl Segment {
    /// Its bytes, as the only range of an ack.
    fn block(&self) -> SackBlocks {
        [(self.seq, self.seq + u64::from(self.payload)), (0, 0), (0, 0)]
    }
}

/// What an ack reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckFields {
    /// The first missing byte.
    pub seq: u64,
    /// Whether it echoes a mark.
    pub ece: bool,
    /// When the packet that it acknowledges was sent.
    pub sent_at: Time,
    /// Ranges that have arrived behind a gap, if there are any.
    pub sack: Option<SackBlocks>,
}

/// The receiving half of a flow.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    /// The first missing byte.
    next: u64,
    /// Data that has arrived behind a gap.
    early: Ranges,
    /// Packets not acknowledged yet.
    pending: u32,
    /// The mark of the pending packets. If marks are latched: whether acks echo a mark.
    ce: bool,
    /// How many of the first packets have been acknowledged at once.
    quick: u8,
    /// When the first pending packet was sent, or (`times_last`) the last one.
    pending_sent_at: Time,
    /// When the last pending packet came, if acks leave out its wait; otherwise [`Time::MAX`].
    pending_since: Time,
    /// The latest time at which the pending packets are acknowledged. [`Time::MAX`] if no packet is
    /// pending.
    pub ack_deadline: Time,
}

impl Default for Receiver {
    /// The state before anything has arrived.
    fn default() -> Receiver {
        Receiver {
            next: 0,
            early: Ranges::default(),
            pending: 0,
            ce: false,
            quick: 0,
            pending_sent_at: Time::ZERO,
            pending_since: Time::MAX,
            ack_deadline: Time::MAX,
        }
    }
}

impl Receiver {
    /// The state before the next flow of the same connection. A mark that is echoed until a cut is
    /// announced is still echoed.
    pub fn for_next_flow(&self) -> Receiver {
        debug_assert_eq!(self.pending, 0, "something is still to be acknowledged");
        Receiver { ce: self.ce, quick: self.quick, ..Receiver::default() }
    }

    /// The first missing byte.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether a byte has arrived.
    pub fn has(&self, seq: u64) -> bool {
        seq < self.next || self.early.as_slice().iter().any(|&(from, to)| from <= seq && seq < to)
    }

    /// Bytes that have arrived, each counted once.
    pub fn delivered(&self) -> u64 {
        self.next + self.early.bytes()
    }

    /// The most frequent case, handled as [`Receiver::on_segment`] would: a packet in order that
    /// gets its own ack. Returns the first missing byte. In any other case it does nothing and
    /// returns `None`.
    #[inline(always)]
    pub fn on_expected(&mut self, segment: &Segment, policy: &AckPolicy) -> Option<u64> {
        let alone = policy.every == 1 && policy.echo == EcnEcho::PerPacket;
        if !alone || segment.seq != self.next || !self.early.is_empty() {
            return None;
        }
        self.ce = segment.ce;
        self.next += u64::from(segment.payload);
        Some(self.next)
    }

    /// A data packet has arrived. Returns the number of new bytes, and passes the acks that are due
    /// (none, one or two) to `reply`.
    #[inline]
    pub fn on_segment(
        &mut self,
        now: Time,
        segment: &Segment,
        policy: &AckPolicy,
        mut reply: impl FnMut(AckFields),
    ) -> u64 {
        self.note_mark(now, segment, policy, &mut reply);
        let had_gap = !self.early.is_empty();
        let (new, arrived) = self.place(segment);
        if self.pending == 0 || policy.times_last {
            self.pending_sent_at = segment.sent_at;
        }
        if policy.times_last {
            self.pending_since = now;
        }
        self.pending += 1;
        let in_order = arrived.is_none() && new > 0 && !had_gap;
        let is_quick = self.quick < policy.quick;
        if is_quick || (new == 0 && policy.quick > 0) {
            self.quick = if new == 0 { 0 } else { self.quick + 1 };
        }
        let at_once = is_quick || segment.asks;
        if !in_order || at_once || self.pending >= policy.every {
            // A packet out of order, a repeated one, or one that fills a gap is acknowledged at
            // once (RFC 5681, section 4.2).
            let latest = arrived.or_else(|| self.early.as_slice().last().copied());
            let mut fields = self.ack(now, latest);
            match policy.tells {
                Tells::Ranges => {}
                Tells::Duplicates if new > 0 => {}
                Tells::Duplicates => {
                    let [first, second, _] = fields.sack.unwrap_or_default();
                    let [repeated, ..] = segment.block();
                    fields.sack = Some([repeated, first, second]);
                }
                Tells::Packet => fields.sack = arrived.map(|_| segment.block()),
            }
            reply(if in_order { fields } else { AckFields { sent_at: segment.sent_at, ..fields } });
        } else if self.ack_deadline == Time::MAX {
            self.ack_deadline = now.saturating_add(policy.delay);
        }
        new
    }

    /// Notes whether a packet was marked. If packets wait for their ack and have another mark, they
    /// are acknowledged at once.
    #[inline]
    fn note_mark(
        &mut self,
        now: Time,
        segment: &Segment,
        policy: &AckPolicy,
        mut reply: impl FnMut(AckFields),
    ) {
        let mark_changed = match policy.echo {
            EcnEcho::PerPacket | EcnEcho::Notified => segment.ce != self.ce,
            EcnEcho::Latched => false,
        };
        if mark_changed && self.pending > 0 {
            // The pending packets are acknowledged with their own mark, not this packet's (RFC
            // 8257, section 3.2).
            reply(self.ack(now, None));
        }
        match policy.echo {
            EcnEcho::PerPacket | EcnEcho::Notified => self.ce = segment.ce,
            EcnEcho::Latched => self.ce = segment.ce || (self.ce && !segment.cwr),
        }
    }

    /// A packet of an open-loop flow has arrived. Returns the number of new bytes.
    pub fn on_datagram(&mut self, segment: &Segment) -> u64 {
        self.place(segment).0
    }

    /// The delayed ack, if packets are pending; its time has come.
    pub fn delayed_ack(&mut self, now: Time) -> Option<AckFields> {
        (self.pending > 0).then(|| self.ack(now, None))
    }

    /// Records the bytes of a segment. Returns how many are new, and their range if they lie behind
    /// a gap.
    #[inline]
    fn place(&mut self, segment: &Segment) -> (u64, Option<Range>) {
        let end = segment.seq + u64::from(segment.payload);
        if segment.seq <= self.next {
            let before = self.next;
            let known = if self.early.is_empty() { 0 } else { self.early.bytes() };
            self.next = self.next.max(end);
            if known > 0 {
                self.early.remove_below(self.next);
                while let Some(end) = self.early.take_through(self.next) {
                    self.next = self.next.max(end);
                }
                return (self.next - before + self.early.bytes() - known, None);
            }
            return (self.next - before, None);
        }
        let known = self.early.bytes();
        let merged = self.early.insert((segment.seq, end));
        (self.early.bytes() - known, Some(merged))
    }

    #[inline]
    fn ack(&mut self, now: Time, latest: Option<Range>) -> AckFields {
        self.pending = 0;
        self.ack_deadline = Time::MAX;
        let sack = if self.early.is_empty() { None } else { Some(self.blocks(latest)) };
        let sent_at = self.pending_sent_at + now.since(self.pending_since);
        AckFields { seq: self.next, ece: self.ce, sent_at, sack }
    }

    /// The ranges to report: the latest first, then the highest of the others.
    fn blocks(&self, latest: Option<Range>) -> SackBlocks {
        let mut blocks = [(0, 0); SACK_BLOCKS];
        let others = self.early.as_slice().iter().rev().copied().filter(|&r| Some(r) != latest);
        for (block, range) in blocks.iter_mut().zip(latest.into_iter().chain(others)) {
            *block = range;
        }
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EACH: AckPolicy = AckPolicy {
        every: 1,
        delay: Time::from_us(500),
        quick: 0,
        echo: EcnEcho::PerPacket,
        tells: Tells::Ranges,
        times_last: false,
        asked: true,
        in_order: None,
    };

    /// The acks for segments of 100 bytes, given as (number, marked).
    fn acks(policy: AckPolicy, segments: &[(u64, bool)]) -> Vec<(u64, bool)> {
        let mut receiver = Receiver::default();
        let mut acks = Vec::new();
        for &(number, ce) in segments {
            let segment = Segment {
                seq: number * 100,
                payload: 100,
                ce,
                cwr: false,
                sent_at: Time::ZERO,
                asks: false,
            };
            receiver.on_segment(Time::ZERO, &segment, &policy, |a| acks.push((a.seq / 100, a.ece)));
        }
        acks
    }

    #[test]
    fn every_packet_is_acknowledged_with_its_own_mark() {
        let got = acks(EACH, &[(0, false), (1, true), (2, false)]);
        assert_eq!(got, [(1, false), (2, true), (3, false)]);
    }

    #[test]
    fn delayed_acks_tell_exactly_which_packets_were_marked() {
        // An ack for every second packet. 0 and 1 are acknowledged together. 3 is marked, so 2 is
        // acknowledged at once, unmarked; then 3 and 4 together, marked. 5, unmarked, waits, and 6
        // is acknowledged with it.
        let every_second = AckPolicy { every: 2, ..EACH };
        let marks = [false, false, false, true, true, false, false];
        let segments: Vec<(u64, bool)> = (0..).zip(marks).collect();
        let got = acks(every_second, &segments);
        assert_eq!(got, [(2, false), (3, false), (5, true), (7, false)]);
    }

    #[test]
    fn a_segment_may_ask_for_its_ack() {
        let every_fourth = AckPolicy { every: 4, ..EACH };
        let (mut receiver, mut acks) = (Receiver::default(), Vec::new());
        for (number, asks) in (0..).zip([false, true, true, false, false, false, false]) {
            let segment = Segment {
                seq: number * 100,
                payload: 100,
                ce: false,
                cwr: false,
                sent_at: Time::ZERO,
                asks,
            };
            receiver
                .on_segment(Time::ZERO, &segment, &every_fourth, |ack| acks.push(ack.seq / 100));
        }
        assert_eq!(acks, [2, 3, 7]);
    }

    /// Segments come at 10, 12 and 17 us, 5 us after they were sent. The ack at 20 us tells the
    /// first one's time, 5 us, or the last one's with its wait of 3 us left out: a round trip
    /// without them.
    #[test]
    fn an_ack_tells_of_its_first_segment_or_of_its_last_without_its_wait() {
        let us = Time::from_us;
        let told = |times_last: bool| {
            let policy = AckPolicy { every: 4, times_last, ..EACH };
            let mut receiver = Receiver::default();
            for (number, at) in [(0, 10), (1, 12), (2, 17)] {
                let (seq, sent_at) = (number * 100, us(at - 5));
                let segment =
                    Segment { seq, payload: 100, ce: false, cwr: false, sent_at, asks: false };
                receiver.on_segment(us(at), &segment, &policy, |ack| panic!("{ack:?}"));
            }
            receiver.delayed_ack(us(20)).unwrap().sent_at
        };
        assert_eq!((told(false), told(true)), (us(5), us(12 + 3)));
    }

    #[test]
    fn what_fills_a_gap_is_acknowledged_at_once_however_many_packets_an_ack_is_for() {
        let every_fourth = AckPolicy { every: 4, ..EACH };
        // 1 and 3 come too early; 0 fills a part of the gap and 2 the rest; 4 waits for three more
        // packets.
        let segments = [1, 3, 0, 2, 4].map(|number| (number, false));
        let got = acks(every_fourth, &segments).into_iter().map(|(seq, _)| seq);
        assert_eq!(got.collect::<Vec<_>>(), [0, 0, 2, 4]);
    }

    #[test]
    fn the_first_packets_and_the_ends_of_bursts_are_acknowledged_at_once() {
        let policy = AckPolicy { every: 64, quick: 2, ..EACH };
        let (mut receiver, mut told) = (Receiver::default(), Vec::new());
        // Two at once, then two that wait and the end of their burst. 5 waits for 6, the last. 6
        // comes again, and after it two are acknowledged at once: 7 and 8, but not 9.
        for (number, asks) in
            [0, 1, 2, 3, 4, 5, 6, 6, 7, 8, 9].map(|number| (number, number == 4 || number == 6))
        {
            let (seq, sent_at) = (number * 100, Time::ZERO);
            let segment = Segment { seq, payload: 100, ce: false, cwr: false, sent_at, asks };
            receiver.on_segment(Time::ZERO, &segment, &policy, |ack| told.push(ack.seq / 100));
        }
        assert_eq!(told, [1, 2, 5, 7, 7, 8, 9]);
    }

    #[test]
    fn a_latched_echo_lasts_until_the_sender_has_cut() {
        let latched = AckPolicy { echo: EcnEcho::Latched, ..EACH };
        let (mut receiver, mut echoes) = (Receiver::default(), Vec::new());
        for (number, ce, cwr) in
            [(0, false, false), (1, true, false), (2, false, false), (3, false, true)]
        {
            let segment = Segment {
                seq: number * 100,
                payload: 100,
                ce,
                cwr,
                sent_at: Time::ZERO,
                asks: false,
            };
            receiver.on_segment(Time::ZERO, &segment, &latched, |ack| echoes.push(ack.ece));
        }
        assert_eq!(echoes, [false, true, true, false]);
    }

    #[test]
    fn what_has_arrived_twice_is_told_first_where_that_is_asked_for() {
        let tells = AckPolicy { tells: Tells::Duplicates, ..EACH };
        let (mut receiver, mut told) = (Receiver::default(), Vec::new());
        for number in [0, 0, 2, 2] {
            let segment = Segment {
                seq: number * 100,
                payload: 100,
                ce: false,
                cwr: false,
                sent_at: Time::ZERO,
                asks: false,
            };
            receiver.on_segment(Time::ZERO, &segment, &tells, |ack| told.push(ack.sack));
        }
        let (below, behind) = ((0, 100), (200, 300));
        let none = (0, 0);
        assert_eq!(told[..2], [None, Some([below, none, none])]);
        // A duplicate behind a gap is reported too (RFC 2883, section 4).
        assert_eq!(told[2..], [Some([behind, none, none]), Some([behind, behind, none])]);
    }

    #[test]
    fn a_nack_tells_of_its_own_packet_only() {
        let policy = AckPolicy { tells: Tells::Packet, ..EACH };
        let (mut receiver, mut told) = (Receiver::default(), Vec::new());
        // 3 fills a part of the gap, 2 comes again, and so does 0.
        for number in [0, 2, 4, 3, 2, 0, 1, 6, 5] {
            let (seq, sent_at) = (number * 100, Time::ZERO);
            let segment =
                Segment { seq, payload: 100, ce: false, cwr: false, sent_at, asks: false };
            receiver.on_segment(Time::ZERO, &segment, &policy, |ack| {
                told.push((ack.seq / 100, ack.sack.map(|[range, ..]| range)));
            });
        }
        let nack = |number: u64| Some((100 * number, 100 * number + 100));
        assert_eq!(told[..5], [(1, None), (1, nack(2)), (1, nack(4)), (1, nack(3)), (1, nack(2))]);
        assert_eq!(told[5..], [(1, None), (5, None), (5, nack(6)), (7, None)]);
    }

    #[test]
    fn a_gap_is_told_with_the_latest_range_first() {
        let mut receiver = Receiver::default();
        let mut told = Vec::new();
        let mut new = Vec::new();
        for number in [0, 2, 4, 3, 2, 1] {
            let segment = Segment {
                seq: number * 100,
                payload: 100,
                ce: false,
                cwr: false,
                sent_at: Time::ZERO,
                asks: false,
            };
            new.push(receiver.on_segment(Time::ZERO, &segment, &EACH, |ack| told.push(ack)));
        }
        assert_eq!(new, [100, 100, 100, 100, 0, 100]);
        assert_eq!(told[2].sack, Some([(400, 500), (200, 300), (0, 0)]));
        assert_eq!(told[3].sack, Some([(200, 500), (0, 0), (0, 0)]));
        assert_eq!((told[4].seq, told[5].seq, told[5].sack), (100, 500, None));
        assert_eq!(receiver.delivered(), 500);
    }
}

//! The packets of a sender in the order in which they were sent, and what follows from that
//! (`per_priority.rs`).

use super::segments::Segments;
use crate::ranges::Range;
use std::collections::VecDeque;
use std::ops::RangeInclusive;

/// What has become of a packet, as the simulator knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// It, or its ack, is on its way.
    OnItsWay,
    /// Its ack has arrived.
    Answered,
    /// It was dropped.
    Dropped,
    /// It arrived, and its ack was dropped.
    AnswerDropped,
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// The number of its segment.
    segment: u64,
    /// The distance to the next packet of its priority, in packets; 0 if none was sent yet.
    next: u32,
    priority: u8,
    fate: Fate,
    /// Whether it has been taken to be lost, by loss detection or after a timeout.
    judged: bool,
}

/// The packets of one priority.
#[derive(Clone, Copy, Debug)]
struct Level {
    /// The number of the first packet that may still be found lost: it was not answered, and no
    /// later packet has shown its loss. [`NOBODY`] if there is none.
    first: u64,
    /// The number of the last packet.
    last: u64,
    /// How many of the packets have been answered that were sent after the first one and count
    /// against it.
    answered: u32,
}

/// Stands in place of a packet's number: there is no such packet.
const NOBODY: u64 = u64::MAX;

/// Counts over the packets of a flow. Only the simulator knows them, the sender does not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OrderCounts {
    /// Packets whose ack came while one that was sent earlier was still on its way.
    pub overtaking: u32,
    /// Packets that were taken to be lost, and had been dropped.
    pub right: u32,
    /// Packets that were taken to be lost, and were on their way.
    pub wrong: u32,
    /// Packets that were taken to be lost, and had arrived: their acks had been dropped.
    pub unanswered: u32,
    /// Packets that had been dropped, and whose loss only a timeout showed.
    pub by_timeout: u32,
}

/// The order in which the packets of a flow were sent, and what follows from it.
#[derive(Clone, Debug)]
pub struct Orders {
    /// The segments, each with the number of the last packet that carried it.
    segments: Segments<u64>,
    /// The packets from number `oldest` on.
    packets: VecDeque<Sent>,
    oldest: u64,
    /// No packet before this number is on its way.
    on_way_from: u64,
    levels: Vec<Level>,
    dupthresh: u32,
    or_worse: bool,
    /// The priority of the last packet that was answered, if no search for losses has followed yet.
    answered: Option<usize>,
    counts: OrderCounts,
}

impl Orders {
    /// The state before anything is sent, in segments of `mss` bytes.
    pub fn new(mss: u64, dupthresh: u32, or_worse: bool) -> Orders {
        Orders {
            segments: Segments::new(mss),
            packets: VecDeque::new(),
            oldest: 0,
            on_way_from: 0,
            levels: Vec::new(),
            dupthresh,
            or_worse,
            answered: None,
            counts: OrderCounts::default(),
        }
    }

    /// A segment is sent with this priority. Returns its packet's number.
    pub fn on_sent(&mut self, range: Range, priority: u8) -> u64 {
        let number = self.next();
        let segment = self.segments.number_of(range.0);
        self.segments.send(range, number);
        let level = usize::from(priority);
        if self.levels.len() <= level {
            self.levels.resize(level + 1, Level { first: NOBODY, last: 0, answered: 0 });
        }
        let level = &mut self.levels[level];
        let last = std::mem::replace(&mut level.last, number);
        if level.first == NOBODY {
            (level.first, level.answered) = (number, 0);
        } else if let Some(sent) = self.packet_mut(last) {
            sent.next = (number - last) as u32;
        }
        let fate = Fate::OnItsWay;
        self.packets.push_back(Sent { segment, next: 0, priority, fate, judged: false });
        number
    }

    /// The number of the next packet.
    pub fn next(&self) -> u64 {
        self.oldest + self.packets.len() as u64
    }

    /// Forgets the last packet, new data at `seq`, which was not sent after all.
    pub fn take_back(&mut self, seq: u64) {
        self.segments.take_back(seq);
        let Some(sent) = self.packets.pop_back() else { return };
        let number = self.next();
        let level = &mut self.levels[usize::from(sent.priority)];
        if level.first == number {
            level.first = NOBODY;
            return;
        }
        let same = |other: &Sent| other.priority == sent.priority;
        if let Some(place) = self.packets.iter().rposition(same) {
            level.last = self.oldest + place as u64;
            self.packets[place].next = 0;
        }
    }

    /// A packet was dropped, or (`is_answer`) its ack. The sender is not told: only counts depend
    /// on this.
    pub fn on_dropped(&mut self, number: u64, is_answer: bool) {
        if let Some(sent) = self.packet_mut(number) {
            sent.fate = if is_answer { Fate::AnswerDropped } else { Fate::Dropped };
        }
    }

    /// The ack of a packet has arrived, for a flow that misses nothing. Returns true if the packet
    /// was the oldest one and the ack acknowledges nothing else. Then it shows no loss of another
    /// packet. Otherwise returns false, and nothing changes.
    pub fn on_ack_in_order(&mut self, number: u64, una: u64) -> bool {
        let oldest = self.packets.front().filter(|_| number == self.oldest);
        let Some(level) = oldest.map(|sent| usize::from(sent.priority)) else { return false };
        if !self.segments.acknowledge_first(una, number) {
            return false;
        }
        debug_assert_eq!(self.levels[level].first, number, "what is not lost was not passed");
        self.pass_first(level);
        self.packets.pop_front();
        self.oldest += 1;
        self.on_way_from = self.on_way_from.max(self.oldest);
        if self.packets.front().is_some_and(|sent| sent.fate != Fate::OnItsWay) {
            self.advance_on_way();
            self.forget_settled();
        }
        true
    }

    /// Finds the first packet that is on its way.
    #[inline]
    fn advance_on_way(&mut self) {
        while self.packet(self.on_way_from).is_none_or(|sent| sent.fate != Fate::OnItsWay)
            && self.on_way_from < self.next()
        {
            self.on_way_from += 1;
        }
    }

    /// The ack of a packet has arrived. It acknowledges everything before `una`, and the ranges
    /// `newly` behind it.
    pub fn on_ack(&mut self, number: u64, una: u64, newly: impl Iterator<Item = Range>) {
        self.segments.acknowledge(una, newly, |_, _| {});
        let Some(sent) = self.packet_mut(number) else { return };
        sent.fate = Fate::Answered;
        let level = usize::from(sent.priority);
        self.advance_on_way();
        self.counts.overtaking += u32::from(self.on_way_from < number);
        self.answered = Some(level);
        for level in self.counted_for(level) {
            let first = self.levels[level].first;
            if first == number {
                self.pass_first(level);
            } else if first < number {
                self.levels[level].answered += 1;
            }
        }
    }

    /// The priorities whose packets may be found lost when a later packet of this priority is
    /// answered.
    fn counted_for(&self, answered: usize) -> RangeInclusive<usize> {
        if self.or_worse { 0..=answered } else { answered..=answered }
    }

    /// The first packet of a priority can no longer be found lost. The next packet that was not
    /// answered takes its place.
    fn pass_first(&mut self, level: usize) {
        let Level { first, answered, .. } = self.levels[level];
        let (mut next, mut passed) = (first, 0);
        loop {
            let gap = self.packet(next).map_or(0, |sent| sent.next);
            if gap == 0 {
                self.levels[level].first = NOBODY;
                return;
            }
            next += u64::from(gap);
            if self.packet(next).is_some_and(|sent| sent.fate != Fate::Answered) {
                break;
            }
            passed += 1;
        }
        if self.or_worse {
            let counts =
                |sent: &&Sent| usize::from(sent.priority) >= level && sent.fate == Fate::Answered;
            let between = (first + 1..next).filter_map(|number| self.packet(number));
            passed = between.filter(counts).count() as u32;
        }
        (self.levels[level].first, self.levels[level].answered) = (next, answered - passed);
    }

    /// Finds the packets that are lost by now. Returns the highest number of a new one, if there is
    /// any.
    pub fn detect(&mut self) -> Option<u64> {
        let latest = self.answered.take().and_then(|answered| self.detect_behind(answered));
        self.forget_settled();
        latest
    }

    /// As `detect`, after the ack of a packet of this priority.
    fn detect_behind(&mut self, answered: usize) -> Option<u64> {
        let mut latest = None;
        for level in self.counted_for(answered) {
            loop {
                let Level { first, answered, .. } = self.levels[level];
                if first == NOBODY || answered < self.dupthresh {
                    break;
                }
                self.pass_first(level);
                if self.lose(first) {
                    latest = latest.max(Some(first));
                }
            }
        }
        latest
    }

    /// Takes a packet to be lost, unless its payload has arrived. Returns whether it did.
    fn lose(&mut self, number: u64) -> bool {
        let Some(&Sent { segment, fate, judged, .. }) = self.packet(number) else { return false };
        let waits = self.segments.get(segment).is_some_and(|s| !s.arrived && s.noted == number);
        if judged || !waits || fate == Fate::Answered {
            return false;
        }
        self.segments.lose(segment);
        match fate {
            Fate::Dropped => self.counts.right += 1,
            Fate::AnswerDropped => self.counts.unanswered += 1,
            Fate::OnItsWay | Fate::Answered => self.counts.wrong += 1,
        }
        if let Some(sent) = self.packet_mut(number) {
            sent.judged = true;
        }
        true
    }

    /// The retransmission timer has expired: every packet that has not arrived is lost.
    pub fn on_timeout(&mut self) {
        for place in 0..self.segments.len() {
            let (segment, state) = self.segments.at(place);
            if state.arrived || state.lost {
                continue;
            }
            self.segments.lose(segment);
            if let Some(sent) = self.packet_mut(state.noted) {
                sent.judged = true;
                let is_dropped = sent.fate == Fate::Dropped;
                self.counts.by_timeout += u32::from(is_dropped);
            }
        }
        self.forget_settled();
    }

    /// Forgets the oldest packets on which nothing depends any more.
    fn forget_settled(&mut self) {
        while let Some(&Sent { segment, priority, fate, judged, .. }) = self.packets.front() {
            let is_there = || self.segments.get(segment).is_none_or(|state| state.arrived);
            match fate {
                Fate::Answered => {}
                Fate::OnItsWay => break,
                Fate::Dropped | Fate::AnswerDropped if judged || is_there() => {}
                Fate::Dropped | Fate::AnswerDropped => break,
            }
            let level = usize::from(priority);
            if self.levels[level].first == self.oldest {
                self.pass_first(level);
            }
            self.packets.pop_front();
            self.oldest += 1;
        }
    }

    /// The first segment that is lost.
    pub fn next_lost(&self) -> Option<Range> {
        self.segments.next_lost()
    }

    /// Bytes that are lost and have not been sent again.
    pub fn lost_bytes(&self) -> u64 {
        self.segments.lost_bytes()
    }

    /// What has been counted.
    pub fn counts(&self) -> OrderCounts {
        self.counts
    }

    /// Begins to count anew.
    pub fn reset_counts(&mut self) {
        self.counts = OrderCounts::default();
    }

    #[inline]
    fn packet(&self, number: u64) -> Option<&Sent> {
        self.packets.get(number.checked_sub(self.oldest)? as usize)
    }

    #[inline]
    fn packet_mut(&mut self, number: u64) -> Option<&mut Sent> {
        self.packets.get_mut(number.checked_sub(self.oldest)? as usize)
    }
}

#[cfg(test)]
mod naive;

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 100 bytes are sent, one for each priority, with the segments of these numbers.
    fn sent(or_worse: bool, packets: &[(u64, u8)]) -> Orders {
        let mut orders = Orders::new(100, 3, or_worse);
        for (number, &(segment, priority)) in (0..).zip(packets) {
            let range = (segment * 100, segment * 100 + 100);
            assert_eq!(orders.on_sent(range, priority), number);
        }
        orders
    }

    /// The acks of packets arrive, given by their numbers and segments. Returns the first lost
    /// segment after each.
    fn answered(orders: &mut Orders, packets: &[(u64, u64)]) -> Vec<Option<u64>> {
        let each = packets.iter().map(|&(number, segment)| {
            let range = (segment * 100, segment * 100 + 100);
            orders.on_ack(number, 0, [range].into_iter());
            orders.detect();
            orders.next_lost().map(|(seq, _)| seq / 100)
        });
        each.collect()
    }

    const CLIMBS: [(u64, u8); 7] = [(0, 3), (1, 2), (2, 3), (3, 2), (4, 3), (5, 3), (6, 2)];

    #[test]
    fn a_packet_is_lost_when_three_later_ones_of_its_own_priority_have_arrived() {
        let mut orders = sent(false, &CLIMBS);
        orders.on_dropped(0, false);
        // Two of priority 3 and one of priority 2; then the third of priority 3.
        let acks = [(2, 2), (3, 3), (4, 4), (5, 5)];
        assert_eq!(answered(&mut orders, &acks), [None, None, None, Some(0)]);
        assert_eq!(orders.lost_bytes(), 100);
        let counts = OrderCounts { right: 1, overtaking: 4, ..OrderCounts::default() };
        assert_eq!(orders.counts(), counts);
        // Packet 1, of priority 2, was only late.
        assert_eq!(answered(&mut orders, &[(1, 1), (6, 6)]), [Some(0), Some(0)]);
        assert_eq!(orders.counts(), counts);
    }

    #[test]
    fn worse_priorities_count_where_they_are_asked_for_and_better_ones_never_do() {
        // Of the packets behind packet 1 (priority 2), three of priority 3 arrive.
        let acks = [(2, 2), (4, 4), (5, 5)];
        let mut own = sent(false, &CLIMBS);
        own.on_dropped(1, false);
        assert_eq!(answered(&mut own, &[(0, 0)]), [None]);
        assert_eq!(answered(&mut own, &acks), [None; 3]);
        let mut worse = sent(true, &CLIMBS);
        worse.on_dropped(1, false);
        assert_eq!(answered(&mut worse, &[(0, 0)]), [None]);
        assert_eq!(answered(&mut worse, &acks), [None, None, Some(1)]);
        // Three of priority 2 behind packet 0 (priority 3) say nothing of it.
        let mut better = sent(true, &CLIMBS);
        assert_eq!(answered(&mut better, &[(1, 1), (3, 3), (6, 6)]), [None; 3]);
    }

    #[test]
    fn repairs_count_with_the_priority_with_which_they_are_sent() {
        let mut orders = sent(false, &[(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)]);
        orders.on_dropped(0, false);
        orders.on_dropped(1, false);
        let acks = [(2, 2), (3, 3), (4, 4)];
        assert_eq!(answered(&mut orders, &acks), [None, None, Some(0)]);
        assert_eq!(orders.lost_bytes(), 200);
        // Repairs are packets 5 and 6, of priorities 2 and 1; then three of priority 1, 7 to 9.
        for (segment, priority) in [(0, 2), (1, 1), (5, 1), (6, 1), (7, 1)] {
            orders.on_sent((segment * 100, segment * 100 + 100), priority);
        }
        assert_eq!(orders.lost_bytes(), 0);
        orders.on_dropped(5, false);
        orders.on_dropped(6, false);
        // The repair of segment 1 is lost once 7, 8 and 9 have arrived; that of segment 0, of
        // another priority, waits for a timeout.
        let acks = [(7, 5), (8, 6), (9, 7)];
        assert_eq!(answered(&mut orders, &acks), [None, None, Some(1)]);
        orders.on_timeout();
        assert_eq!((orders.next_lost(), orders.lost_bytes()), (Some((0, 100)), 200));
        let counts = orders.counts();
        assert_eq!((counts.right, counts.wrong, counts.by_timeout), (3, 0, 1));
    }

    #[test]
    fn the_simulator_knows_which_losses_were_none() {
        let mut orders = sent(false, &[(0, 1), (1, 1), (2, 1), (3, 1), (4, 1)]);
        // Packet 0 is late, and the ack of packet 1 is dropped.
        orders.on_dropped(1, true);
        answered(&mut orders, &[(2, 2), (3, 3), (4, 4)]);
        let counts = OrderCounts { overtaking: 3, wrong: 1, unanswered: 1, ..Default::default() };
        assert_eq!((orders.counts(), orders.lost_bytes()), (counts, 200));
        // Then it arrives, and its ack acknowledges everything.
        orders.on_ack(0, 500, std::iter::empty());
        orders.detect();
        assert_eq!((orders.next_lost(), orders.counts()), (None, counts));
        assert_eq!((orders.packets.len(), orders.next()), (0, 5));
    }

    #[test]
    fn what_another_ack_has_told_of_is_not_lost() {
        let mut orders = sent(false, &[(0, 1), (1, 1), (2, 1), (3, 1)]);
        orders.on_dropped(0, true);
        // The ack of packet 1 acknowledges segment 0 as well.
        orders.on_ack(1, 200, std::iter::empty());
        assert_eq!(answered(&mut orders, &[(2, 2), (3, 3)]), [None, None]);
        assert_eq!(orders.counts(), OrderCounts::default());
    }

    #[test]
    fn a_packet_that_was_not_sent_after_all_leaves_nothing() {
        let mut orders = sent(false, &[(0, 1), (1, 2)]);
        orders.take_back(100);
        assert_eq!((orders.next(), orders.levels[2].first), (1, NOBODY));
        assert_eq!(orders.on_sent((100, 200), 1), 1);
        assert_eq!((orders.levels[1].first, orders.levels[1].last), (0, 1));
        // The last of three, which has the priority of the first. No packet was sent after it.
        orders.on_sent((200, 300), 2);
        orders.on_sent((300, 400), 1);
        orders.take_back(300);
        assert_eq!((orders.levels[1].last, orders.packets[1].next), (1, 0));
        assert_eq!((orders.packets[0].next, orders.on_sent((300, 400), 2)), (1, 3));
        assert_eq!((orders.levels[2].first, orders.packets[2].next), (2, 1));
    }
}

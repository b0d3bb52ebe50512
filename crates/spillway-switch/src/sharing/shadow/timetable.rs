//! The virtual Longest Queue Drop in the slotted model: a timetable of what it will send.
//!
//! In this model packets are alike, and in each slot all ports send one packet, at the same time.
//! So when a packet joins its queue, it is known when it will be sent, unless it is pushed out.
//! What LQD holds is a table with a row for every future slot and a column for every port. A queue
//! is as long as its column, the longest one ends in the last row that has any packets, and when a
//! slot is over, its row is cleared. A row has one bit for each port, so only its words are
//! searched.
//!
//! Outcomes are counted as the virtual switch counts them, when a port is looked at. One port is
//! looked at when a packet arrives for it or one of its queues is asked for. All ports are looked
//! at when there seems to be no room. Decisions do not depend on when this happens.

use super::super::victim::VictimRule;
use super::{Ledger, Prediction, Truth};
use crate::buffer::QueueId;
use crate::catalogue::Environment;
use crate::policy::Arrival;
use spillway_engine::Time;

/// The most words that a table may have, of 24 bytes each.
const MOST_WORDS: u64 = 1 << 20;

/// What LQD will send in each slot.
#[derive(Clone, Debug)]
pub struct Timetable {
    rule: VictimRule,
    capacity: u64,
    /// The picoseconds in a slot.
    slot: u64,
    /// When the present slot ends.
    until: Time,
    /// The row of the present slot; the rows before it have been cleared.
    first: u64,
    /// The row after the last one that has any packets, while there are any.
    end: u64,
    columns: Vec<Column>,
    /// The rows, as a circular buffer.
    table: Vec<Word>,
    /// The number of rows in the table (a power of two), less one.
    mask: u64,
    /// The number of words in a row.
    words: usize,
    /// The number of packets in the table.
    held: u64,
    /// The number of packets whose outcomes are open: those in the table, and those sent since
    /// their port was last looked at.
    open: u64,
    /// The value of `first` when all ports were last looked at.
    looked_at: u64,
    /// The queue of the last arrival, if that was accepted.
    last: Option<QueueId>,
    /// The counts, as if all packets with open outcomes were sent.
    truth: Truth,
}

/// 64 ports in a row.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// The ports that have a packet in this row.
    waiting: u64,
    /// The ports whose last packet in this row was predicted to be accepted, or dropped.
    accept: u64,
    drop: u64,
}

/// The state of a port.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    /// The row after the one with its last packet.
    end: u64,
    /// The value of `first` when the port was last looked at.
    looked_at: u64,
}

impl Timetable {
    /// An empty timetable; `None` outside the slotted model, or if it would be too large.
    pub fn new(rule: VictimRule, environment: &Environment) -> Option<Timetable> {
        let slot = environment.service.slot?.ps();
        let (capacity, ports) = (environment.capacity, environment.port_rates.len());
        let (rows, words) = (capacity.checked_next_power_of_two()?, ports.div_ceil(64));
        let size = rows.checked_mul(words as u64).filter(|&size| size <= MOST_WORDS)?;
        Some(Timetable {
            rule,
            capacity,
            slot,
            until: Time::from_ps(slot),
            first: 0,
            end: 0,
            columns: vec![Column::default(); ports],
            table: vec![Word::default(); size as usize],
            mask: rows - 1,
            words,
            held: 0,
            open: 0,
            looked_at: 0,
            last: None,
            truth: Truth::default(),
        })
    }

    /// The number of packets in a queue under LQD.
    #[inline]
    pub fn bytes(&self, queue: QueueId) -> u32 {
        self.columns[queue as usize].end.saturating_sub(self.first) as u32
    }

    /// Clears the rows of past slots, and settles the outcomes of a queue's packets.
    #[inline]
    pub fn look_at(&mut self, now: Time, queue: QueueId) {
        if now >= self.until {
            self.pass(now);
        }
        let column = &mut self.columns[queue as usize];
        let looked_at = column.looked_at.max(self.looked_at);
        self.open -= column.end.min(self.first).saturating_sub(looked_at);
        column.looked_at = self.first;
    }

    /// Treats an arrival as LQD would, and returns the number of packets in its queue afterwards.
    #[inline]
    pub fn on_arrival(&mut self, arrival: &Arrival) -> u32 {
        debug_assert_eq!(arrival.size, 1, "a packet is a byte where time has slots");
        self.look_at(arrival.now, arrival.queue);
        self.last = None;
        if self.open == self.capacity && !self.make_room(arrival.queue) {
            self.truth.learn(Prediction::None, true);
            return self.bytes(arrival.queue);
        }
        let column = &mut self.columns[arrival.queue as usize];
        let row = column.end.max(self.first);
        column.end = row + 1;
        self.end = self.end.max(row + 1);
        self.held += 1;
        self.open += 1;
        self.last = Some(arrival.queue);
        self.truth.learn(Prediction::None, false);
        let (word, bit) = self.cell(row, arrival.queue);
        word.waiting |= bit;
        word.accept &= !bit;
        word.drop &= !bit;
        (row + 1 - self.first) as u32
    }

    /// Records a prediction for the packet that has just arrived.
    #[inline]
    pub fn note(&mut self, prediction: Prediction) {
        self.truth.forget(Prediction::None, self.last.is_none());
        self.truth.learn(prediction, self.last.is_none());
        let Some(queue) = self.last else { return };
        let (word, bit) = self.cell(self.columns[queue as usize].end - 1, queue);
        match prediction {
            Prediction::None => {}
            Prediction::Accept => word.accept |= bit,
            Prediction::Drop => word.drop |= bit,
        }
    }

    /// How often predictions have come true, for all packets whose outcomes have been settled.
    pub fn truth(&self) -> Truth {
        let mut truth = self.truth;
        for (queue, column) in (0..).zip(&self.columns) {
            for row in column.looked_at.max(self.looked_at)..column.end {
                truth.forget(self.said(row, queue), false);
            }
        }
        truth
    }

    /// Looks at all ports, and pushes out a packet for an arrival if the buffer is full; false if
    /// the arrival is refused.
    #[inline]
    fn make_room(&mut self, arriving: QueueId) -> bool {
        self.looked_at = self.first;
        self.open = self.held;
        if self.held < self.capacity {
            return true;
        }
        let longest = (self.end - self.first) as u32;
        let held = Some(self.bytes(arriving));
        match self.rule.settle((longest, || self.first_of_longest()), arriving, held, 1) {
            Some(victim) if victim != arriving || !self.rule.count_arrival => {
                self.push_out(victim);
                true
            }
            _ => false,
        }
    }

    /// The first of the longest queues.
    #[inline]
    fn first_of_longest(&self) -> QueueId {
        let row = self.row(self.end - 1);
        let words = &self.table[row..][..self.words];
        let found = (0..).zip(words).find(|(_, word)| word.waiting != 0);
        let (place, word) = found.expect("the last row has a packet");
        place * 64 + word.waiting.trailing_zeros()
    }

    /// Removes the last packet of a queue, which is one of the longest.
    #[inline]
    fn push_out(&mut self, queue: QueueId) {
        let row = self.end - 1;
        let said = self.said(row, queue);
        self.truth.forget(said, false);
        self.truth.learn(said, true);
        self.columns[queue as usize].end = row;
        self.held -= 1;
        self.open -= 1;
        let (word, bit) = self.cell(row, queue);
        word.waiting &= !bit;
        let last = self.row(row);
        let is_empty = self.table[last..][..self.words].iter().all(|word| word.waiting == 0);
        self.end -= u64::from(is_empty);
    }

    /// Clears the rows of all past slots.
    fn pass(&mut self, now: Time) {
        let first = now.ps() / self.slot;
        self.until = Time::from_ps((first + 1) * self.slot);
        while self.first < first && self.held > 0 {
            let row = self.row(self.first);
            for word in &mut self.table[row..][..self.words] {
                self.held -= u64::from(word.waiting.count_ones());
                word.waiting = 0;
            }
            self.first += 1;
        }
        self.first = first;
    }

    /// The prediction for a packet.
    #[inline]
    fn said(&self, row: u64, port: QueueId) -> Prediction {
        let word = &self.table[self.row(row) + port as usize / 64];
        match (word.accept >> (port % 64) & 1, word.drop >> (port % 64) & 1) {
            (0, 0) => Prediction::None,
            (_, 0) => Prediction::Accept,
            _ => Prediction::Drop,
        }
    }

    /// The index at which a row begins.
    #[inline]
    fn row(&self, row: u64) -> usize {
        (row & self.mask) as usize * self.words
    }

    /// A port's word and bit in a row.
    #[inline]
    fn cell(&mut self, row: u64, port: QueueId) -> (&mut Word, u64) {
        let row = self.row(row);
        (&mut self.table[row + port as usize / 64], 1 << (port % 64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::victim::Tie;
    use super::*;
    use crate::catalogue::Service;

    #[test]
    fn a_slot_takes_a_packet_off_every_queue() {
        // A slot takes 2 ps. Of four packets for port 0, three fill the buffer. A packet for port 1
        // pushes out the last of them; two rows are left, {0, 1} and {0}. A slot later, {0} is
        // left. Of three packets for port 1, two fill the buffer. The third is refused, because its
        // own queue is the longest.
        let example = Environment::example(2);
        let service = Service { slot: Some(Time::from_ps(2)), ..example.service.clone() };
        let environment = Environment { capacity: 3, service, ..example };
        let rule = VictimRule { count_arrival: true, tie: Tie::ArrivingQueue };
        let mut timetable = Timetable::new(rule, &environment).unwrap();
        let mut arrive = |ps: u64, queue: QueueId| {
            let now = Time::from_ps(ps);
            timetable.on_arrival(&Arrival { now, queue, size: 1, ..Arrival::default() })
        };
        assert_eq!([0; 4].map(|queue| arrive(0, queue)), [1, 2, 3, 3]);
        assert_eq!(arrive(0, 1), 1);
        assert_eq!([1; 3].map(|queue| arrive(2, queue)), [1, 2, 2]);
        assert_eq!((timetable.bytes(0), timetable.bytes(1)), (1, 2));
    }
}

//! The imagined Longest Queue Drop where time has slots: a timetable of what it will send.
//!
//! There packets are all alike, and every port sends one in a slot, all at once. So when a packet
//! will be sent, if it is not pushed out, is known when it joins its queue, and what LQD holds is a
//! table: a row for every slot to come, a column for every port. A queue is as long as its column,
//! the longest ends in the last row that has any packets, and when a slot is over its row is struck
//! out. A row is a bit for each port, so nothing is searched but its words.
//!
//! Fates are counted as the imagined switch counts them: when somebody looks at a packet's port,
//! because another comes for it or the queue is asked for, or at all ports, because there seems to
//! be no room. Decisions do not depend on that.

use super::super::victim::VictimRule;
use super::{Prediction, Truth};
use crate::buffer::QueueId;
use crate::catalogue::Environment;
use crate::policy::Arrival;
use spillway_engine::Time;

/// Words of a table at most, of 24 bytes each.
const MOST_WORDS: u64 = 1 << 20;

/// What LQD will send, slot by slot.
#[derive(Clone, Debug)]
pub struct Timetable {
    rule: VictimRule,
    capacity: u64,
    /// Picoseconds of a slot.
    slot: u64,
    /// When the slot that has begun is over.
    until: Time,
    /// Its row: those before it have been struck out.
    first: u64,
    /// The row after the last that has any packets, while there are any.
    end: u64,
    columns: Vec<Column>,
    /// The rows, around and around.
    table: Vec<Word>,
    /// Rows of the table, a power of two, less one.
    mask: u64,
    /// Words of a row.
    words: usize,
    /// Packets in the table.
    held: u64,
    /// Packets whose fates are open: those held, and those sent that nobody has looked for.
    open: u64,
    /// The row that was the first when all ports were last looked at.
    looked_at: u64,
    /// The queue of the arrival before, if it was accepted.
    last: Option<QueueId>,
    /// As if all whose fates are open were sent.
    truth: Truth,
}

/// 64 ports of a row.
#[derive(Clone, Copy, Debug, Default)]
struct Word {
    /// Who has a packet there.
    waiting: u64,
    /// Of whose packet was said, last time there was one, that it will be accepted, or dropped.
    accept: u64,
    drop: u64,
}

/// A port.
#[derive(Clone, Copy, Debug, Default)]
struct Column {
    /// The row after that of its last packet.
    end: u64,
    /// The row that was the first when it was last looked at.
    looked_at: u64,
}

impl Timetable {
    /// An empty one. `None` where time has no slots, or where it would be too large.
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

    /// Packets in LQD's queue.
    #[inline]
    pub fn bytes(&self, queue: QueueId) -> u32 {
        self.columns[queue as usize].end.saturating_sub(self.first) as u32
    }

    /// Strikes out what has been sent by now, and looks for the fates of a queue's packets.
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

    /// An arrival, as LQD would treat it, and the packets in its queue afterwards.
    #[inline]
    pub fn on_arrival(&mut self, arrival: &Arrival) -> u32 {
        debug_assert_eq!(arrival.size, 1, "a packet is a byte where time has slots");
        self.look_at(arrival.now, arrival.queue);
        self.last = None;
        if self.open == self.capacity && !self.make_room(arrival.queue) {
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

    /// Somebody says of the packet that has just arrived whether it will be dropped.
    #[inline]
    pub fn note(&mut self, prediction: Prediction) {
        let Some(queue) = self.last else { return self.truth.learn(prediction, true) };
        let (word, bit) = self.cell(self.columns[queue as usize].end - 1, queue);
        match prediction {
            Prediction::None => {}
            Prediction::Accept => word.accept |= bit,
            Prediction::Drop => word.drop |= bit,
        }
        self.truth.forget(Prediction::None, false);
        self.truth.learn(prediction, false);
    }

    /// How often what was said has come true, as far as anybody has looked.
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

    /// The first queue of those that are the longest.
    #[inline]
    fn first_of_longest(&self) -> QueueId {
        let row = self.row(self.end - 1);
        let words = &self.table[row..][..self.words];
        let found = (0..).zip(words).find(|(_, word)| word.waiting != 0);
        let (place, word) = found.expect("the last row has a packet");
        place * 64 + word.waiting.trailing_zeros()
    }

    /// Takes the last packet of a queue, one of the longest, off the table.
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

    /// Strikes out the rows of all slots that are over.
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

    /// What was said of a packet.
    #[inline]
    fn said(&self, row: u64, port: QueueId) -> Prediction {
        let word = &self.table[self.row(row) + port as usize / 64];
        match (word.accept >> (port % 64) & 1, word.drop >> (port % 64) & 1) {
            (0, 0) => Prediction::None,
            (_, 0) => Prediction::Accept,
            _ => Prediction::Drop,
        }
    }

    /// Where a row begins.
    #[inline]
    fn row(&self, row: u64) -> usize {
        (row & self.mask) as usize * self.words
    }

    /// The word and the bit of a port in a row.
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
        // A slot is 2 ps. Of four packets for port 0 three fill the buffer. One for port 1 pushes
        // the last of them out: two rows, {0, 1} and {0}. A slot later {0} is left. Of three for
        // port 1 two fill the buffer, and the third is refused, its own queue being the longest.
        let example = Environment::example(2);
        let service = Service { slot: Some(Time::from_ps(2)), ..example.service.clone() };
        let environment = Environment { capacity: 3, service, ..example };
        let rule = VictimRule { count_arrival: true, tie: Tie::ArrivingQueue };
        let mut timetable = Timetable::new(rule, &environment).unwrap();
        let mut arrive = |ps: u64, queue: QueueId| {
            let now = Time::from_ps(ps);
            timetable.on_arrival(&Arrival { now, queue, class: 0, size: 1, first_rtt: false })
        };
        assert_eq!([0; 4].map(|queue| arrive(0, queue)), [1, 2, 3, 3]);
        assert_eq!(arrive(0, 1), 1);
        assert_eq!([1; 3].map(|queue| arrive(2, queue)), [1, 2, 2]);
        assert_eq!((timetable.bytes(0), timetable.bytes(1)), (1, 2));
    }
}

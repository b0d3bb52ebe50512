//! The rule a second time: every packet ever sent, gone through from the first to the last after
//! every ack.

use super::*;
use proptest::prelude::*;

const MSS: u64 = 100;

#[derive(Clone, Copy, Debug)]
struct Packet {
    segment: u64,
    priority: u8,
    is_answered: bool,
}

#[derive(Debug, Default)]
struct Naive {
    packets: Vec<Packet>,
    /// Segments that the receiver has told of.
    arrived: Vec<u64>,
    lost: Vec<u64>,
}

impl Naive {
    fn send(&mut self, segment: u64, priority: u8) {
        self.lost.retain(|&lost| lost != segment);
        self.packets.push(Packet { segment, priority, is_answered: false });
    }

    fn answer(&mut self, number: usize, dupthresh: usize, or_worse: bool) {
        self.packets[number].is_answered = true;
        self.arrived.push(self.packets[number].segment);
        for (number, packet) in self.packets.iter().enumerate() {
            let behind = &self.packets[number + 1..];
            let counts = |other: &&Packet| {
                let worse = or_worse && other.priority > packet.priority;
                other.is_answered && (worse || other.priority == packet.priority)
            };
            let is_last = behind.iter().all(|other| other.segment != packet.segment);
            if is_last && behind.iter().filter(counts).count() >= dupthresh {
                self.lost.push(packet.segment);
            }
        }
        self.lost.retain(|lost| !self.arrived.contains(lost));
        self.lost.sort_unstable();
        self.lost.dedup();
    }

    /// The number of segments that have arrived, if those before them have, too.
    fn in_order(&self) -> Option<u64> {
        let missing = (0..).find(|segment| !self.arrived.contains(segment))?;
        self.arrived.iter().all(|&segment| segment < missing).then_some(missing)
    }

    fn lose_all(&mut self, segments: u64) {
        self.lost = (0..segments).filter(|segment| !self.arrived.contains(segment)).collect();
    }
}

/// What happens next.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// New data goes out with this priority.
    Send(u8),
    /// The first lost segment goes out again with this priority.
    Repair(u8),
    /// The ack of a packet that is on its way arrives; which one, as a share of them.
    Answer(f64),
    /// The timer expires.
    Timeout,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0u8..20, 0u8..4, 0.0..1.0).prop_map(|(kind, priority, share)| match kind {
        0..7 => Step::Send(priority),
        7..10 => Step::Repair(priority),
        10..19 => Step::Answer(share),
        _ => Step::Timeout,
    });
    prop::collection::vec(step, 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_segments_are_lost(steps in steps(), dupthresh in 1u32..5, or_worse: bool) {
        let mut orders = Orders::new(MSS, dupthresh, or_worse);
        // It never takes the short way of acks in order.
        let mut twin = orders.clone();
        let mut naive = Naive::default();
        let range = |segment: u64| (segment * MSS, (segment + 1) * MSS);
        let (mut segments, mut on_way) = (0, Vec::new());
        for step in steps {
            match step {
                Step::Send(priority) => {
                    on_way.push(orders.on_sent(range(segments), priority));
                    twin.on_sent(range(segments), priority);
                    naive.send(segments, priority);
                    segments += 1;
                }
                Step::Repair(priority) => {
                    let Some((seq, _)) = orders.next_lost() else { continue };
                    on_way.push(orders.on_sent(range(seq / MSS), priority));
                    twin.on_sent(range(seq / MSS), priority);
                    naive.send(seq / MSS, priority);
                }
                Step::Answer(share) => {
                    if on_way.is_empty() {
                        continue;
                    }
                    let number = on_way.remove((share * on_way.len() as f64) as usize);
                    let before = naive.in_order().filter(|_| naive.lost.is_empty());
                    naive.answer(number as usize, dupthresh as usize, or_worse);
                    let missing = (0..segments).find(|segment| !naive.arrived.contains(segment));
                    let una = missing.unwrap_or(segments) * MSS;
                    let range = range(naive.packets[number as usize].segment);
                    let moves_on = before.is_some_and(|before| before * MSS < una);
                    let is_in_order = moves_on && naive.in_order().is_some();
                    if !(is_in_order && orders.on_ack_in_order(number, una)) {
                        orders.on_ack(number, una, [range].into_iter());
                        orders.detect();
                    }
                    twin.on_ack(number, una, [range].into_iter());
                    twin.detect();
                }
                Step::Timeout => {
                    orders.on_timeout();
                    twin.on_timeout();
                    naive.lose_all(segments);
                }
            }
            prop_assert_eq!(orders.next_lost(), naive.lost.first().map(|&lost| range(lost)));
            prop_assert_eq!(orders.lost_bytes(), naive.lost.len() as u64 * MSS);
            let state = |orders: &Orders| (orders.counts(), orders.next(), orders.oldest);
            prop_assert_eq!(state(&orders), state(&twin));
        }
    }
}

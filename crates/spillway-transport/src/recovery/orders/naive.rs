//! A second implementation of the rule. After every ack it goes through every packet ever sent,
//! from the first to the last.

use super::*;
use proptest::prelude::*;

const MSS: u64 = 100;

#[derive(Clone, Copy, Debug)]
struct Packet {
    segment: u64,
    priority: u8,
    fate: Fate,
}

#[derive(Debug, Default)]
struct Naive {
    packets: Vec<Packet>,
    /// Segments that the receiver has.
    held: Vec<u64>,
    /// Segments that it has reported.
    arrived: Vec<u64>,
    lost: Vec<u64>,
    counts: OrderCounts,
}

impl Naive {
    fn send(&mut self, segment: u64, priority: u8) {
        self.lost.retain(|&lost| lost != segment);
        self.packets.push(Packet { segment, priority, fate: Fate::OnItsWay });
    }

    /// A packet is dropped, or the ack of one that arrives.
    fn drop(&mut self, number: u64, is_answer: bool) {
        let packet = &mut self.packets[number as usize];
        packet.fate = if is_answer { Fate::AnswerDropped } else { Fate::Dropped };
        self.held.extend(is_answer.then_some(packet.segment));
    }

    /// The ack of a packet arrives. Returns what it acknowledges.
    fn answer(&mut self, number: u64, dupthresh: usize, or_worse: bool) -> u64 {
        let packet = &mut self.packets[number as usize];
        packet.fate = Fate::Answered;
        let segment = packet.segment;
        self.held.push(segment);
        let una = first_missing(&self.held);
        self.arrived.extend((0..una).chain([segment]));
        self.lost.retain(|lost| !self.arrived.contains(lost));
        let is_on_its_way = |packet: &Packet| packet.fate == Fate::OnItsWay;
        let overtakes = self.packets[..number as usize].iter().any(is_on_its_way);
        self.counts.overtaking += u32::from(overtakes);
        for (number, packet) in self.packets.iter().enumerate() {
            let behind = &self.packets[number + 1..];
            let counts = |other: &&Packet| {
                let worse = or_worse && other.priority > packet.priority;
                other.fate == Fate::Answered && (worse || other.priority == packet.priority)
            };
            let is_last = behind.iter().all(|other| other.segment != packet.segment);
            let is_known =
                [&self.arrived, &self.lost].iter().any(|all| all.contains(&packet.segment));
            if is_last && !is_known && behind.iter().filter(counts).count() >= dupthresh {
                self.lost.push(packet.segment);
                match packet.fate {
                    Fate::Dropped => self.counts.right += 1,
                    Fate::AnswerDropped => self.counts.unanswered += 1,
                    Fate::OnItsWay | Fate::Answered => self.counts.wrong += 1,
                }
            }
        }
        self.lost.sort_unstable();
        una
    }

    /// Whether nothing before the last arrived segment is missing, and nothing is lost.
    fn is_in_order(&self) -> bool {
        let told = first_missing(&self.arrived);
        self.lost.is_empty() && self.arrived.iter().all(|&segment| segment < told)
    }

    /// Whether the receiver tells of ranges behind a gap.
    fn has_gap(&self) -> bool {
        let missing = first_missing(&self.held);
        self.held.iter().any(|&segment| segment > missing)
    }

    fn lose_all(&mut self, segments: u64) {
        for segment in 0..segments {
            if self.arrived.contains(&segment) || self.lost.contains(&segment) {
                continue;
            }
            let last = self.packets.iter().rfind(|packet| packet.segment == segment);
            let is_dropped = last.is_some_and(|packet| packet.fate == Fate::Dropped);
            self.counts.by_timeout += u32::from(is_dropped);
            self.lost.push(segment);
        }
        self.lost.sort_unstable();
    }
}

/// The first segment that is not among these.
fn first_missing(segments: &[u64]) -> u64 {
    (0..).find(|segment| !segments.contains(segment)).unwrap_or(u64::MAX)
}

/// What happens next. Packets are given as a share of those that are on their way.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// New data goes out with this priority.
    Send(u8),
    /// As `Send`, but the NIC refuses the data.
    Refuse(u8),
    /// The first lost segment goes out again with this priority.
    Repair(u8),
    /// The ack of a packet arrives.
    Answer(f64),
    /// The ack of the oldest one arrives.
    AnswerFirst,
    /// A packet is dropped, or its ack.
    Drop(f64, bool),
    /// The timer expires.
    Timeout,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0u8..32, 0u8..4, 0.0..1.0, any::<bool>()).prop_map(
        |(kind, priority, share, is_answer)| match kind {
            0..10 => Step::Send(priority),
            10..11 => Step::Refuse(priority),
            11..15 => Step::Repair(priority),
            15..22 => Step::Answer(share),
            22..28 => Step::AnswerFirst,
            28..31 => Step::Drop(share, is_answer),
            _ => Step::Timeout,
        },
    );
    prop::collection::vec(step, 1..300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_segments_are_lost(steps in steps(), dupthresh in 1u32..5, or_worse: bool) {
        let mut orders = Orders::new(MSS, dupthresh, or_worse);
        // It never takes the short way of acks in order.
        let mut twin = orders.clone();
        let mut naive = Naive::default();
        let range = |segment: u64| (segment * MSS, (segment + 1) * MSS);
        let (mut segments, mut on_way) = (0, Vec::new());
        for step in steps {
            let of_share = |share: f64| (share * on_way.len() as f64) as usize;
            let place = match step {
                Step::Answer(share) | Step::Drop(share, _) => of_share(share),
                _ => 0,
            };
            match step {
                Step::Send(priority) => {
                    on_way.push(orders.on_sent(range(segments), priority));
                    twin.on_sent(range(segments), priority);
                    naive.send(segments, priority);
                    segments += 1;
                }
                Step::Refuse(priority) => {
                    for orders in [&mut orders, &mut twin] {
                        orders.on_sent(range(segments), priority);
                        orders.take_back(segments * MSS);
                    }
                }
                Step::Repair(priority) => {
                    let Some((seq, _)) = orders.next_lost() else { continue };
                    on_way.push(orders.on_sent(range(seq / MSS), priority));
                    twin.on_sent(range(seq / MSS), priority);
                    naive.send(seq / MSS, priority);
                }
                Step::Answer(_) | Step::AnswerFirst | Step::Drop(..) if on_way.is_empty() => {}
                Step::Answer(_) | Step::AnswerFirst => {
                    let number = on_way.remove(place);
                    let (was_in_order, before) = (naive.is_in_order(), first_missing(&naive.arrived));
                    let una = naive.answer(number, dupthresh as usize, or_worse) * MSS;
                    let range = range(naive.packets[number as usize].segment);
                    let moves_on = una > before * MSS && was_in_order && !naive.has_gap();
                    if !(moves_on && orders.on_ack_in_order(number, una)) {
                        orders.on_ack(number, una, [range].into_iter());
                        orders.detect();
                    }
                    twin.on_ack(number, una, [range].into_iter());
                    twin.detect();
                }
                Step::Drop(_, is_answer) => {
                    let number = on_way.remove(place);
                    naive.drop(number, is_answer);
                    orders.on_dropped(number, is_answer);
                    twin.on_dropped(number, is_answer);
                }
                Step::Timeout => {
                    orders.on_timeout();
                    twin.on_timeout();
                    naive.lose_all(segments);
                }
            }
            prop_assert_eq!(orders.next_lost(), naive.lost.first().map(|&lost| range(lost)));
            prop_assert_eq!(orders.lost_bytes(), naive.lost.len() as u64 * MSS);
            prop_assert_eq!(orders.counts(), naive.counts);
            prop_assert_eq!(format!("{orders:?}"), format!("{twin:?}"));
        }
    }
}

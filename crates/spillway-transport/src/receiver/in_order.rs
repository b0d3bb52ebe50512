//! A receiver that accepts only the packet that it expects, like RDMA's NICs under go-back-N. It
//! needs no memory for packets that come too early.

use super::{AckFields, AckPolicy, EcnEcho, Receiver, Segment};
use spillway_engine::Time;
use std::cmp::Ordering;

/// How such a receiver answers packets that it discards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InOrderRule {
    /// The time after which a NACK for the same byte is sent again, if packets still come too
    /// early.
    pub nack_interval: Time,
    /// Whether a packet that has arrived before is acknowledged.
    pub answers_old: bool,
}

/// What such a receiver keeps in addition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InOrder {
    /// The byte of the last NACK, and when it was sent.
    nacked: Option<(u64, Time)>,
    /// Packets that came too early, and were discarded.
    pub discarded: u32,
}

impl InOrder {
    /// Whether a packet that comes now, too early, causes a NACK for byte `expected`. If so, the
    /// NACK counts as sent.
    fn nacks(&mut self, now: Time, expected: u64, interval: Time) -> bool {
        let is_due = self
            .nacked
            .is_none_or(|(nacked, at)| nacked != expected || now >= at.saturating_add(interval));
        if is_due {
            self.nacked = Some((expected, now));
        }
        is_due
    }
}

impl Receiver {
    /// A data packet has arrived. Returns the number of new bytes, and passes the acks that are due
    /// to `reply`: none, one or two. A NACK is an ack that tells which packet came too early.
    #[cold]
    pub fn on_segment_in_order(
        &mut self,
        now: Time,
        segment: &Segment,
        policy: &AckPolicy,
        (rule, state): (InOrderRule, &mut InOrder),
        mut reply: impl FnMut(AckFields),
    ) -> u64 {
        let order = segment.seq.cmp(&self.next);
        let is_answered = match order {
            Ordering::Equal => return self.on_segment(now, segment, policy, reply),
            Ordering::Less => rule.answers_old,
            Ordering::Greater => {
                state.discarded += 1;
                state.nacks(now, self.next, rule.nack_interval)
            }
        };
        if !is_answered {
            // The packet's own mark is lost with it. A latched mark, which is echoed until the
            // sender cuts, is not lost.
            if policy.echo == EcnEcho::Latched {
                self.note_mark(now, segment, policy, reply);
            }
            return 0;
        }
        self.note_mark(now, segment, policy, &mut reply);
        let mut fields = AckFields { sent_at: segment.sent_at, ..self.ack(now, None) };
        if order == Ordering::Greater {
            fields.sack = Some(segment.block());
        }
        reply(fields);
        0
    }
}

#[cfg(test)]
mod tests {
    use super::super::Tells;
    use super::*;

    const RULE: InOrderRule = InOrderRule { nack_interval: Time::from_us(500), answers_old: false };
    const EACH: AckPolicy = AckPolicy {
        every: 1,
        delay: Time::from_us(40),
        quick: 0,
        echo: EcnEcho::PerPacket,
        tells: Tells::Ranges,
        times_last: false,
        asked: true,
        in_order: Some(RULE),
    };

    /// An ack: the segment that it asks for, the segment that came too early if it is a NACK, when
    /// the answered packet was sent, and whether it echoes a mark.
    type Told = (u64, Option<u64>, u64, bool);

    /// A receiver whose segments have 100 bytes.
    struct Bench {
        receiver: Receiver,
        state: InOrder,
        policy: AckPolicy,
    }

    impl Bench {
        fn new(policy: AckPolicy) -> Bench {
            Bench { receiver: Receiver::default(), state: InOrder::default(), policy }
        }

        /// A segment arrives that was sent 5 us before. Returns the acks.
        fn comes(&mut self, us: u64, number: u64, ce: bool) -> Vec<Told> {
            let sent_at = Time::from_us(us - 5);
            let segment =
                Segment { seq: number * 100, payload: 100, ce, cwr: false, sent_at, asks: false };
            let (rule, mut acks) = (self.policy.in_order.unwrap(), Vec::new());
            let before = self.receiver.next();
            let new = self.receiver.on_segment_in_order(
                Time::from_us(us),
                &segment,
                &self.policy,
                (rule, &mut self.state),
                |ack| {
                    let early = ack.sack.map(|[(start, _), ..]| start / 100);
                    acks.push((ack.seq / 100, early, ack.sent_at.ps() / 1_000_000, ack.ece));
                },
            );
            assert_eq!(self.receiver.next(), before + new);
            assert_eq!(self.receiver.delivered(), self.receiver.next());
            acks
        }
    }

    /// Segment 1 is lost. 2 causes a NACK, 3 and 4 come within 500 us of it. 1 is sent again and
    /// lost again, and 2 comes 1 ps before the interval is over, 3 when it is. Then all come.
    #[test]
    fn a_gap_is_told_once_in_an_interval() {
        let mut bench = Bench::new(EACH);
        assert_eq!(bench.comes(10, 0, false), [(1, None, 5, false)]);
        assert_eq!(bench.comes(12, 2, false), [(1, Some(2), 7, false)]);
        assert_eq!(bench.comes(13, 3, false), []);
        assert_eq!(bench.comes(14, 4, false), []);
        assert_eq!(bench.comes(511, 2, false), []);
        assert_eq!(bench.comes(512, 3, false), [(1, Some(3), 507, false)]);
        assert_eq!(bench.comes(513, 4, false), []);
        assert_eq!(bench.comes(600, 1, false), [(2, None, 595, false)]);
        assert_eq!(bench.comes(601, 2, false), [(3, None, 596, false)]);
        assert_eq!(bench.state.discarded, 6);
    }

    #[test]
    fn another_gap_is_told_at_once() {
        let mut bench = Bench::new(EACH);
        assert_eq!(bench.comes(10, 1, false), [(0, Some(1), 5, false)]);
        assert_eq!(bench.comes(11, 0, false), [(1, None, 6, false)]);
        assert_eq!(bench.comes(12, 2, false), [(1, Some(2), 7, false)]);
        assert_eq!(bench.comes(13, 3, false), []);
    }

    #[test]
    fn what_has_arrived_before_is_answered_or_not() {
        let mut silent = Bench::new(EACH);
        let rule = InOrderRule { answers_old: true, ..RULE };
        let mut answers = Bench::new(AckPolicy { in_order: Some(rule), ..EACH });
        for (bench, expected) in [(&mut silent, vec![]), (&mut answers, vec![(2, None, 15, true)])]
        {
            bench.comes(10, 0, false);
            bench.comes(11, 1, false);
            assert_eq!(bench.comes(20, 0, true), expected);
            assert_eq!(bench.state.discarded, 0, "it did not come too early");
        }
    }

    #[test]
    fn a_nack_echoes_the_mark_of_the_packet_that_caused_it() {
        let mut bench = Bench::new(EACH);
        assert_eq!(bench.comes(10, 0, true), [(1, None, 5, true)]);
        assert_eq!(bench.comes(11, 2, false), [(1, Some(2), 6, false)]);
        // Nothing tells of this mark.
        assert_eq!(bench.comes(12, 3, true), []);
        assert_eq!(bench.comes(13, 1, false), [(2, None, 8, false)]);
        assert_eq!(bench.comes(14, 3, true), [(2, Some(3), 9, true)]);
        // A latched mark is echoed until the sender has cut, even if it was on a packet without an
        // answer.
        let mut latched = Bench::new(AckPolicy { echo: EcnEcho::Latched, ..EACH });
        assert_eq!(latched.comes(10, 1, false), [(0, Some(1), 5, false)]);
        assert_eq!(latched.comes(11, 2, true), []);
        assert_eq!(latched.comes(12, 0, false), [(1, None, 7, true)]);
    }

    /// An ack for every fourth packet. A NACK also acknowledges the packets before it.
    #[test]
    fn a_nack_acknowledges_what_waits_for_its_ack() {
        let mut bench = Bench::new(AckPolicy { every: 4, ..EACH });
        assert_eq!(bench.comes(10, 0, false), []);
        assert_eq!(bench.comes(11, 1, false), []);
        assert_eq!(bench.receiver.ack_deadline, Time::from_us(50));
        assert_eq!(bench.comes(12, 3, false), [(2, Some(3), 7, false)]);
        assert_eq!(
            (bench.receiver.ack_deadline, bench.receiver.delayed_ack(Time::ZERO)),
            (Time::MAX, None)
        );
        // Packets that wait get an ack of their own if they have another mark.
        assert_eq!(bench.comes(13, 2, false), []);
        assert_eq!(bench.comes(14, 5, true), [(3, None, 8, false), (3, Some(5), 9, true)]);
    }
}

//! RACK once more, segment by segment, as RFC 8985, sections 6.1 to 6.3, words it: nothing is
//! forgotten, and every question looks at every segment.

use super::{Found, Rack, RackAck};
use crate::ranges::Range;
use proptest::prelude::*;
use spillway_engine::Time;

const MSS: u64 = 1_000;
const SEGMENTS: u64 = 64;
/// Long enough for several segments to wait in the reordering window.
const LEAST_RTT: Time = Time::from_us(60);
/// The last segment is shorter than the others.
const SIZE: u64 = SEGMENTS * MSS - 300;

#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Segment {
    pub seq: u64,
    pub end_seq: u64,
    xmit_ts: Time,
    retransmitted: bool,
    pub lost: bool,
    pub delivered: bool,
}

/// The variables of section 6.1, and the segments sent.
#[derive(Debug, Default)]
#[allow(missing_docs)]
pub struct Naive {
    pub segments: Vec<Segment>,
    pub snd_una: u64,
    xmit_ts: Time,
    end_seq: u64,
    rtt: Time,
    min_rtt: Option<Time>,
    fack: u64,
    reordering_seen: bool,
    reo_wnd: Time,
    reo_wnd_mult_less_one: u64,
    reo_wnd_persist: u64,
    dsack_round: Option<u64>,
}

fn sent_after((t1, seq1): (Time, u64), (t2, seq2): (Time, u64)) -> bool {
    t1 > t2 || (t1 == t2 && seq1 > seq2)
}

#[allow(missing_docs)]
impl Naive {
    pub fn snd_nxt(&self) -> u64 {
        self.segments.last().map_or(0, |segment| segment.end_seq)
    }

    pub fn transmit(&mut self, now: Time, (seq, end_seq): Range) {
        match self.segments.iter_mut().find(|segment| segment.seq == seq) {
            Some(segment) => {
                segment.retransmitted = true;
                segment.xmit_ts = now;
                segment.lost = false;
            }
            None => self.segments.push(Segment {
                seq,
                end_seq,
                xmit_ts: now,
                retransmitted: false,
                lost: false,
                delivered: false,
            }),
        }
    }

    /// Steps 1 to 3, for the segments that this ack is the first to acknowledge, in their order.
    pub fn acknowledge(&mut self, ack: &RackAck, told: &[Range]) {
        let sample = ack.now - ack.sent_at;
        self.min_rtt = Some(self.min_rtt.map_or(sample, |least| least.min(sample)));
        let mut newly = Vec::new();
        for segment in &mut self.segments {
            let is_told = told.iter().any(|&(a, b)| a <= segment.seq && segment.end_seq <= b);
            if is_told && !segment.delivered {
                segment.delivered = true;
                newly.push(*segment);
            }
        }
        // Step 2: the segment that was sent last among these, unless the ack comes too early to be
        // for its retransmission.
        let may_be_of_the_first = |segment: &Segment| {
            segment.retransmitted
                && (ack.sent_at < segment.xmit_ts || Some(ack.now - segment.xmit_ts) < self.min_rtt)
        };
        let mut latest: Option<Segment> = None;
        for segment in newly.iter().filter(|segment| !may_be_of_the_first(segment)) {
            let this = (segment.xmit_ts, segment.end_seq);
            if latest.is_none_or(|last| sent_after(this, (last.xmit_ts, last.end_seq))) {
                latest = Some(*segment);
            }
        }
        if let Some(segment) = latest {
            self.rtt = ack.now - segment.xmit_ts;
            if sent_after((segment.xmit_ts, segment.end_seq), (self.xmit_ts, self.end_seq)) {
                (self.xmit_ts, self.end_seq) = (segment.xmit_ts, segment.end_seq);
            }
        }
        // Step 3.
        for segment in newly {
            if segment.end_seq > self.fack {
                self.fack = segment.end_seq;
            } else if segment.end_seq < self.fack && !segment.retransmitted {
                self.reordering_seen = true;
            }
        }
    }

    /// Step 4.
    pub fn update_reo_wnd(
        &mut self,
        ack: &RackAck,
        repairs: bool,
        exits: bool,
        has_dupthresh: bool,
    ) {
        if self.dsack_round.is_some_and(|round| self.snd_una >= round) {
            self.dsack_round = None;
        }
        if self.dsack_round.is_none() && ack.is_duplicate {
            self.dsack_round = Some(self.snd_nxt());
            self.reo_wnd_mult_less_one += 1;
            self.reo_wnd_persist = 16;
        } else if exits && self.reo_wnd_persist > 0 {
            self.reo_wnd_persist -= 1;
            if self.reo_wnd_persist == 0 {
                self.reo_wnd_mult_less_one = 0;
            }
        }
        if !self.reordering_seen && (repairs || has_dupthresh) {
            self.reo_wnd = Time::ZERO;
            return;
        }
        let least = self.min_rtt.expect("an ack has come").ps();
        let window = (self.reo_wnd_mult_less_one + 1) * least / 4;
        self.reo_wnd = Time::from_ps(window.min(ack.smoothed.ps()));
    }

    /// Step 5. A segment that is lost already adds nothing to the wait.
    pub fn detect(&mut self, now: Time) -> Found {
        let mut found = Found::default();
        for segment in &mut self.segments {
            let this = (segment.xmit_ts, segment.end_seq);
            if segment.delivered || segment.lost || !sent_after((self.xmit_ts, self.end_seq), this)
            {
                continue;
            }
            let due = segment.xmit_ts + self.rtt + self.reo_wnd;
            if due <= now {
                segment.lost = true;
                found.any = true;
                found.sent_at = found.sent_at.max(segment.xmit_ts);
            } else {
                found.wait = found.wait.max(due - now);
            }
        }
        found
    }

    /// A packet without data that was sent then has arrived.
    pub fn arrive(&mut self, now: Time, sent_at: Time) {
        if sent_at > self.xmit_ts {
            (self.xmit_ts, self.end_seq, self.rtt) = (sent_at, 0, now - sent_at);
        }
    }

    /// Section 6.3.
    pub fn on_timeout(&mut self, now: Time) {
        for segment in self.segments.iter_mut().filter(|segment| !segment.delivered) {
            let is_old = segment.xmit_ts + self.rtt + self.reo_wnd <= now;
            segment.lost |= segment.seq == self.snd_una || is_old;
        }
    }

    /// The last new segment was not sent after all.
    pub fn take_back(&mut self) {
        self.segments.pop();
    }

    /// The segments that are lost and have not been retransmitted.
    pub fn lost(&self) -> impl Iterator<Item = Range> {
        let lost = self.segments.iter().filter(|segment| segment.lost && !segment.delivered);
        lost.map(|segment| (segment.seq, segment.end_seq))
    }
}

#[derive(Clone, Debug)]
enum Event {
    New,
    /// New data that the host refuses.
    Refused,
    /// A retransmission of the first lost segment.
    Repair,
    /// A retransmission of the last segment, lost or not.
    Probe,
    /// An ack: how many more segments it acknowledges in order, and which ones behind these; for
    /// which transmission it is, counted over all so far; the smoothed round trip; and whether
    /// there is a duplicate, a recovery, its end, and `dupthresh` segments behind a gap.
    Ack(u64, Vec<u64>, prop::sample::Index, u64, [bool; 4]),
    Timeout,
}

fn event() -> impl Strategy<Value = Event> {
    // Duplicates are rare and recoveries end often, so that a wider window is forgotten within the
    // test.
    let bits = [0.05, 0.2, 0.5, 0.2].map(prop::bool::weighted);
    let behind = prop::collection::vec(0..SEGMENTS, 0..4);
    let ack = (0..3_u64, behind, any::<prop::sample::Index>(), 1..200_u64, bits);
    prop_oneof![
        6 => Just(Event::New),
        1 => Just(Event::Refused),
        4 => Just(Event::Repair),
        1 => Just(Event::Probe),
        6 => ack.prop_map(|(una, behind, of, smoothed, bits)| {
            Event::Ack(una, behind, of, smoothed, bits)
        }),
        1 => Just(Event::Timeout),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn rack_answers_as_the_rfc_s_words_do(
        events in prop::collection::vec((event(), 0..40_u64), 1..240),
    ) {
        let (mut rack, mut naive) = (Rack::new(MSS), Naive::default());
        let (mut now, mut transmissions) = (Time::ZERO, Vec::new());
        for (event, pause) in events {
            now += Time::from_us(pause);
            if let Event::Ack(..) = event {
                now += LEAST_RTT;
            }
            let mut send = |rack: &mut Rack, naive: &mut Naive, piece| {
                rack.on_sent(now, piece);
                naive.transmit(now, piece);
                transmissions.push(now);
            };
            let nxt = naive.snd_nxt();
            match event {
                Event::New if nxt < SIZE => {
                    send(&mut rack, &mut naive, (nxt, (nxt + MSS).min(SIZE)));
                }
                Event::Refused if nxt < SIZE => {
                    send(&mut rack, &mut naive, (nxt, (nxt + MSS).min(SIZE)));
                    rack.take_back(nxt);
                    naive.take_back();
                }
                Event::Repair => {
                    if let Some(piece) = rack.next_lost() {
                        send(&mut rack, &mut naive, piece);
                    }
                }
                Event::Probe => {
                    let last = naive.segments.last().filter(|segment| !segment.delivered);
                    if let Some(&Segment { seq, end_seq, .. }) = last {
                        send(&mut rack, &mut naive, (seq, end_seq));
                    }
                }
                Event::Ack(more, behind, of, smoothed, [is_duplicate, repairs, ends, dupthresh])
                    if naive.snd_una < nxt =>
                {
                    let mut una = (naive.snd_una + more * MSS).min(nxt);
                    while let Some(next) = naive.segments.iter().find(|next| next.seq == una)
                        && next.delivered
                    {
                        una = next.end_seq;
                    }
                    let mut ranges: Vec<Range> = vec![(0, una)];
                    ranges.extend(naive.segments.iter().filter_map(|segment| {
                        let is_told = behind.contains(&(segment.seq / MSS)) && segment.seq > una;
                        is_told.then_some((segment.seq, segment.end_seq))
                    }));
                    let newly: Vec<Range> = ranges[1..]
                        .iter()
                        .filter(|range| !naive.segments.iter().any(|s| s.seq == range.0 && s.delivered))
                        .copied()
                        .collect();
                    let ack = RackAck {
                        now,
                        sent_at: *of.get(&transmissions),
                        smoothed: Time::from_us(smoothed),
                        is_duplicate,
                    };
                    naive.snd_una = una;
                    naive.acknowledge(&ack, &ranges);
                    rack.on_ack(&ack, una, newly.into_iter());
                    naive.update_reo_wnd(&ack, repairs && !ends, ends, dupthresh);
                    rack.update_window(&ack, (una, nxt), (repairs && !ends, ends), dupthresh);
                    prop_assert_eq!(rack.detect(now), naive.detect(now));
                }
                Event::Timeout if naive.snd_una < nxt => {
                    rack.on_timeout(now);
                    naive.on_timeout(now);
                }
                Event::New | Event::Refused | Event::Ack(..) | Event::Timeout => {}
            }
            prop_assert_eq!(rack.next_lost(), naive.lost().next());
            prop_assert_eq!(rack.lost_bytes(), naive.lost().map(|(a, b)| b - a).sum::<u64>());
            let reckoned = (rack.xmit_ts, rack.end_seq, rack.rtt, rack.reo_wnd, rack.reordering_seen);
            prop_assert_eq!(
                reckoned,
                (naive.xmit_ts, naive.end_seq, naive.rtt, naive.reo_wnd, naive.reordering_seen)
            );
        }
    }
}

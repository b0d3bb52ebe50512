//! RACK: a segment is lost if it was sent long enough before one that has arrived.
//!
//! # Reference
//! Y. Cheng, N. Cardwell, N. Dukkipati, P. Jha, "The RACK-TLP Loss Detection Algorithm for TCP",
//! RFC 8985, 2021, section 6. Names are those of the RFC.
//!
//! # Rule
//! `xmit_ts`, `end_seq` and `rtt` belong to the segment that was sent last among those that have
//! arrived. A segment sent before it is lost once more than `rtt` + `reo_wnd` have passed since it
//! was sent. `reo_wnd` is `reo_wnd_mult` quarters of the least round trip, and at most the smoothed
//! one. As long as nothing has arrived out of order, it is 0 during recovery and with `dupthresh`
//! segments behind a gap. A duplicate reported by the receiver (D-SACK) adds one to `reo_wnd_mult`,
//! at most once per round trip; this lasts for 16 recoveries.

use super::ranges::Range;
use spillway_engine::Time;
use std::collections::VecDeque;

/// A segment that has not been acknowledged cumulatively.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// When it was last sent.
    xmit_ts: Time,
    /// Whether it was sent more than once.
    retransmitted: bool,
    lost: bool,
    arrived: bool,
}

/// What an ack says about round trips.
#[derive(Clone, Copy, Debug)]
pub struct RackAck {
    /// Now.
    pub now: Time,
    /// When the packet that it acknowledges was sent.
    pub sent_at: Time,
    /// The smoothed round trip.
    pub smoothed: Time,
    /// Whether it reports data that has arrived twice.
    pub is_duplicate: bool,
}

/// What a search for losses has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Whether anything is lost.
    pub any: bool,
    /// The latest time at which a lost segment was sent.
    pub sent_at: Time,
    /// How long until more segments may be lost; zero if none is in doubt.
    pub wait: Time,
}

/// The send times of segments, and what follows from them.
#[derive(Clone, Debug)]
pub struct Rack {
    mss: u64,
    /// The number of the first segment in `segments`.
    first: u64,
    segments: VecDeque<Sent>,
    /// No segment before `lost_from` is lost, and none from `repaired_to` on has been
    /// retransmitted.
    lost_from: u64,
    repaired_to: u64,
    lost_segments: u64,
    /// The end of the data sent so far, which may lie within a segment.
    sent_to: u64,
    xmit_ts: Time,
    end_seq: u64,
    rtt: Time,
    min_rtt: Time,
    fack: u64,
    reordering_seen: bool,
    reo_wnd: Time,
    reo_wnd_mult: u64,
    reo_wnd_persist: u32,
    dsack_round: Option<u64>,
}

impl Rack {
    /// The state before anything is sent, in segments of `mss` bytes.
    pub fn new(mss: u64) -> Rack {
        Rack {
            mss,
            first: 0,
            segments: VecDeque::new(),
            lost_from: 0,
            repaired_to: 0,
            lost_segments: 0,
            sent_to: 0,
            xmit_ts: Time::ZERO,
            end_seq: 0,
            rtt: Time::ZERO,
            min_rtt: Time::MAX,
            fack: 0,
            reordering_seen: false,
            reo_wnd: Time::ZERO,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            dsack_round: None,
        }
    }

    /// Records that the segment at `seq` is sent.
    pub fn on_sent(&mut self, now: Time, (seq, end): Range) {
        let number = seq / self.mss;
        let place = (number - self.first) as usize;
        self.sent_to = self.sent_to.max(end);
        match self.segments.get_mut(place) {
            Some(sent) => {
                if sent.lost {
                    self.lost_segments -= 1;
                    if number == self.lost_from {
                        self.lost_from += 1;
                    }
                }
                *sent = Sent { xmit_ts: now, retransmitted: true, lost: false, ..*sent };
                self.repaired_to = self.repaired_to.max(number + 1);
            }
            None => {
                debug_assert_eq!(place, self.segments.len(), "new data goes out in order");
                self.segments.push_back(Sent {
                    xmit_ts: now,
                    retransmitted: false,
                    lost: false,
                    arrived: false,
                });
            }
        }
    }

    /// Forgets the last segment, new data at `seq`, which was not sent after all.
    pub fn take_back(&mut self, seq: u64) {
        self.segments.pop_back();
        self.sent_to = seq;
    }

    /// An ack acknowledges everything before `una`, and the ranges `newly` behind it, in increasing
    /// order (steps 1 to 3).
    pub fn on_ack(&mut self, ack: &RackAck, una: u64, newly: impl Iterator<Item = Range>) {
        self.min_rtt = self.min_rtt.min(ack.now - ack.sent_at);
        let mut latest = None;
        while self.first * self.mss < una.min(self.sent_to) {
            let end = self.end_of(self.first);
            if end > una {
                break;
            }
            let Some(sent) = self.segments.pop_front() else { break };
            self.first += 1;
            if sent.lost {
                self.lost_segments -= 1;
            }
            if !sent.arrived {
                self.arrive(ack, sent, end, &mut latest);
            }
        }
        for (start, end) in newly {
            for number in start.div_ceil(self.mss)..end.div_ceil(self.mss) {
                let segment_end = self.end_of(number);
                let Some(place) = number.checked_sub(self.first) else { continue };
                let Some(sent) = self.segments.get_mut(place as usize) else { continue };
                if segment_end > end || sent.arrived {
                    continue;
                }
                sent.arrived = true;
                if std::mem::take(&mut sent.lost) {
                    self.lost_segments -= 1;
                }
                let sent = *sent;
                self.arrive(ack, sent, segment_end, &mut latest);
            }
        }
        if let Some((xmit_ts, end_seq)) = latest {
            self.rtt = ack.now - xmit_ts;
            if (xmit_ts, end_seq) > (self.xmit_ts, self.end_seq) {
                (self.xmit_ts, self.end_seq) = (xmit_ts, end_seq);
            }
        }
    }

    /// Records that a segment has arrived: whether it was sent last among those that have (step 2),
    /// and whether a later one has overtaken it (step 3).
    fn arrive(&mut self, ack: &RackAck, sent: Sent, end: u64, latest: &mut Option<(Time, u64)>) {
        if end > self.fack {
            self.fack = end;
        } else if end < self.fack && !sent.retransmitted {
            self.reordering_seen = true;
        }
        let rtt = ack.now - sent.xmit_ts;
        // The ack may be for an earlier transmission; it then says nothing about the last one.
        if sent.retransmitted && (ack.sent_at < sent.xmit_ts || rtt < self.min_rtt) {
            return;
        }
        *latest = (*latest).max(Some((sent.xmit_ts, end)));
    }

    /// Updates the reordering window (step 4). `repairs` is set during recovery, and `ends_repair`
    /// with the ack that ends it.
    pub fn update_window(
        &mut self,
        ack: &RackAck,
        (una, nxt): Range,
        (repairs, ends_repair): (bool, bool),
        has_dupthresh: bool,
    ) {
        if self.dsack_round.is_some_and(|round| una >= round) {
            self.dsack_round = None;
        }
        if self.dsack_round.is_none() && ack.is_duplicate {
            self.dsack_round = Some(nxt);
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = REPAIRS_TO_PERSIST;
        } else if ends_repair {
            self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
            if self.reo_wnd_persist == 0 {
                self.reo_wnd_mult = 1;
            }
        }
        self.reo_wnd = if !self.reordering_seen && (repairs || has_dupthresh) {
            Time::ZERO
        } else {
            let quarters = u128::from(self.min_rtt.ps()) * u128::from(self.reo_wnd_mult) / 4;
            Time::from_ps(quarters.min(u128::from(ack.smoothed.ps())) as u64)
        };
    }

    /// Finds the segments that are lost by now (step 5).
    pub fn detect(&mut self, now: Time) -> Found {
        let mut found = Found::default();
        let limit = self.rtt + self.reo_wnd;
        for place in 0..self.segments.len() {
            let sent = self.segments[place];
            let number = self.first + place as u64;
            if sent.arrived || sent.lost {
                continue;
            }
            if (sent.xmit_ts, self.end_of(number)) >= (self.xmit_ts, self.end_seq) {
                // New data is sent in order, so nothing behind this segment was sent earlier.
                if number >= self.repaired_to {
                    break;
                }
                continue;
            }
            let due = sent.xmit_ts + limit;
            if due > now {
                found.wait = found.wait.max(due - now);
                continue;
            }
            found.any = true;
            found.sent_at = found.sent_at.max(sent.xmit_ts);
            self.lose(place);
        }
        found
    }

    /// The retransmission timer has expired: the first segment is lost, and so is everything sent
    /// long enough ago (section 6.3).
    pub fn on_timeout(&mut self, now: Time) {
        for place in 0..self.segments.len() {
            let sent = self.segments[place];
            let is_old = sent.xmit_ts + self.rtt + self.reo_wnd <= now;
            if !sent.arrived && !sent.lost && (place == 0 || is_old) {
                self.lose(place);
            }
        }
    }

    fn lose(&mut self, place: usize) {
        self.segments[place].lost = true;
        self.lost_segments += 1;
        self.lost_from = self.lost_from.min(self.first + place as u64);
    }

    /// The first segment that is lost.
    pub fn next_lost(&self) -> Option<Range> {
        if self.lost_segments == 0 {
            return None;
        }
        let from = self.lost_from.saturating_sub(self.first) as usize;
        let place = self.segments.iter().skip(from).position(|sent| sent.lost)?;
        let number = self.first + (from + place) as u64;
        Some((number * self.mss, self.end_of(number)))
    }

    /// Bytes that are lost and have not been retransmitted.
    pub fn lost_bytes(&self) -> u64 {
        let last_is_lost = self.segments.back().is_some_and(|sent| sent.lost);
        let missing = self.sent_to.div_ceil(self.mss) * self.mss - self.sent_to;
        self.lost_segments * self.mss - if last_is_lost { missing } else { 0 }
    }

    fn end_of(&self, number: u64) -> u64 {
        ((number + 1) * self.mss).min(self.sent_to)
    }
}

/// How many recoveries a wider reordering window lasts (RFC 8985, section 6.2, step 4).
const REPAIRS_TO_PERSIST: u32 = 16;

#[cfg(test)]
pub mod naive;

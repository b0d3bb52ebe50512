//! RACK: a segment is lost if it was sent long enough before one that has arrived.
//!
//! # Reference
//! Y. Cheng, N. Cardwell, N. Dukkipati, P. Jha, "The RACK-TLP Loss Detection Algorithm for TCP",
//! RFC 8985, 2021: section 6 for losses, section 7 for probes, section 8 for the choice of the
//! timer. Names are those of the RFC.
//!
//! # Rule
//! `xmit_ts`, `end_seq` and `rtt` belong to the segment that was sent last among those that have
//! arrived. A segment sent before it is lost once more than `rtt` + `reo_wnd` have passed since it
//! was sent. `reo_wnd` is `reo_wnd_mult` quarters of the least round trip, and at most the smoothed
//! one. As long as nothing has arrived out of order, it is 0 during recovery and with `dupthresh`
//! segments behind a gap. A duplicate reported by the receiver (D-SACK) adds one to `reo_wnd_mult`,
//! at most once per round trip; this lasts for 16 recoveries.
//!
//! # In composition
//! Where a tagger lets packets overtake, those of worse levels may be later than `reo_wnd` allows, and
//! are then sent a second time. In the scenario `five`, at 80% load, this is 0.4% of all packets.
//! `per-priority` sends none twice, but the last packets of a level have none behind them, so more
//! losses are left to timeouts (studies/spillway_studies/five/paper.md).

use super::reader::Losses;
use super::segments::Segments;
use super::{Kind, Recovery};
use crate::ranges::Range;
use spillway_engine::Time;

/// The row of the catalogue.
pub const KIND: Kind = Kind {
    id: "rack",
    results: 1,
    summary: "a segment is lost when one that was sent later has arrived",
    citation: "RFC 8985",
    read: |reader| {
        let dupthresh = reader.dupthresh()?;
        let cuts = reader.cuts()?;
        let tail_loss_probe = reader.probe(true)?;
        let losses = Losses { dupthresh, tail_loss_probe, ..cuts };
        reader.with_phases(Recovery::Rack(Box::new(ByRack::new())), losses)
    },
};

/// The state of a sender that finds losses by time.
#[derive(Clone, Debug)]
pub struct ByRack {
    pub(crate) rack: Rack,
    /// When a loss last cut the window.
    pub(crate) cut_at: Time,
    /// When the segments in doubt will be lost; [`Time::MAX`] if none are in doubt.
    pub(crate) doubtful_until: Time,
    /// When the retransmission timeout expires, whichever timer runs.
    pub(crate) timeout_at: Time,
    /// If probes are sent, the longest time for which the ack of a single segment may be delayed.
    pub(crate) probes: Option<Time>,
    /// When new data was last sent or acknowledged. The wait for a probe begins then.
    pub(crate) progress_at: Time,
}

impl ByRack {
    fn new() -> ByRack {
        ByRack {
            rack: Rack::new(1),
            probes: None,
            cut_at: Time::ZERO,
            doubtful_until: Time::MAX,
            timeout_at: Time::MAX,
            progress_at: Time::ZERO,
        }
    }

    /// A flow starts, in segments of `mss`.
    pub(super) fn start(&mut self, mss: u64, losses: &Losses, held_back: Time) {
        self.rack = Rack::new(mss);
        self.probes = losses.tail_loss_probe.then_some(held_back);
    }

    /// The retransmission timer has expired.
    pub(crate) fn on_timeout(&mut self, now: Time) {
        self.rack.on_timeout(now);
        self.cut_at = now;
        self.doubtful_until = Time::MAX;
    }
}

/// When a segment was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// The last time.
    xmit_ts: Time,
    /// Whether it was sent more than once.
    retransmitted: bool,
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
    segments: Segments<Sent>,
    /// No segment from this one on has been retransmitted.
    repaired_to: u64,
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
            segments: Segments::new(mss),
            repaired_to: 0,
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
        let number = self.segments.number_of(seq);
        let retransmitted = self.segments.get(number).is_some();
        self.segments.send((seq, end), Sent { xmit_ts: now, retransmitted });
        if retransmitted {
            self.repaired_to = self.repaired_to.max(number + 1);
        }
    }

    /// Forgets the last segment, new data at `seq`, which was not sent after all.
    pub fn take_back(&mut self, seq: u64) {
        self.segments.take_back(seq);
    }

    /// A packet without data that was sent then has arrived (step 2).
    pub fn on_arrival(&mut self, now: Time, sent_at: Time) {
        if sent_at > self.xmit_ts {
            (self.xmit_ts, self.end_seq, self.rtt) = (sent_at, 0, now - sent_at);
        }
    }

    /// An ack acknowledges everything before `una`, and the ranges `newly` behind it, in increasing
    /// order (steps 1 to 3).
    pub fn on_ack(&mut self, ack: &RackAck, una: u64, newly: impl Iterator<Item = Range>) {
        self.min_rtt = self.min_rtt.min(ack.now - ack.sent_at);
        let mut latest = None;
        let Rack { segments, fack, reordering_seen, min_rtt, .. } = self;
        segments.acknowledge(una, newly, |sent, end| {
            // Step 3: whether a later segment has overtaken it.
            if end > *fack {
                *fack = end;
            } else if end < *fack && !sent.retransmitted {
                *reordering_seen = true;
            }
            // The ack may be for an earlier transmission; it then says nothing about the last one.
            let is_for_last = ack.sent_at >= sent.xmit_ts && ack.now - sent.xmit_ts >= *min_rtt;
            if !sent.retransmitted || is_for_last {
                latest = latest.max(Some((sent.xmit_ts, end)));
            }
        });
        // Step 2: whether it was sent last among those that have arrived.
        if let Some((xmit_ts, end_seq)) = latest {
            self.rtt = ack.now - xmit_ts;
            if (xmit_ts, end_seq) > (self.xmit_ts, self.end_seq) {
                (self.xmit_ts, self.end_seq) = (xmit_ts, end_seq);
            }
        }
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
            let (number, segment) = self.segments.at(place);
            if segment.arrived || segment.lost {
                continue;
            }
            let sent = segment.noted;
            if (sent.xmit_ts, self.segments.end_of(number)) >= (self.xmit_ts, self.end_seq) {
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
            self.segments.lose(number);
        }
        found
    }

    /// The retransmission timer has expired: the first segment is lost, and so is everything sent
    /// long enough ago (section 6.3).
    pub fn on_timeout(&mut self, now: Time) {
        for place in 0..self.segments.len() {
            let (number, segment) = self.segments.at(place);
            let is_old = segment.noted.xmit_ts + self.rtt + self.reo_wnd <= now;
            if !segment.arrived && !segment.lost && (place == 0 || is_old) {
                self.segments.lose(number);
            }
        }
    }

    /// The first segment that is lost.
    pub fn next_lost(&self) -> Option<Range> {
        self.segments.next_lost()
    }

    /// Bytes that are lost and have not been retransmitted.
    pub fn lost_bytes(&self) -> u64 {
        self.segments.lost_bytes()
    }
}

/// How many recoveries a wider reordering window lasts (RFC 8985, section 6.2, step 4).
const REPAIRS_TO_PERSIST: u32 = 16;

#[cfg(test)]
pub mod naive;

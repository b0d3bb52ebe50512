//! A sender that finds losses by time once more, as RFC 8985 (with the RACK of `rack::naive`), RFC
//! 6298, and RFC 5681, section 4.3, word it: nothing is forgotten, and every question looks at
//! every segment. It uses the windows and round trips of the sender that it is compared with.

use super::lossy::{Network, STEP, arrival_step, fates};
use super::*;
use crate::receiver::AckFields;
use crate::recovery::RackAck;
use crate::recovery::naive_rack::{Naive as Rack, Segment};
use crate::tests::{access, closed_loop};
use proptest::prelude::*;

const SMSS: u64 = 1_000;

pub(super) struct Naive {
    pub rack: Rack,
    size: u64,
    dup_thresh: usize,
    probes: bool,
    pub phase: Phase,
    recovery_point: u64,
    /// Whether the first lost segment is sent whatever the window is.
    retransmits_first: bool,
    cut_at: Time,
    /// The phase in which a loss has just cut the window.
    cut_in: Option<Phase>,
    reordering_timer: Option<Time>,
    rto_timer: Option<Time>,
    pto_since: Time,
    tlp_end_seq: Option<u64>,
}

impl Naive {
    pub fn new(size: u64, dup_thresh: usize, probes: bool) -> Naive {
        Naive {
            rack: Rack::default(),
            size,
            dup_thresh,
            probes,
            phase: Phase::Open,
            recovery_point: 0,
            retransmits_first: false,
            cut_at: Time::ZERO,
            cut_in: None,
            reordering_timer: None,
            rto_timer: None,
            pto_since: Time::ZERO,
            tlp_end_seq: None,
        }
    }

    pub fn in_flight(&self) -> u64 {
        let out = self.rack.segments.iter().filter(|segment| !segment.delivered && !segment.lost);
        out.map(|segment| segment.end_seq - segment.seq).sum()
    }

    /// The segments sent now: first byte, byte behind the last, and whether it was sent before.
    fn send(&mut self, now: Time, cwnd: u64, rto: Time) -> Vec<(u64, u64, bool)> {
        let mut sent = Vec::new();
        loop {
            let repairs = self.phase != Phase::Open;
            let lost = self.rack.lost().next().filter(|_| repairs);
            let snd_nxt = self.rack.snd_nxt();
            let (seq, end) = lost.unwrap_or((snd_nxt, self.size.min(snd_nxt + SMSS)));
            let needs = if self.phase == Phase::Recovery { SMSS } else { end - seq };
            let fits = self.in_flight() + needs <= cwnd;
            if seq == end || !(fits || std::mem::take(&mut self.retransmits_first)) {
                return sent;
            }
            self.retransmits_first = false;
            self.rack.transmit(now, (seq, end));
            sent.push((seq, end, lost.is_some()));
            if lost.is_none() || self.rto_timer.is_none() {
                self.pto_since = now;
            }
            self.rto_timer = self.rto_timer.or(Some(now + rto));
        }
    }

    pub fn on_ack(&mut self, now: Time, ack: &AckFields, smoothed: Time, rto: Time) {
        let una = ack.seq.max(self.rack.snd_una);
        let blocks: Vec<_> = ack.sack.into_iter().flatten().filter(|&(a, b)| a < b).collect();
        // RFC 2883, section 4: the first block reports a duplicate if it lies below the ack or
        // within the second block.
        let is_duplicate = blocks.first().is_some_and(|&(start, end)| {
            let second = blocks.get(1).is_some_and(|&(a, b)| a <= start && end <= b);
            end <= ack.seq || second
        });
        // The reordering window has no bound before the first sample.
        let smoothed = if smoothed == Time::ZERO { Time::MAX } else { smoothed };
        let told = RackAck { now, sent_at: ack.sent_at, smoothed, is_duplicate };
        let moves_on = una > self.rack.snd_una;
        self.rack.snd_una = una;
        self.rack.acknowledge(&told, &[vec![(0, una)], blocks].concat());
        let exits = self.phase != Phase::Open && una >= self.recovery_point;
        if exits {
            self.phase = Phase::Open;
        }
        let repairs = self.phase != Phase::Open;
        let has_dup_thresh = self.segments_sacked() >= self.dup_thresh;
        self.rack.update_reo_wnd(&told, repairs, exits, has_dup_thresh);
        self.detect(now);
        if exits && self.phase == Phase::Open && self.rack.lost().next().is_some() {
            (self.phase, self.recovery_point) = (Phase::Recovery, self.rack.snd_nxt());
        }
        self.tlp_end_seq = self.tlp_end_seq.filter(|&end| una < end);
        if moves_on {
            (self.rto_timer, self.pto_since) = (Some(now + rto), now);
        }
        if una == self.rack.snd_nxt() {
            self.rto_timer = None;
        }
    }

    fn segments_sacked(&self) -> usize {
        let above = |segment: &&_| segment_is_sacked(segment, self.rack.snd_una);
        self.rack.segments.iter().filter(above).count()
    }

    pub fn detect(&mut self, now: Time) {
        let found = self.rack.detect(now);
        self.reordering_timer = (found.wait > Time::ZERO).then(|| now + found.wait);
        if !found.any {
            return;
        }
        let phase = self.phase;
        if phase == Phase::Open {
            (self.phase, self.recovery_point) = (Phase::Recovery, self.rack.snd_nxt());
            self.retransmits_first = true;
        } else if found.sent_at < self.cut_at {
            return;
        }
        (self.cut_at, self.cut_in) = (now, Some(phase));
    }

    /// The timer that expires next, and when (RFC 8985, sections 7.2 and 8).
    fn timer(&self, smoothed: Time) -> Option<(Time, Timer)> {
        let rto = self.rto_timer?;
        if let Some(due) = self.reordering_timer.filter(|&due| due < rto) {
            return Some((due, Timer::Reordering));
        }
        let may_probe = self.tlp_end_seq.is_none() && self.phase == Phase::Open;
        if !self.probes || !may_probe || self.segments_sacked() > 0 {
            return Some((rto, Timer::Retransmission));
        }
        let pto = if smoothed > Time::ZERO { smoothed * 2 } else { Time::from_ms(1_000) };
        Some((rto.min(self.pto_since + pto), Timer::Probe))
    }

    fn probe(&mut self, now: Time, rto: Time) -> (u64, u64, bool) {
        let snd_nxt = self.rack.snd_nxt();
        let seq = if snd_nxt < self.size { snd_nxt } else { (snd_nxt - 1) / SMSS * SMSS };
        let end = (seq + SMSS).min(self.size);
        self.rack.transmit(now, (seq, end));
        (self.tlp_end_seq, self.rto_timer) = (Some(end), Some(now + rto));
        (seq, end, seq < snd_nxt)
    }

    pub fn time_out(&mut self, now: Time, rto: Time) {
        self.rack.on_timeout(now);
        (self.phase, self.recovery_point) = (Phase::Loss, self.rack.snd_nxt());
        (self.cut_at, self.retransmits_first) = (now, true);
        (self.reordering_timer, self.rto_timer) = (None, Some(now + rto));
    }
}

fn segment_is_sacked(segment: &Segment, una: u64) -> bool {
    segment.delivered && segment.seq >= una
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_sent_and_waited_for_is_what_rfc_8985_says(
        size in 1u64..120_000,
        window in 1u64..40,
        dup_thresh in 1u32..5,
        probes in any::<bool>(),
        fates in fates(),
    ) {
        let text = format!(
            "kind = \"newreno\"\nmss = \"{SMSS}B\"\ninitial_window = \"{window}pkt\"\n\
             recovery.dupthresh = {dup_thresh}\nrecovery.kind = \"rack\"\nrecovery.tail_loss_probe = {probes}\n\
             recovery.min_rto = \"1ms\"\nrecovery.initial_rto = \"1ms\""
        );
        let transport = closed_loop(&text);
        let mut sender = Sender::new(size, SMSS as u32, &transport, &access(10, 25));
        let mut naive = Naive::new(size, dup_thresh as usize, probes);
        let mut network = Network::new(fates);
        let mut now = Time::ZERO;
        let rto = |sender: &Sender| sender.rtt.timeout(&transport.rto);
        while !sender.is_done() {
            let safe = sender.timeouts > 8;
            let mut sent = Vec::new();
            while let Some(piece) = sender.next_piece(now, &transport) {
                sent.push((piece.seq, piece.seq + u64::from(piece.payload), piece.again));
                network.send(now, arrival_step(now), &piece, safe);
            }
            let cwnd = sender.window().cwnd;
            prop_assert_eq!(&sent, &naive.send(now, cwnd, rto(&sender)), "at {:?}", now);
            prop_assert_eq!(sender.in_flight(), naive.in_flight(), "at {:?}", now);
            prop_assert_eq!(sender.phase, naive.phase, "at {:?}", now);
            let timer = naive.timer(sender.smoothed_rtt());
            let expected = timer.map_or(Time::MAX, |(due, _)| due);
            prop_assert_eq!(sender.deadline(), expected, "at {:?}: {:?}", now, timer);
            let arrival = network.next_step().map_or(Time::MAX, |step| STEP * step);
            prop_assert!(expected.min(arrival) < Time::MAX, "nothing to wait for at {:?}", now);
            now = expected.min(arrival);
            let before = (sender.window.ssthresh, sender.timeouts, sender.window.cwnd);
            if arrival <= expected {
                for ack in network.deliver(now, &transport).1 {
                    sender.on_ack(now, &ack.segment(), &transport);
                    naive.on_ack(now, &ack, sender.smoothed_rtt(), rto(&sender));
                }
            } else {
                let piece = sender.on_deadline(now, &transport);
                match timer {
                    Some((_, Timer::Reordering)) => naive.detect(now),
                    Some((_, Timer::Probe)) => {
                        let piece = piece.expect("a probe");
                        network.send(now, arrival_step(now), &piece, safe);
                        let end = piece.seq + u64::from(piece.payload);
                        prop_assert_eq!((piece.seq, end, piece.again), naive.probe(now, rto(&sender)));
                    }
                    _ => naive.time_out(now, rto(&sender)),
                }
            }
            if let Some(phase) = naive.cut_in.take() {
                let flight = sender.board.nxt - sender.board.una;
                let half = |bytes: u64| (bytes / 2).max(2 * SMSS);
                let ssthresh = sender.window.ssthresh;
                let least = half(flight.min(before.2));
                if phase == Phase::Recovery {
                    prop_assert_eq!(ssthresh, least);
                } else {
                    // The window may have grown before it was cut.
                    prop_assert!((least..=half(flight)).contains(&ssthresh));
                }
            } else if sender.timeouts == before.1 {
                prop_assert_eq!(sender.window.ssthresh, before.0, "at {:?}", now);
            }
        }
    }
}

//! A second implementation of loss recovery, octet by octet, in the words of RFC 6675, sections 4
//! and 5.

use super::lossy::{Network, fates};
use super::*;
use crate::receiver::AckFields;
use crate::tests::{access, closed_loop};
use proptest::prelude::*;

const SMSS: u64 = 4;

/// Octets are counted from 1, to fit the RFC's inequalities: octet `n` is the byte `n - 1`.
struct Naive {
    size: u64,
    dup_thresh: usize,
    high_ack: u64,
    high_data: u64,
    high_rxt: u64,
    rescue_rxt: u64,
    sacked: Vec<bool>,
    /// The end of a fast retransmission, or of the repair after a timeout.
    recovery_point: Option<u64>,
    timeout_point: Option<u64>,
    retransmits_first: bool,
}

impl Naive {
    fn new(size: u64, dup_thresh: usize) -> Naive {
        Naive {
            size,
            dup_thresh,
            high_ack: 0,
            high_data: 0,
            high_rxt: 0,
            rescue_rxt: 0,
            sacked: vec![false; size as usize + 2],
            recovery_point: None,
            timeout_point: None,
            retransmits_first: false,
        }
    }

    fn is_sacked(&self, octet: u64) -> bool {
        self.sacked[octet as usize]
    }

    fn is_lost(&self, octet: u64) -> bool {
        if self.timeout_point.is_some_and(|point| octet <= point) {
            return true;
        }
        let above = octet + 1..=self.high_data;
        let octets = above.clone().filter(|&o| self.is_sacked(o)).count();
        let sequences = above.filter(|&o| self.is_sacked(o) && !self.is_sacked(o - 1)).count();
        sequences >= self.dup_thresh || octets as u64 > (self.dup_thresh as u64 - 1) * SMSS
    }

    fn pipe(&self) -> u64 {
        let unsacked = (self.high_ack + 1..=self.high_data).filter(|&o| !self.is_sacked(o));
        unsacked.map(|o| u64::from(!self.is_lost(o)) + u64::from(o <= self.high_rxt)).sum()
    }

    /// The last octet of the segment that begins with `octet`.
    fn segment_end(&self, octet: u64) -> u64 {
        let mut end = octet;
        while !end.is_multiple_of(SMSS) && end < self.high_data && !self.is_sacked(end + 1) {
            end += 1;
        }
        end
    }

    /// The next segment: its first octet, its last one, and whether it was sent before.
    fn next_seg(&mut self) -> Option<(u64, u64, bool)> {
        let highest_sacked = (1..=self.high_data).rev().find(|&o| self.is_sacked(o)).unwrap_or(0);
        let unsacked: Vec<u64> =
            (self.high_ack + 1..=self.high_data).filter(|&o| !self.is_sacked(o)).collect();
        let again: Vec<u64> = unsacked.iter().copied().filter(|&o| o > self.high_rxt).collect();
        let repairs = self.recovery_point.is_some() || self.timeout_point.is_some();
        if let Some(&s2) = again.iter().find(|&&o| repairs && self.is_lost(o)) {
            self.high_rxt = self.segment_end(s2);
            return Some((s2, self.high_rxt, true));
        }
        if self.high_data < self.size {
            let first = self.high_data + 1;
            self.high_data = (self.high_data + SMSS).min(self.size);
            return Some((first, self.high_data, false));
        }
        self.recovery_point?;
        if let Some(&s3) = again.iter().find(|&&o| o < highest_sacked) {
            self.high_rxt = self.segment_end(s3);
            return Some((s3, self.high_rxt, true));
        }
        let &last = unsacked.last()?;
        if self.high_ack > self.rescue_rxt {
            self.rescue_rxt = self.recovery_point?;
            let mut first = last;
            while first % SMSS != 1 && first - 1 > self.high_ack && !self.is_sacked(first - 1) {
                first -= 1;
            }
            return Some((first, last, true));
        }
        None
    }

    fn send(&mut self, cwnd: u64) -> Vec<(u64, u64, bool)> {
        let mut sent = Vec::new();
        if std::mem::take(&mut self.retransmits_first) {
            let first = self.high_ack + 1;
            self.high_rxt = self.segment_end(first);
            self.rescue_rxt = self.high_rxt;
            sent.push((first, self.high_rxt, true));
        }
        loop {
            // Outside recovery a short segment needs only as much room as it has octets.
            let left = self.size - self.high_data;
            let needs = match self.recovery_point {
                None if self.timeout_point.is_none() => left.min(SMSS),
                _ => SMSS,
            };
            let before = (self.high_data, self.high_rxt, self.rescue_rxt);
            let pipe = self.pipe();
            let Some((first, last, again)) = self.next_seg() else { return sent };
            let needs = if self.timeout_point.is_some() { last + 1 - first } else { needs };
            if pipe + needs > cwnd {
                (self.high_data, self.high_rxt, self.rescue_rxt) = before;
                return sent;
            }
            sent.push((first, last, again));
            if again && self.timeout_point.is_none() && self.pipe() < pipe + last + 1 - first {
                // A rescue retransmission counts only until the next ack (step C.4), and nothing is
                // left to send after it.
                return sent;
            }
        }
    }

    fn on_ack(&mut self, ack: &AckFields) {
        self.high_ack = self.high_ack.max(ack.seq);
        for (start, end) in ack.sack.into_iter().flatten() {
            for octet in start + 1..=end {
                self.sacked[octet as usize] = true;
            }
        }
        if let Some(point) = self.recovery_point {
            if self.high_ack >= point {
                (self.recovery_point, self.high_rxt) = (None, self.high_ack);
            }
        } else if let Some(point) = self.timeout_point {
            if self.high_ack >= point {
                (self.timeout_point, self.high_rxt) = (None, self.high_ack);
            }
        } else {
            self.high_rxt = self.high_ack;
            let is_gap = (self.high_ack + 1..=self.high_data).any(|o| self.is_sacked(o));
            if is_gap && self.is_lost(self.high_ack + 1) {
                self.recovery_point = Some(self.high_data);
                self.retransmits_first = true;
            }
        }
    }

    fn on_timeout(&mut self) {
        self.recovery_point = None;
        self.retransmits_first = false;
        self.timeout_point = Some(self.high_data);
        self.high_rxt = self.high_ack;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Compared with the sender, whose window both use.
    #[test]
    fn what_is_sent_is_what_rfc_6675_sends(
        size in 1u64..240,
        window in 1u64..40,
        dup_thresh in 1u32..5,
        fates in fates(),
    ) {
        let text = format!(
            "kind = \"newreno\"\nmss = \"{SMSS}B\"\ninitial_window = \"{window}pkt\"\nrecovery.dupthresh = {dup_thresh}"
        );
        let transport = closed_loop(&text);
        let mut sender = Sender::new(size, SMSS as u32, &transport, &access(10, 25));
        let mut naive = Naive::new(size, dup_thresh as usize);
        let mut network = Network::new(fates);
        let (mut step, mut timeouts) = (0u64, 0);
        while !sender.is_done() {
            let now = Time::from_us(100 * step);
            let mut sent = Vec::new();
            while let Some(piece) = sender.next_piece(now, &transport) {
                sent.push((piece.seq + 1, piece.seq + u64::from(piece.payload), piece.again));
                // After many timeouts no packet is lost any more.
                network.send(now, step + 1, &piece, timeouts > 8);
            }
            let cwnd = sender.window().cwnd;
            let told = format!("step {step}, window {cwnd}, {:?}", sender.board);
            prop_assert_eq!(&sent, &naive.send(cwnd), "{}", told);
            prop_assert_eq!(sender.in_flight(), naive.pipe(), "{}", told);
            let Some(at) = network.next_step() else {
                timeouts += 1;
                sender.on_deadline(now, &transport);
                naive.on_timeout();
                step += 1;
                continue;
            };
            step = at;
            for ack in network.deliver(now, &transport).1 {
                sender.on_ack(Time::from_us(100 * step), &ack.segment(), &transport);
                naive.on_ack(&ack);
            }
        }
    }
}

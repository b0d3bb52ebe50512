//! Proportional rate reduction: after a cut the sender gets down to the new window by sending less
//! for each ack, instead of sending nothing until enough has left the network.
//!
//! # Reference
//! M. Mathis, N. Dukkipati, Y. Cheng, "Proportional Rate Reduction for TCP", RFC 6937, 2013,
//! section 3, with the slow start reduction bound.
//!
//! # Rule
//! Since the cut `delivered` bytes have left the network and `out` bytes were sent. While more is
//! in flight than the new window: out <= ceil(delivered * target / flight at the cut). After that:
//! up to the target, but at most one segment more than was delivered.
//!
//! # Departures
//! ns-3 (3.37 to 3.39, `TcpPrrRecovery` under `TcpSocketBase::EnterCwr`) evaluates the rule twice
//! for the ack that causes the cut, so what it delivers counts twice. It also lets a segment go in
//! any case until one has gone, as Linux does. Below the target it sends no more than the ack
//! delivers, except when a retransmission is acknowledged. The product delivered * target is in 32
//! bits there, so with windows above about 45 segments it overflows, and nothing is sent for a
//! while. [`ReductionRule::Ns3`] does all of this.

use spillway_settings::{Section, SettingsError};

/// How a sender gets down to a cut window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionRule {
    /// Nothing is sent until the window allows it.
    AtOnce,
    /// RFC 6937.
    Proportional,
    /// RFC 6937 with the differences of ns-3.
    Ns3,
}

impl ReductionRule {
    /// Reads the rule.
    pub fn read(
        section: &mut Section,
        default: ReductionRule,
    ) -> Result<ReductionRule, SettingsError> {
        let mut rules = [
            ("at-once", ReductionRule::AtOnce),
            ("proportional", ReductionRule::Proportional),
            ("proportional-ns3", ReductionRule::Ns3),
        ];
        let place = rules.iter().position(|&(_, rule)| rule == default).unwrap_or(0);
        rules[..=place].rotate_right(1);
        let meaning = "how a sender reaches a smaller window: it sends nothing until the window \
                       allows it, or less for each ack (RFC 6937)";
        section.choice("reduction", &rules, meaning)
    }
}

/// A reduction that is under way.
#[derive(Clone, Copy, Debug)]
pub struct Reduction {
    /// Bytes in flight at the cut (RecoverFS).
    flight: u64,
    /// The new window (ssthresh).
    target: u64,
    /// The reduction is over when everything before this byte, all that was sent before the cut, is
    /// acknowledged.
    until: u64,
    delivered: u64,
    out: u64,
    /// Bytes that may be sent before the next ack.
    allowed: u64,
    as_ns3: bool,
}

impl Reduction {
    /// Begins a reduction from what is in flight to a new window; `until` is the next byte to be
    /// sent.
    pub fn new(rule: ReductionRule, flight: u64, target: u64, until: u64) -> Reduction {
        let as_ns3 = rule == ReductionRule::Ns3;
        let flight = flight.max(1);
        Reduction { flight, target, until, delivered: 0, out: 0, allowed: 0, as_ns3 }
    }

    /// Whether everything sent before the cut has been acknowledged.
    pub fn is_over(&self, una: u64) -> bool {
        una >= self.until
    }

    /// An ack reports that `newly_delivered` more bytes have left the network; `pipe` bytes are in
    /// flight now. `repaired`: it acknowledges what was retransmitted.
    pub fn on_ack(&mut self, newly_delivered: u64, pipe: u64, mss: u64, repaired: bool) {
        let twice = self.as_ns3 && self.delivered == 0;
        self.delivered += newly_delivered * (1 + u64::from(twice));
        self.allowed = if pipe > self.target {
            let product = self.delivered * self.target;
            let product = if self.as_ns3 { u64::from(product as u32) } else { product };
            product.div_ceil(self.flight).saturating_sub(self.out)
        } else {
            let bound = match self.as_ns3 && !repaired {
                true => newly_delivered,
                false => self.delivered.saturating_sub(self.out).max(newly_delivered) + mss,
            };
            bound.min(self.target - pipe)
        };
        if self.as_ns3 && self.out == 0 {
            self.allowed = self.allowed.max(mss);
        }
    }

    /// Whether this many bytes may be sent; if so, counts them as sent. If less than a segment may
    /// be sent, the rest counts at the next ack, as it does with a window.
    pub fn take(&mut self, bytes: u64) -> bool {
        let may = self.allowed >= bytes;
        if may {
            self.count(bytes);
        }
        may
    }

    /// Takes back bytes that were counted but not sent.
    pub fn give_back(&mut self, bytes: u64) {
        self.allowed += bytes;
        self.out = self.out.saturating_sub(bytes);
    }

    /// Counts bytes as sent.
    pub fn count(&mut self, bytes: u64) {
        self.allowed = self.allowed.saturating_sub(bytes);
        self.out += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_window_sends_for_every_second_ack() {
        // 20 segments of 1000 in flight, cut to 10: ceil(delivered / 2) may be out.
        let mut reduction = Reduction::new(ReductionRule::Proportional, 20_000, 10_000, 50_000);
        let mut pipe = 20_000;
        let mut sent = String::new();
        for _ in 0..20 {
            pipe -= 1000;
            reduction.on_ack(1000, pipe, 1000, false);
            let sends = reduction.take(1000);
            pipe += if sends { 1000 } else { 0 };
            sent.push(if sends { '1' } else { '0' });
        }
        // With the last two acks the target is reached, and what is missing is sent.
        assert_eq!(&sent[..18], "010101010101010100");
        assert_eq!(pipe, 10_000);
        assert!(!reduction.is_over(49_999) && reduction.is_over(50_000));
    }

    #[test]
    fn below_the_target_a_segment_more_than_delivered_may_go() {
        let mut reduction = Reduction::new(ReductionRule::Proportional, 20_000, 10_000, 50_000);
        reduction.on_ack(1000, 4_000, 1000, false);
        assert!(reduction.take(1000) && reduction.take(1000) && !reduction.take(1000));
    }

    #[test]
    fn bytes_are_counted_upwards_and_what_was_not_sent_is_made_up_for() {
        // Two thirds of 1000 bytes are 667.
        let mut reduction = Reduction::new(ReductionRule::Proportional, 30_000, 20_000, 50_000);
        assert!(!reduction.take(1));
        reduction.on_ack(1000, 29_000, 1000, false);
        assert!(!reduction.take(668) && reduction.take(667));
        // Below the target. Of 5000 bytes delivered 667 were answered; the rest may be sent, and a
        // segment more. Once more has been sent than delivered, it is the latest 1000 and a segment
        // more.
        reduction.on_ack(4000, 10_000, 1000, false);
        assert!(!reduction.take(5_334) && reduction.take(5_333));
        reduction.on_ack(1000, 10_000, 1000, false);
        assert!(!reduction.take(2_001) && reduction.take(2_000));
    }

    #[test]
    fn what_is_given_back_may_be_sent_again() {
        let mut reduction = Reduction::new(ReductionRule::Proportional, 20_000, 10_000, 50_000);
        reduction.on_ack(4000, 16_000, 1000, false);
        assert!(reduction.take(2000) && !reduction.take(1));
        reduction.give_back(1000);
        assert!(reduction.take(1000) && !reduction.take(1));
        // Giving back more than was counted is harmless: the count does not fall below zero.
        reduction.give_back(1000);
        reduction.give_back(5000);
        reduction.on_ack(1000, 16_000, 1000, false);
        assert!(!reduction.take(2_501) && reduction.take(2_500));
    }

    #[test]
    fn ns3_sends_a_segment_more() {
        // 20 segments of 1000 in flight, cut to 10. The first ack counts twice: ceil(2000 / 2) may
        // be sent at once. Then as with RFC 6937, one ack earlier.
        let mut reduction = Reduction::new(ReductionRule::Ns3, 20_000, 10_000, 50_000);
        let mut sent = String::new();
        let mut pipe = 20_000;
        for _ in 0..8 {
            pipe -= 1000;
            reduction.on_ack(1000, pipe, 1000, false);
            let sends = reduction.take(1000);
            pipe += if sends { 1000 } else { 0 };
            sent.push(if sends { '1' } else { '0' });
        }
        assert_eq!(sent, "10101010");
        // Cut to a tenth: 2 * 1000 / 10 is less than a segment, but the first one is sent anyway.
        let mut reduction = Reduction::new(ReductionRule::Ns3, 20_000, 2_000, 50_000);
        reduction.on_ack(1000, 19_000, 1000, false);
        assert!(reduction.take(1000));
        reduction.on_ack(1000, 19_000, 1000, false);
        assert!(!reduction.take(1000));
    }
}

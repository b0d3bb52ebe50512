//! Proportional rate reduction: after a cut the sender gets down to the new window by sending less
//! for each ack, instead of sending nothing until enough has left the network.
//!
//! # Reference
//! M. Mathis, N. Cardwell, Y. Cheng, N. Dukkipati, "Proportional Rate Reduction (PRR)", RFC 9937,
//! 2025, section 6; M. Mathis, N. Dukkipati, Y. Cheng, "Proportional Rate Reduction for TCP", RFC
//! 6937, 2013, section 3, with the slow start reduction bound.
//!
//! # Rule
//! Since the cut `delivered` bytes have left the network and `out` bytes were sent. While more is
//! in flight than the new window: out <= ceil(delivered * target / RecoverFS). After that: up to
//! the target, but at most what was delivered, and a segment more if the ack moves on and tells of
//! no further loss (a safe ack; in RFC 6937: always).
//! RecoverFS is what was in flight at the cut: what has not arrived, and what the ack that causes
//! the cut delivers. In RFC 6937 it is all that is not acknowledged cumulatively.
//!
//! # What was not at hand
//! The text of RFC 9937. Its rules are those of its drafts, as public implementations of them have
//! them; RecoverFS, too.
//!
//! # Departures
//! RFC 9937 lets a segment go if none has gone and the rule allows nothing. Here that is the first
//! retransmission, which goes in any case; a cut for a mark has none.
//!
//! ns-3 (3.37 to 3.39, `TcpPrrRecovery` under `TcpSocketBase::EnterCwr`) evaluates the rule twice
//! for the ack that causes the cut, so what it delivers counts twice. It also lets a segment go in
//! any case until one has gone, as Linux does. Below the target it sends no more than the ack
//! delivers, except when a retransmission is acknowledged. The product delivered * target is in 32
//! bits there, so with windows above about 45 segments it overflows, and nothing is sent for a
//! while. [`ReductionRule::Ns3`] does all of this.

use spillway_settings::{Section, SettingsError};

/// How a sender comes down to a cut window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionRule {
    /// Nothing is sent until the window allows it.
    AtOnce,
    /// RFC 9937.
    Proportional,
    /// RFC 6937.
    Rfc6937,
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
            ("proportional-rfc6937", ReductionRule::Rfc6937),
            ("proportional-ns3", ReductionRule::Ns3),
        ];
        let place = rules.iter().position(|&(_, rule)| rule == default).unwrap_or(0);
        rules[..=place].rotate_right(1);
        let meaning = "how a sender reaches a smaller window: it sends nothing until the window \
                       allows it, or less for each ack (RFC 9937, or RFC 6937 to the letter)";
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
    /// The byte at which the reduction is over: everything before it was sent before the cut and is
    /// then acknowledged.
    until: u64,
    delivered: u64,
    out: u64,
    /// Bytes that may be sent before the next ack.
    allowed: u64,
    rule: ReductionRule,
}

/// What an ack tells a reduction.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    /// Bytes that have newly left the network.
    pub delivered: u64,
    /// Whether data is newly acknowledged cumulatively.
    pub moves_on: bool,
    /// Whether something is newly known to be lost.
    pub loses: bool,
    /// Whether it acknowledges a retransmission.
    pub repaired: bool,
}

impl Reduction {
    /// Begins a reduction from what is in flight to a new window; `until` is the next byte to be
    /// sent.
    pub fn new(rule: ReductionRule, flight: u64, target: u64, until: u64) -> Reduction {
        let flight = flight.max(1);
        Reduction { flight, target, until, delivered: 0, out: 0, allowed: 0, rule }
    }

    /// Whether everything sent before the cut has been acknowledged.
    pub fn is_over(&self, una: u64) -> bool {
        una >= self.until
    }

    /// An ack has arrived; `pipe` bytes are in flight now.
    pub fn on_ack(&mut self, told: Told, pipe: u64, mss: u64) {
        let newly = told.delivered;
        let as_ns3 = self.rule == ReductionRule::Ns3;
        if newly == 0 && self.rule == ReductionRule::Proportional {
            return;
        }
        let twice = as_ns3 && self.delivered == 0;
        self.delivered += newly * (1 + u64::from(twice));
        self.allowed = if pipe > self.target {
            let product = self.delivered * self.target;
            let product = if as_ns3 { u64::from(product as u32) } else { product };
            product.div_ceil(self.flight).saturating_sub(self.out)
        } else {
            let made_up = self.delivered.saturating_sub(self.out).max(newly);
            let bound = match self.rule {
                ReductionRule::Ns3 if !told.repaired => newly,
                ReductionRule::Proportional if !told.moves_on || told.loses => made_up,
                _ => made_up + mss,
            };
            bound.min(self.target - pipe)
        };
        if as_ns3 && self.out == 0 {
            self.allowed = self.allowed.max(mss);
        }
    }

    /// Bytes that may be sent before the next ack.
    pub fn allowed(&self) -> u64 {
        self.allowed
    }

    /// Whether this many bytes may be sent; if so, counts them as sent. If less than a segment may
    /// be sent, the rest is kept for the next ack, as with a window.
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

    /// An ack that moves on and tells of no loss.
    fn safe(delivered: u64) -> Told {
        Told { delivered, moves_on: true, loses: false, repaired: false }
    }

    #[test]
    fn half_a_window_sends_for_every_second_ack() {
        // 20 segments of 1000 in flight, cut to 10: ceil(delivered / 2) may be out.
        let mut reduction = Reduction::new(ReductionRule::Proportional, 20_000, 10_000, 50_000);
        let mut pipe = 20_000;
        let mut sent = String::new();
        for _ in 0..20 {
            pipe -= 1000;
            reduction.on_ack(safe(1000), pipe, 1000);
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
        reduction.on_ack(safe(1000), 4_000, 1000);
        assert!(reduction.take(1000) && reduction.take(1000) && !reduction.take(1000));
    }

    #[test]
    fn no_more_than_was_delivered_may_go_while_losses_go_on() {
        let mut reduction = Reduction::new(ReductionRule::Proportional, 20_000, 10_000, 50_000);
        let lossy = [
            Told { loses: true, ..safe(1000) },
            Told { moves_on: false, ..safe(1000) },
            Told { moves_on: false, loses: true, ..safe(1000) },
        ];
        for told in lossy {
            reduction.on_ack(told, 4_000, 1000);
            assert!(reduction.take(1000) && !reduction.take(1), "{told:?}");
            // RFC 6937 lets a segment more go with every ack.
            let mut literal = Reduction::new(ReductionRule::Rfc6937, 20_000, 10_000, 50_000);
            literal.on_ack(told, 4_000, 1000);
            assert!(literal.take(2000) && !literal.take(1), "{told:?}");
        }
        // Three were delivered and two sent: with the fourth two may go, and a safe ack adds one.
        reduction.give_back(1000);
        reduction.on_ack(safe(1000), 4_000, 1000);
        assert!(reduction.take(3000) && !reduction.take(1));
        // Up to the target.
        reduction.on_ack(safe(1000), 9_500, 1000);
        assert!(reduction.take(500) && !reduction.take(1));
    }

    #[test]
    fn an_ack_that_delivers_nothing_changes_nothing() {
        let mut reduction = Reduction::new(ReductionRule::Proportional, 20_000, 10_000, 50_000);
        reduction.on_ack(safe(1000), 4_000, 1000);
        assert!(reduction.take(1000));
        reduction.on_ack(safe(0), 4_000, 1000);
        assert!(reduction.take(1000) && !reduction.take(1));
    }

    #[test]
    fn bytes_are_counted_upwards_and_what_was_not_sent_is_made_up_for() {
        // Two thirds of 1000 bytes are 667.
        let mut reduction = Reduction::new(ReductionRule::Proportional, 30_000, 20_000, 50_000);
        assert!(!reduction.take(1));
        reduction.on_ack(safe(1000), 29_000, 1000);
        assert!(!reduction.take(668) && reduction.take(667));
        // Below the target. Of 5000 bytes delivered 667 were answered; the rest may be sent, and a
        // segment more. Once more has been sent than delivered, it is the latest 1000 and a segment
        // more.
        reduction.on_ack(safe(4000), 10_000, 1000);
        assert!(!reduction.take(5_334) && reduction.take(5_333));
        reduction.on_ack(safe(1000), 10_000, 1000);
        assert!(!reduction.take(2_001) && reduction.take(2_000));
    }

    #[test]
    fn what_is_given_back_may_be_sent_again() {
        let mut reduction = Reduction::new(ReductionRule::Proportional, 20_000, 10_000, 50_000);
        reduction.on_ack(safe(4000), 16_000, 1000);
        assert!(reduction.take(2000) && !reduction.take(1));
        reduction.give_back(1000);
        assert!(reduction.take(1000) && !reduction.take(1));
        // Giving back more than was counted is harmless: the count does not fall below zero.
        reduction.give_back(1000);
        reduction.give_back(5000);
        reduction.on_ack(safe(1000), 16_000, 1000);
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
            reduction.on_ack(safe(1000), pipe, 1000);
            let sends = reduction.take(1000);
            pipe += if sends { 1000 } else { 0 };
            sent.push(if sends { '1' } else { '0' });
        }
        assert_eq!(sent, "10101010");
        // Cut to a tenth: 2 * 1000 / 10 is less than a segment, but the first one is sent anyway.
        let mut reduction = Reduction::new(ReductionRule::Ns3, 20_000, 2_000, 50_000);
        reduction.on_ack(safe(1000), 19_000, 1000);
        assert!(reduction.take(1000));
        reduction.on_ack(safe(1000), 19_000, 1000);
        assert!(!reduction.take(1000));
    }
}

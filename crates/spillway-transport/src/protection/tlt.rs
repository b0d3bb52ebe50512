//! TLT: tag the packets whose loss would cost a timeout, and have one of them in flight always.
//!
//! A sender's loss is found by what arrives behind it; what nothing follows is found by a timeout.
//! TLT tags one packet of each round trip as important. Switches lose the others at a low threshold,
//! so important ones find room.
//!
//! # Reference
//! H. Lim, W. Bai, Y. Zhu, Y. Jung, D. Han, "Towards Timeout-less Transport in Commodity Datacenter
//! Networks", EuroSys 2021. doi:10.1145/3447786.3456227. What follows is read from the authors'
//! programs, [ns-3](https://github.com/kaist-ina/ns3-tlt-tcp-public) and
//! [libvma](https://github.com/kaist-ina/libvma-tlt-public); \[code\] and \[ours\] tell them from our
//! choices.
//!
//! # Rule
//! **Sender.** Important are
//!
//! - packets of a handshake, and acks: as all control packets, they have no limit \[code\];
//! - the last packet that the initial window allows \[code\];
//! - after the echo of an important packet, the next one \[code\];
//! - the first packet after a timeout, or after the host has refused an important one \[ours\];
//!   what left before then tells nothing \[ours\].
//!
//! If the window allows none when the echo comes, one is sent all the same \[code\]: what is known to
//! be lost; else the first unacknowledged segment, if it was sent before the packet whose echo came,
//! and so is lost too, first of all others in a recovery \[code: `OPTIMIZE` 11, as their scripts have
//! it\]; else a header alone \[ours: the authors' 1 byte; segments here are sent as a whole\].
//!
//! **Losses.** What was sent before an important packet and has not been acknowledged when its echo
//! comes is lost \[ours: ns-3's program sends it again as it is told to send something important,
//! libvma's takes it for lost two echoes later\]. `sack` and `ns3` repair all of it, `rack` what is
//! older than its reordering window; the others only send the first of it again.
//!
//! **Receiver.** The ack of an important packet says so \[code\]; it leaves at once, and tells when that
//! packet was sent \[ours\].
//!
//! **Switch.** With `switch.unimportant_limit` = K a port loses an unimportant packet if the
//! unimportant bytes in its queues and the packet's reach K \[code: `CheckEgressTLT` counts by port\].
//! K is 400 KB of 4.5 MB in their scripts, which is 9%. Important packets, acks, and data of flows without TLT
//! are left to the sharing policy.
//!
//! # Departures from the paper
//! Rates are not protected (the paper tags the last packet of a flow and each N-th of those whose
//! sender has no window). A bit on data and one on acks take no bytes.
//!
//! # In composition
//! - **Recoveries and paces.** With TCP's phases and a window; `go-back-n`, `selective`, plug-ins and
//!   transports with a pace refuse it, as does `offload`. A header alone is not numbered, so under
//!   `per-priority` the first segment is sent in its place. `tail_loss_probe`s are unimportant.
//! - **Order.** A packet that overtakes others, by another path or a better level of a tagger, makes
//!   them look lost. A warning says so.
//! - **Sharing policies and AQMs** still judge important packets. A policy that refuses a queue below
//!   K refuses them too, and an AQM may drop them (`not_ect = "drop"` without ECN). In `credence`
//!   under load 0.8, with bursts of half the buffer, K = 9% leaves no timeout, and K = 20% some: DT's
//!   threshold is then often below K, and last packets of bursts are lost to it.
//! - **Thresholds of AQMs** belong below K. Where K comes first, unimportant packets are lost before
//!   anything is marked: ten times as many in that scenario, although short flows complete earlier.
//! - **Short timeouts.** A repair that is not important may be lost as well. That is found a round
//!   trip later, and 1 ms may be over before it is sent once more.
//! - **Shortcuts.** A switch with a limit queues every packet, and is slower to simulate.
//! - **Lossless** packets are neither counted nor lost. **NICs** know no important packets.
//!
//! # Validation
//! A flow's packets, losses and echoes by hand; the same, and the counts of ports, beside naive
//! implementations.
//! No numbers were compared with the authors' programs.
//!
//! # Cost
//! That of switches is in the [catalogue](../scenario/switch.md#important-packets); color-aware ones
//! have it already. In hosts, the state below.

use super::Kind;
use spillway_engine::Time;
use spillway_switch::Cost;
use spillway_switch::cost::{Operations, State};

/// The row of the catalogue.
pub const KIND: Kind = Kind {
    id: "tlt",
    results: 2,
    summary: "one packet in flight that switches do not lose easily",
    citation: "H. Lim et al., EuroSys 2021, doi:10.1145/3447786.3456227",
    cost: Cost {
        // Unimportant bytes.
        port: State { counters: 1, ..State::NONE },
        // Whether it is unimportant.
        others: &[("packet", State { bits: 1, ..State::NONE })],
        // The bytes with the packet, which are the new count if it is below K.
        arrival: Operations { additions: 1, comparisons: 1, ..Operations::NONE },
        departure: Operations { additions: 1, ..Operations::NONE },
        needs: "which packets their senders take to be important",
        ..Cost::NONE
    },
};

/// Which of a sender's packets are important.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tlt {
    next: Next,
    /// When the important packet under way was sent, the last one if there are several.
    sent_at: Time,
    /// The byte behind what was sent for the first time before the important packet under way, or
    /// with it.
    covered: u64,
    /// The first bytes of segments that were sent again since then.
    resent: Vec<u64>,
}

/// Which packet is important next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Next {
    /// The last one of the initial window.
    #[default]
    LastOfWindow,
    /// The next one.
    Any,
    /// None: one is under way.
    None,
}

impl Tlt {
    /// Whether the next packet is important, whatever the window allows.
    pub fn is_due(&self) -> bool {
        self.next == Next::Any
    }

    /// The next packet is important, since the last important one was refused or is lost: it shows
    /// no losses.
    pub fn protect_next(&mut self) {
        (self.next, self.covered) = (Next::Any, 0);
    }

    /// An important packet has arrived that was sent then. Returns false if it is not the last one:
    /// a timeout came before its echo. It then tells nothing.
    pub fn on_echo(&mut self, sent_at: Time) -> bool {
        let is_last = self.next == Next::None && sent_at == self.sent_at;
        if is_last {
            self.next = Next::Any;
        }
        is_last
    }

    /// A packet is sent. `again` is its first byte if it was sent before, `nxt` the first byte that
    /// was never sent, and `is_last` says whether the window allows no other. Returns whether it is
    /// important.
    pub fn on_sent(&mut self, now: Time, again: Option<u64>, nxt: u64, is_last: bool) -> bool {
        let is_important = self.is_due() || (self.next == Next::LastOfWindow && is_last);
        if is_important {
            (self.next, self.sent_at, self.covered) = (Next::None, now, nxt);
            self.resent.clear();
        }
        self.resent.extend(again);
        is_important
    }

    /// Whether the important packet, which has arrived, was sent after the first unacknowledged
    /// segment, which begins here: then that one is lost.
    pub fn shows_loss_of(&self, una: u64) -> bool {
        una < self.covered && !self.resent.contains(&una)
    }

    /// When the important packet under way was sent.
    #[cfg(test)]
    pub fn sent_at(&self) -> Time {
        self.sent_at
    }

    /// The byte behind what was sent before the important packet.
    pub fn covered(&self) -> u64 {
        self.covered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(us: u64) -> Time {
        Time::from_us(us)
    }

    /// Segments of 100 bytes. Three are the initial window, and the third is important. After its
    /// echo the next one is, and the one after that is not.
    #[test]
    fn one_packet_of_a_round_is_important() {
        let mut tlt = Tlt::default();
        let sent = [(100, false), (200, false), (300, true), (400, true)];
        let important = sent.map(|(nxt, is_last)| tlt.on_sent(us(1), None, nxt, is_last));
        assert_eq!(important, [false, false, true, false]);
        assert_eq!((tlt.covered(), tlt.is_due()), (300, false));
        assert!(tlt.on_echo(us(1)) && tlt.is_due());
        assert_eq!([500, 600].map(|nxt| tlt.on_sent(us(2), None, nxt, true)), [true, false]);
        assert_eq!(tlt.covered(), 500);
    }

    /// A timeout comes, and a second important packet leaves. The echo of the first tells nothing.
    #[test]
    fn only_the_last_important_packet_counts() {
        let mut tlt = Tlt::default();
        assert!(tlt.on_sent(us(1), None, 100, true));
        tlt.protect_next();
        assert!(!tlt.on_echo(us(1)), "it may have been sent again");
        assert!(tlt.on_sent(us(1_001), Some(0), 100, true));
        assert!(!tlt.on_echo(us(1)) && !tlt.is_due());
        assert!(tlt.on_echo(us(1_001)) && tlt.is_due());
    }

    /// The important packet left when bytes up to 300 had been sent: a first missing byte 200 is
    /// lost, 300 may be under way. Sent again before that packet it is lost again; sent again
    /// after it, it may be under way.
    #[test]
    fn what_was_sent_before_an_important_packet_that_arrives_is_lost() {
        let mut tlt = Tlt::default();
        assert!(!tlt.shows_loss_of(0), "nothing was sent");
        assert!(!tlt.on_sent(us(1), Some(200), 300, false));
        assert!(tlt.on_sent(us(1), None, 300, true));
        assert_eq!([200, 300].map(|una| tlt.shows_loss_of(una)), [true, false]);
        assert!(!tlt.on_sent(us(2), Some(200), 400, false));
        assert!(!tlt.shows_loss_of(200) && tlt.shows_loss_of(0));
    }
}

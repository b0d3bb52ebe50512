//! QCLIMB: a flow climbs to better priorities while it sends what is known of it, and then sinks.
//!
//! # Reference
//! W. Li, X. He, Y. Liu, K. Li, K. Chen, Z. Ge, Z. Guan, H. Qi, S. Zhang, G. Liu, "Flow Scheduling
//! with Imprecise Knowledge", USENIX NSDI 2024: its slides and abstract.
//!
//! # Rule
//! A flow has a lower bound L of its size.
//! - Up, while sent < L: the first level i with L - sent <= up_i; the last level if there is none.
//! - Down, once the bound is used up: the first level i with sent <= down_i, as in PIAS.
//!
//! sent: the flow's payload before the packet. With equal thresholds the way down begins at about
//! the level at which the flow entered. L = 0 is PIAS; L = size is SRPT in K levels, until timeouts
//! take a flow back (`reset_after`).
//!
//! # Departures from the paper
//! The slides show no thresholds and no formula; the rule is read from their example, which it
//! gives with thresholds of 1, 3 and 5 packets, and with 1, 3 and 6 if the way down counts the
//! packet itself (`counts_packet`). Up and down may have thresholds of their own (`up`). The
//! abstract also names an upper bound; no public text says where it enters, so it is not used.
//! PIAS's reset after timeouts (`reset_after`) is kept; a flow that was taken back is treated as
//! one of which nothing is known.
//!
//! # Scope and limitations
//! Packets of a flow overtake each other where it climbs. A bound that is too high makes a flow end
//! before it has climbed.
//!
//! # In composition
//! What holds for [PIAS](pias.md) holds here. Beyond that, a flow that climbs overtakes itself:
//! recoveries that take a gap for a loss send again what is only late, which a run warns of;
//! `per-priority` tells the two apart.
//!
//! # Validation
//! The slides' example by hand; PIAS and SRPT as limits (below).
//!
//! # Cost
//! A comparison for a new packet that has the level of the one before. Other new packets and
//! repairs: two comparisons for each threshold below what is left of the bound, or below what was
//! sent. On the way down with `counts_packet` every packet takes one for each of these.

use super::pias::Pias;
use super::{Kind, Ladder, Tagged, Tagger};
use spillway_settings::{Section, SettingsError};
use std::sync::Arc;

/// The row of QCLIMB.
pub(super) const KIND: Kind = Kind {
    id: "qclimb",
    results: 1,
    summary: "QCLIMB: priorities climb up to a flow's lower bound, then sink",
    citation: "Li et al.: Flow Scheduling with Imprecise Knowledge, NSDI 2024",
    read: |section| Ok(Some(Arc::new(Qclimb::read(section, Knowledge::Bound)?))),
};

/// What is known of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Knowledge {
    /// A lower bound.
    Bound,
    /// Its size.
    Size,
}

/// QCLIMB.
#[derive(Clone, Debug)]
pub(super) struct Qclimb {
    knowledge: Knowledge,
    up: Ladder,
    down: Pias,
}

impl Qclimb {
    /// Reads thresholds and what counts.
    pub fn read(section: &mut Section, knowledge: Knowledge) -> Result<Qclimb, SettingsError> {
        let down = Pias::read(section)?;
        let meaning = "bytes that may be left of the bound in each level but the last, on the way up; \
                       by default `thresholds`";
        let up = section.optional("up", |section| Ladder::read(section, "up", meaning))?;
        let up = up.unwrap_or_else(|| down.ladder().clone());
        if up.levels() != down.levels() {
            let problem = format!("{} levels, but {} on the way down", up.levels(), down.levels());
            return Err(section.conflict("up", problem));
        }
        Ok(Qclimb { knowledge, up, down })
    }

    /// What is left of a flow's bound before a packet; `None` once it is used up, or if the flow
    /// was taken back.
    fn left(&self, packet: &Tagged) -> Option<u64> {
        let bound = self.climbs_to(packet.bound, packet.size);
        let left = bound.saturating_sub(packet.sent);
        (left > 0 && !packet.is_reset).then_some(left)
    }
}

impl Tagger for Qclimb {
    fn levels(&self) -> u8 {
        self.down.levels()
    }

    fn level(&self, packet: &Tagged) -> u8 {
        match self.left(packet) {
            Some(left) => self.up.level_of(left),
            None => self.down.level(packet),
        }
    }

    fn holds_until(&self, packet: &Tagged) -> u64 {
        match self.left(packet) {
            Some(left) => packet.sent + self.up.shrinks_by(left),
            None => self.down.holds_until(packet),
        }
    }

    fn resets_after(&self) -> Option<u32> {
        self.down.resets_after()
    }

    fn overtakes(&self) -> bool {
        true
    }

    fn knows_bounds(&self) -> bool {
        self.knowledge == Knowledge::Bound
    }

    fn climbs_to(&self, bound: u64, size: u64) -> u64 {
        match self.knowledge {
            Knowledge::Bound => bound,
            Knowledge::Size => size,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tagging::srpt::Srpt;

    const PACKET: u64 = 1_000;
    const SLIDES: &str = "thresholds = [\"1KB\", \"3KB\", \"5KB\"]";

    fn read(text: &str, knowledge: Knowledge) -> Qclimb {
        let mut section = Section::new("tagging", text.parse().unwrap());
        Qclimb::read(&mut section, knowledge).unwrap()
    }

    /// A packet of a flow of `packets` packets.
    fn packet(place: u64, packets: u64, bound: u64) -> Tagged {
        Tagged {
            sent: place * PACKET,
            payload: PACKET as u32,
            bound: bound * PACKET,
            size: packets * PACKET,
            timeouts: 0,
            is_reset: false,
        }
    }

    /// The levels of all packets of a flow.
    fn levels(tagger: &impl Tagger, packets: u64, bound: u64) -> Vec<u8> {
        (0..packets).map(|place| tagger.level(&packet(place, packets, bound))).collect()
    }

    #[test]
    fn the_slides_flows_climb_and_sink() {
        let qclimb = read(SLIDES, Knowledge::Bound);
        // Left of the bound: 4, 3, 2, 1 packets; then sent: 4, 5, 6.
        assert_eq!(levels(&qclimb, 7, 4), [3, 2, 2, 1, 3, 3, 4]);
        assert_eq!(levels(&qclimb, 3, 3), [2, 2, 1]);
        // Sent, with the packet itself: 5, 6, 7.
        let text = "thresholds = [\"1KB\", \"3KB\", \"6KB\"]\ncounts_packet = true";
        let counting = read(text, Knowledge::Bound);
        assert_eq!(levels(&counting, 7, 4), [3, 2, 2, 1, 3, 3, 4]);
        assert_eq!(levels(&counting, 3, 3), [2, 2, 1]);
    }

    #[test]
    fn the_way_up_may_have_thresholds_of_its_own() {
        let text = format!("{SLIDES}\nup = [\"2KB\", \"3KB\", \"4KB\"]");
        assert_eq!(levels(&read(&text, Knowledge::Bound), 7, 4), [3, 2, 1, 1, 3, 3, 4]);
        let text = format!("{SLIDES}\nup = [\"2KB\"]");
        let mut section = Section::new("tagging", text.parse().unwrap());
        let error = Qclimb::read(&mut section, Knowledge::Bound).unwrap_err();
        assert_eq!(error.to_string(), "tagging.up: 2 levels, but 4 on the way down");
    }

    #[test]
    fn a_bound_of_nothing_is_pias_and_one_of_all_is_srpt() {
        let (qclimb, by_size) = (read(SLIDES, Knowledge::Bound), read(SLIDES, Knowledge::Size));
        let mut section = Section::new("tagging", SLIDES.parse().unwrap());
        let pias = Pias::read(&mut section).unwrap();
        let mut section = Section::new("tagging", SLIDES.parse().unwrap());
        let srpt = Srpt::read(&mut section).unwrap();
        for packets in 1..20 {
            assert_eq!(levels(&qclimb, packets, 0), levels(&pias, packets, 0));
            let expected = levels(&srpt, packets, 0);
            assert_eq!(levels(&qclimb, packets, packets), expected);
            assert_eq!(levels(&by_size, packets, 0), expected);
            // A bound that is too high: the flow ends on its way up.
            let high = levels(&qclimb, packets, packets + 2);
            assert!(high.iter().zip(&expected).all(|(high, exact)| high >= exact));
        }
    }

    #[test]
    fn a_flow_that_was_taken_back_is_one_of_which_nothing_is_known() {
        let qclimb = read(SLIDES, Knowledge::Bound);
        let reset = Tagged { is_reset: true, ..packet(0, 7, 4) };
        assert_eq!((qclimb.level(&packet(0, 7, 4)), qclimb.level(&reset)), (3, 1));
        assert!(qclimb.knows_bounds() && !read(SLIDES, Knowledge::Size).knows_bounds());
    }
}

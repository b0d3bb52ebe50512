//! SRPT in K levels: the less a flow has left to send, the better its priority.
//!
//! # Reference
//! L. Schrage, "A Proof of the Optimality of the Shortest Remaining Processing Time Discipline",
//! Operations Research 16(3), 1968; in levels as in M. Alizadeh, S. Yang, M. Sharif, S. Katti,
//! N. McKeown, B. Prabhakar, S. Shenker, "pFabric: Minimal Near-Optimal Datacenter Transport",
//! ACM SIGCOMM 2013, section 6 (a switch with few priority queues).
//!
//! # Rule
//! A packet has the first level i with size - sent <= thr_i, where sent counts the payload of its
//! flow before it; the last level if there is none.
//!
//! With `size = "predicted"` a flow's bound is taken for its size, a prediction at face value: so
//! does the simulator of V. Dukic, S. A. Jyothi, B. Karlas, M. Owaida, C. Zhang, A. Singla, "Is
//! advance knowledge of flow sizes a plausible assumption?", USENIX NSDI 2019 (Flux), for pFabric.
//! Whenever a flow has sent more than its prediction p, p becomes 2 (p + 1), as there.
//!
//! # Scope and limitations
//! Within a level packets are served in the order in which they come. A flow that never ends stays
//! in the last level if its size is known. One without a prediction has 0 at first, then 2, 6, 14
//! ... bytes.
//!
//! # In composition
//! A flow climbs as it comes to its end, and overtakes itself. Recoveries that take a gap for a
//! loss send again what is only late, which a run warns of; `per-priority` tells the two apart.
//! What a run warns of under [PIAS](pias.md), it warns of here. No timeout takes a flow back. A
//! long flow begins in a bad level, and short timeouts may expire there though nothing is lost.
//!
//! # Validation
//! Levels by hand below.
//!
//! # Cost
//! A comparison for a new packet that has the level of the one before. Other new packets and
//! repairs: two comparisons for each threshold below what is left of the flow; the same again each
//! time a too low prediction doubles.

use super::{Kind, Ladder, Tagged, Tagger};
use spillway_settings::{Section, SettingsError};
use std::sync::Arc;

/// The row of SRPT.
pub(super) const KIND: Kind = Kind {
    id: "srpt",
    results: 1,
    summary: "SRPT in K levels: by what a flow has left to send, known or predicted",
    citation: "Schrage: Operations Research 16(3), 1968, doi:10.1287/opre.16.3.687",
    read: |section| Ok(Some(Arc::new(Srpt::read(section)?))),
};

/// SRPT.
#[derive(Clone, Debug)]
pub(super) struct Srpt {
    ladder: Ladder,
    /// Whether the bound is taken for the size.
    predicts: bool,
}

impl Srpt {
    /// Reads thresholds, and what a flow's size is.
    pub fn read(section: &mut Section) -> Result<Srpt, SettingsError> {
        let meaning = "bytes that a flow may have left in each level but the last";
        let ladder = Ladder::read(section, "thresholds", meaning)?;
        let meaning = "a flow's size: its own, or its bound, a prediction p that becomes 2 (p + 1) \
                       whenever more was sent";
        let sizes = [("known", false), ("predicted", true)];
        let predicts = section.choice("size", &sizes, meaning)?;
        Ok(Srpt { ladder, predicts })
    }
}

/// What a prediction has become once so many bytes were sent.
fn outgrown(mut prediction: u64, sent: u64) -> u64 {
    while sent > prediction {
        prediction = 2 * (prediction + 1);
    }
    prediction
}

impl Srpt {
    /// What a flow has left before a packet, as far as is known.
    fn left(&self, packet: &Tagged) -> u64 {
        let size = if self.predicts { outgrown(packet.bound, packet.sent) } else { packet.size };
        size.saturating_sub(packet.sent)
    }
}

impl Tagger for Srpt {
    fn levels(&self) -> u8 {
        self.ladder.levels()
    }

    fn level(&self, packet: &Tagged) -> u8 {
        self.ladder.level_of(self.left(packet))
    }

    fn holds_until(&self, packet: &Tagged) -> u64 {
        packet.sent.saturating_add(self.ladder.shrinks_by(self.left(packet)))
    }

    fn overtakes(&self) -> bool {
        true
    }

    fn knows_bounds(&self) -> bool {
        self.predicts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::FlowSpec;

    #[test]
    fn a_flow_climbs_as_it_has_less_left() {
        let text = "thresholds = [\"1KB\", \"3KB\", \"5KB\"]";
        let mut section = Section::new("tagging", text.parse().unwrap());
        let srpt = Srpt::read(&mut section).unwrap();
        let level = |sent, size| srpt.level(&Tagged { sent, size, ..Tagged::default() });
        // Left: 7, 6, 5, ... 1 KB.
        let levels: Vec<u8> = (0..7).map(|packet| level(packet * 1_000, 7_000)).collect();
        assert_eq!(levels, [4, 4, 3, 3, 2, 2, 1]);
        assert_eq!(level(1_000_000, FlowSpec::ENDLESS), 4);
        assert!(!srpt.knows_bounds());
    }

    /// Predicted: 2,000 bytes. Left of it before each packet of 1,000: 2, 1, 0 KB; then it is 4,002
    /// bytes, of which 1,002 and 2 are left; then 8,006, of which 3,006, 2,006, 1,006 and 6 are
    /// left.
    #[test]
    fn a_prediction_is_doubled_whenever_more_was_sent() {
        let text = "thresholds = [\"1KB\", \"3KB\", \"5KB\"]\nsize = \"predicted\"";
        let mut section = Section::new("tagging", text.parse().unwrap());
        let srpt = Srpt::read(&mut section).unwrap();
        let level = |sent, bound| srpt.level(&Tagged { sent, bound, size: 9, ..Tagged::default() });
        let levels: Vec<u8> = (0..9).map(|packet| level(packet * 1_000, 2_000)).collect();
        assert_eq!(levels, [2, 1, 1, 2, 1, 3, 2, 2, 1]);
        // Nothing predicted: 0, 2, 6, 14, ... 1,022, 2,046 bytes.
        assert_eq!((outgrown(0, 0), outgrown(0, 1), outgrown(0, 7)), (0, 2, 14));
        assert_eq!(outgrown(0, 1_023), 2_046);
        assert_eq!(level(2_045, 0), 1);
        assert_eq!((level(u64::MAX >> 2, 0), outgrown(2_000, 4_003)), (4, 8_006));
        assert!(srpt.knows_bounds());
    }
}

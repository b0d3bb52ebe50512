//! PIAS: a flow begins with the best priority and sinks with what it has sent.
//!
//! # Reference
//! W. Bai, L. Chen, K. Chen, D. Han, C. Tian, H. Wang, "Information-Agnostic Flow Scheduling for
//! Commodity Data Centers", USENIX NSDI 2015; its program for ns-2 and its kernel module.
//!
//! # Rule
//! A packet has the first level i with sent <= thr_i, where sent counts the payload of its flow
//! before it; the last level if there is none. After three timeouts in a row (`reset_after`) the
//! flow counts as one that has sent nothing: what it sends again has the best level, and what it
//! sends for the first time counts from 0.
//!
//! # Departures from the paper
//! Thresholds by name are those of the authors' programs for two distributions of sizes, and with
//! `-older` those of the scripts around pFabric that lie beside them; the paper's objective is not
//! public in a form that gives them again. For other sizes docs/thresholds.md has formulas, and a
//! search. `counts_packet = true` counts the packet itself too. The reset is the kernel module's;
//! the program for ns-2 has none.
//!
//! # Scope and limitations
//! The paper's queues are strict priorities and its transport is DCTCP; neither is required here. A
//! message on a connection that stays open counts from its own first byte.
//!
//! # In composition
//! A flow only sinks, so its packets keep their order, and it goes with any recovery. A run warns
//! where queues are not served by strict priority, and where what shares the buffer or marks takes
//! a port for one queue: Smartbuf, EDT, PRED; where CBM limits the wait of worse levels; where FAB
//! begins to count anew in each level; and where `alpha` for acks falls to the best level, which
//! shares their queue with `acks = "with-first"`.
//!
//! # Validation
//! Levels by hand below; QCLIMB with bounds of 0 tags the same (`qclimb.rs`).
//!
//! # Cost
//! A comparison for a new packet that has the level of the one before. Other new packets and
//! repairs: two comparisons for each threshold below what the flow has sent. With `counts_packet`
//! every packet takes one for each of these.

use super::{Kind, Ladder, Tagged, Tagger};
use spillway_settings::{Section, SettingsError};
use std::sync::Arc;

/// The row of PIAS.
pub(super) const KIND: Kind = Kind {
    id: "pias",
    results: 1,
    summary: "PIAS: a flow's priority sinks with what it has sent",
    citation: "Bai et al.: Information-Agnostic Flow Scheduling for Commodity Data Centers, NSDI 2015",
    read: |section| Ok(Some(Arc::new(Pias::read(section)?))),
};

/// PIAS.
#[derive(Clone, Debug)]
pub(super) struct Pias {
    down: Ladder,
    counts_packet: bool,
    resets_after: Option<u32>,
}

impl Pias {
    /// Reads thresholds and what counts.
    pub fn read(section: &mut Section) -> Result<Pias, SettingsError> {
        let meaning = "bytes that a flow may have sent in each level but the last";
        let down = Ladder::read(section, "thresholds", meaning)?;
        let meaning = "whether what a flow has sent includes the packet that is tagged";
        let counts_packet = section.flag("counts_packet", false, meaning)?;
        let meaning = "timeouts in a row after which a flow counts anew; 0 for never";
        let resets_after = section.integer("reset_after", 3, 0..=1_000, meaning)? as u32;
        Ok(Pias { down, counts_packet, resets_after: (resets_after > 0).then_some(resets_after) })
    }

    /// Its thresholds.
    pub fn ladder(&self) -> &Ladder {
        &self.down
    }
}

impl Tagger for Pias {
    fn levels(&self) -> u8 {
        self.down.levels()
    }

    fn level(&self, packet: &Tagged) -> u8 {
        let own = if self.counts_packet { u64::from(packet.payload) } else { 0 };
        self.down.level_of(packet.sent.saturating_add(own))
    }

    fn holds_until(&self, packet: &Tagged) -> u64 {
        // If packets count, the next one may have another payload.
        if self.counts_packet { packet.sent } else { self.down.grows_to(packet.sent) }
    }

    fn resets_after(&self) -> Option<u32> {
        self.resets_after
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(text: &str) -> Vec<u8> {
        let mut section = Section::new("tagging", text.parse().unwrap());
        let pias = Pias::read(&mut section).unwrap();
        let at = |sent| pias.level(&Tagged { sent, payload: 1_000, ..Tagged::default() });
        (0..7).map(|packet| at(packet * 1_000)).collect()
    }

    #[test]
    fn a_flow_sinks_with_what_it_has_sent() {
        let thresholds = "thresholds = [\"1KB\", \"3KB\", \"5KB\"]";
        // Before the packets: 0, 1, ... 6 KB.
        assert_eq!(levels(thresholds), [1, 1, 2, 2, 3, 3, 4]);
        // With them: 1, 2, ... 7 KB.
        assert_eq!(levels(&format!("{thresholds}\ncounts_packet = true")), [1, 2, 2, 3, 3, 4, 4]);
    }

    #[test]
    fn three_timeouts_in_a_row_take_a_flow_back() {
        let resets = |text: &str| {
            let mut section = Section::new("tagging", text.parse().unwrap());
            Pias::read(&mut section).unwrap().resets_after()
        };
        assert_eq!(resets(""), Some(3));
        assert_eq!(resets("reset_after = 0"), None);
    }
}

//! SRPT in K levels: the less a flow has left to send, the better its priority.
//!
//! # Reference
//! L. Schrage, "A Proof of the Optimality of the Shortest Remaining Processing Time Discipline",
//! Operations Research 16(3), 1968; in levels as in M. Alizadeh, S. Yang, M. Sharif, S. Katti,
//! N. McKeown, B. Prabhakar, S. Shenker, "pFabric: Minimal Near-Optimal Datacenter Transport",
//! ACM SIGCOMM 2013, section 6 (a switch with few priority queues).
//!
//! # Rule
//! A packet has the first level i with size - sent <= thr_i, where sent counts the payload of its flow
//! before it; the last level if there is none.
//!
//! # Scope and limitations
//! It knows every flow's size. Within a level packets are served in the order in which they come. A
//! flow that never ends stays in the last level.
//!
//! # Validation
//! Levels by hand below.
//!
//! # Cost
//! A comparison with each threshold below what is left of the flow.

use super::{Kind, Ladder, Tagged, Tagger};
use spillway_settings::{Section, SettingsError};
use std::sync::Arc;

/// The row of SRPT.
pub(super) const KIND: Kind = Kind {
    id: "srpt",
    summary: "SRPT in K levels: by what a flow has left to send",
    citation: "Schrage: Operations Research 16(3), 1968, doi:10.1287/opre.16.3.687",
    read: |section| Ok(Some(Arc::new(Srpt::read(section)?))),
};

/// SRPT.
#[derive(Clone, Debug)]
pub(super) struct Srpt(Ladder);

impl Srpt {
    /// Reads thresholds.
    pub fn read(section: &mut Section) -> Result<Srpt, SettingsError> {
        let meaning = "bytes that a flow may have left in each level but the last";
        Ladder::read(section, "thresholds", meaning).map(Srpt)
    }
}

impl Tagger for Srpt {
    fn levels(&self) -> u8 {
        self.0.levels()
    }

    fn level(&self, packet: &Tagged) -> u8 {
        self.0.level_of(packet.size.saturating_sub(packet.sent))
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
    }
}

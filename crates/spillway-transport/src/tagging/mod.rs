//! Tagging: which priority a host writes on a data packet, each time it is sent. One file for each
//! algorithm.
//!
//! A tagger knows levels, 1 the best. How a level becomes the priority by which NICs and switches
//! queue the packet, and which level a repair has, is the same for all of them.

mod fixed;
mod ladder;
mod las;
mod pias;
mod qclimb;
mod qclimb_ps;
mod srpt;

pub use ladder::{Ladder, PUBLISHED_PACKET, published};

use spillway_settings::{Key, Section, SettingsError};
use std::fmt::Debug;
use std::sync::Arc;

/// A data packet that is to be sent, as a tagger sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tagged {
    /// Payload of its flow that comes before it, in bytes. The count begins anew after as many
    /// timeouts in a row as the tagger [says](Tagger::resets_after).
    pub sent: u64,
    /// Its payload in bytes.
    pub payload: u32,
    /// What is known of the flow's size before the flow has sent anything: at least this many bytes
    /// of payload. 0 if nothing is known.
    pub bound: u64,
    /// Payload of its flow in bytes, for taggers that know it;
    /// [`ENDLESS`](crate::flow::FlowSpec::ENDLESS) for a flow that never ends.
    pub size: u64,
    /// Retransmission timeouts that its flow has had.
    pub timeouts: u32,
    /// Whether its flow has been taken back to the best level after timeouts.
    pub is_reset: bool,
}

/// Gives data packets their levels.
pub trait Tagger: Debug + Send + Sync {
    /// How many levels there are (K), from 1 to 64.
    fn levels(&self) -> u8;

    /// The level of a packet, from 1, the best, to K.
    fn level(&self, packet: &Tagged) -> u8;

    /// The value of `sent` up to which this packet's level holds. New packets with a lower value
    /// have the same level, whatever their payload, if there is no timeout in between. By default
    /// it holds for no other packet. A tagger with state of its own must keep this default.
    fn holds_until(&self, packet: &Tagged) -> u64 {
        packet.sent
    }

    /// After how many timeouts in a row a flow is treated as if it had sent nothing; `None` for
    /// never.
    fn resets_after(&self) -> Option<u32> {
        None
    }

    /// Whether it looks at the flows' bounds.
    fn knows_bounds(&self) -> bool {
        false
    }

    /// Whether a packet may have a better level than one of its flow that was sent before.
    fn overtakes(&self) -> bool {
        false
    }

    /// How many bytes of a flow with this bound and size are sent while the flow climbs from worse
    /// levels to better ones; 0 for a flow that does not climb.
    fn climbs_to(&self, _bound: u64, _size: u64) -> u64 {
        0
    }
}

/// A kind of tagger that is not compiled in: the counterpart of a row in the catalogue.
pub trait TaggerExtension: Debug + Send + Sync {
    /// The name by which scenarios choose it. No tagger of the catalogue has this name.
    fn id(&self) -> &str;

    /// Reads its parameters.
    ///
    /// # Errors
    /// If they are wrong.
    fn read(&self, section: &mut Section) -> Result<Arc<dyn Tagger>, SettingsError>;
}

/// The row of a tagger.
pub struct Kind {
    /// The field's short name.
    pub id: &'static str,
    /// A description of one line.
    pub summary: &'static str,
    /// Where it was published.
    pub citation: &'static str,
    /// Its results number. It rises whenever the results of runs with this tagger change although
    /// nothing else of these runs has changed.
    pub results: u32,
    /// Reads its parameters; `None` for the tagger that leaves every flow its own priority.
    read: Reader,
}

/// Reads the parameters of a tagger.
type Reader = fn(&mut Section) -> Result<Option<Arc<dyn Tagger>>, SettingsError>;

/// Taggers as the catalogue lists them. The first is the default.
pub const KINDS: &[Kind] =
    &[fixed::KIND, pias::KIND, qclimb::KIND, qclimb_ps::KIND, srpt::KIND, las::KIND];

impl Kind {
    /// The keys of its section.
    pub fn keys(&self) -> Vec<Key> {
        let mut section = Section::empty();
        let read = (self.read)(&mut section).and_then(|own| Tagging::of(own, &mut section));
        debug_assert!(read.is_ok(), "{} has no defaults: {:?}", self.id, read.err());
        section.keys().to_vec()
    }
}

/// Which packet a retransmission counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repairs {
    /// The packet that it repeats.
    Same,
    /// The next new packet.
    Next,
    /// The first packet of its flow.
    First,
}

/// How a class of flows is tagged.
#[derive(Clone, Debug)]
pub struct Tagging {
    /// `None` if every flow has its own priority.
    tagger: Option<Arc<dyn Tagger>>,
    /// The priority of the best level: 0 if acks share its queue, 1 if the queue of acks comes
    /// before it.
    first: u8,
    repairs: Repairs,
}

/// What a sending host knows of a data packet.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing {
    /// The place of its first byte in the flow.
    pub seq: u64,
    /// Its payload in bytes.
    pub payload: u32,
    /// Whether it was sent before.
    pub again: bool,
    /// The first byte that was never sent, not counting this packet.
    pub next: u64,
    /// The first byte that had never been sent when its flow was last taken back to the best level.
    /// `None` if that never happened.
    pub restart: Option<u64>,
    /// Retransmission timeouts that the flow has had.
    pub timeouts: u32,
    /// The flow's bound in bytes, or 0.
    pub bound: u64,
    /// The flow's size in bytes.
    pub size: u64,
}

impl Tagging {
    /// Reads the key `tagging` of a transport.
    ///
    /// # Errors
    /// If there is no such tagger, or its parameters are wrong.
    pub fn read(
        section: &mut Section,
        outside: &[Arc<dyn TaggerExtension>],
    ) -> Result<Tagging, SettingsError> {
        let meaning = "what gives every data packet its priority when it is sent";
        let listed = KINDS.iter().map(|kind| kind.id);
        let ids = listed.chain(outside.iter().map(|kind| kind.id()));
        let (id, mut own) = section.policy("tagging", KINDS[0].id, ids, meaning)?;
        let outside = outside.iter().find(|kind| kind.id() == id);
        let tagger = match (outside, KINDS.iter().find(|kind| kind.id == id)) {
            (Some(outside), _) => Some(outside.read(&mut own)?),
            (None, Some(kind)) => (kind.read)(&mut own)?,
            (None, None) => unreachable!("it is one of those listed"),
        };
        let tagging = Tagging::of(tagger, &mut own)?;
        let resolved = own.finish()?;
        section.put("tagging", spillway_settings::Value::Table(resolved));
        Ok(tagging)
    }

    /// A tagger with the keys that all taggers have.
    fn of(
        tagger: Option<Arc<dyn Tagger>>,
        section: &mut Section,
    ) -> Result<Tagging, SettingsError> {
        let Some(tagger) = tagger else {
            return Ok(Tagging { tagger: None, first: 0, repairs: Repairs::Same });
        };
        let meaning =
            "where acks wait: in a queue of their own before all data, or with the best level";
        let first = section.choice("acks", &[("apart", 1), ("with-first", 0)], meaning)?;
        let meaning =
            "the level of a repair: that of the packet that it repeats, of the next new one, or 1";
        let repairs = [
            ("as-before", Repairs::Same),
            ("as-next", Repairs::Next),
            ("as-first", Repairs::First),
        ];
        let repairs = section.choice("repairs", &repairs, meaning)?;
        Ok(Tagging { tagger: Some(tagger), first, repairs })
    }

    /// Whether every flow has its own priority, or none.
    #[inline(always)]
    pub fn is_fixed(&self) -> bool {
        self.tagger.is_none()
    }

    /// Whether packets of the best level wait with acks.
    pub fn shares_ack_queue(&self) -> bool {
        !self.is_fixed() && self.first == 0
    }

    /// The priorities that it gives, the best first; `None` if it gives none.
    pub fn priorities(&self) -> Option<std::ops::Range<u8>> {
        let levels = self.tagger.as_ref()?.levels();
        Some(self.first..self.first + levels)
    }

    /// Whether a flow is treated as if it had sent nothing after a timeout, which is the last of so
    /// many in a row.
    pub fn takes_back(&self, timeouts_in_a_row: u32) -> bool {
        let after = self.tagger.as_ref().and_then(|tagger| tagger.resets_after());
        timeouts_in_a_row > 0 && after.is_some_and(|after| timeouts_in_a_row.is_multiple_of(after))
    }

    /// Whether it looks at the flows' bounds.
    pub fn knows_bounds(&self) -> bool {
        self.tagger.as_ref().is_some_and(|tagger| tagger.knows_bounds())
    }

    /// Whether packets may overtake others of their flow.
    pub fn overtakes(&self) -> bool {
        self.tagger.as_ref().is_some_and(|tagger| tagger.levels() > 1 && tagger.overtakes())
    }

    /// How many bytes of a flow with this bound and size are sent while it climbs.
    pub fn climbs_to(&self, bound: u64, size: u64) -> u64 {
        self.tagger.as_ref().map_or(0, |tagger| tagger.climbs_to(bound, size).min(size))
    }

    /// The priority of a packet, and the byte of its flow up to which new packets have the same
    /// priority, if there is no timeout in between. `None` if the packet has its flow's priority.
    #[inline]
    pub fn priority(&self, packet: &Outgoing) -> Option<(u8, u64)> {
        let tagger = self.tagger.as_ref()?;
        let place = match self.repairs {
            _ if !packet.again => packet.seq,
            Repairs::Same => packet.seq,
            Repairs::Next => packet.next,
            Repairs::First => return Some((self.first, 0)),
        };
        let Outgoing { payload, bound, size, restart, timeouts, .. } = *packet;
        let from = restart.unwrap_or(0);
        let sent = place.saturating_sub(from);
        let is_reset = restart.is_some();
        let told = Tagged { sent, payload, bound, size, timeouts, is_reset };
        let until = tagger.holds_until(&told).saturating_add(from);
        Some((self.first + tagger.level(&told) - 1, until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillway_engine::Stream;

    fn tagging(text: &str) -> Tagging {
        let text = format!("tagging = {{ {text} }}");
        let mut section = Section::new("transport", text.parse().unwrap());
        Tagging::read(&mut section, &[]).unwrap()
    }

    fn priority_of(text: &str, packet: Outgoing) -> Option<u8> {
        tagging(text).priority(&packet).map(|(priority, _)| priority)
    }

    const PIAS: &str = "kind = \"pias\", thresholds = [\"1KB\", \"3KB\", \"5KB\"]";

    /// A repair of byte 2,000 of a flow that has sent 6,000 bytes.
    const REPAIR: Outgoing = Outgoing {
        seq: 2_000,
        payload: 1_000,
        again: true,
        next: 6_000,
        restart: None,
        timeouts: 0,
        bound: 0,
        size: 9_000,
    };

    #[test]
    fn a_repair_counts_as_asked() {
        let priority = |repairs: &str, packet: Outgoing| {
            priority_of(&format!("{PIAS}, repairs = \"{repairs}\""), packet)
        };
        let new = Outgoing { again: false, ..REPAIR };
        for (repairs, expected) in [("as-before", 2), ("as-next", 4), ("as-first", 1)] {
            assert_eq!(priority(repairs, REPAIR), Some(expected), "{repairs}");
            assert_eq!(priority(repairs, new), Some(2), "{repairs}");
        }
    }

    /// Each new packet of a random flow, full or not, has the level that was said to hold for it,
    /// even if the flow has had timeouts or was taken back.
    #[test]
    fn a_level_holds_as_long_as_its_tagger_says() {
        let mut random = Stream::new(1, "levels", 0);
        let mut below = |limit: u64| random.below(limit);
        let levels = "thresholds = [\"1KB\", \"3KB\", \"5001B\"]";
        let mut kept = [0; 7];
        let texts = [
            format!("kind = \"pias\", {levels}"),
            format!("kind = \"pias\", {levels}, counts_packet = true"),
            format!("kind = \"qclimb\", {levels}, up = [\"500B\", \"2KB\", \"4KB\"]"),
            format!("kind = \"qclimb-ps\", {levels}"),
            format!("kind = \"srpt\", {levels}"),
            format!("kind = \"srpt\", {levels}, size = \"predicted\""),
            "kind = \"las\", first = \"700B\", factor = 2.0, levels = 5".into(),
        ];
        for (text, kept) in texts.iter().zip(&mut kept) {
            let tagging = tagging(text);
            for _ in 0..400 {
                let size = 1 + below(12_000);
                let bound = [0, below(size + 1), below(15_000)][below(3) as usize];
                let restart = (below(3) == 0).then(|| below(size));
                let (mut seq, mut held) = (restart.unwrap_or(0), None);
                while seq < size {
                    let payload = (1 + below(1_500)).min(size - seq) as u32;
                    let packet = Outgoing {
                        again: false,
                        next: seq,
                        timeouts: 1,
                        ..Outgoing { seq, payload, bound, size, restart, ..REPAIR }
                    };
                    let asked = tagging.priority(&packet).unwrap();
                    match held {
                        Some((priority, until)) if seq < until => {
                            assert_eq!(asked.0, priority, "{text}: {packet:?}");
                            *kept += 1;
                        }
                        _ => held = Some(asked),
                    }
                    seq += u64::from(payload);
                }
            }
        }
        // A tagger that looks at each packet's payload is asked each time.
        assert_eq!(kept[1], 0);
        assert!(kept.iter().filter(|&&kept| kept > 500).count() == 6, "{kept:?}");
    }

    #[test]
    fn a_flow_counts_from_where_it_was_taken_back() {
        let priority =
            |seq, restart| priority_of(PIAS, Outgoing { seq, restart, ..REPAIR }).unwrap();
        assert_eq!((priority(7_000, None), priority(7_000, Some(6_500))), (4, 1));
        assert_eq!(priority(7_000, Some(5_000)), 2);
        let takes_back =
            |text: &str| (0..8).filter(|&n| tagging(text).takes_back(n)).collect::<Vec<_>>();
        assert_eq!(takes_back(PIAS), [3, 6]);
        assert!(takes_back("kind = \"srpt\"").is_empty());
    }

    #[test]
    fn the_best_level_waits_with_acks_or_behind_them() {
        let priorities = |text: &str| tagging(text).priorities();
        assert_eq!(priorities(PIAS), Some(1..5));
        assert_eq!(priorities(&format!("{PIAS}, acks = \"with-first\"")), Some(0..4));
        assert_eq!(priorities("kind = \"fixed\""), None);
        assert_eq!(priority_of("kind = \"fixed\"", REPAIR), None);
    }

    /// A tagger from outside, with three levels and nothing else.
    #[derive(Debug)]
    struct Three;

    impl Tagger for Three {
        fn levels(&self) -> u8 {
            3
        }

        fn level(&self, packet: &Tagged) -> u8 {
            if packet.sent == 0 { 1 } else { 3 }
        }
    }

    impl TaggerExtension for Three {
        fn id(&self) -> &str {
            "three"
        }

        fn read(&self, _: &mut Section) -> Result<Arc<dyn Tagger>, SettingsError> {
            Ok(Arc::new(Three))
        }
    }

    #[test]
    fn a_tagger_from_outside_has_the_keys_of_all() {
        let outside: [Arc<dyn TaggerExtension>; 1] = [Arc::new(Three)];
        let read = |text: &str| {
            let text = format!("tagging = {{ kind = \"three\"{text} }}");
            let mut section = Section::new("transport", text.parse().unwrap());
            Tagging::read(&mut section, &outside)
        };
        assert_eq!(read("").unwrap().priorities(), Some(1..4));
        let shared = read(", acks = \"with-first\", repairs = \"as-first\"").unwrap();
        assert_eq!(shared.priorities(), Some(0..3));
        // Byte 2,000 has the third level when it is sent first, and the best one as a repair.
        let new = Outgoing { again: false, ..REPAIR };
        assert_eq!(
            (shared.priority(&new), shared.priority(&REPAIR)),
            (Some((2, 2_000)), Some((0, 0)))
        );
        let error = read(", step = 1").unwrap_err().to_string();
        assert!(error.starts_with("transport.tagging.step: unknown key"), "{error}");
    }

    #[test]
    fn every_tagger_has_a_row_with_its_keys() {
        for kind in KINDS {
            assert!(!kind.summary.is_empty(), "{}", kind.id);
            let keys = kind.keys();
            assert_eq!(keys.is_empty(), kind.id == "fixed", "{}", kind.id);
            assert!(keys.iter().all(|key| !key.meaning.is_empty()), "{}", kind.id);
        }
    }
}

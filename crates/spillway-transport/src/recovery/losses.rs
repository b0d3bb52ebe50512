//! How a sender finds losses and retransmits: settings common to all congestion controllers.

use super::reduction::ReductionRule;
use crate::receiver::EcnEcho;
use crate::size;
use spillway_settings::{Section, SettingsError};

/// How a sender finds losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// By the amount of data that has arrived behind a missing segment (RFC 6675).
    Sack,
    /// By the time at which data that has arrived was sent (RFC 8985).
    Rack,
    /// As the TCP of ns-3 (3.35 to 3.39): by the amount of data, with a state machine of its own.
    Ns3,
    /// By the order in which packets of one priority were sent.
    PerPriority {
        /// Whether packets of worse priorities count too.
        or_worse: bool,
    },
    /// By the number of acks that acknowledge nothing new (RFC 6582).
    DuplicateAcks,
    /// By timeouts alone.
    Timeout,
    /// By NACKs of the receiver.
    Nacks,
}

/// The settings of loss detection and recovery.
#[derive(Clone, Copy, Debug)]
pub struct Losses {
    /// How they are found.
    pub detection: LossDetection,
    /// The number of segments acknowledged behind a gap that show a loss.
    pub dupthresh: u32,
    /// Whether a partial ack during recovery shows that the segment it asks for is lost.
    pub partial_acks_tell: bool,
    /// Whether marks and losses cut the window for a flight only once together. A loss then also
    /// announces its cut to the receiver, as a mark does.
    pub cut_once: bool,
    /// How the sender comes down to a cut window.
    pub reduction: ReductionRule,
    /// Whether tail-loss probes are sent.
    pub tail_loss_probe: bool,
    /// Bytes of data packets and of acks for the number of a packet.
    pub number_bytes: u32,
}

impl LossDetection {
    /// Its name in a scenario.
    fn id(self) -> &'static str {
        match self {
            LossDetection::Sack => "sack",
            LossDetection::Rack => "rack",
            LossDetection::Ns3 => "ns3",
            LossDetection::PerPriority { .. } => "per-priority",
            LossDetection::DuplicateAcks => "duplicate-acks",
            LossDetection::Timeout => "timeout-only",
            LossDetection::Nacks => "nacks",
        }
    }
}

impl Losses {
    /// The keys of loss detection by the order of packets.
    const OF_ORDER: [&'static str; 2] = ["or_worse", "number_bytes"];

    /// The settings of a sender that learns of losses by NACKs.
    pub(crate) const BY_NACKS: Losses =
        Losses { detection: LossDetection::Nacks, ..Losses::BY_TIMEOUTS };

    /// The settings of a sender that learns of losses by timeouts alone.
    pub(crate) const BY_TIMEOUTS: Losses = Losses {
        detection: LossDetection::Timeout,
        dupthresh: 1,
        partial_acks_tell: false,
        cut_once: false,
        reduction: ReductionRule::AtOnce,
        tail_loss_probe: false,
        number_bytes: 0,
    };

    /// Whether an ack in order needs no further work. This is so if no send times are kept, no
    /// probes are sent, and cuts take effect at once.
    #[inline]
    pub fn are_plain(&self) -> bool {
        let by_sack = self.detection == LossDetection::Sack;
        by_sack & (self.reduction == ReductionRule::AtOnce) & !self.tail_loss_probe
    }

    /// Whether packets have numbers, which acks echo.
    #[inline]
    pub fn numbers_packets(&self) -> bool {
        matches!(self.detection, LossDetection::PerPriority { .. })
    }

    /// Reads the settings, for a sender with a window or a pace (`is_paced`). Keys that mean
    /// nothing with the chosen loss detection, or with a pace, are refused.
    pub(crate) fn read(
        section: &mut Section,
        echo: EcnEcho,
        is_paced: bool,
    ) -> Result<Losses, SettingsError> {
        let ways = [
            LossDetection::Sack,
            LossDetection::Rack,
            LossDetection::Ns3,
            LossDetection::PerPriority { or_worse: false },
            LossDetection::DuplicateAcks,
            LossDetection::Timeout,
        ];
        let ways = ways.map(|way| (way.id(), way));
        let meaning = "how losses are found: by selective acks (RFC 6675), by the times at which \
                       segments were sent (RFC 8985), as ns-3's sender does, by later packets of \
                       the same priority, by duplicate acks (RFC 6582), or by timeouts alone";
        let detection = section.choice("loss_detection", &ways, meaning)?;
        if is_paced {
            let does = "a pace is never cut for a loss";
            for key in ["cut_once", "reduction"] {
                Losses::refuse(section, key, &format!("where a pace is set: {does}"))?;
            }
        }
        Losses::refuse_foreign_keys(section, detection.id())?;
        let dupthresh = match detection {
            LossDetection::Timeout => u32::MAX,
            _ => {
                let meaning = "how many segments acknowledged beyond a gap show a loss";
                section.integer("dupthresh", 3, 1..=1_000_000, meaning)? as u32
            }
        };
        if detection == LossDetection::Ns3 {
            return Losses::read_ns3(section, dupthresh, is_paced);
        }
        let (detection, number_bytes) = Losses::read_order(section, detection)?;
        let by_time = detection == LossDetection::Rack;
        let partial_acks_tell = match detection {
            LossDetection::Sack => {
                let meaning = "whether an ack during loss recovery shows the next loss (RFC 6582)";
                section.flag("partial_acks_tell", false, meaning)?
            }
            other => other == LossDetection::DuplicateAcks,
        };
        // RFC 3168, section 6.1.2, cuts once. With RFC 8257, section 3.5, a loss cuts as if there
        // were no marks.
        let (mut cut_once, mut reduction) = (echo == EcnEcho::Latched, ReductionRule::AtOnce);
        if !is_paced {
            let meaning = "whether a mark's cut keeps a loss of the same window from cutting again";
            cut_once = section.flag("cut_once", cut_once, meaning)?;
            reduction = ReductionRule::read(section, reduction)?;
        }
        let tail_loss_probe = if Losses::is_foreign("tail_loss_probe", detection.id()) {
            false
        } else {
            let meaning = "whether a probe is sent when the last packets of a window may be \
                               lost (RFC 8985)";
            section.flag("tail_loss_probe", by_time, meaning)?
        };
        Ok(Losses {
            detection,
            dupthresh,
            partial_acks_tell,
            cut_once,
            reduction,
            tail_loss_probe,
            number_bytes,
        })
    }

    /// Reads the keys of loss detection by order. Returns the detection, and the bytes that tell a
    /// packet's number.
    fn read_order(
        section: &mut Section,
        detection: LossDetection,
    ) -> Result<(LossDetection, u32), SettingsError> {
        let LossDetection::PerPriority { .. } = detection else { return Ok((detection, 0)) };
        let meaning = "whether later packets of worse priorities show a loss too, which is right \
                       under strict priority on one path";
        let or_worse = section.flag("or_worse", false, meaning)?;
        let meaning = "bytes of data packets and acks that tell which packet it is";
        let number_bytes = size(section, "number_bytes", "4B", 0..=500, meaning)?;
        Ok((LossDetection::PerPriority { or_worse }, number_bytes))
    }

    /// Whether a key means nothing with a kind of loss detection.
    pub fn is_foreign(key: &str, way: &str) -> bool {
        let of_order = Losses::OF_ORDER.contains(&key) && way != "per-priority";
        of_order || Losses::foreign_keys(way).iter().any(|(name, _)| *name == key)
    }

    /// Whether a key has another default with this kind of loss detection than with the earlier
    /// one.
    pub fn has_other_default(key: &str, way: &str, earlier: &str) -> bool {
        let differs_for = |one: &str| (way == one) != (earlier == one);
        (key == "tail_loss_probe" && differs_for("rack"))
            || (["reduction", "recovery_window"].contains(&key) && differs_for("ns3"))
    }

    /// The keys that mean nothing with a kind of loss detection, and why.
    fn foreign_keys(way: &str) -> &'static [(&'static str, &'static str)] {
        match way {
            "rack" => &[("partial_acks_tell", "the times at which segments were sent tell")],
            "ns3" => &[
                ("partial_acks_tell", "an ack in the middle of a repair tells the next loss"),
                ("cut_once", "a loss does not cut what a mark has cut"),
                ("tail_loss_probe", "nothing is probed for"),
            ],
            "per-priority" => &[
                ("partial_acks_tell", "later packets of the same priority tell"),
                ("tail_loss_probe", "nothing is probed for"),
            ],
            "duplicate-acks" => &[
                ("partial_acks_tell", "an ack in the middle of a repair tells the next loss"),
                ("tail_loss_probe", "nothing is probed for"),
            ],
            "timeout-only" => &[
                ("dupthresh", "no acks are counted"),
                ("partial_acks_tell", "only timeouts tell"),
                ("tail_loss_probe", "nothing is probed for"),
            ],
            _ => &[],
        }
    }

    fn refuse_foreign_keys(section: &Section, way: &str) -> Result<(), SettingsError> {
        for (key, does) in Losses::foreign_keys(way) {
            Losses::refuse(section, key, &format!("with loss_detection = \"{way}\": {does}"))?;
        }
        match way {
            "per-priority" => Ok(()),
            _ => section.needs("loss_detection = \"per-priority\"", &Losses::OF_ORDER),
        }
    }

    /// Refuses a key if it is given.
    pub(crate) fn refuse(section: &Section, key: &str, why: &str) -> Result<(), SettingsError> {
        if section.has(key) {
            return Err(section.error(key, format!("means nothing {why}")));
        }
        Ok(())
    }

    fn read_ns3(
        section: &mut Section,
        dupthresh: u32,
        is_paced: bool,
    ) -> Result<Losses, SettingsError> {
        let reduction = if is_paced {
            ReductionRule::AtOnce
        } else {
            ReductionRule::read(section, ReductionRule::Ns3)?
        };
        Ok(Losses {
            detection: LossDetection::Ns3,
            dupthresh,
            partial_acks_tell: false,
            cut_once: false,
            reduction,
            tail_loss_probe: false,
            number_bytes: 0,
        })
    }
}

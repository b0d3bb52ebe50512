//! Keys that several kinds of loss recovery have.

use super::reduction::ReductionRule;
use super::{OF_CUTS, Recovery, Settings};
use crate::receiver::EcnEcho;
use crate::rtt::{Granularity, RtoBounds};
use spillway_settings::{ErrorKind, Form, Section, SettingsError, Takes};

/// The settings that kinds with TCP's phases share.
#[derive(Clone, Copy, Debug)]
pub struct Losses {
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
    /// Whether an ack in order needs no further work: no send times are kept, no probes are sent,
    /// and cuts take effect at once.
    pub are_plain: bool,
}

impl Losses {
    /// For recoveries with rules of their own.
    pub(super) const UNUSED: Losses = Losses {
        dupthresh: 1,
        partial_acks_tell: false,
        cut_once: false,
        reduction: ReductionRule::AtOnce,
        tail_loss_probe: false,
        number_bytes: 0,
        are_plain: false,
    };
}

/// What reads the section of a recovery, and for which transport.
#[derive(Debug)]
pub struct Reader<'a> {
    /// The section.
    pub section: &'a mut Section,
    /// How receivers echo marks.
    pub(super) echo: EcnEcho,
    /// Whether the sender has a pace rather than a window.
    pub(super) is_paced: bool,
}

impl Reader<'_> {
    /// How many segments beyond a gap show a loss.
    pub(super) fn dupthresh(&mut self) -> Result<u32, SettingsError> {
        let meaning = "how many segments acknowledged beyond a gap show a loss";
        Ok(self.section.integer("dupthresh", 3, 1..=1_000_000, meaning)? as u32)
    }

    /// Whether probes are sent.
    pub(super) fn probe(&mut self, default: bool) -> Result<bool, SettingsError> {
        let meaning =
            "whether a probe is sent when the last packets of a window may be lost (RFC 8985)";
        self.section.flag("tail_loss_probe", default, meaning)
    }

    /// How losses cut a window: once for a flight together with marks, and how the sender comes
    /// down to it. RFC 3168, section 6.1.2, cuts once. With RFC 8257, section 3.5, a loss cuts as
    /// if there were no marks.
    pub(super) fn cuts(&mut self) -> Result<Losses, SettingsError> {
        let mut cut_once = self.echo == EcnEcho::Latched;
        if self.has_cuts(&OF_CUTS)? {
            let meaning = "whether a mark's cut keeps a loss of the same window from cutting again; by \
                           default where receivers echo a mark until a cut (newreno, cubic)";
            cut_once = self.section.optional_flag("cut_once", meaning)?.unwrap_or(cut_once);
            self.section.put("cut_once", cut_once);
        }
        let reduction = self.reduction(ReductionRule::AtOnce)?;
        Ok(Losses { cut_once, reduction, ..Losses::UNUSED })
    }

    /// How the sender comes down to a cut window.
    pub(super) fn reduction(
        &mut self,
        default: ReductionRule,
    ) -> Result<ReductionRule, SettingsError> {
        if !self.has_cuts(&["reduction"])? {
            return Ok(ReductionRule::AtOnce);
        }
        ReductionRule::read(self.section, default)
    }

    /// Whether losses cut anything. If not, refuses the keys that tell how.
    fn has_cuts(&self, keys: &[&str]) -> Result<bool, SettingsError> {
        match keys.iter().find(|key| self.is_paced && self.section.has(key)) {
            Some(key) => {
                let problem = "means nothing where a pace is set: a pace is never cut for a loss";
                Err(self.section.error(ErrorKind::UnusedKey, key, problem))
            }
            None => Ok(!self.is_paced),
        }
    }

    /// The settings of a recovery with TCP's phases, and with its retransmission timeout.
    pub(super) fn with_phases(
        &mut self,
        recovery: Recovery,
        losses: Losses,
    ) -> Result<Settings, SettingsError> {
        Ok(Settings { recovery, losses, rto: RtoBounds::read(self.section)? })
    }
}

/// The default of `rto_granularity`. If all round trips are equal, rttvar vanishes. A loss that
/// acks show is repaired within two round trips: one until enough acks have come, if the window is
/// sent in bursts, and one for the retransmission. No timeout must come before that.
const GRANULARITY: &str = "1rtt";

impl RtoBounds {
    fn read(section: &mut Section) -> Result<RtoBounds, SettingsError> {
        let initial = section.time("initial_rto", "10ms", "timeout before the first RTT sample")?;
        let min = section.positive_time("min_rto", "10ms", "the least retransmission timeout")?;
        let max = section.time("max_rto", "1s", "the greatest retransmission timeout")?;
        let meaning = "the least that a timeout is beyond the smoothed round trip (RFC 6298's G, the \
                       granularity of the clock)";
        let takes =
            "a time such as \"20us\", or a multiple above 0 of the smoothed RTT such as \"1rtt\"";
        let multiple = Form::quantity(&["rtt"]).positive();
        let takes = Takes::new(takes, [Form::time(), multiple]);
        let granularity =
            section.quantity("rto_granularity", GRANULARITY, takes, meaning, Granularity::parse)?;
        let meaning = "what is at least `min_rto`: the timeout (RFC 6298), or what it is beyond the \
                       smoothed round trip (Linux)";
        let ways = [("timeout", false), ("spread", true)];
        let min_bounds_spread = section.choice("min_rto_bounds", &ways, meaning)?;
        let granularity = if min_bounds_spread { granularity.at_least(min) } else { granularity };
        if min > max {
            let problem = format!("{min} is not valid; it must not be above max_rto");
            return Err(section.conflict("min_rto", problem));
        }
        Ok(RtoBounds { initial, min, max, granularity, min_bounds_spread })
    }
}

/// Keys that were a transport's own, and are now in the table of its recovery.
const MOVED: [&str; 20] = [
    "dupthresh",
    "partial_acks_tell",
    "tail_loss_probe",
    "cut_once",
    "reduction",
    "or_worse",
    "number_bytes",
    "initial_rto",
    "min_rto",
    "max_rto",
    "rto_granularity",
    "min_rto_bounds",
    "nack_interval",
    "old_packets",
    "ack_timeout",
    "max_in_flight",
    "rto_low",
    "rto_high",
    "rto_low_packets",
    "after_timeout",
];

/// Keys of a transport's section from before, and where they are now.
pub fn moved() -> impl Iterator<Item = (&'static str, String)> {
    let chosen = ["loss_detection", "retransmit"].map(|key| (key, super::KEY.to_string()));
    chosen.into_iter().chain(MOVED.iter().map(|key| (*key, format!("{}.{key}", super::KEY))))
}

/// Refuses keys of a transport's section that are now in the table of its recovery.
pub(crate) fn refuse_moved(section: &Section) -> Result<(), SettingsError> {
    match moved().find(|(key, _)| section.has(key)) {
        Some((key, place)) => {
            let error = section.error(ErrorKind::UnknownKey, key, "is not a key any more");
            Err(error.hint(format!("it is {} now", section.path_of(&place))))
        }
        None => Ok(()),
    }
}

//! Losses that only timeouts show: settings of transports without any other loss detection.

use spillway_engine::Time;
use spillway_settings::quantity::RttTime;
use spillway_settings::{Section, SettingsError};

/// Which bytes of a flow its packets state as left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remaining {
    /// The bytes that are not acknowledged, cumulatively or selectively, when the packet is sent.
    Unacknowledged,
    /// The bytes from the packet's first byte on.
    Unsent,
}

/// The settings of a sender that learns of losses by timeouts alone.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// The timeout, which never changes.
    pub rto: RttTime,
    /// Timeouts in a row after which only probes are sent; `None` for never.
    pub probe_after: Option<u32>,
    /// Which bytes packets state as left of their flow.
    pub remaining: Remaining,
    /// Whether the sender leaves out data that has arrived, even if no ack has told it so.
    pub knows_receiver: bool,
}

impl Timeouts {
    /// Reads the settings.
    pub(crate) fn read(section: &mut Section) -> Result<Timeouts, SettingsError> {
        let rto = section.quantity(
            "rto",
            "3rtt",
            "a time above 0 such as \"45us\", or a multiple of the base RTT such as \"3rtt\"",
            "the timeout, which never changes",
            RttTime::parse,
        )?;
        let meaning = "timeouts in a row after which headers alone are sent, one for every timeout, \
                       until an ack comes; 0 for never";
        let probe_after = section.integer("probe_after", 5, 0..=1_000_000, meaning)? as u32;
        let meaning = "what a packet says that its flow has left: all that is not acknowledged, or \
                       what begins with the packet";
        let ways = [("unacknowledged", Remaining::Unacknowledged), ("unsent", Remaining::Unsent)];
        let remaining = section.choice("remaining", &ways, meaning)?;
        let meaning = "whether senders leave out what has arrived although no ack has told them, as \
                       one published simulator does";
        let knows_receiver = section.flag("knows_receiver", false, meaning)?;
        let probe_after = (probe_after > 0).then_some(probe_after);
        Ok(Timeouts { rto, probe_after, remaining, knows_receiver })
    }

    /// The timeout for a base RTT.
    pub fn rto(&self, base_rtt: Time) -> Time {
        self.rto.of(base_rtt)
    }
}

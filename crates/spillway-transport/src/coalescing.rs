//! How a receiver answers packets that come close together with one ack.

use spillway_engine::Time;
use spillway_settings::{Form, Takes, quantity};
use spillway_settings::{Section, SettingsError};

/// After how many packets, or after how much time, an ack is sent. The first packets have an ack of
/// their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coalescing {
    /// Packets.
    pub every: u32,
    /// Time.
    pub delay: Time,
    /// How many of the first packets are acknowledged at once.
    pub quick: u8,
}

impl Coalescing {
    /// Reads the keys. If the host takes in several packets as one, that decides about acks, rather
    /// than `ack_every` and `ack_delay`.
    pub fn read(
        section: &mut Section,
        mss: u32,
        every: u32,
        delay: Time,
    ) -> Result<Coalescing, SettingsError> {
        let meaning = "how many of a connection's first packets are acknowledged at once, and again \
                       after one that had arrived before; Linux's is 16";
        let quick = section.integer("quick_acks", 0, 0..=255, meaning)? as u8;
        let takes = "a size such as \"64KiB\", or \"none\"";
        let takes = Takes::new(takes, [Form::size(), Form::word("none")]);
        let meaning = "the most bytes that a receiver takes in as one, as with GRO, and answers with \
                       one ack; with \"none\" each packet for itself";
        let parse = |text: &str| match text {
            "none" => Some(None),
            text => quantity::size(text).map(Some),
        };
        let most = section.quantity("coalesce", "none", takes, meaning, parse)?;
        let Some(bytes) = most else {
            section.needs("a size as coalesce", &["coalesce_time"])?;
            return Ok(Coalescing { every, delay, quick });
        };
        let packets = bytes / u64::from(mss);
        if packets < 2 {
            return Err(section.conflict("coalesce", "it is less than two segments"));
        }
        let meaning = "how long a receiver waits for packets that it takes in as one";
        let delay = section.positive_time("coalesce_time", "20us", meaning)?;
        Ok(Coalescing { every: packets.min(u32::MAX.into()) as u32, delay, quick })
    }
}

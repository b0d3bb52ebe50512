//! A kind of transport: what each of them tells of itself, in its own file.

use super::control::Driver;
use super::receiver::EcnEcho;
use spillway_settings::{Section, SettingsError};
use std::fmt;

/// The row of a transport.
pub struct Kind {
    /// The field's short name.
    pub id: &'static str,
    /// What it is, in a line.
    pub summary: &'static str,
    /// Where it was published.
    pub citation: &'static str,
    /// What it needs beside the acks.
    pub needs: Needs,
    pub(super) read: fn(&mut Section) -> Result<Driver, SettingsError>,
}

/// What a transport needs of senders, packets, switches and receivers.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// When a pace is set beside the window.
    pub pace: Pace,
    /// Whether switches are to write telemetry on its packets.
    pub telemetry: bool,
    /// Whether it compares with the base RTT: then it may be that of the flow's own way.
    pub base_rtt: bool,
    /// Whether its packets are ECN-capable.
    pub ecn: Ecn,
    /// How the receiver echoes marks.
    pub echo: EcnEcho,
    /// Whether a packet that its own host drops can be told to it, as a mark that cuts alone.
    pub cuts_for_local_drops: bool,
}

/// When a transport sets a pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Never.
    Never,
    /// If it likes.
    Possible,
    /// Always: a flow then begins with its line's rate.
    Always,
}

/// Whether packets are ECN-capable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Always.
    Always,
    /// As the scenario says, and so if it says nothing.
    Default(bool),
}

impl Needs {
    /// Of a window that acks move, and losses and marks cut.
    pub const OF_WINDOW: Needs = Needs {
        pace: Pace::Never,
        telemetry: false,
        base_rtt: false,
        ecn: Ecn::Default(false),
        echo: EcnEcho::Latched,
        cuts_for_local_drops: true,
    };

    /// Of what sets window and pace by round trips or telemetry.
    pub const OF_PACE: Needs =
        Needs { pace: Pace::Always, cuts_for_local_drops: false, ..Needs::OF_WINDOW };
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

//! A kind of transport: what the file of each one declares.

use super::control::DriverParams;
use super::receiver::EcnEcho;
use spillway_settings::{Section, SettingsError};
use std::fmt;

/// The row of a transport.
pub struct Kind {
    /// The field's short name.
    pub id: &'static str,
    /// A description of one line.
    pub summary: &'static str,
    /// Where it was published.
    pub citation: &'static str,
    /// Its results number. It rises whenever the results of runs with this transport change
    /// although nothing else of these runs has changed.
    pub results: u32,
    /// What it needs besides acks.
    pub needs: Needs,
    pub(super) read: fn(&mut Section) -> Result<DriverParams, SettingsError>,
}

/// What a transport needs of senders, packets, switches and receivers.
#[derive(Clone, Copy, Debug)]
pub struct Needs {
    /// When it sets a pace besides the window.
    pub pace: Pace,
    /// Whether switches write telemetry on its packets.
    pub telemetry: bool,
    /// Whether it compares round trips with the base RTT, which may then be that of the flow's own
    /// path.
    pub base_rtt: bool,
    /// Whether its packets are ECN-capable.
    pub ecn: Ecn,
    /// How the receiver echoes marks.
    pub echo: EcnEcho,
    /// Whether it can react to a packet that its own host drops: by a cut, as for a single mark.
    pub cuts_for_local_drops: bool,
    /// Whether it learns of losses by timeouts alone. Its timeout never changes.
    pub by_timeouts_alone: bool,
}

/// When a transport sets a pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Never.
    Never,
    /// In some situations.
    Possible,
    /// Always: a flow then begins at its line's rate.
    Always,
}

/// Whether packets are ECN-capable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Always.
    Always,
    /// As the scenario says; this is the default.
    Default(bool),
}

impl Needs {
    /// The needs of a window that acks move, and that losses and marks cut.
    pub const OF_WINDOW: Needs = Needs {
        pace: Pace::Never,
        telemetry: false,
        base_rtt: false,
        ecn: Ecn::Default(false),
        echo: EcnEcho::Latched,
        cuts_for_local_drops: true,
        by_timeouts_alone: false,
    };

    /// The needs of controllers that set window and pace from round trips or telemetry.
    pub const OF_PACE: Needs =
        Needs { pace: Pace::Always, cuts_for_local_drops: false, ..Needs::OF_WINDOW };
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id)
    }
}

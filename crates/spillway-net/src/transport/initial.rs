//! Initial windows, and their bounds.

use spillway_engine::{Rate, Time};
use spillway_settings::quantity::{Amount, BdpSize};
use spillway_settings::{Section, SettingsError};

/// The initial window of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// Full packets.
    Packets(u64),
    /// Bytes of payload.
    Bytes(u64),
    /// The whole flow.
    Flow,
    /// The rate of the sender's line times the base RTT; the flow is paced at that rate.
    LineRate,
}

/// The facts about a flow's path that its initial window depends on.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The rate of its host's line.
    pub rate: Rate,
    /// The round trip of the empty network, or of the flow's own path in it.
    pub base_rtt: Time,
}

impl Access {
    /// The bandwidth-delay product: the bytes that the line carries in a base RTT.
    pub fn bdp(&self) -> f64 {
        self.rate.bits_per_second() as f64 * self.base_rtt.ps() as f64 / 8e12
    }
}

impl InitialWindow {
    fn parse(text: &str) -> Option<InitialWindow> {
        match Amount::parse(text) {
            _ if text == "flow" => Some(InitialWindow::Flow),
            Some(Amount::Packets(packets @ 1..)) => Some(InitialWindow::Packets(packets)),
            Some(Amount::Bytes(bytes @ 1..)) => Some(InitialWindow::Bytes(bytes)),
            _ => None,
        }
    }
}

/// The settings of initial windows and their bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    pub initial: InitialWindow,
    pub min: u64,
    pub slow_start: bool,
    /// The longest backlog of the sender's own line with which windows may still grow; `None` for
    /// any.
    pub host_backlog: Option<BdpSize>,
}

impl Windows {
    /// Reads the settings.
    pub fn read(section: &mut Section, mss: u32) -> Result<Windows, SettingsError> {
        let initial = section.quantity(
            "initial_window",
            "10pkt",
            "a window such as \"10pkt\", \"15KB\" or \"flow\"",
            "window at the start of a flow",
            InitialWindow::parse,
        )?;
        if let InitialWindow::Bytes(bytes) = initial
            && bytes < mss.into()
        {
            let problem = format!("a flow begins with a segment at least, {mss}B");
            return Err(section.error("initial_window", problem));
        }
        let meaning = "the least window after a cut for congestion";
        let min = match section.amount("min_window", "2pkt", meaning)? {
            Amount::Packets(packets) => packets * u64::from(mss),
            Amount::Bytes(bytes) => bytes,
            Amount::Unlimited => {
                return Err(section.error("min_window", "a least window cannot be unlimited"));
            }
        };
        if min == 0 {
            let problem = "no window at all would send nothing; the least is 1B, and below a segment \
                           one goes in several round trips";
            return Err(section.error("min_window", problem));
        }
        let slow_start =
            section.flag("slow_start", true, "whether windows double every round trip at first")?;
        let host_backlog = section.quantity(
            "host_backlog",
            "1bdp",
            "a size such as \"30KB\" or \"1bdp\", or \"unlimited\"",
            "how much may wait at the sender's own line before windows stop growing",
            |text| match text {
                "unlimited" => Some(None),
                _ => BdpSize::parse(text).map(Some),
            },
        )?;
        Ok(Windows { initial, min, slow_start, host_backlog })
    }

    /// The settings of paced senders, which begin with the bandwidth-delay product of their line.
    pub fn of_line(mss: u32) -> Windows {
        let initial = InitialWindow::LineRate;
        Windows { initial, min: mss.into(), slow_start: false, host_backlog: None }
    }
}

//! Initial windows, and their bounds.

use spillway_engine::{Rate, Time};
use spillway_settings::quantity::{Amount, BdpSize};
use spillway_settings::{ErrorKind, Form, Section, SettingsError, Takes};

/// The initial window of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitialWindow {
    /// Full packets.
    Packets(u64),
    /// Bytes of payload.
    Bytes(u64),
    /// A multiple of the rate of the sender's line times the base RTT.
    Bdp(BdpSize),
    /// The whole flow.
    Flow,
    /// The rate of the sender's line times the base RTT, for a sender that begins at that rate.
    LineRate,
}

/// The facts about a flow's path, on which its initial window depends, and the flow's number.
#[derive(Clone, Copy, Debug)]
pub struct Access {
    /// The rate of its host's line.
    pub rate: Rate,
    /// The round trip of the empty network, or of the flow's own path in it.
    pub base_rtt: Time,
    /// Whether times of transmission, and with them the gaps of a pace, are cut to whole
    /// nanoseconds.
    pub whole_ns: bool,
    /// The flow's number, for messages; `None` before the run.
    pub flow: Option<u32>,
}

impl Access {
    /// The rate at which its host's line sends, in bits per second. It is a little less than the
    /// given rate if a byte would not take a whole number of picoseconds.
    pub fn line_rate(&self) -> f64 {
        8e12 / self.rate.nominal().ps_per_byte()
    }

    /// The bandwidth-delay product: the bytes that the line carries in a base RTT.
    pub fn bdp(&self) -> f64 {
        self.rate.bits_per_second() as f64 * self.base_rtt.ps() as f64 / 8e12
    }
}

impl InitialWindow {
    /// What a key for an initial window accepts.
    pub(super) fn takes() -> Takes {
        let takes = "a window such as \"10pkt\", \"15KB\", \"1bdp\" or \"flow\"";
        Takes::new(takes, [InitialWindow::form(), Form::word("flow")])
    }

    /// The form of a size.
    pub(super) fn form() -> Form {
        Form::size().or_in("pkt").or_in("bdp")
    }

    /// The meaning of such a key.
    pub(super) const MEANING: &'static str = "window at the start of a flow";

    pub(super) fn parse(text: &str) -> Option<InitialWindow> {
        match text {
            "flow" => Some(InitialWindow::Flow),
            _ => InitialWindow::parse_size(text),
        }
    }

    /// `"12pkt"`, `"18KB"` or `"1bdp"`.
    pub(super) fn parse_size(text: &str) -> Option<InitialWindow> {
        match (Amount::parse(text), BdpSize::parse(text)) {
            (Some(Amount::Packets(packets @ 1..)), _) => Some(InitialWindow::Packets(packets)),
            (Some(Amount::Bytes(bytes @ 1..)), _) => Some(InitialWindow::Bytes(bytes)),
            (None, Some(times)) => Some(InitialWindow::Bdp(times)),
            _ => None,
        }
    }

    /// Refuses less than a segment.
    fn check(self, section: &Section, key: &str, mss: u32) -> Result<InitialWindow, SettingsError> {
        match self {
            InitialWindow::Bytes(bytes) if bytes < mss.into() => {
                let problem = format!("a flow begins with a segment at least, {mss}B");
                Err(section.conflict(key, problem))
            }
            _ => Ok(self),
        }
    }

    /// Its bytes, for a flow of `size` bytes in segments of `mss`.
    pub(super) fn bytes(self, size: u64, mss: u64, access: &Access) -> u64 {
        match self {
            InitialWindow::Packets(packets) => packets * mss,
            InitialWindow::Bytes(bytes) => bytes,
            InitialWindow::Bdp(times) => times.bytes(access.rate, access.base_rtt),
            InitialWindow::Flow => size.div_ceil(mss).saturating_mul(mss),
            InitialWindow::LineRate => access.bdp() as u64,
        }
    }
}

/// The settings of initial windows and their bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Windows {
    pub initial: InitialWindow,
    pub min: u64,
    pub slow_start: bool,
    /// Whether windows are in whole segments.
    pub in_segments: bool,
    /// The longest backlog of the sender's own line with which windows may still grow; `None` for
    /// any.
    pub host_backlog: Option<BdpSize>,
}

impl Windows {
    /// Reads the settings.
    pub fn read(section: &mut Section, mss: u32) -> Result<Windows, SettingsError> {
        let initial = Windows::read_initial(section, mss, "10pkt")?;
        let meaning = "the least window after a cut for congestion";
        let min = match section.amount("min_window", "2pkt", meaning)? {
            Amount::Packets(packets) => packets * u64::from(mss),
            Amount::Bytes(bytes) => bytes,
            Amount::Unlimited => {
                return Err(section.error(
                    ErrorKind::WrongValue,
                    "min_window",
                    "a least window cannot be unlimited",
                ));
            }
        };
        if min == 0 {
            let problem = "no window at all would send nothing; the least is 1B, and below a segment \
                           one goes in several round trips";
            return Err(section.error(ErrorKind::WrongValue, "min_window", problem));
        }
        let slow_start =
            section.flag("slow_start", true, "whether windows double every round trip at first")?;
        let meaning = "what windows grow by and are cut to: bytes, or as in Linux whole segments, one for \
                       every window acknowledged";
        let units = [("bytes", false), ("segments", true)];
        let in_segments = section.choice("window_unit", &units, meaning)?;
        if in_segments && !min.is_multiple_of(mss.into()) {
            let problem = "min_window is not a whole number of segments";
            return Err(section.conflict("window_unit", problem));
        }
        let meaning = "how much may wait at the sender's own line before windows stop growing";
        let host_backlog = section.bdp_bound("host_backlog", "1bdp", meaning)?;
        Ok(Windows { initial, min, slow_start, in_segments, host_backlog })
    }

    fn read_initial(
        section: &mut Section,
        mss: u32,
        default: &str,
    ) -> Result<InitialWindow, SettingsError> {
        let initial = section.quantity(
            "initial_window",
            default,
            InitialWindow::takes(),
            InitialWindow::MEANING,
            InitialWindow::parse,
        )?;
        initial.check(section, "initial_window", mss)
    }

    /// Reads the settings of senders that by default begin with the bandwidth-delay product of
    /// their line. Only timeouts cut their window, to one segment.
    pub fn read_unbounded(section: &mut Section, mss: u32) -> Result<Windows, SettingsError> {
        let initial = Windows::read_initial(section, mss, "1bdp")?;
        Ok(Windows {
            initial,
            min: mss.into(),
            slow_start: true,
            in_segments: false,
            host_backlog: None,
        })
    }

    /// The settings of paced senders, which begin at their line's rate.
    pub fn of_line(
        section: &Section,
        mss: u32,
        initial: InitialWindow,
    ) -> Result<Windows, SettingsError> {
        let initial = initial.check(section, "start_window", mss)?;
        Ok(Windows {
            initial,
            min: mss.into(),
            slow_start: false,
            in_segments: false,
            host_backlog: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_segments_need_a_least_window_of_some() {
        let read = |text: &str| {
            let mut section = Section::new("transport", text.parse().unwrap());
            Windows::read(&mut section, 1_000).map(|windows| windows.in_segments)
        };
        assert!(!read("min_window = \"999B\"").unwrap());
        assert!(read("min_window = \"1pkt\"\nwindow_unit = \"segments\"").unwrap());
        for least in ["999B", "1500B"] {
            let told = read(&format!("min_window = \"{least}\"\nwindow_unit = \"segments\""));
            let told = told.unwrap_err().to_string();
            assert!(told.starts_with("transport.window_unit: min_window is not"), "{told}");
        }
    }
}

//! What senders share that set a rate: steps of the rate, and the window beside it.

use super::Access;
use super::window::Window;
use spillway_settings::quantity::{self, BdpSize};
use spillway_settings::{Form, Section, SettingsError, Takes};

/// A rate, which may be a share of the rate of the sender's line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LineRate {
    /// In bits per second.
    Fixed(f64),
    /// The share.
    Share(f64),
}

impl LineRate {
    /// What a key for a rate accepts.
    pub fn takes() -> Takes {
        let takes = "a rate such as \"40Mbps\", or a share of the line's rate such as \"0.2%\"";
        Takes::new(takes, [LineRate::form()])
    }

    /// The form of such a value.
    pub fn form() -> Form {
        Form::rate().or_in("%").positive()
    }

    /// `"40Mbps"` or `"0.2%"`: above 0, and at most the whole line's.
    pub fn parse(text: &str) -> Option<LineRate> {
        match quantity::rate(text) {
            Some(rate) => Some(LineRate::Fixed(rate.bits_per_second() as f64)),
            None => quantity::share(text)
                .filter(|&share| share > 0.0 && share <= 1.0)
                .map(LineRate::Share),
        }
    }

    /// Bits per second for a line of this rate.
    pub fn of(self, line: f64) -> f64 {
        match self {
            LineRate::Fixed(rate) => rate,
            LineRate::Share(share) => share * line,
        }
    }

    /// Reads the additive increase.
    pub fn step(section: &mut Section, default: &str) -> Result<LineRate, SettingsError> {
        let meaning = "the additive increase";
        section.quantity("rate_step", default, LineRate::takes(), meaning, LineRate::parse)
    }
}

/// The window beside a rate: what may be in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateWindow {
    size: Size,
    varies: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    /// There is no window.
    None,
    /// There is a window only at first.
    Start,
    Of(BdpSize),
}

impl RateWindow {
    /// The keys that mean something only with a window.
    pub const OF_WINDOW: &'static [&'static str] = &["vary_window"];

    /// The keys that mean something only with a window that there is only at first.
    pub const OF_START: &'static [&'static str] = &["start_window", "start_ends"];

    /// Reads the settings, with these defaults.
    pub fn read(
        section: &mut Section,
        default: &str,
        varies: bool,
    ) -> Result<RateWindow, SettingsError> {
        let takes = "a size above 0 such as \"52KB\" or \"1bdp\", or \"none\"";
        let takes = Takes::new(takes, [Size::form(), Form::word("none")]);
        RateWindow::read_size(section, (default, takes), Size::parse, varies)
    }

    /// As `read`, for a sender that may have a window only at first.
    pub fn read_for_start(
        section: &mut Section,
        default: &str,
    ) -> Result<RateWindow, SettingsError> {
        let takes = "a size above 0 such as \"52KB\" or \"1bdp\", \"start\" for `start_window` at first \
                     alone, or \"none\"";
        let forms = [Size::form(), Form::word("start"), Form::word("none")];
        let takes = Takes::new(takes, forms);
        let parse = |text: &str| match text {
            "start" => Some(Size::Start),
            _ => Size::parse(text),
        };
        let window = RateWindow::read_size(section, (default, takes), parse, false)?;
        if !window.is_for_start() {
            section.needs("window = \"start\"", RateWindow::OF_START)?;
        }
        Ok(window)
    }

    fn read_size(
        section: &mut Section,
        (default, takes): (&str, Takes),
        parse: impl Fn(&str) -> Option<Size>,
        varies: bool,
    ) -> Result<RateWindow, SettingsError> {
        let meaning = "a packet may leave while less than this is in flight";
        let size = section.quantity("window", default, takes, meaning, parse)?;
        let Size::Of(_) = size else {
            section.needs("a window", RateWindow::OF_WINDOW)?;
            return Ok(RateWindow { size, varies: false });
        };
        let meaning = "whether the window is reduced in proportion to the rate";
        let varies = section.flag("vary_window", varies, meaning)?;
        Ok(RateWindow { size, varies })
    }

    /// Whether there is a window only at first.
    pub fn is_for_start(self) -> bool {
        self.size == Size::Start
    }

    /// The window at the line's rate, in bytes.
    pub fn at_line(self, access: &Access) -> f64 {
        match self.size {
            Size::None | Size::Start => f64::INFINITY,
            Size::Of(size) => size.bytes(access.rate, access.base_rtt).max(1) as f64,
        }
    }

    /// Sets a flow's window and, for records, its pace. At the line's rate the window is `at_line`.
    pub fn set(self, window: &mut Window, at_line: f64, rate: f64, line: f64) {
        let cwnd = self.cwnd(at_line, rate / line, window);
        window.set_paced(cwnd, 8e12 / rate);
    }

    /// As `set`, after the rate has fallen. A timeout may have left a smaller window, which then
    /// stays.
    pub fn reduce(self, window: &mut Window, at_line: f64, rate: f64, line: f64) {
        let before = window.cwnd;
        let cwnd = self.cwnd(at_line, rate / line, window).min(before);
        window.set_paced(cwnd, 8e12 / rate);
    }

    /// The window at a share of the line's rate.
    fn cwnd(self, at_line: f64, share: f64, window: &mut Window) -> u64 {
        match (self.size, self.varies) {
            (Size::None | Size::Start, _) => Window::UNLIMITED,
            (Size::Of(_), false) => window.with_overshoot(at_line as u64),
            (Size::Of(_), true) => window.with_overshoot(((at_line * share) as u64).max(1)),
        }
    }
}

impl Size {
    fn form() -> Form {
        Form::size().or_in("bdp").positive()
    }

    fn parse(text: &str) -> Option<Size> {
        match text {
            "none" => Some(Size::None),
            _ => BdpSize::parse(text).filter(|size| !size.is_zero()).map(Size::Of),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::access;
    use super::super::window::tests::segments;
    use super::*;

    #[test]
    fn a_rate_may_be_a_share_of_the_line_s() {
        let of = |text| LineRate::parse(text).map(|rate| rate.of(40e9));
        assert_eq!(of("40Mbps"), Some(4e7));
        assert_eq!(of("0.02%"), Some(8e6));
        assert_eq!(of("100%"), Some(40e9));
        for text in ["0%", "100.1%", "0bps", "7bps", "-1%", "0.02", "fast", ""] {
            assert_eq!(of(text), None, "{text}");
        }
    }

    #[test]
    fn a_rate_that_falls_never_widens_the_window() {
        let settings = read("window = \"8KB\"\nvary_window = true").unwrap();
        let mut window = segments(5, 5);
        settings.reduce(&mut window, 8_000.0, 5e9, 10e9);
        // 4,000 bytes and a segment less a byte.
        assert_eq!((window.cwnd, window.pace), (4_999, 1_600));
        // After a timeout.
        window.cwnd = 1_000;
        settings.reduce(&mut window, 8_000.0, 4e9, 10e9);
        assert_eq!((window.cwnd, window.pace), (1_000, 2_000));
    }

    #[test]
    fn a_window_may_be_for_the_start_alone() {
        let given = "window = \"start\"".parse().unwrap();
        let mut section = Section::new("transport", given);
        let settings = RateWindow::read_for_start(&mut section, "none").unwrap();
        assert!(settings.is_for_start() && !read("").unwrap().is_for_start());
        // After the start there is none.
        let mut window = segments(5, 5);
        settings.set(&mut window, settings.at_line(&access(10, 80)), 5e9, 10e9);
        assert_eq!((window.cwnd, window.pace), (Window::UNLIMITED, 1_600));
        let refused = read("window = \"start\"").unwrap_err().to_string();
        assert!(refused.starts_with("transport.window: \"start\" is not valid"), "{refused}");
    }

    fn read(text: &str) -> Result<RateWindow, SettingsError> {
        RateWindow::read(&mut Section::new("transport", text.parse().unwrap()), "none", false)
    }

    /// 10 Gbps and 80 us are 100,000 bytes; half of the rate, and segments of 1,000 bytes.
    #[test]
    fn a_packet_may_leave_while_less_than_the_window_is_in_flight() {
        let cwnd = |text: &str, rate: f64| {
            let settings = read(text).unwrap();
            let mut window = segments(1, 1);
            let at_line = settings.at_line(&access(10, 80));
            settings.set(&mut window, at_line, rate, 10e9);
            (window.cwnd, window.pace)
        };
        assert_eq!(cwnd("", 5e9), (Window::UNLIMITED, 1_600));
        // 7,999 bytes in flight and 1,000 more are 8,999, 8,000 and 1,000 are more.
        assert_eq!(cwnd("window = \"8KB\"", 5e9), (8_999, 1_600));
        assert_eq!(cwnd("window = \"1bdp\"", 10e9), (100_999, 800));
        assert_eq!(cwnd("window = \"1bdp\"\nvary_window = true", 5e9), (50_999, 1_600));
        // Nothing else may be in flight. The first packet is sent nevertheless.
        assert_eq!(cwnd("window = \"1B\"\nvary_window = true", 1e8), (1_000, 80_000));
    }

    #[test]
    fn a_window_that_is_none_does_not_vary() {
        let refused = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(refused("vary_window = true"), "transport.vary_window: it needs a window");
        let expected = "expected a size above 0 such as \"52KB\" or \"1bdp\", or \"none\"";
        for window in ["0B", "0bdp", "flow"] {
            let problem = format!("transport.window: \"{window}\" is not valid; {expected}");
            assert_eq!(refused(&format!("window = \"{window}\"")), problem);
        }
    }
}

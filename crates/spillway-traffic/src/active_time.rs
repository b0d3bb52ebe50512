//! When a traffic section is active.

use spillway_engine::Time;
use spillway_settings::{Section, SettingsError};

/// The time in which arrivals happen: from `start` to just before `stop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ActiveTime {
    /// Nothing arrives before this time.
    pub start: Time,
    /// Nothing arrives at this time or later.
    pub stop: Time,
}

impl ActiveTime {
    /// Reads `start` and `stop`. In any case nothing starts after the scenario's `duration`.
    pub fn read(section: &mut Section, duration: Time) -> Result<ActiveTime, SettingsError> {
        let start = section.time("start", "0us", "When it begins.")?;
        let meaning =
            "When it ends; by default, and at the latest, at the end of the scenario's duration.";
        let stop = section.optional("stop", |s| s.time("stop", "", meaning))?;
        match stop {
            Some(stop) if stop <= start => {
                Err(section.conflict("stop", format!("{stop} is not after the start, {start}")))
            }
            stop => Ok(ActiveTime { start, stop: stop.unwrap_or(duration).min(duration) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ActiveTime, SettingsError> {
        ActiveTime::read(&mut Section::new("traffic.x", text.parse().unwrap()), Time::from_ms(5))
    }

    #[test]
    fn an_active_time_ends_with_the_duration_at_the_latest() {
        let stop = |text| read(text).unwrap().stop;
        assert_eq!(stop(""), Time::from_ms(5));
        assert_eq!(stop("stop = \"3ms\""), Time::from_ms(3));
        assert_eq!(stop("stop = \"1s\""), Time::from_ms(5));
    }

    #[test]
    fn an_active_time_that_ends_before_it_begins_is_refused() {
        let error = read("start = \"2ms\"\nstop = \"2ms\"").unwrap_err();
        assert_eq!(error.to_string(), "traffic.x.stop: 2ms is not after the start, 2ms");
    }
}

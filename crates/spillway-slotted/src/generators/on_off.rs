//! Bursty lines: each of N lines is silent for a while, and then brings a packet in every slot for
//! a while. All packets of such a burst are for one port.
//!
//! Both lengths are geometric. Lines are handled in order, and start in the steady state.

use super::{Destinations, Generator, Make, Setting, slots};
use crate::Arrivals;
use spillway_engine::Stream;
use spillway_settings::{Range, Section, SettingsError};

pub(super) const GENERATOR: Generator = Generator {
    id: "on-off",
    summary: "on each of N lines bursts of a packet a slot for one port, and silence, in turns",
    citation: "",
    against: None,
    limit: None,
    read,
};

fn read(section: &mut Section, setting: Setting) -> Result<Make, SettingsError> {
    let Setting { ports, seed, .. } = setting;
    let slots = slots(section, 10_000, ports.into())?;
    let meaning = "the share of its time that a line is on";
    let load = section.number("load", 0.75, Range::Within(0.001, 1.0), meaning)?;
    let meaning = "slots that a burst lasts, in the mean";
    let burst = section.number("burst", 20.0, Range::Within(1.0, 1e9), meaning)?;
    let destinations = Destinations::read(section, ports)?;
    let ends = 1.0 / burst;
    // The probability that an idle line starts a burst, such that lines are busy for `load` of the
    // time.
    let begins = if load < 1.0 { (ends * load / (1.0 - load)).min(1.0) } else { 1.0 };
    Ok(Box::new(move || {
        let mut lines: Vec<Stream> =
            (0..ports).map(|line| Stream::new(seed, "on-off", line.into())).collect();
        let mut bursts: Vec<Option<u32>> = Vec::new();
        for random in &mut lines {
            bursts.push((random.uniform() < load).then(|| destinations.draw(random)));
        }
        let mut arrivals = Arrivals::new(ports);
        for _ in 0..slots {
            arrivals.push(bursts.iter().copied().flatten());
            for (burst, random) in bursts.iter_mut().zip(&mut lines) {
                let is_on = match burst {
                    Some(_) if random.uniform() >= ends => continue,
                    Some(_) => load >= 1.0,
                    None => random.uniform() < begins,
                };
                *burst = is_on.then(|| destinations.draw(random));
            }
        }
        arrivals
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> Arrivals {
        let section = Section::new("", text.parse().unwrap());
        GENERATOR.read(section, Setting { ports: 1, buffer: 10, seed: 3 }).unwrap()()
    }

    #[test]
    fn lines_are_on_for_their_share_of_time_in_bursts_of_their_length() {
        // Bursts of 10 slots, pauses of 40: 2,000 bursts in 100,000 slots.
        let arrivals = made("load = 0.2\nburst = 10.0\nslots = 100000");
        let is_on: Vec<bool> = arrivals.slots().map(|slot| !slot.is_empty()).collect();
        let on = is_on.iter().filter(|&&on| on).count();
        assert!((18_000..22_000).contains(&on), "{on}");
        let bursts = is_on.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        assert!((1_850..2_150).contains(&bursts), "{bursts}");
        assert_eq!(made("load = 1.0\nslots = 500").packets().len(), 500);
    }
}

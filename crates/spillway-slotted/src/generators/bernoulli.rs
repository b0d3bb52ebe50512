//! Independent packets: on each of N lines, a packet arrives in a slot with the same probability.
//!
//! Lines are handled in order, and each packet's port is drawn independently.

use super::{Destinations, Generator, Make, Setting, slots};
use crate::Arrivals;
use spillway_engine::Stream;
use spillway_settings::{Range, Section, SettingsError};

pub(super) const GENERATOR: Generator = Generator {
    id: "bernoulli",
    summary: "on each of N lines a packet with the same probability, for a port drawn at random",
    citation: "",
    against: None,
    limit: None,
    read,
};

fn read(section: &mut Section, setting: Setting) -> Result<Make, SettingsError> {
    let Setting { ports, seed, .. } = setting;
    let slots = slots(section, 10_000, ports.into())?;
    let meaning = "the probability that a packet comes on a line in a slot";
    let load = section.number("load", 0.9, Range::Unit, meaning)?;
    let destinations = Destinations::read(section, ports)?;
    Ok(Box::new(move || {
        let mut random = Stream::new(seed, "bernoulli", 0);
        let mut arrivals = Arrivals::new(ports);
        for _ in 0..slots {
            let packet = |_| {
                let comes = random.uniform() < load;
                comes.then(|| destinations.draw(&mut random))
            };
            arrivals.push((0..ports).filter_map(packet));
        }
        arrivals
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_and_hot_spots_are_what_was_asked_for() {
        let section =
            Section::new("", "load = 0.75\nhotspot = 0.5\nslots = 50000".parse().unwrap());
        let setting = Setting { ports: 4, buffer: 10, seed: 3 };
        let arrivals = GENERATOR.read(section, setting).unwrap()();
        // 0.75 * 4 * 50,000 = 150,000, standard deviation 194.
        let packets = arrivals.packets().len();
        assert!((149_000..151_000).contains(&packets), "{packets}");
        // Port 0 gets 1/2 + 1/8 of the packets.
        let first = arrivals.packets().iter().filter(|&&port| port == 0).count();
        let share = first as f64 / packets as f64;
        assert!((share - 0.625).abs() < 0.01, "{share}");
    }
}

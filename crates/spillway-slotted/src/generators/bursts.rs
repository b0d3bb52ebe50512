//! Bursts as large as the buffer, which begin in a Poisson process (Credence, Figure 14).
//!
//! Each burst is for a port drawn at random. With `arrivals_per_slot = "burst"`, all packets of a
//! burst arrive in the slot in which it begins, as the paper describes the figure. This breaks the
//! rule of the paper's appendix A, at most N arrivals in a slot. With `"ports"` the rule is kept:
//! the bursts that have begun take turns, packet by packet, with N packets in a slot.

use super::{Destinations, Generator, Make, PerSlot, Setting, load, slots};
use crate::Arrivals;
use spillway_engine::Stream;
use spillway_settings::{Range, Section, SettingsError};
use std::collections::VecDeque;

pub(super) const GENERATOR: Generator = Generator {
    id: "bursts",
    summary: "bursts of the buffer's size in a Poisson process, each for a port drawn at random",
    citation: "Addanki, Pacut, Schmid: Credence, NSDI 2024, appendix D",
    against: None,
    limit: None,
    read,
};

fn read(section: &mut Section, setting: Setting) -> Result<Make, SettingsError> {
    let Setting { ports, buffer, seed } = setting;
    let slots = slots(section, 10_000, ports.into())?;
    let load = load(section, 0.5)?;
    let meaning = "packets of a burst, as a share of the buffer";
    let share = section.number("burst", 1.0, Range::Within(0.0, 1000.0), meaning)?;
    let size = ((share * buffer as f64).round() as u64).max(1);
    let per_slot = PerSlot::read(section)?;
    let destinations = Destinations::read(section, ports)?;
    let mean_gap = size as f64 / (load * f64::from(ports));
    Ok(Box::new(move || {
        let mut random = Stream::new(seed, "bursts", 0);
        let mut arrivals = Arrivals::new(ports);
        let mut next = random.exponential(mean_gap);
        // The bursts that have begun: their ports, and the numbers of packets still to arrive.
        let mut begun: VecDeque<(u32, u64)> = VecDeque::new();
        for slot in 0..slots {
            while next < (slot + 1) as f64 {
                begun.push_back((destinations.draw(&mut random), size));
                next += random.exponential(mean_gap);
            }
            match per_slot {
                PerSlot::Burst => {
                    let all = begun.drain(..);
                    arrivals.push(all.flat_map(|(port, n)| (0..n).map(move |_| port)));
                }
                PerSlot::Ports => arrivals.push((0..ports).map_while(|_| {
                    let (port, left) = begun.pop_front()?;
                    if left > 1 {
                        begun.push_back((port, left - 1));
                    }
                    Some(port)
                })),
            }
        }
        arrivals
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(text: &str) -> Arrivals {
        let section = Section::new("arrivals", text.parse().unwrap());
        let setting = Setting { ports: 4, buffer: 10, seed: 3 };
        GENERATOR.read(section, setting).unwrap()()
    }

    #[test]
    fn bursts_come_whole_or_n_in_a_slot() {
        let whole = made("arrivals_per_slot = \"burst\"\nslots = 20000");
        assert!(whole.slots().all(|slot| slot.len() % 10 == 0));
        // 0.5 * 4 packets in a slot: 4,000 bursts, standard deviation 63.
        let bursts = whole.packets().len() / 10;
        assert!((3_700..4_300).contains(&bursts), "{bursts}");
        // At most 4 in a slot, and hardly any left at the end.
        let evenly = made("slots = 20000");
        assert!(evenly.slots().all(|slot| slot.len() <= 4));
        let missing = whole.packets().len() - evenly.packets().len();
        assert!(missing < 500, "{missing}");
        // Only the first burst is under way: four of its ten packets, four, and two.
        let alone = made("slots = 20000\nload = 0.001");
        let sizes: Vec<usize> = alone.slots().map(|s| s.len()).filter(|&n| n > 0).collect();
        assert_eq!(sizes[..3], [4, 4, 2]);
    }

    #[test]
    fn a_burst_may_be_a_share_of_the_buffer() {
        let whole = made("arrivals_per_slot = \"burst\"\nburst = 0.3");
        assert!(whole.slots().all(|slot| slot.len() % 3 == 0));
    }
}

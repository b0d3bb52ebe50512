//! Generators of arrivals, one file for each.
//!
//! Some draw arrivals at random. Others are built to be bad for one policy. These state how much
//! better the optimum is in the long run ([`Generator::limit`]).

mod against_cs;
mod against_dt;
mod against_followlqd;
mod against_harmonic;
mod against_lqd;
mod bernoulli;
mod bursts;
mod on_off;

use crate::Arrivals;
use spillway_engine::Stream;
use spillway_settings::{ErrorKind, Key, Section, SettingsError, nearest_name};

/// The switch for which arrivals are made, and the seed.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Ports (N).
    pub ports: u32,
    /// The number of packets that the buffer holds (B).
    pub buffer: u64,
    /// The seed of random draws.
    pub seed: u64,
}

/// Makes the arrivals, once the keys have been read.
pub type Make = Box<dyn FnOnce() -> Arrivals + Send>;

/// A way of making arrivals.
#[derive(Clone, Copy, Debug)]
pub struct Generator {
    /// Its name.
    pub id: &'static str,
    /// What it makes, in one line.
    pub summary: &'static str,
    /// Where it was published.
    pub citation: &'static str,
    /// The policy that it is built against.
    pub against: Option<&'static str>,
    /// For this number of ports and this buffer: the value that OPT / ALG approaches under that
    /// policy after many rounds, if both have their default keys. Rounding matters where queues are
    /// short.
    pub limit: Option<fn(u32, u64) -> f64>,
    read: fn(&mut Section, Setting) -> Result<Make, SettingsError>,
}

/// All generators.
pub const GENERATORS: &[Generator] = &[
    bursts::GENERATOR,
    bernoulli::GENERATOR,
    on_off::GENERATOR,
    against_cs::GENERATOR,
    against_dt::GENERATOR,
    against_harmonic::GENERATOR,
    against_lqd::GENERATOR,
    against_followlqd::GENERATOR,
];

/// The most packets that one sequence may have.
const MOST_PACKETS: u64 = 1 << 28;

impl Generator {
    /// The generator with this name. The error is about `path`.
    pub fn named(id: &str, path: &str) -> Result<&'static Generator, SettingsError> {
        let found = GENERATORS.iter().find(|generator| generator.id == id);
        found.ok_or_else(|| {
            let ids = GENERATORS.iter().map(|generator| generator.id);
            let problem = format!("there is no generator {id:?}");
            ErrorKind::WrongValue.at(path, problem).hint(nearest_name(id, ids))
        })
    }

    /// Reads the keys, and returns a function that makes the arrivals.
    pub fn read(&self, mut section: Section, setting: Setting) -> Result<Make, SettingsError> {
        let make = (self.read)(&mut section, setting)?;
        section.finish()?;
        Ok(make)
    }

    /// Its keys.
    pub fn keys(&self) -> Vec<Key> {
        let mut section = Section::empty();
        let read = (self.read)(&mut section, Setting { ports: 4, buffer: 64, seed: 1 });
        debug_assert!(read.is_ok(), "{} has no defaults: {:?}", self.id, read.err());
        section.keys().to_vec()
    }
}

/// Whether more than N packets may arrive in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PerSlot {
    /// At most N (Credence, appendix A).
    Ports,
    /// Whole bursts.
    Burst,
}

impl PerSlot {
    fn read(section: &mut Section) -> Result<PerSlot, SettingsError> {
        section.choice(
            "arrivals_per_slot",
            &[("ports", PerSlot::Ports), ("burst", PerSlot::Burst)],
            "at most as many as there are ports, or whole bursts",
        )
    }
}

/// The number of slots in which packets arrive; each of them may have `most` packets.
fn slots(section: &mut Section, default: u64, most: u64) -> Result<u64, SettingsError> {
    let meaning = "slots in which packets arrive";
    section.integer("slots", default, 1..=(MOST_PACKETS / most.max(1)).max(1), meaning)
}

/// How often a construction is repeated. A round has `size` packets or slots.
fn rounds(section: &mut Section, default: u64, size: u64) -> Result<u64, SettingsError> {
    let meaning = "how often it is repeated";
    section.integer("rounds", default, 1..=(MOST_PACKETS / size.max(1)).max(1), meaning)
}

/// The mean number of packets that arrive in a slot, as a share of the packets that can be sent.
fn load(section: &mut Section, default: f64) -> Result<f64, SettingsError> {
    let meaning = "packets that arrive in a slot, in the mean, for every port";
    section.number("load", default, spillway_settings::Range::Positive, meaning)
}

/// The destinations of packets: port 0 with the probability `hotspot`, else any port.
#[derive(Clone, Copy, Debug)]
struct Destinations {
    ports: u32,
    hotspot: f64,
}

impl Destinations {
    fn read(section: &mut Section, ports: u32) -> Result<Destinations, SettingsError> {
        let meaning = "the probability that a packet, or a burst, is for port 0, and not for any";
        let hotspot = section.number("hotspot", 0.0, spillway_settings::Range::Unit, meaning)?;
        Ok(Destinations { ports, hotspot })
    }

    fn draw(self, random: &mut Stream) -> u32 {
        if self.hotspot > 0.0 && random.uniform() < self.hotspot {
            return 0;
        }
        random.below(self.ports.into()) as u32
    }
}

/// Checks that a construction has ports that can compete, and room for a packet of each.
fn at_least_two(section: &Section, setting: Setting) -> Result<(), SettingsError> {
    let problem = match setting {
        Setting { ports: 0..=1, .. } => "this construction needs two ports at least",
        Setting { ports, buffer, .. } if buffer < u64::from(ports) => {
            "this construction needs a buffer with room for a packet of every port"
        }
        _ => return Ok(()),
    };
    Err(ErrorKind::Conflict.at(section.path(), problem))
}

/// Adds slots of N packets for port 0, enough to fill a buffer that sends one in each.
fn fill(arrivals: &mut Arrivals, setting: Setting) {
    let gained = u64::from(setting.ports) - 1;
    for _ in 0..setting.buffer.div_ceil(gained) {
        arrivals.push(vec![0; setting.ports as usize]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{environment, optimum, run};
    use spillway_switch::sharing::SharingPolicy;

    fn made(id: &str, text: &str, ports: u32, buffer: u64) -> Arrivals {
        let section = Section::new("arrivals", text.parse().unwrap());
        let setting = Setting { ports, buffer, seed: 1 };
        Generator::named(id, "").unwrap().read(section, setting).unwrap()()
    }

    fn ratio(policy: &str, text: &str, buffer: u64, arrivals: &Arrivals) -> f64 {
        let environment = environment(arrivals.ports(), buffer, 1);
        let mut section = Section::new("policy", text.parse().unwrap());
        let mut policy = SharingPolicy::read(policy, &mut section, &environment).unwrap();
        let sent = run(&mut policy, buffer, arrivals).transmitted;
        optimum(buffer, arrivals) as f64 / sent as f64
    }

    #[test]
    fn no_slot_has_more_packets_than_ports() {
        for generator in GENERATORS {
            for (ports, buffer) in [(2, 2), (3, 7), (8, 64), (5, 1_000)] {
                let arrivals = made(generator.id, "", ports, buffer);
                let most = arrivals.slots().map(|slot| slot.len()).max();
                assert!(
                    most <= Some(ports as usize),
                    "{} {ports} {buffer}: {most:?}",
                    generator.id
                );
                assert!(arrivals.packets().len() > 50, "{}", generator.id);
            }
        }
    }

    #[test]
    fn the_same_seed_makes_the_same_and_another_does_not() {
        for generator in GENERATORS {
            let with = |seed| {
                let setting = Setting { ports: 4, buffer: 32, seed };
                generator.read(Section::empty(), setting).unwrap()()
            };
            assert_eq!(with(1), with(1), "{}", generator.id);
            assert_eq!(with(1) == with(2), generator.against.is_some(), "{}", generator.id);
        }
    }

    /// Every construction comes within a twentieth of its stated limit.
    #[test]
    fn constructions_reach_their_limits() {
        for generator in GENERATORS {
            let (Some(policy), Some(limit)) = (generator.against, generator.limit) else {
                continue;
            };
            let more: &[(u32, u64)] = match policy {
                "dt" => &[(8, 64), (16, 256), (16, 16)],
                _ => &[],
            };
            for &(ports, buffer) in [(4, 120), (16, 480)].iter().chain(more) {
                let arrivals = made(generator.id, "", ports, buffer);
                let found = ratio(policy, "", buffer, &arrivals);
                let expected = limit(ports, buffer);
                let share = found / expected;
                let about = format!("{policy} {ports} {buffer}: {found} {expected}");
                assert!((0.95..1.02).contains(&share), "{about}");
                assert!(expected > 1.2, "{about}");
            }
        }
    }

    /// The constructions against Dynamic Thresholds do so for other alphas and for whole bursts
    /// too.
    #[test]
    fn other_alphas_have_their_limits() {
        for (ports, buffer) in [(8, 64), (16, 16), (16, 64), (16, 256), (64, 512)] {
            for alpha in [0.25, 0.5, 1.0, 1.7, 4.0, 8.0] {
                for (per_slot, name) in [(PerSlot::Ports, "ports"), (PerSlot::Burst, "burst")] {
                    let policy = format!("alpha = {alpha:?}");
                    let keys = format!("{policy}\narrivals_per_slot = {name:?}");
                    let arrivals = made("against-dt", &keys, ports, buffer);
                    let found = ratio("dt", &policy, buffer, &arrivals);
                    let expected = against_dt::limit(ports, buffer, alpha, per_slot);
                    let about = format!("{ports} {buffer} {alpha} {name}: {found} {expected}");
                    assert!((0.95..1.02).contains(&(found / expected)), "{about}");
                    assert!(found > 1.1, "{about}");
                }
            }
        }
    }

    #[test]
    fn a_wrong_key_is_refused() {
        let setting = Setting { ports: 4, buffer: 32, seed: 1 };
        let refused = |id: &str, text: &str, setting| {
            let section = Section::new("arrivals", text.parse().unwrap());
            let read = Generator::named(id, "arrivals").and_then(|g| g.read(section, setting));
            read.err().map(|error| error.to_string()).unwrap_or_default()
        };
        let found = refused("burst", "", setting);
        assert!(found.starts_with("arrivals: there is no generator \"burst\""), "{found}");
        assert!(found.ends_with("did you mean `bursts`?"), "{found}");
        let found = refused("bursts", "slot = 3", setting);
        assert!(found.ends_with("did you mean `slots`?"), "{found}");
        let found = refused("bernoulli", "load = 2.0", setting);
        assert!(found.contains("expected a number in [0, 1]"), "{found}");
        let found = refused("against-cs", "", Setting { ports: 1, ..setting });
        assert!(found.contains("needs two ports at least"), "{found}");
        let found = refused("against-lqd", "", Setting { buffer: 3, ..setting });
        assert!(found.contains("room for a packet of every port"), "{found}");
    }
}

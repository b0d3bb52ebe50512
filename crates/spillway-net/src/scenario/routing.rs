//! How switches choose among equal next hops: the section `[routing]`.

use super::Result;
use spillway_settings::{ErrorKind, Section};
use spillway_topology::routing::{NextHops, murmur3};

/// How packets choose among equal next hops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spreading {
    /// All packets of a flow take one path, chosen by the flow's hash.
    FlowHash,
    /// Every packet takes a path of its own, chosen at random.
    Spray,
}

/// The hash by which a flow's path is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// A hash of the flow, which each switch multiplies by a number of its own.
    Multiplicative {
        /// The seed of the flows' hashes and the switches' numbers.
        seed: u64,
        /// Whether every switch has a number of its own.
        per_switch: bool,
    },
    /// The hash of the RDMA simulators.
    Murmur3,
}

/// How switches choose among equal next hops.
#[derive(Clone, Copy, Debug)]
pub struct RoutingSettings {
    /// How packets are spread.
    pub spreading: Spreading,
    /// The hash of flows.
    pub hash: Hash,
    /// The order in which next hops are counted.
    pub next_hops: NextHops,
}

impl RoutingSettings {
    /// The keys that mean something with the multiplicative hash only.
    const OF_SEEDS: [&str; 2] = ["hash_seed", "hash_seeds"];

    /// Reads the settings, for a network of so many hosts.
    pub(super) fn read(section: &mut Section, hosts: u32) -> Result<RoutingSettings> {
        let spreading = section.choice(
            "kind",
            &[("ecmp", Spreading::FlowHash), ("spray", Spreading::Spray)],
            "among equal next hops: one for all packets of a flow, or any for each packet",
        )?;
        let hash = RoutingSettings::read_hash(section, hosts)?;
        let meaning = "whether the choices of hashes and paths count next hops from the first port \
                       or from the last";
        let orders = [("ascending", NextHops::Ascending), ("descending", NextHops::Descending)];
        let order = section.optional("next_hops", |s| s.choice("next_hops", &orders, meaning))?;
        Ok(RoutingSettings { spreading, hash, next_hops: order.unwrap_or(NextHops::Ascending) })
    }

    fn read_hash(section: &mut Section, hosts: u32) -> Result<Hash> {
        let meaning = "the hash of a flow and of its acks";
        let is_murmur3 = section.optional("hash", |section| {
            section.choice("hash", &[("multiplicative", false), ("murmur3", true)], meaning)
        })?;
        if is_murmur3 != Some(true) {
            let meaning = "seed of the flow hash";
            let seed = section.integer("hash_seed", 1, 0..=i64::MAX as u64, meaning)?;
            let seeds = [("per-switch", true), ("same", false)];
            let per_switch = section.choice("hash_seeds", &seeds, "whether switches hash alike")?;
            return Ok(Hash::Multiplicative { seed, per_switch });
        }
        if let Some(key) = Self::OF_SEEDS.iter().find(|key| section.has(key)) {
            let problem = "means nothing with hash = \"murmur3\": a switch's seed is its number";
            return Err(section.error(ErrorKind::UnusedKey, key, problem));
        }
        if hosts > murmur3::MOST_HOSTS {
            let problem = format!(
                "\"murmur3\" is not valid in a network of {hosts} hosts; expected at most {}",
                murmur3::MOST_HOSTS
            );
            return Err(section.conflict("hash", problem));
        }
        Ok(Hash::Murmur3)
    }

    /// Whether a key means nothing with this value of `hash`.
    pub(super) fn is_foreign(key: &str, hash: &str) -> bool {
        hash == "murmur3" && Self::OF_SEEDS.contains(&key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, hosts: u32) -> Result<RoutingSettings> {
        RoutingSettings::read(&mut Section::new("routing", text.parse().unwrap()), hosts)
    }

    #[test]
    fn the_hash_of_simulators_has_no_seeds() {
        let hash = |text: &str| read(text, 32).unwrap().hash;
        let seeds = |seed, per_switch| Hash::Multiplicative { seed, per_switch };
        assert_eq!(hash(""), seeds(1, true));
        let given = "hash = \"multiplicative\"\nhash_seed = 7\nhash_seeds = \"same\"";
        assert_eq!(hash(given), seeds(7, false));
        assert_eq!(hash("hash = \"murmur3\""), Hash::Murmur3);
        for key in ["hash_seed = 1", "hash_seeds = \"per-switch\""] {
            let error = read(&format!("hash = \"murmur3\"\n{key}"), 32).unwrap_err().to_string();
            let name = key.split(' ').next().unwrap();
            let why = "means nothing with hash = \"murmur3\": a switch's seed is its number";
            assert_eq!(error, format!("routing.{name}: {why}"));
        }
        assert_eq!(
            read("hash = \"crc\"", 32).unwrap_err().to_string(),
            "routing.hash: \"crc\" is not valid; expected \"multiplicative\" or \"murmur3\"\n\
             hint: valid here: multiplicative, murmur3"
        );
    }

    #[test]
    fn the_hash_of_simulators_has_places_for_so_many_hosts() {
        assert!(read("hash = \"murmur3\"", 32_768).is_ok());
        assert_eq!(
            read("hash = \"murmur3\"", 32_769).unwrap_err().to_string(),
            "routing.hash: \"murmur3\" is not valid in a network of 32769 hosts; expected at most \
             32768"
        );
    }

    #[test]
    fn next_hops_are_counted_from_the_first_unless_told_otherwise() {
        let order = |text: &str| read(text, 32).unwrap().next_hops;
        assert_eq!(order(""), NextHops::Ascending);
        assert_eq!(order("next_hops = \"ascending\""), NextHops::Ascending);
        assert_eq!(order("next_hops = \"descending\""), NextHops::Descending);
        assert_eq!(
            read("next_hops = \"random\"", 32).unwrap_err().to_string(),
            "routing.next_hops: \"random\" is not valid; expected \"ascending\" or \
             \"descending\"\nhint: valid here: ascending, descending"
        );
    }
}

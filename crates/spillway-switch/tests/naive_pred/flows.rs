//! N, counted anew from all packets of a port.

use spillway_engine::mix;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug)]
pub enum Counter {
    Exact,
    Bitmap { places: u32, most: usize },
    Hashes { index_bits: u32, hash_bits: u32 },
}

impl Counter {
    pub fn text(self) -> String {
        match self {
            Counter::Exact => "counter = \"exact\"\n".into(),
            Counter::Bitmap { places, most } => {
                format!("counter = \"bitmap\"\nplaces = {places}\ncount_max = {most}\n")
            }
            Counter::Hashes { index_bits, hash_bits } => format!(
                "counter = \"hashes\"\nplaces = {}\nhash_bits = {hash_bits}\n",
                1 << index_bits
            ),
        }
    }

    /// N now, after these packets: when each came, and of which flow it was.
    pub fn flows(self, period: u64, packets: &[(u64, u32)], now: u64) -> usize {
        let different = |number: u64, of: &dyn Fn(u32) -> u32| {
            let of_period = packets.iter().filter(|(at, _)| at / period == number);
            of_period.map(|(_, flow)| of(*flow)).collect::<BTreeSet<u32>>().len()
        };
        let larger = |count: &dyn Fn(u64) -> usize| match now / period {
            0 => count(0),
            number => count(number - 1).max(count(number)),
        };
        let n = match self {
            Counter::Exact => larger(&|number| different(number, &|flow| flow)),
            Counter::Bitmap { places, most } => {
                let place = |flow: u32| mix(flow.into()) as u32 % places;
                larger(&|number| different(number, &place).min(most))
            }
            Counter::Hashes { index_bits, hash_bits } => {
                algorithm_1(period, packets, 1 << index_bits, 1 << hash_bits)
            }
        };
        n.max(1)
    }
}

/// Appendix C.1: hashes of flow and period, from 0 on, at places that hold 0 at first.
fn algorithm_1(period: u64, packets: &[(u64, u32)], places: u64, hashes: u64) -> usize {
    let mut held: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut began, mut number, mut last, mut n) = (0, 0, 0, 0);
    for &(at, flow) in packets {
        if at > began + period {
            (began, number, last, n) = (at, number + 1, n, 0);
            continue;
        }
        let hash = mix(u64::from(flow) * (1 << 32) + number) % hashes;
        if held.insert(hash % places, hash).unwrap_or(0) != hash {
            n += 1;
        }
    }
    last.max(n)
}

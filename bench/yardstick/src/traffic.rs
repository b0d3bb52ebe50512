//! Poisson arrivals of flows with the web-search sizes, between hosts under different leaves.

use crate::calendar::Time;
use crate::network::Shape;

/// Flow sizes of a web-search cluster: bytes, cumulative probability; linear in between.
/// M. Alizadeh et al., "Data center TCP (DCTCP)", SIGCOMM 2010, doi:10.1145/1851182.1851192, as
/// tabulated since.
const WEBSEARCH: [(f64, f64); 16] = [
    (0.0, 0.0),
    (2_000.0, 0.0),
    (2_100.0, 0.02),
    (2_500.0, 0.05),
    (6_000.0, 0.1),
    (10_000.0, 0.15),
    (20_000.0, 0.2),
    (30_000.0, 0.3),
    (50_000.0, 0.4),
    (80_000.0, 0.53),
    (200_000.0, 0.6),
    (1e6, 0.7),
    (2e6, 0.8),
    (5e6, 0.9),
    (1e7, 0.97),
    (3e7, 1.0),
];

/// A flow to be.
pub struct Arrival {
    pub time: Time,
    pub source: u32,
    pub destination: u32,
    pub bytes: u32,
    pub hash: u16,
    pub ack_hash: u16,
}

pub struct Traffic {
    shape: Shape,
    random: Random,
    mean_gap: f64,
    now: f64,
}

impl Traffic {
    /// `load` is the payload's share of the hosts' links.
    pub fn new(shape: Shape, load: f64, seed: u64) -> Self {
        let picoseconds_per_flow = mean_size() * f64::from(shape.picoseconds_per_byte);
        let mean_gap = picoseconds_per_flow / (load * f64::from(shape.hosts()));
        Self { shape, random: Random(seed), mean_gap, now: 0.0 }
    }

    pub fn draw(&mut self) -> Arrival {
        self.now -= self.mean_gap * (1.0 - self.random.unit()).ln();
        let source = self.random.below(self.shape.hosts());
        let own = u32::from(self.shape.leaf_of(source)) * self.shape.hosts_per_leaf;
        let other = self.random.below(self.shape.hosts() - self.shape.hosts_per_leaf);
        let hashes = self.random.next();
        Arrival {
            time: self.now as Time,
            source,
            destination: if other < own { other } else { other + self.shape.hosts_per_leaf },
            bytes: size_at(self.random.unit()),
            hash: hashes as u16,
            ack_hash: (hashes >> 16) as u16,
        }
    }
}

fn mean_size() -> f64 {
    WEBSEARCH.windows(2).map(|pair| (pair[0].0 + pair[1].0) / 2.0 * (pair[1].1 - pair[0].1)).sum()
}

fn size_at(probability: f64) -> u32 {
    let above =
        WEBSEARCH.iter().position(|point| point.1 > probability).expect("the last point is 1");
    let ((low, from), (high, to)) = (WEBSEARCH[above - 1], WEBSEARCH[above]);
    (low + (high - low) * (probability - from) / (to - from)).round() as u32
}

/// SplitMix64 (Steele, Lea, Flood, OOPSLA 2014, doi:10.1145/2660193.2660195).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: u32) -> u32 {
        (((self.next() >> 32) * u64::from(n)) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_the_area_beside_the_curve() {
        // Segment by segment, probability times midpoint: 41 + 69 + 212.5 + 400 + 750 + 2,500 +
        // 4,000
        // + 8,450 + 9,800 + 60,000 + 150,000 + 350,000 + 525,000 + 600,000 = 1,711,222.5 bytes.
        assert!((mean_size() - 1_711_222.5).abs() < 0.01, "{}", mean_size());
    }

    #[test]
    fn sizes_are_linear_between_points() {
        // Half way from 0.6 to 0.7, so half way from 200 kB to 1 MB.
        assert_eq!(size_at(0.65), 600_000);
        assert_eq!(size_at(0.0), 2_000);
    }
}

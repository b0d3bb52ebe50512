//! Whether a packet is marked, given the probability, and how marks are spaced.

use spillway_engine::Stream;
use spillway_settings::{Section, SettingsError};

/// How marks are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    Independent,
    Uniform,
    /// As `Uniform`, but a packet counts itself.
    UniformNs3,
    /// A packet counts itself.
    Wait,
}

impl Spacing {
    pub fn read(section: &mut Section) -> Result<Spacing, SettingsError> {
        section.choice(
            "spacing",
            &[
                ("independent", Spacing::Independent),
                ("uniform", Spacing::Uniform),
                ("uniform-ns3", Spacing::UniformNs3),
                ("wait", Spacing::Wait),
            ],
            "how marks are spread over packets",
        )
    }
}

/// The coin of a queue (or a port).
#[derive(Clone, Copy, Debug, Default)]
pub struct Coin {
    /// Packets since the last mark, or since the probability was 0.
    count: u32,
}

impl Coin {
    /// The next packet has no chance of being marked.
    #[inline]
    pub fn rests(&mut self) {
        self.count = 0;
    }

    /// Whether the next packet is marked.
    #[inline]
    pub fn is_hit(&mut self, probability: f64, spacing: Spacing, random: &mut Stream) -> bool {
        if probability == 0.0 {
            self.rests();
            return false;
        }
        let own = match spacing {
            Spacing::Independent | Spacing::Uniform => 0,
            Spacing::UniformNs3 | Spacing::Wait => 1,
        };
        let spread = f64::from(self.count + own) * probability;
        let p = match spacing {
            Spacing::Independent => probability,
            Spacing::Uniform | Spacing::UniformNs3 if spread < 1.0 => {
                (probability / (1.0 - spread)).min(1.0)
            }
            Spacing::Uniform | Spacing::UniformNs3 => 1.0,
            Spacing::Wait if spread < 1.0 => 0.0,
            Spacing::Wait if spread < 2.0 => probability / (2.0 - spread),
            Spacing::Wait => 1.0,
        };
        let marked = p >= 1.0 || (p > 0.0 && random.uniform() < p);
        self.count = if marked { 0 } else { self.count + 1 };
        marked
    }
}

//! Open loop: packets are sent by a clock, whatever the network does.
//!
//! # Rule
//! Full packets leave at `rate` (bytes on the wire), evenly or as a Poisson process with that mean.
//! Nothing is acknowledged or retransmitted.
//!
//! # In composition
//! It answers to nothing, and its packets are not ECN-capable: AQMs let them pass or, as `red`,
//! `ared`, `codel` and `pie` do by default, lose what they would mark. So the sharing policy alone
//! limits what it takes of the buffer. Pause frames stop it at its host.

use super::control::DriverParams;
use super::kind::{Kind, Needs};
use spillway_engine::{Rate, Stream, Time};
use spillway_settings::{Section, SettingsError};

/// The row of open loop.
pub(super) const KIND: Kind = Kind {
    id: "udp",
    results: 1,
    summary: "open loop: packets at a constant rate or as a Poisson process, never retransmitted",
    citation: "",
    needs: Needs::OF_WINDOW,
    read: |section| Ok(DriverParams::Clock(Udp::read(section)?)),
};

/// How packets are spaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Evenly.
    Constant,
    /// As a Poisson process.
    Poisson,
}

/// The clock of a flow.
#[derive(Clone, Copy, Debug)]
pub struct Udp {
    rate: Rate,
    pacing: Pacing,
}

impl Udp {
    pub(super) fn read(section: &mut Section) -> Result<Udp, SettingsError> {
        Ok(Udp {
            rate: section.rate("rate", "1Gbps", "mean rate of each flow, in bytes on the wire")?,
            pacing: section.choice(
                "pacing",
                &[("constant", Pacing::Constant), ("poisson", Pacing::Poisson)],
                "whether packets leave evenly or as a Poisson process",
            )?,
        })
    }

    /// The time from a packet of `size` bytes to the next.
    pub fn gap(&self, size: u32, random: &mut Stream) -> Time {
        let even = self.rate.time_of(size.into());
        match self.pacing {
            Pacing::Constant => even,
            Pacing::Poisson => Time::from_ps((random.exponential(even.ps() as f64) as u64).max(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Control;
    use super::super::tests::transport;
    use super::*;

    fn gaps(text: &str, n: usize) -> Vec<u64> {
        let Control::OpenLoop(udp) = transport(text).control else { panic!("udp") };
        let mut random = Stream::new(1, "test", 0);
        (0..n).map(|_| udp.gap(1500, &mut random).ps()).collect()
    }

    #[test]
    fn packets_leave_at_the_rate() {
        // 1500 bytes at 3 Gbps (2667 ps per byte, rounded up): 4.0005 us.
        assert_eq!(gaps("kind = \"udp\"\nrate = \"3Gbps\"", 2), [4_000_500, 4_000_500]);
        let gaps = gaps("kind = \"udp\"\nrate = \"1Gbps\"\npacing = \"poisson\"", 100_000);
        let mean = gaps.iter().sum::<u64>() as f64 / 1e5;
        // 12 us; standard error 12 / sqrt(1e5) = 0.038.
        assert!((mean / 12e6 - 1.0).abs() < 0.015, "{mean}");
    }
}

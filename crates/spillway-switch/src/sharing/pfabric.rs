//! pFabric's dropping: a port that is full loses the packet whose flow has the most bytes left.
//!
//! # Reference
//! M. Alizadeh, S. Yang, M. Sharif, S. Katti, N. McKeown, B. Prabhakar, S. Shenker, "pFabric:
//! Minimal Near-Optimal Datacenter Transport", SIGCOMM 2013, section 4.2.
//! <https://doi.org/10.1145/2486001.2486031>
//!
//! # Rule
//! A port holds at most `limit` bytes, without the packet that it is sending. While q_port + s >
//! limit, the packet with the largest `remaining` is dropped, the arrival among them; of equal
//! ones, the one that came last. So an arrival that is as bad as the worst is itself refused.
//! q_port: `buffer.port_bytes()`, s: `arrival.size`.
//!
//! `remaining` is the number of bytes that the packet's flow had left when it was sent. Acks and
//! other control packets have nothing left, so none is dropped while data wait.
//!
//! # Departures from the paper
//! The paper gives every port 36 KB, 2 BDP of the hosts' links. Here "2bdp" is that of the port's
//! own rate, so a faster port has more; `limit = "36KB"` is the paper's. The paper drops one packet
//! for each arrival. Here several small ones may go for a large one, and if the arrival is refused
//! in the end, none is lost in vain; with packets of one size that is the same.
//!
//! # Scope and limitations
//! Each port needs one queue, without an AQM or a `queue_limit`, whose bytes are freed when a
//! packet begins to be sent (`release = "start"`). The limit is a full packet at least. The shared
//! buffer limits all ports together in addition; an arrival that finds it full is lost, whatever it
//! carries.
//!
//! # In composition
//! It is meant for ports with the [scheduling](pfabric-scheduling.md) of that name, and for the
//! [transport](pfabric-transport.md); a run warns where a switch has only one of sharing and
//! scheduling. Since ports have one queue, taggers of several levels are refused. `dctcp`,
//! `newreno` and `cubic` take each loss for congestion and cut their windows. A flow with
//! `go-back-n` may never end: the same packets may be lost again and again.
//!
//! # Validation
//! Loses the same packets as a second, naive implementation on thousands of random arrivals
//! (`tests/naive_pfabric.rs`).
//!
//! # Cost
//! A comparison for every packet. A search for the most `remaining` for every packet that does not
//! fit: an arrival that pushes one out takes 48 ns with 30 packets waiting, 66 ns with 100, and
//! 0.30 us with 1,000 (`cargo run --release -p spillway-switch --example pfabric`). Without the
//! scheduling of that name it is a walk along the queue, of 2.4 us with 1,000.

use super::Sharing;
use crate::buffer::Buffer;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, LARGEST_PACKET, Victim, Watch};
use spillway_engine::Rate;
use spillway_settings::quantity::BdpSize;
use spillway_settings::{Section, SettingsError};

/// How much a port may hold.
#[derive(Clone, Debug)]
pub struct PFabricParams {
    /// Bytes, or a multiple of the port's rate times the base RTT; a full packet at least.
    limit: BdpSize,
}

/// Drops the packet whose flow has the most bytes left.
#[derive(Clone, Debug)]
pub struct PFabric {
    /// By port, in bytes.
    limits: Vec<u64>,
}

impl Policy for PFabric {
    const ID: &'static str = "pfabric";
    const SUMMARY: &'static str =
        "a full port loses the packet whose flow has the most bytes left, as pFabric";
    const CITATION: &'static str =
        "Alizadeh et al.: SIGCOMM 2013, doi:10.1145/2486001.2486031, section 4.2";
    const COST: Option<Cost> = Some(Cost {
        port: State { counters: 1, ..State::NONE },
        others: &[("packet", State { counters: 1, more: "its flow's number", ..State::NONE })],
        arrival: Operations { additions: 1, comparisons: 1, ..Operations::NONE },
        at_times: &[(
            "each packet pushed out",
            Operations { comparisons: 1, additions: 1, ..Operations::NONE },
        )],
        needs: "the waiting packet with the most bytes left, which can be lost from any place",
        ..Cost::NONE
    });

    const CHANGES: &'static [&'static str] = &["limit"];
    const CHANGES_BY_PORT: bool = true;

    type Params = PFabricParams;

    fn params(
        section: &mut Section,
        environment: &Environment,
    ) -> Result<PFabricParams, SettingsError> {
        let meaning = "the most that a port may hold, without the packet that it is sending";
        let limit = section.bdp_size("limit", "2bdp", meaning)?;
        let full = environment.full_packet;
        if let BdpSize::Bytes(bytes) = limit
            && bytes < full.into()
        {
            let problem = format!("{bytes}B is not valid; it must hold a full packet, {full}B");
            return Err(section.conflict("limit", problem));
        }
        Ok(PFabricParams { limit })
    }

    fn new(params: &PFabricParams, environment: &Environment) -> Self {
        let full = environment.full_packet.into();
        let limit = |&rate: &Rate| params.limit.bytes(rate, environment.base_rtt).max(full);
        PFabric { limits: environment.port_rates.iter().map(limit).collect() }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        adoption.replace(&mut self.limits, &fresh.limits);
    }
}

impl Watch for PFabric {}

impl Sharing for PFabric {
    fn pushes_out(&self) -> bool {
        true
    }

    #[inline]
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        let port = buffer.port_of(arrival.queue);
        let bytes = buffer.port_bytes(port) + u64::from(arrival.size);
        if bytes <= self.limits[port as usize] {
            Admission::Admit
        } else {
            Admission::PushOut(Victim::Worst(arrival.queue))
        }
    }

    fn open_below(&self, capacity: u64) -> u64 {
        let largest = u64::from(LARGEST_PACKET);
        if self.limits.iter().all(|&limit| limit >= largest) {
            capacity.saturating_sub(largest)
        } else {
            0
        }
    }

    fn threshold(&self, arrival: &Arrival, buffer: &Buffer) -> Option<u64> {
        Some(self.limits[buffer.port_of(arrival.queue) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{arrival, filled};
    use super::*;

    fn with(text: &str) -> Result<PFabric, SettingsError> {
        let mut section = Section::new("sharing", text.parse().unwrap());
        PFabric::read(&mut section, &Environment::example(2))
    }

    #[test]
    fn a_port_holds_its_limit_to_the_byte() {
        // 10 Gbps for 25 us are 31,250 bytes, twice that 62,500.
        for (text, limit) in [("", 62_500), ("limit = \"36864B\"", 36_864)] {
            let mut policy = with(text).unwrap();
            let buffer = filled(&[limit - 1_500, 900_000]);
            assert_eq!(policy.admit(&arrival(0, 1_500), &buffer), Admission::Admit);
            let worst = Admission::PushOut(Victim::Worst(0));
            assert_eq!(policy.admit(&arrival(0, 1_501), &buffer), worst);
        }
    }

    #[test]
    fn a_limit_holds_a_full_packet_at_least() {
        let refused = with("limit = \"1499B\"").unwrap_err().to_string();
        let problem = "sharing.limit: 1499B is not valid; it must hold a full packet, 1500B";
        assert_eq!(refused, problem);
        // A hundredth of 31,250 bytes is less.
        let mut policy = with("limit = \"0.01bdp\"").unwrap();
        assert_eq!(policy.admit(&arrival(0, 1_500), &filled(&[0, 0])), Admission::Admit);
    }

    #[test]
    fn it_need_not_be_asked_about_idle_ports_while_every_port_holds_the_largest_packet() {
        assert_eq!(with("").unwrap().open_below(1_000_000), 1_000_000 - 16_384);
        assert_eq!(with("limit = \"16383B\"").unwrap().open_below(1_000_000), 0);
    }
}

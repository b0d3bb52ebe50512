//! Static Partitioning: every port owns a fixed part of the buffer.
//!
//! # Reference
//! F. Kamoun, L. Kleinrock, "Analysis of Shared Finite Storage in a Computer Network Node
//! Environment Under General Traffic Conditions", IEEE Transactions on Communications 28(7), 1980
//! ("complete partitioning", and "sharing with maximum queue lengths").
//! <https://doi.org/10.1109/TCOM.1980.1094756>
//!
//! G. Appenzeller, I. Keslassy, N. McKeown, "Sizing Router Buffers", SIGCOMM 2004 (`form = "rtt"`).
//! <https://doi.org/10.1145/1015467.1015499>
//!
//! # Rule
//! Admit iff q_port + s <= limit and Q + s <= B, where q_port counts all queues of the port. A
//! port's limit is
//! - `form = "share"`: share * B, where share is 1/N for N ports (`share = 0`) or a given number,
//!   which may exceed 1/N;
//! - `form = "rtt"`: RTT * C / sqrt(n), where RTT is that of the empty network, C the port's rate,
//!   and n = `flows` the number of long flows that share a bottleneck.
//!
//! # Departures from the paper
//! None known; bytes are counted. The remainder from rounding limits down stays unused.
//!
//! # Scope and limitations
//! With `form = "share"` ports of unequal rates get equal parts, and an unlimited buffer has
//! unlimited parts. A switch does not know how many long flows there are: n is one number for all
//! ports and times.
//!
//! # In composition
//! A limit is that of all queues of a port, with acks among them. Under strict priority what waits
//! in worse queues fills the port's part, and has packets of better ones refused, and acks. An
//! AQM's threshold belongs below a port's part; a warning only compares it with the whole buffer.
//!
//! # Validation
//! Makes the same decisions as a second, naive implementation on thousands of random arrivals
//! (`tests/naive_sharing.rs`).
//!
//! # Cost
//! A sum over the port's queues for every packet; no state.

use super::Sharing;
use crate::buffer::Buffer;
use crate::catalogue::{Adoption, Environment, Policy};
use crate::cost::{Cost, Operations, State};
use crate::policy::{Admission, Arrival, LARGEST_PACKET, Watch};
use spillway_engine::Rate;
use spillway_settings::{Range, Section, SettingsError};

/// How large a port's part is.
#[derive(Clone, Debug)]
pub enum StaticPartitioningParams {
    /// A share of the buffer, from 0 to 1; 0 stands for one over the number of ports.
    Share(f64),
    /// RTT C / sqrt(n), with n long flows that share a bottleneck, above 0.
    Rtt {
        /// The number of long flows (n).
        flows: f64,
    },
}

/// A fixed part of the buffer for every port.
#[derive(Clone, Debug)]
pub struct StaticPartitioning {
    /// By port.
    limits: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Share,
    Rtt,
}

impl Policy for StaticPartitioning {
    const ID: &'static str = "sp";
    const SUMMARY: &'static str = "Static Partitioning: every port owns a fixed part of the buffer";
    const CITATION: &'static str = "Kamoun, Kleinrock: IEEE Trans. Communications 28(7), 1980; \
                                    Appenzeller, Keslassy, McKeown: SIGCOMM 2004";
    const VARIANTS: &'static [&'static str] = &["form = \"rtt\""];
    const COST: Option<Cost> = Some(Cost {
        // The bytes that it holds, and its limit.
        port: State { counters: 2, ..State::NONE },
        arrival: Operations { additions: 1, comparisons: 1, ..Operations::NONE },
        departure: Operations { additions: 1, ..Operations::NONE },
        ..Cost::NONE
    });

    const CHANGES: &'static [&'static str] = &["share", "flows"];
    const CHANGES_BY_PORT: bool = true;

    type Params = StaticPartitioningParams;

    fn params(
        section: &mut Section,
        _environment: &Environment,
    ) -> Result<StaticPartitioningParams, SettingsError> {
        let meaning = "whether a port's part is a share of the buffer, or RTT C / sqrt(n)";
        let form =
            section.choice("form", &[("share", Form::Share), ("rtt", Form::Rtt)], meaning)?;
        Ok(match form {
            Form::Share => {
                section.needs("form = \"rtt\"", &["flows"])?;
                let meaning = "with form = \"share\", the share of the buffer that a port may \
                               fill; 0 means one over the number of ports";
                StaticPartitioningParams::Share(section.number(
                    "share",
                    0.0,
                    Range::Unit,
                    meaning,
                )?)
            }
            Form::Rtt => {
                section.needs("form = \"share\"", &["share"])?;
                let meaning =
                    "with form = \"rtt\", the number of long flows that share a bottleneck (n)";
                let flows = section.number("flows", 1.0, Range::Positive, meaning)?;
                StaticPartitioningParams::Rtt { flows }
            }
        })
    }

    fn new(params: &StaticPartitioningParams, environment: &Environment) -> Self {
        let limit = |rate: &Rate| match *params {
            StaticPartitioningParams::Share(share) => share_limit(share, environment),
            StaticPartitioningParams::Rtt { flows } => rtt_limit(flows, *rate, environment),
        };
        StaticPartitioning { limits: environment.port_rates.iter().map(limit).collect() }
    }

    fn adopt(&mut self, fresh: Self, adoption: &Adoption) {
        adoption.replace(&mut self.limits, &fresh.limits);
    }
}

/// share * B; B / N if the share is 0.
fn share_limit(share: f64, environment: &Environment) -> u64 {
    match environment.capacity {
        Buffer::UNLIMITED => Buffer::UNLIMITED,
        capacity if share == 0.0 => capacity / environment.port_rates.len() as u64,
        capacity => (capacity as f64 * share) as u64,
    }
}

/// RTT C / sqrt(n).
fn rtt_limit(flows: f64, rate: Rate, environment: &Environment) -> u64 {
    let rtt = environment.base_rtt.ps() as f64;
    (rtt / rate.nominal().ps_per_byte() / flows.sqrt()) as u64
}

impl Watch for StaticPartitioning {}

impl Sharing for StaticPartitioning {
    fn open_below(&self, capacity: u64) -> u64 {
        let largest = LARGEST_PACKET.into();
        let is_open = self.limits.iter().all(|&limit| limit >= largest);
        if is_open { capacity.saturating_sub(largest) } else { 0 }
    }

    #[inline]
    fn admit(&mut self, arrival: &Arrival, buffer: &Buffer) -> Admission {
        let port = buffer.port_of(arrival.queue);
        let bytes = buffer.port_bytes(port) + u64::from(arrival.size);
        Admission::if_within(bytes <= self.limits[port as usize])
    }

    fn threshold(&self, arrival: &Arrival, buffer: &Buffer) -> Option<u64> {
        Some(self.limits[buffer.port_of(arrival.queue) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{OVER, arrival, filled};
    use super::*;

    fn with(text: &str) -> StaticPartitioning {
        let mut section = Section::new("sharing", text.parse().unwrap());
        StaticPartitioning::read(&mut section, &Environment::example(4)).unwrap()
    }

    #[test]
    fn a_port_has_a_quarter_of_the_buffer() {
        // B = 1,000,000, N = 4: 250,000 for each. 248,500 + 1,500 fits to the byte.
        let buffer = filled(&[248_500, 400_000, 0, 0]);
        assert_eq!(with("").admit(&arrival(0, 1500), &buffer), Admission::Admit);
        assert_eq!(with("").admit(&arrival(0, 1501), &buffer), OVER);
        assert_eq!(with("").admit(&arrival(1, 64), &buffer), OVER);
        // share = 0.5: 500,000 for each.
        assert_eq!(with("share = 0.5").admit(&arrival(1, 64), &buffer), Admission::Admit);
    }

    #[test]
    fn a_port_has_a_round_trip_over_the_root_of_its_flows() {
        // 25 us at 10 Gbps are 31,250 bytes; divided by sqrt(16), 7,812.5.
        for (text, most) in [("form = \"rtt\"", 31_250), ("form = \"rtt\"\nflows = 16", 7_812)] {
            let buffer = filled(&[most - 1500, 700_000, 0, 0]);
            assert_eq!(with(text).admit(&arrival(0, 1500), &buffer), Admission::Admit, "{text}");
            assert_eq!(with(text).admit(&arrival(0, 1501), &buffer), OVER, "{text}");
        }
    }
}

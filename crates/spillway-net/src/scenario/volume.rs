//! Checks that bytes and times can be counted: both are 64-bit numbers.

use super::Result;
use spillway_engine::Rate;
use spillway_settings::ErrorKind;
use spillway_settings::quantity::LONGEST;
use spillway_topology::Topology;
use spillway_topology::ideal::Packets;
use spillway_traffic::Source;
use spillway_transport::Transport;

/// The most payload of all flows together. It is well below what can be counted, since it is
/// compared with an average.
const MOST_IN_ALL: f64 = (1u64 << 62) as f64;

/// The sum of what sources send.
pub(super) struct Volume {
    /// The rate of the slowest line.
    slowest: Rate,
    /// The payload of all sources so far.
    in_all: f64,
}

impl Volume {
    /// Nothing is sent yet.
    pub fn of(topology: &Topology) -> Volume {
        let rates = topology.lines.iter().map(|line| line.rate);
        let slowest = rates.max_by_key(|rate| rate.byte_time()).expect("a network has links");
        Volume { slowest, in_all: 0.0 }
    }

    /// Adds what a source sends. Refuses flows that would take too long on the slowest line, and
    /// too much payload altogether.
    pub fn add(&mut self, source: &Source, transport: &Transport) -> Result<()> {
        let expected = source.expected();
        let path = format!("traffic.{}", source.name());
        let refuse = |problem| Err(ErrorKind::Limit.at(path.as_str(), problem));
        let size = expected.largest;
        let packets = Packets::of(size.max(1), transport.mss, transport.header);
        let bytes = packets.count.saturating_mul(packets.full);
        if self.slowest.byte_time().saturating_time_of(bytes) > LONGEST {
            let line = format!("a line of {}", self.slowest);
            return refuse(format!("a flow of {size} bytes takes more than 53 days on {line}"));
        }
        self.in_all += expected.bytes;
        // `NaN` and infinity are too much as well.
        if self.in_all <= MOST_IN_ALL {
            Ok(())
        } else {
            let bytes = self.in_all;
            refuse(format!("{bytes:.2e} bytes are expected in all; 2^62 can be counted"))
        }
    }
}

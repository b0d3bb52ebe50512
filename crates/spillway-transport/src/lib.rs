//! How flows become packets: windows, acks and loss recovery, with one file for each congestion
//! controller.

mod bursts;
mod choices;
mod closed_loop;
mod coalescing;
mod connections;
mod control;
mod cubic;
mod dcqcn;
mod dctcp;
mod dctcp_rdma;
mod extension;
pub mod flow;
mod hpcc;
mod hystart;
mod initial;
mod kind;
mod newreno;
mod pfabric;
mod powertcp;
mod preset;
pub mod protection;
pub mod ranges;
mod rates;
pub mod receiver;
pub mod recovery;
pub mod rtt;
pub mod sender;
pub mod tagging;
pub mod telemetry;
mod theta_powertcp;
mod timely;
mod udp;
pub mod window;

pub use choices::{CHOICES, has_other_default, is_foreign};
pub use closed_loop::ClosedLoop;
pub use connections::{Connections, Restart};
pub use control::{Congestion, ControlMaker, KINDS};
pub use cubic::{Cubic, CubicParams};
pub use dcqcn::{Dcqcn, DcqcnParams};
pub use dctcp::{Dctcp, DctcpParams};
pub use dctcp_rdma::{DctcpRdma, DctcpRdmaParams};
pub use extension::{ControlExtension, Extensions, FlowControl};
pub use hpcc::{Hpcc, HpccParams};
pub use initial::{Access, InitialWindow};
pub use kind::{Ecn, Kind, Needs, Pace};
pub use newreno::NewReno;
pub use pfabric::KIND as PFABRIC;
pub use pfabric::{PFabric, PFabricParams};
pub use powertcp::{PowerTcp, PowerTcpParams};
pub use preset::{has as has_preset, recovery_of};
pub use recovery::{Losses, Recovery};
pub use theta_powertcp::{ThetaPowerTcp, ThetaPowerTcpParams};
pub use timely::{Timely, TimelyParams};
pub use udp::{Pacing, Udp};

use control::DriverParams;
use preset::Defaults;
use spillway_engine::{Rate, Time};
use spillway_settings::quantity::BdpSize;
use spillway_settings::{ErrorKind, Key, Section, SettingsError, nearest_name};
use tagging::Tagging;

/// The transport settings of a class of flows.
#[derive(Clone, Debug)]
pub struct Transport {
    /// The field's short name.
    pub kind: String,
    /// What it needs besides acks.
    pub needs: Needs,
    /// Payload of a full packet.
    pub mss: u32,
    /// Bytes of a data packet that are not payload, telemetry included.
    pub header: u32,
    /// Bytes of an ack on the wire, and of the packets of a handshake.
    pub ack_size: u32,
    /// What makes a flow send.
    pub control: Control,
    /// What gives its data packets their priorities.
    pub tagging: Tagging,
    first_rtt: BdpSize,
}

/// What makes a flow send, with its settings.
#[derive(Clone, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a run has few transports, and each flow asks its own"
)]
pub enum Control {
    /// Acks.
    ClosedLoop(ClosedLoop),
    /// A clock.
    OpenLoop(Udp),
}

/// The ids of all transports; those that are not compiled in come last.
pub fn ids(extensions: &Extensions) -> impl Iterator<Item = &str> + Clone {
    let outside = extensions.transport.iter().map(|outside| outside.id());
    KINDS.iter().map(|kind| kind.id).chain(outside)
}

/// Reads a number of bytes within bounds.
fn size(
    section: &mut Section,
    key: &'static str,
    default: &'static str,
    range: std::ops::RangeInclusive<u64>,
    meaning: &'static str,
) -> Result<u32, SettingsError> {
    let bytes = section.size(key, default, meaning)?;
    let problem = || format!("{bytes}B is not from {}B to {}B", range.start(), range.end());
    if range.contains(&bytes) {
        Ok(bytes as u32)
    } else {
        Err(section.error(ErrorKind::WrongValue, key, problem()))
    }
}

impl Transport {
    /// Reads the section `[transport]`, or a traffic section's own version of it.
    pub fn read(
        section: &mut Section,
        extensions: &Extensions,
    ) -> Result<Transport, SettingsError> {
        let kinds: Vec<_> = ids(extensions).map(|kind| (kind, kind)).collect();
        let kind = section.choice("kind", &kinds, "what decides when a flow sends")?;
        preset::fill(kind, section)?;
        let defaults = Defaults::of(kind, section);
        let mss = size(section, "mss", defaults.mss, 1..=65_000, "payload of a full packet")?;
        let meaning = "bytes of a data packet that are not payload";
        let header = size(section, "header", defaults.header, 0..=500, meaning)?;
        let meaning = "bytes of an ack on the wire, and of the packets of a handshake";
        let ack_size = size(section, "ack_size", defaults.ack_size, 1..=1500, meaning)?;
        let meaning =
            "payload that counts as sent in the first round trip; those packets are tagged";
        let first_rtt = section.bdp_size("first_rtt_bytes", "1bdp", meaning)?;
        let tagging = Tagging::read(section, &extensions.tagging)?;
        let (needs, driver) = match KINDS.iter().find(|row| row.id == kind) {
            Some(row) => (row.needs, (row.read)(section)?),
            None => {
                let from_outside = extensions.transport.iter().find(|outside| outside.id() == kind);
                let outside = from_outside.expect("the id is one of those listed");
                (outside.needs(), DriverParams::Acks(outside.read(section)?))
            }
        };
        let (control, carried) = match driver {
            DriverParams::Clock(clock) => (Control::OpenLoop(clock), 0),
            DriverParams::Acks(maker) => {
                let outside = &extensions.recovery;
                let mut closed = ClosedLoop::read(section, needs, mss, &defaults, maker, outside)?;
                let carried = closed.carried_bytes();
                closed.set_header(header + carried);
                (Control::ClosedLoop(closed), carried)
            }
        };
        Ok(Transport {
            kind: kind.into(),
            needs,
            mss,
            header: header + carried,
            ack_size: ack_size + carried,
            control,
            tagging,
            first_rtt,
        })
    }

    /// The keys of a kind of transport, with their defaults and meanings.
    pub fn keys(kind: &str) -> Vec<Key> {
        let mut keys: Vec<Key> = Vec::new();
        for section in Transport::variants(kind, &Extensions::default()) {
            let is_new = |key: &&Key| keys.iter().all(|known| known.name != key.name);
            let new: Vec<Key> = section.keys().iter().filter(is_new).cloned().collect();
            keys.extend(new);
        }
        keys
    }

    /// Sections of a kind of transport that together have all its keys. One gives nothing that
    /// would change any key. The others have a window beside a rate, and a receiver that coalesces.
    fn variants(kind: &str, extensions: &Extensions) -> Vec<Section> {
        let section = |more: Option<(&'static str, &'static str)>| {
            // If connections stay open, all keys mean something.
            let mut given = vec![("kind", kind), ("connections", "open")];
            given.extend(more);
            let given = given.into_iter().map(|(key, value)| (key.to_string(), value.into()));
            let mut section = Section::new("", given.collect());
            let read = Transport::read(&mut section, extensions);
            debug_assert!(read.is_ok(), "{kind} has no defaults: {:?}", read.err());
            section
        };
        let plain = section(None);
        let has = |name: &str| plain.keys().iter().any(|key| key.name == name);
        let others = [("window", "1bdp"), ("coalesce", "64KiB")];
        let others = others.into_iter().filter(|(key, _)| has(key));
        let others: Vec<Section> = others.map(|setting| section(Some(setting))).collect();
        std::iter::once(plain).chain(others).collect()
    }

    /// The names of the keys of a kind of transport, on behalf of the traffic section at `path`.
    pub fn keys_of(
        kind: &str,
        path: &str,
        extensions: &Extensions,
    ) -> Result<Vec<String>, SettingsError> {
        let ids = ids(extensions);
        if !ids.clone().any(|id| id == kind) {
            let listed = ids.clone().collect::<Vec<_>>().join(", ");
            let problem = format!("{kind:?} is not known; expected one of {listed}");
            let error = ErrorKind::WrongValue.at(format!("{path}.transport"), problem);
            return Err(error.hint(nearest_name(kind, ids)));
        }
        let variants = Transport::variants(kind, extensions);
        let mut names: Vec<String> = variants.iter().flat_map(Section::valid_names).collect();
        names.sort();
        names.dedup();
        Ok(names)
    }

    /// Bytes of a full packet on the wire.
    pub fn full_packet(&self) -> u32 {
        self.mss + self.header
    }

    /// The payload at a flow's beginning that is tagged as sent in the first round trip.
    pub fn first_rtt_bytes(&self, rate: Rate, base_rtt: Time) -> u32 {
        u32::try_from(self.first_rtt.bytes(rate, base_rtt)).unwrap_or(u32::MAX)
    }

    /// The most that a flow of `size` bytes sends at once before the first ack.
    pub fn largest_burst(&self, size: u64, access: &Access) -> u64 {
        match &self.control {
            Control::OpenLoop(_) => u64::from(self.mss),
            Control::ClosedLoop(closed) => closed.largest_burst(size, self.mss, access),
        }
    }

    /// Whether connections of its flows stay open.
    pub fn leaves_open(&self) -> bool {
        self.closed_loop().is_some_and(ClosedLoop::leaves_open)
    }

    /// Whether its packets have numbers in the order in which they are sent.
    pub fn numbers_packets(&self) -> bool {
        self.closed_loop().is_some_and(|closed| closed.recovery.numbers_packets())
    }

    /// Whether switches write telemetry on its packets.
    #[inline]
    pub fn asks_telemetry(&self) -> bool {
        self.needs.telemetry
    }

    /// The settings of the closed loop; `None` in open loop.
    #[inline]
    pub fn closed_loop(&self) -> Option<&ClosedLoop> {
        match &self.control {
            Control::ClosedLoop(closed) => Some(closed),
            Control::OpenLoop(_) => None,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A transport, from the text of its section.
    pub(crate) fn transport(text: &str) -> Transport {
        let table = text.parse().expect("a table");
        let mut section = Section::new("transport", table);
        Transport::read(&mut section, &Extensions::default()).expect("a transport")
    }

    /// The closed loop of a transport.
    pub(crate) fn closed_loop(text: &str) -> ClosedLoop {
        let Control::ClosedLoop(closed) = transport(text).control else { panic!("{text}") };
        closed
    }

    /// A line of `gbps` Gbps and a base RTT.
    pub(crate) fn access(gbps: u64, base_rtt_us: u64) -> Access {
        let rate = Rate::from_bits_per_second(gbps * 1_000_000_000).expect("a rate");
        Access { rate, base_rtt: Time::from_us(base_rtt_us), whole_ns: false, flow: None }
    }

    #[test]
    fn every_kind_has_defaults_and_its_own_keys() {
        for Kind { id, .. } in KINDS {
            assert_eq!(transport(&format!("kind = \"{id}\"")).kind, *id);
        }
        let names = |kind| Transport::keys(kind).iter().map(|key| key.name).collect::<Vec<_>>();
        assert!(names("dctcp").contains(&"g") && !names("newreno").contains(&"g"));
        assert!(names("udp").contains(&"rate") && !names("udp").contains(&"min_rto"));
    }

    #[test]
    fn the_whole_flow_may_be_the_first_window() {
        let window = |mss: u32, text: &str| {
            let closed = closed_loop(&format!("mss = \"{mss}B\"\ninitial_window = \"{text}\""));
            closed.initial_window(30_000, mss, &access(10, 25)).cwnd
        };
        assert_eq!(window(1_000, "flow"), 30_000);
        assert_eq!(window(1_400, "22pkt"), 30_800);
        assert_eq!(window(1_448, "15KB"), 15_000);
    }

    #[test]
    fn wrong_sizes_are_refused_with_their_bounds() {
        let table = "mss = \"0B\"".parse().unwrap();
        let mut section = Section::new("transport", table);
        let error = Transport::read(&mut section, &Extensions::default()).unwrap_err();
        assert_eq!(error.to_string(), "transport.mss: 0B is not from 1B to 65000B");
    }
}

//! How a flow becomes packets: windows, acks, loss recovery, one file for each congestion
//! controller.

mod control;
mod cubic;
mod dctcp;
mod extension;
mod hpcc;
mod hystart;
mod initial;
mod kind;
mod losses;
mod newreno;
mod powertcp;
pub mod rack;
pub mod ranges;
pub mod receiver;
pub mod reduction;
pub mod rtt;
pub mod scoreboard;
pub mod sender;
mod theta_powertcp;
mod timely;
mod udp;
pub mod window;

pub use control::{Congestion, Control, ControlMaker, KINDS};
pub use cubic::{Cubic, CubicParams};
pub use dctcp::{Dctcp, DctcpParams};
pub use extension::{ControlExtension, FlowControl};
pub use hpcc::{Hpcc, HpccParams};
pub use initial::{Access, InitialWindow};
pub use kind::{Ecn, Kind, Needs, Pace};
pub use losses::{LossDetection, Losses};
pub use newreno::NewReno;
pub use powertcp::{PowerTcp, PowerTcpParams};
pub use theta_powertcp::{ThetaPowerTcp, ThetaPowerTcpParams};
pub use timely::{Timely, TimelyParams};
pub use udp::{Pacing, Udp};

use crate::extensions::Extensions;
use initial::Windows;
use receiver::{AckPolicy, EcnEcho};
use rtt::RtoBounds;
use spillway_engine::{Rate, Time};
use spillway_settings::quantity::{Amount, BdpSize};
use spillway_settings::{Key, Section, SettingsError, nearest_name};
use window::Window;

/// The transport settings of a class of flows.
#[derive(Clone, Debug)]
pub struct Transport {
    /// The field's short name.
    pub kind: String,
    /// What it needs beside the acks.
    pub needs: Needs,
    /// Payload of a full packet.
    pub mss: u32,
    /// Bytes of a data packet that are not payload, telemetry among them.
    pub header: u32,
    /// Bytes of an ack on the wire, and of the packets of a handshake.
    pub ack_size: u32,
    /// What decides when a flow sends.
    pub control: Control,
    windows: Windows,
    paces: bool,
    /// Whether the base RTT of a flow is that of its own way.
    own_base_rtt: bool,
    /// Whether data packets are ECN-capable.
    pub ecn: bool,
    /// How the receiver acknowledges.
    pub acks: AckPolicy,
    /// What bounds the retransmission timeout.
    pub rto: RtoBounds,
    /// How losses are found and repaired.
    pub losses: Losses,
    /// Bytes that may be in flight before the first ack: the receiver's window when it answered.
    pub syn_window: u64,
    /// Whether a flow begins by opening a connection.
    pub handshake: bool,
    first_rtt: BdpSize,
}

/// The ids of all transports, those from outside last.
pub fn ids(extensions: &Extensions) -> impl Iterator<Item = &str> + Clone {
    let outside = extensions.transport.iter().map(|outside| outside.id());
    KINDS.iter().map(|kind| kind.id).chain(outside)
}

impl Transport {
    /// Reads the section `[transport]`, or a traffic section's own version of it.
    pub fn read(
        section: &mut Section,
        extensions: &Extensions,
    ) -> Result<Transport, SettingsError> {
        let kinds: Vec<_> = ids(extensions).map(|kind| (kind, kind)).collect();
        let kind = section.choice("kind", &kinds, "what decides when a flow sends")?;
        let size =
            |section: &mut Section, key, default, range: std::ops::RangeInclusive<u64>, meaning| {
                let bytes = section.size(key, default, meaning)?;
                let problem =
                    || format!("{bytes}B is not from {}B to {}B", range.start(), range.end());
                if range.contains(&bytes) {
                    Ok(bytes as u32)
                } else {
                    Err(section.error(key, problem()))
                }
            };
        let mss = size(section, "mss", "1448B", 1..=65_000, "payload of a full packet")?;
        let meaning = "bytes of a data packet that are not payload";
        let header = size(section, "header", "52B", 0..=500, meaning)?;
        let meaning = "bytes of an ack on the wire, and of the packets of a handshake";
        let ack_size = size(section, "ack_size", "52B", 1..=1500, meaning)?;
        let meaning =
            "payload that counts as sent in the first round trip; those packets are tagged";
        let first_rtt = section.bdp_size("first_rtt_bytes", "1bdp", meaning)?;
        let (needs, control) = match KINDS.iter().find(|row| row.id == kind) {
            Some(row) => (row.needs, (row.read)(section)?),
            None => {
                let from_outside = extensions.transport.iter().find(|outside| outside.id() == kind);
                let outside = from_outside.expect("the id is one of those listed");
                (outside.needs(), Control::Acks(outside.read(section)?))
            }
        };
        let is_paced = needs.pace == Pace::Always;
        if let Control::Clock(_) = control {
            return Ok(Transport::open_loop(
                kind, needs, control, mss, header, ack_size, first_rtt,
            ));
        }
        let own_base_rtt = match needs.base_rtt {
            true => {
                let meaning =
                    "whose base RTT it compares with: the flow's own way's, or the network's";
                section.choice("base_rtt", &[("flow", true), ("network", false)], meaning)?
            }
            false => false,
        };
        let telemetry = match needs.telemetry {
            true => {
                let meaning = "bytes of telemetry on data packets and on acks";
                size(section, "telemetry_bytes", "42B", 0..=500, meaning)?
            }
            false => 0,
        };
        let windows = match is_paced {
            true => Windows::of_line(mss),
            false => Windows::read(section, mss)?,
        };
        let ecn = match needs.ecn {
            Ecn::Always => true,
            Ecn::Default(ecn) => {
                section.flag("ecn", ecn, "whether packets are ECN-capable (RFC 3168)")?
            }
        };
        let every = section.integer("ack_every", 1, 1..=64, "packets for every ack")? as u32;
        let meaning = "the longest that an ack is held back (with ack_every above 1)";
        let delay = section.time("ack_delay", "500us", meaning)?;
        let rto = RtoBounds {
            initial: section.time("initial_rto", "10ms", "timeout before the first RTT sample")?,
            min: section.positive_time("min_rto", "10ms", "the least retransmission timeout")?,
            max: section.time("max_rto", "1s", "the greatest retransmission timeout")?,
        };
        if rto.min > rto.max {
            let problem = format!("{} is not valid; it must not be above max_rto", rto.min);
            return Err(section.error("min_rto", problem));
        }
        let losses = Losses::read(section, needs.echo, is_paced)?;
        let has_fractions = windows.min < mss.into() && losses.detection != LossDetection::Ns3;
        let paces = needs.pace != Pace::Never || has_fractions;
        let meaning = "the most in flight before the first ack: the window in a SYN is not scaled";
        let syn_window = match section.amount("syn_window", "unlimited", meaning)? {
            Amount::Packets(packets) => packets * u64::from(mss),
            Amount::Bytes(bytes) => bytes,
            Amount::Unlimited => u64::MAX,
        };
        if syn_window < u64::from(mss) {
            return Err(section.error("syn_window", format!("{syn_window}B is less than a packet")));
        }
        let meaning = "whether a flow begins with a handshake";
        let handshake = section.flag("handshake", false, meaning)?;
        Ok(Transport {
            kind: kind.into(),
            needs,
            mss,
            header: header + telemetry,
            ack_size: ack_size + telemetry,
            control,
            windows,
            paces,
            own_base_rtt,
            ecn,
            acks: AckPolicy {
                every,
                delay,
                echo: needs.echo,
                tells_duplicates: losses.detection == LossDetection::Rack,
            },
            rto,
            losses,
            syn_window,
            handshake,
            first_rtt,
        })
    }

    fn open_loop(
        kind: &str,
        needs: Needs,
        control: Control,
        mss: u32,
        header: u32,
        ack_size: u32,
        first_rtt: BdpSize,
    ) -> Transport {
        let never = Time::MAX;
        Transport {
            kind: kind.into(),
            needs,
            mss,
            header,
            ack_size,
            control,
            windows: Windows {
                initial: InitialWindow::Flow,
                min: 0,
                slow_start: false,
                host_backlog: None,
            },
            paces: false,
            own_base_rtt: false,
            ecn: false,
            acks: AckPolicy {
                every: u32::MAX,
                delay: never,
                echo: EcnEcho::PerPacket,
                tells_duplicates: false,
            },
            rto: RtoBounds { initial: never, min: never, max: never },
            losses: Losses::NEVER,
            syn_window: u64::MAX,
            handshake: false,
            first_rtt,
        }
    }

    /// The keys of a kind of transport.
    pub fn keys(kind: &str) -> Vec<Key> {
        Transport::defaults(kind, &Extensions::default()).keys().to_vec()
    }

    /// The section of a kind of transport without settings.
    fn defaults(kind: &str, extensions: &Extensions) -> Section {
        let mut section =
            Section::new("", [("kind".to_string(), kind.into())].into_iter().collect());
        let read = Transport::read(&mut section, extensions);
        debug_assert!(read.is_ok(), "{kind} has no defaults: {:?}", read.err());
        section
    }

    /// The names of the keys of a kind of transport, asked for by the traffic section at `path`.
    pub fn keys_of(
        kind: &str,
        path: &str,
        extensions: &Extensions,
    ) -> Result<Vec<String>, SettingsError> {
        let ids = ids(extensions);
        if !ids.clone().any(|id| id == kind) {
            let listed = ids.clone().collect::<Vec<_>>().join(", ");
            let problem = format!("{kind:?} is not known; expected one of {listed}");
            let error = SettingsError::new(format!("{path}.transport"), problem);
            return Err(error.hint(nearest_name(kind, ids)));
        }
        Ok(Transport::defaults(kind, extensions).valid_names())
    }

    /// Bytes of a full packet on the wire.
    pub fn full_packet(&self) -> u32 {
        self.mss + self.header
    }

    /// Payload that is tagged as sent in the first round trip.
    pub fn first_rtt_bytes(&self, rate: Rate, base_rtt: Time) -> u32 {
        u32::try_from(self.first_rtt.bytes(rate, base_rtt)).unwrap_or(u32::MAX)
    }

    /// How long the sender's own line may have work for while windows grow.
    pub fn host_backlog(&self, rate: Rate, base_rtt: Time) -> Time {
        let ps = |bytes: u64| bytes.saturating_mul(rate.ps_per_byte());
        let time = |size: BdpSize| Time::from_ps(ps(size.bytes(rate, base_rtt)));
        self.windows.host_backlog.map_or(Time::MAX, time)
    }

    /// Whether the window at the start is the whole flow.
    pub fn starts_with_whole_flow(&self) -> bool {
        self.clock().is_none() && self.windows.initial == InitialWindow::Flow
    }

    /// The window at the start of a flow of `size` bytes.
    pub fn initial_window(&self, size: u64, access: &Access) -> Window {
        let mss = u64::from(self.mss);
        let cwnd = match self.windows.initial {
            InitialWindow::Packets(packets) => packets * mss,
            InitialWindow::Bytes(bytes) => bytes,
            InitialWindow::Flow => size.div_ceil(mss).saturating_mul(mss),
            InitialWindow::LineRate => access.bdp() as u64,
        };
        let mut window = Window {
            cwnd: cwnd.max(mss),
            ssthresh: u64::MAX,
            mss,
            cut_until: 0,
            min: self.windows.min,
            slow_start: self.windows.slow_start,
            pace: 0,
            credit: 0,
        };
        if self.windows.initial == InitialWindow::LineRate {
            window.set_paced(window.cwnd, access.rate.ps_per_byte() as f64);
        }
        window
    }

    /// The most of a flow of `size` bytes that leaves at once before any ack has come: its first window,
    /// or the least one, if that is larger.
    pub fn largest_burst(&self, size: u64, access: &Access) -> u64 {
        let window = self.initial_window(size, access);
        match self.control {
            Control::Clock(_) => u64::from(self.mss),
            Control::Acks(_) => window.cwnd.max(window.min).min(size),
        }
    }

    /// Whether packets leave at a pace, or may: also where a window may be less than a segment.
    #[inline]
    pub fn paces(&self) -> bool {
        self.paces
    }

    /// Whether switches are to write telemetry on its packets.
    #[inline]
    pub fn asks_telemetry(&self) -> bool {
        self.needs.telemetry
    }

    /// Whether the base RTT of a flow is that of its own way.
    pub fn measures_its_own_way(&self) -> bool {
        self.own_base_rtt
    }

    /// What an open-loop flow sends by; `None` where acks drive it.
    #[inline]
    pub fn clock(&self) -> Option<&Udp> {
        match &self.control {
            Control::Clock(clock) => Some(clock),
            Control::Acks(_) => None,
        }
    }

    /// The congestion controller of a new flow, with its window.
    pub fn congestion(&self, access: &Access, window: &mut Window) -> Congestion {
        match &self.control {
            Control::Acks(maker) => maker.start(window, access),
            Control::Clock(_) => Congestion::NewReno(NewReno),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A transport from the text of its section.
    pub(crate) fn transport(text: &str) -> Transport {
        let table = text.parse().expect("a table");
        let mut section = Section::new("transport", table);
        Transport::read(&mut section, &Extensions::default()).expect("a transport")
    }

    /// A line of so many Gbps, and a base RTT.
    pub(crate) fn access(gbps: u64, base_rtt_us: u64) -> Access {
        let rate = Rate::from_bits_per_second(gbps * 1_000_000_000).expect("a rate");
        Access { rate, base_rtt: Time::from_us(base_rtt_us) }
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
        let window = |text: &str| transport(text).initial_window(30_000, &access(10, 25)).cwnd;
        assert_eq!(window("initial_window = \"flow\"\nmss = \"1000B\""), 30_000);
        assert_eq!(window("initial_window = \"22pkt\"\nmss = \"1400B\""), 30_800);
        assert_eq!(window("initial_window = \"15KB\""), 15_000);
    }

    #[test]
    fn wrong_sizes_are_refused_with_their_bounds() {
        let table = "mss = \"0B\"".parse().unwrap();
        let mut section = Section::new("transport", table);
        let error = Transport::read(&mut section, &Extensions::default()).unwrap_err();
        assert_eq!(error.to_string(), "transport.mss: 0B is not from 1B to 65000B");
    }
}

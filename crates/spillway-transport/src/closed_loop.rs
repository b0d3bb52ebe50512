//! The closed loop: the settings of flows whose acks decide when they send.

use super::bursts::Bursts;
use super::coalescing::Coalescing;
use super::connections::Connections;
use super::control::{Congestion, ControlMaker};
use super::initial::{Access, InitialWindow, Windows};
use super::kind::{Ecn, Needs, Pace};
use super::preset::Defaults;
use super::protection;
use super::receiver::{AckPolicy, EcnEcho, Notifications, Tells};
use super::recovery::{self, FixedTimeout, Losses, Recovery, RecoveryExtension, Settings};
use super::rtt::RtoBounds;
use super::size;
use super::window::Window;
use spillway_engine::{Rate, Time};
use spillway_settings::quantity::{Amount, BdpSize};
use spillway_settings::{ErrorKind, Section, SettingsError};
use std::sync::Arc;

/// The settings of a transport that acks drive.
#[derive(Clone, Debug)]
pub struct ClosedLoop {
    maker: Arc<dyn ControlMaker>,
    windows: Windows,
    paces: bool,
    /// Whether flows begin at the rate of their line.
    begins_at_line: bool,
    /// Whether the time to the next packet counts from when the NIC sends the one before it.
    pub paces_from_nic: bool,
    /// Whether round trips count from when the NIC begins to send a packet.
    pub times_from_nic: bool,
    /// Bytes of a data packet that are not payload and that a pace counts.
    pub paced_header: u32,
    /// Whether retransmissions that ignore the window wait for the pace.
    pub repairs_wait: bool,
    /// Whether a flow's base RTT is that of its own path.
    own_base_rtt: bool,
    /// Bytes of telemetry on data packets and on acks.
    pub telemetry: u32,
    /// Whether data packets are ECN-capable.
    pub ecn: bool,
    /// How the receiver acknowledges.
    pub acks: AckPolicy,
    /// After how many bytes a sender asks for an ack at the latest.
    pub ack_segment: u64,
    /// How the receiver tells of marks, if not by acks.
    pub notifications: Option<Notifications>,
    /// How segments leave together, if they do.
    pub bursts: Option<Bursts>,
    /// The bounds of the retransmission timeout.
    pub rto: RtoBounds,
    /// What recoveries with TCP's phases share.
    pub losses: Losses,
    /// The recovery of a flow before its start.
    pub recovery: Recovery,
    /// Whether data packets state how much of their flow is left, as its recovery counts it.
    pub states_remaining: bool,
    /// Bytes that may be in flight before the first ack: the window that the receiver announced in
    /// the handshake.
    pub syn_window: u64,
    /// Whether a connection is opened by a handshake.
    pub handshake: bool,
    /// How long connections last.
    pub connections: Connections,
    /// Whether senders tag what would cost them a timeout as important.
    pub protects: bool,
}

impl ClosedLoop {
    /// Reads all keys of a transport's section except those of its congestion controller.
    pub(super) fn read(
        section: &mut Section,
        needs: Needs,
        mss: u32,
        defaults: &Defaults,
        maker: Arc<dyn ControlMaker>,
        recoveries: &[Arc<dyn RecoveryExtension>],
    ) -> Result<ClosedLoop, SettingsError> {
        if needs.by_timeouts_alone {
            return ClosedLoop::read_by_timeouts(section, needs, mss, maker);
        }
        let is_paced = needs.pace == Pace::Always;
        let own_base_rtt = if needs.base_rtt {
            let meaning = "which base RTT it compares with: that of the flow's own path, or \
                               the network's";
            section.choice("base_rtt", &defaults.base_rtt, meaning)?
        } else {
            false
        };
        let telemetry = if needs.telemetry {
            let meaning = "bytes of telemetry on data packets and on acks";
            size(section, "telemetry_bytes", "42B", 0..=500, meaning)?
        } else {
            0
        };
        let paces_from_nic = if is_paced {
            let meaning = "from when the time to the next packet counts: from when the packet goes \
                               to the NIC, or from when the NIC has sent what is there before it";
            section.choice("pace_from", &defaults.pace_from, meaning)?
        } else {
            false
        };
        let windows = if is_paced {
            Windows::of_line(section, mss, maker.initial_window())?
        } else {
            Windows::read(section, mss)?
        };
        let ecn = match needs.ecn {
            Ecn::Always => true,
            Ecn::Default(ecn) => {
                section.flag("ecn", ecn, "whether packets are ECN-capable (RFC 3168)")?
            }
        };
        let every = section.integer(
            "ack_every",
            1,
            1..=64,
            "the number of packets that one ack acknowledges",
        )? as u32;
        let meaning = "the longest that an ack is delayed (with ack_every above 1)";
        let delay = section.time("ack_delay", "500us", meaning)?;
        let meaning = "whether senders ask for the ack of a flow's last packet, and of one after which \
                       they may send no more before an ack (with ack_every above 1); true without it";
        let asked = section.optional_flag("ask_acks", meaning)?.unwrap_or(true);
        recovery::refuse_moved(section)?;
        let Settings { recovery, losses, rto } =
            Settings::read(section, needs.echo, is_paced, recoveries)?;
        if recovery.is_own()
            && let Some(key) = recovery::OF_PHASES.iter().find(|key| section.has(key))
        {
            let why = "means nothing where the recovery chooses every segment itself";
            return Err(section.error(ErrorKind::UnusedKey, key, why));
        }
        let is_other = is_paced || recovery.is_own();
        let bursts = if is_other { None } else { Bursts::read(section, mss)? };
        let Coalescing { every, delay, quick } = if is_other {
            Coalescing { every, delay, quick: 0 }
        } else {
            Coalescing::read(section, mss, every, delay)?
        };
        if recovery.numbers_packets() && every > 1 {
            let problem = "recovery = \"per-priority\" needs an ack of its own for every packet";
            return Err(section.conflict("ack_every", problem));
        }
        let has_fractions = windows.min < mss.into() && !recovery.is_ns3();
        let paces = needs.pace != Pace::Never || has_fractions;
        if bursts.is_some() && (paces || recovery.numbers_packets()) {
            let why = if paces {
                "min_window is less than a segment: segments are then paced"
            } else {
                "recovery = \"per-priority\" sends packets one by one"
            };
            let key = if bursts.is_some_and(|b| b.tells) { "ack_push" } else { "offload" };
            return Err(section.conflict(key, format!("it does not go with this: {why}")));
        }
        let protects = if is_other {
            protection::refuse_paced(section)?;
            false
        } else {
            protection::read(section, bursts.is_some())?
        };
        let losses = Losses { are_plain: losses.are_plain && !protects, ..losses };
        let (syn_window, handshake) = if recovery.is_own() {
            (u64::MAX, false)
        } else {
            ClosedLoop::read_opening(section, mss)?
        };
        let connections = Connections::read(section, is_paced)?;
        let notifications = maker.notifications();
        Ok(ClosedLoop {
            times_from_nic: maker.times_from_nic(),
            paced_header: 0,
            repairs_wait: maker.repairs_wait(),
            ack_segment: maker.segment().unwrap_or(u64::MAX),
            maker,
            windows,
            paces,
            begins_at_line: is_paced,
            paces_from_nic,
            own_base_rtt,
            telemetry,
            ecn,
            acks: AckPolicy {
                every,
                delay,
                quick,
                echo: if notifications.is_some() { EcnEcho::Notified } else { needs.echo },
                tells: match &recovery {
                    Recovery::Rack(_) => Tells::Duplicates,
                    Recovery::Own(own) => own.rules.tells(),
                    _ => Tells::Ranges,
                },
                times_last: is_paced,
                asked,
                in_order: match &recovery {
                    Recovery::Own(own) => own.rules.in_order(),
                    _ => None,
                },
            },
            notifications,
            bursts,
            rto,
            losses,
            recovery,
            states_remaining: false,
            syn_window,
            handshake,
            connections,
            protects,
        })
    }

    /// Reads how a connection is opened: its first window, and whether there is a handshake.
    fn read_opening(section: &mut Section, mss: u32) -> Result<(u64, bool), SettingsError> {
        let meaning =
            "the most in flight before the first ack, since the window in a SYN is not scaled";
        let syn_window = match section.amount("syn_window", "unlimited", meaning)? {
            Amount::Packets(packets) => packets * u64::from(mss),
            Amount::Bytes(bytes) => bytes,
            Amount::Unlimited => u64::MAX,
        };
        if syn_window < u64::from(mss) {
            return Err(
                section.conflict("syn_window", format!("{syn_window}B is less than a packet"))
            );
        }
        let meaning = "whether a connection is opened by a handshake";
        Ok((syn_window, section.flag("handshake", false, meaning)?))
    }

    /// As `read`, for a transport that learns of losses by timeouts alone. It has no handshake, and
    /// every packet is acknowledged.
    fn read_by_timeouts(
        section: &mut Section,
        needs: Needs,
        mss: u32,
        maker: Arc<dyn ControlMaker>,
    ) -> Result<ClosedLoop, SettingsError> {
        let windows = Windows::read_unbounded(section, mss)?;
        let own = Box::new(FixedTimeout::read(section)?);
        let Settings { recovery, losses, rto } = Settings::of_own(own);
        Ok(ClosedLoop {
            maker,
            windows,
            paces: false,
            begins_at_line: false,
            paces_from_nic: false,
            times_from_nic: false,
            paced_header: 0,
            repairs_wait: true,
            ack_segment: u64::MAX,
            own_base_rtt: false,
            telemetry: 0,
            ecn: false,
            acks: AckPolicy {
                every: 1,
                delay: Time::ZERO,
                quick: 0,
                echo: needs.echo,
                tells: Tells::Ranges,
                times_last: false,
                asked: false,
                in_order: None,
            },
            notifications: None,
            bursts: None,
            rto,
            losses,
            recovery,
            states_remaining: true,
            syn_window: u64::MAX,
            handshake: false,
            connections: Connections::Own,
            protects: false,
        })
    }

    /// Notes how many bytes of a data packet are not payload.
    pub(super) fn set_header(&mut self, header: u32) {
        self.paced_header = if self.maker.paces_payload() { 0 } else { header };
    }

    /// Bytes of telemetry and of packet numbers, on data packets and on acks.
    pub fn carried_bytes(&self) -> u32 {
        self.telemetry + self.losses.number_bytes
    }

    /// The least retransmission timeout, if there is one.
    pub fn min_rto(&self, base_rtt: Time) -> Option<Time> {
        match &self.recovery {
            Recovery::Own(own) => own.rules.shortest_rto(base_rtt).map(|(rto, _)| rto),
            _ => Some(self.rto.min),
        }
    }

    /// The recovery of a flow that starts, in segments of `mss`.
    pub(super) fn start_recovery(&self, mss: u64, access: &Access) -> Recovery {
        let held_back = if self.acks.every == 1 { Time::ZERO } else { self.acks.delay };
        self.recovery.start(mss, &self.losses, held_back, access)
    }

    /// The longest backlog of the sender's own line with which windows may still grow.
    pub fn host_backlog(&self, rate: Rate, base_rtt: Time) -> Time {
        let byte_time = rate.nominal().byte_time();
        let time = |size: BdpSize| byte_time.saturating_time_of(size.bytes(rate, base_rtt));
        self.windows.host_backlog.map_or(Time::MAX, time)
    }

    /// Whether the initial window is the whole flow.
    pub fn starts_with_whole_flow(&self) -> bool {
        self.windows.initial == InitialWindow::Flow
    }

    /// The initial window of a flow of `size` bytes in segments of `mss`.
    pub fn initial_window(&self, size: u64, mss: u32, access: &Access) -> Window {
        let mss = u64::from(mss);
        let cwnd = self.windows.initial.bytes(size, mss, access);
        let mut window = Window {
            cwnd: cwnd.max(mss),
            ssthresh: u64::MAX,
            mss,
            cut_until: 0,
            min: self.windows.min,
            slow_start: self.windows.slow_start,
            moves_next: false,
            whole_ns: access.whole_ns,
            is_for_full: false,
            in_segments: self.windows.in_segments,
            clock: access.rate.clock(),
            pace: 0,
            credit: 0,
        };
        window.cwnd = window.whole(window.cwnd);
        if self.begins_at_line {
            window.set_paced(window.cwnd, access.rate.nominal().ps_per_byte());
        }
        window
    }

    /// The most that a flow of `size` bytes sends at once before the first ack: its initial window,
    /// or the least window if that is larger.
    pub fn largest_burst(&self, size: u64, mss: u32, access: &Access) -> u64 {
        let window = self.initial_window(size, mss, access);
        window.cwnd.max(window.min).min(size)
    }

    /// Whether packets are paced, always or sometimes. They may also be paced if a window can be
    /// smaller than a segment.
    #[inline]
    pub fn paces(&self) -> bool {
        self.paces
    }

    /// Whether connections stay open when their flows are over.
    pub fn leaves_open(&self) -> bool {
        self.connections != Connections::Own
    }

    /// Whether a flow's base RTT is that of its own path.
    pub fn measures_its_own_way(&self) -> bool {
        self.own_base_rtt
    }

    /// The congestion controller of a new flow. It may change the flow's window.
    pub fn congestion(&self, access: &Access, window: &mut Window) -> Congestion {
        self.maker.start(window, access)
    }
}

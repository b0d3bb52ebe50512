//! What decides when a flow sends: one row here for each congestion controller.

use super::extension::{ControlExtension, ControlMaker};
use super::window::{Congestion, Window};
use super::{Access, Cubic, CubicParams, Dctcp, DctcpParams, Hpcc, HpccParams, NewReno, PowerTcp};
use super::{PowerTcpParams, ThetaPowerTcp, ThetaPowerTcpParams, Timely, TimelyParams, Udp};
use spillway_settings::{Range, Section, SettingsError};
use std::sync::Arc;

/// Transports as the catalogue lists them: id, what it is, where it was published. The first is the default.
pub const KINDS: &[(&str, &str, &str)] = &[
    (
        "dctcp",
        "DCTCP: cut in proportion to the share of marked packets",
        "Alizadeh et al.: SIGCOMM 2010, doi:10.1145/1851182.1851192; RFC 8257",
    ),
    (
        "newreno",
        "TCP NewReno with SACK: half the window for a loss",
        "Allman, Paxson, Blanton: RFC 5681; Blanton et al.: RFC 6675",
    ),
    (
        "cubic",
        "CUBIC: a window that is a cubic function of the time since the last loss",
        "Ha, Rhee, Xu: ACM SIGOPS OSR 42(5), 2008; RFC 9438",
    ),
    (
        "theta-powertcp",
        "theta-PowerTCP: window and pace by the power of the path, from round trips",
        "Addanki, Michel, Schmid: PowerTCP, NSDI 2022, Algorithm 2",
    ),
    (
        "powertcp",
        "PowerTCP: window and pace by the power of the busiest port, from in-band telemetry",
        "Addanki, Michel, Schmid: PowerTCP, NSDI 2022, Algorithm 1",
    ),
    (
        "hpcc",
        "HPCC: window and pace by what is in flight on the busiest link, from in-band telemetry",
        "Li et al.: SIGCOMM 2019, doi:10.1145/3341302.3342085",
    ),
    (
        "timely",
        "TIMELY: pace by the gradient of round trips",
        "Mittal et al.: SIGCOMM 2015, doi:10.1145/2785956.2787510",
    ),
    ("udp", "open loop: packets at a constant rate or as a Poisson process, never repeated", ""),
];

/// What decides when a flow sends.
#[derive(Clone, Debug)]
pub enum Control {
    /// A window that losses halve.
    NewReno,
    /// A window that marks cut in proportion.
    Dctcp(DctcpParams),
    /// A window that is a cubic function of time.
    Cubic(CubicParams),
    /// What is not compiled in, which sets a window and, if it likes, a pace.
    Extension(Arc<dyn ControlMaker>),
    /// Round trips, which set a window and a pace.
    ThetaPowerTcp(ThetaPowerTcpParams),
    /// Telemetry, which sets both.
    PowerTcp(PowerTcpParams),
    /// Telemetry, which sets both.
    Hpcc(HpccParams),
    /// Round trips, which set a pace.
    Timely(TimelyParams),
    /// A clock.
    Udp(Udp),
}

impl Control {
    /// Reads the parameters of a kind, one of the catalogue or from outside.
    pub(super) fn read(
        kind: &str,
        outside: Option<&dyn ControlExtension>,
        section: &mut Section,
    ) -> Result<Control, SettingsError> {
        if let Some(outside) = outside {
            return outside.read(section).map(Control::Extension);
        }
        Ok(match kind {
            "newreno" => Control::NewReno,
            "cubic" => Control::Cubic(CubicParams::read(section)?),
            "theta-powertcp" => Control::ThetaPowerTcp(ThetaPowerTcpParams::read(section)?),
            "powertcp" => Control::PowerTcp(PowerTcpParams::read(section)?),
            "hpcc" => Control::Hpcc(HpccParams::read(section)?),
            "timely" => Control::Timely(TimelyParams::read(section)?),
            "udp" => Control::Udp(Udp::read(section)?),
            _ => Control::Dctcp(DctcpParams::read(section)?),
        })
    }

    /// Whether it always sets a pace: a flow then begins with its line's rate.
    pub(super) fn is_paced(&self) -> bool {
        match self {
            Control::ThetaPowerTcp(_)
            | Control::PowerTcp(_)
            | Control::Hpcc(_)
            | Control::Timely(_) => true,
            Control::NewReno
            | Control::Dctcp(_)
            | Control::Cubic(_)
            | Control::Extension(_)
            | Control::Udp(_) => false,
        }
    }

    /// Whether it compares with the base RTT.
    pub(super) fn knows_base_rtt(&self) -> bool {
        match self {
            Control::Extension(maker) => maker.knows_base_rtt(),
            _ => {
                matches!(self, Control::ThetaPowerTcp(_) | Control::PowerTcp(_) | Control::Hpcc(_))
            }
        }
    }

    /// Whether switches are to write telemetry on its packets.
    pub(super) fn asks_telemetry(&self) -> bool {
        match self {
            Control::Extension(maker) => maker.asks_telemetry(),
            _ => matches!(self, Control::PowerTcp(_) | Control::Hpcc(_)),
        }
    }

    /// The congestion controller of a new flow, with its window.
    pub(super) fn start(&self, window: &mut Window, access: &Access) -> Congestion {
        match self {
            Control::NewReno | Control::Udp(_) => Congestion::NewReno(NewReno),
            Control::Dctcp(params) => Congestion::Dctcp(Dctcp::new(*params)),
            Control::Cubic(params) => Congestion::Cubic(Box::new(Cubic::new(*params))),
            Control::Extension(maker) => Congestion::Extension(maker.start(window, access)),
            Control::ThetaPowerTcp(params) => {
                Congestion::ThetaPowerTcp(Box::new(ThetaPowerTcp::new(*params, access)))
            }
            Control::PowerTcp(params) => {
                Congestion::PowerTcp(Box::new(PowerTcp::new(*params, access)))
            }
            Control::Hpcc(params) => Congestion::Hpcc(Box::new(Hpcc::new(*params, access))),
            Control::Timely(params) => Congestion::Timely(Box::new(Timely::new(*params, access))),
        }
    }
}

/// How many flows an additive increase reckons with.
pub(super) fn expected_flows(section: &mut Section) -> Result<f64, SettingsError> {
    let meaning = "flows that share a host's line, for the additive increase";
    section.number("expected_flows", 100.0, Range::Positive, meaning)
}

/// The least rate of a sender, in bits per second.
pub(super) fn min_rate(section: &mut Section) -> Result<f64, SettingsError> {
    let rate = section.rate("min_rate", "100Mbps", "the least rate of a sender")?;
    Ok(rate.bits_per_second() as f64)
}

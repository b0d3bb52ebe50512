//! What drives a flow, acks or a clock: one row here for each transport.

use super::extension::FlowControl;
use super::initial::InitialWindow;
use super::kind::Kind;
use super::receiver::Notifications;
use super::udp::{self, Udp};
use super::window::{Ack, CongestionControl, Repair, Window};
use super::{
    Access, cubic, dcqcn, dctcp, dctcp_rdma, hpcc, newreno, pfabric, powertcp, theta_powertcp,
    timely,
};
use spillway_engine::Time;
use spillway_settings::{Range, Section, SettingsError};
use std::fmt::Debug;
use std::sync::Arc;

/// The parameters of what drives a flow.
#[derive(Clone, Debug)]
pub enum DriverParams {
    /// Acks, which set a window and, for some, a pace.
    Acks(Arc<dyn ControlMaker>),
    /// A clock.
    Clock(Udp),
}

/// A congestion controller with its parameters, from which each flow gets its own.
pub trait ControlMaker: Debug + Send + Sync {
    /// Makes the controller of a flow that starts. It may change the flow's window.
    fn start(&self, window: &mut Window, access: &Access) -> Congestion;

    /// How receivers tell senders of marks, if not by acks.
    fn notifications(&self) -> Option<Notifications> {
        None
    }

    /// Whether round trips count from when the NIC begins to send a packet, and not from when the
    /// packet goes to the NIC.
    fn times_from_nic(&self) -> bool {
        false
    }

    /// The initial window, if the sender paces.
    fn initial_window(&self) -> InitialWindow {
        InitialWindow::LineRate
    }

    /// Whether a pace counts payload alone.
    fn paces_payload(&self) -> bool {
        false
    }

    /// Whether retransmissions that ignore the window wait for the pace.
    fn repairs_wait(&self) -> bool {
        true
    }

    /// How many bytes must be acknowledged before the controller updates, if that is a number of
    /// bytes.
    fn segment(&self) -> Option<u64> {
        None
    }
}

impl DriverParams {
    /// The parameters of a transport that acks drive.
    pub(super) fn of_acks(maker: impl ControlMaker + 'static) -> DriverParams {
        DriverParams::Acks(Arc::new(maker))
    }
}

/// Makes, from one row per transport, the table of all transports and the enum of congestion
/// controllers. The enum dispatches every ack statically.
macro_rules! transports {
    (
        by acks { $($file:ident: $variant:ident($state:ty),)+ }
        by a clock { $($open_loop:ident,)+ }
    ) => {
        /// Transports as the catalogue lists them. The first is the default.
        pub const KINDS: &[Kind] = &[$($file::KIND,)+ $($open_loop::KIND,)+];

        /// The congestion controller of a flow. Large ones are boxed, since most flows have a small
        /// one.
        #[derive(Clone, Debug)]
        pub enum Congestion {
            $(
                #[doc = concat!("Of the transport in `", stringify!($file), ".rs`.")]
                $variant($state),
            )+
            /// A controller that is not compiled in.
            Extension(Box<dyn FlowControl>),
        }

        macro_rules! each {
            ($this:ident, $control:ident => $call:expr) => {
                match $this {
                    $(Congestion::$variant($control) => $call,)+
                    Congestion::Extension($control) => $call,
                }
            };
        }
    };
}

transports! {
    by acks {
        dctcp: Dctcp(dctcp::Dctcp),
        newreno: NewReno(newreno::NewReno),
        cubic: Cubic(Box<cubic::Cubic>),
        theta_powertcp: ThetaPowerTcp(Box<theta_powertcp::ThetaPowerTcp>),
        powertcp: PowerTcp(Box<powertcp::PowerTcp>),
        hpcc: Hpcc(Box<hpcc::Hpcc>),
        timely: Timely(Box<timely::Timely>),
        dcqcn: Dcqcn(Box<dcqcn::Dcqcn>),
        dctcp_rdma: DctcpRdma(Box<dctcp_rdma::DctcpRdma>),
        pfabric: PFabric(pfabric::PFabric),
    }
    by a clock {
        udp,
    }
}

impl CongestionControl for Congestion {
    #[inline]
    fn on_ack(&mut self, window: &mut Window, ack: &Ack) {
        if let Congestion::Extension(control) = self {
            // A copy, so that the other variants do not need their arguments in memory.
            return control.on_ack(window, &{ *ack });
        }
        each!(self, control => control.on_ack(window, ack));
    }
    fn on_loss(&mut self, window: &mut Window, in_flight: u64) {
        each!(self, control => control.on_loss(window, in_flight));
    }
    fn on_timeout(&mut self, window: &mut Window, in_flight: u64) {
        each!(self, control => control.on_timeout(window, in_flight));
    }
    #[cold]
    fn on_repair(&mut self, window: &mut Window, repair: &Repair) {
        each!(self, control => control.on_repair(window, repair));
    }
    fn on_idle(&mut self, idle: Time) {
        each!(self, control => control.on_idle(idle));
    }
    fn on_local_drop(&mut self, window: &mut Window) {
        each!(self, control => control.on_local_drop(window));
    }
    fn on_send(&mut self, window: &mut Window, now: Time, bytes: u64) -> Time {
        each!(self, control => control.on_send(window, now, bytes))
    }
    fn on_notification(&mut self, window: &mut Window, now: Time) {
        each!(self, control => control.on_notification(window, now));
    }
}

/// The number of flows that an additive increase assumes.
pub(super) fn expected_flows(section: &mut Section) -> Result<f64, SettingsError> {
    let meaning = "flows that share a host's line, for the additive increase";
    section.number("expected_flows", 100.0, Range::Positive, meaning)
}

/// The least rate of a sender, in bits per second.
pub(super) fn min_rate(section: &mut Section, default: &str) -> Result<f64, SettingsError> {
    let rate = section.rate("min_rate", default, "the least rate of a sender")?;
    Ok(rate.bits_per_second() as f64)
}

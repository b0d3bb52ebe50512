//! Congestion controllers in Python.

use super::answers::nothing;
use super::copying::{self, unchanging};
use super::instance::{Arguments, Hook, Instance};
use super::kind::Kind;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spillway_settings::{Section, SettingsError};
use spillway_transport::telemetry;
use spillway_transport::window::{self, CongestionControl};
use spillway_transport::{Congestion, ControlExtension, ControlMaker, Ecn, Needs, Pace};
use std::sync::Arc;

/// A flow's congestion window, which hooks may change.
#[pyclass(module = "spillway.plugins")]
pub struct Window(window::Window);

#[pymethods]
impl Window {
    /// Bytes that may be in flight.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.0.cwnd
    }

    #[setter]
    fn set_cwnd(&mut self, bytes: u64) -> PyResult<()> {
        self.0.cwnd = self.a_segment_at_least("cwnd", bytes)?;
        Ok(())
    }

    /// Below it the window grows by the bytes that are acknowledged, from it on by one segment per
    /// round trip.
    #[getter]
    fn ssthresh(&self) -> u64 {
        self.0.ssthresh
    }

    #[setter]
    fn set_ssthresh(&mut self, bytes: u64) -> PyResult<()> {
        self.0.ssthresh = self.a_segment_at_least("ssthresh", bytes)?;
        Ok(())
    }

    /// The spacing of packets, in picoseconds for every byte on the wire; 0 if only the window
    /// limits them.
    #[getter]
    fn pace_ps_per_byte(&self) -> u32 {
        self.0.pace
    }

    #[setter]
    fn set_pace_ps_per_byte(&mut self, pace: u32) {
        self.0.pace = pace;
    }

    /// Payload of a full segment.
    #[getter]
    fn mss(&self) -> u64 {
        self.0.mss
    }

    /// The least window that a cut for congestion leaves, in bytes.
    #[getter]
    fn min(&self) -> u64 {
        self.0.min
    }

    /// Whether there is slow start.
    #[getter]
    fn slow_start(&self) -> bool {
        self.0.slow_start
    }

    /// Grows by newly acknowledged bytes.
    fn grow(&mut self, acked: u64) {
        self.0.grow(acked);
    }

    /// Cuts the window to this many bytes, from which it grows linearly.
    fn cut_to(&mut self, bytes: u64) {
        self.0.cut_to(bytes);
    }

    /// Cuts the window to this many bytes for a mark that an ack echoes. The cut holds until
    /// everything sent before it is acknowledged, or taken for lost after a timeout.
    fn cut_for_mark(&mut self, bytes: u64, ack: &Ack) {
        self.0.cut_until = ack.nxt;
        self.0.cut_to(bytes);
    }

    /// Whether a cut for a mark holds. While it does, there is no other cut for a mark, and no
    /// growth.
    fn is_held(&self, ack: &Ack) -> bool {
        self.0.holds(ack.una)
    }

    /// Sets `ssthresh` to half of what is in flight, but to at least two segments.
    fn halve(&mut self, in_flight: u64) {
        self.0.halve(in_flight);
    }
}

impl Window {
    fn a_segment_at_least(&self, name: &str, bytes: u64) -> PyResult<u64> {
        let mss = self.0.mss;
        let problem = || format!("{name} = {bytes} is less than a segment, {mss} bytes");
        if bytes >= mss { Ok(bytes) } else { Err(PyValueError::new_err(problem())) }
    }
}

/// The largest window without a pace. With a larger window, an endless flow could go on sending for
/// ever at one moment.
pub const LARGEST_WINDOW: u64 = 1 << 32;

fn bounded(window: window::Window) -> PyResult<window::Window> {
    if window.pace > 0 || window.cwnd <= LARGEST_WINDOW {
        return Ok(window);
    }
    let problem = format!("cwnd = {} is more than 4 GiB, and there is no pace", window.cwnd);
    Err(PyValueError::new_err(problem))
}

/// What a port on the path of a packet has written on it.
#[pyclass(frozen, get_all, module = "spillway.plugins")]
#[derive(Clone)]
pub struct Hop {
    /// When the port began to send the packet.
    time_ps: u64,
    /// The bytes then left in all queues of the port.
    queue_bytes: u64,
    /// The bytes that the port had sent before.
    sent_bytes: u64,
    /// The time of a byte at the port's rate.
    ps_per_byte: f64,
}

/// What a controller is told about an ack.
#[pyclass(frozen, get_all, module = "spillway.plugins")]
pub struct Ack {
    /// When it arrived.
    now_ps: u64,
    /// The bytes that it is the first to acknowledge.
    acked: u64,
    /// The bytes that are newly known to have arrived, including those behind a gap.
    delivered: u64,
    /// The round trip of the packet that it acknowledges.
    rtt_ps: u64,
    /// Whether it echoes a mark.
    ece: bool,
    /// The first unacknowledged byte of the flow, after this ack.
    una: u64,
    /// The next byte to be sent.
    nxt: u64,
    /// Whether the window limits what is sent, and not the sender's own line.
    may_grow: bool,
    /// Whether the sender is in recovery: the window was cut and does not change.
    in_recovery: bool,
    /// With `asks_telemetry`: what the ports on the path have written on the packet, in order.
    hops: Vec<Hop>,
}

impl Hop {
    fn of(hop: &telemetry::Hop) -> Hop {
        Hop {
            time_ps: hop.time.ps(),
            queue_bytes: hop.queue_bytes,
            sent_bytes: hop.sent_bytes,
            ps_per_byte: hop.ps_per_byte,
        }
    }
}

impl Ack {
    fn of(ack: &window::Ack) -> Ack {
        Ack {
            now_ps: ack.now.ps(),
            acked: ack.acked,
            delivered: ack.delivered,
            rtt_ps: ack.rtt.ps(),
            ece: ack.ece,
            una: ack.una,
            nxt: ack.nxt,
            may_grow: ack.may_grow,
            in_recovery: ack.in_recovery,
            hops: ack
                .telemetry
                .map(|told| told.hops().iter().map(Hop::of).collect())
                .unwrap_or_default(),
        }
    }
}

/// The facts about a flow's path.
#[pyclass(frozen, get_all, module = "spillway.plugins")]
pub struct Access {
    /// The rate of its host's line, in bits per second.
    rate_bps: u64,
    /// The round trip of the empty network. With `knows_base_rtt`, the round trip of the flow's own
    /// path, unless the scenario asks for that of the network.
    base_rtt_ps: u64,
}

impl Access {
    pub fn of(access: &spillway_transport::Access) -> Access {
        let &spillway_transport::Access { rate, base_rtt, .. } = access;
        Access { rate_bps: rate.bits_per_second(), base_rtt_ps: base_rtt.ps() }
    }
}

unchanging!(Hop, Ack, Access);

/// The controller of one flow. If it fails, the window stays as it is, and the run ends after this
/// event.
#[derive(Debug)]
struct Control {
    instance: Instance,
    /// The window as hooks see and change it.
    view: Py<Window>,
}

impl Clone for Control {
    /// A copy of the object, with a view of its own.
    fn clone(&self) -> Control {
        Python::attach(|py| {
            let view = self.view.bind(py);
            let copy = Bound::new(py, Window(view.borrow().0));
            // If there is no memory for a window, the run cannot go on.
            let copy = copy.expect("a Python object can be made");
            let replaced = copying::replace(view, &copy);
            let instance = self.instance.clone();
            if let Err(error) = replaced {
                instance.fail(error, "copy.deepcopy");
            }
            Control { instance, view: copy.unbind() }
        })
    }
}

impl Control {
    /// Calls a hook with the window and another argument. Returns false if there is no such hook.
    fn ask<'a, A: Arguments>(
        &'a self,
        hook: Hook,
        window: &mut window::Window,
        arguments: impl FnOnce(&'a Py<Window>) -> A,
    ) -> bool {
        let show = |py: Python<'_>| {
            self.view.bind(py).try_borrow_mut()?.0 = *window;
            Ok(())
        };
        let after = self.instance.call(hook, show, arguments(&self.view), |answer| {
            nothing(answer)?;
            bounded(self.view.bind(answer.py()).try_borrow()?.0)
        });
        if let Some(after) = after {
            *window = after;
        }
        self.instance.has(hook)
    }

    fn ask_about_loss(&self, hook: Hook, window: &mut window::Window, in_flight: u64) {
        if !self.ask(hook, window, |view| (view, in_flight)) {
            window.halve(in_flight);
        }
    }
}

impl CongestionControl for Control {
    fn on_ack(&mut self, window: &mut window::Window, ack: &window::Ack) {
        self.ask(Hook::OnAck, window, |view| (view, Ack::of(ack)));
    }

    fn on_loss(&mut self, window: &mut window::Window, in_flight: u64) {
        self.ask_about_loss(Hook::OnLoss, window, in_flight);
    }

    fn on_timeout(&mut self, window: &mut window::Window, in_flight: u64) {
        self.ask_about_loss(Hook::OnTimeout, window, in_flight);
    }
}

/// A plug-in's class as a kind of congestion controller.
#[derive(Debug)]
pub struct Controller(pub Arc<Kind>);

impl ControlExtension for Controller {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn needs(&self) -> Needs {
        Needs {
            pace: Pace::Possible,
            telemetry: self.0.asks_telemetry,
            base_rtt: self.0.knows_base_rtt,
            ecn: Ecn::Default(self.0.ecn),
            echo: self.0.echo,
            cuts_for_local_drops: false,
            by_timeouts_alone: false,
        }
    }

    fn read(&self, section: &mut Section) -> Result<Arc<dyn ControlMaker>, SettingsError> {
        Python::attach(|py| {
            let values = self.0.values(py, section)?.unbind();
            Ok(Arc::new(Maker { kind: self.0.clone(), values }) as Arc<dyn ControlMaker>)
        })
    }
}

/// A plug-in with its parameters, which makes a controller for every flow.
#[derive(Debug)]
struct Maker {
    kind: Arc<Kind>,
    values: Py<PyDict>,
}

impl ControlMaker for Maker {
    fn start(
        &self,
        window: &mut window::Window,
        access: &spillway_transport::Access,
    ) -> Congestion {
        let mut instance = self.kind.unbound(None);
        Python::attach(|py| {
            let made = Py::new(py, Window(*window)).and_then(|view| {
                let start = (view.clone_ref(py), Access::of(access)).into_pyobject(py)?;
                self.kind.make(py, &mut instance, "", self.values.bind(py), Some(start))?;
                *window = bounded(view.bind(py).try_borrow()?.0)?;
                Ok(view)
            });
            let view = made.or_else(|error| {
                instance.fail(error, "its start");
                Py::new(py, Window(*window))
            });
            // If there is no memory for a window, the run cannot go on.
            let view = view.expect("a Python object can be made");
            Congestion::Extension(Box::new(Control { instance, view }))
        })
    }
}

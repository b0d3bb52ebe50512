//! Sharing policies and AQMs in Python.

use super::answers::{admission, flag, nothing, number, sample, verdict};
use super::copying;
use super::instance::{Arguments, Hook, Instance};
use super::views::{Arrival, Buffer, Departure};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spillway_engine::Time;
use spillway_settings::quantity::LONGEST;
use spillway_switch::aqm::{Aqm, AqmSample, Sending};
use spillway_switch::policy::{self, Admission, Verdict, Watch};
use spillway_switch::sharing::{Count, Sharing};
use spillway_switch::{Environment, QueueId};

/// A plug-in at one switch. If it fails, it admits and passes every packet and has no counts, and
/// the run ends after this event.
#[derive(Debug)]
pub struct Policy {
    instance: Instance,
    /// The buffer as hooks see it; `None` if there is no instance.
    view: Option<Py<Buffer>>,
    period: Option<Time>,
    knows_packets: bool,
    passes_idle_ports: bool,
    loses_victims: bool,
    /// The flow and the first byte of the arriving packet, if the policy `knows_packets`.
    introduced: Option<(u32, u64)>,
}

impl Clone for Policy {
    /// A copy of the object, with a view of its own.
    fn clone(&self) -> Policy {
        let view = copying::view(&self.view, &self.instance);
        Policy { instance: self.instance.clone(), view, ..*self }
    }
}

impl Policy {
    /// An object of the plug-in's class, with its hooks.
    pub fn of(
        object: &Bound<'_, PyAny>,
        instance: Instance,
        environment: &Environment,
    ) -> PyResult<Policy> {
        let py = object.py();
        let period: Option<u64> = object.getattr("period_ps")?.extract()?;
        if period == Some(0) {
            let problem = "period_ps is 0; expected a whole number above 0, or None for never";
            return Err(PyValueError::new_err(problem));
        }
        Ok(Policy {
            instance,
            view: Some(Py::new(py, Buffer::of(environment))?),
            period: period.map(|ps| Time::from_ps(ps).min(LONGEST)),
            knows_packets: flag(object, "knows_packets")?,
            passes_idle_ports: flag(object, "passes_idle_ports")?,
            loses_victims: flag(object, "loses_victims")?,
            introduced: None,
        })
    }

    /// The policy if no instance could be made.
    pub fn failed(instance: Instance) -> Policy {
        Policy {
            instance,
            view: None,
            period: None,
            knows_packets: false,
            passes_idle_ports: true,
            loses_victims: false,
            introduced: None,
        }
    }

    /// Calls a hook whose arguments include the view of the buffer.
    fn ask<'a, T, A: Arguments>(
        &'a self,
        hook: Hook,
        buffer: &spillway_switch::Buffer,
        arguments: impl FnOnce(&'a Py<Buffer>) -> A,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        let view = self.view.as_ref().filter(|_| self.instance.has(hook))?;
        let show = |py: Python<'_>| {
            view.bind(py).try_borrow_mut()?.show(buffer);
            Ok(())
        };
        self.instance.call(hook, show, arguments(view), read)
    }

    /// Calls a hook about an arrival, with the buffer.
    fn ask_about<T>(
        &self,
        hook: Hook,
        arrival: &policy::Arrival,
        buffer: &spillway_switch::Buffer,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        // A sharing policy is told of the packet by `introduce`. For an AQM, the arrival names the
        // flow.
        let named = Some((arrival.flow, arrival.seq)).filter(|_| self.knows_packets);
        let arrival = |view| (Arrival::of(arrival, self.introduced.or(named)), view);
        self.ask(hook, buffer, arrival, read)
    }
}

impl Sharing for Policy {
    fn pushes_out(&self) -> bool {
        true
    }
    fn loses_victims(&self) -> bool {
        self.loses_victims
    }
    fn admit(&mut self, arrival: &policy::Arrival, buffer: &spillway_switch::Buffer) -> Admission {
        let admitted =
            self.ask_about(Hook::Admit, arrival, buffer, |answer| admission(answer, buffer));
        admitted.unwrap_or(Admission::Admit)
    }

    fn open_below(&self, capacity: u64) -> u64 {
        if self.watches_departures() {
            return 0;
        }
        self.instance.call(Hook::OpenBelow, |_| Ok(()), (capacity,), number).unwrap_or(0)
    }

    fn knows_packets(&self) -> bool {
        self.knows_packets
    }

    fn introduce(&mut self, flow: u32, seq: u64, _connection: u32) {
        self.introduced = Some((flow, seq));
    }

    fn counters(&self) -> Vec<Count> {
        let read = |answer: &Bound<'_, PyAny>| {
            let counts = answer.cast::<PyDict>()?.iter();
            let count = |(name, n): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
                Ok((name.extract::<String>()?.into(), number(&n)?))
            };
            counts.map(count).collect()
        };
        self.instance.call(Hook::Counters, |_| Ok(()), (), read).unwrap_or_default()
    }

    fn threshold(
        &self,
        arrival: &policy::Arrival,
        buffer: &spillway_switch::Buffer,
    ) -> Option<u64> {
        let read = |answer: &Bound<'_, PyAny>| {
            if answer.is_none() { Ok(None) } else { number(answer).map(Some) }
        };
        self.ask_about(Hook::Threshold, arrival, buffer, read).flatten()
    }
}

impl Aqm for Policy {
    fn on_arrival(
        &mut self,
        arrival: &policy::Arrival,
        buffer: &spillway_switch::Buffer,
    ) -> Verdict {
        self.ask_about(Hook::OnArrival, arrival, buffer, verdict).unwrap_or(Verdict::Pass)
    }

    fn passes_idle_ports(&self) -> bool {
        self.passes_idle_ports && !self.watches_departures()
    }

    fn knows_flows(&self) -> bool {
        self.knows_packets
    }

    fn hears_marks(&self) -> bool {
        self.instance.has(Hook::OnMark)
    }

    fn on_mark(&mut self, queue: QueueId, size: u32) {
        self.instance.call(Hook::OnMark, |_| Ok(()), (queue, size), nothing);
    }

    fn sample(
        &self,
        now: Time,
        queue: QueueId,
        buffer: &spillway_switch::Buffer,
    ) -> Option<AqmSample> {
        let arguments = |view| (now.ps(), queue, view);
        self.ask(Hook::Sample, buffer, arguments, sample).flatten()
    }

    fn watches_turns(&self) -> bool {
        self.instance.has(Hook::OnSend) || self.instance.has(Hook::OnVainTurn)
    }

    fn on_vain_turn(&mut self, now: Time, queue: QueueId, buffer: &spillway_switch::Buffer) {
        let arguments = |view| (now.ps(), queue, view);
        self.ask(Hook::OnVainTurn, buffer, arguments, nothing);
    }

    fn on_send(&mut self, sending: &Sending, buffer: &spillway_switch::Buffer) {
        let &Sending { now, queue, size, begins, .. } = sending;
        let arguments = |view| (now.ps(), queue, size, begins, view);
        self.ask(Hook::OnSend, buffer, arguments, nothing);
    }
}

impl Watch for Policy {
    fn watches_queues(&self) -> bool {
        self.instance.has(Hook::OnEnqueue) || self.instance.has(Hook::OnDequeue)
    }

    fn watches_in_time(&self) -> bool {
        self.instance.has(Hook::OnDequeue) || self.instance.has(Hook::OnRelease)
    }

    fn on_enqueue(&mut self, arrival: &policy::Arrival, buffer: &spillway_switch::Buffer) {
        self.ask_about(Hook::OnEnqueue, arrival, buffer, nothing);
    }

    fn on_dequeue(
        &mut self,
        now: Time,
        queue: QueueId,
        size: u32,
        buffer: &spillway_switch::Buffer,
    ) {
        let arguments = |view| (now.ps(), queue, size, view);
        self.ask(Hook::OnDequeue, buffer, arguments, nothing);
    }

    fn on_release(&mut self, now: Time, queue: QueueId, buffer: &spillway_switch::Buffer) {
        let arguments = |view| (now.ps(), queue, view);
        self.ask(Hook::OnRelease, buffer, arguments, nothing);
    }

    fn on_drop(&mut self, now: Time, queue: QueueId, size: u32, buffer: &spillway_switch::Buffer) {
        let arguments = |view| (now.ps(), queue, size, view);
        self.ask(Hook::OnDrop, buffer, arguments, nothing);
    }

    fn watches_departures(&self) -> bool {
        self.instance.has(Hook::OnDeparture)
    }

    fn on_departure(
        &mut self,
        departure: &policy::Departure,
        buffer: &spillway_switch::Buffer,
    ) -> Verdict {
        let departure = Departure::of(departure);
        let arguments = |view| (departure, view);
        self.ask(Hook::OnDeparture, buffer, arguments, verdict).unwrap_or(Verdict::Pass)
    }

    fn period(&self) -> Option<Time> {
        self.period
    }

    fn on_timer(&mut self, now: Time, buffer: &spillway_switch::Buffer) {
        let arguments = |view| (now.ps(), view);
        self.ask(Hook::OnTimer, buffer, arguments, nothing);
    }
}

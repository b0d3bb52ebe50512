//! Loss recoveries in Python.

use super::answers::{flag, nothing, whole, wrong};
use super::control::{Access, LARGEST_WINDOW};
use super::failure::Place;
use super::instance::{Arguments, Hook, Instance};
use super::kind::Kind;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use spillway_engine::Time;
use spillway_settings::{ErrorKind, Section, SettingsError};
use spillway_transport::ranges::Range;
use spillway_transport::receiver::{InOrderRule, Tells};
use spillway_transport::recovery::scoreboard::Scoreboard;
use spillway_transport::recovery::{
    self, Course, OwnAck, OwnRecovery, RecoveryExtension, TimedOut,
};
use spillway_transport::{flow::FlowSpec, window};
use std::sync::Arc;

/// What the sender of a flow has sent, and what of it has arrived. Bytes are numbered through the
/// connection. A segment is a pair: its first byte, and the one behind its last.
#[pyclass(module = "spillway.plugins")]
#[derive(Clone)]
pub struct Flight {
    board: Scoreboard,
    window: window::Window,
    size: u64,
    course: Course,
}

impl Flight {
    fn of(flight: &recovery::Flight) -> Flight {
        let &recovery::Flight { ref board, window, size, ref course } = flight;
        Flight { board: (*board).clone(), window: *window, size, course: **course }
    }

    /// As the core sees it.
    fn core(&mut self) -> recovery::Flight<'_> {
        let Flight { board, window, size, course } = self;
        recovery::Flight { board, window, size: *size, course }
    }

    /// A byte from the first unacknowledged one to the next new one.
    fn sent(&self, byte: u64) -> PyResult<u64> {
        let Scoreboard { una, nxt, .. } = self.board;
        let problem = || format!("byte {byte} is not from una = {una} to nxt = {nxt}");
        let is_there = (una..=nxt).contains(&byte);
        if is_there { Ok(byte) } else { Err(PyValueError::new_err(problem())) }
    }
}

#[pymethods]
impl Flight {
    /// The first byte that is not acknowledged.
    #[getter]
    fn una(&self) -> u64 {
        self.board.una
    }

    /// The next byte that was never sent.
    #[getter]
    fn nxt(&self) -> u64 {
        self.board.nxt
    }

    /// The byte behind everything in flight. Sending a segment moves it to the segment's end. A
    /// hook that goes back sets it.
    #[getter]
    fn sent_to(&self) -> u64 {
        self.course.sent_to
    }

    #[setter]
    fn set_sent_to(&mut self, byte: u64) -> PyResult<()> {
        self.course.sent_to = self.sent(byte)?;
        Ok(())
    }

    /// The byte behind the last one of the flow; `None` if it never ends.
    #[getter]
    fn size(&self) -> Option<u64> {
        (self.size != FlowSpec::ENDLESS).then_some(self.size)
    }

    /// Payload of a full segment.
    #[getter]
    fn mss(&self) -> u64 {
        self.window.mss
    }

    /// The congestion window in bytes.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.window.cwnd
    }

    /// The ranges that have arrived behind a gap, in order.
    #[getter]
    fn arrived(&self) -> Vec<Range> {
        self.board.sacked().to_vec()
    }

    /// Timeouts since something new was acknowledged.
    #[getter]
    fn timeouts_in_a_row(&self) -> u32 {
        self.course.in_a_row
    }

    /// Whether what is sent again counts as sent again after a timeout. A timeout sets it; a hook
    /// that begins to repair for an ack clears it.
    #[getter]
    fn after_timeout(&self) -> bool {
        self.course.after_timeout
    }

    #[setter]
    fn set_after_timeout(&mut self, is_so: bool) {
        self.course.after_timeout = is_so;
    }

    /// The segment that begins at a byte. It is empty at the end of the flow.
    fn segment(&mut self, seq: u64) -> PyResult<Range> {
        let seq = self.sent(seq)?;
        Ok(self.core().from(seq))
    }

    /// This segment, if it is the first unacknowledged one, or if the window, and the bound `most`
    /// on what is in flight, have room for it. Otherwise `None`.
    #[pyo3(signature = (segment, most=None))]
    fn allowed(&mut self, segment: Option<Range>, most: Option<u64>) -> PyResult<Option<Range>> {
        let Some((seq, end)) = segment else { return Ok(None) };
        let size = self.size;
        if end < self.sent(seq)? || end > size {
            let problem = format!("({seq}, {end}) is no segment of a flow that ends at {size}");
            return Err(PyValueError::new_err(problem));
        }
        Ok(self.core().allowed((seq, end), most.unwrap_or(u64::MAX)))
    }

    /// The first segment at or behind a byte that is not known to have arrived, new ones included;
    /// `None` behind the last.
    fn missing_from(&self, seq: u64) -> PyResult<Option<Range>> {
        Ok(self.board.segment_from(self.sent(seq)?, self.size))
    }

    /// Takes everything before a byte that has not arrived for lost.
    fn lose_to(&mut self, seq: u64) -> PyResult<()> {
        self.board.lose_to(self.sent(seq)?);
        Ok(())
    }

    /// The first lost segment that does not count as sent again.
    fn next_lost(&self) -> Option<Range> {
        self.board.next_lost()
    }

    /// Lets nothing count as sent again.
    fn begin_repair(&mut self) {
        self.board.begin_repair();
    }

    /// Lets lost segments before a byte count as sent again.
    fn repaired(&mut self, end: u64) -> PyResult<()> {
        self.board.repaired(self.sent(end)?);
        Ok(())
    }

    fn __deepcopy__(&self, _memo: &Bound<'_, PyAny>) -> Flight {
        self.clone()
    }
}

/// What follows from an ack.
#[pyclass(frozen, get_all, module = "spillway.plugins")]
#[derive(Clone, Copy)]
pub struct Reaction {
    /// Whether the congestion controller is told of it.
    tells: bool,
    /// Whether it restarts the timer.
    restarts: bool,
}

#[pymethods]
impl Reaction {
    #[new]
    #[pyo3(signature = (*, tells=true, restarts=true))]
    fn new(tells: bool, restarts: bool) -> Reaction {
        Reaction { tells, restarts }
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __repr__(&self) -> String {
        let text = |flag: bool| if flag { "True" } else { "False" };
        format!("Reaction(tells={}, restarts={})", text(self.tells), text(self.restarts))
    }
}

/// The interval of a class that does not give one.
const NACK_INTERVAL: Time = Time::from_us(500);

/// The facts that hold for all flows, from an object that has not been started.
#[derive(Clone, Copy, Debug)]
struct Facts {
    tells: Tells,
    in_order: Option<InOrderRule>,
}

impl Facts {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Facts> {
        let told = object.getattr("tells")?;
        let tells = match told.extract::<String>().unwrap_or_default().as_str() {
            "packet" => Tells::Packet,
            "ranges" => Tells::Ranges,
            "duplicates" => Tells::Duplicates,
            _ => {
                let expected = "expected \"packet\", \"ranges\" or \"duplicates\"";
                let problem = format!("tells = {}; {expected}", told.repr()?);
                return Err(PyValueError::new_err(problem));
            }
        };
        let interval = object.getattr("nack_interval_ps")?;
        let nack_interval = whole(&interval).map(Time::from_ps).ok_or_else(|| {
            let expected = "expected a whole number, not negative";
            PyValueError::new_err(format!("nack_interval_ps = {interval}; {expected}"))
        })?;
        let rule = InOrderRule { nack_interval, answers_old: flag(object, "answers_old")? };
        let in_order = flag(object, "in_order")?;
        let unused = match (in_order, tells, rule) {
            (true, Tells::Ranges | Tells::Duplicates, _) => "tells means nothing with in_order",
            (false, _, InOrderRule { answers_old: false, .. }) => "answers_old needs in_order",
            (false, _, rule) if rule.nack_interval != NACK_INTERVAL => {
                "nack_interval_ps needs in_order"
            }
            _ => return Ok(Facts { tells, in_order: in_order.then_some(rule) }),
        };
        Err(PyValueError::new_err(unused))
    }
}

/// A plug-in with its parameters, which makes an object for every flow.
#[derive(Debug)]
struct Maker {
    kind: Arc<Kind>,
    values: Py<PyDict>,
    facts: Facts,
    /// An object that has not been started.
    instance: Instance,
}

/// A plug-in for one flow.
#[derive(Clone, Debug)]
struct Running {
    instance: Instance,
    base_rtt: Time,
    /// The most bytes in flight.
    most: u64,
    /// Bytes that were sent again since the last ack or timeout.
    again: u64,
}

/// A recovery: that of a flow, or its settings. If it fails, nothing is sent, and the run ends after
/// this event.
#[derive(Clone, Debug)]
struct PyRecovery {
    maker: Arc<Maker>,
    running: Option<Running>,
}

impl PyRecovery {
    fn instance(&self) -> &Instance {
        self.running.as_ref().map_or(&self.maker.instance, |running| &running.instance)
    }

    /// Tells a hook of something that may make it change what it sees.
    fn tell<A: Arguments, T>(
        &self,
        hook: Hook,
        flight: &mut recovery::Flight,
        arguments: impl FnOnce(Py<Flight>) -> A,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Option<T> {
        if !self.instance().has(hook) {
            return None;
        }
        let view = Python::attach(|py| Py::new(py, Flight::of(flight)));
        // If there is no memory for a view, the run cannot go on.
        let view = view.expect("a Python object can be made");
        let shown = Python::attach(|py| view.clone_ref(py));
        self.instance().call(
            hook,
            |_| Ok(()),
            arguments(shown),
            |answer| {
                let answer_read = read(answer)?;
                let view = view.bind(answer.py()).try_borrow()?;
                (*flight.board, *flight.course) = (view.board.clone(), view.course);
                Ok(answer_read)
            },
        )
    }

    /// The shortest timeout for a base RTT.
    fn shortest(&self, base_rtt: Time) -> Option<Time> {
        let hook = Hook::ShortestTimeoutPs;
        self.instance().call(hook, |_| Ok(()), (base_rtt.ps(),), timeout).flatten()
    }

    /// Refuses to send without end while no time passes.
    fn check(&mut self, flight: &recovery::Flight, (seq, end): Range) -> PyResult<()> {
        let Scoreboard { una, nxt, .. } = *flight.board;
        let again = self.running.as_mut().map(|running| &mut running.again);
        let problem = if seq < nxt {
            let again = again.map_or(0, |again| {
                *again += end - seq;
                *again
            });
            let is_all = again > nxt - una;
            is_all.then(|| {
                format!(
                    "next_segment has returned ({seq}, {end}): since the last ack or timeout all from \
                     una = {una} to nxt = {nxt} has been sent again"
                )
            })
        } else {
            let is_much = flight.window.pace == 0 && end - una > LARGEST_WINDOW;
            is_much.then(|| {
                format!(
                    "next_segment has returned ({seq}, {end}): more than 4 GiB would be \
                     unacknowledged, and there is no pace"
                )
            })
        };
        problem.map_or(Ok(()), |problem| Err(PyValueError::new_err(problem)))
    }
}

impl OwnRecovery for PyRecovery {
    fn tells(&self) -> Tells {
        self.maker.facts.tells
    }

    fn in_order(&self) -> Option<InOrderRule> {
        self.maker.facts.in_order
    }

    fn shortest_rto(&self, base_rtt: Time) -> Option<(Time, &'static str)> {
        self.shortest(base_rtt).map(|rto| (rto, recovery::KEY))
    }

    fn start(&mut self, mss: u64, access: &spillway_transport::Access) {
        let Maker { kind, values, .. } = &*self.maker;
        let mut instance = kind.unbound(access.flow.map(Place::Flow));
        let most = Python::attach(|py| {
            let started = (mss, Access::of(access)).into_pyobject(py)?;
            let object = kind.make(py, &mut instance, "", values.bind(py), Some(started))?;
            let most = object.getattr("max_in_flight")?;
            let bound = if most.is_none() { Some(u64::MAX) } else { whole(&most) };
            let expected = "expected a whole number, not negative, or None";
            bound
                .ok_or_else(|| PyValueError::new_err(format!("max_in_flight = {most}; {expected}")))
        });
        let most = most.unwrap_or_else(|error| {
            instance.fail(error, "its start");
            u64::MAX
        });
        self.running = Some(Running { instance, base_rtt: access.base_rtt, most, again: 0 });
    }

    fn begin_next(&mut self, first: u64, access: &spillway_transport::Access) {
        if let Some(running) = &mut self.running {
            running.again = 0;
            running.instance.place = access.flow.map(Place::Flow);
        }
        self.instance().call(Hook::BeginNext, |_| Ok(()), (first,), nothing);
    }

    fn on_ack(&mut self, flight: &mut recovery::Flight, ack: &OwnAck) -> recovery::Reaction {
        if let Some(running) = &mut self.running {
            running.again = 0;
        }
        let blocks = ack.sack.into_iter().flatten();
        let blocks: Vec<Range> = blocks.filter(|(start, end)| start < end).copied().collect();
        let arguments = |view| (view, ack.seq, ack.acked, blocks);
        let reaction = self.tell(Hook::OnAck, flight, arguments, |answer| {
            let reaction = answer.cast::<Reaction>().map_err(|_| wrong(answer, "a Reaction"))?;
            let &Reaction { tells, restarts } = reaction.get();
            Ok(recovery::Reaction { tells, restarts })
        });
        reaction.unwrap_or(recovery::Reaction { tells: true, restarts: true })
    }

    fn next(&self, flight: &recovery::Flight) -> Option<Range> {
        if flight.board.una >= flight.size {
            return None;
        }
        let read = |answer: &Bound<'_, PyAny>| segment(answer, flight);
        let shown = Flight::of(flight);
        self.instance().call(Hook::NextSegment, |_| Ok(()), (shown,), read).flatten()
    }

    fn on_sent(&mut self, flight: &mut recovery::Flight, segment: Range) {
        if let Err(error) = self.check(flight, segment) {
            self.instance().fail(error, "next_segment");
        }
        let (seq, end) = segment;
        self.tell(Hook::OnSent, flight, |view| (view, seq, end), nothing);
    }

    fn on_stopped(&mut self) {
        self.instance().call(Hook::OnStopped, |_| Ok(()), (), nothing);
    }

    fn rto(&self, flight: &recovery::Flight) -> Option<Time> {
        let shown = Flight::of(flight);
        self.instance().call(Hook::TimeoutPs, |_| Ok(()), (shown,), timeout).flatten()
    }

    fn on_timeout(&mut self, flight: &mut recovery::Flight) -> TimedOut {
        if let Some(running) = &mut self.running {
            running.again = 0;
        }
        let cuts = self.tell(
            Hook::OnTimeout,
            flight,
            |view| (view,),
            |answer| {
                let cuts = answer.cast::<PyBool>().map_err(|_| wrong(answer, "True or False"))?;
                Ok(cuts.is_true())
            },
        );
        TimedOut { cuts: cuts.unwrap_or_default(), ..TimedOut::WAITS }
    }

    fn most(&self) -> u64 {
        self.running.as_ref().map_or(u64::MAX, |running| running.most)
    }

    fn idle_timeout(&self) -> Time {
        let base_rtt = self.running.as_ref().map_or(Time::MAX, |running| running.base_rtt);
        self.shortest(base_rtt).unwrap_or(Time::MAX)
    }
}

/// A timeout that a hook answers.
fn timeout(answer: &Bound<'_, PyAny>) -> PyResult<Option<Time>> {
    if answer.is_none() {
        return Ok(None);
    }
    let ps = whole(answer).filter(|&ps| ps > 0).map(Time::from_ps);
    let expected = "a whole number of picoseconds above 0, or None";
    ps.map(Some).ok_or_else(|| wrong(answer, expected))
}

/// The segment that `next_segment` answers.
fn segment(answer: &Bound<'_, PyAny>, flight: &recovery::Flight) -> PyResult<Option<Range>> {
    let Scoreboard { una, nxt, .. } = *flight.board;
    if answer.is_none() {
        if una < nxt {
            return Ok(None);
        }
        let problem = "next_segment has returned None, but nothing is under way: no ack would ever \
                       come";
        return Err(PyValueError::new_err(problem));
    }
    let expected = "a segment, which is a pair of bytes, or None";
    let (seq, end): Range = answer.extract().map_err(|_| wrong(answer, expected))?;
    let mss = flight.window.mss;
    let problem = if !(una..=nxt).contains(&seq) {
        format!("a segment begins from una = {una} to nxt = {nxt}")
    } else if seq >= flight.size {
        "the flow ends there".into()
    } else if !seq.is_multiple_of(mss) || (seq, end) != flight.from(seq) {
        let (_, whole) = flight.from(seq / mss * mss);
        format!("a segment begins at a multiple of mss = {mss}; the one there ends at {whole}")
    } else {
        return Ok(Some((seq, end)));
    };
    Err(PyValueError::new_err(format!("next_segment has returned ({seq}, {end}): {problem}")))
}

/// A plug-in's class as a kind of loss recovery.
#[derive(Debug)]
pub struct RecoveryKind(pub Arc<Kind>);

impl RecoveryExtension for RecoveryKind {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn read(&self, section: &mut Section) -> Result<Box<dyn OwnRecovery>, SettingsError> {
        let kind = &self.0;
        Python::attach(|py| {
            let values = kind.values(py, section)?;
            let (path, mut instance) = (section.path().to_string(), kind.unbound(None));
            let object = kind.make(py, &mut instance, &path, &values, None);
            match object.and_then(|object| Facts::of(&object)) {
                Ok(facts) => {
                    let (kind, values) = (kind.clone(), values.unbind());
                    let maker = Arc::new(Maker { kind, values, facts, instance });
                    Ok(Box::new(PyRecovery { maker, running: None }) as Box<dyn OwnRecovery>)
                }
                Err(error) => {
                    kind.fail(error);
                    Err(ErrorKind::WrongValue.at(path, format!("{} cannot be made", kind.id())))
                }
            }
        })
    }
}

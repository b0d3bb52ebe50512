//! The answers of hooks, and their meanings.

use super::copying::unchanging;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};
use spillway_settings::nearest_name;
use spillway_switch::aqm::AqmSample;
use spillway_switch::policy::{self, Admission, Victim};
use spillway_switch::{Buffer, DropReason, QueueId};

/// The reasons that a sharing policy may give for a drop.
pub const REASONS: [DropReason; 5] = [
    DropReason::OverThreshold,
    DropReason::BufferFull,
    DropReason::PushedOut,
    DropReason::Predicted,
    DropReason::OverDelay,
];

/// Refuses an arrival, for a reason that is named as in results.
#[pyclass(frozen, module = "spillway.plugins")]
pub struct Drop {
    reason: DropReason,
}

#[pymethods]
impl Drop {
    #[new]
    #[pyo3(signature = (reason="over_threshold"))]
    fn new(reason: &str) -> PyResult<Drop> {
        let known = REASONS.into_iter().find(|known| known.name() == reason);
        let names = REASONS.iter().map(|known| known.name());
        let wrong = || {
            let hint = nearest_name(reason, names);
            PyValueError::new_err(format!("{reason:?} is no reason for a drop; {hint}"))
        };
        known.map(|reason| Drop { reason }).ok_or_else(wrong)
    }

    /// The reason.
    #[getter]
    fn reason(&self) -> &'static str {
        self.reason.name()
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __repr__(&self) -> String {
        format!("Drop({:?})", self.reason.name())
    }
}

/// Pushes out a packet of a queue to make room for an arrival. It is the last packet or, if
/// `first`, the first one or, if `worst`, the one whose flow had the most bytes left when the packet
/// was sent.
#[pyclass(frozen, get_all, module = "spillway.plugins")]
pub struct PushOut {
    /// The queue.
    queue: QueueId,
    /// Whether it is the worst packet instead of the last one.
    worst: bool,
    /// Whether it is the first packet instead of the last one.
    first: bool,
}

#[pymethods]
impl PushOut {
    #[new]
    #[pyo3(signature = (queue, *, worst=false, first=false))]
    fn new(queue: QueueId, worst: bool, first: bool) -> PyResult<PushOut> {
        if worst && first {
            let text = "PushOut: it is either the worst packet or the first one, not both";
            return Err(PyValueError::new_err(text));
        }
        Ok(PushOut { queue, worst, first })
    }

    fn __deepcopy__<'py>(slf: Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf
    }

    fn __repr__(&self) -> String {
        let which = match (self.worst, self.first) {
            (true, _) => ", worst=True",
            (_, true) => ", first=True",
            _ => "",
        };
        format!("PushOut({}{which})", self.queue)
    }
}

/// What happens to a packet: it passes, it is marked, or it is dropped early.
#[pyclass(eq, frozen, rename_all = "SCREAMING_SNAKE_CASE", module = "spillway.plugins")]
#[derive(Clone, Copy, PartialEq)]
pub enum Verdict {
    /// It passes.
    Pass,
    /// It is marked if it is ECN-capable, and passes in any case.
    Mark,
    /// It is marked if it is ECN-capable, else it is dropped.
    MarkOrDrop,
    /// It is dropped.
    Drop,
}

unchanging!(Verdict);

/// The meaning of an answer of `admit`.
pub fn admission(answer: &Bound<'_, PyAny>, buffer: &Buffer) -> PyResult<Admission> {
    if let Ok(admits) = answer.cast::<PyBool>() {
        return Ok(if admits.is_true() {
            Admission::Admit
        } else {
            Admission::Drop(DropReason::OverThreshold)
        });
    }
    if let Ok(drop) = answer.cast::<Drop>() {
        return Ok(Admission::Drop(drop.get().reason));
    }
    let Ok(push_out) = answer.cast::<PushOut>() else {
        return Err(wrong(answer, "True, False, Drop or PushOut"));
    };
    let &PushOut { queue, worst, first } = push_out.get();
    let queues = buffer.queues().len();
    if queue as usize >= queues {
        let text = format!("there is no queue {queue} to push a packet out of: there are {queues}");
        return Err(PyValueError::new_err(text));
    }
    if buffer.packets(queue) == 0 {
        let text = format!("queue {queue} is empty: no packet can be pushed out of it");
        return Err(PyValueError::new_err(text));
    }
    Ok(Admission::PushOut(match (worst, first) {
        (true, _) => Victim::Worst(queue),
        (_, true) => Victim::Head(queue),
        _ => Victim::Tail(queue),
    }))
}

/// The meaning of an answer of `on_arrival` or `on_departure`.
pub fn verdict(answer: &Bound<'_, PyAny>) -> PyResult<policy::Verdict> {
    let verdict = answer.cast::<Verdict>().map_err(|_| wrong(answer, "a Verdict"))?;
    Ok(match verdict.get() {
        Verdict::Pass => policy::Verdict::Pass,
        Verdict::Mark => policy::Verdict::Mark,
        Verdict::MarkOrDrop => policy::Verdict::MarkOrDrop,
        Verdict::Drop => policy::Verdict::Drop,
    })
}

/// The numbers of the table `aqm` that an answer of `sample` may contain.
const NUMBERS: [&str; 8] = [
    "min_bytes",
    "max_bytes",
    "slope_per_mb",
    "max_probability",
    "probability",
    "flows",
    "lambda",
    "utility",
];

/// The meaning of an answer of `sample`: a dict of some of these numbers, or `None`.
pub fn sample(answer: &Bound<'_, PyAny>) -> PyResult<Option<AqmSample>> {
    if answer.is_none() {
        return Ok(None);
    }
    let given = answer.cast::<PyDict>().map_err(|_| wrong(answer, "a dict, or None"))?;
    for (name, _) in given.iter() {
        let name: String = name.extract()?;
        if !NUMBERS.contains(&name.as_str()) {
            let hint = nearest_name(&name, NUMBERS.into_iter());
            return Err(PyValueError::new_err(format!("sample has no {name:?}; {hint}")));
        }
    }
    Ok(Some(AqmSample {
        min_bytes: number_named(given, NUMBERS[0])?,
        max_bytes: number_named(given, NUMBERS[1])?,
        slope_per_mb: number_named(given, NUMBERS[2])?,
        max_probability: number_named(given, NUMBERS[3])?,
        probability: number_named(given, NUMBERS[4])?,
        flows: number_named(given, NUMBERS[5])?,
        lambda: number_named(given, NUMBERS[6])?,
        utility: number_named(given, NUMBERS[7])?,
    }))
}

/// A number of an answer of `sample`, if the answer contains it.
fn number_named<'py, T: FromPyObjectOwned<'py>>(
    given: &Bound<'py, PyDict>,
    name: &str,
) -> PyResult<Option<T>> {
    let Some(value) = given.get_item(name)?.filter(|value| !value.is_none()) else {
        return Ok(None);
    };
    value.extract().map(Some).map_err(|_| wrong(&value, &format!("a number as {name}")))
}

/// Checks that a hook without an answer has returned None.
pub fn nothing(answer: &Bound<'_, PyAny>) -> PyResult<()> {
    if answer.is_none() { Ok(()) } else { Err(wrong(answer, "nothing")) }
}

/// An answer that is a whole number, not negative.
pub fn number(answer: &Bound<'_, PyAny>) -> PyResult<u64> {
    answer.extract().map_err(|_| wrong(answer, "a whole number, not negative"))
}

/// A whole number. `True` and `False` do not count as numbers here.
pub fn whole<T: TryFrom<i64>>(given: &Bound<'_, PyAny>) -> Option<T> {
    let number: i64 = given.extract().ok().filter(|_| !given.is_instance_of::<PyBool>())?;
    T::try_from(number).ok()
}

/// A flag of an object; false if its class has no such flag.
pub fn flag(object: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let Some(given) = object.getattr_opt(name)? else { return Ok(false) };
    let wrong = |_| PyTypeError::new_err(format!("{name} = {given}; expected True or False"));
    given.extract().map_err(wrong)
}

/// The error of an answer that is not what is expected.
pub fn wrong(answer: &Bound<'_, PyAny>, expected: &str) -> PyErr {
    match answer.repr() {
        Ok(text) => PyTypeError::new_err(format!("it has returned {text}; expected {expected}")),
        Err(error) => error,
    }
}

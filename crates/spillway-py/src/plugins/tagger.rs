//! Taggers in Python.

use super::answers::{flag, whole};
use super::copying::unchanging;
use super::instance::{Hook, Instance};
use super::kind::Kind;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyTuple};
use spillway_settings::{ErrorKind, Section, SettingsError};
use spillway_transport::flow::FlowSpec;
use spillway_transport::tagging::{Tagged, Tagger, TaggerExtension};
use std::sync::Arc;

/// A data packet that is to be sent, as a tagger sees it.
#[pyclass(frozen, get_all, module = "spillway.plugins")]
pub struct Packet {
    /// Payload of its flow that comes before it, in bytes. The count begins anew after timeouts
    /// (`resets_after`).
    sent: u64,
    /// Its payload in bytes.
    payload: u32,
    /// With `knows_bounds`: the flow has at least this many bytes. 0 if nothing is known.
    bound: u64,
    /// With `knows_sizes`: payload of the flow in bytes; `None` for a flow that never ends.
    size: Option<u64>,
    /// Retransmission timeouts that its flow has had.
    timeouts: u32,
    /// Whether its flow has been taken back to the best level after timeouts.
    is_reset: bool,
}

unchanging!(Packet);

/// The most levels that a tagger may have.
const MOST: u8 = 64;

/// The facts about a tagger that hold for a whole run.
#[derive(Clone, Copy, Debug)]
struct Facts {
    levels: u8,
    resets_after: Option<u32>,
    knows_bounds: bool,
    knows_sizes: bool,
    overtakes: bool,
}

impl Facts {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Facts> {
        let levels = object.getattr("levels")?;
        let number = whole::<u8>(&levels).filter(|number| (1..=MOST).contains(number));
        let number = number.ok_or_else(|| {
            PyValueError::new_err(format!("levels = {levels} is no number from 1 to {MOST}"))
        })?;
        Ok(Facts {
            levels: number,
            resets_after: timeouts(&object.getattr("resets_after")?)?,
            knows_bounds: flag(object, "knows_bounds")?,
            knows_sizes: flag(object, "knows_sizes")?,
            overtakes: flag(object, "overtakes")?,
        })
    }
}

fn timeouts(given: &Bound<'_, PyAny>) -> PyResult<Option<u32>> {
    if given.is_none() {
        return Ok(None);
    }
    let wrong = || {
        let problem = "expected a whole number above 0, or None for never";
        PyValueError::new_err(format!("resets_after = {given}; {problem}"))
    };
    whole(given).filter(|&number| number > 0).map(Some).ok_or_else(wrong)
}

/// A tagger. If it fails, a packet has the best level, and the run ends after this event.
#[derive(Debug)]
struct PyTagger {
    instance: Instance,
    facts: Facts,
}

impl Tagger for PyTagger {
    fn levels(&self) -> u8 {
        self.facts.levels
    }

    fn level(&self, packet: &Tagged) -> u8 {
        let Facts { levels, knows_bounds, knows_sizes, .. } = self.facts;
        let told = Packet {
            sent: packet.sent,
            payload: packet.payload,
            bound: if knows_bounds { packet.bound } else { 0 },
            size: (knows_sizes && packet.size != FlowSpec::ENDLESS).then_some(packet.size),
            timeouts: packet.timeouts,
            is_reset: packet.is_reset,
        };
        let read = |answer: &Bound<'_, PyAny>| level_of(answer, levels);
        self.instance.call(Hook::Level, |_| Ok(()), (told,), read).unwrap_or(1)
    }

    fn resets_after(&self) -> Option<u32> {
        self.facts.resets_after
    }

    fn knows_bounds(&self) -> bool {
        self.facts.knows_bounds
    }

    fn overtakes(&self) -> bool {
        self.facts.overtakes
    }
}

fn level_of(answer: &Bound<'_, PyAny>, levels: u8) -> PyResult<u8> {
    let is_number = answer.is_instance_of::<PyInt>() && !answer.is_instance_of::<PyBool>();
    if !is_number {
        let problem = format!("level returns a whole number, not {}", answer.repr()?);
        return Err(PyTypeError::new_err(problem));
    }
    let level = answer.extract::<u8>().ok().filter(|level| (1..=levels).contains(level));
    let problem = || format!("level has returned {answer}, which is not from 1 to {levels}");
    level.ok_or_else(|| PyValueError::new_err(problem()))
}

/// A plug-in's class as a kind of tagger.
#[derive(Debug)]
pub struct TaggerKind(pub Arc<Kind>);

impl TaggerExtension for TaggerKind {
    fn id(&self) -> &str {
        self.0.id()
    }

    fn read(&self, section: &mut Section) -> Result<Arc<dyn Tagger>, SettingsError> {
        Python::attach(|py| {
            let values = self.0.values(py, section)?;
            let (path, mut instance) = (section.path().to_string(), self.0.unbound(None));
            let object = self.0.make(py, &mut instance, &path, &values, Some(PyTuple::empty(py)));
            match object.and_then(|object| Facts::of(&object)) {
                Ok(facts) => Ok(Arc::new(PyTagger { instance, facts }) as Arc<dyn Tagger>),
                Err(error) => {
                    self.0.fail(error);
                    Err(ErrorKind::WrongValue.at(path, format!("{} cannot be made", self.0.id())))
                }
            }
        })
    }
}

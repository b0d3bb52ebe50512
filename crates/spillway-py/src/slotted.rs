//! The slotted model: arrivals as columns, and runs without the interpreter.

use crate::catalogue::row;
use crate::column::Column;
use crate::errors;
use crate::scenario::table_of;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use serde_json::{Value, json};
use spillway_settings::{ErrorKind, Section};
use spillway_slotted as model;
use spillway_slotted::generators::{GENERATORS, Generator, Setting};
use spillway_switch::sharing::{Count, Sharing};
use std::collections::BTreeMap;

/// A sequence of arrivals.
#[pyclass(frozen, module = "spillway._core")]
pub struct Arrivals(model::Arrivals);

#[pymethods]
impl Arrivals {
    /// Makes a sequence from the slot and the port of every packet, in order, and the number of
    /// slots.
    #[new]
    fn new(
        py: Python<'_>,
        ports: u32,
        slot: PyBuffer<u64>,
        port: PyBuffer<u32>,
        slots: u64,
    ) -> PyResult<Arrivals> {
        let (slot, port) = (slot.to_vec(py)?, port.to_vec(py)?);
        let made = py.detach(|| model::Arrivals::of_columns(ports, &slot, &port, slots));
        let wrong = |error: model::ArrivalsError| ErrorKind::WrongValue.at("", error.to_string());
        made.map(Arrivals).map_err(|error| errors::wrong_setting(py, wrong(error)))
    }

    /// The sequence that a generator makes with these keys.
    #[staticmethod]
    fn generate(
        py: Python<'_>,
        id: &str,
        given: &Bound<'_, PyAny>,
        ports: u32,
        buffer: u64,
        seed: u64,
    ) -> PyResult<Arrivals> {
        let section = Section::new(id, table_of(id, given, 0)?);
        let generator = Generator::named(id, "");
        let make = generator.and_then(|g| g.read(section, Setting { ports, buffer, seed }));
        let make = make.map_err(|error| errors::wrong_setting(py, error))?;
        Ok(Arrivals(py.detach(make)))
    }

    /// The number of ports (N).
    #[getter]
    fn ports(&self) -> u32 {
        self.0.ports()
    }

    /// The number of slots.
    #[getter]
    fn slots(&self) -> usize {
        self.0.slot_count()
    }

    /// The slot of every packet.
    #[getter]
    fn slot(&self, py: Python<'_>) -> Column {
        py.detach(|| {
            let slots = (0u64..).zip(self.0.slots());
            let numbers = slots.flat_map(|(slot, packets)| packets.map(move |_| slot));
            Column::of(numbers.collect::<Vec<_>>())
        })
    }

    /// The port of every packet.
    #[getter]
    fn port(&self) -> Column {
        Column::of(self.0.packets().to_vec())
    }

    fn __len__(&self) -> usize {
        self.0.packets().len()
    }
}

/// Every generator with its parameters and its source, as JSON.
#[pyfunction]
pub fn generators() -> String {
    let generator = |generator: &Generator| {
        let Generator { id, summary, citation, against, .. } = *generator;
        let mut listed = row(id, summary, citation, &generator.keys());
        listed["against"] = json!(against);
        listed
    };
    GENERATORS.iter().map(generator).collect::<Value>().to_string()
}

/// The limit of OPT / ALG under the policy against which a generator is built; None for other
/// generators.
#[pyfunction]
pub fn limit(py: Python<'_>, id: &str, ports: u32, buffer: u64) -> PyResult<Option<f64>> {
    let generator = Generator::named(id, "").map_err(|error| errors::wrong_setting(py, error))?;
    Ok(generator.limit.map(|limit| limit(ports, buffer)))
}

/// Packets sent, packets lost by reason, whether each packet was lost, and the policy's counts.
type Outcome = (u64, BTreeMap<&'static str, u64>, Column, Vec<Count>);

/// Runs a policy with these keys. A policy with an oracle may be given a prediction for every
/// packet in place of the oracle.
#[pyfunction]
pub fn slotted_run(
    py: Python<'_>,
    arrivals: &Arrivals,
    buffer: u64,
    id: &str,
    given: &Bound<'_, PyAny>,
    seed: u64,
    predictions: Option<PyBuffer<u8>>,
) -> PyResult<Outcome> {
    let arrivals = &arrivals.0;
    let mut section = Section::new(id, table_of(id, given, 0)?);
    let predictions = predictions.map(|labels| flags(py, &labels)).transpose()?;
    let setting = Setting { ports: arrivals.ports(), buffer, seed };
    let read = model::read_policy(id, &mut section, setting, predictions);
    let policy = read.and_then(|policy| section.finish().map(|_| policy));
    let mut policy = policy.map_err(|error| errors::wrong_setting(py, error))?;
    let outcome = py.detach(|| model::run_policy(&mut policy, buffer, arrivals));
    let drops = outcome.drops.iter().map(|(reason, &n)| (reason.name(), n)).collect();
    let dropped: Vec<u8> = outcome.dropped.iter().map(|&dropped| dropped.into()).collect();
    Ok((outcome.transmitted, drops, Column::of(dropped), policy.counters()))
}

/// The most packets that any policy could have sent.
#[pyfunction]
pub fn slotted_optimum(py: Python<'_>, arrivals: &Arrivals, buffer: u64) -> u64 {
    py.detach(|| model::optimum(buffer, &arrivals.0))
}

/// LQD's throughput, FollowLQD's throughput without the packets predicted as drops, their ratio
/// eta, and its upper bound by Theorem 2. Then true and false positives, and true and false
/// negatives.
#[pyfunction]
pub fn prediction_error(
    py: Python<'_>,
    arrivals: &Arrivals,
    buffer: u64,
    predicted: PyBuffer<u8>,
    rule: &Bound<'_, PyAny>,
) -> PyResult<(u64, u64, f64, f64, [u64; 4])> {
    let (predicted, rule) = (flags(py, &predicted)?, table_of("rule", rule, 0)?);
    let found = py.detach(|| model::prediction_error(buffer, &arrivals.0, &predicted, &rule));
    let found = found.map_err(|error| errors::wrong_setting(py, error))?;
    let confusion = found.confusion;
    let counts = [
        confusion.true_positives,
        confusion.false_positives,
        confusion.true_negatives,
        confusion.false_negatives,
    ];
    let bound = confusion.eta_bound(arrivals.0.ports());
    Ok((found.lqd, found.follow_lqd, found.eta, bound, counts))
}

/// These labels, each flipped with this probability.
#[pyfunction]
pub fn flipped(
    py: Python<'_>,
    labels: PyBuffer<u8>,
    probability: f64,
    seed: u64,
) -> PyResult<Column> {
    let labels = flags(py, &labels)?;
    let flipped = py.detach(|| model::flipped(&labels, probability, seed));
    Ok(Column::of(flipped.into_iter().map(u8::from).collect::<Vec<_>>()))
}

fn flags(py: Python<'_>, labels: &PyBuffer<u8>) -> PyResult<Vec<bool>> {
    Ok(labels.to_vec(py)?.into_iter().map(|label| label != 0).collect())
}

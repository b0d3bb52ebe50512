//! Flows that cross the border: lists that Python has read, and the flows of a scenario.

use crate::column::{self, NameList};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spillway_net::record::SpecTable;
use spillway_traffic::{FlowColumns, Merge, Traffic};
use std::sync::{Arc, Mutex, PoisonError};

/// A list of flows from a dict of arrays. In optional columns, negative numbers stand for absent
/// values. `class` is a pair: indices, and names. `after` is a pair too: how many flows each flow
/// waits for, and the numbers of these flows.
pub fn columns_of(given: &Bound<'_, PyDict>) -> PyResult<FlowColumns> {
    let start_ps = numbers(given, "start_ps")?;
    Ok(FlowColumns {
        src: required(given, "src")?,
        dst: required(given, "dst")?,
        size_bytes: required(given, "size_bytes")?,
        start_ns: match start_ps {
            Some(_) => Vec::new(),
            None => required(given, "start_ns")?,
        },
        start_ps,
        class: classes(given)?,
        priority: optional(given, "priority")?,
        path: optional(given, "path")?,
        ack_path: optional(given, "ack_path")?,
        query_id: optional(given, "query_id")?,
        bound_bytes: optional(given, "bound_bytes")?,
        after: after(given)?,
        delay_ns: optional(given, "delay_ns")?,
        job: optional(given, "job")?,
    })
}

/// Columns of numbers from a list of arrays.
pub fn numbers_of(given: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<f64>>> {
    let arrays: Vec<PyBuffer<f64>> = given.extract()?;
    arrays.iter().map(|array| array.to_vec(given.py())).collect()
}

fn required<T: Element>(given: &Bound<'_, PyDict>, name: &'static str) -> PyResult<Vec<T>> {
    numbers(given, name)?.ok_or_else(|| PyKeyError::new_err(name))
}

fn numbers<T: Element>(given: &Bound<'_, PyDict>, name: &str) -> PyResult<Option<Vec<T>>> {
    match given.get_item(name)? {
        None => Ok(None),
        Some(array) => PyBuffer::<T>::get(&array)?.to_vec(given.py()).map(Some),
    }
}

fn optional<T: TryFrom<i64>>(
    given: &Bound<'_, PyDict>,
    name: &str,
) -> PyResult<Option<Vec<Option<T>>>> {
    let numbers = numbers::<i64>(given, name)?;
    Ok(numbers.map(|list| list.into_iter().map(|n| T::try_from(n).ok()).collect()))
}

fn classes(given: &Bound<'_, PyDict>) -> PyResult<Option<Vec<Arc<str>>>> {
    let Some(pair) = given.get_item("class")? else { return Ok(None) };
    let (places, names): (Bound<'_, PyAny>, Vec<String>) = pair.extract()?;
    let places = PyBuffer::<u32>::get(&places)?.to_vec(given.py())?;
    let names: Vec<Arc<str>> = names.into_iter().map(Arc::from).collect();
    let name = |place: u32| names.get(place as usize).cloned().unwrap_or_default();
    Ok(Some(places.into_iter().map(name).collect()))
}

fn after(given: &Bound<'_, PyDict>) -> PyResult<Option<Vec<Vec<u32>>>> {
    let Some(pair) = given.get_item("after")? else { return Ok(None) };
    let (numbers, others): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
    let numbers = PyBuffer::<u32>::get(&numbers)?.to_vec(given.py())?;
    let others = PyBuffer::<u32>::get(&others)?.to_vec(given.py())?;
    let mut rest = others.into_iter();
    let of_row = |&number: &u32| rest.by_ref().take(number as usize).collect();
    Ok(Some(numbers.iter().map(of_row).collect()))
}

/// The flows of a scenario, from the first.
#[pyclass(frozen, module = "spillway._core")]
pub struct Flows {
    flows: Mutex<Merge<spillway_traffic::Flows>>,
    classes: NameList,
    /// Whether some flows have bounds: a further column.
    has_bounds: bool,
}

impl Flows {
    pub fn of(traffic: &Traffic) -> Flows {
        let classes = traffic.classes.iter().cloned().collect();
        let has_bounds = traffic.sources.iter().any(spillway_traffic::Source::has_bounds);
        Flows { flows: Mutex::new(traffic.flows()), classes, has_bounds }
    }
}

#[pymethods]
impl Flows {
    /// The next flows as columns: at most `most`, and none when there are no more.
    fn take<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyDict>> {
        let columns = py.detach(|| {
            let mut flows = self.flows.lock().unwrap_or_else(PoisonError::into_inner);
            let mut columns = SpecTable::of(flows.by_ref().take(most)).columns();
            columns.retain(|column| self.has_bounds || column.name != "bound_bytes");
            columns
        });
        column::table(py, columns, |_| self.classes.clone())
    }
}

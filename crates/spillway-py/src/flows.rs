//! Flows across the border: lists that Python has read, and flows that a scenario would send.

use crate::column::{Column, Columns, Names};
use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spillway_net::flow::FlowSpec;
use spillway_net::traffic::{self, FlowColumns, Merge, Traffic};
use std::sync::{Mutex, PoisonError};

/// A list of flows out of a dict of arrays. Where an optional column has no value it is negative;
/// `class` is a pair of places and names.
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
    })
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

fn classes(given: &Bound<'_, PyDict>) -> PyResult<Option<Vec<String>>> {
    let Some(pair) = given.get_item("class")? else { return Ok(None) };
    let (places, names): (Bound<'_, PyAny>, Vec<String>) = pair.extract()?;
    let places = PyBuffer::<u32>::get(&places)?.to_vec(given.py())?;
    let name = |place: u32| names.get(place as usize).cloned().unwrap_or_default();
    Ok(Some(places.into_iter().map(name).collect()))
}

/// The flows that a scenario would send, from the first.
#[pyclass(frozen, module = "spillway._core")]
pub struct Flows {
    flows: Mutex<Merge<traffic::Flows>>,
    classes: Names,
}

impl Flows {
    pub fn of(traffic: &Traffic) -> Flows {
        let classes = traffic.classes.iter().cloned().collect();
        Flows { flows: Mutex::new(traffic.flows()), classes }
    }
}

#[pymethods]
impl Flows {
    /// The next flows as columns: at most so many, none when there are no more.
    fn take<'py>(&self, py: Python<'py>, most: usize) -> PyResult<Bound<'py, PyDict>> {
        let flows: Vec<FlowSpec> = py.detach(|| {
            let mut flows = self.flows.lock().unwrap_or_else(PoisonError::into_inner);
            flows.by_ref().take(most).collect()
        });
        fn each<T>(flows: &[FlowSpec], value: impl Fn(&FlowSpec) -> T) -> Vec<T> {
            flows.iter().map(value).collect()
        }
        let maybe = |name, value: &dyn Fn(&FlowSpec) -> Option<u32>, columns: &Columns<'py>| {
            let values = each(&flows, |flow| value(flow).map_or(-1, i64::from));
            columns.put(name, Column::optional(py, values, |n| n < 0)?)
        };
        let size = |flow: &FlowSpec| if flow.size == FlowSpec::ENDLESS { 0 } else { flow.size };
        let class = Column::of(each(&flows, |flow| flow.class)).named(&self.classes);
        let columns = Columns::new(py);
        columns.put("src", Column::of(each(&flows, |flow| flow.src)))?;
        columns.put("dst", Column::of(each(&flows, |flow| flow.dst)))?;
        columns.put("size_bytes", Column::of(each(&flows, size)))?;
        columns.put("start_ns", Column::of(each(&flows, |flow| flow.start.ps() / 1000)))?;
        maybe("path", &|flow| flow.path, &columns)?;
        maybe("ack_path", &|flow| flow.ack_path, &columns)?;
        columns.put("class", class)?;
        maybe("priority", &|flow| flow.priority.map(u32::from), &columns)?;
        maybe("query_id", &|flow| flow.query, &columns)?;
        columns.put("start_ps", Column::of(each(&flows, |flow| flow.start.ps())))?;
        Ok(columns.into_dict())
    }
}

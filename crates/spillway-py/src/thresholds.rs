//! What the search for taggers' thresholds takes from the simulator: distributions of sizes, and
//! published thresholds.

use crate::errors;
use pyo3::prelude::*;
use spillway_settings::{Files, Section, Table, Value};
use spillway_traffic::Sizes;
use spillway_transport::tagging;
use std::path::PathBuf;

/// The names of published thresholds, with the thresholds in bytes.
#[pyfunction]
pub fn published_thresholds() -> Vec<(&'static str, Vec<u64>)> {
    tagging::published().collect()
}

/// The points of a distribution, which is given in the form of the key `sizes` of a traffic
/// section. A point is a size in bytes, and the probability of a size up to it. Files are relative
/// to `folder`.
#[pyfunction]
pub fn size_points(py: Python<'_>, sizes: &str, folder: PathBuf) -> PyResult<Vec<(f64, f64)>> {
    let given = Table::from_iter([("sizes".to_owned(), Value::String(sizes.to_owned()))]);
    let mut section = Section::new("", given);
    let read = Sizes::read(&mut section, &Files::of(folder));
    read.map(|sizes| sizes.points()).map_err(|error| errors::wrong_setting(py, error))
}

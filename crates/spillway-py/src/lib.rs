//! The module `spillway._core`: the part of the simulator that Python needs, and no more.
//!
//! Documents cross the border as JSON or TOML text. Tables cross it as buffers that Python reads in
//! place.

mod catalogue;
mod column;
mod errors;
mod flows;
mod forest;
mod plugins;
mod replay;
mod scenario;
mod simulation;
mod sketch;
mod slotted;
mod thresholds;

use pyo3::prelude::*;
use std::collections::BTreeMap;

/// The bundled scenarios, by name.
const BUNDLED: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/bundled.rs"));

/// The names and texts of the bundled scenarios.
#[pyfunction]
fn bundled() -> Vec<(&'static str, &'static str)> {
    BUNDLED.to_vec()
}

/// The bundled models: the bytes of their files, by name.
#[pyfunction]
fn models() -> BTreeMap<&'static str, &'static [u8]> {
    spillway_switch::sharing::MODELS.into()
}

/// The bundled agents of ACC: the bytes of their files, by name.
#[pyfunction]
fn agents() -> BTreeMap<&'static str, &'static [u8]> {
    spillway_switch::aqm::acc::MODELS.into()
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<column::Column>()?;
    module.add_class::<flows::Flows>()?;
    module.add_class::<forest::Forest>()?;
    module.add_class::<forest::Regressor>()?;
    module.add_class::<scenario::Scenario>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_class::<slotted::Arrivals>()?;
    plugins::add_classes(module)?;
    module.add_function(wrap_pyfunction!(catalogue::catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::results, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::moved_keys, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::result_schema, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue::schema, module)?)?;
    module.add_function(wrap_pyfunction!(agents, module)?)?;
    module.add_function(wrap_pyfunction!(models, module)?)?;
    module.add_function(wrap_pyfunction!(replay::replayed_marks, module)?)?;
    module.add_function(wrap_pyfunction!(sketch::counted_flows, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::assign, module)?)?;
    module.add_function(wrap_pyfunction!(scenario::picoseconds, module)?)?;
    module.add_function(wrap_pyfunction!(slotted::generators, module)?)?;
    module.add_function(wrap_pyfunction!(slotted::limit, module)?)?;
    module.add_function(wrap_pyfunction!(slotted::slotted_run, module)?)?;
    module.add_function(wrap_pyfunction!(slotted::slotted_optimum, module)?)?;
    module.add_function(wrap_pyfunction!(slotted::prediction_error, module)?)?;
    module.add_function(wrap_pyfunction!(slotted::flipped, module)?)?;
    module.add("PUBLISHED_PACKET", spillway_transport::tagging::PUBLISHED_PACKET)?;
    module.add_function(wrap_pyfunction!(thresholds::published_thresholds, module)?)?;
    module.add_function(wrap_pyfunction!(thresholds::size_points, module)?)?;
    module.add_function(wrap_pyfunction!(bundled, module)?)
}

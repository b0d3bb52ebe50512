//! Forests, evaluated for those who train them exactly as in a run.

use crate::column::Column;
use crate::errors;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

/// A forest, read from the bytes of a model file.
#[pyclass(frozen, module = "spillway._core")]
pub struct Forest(spillway_forest::Forest);

#[pymethods]
impl Forest {
    #[new]
    fn new(py: Python<'_>, content: &[u8]) -> PyResult<Forest> {
        let read = spillway_forest::Forest::read(content);
        read.map(Forest).map_err(|error| errors::wrong_file(py, &error))
    }

    /// The names of its features, in order.
    #[getter]
    fn features(&self) -> Vec<String> {
        self.0.features().to_vec()
    }

    /// The number of trees.
    #[getter]
    fn trees(&self) -> usize {
        self.0.trees()
    }

    /// The longest path from a root to a leaf.
    #[getter]
    fn depth(&self) -> u32 {
        self.0.depth()
    }

    /// A value of the file's metadata.
    fn metadata(&self, key: &str) -> Option<&str> {
        self.0.metadata(key)
    }

    /// 1 for a drop, else 0, for every row of features; rows follow one another in single
    /// precision.
    fn predict(&self, py: Python<'_>, rows: PyBuffer<f32>) -> PyResult<Column> {
        let values = rows.to_vec(py)?;
        let predicted: Vec<u8> = py.detach(|| {
            let rows = values.chunks_exact(self.0.features().len());
            rows.map(|row| self.0.is_positive(row).into()).collect()
        });
        Ok(Column::of(predicted))
    }
}

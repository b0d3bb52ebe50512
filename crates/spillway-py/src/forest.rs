//! Forests, evaluated exactly as in a run, for the code that trains them.

use crate::column::Column;
use crate::errors;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;

/// A forest that predicts drops, read from the bytes of a model file.
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

    /// 1 for a drop, else 0, for every row of features. The rows follow one another, in single
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

/// A forest that bounds sizes, read from the bytes of a model file.
#[pyclass(frozen, module = "spillway._core")]
pub struct Regressor(spillway_forest::Regressor);

#[pymethods]
impl Regressor {
    #[new]
    fn new(py: Python<'_>, content: &[u8]) -> PyResult<Regressor> {
        let read = spillway_forest::Regressor::read(content);
        read.map(Regressor).map_err(|error| errors::wrong_file(py, &error))
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

    /// The lower bound in bytes for every row of features. The rows follow one another.
    fn bounds(&self, py: Python<'_>, rows: PyBuffer<f64>) -> PyResult<Column> {
        self.of_each(py, &rows, |scaled| self.0.bound(scaled)).map(Column::of)
    }

    /// The predicted logarithm of the size in bytes for every row of features.
    fn log_sizes(&self, py: Python<'_>, rows: PyBuffer<f64>) -> PyResult<Column> {
        self.of_each(py, &rows, |scaled| self.0.log_size(scaled)).map(Column::of)
    }

    /// The predicted size in bytes for every row of features.
    fn sizes(&self, py: Python<'_>, rows: PyBuffer<f64>) -> PyResult<Column> {
        self.of_each(py, &rows, |scaled| self.0.size(scaled)).map(Column::of)
    }
}

impl Regressor {
    /// The answers to all rows, each scaled as the trees expect it.
    fn of_each<T: Send>(
        &self,
        py: Python<'_>,
        rows: &PyBuffer<f64>,
        answer: impl Fn(&[f32]) -> T + Send + Sync,
    ) -> PyResult<Vec<T>> {
        let values = rows.to_vec(py)?;
        let rows = || values.chunks_exact(self.0.features().len());
        Ok(py.detach(|| rows().map(|row| answer(&self.0.scaled(row))).collect()))
    }
}

//! Columns that Python reads in place: numbers, through the buffer protocol.

// The buffer protocol passes pointers. They stay valid because a column never changes or moves, and
// every view of it keeps it alive.
#![allow(unsafe_code)]

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use spillway_net::record::column::{self, Number, Values};
use spillway_net::record::names::Names;
use std::ffi::{CStr, c_int, c_void};
use std::sync::Arc;

/// The address, length and type of a column's numbers.
struct Memory {
    start: *const c_void,
    item: ffi::Py_ssize_t,
    length: ffi::Py_ssize_t,
    format: &'static CStr,
    name: &'static str,
}

/// The memory that holds the numbers of a column.
fn memory(values: &Values) -> Memory {
    fn of<T: Number>(values: &[T], format: &'static CStr) -> Memory {
        Memory {
            start: values.as_ptr().cast(),
            item: size_of::<T>() as ffi::Py_ssize_t,
            length: values.len() as ffi::Py_ssize_t,
            format,
            name: T::NAME,
        }
    }
    match values {
        Values::U8(values) => of(values, c"B"),
        Values::U16(values) => of(values, c"H"),
        Values::U32(values) => of(values, c"I"),
        Values::U64(values) => of(values, c"Q"),
        Values::I16(values) => of(values, c"h"),
        Values::I32(values) => of(values, c"i"),
        Values::I64(values) => of(values, c"q"),
        Values::F64(values) => of(values, c"d"),
    }
}

/// A column of a table: numbers, or indices into a list of names.
#[pyclass(frozen, module = "spillway._core")]
pub struct Column {
    values: Values,
    /// The shape and the stride, at addresses to which views can point.
    shape: [ffi::Py_ssize_t; 1],
    strides: [ffi::Py_ssize_t; 1],
    /// A bit for every value, the lowest first: whether it is present.
    validity: Option<Py<Column>>,
    null_count: usize,
    names: Option<NameList>,
}

/// The names that the numbers of a column stand for.
pub type NameList = Arc<[String]>;

impl Column {
    /// A column without absent values.
    pub fn of(values: impl Into<Values>) -> Column {
        let values = values.into();
        let memory = memory(&values);
        let (shape, strides) = ([memory.length], [memory.item]);
        Column { values, shape, strides, validity: None, null_count: 0, names: None }
    }

    /// A column of a table, with the names that its numbers stand for.
    pub fn taken(
        py: Python<'_>,
        taken: column::Column,
        names_of: impl Fn(Names) -> NameList,
    ) -> PyResult<Column> {
        let mut column = Column::of(taken.values);
        if let Some((present, absent)) = taken.absent {
            column.null_count = absent;
            column.validity = Some(Py::new(py, Column::of(present))?);
        }
        column.names = taken.names.map(names_of);
        Ok(column)
    }
}

#[pymethods]
impl Column {
    /// The Arrow name of the type of its numbers.
    #[getter]
    fn dtype(&self) -> &'static str {
        memory(&self.values).name
    }

    /// A bitmap of the values that are present; None if all are.
    #[getter]
    fn validity(&self, py: Python<'_>) -> Option<Py<Column>> {
        self.validity.as_ref().map(|validity| validity.clone_ref(py))
    }

    /// The number of absent values.
    #[getter]
    fn null_count(&self) -> usize {
        self.null_count
    }

    /// The names that its numbers stand for, by index.
    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.names.as_ref().map(|names| names.to_vec())
    }

    fn __len__(&self) -> usize {
        self.shape[0] as usize
    }

    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("no view to fill in"));
        }
        // SAFETY: Python passes a view to be filled in, which no other code uses.
        let view = unsafe { &mut *view };
        view.obj = std::ptr::null_mut();
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("a column is read-only"));
        }
        let column = slf.get();
        let memory = memory(&column.values);
        let asked = |flag: c_int| flags & flag == flag;
        view.buf = memory.start.cast_mut();
        view.len = memory.length * memory.item;
        view.readonly = 1;
        view.itemsize = memory.item;
        view.format = if asked(ffi::PyBUF_FORMAT) {
            memory.format.as_ptr().cast_mut()
        } else {
            std::ptr::null_mut()
        };
        view.ndim = 1;
        view.shape = if asked(ffi::PyBUF_ND) {
            column.shape.as_ptr().cast_mut()
        } else {
            std::ptr::null_mut()
        };
        view.strides = if asked(ffi::PyBUF_STRIDES) {
            column.strides.as_ptr().cast_mut()
        } else {
            std::ptr::null_mut()
        };
        view.suboffsets = std::ptr::null_mut();
        view.internal = std::ptr::null_mut();
        // From here on the view owns the column, which keeps the memory in place.
        view.obj = slf.into_any().into_ptr();
        Ok(())
    }
}

/// A table as Python gets it: columns by name.
pub fn table<'py>(
    py: Python<'py>,
    columns: Vec<column::Column>,
    names_of: impl Fn(Names) -> NameList,
) -> PyResult<Bound<'py, PyDict>> {
    let table = PyDict::new(py);
    for column in columns {
        table.set_item(column.name, Column::taken(py, column, &names_of)?)?;
    }
    Ok(table)
}

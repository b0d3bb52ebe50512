//! Columns that Python reads where they are: numbers under the buffer protocol.

// The buffer protocol hands out pointers. A column never changes and never moves, and whoever has
// a view of it keeps it alive.
#![allow(unsafe_code)]

use pyo3::exceptions::PyBufferError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ffi::{CStr, c_int, c_void};
use std::sync::Arc;

macro_rules! values {
    ($($variant:ident $type:ty: $name:literal $format:literal),+ $(,)?) => {
        /// Numbers of one type.
        pub enum Values {
            $(
                #[doc = $name]
                $variant(Vec<$type>),
            )+
        }

        impl Values {
            fn memory(&self) -> Memory {
                match self {
                    $(Values::$variant(values) => Memory {
                        start: values.as_ptr().cast(),
                        item: size_of::<$type>() as ffi::Py_ssize_t,
                        length: values.len() as ffi::Py_ssize_t,
                        format: $format,
                        name: $name,
                    },)+
                }
            }
        }

        $(impl From<Vec<$type>> for Values {
            fn from(values: Vec<$type>) -> Values {
                Values::$variant(values)
            }
        })+
    };
}

values! {
    U8 u8: "uint8" c"B",
    U16 u16: "uint16" c"H",
    U32 u32: "uint32" c"I",
    U64 u64: "uint64" c"Q",
    I16 i16: "int16" c"h",
    I32 i32: "int32" c"i",
    I64 i64: "int64" c"q",
    F64 f64: "double" c"d",
}

/// Where numbers are, and what they are.
struct Memory {
    start: *const c_void,
    item: ffi::Py_ssize_t,
    length: ffi::Py_ssize_t,
    format: &'static CStr,
    name: &'static str,
}

/// A column of a table: numbers, or places in a list of names.
#[pyclass(frozen, module = "spillway._core")]
pub struct Column {
    values: Values,
    /// Shape and stride, where views can point to them.
    shape: [ffi::Py_ssize_t; 1],
    strides: [ffi::Py_ssize_t; 1],
    /// A bit for every value, the lowest first: whether it is there.
    validity: Option<Py<Column>>,
    null_count: usize,
    names: Option<Names>,
}

/// What the numbers of a column stand for.
pub type Names = Arc<[String]>;

impl Column {
    /// A column in which every value is there.
    pub fn of(values: impl Into<Values>) -> Column {
        let values = values.into();
        let memory = values.memory();
        let (shape, strides) = ([memory.length], [memory.item]);
        Column { values, shape, strides, validity: None, null_count: 0, names: None }
    }

    /// A column in which some values stand for nothing.
    pub fn optional<T: Copy>(
        py: Python<'_>,
        values: Vec<T>,
        is_missing: impl Fn(T) -> bool,
    ) -> PyResult<Column>
    where
        Values: From<Vec<T>>,
    {
        let mut bits = vec![0u8; values.len().div_ceil(8)];
        let mut missing = 0;
        for (place, &value) in values.iter().enumerate() {
            match is_missing(value) {
                true => missing += 1,
                false => bits[place / 8] |= 1 << (place % 8),
            }
        }
        let mut column = Column::of(values);
        if missing > 0 {
            column.null_count = missing;
            column.validity = Some(Py::new(py, Column::of(bits))?);
        }
        Ok(column)
    }

    /// The same, its numbers being places in a list of names.
    pub fn named(mut self, names: &Names) -> Column {
        self.names = Some(names.clone());
        self
    }
}

#[pymethods]
impl Column {
    /// The Arrow name of the type of its numbers.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.values.memory().name
    }

    /// A bitmap of the values that are there; none if all are.
    #[getter]
    fn validity(&self, py: Python<'_>) -> Option<Py<Column>> {
        self.validity.as_ref().map(|validity| validity.clone_ref(py))
    }

    /// How many values are not there.
    #[getter]
    fn null_count(&self) -> usize {
        self.null_count
    }

    /// What its numbers stand for, by place.
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
        // SAFETY: Python gives a view to fill in; it is its only user.
        let view = unsafe { &mut *view };
        view.obj = std::ptr::null_mut();
        if flags & ffi::PyBUF_WRITABLE == ffi::PyBUF_WRITABLE {
            return Err(PyBufferError::new_err("a column is read-only"));
        }
        let column = slf.get();
        let memory = column.values.memory();
        let asked = |flag: c_int| flags & flag == flag;
        view.buf = memory.start.cast_mut();
        view.len = memory.length * memory.item;
        view.readonly = 1;
        view.itemsize = memory.item;
        view.format = match asked(ffi::PyBUF_FORMAT) {
            true => memory.format.as_ptr().cast_mut(),
            false => std::ptr::null_mut(),
        };
        view.ndim = 1;
        view.shape = match asked(ffi::PyBUF_ND) {
            true => column.shape.as_ptr().cast_mut(),
            false => std::ptr::null_mut(),
        };
        view.strides = match asked(ffi::PyBUF_STRIDES) {
            true => column.strides.as_ptr().cast_mut(),
            false => std::ptr::null_mut(),
        };
        view.suboffsets = std::ptr::null_mut();
        view.internal = std::ptr::null_mut();
        // The view owns the column from here on: that keeps the memory where it is.
        view.obj = slf.into_any().into_ptr();
        Ok(())
    }
}

/// The columns of a table, by name.
pub struct Columns<'py>(Bound<'py, PyDict>);

impl<'py> Columns<'py> {
    pub fn new(py: Python<'py>) -> Columns<'py> {
        Columns(PyDict::new(py))
    }

    /// The table as Python gets it.
    pub fn into_dict(self) -> Bound<'py, PyDict> {
        self.0
    }

    /// Adds a column.
    pub fn put(&self, name: &str, column: Column) -> PyResult<()> {
        self.0.set_item(name, column)
    }
}

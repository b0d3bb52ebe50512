//! Copies of plug-ins, for copies of a run.
//!
//! An object is copied as Python's `copy.deepcopy` does it. If several objects of a run share
//! another object, such as a model, their copies share its copy. A copy of a run has a first
//! exception of its own.

use super::failure::Failure;
use super::instance::Instance;
use pyo3::PyClass;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::cell::RefCell;
use std::sync::Arc;

/// A copy of a run that is being made.
struct Making {
    failure: Arc<Failure>,
    /// Copies by the identities of their originals, as `copy.deepcopy` keeps them.
    memo: Py<PyDict>,
}

thread_local! {
    /// The copy that this thread is making.
    static MAKING: RefCell<Option<Making>> = const { RefCell::new(None) };
}

/// Copies a run with its plug-ins. `failure` gets the exceptions of the copies, and the exception
/// of an object that cannot be copied.
pub fn copying<T>(py: Python<'_>, failure: &Arc<Failure>, copy: impl FnOnce() -> T) -> T {
    let memo = PyDict::new(py).unbind();
    MAKING.set(Some(Making { failure: failure.clone(), memo }));
    let made = copy();
    MAKING.set(None);
    made
}

/// Where a plug-in that is being copied leaves exceptions.
pub fn failure() -> Option<Arc<Failure>> {
    MAKING.with_borrow(|making| making.as_ref().map(|making| making.failure.clone()))
}

/// Lets `copy` stand for `original` in everything that is copied afterwards.
pub fn replace<T>(original: &Bound<'_, T>, copy: &Bound<'_, T>) -> PyResult<()> {
    memo(original.py()).set_item(original.as_ptr() as usize, copy.as_any())
}

/// A copy of an object.
pub fn deep<'py>(original: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = original.py();
    py.import("copy")?.call_method1("deepcopy", (original, memo(py)))
}

/// A copy of the view that hooks of an instance are given, for its copy. If it cannot be copied,
/// the exception is kept.
pub fn view<T: PyClass + Clone + Into<PyClassInitializer<T>>>(
    view: &Option<Py<T>>,
    instance: &Instance,
) -> Option<Py<T>> {
    Python::attach(|py| {
        let original = view.as_ref()?.bind(py);
        let copied = original.try_borrow().map_err(PyErr::from);
        let copied = copied.and_then(|view| Bound::new(py, view.clone())).and_then(|copy| {
            replace(original, &copy)?;
            Ok(copy.unbind())
        });
        copied.map_err(|error| instance.fail(error, "copy.deepcopy")).ok()
    })
}

fn memo(py: Python<'_>) -> Bound<'_, PyDict> {
    let making = |making: &Option<Making>| making.as_ref().map(|making| making.memo.clone_ref(py));
    MAKING.with_borrow(making).map_or_else(|| PyDict::new(py), |memo| memo.into_bound(py))
}

/// A copy of an object of these classes is the object itself, since it does not change.
macro_rules! unchanging {
    ($($class:ty),+ $(,)?) => {
        $(
            #[pymethods]
            impl $class {
                fn __deepcopy__<'py>(
                    slf: Bound<'py, Self>,
                    _memo: &Bound<'py, PyAny>,
                ) -> Bound<'py, Self> {
                    slf
                }
            }
        )+
    };
}
pub(super) use unchanging;

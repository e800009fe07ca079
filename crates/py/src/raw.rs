//! The few places where the interpreter and NumPy are asked without a net, because every sprite pays for them in every frame.
//!
//! Together they halve the time of a frame of a hundred sprites. Invariant: a thread that is here is attached to the interpreter
//! and, while it holds something borrowed, runs no Python code.
#![allow(unsafe_code, reason = "measured: a frame of a hundred sprites takes half the time")]

use std::ptr;

use numpy::npyffi::{NPY_ORDER, NPY_TYPES, PY_ARRAY_API, PyArrayObject};
use numpy::{PyArray2, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use pyo3::{Borrowed, ffi};

/// The dictionary in which an object keeps its attributes.
#[inline]
pub(crate) fn attributes<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    // SAFETY: the object is alive; the function returns a new reference, or null with an error set, which is taken.
    let found = unsafe {
        let pointer = ffi::PyObject_GenericGetDict(object.as_ptr(), ptr::null_mut());
        Bound::from_owned_ptr_or_err(object.py(), pointer)
    };
    found.ok()?.cast_into::<PyDict>().ok()
}

/// An attribute, not counted as in use: to be looked at before any Python code runs.
#[inline]
pub(crate) fn field<'a, 'py>(fields: &'a Bound<'py, PyDict>, name: &Bound<'py, PyString>) -> Option<Borrowed<'a, 'py, PyAny>> {
    // SAFETY: both are alive, and the dictionary keeps what it has. A string cannot fail to be hashed or compared, so
    // null means that there is no such entry.
    unsafe { Borrowed::from_ptr_or_opt(fields.py(), ffi::PyDict_GetItemWithError(fields.as_ptr(), name.as_ptr())) }
}

/// A whole number, if the attribute is one: an `int`, or what NumPy and others count with.
#[inline]
pub(crate) fn number<'py>(fields: &Bound<'py, PyDict>, name: &Bound<'py, PyString>) -> Option<i64> {
    let value = field(fields, name)?;
    if value.is_exact_instance_of::<pyo3::types::PyInt>() { value.extract().ok() } else { value.to_owned().extract().ok() }
}

/// The array, if it is one of bytes in two dimensions and of no subclass (masked arrays, matrices), which have rules of
/// their own.
#[inline]
pub(crate) fn bytes<'a, 'py>(array: &'a Bound<'py, PyAny>) -> Option<&'a Bound<'py, PyArray2<i8>>> {
    if !array.is_exact_instance_of::<PyUntypedArray>() {
        return None;
    }
    // SAFETY: it is an array, whose head NumPy lays out like this; the description's first fields are the same in NumPy 1 and 2.
    // With two dimensions of signed bytes, which have no byte order, it is the array that the cast says.
    unsafe {
        let head = array.as_ptr().cast::<PyArrayObject>();
        let is_bytes = (*(*head).fields.descr).fields.type_num == NPY_TYPES::NPY_BYTE as i32;
        ((*head).fields.nd == 2 && is_bytes).then(|| array.cast_unchecked::<PyArray2<i8>>())
    }
}

/// A copy in the same order, of an array that owns its cells; `None` for a view.
pub(crate) fn copied<'py>(array: &Bound<'py, PyArray2<i8>>) -> Option<Bound<'py, PyAny>> {
    let py = array.py();
    let head = array.as_array_ptr();
    // SAFETY: the head is an array's. The function returns a new reference, or null with an error set, which is taken.
    unsafe {
        if !(*head).fields.base.is_null() {
            return None;
        }
        let copy = PY_ARRAY_API.PyArray_NewCopy(py, head, NPY_ORDER::NPY_KEEPORDER);
        Bound::from_owned_ptr_or_err(py, copy).ok()
    }
}

/// An object of a class without its attributes, as `object.__new__` makes it.
///
/// The class has no base in C but `object`.
pub(crate) fn blank<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: this is what `object.__new__` calls for a class of Python. It returns a new reference or sets an error.
    unsafe { Bound::from_owned_ptr_or_err(class.py(), ffi::PyType_GenericAlloc(class.as_type_ptr(), 0)) }
}

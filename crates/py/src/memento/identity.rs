//! Comparisons of containers with earlier contents, by the identity of their items.
//!
//! A search compares every object of a game before each action, so these functions use the
//! interpreter's C functions directly.
//!
//! **Invariant:** the calling thread is attached to the interpreter, and no Python code runs while a
//! function holds a borrowed reference.
#![allow(
    unsafe_code,
    reason = "measured: comparing the 320 sprites of a game takes a quarter of the time"
)]

use std::{ptr, slice};

use numpy::npyffi::{NPY_ARRAY_OWNDATA, NPY_ARRAY_WRITEABLE, PyArrayObject};
use numpy::{PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyAttributeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

use crate::raw::{is_contiguous, numeric_array};

/// A key and its value.
pub(super) type Entry = (Py<PyAny>, Py<PyAny>);

/// Returns whether a dictionary contains exactly these entries in this order.
#[inline]
pub(super) fn dict_holds(dict: &Bound<'_, PyDict>, entries: &[Entry]) -> bool {
    let mut position = 0;
    // SAFETY: the dictionary is alive and nothing changes it during the iteration.
    let mut next = || unsafe { next_entry(dict.as_ptr(), &mut position) };
    entries
        .iter()
        .all(|(key, value)| next() == Some((key.as_ptr(), value.as_ptr())))
        && next().is_none()
}

/// Returns whether two dictionaries contain the same entries in the same order.
pub(super) fn dicts_agree(one: &Bound<'_, PyDict>, other: &Bound<'_, PyDict>) -> bool {
    if one.len() != other.len() {
        return false;
    }
    let mut positions = (0, 0);
    loop {
        // SAFETY: both dictionaries are alive and nothing changes them during the iteration.
        let (one, other) = unsafe {
            (
                next_entry(one.as_ptr(), &mut positions.0),
                next_entry(other.as_ptr(), &mut positions.1),
            )
        };
        if one != other {
            return false;
        }
        if one.is_none() {
            return true;
        }
    }
}

/// Returns the entry of a dictionary at a position, which is advanced, as borrowed references.
///
/// # Safety
///
/// `dict` must be a live dictionary that has not changed since the position was 0.
#[inline]
unsafe fn next_entry(
    dict: *mut ffi::PyObject,
    position: &mut ffi::Py_ssize_t,
) -> Option<(*mut ffi::PyObject, *mut ffi::PyObject)> {
    let (mut key, mut value) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the caller guarantees it.
    let found = unsafe { ffi::PyDict_Next(dict, position, &raw mut key, &raw mut value) };
    (found != 0).then_some((key, value))
}

/// Returns whether a list contains exactly these items in this order.
#[inline]
pub(super) fn list_holds(list: &Bound<'_, PyList>, items: &[Py<PyAny>]) -> bool {
    list.len() == items.len()
        && items.iter().enumerate().all(|(index, item)| {
            // SAFETY: the list is alive, and the index is within its length.
            let found = unsafe { ffi::PyList_GetItem(list.as_ptr(), index as ffi::Py_ssize_t) };
            found == item.as_ptr()
        })
}

/// Returns the value of a slot without calling methods of the class; `None` if it is not set.
pub(super) fn slot<'py>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    // SAFETY: both are alive. The function returns a new reference, or null with an error set.
    let found = unsafe {
        let value = ffi::PyObject_GenericGetAttr(object.as_ptr(), name.as_ptr());
        Bound::from_owned_ptr_or_err(object.py(), value)
    };
    match found {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyAttributeError>(object.py()) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Sets a slot, or clears it if `value` is `None`, without calling methods of the class.
pub(super) fn set_slot(
    object: &Bound<'_, PyAny>,
    name: &Bound<'_, PyString>,
    value: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let value = value.map_or(ptr::null_mut(), Bound::as_ptr);
    // SAFETY: all are alive, and null means to clear. The function returns 0, or -1 with an error.
    match unsafe { ffi::PyObject_GenericSetAttr(object.as_ptr(), name.as_ptr(), value) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(object.py())),
    }
}

/// Replaces the attribute dictionary of an object.
pub(super) fn set_attributes(object: &Bound<'_, PyAny>, dict: &Bound<'_, PyDict>) -> PyResult<()> {
    // SAFETY: both are alive. The function returns 0, or -1 with an error set.
    match unsafe { ffi::PyObject_GenericSetDict(object.as_ptr(), dict.as_ptr(), ptr::null_mut()) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(object.py())),
    }
}

/// The contents of an array of numbers.
pub(super) struct ArrayImage {
    data: usize,
    descriptor: usize,
    flags: i32,
    /// The dimensions, then the strides.
    shape: Box<[isize]>,
    /// The memory; empty if another array owns it.
    bytes: Box<[u8]>,
}

/// What an array consists of.
pub(super) enum ArrayParts<'py> {
    /// The array owns its memory, or its memory never changes.
    Owner(ArrayImage),
    /// The array is a view of another one.
    View(ArrayImage, Bound<'py, PyAny>),
    /// The array holds objects or records, or memory that cannot be saved.
    Unsupported,
}

/// Reads the contents of an array.
pub(super) fn array_parts<'py>(array: &Bound<'py, PyAny>) -> ArrayParts<'py> {
    let (Some(head), Ok(untyped)) = (numeric_array(array), array.cast::<PyUntypedArray>()) else {
        return ArrayParts::Unsupported;
    };
    // SAFETY: `numeric_array` returned the pointer of a live array. Its memory has as many bytes as
    // its items together, because an array that owns its memory and is contiguous has no gaps.
    unsafe {
        let fields = &(*head).fields;
        let axes = fields.nd as usize;
        let mut shape = slice_of(fields.dimensions, axes).to_vec();
        shape.extend_from_slice(slice_of(fields.strides, axes));
        let mut image = ArrayImage {
            data: fields.data.addr(),
            descriptor: fields.descr.addr(),
            flags: fields.flags,
            shape: shape.into(),
            bytes: Box::default(),
        };
        if let Some(base) = Bound::from_borrowed_ptr_or_opt(array.py(), fields.base) {
            return if numeric_array(&base).is_some_and(is_contiguous) {
                ArrayParts::View(image, base)
            } else if fields.flags & NPY_ARRAY_WRITEABLE == 0 {
                // For example a view of a bytes object.
                ArrayParts::Owner(image)
            } else {
                ArrayParts::Unsupported
            };
        }
        if fields.flags & NPY_ARRAY_OWNDATA == 0 || !is_contiguous(head) {
            return ArrayParts::Unsupported;
        }
        let length = untyped.len() * untyped.dtype().itemsize();
        image.bytes = slice_of(fields.data.cast::<u8>(), length).into();
        ArrayParts::Owner(image)
    }
}

impl ArrayImage {
    /// Returns whether the array has this content.
    #[inline]
    pub(super) fn is_current(&self, array: &Bound<'_, PyAny>) -> bool {
        let head = array.as_ptr().cast::<PyArrayObject>();
        // SAFETY: the image was read from this array. If it still has the same address and shape,
        // its memory has the same length.
        unsafe {
            self.has_shape_of(head)
                && *slice_of((*head).fields.data.cast::<u8>(), self.bytes.len()) == *self.bytes
        }
    }

    /// Writes the content back. Returns false if the array has got another shape or memory.
    pub(super) fn restore(&self, array: &Bound<'_, PyAny>) -> bool {
        let head = array.as_ptr().cast::<PyArrayObject>();
        // SAFETY: as in `is_current`. The array owns the memory unless `bytes` is empty.
        unsafe {
            if !self.has_shape_of(head) {
                return false;
            }
            let memory = (*head).fields.data.cast::<u8>();
            ptr::copy_nonoverlapping(self.bytes.as_ptr(), memory, self.bytes.len());
        }
        true
    }

    /// # Safety
    ///
    /// `head` must point to a live array.
    unsafe fn has_shape_of(&self, head: *mut PyArrayObject) -> bool {
        // SAFETY: the caller passes a live array, which has as many dimensions as strides.
        unsafe {
            let fields = &(*head).fields;
            let axes = fields.nd as usize;
            fields.data.addr() == self.data
                && fields.descr.addr() == self.descriptor
                && fields.flags == self.flags
                && 2 * axes == self.shape.len()
                && *slice_of(fields.dimensions, axes) == self.shape[..axes]
                && *slice_of(fields.strides, axes) == self.shape[axes..]
        }
    }
}

/// Passes the number type, the byte order, the dimensions and the memory of an array of numbers in
/// row order to a function. Returns `None` for other arrays.
pub(super) fn read_array<T>(
    array: &Bound<'_, PyAny>,
    read: impl FnOnce((i32, u8), &[isize], &[u8]) -> T,
) -> Option<T> {
    let head = numeric_array(array)?;
    let untyped = array.cast::<PyUntypedArray>().ok()?;
    if !untyped.is_c_contiguous() {
        return None;
    }
    let length = untyped.len() * untyped.dtype().itemsize();
    // SAFETY: `numeric_array` returned the pointer of a live array, and the memory of an array in row
    // order has no gaps. The function runs no Python code.
    unsafe {
        let fields = &(*head).fields;
        let kind = &(*fields.descr).fields;
        Some(read(
            (kind.type_num, kind.byteorder.cast_unsigned()),
            slice_of(fields.dimensions, fields.nd as usize),
            slice_of(fields.data.cast::<u8>(), length),
        ))
    }
}

/// Returns a slice that may be empty with any pointer.
///
/// # Safety
///
/// Unless `length` is 0, the pointer must be valid for that many items as long as the slice is used.
unsafe fn slice_of<'a, T>(start: *const T, length: usize) -> &'a [T] {
    if length == 0 {
        &[]
    } else {
        // SAFETY: the caller guarantees it.
        unsafe { slice::from_raw_parts(start, length) }
    }
}

//! Unsafe calls into the interpreter and NumPy.
//!
//! They run for every sprite in every frame; together they halve the time of a frame with a hundred
//! sprites.
//!
//! **Invariant:** the calling thread is attached to the interpreter, and it runs no Python code
//! while it holds a borrowed reference.
#![allow(
    unsafe_code,
    reason = "measured: a frame of a hundred sprites takes half the time"
)]

use std::ptr;

use numpy::npyffi::{
    NPY_ARRAY_C_CONTIGUOUS, NPY_ARRAY_F_CONTIGUOUS, NPY_ARRAY_WRITEABLE, NPY_ORDER, NPY_TYPES,
    PY_ARRAY_API, PyArrayObject,
};
use numpy::{PyArray2, PyArrayMethods, PyUntypedArray};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyType};
use pyo3::{Borrowed, ffi};

/// Returns the attribute dictionary of an object.
#[inline]
pub(crate) fn attributes<'py>(object: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    // SAFETY: the object is alive. The function returns a new reference, or null with an error set,
    // which `from_owned_ptr_or_err` takes.
    let found = unsafe {
        let pointer = ffi::PyObject_GenericGetDict(object.as_ptr(), ptr::null_mut());
        Bound::from_owned_ptr_or_err(object.py(), pointer)
    };
    found.ok()?.cast_into::<PyDict>().ok()
}

/// Returns an attribute as a borrowed reference, which is valid until Python code runs.
#[inline]
pub(crate) fn field<'a, 'py>(
    fields: &'a Bound<'py, PyDict>,
    name: &Bound<'py, PyString>,
) -> Option<Borrowed<'a, 'py, PyAny>> {
    // SAFETY: both are alive, and the dictionary owns its values. Hashing and comparing strings
    // cannot fail, so null means that there is no such entry.
    unsafe {
        Borrowed::from_ptr_or_opt(
            fields.py(),
            ffi::PyDict_GetItemWithError(fields.as_ptr(), name.as_ptr()),
        )
    }
}

/// Returns the attributes with these names as borrowed references, which are valid until Python
/// code runs.
///
/// Instances of a class usually get their attributes in the same order, so one pass over the
/// dictionary finds them without hashing a name.
#[inline]
pub(crate) fn fields<'a, 'py, const N: usize>(
    attributes: &'a Bound<'py, PyDict>,
    names: &[Py<PyString>; N],
) -> [Option<Borrowed<'a, 'py, PyAny>>; N] {
    let (mut found, mut next, mut position) = ([const { None }; N], 0, 0);
    let (mut key, mut value) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the dictionary is alive and owns its values; nothing changes it during the iteration.
    unsafe {
        while next < N
            && ffi::PyDict_Next(
                attributes.as_ptr(),
                &raw mut position,
                &raw mut key,
                &raw mut value,
            ) != 0
        {
            if key == names[next].as_ptr() {
                found[next] = Borrowed::from_ptr_or_opt(attributes.py(), value);
                next += 1;
            }
        }
    }
    for (found, name) in found.iter_mut().zip(names).skip(next) {
        *found = field(attributes, name.bind(attributes.py()));
    }
    found
}

/// Returns the value of an `int` or of a NumPy integer. Declines instances of Python classes, whose
/// conversion would run Python code.
#[inline]
pub(crate) fn integer(value: Borrowed<'_, '_, PyAny>) -> Option<i64> {
    // SAFETY: the value is alive. `PyErr::take` clears an error of the conversion.
    unsafe {
        let class = ffi::Py_TYPE(value.as_ptr());
        if class != &raw mut ffi::PyLong_Type
            && ffi::PyType_GetFlags(class) & ffi::Py_TPFLAGS_HEAPTYPE != 0
        {
            return None;
        }
        let number = ffi::PyLong_AsLongLong(value.as_ptr());
        if number == -1 && PyErr::take(value.py()).is_some() {
            None
        } else {
            Some(number)
        }
    }
}

/// Returns the object as a two-dimensional `int8` array. Declines subclasses of `ndarray` (masked
/// arrays, matrices), which behave differently.
#[inline]
pub(crate) fn int8_array<'a, 'py>(
    array: &'a Bound<'py, PyAny>,
) -> Option<&'a Bound<'py, PyArray2<i8>>> {
    if !array.is_exact_instance_of::<PyUntypedArray>() {
        return None;
    }
    // SAFETY: the object is an array, and `PyArrayObject` is NumPy's layout of it; the first fields
    // of its descriptor are the same in NumPy 1 and 2. An array with two dimensions and the type
    // `int8`, which has no byte order, is what the cast requires.
    unsafe {
        let head = array.as_ptr().cast::<PyArrayObject>();
        let is_bytes = (*(*head).fields.descr).fields.type_num == NPY_TYPES::NPY_BYTE as i32;
        ((*head).fields.nd == 2 && is_bytes).then(|| array.cast_unchecked::<PyArray2<i8>>())
    }
}

/// Copies a numeric array and keeps its memory order. A view of another array becomes the same view
/// of the base's copy, which `copy` returns.
///
/// Returns `None` for arrays of objects or records, and for views whose base is no array or is not
/// contiguous.
pub(crate) fn copy_array<'py>(
    array: &Bound<'py, PyAny>,
    copy: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let Some(head) = numeric_array(array) else {
        return Ok(None);
    };
    // SAFETY: `numeric_array` returned the pointer. NumPy's functions return a new reference, or
    // null with an error set.
    let base = unsafe { Bound::from_borrowed_ptr_or_opt(py, (*head).fields.base) };
    let Some(base) = base else {
        // SAFETY: as above.
        let copy = unsafe {
            copy_int8_array(py, head)
                .unwrap_or_else(|| PY_ARRAY_API.PyArray_NewCopy(py, head, NPY_ORDER::NPY_KEEPORDER))
        };
        // SAFETY: as above.
        return unsafe { Bound::from_owned_ptr_or_err(py, copy) }.map(Some);
    };
    let Some(whole) = numeric_array(&base).filter(|&whole| is_contiguous(whole)) else {
        return Ok(None);
    };
    let twin = copy(&base)?;
    let Some(new) = numeric_array(&twin).filter(|&new| is_contiguous(new)) else {
        return Ok(None);
    };
    // SAFETY: both pointers are live arrays. The strides and shapes are compared below: a
    // contiguous copy with the same strides has each cell at the same offset, so the new view lies
    // within the copy. The view owns a reference to its base.
    unsafe {
        let (old, new) = (&(*whole).fields, &(*new).fields);
        let same = |one: *mut isize, two: *mut isize, axis| *one.add(axis) == *two.add(axis);
        let alike = |axis| {
            same(old.strides, new.strides, axis) && same(old.dimensions, new.dimensions, axis)
        };
        if old.nd != new.nd
            || (*old.descr).fields.type_num != (*new.descr).fields.type_num
            || !(0..old.nd as usize).all(alike)
        {
            return Ok(None);
        }
        let fields = &(*head).fields;
        let start = fields.data.offset_from(old.data);
        let flags = fields.flags & NPY_ARRAY_WRITEABLE;
        ffi::Py_INCREF(fields.descr.cast());
        let class = ffi::Py_TYPE(array.as_ptr());
        let data = new.data.offset(start).cast();
        let none = ptr::null_mut();
        let view = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            class,
            fields.descr,
            fields.nd,
            fields.dimensions,
            fields.strides,
            data,
            flags,
            none,
        );
        let view = Bound::from_owned_ptr_or_err(py, view)?;
        if PY_ARRAY_API.PyArray_SetBaseObject(py, view.as_ptr().cast(), twin.into_ptr()) < 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(Some(view))
    }
}

/// Copies a C-contiguous `int8` array, in half the time of NumPy's general function. Returns `None`
/// for other arrays.
///
/// # Safety
///
/// `head` must point to a live array.
unsafe fn copy_int8_array(py: Python<'_>, head: *mut PyArrayObject) -> Option<*mut ffi::PyObject> {
    // SAFETY: the caller passes a live array. The new array has the same type and shape in row
    // order, so it has the same number of bytes, and all of them are written here.
    unsafe {
        let fields = &(*head).fields;
        if fields.flags & NPY_ARRAY_C_CONTIGUOUS == 0
            || (*fields.descr).fields.type_num != NPY_TYPES::NPY_BYTE as i32
        {
            return None;
        }
        ffi::Py_INCREF(fields.descr.cast());
        let (class, none) = (ffi::Py_TYPE(head.cast()), ptr::null_mut());
        let copy = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            class,
            fields.descr,
            fields.nd,
            fields.dimensions,
            ptr::null_mut(),
            ptr::null_mut(),
            0,
            none,
        );
        if !copy.is_null() {
            let count = (0..fields.nd as usize)
                .map(|axis| *fields.dimensions.add(axis) as usize)
                .product();
            ptr::copy_nonoverlapping(
                fields.data,
                (*copy.cast::<PyArrayObject>()).fields.data,
                count,
            );
        }
        Some(copy)
    }
}

/// Pauses the cyclic garbage collector until it is dropped. It would traverse the many objects of a
/// copy, none of which is garbage.
pub(crate) struct GcPause {
    was_on: bool,
}

impl GcPause {
    pub(crate) fn begin(_: Python<'_>) -> Self {
        // SAFETY: the thread is attached to the interpreter.
        Self {
            was_on: unsafe { ffi::PyGC_Disable() } != 0,
        }
    }
}

impl Drop for GcPause {
    fn drop(&mut self) {
        if self.was_on {
            // SAFETY: a value lives within one call from the interpreter, so the thread is still
            // attached.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}

/// Returns the pointer to an array of plain numbers. Declines subclasses of `ndarray`.
pub(crate) fn numeric_array(array: &Bound<'_, PyAny>) -> Option<*mut PyArrayObject> {
    if !array.is_exact_instance_of::<PyUntypedArray>() {
        return None;
    }
    let head = array.as_ptr().cast::<PyArrayObject>();
    // SAFETY: the object is an array; see `int8_array`.
    let kind = unsafe { (*(*head).fields.descr).fields.type_num };
    (kind < NPY_TYPES::NPY_OBJECT as i32).then_some(head)
}

/// Returns whether an array is contiguous, in row or column order.
pub(crate) fn is_contiguous(head: *mut PyArrayObject) -> bool {
    // SAFETY: callers obtained the pointer from `numeric_array`.
    unsafe { (*head).fields.flags & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS) != 0 }
}

/// Creates an array with these cells. Returns `None` if their number does not match.
pub(crate) fn new_int8_array<'py>(
    py: Python<'py>,
    rows: usize,
    columns: usize,
    cells: &[i8],
) -> Option<Bound<'py, PyArray2<i8>>> {
    if rows.checked_mul(columns)? != cells.len() {
        return None;
    }
    // SAFETY: the array is new and has this many bytes in row order. All of them are written before
    // it is returned.
    unsafe {
        let array = PyArray2::<i8>::new(py, [rows, columns], false);
        ptr::copy_nonoverlapping(cells.as_ptr(), array.data(), cells.len());
        Some(array)
    }
}

/// Reinterprets cells as signed.
pub(crate) fn as_signed(cells: &[u8]) -> &[i8] {
    // SAFETY: `u8` and `i8` have the same size and alignment, and every bit pattern is valid.
    unsafe { std::slice::from_raw_parts(cells.as_ptr().cast(), cells.len()) }
}

/// Returns whether only the container in which it was found and the caller refer to this object.
pub(crate) fn is_unshared(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is alive.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) <= 2 }
}

/// Sets an attribute like `object.__setattr__`, which keeps the attributes in the layout that is
/// fast to read.
pub(crate) fn set_attribute<'py>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
) -> PyResult<()> {
    // SAFETY: all three are alive. The function returns 0, or -1 with an error set.
    match unsafe { ffi::PyObject_GenericSetAttr(object.as_ptr(), name.as_ptr(), value.as_ptr()) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(object.py())),
    }
}

/// Creates an instance without attributes, like `object.__new__`. The class must have no base
/// written in C except `object`.
pub(crate) fn new_instance<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: `object.__new__` calls the same function for a Python class. It returns a new
    // reference, or null with an error set.
    unsafe {
        Bound::from_owned_ptr_or_err(class.py(), ffi::PyType_GenericAlloc(class.as_type_ptr(), 0))
    }
}

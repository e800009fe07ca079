//! The few places where the interpreter and NumPy are asked without a net, because every sprite pays for them in every frame.
//!
//! Together they halve the time of a frame of a hundred sprites. Invariant: a thread that is here is attached to the interpreter
//! and, while it holds something borrowed, runs no Python code.
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
pub(crate) fn field<'a, 'py>(
    fields: &'a Bound<'py, PyDict>,
    name: &Bound<'py, PyString>,
) -> Option<Borrowed<'a, 'py, PyAny>> {
    // SAFETY: both are alive, and the dictionary keeps what it has. A string cannot fail to be hashed or compared, so
    // null means that there is no such entry.
    unsafe {
        Borrowed::from_ptr_or_opt(
            fields.py(),
            ffi::PyDict_GetItemWithError(fields.as_ptr(), name.as_ptr()),
        )
    }
}

/// The attributes with these names, in their order, none of them counted as in use: to be looked at before any Python code runs.
///
/// Objects of one class mostly get their attributes in one order, so a walk finds them without hashing a name.
#[inline]
pub(crate) fn fields<'a, 'py, const N: usize>(
    attributes: &'a Bound<'py, PyDict>,
    names: &[Py<PyString>; N],
) -> [Option<Borrowed<'a, 'py, PyAny>>; N] {
    let (mut found, mut next, mut position) = ([const { None }; N], 0, 0);
    let (mut key, mut value) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the dictionary is alive and keeps what it has; nothing changes it during the walk.
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

/// A whole number: an `int`, or what NumPy counts with. What a class of Python counts with would run its code.
#[inline]
pub(crate) fn number(value: Borrowed<'_, '_, PyAny>) -> Option<i64> {
    // SAFETY: the value is alive. An error of the conversion is taken.
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

/// A copy of an array of numbers in the same order; a view of another array becomes the same view of what `copy` makes of that
/// one. `None` for anything else: what holds objects or records, views of what is no array or lies scattered.
pub(crate) fn copied<'py>(
    array: &Bound<'py, PyAny>,
    copy: impl FnOnce(&Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    let Some(head) = numbers(array) else {
        return Ok(None);
    };
    // SAFETY: `numbers` says that the head is an array's. Functions of NumPy return a new reference, or null with an error set.
    let base = unsafe { Bound::from_borrowed_ptr_or_opt(py, (*head).fields.base) };
    let Some(base) = base else {
        // SAFETY: as above.
        let copy = unsafe {
            bytes_copied(py, head)
                .unwrap_or_else(|| PY_ARRAY_API.PyArray_NewCopy(py, head, NPY_ORDER::NPY_KEEPORDER))
        };
        // SAFETY: as above.
        return unsafe { Bound::from_owned_ptr_or_err(py, copy) }.map(Some);
    };
    let Some(whole) = numbers(&base).filter(|&whole| is_dense(whole)) else {
        return Ok(None);
    };
    let twin = copy(&base)?;
    let Some(new) = numbers(&twin).filter(|&new| is_dense(new)) else {
        return Ok(None);
    };
    // SAFETY: both heads are arrays' and alive; a dense copy in the same order has the same cells at the same distance from
    // its start, so the view lies as far inside the copy as the old one does. The base is kept by the view that needs it.
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

/// A copy of an array of bytes in row order, in half the time of NumPy's own, which is made for any array.
///
/// # Safety
///
/// The head is an array's.
unsafe fn bytes_copied(py: Python<'_>, head: *mut PyArrayObject) -> Option<*mut ffi::PyObject> {
    // SAFETY: the caller's. The new array has the same type and shape in row order, so as many bytes, all of them written here.
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

/// Keeps the collector of cycles from looking through objects while many are made, which all stay.
pub(crate) struct NoCollecting {
    was_on: bool,
}

impl NoCollecting {
    /// Until this is dropped.
    pub(crate) fn begin(_: Python<'_>) -> Self {
        // SAFETY: the thread is attached to the interpreter.
        Self {
            was_on: unsafe { ffi::PyGC_Disable() } != 0,
        }
    }
}

impl Drop for NoCollecting {
    fn drop(&mut self) {
        if self.was_on {
            // SAFETY: a value lives within one call of the interpreter, so the thread is still attached.
            unsafe { ffi::PyGC_Enable() };
        }
    }
}

/// The head of an array of plain numbers that is of no subclass.
fn numbers(array: &Bound<'_, PyAny>) -> Option<*mut PyArrayObject> {
    if !array.is_exact_instance_of::<PyUntypedArray>() {
        return None;
    }
    let head = array.as_ptr().cast::<PyArrayObject>();
    // SAFETY: it is an array; see `bytes`.
    let kind = unsafe { (*(*head).fields.descr).fields.type_num };
    (kind < NPY_TYPES::NPY_OBJECT as i32).then_some(head)
}

/// Whether an array's cells lie side by side, in either order.
fn is_dense(head: *mut PyArrayObject) -> bool {
    // SAFETY: callers have the head from `numbers`.
    unsafe { (*head).fields.flags & (NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS) != 0 }
}

/// A new array of these cells.
pub(crate) fn array<'py>(
    py: Python<'py>,
    rows: usize,
    columns: usize,
    cells: &[i8],
) -> Option<Bound<'py, PyArray2<i8>>> {
    if rows.checked_mul(columns)? != cells.len() {
        return None;
    }
    // SAFETY: the array is new, of this many bytes in row order, and all of them are written before anyone sees it.
    unsafe {
        let array = PyArray2::<i8>::new(py, [rows, columns], false);
        ptr::copy_nonoverlapping(cells.as_ptr(), array.data(), cells.len());
        Some(array)
    }
}

/// The same bytes with a sign.
pub(crate) fn signed(cells: &[u8]) -> &[i8] {
    // SAFETY: the two types have one size and every value of one is a value of the other.
    unsafe { std::slice::from_raw_parts(cells.as_ptr().cast(), cells.len()) }
}

/// Whether nobody but the place where it was found, and the caller, has this object.
pub(crate) fn is_unshared(object: &Bound<'_, PyAny>) -> bool {
    // SAFETY: the object is alive.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) <= 2 }
}

/// Sets an attribute as `object.__setattr__` does, which keeps an object's attributes where reading them is fast.
pub(crate) fn set<'py>(
    object: &Bound<'py, PyAny>,
    name: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
) -> PyResult<()> {
    // SAFETY: all three are alive. The function gives -1 with an error set, or 0.
    match unsafe { ffi::PyObject_GenericSetAttr(object.as_ptr(), name.as_ptr(), value.as_ptr()) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(object.py())),
    }
}

/// An object of a class without its attributes, as `object.__new__` makes it.
///
/// The class has no base in C but `object`.
pub(crate) fn blank<'py>(class: &Bound<'py, PyType>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: this is what `object.__new__` calls for a class of Python. It returns a new reference or sets an error.
    unsafe {
        Bound::from_owned_ptr_or_err(class.py(), ffi::PyType_GenericAlloc(class.as_type_ptr(), 0))
    }
}

//! The cells of a NumPy array, read in place if possible.
//!
//! **Invariant:** a `Cells` is read only while no Python code runs, so the borrowed memory does not
//! change. This module does not know about rotation or scale.

use numpy::{Element, PyArray2, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::raw::int8_array;

/// The cells of a picture, in row order.
pub(crate) enum Cells<'py> {
    /// The memory of a C-contiguous `int8` array.
    Shared(Bound<'py, PyArray2<i8>>),
    /// A copy of the cells of any other array.
    Own(Vec<i8>),
}

impl<'py> Cells<'py> {
    /// Returns the cells of an array with its rows and columns. Declines arrays of another type or
    /// dimension, and values that do not fit into `i8`.
    #[inline]
    pub(crate) fn read(array: &Bound<'py, PyAny>) -> Option<(Self, usize, usize)> {
        if let Some(bytes) = int8_array(array) {
            let &[rows, columns] = bytes.shape() else {
                return None;
            };
            let cells = if bytes.is_c_contiguous() {
                Self::Shared(bytes.clone())
            } else {
                Self::Own(copied(bytes)?)
            };
            return Some((cells, rows, columns));
        }
        if !array.is_exact_instance_of::<PyUntypedArray>() {
            return None;
        }
        None.or_else(|| narrowed::<i64>(array))
            .or_else(|| narrowed::<i32>(array))
            .or_else(|| narrowed::<u8>(array))
            .or_else(|| narrowed::<i16>(array))
    }

    #[inline]
    #[allow(
        unsafe_code,
        reason = "a checked borrow takes longer than drawing a small sprite"
    )]
    pub(crate) fn get(&self) -> &[i8] {
        match self {
            // SAFETY: the thread is attached to the interpreter and runs no Python code while the
            // slice lives.
            Self::Shared(array) => unsafe { array.as_slice() }.unwrap_or_default(),
            Self::Own(cells) => cells,
        }
    }
}

/// Returns the cells of an array of a wider type if every value fits into `i8`.
fn narrowed<'py, T: Element + Copy + TryInto<i8>>(
    array: &Bound<'py, PyAny>,
) -> Option<(Cells<'py>, usize, usize)> {
    let array = array.cast::<PyArray2<T>>().ok()?;
    let &[rows, columns] = array.shape() else {
        return None;
    };
    Some((Cells::Own(copied(array)?), rows, columns))
}

#[allow(
    unsafe_code,
    reason = "a checked borrow takes longer than copying a small sprite"
)]
fn copied<T: Element + Copy + TryInto<i8>>(array: &Bound<'_, PyArray2<T>>) -> Option<Vec<i8>> {
    if !array.is_aligned() {
        return None;
    }
    // SAFETY: the array is aligned, the thread is attached to the interpreter and runs no Python
    // code while the view lives.
    let view = unsafe { array.as_array() };
    view.iter().map(|&number| number.try_into().ok()).collect()
}

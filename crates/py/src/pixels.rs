//! The cells of a NumPy array, read where they are.
//!
//! Invariant: a `Cells` is read only while no Python code runs, so nothing changes what it borrows.
//! It does not know how the cells are turned or scaled.

use numpy::{Element, PyArray2, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::raw::bytes;

/// The cells of a picture, row by row.
pub(crate) enum Cells<'py> {
    /// Those of an array of bytes in row order.
    Shared(Bound<'py, PyArray2<i8>>),
    /// A copy of any other array's.
    Own(Vec<i8>),
}

impl<'py> Cells<'py> {
    /// The cells of an array with their rows and columns, unless it holds something that is no cell.
    #[inline]
    pub(crate) fn read(array: &Bound<'py, PyAny>) -> Option<(Self, usize, usize)> {
        if let Some(bytes) = bytes(array) {
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

    /// The cells.
    #[inline]
    #[allow(
        unsafe_code,
        reason = "a checked borrow takes longer than drawing a small sprite"
    )]
    pub(crate) fn get(&self) -> &[i8] {
        match self {
            // SAFETY: the thread is attached to the interpreter and runs no Python code while the slice lives.
            Self::Shared(array) => unsafe { array.as_slice() }.unwrap_or_default(),
            Self::Own(cells) => cells,
        }
    }
}

/// The cells of an array of wider numbers, if each of them fits into a byte.
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
    // SAFETY: the numbers are aligned, the thread is attached to the interpreter and runs no Python code while the view lives.
    let view = unsafe { array.as_array() };
    view.iter().map(|&number| number.try_into().ok()).collect()
}

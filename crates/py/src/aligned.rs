//! NumPy arrays whose data starts where other libraries read it without a copy.

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PySlice;

/// The alignment of the data in bytes. JAX copies arrays with a smaller one; NumPy guarantees 16.
const ALIGNMENT: usize = 64;

/// Returns an array of zeros whose data starts at a multiple of 64 bytes.
///
/// # Errors
///
/// Returns an error if NumPy cannot allocate or reshape the array.
pub(crate) fn aligned_zeros<'py>(
    py: Python<'py>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<u8>>> {
    let bytes: usize = shape.iter().product();
    let all = PyArray1::<u8>::zeros(py, bytes + ALIGNMENT - 1, false);
    let start = all.data().align_offset(ALIGNMENT);
    let part = PySlice::new(
        py,
        isize::try_from(start)?,
        isize::try_from(start + bytes)?,
        1,
    );
    let part = all.get_item(part)?.cast_into::<PyArray1<u8>>()?;
    part.reshape(shape)
}

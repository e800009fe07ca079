//! The extension module `rhae._native`, on which the Python package `rhae` stands.
//!
//! Invariant: a kernel gives what the Python code beside its call would give, or declines (`NotImplemented`) before it
//! has any effect; then that code runs. So kernels know the usual case only, and what is unusual behaves, and fails, as
//! written in Python. Nothing here is called by a user: the package gives every function its name and documentation.

mod classes;
mod clicks;
mod clock;
mod collide;
mod copy;
mod draw;
mod find;
mod look;
mod pixels;
mod raw;
mod twin;

mod action;
mod play;
mod results;
mod vector;

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;

#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::classes::{learn, learn_camera};
    #[pymodule_export]
    use crate::clicks::{clicks, places};
    #[pymodule_export]
    use crate::clock::Clock;
    #[pymodule_export]
    use crate::collide::{collides, collisions};
    #[pymodule_export]
    use crate::copy::Copier;
    #[pymodule_export]
    use crate::draw::{
        draw_pairs, draw_sprite, enlarged, frame, remapped, rendered, size, stamp, view,
    };
    #[pymodule_export]
    use crate::find::{named, sprite_at, tagged, tagged_all, tagged_any};
    #[pymodule_export]
    use crate::play::Play;
    #[pymodule_export]
    use crate::results::{games, methods, palette, png, replayed, scorecard};
    #[pymodule_export]
    use crate::twin::{frame_data, model, twins};
    #[pymodule_export]
    use crate::vector::{Snapshot, Vector};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

/// What a kernel returns to the Python code that called it: its result, or that it declines.
fn answer<'py, T: IntoPyObjectExt<'py>>(
    py: Python<'py>,
    result: Option<T>,
) -> PyResult<Bound<'py, PyAny>> {
    match result {
        Some(value) => value.into_bound_py_any(py),
        None => Ok(py.NotImplemented().into_bound(py)),
    }
}

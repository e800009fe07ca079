//! The extension module `rhae._native`, on which the Python package `rhae` stands.
//!
//! Invariant: nothing here is called by a user; the package gives every function its name, types and documentation.

use pyo3::prelude::*;

#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}

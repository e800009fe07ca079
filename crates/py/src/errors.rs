//! Errors of the libraries as Python exceptions: `ValueError` if an argument is wrong,
//! `RuntimeError` if the work failed.

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rhae_engine::CatalogError;
use rhae_inspect::InspectError;
use rhae_pyhost::HostError;

/// Converts an error that an argument causes.
pub(crate) fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

pub(crate) fn host_error(error: &HostError) -> PyErr {
    match error {
        HostError::File { .. } => PyOSError::new_err(error.to_string()),
        HostError::SandboxIncomplete { .. } | HostError::NoPython { .. } => {
            PyRuntimeError::new_err(error.to_string())
        }
        _ => invalid(error),
    }
}

pub(crate) fn inspect_error(error: &InspectError) -> PyErr {
    match error {
        InspectError::Read { .. } => PyOSError::new_err(error.to_string()),
        InspectError::Catalog(CatalogError::Unknown(_))
        | InspectError::NothingSelected
        | InspectError::Duplicate(_)
        | InspectError::NoSuchLevel { .. }
        | InspectError::UnlistedClicks(_)
        | InspectError::Recording { .. } => invalid(error),
        _ => PyRuntimeError::new_err(error.to_string()),
    }
}

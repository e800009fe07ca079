//! Errors of the libraries as Python exceptions: `ValueError` if an argument is wrong,
//! `RuntimeError` if the work failed.

use pyo3::exceptions::{PyConnectionError, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rhae_analysis::AnalysisError;
use rhae_client::ClientError;
use rhae_engine::CatalogError;
use rhae_harness::HarnessError;
use rhae_inspect::InspectError;
use rhae_pyhost::HostError;
use rhae_runs::RunsError;

use crate::argument_names::with_argument_names;

/// Converts an error that an argument causes.
pub(crate) fn invalid(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

pub(crate) fn host_error(error: &HostError) -> PyErr {
    match error {
        HostError::File { .. } => PyOSError::new_err(error.to_string()),
        HostError::SandboxIncomplete { .. } | HostError::NoPython { .. } => {
            PyRuntimeError::new_err(with_argument_names(&error.to_string()))
        }
        _ => invalid(error),
    }
}

pub(crate) fn harness_error(error: &HarnessError) -> PyErr {
    let message = with_argument_names(&error.to_string());
    match error {
        HarnessError::Runs(RunsError::File { .. }) => PyOSError::new_err(message),
        HarnessError::Client(ClientError::NoResponse { .. }) => PyConnectionError::new_err(message),
        HarnessError::Runs(
            RunsError::FolderInUse(_)
            | RunsError::NotARun { .. }
            | RunsError::OtherSoftware { .. }
            | RunsError::MalformedFile { .. }
            | RunsError::MalformedLine { .. },
        )
        | HarnessError::Catalog(CatalogError::Unknown(_))
        | HarnessError::Client(ClientError::Address { .. } | ClientError::Key)
        | HarnessError::Agent(_)
        | HarnessError::Model(_)
        | HarnessError::SpendLimit(_)
        | HarnessError::NeedsConsent { .. }
        | HarnessError::Request(_)
        | HarnessError::Config(_) => PyValueError::new_err(message),
        _ => PyRuntimeError::new_err(message),
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

pub(crate) fn analysis_error(error: &AnalysisError) -> PyErr {
    match error {
        AnalysisError::Runs(RunsError::File { .. }) => PyOSError::new_err(error.to_string()),
        AnalysisError::Harness(error) => harness_error(error),
        _ => invalid(with_argument_names(&error.to_string())),
    }
}

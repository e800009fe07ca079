//! The catalogue of built-in and hosted games, and the launcher of their processes.

use std::ffi::{CString, OsString};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use rhae_engine::Catalog;
use rhae_games::Builtin;
use rhae_harness::PythonSettings;
use rhae_pyhost::{Games, GamesOptions, Limits};

use crate::errors::host_error;

/// The Python object that describes the games of a call: `rhae._hosting.GamesRequest`.
#[derive(FromPyObject)]
pub(crate) struct GamesRequest {
    pub(crate) folders: Vec<PathBuf>,
    launcher: Vec<OsString>,
    python: PathBuf,
    unsafe_host: bool,
    host_seconds: f64,
    host_memory: u64,
}

impl GamesRequest {
    /// Returns how the code of a model is executed: with the same interpreter and sandbox as games.
    pub(crate) fn python_tool(&self) -> PythonSettings {
        PythonSettings {
            launcher: self.launcher.clone(),
            python: Some(self.python.clone()),
            unsafe_host: self.unsafe_host,
            ..PythonSettings::default()
        }
    }

    /// Loads the built-in environments and those of the folders.
    pub(crate) fn load(&self) -> PyResult<Games> {
        self.load_folders(&self.folders)
    }

    /// Loads the built-in environments and those of other folders, with the same settings.
    pub(crate) fn load_folders(&self, folders: &[PathBuf]) -> PyResult<Games> {
        if !(self.host_seconds > 0.0 && self.host_seconds <= 86_400.0) {
            return Err(PyValueError::new_err(
                "host_seconds must be more than 0 and at most 86,400",
            ));
        }
        let options = GamesOptions {
            folders: folders.to_vec(),
            launcher: self.launcher.clone(),
            python: Some(self.python.clone()),
            unsafe_host: self.unsafe_host,
            limits: Limits {
                action: Duration::from_secs_f64(self.host_seconds),
                memory_mb: self.host_memory,
            },
        };
        let games = Games::load(Arc::new(Builtin), options).map_err(|error| host_error(&error))?;
        Python::attach(|py| warn_about_skipped_games(py, &games))?;
        Ok(games)
    }
}

/// Issues a `UserWarning` for each game that cannot be loaded.
fn warn_about_skipped_games(py: Python<'_>, games: &Games) -> PyResult<()> {
    let category = py.get_type::<PyUserWarning>();
    for reason in games.skipped_games() {
        // The message of a warning cannot contain a zero byte.
        let message = format!("skipped a game: {}", reason.replace('\0', "\u{fffd}"));
        let message =
            CString::new(message).map_err(|error| PyValueError::new_err(error.to_string()))?;
        PyErr::warn(py, &category, &message, 1)?;
    }
    Ok(())
}

/// Enters the sandbox that the arguments describe and replaces this process with the program that
/// they name. Returns the exit code if that fails. `rhae._launcher` calls it.
#[pyfunction]
pub(crate) fn launch(arguments: Vec<OsString>) -> u8 {
    if rhae_sandbox::launch(arguments) == ExitCode::SUCCESS {
        0
    } else {
        125
    }
}

//! The engine and the vector environments of the Python package, compared with the official engine.
//!
//! The Python module `rhae.bench` measures both engines; this module runs it and reads its results.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use rhae_report::plain;
use serde::Serialize;
use serde_json::Value;

use crate::BenchError;

/// The results of `rhae.bench`, in the form that the Python module defines.
#[derive(Serialize)]
#[serde(transparent)]
pub struct PythonBench(pub Value);

/// What to measure, and with which interpreter.
pub struct PythonOptions {
    /// A Python interpreter with `rhae`, `arcengine` and `gymnasium` installed.
    pub python: PathBuf,
    /// The folder of game files.
    pub games: PathBuf,
    /// The Python version of the environment `bx20`, to compare native vector environments with.
    pub pair: PathBuf,
    /// CPU seconds of the official engine per game.
    pub seconds: u32,
}

impl PythonBench {
    /// Runs the measurements.
    ///
    /// # Errors
    ///
    /// Returns an error if the interpreter cannot be started, if `rhae.bench` fails, or if it does
    /// not print JSON.
    pub fn measure(options: &PythonOptions) -> Result<Self, BenchError> {
        let results = serde_json::from_str(&run(options, &[])?).map_err(|error| {
            BenchError::Process(format!("`rhae.bench` did not print JSON: {error}"))
        })?;
        Ok(Self(results))
    }

    /// Runs the measurements and returns their results as a table.
    ///
    /// # Errors
    ///
    /// Returns an error if the interpreter cannot be started or if `rhae.bench` fails.
    pub fn table(options: &PythonOptions) -> Result<String, BenchError> {
        Ok(plain(&run(options, &["--table"])?))
    }
}

/// Runs `rhae.bench` and returns what it prints.
fn run(options: &PythonOptions, flags: &[&str]) -> Result<String, BenchError> {
    let python = options.python.display();
    let output = Command::new(&options.python)
        .args(["-P", "-m", "rhae.bench", "--games"])
        .arg(&options.games)
        .args(["--seconds", &options.seconds.to_string(), "--pair"])
        .arg(&options.pair)
        .args(flags)
        .stdin(Stdio::null())
        .output()
        .map_err(BenchError::io(format!("cannot run `{python}`")))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let last = stderr
            .lines()
            .rev()
            .find(|line| !line.trim().is_empty())
            .unwrap_or("it printed no error");
        return Err(BenchError::Process(format!(
            "`{python} -m rhae.bench` failed: {}",
            plain(last)
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

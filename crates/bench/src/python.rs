//! The engine and the vector environments of the Python package, compared with the official engine.
//!
//! The Python module `rhae.bench` measures both engines; this module runs it and reads its results.

use std::path::{Path, PathBuf};
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
        Ok(Self(json(&run(options, &[])?, "rhae.bench")?))
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

/// Parses what a module has printed.
pub(crate) fn json(text: &str, module: &str) -> Result<Value, BenchError> {
    serde_json::from_str(text)
        .map_err(|error| BenchError::Process(format!("`{module}` did not print JSON: {error}")))
}

/// Runs `rhae.bench` and returns what it prints.
fn run(options: &PythonOptions, flags: &[&str]) -> Result<String, BenchError> {
    let mut command = module(&options.python, "rhae.bench");
    command.arg("--games").arg(&options.games);
    command.args(["--seconds", &options.seconds.to_string(), "--pair"]);
    command.arg(&options.pair).args(flags);
    output(command, "rhae.bench")
}

/// Returns a command that runs a module of the package.
pub(crate) fn module(python: &Path, name: &str) -> Command {
    let mut command = Command::new(python);
    command.args(["-P", "-m", name]);
    command
}

/// Runs a module and returns what it prints.
pub(crate) fn output(mut command: Command, module: &str) -> Result<String, BenchError> {
    let python = command.get_program().display().to_string();
    let output = command
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
            "`{python} -m {module}` failed: {}",
            plain(last)
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

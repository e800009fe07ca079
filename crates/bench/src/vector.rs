//! Vector environments of the Python package, compared with copying their observations.
//!
//! The Python module `rhae.vector_bench` measures both; this module runs it and reads its results.

use std::path::PathBuf;

use rhae_report::plain;
use serde::Serialize;
use serde_json::Value;

use crate::BenchError;
use crate::python::{json, module, output};

const MODULE: &str = "rhae.vector_bench";

/// The results of `rhae.vector_bench`, in the form that the Python module defines.
#[derive(Serialize)]
#[serde(transparent)]
pub struct VectorBench(pub Value);

/// What to measure, and with which interpreter.
pub struct VectorOptions {
    /// A Python interpreter with `rhae` and `gymnasium` installed.
    pub python: PathBuf,
    /// The number of plays.
    pub plays: u32,
    /// The number of threads that step the plays, and of those that copy.
    pub threads: u32,
    /// The number of rounds, in each of which steps and copies alternate.
    pub rounds: u32,
    /// The environments; all built-in ones if empty.
    pub only: Vec<String>,
}

impl VectorBench {
    /// Runs the measurements.
    ///
    /// # Errors
    ///
    /// Returns an error if the interpreter cannot be started, if `rhae.vector_bench` fails, or if it
    /// does not print JSON.
    pub fn measure(options: &VectorOptions) -> Result<Self, BenchError> {
        Ok(Self(json(&run(options, &["--json"])?, MODULE)?))
    }

    /// Runs the measurements and returns their results as a table.
    ///
    /// # Errors
    ///
    /// Returns an error if the interpreter cannot be started or if `rhae.vector_bench` fails.
    pub fn table(options: &VectorOptions) -> Result<String, BenchError> {
        Ok(plain(&run(options, &[])?))
    }
}

fn run(options: &VectorOptions, flags: &[&str]) -> Result<String, BenchError> {
    let mut command = module(&options.python, MODULE);
    for (flag, number) in [
        ("--plays", options.plays),
        ("--threads", options.threads),
        ("--rounds", options.rounds),
    ] {
        command.args([flag, &number.to_string()]);
    }
    if !options.only.is_empty() {
        command.arg("--only").args(&options.only);
    }
    command.args(flags);
    output(command, MODULE)
}

//! The tool `python`: code of the model in a sandboxed interpreter that lives as long as the play.
//!
//! The process has no network, no files of the user, no other processes, and limits on memory,
//! processor time and output. If it exceeds a limit that it does not enforce itself, it is killed,
//! and the next call starts an empty interpreter.

mod interpreter;
#[cfg(feature = "hosting")]
mod process;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

pub use interpreter::{HostFunctions, Interpreter, NoFunctions};

/// The resources that the code of a model may use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PythonLimits {
    /// The processor time of one call, in seconds. The interpreter raises an exception in the code.
    pub cpu_seconds: f64,
    /// The time after which the process of a call is killed, in seconds. It applies to code that
    /// waits or that ignores the exception.
    pub wall_seconds: f64,
    /// The processor time of a process, in seconds.
    pub process_cpu_seconds: u64,
    /// The limit on the address space, in MiB.
    pub memory_mb: u64,
    /// The characters of the output of one call.
    pub max_output: usize,
}

impl Default for PythonLimits {
    fn default() -> Self {
        Self {
            cpu_seconds: 30.0,
            wall_seconds: 120.0,
            process_cpu_seconds: 4 * 60 * 60,
            memory_mb: 1024,
            max_output: 16_000,
        }
    }
}

/// How the interpreter is started.
#[derive(Clone, Debug, Default)]
pub struct PythonSettings {
    /// The program that enters the sandbox, and its first arguments.
    pub launcher: Vec<OsString>,
    /// The interpreter; by default one that is found on the path.
    pub python: Option<PathBuf>,
    /// Whether the interpreter runs even if required layers of the sandbox are missing.
    pub unsafe_host: bool,
    pub limits: PythonLimits,
}

/// A Python interpreter that was found, and the sandbox in which it runs.
pub struct PythonRuntime {
    limits: PythonLimits,
    #[cfg(feature = "hosting")]
    sandboxed: process::Sandboxed,
}

impl PythonRuntime {
    /// Finds the interpreter and tests the sandbox.
    ///
    /// # Errors
    ///
    /// Returns the reason why code of a model cannot be executed safely on this system.
    #[cfg(feature = "hosting")]
    pub fn open(settings: &PythonSettings) -> Result<Arc<Self>, String> {
        Ok(Arc::new(Self {
            limits: settings.limits,
            sandboxed: process::Sandboxed::open(settings)?,
        }))
    }

    /// Returns the reason why this build cannot execute code of a model.
    ///
    /// # Errors
    ///
    /// Always returns an error.
    #[cfg(not(feature = "hosting"))]
    pub fn open(_settings: &PythonSettings) -> Result<Arc<Self>, String> {
        Err("this build of rhae has no sandbox for the code of models: build rhae with the feature `hosting`".to_owned())
    }

    pub(crate) fn limits(&self) -> &PythonLimits {
        &self.limits
    }
}

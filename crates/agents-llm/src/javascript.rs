//! JavaScript for the code of a model: an engine that is embedded in this program and runs in a
//! sandboxed process of its own.
//!
//! Results are reproducible: the engine counts work instead of time, and `Math.random` and `Date`
//! are the same in every process.

#[cfg(feature = "hosting")]
mod declarations;
#[cfg(feature = "hosting")]
mod engine;
#[cfg(feature = "hosting")]
mod messages;

#[cfg(feature = "hosting")]
use std::collections::BTreeSet;
use std::ffi::OsString;
#[cfg(feature = "hosting")]
use std::path::PathBuf;
use std::sync::Arc;

use crate::code::CodeRuntime;
#[cfg(feature = "hosting")]
use crate::code::Sandboxed;
use crate::python::PythonSettings;

#[cfg(feature = "hosting")]
pub use engine::javascript_engine;

/// The argument with which the launcher of the sandbox becomes the engine instead.
pub const JAVASCRIPT: &str = "javascript";

/// The resources that the JavaScript code of a model may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JavaScriptLimits {
    /// The work of one call, in units of about 10,000 steps of the engine. Code that exceeds it is
    /// ended, and its variables are lost.
    pub max_work: u64,
    /// The memory of the code, in MiB.
    pub memory_mb: u64,
    /// The time after which the process of a call is killed, in seconds. It applies to built-in
    /// functions that take long, which do not count as work.
    pub wall_seconds: u64,
    /// The processor time of a process, in seconds.
    pub process_cpu_seconds: u64,
    /// The characters of the output of one call.
    pub max_output: usize,
}

impl Default for JavaScriptLimits {
    fn default() -> Self {
        Self {
            max_work: 20_000,
            memory_mb: 256,
            wall_seconds: 120,
            process_cpu_seconds: 60 * 60,
            max_output: 20_000,
        }
    }
}

/// How the engine is started.
#[derive(Clone, Debug, Default)]
pub struct JavaScriptSettings {
    /// The program that enters the sandbox, and its first arguments. With the further argument
    /// [`JAVASCRIPT`] it must call `javascript_engine`.
    pub launcher: Vec<OsString>,
    /// Whether the engine runs even if required layers of the sandbox are missing.
    pub unsafe_host: bool,
    pub limits: JavaScriptLimits,
}

impl From<&PythonSettings> for JavaScriptSettings {
    /// Uses the same sandbox, with the default limits.
    fn from(python: &PythonSettings) -> Self {
        Self {
            launcher: python.launcher.clone(),
            unsafe_host: python.unsafe_host,
            limits: JavaScriptLimits::default(),
        }
    }
}

impl JavaScriptSettings {
    /// Tests the sandbox and the engine in it.
    ///
    /// # Errors
    ///
    /// Returns the reason why code of a model cannot be executed safely on this system.
    #[cfg(feature = "hosting")]
    pub fn open(&self) -> Result<Arc<CodeRuntime>, String> {
        /// The address space of the process in addition to the memory of the code, in MiB.
        const PROCESS_MB: u64 = 512;
        let Some(executable) = self.launcher.first() else {
            return Err("this program cannot start a sandbox for the code of models".to_owned());
        };
        let limits = &self.limits;
        let mut program = self.launcher.clone();
        program.push(JAVASCRIPT.into());
        for limit in [
            limits.max_work,
            limits.memory_mb,
            u64::try_from(limits.max_output).unwrap_or(u64::MAX),
        ] {
            program.push(limit.to_string().into());
        }
        let mut read = libraries();
        read.push(PathBuf::from(executable));
        let sandboxed = Sandboxed {
            launcher: rhae_sandbox::Launcher::new(self.launcher.clone()),
            program,
            read,
            environment: &[],
            limits: rhae_sandbox::ResourceLimits {
                memory_mb: limits.memory_mb + PROCESS_MB,
                cpu_seconds: limits.process_cpu_seconds,
            },
            wall_seconds: limits.wall_seconds as f64,
            partial: self.unsafe_host,
        };
        let runtime = CodeRuntime::open("javascript", limits.max_output, sandboxed)?;
        runtime
            .try_start()
            .map_err(|reason| format!("the JavaScript engine cannot run: {reason}"))?;
        Ok(runtime)
    }

    /// Returns the reason why this build cannot execute code of a model.
    ///
    /// # Errors
    ///
    /// Always returns an error.
    #[cfg(not(feature = "hosting"))]
    pub fn open(&self) -> Result<Arc<CodeRuntime>, String> {
        CodeRuntime::unavailable()
    }
}

/// Returns the shared libraries of this process, and those beside them that the engine needs but this
/// program may not.
#[cfg(feature = "hosting")]
fn libraries() -> Vec<PathBuf> {
    /// The libraries of every Rust program and of QuickJS.
    const NAMES: [&str; 3] = ["libc.so.6", "libgcc_s.so.1", "libm.so.6"];
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let path = |line: &str| Some(PathBuf::from(&line[line.find('/')?..]));
    let is_library = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| name.contains(".so")) && path.is_file()
    };
    let mut libraries: BTreeSet<PathBuf> =
        maps.lines().filter_map(path).filter(is_library).collect();
    let folders: BTreeSet<PathBuf> = libraries
        .iter()
        .filter_map(|library| Some(library.parent()?.to_owned()))
        .collect();
    for folder in folders {
        let named = NAMES.iter().map(|name| folder.join(name));
        libraries.extend(named.filter(|library| library.is_file()));
    }
    libraries.into_iter().collect()
}

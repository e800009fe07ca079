//! Python for the code of a model: an interpreter that is found on the system.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use crate::code::CodeRuntime;
#[cfg(feature = "hosting")]
use crate::code::Sandboxed;

/// The script of the interpreter.
#[cfg(feature = "hosting")]
const SCRIPT: &str = include_str!("../python/interpreter.py");
/// The options of the interpreter. The environment is empty except for [`ENVIRONMENT`].
#[cfg(feature = "hosting")]
const OPTIONS: [&str; 4] = ["-P", "-s", "-B", "-u"];
/// The environment variables, which help to make results reproducible.
#[cfg(feature = "hosting")]
const ENVIRONMENT: [(&str, &str); 6] = [
    ("LANG", "C.UTF-8"),
    ("TZ", "UTC"),
    ("PYTHONHASHSEED", "0"),
    ("OPENBLAS_NUM_THREADS", "1"),
    ("OMP_NUM_THREADS", "1"),
    ("MKL_NUM_THREADS", "1"),
];

/// The resources that the Python code of a model may use.
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

impl PythonSettings {
    /// Finds the interpreter and tests the sandbox.
    ///
    /// # Errors
    ///
    /// Returns the reason why code of a model cannot be executed safely on this system.
    #[cfg(feature = "hosting")]
    pub fn open(&self) -> Result<Arc<CodeRuntime>, String> {
        if self.launcher.is_empty() {
            return Err("this program cannot start a sandbox for the code of models".to_owned());
        }
        let python = rhae_pyhost::Python::find(self.python.as_deref())?;
        let limits = &self.limits;
        let mut program: Vec<OsString> = vec![python.executable().into()];
        program.extend(OPTIONS.map(OsString::from));
        program.extend(["-c".into(), SCRIPT.into()]);
        program.push(limits.cpu_seconds.to_string().into());
        program.push(limits.max_output.to_string().into());
        let sandboxed = Sandboxed {
            launcher: rhae_sandbox::Launcher::new(self.launcher.clone()),
            program,
            read: python.folders(),
            environment: &ENVIRONMENT,
            limits: rhae_sandbox::ResourceLimits {
                memory_mb: limits.memory_mb,
                cpu_seconds: limits.process_cpu_seconds,
            },
            wall_seconds: limits.wall_seconds,
            partial: self.unsafe_host,
        };
        CodeRuntime::open("python", limits.max_output, sandboxed)
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

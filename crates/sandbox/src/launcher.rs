//! The program that enters the sandbox, as its callers see it.

use std::ffi::OsString;
use std::process::Command;

use crate::{Layers, ResourceLimits, SandboxError, SandboxSpec};

/// A program that passes its further arguments to [`launch`](fn@crate::launch), for example a
/// hidden subcommand of this program.
///
/// # Examples
///
/// ```
/// use rhae_sandbox::{Launcher, ResourceLimits, SandboxSpec};
///
/// let launcher = Launcher::new(vec!["rhae".into(), "sandboxed".into()]);
/// let mut command = launcher.command(&SandboxSpec {
///     program: vec!["/usr/bin/python3".into(), "tool.py".into()],
///     read: vec!["/srv/tools".into()],
///     limits: ResourceLimits { memory_mb: 512, cpu_seconds: 60 },
///     ..SandboxSpec::default()
/// });
/// command.env_clear().current_dir("/srv/tools");
/// // `command.spawn()` starts the launcher, which enters the sandbox and becomes the program.
/// assert_eq!(command.get_program(), "rhae");
/// ```
#[derive(Debug)]
pub struct Launcher {
    /// The program and its first arguments.
    program: Vec<OsString>,
}

impl Launcher {
    /// Creates a launcher from a program and its first arguments.
    ///
    /// # Panics
    ///
    /// Panics if `program` is empty.
    pub fn new(program: Vec<OsString>) -> Self {
        assert!(!program.is_empty(), "a launcher has a program");
        Self { program }
    }

    /// Starts the launcher without a program and returns the layers that the system provides to a
    /// process with these limits.
    ///
    /// # Errors
    ///
    /// Returns [`SandboxError`] if the launcher cannot be started or does not report the layers.
    pub fn layers(&self, limits: ResourceLimits) -> Result<Layers, SandboxError> {
        let spec = SandboxSpec {
            limits,
            ..SandboxSpec::default()
        };
        let output = self
            .command(&spec)
            .output()
            .map_err(|error| SandboxError::NoReport(error.to_string()))?;
        serde_json::from_slice(&output.stdout).map_err(|_| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            SandboxError::NoReport(stderr.trim().to_owned())
        })
    }

    /// Returns the command that runs a program in the sandbox. The command inherits the environment
    /// variables of this process; use [`Command::env_clear`] to hide them from the program.
    ///
    /// If the sandbox cannot be set up or the program cannot be started, the process exits with
    /// [`SETUP_FAILED`](crate::SETUP_FAILED) and writes the reason to standard error.
    pub fn command(&self, spec: &SandboxSpec) -> Command {
        let (program, first) = self
            .program
            .split_first()
            .expect("`new` rejects an empty program");
        let mut command = Command::new(program);
        command.args(first).args(spec.to_arguments());
        command
    }
}

/// Returns the id of the process that runs the program of a launcher: the process `launcher`
/// itself, or its youngest child if process ids are separated.
pub fn program_id(launcher: u32) -> u32 {
    let children = std::fs::read_to_string(format!("/proc/{launcher}/task/{launcher}/children"));
    let youngest = children.ok().and_then(|list| {
        let last = list.split_whitespace().next_back()?;
        last.parse().ok()
    });
    youngest.unwrap_or(launcher)
}

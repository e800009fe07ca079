//! The sandbox of a game's process, and the launcher that enters it.
//!
//! Rhae starts itself (or the program `rhae-sandboxed`) with the arguments of a [`SandboxSpec`].
//! That process applies every layer to itself and then becomes the game's interpreter through
//! `exec`, so no line of foreign code runs outside the sandbox.
//!
//! - **Landlock** (required): only the listed paths can be opened, for reading and executing. Newer
//!   kernels also deny TCP (ABI 4), abstract Unix sockets and signals to other processes (ABI 6).
//! - **seccomp** (required): system calls outside an allow-list fail. This excludes sockets, new
//!   processes and threads, changes to files, access to other processes, and raising limits.
//! - **Resource limits** (required): address space, total CPU time, 64 open files, no bytes written
//!   to files, no core dumps.
//! - **Namespaces** (if the system allows them): separate user, network, IPC and UTS namespaces.
//!
//! **Protected:** the contents of all other files, the network, other processes, and memory beyond
//! the limit of the process.
//!
//! **Not protected:**
//!
//! - Flaws in the kernel, and side channels such as timing.
//! - Readable files: the game's folder, the Python installation with its packages (or the game's
//!   own program), and the system paths in `linux::SYSTEM`.
//! - File metadata: Landlock does not restrict `stat` and `access`, so a game can test whether a
//!   path exists and read its size and times.
//! - General facts: the system time, the kernel version, the amount of memory, the user id.
//! - The CPU: a game may use it fully within the time limit of an action.
//! - Plays of the same game in the same process, which share its memory.
//! - Whatever a missing layer would cover, if the user runs games with `--unsafe-host`.
//!
//! **Invariant:** if a required layer is missing, no game is started, unless the user explicitly
//! waives it.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod syscalls;

use std::ffi::OsString;
use std::fmt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};

use serde::{Deserialize, Serialize};

/// The exit code of a launcher that could not set up the sandbox or start the program.
pub(crate) const SETUP_FAILED: u8 = 125;

/// The layers of the sandbox that are in force.
///
/// Landlock, seccomp and the resource limits are required; namespaces are an additional barrier
/// that many systems deny to ordinary users.
///
/// # Examples
///
/// ```
/// use rhae_pyhost::Layers;
///
/// let layers = Layers { landlock: Some(4), seccomp: true, namespaces: false, limits: true };
/// assert!(layers.missing().is_empty());
/// assert_eq!(layers.to_string(), "Landlock 4, seccomp, limits");
///
/// let old_kernel = Layers { landlock: None, ..layers };
/// assert_eq!(old_kernel.missing(), ["Landlock (files)"]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layers {
    /// The version of the kernel's Landlock ABI, or `None` if Landlock is not enforced. It
    /// restricts files; from version 4 on also TCP, and from version 6 on signals and abstract Unix
    /// sockets.
    pub landlock: Option<u8>,
    /// Whether the allow-list of system calls is enforced.
    pub seccomp: bool,
    /// Whether the process has separate user, network, IPC and UTS namespaces.
    pub namespaces: bool,
    /// Whether the limits on memory, CPU time and files are set.
    pub limits: bool,
}

impl Layers {
    /// Returns the required layers that are missing, as texts for the user. Landlock protects
    /// files, seccomp almost everything else.
    pub fn missing(&self) -> Vec<&'static str> {
        let required = [
            (self.landlock.is_some(), "Landlock (files)"),
            (self.seccomp, "seccomp (network, processes)"),
            (self.limits, "resource limits (memory)"),
        ];
        required
            .into_iter()
            .filter(|(present, _)| !present)
            .map(|(_, name)| name)
            .collect()
    }
}

impl fmt::Display for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let landlock = self.landlock.map(|abi| format!("Landlock {abi}"));
        let named = [
            (self.seccomp, "seccomp"),
            (self.namespaces, "namespaces"),
            (self.limits, "limits"),
        ];
        let named = named
            .into_iter()
            .filter(|(present, _)| *present)
            .map(|(_, name)| name.to_owned());
        let all: Vec<String> = landlock.into_iter().chain(named).collect();
        f.write_str(&if all.is_empty() {
            "none".to_owned()
        } else {
            all.join(", ")
        })
    }
}

/// The arguments of the launcher: a description of the sandbox, and the program to run in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SandboxSpec {
    /// Files and folders that the program may read and execute, in addition to the system's.
    pub(crate) read: Vec<PathBuf>,
    pub(crate) memory_mb: u64,
    pub(crate) cpu_seconds: u64,
    /// Whether to start the program even if required layers are missing.
    pub(crate) partial: bool,
    /// The program and its arguments. If empty, the launcher prints the layers instead.
    pub(crate) program: Vec<OsString>,
}

impl SandboxSpec {
    /// Returns the command-line arguments that [`parse`](Self::parse) accepts.
    pub(crate) fn to_arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        for path in &self.read {
            arguments.extend(["--read".into(), path.clone().into_os_string()]);
        }
        arguments.extend(["--memory-mb".into(), self.memory_mb.to_string().into()]);
        arguments.extend(["--cpu-seconds".into(), self.cpu_seconds.to_string().into()]);
        if self.partial {
            arguments.push("--partial".into());
        }
        arguments.push("--".into());
        arguments.extend(self.program.iter().cloned());
        arguments
    }

    fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self, String> {
        let mut spec = Self {
            read: Vec::new(),
            memory_mb: 0,
            cpu_seconds: 0,
            partial: false,
            program: Vec::new(),
        };
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let mut value = || {
                arguments
                    .next()
                    .ok_or_else(|| format!("`{}` needs a value", argument.display()))
            };
            let number = |value: OsString| {
                value
                    .to_str()
                    .and_then(|text| text.parse().ok())
                    .ok_or("a limit must be a number")
            };
            match argument.to_str() {
                Some("--read") => spec.read.push(value()?.into()),
                Some("--memory-mb") => spec.memory_mb = number(value()?)?,
                Some("--cpu-seconds") => spec.cpu_seconds = number(value()?)?,
                Some("--partial") => spec.partial = true,
                Some("--") => spec.program = arguments.by_ref().collect(),
                _ => return Err(format!("unknown argument `{}`", argument.display())),
            }
        }
        Ok(spec)
    }
}

/// Runs the launcher: enters the sandbox that the arguments describe and replaces this process with
/// the program that they name.
///
/// The arguments are `--read PATH` (repeatable), `--memory-mb N`, `--cpu-seconds N`, `--partial`,
/// and `--` followed by the program and its arguments. The function returns only if it fails, with
/// exit code 125, or if there is no program. In the latter case it prints the [`Layers`] as JSON.
///
/// The layers cannot be removed again, so a process that calls this function should do nothing
/// else. A host calls it in a hidden subcommand and passes that as
/// [`GamesOptions::launcher`](crate::GamesOptions::launcher).
pub fn launch(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    match enter(arguments) {
        Ok(layers) => {
            println!("{}", serde_json::json!(layers));
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("cannot set up the sandbox: {reason}");
            ExitCode::from(SETUP_FAILED)
        }
    }
}

fn enter(arguments: impl IntoIterator<Item = OsString>) -> Result<Layers, String> {
    let spec = SandboxSpec::parse(arguments)?;
    let layers = apply(&spec);
    let missing = layers.missing();
    if !missing.is_empty() && !spec.partial && !spec.program.is_empty() {
        return Err(format!("this system lacks {}", missing.join(", ")));
    }
    let Some((program, rest)) = spec.program.split_first() else {
        return Ok(layers);
    };
    Err(format!(
        "cannot start `{}`: {}",
        program.display(),
        Command::new(program).args(rest).exec()
    ))
}

#[cfg(target_os = "linux")]
use linux::apply;

/// Systems other than Linux provide none of the layers.
#[cfg(not(target_os = "linux"))]
fn apply(_spec: &SandboxSpec) -> Layers {
    Layers::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sandbox_spec_round_trips_through_arguments() {
        let spec = SandboxSpec {
            read: vec!["/usr".into(), "--read".into()],
            memory_mb: 512,
            cpu_seconds: 60,
            partial: true,
            program: vec!["python".into(), "--partial".into()],
        };
        assert_eq!(SandboxSpec::parse(spec.to_arguments()), Ok(spec));
        assert!(
            SandboxSpec::parse(["--memory-mb".into(), "much".into()])
                .unwrap_err()
                .contains("number")
        );
        assert!(
            SandboxSpec::parse(["rm".into()])
                .unwrap_err()
                .contains("unknown argument `rm`")
        );
    }

    #[test]
    fn missing_required_layers_are_named() {
        let all = Layers {
            landlock: Some(4),
            seccomp: true,
            namespaces: false,
            limits: true,
        };
        assert_eq!(
            (all.missing().len(), all.to_string().as_str()),
            (0, "Landlock 4, seccomp, limits")
        );
        assert_eq!(
            Layers {
                landlock: None,
                ..all
            }
            .missing(),
            ["Landlock (files)"]
        );
        assert_eq!(Layers::default().to_string(), "none");
    }
}

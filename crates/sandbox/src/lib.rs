//! A sandbox for untrusted processes, and the launcher that enters it.
//!
//! | item | role |
//! | --- | --- |
//! | [`SandboxSpec`] | a program, its arguments, the paths that it may read, and its limits |
//! | [`Launcher`] | starts programs in the sandbox |
//! | [`launch()`] | the code of the launcher's process |
//! | [`Layers`] | which layers of the sandbox the system provides |
//!
//! A [`Launcher`] starts a process, usually this program with a hidden subcommand, which calls
//! [`launch()`]. That process applies every layer to itself and then becomes the untrusted program
//! through `exec`, so no line of foreign code runs outside the sandbox.
//!
//! - **Landlock** (required): only the listed paths can be opened, for reading and executing. Newer
//!   kernels also deny TCP (ABI 4), abstract Unix sockets and signals to other processes (ABI 6).
//! - **seccomp** (required): system calls outside an allow-list fail. This excludes sockets, new
//!   processes and threads, changes to files, signals and other access to other processes, and
//!   raising limits. It does not depend on the version of Landlock.
//! - **Resource limits** (required): address space, total CPU time, 64 open files, no bytes written
//!   to files, no core dumps, no capabilities, no inherited descriptors.
//! - **Namespaces** (if the system allows them): separate network, IPC and UTS namespaces.
//! - **Private root** (if the system allows it): files that may not be read do not exist.
//! - **Private processes** (if the system allows them): other processes do not exist.
//!
//! **Protected:** the contents of all other files, the network, other processes, and memory beyond
//! the limit of the process. With a private root also the names, sizes and times of other files.
//!
//! **Not protected:**
//!
//! - Flaws in the kernel, and side channels such as timing.
//! - Readable files: [`SandboxSpec::read`] and the lists in `system_files`.
//! - Without a private root, file metadata: Landlock does not restrict `stat`, `access` and
//!   `readlink`, so a program can test whether a path exists and read its size and times.
//! - General facts: the system time, the kernel version, the amount of memory.
//! - The CPU: a program may use it fully within its limit on CPU time.
//! - Whatever a missing layer would cover, if [`SandboxSpec::partial`] is set.
//!
//! **Invariant:** if a required layer is missing, no program is started, unless the caller
//! explicitly waives it with [`SandboxSpec::partial`].
//!
//! **Boundary:** this crate knows no games, agents or protocols.

#[cfg(target_os = "linux")]
mod isolation;
mod launch;
mod launcher;
mod layers;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod private_root;
#[cfg(target_os = "linux")]
mod raw;
#[cfg(target_os = "linux")]
mod root_plan;
mod spec;
#[cfg(target_os = "linux")]
mod syscalls;
#[cfg(target_os = "linux")]
mod system_files;

pub use launch::launch;
pub use launcher::{Launcher, program_id};
pub use layers::Layers;
pub use spec::{ResourceLimits, SandboxSpec};

/// The exit code of a launcher that could not set up the sandbox or start the program.
pub const SETUP_FAILED: u8 = 125;

/// The reason why the sandbox cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SandboxError {
    /// The launcher did not report the layers of the sandbox.
    #[error("the launcher did not report the layers of the sandbox: {0}")]
    NoReport(String),
}

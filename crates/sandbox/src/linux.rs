//! The layers on Linux, applied in the order namespaces, limits, Landlock, seccomp, because a later
//! layer may forbid what an earlier one needs.

use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use nix::sys::resource::{Resource, setrlimit};
use rustix::thread::{
    CapabilitySet, CapabilitySets, clear_ambient_capability_set, set_capabilities,
};

use crate::isolation::{self, Isolation};
use crate::system_files::system_files;
use crate::{Layers, SandboxSpec, raw, syscalls};

/// The newest version of the Landlock ABI that is used.
const LANDLOCK_ABI: u8 = 6;
/// The maximum number of open files and pipes.
const MAX_OPEN_FILES: u64 = 64;

/// Permanently applies every layer that the system provides to this process. The function may
/// return in another process (see [`isolation::enter`]).
pub(crate) fn apply(spec: &SandboxSpec) -> Result<Layers, String> {
    // A program that inherits a descriptor could use what it refers to.
    let closed = raw::close_descriptors_on_exec().is_ok();
    // A signal that ends the program also ends the launcher, which must not write a core dump.
    let no_dump = setrlimit(Resource::RLIMIT_CORE, 0, 0).is_ok();
    let mut readable = system_files(spec.system);
    readable.extend(
        spec.read
            .iter()
            .filter_map(|path| std::path::absolute(path).ok()),
    );
    let isolation = if spec.without_namespaces {
        Isolation::default()
    } else {
        isolation::enter(&readable, own_executable(spec).as_deref())
            .map_err(|error| format!("cannot create a process: {error}"))?
    };
    let unprivileged = drop_capabilities().is_ok();
    let limits = closed && no_dump && unprivileged && set_limits(spec).is_ok();
    // Some containers forbid the Landlock system calls. Landlock then counts as missing.
    let max_abi = spec.max_landlock_abi.unwrap_or(LANDLOCK_ABI);
    let landlock = restrict_files(&readable, max_abi).unwrap_or(None);
    let seccomp = syscalls::restrict().is_ok();
    Ok(Layers {
        landlock,
        seccomp,
        namespaces: isolation.namespaces,
        private_root: isolation.private_root,
        private_processes: isolation.private_processes,
        limits,
    })
}

/// Returns the executable of the launcher, which the program must not read, unless it is also the
/// program.
fn own_executable(spec: &SandboxSpec) -> Option<PathBuf> {
    let executable = std::env::current_exe().ok()?.canonicalize().ok()?;
    let program = spec.program.first().map(Path::new)?.canonicalize().ok();
    (program.as_ref() != Some(&executable)).then_some(executable)
}

/// Gives up all capabilities. A program started by the superuser does not regain them, because
/// Landlock and seccomp forbid new privileges.
fn drop_capabilities() -> rustix::io::Result<()> {
    let none = CapabilitySet::empty();
    clear_ambient_capability_set()?;
    set_capabilities(
        None,
        CapabilitySets {
            effective: none,
            permitted: none,
            inheritable: none,
        },
    )
}

fn set_limits(spec: &SandboxSpec) -> nix::Result<()> {
    let limits = [
        (Resource::RLIMIT_AS, spec.limits.memory_mb << 20),
        (Resource::RLIMIT_CPU, spec.limits.cpu_seconds),
        // Landlock forbids opening files for writing. This limit also covers descriptors that were
        // inherited.
        (Resource::RLIMIT_FSIZE, 0),
        (Resource::RLIMIT_NOFILE, MAX_OPEN_FILES),
        (Resource::RLIMIT_MEMLOCK, 0),
    ];
    limits
        .into_iter()
        .try_for_each(|(resource, limit)| setrlimit(resource, limit, limit))
}

/// Allows reading and executing the listed paths and denies everything else that the kernel's
/// Landlock version, but at most `max_abi`, can restrict: other files, TCP ports, abstract Unix
/// sockets, and signals to other processes. Returns the version of the ABI, or `None` if Landlock
/// is not available.
fn restrict_files(readable: &[PathBuf], max_abi: u8) -> Result<Option<u8>, landlock::RulesetError> {
    let abi = ABI::from(i32::from(max_abi));
    if abi == ABI::Unsupported {
        return Ok(None);
    }
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?;
    if abi >= ABI::V4 {
        rules = rules.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= ABI::V6 {
        rules = rules.scope(Scope::from_all(abi))?;
    }
    let mut rules = rules.create()?;
    for path in readable {
        // Paths that do not exist need no rule.
        if let Ok(opened) = PathFd::new(path) {
            let access = if path.is_dir() {
                AccessFs::from_read(abi)
            } else {
                AccessFs::Execute | AccessFs::ReadFile
            };
            rules = rules.add_rule(PathBeneath::new(opened, access))?;
        }
    }
    let status = rules.restrict_self()?;
    Ok(match (status.ruleset, status.landlock) {
        (RulesetStatus::NotEnforced, _) => None,
        (
            _,
            LandlockStatus::Available {
                effective_abi,
                kernel_abi,
            },
        ) => {
            let provided = kernel_abi.unwrap_or(effective_abi as i32);
            let provided = u8::try_from(provided).unwrap_or(u8::MAX);
            Some(provided.min(max_abi))
        }
        _ => None,
    })
}

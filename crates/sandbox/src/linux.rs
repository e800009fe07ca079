//! The layers on Linux, applied in the order namespaces, limits, Landlock, seccomp, because a later
//! layer may forbid what an earlier one needs.

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use nix::sched::{CloneFlags, unshare};
use nix::sys::resource::{Resource, setrlimit};

use crate::{Layers, SandboxSpec, syscalls};

/// The system paths that an interpreter needs, none of which belongs to the user. Paths that do not
/// exist are skipped.
const SYSTEM: [&str; 10] = [
    "/usr",
    "/lib",
    "/lib64",
    "/bin",
    "/nix/store",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/dev/null",
    "/dev/zero",
    "/dev/urandom",
];
/// The maximum number of open files and pipes.
const MAX_OPEN_FILES: u64 = 64;

/// Permanently applies every layer that the system provides to this process.
pub(crate) fn apply(spec: &SandboxSpec) -> Layers {
    let namespaces = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    // Many systems deny namespaces to ordinary users. The other layers do not depend on them.
    let namespaces = unshare(namespaces).is_ok();
    let limits = set_limits(spec).is_ok();
    // Some containers forbid the Landlock system calls. Landlock then counts as missing.
    let landlock = restrict_files(spec).unwrap_or(None);
    let seccomp = syscalls::restrict().is_ok();
    Layers {
        landlock,
        seccomp,
        namespaces,
        limits,
    }
}

fn set_limits(spec: &SandboxSpec) -> nix::Result<()> {
    let limits = [
        (Resource::RLIMIT_AS, spec.limits.memory_mb << 20),
        (Resource::RLIMIT_CPU, spec.limits.cpu_seconds),
        // Landlock forbids opening files for writing. This limit also covers descriptors that were
        // inherited.
        (Resource::RLIMIT_FSIZE, 0),
        (Resource::RLIMIT_NOFILE, MAX_OPEN_FILES),
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_MEMLOCK, 0),
    ];
    limits
        .into_iter()
        .try_for_each(|(resource, limit)| setrlimit(resource, limit, limit))
}

/// Allows reading and executing the listed paths and denies everything else that the kernel's
/// Landlock version can restrict: other files, TCP ports, abstract Unix sockets, and signals to
/// other processes. Returns the version of the ABI, or `None` if Landlock is not available.
fn restrict_files(spec: &SandboxSpec) -> Result<Option<u8>, landlock::RulesetError> {
    let abi = ABI::V6;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?;
    let system = SYSTEM.iter().map(std::path::Path::new);
    for path in system.chain(spec.read.iter().map(|path| path.as_path())) {
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
        ) => Some(u8::try_from(kernel_abi.unwrap_or(effective_abi as i32)).unwrap_or(u8::MAX)),
        _ => None,
    })
}

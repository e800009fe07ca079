//! The layers on Linux: namespaces, limits, Landlock, seccomp, in this order, because each may forbid what the next needs.

use landlock::{
    ABI, Access, AccessFs, AccessNet, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
    Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use nix::sched::{CloneFlags, unshare};
use nix::sys::resource::{Resource, setrlimit};

use super::{Layers, Order, syscalls};

/// What every interpreter needs of the system; none of it is the user's. What is missing is left out.
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
/// Open files and pipes at most.
const MOST_FILES: u64 = 64;

/// Applies every layer that the system has to this process, for good.
pub(super) fn apply(order: &Order) -> Layers {
    let namespaces = CloneFlags::CLONE_NEWUSER
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS;
    // Many systems forbid them to ordinary users; the other layers do without.
    let namespaces = unshare(namespaces).is_ok();
    let limits = limit(order).is_ok();
    // Some containers forbid the very calls; that is as if there were none.
    let landlock = restrict_files(order).unwrap_or(None);
    let seccomp = syscalls::restrict().is_ok();
    Layers {
        landlock,
        seccomp,
        namespaces,
        limits,
    }
}

fn limit(order: &Order) -> nix::Result<()> {
    let limits = [
        (Resource::RLIMIT_AS, order.memory_mb << 20),
        (Resource::RLIMIT_CPU, order.cpu_seconds),
        // Nothing may be written anyway; this holds even if a file came open from outside.
        (Resource::RLIMIT_FSIZE, 0),
        (Resource::RLIMIT_NOFILE, MOST_FILES),
        (Resource::RLIMIT_CORE, 0),
        (Resource::RLIMIT_MEMLOCK, 0),
    ];
    limits
        .into_iter()
        .try_for_each(|(resource, most)| setrlimit(resource, most, most))
}

/// Lets the named paths be read and executed, and nothing else be touched: no other file, no port, no foreign process. Gives the
/// version of the interface, or `None` where the kernel has none.
fn restrict_files(order: &Order) -> Result<Option<u8>, landlock::RulesetError> {
    let abi = ABI::V6;
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(abi))?
        .handle_access(AccessNet::from_all(abi))?
        .scope(Scope::from_all(abi))?
        .create()?;
    let system = SYSTEM.iter().map(std::path::Path::new);
    for path in system.chain(order.read.iter().map(|path| path.as_path())) {
        // What does not exist need not be allowed.
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

//! The system-call filter: an allow-list of what an interpreter needs to compute, read files and
//! write its responses.
//!
//! Every other call fails with `EPERM`, which a Python game sees as an exception. This excludes
//! sockets, new processes and threads, changes to files, access to other processes, raised limits,
//! and any call that future kernels add.
//!
//! A call that can name another process, ask for a signal or reserve memory outside the limit is
//! allowed only with the arguments listed in [`rules`]. The filter does not rely on Landlock for
//! this: Landlock restricts signals only from ABI 6 on, and truncation by `open` only from ABI 3
//! on.

use std::collections::BTreeMap;

use libc::{c_int, c_long};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, apply_filter,
};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// System calls that are allowed with any arguments.
const ALLOWED: &[c_long] = &[
    // Reading files, and writing to open descriptors.
    libc::SYS_read,
    libc::SYS_write,
    libc::SYS_readv,
    libc::SYS_writev,
    libc::SYS_pread64,
    libc::SYS_lseek,
    libc::SYS_close,
    libc::SYS_close_range,
    libc::SYS_openat,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_fstatfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_epoll_create1,
    libc::SYS_epoll_ctl,
    libc::SYS_epoll_pwait,
    libc::SYS_eventfd2,
    // Memory.
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_brk,
    libc::SYS_get_mempolicy,
    // Time.
    libc::SYS_nanosleep,
    libc::SYS_gettimeofday,
    libc::SYS_times,
    libc::SYS_setitimer,
    libc::SYS_getitimer,
    // Signals, scheduling, and information about the process itself.
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigpending,
    libc::SYS_rt_sigtimedwait,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_futex,
    libc::SYS_set_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_getcpu,
    libc::SYS_getpid,
    libc::SYS_gettid,
    libc::SYS_getppid,
    libc::SYS_getuid,
    libc::SYS_geteuid,
    libc::SYS_getgid,
    libc::SYS_getegid,
    libc::SYS_getresuid,
    libc::SYS_getresgid,
    libc::SYS_getgroups,
    libc::SYS_getrusage,
    libc::SYS_uname,
    libc::SYS_sysinfo,
    libc::SYS_umask,
    libc::SYS_getrandom,
    libc::SYS_wait4,
    libc::SYS_exit,
    libc::SYS_exit_group,
    // The launcher starts the interpreter after the filter is in force. Whatever a game executes
    // stays in the same sandbox.
    libc::SYS_execve,
];

/// Legacy calls that exist only on x86-64. Most are older forms of the calls above.
#[cfg(target_arch = "x86_64")]
const LEGACY: &[c_long] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_wait,
    libc::SYS_time,
    libc::SYS_alarm,
    libc::SYS_getrlimit,
    libc::SYS_getpgrp,
    libc::SYS_arch_prctl,
];
#[cfg(not(target_arch = "x86_64"))]
const LEGACY: &[c_long] = &[];

/// The allowed `ioctl` requests: TCGETS, TCGETS2, FIONREAD, FIONBIO, FIONCLEX and FIOCLEX. The
/// requests that direct signals to a process (FIOSETOWN, SIOCSPGRP, FIOASYNC) are not among them.
const IOCTLS: [u64; 6] = [0x5401, 0x802c_542a, 0x541b, 0x5421, 0x5450, 0x5451];

/// The allowed `prctl` options: naming memory regions and the process itself.
const PRCTLS: [c_int; 3] = [libc::PR_SET_VMA, libc::PR_SET_NAME, libc::PR_GET_NAME];

/// The allowed `fcntl` commands, in addition to F_SETFL. Other commands can direct signals to a
/// process (F_SETOWN, F_SETOWN_EX, F_SETSIG, F_NOTIFY, F_SETLEASE), lock files that other processes
/// use, or enlarge pipes.
const FCNTLS: [c_int; 5] = [
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
];

/// The flags that F_SETFL may contain. O_ASYNC, which requests signals, is not among them.
const SETTABLE_FLAGS: c_int = libc::O_ACCMODE | libc::O_NONBLOCK | libc::O_APPEND | LARGE_FILE;
/// O_LARGEFILE as the kernel reports it; libc defines it as 0 on 64-bit systems.
#[cfg(target_arch = "aarch64")]
const LARGE_FILE: c_int = 0o400_000;
#[cfg(not(target_arch = "aarch64"))]
const LARGE_FILE: c_int = 0o100_000;

/// The flags of `open` that write, create or truncate a file, or request signals. Before Landlock
/// ABI 3, `O_RDONLY | O_TRUNC` truncates any file that may be read.
const DENIED_OPEN_FLAGS: [c_int; 6] = [
    libc::O_WRONLY,
    libc::O_RDWR,
    libc::O_CREAT,
    libc::O_TRUNC,
    libc::O_TMPFILE & !libc::O_DIRECTORY,
    libc::O_ASYNC,
];

/// The greatest id of a clock that does not belong to a process (`CLOCK_TAI`). The ids of the CPU
/// clocks of processes are negative.
const LAST_CLOCK: u64 = 11;

/// Permanently applies the filter to this process.
pub(crate) fn restrict() -> Result<(), seccompiler::Error> {
    // Opening a file for writing fails with `EACCES`, as it does without permission.
    apply(
        write_rules()?,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EACCES.cast_unsigned()),
    )?;
    apply(
        rules()?,
        SeccompAction::Errno(libc::EPERM.cast_unsigned()),
        SeccompAction::Allow,
    )
}

fn apply(
    rules: Rules,
    otherwise: SeccompAction,
    matching: SeccompAction,
) -> Result<(), seccompiler::Error> {
    let arch = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(rules, otherwise, matching, arch)?;
    apply_filter(&BpfProgram::try_from(filter)?)
}

/// Returns the allow-list.
fn rules() -> Result<Rules, BackendError> {
    let mut rules: Rules = ALLOWED
        .iter()
        .chain(LEGACY)
        .map(|&call| (call, Vec::new()))
        .collect();
    // The process id stays the same across `exec`.
    let this = u64::from(std::process::id());
    rules.insert(libc::SYS_kill, vec![all([equal(0, this)?])?]);
    rules.insert(libc::SYS_tgkill, vec![all([equal(0, this)?])?]);
    for call in [
        libc::SYS_sched_getaffinity,
        libc::SYS_sched_getparam,
        libc::SYS_sched_getscheduler,
    ] {
        // The id 0 means the calling process.
        let itself = [0, this].map(|id| all([equal(0, id)?]));
        rules.insert(call, itself.into_iter().collect::<Result<_, _>>()?);
    }
    // Reading its own limits is allowed; a null pointer as the new limit means no change.
    let no_new_limit = || SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0);
    let limits = [0, this].map(|id| all([equal(0, id)?, no_new_limit()?]));
    rules.insert(
        libc::SYS_prlimit64,
        limits.into_iter().collect::<Result<_, _>>()?,
    );
    let prctl = PRCTLS.map(|option| all([equal(0, u64::from(option.cast_unsigned()))?]));
    rules.insert(
        libc::SYS_prctl,
        prctl.into_iter().collect::<Result<_, _>>()?,
    );
    let ioctl = IOCTLS.map(|request| all([equal(1, request)?]));
    rules.insert(
        libc::SYS_ioctl,
        ioctl.into_iter().collect::<Result<_, _>>()?,
    );
    let fcntl = FCNTLS.map(|command| all([equal(1, u64::from(command.cast_unsigned()))?]));
    let set_flags = all([
        equal(1, u64::from(libc::F_SETFL.cast_unsigned()))?,
        only_flags(2, SeccompCmpArgLen::Qword, SETTABLE_FLAGS)?,
    ]);
    rules.insert(
        libc::SYS_fcntl,
        fcntl
            .into_iter()
            .chain([set_flags])
            .collect::<Result<_, _>>()?,
    );
    let pipe_flags = libc::O_CLOEXEC | libc::O_NONBLOCK;
    rules.insert(
        libc::SYS_pipe2,
        vec![all([only_flags(1, SeccompCmpArgLen::Dword, pipe_flags)?])?],
    );
    // The CPU clock of another process shows whether the process exists and what it does.
    for call in [
        libc::SYS_clock_gettime,
        libc::SYS_clock_getres,
        libc::SYS_clock_nanosleep,
    ] {
        let system_clock =
            SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Le, LAST_CLOCK)?;
        rules.insert(call, vec![all([system_clock])?]);
    }
    // Merging equal pages with those of other processes would reveal their contents by timing.
    let merge = libc::MADV_MERGEABLE.cast_unsigned().into();
    let no_merge = SeccompCondition::new(2, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, merge)?;
    rules.insert(libc::SYS_madvise, vec![all([no_merge])?]);
    Ok(rules)
}

/// Returns the calls that open a file for writing.
fn write_rules() -> Result<Rules, BackendError> {
    let with_flag = |argument: u8| -> Result<Vec<SeccompRule>, BackendError> {
        let flag = |flag: c_int| {
            let bits = u64::from(flag.cast_unsigned());
            let operator = SeccompCmpOp::MaskedEq(bits);
            all([SeccompCondition::new(
                argument,
                SeccompCmpArgLen::Dword,
                operator,
                bits,
            )?])
        };
        DENIED_OPEN_FLAGS.into_iter().map(flag).collect()
    };
    let mut rules = Rules::from([(libc::SYS_openat, with_flag(2)?)]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, with_flag(1)?);
    Ok(rules)
}

/// Returns a rule that matches if all conditions hold.
fn all<const N: usize>(conditions: [SeccompCondition; N]) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(Vec::from(conditions))
}

/// Compares a 32-bit argument.
fn equal(argument: u8, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

/// Requires that an argument has no flags but these.
fn only_flags(
    argument: u8,
    length: SeccompCmpArgLen,
    flags: c_int,
) -> Result<SeccompCondition, BackendError> {
    let others = !u64::from(flags.cast_unsigned());
    SeccompCondition::new(argument, length, SeccompCmpOp::MaskedEq(others), 0)
}

//! The system-call filter: an allow-list of what an interpreter needs to compute, read files and
//! write its responses.
//!
//! Every other call fails with `EPERM`, which a Python game sees as an exception. This excludes
//! sockets, new processes and threads, changes to files, access to other processes, raised limits,
//! and any call that future kernels add.

use std::collections::BTreeMap;

use libc::{SYS_execve, c_long};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter,
};

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
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_getcwd,
    libc::SYS_dup,
    libc::SYS_dup3,
    libc::SYS_pipe2,
    libc::SYS_fcntl,
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
    libc::SYS_madvise,
    libc::SYS_mincore,
    libc::SYS_brk,
    libc::SYS_membarrier,
    libc::SYS_get_mempolicy,
    // Time.
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_clock_gettime,
    libc::SYS_clock_getres,
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
    libc::SYS_get_robust_list,
    libc::SYS_set_tid_address,
    libc::SYS_rseq,
    libc::SYS_sched_yield,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_getparam,
    libc::SYS_sched_getscheduler,
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
    SYS_execve,
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

/// The allowed `ioctl` requests: TCGETS, FIONREAD, FIONBIO, FIONCLEX and FIOCLEX.
const IOCTLS: [u64; 5] = [0x5401, 0x541b, 0x5421, 0x5450, 0x5451];

/// Permanently applies the filter to this process.
pub(crate) fn restrict() -> Result<(), seccompiler::Error> {
    let arch = std::env::consts::ARCH.try_into()?;
    let filter = SeccompFilter::new(
        rules()?,
        SeccompAction::Errno(libc::EPERM.cast_unsigned()),
        SeccompAction::Allow,
        arch,
    )?;
    apply_filter(&BpfProgram::try_from(filter)?)
}

fn rules() -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = ALLOWED
        .iter()
        .chain(LEGACY)
        .map(|&call| (call, Vec::new()))
        .collect();
    let only = |argument: u8, size: SeccompCmpArgLen, value: u64| {
        SeccompRule::new(vec![SeccompCondition::new(
            argument,
            size,
            SeccompCmpOp::Eq,
            value,
        )?])
    };
    let (word, pointer) = (|| SeccompCmpArgLen::Dword, || SeccompCmpArgLen::Qword);
    // The process id stays the same across `exec`.
    let this = u64::from(std::process::id());
    rules.insert(libc::SYS_kill, vec![only(0, word(), this)?]);
    rules.insert(libc::SYS_tgkill, vec![only(0, word(), this)?]);
    // Reading limits is allowed; a null pointer as the new limit means no change.
    rules.insert(libc::SYS_prlimit64, vec![only(2, pointer(), 0)?]);
    // Allows naming memory regions and the process itself.
    let prctl = [libc::PR_SET_VMA, libc::PR_SET_NAME, libc::PR_GET_NAME];
    let prctl = prctl.map(|option| only(0, word(), u64::from(option.cast_unsigned())));
    rules.insert(
        libc::SYS_prctl,
        prctl.into_iter().collect::<Result<_, _>>()?,
    );
    let ioctl = IOCTLS.map(|request| only(1, word(), request));
    rules.insert(
        libc::SYS_ioctl,
        ioctl.into_iter().collect::<Result<_, _>>()?,
    );
    Ok(rules)
}

//! The system calls that have no safe interface.

#![allow(
    unsafe_code,
    reason = "without `fork`, each new process would start the launcher again, which may be a Python interpreter"
)]

use std::ffi::CStr;
use std::io;

use nix::sched::{CloneFlags, unshare};

/// Makes a mount read-only.
pub(crate) const READ_ONLY: u64 = 1;
/// Ignores the set-user-ID bit of programs on a mount.
pub(crate) const NO_SET_ID: u64 = 2;
/// Ignores device files on a mount.
pub(crate) const NO_DEVICES: u64 = 4;

/// Duplicates this process. Returns the id of the new process, or `None` in the new process.
///
/// # Errors
///
/// Fails if this process has several threads, or if the system denies another process.
pub(crate) fn fork() -> io::Result<Option<i32>> {
    // The kernel refuses this call if the process has several threads. Otherwise it has no effect.
    unshare(CloneFlags::CLONE_THREAD)?;
    // SAFETY: the process has a single thread, so no lock is held by a thread that the new process
    // lacks.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        child => Ok(Some(child)),
    }
}

/// Ends this process by a signal, without a core dump.
pub(crate) fn end_by_signal(signal: i32) -> ! {
    // SAFETY: neither call accesses memory of this process, and the default action runs no code.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
    // The signal does not end a process by default, or it is blocked.
    std::process::exit(128 + signal)
}

/// Closes all descriptors except the standard streams when a program is executed.
pub(crate) fn close_descriptors_on_exec() -> io::Result<()> {
    let flags = libc::CLOSE_RANGE_CLOEXEC.cast_signed();
    // SAFETY: the call only marks descriptors; none is closed while this program uses it.
    match unsafe { libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The argument of `mount_setattr`.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// Sets attributes of a mount and of all mounts below it.
pub(crate) fn set_mount_attributes(path: &CStr, attributes: u64) -> io::Result<()> {
    let attributes = MountAttributes {
        set: attributes,
        clear: 0,
        propagation: 0,
        user_namespace: 0,
    };
    // SAFETY: `path` ends with a zero byte, and the size is that of the structure, which outlives
    // the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

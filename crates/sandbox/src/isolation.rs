//! Namespaces: a separate network, a private root and separate process ids.
//!
//! Many systems deny namespaces to ordinary users, and some deny only a part of them. Every part
//! that the system allows is used; the other layers do not depend on them.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use nix::sched::{CloneFlags, unshare};
use rustix::process::{Pid, WaitOptions, WaitStatus, getegid, geteuid, waitpid};
use rustix::stdio::{dup2_stderr, dup2_stdin, dup2_stdout};

use crate::{SETUP_FAILED, private_root, raw};

/// The user and group id that the program sees.
const UNPRIVILEGED_ID: u32 = 65534;

/// The parts that are in force.
#[derive(Clone, Copy, Default)]
pub(crate) struct Isolation {
    pub(crate) namespaces: bool,
    pub(crate) private_root: bool,
    pub(crate) private_processes: bool,
}

/// Enters new namespaces. If process ids are separated, the function returns in another process
/// than the one that called it; the calling process waits for it and ends like it.
///
/// # Errors
///
/// Fails only if the system denies a process after it has allowed a first one.
pub(crate) fn enter(readable: &[PathBuf], hidden: Option<&Path>) -> io::Result<Isolation> {
    let separate = CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWIPC | CloneFlags::CLONE_NEWUTS;
    let hiding = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID;
    let user = CloneFlags::CLONE_NEWUSER;
    let (uid, gid) = (geteuid().as_raw(), getegid().as_raw());
    let hides = if unshare(user | separate | hiding).is_ok() {
        // Without this mapping, the private root cannot be created.
        let _ = map_ids(uid, gid);
        true
    } else if unshare(separate | hiding).is_ok() {
        // A privileged process does not need a user namespace.
        true
    } else if unshare(user | separate).is_ok() {
        false
    } else {
        return Ok(Isolation::default());
    };
    let mut isolation = Isolation {
        namespaces: true,
        ..Isolation::default()
    };
    if hides {
        let null = File::options().read(true).write(true).open("/dev/null");
        isolation.private_root = private_root::enter(readable, hidden).is_ok();
        if let Ok(null) = null {
            isolation.private_processes = become_separate_process(&null)?;
        }
    }
    Ok(isolation)
}

/// Maps the user and the group of this process to [`UNPRIVILEGED_ID`] in the new user namespace.
/// The program is then not the superuser even in its own namespace.
fn map_ids(uid: u32, gid: u32) -> io::Result<()> {
    fs::write("/proc/self/uid_map", format!("{UNPRIVILEGED_ID} {uid} 1"))?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/gid_map", format!("{UNPRIVILEGED_ID} {gid} 1"))
}

/// Continues in a new process, in which the process ids of the rest of the system do not exist.
/// Returns `false` if no process can be created.
///
/// Three processes remain in the process group of the caller:
///
/// - this one, the supervisor, which waits for the program and ends with the same exit status;
/// - the first process of the new process-id namespace, which does nothing. The kernel delivers
///   only signals with a handler to such a process, so it cannot be the program itself. It ends
///   when the supervisor ends, and the kernel then kills every process in the namespace;
/// - the process that becomes the program.
fn become_separate_process(null: &File) -> io::Result<bool> {
    let (mut alive, supervisor) = io::pipe()?;
    let Ok(first) = raw::fork() else {
        return Ok(false);
    };
    let Some(first) = first else {
        drop(supervisor);
        detach(null);
        let _ = alive.read(&mut [0]);
        std::process::exit(0)
    };
    let Some(program) = raw::fork()? else {
        return Ok(true);
    };
    detach(null);
    drop(alive);
    let status = wait(program);
    drop(supervisor);
    wait(first);
    end_like(status)
}

/// Releases the standard streams, so that the reader of a pipe notices when the program ends.
fn detach(null: &File) {
    let _ = dup2_stdin(null)
        .and_then(|()| dup2_stdout(null))
        .and_then(|()| dup2_stderr(null));
}

/// Waits until a child process has ended.
fn wait(child: i32) -> Option<WaitStatus> {
    let child = Pid::from_raw(child)?;
    loop {
        match waitpid(Some(child), WaitOptions::empty()) {
            Ok(ended) => return ended.map(|(_, status)| status),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Ends this process with the exit code or by the signal of another one.
fn end_like(status: Option<WaitStatus>) -> ! {
    if let Some(signal) = status.and_then(WaitStatus::terminating_signal) {
        raw::end_by_signal(signal);
    }
    let code = status.and_then(WaitStatus::exit_status);
    std::process::exit(code.unwrap_or(SETUP_FAILED.into()))
}

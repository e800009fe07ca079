//! A private root: an empty file system in which only the readable paths are mounted, read-only.
//! The rest of the system's files do not exist for the program.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::path::{Path, PathBuf};

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive,
    mount_change, unmount,
};
use rustix::process::pivot_root;

use crate::raw::{NO_DEVICES, NO_SET_ID, READ_ONLY, set_mount_attributes};
use crate::root_plan::{Entry, RootPlan};
use crate::system_files::LINKS;

/// Folders on which the new root can be mounted until it replaces the old one. A folder is used
/// only if the program needs nothing below it.
const MOUNT_POINTS: [&str; 6] = ["/mnt", "/media", "/opt", "/srv", "/tmp", "/sys"];
/// The new root itself contains only folders, links and mount points.
const OPTIONS: &std::ffi::CStr = c"mode=0755,size=1m,nr_inodes=8k";

/// Replaces the root of this mount namespace by one that contains only `paths`, without the file
/// `hidden`. Paths that do not exist are skipped.
///
/// # Errors
///
/// If an operation fails, the old root stays in place.
pub(crate) fn enter(paths: &[PathBuf], hidden: Option<&Path>) -> io::Result<()> {
    let mut plan = RootPlan::default();
    for path in paths {
        match plan.add(path) {
            Ok(()) => {}
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(error),
        }
    }
    for link in LINKS {
        plan.add_link(Path::new(link));
    }
    if plan.shows(Path::new("/")) {
        return Err(ErrorKind::InvalidInput.into());
    }
    let root = MOUNT_POINTS
        .map(Path::new)
        .into_iter()
        .find(|folder| folder.is_dir() && !plan.uses(folder))
        .ok_or(ErrorKind::NotFound)?;
    let folder = std::env::current_dir()?;
    // Nothing that is mounted here becomes visible to other processes.
    mount_change(
        "/",
        MountPropagationFlags::PRIVATE | MountPropagationFlags::REC,
    )?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    mount("tmpfs", root, "tmpfs", flags, OPTIONS)?;
    let entered = fill(&plan, root)
        .and_then(|()| hide(&plan, root, hidden))
        .and_then(|()| replace_root(root));
    if let Err(error) = entered {
        std::env::set_current_dir(&folder)?;
        unmount(root, UnmountFlags::DETACH)?;
        return Err(error);
    }
    // The program starts in the same folder if it may read it.
    std::env::set_current_dir(&folder).or_else(|_| std::env::set_current_dir("/"))
}

/// Creates the entries of the plan.
fn fill(plan: &RootPlan, root: &Path) -> io::Result<()> {
    for (path, entry) in plan.entries() {
        let target = inside(root, path);
        match entry {
            Entry::Folder => create_folder(&target)?,
            Entry::Link(text) => symlink(text, &target)?,
            Entry::MountFolder => {
                create_folder(&target)?;
                mount_bind_recursive(path, &target)?;
                restrict(&target, READ_ONLY | NO_SET_ID | NO_DEVICES)?;
            }
            Entry::MountFile => {
                File::create(&target)?;
                mount_bind(path, &target)?;
                let is_device = fs::metadata(path)?.file_type().is_char_device();
                let devices = if is_device { 0 } else { NO_DEVICES };
                restrict(&target, READ_ONLY | NO_SET_ID | devices)?;
            }
        }
    }
    Ok(())
}

/// Mounts an empty file over a file that the plan shows.
fn hide(plan: &RootPlan, root: &Path, hidden: Option<&Path>) -> io::Result<()> {
    let Some(hidden) = hidden.filter(|hidden| plan.shows(hidden)) else {
        return Ok(());
    };
    let empty = root.join(".hidden");
    File::create(&empty)?;
    mount_bind(&empty, inside(root, hidden))?;
    fs::remove_file(empty)
}

/// Makes `root` the root of the mount namespace and removes the old one.
fn replace_root(root: &Path) -> io::Result<()> {
    restrict(root, READ_ONLY | NO_SET_ID)?;
    std::env::set_current_dir(root)?;
    // With the same folder for both arguments, the old root is mounted over the new one.
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    std::env::set_current_dir("/")
}

/// Returns the place of an absolute path in the new root.
fn inside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn create_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        result => result,
    }
}

/// Sets attributes of a mount and of all mounts below it.
fn restrict(path: &Path, attributes: u64) -> io::Result<()> {
    set_mount_attributes(&CString::new(path.as_os_str().as_bytes())?, attributes)
}

/// Returns whether a path does not exist or must not be seen by this user, who then cannot read it
/// either.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::PermissionDenied
    )
}

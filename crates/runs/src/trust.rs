//! Whether other users can change a run folder.
//!
//! The configuration of a run may contain a command. A process that resumes the run must not execute
//! the command of another user, so it asks this module first. The rules are those of `StrictModes` in
//! OpenSSH: no other user may write the file, its folder or a parent folder. A parent folder with the
//! sticky bit, such as `/tmp`, is accepted, because only the owner of an entry can replace it there.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::process::geteuid;

use crate::{CONFIG, RunsError};

/// The user id of the system administrator, who can change every file anyway.
const ROOT: u32 = 0;
/// The mode bits that allow the group or others to write.
const WRITABLE_BY_OTHERS: u32 = 0o022;
const STICKY: u32 = 0o1000;

/// Returns why users other than the current one can change the configuration of a run, or `None` if
/// they cannot.
///
/// # Errors
///
/// Returns an error if the folder or its configuration cannot be examined.
pub fn changeable_by_others(folder: &Path) -> Result<Option<String>, RunsError> {
    let user = geteuid().as_raw();
    // The real path: every folder that others may rename is on it, and no symbolic link.
    let folder = folder
        .canonicalize()
        .map_err(RunsError::file("find", folder))?;
    let config = folder.join(CONFIG);
    let own = |metadata: &Metadata| metadata.uid() == user;
    for path in [&config, &folder] {
        let metadata = examine(path)?;
        if metadata.is_symlink() {
            return Ok(Some(format!("`{}` is a symbolic link", path.display())));
        }
        let problem = owner_problem(path, &metadata, own(&metadata))
            .or_else(|| mode_problem(path, metadata.mode()));
        if problem.is_some() {
            return Ok(problem);
        }
    }
    for path in folder.ancestors().skip(1) {
        let metadata = examine(path)?;
        let trusted = own(&metadata) || metadata.uid() == ROOT;
        let problem = owner_problem(path, &metadata, trusted).or_else(|| {
            let mode = metadata.mode();
            (mode & STICKY == 0).then(|| mode_problem(path, mode))?
        });
        if problem.is_some() {
            return Ok(problem);
        }
    }
    Ok(None)
}

fn examine(path: &Path) -> Result<Metadata, RunsError> {
    path.symlink_metadata()
        .map_err(RunsError::file("examine", path))
}

fn owner_problem(path: &Path, metadata: &Metadata, trusted: bool) -> Option<String> {
    (!trusted).then(|| {
        format!(
            "`{}` belongs to another user (user id {})",
            path.display(),
            metadata.uid()
        )
    })
}

fn mode_problem(path: &Path, mode: u32) -> Option<String> {
    (mode & WRITABLE_BY_OTHERS != 0).then(|| {
        format!(
            "other users can write to `{}` (its mode is {:o})",
            path.display(),
            mode & 0o7777
        )
    })
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::path::PathBuf;

    use super::*;
    use crate::RunFolder;

    /// A user id that is neither root nor, in practice, that of the tests.
    const OTHER: u32 = 54_321;

    /// Creates `shared/run` below a temporary folder. Returns the run folder.
    fn run_in(temp: &Path) -> PathBuf {
        let folder = temp.join("shared").join("run");
        RunFolder::create(&folder, &serde_json::json!({})).unwrap();
        folder
    }

    fn problem(folder: &Path) -> String {
        changeable_by_others(folder).unwrap().unwrap_or_default()
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn new_run_folder_is_trusted() {
        let temp = tempfile::tempdir().unwrap();
        assert_eq!(problem(&run_in(temp.path())), "");
    }

    #[test]
    fn folder_file_and_parents_must_not_be_writable_by_others() {
        let temp = tempfile::tempdir().unwrap();
        let folder = run_in(temp.path());
        let shared = folder.parent().unwrap().to_owned();
        for (path, usual) in [
            (folder.join(CONFIG), 0o644),
            (folder.clone(), 0o755),
            (shared.clone(), 0o755),
        ] {
            for mode in [usual | 0o020, usual | 0o002, 0o777] {
                set_mode(&path, mode);
                let expected = path.canonicalize().unwrap();
                let expected = format!("other users can write to `{}`", expected.display());
                assert!(problem(&folder).starts_with(&expected), "{mode:o}");
            }
            set_mode(&path, usual);
            assert_eq!(problem(&folder), "");
        }
        // Others cannot replace the entries of a sticky folder.
        set_mode(&shared, 0o1777);
        assert_eq!(problem(&folder), "");
        set_mode(&folder, 0o1777);
        assert!(problem(&folder).contains("its mode is 1777"));
    }

    #[test]
    fn symbolic_links_are_resolved() {
        let temp = tempfile::tempdir().unwrap();
        let folder = run_in(temp.path());
        let link = temp.path().join("link");
        symlink(&folder, &link).unwrap();
        assert_eq!(problem(&link), "");
        set_mode(folder.parent().unwrap(), 0o777);
        assert!(problem(&link).contains("/shared`"));
        set_mode(folder.parent().unwrap(), 0o755);
        fs::rename(folder.join(CONFIG), temp.path().join("other.json")).unwrap();
        symlink(temp.path().join("other.json"), folder.join(CONFIG)).unwrap();
        assert!(problem(&folder).contains("is a symbolic link"));
    }

    #[test]
    fn folder_of_another_user_is_not_trusted() {
        if !geteuid().is_root() {
            return rhae_testkit::skip("only root can give files to another user");
        }
        let temp = tempfile::tempdir().unwrap();
        let folder = run_in(temp.path());
        let shared = folder.parent().unwrap();
        for path in [&folder.join(CONFIG), &folder, shared] {
            chown(path, Some(OTHER), None).unwrap();
            let expected = format!(
                "`{}` belongs to another user (user id {OTHER})",
                path.canonicalize().unwrap().display()
            );
            assert_eq!(problem(&folder), expected);
            chown(path, Some(ROOT), None).unwrap();
        }
        assert_eq!(problem(&folder), "");
    }
}

//! The files of the system that programs need, none of which belongs to the user.

use std::fs;
use std::path::{Path, PathBuf};

/// Files that every program may read. Paths that do not exist are skipped.
const ALWAYS: [&str; 8] = [
    "/dev/null",
    "/dev/urandom",
    "/dev/zero",
    // Debian selects among implementations of a library with links in this folder.
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/usr/lib/locale",
    "/usr/share/zoneinfo",
];
/// The folders of the system for programs whose needs are not known.
const ALL: [&str; 5] = ["/usr", "/lib", "/lib64", "/bin", "/nix/store"];
/// Folders that are often symbolic links into `/usr`. Programs name their loader and libraries by
/// these paths.
pub(crate) const LINKS: [&str; 4] = ["/bin", "/lib", "/lib32", "/lib64"];
/// The names of dynamic loaders begin like this.
const LOADERS: [&str; 4] = ["ld-linux", "ld-musl", "ld64.so", "ld.so"];

/// Returns the system's files that a program may read.
pub(crate) fn system_files(all: bool) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = ALWAYS.map(PathBuf::from).to_vec();
    if all {
        files.extend(ALL.map(PathBuf::from));
    } else {
        files.extend(
            ["/lib", "/lib64"]
                .iter()
                .flat_map(|folder| loaders(folder.as_ref())),
        );
    }
    files
}

/// Finds the dynamic loaders in a folder.
fn loaders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_loader = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| LOADERS.iter().any(|start| name.starts_with(start)))
    };
    entries
        .map(|entry| entry.path())
        .filter(is_loader)
        .collect()
}

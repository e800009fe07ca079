//! The contents of a private root: which paths are mounted, and which folders and symbolic links
//! lead to them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Component, Path, PathBuf};

/// The number of symbolic links that a path may contain, as in the kernel.
const MAX_LINKS: usize = 40;

/// A path in a private root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// An empty folder that contains other entries.
    Folder,
    /// A symbolic link to this path.
    Link(PathBuf),
    /// A folder of the system with everything below it.
    MountFolder,
    /// A file of the system.
    MountFile,
}

impl Entry {
    const fn is_mount(&self) -> bool {
        matches!(self, Self::MountFolder | Self::MountFile)
    }
}

/// The contents of a private root.
#[derive(Debug, Default)]
pub(crate) struct RootPlan {
    /// Sorted, so that a folder comes before its contents.
    entries: BTreeMap<PathBuf, Entry>,
}

impl RootPlan {
    /// Adds a file or folder of the system under the same path, with the symbolic links on the way
    /// to it.
    ///
    /// # Errors
    ///
    /// Fails if the path does not exist or cannot be read.
    pub(crate) fn add(&mut self, path: &Path) -> io::Result<()> {
        let mut current = PathBuf::from("/");
        let mut pending = names(path);
        let mut links = 0;
        while let Some(name) = pending.pop() {
            if name == ".." {
                current.pop();
                continue;
            }
            let next = current.join(name);
            let kind = fs::symlink_metadata(&next)?.file_type();
            if kind.is_symlink() {
                links += 1;
                if links > MAX_LINKS {
                    return Err(io::Error::new(ErrorKind::InvalidInput, "too many links"));
                }
                let target = fs::read_link(&next)?;
                if target.is_absolute() {
                    current = PathBuf::from("/");
                }
                pending.extend(names(&target));
                self.entries.entry(next).or_insert(Entry::Link(target));
            } else if kind.is_dir() {
                self.entries.entry(next.clone()).or_insert(Entry::Folder);
                current = next;
            } else if pending.is_empty() {
                self.entries.insert(next, Entry::MountFile);
                return Ok(());
            } else {
                return Err(ErrorKind::NotADirectory.into());
            }
        }
        self.entries.insert(current, Entry::MountFolder);
        Ok(())
    }

    /// Adds a path if it is a symbolic link, without what it points to.
    pub(crate) fn add_link(&mut self, path: &Path) {
        if let Ok(target) = fs::read_link(path) {
            self.entries
                .entry(path.to_owned())
                .or_insert(Entry::Link(target));
        }
    }

    /// Returns the entries in the order of creation, without those that a mounted folder contains.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&Path, &Entry)> {
        let mut mounted: Option<&Path> = None;
        self.entries.iter().filter_map(move |(path, entry)| {
            if mounted.is_some_and(|folder| path.starts_with(folder)) {
                return None;
            }
            if *entry == Entry::MountFolder {
                mounted = Some(path);
            }
            Some((path.as_path(), entry))
        })
    }

    /// Returns whether a path of the system is visible in the private root.
    pub(crate) fn shows(&self, path: &Path) -> bool {
        self.entries
            .iter()
            .any(|(mounted, entry)| entry.is_mount() && path.starts_with(mounted))
    }

    /// Returns whether something below a folder is visible in the private root.
    pub(crate) fn uses(&self, folder: &Path) -> bool {
        self.shows(folder) || self.entries.keys().any(|path| path.starts_with(folder))
    }
}

/// Returns the names of a path, the first one last.
fn names(path: &Path) -> Vec<OsString> {
    let named = path
        .components()
        .rev()
        .filter(|component| matches!(component, Component::Normal(_) | Component::ParentDir));
    named
        .map(|component| component.as_os_str().to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]

    use std::os::unix::fs::symlink;

    use super::*;

    /// Returns the plan's entries below a folder, with paths relative to it.
    fn below(plan: &RootPlan, folder: &Path) -> Vec<(String, Entry)> {
        let relative = |path: &Path| path.strip_prefix(folder).ok()?.to_str().map(str::to_owned);
        plan.entries()
            .filter_map(|(path, entry)| Some((relative(path)?, entry.clone())))
            .filter(|(path, _)| !path.is_empty())
            .collect()
    }

    #[test]
    fn links_on_the_way_to_a_path_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("base/bin")).unwrap();
        fs::write(root.join("base/bin/python3"), "").unwrap();
        fs::create_dir_all(root.join("venv/bin")).unwrap();
        symlink("python3", root.join("venv/bin/python")).unwrap();
        symlink(
            root.join("current/bin/python3"),
            root.join("venv/bin/python3"),
        )
        .unwrap();
        symlink("../../base", root.join("venv/bin/up")).unwrap();
        symlink("base", root.join("current")).unwrap();
        let mut plan = RootPlan::default();
        plan.add(&root.join("venv/bin/python")).unwrap();
        plan.add(&root.join("venv/bin/up/bin")).unwrap();
        let expected = [
            ("base", Entry::Folder),
            ("base/bin", Entry::MountFolder),
            ("current", Entry::Link("base".into())),
            ("venv", Entry::Folder),
            ("venv/bin", Entry::Folder),
            ("venv/bin/python", Entry::Link("python3".into())),
            (
                "venv/bin/python3",
                Entry::Link(root.join("current/bin/python3")),
            ),
            ("venv/bin/up", Entry::Link("../../base".into())),
        ];
        assert_eq!(
            below(&plan, &root),
            expected.map(|(path, entry)| (path.to_owned(), entry))
        );
        assert!(plan.shows(&root.join("base/bin/python3")) && !plan.shows(&root.join("base")));
        assert!(plan.uses(&root) && !plan.uses(&root.join("other")));
    }

    #[test]
    fn endless_links_and_missing_paths_are_rejected() {
        let folder = tempfile::tempdir().unwrap();
        symlink("b", folder.path().join("a")).unwrap();
        symlink("a", folder.path().join("b")).unwrap();
        let mut plan = RootPlan::default();
        let error = plan.add(&folder.path().join("a")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let error = plan.add(&folder.path().join("missing")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn root_folder_is_mounted_whole() {
        let mut plan = RootPlan::default();
        plan.add(Path::new("/")).unwrap();
        plan.add(Path::new("/dev/null")).unwrap();
        let entries: Vec<_> = plan.entries().collect();
        assert_eq!(entries, [(Path::new("/"), &Entry::MountFolder)]);
    }
}

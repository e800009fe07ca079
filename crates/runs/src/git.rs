//! The commit of the git repository that contains a folder, read from its files.
//!
//! No program is started, so neither hooks nor the repository's configuration have an effect.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns the commit that is checked out in the repository that contains `folder`, or `None`
/// outside a repository and before its first commit.
pub fn git_commit(folder: &Path) -> Option<String> {
    let folder = folder.canonicalize().ok()?;
    let git = folder.ancestors().find_map(git_folder)?;
    let head = fs::read_to_string(git.join("HEAD")).ok()?;
    let commit = match head.trim().strip_prefix("ref: ") {
        Some(reference) => resolve(&git, reference)?,
        None => head.trim().to_owned(),
    };
    let is_hash =
        (40..=64).contains(&commit.len()) && commit.bytes().all(|b| b.is_ascii_hexdigit());
    is_hash.then_some(commit)
}

/// Returns the git folder of a working tree whose root is `folder`.
fn git_folder(folder: &Path) -> Option<PathBuf> {
    let git = folder.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    // A linked working tree has a file with the path of its git folder.
    let text = fs::read_to_string(&git).ok()?;
    Some(folder.join(text.trim().strip_prefix("gitdir: ")?))
}

/// Returns the commit of a reference such as `refs/heads/main`.
fn resolve(git: &Path, reference: &str) -> Option<String> {
    // A linked working tree shares the references of the main one.
    let shared = fs::read_to_string(git.join("commondir"))
        .map_or_else(|_| git.to_owned(), |common| git.join(common.trim()));
    let is_safe = reference.starts_with("refs/") && !reference.contains("..");
    for folder in [git, &shared] {
        if let Ok(commit) = fs::read_to_string(folder.join(reference))
            && is_safe
        {
            return Some(commit.trim().to_owned());
        }
    }
    let packed = fs::read_to_string(shared.join("packed-refs")).ok()?;
    packed.lines().find_map(|line| {
        let (commit, name) = line.split_once(' ')?;
        (name == reference).then(|| commit.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

    #[test]
    fn commit_is_read_from_loose_and_packed_references() {
        let temp = tempfile::tempdir().unwrap();
        let (git, inner) = (temp.path().join(".git"), temp.path().join("a/b"));
        fs::create_dir_all(git.join("refs/heads")).unwrap();
        fs::create_dir_all(&inner).unwrap();
        fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
        assert_eq!(git_commit(&inner), None, "there is no commit yet");
        fs::write(
            git.join("packed-refs"),
            format!("# pack-refs\n{COMMIT} refs/heads/main\n"),
        )
        .unwrap();
        assert_eq!(git_commit(&inner).as_deref(), Some(COMMIT));
        let newer = COMMIT.replace('0', "f");
        fs::write(git.join("refs/heads/main"), format!("{newer}\n")).unwrap();
        assert_eq!(git_commit(&inner), Some(newer));
        fs::write(git.join("HEAD"), format!("{COMMIT}\n")).unwrap();
        assert_eq!(git_commit(&inner).as_deref(), Some(COMMIT), "detached");
        fs::write(git.join("HEAD"), "nonsense").unwrap();
        assert_eq!(git_commit(&inner), None);
    }

    #[test]
    fn linked_working_tree_shares_references() {
        let temp = tempfile::tempdir().unwrap();
        let (main, tree) = (temp.path().join("main/.git"), temp.path().join("tree"));
        fs::create_dir_all(main.join("refs/heads")).unwrap();
        fs::create_dir_all(main.join("worktrees/tree")).unwrap();
        fs::create_dir_all(&tree).unwrap();
        fs::write(tree.join(".git"), "gitdir: ../main/.git/worktrees/tree\n").unwrap();
        fs::write(main.join("worktrees/tree/HEAD"), "ref: refs/heads/side\n").unwrap();
        fs::write(main.join("worktrees/tree/commondir"), "../..\n").unwrap();
        fs::write(main.join("refs/heads/side"), format!("{COMMIT}\n")).unwrap();
        assert_eq!(git_commit(&tree).as_deref(), Some(COMMIT));
    }
}

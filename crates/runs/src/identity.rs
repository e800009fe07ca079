//! The identity of a new run.

use rhae_protocol::RunIdentity;

use crate::git_commit;

/// Returns the identity of a run that starts in the current folder: what its user gives, and the
/// commit of the repository that contains the folder.
pub fn new_identity(name: Option<String>, tags: Vec<String>, note: Option<String>) -> RunIdentity {
    RunIdentity {
        name,
        tags,
        note,
        git_commit: std::env::current_dir()
            .ok()
            .and_then(|folder| git_commit(&folder)),
        ..RunIdentity::default()
    }
}

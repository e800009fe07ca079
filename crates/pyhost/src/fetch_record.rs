//! The record of files downloaded from a server: their origin and checksums.
//!
//! **Invariant:** a file whose content differs from what was downloaded counts as the user's own
//! and is never overwritten.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::HostError;
use crate::folder::failed;
use crate::regular_file::{is_missing, read_bytes, read_text};

/// The name of the record, a file in the folder of each downloaded game.
const FILE_NAME: &str = ".rhae-fetched.json";

/// The result of [`FetchRecord::write`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteOutcome {
    /// The file did not exist.
    Created,
    /// The file was unchanged since its last download and has been replaced with the server's new
    /// version.
    Updated,
    /// The file already had this content.
    Unchanged,
    /// The user created or changed the file, so it was not overwritten.
    Kept,
}

/// The files that were downloaded into a folder.
///
/// # Examples
///
/// ```
/// use rhae_pyhost::{FetchRecord, WriteOutcome};
///
/// let folder = tempfile::tempdir()?;
/// let mut record = FetchRecord { server: "http://localhost".to_owned(), ..Default::default() };
/// assert_eq!(record.write(folder.path(), "ab12.py", b"v1")?, WriteOutcome::Created);
/// assert_eq!(record.write(folder.path(), "ab12.py", b"v2")?, WriteOutcome::Updated);
///
/// // A file that the user has edited is never overwritten.
/// std::fs::write(folder.path().join("ab12.py"), "my changes")?;
/// assert_eq!(record.write(folder.path(), "ab12.py", b"v3")?, WriteOutcome::Kept);
/// record.save(folder.path())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchRecord {
    /// The address of the server.
    pub server: String,
    /// SHA-256 of each file by name, in hexadecimal.
    pub files: BTreeMap<String, String>,
}

impl FetchRecord {
    /// Reads the record of a folder. Returns `None` if nothing was downloaded into it.
    pub fn read(folder: &Path) -> Result<Option<Self>, HostError> {
        let file = canonical(folder)?.join(FILE_NAME);
        let text = match read_text(&file) {
            Ok(text) => text,
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let problem = |error: serde_json::Error| HostError::Metadata {
            file,
            problem: error.to_string(),
        };
        serde_json::from_str(&text).map(Some).map_err(problem)
    }

    /// Writes a downloaded file unless the user has changed it, and records its checksum. Call
    /// [`save`](Self::save) afterwards.
    ///
    /// # Panics
    ///
    /// Panics if `name` is not a single path component.
    pub fn write(
        &mut self,
        folder: &Path,
        name: &str,
        content: &[u8],
    ) -> Result<WriteOutcome, HostError> {
        assert!(
            !name.contains(['/', '\\']) && name != "..",
            "`name` must be a single path component"
        );
        let path = canonical(folder)?.join(name);
        let digest = sha256(content);
        let written = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => WriteOutcome::Created,
            Err(error) => return Err(failed("read", &path)(error)),
            Ok(_) => {
                let present = sha256(&read_bytes(&path)?);
                match self.files.get(name) {
                    _ if present == digest => WriteOutcome::Unchanged,
                    Some(fetched) if *fetched == present => WriteOutcome::Updated,
                    _ => return Ok(WriteOutcome::Kept),
                }
            }
        };
        if written != WriteOutcome::Unchanged {
            replace(&path, content)?;
        }
        self.files.insert(name.to_owned(), digest);
        Ok(written)
    }

    /// Writes the record into the folder.
    pub fn save(&self, folder: &Path) -> Result<(), HostError> {
        let text = serde_json::to_string_pretty(self).expect("a map of strings can be serialised");
        replace(&folder.join(FILE_NAME), text.as_bytes())
    }

    /// Returns one message per file that was changed or removed since its download.
    pub(crate) fn changes(&self, folder: &Path) -> Result<Vec<String>, HostError> {
        let folder = canonical(folder)?;
        let mut changes = Vec::new();
        for (name, digest) in &self.files {
            let path = folder.join(Path::new(name).file_name().unwrap_or_default());
            let change = match read_bytes(&path) {
                Ok(bytes) if sha256(&bytes) == *digest => continue,
                Ok(_) => "was changed",
                Err(error) if is_missing(&error) => "was removed",
                Err(HostError::NotRegular { .. }) => "was replaced with a link or a folder",
                Err(error) => return Err(error),
            };
            changes.push(format!(
                "`{}` {change} since it was fetched from {}",
                path.display(),
                self.server
            ));
        }
        Ok(changes)
    }
}

fn sha256(content: &[u8]) -> String {
    hex::encode(Sha256::digest(content))
}

/// Resolves the links in the path of a folder, which the user may have named by a link.
fn canonical(folder: &Path) -> Result<PathBuf, HostError> {
    folder.canonicalize().map_err(failed("find", folder))
}

/// Replaces a file atomically. A symbolic link is replaced itself; its target stays unchanged.
fn replace(path: &Path, content: &[u8]) -> Result<(), HostError> {
    let partial = path.with_added_extension("partial");
    let write = || {
        match fs::remove_file(&partial) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // `create_new` does not follow a link, unlike `create`.
        let mut file = fs::File::create_new(&partial)?;
        file.write_all(content)?;
        file.sync_all()?;
        fs::rename(&partial, path)
    };
    write().map_err(failed("write", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_changes_are_kept_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let mut fetched = FetchRecord {
            server: "http://here".to_owned(),
            ..FetchRecord::default()
        };
        assert_eq!(
            fetched.write(path, "a.py", b"1").unwrap(),
            WriteOutcome::Created
        );
        assert_eq!(
            fetched.write(path, "a.py", b"1").unwrap(),
            WriteOutcome::Unchanged
        );
        assert_eq!(
            fetched.write(path, "a.py", b"2").unwrap(),
            WriteOutcome::Updated
        );
        fetched.save(path).unwrap();
        let mut fetched = FetchRecord::read(path).unwrap().unwrap();
        assert_eq!(fetched.changes(path).unwrap(), Vec::<String>::new());
        fs::write(path.join("a.py"), "mine").unwrap();
        assert!(
            fetched.changes(path).unwrap()[0]
                .ends_with("a.py` was changed since it was fetched from http://here")
        );
        assert_eq!(
            fetched.write(path, "a.py", b"3").unwrap(),
            WriteOutcome::Kept
        );
        assert_eq!(fs::read(path.join("a.py")).unwrap(), b"mine");
        fs::write(path.join("b.py"), "never fetched").unwrap();
        assert_eq!(
            fetched.write(path, "b.py", b"3").unwrap(),
            WriteOutcome::Kept
        );
        fs::remove_file(path.join("a.py")).unwrap();
        assert!(fetched.changes(path).unwrap()[0].contains("was removed"));
    }

    #[test]
    fn links_are_neither_read_nor_written_through() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::write(path.join("secret"), "secret").unwrap();
        let mut fetched = FetchRecord::default();
        symlink(path.join("secret"), path.join("a.py.partial")).unwrap();
        fetched.write(path, "a.py", b"1").unwrap();
        symlink(path.join("secret"), path.join("b.py")).unwrap();
        let error = fetched.write(path, "b.py", b"1").unwrap_err();
        assert!(matches!(error, HostError::NotRegular { .. }), "{error}");
        assert_eq!(fs::read(path.join("secret")).unwrap(), b"secret");
        fs::remove_file(path.join("a.py")).unwrap();
        symlink(path.join("secret"), path.join("a.py")).unwrap();
        assert!(fetched.changes(path).unwrap()[0].contains("a.py` was replaced with a link"));
    }
}

//! What is remembered of files that were fetched from a server: where from, and their checksums.
//!
//! **Invariant:** a file whose content is not the one that was fetched belongs to the user and is never written.

use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::HostError;
use crate::folder::{failed, read_bytes, read_text};

/// The file's name, in the folder of each fetched game.
const NAME: &str = ".rhae-fetched.json";

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It was not there.
    New,
    /// It was there as fetched earlier, and the server has another one now.
    Updated,
    /// It was there and is the same.
    Same,
    /// The user changed it or made it: it was left alone.
    Kept,
}

/// The files that were fetched into a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fetched {
    /// The server.
    pub server: String,
    /// SHA-256 of each file, in hexadecimal digits.
    pub files: BTreeMap<String, String>,
}

impl Fetched {
    /// What is remembered of a folder, if anything was fetched into it.
    pub fn read(folder: &Path) -> Result<Option<Self>, HostError> {
        let file = folder.join(NAME);
        if !file.is_file() {
            return Ok(None);
        }
        let problem = |error: serde_json::Error| HostError::Metadata {
            file: file.clone(),
            problem: error.to_string(),
        };
        serde_json::from_str(&read_text(&file)?)
            .map(Some)
            .map_err(problem)
    }

    /// Writes a file of a game into a folder unless the user changed it, and remembers it. The name is one path component.
    pub fn write(
        &mut self,
        folder: &Path,
        name: &str,
        content: &[u8],
    ) -> Result<Written, HostError> {
        assert!(
            !name.contains(['/', '\\']) && name != "..",
            "the caller makes names of checked parts"
        );
        let path = folder.join(name);
        let digest = hex(content);
        let written = match fs::symlink_metadata(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Written::New,
            Err(error) => return Err(failed("read", &path)(error)),
            Ok(_) => {
                let present = hex(&read_bytes(&path)?);
                match self.files.get(name) {
                    _ if present == digest => Written::Same,
                    Some(fetched) if *fetched == present => Written::Updated,
                    _ => return Ok(Written::Kept),
                }
            }
        };
        if written != Written::Same {
            replace(&path, content)?;
        }
        self.files.insert(name.to_owned(), digest);
        Ok(written)
    }

    /// Writes down what is remembered.
    pub fn save(&self, folder: &Path) -> Result<(), HostError> {
        let text = serde_json::to_string_pretty(self).expect("texts can be written to memory");
        replace(&folder.join(NAME), text.as_bytes())
    }

    /// The files that are not as fetched, each with where it came from.
    pub(crate) fn changes(&self, folder: &Path) -> Result<Vec<String>, HostError> {
        let mut changes = Vec::new();
        for (name, digest) in &self.files {
            let path = folder.join(Path::new(name).file_name().unwrap_or_default());
            let change = match read_bytes(&path) {
                Ok(bytes) if hex(&bytes) == *digest => continue,
                Ok(_) => "was changed",
                Err(HostError::File { error, .. }) if error.kind() == ErrorKind::NotFound => {
                    "was removed"
                }
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

fn hex(content: &[u8]) -> String {
    Sha256::digest(content)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Writes a file whole or not at all.
fn replace(path: &Path, content: &[u8]) -> Result<(), HostError> {
    let partial = path.with_added_extension("partial");
    let write = || {
        let mut file = fs::File::create(&partial)?;
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
    fn what_the_user_changed_is_kept_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        let mut fetched = Fetched {
            server: "http://here".to_owned(),
            ..Fetched::default()
        };
        assert_eq!(fetched.write(path, "a.py", b"1").unwrap(), Written::New);
        assert_eq!(fetched.write(path, "a.py", b"1").unwrap(), Written::Same);
        assert_eq!(fetched.write(path, "a.py", b"2").unwrap(), Written::Updated);
        fetched.save(path).unwrap();
        let mut fetched = Fetched::read(path).unwrap().unwrap();
        assert_eq!(fetched.changes(path).unwrap(), Vec::<String>::new());
        fs::write(path.join("a.py"), "mine").unwrap();
        assert!(
            fetched.changes(path).unwrap()[0]
                .ends_with("a.py` was changed since it was fetched from http://here")
        );
        assert_eq!(fetched.write(path, "a.py", b"3").unwrap(), Written::Kept);
        assert_eq!(fs::read(path.join("a.py")).unwrap(), b"mine");
        fs::write(path.join("b.py"), "never fetched").unwrap();
        assert_eq!(fetched.write(path, "b.py", b"3").unwrap(), Written::Kept);
        fs::remove_file(path.join("a.py")).unwrap();
        assert!(fetched.changes(path).unwrap()[0].contains("was removed"));
    }
}

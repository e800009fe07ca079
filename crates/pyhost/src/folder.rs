//! Folders of games in the layout of the official toolkit: any folder below the given one that
//! contains a `metadata.json`.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::{FetchRecord, HostError, Metadata};

const METADATA: &str = "metadata.json";
/// The depth to which folders are searched.
const MAX_DEPTH: usize = 8;
/// The maximum number of folders that are searched, and of files and folders of one game.
const MAX_FOLDERS: usize = 20_000;
const MAX_FILE_BYTES: u64 = 16 << 20;
const MAX_GAME_BYTES: u64 = 64 << 20;

/// A hosted game on disk.
#[derive(Clone, Debug)]
pub struct GameFolder {
    /// The absolute path of the folder.
    pub path: PathBuf,
    pub metadata: Metadata,
    /// The Python source, or `None` for a program that implements the protocol itself.
    pub source: Option<PathBuf>,
    /// SHA-256 of the source, or of all files of a program. A snapshot is valid only for the same
    /// checksum.
    pub(crate) checksum: [u8; 32],
    /// One message per file that was changed or removed since it was downloaded.
    pub changed: Vec<String>,
}

impl GameFolder {
    /// Finds all games below a folder, sorted by path. Symbolic links to folders are not followed.
    ///
    /// # Errors
    ///
    /// Fails if any game is malformed ([`HostError::Metadata`], [`HostError::NoSource`]), cannot be
    /// read ([`HostError::File`]), or exceeds a limit ([`HostError::TooLarge`]).
    pub fn find(folder: &Path) -> Result<Vec<Self>, HostError> {
        let root = folder.canonicalize().map_err(failed("find", folder))?;
        let (mut found, mut pending, mut visited) = (Vec::new(), vec![(root, 0)], 0);
        while let Some((path, depth)) = pending.pop() {
            visited += 1;
            if visited > MAX_FOLDERS {
                return Err(HostError::TooLarge {
                    folder: folder.to_owned(),
                    problem: "more than 20,000 folders",
                });
            }
            if path.join(METADATA).is_file() {
                found.push(Self::read(&path)?);
            }
            for entry in fs::read_dir(&path).map_err(failed("read", &path))? {
                let entry = entry.map_err(failed("read", &path))?;
                if depth < MAX_DEPTH && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    pending.push((entry.path(), depth + 1));
                }
            }
        }
        found.sort_by(|one: &Self, other| one.path.cmp(&other.path));
        Ok(found)
    }

    fn read(path: &Path) -> Result<Self, HostError> {
        let file = path.join(METADATA);
        let text = read_text(&file)?;
        let metadata =
            Metadata::parse(&text).map_err(|problem| HostError::Metadata { file, problem })?;
        let source = metadata
            .command
            .is_none()
            .then(|| source_of(path, &metadata.class_name))
            .transpose()?;
        let checksum = match &source {
            Some(source) => Sha256::digest(read_bytes(source)?).into(),
            None => checksum_of_all(path)?,
        };
        let changed = FetchRecord::read(path)?
            .map_or_else(|| Ok(Vec::new()), |fetched| fetched.changes(path))?;
        Ok(Self {
            path: path.to_owned(),
            metadata,
            source,
            checksum,
            changed,
        })
    }

    /// Returns the SHA-256 digest of the game's source in hexadecimal. It identifies the game as it
    /// was played.
    pub fn digest(&self) -> String {
        hex::encode(self.checksum)
    }

    /// Reads the Python source, if there is one.
    pub(crate) fn source_text(&self) -> Result<Option<String>, HostError> {
        self.source.as_deref().map(read_text).transpose()
    }
}

/// Finds the source file of a class. Its name is the class name, in lower case or unchanged, with
/// the extension `.py`.
fn source_of(folder: &Path, class_name: &str) -> Result<PathBuf, HostError> {
    let expected = format!("{}.py", class_name.to_ascii_lowercase());
    let names = [expected.clone(), format!("{class_name}.py")];
    let found = names
        .into_iter()
        .map(|name| folder.join(name))
        .find(|file| file.is_file());
    found.ok_or_else(|| HostError::NoSource {
        folder: folder.to_owned(),
        expected,
    })
}

/// Computes a checksum over the names and contents of all files below a folder.
fn checksum_of_all(folder: &Path) -> Result<[u8; 32], HostError> {
    let (mut files, mut pending) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(path) = pending.pop() {
        for entry in fs::read_dir(&path).map_err(failed("read", &path))? {
            let entry = entry.map_err(failed("read", &path))?;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && entry.file_name() != "__pycache__" => {
                    pending.push(entry.path());
                }
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
        if files.len() + pending.len() > MAX_FOLDERS {
            return Err(HostError::TooLarge {
                folder: folder.to_owned(),
                problem: "more than 20,000 files",
            });
        }
    }
    files.sort();
    let (mut hasher, mut total) = (Sha256::new(), 0);
    for file in files {
        let bytes = read_bytes(&file)?;
        total += bytes.len() as u64;
        if total > MAX_GAME_BYTES {
            return Err(HostError::TooLarge {
                folder: folder.to_owned(),
                problem: "a game of more than 64 MiB",
            });
        }
        let name = file.strip_prefix(folder).unwrap_or(&file);
        hasher.update(name.as_os_str().as_encoded_bytes());
        hasher.update([0]);
        hasher.update(Sha256::digest(bytes));
    }
    Ok(hasher.finalize().into())
}

/// Reads a file of at most [`MAX_FILE_BYTES`].
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, HostError> {
    let mut bytes = Vec::new();
    let opened = fs::File::open(path).map_err(failed("read", path))?;
    opened
        .take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(failed("read", path))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(HostError::TooLarge {
            folder: path.to_owned(),
            problem: "more than 16 MiB",
        });
    }
    Ok(bytes)
}

pub(crate) fn read_text(path: &Path) -> Result<String, HostError> {
    let invalid = |_| HostError::Metadata {
        file: path.to_owned(),
        problem: "the file is not UTF-8 text".to_owned(),
    };
    String::from_utf8(read_bytes(path)?).map_err(invalid)
}

/// Returns a closure that wraps an I/O error about a file.
pub(crate) fn failed(
    operation: &'static str,
    path: &Path,
) -> impl FnOnce(std::io::Error) -> HostError + use<> {
    let path = path.to_owned();
    move |error| HostError::File {
        operation,
        path,
        error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(root: &Path, place: &str, metadata: &str, source: Option<&str>) {
        let folder = root.join(place);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(METADATA), metadata).unwrap();
        if let Some(name) = source {
            fs::write(folder.join(name), "print('hello')").unwrap();
        }
    }

    #[test]
    fn games_are_found_at_any_depth_and_sorted() {
        let root = tempfile::tempdir().unwrap();
        game(
            root.path(),
            "cd34/v2",
            r#"{"game_id": "cd34-v2", "class_name": "Deep"}"#,
            Some("Deep.py"),
        );
        game(
            root.path(),
            "ab12/v1",
            r#"{"game_id": "ab12-v1"}"#,
            Some("ab12.py"),
        );
        game(
            root.path(),
            "other",
            r#"{"game_id": "ef56-v1", "command": ["./game"]}"#,
            None,
        );
        let found = GameFolder::find(root.path()).unwrap();
        let ids: Vec<&str> = found.iter().map(|game| game.metadata.id.as_str()).collect();
        assert_eq!(ids, ["ab12-v1", "cd34-v2", "ef56-v1"]);
        assert_eq!(
            found[1].source.as_deref(),
            Some(found[1].path.join("Deep.py").as_path())
        );
        assert!(found[2].source.is_none());
        let before = found[2].checksum;
        fs::write(root.path().join("other/data"), "x").unwrap();
        assert_ne!(GameFolder::find(root.path()).unwrap()[2].checksum, before);
    }

    #[test]
    fn errors_name_the_file_and_the_field() {
        let root = tempfile::tempdir().unwrap();
        game(
            root.path(),
            "ab12/v1",
            r#"{"game_id": "ab12-v1", "tags": 3}"#,
            None,
        );
        let error = GameFolder::find(root.path()).unwrap_err().to_string();
        assert!(
            error.contains("ab12/v1/metadata.json`: `tags` must be a list"),
            "{error}"
        );
        game(root.path(), "ab12/v1", r#"{"game_id": "ab12-v1"}"#, None);
        let error = GameFolder::find(root.path()).unwrap_err().to_string();
        assert!(error.contains("has no `ab12.py`"), "{error}");
        let error = GameFolder::find(&root.path().join("none"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("cannot find"), "{error}");
    }
}

//! Folders of games as the official toolkit lays them out: any folder below the one named that holds a `metadata.json`.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::{Fetched, HostError, Metadata};

const METADATA: &str = "metadata.json";
/// How deep, and how far, folders are searched.
const DEEPEST: usize = 8;
const MOST_FOLDERS: usize = 20_000;
/// The largest file that belongs to a game, and all of its files together.
const LARGEST_FILE: u64 = 16 << 20;
const LARGEST_GAME: u64 = 64 << 20;

/// A game on disk.
#[derive(Clone, Debug)]
pub struct GameFolder {
    /// Where it is, as an absolute path.
    pub path: PathBuf,
    /// What it says of itself.
    pub metadata: Metadata,
    /// The Python source; `None` for a program that speaks the protocol itself.
    pub source: Option<PathBuf>,
    /// The checksum of all that the game consists of.
    pub(crate) checksum: [u8; 32],
    /// Files that were changed since they were fetched, and where from.
    pub changed: Vec<String>,
}

impl GameFolder {
    /// All games below a folder, sorted by their paths. Links to folders are not followed.
    pub fn find(folder: &Path) -> Result<Vec<Self>, HostError> {
        let root = folder.canonicalize().map_err(failed("find", folder))?;
        let (mut found, mut waiting, mut seen) = (Vec::new(), vec![(root, 0)], 0);
        while let Some((path, depth)) = waiting.pop() {
            seen += 1;
            if seen > MOST_FOLDERS {
                return Err(HostError::TooLarge {
                    folder: folder.to_owned(),
                    problem: "more folders than are searched for games",
                });
            }
            if path.join(METADATA).is_file() {
                found.push(Self::read(&path)?);
            }
            for entry in fs::read_dir(&path).map_err(failed("read", &path))? {
                let entry = entry.map_err(failed("read", &path))?;
                if depth < DEEPEST && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    waiting.push((entry.path(), depth + 1));
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
        let changed =
            Fetched::read(path)?.map_or_else(|| Ok(Vec::new()), |fetched| fetched.changes(path))?;
        Ok(Self {
            path: path.to_owned(),
            metadata,
            source,
            checksum,
            changed,
        })
    }

    /// The text of the Python source, if it has one.
    pub(crate) fn source_text(&self) -> Result<Option<String>, HostError> {
        self.source.as_deref().map(read_text).transpose()
    }
}

/// The file of a class, in lower case or as the class is written.
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

/// The checksum of all files below a folder, names included.
fn checksum_of_all(folder: &Path) -> Result<[u8; 32], HostError> {
    let (mut files, mut waiting) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(path) = waiting.pop() {
        for entry in fs::read_dir(&path).map_err(failed("read", &path))? {
            let entry = entry.map_err(failed("read", &path))?;
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && entry.file_name() != "__pycache__" => {
                    waiting.push(entry.path())
                }
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
        if files.len() + waiting.len() > MOST_FOLDERS {
            return Err(HostError::TooLarge {
                folder: folder.to_owned(),
                problem: "more files than a game may have",
            });
        }
    }
    files.sort();
    let (mut hasher, mut total) = (Sha256::new(), 0);
    for file in files {
        let bytes = read_bytes(&file)?;
        total += bytes.len() as u64;
        if total > LARGEST_GAME {
            return Err(HostError::TooLarge {
                folder: folder.to_owned(),
                problem: "more than 64 MiB of one game",
            });
        }
        let name = file.strip_prefix(folder).unwrap_or(&file);
        hasher.update(name.as_os_str().as_encoded_bytes());
        hasher.update([0]);
        hasher.update(Sha256::digest(bytes));
    }
    Ok(hasher.finalize().into())
}

/// Reads a file of bounded size.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, HostError> {
    let mut bytes = Vec::new();
    let opened = fs::File::open(path).map_err(failed("read", path))?;
    opened
        .take(LARGEST_FILE + 1)
        .read_to_end(&mut bytes)
        .map_err(failed("read", path))?;
    if bytes.len() as u64 > LARGEST_FILE {
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
        problem: "it is not UTF-8 text".to_owned(),
    };
    String::from_utf8(read_bytes(path)?).map_err(invalid)
}

/// An error about a file.
pub(crate) fn failed(
    what: &'static str,
    path: &Path,
) -> impl FnOnce(std::io::Error) -> HostError + use<> {
    let path = path.to_owned();
    move |error| HostError::File { what, path, error }
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
    fn folders_are_found_at_any_depth_in_a_fixed_order() {
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

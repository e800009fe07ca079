//! Folders of games in the layout of the official toolkit: any folder below the given one that
//! contains a `metadata.json`.
//!
//! **Invariants:** a game that cannot be loaded does not affect the others. The content of a source
//! is read once: what is digested is what is published and what the game's processes execute.

use std::fmt;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::regular_file::{read_bytes, read_text, text_of};
use crate::source::{game_class, source_file};
use crate::{FetchRecord, HostError, Metadata};

const METADATA: &str = "metadata.json";
/// The depth to which folders are searched.
const MAX_DEPTH: usize = 8;
/// The maximum number of folders that are searched, and of files and folders of one program.
const MAX_FOLDERS: usize = 20_000;
/// The maximum number of files and folders that a search looks at.
const MAX_ENTRIES: usize = 1_000_000;
/// The maximum size of the files of one program.
const MAX_PROGRAM_BYTES: u64 = 64 << 20;
/// The maximum size of all sources below one folder, which are kept in memory.
const MAX_SOURCES_BYTES: usize = 256 << 20;

/// A hosted game on disk.
#[derive(Clone, Debug)]
pub struct GameFolder {
    /// The absolute path of the folder.
    pub path: PathBuf,
    pub metadata: Metadata,
    /// The Python source, or `None` for a program that implements the protocol itself.
    pub source: Option<PathBuf>,
    /// The content of the source; empty for a program.
    code: SourceCode,
    /// SHA-256 of the source, or of all files of a program. A snapshot is valid only for the same
    /// checksum.
    pub(crate) checksum: [u8; 32],
    /// One message per file that was changed or removed since it was downloaded.
    pub changed: Vec<String>,
    /// Identifies the source file as it was when its content was read.
    stamp: Option<FileStamp>,
}

/// Identifies a file without reading its content: inode, size and the time of its last change. The
/// system sets that time, so a program that changes the file cannot keep it.
type FileStamp = (u64, u64, i64, i64);

fn stamp(file: &Path) -> Option<FileStamp> {
    let found = fs::symlink_metadata(file).ok()?;
    Some((found.ino(), found.size(), found.ctime(), found.ctime_nsec()))
}

/// The content of a source file.
#[derive(Clone)]
struct SourceCode(Arc<[u8]>);

impl fmt::Debug for SourceCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SourceCode({} bytes)", self.0.len())
    }
}

/// The games below a folder.
#[derive(Debug, Default)]
pub struct FoundGames {
    /// The games that can be hosted, sorted by path.
    pub games: Vec<GameFolder>,
    /// For each game or folder that was skipped, the reason, which names it.
    pub skipped: Vec<HostError>,
}

impl GameFolder {
    /// Finds all games below a folder, which may be a symbolic link. Links below it are not
    /// followed. A game that is malformed or cannot be read is skipped.
    ///
    /// # Errors
    ///
    /// Fails if the folder cannot be read ([`HostError::File`]) or is too large to be searched
    /// ([`HostError::TooLarge`]).
    pub fn find(folder: &Path) -> Result<FoundGames, HostError> {
        let root = folder.canonicalize().map_err(failed("find", folder))?;
        fs::read_dir(&root).map_err(failed("read", &root))?;
        let too_large = |problem| HostError::TooLarge {
            folder: folder.to_owned(),
            problem,
        };
        let mut found = FoundGames::default();
        let (mut folders, mut entries, mut bytes) = (0, 0, 0);
        let mut pending = vec![(root, 0)];
        while let Some((path, depth)) = pending.pop() {
            folders += 1;
            if folders > MAX_FOLDERS {
                return Err(too_large("more than 20,000 folders"));
            }
            let listing = match fs::read_dir(&path) {
                Ok(listing) => listing,
                Err(error) => {
                    found.skipped.push(failed("read", &path)(error));
                    continue;
                }
            };
            let mut is_game = false;
            for entry in listing.filter_map(Result::ok) {
                entries += 1;
                if entries > MAX_ENTRIES {
                    return Err(too_large("more than 1,000,000 files"));
                }
                is_game |= entry.file_name() == METADATA;
                if depth < MAX_DEPTH && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    pending.push((entry.path(), depth + 1));
                }
            }
            if is_game {
                match Self::read(&path, MAX_SOURCES_BYTES - bytes) {
                    Ok(game) => {
                        bytes += game.code.0.len();
                        found.games.push(game);
                    }
                    Err(reason) => found.skipped.push(reason),
                }
            }
        }
        found.games.sort_by(|one, other| one.path.cmp(&other.path));
        found.skipped.sort_by_cached_key(ToString::to_string);
        Ok(found)
    }

    /// Reads a game whose source has at most `max_bytes`.
    fn read(path: &Path, max_bytes: usize) -> Result<Self, HostError> {
        let file = path.join(METADATA);
        let text = read_text(&file)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut metadata = Metadata::parse_in(&name, &text)
            .map_err(|problem| HostError::Metadata { file, problem })?;
        let changed = FetchRecord::read(path)?
            .map_or_else(|| Ok(Vec::new()), |fetched| fetched.changes(path))?;
        let mut read_stamp = None;
        let (source, code, checksum) = match &metadata.command {
            Some(command) => (None, Vec::new(), program_checksum(path, command)?),
            None => {
                let source = source_file(path, &metadata)?;
                read_stamp = stamp(&source);
                let code = read_bytes(&source)?;
                let checksum = Sha256::digest(&code).into();
                metadata.class_name = game_class(&text_of(&source, &code)?, &metadata.class_name);
                (Some(source), code, checksum)
            }
        };
        if code.len() > max_bytes {
            return Err(HostError::TooLarge {
                folder: path.to_owned(),
                problem: "more sources than the 256 MiB that one --games-dir may have",
            });
        }
        Ok(Self {
            path: path.to_owned(),
            metadata,
            source,
            code: SourceCode(code.into()),
            checksum,
            changed,
            stamp: read_stamp,
        })
    }

    /// Returns the SHA-256 digest of the game's source in hexadecimal. It identifies the game as it
    /// was played.
    pub fn digest(&self) -> String {
        hex::encode(self.checksum)
    }

    /// Returns the content of the Python source as it was digested, if there is one.
    pub(crate) fn code(&self) -> Option<&[u8]> {
        self.source.is_some().then_some(&*self.code.0)
    }

    /// Returns the text of the Python source as it was digested, if there is one.
    pub(crate) fn source_text(&self) -> Result<Option<String>, HostError> {
        let text = |source: &PathBuf| text_of(source, &self.code.0);
        self.source.as_ref().map(text).transpose()
    }

    /// Returns whether the files on disk differ from those that were digested. A file that cannot be
    /// read counts as changed.
    pub(crate) fn is_changed(&self) -> bool {
        match (&self.source, &self.metadata.command) {
            (Some(source), _) => {
                (self.stamp.is_none() || stamp(source) != self.stamp)
                    && !read_bytes(source).is_ok_and(|code| *code == *self.code.0)
            }
            (None, Some(command)) => {
                !program_checksum(&self.path, command).is_ok_and(|now| now == self.checksum)
            }
            (None, None) => false,
        }
    }

    /// Checks that the files of a program are those that were digested. A Python source needs no
    /// check, because its processes get the digested content.
    pub(crate) fn check_unchanged(&self) -> Result<(), HostError> {
        match &self.metadata.command {
            Some(command) if program_checksum(&self.path, command)? != self.checksum => {
                Err(HostError::Changed {
                    folder: self.path.clone(),
                })
            }
            _ => Ok(()),
        }
    }
}

/// Computes a checksum over the command of a program and the names and contents of all files below
/// its folder, except the metadata, recordings and Python's caches. Symbolic links are not followed:
/// their targets are part of the checksum, the content of the targets is not.
fn program_checksum(folder: &Path, command: &[String]) -> Result<[u8; 32], HostError> {
    let (mut files, mut pending) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(path) = pending.pop() {
        for entry in fs::read_dir(&path).map_err(failed("read", &path))? {
            let entry = entry.map_err(failed("read", &path))?;
            let name = entry.file_name();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {
                    let is_data = path == folder && name == "recordings";
                    if !is_data && name != "__pycache__" {
                        pending.push(entry.path());
                    }
                }
                Ok(kind) if kind.is_file() || kind.is_symlink() => {
                    let is_data = path == folder
                        && (name == METADATA || name.as_encoded_bytes().ends_with(b".jsonl"));
                    if !is_data {
                        files.push((entry.path(), kind.is_symlink()));
                    }
                }
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
    for word in command {
        hasher.update(word.as_bytes());
        hasher.update([0]);
    }
    for (file, is_link) in files {
        let bytes = if is_link {
            let target = fs::read_link(&file).map_err(failed("read", &file))?;
            target.into_os_string().into_encoded_bytes()
        } else {
            read_bytes(&file)?
        };
        total += bytes.len() as u64;
        if total > MAX_PROGRAM_BYTES {
            return Err(HostError::TooLarge {
                folder: folder.to_owned(),
                problem: "a game of more than 64 MiB",
            });
        }
        let name = file.strip_prefix(folder).unwrap_or(&file);
        hasher.update(name.as_os_str().as_encoded_bytes());
        hasher.update([0, u8::from(is_link)]);
        hasher.update(Sha256::digest(bytes));
    }
    Ok(hasher.finalize().into())
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
        let found = GameFolder::find(root.path()).unwrap().games;
        let ids: Vec<&str> = found.iter().map(|game| game.metadata.id.as_str()).collect();
        assert_eq!(ids, ["ab12-v1", "cd34-v2", "ef56-v1"]);
        assert_eq!(
            found[1].source.as_deref(),
            Some(found[1].path.join("Deep.py").as_path())
        );
        assert!(found[2].source.is_none());
        // Every file of a program is part of its checksum, except recordings.
        assert!(found[2].check_unchanged().is_ok());
        fs::create_dir(root.path().join("other/recordings")).unwrap();
        fs::write(root.path().join("other/recordings/a.jsonl"), "x").unwrap();
        assert!(found[2].check_unchanged().is_ok());
        fs::write(root.path().join("other/data"), "x").unwrap();
        let error = found[2].check_unchanged().unwrap_err().to_string();
        assert!(error.contains("have changed since"), "{error}");
    }

    #[test]
    fn malformed_games_are_skipped_with_a_reason_that_names_them() {
        let root = tempfile::tempdir().unwrap();
        let at = root.path();
        game(at, "good", r#"{"game_id": "ab12-v1"}"#, Some("ab12.py"));
        game(at, "tags", r#"{"game_id": "ab13-v1", "tags": 3}"#, None);
        game(at, "none", r#"{"game_id": "ab14-v1"}"#, None);
        game(at, "json", "{", None);
        let found = GameFolder::find(at).unwrap();
        assert_eq!(found.games.len(), 1);
        let reasons: Vec<String> = found.skipped.iter().map(ToString::to_string).collect();
        for expected in [
            "tags/metadata.json`: `tags` must be a list",
            "none` has no `ab14.py`",
            "json/metadata.json`: not JSON",
        ] {
            assert!(
                reasons.iter().any(|reason| reason.contains(expected)),
                "expected `{expected}` in {reasons:?}"
            );
        }
        assert_eq!(reasons.len(), 3, "{reasons:?}");
        let error = GameFolder::find(&at.join("missing"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("cannot find"), "{error}");
    }

    #[test]
    fn unusual_folders_are_loaded_like_by_the_toolkit() {
        let root = tempfile::tempdir().unwrap();
        let at = root.path();
        let add = |place: &str, metadata: &str, file: &str, code: &str| {
            game(at, place, metadata, None);
            fs::write(at.join(place).join(file), code).unwrap();
        };
        // The version is the name of the folder, and there are extra files.
        add(
            "mt01/v1",
            r#"{"game_id": "mt01"}"#,
            "mt01.py",
            "class Mt01(ARCBaseGame): ...",
        );
        fs::write(at.join("mt01/v1/README.md"), "x").unwrap();
        fs::write(at.join("mt01/v1/editor.py"), "x").unwrap();
        // The class has another name, which the metadata states, and the file is named after it.
        add(
            "mt02/v1",
            r#"{"game_id": "mt02-v1", "class_name": "MazeTwo"}"#,
            "mazetwo.py",
            "class MazeTwo(ARCBaseGame): ...",
        );
        // The file is named after the id instead.
        add(
            "mt03/v1",
            r#"{"game_id": "mt03-v1", "class_name": "MazeThree"}"#,
            "mt03.py",
            "class MazeThree(ARCBaseGame): ...",
        );
        // The metadata states no class name, and it is not the default.
        add(
            "mt04",
            r#"{"game_id": "mt04"}"#,
            "game.py",
            "class Maze(ARCBaseGame): ...",
        );
        let found = GameFolder::find(at).unwrap();
        assert!(found.skipped.is_empty(), "{:?}", found.skipped);
        let games: Vec<(&str, &str)> = found
            .games
            .iter()
            .map(|game| (game.metadata.id.as_str(), game.metadata.class_name.as_str()))
            .collect();
        assert_eq!(
            games,
            [
                ("mt01-v1", "Mt01"),
                ("mt02-v1", "MazeTwo"),
                ("mt03-v1", "MazeThree"),
                ("mt04-default", "Maze")
            ]
        );
    }

    #[test]
    fn links_in_a_game_are_refused_and_the_given_folder_may_be_one() {
        use std::os::unix::fs::symlink;

        let root = tempfile::tempdir().unwrap();
        let (at, secret) = (root.path().join("games"), root.path().join("secret"));
        fs::write(&secret, "a private key").unwrap();
        game(&at, "ab12/v1", r#"{"game_id": "ab12-v1"}"#, Some("ab12.py"));
        game(&at, "ab13/v1", r#"{"game_id": "ab13-v1"}"#, None);
        symlink(&secret, at.join("ab13/v1/ab13.py")).unwrap();
        fs::create_dir(at.join("ab14")).unwrap();
        symlink(
            at.join("ab12/v1/metadata.json"),
            at.join("ab14/metadata.json"),
        )
        .unwrap();
        // A link to a folder is not searched.
        symlink(at.join("ab12"), at.join("ab15")).unwrap();
        symlink(&at, root.path().join("link")).unwrap();
        let found = GameFolder::find(&root.path().join("link")).unwrap();
        assert_eq!(found.games.len(), 1);
        let reasons: Vec<String> = found.skipped.iter().map(ToString::to_string).collect();
        assert_eq!(reasons.len(), 2, "{reasons:?}");
        assert!(
            reasons[0].contains("ab13.py` is not a regular file"),
            "{reasons:?}"
        );
        assert!(
            reasons[1].contains("ab14/metadata.json` is not"),
            "{reasons:?}"
        );
    }

    #[test]
    fn source_is_published_as_it_was_digested() {
        let root = tempfile::tempdir().unwrap();
        game(
            root.path(),
            "x",
            r#"{"game_id": "ab12-v1"}"#,
            Some("ab12.py"),
        );
        let loaded = GameFolder::find(root.path()).unwrap().games.remove(0);
        fs::write(root.path().join("x/ab12.py"), "changed").unwrap();
        assert_eq!(loaded.source_text().unwrap().unwrap(), "print('hello')");
        assert_eq!(loaded.code().unwrap(), b"print('hello')");
        let reloaded = GameFolder::find(root.path()).unwrap().games.remove(0);
        assert_ne!(loaded.digest(), reloaded.digest());
    }
}

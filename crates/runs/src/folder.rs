//! The run folder and atomic writes of its files.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::RunsError;

/// The name of the configuration in a run folder.
pub const CONFIG: &str = "config.json";

/// A run folder: `config.json`, `journal.jsonl`, and the results that the run adds.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Creates a run folder with its configuration. Whatever the umask is, only the current user can
    /// write to them, so that a run can be resumed without asking for its command again (see
    /// [`changeable_by_others`](crate::changeable_by_others)).
    ///
    /// # Errors
    ///
    /// Returns [`RunsError::FolderInUse`] if the folder exists and is not empty, and
    /// [`RunsError::File`] if it cannot be read or written.
    pub fn create(path: &Path, config: &impl Serialize) -> Result<Self, RunsError> {
        let in_use = match fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_some(),
            Err(error) if error.kind() == ErrorKind::NotFound => false,
            Err(error) => return Err(RunsError::file("use the output folder", path)(error)),
        };
        if in_use {
            return Err(RunsError::FolderInUse(path.to_owned()));
        }
        DirBuilder::new()
            .recursive(true)
            .mode(0o755)
            .create(path)
            .map_err(RunsError::file("create", path))?;
        let folder = Self::open(path);
        folder.write_json(CONFIG, config)?;
        Ok(folder)
    }

    /// Returns the folder at `path` without reading it. To resume a run, use
    /// [`resume`](crate::resume), which checks the configuration.
    pub fn open(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Creates a subfolder if it does not exist.
    ///
    /// # Errors
    ///
    /// Returns [`RunsError::File`] if the subfolder cannot be created.
    pub fn create_subfolder(&self, name: &str) -> Result<(), RunsError> {
        let path = self.file(name);
        fs::create_dir_all(&path).map_err(RunsError::file("create", &path))
    }

    /// Writes a file atomically: a crash leaves either the old or the new content.
    ///
    /// # Errors
    ///
    /// Returns [`RunsError::File`] if the file cannot be written.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), RunsError> {
        let path = self.file(name);
        let unfinished = self.file(&format!(".{name}.unfinished"));
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o644)
            .open(&unfinished)
            .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&unfinished, &path))
            .map_err(RunsError::file("write", &path))
    }

    /// Writes a file in a subfolder atomically, and creates the subfolder if it does not exist.
    /// `path` is relative to the run folder.
    ///
    /// # Errors
    ///
    /// Returns [`RunsError::File`] if the file cannot be written.
    pub fn write_path(&self, path: &Path, content: &[u8]) -> Result<(), RunsError> {
        let target = self.path.join(path);
        let (folder, name) = match (target.parent(), target.file_name()) {
            (Some(folder), Some(name)) => (folder, name.to_string_lossy()),
            _ => {
                let error = ErrorKind::InvalidInput.into();
                return Err(RunsError::file("write", &target)(error));
            }
        };
        fs::create_dir_all(folder).map_err(RunsError::file("create", folder))?;
        Self::open(folder).write(&name, content)
    }

    /// Writes an indented JSON file atomically.
    ///
    /// # Errors
    ///
    /// Returns [`RunsError::File`] if the file cannot be written, and [`RunsError::Json`] if
    /// `content` cannot be serialised.
    pub fn write_json(&self, name: &str, content: &impl Serialize) -> Result<(), RunsError> {
        let mut text = serde_json::to_vec_pretty(content).map_err(|error| RunsError::Json {
            path: self.file(name),
            reason: error.to_string(),
        })?;
        text.push(b'\n');
        self.write(name, &text)
    }
}

/// Returns the path `folder/name`, with a number appended if it exists.
pub fn unused_folder(folder: &Path, name: &str) -> PathBuf {
    let numbered = |number: u32| match number {
        1 => folder.join(name),
        _ => folder.join(format!("{name}-{number}")),
    };
    (1..)
        .map(numbered)
        .find(|path| !path.exists())
        .expect("some number is unused")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_with_files_is_not_overwritten() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("run");
        let folder = RunFolder::create(&path, &serde_json::json!({"seed": 7})).unwrap();
        assert_eq!(
            fs::read_to_string(folder.file("config.json")).unwrap(),
            "{\n  \"seed\": 7\n}\n"
        );
        assert!(matches!(
            RunFolder::create(&path, &()),
            Err(RunsError::FolderInUse(_))
        ));
        assert_eq!(
            unused_folder(temp.path(), "run"),
            temp.path().join("run-2"),
            "the name is taken"
        );
        assert_eq!(unused_folder(temp.path(), "new"), temp.path().join("new"));
    }

    #[test]
    fn write_replaces_the_whole_file() {
        let temp = tempfile::tempdir().unwrap();
        let folder = RunFolder::open(temp.path());
        folder.write("a.txt", b"a long text").unwrap();
        folder.write("a.txt", b"short").unwrap();
        assert_eq!(fs::read(folder.file("a.txt")).unwrap(), b"short");
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    }
}

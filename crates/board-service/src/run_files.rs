//! The files of a run that a board stores: its configuration, its journal and its recordings.
//!
//! An evaluation of static tasks has no recordings. A run folder is untrusted, so every path is checked before it is opened, sizes are limited,
//! and links are not followed. Paths of the machine that played are removed from the configuration.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rhae_protocol::{Digest, EnvironmentVersion, EvalConfig, JournalLine, RunConfig};
use rhae_store::BoardFile;
use rhae_study::{digest, text_digest};

use crate::BoardError;

const CONFIG: &str = "config.json";
const JOURNAL: &str = "journal.jsonl";
const RECORDINGS: &str = "recordings/";
/// The maximum size of one file, and of all files of a run.
const MAX_FILE: u64 = 64 << 20;
const MAX_TOTAL: u64 = 512 << 20;

/// The files of a run by their paths in the run folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFiles {
    files: BTreeMap<String, String>,
}

impl RunFiles {
    /// Reads a run folder of `rhae run`.
    ///
    /// # Errors
    ///
    /// Returns [`BoardError::File`] if a file is missing, too large or not a file.
    pub fn read(folder: &Path) -> Result<Self, BoardError> {
        let mut total = 0;
        let config = read_file(folder, CONFIG, &mut total)?;
        let journal = read_file(folder, JOURNAL, &mut total)?;
        let mut files = BTreeMap::new();
        for line in journal.lines() {
            let Ok(JournalLine::Play { result, .. }) = serde_json::from_str(line) else {
                continue;
            };
            let name = result.recording;
            if !is_recording(&name) {
                return Err(BoardError::File {
                    what: "read",
                    path: folder.join(JOURNAL),
                    reason: format!("`{name}` is not the name of a recording"),
                });
            }
            let text = read_file(folder, &name, &mut total)?;
            files.insert(name, text);
        }
        files.insert(CONFIG.to_owned(), without_paths(&config));
        files.insert(JOURNAL.to_owned(), journal);
        Ok(Self { files })
    }

    /// Takes the files of a run that were sent by their paths in the run folder. Files that are
    /// neither the configuration, nor the journal, nor a recording are left out.
    pub fn from_texts(texts: BTreeMap<String, String>) -> Self {
        let files = texts.into_iter().filter_map(|(name, text)| match name {
            name if name == CONFIG => Some((name, without_paths(&text))),
            name if name == JOURNAL || is_recording(&name) => Some((name, text)),
            _ => None,
        });
        Self {
            files: files.collect(),
        }
    }

    /// Restores the files of a run from their names and texts in an export or a database. Files of
    /// other runs are left out.
    pub(crate) fn stored(digest: &Digest, files: impl Iterator<Item = (String, String)>) -> Self {
        let prefix = run_prefix(digest);
        let own = files.filter_map(|(name, text)| {
            let name = name.strip_prefix(&prefix)?;
            Some((name.to_owned(), text))
        });
        Self {
            files: own.collect(),
        }
    }

    /// Returns the text of a file.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.files.get(name).map(String::as_str)
    }

    pub(crate) fn config(&self) -> Option<&str> {
        self.get(CONFIG)
    }

    pub(crate) fn journal(&self) -> Option<&str> {
        self.get(JOURNAL)
    }

    /// Returns whether the run is an evaluation of static tasks.
    pub(crate) fn is_evaluation(&self) -> bool {
        let config = self.config().unwrap_or_default();
        serde_json::from_str::<EvalConfig>(config).is_ok()
    }

    /// Returns the environments that the journal names.
    pub(crate) fn environments(&self) -> Vec<EnvironmentVersion> {
        let lines = self.journal().unwrap_or_default().lines();
        let plays = lines.filter_map(|line| match serde_json::from_str(line) {
            Ok(JournalLine::Play { result, .. }) => Some(result.game_id.as_str().into()),
            _ => None,
        });
        plays.collect()
    }

    /// Returns the hash of the names and the hashes of all files.
    pub fn digest(&self) -> Digest {
        let hashes: BTreeMap<&String, Digest> = self
            .files
            .iter()
            .map(|(name, text)| (name, text_digest(text)))
            .collect();
        digest(&hashes)
    }

    /// Returns the files under the names by which a board stores them.
    pub fn board_files(&self) -> Vec<BoardFile> {
        let prefix = run_prefix(&self.digest());
        let files = self.files.iter();
        files
            .map(|(name, content)| BoardFile {
                name: format!("{prefix}{name}"),
                content: content.clone(),
            })
            .collect()
    }
}

/// Returns the start of the names under which a board stores the files of a run.
pub(crate) fn run_prefix(digest: &Digest) -> String {
    format!("runs/{digest}/")
}

/// Returns whether a name is that of a recording directly in the folder of recordings.
fn is_recording(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    name.strip_prefix(RECORDINGS).is_some_and(|file| {
        file.ends_with(".jsonl") && !file.starts_with('.') && file.bytes().all(plain)
    })
}

/// Reads a file without following links.
fn read_file(folder: &Path, name: &str, total: &mut u64) -> Result<String, BoardError> {
    let path = folder.join(name);
    let refuse = |reason: &str| BoardError::File {
        what: "read",
        path: path.clone(),
        reason: reason.to_owned(),
    };
    let parent = path.parent().unwrap_or(folder);
    let is_folder = fs::symlink_metadata(parent).is_ok_and(|found| found.is_dir());
    if parent != folder && !is_folder {
        return Err(refuse("its folder is missing or a link"));
    }
    let found = fs::symlink_metadata(&path).map_err(BoardError::file("read", &path))?;
    if !found.is_file() {
        return Err(refuse("it is not a file"));
    }
    *total += found.len();
    if found.len() > MAX_FILE || *total > MAX_TOTAL {
        return Err(refuse(
            "it is too large: at most 64 MiB per file and 512 MiB per run",
        ));
    }
    fs::read_to_string(&path).map_err(BoardError::file("read", &path))
}

/// Removes the paths of the machine that played from a configuration. A text that is not a
/// configuration is kept, and refused when the run is verified.
fn without_paths(text: &str) -> String {
    if let Ok(config) = serde_json::from_str::<EvalConfig>(text) {
        return without_data_paths(config, text);
    }
    let Ok(config) = serde_json::from_str::<RunConfig>(text) else {
        return text.to_owned();
    };
    let mut config = RunConfig {
        games_dirs: Vec::new(),
        ..config
    };
    if let Some(model) = &mut config.model {
        model.prompts_dir = None;
    }
    serde_json::to_string(&config).unwrap_or_else(|_| text.to_owned())
}

/// Removes the paths from the configuration of an evaluation. The hash of a prompt stays.
fn without_data_paths(mut config: EvalConfig, text: &str) -> String {
    config.data.clear();
    let settings = &mut config.solver_settings;
    settings.retain(|name, value| {
        let is_path = value
            .as_str()
            .is_some_and(|text| text.contains(['/', '\\']));
        !(matches!(name.as_str(), "models" | "prompts") || name == "prompt" && is_path)
    });
    serde_json::to_string(&config).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_recordings() {
        assert!(is_recording("recordings/1-kq19-v1.jsonl"));
        for name in [
            "recordings/../config.json",
            "../recordings/a.jsonl",
            "/etc/passwd",
            "recordings/a/b.jsonl",
            "recordings/.jsonl",
            "recordings/a.txt",
        ] {
            assert!(!is_recording(name), "{name}");
        }
    }
}

//! The run folder: its configuration, and atomic writes of its files.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use rhae_protocol::{RunConfig, SOFTWARE};
use serde::Serialize;

use crate::HarnessError;

/// The version of `config.json` that this software reads and writes.
pub const CONFIG_VERSION: u32 = 1;

/// A run folder: `config.json`, `journal.jsonl`, `recordings/` and, when the run ends,
/// `scorecard.json`, `summary.json` and `report.html`.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Creates a run folder with its configuration.
    ///
    /// # Errors
    ///
    /// Returns [`HarnessError::FolderInUse`] if the folder exists and is not empty,
    /// [`HarnessError::File`] if it cannot be read or written, and [`HarnessError::Config`] if the
    /// configuration cannot be serialised.
    pub fn create(path: &Path, config: &RunConfig) -> Result<Self, HarnessError> {
        let in_use = match fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_some(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => {
                return Err(HarnessError::File {
                    operation: "use the output folder",
                    path: path.to_owned(),
                    error,
                });
            }
        };
        if in_use {
            return Err(HarnessError::FolderInUse(path.to_owned()));
        }
        let folder = Self {
            path: path.to_owned(),
        };
        let recordings = path.join("recordings");
        fs::create_dir_all(&recordings).map_err(|error| HarnessError::File {
            operation: "create",
            path: recordings,
            error,
        })?;
        folder.write_json("config.json", config)?;
        Ok(folder)
    }

    /// Opens the folder of an existing run and loads its configuration.
    ///
    /// # Errors
    ///
    /// Returns [`HarnessError::OtherSoftware`] if another version started the run, and
    /// [`HarnessError::NotARun`] if `config.json` is missing, malformed or of another version.
    pub fn resume(path: &Path) -> Result<(Self, RunConfig), HarnessError> {
        let config = load_config(path)?;
        if config.software != SOFTWARE {
            return Err(HarnessError::OtherSoftware {
                started_by: config.software,
                this: SOFTWARE.to_owned(),
            });
        }
        Ok((
            Self {
                path: path.to_owned(),
            },
            config,
        ))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path of a file in the folder.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file atomically: a crash leaves either the old or the new content.
    ///
    /// # Errors
    ///
    /// Returns [`HarnessError::File`] if the file cannot be written.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), HarnessError> {
        let path = self.file(name);
        let unfinished = self.file(&format!(".{name}.unfinished"));
        let written = File::create(&unfinished)
            .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&unfinished, &path));
        written.map_err(|error| HarnessError::File {
            operation: "write",
            path,
            error,
        })
    }

    /// Writes an indented JSON file atomically.
    ///
    /// # Errors
    ///
    /// Returns [`HarnessError::File`] if the file cannot be written, and [`HarnessError::Config`]
    /// if `content` cannot be serialised.
    pub fn write_json(&self, name: &str, content: &impl Serialize) -> Result<(), HarnessError> {
        let mut text = serde_json::to_vec_pretty(content)
            .map_err(|error| HarnessError::Config(error.to_string()))?;
        text.push(b'\n');
        self.write(name, &text)
    }
}

/// Loads the configuration of a run folder.
///
/// # Errors
///
/// Returns [`HarnessError::NotARun`] if `config.json` is missing, malformed or of another version.
pub fn load_config(folder: &Path) -> Result<RunConfig, HarnessError> {
    let not_a_run = |reason: String| HarnessError::NotARun {
        folder: folder.to_owned(),
        reason,
    };
    let text = fs::read_to_string(folder.join("config.json"))
        .map_err(|error| not_a_run(format!("cannot read its config.json: {error}")))?;
    let config: RunConfig = serde_json::from_str(&text)
        .map_err(|error| not_a_run(format!("cannot parse its config.json: {error}")))?;
    if config.version != CONFIG_VERSION {
        return Err(not_a_run(format!(
            "its config.json has version {}, and this software reads version {CONFIG_VERSION}",
            config.version
        )));
    }
    Ok(config)
}

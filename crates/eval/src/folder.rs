//! The folder of an evaluation.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use rhae_protocol::{EVAL_VERSION, EvalConfig, SOFTWARE};
use serde::Serialize;

use crate::EvalError;

/// The folder of an evaluation. It contains `config.json`, `journal.jsonl` and, when the run has
/// ended, the results, the submission and the report.
#[derive(Clone, Debug)]
pub struct EvalFolder {
    path: PathBuf,
}

impl EvalFolder {
    /// Creates a folder with its configuration.
    ///
    /// # Errors
    ///
    /// Returns [`EvalError::FolderInUse`] if the folder exists and is not empty,
    /// [`EvalError::File`] if it cannot be read or written, and [`EvalError::Config`] if the
    /// configuration cannot be serialised.
    pub fn create(path: &Path, config: &EvalConfig) -> Result<Self, EvalError> {
        let in_use = match fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_some(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => {
                return Err(EvalError::File {
                    operation: "use the output folder",
                    path: path.to_owned(),
                    error,
                });
            }
        };
        if in_use {
            return Err(EvalError::FolderInUse(path.to_owned()));
        }
        fs::create_dir_all(path).map_err(|error| EvalError::File {
            operation: "create",
            path: path.to_owned(),
            error,
        })?;
        let folder = Self {
            path: path.to_owned(),
        };
        folder.write_json("config.json", config)?;
        Ok(folder)
    }

    /// Opens the folder of an existing run and loads its configuration.
    ///
    /// # Errors
    ///
    /// Returns [`EvalError::OtherSoftware`] if another version started the run, and
    /// [`EvalError::NotAnEvaluation`] if `config.json` is missing, malformed or of another version.
    pub fn resume(path: &Path) -> Result<(Self, EvalConfig), EvalError> {
        let config = load_config(path)?;
        if config.software != SOFTWARE {
            return Err(EvalError::OtherSoftware {
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
    /// Returns [`EvalError::File`] if the file cannot be written.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), EvalError> {
        let path = self.file(name);
        let unfinished = self.file(&format!(".{name}.unfinished"));
        let written = File::create(&unfinished)
            .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&unfinished, &path));
        written.map_err(|error| EvalError::File {
            operation: "write",
            path,
            error,
        })
    }

    /// Writes an indented JSON file atomically.
    ///
    /// # Errors
    ///
    /// Returns [`EvalError::File`] if the file cannot be written, and [`EvalError::Config`] if
    /// `content` cannot be serialised.
    pub fn write_json(&self, name: &str, content: &impl Serialize) -> Result<(), EvalError> {
        let mut text = serde_json::to_vec_pretty(content)
            .map_err(|error| EvalError::Config(error.to_string()))?;
        text.push(b'\n');
        self.write(name, &text)
    }
}

/// Loads the configuration of a folder.
///
/// # Errors
///
/// Returns [`EvalError::NotAnEvaluation`] if `config.json` is missing, malformed or of another
/// version.
pub fn load_config(folder: &Path) -> Result<EvalConfig, EvalError> {
    let not = |reason: String| EvalError::NotAnEvaluation {
        folder: folder.to_owned(),
        reason,
    };
    let text = fs::read_to_string(folder.join("config.json"))
        .map_err(|error| not(format!("cannot read its config.json: {error}")))?;
    let config: EvalConfig = serde_json::from_str(&text)
        .map_err(|error| not(format!("cannot parse its config.json: {error}")))?;
    if config.version != EVAL_VERSION {
        return Err(not(format!(
            "its config.json has version {}, and this software reads version {EVAL_VERSION}",
            config.version
        )));
    }
    Ok(config)
}

//! The folder of an evaluation and its files.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use rhae_protocol::{EVAL_VERSION, EvalConfig, SOFTWARE};
use serde::Serialize;

use crate::EvalError;

/// The folder: `config.json`, `journal.jsonl` and, when the run ends, results, submission and report.
#[derive(Clone, Debug)]
pub struct EvalFolder {
    path: PathBuf,
}

impl EvalFolder {
    /// Makes a new folder with its configuration. It must not exist, or be empty.
    pub fn create(path: &Path, config: &EvalConfig) -> Result<Self, EvalError> {
        let in_use = match fs::read_dir(path) {
            Ok(mut entries) => entries.next().is_some(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => false,
            Err(error) => {
                return Err(EvalError::File {
                    what: "use the output folder",
                    path: path.to_owned(),
                    error,
                });
            }
        };
        if in_use {
            return Err(EvalError::FolderInUse(path.to_owned()));
        }
        fs::create_dir_all(path).map_err(|error| EvalError::File {
            what: "create",
            path: path.to_owned(),
            error,
        })?;
        let folder = Self {
            path: path.to_owned(),
        };
        folder.write_json("config.json", config)?;
        Ok(folder)
    }

    /// Opens the folder of a run that was begun, with its configuration.
    pub fn resume(path: &Path) -> Result<(Self, EvalConfig), EvalError> {
        let config = load_config(path)?;
        if config.software != SOFTWARE {
            return Err(EvalError::OtherSoftware {
                begun_by: config.software,
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

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file whole or not at all.
    pub fn write(&self, name: &str, content: &[u8]) -> Result<(), EvalError> {
        let path = self.file(name);
        let unfinished = self.file(&format!(".{name}.unfinished"));
        let written = File::create(&unfinished)
            .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()))
            .and_then(|()| fs::rename(&unfinished, &path));
        written.map_err(|error| EvalError::File {
            what: "write",
            path,
            error,
        })
    }

    /// Writes a JSON file, indented for people.
    pub fn write_json(&self, name: &str, content: &impl Serialize) -> Result<(), EvalError> {
        let mut text = serde_json::to_vec_pretty(content)
            .map_err(|error| EvalError::Config(error.to_string()))?;
        text.push(b'\n');
        self.write(name, &text)
    }
}

/// The configuration in a folder.
pub fn load_config(folder: &Path) -> Result<EvalConfig, EvalError> {
    let not = |reason: String| EvalError::NotAnEvaluation {
        folder: folder.to_owned(),
        reason,
    };
    let text = fs::read_to_string(folder.join("config.json"))
        .map_err(|error| not(format!("cannot read its config.json: {error}")))?;
    let config: EvalConfig = serde_json::from_str(&text)
        .map_err(|error| not(format!("cannot understand its config.json: {error}")))?;
    if config.version != EVAL_VERSION {
        return Err(not(format!(
            "its config.json has version {}, and this software reads version {EVAL_VERSION}",
            config.version
        )));
    }
    Ok(config)
}

//! The effective configuration of a run, `config.json`: its kind, version and software.

use std::fs;
use std::path::Path;

use rhae_protocol::{EVAL_VERSION, EvalConfig, RUN_VERSION, RunConfig, RunKind, SOFTWARE};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{CONFIG, RunFolder, RunsError};

/// A configuration that a run folder stores in `config.json`.
pub trait StoredConfig: Serialize + DeserializeOwned {
    /// The version that this software reads and writes.
    const VERSION: u32;
    const KIND: RunKind;

    /// Returns the version of this configuration.
    fn version(&self) -> u32;

    /// Returns the name and version of the software that started the run.
    fn software(&self) -> &str;
}

impl StoredConfig for RunConfig {
    const VERSION: u32 = RUN_VERSION;
    const KIND: RunKind = RunKind::Plays;

    fn version(&self) -> u32 {
        self.version
    }

    fn software(&self) -> &str {
        &self.software
    }
}

impl StoredConfig for EvalConfig {
    const VERSION: u32 = EVAL_VERSION;
    const KIND: RunKind = RunKind::Evaluation;

    fn version(&self) -> u32 {
        self.version
    }

    fn software(&self) -> &str {
        &self.software
    }
}

/// Loads the configuration of a run folder.
///
/// # Errors
///
/// Returns [`RunsError::NotARun`] if `config.json` is missing, malformed or of another version.
pub fn load_config<C: StoredConfig>(folder: &Path) -> Result<C, RunsError> {
    let not_a_run = |reason: String| RunsError::NotARun {
        folder: folder.to_owned(),
        kind: C::KIND,
        reason,
    };
    let text = fs::read_to_string(folder.join(CONFIG))
        .map_err(|error| not_a_run(format!("cannot read its config.json: {error}")))?;
    let config: C = serde_json::from_str(&text)
        .map_err(|error| not_a_run(format!("cannot parse its config.json: {error}")))?;
    if config.version() != C::VERSION {
        return Err(not_a_run(format!(
            "its config.json has version {}, and this software reads version {}",
            config.version(),
            C::VERSION
        )));
    }
    Ok(config)
}

/// Opens the folder of an existing run and loads its configuration.
///
/// # Errors
///
/// Returns [`RunsError::OtherSoftware`] if another version started the run, and
/// [`RunsError::NotARun`] if `config.json` is missing, malformed or of another version.
pub fn resume<C: StoredConfig>(path: &Path) -> Result<(RunFolder, C), RunsError> {
    let config: C = load_config(path)?;
    if config.software() != SOFTWARE {
        return Err(RunsError::OtherSoftware {
            started_by: config.software().to_owned(),
            this: SOFTWARE.to_owned(),
        });
    }
    Ok((RunFolder::open(path), config))
}

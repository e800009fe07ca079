//! Shards: parts of a run that several machines play without a coordinator.
//!
//! The folder of a shard has the configuration of the complete run, and a file `shard.json` that says
//! which plays belong to it. The id of the run follows from its settings, so all shards have the same
//! ids. [`merge`](crate::merge()) joins shards into the folder of the run.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rhae_engine::Catalog;
use rhae_protocol::{RunConfig, SHARD_VERSION, Shard, ShardRecord};
use rhae_runs::{CONFIG, JOURNAL, RunFolder, RunsError, format_uuid, load_config};
use rhae_work::{Unit, first_difference, settings_digest, units};

use crate::{HarnessError, LocatedRun, LocationRequest, ResumeOptions, RunRequest};

/// The file that says which shard a folder contains.
const SHARD: &str = "shard.json";

/// Loads the shard of a run folder, or `None` if the folder is that of a complete run.
///
/// # Errors
///
/// Returns an error if the file cannot be read or parsed.
pub(crate) fn load_shard(folder: &Path) -> Result<Option<Shard>, HarnessError> {
    let path = folder.join(SHARD);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(RunsError::file("read", &path)(error).into()),
    };
    let malformed = |reason: String| RunsError::MalformedFile {
        path: path.clone(),
        reason,
    };
    let record: ShardRecord =
        serde_json::from_slice(&text).map_err(|error| malformed(error.to_string()))?;
    let ShardRecord { version, shard } = record;
    if version != SHARD_VERSION || shard.index >= shard.count {
        let reason = format!("it has version {version} and is of shard {shard}");
        return Err(malformed(reason).into());
    }
    Ok(Some(shard))
}

/// Returns the plays of a run, or of one of its shards, in the order in which they are started.
pub(crate) fn units_of(config: &RunConfig, shard: Option<Shard>) -> Vec<Unit> {
    let all = units(config).into_iter().enumerate();
    all.filter(|(position, _)| shard.is_none_or(|shard| shard.contains(*position)))
        .map(|(_, unit)| unit)
        .collect()
}

/// Returns the id of a run that is played in shards. It is a hash of the settings.
pub(crate) fn shared_run_id(config: &RunConfig) -> String {
    let digest = settings_digest(config);
    let bits = u128::from_str_radix(&digest.as_str()[..32], 16);
    format_uuid(bits.expect("a SHA-256 hash has 64 hexadecimal digits"))
}

impl LocationRequest {
    /// Prepares a shard of a run in the folder `request.out`. If the folder contains this shard of the
    /// same run, the shard is resumed, so that a scheduler can repeat the command of a shard.
    ///
    /// A spend limit is divided evenly among the shards.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`prepare`](Self::prepare) and [`prepare_resumed`](Self::prepare_resumed),
    /// and an error if the run uses a server, no folder is given, or the folder contains another run.
    pub fn prepare_shard<E: From<HarnessError>>(
        &self,
        mut request: RunRequest,
        shard: Shard,
        load: impl Fn(&[PathBuf]) -> Result<Arc<dyn Catalog>, E>,
    ) -> Result<LocatedRun, E> {
        let invalid = |message: &str| HarnessError::Request(message.to_owned());
        if self.server.is_some() {
            return Err(invalid("--shard is for local runs; remove --server").into());
        }
        let folder = request.out.clone();
        let folder = folder.ok_or_else(|| invalid("--shard needs the folder of the shard; add `--out DIR`, with another DIR for each shard"))?;
        request.shard = Some(shard);
        let limit = &mut request.model.max_cost_usd;
        *limit = limit.map(|usd| usd / f64::from(shard.count));
        if !folder.join(CONFIG).is_file() {
            return self.prepare(request, load);
        }
        let stored: RunConfig = load_config(&folder).map_err(HarnessError::from)?;
        let options = ResumeOptions {
            jobs: request.jobs,
            task_timeout_s: request.task_timeout_s,
            run_timeout_s: request.run_timeout_s,
            model: request.model.clone(),
            agent_cmd: request.agent_cmd.clone(),
            server: None,
        };
        let config = self.effective_config(request, &load)?;
        if let Some((field, then, now)) = first_difference(&stored, &config) {
            return Err(invalid(&format!(
                "`{}` contains a run with other settings: `{field}` was {then} and is now {now}; choose another folder with --out",
                folder.display()
            ))
            .into());
        }
        match load_shard(&folder)? {
            Some(found) if found == shard => {}
            // The process that created the folder ended before its next step.
            None if !folder.join(JOURNAL).exists() => {
                write_shard(&RunFolder::open(&folder), shard)?;
            }
            found => {
                let found = found.map_or("a complete run".to_owned(), |found| {
                    format!("shard {found}")
                });
                return Err(invalid(&format!(
                    "`{}` contains {found}, not shard {shard}; choose another folder with --out",
                    folder.display()
                ))
                .into());
            }
        }
        self.prepare_resumed(RunFolder::open(&folder), stored, &options, load)
    }
}

/// Writes which shard a folder contains.
pub(crate) fn write_shard(folder: &RunFolder, shard: Shard) -> Result<(), HarnessError> {
    let record = ShardRecord {
        version: SHARD_VERSION,
        shard,
    };
    Ok(folder.write_json(SHARD, &record)?)
}

//! A worker's part of a run: executes a play and collects its files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use rhae_agents::{AgentSpec, log_path};
use rhae_engine::Catalog;
use rhae_protocol::{PlayReport, PlayResult, PlayTask, RunConfig};
use rhae_runs::{RunFolder, RunsError};
use rhae_work_service::{DistributeError, Executor, LeaseLink, UnitContext, UnitEnd};

use crate::first_request::recording_name;
use crate::location::{open_local, source_digests};
use crate::model_player::{OpenedAgent, model_of};
use crate::request::agent_of;
use crate::run::{PlayedUnit, play_unit};
use crate::run_work::is_file_of;
use crate::{HarnessError, ModelOptions, RunSpec};

/// Executes the plays of a run in a worker.
pub struct PlayExecutor {
    config: RunConfig,
    games: Arc<dyn Catalog>,
    model: ModelOptions,
    workers: u32,
}

impl PlayExecutor {
    /// Opens the environments of a run. `load` returns the built-in environments and the games of
    /// folders; `games_dirs` are the folders of hosted games, by default those of the run. `model` has
    /// the models of this machine, and `workers` is the number of workers that share a rate limit.
    ///
    /// # Errors
    ///
    /// Returns an error if an environment cannot be opened or has another source.
    pub fn open<E: From<HarnessError>>(
        config: RunConfig,
        games_dirs: &[PathBuf],
        model: ModelOptions,
        workers: u32,
        load: impl Fn(&[PathBuf]) -> Result<Arc<dyn Catalog>, E>,
    ) -> Result<Self, E> {
        let games = open_local(&config, games_dirs, load)?;
        Ok(Self {
            // The coordinator enforces the time limit of the run.
            config: RunConfig {
                run_timeout_ms: None,
                ..config
            },
            games,
            model,
            workers,
        })
    }

    fn agent(&self, link: &Arc<LeaseLink>) -> Result<AgentSpec, HarnessError> {
        let agent = self.config.agent.as_deref().unwrap_or_default();
        match &self.config.model {
            Some(run) if model_of(agent).is_some() => {
                let guard = Arc::clone(link) as _;
                let (run, workers) = (run.clone(), self.workers);
                let opened = OpenedAgent::in_worker(&self.model, agent, run, guard, workers)?;
                Ok(opened.agent)
            }
            _ => agent_of(&self.config),
        }
    }

    fn play(
        &self,
        task: &PlayTask,
        context: &UnitContext<'_>,
    ) -> Result<UnitEnd<PlayReport>, HarnessError> {
        let folder = RunFolder::create(context.scratch, &self.config)?;
        if !task.model_log.is_empty() {
            folder.create_subfolder("recordings")?;
            let recording = recording_name(task.repeat, &task.game_id);
            folder.write_path(&log_path(Path::new(&recording)), task.model_log.as_bytes())?;
        }
        let spec = RunSpec {
            agent: self.agent(&context.link)?,
            config: self.config.clone(),
            folder,
            jobs: 1,
            resumed: false,
        };
        let (repeat, id) = (task.repeat, &task.game_id);
        let played = play_unit(&spec, &self.games, repeat, id, &context.stop)?;
        Ok(match played {
            // The agent of a play that lost the coordinator may have failed for that reason.
            PlayedUnit::Played(_) if context.link.has_failed() => UnitEnd::Stopped { stop: None },
            PlayedUnit::Played(result) => UnitEnd::Finished {
                report: report(result, context.scratch)?,
                stop: None,
            },
            // A call that was cancelled here says nothing about other plays.
            PlayedUnit::Stopped { .. } if context.is_stopped() => UnitEnd::Stopped { stop: None },
            PlayedUnit::Stopped { stop } => UnitEnd::Stopped { stop },
        })
    }
}

impl Executor for PlayExecutor {
    type Task = PlayTask;
    type Report = PlayReport;

    fn source_digests(&self) -> BTreeMap<String, String> {
        source_digests(self.games.as_ref())
    }

    fn execute(
        &self,
        task: PlayTask,
        context: &UnitContext<'_>,
    ) -> Result<UnitEnd<PlayReport>, DistributeError> {
        self.play(&task, context).map_err(|error| match error {
            HarnessError::Runs(error) => error.into(),
            other => DistributeError::Executor(other.to_string()),
        })
    }
}

/// Reads the files of a play.
fn report(result: PlayResult, scratch: &Path) -> Result<PlayReport, HarnessError> {
    let path = scratch.join(&result.recording);
    let recording = if path.exists() {
        Some(fs::read_to_string(&path).map_err(RunsError::file("read", &path))?)
    } else {
        None
    };
    let mut files = BTreeMap::new();
    for folder in ["recordings", "outputs"] {
        add_files(scratch, &scratch.join(folder), &result, &mut files)?;
    }
    Ok(PlayReport {
        result,
        recording,
        files,
    })
}

/// Adds the files of a folder that belong to a play, in base64. Symbolic links are not followed.
fn add_files(
    scratch: &Path,
    folder: &Path,
    play: &PlayResult,
    files: &mut BTreeMap<String, String>,
) -> Result<(), HarnessError> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(());
    };
    for entry in entries {
        let entry = entry.map_err(RunsError::file("read", folder))?;
        let (path, kind) = (entry.path(), entry.file_type());
        let kind = kind.map_err(RunsError::file("read", folder))?;
        if kind.is_dir() {
            add_files(scratch, &path, play, files)?;
            continue;
        }
        let name = path.strip_prefix(scratch).expect("the folder is below");
        if let Some(text) = name
            .to_str()
            .filter(|_| kind.is_file() && is_file_of(play, name))
        {
            let content = fs::read(&path).map_err(RunsError::file("read", &path))?;
            files.insert(text.to_owned(), BASE64_STANDARD.encode(content));
        }
    }
    Ok(())
}

//! A run as its user describes it, and how it becomes a [`RunSpec`].
//!
//! Defaults are stated here once, for the command line and for Python.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rhae_agents::{AgentSpec, UnknownAgent};
use rhae_engine::{Catalog, CatalogError, Rng};
use rhae_protocol::{
    HumanBaselines, RUN_VERSION, RunConfig, RunIdentity, RunTiers, SOFTWARE, Shard, TierFile,
    compact_utc,
};
use rhae_runs::{RunFolder, new_run_id, now_ms, resume, unused_folder};
use rhae_scoring::Method;
use serde::Serialize;

use crate::estimate::RunEstimate;
use crate::model_player::{ModelOptions, OpenedAgent, model_of};
use crate::recording_file::{read_recording, replayed_play};
use crate::selection::selected_games;
use crate::shard::{shared_run_id, write_shard};
use crate::{Arena, Budget, HarnessError, RemoteArena, RunSpec, first_request, ranges, tiers};

/// The maximum of the time limit of a step, in seconds.
const MAX_STEP_TIMEOUT_S: f64 = 1e6;
/// The default time limit of a step of an agent that is not a model, in seconds.
const STEP_TIMEOUT_S: f64 = 60.0;

/// A run as its user describes it. Start from [`RunRequest::default`] and set what differs.
///
/// # Examples
///
/// ```
/// use rhae_harness::RunRequest;
/// use rhae_games::Builtin;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let temp = tempfile::tempdir()?;
/// let request = RunRequest {
///     agent: "random".to_owned(),
///     games: Some("kq19".to_owned()),
///     out: Some(temp.path().join("run")),
///     ..RunRequest::default()
/// };
/// let prepared = request.prepare(&Builtin, None)?;
/// assert_eq!(prepared.spec.config.games, ["kq19-v1"]);
/// assert_eq!(prepared.spec.config.budget, "5x");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// The agent: a built-in name, `model:NAME`, another agent with a model such as `rgb:NAME`, or
    /// `replay:FILE`.
    pub agent: String,
    /// The shell command of an external agent, instead of `agent`.
    pub agent_cmd: Option<String>,
    /// The environments, separated by commas, or `all`. By default the games of `games_dirs`, or
    /// every environment if there are no such folders; see [`selected_games`].
    pub games: Option<String>,
    /// The seed of the agent; each further repeat uses the next number.
    pub seed: u64,
    pub env_seed: u64,
    /// The number of scorecards.
    pub repeat: u32,
    pub budget: Budget,
    pub method: Method,
    /// The time limit of the agent for one action in seconds. By default 60; a model has its own
    /// timeouts.
    pub step_timeout_s: Option<f64>,
    /// The time limit of one play in seconds, counted from its start.
    pub task_timeout_s: Option<f64>,
    /// The time limit of the run in seconds, including the time before it was interrupted.
    pub run_timeout_s: Option<f64>,
    /// The number of concurrent plays; by default the number of cores.
    pub jobs: Option<usize>,
    /// The run folder; by default an unused one below `runs`.
    pub out: Option<PathBuf>,
    /// Whether the scorecards on a server are opened in competition mode.
    pub competition: bool,
    /// The part of the run to play; all of it if absent. See
    /// [`LocationRequest::prepare_shard`](crate::LocationRequest::prepare_shard).
    pub shard: Option<Shard>,
    /// The folders of hosted games, as absolute paths, for the configuration of the run.
    pub games_dirs: Vec<String>,
    /// The baselines of a human study that replace those of the environments.
    pub baselines: Option<HumanBaselines>,
    /// The order of the environments by ease, if further ones are played only after progress.
    pub tiers: Option<TierFile>,
    /// Whether every tier is played, whatever the earlier ones showed.
    pub all_tiers: bool,
    /// The options of a model. Other agents do not allow them.
    pub model: ModelOptions,
    pub identity: RunIdentity,
}

impl Default for RunRequest {
    fn default() -> Self {
        Self {
            agent: "explorer".to_owned(),
            agent_cmd: None,
            games: None,
            seed: 0,
            env_seed: 0,
            repeat: 1,
            budget: Budget::PerLevel(5),
            method: Method::DEFAULT,
            step_timeout_s: None,
            task_timeout_s: None,
            run_timeout_s: None,
            jobs: None,
            out: None,
            competition: false,
            shard: None,
            games_dirs: Vec::new(),
            baselines: None,
            tiers: None,
            all_tiers: false,
            model: ModelOptions::default(),
            identity: RunIdentity::default(),
        }
    }
}

/// A run that can start, and notes for its user.
pub struct PreparedRun {
    pub spec: RunSpec,
    pub notes: Vec<String>,
}

/// What a run would do, see [`LocationRequest::preview`](crate::LocationRequest::preview).
#[derive(Clone, Debug, Serialize)]
pub struct RunPreview {
    /// The folder that the run would create.
    pub folder: String,
    pub config: RunConfig,
    pub notes: Vec<String>,
    /// The estimate; absent if the agent has no model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimate: Option<RunEstimate>,
}

/// A run of which everything is known and nothing exists.
pub(crate) struct ResolvedRun {
    pub(crate) config: RunConfig,
    agent: AgentSpec,
    notes: Vec<String>,
    path: PathBuf,
    jobs: usize,
}

/// The options that may change when a run is resumed.
#[derive(Clone, Debug, Default)]
pub struct ResumeOptions {
    pub jobs: Option<usize>,
    pub task_timeout_s: Option<f64>,
    pub run_timeout_s: Option<f64>,
    pub model: ModelOptions,
    /// The shell command that the user allows to be executed, if the run has one. It must be the
    /// command of the run. It is required if other users can change the run folder.
    pub agent_cmd: Option<String>,
    /// The address to which the user allows the API key to be sent, under the same rules.
    pub server: Option<String>,
}

impl RunRequest {
    /// Resolves the request and creates the run folder, after everything else is validated.
    /// `remote` is the server on which the plays take place; then `catalog` lists its environments.
    ///
    /// # Errors
    ///
    /// Returns an error if an option is invalid or does not fit the others, if the first request of
    /// a model does not fit into the spend limit, and if the folder exists and is not empty.
    pub fn prepare(
        self,
        catalog: &dyn Catalog,
        remote: Option<&RemoteArena>,
    ) -> Result<PreparedRun, HarnessError> {
        let shard = self.shard;
        let ResolvedRun {
            config,
            agent,
            notes,
            path,
            jobs,
        } = self.resolve(catalog, remote)?;
        let folder = RunFolder::create(&path, &config)?;
        if let Some(shard) = shard {
            write_shard(&folder, shard)?;
        }
        let spec = RunSpec {
            config,
            agent,
            folder,
            jobs,
            resumed: false,
        };
        Ok(PreparedRun { spec, notes })
    }

    /// Resolves the request and estimates the run. Sends no request to a model and writes nothing.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`prepare`](Self::prepare).
    pub(crate) fn preview(
        self,
        catalog: &dyn Catalog,
        remote: Option<&RemoteArena>,
    ) -> Result<RunPreview, HarnessError> {
        let resolved = self.resolve(catalog, remote)?;
        let entries = std::fs::read_dir(&resolved.path);
        if entries.is_ok_and(|mut entries| entries.next().is_some()) {
            return Err(HarnessError::Request(format!(
                "the run folder `{}` exists and is not empty; choose another with --out",
                resolved.path.display()
            )));
        }
        let local = remote.map_or(catalog, Arena::replays);
        Ok(RunPreview {
            estimate: RunEstimate::of(&resolved.agent, &resolved.config, catalog, local),
            folder: resolved.path.display().to_string(),
            config: resolved.config,
            notes: resolved.notes,
        })
    }

    /// Checks everything that can be checked before a run exists.
    pub(crate) fn resolve(
        mut self,
        catalog: &dyn Catalog,
        remote: Option<&RemoteArena>,
    ) -> Result<ResolvedRun, HarnessError> {
        ranges::check_request(&self)?;
        if let Some(file) = self.agent.strip_prefix("replay:") {
            let named = self.games.as_deref();
            (self.agent, self.games, self.env_seed) =
                replayed_play(catalog, Path::new(file), named, self.env_seed)?;
        }
        let has_model = self.agent_cmd.is_none() && model_of(&self.agent).is_some();
        let step_timeout_ms = self.step_timeout_ms(has_model)?;
        let task_timeout_ms = timeout_ms("task-timeout", self.task_timeout_s)?;
        let run_timeout_ms = timeout_ms("run-timeout", self.run_timeout_s)?;
        let opened = if has_model {
            Some(OpenedAgent::open(&self.model, &self.agent)?)
        } else if self.model.is_used() {
            return Err(HarnessError::Request(
                "--keep-reasoning, --max-cost, --context-tokens, --rate-limit, --timeout and --prompts require `--agent model:NAME` or another agent with a model".to_owned(),
            ));
        } else {
            None
        };
        let games = self.selected_games(catalog, remote)?;
        let (games, run_tiers) = self.arranged_in_tiers(games)?;
        let mut identity = self.identity;
        identity.source_digests.retain(|id, _| games.contains(id));
        let mut config = RunConfig {
            version: RUN_VERSION,
            software: SOFTWARE.to_owned(),
            run_id: new_run_id()?,
            agent: self.agent_cmd.is_none().then_some(self.agent),
            agent_cmd: self.agent_cmd,
            seed: self.seed,
            env_seed: self.env_seed,
            games,
            repeat: self.repeat,
            budget: self.budget.to_string(),
            method: self.method.name().to_owned(),
            step_timeout_ms,
            task_timeout_ms,
            run_timeout_ms,
            generator: Rng::NAME.to_owned(),
            server: remote.map(|remote| remote.address().to_owned()),
            competition: self.competition,
            games_dirs: self.games_dirs,
            baselines: self.baselines,
            tiers: run_tiers,
            model: opened.as_ref().map(|opened| opened.run.clone()),
            identity,
        };
        if self.shard.is_some() {
            config.run_id = shared_run_id(&config);
        }
        let mut notes = match remote {
            Some(remote) => remote.check(&config)?,
            None => Vec::new(),
        };
        let agent = match opened {
            Some(opened) => {
                notes.extend(opened.warning);
                // A play on a server counts, so the check opens none there.
                let local = remote.map_or(catalog, Arena::replays);
                first_request::check_new(&opened.agent, &config, local, jobs(self.jobs))?;
                opened.agent
            }
            None => agent_of(&config)?,
        };
        notes.extend(note_on_budget(self.budget));
        Ok(ResolvedRun {
            path: self.out.unwrap_or_else(|| default_folder(&agent)),
            config,
            agent,
            notes,
            jobs: jobs(self.jobs),
        })
    }

    /// Returns the environments in the order of their tiers, with the tiers, if the run has tiers.
    fn arranged_in_tiers(
        &self,
        games: Vec<String>,
    ) -> Result<(Vec<String>, Option<RunTiers>), HarnessError> {
        let Some(file) = &self.tiers else {
            return Ok((games, None));
        };
        if self.shard.is_some() {
            return Err(HarnessError::Request(
                "--tiers cannot be divided among machines, because each tier depends on the earlier ones".to_owned(),
            ));
        }
        let budget = self.budget.to_string();
        let (games, tiers) = tiers::arranged(&games, &budget, file, self.all_tiers)?;
        Ok((games, Some(tiers)))
    }

    /// Returns the ids of the environments. An error about a server's environments refers to its
    /// list.
    fn selected_games(
        &self,
        catalog: &dyn Catalog,
        remote: Option<&RemoteArena>,
    ) -> Result<Vec<String>, HarnessError> {
        let hosted_only = !self.games_dirs.is_empty();
        let games = selected_games(catalog, self.games.as_deref(), hosted_only);
        games.map_err(|error| match (error, remote) {
            (HarnessError::Catalog(CatalogError::Unknown(unknown)), Some(remote)) => {
                remote.describe_unknown(&unknown)
            }
            (error, _) => error,
        })
    }

    fn step_timeout_ms(&self, plays_model: bool) -> Result<u64, HarnessError> {
        // A model has its own timeouts, which may be hours long, so the step timeout must not end a
        // request before them.
        let default = if plays_model {
            MAX_STEP_TIMEOUT_S
        } else {
            STEP_TIMEOUT_S
        };
        let seconds = self.step_timeout_s.unwrap_or(default);
        if seconds > 0.0 && seconds <= MAX_STEP_TIMEOUT_S {
            Ok((seconds * 1000.0).ceil() as u64)
        } else {
            Err(HarnessError::Request(
                "--step-timeout must be more than 0 and at most 1,000,000 seconds".to_owned(),
            ))
        }
    }
}

/// Prepares the run in `folder`, whose configuration is `config`, to be continued.
///
/// # Errors
///
/// Returns an error if the settings of the model differ from the start of the run, or an option is
/// invalid.
pub(crate) fn prepare_resumed(
    folder: RunFolder,
    mut config: RunConfig,
    options: &ResumeOptions,
) -> Result<PreparedRun, HarnessError> {
    ranges::check_jobs(options.jobs)?;
    let mut notes = Vec::new();
    let task_timeout_ms = timeout_ms("task-timeout", options.task_timeout_s)?;
    config.task_timeout_ms = task_timeout_ms.or(config.task_timeout_ms);
    let run_timeout_ms = timeout_ms("run-timeout", options.run_timeout_s)?;
    config.run_timeout_ms = run_timeout_ms.or(config.run_timeout_ms);
    let agent = match config.model.take() {
        Some(run) => {
            let agent = config.agent.as_deref().unwrap_or_default();
            let opened = OpenedAgent::resume(&options.model, agent, run, &folder)?;
            notes.extend(opened.warning);
            config.model = Some(opened.run);
            opened.agent
        }
        None => agent_of(&config)?,
    };
    let spec = RunSpec {
        config,
        agent,
        folder,
        jobs: jobs(options.jobs),
        resumed: true,
    };
    Ok(PreparedRun { spec, notes })
}

/// Loads the folder and the configuration of a run, to resume it.
///
/// # Errors
///
/// Returns an error if the folder is not a run folder or another version started the run.
pub fn open_run(folder: &Path) -> Result<(RunFolder, RunConfig), HarnessError> {
    Ok(resume(folder)?)
}

pub(crate) fn agent_of(config: &RunConfig) -> Result<AgentSpec, HarnessError> {
    match (&config.agent, &config.agent_cmd) {
        (_, Some(command)) => Ok(AgentSpec::Command(command.clone())),
        (Some(name), None) => match name.strip_prefix("replay:") {
            Some(file) => Ok(AgentSpec::Replay(Arc::new(read_recording(Path::new(
                file,
            ))?))),
            None => {
                let unknown = |error: UnknownAgent| error.with_agents(rhae_agents_llm::AGENTS);
                Ok(AgentSpec::built_in(name).map_err(unknown)?)
            }
        },
        (None, None) => Err(HarnessError::Config("it names no agent".to_owned())),
    }
}

fn jobs(requested: Option<usize>) -> usize {
    requested.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Converts the time limit that the option `name` sets.
fn timeout_ms(name: &str, seconds: Option<f64>) -> Result<Option<u64>, HarnessError> {
    match seconds {
        Some(seconds) if !(seconds > 0.0 && seconds <= 1e9) => Err(HarnessError::Request(format!(
            "--{name} must be more than 0 and at most 1e9"
        ))),
        seconds => Ok(seconds.map(|seconds| (seconds * 1000.0).ceil() as u64)),
    }
}

/// Returns an unused folder name with the current time and the agent.
fn default_folder(agent: &AgentSpec) -> PathBuf {
    let player = if matches!(agent, AgentSpec::Command(_)) {
        "command".to_owned()
    } else {
        agent.name().replace([':', '/'], "-")
    };
    let name = format!("{}-{player}", compact_utc(now_ms()));
    unused_folder(Path::new("runs"), &name)
}

/// Returns a note if the budget looks like a multiple of the baseline.
fn note_on_budget(budget: Budget) -> Option<String> {
    match budget {
        Budget::PerPlay(actions) if actions < 10 => Some(format!(
            "the budget is {actions} actions per play; use `{actions}x` for {actions} times the baseline on each level"
        )),
        _ => None,
    }
}

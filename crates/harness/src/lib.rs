//! Runs an agent on environments. Plays run in parallel, each under a budget. Every play is
//! recorded and journalled, so that an interrupted run can be resumed.
//!
//! # Overview
//!
//! [`run()`] executes a [`RunSpec`] on an [`Arena`] and returns [`Results`]: one scorecard for each
//! repeat and a summary. All files of a run are in its [`RunFolder`]. To score a finished run
//! again, for example under another scoring method, pass the plays of [`load_plays`] to
//! [`assemble`].
//!
//! # Invariants
//!
//! * **Plays are independent.** Their order and the number of parallel jobs do not change results.
//! * **A journalled play is complete.** A play is journalled only after its recording is synced to
//!   disk. An interrupted run loses only the plays that were running, and repeats them when it is
//!   resumed.
//! * **Other processes are verified.** A result of a worker or of a shard is used only after its
//!   recording was replayed with the same counts.
//! * **An agent can end only its own play.** A panic, a crash or a timeout ends the play as
//!   `failed`, with a reason. The only exception is a cause that affects every play, such as a
//!   spend limit: it stops the whole run.
//!
//! This crate knows nothing about terminals, command-line flags or the available environments.
//!
//! # Examples
//!
//! Run the random agent twice on a built-in game, 30 actions per play:
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use rhae_agents::AgentSpec;
//! use rhae_engine::{Catalog, Rng};
//! use rhae_games::Builtin;
//! use rhae_harness::{RunFolder, RunSpec, load_plays, new_run_id, run};
//! use rhae_protocol::{RUN_VERSION, RunConfig, RunIdentity, SOFTWARE};
//! use rhae_scoring::Method;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let temp = tempfile::tempdir()?;
//! let config = RunConfig {
//!     version: RUN_VERSION,
//!     software: SOFTWARE.to_owned(),
//!     run_id: new_run_id()?,
//!     agent: Some("random".to_owned()),
//!     agent_cmd: None,
//!     seed: 0,
//!     env_seed: 0,
//!     games: vec![Builtin.find("kq19")?.id.to_string()],
//!     repeat: 2,
//!     budget: "30".to_owned(),
//!     method: Method::DEFAULT.name().to_owned(),
//!     step_timeout_ms: 10_000,
//!     task_timeout_ms: None,
//!     run_timeout_ms: None,
//!     generator: Rng::NAME.to_owned(),
//!     server: None,
//!     competition: false,
//!     games_dirs: Vec::new(),
//!     baselines: None,
//!     tiers: None,
//!     model: None,
//!     identity: RunIdentity::default(),
//! };
//! let spec = RunSpec {
//!     folder: RunFolder::create(&temp.path().join("run"), &config)?,
//!     config,
//!     agent: AgentSpec::built_in("random")?,
//!     jobs: 2,
//!     resumed: false,
//! };
//! let results = run(&spec, &Builtin, &AtomicBool::new(false), &mut |_| {})?;
//!
//! assert!(results.summary.finished);
//! assert_eq!(results.cards.len(), 2);
//! assert_eq!(results.summary.environments[0].actions, 30.0);
//! // The journal, the recordings and the report are in the run folder.
//! assert_eq!(load_plays(spec.folder.path())?.len(), 2);
//! assert!(spec.folder.file("report.html").exists());
//! # Ok(())
//! # }
//! ```

mod budget;
mod calibration;
mod conclusion;
mod consent;
mod estimate;
mod film;
mod first_request;
mod ids;
mod journal;
mod location;
mod merge;
mod model_player;
mod observation_buffer;
mod play;
mod play_end;
mod play_executor;
mod ranges;
mod recorded_games;
mod recording_file;
mod remote;
mod request;
mod results;
mod run;
mod run_work;
mod selection;
mod shard;
mod slurm;
mod stuck_play;
mod tiers;
mod verified_play;

pub use budget::{Budget, BudgetError};
pub use calibration::{calibrated, read_baseline_file, read_baselines};
pub use consent::Consent;
pub use estimate::{Amounts, EnvironmentEstimate, Range, RunEstimate};
pub use film::recording_film;
pub use ids::play_id;
pub use journal::load_plays;
pub use location::{LocatedRun, LocationRequest, models_for_agent};
pub use merge::{MergeRequest, Merged, merge, recorded_results};
pub use model_player::ModelOptions;
pub use play_executor::PlayExecutor;
pub use ranges::{CONTEXT_TOKENS_RANGE, JOBS_RANGE, REPEAT_RANGE};
pub use recorded_games::games_dirs_of_recordings;
pub use recording_file::read_recording;
pub use remote::RemoteArena;
pub use request::{PreparedRun, ResumeOptions, RunPreview, RunRequest, open_run};
pub use results::{Results, ShardResults, assemble};
#[cfg(feature = "hosting")]
pub use rhae_agents_llm::javascript_engine;
pub use rhae_agents_llm::{AGENTS as AGENTS_WITH_TOOLS, JAVASCRIPT, PythonSettings};
pub use rhae_runs::{RunFolder, new_run_id};
pub use run::{Arena, Progress, RunSpec, run};
pub use run_work::RunWork;
pub use selection::{select_games, selected_games};
pub use slurm::{SlurmRequest, SlurmRun};

use std::path::PathBuf;

use rhae_agents::UnknownAgent;
use rhae_client::ClientError;
use rhae_engine::CatalogError;
use rhae_llm::LlmError;
use rhae_runs::RunsError;
use rhae_work_service::DistributeError;

/// The reason why a run failed. Failures of agents and environments are results, not errors.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The run folder or its journal cannot be used.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// An environment is unknown or cannot be opened.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The server cannot be used.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// There is no such agent.
    #[error(transparent)]
    Agent(#[from] UnknownAgent),
    /// The model cannot be opened.
    #[error(transparent)]
    Model(#[from] LlmError),
    /// The first request of a model does not fit into the spend limit. Names the smallest limit that
    /// allows it.
    #[error("{0}")]
    SpendLimit(String),
    /// Other users can change the folder of a run that is to be resumed, so the user must allow what
    /// it would execute.
    #[error(
        "resuming `{}` would {consent}, but {reason}; if it is what you started, repeat it with `{}`, or make the folder writable only by you",
        folder.display(), consent.flag()
    )]
    NeedsConsent {
        folder: PathBuf,
        consent: Consent,
        /// Why other users can change the folder.
        reason: String,
    },
    /// An option of a [`RunRequest`] is invalid or does not fit the others.
    #[error("{0}")]
    Request(String),
    /// Workers or their coordinator failed.
    #[error("{0}")]
    Work(String),
    /// The configuration has an invalid value.
    #[error("the run's configuration is invalid: {0}")]
    Config(String),
}

impl From<DistributeError> for HarnessError {
    fn from(error: DistributeError) -> Self {
        match error {
            DistributeError::Runs(error) => Self::Runs(error),
            other => Self::Work(other.to_string()),
        }
    }
}

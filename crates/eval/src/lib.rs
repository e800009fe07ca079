//! Runs a solver on static ARC-AGI tasks. Requests run in parallel and under limits. They are
//! journalled, so that an interrupted run can be resumed.
//!
//! # Overview
//!
//! | type | role |
//! | --- | --- |
//! | [`Plan`] | the tests to solve, divided into requests |
//! | [`solver::Solver`] | answers requests: a model, a program search, random guesses or a recording |
//! | [`run()`] | sends the open requests of an [`EvalSpec`] and journals their answers |
//! | [`Ledger`] | the state of a run, computed from its journal |
//! | [`assemble`] | computes [`EvalResults`] from the ledger: grids, scores and costs |
//!
//! # Invariants
//!
//! * **No answer is lost.** An answer is synced to disk before it is used. A killed process loses
//!   only the requests in flight, and the journal names them.
//! * **A run resumes where it stopped.** An attempt with an answer in the journal is not requested
//!   again.
//! * **Limits cover requests before they are sent.** The worst case of each transmission must fit into
//!   the rest of the limit, see [`rhae_runs::SpendLimit`].
//! * **Scoring is separate from running.** Results depend only on the configuration, the journal,
//!   the data and the parser. They can be recomputed at any time, also with another parser.
//! * **Solvers do not see solutions.** The solutions are removed from the tasks that a solver
//!   receives.
//!
//! This crate knows nothing about terminals, command-line flags or the origin of the data.
//!
//! # Examples
//!
//! Evaluate the random baseline on a set with one task, whose output is a single cell:
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use rhae_eval::solver::{RandomSolver, Solver};
//! use rhae_eval::{EvalSpec, Plan, PlannedSet, assemble, run};
//! use rhae_protocol::{
//!     EVAL_VERSION, EvalConfig, EvalLimits, EvalParser, EvalProtocol, RunIdentity, SOFTWARE,
//! };
//! use rhae_runs::RunFolder;
//! use rhae_tasks::{Grid, Pair, Parser, Task, TaskSet, Test};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let one = Grid::new(&[vec![1]])?;
//! let task = Task {
//!     train: vec![Pair { input: one.clone(), output: one.clone() }],
//!     test: vec![Test { input: one.clone(), output: Some(one) }],
//! };
//! let set = TaskSet { name: "tiny".to_owned(), tasks: [("t1".parse()?, task)].into() };
//! let planned = vec![PlannedSet { selection: set.all_tests(), set }];
//!
//! let solver = RandomSolver { seed: 0 };
//! let limits = EvalLimits { concurrency: 2, ..EvalLimits::default() };
//! let config = EvalConfig {
//!     version: EVAL_VERSION,
//!     software: SOFTWARE.to_owned(),
//!     run_id: "example".to_owned(),
//!     solver: "random".to_owned(),
//!     solver_settings: Default::default(),
//!     protocol: EvalProtocol::Standard,
//!     attempts: 2,
//!     parser: EvalParser::Lenient,
//!     stop_at_failure: false,
//!     shard: None,
//!     permuted_colors: None,
//!     data: Vec::new(),
//!     sets: planned.iter().map(PlannedSet::record).collect(),
//!     limits,
//!     identity: RunIdentity::default(),
//! };
//! let temp = tempfile::tempdir()?;
//! let folder = RunFolder::create(&temp.path().join("eval"), &config)?;
//! let plan = Plan::new(planned, config.attempts, solver.unit());
//! assert_eq!(plan.requests(), 2);
//!
//! let spec = EvalSpec {
//!     folder: &folder,
//!     plan: &plan,
//!     solver: &solver,
//!     parser: Parser::Lenient,
//!     limits,
//!     stop_at_failure: false,
//!     retry_failed: false,
//!     resumed: false,
//! };
//! let ledger = run(&spec, &AtomicBool::new(false), &mut |_| {})?;
//! let results = assemble(&config, &plan.sets, &ledger, Parser::Lenient)?;
//! assert!(results.finished);
//! // Only colour 1 occurs in the training output, so the guess is right.
//! assert_eq!(results.average(), Some(1.0));
//! # Ok(())
//! # }
//! ```

mod estimate;
mod eval_work;
mod files;
mod foreign_models;
mod ledger;
mod parser;
mod plan;
mod report;
mod request;
mod results;
mod run;
mod scheduler;
mod solve_task;
pub mod solver;
mod tables;
mod task_executor;
mod task_report;

use std::path::PathBuf;

use rhae_runs::RunsError;

pub use estimate::{Estimate, estimate};
pub use eval_work::EvalWork;
pub use files::{results_json, write_results};
pub use ledger::{ClosedAttempt, Ledger, OpenTransmission, RequestOutcome, RequestRecord};
pub use parser::parser_of;
pub use plan::{Plan, PlannedSet, shard};
pub use report::report;
pub use request::{EvalRequest, PreparedEval, default_protocol, prepare_permuted, prepare_resumed};
pub use results::{
    AttemptFailure, AttemptResult, EvalResults, FailureReason, SetResult, TaskShape, assemble,
};
pub use rhae_agents_llm::PythonSettings;
pub(crate) use run::rate_limit;
pub use run::{EvalSpec, Progress, check_limits, run};
pub use solve_task::{SolveReport, solve_task};
pub use tables::{csv, markdown};
pub use task_executor::TaskExecutor;
pub use task_report::{TaskReport, load_attempts, revision_warning};

/// The reason why an evaluation failed. Failures of a solver are results, not errors.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The run folder or its journal cannot be used.
    #[error(transparent)]
    Runs(#[from] RunsError),
    /// The run has no such task.
    #[error("the run in `{}` has no task `{task}`", folder.display())]
    NoSuchTask { folder: PathBuf, task: String },
    /// The data have changed since the run started.
    #[error("the run uses revision {expected} of `{set}`, but the data have revision {found}")]
    OtherData {
        set: String,
        /// The revision in the configuration of the run.
        expected: String,
        /// The revision of the loaded data.
        found: String,
    },
    /// The first request does not fit into a limit. Names the smallest limit that allows it.
    #[error("{0}")]
    SpendLimit(String),
    /// Other users can change the folder of a run, which names the configuration file of its model.
    #[error(
        "the run in `{}` uses the models of `{models}`, which decides where your API key is sent, but {reason}; if it is what you started, repeat it with `--models`, or make the folder writable only by you",
        folder.display()
    )]
    ForeignModels {
        folder: PathBuf,
        models: String,
        /// Why other users can change the folder.
        reason: String,
    },
    /// The configuration has an invalid value.
    #[error("{0}")]
    Config(String),
    /// Data or a submission cannot be read.
    #[error(transparent)]
    Datasets(#[from] rhae_datasets::DatasetsError),
    /// Tasks, answers or scores are invalid.
    #[error(transparent)]
    Tasks(#[from] rhae_tasks::TasksError),
    /// The report could not be rendered.
    #[error(transparent)]
    Picture(#[from] rhae_report::PictureError),
}

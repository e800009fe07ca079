//! Runs of agents on environments.
//!
//! Results are passed as JSON, in the forms of the run folder; `rhae.runs` turns them into
//! dataclasses.

// Arguments from Python arrive by value.
#![allow(clippy::needless_pass_by_value)]

use std::ffi::CString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyUserWarning, PyValueError};
use pyo3::prelude::*;
use rhae_engine::Catalog;
use rhae_harness::{
    Budget, HarnessError, LocatedRun, LocationRequest, ModelOptions, Progress, ResumeOptions,
    RunRequest, models_for_agent, open_run,
};
use rhae_llm::{Rate, default_models_file};
use rhae_runs::new_identity;
use rhae_scoring::Method;
use serde_json::json;

use crate::argument_names::with_argument_names;
use crate::background::run_in_background;
use crate::errors::{harness_error, invalid};
use crate::hosting::GamesRequest;

/// The progress of `rhae.run`.
#[pyclass(frozen, get_all, module = "rhae._native")]
#[derive(Clone, Copy)]
pub(crate) struct RunProgress {
    /// The number of plays that have ended.
    done: usize,
    /// The number of all plays.
    total: usize,
    /// The number of levels completed in the plays that have ended.
    levels: usize,
    /// The number of actions taken, including those of running plays.
    actions: u64,
}

impl From<Progress> for RunProgress {
    fn from(progress: Progress) -> Self {
        Self {
            done: progress.done,
            total: progress.total,
            levels: progress.levels,
            actions: progress.actions,
        }
    }
}

/// The arguments of `rhae.run`: a Python object with these attributes. `None` stands for the
/// default of [`RunRequest`].
#[derive(FromPyObject)]
pub(crate) struct RunArguments {
    agent: Option<String>,
    agent_cmd: Option<String>,
    games: Option<String>,
    seed: Option<i128>,
    env_seed: Option<i128>,
    repeat: Option<i128>,
    budget: Option<String>,
    method: Option<String>,
    step_timeout: Option<f64>,
    task_timeout: Option<f64>,
    run_timeout: Option<f64>,
    jobs: Option<i128>,
    out: Option<PathBuf>,
    name: Option<String>,
    tags: Vec<String>,
    note: Option<String>,
    server: Option<String>,
    key: Option<String>,
    competition: bool,
    resume: Option<PathBuf>,
    models: Option<PathBuf>,
    max_cost: Option<f64>,
    rate_limit: Option<String>,
    timeout: Option<f64>,
    keep_reasoning: bool,
    context_tokens: Option<i128>,
    prompts: Option<PathBuf>,
}

/// An exception from code that runs detached from the interpreter.
struct Raised(PyErr);

impl From<HarnessError> for Raised {
    fn from(error: HarnessError) -> Self {
        Self(harness_error(&error))
    }
}

impl From<PyErr> for Raised {
    fn from(error: PyErr) -> Self {
        Self(error)
    }
}

impl RunArguments {
    /// Prepares a new run or, with `resume`, an existing one.
    fn prepare(&self, games: &GamesRequest) -> Result<LocatedRun, Raised> {
        let location = LocationRequest {
            server: self.server.clone(),
            key: self.key.clone(),
            games_dirs: games.folders.clone(),
        };
        let load = |folders: &[PathBuf]| -> Result<Arc<dyn Catalog>, Raised> {
            Ok(Arc::new(games.load_folders(folders)?))
        };
        let Some(folder) = &self.resume else {
            return location.prepare(self.request(games)?, load);
        };
        let (folder, config) = open_run(folder)?;
        let options = ResumeOptions {
            jobs: number("jobs", self.jobs)?,
            task_timeout_s: self.task_timeout,
            run_timeout_s: self.run_timeout,
            model: self.model_options(config.agent.as_deref(), games)?,
            agent_cmd: self.agent_cmd.clone(),
            server: self.server.clone(),
        };
        location.prepare_resumed(folder, config, &options, load)
    }

    fn request(&self, games: &GamesRequest) -> Result<RunRequest, Raised> {
        if self.agent.is_some() && self.agent_cmd.is_some() {
            let message = "give either `agent` or `agent_cmd`, not both";
            return Err(PyValueError::new_err(message).into());
        }
        let agent = self.agent.as_deref().filter(|_| self.agent_cmd.is_none());
        let default = RunRequest::default();
        let budget = self.budget.as_deref().map(str::parse::<Budget>);
        let method = self.method.as_deref().map(str::parse::<Method>);
        Ok(RunRequest {
            agent: self.agent.clone().unwrap_or(default.agent),
            agent_cmd: self.agent_cmd.clone(),
            games: self.games.clone(),
            seed: number("seed", self.seed)?.unwrap_or(default.seed),
            env_seed: number("env_seed", self.env_seed)?.unwrap_or(default.env_seed),
            repeat: number("repeat", self.repeat)?.unwrap_or(default.repeat),
            budget: budget
                .transpose()
                .map_err(invalid)?
                .unwrap_or(default.budget),
            method: method
                .transpose()
                .map_err(invalid)?
                .unwrap_or(default.method),
            step_timeout_s: self.step_timeout,
            task_timeout_s: self.task_timeout,
            run_timeout_s: self.run_timeout,
            jobs: number("jobs", self.jobs)?,
            out: self.out.clone(),
            competition: self.competition,
            model: self.model_options(agent, games)?,
            identity: new_identity(self.name.clone(), self.tags.clone(), self.note.clone()),
            ..default
        })
    }

    fn model_options(
        &self,
        agent: Option<&str>,
        games: &GamesRequest,
    ) -> Result<ModelOptions, Raised> {
        let file = self.models.clone().unwrap_or_else(default_models_file);
        let rate_limit = self.rate_limit.as_deref().map(str::parse::<Rate>);
        Ok(ModelOptions {
            models: models_for_agent(agent, &file)?,
            keep_reasoning: self.keep_reasoning,
            max_cost_usd: self.max_cost,
            context_tokens: number("context_tokens", self.context_tokens)?,
            rate_limit: rate_limit.transpose().map_err(invalid)?,
            request_timeout_s: self.timeout,
            prompts: self.prompts.clone(),
            max_iterations: None,
            max_depth: None,
            python: games.python_tool(),
        })
    }
}

/// Converts the value of the argument `name` to an unsigned type.
fn number<T: TryFrom<i128>>(name: &str, value: Option<i128>) -> PyResult<Option<T>> {
    let convert = |value: i128| {
        T::try_from(value).map_err(|_| {
            let problem = if value < 0 {
                "must not be negative"
            } else {
                "is too large"
            };
            PyValueError::new_err(format!("`{name}` {problem}, found {value}"))
        })
    };
    value.map(convert).transpose()
}

/// Runs an agent and returns the summary and the scorecards as JSON.
#[pyfunction]
pub(crate) fn run(
    py: Python<'_>,
    arguments: RunArguments,
    games: GamesRequest,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let prepared = py.detach(|| arguments.prepare(&games));
    let run = prepared.map_err(|Raised(error)| error)?;
    for note in &run.notes {
        warn(py, note)?;
    }
    let messages = Mutex::new(Vec::new());
    // Whether the run is finished; `None` until its results are written.
    let finished = Mutex::new(None);
    let executed = run_in_background(py, progress.as_ref(), |shared| {
        let results = run.execute(
            &shared.interrupt,
            &mut |progress| shared.report(RunProgress::from(progress)),
            &|message| lock(&messages).push(message.to_owned()),
        );
        *lock(&finished) = results.as_ref().ok().map(|one| one.summary.finished);
        results
    });
    let results = match executed {
        Ok(results) => results.map_err(|error| harness_error(&error))?,
        Err(error) => {
            if let Some(finished) = *lock(&finished) {
                add_note(py, &error, &run.spec.folder.path().display(), finished)?;
            }
            return Err(error);
        }
    };
    for message in lock(&messages).iter() {
        warn(py, message)?;
    }
    serde_json::to_string(&json!({ "summary": results.summary, "cards": results.cards }))
        .map_err(invalid)
}

/// Adds to an exception that ended a run where the results are and how to continue.
fn add_note(
    py: Python<'_>,
    error: &PyErr,
    folder: &impl std::fmt::Display,
    finished: bool,
) -> PyResult<()> {
    let note = if finished {
        format!("the run had already finished; its results are in `{folder}`")
    } else {
        format!("partial results are written; continue with `rhae.run(resume=\"{folder}\")`")
    };
    error.value(py).call_method1("add_note", (note,)).map(drop)
}

/// Issues a warning at the line that called `rhae.run`.
fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    let message = CString::new(with_argument_names(message)).map_err(invalid)?;
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &message, 2)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Exploration and validation of environments.
//!
//! Results are passed as JSON, in the forms that the command line prints; `rhae.analysis` turns them
//! into dataclasses.

// Arguments from Python arrive by value.
#![allow(clippy::needless_pass_by_value)]

use std::ffi::OsString;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rhae_engine::{Catalog, LevelIndex};
use rhae_explore::{Identity, Limits, SearchOptions};
use rhae_inspect::{
    ExploreOptions, Explorer, InspectError, LevelOutputs, Validation, ValidationOptions,
    VerifyCommand, find_each, is_hosted,
};
use rhae_validate::{Rule, RuleSet};

use crate::background::{Shared, run_in_background};
use crate::errors::{inspect_error, invalid};
use crate::hosting::GamesRequest;

/// The progress of `rhae.explore`.
#[pyclass(frozen, get_all, module = "rhae._native")]
#[derive(Clone, Copy)]
pub(crate) struct ExploreProgress {
    /// `entering`, `searching` or `analysing`.
    phase: &'static str,
    states: usize,
    /// The depth of the states that are searched; 0 in the other phases.
    depth: usize,
}

impl From<rhae_inspect::ExploreProgress> for ExploreProgress {
    fn from(progress: rhae_inspect::ExploreProgress) -> Self {
        use rhae_inspect::ExploreProgress as Phase;
        let (phase, states, depth) = match progress {
            Phase::Entering => ("entering", 0, 0),
            Phase::Searching(search) => ("searching", search.nodes, search.depth),
            Phase::Analysing { nodes } => ("analysing", nodes, 0),
        };
        Self {
            phase,
            states,
            depth,
        }
    }
}

/// The options of `rhae.explore`: a Python object with these attributes.
#[derive(FromPyObject)]
pub(crate) struct ExploreRequest {
    id: String,
    level: u8,
    seed: u64,
    all_clicks: bool,
    within: Option<u32>,
    max_states: usize,
    max_edges: usize,
    max_depth: Option<usize>,
    seconds: f64,
    memory_mb: usize,
    jobs: usize,
    checks: Option<u32>,
    deep: bool,
}

impl ExploreRequest {
    fn options(&self) -> PyResult<ExploreOptions> {
        let seconds = Duration::try_from_secs_f64(self.seconds).map_err(invalid)?;
        if seconds.is_zero() || self.max_states == 0 || self.memory_mb == 0 || self.jobs == 0 {
            return Err(PyValueError::new_err(
                "seconds, max_states, memory_mb and jobs must be more than 0",
            ));
        }
        Ok(ExploreOptions {
            search: SearchOptions {
                limits: Limits {
                    nodes: self.max_states,
                    edges: self.max_edges.min(u32::MAX as usize),
                    depth: self.max_depth.unwrap_or(usize::MAX),
                    bytes: self.memory_mb.saturating_mul(1 << 20),
                },
                all_clicks: self.all_clicks,
                threads: self.jobs.min(256),
            },
            seed: self.seed,
            within: self.within,
            time_limit: seconds,
            checks: self.checks,
            identity: identity(self.deep),
            step_by_step: false,
        })
    }
}

const fn identity(deep: bool) -> Identity {
    if deep {
        Identity::Deep
    } else {
        Identity::FrameAndHidden
    }
}

/// Explores one level and returns its report as JSON.
#[pyfunction]
pub(crate) fn explore(
    py: Python<'_>,
    request: ExploreRequest,
    games: GamesRequest,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let (games, options) = (games.load()?, request.options()?);
    let level = request.level.checked_sub(1).map(LevelIndex);
    let level = level.ok_or_else(|| PyValueError::new_err("levels are counted from 1"))?;
    let work = |shared: &Shared<ExploreProgress>| -> Result<_, InspectError> {
        let interrupt = Arc::clone(&shared.interrupt);
        let explorer = Explorer::open(&games, &request.id, options, interrupt)?;
        explorer.explore(level, &LevelOutputs::default(), &mut |progress| {
            shared.report(progress.into());
        })
    };
    let explored = run_in_background(py, progress.as_ref(), work)?;
    let explored = explored.map_err(|error| inspect_error(&error))?;
    serde_json::to_string(&explored.report).map_err(invalid)
}

/// The progress of `rhae.validate`.
#[pyclass(frozen, get_all, module = "rhae._native")]
#[derive(Clone, Default)]
pub(crate) struct ValidateProgress {
    /// The number of steps that are done.
    steps: u64,
    /// The estimated number of all steps.
    total_steps: u64,
    /// The environment whose check began last.
    game_id: String,
    /// The check that began last.
    check: String,
}

impl ValidateProgress {
    fn update(&mut self, progress: rhae_inspect::ValidationProgress<'_>) {
        use rhae_inspect::ValidationProgress as Event;
        match progress {
            Event::Started { total_steps } => self.total_steps = total_steps,
            Event::Check { info, part } => {
                self.game_id = info.id.to_string();
                self.check = part.name();
            }
            Event::Steps(steps) => self.steps += steps,
        }
    }
}

/// The options of `rhae.validate`: a Python object with these attributes.
#[derive(FromPyObject)]
pub(crate) struct ValidateRequest {
    /// The names of the environments. If empty: all games of the folders, or all built-in
    /// environments if there are no folders.
    ids: Vec<String>,
    seed: u64,
    env_seed: u64,
    steps: Option<u64>,
    strict: bool,
    /// The names of the rules to check; all rules if it is empty.
    rules: Vec<String>,
    jobs: usize,
    max_states: Option<usize>,
    deep: bool,
    /// The command that verifies a recording, without the file.
    verify: Vec<OsString>,
}

/// Validates environments and returns the report as JSON.
#[pyfunction]
pub(crate) fn validate(
    py: Python<'_>,
    request: ValidateRequest,
    games: GamesRequest,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<String> {
    let games = games.load()?;
    let selected = if request.ids.is_empty() {
        let has_folders = games.folders().next().is_some();
        let listed = games.list().into_iter();
        listed
            .filter(|info| is_hosted(&games, info) == has_folders)
            .collect()
    } else {
        find_each(&games, &request.ids).map_err(|error| inspect_error(&error))?
    };
    let rules = request
        .rules
        .iter()
        .map(|name| name.parse::<Rule>())
        .collect::<Result<Vec<_>, _>>()
        .map_err(invalid)?;
    let verify = request.verify.split_first();
    let options = ValidationOptions {
        seed: request.seed,
        env_seed: request.env_seed,
        steps: request.steps,
        strict: request.strict,
        rules: if rules.is_empty() {
            RuleSet::ALL
        } else {
            rules.into_iter().collect()
        },
        nodes: request.max_states,
        identity: identity(request.deep),
        jobs: request.jobs.clamp(1, 1024),
        recordings: Vec::new(),
        verify: verify.map(|(program, arguments)| VerifyCommand {
            program: program.clone(),
            arguments: arguments.to_vec(),
            arguments_after_file: Vec::new(),
        }),
    };
    let validation = run_in_background(py, progress.as_ref(), |shared| {
        let latest = Mutex::new(ValidateProgress::default());
        Validation::run(&games, &selected, options, &shared.interrupt, &|event| {
            let mut latest = latest.lock().unwrap_or_else(PoisonError::into_inner);
            latest.update(event);
            shared.report(latest.clone());
        })
    })?;
    let validation = validation.map_err(|error| inspect_error(&error))?;
    serde_json::to_string(&validation.report(None)).map_err(invalid)
}

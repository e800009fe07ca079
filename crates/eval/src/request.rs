//! An evaluation as its user describes it, and how it becomes a run.
//!
//! The folder of a new run is created last, so an invalid option leaves no files behind.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rhae_protocol::{
    EVAL_VERSION, EvalConfig, EvalLimits, EvalLine, EvalProtocol, RunIdentity, SOFTWARE,
    compact_utc,
};
use rhae_runs::{RunFolder, RunsError, load_lines, new_run_id, now_ms, unused_folder};
use rhae_tasks::{Parser, Protocol, TaskSet};
use serde_json::json;

use crate::foreign_models::check_models;
use crate::parser::serialised_parser;
use crate::solver::{Solver, SolverHost, SolverOptions, SolverSettings, create_solver};
use crate::{EvalError, Ledger, Plan, PlannedSet, check_limits, rate_limit, shard};

/// The default number of requests in flight to a model.
const MODEL_JOBS: usize = 8;
/// The default number of conversations in progress.
const CONVERSATION_JOBS: usize = 10;
/// The default number of requests per minute of conversations.
const CONVERSATION_RATE: f64 = 300.0;

/// A new evaluation as its user describes it.
#[derive(Clone, Debug)]
pub struct EvalRequest {
    /// The solver: `search`, `random`, `model:NAME`, `rlm:NAME`, `orchestrator:NAME` or
    /// `replay:FILE`.
    pub solver: String,
    pub options: SolverOptions,
    /// The absolute paths from which the sets were loaded.
    pub data: Vec<String>,
    pub sets: Vec<PlannedSet>,
    /// The shard of the tasks as `[shard, shards]`, from 1; all tasks if absent.
    pub shard: Option<[usize; 2]>,
    /// The protocol; [`default_protocol`] if absent.
    pub protocol: Option<Protocol>,
    /// The number of attempts at each test; the protocol's if absent.
    pub attempts: Option<usize>,
    /// The parser of answers; the protocol's if absent.
    pub parser: Option<Parser>,
    /// Whether the first attempt without a grid stops the run.
    pub stop_at_failure: bool,
    /// The limits. A concurrency of 0 stands for the default of the solver.
    pub limits: EvalLimits,
    /// The run folder; by default an unused one below `runs`.
    pub out: Option<PathBuf>,
    pub identity: RunIdentity,
}

/// Everything that a new or resumed run needs.
pub struct PreparedEval {
    pub folder: RunFolder,
    pub config: EvalConfig,
    pub plan: Plan,
    /// The state of a resumed run.
    pub ledger: Ledger,
    pub solver: Box<dyn Solver>,
    pub limits: EvalLimits,
    /// A warning about limits that may be exceeded.
    pub note: Option<String>,
}

impl EvalRequest {
    /// Resolves the request and creates the run folder.
    ///
    /// # Errors
    ///
    /// Returns an error if an option is invalid, if the first request does not fit into a limit, and
    /// if the folder exists and is not empty.
    pub fn prepare(mut self, host: &SolverHost<'_>) -> Result<PreparedEval, EvalError> {
        let protocol = self.protocol.unwrap_or(default_protocol(&self.solver));
        let settings = self.options.settings(&self.solver, protocol.prompt())?;
        let (solver, settings) = create_solver(&self.solver, settings, host)?;
        if let Some([part, parts]) = self.shard {
            shard(&mut self.sets, part, parts)?;
            if self.sets.iter().all(|set| set.selection.is_empty()) {
                return Err(EvalError::Config(format!(
                    "shard {part}/{parts} contains no tasks"
                )));
            }
        }
        let mut limits = self.limits;
        if limits.concurrency == 0 {
            limits.concurrency = default_jobs(solver.as_ref());
        }
        if solver.is_conversation() {
            limits.requests_per_minute.get_or_insert(CONVERSATION_RATE);
        }
        ensure_measurable(&limits, solver.as_ref(), &settings)?;
        rate_limit(&limits)?;
        let rules = protocol.rules();
        let config = EvalConfig {
            version: EVAL_VERSION,
            software: SOFTWARE.to_owned(),
            run_id: new_run_id()?,
            solver: self.solver.clone(),
            solver_settings: settings,
            protocol: serialised(protocol),
            attempts: self.attempts.unwrap_or(rules.attempts),
            parser: serialised_parser(self.parser.unwrap_or(rules.parser)),
            stop_at_failure: self.stop_at_failure,
            shard: self.shard,
            permuted_colors: None,
            data: self.data,
            sets: self.sets.iter().map(PlannedSet::record).collect(),
            limits,
            identity: self.identity,
        };
        let ledger = Ledger::default();
        let plan = Plan::new(self.sets, config.attempts, solver.unit());
        let note = check_limits(&plan, solver.as_ref(), &limits, &ledger, false)?;
        let path = self.out.unwrap_or_else(|| default_folder(&self.solver));
        let folder = RunFolder::create(&path, &config)?;
        Ok(PreparedEval {
            folder,
            config,
            plan,
            ledger,
            solver,
            limits,
            note,
        })
    }
}

/// Returns the protocol of a solver: `plan` for recursive language models, for which it was written,
/// and otherwise `standard`.
pub fn default_protocol(solver: &str) -> Protocol {
    if solver.starts_with("rlm:") {
        Protocol::Plan
    } else {
        Protocol::Standard
    }
}

/// Prepares the run in `folder`, whose configuration is `config`, to be continued. `sets` are the
/// loaded data, and `limits` those of this process.
///
/// # Errors
///
/// Returns an error if the data or the settings of the solver differ from the start of the run, if
/// the next request does not fit into a limit, and [`EvalError::ForeignModels`] if the user must
/// name the configuration file of the model.
pub fn prepare_resumed(
    folder: RunFolder,
    config: EvalConfig,
    sets: &[TaskSet],
    limits: EvalLimits,
    retry_failed: bool,
    host: &SolverHost<'_>,
) -> Result<PreparedEval, EvalError> {
    check_models(folder.path(), &config, host)?;
    let planned = planned_sets(&config, sets)?;
    let (solver, settings) = create_solver(&config.solver, config.solver_settings.clone(), host)?;
    if settings != config.solver_settings {
        return Err(EvalError::Config(format!(
            "the settings of the solver `{}` differ from the start of the run: {} then, {} now; restore them, or start a new run",
            config.solver,
            json!(config.solver_settings),
            json!(settings)
        )));
    }
    ensure_measurable(&limits, solver.as_ref(), &settings)?;
    rate_limit(&limits)?;
    let plan = Plan::new(planned, config.attempts, solver.unit());
    let ledger = Ledger::from_lines(&journalled(&folder)?);
    let note = check_limits(&plan, solver.as_ref(), &limits, &ledger, retry_failed)?;
    Ok(PreparedEval {
        folder,
        config,
        plan,
        ledger,
        solver,
        limits,
        note,
    })
}

/// Prepares a new run of the tasks of the run in `folder`, whose configuration is `earlier`, with the
/// same solver and limits but permuted colours. `sets` are the loaded data.
///
/// # Errors
///
/// Returns an error if the data differ from those of the earlier run, if its solver cannot be
/// created, if the first request does not fit into a limit, and if the folder `out` exists and is
/// not empty. Returns [`EvalError::ForeignModels`] if the user must name the configuration file of
/// the model.
pub fn prepare_permuted(
    folder: &Path,
    earlier: &EvalConfig,
    sets: &[TaskSet],
    seed: u64,
    out: Option<PathBuf>,
    host: &SolverHost<'_>,
) -> Result<PreparedEval, EvalError> {
    check_models(folder, earlier, host)?;
    let (solver, settings) = create_solver(&earlier.solver, earlier.solver_settings.clone(), host)?;
    let config = EvalConfig {
        software: SOFTWARE.to_owned(),
        run_id: new_run_id()?,
        solver_settings: settings,
        permuted_colors: Some(seed),
        identity: RunIdentity::default(),
        ..earlier.clone()
    };
    let plan = Plan::new(planned_sets(&config, sets)?, config.attempts, solver.unit());
    let ledger = Ledger::default();
    let limits = config.limits;
    let note = check_limits(&plan, solver.as_ref(), &limits, &ledger, false)?;
    let path = out.unwrap_or_else(|| default_folder(&config.solver));
    let folder = RunFolder::create(&path, &config)?;
    Ok(PreparedEval {
        folder,
        config,
        plan,
        ledger,
        solver,
        limits,
        note,
    })
}

/// Returns the sets of a configuration, with permuted colours if it says so.
pub(crate) fn planned_sets(
    config: &EvalConfig,
    sets: &[TaskSet],
) -> Result<Vec<PlannedSet>, EvalError> {
    let planned = |set| {
        let planned = PlannedSet::from_record(set, sets)?;
        Ok(planned.permute_colors(config.permuted_colors))
    };
    config.sets.iter().map(planned).collect()
}

/// Returns the lines of the journal, or none if the run was stopped before it wrote one.
fn journalled(folder: &RunFolder) -> Result<Vec<EvalLine>, EvalError> {
    match load_lines(folder.path()) {
        Err(RunsError::File { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        lines => Ok(lines?),
    }
}

/// Returns an error if a spend limit is given for a billed solver without known prices.
fn ensure_measurable(
    limits: &EvalLimits,
    solver: &dyn Solver,
    settings: &SolverSettings,
) -> Result<(), EvalError> {
    let has_prices = settings.get("priced") == Some(&json!(true));
    if limits.cost_usd.is_some() && solver.is_billed() && !has_prices {
        return Err(EvalError::Config(
            "--max-cost requires `prices` in the configuration of the model; without them the cost is unknown".to_owned(),
        ));
    }
    Ok(())
}

/// Returns the serialised form of a protocol.
const fn serialised(protocol: Protocol) -> EvalProtocol {
    match protocol {
        Protocol::Standard => EvalProtocol::Standard,
        Protocol::Official => EvalProtocol::Official,
        Protocol::Nejumi => EvalProtocol::Nejumi,
        Protocol::Plan => EvalProtocol::Plan,
    }
}

fn default_jobs(solver: &dyn Solver) -> usize {
    if solver.is_conversation() {
        CONVERSATION_JOBS
    } else if solver.is_billed() {
        MODEL_JOBS
    } else {
        std::thread::available_parallelism().map_or(1, usize::from)
    }
}

/// Returns an unused folder name with the current time and the solver.
fn default_folder(solver: &str) -> PathBuf {
    let plain: String = solver
        .chars()
        .take(40)
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .collect();
    let name = format!(
        "{}-arc-{}",
        compact_utc(now_ms()),
        plain.trim_end_matches('-')
    );
    unused_folder(Path::new("runs"), &name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn protocol_is_serialised_by_its_name() {
        for protocol in Protocol::ALL {
            let form = serialised(protocol);
            assert_eq!(form.name(), protocol.name());
            assert_eq!(json!(form), json!(protocol.name()));
        }
    }
}

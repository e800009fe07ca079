//! Resolves flags, or the folder of a resumed run, into everything that a run needs.

use std::path::Path;

use anyhow::{Context, Result, bail};
use rhae_eval::solver::{Solver, SolverHost, SolverOptions, create_solver};
use rhae_eval::{
    EvalError, EvalRequest, PlannedSet, PreparedEval, PythonSettings, default_protocol,
    prepare_resumed,
};
use rhae_llm::Model;
use rhae_protocol::EvalConfig;

use super::EvalArgs;
use crate::arc::data::DataArgs;
use crate::arc::protocol::Failures;
use crate::hosted_games::launcher;
use crate::models::ModelsArgs;

/// Prepares a new run or, with `--resume`, the existing run in the given folder.
pub(super) fn prepare(args: &EvalArgs) -> Result<PreparedEval> {
    if let Some(path) = &args.resume {
        let (folder, config) = rhae_runs::resume::<EvalConfig>(path)?;
        let data = if args.data.is_empty() {
            config.data.clone()
        } else {
            args.data.clone()
        };
        let sets = DataArgs::new(data, Vec::new()).load()?.sets;
        let limits = args.limits.resolve(Some(config.limits))?;
        return Ok(prepare_resumed(
            folder,
            config,
            &sets,
            limits,
            args.retry_failed,
            &host(&args.models, args.unsafe_host, args.python.as_deref())?,
        )?);
    }
    let data = DataArgs::new(args.data.clone(), args.set.clone());
    let request = EvalRequest {
        solver: args.solver.clone().context("--solver is required")?,
        options: options(args),
        data: data.absolute()?,
        sets: planned_sets(args, &data)?,
        shard: args.shard.as_deref().map(parse_shard).transpose()?,
        protocol: args.protocol,
        attempts: args.attempts.map(|attempts| attempts as usize),
        parser: args.parser,
        stop_at_failure: args.failures == Failures::Hard,
        limits: args.limits.resolve(None)?,
        out: args.out.clone(),
        identity: args.identity.resolve(),
    };
    Ok(request.prepare(&host(
        &args.models,
        args.unsafe_host,
        args.python.as_deref(),
    )?)?)
}

/// Returns the solver and the tests that the flags of a new run select.
pub(super) fn resolve(args: &EvalArgs) -> Result<(Box<dyn Solver>, Vec<PlannedSet>)> {
    let name = args.solver.as_deref().context("--solver is required")?;
    let protocol = args.protocol.unwrap_or(default_protocol(name));
    let settings = options(args).settings(name, protocol.prompt())?;
    let (solver, _) = create_solver(
        name,
        settings,
        &host(&args.models, args.unsafe_host, args.python.as_deref())?,
    )?;
    let data = DataArgs::new(args.data.clone(), args.set.clone());
    Ok((solver, planned_sets(args, &data)?))
}

fn options(args: &EvalArgs) -> SolverOptions {
    SolverOptions {
        work: args.work.map(|millions| millions * 1_000_000),
        seed: args.seed,
        prompt: args.prompt.clone(),
        models: args.models.models.clone(),
        max_iterations: args.max_iterations,
        max_depth: args.max_depth,
        prompts: args.prompts.clone(),
    }
}

fn planned_sets(args: &EvalArgs, data: &DataArgs) -> Result<Vec<PlannedSet>> {
    let mut sets = Vec::new();
    for set in data.sets()? {
        let selection = args.select.selection(&set)?;
        sets.push(PlannedSet { set, selection });
    }
    Ok(sets)
}

/// Returns what solvers need from this program: models of configuration files, and the sandbox for
/// their code.
pub(in crate::arc) fn host(
    models: &ModelsArgs,
    unsafe_host: bool,
    python: Option<&Path>,
) -> Result<SolverHost<'static>> {
    Ok(SolverHost {
        open_model: &open_model_file,
        models: models.models.clone(),
        python: PythonSettings {
            launcher: launcher()?,
            python: python.map(Path::to_owned),
            unsafe_host,
            ..PythonSettings::default()
        },
    })
}

/// Opens a model of the configuration file `models`.
fn open_model_file(models: &Path, name: &str) -> Result<Model, EvalError> {
    let models = models.to_owned();
    ModelsArgs { models }
        .open(name)
        .map_err(|error| EvalError::Config(format!("{error:#}")))
}

/// Parses a shard such as `2/5` into its number and the number of shards.
fn parse_shard(text: &str) -> Result<[usize; 2]> {
    let numbers = text
        .split_once('/')
        .map(|(part, parts)| (part.parse::<usize>(), parts.parse::<usize>()));
    match numbers {
        Some((Ok(part), Ok(parts))) if (1..=parts).contains(&part) => Ok([part, parts]),
        _ => bail!("`{text}` is not a shard; expected I/N with I from 1 to N, such as `1/4`"),
    }
}
